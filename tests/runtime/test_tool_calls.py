"""Tool calls: their hooks, tools, results, records and texts for the model."""

from __future__ import annotations

import asyncio
import contextvars
import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_hooks import AgentState, HookContext, HookOutcome
from agent_hooks.errors import StopRunError, TrustError
from agent_hooks.model.snapshot import Snapshot
from agent_hooks.model.state import Message
from agent_hooks.model.tool_call import ErrorInfo, ToolExecution
from agent_hooks.runtime.agent import AgentRuntime
from agent_hooks.runtime.builder import AgentBuilder
from agent_hooks.runtime.driver import ScriptedDriver
from agent_hooks.runtime.python_tools import tool
from agent_hooks.system.by_hand import marked_as_agent, refuse_agents
from agent_hooks.system.store import MemoryStore
from runtime.agents import (
    Gate,
    OnceWaiting,
    Recorder,
    Trial,
    assert_well_formed,
    boom,
    call,
    cancelled_at,
    echo,
    said,
    signal_of,
    stop_signal,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

STOP = HookOutcome.stop("that is enough")
NOT_RUN = "Not run: the run was stopped."
MADE = "The call was made before, and its result was refused."


@pytest.fixture(params=[False, True], ids=["one by one", "together"])
def parallel(request: pytest.FixtureRequest) -> bool:
    """Whether the tools of a step run at the same time. What hooks and model see must not depend on it."""
    return bool(request.param)


def trial_of(parallel: bool, *replies: Any, **options: Any) -> Trial:
    trial = Trial(*replies, **options)
    trial.builder = trial.builder.with_parallel_tools(parallel)
    return trial


def executions(state: AgentState, step: int = 0) -> tuple[ToolExecution, ...]:
    return state.steps[step].executions


def results(state: AgentState) -> list[Any]:
    """What the model reads of the calls."""
    return [message.content for message in state.messages if message.role == "tool"]


def tool_events(trial: Trial) -> list[str]:
    return [f"{ctx.event} {ctx.tool_call.id}" for ctx in trial.recorder.seen if ctx.tool_call is not None]


# -- texts for the model -----------------------------------------------------------------------------------------------


def test_each_call_has_its_result_right_behind_the_message_that_asked(parallel):
    trial = trial_of(parallel, [call(text="1", id="x"), call("boom", id="y"), call(text="2", id="z")], "done")
    state = trial.run()
    asked, *answers = state.messages[1:5]
    assert [one.id for one in asked.tool_calls] == ["x", "y", "z"]
    assert [(m.name, m.tool_call_id, m.content) for m in answers] == [
        ("echo", "x", "echo: 1"),
        ("boom", "y", "Error: no fuel"),
        ("echo", "z", "echo: 2"),
    ]
    assert [dict(m.metadata) for m in answers] == [{}, {"is_error": True}, {}]
    assert trial.requests[1].messages == state.messages[:5]


# The fate of a call of boom or echo; the text for the model; then its record: blocked, failed, whether the run fails.
FATES = {
    "made": ("echo", None, None, "echo: a", False, False, False),
    "failed": ("boom", None, None, "Error: no fuel", False, True, True),
    "denied": ("echo", "before_tool_use", HookOutcome.deny("no"), "Denied: no", True, True, False),
    "failing gate": ("echo", "before_tool_use", RuntimeError("bang"), "Denied: ", True, True, False),
    "withheld": ("echo", "after_tool_use", HookOutcome.deny("no"), "Result withheld: no", False, True, False),
    "failed, withheld": ("boom", "after_tool_use", HookOutcome.deny("no"), "Result withheld: no", False, True, False),
    "rewritten": ("echo", "after_tool_use", HookOutcome.proceed(result="ok"), "ok", False, False, False),
    "answered": ("boom", "after_tool_use", HookOutcome.proceed(result="ok"), "ok", False, False, False),
    "reworded": ("boom", "on_tool_error", HookOutcome.proceed(error_text="hm"), "Error: hm", False, True, True),
    "unknown": ("nothing", None, None, "Error: There is no tool 'nothing'", False, True, True),
    "unknown, denied": ("nothing", "before_tool_use", HookOutcome.deny("no"), "Denied: no", True, True, False),
}


@pytest.mark.parametrize("fate", FATES)
def test_what_becomes_of_a_call(fate, parallel):
    name, event, answer, text, blocked, failed, run_failed = FATES[fate]
    trial = trial_of(parallel, [call(name), call(text="other")], "done")
    if event is not None:
        trial.on(event, answer, match=name if name != "nothing" else None, times=1)
    state = trial.run()
    execution = executions(state)[0]
    assert results(state)[0].startswith(text)
    assert results(state)[1] == "echo: other"
    assert (execution.was_blocked, execution.failed) == (blocked, failed)
    assert (state.status, state.output) == ("failed" if run_failed else "completed", "done")
    assert [error.message for error in state.steps[0].errors] == ([execution.error.message] if run_failed else [])  # type: ignore[union-attr]
    assert state.steps[0].type == ("error" if run_failed else "tool_execution")
    assert_well_formed(state.messages)


def test_the_reason_of_a_failing_gate_names_it():
    trial = Trial(call(), "done")
    trial.on("before_tool_use", RuntimeError("bang"), name="check paths")
    assert "check paths" in results(trial.run())[0]


def test_a_withheld_result_is_nowhere_left():
    @tool
    def secret() -> str:
        return "the password is swordfish"

    trial = Trial(call("secret"), "done", tools=[secret])
    trial.on("after_tool_use", HookOutcome.deny("not for you"))
    state = trial.run()
    assert "swordfish" not in str(state)
    assert "swordfish" not in str(trial.requests)
    assert executions(state)[0].error == ErrorInfo(type="ToolResultWithheld", message="not for you")


def test_a_required_hook_that_fails_withholds_and_another_does_not():
    for required, text in ((True, "Result withheld: "), (False, "echo: a")):
        trial = Trial(call(), "done")
        trial.on("after_tool_use", RuntimeError("bang"), required=required)
        assert results(trial.run())[0].startswith(text)


def test_an_unknown_tool_is_answered_with_those_there_are():
    (text,) = results(Trial(call("nothing"), "done").run())
    assert text == "Error: There is no tool 'nothing'. There are: echo, boom."


def test_wrong_arguments_are_a_failed_call_and_the_tool_is_not_run():
    ran: list[str] = []

    @tool
    def work(text: str, times: int) -> None:
        ran.append(text)

    trial = Trial([call("work", other=1), call("work", text="a", times="many")], "done", tools=[work])
    state = trial.run()
    missing, wrong = results(state)
    assert missing.startswith("Error: Missing required parameters: text, times")
    assert wrong.startswith("Error: times: ")
    assert (ran, state.status) == ([], "failed")
    assert trial.events.count("on_tool_error") == 2


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ("text", "text"),
        (None, ""),
        ({"a": [1, None]}, '{"a":[1,null]}'),
        (3, "3"),
        (True, "true"),
        (AgentRuntime, str(AgentRuntime)),
    ],
)
def test_a_result_that_is_no_text_becomes_json(result, text):
    @tool
    def work() -> Any:
        return result

    state = Trial(call("work"), "done", tools=[work]).run()
    assert results(state)[0] in (text, f'"{text}"')
    assert state.status == "completed"


class Counting(dict[str, Any]):
    walks = 0

    def items(self) -> Any:
        type(self).walks += 1
        return super().items()

    keys = values = __iter__ = None  # type: ignore[assignment]  # no other way through it


def test_a_result_is_walked_once_before_the_next_request():
    work = tool(lambda: Counting(a=[1]), name="work", description="", kind="read")
    state = trial_of(False, [call("work")], "done", tools=[work]).run()
    assert (Counting.walks, results(state)) == (1, ['{"a":[1]}'])


def test_a_large_result_is_opened_for_the_hooks_that_read_it_only(monkeypatch):
    rows = [{"id": number, "pair": (number, None)} for number in range(10_000)]
    opened: list[Snapshot] = []
    whole = Snapshot.whole

    def counted(self):
        opened.append(self)
        return whole(self)

    monkeypatch.setattr(Snapshot, "whole", counted)
    work = tool(lambda: rows, name="work", description="", kind="read")
    state = trial_of(False, [call("work")], "done", tools=[work]).run()
    assert [json.loads(text) for text in results(state)] == [json.loads(json.dumps(rows))]
    assert opened == []
    assert executions(state)[0].result == rows
    assert len(opened) == 1


def test_context_of_all_the_hooks_of_a_call_follows_its_result_in_order(parallel):
    trial = trial_of(parallel, [call("boom"), call()], "done")
    for event in ("after_tool_use", "on_tool_error", "before_tool_use"):
        trial.on(event, HookOutcome.with_context(event), match="boom")
    state = trial.run()
    assert results(state) == ["Error: no fuel\n\nbefore_tool_use\n\non_tool_error\n\nafter_tool_use", "echo: a"]
    assert executions(state)[0].context == "before_tool_use\n\non_tool_error\n\nafter_tool_use"


@pytest.mark.parametrize("outcome", [HookOutcome.deny("no"), HookOutcome.deny("no", context="Ask a person.")])
def test_context_beside_a_denial_reaches_the_model(outcome):
    trial = Trial(call(), "done")
    trial.on("before_tool_use", outcome, priority=1)
    trial.on("before_tool_use", HookOutcome.with_context("It is late."), priority=2)
    expected = "Denied: no\n\nIt is late." + ("\n\nAsk a person." if outcome.context else "")
    assert results(trial.run()) == [expected]


def test_messages_of_tool_hooks_follow_all_results_of_the_step_in_order(parallel):
    def tells(ctx: HookContext) -> HookOutcome:
        text = f"{ctx.event} {ctx.tool_call.id}"  # type: ignore[union-attr]
        return HookOutcome.proceed(messages=(Message(role="user", content=text),))

    trial = trial_of(parallel, [call(id="1"), call(id="2")], "done")
    trial.on("after_tool_use", tells)
    state = trial.run()
    assert [content for role, content in said(state.messages) if role == "user"] == [
        "go",
        "after_tool_use 1",
        "after_tool_use 2",
    ]
    assert_well_formed(state.messages)
    assert [message.content for message in state.steps[0].messages] == ["after_tool_use 1", "after_tool_use 2"]


# -- which hooks are asked ---------------------------------------------------------------------------------------------


def test_hooks_are_asked_once_for_each_call_in_order():
    trial = Trial([call(id="1"), call("boom", id="2"), call(id="3")], "done")
    trial.run()
    assert tool_events(trial) == [
        *("before_tool_use 1", "after_tool_use 1"),
        *("before_tool_use 2", "on_tool_error 2", "after_tool_use 2"),
        *("before_tool_use 3", "after_tool_use 3"),
    ]


def test_hooks_of_parallel_tools_are_asked_in_order_before_and_after():
    trial = trial_of(True, [call(id="1"), call("boom", id="2"), call(id="3")], "done")
    trial.run()
    assert tool_events(trial) == [
        *("before_tool_use 1", "before_tool_use 2", "before_tool_use 3"),
        *("after_tool_use 1", "on_tool_error 2", "after_tool_use 2", "after_tool_use 3"),
    ]


def test_a_match_chooses_by_name_kind_or_alias():
    @tool(kind="shell", aliases=["terminal"])
    def sh(command: str) -> str:
        return command

    trial = Trial([call("sh", command="ls"), call(text="a")], "done", tools=[sh, echo])
    hooks = {match: trial.on("before_tool_use", match=match) for match in ("sh", "shell", "Bash", "terminal", "read")}
    trial.run()
    called = {match: [ctx.tool_name for ctx in hook.calls] for match, hook in hooks.items()}
    assert called == {"sh": ["sh"], "shell": ["sh"], "Bash": ["sh"], "terminal": ["sh"], "read": ["echo"]}
    assert hooks["shell"].calls[0].tool_call.command == "ls"  # type: ignore[union-attr]


def test_after_tool_use_is_told_the_result_or_the_error(parallel):
    trial = trial_of(parallel, [call(), call("boom")], "done")
    hook = trial.on("after_tool_use")
    trial.run()
    made, failed = hook.calls
    assert (made.result, made.error, made.was_blocked) == ("echo: a", None, False)
    assert made.tool_execution is not None
    assert (made.tool_execution.result, made.tool_execution.name) == ("echo: a", "echo")
    assert made.tool_execution.duration >= 0
    assert (failed.result, failed.error) == (None, ErrorInfo(type="ValueError", message="no fuel"))


def test_on_tool_error_is_told_what_was_raised():
    error = KeyError("k")

    @tool
    def work() -> None:
        raise error

    trial = Trial(call("work"), "done", tools=[work])
    hook = trial.on("on_tool_error")
    trial.run()
    (ctx,) = hook.calls
    assert ctx.error is error
    assert ctx.error_text == "KeyError: 'k'"
    assert ctx.tool_execution is not None
    assert ctx.tool_execution.error == ErrorInfo(type="KeyError", message=ctx.error_text)


def test_hooks_after_a_rewritten_result_are_told_the_new_one_everywhere():
    trial = Trial(call(), "done")
    trial.on("after_tool_use", HookOutcome.proceed(result="changed"), priority=1)
    hook = trial.on("after_tool_use")
    trial.run()
    ctx = hook.calls[-1]
    assert ctx.tool_execution is not None
    assert (ctx.result, ctx.tool_execution.result) == ("changed", "changed")


@pytest.mark.parametrize("event", ["after_tool_use", "on_tool_error"])
def test_an_earlier_hooks_rewrite_is_kept_where_a_later_one_stops(event):
    """What was taken out of a result or an error does not come back because the run ends."""
    trial = Trial(call("boom", text="1234"), "done")
    subject = {"after_tool_use": "result", "on_tool_error": "error_text"}[event]
    trial.on(event, HookOutcome.from_dict({subject: "****"}), priority=2)
    trial.on(event, STOP, priority=1)
    state = trial.run()
    assert results(state) == ["****" if event == "after_tool_use" else "Error: ****"]
    assert "1234" not in str([message.content for message in state.messages])


def test_calls_without_an_id_get_one_that_ties_them_to_their_results():
    trial = Trial([call(), call(id="given"), call()], call(), "done")
    state = trial.run()
    ids = [[one.id for one in message.tool_calls] for message in state.messages if message.tool_calls]
    assert ids == [["call_1_0_0", "given", "call_1_0_2"], ["call_1_1_0"]]
    assert [message.tool_call_id for message in state.messages if message.role == "tool"] == [*ids[0], *ids[1]]
    assert [ctx.tool_call.id for ctx in trial.seen("before_tool_use")] == [*ids[0], *ids[1]]  # type: ignore[union-attr]


def test_a_result_that_can_be_read_only_once_is_a_failed_call(parallel):
    """Whoever reads it first would leave nothing for the model."""

    @tool
    def work() -> Any:
        return iter([1, 2])

    @tool
    def work_async() -> Any:
        async def numbers() -> Any:
            yield 1

        return numbers()

    state = trial_of(parallel, [call("work"), call("work_async")], "done", tools=[work, work_async]).run()
    assert all(text.startswith("Error: ") and "list" in text for text in results(state))
    assert state.status == "failed"


def test_a_blocked_call_is_shown_to_observers_only(parallel):
    trial = trial_of(parallel, [call(id="1"), call(id="2")], "done")
    trial.on("before_tool_use", HookOutcome.deny("no"), when=lambda ctx: ctx.tool_call.id == "1")  # type: ignore[union-attr]
    decides = trial.on("after_tool_use", HookOutcome.proceed(result="changed"))
    gate = trial.on("after_tool_use", mode="gate")
    state = trial.run()
    assert [ctx.tool_call.id for ctx in (*decides.calls, *gate.calls)] == ["2", "2"]  # type: ignore[union-attr]
    seen = {ctx.tool_call.id: ctx for ctx in trial.seen("after_tool_use")}  # type: ignore[union-attr]
    assert (seen["1"].was_blocked, seen["2"].was_blocked) == (True, False)
    assert seen["1"].is_tool_execution_blocked
    assert (
        seen["1"].tool_execution
        == executions(state)[0]
        == ToolExecution.denied(call(id="1", text="a"), "no").replace(call=executions(state)[0].call)
    )
    assert results(state) == ["Denied: no", "changed"]


def test_the_calls_after_a_blocked_one_are_made(parallel):
    trial = trial_of(parallel, [call(text="1"), call(text="2"), call(text="3")], "done")
    trial.on("before_tool_use", HookOutcome.deny("no"), when=lambda ctx: ctx.tool_args["text"] == "1")
    state = trial.run()
    assert results(state) == ["Denied: no", "echo: 2", "echo: 3"]
    assert state.status == "completed"


def test_state_changes_and_signals_of_tool_hooks_persist(parallel):
    def counts(ctx: HookContext) -> HookOutcome:
        assert ctx.state is not None
        assert ctx.tool_call is not None
        seen = (*ctx.state.metadata.get("seen", ()), f"{ctx.event} {ctx.tool_call.id}")
        return HookOutcome.with_state(ctx.state.with_metadata("seen", seen))

    trial = trial_of(parallel, [call(id="1"), call("boom", id="2")], "done")
    trial.on("before_tool_use", HookOutcome.deny("no"), when=lambda ctx: ctx.tool_call.id == "1")  # type: ignore[union-attr]
    for event in ("before_tool_use", "on_tool_error", "after_tool_use"):
        trial.on(event, counts, priority=1)
    trial.on("after_tool_use", HookOutcome.signal(stop_signal("time_limit")))
    state = trial.run()
    assert list(state.metadata["seen"]) == [
        *("before_tool_use 1", "before_tool_use 2"),
        *("on_tool_error 2", "after_tool_use 2"),
    ]
    assert (len(trial.requests), signal_of(state).reason) == (1, "time_limit")


def test_hooks_of_a_later_call_see_what_those_of_an_earlier_one_left(parallel):
    def only_one(ctx: HookContext) -> HookOutcome:
        assert ctx.state is not None
        calls = ctx.state.metadata.get("calls", 0) + 1
        state = ctx.state.with_metadata("calls", calls)
        return HookOutcome.deny("once only") if calls > 1 else HookOutcome.with_state(state)

    trial = trial_of(parallel, [call(), call()], "done")
    trial.on("before_tool_use", only_one)
    assert results(trial.run()) == ["echo: a", "Denied: once only"]


# -- arguments ---------------------------------------------------------------------------------------------------------


class Keeps:
    """A tool that validates for itself: it gets the arguments unchanged."""

    name = "keeps"
    description = "Keep the arguments."
    parameters: Mapping[str, Any] = {"type": "object"}

    def __init__(self) -> None:
        self.given: list[dict[str, Any]] = []

    def call(self, args: dict[str, Any]) -> str:
        self.given.append(args)
        args["list"].append("spoilt")
        args["list"][0]["deep"] = "spoilt"
        args["new"] = "spoilt"
        return "kept"


@pytest.mark.parametrize("rewrite", [False, True])
def test_a_tool_gets_plain_mutable_arguments_of_its_own(rewrite, parallel):
    mine: dict[str, Any] = {"list": [{"deep": 1}, "mine"]}
    args: dict[str, Any] = {"list": [{"deep": 1}, "models"]}
    keeps = Keeps()
    trial = trial_of(parallel, [call("keeps", **args), call("keeps", **args)], "done", tools=[keeps])
    if rewrite:
        trial.on("before_tool_use", HookOutcome.with_args(mine))
    state = trial.run()
    expected = "mine" if rewrite else "models"
    for given_args in keeps.given:
        assert type(given_args) is dict
        assert type(given_args["list"]) is list
        assert type(given_args["list"][0]) is dict
        assert given_args["list"][1] == expected
    assert args == {"list": [{"deep": 1}, "models"]}
    assert mine == {"list": [{"deep": 1}, "mine"]}
    assert "spoilt" not in str(state)
    assert "spoilt" not in str([ctx.as_dict() for ctx in trial.recorder.seen])
    assert [execution.call.args["list"][1] for execution in executions(state)] == [expected] * 2
    assert state.messages[1].tool_calls[0].args["list"][1] == "models"


def test_a_rewrite_is_judged_again_before_it_runs():
    ran: list[str] = []

    @tool(kind="shell")
    def sh(command: str) -> None:
        ran.append(command)

    trial = Trial(call("sh", command="ls"), "done", tools=[sh])
    trial.on("before_tool_use", lambda ctx: HookOutcome.deny("no rm") if "rm" in ctx.tool_call.command else None)
    trial.on("before_tool_use", HookOutcome.with_args({"command": "rm -rf /"}), priority=-1)
    state = trial.run()
    assert (ran, results(state)) == ([], ["Denied: no rm"])


def test_rewritten_arguments_are_validated_too():
    trial = Trial(call(), "done")
    trial.on("before_tool_use", HookOutcome.with_args({"text": ["not", "text"]}))
    assert results(trial.run())[0].startswith("Error: text: ")


# -- stopping ----------------------------------------------------------------------------------------------------------

# What happens to the third of four calls: its stop is also on_tool_error's where it fails.
STOPPING = {"before_tool_use": "echo", "on_tool_error": "boom", "after_tool_use": "echo"}


@pytest.mark.parametrize("event", STOPPING)
def test_a_stop_lets_no_further_call_of_the_step_run(event):
    ran: list[str] = []

    @tool
    def work(n: str) -> str:
        ran.append(n)
        if n == "2" and event == "on_tool_error":
            raise ValueError("no fuel")
        return f"did {n}"

    trial = Trial([call("work", n=n) for n in "1234"], "done", tools=[work])
    trial.on(event, STOP, when=lambda ctx: ctx.tool_args["n"] == "2")
    state = trial.run()
    one, two, three, four = executions(state)
    assert ran == (["1"] if event == "before_tool_use" else ["1", "2"])
    assert (one.result, one.was_blocked) == ("did 1", False)
    assert two.was_blocked == (event == "before_tool_use")
    assert {(e.was_blocked, e.reason, e.result) for e in (three, four)} == {(True, NOT_RUN, None)}
    assert results(state)[2:] == [f"Denied: {NOT_RUN}"] * 2
    assert {ctx.tool_args["n"] for ctx in trial.recorder.seen if ctx.tool_call is not None} == {"1", "2"}
    assert (state.status, len(trial.requests)) == ("failed" if event == "on_tool_error" else "stopped", 1)
    assert_well_formed(state.messages)


def test_the_result_of_the_call_that_stopped_is_kept():
    trial = Trial(call(), "done")
    trial.on("after_tool_use", STOP)
    assert results(trial.run()) == ["echo: a"]


def test_a_stop_before_a_parallel_call_lets_those_judged_before_it_run():
    trial = trial_of(True, [call(text="1"), call(text="2"), call(text="3")], "done")
    trial.on("before_tool_use", STOP, when=lambda ctx: ctx.tool_args["text"] == "2")
    state = trial.run()
    assert results(state) == ["echo: 1", "Denied: that is enough", f"Denied: {NOT_RUN}"]
    assert state.status == "stopped"


def test_a_stop_after_a_parallel_call_takes_nothing_back():
    """All of them have run by then: the results are judged and kept."""
    trial = trial_of(True, [call(text="1"), call(text="2")], "done")
    hook = trial.on("after_tool_use", STOP)
    state = trial.run()
    assert (results(state), len(hook.calls), state.status) == (["echo: 1", "echo: 2"], 2, "stopped")


def test_a_tool_may_stop_the_run(parallel):
    @tool(name="quit")
    def leave() -> None:
        raise StopRunError("I am out", after=3)

    trial = trial_of(parallel, [call("quit"), call()], "done", tools=[leave, echo])
    state = trial.run()
    assert signal_of(state) == stop_signal("stop_requested", message="I am out", context={"after": 3}, source="quit")
    assert len(trial.requests) == 1
    assert_well_formed(state.messages)
    assert results(state)[1] == ("echo: a" if parallel else f"Denied: {NOT_RUN}")


def test_a_run_that_a_tool_stopped_is_stopped_and_not_failed(parallel):
    """The tool requested the stop; it is no failure."""

    @tool(name="quit")
    def leave() -> None:
        raise StopRunError("I am out")

    assert trial_of(parallel, [call("quit"), call()], "done", tools=[leave, echo]).run().status == "stopped"


@pytest.mark.parametrize(
    "error", [SystemExit(3), asyncio.CancelledError("its own"), StopIteration(), TimeoutError("late")], ids=repr
)
def test_whatever_a_tool_raises_is_a_failed_call(error, parallel):
    @tool
    def work() -> None:
        raise error

    @tool
    async def work_async() -> None:
        raise error

    names = ["work"] if isinstance(error, StopIteration) else ["work", "work_async"]
    trial = trial_of(parallel, [*map(call, names), call()], "done", tools=[work, work_async, echo])
    state = trial.run()
    assert [text[:7] for text in results(state)] == [*["Error: "] * len(names), "echo: a"]
    assert (state.status, state.output) == ("failed", "done")


def test_a_keyboard_interrupt_of_a_tool_ends_everything(parallel):
    @tool
    def work() -> None:
        raise KeyboardInterrupt

    trial = trial_of(parallel, [call("work"), call()], "done", tools=[work, echo])
    with pytest.raises(KeyboardInterrupt):
        trial.run()
    assert "on_tool_error" not in trial.events


# -- once more ---------------------------------------------------------------------------------------------------------


class Flaky:
    """A tool that fails until it has been called often enough."""

    def __init__(self, works_at: int) -> None:
        self.works_at = works_at
        self.calls = 0

    def __call__(self) -> str:
        self.calls += 1
        if self.calls < self.works_at:
            raise ConnectionError(f"attempt {self.calls}")
        return f"attempt {self.calls}"


WITHHELD = "Result withheld: Retry limit reached: {}/{}."


@pytest.mark.parametrize("event", ["on_tool_error", "after_tool_use"])
@pytest.mark.parametrize("works_at", [1, 2, 3, 4])
@pytest.mark.parametrize("most", [0, 1, 2])
def test_retries_of_a_call_are_limited_and_then_its_error_stands_or_its_result_is_withheld(
    event, works_at, most, parallel
):
    flaky = Flaky(works_at)
    trial = trial_of(
        parallel, [call("flaky"), call()], "done", tools=[tool(flaky, name="flaky"), echo], max_retries=most
    )
    hook = trial.on(event, HookOutcome.retry(), when=lambda ctx: ctx.tool_execution.failed, match="flaky")  # type: ignore[union-attr]
    state = trial.run()
    attempts = min(works_at, 1 + most)
    assert flaky.calls == attempts
    works = attempts == works_at
    refused = {"on_tool_error": f"Error: attempt {attempts}", "after_tool_use": WITHHELD.format(most, most)}
    assert results(state) == [f"attempt {attempts}" if works else refused[event], "echo: a"]
    assert state.status == ("completed" if works or event == "after_tool_use" else "failed")
    assert len(executions(state)) == 2
    assert len(hook.calls) == (attempts if event == "after_tool_use" else attempts - works)


def test_a_retried_call_goes_through_its_hooks_again_and_they_may_deny_it():
    flaky = Flaky(5)
    trial = Trial(call("flaky"), "done", tools=[tool(flaky, name="flaky")])
    trial.on("on_tool_error", HookOutcome.retry())
    trial.on("before_tool_use", HookOutcome.deny("not again"), when=lambda ctx: flaky.calls > 0)
    state = trial.run()
    assert (flaky.calls, results(state), state.status) == (1, [f"Denied: not again\n\n{MADE}"], "completed")
    again = ["before_tool_use", "on_tool_error", "after_tool_use", "before_tool_use", "after_tool_use"]
    assert [event for event in trial.events if "tool" in event] == again


def test_context_of_the_hooks_before_a_retried_call_reaches_the_model_once(parallel):
    trial = trial_of(parallel, [call("flaky"), call()], "done", tools=[tool(Flaky(2), name="flaky"), echo])
    trial.on("before_tool_use", HookOutcome.with_context("mind the gap"), match="flaky")
    trial.on("on_tool_error", HookOutcome.retry())
    assert results(trial.run())[0] == "attempt 2\n\nmind the gap"


def test_a_retry_starts_from_the_models_own_arguments():
    """So that a rewrite that is no idempotent one is not applied to itself."""
    trial = Trial(call("boom", text="x"), "done")
    trial.on(
        "before_tool_use",
        lambda ctx: None if ctx.rechecking else HookOutcome.with_args({"text": f"{ctx.tool_args['text']}!"}),
        times=1,
    )
    hook = trial.on("on_tool_error", HookOutcome.retry(), times=1)
    state = trial.run()
    assert len(hook.calls) == 2
    assert hook.calls[1].tool_args == {"text": "x"}
    assert executions(state)[0].call.args == {"text": "x"}


def test_a_result_that_is_never_good_enough_is_withheld_with_the_reason():
    """A retry passes over the hooks after it, so none of them has judged the result."""
    trial = Trial(call(text="the secret"), "done")
    trial.on("after_tool_use", HookOutcome.retry("not good enough"), priority=1)
    later = trial.on("after_tool_use")
    state = trial.run()
    assert results(state) == [WITHHELD.format(2, 2) + " not good enough"]
    assert "echo: the secret" not in str(state)
    assert later.calls == []


def test_no_retry_after_a_stop():
    flaky = Flaky(5)
    trial = Trial(call("flaky"), "done", tools=[tool(flaky, name="flaky")])
    trial.on("on_tool_error", HookOutcome.retry())
    trial.on("after_tool_use", STOP)
    assert results(trial.run()) == ["Error: attempt 1"]
    assert flaky.calls == 1


# -- together ----------------------------------------------------------------------------------------------------------


class Rendezvous:
    """Tools that only get on once all of them are at work, and end in the reverse order."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.at_work = 0
        self.all_there = asyncio.Event()
        self.ended = [asyncio.Event() for _ in range(number + 1)]
        self.ended[number].set()
        self.order: list[int] = []

    async def meet(self, n: int) -> str:
        self.at_work += 1
        if self.at_work == self.number:
            self.all_there.set()
        await asyncio.wait_for(self.all_there.wait(), 30)
        await asyncio.wait_for(self.ended[n + 1].wait(), 30)
        self.order.append(n)
        self.ended[n].set()
        return f"met {n}"


@pytest.mark.parametrize("number", [2, 5])
def test_parallel_tools_really_run_at_the_same_time_and_results_keep_their_order(number):
    party = Rendezvous(number)
    trial = trial_of(True, [call("meet", n=n) for n in range(number)], "done", tools=[party.meet])
    state = trial.run()
    assert party.order == list(reversed(range(number)))
    assert results(state) == [f"met {n}" for n in range(number)]


def test_without_parallel_tools_one_runs_after_the_other():
    at_work: list[int] = []

    @tool
    async def work(n: int) -> int:
        at_work.append(n)
        await asyncio.sleep(0)
        assert at_work == [n]
        at_work.remove(n)
        return n

    state = Trial([call("work", n=n) for n in range(3)], "done", tools=[work]).run()
    assert results(state) == ["0", "1", "2"]


def test_parallel_tools_in_threads_run_at_the_same_time_too():
    import threading

    meeting = threading.Barrier(2, timeout=30)

    @tool(in_thread=True)
    def work() -> str:
        meeting.wait()
        return "met"

    assert results(trial_of(True, [call("work"), call("work")], "done", tools=[work]).run()) == ["met", "met"]


def test_a_failing_parallel_tool_does_not_end_the_others():
    party = Rendezvous(2)

    @tool
    async def fails() -> None:
        await asyncio.wait_for(party.all_there.wait(), 30)
        raise ValueError("no fuel")

    calls = [call("fails"), call("meet", n=0), call("meet", n=1)]
    state = trial_of(True, calls, "done", tools=[fails, party.meet]).run()
    assert results(state) == ["Error: no fuel", "met 0", "met 1"]


def test_tools_see_the_context_variables_of_the_caller(parallel):
    who: contextvars.ContextVar[str] = contextvars.ContextVar("who", default="nobody")

    @tool
    def work() -> str:
        return who.get()

    who.set("the caller")
    state = trial_of(parallel, [call("work"), call("work")], "done", tools=[work]).run()
    assert results(state) == ["the caller"] * 2


PLANS = st.lists(st.sampled_from(["echo", "boom", "denied", "withheld", "nothing"]), min_size=1, max_size=5)


@settings(max_examples=25, derandomize=True, database=None)
@given(PLANS)
def test_together_or_one_by_one_the_model_reads_the_same(plan):
    """Whatever the mixture of calls."""

    def run(parallel: bool) -> AgentState:
        calls = [call(name if name in ("boom", "nothing") else "echo", text=name) for name in plan]
        trial = trial_of(parallel, calls, "done")
        trial.on("before_tool_use", HookOutcome.deny("no"), when=lambda ctx: ctx.tool_args["text"] == "denied")
        trial.on("after_tool_use", HookOutcome.deny("no"), when=lambda ctx: ctx.tool_args["text"] == "withheld")
        return trial.run()

    one_by_one, together = run(False), run(True)
    assert said(one_by_one.messages) == said(together.messages)
    assert one_by_one.status == together.status
    assert_well_formed(together.messages)


# -- cancellation ------------------------------------------------------------------------------------------------------


def agent_of(parallel: bool, *tools: Any, calls: list[Any], hooks: dict[str, Any] | None = None) -> AgentRuntime:
    builder = AgentBuilder(plugins=()).with_driver(ScriptedDriver(calls, "fine")).with_tools(*tools)
    for event, hook in (hooks or {}).items():
        builder = builder.hook(event, hook)
    return builder.with_parallel_tools(parallel).build()


def assert_can_be_run_again(agent: AgentRuntime, state: AgentState) -> None:
    assert (state.status, signal_of(state).reason, state.current_step) == ("stopped", "user_requested", None)
    assert_well_formed(state.messages)
    again = asyncio.run(agent.run("again", state))
    assert (again.status, again.output) == ("completed", "fine")
    assert_well_formed(again.messages)


def test_cancelled_in_a_tool_what_was_done_before_it_is_kept():
    gate = Gate()

    @tool
    async def waits() -> None:
        await gate.wait()

    agent = agent_of(False, echo, waits, calls=[call(), call("waits"), call()])
    state = asyncio.run(cancelled_at(agent.iterate("go"), gate))
    assert [e.result for e in executions(state)] == ["echo: a", None, None]
    assert [e.was_blocked for e in executions(state)] == [False, False, False]
    assert results(state)[0] == "echo: a"
    assert [e.failed for e in executions(state)] == [False, True, True]
    assert_can_be_run_again(agent, state)


def test_cancelled_in_parallel_tools_all_are_ended_and_what_was_done_is_kept():
    gate, ended = Gate(), []

    @tool
    async def waits(n: int) -> None:
        try:
            await gate.wait()
        finally:
            ended.append(n)

    agent = agent_of(True, echo, waits, calls=[call("waits", n=0), call(), call("waits", n=1)])
    state = asyncio.run(cancelled_at(agent.iterate("go"), gate))
    assert sorted(ended) == [0, 1]
    assert [e.result for e in executions(state)] == [None, "echo: a", None]
    assert_can_be_run_again(agent, state)


def test_a_result_that_no_hook_has_judged_is_not_told_when_parallel_tools_are_cancelled():
    """A gate on results would have withheld it, so it must not come in by way of a cancellation."""
    gate = Gate()

    @tool
    async def waits() -> None:
        await gate.wait()

    withhold = {"after_tool_use": lambda ctx: HookOutcome.deny("not for you")}
    agent = agent_of(True, echo, waits, calls=[call(text="the secret"), call("waits")], hooks=withhold)
    state = asyncio.run(cancelled_at(agent.iterate("go"), gate))
    assert "echo: the secret" not in str(state)
    assert_well_formed(state.messages)


@pytest.mark.parametrize("event", ["before_tool_use", "on_tool_error", "after_tool_use"])
def test_cancelled_in_a_hook_of_a_call(event, parallel):
    gate = Gate()
    agent = agent_of(parallel, echo, boom, calls=[call("boom"), call()], hooks={event: OnceWaiting(gate)})
    state = asyncio.run(cancelled_at(agent.iterate("go"), gate))
    assert len(executions(state)) == 2
    assert_can_be_run_again(agent, state)


def test_parallel_tools_that_had_ended_are_on_record_when_a_hook_after_them_is_cancelled():
    """Each result whose hooks have judged it, as one by one."""
    gate = Gate()

    async def wait_at_the_last(ctx: HookContext) -> None:
        if ctx.tool_args["text"] == "3":
            await gate.wait()

    calls = [call(text=n) for n in "123"]
    for parallel in (False, True):
        gate = Gate()
        agent = agent_of(parallel, echo, calls=calls, hooks={"after_tool_use": wait_at_the_last})
        state = asyncio.run(cancelled_at(agent.iterate("go"), gate))
        assert [e.result for e in executions(state)][:2] == ["echo: 1", "echo: 2"]


def test_a_call_that_was_never_begun_is_not_said_to_have_been():
    gate = Gate()

    @tool
    async def waits() -> None:
        await gate.wait()

    agent = agent_of(False, echo, waits, calls=[call("waits"), call()])
    state = asyncio.run(cancelled_at(agent.iterate("go"), gate))
    first, second = results(state)
    assert "not run" not in first.lower()
    assert "not run" in second.lower()


def test_what_parallel_tools_have_done_is_kept_while_the_retry_of_one_waits_for_an_answer():
    """So that nothing is done twice once the run goes on."""
    ran: list[str] = []

    @tool
    def work() -> str:
        ran.append("work")
        return "worked"

    flaky = Flaky(2)
    trial = trial_of(True, [call("flaky"), call("work")], "done", tools=[tool(flaky, name="flaky"), work])
    trial.on("on_tool_error", HookOutcome.retry())
    trial.on("before_tool_use", HookOutcome.ask("once more?"), when=lambda ctx: flaky.calls > 0, match="flaky")
    trial.builder = trial.builder.with_ask("host").with_store(MemoryStore())
    state = trial.run()
    assert (state.status, ran) == ("suspended", ["work"])
    assert trial.build().resume_sync(state, "allow").output == "done"
    assert ran == ["work"]


# -- hooks that are not the engine's -----------------------------------------------------------------------------------


class Terse:
    """An interceptor that decides without a word."""

    def __init__(self, event: str) -> None:
        self.event = event

    def listens(self, event: str) -> bool:
        return event == self.event

    async def dispatch(self, ctx: HookContext) -> HookOutcome:
        return HookOutcome.deny() if not ctx.was_blocked else HookOutcome()


@pytest.mark.parametrize(("event", "blocked"), [("before_tool_use", True), ("after_tool_use", False)])
def test_a_call_blocked_or_withheld_without_a_reason_is_not_a_failed_one(event, blocked):
    driver = ScriptedDriver(call(), "done")
    state = AgentRuntime(driver, tools=[echo], hooks=Terse(event)).run_sync("go")
    (execution,) = executions(state)
    assert (execution.was_blocked, state.steps[0].errors, state.status) == (blocked, (), "completed")
    assert "echo: a" not in str(state)


def test_an_audit_can_record_every_call_and_whether_it_was_blocked():
    trail: list[tuple[str, bool]] = []
    recorder = Recorder()
    recorder.execute = lambda ctx: trail.append((ctx.tool_name, ctx.was_blocked))  # type: ignore[method-assign]
    trial = Trial([call(), call("boom")], "done")
    trial.on("before_tool_use", HookOutcome.deny("no"), match="echo")
    trial.builder = trial.builder.after_tool_use(recorder)
    trial.run()
    assert trail == [("echo", True), ("boom", False)]


def test_a_result_that_is_refused_when_the_run_is_stopped_is_withheld_and_says_so(parallel):
    """No limit was reached: nothing is made again because the run ends."""
    trial = trial_of(parallel, [call("boom")], "done")
    trial.on("on_tool_error", STOP)
    trial.on("after_tool_use", HookOutcome.retry("Again."))
    state = trial.run()
    assert results(state) == ["Result withheld: Not made again: the run was stopped. Again."]


def test_ids_that_the_loop_gives_are_not_given_again_in_the_next_run():
    trial = Trial(call(), "one", call(), "two")
    state = trial.run("again", trial.run("go"))
    ids = [one.id for message in state.messages for one in message.tool_calls]
    assert ids == ["call_1_0_0", "call_2_0_0"]


def test_a_call_that_was_made_is_not_said_to_be_not_run_when_another_one_stops_its_retry():
    trial = trial_of(True, [call(text="a"), call(text="b")], "done")
    trial.on("after_tool_use", HookOutcome.retry("again"), when=lambda ctx: ctx.tool_args["text"] == "a")
    trial.on("before_tool_use", STOP, when=lambda ctx: ctx.tool_args["text"] == "b")
    assert results(trial.run())[0] == "Result withheld: Not made again: the run was stopped. again"


def test_an_error_that_no_hook_has_judged_is_not_told_when_parallel_tools_are_cancelled():
    gate = Gate()

    @tool
    async def waits() -> None:
        await gate.wait()

    redact = {"on_tool_error": lambda ctx: HookOutcome.update(error_text="***")}
    agent = agent_of(True, boom, waits, calls=[call("boom", text="the secret"), call("waits")], hooks=redact)
    state = asyncio.run(cancelled_at(agent.iterate("go"), gate))
    assert "the secret" not in str([message.content for message in state.messages])


# -- started by a tool -------------------------------------------------------------------------------------------------

UNTRUST = [sys.executable, "-c", "import sys; from agent_hooks_core import main; sys.exit(main())", "untrust"]


@tool
def run_untrust() -> str:
    """Do something that only people may do."""
    done = subprocess.run(UNTRUST, capture_output=True, text=True, check=False, timeout=60)
    return f"{done.returncode} {done.stderr}"


@tool
async def run_untrust_later() -> str:
    """Do the same in a child of the event loop."""
    process = await asyncio.create_subprocess_exec(*UNTRUST, stderr=asyncio.subprocess.PIPE)
    _, errors = await process.communicate()
    return f"{process.returncode} {errors.decode()}"


@pytest.mark.parametrize("name", ["run_untrust", "run_untrust_later"])
def test_what_only_people_do_is_refused_to_the_programs_that_a_tool_starts(name: str):
    driver = ScriptedDriver(call(name), "done")
    agent = AgentRuntime(driver, tools=[run_untrust, run_untrust_later])
    state = agent.run_sync("go")
    (result,) = [message.content for message in state.messages if message.role == "tool"]
    assert "An agent of agent_hooks runs this command" in str(result)
    assert not str(result).startswith("0")
    refuse_agents(TrustError)  # this process is a person's again


def test_the_mark_stays_as_long_as_some_tool_runs_and_where_it_was_before(monkeypatch):
    with marked_as_agent(), marked_as_agent():
        pass
    refuse_agents(TrustError)
    with marked_as_agent():
        with marked_as_agent():
            pass
        with pytest.raises(TrustError):
            refuse_agents(TrustError)
    monkeypatch.setenv("AGENT_HOOKS_AGENT", "1")
    with marked_as_agent():
        pass
    with pytest.raises(TrustError):
        refuse_agents(TrustError)
