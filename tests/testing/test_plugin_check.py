"""What every installed plugin must hold, in a stand-in of one module, and that each mistake in it is named."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from agent_hooks.testing import check_plugin

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

SOURCE = """
from agent_hooks import HookOutcome, hookimpl

@hookimpl.before_tool_use(match="shell", mode="gate")
def keep_out(tool_call):
    return HookOutcome.deny("No frobs.") if "frob" in tool_call.command else None

@hookimpl
def agent_hooks_settings():
    return {"stand-in": settings}

def settings():
    from pydantic import BaseModel
    class Settings(BaseModel):
        words: frozenset[str] = frozenset()
        def tighten(self, project):
            return self.model_copy(update={"words": self.words | project.words})
    return Settings
"""
METADATA = "Metadata-Version: 2.1\nName: stand-in\nVersion: 1.0\n\nIts table is `[stand-in]`.\n"


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    def install(source: str = SOURCE, metadata: str = METADATA) -> None:
        info = tmp_path / "stand_in-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(metadata)
        (info / "entry_points.txt").write_text("[agent_hooks]\nstand-in = stand_in_rules\n")
        (tmp_path / "stand_in_rules.py").write_text(source)
        monkeypatch.syspath_prepend(str(tmp_path))
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    yield install
    sys.modules.pop("stand_in_rules", None)


def test_a_plugin_without_mistakes_passes(install: Callable[..., None]):
    install()
    check_plugin("stand-in")


@pytest.mark.parametrize(
    ("right", "wrong", "says"),
    [
        ("", "1 / 0\n", "The plugin stand-in is broken: .*ZeroDivisionError"),
        ("(tool_call)", "(tool_cal)", "takes 'tool_cal', which before_tool_use does not"),
        ("", "import pydantic\n", "stand_in_rules imports pydantic at its top"),
        ("self.words | project.words", "project.words", "Settings.tighten"),
        ("words: frozenset[str] =", "words: type =", "JsonSchema"),
        ('{"stand-in"', '{"other"', "The README of stand-in does not name 'other' in code"),
    ],
)
def test_a_mistake_is_named(install: Callable[..., None], right: str, wrong: str, says: str):
    install(SOURCE.replace(right, wrong, 1))
    with pytest.raises(Exception, match=says):
        check_plugin("stand-in")


def test_a_plugin_that_is_not_installed_is_none():
    with pytest.raises(AssertionError, match="No installed plugin is called stand-in"):
        check_plugin("stand-in")
