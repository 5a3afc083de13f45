"""The kind of a tool that nobody declares, one rule in each row. Published tools: those of agent-hooks-frameworks."""

from __future__ import annotations

import pytest

from agent_hooks.model.tool_kinds import kind_by
from tables import tables

TABLES = tables(__file__)

KINDS = TABLES["kinds"]


@pytest.mark.parametrize(("name", "keys", "kind"), KINDS)
def test_the_name_and_the_parameters_say_the_kind(name, keys, kind):
    assert (kind_by(name, frozenset(keys.split())) or "") == kind


@pytest.mark.parametrize(
    ("name", "keys", "kind"),
    [
        ("greet", "", "other"),
        ("say", "message", "other"),
        ("notify", "message recipient", "other"),
        ("notify", "recipient", None),
        ("notify", "message account_number", None),
        ("run_say", "message", None),
        ("press_say", "message", None),
    ],
)
def test_a_tool_is_another_one_only_if_all_its_parameters_are_texts_for_people(name, keys, kind):
    assert kind_by(name, frozenset(keys.split()), are_all=True) == kind
    assert kind_by(name, frozenset(keys.split())) is None


@pytest.mark.parametrize(
    ("name", "kind"), [("Bash", "shell"), ("grep_search", "search"), ("question", None), ("x", None)]
)
def test_without_parameters_a_shared_name_decides(name, kind):
    assert kind_by(name, None) == kind
