"""The check by mutants: changes that a test notices die, others are reported, and the checkout stays as it is."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from tables import tables

TABLES = tables(__file__)

pytestmark = pytest.mark.full

SCRIPT = Path(__file__).parent.parent / ".ci" / "mutants.py"
MUTANTS = runpy.run_path(str(SCRIPT))
MODULE = '''\
"""A module with a tested branch and one that a test runs without looking."""


def sign(number):
    if number > 10:
        return "large"
    if number < 0:
        return "negative"
    return "other"
'''
TESTS = """\
from pkg.area.signs import sign


def test_negative_numbers():
    assert sign(-1) == "negative"


def test_others():
    assert [sign(0), sign(10)] == ["other", "other"]


def test_large_numbers_are_not_looked_at():
    sign(11)
"""


@pytest.fixture
def module(tmp_path):
    """A module of a project of its own, with the folder of tests that mirrors it."""
    module, tests = tmp_path / "src/pkg/area/signs.py", tmp_path / "tests/area/test_signs.py"
    for path, text in ((module, MODULE), (tests, TESTS), (tmp_path / "src/pkg/__init__.py", "")):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return module


def check(*arguments: object) -> tuple[int, list[str]]:
    command = [sys.executable, str(SCRIPT), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    return done.returncode, (done.stdout + done.stderr).splitlines()


def test_changes_of_a_tested_branch_die_and_those_of_an_untested_one_survive(module):
    code, lines = check(f"{module}:8", f"{module}:6")
    assert code == 1
    killed = "  src/pkg/area/signs.py:8: killed by tests/area/test_signs.py::test_negative_numbers"
    assert lines == [
        *("src/pkg/area/signs.py: 2 of 2 mutants, tests/area", killed, killed),
        "src/pkg/area/signs.py: 2 killed, 0 survived",
        "src/pkg/area/signs.py: 2 of 2 mutants, tests/area",
        *("  src/pkg/area/signs.py:6: survived 1 tests", '    -        return "large"', "    +        return None"),
        *(
            "  src/pkg/area/signs.py:6: survived 1 tests",
            '    -        return "large"',
            "    +        return 'largeX'",
        ),
        "src/pkg/area/signs.py: 0 killed, 2 survived",
    ]
    assert module.read_text() == MODULE


def test_without_its_test_a_change_survives(module):
    test = "tests/area/test_signs.py::test_negative_numbers"
    code, lines = check(f"{module}:8", "--limit=1", "--deselect", test)
    assert code == 1
    assert lines[0] == "src/pkg/area/signs.py: 1 of 2 mutants, tests/area"
    assert lines[-1] == "src/pkg/area/signs.py: 0 killed, 1 survived"


def test_tests_that_fail_without_a_mutant_kill_none(module):
    test = module.parents[3] / "tests/area/test_signs.py"
    test.write_text(f"{TESTS}\n\ndef test_large_numbers():\n    assert sign(10) == 'large'\n")
    code, lines = check(module)
    assert code == 2
    assert lines[-1] == "tests/area: fail without a mutant"


def test_a_test_that_fails_without_the_tests_before_it_kills_none(module):
    test = module.parents[3] / "tests/area/test_signs.py"
    test.write_text(
        "SEEN = []\n\n\n"
        "def test_first():\n    SEEN.append(1)\n\n\n"
        "def test_second():\n    from pkg.area.signs import sign\n\n    assert sign(-1) == 'negative' and SEEN\n"
    )
    code, lines = check(f"{module}:8", "--limit=1")
    assert code == 2
    assert lines[-1] == "src/pkg/area/signs.py: these tests fail without a mutant"


def test_what_an_import_makes_of_a_change_any_test_may_notice(module):
    module.write_text(f"{MODULE}\n\nLARGE = sign(11)\n")
    test = module.parents[3] / "tests/area/test_signs.py"
    test.write_text(
        f"{TESTS}\n\ndef test_table():\n    from pkg.area import signs\n\n    assert signs.LARGE == 'large'\n"
    )
    code, lines = check(f"{module}:6", "--limit=1")
    assert code == 0
    assert "  src/pkg/area/signs.py:6: killed by tests/area/test_signs.py::test_table" in lines


def test_a_mutant_that_takes_too_long_is_stopped(module):
    given = MUTANTS["find_module"](str(module), [])
    assert MUTANTS["run_tests"](given, [], MODULE, limit=0.0).code is None


@pytest.mark.parametrize(
    ("source", "mutants"),
    TABLES["a_source_has_these_mutants"],
)
def test_a_source_has_these_mutants(source, mutants):
    assert [mutant.source for mutant in MUTANTS["find_mutants"](source)] == mutants


def test_conditions_are_negated_once():
    source = "if a in b:\n    pass\nwhile a:\n    break\n"
    assert [(mutant.line, mutant.source) for mutant in MUTANTS["find_mutants"](source)] == [
        (1, "if (a not in b):\n    pass\nwhile a:\n    break\n"),
        (3, "if a in b:\n    pass\nwhile (not (a)):\n    break\n"),
        (4, "if a in b:\n    pass\nwhile a:\n    pass\n"),
    ]
