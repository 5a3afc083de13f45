"""What several test files make: a model with a script for each agent, tools, a definition, a spawning call."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from agent_hooks import AgentBuilder, ModelResponse, ToolCall, Usage, tool
from agent_hooks_subagents import SubagentDefinition, UseSubagents

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from agent_hooks import AgentRuntime, AgentState, ModelRequest


class Talks:
    """A model that has a script for each agent, found by the first message of its conversation."""

    model = "scripted"

    def __init__(self, **scripts: Sequence[Any]) -> None:
        self.scripts = {name: list(replies) for name, replies in scripts.items()}
        self.requests: list[tuple[str, ModelRequest]] = []

    async def respond(self, request: ModelRequest) -> ModelResponse:
        task = str(request.messages[0].content).partition(" ")[0]
        self.requests.append((task, request))
        reply = self.scripts[task].pop(0)
        if callable(reply):
            reply = reply(request)
            if hasattr(reply, "__await__"):
                reply = await reply
        return ModelResponse.of(reply)

    def of(self, task: str) -> list[ModelRequest]:
        """What was asked in the conversation that begins so."""
        return [request for name, request in self.requests if name == task]


@tool(kind="read")
def look(path: str = ".") -> str:
    """Look around."""
    return f"Nothing new in {path}."


@tool(kind="shell")
def sh(command: str) -> str:
    """Run a command."""
    return f"ran {command}"


def using(name: str, /, *, tokens: int = 1, id: str = "", **args: Any) -> ModelResponse:  # noqa: A002 - hosts call it so
    """A reply that wants a tool, and what it cost."""
    return ModelResponse(tool_calls=(ToolCall(name, args, id=id),), usage=Usage(input_tokens=tokens))


def says(text: Any, tokens: int = 1) -> ModelResponse:
    return ModelResponse(content=text, usage=Usage(input_tokens=tokens), finish_reason="stop")


def echo(request: ModelRequest) -> ModelResponse:
    """A reply that repeats what the model was told last."""
    return says(request.messages[-1].content)


def spawn(subagent: str, prompt: str, **more: Any) -> ModelResponse:
    """A reply that starts a subagent."""
    return using("spawn_subagent", subagent=subagent, prompt=prompt, **more)


def helper(name: str = "helper", **fields: Any) -> SubagentDefinition:
    return SubagentDefinition(
        **{"name": name, "description": f"Helps as {name}.", "prompt": f"You are {name}.", **fields}
    )


def builder(model: Any, *definitions: SubagentDefinition, max_depth: int = 3) -> AgentBuilder:
    """An agent without plugins that has two tools and may start subagents."""
    return (
        AgentBuilder(plugins=())
        .with_driver(model)
        .with_tools(look, sh)
        .with_capability(UseSubagents(*definitions, max_depth=max_depth))
    )


def told(state: AgentState) -> list[str]:
    """What the model was told about each of its tool calls."""
    return [message.content for message in state.messages if message.role == "tool"]


def ended(state: AgentState) -> tuple[str, str | None]:
    signal = state.stop_signal
    return state.status, str(signal.reason) if signal is not None else None


def tools_of(request: ModelRequest) -> list[str]:
    return [each["name"] for each in request.tools]


def markdown(path: Path, head: str, body: str = "You are careful.") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"---\n{textwrap.dedent(head).strip()}\n---\n{body}\n", encoding="utf-8")
    return path


def run(agent: AgentBuilder | AgentRuntime, prompt: str = "main") -> AgentState:
    built = agent.build() if isinstance(agent, AgentBuilder) else agent
    return built.run_sync(prompt)
