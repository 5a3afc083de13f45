"""The settings of the engine, and the rank of the sources that hooks come from."""

from __future__ import annotations

from agent_hooks.errors import SettingsError

from .values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

# Priority bands. Higher runs first.
GUARD = 200
SECURITY = 100
TRANSFORM = 50
OBSERVE = 10
DEFAULT = 0
CLEANUP = -200

# Where a hook comes from, and its rank. A lower source never loosens what a higher one decided.
RANKS = {"skill": 0, "project": 1, "plugin": 2, "code": 3, "user": 3, "managed": 4}
SOURCES = tuple(RANKS)
USER_RANK = RANKS["user"]
# These may only tighten: their allow and skip read as "no opinion".
TIGHTENING_ONLY = frozenset({"skill", "project"})
# Their gates, and all their hooks on events with a closed effect, are never passed over, not even by their own source.
NEVER_PASSED_OVER = frozenset({"user", "managed"})

MODES = ("gate", "transform", "observe")
FAILURES = ("open", "ask", "closed")  # in order of strictness
CONTRACTS = ("off", "diagnostic", "strict")


def strictest(*choices: str | None) -> str | None:
    """Return the strictest of the failure settings that are set: closed, then ask, then open; None if none is."""
    chosen = [choice for choice in choices if choice is not None]
    return max(chosen, key=FAILURES.index) if chosen else None


class HookPolicy(Value):
    """How the engine behaves. Raises ``SettingsError`` naming the field and what is allowed.

    ``on_gate_failure``: the effect of a failing hook on every event with a closed effect, ``"closed"``, ``"ask"`` or
    ``"open"``; None leaves it to the hook and its event. ``ask_fallback``: the decision for an ask that nobody can
    answer, ``"deny"`` or ``"allow"``. ``timeout``: seconds an async hook may take once it waits, None for no limit; if
    it is set, also the most that a hook of a project's file or a skill's may take, whatever that says.
    ``max_rechecks``: further walks before a chain that keeps rewriting its subject is denied.
    ``max_forced_continuations``: rounds that hooks may force in one run, on a host in a row. ``max_retries``: how often
    one model request or tool call may be made again because hooks ask for it. ``contracts``: the handling of a change
    that an event does not list, ``"off"`` (kept), ``"diagnostic"`` (kept and reported) or ``"strict"`` (the hook
    fails). This is about the fields of an outcome. A change of another field of the context, such as ``cwd``, never
    counts and is always reported.
    ``allow_shell``: whether files may bring command and http hooks at all. ``require_project_gates``: refuse to start
    where the hooks of a project are not trusted, instead of going on without them.
    ``shadow``: every hook only reports its decision. ``context_separator``: the text between the contexts of two
    hooks. ``max_background``: background observers that may be at work at once. ``suspension_ttl``: seconds for which
    a suspended operation can be resumed, by default 30 days, None for ever.
    """

    on_gate_failure: str | None = None
    ask_fallback: str = "deny"
    timeout: float | None = 60.0
    max_rechecks: int = 2
    max_forced_continuations: int = 3
    max_retries: int = 2
    contracts: str = "diagnostic"
    allow_shell: bool = True
    require_project_gates: bool = False
    shadow: bool = False
    context_separator: str = "\n\n"
    max_background: int = 16
    suspension_ttl: float | None = 30 * 24 * 3600.0

    if not TYPE_CHECKING:

        def __init__(self, **fields: Any) -> None:
            super().__init__(**fields)
            _check("on_gate_failure", self.on_gate_failure, (None, *FAILURES))
            _check("ask_fallback", self.ask_fallback, ("deny", "allow"))
            _check("contracts", self.contracts, CONTRACTS)
            for name in ("timeout", "suspension_ttl"):
                seconds = getattr(self, name)
                is_number = isinstance(seconds, (int, float)) and not isinstance(seconds, bool)
                if seconds is not None and not (is_number and seconds > 0):
                    raise SettingsError(f"HookPolicy.{name} must be a number above 0, not {seconds!r}.")
            for name in ("max_rechecks", "max_forced_continuations", "max_retries", "max_background"):
                count, least = getattr(self, name), int(name == "max_background")
                if type(count) is not int or count < least:
                    raise SettingsError(f"HookPolicy.{name} must be a whole number from {least}, not {count!r}.")

        def replace(self, **changes: Any) -> HookPolicy:
            """Return a copy with ``changes``, checked like a new one."""
            return HookPolicy(**{**self._fields, **changes})


def _check(name: str, value: object, allowed: tuple[object, ...]) -> None:
    if value not in allowed:
        raise SettingsError(f"HookPolicy.{name} must be one of {', '.join(map(repr, allowed))}, not {value!r}.")


class ManagedSettings(Value):
    """The settings of the machine's owner, which no lower source changes.

    ``policy``: the engine's settings for hooks that rank as managed. A policy of a lower source only tightens these
    hooks. ``plugins``: installed plugins that rank as managed, because the machine's file requires them or has
    settings for them.
    """

    policy: HookPolicy = HookPolicy()
    plugins: frozenset[str] = frozenset()


if TYPE_CHECKING:
    Mode = Literal["gate", "transform", "observe"]
    OnFailure = Literal["open", "ask", "closed"]
