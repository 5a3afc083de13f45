"""A call loads the guards that it concerns, and no others."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import agent_hooks_guards
from agent_hooks import SettingsError
from agent_hooks.sources.plugin_settings import PluginTable
from agent_hooks_guards.model.tables import COPY
from tables import tables

TABLES = tables(__file__)


IMPORTED = """
import json, sys
import agent_hooks_guards
from agent_hooks import HookContext, ToolCall
name, kind, args, result = json.loads(sys.argv[1])
call = ToolCall(name, args, kind=kind)
if result is None:
    agent_hooks_guards.before_tool_use(HookContext("before_tool_use", tool_call=call))
else:
    agent_hooks_guards.after_tool_use(HookContext("after_tool_use", tool_call=call, result=result))
own = "agent_hooks_guards."
print(*{"pydantic", "agent_hooks.shell.parser", "tomllib", "typing"} & sys.modules.keys())
print(*(name.removeprefix(own) for name in sys.modules if name.startswith(own)))
"""
# Without the copy of its tables, a checkout parses TOML, and that imports `typing`.
SLOW = ("typing",) if list(Path(agent_hooks_guards.__file__).parent.rglob(COPY)) else ()
FEW = {"guards", "guards.calls", "guards.objection", "settings", "settings.project", "settings.guard_set"}


def imported(name, kind, args, result=None, config=None):
    path = [entry for entry in sys.path if entry]
    code = f"import sys; sys.path[:] = {path!r}\n{IMPORTED}"
    command = [sys.executable, "-S", "-c", code, json.dumps([name, kind, args, result])]
    variables = {**os.environ, "AGENT_HOOKS_CONFIG_DIR": str(config)} if config else None
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=variables)
    return set(done.stdout.split())


@pytest.mark.parametrize("call", TABLES["a_call_that_no_guard_has_to_do_with_loads_none"])
def test_a_call_that_no_guard_has_to_do_with_loads_none(call):
    assert imported(*call) == FEW


@pytest.mark.parametrize(
    ("call", "without"),
    [
        (("Read", "read", {"file_path": "a"}), ("guards.shell", "guards.secrets", "guards.egress", "settings.schema")),
        (("WebFetch", "fetch", {"url": "https://a.test"}), ("guards.shell", "guards.path", "settings.schema")),
        (
            ("Bash", "shell", {"command": "git status"}),
            (
                "guards.path",
                "guards.secrets",
                "guards.egress",
                "settings.schema",
                "agent_hooks.shell.parser",
                "analysis.expansion",
                "code",
                "programs.outputs",
                *SLOW,
            ),
        ),
    ],
)
def test_a_call_loads_only_the_guards_that_it_concerns(call, without):
    assert imported(*call).isdisjoint(without)


def test_a_plain_command_loads_at_most_50_modules_of_the_guards():
    assert len(imported("Bash", "shell", {"command": "ls"}) - {"tomllib", *SLOW}) <= 50


@pytest.mark.parametrize(
    ("text", "models"),
    [
        ("[guards]\nmax_steps = 100\n[guards.shell]\nlevel = 'strict'\n[guards.egress]\nothers = 'deny'\n", set()),
        ("[guards]\nmax_execution_time = 60\n[guards.secrets]\nsends = 'ask'\n[guards.injection]\n", set()),
        ("[[guards.arguments]]\nfield = 'command'\npattern = 'x'\n", {"pydantic", "settings.schema"}),
    ],
)
def test_plain_settings_need_neither_pydantic_nor_the_model(tmp_path, text, models):
    folder = tmp_path / "settings"
    folder.mkdir(mode=0o700)
    (folder / "agent-hooks.toml").write_text(text)
    found = imported("Bash", "shell", {"command": "ls"}, config=folder)
    assert "settings.build" in found
    assert found & {"pydantic", "settings.schema"} == models


def test_the_check_of_settings_at_load_needs_no_models_either():
    (declared,) = agent_hooks_guards.agent_hooks_settings().values()
    table = PluginTable(name="guards", path="/p", source="user", settings={"shell": {"level": "strict"}}, at="guards")
    assert declared.accepts(table) is True
    with pytest.raises(SettingsError):
        declared.accepts(table.replace(settings={"shell": {"level": "x"}}))
