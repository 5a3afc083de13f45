"""Commands of editors are read for what they run and which files they touch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from making import nothing

from agent_hooks_guards.code.editors import scan
from agent_hooks_guards.model.values import UNKNOWN, Data
from tables import tables

if TYPE_CHECKING:
    from agent_hooks_guards.code import Found

TABLES = tables(__file__)

NONE: frozenset[str] = frozenset()


def found(language: str, code: str) -> Found:
    return scan(code, NONE, [], language)


@pytest.mark.parametrize(("language", "code"), TABLES["shells"])
def test_what_an_editor_gives_to_a_shell_is_told(language, code):
    assert "halt" in [data.text.strip() for data in found(language, code).shells]


@pytest.mark.parametrize(
    ("language", "code", "effect"),
    [
        ("vim", ":w /x", ("write", "/x", False, NONE, "")),
        ("vim", ":w! /x", ("write", "/x", False, NONE, "")),
        ("vim", ":wq /x", ("write", "/x", False, NONE, "")),
        ("vim", ":w >> /x", ("write", "/x", False, NONE, "append")),
        ("vim", ":saveas /x", ("write", "/x", False, NONE, "")),
        ("vim", ":r /x", ("read", "/x", False, NONE, "")),
        ("vim", ":e /x", ("read", "/x", False, NONE, "")),
        ("vim", ":source /x", ("run", "/x", False, NONE, "")),
        ("vim", ":call delete('/x', 'rf')", ("delete", "/x", True, NONE, "")),
        ("vim", ":call writefile(['a'], '/x')", ("write", "/x", False, NONE, "")),
        ("ed", "w /x", ("write", "/x", False, NONE, "")),
        ("ed", "1,2w /x", ("write", "/x", False, NONE, "")),
        ("ed", "wq /x", ("write", "/x", False, NONE, "")),
        ("ed", "r /x", ("read", "/x", False, NONE, "")),
    ],
)
def test_the_files_it_touches_are_told(language, code, effect):
    assert found(language, code).effects == [effect]


def test_code_in_another_language_is_told():
    assert found("vim", ":python3 import os").codes == [("python", Data("import os"))]
    assert found("vim", "py3 << EOF\nimport os\nEOF\n").codes == [("python", Data("import os"))]
    assert found("vim", ":lua os.execute('x')").codes == [("lua", Data("os.execute('x')"))]
    assert found("vim", ":call py3eval('x()')").codes == [("python", Data("x()"))]


@pytest.mark.parametrize(("language", "code"), TABLES["what_only_edits_finds_nothing"])
def test_what_only_edits_finds_nothing(language, code):
    assert nothing(found(language, code))


@pytest.mark.parametrize(
    "code",
    [":silent! execute '!ha' . 'lt'", ":let x = system('ha'.'lt')", ":call system(c)", ":call call('system', x)"],
)
def test_a_computed_command_is_unknown(code):
    what = found("vim", code)
    assert what.doubts or [each.text for each in what.shells] == [UNKNOWN]


@pytest.mark.parametrize("separator", [" | ", "\n"])
def test_more_commands_than_are_looked_at_are_a_doubt(separator):
    assert found("vim", ":" + f"let x = 1{separator}" * 3_000 + "!halt").doubts
