"""Predicates of entries in formats with their own rules. Each knows what it was made of, for other processes."""

from __future__ import annotations

from agent_hooks.engine.markers import WEAKLY
from agent_hooks.engine.matchers import compile_match

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from agent_hooks.engine.matchers import Predicate
    from agent_hooks.model.context import HookContext

    Part = tuple[Any, ...]


class EntryMatch:
    """The conjunction of some conditions. ``parts``: the kind and the plain arguments of each, for ``match_of``."""

    __slots__ = ("_predicates", "parts")

    def __init__(self, parts: tuple[Part, ...], predicates: tuple[Predicate, ...]) -> None:
        self.parts = parts
        self._predicates = predicates

    def __call__(self, ctx: HookContext) -> Any:
        """Return whether the hook is asked: True, False or ``WEAKLY``."""
        if len(self._predicates) == 1:
            return self._predicates[0](ctx)
        answers = [matches(ctx) for matches in self._predicates]
        return False if not all(answers) else WEAKLY if WEAKLY in answers else True


def match_of(parts: Iterable[Part]) -> EntryMatch | None:
    """Make the match of ``parts`` again. Raises ``RegistrationError`` as the making of the parts did."""
    return all_of(*(condition(kind, *facts) for kind, *facts in parts))


def all_of(*conditions: EntryMatch | None) -> EntryMatch | None:
    """Combine conditions with ``and``; None if there are none."""
    given = [each for each in conditions if each is not None]
    if len(given) < 2:
        return given[0] if given else None
    parts = tuple(part for each in given for part in each.parts)
    return EntryMatch(parts, tuple(predicate for each in given for predicate in each._predicates))


def condition(kind: str, *facts: Any) -> EntryMatch | None:
    """Return one condition, None if it is always true. ``kind``: the name of a maker below, ``facts``: its arguments.

    Raises ``RegistrationError`` for facts that it does not accept.
    """
    predicate = _MAKERS[kind](*facts)
    return None if predicate is None else EntryMatch(((kind, *facts),), (predicate,))


def _text(text: str | None, matched_by: str, source: str) -> Predicate | None:
    return compile_match(text, matched_by, source)


def _matcher(matcher: str, event: str, source: str) -> Predicate | None:
    from .claude.matcher_rules import claude_match

    return claude_match(matcher, event, source)


def _if(rule: str, root: str) -> Predicate:
    from .claude.conditions import claude_if

    return claude_if(rule, root)


def _unclear() -> Predicate:
    return lambda _ctx: WEAKLY


def _field(name: str, expected: str) -> Predicate:
    return lambda ctx: getattr(ctx, name) == expected


# ``field``: a context whose field has this value. ``if``, ``matcher``: of Claude Code. ``text``: our match text.
# ``unclear``: a condition that cannot be read.
_MAKERS: dict[str, Callable[..., Predicate | None]] = {
    "field": _field,
    "if": _if,
    "matcher": _matcher,
    "text": _text,
    "unclear": _unclear,
}
