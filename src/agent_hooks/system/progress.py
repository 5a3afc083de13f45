"""Reports of the plugin code that runs next: if it ends the process, the last report names it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_listeners: list[Callable[[str], None]] = []


def report(activity: str) -> None:
    """Report the code that runs next, as a noun such as "the import of …"; an empty text at its end."""
    for listener in _listeners:
        listener(activity)


def listen(listener: Callable[[str], None]) -> None:
    """Call ``listener`` with each report of this process."""
    _listeners.append(listener)


def listen_no_more() -> None:
    """Drop all listeners."""
    _listeners.clear()
