"""What stands beside a trusted script is a part of it as far as it is imported or sourced, and nothing else is."""

from __future__ import annotations

import py_compile
import sys
from typing import TYPE_CHECKING

import pytest

from agent_hooks.model.context import HookContext
from agent_hooks.model.tool_call import ToolCall
from tables import tables

if TYPE_CHECKING:
    from .conftest import Victim

TABLES = tables(__file__)


@pytest.fixture
def python(victim: Victim) -> Victim:
    """A trusted project whose gate is a Python script with modules of its own."""
    victim.write("agent-hooks.toml", victim.table(f"{sys.executable} hooks/gate.py"))
    victim.lay(TABLES["python"])
    victim.trust()
    assert gate(victim) == "deny"
    return victim


@pytest.fixture
def shell(victim: Victim) -> Victim:
    victim.lay(TABLES["shell"])
    victim.trust()
    assert gate(victim) == "deny"
    return victim


def call(victim: Victim, command: str = "forbidden") -> HookContext:
    return HookContext("before_tool_use", cwd=str(victim.repo), tool_call=ToolCall("Bash", {"command": command}))


def gate(victim: Victim, command: str = "forbidden") -> str:
    """``deny`` if the gate decides so, ``changed`` if its project is switched off because of a change."""
    done = victim.run(tool_input={"command": command})
    if "files changed since they were trusted" in done.said:
        return "changed"
    return "deny" if "not here" in done.said and done.exit_code == 2 else done.said or "proceed"


@pytest.mark.parametrize(
    "path",
    [
        "hooks/json.py",
        "hooks/json/__init__.py",
        "hooks/json.pyc",
        "hooks/json.cpython-311-x86_64-linux-gnu.so",
        "hooks/re.py",  # json imports it
        "hooks/helpers/__init__.py",
        "hooks/rules.py",
        "hooks/rules/words/__init__.py",
        "hooks/rules/texts.so",
        "hooks/helpers.py",
        "hooks/rules/__init__.py",
        "hooks/rules/words.py",
    ],
)
def test_a_module_of_the_scripts_folder_that_is_new_or_another_is_a_change(python: Victim, path: str):
    manager, _ = python.load()
    python.write(path, python.python)
    assert gate(python) == "changed"
    assert manager.hooks().dispatch_sync(call(python)).decision == "deny", "loaded before, and asked now"
    assert not python.was_hit


def test_a_compiled_neighbour_does_not_run_in_place_of_its_source(python: Victim):
    evil = python.write("evil.py", python.python)
    for name in ("hooks/helpers", "hooks/rules/words"):
        folder, _, module = (python.repo / name).as_posix().rpartition("/")
        target = f"{folder}/__pycache__/{module}.{sys.implementation.cache_tag}.pyc"
        py_compile.compile(
            str(evil), target, doraise=True, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH
        )
    assert gate(python) == "deny"
    assert not python.was_hit


@pytest.mark.parametrize(
    "path", ["hooks/notes.py", "hooks/json.md", "hooks/helpers.json", "hooks/code/data.txt", "json.py", "src/json.py"]
)
def test_a_neighbour_that_nothing_imports_changes_nothing(python: Victim, path: str):
    python.write(path, python.python)
    assert gate(python) == "deny"
    assert gate(python, "ls") == "proceed"
    assert not python.was_hit


def test_running_the_gate_leaves_it_trusted(python: Victim):
    assert [gate(python), gate(python, "ls"), gate(python)] == ["deny", "proceed", "deny"]


@pytest.mark.parametrize("path", ["hooks/lib.sh", "hooks/names.sh"])
def test_a_changed_file_that_a_shell_script_sources_is_a_change(shell: Victim, path: str):
    manager, _ = shell.load()
    shell.write(path, shell.touch)
    assert gate(shell) == "changed"
    assert manager.hooks().dispatch_sync(call(shell)).decision == "deny"
    assert not shell.was_hit


def test_a_file_that_a_shell_script_sources_if_it_is_there_is_a_change_when_it_comes(victim: Victim):
    victim.write("agent-hooks.toml", victim.table("sh hooks/gate.sh"))
    victim.write("hooks/gate.sh", "[ -f hooks/local.sh ] && . hooks/local.sh\necho 'not here' >&2; exit 2\n")
    victim.trust()
    assert gate(victim) == "deny"
    victim.write("hooks/local.sh", "exit 0\n")
    assert gate(victim) == "changed"


def test_a_neighbour_that_a_shell_script_does_not_source_changes_nothing(shell: Victim):
    shell.write("hooks/other.sh", shell.touch)
    shell.write("hooks/json.py", shell.python)
    assert gate(shell) == "deny"
    assert not shell.was_hit
