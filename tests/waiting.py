"""Waiting for something that another process or thread does."""

from __future__ import annotations

from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def eventually(condition: Callable[[], Any], seconds: float = 10.0) -> bool:
    """Wait until ``condition`` holds; return whether it does."""
    until = monotonic() + seconds
    while not (done := condition()) and monotonic() < until:
        sleep(0.005)
    return bool(done)
