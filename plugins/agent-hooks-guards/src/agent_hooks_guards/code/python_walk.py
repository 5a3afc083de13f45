"""A visitor of the statements of Python code: it follows names, constants and calls, and runs nothing.

All code counts as run: both branches of a condition that is not known, each handler of an exception, functions that
nothing calls. A name that was given several values in branches has all of them, and an expression is evaluated for
each combination.
"""

from __future__ import annotations

import ast

from agent_hooks_guards.model.values import UNKNOWN

from .python_calls import attribute
from .python_expressions import PLACEHOLDER, Expressions, distinct
from .python_names import Scope, aliased
from .python_values import Value, is_exact, is_text, items_of, text_of, truth

_MOST_ROUNDS = 300
_COMPARING = frozenset(("startswith", "endswith", "match", "fnmatch"))


class Walk(Expressions):
    """One pass over a code."""

    def run(self, tree: ast.Module) -> None:
        """Run a module, then the functions that nothing called."""
        self.block(tree.body)
        while self.uncalled:
            _, (function, given) = self.uncalled.popitem()
            self.may_print()
            self.run_function(function, given, {})

    def block(self, statements: list[ast.stmt]) -> str:
        """Run statements; return how they end: ``""``, ``break``, ``continue`` or ``return``."""
        for statement in statements:
            self.step()
            visit = getattr(self, f"_{type(statement).__name__.lower()}", self._other)
            if signal := visit(statement):
                return str(signal)
        return ""

    def _other(self, node: ast.AST) -> str:
        """Visit the expressions and blocks of a statement of another kind."""
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.values(child)
            elif isinstance(child, ast.stmt):
                self.block([child])
            else:
                self._other(child)
        return ""

    def _expr(self, node: ast.Expr) -> str:
        values = self.values(node.value)
        if isinstance(node.value, ast.Name) and node.value.id == PLACEHOLDER:
            self.doubt("a part of the code is not known")
        return "return" if values[0].type == "never" else ""

    def _assign(self, node: ast.Assign) -> None:
        values = self.values(node.value)
        for target in node.targets:
            self.bind(target, values)

    def _annassign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.bind(node.target, self.values(node.value))

    def _augassign(self, node: ast.AugAssign) -> None:
        self.bind(node.target, self.values(ast.BinOp(node.target, node.op, node.value)))

    def _either(self, branches: list[list[ast.stmt]], test: ast.expr | None = None) -> str:
        """Run each of some branches, of which one will be taken: the first if ``test`` is true."""
        scope, before = self.scope, self.scope.names
        after, signals = [], set()
        for body in branches:
            scope.names = dict(before)
            if body is branches[0] and test is not None and not isinstance(test, ast.UnaryOp):
                self._narrow(test)
            signal = self.block(body)
            signals.add(signal)
            if not signal:
                after.append(scope.names)
        scope.names = dict(before)
        for each in after[:1]:
            scope.names = each
        self.has_choices |= len(after) > 1
        for other in after[1:]:
            for name, values in other.items():
                scope.names[name] = distinct([*scope.names.get(name, []), *values])
        return "" if after else signals.pop() if len(signals) == 1 else "return"

    def _narrow(self, test: ast.expr) -> None:
        """Let names that a condition compares with something stand for some files, and no longer for any."""
        for each in ast.walk(test):
            function = each.func if isinstance(each, ast.Call) else None
            compares = isinstance(each, ast.Compare) and isinstance(each.ops[0], (ast.Eq, ast.In))
            if not compares and not (isinstance(function, ast.Attribute) and function.attr in _COMPARING):
                continue
            for name in ast.walk(each):
                if isinstance(name, ast.Name) and is_text(value := self.scope.find(name.id)) and not is_exact(value):
                    some = text_of(value).replace(UNKNOWN, f"some{UNKNOWN}", 1)
                    self.bind(name, [Value(some, value.labels, value.type)])

    def _if(self, node: ast.If) -> str:
        tests = {truth(each) for each in self.values(node.test)}
        if tests in ({True}, {False}):
            return self.block(node.body if True in tests else node.orelse)
        return self._either([node.body, node.orelse], node.test)

    def _match(self, node: ast.Match) -> str:
        self.values(node.subject)
        return self._either([*(case.body for case in node.cases), []])

    def _for(self, node: ast.For | ast.AsyncFor) -> str:
        for iterable in self.values(node.iter):
            self.endless += iterable.type == "endless"
            before, start = dict(self.scope.names), self.work()
            for item in self.items(iterable):
                self.bind(node.target, [item])
                if self.block(node.body) in ("return", "break") or self.is_idle(start):
                    break
            self.endless -= iterable.type == "endless"
            if not items_of(iterable) or self.is_idle(start):
                self._forget_numbers(before)
        return self.block(node.orelse)

    _asyncfor = _for

    def _while(self, node: ast.While) -> str:
        is_endless, first, start = isinstance(node.test, ast.Constant), dict(self.scope.names), self.work()
        for _ in range(_MOST_ROUNDS):
            test, before = truth(self.values(node.test)[0]), dict(self.scope.names)
            if test is False:
                break
            self.endless += is_endless
            signal = self._either([node.body, []]) if test is None else self.block(node.body)
            self.endless -= is_endless
            is_over = signal in ("return", "break") or self.scope.names == before
            if test is None or is_over or self.is_idle(start):
                break
        self._forget_numbers(first)
        return self.block(node.orelse)

    def _forget_numbers(self, before: dict[str, list[Value]]) -> None:
        """Forget what was counted in a loop of which it is not known how often it runs."""
        for name, values in self.scope.names.items():
            if values is not before.get(name) and any(isinstance(each.it, int) for each in values):
                self.scope.names[name] = [Value()]

    def _try(self, node: ast.Try) -> str:
        signal = self.block(node.body) or self.block(node.orelse)
        self._either([[], *(handler.body for handler in node.handlers)])
        return self.block(node.finalbody) or (signal if not node.handlers else "")

    _trystar = _try

    def _with(self, node: ast.With | ast.AsyncWith) -> str:
        for item in node.items:
            values = self.values(item.context_expr)
            if item.optional_vars is not None:
                self.bind(item.optional_vars, values)
        return self.block(node.body)

    _asyncwith = _with

    def _import(self, node: ast.Import) -> None:
        for alias in node.names:
            self.note_import(alias.name)
            name = alias.name if alias.asname else alias.name.partition(".")[0]
            self.scope.names[alias.asname or name] = [Value(aliased(name), kind="name")]

    def _importfrom(self, node: ast.ImportFrom) -> None:
        module = aliased("" if node.level else node.module or "")
        self.note_import(module)
        for alias in node.names:
            if alias.name == "*":
                self.scope.stars.append(module)
            elif module:
                value = attribute(self, Value(module, kind="name"), alias.name)
                self.scope.names[alias.asname or alias.name] = [value]

    def _functiondef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.scope.names[node.name] = [self._lambda(node)]
        for decorator in node.decorator_list:
            self.values(decorator)

    _asyncfunctiondef = _functiondef

    def _classdef(self, node: ast.ClassDef) -> None:
        members: dict[str, Value] = {}
        for base in map(self.value, node.bases):
            members.update(base.it if base.type == "class" else {})
        around, self.scope = self.scope, Scope(self.scope)
        self.block(node.body)
        members.update((name, values[-1]) for name, values in self.scope.names.items())
        self.scope = around
        self.give_self(members, Value(dict(members), kind="instance"))
        self.scope.names[node.name] = [Value(members, kind="class")]

    def _return(self, node: ast.Return) -> str:
        if self.scope.returned is not None:
            self.scope.returned += [Value(None)] if node.value is None else self.values(node.value)
        return "return"

    def _raise(self, node: ast.Raise) -> str:
        self._other(node)
        return "return"

    def _global(self, node: ast.Global | ast.Nonlocal) -> None:
        self.scope.globals.update(node.names)

    _nonlocal = _global

    def _break(self, _node: ast.Break) -> str:
        return "break"

    def _continue(self, _node: ast.Continue) -> str:
        return "continue"
