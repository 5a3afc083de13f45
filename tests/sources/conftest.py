"""What tests of sources share: the folders of the user and of a project, all of them temporary."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from projects import Project, own_folders

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's folder of our configuration."""
    return own_folders(monkeypatch, tmp_path)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)
