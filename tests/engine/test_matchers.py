"""When a hook is asked: match texts by the table of rules, and matchers that combine."""

from __future__ import annotations

import os
import re
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_hooks import (
    AgentState,
    CompositeMatcher,
    ErrorInfo,
    HookContext,
    HookEvent,
    HookManager,
    HookOutcome,
    HookRegistration,
    MetadataMatcher,
    PathMatcher,
    RegistrationError,
    Step,
    StepTypeMatcher,
    ToolCall,
    ToolNameMatcher,
    hookimpl,
)
from agent_hooks.engine.expressions import MAX_SUBJECT
from agent_hooks.engine.markers import WEAKLY
from agent_hooks.engine.matchers import DirectoryMatcher, compile_match, text_test
from agent_hooks.testing import make_context, run_hook
from engine import Plugin, called, result, shell
from tables import tables

TABLES = tables(__file__)


def matches(text: str, name: str) -> bool:
    test = text_test(text)
    return test is None or bool(test(name))


TEXTS = TABLES["texts"]


@pytest.mark.parametrize(("text", "name"), [(text, name) for text, names, _ in TEXTS for name in names])
def test_a_text_matches(text, name):
    assert matches(text, name)


@pytest.mark.parametrize(("text", "name"), [(text, name) for text, _, names in TEXTS for name in names])
def test_a_text_does_not_match(text, name):
    assert not matches(text, name)


@given(st.text("ab_-", min_size=1, max_size=5), st.text("ab_-", max_size=7))
def test_a_plain_name_matches_exactly_itself(text, name):
    assert matches(text, name) == (text == name)


@given(st.lists(st.text("ab", min_size=1, max_size=3), min_size=1, max_size=3), st.text("ab", max_size=4))
def test_a_list_matches_exactly_its_names(names, name):
    assert matches("|".join(names), name) == matches(", ".join(names), name) == (name in names)


@given(st.text("ab*?", min_size=1, max_size=5), st.text("ab", max_size=6))
def test_a_glob_is_anchored_at_both_ends(text, name):
    def glob(pattern: str, rest: str) -> bool:
        if not pattern:
            return not rest
        if pattern[0] == "*":
            return any(glob(pattern[1:], rest[start:]) for start in range(len(rest) + 1))
        return bool(rest) and pattern[0] in ("?", rest[0]) and glob(pattern[1:], rest[1:])

    assert matches(text, name) == glob(text, name)


@pytest.mark.parametrize("text", ["(", "[a", "a{2,1}", "(?P<x"])
def test_an_expression_that_does_not_compile_is_an_error_at_once(text):
    with pytest.raises(RegistrationError, match="is not a regular expression"):
        text_test(text)


def test_what_is_too_long_to_search_may_meet_a_deny_but_no_allow():
    test = text_test("^a+$")
    assert test is not None
    assert test("a" * MAX_SUBJECT) is True
    assert test("b" * (MAX_SUBJECT + 1)) == WEAKLY


# -- what a match is tried on ------------------------------------------------------------------------------------------


def asked(event: str, match: str, **fields: Any) -> object:
    ctx = HookContext(event, **{"agent_name": "main", **fields})
    predicate = compile_match(match, HookEvent(event).matched_by)
    return True if predicate is None else predicate(ctx)


@pytest.mark.parametrize("row", TABLES["matches"], ids=lambda row: f"{row['event']} {row['match']}")
def test_a_match_is_tried_on_the_events_kind_of_thing_else_on_the_agent_and_goes_no_further(row):
    made: dict[str, Any] = {"step": Step()} if row["event"] == "after_step" else {}
    if "tool" in row:
        made["tool_call"] = ToolCall(**row["tool"])
    if "error" in row:
        made["error"] = KeyError("k") if row["error"] == "k" else ErrorInfo(type=row["error"])
    given = {key: value for key, value in row.items() if key not in ("event", "match", "is", "tool", "error")}
    assert asked(row["event"], row["match"], **given, **made) == (WEAKLY if row["is"] == "weak" else row["is"])


# -- matchers ----------------------------------------------------------------------------------------------------------

YES, NO = (lambda ctx: True), (lambda ctx: False)


def weak(ctx):
    return WEAKLY


def test_all_of_nothing_matches_and_any_of_nothing_does_not():
    assert CompositeMatcher(()).matches(shell()) is True
    assert CompositeMatcher((), require_all=False).matches(shell()) is False


@pytest.mark.parametrize(
    ("parts", "together", "either"),
    [
        ((YES, YES), True, True),
        ((YES, NO), False, True),
        ((NO, NO), False, False),
        ((weak, YES), WEAKLY, True),
        ((weak, NO), False, WEAKLY),
        ((weak, weak), WEAKLY, WEAKLY),
    ],
)
def test_matchers_are_combined(parts, together, either):
    assert CompositeMatcher(parts).matches(shell()) == together
    assert CompositeMatcher(parts, require_all=False).matches(shell()) == either


def test_matchers_combine_with_operators_and_predicates():
    bash, read = ToolNameMatcher("Bash"), ToolNameMatcher("Read")
    ctx = shell(metadata={"k": 1})
    assert (bash & MetadataMatcher("k"))(ctx)
    assert (read | bash)(ctx)
    assert not (~bash)(ctx)
    assert (~read)(ctx)
    assert (bash & (lambda ctx: ctx.tool_args["command"] == "ls"))(ctx)
    assert not (bash & ~MetadataMatcher("k"))(ctx)


def test_the_opposite_of_a_weak_match_is_weak():
    """Neither "it is read" nor "it is not read" can be trusted of evil.read."""
    ctx = HookContext("before_tool_use", tool_call=ToolCall("evil.read"))
    assert ToolNameMatcher("read")(ctx) == WEAKLY
    assert (~ToolNameMatcher("read"))(ctx) == WEAKLY


@pytest.mark.parametrize(
    ("text", "expected"),
    [("Bash", True), ("*", True), ("^Ba", True), ("Ba*", True), ("Read|Bash", True), ("Read", False)],
)
def test_a_tool_name_matcher_follows_the_rules_of_texts(text, expected):
    assert bool(ToolNameMatcher(text)(shell())) == expected


def test_a_tool_name_matcher_never_matches_without_a_tool():
    assert not ToolNameMatcher("*")(make_context("before_step", agent_name="main"))
    assert not ToolNameMatcher("main")(make_context("before_step", agent_name="main"))


def test_a_step_type_matcher_reads_the_step_or_the_states_current_one():
    final, tools = Step(), Step(errors=(ErrorInfo(type="X"),))
    assert StepTypeMatcher("final_response")(make_context("after_step", step=final))
    assert StepTypeMatcher("error")(make_context("after_step", state=AgentState(current_step=tools)))
    assert not StepTypeMatcher("tool_execution")(make_context("after_step", step=final))
    assert not StepTypeMatcher("final_response")(make_context("after_step"))


@pytest.mark.parametrize(
    ("matcher", "metadata", "expected"),
    [
        (MetadataMatcher("k"), {"k": 0}, True),
        (MetadataMatcher("k"), {"k": None}, False),
        (MetadataMatcher("k"), {}, False),
        (MetadataMatcher("k", 1), {"k": 1}, True),
        (MetadataMatcher("k", 1), {"k": 2}, False),
        (MetadataMatcher("k", None), {}, True),
    ],
)
def test_a_metadata_matcher_is_about_presence_or_equality(matcher, metadata, expected):
    assert matcher(shell(metadata=metadata)) is expected
    assert matcher(shell(state=AgentState(metadata=metadata))) is expected


class Long:
    """Matches commands of some length; no matcher of ours."""

    def matches(self, ctx):
        return len(ctx.tool_call.command) > 3


ACCEPTED = [
    (re.compile("^Ba"), True),
    (re.compile("^ba", re.IGNORECASE), True),
    (re.compile("b a s h", re.VERBOSE | re.IGNORECASE), True),
    (re.compile("ash"), True),
    (re.compile("^Read$"), False),
    (Long(), False),
    (lambda ctx: True, True),
    (ToolNameMatcher(re.compile("^Ba")), True),
    (MetadataMatcher("k") | re.compile("^Ba"), True),
    (ToolNameMatcher("Bash") & Long(), False),
    (CompositeMatcher([re.compile("^Ba"), lambda ctx: True]), True),
    (~CompositeMatcher([Long()]), True),
]


@pytest.mark.parametrize(("match", "met"), ACCEPTED, ids=called)
def test_expressions_and_objects_are_matchers_wherever_a_hook_is_registered(match, met):
    def deny():
        return HookOutcome.deny("no")

    by_mark, by_registration = HookManager(load_plugins=False), HookManager(load_plugins=False)
    plugin = Plugin(before_tool_use=hookimpl(match=match)(deny))
    by_mark.register(plugin)
    by_registration.add(HookRegistration("before_tool_use", deny, match=match))
    for manager in (by_mark, by_registration):
        assert manager.hooks().dispatch_sync(shell()).blocks is met
        assert manager.describe()[0].match
    assert run_hook(deny, shell(), match=match).blocks is met


@pytest.mark.parametrize(
    "match",
    [3, ["Bash"], object(), b"Bash", re.compile(b"Bash"), Long, lambda: True, lambda ctx, call: True, {"tool": "Bash"}],
    ids=called,
)
def test_anything_else_is_refused_when_it_is_registered(match):
    with pytest.raises(RegistrationError, match="match"):
        HookManager(load_plugins=False).add(HookRegistration("before_tool_use", lambda: None, match=match))
    with pytest.raises(RegistrationError, match="match"):
        CompositeMatcher([match])


@pytest.mark.parametrize("operand", ["Bash", None])
def test_a_text_does_not_combine_and_the_error_says_what_does(operand):
    with pytest.raises(RegistrationError, match="ToolNameMatcher"):
        ToolNameMatcher("Edit") | operand


def test_an_expression_of_a_project_is_held_to_what_its_text_would_be(monkeypatch):
    monkeypatch.setitem(sys.modules, "re2", None)
    with pytest.raises(RegistrationError, match="RE2"):
        compile_match(re.compile("(a+)+$"), "tool", "project")
    assert compile_match(re.compile("^Bash$", re.IGNORECASE), "tool", "project") is not None


def test_an_expression_is_tried_on_what_the_event_is_about():
    ctx = make_context("before_inference", model="anthropic:claude-opus")
    predicate = compile_match(re.compile("^claude"), "model")
    assert predicate is not None
    assert predicate(ctx) is True
    assert CompositeMatcher([re.compile("^claude")])(ctx) is True


# -- paths -------------------------------------------------------------------------------------------------------------


def reading(path: str, cwd: str = "/repo") -> HookContext:
    return make_context(tool="Read", kind="read", args={"file_path": path}, cwd=cwd)


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    TABLES["a_path_pattern"],
)
def test_a_path_pattern(pattern, path, expected):
    assert PathMatcher(pattern)(reading(path)) is expected


def test_a_path_is_tried_with_symbolic_links_resolved(tmp_path):
    (tmp_path / "secret").mkdir()
    (tmp_path / "innocent").symlink_to(tmp_path / "secret")
    ctx = reading("innocent/key", cwd=str(tmp_path))
    assert PathMatcher("innocent/*")(ctx)
    assert PathMatcher(os.path.realpath(tmp_path / "secret") + "/*")(ctx)


def test_a_shell_calls_paths_are_not_known():
    assert not PathMatcher("**")(shell("cat /etc/passwd"))


@pytest.mark.parametrize("at", [shell, result])
def test_a_directory_is_that_of_the_event_or_of_a_path(tmp_path, at):
    below = DirectoryMatcher(str(tmp_path / "app"))
    inside, outside = str(tmp_path / "app" / "x"), str(tmp_path / "apple")
    assert below(at(cwd=inside))
    assert below(at(cwd=str(tmp_path / "app")))
    assert not below(at(cwd=outside))
    assert below(reading(inside, cwd="/"))
    assert not below(reading(outside, cwd="/"))


def test_a_path_under_an_unknown_key_meets_a_deny_and_no_allow():
    ctx = make_context(tool="save", args={"dest": "src/a.py", "text": "src/b.py"}, cwd="/repo")
    assert PathMatcher("src/a.py")(ctx) == WEAKLY
    assert PathMatcher("src/b.py")(ctx) is False


def test_a_directory_is_found_behind_a_symbolic_link(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert DirectoryMatcher(str(tmp_path / "real"))(shell(cwd=str(tmp_path / "link")))
    assert DirectoryMatcher(str(tmp_path / "link"))(shell(cwd=str(tmp_path / "real")))


def test_a_shell_call_in_the_project_may_touch_any_directory_of_it(tmp_path):
    below = DirectoryMatcher(str(tmp_path / "app"), project=str(tmp_path))
    assert below(shell(cwd=str(tmp_path)))
    assert below(shell(cwd=str(tmp_path / "other")))
    assert below(shell(cwd="/"))
    assert not below(shell(cwd="/elsewhere"))
    assert not below(reading("README", cwd=str(tmp_path)))
    assert not below(make_context("before_step", cwd=str(tmp_path)))


def test_a_session_of_the_project_is_in_its_directory_wherever_it_works(tmp_path):
    project, elsewhere = str(tmp_path / "project"), str(tmp_path / "elsewhere")
    of_project, of_part = DirectoryMatcher(project), DirectoryMatcher(project + "/part")
    session = {"cwd": elsewhere, "project_dir": project}
    assert of_project(shell(**session))
    assert of_project(reading("x", cwd=elsewhere).replace(project_dir=project))
    # A shell call may touch any part of the project, a read only what it says.
    assert of_part(shell(**session))
    assert not of_part(reading("x", cwd=elsewhere).replace(project_dir=project))


def test_a_session_of_another_project_is_not_in_the_directory(tmp_path):
    session = {"cwd": str(tmp_path / "one"), "project_dir": str(tmp_path / "one")}
    assert not DirectoryMatcher(str(tmp_path / "two"))(shell(**session))
    assert not DirectoryMatcher(str(tmp_path / "two" / "part"))(shell(**session))


@pytest.mark.parametrize("source", ["project", "skill"])
@pytest.mark.parametrize("pattern", ["Bash|Edit", "mcp__*", "mcp__memory__.*", "^Bash$", "Notebook.+", "[BR].*"])
def test_names_globs_and_simple_expressions_of_a_project_need_no_re2(pattern, source, monkeypatch):
    monkeypatch.setitem(sys.modules, "re2", None)
    assert text_test(pattern, source) is not None


@pytest.mark.parametrize("source", ["project", "skill"])
@pytest.mark.parametrize("pattern", ["(a+)+$", "a{1,5}x.", "x*x*x*x*$", "(?=.*)", r"\d+$"])
def test_an_expression_that_could_run_for_long_needs_re2_from_a_project(pattern, source, monkeypatch):
    monkeypatch.setitem(sys.modules, "re2", None)
    message = rf"which a {source} may use only with RE2.*install agent-hooks-core\[re2\]"
    with pytest.raises(RegistrationError, match=message):
        text_test(pattern, source)
