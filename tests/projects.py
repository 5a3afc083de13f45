"""Projects to try configuration on: real folders with real files, trusted in a store of their own."""

from __future__ import annotations

import json
import shutil
import sys
from textwrap import dedent
from typing import TYPE_CHECKING, Any

from agent_hooks.trust.discovery import discover
from agent_hooks.trust.trust_store import TrustStore

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pytest

HOOKCONF = """
from agent_hooks import HookOutcome, hookimpl

@hookimpl
def before_tool_use(tool_call):
    return HookOutcome.deny("{reason}")
"""


class Project:
    """A repository below ``folder``."""

    def __init__(self, folder: Path, name: str = "repo") -> None:
        self.root = folder.resolve() / name
        (self.root / ".git").mkdir(parents=True)

    def write(self, files: dict[str, str]) -> Project:
        """Write these files, by their paths from the root."""
        for name, content in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(dedent(content))
            path.chmod(0o644)
        return self

    def trust(self, store: Path | None = None) -> Project:
        """Let it run as it is now."""
        TrustStore(store).trust(discover(self.root))
        return self

    def at(self, name: str) -> str:
        """The path of a file in it."""
        return str(self.root / name)


def alter(root: Path, change: dict[str, Any], write: Callable[[dict[str, Any]], object]) -> None:
    """Change a folder as a row of a table says: what is ``copied``, and to where, what is ``gone``, the ``files`` that
    ``write`` writes, what is a link (``links``), and to where, and the ``modes`` of files.
    """
    for path, target in change.get("copied", {}).items():
        source = root / path
        shutil.copytree(source, root / target) if source.is_dir() else shutil.copy(source, root / target)
    for path in change.get("gone", ()):
        remove(root / path)
    write(change.get("files", {}))
    for path, link in change.get("links", {}).items():
        remove(root / path)
        (root / path).symlink_to(link)
    for path, mode in change.get("modes", {}).items():
        (root / path).chmod(mode)


def remove(path: Path) -> None:
    """Remove a file, or a folder with what is in it."""
    shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink(missing_ok=True)


def settings(event: str = "PreToolUse", *handlers: Any, matcher: str | None = None, **top: Any) -> str:
    """The text of a Claude Code settings file with these handlers, of which a text is a command."""
    made = [{"type": "command", "command": each} if isinstance(each, str) else each for each in handlers]
    group = {**({"matcher": matcher} if matcher is not None else {}), "hooks": made}
    return json.dumps({**({"hooks": {event: [group]}} if made else {}), **top}, indent=1)


def toml(command: Any, event: str = "before_tool_use", *, handler: str = "", **options: Any) -> str:
    """The text of an agent-hooks.toml with one command hook, or one handler written out."""
    lines = [f"{key} = {json.dumps(value)}" for key, value in options.items()]
    handler = handler or f'type = "command"\ncommand = {json.dumps(command)}'
    return "\n".join([f"[[hooks.{event}]]", *lines, f"[[hooks.{event}.hooks]]", handler, ""])


def denying(reason: str) -> str:
    """A command that denies."""
    return f"echo {reason} >&2; exit 2"


def python(*code: str) -> list[str]:
    """The words that run these lines with this Python."""
    return [sys.executable, "-c", "\n".join(code)]


def own_folders(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Path:
    """Let the user's and the machine's folders be below ``folder``; return the user's folder of our configuration."""
    from agent_hooks.sources import files as sources

    home = folder.resolve() / "home"
    config = home / "config"
    config.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("AGENT_HOOKS_CONFIG_DIR", str(config))
    monkeypatch.setenv("AGENT_HOOKS_STATE_DIR", str(home / "state"))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    monkeypatch.delenv("AGENT_HOOKS_DISABLE", raising=False)
    monkeypatch.setattr(sources, "managed_dir", lambda: str(folder / "managed"))
    monkeypatch.setattr(sources, "_claude_managed_dir", lambda: str(folder / "managed-claude"))
    return config
