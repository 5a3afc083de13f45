"""What is Ruby's own: calls without parentheses, and blocks."""

from __future__ import annotations

from agent_hooks_guards.model.values import NO_LABELS, Data

from . import script_assignment, script_functions, script_literals, script_names, script_statements
from .script_grammar import ASSIGNING
from .script_limits import ENVIRONMENT_DUMP
from .values import Closure, Reference, Value, concat, unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .script_state import Place
    from .script_walk import Walk


def append_value(walk: Walk, value: Value, right: Value, place: Place) -> Value:
    """`value << other`."""
    result: Value
    if isinstance(value, list):
        value.append(right)
        return value
    if isinstance(value, Reference):
        return walk.state.method(value, "<<", [right])
    result = concat(value, right)
    if place is not None:
        script_assignment.store(walk, place, result)
    return result


def named_value(walk: Walk, at: int) -> tuple[Value, int]:
    """The value of a name: a keyword, a constant or a call."""
    token = walk.tokens[at]
    text = token.text
    state = walk.state
    stop = at + 1
    if text in ("begin", "ensure", "else", "then", "do", "end", "in", "rescue"):
        return None, stop
    if text in {"__FILE__", "__method__", "__dir__"}:
        return Data(state.script) if state.script else unknown(), stop
    if text == "walk":
        return Reference("walk"), stop
    if text == "yield":
        return unknown(), stop
    if text in ("if", "unless", "while", "until", "case") and at in walk.closes:
        closing = walk.close(at)
        script_statements.conditional(walk, at, walk.size) if text in (
            "if",
            "unless",
            "case",
        ) else script_statements.while_loop(walk, at, walk.size)
        return walk.last, closing + 1
    if (
        text[:1].isupper()
        and not (walk.is_operator(stop, "(") and not walk.spaced(stop))
        and not (
            stop < walk.size
            and walk.tokens[stop].kind == "string"
            and walk.tokens[stop].spaced
            and not walk.tokens[stop].newline
        )
    ):
        walk.place = ("name", text, None)
        return Reference(text, ENVIRONMENT_DUMP if text == "ENV" else NO_LABELS), stop
    if walk.is_operator(stop, "=") or (
        stop < walk.size and walk.tokens[stop].kind == "operator" and walk.tokens[stop].text in ASSIGNING
    ):
        walk.place = ("name", text, None)
        return None, stop
    return call_method(walk, stop, None, text)


def call_method(walk: Walk, at: int, owner: Value, name: str) -> tuple[Value, int]:
    """Call a method with the arguments and the block that follow at ``at``."""
    state = walk.state
    arguments: list[Value] = []
    stop = at
    if walk.is_operator(stop, "(") and not walk.spaced(stop):
        arguments, _places = script_literals.read_values(walk, stop + 1, walk.close(stop))
        stop = walk.close(stop) + 1
    elif stop < walk.size and script_names.is_bare_value(walk, stop):
        arguments, _places, stop = script_names.bare_arguments(walk, stop)
    elif stop < walk.size and walk.is_operator(stop, "=") and not walk.is_operator(stop, "=="):
        value, stop = walk.expression(stop + 1, 1)
        arguments = [value]
    block: Closure | None = None
    if (
        stop < walk.size
        and not walk.tokens[stop].newline
        and (walk.is_operator(stop, "{") or (walk.is_name(stop, "do") and not walk.no_block))
    ):
        block, stop = read_block(walk, stop)
    if block is not None:
        arguments.append(block)
    walk.place = None
    if owner is None and name in ("lambda", "proc") and block is not None:
        return block, stop
    if owner is None:
        if name in state.functions:
            return state.apply(state.functions[name], arguments), stop
        if name == "loop" and block is not None:
            state.endless += 1
            state.apply(block, [])
            state.endless -= 1
            return unknown(), stop
        return state.outside(Reference(name), arguments), stop
    return state.method(owner, name, arguments), stop


def read_block(walk: Walk, at: int) -> tuple[Closure, int]:
    """`{ |x| … }` and `do |x| … end` behind a call."""
    closing = walk.close(at)
    stop = at + 1
    parameters: list[tuple[object, int]] = []
    if walk.is_operator(stop, "|"):
        stop += 1
        while stop < closing and not walk.is_operator(stop, "|"):
            if walk.is_operator(stop, "("):
                parameters.append((script_functions.read_pattern(walk, stop)[0], 0))
                stop = walk.close(stop)
            elif walk.tokens[stop].kind == "name":
                parameters.append((walk.tokens[stop].text, 0))
            stop += 1
        stop += 1
    elif walk.is_operator(stop, "||"):
        stop += 1
    else:
        parameters = [("_1", 0)]
        if any(walk.is_name(position, "it") for position in range(stop, min(closing, stop + 60))):
            parameters = [("it", 0)]
    return script_functions.make_function(walk, "", parameters, (stop, closing)), closing + 1


def call_value(walk: Walk, value: Value, at: int) -> tuple[Value, int]:
    """`value.(…)`."""
    arguments, _places = script_literals.read_values(walk, at + 1, walk.close(at))
    return walk.state.method(value, "call", arguments), walk.close(at) + 1
