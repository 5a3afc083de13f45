from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_hooks.shell.parser import MAX_LENGTH
from agent_hooks.shell.syntax import UNKNOWN, Assignment, Bare, Item, Redirect, Sequence, Simple, Unreadable
from shell_trees import parse


def simple(text):
    [item] = parse(text).items
    assert isinstance(item.node, Simple), item.node
    return item.node


def unreadable(text):
    [item] = parse(text).items
    assert isinstance(item.node, Unreadable), item.node
    return item.node


def bare(*words):
    return [[Bare(word)] for word in words]


def test_a_command_is_its_words():
    assert parse("git status --short") == Sequence(
        [Item(Simple([], bare("git", "status", "--short"), [], 0, 18))], 0, 18
    )


@pytest.mark.parametrize("text", ["", "  ", "\n\n", "# a comment", "\\\n"])
def test_nothing_is_no_command(text):
    assert parse(text).items == []


@pytest.mark.parametrize("text", ["a b # c", "a b;# c", "# c\na b", "a \\\nb", "a\\\n b", "\ta\tb\t", "a b\n# c ' \n"])
def test_blanks_joined_lines_and_comments_are_not_words(text):
    assert simple(text).words == bare("a", "b")


def test_a_carriage_return_is_part_of_its_word():
    assert simple("ls -l\r\n").words == bare("ls", "-l\r")


def test_a_first_word_in_braces_is_a_word():
    assert simple("{dropdb,production}").words == bare("{dropdb,production}")


@pytest.mark.parametrize("text", ["\\if a", "'if' a", "i\\f a", '"{" a'])
def test_a_quoted_reserved_word_is_a_name(text):
    assert len(simple(text).words) == 2


def test_a_reserved_word_may_be_written_over_two_lines():
    assert not isinstance(parse("i\\\nf a; then b; fi").items[0].node, Simple)


@pytest.mark.parametrize(
    ("text", "assignment"),
    [
        ("a=b", Assignment("a", [Bare("b")])),
        ("a=", Assignment("a")),
        ("a='b c'", Assignment("a", ["b c"])),
        ("a=~/x", Assignment("a", [Bare("~/x")])),
        ("a+=b", Assignment("a", [Bare("b")], append=True)),
        ("a[1]=b", Assignment("a", [Bare("b")], index=[Bare("1")])),
        ("a[1 2]+=b", Assignment("a", [Bare("b")], append=True, index=[Bare("1 2")])),
        ("a=(b 'c d')", Assignment("a", items=[[Bare("b")], ["c d"]])),
        ("a=(\n# no\n b\n)", Assignment("a", items=[[Bare("b")]])),
        ("a=([x y]=b)", Assignment("a", items=[[Bare("[x y]=b")]])),
        ("a+=(b)", Assignment("a", append=True, items=[[Bare("b")]])),
        ("a\\\nb=c", Assignment("ab", [Bare("c")])),
    ],
)
def test_assignments(text, assignment):
    node = simple(text)
    assert node.assignments == [assignment]
    assert node.words == []


def test_assignments_stand_before_the_name_only():
    node = simple("A=1 B=2 env C=3")
    assert [one.name for one in node.assignments] == ["A", "B"]
    assert node.words == bare("env", "C=3")


def test_a_declared_array_is_an_assignment_and_other_operands_are_words():
    node = simple("declare -a x=(1 2) y=3")
    assert node.words == bare("declare", "-a", "y=3")
    assert node.assignments == [Assignment("x", items=bare("1", "2"))]


def test_a_subscript_is_part_of_a_name_with_its_blanks():
    assert simple("a[b c]d e").words == bare("a[b c]d", "e")


@pytest.mark.parametrize(
    ("text", "redirect"),
    [
        (">x", Redirect(">", [Bare("x")])),
        ("> x", Redirect(">", [Bare("x")])),
        (">> 'x y'", Redirect(">>", ["x y"])),
        ("2>x", Redirect(">", [Bare("x")], 2)),
        (">|x", Redirect(">|", [Bare("x")])),
        ("<x", Redirect("<", [Bare("x")])),
        ("3<>x", Redirect("<>", [Bare("x")], 3)),
        ("2>&1", Redirect(">&", [Bare("1")], 2)),
        (">&2", Redirect(">&", [Bare("2")])),
        ("<&-", Redirect("<&", [Bare("-")])),
        ("&>x", Redirect("&>", [Bare("x")])),
        ("&>>x", Redirect("&>>", [Bare("x")])),
        (">&x", Redirect(">&", [Bare("x")])),
        ("{fd}>x", Redirect(">", [Bare("x")], "fd")),
        ("{a[1]}<x", Redirect("<", [Bare("x")], "a[1]")),
        ("<<<'a b'", Redirect("<<<", ["a b"])),
        ("<<< a", Redirect("<<<", [Bare("a")])),
        (">\\\n>x", Redirect(">>", [Bare("x")])),
    ],
)
@pytest.mark.parametrize("place", ["cmd a {}", "{} cmd a", "cmd {} a", "cmd a {}; b", "cmd a {}&& b"])
def test_redirections_stand_anywhere_in_a_command(text, redirect, place):
    node = parse(place.format(text)).items[0].node
    assert node.redirects == [redirect]
    assert node.words == bare("cmd", "a")


def test_a_number_is_a_word_where_no_redirection_follows_at_once():
    assert simple("echo 2 >x").words == bare("echo", "2")


def test_what_follows_a_here_string_is_a_command():
    assert [item.node.words for item in parse("exec 3<<<'x'; y").items] == [bare("exec"), bare("y")]


def test_a_redirection_from_a_process_is_told_from_the_process_as_a_word():
    node = simple("cmd < <(a) >(b)")
    assert [redirect.operator for redirect in node.redirects] == ["<"]
    assert len(node.words) == 2


def test_reading_a_file_in_a_substitution_is_a_redirection_without_words():
    [word] = simple("$(<file)").words
    assert word[0].text == "<file"
    assert word[0].body.items[0].node == Simple([], [], [Redirect("<", [Bare("file")])], 2, 7)


def test_commands_know_where_they_stand_in_characters():
    text = "é 'ü' ; x $(ö  ) >y && `z a`\n"
    nodes = [item.node for item in parse(text).items]
    assert [text[node.start : node.end] for node in nodes] == ["é 'ü'", "x $(ö  ) >y", "`z a`"]
    inner = nodes[1].words[1][0].body.items[0].node
    assert text[inner.start : inner.end] == "ö"
    inner = nodes[2].words[0][0].body.items[0].node
    assert text[inner.start : inner.end] == "z a"


def test_unknown_text_and_odd_characters_are_characters_of_words():
    assert simple(f"a{UNKNOWN} b\0 \ud800").words == bare(f"a{UNKNOWN}", "b\0", "\ud800")


@pytest.mark.parametrize(
    "text",
    [
        "a 'b",
        'a "b',
        "a `b",
        "a $(b",
        "a ${b",
        "a $'b",
        "a $'b\\",
        "a <(b",
        "a=(b",
        "[[ a",
        "case a in b",
        "${x-'}",
        "if a",
        "if a; then b",
        "fi",
        "a )",
        "( a",
        "{ a",
        "a; }",
        "a ;; b",
        "; a",
        "a && ; b",
        "a |",
        "| a",
        "a && || b",
        "for x in a; b",
        "while a; done",
        "f() a",
        "a ( b )",
        "a >",
        "a > ; b",
        "case a in b c) d;; esac",
        "a <",
        "} a",
        "{ a; } b",
        "(a) b",
        "if a; then b; fi c",
        "if a; fi",
        "do a; done",
        "a & ; b",
        "function",
    ],
)
def test_what_bash_does_not_read_is_unreadable_with_all_of_its_text(text):
    node = unreadable(text)
    assert node.text == text
    assert (node.start, node.end) == (0, len(text))


def test_commands_in_what_is_unreadable_can_be_read_all_the_same():
    node = unreadable("if (rm -rf $(x)); then { mv a b; fi")
    assert [one.words[0] for one in node.readable if isinstance(one, Simple)] == bare("x", "rm", "mv")


def test_the_text_of_another_shell_is_unreadable_but_not_its_commands():
    node = unreadable("for f (*) { rm $f }")
    assert any(one.words[0] == [Bare("rm")] for one in node.readable if isinstance(one, Simple) and one.words)


def test_only_the_part_that_cannot_be_read_is_unreadable():
    items = parse("a; b $(fi) c").items
    assert items[0].node.words == bare("a")
    assert isinstance(items[1].node.words[1][0].body.items[0].node, Unreadable)


ANYTHING = st.text() | st.lists(
    st.sampled_from(
        [
            "a",
            " ",
            "'",
            '"',
            "\\",
            "$",
            "\n",
            "\t",
            "{",
            "}",
            "[",
            "]",
            "#",
            "=",
            "!",
            "*",
            "`",
            "1",
            "$'",
            "\\\n",
            "${",
            "$(",
            "(",
            ")",
            "((",
            "))",
            "$((",
            "<",
            "<<",
            "<<-E",
            "<<E",
            "\nE\n",
            ">",
            "&",
            "&&",
            "|",
            "||",
            ";",
            ";;",
            "if ",
            "then ",
            "fi",
            "for ",
            "in ",
            "do ",
            "done",
            "case ",
            " esac",
            "while ",
            "function ",
            "[[ ",
            "]]",
            "=~ ",
            "coproc ",
            "time ",
            "a=",
            "a[",
            "]=",
            "+=",
            "{fd}>",
            "<(",
            "f()",
            "$x",
            "${x",
            ":-",
            "/",
            "\0",
            "\ud800",
        ]
    ),
    max_size=40,
).map("".join)


@settings(max_examples=400)
@given(ANYTHING)
def test_any_text_is_read_and_none_of_it_is_lost(text):
    node = parse(text)
    assert (node.start, node.end) == (0, len(text))
    for item in node.items:
        assert 0 <= item.node.start <= item.node.end <= len(text)


@pytest.mark.parametrize(
    "part",
    [
        "$(",
        "((",
        "$((",
        "{ ",
        "if a; then ",
        "`",
        "`\\",
        "'",
        '"$(',
        "a ",
        "'a' ",
        "a | b; ",
        "{ a; }; ",
        "<<E ",
        "${a:-",
        "a[",
        "a=(",
        "[[ ( ",
        "case a in ",
        "<(",
        "\\\n",
        "f() ",
        "function f ",
        "coproc ",
        "! ",
        "time ",
        "+(",
        "\0",
    ],
)
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
