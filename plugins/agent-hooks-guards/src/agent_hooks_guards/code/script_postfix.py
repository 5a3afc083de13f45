"""What stands behind a value: calls, members, indexes."""

from __future__ import annotations

from agent_hooks_guards.model.values import UNKNOWN, Data

from . import script_assignment, script_literals, script_perl, script_ruby
from .folding import binary
from .script_grammar import LINEWISE
from .values import MOST_ITEMS, Closure, Method, Reference, Value, join, known, text_of, unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .script_walk import Walk
    from .tokens import Token


def read_postfix(walk: Walk, value: Value, at: int, start: int) -> tuple[Value, int]:
    """A value with all calls, members and indexes behind it."""
    language = walk.language
    state = walk.state
    while at < walk.size and state.steps > 0:
        token = walk.tokens[at]
        text = token.text
        if token.kind == "string":
            if language == "node" and text == "`" and isinstance(value, (Reference, Closure, Method)):
                value = tagged_text(walk, value, token)
                at += 1
                continue
            if language == "lua" and isinstance(value, (Reference, Closure, Method)):
                value = state.call(value, [script_literals.text_parts(walk, token)])
                at += 1
                continue
            break
        if token.kind == "name":
            break
        if token.kind != "operator":
            break
        if text == "(":
            if language == "ruby" and (token.spaced or token.newline):
                break
            if language == "perl" and not isinstance(value, (Closure, Method)):
                break
            if token.newline and language in LINEWISE:
                break
            value, at = read_call(walk, value, at)
            continue
        if text == "{" and language == "lua" and isinstance(value, (Reference, Closure, Method)) and not token.newline:
            argument, at = script_literals.read_table(walk, at)
            value = state.call(value, [argument])
            continue
        if text == "{" and language == "groovy" and isinstance(value, (Reference, Method)) and not walk.no_block:
            argument, at = script_literals.read_table(walk, at)
            value = state.call(value, [argument])
            continue
        if text in (".", "?.", "&.") and language not in ("perl", "php", "r", "vim"):
            result = read_dotted(walk, value, at)
            if result is None:
                break
            value, at = result
            continue
        if text in ("->", "?->") and language in ("perl", "php"):
            value, at = read_arrowed(walk, value, at)
            continue
        if text == "::" and at + 1 < walk.size and language in ("ruby", "php", "r"):
            value, at = read_scoped(walk, value, at)
            continue
        if (
            text == ":"
            and language == "lua"
            and at + 2 < walk.size
            and walk.tokens[at + 1].kind == "name"
            and not token.spaced
        ):
            value, at = (
                state.member(value, walk.tokens[at + 1].text)
                if not isinstance(value, Data)
                else Method(value, walk.tokens[at + 1].text),
                at + 2,
            )
            walk.place = None
            continue
        if text == "[":
            if language == "ruby" and token.spaced and not isinstance(value, (Data, list, dict)):
                break
            if token.newline and (
                language in LINEWISE or (language == "node" and not isinstance(value, (Reference, Method)))
            ):
                break
            keys, _places = script_literals.read_values(walk, at + 1, walk.close(at))
            value = index_value(walk, value, keys)
            at = walk.close(at) + 1
            continue
        if (
            text == "{"
            and language == "perl"
            and not token.spaced
            and walk.place is not None
            and walk.place[0] == "member"
            and start < at
        ):
            value, at = script_perl.hash_index(walk, value, at)
            continue
        if text in ("++", "--"):
            after = binary("+" if text == "++" else "-", value, 1, language)
            script_assignment.store(walk, walk.place, after)
            walk.place = None
            at += 1
            continue
        if text == "!" and language == "node":
            at += 1
            continue
        break
    return value, at


def tagged_text(walk: Walk, value: Value, token: Token) -> Value:
    """A template with a function before it."""
    return walk.state.call(value, [script_literals.text_parts(walk, token)])


def read_call(walk: Walk, value: Value, at: int) -> tuple[Value, int]:
    """`value(…)`."""
    closing = walk.close(at)
    arguments, _places = script_literals.read_values(walk, at + 1, closing)
    walk.place = None
    if isinstance(value, Reference) and walk.language != "perl":
        closure = walk.state.functions.get(value.name)
        if closure is not None:
            return walk.state.apply(closure, arguments), closing + 1
    return walk.state.call(value, arguments), closing + 1


def index_value(walk: Walk, value: Value, keys: list[Value]) -> Value:
    """`value[…]`."""
    state = walk.state
    key = keys[0] if keys else None
    if isinstance(value, Reference) and walk.language == "ruby":
        return state.method(value, "[]", keys)
    if len(keys) == 2 and walk.language == "ruby":
        return state.method(value, "slice", keys)
    if isinstance(key, list) and walk.language == "ruby" and isinstance(value, (list, Data)):
        items = [state.index(value, item) for item in key[:MOST_ITEMS]]
        return items if isinstance(value, list) else join(items)
    if walk.language == "perl" and len(keys) > 1:
        return [state.index(value, item) for item in keys]
    result = state.index(value, key)
    walk.place = ("member", value, key)
    if isinstance(value, Reference):
        name = known(key)
        stored = state.variables.get(f"{value.name}.{name}")
        return stored if stored is not None else result
    return result


def read_dotted(walk: Walk, value: Value, at: int) -> tuple[Value, int] | None:
    """`value.name` and `value?.name`; None if no name follows."""
    state = walk.state
    following = at + 1
    if following >= walk.size:
        return None
    token = walk.tokens[following]
    if token.kind == "operator":
        if token.text == "(":
            return (
                (read_call(walk, value, following))
                if walk.language != "ruby"
                else script_ruby.call_value(walk, value, following)
            )
        if token.text == "[" and walk.tokens[at].text == "?.":
            keys, _places = script_literals.read_values(walk, following + 1, walk.close(following))
            return index_value(walk, value, keys), walk.close(following) + 1
        if token.text == "#" and following + 1 < walk.size:
            return unknown(value), following + 2
        return None
    if token.kind not in ("name", "string"):
        return None
    name = token.text if token.kind == "name" else text_of(script_literals.text_parts(walk, token)).text
    if walk.language == "ruby":
        if name[:1].isupper() and not walk.is_operator(following + 1, "(") and isinstance(value, Reference):
            return state.member(value, name), following + 1
        place = walk.place
        if not (name.endswith("!") and isinstance(value, Data)):
            return script_ruby.call_method(walk, following + 1, value if value is not None else unknown(), name)
        # What changes a text in its place.
        result, stop = script_ruby.call_method(walk, following + 1, value, name[:-1])
        script_assignment.store(walk, place, result)
        return result, stop
    stored = state.variables.get(f"{value.name}.{name}") if isinstance(value, Reference) else None
    result = stored if stored is not None else state.member(value, name)
    walk.place = ("member", value, name)
    return result, following + 1


def read_arrowed(walk: Walk, value: Value, at: int) -> tuple[Value, int]:
    """`->` of Perl and PHP."""
    state = walk.state
    following = at + 1
    if following >= walk.size:
        return value, following
    token = walk.tokens[following]
    if token.kind == "operator":
        if token.text == "(":
            return read_call(walk, value, following)
        if token.text == "[":
            keys, _places = script_literals.read_values(walk, following + 1, walk.close(following))
            return index_value(walk, value, keys), walk.close(following) + 1
        if token.text == "{":
            return script_perl.hash_index(walk, value, following)
        if token.text in ("@", "$", "%"):
            return value, min(following + 2, walk.size)
        return value, following + 1
    if token.kind == "variable":
        if token.text == "@*":
            return value, following + 1
        method, stop = walk.primary(following)
        name = known(method)
        if isinstance(method, Closure):
            name = ""
        if walk.is_operator(stop, "("):
            arguments, _places = script_literals.read_values(walk, stop + 1, walk.close(stop))
            stop = walk.close(stop) + 1
            if isinstance(method, Closure):
                return state.apply(method, arguments), stop
        else:
            arguments = []
        return state.method(value, name if name is not None else UNKNOWN, arguments), stop
    name = token.text
    walk.place = None
    stop = following + 1
    if isinstance(value, Data) and UNKNOWN not in value.text and walk.language == "perl":
        value = Reference(value.text.replace("::", "."))
    if walk.is_operator(stop, "("):
        arguments, _places = script_literals.read_values(walk, stop + 1, walk.close(stop))
        return state.method(value, name, arguments), walk.close(stop) + 1
    if walk.language == "perl":
        return state.method(value, name, []), stop
    result = state.member(value, name)
    walk.place = ("member", value, name)
    return result, stop


def read_scoped(walk: Walk, value: Value, at: int) -> tuple[Value, int]:
    """`A::B`, `A::b(…)`."""
    token = walk.tokens[at + 1]
    if token.kind not in ("name", "variable"):
        return value, at + 1
    name = token.text
    walk.place = None
    if walk.language == "r":
        return Reference(name), at + 2
    if walk.language == "ruby" and (
        not name[:1].isupper() or (walk.is_operator(at + 2, "(") and not walk.spaced(at + 2))
    ):
        return script_ruby.call_method(walk, at + 2, value, name)
    return walk.state.member(value, name), at + 2
