"""Lines of shell in the text of skills and commands: ``agent-hooks run`` asks the hooks of shell calls about them."""

from __future__ import annotations

import os

import pytest

RULES = """
    @hookimpl(match="shell")
    def before_tool_use(tool_call):
        if "push" in tool_call.command:
            return HookOutcome.deny("no pushing")
        if tool_call.command == "wipe":
            return HookOutcome.deny("no wiping")
        if "fetch" in tool_call.command:
            return HookOutcome.ask("really?")
        if "change" in tool_call.command:
            return HookOutcome.allow(tool_args={"command": "echo safe"})
"""
PUSH = "---\ndescription: d\n---\nState: !`git push --force`\n"
FILES = {
    ".claude/skills/push/SKILL.md": PUSH,
    ".claude/skills/folder/SKILL.md": PUSH.replace("description: d", "name: 'Other-Name'"),
    ".claude/skills/block/SKILL.md": "Look:\n```!\ngit status\ngit push\n```\n",
    ".claude/skills/fetch/SKILL.md": "!`git status`\n!`git fetch`\n",
    ".claude/skills/both/SKILL.md": "!`git fetch`\n!`git push`\n",
    ".claude/skills/change/SKILL.md": "!`change`\n",
    ".claude/skills/fine/SKILL.md": "!`git status`, and never `git push`.\n```\ngit push\n```\n",
    ".claude/commands/git/given.md": "!`git $ARGUMENTS`\n",
    ".claude/commands/second.md": "!`git $1`\n",
}
USERS = {
    ".claude/commands/mine.md": "!`git push`\n",
    ".claude/plugins/cache/p/1/commands/go.md": "!`git push`\n",
}


@pytest.fixture
def project(command):
    """A project and a home with skills and commands, and a plugin with rules about shell calls."""
    command.install(RULES)
    for base, files in ((command.folder, FILES), (command.folder / "home", USERS)):
        for name, text in files.items():
            (base / name).parent.mkdir(parents=True, exist_ok=True)
            (base / name).write_text(text)
    return command


def ask(command, event, agent="claude-code", /, **fields):
    payload = {"hook_event_name": event, "session_id": "s", "cwd": str(command.folder), **fields}
    return command.answer(agent, payload, env={"HOME": str(command.folder / "home")})


def call(command, tool, agent="claude-code", event="PreToolUse", /, **args):
    return ask(command, event, agent, tool_name=tool, tool_input=args, tool_use_id="1")


SKILLS = {
    "push": "deny",
    "Other-Name": "deny",
    "block": "deny",
    "fetch": "ask",
    "both": "deny",
    "change": "deny",
    "fine": None,
    "git:given push": "deny",
    "git:given status": None,
    "second a push": "deny",
    "second push a": None,
    "mine": "deny",
    "plug:go": "deny",
    "../../outside": None,
    "built-in": None,
}


@pytest.mark.parametrize("name", SKILLS)
def test_a_skill_is_as_its_lines_are(project, name):
    skill, _, args = name.partition(" ")
    done = call(project, "Skill", skill=skill, args=args)
    assert done.specific.get("permissionDecision") == SKILLS[name]
    if SKILLS[name] == "deny" and name != "change":
        assert "git push" in done.reason
        assert "no pushing" in done.reason


@pytest.mark.parametrize("name", SKILLS)
def test_a_command_that_a_person_types_is_as_its_lines_are(project, name):
    """Nobody can be asked there."""
    command_name, _, args = name.partition(" ")
    for _ in range(2):  # the second time from a plan, if there is one
        done = ask(project, "UserPromptExpansion", command_name=command_name, command_args=args, prompt=f"/{name}")
        assert (done.json or {}).get("decision") == ("block" if SKILLS[name] else None)
        assert done.exit_code == (2 if SKILLS[name] else 0)


def test_the_hosts_own_event_of_a_line_is_a_shell_call(project):
    about = {"tool_name": "Bash", "tool_use_id": "1", "command_name": "zz", "invoked_by": "claude"}
    for line, decision in (("git push", "deny"), ("git fetch", "deny"), ("change", "deny"), ("git status", None)):
        done = ask(project, "PreSkillShellCommand", **about, tool_input={"command": line})
        assert (done.specific.get("permissionDecision"), done.exit_code) == (decision, 2 if decision else 0)


@pytest.mark.parametrize(
    ("agent", "tool", "path", "text", "denies"),
    [
        ("claude-code", "Write", ".claude/skills/new/SKILL.md", "!`git push`", True),
        ("claude-code", "Write", ".claude/skills/new/SKILL.md", "!`git status`", False),
        ("claude-code", "Write", ".claude/agents/new.md", "```!\ngit push\n```", True),
        ("claude-code", "Write", "home/.claude/commands/a/b.md", "!`git push`", True),
        ("claude-code", "Write", "docs/skills.md", "!`git push`", False),
        ("codex", "Write", ".opencode/command/new.md", "a!`git push`", True),
        ("codex", "Write", "opencode.json", '{"template": "!`git push`"}', True),
        ("gemini", "write_file", ".gemini/commands/new.toml", "prompt = 'Do !{git push} now'", True),
        ("gemini", "write_file", ".gemini/commands/new.toml", 'prompt = "Do \\u0021{git push} now"', True),
        ("gemini", "write_file", ".gemini/commands/new.toml", "prompt = '!{git log --format={x}}: git push'", False),
        ("qwen", "write_file", ".qwen/commands/new.md", "!{git push}", True),
    ],
)
def test_a_text_that_is_written_is_as_its_lines_are(project, agent, tool, path, text, denies):
    event = "BeforeTool" if agent == "gemini" else "PreToolUse"
    done = call(project, tool, agent, event, file_path=str(project.folder / path), content=text)
    assert (done.exit_code == 2) == denies
    assert not denies or "no pushing" in done.stderr


@pytest.mark.parametrize(
    ("agent", "tool", "path", "text"),
    [
        ("claude-code", "Edit", ".claude/commands/second.md", "!`git status`"),
        ("gemini", "replace", ".gemini/commands/x.toml", "prompt = '!{git status}'"),
        ("qwen", "edit", ".qwen/commands/x.md", "!{git status}"),
    ],
)
def test_an_edit_is_as_the_lines_that_it_completes(project, agent, tool, path, text):
    file = project.folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"{text}\n# {text.replace('status', 'push --dry-run')}: a line that a person has let stand")
    event = "BeforeTool" if agent == "gemini" else "PreToolUse"
    for new, code in (("push", 2), ("log", 0)):
        args = {"file_path": str(file), "old_string": "status", "new_string": new}
        assert call(project, tool, agent, event, **args).exit_code == code


def test_a_text_that_a_shell_writes_is_as_its_lines_are(project):
    line = "cat > .claude/commands/x.md <<'E'\n!`wipe`\nE"
    assert "no wiping" in call(project, "Bash", command=line).reason
    assert call(project, "Bash", command=line.replace("!", "")).exit_code == 0
    assert call(project, "Bash", command="cat .claude/commands/second.md").exit_code == 0


@pytest.mark.parametrize("what", ["pipe", "large", "many"])
def test_a_skill_that_cannot_be_judged_is_denied(project, what):
    folder = project.folder / ".claude/skills/odd"
    folder.mkdir()
    if what == "pipe":
        os.mkfifo(folder / "SKILL.md")
    elif what == "large":
        (folder / "SKILL.md").write_text("x" * (1024 * 1024 + 1))
    else:
        for number in range(5001):
            (folder / str(number)).touch()
    done = call(project, "Skill", skill="odd")
    assert done.specific["permissionDecision"] == "deny"
    assert "cannot be judged" in done.reason


def test_links_in_circles_end(project):
    (project.folder / ".claude/skills/loop").symlink_to(project.folder / ".claude/skills")
    assert call(project, "Skill", skill="fine").exit_code == 0
    assert call(project, "Skill", skill="push").exit_code == 2


def test_install_wires_the_events_of_such_lines(project):
    env = {"HOME": str(project.folder / "home")}
    done = project("install", "claude-code", env=env)
    text = (project.folder / "home/.claude/settings.json").read_text()
    assert done.exit_code == 0, done.said
    assert '"PreSkillShellCommand"' in text
    assert '"UserPromptExpansion"' in text
