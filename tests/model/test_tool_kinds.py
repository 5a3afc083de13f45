"""The kind of a tool that nobody declares, one rule in each row; tests/adapters/test_kinds.py has published tools."""

from __future__ import annotations

import pytest

from agent_hooks.model.tool_kinds import kind_by

KINDS = {
    # The names of coding agents' tools, where the parameters fit.
    ("Bash", "command"): "shell",
    ("Bash", "city"): None,
    ("read_file", "path"): "read",
    ("read_file", "label"): None,
    ("apply_patch", "anything"): "edit",
    ("Task", "task"): "subagent",
    ("Task", "command"): "shell",
    ("websearch", "query"): "web_search",
    # Commands and code.
    ("my_tool", "shell_command"): "shell",
    ("my_tool", "command_id"): None,
    ("my_tool", "line"): None,
    ("run_it", "code"): "shell",
    ("python", "code"): "shell",
    ("python", "query"): "shell",
    ("python", "input"): "shell",
    ("lookup", "code"): None,
    ("save_python", "code"): None,
    ("explain_python", "code"): None,
    ("run_it", "postal_code"): None,
    # Addresses and searches.
    ("open_page", "url"): "fetch",
    ("WebFetch", "prompt"): "fetch",
    ("computer", "url"): None,
    ("search_web", "query"): "web_search",
    ("web_shop", "query"): None,
    ("google", "query"): "web_search",
    ("google_drive", "query"): None,
    ("search_orders", "query"): None,
    # Files.
    ("tool", "path old_text new_text"): "edit",
    ("tool", "path oldString newString"): "edit",
    ("change", "path old_text"): "edit",
    ("tool", "path old_text"): None,
    ("tool", "path diff"): "edit",
    ("tool", "old_text new_text"): None,
    ("tool", "path content"): "write",
    ("edit_it", "path content"): "edit",
    ("save_it", "path text"): "write",
    ("show_it", "path text"): "read",
    ("edit_or_delete", "path"): "delete",
    ("find", "folder"): "search",
    ("get_file", "file_name"): "read",
    ("get_flight", "file_name"): None,
    ("my_file", "file_name"): None,
    ("copy_it", "path"): None,
    ("upload_it", "path content"): None,
    ("read_it", "name"): None,
    ("read_it", "source"): None,
    ("read_it", "work_dir"): None,
    ("read_it", "targetPath"): "read",
    # What stands before the last word of a path of names is a server.
    ("delete__read_it", "path"): "read",
}


@pytest.mark.parametrize(("name", "keys"), KINDS)
def test_the_name_and_the_parameters_say_the_kind(name, keys):
    assert kind_by(name, frozenset(keys.split())) == KINDS[name, keys]


@pytest.mark.parametrize(
    ("name", "keys", "kind"),
    [
        ("greet", "", "other"),
        ("say", "message", "other"),
        ("notify", "message recipient", "other"),
        ("notify", "recipient", None),
        ("notify", "message account_number", None),
        ("run_say", "message", None),
        ("press_say", "message", None),
    ],
)
def test_a_tool_is_another_one_only_if_all_its_parameters_are_texts_for_people(name, keys, kind):
    assert kind_by(name, frozenset(keys.split()), are_all=True) == kind
    assert kind_by(name, frozenset(keys.split())) is None


@pytest.mark.parametrize(
    ("name", "kind"), [("Bash", "shell"), ("grep_search", "search"), ("question", None), ("x", None)]
)
def test_without_parameters_a_shared_name_decides(name, kind):
    assert kind_by(name, None) == kind
