"""Each program has one home: its declaration, and the module that this names."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from agent_hooks_guards import programs
from agent_hooks_guards.model.declarations import declarations

FOLDER = Path(programs.__path__[0])
DECLARED = sorted({entry["module"] for entry in declarations().entries.values() if "module" in entry})


def functions_of(module):
    loaded = import_module(f"agent_hooks_guards.programs.{module}")
    return {*getattr(loaded, "EFFECTS", {}), *getattr(loaded, "INNER", {})}


@pytest.mark.parametrize("module", DECLARED)
def test_each_program_of_a_module_is_declared_to_have_its_home_there(module):
    entries = declarations().entries
    assert {program for program in functions_of(module) if entries[program].get("module") != module} == set()


@pytest.mark.parametrize("module", DECLARED)
def test_each_program_with_a_module_has_a_function_there(module):
    entries = declarations().entries
    declared = {path for path, entry in entries.items() if entry.get("module") == module and " " not in path}
    assert declared <= functions_of(module)


def test_no_other_module_has_functions_of_programs():
    modules = [path.stem for path in FOLDER.glob("*.py") if path.stem != "__init__"]
    assert [each for each in modules if functions_of(each) and each not in DECLARED] == []
