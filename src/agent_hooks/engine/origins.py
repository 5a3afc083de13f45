"""Where hooks are written, and where in somebody's code an error came up."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Where a function says in which file it is written, if not in that of its code.
ORIGIN = "agent_hooks_origin"


def origin_of(function: Any) -> str:
    """Return the ``file:line`` of a hook: its configuration entry or its code; empty if unknown."""
    owner = getattr(function, "__self__", None)
    if isinstance(getattr(owner, ORIGIN, None), str):
        return str(getattr(owner, ORIGIN))
    function = getattr(function, "__func__", function)
    if hasattr(function, "__wrapped__"):
        from inspect import unwrap

        function = unwrap(function)
    if hasattr(function, ORIGIN):
        return str(getattr(function, ORIGIN))
    called = type(function).__call__ if callable(function) else None  # of an object that is a hook
    code = getattr(function, "__code__", None) or getattr(called, "__code__", None)
    return f"{code.co_filename}:{code.co_firstlineno}" if code else ""


def origin_of_making(made: Any) -> str:
    """Return the line that makes an object whose constructor calls this: such a hook is written there, not here."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_locals.get("self") is made:
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


def shortened(text: str) -> str:
    """Return a text in one line of at most 40 characters: two that differ, differ in that, too."""
    from agent_hooks.system.digests import sha256_hex

    line = " ".join(text.split())
    return line if len(line) <= 40 else f"{line[:33].rstrip()} #{sha256_hex(text.encode(errors='replace'))[:5]}"


def origin_named(message: str, plugin_name: str, plugin: Any) -> str:
    """Return where the function of ``plugin`` is written that ``message`` names first, an empty string if none is."""
    from re import escape, search

    found = [
        (place.start(), origin)
        for name in dir(plugin)
        if (place := search(rf"(?:'|{escape(plugin_name)}\.){escape(name)}\b", message))
        and (origin := origin_of(getattr(plugin, name)))
    ]
    return min(found, default=(0, ""))[1]


def origin_in(package: str, error: BaseException) -> str:
    """Return the innermost line of the top-level ``package`` at which ``error`` came up, an empty string if none is."""
    from traceback import walk_tb

    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno}"
    for frame, line in reversed([*walk_tb(error.__traceback__)]):
        if package and str(frame.f_globals.get("__name__", "")).partition(".")[0] == package:
            return f"{frame.f_code.co_filename}:{line}"
    return ""


def origin_of_fault(function: Any, error: BaseException) -> str:
    """Return the line of the function's own package at which ``error`` came up, else where the function is written."""
    return origin_in(str(getattr(function, "__module__", "")).partition(".")[0], error) or origin_of(function)
