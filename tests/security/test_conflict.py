"""A trusted pyproject.toml in which a merge has left conflicts: gates hold, and an agent can repair the rest of it."""

from __future__ import annotations

import json

import pytest

from commands import Command
from projects import HOOKCONF, Project, denying

TABLE = f"""
[tool.agent_hooks]
[[tool.agent_hooks.hooks.before_tool_use]]
matcher = "mcp__ops__deploy"
hooks = [{{type = "command", command = {json.dumps(denying("no deployment"))}}}]
"""
GOOD = f'[project]\nname = "x"\nversion = "1"\n{TABLE}'
OURS, THEIRS = 'version = "1"\n', 'version = "2"\n'
CONFLICT = f"<<<<<<< HEAD\n{OURS}=======\n{THEIRS}>>>>>>> theirs\n"
BROKEN = GOOD.replace(OURS, CONFLICT)
MATCHER = 'matcher = "mcp__ops__deploy"\n'
IN_TABLE = GOOD.replace(MATCHER, f'<<<<<<< HEAD\n{MATCHER}=======\nmatcher = "x"\n>>>>>>> theirs\n')
NO_WRITE = HOOKCONF.replace("{reason}", "no migration").replace("@hookimpl", "@hookimpl(match='write')")


@pytest.fixture
def command(tmp_path):
    return Command(tmp_path, forks=False)


@pytest.fixture
def project(command, tmp_path):
    files = {"pyproject.toml": GOOD, "migrations/hookconf.py": NO_WRITE}
    return command.trust(Project(tmp_path).write(files))


def asking(command, project):
    """What ``agent-hooks run`` answers to a tool call in the project."""

    def answer(tool, **arguments):
        event = {"hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": arguments, "session_id": "s"}
        return command.answer("claude-code", {**event, "cwd": str(project.root)}, cwd=project.root)

    return answer


@pytest.fixture
def answer(command, project):
    return asking(command, project)


def edit(project, old, new):
    return {"file_path": project.at("pyproject.toml"), "old_string": old, "new_string": new}


@pytest.mark.parametrize("broken", [BROKEN, IN_TABLE, GOOD + "\n[tool.other\n"])
def test_while_it_is_broken_every_gate_decides_as_it_was_trusted(project, answer, broken):
    project.write({"pyproject.toml": broken})
    assert not answer("Bash", command="git status").denies
    assert not answer("Read", file_path=project.at("pyproject.toml")).denies
    assert not answer("Write", file_path=project.at("src/app.py"), content="x").denies
    assert "no deployment" in answer("mcp__ops__deploy").reason
    assert "no migration" in answer("Write", file_path=project.at("migrations/1.sql"), content="x").reason


def test_it_is_announced_and_a_finding_that_closes_nothing(command, project, answer):
    project.write({"pyproject.toml": BROKEN})
    assert "It is not TOML" in answer("Bash", command="ls").said
    done = command("doctor", "--json", str(project.root))
    (finding,) = done.json["findings"]
    assert (done.exit_code, finding["kind"], finding["path"]) == (1, "restored", project.at("pyproject.toml"))
    assert finding["line"] == 3
    assert not finding["blocks"]


@pytest.mark.parametrize("version", [OURS, THEIRS, 'version = "3"\n', ""])
def test_an_edit_that_restores_the_trusted_table_is_let_through(project, answer, version):
    project.write({"pyproject.toml": BROKEN})
    assert not answer("Edit", **edit(project, CONFLICT, version)).denies
    whole = {"file_path": project.at("pyproject.toml"), "content": GOOD.replace(OURS, version)}
    assert not answer("Write", **whole).denies
    edits = [{"old_string": CONFLICT, "new_string": version}]
    assert not answer("MultiEdit", file_path=project.at("pyproject.toml"), edits=edits).denies


def test_so_is_one_that_takes_back_a_conflict_in_the_table(project, answer):
    project.write({"pyproject.toml": IN_TABLE})
    assert not answer("Write", file_path=project.at("pyproject.toml"), content=GOOD).denies


@pytest.mark.parametrize(
    "after",
    [
        GOOD.replace('matcher = "mcp__ops__deploy"', 'matcher = "x"'),
        '[project]\nname = "x"\n',
        BROKEN.replace(THEIRS, ""),
        GOOD.replace("[tool.agent_hooks]\n", "[tool.agent_hooks]\ndisabled = []\n"),
        "",
    ],
)
@pytest.mark.parametrize("broken", [BROKEN, IN_TABLE])
def test_any_other_edit_is_denied_and_says_who_resolves_it(project, answer, broken, after):
    project.write({"pyproject.toml": broken})
    done = answer("Write", file_path=project.at("pyproject.toml"), content=after)
    assert done.denies
    assert "a person resolves the table" in done.reason
    assert answer("Edit", **edit(project, 'matcher = "mcp__ops__deploy"', 'matcher = "y"')).denies
    assert answer("Bash", command="sed -i s/ops/x/ pyproject.toml").denies


def test_after_the_repair_it_is_trusted_as_before(command, project, answer):
    project.write({"pyproject.toml": GOOD.replace(OURS, THEIRS)})
    assert command("doctor", "--json", str(project.root)).json["findings"] == []
    assert "no deployment" in answer("mcp__ops__deploy").reason


def test_where_something_else_changed_too_nothing_of_the_project_holds(project, answer):
    project.write({"pyproject.toml": BROKEN, "migrations/hookconf.py": "x = 1\n"})
    done = answer("mcp__ops__deploy")
    assert not done.denies
    assert "files changed since they were trusted" in done.said


def test_a_table_that_nobody_trusted_does_not_hold_and_is_a_persons_to_resolve(command, tmp_path):
    project = Project(tmp_path, "other").write({"pyproject.toml": BROKEN})
    answer = asking(command, project)
    assert not answer("mcp__ops__deploy").denies
    assert "a person resolves the table" in answer("Edit", **edit(project, CONFLICT, OURS)).reason


@pytest.mark.parametrize("text", ['dependencies = ["agent_hooks_x"]\n', "description = 'a\\b'\n", ""])
def test_a_conflict_in_a_file_without_our_table_is_an_agents_to_repair(command, tmp_path, text):
    project = Project(tmp_path, "other").write({"pyproject.toml": f'[project]\nname = "x"\n{text}{CONFLICT}'})
    assert not asking(command, project)("Edit", **edit(project, CONFLICT, OURS)).denies
