"""What tests of the engine share."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest

from agent_hooks import HookManager
from agent_hooks.model import events
from agent_hooks.system.by_hand import AGENTS
from commands import Command
from engine import Engine
from installing import installing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytest.register_assert_rewrite("formats.reading", "hook_sets", "runtime.cases")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--serve", action="store_true", help="let a warm process answer the events of commands")


def pytest_configure(config: pytest.Config) -> None:
    os.environ["CI"] = "1"  # commands for people need no terminal
    Command.served = config.getoption("--serve")
    config.addinivalue_line("markers", "not_served(why): does not hold for a warm process, by its nature")
    # A shell leaves them ignored in a background job, and the processes of the tests would inherit that.
    for number in (signal.SIGHUP, signal.SIGQUIT):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if config.getoption("--serve") and (marker := item.get_closest_marker("not_served")):
            item.add_marker(pytest.mark.skip(*marker.args))


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Install a plugin: a module with this source in a distribution of its own, with an entry point."""
    yield from installing(tmp_path, monkeypatch)


@pytest.fixture(autouse=True)
def _no_files_of_the_user(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Keep what is configured on this machine out of the tests."""
    for variable in ("AGENT_HOOKS_CONFIG_DIR", "CLAUDE_CONFIG_DIR"):
        monkeypatch.setenv(variable, str(tmp_path_factory.getbasetemp() / "nobody"))
    monkeypatch.setattr("agent_hooks.sources.plugin_settings.LOOK_AGAIN", 0.0)  # tests change files at once
    monkeypatch.setattr("agent_hooks.engine.plan.ASK_AGAIN", 0.0)
    monkeypatch.setattr(
        "agent_hooks.system.ancestors.notes_dir", lambda name: str(tmp_path_factory.getbasetemp() / name)
    )
    # Whoever runs the tests may be a coding agent, or have models at hand.
    for variable in os.environ:
        if variable in AGENTS or variable.endswith("_API_KEY"):
            monkeypatch.delenv(variable)


@pytest.fixture(autouse=True)
def _warm_processes() -> Iterator[None]:
    """End the warm processes of a test, each of which must have answered its events."""
    yield
    declined = [why for each in Command.warm.values() if (why := each.end())]
    Command.warm.clear()
    assert not (Command.served and declined)


@pytest.fixture(params=["plain", "async"])
def colour(request: pytest.FixtureRequest) -> str:
    """Plain functions in sync calls, or coroutine functions in awaited ones."""
    return str(request.param)


@pytest.fixture
def engine(colour: str) -> Iterator[Engine]:
    """An engine without hooks, once in each colour."""
    made = Engine(colour)
    yield made
    made.never.set()


@pytest.fixture
def manager() -> HookManager:
    """A manager without installed plugins."""
    return HookManager(load_plugins=False)


@pytest.fixture
def own_events(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a test add events to a table of its own."""
    monkeypatch.setattr(events, "_EVENTS", dict(events._EVENTS))
    monkeypatch.setattr(events, "_BY_NAME", dict(events._BY_NAME))
