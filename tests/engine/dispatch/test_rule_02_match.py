"""Rule 2: a hook whose match says no is not called and leaves no record; a match that raises is its hook's failure."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import pytest

from agent_hooks import (
    CompositeMatcher,
    HookOutcome,
    MetadataMatcher,
    RegistrationError,
    ToolCall,
    ToolNameMatcher,
    hookimpl,
)
from agent_hooks.engine.matchers import compile_match
from agent_hooks.engine.plan import MAX_TOOLS
from agent_hooks.testing import make_context
from engine import Plugin, shell


async def _async_predicate(ctx):
    return True


class _AsyncCallable:
    async def __call__(self, ctx):
        return True


@pytest.mark.parametrize("predicate", [_async_predicate, _AsyncCallable()])
def test_an_async_predicate_is_refused_at_registration(predicate, manager):
    """A coroutine is true, whatever it would have answered."""
    with pytest.raises(RegistrationError, match="is async"):
        manager.register(Plugin(before_tool_use=hookimpl(match=predicate)(lambda ctx: None)))
    assert not manager.hooks().listens("before_tool_use")


@pytest.mark.parametrize("compose", [lambda a, b: a & b, lambda a, b: a | b])
def test_an_async_predicate_is_refused_inside_a_matcher(compose):
    with pytest.raises(RegistrationError, match="is async"):
        compose(ToolNameMatcher("Bash"), _async_predicate)


MATCHES: list[Any] = [
    *("shell", "Bash", "write|edit", "mcp__*", "re.d", "*", "apply_patch", "db.*", "query", "helper"),
    *(re.compile("(?i)bash"), ToolNameMatcher("Bash|Read"), ~ToolNameMatcher("Bash")),
    *(ToolNameMatcher("Bash") | ToolNameMatcher("query"), CompositeMatcher([]), ToolNameMatcher("run_shell_command")),
]
CALLS = [
    *(ToolCall("Bash", {"command": "ls"}), ToolCall("Read", {"file_path": "a"}), ToolCall("run", kind="shell")),
    *(ToolCall("mcp__db__query", {"q": "1"}), ToolCall("db.query", {"q": "1"}), ToolCall("x", aliases=("helper",))),
    *(ToolCall("apply_patch", {"input": f"*** {what} File: a"}) for what in ("Add", "Update", "Delete")),
    *(ToolCall("db.apply_patch", {"input": f"*** {what} File: a"}) for what in ("Add", "Delete")),
]


@pytest.mark.parametrize("again", [1, 2])
@pytest.mark.parametrize("call", CALLS, ids=str)
def test_what_is_remembered_of_a_tool_is_what_its_matches_say(engine, call, again):
    """Whatever was asked about other tools before, and about this one."""
    called = [engine.says(f"hook{number}", match=match) for number, match in enumerate(MATCHES)]
    for _ in range(again):
        for other in CALLS:
            engine.dispatch(make_context("before_tool_use", tool_call=other))
    for calls in called:
        calls.clear()
    ctx = make_context("before_tool_use", tool_call=call)
    engine.dispatch(ctx)
    asked = [compile_match(match) for match in MATCHES]
    assert [bool(calls) for calls in called] == [predicate is None or bool(predicate(ctx)) for predicate in asked]


class OnMondays(ToolNameMatcher):
    def matches(self, ctx):
        return super().matches(ctx) and ctx.metadata.get("day") == "Monday"


@pytest.mark.parametrize(
    "match",
    [
        lambda ctx: ctx.metadata.get("day") == "Monday",
        MetadataMatcher("day", "Monday"),
        ToolNameMatcher("Bash") & MetadataMatcher("day", "Monday"),
        ~~MetadataMatcher("day", "Monday"),
        OnMondays("Bash"),
    ],
)
def test_a_match_about_more_than_the_tool_is_asked_each_time(engine, match):
    calls = engine.says("rule", match=match)
    for day, count in (("Sunday", 0), ("Monday", 1), ("Tuesday", 1), ("Monday", 2)):
        engine.dispatch(shell().with_metadata("day", day))
        assert len(calls) == count


def test_a_name_that_only_some_hosts_have_is_asked_about_the_agents_other_tools_each_time(engine):
    """The name means every shell tool, unless the agent has the very tool of that name."""
    calls = engine.says("rule", match="run_shell_command")
    for tools, count in (((), 1), (("run_shell_command",), 1), ((), 2)):
        engine.dispatch(shell().replace(runtime=SimpleNamespace(tools=tools)))
        assert len(calls) == count


def test_an_allow_on_a_part_of_a_tools_name_never_counts_however_often_it_is_seen(engine):
    engine.says("rule", HookOutcome.allow(), match="query")
    for _ in range(3):
        outcome = engine.dispatch(make_context("before_tool_use", tool_call=ToolCall("db.query")))
        assert outcome.decision == "proceed"
        assert [finding.kind for finding in outcome.findings] == ["contract"]


def test_tools_with_ever_new_names_are_remembered_within_bounds(engine):
    calls = engine.says("rule", match="Bash")
    for number in range(3 * MAX_TOOLS):
        engine.dispatch(make_context("before_tool_use", tool_call=ToolCall(f"tool{number}")))
    engine.dispatch(shell())
    assert len(calls) == 1
    assert len(engine.hooks.chain("before_tool_use").rows_of_tools) <= MAX_TOOLS
