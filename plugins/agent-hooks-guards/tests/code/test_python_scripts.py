"""Scripts of everyday work pass, and their harmful neighbours do not."""

from __future__ import annotations

from shlex import quote

import pytest
from making import decision

from tables import tables

pytestmark = pytest.mark.interpreter

TABLES = tables(__file__)

EVERYDAY = TABLES["everyday"]


def _here_document(code):
    return f"python3 - <<'END'\n{code}\nEND"


@pytest.mark.parametrize("name", EVERYDAY)
def test_a_script_of_everyday_work_passes(name):
    assert decision(_here_document(EVERYDAY[name])) == ""
    assert decision(f"cd src && python3 -c {quote(EVERYDAY[name])} > log.txt 2>&1") == ""


@pytest.mark.parametrize("code", TABLES["one_liners"])
def test_a_line_of_everyday_work_passes(code):
    assert decision(f"python3 -c {quote(code)}") == ""


@pytest.mark.parametrize(("name", "old", "new"), TABLES["the_harmful_neighbour_of_a_script_is_denied"])
def test_the_harmful_neighbour_of_a_script_is_denied(name, old, new):
    code = EVERYDAY[name]
    assert old in code
    assert decision(_here_document(code.replace(old, new))) == "deny"


@pytest.mark.parametrize("code", TABLES["code_that_may_run_counts_as_run"])
def test_code_that_may_run_counts_as_run(code):
    harm = "import os; os.system('rm -rf /')"
    assert decision(_here_document(code.replace("{harm}", harm))) == "deny"


@pytest.mark.parametrize("loop", TABLES["a_loop_over_a_literal_table_is_walked"])
def test_a_loop_over_a_literal_table_is_walked(loop):
    assert decision(_here_document(f"import shutil\n{loop}")) == "deny"


def test_a_command_that_is_one_of_several_is_asked_about():
    code = "import os, x\ndef pick():\n    if x.y: return 'rm -rf /'\n    return 'ls'\nos.system(pick())"
    assert decision(_here_document(code)) == "ask"


@pytest.mark.parametrize(("code", "expected"), TABLES["a_disk_is_written_and_other_devices_are_streams"])
def test_a_disk_is_written_and_other_devices_are_streams(code, expected):
    assert decision(_here_document(code)) == expected


@pytest.mark.parametrize("code", TABLES["libraries_that_start_programs_are_known"])
def test_libraries_that_start_programs_are_known(code):
    assert decision(_here_document(code)) == "deny"
