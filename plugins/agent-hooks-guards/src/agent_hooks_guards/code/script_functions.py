"""A script's own functions: what they are called with, and walks through their bodies."""

from __future__ import annotations

from agent_hooks_guards.model.values import Data

from . import script_literals
from .script_literals import table_of
from .values import Choice, Closure, Value, choice, text_of, unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .script_walk import Walk


def assign_new(walk: Walk, name: object, value: Value) -> None:
    """A new name's first value: what it hid is no choice."""
    if isinstance(name, str) and isinstance(value, Closure) and not value.name:
        value.name = name
    conditional = walk.state.conditional
    walk.state.conditional = 0
    bind(walk, name, value)
    walk.state.conditional = conditional


def read_pattern(walk: Walk, at: int) -> tuple[object, int]:
    """What a declaration names: a name, or a pattern in brackets."""
    if at >= walk.size:
        return "", at
    token = walk.tokens[at]
    if token.kind in ("name", "variable"):
        return token.text, at + 1
    if token.kind == "operator" and token.text == "...":
        name, stop = read_pattern(walk, at + 1)
        return ("..." + name if isinstance(name, str) else name), stop
    if token.kind == "operator" and token.text in ("[", "(", "{"):
        closing = walk.close(at)
        names: list[object] = []
        table: dict[str, object] = {}
        for start, stop in walk.split(at + 1, closing, ","):
            if start >= stop:
                names.append("")
                continue
            first = walk.tokens[start]
            if token.text == "{" and (walk.is_operator(start + 1, ":") or walk.is_operator(start + 1, "=>")):
                key = text_of(script_literals.text_parts(walk, first)).text if first.kind == "string" else first.text
                table[key] = read_pattern(walk, start + 2)[0]
            elif token.text == "{":
                table[first.text] = first.text
            else:
                names.append(read_pattern(walk, start)[0])
        return (table if token.text == "{" else names), closing + 1
    return "", at


def bind(walk: Walk, pattern: object, value: Value) -> None:
    """Give the names of a pattern their values."""
    state = walk.state
    if isinstance(pattern, str):
        if not pattern:
            return
        before = state.variables.get(pattern)
        if state.conditional and before is not None and before != value and not isinstance(value, Closure):
            options = [*(before.options if isinstance(before, Choice) else [before]), value]
            value = choice(options) if len(options) <= 8 else unknown(*options)
        if walk.language == "perl" and pattern[0] == "@" and not isinstance(value, list):
            value = [] if value is None else [value]
        elif walk.language == "perl" and pattern[0] == "%" and isinstance(value, list):
            value = table_of(value)
        elif walk.language == "perl" and pattern[0] == "$" and type(value) is list and len(value) == 1:
            value = value[0]
        state.variables[pattern] = value
    elif isinstance(pattern, dict):
        for key, inner in pattern.items():
            bind(walk, inner, state.member(value, key) if not isinstance(value, (Data, list)) else unknown(value))
    elif isinstance(pattern, list):
        for at, inner in enumerate(pattern):
            if isinstance(value, list):
                if isinstance(inner, str) and inner[:1] in ("@", "."):
                    bind(walk, inner.removeprefix("..."), value[at:])
                    break
                bind(walk, inner, value[at] if at < len(value) else None)
            else:
                bind(walk, inner, value if at == 0 and walk.language in ("lua", "perl") else unknown(value))


def read_function(walk: Walk, at: int) -> tuple[Value, int]:
    """A function at ``at``: `function`, `fn`, `sub`, `def`."""
    token = walk.tokens[at]
    stop = at + 1
    name = ""
    if walk.is_operator(stop, "*") or walk.is_operator(stop, "&"):
        stop += 1
    if stop < walk.size and walk.tokens[stop].kind == "name":
        name = walk.tokens[stop].text
        stop += 1
        while walk.is_operator(stop, ".") or (walk.is_operator(stop, ":") and walk.language == "lua"):
            name = walk.tokens[stop + 1].text if stop + 1 < walk.size else name
            stop += 2
    parameters: list[tuple[object, int]] = []
    if walk.is_operator(stop, "("):
        if walk.language != "perl":
            parameters = read_parameters(walk, stop)
        stop = walk.close(stop) + 1
    elif walk.language == "ruby" and token.text == "def":
        while stop < walk.size and not walk.tokens[stop].newline and not walk.is_operator(stop, ";"):
            if walk.tokens[stop].kind == "name":
                parameters.append((walk.tokens[stop].text, 0))
            stop += 1
    if walk.is_name(stop, "use") and walk.is_operator(stop + 1, "("):
        stop = walk.close(stop + 1) + 1
    if walk.language in ("lua", "ruby", "julia") and at in walk.closes:
        return make_function(walk, name, parameters, (stop, walk.close(at))), walk.close(at) + 1
    if walk.is_operator(stop, ":"):  # a type
        while (
            stop < walk.size
            and not walk.is_operator(stop, "{")
            and not walk.is_operator(stop, "=>")
            and not walk.is_operator(stop, ";")
        ):
            stop += 1
    if walk.is_operator(stop, "=>"):
        return read_arrow(walk, name, parameters, stop + 1)
    if walk.is_operator(stop, "{"):
        return make_function(walk, name, parameters, (stop + 1, walk.close(stop))), walk.close(stop) + 1
    if walk.language == "r" and stop < walk.size:
        return read_arrow(walk, name, parameters, stop)
    return unknown(), max(stop, at + 1)


def read_parameters(walk: Walk, opening: int) -> list[tuple[object, int]]:
    """The patterns of a parameter list, each with the position of its default, 0 for none."""
    found: list[tuple[object, int]] = []
    for start, stop in walk.split(opening + 1, walk.close(opening), ","):
        at = start
        while at < stop and not walk.is_operator(at, "=") and at - start < 12:
            at += 1
        default = at + 1 if at < stop and walk.is_operator(at, "=") else 0
        position = start
        # PHP writes a type before the name, others behind it.
        while walk.language == "php" and position < stop and walk.tokens[position].kind != "variable":
            position += 1
        if walk.is_operator(position, "*") or walk.is_operator(position, "&"):
            position += 1
        if position < stop:
            found.append((read_pattern(walk, position)[0], default))
    return found


def read_arrow(walk: Walk, name: str, parameters: list[tuple[object, int]], at: int) -> tuple[Value, int]:
    """The body of an arrow function."""
    if walk.is_operator(at, "{") and walk.language != "r":
        return make_function(walk, name, parameters, (at + 1, walk.close(at))), walk.close(at) + 1
    stop = end_of_expression(walk, at)
    return make_function(walk, name, parameters, (at, stop), is_expression=True), stop


def end_of_expression(walk: Walk, at: int) -> int:
    """Behind the expression at ``at``, without walking through it."""
    while at < walk.size and walk.state.steps > 0:
        walk.state.steps -= 1
        token = walk.tokens[at]
        if token.kind == "operator" and token.text in (",", ";", ")", "]", "}"):
            break
        at = walk.close(at) + 1 if at in walk.closes else at + 1
    return at


def make_function(
    walk: Walk, name: str, parameters: list[tuple[object, int]], span: tuple[int, int], is_expression: bool = False
) -> Closure:
    """A function of the script."""
    state = walk.state
    closure = Closure(lambda arguments: invoke(walk, parameters, span, is_expression, arguments), name)
    state.closures.append(closure)
    if name:
        state.functions[name] = closure
        if walk.language not in ("perl", "php", "ruby"):
            state.variables[name] = closure
    return closure


def invoke(
    walk: Walk,
    parameters: list[tuple[object, int]],
    span: tuple[int, int],
    is_expression: bool,
    arguments: list[Value],
) -> Value:
    """Walk through a function's body with its arguments."""
    state = walk.state
    outer = dict(state.variables) if parameters or walk.language == "perl" else None
    conditional, state.conditional = state.conditional, 0
    leaving, state.leaving = state.leaving, False
    endless = state.endless
    place, no_block = walk.place, walk.no_block
    walk.no_block = 0
    returned: list[Value] = []
    state.returned.append(returned)
    if walk.language == "perl":
        state.topics.append(arguments)
        if arguments:
            state.variables["$_"] = arguments[0]
    for at, (pattern, default) in enumerate(parameters):
        value = arguments[at] if at < len(arguments) else walk.expression(default)[0] if default else None
        bind(walk, pattern, value)
    if is_expression:
        result, _stop = walk.expression(span[0])
    else:
        result = walk.block(*span)
        if returned:
            result = returned[0] if len(returned) == 1 else choice(returned[:8])
    if walk.language == "perl":
        state.topics.pop()
    state.returned.pop()
    state.leaving = leaving
    state.conditional = conditional
    state.endless = endless
    walk.place, walk.no_block = place, no_block
    if outer is not None:
        hidden = {pattern for pattern, _default in parameters if isinstance(pattern, str)} | {"$_"}
        for name in hidden:
            if name in outer:
                state.variables[name] = outer[name]
            else:
                state.variables.pop(name, None)
    return result
