"""Large results of tools, kept as bytes and text, and frozen only when somebody reads them."""

from __future__ import annotations

import gc
import marshal

from .values import HELD, freeze, shown, written

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from typing import Any

# Bytes from which a result is kept so: as many take 10 ms to freeze, and 1 ms to copy.
MIN_SIZE = 65_536


class Snapshot:
    """Plain data of many items as it was at one moment. ``whole()`` is the frozen value, made when it is first asked
    for: who reads a field is given that. ``text``: the value as JSON.
    """

    __slots__ = ("_data", "_whole", "text")

    def __init__(self, data: bytes, text: str) -> None:
        self._data = data
        self.text = text

    def copy(self) -> Any:
        """Return a copy that nobody else has, in plain dicts, lists and tuples."""
        return _uncollected(marshal.loads, self._data)

    def whole(self) -> Any:
        """Return the frozen value."""
        try:
            return self._whole
        except AttributeError:
            self._whole: Any = _uncollected(freeze, self.copy())
            return self._whole

    def __repr__(self) -> str:
        return f"{type(self).__name__}({shown(self.text)})"

    def __eq__(self, other: object) -> bool:
        return bool(self.whole() == (other.whole() if type(other) is Snapshot else other))

    __hash__ = None  # type: ignore[assignment]  # as for the values in it

    def __reduce__(self) -> tuple[Any, ...]:
        return (Snapshot, (self._data, self.text))


HELD.add(Snapshot)


def read_only(value: Any) -> Any:
    """Return ``value`` frozen, or, if it is plain data of many items, the steps that end with a ``Snapshot`` of it."""
    kind = type(value)
    if kind in (dict, list, tuple) and not _ATOMS.issuperset(map(type, value.values() if kind is dict else value)):
        try:
            data = marshal.dumps(value)
        except ValueError:  # something in it is no plain data, or it is nested too deep
            return freeze(value)
        if len(data) >= MIN_SIZE:
            return _snapshot(value, data)
    return freeze(value)


_ATOMS = frozenset({str, int, float, bool, type(None), bytes})


def _snapshot(value: Any, data: bytes) -> Generator[None, None, Any]:
    # The interpreter copies plain data in one piece: no change of its author, who may keep it, comes between. The text
    # is that of the copy, so that it is the text of the value that hooks judge.
    yield
    copy = _uncollected(marshal.loads, data)
    yield
    if not _equal(copy, value):  # an array in it became bytes, or its author goes on changing it
        return freeze(value)
    yield
    return Snapshot(data, as_json(copy))


def _equal(copy: Any, value: Any) -> bool:
    try:
        return bool(copy == value)
    except Exception:  # noqa: BLE001 - the comparison is that of its author's objects
        return False


def as_json(value: Any) -> str:
    """Return ``value`` as JSON; whatever has no JSON form is written as text."""
    from pydantic_core import to_json

    try:
        return to_json(value, fallback=written).decode()
    except (ValueError, RecursionError):  # a reference to itself, or nested too deep
        return written(value)


def as_text(result: Any) -> str:
    """Return a tool's result as text: a string unchanged, None as an empty one, the rest as JSON."""
    if isinstance(result, str):
        return result
    if result is None:
        return ""
    return result.text if type(result) is Snapshot else as_json(result)


def _uncollected(make: Callable[[Any], Any], of: Any) -> Any:
    """Return ``make(of)``. The collector, which would go through the new objects again and again, is paused: with it,
    reading 100,000 dicts took six times as long.
    """
    is_on = gc.isenabled()
    gc.disable()
    try:
        return make(of)
    finally:
        if is_on:
            gc.enable()
