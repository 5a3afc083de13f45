"""What an agent costs with the plugins as installed: a step, a decision of the guards, building it, counting.

Commands are never seen before: guards remember what they have decided. Where there is nothing to compare with, the
budget is a time.
"""

from __future__ import annotations

import os
from importlib.metadata import PackageNotFoundError, distribution
from itertools import count
from time import perf_counter
from typing import TYPE_CHECKING, Any

from measure import Row

from agent_hooks import AgentBuilder, HookContext, HookManager, ModelRequest, ModelResponse, ToolCall, tool
from agent_hooks.system.store import Store
from runtime import THEIR_STEP

if TYPE_CHECKING:
    from asyncio import Runner
    from collections.abc import Callable
    from pathlib import Path

    from measure import Batch

    Call = Callable[[int], ToolCall]

GUARDS = "agent-hooks-guards"
STEPS = 20
LONG = 10_000
TIMES = {"120 us": 120e-6, "2 ms": 2e-3, "0.5 ms": 0.5e-3}
FIRST_STEPS, LAST_STEPS = "steps 10 to 110 of a long run", "its last 100 steps"
PIPELINE = (
    "find src -name '*.py' | xargs grep -n 'def test_{}' | sort -u | head -n 40 | awk '{{print $1}}' | " * 2 + "wc -l"
)

ROWS = [
    Row("runtime step, plugins installed, a tool of no kind", THEIR_STEP, ("step, echo",), THEIR_STEP, 0.7),
    Row("    and a shell that runs the tests", THEIR_STEP, ("step, shell",), THEIR_STEP, 1.0),
    Row("    and a shell with a pipeline of 200 characters", THEIR_STEP, ("step, pipeline",), THEIR_STEP, 2.5),
    Row("guards' whole dispatch, an everyday command", "120 us", ("guards",), "120 us", 1.0),
    Row(f"step of a run with {LONG} steps, at its end", FIRST_STEPS, (LAST_STEPS,), FIRST_STEPS, 1.2),
    Row("building an agent with the plugins installed", "2 ms", ("build",), "2 ms", 1.0),
    Row("a counter in the store", "0.5 ms", ("counter",), "0.5 ms", 1.0),
]
CALLS: dict[str, Call] = {
    "step, echo": lambda number: ToolCall("echo", {"text": f"hello {number}"}, id="call-1"),
    "step, shell": lambda number: ToolCall("shell", {"command": f"npm test -- --grep word{number}"}, id="call-1"),
    "step, pipeline": lambda number: ToolCall("shell", {"command": PIPELINE.format(number, number)}, id="call-1"),
}


@tool
async def echo(text: str) -> str:
    """Return the text."""
    return text


@tool(kind="shell")
async def shell(command: str) -> str:
    """Return the command, as if it had been run."""
    return command


class Driver:
    """A fake model that wants as many calls as ``calls`` says, none twice, and records when it was asked."""

    model = "fake"
    calls = 0

    def __init__(self, call: Call) -> None:
        self.call = call
        self.numbers = count()
        self.asked: list[float] = []

    async def respond(self, request: ModelRequest) -> ModelResponse:  # noqa: ARG002 - the protocol's
        self.asked.append(perf_counter())
        if not self.calls:
            return ModelResponse(content="done", finish_reason="stop")
        self.calls -= 1
        return ModelResponse(tool_calls=(self.call(next(self.numbers)),), finish_reason="tool_calls")


def build(driver: Driver, folder: Path, plugins: Any = None) -> Any:
    """Return an agent with the plugins installed, or without, that may take any number of steps."""
    builder = AgentBuilder(plugins=plugins).with_driver(driver).with_tools(echo, shell).with_limits(max_steps=None)
    return builder.with_cwd(folder).build()


def steps(runner: Runner, call: Call, folder: Path) -> Batch:
    """Return the side that takes so many steps with a call each; a step lasts from one request to the next."""
    driver = Driver(call)
    agent = build(driver, folder)

    def batch(times: int) -> float:
        driver.calls = times
        driver.asked.clear()
        state = runner.run(agent.run("Go."))
        if state.status != "completed" or any(step.errors for step in state.steps):
            raise AssertionError(f"The run ended with {state.errors} {state.stop_signal}.")
        return driver.asked[-1] - driver.asked[0]

    return batch


def sides(runner: Runner, folder: Path) -> tuple[dict[str, Batch], dict[str, str]]:
    """Return the sides of ``ROWS`` by name, and of those that cannot run here, why. ``folder`` is empty and theirs."""
    for variable, name in (("AGENT_HOOKS_CONFIG_DIR", "config"), ("AGENT_HOOKS_STATE_DIR", "state")):
        os.environ[variable] = str(folder / name)
    work = folder / "work"
    work.mkdir()
    store, numbers = Store(folder / "store.sqlite3"), count()

    def counter(times: int) -> float:
        begun = perf_counter()
        for _ in range(times):
            store.increment("session", f"key{next(numbers) % 7}")
        return perf_counter() - begun

    found: dict[str, Batch] = {"counter": counter}
    try:
        distribution(GUARDS)
    except PackageNotFoundError:
        return found, dict.fromkeys((*CALLS, "guards", "build"), f"{GUARDS} is not installed")
    hooks = HookManager().hooks(ask="host")

    def guards(times: int) -> float:
        calls = [ToolCall("Bash", {"command": f"git log --oneline -n {next(numbers)}"}) for _ in range(times)]
        contexts = [HookContext("before_tool_use", tool_call=call, cwd=str(work)) for call in calls]
        begun = perf_counter()
        for ctx in contexts:
            hooks.dispatch_sync(ctx)
        return perf_counter() - begun

    def builds(times: int) -> float:
        driver = Driver(CALLS["step, echo"])
        begun = perf_counter()
        for _ in range(times):
            build(driver, work)
        return perf_counter() - begun

    return {
        **found,
        **{name: steps(runner, call, work) for name, call in CALLS.items()},
        "guards": guards,
        "build": builds,
    }, {}


def long_run(runner: Runner, folder: Path, length: int = LONG, times: int = 3) -> dict[str, float]:
    """Return the seconds of a step at the beginning of a run of so many steps, and at its end, the fastest of each."""
    first, last = [], []
    for _ in range(times):
        driver = Driver(CALLS["step, echo"])
        driver.calls = length
        runner.run(build(driver, folder, plugins=()).run("Go."))
        asked = driver.asked
        first.append((asked[110] - asked[10]) / 100)
        last.append((asked[-1] - asked[-101]) / 100)
    return {FIRST_STEPS: min(first), LAST_STEPS: min(last)}
