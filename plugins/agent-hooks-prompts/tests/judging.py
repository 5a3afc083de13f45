"""Judges that are scripted, and events for them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from agent_hooks import HookContext, HookManager, HookRegistration, ModelResponse, ScriptedDriver, ToolCall
from agent_hooks_prompts import PromptHook

if TYPE_CHECKING:
    from collections.abc import Callable

    from agent_hooks import HookOutcome, ModelRequest

YES = '{"ok": true, "reason": ""}'
NO = '{"ok": false, "reason": "not so"}'


class Judge:
    """A driver whose answers a function of the request gives; ``requests`` is what it was asked."""

    model = "judge-1"

    def __init__(self, answer: Callable[[ModelRequest], Any]) -> None:
        self.answer = answer
        self.requests: list[ModelRequest] = []

    async def respond(self, request: ModelRequest) -> ModelResponse:
        self.requests.append(request)
        answer = self.answer(request)
        return ModelResponse.of(await answer if hasattr(answer, "__await__") else answer)


def call(command: str = "ls", *, kind: str = "shell", **fields: Any) -> HookContext:
    tool_call = ToolCall("Bash", {"command": command}, kind=kind)
    return HookContext("before_tool_use", tool_call=tool_call, **{"session_id": "s1", **fields})


def hook(*replies: Any, rule: str = "Is this harmless?", **options: Any) -> PromptHook:
    return PromptHook(rule, driver=ScriptedDriver(*replies, model="judge-1"), **options)


def manager_of(action: Any, event: str = "before_tool_use", **options: Any) -> HookManager:
    manager = HookManager(load_plugins=["prompts"])
    manager.add(HookRegistration(event=event, action=action, **options))
    return manager


def decided(action: Any, ctx: HookContext | None = None, **options: Any) -> HookOutcome:
    """What is decided where the hook is the only one."""
    ctx = ctx or call()
    return manager_of(action, str(ctx.event), **options).hooks().dispatch_sync(ctx)


def data_in(request: ModelRequest) -> tuple[str, str]:
    """What of a request is between the marks that its system prompt names, and everything that is not."""
    (mark,) = set(re.findall(r"<(event-[0-9a-f]{32})>", request.system_prompt))
    (message,) = request.messages
    before, opening, rest = message.content.partition(f"<{mark}>")
    inside, closing, after = rest.rpartition(f"</{mark}>")
    assert opening
    assert closing
    return inside, f"{request.system_prompt}\n{before}\n{after}"
