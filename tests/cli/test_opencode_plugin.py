"""The plugin file for opencode, run by Node, with the real command and with commands that fail."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from agent_hooks.wire.opencode import ROWS, plugin_text

NODE = shutil.which("node") or ""
pytestmark = pytest.mark.skipif(not NODE, reason="node, which runs the plugin file, is not installed")

SESSION = Path(__file__).parent / "opencode_session.mjs"
# Notes each payload, and answers as the file of answers says.
STAND_IN = """\
import json, sys
folder, _, event, _, seconds = sys.argv[1:6]
payload = json.load(sys.stdin)
assert payload["hook_event_name"] == event
with open(folder + "/payloads", "a") as file:
    file.write(json.dumps({**payload, "seconds": seconds}) + "\\n")
stdout, stderr, code = json.load(open(folder + "/answers")).get(event, ["", "", 0])
sys.stdout.write(stdout)
sys.stderr.write(stderr)
sys.exit(code)
"""


class OpenCode:
    """A plugin file in ``folder``, with a command line and the seconds that each event has."""

    def __init__(self, folder, command, seconds=20, events=tuple(ROWS)):
        self.folder = folder
        self.file = folder / "agent-hooks.mjs"
        self.file.write_text(plugin_text(command, dict.fromkeys(events, seconds)))

    def __call__(self, *steps, parents=None):
        done = subprocess.run(
            [NODE, SESSION, self.file, self.folder],
            input=json.dumps({"parents": parents or {}, "steps": steps}),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        self.said = json.loads(done.stdout)
        assert self.said["exports"] == ["AgentHooks"]  # opencode takes each export for a plugin
        return self.said["results"]

    def calls(self, name):
        return [options for called, options in self.said["calls"] if called == name]


@pytest.fixture
def real(command):
    """Opencode with the real command and one plugin."""

    def make(rules, **more):
        command.install(rules)
        words = [f"{name}={value}" for name, value in command.environment.items()]
        return OpenCode(command.folder, ["env", *words, *command.arguments("run", "--agent", "opencode")], **more)

    return make


@pytest.fixture
def stand_in(tmp_path):
    """Opencode with a command that answers ``answers`` and notes what it is asked."""
    (tmp_path / "stand_in.py").write_text(STAND_IN)

    def make(answers=(), **more):
        (tmp_path / "answers").write_text(json.dumps(dict(answers)))
        return OpenCode(tmp_path, [sys.executable, str(tmp_path / "stand_in.py"), str(tmp_path)], **more)

    return make


@pytest.fixture
def asked(tmp_path):
    """What the stand-in was asked, in order."""

    def read():
        file = tmp_path / "payloads"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    return read


def before(tool="bash", call="call_1", session="ses_1", **args):
    ids = {"tool": tool, "sessionID": session, "callID": call}
    return {"hook": "tool.execute.before", "input": ids, "output": {"args": args}}


def after(result, tool="bash", call="call_1", session="ses_1", **args):
    ids = {"tool": tool, "sessionID": session, "callID": call, "args": args}
    return {"hook": "tool.execute.after", "input": ids, "output": result}


def prompt(text, session="ses_1", **more):
    part = {"id": "prt_1", "sessionID": session, "messageID": "msg_1", "type": "text", "text": text}
    return {"hook": "chat.message", "input": {"sessionID": session, **more}, "output": {"message": {}, "parts": [part]}}


def event(kind, **properties):
    return {"hook": "event", "input": {"event": {"type": kind, "properties": properties}}}


def answer(event, code=0, body=None, **specific):
    nested = {"hookSpecificOutput": {"hookEventName": event, **specific}} if specific else {}
    return {event: [json.dumps({**(body or {}), **nested}), "", code]}


# -- with the real command ---------------------------------------------------------------------------------------------


def test_a_denied_tool_does_not_run_and_the_model_reads_why(real):
    opencode = real("""
        @hookimpl(match="shell")
        def before_tool_use(tool_call):
            return HookOutcome.deny("no deploys", context="ask Ada") if "deploy" in tool_call.command else None
    """)
    denied, passed, other = opencode(before(command="make deploy"), before(command="ls"), before("read", filePath="/a"))
    assert denied["error"] == "Blocked by policy (house.before_tool_use): no deploys\n\nask Ada"
    assert (passed["error"], passed["args"]) == (None, {"command": "ls"})
    assert other["error"] is None
    assert "deny by" in opencode.calls("toast")[0]["body"]["message"]


def test_new_arguments_are_those_that_run(real):
    opencode = real("""
        @hookimpl(match="Bash")
        def before_tool_use(tool_call):
            if tool_call.command == "rm -rf build":
                return HookOutcome.allow(tool_args={"command": "rm -ri build"})
            if tool_call.command == "rm a":
                return HookOutcome.update(tool_args={"command": "rm -i a"})
    """)
    allowed, not_allowed = opencode(before(command="rm -rf build", description="d"), before(command="rm a"))
    assert allowed == {
        "error": None,
        "output": {"args": {"command": "rm -ri build"}},
        "args": {"command": "rm -ri build"},
    }
    assert '{"command": "rm -i a"}' in not_allowed["error"]


def test_a_result_is_replaced_and_a_prompt_refused(real):
    opencode = real("""
        @hookimpl
        def after_tool_use(result):
            return HookOutcome.update(result=result.replace("s3cret", "[redacted]"))

        @hookimpl
        def user_input(prompt):
            return HookOutcome.deny("not this") if "password" in prompt else HookOutcome.update(context="be brief")
    """)
    shown = {"title": "cat", "output": "key=s3cret", "metadata": {"output": "key=s3cret", "exit": 0}, "attachments": []}
    result, refused, sent = opencode(after(shown, command="cat a"), prompt("my password"), prompt("hello"))
    assert result["output"] == {"title": "cat", "output": "key=[redacted]", "metadata": {"output": "", "exit": 0}}
    assert refused["error"] == "Blocked by policy (house.user_input): not this"
    assert refused["error"] in [options["body"]["message"] for options in opencode.calls("toast")]
    added = sent["output"]["parts"][1]
    assert (added["text"], added["synthetic"], added["messageID"]) == ("be brief", True, "msg_1")
    assert added["id"] > "prt_1"


def test_an_agent_that_hooks_make_go_on_is_prompted_until_the_cap(real):
    opencode = real("""
        @hookimpl
        def on_stop():
            return HookOutcome.force_continue("the tests are red")
    """)
    rounds = [event("session.idle", sessionID="ses_1"), prompt("the tests are red")] * 4
    results = opencode(*rounds)
    assert all(result["error"] is None for result in results)
    sent = [options["body"]["parts"][0]["text"] for options in opencode.calls("prompt")]
    assert sent == ["the tests are red"] * 3
    assert "3 times in a row" in opencode.calls("toast")[-1]["body"]["message"]


# -- what it asks ------------------------------------------------------------------------------------------------------


def test_each_event_is_asked_with_what_opencode_says_of_it(stand_in, asked):
    opencode = stand_in()
    opencode(
        event("session.created", info={"id": "ses_1"}),
        prompt("hello"),
        {
            "hook": "command.execute.before",
            "input": {"command": "init", "sessionID": "ses_1", "arguments": "now"},
            "output": {"parts": [{"type": "text", "text": "Write AGENTS.md"}]},
        },
        before("webfetch", url="https://x"),
        after({"title": "", "output": "page", "metadata": {}}, "webfetch", url="https://x"),
        {
            "hook": "permission.ask",
            "input": {"type": "bash", "pattern": "rm *", "sessionID": "ses_1", "metadata": {"command": "rm a"}},
            "output": {"status": "ask"},
        },
        {"hook": "experimental.session.compacting", "input": {"sessionID": "ses_1"}, "output": {"context": []}},
        event("session.compacted", sessionID="ses_1"),
        event("session.error", sessionID="ses_1", error={"name": "APIError", "data": {"message": "too many"}}),
        event("session.idle", sessionID="ses_1"),
        event("session.deleted", info={"id": "ses_1"}),
        event("file.edited", file="/a"),
    )
    sent = asked()
    where = {"session_id": "ses_1", "cwd": str(opencode.folder), "seconds": "19"}
    assert all(where.items() <= payload.items() for payload in sent)
    given = [{k: v for k, v in payload.items() if k not in where} for payload in sent]
    call = {"tool_name": "webfetch", "tool_input": {"url": "https://x"}, "tool_use_id": "call_1"}
    command = {"command_name": "init", "command_args": "now", "prompt": "Write AGENTS.md"}
    assert given == [
        {"hook_event_name": "SessionStart", "source": "startup"},
        {"hook_event_name": "UserPromptSubmit", "prompt": "hello"},
        {"hook_event_name": "UserPromptExpansion", "expansion_type": "slash_command", **command},
        {"hook_event_name": "PreToolUse", **call},
        {"hook_event_name": "PostToolUse", **call, "tool_response": "page"},
        {
            "hook_event_name": "PermissionRequest",
            "tool_name": "bash",
            "tool_input": {"pattern": "rm *", "command": "rm a"},
        },
        {"hook_event_name": "PreCompact"},
        {"hook_event_name": "PostCompact"},
        {"hook_event_name": "StopFailure", "error": "APIError", "error_details": "too many"},
        {"hook_event_name": "Stop", "stop_hook_active": False},
        {"hook_event_name": "SessionEnd", "reason": "deleted"},
    ]


def test_a_subagent_is_told_apart_from_the_agent_that_started_it(stand_in, asked):
    stand_in()(
        prompt("look around", "ses_2", agent="explore"),
        before(session="ses_2", command="ls"),
        event("session.idle", sessionID="ses_2"),
        parents={"ses_2": "ses_1"},
    )
    first, *_, last = sent = asked()
    assert [payload["hook_event_name"] for payload in sent] == ["SubagentStart", "PreToolUse", "SubagentStop"]
    assert {(payload["session_id"], payload["agent_id"]) for payload in sent} == {("ses_1", "ses_2")}
    assert (first["agent_type"], last["stop_hook_active"]) == ("explore", False)


def test_a_failed_call_is_reported_once_and_a_denied_one_never(stand_in, asked):
    def failed(call):
        state = {"status": "error", "input": {"command": "ls"}, "error": "no such file"}
        part = {"type": "tool", "sessionID": "ses_1", "callID": call, "tool": "bash", "state": state}
        return event("message.part.updated", part=part)

    denies = answer("PreToolUse", 2, permissionDecision="deny", permissionDecisionReason="no")
    stand_in(denies)(before(call="call_1", command="ls"), failed("call_1"), failed("call_2"), failed("call_2"))
    failures = [payload for payload in asked() if payload["hook_event_name"] == "PostToolUseFailure"]
    assert [(each["tool_use_id"], each["error"]) for each in failures] == [("call_2", "no such file")]


def test_an_event_that_is_not_wired_starts_no_process(stand_in, asked):
    results = stand_in(events=("PreToolUse",))(prompt("hello"), event("session.idle", sessionID="ses_1"), before())
    assert [payload["hook_event_name"] for payload in asked()] == ["PreToolUse"]
    assert [result["error"] for result in results] == [None] * 3


# -- what it makes of the answers --------------------------------------------------------------------------------------


def test_context_before_a_tool_is_read_with_its_result(stand_in):
    opencode = stand_in(
        {**answer("PreToolUse", additionalContext="one"), **answer("PostToolUse", additionalContext="two")}
    )
    _, shown = opencode(before(command="ls"), after({"title": "", "output": "a.txt", "metadata": {}}))
    assert shown["output"]["output"] == "a.txt\n\none\n\ntwo"


def test_a_result_of_an_mcp_server_is_read_and_replaced_in_its_own_form(stand_in, asked):
    result = {
        "content": [{"type": "text", "text": "s3cret"}, {"type": "image", "data": "x"}],
        "structuredContent": {"a": 1},
    }
    (shown,) = stand_in(answer("PostToolUse", updatedToolOutput="[redacted]"))(after(result, "github_get"))
    assert asked()[0]["tool_response"] == "s3cret"
    assert shown["output"] == {"content": [{"type": "text", "text": "[redacted]"}]}


def test_a_withheld_result_leaves_nothing_of_it(stand_in):
    result = {
        "title": "t",
        "output": "s3cret",
        "metadata": {"diff": ["s3cret"], "sessionId": "ses_2"},
        "attachments": [1],
    }
    (shown,) = stand_in(answer("PostToolUse", 2, {"decision": "block", "reason": "withheld"}))(after(result))
    assert shown["output"] == {"title": "t", "output": "withheld", "metadata": {"diff": [""], "sessionId": "ses_2"}}


@pytest.mark.parametrize(("behavior", "status"), [("allow", "allow"), ("deny", "deny"), ("what", "ask")])
def test_a_permission_is_answered_only_if_a_hook_did(stand_in, behavior, status):
    (asked_for,) = stand_in(answer("PermissionRequest", decision={"behavior": behavior}))(
        {"hook": "permission.ask", "input": {"type": "bash", "sessionID": "ses_1"}, "output": {"status": "ask"}}
    )
    assert asked_for["output"]["status"] == status


def test_the_run_ends_where_a_hook_says_so(stand_in):
    body = {"continue": False, "stopReason": "enough"}
    opencode = stand_in(answer("PreToolUse", 2, body, permissionDecision="deny", permissionDecisionReason="enough"))
    (denied,) = opencode(before(command="ls"))
    assert (denied["error"], opencode.calls("abort")) == ("enough", [{"path": {"id": "ses_1"}}])


@pytest.mark.parametrize("code", [0, 2])
def test_the_next_prompt_of_a_person_ends_a_row_of_forced_rounds(stand_in, asked, code):
    opencode = stand_in(answer("Stop", code, {"decision": "block", "reason": "go on"}))
    idle = event("session.idle", sessionID="ses_1")
    opencode(prompt("hello"), idle, prompt("go on"), idle, prompt("go on"), prompt("something else"), idle)
    sent = [(each["hook_event_name"], each.get("stop_hook_active")) for each in asked()]
    assert sent == [
        ("SessionStart", None),
        ("UserPromptSubmit", None),
        ("Stop", False),
        ("Stop", True),
        ("UserPromptSubmit", None),
        ("Stop", False),
    ]


# -- a command that fails ----------------------------------------------------------------------------------------------

GATES = {
    "PreToolUse": before(command="ls"),
    "UserPromptSubmit": prompt("hello"),
    "PreCompact": {"hook": "experimental.session.compacting", "input": {"sessionID": "s"}, "output": {"context": []}},
    "UserPromptExpansion": {
        "hook": "command.execute.before",
        "input": {"command": "init", "sessionID": "s", "arguments": ""},
        "output": {"parts": []},
    },
}
FAILURES = {
    "missing": (["/nowhere/agent-hooks"], "cannot be started"),
    "exit 1": ([sys.executable, "-c", "raise SystemExit('it broke')"], "ended with 1\n\nit broke"),
    "killed": ([sys.executable, "-c", "import os; os.kill(os.getpid(), 9)"], "ended with SIGKILL"),
    "garbage": ([sys.executable, "-c", "print('hello')"], "ended with 0"),
    "a list": ([sys.executable, "-c", "print('[]')"], "ended with 0"),
    "a hang": (
        [sys.executable, "-c", "import sys; sys.stdin.read(); __import__('threading').Event().wait()"],
        "within 2",
    ),
}


@pytest.mark.parametrize("failure", FAILURES)
def test_a_gate_whose_command_fails_is_closed(tmp_path, failure):
    command, why = FAILURES[failure]
    events = ["PreToolUse"] if failure == "a hang" else [*GATES]
    opencode = OpenCode(tmp_path, command, seconds=2 if failure == "a hang" else 20, events=events)
    results = opencode(*(GATES[gate] for gate in events))
    assert [why in (result["error"] or "") for result in results] == [True] * len(events)
    assert why in opencode.calls("toast")[0]["body"]["message"]


@pytest.mark.parametrize("failure", ["missing", "exit 1", "garbage"])
def test_elsewhere_a_failure_is_told_and_changes_nothing(tmp_path, failure):
    command, why = FAILURES[failure]
    opencode = OpenCode(tmp_path, command, events=("PostToolUse", "Stop", "SessionStart", "PermissionRequest"))
    permission = {"hook": "permission.ask", "input": {"type": "bash", "sessionID": "s"}, "output": {"status": "ask"}}
    shown, *others, asked_for = opencode(
        after({"title": "", "output": "a.txt", "metadata": {}}),
        event("session.idle", sessionID="ses_1"),
        prompt("hello"),
        permission,
    )
    assert shown["output"]["output"] == "a.txt"
    assert asked_for["output"]["status"] == "ask"
    assert [result["error"] for result in others] == [None, None]
    assert opencode.calls("prompt") == []
    assert len(opencode.calls("toast")) == 4
    assert all(why in options["body"]["message"] for options in opencode.calls("toast"))


@pytest.mark.parametrize(
    "said",
    [
        answer("PreToolUse", 2),
        answer("PreToolUse", permissionDecision="ask"),
        answer("PreToolUse", updatedInput={"command": "ls"}),
        answer("PreToolUse", permissionDecision="allow", updatedInput="ls"),
        {"PreToolUse": ["", "no reason at all", 2]},
    ],
)
def test_an_answer_that_is_no_clear_permission_is_none(stand_in, said):
    (denied,) = stand_in(said)(before(command="rm a"))
    assert denied["error"]
    assert denied["args"] == {"command": "rm a"}


def test_exit_2_alone_makes_no_agent_go_on(stand_in):
    opencode = stand_in({"Stop": ["", "it broke", 2]})
    opencode(event("session.idle", sessionID="ses_1"))
    assert opencode.calls("prompt") == []
    assert "it broke" in opencode.calls("toast")[0]["body"]["message"]


@pytest.mark.parametrize("seconds", [{"BeforeTool": 20}, {"PreToolUse": 1}, {"PreToolUse": float("nan")}])
def test_a_file_that_could_not_work_is_not_made(seconds):
    with pytest.raises(ValueError, match="2 or more"):
        plugin_text(["agent-hooks"], seconds)


def test_a_command_line_is_kept_word_by_word(tmp_path):
    words = ["/a b/python", 'quote"', "back\\slash", "näïve", "</script>"]
    text = plugin_text(words, {"PreToolUse": 20})
    (line,) = [line for line in text.splitlines() if line.startswith("const COMMAND = ")]
    assert json.loads(line.removeprefix("const COMMAND = ")) == words
