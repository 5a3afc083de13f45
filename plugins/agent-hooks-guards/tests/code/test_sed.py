"""sed scripts are read for the commands they run and the files they touch."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from making import nothing

from agent_hooks_guards.code import STDIN, Found
from agent_hooks_guards.code.sed import scan
from agent_hooks_guards.model.values import UNKNOWN, Data
from tables import tables

TABLES = tables(__file__)

NONE: frozenset[str] = frozenset()
LINE = Data(UNKNOWN, frozenset((STDIN,)))


def found(code: str) -> Found:
    return scan(code, NONE, [], "sed")


@pytest.mark.parametrize("code", TABLES["what_sed_gives_to_a_shell_is_told"])
def test_what_sed_gives_to_a_shell_is_told(code):
    assert "halt" in [data.text for data in found(code).shells]


def test_a_line_of_the_input_that_is_run_is_told_as_such():
    assert found("e").shells == [LINE]
    assert found("s/a/b/e").shells == [Data("b"), LINE]
    assert found("s/\\(.*\\)/\\1/e").shells == [LINE]
    assert found("s/.*/rm &/e").shells == [Data("rm " + UNKNOWN), LINE]


@pytest.mark.parametrize(
    ("code", "effect"),
    [
        ("w /x", ("write", "/x", False, NONE, "")),
        ("/a/w /x", ("write", "/x", False, NONE, "")),
        ("W /x", ("write", "/x", False, NONE, "")),
        ("s/a/b/w /x", ("write", "/x", False, NONE, "")),
        ("s/a/b/gw /x", ("write", "/x", False, NONE, "")),
        ("r /x", ("read", "/x", False, NONE, "")),
        ("$R /x", ("read", "/x", False, NONE, "")),
        ("p;p\nw /x\np", ("write", "/x", False, NONE, "")),
    ],
)
def test_its_files_are_told(code, effect):
    assert found(code).effects == [effect]


@pytest.mark.parametrize("code", TABLES["what_only_changes_text_finds_nothing"])
def test_what_only_changes_text_finds_nothing(code):
    assert nothing(found(code))


@given(st.text(alphabet=st.characters(codec="ascii", exclude_characters="\r\n/\\&"), max_size=40))
def test_any_text_that_is_only_put_in_finds_nothing(text):
    assert nothing(found(f"s/x/{text}/g"))
