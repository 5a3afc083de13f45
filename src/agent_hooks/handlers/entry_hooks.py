"""The hooks of entries, made of the hooks of their handlers."""

from __future__ import annotations

from agent_hooks.engine.calling import drive, in_event_loop
from agent_hooks.engine.markers import hookimpl
from agent_hooks.engine.matchers import compile_match
from agent_hooks.engine.origins import ORIGIN
from agent_hooks.errors import HandlerError, InvalidOutcomeError
from agent_hooks.model.context import HookContext
from agent_hooks.model.outcome import Decision, read_answer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from agent_hooks.formats.entry import HookEntry
    from agent_hooks.model.outcome import HookOutcome

    from .handler_type import HandlerType

# The handler types of this package.
OWN_TYPES = ("command", "http")


def own_type(name: str) -> HandlerType | None:
    """Return the handler type of this package with this name, None if there is none."""
    if name == "command":
        from .command import CommandHandler

        return CommandHandler()
    if name == "http":
        from .http import HttpHandler

        return HttpHandler()
    return None


def make_hook(entry: HookEntry, handler: Any, config: Any, name: str, timeout: float) -> Callable[[HookContext], Any]:
    """Return the hook of an entry, marked with its options.

    ``config``: as the handler takes it. ``name``: the hook's. ``timeout``: its limit in the engine, in seconds. Raises
    ``RegistrationError``, and whatever a handler type of others raises.
    """
    bind = getattr(handler, "bind", None)
    run = bind(config, entry) if bind is not None else lambda ctx: handler.execute(config, ctx)
    # Claude Code does not switch the model while a hook is late.
    refuses_lateness = entry.form == "claude" and entry.host_event == "PreModelSwitch"
    if refuses_lateness or entry.once:
        hook = _conditional(run, entry, refuses_lateness=refuses_lateness)
    else:

        def hook(ctx: HookContext) -> Any:
            return run(ctx)

    options: dict[str, Any] = {
        "name": name,
        "match": _match(entry),
        "priority": entry.priority,
        "required": entry.required,
        "shadow": entry.shadow,
        "background": entry.is_async,
        "mode": "observe" if entry.is_async else entry.mode,
    }
    hookimpl(specname=str(entry.event), **options)(hook)
    hook.agent_hooks_impl.update(  # type: ignore[attr-defined]  # set by the marker
        entry_on_failure=entry.on_failure, entry_timeout=timeout
    )
    setattr(hook, ORIGIN, entry.origin)
    return hook


def _conditional(
    run: Callable[[HookContext], Any], entry: HookEntry, *, refuses_lateness: bool
) -> Callable[[HookContext], Any]:
    """Wrap a hook to run until it has approved one event of the session (``once``), or to refuse at its timeout."""
    approved: set[str] = set()

    def note(ctx: HookContext, answer: Any) -> Any:
        if entry.once and not _refuses(answer, ctx):
            approved.add(ctx.session_id)
        return answer

    def refuse(ctx: HookContext, error: HandlerError) -> HookOutcome:
        if refuses_lateness and isinstance(error.__cause__, TimeoutError):
            from .outputs import refused_by_failing

            return refused_by_failing(entry, ctx, error)
        raise error

    async def ask(ctx: HookContext) -> Any:
        try:
            answer = run(ctx)
            return note(ctx, await answer if hasattr(answer, "__await__") else answer)
        except HandlerError as error:
            return refuse(ctx, error)

    def hook(ctx: HookContext) -> Any:
        if ctx.session_id in approved and not ctx.rechecking:
            return None
        return ask(ctx) if in_event_loop() else drive(ask(ctx))

    return hook


def _refuses(answer: Any, ctx: HookContext) -> bool:
    """Whether the answer refuses the subject, or is invalid."""
    if isinstance(answer, HookContext):
        return answer.is_tool_execution_blocked
    try:
        outcome = read_answer(answer, ctx.event)
    except InvalidOutcomeError:
        return True
    # A refusal at a stop has had its effect: the agent continues.
    return outcome.blocks and (outcome.decision is not Decision.DENY or ctx.event.reads_deny_as != "force_continue")


def _match(entry: HookEntry) -> Any:
    """Return the entry's match, named by its text. Raises ``RegistrationError``."""
    found = entry.match or compile_match(entry.matcher, entry.event.matched_by, entry.source)
    if found is None:
        return None

    def match(ctx: HookContext) -> Any:
        return found(ctx)

    match.__name__ = match.match_text = entry.matcher or "*"  # type: ignore[attr-defined]
    match.is_ours = entry.form == "toml" and entry.match is None  # type: ignore[attr-defined]
    match.match_place = (entry.path, entry.line)  # type: ignore[attr-defined]
    return match
