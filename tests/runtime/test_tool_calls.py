"""Tool calls: their results for the model and on record, the hooks that are asked, and their arguments."""

from __future__ import annotations

import functools
import json
import operator
from typing import TYPE_CHECKING, Any

import pytest

from agent_hooks import HookContext, HookOutcome
from agent_hooks.model.snapshot import Snapshot
from agent_hooks.model.tool_call import ErrorInfo, ToolExecution
from agent_hooks.runtime.agent import AgentRuntime
from agent_hooks.runtime.driver import ScriptedDriver
from agent_hooks.runtime.python_tools import tool
from runtime.agents import Trial, call, echo, executions, results, signal_of, stop_signal, trial_of

if TYPE_CHECKING:
    from collections.abc import Mapping


NO = HookOutcome.deny("no")
# -- texts for the model -----------------------------------------------------------------------------------------------


def test_wrong_arguments_also_rewritten_ones_are_a_failed_call_and_the_tool_is_not_run():
    ran: list[str] = []

    @tool
    def work(text: str, times: int) -> None:
        ran.append(text)

    calls = [call("work", other=1), call("work", text="a", times="many"), call("work", text="b", times=1)]
    trial = Trial(calls, "done", tools=[work])
    changes = HookOutcome.with_args({"text": ["not", "text"], "times": 1})
    trial.on("before_tool_use", changes, when=lambda ctx: ctx.tool_args.get("text") == "b")
    state = trial.run()
    missing, wrong, rewritten = results(state)
    assert missing.startswith("Error: Missing required parameters: text, times")
    assert wrong.startswith("Error: times: ")
    assert rewritten.startswith("Error: text: ")
    assert (ran, state.status, trial.events.count("on_tool_error")) == ([], "failed", 3)


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
    state = Trial(call("work"), "done", tools=[tool(lambda: result, name="work")]).run()
    assert results(state)[0] in (text, f'"{text}"')
    assert state.status == "completed"


class Counting(dict[str, Any]):
    walks = 0

    def items(self) -> Any:
        type(self).walks += 1
        return super().items()

    keys = values = __iter__ = None  # type: ignore[assignment]  # no other way through it


def test_a_result_is_walked_once_before_the_next_request():
    state = Trial(call("work"), "done", tools=[tool(lambda: Counting(a=[1]), name="work")]).run()
    assert (Counting.walks, results(state)) == (1, ['{"a":[1]}'])


def test_a_large_result_is_opened_for_the_hooks_that_read_it_only(monkeypatch):
    rows = [{"id": number, "pair": (number, None)} for number in range(10_000)]
    opened: list[Snapshot] = []
    whole = Snapshot.whole

    def counted(self):
        opened.append(self)
        return whole(self)

    monkeypatch.setattr(Snapshot, "whole", counted)
    state = Trial(call("work"), "done", tools=[tool(lambda: rows, name="work")]).run()
    assert [json.loads(text) for text in results(state)] == [json.loads(json.dumps(rows))]
    assert opened == []
    assert executions(state)[0].result == rows
    assert len(opened) == 1


def test_a_result_that_can_be_read_only_once_is_a_failed_call(parallel):
    """Whoever reads it first would leave nothing for the model."""

    async def numbers() -> Any:
        yield 1

    def work_async() -> Any:
        return numbers()

    tools = [tool(lambda: iter([1, 2]), name="work"), tool(work_async)]
    state = trial_of(parallel, [call("work"), call("work_async")], "done", tools=tools).run()
    assert all(text.startswith("Error: ") and "list" in text for text in results(state))
    assert state.status == "failed"


# -- which hooks are asked ---------------------------------------------------------------------------------------------


def test_hooks_are_asked_once_for_each_call_in_order(parallel):
    trial = trial_of(parallel, [call(id="1"), call("boom", id="2"), call(id="3")], "done")
    trial.run()
    before, after = ["before 1", "before 2", "before 3"], [["after 1"], ["on 2", "after 2"], ["after 3"]]
    in_turn = [one for event, others in zip(before, after, strict=True) for one in (event, *others)]
    asked = [f"{str(ctx.event).split('_')[0]} {ctx.tool_call.id}" for ctx in trial.recorder.seen if ctx.tool_call]
    assert asked == ([*before, *functools.reduce(operator.iadd, after, [])] if parallel else in_turn)


def test_hooks_after_a_call_are_told_its_result_or_its_error(parallel):
    error = KeyError("k")

    def fails() -> None:
        raise error

    trial = trial_of(parallel, [call(), call("fails")], "done", tools=[echo, tool(fails)])
    trial.run()
    made, failed = trial.seen("after_tool_use")
    assert (made.result, made.error, made.was_blocked) == ("echo: a", None, False)
    assert (made.tool_execution.result, made.tool_execution.name) == ("echo: a", "echo")
    assert made.tool_execution.duration >= 0
    info = ErrorInfo(type="KeyError", message="KeyError: 'k'")
    assert (failed.result, failed.error) == (None, info)
    (ctx,) = trial.seen("on_tool_error")
    assert (ctx.error, ctx.error_text, ctx.tool_execution.error) == (error, "KeyError: 'k'", info)


def test_calls_without_an_id_get_one_that_ties_them_to_their_results_also_in_the_next_run():
    trial = Trial([call(), call(id="given"), call()], call(), "done", call(), "again")
    state = trial.run("go on", trial.run())
    ids = [[one.id for one in message.tool_calls] for message in state.messages if message.tool_calls]
    assert ids == [["call_1_0_0", "given", "call_1_0_2"], ["call_1_1_0"], ["call_2_0_0"]]
    flat = [one for each in ids for one in each]
    assert [message.tool_call_id for message in state.messages if message.role == "tool"] == flat
    assert [ctx.tool_call.id for ctx in trial.seen("before_tool_use")] == flat


def test_a_blocked_call_is_shown_to_observers_only_and_those_after_it_are_made(parallel):
    trial = trial_of(parallel, [call(id="1"), call(id="2")], "done")
    trial.on("before_tool_use", NO, when=lambda ctx: ctx.tool_call.id == "1")
    decides = trial.on("after_tool_use", HookOutcome.proceed(result="changed"))
    gate = trial.on("after_tool_use", mode="gate")
    state = trial.run()
    assert [ctx.tool_call.id for ctx in (*decides.calls, *gate.calls)] == ["2", "2"]
    seen = {ctx.tool_call.id: ctx for ctx in trial.seen("after_tool_use")}
    assert (seen["1"].was_blocked, seen["1"].is_tool_execution_blocked, seen["2"].was_blocked) == (True, True, False)
    execution = executions(state)[0]
    assert seen["1"].tool_execution == execution == ToolExecution.denied(execution.call, "no")
    assert (results(state), state.status) == (["Denied: no", "changed"], "completed")


def test_state_changes_and_signals_of_tool_hooks_persist(parallel):
    def notes(ctx: Any) -> HookOutcome:
        seen = (*ctx.state.metadata.get("seen", ()), f"{ctx.event} {ctx.tool_call.id}")
        return HookOutcome.with_state(ctx.state.with_metadata("seen", seen))

    trial = trial_of(parallel, [call(id="1"), call("boom", id="2")], "done")
    trial.on("before_tool_use", NO, when=lambda ctx: ctx.tool_call.id == "1")
    for event in ("before_tool_use", "on_tool_error", "after_tool_use"):
        trial.on(event, notes, priority=1)
    trial.on("after_tool_use", HookOutcome.signal(stop_signal("time_limit")))
    state = trial.run()
    assert list(state.metadata["seen"]) == [
        *("before_tool_use 1", "before_tool_use 2"),
        *("on_tool_error 2", "after_tool_use 2"),
    ]
    assert (len(trial.requests), signal_of(state).reason) == (1, "time_limit")


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
    for given in keeps.given:
        assert (type(given), type(given["list"]), type(given["list"][0])) == (dict, list, dict)
        assert given["list"][1] == expected
    assert (args, mine) == ({"list": [{"deep": 1}, "models"]}, {"list": [{"deep": 1}, "mine"]})
    assert "spoilt" not in str(state) + str([ctx.as_dict() for ctx in trial.recorder.seen])
    assert [execution.call.args["list"][1] for execution in executions(state)] == [expected] * 2
    assert state.messages[1].tool_calls[0].args["list"][1] == "models"


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
    state = AgentRuntime(ScriptedDriver(call(), "done"), tools=[echo], hooks=Terse(event)).run_sync("go")
    (execution,) = executions(state)
    assert (execution.was_blocked, state.steps[0].errors, state.status) == (blocked, (), "completed")
    assert "echo: a" not in str(state)
