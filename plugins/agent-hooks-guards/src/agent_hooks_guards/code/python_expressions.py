"""A visitor of the expressions of Python code: their values, and the functions that they call."""

from __future__ import annotations

import ast
import re
import sys
import warnings
from itertools import islice, product
from textwrap import dedent

from agent_hooks_guards.model.values import NO_LABELS, UNKNOWN, Data

from .python_calls import AnyCall, attribute, item_of_name
from .python_findings import MOST_STEPS_OF_A_LOOP, Findings, TooMuchError
from .python_names import Scope
from .python_values import (
    Value,
    binary,
    call_constant,
    formatted,
    is_text,
    items_of,
    labels_of,
    native,
    subscript,
    text_of,
    truth,
    wrap,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# The name in the place of a part of the code that is not known.
PLACEHOLDER = "unknown_text_"
MOST_CHOICES = 6
_DEEPEST = 8


def parse(text: str) -> ast.Module | None:
    """Return the tree of a code; None if it cannot be parsed."""
    named = re.sub(rf"\w*{UNKNOWN}[\w{UNKNOWN}]*", PLACEHOLDER, text) if UNKNOWN in text else text
    for each in dict.fromkeys((text, named, dedent(named.replace("\r\n", "\n")).lstrip().replace("\x00", ""))):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return ast.parse(each)
        except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError):
            continue
    return None


class Expressions(Findings):
    """Evaluates expressions."""

    def block(self, statements: list[ast.stmt]) -> str:
        """Run statements; return how they end: ``""``, ``break``, ``continue`` or ``return``."""
        raise NotImplementedError

    def run_text(self, value: Value) -> Value:
        """Run text as code; return the value of its last expression."""
        text, labels = text_of(value), labels_of(value)
        if not text.replace(UNKNOWN, "").strip() or not is_text(value):
            if labels and self.is_new(("code", labels)):
                self.found.codes.append(("python", Data(UNKNOWN, labels)))
            elif not labels and text == UNKNOWN:
                self.doubt("a text that is not known is run as Python code")
            return Value(UNKNOWN, labels)
        tree = parse(text)
        if tree is None or not tree.body:
            return Value()
        if len(self.running) > _DEEPEST:
            raise TooMuchError
        self.has_choices |= "else" in text
        self.running.append(tree)
        *before, last = tree.body
        self.block(before if isinstance(last, ast.Expr) else tree.body)
        result = self.value(last.value) if isinstance(last, ast.Expr) else Value(None)
        self.running.pop()
        return result

    def note_import(self, module: str) -> None:
        """Run a module that the code wrote itself; one that is not Python's own may print."""
        content = self.contents.pop(f"{module.replace('.', '/')}.py", None)
        if content is not None:
            self.run_text(content)
        elif module.partition(".")[0] not in sys.stdlib_module_names or module == "this":
            self.may_print()

    def value(self, node: ast.expr) -> Value:
        """Return the value of an expression, and record what it does."""
        visit = getattr(self, f"_{type(node).__name__.lower()}", None)
        value: Value = visit(node) if visit is not None else Value()
        self.step(value)
        return value

    def values(self, node: ast.expr) -> list[Value]:
        """Return the values that an expression may have: one for each combination of those of its names."""
        choices: list[tuple[dict[Any, Any], Any, list[Any]]] = []
        if not self.has_choices:
            return [self.value(node)]
        for each in ast.walk(node):
            if isinstance(each, ast.IfExp):
                choices.append((self.taken, each, [True, False]))
            elif isinstance(each, ast.Name) and (scope := self.scope.owner(each.id)) and len(scope.names[each.id]) > 1:
                choices.append((scope.names, each.id, [[value] for value in scope.names[each.id]]))
        before = [(names, name, names.get(name)) for names, name, _ in choices]
        made = []
        for combination in islice(product(*(values for _, _, values in choices)), MOST_CHOICES):
            for (names, name, _), value in zip(choices, combination, strict=True):
                names[name] = value
            made.append(self.value(node))
        for names, name, old in before:
            names[name] = old
        return distinct(made)

    def bind(self, target: ast.expr, values: list[Value]) -> None:
        """Give values to the left side of an assignment."""
        if isinstance(target, ast.Name):
            scope = self.scope.top() if target.id in self.scope.globals else self.scope
            scope.names[target.id] = values
            self.has_choices |= len(values) > 1
        elif isinstance(target, (ast.Tuple, ast.List)):
            items = items_of(values[0])
            star = next((at for at, each in enumerate(target.elts) if isinstance(each, ast.Starred)), None)
            if items is not None and star is not None:
                end = len(items) - (len(target.elts) - star - 1)
                items = [*items[:star], Value(items[star:end]), *items[end:]]
            for at, each in enumerate(target.elts):
                item = items[at] if items is not None and at < len(items) else Value(UNKNOWN, labels_of(values[0]))
                self.bind(each.value if isinstance(each, ast.Starred) else each, [item])
        elif isinstance(target, (ast.Attribute, ast.Subscript)):
            owner = self.value(target.value)
            key = target.attr if isinstance(target, ast.Attribute) else native(self.value(target.slice))
            if owner.type == "name" and owner.it == "os.environ":
                self.environment[str(key)] = values[-1]
            elif isinstance(owner.it, dict) and not isinstance(key, (list, dict)):
                owner.it[key] = values[-1]

    def _constant(self, node: ast.Constant) -> Value:
        value = node.value
        if isinstance(value, str) and (PLACEHOLDER in value or UNKNOWN in value):
            return Value(value.replace(PLACEHOLDER, UNKNOWN), self.labels)
        return wrap(value)

    def _name(self, node: ast.Name) -> Value:
        return Value(UNKNOWN, self.labels) if node.id == PLACEHOLDER else self.scope.find(node.id)

    def _attribute(self, node: ast.Attribute) -> Value:
        return attribute(self, self.value(node.value), node.attr)

    def _subscript(self, node: ast.Subscript) -> Value:
        owner = self.value(node.value)
        if isinstance(node.slice, ast.Slice):
            bounds = (node.slice.lower, node.slice.upper, node.slice.step)
            return subscript(owner, slice(*[each and native(self.value(each)) for each in bounds]))
        index = self.value(node.slice)
        if owner.type == "name":
            return item_of_name(self, owner.it, index)
        if owner.type == "list" or (owner.type == "name" and owner.it.startswith("sys.stdin")):
            owner = Value(self.items(owner))
        return subscript(owner, native(index))

    def _arguments(self, nodes: list[ast.expr]) -> list[Value]:
        made: list[Value] = []
        for each in nodes:
            made += self.items(self.value(each.value)) if isinstance(each, ast.Starred) else [self.value(each)]
        return made

    def _call(self, node: ast.Call) -> Value:
        function = self.value(node.func)
        arguments = self._arguments(node.args)
        keywords: dict[str, Value] = {}
        for keyword in node.keywords:
            value = self.value(keyword.value)
            if keyword.arg is not None:
                keywords[keyword.arg] = value
            elif isinstance(value.it, dict) and not value.type:
                keywords.update((str(key), each) for key, each in value.it.items())
        return self.call(function, arguments, keywords)

    def _binop(self, node: ast.BinOp) -> Value:
        return binary(type(node.op), self.value(node.left), self.value(node.right))

    def _compare(self, node: ast.Compare) -> Value:
        values = [self.value(each) for each in (node.left, *node.comparators)]
        return binary(type(node.ops[0]), *values) if len(values) == 2 else Value()

    def _boolop(self, node: ast.BoolOp) -> Value:
        decides = isinstance(node.op, ast.Or)
        values = [self.value(each) for each in node.values]
        return next((each for each in values[:-1] if truth(each) is decides), values[-1])

    def _unaryop(self, node: ast.UnaryOp) -> Value:
        value = self.value(node.operand)
        if isinstance(node.op, ast.USub) and isinstance(value.it, (int, float)):
            return Value(-value.it)
        return Value(not truth(value)) if isinstance(node.op, ast.Not) and truth(value) is not None else Value()

    def _ifexp(self, node: ast.IfExp) -> Value:
        test = truth(self.value(node.test))
        return self.value(node.body if (self.taken.get(node) if test is None else test) else node.orelse)

    def _joinedstr(self, node: ast.JoinedStr) -> Value:
        parts = [self.value(each) for each in node.values]
        return wrap("".join(map(text_of, parts)), labels_of(*parts))

    def _formattedvalue(self, node: ast.FormattedValue) -> Value:
        value = self.value(node.value)
        if node.conversion == ord("r"):
            value = wrap(repr(native(value)), labels_of(value))
        return formatted(value, text_of(self.value(node.format_spec)) if node.format_spec else "")

    def _list(self, node: ast.List | ast.Set) -> Value:
        return Value(self._arguments(node.elts))

    _set = _list

    def _tuple(self, node: ast.Tuple) -> Value:
        return Value(tuple(self._arguments(node.elts)))

    def _dict(self, node: ast.Dict) -> Value:
        made: dict[object, Value] = {}
        labels = NO_LABELS
        for key, each in zip(node.keys, node.values, strict=True):
            value = self.value(each)
            if key is not None:
                made[text_of(self.value(key)) if not isinstance(key, ast.Constant) else key.value] = value
            elif isinstance(value.it, dict) and not value.type:
                made.update(value.it)
            else:
                labels |= labels_of(value)
        return Value(made, labels)

    def _listcomp(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> Value:
        made: list[Value] = []
        around, self.scope = self.scope, Scope(self.scope)
        self._generate(node, node.generators, made)
        self.scope = around
        return (
            Value({native(pair.it[0]): pair.it[1] for pair in made}) if isinstance(node, ast.DictComp) else Value(made)
        )

    _setcomp = _generatorexp = _dictcomp = _listcomp

    def _generate(self, node: Any, generators: list[ast.comprehension], made: list[Value]) -> None:
        """Add the items of a comprehension."""
        if not generators:
            is_dict = isinstance(node, ast.DictComp)
            made.append(Value((self.value(node.key), self.value(node.value))) if is_dict else self.value(node.elt))
            return
        iterable = self.value(generators[0].iter)
        self.endless += iterable.type == "endless"
        start = self.work()
        for item in self.items(iterable):
            if self.is_idle(start):
                break
            self.bind(generators[0].target, [item])
            if all(truth(self.value(each)) is not False for each in generators[0].ifs):
                self._generate(node, generators[1:], made)
        self.endless -= iterable.type == "endless"

    def _lambda(self, node: ast.Lambda | ast.FunctionDef | ast.AsyncFunctionDef) -> Value:
        function = Value(node, kind="function", owner=self.scope)
        self.uncalled[node] = (function, [])
        return function

    def _namedexpr(self, node: ast.NamedExpr) -> Value:
        value = self.value(node.value)
        self.bind(node.target, [value])
        return value

    def _await(self, node: ast.Await | ast.Starred) -> Value:
        return self.value(node.value)

    _starred = _await

    def _yield(self, node: ast.Yield | ast.YieldFrom) -> Value:
        value = Value(None) if node.value is None else self.value(node.value)
        if self.scope.returned is not None:
            self.scope.returned += self.items(value) if isinstance(node, ast.YieldFrom) else [value]
        return Value()

    _yieldfrom = _yield

    # -- calls ---------------------------------------------------------------------------------------------------------

    def call(self, function: Value, arguments: list[Value], keywords: dict[str, Value]) -> Value:
        """Call something."""
        self.step()
        owner, kind = function.owner, function.type
        if kind == "function":
            return self.run_function(function, arguments, keywords)
        if kind == "name":
            return AnyCall(self, function.it, arguments, keywords).run()
        if kind == "partial":
            return self.call(owner, [*function.it[0], *arguments], {**function.it[1], **keywords})
        if kind == "class":
            instance = Value(dict(function.it), kind="instance")
            if "__init__" in function.it:
                self.call(function.it["__init__"], [instance, *arguments], keywords)
            self.give_self(function.it, instance)
            return instance
        if kind == "method":
            if owner.type == "instance" and function.it in owner.it:
                return self.call(owner.it[function.it], [owner, *arguments], keywords)
            if not owner.type and (made := call_constant(owner, function.it, arguments, keywords)) is not None:
                return made
            return AnyCall(self, function.it, arguments, keywords).run_method(owner)
        self.may_print()
        self.pass_on(arguments, keywords)
        return Value(UNKNOWN, labels_of(function, *arguments, *keywords.values()))

    def pass_on(self, arguments: list[Value], keywords: dict[str, Value]) -> None:
        """Call a function that is an argument of something unknown: a thread, a pool, a timer, an exit handler."""
        named = [keywords[each] for each in ("target", "function", "func", "fn") if each in keywords]
        for at, value in enumerate([*arguments, *named]):
            if value.type in ("name", "function", "partial", "method"):
                rest = arguments[at + 1 :] if at < len(arguments) else []
                spread = keywords.get("args") or (rest[0] if len(rest) == 1 else None)
                is_spread = spread is not None and isinstance(spread.it, (list, tuple))
                self.call(value, items_of(spread) or [] if spread is not None and is_spread else rest, {})
                return

    def run_function(self, function: Value, arguments: list[Value], keywords: dict[str, Value]) -> Value:
        """Run the body of a function; return a value that it may return."""
        node, again = function.it, self.running.count(function.it)
        self.uncalled.pop(node, None)
        spent, known = self.spent.get(node, (0, 0))
        start = self.work()
        if again > 2 or len(self.running) > _DEEPEST or (spent > MOST_STEPS_OF_A_LOOP and known == start[1]):
            return Value(UNKNOWN, labels_of(*arguments))
        if again == 2:
            # A number that counts the calls does not stay what it is.
            arguments = [Value() if isinstance(each.it, int) else each for each in arguments]
        around, self.scope = self.scope, Scope(function.owner)
        self.scope.returned = []
        self._bind_arguments(node.args, arguments, keywords)
        self.running.append(node)
        self.endless += bool(again)
        try:
            if isinstance(node, ast.Lambda):
                return self.value(node.body)
            self.block(node.body)
            returned = self.scope.returned
        finally:
            self.scope = around
            self.running.pop()
            self.endless -= bool(again)
            self.spent[node] = spent + self.work()[0] - start[0], self.work()[1]
        if any(isinstance(each, (ast.Yield, ast.YieldFrom)) for each in ast.walk(node)):
            return Value(returned)
        found = distinct([each for each in returned if each.it is not None])
        # One of several texts is not known; of objects any will do.
        is_choice = len(found) > 1 and not any(each.type for each in found)
        return Value(UNKNOWN, labels_of(*found)) if is_choice else found[-1] if found else Value(None)

    def _bind_arguments(self, spec: ast.arguments, arguments: list[Value], keywords: dict[str, Value]) -> None:
        names = self.scope.names
        positional = [each.arg for each in (*spec.posonlyargs, *spec.args)]
        defaults = dict(zip(positional[::-1], spec.defaults[::-1], strict=False))
        defaults.update((each.arg, made) for each, made in zip(spec.kwonlyargs, spec.kw_defaults, strict=True) if made)
        given = {**keywords, **dict(zip(positional, arguments, strict=False))}
        for each in (*positional, *(each.arg for each in spec.kwonlyargs)):
            default = self.value(defaults[each]) if each in defaults and each not in given else Value()
            names[each] = [given.pop(each, default)]
        if spec.vararg is not None:
            names[spec.vararg.arg] = [Value(tuple(arguments[len(positional) :]))]
        if spec.kwarg is not None:
            names[spec.kwarg.arg] = [Value(dict(given))]

    def give_self(self, members: dict[str, Value], instance: Value) -> None:
        """Run the methods of a class that nothing calls with this instance."""
        for member in members.values():
            if member.type == "function" and member.it in self.uncalled:
                self.uncalled[member.it] = (member, [instance])


def distinct(values: list[Value]) -> list[Value]:
    """Return the values without repetitions, at most ``MOST_CHOICES`` of them."""
    if len(values) == 1:
        return values
    found: list[Value] = []
    for each in values[: MOST_CHOICES * 2]:
        if each not in found:
            found.append(each)
    return found[:MOST_CHOICES]
