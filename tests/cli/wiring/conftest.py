"""A home with settings of coding agents, and the three commands in it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from agent_hooks.cli.wiring import commands
from agent_hooks.cli.wiring.edit import Document
from agent_hooks.cli.wiring.hosts import WIRINGS
from agent_hooks.system.by_hand import AGENTS
from agent_hooks.wire import HOSTS

KNOWN = [name for name, wiring in WIRINGS.items() if name in HOSTS and wiring.shape != "plugin"]


class Home:
    """The home folder at ``path``, with a ``project`` in it, which is the working directory."""

    def __init__(self, path, capsys):
        self.path = path
        self.project = path / "project"
        self.capsys = capsys

    def file(self, host, *, project=False):
        return Path(WIRINGS[host].path(str(self.project) if project else ""))

    def write(self, host, text, **options):
        file = self.file(host, **options)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
        return file

    def read(self, host, **options):
        return Document(self.file(host, **options).read_text(), comments=WIRINGS[host].comments).value

    def hooks(self, host, **options):
        """Our handlers in the file of a host, at most one of each event."""
        found: dict[str, dict[str, Any]] = {}
        for event, items in self.read(host, **options)["hooks"].items():
            handlers = [each for item in items for each in item.get("hooks", [item])]
            ours = [each for each in handlers if "agent_hooks_core.py" in each.get("command", "")]
            assert len(ours) <= 1
            if ours:
                found[event] = ours[0]
        return found

    def install(self, *hosts, project=False, events=(), trust=False, dry_run=False):
        """Install, and return the exit code and what was printed."""
        code = commands.install(hosts, project=project, events=events, trust=trust, dry_run=dry_run)
        return code, self.capsys.readouterr().out

    def uninstall(self, *hosts, project=False, dry_run=False):
        code = commands.uninstall(hosts, project=project, dry_run=dry_run)
        return code, self.capsys.readouterr().out

    def status(self):
        """The exit code of ``status``, and its facts of each host that is wired, by name and file."""
        code = commands.status(as_json=True)
        found = json.loads(self.capsys.readouterr().out)["hosts"]
        return code, {(each["host"], each["path"]): each for each in found}

    def files(self):
        """The content of each file in the home, without our own state."""
        paths = (path for path in self.path.rglob("*") if ".local" not in path.parts)
        return {str(path.relative_to(self.path)): path.read_bytes() if path.is_file() else None for path in paths}


@pytest.fixture
def home(tmp_path, monkeypatch, capsys):
    moving = [wiring.variable for wiring in WIRINGS.values() if wiring.variable]
    for name in (*AGENTS, *moving, "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name in [name for name in os.environ if name.startswith("AGENT_HOOKS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    found = Home(tmp_path, capsys)
    (found.project / ".git").mkdir(parents=True)
    monkeypatch.chdir(found.project)
    return found
