"""Data tables come from the copy in a wheel if it fits, and from the TOML otherwise."""

from __future__ import annotations

import marshal
import tomllib
from pathlib import Path

import pytest

import agent_hooks_guards
from agent_hooks_guards.model.tables import COPY, _loaded, load_tables, pack_tables

PACKAGE = Path(agent_hooks_guards.__file__).parent


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "one.toml").write_text('title = "One"\n[[rules]]\nid = "a"\nstops = ["rm"]\nleaves = ["ls"]\n')
    (tmp_path / "two.toml").write_text("numbers = [1, 2]\n")
    yield tmp_path
    _loaded.clear()


def load(folder):
    _loaded.clear()
    return load_tables(str(folder))


def write_stale_copy(folder):
    """Write a copy of the TOML in ``folder`` whose tables are told apart from it."""
    sources, _ = parts_of(pack_tables(str(folder)))
    tables = marshal.dumps({"stale": {}})
    (folder / COPY).write_bytes(len(tables).to_bytes(8, "big") + tables + sources)


def parts_of(copy):
    """Return the text of the TOML as bytes, and the tables."""
    size = int.from_bytes(copy[:8], "big")
    return copy[8 + size :], marshal.loads(copy[8 : 8 + size])


TABLES = {"one": {"title": "One", "rules": [{"id": "a"}]}, "two": {"numbers": [1, 2]}}


def test_a_folder_without_a_copy_is_parsed(folder):
    assert load(folder) == TABLES


def test_a_copy_is_read_instead_of_the_toml(folder, monkeypatch):
    (folder / COPY).write_bytes(pack_tables(str(folder)))
    monkeypatch.delattr(tomllib, "loads")
    assert load(folder) == TABLES


@pytest.mark.parametrize("change", ["content", "new file", "removed file", "moved text"])
def test_a_copy_of_other_toml_is_not_used(folder, change):
    write_stale_copy(folder)
    assert load(folder) == {"stale": {}}
    if change == "content":
        (folder / "two.toml").write_text("numbers = [1, 3]\n")
    elif change == "new file":
        (folder / "three.toml").write_text("")
    elif change == "removed file":
        (folder / "two.toml").unlink()
    else:
        (folder / "two.toml").rename(folder / "2.toml")
    assert "stale" not in load(folder)


def test_a_python_with_another_format_parses_the_toml(folder, monkeypatch):
    write_stale_copy(folder)
    monkeypatch.setattr("sys.implementation.cache_tag", "pypy311")
    assert load(folder) == TABLES


@pytest.mark.parametrize("copy", [b"", b"no marshal", marshal.dumps({"stale": {}}), bytes(8), b"\xff" * 99, "cut"])
def test_a_damaged_copy_is_not_used(folder, copy):
    (folder / COPY).write_bytes(pack_tables(str(folder))[:-9] if copy == "cut" else copy)
    assert load(folder) == TABLES


def test_the_copy_of_each_folder_holds_its_tables():
    folders = {path.parent for path in PACKAGE.rglob("*.toml")}
    assert PACKAGE / "rules" in folders
    for each in folders:
        assert parts_of(pack_tables(str(each)))[1] == load(each)
