"""What may be in a handler of Claude Code's settings."""

from __future__ import annotations

import pytest

from agent_hooks.formats.claude.fields import is_ours, known_fields, taken_apart, wrong_field
from tables import tables

TABLES = tables(__file__)

GOOD = TABLES["good"]
COMMON = {"if": "Bash", "timeout": 0.5, "statusMessage": "", "once": True, "onFailure": "block"}


@pytest.mark.parametrize("handler_type", GOOD)
def test_every_field_of_a_type_may_be_there(handler_type):
    handler = {"type": handler_type, **GOOD[handler_type], **COMMON}
    assert wrong_field(handler_type, handler) is None
    assert handler.keys() <= set(known_fields(handler_type))
    assert set(known_fields(handler_type)) == handler.keys()


WRONG = [
    *(("async", value) for value in ("true", 1, None)),
    *(("onFailure", value) for value in ("closed", True, None)),
    *(("if", value) for value in ("", True, ["Bash"])),
    ("once", "yes"),
    ("command", ["x"]),
]


@pytest.mark.parametrize(("field", "value"), WRONG)
def test_a_wrong_value_of_the_entry_is_named_by_field(field, value):
    wrong = wrong_field("command", {"command": "x", field: value})
    assert wrong is not None
    assert wrong[0] == field
    assert f"{field} that must be " in wrong[1]


def test_of_another_type_only_what_all_have_is_looked_at():
    assert wrong_field("slack", {"type": "slack", "command": 5, "channel": 1}) is None
    assert wrong_field("slack", {"type": "slack", "if": ""}) is not None


@pytest.mark.parametrize("field", ["if", "async", "onFailure"])
def test_a_wrong_value_is_said_in_english(field):
    wrong = wrong_field("command", {"command": "x", field: 5})
    assert wrong is not None
    assert wrong[1].startswith(f"has an {field} that must be ")


def test_a_handler_is_taken_apart():
    handler = {"type": "agent", "prompt": "p", "timeout": 5, "if": "Bash", "onFailure": "block", "async": True, "x": 1}
    config, facts, unknown = taken_apart("agent", handler)
    assert config == {"prompt": "p", "timeout": 5}
    assert facts == {"type": "subagent", "condition": "Bash", "on_failure": "closed", "is_async": False}
    assert unknown == ("async", "x")


@pytest.mark.parametrize("handler", TABLES["our_own_command"])
def test_our_own_command(handler):
    assert is_ours(handler)


@pytest.mark.parametrize("handler", TABLES["another_command"])
def test_another_command(handler):
    assert not is_ours(handler)
