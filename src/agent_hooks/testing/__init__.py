"""For plugin authors: check a plugin, build a context, run a single hook, check that a rewrite is idempotent and that
settings of projects only tighten.
"""

from __future__ import annotations

from agent_hooks.engine.manager import HookManager
from agent_hooks.engine.plugin_info import MadePlugin
from agent_hooks.engine.registration import HookRegistration
from agent_hooks.model.context import HookContext
from agent_hooks.model.state import AgentState
from agent_hooks.model.tool_call import ToolCall

from .plugin_check import check_plugin
from .tightening import assert_tightens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, Unpack

    from agent_hooks.engine.hooks import Hooks
    from agent_hooks.model.events import HookEvent
    from agent_hooks.model.fields import ContextFields
    from agent_hooks.model.outcome import HookOutcome

__all__ = ["assert_idempotent", "assert_tightens", "check_plugin", "make_context", "run_hook", "run_hook_async"]


def make_context(
    event: HookEvent | str = "before_tool_use",
    *,
    tool: str | None = None,
    args: Mapping[str, Any] | None = None,
    kind: str | None = None,
    **fields: Unpack[ContextFields],
) -> HookContext:
    """Return a context for ``event`` with a session, a working directory and an empty state.

    ``tool``, ``args`` and ``kind`` make its tool call (kind ``shell`` has a ``command``…); ``fields`` are those of
    ``HookContext`` and win over the defaults.
    """
    if tool is not None or args is not None:
        fields.setdefault("tool_call", ToolCall(tool or "tool", args, id="call-1", kind=kind))
    defaults: dict[str, Any] = {
        "session_id": "test-session",
        "agent_name": "test-agent",
        "cwd": "/project",
        "state": AgentState(),
    }
    return HookContext(event, **{**defaults, **fields})


def run_hook(hook: Callable[..., Any], ctx: HookContext, **options: Any) -> HookOutcome:
    """Return the outcome of ``hook`` alone on ``ctx``, as the engine would settle it.

    ``hook``: a function marked with ``@hookimpl`` (its options hold) or any callable that takes hookspec arguments or
    the context; async ones are run in an event loop. ``options`` are those of ``HookRegistration`` and win over the
    marker's; for a wrapper, those of ``HookManager.register``. In an async test use ``run_hook_async``.
    """
    return _hooks_with(hook, ctx, options).run_sync(ctx)


async def run_hook_async(hook: Callable[..., Any], ctx: HookContext, **options: Any) -> HookOutcome:
    """Do the same where an event loop runs already."""
    return await _hooks_with(hook, ctx, options).dispatch(ctx)


def _hooks_with(hook: Callable[..., Any], ctx: HookContext, options: dict[str, Any]) -> Hooks:
    manager = HookManager(load_plugins=False)
    marked = getattr(hook, "agent_hooks_impl", {}).get("options")
    if marked is not None and marked.wrapper:
        plugin = MadePlugin(hook.__name__)
        setattr(plugin, ctx.event, hook)
        manager.register(plugin, **options)
        return manager.hooks()
    fields = dict(marked._fields) if marked is not None else {}
    for unknown in ("wrapper", "tryfirst", "trylast"):
        fields.pop(unknown, None)
    manager.add(HookRegistration(event=ctx.event, action=hook, **{**fields, **options}))
    return manager.hooks()


def assert_idempotent(hook: Callable[..., Any], ctx: HookContext, **options: Any) -> HookOutcome:
    """Check that ``hook`` leaves its own result alone, and return the outcome of its first call.

    A rewrite that changes its own result again never settles, and the engine denies it. Raises ``AssertionError``
    naming both results.
    """
    first = run_hook(hook, ctx, **options)
    name = ctx.event.subject
    if first.failed:
        raise AssertionError(f"The hook failed: {first.reason}")
    if name is None or name not in first._fields:
        return first
    rewritten = ctx.with_subject(getattr(first, name))
    second = run_hook(hook, rewritten, **options)
    if name in second._fields:
        raise AssertionError(
            f"The hook is not idempotent: it made {ctx.subject!r} into {rewritten.subject!r}, "
            f"and that into {getattr(second, name)!r}."
        )
    return first
