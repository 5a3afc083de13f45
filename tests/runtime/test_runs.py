"""Runs of an agent and what is true in the end: the cases of the TOML files in this folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from runtime.cases import check
from tables import tables

CASES = {
    f"{path.stem}: {name}": case
    for path in sorted(Path(__file__).parent.glob("*.toml"))
    for name, case in tables(str(path)).get("cases", {}).items()
}


@pytest.mark.parametrize("case", CASES)
def test_a_run_comes_to_what_its_case_says(case):
    check(CASES[case])
