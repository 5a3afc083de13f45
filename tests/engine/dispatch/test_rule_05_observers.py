"""Rule 5: observers run after the decision, all of them, exactly once; what they return or raise changes nothing."""

from __future__ import annotations

import pytest

from hook_sets import check
from tables import tables

CASES = tables(__file__)["cases"]


@pytest.mark.parametrize("case", CASES)
def test_hook_sets(engine, case):
    check(engine, CASES[case])
