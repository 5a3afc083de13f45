"""Regular expressions are compiled when they are first used."""

from __future__ import annotations

import re

import pytest

from agent_hooks.shell.patterns import Pattern


def test_it_has_the_methods_of_a_compiled_expression():
    pattern = Pattern(r"(a+)B", re.IGNORECASE)
    matched = pattern.match("xaab", 1)
    assert matched is not None
    assert matched[1] == "aa"
    assert pattern.sub("-", "ab Ab c") == "- - c"
    assert pattern.fullmatch("abc") is None
    assert pattern.pattern == "(a+)B"
    assert [found[0] for found in pattern.finditer("ab aab")] == ["ab", "aab"]


def test_it_is_compiled_when_it_is_first_used():
    pattern = Pattern("(")
    with pytest.raises(re.error):
        pattern.search("a")


def test_it_has_no_other_attributes():
    with pytest.raises(AttributeError):
        _ = Pattern("a").groups
