"""Parsed data of files as plain data, which ``marshal`` keeps: dicts, lists, numbers, texts, and dates as text."""

from __future__ import annotations

from agent_hooks.model.values import FrozenDict, FrozenList

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_ATOMS = frozenset((str, int, float, bool, type(None), bytes))


def encode(value: Any) -> Any:
    """Return parsed TOML or JSON as plain data. Dates and times, which ``marshal`` refuses, become tuples: neither
    format has tuples. Raises ``TypeError`` for a value of another type.
    """
    kind = type(value)
    if kind in _ATOMS:
        return value
    if isinstance(value, dict):
        return {key: encode(each) for key, each in value.items()}
    if isinstance(value, list):
        return [encode(each) for each in value]
    if kind.__module__ == "datetime" and hasattr(value, "isoformat"):
        return (kind.__name__, value.isoformat())
    raise TypeError(f"{kind.__name__} is not the type of a value in TOML or JSON.")


def decode(data: Any) -> Any:
    """Return the value that ``encode`` was given, with its dicts and lists read-only."""
    kind = type(data)
    if kind is dict:
        return FrozenDict({key: decode(each) for key, each in data.items()})
    if kind is list:
        return FrozenList([decode(each) for each in data])
    if kind is tuple:
        import datetime as dt

        name, text = data
        return getattr(dt, name).fromisoformat(text)
    return data
