"""Argument patterns: a call with this in its arguments is denied, or put to a person."""

from __future__ import annotations

from agent_hooks import HookOutcome, RegistrationError
from agent_hooks.model.touched_paths import further_paths, touched_paths

from .base import Guard, texts, tool_test, worded
from .patterns import SafePattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from agent_hooks import HookContext, ToolCall
    from agent_hooks.engine.markers import Match

MESSAGE = 'Argument "{field}" of tool "{tool}" is not permitted: it matches {pattern}.'
TOO_LONG = (
    'Argument "{field}" of tool "{tool}" is longer than the {limit} characters that can be searched for {pattern}. '
    "Make it shorter, for example by splitting the call."
)
DECISIONS = ("deny", "ask")


class ArgumentPattern(Guard):
    """Denies a call, or asks about it, when ``pattern`` is found in the argument ``field``.

    ``field``: an argument's name; a dotted path into nested arguments (``options.headers``), which goes through every
    element of a list; ``*`` for all arguments; or, whatever the host calls them, ``command``, ``paths`` (as given, made
    absolute, and with symbolic links resolved), ``content`` or ``url``, together with an argument of that very name.
    Every text, number, true and false in it is searched, in lists and tables too; the keys of a table are not. A call
    without the field is let through.

    ``pattern``: a regular expression, searched anywhere (``SafePattern`` says which are refused). ``match``: which
    tools, default all. ``decision``: ``"deny"`` or ``"ask"``. **Text too long to be searched gets the same decision**,
    with a reason that says so. ``message``: the reason, in which ``{tool}``, ``{field}`` and ``{pattern}`` are filled
    in. ``source`` as in ``ToolBlocklist``. Raises ``RegistrationError`` for a pattern, a match, a field or a decision
    that is none.
    """

    def __init__(
        self,
        field: str,
        pattern: str,
        *,
        match: Match = "*",
        decision: str = "deny",
        message: str = MESSAGE,
        source: str = "code",
    ) -> None:
        if decision not in DECISIONS:
            raise RegistrationError(f"decision must be one of {', '.join(DECISIONS)}, not {decision!r}.")
        (self._field,) = texts("field", (field,))
        self._pattern = SafePattern(pattern, source)
        self.match_texts = (match,) if isinstance(match, str) else ()
        self._test = tool_test(match, source)
        self._decide = HookOutcome.deny if decision == "deny" else HookOutcome.ask
        self._message = message

    def judge(self, ctx: HookContext, call: ToolCall) -> HookOutcome | None:
        """Deny or ask if the pattern is found, or if the text is too long to tell."""
        if not self._test(ctx):
            return None
        answers = {self._pattern.found_in(text) for text in self._texts(ctx, call)}
        if True in answers:
            return self._decide(self._worded(self._message, call))
        if None in answers:
            return self._decide(self._worded(TOO_LONG, call))
        return None

    def _texts(self, ctx: HookContext, call: ToolCall) -> Iterator[str]:
        if self._field == "paths":
            yield from call.paths
            yield from touched_paths(ctx)
            if call.kind != "shell":
                yield from further_paths(ctx)
        elif self._field in ("command", "content", "url"):
            yield getattr(call, self._field)
        values = [call.args] if self._field == "*" else _at(call.args, self._field)
        for value in values:
            yield from _leaves(value)

    def _worded(self, message: str, call: ToolCall) -> str:
        named = message.replace("{field}", self._field).replace("{pattern}", self._pattern.text)
        return worded(named.replace("{limit}", str(self._pattern.limit)), call)


def _at(value: Any, path: str) -> Iterator[Any]:
    """Everything at a dotted path. A key may hold dots itself."""
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from _at(item, path)
    elif isinstance(value, dict):
        if path in value:
            yield value[path]
        head, dot, rest = path.partition(".")
        if dot and head in value:
            yield from _at(value[head], rest)


def _leaves(value: Any) -> Iterator[str]:
    """Every text, number, true and false in ``value``."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, bool):
            yield "true" if item else "false"
        elif isinstance(item, (int, float)):
            yield str(item)
        elif isinstance(item, dict):
            waiting.extend(item.values())
        elif isinstance(item, (list, tuple, set, frozenset)):
            waiting.extend(item)
        elif item is not None:
            yield str(item)
