"""Verdicts of AGENT-HOOKS-0.1: always valid, never laxer than the outcome, and a deny for whatever cannot be read."""

from __future__ import annotations

import json
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

from agent_hooks.errors import WireError
from agent_hooks.model.inference import ModelRequest
from agent_hooks.model.outcome import BLOCKING, WAITING, Decision, HookOutcome
from agent_hooks.model.state import Message, StopReason, StopSignal
from agent_hooks.wire import HOSTS
from tables import tables
from wire.golden_files import payloads

if TYPE_CHECKING:
    from agent_hooks.model.context import HookContext
    from agent_hooks.wire import Answer

TABLES = tables(__file__)

HOST = HOSTS["agent-hooks-0.1"]
PAYLOADS = payloads("agent-hooks-0.1")
DECISIONS = [getattr(Decision, name) for name in vars(Decision) if name.isupper()]
POINTS = [payload["interception_point"] for payload in PAYLOADS.values()]
each = pytest.mark.parametrize("payload", PAYLOADS.values(), ids=PAYLOADS)
TEXTS = ("a reason", "host_error:x", "\ud800", "\x1b[31mred", "x" * 20_000, "")
KEYS = {"decision", "reason", "message", "warnings", "approval", "transform"}


def valid(answer: Answer) -> dict[str, Any]:
    """The verdict of an answer, which must be one by the rules of the specification's part 5."""
    verdict: dict[str, Any] = json.loads(answer.stdout)
    assert answer.stdout.isascii()
    assert verdict.keys() <= KEYS
    assert verdict["decision"] in ("allow", "deny", "transform")
    assert ("transform" in verdict) == (verdict["decision"] == "transform")
    assert "approval" not in verdict or verdict["decision"] == "deny"
    assert not verdict.get("reason", "").startswith("host_error:")
    assert all(isinstance(verdict[key], str) for key in ("reason", "message") if key in verdict)
    assert all(warning.keys() == {"message"} for warning in verdict.get("warnings", ()))
    assert "transform" not in verdict or verdict["transform"].keys() == {"path", "value"}
    return verdict


def applied(verdict: dict[str, Any], payload: dict[str, Any]) -> Any:
    """The target after the verdict."""
    path, value = verdict["transform"]["path"], verdict["transform"]["value"]
    if path == "$target":
        return value
    assert path == "$target.content"
    return {**payload["target"], "content": value}


def read(file: str, **changes: Any) -> HookContext:
    return HOST.read({**PAYLOADS[f"documented/{file}.json"], **changes})


def test_the_point_says_whether_it_is_a_request():
    response = PAYLOADS["documented/post_model_call.json"]["response"]
    assert read("pre_model_call", response=response).request is not None


@each
def test_every_verdict_is_valid_and_only_a_refusal_denies(payload):
    ctx = HOST.read(payload)
    at_the_end = ctx.event == "session_end"
    for decision, text in product(DECISIONS, TEXTS):
        signal = StopSignal(reason=StopReason.TIME_LIMIT, message=text)
        outcome = HookOutcome(decision=decision, reason=text, context=text, signal=signal)
        verdict = valid(HOST.write(outcome, ctx, notes=(text,)))
        refuses = decision in BLOCKING or decision in WAITING or decision is Decision.RETRY
        assert verdict["decision"] == ("deny" if refuses and not at_the_end else "allow")
        assert ("approval" in verdict) == (decision in WAITING and not at_the_end)


@each
def test_a_failure_is_a_deny_with_its_own_exit_code(payload):
    answer = HOST.failure(payload["interception_point"], "it broke")
    assert (valid(answer)["decision"], answer.stderr, answer.exit_code) == ("deny", "it broke", 2)
    assert valid(HOST.failure(None, "\ud800"))["decision"] == "deny"


def test_all_eight_points_have_an_event():
    assert {*POINTS} == {*HOST.rows}
    assert len(HOST.rows) == 8


NEW: dict[str, dict[str, Any]] = {
    "input": {"prompt": "another prompt"},
    "input.parts": {"prompt": "another prompt"},
    "pre_tool_call": {"tool_args": {"command": "ls"}},
    "post_tool_call": {"result": ["less"]},
    "post_tool_call.error": {"error_text": "it failed"},
    "output": {"output": {"parts": ["shorter"]}},
}


@pytest.mark.parametrize("file", NEW)
def test_a_new_subject_stands_in_the_place_of_the_old(file):
    ((_, new),) = NEW[file].items()
    verdict = valid(HOST.write(HookOutcome.proceed(**NEW[file]), read(file)))
    payload = PAYLOADS[f"documented/{file}.json"]
    expected = {**payload["target"], "content": new} if file.startswith(("input", "output")) else new
    assert applied(verdict, payload) == expected


@pytest.mark.parametrize("file", NEW)
@pytest.mark.parametrize("decision", sorted(WAITING))
def test_nothing_can_approve_a_change_away(file, decision):
    """The host would go on with the old subject."""
    verdict = valid(HOST.write(HookOutcome(decision=decision, reason="really?", **NEW[file]), read(file)))
    assert (verdict["decision"], "approval" in verdict) == ("deny", False)
    assert json.dumps(*NEW[file].values()) in verdict["message"] or str(*NEW[file].values()) in verdict["message"]


def test_a_changed_message_keeps_what_it_has_beside_its_content():
    ctx, given = read("pre_model_call"), PAYLOADS["documented/pre_model_call.json"]["messages"]
    first, *rest = ctx.request.messages
    request = ctx.request.replace(messages=(first.replace(content="Be kind."), *rest))
    verdict = valid(HOST.write(HookOutcome.proceed(request=request), ctx))
    assert verdict["transform"] == {"path": "$target", "value": [{"role": "system", "content": "Be kind."}, *given[1:]]}


@pytest.mark.parametrize(
    "change",
    [{"model": "large"}, {"system_prompt": "x"}, {"tools": ()}, {"settings": {}}, {"response_format": {"a": 1}}],
)
def test_a_request_that_the_host_would_send_otherwise_is_denied(change):
    ctx = read("pre_model_call")
    verdict = valid(HOST.write(HookOutcome.proceed(request=ctx.request.replace(**change)), ctx))
    assert verdict["decision"] == "deny"
    assert f"lose the change of {next(iter(change))}" in verdict["message"]


def test_a_message_about_a_tool_call_is_not_lost_in_silence():
    ctx = read("pre_model_call")
    request = ModelRequest(**{**ctx.request._fields, "messages": (Message(role="tool", tool_call_id="c0"),)})
    assert valid(HOST.write(HookOutcome.proceed(request=request), ctx))["decision"] == "deny"


def test_a_response_goes_back_as_it_came():
    ctx = read("post_model_call")
    verdict = valid(HOST.write(HookOutcome.proceed(response=ctx.response), ctx))
    assert applied(verdict, {}) == PAYLOADS["documented/post_model_call.json"]["response"]


@pytest.mark.parametrize(("name", "args", "kind"), TABLES["kinds"])
def test_the_kind_of_a_tool_is_told_by_its_name_and_arguments(name, args, kind):
    ctx = read("pre_tool_call", tool_call={"id": "c", "name": name, "args": args}, target=args)
    assert ctx.tool_call is not None
    assert ctx.tool_call.kind == kind


@each
def test_a_context_that_is_not_whole_cannot_be_read(payload):
    needed = {"spec", "interception_point", "agent", "session", "target"}
    needed |= {"input", "messages", "model", "response", "tool_call", "tool_result", "output", "summary"} & {*payload}
    for key in needed:
        for broken in ({k: v for k, v in payload.items() if k != key}, {**payload, key: None}, {**payload, key: 3}):
            with pytest.raises(WireError):
                HOST.read(broken)


@each
def test_a_target_other_than_the_member_that_hooks_judge_cannot_be_read(payload):
    with pytest.raises(WireError, match="'target' is not"):
        HOST.read({**payload, "target": {"command": "rm -rf /"}})


@pytest.mark.parametrize("changed", [{"spec": "agent-hooks/0.2"}, {"interception_point": "pre_plan"}])
def test_another_version_or_point_cannot_be_read(changed):
    with pytest.raises(WireError, match=r"This reads agent-hooks/0\.1"):
        read("input", **changed)


@pytest.mark.parametrize("sent", [None, [], "x", 1, {}, {"hook_event_name": "PreToolUse", "tool_name": "Bash"}])
def test_what_is_no_context_cannot_be_read(sent):
    with pytest.raises(WireError):
        HOST.read(sent)
