"""Argument patterns: calls with matching arguments are denied or asked about."""

from __future__ import annotations

from agent_hooks import HookOutcome
from agent_hooks.model.touched_paths import further_paths, touched_paths
from agent_hooks_guards.rules.patterns import SafePattern

from .base import Guard, check_choice, fill_in, texts, tool_test
from .calls import leaves

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
_DECISIONS = ("deny", "ask")


class ArgumentPattern(Guard):
    """Denies a call, or asks about it, when ``pattern`` is found in the argument ``field``.

    ``field``: an argument's name; a dotted path into nested arguments (``options.headers``), through every element of
    a list; ``*`` for all arguments; or, whatever the host calls them, ``command``, ``paths`` (as given, made absolute,
    and with symbolic links resolved), ``content`` or ``url``, together with an argument of that name. Every string,
    number, true and false in it is searched, in lists and tables too; the keys of a table are not. A call without the
    field passes.

    ``pattern``: a regular expression, searched anywhere (``SafePattern`` says which are refused). ``match``: which
    tools, default all. ``decision``: ``"deny"`` or ``"ask"``. **A string too long to search gets the same decision**,
    with a reason that says so. ``message``: the reason; ``{tool}``, ``{field}`` and ``{pattern}`` are filled in.
    ``source`` as in ``ToolBlocklist``. Raises ``RegistrationError`` for an invalid pattern, match, field or decision.
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
        check_choice("decision", decision, _DECISIONS)
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
            return self._decide(self._fill_in(self._message, call))
        if None in answers:
            return self._decide(self._fill_in(TOO_LONG, call))
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
            yield from _strings(value)

    def _fill_in(self, message: str, call: ToolCall) -> str:
        named = message.replace("{field}", self._field).replace("{pattern}", self._pattern.text)
        return fill_in(named.replace("{limit}", str(self._pattern.limit)), call)


def _at(value: Any, path: str) -> Iterator[Any]:
    """Yield every value at a dotted path. A key may hold dots itself."""
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from _at(item, path)
    elif isinstance(value, dict):
        if path in value:
            yield value[path]
        head, dot, rest = path.partition(".")
        if dot and head in value:
            yield from _at(value[head], rest)


def _strings(value: Any) -> Iterator[str]:
    """Yield every string, number, true and false in ``value``, as JSON writes them."""
    for item in leaves(value):
        if isinstance(item, bool):
            yield "true" if item else "false"
        elif item is not None:
            yield item if isinstance(item, str) else str(item)
