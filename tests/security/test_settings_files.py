"""Whatever lies in the place of a file of settings: it is refused by name, and the gates are closed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import Victim


def fifo(path: Path) -> None:
    os.mkfifo(path)


def sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(3 * 1024**3)


def endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


def folder(path: Path) -> None:
    path.mkdir()


@pytest.mark.parametrize("lie", [fifo, sparse, endless, folder])
@pytest.mark.parametrize("name", ["home/.config/agent-hooks/agent-hooks.toml", "home/.claude/settings.json"])
def test_what_is_no_file_of_settings_closes_the_gates(victim: Victim, name: str, lie):
    path = victim.folder / name
    path.parent.mkdir(parents=True)
    lie(path)
    done = victim.run()
    assert done.exit_code == 2
    assert str(path) in done.json["systemMessage"]
    assert path.name in done.stderr
    assert "It cannot be read: " in done.stderr
    assert victim.command("doctor").exit_code == 1


@pytest.mark.parametrize("lie", [fifo, sparse, endless])
@pytest.mark.parametrize("name", ["agent-hooks.toml", "pyproject.toml", ".claude/settings.json", "hookconf.py"])
def test_what_is_no_file_of_a_trusted_project_is_named(victim: Victim, name: str, lie):
    victim.write("inner/agent-hooks.toml", victim.table("exit 0"))
    path = victim.repo / name
    victim.trust()
    path.parent.mkdir(exist_ok=True)
    lie(path)
    done = victim.run()
    assert done.exit_code == 2
    assert str(path) in done.json["systemMessage"]
    assert path.name in done.stderr
    assert victim.command("doctor").exit_code == 1
