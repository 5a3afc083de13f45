"""Import everything that events usually need, before the first one; and notice when a file of it changes."""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from importlib import import_module

from agent_hooks.engine.installed import found_points
from agent_hooks.engine.manager import HookManager
from agent_hooks.errors import AgentHooksError
from agent_hooks.sources.kept import OURS
from agent_hooks.sources.planning import metadata_files
from agent_hooks.sources.plugin_settings import restore_tables
from agent_hooks.wire import HOSTS

from .held_files import HeldFiles, first_changed, stamp_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from .held_files import Stamp

# Payloads that need the modules of a usual session.
_REHEARSAL = (
    {"hook_event_name": "UserPromptSubmit", "prompt": "hello"},
    {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "npm test && rm -rf ~ | grep x"}},
    {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "python -c 'import os' > a.txt"}},
    {"hook_event_name": "PreToolUse", "tool_name": "Read", "tool_input": {"file_path": "a.txt"}},
    {"hook_event_name": "PreToolUse", "tool_name": "Write", "tool_input": {"file_path": "a.txt", "content": "a"}},
    {"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_response": "a"},
    {"hook_event_name": "Stop"},
)


def warm() -> LoadedFiles:
    """Import the modules that our own plugins import at a rehearsal, and return the files that are loaded then.

    The rehearsal takes place in a process of its own, and without settings: nothing is counted or written to a trail.
    Raises ``AgentHooksError`` if a file changes meanwhile.
    """
    began_ns = time.time_ns() - time.process_time_ns()
    answers, answers_in = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(answers)
            nowhere = os.open(os.devnull, os.O_RDWR)
            for number in (0, 1, 2):
                os.dup2(nowhere, number)
            _rehearse()
            os.write(answers_in, "\n".join(sys.modules).encode())
        finally:
            os._exit(0)
    os.close(answers_in)
    with open(answers, encoding="utf-8") as file:
        names = file.read().split("\n")
    os.waitpid(child, 0)
    for name in filter(None, names):
        with suppress(Exception):
            import_module(name)
    found_points()
    files = LoadedFiles(frozenset(sys.modules), _path_folders())
    if changed := files.changed_since(began_ns):
        raise AgentHooksError(f"{changed} has changed at this moment: start it again.")
    return files


def _rehearse() -> None:
    import asyncio  # noqa: F401 - for the hooks of others

    restore_tables({"files": [], "projects": {}, "validated": {}})
    names = [info.name for info, _ in found_points() if info.distribution in OURS and info.status != "ignored"]
    hooks = HookManager(load_plugins=names).hooks(ask="host")
    for host in HOSTS.values():
        for payload in _REHEARSAL:
            with suppress(Exception):
                ctx = host.read({"session_id": "", "transcript_path": "", "cwd": "/", **payload}, None)
                host.write(hooks.dispatch_sync(ctx), ctx, notes=(), ask="deny")


class LoadedFiles:
    """The files of loaded modules, except Python's own, and those beside them that are no modules: tables of rules.

    ``folders``: of the import path, in which the files count that put other folders on it or tell what is installed.
    Where they are given, the files stay open from one look to the next, until ``release``.
    """

    def __init__(self, names: frozenset[str], folders: Iterable[str] = ()) -> None:
        self.names = names
        modules: Iterable[str | None] = (
            getattr(sys.modules[name], "__file__", None) for name in names if name in sys.modules
        )
        base = os.path.join(os.path.dirname(os.__file__), "")
        site = os.path.join(base, "site-packages", "")
        paths = {path for path in modules if path and (not path.startswith(base) or path.startswith(site))}
        beside = {os.path.dirname(path) for path in paths if os.path.dirname(path) not in sys.path}
        for folder in beside:
            with suppress(OSError), os.scandir(folder) as entries:
                paths |= {entry.path for entry in entries if entry.name.endswith((".toml", ".marshal"))}
        self._stamps: dict[str, Stamp] = {path: stamp_of(path) for path in sorted(paths)}
        # A module of the same name in another folder of the path may take precedence.
        self._tops = {name.partition(".")[0] for name in names}
        self._folders = {folder: self._look(folder) for folder in folders}
        self._held: HeldFiles | None = None

    def changed_since(self, began_ns: int) -> str:
        """Return the path of a file that has changed at this time or later: another state of it may be loaded."""
        stamps = (self._stamps, *(files for _, files, _ in self._folders.values()))
        found = (path for each in stamps for path, (*_, changed_ns) in each.items() if changed_ns >= began_ns)
        return next(found, "")

    def changed(self) -> str:
        """Return the path of a file that has changed since, an empty string for none."""
        if self._held is not None and self._held.are_same():
            return ""
        self.release()
        found = self._changed()
        if not found and self._folders:
            metadata = {path: stamp for _, files, _ in self._folders.values() for path, stamp in files.items()}
            folders = {folder: stamp for folder, (stamp, *_) in self._folders.items()}
            self._held = HeldFiles(metadata | self._stamps, folders)
        return found

    def release(self) -> None:
        """Close the files that are held open for the next look."""
        if self._held is not None:
            self._held.close()
            self._held = None

    def _changed(self) -> str:
        for folder, (stamp, files, modules) in self._folders.items():
            if stamp_of(folder) != stamp:
                now = self._look(folder)
                if _path_files(now[1]) != _path_files(files) or now[2] != modules:
                    return folder
                self._folders[folder] = now  # each worker notices files that come and go there
            elif path := first_changed(files):
                return path
        return first_changed(self._stamps)

    def _look(self, folder: str) -> tuple[Stamp, dict[str, Stamp], frozenset[str]]:
        """Return the stamp of a folder, those of the metadata in it, and its entries with the name of a module."""
        stamp = stamp_of(folder)
        try:
            modules = frozenset(name for name in os.listdir(folder) if name.partition(".")[0] in self._tops)
        except OSError:
            modules = frozenset()
        return stamp, {path: stamp_of(path) for path in metadata_files(folder)}, modules


def _path_folders() -> set[str]:
    """Return the folders of the import path, and the user's own site folder, which need not exist yet."""
    import site

    return {*map(os.path.abspath, sys.path), *([site.getusersitepackages()] if site.ENABLE_USER_SITE else [])}


def _path_files(files: dict[str, Stamp]) -> dict[str, Stamp]:
    """Return those of the files that put other folders on the path."""
    return {path: stamp for path, stamp in files.items() if path.endswith(".pth")}
