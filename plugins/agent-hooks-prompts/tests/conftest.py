"""Every test starts where nobody has settings, and without a key to any model."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # judging.py, from whichever folder the tests are started
sys.path.append(str(Path(__file__).parents[3] / "tests"))  # model_server.py

from model_server import ModelServer

if TYPE_CHECKING:
    from collections.abc import Iterator

KEYS = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GOOGLE_API_KEY", "GEMINI_API_KEY", "OPENAI_BASE_URL")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home folder of somebody who has not set anything up."""
    home = tmp_path / "home"
    (home / "config").mkdir(parents=True)
    monkeypatch.setenv("CI", "1")  # tests have no terminal
    monkeypatch.setattr("agent_hooks.system.ancestors.notes_dir", lambda name: "")  # no process is an agent's
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("AGENT_HOOKS_STATE_DIR", str(home / "state"))
    monkeypatch.setenv("AGENT_HOOKS_CONFIG_DIR", str(home / "config"))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home / "claude"))
    monkeypatch.setattr("agent_hooks.sources.files.managed_dir", lambda: str(home / "managed"))
    for variable in KEYS:
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.chdir(home)
    return home


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    """A provider of models on loopback, found by the variables of the environment that OpenAI's client reads."""
    server = ModelServer()
    monkeypatch.setenv("OPENAI_API_KEY", "s3cr3t")
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    yield server
    server.close()
