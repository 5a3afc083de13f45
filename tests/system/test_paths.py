"""Paths of events: what a system can have, and any other text."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_hooks import HookContext, ToolCall
from agent_hooks.engine.matchers import DirectoryMatcher
from agent_hooks.model.touched_paths import touched_paths
from agent_hooks.system.paths import expanded, folders_above, is_below, places_of, real_path

pytestmark = pytest.mark.interpreter

HALF = "\ud800"
NO_NAMES = [HALF, "\0", f"~{HALF}", "~\0", f"a/{HALF}/../b", f"~/{HALF}"]


def test_links_are_resolved(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "folder")
    assert real_path(f"{tmp_path}/link/x") == f"{os.path.realpath(tmp_path)}/folder/x"
    assert real_path(f"{tmp_path}/link/{HALF}/../x") == f"{os.path.realpath(tmp_path)}/folder/x"


@pytest.mark.parametrize("name", NO_NAMES)
def test_what_no_file_can_have_for_a_name_is_taken_by_its_text(name):
    assert real_path(f"/nowhere/{name}") == os.path.normpath(f"/nowhere/{name}")


def test_a_home_is_put_in_where_there_is_one(monkeypatch):
    monkeypatch.setenv("HOME", "/home/me")
    assert expanded("~/a") == "/home/me/a"
    assert expanded(f"~/{HALF}") == f"/home/me/{HALF}"
    assert (expanded(f"~{HALF}/a"), expanded("~\0")) == (f"~{HALF}/a", "~\0")


@given(
    st.text(st.characters(), min_size=1) | st.sampled_from(NO_NAMES),
    st.text(st.characters()) | st.sampled_from(NO_NAMES),
)
def test_no_text_is_too_odd_for_a_path(path, cwd):
    call = ToolCall("Read", {"file_path": path})
    ctx = HookContext.before_tool_use(None, call, cwd=cwd)
    assert len(touched_paths(ctx)) in (0, 1, 2)
    assert DirectoryMatcher("/nowhere/at/all").matches(ctx) is False


def test_a_path_is_below_its_folder_and_not_below_one_whose_name_it_continues():
    assert [is_below(path, "/a/b") for path in ("/a/b", "/a/b/c", "/a/bc", "/a")] == [True, True, False, False]
    assert is_below("/a", "/")


def test_folders_above_a_path_come_from_the_inner_one_to_the_root():
    assert list(folders_above("/a/b/c")) == ["/a/b", "/a", "/"]


def test_the_places_of_a_path_are_the_folders_on_the_way_and_behind_its_links(tmp_path):
    folder = os.path.realpath(tmp_path)
    for name in ("real", "links"):
        os.mkdir(f"{folder}/{name}")
    os.symlink("../real/file", f"{folder}/links/one")
    os.symlink(f"{folder}/links/one", f"{folder}/two")
    found = list(places_of(f"{folder}/two"))
    assert found[:3] == [f"{folder}/two", f"{folder}/links/one", folder]
    assert {os.path.realpath(place) for place in found} >= {f"{folder}/real/file", f"{folder}/real", f"{folder}/links"}
    assert found.count(folder) == 1
    assert "/" in found
