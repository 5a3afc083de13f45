"""The settings of the engine, and the rank of sources."""

from __future__ import annotations

import pytest

from agent_hooks import AgentHooksError, HookPolicy, SettingsError
from agent_hooks.model.policy import FAILURES, RANKS, SOURCES, strictest
from tables import tables

TABLES = tables(__file__)


def test_managed_outranks_the_user_who_outranks_code_plugin_project_and_skill():
    assert sorted(SOURCES, key=RANKS.__getitem__) == ["skill", "project", "plugin", "code", "user", "managed"]


@pytest.mark.parametrize(
    ("choices", "expected"),
    [
        ((), None),
        ((None, None), None),
        (("open", None), "open"),
        (("open", "ask"), "ask"),
        (("closed", "open", "ask"), "closed"),
    ],
)
def test_the_strictest_setting_wins(choices, expected):
    assert strictest(*choices) == expected


def test_closed_is_the_strictest_failure_and_open_the_loosest():
    assert FAILURES == ("open", "ask", "closed")


@pytest.mark.parametrize(("setting", "says"), TABLES["wrong"])
def test_a_wrong_setting_is_named_with_what_is_allowed(setting, says):
    with pytest.raises(SettingsError) as error:
        HookPolicy(**setting)
    assert str(error.value) == says
    assert isinstance(error.value, AgentHooksError)


def test_a_setting_that_does_not_exist_is_named():
    with pytest.raises(TypeError, match="HookPolicy has no field time_out"):
        HookPolicy(time_out=3)  # type: ignore[call-arg]


def test_a_changed_policy_is_checked_too():
    with pytest.raises(SettingsError, match="timeout"):
        HookPolicy().replace(timeout=-1)


def test_the_defaults_are_the_careful_ones():
    policy = HookPolicy()
    assert (policy.ask_fallback, policy.timeout, policy.max_rechecks, policy.max_forced_continuations) == (
        "deny",
        60.0,
        2,
        3,
    )
    assert (policy.on_gate_failure, policy.contracts, policy.shadow) == (None, "diagnostic", False)
