"""Every test remembers things in a folder of its own, and starts where nobody has settings."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # making.py, from whichever folder the tests are started
sys.path.append(str(Path(__file__).parents[3] / "tests"))  # terminals.py


@pytest.fixture(autouse=True)
def state_folder(tmp_path, monkeypatch):
    folder = tmp_path / "state"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.setenv("CI", "1")  # tests have no terminal
    monkeypatch.setattr("agent_hooks.system.ancestors.notes_dir", lambda name: "")  # no process is an agent's
    monkeypatch.setenv("AGENT_HOOKS_STATE_DIR", str(folder))
    monkeypatch.setenv("AGENT_HOOKS_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setattr("agent_hooks.sources.files.managed_dir", lambda: str(tmp_path / "managed"))
    monkeypatch.setattr("agent_hooks.sources.files._other_writer", lambda path: "")
    monkeypatch.setattr("agent_hooks.sources.plugin_settings._of_projects", {})
    monkeypatch.setattr("agent_hooks.sources.plugin_settings.LOOK_AGAIN", 0.0)  # tests change files at once
    monkeypatch.setattr("agent_hooks.engine.plan.ASK_AGAIN", 0.0)
    monkeypatch.chdir(elsewhere)
    return folder
