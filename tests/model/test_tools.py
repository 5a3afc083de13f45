"""What a tool call says, whatever its host calls the tool and its arguments."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_hooks import ToolCall
from agent_hooks.model.tools import (
    CLAUDE_NAMES,
    COMMAND_KEYS,
    CONTENT_KEYS,
    KINDS,
    PATH_KEYS,
    URL_KEYS,
    addressed_files,
    file_of_address,
    is_trusted_name,
    patch_operations,
)
from agent_hooks.model.values import plain
from tables import tables

TABLES = tables(__file__)

PATCH = """*** Begin Patch
*** Add File: new.py
+print(1)
*** Update File: old.py
*** Move to: older.py
@@
-a
+b
*** Delete File: gone.py
*** End Patch"""


@pytest.mark.parametrize(
    ("kind", "fact", "keys"),
    [
        ("shell", "command", COMMAND_KEYS),
        ("read", "paths", PATH_KEYS),
        ("write", "content", CONTENT_KEYS),
        ("edit", "content", CONTENT_KEYS),
        ("fetch", "url", URL_KEYS),
    ],
)
def test_what_a_call_says_is_found_under_any_usual_key(kind, fact, keys):
    found = {key: getattr(ToolCall("tool", {key: "ls -l"}, kind=kind), fact) for key in keys}
    assert found == dict.fromkeys(keys, ("ls -l",) if fact == "paths" else "ls -l")


@pytest.mark.parametrize(("call", "facts"), TABLES["calls"])
def test_a_call_says_what_its_arguments_mean(call, facts):
    made = ToolCall.from_dict(call)
    assert {name: plain(getattr(made, name)) for name in facts} == facts


def test_addresses_of_files_are_told_from_paths_and_texts():
    assert addressed_files({"path": "file:///a", "uri": "file:///b", "text": "file:///c"}) == ["/b"]


def test_only_a_plain_name_is_trusted():
    assert all(map(is_trusted_name, ["Bash", "a", "x" * 200, "mcp__s__t", "a.b:c/d-e_f", "0"]))
    odd = ["", "x" * 201, "a b", "a\n", "a\x00", "ä", "a|b", "a*", "a,b", "a;b", "$a"]
    assert not any(map(is_trusted_name, odd))


@given(st.lists(st.text(max_size=10), min_size=1, max_size=5))
def test_a_quoted_command_splits_into_what_it_was(argv):
    assert shlex.split(ToolCall("exec", {"command": argv}, kind="shell").command) == argv


OPERATIONS = [tuple(row) for row in TABLES["operations"]]


def test_a_patch_is_read_operation_by_operation():
    assert [(operation.kind, operation.path) for operation in patch_operations(PATCH)] == OPERATIONS


@pytest.mark.parametrize(
    "args", [{"command": PATCH}, {"input": PATCH}, {"patch": PATCH}, {"command": ["apply_patch", PATCH]}]
)
def test_a_patch_call_says_what_it_does_to_which_files(args):
    call = ToolCall("apply_patch", args, kind="edit")
    assert [(operation.kind, operation.path) for operation in call.file_operations] == OPERATIONS
    assert call.paths == tuple(path for _, path in OPERATIONS)
    assert call.content == PATCH
    assert {"write", "edit", "delete", "Write", "Edit"} <= set(call.names)


@pytest.mark.parametrize("kind", KINDS)
def test_a_match_is_tried_on_the_name_the_kind_claudes_names_and_the_aliases(kind):
    call = ToolCall("host_name", kind=kind, aliases=("other",))
    assert call.names == ("host_name", kind, *CLAUDE_NAMES.get(kind, ()), "other")


@given(
    st.dictionaries(st.text(max_size=8), st.none() | st.integers() | st.lists(st.integers()) | st.text(max_size=5)),
    st.sampled_from(KINDS),
)
def test_no_arguments_make_a_call_unreadable(args, kind):
    """A host sends what it likes: a question about it has an answer all the same."""
    call = ToolCall("apply_patch", args, kind=kind)
    assert all(isinstance(text, str) for text in (call.command, call.content, call.url, *call.paths, *call.names))


@pytest.mark.parametrize(("address", "expected"), TABLES["addresses"])
def test_a_file_address_names_a_path(address, expected):
    assert file_of_address(address) == expected


@given(st.text())
def test_no_address_is_too_odd(address):
    file_of_address(address)
    file_of_address(f"file:{address}")
