"""A matcher of Claude Code's settings means what it means there."""

from __future__ import annotations

import re
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_hooks.engine.markers import WEAKLY
from agent_hooks.errors import RegistrationError
from agent_hooks.formats.claude.event_names import EVENTS
from agent_hooks.formats.claude.matcher_rules import claude_match, exact_names, python_expression, tool_names
from agent_hooks.model.context import HookContext
from agent_hooks.model.tool_call import ErrorInfo, ToolCall
from tables import tables

TABLES = tables(__file__)


def tool(name, args=None, **facts):
    return HookContext("before_tool_use", tool_call=ToolCall(name, args, **facts), cwd="/repo")


def asked(matcher, ctx, event="PreToolUse", source="user"):
    match = claude_match(matcher, event, source)
    return True if match is None else match(ctx)


@pytest.mark.parametrize("matcher", ["", "*"])
@pytest.mark.parametrize("event", EVENTS)
def test_nothing_and_a_star_match_all(matcher, event):
    assert claude_match(matcher, event) is None


@pytest.mark.parametrize(("matcher", "name", "expected"), TABLES["the_documented_rules"])
def test_the_documented_rules(matcher, name, expected):
    assert asked(matcher, tool(name, kind="mcp" if name.startswith("mcp__") else None)) is expected


@pytest.mark.parametrize(
    ("matcher", "name"),
    [("Task", "Agent"), ("Agent", "Task"), ("KillShell|KillBash", "TaskStop"), ("^Brief$", "SendUserMessage")],
)
def test_former_names_of_a_tool_hold_for_it(matcher, name):
    assert asked(matcher, tool(name)) is True


@pytest.mark.parametrize(("matcher", "call", "expected"), TABLES["names_of_the_kind"])
def test_a_tool_of_another_host_has_the_names_of_its_kind(matcher, call, expected):
    assert asked(matcher, tool("x").replace(tool_call=ToolCall.from_dict(call))) is expected


def test_the_last_segment_of_a_dotted_name_matches_weakly():
    assert asked("Bash", tool("functions.shell")) == WEAKLY
    assert asked("Read", tool("functions.shell")) is False


def test_names_are_tried_once_each():
    assert tool_names(ToolCall("Agent", aliases=("Task",))) == ("Agent", "Task")
    assert tool_names(ToolCall("search", kind="other")) == ("search",)


HOST = "on_host_event"
SUBJECTS = TABLES["subjects"]


@pytest.mark.parametrize(("event", "fields", "matcher"), SUBJECTS, ids=[f"{row[0]}-{row[2]}" for row in SUBJECTS])
def test_each_event_is_matched_on_its_own_subject(event, fields, matcher):
    ctx = HookContext.from_dict({"event": str(EVENTS[event].event), **fields})
    assert asked(matcher, ctx, event) is True
    assert asked("something_else", ctx, event) is False


@pytest.mark.parametrize(("event", "fields", "matcher"), SUBJECTS, ids=[f"{row[0]}-{row[2]}" for row in SUBJECTS])
def test_where_the_host_does_not_say_what_it_is_about_the_hook_is_asked_weakly(event, fields, matcher):
    assert asked(matcher, HookContext(EVENTS[event].event), event) == WEAKLY
    if "payload" in fields:
        assert asked(matcher, HookContext(HOST, payload={next(iter(fields["payload"])): 5}), event) == WEAKLY


def test_an_error_is_matched_by_its_classes_too():
    ctx = HookContext("on_error", error=TimeoutError("late"))
    assert asked("OSError", ctx, "StopFailure") is True
    assert asked("ValueError", ctx, "StopFailure") is False


NO_MATCHERS = [name for name, event in EVENTS.items() if not event.subject]


@pytest.mark.parametrize("event", NO_MATCHERS)
def test_an_event_without_matchers_ignores_them(event):
    assert claude_match("Bash", event) is None


def test_commas_and_hyphens_make_an_expression_at_the_events_that_know_fewer_names():
    assert exact_names("a,b-c d", "PreToolUse") == ("a", "b-c d")
    assert exact_names("a,b", "StopFailure") is None
    assert exact_names("a|b", "FileChanged") == ("a", "b")
    error = HookContext("on_error", error=ErrorInfo(type="a"))
    assert asked("a,b", error, "StopFailure") is False
    changed = HookContext(HOST, payload={"file_path": "x/my-file.txt"})
    assert asked("my-file", changed, "FileChanged") is True


# -- expressions -------------------------------------------------------------------------------------------------------

SAME_IN_PYTHON = TABLES["same_in_python"]


@pytest.mark.parametrize("pattern", SAME_IN_PYTHON)
@pytest.mark.parametrize("source", ["user", "project"])
def test_an_expression_finds_what_it_finds_in_javascript(pattern, source):
    yes, no = SAME_IN_PYTHON[pattern]
    assert asked(pattern, tool(yes), source=source) is True
    assert asked(pattern, tool(no), source=source) is False


@pytest.mark.parametrize("pattern", TABLES["an_expression_that_has_no_equal_is_refused"])
@pytest.mark.parametrize("source", ["user", "project"])
def test_an_expression_that_has_no_equal_is_refused(pattern, source):
    with pytest.raises(RegistrationError, match="matcher"):
        claude_match(pattern, "PreToolUse", source)


@given(st.text(alphabet="aB0_-.*+?^$|()[]{}\\,/ <>=!:ix&~#", max_size=25), st.sampled_from(["user", "project"]))
def test_any_matcher_is_compiled_or_refused(matcher, source):
    try:
        match = claude_match(matcher, "PreToolUse", source)
    except RegistrationError:
        return
    assert match is None or match(tool("Bash")) in (True, False, WEAKLY)


@given(st.text(alphabet="aB0_-.*+?^$|()[]{}\\ &~#é", min_size=1, max_size=15))
def test_an_escaped_text_finds_itself(text):
    pattern = re.sub(r"([^\w\s])", r"\\\1", text, flags=re.ASCII).replace("é", "\\u00e9").replace("\\\\u", "\\u")
    expression, is_quick = python_expression(f"^{pattern}$")
    assert is_quick
    assert re.compile(expression, re.ASCII).search(text)
    assert not re.compile(expression, re.ASCII).search(f"{text}\n")


# -- running time ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("matcher", ["^(Edit|Write)$", "mcp__.*__write.*", "^(?!Bash$)", "Edit|Write|mcp__x__.*"])
def test_a_simple_expression_of_a_project_needs_no_re2(matcher, monkeypatch):
    monkeypatch.setitem(sys.modules, "re2", None)
    assert claude_match(matcher, "PreToolUse", "project") is not None


@pytest.mark.parametrize("matcher", ["(a+)+$", "(.*)*x", ".*.*.*.*x", "(a|a)*$"])
def test_another_expression_of_a_project_needs_re2(matcher, monkeypatch):
    monkeypatch.setitem(sys.modules, "re2", None)
    for source in ("project", "skill"):
        with pytest.raises(RegistrationError, match=r"agent-hooks-core\[re2\]"):
            claude_match(matcher, "PreToolUse", source)


@pytest.mark.parametrize("matcher", ["(a+)+$", "(.*)*x$", "^(a|a)*$", ".*.*.*x"])
@pytest.mark.parametrize("name", ["a" * 200 + "!", "a" * 4096 + "!"])
@pytest.mark.parametrize("source", ["project", "user"])
def test_no_name_makes_an_expression_run_for_long(matcher, name, source):
    assert asked(matcher, tool(name), source=source) in (False, WEAKLY)


def test_a_text_that_is_too_long_to_search_matches_weakly():
    assert asked("b.c", tool("a" * 5000)) == WEAKLY
    assert asked("b.c", tool("a" * 201), source="project") == WEAKLY
    assert asked("b.c", tool("a" * 201)) is False


def test_re2_says_nothing_on_stderr_about_what_it_cannot_do(capfd):
    with pytest.raises(RegistrationError, match="for RE2"):
        claude_match("(?=(a+)+)b", "PreToolUse", "project")
    assert capfd.readouterr().err == ""
