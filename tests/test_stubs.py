"""The stubs of the package: written from the hookspecs and values, and used by type checkers alone."""

from __future__ import annotations

import os
import runpy
from pathlib import Path

import pytest

import agent_hooks
from agent_hooks import hookimpl
from agent_hooks.engine import hookspecs

CI = runpy.run_path(os.fspath(Path(__file__).parent.parent / ".ci" / "stubs.py"))
INSTALLED = Path(agent_hooks.__file__).parent


@pytest.mark.parametrize("path", CI["STUBS"], ids=lambda path: path.name)
def test_a_stub_is_installed_as_it_would_be_written(path):
    """After a change of a hookspec or value: `python .ci/stubs.py`."""
    assert (INSTALLED / path.relative_to(CI["PACKAGE"])).read_text(encoding="utf-8") == CI["STUBS"][path]()


@pytest.mark.parametrize("path", CI["STUBS"], ids=lambda path: path.name)
def test_no_module_has_the_name_of_a_stub(path):
    assert not (INSTALLED / path.relative_to(CI["PACKAGE"])).with_suffix(".py").exists()


def test_each_event_of_the_stub_has_a_decorator_and_there_are_no_others():
    text = CI["markers_stub"]().partition("class Hookimpl:")[2]
    events = {line.split(":")[0].strip() for line in text.splitlines() if line.startswith("    ") and "(" not in line}
    events.discard("@overload")
    assert events == {name for name, found in vars(hookspecs).items() if hasattr(found, "agent_hooks_spec")} - {
        name for name in vars(hookspecs) if name.startswith("agent_hooks_")
    }
    for event in events:
        assert getattr(hookimpl, event)(lambda: None).agent_hooks_impl["specname"] == event
