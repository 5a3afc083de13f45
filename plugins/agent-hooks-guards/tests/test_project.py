"""Which settings hold where."""

from __future__ import annotations

import os

import pytest
from making import about, project

import agent_hooks_guards
from agent_hooks import HookOutcome, SettingsError

NO_FETCH = '[[tool.agent_hooks.guards.blocklist]]\ntools = ["fetch"]\n'
NO_SHELL = '[[tool.agent_hooks.guards.blocklist]]\ntools = ["shell"]\n'


def decided(**fields):
    outcome = agent_hooks_guards.before_tool_use(about("x", **{"kind": "fetch", **fields}))
    return None if outcome is None else str(outcome.decision)


def test_nothing_happens_without_settings(tmp_path):
    assert decided(cwd=str(tmp_path)) is None
    assert decided(cwd=project(tmp_path / "p", '[tool.other]\nx = "agent_hooks"')) is None
    assert decided(cwd=project(tmp_path / "q", "[tool.agent_hooks]\nx = 1")) is None
    assert decided(cwd=str(tmp_path / "no such folder")) is None


def test_settings_hold_in_their_folder_and_below(tmp_path):
    folder = project(tmp_path / "p", NO_FETCH)
    (tmp_path / "p" / "src" / "deep").mkdir(parents=True)
    assert decided(cwd=folder) == "deny"
    assert decided(cwd=os.path.join(folder, "src", "deep")) == "deny"
    assert decided(cwd=os.path.join(folder, "src", "deleted")) == "deny"
    assert decided(cwd=str(tmp_path)) is None


def test_the_projects_folder_stands_before_the_working_directory(tmp_path):
    here, there = project(tmp_path / "p", NO_FETCH), project(tmp_path / "q", NO_SHELL)
    assert decided(project_dir=here, cwd=there) == "deny"
    assert decided(project_dir=there, cwd=here) is None


def test_without_either_this_processs_directory_counts(tmp_path, monkeypatch):
    monkeypatch.chdir(project(tmp_path / "p", NO_FETCH))
    assert decided() == "deny"


def test_the_nearest_file_that_has_the_table_holds(tmp_path):
    project(tmp_path / "p", NO_FETCH)
    without = project(tmp_path / "p" / "a", "")
    nearer = project(tmp_path / "p" / "b", NO_SHELL)
    assert decided(cwd=without) == "deny"
    assert decided(cwd=nearer) is None
    assert decided(cwd=nearer, kind="shell") == "deny"


def test_a_changed_file_is_read_again(tmp_path):
    folder = project(tmp_path / "p", NO_FETCH)
    assert decided(cwd=folder) == "deny"
    project(tmp_path / "p", "")
    assert decided(cwd=folder) is None
    project(tmp_path / "p", NO_FETCH)
    assert decided(cwd=folder) == "deny"
    # The same size, another time.
    project(tmp_path / "p", NO_SHELL)
    os.utime(tmp_path / "p" / "pyproject.toml", ns=(1, 1))
    assert decided(cwd=folder) is None


@pytest.mark.parametrize("broken", ["[tool.agent_hooks.guards", 'x = "\xff"', "agent_hooks = " + "[" * 5000])
def test_a_file_that_cannot_be_read_as_toml_is_an_error_naming_it(tmp_path, broken):
    (tmp_path / "pyproject.toml").write_bytes(b"# agent_hooks\n" + broken.encode("latin-1"))
    with pytest.raises(SettingsError, match=r"pyproject\.toml is not TOML, so it is not known which guards"):
        decided(cwd=str(tmp_path))


def test_a_file_that_cannot_be_opened_is_an_error_naming_it(tmp_path):
    (tmp_path / "pyproject.toml").mkdir()
    with pytest.raises(SettingsError, match=r"pyproject\.toml cannot be read"):
        decided(cwd=str(tmp_path))


def test_wrong_settings_stay_wrong_until_they_are_mended(tmp_path):
    folder = project(tmp_path / "p", "[tool.agent_hooks.guards]\nblocklst = []\n")
    for _ in range(2):
        with pytest.raises(SettingsError, match="blocklst is not a setting"):
            decided(cwd=folder)
    project(tmp_path / "p", NO_FETCH)
    assert decided(cwd=folder) == "deny"


def test_a_deny_stands_before_every_ask_and_asks_are_put_together(tmp_path):
    rules = """
[[tool.agent_hooks.guards.arguments]]
field = "url"
pattern = "^http:"
decision = "ask"
message = "Unencrypted?"
[[tool.agent_hooks.guards.arguments]]
field = "url"
pattern = "example"
decision = "ask"
message = "An example?"
[[tool.agent_hooks.guards.arguments]]
field = "url"
pattern = "evil"
message = "No."
"""
    folder = project(tmp_path / "p", rules)

    def judged(url):
        return agent_hooks_guards.before_tool_use(about("get", kind="fetch", args={"url": url}, cwd=folder))

    assert judged("https://fine.org") is None
    assert (judged("http://example.org").decision, judged("http://example.org").reason) == (
        "ask",
        "Unencrypted?\n\nAn example?",
    )
    assert (judged("http://evil.example").decision, judged("http://evil.example").reason) == ("deny", "No.")


def test_what_another_rule_denied_does_not_count_against_a_limit(tmp_path):
    folder = project(tmp_path / "p", NO_SHELL + "[[tool.agent_hooks.guards.rate_limit]]\nmax_calls = 1\n")
    assert [decided(cwd=folder, kind="shell", session_id="s") for _ in range(3)] == ["deny"] * 3
    assert [decided(cwd=folder, session_id="s") for _ in range(2)] == [None, "deny"]


def test_several_allowlists_must_all_agree(tmp_path):
    folder = project(
        tmp_path / "p",
        '[[tool.agent_hooks.guards.allowlist]]\ntools = ["read", "shell"]\n'
        '[[tool.agent_hooks.guards.allowlist]]\ntools = ["read"]\n',
    )
    assert decided(cwd=folder, kind="read") is None
    assert decided(cwd=folder, kind="shell") == "deny"


def test_the_audit_hooks_do_nothing_where_no_audit_is_asked_for(tmp_path, state_folder):
    folder = project(tmp_path / "p", NO_FETCH)
    agent_hooks_guards.audit_call(about(cwd=folder, outcome=HookOutcome()))
    agent_hooks_guards.audit_result(about(cwd=folder, outcome=HookOutcome()))
    assert not (state_folder / "audit.jsonl").exists()
