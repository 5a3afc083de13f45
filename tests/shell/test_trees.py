"""The trees of words and commands."""

from __future__ import annotations

import pytest

from agent_hooks.shell.quoting import decode_ansi
from shell_trees import outline, parse
from tables import rows, tables

TABLES = tables(__file__)


@pytest.mark.parametrize(("text", "expected"), rows(TABLES["words"]))
def test_a_word_is_its_parts(text, expected):
    [item] = parse(f"echo {text}").items
    assert outline(item.node.words) == ["echo", expected]


@pytest.mark.parametrize(("text", "expected"), rows(TABLES["commands"]))
def test_a_command_line_is_its_commands(text, expected):
    assert outline(parse(text)) == expected


@pytest.mark.parametrize(("text", "redirect"), TABLES["redirections"])
@pytest.mark.parametrize("place", ["cmd a {}", "{} cmd a", "cmd {} a", "cmd a {}; b", "cmd a {}&& b"])
def test_redirections_stand_anywhere_in_a_command(text, redirect, place):
    assert outline(parse(place.format(text)))[0] == {"Simple": {"words": ["cmd", "a"], "redirects": [redirect]}}


@pytest.mark.parametrize(("text", "resolved"), [*TABLES["escapes"], ("\\xff", "\udcff")])
def test_ansi_escapes(text, resolved):
    assert decode_ansi(text) == resolved
