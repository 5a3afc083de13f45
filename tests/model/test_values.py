"""Values: immutable records that round trip through JSON."""

from __future__ import annotations

import copy
import json
import pickle
from inspect import get_annotations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_hooks import (
    AgentState,
    ErrorInfo,
    Finding,
    HookContext,
    HookEvent,
    HookInfo,
    HookOutcome,
    HookPolicy,
    Message,
    PluginInfo,
    Step,
    StopReason,
    StopSignal,
    ToolCall,
    ToolExecution,
    Usage,
)
from agent_hooks.errors import ReadOnlyError
from agent_hooks.model.outcome import _OWN_NAMES, Shadowed
from agent_hooks.model.policy import CONTRACTS, FAILURES
from agent_hooks.model.tools import KINDS, FileOperation
from agent_hooks.model.values import FrozenDict, FrozenList, Value, freeze, plain, thaw
from tables import tables

TABLES = tables(__file__)

pytestmark = pytest.mark.interpreter


# -- every value round trips through JSON ------------------------------------------------------------------------------

texts = st.text(max_size=8)
seconds = st.floats(0, 1e9, allow_nan=False)
atoms = (
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | texts
)
json_values = st.recursive(
    atoms, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3), max_leaves=6
)
json_dicts = st.dictionaries(texts, json_values, max_size=3)
outcomes = st.deferred(lambda: values_of(HookOutcome))
PLAIN_HINTS: dict[str, st.SearchStrategy[Any]] = {
    "str": texts,
    "int": st.integers(1, 10**6),
    "float": seconds,
    "bool": st.booleans(),
    "Any": json_values,
    "Mapping[str, Any]": json_dicts,
    "Decision": st.sampled_from(_OWN_NAMES),
    "HookEvent": st.sampled_from(list(HookEvent.all())),
    "StopReason": st.sampled_from([StopReason.ERROR, StopReason.COMPLETED, StopReason.STEPS_LIMIT]),
    "tuple[str, str]": st.tuples(texts, texts),
    # Fields that not any value of their type fits.
    "ToolCall.kind": st.sampled_from(KINDS),
    "HookContext.error": st.deferred(lambda: values_of(ErrorInfo)),
    "HookContext.previous": st.recursive(st.none(), lambda link: st.tuples(link, texts, outcomes), max_leaves=3),
    "AgentState.model_usage": st.deferred(lambda: st.dictionaries(texts, values_of(Usage), max_size=2)),
    "AgentState.suspended": st.none(),
    "HookPolicy.on_gate_failure": st.sampled_from([None, *FAILURES]),
    "HookPolicy.ask_fallback": st.sampled_from(["deny", "allow"]),
    "HookPolicy.contracts": st.sampled_from(CONTRACTS),
    "HookPolicy.timeout": st.none() | st.floats(0.1, 9),
    "HookPolicy.suspension_ttl": st.none() | st.floats(0.1, 9),
}
EVERY_VALUE: dict[str, type[Value]] = {
    kind.__name__: kind
    for kind in (
        *(ErrorInfo, Usage, ToolCall, ToolExecution, Message, StopSignal, Step, AgentState, Finding, HookOutcome),
        *(HookContext, HookPolicy, HookInfo, PluginInfo, FileOperation, Shadowed),
    )
}


def values_of(kind: Any) -> st.SearchStrategy[Any]:
    """Values of ``kind`` with some of its fields; those without a default are always there."""
    hints = {name: hint for base in reversed(kind.__mro__) for name, hint in get_annotations(base).items()}
    known = sorted(name for name in hints if name in kind._known and name != "runtime")  # which stays with the process

    def some_of(chosen: set[str]) -> st.SearchStrategy[dict[str, Any]]:
        names = sorted({*chosen, *(name for name in known if name in kind._required)})
        return st.fixed_dictionaries({name: fitting(hints[name], f"{kind.__name__}.{name}") for name in names})

    return st.sets(st.sampled_from(known), max_size=6).flatmap(some_of).map(lambda fields: kind(**fields))


def fitting(hint: str, field: str = "") -> st.SearchStrategy[Any]:
    """Values for a field with this annotation."""
    for known in (field, hint):
        if known in PLAIN_HINTS:
            return PLAIN_HINTS[known]
    if hint.endswith(" | None"):
        return st.none() | fitting(hint.removesuffix(" | None"))
    if hint.startswith("tuple["):
        return st.lists(fitting(hint[len("tuple[") : -len(", ...]")]), max_size=2).map(tuple)
    return values_of(EVERY_VALUE[hint])


@pytest.mark.parametrize("kind", EVERY_VALUE)
@given(data=st.data())
def test_every_value_round_trips_through_json(kind, data):
    value = data.draw(values_of(EVERY_VALUE[kind]))
    assert EVERY_VALUE[kind].from_dict(json.loads(json.dumps(value.as_dict()))) == value


def test_what_round_trips_keeps_its_immutability():
    message = Message.from_dict(json.loads(json.dumps(Message(role="user", metadata={"a": [1]}).as_dict())))
    with pytest.raises(ReadOnlyError):
        message.metadata["a"].append(2)


# -- records -----------------------------------------------------------------------------------------------------------


class Point(Value):
    x: int
    y: int = 0


class Named(Point):
    name: str = ""


def test_a_field_without_a_value_is_its_default():
    assert (Point(x=1).x, Point(x=1).y) == (1, 0)


def test_a_missing_field_is_named():
    with pytest.raises(TypeError, match="Point needs x; its fields are x, y"):
        Point(y=1)  # type: ignore[call-arg]


def test_an_unknown_field_is_named():
    with pytest.raises(TypeError, match="Point has no field z; its fields are x, y"):
        Point(x=1, z=2)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="has no field z"):
        Point(x=1).replace(z=2)
    with pytest.raises(TypeError, match="has no field z"):
        Point.from_dict({"x": 1, "z": 2})


def test_a_field_cannot_be_set_and_the_error_says_what_to_do():
    point = Point(x=1)
    with pytest.raises(ReadOnlyError, match=r"Point.x is read-only; use .replace\(x=...\)"):
        point.x = 2  # type: ignore[misc]
    assert point.x == 1


def test_replace_gives_a_changed_copy():
    point = Point(x=1)
    assert (point.replace(y=2), point) == (Point(x=1, y=2), Point(x=1))


def test_a_field_set_to_its_default_equals_one_that_is_not_set():
    assert Point(x=1, y=0) == Point(x=1)
    assert Point(x=1, y=1) != Point(x=1)


def test_values_of_different_classes_are_never_equal():
    assert Named(x=1) != Point(x=1)


def test_a_subclass_has_the_fields_of_its_base():
    assert Named(x=1, name="a").as_dict() == {"x": 1, "name": "a"}


def test_values_cannot_be_hashed():
    """They may hold dicts."""
    with pytest.raises(TypeError, match="unhashable"):
        hash(Point(x=1))


def test_a_value_shows_the_fields_that_are_set():
    assert repr(Named(x=1, name="a")) == "Named(x=1, name='a')"


# -- frozen containers -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("value", "method", "given"), TABLES["changes"])
def test_a_frozen_container_refuses_every_change(value, method, given):
    frozen = freeze(value)
    with pytest.raises(ReadOnlyError, match="Return the change instead"):
        getattr(frozen, method)(*given)
    assert frozen == value


@given(json_values)
def test_freezing_changes_no_value_and_thawing_undoes_it(value):
    before = copy.deepcopy(value)
    frozen = freeze(value)
    assert frozen == before
    thawed = thaw(frozen)
    assert (thawed, type(thawed)) == (before, type(value))


def test_freezing_reaches_all_the_way_down_and_copies():
    given_args: dict[str, Any] = {"a": [{"b": [1]}], "t": ([1],)}
    frozen = freeze(given_args)
    given_args["a"].append(2)
    assert frozen["a"] == [{"b": [1]}]
    for inner in (frozen["a"], frozen["a"][0]["b"], frozen["t"][0]):
        assert type(inner) is FrozenList
    assert type(frozen["a"][0]) is FrozenDict


def test_a_deep_copy_can_be_changed():
    frozen = freeze({"a": [{"b": 1}]})
    copied = copy.deepcopy(frozen)
    copied["a"][0]["b"] = 2
    copied["a"].append(3)
    assert (copied, frozen) == ({"a": [{"b": 2}, 3]}, {"a": [{"b": 1}]})


def test_a_pickled_copy_is_frozen_too():
    restored = pickle.loads(pickle.dumps(freeze({"a": [1]})))
    assert (type(restored), type(restored["a"]), restored) == (FrozenDict, FrozenList, {"a": [1]})


# -- JSON types --------------------------------------------------------------------------------------------------------


class Mappish:
    def keys(self):
        return ["k"]

    def __getitem__(self, key):
        return key * 2


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (float("nan"), "nan"),
        (float("-inf"), "-inf"),
        ({1: (2, 3)}, {"1": [2, 3]}),
        (frozenset({1}), [1]),
        (ValueError("why"), {"type": "ValueError", "message": "why"}),
        (HookEvent.SETUP, "setup"),
        (Point(x=1), {"x": 1}),
        (Mappish(), {"k": "kk"}),
        (b"x", "b'x'"),
        (True, True),
    ],
)
def test_anything_becomes_json_types(value, expected):
    assert plain(value) == expected
    json.dumps(plain(value), allow_nan=False)


def test_a_name_becomes_an_exact_string():
    assert type(plain(HookEvent.SETUP)) is str


def test_what_cannot_be_written_does_not_break_what_holds_it():
    class Broken:
        def __str__(self):
            raise RuntimeError

    assert ToolExecution(call=ToolCall("t"), result=Broken()).as_dict()["result"] == "<Broken that cannot be written>"


def test_fields_are_given_by_name():
    with pytest.raises(TypeError, match="Message takes its fields by name: content, metadata"):
        Message("user", "Hello.")  # type: ignore[call-arg]


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=10,
)


@given(PLAIN)
def test_a_small_value_is_shown_whole(value):
    assert repr(HookContext("before_tool_use", payload=value, created_at=0.0)) == (
        f"HookContext(payload={value!r}, created_at=0.0, event={HookEvent.BEFORE_TOOL_USE!r})"
    )


def test_a_large_value_is_shown_shortened():
    """asyncio asks for the representation of a task's result, which is the whole conversation, at each start."""
    messages = tuple(Message(role="user", content="x" * 5000) for _ in range(1000))
    shown = repr(AgentState(messages=messages, metadata={str(number): number for number in range(1000)}))
    assert len(shown) < 30_000
    assert "'... (4000 more characters)" in shown
    assert shown.count("... 980 more") == 2
