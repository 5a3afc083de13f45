"""Regular expressions that no text makes run for long, whoever wrote them."""

from __future__ import annotations

import re
import sys

import pytest

from agent_hooks.engine.expressions import MAX_QUICK_SUBJECT, MAX_SUBJECT, bounded_search
from agent_hooks.engine.markers import WEAKLY
from agent_hooks.engine.matchers import text_test
from agent_hooks.errors import RegistrationError
from tables import tables

TABLES = tables(__file__)

# Of each, a text on which Python would look for years.
ENDLESS = TABLES["endless"]
# All of these are written every day.
USUAL = TABLES["usual"]


def search_of(pattern: str, source: str = "user"):
    return bounded_search(pattern, f"The match {pattern!r}", source, is_quick=False)


@pytest.mark.parametrize("pattern", ENDLESS)
@pytest.mark.parametrize("source", ["code", "plugin", "user", "managed"])
def test_nobody_may_repeat_a_repetition_without_re2(pattern, source, monkeypatch):
    re.compile(pattern)  # so it is not that
    monkeypatch.setitem(sys.modules, "re2", None)
    with pytest.raises(RegistrationError, match=r"may take for ever.*install agent-hooks-core\[re2\]"):
        search_of(pattern, source)


@pytest.mark.parametrize("pattern", [pattern for pattern in ENDLESS if "(?x)" not in pattern and "#" not in pattern])
def test_with_re2_no_text_makes_it_run_for_long(pattern):
    search, longest = search_of(pattern)
    assert longest == MAX_SUBJECT
    found = search("a" * (MAX_SUBJECT - 1) + "!")
    assert found is None or not found.group()


def test_the_matcher_that_hung_is_answered_at_once():
    test = text_test("(a+)+$", "user")
    assert test is not None
    assert test("a" * 4000 + "-") is False
    assert test("a" * 4000) is True


@pytest.mark.parametrize("pattern", USUAL)
@pytest.mark.parametrize("source", ["code", "user"])
def test_the_usual_expressions_need_no_re2(pattern, source, monkeypatch):
    monkeypatch.setitem(sys.modules, "re2", None)
    search, _ = search_of(pattern, source)
    assert all(bool(search(name)) == bool(re.search(pattern, name)) for name in ("Edit", "mcp__files__get_it", "+", ""))


def test_what_re2_does_not_know_is_searched_by_python_if_that_ends():
    search, _ = search_of("^(?!a.*b.*c.*d.*e)")
    assert search("x")
    assert not search("abcde")
    with pytest.raises(RegistrationError, match=r"RE2.*does not know all that is in it"):
        search_of("(?=(a+)+)b")


def test_the_more_repetitions_the_shorter_the_text_that_is_searched(monkeypatch):
    monkeypatch.setitem(sys.modules, "re2", None)
    longest = {pattern: search_of(pattern)[1] for pattern in ("a.*", "a.*b.*", ".*.*.*.*x")}
    assert longest == {"a.*": MAX_SUBJECT, "a.*b.*": MAX_QUICK_SUBJECT, ".*.*.*.*x": MAX_QUICK_SUBJECT}
    test = text_test("a.*b.*", "user")
    assert test is not None
    assert test("x" * MAX_QUICK_SUBJECT) is False
    assert test("x" * (MAX_QUICK_SUBJECT + 1)) == WEAKLY


@pytest.mark.parametrize("source", ["project", "user"])
def test_re2_writes_nothing_to_stderr_and_says_in_plain_words_what_is_wrong(source, capfd):
    with pytest.raises(RegistrationError) as error:
        text_test("(", source)
    assert "b'" not in str(error.value)
    assert "is not a regular expression" in str(error.value)
    assert capfd.readouterr().err == ""


def test_the_end_of_a_text_is_the_same_with_re2():
    for pattern in (r"(?:a|b)*x\Z", r"(?:a|b)*x$", r"(?:a|b)*\\Zx"):
        search, _ = search_of(pattern, "project")
        assert bool(search("ax")) == ("\\\\" not in pattern)
        assert not search("ax\n")
        assert bool(search("a\\Zx")) == bool(re.search(pattern, "a\\Zx"))
