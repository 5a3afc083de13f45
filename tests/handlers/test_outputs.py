"""The contracts of the three formats, row by row."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_hooks.errors import AgentHooksError, HandlerError, InvalidOutcomeError
from agent_hooks.formats.entry import FORMS, HookEntry
from agent_hooks.handlers.outputs import read_body, read_output
from agent_hooks.model.context import HookContext
from agent_hooks.model.events import HookEvent
from agent_hooks.model.outcome import BLOCKING, Decision, HookOutcome
from agent_hooks.model.tool_call import ToolCall
from tables import tables

TABLES = tables(__file__)

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


def summary(outcome: HookOutcome | None) -> str:
    return "" if outcome is None else f"{outcome.decision}: {outcome.reason}".removesuffix(": ")


FAILS = "fails"


def result(*args, **fields):
    try:
        return summary(said(*args, **fields))
    except (HandlerError, InvalidOutcomeError):
        return FAILS


STOPPED = "Stopped by /p/file:7 (no reason given)."

# What was printed on stdout and stderr with which exit code -> what it means in TOML, Claude Code's settings, a skill.
TABLE = [
    *TABLES["gate"],
    # No TOML holds the rest.
    (0, '{"a":' * 100_000, "", FAILS, FAILS, ""),
    (0, b'{"reason": "\xff"}', "", FAILS, FAILS, ""),
    (0, b"\xff\xfe", "", FAILS, "", ""),
    (2, b"\xff", "", "deny: \ufffd", "deny: \ufffd", "deny: \ufffd"),
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
@pytest.mark.parametrize(("answer", "expected"), TABLES["claude_codes_form_is_read_in_every_file"])
def test_claude_codes_form_is_read_in_every_file(form, answer, expected):
    assert summary(said(form, out=answer)) == expected


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


# -- events ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("forms", "event", "ended", "expected"), TABLES["events"])
def test_what_a_command_says_at_each_event(forms, event, ended, expected):
    for form in forms.split():
        assert result(form, event, **ended) == expected


@pytest.mark.parametrize(("forms", "event", "ended", "facts"), TABLES["beside"])
def test_what_is_said_beside_a_decision(forms, event, ended, facts):
    for form in forms.split():
        outcome = said(form, event, **ended)
        assert {name: getattr(outcome, name) for name in facts} == facts


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("event", OBSERVED)
def test_where_hooks_only_look_nothing_they_say_is_an_answer(form, event):
    for code, out in ((0, "text"), (0, {"decision": "deny"}), (2, ""), (0, "{")):
        assert said(form, event, code=code, out=out) is None
    assert result(form, event, code=1) == FAILS


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


# -- JSON that is not strict -----------------------------------------------------------------------------------------

FAULTS = [
    (b'\\ud83d no"', "\ufffd no"),
    (b'n\xe3o"', "n\ufffdo"),
    (b'no", "x": 1, "x": 2, "y": "\\ud83d\\ude00"', "no"),
    (b'no", "x": 1e999', "no"),
    (b'no", "x": ' + b"9" * 5000 + b', "y": {"z": 1, "z": 2}', "no"),
]


@pytest.mark.parametrize("form", ["claude", "skill"])
@pytest.mark.parametrize(("answer", "expected"), TABLES["lenient"])
@pytest.mark.parametrize(("fault", "text"), FAULTS, ids=["surrogate", "latin-1", "twice", "infinite", "long number"])
def test_of_json_that_is_not_strict_only_a_refusal_counts(form, answer, expected, fault, text):
    out = answer.encode().replace(b'%s"', fault)
    refusal = expected.replace("%s", text)
    otherwise = "" if form == "skill" else FAILS
    assert result(form, out=out) == (refusal or otherwise)
    assert result("toml", out=out) == FAILS
    assert answered(form, "before_tool_use", 200, out) == (refusal or otherwise)


def test_a_refusal_that_is_not_strict_brings_nothing_else():
    out = b'{"systemMessage": "m", "hookSpecificOutput": {"permissionDecision": "ask", "additionalContext": "c", '
    outcome = said("claude", out=out + b'"updatedInput": {"command": "ls"}}, "x": "\\ud800"}')
    assert outcome == HookOutcome.ask()


@pytest.mark.parametrize(("code", "claude", "skill"), [(1, "deny: no", FAILS), (2, "deny: no", "deny: no")])
def test_a_refusal_that_is_not_strict_counts_where_json_does(code, claude, skill):
    out = b'{"decision": "block", "reason": "no", "x": "\xff"}'
    assert result("claude", code=code, out=out) == claude
    assert result("skill", code=code, out=out) == skill


def test_what_is_nested_too_deeply_is_not_read_again():
    out = '{"decision": "block", "x": ' + "[" * 100_000 + "]" * 100_000 + "}"
    assert (result("claude", out=out), result("skill", out=out)) == (FAILS, "")


# -- http ------------------------------------------------------------------------------------------------------------


def answered(form: str, event: str, status: int, body: bytes) -> str:
    """What a response means."""
    try:
        return summary(read_body(entry(form, event), context(event), status, body))
    except (HandlerError, InvalidOutcomeError):
        return FAILS


@pytest.mark.parametrize(("status", "body", "toml", "claude", "skill"), TABLES["bodies"])
def test_what_a_response_says_at_a_gate(status, body, toml, claude, skill):
    found = {form: answered(form, "before_tool_use", status, body.encode()) for form in FORMS}
    assert found == {"toml": toml, "claude": claude, "skill": skill}


# An audit log that is away must not take away what a tool has said.
@pytest.mark.parametrize(("event", "expected"), TABLES["skill_without_a_server"])
def test_a_status_denies_for_a_skill_until_something_has_happened(event, expected):
    assert answered("skill", event, 503, b"") == expected


def test_a_response_to_what_is_only_observed_is_no_answer():
    assert answered("toml", "after_turn", 200, b'{"decision": "deny"}') == ""


def test_a_body_that_is_no_text_is_no_answer():
    assert [answered(form, "before_tool_use", 200, b"\xff") for form in FORMS] == [FAILS, FAILS, ""]


@pytest.mark.parametrize(
    ("word", "decision"),
    [("ask", "ask"), ("ask_user", "ask"), ("pending", "suspend"), ("suspend", "suspend"), ("stop", "stop")],
)
def test_a_skill_decides_in_every_word_and_claude_code_in_its_own(word, decision):
    answer = {"decision": word, "reason": "why", "data": [1]} if decision == "suspend" else {"decision": word}
    for form in ("toml", "skill"):
        of_body = read_body(entry(form), context(), 200, json.dumps(answer).encode())
        assert of_body is not None
        assert said(form, out=answer) == of_body
        assert (of_body.decision, of_body.data) == (decision, [1] if decision == "suspend" else None)
    assert result("claude", out=answer) == FAILS


@pytest.mark.parametrize("word", ["ask", "suspend", "stop"])
def test_a_skill_that_cannot_ask_about_an_answer_withholds_it(word):
    denied = "stop: no" if word == "stop" else "deny: no"
    assert result("skill", "before_output", out={"decision": word, "reason": "no"}) == denied


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
