"""What handlers are told, and what comes back of changed arguments."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_hooks.errors import HandlerError
from agent_hooks.formats.entry import HookEntry
from agent_hooks.handlers.payload import given_back, payload_of
from agent_hooks.model.context import HookContext
from agent_hooks.model.events import HookEvent
from agent_hooks.model.tool_call import ToolCall, ToolExecution
from agent_hooks.wire.claude_code import HOST as CLAUDE_CODE
from tables import tables

TABLES = tables(__file__)

ENTRY = HookEntry(event=HookEvent.BEFORE_TOOL_USE, type="command", path="/p/agent-hooks.toml", line=3)


def called(name: str, args: dict[str, Any], kind: str = "") -> HookContext:
    call = ToolCall(name, args, kind=kind or None)
    return HookContext("before_tool_use", tool_call=call, cwd="/repo", session_id="s")


def told(name: str, args: dict[str, Any], kind: str = "") -> dict[str, Any]:
    return payload_of(ENTRY, called(name, args, kind))


# -- tools -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "kind", "seen"), TABLES["a_tool_has_claude_codes_name_beside_its_own"])
def test_a_tool_has_claude_codes_name_beside_its_own(name, kind, seen):
    payload = told(name, {}, kind=kind)
    assert payload["tool_name"] == seen
    assert payload["tool"] == name


@pytest.mark.parametrize(
    ("name", "kind", "args", "offered"), TABLES["claude_codes_arguments_are_offered_where_there_is_no_doubt"]
)
def test_claude_codes_arguments_are_offered_where_there_is_no_doubt(name, kind, args, offered):
    payload = told(name, args, kind=kind)
    assert payload["tool_input"] == {**args, **offered}
    assert payload["input"] == args


def test_a_patch_of_one_file_names_it_and_one_of_several_does_not():
    one = "*** Begin Patch\n*** Update File: a.py\n*** End Patch"
    two = "*** Begin Patch\n*** Update File: a.py\n*** Delete File: b.py\n*** End Patch"
    assert told("apply_patch", {"input": one})["tool_input"] == {"input": one, "file_path": "/repo/a.py"}
    assert told("apply_patch", {"input": two})["tool_input"] == {"input": two}


# -- given back ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "kind", "args", "changes", "expected"), TABLES["a_changed_argument_goes_back_to_where_it_came_from"]
)
def test_a_changed_argument_goes_back_to_where_it_came_from(name, kind, args, changes, expected):
    ctx = called(name, args, kind=kind)
    assert given_back(ENTRY, ctx, {**payload_of(ENTRY, ctx)["tool_input"], **changes}) == expected


@pytest.mark.parametrize(
    ("name", "kind", "args", "changes"),
    [
        ("exec", "shell", {"command": ["ls"]}, {"command": "pwd"}),
        ("exec", "shell", {"cmd": "ls", "script": "pwd"}, {"command": "pwd"}),
        ("exec", "shell", {"cmd": "ls", "script": "ls"}, {"command": "pwd"}),
        ("exec", "shell", {"cmd": "ls"}, {"command": "pwd", "cmd": "id"}),
        ("put", "write", {"path": "a", "edits": [{"new_string": "x"}]}, {"content": "y"}),
        ("apply_patch", None, {"input": "*** Update File: a.py"}, {"file_path": "/repo/b.py"}),
    ],
    ids=["a list", "two", "two alike", "both changed", "inside", "a patch"],
)
def test_a_change_that_has_no_one_place_is_refused(name, kind, args, changes):
    ctx = called(name, args, kind=kind)
    with pytest.raises(HandlerError, match="changed"):
        given_back(ENTRY, ctx, {**payload_of(ENTRY, ctx)["tool_input"], **changes})


def test_an_error_about_a_change_says_no_value():
    ctx = called("exec", {"command": ["ls", "hunter2"]}, kind="shell")
    with pytest.raises(HandlerError) as raised:
        given_back(ENTRY, ctx, {"command": "ls hunter3"})
    assert "hunter" not in str(raised.value)
    assert "/p/agent-hooks.toml:3" in str(raised.value)


def test_updated_input_is_the_whole_of_it():
    assert given_back(ENTRY, called("exec", {"cmd": "ls", "timeout": 5}, kind="shell"), {"command": "ls"}) == {}
    assert given_back(ENTRY, called("exec", {"cmd": "ls", "timeout": 5}, kind="shell"), {"command": "pwd"}) == {
        "cmd": "pwd"
    }


def test_without_a_tool_call_nothing_can_be_given_back():
    with pytest.raises(HandlerError, match="no tool call"):
        given_back(ENTRY, HookContext("user_input", prompt="x"), {"command": "ls"})


KEYS = st.sampled_from(["command", "cmd", "path", "file_path", "content", "text", "url", "uri", "other"])


@given(
    st.sampled_from(["shell", "read", "write", "edit", "fetch", "other"]),
    st.dictionaries(KEYS, st.text(max_size=5) | st.lists(st.text(max_size=3), max_size=2) | st.integers()),
)
def test_what_comes_back_unchanged_changes_nothing(kind, args):
    ctx = called("tool", args, kind=kind)
    assert given_back(ENTRY, ctx, payload_of(ENTRY, ctx)["tool_input"]) == args


# -- the rest --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("event", list(HookEvent.all()), ids=str)
def test_every_event_tells_what_is_common_as_json(event):
    payload = json.loads(json.dumps(payload_of(ENTRY, HookContext(event))))
    common = {"hook_event_name", "event", "agent_name", "scope", "session_id", "cwd", "transcript_path", "rechecking"}
    assert common <= payload.keys()
    assert payload["event"] == str(event)
    assert payload["rechecking"] is False


@pytest.mark.parametrize(("event", "expected"), TABLES["own_keys"])
def test_an_event_always_tells_what_is_its_own(event, expected):
    payload = payload_of(ENTRY, HookContext(event))
    assert {key: payload[key] for key in json.loads(expected)} == json.loads(expected)


def test_the_entrys_own_event_name_goes_first_then_the_hosts():
    ctx = HookContext("on_host_event", host_event="CwdChanged", payload={"old_cwd": "/a", "session_id": "theirs"})
    assert payload_of(ENTRY, ctx)["hook_event_name"] == "CwdChanged"
    assert payload_of(ENTRY.replace(host_event="Other"), ctx)["hook_event_name"] == "Other"
    assert payload_of(ENTRY, ctx)["old_cwd"] == "/a"
    assert payload_of(ENTRY, ctx)["session_id"] == ""


@pytest.mark.parametrize(("fields", "expected"), TABLES["facts"])
def test_a_fact_of_the_event_is_told_as_with_claude_code(fields, expected):
    """Nothing in the table is null, and the empty list stands for a key that is not there."""
    payload = payload_of(ENTRY, HookContext.from_dict(fields))
    assert {key: payload.get(key, []) for key in expected} == expected


def test_the_result_of_a_tool_is_there_also_if_it_is_nothing():
    payload = payload_of(ENTRY, HookContext.after_tool_use(None, ToolExecution(call=ToolCall("Bash"))))
    assert (payload["result"], payload["tool_response"]) == (None, None)


@pytest.mark.parametrize("sent", TABLES["claude_payloads"], ids=lambda sent: sent["hook_event_name"])
def test_a_script_for_claude_code_finds_all_that_claude_code_sends(sent):
    payload = payload_of(ENTRY, CLAUDE_CODE.read(sent))
    assert {key: payload.get(key) for key in sent} == sent
