"""Tools of which only the name says that they run something: what they are given is judged like a command or code."""

from __future__ import annotations

from typing import Any

import pytest

from agent_hooks import ToolCall
from agent_hooks.trust.gate.calls import paths_under_keys, runs_of, says_nothing, tool_name
from tables import tables

TABLES = tables(__file__)
LONG: list[tuple[str, dict[str, Any]]] = [
    ("python", {"code": "open('hookconf.py', 'w').write('')" + "#" * 200_000}),
    ("execute_code", {"code": "# see " + "(" * 5_000 + "\n" + "(" * 5_000 + "open('hookconf.py', 'w').write('')"}),
]


@pytest.mark.parametrize(("tool", "args"), [*TABLES["running"], *LONG])
def test_what_a_tool_runs_decides_nothing_about_agents(guarded, tool, args):
    assert guarded.denies(tool, args, kind="other")


@pytest.mark.parametrize(("tool", "args"), TABLES["honest"])
def test_what_a_tool_only_says_or_looks_at_is_free(guarded, tool, args):
    assert not guarded.denies(tool, args)


def test_a_tool_and_arguments_that_say_nothing_run_nothing_and_name_no_path():
    names = ("echo", "repl", "bash", "tool.bash", "apply_patch", "send_keys", "save_note", "delete_item", "python")
    keys = sorted(
        {key for table in TABLES.values() for _, args in table for key in args}
        | {"text", "city", "source", "urls", "argv"}
    )
    harmless = []
    for name in names:
        for call in (ToolCall(name, {key: "a/b", other: "c d"}) for key in keys for other in keys):
            if says_nothing(call):
                harmless.append(call)
                commands, codes = runs_of(call, tool_name(name))
                assert not any((call.command, *commands, *codes)), call
                assert not any((call.paths, call.file_operations, paths_under_keys(call.args))), call
    assert {call.name for call in harmless} >= {"echo", "save_note", "delete_item"}
    assert not says_nothing(ToolCall("echo", {"text": ["a"]}))
