"""Settings that were found right are not checked again, and nothing but those very settings is taken for them."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest
from making import about, project, run_all

import agent_hooks_guards
from agent_hooks import SettingsError
from agent_hooks_guards import remembered

SETTINGS = """
[[tool.agent_hooks.guards.blocklist]]
tools = ["fetch"]
[[tool.agent_hooks.guards.arguments]]
matcher = "shell"
field = "command"
pattern = 'git\\s+push'
decision = "ask"
[[tool.agent_hooks.guards.rate_limit]]
max_calls = 3
[tool.agent_hooks.guards.audit]
"""

# One process: what it decides about a call of each kind, and whether it had to check the settings.
JUDGE = """
import sys
import agent_hooks_guards
from agent_hooks import HookContext, ToolCall
for kind, args in (("fetch", {}), ("shell", {"command": "git push"}), ("read", {})):
    ctx = HookContext("before_tool_use", tool_call=ToolCall("x", args, kind=kind), cwd=sys.argv[1])
    outcome = agent_hooks_guards.before_tool_use(ctx)
    print(outcome.decision if outcome else None, end=" ")
print("agent_hooks_guards.settings" in sys.modules)
"""


def judge(folder):
    (printed,) = run_all(JUDGE, 1, folder)
    return printed.split()


@pytest.fixture
def kept(state_folder):
    return lambda: sorted((state_folder / "guards").iterdir())


def test_the_second_process_decides_the_same_without_checking(tmp_path):
    folder = project(tmp_path / "p", SETTINGS)
    assert judge(folder) == ["deny", "ask", "None", "True"]
    assert judge(folder) == ["deny", "ask", "None", "False"]


def test_changed_settings_are_checked(tmp_path):
    folder = project(tmp_path / "p", SETTINGS)
    judge(folder)
    project(tmp_path / "p", SETTINGS.replace('"fetch"', '"other"'))
    assert judge(folder) == ["None", "ask", "None", "True"]


def test_a_file_without_a_table_for_guards_is_remembered_too(tmp_path):
    folder = project(tmp_path / "p", "[tool.agent_hooks]\nother = 1\n")
    assert judge(folder) == ["None", "None", "None", "False"]
    assert remembered.recall(f"{folder}/pyproject.toml", Path(folder, "pyproject.toml").read_text()) == {}


def test_wrong_settings_are_not_remembered(tmp_path, state_folder):
    folder = project(tmp_path / "p", "[tool.agent_hooks.guards]\nblocklst = []\n")
    for _ in range(2):
        with pytest.raises(SettingsError, match="blocklst is not a setting"):
            agent_hooks_guards.before_tool_use(about(cwd=folder))
    assert not (state_folder / "guards").exists()


def test_another_file_another_text_and_another_version_are_not_taken_for_these(monkeypatch):
    remembered.remember("/p/pyproject.toml", "text", {"tables": 1})
    assert remembered.recall("/p/pyproject.toml", "text") == {"tables": 1}
    assert remembered.recall("/p/pyproject.toml", "text ") is None
    os.rename(remembered._place("/p/pyproject.toml"), remembered._place("/q/pyproject.toml"))
    assert remembered.recall("/q/pyproject.toml", "text") is None
    os.rename(remembered._place("/q/pyproject.toml"), remembered._place("/p/pyproject.toml"))
    monkeypatch.setattr(remembered, "__version__", "0.0.1")
    assert remembered.recall("/p/pyproject.toml", "text") is None


@pytest.mark.parametrize(
    "content", ["", "{", "[]", "null", '{"about": 1}', '{"about": null, "tables": {}}', "\x00\xff"]
)
def test_a_damaged_memory_is_no_memory(tmp_path, kept, content):
    folder = project(tmp_path / "p", SETTINGS)
    judge(folder)
    (place,) = kept()
    place.write_bytes(content.encode("latin-1"))
    assert judge(folder) == ["deny", "ask", "None", "True"]
    assert json.loads(place.read_text())["tables"]["rate_limit"][0]["max_calls"] == 3


def test_it_is_for_its_owner_only(tmp_path, state_folder, kept):
    judge(project(tmp_path / "p", SETTINGS))
    (place,) = kept()
    assert [stat.S_IMODE(path.stat().st_mode) for path in (state_folder, place.parent, place)] == [0o700, 0o700, 0o600]


def test_where_nothing_can_be_kept_every_process_checks(tmp_path, state_folder):
    state_folder.mkdir()
    (state_folder / "guards").write_text("in the way")
    folder = project(tmp_path / "p", SETTINGS.partition("[[tool.agent_hooks.guards.rate")[0])
    assert [judge(folder) for _ in range(2)] == [["deny", "ask", "None", "True"]] * 2
