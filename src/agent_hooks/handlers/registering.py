"""Make hooks of the entries of files, and register them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_hooks.engine.markers import hookimpl
from agent_hooks.engine.matchers import compile_match
from agent_hooks.engine.origins import ORIGIN
from agent_hooks.engine.plugin_info import MadePlugin
from agent_hooks.errors import AgentHooksError, HandlerError, InvalidOutcomeError, RegistrationError, did_you_mean
from agent_hooks.formats.entry import FORMS
from agent_hooks.formats.findings import ConfigFinding, not_honoured
from agent_hooks.model.context import HookContext
from agent_hooks.model.outcome import Decision, read_answer
from agent_hooks.model.policy import TIGHTENING_ONLY

from .outputs import refused_by_failing
from .types import find_type, handler_types

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Mapping

    from pydantic import BaseModel

    from agent_hooks.engine.manager import HookManager
    from agent_hooks.formats.entry import HookEntry
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
    config = _capped(_config(handler, entry), entry, policy)
    bind = getattr(handler, "bind", None)
    run = bind(config, entry) if bind is not None else lambda ctx: handler.execute(config, ctx)
    if entry.form == "claude" and entry.host_event == "PreModelSwitch":
        run = _blocking_lateness(run, entry)
    if entry.once:
        run = _once(run)

    def hook(ctx: HookContext) -> Any:
        return run(ctx)

    return hook


def _once(run: Callable[[HookContext], Any]) -> Callable[[HookContext], Any]:
    """Wrap a hook to run until it has approved one event of the session."""
    done: set[str] = set()

    def hook(ctx: HookContext) -> Any:
        if ctx.session_id in done and not ctx.rechecking:
            return None

        def remember(answer: Any) -> Any:
            if not _refuses(answer, ctx):
                done.add(ctx.session_id)
            return answer

        return _followed(run, ctx, remember)

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


def _blocking_lateness(run: Callable[[HookContext], Any], entry: HookEntry) -> Callable[[HookContext], Any]:
    """Wrap a hook to refuse at its timeout: Claude Code then does not switch the model."""

    def hook(ctx: HookContext) -> Any:
        def failed(error: Exception) -> Any:
            if isinstance(error.__cause__, TimeoutError):
                return refused_by_failing(entry, ctx, error)
            raise error

        return _followed(run, ctx, failed=failed)

    return hook


def _itself(answer: Any) -> Any:
    return answer


def _raise(error: Exception) -> Any:
    raise error


def _followed(
    run: Callable[[HookContext], Any],
    ctx: HookContext,
    answered: Callable[[Any], Any] = _itself,
    failed: Callable[[Exception], Any] = _raise,
) -> Any:
    """Return the hook's answer with its conditions applied; an awaitable if the answer is one."""
    try:
        answer = run(ctx)
    except (HandlerError, InvalidOutcomeError) as error:
        return failed(error)
    return _Awaited(answer, answered, failed) if hasattr(answer, "__await__") else answered(answer)


class _Awaited:
    """Await an answer and continue. Not a coroutine, so that closing it unawaited closes the answer."""

    def __init__(self, answer: Any, answered: Callable[[Any], Any], failed: Callable[[Exception], Any]) -> None:
        self._answer = answer
        self._answered = answered
        self._failed = failed

    def __await__(self) -> Generator[Any, Any, Any]:
        try:
            answer = yield from self._answer.__await__()
        except (HandlerError, InvalidOutcomeError) as error:
            return self._failed(error)
        return self._answered(answer)

    def close(self) -> None:
        """Close the answer, which will not be awaited."""
        close = getattr(self._answer, "close", None)
        if close is not None:
            close()


def _config(handler: Any, entry: HookEntry) -> Any:
    """Return the entry's fields as the handler takes them. Raises ``RegistrationError`` naming each wrong one."""
    from agent_hooks.model.values import thaw

    model = getattr(handler, "config", None)
    fields = thaw(entry.config)
    if model is None:
        return fields
    from pydantic import ValidationError

    try:
        return model.model_validate(fields)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False, include_context=False)
        raise RegistrationError("; ".join(_problem(each, model) for each in found)) from None


def _problem(problem: Mapping[str, Any], model: type[BaseModel]) -> str:
    name = ".".join(map(str, problem["loc"])) or "it"
    if problem["type"] != "extra_forbidden":
        return f"{name}: {problem['msg'].removeprefix('Value error, ')}"
    known = [field.alias or each for each, field in model.model_fields.items()]
    return f"{name}: it has no such field. {did_you_mean(name, known, 'These are ' + ', '.join(known) + '.')}"


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


def _capped(config: Any, entry: HookEntry, policy: HookPolicy) -> Any:
    """Return the handler's config with its timeout capped by the entry's limit."""
    longest = _longest(entry, policy)
    if isinstance(config, dict):
        seconds = config.get("timeout")
        is_longer = isinstance(seconds, (int, float)) and seconds > longest
        return {**config, "timeout": longest} if is_longer else config
    is_longer = getattr(config, "timeout", 0.0) > longest
    return config.model_copy(update={"timeout": longest}) if is_longer else config


def _longest(entry: HookEntry, policy: HookPolicy) -> float:
    """Return the limit of an entry in seconds: for a project or a skill, the policy's."""
    is_held = entry.source in TIGHTENING_ONLY and "timeout" in policy._fields  # the default is no limit for entries
    return (policy.timeout if is_held else None) or float("inf")
