"""The audit trail: real files."""

from __future__ import annotations

import json
import os
import re
import stat

import pytest
from hypothesis import given
from hypothesis import strategies as st
from making import about, run_all

from agent_hooks import (
    AgentState,
    HookContext,
    HookManager,
    HookOutcome,
    HookPolicy,
    HookRegistration,
    RegistrationError,
    SettingsError,
    ToolCall,
    ToolExecution,
)
from agent_hooks.errors import HookMisuseError
from agent_hooks.system.folders import lock_file
from agent_hooks_guards import AuditTrail
from tables import tables

TABLES = tables(__file__)


def lines(trail):
    with open(trail.path, encoding="ascii") as file:
        return [json.loads(line) for line in file]


@pytest.fixture
def trail(tmp_path):
    return AuditTrail(tmp_path / "trail" / "audit.jsonl")


def test_a_line_says_who_what_and_what_was_decided(trail):
    outcome = HookOutcome(decision="deny", reason="No.", hook="guards.before_tool_use")
    context = about(
        "run",
        kind="shell",
        args={"command": "ls"},
        session_id="s1",
        agent_name="coder",
        host="claude_code",
        project_dir="/w",
        cwd="/w/src",
        outcome=outcome,
    )
    trail.execute(context)
    (line,) = lines(trail)
    assert re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", line.pop("time"))
    assert line == {
        "event": "before_tool_use",
        "session": "s1",
        "agent": "coder",
        "host": "claude_code",
        "project": "/w",
        "cwd": "/w/src",
        "tool": "run",
        "kind": "shell",
        "id": "",
        "args": {"command": "ls"},
        "decision": "deny",
        "reason": "No.",
        "hook": "guards.before_tool_use",
        "failed": False,
        "blocked": True,
    }


@pytest.mark.parametrize("whole", [True, False], ids=["policy", "hook"])
def test_a_line_says_what_would_have_been_decided_in_shadow(trail, whole):
    manager = HookManager(load_plugins=False, policy=HookPolicy(shadow=whole))
    manager.register(trail)
    guard = HookRegistration(
        event="before_tool_use",
        action=lambda ctx: HookOutcome.deny(f"No {ctx.tool_args['token']} here."),
        name="guard",
        source="user",
        shadow=not whole,
    )
    manager.add(guard)
    ctx = about("run", args={"command": "ls", "token": "hunter2hunter2"})
    assert manager.hooks().dispatch_sync(ctx).decision == "proceed"
    (line,) = lines(trail)
    assert (line["decision"], line["blocked"]) == ("proceed", False)
    (shadowed,) = line["shadowed"]
    assert (shadowed["hook"], shadowed["source"], shadowed["decision"]) == ("guard", "user", "deny")
    assert shadowed["reason"].startswith("No ")
    assert "hunter2" not in shadowed["reason"]


@pytest.mark.parametrize(
    ("outcome", "blocked"),
    [
        (HookOutcome(), False),
        (HookOutcome.allow(), False),
        (HookOutcome.ask("May I?"), False),
        (HookOutcome.deny("No."), True),
        (HookOutcome.stop("End."), True),
        (HookOutcome.suspend("Wait."), True),
    ],
)
def test_blocked_calls_are_recorded_as_blocked_and_others_as_not(trail, outcome, blocked):
    trail.execute(about(outcome=outcome))
    assert [(line["decision"], line["blocked"]) for line in lines(trail)] == [(str(outcome.decision), blocked)]


def test_results_are_written_only_if_wanted(tmp_path):
    execution = ToolExecution(
        call=ToolCall("login", {"token": "abcdef"}),
        result={"text": "got abcdef and hunter22", "Token": 1, "passwords": ["hunter22"]},
        duration=0.5,
    )
    context = HookContext.after_tool_use(AgentState(), execution, outcome=HookOutcome())
    silent, telling = AuditTrail(tmp_path / "a.jsonl"), AuditTrail(tmp_path / "b.jsonl", results=True)
    silent.execute(context)
    telling.execute(context)
    assert not os.path.exists(silent.path)
    (line,) = lines(telling)
    assert line["event"] == "after_tool_use"
    redacted = "[redacted]"
    assert line["result"] == {"text": f"got {redacted} and {redacted}", "Token": redacted, "passwords": redacted}
    assert (line["error"], line["blocked"], line["duration"]) == (None, False, 0.5)


def test_a_blocked_calls_result_line_says_so(tmp_path):
    trail = AuditTrail(tmp_path / "a.jsonl", results=True)
    trail.execute(
        HookContext.after_tool_use(AgentState(), ToolExecution.denied(ToolCall("x"), "No."), outcome=HookOutcome())
    )
    assert [(line["blocked"], line["error"]) for line in lines(trail)] == [(True, "No.")]


@given(
    secret=st.text(max_size=30).map("s3cr3t-{}".format),  # no other word of a line
    depth=st.integers(0, 40),
    key=st.sampled_from(["password", "API-Key", "Authorization", "client_secret"]),
)
def test_a_secret_never_reaches_the_file(tmp_path_factory, secret, depth, key):
    """Not from the arguments at any depth, nor from a reason that quotes them, nor from the result."""
    trail = AuditTrail(tmp_path_factory.mktemp("trail") / "audit.jsonl", results=True, max_length=60)
    args = {key: secret}
    for level in range(depth):
        args = {"inner": [args], "text": f"{level} {secret}"}
    call = ToolCall("login", args)
    blocked = HookContext("before_tool_use", tool_call=call).block()
    trail.execute(blocked.replace(outcome=HookOutcome.deny(blocked.reason)))
    trail.execute(
        HookContext.after_tool_use(None, ToolExecution(call=call, result=f"said {secret}"), outcome=HookOutcome())
    )
    with open(trail.path, encoding="ascii") as file:
        text = file.read()
    assert text.count("\n") == 2
    assert json.dumps(secret)[1:-1] not in text
    assert all(secret not in str(line) for line in map(json.loads, text.splitlines()))


def test_which_keys_are_left_out_is_a_setting(tmp_path):
    trail = AuditTrail(tmp_path / "a.jsonl", redact=["ssn"])
    trail.execute(about(args={"SSN": "123-45-6789", "token": "t0ken"}, outcome=HookOutcome()))
    assert lines(trail)[0]["args"] == {"SSN": "[redacted]", "token": "t0ken"}


def test_long_texts_are_cut(tmp_path):
    trail = AuditTrail(tmp_path / "a.jsonl", max_length=5)
    trail.execute(about(args={"text": "123456789"}, outcome=HookOutcome()))
    assert lines(trail)[0]["args"] == {"text": "12345... (9 characters)"}


def test_a_line_stays_short_enough_for_one_write(trail):
    trail.execute(about(args={"list": ["x" * 1000] * 1000, "password": "hunter2"}, outcome=HookOutcome()))
    with open(trail.path, encoding="ascii") as file:
        (text,) = file.readlines()
    assert len(text) < 65_536
    assert "hunter2" not in text
    assert json.loads(text)["args"].startswith('{"list": ["xxx')


def test_nothing_in_a_call_can_break_a_line(trail):
    trail.execute(about("a\nb\u2028c", args={"x\n": "\ud800\r\n\x00", "y": float("nan")}, outcome=HookOutcome()))
    with open(trail.path, "rb") as file:
        assert file.read().count(b"\n") == 1
    assert lines(trail)[0]["args"] == {"x\n": "\ud800\r\n\x00", "y": "nan"}


def test_the_file_is_for_its_owner_only_and_is_never_rewritten(trail):
    before = os.umask(0)
    try:
        trail.execute(about("first", outcome=HookOutcome()))
    finally:
        os.umask(before)
    assert stat.S_IMODE(os.stat(trail.path).st_mode) == 0o600
    AuditTrail(trail.path).execute(about("second", outcome=HookOutcome()))
    assert [line["tool"] for line in lines(trail)] == ["first", "second"]


def test_a_relative_path_is_in_the_state_folder(state_folder):
    trail = AuditTrail("team/audit.jsonl")
    trail.execute(about(outcome=HookOutcome()))
    assert trail.path == str(state_folder / "team" / "audit.jsonl")
    assert len(lines(trail)) == 1
    assert stat.S_IMODE(state_folder.stat().st_mode) == 0o700


def test_a_symbolic_link_is_not_followed(tmp_path):
    """A project could point it anywhere."""
    target = tmp_path / "target"
    target.write_text("mine\n")
    (tmp_path / "audit.jsonl").symlink_to(target)
    with pytest.raises(OSError, match="audit"):
        AuditTrail(tmp_path / "audit.jsonl").execute(about(outcome=HookOutcome()))
    assert target.read_text() == "mine\n"


def test_a_pipe_is_neither_waited_for_nor_written_to(tmp_path):
    """A project could have put it there: without a reader, opening it the usual way waits for ever."""
    trail = AuditTrail(tmp_path / "audit.jsonl")
    os.mkfifo(trail.path)
    with pytest.raises(OSError, match=r"audit\.jsonl"):
        trail.execute(about(outcome=HookOutcome()))
    reader = os.open(trail.path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        with pytest.raises(OSError, match=r"audit\.jsonl is not an ordinary file"):
            trail.execute(about(outcome=HookOutcome()))
        assert os.read(reader, 100) == b""
    finally:
        os.close(reader)


@pytest.mark.parametrize("path", ["audit.jsonl", "~/audit.jsonl"])
def test_without_a_home_folder_the_error_says_what_to_do(monkeypatch, path):
    monkeypatch.delenv("AGENT_HOOKS_STATE_DIR")
    monkeypatch.setattr("platformdirs.user_state_dir", lambda *_args, **_kwargs: "~/agent-hooks")
    monkeypatch.setenv("HOME", "relative")
    with pytest.raises(SettingsError, match="home folder"):
        AuditTrail(path).execute(about(outcome=HookOutcome()))


APPEND = """
import sys
from agent_hooks import HookContext, HookOutcome, ToolCall
from agent_hooks_guards import AuditTrail
from agent_hooks_guards.guards import audit
trail = AuditTrail(sys.argv[1], max_length=20_000)
for number in range(50):
    call = ToolCall("write", {"content": "x" * (400 * number), "number": number})
    trail.execute(HookContext("before_tool_use", tool_call=call, outcome=HookOutcome()))
"""


def test_many_processes_append_without_tearing_a_line(tmp_path):
    run_all(APPEND, 8, tmp_path / "audit.jsonl")
    written = lines(AuditTrail(tmp_path / "audit.jsonl"))
    assert sorted(line["args"]["number"] for line in written) == sorted([*range(50)] * 8)
    assert all(len(line["args"]["content"]) == 400 * line["args"]["number"] for line in written)


def test_a_line_that_cannot_be_written_is_an_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        AuditTrail(tmp_path / "file" / "audit.jsonl").execute(about(outcome=HookOutcome()))


def test_a_registration_that_cannot_know_the_decision_is_a_mistake_said_plainly(trail):
    with pytest.raises(HookMisuseError, match='mode="observe"'):
        trail.execute(about())
    with pytest.raises(HookMisuseError, match="register it on before_tool_use"):
        trail.execute(HookContext("before_step"))


@pytest.mark.parametrize(("options", "said"), [({"redact": "password"}, "list of keys"), ({"max_length": 0}, "from 1")])
def test_other_mistakes_are_said(tmp_path, options, said):
    with pytest.raises(RegistrationError, match=said):
        AuditTrail(tmp_path / "a.jsonl", **options)


@pytest.mark.parametrize("command", TABLES["with_secrets"].strip().splitlines())
def test_a_secret_that_a_command_carries_in_plain_is_left_out(trail, command):
    outcome = HookOutcome.deny(f"`{command}`: No.")
    args = {"command": command.replace(r"\n", "\n"), "description": "log in with hunter2x"}
    trail.execute(about("Bash", "shell", args=args, outcome=outcome))
    with open(trail.path, encoding="ascii") as file:
        assert "hunter" not in file.read()


@pytest.mark.parametrize("args", TABLES["a_secret_in_a_list_of_words_is_left_out"])
def test_a_secret_in_a_list_of_words_is_left_out(trail, args):
    trail.execute(about("run", args=args, outcome=HookOutcome()))
    with open(trail.path, encoding="ascii") as file:
        assert "hunter" not in file.read()


@pytest.mark.parametrize("args", [{"argv": ["curl", "-sL", "https://a.test"]}, {"command": "ls", "args": ["-l", "a"]}])
def test_a_list_of_words_without_secrets_is_written_as_it_is(trail, args):
    trail.execute(about("run", args=args, outcome=HookOutcome()))
    assert lines(trail)[0]["args"] == args


@pytest.mark.parametrize("command", TABLES["without_secrets"].strip().splitlines())
def test_a_command_without_secrets_is_written_as_it_is(trail, command):
    trail.execute(about("Bash", "shell", args={"command": command}, outcome=HookOutcome()))
    assert lines(trail)[0]["args"] == {"command": command}


@pytest.mark.parametrize("command", TABLES["emptying"].strip().splitlines())
def test_the_agent_cannot_empty_the_trail(trail, command):
    manager = HookManager(load_plugins=False)
    manager.register(trail)
    hooks = manager.hooks(ask="host")
    text = command.format(path=trail.path, folder=os.path.dirname(trail.path))
    outcome = hooks.dispatch_sync(about("Bash", "shell", args={"command": text}, cwd="/w"))
    assert (outcome.decision, "is protected" in outcome.reason) == ("deny", True)
    assert [line["decision"] for line in lines(trail)] == ["deny"]


@pytest.mark.parametrize("name", ["Write", "Edit", "Delete"])
def test_no_tool_writes_the_trail(trail, name):
    manager = HookManager(load_plugins=False)
    manager.register(trail)
    ctx = about(name, name.lower(), args={"file_path": trail.path, "content": ""}, cwd="/w")
    assert manager.hooks(ask="host").dispatch_sync(ctx).decision == "deny"


def test_the_trail_of_the_users_settings_is_protected(tmp_path):
    path = tmp_path / "logs" / "audit.jsonl"
    (tmp_path / "config").mkdir()
    settings = f"[guards.audit]\npath = {json.dumps(str(path))}\n"
    (tmp_path / "config" / "agent-hooks.toml").write_text(settings, encoding="utf-8")
    ctx = about("Bash", "shell", args={"command": f"truncate -s 0 {path}"}, cwd="/w")
    outcome = HookManager().hooks(ask="host").dispatch_sync(ctx)
    assert outcome.decision == "deny"
    assert "is protected" in outcome.reason


@pytest.mark.parametrize(
    "command", ["tail -5 {path}", "jq . {path}", "wc -l {path}", "cp {path} /tmp/x", "ls {folder}"]
)
def test_the_trail_may_be_read(trail, command):
    manager = HookManager(load_plugins=False)
    manager.register(trail)
    text = command.format(path=trail.path, folder=os.path.dirname(trail.path))
    ctx = about("Bash", "shell", args={"command": text}, cwd="/w")
    assert manager.hooks(ask="host").dispatch_sync(ctx).decision == "proceed"


def test_a_process_that_holds_the_file_keeps_no_line_out_of_it(trail):
    trail.execute(about("first", outcome=HookOutcome()))
    with open(trail.path, "ab", buffering=0) as other:
        lock_file(other.fileno())
        trail.execute(about("second", outcome=HookOutcome()))
    assert [line["tool"] for line in lines(trail)] == ["first", "second"]


def test_a_line_after_a_torn_one_stands_on_its_own(tmp_path):
    """As after a full disk: what was cut short stays, and no later line is lost with it."""
    path = tmp_path / "audit.jsonl"
    path.write_text('{"whole": 1}\n{"torn": "in the mid')
    trail = AuditTrail(path=str(path))
    for name in ("first", "second"):
        trail.execute(about(name, outcome=HookOutcome()))
    lines = path.read_text().splitlines()
    assert lines[:2] == ['{"whole": 1}', '{"torn": "in the mid']
    assert [json.loads(line)["tool"] for line in lines[2:]] == ["first", "second"]
