"""``agent-hooks check``: the same decisions as in earnest, hook by hook, and nothing done."""

from __future__ import annotations

import pytest

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
    command.install(RULES)
    return command("check", *arguments)


@pytest.mark.parametrize("event", ["before_tool_use", "PreToolUse", "pre_tool_use"])
def test_an_event_has_all_its_names_and_tools_have_their_kinds(command, event):
    done = check(command, event, "--tool", "Bash", "--arg", "command=rm x", "--json")
    assert done.exit_code == 1
    assert done.json["event"] == "before_tool_use"
    assert done.json["tool"] == {"name": "Bash", "kind": "shell", "args": {"command": "rm x"}}
    assert done.json["outcome"]["decision"] == "deny"
    assert done.json["outcome"]["hook"] == "house.before_tool_use"
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
    assert lines[-1].startswith("Nothing was executed")
    assert "plugins may print" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["PreToolUse", "--tool", "Bash", "--arg", "command=ls"], 0, "It goes ahead"),
        (["PreToolUse", "--tool", "Bash", "--arg", "command=rm x"], 1, "deny by house.before_tool_use: no rm"),
        (["PreToolUse", "--tool", "Write", "--arg", "file_path=x"], 1, "It waits for an answer: ask"),
        (["UserPromptSubmit", "--prompt", "hello"], 0, "It goes ahead"),
        (["Stop"], 1, "force_continue by house.on_stop: go on"),
        (["SessionEnd"], 0, "no hook listens to this event"),
    ],
)
def test_the_exit_code_says_whether_it_goes_ahead(command, arguments, code, says):
    done = check(command, *arguments)
    assert (done.exit_code, says in done.stdout) == (code, True), done


@pytest.mark.parametrize(
    "arguments",
    [
        ["no_such_event"],
        ["before_tool_use"],
        ["before_tool_use", "--tool", "Bash", "--arg", "command"],
        ["before_tool_use", "--tool", "Bash", "--agent", "claud"],
        ["on_stop", "--arg", "command=ls"],
    ],
)
def test_a_wrong_usage_exits_with_2(command, arguments):
    done = check(command, *arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "Error" in done.stderr


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
        from agent_hooks.store import Store

        @hookimpl
        def before_tool_use():
            return HookOutcome.deny(str(Store().increment("s", "k")))
    """)
    for _ in range(2):
        done = command("check", "PreToolUse", "--tool", "Bash", "--json")
        assert done.json["outcome"]["reason"] == "1"
    assert [*command.home.rglob("*")] == []


def test_a_failing_hook_is_told_from_a_rule(command):
    command.install("""
        @hookimpl
        def before_tool_use():
            raise ValueError("broken")
    """)
    done = command("check", "PreToolUse", "--tool", "Bash")
    assert done.exit_code == 1
    assert "house.before_tool_use: failed - ValueError: broken" in done.stdout
