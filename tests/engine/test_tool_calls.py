"""Tool calls of a loop of one's own: ``Hooks.call_tool`` and ``call_tool_sync``."""

from __future__ import annotations

import asyncio
import gc
from typing import TYPE_CHECKING, Any

import pytest

from agent_hooks import AgentState, HookMisuseError, HookOutcome, StopRunError, SuspensionError, ToolCall, ToolUse
from agent_hooks.model.state import Message, StopReason, StopSignal
from agent_hooks.system.by_hand import AGENTS
from engine import Engine
from hook_sets import compare, error_of, register
from tables import tables

if TYPE_CHECKING:
    from collections.abc import Callable

    from agent_hooks import HookContext, Hooks

CASES = tables(__file__)["cases"]
CALL = ToolCall("Bash", {"command": "ls"}, id="c1")


class Loop:
    """A loop with one tool, which returns or raises the next of ``results``, the last one again and again."""

    def __init__(self, colour: str, *results: Any, **policy: Any) -> None:
        self.engine = Engine(colour).with_policy(**policy)
        self.results = [*results] or ["done"]
        self.made: list[dict[str, Any]] = []

    def tool(self, call: ToolCall) -> Any:
        """Run the tool: async in an async loop."""
        self.made.append(dict(call.args))
        result = self.results.pop(0) if len(self.results) > 1 else self.results[0]

        async def waiting() -> Any:
            await asyncio.sleep(0)
            return given()

        def given() -> Any:
            if isinstance(result, BaseException):
                raise result
            return result

        return given() if self.engine.colour == "plain" else waiting()

    def call(self, view: Hooks | None = None, **options: Any) -> ToolUse:
        hooks = view or self.engine.hooks
        if self.engine.colour == "plain":
            return hooks.call_tool_sync(CALL, self.tool, **options)
        return asyncio.run(hooks.call_tool(CALL, self.tool, **options))


@pytest.fixture(params=["plain", "async"])
def make(request: pytest.FixtureRequest) -> Callable[..., Loop]:
    """Return a maker of loops of one colour."""
    return lambda *results, **policy: Loop(request.param, *results, **policy)


@pytest.mark.parametrize("case", CASES)
def test_calls_of_a_tool_with_hooks(make, case):
    """Of a call and the answers to its questions; ``made`` are the commands that the tool was run with."""
    given = CASES[case]
    loop = make(*map(result_of, given.get("returns", ["done"])), **given.get("policy", {}))
    reasons = loop.engine.asks(given["ask"]) if "ask" in given else []
    loop.engine.ask = loop.engine.ask or "host"
    calls = {hook["name"]: register(loop.engine, [], "plain", **hook) for hook in given.get("hooks", ())}
    use = loop.call(session_id="s")
    known = set("returns policy ask hooks then resume made outcome none says calls first seen asked nowhere".split())
    for step in [given, *given.get("then", ())]:
        assert step.keys() <= known, step.keys() - known
        if "resume" in step:
            use = loop.call(session_id="s", resume=(use.token, step["resume"]))
        compare(step, use, calls)
        assert [call["command"] for call in loop.made] == step.get("made", ["ls"])
        assert reasons == step.get("asked", reasons)
        assert step.get("nowhere", "canary") not in str(use.as_dict())


def result_of(value: Any) -> Any:
    return error_of(value["raises"]) if isinstance(value, dict) and "raises" in value else value


def observer(loop: Loop, event: str = "after_tool_use") -> list[HookContext]:
    return loop.engine.says(f"sees {event}", event=event, mode="observe")


def test_a_large_result_is_kept_in_both_colours(make):
    rows = [{"row": number, "text": "x" * 20} for number in range(4000)]
    use = make(rows).call()
    assert (use.result, use.duration > 0) == (rows, True)


def test_a_sync_call_with_a_large_result_also_works_where_an_event_loop_runs():
    loop = Loop("plain", [{"row": number, "text": "x" * 20} for number in range(4000)])

    async def main() -> ToolUse:
        return loop.call()

    assert len(asyncio.run(main()).result) == 4000


def test_a_gate_that_is_late_is_closed(make):
    loop = make()
    loop.engine.waits("slow", timeout=0.01)
    use = loop.call()
    loop.engine.never.set()
    assert loop.made == []
    assert "no answer after 0.01 s" in use.reason


def test_a_refusal_holds_where_nobody_asks_any_more(make):
    loop = make()
    loop.engine.says("asker", HookOutcome.ask("Really?"))
    loop.engine.ask = "host"
    token = loop.call(loop.engine.hooks.at("/repo")).token
    loop.engine.manager.unregister(name="asker")
    assert loop.call(loop.engine.hooks.at("/repo"), resume=(token, "deny")).was_blocked
    assert loop.made == []


def test_questions_one_after_the_other_are_each_answered_once(make):
    loop = make()
    answers = [HookOutcome.suspend("first?"), None]
    loop.engine.says("asker", HookOutcome.ask("second?"))
    loop.engine.hook(name="suspender")(lambda ctx: answers[0])
    loop.engine.ask = "host"
    use = loop.call()
    assert use.reason == "first?"
    use = loop.call(resume=(use.token, "allow"))
    assert use.reason == "second?"
    assert loop.made == []
    assert loop.call(resume=(use.token, "allow")).text == "done"


def test_a_refused_question_has_a_reason_and_an_answer_to_one_brings_nothing(make):
    loop = make()
    loop.engine.says("asker", HookOutcome.ask("Really?"))
    loop.engine.ask = "host"
    token = loop.call().token
    with pytest.raises(SuspensionError, match="brings nothing"):
        loop.call(resume=(token, HookOutcome.with_args({"command": "rm"})))
    assert loop.call(resume=(token, "deny")).text == "Denied: Really? (Refused.)"
    assert loop.made == []


def test_a_suspended_call_is_resumed_once_and_for_this_call_only(make):
    loop = make()
    loop.engine.says("pause", HookOutcome.suspend("wait for it"))
    use = loop.call(session_id="s")
    assert (use.was_blocked, use.reason, loop.made) == (True, "wait for it", [])
    with pytest.raises(SuspensionError, match="another operation"):
        loop.call(resume=(use.token, "allow"), session_id="other")
    assert loop.call(resume=(use.token, "allow"), session_id="s").text == "done"
    with pytest.raises(SuspensionError, match="already resumed"):
        loop.call(resume=(use.token, "allow"), session_id="s")
    assert len(loop.made) == 1


def test_an_error_that_stands_comes_with_its_exception(make):
    error = ValueError("no fuel")
    use = make(error).call()
    assert (use.text, use.exception, use.error.type) == ("Error: no fuel", error, "ValueError")
    assert "exception" not in use.as_dict()


def test_a_retry_may_be_denied(make):
    loop = make()
    loop.engine.hook()(lambda ctx: HookOutcome.deny("once is enough") if loop.made else None)
    loop.engine.says("again", HookOutcome.retry(), event="after_tool_use")
    use = loop.call()
    assert len(loop.made) == 1
    assert use.text == "Denied: once is enough\n\nThe call was made before, and its result was refused."


def test_signals_messages_context_and_state_of_all_its_hooks_come_with_the_result(make):
    loop = make()
    signal = StopSignal(reason=StopReason("time_limit"), message="late")
    state = AgentState(metadata={"calls": 1})
    hint = Message(role="user", content="hint")
    loop.engine.says("before", HookOutcome(signal=signal, context="before it", state=state))
    after = loop.engine.says("after", HookOutcome(messages=(hint,), context="after it"), event="after_tool_use")
    use = loop.call(state=AgentState())
    assert use.text == "done\n\nbefore it\n\nafter it"
    assert (use.messages, use.signals, use.stop_signal, use.state) == ((hint,), (signal,), signal, state)
    assert after[0].state == state
    assert ToolUse.from_dict(use.as_dict()) == use.replace(returned=None)


def test_a_tool_may_stop_the_run_and_is_not_retried_then(make):
    loop = make(StopRunError("all done"))
    loop.engine.says("again", HookOutcome.retry(), event="on_tool_error")
    use = loop.call()
    assert len(loop.made) == 1
    assert (use.stop_signal.message, use.stop_signal.source) == ("all done", "Bash")


def test_errors_with_which_a_framework_interrupts_a_run_pass(make):
    loop = make(LookupError("interrupted"))
    told = loop.engine.says("told", event="on_tool_error")
    with pytest.raises(LookupError, match="interrupted"):
        loop.call(passed=(LookupError,))
    assert told == []


def test_fields_reach_every_hook_and_an_unknown_one_is_an_error(make):
    loop = make()
    seen = [*(observer(loop, event) for event in ("before_tool_use", "after_tool_use"))]
    loop.call(view=loop.engine.hooks.at("/repo"), session_id="s", agent_name="a", step_index=3)
    for [ctx] in seen:
        assert (ctx.session_id, ctx.agent_name, ctx.step_index, ctx.cwd) == ("s", "a", 3, "/repo")
    with pytest.raises(TypeError, match="no field sesion_id"):
        loop.call(sesion_id="s")
    assert len(loop.made) == 1


def test_a_call_that_is_none_is_refused(make):
    loop = make()
    with pytest.raises(TypeError, match="give ToolCall"):
        loop.engine.hooks.call_tool_sync({"name": "Bash"}, loop.tool)
    assert loop.made == []


def test_programs_that_the_tool_starts_are_marked_as_an_agents(monkeypatch):
    mark = next(iter(AGENTS))
    monkeypatch.delenv(mark, raising=False)
    import os

    use = Engine("plain").hooks.call_tool_sync(CALL, lambda call: os.environ.get(mark))
    assert (use.result, os.environ.get(mark)) == ("1", None)


def test_an_async_tool_in_a_sync_call_is_an_error_of_the_loop():
    loop = Loop("plain")

    async def tool(call: ToolCall) -> None:
        raise AssertionError

    with pytest.raises(HookMisuseError, match=r"await hooks\.call_tool"):
        loop.engine.hooks.call_tool_sync(CALL, tool)
    gc.collect()  # a coroutine that was never awaited warns


def test_a_cancelled_call_is_cancelled_and_no_hook_is_asked_about_it():
    loop = Loop("async")
    told = [*(loop.engine.says(event, event=event) for event in ("on_tool_error", "after_tool_use"))]
    begun = asyncio.Event()

    async def tool(call: ToolCall) -> None:
        begun.set()
        await asyncio.Event().wait()

    async def cancel() -> None:
        task = asyncio.create_task(loop.engine.hooks.call_tool(CALL, tool))
        await begun.wait()
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()

    asyncio.run(cancel())
    assert told == [[], []]
