"""The rules of the dispatch as hook sets and what comes of each: the cases of the TOML files in this folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from hook_sets import check
from tables import tables

pytestmark = pytest.mark.interpreter

CASES = {
    f"{path.stem}: {name}": case
    for path in sorted(Path(__file__).parent.glob("*.toml"))
    for name, case in tables(str(path))["cases"].items()
}
OF_WRAPPERS = {name: case for name, case in CASES.items() if any(hook.get("wrapper") for hook in case.get("hooks", ()))}


@pytest.mark.parametrize("case", CASES)
def test_a_hook_set_comes_to_what_its_case_says(engine, case):
    check(engine, CASES[case])


@pytest.mark.parametrize("case", OF_WRAPPERS)
def test_it_does_so_with_wrappers_that_are_async_generators(engine, case):
    check(engine, CASES[case], wrappers="async")
