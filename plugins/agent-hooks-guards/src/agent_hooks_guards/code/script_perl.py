"""What is Perl's own: its variables, handles, blocks and replacements."""

from __future__ import annotations

from agent_hooks_guards.model.values import UNKNOWN, Data

from . import script_assignment, script_functions, script_literals, script_names, script_postfix
from .script_grammar import MODIFIERS, NO_VALUE
from .values import (
    MOST_ITEMS,
    ListReference,
    Reference,
    TableReference,
    Value,
    known,
    labels_of,
    translate,
    truth,
    unknown,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .script_state import Place
    from .script_walk import Walk
    from .tokens import Token


_UNARY = frozenset(
    "chr ord lc uc lcfirst ucfirst length defined ref scalar hex oct int abs sqrt quotemeta chomp chop "
    "rmdir readlink close"
    "shift pop exists delete each keys values undef require fc sleep umask chdir lock exit caller "
    "decode_base64 encode_base64"
    "readline fileno eof chroot localtime gmtime rand srand alarm stat lstat uc study getc".split()
)
_OPENS = frozenset("open sysopen opendir socket open2 open3 IPC::Open2::open2 IPC::Open3::open3".split())
_WITH_BLOCK = frozenset("map grep sort first any all none reduce sum".split())


def bind_match(walk: Walk, value: Value, place: Place, at: int) -> tuple[Value, int]:
    """`… =~ s/a/b/`, `… =~ tr/a/b/`, `… =~ /x/`."""
    if at + 1 < walk.size and walk.tokens[at + 1].kind in ("replace", "translate"):
        token = walk.tokens[at + 1]
        result = replace_in(walk, token, value)
        if "r" in token.flags:
            return result, at + 2
        if place is not None:
            script_assignment.store(walk, place, result)
        return result, at + 2
    _right, stop = walk.expression(at + 1, 8)
    return unknown(), stop


def replace_in(walk: Walk, token: Token, value: Value) -> Value:
    """What `s///` or `tr///` makes of a value."""
    text = known(value)
    if token.kind == "translate":
        put = token.parts[0] if token.parts and isinstance(token.parts[0], str) else ""
        if text is None:
            return Data(UNKNOWN, labels_of(value))
        from .tokens import unescape

        return Data(translate(text, unescape(token.text, "perl"), unescape(put, "perl"), token.flags), labels_of(value))
    if "ee" in token.flags:
        inner = script_literals.text_parts(walk, token)
        walk.state.code(inner)
        return unknown(value, inner)
    if "e" in token.flags:
        return unknown(value, script_literals.text_parts(walk, token))
    put_value = script_literals.text_parts(walk, token)
    put_text = known(put_value)
    if text is None or put_text is None or not _is_literal(token.text):
        return unknown(value, put_value)
    many = -1 if "g" in token.flags else 1
    return Data(text.replace(token.text.replace("\\", ""), put_text, many), labels_of(value))


def dereference(walk: Walk, sigil: str, at: int) -> tuple[Value, int]:
    """`@{…}`, `@$x`, `${…}`, `$$x`, `&$f`, `&{…}`."""
    at += 1
    value: Value
    if walk.is_operator(at, "{"):
        closing = walk.close(at)
        value = walk.block(at + 1, closing)
        stop = closing + 1
        inner = walk.tokens[at + 1] if closing == at + 2 else None
        if inner is not None and inner.kind == "name":
            value = walk.state.variables.get(sigil + inner.text)
    else:
        value, stop = walk.primary(at)
    if sigil in ("@", "%") and isinstance(value, (ListReference, TableReference)):
        value = list(value) if isinstance(value, list) else dict(value)
    name = known(value)
    if sigil == "$" and walk.language in ("perl", "php") and name and not isinstance(value, (int, float)):
        walk.place = ("name", "$" + name, None)
        return script_postfix.read_postfix(walk, walk.state.variables.get("$" + name, unknown()), stop, at)
    if sigil == "&" and walk.language == "perl":
        arguments: list[Value] = []
        if walk.is_operator(stop, "("):
            arguments, _places = script_literals.read_values(walk, stop + 1, walk.close(stop))
            stop = walk.close(stop) + 1
        if isinstance(value, Data) and UNKNOWN in value.text:
            walk.state.doubt("something that is not known is called")
        return walk.state.call(value, arguments), stop
    walk.place = None
    return script_postfix.read_postfix(walk, value, stop, at)


def variable_value(walk: Walk, text: str, stop: int) -> tuple[Value, int]:
    """The value of `$x`, `@x`, `%x`, and of elements like `$x[0]` and `$x{k}`."""
    state = walk.state
    sigil, name = text[0], text[1:]
    if text.startswith("$#"):
        items = state.variables.get("@" + text[2:])
        return (len(items) - 1 if isinstance(items, list) else unknown()), stop
    if sigil in "$@" and stop < walk.size and not walk.spaced(stop) and walk.tokens[stop].kind == "operator":
        bracket = walk.tokens[stop].text
        if bracket in ("[", "{"):
            store = ("@" if bracket == "[" else "%") + name
            owner = script_names.look_up(walk, store)
            if bracket == "[" or not is_bare_key(walk, stop):
                keys, _places = script_literals.read_values(walk, stop + 1, walk.close(stop))
            else:
                keys = [Data(walk.tokens[stop + 1].text)]
            key = keys[0] if keys else None
            if (
                store not in state.variables
                and store not in ("@ARGV", "@_")
                and not isinstance(owner, (Reference, list))
            ):
                owner = state.variables[store] = [] if bracket == "[" else {}
            if sigil == "@":
                return [state.index(owner, key) for key in keys], walk.close(stop) + 1
            walk.place = ("member", owner, key)
            value = state.index(owner, key) if not (isinstance(owner, dict) and not owner) else unknown()
            return value, walk.close(stop) + 1
    if sigil == "&":
        arguments: list[Value] = []
        if walk.is_operator(stop, "("):
            arguments, _places = script_literals.read_values(walk, stop + 1, walk.close(stop))
            stop = walk.close(stop) + 1
        closure = state.functions.get(name)
        return (
            state.apply(closure, arguments)
            if closure is not None
            else state.outside(Reference(name.replace("::", ".")), arguments)
        ), stop
    walk.place = ("name", text, None)
    return script_names.look_up(walk, text), stop


def is_bare_key(walk: Walk, opening: int) -> bool:
    """Whether `{word}` or `{-word}` holds a plain word."""
    return walk.close(opening) == opening + 2 and walk.tokens[opening + 1].kind == "name"


def named_value(walk: Walk, at: int) -> tuple[Value, int]:
    """The value of a name: mostly a call, with or without parentheses."""
    token = walk.tokens[at]
    state = walk.state
    text = token.text
    name = text.replace("::", ".")
    stop = at + 1
    if text in ("__FILE__", "__PACKAGE__", "__LINE__"):
        return Data(state.script) if text == "__FILE__" and state.script else unknown(), stop
    if walk.is_operator(stop, "->"):
        return Reference(name), stop
    if (
        text in ("shift", "pop")
        and not walk.is_operator(stop, "(")
        and not (stop < walk.size and walk.tokens[stop].kind == "variable")
    ):
        items = state.topics[-1] if state.topics else state.arguments
        return (items.pop(0 if text == "shift" else -1) if items else unknown()), stop
    if text in ("do", "eval") and walk.is_operator(stop, "{"):
        value = walk.block(stop + 1, walk.close(stop))
        return value, walk.close(stop) + 1
    if text in _WITH_BLOCK:
        return block_function(walk, at)
    if text in ("print", "printf", "say"):
        return print_values(walk, at)
    arguments: list[Value] = []
    places: list[Place] = []
    if walk.is_operator(stop, "("):
        closing = walk.close(stop)
        inner = stop + 1
        if text in ("system", "exec") and walk.is_operator(inner, "{"):
            inner = walk.close(inner) + 1
        arguments, places = script_literals.read_values(walk, inner, closing)
        stop = closing + 1
    elif (
        stop < walk.size
        and script_names.is_bare_value(walk, stop)
        and (
            text in _OPENS
            or text in state.calls
            or name in state.calls
            or text in state.functions
            or text in _UNARY
            or walk.tokens[stop].kind in ("string", "variable", "number")
        )
    ):
        if text in ("system", "exec") and walk.is_operator(stop, "{"):
            stop = walk.close(stop) + 1
        if text in _UNARY:
            value, stop = walk.expression(stop, 8)
            arguments, places = [value], [walk.place]
        else:
            arguments, places, stop = script_names.bare_arguments(walk, stop)
    elif text in state.functions or name in state.calls:
        pass
    else:
        walk.place = ("name", text, None)
        return state.variables.get(text, Reference(name)), stop
    if text in _OPENS:
        return open_handle(walk, name, arguments, places), stop
    walk.place = None
    if text in state.functions:
        return state.apply(state.functions[text], arguments), stop
    if text in ("chomp", "chop", "undef"):
        return (arguments[0] if arguments else None), stop
    if not arguments and text in (
        "chr",
        "ord",
        "lc",
        "uc",
        "unlink",
        "rmdir",
        "eval",
        "hex",
        "oct",
        "reverse",
        "length",
        "unpack",
    ):
        arguments = [state.variables.get("$_", unknown())]
    if text in ("push", "unshift") and places and places[0] is not None:
        return push_values(walk, arguments, places[0]), stop
    return state.outside(Reference(name), arguments), stop


def push_values(walk: Walk, arguments: list[Value], place: Place) -> Value:
    # `push @x, …` flattens @x into the arguments: what was pushed is what comes behind its items.
    """`push @x, …`."""
    name = place[1] if place is not None else None
    if isinstance(name, str):
        walk.state.variables[name] = list(arguments)
    return unknown(*arguments)


def open_handle(walk: Walk, name: str, arguments: list[Value], places: list[Place]) -> Value:
    """`open` and its kin: what is opened goes to the first argument."""
    from .calls_perl import perl_open

    handle = perl_open(walk.state, name, arguments)
    for place in places[:1]:
        if place is not None:
            script_assignment.store(walk, place, handle)
    if name.endswith(("open2", "open3")):
        for place in places[:3]:
            if place is not None:
                script_assignment.store(walk, place, handle)
    walk.place = None
    return unknown()


def _opened(walk: Walk, at: int) -> tuple[int, int]:
    """Where what a call is given begins, and where the bracket around it closes, -1 if there is none."""
    return (at + 1, walk.close(at)) if walk.is_operator(at, "(") else (at, -1)


def block_function(walk: Walk, at: int) -> tuple[Value, int]:
    """`map { … } LIST`, `map EXPR, LIST` and friends."""
    state = walk.state
    text = walk.tokens[at].text
    stop, closing = _opened(walk, at + 1)
    span: tuple[int, int] | None = None
    if walk.is_operator(stop, "{"):
        span = (stop + 1, walk.close(stop))
        stop = walk.close(stop) + 1
        if walk.is_operator(stop, ","):
            stop += 1
    elif text in ("map", "grep"):
        span = (stop, script_functions.end_of_expression(walk, stop))
        stop = span[1] + 1
    if closing >= 0:
        values, _places = script_literals.read_values(walk, stop, closing)
        stop = closing + 1
    else:
        values, _places, stop = script_names.bare_arguments(walk, stop)
    walk.place = None
    if span is None or text == "sort":
        return values, stop
    results: list[Value] = []
    before = state.variables.get("$_")
    for value in values[:MOST_ITEMS]:
        state.variables["$_"] = value
        result = walk.block(*span)
        if text == "map":
            results.extend(result if isinstance(result, list) else [result])
        elif truth(result) is not False:
            results.append(value)
    state.variables["$_"] = before
    return results, stop


def print_values(walk: Walk, at: int) -> tuple[Value, int]:
    """`print`, `printf` and `say`, to the output or to a handle."""
    state = walk.state
    text = walk.tokens[at].text
    stop, closing = _opened(walk, at + 1)
    handle: Value = None
    if walk.is_operator(stop, "{") and walk.close(stop) < walk.size:
        handle = walk.block(stop + 1, walk.close(stop))
        stop = walk.close(stop) + 1
    elif stop + 1 < walk.size and walk.tokens[stop].kind in ("name", "variable") and walk.tokens[stop + 1].spaced:
        following = walk.tokens[stop + 1]
        first = walk.tokens[stop]
        is_value = following.kind in ("string", "variable", "shell", "number", "words", "input") or (
            following.kind == "name" and following.text not in walk.words and following.text not in NO_VALUE
        )
        if is_value and (first.kind == "variable" or (first.text.isupper() and first.text not in state.functions)):
            handle = state.variables.get(first.text, Reference(first.text))
            stop += 1
    if closing >= 0:
        values, _places = script_literals.read_values(walk, stop, closing)
        stop = closing + 1
    elif (
        stop < walk.size
        and not walk.is_operator(stop, ";")
        and not walk.is_operator(stop, "}")
        and not walk.is_name(stop, *MODIFIERS)
    ):
        values, _places, stop = script_names.bare_arguments(walk, stop)
    else:
        values = [state.variables.get("$_", unknown())]
    walk.place = None
    if handle is None or (isinstance(handle, Reference) and handle.name == "STDOUT"):
        if text == "printf":
            from .values import formatted

            state.echo(formatted(values[0] if values else None, values[1:]))
        else:
            state.echo(*values, *([Data("\n")] if text == "say" else []))
    else:
        state.method(handle, "print", values)
    return 1, stop


def hash_index(walk: Walk, value: Value, at: int) -> tuple[Value, int]:
    """`{key}` behind a value."""
    closing = walk.close(at)
    if is_bare_key(walk, at):
        key: Value = Data(walk.tokens[at + 1].text)
    else:
        keys, _places = script_literals.read_values(walk, at + 1, closing)
        key = keys[0] if keys else None
    walk.place = ("member", value, key)
    return walk.state.index(value, key), closing + 1


def _is_literal(pattern: str) -> bool:
    return not any(char in pattern for char in ".*+?[](){}^$|") or (
        pattern.replace("\\", "").isalnum() and "\\" not in pattern
    )
