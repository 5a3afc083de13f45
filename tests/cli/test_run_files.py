"""``agent-hooks run`` with hooks of files: which of them hold, and what people are told of those that do not."""

from __future__ import annotations

import json
import subprocess

import pytest

from commands import as_written
from projects import HOOKCONF, Project, denying, settings, toml

AGENTS = ["claude-code", "codex"]
DENY = ("before_tool_use", 'HookOutcome.deny("not here")')
# What a project may have, and where in it a deny is written.
TOML = {"agent-hooks.toml": toml(["sh", "-c", denying("not here")])}
CLAUDE = {".claude/settings.json": settings("PreToolUse", denying("not here"))}
FILES = {
    "toml": (TOML, "agent-hooks.toml:2"),
    "hookconf": ({"hookconf.py": HOOKCONF.format(reason="not here")}, "{root}/hookconf.py:4"),
    "claude": (CLAUDE, ".claude/settings.json:6"),
    "local": ({".claude/settings.local.json": CLAUDE[".claude/settings.json"]}, ".claude/settings.local.json:6"),
}
each_file = pytest.mark.parametrize(
    ("agent", "name"),
    [(agent, name) for name in FILES for agent in AGENTS if (agent, name) != ("claude-code", "local")],
)


@pytest.fixture
def ask(command, project, payload):
    """Answer a recorded event of an agent, as if it had happened in the project."""

    def ask(agent="claude-code", event="PreToolUse", *, env=None, **changes):
        sent = payload(agent, event, **{"cwd": str(project.root), **changes})
        return command.answer(agent, sent, env=env)

    return ask


def reason(done):
    """What the model is told, without what people are told."""
    return as_written(done.specific["permissionDecisionReason"])


def users_settings(command, text):
    """Write the user's own settings of Claude Code."""
    (command.home / ".claude").mkdir(exist_ok=True)
    (command.home / ".claude" / "settings.json").write_text(text)


@each_file
def test_a_projects_gates_deny_once_they_are_trusted_and_people_are_told(command, project, ask, agent, name):
    files, place = FILES[name]
    project.write(files)
    done = ask(agent)
    if agent == "claude-code" and name == "claude":  # it runs them itself
        assert (done.said, done.exit_code) == ("", 0)
        command.trust(project)
        assert (ask(agent).said, ask(agent).exit_code) == ("", 0)
        return
    assert (done.exit_code, done.specific) == (0, {})
    said = f"1 gate is not active in the project {project.root}, because nobody has trusted its files."
    assert said in done.json["systemMessage"]
    assert f"type `agent-hooks trust {project.root}`" in done.json["systemMessage"]
    command.trust(project)
    done = ask(agent)
    assert done.denies
    assert done.json["systemMessage"] == f"agent_hooks: deny by {place.format(root=project.root)}."
    assert reason(done) == done.why == "not here"


def test_the_other_hooks_hold_where_a_project_is_not_trusted(command, project, ask):
    project.write(TOML)
    command.hook(*DENY)
    assert reason(ask()) == "not here"


def test_people_are_told_of_a_change_of_what_was_trusted(command, project, ask):
    command.trust(project.write(TOML)).write({"agent-hooks.toml": toml(["true"])})
    done = ask()
    assert (done.exit_code, done.specific) == (0, {})
    assert "files changed since they were trusted: agent-hooks.toml has changed." in done.json["systemMessage"]
    assert "agent-hooks trust --diff" in done.json["systemMessage"]


def test_claude_codes_settings_are_not_run_a_second_time(command, project, ask):
    """Neither the project's nor the user's; a plugin of Claude Code that we name runs on either host."""
    runs = f"echo run >> {project.at('runs')}"
    project.write({".claude/settings.json": settings("PreToolUse", runs)})
    users_settings(command, settings("PreToolUse", f"{runs};"))
    project.write({"plugin/hooks/hooks.json": settings("PreToolUse", f"{runs}; :")})
    command.configure(f"claude_plugins = [{json.dumps(project.at('plugin'))}]")
    command.trust(project)
    for agent, count in (("claude-code", 1), ("codex", 3)):
        assert ask(agent).exit_code == 0
        assert (project.root / "runs").read_text().count("run") == count
        (project.root / "runs").unlink()


def test_what_is_wrong_with_claude_codes_settings_is_no_reason_to_deny_in_claude_code(command, project, ask):
    project.write({".claude/settings.json": settings("PreToolUse", {"type": "prompt", "prompt": "?"}, matcher="(")})
    users_settings(command, "{")
    command.trust(project)
    done = ask()
    assert (done.stdout, done.exit_code, ask("codex").denies) == ("", 0, True)


def test_what_cannot_be_honoured_denies_until_the_user_lives_with_it(command, project, ask):
    command.trust(project.write({"agent-hooks.toml": toml("", handler='type = "nope"', matcher="Bash")}))
    done = ask()
    assert done.denies
    assert done.json["systemMessage"].startswith(f"agent_hooks: deny by {project.at('agent-hooks.toml')}:3.")
    name = done.stderr.partition("add '")[2].partition("'")[0]
    assert f"add '{name}' to `ignore` in your own agent-hooks.toml" in done.stderr
    command.configure(f"ignore = [{json.dumps(name)}]")
    assert ask().exit_code == 0


@pytest.mark.parametrize("agent", AGENTS)
def test_required_gates_that_are_not_trusted_deny_what_can_be_denied(command, project, ask, agent):
    command.configure("[policy]\nrequire_project_gates = true")
    project.write(CLAUDE)  # its own settings are no gates that could be required of us
    assert ask(agent).denies == (agent == "codex")
    project.write(TOML)
    done = ask(agent)
    assert (done.denies, f"agent-hooks trust {project.root}" in done.stderr) == (True, True)
    for event in ("Stop", "SessionEnd", "PostToolUse"):
        assert ask(agent, event).exit_code == 0


def test_the_project_is_where_the_event_happens_and_where_the_session_began(command, project, ask, tmp_path):
    command.trust(project.write(TOML))
    other = Project(tmp_path, "other").write({"hookconf.py": HOOKCONF.format(reason="other")})
    command.trust(other)
    assert ask(cwd=str(tmp_path)).exit_code == 0
    began = {"CLAUDE_PROJECT_DIR": str(project.root)}
    assert reason(ask(cwd=str(tmp_path), env=began)) == "not here"
    assert ask(cwd=str(other.root), env=began).denies
    assert reason(ask("codex", cwd=str(other.root), env=began)) == "other"
    (project.root / "src").mkdir()
    assert reason(ask("codex", cwd=project.at("src"))) == "not here"


def test_a_nested_file_is_found_by_the_path_that_is_touched_under_any_argument(command, project, ask):
    project.write({"docs/hookconf.py": HOOKCONF, "src/a.md": ""})
    command.trust(project)
    for path, exit_code in (("docs/new.md", 2), ("new.md", 0)):
        assert ask(tool_name="Write", tool_input={"file_path": project.at(path), "content": ""}).exit_code == exit_code
    for args, exit_code in (
        ({"dest": "docs/new.md", "text": "x"}, 2),
        ({"dest": ["src/a.md", "docs/new.md"]}, 2),
        ({"text": "see docs/new.md"}, 0),
        ({"path": "src/new.md", "text": "docs/new.md"}, 0),
    ):
        assert ask(tool_name="mcp__fs__save", tool_input=args).exit_code == exit_code, args


def test_an_agent_cannot_trust_on_its_own_behalf(project, ask):
    project.write(TOML)
    for typed in ("agent-hooks trust --digest sha256:0 .", "echo x > agent-hooks.toml", "rm -rf .claude/settings.json"):
        assert ask(tool_input={"command": typed}).denies, typed


def test_files_are_not_switched_off_by_the_variable_for_plugins(command, project, ask):
    command.trust(project.write(TOML))
    done = ask(env={"AGENT_HOOKS_DISABLE": f"{project.at('agent-hooks.toml')},agent_hooks.protection"})
    assert (done.denies, "AGENT_HOOKS_DISABLE is set" in done.json["systemMessage"]) == (True, True)


def test_context_of_a_file_reaches_the_model(command, project, ask):
    command.trust(project.write({"agent-hooks.toml": toml(["echo", "Be brief."], "user_input")}))
    done = ask("codex", "UserPromptSubmit")
    assert (done.specific["additionalContext"], done.exit_code) == ("Be brief.", 0)


REWRITE = {
    "hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": "allow",
        "updatedInput": {"command": "echo safe"},
    }
}


def test_a_users_own_claude_settings_may_rewrite_and_a_projects_may_not(command, project, ask):
    text = settings("PreToolUse", f"echo '{json.dumps(REWRITE)}'")
    users_settings(command, text)
    assert ask("codex").specific["updatedInput"] == {"command": "echo safe"}
    users_settings(command, "{}")
    command.trust(project.write({".claude/settings.json": text}))
    refused = ask("codex")
    assert (refused.denies, "may not change" in refused.stderr) == (True, True)


def test_a_folder_that_is_gone_is_no_way_out(command, payload, project):
    command.trust(project.write(TOML))
    (command.folder / "gone").mkdir()
    event = payload("codex", "PreToolUse", cwd=str(project.root))
    process = subprocess.run(
        ["sh", "-c", 'rmdir "$PWD"; exec "$@"', "sh", *command.arguments("run", "--agent", "codex")],
        env=command.environment,
        cwd=command.folder / "gone",
        input=json.dumps(event).encode(),
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (process.returncode, as_written(process.stderr.decode().splitlines()[0])) == (2, "not here")


@pytest.mark.parametrize(
    "files",
    [
        {"hookconf.py": "1 / 0"},
        {"hookconf.py": HOOKCONF.format(reason="")},
        {"agent-hooks.toml": "[hooks\n"},
        {"agent-hooks.toml": toml(["sh", "-c", "exit 2"], matcher="Bash")},
    ],
    ids=["broken", "silent", "no toml", "command"],
)
def test_the_name_of_a_folder_forges_no_line(command, payload, tmp_path, files):
    project = Project(tmp_path, "a\x1b[2J\u3164\nagent-hooks: trusted\u200b").write(files)
    command.trust(project)
    event = payload("claude-code", "PreToolUse", cwd=str(project.root))
    answers = (command.answer("claude-code", event), command("check", "PreToolUse", "--tool", "Bash", cwd=project.root))
    for done in answers:
        assert next(iter(files)) in done.said
        assert not [line for line in done.said.split("\n") if line.startswith("agent-hooks: trusted")]
        assert not {"\x1b", "\u3164", "\u200b"} & set(done.said)
