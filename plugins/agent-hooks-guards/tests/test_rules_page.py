"""docs/rules.md names every family, and every key and word of the language."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

from agent_hooks_guards.rules import model
from agent_hooks_guards.rules.loading import own_families

PAGE = (Path(__file__).parents[3] / "docs" / "rules.md").read_text(encoding="utf-8")
_BEGIN, _END = "<!-- families -->\n\n", "\n<!-- end of families -->"


def test_the_table_of_the_families_is_that_of_their_files():
    rows = [f"| `{each.family}` | {each.title} | `{_instance(each)}` |" for each in own_families()]
    expected = "\n".join(("| family | about | for instance |", "|---|---|---|", *rows, ""))
    assert PAGE.partition(_BEGIN)[2].partition(_END)[0] == expected


def _instance(family):
    """The shortest command that its first rule stops."""
    return min(family.rules[0].stops, key=len).replace("|", "\\|")


@pytest.mark.parametrize("table", [model.Rule, model.Match])
def test_every_key_is_on_the_page(table):
    named = {name for row in re.findall(r"^\| (`.*?) \|", PAGE, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)}
    named |= {"doubt"} if "`doubt`" in PAGE else set()
    assert {field.alias or name for name, field in table.model_fields.items()} - named == set()


def test_every_kind_of_path_is_in_its_table():
    table = PAGE.partition("### Kinds of paths")[2].partition("###")[0]
    assert set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) == model.KINDS


@pytest.mark.parametrize("words", [model.EffectKind, model.DoubtKind, model.Label, model.Severity])
def test_every_word_is_explained(words):
    assert [word for word in get_args(words) if f"`{word}`" not in PAGE] == []
