"""``docs/coming-from-instructorphp.md``: every name of ours that its tables give exists."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

from agent_hooks.events import find_event

PAGE = Path(__file__).parent.parent / "docs" / "coming-from-instructorphp.md"
NONE = ("*not yet*", "—")


def rows() -> list[tuple[list[str], str, str]]:
    """Their names by column, ours, and the difference, of each row of each table."""
    lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    return [(theirs, ours, difference) for *theirs, ours, difference in cells if ours != "ours"]


def our_names() -> list[str]:
    return sorted({name for _, ours, _ in rows() for name in re.findall(r"`([^`]+)`", ours)})


def resolve(name: str) -> object:
    """The event or attribute called so. Raises ``ImportError`` or ``AttributeError``."""
    if find_event(name) == name:
        return find_event(name)
    if not name.startswith(("agent_hooks.", "agent_hooks_guards.")):
        name = f"agent_hooks.{name}"
    package, *path = name.split(".")
    found: object = import_module(package)
    for number, part in enumerate(path, 1):
        is_module = not hasattr(found, part)
        found = import_module(".".join([package, *path[:number]])) if is_module else getattr(found, part)
    return found


@pytest.mark.parametrize("name", [name for name in our_names() if not name.startswith("agent_hooks_guards.")])
def test_a_name_of_ours_exists(name: str):
    assert resolve(name) is not None


@pytest.mark.docs
@pytest.mark.parametrize("name", [name for name in our_names() if name.startswith("agent_hooks_guards.")])
def test_a_name_of_the_guards_exists(name: str):
    assert resolve(name) is not None


def test_the_check_would_find_a_name_that_is_gone():
    with pytest.raises(ImportError):
        resolve("HookContext.with_tool_execution_allowed")


def test_every_row_gives_a_name_of_ours_or_says_that_there_is_none():
    assert len(rows()) > 100
    assert [row for row in rows() if not re.search(r"`[^`]+`", row[1]) and row[1] not in NONE] == []


def test_where_there_is_none_for_good_the_row_says_why():
    assert [row for row in rows() if row[1] == "—" and not row[2]] == []


EVENTS = [(ours.strip("`"), names) for names, ours, _ in rows() if len(names) == 3]


@pytest.mark.parametrize(("event", "names"), EVENTS, ids=[event for event, _ in EVENTS])
def test_their_names_of_an_event_work_as_they_are(event: str, names: list[str]):
    assert {str(find_event(name.strip("`"))) for name in names if name} == {event}
