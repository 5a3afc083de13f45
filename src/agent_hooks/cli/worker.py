"""A worker of the resident process: a process that answers one event after the other.

Code of our own, which changes nothing of its process, is loaded here once and asked here. Everybody else's, that of
projects, of other plugins and of configured handlers, is loaded and asked in a process for one event each, as
``agent-hooks run`` does without a resident process: so no event meets anything that the hooks of another left behind.
A worker serves one environment only.
"""

from __future__ import annotations

import gc
import os
import sys
import time
from contextlib import contextmanager, suppress
from stat import S_ISLNK
from time import monotonic

from agent_hooks.errors import AgentHooksError
from agent_hooks.model.events import HookEvent
from agent_hooks.sources.kept import KeptManagers
from agent_hooks.sources.loader import PROTECTION
from agent_hooks.sources.plugin_settings import look_again
from agent_hooks.sources.telemetry import recorder
from agent_hooks.system import folders
from agent_hooks.system.progress import listen_no_more
from agent_hooks.system.sockets import BrokenFrameError, pack, size_of, unpack
from agent_hooks.system.visible import without_controls
from agent_hooks.wire import get_host

from .asking import Event, asks_host, loader_for, written
from .confinement import take_over
from .host_hooks import LIMITS, add_host_hooks, hold_projects, loads_lines
from .quick import Start, options_of
from .resident import ANSWERED, DECLINED
from .run import asking, deadline_of, decide, parse_options
from .stdin import read_object
from .supervised import supervised
from .warming import LoadedFiles

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from socket import socket
    from typing import Any, NoReturn

    from agent_hooks.engine.hooks import Hooks
    from agent_hooks.engine.manager import HookManager
    from agent_hooks.model.context import HookContext
    from agent_hooks.model.outcome import HookOutcome
    from agent_hooks.wire import Answer
    from agent_hooks.wire.host import Host

    from .confinement import Limits

_MOST_SECONDS = 1_000_000.0
# The share of the remaining time that is kept for the client, which decides if there is no answer, and its maximum in
# seconds.
_SHARE_FOR_DECIDING = 4
_MOST_FOR_DECIDING = 2.0
# The share of the rest that is kept for the way back, and its maximum in seconds.
_SHARE_FOR_RETURNING = 10
_MOST_FOR_RETURNING = 0.5
_MAX_NOISE = 64 * 1024


class Request:
    """An event as a client sends it. ``at``: when the command began, on the monotonic clock. ``wait``: the seconds that
    the client waits for the answer, and ``seconds`` those that the hooks have. ``place``: all that a worker is bound to
    from its first event on. Raises ``ValueError`` for what is none.
    """

    def __init__(self, fields: list[bytes]) -> None:
        now = monotonic()
        since, self.identity, self.cwd, self.variables, umask, name, arguments, self.payload = fields
        self.umask = int(umask)
        self.arguments = arguments.decode("utf-8", "surrogatepass").split("\0")
        options = options_of(self.arguments)
        timeout = float(options["--timeout"]) if "--timeout" in options else None
        self.at = now - int(since) / 1_000_000
        try:
            host = get_host(options.get("--agent", ""))
        except AgentHooksError as error:
            raise ValueError from error
        left = deadline_of(host, name.decode("utf-8", "surrogatepass"), timeout, self.at) - now
        self.wait = left - min(_MOST_FOR_DECIDING, left / _SHARE_FOR_DECIDING)
        self.seconds = self.wait - min(_MOST_FOR_RETURNING, self.wait / _SHARE_FOR_RETURNING)
        if not 0 < self.seconds < _MOST_SECONDS:
            raise ValueError("there is no time for the event")
        self.config_dir = options.get("--config-dir", "")
        self.place = (self.variables, self.cwd, umask, self.config_dir)

    def environment(self) -> dict[bytes, bytes]:
        """Return the variables by name."""
        return dict(entry.split(b"=", 1) for entry in self.variables.split(b"\0") if b"=" in entry[1:])


class Worker:
    """The loop of a worker, with the ``channel`` to the resident process. Started in a fork of that process."""

    def __init__(self, channel: socket, files: LoadedFiles) -> None:
        self._channel = channel
        self._files = files
        self._further = LoadedFiles(frozenset())
        self._managers = KeptManagers()
        self._path = [*sys.path]
        self._request: Request
        self._deadline = 0.0
        self._variables = b""  # those of the environment, empty where that may have changed since
        noise, noise_in = os.pipe()
        os.set_blocking(noise, False)
        for number in (1, 2):
            os.dup2(noise_in, number)
        os.close(noise_in)
        self._noise = noise

    def run(self) -> NoReturn:
        """Answer events until the resident process ends, or this one should be replaced."""
        try:
            while not self._managers.is_spoilt:
                fields = self._receive()[1:]
                if changed := self._further.changed():
                    self._channel.sendall(pack(DECLINED, f"a change of {changed}".encode()))
                    break
                self._channel.sendall(pack(*self._answer(Request(fields))))
                _reap()
                further = sys.modules.keys() - self._files.names
                if further != self._further.names:
                    self._further = LoadedFiles(frozenset(further))
        except (OSError, BrokenFrameError):
            pass  # the resident process has ended
        finally:
            os._exit(0)

    def _receive(self) -> list[bytes]:
        data = bytearray()
        while not (size := size_of(data)) or len(data) < size:
            part = self._channel.recv(256 * 1024)
            if not part:
                raise BrokenFrameError("the resident process has ended")
            data += part
        return unpack(data)

    def _answer(self, request: Request) -> tuple[bytes, ...]:
        self._request, self._deadline = request, monotonic() + request.seconds
        begun = Start()
        begun.at, begun.recorder = request.at, recorder
        try:
            self._enter(request)
            options = parse_options(request.arguments)
        except (OSError, ValueError, AgentHooksError) as error:  # the folder is gone
            return DECLINED, str(error).encode("utf-8", "replace")

        def read() -> dict[str, Any]:
            begun.payload = read_object(request.payload)
            return begun.payload

        def isolate(ctx: HookContext, deadline: float) -> tuple[Answer, bytes]:
            return self._isolate(get_host(ctx.host), ctx, options[3], min(deadline, self._deadline), begun)

        answer, noise = decide(options, begun, read, isolate)
        # With exit code 2, stderr goes to the model: only the reason belongs there.
        stderr = without_controls(answer.stderr).encode("utf-8", "backslashreplace") + noise * (answer.exit_code == 0)
        stdout = answer.stdout.encode("utf-8", "backslashreplace")
        return ANSWERED, stdout, stderr, b"%d" % answer.exit_code, answer.record.encode("utf-8", "replace")

    def _enter(self, request: Request) -> None:
        """Take over the client's environment, folders and umask. Raises ``OSError``, ``SettingsError``."""
        if self._variables != request.variables:
            os.environb.clear()
            os.environb.update(request.environment())
            time.tzset()
            self._variables = request.variables
        os.chdir(request.cwd)
        os.umask(request.umask)
        sys.path[:] = self._path
        folders.choose_config_dir(request.config_dir)
        listen_no_more()

    def _isolate(
        self, host: Host, ctx: HookContext, on_ask: str, deadline: float, begun: Start
    ) -> tuple[Answer, bytes]:
        with _links_followed_once():
            answer = self._ask_here(Event(host, ctx, on_ask, deadline, begun))
        if answer is not None:
            return answer, self._read_noise()
        self._enter(self._request)  # the attempt has read the settings
        look_again({})
        self._read_noise()
        work = asking(host, ctx, on_ask, deadline, begun)
        self._variables = b""
        return supervised(work, deadline, keep_from=(self._channel.fileno(), self._noise))

    def _ask_here(self, event: Event) -> Answer | None:
        """Ask the hooks in this process; None if some of them are not our own, or something fails."""
        answers: list[Answer] = []
        try:
            folders.use_account()
            ctx, near = event.ctx, event.near
            key = (event.host.name, event.folders, event.begun.modules)
            kept = self._managers.load(key, near, lambda: loader_for(event))
            if kept is None or (ctx.tool_call is not None and ctx.tool_call.kind == "subagent") or loads_lines(ctx):
                return None
            hold_projects(ctx, kept.manager, None, kept)
            manager = kept.manager
            ctx = ctx.replace(project_dir=ctx.project_dir or kept.project_dir)

            def settled(outcome: HookOutcome) -> None:
                if not answers:  # `written` counts rounds and notes, once per event
                    answers.append(written(event, ctx, outcome, manager))

            ask = asks_host(event)
            if not any(hook.plugin_name == LIMITS for hook in manager.hooks_on(HookEvent.BEFORE_TOOL_USE)):
                add_host_hooks(manager, event.host, ctx, ask)
            hooks = manager.hooks(ask, settled)
            if not all(_is_ours(hooks, manager, each) for each in (ctx.event, HookEvent.PERMISSION_REQUEST)):
                return None
            event.record = recorder(kept.files) if hooks.listens(ctx.event) else None
            settled(hooks.dispatch_sync(ctx))
            return answers[0]
        except Exception:  # noqa: BLE001 - a process of its own says what is wrong
            return answers[0] if answers else None  # it counted rounds and notes: not again

    def _read_noise(self) -> bytes:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        with suppress(BlockingIOError):
            return os.read(self._noise, _MAX_NOISE)
        return b""


def _reap() -> None:
    """Reap the processes of earlier events, which were killed without waiting for them."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


@contextmanager
def _links_followed_once() -> Iterator[None]:
    """Resolve each folder once in this block: half of the time of an event goes into the links of a few folders."""
    resolve: Callable[..., Any] = os.path.realpath
    known: dict[str, str] = {"/": "/"}

    def realpath(path: Any, *, strict: bool = False) -> Any:
        # Whatever is not spelled plainly is left to Python.
        if strict or type(path) is not str or path[:1] != "/" or "/." in path or "//" in path or len(path) > 1000:
            return resolve(path, strict=strict)
        return known.get(path) or followed(path.rstrip("/"))

    def followed(path: str) -> str:
        folder, _, name = path.rpartition("/")
        real = (known.get(folder) or followed(folder)) if folder else "/"
        joined = f"{real}/{name}" if real != "/" else f"/{name}"
        try:
            is_link = S_ISLNK(os.lstat(joined).st_mode)
        except OSError:  # nothing is there
            is_link = False
        found = known[path] = resolve(joined) if is_link else joined
        return found

    os.path.realpath = realpath  # type: ignore[assignment]
    try:
        yield
    finally:
        os.path.realpath = resolve


def _is_ours(hooks: Hooks, manager: HookManager, event: HookEvent) -> bool:
    """Whether every hook of ``event`` is a plain function of our own."""
    chain = hooks.chain(event)
    if chain is None:
        return True
    ours = {PROTECTION, LIMITS, *(info.name for info in manager.plugins() if info.entry_point)}
    found = (*chain.wrappers, *chain.deciders, *chain.observers)
    return not any(
        hook.plugin_name not in ours or hook.is_async or hook.is_timed or hook.options.background for hook in found
    )


def start(channel: socket, kept_open: tuple[int, ...], limits: Limits | None, files: LoadedFiles) -> NoReturn:
    """Be a worker: the child of a fork. ``kept_open``: descriptors of the resident process to close. ``limits``: those
    of the client. ``files``: those that the resident process has loaded, and looks at itself.
    """
    try:
        os.setpgid(0, 0)
        files.release()
        for descriptor in kept_open:
            os.close(descriptor)
        take_over(limits)
        gc.freeze()
        gc.enable()
        gc.set_threshold(50_000)
        Worker(channel, files).run()
    finally:
        os._exit(1)
