"""What findings call a value, and which names are alike."""

from __future__ import annotations

from datetime import date

import pytest

from agent_hooks.formats.reader import kind_of, letters

pytestmark = pytest.mark.interpreter


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ({}, "an object"),
        ([], "a list"),
        ("a", "a text"),
        ("", "an empty text"),
        (True, "true or false"),
        (None, "nothing"),
        (5, "a number"),
        (0.5, "a number"),
        (date(2024, 1, 1), "a date or time"),
    ],
)
def test_a_value_is_told_by_its_kind(value, kind):
    assert kind_of(value) == kind


def test_a_mapping_is_called_what_its_format_calls_it():
    assert kind_of({}, mapping="a table") == "a table"
    assert kind_of("x", mapping="a table") == "a text"


def test_names_are_alike_however_they_are_spelt():
    assert letters("Pre_Tool-use") == letters("preToolUse") == "pretooluse"
