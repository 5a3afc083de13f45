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
from agent_hooks.model.tool_call import ErrorInfo, ToolCall, ToolExecution
from agent_hooks.wire.claude_code import HOST as CLAUDE_CODE

ENTRY = HookEntry(event=HookEvent.BEFORE_TOOL_USE, type="command", path="/p/agent-hooks.toml", line=3)


def called(name: str, args: dict[str, Any], **options) -> HookContext:
    return HookContext("before_tool_use", tool_call=ToolCall(name, args, **options), cwd="/repo", session_id="s")


def told(name: str, args: dict[str, Any], **options) -> dict[str, Any]:
    return payload_of(ENTRY, called(name, args, **options))


# -- tools -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "kind", "seen"),
    [
        ("Bash", None, "Bash"),
        ("MultiEdit", None, "MultiEdit"),
        ("PowerShell", None, "PowerShell"),
        ("mcp__github__merge", "mcp", "mcp__github__merge"),
        ("mcp__box__sh", "shell", "mcp__box__sh"),
        ("run_shell_command", None, "Bash"),
        ("bash", None, "Bash"),
        ("find", "search", "Grep"),
        ("open_url", "fetch", "WebFetch"),
        ("spawn", "subagent", "Agent"),
        ("remove", "delete", "remove"),
        ("TodoWrite", None, "TodoWrite"),
        ("weather", None, "weather"),
        ("", None, ""),
    ],
)
def test_a_tool_has_claude_codes_name_beside_its_own(name, kind, seen):
    payload = told(name, {}, kind=kind)
    assert payload["tool_name"] == seen
    assert payload["tool"] == name


@pytest.mark.parametrize(
    ("name", "kind", "args", "offered"),
    [
        ("exec", "shell", {"cmd": "ls -l"}, {"command": "ls -l"}),
        ("exec", "shell", {"command": ["rm", "-rf", "a b"]}, {"command": "rm -rf 'a b'"}),
        ("exec", "shell", {"command": "ls", "script": "rm x"}, {"command": "ls\nrm x"}),
        ("sandbox.shell", None, {"cmd": "ls"}, {"command": "ls"}),
        ("look", "read", {"path": "a/../b.py"}, {"file_path": "/repo/b.py"}),
        ("Read", None, {"file_path": "b.py"}, {"file_path": "/repo/b.py"}),
        ("Edit", None, {"file_path": "/x/b.py", "old_string": "a"}, {}),
        ("put", "write", {"filename": "b", "text": "new"}, {"file_path": "/repo/b", "content": "new"}),
        ("move", "edit", {"src": "a", "dst": "b"}, {}),
        ("get", "fetch", {"uri": "https://x.example"}, {"url": "https://x.example"}),
        ("ls", "search", {"path": "b"}, {}),
        ("anything", None, {"path": "b", "cmd": "ls"}, {}),
    ],
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
    ("name", "kind", "args", "changes", "expected"),
    [
        ("Bash", None, {"command": "ls"}, {}, {"command": "ls"}),
        ("Bash", None, {"command": "ls"}, {"command": "ls -l"}, {"command": "ls -l"}),
        ("Bash", None, {"command": "ls"}, {"timeout": 5}, {"command": "ls", "timeout": 5}),
        ("exec", "shell", {"cmd": "ls"}, {}, {"cmd": "ls"}),
        ("exec", "shell", {"cmd": "ls"}, {"command": "ls -l"}, {"cmd": "ls -l"}),
        ("exec", "shell", {"cmd": "ls"}, {"cmd": "ls -l"}, {"cmd": "ls -l"}),
        ("exec", "shell", {"cmd": "ls"}, {"command": "pwd", "cmd": "pwd"}, {"cmd": "pwd"}),
        ("exec", "shell", {"command": ["ls", "-l"]}, {}, {"command": ["ls", "-l"]}),
        ("Read", None, {"file_path": "a.py"}, {}, {"file_path": "a.py"}),
        ("Read", None, {"file_path": "a.py"}, {"file_path": "/repo/b.py"}, {"file_path": "/repo/b.py"}),
        ("look", "read", {"path": "~/x"}, {"file_path": "/b"}, {"path": "/b"}),
        ("put", "write", {"path": "a", "text": "x"}, {"content": "y"}, {"path": "a", "text": "y"}),
        ("get", "fetch", {"uri": "http://x"}, {"url": "https://x"}, {"uri": "https://x"}),
    ],
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


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        ("before_tool_use", {}),
        ("before_subagent", {"name": "", "task": None, "depth": 0, "agent_type": ""}),
        ("after_subagent", {"name": "", "task": None, "depth": 0, "result": None, "stop_hook_active": False}),
        ("before_skill_activation", {"skill": "", "skill_name": "", "arguments": None}),
        ("before_inference", {"model": "", "message_count": 0, "tool_count": 0}),
        ("after_inference", {"model": "", "message_count": 0, "tool_count": 0}),
        ("before_agent", {"definition": None}),
        ("before_turn", {"message_count": 0}),
        ("before_conversation_save", {"message_count": 0}),
        ("on_stop", {"stop_hook_active": False, "last_assistant_message": None, "hook_event_name": "Stop"}),
        ("session_start", {"source": ""}),
        ("session_end", {"reason": ""}),
        ("before_compact", {"trigger": "", "custom_instructions": None}),
        ("notification", {"message": "", "notification_type": ""}),
    ],
)
def test_an_event_always_tells_what_is_its_own(event, expected):
    payload = payload_of(ENTRY, HookContext(event))
    assert {key: payload[key] for key in expected} == expected


def test_the_result_of_a_tool_is_there_also_if_it_is_nothing():
    execution = ToolExecution(call=ToolCall("Bash", {"command": "true"}, id="t1"), duration=0.0123)
    payload = payload_of(ENTRY, HookContext.after_tool_use(None, execution))
    assert (payload["result"], payload["tool_response"], payload["duration_ms"]) == (None, None, 12)
    assert payload["tool_use_id"] == "t1"


def test_a_failed_tools_error_is_text_as_with_claude_code():
    ctx = HookContext("on_tool_error", tool_call=ToolCall("Bash"), error=ValueError("no"), error_text="no")
    assert payload_of(ENTRY, ctx)["error"] == "no"
    assert payload_of(ENTRY, ctx)["hook_event_name"] == "PostToolUseFailure"


def test_a_failed_run_is_claude_codes_stop_failure():
    payload = payload_of(ENTRY, HookContext.on_error(None, ErrorInfo(type="rate_limit", message="wait")))
    assert (payload["hook_event_name"], payload["error"]) == ("StopFailure", "rate_limit")
    assert payload["error_details"] == "wait"


def test_the_entrys_own_event_name_goes_first_then_the_hosts():
    ctx = HookContext("on_host_event", host_event="CwdChanged", payload={"old_cwd": "/a", "session_id": "theirs"})
    assert payload_of(ENTRY, ctx)["hook_event_name"] == "CwdChanged"
    assert payload_of(ENTRY.replace(host_event="Other"), ctx)["hook_event_name"] == "Other"
    assert payload_of(ENTRY, ctx)["old_cwd"] == "/a"
    assert payload_of(ENTRY, ctx)["session_id"] == ""


@pytest.mark.parametrize(
    ("fields", "inside"),
    [
        ({"agent_id": "a"}, False),
        ({"agent_id": "a", "depth": 1}, True),
        ({"agent_id": "a", "parent_agent_id": "b"}, True),
        ({"agent_id": "a", "host": "claude-code"}, True),
    ],
)
def test_an_agent_id_means_that_it_is_a_subagent_as_with_claude_code(fields, inside):
    payload = payload_of(ENTRY, HookContext("before_turn", agent_name="scout", **fields))
    assert ("agent_id" in payload) == inside
    assert payload.get("agent_type") == ("scout" if inside else None)


def test_rechecking_is_told():
    assert payload_of(ENTRY, called("Bash", {"command": "ls"}).replace(rechecking=True))["rechecking"] is True


CLAUDE_PAYLOADS = [
    {
        "session_id": "abc",
        "prompt_id": "550e8400",
        "transcript_path": "/t.jsonl",
        "cwd": "/home/u/p",
        "permission_mode": "default",
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "npm test", "description": "Run tests", "timeout": 120000},
        "tool_use_id": "toolu_01",
    },
    {
        "session_id": "abc",
        "transcript_path": "/t.jsonl",
        "cwd": "/home/u/p",
        "hook_event_name": "PostToolUse",
        "tool_name": "Write",
        "tool_input": {"file_path": "/home/u/p/a.txt", "content": "x"},
        "tool_response": {"filePath": "/home/u/p/a.txt", "type": "create"},
        "tool_use_id": "toolu_02",
        "duration_ms": 12,
    },
    {
        "session_id": "abc",
        "transcript_path": "/t.jsonl",
        "cwd": "/p",
        "hook_event_name": "SubagentStop",
        "stop_hook_active": True,
        "agent_id": "def456",
        "agent_type": "Explore",
        "agent_transcript_path": "/sub.jsonl",
        "last_assistant_message": "Done.",
        "background_tasks": [],
    },
    {"session_id": "abc", "transcript_path": "/t", "cwd": "/p", "hook_event_name": "UserPromptSubmit", "prompt": "Hi"},
    {
        "session_id": "abc",
        "transcript_path": "/t",
        "cwd": "/p",
        "hook_event_name": "PreCompact",
        "trigger": "manual",
        "custom_instructions": "keep names",
    },
    {
        "session_id": "abc",
        "transcript_path": "/t",
        "cwd": "/p",
        "hook_event_name": "Stop",
        "stop_hook_active": False,
        "last_assistant_message": "Done.",
        "background_tasks": [],
        "session_crons": [],
    },
    {"session_id": "abc", "transcript_path": "/t", "cwd": "/p", "hook_event_name": "SessionEnd", "reason": "logout"},
    {
        "session_id": "abc",
        "transcript_path": "/t",
        "cwd": "/p",
        "hook_event_name": "StopFailure",
        "error": "rate_limit",
        "error_details": "429",
    },
    {
        "session_id": "abc",
        "transcript_path": "/t",
        "cwd": "/p",
        "hook_event_name": "PostToolUseFailure",
        "tool_name": "Bash",
        "tool_input": {"command": "false"},
        "tool_use_id": "toolu_03",
        "error": "exit 1",
        "is_interrupt": False,
    },
    {
        "session_id": "abc",
        "transcript_path": "/t",
        "cwd": "/p",
        "hook_event_name": "UserPromptExpansion",
        "expansion_type": "slash_command",
        "command_name": "deploy",
        "prompt": "/deploy",
    },
]


@pytest.mark.parametrize("sent", CLAUDE_PAYLOADS, ids=lambda sent: sent["hook_event_name"])
def test_a_script_for_claude_code_finds_all_that_claude_code_sends(sent):
    payload = payload_of(ENTRY, CLAUDE_CODE.read(sent))
    assert {key: payload.get(key) for key in sent} == sent
