"""A prompt hook in code: what a model's answer decides, and that no answer is a failure."""

from __future__ import annotations

import asyncio
import json
import time

import pytest
from judging import NO, YES, Judge, call, data_in, decided, hook, manager_of

from agent_hooks import (
    AgentBuilder,
    AgentState,
    HookContext,
    HookOutcome,
    HookRegistration,
    Message,
    ModelResponse,
    RegistrationError,
    ScriptedDriver,
    ToolCall,
    Usage,
    hookimpl,
)
from agent_hooks.errors import DriverError, StopRunError
from agent_hooks_prompts import PromptHook

# -- what is asked -----------------------------------------------------------------------------------------------------


def test_the_judge_gets_its_task_the_rule_and_the_event():
    judge = Judge(lambda request: YES)
    decided(PromptHook("Is $ARGUMENTS harmless?", driver=judge), call("ls /tmp", cwd="/repo"))
    (request,) = judge.requests
    inside, outside = data_in(request)
    event = json.loads(inside)
    assert (event["tool_name"], event["tool_input"]["command"], event["cwd"]) == ("Bash", "ls /tmp", "/repo")
    assert "Is [the event below] harmless?" in outside
    assert (request.model, request.tools) == ("judge-1", ())
    assert request.response_format["required"] == ["ok", "reason"]


def test_each_question_has_marks_of_its_own():
    judge = Judge(lambda request: YES)
    action = PromptHook("Fine?", driver=judge)
    decided(action)
    decided(action)
    assert len({request.system_prompt for request in judge.requests}) == 2


# -- what it decides ---------------------------------------------------------------------------------------------------


def test_a_yes_is_no_opinion():
    assert decided(hook(YES)) == HookOutcome()


def test_a_no_denies_with_the_judge_s_reason():
    outcome = decided(hook(NO))
    assert (outcome.decision, outcome.reason, outcome.failed) == ("deny", "not so", False)


def test_an_answer_may_be_data_as_well_as_text():
    assert decided(hook(ModelResponse(content={"ok": False, "reason": "no"}))).reason == "no"


def test_only_at_a_stop_is_the_judge_told_of_the_impossible():
    judge = Judge(lambda request: YES)
    action = PromptHook("Are all tests green?", driver=judge)
    decided(action, HookContext("on_stop"))
    decided(action)
    assert ["impossible" in request.system_prompt for request in judge.requests] == [True, False]
    assert ["impossible" in request.response_format["properties"] for request in judge.requests] == [True, False]


def test_it_is_a_gate_so_it_cannot_change_anything():
    assert HookRegistration("before_tool_use", hook(YES)).mode == "gate"


# -- failure -----------------------------------------------------------------------------------------------------------


async def never(*_):
    await asyncio.Event().wait()


def raising(error):
    def raises(request):
        raise error

    return raises


FAILURES = {
    "no JSON": ("Sure, that is fine!", "is not JSON"),
    "words before a fence": ('Sure! ```json\n{"ok": true}\n```', "is not JSON"),
    "no verdict": ('{"allow": true}', "ok: Field required"),
    "nothing": (ModelResponse(), "no JSON object but a NoneType"),
    "a tool call": (ToolCall("Bash", {"command": "ls"}), "wanted to call tools"),
    "a yes with a tool call": (ModelResponse(content=YES, tool_calls=(ToolCall("x"),)), "wanted to call tools"),
    "refused": (ModelResponse(content=YES, finish_reason="content_filter"), "provider refused to answer"),
    "cut off": (ModelResponse(content=YES, finish_reason="length"), "was cut off"),
    "broken": (ModelResponse(content=YES, finish_reason="error"), "provider failed"),
    "no answer": (DriverError("The model gave no answer: HTTP status 500"), "could not be asked: The model gave no"),
    "a wish to stop": (StopRunError("enough"), "could not be asked: enough"),
    "a bug": (ZeroDivisionError("oops"), "could not be asked: ZeroDivisionError: oops"),
    "no response": (42, "could not be asked: 42 is not a reply"),
}


@pytest.mark.parametrize("kind", FAILURES)
def test_whatever_is_no_verdict_is_a_failure_that_denies(kind):
    reply, problem = FAILURES[kind]
    outcome = decided(hook(reply))
    assert (outcome.decision, outcome.failed) == ("deny", True)
    assert problem in outcome.reason


@pytest.mark.parametrize("colour", ["sync", "async"])
def test_a_late_judge_is_a_failure_and_its_request_is_cancelled(colour):
    ended = []

    async def slow(request):
        try:
            await never()
        finally:
            ended.append("cancelled")

    manager = manager_of(PromptHook("Fine?", driver=Judge(slow), timeout=0.05))
    started = time.monotonic()
    hooks = manager.hooks()
    outcome = hooks.dispatch_sync(call()) if colour == "sync" else asyncio.run(hooks.dispatch(call()))
    assert time.monotonic() - started < 20
    assert (outcome.decision, ended) == ("deny", ["cancelled"])
    assert "did not answer within 0.05 s" in outcome.reason


def test_a_cancelled_caller_cancels_the_question():
    ended = []

    async def main():
        asked = asyncio.Event()

        async def slow(request):
            asked.set()
            try:
                await never()
            finally:
                ended.append("cancelled")

        task = asyncio.create_task(manager_of(PromptHook("Fine?", driver=Judge(slow))).hooks().dispatch(call()))
        await asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert ended == ["cancelled"]


def test_an_event_with_nothing_to_decide_asks_nobody():
    judge = Judge(lambda request: YES)
    outcome = decided(PromptHook("Fine?", driver=judge), HookContext("session_end"))
    assert judge.requests == []
    assert "only observed" in outcome.findings[0].message


def test_without_any_model_the_failure_says_what_to_do():
    outcome = decided(PromptHook("Fine?"))
    assert outcome.decision == "deny"
    assert "there is no model to judge this" in outcome.reason
    assert "[prompts]" not in outcome.reason
    assert "[prompts]" in outcome.findings[0].message


# -- sync and async ----------------------------------------------------------------------------------------------------


def test_a_sync_call_inside_of_an_event_loop_says_what_to_call_and_asks_nobody():
    judge = Judge(lambda request: YES)

    async def main():
        return decided(PromptHook("Fine?", driver=judge))

    outcome = asyncio.run(main())
    assert (outcome.decision, judge.requests) == ("deny", [])
    assert "await hooks.dispatch(ctx)" in outcome.reason


def test_a_driver_may_be_a_plain_function():
    class Plain:
        model = "judge-1"

        def respond(self, request):
            return NO

    assert decided(PromptHook("Fine?", driver=Plain())).reason == "not so"


@pytest.mark.parametrize("on_failure", ["open", "closed"])
def test_what_is_too_long_to_be_shown_is_refused_also_where_failures_are_passed_over(on_failure):
    judge = Judge(lambda request: YES)
    padded = call("curl evil.example #" + "x" * 10_000_000)
    outcome = decided(PromptHook("Fine?", driver=judge), padded, on_failure=on_failure)
    assert (outcome.decision, outcome.failed) == ("deny", False)
    assert "Too long to be judged" in outcome.reason
    assert judge.requests == []


def test_a_refusal_for_length_does_not_end_the_run():
    judged = PromptHook("Fine?", driver=Judge(lambda request: YES), continue_on_block=False)
    assert decided(judged, call("x" * 1_000_000)).decision == "deny"


# -- in an agent -------------------------------------------------------------------------------------------------------


def run_shell(command: str) -> str:
    """Run a command."""
    return f"ran {command}"


LS = ToolCall("run_shell", {"command": "ls"})


def agent(judge, *replies, **options):
    driver = ScriptedDriver(*(replies or (LS, "Done.")), model="big")
    builder = AgentBuilder(plugins=()).with_driver(driver).with_session("s1")
    return builder.with_tools(run_shell).before_tool_use(judge, **options).build()


def judge_using(tokens: int, answer: str = YES) -> ScriptedDriver:
    reply = ModelResponse(content=answer, usage=Usage(input_tokens=tokens, output_tokens=1), model="small")
    return ScriptedDriver(*[reply] * 9, model="judge-1")


def test_at_the_end_of_a_run_the_judge_sees_what_was_asked_for_and_what_came_of_it():
    judge = Judge(lambda request: YES)
    driver = ScriptedDriver("All is tidy.")
    builder = AgentBuilder(plugins=()).with_driver(driver).hook("on_stop", PromptHook("Is it done?", driver=judge))
    builder.build().run_sync("Tidy up.")
    (request,) = judge.requests
    assert '"prompt": "Tidy up."' in request.messages[0].content
    assert '"last_assistant_message": "All is tidy."' in request.messages[0].content


@pytest.mark.parametrize("answer", [YES, NO, "nonsense"])
def test_what_the_judge_used_counts_for_the_run_also_if_it_was_of_no_use(answer):
    state = agent(PromptHook("Fine?", driver=judge_using(7, answer))).run_sync("Go.")
    assert state.model_usage["small"] == Usage(input_tokens=7, output_tokens=1)


def test_the_agent_goes_on_with_the_reason_of_a_no():
    state = agent(hook('{"ok": false, "reason": "Ask first."}')).run_sync("Go.")
    assert state.status == "completed"
    assert "Ask first." in str(state.messages)
    assert "ran ls" not in str(state.messages)


def test_a_no_that_ends_the_run_ends_it():
    state = agent(hook(NO, continue_on_block=False)).run_sync("Go.")
    assert (state.status, state.step_count) == ("stopped", 1)


def test_the_agent_s_own_driver_judges_where_there_is_no_other():
    state = agent(PromptHook("Fine?"), LS, NO, "Done.").run_sync("Go.")
    assert state.output == "Done."
    assert "not so" in str(state.messages)


def test_a_judge_s_own_request_passes_no_hooks():
    asked = []

    class Watcher:
        @hookimpl
        def before_inference(self, request):
            asked.append(request.system_prompt)

    judge = Judge(lambda request: YES)
    builder = AgentBuilder(plugins=()).with_driver(ScriptedDriver("Done.")).plugin(Watcher())
    builder = builder.hook("before_inference", PromptHook("Is this request fine?", driver=judge))
    assert builder.build().run_sync("Go.").output == "Done."
    assert (len(asked), len(judge.requests)) == (1, 1)


def test_a_judge_at_the_end_sends_the_agent_on():
    driver = ScriptedDriver("Done.", "Really done.", model="big")
    judged = hook('{"ok": false, "reason": "The tests were not run."}', YES)
    state = AgentBuilder(plugins=()).with_driver(driver).hook("on_stop", judged).build().run_sync("Go.")
    assert state.output == "Really done."
    assert "The tests were not run." in str(driver.requests[1].messages)


def test_a_whole_conversation_can_be_judged():
    judge = Judge(lambda request: YES)
    state = AgentState(messages=(Message(role="user", content="Hello."),))
    builder = AgentBuilder(plugins=()).with_driver(ScriptedDriver("Done."))
    builder.hook("before_inference", PromptHook("Fine?", driver=judge)).build().run_sync("Go.", state)
    inside, _ = data_in(judge.requests[0])
    assert [message["content"] for message in json.loads(inside)["request"]["messages"]] == ["Hello.", "Go."]


# -- verdicts that were given before -----------------------------------------------------------------------------------


class Counting(Judge):
    """Answers with the number of the question."""

    def __init__(self, ok: bool = False) -> None:
        super().__init__(lambda request: json.dumps({"ok": ok, "reason": str(len(self.requests))}))


def test_the_same_is_asked_once_in_a_session():
    judge = Counting()
    hooks = manager_of(PromptHook("Fine?", driver=judge, cache=True)).hooks()
    same = [hooks.dispatch_sync(call("ls", execution_id=f"e{number}", step_index=number)) for number in range(3)]
    assert [outcome.reason for outcome in same] == ["1", "1", "1"]
    assert hooks.dispatch_sync(call("ls ")).reason == "2"
    assert hooks.dispatch_sync(call("ls", cwd="/elsewhere")).reason == "3"
    assert hooks.dispatch_sync(call("ls", session_id="s2")).reason == "4"


def test_without_being_told_to_nothing_is_remembered():
    hooks = manager_of(PromptHook("Fine?", driver=Counting())).hooks()
    assert [hooks.dispatch_sync(call()).reason for _ in range(2)] == ["1", "2"]


def test_an_event_without_a_session_is_remembered_for_its_run_alone():
    hooks = manager_of(PromptHook("Fine?", driver=Counting(), cache=True)).hooks()

    def reason(execution_id):
        return hooks.dispatch_sync(call(session_id="", execution_id=execution_id)).reason

    assert [reason("e1"), reason("e1"), reason("e2"), reason(""), reason("")] == ["1", "1", "2", "3", "4"]


def test_another_model_is_asked_itself():
    judge = Counting()
    hooks = manager_of(PromptHook("Fine?", driver=judge, cache=True)).hooks()
    hooks.dispatch_sync(call())
    judge.model = "judge-2"
    assert hooks.dispatch_sync(call()).reason == "2"


def test_two_hooks_do_not_share_verdicts():
    judge = Counting()
    one, other = (manager_of(PromptHook(rule, driver=judge, cache=True)).hooks() for rule in ("Fine?", "Good?"))
    assert (one.dispatch_sync(call()).reason, other.dispatch_sync(call()).reason) == ("1", "2")


def test_a_failure_is_not_remembered():
    action = hook("nonsense", YES, cache=True)
    assert [decided(action).decision for _ in range(3)] == ["deny", "proceed", "proceed"]


def test_only_so_many_verdicts_are_kept():
    judge = Counting()
    hooks = manager_of(PromptHook("Fine?", driver=judge, cache=True)).hooks()
    for number in range(300):
        hooks.dispatch_sync(call(str(number)))
    assert hooks.dispatch_sync(call("299")).reason == "300"
    assert hooks.dispatch_sync(call("0")).reason == "301"


# -- settings that do not fit ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"prompt": " \n"}, "prompt: "),
        ({"timeout": 0}, "timeout: "),
        ({"timeout": float("inf")}, "timeout: "),
        ({"timeout": float("nan")}, "timeout: "),
        ({"model": "luna"}, "model: it is not said whose model 'luna' is"),
        ({"model": "haiku", "driver": ScriptedDriver()}, "model: the driver has a model"),
    ],
)
def test_settings_that_do_not_fit_are_an_error(options, problem):
    with pytest.raises(RegistrationError, match=problem):
        PromptHook(**{"prompt": "Fine?", **options})


def test_hooks_without_a_name_are_told_apart_by_their_rules():
    judge = Judge(lambda request: NO)
    builder = AgentBuilder(plugins=()).with_driver(judge).before_tool_use(PromptHook("Is  it\nharmless?", driver=judge))
    for folder in ("of it", "of mine"):
        rule = f"Is it in the project, or below a folder {folder}?"
        builder = builder.before_tool_use(PromptHook(rule, driver=judge))
    hooks = builder.build().interceptor.manager.describe("before_tool_use")  # type: ignore[attr-defined]
    first, second, third = (hook.name for hook in hooks)
    assert first == "prompt:Is it harmless?"
    assert second.startswith("prompt:Is it in the project")
    assert third.startswith("prompt:Is it in the project")
    assert second != third
    assert {hook.origin.rpartition(":")[0] for hook in hooks} == {__file__}
