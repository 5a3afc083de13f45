"""Reports of the code of plugins that runs next: it may end the process, and then only the last report tells which."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_listeners: list[Callable[[str], None]] = []


def report(what: str) -> None:
    """Report the code that runs next, as a noun such as "the import of …"; an empty text if none does any more."""
    for listener in _listeners:
        listener(what)


def listen(listener: Callable[[str], None]) -> None:
    """Call ``listener`` with each report of this process."""
    _listeners.append(listener)
