"""One call in Python code, as it is given to what knows the function."""

from __future__ import annotations

from .python_values import Value, items_of, labels_of, text_of, truth, unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .python_scope import Scope
    from .python_walk import Walk


class Call:
    """``name``: the function's, with its module. ``arguments`` and ``keywords``: what it is given."""

    __slots__ = ("arguments", "keywords", "name", "scope", "walk")

    def __init__(self, walk: Walk, name: str, arguments: list[Value], keywords: dict[str, Value], scope: Scope) -> None:
        self.walk = walk
        self.name = name
        self.arguments = arguments
        self.keywords = keywords
        self.scope = scope

    def given(self, at: int, *keywords: str) -> Value | None:
        """Return what is given at a position or by a keyword; None if nothing is."""
        for each in keywords:
            if each in self.keywords:
                return self.keywords[each]
        return self.arguments[at] if 0 <= at < len(self.arguments) else None

    def value(self, at: int, *keywords: str) -> Value:
        """Return what is given, not known if nothing is."""
        return self.given(at, *keywords) or unknown()

    def text(self, at: int, *keywords: str, default: str = "") -> str:
        """Return what is given as a text."""
        found = self.given(at, *keywords)
        return default if found is None else text_of(found)

    def path(self, at: int, *keywords: str) -> str:
        """Return what is given as a path."""
        return self.walk.path(self.value(at, *keywords))

    def flag(self, at: int, *keywords: str) -> bool | None:
        """Whether what is given is true; None if that is not known, False if nothing is given."""
        found = self.given(at, *keywords)
        return False if found is None else truth(found)

    def items(self, at: int, *keywords: str) -> list[Value] | None:
        """Return the items of what is given; None if they are not known."""
        return items_of(self.value(at, *keywords))

    def labels(self) -> frozenset[str]:
        """Return where all that is given comes from."""
        return labels_of(*self.arguments, *self.keywords.values())
