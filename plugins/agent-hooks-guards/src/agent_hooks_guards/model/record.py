"""The base of actions and values: plain objects that are equal if their attributes are.

Not dataclasses: a guard may run in one process per call, and creating a dataclass takes longer than parsing a command.
"""

from __future__ import annotations


class Record:
    """An object with equality and a ``repr`` by its slots."""

    __slots__: tuple[str, ...] = ()
    # Mutable.
    __hash__ = None  # type: ignore[assignment]

    def by_name(self) -> dict[str, object]:
        """Return its attributes by their names."""
        return {name: getattr(self, name) for name in self.__slots__}

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self.by_name() == other.by_name()

    def __repr__(self) -> str:
        parts = ", ".join(f"{name}={part!r}" for name, part in self.by_name().items())
        return f"{type(self).__name__}({parts})"
