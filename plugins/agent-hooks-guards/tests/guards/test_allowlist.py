"""The allowlist: nothing outside it ever passes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from making import about, judged

from agent_hooks import HookContext, RegistrationError, ToolCall
from agent_hooks.model.tools import CLAUDE_NAMES, KINDS, is_trusted_name
from agent_hooks_guards import ToolAllowlist

NAMES = {"read_file", "files.read", "mcp__docs__search", "shell"}
CLAUDE = {name for names in CLAUDE_NAMES.values() for name in names}

# Names that come close: parts of the listed ones put together with all that has a meaning somewhere.
pieces = st.sampled_from(
    [*NAMES, "read", "file", ".", "::", "/", "|", ",", " ", "*", "\n", "\u200b", "\uff32", "_", "evil", ""]
)
names = st.lists(pieces, max_size=4).map("".join) | st.text(max_size=30)


def denied(tools, context):
    outcome = ToolAllowlist(tools).execute(context)
    return outcome is not None and outcome.decision == "deny"


def test_a_tool_that_is_not_listed_is_denied_with_its_name_in_the_reason():
    outcome = judged(ToolAllowlist(["read_file"]), about("write_file"))
    assert outcome.decision == "deny"
    assert outcome.reason == 'Tool "write_file" is not on the list of permitted tools.'


@pytest.mark.parametrize(
    ("text", "context"),
    [
        ("read_file", about("read_file")),
        ("read_file | write_file,list", about("list")),
        ("files.read", about("files.read")),
        ("read", about("view", kind="read")),
        ("Read", about("view", kind="read")),
        ("mcp__docs__*", about("mcp__docs__search", kind="mcp")),
        ("mcp__docs__.*", about("mcp__docs__search", kind="mcp")),
        ("mcp__a__*, mcp__docs__* | x", about("mcp__docs__search", kind="mcp")),
        ("old", about("new", aliases=("old",))),
        ("*", about("anything.at/all:here-1")),
        ("edit|write", about("apply_patch", kind="edit", args={"input": "*** Add File: a\n*** Update File: b"})),
    ],
)
def test_what_is_listed_passes(text, context):
    assert ToolAllowlist([text]).execute(context) is None


@pytest.mark.parametrize(
    ("text", "context"),
    [
        ("read", about("evil.read", kind="mcp")),
        ("read_file", about("evil/read_file")),
        ("files.read", about("filesXread")),
        ("files.read", about("files.read_all")),
        ("mcp__docs__[a-z]+", about("evil_mcp__docs__search")),
        ("mcp__docs__[a-z]+", about("mcp__docs__search.evil")),
        ("*", about("B\u0430sh with a Cyrillic letter")),
        ("*", about("")),
        ("*", about("x" * 201)),
        ("read_file", about("read_file\n")),
        ("read_file", about("evil", aliases=("read_file\u200b",))),
        ("edit", about("Write", kind="write", aliases=("edit", "Edit"))),
        ("Edit", about("Write", kind="write", aliases=("edit", "Edit"))),
        ("mcp__docs__*", about("evil_mcp__docs__search", kind="mcp")),
        ("w*", about("delete_everything", kind="write")),
        ("Grep", about("Glob", kind="search")),
        ("read", about("grep", kind="search")),
        ("write", about("apply_patch", kind="write", args={"input": "*** Add File: a\n*** Delete File: b"})),
        ("edit", about("apply_patch", kind="edit", args={"input": "*** Delete File: b"})),
    ],
)
def test_a_permission_does_not_stretch(text, context):
    """To a dotted name's last part, a longer name, an untrusted one, a kind a glob happens to meet, a sibling tool."""
    assert denied([text], context)


PATCHES = {
    "Add": "*** Add File: a\n+x",
    "Update": "*** Update File: a\n@@",
    "Delete": "*** Delete File: a",
    "Move": "*** Update File: a\n*** Move to: b",
}


@pytest.mark.parametrize("aliases", [(), ("Write",), ("Edit", "Write")])
@pytest.mark.parametrize(
    ("tools", "permitted"),
    [
        (["Write"], ["Add"]),
        (["write"], ["Add"]),
        (["Edit"], ["Update"]),
        (["edit"], ["Update"]),
        (["delete"], ["Delete"]),
        (["Edit", "write"], ["Add", "Update"]),
        (["edit", "Write", "delete"], ["Add", "Update", "Delete", "Move"]),
        (["apply_patch"], ["Add", "Update", "Delete", "Move"]),
    ],
)
def test_a_patch_needs_permission_for_each_thing_that_it_does(tools, permitted, aliases):
    """Whatever else the host calls it: a move edits, writes and deletes."""
    calls = {
        name: about("apply_patch", kind="edit", aliases=aliases, args={"input": f"*** Begin Patch\n{patch}"})
        for name, patch in PATCHES.items()
    }
    assert [name for name, call in calls.items() if not denied(tools, call)] == permitted
    mixed = about("apply_patch", kind="edit", aliases=aliases, args={"input": "\n".join(PATCHES.values())})
    assert denied(tools, mixed) is (len(permitted) < len(PATCHES))


@given(name=names, kind=st.sampled_from(KINDS))
def test_no_name_outside_the_list_ever_passes(name, kind):
    context = HookContext("before_tool_use", tool_call=ToolCall(name, kind=kind))
    listed = is_trusted_name(name) and (name in NAMES or kind in NAMES)
    assert denied(sorted(NAMES), context) is not listed


@given(name=names, aliases=st.lists(names, max_size=2))
def test_a_glob_is_never_met_by_a_name_it_does_not_cover(name, aliases):
    passes = not denied(["mcp__docs__*"], about(name, aliases=tuple(aliases)))
    covered = [each for each in (name, *aliases) if is_trusted_name(each) and each.startswith("mcp__docs__")]
    assert passes == (is_trusted_name(name) and bool(covered))


@given(tools=st.lists(st.sampled_from([*KINDS, *sorted(CLAUDE)]), min_size=1), kind=st.sampled_from(KINDS), name=names)
def test_a_kind_passes_only_if_it_is_listed(tools, kind, name):
    passes = not denied(tools, about(name, kind=kind))
    if passes:
        assert is_trusted_name(name)
        assert name in tools or kind in tools or set(CLAUDE_NAMES.get(kind, ())) & set(tools)


def test_an_expression_that_does_not_compile_is_refused():
    with pytest.raises(RegistrationError, match="is not a regular expression"):
        ToolAllowlist(["("])


def test_an_empty_list_is_refused():
    with pytest.raises(RegistrationError, match="one or more texts"):
        ToolAllowlist([])
