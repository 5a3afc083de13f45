"""What a code would do, whatever its language: who looks at it, and what is not looked at."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_hooks_guards.code import LONGEST_CODE, Found, scan
from agent_hooks_guards.model.values import NETWORK, UNKNOWN, Data

_LANGUAGES = "python node perl ruby php lua r julia tcl groovy awk sed make vim ed".split()
_MARKS = ["1", "a", "x", "..", "::", "->", "=>", "/*", "//", "<<E\n", "${", "$(", "\\\n", "\n    ", UNKNOWN, "\ue001"]
_MARKS += list("(){}[]'\"`$@%#;:,.=+*|&<>/\\!?~\n\t\0")
_EDITOR = ["r ", "w ", "exe ", "call ", "system(", "g/x/", "let x = ", "py3 ", "1,$"]
_SCRIPT = ["qw(", "s/a/", "tr/a/b/", "end", " do ", "if ", "while (1)", "fork", "function f(", "sub ", "def f"]
_SCRIPT += ["class A", "new ", "import ", "eval ", "...", "@{", "%x(", "=~", "return ", "0x", "<?php", "system('a')"]
_SCRIPT += [".exec", "require('child_process')"]
_PYTHON = "import os\n|os.system|lambda x: |for x in |else |def f(): |yield |class A: |getattr|exec|open|__import__|"
_PYTHON += "b'a'|:=|await |with |as |try:|except:|print |[::-1]|os.environ|.read()|chr|range(9)|map|del |global x\n|"
_PYTHON += "raise |and |or |not |in |is |f'{|}'|**|.join|.format"
_WORDS = {
    **dict.fromkeys(("node", "perl", "ruby", "php", "lua"), _SCRIPT),
    "python": _PYTHON.split("|"),
    "awk": ["print ", "getline ", "system(", "BEGIN ", "function f("],
    "sed": ["s/", "w ", "e", "1,$"],
    "make": ["define a\n", "endef\n", "call ", "eval ", "shell ", "foreach "],
    "vim": _EDITOR,
    "ed": _EDITOR,
}


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


@pytest.mark.parametrize("language", _LANGUAGES)
@given(st.data())
def test_no_text_makes_the_scan_fail(language, data):
    pieces = st.sampled_from(_MARKS + _WORDS.get(language, []))
    text = data.draw(st.text(max_size=80) | st.lists(pieces, max_size=30).map("".join))
    assert "the code could not be looked at" not in scan(language, Data(text), []).doubts


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
