"""Text and JSON in the form that every host's reader takes."""

from __future__ import annotations

import json
import math

from agent_hooks.wire.answer import CUT, MAX_UNITS, as_text, encode, joined, tidy, trimmed


def test_nothing_to_say_is_an_empty_stdout():
    assert encode({}) == ""


def test_json_is_one_compact_ascii_object():
    assert encode({"reason": "é 😀", "n": 1}) == '{"reason":"\\u00e9 \\ud83d\\ude00","n":1}'


def test_lone_surrogates_and_numbers_without_a_value_do_not_reach_a_reader():
    body = json.loads(encode({"a": "x\ud800", "b": [math.nan, math.inf], "\udc00": 1}))
    assert body == {"a": "x\ufffd", "b": ["nan", "inf"], "\ufffd": 1}
    assert tidy("\ud83d\ude00 \ud83d") == "😀 \ufffd"


def test_a_long_text_is_cut_with_a_marker_by_javascripts_count():
    """An emoji counts as two, and is not cut in halves."""
    assert trimmed("x" * MAX_UNITS) == "x" * MAX_UNITS
    for long in ("x" * (MAX_UNITS + 1), "😀" * (MAX_UNITS // 2 + 1), "x" + "😀" * MAX_UNITS):
        cut = trimmed(long)
        assert cut.endswith(CUT)
        assert len(cut.encode("utf-16-le")) // 2 < 10_000


def test_texts_are_joined_by_blank_lines_without_the_empty_ones():
    assert joined("a\n", "", "  ", "b") == "a\n\nb"


def test_values_read_as_text_or_json():
    assert [as_text(value) for value in ("x", None, {"a": "é"}, 3)] == ["x", "", '{"a": "é"}', "3"]
