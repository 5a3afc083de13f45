"""The rate limit."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from making import about, judged, run_all

from agent_hooks import AgentBuilder, HookOutcome, RegistrationError, ScriptedDriver, ToolCall
from agent_hooks.errors import StoreError
from agent_hooks.system.store import MemoryStore, Store
from agent_hooks_guards import RateLimit
from agent_hooks_guards.guards import rate_limit


def admitted(guard, *contexts):
    return [guard.execute(context) is None for context in contexts]


def test_call_n_plus_one_is_denied_and_says_so():
    guard = RateLimit(2)
    assert admitted(guard, about(session_id="s"), about(session_id="s")) == [True, True]
    outcome = judged(guard, about(session_id="s"))
    assert outcome.decision == "deny"
    assert outcome.reason == "Rate limit exceeded: 3/2 tool calls."
    assert judged(guard, about(session_id="s")).reason == "Rate limit exceeded: 3/2 tool calls."


@given(limit=st.integers(0, 10), sessions=st.lists(st.sampled_from("abc"), max_size=40))
def test_each_session_has_exactly_the_limit(limit, sessions):
    guard = RateLimit(limit)
    passed = [session for session in sessions if guard.execute(about(session_id=session)) is None]
    assert {s: passed.count(s) for s in "abc"} == {s: min(limit, sessions.count(s)) for s in "abc"}


def test_a_call_that_is_judged_again_counts_once():
    guard = RateLimit(2)
    contexts = [about(session_id="s"), about(session_id="s", rechecking=True), about(session_id="s")]
    assert admitted(guard, *contexts) == [True, True, True]
    assert admitted(guard, about(session_id="s")) == [False]


@pytest.mark.parametrize("decision", ["ask", "suspend"])
def test_a_limit_of_one_lets_through_the_call_that_a_person_has_just_approved(decision):
    store = MemoryStore()

    def deploy(target: str) -> str:
        return f"Deployed to {target}."

    def agent(*replies):
        built = AgentBuilder(plugins=()).with_driver(ScriptedDriver(*replies)).with_tools(deploy).with_store(store)
        built = built.hook("before_tool_use", limit, priority=100).with_ask("host").with_session("s")
        return built.before_tool_use(lambda ctx: getattr(HookOutcome, decision)("Really?")).build()

    limit = RateLimit(1)
    state = agent(ToolCall("deploy", {"target": "prod"}, id="1")).run_sync("Deploy.")
    state = agent(ToolCall("deploy", {"target": "staging"}, id="2"), "Done.").resume_sync(state, "allow")
    assert [execution.result for step in state.steps for execution in step.executions] == ["Deployed to prod.", None]
    assert state.steps[1].executions[0].reason == "Rate limit exceeded: 2/1 tool calls."


def test_only_matching_tools_count():
    guard = RateLimit(1, match="fetch")
    assert admitted(guard, *[about("x", kind="read", session_id="s")] * 3) == [True, True, True]
    assert admitted(guard, *[about("x", kind="fetch", session_id="s")] * 2) == [True, False]


def test_without_a_session_the_run_counts_and_without_a_run_the_process():
    guard = RateLimit(1)
    contexts = [about(execution_id="1"), about(execution_id="2"), about(), about(execution_id="1"), about()]
    assert admitted(guard, *contexts) == [True, True, True, False, False]


def test_a_rule_from_settings_counts_by_transcript_and_else_by_folder_where_there_is_no_session(tmp_path, monkeypatch):
    guard = RateLimit(1, source="project")
    calls: list[dict[str, Any]] = [
        {"host": "a", "transcript_path": "/t1", "cwd": "/x"},
        {"host": "a", "transcript_path": "/t1", "cwd": "/y"},
        {"host": "a", "transcript_path": "/t2", "cwd": "/x"},
        {"host": "b", "transcript_path": "/t1", "cwd": "/x"},
        {"host": "a", "cwd": "/x"},
        {"host": "a", "cwd": "/x"},
        {"host": "a", "cwd": "/y"},
        {"host": "a"},
        {"host": "a"},
    ]
    passed = [True, False, True, True, True, False, True, True, False]
    assert admitted(guard, *(about(**call) for call in calls)) == passed
    monkeypatch.chdir(tmp_path)
    assert admitted(guard, about(host="a")) == [True]


def test_a_window_counts_anew(monkeypatch):
    guard = RateLimit(1, window_seconds=60)
    times = []
    for now in (119.0, 119.9, 120.0, 120.1):
        monkeypatch.setattr(rate_limit, "time", lambda now=now: now)
        times.append(guard.execute(about(session_id="s")))
    assert [outcome is None for outcome in times] == [True, False, True, False]
    assert times[1] is not None
    assert times[1].reason == "Rate limit exceeded: 2/1 tool calls per 60 s."


def test_two_limits_in_code_do_not_count_for_each_other():
    assert admitted(RateLimit(1), about(session_id="s")) == [True]
    assert admitted(RateLimit(1), about(session_id="s")) == [True]


def test_limits_with_one_store_and_one_name_share_the_count():
    store = MemoryStore()
    assert admitted(RateLimit(2, store=store), *[about(session_id="s")] * 2) == [True, True]
    assert admitted(RateLimit(3, store=store), *[about(session_id="s")] * 2) == [True, False]
    assert admitted(RateLimit(1, store=store, name="other"), about(session_id="s")) == [True]


CALL = """
import sys
from agent_hooks import HookContext, ToolCall
from agent_hooks.system.store import Store
from agent_hooks_guards import RateLimit
guard = RateLimit(int(sys.argv[2]), store=Store(sys.argv[1]))
ctx = HookContext("before_tool_use", tool_call=ToolCall("Bash"), session_id="shared")
print(sum(guard.execute(ctx) is None for _ in range(30)))
"""


def test_two_processes_share_one_limit(tmp_path):
    """Sixty calls of one session, from two processes at once: exactly the limit is let through."""
    printed = run_all(CALL, 2, tmp_path / "store.sqlite3", 40)
    assert sum(map(int, printed)) == 40


def test_a_store_that_cannot_be_used_is_an_error_and_not_a_permission(tmp_path):
    """The engine denies what a failing gate could not judge."""
    (tmp_path / "store.sqlite3").write_bytes(b"not a database" * 100)
    with pytest.raises(StoreError, match=r"store\.sqlite3"):
        RateLimit(5, store=Store(tmp_path / "store.sqlite3")).execute(about(session_id="s"))


@pytest.mark.parametrize("limit", [-1, 1.5, True, "3"])
def test_a_limit_that_is_no_number_is_refused(limit):
    with pytest.raises(RegistrationError, match="max_calls must be a whole number from 0"):
        RateLimit(limit)


@pytest.mark.parametrize("window", [0, -1, float("nan")])
def test_a_window_that_is_no_span_is_refused(window):
    with pytest.raises(RegistrationError, match="window_seconds must be a number of seconds above 0"):
        RateLimit(1, window_seconds=window)
