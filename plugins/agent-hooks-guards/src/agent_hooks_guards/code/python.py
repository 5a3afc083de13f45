"""Python code: the processes it starts, its files and its network, found by one walk over its syntax tree.

All code counts as run, in the order of the text: both branches of a condition, each handler of an exception, functions
that nothing calls. A text that branches assign differently is not known afterwards.
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections import ChainMap

from agent_hooks_guards.model.values import NO_LABELS, UNKNOWN, Data

from . import STDIN, Found
from .python_calls import KINDS, TABLES, TAILS, Call, aliased, attribute, known_items, names_harm
from .python_values import (
    PLACEHOLDER,
    Value,
    binary,
    call_constant,
    either,
    is_text,
    items_of,
    labels_of,
    native,
    parse,
    subscript,
    text_of,
    variable_of,
    wrap,
)

# Names that need no import; those of modules, because code in `exec` shares the imports around it.
_GLOBAL_NAMES = (
    frozenset(dir(builtins)) | sys.stdlib_module_names | set("file execfile raw_input get_ipython __builtins__".split())
)
_MOST_STEPS = 50_000
# After so many rounds, a loop has one round with an unknown item.
_MOST_ROUNDS = 64
_DEEPEST = 4
_MOST_FOUND = 300


def scan(
    text: str,
    labels: frozenset[str],
    arguments: list[str],
    language: str,
    stdin: str | None = None,
    variables: dict[str, Data] | None = None,
) -> Found:
    """Return the effects of Python code.

    ``labels``: its origin. ``arguments``: ``sys.argv``. ``stdin``: its standard input, if known. ``variables``: the
    known variables of the environment.
    """
    del language
    tree = parse(text)
    if tree is None:
        return Found(doubts=["it is no Python that can be read"] if names_harm(text) else [])
    walk = Walk(arguments, labels, stdin, variables or {})
    try:
        walk.run(tree)
    except (RecursionError, MemoryError):
        walk.prints = [Value(UNKNOWN, labels_of(*walk.prints))]
        if names_harm(text):
            walk.doubt("the code does more than is looked at")
    # Nothing is known of what it prints if no call that prints was seen.
    prints = walk.prints or [Value()]
    walk.found.output = Data("".join(map(text_of, prints)), labels | labels_of(*prints))
    return walk.found


class Walk:
    """A walk over a syntax tree.

    ``arguments`` is ``sys.argv``; ``labels``: the origin of the code; ``stdin``: its standard input, if known;
    ``variables``: the known variables of the environment; ``cwd``: the directory that the code sets. ``names``: those
    of the function and of the scopes around it. ``running``: the functions being called; ``uncalled``: functions that
    nothing called yet. ``loops``: how many ``while`` and endless ``for`` loops the walk is in.
    """

    cwd = ""
    loops = steps = 0

    def __init__(
        self, arguments: list[str], labels: frozenset[str], stdin: str | None, variables: dict[str, Data]
    ) -> None:
        self.found = Found()
        self.arguments = arguments
        self.labels = labels
        self.stdin = stdin
        self.variables: dict[str, Data] = variables
        self.names = ChainMap({"__name__": Value("__main__")})
        self.running: list[ast.AST] = []
        self.uncalled: dict[ast.AST, Value] = {}
        self.returned: list[Value] = []
        self.prints: list[Value] = []

    def run(self, tree: ast.Module) -> None:
        """Run a module, then the functions that nothing called."""
        self._block(tree.body)
        while self.uncalled:
            self.may_print()
            self._run_function(next(iter(self.uncalled.values())), [], {})

    # -- findings ------------------------------------------------------------------------------------------------------

    def effect(
        self, kind: str, path: str, *, recursive: bool = False, labels: frozenset[str] = NO_LABELS, method: str = ""
    ) -> None:
        """Record an effect."""
        if (item := (kind, path, recursive, labels, method)) not in self.found.effects:
            self.found.effects.append(item)

    def doubt(self, text: str) -> None:
        """Record something that runs and could not be analysed."""
        if text not in self.found.doubts:
            self.found.doubts.append(text)

    def run_text(self, value: Value) -> Value:
        """Record text that is run as code."""
        data = Data(text_of(value), labels_of(value))
        if data.text == UNKNOWN and not data.labels:
            self.doubt("a text that is not known is run as Python code")
        elif ("python", data) not in self.found.codes:
            self.found.codes.append(("python", data))
        self.may_print()
        return Value(UNKNOWN, data.labels)

    def may_print(self) -> None:
        """Record that anything may be printed here."""
        if not self.prints or self.prints[-1].it != UNKNOWN:
            self.prints.append(Value())

    def input(self, *, is_line: bool = False) -> Value:
        """Return the standard input, or a line of it."""
        is_known = self.stdin is not None and not (is_line and "\n" in self.stdin[:-1])
        return Value(self.stdin if is_known else UNKNOWN, frozenset((STDIN,)))

    def path(self, value: Value) -> str:
        """Return the path that a value names."""
        text = str(value.it) if value.type == "file" else text_of(value)
        return f"{self.cwd}/{text}" if self.cwd and not text.startswith(("/", "~")) else text

    def items(self, value: Value) -> list[Value]:
        """Return the items that iteration over a value gives; one unknown item if they are not known."""
        if value.type == "file" and STDIN in value.labels and self.stdin is not None:
            return [Value(line, value.labels) for line in self.stdin.splitlines(keepends=True)] or [Value("")]
        return items_of(value) or [Value(UNKNOWN, labels_of(value))]

    # -- statements ----------------------------------------------------------------------------------------------------

    def _block(self, statements: list[ast.stmt]) -> None:
        for statement in statements:
            self._statement(statement)

    def _statement(self, node: ast.AST) -> None:
        match node:
            case ast.Assign(value=given) | ast.AnnAssign(value=ast.expr() as given):
                value = self.value(given)
                for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                    self._bind(target, value)
            case ast.AugAssign(target=target, op=op, value=given):
                self._bind(target, self.value(ast.BinOp(target, op, given)))
            case ast.Expr(value=ast.Name(id=name)) if name == PLACEHOLDER:
                self.doubt("a part of the code is not known")
            case ast.Return():
                self.returned.append(Value(None) if node.value is None else self.value(node.value))
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self.names[node.name] = self._function(node)
                for decorator in node.decorator_list:
                    self.value(decorator)
            case ast.ClassDef(body=body):
                self.names = self.names.new_child()
                self._block(body)
                self.names = self.names.parents
            case ast.Global() | ast.Nonlocal():
                # Any call of the function may assign them.
                self.names.maps[-1].update(dict.fromkeys(node.names, Value()))
            case ast.Import():
                for alias in node.names:
                    name = alias.name if alias.asname else alias.name.partition(".")[0]
                    self.names[alias.asname or name] = Value(aliased(name), kind="name")
            case ast.ImportFrom():
                module = aliased("" if node.level else node.module or "")
                names = {alias.asname or alias.name: alias.name for alias in node.names if module}
                if names.pop("*", ""):
                    names = {name: name for name in known_items(module)}
                for name, what in names.items():
                    self.names[name] = attribute(self, Value(module, kind="name"), what)
            case ast.For() | ast.AsyncFor():
                items = self.items(self.value(node.iter))
                if [each.it for each in items] == ["*"] and any(isinstance(each, ast.If) for each in ast.walk(node)):
                    items = [Value(UNKNOWN)]
                items[_MOST_ROUNDS:] = [Value(UNKNOWN, labels_of(*items))] if len(items) > _MOST_ROUNDS else []
                self.loops += (is_endless := _is_endless(node.iter))
                for item in items:
                    self._bind(node.target, item)
                    self._block(node.body)
                self.loops -= is_endless
                self._block(node.orelse)
            case _:
                for child in ast.iter_child_nodes(node):
                    if isinstance(child, ast.expr):
                        self.value(child)
                self._blocks(node)

    def _blocks(self, node: ast.AST) -> None:
        """Run the blocks of a statement, of which one may run."""
        match node:
            case ast.With() | ast.AsyncWith():
                for each in node.items:
                    value = self.value(each.context_expr)
                    if each.optional_vars is not None:
                        self._bind(each.optional_vars, value)
                self._block(node.body)
            case ast.If(test=test):
                if isinstance(test, ast.Compare) and isinstance(test.left, ast.Name):
                    # A name that is compared with something stands for some files, and no longer for any.
                    value = self.value(test.left)
                    self._bind(test.left, Value(f"some{UNKNOWN}", value.labels) if value.it == UNKNOWN else value)
                self._branches([node.body, node.orelse])
            case ast.While():
                self.loops += 1
                self._branches([node.body, node.orelse])
                self.loops -= 1
            case ast.Try():
                self._block(node.body)
                self._branches([[], *(handler.body for handler in node.handlers)])
                self._block([*node.orelse, *node.finalbody])
            case ast.Match():
                self._branches([[], *(each.body for each in node.cases)])

    def _branches(self, blocks: list[list[ast.stmt]]) -> None:
        """Run blocks of which one may run, and merge the names that they assign."""
        before, ends = self.names.maps[0], []
        for block in blocks:
            self.names.maps[0] = dict(before)
            self._block(block)
            ends.append(self.names.maps[0])
        self.names.maps[0] = {
            name: either([end[name] for end in ends if name in end]) for name in dict.fromkeys(ChainMap(*ends))
        }

    def _bind(self, target: ast.expr, value: Value) -> None:
        """Assign a value to a target; attributes of objects are not followed."""
        match target:
            case ast.Name(id=name):
                self.names[name] = value
            case ast.Tuple(elts=targets) | ast.List(elts=targets):
                items = items_of(value) or []
                known = len(items) if not any(isinstance(each, ast.Starred) for each in targets) else 0
                for at, each in enumerate(targets):
                    self._bind(each, items[at] if at < known else Value(UNKNOWN, labels_of(value)))
            case ast.Starred(value=inner):
                self._bind(inner, value)
            case ast.Subscript():
                owner, key = self.value(target.value), native(self.value(target.slice))
                if isinstance(owner.it, dict) and not isinstance(key, (list, dict)):
                    owner.it[key] = value
                elif isinstance(owner.it, list):
                    owner.it[:] = [Value(UNKNOWN, labels_of(owner, value))]

    # -- expressions ---------------------------------------------------------------------------------------------------

    def value(self, node: ast.expr) -> Value:
        """Return the value of an expression, and record its effects."""
        value = self._literal(node) or self._operation(node)
        it = value.it
        self.steps += 1 + (len(it) // (64 if isinstance(it, (str, bytes)) else 8) if hasattr(it, "__len__") else 0)
        found = self.found
        if self.steps > _MOST_STEPS or len(found.effects) + len(found.shells) + len(found.programs) > _MOST_FOUND:
            raise RecursionError  # as where the code is too deep
        return value

    def _literal(self, node: ast.expr) -> Value | None:
        """Return the value of a constant, a name, or a text or list of values."""
        match node:
            case ast.Constant(value=str(text)) if PLACEHOLDER in text or UNKNOWN in text:
                return Value(text.replace(PLACEHOLDER, UNKNOWN), self.labels)
            case ast.Constant():
                return wrap(node.value)
            case ast.Name(id=name) if name == PLACEHOLDER:
                return Value(UNKNOWN, self.labels)
            case ast.Name(id=name):
                # Of a function that is not imported here, the name tells enough: `from os import *`.
                known = aliased(name) if name in _GLOBAL_NAMES else TAILS.get(name)
                return self.names.get(name) or (Value(known, kind="name") if known else Value())
            case ast.List() | ast.Set():
                return Value(self._elements(node.elts))
            case ast.Tuple():
                return Value(tuple(self._elements(node.elts)))
            case ast.Dict():
                values = [self.value(each) for each in node.values]
                keys = [each and text_of(self.value(each)) for each in node.keys]
                return Value(dict(zip(keys, values, strict=True)))
            case ast.JoinedStr():
                parts = [self.value(each) for each in node.values]
                return wrap("".join(map(text_of, parts)), labels_of(*parts))
            case ast.FormattedValue():
                value = self.value(node.value)
                return Value(UNKNOWN if node.format_spec else text_of(value), labels_of(value))
            case ast.Lambda():
                return self._function(node)
        return None

    def _operation(self, node: ast.expr) -> Value:
        """Return the value of any other expression; for one that is not followed, the origins of its parts."""
        match node:
            case ast.Call():
                return self._call(node)
            case ast.Attribute():
                return attribute(self, self.value(node.value), node.attr)
            case ast.Subscript(slice=ast.Slice() as part):
                bounds = (part.lower, part.upper, part.step)
                return subscript(self.value(node.value), slice(*[each and native(self.value(each)) for each in bounds]))
            case ast.Subscript():
                owner, index = self.value(node.value), self.value(node.slice)
                if owner.type != "name":
                    return subscript(owner, native(index))
                if owner.it == "os.environ":
                    return variable_of(self.variables, text_of(index))
                # An entry of `__dict__`.
                return attribute(self, owner, text_of(index)) if is_text(index) else owner
            case ast.BinOp():
                return binary(type(node.op), self.value(node.left), self.value(node.right))
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(number))):
                return Value(-number)
            case ast.BoolOp():
                return either([self.value(each) for each in node.values])
            case ast.IfExp():
                self.value(node.test)
                return either([self.value(node.body), self.value(node.orelse)])
            case ast.Await():
                return self.value(node.value)
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp():
                made: list[Value] = []
                self.names = self.names.new_child()
                self._generate(node.elt, node.generators, made)
                self.names = self.names.parents
                return Value(made)
            case ast.NamedExpr():
                self._bind(node.target, value := self.value(node.value))
                return value
        parts = [each.iter if isinstance(each, ast.comprehension) else each for each in ast.iter_child_nodes(node)]
        return Value(UNKNOWN, labels_of(*(self.value(each) for each in parts if isinstance(each, ast.expr))))

    def _elements(self, nodes: list[ast.expr]) -> list[Value]:
        made: list[Value] = []
        for each in nodes:
            made += self.items(self.value(each.value)) if isinstance(each, ast.Starred) else [self.value(each)]
        return made

    def _generate(self, element: ast.expr, generators: list[ast.comprehension], made: list[Value]) -> None:
        """Add the items of a comprehension, as if its conditions held."""
        if not generators:
            made.append(self.value(element))
            return
        items = self.items(self.value(generators[0].iter))
        self.loops += (is_endless := _is_endless(generators[0].iter))
        for item in items:
            self._bind(generators[0].target, Value(UNKNOWN) if item.it == "*" and generators[0].ifs else item)
            for condition in generators[0].ifs:
                self.value(condition)
            self._generate(element, generators[1:], made)
        self.loops -= is_endless

    # -- calls ---------------------------------------------------------------------------------------------------------

    def _function(self, node: ast.Lambda | ast.FunctionDef | ast.AsyncFunctionDef) -> Value:
        function = Value(node, kind="function", owner=self.names)
        self.uncalled[node] = function
        return function

    def _call(self, node: ast.Call) -> Value:
        function, arguments, keywords = self.value(node.func), self._elements(node.args), {}
        for keyword in node.keywords:
            value = self.value(keyword.value)
            if keyword.arg is not None:
                keywords[keyword.arg] = value
            elif isinstance(value.it, dict) and not value.type:
                keywords.update((str(key), each) for key, each in value.it.items())
        return self.call(function, arguments, keywords)

    def call(self, function: Value, arguments: list[Value], keywords: dict[str, Value]) -> Value:
        """Call something."""
        if function.type == "name":
            return Call(self, function.it, arguments, keywords).run()
        if function.type == "function":
            return self._run_function(function, arguments, keywords)
        given = [*arguments, *keywords.values()]
        if (owner := function.owner) is None:
            return self.pass_on([function, *given])
        if not owner.type and (known := call_constant(owner, function.it, arguments, keywords)) is not None:
            return known
        if (name := f"{owner.type}.{function.it}") in KINDS:
            return Call(self, name, [owner, *arguments], keywords).run()
        if function.it in TABLES["methods"]:
            return Call(self, TABLES["methods"][function.it], arguments, keywords).run()
        # A path that is computed from a path: `with_suffix`, `relative_to`.
        return Value(UNKNOWN, labels_of(owner, self.pass_on(given)), "path" if owner.type == "path" else "")

    def pass_on(self, values: list[Value]) -> Value:
        """Return the result of a call that is not known: a thread, a timer. It may call the functions it is given."""
        self.may_print()
        for each in values:
            if each.type == "name" and KINDS.get(each.it) in ("shell", "program", "exec", "evaluate"):
                self.doubt("a function that runs programs is given to another function")
        return Value(UNKNOWN, labels_of(*values))

    def _run_function(self, function: Value, arguments: list[Value], keywords: dict[str, Value]) -> Value:
        """Run the body of a function; return a value that it may return."""
        node = function.it
        self.uncalled.pop(node, None)
        if node in self.running or len(self.running) > _DEEPEST:
            return Value(UNKNOWN, labels_of(*arguments))
        around, self.names = self.names, function.owner.new_child()
        returned, self.returned = self.returned, []
        self._bind_parameters(node.args, arguments, keywords)
        self.running.append(node)
        self._block([ast.Return(node.body)] if isinstance(node, ast.Lambda) else node.body)
        self.running.pop()
        value = either(self.returned or [Value(None)])
        self.names, self.returned = around, returned
        return value

    def _bind_parameters(self, spec: ast.arguments, arguments: list[Value], keywords: dict[str, Value]) -> None:
        positional = [each.arg for each in (*spec.posonlyargs, *spec.args)]
        names = [*positional, *(each.arg for each in spec.kwonlyargs)]
        defaults = [*spec.defaults, *spec.kw_defaults]
        given = {**keywords, **dict(zip(positional, arguments, strict=False))}
        for name, default in zip(names, [None] * (len(names) - len(defaults)) + defaults, strict=True):
            self.names[name] = given.get(name) or (Value() if default is None else self.value(default))
        if spec.vararg is not None:
            self.names[spec.vararg.arg] = Value(tuple(arguments[len(positional) :]))
        if spec.kwarg is not None:
            self.names[spec.kwarg.arg] = Value()


def _is_endless(node: ast.expr) -> bool:
    """Whether iteration over an expression does not end: ``iter(int, 1)``, ``itertools.count()``."""
    match node:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=given):
            return name in ("count", "cycle") or (name, len(given)) in (("iter", 2), ("repeat", 1))
    return False
