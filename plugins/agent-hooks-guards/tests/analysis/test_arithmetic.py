"""Arithmetic as bash does it: what expressions come to, what they set, and what their subscripts run."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_hooks_guards.analysis.conditions import Arithmetic
from agent_hooks_guards.model.values import UNKNOWN


def come_to(text, variables=None, expanded=None):
    known = {} if variables is None else variables

    def expand(inside):
        if expanded is not None:
            expanded.append(inside)
        return inside

    return Arithmetic(lambda name: known.get(name, ""), known.__setitem__, expand).evaluate(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("10 - 4 - 3", 3),
        ("7 / 2", 3),
        ("-7 / 2", -3),
        ("-7 % 3", -1),
        ("0x1f", 31),
        ("010", 8),
        ("1, 2, 3", 3),
        ("1 < 2 && 2 < 1", 0),
        ("nothing", 0),
        ("1 / 0", None),
        ("1 +", None),
        ("'a' b", None),
        ("2 ** 3", None),
        ("1 << 4", None),
        ("2#101", None),
        ("1 ? 2 : 3", None),
        ("9223372036854775807 + 1", None),
        ("-" * 1000, None),
        ("(" * 100, None),
    ],
)
def test_an_expression_comes_to_what_bash_says(text, expected):
    assert come_to(text) == expected


def test_a_variable_is_an_expression_itself():
    assert come_to("x + 1", {"x": "y * 2", "y": "3"}) == 7


def test_a_variable_that_names_itself_ends():
    assert come_to("x", {"x": "x"}) is None


def test_what_is_not_known_stays_so():
    variables = {"x": UNKNOWN, "y": "1"}
    assert come_to("x + 1", variables) is None
    assert come_to("y = x", variables) is None
    assert variables["y"] == UNKNOWN


@pytest.mark.parametrize(
    ("text", "value"),
    [("i++", "6"), ("++i", "6"), ("i--", "4"), ("i += 2", "7"), ("i = j = 3", "3")],
)
def test_an_assignment_sets_the_variable(text, value):
    variables = {"i": "5"}
    come_to(text, variables)
    assert variables["i"] == value


def test_a_subscript_is_computed():
    assert come_to("a[i + 1]", {"i": "1", "a[2]": "7"}) == 7


@pytest.mark.parametrize("text", ["x", "1 + x", "1 ? 2 : x", "y = x", "x x"])
def test_a_subscript_in_a_value_is_expanded(text):
    expanded: list[str] = []
    come_to(text, {"x": "a[$(deluge)]"}, expanded)
    assert expanded[0] == "a[$(deluge)]"


def test_variables_that_name_each_other_often_end():
    names = "abcdefghijklmnop"
    values = {name: " + ".join([following] * 100) for name, following in itertools.pairwise(names)}
    assert come_to("a", values) is None


@given(st.text(alphabet="0123456789abx[]()+-*/%<>=!&|^~?:, \n$#\ue000", max_size=40))
def test_no_text_raises(text):
    found = come_to(text, {"a": "b[x]", "b": "a+1", "x": "1"})
    assert found is None or -(2**63) <= found < 2**64
