"""Expansion of words, assignments and redirections in the context of a walk."""

from __future__ import annotations

from functools import cache

from agent_hooks.shell import syntax
from agent_hooks_guards.model.actions import TooMuchError
from agent_hooks_guards.model.values import NO_LABELS, NOTHING, UNKNOWN, Data

from .file_access import FileAccess, descriptor_of
from .state import Frame, Redirected, next_index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from agent_hooks_guards.model.actions import Command

FIRST_DESCRIPTOR = 1000
_MAX_ELEMENTS = 4_096


@cache
def parser() -> Callable[[str], syntax.Node]:
    """Return the parser, which plain commands do not need."""
    from agent_hooks.shell.parser import parse

    return parse


@cache
def _expansion() -> ModuleType:
    """Return the module ``expansion``, which plain commands do not need."""
    from . import expansion

    return expansion


class WordValues(FileAccess):
    """The part of a walk that expands words, assigns variables and opens redirections."""

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
                data = Data(target.text + "\n", target.labels) if operator == "<<<" else target
                self._open_input(where, 0 if fd is None else fd, data)
            elif operator in ("<&", ">&") and (target.text.rstrip("-").isdigit() or target.text == "-"):
                self._duplicate(where, operator, fd, target.text.rstrip("-"), frame)
            elif operator in ("<", "<>", "<&"):
                self._open_input(where, 0 if fd is None else fd, self.read(target.text, frame, command))
                if operator == "<>" and fd:
                    path = self.path(target.text, frame)
                    where.named[fd] = path
                    if fd in (1, 2):
                        where.targets[fd] = path
                        where.appends.add(path)
            else:
                fds = [1, 2] if operator in ("&>", "&>>") or (operator == ">&" and fd is None) else [fd or 1]
                path = self.path(target.text, frame)
                number = descriptor_of(path) if path not in self.sinks else None
                if number is not None:
                    for fd in fds:
                        self._duplicate(where, ">&", fd, str(number), frame)
                    continue
                if operator in (">>", "&>>"):
                    where.appends.add(path)
                for fd in fds:
                    where.named[fd] = path
                    if path == "/dev/null":
                        where.targets.pop(fd, None)
                    else:
                        where.targets[fd] = path
        return where

    def _open_named(self, name: str, frame: Frame) -> int:
        """Assign a free descriptor to the variable of ``{name}<`` or ``{name}>`` and return it."""
        number = FIRST_DESCRIPTOR - 1 - len(frame.state.descriptors)
        frame.state.assign(name, Data(str(number)))
        return number

    def _open_input(self, where: Redirected, fd: int, data: Data) -> None:
        where.named[fd] = data
        if fd == 0:
            where.stdin = data

    def _duplicate(self, where: Redirected, operator: str, fd: int | None, source: str, frame: Frame) -> None:
        if fd is None:
            fd = 0 if operator == "<&" else 1
        if not source:
            where.targets.pop(fd, None)
            return
        number = int(source)
        if number == fd:
            return
        known = where.named.get(number, frame.state.descriptors.get(number, where.targets.get(number)))
        if known is None:
            return
        where.named[fd] = known
        if fd == 0:
            where.stdin = known if isinstance(known, Data) else self.socket_data(known)
        elif isinstance(known, str) and known != "/dev/null":
            where.targets[fd] = known

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
