"""What the nodes of trees and the actions of commands are: plain objects that are equal if their parts are.

Not dataclasses: the guard may run in a process for each call, and making a dataclass takes longer than reading a
command.
"""

from __future__ import annotations


class Record:
    """Equal and shown by its parts, which are its slots."""

    __slots__: tuple[str, ...] = ()
    # Its parts change.
    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self.__slots__)

    def __repr__(self) -> str:
        parts = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__slots__)
        return f"{type(self).__name__}({parts})"
