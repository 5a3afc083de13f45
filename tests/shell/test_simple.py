"""Any text is read, in bounded time, and none of it is lost."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_hooks.shell.parser import MAX_LENGTH
from agent_hooks.shell.syntax import UNKNOWN, Bare, Simple, Unreadable
from shell_trees import outline, parse
from tables import tables

TABLES = tables(__file__)


def unreadable(text):
    [item] = parse(text).items
    assert isinstance(item.node, Unreadable), item.node
    return item.node


def test_commands_know_where_they_stand_in_characters():
    def place(node):
        return text[node.start : node.end]

    text = "é 'ü' ; x $(ö  ) >y && `z $(a; b) $(fi)`\n"
    whole = parse(text)
    assert place(whole) == text
    nodes = [item.node for item in whole.items]
    assert [*map(place, nodes)] == ["é 'ü'", "x $(ö  ) >y", "`z $(a; b) $(fi)`"]
    assert place(nodes[1].words[1][0].body.items[0].node) == "ö"
    inner = nodes[2].words[0][0].body.items[0].node
    assert place(inner) == "z $(a; b) $(fi)"
    assert [place(word[0].body) for word in inner.words[1:]] == ["a; b", "fi"]


def test_unknown_text_and_odd_characters_are_characters_of_words():
    assert outline(parse(f"a{UNKNOWN} b\0 \ud800")) == [f"a{UNKNOWN} b\0 \ud800"]


@pytest.mark.parametrize("text", TABLES["unreadable"])
def test_what_bash_does_not_read_is_unreadable_with_all_of_its_text(text):
    node = unreadable(text)
    assert (node.text, node.start, node.end) == (text, 0, len(text))


def test_commands_in_what_is_unreadable_can_be_read_all_the_same():
    node = unreadable("if (rm -rf $(x)); then { mv a b; fi")
    assert [outline(one.words)[0] for one in node.readable if isinstance(one, Simple)] == ["x", "rm", "mv"]


def test_the_text_of_another_shell_is_unreadable_but_not_its_commands():
    node = unreadable("for f (*) { rm $f }")
    assert any(one.words[0] == [Bare("rm")] for one in node.readable if isinstance(one, Simple) and one.words)


ANYTHING = st.text() | st.lists(st.sampled_from([*TABLES["pieces"], "\ud800"]), max_size=40).map("".join)


@settings(max_examples=400)
@given(ANYTHING)
def test_any_text_is_read_and_none_of_it_is_lost(text):
    node = parse(text)
    assert (node.start, node.end) == (0, len(text))
    for item in node.items:
        assert 0 <= item.node.start <= item.node.end <= len(text)


@pytest.mark.parametrize("part", TABLES["long"])
def test_work_is_bounded(part):
    text = part * (40_000 // len(part))
    began = time.process_time()
    assert parse(text).end == len(text)
    assert time.process_time() - began < 10


def test_a_longer_text_is_not_read():
    assert unreadable("a " * MAX_LENGTH).readable == []


@pytest.mark.parametrize(
    ("opening", "closing"), [("$(", ")"), ("{ ", ";}"), ("( ", ")"), ("${x:-", "}"), ("[[ $(", ") ]]")]
)
def test_deep_nesting_is_unreadable_and_honest_nesting_is_read(opening, closing):
    assert "Unreadable" not in repr(parse(f"{opening * 15}a{closing * 15}"))
    assert "Unreadable" in repr(parse(f"{opening * 500}a{closing * 500}"))
