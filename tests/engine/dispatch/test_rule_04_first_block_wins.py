"""Rule 4: the first outcome that blocks wins at once."""

from __future__ import annotations

from typing import Any

import pytest

from agent_hooks import AgentState, HookManager, HookOutcome, StopReason, StopSignal, hookimpl
from agent_hooks.errors import DirectCallError
from agent_hooks.testing import make_context
from engine import Plugin, rewrite, shell

BLOCKS = [HookOutcome.deny("because"), HookOutcome.stop("because"), HookOutcome.suspend("because")]


@pytest.mark.parametrize("answer", BLOCKS, ids=lambda answer: str(answer.decision))
def test_the_hooks_after_a_block_are_not_asked(engine, answer):
    engine.says("blocker", answer, priority=1)
    after = engine.says("after", HookOutcome.deny("too late"))
    outcome = engine.dispatch(shell())
    assert (outcome.decision, outcome.reason, outcome.hook) == (answer.decision, "because", "blocker")
    assert not outcome.failed
    assert after == []


def test_an_update_before_the_block_does_not_hide_it(engine):
    engine.says("rewriter", rewrite("rm -r /"), priority=2)
    engine.says("silent", priority=1)
    engine.says("blocker", HookOutcome.deny("no"))
    outcome = engine.dispatch(shell())
    assert outcome.hook == "blocker"
    assert outcome.tool_args is None


def test_a_block_keeps_context_metadata_and_signals_of_every_hook_so_far(engine):
    engine.says("one", HookOutcome.update(context="a", metadata={"m": 1}), priority=1)
    signal = StopSignal(reason=StopReason.ERROR)
    engine.says("two", HookOutcome.deny("no", context="b", metadata={"n": 2}, signal=signal))
    outcome = engine.dispatch(shell())
    assert (outcome.context, outcome.metadata, outcome.signals) == ("a\n\nb", {"m": 1, "n": 2}, (signal,))


def test_a_block_brings_no_new_subject_and_no_state(engine):
    state = AgentState().with_metadata("changed", True)
    engine.says("two", HookOutcome.deny("no", tool_args={"command": "x"}, state=state))
    outcome = engine.dispatch(shell())
    assert (outcome.tool_args, outcome.state) == (None, None)


def test_where_all_are_asked_a_stop_beats_a_forced_continuation(engine):
    """should_continue asks everybody."""
    engine.says("again", HookOutcome.force_continue("more"), event="should_continue", priority=2)
    engine.says("enough", HookOutcome.stop("enough"), event="should_continue", priority=1)
    last = engine.says("last", event="should_continue")
    outcome = engine.dispatch(make_context("should_continue"))
    assert (outcome.decision, outcome.reason, outcome.hook) == ("stop", "enough", "enough")
    assert len(last) == 1


def test_the_default_of_should_continue_is_no_opinion(engine):
    engine.says("fine", True, event="should_continue")
    assert engine.dispatch(make_context("should_continue")).decision == "proceed"


@pytest.mark.parametrize(
    ("event", "reads"), [("before_step", "stop"), ("before_execution", "stop"), ("on_stop", "force_continue")]
)
def test_a_deny_reads_as_what_the_event_knows(engine, event, reads):
    engine.says("blocker", HookOutcome.deny("because"), event=event)
    outcome = engine.dispatch(make_context(event))
    assert (outcome.decision, outcome.reason, outcome.failed) == (reads, "because", False)


def test_an_event_may_not_be_called_past_the_engine():
    """pluggy's own call would stop at a mere update: it is refused, with what to call instead."""
    manager = HookManager(load_plugins=False)
    manager.register(Plugin(before_tool_use=hookimpl(lambda: HookOutcome.with_context("an update"))))
    ctx = shell()
    with pytest.raises(DirectCallError, match=r"before_tool_use.*dispatch_sync\(ctx\)"):
        manager.hook.before_tool_use(
            ctx=ctx, tool_call=ctx.tool_call, tool_args=ctx.tool_args, state=ctx.state, skill=None
        )


def test_the_frameworks_own_hooks_may_be_called_directly():
    manager = HookManager(load_plugins=False)
    manager.register(Plugin(agent_hooks_handler_types=hookimpl(lambda: {"mine": object})))
    assert manager.hook.agent_hooks_handler_types() == [{"mine": object}]


PRODUCED = [("after_inference", "response"), ("after_tool_use", "result"), ("on_tool_error", "error_text")]


@pytest.mark.parametrize(("event", "subject"), PRODUCED)
def test_a_stop_keeps_what_hooks_before_it_made_of_something_that_has_come_about(engine, event, subject):
    """The run ends, and what it ends with is the redacted text, not the original."""
    engine.says("redactor", HookOutcome.from_dict({subject: "***"}), event=event, priority=1)
    engine.says("stopper", HookOutcome.stop("enough"), event=event)
    original: dict[str, Any] = {subject: "secret"}
    outcome = engine.dispatch(make_context(event, **original))
    assert (outcome.decision, getattr(outcome, subject)) == ("stop", "***")


def test_a_stop_brings_no_rewrite_of_something_that_does_not_happen(engine):
    engine.says("rewriter", rewrite("ls -l"), priority=1)
    engine.says("stopper", HookOutcome.stop("enough"))
    assert engine.dispatch(shell()).tool_args is None


def test_the_outcome_says_where_the_hook_that_decided_comes_from(engine):
    engine.says("plugins", HookOutcome.deny("no"), source="plugin")
    outcome = engine.dispatch(shell())
    assert (outcome.hook, outcome.source) == ("plugins", "plugin")


def test_a_hook_cannot_say_that_it_comes_from_somewhere_else(engine):
    engine.says("plugins", HookOutcome.deny("no").replace(source="managed"), source="plugin")
    assert engine.dispatch(shell()).source == "plugin"
    engine = type(engine)(engine.colour)
    engine.says("forger", {"decision": "deny", "source": "managed"}, source="plugin")
    outcome = engine.dispatch(shell())
    assert (outcome.failed, outcome.source) == (True, "plugin")
