"""The modules and gates of a ``hookconf.py`` are found without running it."""

from __future__ import annotations

import pytest

from agent_hooks.errors import SettingsError
from agent_hooks.formats.hookconf import count_gates, named_modules
from tables import tables

TABLES = tables(__file__)


@pytest.mark.parametrize(("code", "names"), TABLES["named_modules_are_read_and_not_run"])
def test_named_modules_are_read_and_not_run(code, names):
    assert [*named_modules(code.encode())] == names


@pytest.mark.parametrize(("value", "says"), TABLES["refused"])
def test_named_modules_must_be_one_list_of_names(value, says):
    with pytest.raises(SettingsError, match=says):
        named_modules(f"\nagent_hooks_plugins = {value}".encode())


@pytest.mark.parametrize(("code", "count"), TABLES["gates_are_counted_without_running"])
def test_gates_are_counted_without_running(code, count):
    assert count_gates(code.encode()) == count
