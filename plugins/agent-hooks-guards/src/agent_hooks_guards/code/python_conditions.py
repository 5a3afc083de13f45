"""What a condition of Python code tells of the names in it."""

from __future__ import annotations

import ast

from agent_hooks_guards.model.values import UNKNOWN

from .python_values import Value, is_exact, is_text, items_of, one_of, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .python_scope import Scope
    from .python_walk import Walk


def narrow(walk: Walk, test: ast.expr, scope: Scope) -> dict[str, Value]:
    """Put what holds where ``test`` is true into ``scope``: the ending of a name that is not known otherwise."""
    narrowed: dict[str, Value] = {}
    for each in test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else (test,):
        subject, how, expected = _condition(walk, each, scope)
        if not isinstance(subject, ast.expr) or expected is None:
            continue
        part = ""
        if isinstance(subject, ast.Attribute) and subject.attr in ("name", "suffix"):
            part = subject.attr
            subject = subject.value
        if not isinstance(subject, ast.Name):
            continue
        value = scope.find(subject.id)
        if value is None or value.kind not in ("unknown", "path", "constant"):
            continue
        made = _narrowed(value, how if part != "suffix" else "endswith", expected)
        if made is not None:
            scope.names[subject.id] = narrowed[subject.id] = made
    return narrowed


def _condition(walk: Walk, test: ast.expr, scope: Scope) -> tuple[ast.expr | None, str, Value | None]:
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], (ast.Eq, ast.In)):
        return test.left, "is" if isinstance(test.ops[0], ast.Eq) else "in", walk.value(test.comparators[0], scope)
    if isinstance(test, ast.Call) and test.args and isinstance(test.func, ast.Attribute):
        if test.func.attr in ("endswith", "startswith"):
            return test.func.value, test.func.attr, walk.value(test.args[0], scope)
        if test.func.attr in ("fnmatch", "fnmatchcase") and len(test.args) > 1:
            return test.args[0], "like", walk.value(test.args[1], scope)
    return None, "", None


def _narrowed(value: Value, how: str, expected: Value) -> Value | None:
    """Return what ``value`` is where a condition holds."""
    if how == "in" or expected.kind in ("tuple", "list", "set"):
        items = items_of(expected) if not is_text(expected) else None
        if not items or len(items) > 8:
            return None
        made = [_narrowed(value, "is" if how == "in" else how, item) for item in items]
        known = [each for each in made if each is not None]
        return one_of(known) if len(known) == len(items) else None
    if not is_text(expected) or not is_exact(expected):
        return None
    word = text_of(expected)
    text = UNKNOWN if value.kind == "unknown" else text_of(value)
    folder, slash, last = text.rpartition("/")
    if last != UNKNOWN:
        return None
    if how == "like":
        word = word.replace("*", UNKNOWN)
    last = {"endswith": UNKNOWN + word, "startswith": word + UNKNOWN}.get(how, word)
    made_text = folder + slash + last
    if value.kind == "unknown" and how != "is":
        made_text = f"./{made_text}" if "/" not in word else made_text
    return Value("path" if value.kind == "path" else "constant", made_text, value.labels)
