"""One request and its response: what hooks see and change of them, retries, and errors of drivers."""

from __future__ import annotations

import asyncio
import logging
import re
import subprocess
import sys

import pytest

from agent_hooks import HookOutcome
from agent_hooks.errors import RunFailedError, StopRunError
from agent_hooks.model.inference import ModelRequest, ModelResponse
from agent_hooks.model.state import Usage
from agent_hooks.model.tool_call import ErrorInfo
from agent_hooks.runtime.builder import AgentBuilder
from agent_hooks.runtime.driver import ScriptedDriver
from runtime.agents import Trial, call, reply, signal_of

NO = ConnectionError("no answer")
STOP = HookOutcome.stop("that is enough")
ON = HookOutcome.force_continue("there is more to do")
AGAIN = HookOutcome.retry()


# -- the request and the response --------------------------------------------------------------------------------------


@pytest.mark.parametrize("event", ["before_inference", "after_inference"])
def test_inference_hooks_are_told_what_they_match_and_measure(event):
    trial = Trial(reply("done"))
    yes, no = trial.on(event, match="script"), trial.on(event, match="other")
    trial.run()
    assert no.calls == []
    (ctx,) = yes.calls
    assert (ctx.model, ctx.message_count, ctx.tool_count) == ("scripted", 1, 2)
    assert isinstance(ctx.request, ModelRequest)
    assert ctx.response == (None if event == "before_inference" else reply("done"))


def test_a_rewritten_response_may_say_why_it_ends_and_what_it_has_used():
    trial = Trial(reply("a long answer", tokens=70))
    trial.on("after_inference", HookOutcome.update(response=reply("short", tokens=1, finish_reason="content_filter")))
    state = trial.run()
    assert (state.output, state.steps[0].finish_reason, state.usage.total) == ("short", "content_filter", 1)


# -- what it costs -----------------------------------------------------------------------------------------------------


def test_what_each_model_has_cost_is_added_up_also_for_answers_that_were_not_taken():
    def by(model: str, content: str, tokens: int) -> ModelResponse:
        return ModelResponse(content=content, model=model, usage=Usage(input_tokens=tokens))

    trial = Trial(by("small", "no", 3), by("large", "yes", 5), by("large", "really", 7))
    trial.on("after_inference", AGAIN, times=1)
    trial.on("on_stop", ON, times=1)
    state = trial.run()
    assert {model: usage.total for model, usage in state.model_usage.items()} == {"small": 3, "large": 12}
    assert [step.usage.total for step in state.steps] == [8, 7]


@pytest.mark.parametrize(
    ("second", "outcome", "sent"),
    [
        ("yes", HookOutcome.deny("no"), 1),
        ("yes", STOP, 1),
        ("yes", RuntimeError("bang"), 1),
        (NO, None, 2),
        (StopRunError("no"), None, 2),
    ],
    ids=["denied", "stopped", "gate fails", "driver fails", "driver stops"],
)
def test_what_a_retried_response_has_cost_is_counted_even_if_the_next_request_fails(second, outcome, sent):
    trial = Trial(reply("no", tokens=3), second)
    trial.on("after_inference", AGAIN)
    trial.on("before_inference", outcome, when=lambda _: trial.requests)
    state = trial.run()
    assert (len(trial.requests), state.usage.total) == (sent, 3)


# -- errors ------------------------------------------------------------------------------------------------------------

FAILING = """
from agent_hooks import AgentBuilder, ScriptedDriver, ToolCall

def pay(card: str) -> None:
    raise ValueError(f"no such card: {card}")

agent = AgentBuilder(plugins=()).with_driver(ScriptedDriver(ToolCall("pay", {"card": "4111"}), ConnectionError("4111")))
state = agent.with_tools(pay).with_name("shop").build().run_sync("Pay with 4111.")
print(state.status, [error.type for error in state.errors])
state.raise_for_error()
"""


def test_a_program_whose_run_fails_reads_one_warning_with_the_kinds_of_errors_and_no_values(tmp_path):
    done = subprocess.run([sys.executable, "-c", FAILING], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout == "failed ['ValueError', 'ConnectionError']\n"
    warning, *rest = done.stderr.splitlines()
    assert re.fullmatch(
        r"agent_hooks: the run [0-9a-f]{16} of 'shop' failed: tool pay: ValueError, model scripted: ConnectionError",
        warning,
    )
    assert rest[0].startswith("Traceback")
    assert rest[-1] == "agent_hooks.errors.RunFailedError: ValueError: no such card: 4111; ConnectionError: 4111"


def test_where_a_run_failed_is_logged_at_debug_without_values(caplog):
    with caplog.at_level(logging.DEBUG, logger="agent_hooks.runtime"):
        Trial(call("boom", text="s3cr3t"), call("nothing", text="s3cr3t"), ConnectionError("s3cr3t")).run()
    (warning,) = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    kinds = "tool boom: ValueError, an unknown tool: RunError, model scripted: ConnectionError"
    assert warning.endswith(f"failed: {kinds}")
    assert "in boom" in caplog.text
    assert "s3cr3t" not in caplog.text


def test_a_run_that_did_not_fail_logs_nothing_and_raises_nothing(caplog):
    trial = Trial(NO, call(), "done")
    trial.on("on_error", AGAIN)
    state = trial.run()
    assert (state.raise_for_error(), caplog.records) == (state, [])


def test_errors_of_tools_are_in_the_state_and_the_exception_once_and_in_order():
    def look(key: str) -> str:
        raise KeyError(key)

    driver = ScriptedDriver([call("look", key="a"), call("look", key="b")], call("look", key="c"), "done")
    state = AgentBuilder(plugins=()).with_driver(driver).with_tools(look).build().run_sync("Go.")
    assert (state.status, [error.type for error in state.errors]) == ("failed", ["KeyError"] * 3)
    with pytest.raises(RunFailedError, match=r"^KeyError: 'a'; KeyError: 'b'; KeyError: 'c'$"):
        state.raise_for_error()


ERRORS = [NO, SystemExit(3), asyncio.CancelledError("its own"), KeyError("k")]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_whatever_a_driver_raises_fails_the_run_and_is_on_record(error):
    trial = Trial(error)
    asked, other = trial.on("on_error", match=type(error).__name__), trial.on("on_error", match="ArithmeticError")
    state = trial.run()
    info = ErrorInfo.of(error)
    assert (state.status, state.errors, state.output) == ("failed", (info,), None)
    assert [step.errors for step in state.steps] == [(info,)]
    assert signal_of(state).reason == "error"
    assert info.type in signal_of(state).message
    (ctx,) = asked.calls
    assert (ctx.error, ctx.error_list, ctx.has_errors, ctx.state.status) == (error, (info,), True, "failed")
    assert other.calls == []
