"""``agent-hooks check``: the same decisions as in earnest, hook by hook, and nothing done."""

from __future__ import annotations

import json

import pytest

from agent_hooks import AgentBuilder, HookConfigLoader
from agent_hooks.cli.check import build_context
from agent_hooks.model.inference import ModelResponse
from agent_hooks.model.tool_call import ToolCall
from agent_hooks.runtime.driver import ScriptedDriver
from agent_hooks.runtime.python_tools import tool
from agent_hooks.trust.discovery import discover
from agent_hooks.trust.trust_store import TrustStore
from projects import HOOKCONF, Project, denying, settings, toml

RULES = """
    print("plugins may print")

    @hookimpl(match="shell", mode="gate", priority=100)
    def before_tool_use(tool_call):
        if "rm" in tool_call.command:
            return HookOutcome.deny("no rm")

    @hookimpl(specname="before_tool_use", match="shell")
    def lease(tool_call):
        if "--force " in tool_call.command:
            command = tool_call.command.replace("--force ", "--force-with-lease ")
            return HookOutcome.update(tool_args={**tool_call.args, "command": command})

    @hookimpl(specname="before_tool_use", match="write")
    def secrets(tool_call):
        return HookOutcome.ask("really?")

    @hookimpl
    def user_input(prompt):
        return HookOutcome.update(context=prompt)

    @hookimpl
    def on_stop():
        return HookOutcome.force_continue("go on")
"""


def check(command, *arguments):
    if not (command.site / "house_rules.py").exists():
        command.install(RULES)
    return command("check", *arguments)


def test_an_event_has_all_its_names_and_tools_have_their_kinds(command):
    for event in ("before_tool_use", "PreToolUse", "pre_tool_use"):
        done = check(command, event, "--tool", "Bash", "--arg", "command=rm x", "--json")
        assert (done.exit_code, done.json["event"]) == (1, "before_tool_use")
        assert done.json["tool"] == {"name": "Bash", "kind": "shell", "args": {"command": "rm x"}}
        outcome = done.json["outcome"]
        assert (outcome["decision"], outcome["hook"]) == ("deny", "house.before_tool_use")
        assert (done.json["goes_ahead"], done.json["executed"]) == (False, False)


def test_walks_are_shown_hook_by_hook(command):
    done = check(command, "before_tool_use", "--tool", "Bash", "--arg", "command=git push --force x", "--json")
    assert done.exit_code == 0
    assert [(one["walk"], one["hook"], one["decision"]) for one in done.json["hooks"]] == [
        (1, "house.before_tool_use", ""),
        (1, "house.lease", "rewrite"),
        (2, "house.before_tool_use", ""),
    ]
    assert done.json["outcome"]["tool_args"] == {"command": "git push --force-with-lease x"}
    assert [hook["hook"] for hook in done.json["not_asked"]] == ["house.secrets"]


def test_people_read_the_same(command):
    done = check(command, "before_tool_use", "--tool", "Bash", "--arg", "command=git push --force x")
    lines = done.stdout.splitlines()
    assert lines[:2] == ["before_tool_use  Bash (shell)", "  command = git push --force x"]
    assert lines[2].startswith("  house.before_tool_use: no opinion  (")
    assert lines[3].startswith("  house.lease: rewrite [tool_args]  (")
    assert lines[4].startswith("walk 2: the tool_args was changed")
    assert "house.secrets: not asked (match write)" in done.stdout
    assert 'It goes ahead; tool_args is now {"command": "git push --force-with-lease x"}' in lines
    assert lines[-1].startswith("The tool call was not executed. Hooks ran for real")
    assert "plugins may print" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        ("PreToolUse --tool Write --arg file_path=x", 1, "It waits for an answer: ask"),
        ("UserPromptSubmit --prompt hello", 0, "It goes ahead"),
        ("Stop", 1, "force_continue by house.on_stop: go on"),
        ("SessionEnd", 0, "no hook listens to this event"),
    ],
)
def test_the_exit_code_says_whether_it_goes_ahead(command, arguments, code, says):
    done = check(command, *arguments.split())
    assert (done.exit_code, says in done.stdout) == (code, True), done


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("no_such_event", "no_such_event"),
        ("before_tool_use", "--tool"),
        ("before_tool_use --tool Bash --arg command", "command"),
        ("before_tool_use --tool Bash --agent claud", "claud"),
        ("on_stop --arg command=ls", "--arg"),
    ],
)
def test_a_wrong_usage_exits_with_2(command, arguments, says):
    done = check(command, *arguments.split())
    assert (done.exit_code, done.stdout) == (2, "")
    assert ("Error" in done.stderr, says in done.stderr) == (True, True), done


def test_a_wrong_setting_is_no_refusal_and_exits_with_2(command):
    done = command("check", "Stop", env={"AGENT_HOOKS_CONFIG_DIR": "relative"})
    assert (done.exit_code, done.stdout) == (2, "")
    assert "AGENT_HOOKS_CONFIG_DIR must be an absolute path" in done.stderr


def test_an_argument_is_json_unless_it_is_a_command_a_path_or_a_text(command):
    given = ["command=true", "timeout=5", "file_path=1", "edits=[1]", "note=plain text", 'quoted="5"']
    arguments = [part for text in given for part in ("--arg", text)]
    done = check(command, "PreToolUse", "--tool", "mcp__x__y", *arguments, "--json")
    assert done.json["tool"]["args"] == {
        "command": "true",
        "timeout": 5,
        "file_path": "1",
        "edits": [1],
        "note": "plain text",
        "quoted": "5",
    }


def test_tools_are_those_of_the_agent(command):
    done = check(command, "PreToolUse", "--tool", "apply_patch", "--agent", "codex", "--json")
    assert (done.json["agent"], done.json["tool"]["kind"]) == ("codex", "edit")


def test_an_event_of_the_agent_without_a_name_here_is_asked_about_too(command):
    done = check(command, "PostToolBatch", "--json")
    assert (done.json["event"], done.json["agent_event"]) == ("on_host_event", "PostToolBatch")


def test_what_hooks_remember_is_thrown_away(command):
    command.install("""
        from agent_hooks.system.store import Store

        @hookimpl
        def before_tool_use():
            return HookOutcome.deny(str(Store().increment("s", "k")))
    """)
    for _ in range(2):
        done = command("check", "PreToolUse", "--tool", "Bash", "--json")
        assert done.json["outcome"]["reason"] == "1"
    assert [*command.home.rglob("*")] == []


def test_a_failing_hook_is_told_from_a_rule(command):
    command.hook("before_tool_use", "1 / 0")
    done = command("check", "PreToolUse", "--tool", "Bash")
    assert (done.exit_code, "house.before_tool_use: failed - ZeroDivisionError" in done.stdout) == (1, True)


# -- hooks of files ----------------------------------------------------------------------------------------------------


def check_in(command, project, *arguments, typed="ls"):
    return command(
        "check", "PreToolUse", "--tool", "Bash", "--arg", f"command={typed}", "--cwd", str(project.root), *arguments
    )


def test_where_a_hook_is_written_is_shown(command, project):
    files = {
        "agent-hooks.toml": toml(["sh", "-c", denying("no")], matcher="shell", name="mine"),
        ".claude/settings.json": settings("PreToolUse", "true", matcher="Write"),
        "hookconf.py": HOOKCONF.format(reason="never asked"),
    }
    command.trust(project.write(files))
    done = check_in(command, project, "--json")
    assert done.exit_code == 1
    (asked,) = done.json["hooks"]
    assert (asked["hook"], asked["origin"]) == ("mine (agent-hooks.toml:4)", "agent-hooks.toml:4")
    idle = {hook["origin"]: hook["match"] for hook in done.json["not_asked"]}
    assert idle[".claude/settings.json:7"] == "Write"
    assert f"{project.at('hookconf.py')}:4" in idle
    assert done.json["notes"] == []
    shown = check_in(command, project).stdout
    assert "  mine (agent-hooks.toml:4): deny - no  (" in shown
    assert "It does not go ahead: deny by mine (agent-hooks.toml:4): no" in shown
    assert (
        f"  {project.at('hookconf.py')}.before_tool_use: skipped, decision already made by mine (agent-hooks.toml:4)"
        in shown
    )
    assert "  .claude/settings.json:7: not asked (match Write)" in shown
    project.write({"agent-hooks.toml": toml(["true"], matcher="shell")})
    command.trust(project)
    asked = check_in(command, project).stdout
    assert f"{project.at('hookconf.py')}.before_tool_use: deny - never asked  (" in asked
    assert f", {project.at('hookconf.py')}:4)" in asked


def test_our_own_gate_is_shown_only_if_it_decides(command, project):
    quiet = check_in(command, project, "--json").json
    assert (quiet["hooks"], quiet["not_asked"]) == ([], [])
    done = check_in(command, project, "--json", typed="agent-hooks trust")
    assert done.exit_code == 1
    assert [one["hook"] for one in done.json["hooks"]] == ["agent_hooks.protection"]


@pytest.mark.parametrize("arguments", [[], ["--json"]])
def test_what_does_not_hold_is_noted_unless_the_user_lives_with_it(command, project, arguments):
    project.write({"hookconf.py": HOOKCONF})
    done = check_in(command, project, *arguments)
    (said,) = done.json["notes"] if arguments else done.stdout.splitlines()[:1]
    assert (done.exit_code, "1 gate is not active" in said) == (0, True)
    (project.root / "hookconf.py").unlink()
    project.write({".claude/settings.json": settings("Stop", "npm test")})
    for trust in (lambda: None, lambda: command.trust(project)):
        trust()
        command.configure("")
        assert "agent_hooks: " in check_in(command, project, *arguments).stdout
        findings = command("doctor", "--json", str(project.root)).json["findings"]
        command.configure(f"ignore = {json.dumps([finding['id'] for finding in findings])}")
        assert "agent_hooks: " not in check_in(command, project, *arguments).stdout


def test_required_gates_that_are_not_trusted_are_no_wrong_usage(command, project):
    project.write({"hookconf.py": HOOKCONF})
    command.configure("[policy]\nrequire_project_gates = true")
    done = check_in(command, project)
    assert (done.exit_code, done.stdout) == (1, "")
    assert "The policy requires the gates of a project." in done.stderr
    assert "Usage" not in done.stderr


def test_the_hooks_are_told_the_project(command, project):
    command.hook("before_tool_use(ctx)", "HookOutcome.deny(ctx.project_dir)")
    (project.root / "src").mkdir()
    done = command("check", "PreToolUse", "--tool", "Bash", "--cwd", project.at("src"), "--json")
    assert done.json["outcome"]["reason"] == str(project.root)


# -- a settings file of Claude Code, from one end to the other ---------------------------------------------------------

DENY_JSON = '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "%s"%s}}'
REASON = ', "permissionDecisionReason": "not here"'
# What a hook does, and what the real Claude Code 2.1.330 then did with the tool call. Two are stricter here: a call at
# which the run shall end is not made any more, and a project's file does not change arguments.
MEASURED = {
    "allow": (":", "ran"),
    "deny_exit2": ("echo not here >&2; exit 2", "blocked"),
    "deny_json": (f"echo '{DENY_JSON % ('deny', REASON)}'", "blocked"),
    "rewrite": ("echo '" + DENY_JSON % ("allow", ', "updatedInput": {"command": "other"}') + "'", "stricter"),
    "crash_exit1": ("echo oops >&2; exit 1", "ran"),
    "crash_signal": ("kill -9 $$", "ran"),
    "missing_exe": ("exec /no/such/program", "ran"),
    "bad_json": ('echo "{ nonsense"', "ran"),
    "exit2_empty": ("exit 2", "blocked"),
    "exit1_json_deny": (f"echo '{DENY_JSON % ('deny', REASON)}'; exit 1", "blocked"),
    "exit2_json_allow": (f"echo '{DENY_JSON % ('allow', '')}'; exit 2", "blocked"),
    "exit2_json_deny": (f"echo '{DENY_JSON % ('deny', REASON)}'; exit 2", "blocked"),
    "exit0_deny_stderr_noise": (f"echo noise >&2; echo '{DENY_JSON % ('deny', REASON)}'", "blocked"),
    "stdout_noise_deny": (f"echo noise; echo '{DENY_JSON % ('deny', REASON)}'", "ran"),
    "ask": (f"echo '{DENY_JSON % ('ask', REASON)}'", "blocked"),
    "legacy_block": ('echo \'{"decision": "block", "reason": "not here"}\'', "blocked"),
    "continue_false": ('echo \'{"continue": false, "stopReason": "enough"}\'', "stricter"),
    "allow_explicit": (f"echo '{DENY_JSON % ('allow', '')}'", "ran"),
    "empty_object": ("echo '{}'", "ran"),
    "exit3_text": ("echo whatever; exit 3", "ran"),
    "timeout": (":", "ran"),  # a hook of its own is late
}
GUARD = """#!/bin/sh
case "$(cat)" in
{cases}
esac
"""


def newcomer(tmp_path):
    """A folder, not even a repository, into which somebody has copied Claude Code's settings with their scripts."""
    cases = "\n".join(f"""*'"command": "{name}"'*) {code} ;;""" for name, (code, _) in MEASURED.items())
    folder = tmp_path.resolve() / "work"
    (folder / ".claude" / "hooks").mkdir(parents=True)
    (folder / ".claude" / "hooks" / "guard.sh").write_text(GUARD.format(cases=cases))
    slow = 'case "$(cat)" in *\'"command": "timeout"\'*) sleep 60;; esac'
    handlers = [
        {"type": "command", "command": 'sh "$CLAUDE_PROJECT_DIR"/.claude/hooks/guard.sh'},
        {"type": "command", "command": slow, "timeout": 0.2, "statusMessage": "Thinking"},
    ]
    text = settings("PreToolUse", *handlers, matcher="Bash", permissions={"allow": ["Read"]}, model="opus")
    (folder / ".claude" / "settings.json").write_text(text)
    return folder


def test_a_newcomers_settings_file_decides_as_in_claude_code_and_guards_an_agent_unchanged(
    command, tmp_path, monkeypatch
):
    folder = newcomer(tmp_path)
    told = command("trust", cwd=folder)
    assert told.exit_code == 1
    digest = told.stdout.partition("--digest ")[2].split()[0]
    assert command("trust", "--digest", digest, cwd=folder).exit_code == 0
    typed = ("PreToolUse", "--tool", "Bash", "--arg")
    assert command("check", *typed, "command=allow", cwd=folder).exit_code == 0
    denied = command("check", *typed, "command=deny_exit2", cwd=folder)
    assert (denied.exit_code, "deny by .claude/settings.json:" in denied.stdout) == (1, True)

    monkeypatch.setenv("AGENT_HOOKS_CONFIG_DIR", str(command.config))
    monkeypatch.setenv("HOME", str(command.home))
    ran = []

    @tool(kind="shell")
    def run_shell(cmd: str) -> str:
        ran.append(cmd)
        return "done"

    # A call at which the run ends is the last one of it.
    names = [name for name in MEASURED if name != "continue_false"]
    calls = [ModelResponse(tool_calls=(ToolCall("run_shell", {"cmd": name}),)) for name in names]
    agent = (
        AgentBuilder(plugins=())
        .with_config()
        .with_cwd(str(folder))
        .with_tools(run_shell)
        .with_driver(ScriptedDriver(*calls, ModelResponse(content="done")))
        .build()
    )
    state = agent.run_sync("go")
    assert len(state.steps) == len(names) + 1
    assert ran == [name for name in names if MEASURED[name][1] == "ran"]


@pytest.mark.parametrize("name", MEASURED)
def test_each_measured_case_is_decided_as_in_claude_code_or_stricter(command, tmp_path, monkeypatch, name):
    """In this process, to be quick: the command does no more than this."""
    folder = newcomer(tmp_path)
    monkeypatch.setenv("AGENT_HOOKS_CONFIG_DIR", str(command.config))
    monkeypatch.setenv("HOME", str(command.home))
    TrustStore().trust(discover(folder))
    loader = HookConfigLoader(folder)
    manager = loader.load(load_plugins=False)
    ctx = build_context(
        "PreToolUse", tool="Bash", args={"command": name}, prompt=None, cwd=str(folder), agent="claude-code"
    )
    outcome = manager.hooks(ask="host").dispatch_sync(ctx.replace(project_dir=loader.project_dir))
    assert loader.findings == []
    assert outcome.blocks or outcome.decision == "ask" if MEASURED[name][1] != "ran" else not outcome.blocks
    if "not here" in MEASURED[name][0] and outcome.decision != "proceed":
        assert outcome.reason == "not here"


@pytest.mark.parametrize("name", ["crash_exit1", "timeout", "missing_exe"])
def test_what_shall_block_on_failure_does_as_in_claude_code(command, tmp_path, name):
    code = {"crash_exit1": "exit 1", "timeout": "sleep 60", "missing_exe": "/no/such/program"}[name]
    handler = {"type": "command", "command": code, "timeout": 0.2, "onFailure": "block"}
    project = Project(tmp_path).write({".claude/settings.json": settings("PreToolUse", handler)})
    command.trust(project)
    assert check_in(command, project).exit_code == 1


@pytest.mark.parametrize("ending", ["\n-----END RSA PRIVATE KEY-----\n", ""])
@pytest.mark.parametrize("options", [(), ("--json",)])
def test_no_body_of_a_key_is_printed(command, options, ending):
    command.hook("before_tool_use(tool_call)", 'HookOutcome.deny("not here: " + str(tool_call.args))')
    key = f"-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA\nbm90IGEga2V5{ending}"
    call = ("--tool", "Write", "--arg", "file_path=key.pem", "--arg", f"content={key}")
    done = command("check", "before_tool_use", *call, *options)
    assert (done.exit_code, "BEGIN RSA PRIVATE KEY" in done.said) == (1, True)
    assert not any(part in done.said for part in ("MIIEowIBAAKCAQEA", "bm90IGEga2V5"))
