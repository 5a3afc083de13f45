"""Code of other languages is known by its string literals."""

from __future__ import annotations

import pytest

from agent_hooks_guards.code import Found, scan
from agent_hooks_guards.model.values import Data


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("r", "system('halt -f')"),
        ("julia", "run(`halt -f`)"),
        ("tcl", "exec halt -f"),
        ("other", '(shell-command "halt -f")'),
        ("groovy", "'halt -f'.execute()"),
        ("applescript", 'do shell script "halt -f"'),
        ("c", '#include <stdlib.h>\nint main(void) { return system("halt -f"); }'),
        ("go", 'exec.Command("halt", "-f").Run()'),
        ("other", 'System.cmd("halt", ["-f"])'),
        ("other", '"halt -f".!'),
        ("crystal", "`halt -f`"),
    ],
)
def test_strings_of_code_that_starts_processes_are_command_lines(language, code):
    assert Data("halt -f") in scan(language, Data(code), []).shells


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("groovy", "new File('/x').deleteDir()"),
        ("r", "unlink('/x', recursive=TRUE)"),
        ("julia", 'rm("/x", recursive=true)'),
        ("tcl", "file delete -force /x"),
        ("other", '(delete-directory "/x" t)'),
    ],
)
def test_a_folder_that_is_deleted_is_told(language, code):
    assert ["rm", "-rf", "/x"] in scan(language, Data(code), []).programs


@pytest.mark.parametrize(
    ("language", "code"),
    [("r", "system(cmd)"), ("applescript", "do shell script c"), ("c", "int main() { system(s); }")],
)
def test_a_command_line_that_is_no_literal_is_a_doubt(language, code):
    assert scan(language, Data(code), []).doubts


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("r", "print('rm -rf /')"),
        ("r", "x <- c(1, 2); system.time(mean(x)); rm(x)"),
        ("julia", 'println("rm -rf /")'),
        ("groovy", "println 'rm -rf /'"),
        ("tcl", "puts {rm -rf /}"),
        ("other", 'IO.puts("rm x")'),
        ("c", '#include <stdio.h>\nint main(void) { puts("hi"); return 0; }'),
    ],
)
def test_code_that_starts_nothing_finds_nothing(language, code):
    found = scan(language, Data(code), [])
    assert found == Found(doubts=[])


def test_more_strings_than_are_looked_at_are_a_doubt_where_code_starts_processes():
    strings = "x = '';" * 100
    assert scan("r", Data(f"{strings} system('halt')"), []).doubts
    assert not scan("r", Data(strings), []).doubts
