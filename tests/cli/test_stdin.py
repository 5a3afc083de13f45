"""What is taken for a payload: one JSON object that no two readers read differently."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_hooks.cli.stdin import read_object
from agent_hooks.errors import WireError

pytestmark = pytest.mark.interpreter

AGENTS = ["claude-code", "codex"]
values: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(st.dictionaries(st.text(), values, max_size=4), st.booleans())
def test_every_json_object_is_read_as_it_is(value, ascii_only):
    text = json.dumps(value, ensure_ascii=ascii_only)
    assert read_object(text.encode("utf-8", "surrogatepass")) == value


@pytest.mark.parametrize("marks", [1, 2])
def test_byte_order_marks_before_the_object_are_no_part_of_it(marks):
    """Cursor sends its payloads through PowerShell, which writes them."""
    assert read_object(b"\xef\xbb\xbf" * marks + b'{"a": 1}') == {"a": 1}
    with pytest.raises(WireError, match="no payload"):
        read_object(b"\xef\xbb\xbf" * marks)


@given(st.binary(max_size=200) | st.text(alphabet='{}[]":,\\u0 aN1e+-', max_size=60).map(str.encode))
def test_bytes_are_an_object_or_a_wire_error(data):
    try:
        value = read_object(data)
    except WireError:
        return
    assert isinstance(value, dict)
    assert value == json.loads(data)


@given(st.text(), values, values, st.integers(0, 3))
def test_a_key_that_is_there_twice_is_refused_at_any_depth(key, first, second, depth):
    name = json.dumps(key)
    text = f"{{{name}: {json.dumps(first)}, {name}: {json.dumps(second)}}}"
    for _ in range(depth):
        text = f'{{"inside": [{text}]}}'
    with pytest.raises(WireError, match="twice"):
        read_object(text.encode())


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity"])
def test_what_is_no_number_is_refused(constant):
    with pytest.raises(WireError, match=constant):
        read_object(f'{{"a": [{constant}]}}'.encode())


# -- what comes of one that cannot be read -----------------------------------------------------------------------------

BAD_PAYLOADS = {
    "empty": b"",
    "not JSON": b"deny everything",
    "cut off": b'{"hook_event_name": "PreToolUse", "tool_na',
    "a list": b"[]",
    "a key twice": b'{"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"a": 1, "a": 2}}',
    "NaN": b'{"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"a": NaN}}',
    "Infinity": b'{"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"a": -Infinity}}',
    "deep": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "not UTF-8": b'{"hook_event_name": "PreToolUse", "x": "\xff"}',
    "too long": b'{"x": "' + b"x" * (64 * 1024 * 1024) + b'"}',
    "no tool": b'{"hook_event_name": "PreToolUse"}',
    "wrong types": b'{"hook_event_name": "PreToolUse", "tool_name": 1, "tool_input": []}',
}


@pytest.mark.parametrize("name", BAD_PAYLOADS)
def test_a_payload_that_cannot_be_read_is_refused(command, name):
    done = command("run", "--agent", "claude-code", stdin=BAD_PAYLOADS[name])
    assert done.denies
    assert "Traceback" not in done.stderr
    done = command("run", "--agent", "codex", "--event", "PreToolUse", stdin=BAD_PAYLOADS[name])
    assert done.denies
    assert done.stdout


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("event", ["Stop", "SubagentStop", "SessionEnd", "PostToolUse"])
def test_a_payload_that_cannot_be_read_does_no_harm_where_there_is_nothing_to_refuse(command, agent, event):
    done = command("run", "--agent", agent, "--event", event, stdin=b"{")
    assert (done.stdout, done.exit_code) == ("", 0)
    assert "not JSON" in done.stderr


@pytest.mark.parametrize("agent", ["codex", "gemini", "nobody"])
@pytest.mark.parametrize("event", ["Stop", "AfterAgent"])
def test_a_stop_that_cannot_be_read_is_no_other_round_also_without_the_option(command, agent, event):
    start = f'{{"hook_event_name": "{event}", "text": "{{\\"hook_event_name\\": \\"PreToolUse\\"}}", '.encode()
    for rest in (b'"a": NaN}', b'"a": "\xff"}', b'"a'):
        done = command("run", "--agent", agent, stdin=start + rest)
        assert (done.stdout, done.exit_code) == ("", 0)
        assert done.stderr


def test_a_tool_call_that_cannot_be_read_is_no_stop_whatever_its_arguments_say(command):
    given = b'{"hook_event_name": "PreToolUse", "tool_input": {"hook_event_name": "Stop", "a": NaN}}'
    assert command("run", "--agent", "codex", stdin=given).denies
    nameless = b'{"toolName": "bash", "toolArgs": {"hook_event_name": "Stop"}}'
    assert command("run", "--agent", "copilot", stdin=nameless).exit_code == 2


@pytest.mark.parametrize("agent", AGENTS)
def test_a_large_result_is_judged(command, payload, agent):
    command.hook("after_tool_use(result)", 'HookOutcome.deny(f"withheld: {len(result) > 20_000_000}")')
    done = command.answer(agent, payload(agent, "PostToolUse", tool_response="x" * 20_000_001))
    assert done.json["reason"].endswith("): withheld: True") if agent == "claude-code" else done.why == "withheld: True"


def test_a_closed_stdin_is_refused(command):
    shell = f'exec "{sys.executable}" "{command.script}" run --agent codex --event PreToolUse <&-'
    done = subprocess.run(["sh", "-c", shell], env=command.environment, capture_output=True, timeout=60, check=False)
    assert done.returncode == 2
    assert b"no payload" in done.stderr
    assert json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_a_stdin_that_is_never_closed_is_refused_in_time(command):
    reader, writer = os.pipe()
    try:
        os.write(writer, b"{")
        done = command("run", "--agent", "codex", "--timeout", "1", stdin=reader)
    finally:
        os.close(reader)
        os.close(writer)
    assert done.denies
    assert "close stdin" in done.stderr
