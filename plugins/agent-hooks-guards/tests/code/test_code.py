"""What a code would do, whatever its language: who looks at it, and what is not looked at."""

from __future__ import annotations

import pytest

from agent_hooks_guards.code import LONGEST_CODE, Found, scan
from agent_hooks_guards.model.values import NETWORK, UNKNOWN, Data

_LANGUAGES = "python node perl ruby php lua r julia tcl groovy awk sed make vim ed".split()


def test_code_is_given_to_what_knows_its_language():
    found = scan("python", Data("import os; os.system('make')"), [])
    assert [each.text for each in found.shells] == ["make"]


@pytest.mark.parametrize("language", ["", "intercal", "SH"])
def test_a_language_that_nobody_knows_is_a_doubt(language):
    found = scan(language, Data("rm -rf /"), [])
    assert len(found.doubts) == 1
    assert found == Found(doubts=found.doubts)


@pytest.mark.parametrize("language", _LANGUAGES)
def test_a_code_that_is_not_known_is_a_doubt(language):
    assert scan(language, Data(UNKNOWN, frozenset((NETWORK,))), []).doubts


@pytest.mark.parametrize("language", _LANGUAGES)
def test_a_code_that_is_too_long_is_a_doubt(language):
    assert scan(language, Data("x" * (LONGEST_CODE + 1)), []).doubts


def test_what_fails_while_it_looks_is_a_doubt(monkeypatch):
    def fail(*_):
        raise LookupError("a mistake")

    monkeypatch.setattr("agent_hooks_guards.code.python.scan", fail)
    assert scan("python", Data("1"), []).doubts == ["the code could not be looked at"]


def test_two_findings_share_nothing():
    first = Found()
    first.shells.append(Data("ls"))
    assert Found().shells == []


@pytest.mark.parametrize("language", ["awk", "sed", "make", "vim", "ed"])
@pytest.mark.parametrize(
    "text",
    [" " * 19_000 + "x", ": " * 4_000 + "x", "1,2" * 4_000, "/a/" * 4_000, "s/" + "[a]" * 60, "print " * 4_000,
     "system(" * 2_500, '"a" | getline ' * 1_400, "'a" * 5_000, "$(shell " * 2_400, "|" * 3_000],
)  # fmt: skip
def test_the_scan_of_a_long_text_ends(language, text):
    assert isinstance(scan(language, Data(text), []), Found)
