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
    FileOperation,
    addressed_files,
    file_of_address,
    is_trusted_name,
    patch_operations,
)

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


@pytest.mark.parametrize("key", COMMAND_KEYS)
def test_a_shell_call_has_a_command_under_any_usual_key(key):
    assert ToolCall("exec", {key: "ls -l"}, kind="shell").command == "ls -l"


def test_a_command_given_as_a_list_is_quoted_as_a_shell_would():
    assert ToolCall("exec", {"command": ["git", "commit", "-m", "two words"]}, kind="shell").command == (
        "git commit -m 'two words'"
    )


@given(st.lists(st.text(max_size=10), min_size=1, max_size=5))
def test_a_quoted_command_splits_into_what_it_was(argv):
    assert shlex.split(ToolCall("exec", {"command": argv}, kind="shell").command) == argv


@pytest.mark.parametrize(
    ("args", "command"),
    [
        ({"commands": ["ls", "rm -rf build"]}, "ls\nrm -rf build"),
        ({"commands": "ls"}, "ls"),
        ({"args": ["rm", "-rf", "my build"], "tail": 10}, "rm -rf 'my build'"),
        ({"command": "rm", "args": ["-rf", "build"]}, "rm -rf build"),
    ],
)
def test_a_command_is_found_in_several_and_in_arguments_alone(args, command):
    assert ToolCall("exec", args, kind="shell").command == command


def test_arguments_in_one_object_are_read_as_if_they_were_the_call_s_own():
    args = {"request": {"command": "ls", "path": "a.txt", "content": "text", "url": "https://example.com"}}
    assert ToolCall("run", args, kind="shell").command == "ls"
    assert ToolCall("save", args, kind="write").paths == ("a.txt",)
    assert ToolCall("save", args, kind="write").content == "text"
    assert ToolCall("get", args, kind="fetch").url == "https://example.com"


def test_only_shell_calls_have_a_command():
    assert ToolCall("read", {"command": "ls"}, kind="read").command == ""


@pytest.mark.parametrize("key", PATH_KEYS)
def test_a_path_is_found_under_any_usual_key(key):
    assert ToolCall("read", {key: "a.py"}, kind="read").paths == ("a.py",)


def test_all_paths_are_found():
    call = ToolCall("read_many", {"paths": ["a", "", 3, "b"], "path": "c"}, kind="read")
    assert set(call.paths) == {"a", "b", "c"}


def test_a_shell_calls_paths_are_not_known():
    assert ToolCall("exec", {"command": "cat a", "path": "a"}, kind="shell").paths == ()
    assert ToolCall("exec", {"command": "cat a", "path": "a"}, kind="shell").file_operations == ()


@pytest.mark.parametrize("key", CONTENT_KEYS)
@pytest.mark.parametrize("kind", ["write", "edit"])
def test_new_text_is_found_under_any_usual_key(key, kind):
    assert ToolCall("w", {key: "text"}, kind=kind).content == "text"


def test_the_text_of_several_edits_in_one_call_is_found():
    call = ToolCall("MultiEdit", {"edits": [{"new_string": "a"}, {"new_string": "b"}, "odd"]}, kind="edit")
    assert call.content == "a\nb"


@pytest.mark.parametrize("key", URL_KEYS)
def test_an_address_is_found_under_any_usual_key(key):
    assert ToolCall("f", {key: "https://x"}, kind="fetch").url == "https://x"


def test_the_files_and_texts_of_several_replacements_in_one_call_are_found():
    changes = [{"filePath": "a.py", "newString": "a"}, {"filePath": "b.py", "newString": "b"}, "odd"]
    call = ToolCall("multi_replace_string_in_file", {"explanation": "e", "replacements": changes}, kind="edit")
    assert (call.paths, call.content) == (("a.py", "b.py"), "a\nb")


def test_code_is_the_text_of_an_edit_alone():
    args = {"filePath": "a.py", "code": "print(1)"}
    assert ToolCall("insert_edit_into_file", args, kind="edit").content == "print(1)"
    assert ToolCall("repl", args).content == ""


def test_each_of_several_addresses_is_on_a_line_of_its_own():
    assert ToolCall("f", {"urls": ["https://x", "https://y/a b"]}, kind="fetch").url == "https://x\nhttps://y/a b"


def test_a_fetch_finds_its_addresses_in_the_prompt_where_it_has_no_other():
    prompt = "Compare (https://x/a), HTTP://y/b?q=1#c. and [this](https://z/)!"
    assert ToolCall("web_fetch", {"prompt": prompt}, kind="fetch").url == "https://x/a\nHTTP://y/b?q=1#c\nhttps://z/"
    assert ToolCall("web_fetch", {"url": "https://w", "prompt": prompt}, kind="fetch").url == "https://w"
    assert ToolCall("ask", {"prompt": prompt}).url == ""


def test_the_patterns_of_a_call_that_reads_many_files_are_paths():
    call = ToolCall("read_many_files", {"include": ["src/*.py", "/etc/passwd"]}, kind="read")
    assert call.paths == ("src/*.py", "/etc/passwd")


@pytest.mark.parametrize("name", ["apply_patch", "patch", "functions.apply_patch"])
def test_a_patch_is_read_under_opencodes_key(name):
    call = ToolCall(name, {"patchText": PATCH}, kind="edit")
    assert call.paths == ("new.py", "old.py", "older.py", "old.py", "gone.py")


@pytest.mark.parametrize(
    ("kind", "operation"),
    [("read", "read"), ("search", "read"), ("write", "write"), ("edit", "edit"), ("delete", "delete")],
)
def test_a_file_call_is_an_operation_on_its_path(kind, operation):
    assert ToolCall("t", {"path": "a"}, kind=kind).file_operations == (FileOperation(kind=operation, path="a"),)


OPERATIONS = [
    ("write", "new.py"),
    ("edit", "old.py"),
    ("write", "older.py"),
    ("delete", "old.py"),
    ("delete", "gone.py"),
]


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


@pytest.mark.parametrize(("name", "segment"), [("a.b.c", "c"), ("plain", ""), ("mcp__a__b", ""), ("a.", "")])
def test_the_last_segment_is_that_of_a_dotted_name(name, segment):
    assert ToolCall(name).last_segment == segment


@pytest.mark.parametrize("name", ["Bash", "a", "x" * 200, "mcp__s__t", "a.b:c/d-e_f", "0"])
def test_a_plain_name_is_trusted(name):
    assert is_trusted_name(name)


@pytest.mark.parametrize("name", ["", "x" * 201, "a b", "a\n", "a\x00", "ä", "a|b", "a*", "a,b", "a;b", "$a"])
def test_an_odd_name_is_not_trusted(name):
    assert not is_trusted_name(name)


@given(
    st.dictionaries(st.text(max_size=8), st.none() | st.integers() | st.lists(st.integers()) | st.text(max_size=5)),
    st.sampled_from(KINDS),
)
def test_no_arguments_make_a_call_unreadable(args, kind):
    """A host sends what it likes: a question about it has an answer all the same."""
    call = ToolCall("apply_patch", args, kind=kind)
    assert all(isinstance(text, str) for text in (call.command, call.content, call.url, *call.paths, *call.names))


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("file:///etc/hosts", "/etc/hosts"),
        ("FILE:/etc/hosts", "/etc/hosts"),
        ("file:////etc/hosts", "//etc/hosts"),
        ("file://localhost/etc/hosts?x#y", "/etc/hosts"),
        ("file:///etc/%68osts%3F", "/etc/hosts?"),
        ("file:///C:/Windows", "C:/Windows"),
        ("file://./x", "./x"),
        ("file:\\\\\\etc\\hosts", "/etc/hosts"),
        (" fi\tle:///etc/hosts", "/etc/hosts"),
        ("view-source:file:///etc/hosts", "/etc/hosts"),
        ("url:file:///etc/hosts", "/etc/hosts"),
        ("https://example.com/file:/x", ""),
        ("/etc/hosts", ""),
        ("files:/x", ""),
        ("file:", ""),
        ("", ""),
    ],
)
def test_a_file_address_names_a_path(address, expected):
    assert file_of_address(address) == expected


def test_the_file_of_an_address_is_a_path_of_the_call():
    assert ToolCall("get", {"url": "file:///a%20b"}, kind="fetch").paths == ("/a b",)
    assert ToolCall("get", {"urls": ["https://x/", "FILE:///a"]}, kind="fetch").paths == ("/a",)
    assert ToolCall("read", {"path": "file:///a"}, kind="read").paths == ("file:///a", "/a")
    assert addressed_files({"path": "file:///a", "uri": "file:///b", "text": "file:///c"}) == ["/b"]


@given(st.text())
def test_no_address_is_too_odd(address):
    file_of_address(address)
    file_of_address(f"file:{address}")
