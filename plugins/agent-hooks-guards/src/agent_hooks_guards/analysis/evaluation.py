"""Walk the syntax tree of a command without running it, and record the programs it would run and their effects.

The walk follows the state of a shell as far as the text determines it: variables, functions, aliases, folders, pipes,
and files that one part writes and another reads. It takes all branches, and each known iteration of a loop. All work is
bounded; beyond a bound, a doubt is recorded.
"""

from __future__ import annotations

from agent_hooks.shell import syntax
from agent_hooks.shell.plain import parse_plain
from agent_hooks_guards.model.actions import Command, Doubt, TooMuchError
from agent_hooks_guards.model.values import ANYTHING, ENDLESS, NO_LABELS, NOTHING, UNKNOWN, Data

from .running import program
from .word_values import FIRST_DESCRIPTOR, WordValues, is_socket

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .state import Frame, State


_MAX_STEPS = 1_500
_MAX_DEPTH = 24
_MAX_ROUNDS = 60
_MAX_LOOPING_STEPS = 375  # after these, no further round of a loop starts
_ALWAYS = frozenset(("true", ":", "1", "[ 1 ]", "[ true ]", "[[ 1 ]]", "((1))", "(( 1 ))", "test 1"))
_DECLARING = frozenset(("export", "declare", "typeset", "local", "readonly"))
_MATCHES: syntax.Word = [syntax.Bare("=~")]
_COMPARED = frozenset(("-eq", "-ne", "-lt", "-le", "-gt", "-ge"))
# These print their output and end.
_PRINTING = frozenset(("echo", "printf", "cat", "dd", "head", "seq", "date", "base64"))
# Nothing but what they are given is in their output.
_PLAIN = frozenset((":", "true", "false", "echo", "printf", "cat"))


class Evaluation(WordValues):
    """One walk. ``analysis``: its result."""

    def code(self, text: str, frame: Frame, *, wants: bool) -> Data:
        """Parse ``text`` and walk it; if ``wants`` is set, return its stdout."""
        self.reads(len(text))
        if "\0" in text:  # shells drop it
            text = frame.text = text.replace("\0", "")
        node: syntax.Node | None = parse_plain(text)
        if node is None:
            from agent_hooks.shell.parser import parse

            node = parse(text)
        return self.run(node, frame, wants=wants)

    def run(self, node: syntax.Node, frame: Frame, *, wants: bool) -> Data:
        """Walk ``node``."""
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
            # Some shells run the last part in the shell itself.
            inside = frame.copy(state=frame.state if at == last else frame.state.copy())
            inside.stdin = data
            inside.is_alone = frame.is_alone and last == 0
            data = self.run(part, inside, wants=wants or at < last)
        return data or NOTHING

    def _group(self, node: syntax.Group, frame: Frame, wants: bool) -> Data:
        inside = frame.copy(state=frame.state.copy() if node.subshell else None)
        if not node.redirects:
            return self.run(node.body, inside, wants=wants)
        command = _redirecting(frame, node)
        where = self.redirected(node.redirects, inside, command)
        inside.stdin = where.stdin
        data = self.run(node.body, inside, wants=wants or bool(where.targets))
        return self.deliver(data, where, command, inside)

    def _if(self, node: syntax.If | syntax.Case, frame: Frame, wants: bool) -> Data:
        """Walk all branches of ``if`` or ``case``, each after its condition or patterns."""
        results, states = [], []
        if isinstance(node, syntax.Case):
            self.value(node.word, frame)
        self.branches += 1
        for condition, body in node.branches:
            if isinstance(condition, list):
                for pattern in condition:
                    self.value(pattern, frame)
            else:
                self.run(condition, frame, wants=False)
            inside = frame.copy(state=frame.state.copy())
            results.append(self.run(body, inside, wants=wants))
            states.append(inside.state)
        if isinstance(node, syntax.If) and node.otherwise is not None:
            results.append(self.run(node.otherwise, frame, wants=wants))
        self.branches -= 1
        for state in states:
            frame.state.merge(state)
        return _any_of(results)

    _case = _if

    def _for(self, node: syntax.For, frame: Frame, wants: bool) -> Data:
        state = frame.state
        if node.words is None:
            values = list(state.positional) or [ANYTHING]
        else:
            texts, labels = self.fields(node.words, frame)
            values = [Data(text, labels.get(at, NO_LABELS)) for at, text in enumerate(texts)]
        printed = NOTHING
        self.branches += 1
        for at, each in enumerate(values):
            is_last = at >= _MAX_ROUNDS or (at > 0 and self.steps > _MAX_LOOPING_STEPS)
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
        from .conditions import waits

        inside = frame.copy()
        parts = self._for_expressions(node.condition, frame)
        condition = frame.text[node.condition.start : node.condition.end].strip(" ;\n") if parts is None else parts[1]
        is_endless = condition.strip() in (("false",) if node.until else _ALWAYS) or not condition.strip()
        inside.endless = is_endless and not waits(frame.text[node.body.start : node.end])
        if parts is not None:
            self._number_in(parts[0], frame)
        printed = NOTHING
        self.branches += 1
        for number in range(_MAX_ROUNDS):
            rest, known, words = inside.stdin, dict(frame.state.variables), frame.state.positional
            if parts is None:
                self.run(node.condition, inside, wants=False)
                status = self._is_true(node.condition, inside)
            else:
                status = self._number_in(parts[1], frame)
            if number and status is node.until:
                break
            data = self.run(node.body, inside, wants=wants)
            if parts is not None:
                self._number_in(parts[2], frame)
            printed = Data(printed.text + data.text, printed.labels | data.labels)
            is_same = frame.state.variables == known and frame.state.positional == words
            is_on = status is (not node.until) and not is_same and self.steps < _MAX_LOOPING_STEPS
            if is_on and number < _MAX_ROUNDS - 1:
                continue
            has_more = inside.stdin is not rest and inside.stdin is not None and inside.stdin.text
            if not has_more and is_same:
                break
            # A variable that changes twice may change in every round.
            if (not has_more and number >= 2) or number == _MAX_ROUNDS - 1:
                printed = Data(printed.text + UNKNOWN, printed.labels)
                changed = [name for name, values in frame.state.variables.items() if known.get(name) != values]
                frame.state.variables.update(dict.fromkeys(changed, (ANYTHING,)))
                break
        self.branches -= 1
        if inside.endless and printed.text.strip(f"{UNKNOWN}\n"):
            return Data(printed.text, printed.labels | {ENDLESS})
        return printed

    def _for_expressions(self, condition: syntax.Node, frame: Frame) -> list[str] | None:
        """Return the three expressions of ``for ((…;…;…))``."""
        if type(condition) is not syntax.Test or not frame.text.startswith("for", condition.start):
            return None
        parts = self.value(condition.words[0], frame).text.split(";")
        return parts if len(parts) == 3 else None

    def _number_in(self, text: str, frame: Frame) -> bool | None:
        """Whether an arithmetic expression is true; an empty one is true."""
        number = self.number(text, frame) if text.strip() else 1
        return None if number is None else bool(number)

    def _is_true(self, node: syntax.Node, frame: Frame) -> bool | None:
        """Whether a condition that was walked before is met: ``((…))``; None if unknown."""
        while type(node) is syntax.Sequence and len(node.items) == 1:
            node = node.items[0].node
        if type(node) is syntax.Test and frame.text.startswith("((", node.start):
            return self._number_in(self.value(node.words[0], frame).text, frame)
        return None

    def _function(self, node: syntax.Function, frame: Frame, _wants: bool) -> Data:
        frame.state.functions[node.name] = (node.body, frame.text, frame.text[node.start : node.end])
        return NOTHING

    def _coprocess(self, node: syntax.Coprocess, frame: Frame, _wants: bool) -> Data:
        path, data = self.beside(node.body, frame.copy(state=frame.state.copy()))
        number = len(self.sinks) + FIRST_DESCRIPTOR
        frame.state.descriptors.update({number: data, number + 1000: path})
        frame.state.assign_array(node.name or "COPROC", [Data(str(number)), Data(str(number + 1000))])
        return NOTHING

    def _test(self, node: syntax.Test, frame: Frame, _wants: bool) -> Data:
        texts = [self.value(word, frame).text if word != _MATCHES else "=~" for word in node.words]
        if len(texts) == 1 and frame.text.startswith("((", node.start):
            self.number(texts[0], frame)
        for at, text in enumerate(texts):
            if text in _COMPARED:
                for operand in (*texts[at - 1 : at], *texts[at + 1 : at + 2]):
                    self.number(operand, frame)
            elif text == "=~":
                from .conditions import matched

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
        data = self._run_simple(node, frame, wants=wants)
        # Each possible value of a variable may be another command.
        for choice in range(1, min(state.widest, 4)):
            state.choice = choice
            other = self._run_simple(node, frame, wants=wants)
            data = _any_of([data, other])
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

    def _run_simple(self, node: syntax.Simple, frame: Frame, *, wants: bool) -> Data:
        """Run a simple command with one choice among the possible values of its variables."""
        texts: list[str] = []
        labels: dict[int, frozenset[str]] = {}
        if node.plain is not None:
            texts += node.plain
            if frame.unknown:
                labels = {at: frame.unknown for at, text in enumerate(texts) if UNKNOWN in text}
        elif node.words:
            first = node.words[0][0] if len(node.words[0]) == 1 else None
            is_declaring = type(first) is syntax.Bare and first.text in _DECLARING
            texts, labels = self.fields(node.words, _capturing(frame) if is_declaring else frame)
        assignments: dict[str, Data] = {}
        if node.assignments:
            is_declaring = bool(texts) and texts[0] in _DECLARING
            assignments = self.assign(node.assignments, _capturing(frame), keep=not texts or is_declaring)
        if not node.redirects:
            if not texts:
                return NOTHING
            fragment = frame.text[node.start : node.end]
            command = frame.command(texts, fragment, labels, assignments, frame.stdin)
            printed = program(self, command, frame, wants=wants)
            frame.state.last_words = (texts, labels)
            return printed
        command = _redirecting(frame, node)
        # Only programs that end at once fill a file endlessly: a restarted server writes little.
        command.endless = frame.endless and bool(texts) and texts[0] in _PRINTING
        where = self.redirected(node.redirects, frame, command)
        if not texts:
            # `> file` empties it, `$(< file)` prints it.
            content = NOTHING if where.targets else where.stdin or NOTHING
            return self.deliver(content, where, command, frame, is_all=True)
        if texts == ["exec"]:
            open_already = {*frame.state.descriptors.values()}
            for path in {*where.targets.values()} - open_already:
                # `exec 3> file` empties it; the output of all later commands goes to that of `exec > file`.
                later = ANYTHING if path == where.targets.get(1) else NOTHING
                if later is ANYTHING or not (path in self.sinks or is_socket(path)):
                    self.write(path, later, frame, command, append=path in where.appends)
            frame.state.descriptors.update(where.named)
            frame.stdin = where.stdin
            return NOTHING
        is_wanted = wants or bool(where.targets)
        outside = frame.state.descriptors
        frame.state.descriptors = {**outside, **where.named}
        try:
            started = frame.command(texts, command.fragment, labels, assignments, where.stdin)
            data = program(self, started, frame, wants=is_wanted)
        finally:
            frame.state.descriptors = outside
        frame.state.last_words = (texts, labels)
        return self.deliver(data, where, command, frame, is_all=texts[0] in _PLAIN)


def _redirecting(frame: Frame, node: syntax.Simple | syntax.Group) -> Command:
    """Return the command without a program that stands for the redirections of ``node``."""
    return frame.command([], frame.text[node.start : node.end])


def _capturing(frame: Frame) -> Frame:
    """Return the frame of substitutions whose output becomes a variable and is not shown."""
    inside = frame.copy()
    inside.via = (*frame.via, "export")
    return inside


def _any_of(results: list[Data]) -> Data:
    """Return the output of one of several branches, unknown if they differ."""
    if not results:
        return NOTHING
    labels = NO_LABELS.union(*(each.labels for each in results))
    texts = {each.text for each in results}
    return Data(texts.pop() if len(texts) == 1 else UNKNOWN, labels)


_KINDS = (
    *(syntax.Simple, syntax.Sequence, syntax.Pipeline, syntax.Group, syntax.If, syntax.Case, syntax.For, syntax.While),
    *(syntax.Function, syntax.Coprocess, syntax.Test, syntax.Unreadable),
)
_NODES: dict[type, Callable[[Evaluation, Any, Frame, bool], Data]] = {
    kind: getattr(Evaluation, f"_{kind.__name__.lower()}") for kind in _KINDS
}
