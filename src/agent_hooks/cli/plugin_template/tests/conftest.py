"""Shared by all tests."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def config(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """Put an empty folder in place of the one with the user's own files."""
    folder = tmp_path_factory.mktemp("config")
    monkeypatch.setenv("AGENT_HOOKS_CONFIG_DIR", str(folder))
    return folder
