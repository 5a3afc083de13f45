"""Files that a command reads and writes: their content on the way, and the effects of it."""

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

from .special_files import descriptor_of, is_socket, is_terminal, url_of_socket
from .state import either, followed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_hooks.shell import syntax
    from agent_hooks_guards.places.paths import Place

    from .frames import Frame, Redirected

_MAX_TEXT = 262_144


class FileAccess:
    """Reads and writes files. ``analysis`` has the effects."""

    def __init__(self, place: Place) -> None:
        self.analysis = Analysis()
        self.place = place
        self.steps = 0
        self.depth = 0
        self.size = 0
        # How many branches the walk is in: a file that is written there may also not be written.
        self.branches = 0
        # What the functions that are running were given last.
        self.given: dict[str, list[Data]] = {}
        # How often a function was called by itself.
        self.again = 0
        # The named pipes that were made.
        self.pipes: set[str] = set()
        self.sinks: dict[str, tuple[syntax.Node, Frame]] = {}

    def run(self, node: syntax.Node, frame: Frame, *, wants: bool) -> Data:
        """Walk through ``node``; return its stdout, if ``wants`` is set."""
        raise NotImplementedError

    def reads(self, size: int) -> None:
        """Note that so many characters are read. Raises ``TooMuchError`` if they are too many in all."""
        self.size += size
        if self.size > _MAX_TEXT:
            raise TooMuchError

    def socket_data(self, path: str) -> Data:
        """Return what is read from a path that may be a socket."""
        return Data(UNKNOWN, frozenset((NETWORK,))) if is_socket(path) else ANYTHING

    def path(self, text: str, frame: Frame) -> str:
        """Return the absolute path that ``text`` names."""
        path = absolute(text, frame.state.cwd, frame.state.home)
        return followed(path, frame.state.links) if frame.state.links else path

    def read(self, text: str, frame: Frame, command: Command) -> Data:
        """Return what the file holds, and note that it is read."""
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
            return Data(UNKNOWN, frozenset((NETWORK,)))
        if data is None:
            typed = {INPUT} if is_terminal(path) else NO_LABELS
            data = Data(UNKNOWN, self.labels_of_file(path, frame) | typed | {"file:" + path})
        self.analysis.effects.append(Effect("read", path, command, labels=data.labels))
        return data

    def labels_of_file(self, path: str, frame: Frame) -> frozenset[str]:
        """Return where the content of a file comes from: what was written on the way, or what its path tells."""
        known = frame.state.file(path)
        labels = NO_LABELS if known is None else known.labels
        if "secret" in kinds(path, self.place, frame.state.host):
            labels |= {SECRET}
        return labels | {ENDLESS} if path in ENDLESS_FILES else labels

    def labels_of_folder(self, path: str, frame: Frame) -> frozenset[str]:
        """Return where what is in a folder comes from: a whole home or machine holds keys."""
        is_ = kinds(path, self.place, frame.state.host)
        return NO_LABELS if is_.isdisjoint(("home", "root")) else frozenset((SECRET,))

    def deliver(self, data: Data, where: Redirected, command: Command, frame: Frame) -> Data:
        """Write ``data``, what a command prints, to where its output goes; return what is left to print."""
        if not where.targets:
            return data
        for fd, path in where.targets.items():
            content = data if fd == 1 else NOTHING if fd == 2 else ANYTHING
            if fd == 1 or path not in {other for at, other in where.targets.items() if at == 1}:
                self.write(path, content, frame, command, append=path in where.appends)
        return NOTHING if 1 in where.targets else data

    def write(self, path: str, data: Data, frame: Frame, command: Command, *, append: bool = False) -> None:
        """Note that ``data`` is written to the file."""
        descriptor = descriptor_of(path)
        if descriptor is not None and descriptor in frame.state.descriptors:
            known = frame.state.descriptors[descriptor]
            path = known if isinstance(known, str) else path
        if is_socket(path):
            command.stdin = data
            self.analysis.effects.append(Effect("send", url_of_socket(path), command, labels=data.labels))
            return
        if self._fed(path, data):
            return
        # What is written is as telling as what it is written to.
        command.stdin = data
        self.analysis.effects.append(Effect("write", path, command, append=append, labels=data.labels))
        self.keep(path, data, frame, append=append)

    def _fed(self, path: str, data: Data) -> bool:
        """Give ``data`` to what reads from ``path``, if that is a process and no file."""
        if path not in self.sinks:
            return False
        body, inside = self.sinks[path]
        again = inside.copy(state=inside.state.copy())
        again.stdin = data
        self.run(body, again, wants=False)
        return True

    def keep(self, path: str, data: Data, frame: Frame, *, append: bool = False) -> None:
        """Remember what a file holds from now on."""
        if self._fed(path, data):
            return
        files = frame.state.files
        old = files.get(path, ())
        if append or path in self.pipes:
            before = old or (NOTHING,)
            new = tuple(Data(each.text + data.text, each.labels | data.labels) for each in before)
        else:
            new = (data,)
        files[path] = either(new, old) if self.branches and old else new
