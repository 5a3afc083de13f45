"""Rule 14: names are untrusted: an odd one never satisfies an allow, and no name escapes ``*``."""

from __future__ import annotations

import pytest

from agent_hooks import HookContext, HookOutcome, ToolCall
from engine import Engine, messages_of

ODD_NAMES = ["Bash ", "Bash\n", "Bäsh", "ls;rm", "x" * 201, ""]
PLAIN_NAMES = ["Bash", "mcp__files.read", "a:b/c-d_e", "x" * 200]


def call_of(name: str) -> HookContext:
    return HookContext("before_tool_use", tool_call=ToolCall(name))


def ask_about(engine: Engine, name: str) -> HookOutcome:
    """Dispatch a call of the tool ``name`` past a hook that asks; nobody answers unless an allow does."""
    engine.says("asker", HookOutcome.ask("sure?"))
    return engine.dispatch(call_of(name))


@pytest.mark.parametrize("name", PLAIN_NAMES)
def test_a_plain_name_can_satisfy_an_allow(engine, name):
    engine.says("allower", HookOutcome.allow(), priority=1)
    assert ask_about(engine, name).decision == "allow"


@pytest.mark.parametrize("name", ODD_NAMES)
@pytest.mark.parametrize("answer", [HookOutcome.allow(), HookOutcome.allow(final=True), HookOutcome.skip()], ids=repr)
def test_an_odd_name_never_satisfies_an_allow(engine, name, answer):
    engine.says("allower", answer, priority=1)
    outcome = ask_about(engine, name)
    assert (outcome.decision, outcome.asked_by) == ("deny", ("asker",))
    assert ["which does not count" in message for message in messages_of(outcome)] == [True]


@pytest.mark.parametrize("name", [*ODD_NAMES, *PLAIN_NAMES])
@pytest.mark.parametrize("match", [None, "*", ""])
def test_no_name_escapes_the_star(engine, name, match):
    engine.says("guard", HookOutcome.deny("no"), match=match)
    assert engine.dispatch(call_of(name)).decision == "deny"


@pytest.mark.parametrize("match", ["read_file", "read_*", "^read_file$"])
def test_the_last_segment_of_a_dotted_name_may_meet_a_deny(engine, match):
    engine.says("guard", HookOutcome.deny("no"), match=match)
    assert engine.dispatch(call_of("files.read_file")).decision == "deny"


@pytest.mark.parametrize("match", ["read_file", "read_*", "^read_file$"])
@pytest.mark.parametrize("answer", [HookOutcome.allow(), HookOutcome.skip()], ids=repr)
def test_the_last_segment_of_a_dotted_name_may_not_meet_an_allow(engine, match, answer):
    """Anybody may call a tool of theirs evil.read_file."""
    engine.says("allower", answer, match=match, priority=1)
    outcome = ask_about(engine, "evil.read_file")
    assert outcome.decision == "deny"
    assert "it matched on a part of the tool's name" in messages_of(outcome)[0]


def test_the_whole_dotted_name_may_meet_an_allow(engine):
    engine.says("allower", HookOutcome.allow(), match=r"^files\.read_file$", priority=1)
    assert ask_about(engine, "files.read_file").decision == "allow"


def test_an_allow_that_does_not_count_still_brings_what_it_brought(engine):
    engine.says("allower", HookOutcome.allow(context="careful"), match="read_file")
    outcome = engine.dispatch(call_of("files.read_file"))
    assert (outcome.decision, outcome.context) == ("proceed", "careful")
