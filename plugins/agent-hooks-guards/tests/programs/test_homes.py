"""Each program has one home: its declaration, and the functions that this names."""

from __future__ import annotations

from importlib import import_module

import pytest

from agent_hooks_guards.model.declarations import declarations

KEYS = ("effects", "inner")
DECLARED = {entry[key] for entry in declarations().entries.values() for key in KEYS if key in entry}


@pytest.mark.parametrize("path", sorted(DECLARED))
def test_each_function_that_a_declaration_names_exists(path):
    module, _, function = path.partition(".")
    assert callable(getattr(import_module(f"agent_hooks_guards.programs.{module}"), function))


def test_the_functions_of_a_program_stand_in_one_module():
    homes = {
        path: {entry[key].partition(".")[0] for key in KEYS if key in entry}
        for path, entry in declarations().entries.items()
        if " " not in path
    }
    assert {path: modules for path, modules in homes.items() if len(modules) > 1} == {}
