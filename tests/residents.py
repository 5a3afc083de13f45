"""Resident processes for tests: one for each command that asks, and what became of the events."""

from __future__ import annotations

import os
import re
import socket
import subprocess
from collections import Counter
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from agent_hooks.cli.resident import STATUS, TAKEN
from agent_hooks.system.sockets import LENGTH, address_of, open_folder, pack, size_of, unpack, variables_at_start

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from commands import Command

# In the environment of a test's command: it waits for a resident process that is only busy (see `commands.SCRIPT`).
PATIENT = {"PATIENT": "1"}
# Read by a test's script when it starts, besides the variables that Python reads.
_AT_START = ("SITE", "WITNESS_FOLDER", "WITNESS_LOG")


class Resident:
    """The resident process of a command's home and environment. ``first_line``: what it says first.

    ``program``: the words of its command line before ``serve``; ``env``: variables besides those of the command.
    """

    def __init__(
        self,
        command: Command,
        *arguments: str,
        program: Sequence[str] = (),
        env: Mapping[str, str] | None = None,
        stdin: int = subprocess.DEVNULL,
    ) -> None:
        command.environment.update(PATIENT)
        self.command = command
        self.process = subprocess.Popen(
            [*(program or command.arguments()), "serve", *arguments],
            env={**command.environment, **(env or {})},
            cwd=command.folder,
            stdin=stdin,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stderr is not None
        self.first_line = self.process.stderr.readline()

    @property
    def _lock(self) -> Path:
        """The file that it holds while it runs: beside its socket, whose name it has."""
        (lock,) = (self.command.home / ".local" / "state" / "agent-hooks" / "serve").glob("*.lock")
        return lock

    def connect(self) -> socket.socket:
        """Return a connection to it."""
        folder = str(self._lock.parent)
        descriptor = open_folder(folder)
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(30)
        connection.connect(address_of(descriptor, folder, self._lock.stem))
        os.close(descriptor)
        return connection

    @property
    def counts(self) -> tuple[int, int, str]:
        """How many events it has answered and declined, and why it declined the last one."""
        with self.connect() as connection:
            connection.sendall(pack(STATUS, b""))
            received = bytearray()
            head = len(TAKEN) + LENGTH
            while len(received) <= head or not (size := size_of(received[head:])) or len(received) < head + size:
                part = connection.recv(4096)
                assert part, "the resident process says nothing about itself"
                received += part
        text = unpack(received[head:])[1].decode()
        found = re.fullmatch(
            r"process \d+; workers \d+; events answered (\d+), declined (\d+)(?: \(last: (.*)\))?(?:; telemetry .*)?",
            text,
        )
        assert found is not None, text
        return int(found[1]), int(found[2]), found[3] or ""

    @property
    def answered(self) -> int:
        """How many events it has answered."""
        return self.counts[0]

    @contextmanager
    def hidden(self) -> Iterator[None]:
        """Let nobody find it in this block."""
        elsewhere = self._lock.with_suffix(".hidden")
        self._lock.with_suffix("").rename(elsewhere)
        yield
        elsewhere.rename(self._lock.with_suffix(""))

    def wait(self) -> str:
        """Wait for its end and return the rest of what it says."""
        assert self.process.stderr is not None
        with self.process.stderr:
            rest = self.process.stderr.read()
        assert self.process.wait(30) == 0
        return rest

    def end(self) -> None:
        """End it, if it has not ended."""
        if self.process.poll() is None:
            self.process.terminate()
            self.wait()
        assert self.process.stderr is not None
        self.process.stderr.close()


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


def bash(payload: Any, agent: str, command: str, **changes: Any) -> dict[str, Any]:
    """The payload of a shell command."""
    made: dict[str, Any] = payload(agent, "PreToolUse", tool_name="Bash", tool_input={"command": command}, **changes)
    return made


class Residents:
    """The resident processes that answer the events of a test: `pytest --resident`.

    ``events``: over all tests, how many were answered, and why others were not. ``unanswered``: those of this test that
    a resident process got and did not answer.
    """

    def __init__(self) -> None:
        self.events: Counter[str] = Counter()
        self.unanswered: list[str] = []
        self._running: dict[Path, tuple[object, Resident]] = {}

    def ask(self, command: Command, program: Sequence[str], env: Mapping[str, str]) -> Iterator[None]:
        """Let a resident process answer the event that is sent before the next step of this iterator."""
        running = self._get(command, program, env)
        if running is None:
            self._not_answered("no resident process can start")
            yield
            return
        before = running.counts
        yield
        try:
            after = running.counts
        except (OSError, AssertionError):
            rest = running.wait() if running.process.poll() is not None else "it does not answer"
            self._not_answered(rest.strip())
            return
        if after[0] > before[0]:
            self.events["answered"] += 1
        else:
            self._not_answered(after[2] if after[1] > before[1] else "never got the event")

    def _not_answered(self, why: str) -> None:
        self.events[re.sub(r"(?<= )/\S*", "PATH", why)] += 1
        self.unanswered.append(why)

    def _get(self, command: Command, program: Sequence[str], env: Mapping[str, str]) -> Resident | None:
        """Return the one that runs for a command, or a new one for its variables."""
        variables = {**command.environment, **env}
        as_bytes = {name.encode(): value.encode() for name, value in variables.items()}
        wanted = (tuple(program), variables_at_start(as_bytes), [variables.get(name) for name in _AT_START])
        had, running = self._running.get(command.folder, (None, None))
        if running is not None and (had != wanted or running.process.poll() is not None):
            running.end()
            running = None
        if running is None:
            running = Resident(command, program=program, env=env)
            if "serving" not in running.first_line:
                running.process.wait(30)
                running.end()
                self._running.pop(command.folder, None)
                return None
            self._running[command.folder] = (wanted, running)
        return running

    def end(self) -> list[str]:
        """End all of them, and return why events of this test were not answered."""
        for _, running in self._running.values():
            with suppress(AssertionError):
                running.end()
        self._running.clear()
        unanswered, self.unanswered = self.unanswered, []
        return unanswered
