"""The entry points: one for each framework, and no other distribution's takes the place of one of them."""

from __future__ import annotations

import sys
import tomllib
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest
from conformance import managed

from agent_hooks import HookManager, RegistrationError, protect
from agent_hooks.frameworks import EXTRAS, OURS, installed_adapters
from agent_hooks_frameworks.adapters import ADAPTERS
from agent_hooks_frameworks.children import cover_children

if TYPE_CHECKING:
    from collections.abc import Callable

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
OTHER = """
class Adapter:
    covered = 0

    @staticmethod
    def takes(agent):
        return True

    @staticmethod
    def protect(agent, manager, *, kinds, ask):
        return "taken"

    @classmethod
    def cover(cls):
        cls.covered += 1
        return CAN
"""


@pytest.fixture
def other(install: Callable[..., None]) -> Callable[..., Any]:
    """Install an adapter that claims every object, and return it."""

    def other(can: str = "True") -> Any:
        install("langchain", OTHER.replace("CAN", can), group="agent_hooks.adapters", attribute="Adapter")
        return next(each for each in installed_adapters() if each.distribution != OURS).load()

    return other


@pytest.fixture
def strands(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A release of Strands that its adapter does not know."""
    old = ModuleType("strands")
    exec("class Agent: pass", vars(old))
    for name in [name for name in sys.modules if name.startswith(("strands", "agent_hooks_frameworks.strands"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "strands", old)
    return old


def test_each_framework_has_an_entry_point_and_an_extra():
    extras = sorted({*EXTRAS.values()})
    assert sorted(PROJECT["optional-dependencies"]) == extras
    assert sorted(PROJECT["entry-points"]["agent_hooks.adapters"]) == extras
    assert sorted(each.extra for each in ADAPTERS) == extras
    ours = [each for each in installed_adapters() if each.distribution == OURS]
    assert {each.name: each.load() for each in ours} == {each.extra: each for each in ADAPTERS}


def test_the_former_names_are_those_of_the_package(monkeypatch: pytest.MonkeyPatch):
    from agent_hooks_frameworks.framework import Framework

    former = "agent_hooks.adapters.framework"
    for name in ("agent_hooks.adapters", former):
        monkeypatch.delitem(sys.modules, name, raising=False)
    with pytest.warns(DeprecationWarning, match="the old name goes with 0.2"):
        assert import_module(former).Framework is Framework


def test_a_framework_that_is_too_old_is_told_what_to_do(strands: Any):
    with pytest.raises(
        RegistrationError, match=r"of strands .*pip install --upgrade 'agent-hooks-frameworks\[strands\]'"
    ):
        protect(strands.Agent(), managed())


def test_an_adapter_that_claims_an_agent_of_ours_does_not_get_it(other: Callable[..., Any], strands: Any):
    other()
    with pytest.raises(RegistrationError, match="This release of strands does not fit its adapter"):
        protect(strands.Agent(), managed())
    assert protect(object(), HookManager(load_plugins=False)) == "taken"


def test_a_broken_installation_of_ours_does_not_leave_its_agents_to_others(
    other: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
):
    other()
    monkeypatch.setitem(sys.modules, "agent_hooks_frameworks.adapters", None)
    with pytest.raises(RegistrationError, match="The adapter 'agent-framework' of agent-hooks-frameworks failed"):
        protect(object())


@pytest.mark.parametrize(("can", "calls"), [("True", 1), ("False", 2)])
def test_an_adapter_covers_the_agents_that_tools_start_once_it_can(
    can: str, calls: int, other: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("agent_hooks_frameworks.children._covered", set())
    adapter = other(can)
    for number in range(2):
        monkeypatch.setitem(sys.modules, f"a_further_module_{number}", ModuleType("further"))
        cover_children()
        cover_children()  # nothing was imported since
    assert adapter.covered == calls


def test_an_adapter_that_cannot_cover_the_agents_of_tools_is_warned_of_once(
    other: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("agent_hooks_frameworks.children._covered", set())
    other("1 / 0")
    with pytest.warns(RuntimeWarning, match="Agents of langchain that a tool starts are not under hooks: ZeroDivision"):
        cover_children()
    monkeypatch.setitem(sys.modules, "a_further_module", ModuleType("further"))
    cover_children()
