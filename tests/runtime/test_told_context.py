"""What the model gets to read: the prompt, and the context and messages of hooks; and which answer gets out."""

from __future__ import annotations

import asyncio

import pytest

from agent_hooks import HookContext, HookOutcome
from agent_hooks.errors import PromptRefusedError
from agent_hooks.model.inference import ModelResponse
from agent_hooks.runtime.agent import AgentRuntime
from agent_hooks.runtime.driver import ScriptedDriver
from runtime.agents import Trial, call, reply, said, signal_of
from runtime.cases import Case, hook

NO = ConnectionError("no answer")
HINT = HookOutcome.with_context("mind the gap")
NOTE = HookOutcome.with_context("a note")
ON_ONCE = hook(HookOutcome.force_continue("Go on."), times=1)
AGAIN_ONCE = hook(HookOutcome.retry(), times=1)


def test_context_of_hooks_is_marked_as_theirs():
    trial = Trial("done")
    trial.on("before_step", HINT)
    _, message = trial.run().messages[:2]
    assert (message.role, message.content, message.metadata) == ("user", "mind the gap", {"source": "hooks"})


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
