"""A visitor of the statements and expressions of Python code: it follows constants, names and calls, and runs nothing.

All code counts as run: both branches of a condition that is not known, each handler of an exception, functions that
nothing calls.
"""

from __future__ import annotations

import ast
import sys

from agent_hooks_guards.model.values import UNKNOWN, Data

from .python_calls import Call, attribute, item_of_name
from .python_state import PLACEHOLDER, Findings, Scope, TooMuchError, aliased, parse
from .python_values import (
    Value,
    binary,
    call_constant,
    is_text,
    items_of,
    labels_of,
    native,
    subscript,
    text_of,
    truth,
    wrap,
)

_DEEPEST = 8
_Comprehension = ast.ListComp | ast.SetComp | ast.GeneratorExp
_MOST_ROUNDS = 300


class Walk(Findings):
    """A walk over a syntax tree. A visitor method has the name of its node in lower case."""

    def run(self, tree: ast.Module) -> None:
        """Run a module, then the functions that nothing called."""
        self.block(tree.body)
        while self.uncalled:
            _, function = self.uncalled.popitem()
            self.may_print()
            self.run_function(function, [], {})

    # -- statements ----------------------------------------------------------------------------------------------------

    def block(self, statements: list[ast.stmt]) -> str:
        """Run statements; return how they end: ``""``, ``break``, ``continue`` or ``return``."""
        for statement in statements:
            self.step()
            if isinstance(statement, (ast.Break, ast.Continue)):
                return type(statement).__name__.lower()
            visit = getattr(self, f"_{type(statement).__name__.lower()}", self._other)
            if signal := visit(statement):
                return str(signal)
        return ""

    def _other(self, node: ast.AST) -> str:
        """Visit the expressions and blocks of a statement of another kind."""
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.value(child)
            elif isinstance(child, ast.stmt):
                self.block([child])
            else:
                self._other(child)
        return ""

    def _expr(self, node: ast.Expr) -> str:
        if isinstance(node.value, ast.Name) and node.value.id == PLACEHOLDER:
            self.doubt("a part of the code is not known")
        return "return" if self.value(node.value).type == "never" else ""

    def _assign(self, node: ast.Assign | ast.AnnAssign) -> None:
        if node.value is not None:
            value = self.value(node.value)
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                self.bind(target, value)

    _annassign = _assign

    def _augassign(self, node: ast.AugAssign) -> None:
        value = self.value(ast.BinOp(node.target, node.op, node.value))
        # A number that a loop counts does not stay the same.
        self.bind(node.target, Value() if isinstance(value.it, int) and self.loops else value)

    def _either(self, branches: list[list[ast.stmt]], narrowed: dict[str, Value] | None = None) -> str:
        """Run each branch of an unknown condition, the first with the names ``narrowed``; keep the names of one."""
        self.has_choice = True
        before, after, signals = self.scope.names, [], set()
        for body in branches:
            self.scope.names = {**before, **(narrowed or {})} if body is branches[0] else dict(before)
            signals.add(signal := self.block(body))
            if not signal:
                after.append(self.scope.names)
        self.scope.names = after[-self.takes_last] if after else before
        return "" if after else signals.pop() if len(signals) == 1 else "return"

    def _if(self, node: ast.If) -> str:
        test, left = truth(self.value(node.test)), node.test.left if isinstance(node.test, ast.Compare) else None
        if test is not None:
            return self.block(node.body if test else node.orelse)
        if isinstance(left, ast.Name) and (value := self.scope.find(left.id)).it == UNKNOWN:
            # A name that is compared with something stands for some files, and no longer for any.
            return self._either([node.body, node.orelse], {left.id: Value(f"some{UNKNOWN}", value.labels)})
        return self._either([node.body, node.orelse])

    def _for(self, node: ast.For | ast.AsyncFor) -> str:
        iterable, start = self.value(node.iter), self.work()
        self.loops += 1
        for item in self.items(iterable):
            self.bind(node.target, item)
            if self.block(node.body) in ("return", "break") or self.is_idle(start):
                break
        self.loops -= 1
        return self.block(node.orelse)

    _asyncfor = _for

    def _while(self, node: ast.While) -> str:
        is_endless, start = isinstance(node.test, ast.Constant), self.work()
        self.loops, self.endless = self.loops + 1, self.endless + is_endless
        for _ in range(_MOST_ROUNDS):
            test, before = truth(self.value(node.test)), dict(self.scope.names)
            if test is False:
                break
            signal = self._either([node.body, []]) if test is None else self.block(node.body)
            is_over = signal in ("return", "break") or self.scope.names == before
            if test is None or is_over or self.is_idle(start):
                break
        self.loops, self.endless = self.loops - 1, self.endless - is_endless
        return self.block(node.orelse)

    def _try(self, node: ast.Try) -> str:
        signal = self.block(node.body) or self.block(node.orelse)
        self._either([[], *(handler.body for handler in node.handlers)])
        return self.block(node.finalbody) or (signal if not node.handlers else "")

    def _with(self, node: ast.With | ast.AsyncWith) -> str:
        for item in node.items:
            value = self.value(item.context_expr)
            if item.optional_vars is not None:
                self.bind(item.optional_vars, value)
        return self.block(node.body)

    _asyncwith = _with

    def _import(self, node: ast.Import) -> None:
        for alias in node.names:
            self.note_import(alias.name)
            name = alias.name if alias.asname else alias.name.partition(".")[0]
            self.scope.names[alias.asname or name] = Value(aliased(name), kind="name")

    def _importfrom(self, node: ast.ImportFrom) -> None:
        module = aliased("" if node.level else node.module or "")
        self.note_import(module)
        for alias in node.names:
            if alias.name == "*":
                self.scope.stars.append(module)
            elif module:
                value = attribute(self, Value(module, kind="name"), alias.name)
                self.scope.names[alias.asname or alias.name] = value

    def _functiondef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.scope.names[node.name] = self._lambda(node)
        for decorator in node.decorator_list:
            self.value(decorator)

    _asyncfunctiondef = _functiondef

    def _classdef(self, node: ast.ClassDef) -> None:
        """Run the body of a class; its methods and attributes are those of every object that is not known."""
        around, self.scope = self.scope, Scope(self.scope)
        self.block(node.body)
        for name, value in self.scope.names.items():
            self.set_member(name, value)
        self.scope = around
        self.scope.names[node.name] = Value(node.name, kind="class")

    def _return(self, node: ast.Return) -> str:
        self.scope.returned.append(Value(None) if node.value is None else self.value(node.value))
        return "return"

    def _raise(self, node: ast.Raise) -> str:
        self._other(node)
        return "return"

    def _global(self, node: ast.Global | ast.Nonlocal) -> None:
        self.scope.globals.update(node.names)

    _nonlocal = _global

    # -- expressions ---------------------------------------------------------------------------------------------------

    def value(self, node: ast.expr) -> Value:
        """Return the value of an expression, and record its effects."""
        visit = getattr(self, f"_{type(node).__name__.lower()}", self._unknown)
        value: Value = visit(node)
        self.step(value)
        return value

    def _unknown(self, node: ast.expr) -> Value:
        """Return an unknown value with the origins of the parts of an expression."""
        parts = [each.iter if isinstance(each, ast.comprehension) else each for each in ast.iter_child_nodes(node)]
        return Value(UNKNOWN, labels_of(*(self.value(each) for each in parts if isinstance(each, ast.expr))))

    def bind(self, target: ast.expr, value: Value) -> None:
        """Assign a value to a target."""
        if isinstance(target, ast.Name):
            scope = self.scope.top() if target.id in self.scope.globals else self.scope
            scope.names[target.id] = value
        elif isinstance(target, (ast.Tuple, ast.List)):
            items, is_spread = items_of(value) or [], any(isinstance(each, ast.Starred) for each in target.elts)
            for at, each in enumerate(target.elts):
                known = at < len(items) and not is_spread
                self.bind(each, items[at] if known else Value(UNKNOWN, labels_of(value)))
        elif isinstance(target, ast.Attribute):
            self.value(target.value)
            self.set_member(target.attr, value)
        elif isinstance(target, ast.Subscript):
            owner, key = self.value(target.value), native(self.value(target.slice))
            if owner.type == "name" and owner.it == "os.environ":
                self.environment[str(key)] = value
            elif isinstance(owner.it, dict) and not isinstance(key, (list, dict)):
                owner.it[key] = value

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
        return item_of_name(self, owner.it, index) if owner.type == "name" else subscript(owner, native(index))

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
        if test is not None:
            return self.value(node.body if test else node.orelse)
        self.has_choice = True
        return (self.value(node.body), self.value(node.orelse))[self.takes_last]

    def _joinedstr(self, node: ast.JoinedStr) -> Value:
        parts = [self.value(each) for each in node.values]
        return wrap("".join(map(text_of, parts)), labels_of(*parts))

    def _formattedvalue(self, node: ast.FormattedValue) -> Value:
        value = self.value(node.value)
        return Value(UNKNOWN if node.format_spec else text_of(value), labels_of(value))

    def _list(self, node: ast.List | ast.Set | ast.Tuple) -> Value:
        items = self._arguments(node.elts)
        return Value(tuple(items) if isinstance(node, ast.Tuple) else items)

    _set = _tuple = _list

    def _dict(self, node: ast.Dict) -> Value:
        made: dict[object, Value] = {}
        for key, each in zip(node.keys, node.values, strict=True):
            value = self.value(each)
            if key is None and isinstance(value.it, dict) and not value.type:
                made.update(value.it)
            else:
                made[key.value if isinstance(key, ast.Constant) else key and text_of(self.value(key))] = value
        return Value(made)

    def _listcomp(self, node: _Comprehension) -> Value:
        made: list[Value] = []
        around, self.scope = self.scope, Scope(self.scope)
        self._generate(node, node.generators, made)
        self.scope = around
        return Value(made)

    _setcomp = _generatorexp = _listcomp

    def _generate(self, node: _Comprehension, generators: list[ast.comprehension], made: list[Value]) -> None:
        """Add the items of a comprehension."""
        if not generators:
            made.append(self.value(node.elt))
            return
        iterable, start = self.value(generators[0].iter), self.work()
        for item in self.items(iterable):
            if self.is_idle(start):
                break
            self.bind(generators[0].target, item)
            if all(truth(self.value(each)) is not False for each in generators[0].ifs):
                self._generate(node, generators[1:], made)

    def _lambda(self, node: ast.Lambda | ast.FunctionDef | ast.AsyncFunctionDef) -> Value:
        function = Value(node, kind="function", owner=self.scope)
        self.uncalled[node] = function
        return function

    def _namedexpr(self, node: ast.NamedExpr) -> Value:
        value = self.value(node.value)
        self.bind(node.target, value)
        return value

    def _await(self, node: ast.Await) -> Value:
        return self.value(node.value)

    # -- calls ---------------------------------------------------------------------------------------------------------

    def call(self, function: Value, arguments: list[Value], keywords: dict[str, Value]) -> Value:
        """Call something."""
        self.step()
        owner, kind = function.owner, function.type
        if kind == "function":
            return self.run_function(function, arguments, keywords)
        if kind == "name":
            return Call(self, function.it, arguments, keywords).run()
        if kind == "class":
            if "__init__" in self.members:
                self.call(self.members["__init__"], [Value(), *arguments], keywords)
            return Value(UNKNOWN, labels_of(*arguments))
        if kind == "method":
            member = self.members.get(function.it) if owner.type == "class" or owner.it == UNKNOWN else None
            if member is not None and member.type == "function":
                first = [each.arg for each in member.it.args.args[:1]]
                given = [owner, *arguments] if first in (["self"], ["cls"]) else arguments
                return self.run_function(member, given, keywords)
            if not owner.type and (made := call_constant(owner, function.it, arguments, keywords)) is not None:
                return made
            return Call(self, function.it, arguments, keywords).run_method(owner)
        self.may_print()
        self.pass_on(arguments, keywords)
        return Value(UNKNOWN, labels_of(function, *arguments, *keywords.values()))

    def pass_on(self, arguments: list[Value], keywords: dict[str, Value]) -> None:
        """Call a function that is an argument of something unknown: a thread, a pool, a timer, an exit handler."""
        named = [keywords[each] for each in ("target", "function", "func", "fn") if each in keywords]
        for at, value in enumerate([*arguments, *named]):
            if value.type in ("name", "function", "method"):
                rest = arguments[at + 1 :]
                spread = keywords.get("args") or (rest[0] if len(rest) == 1 else Value())
                self.call(value, items_of(spread) or [] if isinstance(spread.it, (list, tuple)) else rest, {})
                return

    def run_function(self, function: Value, arguments: list[Value], keywords: dict[str, Value]) -> Value:
        """Run the body of a function; return a value that it may return."""
        node, again = function.it, self.running.count(function.it)
        self.uncalled.pop(node, None)
        if again > 2 or len(self.running) > _DEEPEST:
            return Value(UNKNOWN, labels_of(*arguments))
        if again == 2:
            # A number that counts the calls does not stay the same.
            arguments = [Value() if isinstance(each.it, int) else each for each in arguments]
        around, self.scope = self.scope, Scope(function.owner)
        self._bind_arguments(node.args, arguments, keywords)
        self.running.append(node)
        try:
            if isinstance(node, ast.Lambda):
                return self.value(node.body)
            self.block(node.body)
            found = [each for each in self.scope.returned if each.it is not None]
        finally:
            self.scope = around
            self.running.pop()
        # One of several texts is not known; of objects any will do.
        is_choice = any(each != found[0] for each in found) and not any(each.type for each in found)
        return Value(UNKNOWN, labels_of(*found)) if is_choice else found[-1] if found else Value(None)

    def _bind_arguments(self, spec: ast.arguments, arguments: list[Value], keywords: dict[str, Value]) -> None:
        positional = [each.arg for each in (*spec.posonlyargs, *spec.args)]
        by_name = [each.arg for each in spec.kwonlyargs]
        defaults: dict[str, ast.expr | None] = dict(zip(positional[::-1], spec.defaults[::-1], strict=False))
        defaults.update(zip(by_name, spec.kw_defaults, strict=True))
        given = {**keywords, **dict(zip(positional, arguments, strict=False))}
        for name in (*positional, *by_name):
            default = defaults.get(name)
            self.scope.names[name] = given.get(name) or (Value() if default is None else self.value(default))
        if spec.vararg is not None:
            self.scope.names[spec.vararg.arg] = Value(tuple(arguments[len(positional) :]))
        if spec.kwarg is not None:
            self.scope.names[spec.kwarg.arg] = Value(dict(given))

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
        self.running.append(tree)
        *before, last = tree.body
        self.block(before if isinstance(last, ast.Expr) else tree.body)
        result = self.value(last.value) if isinstance(last, ast.Expr) else Value(None)
        self.running.pop()
        return result

    def note_import(self, module: str) -> None:
        """Note that a module that is not Python's own may print."""
        if module.partition(".")[0] not in sys.stdlib_module_names or module == "this":
            self.may_print()
