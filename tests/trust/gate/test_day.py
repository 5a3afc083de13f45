"""A day with the gate, as hosts ask it: commands that would switch it off, and those of everyday development."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tables import tables

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from environments import Gated

TABLES = tables(__file__)


@pytest.fixture(scope="module", autouse=True)
def _own_environment(gated: Gated) -> Iterator[None]:
    """A project always has its ``.venv``; where the gate runs from elsewhere, that is no part of it."""
    own: Path = gated.project / ".venv"
    if not gated.inside:
        own.mkdir()
        (own / "pyvenv.cfg").write_text("")
    yield
    if not gated.inside:
        (own / "pyvenv.cfg").unlink()
        own.rmdir()


@pytest.mark.parametrize("command", TABLES["switching_off"].splitlines())
def test_no_agent_switches_the_gate_off(gated: Gated, command: str):
    assert gated.decides(command, "claude-code") in ("deny", "ask")


@pytest.mark.parametrize("command", TABLES["everyday"].splitlines())
def test_everyday_work_is_not_disturbed(gated: Gated, command: str):
    assert gated.decides(command, "claude-code") == "proceed"
