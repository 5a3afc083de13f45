"""The lines of tables and keys."""

from __future__ import annotations

from textwrap import dedent
from tomllib import loads

import pytest

from agent_hooks.formats.toml_lines import lines_of


def lines(text: str) -> dict[tuple[str | int, ...], int]:
    loads(text)  # which the function may rely on
    return lines_of(text)


def test_keys_tables_and_lists_of_tables_have_lines():
    assert lines(
        dedent(
            """\
            disabled = ["a"]

            [policy]
            timeout = 3
            [[hooks.setup]]
            matcher = "x"
              [[hooks.setup.hooks]]  # the first
              type = "a"
              [[hooks.setup.hooks]]
            [[hooks.setup]]
              [[hooks.setup.hooks]]
            """
        )
    ) == {
        ("disabled",): 1,
        ("policy",): 3,
        ("policy", "timeout"): 4,
        ("hooks",): 5,
        ("hooks", "setup"): 5,
        ("hooks", "setup", 0): 5,
        ("hooks", "setup", 0, "matcher"): 6,
        ("hooks", "setup", 0, "hooks"): 7,
        ("hooks", "setup", 0, "hooks", 0): 7,
        ("hooks", "setup", 0, "hooks", 0, "type"): 8,
        ("hooks", "setup", 0, "hooks", 1): 9,
        ("hooks", "setup", 1): 10,
        ("hooks", "setup", 1, "hooks"): 11,
        ("hooks", "setup", 1, "hooks", 0): 11,
    }


def test_a_key_with_dots_writes_all_tables_on_its_way_where_they_are_new():
    found = lines("a.b . c = 1\na.d = 2\n[e . f]\ng.h = 3\n")
    assert found == {
        ("a",): 1,
        ("a", "b"): 1,
        ("a", "b", "c"): 1,
        ("a", "d"): 2,
        ("e",): 3,
        ("e", "f"): 3,
        ("e", "f", "g"): 4,
        ("e", "f", "g", "h"): 4,
    }


def test_a_key_in_quotes_is_its_content():
    text = """\
'tool'."a.b" = 1
["a=]#" . 'x y']
"" = 2
[["[[".b]]
"""
    assert lines(text) == {
        ("tool",): 1,
        ("tool", "a.b"): 1,
        ("a=]#",): 2,
        ("a=]#", "x y"): 2,
        ("a=]#", "x y", ""): 3,
        ("[[",): 4,
        ("[[", "b"): 4,
        ("[[", "b", 0): 4,
    }


@pytest.mark.parametrize(
    "value",
    [
        '"""\n[[hooks]]\nx = 1\n"""',
        "'''\n[x]\n# '' \n'''",
        '"""""a""\n""b"""""',
        '"""\\"""\n"""',
        "''''a''\n''b'''''",
        "[\n  1, # ]\n  '[',\n  [\"]\"],\n]",
        '{a = "{", b = [\n1\n]}',
        '"# = [" # = [',
        "'\\' # [",
    ],
)
def test_what_is_inside_a_value_is_not_taken_for_more(value):
    text = f"before = {value}\nafter = 1\n"
    assert lines(text) == {("before",): 1, ("after",): 2 + value.count("\n")}


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_lines_end_as_they_do_on_any_system_and_the_last_need_not(end):
    assert lines(end.join(("a = 1", "# b", "", "[c]", "d = 2"))) == {("a",): 1, ("c",): 4, ("c", "d"): 5}


def test_a_text_without_keys_has_no_lines():
    assert lines("") == lines("\n # a = 1\n") == {}


def test_a_large_file_is_read_in_one_go():
    """Nothing in it is looked at again and again."""
    many = 20_000
    found = lines("a = [\n" + "'[', \n" * many + "]\n" + 'b = """\n' + '"" \n' * many + '"""\nc = 1\n')
    assert found["c",] == 2 * many + 5
