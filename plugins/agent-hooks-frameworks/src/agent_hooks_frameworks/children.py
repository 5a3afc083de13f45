"""Agents that tools start: the adapters of their frameworks, which put them under the hooks of the run."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING
from warnings import warn

from agent_hooks.frameworks import OURS, installed_adapters

from .adapters import ADAPTERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from agent_hooks.frameworks import Adapter

_covered: set[tuple[str, str]] = set()  # the adapters with nothing left to do, by distribution and name
_seen = 0  # modules, at the last look


def cover_children() -> None:
    """Let the adapters of all frameworks that are imported by now cover the agents that a tool may start, which are
    under the hooks of the run as well. One that cannot is warned of, once.
    """
    global _seen  # noqa: PLW0603 - of the process
    if _seen == len(sys.modules):
        return
    _seen = len(sys.modules)
    for key, load in _adapters():
        if key in _covered:
            continue
        try:
            cover = getattr(load(), "cover", None)
            if cover is None or cover():
                _covered.add(key)
        except Exception as error:  # noqa: BLE001 - of a release that the adapter does not know
            _covered.add(key)
            message = f"Agents of {key[1]} that a tool starts are not under hooks: {error!r}."
            warn(message, RuntimeWarning, stacklevel=3)


def _adapters() -> Iterator[tuple[tuple[str, str], Callable[[], Adapter]]]:
    """Yield the adapters by distribution and name: ours, also where their metadata are missing, and those installed."""
    for adapter in ADAPTERS:
        yield (OURS, adapter.extra), _loaded(adapter)
    for found in installed_adapters():
        if found.distribution != OURS:
            yield (found.distribution, found.name), found.load


def _loaded(adapter: Adapter) -> Callable[[], Adapter]:
    return lambda: adapter
