"""``agent-hooks rules`` and ``agent-hooks allow``: what is listed, and what a person lets through, and nobody else."""

from __future__ import annotations

import json
import tomllib
from datetime import date, timedelta

import pytest
from making import about, project
from terminal import run, typed

from agent_hooks import HookManager
from agent_hooks.system.by_hand import AGENTS
from agent_hooks_guards.rules.loading import own_families
from agent_hooks_guards.settings.rule_rows import guard_rows
from tables import tables

TABLES = tables(__file__)

ALLOW = ("allow", "git-push-force", "--branch", "feature/*")
OWN_RULE = """
[[tool.agent_hooks.guards.rules]]
id = "no-deploy"
severity = "medium"
reason = "Not on Fridays."
instead = "Wait."
match = [{program = ["deploy"]}]
"""


@pytest.fixture
def settings(tmp_path):
    return tmp_path / "config" / "agent-hooks.toml"


def after(days):
    return date.today() + timedelta(days=days)  # noqa: DTZ011 - the day of whoever types


# -- rules -------------------------------------------------------------------------------------------------------------


def test_all_rules_are_listed_by_family():
    done = run("rules")
    assert (done.returncode, done.stderr) == (0, "")
    for family in own_families():
        assert f"{family.title} ({family.family})\n" in done.stdout
        for rule in family.rules:
            assert f"\n{rule.id}\t{rule.severity}\t" in done.stdout
    for row in guard_rows():
        assert f"{row.title} ({row.family})\n" in done.stdout
        assert f"\n{row.id}\t{row.severity}\t" in done.stdout
    count = sum(len(family.rules) for family in own_families()) + len(list(guard_rows()))
    assert f"{count} rules." in done.stdout


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_in_a_terminal_no_word_of_a_rule_is_broken(columns):
    code, shown = typed("", "rules", "--family", "exfiltration", columns=columns)
    assert code == 0
    assert max(map(len, shown.splitlines())) <= columns
    assert shown.split() == run("rules", "--family", "exfiltration").stdout.split()
    # A reason has 40 columns or more: it stands below where there are fewer beside the id.
    assert ("\n  exfiltration-secret           high\n" in shown) == (columns < 80)


def test_rules_are_filtered():
    rules = json.loads(run("rules", "--json", "--family", "git", "--severity", "high", "--search", "STASH").stdout)
    assert "git-stash-drop" in [rule["id"] for rule in rules]
    assert {(rule["family"], rule["severity"]) for rule in rules} == {("git", "high")}
    assert all("stash" in json.dumps(rule).lower() for rule in rules)


def test_rules_of_the_other_guards_are_filtered_and_shown():
    rules = json.loads(run("rules", "--json", "--family", "egress", "--search", "credentials").stdout)
    assert [(rule["id"], rule["decisions"]["relaxed"]) for rule in rules] == [("egress-metadata", "deny")]
    shown = run("rules", "path-outside-read", "secret-written").stdout
    assert "path-outside-read  Files: " in shown
    assert "  PATH is not in the workspace. Stay in the workspace.\n" in shown
    assert "  severity low: relaxed nothing, standard nothing, strict ask\n" in shown
    assert "  To let one case through: see [guards.paths] of an agent-hooks.toml\n" in shown
    assert "see [guards.secrets] of an agent-hooks.toml" in shown
    assert run("rules", "--family", "path", "--test").stdout == "0 examples of 0 rules, 0 wrong.\n"


def test_a_rule_is_shown_with_its_examples_and_the_way_to_allow_it():
    said = run("rules", "git-reset-hard").stdout
    assert said.startswith("git-reset-hard  ")
    assert "  severity high: relaxed deny, standard deny, strict deny\n" in said
    assert "  stops   git reset --hard\n" in said
    assert "  leaves  git reset --soft HEAD~1\n" in said
    assert "agent-hooks allow git-reset-hard --command GLOB" in said


@pytest.mark.parametrize(("arguments", "message"), TABLES["what_does_not_exist_is_a_usage_error"])
def test_what_does_not_exist_is_a_usage_error(arguments, message):
    done = run("rules", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


def test_the_rules_of_the_project_and_of_the_user_are_listed_too(tmp_path, settings, monkeypatch):
    monkeypatch.chdir(project(tmp_path / "p", OWN_RULE))
    settings.parent.mkdir(exist_ok=True)
    settings.write_text(OWN_RULE.replace("tool.agent_hooks.", "").replace("no-deploy", "my-own"))
    assert "Rules of the project (project)\nno-deploy\tmedium\t" in run("rules", "--search", "fridays").stdout
    (rule,) = json.loads(run("rules", "my-own", "--json").stdout)
    assert (rule["family"], rule["decisions"]) == ("user", {"relaxed": "nothing", "standard": "ask", "strict": "ask"})


def test_examples_are_tried(tmp_path, monkeypatch):
    examples = 'stops = ["deploy web", "ls"]\nleaves = ["deploy\\u001b --help", "deploy x"]\nmatch = '
    monkeypatch.chdir(project(tmp_path / "p", OWN_RULE.replace("match = ", examples)))
    done = run("rules", "--family", "project", "--test")
    assert done.returncode == 1
    assert done.stdout.startswith("no-deploy: does not stop  ls\nno-deploy: does not leave  deploy x\n")
    assert done.stdout.endswith("4 examples of 1 rules, 2 wrong.\n")
    assert "\x1b" not in done.stdout
    assert run("rules", "git-reset-hard", "--test").stdout.endswith(", 0 wrong.\n")


def test_wrong_settings_are_told_by_file(tmp_path, monkeypatch):
    monkeypatch.chdir(project(tmp_path / "p", "[tool.agent_hooks.guards.shell.rules]\ngti = 'deny'\n"))
    done = run("rules")
    assert (done.returncode, done.stdout) == (1, "")
    assert "p/pyproject.toml:5: the settings [tool.agent_hooks.guards] are wrong." in done.stderr
    assert "tool.agent_hooks.guards.shell.rules.gti: there is no rule and no family 'gti'" in done.stderr


def test_exceptions_are_listed_with_those_that_ended(settings):
    settings.parent.mkdir(exist_ok=True)
    settings.write_text(
        f"[[guards.allow]]\nrule = 'git'\nbranch = 'x'\nuntil = {after(0)}\nreason = 'now'\n"
        f"[[guards.allow]]\nrule = 'disks'\ncommand = 'dd *'\nuntil = {after(-1)}\n"
        "[[guards.allow]]\nrule = 'git-clean'\npath = '/srv/build'\n"
    )
    done = run("rules", "--exceptions")
    assert done.stdout.splitlines() == [
        f"holds  git  branch 'x' until {after(0)} (user): now",
        f"ended  disks  command 'dd *' until {after(-1)} (user)",
        "holds  git-clean  path '/srv/build', with no end (user)",
        f"2 exceptions hold, 1 ended. Those of your own are in {settings}.",
    ]
    facts = json.loads(run("rules", "--exceptions", "--json").stdout)
    assert [(each["rule"], each["holds"]) for each in facts] == [("git", True), ("disks", False), ("git-clean", True)]


# -- allow -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("answer", ["y\n", "yes\n"])
def test_a_person_who_says_yes_lets_it_through(settings, answer):
    code, shown = typed(answer, *ALLOW, "--days", "7", "--reason", 'rebasing "it"')
    assert code == 0
    assert f"This is added to {settings}:" in shown
    assert f"until = {after(7)}" in shown
    assert "Written." in shown
    assert tomllib.loads(settings.read_text())["guards"]["allow"] == [
        {"rule": "git-push-force", "branch": "feature/*", "until": after(7), "reason": 'rebasing "it"'}
    ]
    assert settings.stat().st_mode & 0o777 == 0o600
    hooks = HookManager().hooks(ask="host")
    decisions = [
        str(hooks.dispatch_sync(about(kind="shell", args={"command": f"git push --force origin {name}"})).decision)
        for name in ("feature/x", "main")
    ]
    assert decisions == ["proceed", "deny"]


@pytest.mark.parametrize("answer", ["n\n", "\n", "no\n", "maybe\nn\n", "\x04"])
def test_anything_else_does_not(settings, answer):
    code, shown = typed(answer, *ALLOW)
    assert code == 1
    assert "Written." not in shown
    assert not settings.exists()


def test_the_next_day_is_the_last_unless_one_says_otherwise(settings):
    typed("y\n", *ALLOW)
    typed("y\n", *ALLOW, "--days", "0")
    typed("y\n", *ALLOW, "--until", str(after(30)))
    days = [each["until"] for each in tomllib.loads(settings.read_text())["guards"]["allow"]]
    assert days == [after(1), after(0), after(30)]


@pytest.mark.parametrize("variable", AGENTS)
def test_where_an_agent_runs_it_nobody_is_asked(settings, variable):
    code, shown = typed("y\n", *ALLOW, columns=80, question="[y/N]: ", **{variable: "1"})
    assert code == 1
    assert f"{AGENTS[variable]} runs this command" in shown
    assert "[y/N]" not in shown
    assert not settings.exists()


def test_without_a_terminal_nothing_is_written_and_the_text_is_told(settings):
    done = run(*ALLOW)
    assert (done.returncode, done.stdout) == (1, "")
    assert "Only a person lets something through, in a terminal. Nothing was written." in done.stderr
    assert f'{settings}:\n\n[[guards.allow]]\nrule = "git-push-force"\nbranch = "feature/*"\n' in done.stderr
    assert not settings.exists()


@pytest.mark.parametrize(("arguments", "message"), TABLES["what_is_too_wide_or_wrong_is_a_usage_error"])
def test_what_is_too_wide_or_wrong_is_a_usage_error(settings, arguments, message):
    code, shown = typed("y\n", "allow", *arguments, COLUMNS="200")
    assert code == 2
    assert message in shown
    assert "[y/N]" not in shown
    assert not settings.exists()


def test_a_rule_of_ones_own_can_be_named(settings):
    settings.parent.mkdir(exist_ok=True)
    settings.write_text(OWN_RULE.replace("tool.agent_hooks.", ""))
    code, _ = typed("y\n", "allow", "no-deploy", "--command", "deploy --staging")
    assert code == 0
    hooks = HookManager().hooks(ask="host")
    decisions = [
        str(hooks.dispatch_sync(about(kind="shell", args={"command": command})).decision)
        for command in ("deploy --staging", "deploy --production")
    ]
    assert decisions == ["proceed", "ask"]
