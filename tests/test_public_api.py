"""The public names, and what importing them costs."""

from __future__ import annotations

import importlib
import inspect
import subprocess
import sys
from types import ModuleType
from typing import TYPE_CHECKING

import pytest

import agent_hooks
from agent_hooks import AgentHooksError, errors

if TYPE_CHECKING:
    from collections.abc import Iterator

NAMES = [name for name in agent_hooks.__all__ if name != "__version__"]
HEAVY = ("asyncio", "dataclasses", "inspect", "json", "logging", "pluggy", "pydantic", "re", "typing")


@pytest.mark.parametrize("name", NAMES)
def test_a_public_name_is_there_and_says_what_it_is(name):
    found = getattr(agent_hooks, name)
    assert isinstance(found, int) or inspect.getdoc(found)


def test_the_names_are_listed_and_no_others_exist():
    assert dir(agent_hooks) == agent_hooks.__all__ == sorted(agent_hooks.__all__)
    with pytest.raises(AttributeError, match="'agent_hooks' has no attribute 'hookimp'"):
        _ = agent_hooks.hookimp


def test_a_star_import_brings_them_all():
    namespace: dict[str, object] = {}
    exec("from agent_hooks import *", namespace)
    assert namespace.keys() >= set(NAMES)


def test_every_error_is_among_them():
    assert {name for name, found in vars(errors).items() if isinstance(found, type)} <= set(NAMES)


def loaded_by(code: str) -> set[str]:
    """The modules that a fresh Python has loaded after this code."""
    program = f"import sys\nbefore = set(sys.modules)\n{code}\nprint(*sorted(set(sys.modules) - before))"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


def test_importing_the_package_loads_nothing_else():
    assert loaded_by("import agent_hooks") == {"__future__", "agent_hooks"}


def test_the_words_and_markers_load_nothing_heavy():
    code = "from agent_hooks import hookimpl, HookOutcome, HookContext, HookEvent, HookPolicy, ToolCall, AgentState"
    assert loaded_by(code) & {*HEAVY, "enum", "functools"} == set()


def test_plan_and_dispatch_load_nothing_heavy():
    assert loaded_by("from agent_hooks.engine import plan, dispatch") & {*HEAVY, "enum", "functools"} == set()


def test_a_sync_dispatch_needs_no_event_loop():
    code = """
from agent_hooks import HookContext, HookManager, HookOutcome, HookRegistration
manager = HookManager(load_plugins=False)
manager.add(HookRegistration("before_step", lambda ctx: HookOutcome.stop("enough")))
assert manager.hooks().dispatch_sync(HookContext("before_step")).decision == "stop"
"""
    assert "asyncio" not in loaded_by(code)


ERRORS = [value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, Exception)]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: error.__name__)
def test_every_error_is_of_one_tree_and_says_when_it_is_raised(error):
    assert issubclass(error, AgentHooksError)
    assert error is AgentHooksError or (error.__doc__ or "").startswith("Raised when ")


@pytest.mark.parametrize(
    "module",
    "engine.answers engine.background engine.calling engine.checks engine.dispatch engine.hooks engine.hookspecs "
    "engine.installed engine.manager engine.markers engine.matchers engine.plan engine.plugin_info "
    "engine.registration engine.stack errors model.context model.events model.outcome model.policy model.state "
    "model.tools model.values testing".split(),
)
def test_every_public_function_and_class_has_a_docstring(module):
    loaded = importlib.import_module(f"agent_hooks.{module}")
    without = []
    for name, value in vars(loaded).items():
        if name.startswith("_") or getattr(value, "__module__", "") != loaded.__name__ or not callable(value):
            continue
        if not isinstance(value, str) and not value.__doc__:
            without.append(name)
    assert without == []


def test_the_package_is_the_command_too():
    done = subprocess.run(
        [sys.executable, "-m", "agent_hooks", "events", "--help"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "events" in done.stdout


@pytest.mark.parametrize(
    "name",
    "by_hand.refuse_agents config.skills.read_skill config.sources.ProjectSource config.sources.TomlSource "
    "config.toml.read_toml discovery.project_root events.HookEvent folders.state_dir hookspecs.before_tool_use "
    "policy.GUARD store.Store trust.TrustStore trust.trusted_skill".split(),
)
def test_modules_that_the_documentation_once_named_can_still_be_imported(name):
    module, _, attribute = name.rpartition(".")
    namespace: dict[str, object] = {}
    exec(f"from agent_hooks.{module} import {attribute}", namespace)
    assert namespace[attribute]


@pytest.fixture
def former_adapters(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A distribution of adapters, none of which was imported by its former name."""

    def forget() -> None:
        for name in [name for name in sys.modules if name.startswith("agent_hooks.adapters")]:
            del sys.modules[name]
        vars(agent_hooks).pop("adapters", None)

    package, adapter = ModuleType("agent_hooks_frameworks"), ModuleType("agent_hooks_frameworks.crews")
    vars(package).update(__path__=[], protect=agent_hooks.protect)
    vars(adapter).update(AgentHooks=object)
    for module in (package, adapter):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    forget()
    yield
    forget()


@pytest.mark.usefixtures("former_adapters")
def test_adapters_are_imported_by_their_former_name_with_a_warning_that_points_there():
    with pytest.warns(DeprecationWarning, match="the old name goes with 0.2") as warned:
        from agent_hooks.adapters import crews, protect  # type: ignore[import-not-found]
    assert (crews.AgentHooks, protect) == (object, agent_hooks.protect)
    assert [str(each.message) for each in warned] == [
        f"agent_hooks.adapters{name} is agent_hooks_frameworks{name} now, of agent-hooks-frameworks; the old name goes "
        "with 0.2."
        for name in ("", ".crews")
    ]
    assert {each.filename for each in warned} == {__file__}


@pytest.mark.usefixtures("former_adapters")
def test_the_former_name_of_the_adapters_says_what_to_install_when_they_are_missing(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "agent_hooks_frameworks", None)
    remedy = "^agent_hooks.adapters is agent_hooks_frameworks now: pip install agent-hooks-frameworks$"
    with pytest.raises(ModuleNotFoundError, match=remedy):
        importlib.import_module("agent_hooks.adapters.langchain")


@pytest.mark.usefixtures("former_adapters")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_former_name_of_an_adapter_that_there_is_not_says_so():
    with pytest.raises(ModuleNotFoundError, match=r"^No module named 'agent_hooks_frameworks.no_such_adapter'$"):
        importlib.import_module("agent_hooks.adapters.no_such_adapter")
