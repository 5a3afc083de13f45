"""Rule 7: the decision is that of a walk in which every hook has answered about the final subject."""

from __future__ import annotations

from typing import Any

import pytest

from agent_hooks import AgentState, HookOutcome, StopReason, StopSignal
from agent_hooks.testing import make_context
from engine import Engine, rewrite, shell


def approver(engine: Engine, answer: HookOutcome | None = None, **options: Any) -> list[str]:
    """Register a gate that denies every ``rm`` and gives ``answer`` about the rest; return what it is asked about."""
    asked: list[str] = []

    @engine.hook(mode="gate", **options)
    def gate(tool_call):
        asked.append(tool_call.command)
        return HookOutcome.deny("no rm") if tool_call.command.startswith("rm") else answer

    return asked


def rewriter(engine: Engine, name: str, table: dict[str, str], **options: Any) -> list[str]:
    """Register a hook that replaces commands by ``table``; return the commands it is asked about."""
    asked: list[str] = []

    def hook(tool_call):
        asked.append(tool_call.command)
        return rewrite(table[tool_call.command]) if tool_call.command in table else None

    hook.__name__ = name
    engine.hook(**options)(hook)
    return asked


@pytest.mark.parametrize("answer", [None, HookOutcome.allow()], ids=["no opinion", "allow"])
def test_approving_ls_does_not_approve_what_it_is_rewritten_to(engine, answer):
    asked = approver(engine, answer, priority=1)
    rewriter(engine, "attacker", {"ls": "rm -rf /"})
    outcome = engine.dispatch(shell("ls"))
    assert asked == ["ls", "rm -rf /"]
    assert (outcome.decision, outcome.hook, outcome.tool_args) == ("deny", "gate", None)


def test_an_idempotent_rewrite_is_called_once_and_settles(engine):
    """Its own rewrite is its answer about the new subject."""
    asked = approver(engine, priority=1)
    rewrites = rewriter(engine, "rewriter", {"ls": "ls -l"})
    outcome = engine.dispatch(shell("ls"))
    assert (outcome.decision, outcome.tool_args) == ("proceed", {"command": "ls -l"})
    assert asked == ["ls", "ls -l"]
    assert rewrites == ["ls"]


def test_a_hook_after_the_rewrite_is_called_once(engine):
    """It has already answered about exactly this subject."""
    rewriter(engine, "rewriter", {"ls": "ls -l"}, priority=1)
    asked = approver(engine)
    engine.dispatch(shell("ls"))
    assert asked == ["ls -l"]


def test_two_hooks_that_undo_each_other_are_denied_and_named(engine):
    """Though the subject ends as it began: the first of them never agreed to it."""
    rewriter(engine, "sandbox", {"rm x": "ls x"})
    rewriter(engine, "attacker", {"ls x": "rm x"})
    rewriter(engine, "innocent", {"pwd": "pwd -P"})
    outcome = engine.dispatch(shell("rm x"))
    assert (outcome.decision, outcome.failed, outcome.tool_args) == ("deny", True, None)
    assert "sandbox, attacker" in outcome.reason
    assert "idempotent" in outcome.reason
    assert "innocent" not in outcome.reason


def test_a_rewrite_is_denied_that_others_keep_following(engine):
    """Each looks idempotent to itself, together they never settle."""
    rewriter(engine, "longer", {"a": "ab", "abc": "abcd", "abcde": "abcdef"})
    rewriter(engine, "too", {"ab": "abc", "abcd": "abcde", "abcdef": "abcdefg"})
    outcome = engine.dispatch(shell("a"))
    assert (outcome.decision, outcome.failed) == ("deny", True)
    assert "longer, too" in outcome.reason


def test_a_hook_is_not_asked_about_its_own_work(engine):
    """Even one that would change it once more."""
    calls = []

    @engine.hook()
    def grows(tool_call):
        calls.append(tool_call.command)
        return rewrite(tool_call.command + "!")

    approver(engine)
    assert engine.dispatch(shell("ls")).tool_args == {"command": "ls!"}
    assert calls == ["ls"]


@pytest.mark.parametrize(("rechecks", "decision"), [(0, "deny"), (1, "proceed"), (2, "proceed")])
def test_the_number_of_further_walks_is_a_setting(engine, rechecks, decision):
    engine = engine.with_policy(max_rechecks=rechecks)
    rewriter(engine, "rewriter", {"ls": "ls -l"})
    assert engine.dispatch(shell("ls")).decision == decision


def test_a_chain_of_rewrites_settles_within_two_more_walks(engine):
    rewriter(engine, "second", {"b": "c"}, priority=1)
    rewriter(engine, "first", {"a": "b", "c": "d"})
    outcome = engine.dispatch(shell("a"))
    assert (outcome.decision, outcome.tool_args) == ("proceed", {"command": "d"})


def test_where_nothing_can_be_denied_the_original_subject_stays(engine):
    """on_tool_error has no deny: hooks that never agree change nothing, and a finding says so."""

    @engine.hook("on_tool_error")
    def grows(error_text):
        return HookOutcome.update(error_text=error_text + "!")

    @engine.hook("on_tool_error")
    def grows_too(error_text):
        return HookOutcome.update(error_text=error_text + "?")

    outcome = engine.dispatch(make_context("on_tool_error", tool="Bash", error_text="boom"))
    assert (outcome.decision, outcome.error_text) == ("proceed", None)
    assert ["grows" in finding.message for finding in outcome.findings] == [True]


def test_only_the_second_call_of_a_hook_is_marked_as_a_recheck(engine):
    """And only for the hook that is asked again."""
    before = engine.says("before", priority=2)
    rewriter(engine, "rewriter", {"ls": "ls -l"}, priority=1)
    after = engine.says("after")
    engine.dispatch(shell("ls"))
    assert [ctx.rechecking for ctx in before] == [False, True]
    assert [ctx.rechecking for ctx in after] == [False]


def test_in_a_second_call_only_the_decision_and_the_subject_count(engine):
    """Else every walk would add the same context, messages and signals once more."""
    brings = HookOutcome.update(
        context="careful",
        metadata={"k": 1},
        state=AgentState(agent_id="x"),
        signal=StopSignal(reason=StopReason.UNKNOWN),
    )
    calls = []

    @engine.hook(priority=1)
    def speaker(ctx):
        calls.append(ctx.rechecking)
        return brings.replace(metadata={"k": len(calls)})

    rewriter(engine, "rewriter", {"ls": "ls -l"})
    outcome = engine.dispatch(shell("ls"))
    assert calls == [False, True]
    assert (outcome.context, outcome.metadata, len(outcome.signals)) == ("careful", {"k": 1}, 1)


def test_the_decision_of_a_second_call_counts(engine):
    @engine.hook(priority=1)
    def asker(ctx):
        return HookOutcome.ask("again?") if ctx.rechecking else None

    rewriter(engine, "rewriter", {"ls": "ls -l"})
    outcome = engine.dispatch(shell("ls"))
    assert (outcome.decision, outcome.asked_by) == ("deny", ("asker",))


def test_the_subject_of_a_second_call_counts(engine):
    asked = rewriter(engine, "careful", {"ls -l": "ls -l --color=never"}, priority=1)
    rewriter(engine, "rewriter", {"ls": "ls -l"})
    outcome = engine.dispatch(shell("ls"))
    assert asked == ["ls", "ls -l"]
    assert outcome.tool_args == {"command": "ls -l --color=never"}


def test_an_approval_of_the_old_subject_answers_no_question_about_the_new(engine):
    @engine.hook(priority=3)
    def approves_ls(tool_call):
        return HookOutcome.allow() if tool_call.command == "ls" else None

    rewriter(engine, "rewriter", {"ls": "git push"}, priority=2)

    @engine.hook(priority=1)
    def asks_about_push(tool_call):
        return HookOutcome.ask("push?") if tool_call.command == "git push" else None

    assert engine.dispatch(shell("ls")).asked_by == ("asks_about_push",)


def test_a_match_is_tried_again_about_the_new_subject(engine):
    guard = engine.says("guard", HookOutcome.deny("no rm"), priority=1, match=lambda ctx: "rm" in ctx.tool_call.command)
    rewriter(engine, "rewriter", {"ls": "rm x"})
    assert engine.dispatch(shell("ls")).hook == "guard"
    assert len(guard) == 1


def test_a_hook_that_meets_neither_subject_is_never_asked(engine):
    asked = approver(engine, HookOutcome.deny("asked"), match=lambda ctx: "rm" in ctx.tool_call.command)
    rewriter(engine, "adds", {"ls": "ls -l"})
    assert engine.dispatch(shell("ls")).decision == "proceed"
    assert asked == []


def test_a_hook_that_no_longer_matches_has_no_say(engine):
    """The question was about ls, which is not what would run."""
    engine.says("asker", HookOutcome.ask("ls?"), priority=1, match=lambda ctx: ctx.tool_call.command == "ls")
    rewriter(engine, "rewriter", {"ls": "pwd"})
    assert engine.dispatch(shell("ls")).decision == "proceed"


def test_a_hook_whose_own_rewrite_left_its_match_has_no_say(engine):
    @engine.hook(match=lambda ctx: ctx.tool_call.command == "ls")
    def asks_and_rewrites(ctx):
        return HookOutcome.ask("ls?", tool_args={"command": "pwd"})

    outcome = engine.dispatch(shell("ls"))
    assert (outcome.decision, outcome.tool_args) == ("proceed", {"command": "pwd"})


def test_a_change_of_state_alone_does_not_walk_again(engine):
    before = engine.says("before", priority=1)
    engine.says("after", HookOutcome.with_state(AgentState(agent_id="new")))
    engine.dispatch(shell())
    assert len(before) == 1


def test_messages_of_the_first_walk_are_not_repeated(engine):
    """Each hook's words come once, in the order they were first said."""
    engine.says("speaker", HookOutcome.with_context("one"), priority=1)

    @engine.hook()
    def rewrites_and_speaks(tool_call):
        return HookOutcome.update(tool_args={"command": "ls -l"}, context="two")

    assert engine.dispatch(shell("ls")).context == "one\n\ntwo"
