"""What `agent-hooks doctor` shows of the settings of the guards."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from making import project

import agent_hooks_guards
from agent_hooks import load
from agent_hooks.cli.doctor_ci import show_ci
from agent_hooks_guards.settings.own_findings import findings

TODAY = date.today()  # noqa: DTZ011 - as the exceptions count it


@pytest.fixture
def settings(tmp_path):
    path = tmp_path / "config" / "agent-hooks.toml"
    path.parent.mkdir()
    return path


def exception(until):
    return f'[[guards.allow]]\nrule = "git-clean"\ncommand = "git clean*"\n{until}\n'


@pytest.mark.parametrize(
    ("until", "kind", "says"),
    [
        (f"until = {TODAY - timedelta(days=1)}", "ended-exception", "lets nothing through any more"),
        (f"until = {TODAY}", "ending-exception", "the last day today"),
        (f"until = {TODAY + timedelta(days=1)}", "", ""),
        ("", "", ""),
    ],
)
def test_an_exception_that_has_ended_or_ends_today_is_a_finding(settings, tmp_path, until, kind, says):
    settings.write_text(exception(until), encoding="utf-8")
    found = agent_hooks_guards.agent_hooks_findings(str(tmp_path))
    assert [each.kind for each in found] == ([kind] if kind else [])
    for each in found:
        assert each.path == str(settings)
        assert f"from git-clean for command 'git clean*' {'ended on' if 'ended' in kind else ''}" in each.message
        assert says in each.message
        assert each.remedy
        assert not each.blocks


@pytest.mark.parametrize(
    ("rule", "meant"),
    [
        ('[[guards.blocklist]]\ntools = ["read", "shel"]\n', "shell"),
        ('[[guards.arguments]]\nfield = "command"\npattern = "x"\nmatcher = "BASH"\n', "Bash"),
        ('[[guards.rate_limit]]\nmax_calls = 1\nmatcher = "WebFecth"\n', "WebFetch"),
        ('[[guards.blocklist]]\ntools = ["shell|shel", "delete_db", "mcp__x", "sh*", "bash"]\n', ""),
    ],
)
def test_a_slip_of_the_name_of_a_tool_is_a_finding(settings, tmp_path, rule, meant):
    settings.write_text(rule, encoding="utf-8")
    found = findings(str(tmp_path))
    assert [(each.kind, each.path, each.remedy) for each in found] == (
        [("unknown-tool", str(settings), f"Did you mean {meant!r}?")] if meant else []
    )
    assert all(each.line for each in found)


def test_settings_that_are_wrong_are_findings_of_the_core_beside_what_can_be_read(settings, tmp_path):
    settings.write_text(exception(f"until = {TODAY - timedelta(days=1)}"), encoding="utf-8")
    folder = project(tmp_path / "p", "[guards]\nmax_step = 3\n[guards.shell]\nlevel = 'lax'\n", "agent-hooks.toml")
    assert [each.kind for each in findings(folder)] == ["ended-exception"]
    wrong = [each for each in load(folder).findings if each.kind == "wrong-settings"]
    assert all(each.must_be_repaired for each in wrong)
    assert sorted((each.path, each.line, each.remedy) for each in wrong) == [
        (f"{folder}/agent-hooks.toml", 2, "Did you mean 'max_steps'?"),
        (f"{folder}/agent-hooks.toml", 4, "Did you mean 'relaxed'?"),
    ]


def test_where_nothing_is_said_nothing_is_found(tmp_path):
    assert findings(str(tmp_path)) == []


def test_a_key_that_means_another_is_an_error_before_anybody_trusts_the_project(tmp_path, monkeypatch, capsys):
    rules = '[[guards.rules]]\nid = "x"\n[[guards.rules.match]]\nprogram = ["git"]\nsub = ["push"]\n'
    (tmp_path / "agent-hooks.toml").write_text(rules, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert show_ci(str(tmp_path), as_json=False) == 1
    said = capsys.readouterr().out
    assert "agent-hooks.toml:5: error: guards.rules[0].match[0].sub is not a key here." in said
    assert "Did you mean 'subcommand'?" in said
