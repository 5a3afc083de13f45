"""Every test remembers and trusts in folders of its own, and starts where nobody has settings."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # making.py, wherever the tests are started
sys.path.append(str(Path(__file__).parents[3] / "tests"))  # model_server.py

from model_server import ModelServer


@pytest.fixture(autouse=True)
def own_folders(tmp_path, monkeypatch):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.setenv("CI", "1")  # tests have no terminal
    monkeypatch.setattr("agent_hooks.system.ancestors.notes_dir", lambda name: "")  # no process is an agent's
    monkeypatch.setenv("AGENT_HOOKS_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("AGENT_HOOKS_CONFIG_DIR", str(tmp_path / "config"))
    for variable in (
        "CLAUDE_CONFIG_DIR",
        "ANTHROPIC_API_KEY",
        "OPENAI_API_KEY",
        "GEMINI_API_KEY",
        "GOOGLE_API_KEY",
        "OPENAI_BASE_URL",
    ):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.chdir(elsewhere)
    return elsewhere


@pytest.fixture
def folder(tmp_path):
    """A project's folder."""
    made = tmp_path / "project"
    (made / ".git").mkdir(parents=True)
    return made


@pytest.fixture
def provider(monkeypatch):
    """A provider of models on this machine, for which there is a key."""
    made = ModelServer()
    monkeypatch.setenv("OPENAI_API_KEY", "s3cr3t")
    monkeypatch.setenv("OPENAI_BASE_URL", made.url)
    yield made
    made.close()
