"""The table of events: names, aliases, and what may be decided."""

from __future__ import annotations

import pytest

from agent_hooks import HookEvent, define_event
from agent_hooks.engine import hookspecs
from agent_hooks.errors import UnknownEventError
from agent_hooks.model.events import COMMON_CHANGES, find_event
from agent_hooks.model.outcome import SUBJECTS, Decision

EVENTS = list(HookEvent.all())
OBSERVED = (
    "setup session_end after_agent after_turn after_skill_activation after_conversation_load after_conversation_save "
    "after_compact notification"
).split()

# The decisions of each event besides proceed.
DECISIONS = {
    "session_start": "stop",
    "before_agent": "deny ask suspend",
    "user_input": "deny ask suspend stop",
    "before_turn": "deny ask suspend",
    "before_execution": "stop skip",
    "before_step": "stop skip force_continue",
    "before_inference": "deny ask suspend stop",
    "after_inference": "deny stop retry",
    "before_tool_use": "deny ask suspend stop skip allow",
    "after_tool_use": "deny stop skip retry",
    "on_tool_error": "retry stop",
    "after_step": "stop skip force_continue",
    "before_subagent": "deny ask suspend stop",
    "after_subagent": "deny stop",
    "before_skill_activation": "deny ask suspend",
    "before_conversation_load": "deny ask suspend",
    "before_conversation_save": "deny ask suspend",
    "before_compact": "deny ask suspend",
    "should_continue": "stop force_continue",
    "on_stop": "force_continue stop",
    "before_output": "deny stop",
    "on_error": "retry",
    "after_execution": "",
    "permission_request": "allow deny",
    "on_host_event": "deny ask",
}

# What the seeds and Claude Code call them.
ALIASES = {
    "pre_tool_use": "before_tool_use",
    "PreToolUse": "before_tool_use",
    "tool.pre": "before_tool_use",
    "PostToolUse": "after_tool_use",
    "PostToolUseFailure": "on_tool_error",
    "execution_start": "before_execution",
    "execution.start": "before_execution",
    "ExecutionEnd": "after_execution",
    "step_start": "before_step",
    "step.end": "after_step",
    "process": "after_step",
    "stop": "on_stop",
    "Stop": "on_stop",
    "OnStop": "on_stop",
    "subagent_stop": "after_subagent",
    "SubagentStart": "before_subagent",
    "subagent.end": "after_subagent",
    "UserPromptSubmit": "user_input",
    "input.user": "user_input",
    "agent_failed": "on_error",
    "control.should_continue": "should_continue",
    "PreLlmRequest": "before_inference",
    "inference.post": "after_inference",
    "SessionStart": "session_start",
    "PreCompact": "before_compact",
    "PermissionRequest": "permission_request",
    "Notification": "notification",
    "PreSkillActivation": "before_skill_activation",
    "PostConversationSave": "after_conversation_save",
    "PreTurn": "before_turn",
    "PreAgent": "before_agent",
}


@pytest.mark.parametrize("name", OBSERVED)
def test_some_events_are_only_observed(name):
    assert HookEvent(name).observe_only
    assert HookEvent(name).closed is None


@pytest.mark.parametrize("name", DECISIONS)
def test_an_event_lists_its_decisions(name):
    assert HookEvent(name).decisions == set(DECISIONS[name].split())


def test_every_event_is_accounted_for():
    assert {*OBSERVED, *DECISIONS} == set(EVENTS)


@pytest.mark.parametrize("event", EVENTS)
def test_the_facts_of_an_event_fit_each_other(event):
    assert event.decisions <= {str(value) for value in vars(Decision).values() if isinstance(value, Decision)}
    assert event.subject is None or event.subject in SUBJECTS
    assert event.observe_only or event.changes >= COMMON_CHANGES
    assert event.closed in (None, "required") or event.closed in event.decisions
    assert event.closed != "required" or "deny" in event.decisions
    assert event.reads_deny_as is None or (event.reads_deny_as in event.decisions and "deny" not in event.decisions)
    assert event.closed_means


@pytest.mark.parametrize(("alias", "name"), ALIASES.items())
def test_the_names_of_the_seeds_and_of_claude_code_are_aliases(alias, name):
    assert HookEvent.parse(alias) is HookEvent(name)
    assert find_event(alias) is HookEvent(name)


def test_every_alias_names_one_event():
    names = [name for event in EVENTS for name in (event, *event.aliases)]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("name", ["BeforeToolUse2", "before_tool_used", "pre-tool-use"])
def test_an_unknown_name_is_refused_with_the_nearest(name):
    with pytest.raises(UnknownEventError, match=rf"no event '{name}'. Did you mean"):
        HookEvent.parse(name)


def test_a_name_like_no_other_points_at_the_list():
    with pytest.raises(UnknownEventError, match="`agent-hooks events` lists them all"):
        HookEvent.parse("zzzzzz")


def test_there_is_one_event_of_each_name():
    assert HookEvent("setup") is HookEvent.SETUP
    assert HookEvent.SETUP == "setup"
    assert {"setup": 1}[HookEvent.SETUP] == 1


def test_the_events_come_in_the_order_of_a_run():
    run = (
        "session_start user_input before_execution before_step before_inference after_inference before_tool_use "
        "after_tool_use after_step on_stop before_output after_execution"
    ).split()
    assert [event for event in EVENTS if event in run] == run


def test_every_event_has_a_hookspec():
    assert all(hasattr(getattr(hookspecs, event), "agent_hooks_spec") for event in EVENTS)


def test_every_event_has_a_name_of_its_own_on_the_class():
    assert [getattr(HookEvent, event.upper()) for event in EVENTS] == EVENTS


# -- events of plugins -------------------------------------------------------------------------------------------------


@pytest.fixture
def deploy(own_events):
    return define_event("before_deploy", aliases="PreDeploy", subject="payload", decisions="deny ask", closed="deny")


def test_a_plugin_may_define_an_event(deploy):
    assert HookEvent.parse("PreDeploy") is deploy
    assert deploy.changes == COMMON_CHANGES | {"payload"}
    assert list(HookEvent.all())[-1] is deploy


def test_defining_the_same_event_again_gives_the_same(deploy):
    again = define_event("before_deploy", aliases="PreDeploy", subject="payload", decisions="deny ask", closed="deny")
    assert again is deploy


@pytest.mark.parametrize("change", [{"decisions": "deny"}, {"subject": None}, {"aliases": "Deploying"}])
def test_a_name_cannot_be_defined_twice_in_different_ways(deploy, change):
    facts = {"aliases": "PreDeploy", "subject": "payload", "decisions": "deny ask", "closed": "deny"}
    with pytest.raises(ValueError, match="'before_deploy' is taken"):
        define_event("before_deploy", **{**facts, **change})


def test_an_alias_cannot_be_taken_from_another_event(own_events):
    with pytest.raises(ValueError, match="'PreToolUse' is taken by 'before_tool_use'"):
        define_event("before_deploy", aliases="PreToolUse")
    assert find_event("before_deploy") is None


def test_a_name_must_be_an_identifier(own_events):
    with pytest.raises(ValueError, match="identifier"):
        define_event("before-deploy")


@pytest.mark.parametrize(
    "facts",
    [
        {"decisions": "denny"},
        {"closed": "dennny", "decisions": "deny"},
        {"subject": "cargo"},
        {"matched_by": "nonsense"},
        {"reads_deny_as": "nonsense"},
    ],
)
def test_an_event_with_facts_that_do_not_exist_is_refused(own_events, facts):
    with pytest.raises(ValueError, match="facts that do not exist: decisions are proceed, allow"):
        define_event("before_lunch", **facts)


@pytest.mark.parametrize("facts", [{"decisions": "deny"}, {"subject": "payload"}])
def test_an_event_with_something_to_decide_or_to_change_is_not_only_observed(own_events, facts):
    assert not define_event("of_this_test", **facts).observe_only
