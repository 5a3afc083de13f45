"""An exception is added to a person's own settings whole or not at all, and nothing else changes."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_hooks import SettingsError
from agent_hooks_guards.settings.own_settings import append, as_table


def names(folder):
    """What is in a folder, but for the lock."""
    return {path.name for path in folder.iterdir() if path.suffix != ".lock"}


TABLE = as_table({"rule": "git", "branch": "x"})


# Not those that are half of a character, which TOML has no way to write.
TEXTS = st.text(st.characters(exclude_categories=["Cs"]))


@given(st.dictionaries(st.sampled_from(["rule", "command", "path", "branch", "reason"]), TEXTS))
def test_any_text_comes_back_as_it_was(facts):
    assert tomllib.loads(as_table(facts)) == {"guards": {"allow": [facts]}}


@pytest.mark.parametrize(
    "before",
    ["", "# mine\n", "x = 1 # no line end", "[guards.shell]\nlevel = 'strict'\n", "[hooks]\n\n\n", "a = 1\r\n", TABLE],
)
def test_what_is_there_stays_byte_by_byte(tmp_path, before):
    path = tmp_path / "agent-hooks.toml"
    path.write_bytes(before.encode())
    append(str(path), TABLE)
    after = path.read_bytes().decode()
    assert after.startswith(before)
    assert after.endswith(TABLE)
    assert tomllib.loads(after)["guards"]["allow"][-1] == {"rule": "git", "branch": "x"}


def test_a_file_that_is_not_there_is_made_for_its_owner_only(tmp_path):
    path = tmp_path / "new" / "agent-hooks.toml"
    append(str(path), TABLE)
    assert path.read_text() == TABLE
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_the_mode_stays(tmp_path):
    path = tmp_path / "agent-hooks.toml"
    path.write_text("")
    path.chmod(0o640)
    append(str(path), TABLE)
    assert path.stat().st_mode & 0o777 == 0o640


def test_of_a_link_the_file_behind_it_is_written(tmp_path):
    real, link = tmp_path / "dotfiles" / "hooks.toml", tmp_path / "agent-hooks.toml"
    real.parent.mkdir()
    real.write_text("# mine\n")
    link.symlink_to(real)
    append(str(link), TABLE)
    assert link.is_symlink()
    assert real.read_text() == f"# mine\n\n{TABLE}"
    assert names(real.parent) == {real.name}


@pytest.mark.parametrize(
    "before",
    [
        "guards = {max_steps = 3}\n",
        "[guards]\nallow = [{rule = 'git', branch = 'y'}]\n",
        "not toml",
        "guards = 3\n",
        "[guards]\nmax_stps = 3\n",
        "[guards.shell.rules]\ngti = 'ask'\n",
        "\udcff",
    ],
)
def test_what_cannot_be_added_to_stays_as_it_is(tmp_path, before):
    path = tmp_path / "settings" / "agent-hooks.toml"
    path.parent.mkdir()
    path.write_bytes(before.encode(errors="surrogateescape"))
    with pytest.raises(SettingsError) as caught:
        append(str(path), TABLE)
    assert str(path) in str(caught.value)
    assert path.read_bytes() == before.encode(errors="surrogateescape")
    assert names(path.parent) == {path.name}


def test_a_table_that_cannot_be_added_to_is_told_with_the_text_to_add_by_hand(tmp_path):
    path = tmp_path / "agent-hooks.toml"
    path.write_text("guards = {max_steps = 3}\n")
    with pytest.raises(SettingsError, match=r"add this by hand:\n\n\[\[guards.allow\]\]"):
        append(str(path), TABLE)


def test_a_text_that_is_none_is_refused(tmp_path):
    path = tmp_path / "agent-hooks.toml"
    with pytest.raises(SettingsError, match="cannot be added to"):
        append(str(path), as_table({"rule": "git", "command": "rm \udcff"}))
    assert not path.exists()


def test_a_disk_that_refuses_leaves_the_file_as_it_is(tmp_path, monkeypatch):
    path = tmp_path / "settings" / "agent-hooks.toml"
    path.parent.mkdir()
    path.write_text("# mine\n")

    def refuse(*_arguments):
        raise OSError("the disk is full")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(SettingsError, match="the disk is full"):
        append(str(path), TABLE)
    assert path.read_text() == "# mine\n"
    assert names(path.parent) == {path.name}


def test_two_that_add_at_once_lose_nothing(tmp_path):
    path = tmp_path / "agent-hooks.toml"
    code = (
        "import sys; from agent_hooks_guards.settings.own_settings import append, as_table; "
        "[append(sys.argv[1], as_table({'rule': 'git', 'branch': f'{sys.argv[2]}-{at}'})) for at in range(5)]"
    )
    processes = [subprocess.Popen([sys.executable, "-c", code, str(path), str(each)]) for each in range(4)]
    assert [process.wait() for process in processes] == [0] * 4
    assert len(tomllib.loads(path.read_text())["guards"]["allow"]) == 20
