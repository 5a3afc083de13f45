"""What a step of the runtime costs, against a step of agent-framework-core.

Both sides ask a model that answers at once, and call the same tool. A run is measured without a tool call, which is
what every run costs, and with so many that the difference of the two is what its steps cost.
"""

# ruff: noqa: ARG002 - the fake models answer whatever they are asked
from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Any

from measure import Row

from agent_hooks import AgentBuilder, HookContext, ModelRequest, ModelResponse, ToolCall, Usage

if TYPE_CHECKING:
    from asyncio import Runner

    from measure import Batch

FRAMEWORK = "agent-framework-core"
MISSING = f"{FRAMEWORK} is not installed: pip install {FRAMEWORK}"
THEIR_STEP = f"{FRAMEWORK}'s step"
THEIR_RUN = f"{FRAMEWORK}'s run"
STEPS = 20  # theirs stops by itself after 40
HOOKS = 5

ROWS = [
    Row("runtime step with one tool call, no hooks", THEIR_STEP, ("step",), THEIR_STEP, 0.5),
    Row(f"    and {HOOKS} sync hooks returning None before it", THEIR_STEP, ("step, hooks",), THEIR_STEP, None),
    Row("runtime run of one answer, no tool call", THEIR_RUN, ("run",), THEIR_RUN, None),
]


async def echo(text: str) -> str:
    """Return the text."""
    return text


def silent(ctx: HookContext) -> None:
    """Have no opinion."""


class Driver:
    """Our fake model: it wants the tool used as often as ``calls`` says, then ends."""

    model = "fake"
    calls = 0

    async def respond(self, request: ModelRequest) -> ModelResponse:
        usage = Usage(input_tokens=10, output_tokens=5)
        if not self.calls:
            return ModelResponse(content="done", usage=usage, finish_reason="stop")
        self.calls -= 1
        wanted = ToolCall("echo", {"text": "hello"}, id="call-1")
        return ModelResponse(tool_calls=(wanted,), usage=usage, finish_reason="tool_calls")


def our_run(hooks: int) -> tuple[Driver, Any]:
    """Return our fake model, and what runs our agent with so many hooks before its tool."""
    driver = Driver()
    builder = AgentBuilder(plugins=()).with_driver(driver).with_tools(echo)
    for number in range(hooks):
        builder = builder.before_tool_use(silent, name=f"silent{number}")
    agent = builder.build()

    async def run() -> tuple[Any, list[Any]]:
        state = await agent.run("Go.")
        return state.output, [message.content for message in state.messages if message.role == "tool"]

    return driver, run


def their_run() -> tuple[Any, Any]:
    """Return their fake model, and what runs their agent: the least it can be, without middleware or telemetry.

    Raises ``ImportError`` if it is not installed.
    """
    from agent_framework import Agent, BaseChatClient, ChatResponse, Content, FunctionInvocationLayer, Message
    from agent_framework.observability import disable_instrumentation

    disable_instrumentation()

    class Client(FunctionInvocationLayer, BaseChatClient):
        calls = 0

        async def _inner_get_response(self, **request: Any) -> ChatResponse:
            usage = {"input_token_count": 10, "output_token_count": 5}
            if not self.calls:
                return ChatResponse(messages=Message("assistant", ["done"]), usage_details=usage, finish_reason="stop")
            self.calls -= 1
            wanted = Content.from_function_call("call-1", "echo", arguments={"text": "hello"})
            message = Message("assistant", [wanted])
            return ChatResponse(messages=message, usage_details=usage, finish_reason="tool_calls")

    client = Client()
    agent = Agent(client, tools=[echo])

    async def run() -> tuple[Any, list[Any]]:
        response = await agent.run("Go.")
        contents = [content for message in response.messages for content in message.contents]
        return response.text, [content.result for content in contents if content.type == "function_result"]

    return client, run


def side(runner: Runner, model: Any, run: Any, calls: int) -> Batch:
    """Return the side that runs an agent whose model wants so many calls of the tool."""

    async def batch(times: int) -> float:
        start = perf_counter()
        for _ in range(times):
            model.calls = calls
            brought = await run()
        seconds = perf_counter() - start
        if brought != ("done", ["hello"] * calls):
            raise AssertionError(f"The run with {calls} tool calls brought {brought!r}.")
        return seconds

    return lambda times: runner.run(batch(times))


def sides(runner: Runner) -> tuple[dict[str, Batch], dict[str, str]]:
    """Return the runs of ``ROWS`` by name, each also with ``STEPS`` steps, and of those that cannot run, why."""
    runs = {"run": our_run(0), "run, hooks": our_run(HOOKS)}
    missing = {}
    try:
        runs[THEIR_RUN] = their_run()
    except ImportError:
        missing = {THEIR_RUN: MISSING, THEIR_STEP: MISSING}
    found = {}
    for name, (model, run) in runs.items():
        found[name] = side(runner, model, run, 0)
        found[_with_steps(name)] = side(runner, model, run, STEPS)
    return found, missing


def per_step(seconds: dict[str, float]) -> dict[str, float]:
    """Return the seconds of one step by name, from those of the runs."""
    return {
        name.replace("run", "step"): (seconds[_with_steps(name)] - seconds[name]) / STEPS
        for name in ("run", "run, hooks", THEIR_RUN)
        if name in seconds
    }


def _with_steps(name: str) -> str:
    return f"{name}, {STEPS} steps"
