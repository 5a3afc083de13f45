"""Rule 7: the decision is that of a walk in which every hook has answered about the final subject."""

from __future__ import annotations

from typing import Any

import pytest

from agent_hooks import HookOutcome
from agent_hooks.testing import make_context
from engine import Engine, rewrite
from hook_sets import check
from tables import tables

CASES = tables(__file__)["cases"]


@pytest.mark.parametrize("case", CASES)
def test_hook_sets(engine, case):
    check(engine, CASES[case])


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
