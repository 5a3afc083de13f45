"""Suspended operations, and the answers that were given to them."""

from __future__ import annotations

from secrets import token_urlsafe
from time import time

from agent_hooks.errors import SuspensionError
from agent_hooks.model.outcome import BRINGS, WAITING, Decision
from agent_hooks.model.state import Answered, Suspended
from agent_hooks.model.values import plain

from .answers import same

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from agent_hooks.model.context import HookContext
    from agent_hooks.model.outcome import HookOutcome

    from .hooks import Hooks

    Key = tuple[str, str]
    IsAbout = Callable[[Any, Any], bool]


class Paused(BaseException):
    """Raised out of an operation that has to wait, also through the tools that started its agent: not an ``Exception``,
    so that they do not catch it. In the runtime, ``suspended`` is its record, and ``operation`` its identity in JSON
    types.
    """

    def __init__(self, suspended: Any = None, operation: Any = None) -> None:
        super().__init__()
        self.suspended = suspended
        self.operation = operation


class Suspension:
    """A suspended operation: its ``record``, how it began, and in which view."""

    __slots__ = ("record", "start", "view")

    def __init__(self, record: Suspended, start: HookContext, view: Hooks) -> None:
        self.record = record
        self.start = start
        self.view = view

    def is_about(self, ctx: HookContext) -> bool:
        """Whether ``ctx`` is the operation that was suspended, before any hook was asked."""
        return _place(ctx) == _place(self.start) and is_exactly(ctx.held_subject, self.start.held_subject)


def record_of(
    ctx: HookContext,
    outcome: HookOutcome,
    hook: Key,
    subject: Any,
    answers: tuple[Answered, ...],
    called: Iterable[Key],
) -> Suspended:
    """Return the record of the operation ``ctx`` that has to wait: for ``hook``, if it was suspended, about this
    ``subject``. ``answers`` were given to it before, ``called`` are the hooks that were called about it.
    """
    now, brought = time(), outcome._fields
    names = brought.keys() & {"reason", "asked_by", "asked_keys", "data"}
    fields: dict[str, Any] = {name: brought[name] for name in names}
    fields |= {"event": str(ctx.event), "decision": str(outcome.decision), "hook": hook, "subject": subject}
    fields |= {"tool_call": ctx.tool_call, "prompt": ctx.prompt, "session_id": ctx.session_id, "created_at": now}
    # As the parts of a context and an outcome, these are frozen.
    fields |= {"token": f"{token_urlsafe(16)}.{int(now):x}", "answers": answers, "called": tuple(sorted(called))}
    return Suspended._of(fields)


def answered(record: Suspended, answer: HookOutcome) -> tuple[Answered, ...]:
    """Return all answers given to the operation, ``answer`` the last of them. Raises ``SuspensionError``."""
    about: dict[str, Any] = {"hook": record.hook}
    if record.decision == Decision.ASK:
        answer = answer_to_ask(answer, record.reason)
        about = {"asked_keys": record.asked_keys}
    return (*record.answers, Answered._of({**about, "subject": record.subject, "answer": answer}))


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
