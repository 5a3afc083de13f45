"""Names of tools: those that a match lists, those of some hosts for a kind, and slips of known ones."""

from __future__ import annotations

import pytest

from agent_hooks.model.tool_names import NAMES, exact_names, host_kinds, hosts_of, meant_by
from tables import tables

TABLES = tables(__file__)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Bash", ["Bash"]),
        ("Read | Write, Edit", ["Read", "Write", "Edit"]),
        ("Read||", ["Read"]),
        ("", []),
        ("mcp__*", None),
        ("Edit.*", None),
    ],
)
def test_a_match_of_plain_names_lists_them(text, names):
    assert exact_names(text) == names


def test_a_name_of_some_hosts_stands_for_its_kind():
    assert host_kinds(["bash", "read_file"]) == {"shell", "read"}
    assert host_kinds(["shell", "no_name", "list_directory"]) == frozenset()


def test_the_hosts_of_a_name_are_told_unless_it_is_everybodys():
    assert "OpenCode" in hosts_of("bash")
    assert {"Gemini CLI", "Qwen Code"} <= {*hosts_of("run_shell_command")}
    assert [hosts_of(name) for name in ("shell", "no_name", "question")] == [[], [], []]


KNOWN = ("Read", "shell", "WebSearch", "websearch")


@pytest.mark.parametrize(("name", "meant"), TABLES["slips"])
def test_a_slip_is_an_edit_of_five_letters_or_two_of_nine(name, meant):
    assert meant_by(name, KNOWN) == meant


@pytest.mark.parametrize(("name", "meant"), [("x", ""), ("", ""), ("shellshell", ""), ("Bsh", ""), ("reads", "")])
def test_short_and_far_names_are_no_slips(name, meant):
    assert meant_by(name, NAMES) == meant
