"""Files that a command reads and writes: their content during the walk, and the effects."""

from __future__ import annotations

from agent_hooks_guards.model.actions import Analysis, Command, Effect, TooMuchError
from agent_hooks_guards.model.values import (
    ANYTHING,
    ENDLESS,
    ENDLESS_FILES,
    INPUT,
    NETWORK,
    NO_LABELS,
    NOTHING,
    SECRET,
    UNKNOWN,
    Data,
)
from agent_hooks_guards.places.kinds import kinds
from agent_hooks_guards.places.paths import absolute

from .state import either, followed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_hooks.shell import syntax
    from agent_hooks_guards.places.paths import Place

    from .state import Frame, Redirected

_MAX_TEXT = 262_144
_MAX_DIGITS = 9
FROM_NETWORK = Data(UNKNOWN, frozenset((NETWORK,)))


class FileAccess:
    """The part of a walk that reads and writes files. ``analysis``: its result."""

    def __init__(self, place: Place) -> None:
        self.analysis = Analysis()
        self.place = place
        self.steps = 0
        self.depth = 0
        self.size = 0
        # The number of enclosing branches; in one, a file may stay unwritten.
        self.branches = 0
        # The latest arguments of each active function.
        self.given: dict[str, list[Data]] = {}
        # Process substitutions and coprocesses by the path of their pipe.
        self.sinks: dict[str, tuple[syntax.Node, Frame]] = {}

    def run(self, node: syntax.Node, frame: Frame, *, wants: bool) -> Data:
        """Walk ``node``; return its stdout, if ``wants`` is set."""
        raise NotImplementedError

    def reads(self, size: int) -> None:
        """Count ``size`` parsed characters. Raises ``TooMuchError`` if the total is too large."""
        self.size += size
        if self.size > _MAX_TEXT:
            raise TooMuchError

    def socket_data(self, path: str) -> Data:
        """Return the input from a path that may be a socket."""
        return FROM_NETWORK if is_socket(path) else ANYTHING

    def path(self, text: str, frame: Frame) -> str:
        """Return the absolute path that ``text`` names."""
        path = absolute(text, frame.state.cwd, frame.state.home)
        return followed(path, frame.state.links) if frame.state.links else path

    def read(self, text: str, frame: Frame, command: Command) -> Data:
        """Record that a file is read and return its content."""
        path = self.path(text, frame)
        descriptor = descriptor_of(path)
        if descriptor is not None and descriptor in frame.state.descriptors:
            known = frame.state.descriptors[descriptor]
            return known if isinstance(known, Data) else self.socket_data(known)
        data = frame.state.file(path)
        if path == "/dev/null":
            return NOTHING
        if is_socket(path):
            self.analysis.effects.append(Effect("receive", url_of_socket(path), command))
            return FROM_NETWORK
        if data is None:
            typed = {INPUT} if is_terminal(path) else NO_LABELS
            data = Data(UNKNOWN, self.labels_of_file(path, frame) | typed | {"file:" + path})
        self.analysis.effects.append(Effect("read", path, command, labels=data.labels))
        return data

    def labels_of_file(self, path: str, frame: Frame) -> frozenset[str]:
        """Return the labels of a file's content: those of its known content, and those that follow from its path."""
        known = frame.state.file(path)
        labels = NO_LABELS if known is None else known.labels
        if "secret" in kinds(path, self.place, frame.state.host):
            labels |= {SECRET}
        return labels | {ENDLESS} if path in ENDLESS_FILES else labels

    def labels_of_folder(self, path: str, frame: Frame) -> frozenset[str]:
        """Return the labels of the files in a folder: a whole home or machine holds keys."""
        found = kinds(path, self.place, frame.state.host)
        return NO_LABELS if found.isdisjoint(("home", "root")) else frozenset((SECRET,))

    def deliver(self, data: Data, where: Redirected, command: Command, frame: Frame) -> Data:
        """Write ``data``, the output of a command, to the targets of its redirections; return its stdout."""
        if not where.targets:
            return data
        for fd, path in where.targets.items():
            content = data if fd == 1 else NOTHING if fd == 2 else ANYTHING
            if fd == 1 or path not in {other for at, other in where.targets.items() if at == 1}:
                self.write(path, content, frame, command, append=path in where.appends)
        return NOTHING if 1 in where.targets else data

    def write(self, path: str, data: Data, frame: Frame, command: Command, *, append: bool = False) -> None:
        """Record that ``data`` is written to a file."""
        descriptor = descriptor_of(path)
        if descriptor is not None and descriptor in frame.state.descriptors:
            known = frame.state.descriptors[descriptor]
            path = known if isinstance(known, str) else path
        if is_socket(path):
            command.stdin = data
            self.analysis.effects.append(Effect("send", url_of_socket(path), command, labels=data.labels))
            return
        if self._feed(path, data):
            return
        # Rules about stdin apply to the written data, too.
        command.stdin = data
        self.analysis.effects.append(Effect("write", path, command, append=append, labels=data.labels))
        self.keep(path, data, frame, append=append)

    def _feed(self, path: str, data: Data) -> bool:
        """Run the process that reads from the pipe ``path`` with ``data``; return whether there is one."""
        if path not in self.sinks:
            return False
        body, inside = self.sinks[path]
        again = inside.copy(state=inside.state.copy())
        again.stdin = data
        self.run(body, again, wants=False)
        return True

    def keep(self, path: str, data: Data, frame: Frame, *, append: bool = False) -> None:
        """Store the new content of a file."""
        if self._feed(path, data):
            return
        files = frame.state.files
        old = files.get(path, ())
        if append:
            before = old or (NOTHING,)
            new = tuple(Data(each.text + data.text, each.labels | data.labels) for each in before)
        else:
            new = (data,)
        files[path] = either(new, old) if self.branches and old else new


def is_socket(path: str) -> bool:
    """Whether bash opens a connection for this path."""
    return path.startswith(("/dev/tcp/", "/dev/udp/"))


def url_of_socket(path: str) -> str:
    """Return the address of a socket's path as a URL."""
    _, _, protocol, host, *port = path.split("/")
    return f"{protocol}://{host}:{'/'.join(port)}"


def is_terminal(path: str) -> bool:
    """Whether a person may type the input from this path."""
    return path.startswith(("/dev/tty", "/dev/pts/")) or descriptor_of(path) == 0


def descriptor_of(path: str) -> int | None:
    """Return the number of the descriptor that ``path`` names; None for a file."""
    folder, _, number = path.rpartition("/")
    if number.isdecimal() and len(number) < _MAX_DIGITS:
        if folder in ("/dev/fd", "/proc/self/fd"):
            return int(number)
        # /proc/$$/fd, where $$ is unknown
        if folder.startswith("/proc/") and folder.endswith("/fd") and UNKNOWN in folder:
            return int(number)
    return {"/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2}.get(path)


def descriptor_data(path: str, frame: Frame) -> Data | None:
    """Return the content of the open descriptor that ``path`` names; None for a file."""
    number = descriptor_of(path)
    known = frame.state.descriptors.get(number) if number is not None else None
    if isinstance(known, str):
        return FROM_NETWORK if is_socket(known) else frame.state.file(known)
    if known is None and number == 0:
        return frame.stdin
    return known
