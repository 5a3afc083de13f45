"""``docs/coming-from-instructorphp.md``: every name of ours that its tables give exists."""

from __future__ import annotations

import pytest

from agent_hooks.model.events import find_event
from pages import named, our_names, resolve, tables

TABLES = tables("coming-from-instructorphp.md")
ROWS = [row for rows in TABLES.values() for row in rows]
NONE = ("*not yet*", "—")


@pytest.mark.parametrize("name", [name for name in our_names(ROWS) if not name.startswith("agent_hooks_")])
def test_a_name_of_ours_exists(name: str):
    assert resolve(name) is not None


@pytest.mark.docs
@pytest.mark.parametrize("name", [name for name in our_names(ROWS) if name.startswith("agent_hooks_")])
def test_a_name_of_the_plugins_exists(name: str):
    assert resolve(name) is not None


def test_the_check_would_find_a_name_that_is_gone():
    with pytest.raises(ImportError):
        resolve("HookContext.with_tool_execution_allowed")


def test_every_row_gives_a_name_of_ours_or_says_that_there_is_none():
    assert len(ROWS) > 100
    assert [row for row in ROWS if not named(row[-2]) and row[-2] not in NONE] == []


def test_where_there_is_none_for_good_the_row_says_why():
    assert [row for row in ROWS if row[-2] == "—" and not row[-1]] == []


EVENTS = [(ours.strip("`"), names) for *names, ours, _ in TABLES["Events"]]


@pytest.mark.parametrize(("event", "names"), EVENTS, ids=[event for event, _ in EVENTS])
def test_their_names_of_an_event_work_as_they_are(event: str, names: list[str]):
    assert {str(find_event(name.strip("`"))) for name in names if name} == {event}
