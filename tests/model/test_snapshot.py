"""Large results: what they are kept as, and that nothing which their author does later changes them."""

from __future__ import annotations

import array
import copy
import datetime as dt
import pickle
from collections import OrderedDict
from typing import Any

import pytest

from agent_hooks.engine.calling import InTurns
from agent_hooks.model.snapshot import Snapshot, read_only
from agent_hooks.model.tool_call import ToolCall, ToolExecution
from agent_hooks.model.values import FrozenDict, FrozenList, freeze

pytestmark = pytest.mark.interpreter


def rows(first: Any = 0) -> list[Any]:
    return [{"id": number, "value": first} for number in range(10_000)]


def kept(value: Any) -> Any:
    held = read_only(value)
    return InTurns(held).at_once() if hasattr(held, "__next__") else held


@pytest.mark.parametrize(
    "value",
    [rows((1, 2)), {"rows": rows({1: b"x"}), 2: {3, 4}}, tuple(rows(1.5)), [rows(float("inf")), 2**70, 1j]],
    ids=["list", "dict", "tuple", "numbers"],
)
def test_much_plain_data_is_kept_as_bytes_and_read_as_the_frozen_value(value):
    held = kept(value)
    assert type(held) is Snapshot
    assert repr(held.whole()) == repr(freeze(value))
    assert held.whole() is held.whole()
    assert type(held.whole()) in (FrozenDict, FrozenList, tuple)
    assert held == freeze(value)


@pytest.mark.parametrize(
    "odd",
    [array.array("i", [1]), dt.date(2026, 1, 1), OrderedDict(a=1), object(), float("nan")],
    ids=["array", "date", "a dict of its own kind", "object", "a number that equals nothing"],
)
def test_what_is_no_plain_data_is_frozen_as_it_is(odd):
    value = rows(odd)
    held = kept(value)
    assert type(held) is FrozenList
    assert held[0]["value"] is odd or held[0]["value"] == odd
    assert type(held[0]["value"]) is type(freeze(odd))


@pytest.mark.parametrize("value", ["x" * 10**6, {"text": "x" * 10**6}, [{"a": 1}], None, (1, "x")])
def test_a_text_and_a_small_result_are_frozen_at_once(value):
    assert read_only(value) == freeze(value)
    assert type(read_only(value)) is type(freeze(value))


def test_what_its_author_changes_later_changes_neither_value_nor_text():
    value = rows()
    held = kept(value)
    value[0]["id"] = "changed"
    assert held.whole()[0]["id"] == 0
    assert "changed" not in held.text


@pytest.mark.parametrize("turns", [1, 2])
def test_what_its_author_changes_meanwhile_is_in_value_and_text_alike(turns):
    value = rows()
    work = read_only(value)
    for _ in range(turns):
        next(work)
    value[0]["id"] = "changed"
    held = InTurns(work).at_once()
    whole = held.whole() if type(held) is Snapshot else held
    execution = ToolExecution._of({"call": ToolCall("query"), "result": held})
    assert execution.result == whole
    if type(held) is Snapshot:
        assert ("changed" in held.text) == (whole[0]["id"] == "changed")


def test_a_copy_can_be_changed_and_is_nobody_elses():
    held = kept(rows())
    held.copy()[0]["id"] = "changed"
    assert held.whole()[0]["id"] == 0
    execution = ToolExecution._of({"call": ToolCall("query"), "result": held})
    assert copy.deepcopy(execution).result == execution.result


def test_it_is_written_and_restored_like_the_value():
    execution = ToolExecution._of({"call": ToolCall("query"), "result": kept(rows((1, 2)))})
    plain = ToolExecution(call=ToolCall("query"), result=rows((1, 2)))
    assert execution == plain
    assert execution.as_dict() == plain.as_dict()
    assert pickle.loads(pickle.dumps(execution)).result == plain.result
    assert len(repr(execution)) < 2000
