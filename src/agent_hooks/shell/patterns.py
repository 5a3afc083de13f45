"""Regular expressions that are compiled when they are first used.

Compiling those of a parser takes longer than parsing one command, and a process that decides one call uses few of them.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

    def Pattern(source: str, flags: int = 0) -> re.Pattern[str]: ...  # noqa: D103, N802 - for type checkers
else:

    class Pattern:
        """A regular expression with the methods of a compiled one."""

        __slots__ = ("_flags", "findall", "finditer", "fullmatch", "match", "pattern", "search", "split", "sub")

        def __init__(self, source: str, flags: int = 0) -> None:
            self.pattern = source
            self._flags = flags

        def __getattr__(self, name: str) -> object:
            # A slot that is not set yet: from then on, it holds the method of the compiled expression.
            if name not in self.__slots__:
                raise AttributeError(name)
            import re  # with enum 2.5 ms, which most commands need not wait for

            found = getattr(re.compile(self.pattern, self._flags), name)
            setattr(self, name, found)
            return found
