"""Values of a script's expressions, as far as literals decide them."""

from __future__ import annotations

from itertools import islice, product

from agent_hooks_guards.model.values import ENVIRONMENT, NETWORK, NO_LABELS, UNKNOWN, Data
from agent_hooks_guards.places.credentials import variable_labels

from . import FILE, STDIN
from .literals import Value, joined, labels_of, replaced, transform
from .script_source import VALUES, Binding, Call, Context, Slice, Source
from .script_tokens import GROUP

_MOST_VALUES = 8
_DEEPEST = 40
_MOST_STEPS = 50_000
# These stand in front of an operand, or of a list that is spread.
_PREFIXES = frozenset("new await my our local const let var return scalar async void state \\ & * ** ... @ $ %".split())
_CHOICES = frozenset(("||", "&&", "??", "//", "?:", "or", "and"))
_BRANCHES = frozenset("if unless while until for foreach each times loop case else ? => {".split())
# Kinds of calls whose results have labels.
_LABELLED = frozenset(("read", "get", "post", "socket", "stdin", "variable", "walk"))


class Environment(Data):
    """All variables of the environment."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(UNKNOWN, frozenset((ENVIRONMENT,)))


class Script(Source):
    """A script with the values of its expressions: several where a variable is assigned in several places."""

    def __init__(self, text: str, language: str, context: Context) -> None:
        super().__init__(text, language, context)
        self.steps = _MOST_STEPS
        self.depth = 0
        self.open: set[object] = set()  # variables whose values are being looked up
        self.separator = "," if language == "node" else " "

    def evaluate(self, start: int, stop: int) -> list[Value]:
        """Return the values that an expression may have."""
        self.steps -= 1
        if self.depth > _DEEPEST or self.steps <= 0:
            return [Data(UNKNOWN)]
        self.depth += 1
        try:
            return self._expression(start, stop)
        finally:
            self.depth -= 1

    def _expression(self, start: int, stop: int) -> list[Value]:
        values, at = self._operand(start, stop)
        while at < stop:
            operator = self.text(at)
            if operator in self.table.concat or (self.kind(at) == "string" and self.language == "ruby"):
                others, at = self._operand(at + (operator in self.table.concat), stop)
                values = [Data(a.text + b.text, a.labels | b.labels) for a, b in self.pairs(values, others)]
            elif operator == "?":
                middle = next((at for _, at in self.split(at + 1, stop, (":",))), stop)
                return self.limit(self.evaluate(at + 1, middle) + self.evaluate(middle + 1, stop))
            elif operator in _CHOICES:
                return self.limit(values + self.evaluate(at + 1, stop))
            else:
                return [self.unknown(start, stop)]
        return values

    def limit(self, values: list[Value]) -> list[Value]:
        """Return one unknown value in place of very many."""
        if len(values) <= _MOST_VALUES:
            return values
        return [Data(UNKNOWN, labels_of(map(self.text_of, values)))]

    def pairs(self, first: list[Value], second: list[Value]) -> list[tuple[Data, Data]]:
        """All pairs of two operands."""
        found = [(self.text_of(a), self.text_of(b)) for a, b in product(first, second)]
        return found[:1] if len(found) > _MOST_VALUES else found

    def texts(self, part: Slice) -> list[Data]:
        """The values of an argument as texts."""
        return [self.text_of(value) for value in self.evaluate(*part)]

    def items(self, parts: list[Slice]) -> list[list[Data]]:
        """The lists that some elements or arguments make; lists among them are spread."""
        choices = [self.evaluate(*(self.split(*part, ("=>",)) or [part])[-1]) for part in parts[:200]]
        return [
            [item for value in combination for item in (value if isinstance(value, list) else [value])]
            for combination in islice(product(*choices), _MOST_VALUES)
        ]

    def text_of(self, value: Value) -> Data:
        """``value`` as the language turns it into a text."""
        return joined(value, self.separator)

    def literal(self, text: str) -> Data:
        """A text of the code; a hole in it comes from where the code comes from."""
        return Data(text, self.own if UNKNOWN in text else NO_LABELS)

    def unknown(self, start: int, stop: int) -> Data:
        """An expression of which only the labels are known."""
        return Data(UNKNOWN, self.labels(start, stop))

    def _operand(self, at: int, stop: int) -> tuple[list[Value], int]:
        first = at
        while at < stop and self.text(at) in _PREFIXES:
            at += 1
        if at >= stop:
            return [Data(UNKNOWN)], stop
        token = self.tokens[at]
        values: list[Value]
        if token.kind in ("string", "number"):
            values, at = [self.literal(token.text)], at + 1
        elif token.text in ("(", "[", GROUP) or (
            token.text == "{" and (self.language == "lua" or self.text(at - 1) in ("@", "$"))
        ):
            parts = self.split(at + 1, token.close, (",", "=>") if self.language == "perl" else (",",))
            is_list = token.text in ("[", "{") or (len(parts) != 1 and self.language in ("perl", "lua"))
            values = list(self.items(parts)) if is_list else self.evaluate(*parts[-1]) if parts else [Data()]
            at = token.close + 1
        elif token.kind in ("name", "variable"):
            values, at = self._reference(at, stop)
        else:
            return [self.unknown(first, stop)], stop
        if self.text(at) == "=>" and self.language == "node":
            return [Data(UNKNOWN)], stop
        return self._postfix(values, first, at, stop)

    def _postfix(self, values: list[Value], first: int, at: int, stop: int) -> tuple[list[Value], int]:
        while at < stop:
            text = self.text(at)
            if text in self.table.members and self.text(at + 1) in ("[", "{", "("):
                at += 1
            elif text in self.table.members:
                call = self.calls.get(at + 1)
                values = (
                    self.result(call, values)
                    if call is not None
                    else self._member(values, self.text(at + 1), first, at)
                )
                at = call.stop if call is not None else at + 2
            elif text == "[" or (text == "{" and self.language == "perl" and not self.tokens[at].spaced):
                values = self._index(values, at)
                at = self.tokens[at].close + 1
            elif text == "(":
                values, at = [self.unknown(first, at)], self.tokens[at].close + 1
            elif text == "{" and self.language == "ruby":  # a block
                at = self.tokens[at].close + 1
            else:
                break
        return values, at

    def _member(self, values: list[Value], name: str, first: int, at: int) -> list[Value]:
        if name == "env" and self.language == "node":
            return [Environment()]
        if any(isinstance(value, Environment) for value in values):
            return self.variable(name) if name.upper() == name or name in self.context.variables else values
        kind = self.kind_of(Call(name, "", at, at + 1, at + 2, []))
        if self.language == "ruby" and (kind in VALUES or kind == "read"):
            return [transform(kind, value, []) for value in values]
        return [self.unknown(first, at)]

    def _index(self, values: list[Value], at: int) -> list[Value]:
        key = self.evaluate(at + 1, self.tokens[at].close)[0]
        name = self.text_of(key).text or self.text(at + 1)
        if self.text(at) == "{" and self.kind(at + 1) == "name":
            name = self.text(at + 1)
        found: list[Value] = []
        for value in values:
            if isinstance(value, Environment):
                found += self.variable(name)
            elif isinstance(value, list) and name.isdecimal():
                place = int(name) - (self.language == "lua")
                found.append(value[place] if 0 <= place < len(value) else Data(UNKNOWN))
            else:
                found.append(Data(UNKNOWN, self.text_of(value).labels))
        return found

    def variable(self, name: str) -> list[Value]:
        """The value of a variable of the environment."""
        default = Data("~") if name == "HOME" else Data(UNKNOWN, variable_labels(name))
        return [self.context.variables.get(name, default)]

    def _reference(self, at: int, stop: int) -> tuple[list[Value], int]:
        """The value of a name or variable, and where it ends."""
        dotted, end = self._dotted(at, stop)
        if dotted in self.table.environment:
            return [Environment()], end
        if dotted in self.table.arguments:
            return self._arguments(), end
        name = self.text(at)
        call = self.calls.get(at)
        if call is not None and call.stop <= stop and (call.arguments or name not in self.bindings):
            return self.result(call, []), call.stop
        if name == "__FILE__":
            return [Data(self.context.arguments[0] if self.context.arguments else UNKNOWN)], at + 1
        if self.language == "perl" and name[:1] == "$":
            other = {"[": "@", "{": "%"}.get(self.text(at + 1), "$")
            name = other + name[1:] if other + name[1:] in self.bindings else name
        return self.lookup(name, at), at + 1

    def _dotted(self, at: int, stop: int) -> tuple[str, int]:
        """The longest chain of names that starts at ``at`` and has a meaning of its own."""
        known = self.table.environment | self.table.arguments
        text = self.text(at)
        name = text.lower() if self.language == "php" else text
        best, end = name, at + 1
        while (
            end + 1 < stop
            and self.text(end) in self.table.members
            and self.kind(end + 1) == "name"
            and name.count(".") < 2
        ):
            name, end = f"{name}.{self.text(end + 1)}", end + 2
            if name in known:
                return name, end
        return best, at + 1

    def _arguments(self) -> list[Value]:
        arguments = self.context.arguments
        if not arguments:
            return [Data(UNKNOWN)]
        labelled = [self.literal(text) for text in arguments]
        if self.language == "node":
            return [[Data("node"), *labelled[arguments[0] == "-e" :]]]
        return [labelled if self.language in ("php", "lua") else labelled[1:]]

    def lookup(self, name: str, at: int) -> list[Value]:
        """The values that a variable may have at ``at``."""
        if name == "$argn":  # PHP's line of the input
            return [self.stdin()]
        bindings = self.bindings.get(name, ())
        if not bindings or name in self.open:
            return [Data(UNKNOWN)]
        self.open.add(name)
        try:
            if any(each.operator in ("+", "change") for each in bindings):
                return self._folded(bindings, at)
            values: list[Value] = []
            for each in bindings[: _MOST_VALUES + 1]:
                values += self._bound(each)
            return self.limit([value for at, value in enumerate(values) if value not in values[:at]])
        finally:
            self.open.discard(name)

    def _bound(self, binding: Binding) -> list[Value]:
        values = self.evaluate(binding.start, binding.stop)
        if binding.operator[0] == ".":
            return self._member(values, binding.operator[1:], binding.start, binding.stop)
        if binding.operator != "item":
            return values
        return [item for value in values for item in (value if isinstance(value, list) else [value])]

    def _folded(self, bindings: list[Binding], at: int) -> list[Value]:
        """The value of a variable that is changed after its first assignment, if it is changed in a straight line."""
        ordered = [each for each in sorted(bindings, key=lambda each: each.at) if each.at < at] or bindings
        first, *others = ordered
        values = self._bound(first)
        for each in others:
            between = self.tokens[first.at : each.at]
            if any(token.kind in ("operator", "name") and token.text in _BRANCHES for token in between):
                return [Data(UNKNOWN, self.text_of(values[0]).labels | self.labels(each.start, each.stop))]
            if each.operator == "=":
                values = self._bound(each)
            elif each.operator == "change":
                values = [self._change(value, each) for value in values]
            else:
                others_ = self.evaluate(each.start, each.stop)
                values = [Data(a.text + b.text, a.labels | b.labels) for a, b in self.pairs(values, others_)]
        return values

    def _change(self, value: Value, binding: Binding) -> Data:
        """Apply ``s///``, ``tr///`` or a method such as ``gsub!``."""
        data = self.text_of(value)
        token = self.tokens[binding.start]
        if token.kind == "replace":
            return replaced(data, token.text, *token.parts)
        call = self.calls.get(binding.start)
        return self.text_of(self.result(call, [data])[0]) if call is not None else Data(UNKNOWN, data.labels)

    def result(self, call: Call, receiver: list[Value]) -> list[Value]:
        """The values that a call returns."""
        kind = self.kind_of(call)
        if any(isinstance(value, Environment) for value in receiver):
            return self.variable(self.texts(call.arguments[0])[0].text) if call.name in ("get", "fetch") else receiver
        if kind in ("read", "walk"):
            return self._file(kind, call)
        if kind in ("get", "post", "socket"):
            return [Data(UNKNOWN, frozenset((NETWORK,)))]
        if kind == "stdin":
            return [self.stdin()]
        if kind == "argument":
            given = joined(self._arguments()[0], "\0").text.split("\0")
            return [Data(given[0] if self.context.arguments[1:] else UNKNOWN)]
        if kind == "home":
            return [Data("~")]
        if kind == "variable" and call.arguments:
            return [each for data in self.texts(call.arguments[0]) for each in self.variable(data.text)]
        if kind in VALUES:
            return self._computed(kind, call, receiver)
        labels = self.labels(call.start, call.stop).union(*(self.text_of(value).labels for value in receiver))
        return [Data(UNKNOWN, labels)]

    def stdin(self) -> Data:
        """The input of the script."""
        return Data(UNKNOWN if self.context.stdin is None else self.context.stdin, frozenset((STDIN,)))

    def _file(self, kind: str, call: Call) -> list[Value]:
        found: list[Value] = []
        for part in call.arguments if kind == "walk" else call.arguments[:1]:
            for data in self.texts(part):
                if kind == "walk":
                    if data.text != UNKNOWN:
                        found.append(Data(f"{data.text.rstrip('/')}/{UNKNOWN}", data.labels))
                elif data.text in ("0", "/dev/stdin", "php://stdin"):
                    found.append(self.stdin())
                else:
                    label = NETWORK if "://" in data.text else FILE + data.text
                    found.append(Data(UNKNOWN, data.labels | {label}))
        return found or [Data(UNKNOWN)]

    def _computed(self, kind: str, call: Call, receiver: list[Value]) -> list[Value]:
        """The result of a function of literals; the first operand of a method is its receiver."""
        if kind == "path":
            made = self.items(call.arguments)
            return [Data("/".join(item.text.rstrip("/") for item in items), labels_of(items)) for items in made]
        is_module = call.owner[:1].isupper() or call.owner in ("string", "table", "utf8", "path")
        is_method = bool(receiver) and (not is_module or call.owner in self.bindings)
        operands = [*([receiver] if is_method else []), *(self.evaluate(*part) for part in call.arguments)]
        if not operands:
            return receiver or [Data(UNKNOWN)]
        if kind == "join" and self.language == "perl":
            return [joined(made[1:], made[0].text) for made in self.items(call.arguments) if made]
        if self.language == "php" and kind == "join":
            operands = operands[1:] + operands[:1]
        settings = [self.text_of(other[0]) for other in operands[1:]]
        if kind == "join" and not settings:
            settings = [Data("," if self.language == "node" else "")]
        return [transform(kind, value, settings) for value in operands[0]]

    def labels(self, start: int, stop: int) -> frozenset[str]:
        """Where the parts of an expression come from."""
        found = NO_LABELS
        key = (start, stop)
        if key in self.open or self.steps <= 0:
            return found
        self.open.add(key)
        at = start
        while at < stop:
            self.steps -= 1
            kind = self.kind(at)
            if kind in ("name", "variable"):
                found |= self._labels_at(at, stop)
            elif kind == "string" and UNKNOWN in self.tokens[at].text:
                found |= self.own
            at += 1
        self.open.discard(key)
        return found

    def _labels_at(self, at: int, stop: int) -> frozenset[str]:
        dotted, end = self._dotted(at, stop)
        if dotted in self.table.environment or dotted in self.table.arguments:
            given: list[Value] = [Environment()] if dotted in self.table.environment else self._arguments()
            values, _ = self._postfix(given, at, end, stop)
            return labels_of(map(self.text_of, values))
        call = self.calls.get(at)
        if call is not None:
            kind = self.kind_of(call)
            if kind in _LABELLED:
                return labels_of(map(self.text_of, self.result(call, [])))
            return NO_LABELS
        name = self.text(at)
        if name in self.open or name not in self.bindings:
            return NO_LABELS
        return labels_of(map(self.text_of, self.lookup(name, at)))
