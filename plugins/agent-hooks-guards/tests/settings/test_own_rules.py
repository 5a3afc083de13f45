"""Rules of settings files in their short form: a program, what it must not do, and why."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner
from making import about, load, own_file, project, trust
from settings_of import OWN_FILE

import agent_hooks_guards
from agent_hooks.cli.cases import show_cases
from agent_hooks.cli.commands import init_command
from agent_hooks_guards.settings.commands import rules_command

NO_PUSH = """
[[guards.rules]]
program = ["git"]
subcommand = ["push"]
reason = "Pushing is for people."
"""
BOTH_FORMS = f"""
[[guards.rules]]
id = "no-deploy"
severity = "high"
reason = "Deployments are for people."
instead = "Open a change."
match = [{{program = ["deploy"]}}]
{NO_PUSH}"""


def decided(command, cwd):
    outcome = agent_hooks_guards.before_tool_use(about(kind="shell", args={"command": command}, cwd=str(cwd)))
    return None if outcome is None else (str(outcome.decision), outcome.reason)


def test_four_lines_of_the_user_deny_a_command_and_say_where_they_stand(tmp_path):
    folder = own_file(tmp_path / "config", NO_PUSH)
    assert decided("git -C . push", tmp_path) == ("deny", f"Pushing is for people. [{folder}/{OWN_FILE}:2]")
    assert decided("git log $X", tmp_path) is None


def test_a_projects_rule_counts_beside_the_user_s_and_in_either_form(tmp_path):
    folder = project(tmp_path / "p", BOTH_FORMS, OWN_FILE)
    assert decided("sh -c 'git push'", folder) == ("deny", f"Pushing is for people. [{folder}/{OWN_FILE}:9]")
    assert "[no-deploy]" in decided("deploy", folder)[1]
    assert decided("git status", folder) is None


def test_a_rule_may_ask(tmp_path):
    own_file(tmp_path / "config", NO_PUSH + 'decision = "ask"\n')
    assert decided("git push", tmp_path)[0] == "ask"


def test_it_is_listed_with_the_place_where_it_is_changed(tmp_path, monkeypatch):
    folder = project(tmp_path / "p", BOTH_FORMS, OWN_FILE)
    load(folder)
    monkeypatch.chdir(folder)
    shown = CliRunner().invoke(rules_command, ["git push"]).output
    assert f"{folder}/{OWN_FILE}:9" in shown
    assert "Pushing is for people." in shown
    listed = json.loads(CliRunner().invoke(rules_command, ["--family", "project", "--json"]).output)
    assert [row["id"] for row in listed] == ["no-deploy", "git push"]


# -- agent-hooks init --------------------------------------------------------------------------------------------------


def init(*options):
    return CliRunner().invoke(init_command, options)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    made = tmp_path / "p"
    made.mkdir()
    monkeypatch.chdir(made)
    return made


def test_init_writes_a_rule_and_cases_that_are_decided_as_it_says(folder):
    assert init().exit_code == 0
    assert init("--deny", "frobctl drop ns --force -f", "--deny", "terraform", "--reason", "Nö.").exit_code == 0
    trust(folder)
    assert show_cases("cases.toml", cwd=".", agent="claude-code", as_json=False) == 0
    assert (folder / "cases.toml").read_text().count("[[case]]") == 9
    assert decided("frobctl drop ns x -f", folder) == ("deny", f"Nö. [{folder}/{OWN_FILE}:6]")
    assert decided("frobctl drop ns x", folder) is None


def test_init_adds_to_a_file_what_fits_and_leaves_it_as_it_is_otherwise(folder):
    (folder / OWN_FILE).write_text('ignore = []  # "mine"')
    again = init()
    assert (again.exit_code, "`agent-hooks init --deny COMMAND` adds a rule to it" in again.stderr) == (1, True)
    assert init("--deny", "git push").exit_code == 0
    assert (folder / OWN_FILE).read_text().startswith('ignore = []  # "mine"\n\n[[guards.rules]]\nprogram = ["git"]\n')

    for wrong in ("guards = 1\n", "x = [\n"):
        (folder / OWN_FILE).write_text(wrong)
        refused = init("--deny", "git push")
        assert (refused.exit_code, "stays as it is, this does not fit" in refused.stderr) == (1, True), refused.output
        assert (folder / OWN_FILE).read_text() == wrong
    assert (folder / "cases.toml").read_text().count("[[case]]") == 3
