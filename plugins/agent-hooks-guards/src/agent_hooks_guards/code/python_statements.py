"""Statements of Python code: what they do to names, and in which order."""

from __future__ import annotations

import ast

from agent_hooks_guards.model.values import UNKNOWN

from .python_conditions import narrow
from .python_names import attribute_name, module_name
from .python_scope import PLACEHOLDER, Scope
from .python_values import (
    MOST_ITEMS,
    Value,
    constant,
    is_text,
    items_of,
    labels_of,
    name,
    one_of,
    text_of,
    truth,
    unknown,
)

_MOST_ROUNDS = 300

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .python_walk import Walk


def _expression(walk: Walk, node: ast.Expr, scope: Scope) -> str:
    value = walk.value(node.value, scope)
    if isinstance(node.value, ast.Name) and node.value.id == PLACEHOLDER:
        walk.doubt("a part of the code is not known")
    return "return" if value.kind == "never" else ""


def _assign(walk: Walk, node: ast.Assign, scope: Scope) -> str:
    value = walk.value(node.value, scope)
    for target in node.targets:
        assign(walk, target, value, scope)
    return ""


def _annotated(walk: Walk, node: ast.AnnAssign, scope: Scope) -> str:
    walk.value(node.annotation, scope)
    if node.value is not None:
        assign(walk, node.target, walk.value(node.value, scope), scope)
    return ""


def _augmented(walk: Walk, node: ast.AugAssign, scope: Scope) -> str:
    old = walk.value(node.target, scope)
    new = walk.lifted([old, walk.value(node.value, scope)], lambda both: walk.operate(node.op, both[0], both[1], scope))
    assign(walk, node.target, new, scope)
    return ""


def assign(walk: Walk, target: ast.expr, value: Value, scope: Scope) -> None:
    """Assign a value to what stands on the left."""
    if isinstance(target, ast.Name):
        scope.owner(target.id).names[target.id] = value
    elif isinstance(target, (ast.Tuple, ast.List)):
        _unpack(walk, target.elts, value, scope)
    elif isinstance(target, ast.Starred):
        assign(walk, target.value, value, scope)
    elif isinstance(target, ast.Attribute):
        owner = walk.value(target.value, scope)
        if owner.kind == "name":
            walk.patched[attribute_name(owner.it, target.attr)] = value
        elif owner.kind in ("instance", "class") and isinstance(owner.parts, dict):
            owner.parts[target.attr] = value
    elif isinstance(target, ast.Subscript):
        _assign_item(walk, walk.value(target.value, scope), walk.value(target.slice, scope), value, scope)


def _unpack(walk: Walk, targets: list[ast.expr], value: Value, scope: Scope) -> None:
    items = items_of(value)
    star = next((at for at, each in enumerate(targets) if isinstance(each, ast.Starred)), None)
    if items is None and value.kind == "name" and UNKNOWN in value.it:
        items = [unknown(), value]  # an item of a module's names: the name, and what it stands for
    elif items is None:
        items = [unknown(labels_of(value))] * len(targets)
    elif star is not None:
        behind = len(targets) - star - 1
        middle = items[star : len(items) - behind]
        items = [*items[:star], Value("list", middle), *items[len(items) - behind :]]
    for at, target in enumerate(targets):
        assign(walk, target, items[at] if at < len(items) else unknown(), scope)


def _assign_item(walk: Walk, owner: Value, index: Value, value: Value, scope: Scope) -> None:
    key = index.it if index.kind == "constant" else None
    if owner.kind == "name" and owner.it == "os.environ":
        walk.environment[text_of(index)] = value
    elif owner.kind == "name" and owner.it == "globals()":
        scope.top().names[str(key)] = value
    elif owner.kind == "name" and owner.it.endswith(".__dict__"):
        walk.patched[attribute_name(owner.it[:-9], str(key))] = value
    elif owner.kind == "dict" and key is not None:
        if len(owner.it) < MOST_ITEMS:
            owner.it[key] = value
    elif owner.kind == "list" and isinstance(key, int) and -len(owner.it) <= key < len(owner.it):
        owner.it[key] = value


def _if(walk: Walk, node: ast.If, scope: Scope) -> str:
    is_true = truth(walk.value(node.test, scope))
    if is_true is not None:
        return walk.block(node.body if is_true else node.orelse, scope)
    return _either(walk, scope, [(node.body, node.test), (node.orelse, None)])


def _either(walk: Walk, scope: Scope, branches: list[tuple[list[ast.stmt], ast.expr | None]]) -> str:
    """Run each of some branches, of which one will be taken."""
    before = dict(scope.names)
    after: list[dict[str, Value]] = []
    signals = set()
    for body, test in branches:
        scope.names = dict(before)
        narrowed = narrow(walk, test, scope) if test is not None else {}
        signal = walk.block(body, scope)
        for each, value in narrowed.items():
            if scope.names.get(each) is value and each in before:
                scope.names[each] = before[each]
        if signal:
            signals.add(signal)
        else:
            after.append(scope.names)
    if not after:
        scope.names = before
        return signals.pop() if len(signals) == 1 else "return"
    scope.names = _merged(after)
    return ""


def _for(walk: Walk, node: ast.For | ast.AsyncFor, scope: Scope) -> str:
    iterable = walk.iterated(walk.value(node.iter, scope))
    items = items_of(iterable)
    is_endless = iterable.kind == "name" and iterable.it == "endless()"
    walk.endless += is_endless
    if items is None:
        assign(walk, node.target, walk.item_of(iterable), scope)
        _round(walk, node.body, scope)
    else:
        leaves = walk.rounds()
        for item in items:
            if leaves():
                assign(walk, node.target, unknown(labels_of(iterable)), scope)
                _round(walk, node.body, scope)
                break
            assign(walk, node.target, item, scope)
            signal = walk.block(node.body, scope)
            if signal == "break":
                break
            if signal == "return":
                return signal
    walk.endless -= is_endless
    return walk.block(node.orelse, scope)


def _round(walk: Walk, body: list[ast.stmt], scope: Scope) -> None:
    """Run a loop's body, of which it is not known how often it runs."""
    before = dict(scope.names)
    walk.block(body, scope)
    grown = {
        each.target.id
        for each in ast.walk(ast.Module(body, []))
        if isinstance(each, ast.AugAssign) and isinstance(each.target, ast.Name)
    }
    for each in grown & scope.names.keys():
        value = scope.names[each]
        if value.kind == "constant":
            text = constant(text_of(value) + UNKNOWN, value.labels) if is_text(value) else unknown(value.labels)
            scope.names[each] = text
    scope.names = _merged([before, scope.names])


_WAITING = frozenset(
    "sleep wait communicate join input read readline recv accept get poll select acquire wait_for".split()
)


def _is_hasty(loop: ast.While) -> bool:
    """Whether a loop's body neither waits for anything nor leaves the loop."""
    for node in ast.walk(loop):
        if isinstance(node, (ast.Break, ast.Return, ast.Raise, ast.Await, ast.With)):
            return False
        name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
        if name in _WAITING:
            return False
    return True


def _while(walk: Walk, node: ast.While, scope: Scope) -> str:
    is_endless = isinstance(node.test, ast.Constant)
    leaves = walk.rounds()
    for _ in range(_MOST_ROUNDS):
        is_true = truth(walk.value(node.test, scope))
        if is_true is False:
            break
        before = dict(scope.names)
        if is_true is None or leaves():
            narrow(walk, node.test, scope)
            _round(walk, node.body, scope)
            break
        hasty = is_endless and _is_hasty(node)
        walk.endless += is_endless
        walk.hasty += hasty
        signal = walk.block(node.body, scope)
        walk.endless -= is_endless
        walk.hasty -= hasty
        if signal == "return":
            return signal
        if signal == "break" or scope.names == before:
            break
    return walk.block(node.orelse, scope)


def _try(walk: Walk, node: ast.Try, scope: Scope) -> str:
    signal = walk.block(node.body, scope) or walk.block(node.orelse, scope)
    after = [scope.names]
    for handler in node.handlers:
        scope.names = dict(after[0])
        if handler.name:
            scope.names[handler.name] = unknown()
        if not walk.block(handler.body, scope):
            after.append(scope.names)
    scope.names = _merged(after)
    last = walk.block(node.finalbody, scope)
    return last or (signal if not node.handlers else "")


def _with(walk: Walk, node: ast.With | ast.AsyncWith, scope: Scope) -> str:
    for item in node.items:
        value = walk.value(item.context_expr, scope)
        value = walk.operator(value, "__enter__", [], scope) or value
        if item.optional_vars is not None:
            assign(walk, item.optional_vars, value, scope)
    return walk.block(node.body, scope)


def _import(walk: Walk, node: ast.Import, scope: Scope) -> str:
    for alias in node.names:
        walk.imported(alias.name, scope)
        if alias.asname:
            scope.names[alias.asname] = name(module_name(alias.name))
        else:
            first = alias.name.partition(".")[0]
            scope.names[first] = name(module_name(first))
    return ""


def _import_from(walk: Walk, node: ast.ImportFrom, scope: Scope) -> str:
    if node.level or not node.module:
        return ""
    walk.imported(node.module, scope)
    module = module_name(node.module)
    for alias in node.names:
        if alias.name == "*":
            scope.stars.append(module)
        else:
            scope.names[alias.asname or alias.name] = walk.attribute(name(module), alias.name, scope)
    return ""


def _define(walk: Walk, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> str:
    function = Value("function", node, parts=(scope, defaults(walk, node.args, scope)))
    walk.uncalled[node] = (function, None)
    value = function
    for decorator in reversed(node.decorator_list):
        made = walk.call(walk.value(decorator, scope), [value], {}, scope)
        value = made if made.kind != "unknown" else value
    scope.names[node.name] = value
    return ""


def defaults(walk: Walk, arguments: ast.arguments, scope: Scope) -> dict[str, Value]:
    """Return the values that a function's arguments have where nothing is given."""
    positional = [*arguments.posonlyargs, *arguments.args]
    made = dict(zip([each.arg for each in positional[::-1]], arguments.defaults[::-1], strict=False))
    made.update(
        (each.arg, default)
        for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        if default
    )
    return {each: walk.value(default, scope) for each, default in made.items()}


def _class(walk: Walk, node: ast.ClassDef, scope: Scope) -> str:
    for keyword in node.keywords:
        walk.value(keyword.value, scope)
    bases = [walk.value(base, scope) for base in node.bases]
    inside = Scope(scope)
    walk.block(node.body, inside)
    members: dict[str, Value] = {}
    for base in reversed(bases):
        if base.kind == "class":
            members.update(base.parts)
    members.update(inside.names)
    value = Value("class", node, parts=members)
    instance = Value("instance", value, parts={})
    for each in inside.names.values():
        if each.kind == "function" and each.it in walk.uncalled:
            walk.uncalled[each.it] = (each, instance)
    for decorator in reversed(node.decorator_list):
        made = walk.call(walk.value(decorator, scope), [value], {}, scope)
        value = made if made.kind != "unknown" else value
    scope.names[node.name] = value
    return ""


def _return(walk: Walk, node: ast.Return, scope: Scope) -> str:
    value = walk.value(node.value, scope) if node.value is not None else constant(None)
    around: Scope | None = scope
    while around is not None and around.returned is None:
        around = around.parent
    if around is not None and around.returned is not None:
        around.returned.append(value)
    return "return"


def _raise(walk: Walk, node: ast.Raise, scope: Scope) -> str:
    if node.exc is not None:
        walk.value(node.exc, scope)
    return "return"


def _global(walk: Walk, node: ast.Global, scope: Scope) -> str:
    del walk
    scope.globals.update(node.names)
    return ""


def _nonlocal(walk: Walk, node: ast.Nonlocal, scope: Scope) -> str:
    del walk
    scope.nonlocals.update(node.names)
    return ""


def _assert(walk: Walk, node: ast.Assert, scope: Scope) -> str:
    walk.value(node.test, scope)
    if node.msg is not None:
        walk.value(node.msg, scope)
    return ""


def _delete(walk: Walk, node: ast.Delete, scope: Scope) -> str:
    del walk
    for target in node.targets:
        if isinstance(target, ast.Name):
            scope.names.pop(target.id, None)
    return ""


def _match(walk: Walk, node: ast.Match, scope: Scope) -> str:
    walk.value(node.subject, scope)
    return _either(walk, scope, [*((case.body, None) for case in node.cases), ([], None)])


def _break(walk: Walk, node: ast.Break, scope: Scope) -> str:
    del walk, node, scope
    return "break"


def _continue(walk: Walk, node: ast.Continue, scope: Scope) -> str:
    del walk, node, scope
    return "continue"


def _merged(choices: list[dict[str, Value]]) -> dict[str, Value]:
    """Return the names after one of some branches."""
    first = choices[0]
    if len(choices) == 1:
        return first
    made = dict(first)
    for other in choices[1:]:
        for each, value in other.items():
            if each not in made:
                made[each] = value
            elif made[each] is not value:
                made[each] = one_of([made[each], value])
    return made


STATEMENTS: dict[type, Callable[..., str]] = {
    ast.Expr: _expression,
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.If: _if,
    ast.For: _for,
    ast.AsyncFor: _for,
    ast.While: _while,
    ast.Try: _try,
    ast.TryStar: _try,
    ast.With: _with,
    ast.AsyncWith: _with,
    ast.Import: _import,
    ast.ImportFrom: _import_from,
    ast.FunctionDef: _define,
    ast.AsyncFunctionDef: _define,
    ast.ClassDef: _class,
    ast.Return: _return,
    ast.Raise: _raise,
    ast.Global: _global,
    ast.Nonlocal: _nonlocal,
    ast.Assert: _assert,
    ast.Delete: _delete,
    ast.Match: _match,
    ast.Break: _break,
    ast.Continue: _continue,
}
