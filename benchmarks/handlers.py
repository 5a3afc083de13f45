"""What a command handler adds to starting its command: a hook that answers with JSON, against asyncio's own exec."""

from __future__ import annotations

import asyncio
import json
import sys
from time import perf_counter
from typing import TYPE_CHECKING

from measure import Row

from agent_hooks import HookContext, HookManager, ToolCall
from agent_hooks.formats.entry import HookEntry
from agent_hooks.handlers.registering import register_entries
from agent_hooks.model.events import HookEvent

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from typing import Any

    from measure import Batch

# Isolated and without site: what the interpreter itself costs is not the question.
COMMAND = [
    *(sys.executable, "-ISc"),
    "import json, sys; json.load(sys.stdin); print(json.dumps({'decision': 'deny', 'reason': 'no'}))",
]
EXEC = "asyncio's exec"

ROWS = [
    Row("command handler, one JSON hook", EXEC, ("command handler",), EXEC, 1.5),
    Row("command handler, one JSON hook, sync", EXEC, ("command handler, sync",), EXEC, None),
]


def sides(runner: asyncio.Runner) -> dict[str, Batch]:
    """Return the sides of ``ROWS`` by name."""
    manager = HookManager(load_plugins=False)
    entry = HookEntry(
        event=HookEvent.BEFORE_TOOL_USE, type="command", config={"command": COMMAND}, path="hooks", line=1
    )
    register_entries(manager, "hooks", [entry])
    hooks = manager.hooks()
    ctx = HookContext("before_tool_use", tool_call=ToolCall("Bash", {"command": "git push --force"}))
    told = json.dumps(ctx.as_payload()).encode()

    async def theirs() -> str:
        process = await asyncio.create_subprocess_exec(
            *COMMAND, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
        )
        stdout, _ = await process.communicate(told)
        return str(json.loads(stdout)["decision"])

    async def ours() -> str:
        return str((await hooks.dispatch(ctx)).decision)

    return {
        EXEC: _awaited(runner, theirs),
        "command handler": _awaited(runner, ours),
        "command handler, sync": _called(lambda: str(hooks.dispatch_sync(ctx).decision)),
    }


def _awaited(runner: asyncio.Runner, answer: Callable[[], Coroutine[Any, Any, str]]) -> Batch:
    async def batch(times: int) -> float:
        begun = perf_counter()
        for _ in range(times):
            assert await answer() == "deny"
        return perf_counter() - begun

    return lambda times: runner.run(batch(times))


def _called(answer: Callable[[], str]) -> Batch:
    def batch(times: int) -> float:
        begun = perf_counter()
        for _ in range(times):
            assert answer() == "deny"
        return perf_counter() - begun

    return batch
