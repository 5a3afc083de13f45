from __future__ import annotations

import subprocess

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from agent_hooks.shell.quoting import decode_ansi
from agent_hooks.shell.syntax import (
    UNKNOWN,
    Arithmetic,
    Bare,
    Parameter,
    ProcessSubstitution,
    Redirect,
    Simple,
    Substitution,
    Unreadable,
)
from shell_trees import parse

PIECES = [
    "a",
    "b",
    "x",
    "é",
    " ",
    "'",
    '"',
    "\\",
    "$'",
    '$"',
    "\\\n",
    "''",
    '""',
    "\\'",
    '\\"',
    "$",
    "\r",
    "\u00a0",
    "\x0b",
    "{",
    "}",
    "[",
    "]",
    "#",
    "=",
    "!",
    "*",
    "?",
    "-",
    "0",
    "%",
    "^",
    ",",
    ":",
    "@",
    "+",
    "\t",
    "\n",
    "\\x41",
    "\\101",
    "\\u00e9",
    "\\cA",
    "\\e",
    "\\n",
    "\\\\",
    "\\xc3\\xa9",
]


def bash(script: str, *arguments: str, folder) -> bytes:
    """Runs a script of builtins: there is no folder in which a program could be found."""
    return subprocess.run(
        ["/bin/bash", "-c", script, "bash", *arguments],
        env={"PATH": "/nonexistent", "LC_ALL": "C.UTF-8"},
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=60,
    ).stdout


def word(text: str):
    """The only word of a command behind its name."""
    node = parse(f"echo {text}").items[0].node
    assert isinstance(node, Simple), node
    assert len(node.words) == 2
    return node.words[1]


def literal(parts) -> str | None:
    """A word's text, None if something in it is expanded; ``x`` is not set."""
    text = ""
    for part in parts:
        match part:
            case str():
                text += part
            case Bare():
                text += part.text
            case Parameter(name="x", index=None, operator="-" | ":-"):
                inner = literal(part.arguments[0])
                if inner is None:
                    return None
                text += inner
            case Parameter(name="x", index=None, operator=""):
                pass
            case _:
                return None
    return text


def words_of(text: str) -> list[str] | None:
    """The words that a command is told to consist of, None if it is more than words."""
    items = parse(text).items
    if len(items) != 1 or items[0].background or not isinstance(node := items[0].node, Simple):
        return None
    words = [literal(parts) for parts in node.words]
    known = [one for one in words if one is not None]
    return known if len(known) == len(words) and not node.assignments and not node.redirects else None


def printed_by_bash(commands: list[str], folder) -> list[list[str] | None]:
    """What each command, a ``printf '%s\\0'``, prints in bash: None where bash does not run it."""
    script = """
        set -f +B; unset x; IFS=
        for command in "$@"; do printf '\\376'; (eval "$command") 2>/dev/null || printf '\\375'; done
    """
    outputs = bash(script, *commands, folder=folder).split(b"\xfe")[1:]
    assert len(outputs) == len(commands)
    return [
        None if b"\xfd" in output else [one.decode("utf-8", "surrogateescape") for one in output.split(b"\0")[:-1]]
        for output in outputs
    ]


SEVERAL = settings(max_examples=12, suppress_health_check=list(HealthCheck))


def test_a_joined_line_in_quotes_is_an_empty_word():
    assert words_of('printf "\\\n" \\"b') == ["printf", "", '"b']


@SEVERAL
@given(st.lists(st.lists(st.sampled_from(PIECES), min_size=1, max_size=12).map("".join), min_size=40, max_size=80))
def test_words_in_every_quoting_are_what_bash_makes_of_them(tmp_path_factory, texts):
    commands = [f"printf '%s\\0' a{text}" for text in texts if not text.endswith("\\")]
    pairs = [(command, words) for command in commands if (words := words_of(command)) is not None]
    assume(pairs)
    for (command, words), printed in zip(
        pairs, printed_by_bash([command for command, _ in pairs], tmp_path_factory.getbasetemp()), strict=True
    ):
        assert printed is None or printed == words[2:], command


IN_BRACES = ["a", "b", "'", '"', "\\", "{", "}", "${x-", "${x:-", "\\}", "\\$", "\\\n", "/", "%", " ", "\n", "''"]


@SEVERAL
@given(st.lists(st.lists(st.sampled_from(IN_BRACES), min_size=1, max_size=10).map("".join), min_size=40, max_size=80))
def test_defaults_of_parameters_end_where_they_end_in_bash(tmp_path_factory, texts):
    shapes = ("printf '%s\\0' a${{x-{}}}b", "printf '%s\\0' \"${{x-{}}}\"b", "printf '%s\\0' \"{}\"b")
    # What single quotes hide of double ones there, not even bash decides alike when it reads and when it expands.
    texts = [text for text in texts if not ("'" in text and '"' in text)]
    commands = [shape.format(text) for shape in shapes for text in texts]
    pairs = [(command, words) for command in commands if (words := words_of(command)) is not None]
    assume(pairs)
    for (command, words), printed in zip(
        pairs, printed_by_bash([command for command, _ in pairs], tmp_path_factory.getbasetemp()), strict=True
    ):
        assert printed is None or printed == words[2:], command


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("plain", [Bare("plain")]),
        ("'a b'", ["a b"]),
        ("''", [""]),
        ('""', [""]),
        ("r\\m", [Bare("r"), "m"]),
        ("r\\\nm", [Bare("rm")]),
        ("r''m", [Bare("r"), "", Bare("m")]),
        ("'a'\"b\"\\c", ["abc"]),
        ("$'\\x72\\155'", ["rm"]),
        ("$'it\\'s'", ["it's"]),
        ('$"text"', ["text"]),
        ("~/x", [Bare("~/x")]),
        ("{a,b}*", [Bare("{a,b}*")]),
        ("a#b", [Bare("a#b")]),
        ("a=b", [Bare("a=b")]),
        ("$", [Bare("$")]),
        ('"$"', ["$"]),
        ('"\\a\\$\\"\\\\"', ['\\a$"\\']),
        ('"a\\\nb"', ["ab"]),
        ("@(a|b c)", [Bare("@(a|b c)")]),
        ("a\r", [Bare("a\r")]),
        ("a\u00a0b", [Bare("a\u00a0b")]),
    ],
)
def test_quotes_and_escapes_are_resolved(text, parts):
    assert word(text) == parts


@pytest.mark.parametrize(
    ("text", "parameter"),
    [
        ("$x", Parameter("x")),
        ("$1", Parameter("1")),
        ("$@", Parameter("@")),
        ("$\\\nx", Parameter("x")),
        ("${x}", Parameter("x")),
        ("${10}", Parameter("10")),
        ('"$x"', Parameter("x", quoted=True)),
        ("${x:-a b}", Parameter("x", ":-", [[Bare("a b")]])),
        ("${x-}", Parameter("x", "-", [[]])),
        ("${x:=v}", Parameter("x", ":=", [[Bare("v")]])),
        ("${x:?m}", Parameter("x", ":?", [[Bare("m")]])),
        ("${x:+y}", Parameter("x", ":+", [[Bare("y")]])),
        ("${x##*/}", Parameter("x", "##", [[Bare("*/")]])),
        ("${x%.*}", Parameter("x", "%", [[Bare(".*")]])),
        ("${x/a/b}", Parameter("x", "/", [[Bare("a")], [Bare("b")]])),
        ("${x//a}", Parameter("x", "//", [[Bare("a")]])),
        ("${x/#a/b/c}", Parameter("x", "/#", [[Bare("a")], [Bare("b/c")]])),
        ("${x:1}", Parameter("x", ":", [[Bare("1")]])),
        ("${x: -1:2}", Parameter("x", ":", [[Bare(" -1")], [Bare("2")]])),
        ("${x^^}", Parameter("x", "^^", [[]])),
        ("${x,}", Parameter("x", ",", [[]])),
        ("${x@Q}", Parameter("x", "@Q")),
        ("${#x}", Parameter("x", "length")),
        ("${#}", Parameter("#")),
        ("${#-x}", Parameter("#", "-", [[Bare("x")]])),
        ("${!x}", Parameter("x", "indirect")),
        ("${!x*}", Parameter("x", "names")),
        ("${x[1]}", Parameter("x", index=[Bare("1")])),
        ("${x[@]}", Parameter("x", index=[Bare("@")])),
        ("${!x[@]}", Parameter("x", "keys", index=[Bare("@")])),
        ("${#x[@]}", Parameter("x", "length", index=[Bare("@")])),
        ("${x[$y]:-z}", Parameter("x", ":-", [[Bare("z")]], [Parameter("y")])),
    ],
)
def test_parameters_are_read_with_what_is_done_to_them(text, parameter):
    assert word(text) == [parameter]


def test_single_quotes_in_a_double_quoted_default_are_text_and_hide_a_brace():
    assert word("\"${x:-'a}'}\"") == [Parameter("x", ":-", [["'a}'"]], quoted=True)]


def test_single_quotes_in_a_double_quoted_pattern_are_quotes():
    assert word("\"${x%'}'}\"") == [Parameter("x", "%", [["}"]], quoted=True)]


def test_bash_expands_what_ansi_quotes_give_in_a_double_quoted_default():
    [parameter] = word("\"${x:-$'\\x24(id)'}\"")
    [[substitution]] = parameter.arguments
    assert isinstance(substitution, Substitution)
    assert substitution.text == "id"


def test_what_runs_in_an_expansion_of_another_shell_is_kept():
    unknown, substitution = word("${(f)$(ls)}")
    assert unknown == Bare(UNKNOWN)
    assert isinstance(substitution, Substitution)
    assert substitution.text == "ls"


@pytest.mark.parametrize("text", ["$(ls -a)", "`ls -a`", "${ ls -a; }", "$\\\n(ls -a)"])
def test_substitutions_hold_the_command_that_they_run(text):
    [part] = word(text)
    assert part.quoted is False
    [item] = part.body.items
    assert item.node.words == [[Bare("ls")], [Bare("-a")]]


def test_a_backquote_in_backquotes_is_read_once_its_escape_is_gone():
    [outer] = word(r"`a \`b \\\`c\\\`\``")
    inner = outer.body.items[0].node.words[1][0]
    innermost = inner.body.items[0].node.words[1][0]
    assert (outer.text, inner.text, innermost.text) == ("a `b \\`c\\``", "b `c`", "c")


def test_quotes_in_backquotes_in_double_quotes_lose_their_escape():
    [part] = word('"`a \\"b c\\"`"')
    assert part.body.items[0].node.words == [[Bare("a")], ["b c"]]


def test_backquotes_that_cannot_be_read_do_not_hide_what_is_around_them():
    node = parse("rm `'` x").items[0].node
    assert node.words[0] == [Bare("rm")]
    assert node.words[2] == [Bare("x")]
    assert isinstance(node.words[1][0].body.items[0].node, Unreadable)


def test_a_case_in_a_substitution_does_not_end_it():
    [part] = word("$(case x in x) ls;; esac)")
    assert part.text == "case x in x) ls;; esac"


@pytest.mark.parametrize("text", ["$((1 + $(ls)))", "$[1 + $(ls)]"])
def test_substitutions_in_arithmetic_are_kept(text):
    [part] = word(text)
    assert isinstance(part, Arithmetic)
    assert [one.text for one in part.parts if isinstance(one, Substitution)] == ["ls"]


def test_two_brackets_may_be_a_subshell_in_a_substitution():
    [part] = word("$((ls); pwd)")
    assert isinstance(part, Substitution)


def test_process_substitutions_are_read_inside_of_words_too():
    first, second, third = word("a<(b)>(c)")
    assert first == Bare("a")
    assert isinstance(second, ProcessSubstitution)
    assert (second.direction, third.direction) == ("<", ">")


@pytest.mark.parametrize(
    ("text", "resolved"),
    [
        ("\\a\\b\\e\\E\\f\\n\\r\\t\\v\\\\\\'\\\"\\?", "\a\b\x1b\x1b\f\n\r\t\v\\'\"?"),
        ("\\1\\12\\1011", "\x01\nA1"),
        ("\\x4\\x41\\x411", "\x04AA1"),
        ("\\x{41}", "A"),
        ("\\u41\\u00e9\\U0001F600", "Aé😀"),
        ("\\cA\\c?", "\x01\x7f"),
        ("\\xc3\\xa9\\303\\251", "éé"),
        ("\\xff", "\udcff"),
        ("a\\0b", "a"),
        ("\\z\\8", "\\z\\8"),
    ],
)
def test_ansi_escapes(text, resolved):
    assert decode_ansi(text) == resolved


def here_document(text: str):
    """The target of the first redirection of the first command."""
    redirect = parse(text).items[0].node.redirects[0]
    assert isinstance(redirect, Redirect)
    assert redirect.operator == "<<"
    return redirect.target


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("cat <<EOF\na\nb\nEOF\n", ["a\nb\n"]),
        ("cat <<EOF\na\nEOF", ["a\n"]),
        ("cat <<EOF\nnever ended", ["never ended"]),
        ("cat <<-EOF\n\ta\n\tEOF\n", ["a\n"]),
        ("cat <<'EOF'\n$x\\\nEOF\n", ["$x\\\n"]),
        ("cat <<E'O'F\n$x\nEOF\n", ["$x\n"]),
        ("cat <<\\EOF\n$x\nEOF\n", ["$x\n"]),
        ("cat <<EOF\n$x\\$y\n'\"\nEOF\n", [Parameter("x", quoted=True), "$y\n'\"\n"]),
        ("cat <<EOF\na\\\nEOF\nEOF\n", ["aEOF\n"]),
        ("cat <<EOF\na\nEO\\\nF\n", ["a\n"]),
        ("cat <<$(a)\nb\n$(a)\n", ["b\n"]),
        ("cat <<EOF 'x\ny'\nb\nEOF\n", ["b\n"]),
        ("cat <<EOF\nEOFx\n EOF\nEOF\n", ["EOFx\n EOF\n"]),
    ],
)
def test_here_documents(text, body):
    assert here_document(text) == body


def test_several_here_documents_follow_one_another():
    first, second = (item.node for item in parse("a <<A; b <<B\n1\nA\n2\nB\n").items)
    assert first.redirects[0].target == ["1\n"]
    assert second.redirects[0].target == ["2\n"]


def test_what_follows_a_here_document_is_read_as_commands():
    assert [item.node.words[0] for item in parse("a <<E\n1\nE\nb").items] == [[Bare("a")], [Bare("b")]]


def test_a_here_document_may_end_together_with_its_substitution():
    [part] = word("$(cat <<E\nrm\nE)")
    assert part.body.items[0].node.redirects[0].target == ["rm\n"]


def test_a_substitution_that_is_not_closed_in_a_here_document_does_not_hide_the_next_command():
    items = parse("cat <<E\n$(x\nE\nrm y").items
    assert items[1].node.words == [[Bare("rm")], [Bare("y")]]
