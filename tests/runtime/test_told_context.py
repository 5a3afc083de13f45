"""What the model gets to read: the prompt, and the context and messages of hooks; and which answer gets out."""

from __future__ import annotations

import asyncio

import pytest

from agent_hooks import HookContext, HookOutcome
from agent_hooks.errors import PromptRefusedError
from agent_hooks.model.inference import ModelResponse
from agent_hooks.model.state import Message
from agent_hooks.runtime.agent import AgentRuntime
from agent_hooks.runtime.driver import ScriptedDriver
from runtime.agents import EVENTS, Trial, assert_well_formed, call, count, reply, said, signal_of
from runtime.cases import Case, hook

NO = ConnectionError("no answer")
HINT = HookOutcome.with_context("mind the gap")
NOTE = HookOutcome.with_context("a note")
ON_ONCE = hook(HookOutcome.force_continue("Go on."), times=1)
AGAIN_ONCE = hook(HookOutcome.retry(), times=1)

# The position of each event's context: the message before it in the model's next conversation.
TELLING = {
    "user_input": ("user", "go"),
    "before_execution": ("user", "go"),
    "should_continue": ("user", "go"),
    "before_step": ("user", "go"),
    "before_inference": ("user", "go"),
    "after_inference": ("tool", "Error: no fuel"),
    "after_step": ("tool", "Error: no fuel"),
}


@pytest.mark.parametrize("event", TELLING)
def test_context_stands_where_it_belongs_and_is_marked_as_that_of_hooks(event):
    trial = Trial(call("boom"), "done")
    trial.on(event, HINT, times=1)
    trial.run()
    request = next(request for request in trial.requests if count("mind the gap", request.messages))
    index = said(request.messages).index(("user", "mind the gap"))
    assert said(request.messages)[index - 1] == TELLING[event]
    assert request.messages[index].metadata == {"source": "hooks"}
    assert request is trial.requests[event in ("after_inference", "after_step")]


@pytest.mark.parametrize("event", EVENTS)
def test_context_of_every_event_reaches_the_model_exactly_once(event):
    """At the latest with the next prompt; and the conversation stays one that models accept."""
    trial = Trial(NO if event == "on_error" else "done", call("boom"), "well", "again")
    trial.on(event, HINT, times=1)
    state = trial.run("and now?", trial.run("and then?", trial.run()))
    assert count("mind the gap", trial.requests[-1].messages) == count("mind the gap", state.messages) == 1
    for request in trial.requests:
        assert_well_formed(request.messages)


@pytest.mark.parametrize("event", ["before_execution", "before_step", "after_step", "after_tool_use"])
def test_messages_of_hooks_reach_the_model_once_and_never_part_a_call_from_its_result(event):
    trial = Trial([call(), call("boom")], "done")
    trial.on(event, HookOutcome.proceed(messages=(Message(role="user", content="from a hook"),)), times=1)
    state = trial.run()
    assert count("from a hook", trial.requests[-1].messages) == count("from a hook", state.messages) == 1
    assert_well_formed(state.messages)


TOLD = {
    "brought again for a retry": (
        Case("no", "yes", before_inference=HINT, after_inference=AGAIN_ONCE),
        ["go", "mind the gap", "yes"],
    ),
    "behind the answer": (Case("done", after_step=NOTE), ["go", "done", "a note"]),
    "also where another hook denies": (
        Case("b", before_inference=[hook(HINT, priority=1), hook(HookOutcome.deny("No."), times=1)], on_stop=ON_ONCE),
        ["go", "mind the gap", "Go on.", "mind the gap", "b"],
    ),
    "beside that of an error that is retried": (
        Case(NO, "b", before_inference=HINT, on_error=HookOutcome.retry(context="Once more.")),
        ["go", "mind the gap", "Once more.", "b"],
    ),
}


@pytest.mark.parametrize("context", TOLD)
def test_context_stands_in_the_conversation_once(context):
    case, texts = TOLD[context]
    case.gives(texts=texts).check()


def test_the_model_is_told_why_it_is_asked_again_and_only_then():
    trial = Trial("no", "yes", "well")
    trial.on("after_inference", HookOutcome.retry("say yes"), when=lambda ctx: ctx.response.content == "no")
    state = trial.run("and now?", trial.run())
    assert [count("say yes", request.messages) for request in trial.requests] == [0, 1, 0]
    assert [text for _, text in said(state.messages)] == ["go", "yes", "and now?", "well"]


# -- the prompt --------------------------------------------------------------------------------------------------------


def test_a_refused_prompt_raises_with_the_reason_and_nothing_of_the_run_happens():
    trial = Trial("done")
    trial.on("user_input", HookOutcome.deny("no secrets, please"))
    with pytest.raises(PromptRefusedError, match=r"^no secrets, please$") as raised:
        trial.run("the password is 1234")
    assert (trial.events, trial.requests) == (["user_input"], [])
    assert raised.value.__context__ is None, "the traceback begins with a missing event loop"


def test_a_rewritten_prompt_is_the_one_the_model_reads():
    hide = lambda ctx: HookOutcome.proceed(prompt=ctx.prompt.replace("swordfish", "****"))  # noqa: E731
    case = Case("done", prompt="the password is swordfish", user_input=hide)
    case.gives(read=[["the password is ****"]], nowhere="swordfish").check()


@pytest.mark.parametrize("prompt", ["", [{"type": "text", "text": "look"}, {"type": "image", "url": "x.png"}]])
def test_a_prompt_may_be_empty_or_made_of_parts(prompt):
    trial = Trial("done")
    trial.run(prompt)
    (message,) = trial.requests[0].messages
    assert message.as_dict()["content"] == prompt


# -- the answer --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("replies", "output"),
    [([reply("let me see", call()), "done"], "done"), ([ModelResponse(content={"answer": 42})], {"answer": 42})],
)
def test_the_output_is_the_last_answer_and_may_be_a_value(replies, output):
    Case(*replies).gives(output=output, status="completed").check()


def test_only_the_last_answer_is_let_out():
    trial = Trial("one", "two")
    trial.on("on_stop", **ON_ONCE)
    asked = trial.on("before_output")
    state = trial.run()
    assert ([ctx.output for ctx in asked.calls], state.output) == (["two"], "two")


@pytest.mark.parametrize("event", [None, "on_stop", "after_step", "should_continue"])
@pytest.mark.parametrize("outcome", [HookOutcome.deny("not for you"), HookOutcome.stop("not for you"), RuntimeError()])
def test_a_withheld_answer_is_nowhere_left(outcome, event):
    """Not in the output, the conversation or the steps, also where a hook has added something behind it."""
    trial = Trial("the secret")
    trial.on("before_output", outcome)
    if event is not None:
        trial.on(event, NOTE, when=lambda ctx: ctx.event != "should_continue" or ctx.step)
    state = trial.run()
    assert (state.output, state.status) == (None, "stopped")
    assert "the secret" not in str(state)
    assert [message.role for message in state.messages][:2] == ["user", "assistant"]
    if isinstance(outcome, HookOutcome):
        assert "not for you" in state.messages[1].content
        assert signal_of(state).message == "not for you"


@pytest.mark.parametrize("event", [None, "on_stop", "after_step"])
def test_a_rewritten_answer_is_so_everywhere(event):
    trial = Trial("the secret is swordfish")
    trial.on("before_output", lambda ctx: HookOutcome.proceed(output=ctx.output.replace("swordfish", "****")))
    if event is not None:
        trial.on(event, NOTE)
    state = trial.run()
    assert (state.output, said(state.messages)[1]) == ("the secret is ****", ("assistant", "the secret is ****"))
    assert "swordfish" not in str(state)


def test_an_answer_that_nobody_has_let_out_is_not_in_the_state_when_an_interceptor_breaks():
    class Breaks:
        def listens(self, event: str) -> bool:
            return event == "before_output"

        async def dispatch(self, ctx: HookContext) -> HookOutcome:
            raise OSError("broken")

    run = AgentRuntime(ScriptedDriver("the secret"), hooks=Breaks()).iterate("go")
    with pytest.raises(OSError, match="broken"):
        asyncio.run(run.run_to_end())
    assert "the secret" not in str(run.state)
