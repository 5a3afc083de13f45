"""The commands in a text for a shell."""

from __future__ import annotations

import pytest

from agent_hooks.trust.shell_text import (
    hidden,
    plain,
    quoted,
    simple_commands,
    unhidden,
    with_quoted_hidden,
    without_inner,
)


def commands(text: str) -> list[list[str]]:
    """The words of each command, what a quote makes harmless shown again."""
    return [
        [unhidden(word) for word in simple.words]
        for simple in simple_commands(with_quoted_hidden(text)[0])
        if simple.words
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a b", [["a", "b"]]),
        ("a && b | c; d & e\nf", [["a"], ["b"], ["c"], ["d"], ["e"], ["f"]]),
        ("a 'b; c' \"d | e\" f\\;g", [["a", "b; c", "d | e", "f;g"]]),
        ("a # b; c\nd", [["a"], ["d"]]),
        ("X=1 a; Y=2", [["a"]]),
        ("if [ -f a ]; then b; else c; fi", [["[", "-f", "a", "]"], ["b"], ["c"], ["fi"]]),
        ("[[ -f a && -f b ]] && c", [["[[", "-f", "a", "-f", "b", "]]"], ["c"]]),
        ("case $a in b) c;; esac", [["case", "$a", "in"], ["c"], ["esac"]]),
        ("(a; b) > c", [["a"], ["b"]]),
        ("a 'b", [["a", "'b"]]),
        ("", []),
    ],
)
def test_each_command_has_its_words(text, expected):
    assert commands(text) == expected


def test_what_a_command_reads_and_writes_is_told_apart_from_its_words():
    (simple,) = simple_commands("X=y a b 2>> c < d &> e <<< f g >&2")
    assert (simple.words, simple.assigned) == (["a", "b", "g"], ["X=y"])
    assert (simple.reads, simple.writes, simple.texts) == (["d"], ["c", "e", "2"], ["f"])


@pytest.mark.parametrize("start", ["<<END", "<<'END'", '<< "END"', "<<-END"])
def test_lines_that_are_given_to_a_program_are_no_commands(start):
    indent = "\t" if start == "<<-END" else ""
    text, heres = with_quoted_hidden(f"a {start} > b\nc 'd\n{indent}END\ne")
    assert [(here.line.split()[0], here.body) for here in heres] == [("a", "c 'd\n")]
    assert [simple.words for simple in simple_commands(text)] == [["a"], ["e"]]


@pytest.mark.parametrize("text", ["a <<END\nb", "a '<<END'\nb", "a <<<END\nb"])
def test_without_an_end_they_are(text):
    assert commands(text)[-1] == ["b"]


def test_commands_within_a_command_are_taken_out_of_it():
    text, inner = without_inner("a $(b $(c)) `d` <(e) >(f)")
    assert text == "a $… $… $… $…"
    assert sorted(inner) == ["b $…", "c", "d", "e", "f"]


def test_known_folders_are_variables():
    assert plain('"${CLAUDE_PROJECT_DIR:-$PWD}"/a $(pwd)/b') == '"${CLAUDE_PROJECT_DIR}"/a ${PWD}/b'


def test_a_word_is_shown_as_it_was_written():
    assert quoted(hidden("$a*")) == "`$a*`"
    assert quoted("x" * 200) == f"`{'x' * 100}…`"
