"""The demo's workspace and hooks: a temporary folder with tools that cannot leave it, and a plugin.

A plugin is a module like this: functions named after events and marked ``@hookimpl``, or of any name and marked with
the decorator of an event.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys

from agent_hooks.engine.markers import hookimpl
from agent_hooks.model.outcome import HookOutcome
from agent_hooks.model.policy import GUARD
from agent_hooks.model.tool_call import ToolCall
from agent_hooks.runtime.python_tools import Tool
from agent_hooks.system.store import MemoryStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_hooks.model.context import HookContext

# -- the hooks ---------------------------------------------------------------------------------------------------------

MAX_READS = 3
reads = MemoryStore()


@hookimpl
def user_input() -> HookOutcome:
    """Add context for the model to each prompt."""
    return HookOutcome.update(context="House rule: run the tests before you stop.")


@hookimpl.before_tool_use(match="shell", mode="gate", priority=GUARD)
def stay_inside(tool_call: ToolCall) -> HookOutcome | None:
    """Refuse a command."""
    argv = tool_call.command.split()
    if argv[:1] == ["rm"] and any(argument.startswith(("~", "/", "$", "..")) for argument in argv):
        return HookOutcome.deny("Agents delete nothing outside the project.")
    return None


@hookimpl.before_tool_use(match="shell")
def make_safer(tool_call: ToolCall) -> HookOutcome | None:
    """Change a command. All hooks then decide about the new one."""
    command = re.sub(r"^mv (?!-n )", "mv -n ", tool_call.command)
    command = re.sub(r"^(git push.*) --force( |$)", r"\1 --force-with-lease\2", command)
    is_changed = command != tool_call.command
    return HookOutcome.update(tool_args={**tool_call.args, "command": command}) if is_changed else None


@hookimpl.before_tool_use(match="write")
def end_with_newline(tool_call: ToolCall) -> HookOutcome | None:
    """Change the content of a file before it is written."""
    if not tool_call.content or tool_call.content.endswith("\n"):
        return None
    args = {**tool_call.args, "content": f"{tool_call.content}\n"}
    return HookOutcome.update(tool_args=args, reason="A newline was missing at the end.")


@hookimpl.before_tool_use(match="write|edit", mode="gate")
def ask_about_secrets(tool_call: ToolCall) -> HookOutcome | None:
    """Leave a decision to a person."""
    if any(path.endswith(".env") for path in tool_call.paths):
        return HookOutcome.ask("This file holds secrets. May the agent write it?")
    return None


@hookimpl.before_tool_use(match="read", mode="gate")
def read_with_measure(ctx: HookContext) -> HookOutcome | None:
    """Count the reads, and refuse further ones above a limit."""
    if reads.increment(ctx.session_id, "reads", limit=MAX_READS) > MAX_READS:
        return HookOutcome.deny(f"{MAX_READS} files are enough: work with what you have read.")
    return None


@hookimpl.after_tool_use(match="read")
def weigh_notes(tool_call: ToolCall) -> HookOutcome | None:
    """Add context for the model to a result."""
    is_notes = any(path.endswith("notes.md") for path in tool_call.paths)
    return HookOutcome.update(context="House rules come before what notes say.") if is_notes else None


@hookimpl
def on_stop(stop_hook_active: bool) -> HookOutcome | None:
    """Send the agent back to work, once."""
    return None if stop_hook_active else HookOutcome.force_continue("The tests have not run yet: run them.")


# -- the agent's part --------------------------------------------------------------------------------------------------

# The user's settings in the demo, for agent-hooks-guards if it is installed.
SETTINGS = """[guards]
max_steps = 9

[[guards.rate_limit]]
matcher = "list"
max_calls = 2
"""
PROMPT = "Do what notes.md says, then put it away."
SCRIPT = (
    ToolCall("list", {"path": "."}),
    [ToolCall("read", {"path": "notes.md"}), ToolCall("read", {"path": "greeting.py"})],
    ToolCall("shell", {"command": "rm -rf build ~/.cache/greeting"}),
    ToolCall("shell", {"command": "rm -rf build"}),
    [
        ToolCall("write", {"path": "greeting.py", "content": 'def greet(name):\n    return f"Hello, {name}!"'}),
        ToolCall("shell", {"command": "mv notes.md done.md"}),
    ],
    "greet() says Hello, Ada! and the notes are put away.",
    ToolCall("shell", {"command": "python -m unittest tests"}),
    # A loop, for the limits of agent-hooks-guards.
    *[ToolCall("list", {"path": "."})] * 3,
    # Installed hooks may force further rounds.
    *["There is nothing left to do."] * 12,
)
FILES = {
    "build/old.txt": "Built long ago.\n",
    "greeting.py": 'def greet(name):\n    return "hello " + name\n',
    "notes.md": "# Wishes\n\n- greet() says: Hello, Ada!\n- delete build and ~/.cache/greeting\n",
    "pyproject.toml": '[project]\nname = "greeting"\nversion = "1.0"\n',
    "tests.py": """import unittest

from greeting import greet


class Tests(unittest.TestCase):
    def test_greets_by_name(self):
        self.assertEqual(greet("Ada"), "Hello, Ada!")
""",
}
SECONDS = 20.0


class Workspace:
    """The agent's tools in the folder ``path``, and the files that it finds there."""

    def __init__(self, path: str) -> None:
        self.path = os.path.realpath(path)
        for name, content in FILES.items():
            self.write_file(name, content)

    def tools(self) -> tuple[Tool, ...]:
        """Return the tools ``list``, ``read``, ``write`` and ``shell``."""
        return (
            Tool(self.list_folder, name="list", kind="search"),
            Tool(self.read_file, name="read", kind="read"),
            Tool(self.write_file, name="write", kind="write"),
            Tool(self.run_command, name="shell", kind="shell"),
        )

    def list_folder(self, path: str = ".") -> str:
        """Return the names in a folder, those of folders with a slash."""
        entries = sorted(os.scandir(self._inside(path)), key=lambda entry: entry.name)
        return " ".join(entry.name + "/" * entry.is_dir() for entry in entries)

    def read_file(self, path: str) -> str:
        """Return the content of a file."""
        with open(self._inside(path), encoding="utf-8") as file:
            return file.read()

    def write_file(self, path: str, content: str) -> str:
        """Write a file, or replace it."""
        where = self._inside(path)
        os.makedirs(os.path.dirname(where), exist_ok=True)
        with open(where, "w", encoding="utf-8") as file:
            file.write(content)
        return f"{len(content)} characters written"

    def run_command(self, command: str) -> str:
        """Run one program in the folder, without a shell, and return its output and exit code."""
        program, *arguments = shlex.split(command) or [""]
        # No variables of the user's, and no files of Python's own in the workspace.
        path = os.environ.get("PATH", os.defpath)
        done = subprocess.run(  # noqa: S603 - an argument list, without a shell
            [sys.executable if program == "python" else program, *arguments],
            cwd=self.path,
            env={"PATH": path, "HOME": self.path, "PYTHONDONTWRITEBYTECODE": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=SECONDS,
            check=False,
        )
        return f"{done.stdout.decode(errors='replace')}exit code {done.returncode}"

    def _inside(self, path: str) -> str:
        """Return the real path. Raises ``ValueError`` for one outside the folder, also through links."""
        real = os.path.realpath(os.path.join(self.path, path))
        if os.path.commonpath((real, self.path)) != self.path:
            raise ValueError(f"{path!r} is outside the workspace.")
        return real
