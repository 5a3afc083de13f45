"""The compiled form of hooks and of the chain of an event."""

from __future__ import annotations

from time import monotonic

from agent_hooks.errors import RegistrationError
from agent_hooks.model.context import HookContext
from agent_hooks.model.outcome import KEPT
from agent_hooks.model.policy import NEVER_PASSED_OVER, RANKS, TIGHTENING_ONLY, strictest
from agent_hooks.model.tools import is_patching

from .watching import NOBODY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from agent_hooks.model.events import HookEvent
    from agent_hooks.model.policy import HookPolicy

    from .markers import HookOptions
    from .matchers import Predicate
    from .watching import Watchers

    # A hook that may be asked, its call, and the match that is still to be put to the context.
    Row = tuple["Hook", Callable[[HookContext], Any], Predicate | None]
    RowsOfTools = dict[tuple[Any, ...], tuple[Row, ...]]

# Seconds for which the answers of ``when`` hold: an event may follow another within microseconds.
ASK_AGAIN = 0.001
# Of as many tools a chain remembers which of its hooks can meet them.
MAX_TOOLS = 256


class Hook:
    """One function on one event, ready to be called with the context.

    ``additions``: the fields that its outcome may bring unjudged, if it decides nothing.
    """

    __slots__ = (
        "additions arguments call default_on_failure entry_on_failure event function is_async is_timed key match "
        "managed_policy mode name options order plugin_name rank scope shadow source timeout"
    ).split()

    def __init__(
        self,
        event: HookEvent,
        function: Callable[..., Any],
        arguments: tuple[str, ...],
        options: HookOptions,
        *,
        name: str,
        plugin_name: str,
        source: str,
        scope: tuple[str, ...] | None,
        order: tuple[int, int],
        is_async: bool,
        match: Callable[[HookContext], Any] | None,
        entry_on_failure: str | None = None,
        default_on_failure: str | None = None,
        shadow: bool = False,
        default_timeout: float | None = None,
        managed_policy: HookPolicy | None = None,
    ) -> None:
        self.event = event
        self.function = function
        self.arguments = arguments
        self.call = caller(function, arguments)
        self.options = options
        is_held = options.mode == "transform" and source in TIGHTENING_ONLY
        self.mode = "gate" if is_held else options.mode
        self.name = name
        self.plugin_name = plugin_name
        self.source = source
        self.rank = RANKS[source]
        self.scope = scope
        first = 1 if options.tryfirst else -1 if options.trylast else 0
        self.order = (-first, -options.priority, *order)
        self.is_async = is_async
        self.match = match
        self.entry_on_failure = entry_on_failure
        self.default_on_failure = default_on_failure
        self.managed_policy = managed_policy
        self.shadow = shadow or options.shadow
        self.key = (plugin_name, name)
        self.additions = event.changes if self.mode == "transform" else event.changes & KEPT
        self.timeout = options.timeout or default_timeout
        self.is_timed = options.timeout is not None and not is_async

    @property
    def origin(self) -> str:
        """Where it is written, as ``file:line``; an empty string if that is not known."""
        from .origins import origin_of

        return origin_of(self.function)

    @property
    def may_loosen(self) -> bool:
        """Whether its allow and skip count: never those of a project or a skill."""
        return self.source not in TIGHTENING_ONLY

    def is_passed_over_by(self, other: Hook) -> bool:
        """Whether an outcome of ``other`` that ends the chain ends it for this hook too."""
        is_gate = self.mode == "gate" or self.event.closed is not None
        return self.rank <= other.rank and not (is_gate and self.source in NEVER_PASSED_OVER)

    def on_failure(self, policy: HookPolicy) -> str:
        """Return the meaning of a failure of this hook: ``"closed"``, ``"ask"`` or ``"open"``.

        Precedence, highest first: the strictest of registration and policy; the hook author's setting; the default of
        the file format; the default of the event. Projects and skills may only tighten it. A managed hook is bound by
        the machine owner's policy; ``policy`` may only tighten it.
        """
        closed = self.event.closed
        managed = self.managed_policy
        entry, own = (
            given if self.may_loosen or given == "closed" else None
            for given in (self.entry_on_failure, self.options.on_failure)
        )
        binding = (policy if managed is None else managed).on_gate_failure if closed is not None else None
        setting = strictest(entry, binding) or own or self.default_on_failure
        if setting is None:
            is_closed = closed in ("deny", "stop") or (closed == "required" and self.options.required)
            setting = "closed" if is_closed else "open"
        if managed is not None and closed is not None:
            setting = strictest(setting, policy.on_gate_failure) or setting
        return setting


def caller(function: Callable[..., Any], arguments: tuple[str, ...]) -> Callable[[HookContext], Any]:
    """Return ``function`` as a callable of the context alone."""
    if arguments == ("ctx",):
        return function
    if not arguments:
        return lambda _ctx: function()
    if len(arguments) <= 2 and HookContext._known.issuperset(arguments):
        # Fields are read as their properties read them, in a third of the time.
        name, default = arguments[0], HookContext._defaults.get(arguments[0])
        if len(arguments) == 1:
            return lambda ctx: function(ctx._fields.get(name, default))
        other, its_default = arguments[1], HookContext._defaults.get(arguments[1])
        return lambda ctx: function(ctx._fields.get(name, default), ctx._fields.get(other, its_default))
    return lambda ctx: function(*[ctx if name == "ctx" else getattr(ctx, name) for name in arguments])


class Chain:
    """The hooks of one event in one view, sorted into deciders, observers and wrappers. Hooks in shadow run before the
    other observers, which see the decisions those would have made.

    ``is_async``: some of the hooks are. ``watchers``: the framework's own observers. ``is_watched``: there are any.
    ``is_heard``: some of them want to hear of each hook. ``is_plain``: nothing but deciders and observers, none of them
    timed, and nobody hears of each, so the fast lane can run it;
    ``has_time_limits``: async ones in it have limits. ``is_plainly_seen``: so can its observers, which have nothing to
    decide and run here and now. ``needs_call``: hooks fail without a tool call that they could judge. ``holder``: the
    field of the context that holds the subject. ``conditions``: the options ``when`` of its hooks, by their identity.
    """

    __slots__ = (
        "_answered _awake conditions deciders event has_time_limits holder hooks is_async is_plain is_plainly_seen "
        "is_heard is_watched needs_call observers policy rows rows_of_tools separator shadows subject watchers wrappers"
    ).split()

    def __init__(
        self, event: HookEvent, hooks: Iterable[Hook], policy: HookPolicy, watchers: Watchers = NOBODY
    ) -> None:
        self.hooks = ordered = sorted(hooks, key=lambda hook: hook.order)
        self.conditions = {id(when): when for hook in ordered if (when := hook.options.when) is not None}
        self._awake: dict[tuple[int, ...], Chain | None] = {}
        self._answered: tuple[float, Chain | None] = (0.0, None)
        self.event = event
        self.subject = event.subject
        self.holder = "tool_call" if event.subject == "tool_args" else event.subject or ""
        self.policy = policy
        self.separator = policy.context_separator
        self.needs_call = event.matched_by == "tool" and event.closed is not None
        self.watchers = watchers
        self.is_watched = watchers.has_dispatches
        self.is_heard = bool(watchers.agent_hooks_executed)
        self.is_async = any(hook.is_async for hook in ordered)
        self.wrappers = tuple(h for h in ordered if h.options.wrapper)
        rest = [h for h in ordered if not h.options.wrapper]
        looking = [h for h in rest if event.observe_only or h.mode == "observe"]
        self.shadows = tuple(h for h in rest if h.shadow and h not in looking)
        self.observers = (*self.shadows, *looking)
        self.deciders = tuple(h for h in rest if h not in self.observers)
        self.is_plain = not (self.wrappers or self.is_heard or any(h.is_timed for h in self.deciders))
        self.has_time_limits = self.is_plain and any(h.is_async and h.timeout is not None for h in self.deciders)
        self.is_plainly_seen = self.is_plain and not any(
            h.mode != "observe" or h.is_timed or h.options.background for h in self.observers
        )
        self.rows: tuple[Row, ...] = tuple((hook, hook.call, hook.match) for hook in self.deciders)
        has_names = event.matched_by == "tool" and any(is_by_name(hook.match) for hook in self.deciders)
        self.rows_of_tools: RowsOfTools | None = {} if has_names else None

    def awake(self) -> Chain | None:
        """Return the chain without the hooks that have nothing to do now; None if that is all of them."""
        until, chain = self._answered
        if (now := monotonic()) < until:
            return chain
        asleep: tuple[int, ...] = ()
        for key, when in self.conditions.items():
            if _says_no(when):
                asleep += (key,)
        if asleep and asleep not in self._awake:
            hooks = [hook for hook in self.hooks if id(hook.options.when) not in asleep]
            found = Chain(self.event, hooks, self.policy, self.watchers) if hooks else None
            self._awake[asleep] = found
        chain = self._awake[asleep] if asleep else self
        self._answered = (now + ASK_AGAIN, chain)
        return chain

    def rows_for(self, ctx: HookContext, known: RowsOfTools) -> tuple[Row, ...]:
        """Return the deciders that can meet the tool call of ``ctx``, each with the match that is still to be asked.

        A match about nothing but the tool's name, kind and aliases is asked once for each such triple. A tool that
        applies patches has names that depend on its arguments.
        """
        call = ctx._fields.get("tool_call")
        if call is None:
            return self.rows
        fields = call._fields
        tool = (fields["name"], fields.get("kind"), fields.get("aliases"))
        try:
            return known[tool]
        except KeyError:
            if is_patching(call.name):
                return self.rows
        rows = tuple(row for row in map(_decided_by_name, self.rows, [ctx] * len(self.rows)) if row is not None)
        if len(known) >= MAX_TOOLS:
            known.clear()
        known[tool] = rows
        return rows


def _says_no(when: Callable[[], bool]) -> bool:
    try:
        return when() is False
    except Exception:  # noqa: BLE001 - its hook is asked, and can report the problem
        return False


def is_by_name(match: object) -> bool:
    """Whether a match about a tool call depends on nothing but the tool's name, kind and aliases.

    Our own matchers say so; what anybody else's object has under that name is hardly True itself.
    """
    return getattr(match, "by_name", None) is True


def _decided_by_name(row: Row, ctx: HookContext) -> Row | None:
    """Return the row as it is for each call of this tool; None if its hook never meets it."""
    hook, call, match = row
    if match is None or not is_by_name(match):
        return row
    matched = match(ctx)
    return (hook, call, None) if matched is True else row if matched else None


def check_source(source: str) -> str:
    """Return ``source`` if it is one. Raises ``RegistrationError`` naming the sources there are."""
    if source not in RANKS:
        raise RegistrationError(f"{source!r} is not a source of hooks; use one of {', '.join(RANKS)}.")
    return source
