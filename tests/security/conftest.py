"""A person with a home of their own, a hostile repository that they have cloned, and the real command on both."""

from __future__ import annotations

import json
from shlex import quote
from typing import TYPE_CHECKING, Any

import pytest

from agent_hooks.model.touched_paths import touched_paths
from agent_hooks.sources.loader import HookConfigLoader
from agent_hooks.trust.discovery import discover
from agent_hooks.trust.trust_store import TrustStore
from agent_hooks.wire import get_host
from commands import SCRIPT, Command, Done

if TYPE_CHECKING:
    from pathlib import Path

    from agent_hooks.engine.manager import HookManager
    from agent_hooks.model.outcome import HookOutcome

# What a witness in the command's process writes down: whatever of a folder is imported, compiled to run, or given to
# the system.
WITNESSED = """\
import os, sys

def witness(name, arguments, folder=os.environ["WITNESS_FOLDER"], log=os.environ["WITNESS_LOG"]):
    if name in ("subprocess.Popen", "os.exec", "os.posix_spawn", "os.system", "socket.connect", "socket.getaddrinfo"):
        said = repr(arguments)
    elif name == "exec" and getattr(arguments[0], "co_filename", "").startswith(folder):
        said = arguments[0].co_filename
    elif name == "import" and str(arguments[1]).startswith(folder):
        said = arguments[0]
    else:
        return
    with open(log, "a") as file:
        file.write(f"{name} {said}\\n")

sys.addaudithook(witness)
"""


class Victim:
    """Who has cloned ``repo``, and what became of them.

    ``touch``: the command of an attack; ``python``: the same in Python. Both make the file ``canary``, which is outside
    the repository.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.repo = folder / "repo"
        self.canary = folder / "canary"
        (self.repo / ".git").mkdir(parents=True)
        self.agent_hooks = Command(folder, forks=False)
        self.home = self.agent_hooks.home
        self.config = self.agent_hooks.config
        self.script = self.agent_hooks.script
        self.environment = self.agent_hooks.environment
        self.install = self.agent_hooks.install  # a plugin of the person's own choice
        self.touch = f"touch {quote(str(self.canary))}"
        self.python = f"open({str(self.canary)!r}, 'w').close()\n"
        self.witnessed = folder / "bin" / "witnessed"
        self.witnessed.write_text(WITNESSED + SCRIPT)
        self.log = folder / "log"
        self.notes = ""

    # -- what there is ------------------------------------------------------------------------------------------------

    def write(self, path: str, content: str | bytes | dict[str, Any], mode: int = 0o644) -> Path:
        """Commit a file to the repository; a dict as JSON."""
        return self._write(self.repo / path, content, mode)

    def write_own(self, path: str, content: str | dict[str, Any]) -> Path:
        """Write a file below the person's home, where their own settings are."""
        return self._write(self.home / path, content, 0o600)

    def _write(self, file: Path, content: str | bytes | dict[str, Any], mode: int) -> Path:
        file.parent.mkdir(parents=True, exist_ok=True)
        if file.is_symlink():
            file.unlink()
        if isinstance(content, dict):
            content = json.dumps(content)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        file.chmod(mode)
        return file

    def lay(self, files: dict[str, Any]) -> None:
        """Commit the files of a table of cases, scripts as such.

        TOUCH, PYTHON and CANARY in them stand for the attack, FOLDER for ours. A list stands for settings with these
        commands: Claude Code's in JSON, or our own.
        """
        for path, content in self.filled(files).items():
            if isinstance(content, list):
                content = self.hooks(*content) if path.endswith(".json") else "".join(map(self.table, content))
            self.write(path, content, 0o755 if str(content).startswith("#!") else 0o644)

    def filled(self, value: Any) -> Any:
        """Put the attack into texts, lists and tables of texts."""
        if isinstance(value, dict):
            return {key: self.filled(each) for key, each in value.items()}
        if isinstance(value, list):
            return [self.filled(each) for each in value]
        words = {"TOUCH": self.touch, "PYTHON": self.python, "CANARY": self.canary, "FOLDER": self.folder}
        for word, meant in words.items() if isinstance(value, str) else ():
            value = value.replace(word, str(meant))
        return value

    @property
    def store(self) -> TrustStore:
        return TrustStore(self.config / "trust")

    def trust(self, root: Path | None = None) -> None:
        """Trust what is in the repository now, as a person does after a look at it."""
        self.store.trust(discover(root or self.repo))

    @staticmethod
    def hooks(*commands: str, event: str = "PreToolUse", **fields: Any) -> dict[str, Any]:
        """Claude Code's settings with a hook for each of the commands."""
        return {"hooks": {event: [{"hooks": [{"type": "command", "command": each, **fields} for each in commands]}]}}

    @staticmethod
    def table(command: str, event: str = "before_tool_use", beside: str = "") -> str:
        """Our own settings with one command hook; ``beside``: what stands beside its matcher."""
        handler = f"[[hooks.{event}.hooks]]\ntype = 'command'\ncommand = {json.dumps(command)}\n"
        return f"[[hooks.{event}]]\n{beside}\n{handler}"

    # -- what happens --------------------------------------------------------------------------------------------------

    def command(self, *arguments: str, cwd: Path | None = None, seconds: float = 20, **options: Any) -> Done:
        """Run the command in the repository; it must end within ``seconds``."""
        return self.agent_hooks(*arguments, cwd=cwd or self.repo, seconds=seconds, **options)

    def run(self, event: str = "PreToolUse", *, agent: str = "codex", cwd: Path | None = None, **fields: Any) -> Done:
        """Let an agent that works in ``cwd`` report an event; by default, that it is about to run ``make``. Codex,
        because it leaves all files to us. ``fields``: of the payload, and options of ``command``.
        """
        options = {key: fields.pop(key) for key in ("env", "program", "seconds") if key in fields}
        payload = json.dumps(self._payload(event, cwd, fields)).encode()
        return self.command("run", "--agent", agent, stdin=payload, cwd=cwd, **options)

    def asked(
        self, event: str = "PreToolUse", *, agent: str = "codex", cwd: Path | None = None, **fields: Any
    ) -> HookOutcome:
        """Decide the same in this process, as ``run`` does it; ``notes`` is what it would tell."""
        host = get_host(agent)
        ctx = host.read(self._payload(event, cwd, fields), event)
        near = (ctx.cwd, *touched_paths(ctx))
        loader = HookConfigLoader(ctx.cwd, near=near, claude_settings=not host.runs_claude_settings)
        manager = loader.load(load_plugins=False)
        self.notes = " ".join(manager.notes)
        hooks = manager.hooks()
        outcome = hooks.dispatch_sync(ctx)
        hooks.join_sync()
        return outcome

    def _payload(self, event: str, cwd: Path | None, fields: dict[str, Any]) -> dict[str, Any]:
        common = {"session_id": "s", "transcript_path": "", "cwd": str(cwd or self.repo), "hook_event_name": event}
        common |= {"model": "m", "permission_mode": "default"}
        if event == "PreToolUse":
            common |= {"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_use_id": "1"}  # type: ignore[dict-item]
        return {**common, **fields}

    def load(self, **options: Any) -> tuple[HookManager, HookConfigLoader]:
        """Load what holds in the repository, in this process."""
        loader = HookConfigLoader(self.repo)
        return loader.load(load_plugins=False, **options), loader

    @property
    def was_hit(self) -> bool:
        return self.canary.exists()

    @property
    def seen(self) -> str:
        """What the witness has seen."""
        return self.log.read_text() if self.log.exists() else ""


@pytest.fixture
def victim(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Victim:
    made = Victim(tmp_path)
    monkeypatch.setenv("HOME", str(made.home))
    monkeypatch.setenv("AGENT_HOOKS_CONFIG_DIR", str(made.config))
    monkeypatch.setenv("AGENT_HOOKS_STATE_DIR", str(made.home / "state"))
    for variable in ("CLAUDE_CONFIG_DIR", "AGENT_HOOKS_DISABLE", "AGENT_HOOKS_DEPTH", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(variable, raising=False)
    return made
