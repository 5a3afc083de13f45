"""JSON is read as one thing by every reader, or refused; the refusal repeats nothing of it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_hooks.errors import BadJSONError
from agent_hooks.system.strict_json import read_json

pytestmark = pytest.mark.interpreter

VALUES: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


def nested(levels: int, innermost: str = "") -> str:
    return "[" * levels + innermost + "]" * levels


@given(VALUES, st.booleans(), st.booleans())
def test_every_json_value_is_read_as_it_is(value, ascii_only, as_bytes):
    text = json.dumps(value, ensure_ascii=ascii_only)
    assert read_json(text.encode() if as_bytes else text) == value


@given(st.text(), VALUES, VALUES, st.integers(0, 3))
def test_a_key_that_is_there_twice_is_refused_at_any_depth(key, first, second, depth):
    name = json.dumps(key)
    text = f"{{{name}: {json.dumps(first)}, {name}: {json.dumps(second)}}}"
    for _ in range(depth):
        text = f'{{"inside": [{text}]}}'
    with pytest.raises(BadJSONError, match="same key twice"):
        read_json(text)


def test_keys_that_are_the_same_only_when_unescaped_are_refused():
    with pytest.raises(BadJSONError, match="same key twice"):
        read_json(r'{"decision": "deny", "decisi\u006fn": "allow"}')


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999", "1" + "0" * 400 + ".0"])
def test_what_is_no_number_or_larger_than_one_can_be_is_refused(number):
    with pytest.raises(BadJSONError, match="number"):
        read_json(f'{{"a": [{number}]}}')


def test_large_whole_numbers_are_numbers():
    assert read_json("1" + "0" * 400) == 10**400


@pytest.mark.parametrize("innermost", ["", "1", "{}"])
def test_64_levels_are_read_and_65_are_not(innermost):
    levels = 63 if innermost == "{}" else 64
    assert read_json(nested(levels, innermost)) == json.loads(nested(levels, innermost))
    with pytest.raises(BadJSONError, match="too deep"):
        read_json(nested(levels + 1, innermost))


def test_a_wide_value_is_not_a_deep_one():
    assert len(read_json(json.dumps([[n] for n in range(1000)]), max_depth=2)) == 1000


@pytest.mark.parametrize("opening", ["[", '{"a":'])
@pytest.mark.parametrize("max_depth", [64, None])
@pytest.mark.parametrize("closed", [True, False])
def test_100_000_levels_are_too_deep_whatever_is_allowed(opening, max_depth, closed):
    end = "0" + ("]" if opening == "[" else "}") * 100_000 if closed else ""
    with pytest.raises(BadJSONError):
        read_json(opening * 100_000 + end, max_depth=max_depth)


def test_as_deep_as_can_be_read_is_more_than_64_levels():
    assert read_json(nested(500), max_depth=None) == json.loads(nested(500))


@pytest.mark.parametrize("text", [r'"\ud83d"', r'{"\udc00": 1}', r'["\ude00\ud83d"]'])
def test_half_of_a_character_is_refused_unless_it_may_be(text):
    with pytest.raises(BadJSONError, match="surrogate"):
        read_json(text)
    assert read_json(text, lone_surrogates=True) == json.loads(text)


def test_half_of_a_character_that_is_not_even_escaped_is_refused():
    with pytest.raises(BadJSONError, match="surrogate"):
        read_json('"\ud83d"')


def test_a_whole_character_may_be_escaped():
    assert read_json(r'"\ud83d\ude00 \u00e9"') == "😀 é"


@pytest.mark.parametrize("data", [b'"\xff"', b'{"a": "\xc3"}', '"é"'.encode("latin-1"), "{}".encode("utf-16")])
def test_what_is_not_utf_8_is_refused(data):
    with pytest.raises(BadJSONError, match="is not UTF-8"):
        read_json(data)


@pytest.mark.parametrize("data", [b"", b" ", b"{", b"[1,]", b"{} {}", b"// c\n{}", b"'a'", b"\xef\xbb\xbf{}", b"tru"])
def test_what_is_not_json_is_refused(data):
    with pytest.raises(BadJSONError):
        read_json(data)


SECRET = "sk-5up3r"
LEAKS = [
    f'{{"{SECRET}": 1, "{SECRET}": 2}}',
    f'{{"a": "{SECRET}" "b"}}',
    f'{{"a": {SECRET}}}',
    f'"{SECRET}\\ud83d"',
    f'"{SECRET}',
    f'"\\{SECRET}"',
    f"[[[{SECRET}",
    f'{nested(70)}"{SECRET}"',
    nested(70, f'"{SECRET}"'),
    f'["{SECRET}", NaN]',
    f'["{SECRET}", 1e999]',
]


@pytest.mark.parametrize("text", LEAKS)
def test_an_error_repeats_nothing_of_the_text(text):
    with pytest.raises(BadJSONError) as caught:
        read_json(text)
    error: BaseException | None = caught.value
    while error is not None:
        assert SECRET not in str(error)
        error = error.__cause__


@given(st.binary(max_size=200) | st.text(alphabet='{}[]":,\\u0 aN1e+-', max_size=60).map(str.encode))
def test_bytes_are_a_value_or_a_bad_json_error(data):
    try:
        value = read_json(data)
    except BadJSONError:
        return
    assert value == json.loads(data)
