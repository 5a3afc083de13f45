"""The tables of settings that plugins declare."""

from __future__ import annotations

from typing import Any

import pytest

from agent_hooks import HookManager, RegistrationError, hookimpl


class Model:
    """Stands for a model: the manager keeps whatever is called for one."""


def declaring(tables: Any) -> object:
    class Plugin:
        @hookimpl
        def agent_hooks_settings(self) -> Any:
            return tables

    return Plugin()


def test_a_table_belongs_to_the_plugin_that_is_registered_with_it(manager):
    manager.register(declaring({"house": Model, "house-rules_2": Model}), "one")
    assert manager.settings_models == {"house": ("one", Model), "house-rules_2": ("one", Model)}
    manager.register(declaring(None), "none")
    with pytest.raises(RegistrationError, match=r"'two' has the settings \[house\], and so has the plugin 'one'"):
        manager.register(declaring({"house": Model}), "two")
    assert not manager.has_plugin("two")
    manager.unregister(name="one")
    manager.register(declaring({"house": Model}), "two")
    assert manager.settings_models == {"house": ("two", Model)}


@pytest.mark.parametrize("tables", [{"x": 3}, {3: Model}, [Model], "house"])
def test_what_is_no_models_by_name_cannot_be_registered(tables):
    with pytest.raises(RegistrationError, match=r"odd\.agent_hooks_settings must return models by the name of their"):
        HookManager(load_plugins=False).register(declaring(tables), "odd")


@pytest.mark.parametrize("table", ["", "-", "a.b", "a b", "hütte"])
def test_a_table_has_the_name_of_a_table(table):
    with pytest.raises(RegistrationError, match="is no name of a table"):
        HookManager(load_plugins=False).register(declaring({table: Model}), "odd")
