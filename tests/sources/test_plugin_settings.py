"""What plugins are told by the user's and the machine's files, and by nobody else."""

from __future__ import annotations

import pytest

from agent_hooks import SettingsError, plugin_settings


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Write the user's, the machine's, or a project's file."""
    folders = {name: tmp_path / name for name in ("user", "managed", "project")}
    monkeypatch.setenv("AGENT_HOOKS_CONFIG_DIR", str(folders["user"]))
    monkeypatch.setattr("agent_hooks.sources.files.managed_dir", lambda: str(folders["managed"]))
    monkeypatch.setattr("agent_hooks.sources.files._other_writer", lambda path: "")
    for folder in folders.values():
        folder.mkdir()
    monkeypatch.chdir(folders["project"])

    def write(whose: str, text: str) -> str:
        path = folders[whose] / "agent-hooks.toml"
        path.write_text(text)
        return str(path)

    return write


def test_where_no_file_says_anything_there_is_nothing(write):
    assert plugin_settings("prompts") == {}
    write("user", "disabled = []\n[guards]\nmax_steps = 3\n")
    assert plugin_settings("prompts") == {}


def test_the_users_table_is_as_toml_has_it(write):
    write("user", "[prompts]\nfast = 'openai:a'\nlist = [1, {x = 2}]\n")
    assert plugin_settings("prompts") == {"fast": "openai:a", "list": [1, {"x": 2}]}


def test_a_key_of_the_machine_is_not_the_users_to_set(write):
    write("user", "[prompts]\nfast = 'openai:a'\ncareful = 'openai:b'\n")
    write("managed", "[prompts]\nfast = 'anthropic:c'\n")
    assert plugin_settings("prompts") == {"fast": "anthropic:c", "careful": "openai:b"}


def test_a_project_is_not_asked(write):
    write("project", "[prompts]\nfast = 'evil:model'\n")
    assert plugin_settings("prompts") == {}


def test_what_is_returned_can_be_changed_and_changes_nothing(write):
    write("user", "[prompts]\nlist = [1]\n")
    plugin_settings("prompts")["list"].append(2)
    assert plugin_settings("prompts") == {"list": [1]}


@pytest.mark.parametrize("whose", ["user", "managed"])
def test_a_file_that_cannot_be_read_is_an_error_that_names_it(write, whose):
    path = write(whose, "[prompts\nfast = 'openai:a'\n")
    with pytest.raises(SettingsError, match="It is not TOML in UTF-8") as caught:
        plugin_settings("prompts")
    assert path in str(caught.value)


def test_a_file_of_the_machine_that_others_can_write_is_an_error(write, monkeypatch):
    write("managed", "[prompts]\nfast = 'openai:a'\n")
    monkeypatch.setattr("agent_hooks.sources.files._other_writer", lambda path: "somebody can change it")
    with pytest.raises(SettingsError, match="somebody can change it"):
        plugin_settings("prompts")


def test_a_mistake_elsewhere_in_the_file_changes_nothing(write):
    write("user", "hokks = 3\n[policy]\ntimeout = 'soon'\n[prompts]\nfast = 'openai:a'\n")
    assert plugin_settings("prompts") == {"fast": "openai:a"}


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands until it is moved on."""
    now = [100.0]
    monkeypatch.setattr("agent_hooks.sources.plugin_settings.LOOK_AGAIN", 0.25)
    monkeypatch.setattr("agent_hooks.sources.plugin_settings.monotonic", lambda: now[0])
    return now


def test_files_are_looked_at_again_after_a_quarter_of_a_second(write, clock):
    write("user", "[prompts]\nfast = 'openai:a'\n")
    assert plugin_settings("prompts") == {"fast": "openai:a"}
    write("user", "[prompts]\nfast = 'openai:other'\n")
    clock[0] += 0.24
    assert plugin_settings("prompts") == {"fast": "openai:a"}
    clock[0] += 0.02
    assert plugin_settings("prompts") == {"fast": "openai:other"}


def test_a_table_asked_for_later_is_as_old_as_the_others(write, clock):
    write("user", "[a]\nx = 1\n[b]\nx = 1\n")
    assert plugin_settings("a") == {"x": 1}
    clock[0] += 0.2
    assert plugin_settings("b") == {"x": 1}
    write("user", "[a]\nx = 2\n[b]\nx = 2\n")
    clock[0] += 0.1
    assert (plugin_settings("a"), plugin_settings("b")) == ({"x": 2}, {"x": 2})


def test_another_folder_is_looked_at_at_once(write, clock, tmp_path, monkeypatch):
    write("user", "[prompts]\nfast = 'openai:a'\n")
    assert plugin_settings("prompts") == {"fast": "openai:a"}
    monkeypatch.setenv("AGENT_HOOKS_CONFIG_DIR", str(tmp_path / "elsewhere"))
    assert plugin_settings("prompts") == {}
