"""Names, variables, and calls without parentheses."""

from __future__ import annotations

from agent_hooks_guards.model.values import Data

from . import script_functions, script_literals, script_perl, script_php, script_ruby
from .script_grammar import FUNCTION_WORDS, LINEWISE, NO_VALUE
from .values import Reference, Value, known, truth, unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .script_state import Place
    from .script_walk import Walk


def variable_value(walk: Walk, at: int) -> tuple[Value, int]:
    """The value of a variable with a sigil."""
    text = walk.tokens[at].text
    state = walk.state
    stop = at + 1
    if walk.language == "perl":
        return script_perl.variable_value(walk, text, stop)
    if text in state.variables:
        value = state.variables[text]
    else:
        value = state.calls["$"](state, [], Reference(text)) if "$" in state.calls else unknown()
    walk.place = ("name", text, None)
    return value, stop


def look_up(walk: Walk, text: str) -> Value:
    """The value of one of Perl's variables."""
    state = walk.state
    if text == "@_":
        return state.topics[-1] if state.topics else state.arguments
    if text == "@ARGV":
        return state.arguments or unknown()
    if text in state.variables:
        return state.variables[text]
    if text == "$0":
        return Data(state.script) if state.script else unknown()
    handler = state.calls.get("$")
    if handler is not None:
        return handler(state, [], Reference(text))
    return unknown()


def named_value(walk: Walk, at: int) -> tuple[Value, int]:
    """The value of a name: a keyword, a variable, a function or something outside of the script."""
    token = walk.tokens[at]
    text = token.text
    state = walk.state
    language = walk.language
    if walk.is_operator(at + 1, "=>") and language in ("perl", "ruby", "php"):
        return Data(text), at + 1
    if language in ("node", "groovy") and walk.is_operator(at + 1, "=>"):
        return script_functions.read_arrow(walk, "", [(text, 0)], at + 2)
    if text in ("function", "sub", "fn", "def", "lambda", "proc") and text in FUNCTION_WORDS[language]:
        if text in ("lambda", "proc"):
            return script_ruby.call_method(walk, at + 1, None, text)
        return script_functions.read_function(walk, at)
    if text == "async" and at + 1 < walk.size and language == "node" and not walk.is_operator(at + 1, "."):
        return walk.primary(at + 1)
    if text in ("true", "false", "TRUE", "FALSE", "True", "False") and language != "perl":
        return text.lower() == "true", at + 1
    if text in ("null", "nil", "undefined", "NULL", "undef", "None", "nothing") and not walk.is_operator(at + 1, "("):
        return None, at + 1
    if text == "new" and language in ("node", "php", "groovy", "perl") and at + 1 < walk.size:
        return new_object(walk, at)
    is_call = language == "ruby" and walk.is_operator(at + 1, "(") and not walk.spaced(at + 1)
    if text in state.variables and language not in ("perl", "php") and not is_call:
        walk.place = ("name", text, None)
        return state.variables[text], at + 1
    if language == "node" and text in ("await", "void", "typeof", "delete", "yield", "throw"):
        value, stop = walk.unary(at + 1) if at + 1 < walk.size else (None, at + 1)
        walk.place = None
        return value, stop
    if text in ("my", "our", "local", "state") and language == "perl":
        if walk.is_operator(at + 1, "("):
            names = [
                inner.text
                for inner in walk.tokens[at + 2 : walk.close(at + 1)]
                if inner.kind == "variable" or inner.text == "undef"
            ]
            walk.place = ("list", names, None)
            return [], walk.close(at + 1) + 1
        if at + 1 < walk.size and walk.tokens[at + 1].kind == "variable":
            value, stop = walk.primary(at + 1)
            return (None if text != "local" else value), stop
    if text == "not" and at + 1 < walk.size:
        value, stop = walk.expression(at + 1, 3)
        decided = truth(value)
        return (unknown() if decided is None else not decided), stop
    if language == "perl":
        return script_perl.named_value(walk, at)
    if language == "ruby":
        return script_ruby.named_value(walk, at)
    if language == "php":
        return script_php.named_value(walk, at)
    if language == "lua" and text == "then":
        return None, at + 1
    walk.place = ("name", text, None)
    if language == "groovy" and at + 1 < walk.size and is_bare_value(walk, at + 1):
        value, stop = walk.expression(at + 1)
        return state.outside(Reference(text), [value]), stop
    if f"{text}" in state.functions and language != "node":
        return state.functions[text], at + 1
    return Reference(text), at + 1


def new_object(walk: Walk, at: int) -> tuple[Value, int]:
    """`new X(…)`; Perl's `new X(…)` is `X->new(…)`."""
    stop = at + 1
    if walk.language == "perl":
        if walk.tokens[stop].kind != "name":
            return script_perl.named_value(walk, at)
        name = walk.tokens[stop].text.replace("::", ".")
        arguments: list[Value] = []
        stop += 1
        if walk.is_operator(stop, "("):
            arguments, _places = script_literals.read_values(walk, stop + 1, walk.close(stop))
            stop = walk.close(stop) + 1
        return walk.state.outside(Reference(name + ".new"), arguments), stop
    if walk.is_name(stop, "class") or walk.is_operator(stop, "."):
        return unknown(), stop + 1
    value, stop = walk.primary(stop)
    while walk.is_operator(stop, ".") and stop + 1 < walk.size and walk.tokens[stop + 1].kind == "name":
        value = walk.state.member(value, walk.tokens[stop + 1].text)
        stop += 2
    if walk.is_operator(stop, "["):
        keys, _places = script_literals.read_values(walk, stop + 1, walk.close(stop))
        value = walk.state.index(value, keys[0] if keys else None)
        stop = walk.close(stop) + 1
    arguments = []
    if walk.is_operator(stop, "("):
        arguments, _places = script_literals.read_values(walk, stop + 1, walk.close(stop))
        stop = walk.close(stop) + 1
    walk.place = None
    if isinstance(value, Data) and walk.language == "php":
        value = Reference(value.text)
    if isinstance(value, Reference):
        return walk.state.outside(Reference(value.name + ".new", value.labels, value.value), arguments), stop
    result = walk.state.call(value, arguments)
    return result, stop


def is_bare_value(walk: Walk, at: int) -> bool:
    """Whether the token at ``at`` begins an argument that is given without parentheses."""
    token = walk.tokens[at]
    if token.newline and walk.language in LINEWISE:
        return False
    if token.kind == "name":
        return token.text not in NO_VALUE and token.text not in walk.words and token.spaced
    if token.kind != "operator":
        return token.spaced or token.kind in ("string", "shell", "variable")
    if walk.language == "perl":
        return token.text in ("\\", "[", "{", "<", "(") or (
            token.text in ("-", "$", "@", "%", "&", "+", "!") and token.spaced and not walk.spaced(at + 1)
        )
    if walk.language == "ruby":
        if token.text in ("[", "->", "::", "!"):
            return token.spaced
        return token.text in ("*", "&", "-", "~", ":", "**") and token.spaced and not walk.spaced(at + 1)
    return token.text == "[" and token.spaced and False


def bare_arguments(walk: Walk, at: int) -> tuple[list[Value], list[Place], int]:
    """Arguments without parentheses."""
    values: list[Value] = []
    places: list[Place] = []
    table: dict[str, Value] = {}
    while at < walk.size and walk.state.steps > 0:
        if (
            walk.is_operator(at, "*")
            or walk.is_operator(at, "**")
            or (walk.is_operator(at, "&") and walk.language == "ruby")
        ):
            at += 1
        key = script_literals.read_key(walk, at, walk.size)
        if key is not None:
            value, stop = walk.expression(key[1], 1)
            table[key[0]] = value
        else:
            value, stop = walk.expression(at, 1)
            if walk.is_operator(stop, "=>") and walk.language == "ruby":
                name = known(value)
                value, stop = walk.expression(stop + 1, 1)
                table[name if name is not None else ""] = value
            elif walk.language == "perl" and type(value) is list:
                values.extend(value)
                places.extend([None] * len(value))
            else:
                values.append(value)
                places.append(walk.place)
        if stop <= at:
            break
        at = stop
        if not walk.is_operator(at, ",") and not (walk.is_operator(at, "=>") and walk.language == "perl"):
            break
        while walk.is_operator(at, ",") or walk.is_operator(at, "=>"):
            at += 1
        if at < walk.size and walk.tokens[at].kind == "operator" and walk.tokens[at].text in (";", "}", ")", "]"):
            break
    if table:
        values.append(table)
        places.append(None)
    return values, places, at
