"""The line of every value of a JSON text, by where it is in it."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agent_hooks.formats.positions import lines_of, repeated_key
from tables import tables

TABLES = tables(__file__)
TEXT = TABLES["text"]

values: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


def places(value, place=()):
    yield place
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from places(inner, (*place, key))


def test_each_value_has_the_line_on_which_it_begins():
    assert lines_of(TEXT) == {tuple(place): line for *place, line in TABLES["places"]}


@given(values, st.sampled_from([None, 0, 2]), st.booleans())
def test_every_value_of_any_text_has_a_line_and_nothing_else_has(value, indent, ascii_only):
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    lines = lines_of(text)
    assert list(lines) == list(places(value))
    assert list(lines.values()) == sorted(lines.values())
    assert max(lines.values()) <= text.count("\n") + 1


def test_windows_line_ends_are_one_line_each():
    assert lines_of('{\r\n"a": 1,\r\n"b": 2\r\n}')[("b",)] == 3


def test_a_value_that_is_no_object_has_a_line():
    assert lines_of('\n\n"a"') == {(): 3}


def test_the_key_that_is_there_twice_is_found_with_its_line():
    assert repeated_key('{"a": {"b": 1},\n"c": [{"b": 1,\n"\\u0062": 2}]}') == ("b", 3)
    assert repeated_key('{"a": 1,\n"a": {"x": 1}}') == ("a", 2)
    assert repeated_key(TEXT) is None
