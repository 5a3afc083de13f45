"""Make hooks of the entries of files, and register them."""

from __future__ import annotations

from inspect import isawaitable
from typing import TYPE_CHECKING, Any

from agent_hooks.engine.calling import drive, in_event_loop
from agent_hooks.engine.markers import hookimpl
from agent_hooks.engine.matchers import compile_match
from agent_hooks.engine.origins import ORIGIN
from agent_hooks.engine.plugin_info import MadePlugin
from agent_hooks.errors import AgentHooksError, HandlerError, InvalidOutcomeError, RegistrationError
from agent_hooks.formats.entry import FORMS
from agent_hooks.formats.findings import ConfigFinding, not_honoured
from agent_hooks.model.context import HookContext
from agent_hooks.model.outcome import Decision, read_answer
from agent_hooks.model.policy import TIGHTENING_ONLY

from .outputs import refused_by_failing
from .types import find_type, handler_types, read_config

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from agent_hooks.engine.manager import HookManager
    from agent_hooks.formats.entry import HookEntry
    from agent_hooks.model.outcome import HookOutcome
    from agent_hooks.model.policy import HookPolicy

# A handler enforces its own timeout and cleans up. The engine's limit is for handlers that do not.
_GRACE_SECONDS = 5.0
# Types that `allow_shell=False` refuses: a file alone makes them leave the process.
REACHING_OUT = ("command", "http")


def register_entries(
    manager: HookManager, name: str, entries: Iterable[HookEntry], types: Mapping[str, Any] | None = None
) -> list[ConfigFinding]:
    """Register the entries of one file as the plugin ``name``; return a finding for each that cannot be honoured.

    ``types``: handler types of this call alone, by name, before all others. The entries must have one source, scope and
    form. No handler is run.
    """
    known = {**handler_types(manager), **(types or {})}
    plugin = MadePlugin(name)
    findings: list[ConfigFinding] = []
    first: HookEntry | None = None
    taken: set[str] = set()
    for number, entry in enumerate(entries):
        try:
            hook = _hook(entry, known, manager)
            called = _name(entry, taken)
            options: dict[str, Any] = {
                "name": called,
                "match": _match(entry),
                "priority": entry.priority,
                "required": entry.required,
                "shadow": entry.shadow,
                "background": entry.is_async,
                "mode": "observe" if entry.is_async else entry.mode,
            }
            mark = hookimpl(specname=str(entry.event), **options)
        except Exception as error:  # noqa: BLE001 - a handler type may be third-party code
            is_plain = isinstance(error, (AgentHooksError, ImportError))
            findings.append(not_honoured(entry, str(error) if is_plain else f"{type(error).__name__}: {error}"))
            continue
        mark(hook)
        hook.agent_hooks_impl.update(  # type: ignore[attr-defined]  # set by the marker
            entry_on_failure=entry.on_failure, entry_timeout=_time_limit(entry, manager.policy_of(entry.source))
        )
        setattr(hook, ORIGIN, entry.origin)
        setattr(plugin, f"entry_{number:04}", hook)  # pluggy sorts hooks by name
        first = first or entry
    if first is not None:
        manager.register(plugin, name, source=first.source, scope=first.scope, default_on_failure=FORMS[first.form])
    return findings


def _hook(entry: HookEntry, known: Mapping[str, Any], manager: HookManager) -> Callable[[HookContext], Any]:
    policy = manager.policy_of(entry.source)
    if entry.type in REACHING_OUT and not policy.allow_shell:
        raise RegistrationError("the policy says allow_shell = false, so files may bring no command and http hooks")
    handler = find_type(entry.type, known)
    config = _capped(read_config(handler, entry.config), _longest(entry, policy))
    bind = getattr(handler, "bind", None)
    run = bind(config, entry) if bind is not None else lambda ctx: handler.execute(config, ctx)
    # Claude Code does not switch the model while a hook is late.
    refuses_lateness = entry.form == "claude" and entry.host_event == "PreModelSwitch"
    if refuses_lateness or entry.once:
        return _conditional(run, entry, refuses_lateness=refuses_lateness)

    def hook(ctx: HookContext) -> Any:
        return run(ctx)

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
            return refused_by_failing(entry, ctx, error)
        raise error

    async def ask(ctx: HookContext) -> Any:
        try:
            answer = run(ctx)
            return note(ctx, await answer if isawaitable(answer) else answer)
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


def _name(entry: HookEntry, taken: set[str]) -> str:
    wanted = f"{entry.name} ({entry.origin})" if entry.name else entry.origin
    name, number = wanted, 1
    while name in taken:
        number += 1
        name = f"{wanted}#{number}"
    taken.add(name)
    return name


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


def _time_limit(entry: HookEntry, policy: HookPolicy) -> float:
    seconds = entry.config.get("timeout")
    return min(float(seconds) if isinstance(seconds, (int, float)) else 60.0, _longest(entry, policy)) + _GRACE_SECONDS


def _capped(config: Any, longest: float) -> Any:
    """Return the handler's config with a timeout of at most ``longest`` seconds."""
    seconds = config.get("timeout") if isinstance(config, dict) else getattr(config, "timeout", None)
    if not isinstance(seconds, (int, float)) or seconds <= longest:
        return config
    return (
        {**config, "timeout": longest} if isinstance(config, dict) else config.model_copy(update={"timeout": longest})
    )


def _longest(entry: HookEntry, policy: HookPolicy) -> float:
    """Return the limit of an entry in seconds: for a project or a skill, the policy's."""
    is_held = entry.source in TIGHTENING_ONLY and "timeout" in policy._fields  # the default is no limit for entries
    return (policy.timeout if is_held else None) or float("inf")
