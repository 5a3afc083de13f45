"""What plugins are told by the user's and the machine's files, and by nobody else."""

from __future__ import annotations

import os
from typing import Any

import pytest

from agent_hooks import HookContext, SettingsError
from agent_hooks.model.values import thaw
from agent_hooks.sources.files import ProjectSource
from agent_hooks.sources.plugin_settings import (
    PluginTable,
    has_tables,
    hold_project,
    own_tables,
    plain_settings,
    plugin_tables,
    validated,
)
from agent_hooks.trust.trust_store import TrustStore


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


def plain(name: str) -> dict[str, Any]:
    """The keys of this table in the user's and the machine's files."""
    found: dict[str, Any] = {}
    for table in own_tables(name):
        if table.problem:
            raise SettingsError(table.problem)
        found |= thaw(table.settings)
    return found


def test_where_no_file_says_anything_there_is_nothing(write):
    assert plain("prompts") == {}
    write("user", "disabled = []\n[guards]\nmax_steps = 3\n")
    assert plain("prompts") == {}


def test_the_users_table_is_as_toml_has_it(write):
    write("user", "[prompts]\nfast = 'openai:a'\nlist = [1, {x = 2}]\n")
    assert plain("prompts") == {"fast": "openai:a", "list": [1, {"x": 2}]}


@pytest.mark.parametrize("whose", ["user", "managed"])
def test_a_file_that_cannot_be_read_is_an_error_that_names_it(write, whose):
    path = write(whose, "[prompts\nfast = 'openai:a'\n")
    with pytest.raises(SettingsError, match="It is not TOML in UTF-8") as caught:
        plain("prompts")
    assert path in str(caught.value)


def test_a_file_of_the_machine_that_others_can_write_is_an_error(write, monkeypatch):
    write("managed", "[prompts]\nfast = 'openai:a'\n")
    monkeypatch.setattr("agent_hooks.sources.files._other_writer", lambda path: "somebody can change it")
    with pytest.raises(SettingsError, match="somebody can change it"):
        plain("prompts")


def test_a_mistake_elsewhere_in_the_file_changes_nothing(write):
    write("user", "hokks = 3\n[policy]\ntimeout = 'soon'\n[prompts]\nfast = 'openai:a'\n")
    assert plain("prompts") == {"fast": "openai:a"}


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands until it is moved on."""
    now = [100.0]
    monkeypatch.setattr("agent_hooks.sources.plugin_settings.LOOK_AGAIN", 0.25)
    monkeypatch.setattr("agent_hooks.sources.plugin_settings.monotonic", lambda: now[0])
    return now


def test_files_are_looked_at_again_after_a_quarter_of_a_second(write, clock):
    write("user", "[prompts]\nfast = 'openai:a'\n")
    assert plain("prompts") == {"fast": "openai:a"}
    write("user", "[prompts]\nfast = 'openai:other'\n")
    clock[0] += 0.24
    assert plain("prompts") == {"fast": "openai:a"}
    clock[0] += 0.02
    assert plain("prompts") == {"fast": "openai:other"}


def test_a_table_asked_for_later_is_as_old_as_the_others(write, clock):
    write("user", "[a]\nx = 1\n[b]\nx = 1\n")
    assert plain("a") == {"x": 1}
    clock[0] += 0.2
    assert plain("b") == {"x": 1}
    write("user", "[a]\nx = 2\n[b]\nx = 2\n")
    clock[0] += 0.1
    assert (plain("a"), plain("b")) == ({"x": 2}, {"x": 2})


def test_whether_a_file_says_anything_about_a_plugin_follows_the_file(write, clock):
    assert not has_tables("a")
    write("user", "[a]\nx = 1\n")
    assert not has_tables("a")
    clock[0] += 0.26
    assert has_tables("a")
    assert not has_tables("b")


def test_an_unreadable_file_may_say_something_about_any_plugin(write):
    write("user", "[a\n")
    assert has_tables("a")


def test_another_folder_is_looked_at_at_once(write, clock, tmp_path, monkeypatch):
    write("user", "[prompts]\nfast = 'openai:a'\n")
    assert plain("prompts") == {"fast": "openai:a"}
    monkeypatch.setenv("AGENT_HOOKS_CONFIG_DIR", str(tmp_path / "elsewhere"))
    assert plain("prompts") == {}


# -- projects, and several files of the user -------------------------------------------------------------------------


def _of_project(write, text: str) -> str:
    path: str = write("project", text)
    store = TrustStore()
    store.trust(store.discover(os.path.dirname(path)))
    hold_project(ProjectSource(os.path.dirname(path)))
    return path


def test_tables_are_those_of_projects_and_files_with_their_lines(write, tmp_path):
    write("user", "\n[house]\nx = 1\n")
    path = _of_project(write, "[house]\ny = [1]\n\n[[house.z]]\na = 2\n")
    ctx = HookContext("setup", cwd=os.path.dirname(path))
    elsewhere = HookContext("setup", cwd=str(tmp_path))
    inner, own = plugin_tables("house", ctx)
    assert (inner.origin("z", 0, "a"), inner.root) == (f"{path}:5", os.path.dirname(path))
    assert (own.origin("x"), plugin_tables("house", elsewhere)) == (f"{own.path}:3", [own])


def test_an_unreadable_file_is_an_error(write):
    write("user", "[prompts\n")
    with pytest.raises(SettingsError, match="It is not TOML"):
        plain("prompts")


def test_of_two_files_of_the_user_the_other_has_an_empty_table(write, tmp_path, monkeypatch):
    path = write("user", "[house]\nx = 1\n")
    other = tmp_path / "other"
    other.mkdir()
    (other / "agent-hooks.toml").write_text("[else]\n")
    folders = (os.path.dirname(path), str(other))
    monkeypatch.setattr("agent_hooks.sources.files.config_dirs", lambda: folders)
    ctx = HookContext("setup", cwd=str(tmp_path))
    assert [table.settings for table in plugin_tables("house", ctx)] == [{"x": 1}, {}]


# -- validated settings ------------------------------------------------------------------------------------------------

_calls: list[PluginTable] = []


def _checked(table: PluginTable) -> Any:
    _calls.append(table)
    if "wrong" in table.settings:
        raise SettingsError("It is wrong.")
    return {"sum": sum(table.settings.values()), "from": (table.path, None)}


def _table(name: str = "house") -> PluginTable:
    (table,) = plugin_tables(name, HookContext("setup"))
    return table


def test_a_table_is_validated_once_for_each_content(write):
    _calls.clear()
    write("user", "[house]\nx = 1\n")
    first = validated(_table(), _checked)
    assert validated(_table(), _checked) is first
    assert first["sum"] == 1
    path = write("user", "[house]\nx = 1\nyy = 22\n")
    assert validated(_table(), _checked) == {"sum": 23, "from": (path, None)}
    assert len(_calls) == 2


def test_a_line_that_moved_is_another_content(write):
    _calls.clear()
    write("user", "[house]\nx = 1\n")
    validated(_table(), _checked)
    write("user", "\n[house]\nx = 1\n")
    validated(_table(), _checked)
    assert len(_calls) == 2


def test_an_error_is_raised_anew_and_not_remembered(write):
    _calls.clear()
    write("user", "[house]\nwrong = 1\n")
    for _ in range(2):
        with pytest.raises(SettingsError, match="It is wrong"):
            validated(_table(), _checked)
    assert len(_calls) == 2


# -- without a model ---------------------------------------------------------------------------------------------------

PLAIN = {"most": int, "seconds": float, "inner": {"level": (("off", "low", "high"), "low")}, "empty": {}}


@pytest.mark.parametrize(
    ("settings", "found"),
    [
        ({}, {}),
        ({"most": 0, "seconds": 3}, {"most": 0, "seconds": 3.0}),
        ({"inner": {"level": "high"}, "empty": {}}, {"inner": {"level": "high"}, "empty": {}}),
        ({"seconds": 0.5}, {"seconds": 0.5}),
        # Of the wrong type, out of bounds, unknown, or no table.
        *(({"most": value}, None) for value in (True, 1.0, -1, 2**53, "1", ["1"], {"most": 1})),
        *(({"seconds": value}, None) for value in (False, -0.5, float("nan"), float("inf"), 10**400, "1")),
        *(({"inner": value}, None) for value in ({"level": "mid"}, {"level": ["low"]}, {"lvl": "low"}, ["low"], 1)),
        *(({key: value}, None) for key, value in (("empty", {"x": 1}), ("other", 1), ("", ""))),
        *((value, None) for value in ("most", 1, [], [{"most": 1}])),
    ],
)
def test_plain_settings_need_no_model_and_all_others_do(settings, found):
    given = PluginTable(name="house", path="/p", source="user", settings=settings)
    assert repr(plain_settings(given, PLAIN)) == repr(found)  # 3 is no 3.0 there


@pytest.mark.parametrize(
    ("source", "plain"),
    [("project", ["low", "high"]), ("user", ["off", "low", "high"]), ("managed", ["off", "low", "high"])],
)
def test_what_a_project_may_not_say_is_not_plain(source, plain):
    tables = {
        level: PluginTable(name="house", path="/p", source=source, settings={"inner": {"level": level}})
        for level in ("off", "low", "high")
    }
    assert [level for level, table in tables.items() if plain_settings(table, PLAIN) is not None] == plain
