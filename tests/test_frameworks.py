"""Agents of frameworks: the adapter that takes one is found, and where none does, the error says what to install."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

import pytest

from agent_hooks import HookManager, RegistrationError, protect
from agent_hooks.frameworks import EXTRAS, GROUP

if TYPE_CHECKING:
    from collections.abc import Callable

ADAPTER = """
class Crew:
    protected_by = None

class Adapter:
    @staticmethod
    def takes(agent):
        return type(agent).__name__ == "Crew"

    @staticmethod
    def protect(agent, manager, *, kinds, ask):
        agent.protected_by = (manager, kinds, ask)
        return agent
"""


@pytest.fixture
def adapter(install: Callable[..., None]) -> Callable[..., None]:
    """Install an adapter, which the entry point calls so."""

    def adapter(name: str, source: str = ADAPTER, attribute: str = "Adapter") -> None:
        install(name, source, group=GROUP, attribute=attribute)

    return adapter


class Crew:
    """An agent of a framework that nobody here knows."""

    protected_by: object = None


def test_an_agent_is_protected_by_the_adapter_that_takes_it(adapter: Callable[..., None]):
    adapter("other", ADAPTER.replace('"Crew"', '"Other"'))
    adapter("crews")
    agent, manager = Crew(), HookManager(load_plugins=False)
    assert protect(agent, manager, kinds={"run": "shell"}, ask=None) is agent
    assert agent.protected_by == (manager, {"run": "shell"}, None)


def test_an_adapter_is_found_as_soon_as_it_is_installed(adapter: Callable[..., None]):
    with pytest.raises(RegistrationError, match="Crew is no agent of"):
        protect(Crew())
    adapter("crews")
    assert protect(Crew()).protected_by == (None, None, "host")


def test_an_adapter_that_fails_is_named_and_keeps_no_other_one_from_its_agents(adapter: Callable[..., None]):
    adapter("broken", "import no_such_module")
    with pytest.raises(RegistrationError, match=r"The adapter 'broken' of broken-dist failed: .*no_such_module"):
        protect(Crew())
    adapter("crews")
    assert protect(Crew()).protected_by is not None


def test_an_object_that_nobody_takes_is_told_the_distribution_and_the_way_without():
    with pytest.raises(RegistrationError, match=r"builtins\.object is no agent of .*hooks.call_tool") as raised:
        protect(object())
    assert "pip install 'agent-hooks-frameworks[langchain]'" in str(raised.value)


@pytest.mark.parametrize("package", EXTRAS)
def test_an_agent_of_a_framework_whose_adapter_is_missing_is_told_the_extra(
    package: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("agent_hooks.frameworks.distributions", lambda path, group: [])
    monkeypatch.setattr("agent_hooks.frameworks._scanned", None)
    framework = ModuleType(package)
    vars(framework)["RunHooks"] = object  # of the OpenAI Agents SDK
    monkeypatch.setitem(sys.modules, package, framework)
    made = type("Agent", (), {"__module__": f"{package}.inner"})
    remedy = (
        f"No installed adapter takes {package}.inner.Agent: pip install 'agent-hooks-frameworks[{EXTRAS[package]}]'."
    )
    with pytest.raises(RegistrationError) as raised:
        protect(made())
    assert str(raised.value) == remedy


def test_a_module_of_ones_own_called_agents_is_no_framework(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "agents", ModuleType("agents"))
    with pytest.raises(RegistrationError, match=r"agents\.Agent is no agent of"):
        protect(type("Agent", (), {"__module__": "agents"})())
