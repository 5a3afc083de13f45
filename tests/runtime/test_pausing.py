"""Suspended runs: valid answers, surviving state, and that an answer works for one operation, once."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
import threading

import pytest

from agent_hooks import (
    AgentBuilder,
    AgentState,
    HookOutcome,
    HookPolicy,
    ModelResponse,
    RunError,
    ScriptedDriver,
    ToolCall,
    Usage,
    tool,
)
from agent_hooks.errors import StoreError, SuspensionError
from agent_hooks.model.state import Suspended
from agent_hooks.runtime import pausing
from agent_hooks.runtime.interceptors import PassThrough
from agent_hooks.system.store import MemoryStore, Store

LS = ToolCall("shell", {"command": "ls"}, id="call_1")


class Shell:
    """A tool that records its commands."""

    def __init__(self):
        self.ran = []

    def tool(self):
        @tool(kind="shell")
        def shell(command: str) -> str:
            self.ran.append(command)
            return f"ran {command}"

        return shell


@pytest.fixture
def shell():
    return Shell()


@pytest.fixture
def store():
    return MemoryStore()


def asks(tool_call):
    return HookOutcome.ask("Really?")


def suspends(tool_call):
    return HookOutcome.suspend("Wait for Ann.", data={"ticket": 7})


def builder(shell, store, *replies):
    return (
        AgentBuilder(plugins=())
        .with_driver(ScriptedDriver(*replies))
        .with_tools(shell.tool())
        .with_store(store)
        .with_ask("host")
    )


def through_json(state):
    """The state as another process would read it."""
    return AgentState.from_dict(json.loads(json.dumps(state.as_dict())))


def texts(state):
    return [message.content for message in state.messages if message.content]


@pytest.mark.parametrize("hook", [asks, suspends])
def test_a_paused_run_says_what_it_waits_for_and_neither_stops_nor_ends(shell, store, hook):
    ended = []
    agent = (
        builder(shell, store, LS)
        .before_tool_use(hook)
        .hook(("after_step", "on_stop", "after_execution"), lambda ctx: ended.append(ctx.event), mode="observe")
        .build()
    )
    state = agent.run_sync("go")
    assert state.status == "suspended"
    assert (state.suspended.event, state.suspended.tool_call.args) == ("before_tool_use", {"command": "ls"})
    assert state.suspended.reason in ("Really?", "Wait for Ann.")
    assert (shell.ran, ended) == ([], [])


def test_the_data_of_a_suspension_is_kept_with_it(shell, store):
    state = builder(shell, store, LS).before_tool_use(suspends).build().run_sync("go")
    assert through_json(state).suspended.data == {"ticket": 7}


@pytest.mark.parametrize("hook", [asks, suspends])
@pytest.mark.parametrize("through", [through_json, lambda state: state], ids=["json", "same"])
def test_an_allowed_call_is_made_and_the_run_goes_on(shell, store, hook, through):
    first = builder(shell, store, LS).before_tool_use(hook).build().run_sync("go")
    agent = builder(shell, store, "done").before_tool_use(hook).build()
    state = agent.resume_sync(through(first), "allow")
    assert (state.status, state.output, state.suspended) == ("completed", "done", None)
    assert shell.ran == ["ls"]
    assert texts(state) == ["go", "ran ls", "done"]
    assert state.execution_id == first.execution_id
    assert state.step_count == 2


@pytest.mark.parametrize("hook", [asks, suspends])
@pytest.mark.parametrize("refusal", ["deny", HookOutcome.deny("Ann says no.")], ids=["word", "outcome"])
def test_a_refused_call_is_denied_and_the_model_is_told(shell, store, hook, refusal):
    first = builder(shell, store, LS).before_tool_use(hook).build().run_sync("go")
    state = builder(shell, store, "sorry").before_tool_use(hook).build().resume_sync(through_json(first), refusal)
    assert shell.ran == []
    assert state.steps[0].executions[0].was_blocked
    assert texts(state)[1].startswith("Denied: ")
    if refusal != "deny":
        assert texts(state)[1] == "Denied: Ann says no."


@pytest.mark.parametrize("hook", [asks, suspends])
def test_an_answer_works_once(shell, store, hook):
    first = builder(shell, store, LS).before_tool_use(hook).build().run_sync("go")
    agent = builder(shell, store, "done", "done").before_tool_use(hook).build()
    agent.resume_sync(first, "allow")
    with pytest.raises(SuspensionError, match="resumed before"):
        agent.resume_sync(first, "allow")
    assert shell.ran == ["ls"]


def test_of_two_who_answer_at_the_same_time_one_is_heard(shell, tmp_path):
    store = Store(tmp_path / "store.sqlite3")
    first = builder(shell, store, LS).before_tool_use(asks).build().run_sync("go")
    refused = []

    def answer():
        agent = builder(shell, Store(tmp_path / "store.sqlite3"), "done").before_tool_use(asks).build()
        try:
            agent.resume_sync(through_json(first), "allow")
        except SuspensionError as error:
            refused.append(error)

    threads = [threading.Thread(target=answer) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(refused), shell.ran) == (5, ["ls"])


def changed_command(data):
    data["current_step"]["message"]["tool_calls"][0]["args"]["command"] = "rm -rf /"


def changed_subject(data):
    data["suspended"]["subject"] = {"command": "rm -rf /"}


def changed_hook(data):
    data["suspended"]["asked_by"] = ["somebody"]


def changed_key(data):
    data["suspended"]["asked_keys"] = [["somebody", "else"]]


def other_token(data):
    data["suspended"]["token"] = "guessed"


def other_execution(data):
    data["execution_id"] = "another"


@pytest.mark.parametrize(
    "change", [changed_command, changed_subject, changed_hook, changed_key, other_token, other_execution]
)
def test_an_answer_holds_only_for_the_operation_it_was_asked_about(shell, store, change):
    first = builder(shell, store, LS).before_tool_use(asks).build().run_sync("go")
    data = json.loads(json.dumps(first.as_dict()))
    change(data)
    agent = builder(shell, store, "done").before_tool_use(asks).build()
    with pytest.raises(SuspensionError, match="its session, call or subject is not the same"):
        agent.resume_sync(AgentState.from_dict(data), "allow")
    assert shell.ran == []


def test_an_answer_does_not_hold_in_another_session(shell, store):
    first = builder(shell, store, LS).before_tool_use(asks).with_session("one").build().run_sync("go")
    with pytest.raises(SuspensionError):
        builder(shell, store, "x").before_tool_use(asks).with_session("two").build().resume_sync(first, "allow")


@pytest.mark.parametrize("decision", ["perhaps", HookOutcome.skip(), HookOutcome.ask("you?"), None, 1])
def test_an_answer_that_is_none_is_refused_and_uses_nothing_up(shell, store, decision):
    agent = builder(shell, store, LS, "done").before_tool_use(asks).build()
    state = agent.run_sync("go")
    with pytest.raises(Exception, match=r"decides so|is not a decision|an outcome"):
        agent.resume_sync(state, decision)
    assert agent.resume_sync(state, "allow").output == "done"


@pytest.mark.parametrize("hook", [asks, suspends])
def test_all_other_hooks_are_asked_again_and_a_deny_stands(shell, store, hook):
    first = builder(shell, store, LS).before_tool_use(hook).build().run_sync("go")
    agent = (
        builder(shell, store, "sorry")
        .before_tool_use(hook)
        .before_tool_use(lambda tool_call: HookOutcome.deny("Closed by now."), priority=-1)
        .build()
    )
    state = agent.resume_sync(first, "allow")
    assert shell.ran == []
    assert "Denied: Closed by now." in texts(state)


@pytest.mark.parametrize("hook", [asks, suspends])
def test_a_refusal_stands_although_the_hook_is_gone(shell, store, hook):
    first = builder(shell, store, LS).before_tool_use(hook).build().run_sync("go")
    state = builder(shell, store, "sorry").build().resume_sync(first, HookOutcome.deny("No."))
    assert shell.ran == []
    assert "Denied: No." in texts(state)


def test_another_question_about_the_same_call_is_put_and_the_first_is_not_put_again(shell, store):
    first = builder(shell, store, LS).before_tool_use(asks).build().run_sync("go")
    agent = (
        builder(shell, store, "done")
        .before_tool_use(asks)
        .before_tool_use(lambda tool_call: HookOutcome.ask("And this?"), name="second")
        .build()
    )
    second = agent.resume_sync(first, "allow")
    assert second.status == "suspended"
    assert (second.suspended.asked_by, second.suspended.reason) == (("second",), "And this?")
    assert agent.resume_sync(second, "allow").output == "done"


def test_an_answer_to_one_hook_is_none_to_another_plugins_hook_of_the_same_name(shell, store):
    def made(later, *replies):
        agent = builder(shell, store, *replies).before_tool_use(asks, name="house")
        return agent.before_tool_use(later, name="house").build()

    first = made(lambda tool_call: None, LS).run_sync("go")
    assert first.suspended.asked_keys == (("house", "house"),)
    agent = made(lambda tool_call: HookOutcome.ask("And this?"), "done")
    second = agent.resume_sync(through_json(first), "allow")
    assert (second.status, shell.ran) == ("suspended", [])
    assert (second.suspended.asked_keys, second.suspended.reason) == ((("house#2", "house"),), "And this?")
    assert agent.resume_sync(through_json(second), "allow").output == "done"


def test_a_question_of_a_state_that_was_saved_without_keys_is_put_again(shell, store, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(pausing, "Suspended", lambda asked_keys, **fields: Suspended(**fields))
        first = builder(shell, store, LS).before_tool_use(asks).build().run_sync("go")
    old = json.loads(json.dumps(first.as_dict()))
    assert "asked_keys" not in old["suspended"]
    agent = builder(shell, store, "done").before_tool_use(asks).build()
    second = agent.resume_sync(AgentState.from_dict(old), "allow")
    assert (second.status, second.suspended.reason, shell.ran) == ("suspended", "Really?", [])
    assert (agent.resume_sync(through_json(second), "allow").output, shell.ran) == ("done", ["ls"])


def test_an_answer_is_about_the_rewritten_arguments(shell, store):
    def safer(tool_call):
        return HookOutcome.with_args({"command": "ls --safe"})

    def made(*replies):
        return builder(shell, store, *replies).before_tool_use(safer, priority=9).before_tool_use(asks).build()

    first = made(LS).run_sync("go")
    assert first.suspended.subject == {"command": "ls --safe"}
    made("done").resume_sync(through_json(first), "allow")
    assert shell.ran == ["ls --safe"]


def test_calls_that_were_made_before_the_pause_are_not_made_again(shell, store):
    calls = [ToolCall("shell", {"command": text}, id=text) for text in ("a", "b", "c")]

    def asks_about_b(tool_call):
        return HookOutcome.ask("b?") if tool_call.command == "b" else None

    first = builder(shell, store, calls).before_tool_use(asks_about_b).build().run_sync("go")
    assert shell.ran == ["a"]
    state = (
        builder(shell, store, "done").before_tool_use(asks_about_b).build().resume_sync(through_json(first), "allow")
    )
    assert shell.ran == ["a", "b", "c"]
    assert texts(state) == ["go", "ran a", "ran b", "ran c", "done"]


def test_of_parallel_calls_those_before_the_question_are_made_and_none_twice(shell, store):
    calls = [ToolCall("shell", {"command": text}, id=text) for text in ("a", "b", "c", "d")]

    def asks_about_some(tool_call):
        return HookOutcome.ask("?") if tool_call.command in "bd" else None

    def made(*replies):
        return builder(shell, store, *replies).before_tool_use(asks_about_some).with_parallel_tools().build()

    first = made(calls).run_sync("go")
    assert shell.ran == ["a"]
    second = made().resume_sync(through_json(first), "allow")
    assert (second.status, sorted(shell.ran)) == ("suspended", ["a", "b", "c"])
    assert second.suspended.answers == ()
    with pytest.raises(SuspensionError, match="resumed before"):
        made().resume_sync(through_json(first), "allow")
    state = made("done").resume_sync(through_json(second), "deny")
    assert [execution.was_blocked for execution in state.steps[0].executions] == [False, False, False, True]
    assert sorted(shell.ran) == ["a", "b", "c"]


def test_what_hooks_brought_to_a_paused_operation_counts_once(shell, store):
    def counts(state, tool_call):
        return HookOutcome.proceed(
            state=state.with_metadata("seen", state.metadata.get("seen", 0) + 1), context="Mind the step."
        )

    def made(*replies):
        return builder(shell, store, *replies).before_tool_use(counts, priority=5).before_tool_use(asks).build()

    state = made("done").resume_sync(through_json(made(LS).run_sync("go")), "allow")
    assert state.metadata["seen"] == 1
    assert texts(state)[1] == "ran ls\n\nMind the step."


@pytest.mark.parametrize("decision", ["ask", "suspend"])
def test_a_prompt_can_wait(shell, store, decision):
    def waits(prompt):
        return getattr(HookOutcome, decision)("Is this for us?")

    first = builder(shell, store).hook("user_input", waits).build().run_sync("Hello")
    assert (first.status, first.suspended.event, texts(first)) == ("suspended", "user_input", [])
    agent = builder(shell, store, "Hi").hook("user_input", waits).build()
    state = agent.resume_sync(through_json(first), "allow")
    assert (texts(state), state.output) == (["Hello", "Hi"], "Hi")


@pytest.mark.parametrize("decision", ["ask", "suspend"])
def test_a_model_request_can_wait(shell, store, decision):
    def waits(request):
        return getattr(HookOutcome, decision)("This costs money.")

    first = builder(shell, store).hook("before_inference", waits).build().run_sync("Hello")
    assert first.suspended.event == "before_inference"
    begun = []
    agent = (
        builder(shell, store, "Hi")
        .hook("before_inference", waits)
        .hook("before_step", lambda ctx: begun.append(ctx.step_index), mode="observe")
        .build()
    )
    state = agent.resume_sync(through_json(first), "allow")
    assert (state.output, begun) == ("Hi", [])


def test_a_run_that_waits_is_not_run(shell, store):
    agent = builder(shell, store, LS).before_tool_use(asks).build()
    state = agent.run_sync("go")
    with pytest.raises(SuspensionError, match="waits for an answer"):
        agent.run_sync("again", state)


def test_a_run_that_does_not_wait_is_not_resumed(shell, store):
    agent = builder(shell, store, "done").build()
    with pytest.raises(SuspensionError, match="does not wait"):
        agent.resume_sync(agent.run_sync("go"), "allow")


def test_without_somebody_to_ask_the_policy_answers(shell, store):
    agent = builder(shell, store, LS, "ok").with_ask(None).before_tool_use(asks)
    assert "Denied" in texts(agent.build().run_sync("go"))[1]
    agent = builder(shell, store, LS, "ok").with_ask(None).with_policy(HookPolicy(ask_fallback="allow"))
    assert texts(agent.before_tool_use(asks).build().run_sync("go"))[1] == "ran ls"


@pytest.mark.parametrize("answer", [True, False])
def test_a_callable_answers_without_a_pause(shell, store, answer):
    agent = builder(shell, store, LS, "ok").with_ask(lambda ctx, reason: answer).before_tool_use(asks).build()
    assert agent.run_sync("go").status == "completed"
    assert shell.ran == (["ls"] if answer else [])


def test_forced_rounds_are_counted_across_a_pause(shell, store):
    def made(*replies):
        return (
            builder(shell, store, *replies)
            .before_tool_use(asks)
            .hook("on_stop", lambda ctx: HookOutcome.force_continue("More."))
            .with_policy(HookPolicy(max_forced_continuations=2))
            .build()
        )

    first = made("one", LS).run_sync("go")
    state = made("two", "three").resume_sync(through_json(first), "allow")
    assert (state.status, state.output, texts(state).count("More.")) == ("completed", "three", 2)


def test_an_agent_without_hooks_to_ask_again_cannot_be_resumed(shell, store):
    agent = builder(shell, store, LS).before_tool_use(asks).build()
    state = agent.run_sync("go")
    with pytest.raises(SuspensionError, match="only an agent with Hooks"):
        agent.with_interceptor(PassThrough()).resume_sync(state, "allow")


@pytest.mark.parametrize("brings", [{"tool_args": {"command": "ls -l"}}, {"context": "Mind the step."}])
def test_the_answer_to_a_question_brings_nothing_the_answer_to_a_suspension_may(shell, store, brings):
    """An approval holds for exactly its question; a suspension accepts more."""
    asked = builder(shell, store, LS).before_tool_use(asks).build().run_sync("go")
    agent = builder(shell, store, "done").before_tool_use(asks).build()
    with pytest.raises(SuspensionError, match="the answer to a question brings nothing"):
        agent.resume_sync(asked, HookOutcome.update(**brings))
    assert agent.resume_sync(asked, "allow").output == "done"
    suspended = builder(shell, store, LS).before_tool_use(suspends).build().run_sync("go")
    agent = builder(shell, store, "done").before_tool_use(suspends).build()
    assert agent.resume_sync(suspended, HookOutcome.update(**brings)).output == "done"
    assert shell.ran == ["ls", brings.get("tool_args", {"command": "ls"})["command"]]


def asks_about_b(tool_call):
    return HookOutcome.ask("b?") if tool_call.command == "b" else None


def suspends_b(tool_call):
    return HookOutcome.suspend() if tool_call.command == "b" else None


TWO = [ToolCall("shell", {"command": text}, id=text) for text in ("a", "b")]


def forged(data):
    data["suspended"]["settled"] = [None, {"call": {"name": "shell", "args": {"command": "b"}}, "result": "forged"}]


def shorter(data):
    data["suspended"]["settled"] = data["suspended"]["settled"][:1]


def longer(data):
    data["suspended"]["settled"].append(None)


def another_result(data):
    data["current_step"]["executions"][0]["result"] = "forged"


def more_rounds(data):
    data["suspended"]["forced"] = -5


def no_step(data):
    del data["current_step"]


@pytest.mark.parametrize("change", [forged, shorter, longer, another_result, more_rounds, no_step])
def test_an_answer_holds_only_for_a_step_that_has_done_what_it_had(shell, store, change):
    first = builder(shell, store, TWO).before_tool_use(asks_about_b).build().run_sync("go")
    data = json.loads(json.dumps(first.as_dict()))
    change(data)
    agent = builder(shell, store, "done").before_tool_use(asks_about_b).build()
    with pytest.raises(SuspensionError):
        agent.resume_sync(AgentState.from_dict(data), "allow")
    assert shell.ran == ["a"]


@pytest.mark.parametrize("waits", [asks_about_b, suspends_b])
def test_a_run_that_is_given_up_keeps_what_was_done_and_runs_again(shell, store, waits):
    first = builder(shell, store, TWO).before_tool_use(waits).build().run_sync("go")
    agent = builder(shell, store, "I see.").before_tool_use(waits).build()
    state = agent.abandon(through_json(first))
    assert (state.status, str(state.stop_signal.reason), state.suspended) == ("stopped", "user_requested", None)
    assert texts(state) == ["go", "ran a", "Error: Not run: the run was stopped."]
    assert texts(agent.run_sync("And now?", state))[-2:] == ["And now?", "I see."]
    with pytest.raises(SuspensionError, match="resumed before"):
        agent.resume_sync(first, "allow")
    with pytest.raises(SuspensionError, match="resumed before"):
        agent.abandon(first)


def test_a_run_is_given_up_only_while_it_waits(shell, store):
    agent = builder(shell, store, "done").build()
    with pytest.raises(SuspensionError, match="nothing to abandon"):
        agent.abandon(agent.run_sync("go"))


def test_a_run_that_was_resumed_cannot_be_given_up(shell, store):
    agent = builder(shell, store, LS, "done").before_tool_use(asks).build()
    state = agent.run_sync("go")
    agent.resume_sync(state, "allow")
    with pytest.raises(SuspensionError, match="resumed before"):
        agent.abandon(state)


def test_retries_are_counted_across_pauses(shell, store):
    """Each retry of the call asks again, but retries stay limited."""
    agent = (
        builder(shell, store, LS, "done")
        .before_tool_use(asks)
        .after_tool_use(lambda ctx: HookOutcome.retry("Once more."))
        .with_policy(HookPolicy(max_retries=2))
        .build()
    )
    state = agent.run_sync("go")
    for _ in range(3):
        assert state.status == "suspended"
        state = agent.resume_sync(through_json(state), "allow")
    assert (state.output, len(shell.ran)) == ("done", 3)
    assert texts(state)[1] == "Result withheld: Retry limit reached: 2/2. Once more."


def test_model_requests_are_counted_across_pauses(shell, store):
    driver = ScriptedDriver(*"abcdef")
    agent = (
        builder(shell, store)
        .with_driver(driver)
        .hook("before_inference", lambda ctx: HookOutcome.ask("Spend?"))
        .hook("after_inference", lambda ctx: HookOutcome.retry("No."))
        .with_policy(HookPolicy(max_retries=1))
        .build()
    )
    state = agent.run_sync("go")
    while state.status == "suspended":
        state = agent.resume_sync(through_json(state), "allow")
    assert (str(state.stop_signal.reason), len(driver.requests)) == ("retry_limit", 2)


def test_a_step_that_was_stopped_does_not_wait_any_more(shell, store):
    """The stop of one call holds for the others, also for one that a hook wants to be asked about."""
    agent = (
        builder(shell, store, TWO)
        .with_parallel_tools()
        .before_tool_use(asks_about_b)
        .after_tool_use(lambda ctx: HookOutcome.stop("Enough."))
        .build()
    )
    state = agent.run_sync("go")
    assert (state.status, state.stop_signal.message, shell.ran) == ("stopped", "Enough.", ["a"])
    assert texts(state)[-1] == "Denied: Not run: the run was stopped."


def test_json_in_place_of_a_state_is_refused_with_what_to_write(shell, store):
    agent = builder(shell, store, LS).before_tool_use(asks).build()
    data = agent.run_sync("go").as_dict()
    for use in (
        lambda: agent.resume_sync(data, "allow"),
        lambda: agent.run_sync("x", data),
        lambda: agent.abandon(data),
    ):
        with pytest.raises(RunError, match=r"AgentState\.from_dict\(data\)"):
            use()


def test_a_call_that_was_made_is_not_said_to_be_not_run_when_its_retry_is_given_up(shell, store):
    agent = (
        builder(shell, store, LS)
        .before_tool_use(lambda ctx: HookOutcome.ask("Again?") if shell.ran else None)
        .after_tool_use(lambda ctx: HookOutcome.retry("Once more."))
        .build()
    )
    state = agent.abandon(agent.run_sync("go"))
    assert shell.ran == ["ls"]
    assert texts(state)[1] == "Error: The run ended before this call had a result; what it did is not known."


def test_a_run_is_not_given_up_with_a_store_that_does_not_know_that_it_waits(shell, store):
    """The token would be used up there, and good for an answer where it is known."""
    state = builder(shell, store, LS).before_tool_use(asks).build().run_sync("go")
    with pytest.raises(SuspensionError, match="waits in another store"):
        builder(shell, MemoryStore(), "x").before_tool_use(asks).build().abandon(state)


def test_what_a_refused_answer_has_cost_is_on_record_when_the_wait_for_the_next_is_given_up(shell, store):
    answer = ModelResponse(content="no", usage=Usage(input_tokens=50))
    agent = (
        builder(shell, store, answer)
        .hook("before_inference", lambda ctx: HookOutcome.ask("Spend?") if ctx.state.current_step.usage.total else None)
        .hook("after_inference", lambda ctx: HookOutcome.retry("No."))
        .build()
    )
    state = agent.abandon(agent.run_sync("go"))
    assert (state.usage.total, state.model_usage["scripted"].total) == (50, 50)


def test_a_wait_that_cannot_be_kept_loses_nothing_of_what_was_done(shell, tmp_path):
    store = Store(tmp_path / "state" / "store.sqlite3")
    agent = builder(shell, store, TWO, TWO).before_tool_use(asks_about_b).build()
    put_in_the_way(tmp_path / "state")
    run = agent.iterate("go")

    async def run_it():
        async for _state in run:
            pass

    with pytest.raises(StoreError):
        asyncio.run(run_it())
    assert (shell.ran, run.state.status) == (["a"], "stopped")
    assert texts(run.state) == ["go", "ran a", "Error: Not run: the run was stopped."]
    with pytest.raises(StoreError, match=r"`error\.state` is its state\. The store .* cannot be used") as caught:
        agent.run_sync("go")
    assert caught.value.state
    assert (caught.value.state.status, texts(caught.value.state)) == ("stopped", texts(run.state))


def put_in_the_way(folder):
    """Put a file where a folder would be: not even root can write below it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.write_text("in the way")


class Redis:
    """A store of the application's own, with the protocol's methods only."""

    def __init__(self):
        self.numbers = {}
        self.error = None

    def increment(self, scope, key, by=1, *, limit=None):
        value = self.read(scope, key) + by
        if limit is None or value <= limit:
            self.numbers[scope, key] = value
        return value

    def read(self, scope, key):
        if self.error is not None:
            raise self.error
        return self.numbers.get((scope, key), 0)


@pytest.mark.parametrize("hook", [asks, suspends])
def test_a_store_of_ones_own_needs_two_methods(shell, hook):
    store = Redis()
    first = builder(shell, store, LS).before_tool_use(hook).build().run_sync("go")
    agent = builder(shell, store, "done").before_tool_use(hook).build()
    assert agent.resume_sync(through_json(first), "allow").output == "done"
    with pytest.raises(SuspensionError, match="resumed before"):
        agent.resume_sync(through_json(first), "allow")


def test_whatever_a_store_of_ones_own_raises_is_an_error_of_the_store_with_the_state(shell):
    store = Redis()
    agent = builder(shell, store, LS, LS, "done").before_tool_use(asks).build()
    waiting = agent.run_sync("go")
    store.error = ConnectionError("no redis")
    with pytest.raises(StoreError, match="ConnectionError: no redis") as caught:
        agent.run_sync("go")
    assert caught.value.state
    assert caught.value.state.status == "stopped"
    with pytest.raises(SuspensionError, match=r"could not be recorded.*ConnectionError: no redis"):
        agent.resume_sync(waiting, "allow")
    store.error = None
    assert agent.resume_sync(waiting, "allow").output == "done"


@pytest.mark.parametrize("store", [object(), MemoryStore, {}, "redis://"])
def test_what_is_no_store_is_refused_with_what_it_lacks(shell, store):
    with pytest.raises(RunError, match=r"it needs increment\(scope, key, by, limit=…\) and read"):
        builder(shell, store)


@pytest.mark.parametrize(
    ("store", "why"), [(Store("/dev/null/store.sqlite3"), "File exists"), (Redis, "ConnectionError: no redis")]
)
def test_a_store_that_cannot_be_used_is_told_when_an_agent_is_built_whose_host_answers(shell, store, why):
    if store is Redis:
        store = Redis()
        store.error = ConnectionError("no redis")
    with pytest.raises(StoreError, match=rf'with_ask\("host"\) suspends runs, .*{why}.*with_store'):
        builder(shell, store, LS).build()


UNWRITABLE = """
from agent_hooks import AgentBuilder, HookOutcome, ScriptedDriver, StoreError, ToolCall
from agent_hooks.system.store import MemoryStore

def run(command: str) -> str:
    print("ran", command)

driver = ScriptedDriver(ToolCall("run", {{"command": "ls"}}), "Done.")
agent = AgentBuilder(plugins=()).with_tools(run).with_driver(driver){more}.build()
print("built")
try:
    print(agent.run_sync("Go.").status)
except StoreError as error:
    print(error.state.status)
"""
SUSPENDS = ".before_tool_use(lambda ctx: HookOutcome.suspend('Wait.'), name='waits')"


@pytest.mark.parametrize(
    ("more", "printed", "is_told"),
    [
        (SUSPENDS, "built stopped", True),
        (f"{SUSPENDS}.with_store(MemoryStore())", "built suspended", False),
        (".before_tool_use(print, mode='observe').hook('after_tool_use', lambda ctx: None)", "built ran ls", False),
        ("", "built ran ls completed", False),
    ],
    ids=["suspends", "in memory", "only looks", "no hooks"],
)
def test_a_state_folder_that_cannot_be_written_is_told_where_a_hook_may_suspend(tmp_path, more, printed, is_told):
    put_in_the_way(tmp_path / "state")
    env = {**os.environ, "AGENT_HOOKS_STATE_DIR": str(tmp_path / "state" / "mine")}
    command = [sys.executable, "-c", UNWRITABLE.format(more=more)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert set(printed.split()) <= set(done.stdout.split())
    assert ("A run that waits suspends could not wait" in done.stderr) is is_told
    assert is_told or done.stderr == ""
    assert (tmp_path / "state").read_text() == "in the way"


PROGRAM = """
import json, sys
from agent_hooks import AgentBuilder, AgentState, HookOutcome, ScriptedDriver, ToolCall, tool

@tool(kind="shell")
def shell(command: str) -> str:
    print("ran", command)
    return "fine"

def waits(tool_call):
    return HookOutcome.{decision}("Really?")

text = sys.stdin.read()
replies = ["done"] if text else [ToolCall("shell", {{"command": "ls"}}, id="1")]
agent = (AgentBuilder(plugins=()).with_driver(ScriptedDriver(*replies)).with_tools(shell)
         .before_tool_use(waits).with_ask("host").build())
if text:
    state = agent.resume_sync(AgentState.from_dict(json.loads(text)), "allow")
    print(state.output)
else:
    print(json.dumps(agent.run_sync("go").as_dict()))
"""


@pytest.mark.parametrize("decision", ["ask", "suspend"])
def test_another_process_goes_on_once(tmp_path, monkeypatch, decision):
    monkeypatch.setenv("AGENT_HOOKS_STATE_DIR", str(tmp_path))

    def process(stdin=""):
        program = PROGRAM.format(decision=decision)
        return subprocess.run([sys.executable, "-c", program], input=stdin, capture_output=True, text=True, check=False)

    paused = process().stdout
    assert process(paused).stdout == "ran ls\ndone\n"
    again = process(paused)
    assert again.stdout == ""
    assert "SuspensionError: The operation was resumed before" in again.stderr


def test_a_tool_whose_name_does_not_tell_its_kind_can_be_resumed_from_json(store):
    """Explicit values and defaults are equal after a round trip through JSON."""

    @tool(kind="shell")
    def perform(command: str) -> str:
        return f"ran {command}"

    def agent(*replies):
        made = AgentBuilder(plugins=()).with_driver(ScriptedDriver(*replies)).with_tools(perform).with_store(store)
        return made.with_ask("host").before_tool_use(asks).build()

    state = agent(ToolCall("perform", {"command": "ls"}, id="call_1")).run_sync("go")
    state = agent("done").resume_sync(through_json(state), "allow")
    assert [message.content for message in state.messages if message.role == "tool"] == ["ran ls"]


def test_a_store_that_cannot_be_used_for_the_answer_leaves_the_run_waiting(shell):
    class Broken(MemoryStore):
        is_broken = False

        def read(self, scope: str, key: str) -> int:
            if self.is_broken:
                raise StoreError("The disk is gone.")
            return super().read(scope, key)

    store = Broken()
    agent = builder(shell, store, LS, "done").before_tool_use(asks).build()
    state = agent.run_sync("go")
    store.is_broken = True
    with pytest.raises(SuspensionError, match=r"could not be recorded.*The disk is gone"):
        agent.resume_sync(state, "allow")
    store.is_broken = False
    assert agent.resume_sync(state, "allow").output == "done"


NONSENSE = [5, "x", [1], {"a": 1}, [[1]], [{}], True]


@pytest.mark.parametrize("value", NONSENSE, ids=repr)
@pytest.mark.parametrize("field", sorted(Suspended._known - {"data", "created_at"}))
def test_a_damaged_suspension_is_refused_in_words(shell, store, field, value):
    """Whatever stands there, it is a SuspensionError, and nothing runs."""
    first = builder(shell, store, LS).before_tool_use(asks).build().run_sync("go")
    data = json.loads(json.dumps(first.as_dict()))
    data["suspended"][field] = value
    agent = builder(shell, store, "done").before_tool_use(asks).build()
    with pytest.raises(SuspensionError):
        agent.resume_sync(AgentState.from_dict(data), "allow")
    assert shell.ran == []


@pytest.mark.parametrize("value", [5, "x", [1], {}, True])
def test_a_suspension_that_is_none_is_refused_in_words(value):
    with pytest.raises(SuspensionError, match="damaged; use it as it was saved"):
        AgentState.from_dict({"suspended": value})


@pytest.mark.parametrize("field", ["messages", "current_step", "model_usage"])
def test_a_damaged_state_names_the_field(field):
    with pytest.raises(TypeError, match=rf"AgentState\.{field} cannot be read"):
        AgentState.from_dict({field: 5})


# -- several answers to one operation ----------------------------------------------------------------------------------


def waits_for(*kinds):
    """Hooks on a call, of which each asks or suspends."""
    return [
        (f"{kind}_{place}", getattr(HookOutcome, kind)(f"{kind} {place}?"), len(kinds) - place)
        for place, kind in enumerate(kinds)
    ]


def with_waits(made, waits):
    for name, outcome, priority in waits:
        made = made.before_tool_use(lambda ctx, outcome=outcome: outcome, name=name, priority=priority)
    return made


@pytest.mark.parametrize(
    "kinds",
    [
        ("suspend", "suspend"),
        ("ask", "suspend"),
        ("suspend", "ask"),
        ("suspend", "ask", "suspend", "ask"),
    ],
)
def test_whatever_waits_on_one_call_is_asked_about_once(shell, store, kinds):
    """Each answer is given in another process."""

    def made(*replies):
        return with_waits(builder(shell, store, *replies), waits_for(*kinds)).build()

    state, asked = made(LS).run_sync("go"), []
    while state.status == "suspended":
        asked += state.suspended.reason.split("\n\n")
        assert len(asked) <= len(kinds), asked
        state = made("done").resume_sync(through_json(state), "allow")
    assert sorted(asked) == sorted(f"{kind} {place}?" for place, kind in enumerate(kinds))
    assert (state.output, shell.ran) == ("done", ["ls"])


@pytest.mark.parametrize("kind", ["ask", "suspend"])
def test_a_gate_above_a_rewrite_is_asked_about_each_subject_once(shell, store, kind):
    waits = getattr(HookOutcome, kind)("Really?")

    def made(*replies):
        return (
            builder(shell, store, *replies)
            .before_tool_use(lambda ctx: waits, name="gate", priority=1)
            .before_tool_use(lambda ctx: HookOutcome.with_args({"command": "ls -l"}), name="rewriter")
            .build()
        )

    state, asked = made(LS).run_sync("go"), []
    while state.status == "suspended":
        asked.append(state.suspended.subject["command"])
        assert len(asked) <= 2, asked
        state = made("done").resume_sync(through_json(state), "allow")
    assert asked == (["ls -l"] if kind == "ask" else ["ls", "ls -l"])
    assert shell.ran == ["ls -l"]


def test_a_call_that_waits_is_counted_once(shell, store):
    """A limit of one call does not deny the one that a person has just approved, in whichever process."""
    counted = []

    def counts(ctx):
        if not ctx.rechecking:
            counted.append(ctx.tool_call.id)
        return HookOutcome.deny("Rate limit exceeded.") if len(counted) > 1 else None

    def made(*replies):
        built = builder(shell, store, *replies).before_tool_use(counts, priority=9)
        return with_waits(built, waits_for("suspend", "ask")).build()

    state = made(LS).run_sync("go")
    while state.status == "suspended":
        state = made("done").resume_sync(through_json(state), "allow")
    assert (shell.ran, counted) == (["ls"], ["call_1"])


def test_answers_to_one_operation_start_it_once_whichever_is_given_last(shell, store):
    def made(*replies):
        return with_waits(builder(shell, store, *replies), waits_for("suspend", "suspend")).build()

    first = made(LS).run_sync("go")
    one, other = (made().resume_sync(through_json(first), "allow") for _ in range(2))
    assert made("done").resume_sync(through_json(one), "allow").output == "done"
    with pytest.raises(SuspensionError, match="resumed before"):
        made("done").resume_sync(through_json(other), "allow")
    assert shell.ran == ["ls"]


def test_a_refusal_in_the_middle_ends_the_wait(shell, store):
    def made(*replies):
        return with_waits(builder(shell, store, *replies), waits_for("suspend", "suspend", "ask")).build()

    second = made().resume_sync(through_json(made(LS).run_sync("go")), "allow")
    state = made("I see.").resume_sync(through_json(second), HookOutcome.deny("Not today."))
    assert (state.output, texts(state)[1], shell.ran) == ("I see.", "Denied: Not today.", [])


def forged_answer(data):
    data["suspended"]["answers"] = [{**data["suspended"]["answers"][0], "hook": ["suspend_1", "suspend_1"]}]


def another_chain(data):
    data["suspended"]["chain"] = ""


def not_called(data):
    data["suspended"]["called"] = []


@pytest.mark.parametrize("change", [forged_answer, another_chain, not_called])
def test_an_answer_that_was_not_given_does_not_hold(shell, store, change):
    def made(*replies):
        return with_waits(builder(shell, store, *replies), waits_for("suspend", "suspend")).build()

    second = made().resume_sync(through_json(made(LS).run_sync("go")), "allow")
    data = json.loads(json.dumps(second.as_dict()))
    change(data)
    with pytest.raises(SuspensionError, match="is not the same"):
        made("done").resume_sync(AgentState.from_dict(data), "allow")
    assert shell.ran == []


def test_an_answer_does_not_hold_in_another_folder(shell, store, tmp_path):
    first = builder(shell, store, LS).before_tool_use(asks).with_cwd(tmp_path / "a").build().run_sync("go")
    agent = builder(shell, store, "x").before_tool_use(asks).with_cwd(tmp_path / "b").build()
    with pytest.raises(SuspensionError, match="working directory"):
        agent.resume_sync(first, "allow")
    assert shell.ran == []


@pytest.mark.parametrize("kind", ["ask", "suspend"])
def test_an_approval_of_one_type_does_not_hold_for_another(store, kind):
    """A hook that rewrites the arguments may do so otherwise the next time."""
    paid = []

    def pay(amount: float) -> str:
        paid.append(amount)
        return "paid"

    def made(amount, *replies):
        built = AgentBuilder(plugins=()).with_driver(ScriptedDriver(*replies)).with_tools(pay).with_store(store)
        built = built.before_tool_use(lambda ctx: HookOutcome.with_args({"amount": amount}), priority=9)
        return with_waits(built, waits_for(kind)).with_ask("host").build()

    state = made(1, ToolCall("pay", {"amount": 5}, id="1")).run_sync("go")
    assert made(True, "done").resume_sync(through_json(state), "allow").status == "suspended"
    assert paid == []


# -- processes that are killed -----------------------------------------------------------------------------------------

KILLED = """
import json, os, signal, sys
from pathlib import Path
from agent_hooks import AgentBuilder, AgentState, HookOutcome, ScriptedDriver, ToolCall, tool

where, decision = sys.argv[1:]

def killed_at(place):
    if where == place:
        os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))

@tool(kind="shell")
def shell(command: str) -> str:
    with open("ran", "a") as file:
        file.write(command)
    killed_at("in the tool")
    return "fine"

def waits(ctx):
    return HookOutcome.{kind}("Really?")

def looks(ctx):
    if Path("state").exists():
        killed_at("before the tool")

def goes_on(ctx):
    if ctx.state.steps:
        killed_at("after the tool")

builder = AgentBuilder(plugins=()).with_tools(shell).with_ask("host")
builder = builder.before_tool_use(waits, priority=1).before_tool_use(looks).hook("before_step", goes_on)
if Path("state").exists():
    state = AgentState.from_dict(json.loads(Path("state").read_text()))
    state = builder.with_driver(ScriptedDriver("done")).build().resume_sync(state, decision)
else:
    call = ToolCall("shell", {{"command": "ls "}}, id="1")
    state = builder.with_driver(ScriptedDriver(call)).build().run_sync("go")
Path("state").write_text(json.dumps(state.as_dict()))
print(state.status, state.suspended.reason if state.suspended else state.output)
"""


class Killed:
    """A run that one process begins and others go on with: ``process(where it is killed, decision)``."""

    def __init__(self, kind, folder):
        self.kind = kind
        self.folder = folder

    def __call__(self, where="", decision="allow"):
        command = [sys.executable, "-c", KILLED.format(kind=self.kind), where, decision]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
        return (done.stdout or done.stderr).strip()

    @property
    def ran(self):
        path = self.folder / "ran"
        return path.read_text().split() if path.exists() else []


@pytest.fixture(params=["ask", "suspend"])
def process(request, tmp_path, monkeypatch):
    monkeypatch.setenv("AGENT_HOOKS_STATE_DIR", str(tmp_path / "store"))
    made = Killed(request.param, tmp_path)
    assert made() == "suspended Really?"
    return made


def test_an_approval_still_holds_for_a_run_that_was_killed_before_its_call_started(process):
    assert process("before the tool") == ""
    assert process.ran == []
    assert process() == "completed done"
    assert process.ran == ["ls"]


@pytest.mark.parametrize("where", ["in the tool", "after the tool"])
@pytest.mark.parametrize("decision", ["allow", "deny"])
def test_a_call_that_was_started_by_a_killed_run_is_asked_about_again(process, where, decision):
    """It never runs twice on one answer, and the new question states that its effect is unknown."""
    assert process(where) == ""
    assert process.ran == ["ls"]
    asked = process()
    assert asked.startswith("suspended This was started before")
    assert asked.endswith("what came of it is not known. Really?")
    assert process.ran == ["ls"]
    assert process("", decision) == "completed done"
    assert process.ran == ["ls"] * (2 if decision == "allow" else 1)


def test_a_store_whose_methods_are_async_is_refused():
    class Remote:
        async def increment(self, scope: str, key: str, by: int = 1, *, limit: int | None = None) -> int:
            return by

        async def read(self, scope: str, key: str) -> int:
            return 0

    with pytest.raises(RunError, match="plain functions, not async"):
        AgentBuilder(plugins=()).with_store(Remote())  # type: ignore[arg-type]


def test_a_run_that_has_waited_for_too_long_is_not_resumed(shell, store, monkeypatch):
    agent = builder(shell, store, LS).before_tool_use(asks).build()
    state = through_json(agent.run_sync("go"))
    monkeypatch.setattr("agent_hooks.engine.suspension.time", lambda: state.suspended.created_at + 31 * 86_400)
    with pytest.raises(SuspensionError, match=r"has waited for 31 days, and HookPolicy.suspension_ttl"):
        agent.resume_sync(state, "allow")
    assert shell.ran == []
