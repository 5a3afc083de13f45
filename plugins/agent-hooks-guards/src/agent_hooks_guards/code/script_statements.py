"""The statements of scripts: conditions, loops, declarations, classes, imports."""

from __future__ import annotations

from agent_hooks_guards.model.values import UNKNOWN, Data

from . import script_functions, script_literals, script_names
from .script_grammar import MODIFIERS
from .script_limits import MOST_ROUNDS
from .values import MOST_ITEMS, Reference, Value, truth, unknown, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .script_walk import Walk


def is_operator_ahead(walk: Walk, at: int, end: int) -> bool:
    """Whether this is the left side of `a, b = …`."""
    for position in range(at, min(at + 12, end)):
        if walk.tokens[position].newline and position > at:
            return False
        if walk.is_operator(position, "="):
            return True
        if not (walk.is_operator(position, ",") or walk.tokens[position].kind in ("name", "variable")):
            return False
    return False


def assign_several(walk: Walk, at: int, end: int) -> int:
    """`a, b = …`."""
    names: list[str] = []
    while at < end and not walk.is_operator(at, "="):
        if walk.tokens[at].kind in ("name", "variable"):
            names.append(walk.tokens[at].text)
        at += 1
    values: list[Value] = []
    at += 1
    while at < end:
        value, at = walk.expression(at)
        values.append(value)
        if not walk.is_operator(at, ","):
            break
        at += 1
    source: Value = values[0] if len(values) == 1 else values
    script_functions.bind(walk, list(names), source)
    return at


def after_block(walk: Walk, at: int, stop: int) -> int:
    """`{ fork; redo }`."""
    if (
        walk.language == "perl"
        and any(walk.is_name(position, "redo") for position in range(at, min(stop, at + 40)))
        and walk.state.forks
    ):
        walk.state.bomb()
    return stop


def loop_behind(walk: Walk, at: int, end: int) -> int:
    """The position of a `for` behind the statement at ``at``, 0 if there is none."""
    start = at
    while at < end and at - start < 200:
        token = walk.tokens[at]
        if token.kind == "operator":
            if token.text in (";", "}"):
                return 0
            if at in walk.closes:
                at = walk.closes[at]
        elif (
            token.kind == "name"
            and token.text in ("for", "foreach")
            and at > start
            and not walk.is_operator(at + 1, "=>")
        ):
            return at
        at += 1
    return 0


def repeat_statement(walk: Walk, at: int, modifier: int) -> int:
    """`… for LIST`: the statement, once for each value."""
    values, stop = walk.expression(modifier + 1)
    if walk.is_operator(stop, ","):
        rest, _places, stop = script_names.bare_arguments(walk, stop + 1)
        values = [*(values if isinstance(values, list) else [values]), *rest]
    before = walk.state.variables.get("$_")
    for value in (values if isinstance(values, list) else [values])[:MOST_ROUNDS]:
        walk.state.variables["$_"] = value
        walk.expression(at)
    walk.state.variables["$_"] = before
    return max(stop, modifier + 1)


def read_modifier(walk: Walk, at: int, forks: int) -> int:
    """`… if X` and `… while X` behind a statement."""
    token = walk.tokens[at]
    if token.kind != "name" or token.text not in MODIFIERS or (walk.language == "ruby" and token.newline):
        return at
    condition, stop = walk.expression(at + 1)
    state = walk.state
    if token.text in ("while", "until"):
        doubled = state.forks > forks
        state.is_sure = False
        if doubled and truth(condition) in (None, token.text == "while"):
            state.bomb()
    elif truth(condition) is None:
        state.is_sure = False
    return stop


def conditional(walk: Walk, at: int, end: int) -> int:
    """`if (X) …`, `unless`, `elsif`, `switch`, `catch`: what follows happens or not."""
    state = walk.state
    name = walk.tokens[at].text
    if walk.language in ("ruby", "lua", "julia") and at in walk.closes:
        closing = min(walk.close(at), end)
        value, stop = walk.expression(at + 1)
        if truth(value) is None or name == "case":
            state.conditional += 1
            walk.block(stop, closing)
            state.conditional -= 1
        else:
            walk.block(stop, closing)
        return closing + 1
    if not walk.is_operator(at + 1, "("):
        return at + 1
    opening = at + 1
    value, _stop = script_literals.read_group(walk, opening)
    body = walk.close(opening) + 1
    decided = truth(value)
    if body >= end:
        return body
    sure = decided is not None and name != "switch"
    if not sure:
        state.conditional += 1
    stop = one_body(walk, body, end)
    while walk.is_name(stop, "else", "elsif", "elseif"):
        if walk.tokens[stop].text == "else" and not walk.is_name(stop + 1, "if"):
            stop = one_body(walk, stop + 1, end)
            break
        opening = stop + (2 if walk.tokens[stop].text == "else" else 1)
        if not walk.is_operator(opening, "("):
            break
        script_literals.read_group(walk, opening)
        stop = one_body(walk, walk.close(opening) + 1, end)
    if not sure:
        state.conditional -= 1
    return stop


def one_body(walk: Walk, at: int, end: int) -> int:
    """One statement or block."""
    if at >= end:
        return at
    if walk.is_operator(at, "{"):
        closing = walk.close(at)
        walk.block(at + 1, min(closing, end))
        return closing + 1
    return max(walk.statement(at, end), at + 1)


def while_loop(walk: Walk, at: int, end: int) -> int:
    """`while` and `until`: as long as the condition is known to hold, else once."""
    state = walk.state
    negated = walk.tokens[at].text == "until"
    if walk.language in ("ruby", "lua", "julia"):
        closing = min(walk.close(at), end)
        value, stop = walk.expression_without_block(at + 1)
        body, body_end = stop, closing
        condition = (at + 1, stop)
    else:
        if not walk.is_operator(at + 1, "("):
            return at + 1
        value, _stop = script_literals.read_group(walk, at + 1)
        condition = (at + 2, walk.close(at + 1))
        body = walk.close(at + 1) + 1
        if walk.is_operator(body, "{"):
            body_end = closing = walk.close(body)
            body += 1
        else:
            return rounds_of_statement(walk, body, end, truth(value) is (not negated) and is_constant(walk, condition))
    is_true = truth(value)
    if is_true is (not negated) and is_constant(walk, condition):
        hasty = _is_hasty(walk, body, body_end)
        state.endless += 1
        state.hasty += hasty
        walk.block(body, body_end)
        state.endless -= 1
        state.hasty -= hasty
        return closing + 1
    for _round in range(MOST_ROUNDS):
        if is_true is None:
            state.conditional += 1
            walk.block(body, body_end)
            state.conditional -= 1
            break
        if is_true is negated or state.steps <= 0 or state.leaving:
            break
        walk.block(body, body_end)
        value, _stop = walk.expression_without_block(condition[0])
        is_true = truth(value)
    return closing + 1


def rounds_of_statement(walk: Walk, at: int, end: int, endless: bool) -> int:
    """A loop's body, once."""
    state = walk.state
    hasty = endless and _is_hasty(walk, at, end)
    state.endless += endless
    state.hasty += hasty
    state.conditional += not endless
    stop = one_body(walk, at, end)
    state.endless -= endless
    state.hasty -= hasty
    state.conditional -= not endless
    return stop


_WAITING = frozenset("await break return sleep wait waitpid last exit gets read accept recv".split())


def _is_hasty(walk: Walk, at: int, end: int) -> bool:
    """Whether a loop's body neither waits for anything nor leaves the loop."""
    return not any(token.text in _WAITING for token in walk.tokens[at:end])


def is_constant(walk: Walk, span: tuple[int, int]) -> bool:
    """Whether a condition is the same at every round."""
    return all(
        token.kind in ("number", "string") or token.text in ("true", "TRUE", "True", "(", ")", "!", "do")
        for token in walk.tokens[span[0] : span[1]]
    )


def endless_loop(walk: Walk, at: int, end: int) -> int | None:
    """Ruby's `loop { … }` and R's `repeat { … }`."""
    if (walk.language == "ruby" and (walk.is_operator(at + 1, "{") or walk.is_name(at + 1, "do"))) or (
        walk.language == "r" and walk.tokens[at].text == "repeat" and walk.is_operator(at + 1, "{")
    ):
        closing = min(walk.close(at + 1), end)
    else:
        return None
    hasty = _is_hasty(walk, at + 2, closing)
    walk.state.endless += 1
    walk.state.hasty += hasty
    walk.block(at + 2, closing)
    walk.state.endless -= 1
    walk.state.hasty -= hasty
    return closing + 1


def for_loop(walk: Walk, at: int, end: int) -> int:
    """`for` and `foreach`, over known values one by one."""
    start = at
    at += 1
    if walk.is_name(at, "await"):
        at += 1
    name: object = None
    if walk.language in ("lua", "ruby", "julia"):
        return for_in_words(walk, start, end)
    if walk.is_name(at, "my", "our"):
        at += 1
    if at < end and walk.tokens[at].kind == "variable" and walk.is_operator(at + 1, "("):
        name = walk.tokens[at].text
        at += 1
    if not walk.is_operator(at, "("):
        return at
    closing = walk.close(at)
    parts = walk.split(at + 1, closing, ";")
    if len(parts) > 1:
        return counting_loop(walk, parts, closing + 1, end)
    values: Value
    if walk.language in ("node", "groovy", "r", "php"):
        inner = at + 1
        if walk.language == "php":
            values, stop = walk.expression(inner)
            if walk.is_name(stop, "as"):
                stop += 1
                first, stop = script_functions.read_pattern(walk, stop)
                if walk.is_operator(stop, "=>"):
                    script_functions.bind(walk, first, unknown(values))
                    first, stop = script_functions.read_pattern(walk, stop + 1)
                name = first
        else:
            if walk.is_name(inner, "const", "let", "var", "def"):
                inner += 1
            name, stop = script_functions.read_pattern(walk, inner)
            is_keys = walk.is_name(stop, "in") and walk.language == "node"
            values, _stop = (
                walk.expression(stop + 1)
                if walk.is_name(stop, "of", "in") or walk.is_operator(stop, ":")
                else (unknown(), stop)
            )
            if is_keys:
                values = unknown()
    else:
        values, _stop = script_literals.read_group(walk, at)
        name = name or "$_"
    return for_each(walk, name, values, closing + 1, end)


def for_in_words(walk: Walk, start: int, end: int) -> int:
    """`for x in … do … end` and `for i = 1, 3 do … end`."""
    closing = min(walk.close(start), end)
    at = start + 1
    names: list[object] = []
    while at < closing and not walk.is_name(at, "in") and not walk.is_operator(at, "="):
        if walk.tokens[at].kind in ("name", "variable"):
            names.append(walk.tokens[at].text)
        at += 1
    is_range = walk.is_operator(at, "=")
    value, stop = walk.expression_without_block(at + 1)
    if is_range and walk.language == "lua":
        bounds = [value]
        while walk.is_operator(stop, ",") and stop < closing:
            bound, stop = walk.expression_without_block(stop + 1)
            bounds.append(bound)
        low, high = whole(bounds[0]), whole(bounds[1]) if len(bounds) > 1 else None
        step = whole(bounds[2]) if len(bounds) > 2 else 1
        value = (
            list(range(low, min(high + 1, low + MOST_ITEMS), step))
            if low is not None and high is not None and step == 1
            else unknown()
        )
    name: object = names[-1] if names else "_"
    if isinstance(value, list):
        for item in value[:MOST_ROUNDS]:
            script_functions.bind(walk, name, item)
            walk.block(stop, closing)
    else:
        script_functions.bind(walk, name, unknown(value))
        walk.state.conditional += 1
        walk.block(stop, closing)
        walk.state.conditional -= 1
    return closing + 1


def counting_loop(walk: Walk, parts: list[tuple[int, int]], body: int, end: int) -> int:
    """`for (a; b; c) …`."""
    state = walk.state
    walk.block(*parts[0])
    if len(parts) < 3 or parts[1][0] >= parts[1][1]:
        return rounds_of_statement(walk, body, end, endless=True)
    stop = body
    for round_ in range(MOST_ROUNDS):
        value, _at = walk.expression(parts[1][0])
        is_true = truth(value)
        if is_true is None:
            return rounds_of_statement(walk, body, end, endless=False)
        if is_true is False or state.steps <= 0 or state.leaving:
            break
        stop = one_body(walk, body, end)
        walk.block(*parts[2])
        if round_ == MOST_ROUNDS - 1:
            state.is_sure = False
    return stop if stop > body else skip_statement(walk, body, end)


def skip_statement(walk: Walk, at: int, end: int) -> int:
    """Behind the statement at ``at``, without walking through it."""
    if walk.is_operator(at, "{"):
        return walk.close(at) + 1
    while at < end and not walk.is_operator(at, ";"):
        at = walk.close(at) + 1 if at in walk.closes else at + 1
    return at


def for_each(walk: Walk, name: object, values: Value, body: int, end: int) -> int:
    """A loop's body, once for each known value."""
    stop = body
    items: list[Value]
    if isinstance(values, list):
        items = values[:MOST_ROUNDS]
    elif isinstance(values, dict):
        items = list(values.values())[:MOST_ROUNDS]
    elif isinstance(values, Data) and UNKNOWN not in values.text and walk.language == "node":
        items = [Data(char, values.labels) for char in values.text[:MOST_ROUNDS]]
    elif walk.language == "perl" and not (isinstance(values, Data) and UNKNOWN in values.text):
        items = [values]
    else:
        script_functions.bind(walk, name, unknown(values))
        return rounds_of_statement(walk, body, end, endless=False)
    if not items:
        return skip_statement(walk, body, end)
    for item in items:
        script_functions.bind(walk, name, item)
        stop = one_body(walk, body, end)
    return stop


def function_statement(walk: Walk, at: int) -> int | None:
    """`function name(…) { … }` and `def name … end` as a statement."""
    _value, stop = script_functions.read_function(walk, at)
    return stop if stop > at else None


def class_body(walk: Walk, at: int, end: int) -> int | None:
    """A class: its methods are functions that somebody may call."""
    if (
        walk.language == "ruby"
        or not (at + 1 < walk.size and walk.tokens[at + 1].kind == "name")
        or walk.language == "perl"
    ):
        return at + 1
    opening = at + 1
    while opening < end and not walk.is_operator(opening, "{"):
        opening += 1
    closing = walk.close(opening)
    position = opening + 1
    while position < closing and walk.state.steps > 0:
        token = walk.tokens[position]
        following = position + 1
        if token.kind in ("name", "string") and walk.is_operator(following, "("):
            body = walk.close(following) + 1
            if walk.is_operator(body, "{") and token.text not in ("if", "for", "while", "switch", "catch"):
                script_functions.make_function(
                    walk, token.text, script_functions.read_parameters(walk, following), (body + 1, walk.close(body))
                )
                position = walk.close(body) + 1
                continue
        if token.kind == "name" and token.text == "function":
            _value, position = script_functions.read_function(walk, position)
            continue
        if walk.is_operator(position, "{") or (walk.is_operator(position, "=") and position + 1 < closing):
            if token.text == "=":
                _value, position = walk.expression(position + 1)
            else:
                walk.block(position + 1, walk.close(position))
                position = walk.close(position) + 1
            continue
        position += 1
    return closing + 1


def import_statement(walk: Walk, at: int, end: int) -> int | None:
    """`import a, {b as c} from 'm'`."""
    if walk.language != "node" or walk.is_operator(at + 1, "(") or walk.is_operator(at + 1, "."):
        return None if walk.language == "node" else at + 1
    stop = at + 1
    while stop < end and walk.tokens[stop].kind != "string" and not walk.is_operator(stop, ";") and stop - at < 200:
        stop += 1
    if stop >= end or walk.tokens[stop].kind != "string":
        return at + 1
    module = walk.state.outside(Reference("require"), [script_literals.text_parts(walk, walk.tokens[stop])])
    position = at + 1
    inside = False
    while position < stop:
        token = walk.tokens[position]
        if token.kind == "operator":
            inside = inside or token.text == "{"
            if token.text == "}":
                inside = False
        elif token.kind in ("name", "string") and token.text not in ("from", "as", "type"):
            name = token.text
            alias = walk.tokens[position + 2].text if walk.is_name(position + 1, "as") and position + 2 < stop else name
            walk.state.variables[alias] = walk.state.member(module, name) if inside and name != "default" else module
            position += 2 if alias != name else 0
        elif walk.is_operator(position, "*") and walk.is_name(position + 1, "as"):
            walk.state.variables[walk.tokens[position + 2].text] = module
            position += 2
        position += 1
    return stop + 1


def declaration(walk: Walk, at: int, end: int) -> int | None:
    """`const …`, `let …`, `var …`, `local …`: several names, patterns."""
    if walk.language not in ("node", "lua", "groovy"):
        return None
    at += 1
    if walk.is_name(at, "function"):
        return function_statement(walk, at)
    while at < end:
        names: list[object] = []
        name, stop = script_functions.read_pattern(walk, at)
        if stop <= at:
            return at
        names.append(name)
        while walk.language == "lua" and walk.is_operator(stop, ","):
            name, stop = script_functions.read_pattern(walk, stop + 1)
            names.append(name)
        if walk.language == "lua" and walk.is_operator(stop, "<"):
            stop = min(stop + 3, end)
        if walk.is_operator(stop, ":") and walk.language == "node":  # a type
            while (
                stop < end
                and not (walk.is_operator(stop, "=") or walk.is_operator(stop, ";"))
                and not walk.tokens[stop].newline
            ):
                stop += 1
        if not walk.is_operator(stop, "="):
            for name in names:
                script_functions.bind(walk, name, None)
        elif len(names) > 1:
            values: list[Value] = []
            while True:
                value, stop = walk.expression(stop + 1)
                values.append(value)
                if not walk.is_operator(stop, ","):
                    break
            script_functions.bind(walk, names, values)
            return stop
        else:
            value, stop = walk.expression(stop + 1)
            script_functions.assign_new(walk, names[0], value)
        if not walk.is_operator(stop, ","):
            return stop
        at = stop + 1
    return at


def return_statement(walk: Walk, at: int, end: int) -> int:
    """`return …`."""
    stop = at + 1
    value: Value = None
    if (
        stop < end
        and not walk.is_operator(stop, ";")
        and not walk.is_operator(stop, "}")
        and not walk.is_name(stop, "end", "if", "unless")
    ):
        value, stop = walk.expression(stop)
        if walk.language in ("perl", "ruby", "lua") and walk.is_operator(stop, ","):
            values = [value]
            while walk.is_operator(stop, ","):
                value, stop = walk.expression(stop + 1)
                values.append(value)
            value = values
    state = walk.state
    if state.returned:
        state.returned[-1].append(value)
        if not state.conditional and not walk.is_name(stop, "if", "unless"):
            state.leaving = True
    walk.last = value
    return stop


def use_statement(walk: Walk, at: int, end: int) -> int | None:
    """Perl's and PHP's `use …;`, which brings names in."""
    if walk.language not in ("perl", "php"):
        return None
    stop = at
    while stop < end and not walk.is_operator(stop, ";"):
        stop += 1
    return stop


def echo_statement(walk: Walk, at: int, end: int) -> int | None:
    """PHP's `echo`."""
    if walk.language != "php":
        return None
    stop = at + 1
    while stop < end and not walk.is_operator(stop, ";"):
        value, after = walk.expression(stop)
        walk.state.echo(value)
        if not walk.is_operator(after, ","):
            return max(after, stop + 1)
        stop = after + 1
    return stop


def _definition(walk: Walk, at: int, end: int) -> int | None:
    return function_statement(walk, at) if walk.language == "ruby" else declaration(walk, at, end)


def _do(walk: Walk, at: int, _end: int) -> int | None:
    return at + 1 if walk.language != "perl" else None


def _pass_over(_walk: Walk, at: int, _end: int) -> int:
    return at + 1


STATEMENTS: dict[str, Callable[[Walk, int, int], int | None]] = {
    "if": conditional,
    "unless": conditional,
    "elsif": conditional,
    "elseif": conditional,
    "switch": conditional,
    "case": conditional,
    "catch": conditional,
    "while": while_loop,
    "until": while_loop,
    "for": for_loop,
    "foreach": for_loop,
    "loop": endless_loop,
    "repeat": endless_loop,
    "class": class_body,
    "import": import_statement,
    "const": declaration,
    "let": declaration,
    "var": declaration,
    "local": declaration,
    "def": _definition,
    "return": return_statement,
    "use": use_statement,
    "echo": echo_statement,
    "else": _pass_over,
    "then": _pass_over,
    "do": _do,
    "try": _pass_over,
    "begin": _pass_over,
    "ensure": _pass_over,
    "finally": _pass_over,
    "end": _pass_over,
    "export": _pass_over,
    "default": _pass_over,
    "BEGIN": _pass_over,
    "END": _pass_over,
}
