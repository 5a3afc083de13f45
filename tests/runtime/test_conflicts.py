"""Priorities that two plugins share."""

from __future__ import annotations

import pytest

from agent_hooks import HookManager, HookOutcome, hookimpl
from agent_hooks.errors import PriorityConflictError
from agent_hooks.runtime.conflicts import check_priorities
from engine import Plugin

DENY = hookimpl(lambda: HookOutcome.deny("no"))


@pytest.fixture
def manager():
    return HookManager(load_plugins=False)


@pytest.mark.parametrize(
    ("first", "second", "conflict"),
    [
        ({}, {}, True),
        ({"match": "Read"}, {"match": "Read|Write"}, True),
        ({"match": "Read"}, {"match": "Write"}, False),
        ({"match": "Read"}, {}, True),
        ({"match": "mcp__*"}, {"match": "mcp__files"}, True),
        ({"match": "Read"}, {"match": lambda ctx: True}, True),
        ({"priority": 1}, {}, False),
        ({"mode": "observe"}, {}, False),
        ({"tryfirst": True}, {}, False),
        ({"shadow": True}, {}, False),
    ],
)
def test_two_plugins_conflict_if_their_order_would_be_an_accident(manager, first, second, conflict):
    for name, options in (("one", first), ("two", second)):
        manager.register(Plugin(before_tool_use=hookimpl(**options)(lambda: None)), name)
    if conflict:
        with pytest.raises(
            PriorityConflictError, match=r"one\..* and two\..* both run on before_tool_use with priority 0"
        ):
            check_priorities(manager)
    else:
        check_priorities(manager)


def test_hooks_of_one_plugin_do_not_conflict(manager):
    manager.register(Plugin(before_tool_use=DENY, pre_tool_use=hookimpl(lambda: None)), "mine")
    check_priorities(manager)
