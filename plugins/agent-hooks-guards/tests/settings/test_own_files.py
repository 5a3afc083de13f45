"""Settings in ``agent-hooks.toml``: of a project, of the user and of the machine's owner."""

from __future__ import annotations

import os

import pytest
from making import about, own_file, project
from settings_of import NO_SHELL, OWN_FILE, OWN_NO_FETCH, OWN_NO_SHELL, about_run, decided, lines_in

import agent_hooks_guards
from agent_hooks import HookOutcome, SettingsError


def test_a_project_may_have_its_settings_in_either_file_or_in_both(tmp_path):
    folder = project(tmp_path / "p", OWN_NO_FETCH, OWN_FILE)
    (tmp_path / "p" / "src").mkdir()
    inner = os.path.join(folder, "src")
    assert [decided(kind=kind, cwd=inner) for kind in ("fetch", "shell", "read")] == ["deny", None, None]
    project(tmp_path / "p", NO_SHELL)
    assert [decided(kind=kind, cwd=inner) for kind in ("fetch", "shell", "read")] == ["deny", "deny", None]
    assert decided(cwd=str(tmp_path)) is None


@pytest.mark.parametrize("whose", ["config", "managed"])
def test_the_settings_of_the_user_and_of_the_machine_hold_everywhere(tmp_path, whose):
    own_file(tmp_path / whose, OWN_NO_FETCH)
    here = project(tmp_path / "p", NO_SHELL)
    assert [decided(kind=kind, cwd=here) for kind in ("fetch", "shell", "read")] == ["deny", "deny", None]
    assert [decided(kind=kind) for kind in ("fetch", "shell")] == ["deny", None]


def test_where_the_variable_does_not_say_the_user_has_the_platforms_folder(tmp_path, monkeypatch):
    monkeypatch.delenv("AGENT_HOOKS_CONFIG_DIR")
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    own_file(tmp_path / "home" / "agent-hooks", OWN_NO_FETCH)
    assert decided() == "deny"


def test_who_has_no_home_folder_has_no_settings_in_it(tmp_path, monkeypatch):
    monkeypatch.delenv("AGENT_HOOKS_CONFIG_DIR")
    monkeypatch.setenv("HOME", "nowhere")
    monkeypatch.setattr("platformdirs.user_config_dir", lambda *_args, **_kwargs: "~/agent-hooks")
    assert decided() is None
    own_file(tmp_path / "managed", OWN_NO_FETCH)
    assert decided() == "deny"


def test_a_variable_that_names_no_folder_denies(monkeypatch):
    monkeypatch.setenv("AGENT_HOOKS_CONFIG_DIR", "relative")
    with pytest.raises(SettingsError, match="AGENT_HOOKS_CONFIG_DIR must be an absolute path"):
        decided()


def test_the_users_file_counts_once_for_who_works_beside_it(tmp_path):
    folder = own_file(tmp_path / "config", "[[guards.rate_limit]]\nmax_calls = 2\n")
    assert [decided(cwd=folder, session_id="s") for _ in range(3)] == [None, None, "deny"]


def test_the_users_file_has_limits_a_cancellation_and_an_audit_as_any(tmp_path, state_folder):
    folder = own_file(
        tmp_path / "config", "[guards]\nmax_steps = 1\ncancel_file = 'STOP'\n[guards.audit]\npath = 'mine.jsonl'\n"
    )
    assert about_run("before_step", tmp_path) == ["Step limit reached: 2/1"]
    (tmp_path / "config" / "STOP").touch()
    assert about_run("before_execution", tmp_path) == [f"Cancellation requested: there is a file {folder}/STOP"]
    agent_hooks_guards.audit_call(about(cwd=str(tmp_path), outcome=HookOutcome()))
    assert len(lines_in(state_folder / "mine.jsonl")) == 1


@pytest.mark.parametrize("whose", ["config", "managed"])
def test_a_changed_file_of_our_own_is_read_again(tmp_path, whose):
    own_file(tmp_path / whose, OWN_NO_FETCH)
    (tmp_path / "p").mkdir(exist_ok=True)
    cwd = str(tmp_path / "p")
    assert decided(cwd=cwd) == "deny"
    own_file(tmp_path / whose, OWN_NO_SHELL)
    os.utime(tmp_path / whose / OWN_FILE, ns=(1, 1))  # the same size, another time
    assert decided(cwd=cwd) is None
    (tmp_path / whose / OWN_FILE).unlink()
    assert decided(cwd=cwd, kind="shell") is None


@pytest.mark.parametrize("whose", ["p", "config", "managed"])
@pytest.mark.parametrize(
    ("settings", "said", "line"),
    [
        ("guards = 1", "guards must be a table, not a number", 1),
        ("[guards]\nmax_step = 1", "guards.max_step is not a key here. Those there are", 2),
        ("\n\n[[guards.blocklist]]\ntools = 1", r"guards.blocklist\[0\].tools must be a valid list, not a number", 4),
    ],
)
def test_what_is_wrong_with_a_file_of_our_own_names_it_its_line_and_its_key(tmp_path, whose, settings, said, line):
    write = project if whose == "p" else own_file
    folder = write(tmp_path / whose, settings, *([OWN_FILE] if whose == "p" else []))
    (tmp_path / "p").mkdir(exist_ok=True)
    with pytest.raises(SettingsError, match=said) as caught:
        decided(cwd=str(tmp_path / "p"))
    assert str(caught.value).startswith(f"{folder}/{OWN_FILE}:{line}: ")
    assert "tool.agent_hooks.guards." not in str(caught.value)


@pytest.mark.parametrize("whose", ["config", "managed"])
def test_a_file_that_is_no_toml_is_an_error_naming_it(tmp_path, whose):
    folder = own_file(tmp_path / whose, "x = ")
    with pytest.raises(SettingsError, match=r"It is not TOML in UTF-8.*not known which guards") as caught:
        decided()
    assert str(caught.value).startswith(f"{folder}/{OWN_FILE}: ")


def test_a_pyproject_has_no_settings_at_its_top(tmp_path):
    assert decided(cwd=project(tmp_path / "p", OWN_NO_FETCH + "# agent_hooks")) is None


def test_a_file_of_our_own_that_cannot_be_read_is_an_error_naming_it(tmp_path):
    (tmp_path / "config" / OWN_FILE).mkdir(parents=True)
    with pytest.raises(SettingsError, match=r"config/agent-hooks\.toml: It cannot be read"):
        decided()
