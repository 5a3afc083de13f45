"""The part of ``agent-hooks run`` in a decision: the host's own limits as hooks, and the state of a session across
processes: the rounds that hooks forced, and the notes that were shown.

As hooks, because observers then see the outcome that the host gets, not one that it cannot apply. Not every host has a
cap of its own on rounds; without one, a hook that always continues never lets the agent stop.
"""

from __future__ import annotations

import os

from agent_hooks.engine.markers import HookOptions
from agent_hooks.engine.plan import Hook
from agent_hooks.errors import AgentHooksError
from agent_hooks.model.events import HookEvent
from agent_hooks.model.outcome import HookOutcome
from agent_hooks.model.tools import SKILL_TOOLS, texts_with_roles
from agent_hooks.system.ancestors import make_note, notes_dir
from agent_hooks.system.digests import sha256_hex
from agent_hooks.system.quick_json import loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Generator, Sequence
    from typing import Any

    from agent_hooks.engine.hooks import Ask, Hooks
    from agent_hooks.engine.registry import HookRegistry
    from agent_hooks.model.context import HookContext
    from agent_hooks.wire import Answer
    from agent_hooks.wire.host import Host


# The name of the plugin that these are hooks of.
LIMITS = "agent-hooks run"
# After every hook that was registered.
_LAST = 2**31
# Seconds for all hooks on a subagent, or on lines of shell, together; each has its own timeout, and the command answers
# before.
_SECONDS = 600.0
# Characters of a line of shell in a reason, and its marks in the text of a skill or a command.
_MAX_LINE = 200
_LINE_MARKS = ("!`", "!\\`", "!{", "```!", "\\u0021", "\\U00000021", "\\u007b", "\\u007B")
_EDIT_MARKS = (*_LINE_MARKS, "skill", "command", "agent", "opencode.json")  # or the name of a file with such lines


def add_host_hooks(manager: HookRegistry, host: Host, ctx: HookContext, ask: Ask) -> None:
    """Insert those that ``ctx`` needs, if any hook is installed."""
    hooks = manager.hooks(ask=ask)
    if loads_lines(ctx) and hooks.listens(HookEvent.BEFORE_TOOL_USE):
        gate = ShellLinesGate(host, hooks)
        manager.insert(_wrapper("agent_hooks.shell_lines", gate.ask, "managed", manager, _SECONDS, ctx.event))
    if ctx.event is not HookEvent.BEFORE_TOOL_USE or ctx.tool_call is None:
        return
    starts_subagent = ctx.tool_call.kind == "subagent" and hooks.listens(HookEvent.BEFORE_SUBAGENT)
    if starts_subagent or hooks.listens(ctx.event):
        manager.insert(_wrapper("agent_hooks.host_limits", HostLimits(host).limit, "user", manager))
    if starts_subagent:
        subagents = SubagentGate(host, hooks)
        manager.insert(_wrapper("agent_hooks.before_subagent", subagents.ask, "managed", manager, _SECONDS))


def _wrapper(
    name: str,
    function: Callable[..., Any],
    source: str,
    manager: HookRegistry,
    timeout: float | None = None,
    event: HookEvent = HookEvent.BEFORE_TOOL_USE,
) -> Hook:
    """Return an outermost wrapper of an event; ``timeout`` for an async one."""
    policy = manager.policy_of(source)
    return Hook(
        event,
        function,
        ("ctx",),
        HookOptions(wrapper=True, tryfirst=True, timeout=timeout, name=name),
        name=name,
        plugin_name=LIMITS,
        source=source,
        scope=None,
        order=(_LAST, int(timeout is not None)),
        is_async=timeout is not None,
        match=None,
        shadow=policy.shadow,
        default_timeout=policy.timeout,
        managed_policy=policy if source == "managed" else None,
    )


def loads_lines(ctx: HookContext) -> bool:
    """Whether the event may have the host run, or keep, a text with lines of shell: a skill or a command."""
    call = ctx.tool_call
    if call is None:
        return ctx.host_event == "UserPromptExpansion"  # what a person typed
    if ctx.event is not HookEvent.BEFORE_TOOL_USE or call.kind in ("read", "search"):
        return False
    texts, marks = texts_with_roles(call.args), _EDIT_MARKS if call.kind == "edit" else _LINE_MARKS
    return call.name.lower() in SKILL_TOOLS or any(mark in text for text, _ in texts for mark in marks)


class HostLimits:
    """Asks about, or denies, new arguments that the host would not apply as they are."""

    def __init__(self, host: Host) -> None:
        self._host = host

    def limit(self, ctx: HookContext) -> Generator[None, HookOutcome, HookOutcome | None]:
        """Return the outcome that the host applies, if that is stricter."""
        outcome = yield
        return self._host.limited(outcome, ctx)


class SubagentGate:
    """Asks the hooks of ``before_subagent`` when a tool call would start one: later, the host accepts no refusal."""

    def __init__(self, host: Host, hooks: Hooks) -> None:
        self._host = host
        self._hooks = hooks

    async def ask(self, ctx: HookContext) -> AsyncGenerator[HookOutcome | None, HookOutcome]:
        """Return the hooks' objection to the subagent that the call would start."""
        outcome = yield None
        if outcome.decision.is_blocking:
            return
        args = ctx.tool_args if outcome.tool_args is None else outcome.tool_args
        inner = await self._hooks.dispatch(self._host.subagent(ctx, args))
        if inner.blocks:
            yield HookOutcome(decision=inner.decision, reason=inner.reason, failed=inner.failed, context=inner.context)
        elif inner.task is not None:
            yield HookOutcome.deny(self._host.instead(inner.task))


class ShellLinesGate:
    """Asks the hooks of shell calls about each line of shell in the text of a skill or a command that an event loads or
    writes: the host runs these lines without a tool call.
    """

    def __init__(self, host: Host, hooks: Hooks) -> None:
        self._host = host
        self._hooks = hooks
        self._is_asking = False

    async def ask(self, ctx: HookContext) -> AsyncGenerator[HookOutcome | None, HookOutcome]:
        """Return the hooks' objection to one of the lines."""
        outcome = yield None
        if outcome.decision.is_blocking or self._is_asking:  # these lines are shell calls themselves
            return
        if ctx.tool_call is not None and outcome.tool_args is not None:
            ctx = ctx.replace(tool_call=ctx.tool_call.with_args(outcome.tool_args))
        self._is_asking = True
        try:
            objection = await self._objection(ctx)
        finally:
            self._is_asking = False
        if objection is not None:
            yield objection

    async def _objection(self, ctx: HookContext) -> HookOutcome | None:
        from agent_hooks.sources.shell_lines import loaded_lines

        try:
            lines = loaded_lines(ctx)
        except (OSError, AgentHooksError) as error:
            return HookOutcome.deny(f"The lines of shell in the text that this loads cannot be judged: {error}")
        asked = None
        for tool, line, place in lines:
            inner = await self._hooks.dispatch(self._host.shell_line(ctx, tool, line))
            reason = f"Loading the text runs a line of shell, `{line[:_MAX_LINE]}` ({place}). {inner.reason}".rstrip()
            if inner.tool_args is not None:
                return HookOutcome.deny(f"{reason} {self._host.instead(inner.tool_args)}")
            told = HookOutcome(decision=inner.decision, reason=reason, failed=inner.failed, context=inner.context)
            if inner.decision.is_blocking:
                return told
            asked = told if inner.blocks and asked is None else asked  # a later line may be denied
        return asked


def capped(outcome: HookOutcome, ctx: HookContext, limit: int) -> tuple[HookOutcome, tuple[str, ...]]:
    """Return ``outcome``, which makes the agent continue, or one that lets it stop after ``limit`` forced rounds in a
    row; and notes on that.

    A row ends only when the host reports (``stop_hook_active``) that no hook made the agent continue; without such
    reports, the session is one row. Where counting is not possible, no second round in a row is forced.
    """
    is_first = ctx._fields.get("stop_hook_active") is False
    agent = ctx.agent_id or (ctx.payload or {}).get("teammate_name", "")
    scope = f"forced continuations|{ctx.host}|{ctx.session_id}|{ctx.host_event}|{agent}"
    try:
        from agent_hooks.system.store import Store

        store = Store()
        if is_first:
            store.reset(scope)
        if store.increment(scope, "rounds", limit=limit) <= limit:
            return outcome, ()
        why = f"hooks have made it go on {limit} times in a row"
    except (AgentHooksError, ImportError) as error:
        if is_first:
            return outcome, ()
        why = f"hooks have made it go on before, and how often cannot be counted: {error}"
    kept = {name: value for name, value in outcome._fields.items() if name not in ("decision", "reason", "hook")}
    note = f"agent_hooks: the agent may stop although {outcome.hook} wants it to go on, because {why}"
    return HookOutcome._of(kept), (f"{note.removesuffix('.')}. It said: {outcome.reason}",)


def mark_round(answer: Answer, ctx: HookContext) -> None:
    """Remember the reason by which the agent goes on: at some hosts it comes back as a prompt."""
    try:
        from agent_hooks.system.store import Store

        store = Store()
        store.reset(_rounds_of(ctx))
        store.increment(_rounds_of(ctx), sha256_hex(loads(answer.stdout)["reason"].encode()))
    except (AgentHooksError, ImportError, ValueError, LookupError, TypeError, AttributeError):
        return  # then the prompt is one of a person


def is_forced(ctx: HookContext) -> bool:
    """Whether the prompt of ``ctx`` is the reason of the last forced round, and nobody's own. It is so once."""
    try:
        from agent_hooks.system.store import Store

        store = Store()
        found = store.read(_rounds_of(ctx), sha256_hex(str(ctx.prompt).encode("utf-8", "surrogatepass"))) > 0
        if found:
            store.reset(_rounds_of(ctx))
    except (AgentHooksError, ImportError):
        return False
    return found


def hold_projects(ctx: HookContext, manager: Any, loader: Any) -> None:
    """Remember the trusted projects that the session of ``ctx`` has seen, and deny what it does once one is not as it
    was trusted: it may have changed that itself, by a command that nobody can judge by its words.
    """
    sources = loader.projects
    for root in (each.project.root for each in sources if each.is_trusted) if ctx.session_id else ():
        if path := _seen(ctx, root):
            make_note(path)
    lost = [each for each in sources if not each.is_trusted and each.standing.known and ctx.session_id]
    for finding, root in ((each.finding, each.project.root) for each in lost):
        if finding is None or finding.id in loader.ignored or not os.path.lexists(_seen(ctx, root)):
            continue
        from agent_hooks.engine.markers import hookimpl
        from agent_hooks.engine.plugin_info import MadePlugin
        from agent_hooks.trust.trust_store import how_to_trust

        without = how_to_trust(root).replace("trust", "untrust", 1)
        denied = HookOutcome.deny(
            f"This session has seen hooks that do not hold any more, so it goes on only with them. {finding} To go on "
            f"without them, a person types {without}."
        )
        plugin = MadePlugin("agent_hooks.lost_project")
        mark = hookimpl(mode="gate", tryfirst=True, required=True, name=plugin.__name__)
        for event in ("before_tool_use", "before_subagent", "before_skill_activation"):
            setattr(plugin, event, mark(lambda ctx, denied=denied: denied))  # noqa: ARG005 - a hook takes the context
        manager.register(plugin, f"{plugin.__name__}:{root}", source="managed")


def _seen(ctx: HookContext, root: str) -> str:
    name = sha256_hex(f"{ctx.host}|{ctx.session_id}|{root}".encode("utf-8", "surrogatepass"))
    folder = notes_dir("sessions")
    return folder and os.path.join(folder, name[:32])


def _rounds_of(ctx: HookContext) -> str:
    return f"forced prompt|{ctx.host}|{ctx.session_id}"


def unseen(notes: Sequence[str], ctx: HookContext, *, is_shown: bool) -> tuple[str, ...]:
    """Return the ``notes`` that are new to the session of ``ctx``, all of them where it begins or has no id.

    Where the host does not show them to people at this event (not ``is_shown``), they are said once as well, which does
    not count as shown. Where that cannot be stored, they are shown each time.
    """
    if not notes or not ctx.session_id:
        return tuple(notes)
    scope = f"notes|{ctx.host}|{ctx.session_id}"
    try:
        from agent_hooks.system.store import Store

        store = Store()
        if ctx.event is HookEvent.SESSION_START:
            store.reset(scope)
        if not is_shown:
            notes = [note for note in notes if not store.read(scope, note)]
            scope += "|in the log"
        return tuple(note for note in notes if store.increment(scope, note, limit=1) == 1)
    except (AgentHooksError, ImportError):
        return tuple(notes)
