"""A command that keeps plans of files which were just made, and what to ask it."""

from __future__ import annotations

import json
import os
import sys
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from commands import Command
from projects import Project

if TYPE_CHECKING:
    from commands import Done

# Denies the commands with a word that the probing event does not have.
RULE = """
@hookimpl(match="shell")
def before_tool_use(tool_call):
    if "forbidden" in tool_call.command:
        return HookOutcome.deny("the house says no")
"""


class World:
    """A user with one plugin, who works in a repository; the answers to one event of an agent.

    ``agent`` and ``arguments`` are those of the command; ``cwd`` is the working directory of the event.
    """

    def __init__(self, folder: Path) -> None:
        self.command = Command(folder, planning=True)
        # A module must not be the old one because its size and time are.
        self.command.environment["PYTHONDONTWRITEBYTECODE"] = "1"
        self.command.environment["SITE"] = str(self.command.site)
        self.folder, self.site, self.home = folder, self.command.site, self.command.home
        self.environment, self.config = self.command.environment, self.command.config
        self.project = Project(folder)
        self.repo = self.project.root
        self.agent = "codex"
        self.python = Path(sys.executable)
        self.arguments: tuple[str, ...] = ()
        self.cwd = self.repo
        self.event: dict[str, Any] = {
            "hook_event_name": "PreToolUse",
            "tool_name": "Bash",
            "tool_input": {"command": "make"},
            "tool_use_id": "1",
        }
        self._sessions = count()

    @property
    def module(self) -> Path:
        """The file of the plugin."""
        return self.site / "house_rules.py"

    @property
    def plans(self) -> Path:
        """The folder of the plans."""
        return self.home / ".cache" / "agent-hooks" / "plans"

    @property
    def kept(self) -> list[Path]:
        """The files of the plans."""
        return sorted(self.plans.iterdir()) if self.plans.is_dir() else []

    def payload(self, **fields: Any) -> dict[str, Any]:
        """Return the event, of a session of its own: the notes of a session are told once."""
        common = {"session_id": f"s{next(self._sessions)}", "transcript_path": "", "cwd": str(self.cwd)}
        if self.agent == "codex":  # with these, it is nobody else's
            common |= {"model": "m", "turn_id": "1"}
        return {**common, "permission_mode": "default", **self.event, **fields}

    def ask(self, *arguments: str, env: dict[str, str] | None = None, **fields: Any) -> Done:
        """Return the answer to the event."""
        self.command.processes()
        program = (str(self.python), str(self.command.script), "run", "--agent", self.agent, *self.arguments)
        stdin = json.dumps(self.payload(**fields))
        return self.command(*arguments, program=program, stdin=stdin, env=env)

    def ask_without(self, **options: Any) -> Done:
        """Return the answer without a plan."""
        return self.ask("--no-plan", **options)

    def is_planned(self) -> bool:
        """Whether the last answer was that of a plan."""
        processes = self.command.processes()
        assert processes, "no process has told what it imported"
        return not any("agent_hooks.engine.manager" in modules for modules in processes)


def same(answer: Done, other: Done) -> bool:
    """Whether a host gets the same answer."""
    return (answer.exit_code, answer.stdout, answer.stderr) == (other.exit_code, other.stdout, other.stderr)


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World(tmp_path)
    made.command.install(RULE)
    return made


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Each kind of change takes seven processes."""
    here = str(Path(__file__).parent) + os.sep  # text: comparing 18,000 paths takes seconds
    for item in items:
        if str(item.path).startswith(here):
            item.add_marker("full")
