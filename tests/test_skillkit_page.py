"""``docs/coming-from-skillkit.md``: all of SkillKit's names are in its tables, and every name of ours exists."""

from __future__ import annotations

from typing import Any

import pytest

from agent_hooks import HookContext, ToolCall
from agent_hooks.formats.entry import HookEntry
from agent_hooks.handlers.payload import payload_of
from agent_hooks.model.events import find_event
from pages import named, tables

# What SkillKit's manual of hooks has, chapter by chapter.
BOUNDARIES = "ToolUse Subagent SkillActivation LlmRequest ConversationSave ConversationLoad Turn Agent".split()
NAMES = {
    "Skills": ["hooks", "name", "description"],
    "Matchers": ["matcher"],
    "Return values": [":ok", "{:deny, reason}", "{:pending, state}"],
    "Commands": ["type: command", "command", "HOOK_INPUT"],
    "Requests": ["type: http", "url", "headers", "timeout", "decision: deny", "decision: allow", "reason"],
    "Handler types": [
        *["SkillKit.Hooks.Handler", "SkillKit.Hooks.Command", "SkillKit.Hooks.Http", "execute(config, context)"],
        *["config :skill_kit, :hook_handlers", "start_agent(…, hook_handlers: …)"],
    ],
    "Programmatic hooks": [
        *["%Skill{name: …, hooks: […]}", "%Hook{}", "event: :pre_tool_use", "matcher: ~r/Shell/"],
        *["handler: fn context -> … end", "handler: {module, function, args}"],
    ],
}
KEYS = {
    "ToolUse": "tool input skill",
    "Subagent": "name task depth",
    "SkillActivation": "skill skill_name arguments",
    "LlmRequest": "model message_count tool_count",
    "ConversationSave": "message_count",
    "Agent": "definition",
    "Turn": "message_count",
}


TABLES = tables("coming-from-skillkit.md")


def context(event: str) -> HookContext:
    """A context with nothing in it but what the event cannot be without."""
    found = find_event(event)
    assert found is not None
    return HookContext(found, tool_call=ToolCall("Shell") if found.matched_by == "tool" else None)


def payload(event: str) -> dict[str, Any]:
    ctx = context(event)
    return payload_of(HookEntry(event=ctx.event, type="command", form="skill"), ctx)


@pytest.mark.parametrize(("heading", "name"), [(heading, name) for heading in NAMES for name in NAMES[heading]])
def test_a_name_of_theirs_is_in_its_table(heading: str, name: str):
    assert name in {name for row in TABLES[heading] for name in named(row[0])}


def test_their_events_are_all_there_and_work_as_they_are():
    said = {named(theirs)[0]: named(ours)[0] for theirs, ours, _ in TABLES["Events"]}
    assert said == {name: str(find_event(name)) for event in BOUNDARIES for name in (f"Pre{event}", f"Post{event}")}


def test_an_event_that_is_said_to_be_only_observed_is():
    for theirs, ours, difference in TABLES["Events"]:
        event = find_event(named(ours)[0])
        assert event is not None
        may_decide = not event.observe_only
        assert may_decide == (named(theirs)[0].startswith("Pre") or "deny" in difference)


# -- what a hook is told -----------------------------------------------------------------------------------------------


def theirs_at(event: str) -> set[str]:
    """The keys that the page has for an event."""
    at = [row for row in TABLES["The context"] if event in named(row[1])]
    return {key.removeprefix(":") for row in at for key in named(row[0])}


@pytest.mark.parametrize("boundary", KEYS)
def test_a_key_of_theirs_is_in_the_table_where_they_have_it(boundary: str):
    assert theirs_at(f"Pre{boundary}") == set(KEYS[boundary].split())
    assert theirs_at(f"Post{boundary}") >= set(KEYS[boundary].split())


def test_results_are_in_the_table():
    assert "result" in theirs_at("PostToolUse") & theirs_at("PostSubagent")


@pytest.mark.parametrize("event", [f"{side}{boundary}" for boundary in BOUNDARIES for side in ("Pre", "Post")])
def test_what_the_table_says_is_told_is_told_even_if_it_is_empty(event: str):
    told = payload(event)
    everywhere = {key.removeprefix(":") for row in TABLES["The context"] if "all" in row[1] for key in named(row[0])}
    assert everywhere == {"agent_name", "scope"}
    assert everywhere | theirs_at(event) <= told.keys()


def test_keys_keep_their_names():
    for row in TABLES["The context"]:
        ours = named(row[2])
        assert [key.removeprefix(":") for key in named(row[0])] == ours[:1]
        assert ours[1].startswith("HookContext.")
