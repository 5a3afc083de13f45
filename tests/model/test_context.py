"""The context: what a hook is given."""

from __future__ import annotations

import json

import pytest

from agent_hooks import (
    AgentState,
    ErrorInfo,
    HookContext,
    HookEvent,
    HookOutcome,
    Message,
    ModelRequest,
    Step,
    StopReason,
    StopSignal,
    ToolCall,
    ToolExecution,
)
from agent_hooks.errors import InvalidOutcomeError, ReadOnlyError, UnknownEventError
from engine import shell

CALL = ToolCall("Bash", {"command": "ls"}, id="1", kind="shell")
STATE = AgentState(agent_id="a", steps=(Step(),), current_step=Step(index=1))


def test_an_alias_names_the_event():
    assert HookContext("PreToolUse").event is HookEvent.BEFORE_TOOL_USE


def test_an_unknown_event_and_an_unknown_field_are_refused():
    with pytest.raises(UnknownEventError):
        HookContext("before_lunch")
    with pytest.raises(TypeError, match="has no field tool"):
        HookContext("before_tool_use", tool="Bash")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="has no field tool"):
        shell().replace(tool="Bash")  # type: ignore[call-arg]


def test_a_context_is_read_only():
    ctx = shell()
    for name in ("cwd", "event", "state"):
        with pytest.raises(ReadOnlyError):
            setattr(ctx, name, None)
    with pytest.raises(AttributeError):
        ctx.invented = 1  # type: ignore[attr-defined]
    with pytest.raises(ReadOnlyError):
        ctx.metadata["k"] = 1  # type: ignore[index]


SIGNAL = StopSignal(reason=StopReason.COMPLETED)
NAMED = [
    (HookContext.before_execution(STATE), "before_execution", {"state": STATE}),
    (HookContext.after_execution(STATE, status="completed"), "after_execution", {"status": "completed"}),
    (HookContext.before_step(STATE), "before_step", {"step_index": 1, "is_first_step": False}),
    (HookContext.after_step(STATE), "after_step", {"step": STATE.current_step}),
    (HookContext.before_tool_use(STATE, CALL), "before_tool_use", {"tool_call": CALL, "tool_name": "Bash"}),
    (
        HookContext.after_tool_use(STATE, ToolExecution(call=CALL, result="x")),
        "after_tool_use",
        {"tool_call": CALL, "result": "x", "was_blocked": False},
    ),
    (
        HookContext.after_tool_use(STATE, ToolExecution.denied(CALL, "no")),
        "after_tool_use",
        {"was_blocked": True, "is_tool_execution_blocked": True},
    ),
    (HookContext.on_stop(STATE.with_stop_signal(SIGNAL)), "on_stop", {"stop_signal": SIGNAL}),
    (
        HookContext.before_subagent("helper", "t", depth=1),
        "before_subagent",
        {"name": "helper", "task": "t", "depth": 1},
    ),
    (HookContext.after_subagent("helper", "t", "r"), "after_subagent", {"result": "r", "subject": "r"}),
    (
        HookContext.on_error(STATE, ValueError("why")),
        "on_error",
        {"error_list": (ErrorInfo(type="ValueError", message="why"),), "has_errors": True},
    ),
]


@pytest.mark.parametrize(("ctx", "event", "facts"), NAMED, ids=[event for _, event, _ in NAMED])
def test_the_named_constructors(ctx, event, facts):
    assert ctx.event == event
    assert {name: getattr(ctx, name) for name in facts} == facts


def test_on_error_always_carries_the_error_beside_those_before():
    state = AgentState(errors=(ErrorInfo(type="Earlier"),))
    ctx = HookContext.on_error(state, KeyError("k"))
    assert [error.type for error in ctx.error_list] == ["Earlier", "KeyError"]


def test_names_of_the_seeds_read_the_same_things():
    ctx = HookContext("user_input", prompt="hi")
    assert (ctx.trigger_type, ctx.user_input) == ("user_input", "hi")


def test_what_an_event_does_not_have_is_empty():
    ctx = HookContext("before_step")
    assert (ctx.tool_call, ctx.tool_name, ctx.tool_args, ctx.paths, ctx.subject) == (None, "", {}, (), None)
    assert (ctx.has_errors, ctx.is_tool_execution_blocked, ctx.is_first_step) == (False, False, True)


@pytest.mark.parametrize("event", [event for event in HookEvent.all() if event.subject])
def test_the_subject_is_that_of_the_event(event):
    ctx = HookContext(event, tool_call=CALL)
    new = {"command": "pwd"}
    assert ctx.with_subject(new).subject == new
    assert ctx.with_subject(new).get(event.subject) == new


def test_an_event_without_a_subject_has_none_to_change():
    with pytest.raises(TypeError, match="'before_step' has no subject"):
        HookContext("before_step").with_subject(1)


def test_arguments_cannot_change_where_there_is_no_call():
    with pytest.raises(InvalidOutcomeError, match="no tool call"):
        HookContext("user_input").with_tool_args({})


def test_new_arguments_leave_the_rest_of_the_call():
    assert shell("ls").with_tool_args({"command": "pwd"}).tool_call == shell("pwd").tool_call


def test_metadata_that_holds_none_is_there():
    ctx = HookContext("setup").with_metadata("k", None)
    assert ctx.get_metadata("k", "default") is None
    assert ctx.get_metadata("missing", "default") == "default"
    assert ctx.get_metadata() == {"k": None}


def test_a_change_keeps_the_time_of_creation_and_refreshes_that_of_the_update():
    ctx = HookContext("setup", created_at=1.0, updated_at=1.0)
    changed = ctx.with_state(AgentState())
    assert changed.created_at == 1.0
    assert changed.updated_at > 1.0
    assert (ctx.updated_at, ctx.state) == (1.0, None)


def test_paths_are_made_absolute_by_text_alone():
    ctx = HookContext("before_tool_use", cwd="/repo/src", tool_call=ToolCall("r", {"path": "../a/./b.py"}, kind="read"))
    assert ctx.paths == ("/repo/a/b.py",)


def test_a_blocked_context_says_so():
    """The flag, a failed execution in the call's place, and the error."""
    ctx = HookContext.before_tool_use(None, CALL).block("not today")
    assert ctx.is_tool_execution_blocked
    assert ctx.tool_execution == ToolExecution.denied(CALL, "not today")
    assert ctx.error_list == (ErrorInfo(type="ToolBlocked", message="not today"),)
    assert ctx.reason == "not today"


def test_a_block_without_a_message_describes_the_call():
    assert shell("rm x").block().reason == (
        "Execution blocked by hook: before_tool_use, tool 'Bash' with {'command': 'rm x'}."
    )


def test_an_outcome_is_applied_whole():
    message = Message(role="user")
    outcome = HookOutcome.update(
        tool_args={"command": "pwd"}, state=STATE, context="c", messages=(message,), metadata={"k": 1}, signal=SIGNAL
    )
    ctx = shell().with_outcome(outcome)
    assert (ctx.tool_args, ctx.state, ctx.context, ctx.messages) == ({"command": "pwd"}, STATE, "c", (message,))
    assert (ctx.metadata, ctx.signals, ctx.outcome) == ({"k": 1}, (SIGNAL,), outcome)


def test_live_objects_stay_with_the_process():
    ctx = shell(runtime=object())
    assert "runtime" not in ctx.as_dict()
    assert HookContext.from_dict(json.loads(json.dumps(ctx.as_dict()))) == ctx.replace(
        runtime=None, updated_at=ctx.updated_at
    )


# -- what external hooks receive ---------------------------------------------------------------------------------------


def test_a_payload_has_claudes_keys_and_those_of_agent_boundaries():
    payload = shell("ls", session_id="s", agent_name="a", scope="tool", skill="pdf").as_payload()
    claude = {"hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/project"}
    tool = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "call-1", "tool_kind": "shell"}
    boundary = {"event": "before_tool_use", "agent_name": "a", "scope": "tool", "skill": "pdf", "tool": "Bash"}
    assert {key: payload[key] for key in (*claude, *tool, *boundary)} == {**claude, **tool, **boundary}
    assert payload["input"] == payload["tool_input"]
    json.dumps(payload)


@pytest.mark.parametrize("event", list(HookEvent.all()))
def test_every_event_has_a_payload_with_the_common_keys(event):
    payload = HookContext(event).as_payload()
    assert {"hook_event_name", "event", "agent_name", "scope", "session_id", "cwd"} <= payload.keys()
    assert HookEvent.parse(payload["hook_event_name"]) is event


def test_a_payload_holds_nothing_internal():
    """Neither the state with its conversation, nor what hooks said so far."""
    ctx = shell(state=STATE).replace(outcome=HookOutcome(), previous=(None, "h", HookOutcome()))
    assert not {"state", "outcome", "previous", "created_at", "updated_at"} & ctx.as_payload().keys()


def test_the_result_of_a_tool_is_its_response():
    payload = HookContext.after_tool_use(None, ToolExecution(call=CALL, result={"ok": 1})).as_payload()
    assert payload["tool_response"] == {"ok": 1}


def test_what_repeats_a_part_of_the_subject_changes_with_it():
    """A gate that reads the execution, or matches the model, must not judge what was there before a rewrite."""
    execution = ToolExecution(call=ToolCall("read"), result="old")
    ctx = HookContext.after_tool_use(None, execution).with_subject("new")
    assert ctx.tool_execution is not None
    assert (ctx.result, ctx.tool_execution.result) == ("new", "new")
    request = ModelRequest(model="claude-opus-4", messages=(Message(role="user", content="x"),), tools=({}, {}))
    ctx = HookContext("before_inference", request=ModelRequest(model="small"), model="small").with_subject(request)
    assert (ctx.model, ctx.message_count, ctx.tool_count) == ("claude-opus-4", 1, 2)


@pytest.mark.parametrize("call", [{"name": "Bash", "args": {}}, "Bash", ("Bash", {}), 0, ""], ids=repr)
def test_a_tool_call_that_is_none_is_refused(call):
    with pytest.raises(
        TypeError, match=r"must be a ToolCall, not (dict|str|tuple|int): give ToolCall\(name, arguments\)"
    ):
        HookContext("before_tool_use", tool_call=call)
    with pytest.raises(TypeError, match="must be a ToolCall"):
        HookContext("before_tool_use", tool_call=ToolCall("Bash")).replace(tool_call=call)


def test_no_tool_call_is_no_mistake():
    assert HookContext("user_input", tool_call=None).tool_call is None
    assert HookContext("before_tool_use", tool_call=ToolCall("Bash")).replace(tool_call=None).tool_call is None


OF_A_STATE = {
    "before_execution": (),
    "after_execution": (),
    "before_step": (),
    "after_step": (),
    "before_tool_use": (ToolCall("x"),),
    "after_tool_use": (ToolExecution(call=ToolCall("x")),),
    "on_stop": (),
    "on_error": (ValueError("x"),),
}


@pytest.mark.parametrize("name", OF_A_STATE)
def test_a_context_of_a_state_is_about_its_agent_unless_told_otherwise(name):
    make = getattr(HookContext, name)
    state = AgentState(agent_id="mine", parent_agent_id="above")
    ctx = make(state, *OF_A_STATE[name])
    assert (ctx.state, ctx.agent_id, ctx.parent_agent_id) == (state, "mine", "above")
    assert make(state, *OF_A_STATE[name], agent_id="another").agent_id == "another"


def test_the_earlier_answers_of_a_dispatch_come_first_to_last():
    first, second = HookOutcome.deny("no"), HookOutcome.allow()
    ctx = shell().replace(previous=((None, "one", first), "two", second))
    assert ctx.previous_results == (("one", first), ("two", second))
    assert shell().previous_results == ()


def test_errors_are_attached_with_or_without_the_exception():
    info = ErrorInfo(type="X")
    with_exception, with_data = (
        HookContext("on_error", error=ValueError("why")),
        HookContext("on_error", error_list=(info,)),
    )
    assert (with_exception.has_errors, with_data.has_errors, HookContext("on_error").has_errors) == (True, True, False)
