"""Roles."""

from __future__ import annotations

import pytest
from making import about, judged

from agent_hooks import AgentState
from agent_hooks_guards import RoleAccess


def with_role(role, key="user_role", **fields):
    return about("deploy", state=AgentState(metadata={key: role}), **fields)


def test_a_tool_for_admins_is_denied_to_others_and_says_so():
    outcome = judged(RoleAccess(["deploy"]), with_role("developer"))
    assert outcome.decision == "deny"
    assert outcome.reason == 'Tool "deploy" requires admin privileges.'


@pytest.mark.parametrize("role", ["admin", ["developer", "admin"], ("admin",)])
def test_whoever_has_the_role_may(role):
    assert RoleAccess(["deploy"]).execute(with_role(role)) is None


@pytest.mark.parametrize("role", [None, "", "administrator", "Admin", [], ["developer"], 1, {"admin": True}, True])
def test_anything_else_is_no_role(role):
    assert judged(RoleAccess(["deploy"]), with_role(role)).decision == "deny"


def test_without_state_there_is_no_role():
    assert judged(RoleAccess(["deploy"]), about("deploy")).decision == "deny"


def test_metadata_that_a_hook_added_is_no_role():
    assert judged(RoleAccess(["deploy"]), about("deploy", metadata={"user_role": "admin"})).decision == "deny"


def test_other_tools_are_for_everybody():
    assert RoleAccess(["deploy"]).execute(about("read_file")) is None


def test_any_of_several_roles_is_enough_and_the_reason_names_them():
    guard = RoleAccess("deploy", roles=["admin", "release"], role_key="role")
    assert guard.execute(with_role("release", key="role")) is None
    assert judged(guard, with_role("x", key="role")).reason == 'Tool "deploy" requires admin or release privileges.'


def test_a_coding_agents_role_is_in_the_environment_if_the_rule_says_where(monkeypatch):
    monkeypatch.setenv("AGENT_ROLE", "admin")
    assert RoleAccess(["deploy"], role_env="AGENT_ROLE").execute(about("deploy")) is None
    assert judged(RoleAccess(["deploy"]), about("deploy")).decision == "deny"
    monkeypatch.setenv("AGENT_ROLE", "developer")
    assert judged(RoleAccess(["deploy"], role_env="AGENT_ROLE"), about("deploy")).decision == "deny"


@pytest.mark.parametrize("role", ["developer", "", []])
def test_the_states_role_stands_before_the_environments(monkeypatch, role):
    monkeypatch.setenv("AGENT_ROLE", "admin")
    assert judged(RoleAccess(["deploy"], role_env="AGENT_ROLE"), with_role(role)).decision == "deny"
