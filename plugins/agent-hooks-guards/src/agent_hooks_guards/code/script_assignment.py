"""Assignments, and where their values go."""

from __future__ import annotations

from . import script_functions
from .folding import binary
from .values import Closure, Reference, Value, choice, known, truth, unknown, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .script_state import Place
    from .script_walk import Walk


def read_ternary(walk: Walk, value: Value, at: int) -> tuple[Value, int]:
    """`a ? b : c`: one of both if it is known which, else either."""
    decided = truth(value)
    first, stop = walk.expression(at + 1, 2)
    if walk.is_operator(at + 1, ":"):  # PHP's `a ?: b`
        first, stop = value, at + 1
    if not walk.is_operator(stop, ":"):
        return unknown(value, first), stop
    second, stop = walk.expression(stop + 1, 1)
    if decided is not None:
        return (first if decided else second), stop
    return choice([first, second]), stop


def read_assignment(walk: Walk, value: Value, place: Place, operator: str, at: int) -> tuple[Value, int]:
    """`place = value` and its kin."""
    if walk.language == "perl" and place is None and isinstance(value, list):
        place = None
    right, stop = walk.expression(at + 1, 1)
    if walk.language == "php" and walk.is_operator(at + 1, "&"):
        right, stop = walk.expression(at + 2, 1)
    if operator not in ("=", "<-", "<<-"):
        short = operator[:-1]
        right = binary(short, value, right, walk.language)
    if place is not None:
        store(walk, place, right)
    return right, stop


def store(walk: Walk, place: Place, value: Value) -> None:
    """Put a value where another was read."""
    if place is None:
        return
    kind, owner, key = place
    if kind == "name":
        if isinstance(value, Closure) and not value.name and isinstance(owner, str):
            value.name = owner
        script_functions.bind(walk, owner, value)
    elif kind == "member" and isinstance(owner, dict):
        name = known(key) if not isinstance(key, str) else key  # type: ignore[arg-type]
        owner[name if name is not None else ""] = value
    elif kind == "member" and isinstance(owner, list):
        at = whole(key)  # type: ignore[arg-type]
        if at is not None and 0 <= at < len(owner):
            owner[at] = value
        elif at is not None and len(owner) <= at < len(owner) + 64:
            owner.extend([None] * (at - len(owner)))
            owner.append(value)
        else:
            owner.append(value)
    elif kind == "member" and isinstance(owner, Reference):
        name = known(key) if not isinstance(key, str) else key  # type: ignore[arg-type]
        walk.state.variables[f"{owner.name}.{name}"] = value
    elif kind == "list" and isinstance(owner, list):
        script_functions.bind(walk, owner, value)
