"""What is taken for a payload: one JSON object that no two readers read differently."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_hooks.cli.stdin import read_object
from agent_hooks.errors import WireError

values: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(st.dictionaries(st.text(), values, max_size=4), st.booleans())
def test_every_json_object_is_read_as_it_is(value, ascii_only):
    text = json.dumps(value, ensure_ascii=ascii_only)
    assert read_object(text.encode("utf-8", "surrogatepass")) == value


@given(st.binary(max_size=200) | st.text(alphabet='{}[]":,\\u0 aN1e+-', max_size=60).map(str.encode))
def test_bytes_are_an_object_or_a_wire_error(data):
    try:
        value = read_object(data)
    except WireError:
        return
    assert isinstance(value, dict)
    assert value == json.loads(data)


@given(st.text(), values, values, st.integers(0, 3))
def test_a_key_that_is_there_twice_is_refused_at_any_depth(key, first, second, depth):
    name = json.dumps(key)
    text = f"{{{name}: {json.dumps(first)}, {name}: {json.dumps(second)}}}"
    for _ in range(depth):
        text = f'{{"inside": [{text}]}}'
    with pytest.raises(WireError, match="twice"):
        read_object(text.encode())


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity"])
def test_what_is_no_number_is_refused(constant):
    with pytest.raises(WireError, match=constant):
        read_object(f'{{"a": [{constant}]}}'.encode())
