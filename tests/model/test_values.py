"""Values: immutable records that round trip through JSON."""

from __future__ import annotations

import copy
import json
import pickle
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
from agent_hooks.model.outcome import _OWN_NAMES, SUBJECTS
from agent_hooks.model.tools import KINDS, FileOperation
from agent_hooks.model.values import FrozenDict, FrozenList, Value, freeze, plain, thaw

pytestmark = pytest.mark.interpreter


# -- every value round trips through JSON ------------------------------------------------------------------------------

texts = st.text(max_size=8)
numbers = st.integers(0, 10**6)
seconds = st.floats(0, 1e9, allow_nan=False)
atoms = (
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | texts
)
json_values = st.recursive(
    atoms, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3), max_leaves=6
)
json_dicts = st.dictionaries(texts, json_values, max_size=3)


def tuples(of: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(of, max_size=2).map(tuple)


def some_of(kind: Any, /, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Values of ``kind`` with some of these fields; those whose class has no default are always there."""
    required = {name: strategy for name, strategy in fields.items() if name in kind._required}
    return st.fixed_dictionaries(required, optional={n: s for n, s in fields.items() if n not in required}).map(
        lambda chosen: kind(**chosen)
    )


errors = some_of(ErrorInfo, type=texts, message=texts)
usages = some_of(Usage, input_tokens=numbers, output_tokens=numbers, cached_tokens=numbers, reasoning_tokens=numbers)
calls = st.builds(ToolCall, texts, json_dicts, id=texts, kind=st.sampled_from(KINDS), aliases=tuples(texts))
executions = some_of(
    ToolExecution, call=calls, result=json_values, error=errors | st.none(), was_blocked=st.booleans(), reason=texts,
    context=texts, duration=seconds,
)  # fmt: skip
messages = some_of(
    Message,
    role=texts,
    content=json_values,
    name=texts,
    tool_calls=tuples(calls),
    tool_call_id=texts,
    metadata=json_dicts,
)
reasons = st.sampled_from([StopReason.ERROR, StopReason.COMPLETED, StopReason.STEPS_LIMIT])
signals = some_of(StopSignal, reason=reasons, message=texts, context=json_dicts, source=texts)
steps = some_of(
    Step, index=numbers, message=messages | st.none(), executions=tuples(executions), usage=usages, finish_reason=texts,
    errors=tuples(errors),
)  # fmt: skip
states = some_of(
    AgentState, agent_id=texts, parent_agent_id=texts | st.none(), execution_count=numbers, status=texts,
    system_prompt=texts, response_format=json_values, messages=tuples(messages), metadata=json_dicts,
    steps=tuples(steps), current_step=steps | st.none(), usage=usages, stop_signals=tuples(signals),
    continuation_requested=st.booleans(), errors=tuples(errors), output=json_values,
)  # fmt: skip
findings = some_of(Finding, hook=texts, kind=st.sampled_from(["failure", "contract"]), message=texts)
outcomes = some_of(
    HookOutcome, decision=st.sampled_from(_OWN_NAMES), reason=texts, final=st.booleans(), tool_args=json_dicts,
    error_text=texts, state=states, context=texts, messages=tuples(messages), metadata=json_dicts,
    signals=tuples(signals), data=json_values, hook=texts, failed=st.booleans(), token=texts,
    asked_by=tuples(texts), asked_keys=tuples(st.tuples(texts, texts)), findings=tuples(findings),
    **dict.fromkeys(SUBJECTS - {"tool_args", "error_text"}, json_values),
)  # fmt: skip
previous = st.recursive(st.none(), lambda link: st.tuples(link, texts, outcomes), max_leaves=3)
contexts = st.builds(
    lambda event, fields: HookContext(event, **fields),
    st.sampled_from(list(HookEvent.all())),
    st.fixed_dictionaries(
        {},
        optional={
            "agent_id": texts, "depth": numbers, "cwd": texts, "scope": texts | st.none(), "state": states,
            "tool_call": calls, "tool_execution": executions, "result": json_values, "error": errors,
            "error_list": tuples(errors), "prompt": json_values, "task": json_values, "step": steps,
            "stop_signal": signals, "context": texts, "messages": tuples(messages), "metadata": json_dicts,
            "signals": tuples(signals), "previous": previous, "rechecking": st.booleans(), "outcome": outcomes,
            "asked_by": tuples(texts),
        },
    ),
)  # fmt: skip
policies = some_of(
    HookPolicy, on_gate_failure=st.sampled_from([None, "open", "ask", "closed"]), timeout=st.none() | st.floats(0.1, 9),
    max_rechecks=numbers, shadow=st.booleans(), contracts=st.sampled_from(["off", "diagnostic", "strict"]),
)  # fmt: skip
hook_infos = some_of(
    HookInfo, event=texts, name=texts, plugin=texts, priority=st.integers(), match=texts, timeout=seconds | st.none(),
    scope=st.none() | st.tuples(st.sampled_from(["session", "skill"]), texts),
)  # fmt: skip
plugin_infos = some_of(
    PluginInfo, name=texts, source=texts, status=texts, distribution=texts, version=texts, error=texts
)
operations = some_of(FileOperation, kind=texts, path=texts)

EVERY_VALUE = {
    ErrorInfo: errors, Usage: usages, ToolCall: calls, ToolExecution: executions, Message: messages,
    StopSignal: signals, Step: steps, AgentState: states, Finding: findings, HookOutcome: outcomes,
    HookContext: contexts,
    HookPolicy: policies, HookInfo: hook_infos, PluginInfo: plugin_infos, FileOperation: operations,
}  # fmt: skip


@pytest.mark.parametrize("kind", EVERY_VALUE)
@given(data=st.data())
def test_every_value_round_trips_through_json(kind, data):
    value = data.draw(EVERY_VALUE[kind])
    assert kind.from_dict(json.loads(json.dumps(value.as_dict()))) == value


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

DICT_CHANGES = [
    lambda d: d.__setitem__("a", 2),
    lambda d: d.__delitem__("a"),
    lambda d: d.__ior__({"b": 1}),
    lambda d: d.clear(),
    lambda d: d.pop("a"),
    lambda d: d.popitem(),
    lambda d: d.setdefault("b", 1),
    lambda d: d.update(b=1),
]
LIST_CHANGES = [
    lambda x: x.__setitem__(0, 2),
    lambda x: x.__delitem__(0),
    lambda x: x.__iadd__([1]),
    lambda x: x.__imul__(2),
    lambda x: x.append(1),
    lambda x: x.clear(),
    lambda x: x.extend([1]),
    lambda x: x.insert(0, 1),
    lambda x: x.pop(),
    lambda x: x.remove(1),
    lambda x: x.reverse(),
    lambda x: x.sort(),
]


@pytest.mark.parametrize("change", DICT_CHANGES)
def test_a_frozen_dict_refuses_every_change(change):
    frozen = freeze({"a": 1})
    with pytest.raises(ReadOnlyError, match="Return the change instead"):
        change(frozen)
    assert frozen == {"a": 1}


@pytest.mark.parametrize("change", LIST_CHANGES)
def test_a_frozen_list_refuses_every_change(change):
    frozen = freeze([1])
    with pytest.raises(ReadOnlyError, match="Return the change instead"):
        change(frozen)
    assert frozen == [1]


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
