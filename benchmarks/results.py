"""What a large result of a tool costs between the tool and the next request: in all, and in one piece.

Measured against ``json.loads`` of the same result, which a tool that brings so much has done in one piece itself.
"""

from __future__ import annotations

import asyncio
import gc
import json
from time import perf_counter
from typing import TYPE_CHECKING, Any

from measure import Row

from agent_hooks import AgentBuilder, ModelRequest, ModelResponse, ToolCall

if TYPE_CHECKING:
    from asyncio import Runner
    from pathlib import Path

LOADS = "json.loads of a result of 10 MB"
ROWS = [
    Row("a result of 10 MB of dicts, no plugins", LOADS, ("result",), LOADS, None),
    Row("    its longest block of the event loop", LOADS, ("result, block",), LOADS, None),
    Row("    with the plugins installed", LOADS, ("result, plugins",), LOADS, None),
    Row("    its longest block of the event loop", LOADS, ("result, plugins, block",), LOADS, None),
]


def rows(count: int) -> list[Any]:
    """Return so many rows as an API brings them, each of about 200 bytes: with addresses, so that guards look twice."""
    return [
        {
            "id": f"{number:032x}",
            "url": f"https://site.example.org/pages/{number}",
            "title": f"page number {number}",
            "tags": ["news", "archive"],
            "author": {"name": "Ada", "mail": "ada@site.example.org"},
        }
        for number in range(count)
    ]


class Driver:
    """A fake model that wants one call, and records when it was asked."""

    model = "fake"

    def __init__(self) -> None:
        self.asked: list[float] = []

    async def respond(self, request: ModelRequest) -> ModelResponse:  # noqa: ARG002 - the protocol's
        self.asked.append(perf_counter())
        if len(self.asked) == 1:
            return ModelResponse(tool_calls=(ToolCall("fetch", id="call-1"),), finish_reason="tool_calls")
        return ModelResponse(content="done", finish_reason="stop")


async def _gaps(gaps: list[float]) -> None:
    last = perf_counter()
    while True:
        await asyncio.sleep(0)
        now = perf_counter()
        gaps.append(now - last)
        last = now


async def _step(value: Any, folder: Path, plugins: Any) -> tuple[float, float]:
    """Return the seconds of a step whose tool returns ``value``, and of its longest block."""

    async def fetch() -> Any:
        return value

    driver, gaps = Driver(), list[float]()
    agent = AgentBuilder(plugins=plugins).with_driver(driver).with_tools(fetch).with_cwd(folder).build()
    watching = asyncio.create_task(_gaps(gaps))
    state = await agent.run("Go.")
    watching.cancel()
    if state.output != "done" or "ada@site" not in state.messages[-2].content:
        raise AssertionError(f"The run ended with {state.errors} {state.stop_signal}.")
    return driver.asked[1] - driver.asked[0], max(gaps)


def large_results(runner: Runner, folder: Path, count: int = 50_000, times: int = 5) -> dict[str, float]:
    """Return the seconds of the sides of ``ROWS``, the fastest of each."""
    value = rows(count)
    text = json.dumps(value)
    found: dict[str, list[float]] = {}
    for _ in range(times):
        gc.collect()
        begun = perf_counter()
        json.loads(text)
        found.setdefault(LOADS, []).append(perf_counter() - begun)
        for name, plugins in (("result", ()), ("result, plugins", None)):
            taken, block = runner.run(_step(value, folder, plugins))
            found.setdefault(name, []).append(taken)
            found.setdefault(f"{name}, block", []).append(block)
    return {name: min(seconds) for name, seconds in found.items()}
