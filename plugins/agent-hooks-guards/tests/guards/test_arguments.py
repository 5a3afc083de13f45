"""Argument patterns."""

from __future__ import annotations

import os
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from making import about, judged

from agent_hooks import RegistrationError
from agent_hooks_guards import ArgumentPattern
from agent_hooks_guards.rules.patterns import LENGTHS, SafePattern
from tables import tables

TABLES = tables(__file__)


def decision(guard, context):
    outcome = guard.execute(context)
    return None if outcome is None else str(outcome.decision)


def test_a_pattern_found_in_the_field_denies_and_says_which():
    guard = ArgumentPattern("command", r"--force\b")
    outcome = judged(guard, about(kind="shell", args={"command": "git push --force"}))
    assert outcome.decision == "deny"
    assert outcome.reason == 'Argument "command" of tool "Bash" is not permitted: it matches --force\\b.'


class Long:
    def matches(self, ctx):
        return len(ctx.tool_call.command) > 10


@pytest.mark.parametrize(
    ("match", "expected"), [(re.compile("^Ba"), "deny"), (re.compile("^Re"), None), (Long(), None)]
)
def test_a_match_may_be_an_expression_or_an_object(match, expected):
    guard = ArgumentPattern("command", "sudo", match=match)
    assert decision(guard, about(kind="shell", args={"command": "sudo ls"})) == expected


def test_a_match_that_is_none_is_refused():
    with pytest.raises(RegistrationError, match="is no match"):
        ArgumentPattern("command", "sudo", match=3)  # type: ignore[arg-type]


def test_the_decision_may_be_to_ask():
    guard = ArgumentPattern("command", "sudo", decision="ask", message="May {tool} use {pattern} in {field}?")
    outcome = judged(guard, about(kind="shell", args={"command": "sudo ls"}))
    assert outcome.decision == "ask"
    assert outcome.reason == "May Bash use sudo in command?"


def test_other_arguments_and_other_tools_pass():
    guard = ArgumentPattern("command", "sudo", match="shell")
    assert decision(guard, about(kind="shell", args={"command": "ls", "note": "no sudo"})) is None
    assert decision(guard, about(kind="mcp", args={"command": "sudo ls"})) is None
    assert decision(guard, about(kind="shell")) is None


@pytest.mark.parametrize("args", [{"cmd": "rm -rf /"}, {"command": ["rm", "-rf", "/"]}, {"commandLine": "rm -rf /"}])
def test_command_is_the_command_whatever_the_host_calls_it(args):
    assert decision(ArgumentPattern("command", "rm -rf"), about("run", kind="shell", args=args)) == "deny"


def test_an_argument_of_the_very_name_counts_too():
    """A tool that is not known as a shell may still take a command."""
    assert decision(ArgumentPattern("command", "sudo"), about("x", kind="mcp", args={"command": "sudo ls"})) == "deny"


@pytest.mark.parametrize("path", ["/etc/passwd", "../../etc/passwd", "/srv/../etc/passwd", "./../../etc//passwd"])
def test_paths_are_searched_as_given_and_made_absolute(path):
    context = about("view", kind="read", args={"file_path": path}, cwd="/srv/app")
    assert decision(ArgumentPattern("paths", "^/etc/"), context) == "deny"


@pytest.mark.parametrize(("key", "expected"), [("dest", "deny"), ("text", None)])
def test_paths_are_searched_under_any_key_but_those_of_content(key, expected):
    context = about("save", kind="mcp", args={key: "../../etc/passwd"}, cwd="/srv/app")
    assert decision(ArgumentPattern("paths", "^/etc/"), context) == expected


def test_paths_are_searched_with_symbolic_links_resolved(tmp_path):
    secret = tmp_path / "secret"
    secret.mkdir()
    (tmp_path / "link").symlink_to(secret)
    context = about("view", kind="read", args={"file_path": "link/key"}, cwd=str(tmp_path))
    pattern = f"^{os.path.realpath(secret)}/key$".replace(".", r"\.")
    assert decision(ArgumentPattern("paths", pattern), context) == "deny"


def test_content_and_url_are_found_under_the_names_of_each_host():
    assert (
        decision(ArgumentPattern("content", "AKIA"), about("put", kind="write", args={"file_text": "AKIA1"})) == "deny"
    )
    assert decision(ArgumentPattern("url", "^http:"), about("get", kind="fetch", args={"uri": "http://x"})) == "deny"


@pytest.mark.parametrize(("field", "args"), TABLES["a_dotted_field_goes_through_tables_and_lists"])
def test_a_dotted_field_goes_through_tables_and_lists(field, args):
    assert decision(ArgumentPattern(field, "^bad$"), about(args=args)) == "deny"


@pytest.mark.parametrize("value", [22, True, 2.5])
def test_numbers_and_truth_are_searched_as_json_shows_them(value):
    text = {22: "^22$", True: "^true$", 2.5: r"^2\.5$"}[value]
    assert decision(ArgumentPattern("port", text), about(args={"port": value})) == "deny"


json_values = st.recursive(
    st.text(max_size=5) | st.integers() | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)


@given(before=st.lists(json_values, max_size=3), path=st.lists(st.text(max_size=3) | st.none(), max_size=5))
def test_a_text_is_found_however_deep_it_lies(before, path):
    """Under any keys (a text) and list places (None)."""
    value: Any = "needle"
    for step in path:
        value = [*before, value] if step is None else {"other": before, step: value}
    assert decision(ArgumentPattern("field", "^needle$"), about(args={"field": value})) == "deny"


# -- patterns that could stall -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("pattern", TABLES["repeats_inside_or_beside_too_many_others_are_refused"])
def test_repeats_inside_or_beside_too_many_others_are_refused(pattern):
    with pytest.raises(RegistrationError, match="exponential time"):
        ArgumentPattern("command", pattern)


@pytest.mark.parametrize("pattern", TABLES["an_ordinary_pattern_is_not"])
def test_an_ordinary_pattern_is_not(pattern):
    assert decision(ArgumentPattern("command", pattern), about(args={})) is None


@pytest.mark.parametrize("pattern", ["(", "a{2,1}", "[z-a]", "*", "(?P<1>x)"])
def test_a_pattern_that_does_not_compile_is_refused(pattern):
    with pytest.raises(RegistrationError, match="is not a regular expression"):
        ArgumentPattern("command", pattern)


@pytest.mark.parametrize(
    ("pattern", "worst", "limit"), TABLES["the_more_repeats_the_shorter_is_the_text_that_is_searched"]
)
def test_the_more_repeats_the_shorter_is_the_text_that_is_searched(pattern, worst, limit):
    """The worst text of that length is searched to its end; this test ends because that does not take long."""
    safe = SafePattern(pattern)
    assert safe.limit == limit
    assert safe.found_in(worst * (limit // len(worst))) is False
    assert safe.found_in(worst * (limit // len(worst) + 1)) is None


@pytest.mark.parametrize(("decided", "pattern"), [("deny", "rm.*-rf"), ("ask", "rm.*-rf"), ("deny", "(?i)X+")])
def test_text_too_long_to_be_searched_gets_the_rules_own_decision(decided, pattern):
    """Else padding would hide the match."""
    guard = ArgumentPattern("command", pattern, decision=decided)
    limit = SafePattern(pattern).limit
    outcome = judged(guard, about(kind="shell", args={"command": "-rf".ljust(limit + 1, "y")}))
    assert outcome.decision == decided
    assert f"longer than the {limit} characters" in outcome.reason
    assert decision(guard, about(kind="shell", args={"command": "-rf".ljust(limit, "y")})) is None


def test_text_of_any_length_passes_without_the_words_that_every_match_has():
    text = "y" * 2_000_000
    assert SafePattern(r"curl\s+.*\|\s*(ba)?sh").found_in(text) is False
    assert SafePattern(r"curl\s+.*\|\s*(ba)?sh").found_in(f"{text}curl") is None
    assert SafePattern(r"(?i)curl\s+.*\|\s*(ba)?sh").found_in(f"{text}CURL") is None


words = st.lists(st.sampled_from(["a", "b", "(?:ab)?", "a+", "[ab]", "(b|c)", ".", "(?=a)", "^", "\\."]), max_size=3)


@given(pattern=words.map("".join), flags=st.sampled_from(["", "(?i)"]), text=st.text("abcB.", max_size=20))
def test_a_pattern_finds_what_re_finds(pattern, flags, text):
    assert SafePattern(flags + pattern).found_in(text) is (re.search(flags + pattern, text) is not None)


def test_a_pattern_without_repeats_searches_long_text():
    guard = ArgumentPattern("content", r"AKIA[0-9A-Z]{16}|-----BEGIN (RSA )?PRIVATE KEY")
    filler = "y" * (LENGTHS[0] - 40)
    assert decision(guard, about("w", kind="write", args={"content": filler})) is None
    assert decision(guard, about("w", kind="write", args={"content": f"{filler}-----BEGIN PRIVATE KEY"})) == "deny"
    assert decision(guard, about("w", kind="write", args={"content": filler + "y" * 41})) == "deny"


@pytest.mark.parametrize(("arguments", "said"), TABLES["other_mistakes_are_said"])
def test_other_mistakes_are_said(arguments, said):
    with pytest.raises(RegistrationError, match=said):
        ArgumentPattern(**arguments)
