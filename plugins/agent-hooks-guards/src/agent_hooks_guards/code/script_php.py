"""What is PHP's own: names that are statements, and constants."""

from __future__ import annotations

from agent_hooks_guards.model.values import UNKNOWN, Data

from . import script_literals
from .values import Reference, Value, unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .script_walk import Walk


_CONSTANTS: dict[str, Value] = {
    "PHP_EOL": Data("\n"),
    "DIRECTORY_SEPARATOR": Data("/"),
    "FILE_APPEND": 8,
    "LOCK_EX": 2,
}


def named_value(walk: Walk, at: int) -> tuple[Value, int]:
    """The value of a name: a statement that is one, a function, a constant."""
    token = walk.tokens[at]
    text = token.text
    name = text.lower()
    state = walk.state
    stop = at + 1
    if (
        name in ("include", "include_once", "require", "require_once", "print", "clone", "throw", "echo")
        and stop < walk.size
    ):
        value, stop = walk.expression(stop)
        walk.place = None
        if name == "print":
            state.echo(value)
            return 1, stop
        return (state.outside(Reference(name), [value]) if name[:3] in ("inc", "req") else value), stop
    if name in ("array", "list") and walk.is_operator(stop, "("):
        values, places = script_literals.read_values(walk, stop + 1, walk.close(stop))
        if name == "list":
            walk.place = ("list", [place[1] for place in places if place is not None], None)
        if len(values) == 1 and isinstance(values[0], dict):
            return values[0], walk.close(stop) + 1
        return list(values), walk.close(stop) + 1
    if name in ("isset", "empty", "unset") and walk.is_operator(stop, "("):
        return unknown(), walk.close(stop) + 1
    if name in ("exit", "die") and not walk.is_operator(stop, "("):
        return None, stop
    if walk.is_operator(stop, "("):
        return Reference(text), stop
    if name in ("__file__", "__dir__"):
        return unknown(), stop
    if text.upper() == text and not walk.is_operator(stop, "::"):
        return state.variables.get(text, _CONSTANTS.get(text, Data(UNKNOWN))), stop
    return Reference(text), stop
