"""Absolute paths by their text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_hooks_guards.model.values import UNKNOWN
from agent_hooks_guards.places.paths import Simplified, absolute
from tables import tables

TABLES = tables(__file__)

CWD = "/home/me/proj/src"


@pytest.mark.parametrize(("path", "meant"), TABLES["a_path_is_made_absolute_by_its_text"])
def test_a_path_is_made_absolute_by_its_text(path, meant):
    assert absolute(path, CWD, "/home/me") == meant


def test_a_users_home_on_a_mac_is_beside_ones_own():
    assert absolute("~you/x", "/", "/Users/me") == "/Users/you/x"


def test_a_path_below_a_folder_that_is_not_known_is_not_known():
    assert absolute("a", "", "") == f"{UNKNOWN}/a"
    assert absolute("a", UNKNOWN, "") == f"{UNKNOWN}/a"
    assert absolute("~/a", "/w", "") == f"{UNKNOWN}/a"


@pytest.mark.parametrize("path", ["a/", "a/.", "a/../b", "/a/..", "..", "~/a/"])
def test_what_a_link_may_lead_elsewhere_keeps_how_it_was_written(path):
    found = absolute(path, CWD, "/home/me")
    assert isinstance(found, Simplified)
    assert found.written.endswith(path.lstrip("~"))
    behind = absolute("x", found, "/home/me")
    assert behind == f"{found.rstrip('/')}/x"
    assert isinstance(behind, Simplified) == (".." in path)


@pytest.mark.parametrize("path", ["a", "./a", "a//b", "a/./b", "~/a", "C:/a/..", f"{UNKNOWN}/a/"])
def test_what_no_link_leads_elsewhere_is_a_plain_text(path):
    assert type(absolute(path, CWD, "/home/me")) is str


@given(st.text(alphabet=f"/.~a*\\:%${UNKNOWN}\0\ud800é", max_size=30))
def test_what_is_absolute_stays_as_it_is(path):
    once = absolute(path, "/w", "/home/me")
    assert absolute(once, "/w", "/home/me") == once
    assert once[:1] in ("/", UNKNOWN) or once[1:3] == ":/"


def test_the_folders_of_the_process_are_those_of_the_command():
    assert absolute("/proc/self/cwd/x", "/w", "") == "/w/x"
    assert absolute("/proc/self/root/etc/passwd", "/w", "") == "/etc/passwd"
