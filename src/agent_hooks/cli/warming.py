"""Import what events need before the first one, and notice when something of it has changed.

That is all of our own, and the installed plugins whose import does nothing else.

An import that starts a thread or a process, leaves a file open, writes one, or looks at the working folder is left to
each event's own process. That is tried in a fork first.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
from contextlib import suppress
from functools import partial
from importlib import import_module
from pkgutil import walk_packages
from threading import active_count

from agent_hooks.errors import AgentHooksError
from agent_hooks.system.digests import sha256_hex
from agent_hooks.system.sites import restrict
from agent_hooks.system.sockets import counts_at_start

from .confinement import confinement_of
from .start import use_site

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any, Self


# What the path of an event needs, besides the plugins.
_PACKAGES = ("engine", "formats", "handlers", "model", "shell", "sources", "system", "trust", "wire")
_MODULES = ("agent_hooks.cli.asking", "agent_hooks.cli.time_limits")
# The distributions whose hooks are asked at the rehearsal.
_OURS = frozenset(("agent-hooks-guards", "agent-hooks-prompts", "agent-hooks-subagents"))
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
_SECONDS = 30.0  # for the import of a plugin
# Audit events of what an import must not do, by the beginnings of their names.
_EFFECTS = (
    "_thread.start",
    "ctypes.dlopen mmap.",
    "os.chdir os.chmod os.chown os.exec os.fork os.kill os.link os.mkdir os.posix_spawn os.putenv os.remove os.rename",
    "os.rmdir os.spawn os.symlink os.system os.truncate os.unsetenv os.utime",
    "resource. shutil. socket.connect socket.sendto sqlite3.connect subprocess. tempfile. urllib.",
)
_LOOKS = ("stat", "lstat", "access", "readlink", "listdir", "scandir")


class Warm:
    """What the warm process has imported, and what that depends on.

    ``plugins``: the installed plugins that are imported, and why others are not, by name.
    """

    def __init__(self) -> None:
        """Import everything. Raises ``AgentHooksError`` if a file changes meanwhile."""
        began_ns = _begin_of_process()
        self.confinement = confinement_of(os.getpid())
        self.plugins: dict[str, str] = {}
        read, files = _ReadVariables(), set[str]()
        with read:
            use_site()  # from here on there are other distributions
            restrict(())  # as in each child, which then needs not search for them again
            _import_ours()
            _rehearse()
            for name, module in _of_others():
                tried = _forked(partial(_effects_of, module)) or {"effect": "its import does not end"}
                self.plugins[name] = tried["effect"]
                if not tried["effect"]:
                    files.update(tried["files"])
                    with suppress(Exception):
                        import_module(module)
        self._variables = read.values_read()
        paths = {*files, *_module_files(), *_path_files()}
        self._stamps = {path: (stamp_of(path), entries_of(path)) for path in paths}
        files_only = ((path, stamp) for path, (stamp, entries) in self._stamps.items() if entries is None)
        if late := next((path for path, stamp in files_only if stamp[2:] >= (began_ns,)), ""):
            raise AgentHooksError(f"{late} has changed at this moment: start it again.")

    def changed(self) -> str:
        """Return the path of a file that has changed since, an empty string for none."""
        stamps = self._stamps.items()
        differ = ((path, entries) for path, (stamp, entries) in stamps if stamp_of(path) != stamp)
        return next((path for path, entries in differ if entries is None or entries_of(path) != entries), "")

    def other_variable(self, variables: Mapping[bytes, bytes]) -> str:
        """Return the name of a variable that the imports depend on and that has another value, empty for none."""
        names = (name for name in {*self._variables, *variables} if self._depends_on(name))
        return next((os.fsdecode(name) for name in names if variables.get(name) != self._variables.get(name)), "")

    def _depends_on(self, name: bytes) -> bool:
        return name in self._variables or counts_at_start(os.fsdecode(name))


def stamp_of(path: str) -> tuple[object, ...]:
    """Return what every change of a file or folder changes, nothing where there is none."""
    try:
        status = os.stat(path)
    except OSError:
        return ()
    return (status.st_ino, status.st_size, status.st_ctime_ns)  # unlike the mtime, the ctime cannot be set


def entries_of(path: str) -> set[str] | None:
    """Return the names in a folder, which importing may add byte code to; None for a file."""
    try:
        return {*os.listdir(path), "__pycache__"}
    except OSError:
        return None


def _begin_of_process() -> int:
    """Return when this process began to read files, in nanoseconds of the system's clock."""
    try:
        with open("/proc/self/stat", "rb") as file:
            ticks = int(file.read().rpartition(b")")[2].split()[19])
        began = (ticks + 1) / os.sysconf("SC_CLK_TCK")  # the tick in which it was made, rounded up
        return time.time_ns() - int(1e9 * (time.clock_gettime(time.CLOCK_BOOTTIME) - began))
    except (OSError, AttributeError):  # macOS
        return time.time_ns() - time.process_time_ns()


# -- what is imported --------------------------------------------------------------------------------------------------


def _import_ours() -> None:
    from agent_hooks.engine.installed import found_points

    plugins = [info.entry_point.partition(":")[0] for info, _ in found_points() if info.distribution in _OURS]
    for package in (*(f"agent_hooks.{name}" for name in _PACKAGES), *plugins):
        for found in walk_packages(import_module(package).__path__, f"{package}."):
            with suppress(ImportError):  # it needs an extra
                import_module(found.name)
    for name in (*_MODULES, "mmap", "asyncio"):  # the last for the hooks of others
        import_module(name)
    sha256_hex(b"")


def _rehearse() -> None:
    """Ask the hooks of our own plugins without settings, so that nothing is counted or written to a trail."""
    from agent_hooks.sources.plugin_settings import without_files

    without_files(_rehearse_events)


def _rehearse_events() -> None:
    from agent_hooks.engine.installed import found_points
    from agent_hooks.engine.manager import HookManager
    from agent_hooks.formats.toml_model import HookFile, MatcherTable
    from agent_hooks.sources.settings_models import model_from
    from agent_hooks.wire import HOSTS

    names = [info.name for info, _ in found_points() if info.distribution in _OURS and info.status != "ignored"]
    manager = HookManager(load_plugins=names)
    for model in (HookFile, MatcherTable, *(model_from(made) for _, made in manager.settings_models.values())):
        model.model_rebuild()  # pydantic makes the validators of some models only when they are first needed
    hooks = manager.hooks(ask="host")
    for host in HOSTS.values():
        for payload in _REHEARSAL:
            with suppress(Exception):
                ctx = host.read({"session_id": "", "transcript_path": "", "cwd": "/", **payload}, None)
                host.write(hooks.dispatch_sync(ctx), ctx, notes=(), ask="deny")


def _of_others() -> Iterator[tuple[str, str]]:
    """Yield the names of the other installed plugins, with the modules of their entry points."""
    from agent_hooks.engine.installed import found_points

    for info, _ in found_points():
        if info.entry_point and info.status != "ignored" and info.distribution not in _OURS:
            yield info.name, info.entry_point.partition(":")[0].strip()


def _effects_of(module: str) -> dict[str, Any]:
    """Return what the import of a module does besides, in a process that is about to end: the effect that must not be
    shared, if it has one, and the files that it looks at.
    """
    effects = _Effects()
    with suppress(Exception), _ReadVariables() as read:
        import_module(module)
    if read.are_all_read:
        effects.note("reads all variables")
    return effects.found()


class _ReadVariables(dict[bytes, bytes]):
    """The variables of the environment, in whose block it is noted which are read."""

    def __init__(self) -> None:
        super().__init__(os.environb)
        self._read: set[bytes] = set()
        self.are_all_read = False
        self._before: Any = None

    def __enter__(self) -> Self:
        self._before = os.environ._data  # type: ignore[attr-defined]
        self._put(self)
        return self

    def __exit__(self, *_: object) -> None:
        self._put(self._before)

    def _put(self, variables: dict[bytes, bytes]) -> None:
        os.environ._data = os.environb._data = variables  # type: ignore[attr-defined]

    def values_read(self) -> dict[bytes, bytes | None]:
        names = {name for name in self.keys() if counts_at_start(os.fsdecode(name))} | self._read
        return {name: self.get(name) for name in names}

    def __getitem__(self, name: bytes) -> bytes:
        self._read.add(name)
        return super().__getitem__(name)

    def __contains__(self, name: object) -> bool:
        self._read.add(name)  # type: ignore[arg-type]
        return super().__contains__(name)

    def __iter__(self) -> Iterator[bytes]:
        self.are_all_read = True
        return super().__iter__()


class _Effects:
    """What the imports of a process that is about to end do besides, from now on."""

    def __init__(self) -> None:
        self.effect, self._is_over = "", False
        self._files: set[str] = set()
        self._open = set(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else set()
        self._before = (os.umask(0o077), [signal.getsignal(number) for number in sorted(signal.valid_signals())])
        os.umask(self._before[0])
        self._prefixes = tuple(prefix for line in _EFFECTS for prefix in line.split())
        for name in ("getcwd", "getcwdb"):
            setattr(os, name, self._watched(getattr(os, name), lambda *_: self.note("looks at the working folder")))
        for name in _LOOKS:
            setattr(os, name, self._watched(getattr(os, name), self._look))
        sys.addaudithook(self._audit)

    def note(self, effect: str) -> None:
        self.effect = self.effect or f"its import {effect}"

    def found(self) -> dict[str, Any]:
        self._is_over = True  # what follows looks, too
        if active_count() > 1 or (os.path.isdir("/proc/self/task") and len(os.listdir("/proc/self/task")) > 1):
            self.note("starts a thread")
        if self._open and len(os.listdir("/proc/self/fd")) > len(self._open):
            self.note("leaves a file open")
        umask = os.umask(0o077)
        handlers = [signal.getsignal(number) for number in sorted(signal.valid_signals())]
        if (umask, handlers) != self._before or any(signal.getitimer(signal.ITIMER_REAL)):
            self.note("sets the umask, a signal's handler or a timer")
        return {"effect": self.effect, "files": sorted(self._files)}

    def _watched(self, function: Callable[..., Any], look: Callable[..., None]) -> Callable[..., Any]:
        def watched(*arguments: Any, **options: Any) -> Any:
            look(*arguments)
            return function(*arguments, **options)

        return watched

    def _look(self, path: object = ".", *_: object) -> None:
        if self._is_over or not isinstance(path, str | bytes | os.PathLike):
            return
        text = os.fsdecode(path)
        if not os.path.isabs(text):
            self.note("looks at the working folder")
        elif text.startswith(("/proc/", "/sys/", "/dev/")):
            if text not in ("/dev/null", "/dev/urandom"):
                self.note(f"looks at {text}")
        elif "__pycache__" not in text:
            self._files.add(text)

    def _audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and not isinstance(arguments[0], int):
            if arguments[2] & (os.O_WRONLY | os.O_RDWR) and "__pycache__" not in str(arguments[0]):
                self.note(f"writes {arguments[0]}")
            self._look(arguments[0])
        elif event.startswith(self._prefixes) and "__pycache__" not in str(arguments):
            self.note(f"does {event}")


def _forked(work: Callable[[], Any]) -> Any:
    """Return the answer of ``work``, plain data, from a fork without streams; None if it ends or takes too long."""
    answers, answers_in = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setpgid(0, 0)
            nowhere = os.open(os.devnull, os.O_RDWR)
            for number in (0, 1, 2):
                os.dup2(nowhere, number)
            os.close(nowhere)
            os.close(answers)
            os.write(answers_in, json.dumps(work()).encode())
        finally:
            os._exit(0)
    os.close(answers_in)
    data, end = b"", time.monotonic() + _SECONDS
    while select.select([answers], [], [], max(0.0, end - time.monotonic()))[0]:
        part = os.read(answers, 65536)
        data += part
        if not part:
            break
    os.close(answers)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    try:
        return json.loads(data)
    except ValueError:
        return None


# -- the files that it depends on --------------------------------------------------------------------------------------


def _module_files() -> Iterator[str]:
    """Yield the files of all modules outside of the standard library, and the interpreter."""
    standard = os.path.join(os.path.dirname(os.__file__), "")
    folders: set[str] = set()
    yield from (sys.executable, os.path.join(sys.prefix, "pyvenv.cfg"), os.__file__)
    for module in list(sys.modules.values()):
        path = getattr(module, "__file__", None)
        if path and (not path.startswith(standard) or "-packages" in path[len(standard) :]):
            yield path
            folders.add(os.path.dirname(path))
    yield from folders  # where a module may come to be found
    for folder in folders.difference(sys.path):  # tables of rules
        yield from (entry.path for entry in os.scandir(folder) if entry.name.endswith((".toml", ".marshal")))


def _path_files() -> Iterator[str]:
    """Yield the folders of the import path, and the files in them that say what is installed and which follow."""
    for folder in sys.path:
        yield folder
        with suppress(OSError):
            for name in os.listdir(folder):
                path = os.path.join(folder, name)
                if name.endswith(".pth"):
                    yield path
                elif name.endswith((".dist-info", ".egg-info")):
                    yield from (os.path.join(path, "entry_points.txt"), os.path.join(path, "METADATA"))
