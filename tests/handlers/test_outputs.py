"""The contracts of the three formats, row by row."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_hooks.errors import AgentHooksError, HandlerError, InvalidOutcomeError
from agent_hooks.formats.entry import FORMS, HookEntry
from agent_hooks.handlers.outputs import MESSAGE, read_body, read_output
from agent_hooks.model.context import HookContext
from agent_hooks.model.events import HookEvent
from agent_hooks.model.outcome import BLOCKING, Decision, HookOutcome
from agent_hooks.model.tool_call import ToolCall

EVENTS = [str(event) for event in HookEvent.all()]
OBSERVED = [str(event) for event in HookEvent.all() if event.observe_only]


def entry(form: str, event: str = "before_tool_use", **fields) -> HookEntry:
    return HookEntry(event=HookEvent.parse(event), type="command", form=form, path="/p/file", line=7, **fields)


def context(event: str = "before_tool_use", **fields) -> HookContext:
    event = HookEvent.parse(event)
    if event.matched_by == "tool":
        fields.setdefault("tool_call", ToolCall("Bash", {"command": "ls"}))
    return HookContext(event, **fields)


def said(form: str, event: str = "before_tool_use", code: int = 0, out="", err: str = "", **fields):
    """What a command means that ends so; ``out`` is text, bytes, or what is printed as JSON."""
    stdout = out if isinstance(out, bytes) else (out if isinstance(out, str) else json.dumps(out)).encode()
    of_entry = {"host_event": fields["host_event"]} if "host_event" in fields else {}
    return read_output(entry(form, event, **of_entry), context(event, **fields), code, stdout, err.encode())


def decided(*arguments, **answer):
    """The same, an outcome where it had no opinion as well."""
    outcome = said(*arguments, **answer)
    return HookOutcome() if outcome is None else outcome


def specific(**fields) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **fields}}


def summary(outcome: HookOutcome | None):
    return None if outcome is None else (str(outcome.decision), outcome.reason)


FAILS = "fails"


def result(*args, **fields):
    try:
        return summary(said(*args, **fields))
    except (HandlerError, InvalidOutcomeError):
        return FAILS


UNREASONED = "Refused by /p/file:7 (no reason given)."
STOPPED = "Stopped by /p/file:7 (no reason given)."
UNSAID = "Refused by /p/file:7 (exit code 2, no reason given)."

# What was printed on stdout and stderr with which exit code -> what it means in TOML, Claude Code's settings, a skill.
TABLE = [
    (0, "", "", None, None, None),
    (0, " \n", "", None, None, None),
    (0, "", "a warning", None, None, None),
    (0, "{}", "", None, None, None),
    (0, '{"decision": "deny", "reason": "no"}', "", ("deny", "no"), ("deny", "no"), ("deny", "no")),
    (0, '\n {"decision": "block", "reason": "no"} \n', "", ("deny", "no"), ("deny", "no"), ("deny", "no")),
    (0, '\ufeff{"decision": "deny", "reason": "no"}', "", ("deny", "no"), ("deny", "no"), ("deny", "no")),
    (0, '{"decision": "allow"}', "", None, None, None),
    (0, '{"decision": "approve", "reason": "ok"}', "", ("allow", "ok"), ("allow", "ok"), ("allow", "ok")),
    (0, '{"async": true, "asyncTimeout": 5}', "", None, None, None),
    (0, '{"suppressOutput": true, "terminalSequence": "x"}', "", None, None, None),
    (0, '{"no_such_key": 1}', "", FAILS, None, None),
    (0, '{"result": "x", "messages": [{"role": "user", "content": "x"}]}', "", ("proceed", ""), None, None),
    (0, '{"decision": "skip"}', "", FAILS, FAILS, FAILS),
    (0, '{"decision": "maybe"}', "", FAILS, FAILS, FAILS),
    (0, '{"decision": ["deny"]}', "", FAILS, FAILS, FAILS),
    (0, '{"decision": "deny", "reason": 5}', "", FAILS, FAILS, FAILS),
    (0, '{"continue": "no"}', "", FAILS, FAILS, FAILS),
    (0, '{"hookSpecificOutput": []}', "", FAILS, FAILS, FAILS),
    (0, '{"hookSpecificOutput": {"permissionDecision": 1}}', "", FAILS, FAILS, FAILS),
    (0, "checking…", "", FAILS, None, None),
    (0, 'checking…\n{"decision": "deny"}', "", FAILS, None, None),
    (0, '["deny"]', "", FAILS, None, None),
    (0, '"deny"', "", FAILS, None, None),
    (0, "{", "", FAILS, FAILS, None),
    (0, '{"decision": "deny"} trailing', "", FAILS, FAILS, None),
    (0, '{"decision": "deny", "decision": "allow"}', "", FAILS, FAILS, None),
    (0, '{"decision": NaN}', "", FAILS, FAILS, None),
    (0, '{"reason": "\\ud800"}', "", FAILS, FAILS, None),
    (0, '{"a":' * 100_000, "", FAILS, FAILS, None),
    (0, b'{"reason": "\xff"}', "", FAILS, FAILS, None),
    (0, b"\xff\xfe", "", FAILS, None, None),
    (2, "", "no", ("deny", "no"), ("deny", "no"), ("deny", "no")),
    (2, "out\n", "err\n", ("deny", "out\nerr"), ("deny", "err"), ("deny", "out\nerr")),
    (2, "out", "", ("deny", "out"), ("deny", "out"), ("deny", "out")),
    (2, "", "", ("deny", UNSAID), ("deny", UNSAID), ("deny", UNSAID)),
    (2, '{"decision": "block", "reason": "own"}', "err", ("deny", "own"), ("deny", "own"), ("deny", "own")),
    (2, '{"decision": "approve"}', "err", ("deny", "err"), ("deny", "err"), ("deny", "err")),
    (2, '{"decision": 5}', "err", ("deny", "err"), ("deny", "err"), ("deny", "err")),
    (2, "{ broken", "err", ("deny", "{ broken\nerr"), ("deny", "err"), ("deny", "{ broken\nerr")),
    (2, b"\xff", "", ("deny", "\ufffd"), ("deny", "\ufffd"), ("deny", "\ufffd")),
    (1, "", "", FAILS, FAILS, FAILS),
    (1, "", "boom", FAILS, FAILS, FAILS),
    (1, "text", "", FAILS, FAILS, FAILS),
    (1, "{ broken", "", FAILS, FAILS, FAILS),
    (1, '{"decision": "block", "reason": "no"}', "boom", FAILS, ("deny", "no"), FAILS),
    (1, "{}", "boom", FAILS, None, FAILS),
    (127, "", "sh: not found", FAILS, FAILS, FAILS),
    (255, "", "", FAILS, FAILS, FAILS),
]


@pytest.mark.parametrize(("code", "out", "err", "toml", "claude", "skill"), TABLE, ids=range(len(TABLE)))
def test_what_a_command_says_at_a_gate(code, out, err, toml, claude, skill):
    expected = {"toml": toml, "claude": claude, "skill": skill}
    assert {form: result(form, code=code, out=out, err=err) for form in FORMS} == expected


def test_a_failure_says_the_exit_code_and_the_first_line_of_stderr():
    with pytest.raises(HandlerError, match=r"^it ended with exit code 3: boom$"):
        said("toml", code=3, err="boom\nTraceback")


def test_broken_json_is_not_repeated():
    with pytest.raises(HandlerError) as raised:
        said("toml", out='{"token": "hunter2",')
    assert "hunter2" not in str(raised.value)
    assert "is not JSON" in str(raised.value)


def test_a_reason_has_a_limit():
    assert len(said("toml", code=2, err="x" * 50_000).reason) == 10_000


# -- the JSON forms --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (specific(permissionDecision="deny", permissionDecisionReason="no"), ("deny", "no")),
        (specific(permissionDecision="allow"), ("allow", "")),
        (specific(permissionDecision="ask", permissionDecisionReason="sure?"), ("ask", "sure?")),
        (specific(permissionDecision="defer"), ("ask", "")),
        ({"decision": "block", "reason": "a", **specific(permissionDecision="allow")}, ("deny", "a")),
        ({"decision": "approve", "reason": "a", **specific(permissionDecision="deny")}, ("deny", "a")),
        ({"decision": "deny"}, ("deny", UNREASONED)),
        ({"continue": False, "stopReason": "enough"}, ("stop", "enough")),
        ({"continue": False}, ("stop", STOPPED)),
        ({"continue": False, "decision": "block", "reason": "no"}, ("stop", "no")),
        (
            {"continue": False, **specific(permissionDecision="allow")},
            ("stop", STOPPED),
        ),
        ({"continue": True, "decision": "block", "reason": "no"}, ("deny", "no")),
    ],
)
def test_claude_codes_form_is_read_in_every_file(form, answer, expected):
    assert summary(said(form, out=answer)) == expected


def test_context_and_messages_are_kept_beside_a_decision():
    outcome = said("claude", out={"systemMessage": "psst", "decision": "block", **specific(additionalContext="why")})
    assert (outcome.context, outcome.metadata[MESSAGE]) == ("why", "psst")
    outcome = said("claude", code=2, err="no", out={"systemMessage": "psst", **specific(additionalContext="why")})
    assert (outcome.reason, outcome.context, outcome.metadata[MESSAGE]) == ("no", "why", "psst")


def test_a_message_does_not_take_the_place_of_an_earlier_hooks():
    outcome = said("toml", out={"systemMessage": "second"}, metadata={MESSAGE: "first"})
    assert outcome.metadata[MESSAGE] == "first\nsecond"


@pytest.mark.parametrize("form", FORMS)
def test_new_arguments_go_to_the_tools_own(form):
    ctx = context(tool_call=ToolCall("exec", {"cmd": "ls"}, kind="shell"))
    answer = json.dumps(specific(permissionDecision="allow", updatedInput={"command": "ls -l"})).encode()
    outcome = read_output(entry(form), ctx, 0, answer, b"")
    assert (str(outcome.decision), outcome.tool_args) == ("allow", {"cmd": "ls -l"})  # type: ignore[union-attr]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "answer",
    [
        {"decision": "block", "reason": "no", **specific(updatedInput={"command": 5})},
        {"continue": False, "stopReason": "no", **specific(updatedInput={"command": "x"})},
    ],
)
def test_what_refuses_brings_no_arguments(form, answer):
    ctx = context(tool_call=ToolCall("exec", {"command": ["ls"]}, kind="shell"))
    outcome = read_output(entry(form), ctx, 0, json.dumps(answer).encode(), b"")
    assert outcome.decision in BLOCKING  # type: ignore[union-attr]
    assert outcome.tool_args is None  # type: ignore[union-attr]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("updated", ["ls", ["ls"], 5])
def test_arguments_that_are_no_object_are_no_answer(form, updated):
    with pytest.raises(InvalidOutcomeError, match="'updatedInput' must be dict"):
        said(form, out=specific(permissionDecision="allow", updatedInput=updated))


def test_our_own_form_is_read_in_toml():
    outcome = said("toml", out={"decision": "ask", "reason": "sure?", "context": "c", "metadata": {"a": 1}})
    assert outcome == HookOutcome(decision="ask", reason="sure?", context="c", metadata={"a": 1})
    assert said("toml", out={"tool_args": {"command": "pwd"}}).tool_args == {"command": "pwd"}


@pytest.mark.parametrize(
    "answer",
    [{"decision": "approve", "final": True}, {"decision": "deny", **specific(decision="allow")}, {"hook": "x"}],
)
def test_toml_refuses_what_is_not_a_files_to_say(answer):
    with pytest.raises(InvalidOutcomeError):
        said("toml", out=answer)


# -- events ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("event", "host_event", "is_context"),
    [
        ("session_start", "", True),
        ("user_input", "", True),
        ("on_host_event", "UserPromptExpansion", True),
        ("on_host_event", "PostModelSwitch", True),
        ("on_host_event", "CwdChanged", False),
        ("before_tool_use", "", False),
        ("on_stop", "", False),
    ],
)
def test_plain_text_is_context_where_claude_code_takes_it_so(form, event, host_event, is_context):
    expected = FAILS if form == "toml" else None
    if is_context:
        assert said(form, event, out="Remember the milk.", host_event=host_event).context == "Remember the milk."
    else:
        assert result(form, event, out="Remember the milk.", host_event=host_event) == expected


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("event", OBSERVED)
def test_where_hooks_only_look_nothing_they_say_is_an_answer(form, event):
    for code, out in ((0, "text"), (0, {"decision": "deny"}), (2, ""), (0, "{")):
        assert said(form, event, code=code, out=out) is None
    assert result(form, event, code=1) == FAILS


@pytest.mark.parametrize(
    ("form", "event", "expected"),
    [
        ("toml", "before_turn", ("deny", "no")),
        ("toml", "before_step", ("deny", "no")),  # the engine reads it as a stop
        ("claude", "on_stop", ("deny", "no")),  # and here as a wish to go on
        ("claude", "after_tool_use", ("deny", "no")),
        ("claude", "after_subagent", ("deny", "no")),
        ("claude", "on_host_event", ("deny", "no")),
        ("toml", "permission_request", ("deny", "no")),
        ("claude", "permission_request", ("proceed", "")),
        ("toml", "should_continue", ("stop", "no")),
        ("toml", "after_step", ("stop", "no")),
        ("toml", "session_start", ("stop", "no")),
        ("claude", "session_start", ("proceed", "")),
        ("toml", "on_tool_error", ("stop", "no")),
        ("claude", "on_tool_error", ("proceed", "")),
        ("toml", "on_error", ("proceed", "")),
        ("claude", "on_error", ("proceed", "")),
        ("toml", "after_execution", ("proceed", "")),
    ],
)
def test_exit_2_is_the_no_that_an_event_knows(form, event, expected):
    assert summary(said(form, event, code=2, err="no")) == expected


def test_where_nothing_can_be_refused_people_are_told():
    assert said("claude", "session_start", code=2, err="no").metadata == {MESSAGE: "no"}
    assert said("claude", "permission_request", code=2, err="no").metadata == {MESSAGE: "no"}
    assert said("toml", "on_error", code=2, err="no").metadata == {MESSAGE: "no"}
    assert said("claude", "on_tool_error", code=2, err="try again").context == "try again"


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("answer", [{"decision": "block", "reason": "no"}, {"continue": False, "stopReason": "no"}])
def test_a_refusal_is_always_a_decision_that_the_event_knows(form, event, answer):
    outcome = decided(form, event, out=answer)
    event = HookEvent.parse(event)
    known = {*event.decisions, "proceed"} | ({"deny"} if event.reads_deny_as else set())
    assert outcome.decision in known
    if "deny" in event.decisions and event != "before_compact":
        assert outcome.blocks


@pytest.mark.parametrize(
    ("event", "host_event", "expected"),
    [
        ("before_tool_use", "", "stop"),
        ("on_stop", "", "stop"),
        ("before_turn", "", "deny"),
        ("permission_request", "", "deny"),
        ("on_host_event", "PostToolBatch", "deny"),
        ("on_host_event", "ConfigChange", "proceed"),
        ("on_host_event", "TaskCreated", "proceed"),
        ("before_compact", "", "proceed"),
        ("on_error", "", "proceed"),
    ],
)
def test_continue_false_ends_what_the_event_can_end(event, host_event, expected):
    outcome = decided("claude", event, out={"continue": False, "stopReason": "x"}, host_event=host_event)
    assert outcome.decision == expected


def test_continue_false_does_not_undo_a_block_where_it_is_not_read():
    outcome = said("claude", "before_compact", out={"continue": False, "decision": "block", "reason": "no"})
    assert summary(outcome) == ("deny", "no")


def test_context_at_a_stop_is_a_reason_to_go_on_for_claude_code_alone():
    answer = {"hookSpecificOutput": {"additionalContext": "There are failing tests."}}
    assert summary(said("claude", "on_stop", out=answer)) == ("force_continue", "There are failing tests.")
    assert said("toml", "on_stop", out=answer).context == "There are failing tests."
    assert said("claude", "on_stop", out={**answer, "continue": False}).decision == Decision.STOP


@pytest.mark.parametrize("form", ["claude", "skill"])
@pytest.mark.parametrize(
    ("event", "answer"),
    [
        ("on_stop", {"decision": "approve"}),
        ("after_tool_use", specific(permissionDecision="ask")),
        ("user_input", specific(permissionDecision="allow")),
    ],
)
def test_a_decision_that_does_not_belong_to_the_event_is_no_opinion(form, event, answer):
    assert said(form, event, out=answer) is None


@pytest.mark.parametrize("key", ["updatedToolOutput", "updatedMCPToolOutput"])
def test_a_new_result_is_read_where_there_is_one(key):
    answer = {"hookSpecificOutput": {"hookEventName": "PostToolUse", key: "redacted"}}
    assert said("claude", "after_tool_use", out=answer, result="secret").result == "redacted"
    assert said("claude", "before_tool_use", out=answer) is None


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("decision", "expected"),
    [
        ({"behavior": "allow"}, ("allow", "")),
        ({"behavior": "allow", "updatedInput": {"command": "ls"}}, ("allow", "")),
        ({"behavior": "allow", "updatedInput": {"command": "pwd"}}, FAILS),
        ({"behavior": "deny", "message": "no", "interrupt": True}, ("deny", "no")),
        ({"behavior": "deny", "message": "no", "updatedInput": {"command": "pwd"}}, ("deny", "no")),
        ({"behavior": "maybe"}, FAILS),
        ({}, FAILS),
    ],
)
def test_the_answer_to_a_permission_request_is_nested(form, decision, expected):
    assert result(form, "permission_request", out={"hookSpecificOutput": {"decision": decision}}) == expected


@pytest.mark.parametrize("form", FORMS)
def test_a_block_beside_a_permission_counts(form):
    answer = {"decision": "block", "reason": "no", "hookSpecificOutput": {"decision": {"behavior": "allow"}}}
    assert summary(said(form, "permission_request", out=answer)) == ("deny", "no")


def test_exit_2_does_not_touch_what_json_says_of_a_permission():
    answer = {"hookSpecificOutput": {"decision": {"behavior": "allow"}}}
    assert said("claude", "permission_request", code=2, out=answer).decision == Decision.ALLOW
    with pytest.raises(InvalidOutcomeError):
        said("claude", "permission_request", code=2, out={"decision": 5})


@pytest.mark.parametrize(("action", "decision"), [("accept", "proceed"), ("decline", "deny"), ("cancel", "deny")])
def test_an_elicitation_is_declined_by_its_action(action, decision):
    answer = {"hookSpecificOutput": {"action": action}}
    outcome = decided("claude", "on_host_event", out=answer, host_event="Elicitation")
    assert outcome.decision == decision


@pytest.mark.parametrize(
    ("err", "reason"), [("disk full", "disk full"), ("", "Refused by /p/file:7 (exit code 1, no reason given).")]
)
def test_any_failure_refuses_a_worktree(err, reason):
    outcome = said("claude", "on_host_event", code=1, err=err, host_event="WorktreeCreate")
    assert summary(outcome) == ("deny", reason)


# -- JSON that is not strict -----------------------------------------------------------------------------------------

LENIENT = [
    (b'{"decision": "block", "reason": "%s"}', ("deny", "%s")),
    (b'{"decision": "deny", "reason": "%s"}', ("deny", "%s")),
    (b'{"continue": false, "stopReason": "%s"}', ("stop", "%s")),
    (b'{"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "%s"}}', ("deny", "%s")),
    (b'{"hookSpecificOutput": {"permissionDecision": "ask", "permissionDecisionReason": "%s"}}', ("ask", "%s")),
    (b'{"decision": "approve", "reason": "%s"}', None),
    (b'{"hookSpecificOutput": {"permissionDecision": "allow", "permissionDecisionReason": "%s"}}', None),
    (b'{"hookSpecificOutput": {"updatedInput": {"command": "ls"}}, "reason": "%s"}', None),
    (b'{"hookSpecificOutput": {"additionalContext": "%s"}}', None),
    (b'{"systemMessage": "%s"}', None),
]
FAULTS = [
    (b'\\ud83d no"', "\ufffd no"),
    (b'n\xe3o"', "n\ufffdo"),
    (b'no", "x": 1, "x": 2, "y": "\\ud83d\\ude00"', "no"),
    (b'no", "x": 1e999', "no"),
    (b'no", "x": ' + b"9" * 5000 + b', "y": {"z": 1, "z": 2}', "no"),
]


def spoilt(answer: bytes, fault: bytes) -> bytes:
    return answer.replace(b'%s"', fault)


@pytest.mark.parametrize("form", ["claude", "skill"])
@pytest.mark.parametrize(("answer", "expected"), LENIENT)
@pytest.mark.parametrize(("fault", "text"), FAULTS, ids=["surrogate", "latin-1", "twice", "infinite", "long number"])
def test_of_json_that_is_not_strict_only_a_refusal_counts(form, answer, expected, fault, text):
    out = spoilt(answer, fault)
    refusal = expected and (expected[0], text)
    otherwise = None if form == "skill" else FAILS
    assert result(form, out=out) == (refusal or otherwise)
    assert result("toml", out=out) == FAILS
    try:
        of_body = summary(read_body(entry(form), context(), 200, out))
    except HandlerError:
        of_body = FAILS
    assert of_body == (refusal or otherwise)


def test_a_refusal_that_is_not_strict_brings_nothing_else():
    out = b'{"systemMessage": "m", "hookSpecificOutput": {"permissionDecision": "ask", "additionalContext": "c", '
    outcome = said("claude", out=out + b'"updatedInput": {"command": "ls"}}, "x": "\\ud800"}')
    assert outcome == HookOutcome.ask()


def test_the_last_of_two_keys_counts_for_a_refusal():
    assert result("claude", out='{"decision": "approve", "decision": "block"}') == ("deny", UNREASONED)
    assert result("claude", out='{"decision": "block", "decision": "approve"}') == FAILS


def test_a_permission_is_denied_by_json_that_is_not_strict():
    answer = '{"hookSpecificOutput": {"decision": {"behavior": "%s", "message": "no"}}, "x": "\\ud800"}'
    for code in (0, 2):
        assert result("claude", "permission_request", code=code, out=answer % "deny") == ("deny", "no")
    assert result("claude", "permission_request", out=answer % "allow") == FAILS


@pytest.mark.parametrize(("code", "claude", "skill"), [(1, ("deny", "no"), FAILS), (2, ("deny", "no"), ("deny", "no"))])
def test_a_refusal_that_is_not_strict_counts_where_json_does(code, claude, skill):
    out = b'{"decision": "block", "reason": "no", "x": "\xff"}'
    assert result("claude", code=code, out=out) == claude
    assert result("skill", code=code, out=out) == skill


def test_what_is_nested_too_deeply_is_not_read_again():
    out = '{"decision": "block", "x": ' + "[" * 100_000 + "]" * 100_000 + "}"
    assert (result("claude", out=out), result("skill", out=out)) == (FAILS, None)


# -- a skill, once it has happened -----------------------------------------------------------------------------------


@pytest.mark.parametrize("event", ["after_tool_use", "after_inference", "after_subagent", "on_tool_error"])
def test_an_exit_code_of_a_skill_does_not_take_away_what_has_come_about(event):
    outcome = said("skill", event, code=2, out="not", err="nice")
    assert (summary(outcome), outcome.metadata) == (("proceed", ""), {MESSAGE: "not\nnice"})
    assert said("skill", event, code=2) is None
    assert result("skill", event, code=2, out={"decision": "block", "reason": "no"}) != ("proceed", "")


def test_an_exit_code_of_a_skill_denies_what_has_not_happened():
    for event in ("before_tool_use", "before_inference", "before_subagent", "user_input"):
        assert said("skill", event, code=2).decision == Decision.DENY


# -- http ------------------------------------------------------------------------------------------------------------

BODIES = [
    (200, b"", None, None, None),
    (204, b"", None, None, None),
    (200, b"{}", None, None, None),
    (200, b'{"decision": "deny", "reason": "no"}', ("deny", "no"), ("deny", "no"), ("deny", "no")),
    (
        201,
        b'{"decision": "deny"}',
        ("deny", UNREASONED),
        ("deny", UNREASONED),
        ("deny", "Denied by HTTP hook"),
    ),
    (200, b'{"decision": "allow"}', None, None, None),
    (200, b'{"ok": true}', FAILS, None, None),
    (200, b"<html>", FAILS, FAILS, None),
    (200, b"[1]", FAILS, FAILS, None),
    (200, b'{"decision": "deny", "decision": "allow"}', FAILS, FAILS, None),
    (200, b"\xff", FAILS, FAILS, None),
    (301, b"", FAILS, FAILS, ("deny", "HTTP hook returned status 301")),
    (403, b'{"decision": "allow"}', FAILS, FAILS, ("deny", "HTTP hook returned status 403")),
    (500, b'{"decision": "deny"}', FAILS, FAILS, ("deny", "HTTP hook returned status 500")),
]


@pytest.mark.parametrize(("status", "body", "toml", "claude", "skill"), BODIES)
def test_what_a_response_says_at_a_gate(status, body, toml, claude, skill):
    def read(form):
        try:
            return summary(read_body(entry(form), context(), status, body))
        except (HandlerError, InvalidOutcomeError):
            return FAILS

    assert {form: read(form) for form in FORMS} == {"toml": toml, "claude": claude, "skill": skill}


@pytest.mark.parametrize(
    ("word", "decision"),
    [("ask", "ask"), ("ask_user", "ask"), ("pending", "suspend"), ("suspend", "suspend"), ("stop", "stop")],
)
def test_a_skill_decides_in_every_word_and_claude_code_in_its_own(word, decision):
    answer = {"decision": word, "reason": "why", "data": [1]} if decision == "suspend" else {"decision": word}
    for form in ("toml", "skill"):
        of_command, of_body = (
            said(form, out=answer),
            read_body(entry(form), context(), 200, json.dumps(answer).encode()),
        )
        assert of_command == of_body
        assert of_body is not None
        assert (of_body.decision, of_body.data) == (decision, [1] if decision == "suspend" else None)
    assert result("claude", out=answer) == FAILS


@pytest.mark.parametrize("word", ["ask", "suspend", "stop"])
def test_a_skill_that_cannot_have_its_way_before_something_happens_denies(word):
    assert result("skill", "before_compact", out={"decision": word, "reason": "no"})[0] in ("deny", word)
    assert result("skill", "before_skill_activation", out={"decision": "stop", "reason": "no"}) == ("deny", "no")
    denied = ("stop" if word == "stop" else "deny", "no")
    assert result("skill", "before_output", out={"decision": word, "reason": "no"}) == denied
    assert result("skill", "after_compact", out={"decision": word, "reason": "no"}) is None


@pytest.mark.parametrize("form", ["toml", "skill"])
def test_to_continue_at_a_stop_is_another_round_and_elsewhere_no_opinion(form):
    answer = {"decision": "continue", "reason": "more"}
    assert result(form, "on_stop", out=answer) == ("force_continue", "more")
    assert result(form, "before_tool_use", out=answer) in (None, ("proceed", "more"))
    assert result("claude", "on_stop", out=answer) == FAILS


@pytest.mark.parametrize("event", ["before_inference", "before_turn", "before_subagent", "user_input"])
def test_a_status_denies_for_a_skill_before_something_happens(event):
    assert read_body(entry("skill", event), context(event), 503, b"").decision == "deny"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "event", ["after_tool_use", "after_inference", "after_subagent", "after_turn", "on_stop", "session_start"]
)
def test_a_status_is_a_failure_for_a_skill_once_it_has_happened(event):
    """An audit log that is away must not take away what a tool has said."""
    with pytest.raises(HandlerError, match="status 503"):
        read_body(entry("skill", event), context(event), 503, b"")


def test_a_response_to_what_is_only_observed_is_no_answer():
    assert read_body(entry("toml", "after_turn"), context("after_turn"), 200, b'{"decision": "deny"}') is None


# -- rules -----------------------------------------------------------------------------------------------------------

WORDS = st.sampled_from(
    """
    decision reason continue stopReason systemMessage hookSpecificOutput permissionDecision permissionDecisionReason
    additionalContext updatedInput behavior message allow deny block approve ask defer skip async context result final
    """.split()
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | WORDS | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=12,
)
PRINTED = st.one_of(
    st.dictionaries(WORDS, VALUES, max_size=5).map(lambda answer: json.dumps(answer).encode()), st.binary(max_size=20)
)


@given(st.sampled_from(list(FORMS)), st.sampled_from(EVENTS), st.integers(0, 255), PRINTED, st.binary(max_size=9))
def test_any_end_is_an_outcome_or_a_failure(form, event, code, out, err):
    try:
        outcome = read_output(entry(form, event), context(event), code, out, err)
    except AgentHooksError:
        return
    assert outcome is None or type(outcome) is HookOutcome


@given(st.sampled_from(list(FORMS)), PRINTED, st.binary(max_size=9))
def test_exit_2_never_lets_a_tool_call_through(form, out, err):
    outcome = read_output(entry(form), context(), 2, out, err)
    assert outcome.decision in BLOCKING  # type: ignore[union-attr]
    assert outcome.reason  # type: ignore[union-attr]


@given(PRINTED)
def test_only_a_whole_json_object_ever_grants_anything(out):
    try:
        outcome = read_output(entry("toml"), context(), 0, out, b"")
    except AgentHooksError:
        return
    if outcome is not None and outcome.decision is Decision.ALLOW:
        assert isinstance(json.loads(out), dict)
