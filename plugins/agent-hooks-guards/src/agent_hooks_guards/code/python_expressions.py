"""Expressions of Python code: what they are known to be."""

from __future__ import annotations

import ast

from agent_hooks_guards.model.values import NO_LABELS, UNKNOWN

from .python_conditions import narrow
from .python_scope import METHODS, Scope
from .python_statements import assign, defaults
from .python_texts import formatted
from .python_values import (
    MOST_ITEMS,
    Value,
    binary,
    constant,
    is_text,
    items_of,
    labels_of,
    one_of,
    text_of,
    truth,
    unknown,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .python_walk import Walk


def _constant(walk: Walk, node: ast.Constant, scope: Scope) -> Value:
    del scope
    if isinstance(node.value, str) and UNKNOWN in node.value:
        return constant(node.value, walk.labels)
    return constant(node.value)


def _name(walk: Walk, node: ast.Name, scope: Scope) -> Value:
    value = scope.find(node.id)
    if value is not None:
        return value
    return walk.builtin(node.id)


def _tuple(walk: Walk, node: ast.Tuple | ast.List | ast.Set, scope: Scope) -> Value:
    items: list[Value] = []
    for each in node.elts:
        if isinstance(each, ast.Starred):
            value = walk.value(each.value, scope)
            items += items_of(value) or [unknown(labels_of(value))]
        else:
            items.append(walk.value(each, scope))
    return Value(type(node).__name__.lower(), items[:MOST_ITEMS])


def _dict(walk: Walk, node: ast.Dict, scope: Scope) -> Value:
    made: dict[object, Value] = {}
    labels: frozenset[str] = NO_LABELS
    for key, item in zip(node.keys, node.values, strict=True):
        value = walk.value(item, scope)
        if key is None:
            if value.kind == "dict":
                made.update(value.it)
            else:
                labels |= labels_of(value)
            continue
        known = walk.value(key, scope)
        if known.kind == "constant":
            made[known.it] = value
        else:
            labels |= labels_of(value, known)
    return Value("dict", made, labels)


def _attribute(walk: Walk, node: ast.Attribute, scope: Scope) -> Value:
    owner = walk.value(node.value, scope)
    return walk.lifted([owner], lambda owners: walk.attribute(owners[0], node.attr, scope))


def _subscript(walk: Walk, node: ast.Subscript, scope: Scope) -> Value:
    owner, index = walk.value(node.value, scope), walk.value(node.slice, scope)
    return walk.lifted([owner, index], lambda both: walk.item(both[0], both[1], scope))


def _slice(walk: Walk, node: ast.Slice, scope: Scope) -> Value:
    return Value(
        "slice",
        [constant(None) if each is None else walk.value(each, scope) for each in (node.lower, node.upper, node.step)],
    )


def _binary(walk: Walk, node: ast.BinOp, scope: Scope) -> Value:
    # A long sum leans to the left: it is as deep as it is long.
    chain: list[ast.BinOp] = []
    left: ast.expr = node
    while isinstance(left, ast.BinOp):
        chain.append(left)
        left = left.left
    value = walk.value(left, scope)
    for each in reversed(chain):
        walk.step()
        value = _operated(walk, each.op, value, walk.value(each.right, scope), scope)
    return value


def _operated(walk: Walk, sign: ast.operator, left: Value, right: Value, scope: Scope) -> Value:
    return walk.lifted([left, right], lambda both: walk.operate(sign, both[0], both[1], scope))


def _unary(walk: Walk, node: ast.UnaryOp, scope: Scope) -> Value:
    value = walk.value(node.operand, scope)
    if isinstance(node.op, ast.Not):
        is_true = truth(value)
        return unknown() if is_true is None else constant(not is_true)
    if value.kind == "constant" and isinstance(value.it, (int, float)):
        it = value.it
        return constant(
            -it
            if isinstance(node.op, ast.USub)
            else ~it
            if isinstance(node.op, ast.Invert) and isinstance(it, int)
            else it
        )
    word = {"USub": "__neg__", "UAdd": "__pos__", "Invert": "__invert__"}[type(node.op).__name__]
    return walk.operator(value, word, [], scope) or unknown(labels_of(value))


def _logical(walk: Walk, node: ast.BoolOp, scope: Scope) -> Value:
    is_and = isinstance(node.op, ast.And)
    found = []
    for each in node.values:
        value = walk.value(each, scope)
        is_true = truth(value)
        if is_true is None or each is node.values[-1] or is_true != is_and:
            found.append(value)
        if is_true is not None and is_true != is_and:
            break
    return one_of(found)


def _compare(walk: Walk, node: ast.Compare, scope: Scope) -> Value:
    values = [walk.value(each, scope) for each in (node.left, *node.comparators)]
    if len(values) > 2:
        return unknown()
    word = type(node.ops[0]).__name__
    left, right = values
    if left.kind in ("instance", "class"):
        made = walk.operator(left, f"__{METHODS.get(word, word.lower())}__", [right], scope)
        if made is not None:
            return made
    if (
        word in ("Is", "IsNot")
        and right.kind == "constant"
        and right.it is None
        and left.kind
        not in (
            "unknown",
            "any",
            "name",
            "method",
            "instance",
        )
    ):
        return constant((left.kind == "constant" and left.it is None) == (word == "Is"))
    made = binary(word, left, right)
    return made if made.kind == "constant" else unknown()


def _choice(walk: Walk, node: ast.IfExp, scope: Scope) -> Value:
    is_true = truth(walk.value(node.test, scope))
    if is_true is None:
        return one_of([walk.value(node.body, scope), walk.value(node.orelse, scope)])
    return walk.value(node.body if is_true else node.orelse, scope)


def _formatted(walk: Walk, node: ast.JoinedStr, scope: Scope) -> Value:
    values = [walk.value(each.value if isinstance(each, ast.FormattedValue) else each, scope) for each in node.values]
    specs = [
        text_of(walk.value(each.format_spec, scope))
        if isinstance(each, ast.FormattedValue) and each.format_spec
        else ""
        for each in node.values
    ]

    def join(parts: list[Value]) -> Value:
        made = []
        for each, part, spec in zip(node.values, parts, specs, strict=True):
            is_quoted = isinstance(each, ast.FormattedValue) and each.conversion == ord("r") and is_text(part)
            made.append(repr(part.it) if is_quoted else formatted(part, spec))
        return constant("".join(made), labels_of(*parts))

    return walk.lifted(values, join)


def _walrus(walk: Walk, node: ast.NamedExpr, scope: Scope) -> Value:
    value = walk.value(node.value, scope)
    assign(walk, node.target, value, scope)
    # A comprehension's name is one of what is around it.
    if scope.parent is not None:
        scope.parent.names[node.target.id] = value
    return value


def _lambda(walk: Walk, node: ast.Lambda, scope: Scope) -> Value:
    function = Value("function", node, parts=(scope, defaults(walk, node.args, scope)))
    walk.uncalled[node] = (function, None)
    return function


def _comprehension(walk: Walk, node: ast.ListComp | ast.SetComp | ast.GeneratorExp, scope: Scope) -> Value:
    made: list[Value] = []
    _generate(walk, node.generators, Scope(scope), lambda inside: made.append(walk.value(node.elt, inside)))
    return Value("set" if isinstance(node, ast.SetComp) else "list", made)


def _dict_comprehension(walk: Walk, node: ast.DictComp, scope: Scope) -> Value:
    made: dict[object, Value] = {}
    labels: set[str] = set()

    def put(inside: Scope) -> None:
        key, value = walk.value(node.key, inside), walk.value(node.value, inside)
        if key.kind == "constant":
            made[key.it] = value
        else:
            labels.update(labels_of(key, value))

    _generate(walk, node.generators, Scope(scope), put)
    return Value("dict", made, frozenset(labels))


def _generate(walk: Walk, generators: list[ast.comprehension], scope: Scope, put: Callable[[Scope], None]) -> None:
    if not generators:
        put(scope)
        return
    first, *rest = generators
    iterable = walk.iterated(walk.value(first.iter, scope))
    items = items_of(iterable)
    is_endless = iterable.kind == "name" and iterable.it == "endless()"
    walk.endless += is_endless
    leaves = walk.rounds()
    for item in [walk.item_of(iterable)] if items is None else items:
        walk.step()
        if leaves():
            assign(walk, first.target, unknown(labels_of(iterable)), scope)
            _generate(walk, rest, scope, put)
            break
        assign(walk, first.target, item, scope)
        if all(_holds(walk, test, scope) for test in first.ifs):
            _generate(walk, rest, scope, put)
    walk.endless -= is_endless


def _holds(walk: Walk, test: ast.expr, scope: Scope) -> bool:
    is_true = truth(walk.value(test, scope))
    if is_true is None:
        narrow(walk, test, scope)
    return is_true is not False


def _inner(walk: Walk, node: ast.Await | ast.Starred | ast.FormattedValue, scope: Scope) -> Value:
    return walk.value(node.value, scope)


def _yield(walk: Walk, node: ast.Yield | ast.YieldFrom, scope: Scope) -> Value:
    value = walk.value(node.value, scope) if node.value is not None else constant(None)
    around: Scope | None = scope
    while around is not None and around.returned is None:
        around = around.parent
    if around is not None and around.returned is not None:
        items = items_of(value) if isinstance(node, ast.YieldFrom) else None
        around.returned += [value] if items is None else items
    return unknown()


def _call(walk: Walk, node: ast.Call, scope: Scope) -> Value:
    function = walk.value(node.func, scope)
    arguments: list[Value] = []
    for each in node.args:
        value = walk.value(each, scope)
        if isinstance(each, ast.Starred):
            arguments += items_of(value) or [unknown(labels_of(value))]
        else:
            arguments.append(value)
    keywords: dict[str, Value] = {}
    for keyword in node.keywords:
        value = walk.value(keyword.value, scope)
        if keyword.arg is not None:
            keywords[keyword.arg] = value
        elif value.kind == "dict":
            keywords.update((str(key), each) for key, each in value.it.items())
    given = len(arguments)
    return walk.lifted(
        [function, *arguments, *keywords.values()],
        lambda all_: walk.call(
            all_[0], all_[1 : given + 1], dict(zip(keywords, all_[given + 1 :], strict=True)), scope
        ),
    )


EXPRESSIONS: dict[type, Callable[..., Value]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Tuple: _tuple,
    ast.List: _tuple,
    ast.Set: _tuple,
    ast.Dict: _dict,
    ast.Attribute: _attribute,
    ast.Subscript: _subscript,
    ast.Slice: _slice,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.BoolOp: _logical,
    ast.Compare: _compare,
    ast.IfExp: _choice,
    ast.JoinedStr: _formatted,
    ast.NamedExpr: _walrus,
    ast.Lambda: _lambda,
    ast.ListComp: _comprehension,
    ast.SetComp: _comprehension,
    ast.GeneratorExp: _comprehension,
    ast.DictComp: _dict_comprehension,
    ast.Await: _inner,
    ast.Starred: _inner,
    ast.FormattedValue: _inner,
    ast.Yield: _yield,
    ast.YieldFrom: _yield,
    ast.Call: _call,
}
