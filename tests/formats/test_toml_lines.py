"""The lines of tables and keys."""

from __future__ import annotations

from tomllib import loads

import pytest

from agent_hooks.formats.toml_lines import lines_of, written_key
from tables import tables

TABLES = tables(__file__)


def lines(text: str) -> dict[tuple[str | int, ...], int]:
    loads(text)  # which the function may rely on
    return lines_of(text)


@pytest.mark.parametrize("case", TABLES["places"], ids=lambda case: case["shows"])
def test_each_table_and_key_has_its_line(case):
    assert lines(case["text"]) == {tuple(place): line for *place, line in case["lines"]}


@pytest.mark.parametrize("value", TABLES["what_is_inside_a_value_is_not_taken_for_more"])
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


def test_a_key_is_written_as_toml_has_it():
    assert written_key(("hooks", "before_tool_use", 0, "a b", "c-d")) == "hooks.before_tool_use[0].'a b'.c-d"
    assert written_key(()) == ""
