"""What the guards say and write down holds no secret: reasons, the audit trail and ``agent-hooks check``."""

from __future__ import annotations

import json

import pytest
from making import about, project
from terminal import answer, run

import agent_hooks_guards
from agent_hooks import HookOutcome
from agent_hooks_guards import AuditTrail

# Put together here, so that nobody who scans this file takes them for real.
KEY = "AKIA" + "QWERTYUIOP" + "234567"
TOKEN = "ghp_" + "a1b2c3d4e5" * 4
LONG = "x" * 80
BODY = ["MIIE" + "a1B2c3D4e5" * 6, "b2C3d4E5f6" * 6 + "==", "Zq7="]
PEM = "\n".join((f"-----BEGIN {'PRIVATE KEY'}-----", *BODY, f"-----END {'PRIVATE KEY'}-----"))


def said(kind, args, name="Tool"):
    outcome = agent_hooks_guards.before_tool_use(about(name, kind=kind, args=args, cwd="/home/dev/app"))
    return outcome.reason if outcome is not None else ""


@pytest.mark.parametrize(
    ("kind", "args", "rule"),
    [
        ("shell", {"command": f"rm -rf / {KEY}"}, "files-delete-root"),
        ("shell", {"command": f"rm -rf / {'a ' * 70}{KEY}"}, "files-delete-root"),  # cut in the middle of it
        ("shell", {"command": f"git push --force https://u:{TOKEN}@github.com/x"}, "git-push-force"),
        ("read", {"file_path": f"~/.ssh/{KEY}"}, "path-secret-read"),
        ("delete", {"file_path": f"/etc/{LONG}/{KEY}/{LONG}"}, "path-system"),
    ],
)
def test_a_reason_repeats_no_secret(kind, args, rule):
    reason = said(kind, args)
    assert f"[{rule}]" in reason
    assert "[redacted" in reason or "…" in reason  # cut out with the middle of a long path
    assert not any(secret[:10] in reason for secret in (KEY, TOKEN))


def test_a_reason_without_secrets_says_what_it_is_about():
    assert said("shell", {"command": "rm -rf / src"}).startswith("`rm -rf / src`: ")


def test_an_explanation_repeats_no_secret_and_the_exception_has_a_glob_for_it():
    call = about("Bash", kind="shell", args={"command": f"git push --force {KEY} main"}, cwd="/home/dev/app")
    lines = "\n".join(agent_hooks_guards.agent_hooks_explain(call) or ())
    assert KEY not in lines
    assert "runs git push --force [redacted: aws-access-key] main" in lines
    assert "agent-hooks allow git-push-force --command 'git push --force * main'" in lines


@pytest.mark.parametrize(
    "args",
    [
        {"command": f"echo {KEY}"},
        {"file_path": "a.py", "content": f"x = 1\nkey = '{KEY}'\n"},
        {"url": f"https://u:{TOKEN}@x.test/?k={KEY}", "prompt": f"use {KEY}"},
        {KEY: [{"deep": KEY}]},
    ],
)
def test_the_audit_trail_holds_no_secret(tmp_path, args):
    trail = AuditTrail(tmp_path / "audit.jsonl", results=True)
    reason = f"`rm -rf / {KEY}`: No."
    trail.execute(about(args=args, outcome=HookOutcome(decision="deny", reason=reason, hook="another.hook")))
    line = (tmp_path / "audit.jsonl").read_text()
    assert KEY not in line
    assert TOKEN not in line
    assert json.loads(line)["reason"] == "`rm -rf / [redacted: aws-access-key]`: No."


def test_what_only_its_key_tells_for_a_secret_is_not_written_down(tmp_path):
    secret = "wJalr/XUtnFEMI+K7MDENG" + "bPxRfiCYzQ3w9u7k+v"
    trail = AuditTrail(tmp_path / "audit.jsonl", redact=["password"])
    trail.execute(about(args={"aws_secret_key": secret}, outcome=HookOutcome(decision="proceed")))
    assert json.loads((tmp_path / "audit.jsonl").read_text())["args"] == {"aws_secret_key": "[redacted]"}


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("Bash", {"command": f"rm -rf / {KEY}"}),
        ("Write", {"file_path": "a.py", "content": f"key = '{KEY}'"}),
        ("WebFetch", {"url": f"https://x.test/?k={KEY}", "prompt": f"use {KEY}"}),
    ],
)
def test_what_a_host_is_answered_and_the_trail_hold_no_secret(tmp_path, state_folder, tool, args):
    folder = tmp_path / "p"
    project(folder, "[tool.agent_hooks.guards.audit]\npath = 'audit.jsonl'\n")
    done = answer(folder, tool, args)
    assert '"permissionDecision"' in done.stdout
    assert KEY not in done.stdout + done.stderr
    trail = (state_folder / "audit.jsonl").read_text()
    assert json.loads(trail)["tool"] == tool
    assert KEY not in trail
    assert "[redacted: aws-access-key]" in trail


def test_a_check_repeats_no_secret_in_what_the_guards_say(tmp_path):
    command = f"rm -rf / {KEY}"
    folder = project(tmp_path / "p", "")
    done = run("check", "before_tool_use", "--tool", "Bash", "--arg", f"command={command}", "--cwd", folder)
    assert "files-delete-root" in done.stdout
    shown = [line for line in done.stdout.splitlines() if not line.startswith("  command = ")]  # what was typed
    assert KEY not in "\n".join(shown)
    assert "`rm -rf / [redacted: aws-access-key]`" in "\n".join(shown)


@pytest.mark.parametrize("command", [f"API_TOKEN={PEM} rm -rf /", f"API_TOKEN='{PEM}' rm -rf /", f"deploy {PEM} > x"])
def test_a_check_repeats_nothing_of_a_private_key(tmp_path, command):
    folder = project(tmp_path / "p", "")
    done = run("check", "before_tool_use", "--tool", "Bash", "--arg", f"command={command}", "--cwd", folder)
    assert "secret-command" in done.stdout
    assert "runs " in done.stdout
    assert not [line for line in BODY if line in done.stdout]
