"""Claude Code's matchers: the meaning of `matcher` in its settings, and its subject on each event.

Source: https://code.claude.com/docs/en/hooks#matcher-patterns
"""

from __future__ import annotations

from agent_hooks.engine.expressions import MAX_REPETITIONS, bounded_search
from agent_hooks.engine.markers import WEAKLY
from agent_hooks.engine.matchers import limited, match_names
from agent_hooks.errors import RegistrationError
from agent_hooks.model.tool_call import ToolCall
from agent_hooks.model.tools import FORMER_NAMES, KIND_OF_NAME, KINDS

from .event_names import EVENTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable
    from typing import Any

    from agent_hooks.engine.matchers import Predicate
    from agent_hooks.model.context import HookContext

    Test = Callable[[str], Any]

_WORD = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_|")
_EXACT = _WORD | frozenset("- ,")
# The names of Claude Code's own tools, as far as they are known here.
_TOOLS = frozenset(name for name in (*KIND_OF_NAME, *FORMER_NAMES) if name[0].isupper())
# Events at which commas, hyphens and blanks already make a regular expression.
_FEWER_EXACT = frozenset({"FileChanged", "StopFailure"})


def claude_match(matcher: str, event: str, source: str = "user") -> Predicate | None:
    """Return the predicate for ``matcher`` at Claude Code's event ``event``, None if it is always true.

    Nothing or ``*``: all. Letters, digits, ``_``, ``-``, blanks, commas and bars: exact names, split on ``|`` and
    ``,``. Anything else: a regular expression of JavaScript, searched anywhere. A tool of another host is found under
    Claude Code's name for its kind. If the host does not report the matcher's subject, the match is weak.
    From a project or a skill, an expression that may run for long needs RE2; from anybody, one that may run for ever.
    Raises ``RegistrationError`` for a matcher that names nothing, and for an expression that does not compile or means
    something else in Python.
    """
    subject = EVENTS[event].subject
    if not subject or matcher in ("", "*"):
        return None
    test = _test(matcher, event, source)

    def matches(ctx: HookContext) -> Any:
        names = _names(ctx, subject)
        found = [test(name) for name in names]
        if True in found:
            return True
        call = tool_call_of(ctx) if subject == "tool" else None
        weak_names = call.weak_names if call is not None else ()
        return WEAKLY if not names or any(found) or any(map(test, weak_names)) else False

    return matches


def exact_names(matcher: str, event: str) -> tuple[str, ...] | None:
    """Return the names that a matcher lists, None if it is a regular expression."""
    if not (_WORD if event in _FEWER_EXACT else _EXACT).issuperset(matcher):
        return None
    return tuple(name.strip() for name in matcher.replace(",", "|").split("|") if name.strip())


def misspelt_tool(name: str) -> str:
    """Return the tool of Claude Code whose name differs from ``name`` only in case, an empty string if none does."""
    return "" if name in _TOOLS else {tool.casefold(): tool for tool in _TOOLS}.get(name.casefold(), "")


def permission_rule(matcher: str) -> str:
    """Return the tool of a matcher that is a permission rule, such as ``Bash(git push *)``, which matches no tool."""
    tool, bracket, rest = matcher.partition("(")
    is_rule = bracket and tool in _TOOLS and rest.endswith(")") and not _WORD.issuperset(rest[:-1])
    if not is_rule:
        return ""
    test = _test(matcher, "PreToolUse", "user")
    return "" if any(test(name) is True for name in _TOOLS) else tool


def tool_call_of(ctx: HookContext) -> ToolCall | None:
    """Return the tool call of an event, else the one in the host's payload."""
    if ctx.tool_call is not None or not isinstance(ctx.payload, dict):
        return ctx.tool_call
    name, args = ctx.payload.get("tool_name"), ctx.payload.get("tool_input")
    if not isinstance(name, str):
        return None
    kind = "mcp" if name.startswith("mcp__") else None
    return ToolCall(name, args if isinstance(args, dict) else None, kind=kind)


def tool_names(call: ToolCall) -> tuple[str, ...]:
    """Return the names that Claude Code's rules know a tool by: current, former, or those of its kind."""
    is_claudes = call.name[:1].isupper() and KIND_OF_NAME.get(call.name, "other") == call.kind
    own = (call.name,) if is_claudes else tuple(name for name in call.names if name == call.name or name not in KINDS)
    # As in Claude Code, `mcp__server` is no name of the server's tools for a matcher.
    names = (name for name in own if name == call.name or not name.startswith("mcp__"))
    return tuple(dict.fromkeys(each for name in names for each in (name, *FORMER_NAMES.get(name, ()))))


def _names(ctx: HookContext, subject: str) -> tuple[str, ...]:
    if subject == "tool":
        call = tool_call_of(ctx)
        return tool_names(call) if call is not None else ()
    if subject == "error":
        return match_names(ctx, "error") if ctx.error is not None else ()
    value: Any
    if subject == "name":
        value = ctx.name or ctx.agent_name
    elif subject.startswith("payload."):
        key = subject.removeprefix("payload.")
        value = ctx.payload.get(key) if isinstance(ctx.payload, dict) else None
        if key == "file_path" and isinstance(value, str):
            value = value.replace("\\", "/").rpartition("/")[2]
    else:
        value = getattr(ctx, subject)
    return (value,) if isinstance(value, str) and value else ()


def _test(matcher: str, event: str, source: str) -> Test:
    names = exact_names(matcher, event)
    if names is not None:
        if not names:
            raise RegistrationError(f"The matcher {matcher!r} names nothing, so its hook would never be asked.")
        return frozenset(names).__contains__
    import re

    pattern, is_quick = python_expression(matcher)
    return limited(*bounded_search(pattern, f"The matcher {matcher!r}", source, is_quick=is_quick, flags=re.ASCII))


# -- regular expressions of JavaScript ---------------------------------------------------------------------------------

_PARTS = (
    r"(?P<wrong>\\(?![dDwWsSbBtnrfv]|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|[^0-9A-Za-z])"
    r"|\(\?(?![:=!]|<[=!]|i:|<[A-Za-z_$][\w$]*>)|\[\^?\]|(?:[*+?]|\{\d+(?:,\d*)?\})\+)"
    r"|(?P<escape>\\.)"
    r"|(?P<set>\[(?:\\.|[^\]\\])+\])"
    r"|(?P<name>\(\?<[A-Za-z_$][\w$]*>)"
    r"|(?P<look>\(\?<?.)"
    r"|(?P<quantifier>\)?(?:[*+?]|\{\d+(?:,\d*)?\})\??)"
    r"|(?P<open>\[)|(?P<brace>\{)|(?P<dot>\.)|(?P<end>\$)"
)
_IN_PYTHON = {"name": "(", "brace": r"\{", "dot": "[^\\n\\r\u2028\u2029]", "end": r"\Z"}


def python_expression(pattern: str) -> tuple[str, bool]:
    r"""Translate a regular expression of JavaScript to Python and return it with whether it is surely quick.

    Compile it with ``re.ASCII``. Quick: no repeated group, and at most three repetitions. Raises ``RegistrationError``
    for expressions without an equivalent (back references, classes like ``\p{L}``, what only Python knows).
    """
    import re

    parts = re.compile(_PARTS, re.DOTALL)  # here, because most processes see none
    repetitions: list[str] = []

    def translated(part: re.Match[str]) -> str:
        kind, text = part.lastgroup or "", part.group()
        escapes = re.findall(r"\\.", text, re.DOTALL) if kind == "set" else []
        if kind in ("wrong", "open") or any(parts.match(each)["wrong"] for each in escapes if each[1] not in "xu"):  # type: ignore[index]
            raise RegistrationError(
                f"The matcher {pattern!r} cannot be searched for: what stands at character {part.start() + 1} means "
                "nothing in a regular expression of JavaScript, or has no equal here."
            )
        if kind == "quantifier":
            repetitions.append(text)
        if kind == "set":  # in which Python reserves some signs, and refuses a range from a class
            text = re.sub(r"(\\[dDwWsS])-", r"\1\-", re.sub(r"(?<!\\)[\[&~|]|(?<=-)-", r"\\\g<0>", text[1:]))
            return f"[{text}"
        return _IN_PYTHON.get(kind, text)

    made = parts.sub(translated, pattern)
    is_quick = len(repetitions) <= MAX_REPETITIONS and not any(text.startswith(")") for text in repetitions)
    return made, is_quick
