import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_hooks.shell.parser import parse
from agent_hooks.shell.plain import RESERVED, parse_plain
from agent_hooks.shell.syntax import Bare, Item


@pytest.mark.parametrize(
    "text",
    [
        *("ls", "git status --short", "npm  run\tbuild", "a b\n", "make -j8 CC=gcc", "x#y a#b", "ifconfig -a", "./if"),
        *("a ~", "a ~/b", "a *", "a b?", "~/bin/a b"),
    ],
)
def test_names_and_words_are_plain(text):
    node = parse_plain(text)
    assert node is not None
    assert node.words == [[Bare(word)] for word in text.split()]


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "# a", "a # b", "a\nb", "a; b", "a | b", "a & b", "a > b", "a < b", "(a)", "f()", "a $b", "a `b`"),
        *("a 'b'", 'a "b"', "a\\ b", "a [b]", "a {b,c}", "a=b", "a=b c", "a\rb", "a\x1cb"),
    ],
)
def test_what_means_more_to_a_shell_is_not_plain(text):
    assert parse_plain(text) is None


@pytest.mark.parametrize("word", sorted(RESERVED))
def test_reserved_words_are_not_plain_at_the_beginning(word):
    assert parse_plain(word) is None
    assert parse_plain(f"{word} a") is None


_WORDS = st.sampled_from(
    [*sorted(RESERVED), "ls", "-a", "a=b", "#", "a#", "~", "x*", "in", "é", "\ue000", "\x85", "%1", "!", "^", "@"]
)
_BLANKS = st.sampled_from([" ", "\t", "\n", "  ", "\r", "\x1f", "\u00a0", "", ";", "&"])


@settings(max_examples=600)
@given(st.lists(st.tuples(_WORDS, _BLANKS), max_size=5), st.text(max_size=6))
def test_what_is_plain_is_what_it_is_read_as_otherwise(pieces, rest):
    text = "".join(word + blank for word, blank in pieces) + rest
    node = parse_plain(text)
    if node is not None:
        assert parse(text).items == [Item(node)]
