"""Rule 7: the decision is that of a walk in which every hook has answered about the final subject."""

from __future__ import annotations

from agent_hooks import HookOutcome
from agent_hooks.testing import make_context


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
