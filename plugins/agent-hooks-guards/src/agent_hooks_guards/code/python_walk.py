"""Reads Python code from its tree: follows names, values and calls, and runs nothing.

All code counts as run: both branches of a condition that is not known, each handler of an exception, functions that are
never called. Loops go as many rounds as are known.
"""

from __future__ import annotations

import ast
from itertools import product

from agent_hooks_guards.model.values import NO_LABELS, UNKNOWN, Data

from . import STDIN, Found
from .python_calls import call_name, is_sink
from .python_expressions import EXPRESSIONS
from .python_names import BUILTINS, is_foreign, module_name
from .python_scope import METHODS, PLACEHOLDER, Scope
from .python_statements import STATEMENTS
from .python_values import (
    HOME,
    MOST_ITEMS,
    Value,
    binary,
    constant,
    is_text,
    items_of,
    labels_of,
    name,
    one_of,
    subscript,
    text_of,
    unknown,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_MOST_STEPS = 50_000
# A loop that found nothing new for so long will not.
_MOST_STEPS_OF_A_LOOP = 8_000
_MOST_AGAIN = 3
_MOST_FOUND = 300
_DEEPEST_CALL = 12
_DEEPEST_CODE = 6
_MOST_COMBINATIONS = 12
_ANY_LINES = f"{UNKNOWN}\n"


class TooMuchError(Exception):
    """The code is deeper, longer or does more than is looked at."""


class Walk:
    """One reading.

    ``found`` is what it found; ``arguments`` is ``sys.argv``; ``labels``: where the code comes from; ``stdin``: what it
    reads, if that is known.
    """

    def __init__(self, arguments: list[str], labels: frozenset[str], stdin: str | None = None) -> None:
        self.found = Found()
        self.arguments = arguments
        self.labels = labels
        self.steps = 0
        # The functions that it is in.
        self.running: list[ast.AST] = []
        # What the functions were given last.
        self.given: dict[ast.AST, list[Value]] = {}
        # What functions took, in steps, and how much was found before the first of them.
        self.spent: dict[ast.AST, tuple[int, int]] = {}
        self.codes = 0
        # The folder that the code went to, "" where it began.
        self.cwd = ""
        self.environment: dict[str, Value] = {}
        # What was put into modules: `builtins.print = os.system`.
        self.patched: dict[str, Value] = {}
        self.contents: dict[str, Value] = {}
        # Functions by their nodes, with what they are called with; taken out when they are called.
        self.uncalled: dict[ast.AST, tuple[Value, Value | None]] = {}
        # How many loops that never end it is in, and whether something forks.
        self.endless = 0
        # Of these, how many wait for nothing.
        self.hasty = 0
        self.forks = False
        self.stdin = stdin
        # What is printed, to the output or the errors, in this order.
        self.prints: list[Data] = []
        self._known: set[object] = set()

    # -- what is found -------------------------------------------------------------------------------------------------

    def is_new(self, item: object) -> bool:
        """Whether this was not found yet."""
        if item in self._known:
            return False
        if len(self._known) > _MOST_FOUND:
            raise TooMuchError
        self._known.add(item)
        return True

    def path(self, value: Value) -> str:
        """Return the path that a value names."""
        text = text_of(value)
        if self.cwd and not text.startswith(("/", "~", HOME)):
            text = f"{self.cwd}/{text}"
        return text.replace(HOME, "~")

    def effect(
        self, kind: str, path: str, *, recursive: bool = False, labels: frozenset[str] = NO_LABELS, method: str = ""
    ) -> None:
        """Note an effect."""
        item = (kind, path.replace(HOME, "~"), recursive, labels, method)
        if self.is_new(item):
            self.found.effects.append(item)

    def doubt(self, text: str) -> None:
        """Note something that runs and could not be analysed."""
        if self.is_new(("doubt", text)):
            self.found.doubts.append(text)

    # -- input and output ----------------------------------------------------------------------------------------------

    def read_input(self, how: str = "read") -> Value:
        """Return what is read from the input: all of it, a line, or the lines."""
        labels = frozenset((STDIN,))
        text = self.stdin
        if text is None or ("line" in how and how[-1] != "s" and "\n" in text[:-1]):
            return unknown(labels)
        if how[-1] == "s":
            return Value("list", [constant(line, labels) for line in text.splitlines(keepends=True)])
        return constant(text, labels)

    def echo(self, value: Value) -> None:
        """Note that a text is printed."""
        self.weigh(value)
        if len(self.prints) > MOST_ITEMS:
            raise TooMuchError
        self.prints.append(Data(text_of(value).replace(HOME, "~"), labels_of(value)))

    def may_print(self) -> None:
        """Note that anything may be printed here: something is called that is not known, or only perhaps."""
        if not self.prints or self.prints[-1].text != _ANY_LINES:
            self.prints.append(Data(_ANY_LINES))

    def output(self) -> Data:
        """Return what is printed; a code that was not seen to print may do so in a way of its own."""
        labels = self.labels.union(*(each.labels for each in self.prints))
        return Data("".join(each.text for each in self.prints) if self.prints else UNKNOWN, labels)

    # -- codes ---------------------------------------------------------------------------------------------------------

    def run_text(self, value: Value, scope: Scope) -> Value:
        """Run a text as code."""
        for each in value.it if value.kind == "any" else (value,):
            text = text_of(each)
            labels = labels_of(each)
            if each.kind in ("list", "tuple", "dict", "function", "class"):
                continue
            if each.kind != "constant" or text.strip(f" \n{UNKNOWN}") == "" != text:
                if labels:
                    if self.is_new(("python", text, labels)):
                        self.found.codes.append(("python", Data(UNKNOWN, labels)))
                else:
                    self.doubt("a text that is not known is run as Python code")
                continue
            if not is_text(each):
                continue
            from .python import parsed

            tree = parsed(text.replace(HOME, "~"))
            if tree is None:
                continue
            if self.codes >= _DEEPEST_CODE:
                raise TooMuchError
            self.codes += 1
            result = self.run_tree(tree, scope)
            self.codes -= 1
            if value.kind != "any":
                return result
        return unknown()

    def run_tree(self, tree: ast.Module, scope: Scope) -> Value:
        """Run a module; return the value of what stands last in it."""
        body = tree.body
        last = body[-1] if body else None
        if isinstance(last, ast.Expr):
            self.block(body[:-1], scope)
            if isinstance(last.value, ast.Name) and last.value.id == PLACEHOLDER:
                self.doubt("a part of the code is not known")
            return self.value(last.value, scope)
        self.block(body, scope)
        return constant(None)

    def run_uncalled(self) -> None:
        """Run the functions that nothing called, the last ones first: those call the others."""
        while self.uncalled:
            node, (function, owner) = self.uncalled.popitem()
            self.may_print()
            del node
            given = [] if owner is None else [owner]
            result = self.run_function(function, given, {}, is_certain=False)
            if function.it.__class__ is not ast.Lambda and function.it.name in ("__reduce__", "__reduce_ex__"):
                self.reduced(result)

    def reduced(self, result: Value) -> None:
        """Call what unpickling would call."""
        for each in result.it if result.kind == "any" else (result,):
            if each.kind == "tuple" and len(each.it) > 1:
                self.call(each.it[0], items_of(each.it[1]) or [], {}, Scope())

    # -- statements ----------------------------------------------------------------------------------------------------

    def block(self, statements: list[ast.stmt], scope: Scope) -> str:
        """Run statements. Returns how they end: ``""``, ``break``, ``continue`` or ``return``."""
        for statement in statements:
            self.step()
            run = STATEMENTS.get(type(statement))
            if run is None:
                continue
            signal = run(self, statement, scope)
            if signal:
                return signal
        return ""

    def rounds(self) -> Callable[[], bool]:
        """Return what tells whether a loop that begins here has gone on for long enough."""
        steps, found = self.steps, len(self._known)
        return lambda: self.steps - steps > _MOST_STEPS_OF_A_LOOP and len(self._known) == found

    def weigh(self, *values: Value) -> None:
        """Count what it takes to compute with long texts and lists."""
        for value in values:
            if value.kind == "constant":
                if isinstance(value.it, (str, bytes)):
                    self.steps += len(value.it) // 512
            elif value.kind in ("list", "tuple", "set", "dict"):
                self.steps += len(value.it) // 8

    def step(self) -> None:
        """Count one step."""
        self.steps += 1
        if self.steps > _MOST_STEPS:
            raise TooMuchError

    def item_of(self, iterable: Value) -> Value:
        """Return an item of something that is not known item by item."""
        if iterable.kind == "name" and iterable.it.endswith((".__dict__", "globals()")):
            return name(f"{iterable.it.removesuffix('.__dict__')}.{UNKNOWN}")
        return unknown(labels_of(iterable))

    def iterated(self, value: Value) -> Value:
        """Return what is gone through item by item: of the input, its lines."""
        is_input = value.kind == "name" and value.it.startswith("sys.stdin")
        return self.read_input("lines") if is_input else value

    def imported(self, module: str, scope: Scope) -> None:
        """Run a module that the code itself wrote."""
        content = self.contents.pop(f"{module.replace('.', '/')}.py", None)
        if content is not None:
            self.run_text(content, Scope(scope.top()))
        elif is_foreign(module):
            self.may_print()

    # -- expressions ---------------------------------------------------------------------------------------------------

    def value(self, node: ast.expr | None, scope: Scope) -> Value:
        """Return what an expression is known to be, and note what it does."""
        self.step()
        read = EXPRESSIONS.get(type(node))
        return read(self, node, scope) if read is not None else unknown()

    def builtin(self, wanted: str) -> Value:
        """Return what a name stands for that nothing defines."""
        if wanted in self.patched:
            return self.patched[wanted]
        if wanted == PLACEHOLDER:
            return unknown(self.labels)
        if wanted == "__name__":
            return constant("__main__")
        if wanted in BUILTINS:
            return name(module_name(wanted))
        return unknown()

    def attribute(self, owner: Value, attr: str, scope: Scope) -> Value:
        """Return an attribute of a value."""
        from .python_attributes import attribute

        return attribute(self, owner, attr, scope)

    def item(self, owner: Value, index: Value, scope: Scope) -> Value:
        """Return an item of a value."""
        if owner.kind == "name":
            from .python_attributes import item_of_name

            return item_of_name(self, owner.it, index, scope)
        made = self.operator(owner, "__getitem__", [index], scope) or self.operator(
            owner, "__class_getitem__", [index], scope
        )
        return made or subscript(owner, index)

    def operator(self, owner: Value, method: str, arguments: list[Value], scope: Scope) -> Value | None:
        """Call what a class has for an operator; None if it has nothing."""
        if owner.kind == "instance":
            member = owner.it.parts.get(method)
        elif owner.kind == "class":
            member = owner.parts.get(method)
        else:
            return None
        if member is None:
            return None
        return self.call(member, [owner, *arguments] if member.kind == "function" else arguments, {}, scope)

    def operate(self, sign: ast.operator, left: Value, right: Value, scope: Scope) -> Value:
        """Return what an operator gives."""
        self.weigh(left, right)
        word = type(sign).__name__
        if left.kind in ("instance", "class"):
            made = self.operator(left, f"__{METHODS.get(word, word.lower())}__", [right], scope)
            if made is not None:
                return made
        return binary(word, left, right)

    # -- calls ---------------------------------------------------------------------------------------------------------

    def call(self, function: Value, arguments: list[Value], keywords: dict[str, Value], scope: Scope) -> Value:
        """Call something."""
        self.step()
        self.weigh(*arguments)
        kind = function.kind
        if kind == "function":
            return self.run_function(function, arguments, keywords)
        if kind == "name":
            return call_name(self, function.it, arguments, keywords, scope)
        if kind == "method":
            from .python_methods import call_method

            self.weigh(function.parts)
            return call_method(self, function.parts, function.it, arguments, keywords, scope)
        if kind == "partial":
            before, named = function.parts
            return self.call(function.it, [*before, *arguments], {**named, **keywords}, scope)
        if kind == "class":
            return self._instantiate(function, arguments, keywords, scope)
        if kind == "instance":
            made = self.operator(function, "__call__", arguments, scope)
            if made is not None:
                return made
        if kind == "any":
            return one_of([self.call(each, arguments, keywords, scope) for each in function.it])
        self.may_print()
        self.pass_on("", arguments, keywords, scope)
        return unknown(labels_of(function, *arguments, *keywords.values()))

    def _instantiate(self, function: Value, arguments: list[Value], keywords: dict[str, Value], scope: Scope) -> Value:
        instance = Value("instance", function, parts={})
        start = function.parts.get("__init__") or function.parts.get("__new__")
        if start is not None:
            self.call(start, [instance, *arguments] if start.kind == "function" else arguments, keywords, scope)
        for member in function.parts.values():
            if member.kind == "function" and member.it in self.uncalled:
                self.uncalled[member.it] = (member, instance)
        return instance

    def run_function(
        self, function: Value, arguments: list[Value], keywords: dict[str, Value], *, is_certain: bool = True
    ) -> Value:
        """Run a function's body."""
        node = function.it
        self.uncalled.pop(node, None)
        again = self.running.count(node)
        if again and self.forks:
            self.effect("fork", "")
        spent, known = self.spent.setdefault(node, (0, len(self._known)))
        has_no_more = spent > _MOST_STEPS_OF_A_LOOP and len(self._known) == known
        if again > _MOST_AGAIN or len(self.running) >= _DEEPEST_CALL or has_no_more:
            return unknown(labels_of(*arguments))
        last = self.given.get(node, [])
        if again == _MOST_AGAIN:
            # Whatever the further calls are given: what is the same each time stays known.
            arguments = [
                each if at < len(last) and each == last[at] else unknown(labels_of(each))
                for at, each in enumerate(arguments)
            ]
        self.given[node] = arguments
        begin = self.steps
        around, defaults = function.parts
        scope = Scope(around)
        scope.returned = []
        self._bind(node.args, scope, arguments, {**defaults, **keywords} if is_certain else {}, defaults)
        self.running.append(node)
        try:
            if isinstance(node, ast.Lambda):
                return self.value(node.body, scope)
            self.block(node.body, scope)
        finally:
            self.running.pop()
            self.given[node] = last
            self.spent[node] = (spent + self.steps - begin, known)
        if _yields(node):
            return Value("list", scope.returned)
        return one_of(scope.returned) if scope.returned else constant(None)

    def _bind(
        self,
        spec: ast.arguments,
        scope: Scope,
        arguments: list[Value],
        keywords: dict[str, Value],
        defaults: dict[str, Value],
    ) -> None:
        positional = [each.arg for each in (*spec.posonlyargs, *spec.args)]
        for at, each in enumerate(positional):
            if at < len(arguments):
                scope.names[each] = arguments[at]
            else:
                scope.names[each] = keywords.get(each) or defaults.get(each) or unknown()
        for argument in spec.kwonlyargs:
            scope.names[argument.arg] = keywords.get(argument.arg) or defaults.get(argument.arg) or unknown()
        if spec.vararg is not None:
            scope.names[spec.vararg.arg] = Value("tuple", arguments[len(positional) :])
        if spec.kwarg is not None:
            named = {key: each for key, each in keywords.items() if key not in scope.names}
            scope.names[spec.kwarg.arg] = Value("dict", named)

    def pass_on(self, callee: str, arguments: list[Value], keywords: dict[str, Value], scope: Scope) -> None:
        """Call what is given to something that calls it: a thread, a pool, a timer, an exit handler."""
        calls = callee.rpartition(".")[2] in _CALLERS
        values = [*arguments, *(keywords[each] for each in ("target", "function", "func", "fn") if each in keywords)]
        for at, value in enumerate(values):
            if not (self.is_sink(value) or (calls and value.kind in ("function", "method", "partial"))):
                continue
            rest = arguments[at + 1 :] if at < len(arguments) else []
            if "args" in keywords:
                self.call(value, items_of(keywords["args"]) or [], {}, scope)
            elif len(rest) == 1 and (items := items_of(rest[0])) is not None and not is_text(rest[0]):
                if callee.rpartition(".")[2] in _SPREADING:
                    self.call(value, items, {}, scope)
                else:
                    for item in items:
                        self.call(value, [item], {}, scope)
            elif rest or calls:
                self.call(value, rest, {}, scope)
            return

    def is_sink(self, value: Value) -> bool:
        """Whether calling it does something outside of the code."""
        if value.kind == "partial":
            return self.is_sink(value.it)
        if value.kind == "any":
            return any(map(self.is_sink, value.it))
        return value.kind == "name" and is_sink(value.it)

    def lifted(self, values: list[Value], compute: Callable[[list[Value]], Value]) -> Value:
        """Compute with each combination of values that may be one thing or another."""
        if not any(each.kind == "any" for each in values):
            return compute(values)
        found = []
        choices = [each.it if each.kind == "any" else (each,) for each in values]
        for at, combination in enumerate(product(*choices)):
            if at >= _MOST_COMBINATIONS:
                break
            found.append(compute(list(combination)))
        return one_of(found)


# What calls a function that it is given.
_CALLERS = frozenset(
    "map filter starmap imap imap_unordered map_async starmap_async apply apply_async submit Thread Process "
    "Timer register run_in_executor to_thread call_soon call_later call_at call_soon_threadsafe "
    "start_new_thread start_new reduce partial addCleanup callback add_done_callback "
    "run_coroutine_threadsafe run_sync run_until_complete exec_in_thread call_function run_in_thread enter "
    "do at_exit".split()
)
# What calls it with the items of a list as its arguments.
_SPREADING = frozenset("Timer start_new_thread start_new apply apply_async".split())


def _yields(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(isinstance(each, (ast.Yield, ast.YieldFrom)) for each in ast.walk(node))
