"""Walks through the tree of a command without running anything, and notes what would run and what it would touch.

What a shell does is followed as far as the text tells: variables, functions, aliases, folders, pipes, files that one
part writes and another reads. Of branches all are walked, for it is not known which is taken; of loops, each round that
is known. Everything is bounded: what is more is a doubt, and doubts are for the rules.
"""

from __future__ import annotations

from agent_hooks.shell import syntax
from agent_hooks.shell.plain import parse_plain
from agent_hooks_guards.model.actions import Analysis, Command, Doubt, Effect, TooMuchError
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

from .conditions import holds, matched
from .expansion import arithmetic, expanded, fields, value
from .running import program
from .special_files import descriptor_of, is_socket, is_terminal, url_of_socket
from .state import Defined, State, either, followed, next_index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from agent_hooks_guards.places.paths import Place

_MAX_STEPS = 1_500
_FIRST_DESCRIPTOR = 1000
_MAX_ELEMENTS = 4_096
_MAX_DEPTH = 24
_MAX_TEXT = 262_144
_MAX_ROUNDS = 60
# What a loop prints may be a command, letter by letter.
_MAX_PRINTING_ROUNDS = 384
_ALWAYS = frozenset(("true", ":", "1", "[ 1 ]", "[ true ]", "[[ 1 ]]", "((1))", "(( 1 ))", "test 1"))
_DECLARING = frozenset(("export", "declare", "typeset", "local", "readonly"))
_MATCHES: syntax.Word = [syntax.Bare("=~")]
_COMPARED = frozenset(("-eq", "-ne", "-lt", "-le", "-gt", "-ge"))
# In a loop that never ends, what these do is wait.
_WAITING = frozenset(("sleep", "wait", "read", "break", "exit", "return", "inotifywait"))
# What these print, they print at once.
_PRINTING = frozenset(("echo", "printf", "cat", "dd", "head", "seq", "date", "base64"))


class Frame:
    """Where the walk is: the shell's state, the text being read, what stands around it."""

    __slots__ = ("background", "endless", "is_alone", "running", "state", "stdin", "text", "unknown", "via")

    def __init__(self, state: State, text: str) -> None:
        self.state = state
        self.text = text
        self.stdin: Data | None = None
        self.via: tuple[str, ...] = ()
        self.background = False
        self.endless = False
        # The functions and scripts that are running, for those that call themselves.
        self.running: tuple[str, ...] = ()
        self.is_alone = True
        # Where the parts of the text come from that are not known.
        self.unknown = NO_LABELS

    def copy(self, *, state: State | None = None) -> Frame:
        """Return a frame that changes apart from this one; its state only if one is given."""
        new = Frame.__new__(Frame)
        new.state = self.state if state is None else state
        new.text, new.stdin, new.via = self.text, self.stdin, self.via
        new.background, new.endless, new.running = self.background, self.endless, self.running
        new.is_alone, new.unknown = self.is_alone, self.unknown
        return new


class Redirected:
    """Where a command's input comes from and its outputs go: data, or the paths of files. 1 and 2 are absent where they
    are whatever they were.
    """

    __slots__ = ("appends", "named", "stdin", "targets")

    def __init__(self, stdin: Data | None) -> None:
        self.stdin = stdin
        self.targets: dict[int | str, str] = {}
        self.named: dict[int | str, Data | str] = {}
        self.appends: set[str] = set()


def _limits(*, wants: bool) -> tuple[int, int]:
    """So many rounds of a loop are walked, and so many steps until no further one is."""
    return (_MAX_PRINTING_ROUNDS, _MAX_STEPS // 2) if wants else (_MAX_ROUNDS, _MAX_STEPS // 4)


class Evaluation:
    """One walk. ``analysis`` is what it found."""

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

    # Nodes

    def code(self, text: str, frame: Frame, *, wants: bool) -> Data:
        """Read ``text`` and walk through it; return what it prints, if that is wanted."""
        self.reads(len(text))
        if "\0" in text:  # shells leave it out
            text = frame.text = text.replace("\0", "")
        node: syntax.Node | None = parse_plain(text)
        if node is None:
            from agent_hooks.shell.parser import parse

            node = parse(text)
        return self.run(node, frame, wants=wants)

    def reads(self, size: int) -> None:
        """Note that so many characters are read. Raises ``TooMuchError`` if they are too many in all."""
        self.size += size
        if self.size > _MAX_TEXT:
            raise TooMuchError

    def run(self, node: syntax.Node, frame: Frame, *, wants: bool) -> Data:
        """Walk through ``node``."""
        self.depth += 1
        if self.depth > _MAX_DEPTH * 8:
            raise TooMuchError
        try:
            return _NODES[type(node)](self, node, frame, wants)
        finally:
            self.depth -= 1

    def _sequence(self, node: syntax.Sequence, frame: Frame, wants: bool) -> Data:
        if len(node.items) == 1 and not node.items[0].background:
            data = self.run(node.items[0].node, frame, wants=wants)
            return data if wants else NOTHING
        printed: Data | None = None
        before: State | None = None
        for item in node.items:
            if item.operator == ";":
                if before is not None:
                    frame.state.merge(before)
                    self.branches -= 1
                    before = None
            elif before is None:
                before = frame.state.copy()
                self.branches += 1
            inside = frame
            if item.background:
                inside = frame.copy(state=frame.state.copy())
                inside.background = True
                inside.is_alone = False
            data = self.run(item.node, inside, wants=wants)
            if wants:
                printed = data if printed is None else Data(printed.text + data.text, printed.labels | data.labels)
        if before is not None:
            frame.state.merge(before)
            self.branches -= 1
        return printed or NOTHING

    def _pipeline(self, node: syntax.Pipeline, frame: Frame, wants: bool) -> Data:
        last = len(node.parts) - 1
        data = frame.stdin
        for at, part in enumerate(node.parts):
            # Some shells run the last part in themselves.
            inside = frame.copy(state=frame.state if at == last else frame.state.copy())
            inside.stdin = data
            inside.is_alone = frame.is_alone and last == 0
            if at < last:
                inside.state.output = ""
            data = self.run(part, inside, wants=wants or at < last)
        return data or NOTHING

    def _group(self, node: syntax.Group, frame: Frame, wants: bool) -> Data:
        inside = frame.copy(state=frame.state.copy() if node.subshell else None)
        if not node.redirects:
            return self.run(node.body, inside, wants=wants)
        command = self._nobody(frame, node)
        where = self.redirected(node.redirects, inside, command)
        inside.stdin = where.stdin
        output = inside.state.output
        if 1 in where.targets:
            inside.state.output = ""
        data = self.run(node.body, inside, wants=wants or bool(where.targets))
        inside.state.output = output
        return self.deliver(data, where, command, inside)

    def _if(self, node: syntax.If, frame: Frame, wants: bool) -> Data:
        results, states = [], []
        self.branches += 1
        for condition, body in node.branches:
            self.run(condition, frame, wants=False)
            inside = frame.copy(state=frame.state.copy())
            results.append(self.run(body, inside, wants=wants))
            states.append(inside.state)
        if node.otherwise is not None:
            results.append(self.run(node.otherwise, frame, wants=wants))
        self.branches -= 1
        for state in states:
            frame.state.merge(state)
        return _one_of(results)

    def _case(self, node: syntax.Case, frame: Frame, wants: bool) -> Data:
        self.value(node.word, frame)
        results, states = [], []
        self.branches += 1
        for patterns, body in node.branches:
            for pattern in patterns:
                self.value(pattern, frame)
            inside = frame.copy(state=frame.state.copy())
            results.append(self.run(body, inside, wants=wants))
            states.append(inside.state)
        self.branches -= 1
        for state in states:
            frame.state.merge(state)
        return _one_of(results)

    def _for(self, node: syntax.For, frame: Frame, wants: bool) -> Data:
        state = frame.state
        if node.words is None:
            values = list(state.positional) or [ANYTHING]
        else:
            texts, labels = self.fields(node.words, frame)
            values = [Data(text, labels.get(at, NO_LABELS)) for at, text in enumerate(texts)]
        printed = NOTHING
        self.branches += 1
        rounds, steps = _limits(wants=wants)
        for at, each in enumerate(values):
            is_last = at >= rounds or (at > 0 and self.steps > steps)
            if is_last:
                each = Data(UNKNOWN, NO_LABELS.union(*(other.labels for other in values[at:])))
            state.assign(node.name, each)
            data = self.run(node.body, frame, wants=wants)
            printed = Data(printed.text + data.text, printed.labels | data.labels)
            if is_last:
                break
        self.branches -= 1
        return printed

    def _while(self, node: syntax.While, frame: Frame, wants: bool) -> Data:
        inside = frame.copy()
        parts = self._parts(node.condition, frame)
        condition = frame.text[node.condition.start : node.condition.end].strip(" ;\n") if parts is None else parts[1]
        is_endless = condition.strip() in (("false",) if node.until else _ALWAYS) or not condition.strip()
        inside.endless = is_endless and not _waits(node.body)
        if parts is not None:
            self._number_in(parts[0], frame)
        printed = NOTHING
        self.branches += 1
        rounds, steps = _limits(wants=wants)
        for number in range(rounds):
            rest, known, words = inside.stdin, dict(frame.state.variables), frame.state.positional
            if parts is None:
                self.run(node.condition, inside, wants=False)
                status = self._holds(node.condition, inside)
                if number and rest is not None and not rest.text and _reads(node.condition):
                    break
            else:
                status = self._number_in(parts[1], frame)
            if number and status is node.until:
                break
            data = self.run(node.body, inside, wants=wants)
            if parts is not None:
                self._number_in(parts[2], frame)
            printed = Data(printed.text + data.text, printed.labels | data.labels)
            is_same = frame.state.variables == known and frame.state.positional == words
            is_on = status is (not node.until) and not is_same and self.steps < steps
            if is_on and number < rounds - 1:
                continue
            has_more = inside.stdin is not rest and inside.stdin is not None and inside.stdin.text
            if not has_more and is_same:
                break
            # What changes twice may change for ever.
            if (not has_more and number >= 2) or number == rounds - 1:
                printed = Data(printed.text + UNKNOWN, printed.labels)
                changed = [name for name, values in frame.state.variables.items() if known.get(name) != values]
                frame.state.variables.update(dict.fromkeys(changed, (ANYTHING,)))
                break
        self.branches -= 1
        if inside.endless and printed.text.strip(f"{UNKNOWN}\n"):
            return Data(printed.text, printed.labels | {ENDLESS})
        return printed

    def _parts(self, condition: syntax.Node, frame: Frame) -> list[str] | None:
        """The three expressions of ``for ((…;…;…))``."""
        if type(condition) is not syntax.Test or not frame.text.startswith("for", condition.start):
            return None
        parts = self.value(condition.words[0], frame).text.split(";")
        return parts if len(parts) == 3 else None

    def _number_in(self, text: str, frame: Frame) -> bool | None:
        """Whether an arithmetic expression is true; an empty one is."""
        number = self.number(text, frame) if text.strip() else 1
        return None if number is None else bool(number)

    def _holds(self, node: syntax.Node, frame: Frame) -> bool | None:
        """Whether a condition is met, None if that is not known; it was walked through before."""
        while type(node) is syntax.Sequence and len(node.items) == 1:
            node = node.items[0].node
        if type(node) is syntax.Test:
            if frame.text.startswith("((", node.start):
                return self._number_in(self.value(node.words[0], frame).text, frame)
            return holds([self.value(word, frame).text for word in node.words])
        if type(node) is syntax.Simple and not node.redirects and node.words:
            first = node.words[0][0]
            if type(first) is syntax.Bare and first.text in ("[", "test"):
                texts = self.fields(node.words, frame)[0]
                return holds(texts[1:-1] if first.text == "[" else texts[1:])
        return None

    def _function(self, node: syntax.Function, frame: Frame, _wants: bool) -> Data:
        frame.state.functions[node.name] = Defined(node.body, frame.text, frame.text[node.start : node.end])
        return NOTHING

    def _coprocess(self, node: syntax.Coprocess, frame: Frame, _wants: bool) -> Data:
        path, data = self._beside(node.body, frame.copy(state=frame.state.copy()))
        number = len(self.sinks) + _FIRST_DESCRIPTOR
        frame.state.descriptors.update({number: data, number + 1000: path})
        frame.state.assign_array(node.name or "COPROC", [Data(str(number)), Data(str(number + 1000))])
        return NOTHING

    def _beside(self, body: syntax.Node, inside: Frame) -> tuple[str, Data]:
        """Run what runs beside the rest; return the file that stands for it, and what it prints.

        Which way it goes is seen by its use: what reads the file gets what is printed, what writes to it feeds it.
        """
        path = f"/dev/fd/{_FIRST_DESCRIPTOR + len(self.sinks)}"
        self.sinks[path] = (body, inside)
        inside.stdin = None
        data = self.run(body, inside, wants=True)
        inside.state.files[path] = (data,)
        return path, data

    def _test(self, node: syntax.Test, frame: Frame, _wants: bool) -> Data:
        texts = [self.value(word, frame).text if word != _MATCHES else "=~" for word in node.words]
        if len(texts) == 1 and frame.text.startswith("((", node.start):
            self.number(texts[0], frame)
        for at, text in enumerate(texts):
            if text in _COMPARED:
                for operand in (*texts[at - 1 : at], *texts[at + 1 : at + 2]):
                    self.number(operand, frame)
            elif text == "=~":
                frame.state.assign_array("BASH_REMATCH", matched("".join(texts[at - 1 : at]), texts[at + 1 : at + 2]))
            elif text == "-v":
                self.expanded("".join(texts[at + 1 : at + 2]), frame)
        return NOTHING

    def _unreadable(self, node: syntax.Unreadable, frame: Frame, _wants: bool) -> Data:
        self.analysis.doubts.append(Doubt("unreadable", node.text[:200]))
        for each in node.readable:
            self.run(each, frame, wants=False)
        return ANYTHING

    def _simple(self, node: syntax.Simple, frame: Frame, wants: bool) -> Data:
        self.steps += 1
        if self.steps > _MAX_STEPS:
            raise TooMuchError
        state = frame.state
        if state.aliases and node.words and (alias := self._alias(node, frame)) is not None:
            return alias
        state.widest = 1
        data = self._chosen(node, frame, wants=wants)
        # Where a variable may be one thing or another, the command may do one thing or another.
        for choice in range(1, min(state.widest, 4)):
            state.choice = choice
            other = self._chosen(node, frame, wants=wants)
            data = _one_of([data, other])
        state.choice = 0
        return data

    def _alias(self, node: syntax.Simple, frame: Frame) -> Data | None:
        first = node.words[0]
        name = first[0].text if len(first) == 1 and type(first[0]) is syntax.Bare else ""
        text = frame.state.aliases.get(name)
        if text is None:
            return None
        inside = frame.copy(state=frame.state.copy())
        del inside.state.aliases[name]
        before, _, after = frame.text[node.start : node.end].partition(name)
        if text[-1:].isspace() and len(node.words) > 1:
            second = node.words[1][0]
            more = frame.state.aliases.get(second.text, "") if type(second) is syntax.Bare else ""
            after = after.replace(second.text, more, 1) if more else after  # type: ignore[union-attr]
        inside.text = before + text + after
        return self.code(inside.text, inside, wants=True)

    def _chosen(self, node: syntax.Simple, frame: Frame, *, wants: bool) -> Data:
        texts: list[str] = []
        labels: dict[int, frozenset[str]] = {}
        if node.plain is not None:
            texts += node.plain
            if frame.unknown:
                labels = {at: frame.unknown for at, text in enumerate(texts) if UNKNOWN in text}
        elif node.words:
            within = frame
            first = node.words[0][0] if len(node.words[0]) == 1 else None
            if (
                isinstance(first, syntax.Bare) and first.text in _DECLARING
            ):  # what their substitutions print, nobody sees
                within = frame.copy()
                within.via = (*frame.via, "export")
            texts, labels = self.fields(node.words, within)
        assignments: dict[str, Data] = {}
        if node.assignments:
            is_declaring = bool(texts) and texts[0] in _DECLARING
            if is_declaring and any(text[0] == "-" and "A" in text for text in texts if text):
                frame.state.associative |= {each.name for each in node.assignments}
            captured = frame.copy()
            captured.via = (*frame.via, "export")  # as above
            assignments = self._assign(node.assignments, captured, keep=not texts or is_declaring)
        output = frame.state.output
        if not node.redirects:
            if not texts:
                return NOTHING
            fragment = frame.text[node.start : node.end]
            is_wanted = wants or bool(output)
            printed = program(self, texts, labels, assignments, frame, frame.stdin, fragment, wants=is_wanted)
            frame.state.last_words = (texts, labels)
            return self._left(printed, output, frame, node) if output else printed
        command = self._nobody(frame, node)
        # A server that is started again and again writes as much as it has to say.
        command.endless = frame.endless and bool(texts) and texts[0] in _PRINTING
        where = self.redirected(node.redirects, frame, command)
        if not texts:
            # `> file` empties it, `$(< file)` prints it.
            return self.deliver(NOTHING if where.targets else where.stdin or NOTHING, where, command, frame)
        if texts == ["exec"]:
            open_already = {*frame.state.descriptors.values()}
            for path in {*where.targets.values()} - open_already:
                if path not in self.sinks and not is_socket(path):  # `exec 3> file` empties it
                    self.write(path, NOTHING, frame, command, append=path in where.appends)
            frame.state.descriptors.update(where.named)
            frame.state.output = where.targets.get(1, output)
            frame.stdin = where.stdin
            return NOTHING
        is_wanted = wants or bool(where.targets or output)
        outside = frame.state.descriptors
        frame.state.descriptors = {**outside, **where.named}
        frame.state.output = "" if 1 in where.targets else output
        try:
            data = program(self, texts, labels, assignments, frame, where.stdin, command.fragment, wants=is_wanted)
        finally:
            frame.state.descriptors, frame.state.output = outside, output
        frame.state.last_words = (texts, labels)
        left = self.deliver(data, where, command, frame)
        return self._left(left, output, frame, node) if output else left

    def _left(self, data: Data, output: str, frame: Frame, node: syntax.Simple) -> Data:
        """Print ``data`` to where ``exec`` let the output go."""
        if data.text:
            self.write(output, data, frame, self._nobody(frame, node), append=True)
        return NOTHING

    def _assign(self, assignments: list[syntax.Assignment], frame: Frame, *, keep: bool) -> dict[str, Data]:
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
        """``name=(a [3]=b c)``."""
        state = frame.state
        words: list[syntax.Word] = []
        if not each.append:
            state.assign_array(each.name, [])
        for item in each.items or ():
            pair = _indexed(item)
            if pair is not None:
                state.assign_element(each.name, self._index(each.name, pair[0], frame), self.value(pair[1], frame))
            else:
                words.append(item)
        texts, labels = self.fields(words, frame) if words else ([], {})
        data = [Data(text, labels.get(at, NO_LABELS)) for at, text in enumerate(texts)]
        if state.target(each.name) in state.associative:
            for key, content in zip(data[::2], data[1::2], strict=False):
                state.assign_element(each.name, key.text, content)
            return
        old = list(state.elements(each.name).items())
        first = next_index(dict(old))
        if len(old) + len(data) > _MAX_ELEMENTS:
            raise TooMuchError
        state.set_elements(each.name, dict([*old, *((str(at), content) for at, content in enumerate(data, first))]))

    def _index(self, name: str, index: syntax.Word, frame: Frame) -> str:
        text = self.value(index, frame).text
        if frame.state.target(name) in frame.state.associative or text.isdecimal():
            return text
        number = self.number(text, frame)
        return "" if number is None else str(number)

    def _assign_element(self, each: syntax.Assignment, data: Data, frame: Frame) -> None:
        state = frame.state
        index = self._index(each.name, each.index or [], frame)
        if each.append:
            old = state.elements(each.name).get(index, NOTHING)
            data = Data(old.text + data.text, old.labels | data.labels)
        state.assign_element(each.name, index, data)
        if each.name == "BASH_ALIASES":
            state.aliases[self.value(each.index or [], frame).text] = data.text

    # Words

    def fields(self, words: list[syntax.Word], frame: Frame) -> tuple[list[str], dict[int, frozenset[str]]]:
        """Return what the words become, and where they come from."""
        texts, labels = fields(words, frame.state, self._substitute_in(frame))
        if frame.unknown:
            for at, text in enumerate(texts):
                if UNKNOWN in text:
                    labels[at] = labels.get(at, NO_LABELS) | frame.unknown
        return texts, labels

    def value(self, word: syntax.Word, frame: Frame) -> Data:
        """Return what the word becomes where it is not split."""
        data = value(word, frame.state, self._substitute_in(frame))
        return Data(data.text, data.labels | frame.unknown) if frame.unknown and UNKNOWN in data.text else data

    def expanded(self, text: str, frame: Frame) -> Data:
        """Return what a text becomes that is no word of the command, but in which a shell expands what it finds."""
        return expanded(text, frame.state, self._substitute_in(frame))

    def number(self, text: str, frame: Frame) -> int | None:
        """Return what an arithmetic expression comes to, None if that is not known."""
        return arithmetic(text, frame.state, self._substitute_in(frame))

    def _substitute_in(self, frame: Frame) -> Callable[..., Data]:
        return lambda body, is_process, text=None: self._substitute(body, frame, is_process, text)

    def _substitute(self, body: syntax.Node, frame: Frame, is_process: bool, text: str | None) -> Data:
        inside = frame.copy(state=frame.state.copy())
        inside.state.output = ""
        if text is not None:
            inside.text = text
        if not is_process:
            data = self.run(body, inside, wants=True)
            return Data(data.text.replace("\0", "").rstrip("\n"), data.labels)
        return Data(self._beside(body, inside)[0])

    # Redirections

    def redirected(self, redirects: list[syntax.Redirect], frame: Frame, command: Command) -> Redirected:
        """Open what the redirections name, as effects of ``command``."""
        where = Redirected(frame.stdin)
        for each in redirects:
            operator = each.operator
            target = self.value(each.target, frame)
            fd = self._numbered(each.fd, frame) if isinstance(each.fd, str) else each.fd
            if operator in ("<<", "<<<"):
                data = Data(target.text + "\n", target.labels) if operator == "<<<" else target
                self._opened(where, 0 if fd is None else fd, data)
            elif operator in ("<&", ">&") and (target.text.rstrip("-").isdigit() or target.text == "-"):
                self._duplicated(where, operator, fd, target.text.rstrip("-"), frame)
            elif operator in ("<", "<>", "<&"):
                self._opened(where, 0 if fd is None else fd, self.read(target.text, frame, command))
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
                        self._duplicated(where, ">&", fd, str(number), frame)
                    continue
                if operator in (">>", "&>>"):
                    where.appends.add(path)
                for fd in fds if path != "/dev/null" else []:
                    where.targets[fd] = path
                    where.named[fd] = path
                if path == "/dev/null":
                    for fd in fds:
                        where.targets.pop(fd, None)
                        where.named[fd] = path
        return where

    def _numbered(self, name: str, frame: Frame) -> int:
        """The number that `{name}<` or `{name}>` opens a file as, and says in the variable."""
        number = _FIRST_DESCRIPTOR - 1 - len(frame.state.descriptors)
        frame.state.assign(name, Data(str(number)))
        return number

    def _opened(self, where: Redirected, fd: int, data: Data) -> None:
        where.named[fd] = data
        if fd == 0:
            where.stdin = data

    def _duplicated(self, where: Redirected, operator: str, fd: int | None, source: str, frame: Frame) -> None:
        if fd is None:
            fd = 0 if operator == "<&" else 1
        if not source:
            where.targets.pop(fd, None)
            return
        number = int(source)
        if number == fd:
            return
        known = where.named.get(number, frame.state.descriptors.get(number))
        if known is None and number in where.targets:
            known = where.targets[number]
        if known is None:
            return
        where.named[fd] = known
        if fd == 0:
            where.stdin = known if isinstance(known, Data) else self._socket(known)
        elif isinstance(known, str) and known != "/dev/null":
            where.targets[fd] = known

    def _socket(self, path: str) -> Data:
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
            return known if isinstance(known, Data) else self._socket(known)
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

    def _nobody(self, frame: Frame, node: Any) -> Command:
        """Who redirects where no program does."""
        state = frame.state
        return Command(
            "",
            [],
            cwd=state.cwd,
            via=frame.via,
            host=state.host,
            root=state.root,
            fragment=frame.text[node.start : node.end],
            background=frame.background,
            endless=frame.endless,
        )


def _indexed(item: syntax.Word) -> tuple[syntax.Word, syntax.Word] | None:
    """The index and the value of ``[index]=value``, None for another word."""
    first = item[0] if item else ""
    if type(first) is not syntax.Bare or first.text[:1] != "[":
        return None
    index: syntax.Word = []
    for at, part in enumerate(item):
        text = part.text if type(part) is syntax.Bare else ""
        cut = text.find("]=")
        if cut >= 0:
            index.append(syntax.Bare(text[:cut]))
            if at == 0:
                index = [syntax.Bare(text[1:cut])]
            rest: syntax.Word = [syntax.Bare(text[cut + 2 :])] if text[cut + 2 :] else []
            return index, [*rest, *item[at + 1 :]]
        index.append(syntax.Bare(text[1:]) if at == 0 else part)
    return None


def _one_of(results: list[Data]) -> Data:
    """What is printed if it is not known which of these is."""
    if not results:
        return NOTHING
    labels = NO_LABELS.union(*(each.labels for each in results))
    texts = {each.text for each in results}
    return Data(texts.pop() if len(texts) == 1 else UNKNOWN, labels)


def _reads(node: syntax.Node) -> bool:
    """Whether a condition is met as long as there is something to read."""
    while type(node) is syntax.Sequence and len(node.items) == 1:
        node = node.items[0].node
    return type(node) is syntax.Simple and node.words[:1] == [[syntax.Bare("read")]]


def _waits(body: syntax.Node) -> bool:
    """Whether a loop's body waits for something, or ends the loop."""
    waiting: list[Any] = [(body, False)]
    while waiting:
        node, is_background = waiting.pop()
        if isinstance(node, syntax.Sequence):
            waiting += [(item.node, item.background) for item in node.items]
        elif isinstance(node, syntax.Pipeline):
            waiting += [(part, is_background) for part in node.parts]
        elif isinstance(node, syntax.Group):
            waiting.append((node.body, is_background))
        elif isinstance(node, syntax.If):
            waiting += [(branch, is_background) for _, branch in node.branches]
        elif isinstance(node, syntax.Simple) and node.words and not is_background:
            first = node.words[0]
            if len(first) == 1 and type(first[0]) is syntax.Bare and first[0].text in _WAITING:
                return True
    return False


_NODES: dict[type, Callable[[Evaluation, Any, Frame, bool], Data]] = {
    syntax.Simple: Evaluation._simple,
    syntax.Sequence: Evaluation._sequence,
    syntax.Pipeline: Evaluation._pipeline,
    syntax.Group: Evaluation._group,
    syntax.If: Evaluation._if,
    syntax.Case: Evaluation._case,
    syntax.For: Evaluation._for,
    syntax.While: Evaluation._while,
    syntax.Function: Evaluation._function,
    syntax.Coprocess: Evaluation._coprocess,
    syntax.Test: Evaluation._test,
    syntax.Unreadable: Evaluation._unreadable,
}
