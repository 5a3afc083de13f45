"""A run in a loop that is not ours: its requests, its tool calls, its prompt and its answer."""

from __future__ import annotations

import asyncio
import sys
import threading
from typing import Any

import pytest

from agent_hooks import (
    HookManager,
    HookMisuseError,
    HookOutcome,
    HookRegistration,
    Message,
    ModelRequest,
    ModelResponse,
    PromptRefusedError,
    RunStoppedError,
    StopReason,
    StopSignal,
    ToolCall,
)
from agent_hooks.engine import portal
from agent_hooks.engine.calling import drive
from agent_hooks.engine.guarded_run import GuardedRun, current_run
from agent_hooks.engine.lifecycle import MAX_DEPTH
from engine import managed

pytestmark = pytest.mark.interpreter

LS = ToolCall("Bash", {"command": "ls"}, id="c1")
REQUEST = ModelRequest(model="m", messages=(Message(role="user", content="hello"),))


def call_model(manager: HookManager, run: Any, *, sync: bool, **fields: Any) -> Any:
    hooks = manager.hooks(ask="host")
    if sync:
        return hooks.call_model_sync(REQUEST, run, **fields)
    return asyncio.run(hooks.call_model(REQUEST, run, **fields))


both = pytest.mark.parametrize("sync", [False, True])


@both
def test_a_request_is_changed_and_its_response_is_judged(sync: bool):
    manager = managed(
        ("before_inference", lambda request: HookOutcome.update(request=request.replace(system_prompt="Be brief."))),
        ("before_inference", lambda ctx: HookOutcome.update(context="It is Tuesday.")),
        ("after_inference", lambda response: HookOutcome.update(response=response.replace(content="hi!"))),
    )
    sent: list[ModelRequest] = []

    def model(request: ModelRequest) -> str:
        sent.append(request)
        return "hi"

    use = call_model(manager, model, sync=sync)
    assert use.response == ModelResponse(content="hi!", finish_reason="stop")
    assert sent[0].system_prompt == "Be brief."
    assert [message.content for message in sent[0].messages] == ["hello", "It is Tuesday."]
    assert [message.content for message in use.messages] == ["It is Tuesday."]


@both
@pytest.mark.parametrize("event", ["before_inference", "after_inference"])
def test_a_refused_request_or_response_leaves_none(event: str, sync: bool):
    use = call_model(managed((event, lambda ctx: HookOutcome.deny("no"))), lambda request: "hi", sync=sync)
    assert (use.response, use.reason) == (None, "no")
    assert use.stop_signal is not None


@both
def test_a_response_is_asked_for_again_until_the_limit(sync: bool):
    asked: list[ModelRequest] = []

    def model(request: ModelRequest) -> str:
        asked.append(request)
        return "no"

    manager = managed(("after_inference", lambda ctx: HookOutcome.retry("be polite")), max_retries=2)
    use = call_model(manager, model, sync=sync)
    assert (use.response, use.finish_reason, len(asked)) == (None, "retry_limit", 3)
    assert [m.content for m in asked[-1].messages] == ["hello", "be polite", "be polite"]


@both
def test_a_request_that_is_sent_again_has_the_context_of_its_hooks_once(sync: bool):
    asked: list[ModelRequest] = []

    def model(request: ModelRequest) -> str:
        asked.append(request)
        return "no" if len(asked) == 1 else "yes"

    manager = managed(
        ("before_inference", lambda ctx: HookOutcome.update(context="It is Tuesday.")),
        ("after_inference", lambda response: HookOutcome.retry("be polite") if response.content == "no" else None),
    )
    use = call_model(manager, model, sync=sync)
    assert [[m.content for m in each.messages] for each in asked] == [
        ["hello", "It is Tuesday."],
        ["hello", "It is Tuesday.", "be polite"],
    ]
    assert [message.content for message in use.messages] == ["It is Tuesday."]


@both
def test_an_error_of_the_model_is_retried_or_raised(sync: bool):
    errors = [ConnectionError("no line")]

    def model(request: ModelRequest) -> str:
        if errors:
            raise errors.pop()
        return "hi"

    assert call_model(managed(("on_error", lambda ctx: HookOutcome.retry())), model, sync=sync).response.content == "hi"
    errors.append(ConnectionError("no line"))
    with pytest.raises(ConnectionError):
        call_model(managed(("on_error", lambda ctx: None)), model, sync=sync)


@both
def test_a_question_about_a_request_waits_for_its_answer(sync: bool):
    manager = managed(("before_inference", lambda ctx: HookOutcome.ask("send it?")))
    use = call_model(manager, lambda request: "hi", sync=sync, session_id="s1")
    assert (use.response, use.reason, bool(use.token)) == (None, "send it?", True)
    use = call_model(manager, lambda request: "hi", sync=sync, session_id="s1", resume=(use.token, "allow"))
    assert use.response.content == "hi"


def turn(manager: HookManager, loop: Any, prompt: str = "Go.", **fields: Any) -> Any:
    return asyncio.run(manager.hooks().run_turn(prompt, loop, **fields))


def test_a_turn_has_its_events_in_order():
    heard: list[str] = []
    events = (
        "user_input before_turn before_execution should_continue before_step before_inference after_inference "
        "before_tool_use after_tool_use after_step should_continue on_stop before_output after_execution after_turn"
    ).split()
    manager = managed(*((event, lambda ctx: heard.append(str(ctx.event))) for event in dict.fromkeys(events)))

    async def loop(run: GuardedRun, prompt: str) -> str:
        await run.model(REQUEST, lambda request: "hi")
        await run.tool(LS, lambda call: "a file")
        return "done"

    ending = turn(manager, loop)
    assert (ending.output, ending.again, ending.stop_signal) == ("done", None, None)
    assert heard == events


def test_a_prompt_that_hooks_refuse_starts_nothing():
    with pytest.raises(PromptRefusedError, match="no"):
        turn(managed(("user_input", lambda ctx: HookOutcome.deny("no"))), lambda run, prompt: "done")


def test_a_question_about_a_prompt_that_nobody_answers_refuses_it():
    run = GuardedRun(managed(("user_input", lambda ctx: HookOutcome.ask("may I?"))).hooks(ask="host"))
    with pytest.raises(PromptRefusedError, match="Nobody can answer here: may I"):
        asyncio.run(run.start("Go."))


def test_a_stopped_run_makes_no_further_call_and_no_request():
    made: list[str] = []
    manager = managed(("before_tool_use", lambda ctx: HookOutcome.stop("enough")))

    async def loop(run: GuardedRun, prompt: str) -> str:
        for _ in range(2):
            use = await run.tool(LS, lambda call: made.append("ls"))
            assert use.was_blocked
        await run.model(REQUEST, lambda request: made.append("asked"))
        return "never"

    ending = turn(manager, loop)
    assert (made, ending.output) == ([], None)
    assert ending.stop_signal.message == "enough"


def test_a_call_behind_one_that_stopped_the_run_is_not_made_whatever_hooks_say_of_it():
    run = GuardedRun(managed(("after_tool_use", lambda ctx: HookOutcome.stop("enough"))).hooks())
    made: list[str] = []
    for name in ("first", "second"):
        drive(run.tool(ToolCall(name, {}), lambda call: made.append(call.name)))
    assert made == ["first"]


def test_messages_of_a_hook_on_a_call_are_in_the_next_request_once():
    told = HookOutcome.update(messages=(Message(role="user", content="Mind the gap."),))
    run = GuardedRun(managed(("after_tool_use", lambda ctx: told)).hooks())
    sent: list[list[str]] = []

    def model(request: ModelRequest) -> str:
        sent.append([message.content for message in request.messages])
        return "hi"

    drive(run.tool(LS, lambda call: "a.txt"))
    drive(run.model(REQUEST, model))
    drive(run.model(REQUEST, model))
    assert sent == [["hello", "Mind the gap."], ["hello"]]


def test_a_signal_before_a_step_stops_the_run():
    manager = managed(
        ("before_step", lambda ctx: HookOutcome.signal(StopSignal(reason=StopReason.STEPS_LIMIT, message="0 steps")))
    )

    async def loop(run: GuardedRun, prompt: str) -> str:
        with pytest.raises(RunStoppedError, match="0 steps"):
            await run.model(REQUEST, lambda request: "hi")
        assert run.stop_signal is not None
        raise RunStoppedError(run.stop_signal)

    assert turn(manager, loop).output is None


def test_a_forced_round_gets_the_reason_as_its_prompt_at_most_so_often():
    prompts: list[str] = []
    manager = managed(("on_stop", lambda ctx: HookOutcome.force_continue("again")), max_forced_continuations=2)

    def loop(run: GuardedRun, prompt: str) -> str:
        prompts.append(prompt)
        return "done"

    ending = turn(manager, loop)
    assert (prompts, ending.output) == (["Go.", "again", "again"], "done")


def test_a_limit_is_not_overridden_by_a_request_to_continue():
    manager = managed(
        (
            "before_tool_use",
            lambda ctx: HookOutcome.signal(StopSignal(reason=StopReason.TOKEN_LIMIT, message="enough")),
        ),
        ("on_stop", lambda ctx: HookOutcome.force_continue("again")),
    )
    rounds: list[str] = []

    async def loop(run: GuardedRun, prompt: str) -> str:
        rounds.append(prompt)
        await run.tool(LS, lambda call: "")
        return "done"

    assert turn(manager, loop).stop_signal.message == "enough"
    assert rounds == ["Go."]


def test_an_answer_is_withheld_with_the_reason():
    ending = turn(managed(("before_output", lambda ctx: HookOutcome.deny("a secret"))), lambda run, prompt: "s3cret")
    assert (ending.output, ending.reason) == (None, "a secret")


def test_an_error_of_the_loop_is_told_and_may_be_tried_again():
    errors, ended = [OSError("gone")], []
    manager = managed(
        ("on_error", lambda error: HookOutcome.retry()), ("after_execution", lambda ctx: ended.append(ctx.status))
    )

    def loop(run: GuardedRun, prompt: str) -> str:
        if errors:
            raise errors.pop()
        return "done"

    assert turn(manager, loop).output == "done"
    errors += [OSError("gone")] * 5
    with pytest.raises(OSError, match="gone"):
        turn(manager, loop)
    assert (ended, len(errors)) == (["completed", "failed"], 2)  # by default, it is tried again twice


def test_an_answer_holds_for_the_call_it_was_about_and_no_other():
    manager = managed(("before_tool_use", lambda ctx: HookOutcome.ask("really?")))
    run = GuardedRun(manager.hooks(ask="host"))
    made: list[Any] = []
    for args, answer, waits in (
        ({"command": "ls"}, None, True),
        ({"command": "rm -rf /"}, True, True),
        ({"command": "ls"}, True, False),
        ({"command": "ls"}, None, True),
    ):
        call = ToolCall("Bash", args, id="c1")
        about = {"command": "ls"}
        use = asyncio.run(run.tool(call, lambda call: made.append(call.args["command"]), answer=answer, about=about))
        assert bool(use.token) is waits
    assert made == ["ls"]


def test_the_run_is_the_current_one_while_its_tool_runs():
    run = GuardedRun(managed().hooks())
    use = asyncio.run(run.tool(LS, lambda call: current_run() is run))
    assert use.returned is True
    assert current_run() is None


def test_a_sync_call_asks_async_hooks_in_one_thread():
    threads: list[threading.Thread] = []

    async def hook(ctx: Any) -> HookOutcome:
        await asyncio.sleep(0)
        threads.append(threading.current_thread())
        return HookOutcome.deny("no")

    hooks = managed(("before_tool_use", hook)).hooks()
    for _ in range(2):
        assert hooks.call_tool_sync(LS, lambda call: "").reason == "no"
    assert len(set(threads)) == 1
    assert threads[0] is not threading.current_thread()


def test_a_sync_call_inside_of_an_async_hook_of_one_is_a_clear_error():
    seen: list[str] = []

    async def inner(ctx: Any) -> None:
        await asyncio.sleep(0)

    hooks = managed(("before_tool_use", inner)).hooks()

    async def outer() -> None:
        with pytest.raises(HookMisuseError, match="make it async"):
            hooks.call_tool_sync(LS, lambda call: "")
        seen.append("raised")

    portal.call_in_portal(outer)
    assert seen == ["raised"]


# -- places and answers ------------------------------------------------------------------------------------------------


def test_an_approval_in_one_conversation_does_not_open_another():
    def gate(ctx: Any) -> HookOutcome:
        return HookOutcome.ask("really?") if ctx.session_id == "a" else HookOutcome.deny("not in b")

    manager = managed(("before_tool_use", gate))
    made: list[str] = []
    for session, answer in (("a", None), ("b", True)):
        run = GuardedRun(manager.hooks(ask="host"), session_id=session)
        use = asyncio.run(run.tool(LS, lambda call: made.append("ls"), answer=answer))
    assert (made, use.reason) == ([], "not in b")


def test_a_suspension_is_not_answered_by_a_person_who_was_asked_something_else():
    manager = managed(("before_tool_use", lambda ctx: HookOutcome.suspend("a ticket of the CISO")))
    run = GuardedRun(manager.hooks(ask="host"))
    made: list[str] = []
    for question, expected in (("may I?", []), ("a ticket of the CISO", ["ls"])):
        manager.suspended.clear()  # as in another process
        use = asyncio.run(run.tool(LS, lambda call: made.append("ls"), answer=True, question=question))
        assert (made, bool(use.token)) == (expected, not expected)


def test_parallel_calls_see_the_state_that_others_left():
    def budget(state: Any) -> HookOutcome:
        spent = state.metadata.get("calls", 0)
        return (
            HookOutcome.deny("spent")
            if spent >= 2
            else HookOutcome.update(state=state.with_metadata("calls", spent + 1))
        )

    run = GuardedRun(managed(("before_tool_use", budget)).hooks())

    async def slow(call: ToolCall) -> None:
        await asyncio.sleep(0)

    async def all_at_once() -> list[Any]:
        return await asyncio.gather(*(run.tool(LS.replace(id=f"c{n}"), slow) for n in range(5)))

    uses = asyncio.run(all_at_once())
    assert [use.was_blocked for use in uses] == [False, False, True, True, True]
    assert run.state.metadata["calls"] == 2


def test_a_run_inside_the_tool_of_a_single_call_is_under_its_hooks():
    def gate(ctx: Any) -> HookOutcome | None:
        return HookOutcome.deny(f"at depth {ctx.depth}") if ctx.depth else None

    hooks, inner, reasons = managed(("before_tool_use", gate)).hooks(), managed().hooks(), []

    async def start(call: ToolCall) -> None:
        async def loop(turn: GuardedRun, prompt: str) -> str:
            reasons.append((await turn.tool(LS, lambda call: "")).reason)
            assert turn.fields["session_id"] == "s1"
            return "done"

        await inner.run_turn("Go.", loop)

    asyncio.run(hooks.call_tool(LS, start, session_id="s1"))
    assert reasons == ["at depth 1"]


def test_agents_do_not_start_agents_without_end():
    hooks = managed().hooks()
    depths: list[int] = []

    async def loop(turn: GuardedRun, prompt: str) -> str:
        depths.append(turn.depth)
        use = await turn.tool(LS, lambda call: hooks.run_turn("Go.", loop))
        return str(use.error and use.error.message)

    asyncio.run(hooks.run_turn("Go.", loop))
    assert depths == list(range(MAX_DEPTH + 1))


def test_an_error_of_the_model_is_told_once():
    told: list[str] = []
    manager = managed(("on_error", lambda error: told.append(str(error))))

    def model(request: ModelRequest) -> str:
        raise ConnectionError("no line")

    async def loop(turn: GuardedRun, prompt: str) -> str:
        await turn.model(REQUEST, model)
        return "never"

    with pytest.raises(ConnectionError):
        asyncio.run(manager.hooks().run_turn("Go.", loop))
    assert told == ["no line"]


def test_no_signal_of_parallel_calls_in_threads_is_lost():
    run = GuardedRun(managed().hooks(), sync=True)
    signals = [StopSignal(reason=StopReason.COMPLETED, message=str(number)) for number in range(400)]

    def stop(some: list[StopSignal]) -> None:
        for each in some:
            run.stop(each)

    threads = [threading.Thread(target=stop, args=(signals[start::4],)) for start in range(4)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert len(run.state.stop_signals) == len(signals)


@both
def test_a_child_asks_async_hooks_of_a_parent_of_the_other_sort(sync: bool):
    heard: list[str] = []

    async def hook(ctx: Any) -> None:
        await asyncio.sleep(0)
        heard.append(str(ctx.event))

    hooks = managed(("before_subagent", hook), ("after_subagent", hook)).hooks()
    child = GuardedRun(hooks, parent=GuardedRun(hooks, sync=not sync), sync=sync)

    async def run() -> None:
        await child.start("tidy")
        await child.end("tidied")

    drive(run()) if sync else asyncio.run(run())
    assert heard == ["before_subagent", "after_subagent"]


def test_a_step_has_the_calls_that_were_made_in_it():
    steps: list[Any] = []
    manager = managed(("after_step", lambda step: steps.append([each.name for each in step.executions])))

    async def loop(run: GuardedRun, prompt: Any) -> str:
        await run.tool(LS, lambda call: "")
        await run.model(REQUEST, lambda request: "hi")
        await run.tool(LS, lambda call: "")
        await run.tool(LS, lambda call: "")
        return "done"

    turn(manager, loop)
    assert steps == [["Bash"], ["Bash", "Bash"]]


def test_a_run_ends_after_its_hooks_in_the_background():
    heard: list[str] = []
    manager = managed()

    async def late(ctx: Any) -> None:
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        heard.append("late")

    manager.add(HookRegistration("after_execution", late, mode="observe", background=True))
    turn(manager, lambda run, prompt: "done")
    assert heard == ["late"]


def test_context_of_an_error_is_in_the_request_that_is_sent_again():
    errors, asked = [ConnectionError("no line")], list[ModelRequest]()

    def model(request: ModelRequest) -> str:
        asked.append(request)
        if errors:
            raise errors.pop()
        return "hi"

    async def loop(run: GuardedRun, prompt: str) -> str:
        await run.model(REQUEST, model)
        return "done"

    turn(managed(("on_error", lambda ctx: HookOutcome.retry().replace(context="The line was down."))), loop)
    assert [message.content for message in asked[1].messages] == ["hello", "The line was down."]
