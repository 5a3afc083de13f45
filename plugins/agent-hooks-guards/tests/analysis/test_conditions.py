"""Tests as a shell decides them, as far as their words are known."""

from __future__ import annotations

from agent_hooks_guards.analysis.conditions import matched
from agent_hooks_guards.model.values import UNKNOWN


def test_what_brackets_matched_is_told():
    assert [each.text for each in matched("key=value", ["^k(.*)=(.*)$"])] == ["key=value", "ey", "value"]
    assert [each.text for each in matched("a1", ["[[:digit:]]"])] == [UNKNOWN]
    assert matched("a", ["b"]) == []


def test_a_pattern_that_takes_for_ever_is_not_tried():
    found = matched("a" * 200, ["^(a+)+$b"])
    assert {each.text for each in found} == {UNKNOWN}


def test_a_long_text_is_not_searched():
    assert [each.text for each in matched("a" * 200, ["^a"])] == ["a"]
    assert [each.text for each in matched("a" * 201, ["^a"])] == [UNKNOWN]
