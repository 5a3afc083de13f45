"""The real command in real processes, with plugins that are really installed: a folder with metadata on the path."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

import agent_hooks
from projects import Project

GOLDEN = Path(__file__).parent.parent / "wire" / "golden"
# What pip writes for a console script.
SCRIPT = "import sys\nfrom agent_hooks.cli.main import main\nsys.exit(main())\n"
PACKAGES = str(Path(agent_hooks.__file__).parent.parent)


class Command:
    """``agent-hooks`` in a home and with packages of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.site = folder / "site"
        self.home = folder / "home"
        self.script = folder / "bin" / "agent-hooks"
        for made in (self.site, self.home, self.script.parent):
            made.mkdir()
        self.script.write_text(SCRIPT)
        self.config = self.home / "config"
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "AGENT_HOOKS_CONFIG_DIR": str(self.config),
            "PYTHONPATH": os.pathsep.join((str(self.site), PACKAGES)),
            "PYTHONWARNINGS": "error",
        }

    def install(self, source: str, name: str = "house", *, version: str = "1.0") -> None:
        """Install a distribution whose one module ``NAME_rules`` is the plugin ``NAME``."""
        module = f"{name}_rules"
        (self.site / f"{module}.py").write_text("from agent_hooks import HookOutcome, hookimpl\n" + dedent(source))
        info = self.site / f"{name}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        (info / "entry_points.txt").write_text(f"[agent_hooks]\n{name} = {module}\n")

    def configure(self, text: str) -> None:
        """Write the user's agent-hooks.toml."""
        self.config.mkdir(mode=0o700, exist_ok=True)
        (self.config / "agent-hooks.toml").write_text(text)

    def trust(self, project: Project) -> Project:
        """Let a project run as it is now."""
        return project.trust(self.config / "trust")

    def arguments(self, *arguments: str) -> list[str]:
        return [sys.executable, str(self.script), *arguments]

    def __call__(
        self,
        *arguments: str,
        stdin: bytes | str | int = subprocess.DEVNULL,
        env: dict[str, str] | None = None,
        cwd: Path | None = None,
    ) -> Done:
        """Run the command; ``stdin`` is what to write to it, or a descriptor to read from."""
        given = stdin.encode() if isinstance(stdin, str) else stdin
        process = subprocess.run(
            self.arguments(*arguments),
            env={**self.environment, **(env or {})},
            cwd=cwd or self.folder,
            input=given if isinstance(given, bytes) else None,
            stdin=given if isinstance(given, int) else None,
            capture_output=True,
            timeout=60,
            check=False,
        )
        return Done(process)

    def answer(self, agent: str, payload: dict[str, Any], *arguments: str, **options: Any) -> Done:
        """What ``agent-hooks run`` answers to ``payload``."""
        return self("run", "--agent", agent, *arguments, stdin=json.dumps(payload), **options)


class Done:
    """A process that has ended; ``json`` is its stdout, which must be one JSON value or empty."""

    def __init__(self, process: subprocess.CompletedProcess[bytes]) -> None:
        self.exit_code = process.returncode
        self.stdout = process.stdout.decode()
        self.stderr = process.stderr.decode()

    @property
    def json(self) -> Any:
        return json.loads(self.stdout) if self.stdout else None

    @property
    def specific(self) -> Any:
        return (self.json or {}).get("hookSpecificOutput", {})

    @property
    def denies_a_tool(self) -> bool:
        """Whether every host takes it for a refusal of a tool call: the JSON, a reason on stderr, exit code 2."""
        decision = self.specific.get("permissionDecision") if self.stdout else "deny"
        return self.exit_code == 2 and bool(self.stderr) and decision == "deny"

    def __repr__(self) -> str:
        return f"exit {self.exit_code}\nstdout: {self.stdout}\nstderr: {self.stderr}"


@pytest.fixture
def command(tmp_path: Path) -> Command:
    return Command(tmp_path)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A repository without hooks."""
    return Project(tmp_path)


@pytest.fixture
def payload() -> Any:
    """The recorded payloads: ``payload("claude-code", "PreToolUse", tool_name="Read")``."""

    def read(agent: str, event: str, **changes: Any) -> dict[str, Any]:
        folder = GOLDEN / agent
        return {**json.loads((folder / f"{event}.json").read_text()), **changes}

    return read
