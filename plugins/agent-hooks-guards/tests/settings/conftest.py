"""Folders of a person."""

from __future__ import annotations

import pytest


@pytest.fixture
def place(tmp_path):
    """A workspace that is in no temporary folder by its name."""
    folder = tmp_path / "app"
    folder.mkdir()
    return folder


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A person's home, and in it, what is not in the workspace is no temporary file."""
    folder = tmp_path / "home"
    (folder / "app" / "sub").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(folder))
    return folder
