"""The warm process of a command, and what became of the events that it got."""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from commands import Command

RULES = """
    import os

    @hookimpl
    def before_tool_use(tool_call):
        command = tool_call.command
        if "deny" in command:
            return HookOutcome.deny("not here")
        if "ask" in command:
            return HookOutcome.ask("really?")
        if "allow" in command:
            return HookOutcome.allow()

    @hookimpl
    def user_input(prompt):
        return HookOutcome.update(context=prompt.upper())
"""


class Warm:
    """The warm process of a command. ``first_line``: what it says first.

    ``program``: the words of its command line before ``serve``; ``env``: variables besides those of the command.
    """

    def __init__(
        self, command: Command, *arguments: str, program: Sequence[str] = (), env: Mapping[str, str] | None = None
    ) -> None:
        self.command = command
        self.process = subprocess.Popen(
            [*(program or command.arguments()), "serve", *arguments],
            env={**command.environment, **(env or {})},
            cwd=command.folder,
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stderr is not None
        self.first_line = self.process.stderr.readline()

    @property
    def has_ended(self) -> bool:
        """Whether it has ended."""
        return self.process.poll() is not None

    @property
    def counts(self) -> tuple[int, int, str]:
        """How many events it has answered and declined, and why it declined the last one."""
        text = self.command("serve", "--status").stdout
        found = re.search(r"events answered (\d+), declined (\d+)(?: \(last: (.*)\))?(?:;.*)?\.\n", text)
        assert found is not None, self.first_line + text
        return int(found[1]), int(found[2]), found[3] or ""

    @property
    def answered(self) -> int:
        """How many events it has answered."""
        return self.counts[0]

    def wait(self) -> str:
        """Wait for its end and return the rest of what it says."""
        assert self.process.stderr is not None
        with self.process.stderr:
            rest = self.process.stderr.read()
        assert self.process.wait(30) == 0
        return rest

    def end(self) -> str:
        """End it, if it has not ended, and return why it has declined an event."""
        declined = ""
        if not self.has_ended:
            try:
                declined = self.counts[2]
            finally:  # tests of the same worker look for children that are left
                self.process.terminate()
                self.wait()
        assert self.process.stderr is not None
        self.process.stderr.close()
        return declined


def bash(payload: Any, agent: str, command: str, **changes: Any) -> dict[str, Any]:
    """The payload of a shell command."""
    made: dict[str, Any] = payload(agent, "PreToolUse", tool_name="Bash", tool_input={"command": command}, **changes)
    return made
