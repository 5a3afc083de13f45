"""Every kind of command that misbehaves, run once in earnest: what is decided, and that nothing of it is left."""

from __future__ import annotations

from pathlib import Path

import pytest

from faults.matrix import CONSENTS, FAULTS, GOES_ON, Fault, run_matrix, table

PAGE = Path(__file__).parents[2] / "docs" / "failures.md"


def test_there_are_kinds_enough_and_each_once():
    names = [fault.name for fault in FAULTS if fault.expected is not CONSENTS]
    assert len(names) == len({*names}) >= 24


def test_no_closed_gate_shall_let_anything_pass_that_it_has_no_consent_for():
    assert [fault.name for fault in FAULTS if fault.expected is not CONSENTS and GOES_ON in fault.expected[0]] == []


# Those with a hundred commands and more are not for each change.
ROWS = [pytest.param(each, marks=[pytest.mark.full] if len(each.commands) > 100 else []) for each in FAULTS]


@pytest.mark.parametrize("fault", ROWS, ids=lambda fault: fault.name)
def test_each_gets_what_it_should_and_no_process_zombie_descriptor_or_thread_is_left(fault: Fault):
    (row,) = run_matrix([fault])
    assert not row.fails_open
    assert row.cells == fault.expected
    assert row.left == ()


def test_the_page_shows_what_comes_of_it():
    assert table((fault.name, fault.expected) for fault in FAULTS) in PAGE.read_text(encoding="utf-8")
