"""What only Claude Code does."""

from __future__ import annotations

import json

import pytest

from agent_hooks.formats.entry import HookEntry
from agent_hooks.handlers.payload import payload_of
from agent_hooks.model.events import HookEvent
from agent_hooks.model.outcome import HookOutcome
from agent_hooks.wire.claude_code import HOST as CLAUDE_CODE
from agent_hooks.wire.host import UNLESS_ASKED
from wire.golden_files import payloads

RECORDED = payloads("claude-code")


def answer_to(file, outcome, **changes):
    ctx = CLAUDE_CODE.read(RECORDED[file])
    return CLAUDE_CODE.write(outcome, ctx.replace(**changes) if changes else ctx)


def specific(answer):
    return json.loads(answer.stdout)["hookSpecificOutput"]


def test_a_question_about_new_arguments_names_them_where_nobody_can_be_asked():
    ctx = CLAUDE_CODE.read(RECORDED["PreToolUse.json"])
    asked = specific(CLAUDE_CODE.write(HookOutcome.update(tool_args={"command": "echo safe"}), ctx))
    assert asked["permissionDecisionReason"] == (
        f"This needs approval. A hook changed the arguments. {UNLESS_ASKED} "
        'The new arguments: {"command": "echo safe"}'
    )


@pytest.mark.parametrize("file", ["PreToolUse.default.json", "PreToolUse.json"])
def test_it_asks_in_every_permission_mode(file):
    """Also in bypassPermissions; without a terminal it then refuses."""
    ctx = CLAUDE_CODE.read(RECORDED[file])
    assert CLAUDE_CODE.can_ask(ctx)
    assert specific(CLAUDE_CODE.write(HookOutcome.ask("sure?"), ctx)) == {
        "hookEventName": "PreToolUse",
        "permissionDecision": "ask",
        "permissionDecisionReason": f"This needs approval. sure? {UNLESS_ASKED}",
    }


def test_it_asks_nowhere_else():
    assert not CLAUDE_CODE.can_ask(CLAUDE_CODE.read(RECORDED["UserPromptSubmit.json"]))
    assert not CLAUDE_CODE.can_ask(CLAUDE_CODE.read(RECORDED["PostToolUse.json"]))


def test_a_rewrite_goes_out_whole_and_is_shown_to_the_user_unless_allowed():
    new = {"command": "ls", "description": "e2e"}
    shown = specific(answer_to("PreToolUse.json", HookOutcome.proceed(tool_args=new)))
    assert (shown["permissionDecision"], shown["updatedInput"]) == ("ask", new)
    allowed = specific(answer_to("PreToolUse.json", HookOutcome.allow(tool_args=new)))
    assert (allowed["permissionDecision"], allowed["updatedInput"]) == ("allow", new)


def test_a_permission_request_is_denied_in_json_alone():
    """Exit 2 is not honoured there."""
    answer = answer_to("PermissionRequest.default.json", HookOutcome.deny("no"))
    assert answer.exit_code == 0
    assert specific(answer)["decision"] == {"behavior": "deny", "message": "Blocked by policy: no"}


def test_a_prompt_that_cannot_be_changed_is_refused_with_its_replacement():
    answer = answer_to("UserPromptSubmit.json", HookOutcome.proceed(prompt="without the key"))
    assert json.loads(answer.stdout)["decision"] == "block"
    assert "without the key" in answer.stderr


def test_context_at_a_stop_is_told_to_the_user_because_the_host_would_go_on_for_it():
    assert json.loads(answer_to("Stop.json", HookOutcome.proceed(context="well done")).stdout) == {
        "systemMessage": "well done"
    }


@pytest.mark.parametrize(
    ("file", "place"),
    [
        ("PostToolUse.json", lambda result: result["stdout"]),
        ("PostToolUse.Read.json", lambda result: result["file"]["content"]),
        ("PostToolUse.Agent.json", lambda result: result["content"][0]["text"]),
        ("PostToolUse.Write.json", lambda result: result["content"]),
    ],
)
def test_new_text_goes_where_the_tools_own_text_was(file, place):
    original = RECORDED[file]["tool_response"]
    new = specific(answer_to(file, HookOutcome.proceed(result="clean")))["updatedToolOutput"]
    assert place(new) == "clean"
    assert new.keys() == original.keys()
    assert {key: new[key] for key in ("type", "status") if key in new} == {
        key: original[key] for key in ("type", "status") if key in original
    }


def test_a_changed_result_of_the_same_shape_goes_out_as_it_is():
    result = {**RECORDED["PostToolUse.2.json"]["tool_response"], "stdout": "[removed]"}
    assert specific(answer_to("PostToolUse.2.json", HookOutcome.proceed(result=result)))["updatedToolOutput"] == result


def test_what_a_changed_result_leaves_out_is_emptied_and_not_restored():
    """The host would ignore a result without the key, and show the original."""
    new = specific(answer_to("PostToolUse.2.json", HookOutcome.proceed(result={"stderr": "x"})))["updatedToolOutput"]
    assert (new["stdout"], new["stderr"], new["isImage"]) == ("", "x", False)


def test_items_of_a_list_take_the_shape_of_their_type():
    old = [{"type": "image", "data": "aGk="}, {"type": "text", "text": "secret"}]
    new = CLAUDE_CODE.replaced(old, [{"type": "text", "text": "clean"}, {"type": "image"}, "loose"])
    assert new == [{"type": "text", "text": "clean"}, {"type": "image", "data": ""}, {"type": "image", "data": ""}]


def test_numbers_and_truth_are_not_mixed_up():
    new = CLAUDE_CODE.replaced({"a": True, "b": 1, "c": 2.5}, {"a": 7, "b": True, "c": 3})
    assert repr(new) == repr({"a": False, "b": 0, "c": 3})


@pytest.mark.parametrize("new", ["clean", {"text": "clean"}])
def test_a_word_that_says_the_shape_stays_unless_the_hook_says_another(new):
    result = {"type": "text", "text": "secret", "source": {"media_type": "image/png"}}
    shown = {"type": "text", "text": "clean", "source": {"media_type": "image/png"}}
    assert CLAUDE_CODE.replaced(result, new) == shown
    assert CLAUDE_CODE.replaced(result, {"type": "image"})["type"] == "image"


@pytest.mark.parametrize("content", ["AKIA0SECRET", "two words", "x" * 33, "ключ", "", 401, True, ["text"], {"a": "b"}])
def test_under_a_key_of_the_shape_only_one_short_word_stays(content):
    shown = json.dumps(CLAUDE_CODE.replaced({"status": content, "text": "y"}, "clean"))
    empty: list[object] = ["", 0, False, [], {"a": ""}]
    assert shown in [json.dumps({"status": value, "text": "clean"}) for value in empty]


def test_numbers_and_truth_of_a_result_that_is_not_the_new_one_are_emptied():
    result = {"pin": 4711, "ratio": 0.5, "is_admin": True, "stdout": "x", "items": [1, 2], "nothing": None}
    empty = {"pin": 0, "ratio": 0.0, "is_admin": False, "stdout": "clean", "items": [], "nothing": None}
    for new in ("clean", {"stdout": "clean"}):
        shown = CLAUDE_CODE.replaced(result, new)
        assert repr({key: shown[key] for key in empty}) == repr(empty)


def test_keys_that_are_content_do_not_come_back():
    result = {"answers": {"What is the password?": "hunter2", "me@example.org": 1}, "stdout": ""}
    assert CLAUDE_CODE.replaced(result, {"answers": {}}) == {"answers": {}, "stdout": ""}
    assert CLAUDE_CODE.replaced(result, "withheld") == {"answers": {}, "stdout": "withheld"}


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
