"""JSON by the C functions alone: the same as the package ``json``."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from agent_hooks.system.quick_json import dumps, loads

pytestmark = pytest.mark.interpreter

TEXTS = [
    "{}",
    ' \t\r\n{"a": [1, -2.5e3, true, false, null, "\\u00e9\\ud83d\\ude00"]}\n ',
    "NaN",
    "[Infinity, -Infinity]",
    '"\\ud83d"',
    "12345678901234567890123",
    *("", " ", "{", "[1,]", '{"a":1,}', '{"a" 1}', "[1] 2", "[1]\x0b", "\ufeff{}", '"\n"', '"\\x"', "01", "nan"),
    f"{'9' * 5000}",
]
VALUES = [
    {"a": [1, 2.5, True, False, None, "é\ud83d\n\x00"], "b": {}, "c": [], 1: (1, 2), None: 0},
    "text",
    float("nan"),
    [float("inf"), -float("inf")],
    {1, 2},
    ...,
    {(1, 2): 3},
]


def outcome(function, *arguments, **options):
    try:
        return repr(function(*arguments, **options))
    except Exception as error:  # noqa: BLE001 - whatever it is
        return type(error), str(error)


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_is_read_as_by_json(text):
    assert outcome(loads, text) == outcome(json.loads, text)


@pytest.mark.parametrize("text", [*TEXTS, '{"a": 1, "a": 2}', "[1.5, 1]"])
def test_hooks_are_called_as_by_json(text):
    hooks = {"object_pairs_hook": list, "parse_float": "f:{}".format, "parse_constant": "c:{}".format}
    assert outcome(loads, text, **hooks) == outcome(json.loads, text, **hooks)


@pytest.mark.parametrize("allow_nan", [True, False])
@pytest.mark.parametrize("ensure_ascii", [True, False])
@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_a_value_is_written_as_by_json(value, ensure_ascii, allow_nan):
    options = {"ensure_ascii": ensure_ascii, "allow_nan": allow_nan}
    assert outcome(dumps, value, **options) == outcome(json.dumps, value, **options)
    compact = outcome(dumps, value, **options, compact=True)
    assert compact == outcome(json.dumps, value, **options, separators=(",", ":"))


def test_a_circle_is_an_error():
    circle: list[object] = []
    circle.append(circle)
    assert outcome(dumps, circle) == outcome(json.dumps, circle)


def test_depth_is_limited_as_by_json():
    with pytest.raises(RecursionError):
        loads("[" * 100_000)


def test_without_the_c_functions_json_does_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "_json", None)
    assert loads('{"a": 1.5}', parse_float=str) == {"a": "1.5"}
    assert dumps({"a": [1]}, compact=True) == '{"a":[1]}'


def test_neither_imports_the_package():
    code = "from agent_hooks.system.quick_json import *; import sys; loads(dumps([1])); print('json' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "False\n"
