"""Which of its parent's tools a subagent has."""

from __future__ import annotations

from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st
from making import look, sh

from agent_hooks import RegistrationError, Tool
from agent_hooks.model.tools import CLAUDE_NAMES, KINDS
from agent_hooks_subagents.tool_filter import ToolFilter


def made(name, kind="other", aliases=()):
    return Tool(lambda: "", name=name, kind=kind, description="", aliases=aliases)


TOOLS = [
    look,
    sh,
    made("write_file", "write"),
    made("mcp__docs__search", "mcp"),
    made("spawn_subagent", "subagent"),
]


def left(allowed=None, disallowed=()):
    return [tool.name for tool in ToolFilter(allowed, disallowed).of(TOOLS)]


def test_without_lists_a_subagent_has_all_tools_but_those_that_start_subagents():
    assert left() == ["look", "sh", "write_file", "mcp__docs__search"]


@pytest.mark.parametrize(
    ("allowed", "names"),
    [
        (["look"], ["look"]),
        ("look, sh", ["look", "sh"]),
        ("look|shell", ["look", "sh"]),
        (["shell"], ["sh"]),
        (["Bash", "Read"], ["look", "sh"]),
        (["mcp__docs__*"], ["mcp__docs__search"]),
        ([], []),
        (["nothing"], []),
    ],
)
def test_the_allowlist_has_names_kinds_claude_codes_names_and_globs(allowed, names):
    assert left(allowed) == names


@pytest.mark.parametrize("listed", ["spawn_subagent", "subagent", "Agent", "Task"])
def test_a_tool_that_starts_subagents_must_be_named(listed):
    assert left([listed]) == ["spawn_subagent"]


def test_no_glob_names_a_tool_that_starts_subagents():
    assert "spawn_subagent" not in left(["*"])
    assert "spawn_subagent" not in left(["spawn_*"])


def test_what_both_lists_name_is_left_out():
    assert left(["look", "sh"], ["Bash"]) == ["look"]
    assert left(None, ["shell", "mcp"]) == ["look", "write_file"]


@pytest.mark.parametrize("wrong", ["Bash(git *)", "^look$"])
@pytest.mark.parametrize("key", ["tools", "disallowed_tools"])
def test_what_is_no_name_kind_or_glob_is_refused(wrong, key):
    with pytest.raises(RegistrationError, match=rf"^{key}: .* is no list of tools"):
        ToolFilter(wrong if key == "tools" else None, wrong if key == "disallowed_tools" else ())


@pytest.mark.parametrize("nothing", ["", "  ", [], [""]])
def test_a_list_of_nothing_leaves_nothing(nothing):
    assert left(nothing) == []
    assert left(None, nothing) == left()


@pytest.mark.parametrize("wrong", [[3], [None]])
def test_what_is_no_text_is_refused(wrong):
    with pytest.raises(RegistrationError, match="is no list of tools"):
        ToolFilter(wrong)


NAMES = st.sampled_from(["look", "edit_file", "mcp__docs__get", "a.b", "Bash", "x"])
WORDS = st.lists(
    st.sampled_from(
        ["look", "edit_file", "mcp__*", "*", "x?", "a.*", *KINDS, *(n for v in CLAUDE_NAMES.values() for n in v)]
    ),
    max_size=5,
)


def is_meant(tool, words):
    """The rule in one line: a word is the tool's name, its kind, Claude Code's name for that kind, or a glob of it."""
    names = {tool.name, tool.kind, *CLAUDE_NAMES.get(tool.kind, ())}
    return any(word in names or fnmatchcase(tool.name, word) for word in words)


@given(name=NAMES, kind=st.sampled_from(KINDS), allowed=st.none() | WORDS, disallowed=WORDS)
def test_a_tool_is_left_if_the_first_list_means_it_and_the_second_does_not(name, kind, allowed, disallowed):
    tool = made(name, kind)
    is_there = ToolFilter(allowed, disallowed).permits(tool)
    if is_there:
        assert allowed is None or is_meant(tool, allowed)
        assert not is_meant(tool, disallowed)
    if allowed is None and not disallowed:
        assert is_there is (kind != "subagent")


@given(name=NAMES, kind=st.sampled_from(KINDS), allowed=st.none() | WORDS, disallowed=WORDS, more=WORDS)
def test_a_longer_blocklist_never_gives_a_tool(name, kind, allowed, disallowed, more):
    tool = made(name, kind)
    if not ToolFilter(allowed, disallowed).permits(tool):
        assert not ToolFilter(allowed, [*disallowed, *more]).permits(tool)


@given(
    tools=st.lists(st.tuples(NAMES, st.sampled_from(KINDS)), unique_by=lambda one: one[0]), allowed=st.none() | WORDS
)
def test_a_subagent_never_has_a_tool_that_its_parent_lacks(tools, allowed):
    parents = [made(*one) for one in tools]
    found = ToolFilter(allowed).of(parents)
    assert found == [tool for tool in parents if tool in found]
