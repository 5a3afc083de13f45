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

    def by_name(self) -> dict[str, object]:
        """Return its parts by their names."""
        return {name: getattr(self, name) for name in self.__slots__}

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self.by_name() == other.by_name()

    def __repr__(self) -> str:
        parts = ", ".join(f"{name}={part!r}" for name, part in self.by_name().items())
        return f"{type(self).__name__}({parts})"
