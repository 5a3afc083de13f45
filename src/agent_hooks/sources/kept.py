"""Managers that a resident process keeps from one event to the next, while nothing that they are made from changes."""

from __future__ import annotations

from marshal import dumps

from agent_hooks.engine.installed import found_points
from agent_hooks.formats.plain_data import encode

from .loader import PROTECTION
from .plugin_settings import held_projects, look_again

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from agent_hooks.engine.manager import HookManager
    from agent_hooks.formats.read_file import ReadFile
    from agent_hooks.trust.gate import Protection

    from .loader import HookConfigLoader

# The distributions whose code may run in a process that serves further events: it changes nothing of its process.
# Everybody else's hooks, installed or of a project, are loaded and run in a process for one event.
OURS = frozenset(("agent-hooks-guards", "agent-hooks-prompts", "agent-hooks-subagents"))
# The types of handlers that the core and these distributions have.
_TYPES = frozenset(("command", "http", "prompt", "subagent"))
_MOST_KEPT = 8


class _Kept:
    """A manager with all that it was made from."""

    def __init__(self, loader: HookConfigLoader, manager: HookManager, made_from: tuple[object, ...]) -> None:
        self.files: list[ReadFile] = loader.files
        self.made_from = made_from
        self.manager = manager
        self.held: dict[str, Any] = held_projects()
        gate: Any = manager.get_plugin(PROTECTION)
        self.gate: Protection = gate


class KeptManagers:
    """The managers of one worker, for one environment. ``is_spoilt``: other code than ours was loaded after all."""

    def __init__(self) -> None:
        self.is_spoilt = False
        self._kept: list[_Kept] = []

    def load(self, loader: HookConfigLoader, variant: str) -> HookManager | None:
        """Return the manager of ``loader``, an earlier one if it would be equal. All files are read each time.

        None if code would be loaded that must not run in this process. ``variant``: the caller's own reason to keep
        managers apart.
        """
        files, points = loader.read(), found_points()
        confs = [conf for source in loader.projects if source.is_trusted for conf in source.project.confs]
        others = [info for info, _ in points if info.status != "ignored" and info.distribution not in OURS]
        if confs or others or any(entry.type not in _TYPES for file in files for entry in file.entries):
            return None
        projects = [(source.project, source.standing) for source in loader.projects]
        directories = (loader.directories, loader.claude_settings)
        # As bytes as well: 1 == True in Python.
        typed = [dumps([encode(file.settings), [encode(entry.config) for entry in file.entries]], 2) for file in files]
        made_from = (variant, directories, [info for info, _ in points], files, typed, projects)
        kept = next((each for each in self._kept if each.made_from == made_from), None)
        if kept is None:
            look_again({})
            manager = loader.load(files=files)
            if any(info.distribution not in OURS for info in manager.plugins() if info.entry_point):
                self.is_spoilt = True  # installed at this very moment
                return None
            kept = _Kept(loader, manager, made_from)
            del self._kept[_MOST_KEPT - 1 :]
        else:
            self._kept.remove(kept)
            look_again(kept.held)
            # It knows the real paths of folders and files, and links may have changed.
            kept.gate.__dict__.update(loader.make_gate(kept.files).__dict__)
            kept.manager.suspended.clear()
        self._kept.insert(0, kept)
        return kept.manager
