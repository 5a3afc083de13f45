"""Every kind of command that misbehaves, run once in earnest: what is decided, and that nothing of it is left."""

from __future__ import annotations

from pathlib import Path

import pytest

from faults.matrix import CONSENTS, FAULTS, Row, run_matrix, table

PAGE = Path(__file__).parents[2] / "docs" / "failures.md"

pytestmark = pytest.mark.heavy


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    return run_matrix()


def test_there_are_kinds_enough_and_each_once():
    names = [fault.name for fault in FAULTS if fault.expected is not CONSENTS]
    assert len(names) == len({*names}) >= 24


def test_no_closed_gate_lets_anything_pass_that_it_has_no_consent_for(rows):
    assert [row.fault.name for row in rows if row.fails_open] == []


def test_each_gets_what_it_should(rows):
    assert {row.fault.name: row.cells for row in rows} == {fault.name: fault.expected for fault in FAULTS}


def test_no_process_zombie_descriptor_or_thread_is_left(rows):
    assert {row.fault.name: row.left for row in rows if row.left} == {}


def test_the_page_shows_what_comes_of_it(rows):
    assert table(rows) in PAGE.read_text(encoding="utf-8")
