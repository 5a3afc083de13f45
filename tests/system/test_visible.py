"""Text that is shown on a terminal: nothing in it is obeyed, and nothing hidden."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_hooks.system.visible import visible


@given(st.text(alphabet=st.characters(codec=None, categories=None)))
def test_no_character_that_steers_a_terminal_is_left(text):
    seen = visible(text)
    assert seen.isprintable()
    assert {unicodedata.category(c) for c in seen}.isdisjoint({"Cc", "Cf", "Cs", "Zl", "Zp"})


@pytest.mark.parametrize("text", ["plain", "ö and 漢字", "a|b [c]", ""])
def test_what_can_be_seen_stays_as_it_is(text):
    assert visible(text) == text


@pytest.mark.parametrize(
    "text", ["\x1b]0;title\x07", "\u202e", "\udcff", "\n", "\x7f", "\ufeff", "\u2028", "\ufe0f", "\u3164", "\u2800"]
)
def test_what_cannot_be_seen_is_an_escape(text):
    assert visible(text).isascii()
    assert visible(text).isprintable()


def test_what_is_to_stay_stays():
    assert visible("a\tb\n", keep="\t") == "a\tb\\n"
