"""Suspended operations, and the answers that were given to them."""

from __future__ import annotations

from time import time

from agent_hooks.errors import SuspensionError
from agent_hooks.model.outcome import BRINGS, PROCEED, WAITING
from agent_hooks.model.values import plain

from .answers import same

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from agent_hooks.model.context import HookContext
    from agent_hooks.model.outcome import HookOutcome

    from .hooks import Hooks

    Key = tuple[str, str]


class Paused(BaseException):
    """Raised out of an operation that has to wait, also through the tools that started its agent: not an ``Exception``,
    so that they do not catch it. In the runtime, ``suspended`` is its record, and ``operation`` its identity in JSON
    types.
    """

    def __init__(self, suspended: Any = None, operation: Any = None) -> None:
        super().__init__()
        self.suspended = suspended
        self.operation = operation


class Given:
    """An answer to one question about an operation.

    It stands in for the hook with this ``key``, which suspended the operation, or answers the asks of the hooks with
    these ``asked_keys``; in both cases only about the subjects for which ``holds_for(subject)`` is true.
    """

    __slots__ = ("answer", "asked_keys", "holds_for", "key")

    def __init__(
        self,
        answer: HookOutcome,
        holds_for: Callable[[Any], bool],
        *,
        key: Key | None = None,
        asked_keys: tuple[Key, ...] = (),
    ) -> None:
        self.answer = answer
        self.holds_for = holds_for
        self.key = key
        self.asked_keys = asked_keys


class Suspension:
    """A suspended operation: how it began, in which view, and which hook suspended it about which subject.

    ``given``: the answers given to it before; ``called``: the keys of the hooks that were called about it; ``asked``:
    the question, if it waits for the answer to one; ``since``: when it was suspended.
    """

    __slots__ = ("asked", "called", "given", "key", "since", "start", "subject", "view")

    def __init__(
        self,
        start: HookContext,
        view: Hooks,
        key: Key | None,
        subject: Any,
        given: tuple[Given, ...] = (),
        called: frozenset[Key] = frozenset(),
        asked: HookOutcome = PROCEED,
    ) -> None:
        self.since = time()
        self.start = start
        self.view = view
        self.key = key
        self.subject = subject
        self.given = given
        self.called = called
        self.asked = asked

    def is_about(self, ctx: HookContext) -> bool:
        """Whether ``ctx`` is the operation that was suspended, before any hook was asked."""
        return _place(ctx) == _place(self.start) and is_exactly(ctx.held_subject, self.start.held_subject)

    def answered(self, answer: HookOutcome) -> tuple[Given, ...]:
        """Return all answers given to the operation, ``answer`` the last of them. Raises ``SuspensionError``."""
        subject, keys = self.subject, self.asked.asked_keys
        answer = answer_to_ask(answer, self.asked.reason) if keys else answer
        return (*self.given, Given(answer, lambda now: is_exactly(now, subject), key=self.key, asked_keys=keys))


def answer_to_ask(answer: HookOutcome, question: str) -> HookOutcome:
    """Return the answer to a question, a refusal with a reason. Raises ``SuspensionError`` if it brings anything."""
    if answer._fields.keys() & BRINGS or answer.decision in WAITING:
        raise SuspensionError(
            "An approval holds for exactly what was asked, so the answer to a question brings nothing: deny it and "
            "say in the reason what should be done instead."
        )
    return answer.replace(reason=f"{question} (Refused.)".lstrip()) if answer.blocks and not answer.reason else answer


def check_age(since: float, ttl: float | None) -> None:
    """Raise ``SuspensionError`` if what was suspended at ``since`` has waited for more than ``ttl`` seconds."""
    age = time() - since
    if ttl is not None and age > ttl:
        raise SuspensionError(
            f"The operation has waited for {_span(age)}, and HookPolicy.suspension_ttl lets it wait for {_span(ttl)}: "
            "start it again."
        )


def _span(seconds: float) -> str:
    for unit, size in (("days", 86_400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"


def exact_text(value: Any) -> str:
    """Return ``value`` in JSON, in which 1, 1.0 and True are three things."""
    from json import dumps

    return dumps(plain(value), sort_keys=True)


def is_exactly(first: Any, second: Any) -> bool:
    """Whether two subjects are equal in value and type: an approval of 1 is not one of True."""
    return first is second or (same(first, second) and exact_text(first) == exact_text(second))


def _place(ctx: HookContext) -> tuple[Any, ...]:
    call = ctx.tool_call
    where = (ctx.event, ctx.session_id, ctx.agent_id, ctx.agent_name, ctx.cwd)
    return (*where, call and (call.id, call.name, call.kind, call.aliases))


def answering(answer: bool, about: Mapping[str, Any], question: str | None = None) -> Any:
    """Return an ``ask`` that answers the question about exactly these arguments, and leaves others to the host."""
    known = exact_text(about)

    def ask(ctx: HookContext, asked: str) -> Any:
        return answer if exact_text(ctx.tool_args) == known and question in (None, asked) else "host"

    return ask
