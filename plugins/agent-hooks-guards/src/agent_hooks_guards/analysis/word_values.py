"""Words, assignments and redirections in the context of a walk, and the content of files during it."""

from __future__ import annotations

from agent_hooks.shell import syntax
from agent_hooks.shell.patterns import Pattern
from agent_hooks.system.caching import cache
from agent_hooks_guards.model.actions import Analysis, Effect, TooMuchError
from agent_hooks_guards.model.values import (
    ANYTHING,
    CONTENT,
    ENDLESS,
    ENDLESS_FILES,
    INPUT,
    NETWORK,
    NO_LABELS,
    NOTHING,
    PERSONAL,
    SECRET,
    UNKNOWN,
    Data,
)
from agent_hooks_guards.places.paths import absolute

from .state import Frame, Redirected, either, followed, next_index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from agent_hooks_guards.model.actions import Command
    from agent_hooks_guards.places.paths import Place

# Kinds of paths that are labels of their content.
_LABELLING = frozenset((SECRET, PERSONAL))
FIRST_DESCRIPTOR = 1000
FROM_NETWORK = Data(UNKNOWN, frozenset((NETWORK,)))
_MAX_ELEMENTS = 4_096
_MAX_TEXT = 262_144
# Also /proc/$$/fd/3, where $$ is unknown.
_DESCRIPTOR = Pattern(rf"/(?:dev|proc/self|proc/.*{UNKNOWN}.*)/fd/(\d{{1,8}})")


@cache
def _expansion() -> ModuleType:
    """Return the module ``expansion``, which plain commands do not need."""
    from . import expansion

    return expansion


class WordValues:
    """The part of a walk that expands words, assigns variables, opens redirections, and reads and writes files.

    ``analysis``: its result.
    """

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
        # The language and content of files that programs ran without being given them.
        self.ran: set[tuple[str, str]] = set()
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
        from agent_hooks_guards.places.kinds import kinds

        known = frame.state.file(path)
        labels = NO_LABELS if known is None else known.labels
        labels |= kinds(path, self.place, frame.state.host) & _LABELLING
        return labels | {ENDLESS} if path in ENDLESS_FILES else labels

    def labels_of_folder(self, path: str, frame: Frame) -> frozenset[str]:
        """Return the labels of the files in a folder: a whole home or machine holds keys."""
        from agent_hooks_guards.places.kinds import kinds

        found = kinds(path, self.place, frame.state.host)
        return NO_LABELS if found.isdisjoint(("home", "root")) else frozenset((SECRET,))

    def note_emptied(self, path: str, command: Command) -> None:
        """Record that a file is left without content, which is as good as deleting it if it was there before: the rules
        look, because an analysis is remembered.
        """
        if not path.startswith(("/dev/", "/proc/", "/sys/")):
            self.analysis.effects.append(Effect("delete", path, command, method=CONTENT))

    def deliver(self, data: Data, where: Redirected, command: Command, frame: Frame, *, is_all: bool = False) -> Data:
        """Write ``data``, the output of a command, to the targets of its redirections; return its stdout. ``is_all``:
        whether it surely prints nothing else.
        """
        targets = where.targets
        path = targets.get(1, "")
        if is_all and data == NOTHING and path and path not in where.appends and path not in self.sinks:
            self.note_emptied(path, command)
        for fd, path in targets.items():
            content = data if fd == 1 else NOTHING if fd == 2 else ANYTHING
            if fd == 1 or path != targets.get(1):
                self.write(path, content, frame, command, append=path in where.appends)
        return NOTHING if 1 in targets else data

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

    def beside(self, body: syntax.Node, inside: Frame) -> tuple[str, Data]:
        """Run a process substitution or coprocess; return the path of its pipe and its stdout.

        Its direction depends on its use: reading the path returns its stdout, writing to the path sets its stdin.
        """
        path = f"/dev/fd/{FIRST_DESCRIPTOR + len(self.sinks)}"
        self.sinks[path] = (body, inside)
        inside.stdin = None
        data = self.run(body, inside, wants=True)
        inside.state.files[path] = (data,)
        return path, data

    def fields(self, words: list[syntax.Word], frame: Frame) -> tuple[list[str], dict[int, frozenset[str]]]:
        """Return the fields that ``words`` expand to, and their labels by position."""
        texts, labels = _expansion().fields(words, frame.state, self._substitute_in(frame))
        if frame.unknown:
            for at, text in enumerate(texts):
                if UNKNOWN in text:
                    labels[at] = labels.get(at, NO_LABELS) | frame.unknown
        return texts, labels

    def value(self, word: syntax.Word, frame: Frame) -> Data:
        """Return the expansion of ``word`` without splitting."""
        data: Data = _expansion().value(word, frame.state, self._substitute_in(frame))
        return Data(data.text, data.labels | frame.unknown) if frame.unknown and UNKNOWN in data.text else data

    def expanded(self, text: str, frame: Frame) -> Data:
        """Return the expansion of a text from outside the command: of a prompt or a subscript in a value."""
        data: Data = _expansion().expanded(text, frame.state, self._substitute_in(frame))
        return data

    def number(self, text: str, frame: Frame) -> int | None:
        """Return the value of an arithmetic expression, None if unknown."""
        number: int | None = _expansion().arithmetic(text, frame.state, self._substitute_in(frame))
        return number

    def _substitute_in(self, frame: Frame) -> Callable[..., Data]:
        return lambda body, is_process, text=None: self._substitute(body, frame, is_process, text)

    def _substitute(self, body: syntax.Node, frame: Frame, is_process: bool, text: str | None) -> Data:
        inside = frame.copy(state=frame.state.copy())
        if text is not None:
            inside.text = text
        if not is_process:
            data = self.run(body, inside, wants=True)
            return Data(data.text.replace("\0", "").rstrip("\n"), data.labels)
        return Data(self.beside(body, inside)[0])

    def redirected(self, redirects: list[syntax.Redirect], frame: Frame, command: Command) -> Redirected:
        """Open the targets of redirections, as effects of ``command``."""
        where = Redirected(frame.stdin)
        for each in redirects:
            operator = each.operator
            target = self.value(each.target, frame)
            fd = self._open_named(each.fd, frame) if isinstance(each.fd, str) else each.fd
            if operator in ("<<", "<<<"):
                where.open_input(fd, Data(target.text + "\n", target.labels) if operator == "<<<" else target)
            elif operator in ("<&", ">&") and (target.text.rstrip("-").isdigit() or target.text == "-"):
                self._duplicate(where, operator, fd, target.text.rstrip("-"), frame)
            elif operator in ("<", "<>", "<&"):
                where.open_input(fd, self.read(target.text, frame, command))
                if operator == "<>" and fd:
                    where.named[fd] = path = self.path(target.text, frame)
                    where.appends.add(path)
            else:
                fds = [1, 2] if operator in ("&>", "&>>") or (operator == ">&" and fd is None) else [fd or 1]
                path = self.path(target.text, frame)
                number = descriptor_of(path) if path not in self.sinks else None
                if operator in (">>", "&>>") and number is None:
                    where.appends.add(path)
                for fd in fds:
                    if number is not None:
                        self._duplicate(where, ">&", fd, str(number), frame)
                    else:
                        where.named[fd] = path
        for opened, known in where.named.items():
            if opened and isinstance(known, str) and known != "/dev/null":
                where.targets[opened] = known
        return where

    def _open_named(self, name: str, frame: Frame) -> int:
        """Assign a free descriptor to the variable of ``{name}<`` or ``{name}>`` and return it."""
        number = FIRST_DESCRIPTOR - 1 - len(frame.state.descriptors)
        frame.state.assign(name, Data(str(number)))
        return number

    def _duplicate(self, where: Redirected, operator: str, fd: int | None, source: str, frame: Frame) -> None:
        if fd is None:
            fd = 0 if operator == "<&" else 1
        known = where.named.get(int(source), frame.state.descriptors.get(int(source))) if source else None
        if not source:
            where.named.pop(fd, None)
        elif known is not None and int(source) != fd:
            where.named[fd] = known
            if fd == 0:
                where.stdin = known if isinstance(known, Data) else self.socket_data(known)

    def assign(self, assignments: list[syntax.Assignment], frame: Frame, *, keep: bool) -> dict[str, Data]:
        """Return the values of assignments by name; store them in the state if ``keep`` is set."""
        state = frame.state
        made: dict[str, Data] = {}
        for each in assignments:
            if each.items is not None:
                self._assign_items(each, frame)
                continue
            data = self.value(each.value, frame)
            if each.name in state.integers:
                number = self.number(data.text, frame)
                data = Data(UNKNOWN if number is None else str(number), data.labels)
            if each.index is not None:
                self._assign_element(each, data, frame)
                continue
            if each.append:
                old = state.value(each.name)
                data = Data(old.text + data.text, old.labels | data.labels)
            made[each.name] = data
            if keep:
                state.assign(each.name, data)
        return made

    def _assign_items(self, each: syntax.Assignment, frame: Frame) -> None:
        """Assign an array: ``name=(a [3]=b c)``."""
        state = frame.state
        words: list[syntax.Word] = []
        if not each.append:
            state.assign_array(each.name, [])
        for item in each.items or ():
            pair = _indexed(item)
            if pair is not None:
                state.assign_element(each.name, self._index(pair[0], frame), self.value(pair[1], frame))
            else:
                words.append(item)
        texts, labels = self.fields(words, frame) if words else ([], {})
        data = [Data(text, labels.get(at, NO_LABELS)) for at, text in enumerate(texts)]
        old = list(state.elements(each.name).items())
        first = next_index(dict(old))
        if len(old) + len(data) > _MAX_ELEMENTS:
            raise TooMuchError
        state.set_elements(each.name, dict([*old, *((str(at), content) for at, content in enumerate(data, first))]))

    def _index(self, index: syntax.Word, frame: Frame) -> str:
        text = self.value(index, frame).text
        found: str = _expansion().index_of(text, frame.state, self._substitute_in(frame))
        return found

    def _assign_element(self, each: syntax.Assignment, data: Data, frame: Frame) -> None:
        state = frame.state
        index = self._index(each.index or [], frame)
        if each.append:
            old = state.elements(each.name).get(index, NOTHING)
            data = Data(old.text + data.text, old.labels | data.labels)
        state.assign_element(each.name, index, data)
        if each.name == "BASH_ALIASES":
            state.aliases[self.value(each.index or [], frame).text] = data.text


def _indexed(item: syntax.Word) -> tuple[syntax.Word, syntax.Word] | None:
    """Return the index and the value of ``[index]=value``, None for any other word."""
    first = item[0] if item else ""
    if type(first) is not syntax.Bare or first.text[:1] != "[":
        return None
    index: syntax.Word = [syntax.Bare(first.text[1:]), *item[1:]]
    for at, part in enumerate(index):
        before, cut, after = part.text.partition("]=") if type(part) is syntax.Bare else ("", "", "")
        if cut:
            return [*index[:at], syntax.Bare(before)], [syntax.Bare(after), *index[at + 1 :]]
    return None


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
    match = _DESCRIPTOR.fullmatch(path)
    return int(match[1]) if match else {"/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2}.get(path)


def descriptor_data(path: str, frame: Frame) -> Data | None:
    """Return the content of the open descriptor that ``path`` names; None for a file."""
    number = descriptor_of(path)
    known = frame.state.descriptors.get(number) if number is not None else None
    if isinstance(known, str):
        return FROM_NETWORK if is_socket(known) else frame.state.file(known)
    if known is None and number == 0:
        return frame.stdin
    return known
