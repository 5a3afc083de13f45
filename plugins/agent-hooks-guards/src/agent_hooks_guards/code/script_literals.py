"""Strings with code in them, lists, tables and what stands in brackets."""

from __future__ import annotations

from agent_hooks_guards.model.values import UNKNOWN, Data

from . import script_functions
from .tokens import Insert
from .values import MOST_ITEMS, ListReference, TableReference, Value, join, known, text_of, unknown, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .script_state import Place
    from .script_walk import Walk
    from .tokens import Token


def read_group(walk: Walk, opening: int) -> tuple[Value, int]:
    """What stands between parentheses; several values are a list."""
    closing = walk.close(opening)
    values, _places = read_values(walk, opening + 1, closing)
    walk.place = None
    if len(values) == 1 and not walk.is_operator(closing - 1, ","):
        return values[0], closing + 1
    if walk.language == "perl" or not values:
        return values, closing + 1
    return values[-1], closing + 1


def read_values(walk: Walk, at: int, end: int) -> tuple[list[Value], list[Place]]:
    """Values with commas between them, and where each comes from."""
    values: list[Value] = []
    places: list[Place] = []
    table: dict[str, Value] = {}
    no_block, walk.no_block = walk.no_block, 0
    while at < end and walk.state.steps > 0:
        token = walk.tokens[at]
        if token.kind == "operator" and token.text in (",", ";", "=>"):
            at += 1
            continue
        spread = False
        if token.kind == "operator" and token.text in ("...", "*") and at + 1 < end:
            spread = True
            at += 1
        key = read_key(walk, at, end)
        if key is not None:
            value, at = walk.expression(key[1])
            table[key[0]] = value
            continue
        value, stop = walk.expression(at)
        place = walk.place
        if walk.is_operator(stop, "=>") and walk.language in ("ruby", "php", "groovy"):
            name = known(value)
            value, stop = walk.expression(stop + 1)
            table[name if name is not None else ""] = value
        elif walk.language == "node" and walk.is_operator(stop, ":"):
            stop += 1
        elif spread or (walk.language == "perl" and type(value) in (list, dict)):
            if isinstance(value, list):
                values.extend(value)
                places.extend([None] * len(value))
            elif isinstance(value, dict):
                for name, inner in value.items():
                    values.extend((Data(name), inner))
                    places.extend((None, None))
            else:
                values.append(unknown(value))
                places.append(None)
        elif len(values) < MOST_ITEMS:
            values.append(value)
            places.append(place)
        at = stop if stop > at else at + 1
    if table:
        values.append(table)
        places.append(None)
    walk.no_block = no_block
    return values, places


def read_key(walk: Walk, at: int, end: int) -> tuple[str, int] | None:
    """`name: value` and `name = value` among arguments."""
    if (
        walk.language in ("ruby", "groovy", "php")
        and walk.is_operator(at + 1, ":")
        and not walk.is_operator(at + 1, "::")
    ):
        token = walk.tokens[at]
        if token.kind in ("name", "string") and not walk.tokens[at + 1].spaced:
            return (token.text if token.kind == "name" else text_of(text_parts(walk, token)).text), at + 2
    if (
        walk.language in ("r", "julia")
        and at + 1 < end
        and walk.is_operator(at + 1, "=")
        and walk.tokens[at].kind == "name"
    ):
        return walk.tokens[at].text, at + 2
    return None


def text_parts(walk: Walk, token: Token) -> Data:
    """The value of a string: its texts and the values of the code in it."""
    values: list[Value] = []
    for part in token.parts:
        if isinstance(part, Insert):
            value = run_inside(walk, part.code)
            values.append(join(value, " ") if isinstance(value, list) and walk.language == "perl" else value)
        else:
            values.append(Data(part, walk.state.labels) if UNKNOWN in part else Data(part))
    return join(values)


def run_inside(walk: Walk, code: str) -> Value:
    """The value of code inside of a string."""
    conditional, leaving = walk.state.conditional, walk.state.leaving
    value = walk.state.run(code)
    walk.state.conditional, walk.state.leaving = conditional, leaving
    return value


def bracketed(walk: Walk, at: int) -> tuple[Value, int]:
    """What begins with a bracket: a group, a list, a table, an arrow function."""
    token = walk.tokens[at]
    text = token.text
    if text == "(":
        closing = walk.close(at)
        if walk.language in ("node", "groovy") and walk.is_operator(closing + 1, "=>"):
            return script_functions.read_arrow(walk, "", script_functions.read_parameters(walk, at), closing + 2)
        values, places = read_values(walk, at + 1, closing)
        place: Place = None
        if walk.language == "perl" and (walk.is_operator(closing + 1, "=") or walk.is_operator(closing + 1, "[")):
            place = ("list", [item[1] for item in places if item is not None and item[0] == "name"], None)
            walk.place = place
            return list(values), closing + 1
        walk.place = places[0] if len(places) == 1 and walk.language == "perl" else None
        if walk.language == "perl":
            return (values[0] if len(values) == 1 else list(values)), closing + 1
        return (values[-1] if values else None), closing + 1
    if text == "[":
        closing = walk.close(at)
        values, _places = read_values(walk, at + 1, closing)
        walk.place = None
        if values and isinstance(values[-1], dict) and walk.language in ("php", "groovy") and len(values) == 1:
            return values[0], closing + 1
        return (ListReference(values) if walk.language == "perl" else list(values)), closing + 1
    if text == "{":
        return read_table(walk, at)
    if text == "->" and walk.language == "ruby":
        stop = at + 1
        parameters: list[tuple[object, int]] = []
        if walk.is_operator(stop, "("):
            parameters = script_functions.read_parameters(walk, stop)
            stop = walk.close(stop) + 1
        if walk.is_operator(stop, "{") or walk.is_name(stop, "do"):
            return script_functions.make_function(walk, "", parameters, (stop + 1, walk.close(stop))), walk.close(
                stop
            ) + 1
        return unknown(), stop
    if text == "::" and at + 1 < walk.size and walk.tokens[at + 1].kind == "name":
        return walk.primary(at + 1)
    if text == UNKNOWN:
        return Data(UNKNOWN), at + 1
    return None, at + 1


def read_table(walk: Walk, at: int) -> tuple[Value, int]:
    """`{ a: 1, 'b' => 2, [c]: 3, d, e() {} }`, Lua's `{ 1, a = 2 }`, a block of Groovy."""
    closing = walk.close(at)
    table: dict[str, Value] = {}
    items: list[Value] = []
    if walk.language == "groovy":
        return script_functions.make_function(walk, "", [("it", 0)], (at + 1, closing)), closing + 1
    if walk.language == "perl":
        values, _places = read_values(walk, at + 1, closing)
        walk.place = None
        return TableReference(table_of(values)), closing + 1
    if walk.language in ("r", "julia"):
        return walk.block(at + 1, closing), closing + 1
    for start, stop in walk.split(at + 1, closing, ","):
        if start >= stop or walk.state.steps <= 0:
            continue
        token = walk.tokens[start]
        value: Value
        if walk.is_operator(start, "...") or walk.is_operator(start, "**"):
            value, _after = walk.expression(start + 1)
            if isinstance(value, dict):
                table.update(value)
            else:
                table[""] = unknown(value)
            continue
        if walk.is_operator(start, "[") and walk.language in ("node", "lua"):
            name_value, _after = walk.expression(start + 1)
            after = walk.close(start) + 1
            value, _after = walk.expression(after + 1) if after + 1 < stop else (None, stop)
            position = whole(name_value) if walk.language == "lua" else None
            if position is not None and position == len(items) + 1:
                items.append(value)
            else:
                name = known(name_value)
                table[name if name is not None else ""] = value
            continue
        if token.kind in ("name", "string", "number") and (
            walk.is_operator(start + 1, ":") or (walk.language == "lua" and walk.is_operator(start + 1, "="))
        ):
            value, _after = walk.expression(start + 2)
            table[text_parts(walk, token).text if token.kind == "string" else token.text] = value
            continue
        if walk.language == "node" and token.kind == "name":
            method = start
            while method + 1 < stop and walk.tokens[method].kind == "name" and walk.tokens[method + 1].kind == "name":
                method += 1
            if walk.is_operator(method + 1, "(") and walk.is_operator(walk.close(method + 1) + 1, "{"):
                body = walk.close(method + 1) + 1
                table[walk.tokens[method].text] = script_functions.make_function(
                    walk, "", script_functions.read_parameters(walk, method + 1), (body + 1, walk.close(body))
                )
                continue
        value, after = walk.expression(start)
        if walk.is_operator(after, "=>") and after < stop:
            name = known(value)
            inner, _after = walk.expression(after + 1)
            table[name if name is not None else ""] = inner
        elif walk.language == "node" and token.kind == "name" and stop == start + 1:
            table[token.text] = value
        else:
            items.append(value)
    walk.place = None
    if items and not table:
        return items, closing + 1
    for position, item in enumerate(items):
        table[str(position + 1)] = item
    return table, closing + 1


def table_of(values: list[Value]) -> dict[str, Value]:
    """A list of keys and values as a table; "" for keys that are not known."""
    table: dict[str, Value] = {}
    for at in range(0, len(values) - 1, 2):
        name = known(values[at])
        table[name if name is not None else ""] = values[at + 1]
    return table
