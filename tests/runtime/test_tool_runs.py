"""How tools run: stops and retries of their calls, several at once, and what the programs that they start may do."""

from __future__ import annotations

import asyncio
import contextvars
import subprocess
import sys
import threading

import pytest

from agent_hooks import HookOutcome
from agent_hooks.errors import StopRunError, SuspensionError, TrustError
from agent_hooks.runtime.agent import AgentRuntime
from agent_hooks.runtime.driver import ScriptedDriver
from agent_hooks.runtime.python_tools import tool
from agent_hooks.system.by_hand import marked_as_agent, refuse_agents
from agent_hooks.system.store import MemoryStore
from runtime.agents import Trial, assert_well_formed, call, echo, executions, results, signal_of, stop_signal, trial_of

NO = HookOutcome.deny("no")
AGAIN = HookOutcome.retry()
NOT_RUN = "Not run: the run was stopped."
MADE = "The call was made before, and its result was refused."
WITHHELD = "Result withheld: Retry limit reached: {}/{}."


# -- stopping ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", ["", "quota"])
def test_a_tool_may_stop_the_run_and_say_who_wants_it(source, parallel):
    """The tool requested the stop; it is no failure."""

    @tool(name="quit")
    def leave() -> None:
        raise StopRunError("I am out", source=source, after=3)

    trial = trial_of(parallel, [call("quit"), call()], "done", tools=[leave, echo])
    state = trial.run()
    assert signal_of(state) == stop_signal(
        "stop_requested", message="I am out", context={"after": 3}, source=source or "quit"
    )
    assert (len(trial.requests), state.status) == (1, "stopped")
    assert_well_formed(state.messages)
    assert results(state)[1] == ("echo: a" if parallel else f"Denied: {NOT_RUN}")


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


@pytest.mark.parametrize("event", ["on_tool_error", "after_tool_use"])
@pytest.mark.parametrize("works_at", [1, 2, 4])
@pytest.mark.parametrize("most", [0, 1, 2])
def test_retries_of_a_call_are_limited_and_then_its_error_stands_or_its_result_is_withheld(
    event, works_at, most, parallel
):
    """What the hooks before it tell the model is told once."""
    flaky = Flaky(works_at)
    tools = [tool(flaky, name="flaky"), echo]
    trial = trial_of(parallel, [call("flaky"), call()], "done", tools=tools, max_retries=most)
    trial.on("before_tool_use", HookOutcome.with_context("mind the gap"), match="flaky")
    asked = trial.on(event, AGAIN, when=lambda ctx: ctx.tool_execution.failed, match="flaky")
    state = trial.run()
    attempts = min(works_at, 1 + most)
    works = attempts == works_at
    refused = {"on_tool_error": f"Error: attempt {attempts}", "after_tool_use": WITHHELD.format(most, most)}
    text = f"attempt {attempts}" if works else refused[event]
    assert results(state) == [f"{text}\n\nmind the gap", "echo: a"]
    assert state.status == ("completed" if works or event == "after_tool_use" else "failed")
    assert (flaky.calls, len(executions(state))) == (attempts, 2)
    assert len(asked.calls) == (attempts if event == "after_tool_use" else attempts - works)


def test_a_wait_that_a_tool_reports_is_a_failed_call_also_when_it_is_retried(parallel):
    @tool
    def work() -> None:
        raise SuspensionError("It waits.")

    trial = trial_of(parallel, [call("work"), call()], "done", tools=[work, echo])
    asked = trial.on("on_tool_error", AGAIN)
    assert results(trial.run()) == ["Error: It waits.", "echo: a"]
    assert len(asked.calls) == 3


def test_a_retried_call_goes_through_its_hooks_again_and_they_may_deny_it():
    flaky = Flaky(5)
    trial = Trial(call("flaky"), "done", tools=[tool(flaky, name="flaky")])
    trial.on("on_tool_error", AGAIN)
    trial.on("before_tool_use", HookOutcome.deny("not again"), when=lambda ctx: flaky.calls > 0)
    state = trial.run()
    assert (flaky.calls, results(state), state.status) == (1, [f"Denied: not again\n\n{MADE}"], "completed")
    again = ["before_tool_use", "on_tool_error", "after_tool_use", "before_tool_use", "after_tool_use"]
    assert [event for event in trial.events if "tool" in event] == again


def test_a_retry_starts_from_the_models_own_arguments():
    """So that a rewrite that is no idempotent one is not applied to itself."""
    trial = Trial(call("boom", text="x"), "done")
    trial.on(
        "before_tool_use",
        lambda ctx: None if ctx.rechecking else HookOutcome.with_args({"text": f"{ctx.tool_args['text']}!"}),
        times=1,
    )
    asked = trial.on("on_tool_error", AGAIN, times=1)
    state = trial.run()
    assert [ctx.tool_args["text"] for ctx in asked.calls] == ["x!", "x"]
    assert executions(state)[0].call.args == {"text": "x"}


def test_what_parallel_tools_have_done_is_kept_while_the_retry_of_one_waits_for_an_answer():
    """So that nothing is done twice once the run goes on."""
    ran: list[str] = []
    flaky = Flaky(2)
    tools = [tool(flaky, name="flaky"), tool(lambda: ran.append("work"), name="work")]
    trial = trial_of(True, [call("flaky"), call("work")], "done", tools=tools)
    trial.on("on_tool_error", AGAIN)
    trial.on("before_tool_use", HookOutcome.ask("once more?"), when=lambda ctx: flaky.calls > 0, match="flaky")
    trial.builder = trial.builder.with_ask("host").with_store(MemoryStore())
    state = trial.run()
    assert (state.status, ran) == ("suspended", ["work"])
    assert trial.build().resume_sync(state, "allow").output == "done"
    assert ran == ["work"]


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
def test_parallel_tools_really_run_at_the_same_time_and_results_keep_their_order_also_if_one_fails(number):
    party = Rendezvous(number)

    @tool
    async def fails() -> None:
        await asyncio.wait_for(party.all_there.wait(), 30)
        raise ValueError("no fuel")

    calls = [call("fails"), *(call("meet", n=n) for n in range(number))]
    state = trial_of(True, calls, "done", tools=[fails, party.meet]).run()
    assert party.order == list(reversed(range(number)))
    assert results(state) == ["Error: no fuel", *(f"met {n}" for n in range(number))]


def test_parallel_tools_in_threads_run_at_the_same_time_too():
    work = tool(threading.Barrier(2, timeout=30).wait, name="work", in_thread=True)
    state = trial_of(True, [call("work"), call("work")], "done", tools=[work]).run()
    assert sorted(results(state)) == ["0", "1"]


def test_tools_see_the_context_variables_of_the_caller(parallel):
    who: contextvars.ContextVar[str] = contextvars.ContextVar("who", default="nobody")
    who.set("the caller")

    def work() -> str:
        return who.get()

    state = trial_of(parallel, [call("work"), call("work")], "done", tools=[work]).run()
    assert results(state) == ["the caller"] * 2


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
    agent = AgentRuntime(ScriptedDriver(call(name), "done"), tools=[run_untrust, run_untrust_later])
    (result,) = results(agent.run_sync("go"))
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
