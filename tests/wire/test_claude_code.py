"""What only Claude Code does."""

from __future__ import annotations

import json

import pytest

from agent_hooks.formats.entry import HookEntry
from agent_hooks.handlers.payload import payload_of
from agent_hooks.model.events import HookEvent
from agent_hooks.model.outcome import HookOutcome
from agent_hooks.wire.claude_code import HOST as CLAUDE_CODE
from tables import tables
from wire.golden_files import payloads

TABLES = tables(__file__)
RECORDED = payloads("claude-code")


def answer_to(file, outcome, **changes):
    ctx = CLAUDE_CODE.read(RECORDED[file])
    return CLAUDE_CODE.write(outcome, ctx.replace(**changes) if changes else ctx)


def specific(answer):
    return json.loads(answer.stdout)["hookSpecificOutput"]


def test_it_asks_nowhere_else():
    assert not CLAUDE_CODE.can_ask(CLAUDE_CODE.read(RECORDED["UserPromptSubmit.json"]))
    assert not CLAUDE_CODE.can_ask(CLAUDE_CODE.read(RECORDED["PostToolUse.json"]))


@pytest.mark.parametrize(("file", "new", "changes"), TABLES["results"])
def test_a_new_result_has_the_shape_of_the_recorded_one_and_nothing_of_its_content(file, new, changes):
    """The host would ignore a result without a key, and show the original."""
    original = RECORDED[file]["tool_response"]
    shown = specific(answer_to(file, HookOutcome.proceed(result=new)))["updatedToolOutput"]
    assert {key: shown[key] for key in changes} == changes
    assert shown.keys() == original.keys()


@pytest.mark.parametrize(("old", "new", "shown"), TABLES["replaced"])
def test_a_result_is_replaced_by_one_of_its_shape(old, new, shown):
    made = CLAUDE_CODE.replaced(old, new)
    assert json.dumps(made, sort_keys=True) == json.dumps(shown, sort_keys=True)  # which tells true from 1


@pytest.mark.parametrize("content", ["AKIA0SECRET", "two words", "x" * 33, "ключ", "", 401, True, ["text"], {"a": "b"}])
def test_under_a_key_of_the_shape_only_one_short_word_stays(content):
    shown = json.dumps(CLAUDE_CODE.replaced({"status": content, "text": "y"}, "clean"))
    empty: list[object] = ["", 0, False, [], {"a": ""}]
    assert shown in [json.dumps({"status": value, "text": "clean"}) for value in empty]


def test_what_it_tells_of_the_prompt_the_effort_and_the_mcp_server_has_fields():
    server = {"name": "memory", "source": "project"}
    sent = {**RECORDED["PreToolUse.json"], "prompt_id": "550e8400", "effort": {"level": "high"}, "mcp_server": server}
    ctx = CLAUDE_CODE.read(sent)
    assert (ctx.prompt_id, ctx.effort, ctx.mcp_server) == ("550e8400", "high", server)
    again = payload_of(
        HookEntry(event=HookEvent.BEFORE_TOOL_USE, type="command", path="/p/agent-hooks.toml", line=3), ctx
    )
    assert {key: again[key] for key in ("prompt_id", "effort", "mcp_server")} == {
        "prompt_id": "550e8400",
        "effort": {"level": "high"},
        "mcp_server": server,
    }


def test_an_effort_of_another_form_stays_in_the_payload():
    ctx = CLAUDE_CODE.read({**RECORDED["PreToolUse.json"], "effort": {"level": 3}})
    assert (ctx.effort, ctx.payload["effort"]) == ("", {"level": 3})
