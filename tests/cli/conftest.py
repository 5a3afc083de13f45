"""The command in a folder of its own, a repository, and what hosts have sent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from commands import Command
from projects import Project

GOLDEN = Path(__file__).parent.parent / "wire" / "golden"


@pytest.fixture
def command(tmp_path: Path) -> Command:
    return Command(tmp_path)


@pytest.fixture
def started_command(tmp_path: Path) -> Command:
    """The command, in processes that Python has started: what a test is about may depend on that."""
    return Command(tmp_path, forks=False)


@pytest.fixture
def wired(tmp_path: Path) -> Command:
    """The command as `install` wires it, in an environment of its own."""
    return Command(tmp_path, wired=True)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A repository without hooks."""
    return Project(tmp_path)


@pytest.fixture
def payload() -> Any:
    """The recorded payloads: ``payload("claude-code", "PreToolUse", tool_name="Read")``."""

    def read(agent: str, event: str, **changes: Any) -> dict[str, Any]:
        folder = GOLDEN / agent
        return {**json.loads((folder / f"{event}.json").read_text()), **changes}

    return read


@pytest.fixture
def doctor(command, project):
    """What the doctor says of the project, as JSON."""
    return lambda **options: command("doctor", "--json", str(project.root), **options)


@pytest.fixture
def shown(command, project):
    """What people read of the same."""
    return lambda **options: command("doctor", str(project.root), **options).stdout
