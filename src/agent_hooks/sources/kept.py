"""Managers that a resident process keeps from one event to the next, while nothing that they are made from changes."""

from __future__ import annotations

import os
import sys
import time
from marshal import dumps

from agent_hooks.engine.installed import found_points
from agent_hooks.formats.plain_data import encode
from agent_hooks.system import folders, stamps
from agent_hooks.system.paths import is_below
from agent_hooks.system.sites import search_path
from agent_hooks.trust.gate import Protection
from agent_hooks.trust.search import TELLING

from .loader import PROTECTION
from .planned import MoreHooksError, check_near
from .planning import surroundings
from .plugin_settings import held_tables, look_again
from .precedence import modules_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from agent_hooks.engine.manager import HookManager

    from .loader import HookConfigLoader

# The distributions whose code may run in a process that serves further events: it changes nothing of its process.
# Everybody else's hooks, installed or of a project, are loaded and run in a process for one event.
OURS = frozenset(("agent-hooks-guards", "agent-hooks-prompts", "agent-hooks-subagents"))
# The types of handlers that the core and these distributions have.
_TYPES = frozenset(("command", "http", "prompt", "subagent"))
_MOST_KEPT = 8


class Kept:
    """A manager with all that it was made from. ``key``: the directories, and the caller's own reason to keep managers
    apart. ``seen``: what was looked at meanwhile, None where that does not tell of every change.
    """

    def __init__(self, key: object, loader: HookConfigLoader, made_from: tuple[object, ...]) -> None:
        self.key = key
        self.made_from = made_from
        self.seen: stamps.Seen | None = None
        self.manager: HookManager = loader.manager
        self.files = loader.files
        self.project_dir, self.projects = loader.project_dir, loader.projects
        self._protection = loader.protection
        self._tables = held_tables()
        self._surroundings = surroundings(self.projects, loader.directories)
        self.keep_process()

    def keep_process(self) -> None:
        """Keep the tables that reading the files has set for this process."""
        self._account, self._chosen, self._path = folders.account_home(), folders.chosen_config_dir(), [*sys.path]

    def is_unchanged(self) -> bool:
        """Whether everything that was looked at is as it was."""
        if self.seen is None or self._account != folders.account_home():
            return False
        return next(stamps.changed(self.seen), None) is None

    def is_all(self, near: Sequence[str]) -> bool:
        """Whether an event that touches these paths meets no further hooks."""
        try:
            check_near(self._surroundings, near)
        except MoreHooksError:
            return False
        return True

    def use(self) -> None:
        """Set this process as loading the manager has done."""
        sys.path[:] = self._path
        folders.choose_config_dir(self._chosen)
        look_again(*self._tables)
        # The gate knows the real paths of folders and files, and links may have changed.
        files, further, tables, scripts, project = self._protection
        gate: Any = self.manager.get_plugin(PROTECTION)
        fresh = Protection(files, further=further, tables=tables, scripts=scripts, project=project)
        gate.__dict__.update(fresh.__dict__)
        self.manager.suspended.clear()


class KeptManagers:
    """The managers of one worker, for one environment. ``is_spoilt``: other code than ours was loaded after all."""

    def __init__(self) -> None:
        self.is_spoilt = False
        self._kept: list[Kept] = []

    def load(self, key: object, near: Sequence[str], loader: Callable[[], HookConfigLoader]) -> Kept | None:
        """Return the manager for ``key``, an earlier one if it would be equal, that is ready to be asked.

        None if code would be loaded that must not run in this process. ``near``: the paths that the event touches.
        ``loader``: is called if a file has changed.
        """
        kept = next((each for each in self._kept if each.key == key and each.is_unchanged()), None)
        if kept is None or not kept.is_all(near):
            kept = self._equal(key, loader)
        if kept is not None:
            if kept in self._kept:
                self._kept.remove(kept)
            kept.use()
            self._kept = [kept, *self._kept[: _MOST_KEPT - 1]]
        return kept

    def _equal(self, key: object, make_loader: Callable[[], HookConfigLoader]) -> Kept | None:
        """Read everything and return an equal manager, the earlier one if its files are equal."""
        now_ns = time.time_ns()

        def read() -> tuple[HookConfigLoader, tuple[Any, ...] | None]:
            loader = make_loader()
            stamps.note("file", *search_path())
            return loader, _made_from(loader)

        def load() -> Kept | None:
            look_again({})
            manager: HookManager = loader.load(files=made_from[1])
            if any(info.distribution not in OURS for info in manager.plugins() if info.entry_point):
                self.is_spoilt = True  # installed at this very moment
                return None
            return Kept(key, loader, made_from)

        made_from: Any
        new: Kept | None
        (loader, made_from), seen = stamps.watching(read, TELLING)
        if made_from is None:
            return None
        # A project that only this event touches is no part of the next one.
        can_tell = _is_around(loader) and not stamps.is_young(seen, now_ns)
        kept = next((each for each in self._kept if each.key == key and each.made_from == made_from), None)
        if kept is not None and (not can_tell or kept.is_unchanged()):
            kept.keep_process()
            return kept
        if kept is not None:
            self._kept.remove(kept)  # it would not notice the next change
        new, more = stamps.watching(load, TELLING)
        if new is not None and can_tell and not stamps.is_young(more, now_ns):
            new.seen = {kind: {**more[kind], **seen[kind]} if kind != "telling" else seen[kind] for kind in seen}
        return new


def _is_around(loader: HookConfigLoader) -> bool:
    """Whether each project is one of the directories' own."""
    real = [os.path.realpath(directory) for directory in loader.directories]
    return all(any(is_below(each, source.project.root) for each in real) for source in loader.projects)


def _made_from(loader: HookConfigLoader) -> tuple[object, ...] | None:
    """Return all that the manager of ``loader`` is made from, as values to compare."""
    files, points = loader.read(), found_points()
    confs = [conf for source in loader.projects if source.is_trusted for conf in source.project.confs]
    confs += [file.settings["hookconf"] for file in files if "hookconf" in file.settings]
    is_lost = any(each.standing.known and not each.is_trusted for each in loader.projects)  # who has seen it is held
    if is_lost or loader.modules or modules_in(files):
        return None
    others = [info for info, _ in points if info.status != "ignored" and info.distribution not in OURS]
    if confs or others or any(entry.type not in _TYPES for file in files for entry in file.entries):
        return None
    projects = [(source.project, source.standing) for source in loader.projects]
    # As bytes as well: 1 == True in Python.
    typed = [dumps([encode(file.settings), [encode(entry.config) for entry in file.entries]], 2) for file in files]
    return ([info for info, _ in points], files, typed, projects)
