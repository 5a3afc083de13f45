"""The table of events: names, aliases, and what may be decided."""

from __future__ import annotations

import pytest

from agent_hooks import HookEvent, define_event
from agent_hooks.engine import hookspecs
from agent_hooks.errors import UnknownEventError
from agent_hooks.model.events import COMMON_CHANGES, find_event
from agent_hooks.model.outcome import SUBJECTS, Decision
from tables import tables

TABLES = tables(__file__)

EVENTS = list(HookEvent.all())
OBSERVED = (
    "setup session_end after_agent after_turn after_skill_activation after_conversation_load after_conversation_save "
    "after_compact notification"
).split()

# The decisions of each event besides proceed.
DECISIONS = TABLES["decisions"]

# What the seeds and Claude Code call them.
ALIASES = TABLES["aliases"]


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


@pytest.mark.parametrize(("name", "facts", "says"), TABLES["refused"])
def test_an_event_that_cannot_be_is_refused(own_events, name, facts, says):
    with pytest.raises(ValueError, match=says):
        define_event(name, **facts)
    assert find_event(name) is None


@pytest.mark.parametrize("facts", [{"decisions": "deny"}, {"subject": "payload"}])
def test_an_event_with_something_to_decide_or_to_change_is_not_only_observed(own_events, facts):
    assert not define_event("of_this_test", **facts).observe_only
