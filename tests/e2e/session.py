"""One home with a coding agent that our command was installed in, and sessions of that agent."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from .clients import run
from .models import serving
from .scenarios import PROMPT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from .clients import Client
    from .models import Model


class Session:
    """``agent-hooks install`` for a client in a home below ``folder``; ``ask`` runs the client there."""

    def __init__(self, client: Client, program: Path, environment: Path, folder: Path) -> None:
        self.client = client
        self.program = program
        self.environment = environment
        self.folder = folder
        self.home = folder / "home"
        self.project = folder / "project"
        self.said = ""
        for each in (self.home, self.project):
            each.mkdir(exist_ok=True)
        self.env = {
            "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "AGENT_HOOKS_STATE_DIR": str(folder / "state"),
            "AGENT_HOOKS_CONFIG_DIR": str(folder / "config"),
        }
        trust = ["--trust"] if client.host == "codex" else []
        words = [str(environment / "bin/agent-hooks"), "install", client.host, *trust]
        code, said = run(words, cwd=self.home, env={**self.env, "CI": "1"})
        assert code == 0, said
        self.installed = said

    def ask(
        self,
        commands: Sequence[str | tuple[str, dict[str, Any]]],
        prompt: str = PROMPT,
        *,
        before: Mapping[int, Callable[[], None]] | None = None,
    ) -> Model:
        """Let the model call for the commands, or other tools, one after the other; it has then seen all that was told.

        What stands in ``before`` at a command's number is done just before the model calls for it.
        """
        calls = [self.client.call(each) if isinstance(each, str) else each for each in commands]
        with serving(calls, before or {}) as model:
            home = self.home
            env = self.env | dict(self.client.configure(home, model.url))
            code, self.said = run([str(self.program), *self.client.asks(prompt, model.url)], cwd=self.project, env=env)
        assert code is not None, f"{self.client.name} did not end\n{self.said}"
        return model

    def wiring(self) -> Path:
        """The file of the client's own that runs our command."""
        files = (file for file in sorted(self.home.rglob("*")) if file.suffix in {".json", ".js"} and file.is_file())
        return next(file for file in files if "agent_hooks_core" in file.read_text())

    def answer(self, event: str, stdout: str, stderr: str, exit_code: int) -> None:
        """Have a command that answers so in the place of ours, at this event alone."""
        for name, text in (("stdout", stdout), ("stderr", stderr)):
            (self.folder / name).write_text(text)
        script = self.folder / "answer"
        lines = ("#!/bin/sh", "cat > /dev/null", f"cat {self.folder}/stdout", f"cat {self.folder}/stderr >&2")
        script.write_text("\n".join((*lines, f"exit {exit_code}\n")))
        script.chmod(0o755)
        settings = json.loads(self.wiring().read_text())
        handler = {**settings["hooks"][event][0]["hooks"][0], "command": str(script)}
        handler.pop("onFailure", None)
        settings["hooks"] = {event: [{"hooks": [handler]}]}
        self.wiring().write_text(json.dumps(settings))

    def ran(self, name: str) -> bool:
        """Whether a command has made this file of the project."""
        return (self.project / name).exists()

    def away(self) -> Path:
        """Where the environment is while it is moved away."""
        return self.environment.with_name("moved")

    def move(self) -> None:
        """Move the environment away, as who deletes or renames it."""
        self.environment.rename(self.away())

    def restore(self) -> None:
        """Put the environment back, if it is away."""
        if self.away().exists():
            self.away().rename(self.environment)


def together(sessions: Sequence[Session], commands: Sequence[str]) -> list[Model]:
    """Ask several at the same time."""
    with ThreadPoolExecutor(len(sessions)) as pool:
        return list(pool.map(lambda session: session.ask(commands), sessions))
