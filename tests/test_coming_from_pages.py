"""The pages ``docs/coming-from-*.md``: each row gives a name of ours that exists, or says why there is none."""

from __future__ import annotations

import pytest

from agent_hooks import HookContext, ToolCall
from agent_hooks.formats.entry import HookEntry
from agent_hooks.handlers.payload import payload_of
from agent_hooks.model.events import find_event
from pages import named, our_names, resolve, tables, words_of_files

# How many rows each has at least, and how it says that there is no name, for good or not yet.
ROWS = {"claude-code": 90, "instructorphp": 100, "skillkit": 70}
NOT_YET, NONE = "*not yet*", "—"
PAGES = {page: [row for rows in tables(f"coming-from-{page}.md").values() for row in rows] for page in ROWS}
OURS = [(page, name) for page, rows in PAGES.items() for name in our_names(rows)]
OF_THE_CORE = [(page, name) for page, name in OURS if not name.startswith("agent_hooks_") and "CLAUDE" not in name]
OF_PLUGINS = [(page, name) for page, name in OURS if name.startswith("agent_hooks_")]


def keys_of_payloads() -> set[str]:
    """The keys of what hooks of files are told, by our form and that of skills."""
    found: set[str] = set()
    for boundary in "ToolUse Subagent SkillActivation LlmRequest ConversationSave ConversationLoad Turn Agent".split():
        for side in ("Pre", "Post"):
            event = find_event(side + boundary)
            assert event is not None
            ctx = HookContext(event, tool_call=ToolCall("Bash") if event.matched_by == "tool" else None)
            found |= payload_of(HookEntry(event=ctx.event, type="command"), ctx).keys()
            found |= payload_of(HookEntry(event=ctx.event, type="command", form="skill"), ctx).keys()
    return found


WORDS = words_of_files() | keys_of_payloads()


@pytest.mark.parametrize(("page", "name"), OF_THE_CORE)
def test_a_name_of_ours_exists(page: str, name: str):
    assert resolve(name, () if page == "instructorphp" else WORDS) is not None


@pytest.mark.docs
@pytest.mark.parametrize(("page", "name"), OF_PLUGINS)
def test_a_name_of_the_plugins_exists(page: str, name: str):
    assert resolve(name, WORDS) is not None


@pytest.mark.parametrize("name", ["HookOutcome.permit", "block_tools", "SkillHook.module", "tool_module"])
def test_the_check_would_find_a_name_that_is_gone(name: str):
    with pytest.raises(ImportError):
        resolve(name, WORDS)


@pytest.mark.parametrize("page", PAGES)
def test_every_row_gives_a_name_of_ours_or_says_that_there_is_none_and_why_for_good(page: str):
    assert len(PAGES[page]) > ROWS[page]
    assert [row for row in PAGES[page] if not named(row[-2]) and row[-2] not in (NOT_YET, NONE)] == []
    assert [row for row in PAGES[page] if row[-2] == NONE and not row[-1]] == []


EVENTS = [(ours.strip("`"), names) for *names, ours, _ in tables("coming-from-instructorphp.md")["Events"]]


@pytest.mark.parametrize(("event", "names"), EVENTS, ids=[event for event, _ in EVENTS])
def test_instructorphps_names_of_an_event_work_as_they_are(event: str, names: list[str]):
    assert {str(find_event(name.strip("`"))) for name in names if name} == {event}
