"""The declarations of programs: each program has one home, and what is declared can be interpreted."""

from __future__ import annotations

import pytest

from agent_hooks_guards.model.declarations import TOUCHES, Table, declarations
from agent_hooks_guards.model.packing import pack_programs

TEXTS = {
    *(
        "names",
        "alike",
        "options",
        "groups",
        "effects",
        "inner",
        "connects",
        "sends",
        "pattern",
        "recursive",
        "append",
        "chosen",
    ),
    *("in_place", "looks", "idle", "on", "folder", "input", "prints", *TOUCHES),
}
LISTS = {"runs", "also"}
KEYS = TEXTS | LISTS | {"request", "same", "settings", "sub", "root"}


def check(table):
    """Raise ``ValueError`` for a key that no declaration has, or a value of another type."""
    for path, entry in table.entries.items():
        for key, value in entry.items():
            kind = str if key in TEXTS else list if key in LISTS else dict if key != "root" else bool
            if key == "prints" and isinstance(value, dict):
                continue
            if key not in KEYS or not isinstance(value, kind):
                raise ValueError(f"{path!r}: {key!r} is no key of a declaration, or no {kind.__name__}")


def packed(file):
    return Table(pack_programs({"file": file}))


def test_each_program_is_declared_once():
    table = declarations()
    homes = [*table.entries, *table.aliases, *table.names]
    assert len(homes) == len(set(homes)) > 1000


def test_every_other_name_leads_to_an_entry():
    table = declarations()
    targets = {*table.aliases.values(), *table.names.values()}
    assert {path for path in targets if path.partition(" ")[0] not in table.entries} == set()
    assert table.get("egrep") == table.get("grep")


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ({"a": {"alike": "b"}, "b": "-x"}, "'b' is declared twice"),
        ({"a": "-x", "b": {"names": "a"}}, "'a' is declared twice"),
        ({"a": {"sub": {"b|c": "-x", "c": "-y"}}}, "'a c' is declared twice"),
        ({"a": {"raeds": "*"}}, "'a': 'raeds' is no key"),
        ({"a": {"runs": "sh *"}}, "no list"),
        ({"a": {"sub": {"b": {"root": "yes"}}}}, "'a b': 'root' is no key of a declaration, or no bool"),
    ],
)
def test_a_second_home_and_an_unknown_key_are_errors(file, said):
    with pytest.raises(ValueError, match=said):
        check(packed(file))


def test_a_string_stands_for_the_options_and_a_subcommand_may_have_several_names():
    table = packed({"a": "-x=", "b": {"sub": {"c|d e": {"reads": "*"}}, "same": {"f": "a"}}})
    assert table.get("a") == {"options": "-x="}
    assert table.get("b d e") == {"reads": "*"}
    assert table.get("b f") == {"options": "-x="}
    assert table.holding("b", ("d", "e")) == (table.get("b"), table.get("b d e"))


def test_all_declarations_have_known_keys():
    check(declarations())
