"""What the model gets to read: the prompt, and the context and messages of hooks; and which answer gets out."""

from __future__ import annotations

import asyncio

import pytest

from agent_hooks import HookContext, HookOutcome
from agent_hooks.errors import PromptRefusedError
from agent_hooks.runtime.agent import AgentRuntime
from agent_hooks.runtime.driver import ScriptedDriver
from runtime.agents import Trial, signal_of

NOTE = HookOutcome.with_context("a note")
# -- the prompt --------------------------------------------------------------------------------------------------------


def test_a_refused_prompt_raises_with_the_reason_and_nothing_of_the_run_happens():
    trial = Trial("done")
    trial.on("user_input", HookOutcome.deny("no secrets, please"))
    with pytest.raises(PromptRefusedError, match=r"^no secrets, please$") as raised:
        trial.run("the password is 1234")
    assert (trial.events, trial.requests) == (["user_input"], [])
    assert raised.value.__context__ is None, "the traceback begins with a missing event loop"


# -- the answer --------------------------------------------------------------------------------------------------------


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
