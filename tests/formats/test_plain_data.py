"""Parsed data that is kept for other processes."""

from __future__ import annotations

import json
import marshal
import tomllib

import pytest

from agent_hooks.formats.plain_data import decode, encode
from agent_hooks.model.values import freeze

pytestmark = pytest.mark.interpreter

_DOCUMENT = """
text = "a\\u00e9\\u0000b"
numbers = [1, -2.5, inf, 1_000_000_000_000_000_000_000]
is_so = true
day = 2026-01-02
time = 07:32:00.5
local = 1979-05-27T07:32:00
utc = 1979-05-27T07:32:00Z
elsewhere = 1979-05-27T00:32:00.999999-07:00
empty = {}
[[list]]
days = [2026-01-02, { until = 2026-01-03 }]
[[list]]
"""


@pytest.mark.parametrize(
    "value", [tomllib.loads(_DOCUMENT), json.loads('{"a": [null, 1, "\\ud800"]}'), [], {}, None, 3]
)
def test_every_value_of_toml_and_json_survives_marshal(value):
    for given in (value, freeze(value)):
        found = decode(marshal.loads(marshal.dumps(encode(given))))
        assert found == value
        assert type(found) is type(freeze(value))


def test_dicts_and_lists_come_back_read_only():
    found = decode(encode({"a": [{"b": 1}]}))
    with pytest.raises(TypeError, match="read-only"):
        found["a"][0]["b"] = 2
    with pytest.raises(TypeError, match="read-only"):
        found["a"].append(1)


@pytest.mark.parametrize("value", [object(), (1, 2), {"a": {1, 2}}, [print]])
def test_anything_else_is_refused(value):
    with pytest.raises(TypeError, match="is not the type of a value in TOML or JSON"):
        encode(value)
