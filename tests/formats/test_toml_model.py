"""The models of ``agent-hooks.toml``, and what is said about what does not fit one."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agent_hooks.formats.entry import HookEntry, Permits
from agent_hooks.formats.toml import KEYS
from agent_hooks.formats.toml_model import (
    HandlerTable,
    HookFile,
    MatcherOptions,
    MatcherTable,
    PermitsTable,
    PolicyTable,
    problems,
)
from agent_hooks.model.policy import MODES, HookPolicy
from tables import tables

TABLES = tables(__file__)

MODELS = {model.__name__: model for model in (PolicyTable, PermitsTable, HandlerTable, HookFile, MatcherTable)}


def said(model: type[BaseModel], table: Any, at: tuple[str | int, ...] = ()) -> list[str]:
    """What is wrong and the remedy, in one sentence each."""
    with pytest.raises(ValidationError) as caught:
        model.model_validate(table)
    return [f"{problem.message} {problem.remedy}" for problem in problems(caught.value, model, table, at)]


# -- the models and what they stand for --------------------------------------------------------------------------------


def test_the_parser_knows_the_keys_without_the_model():
    assert list(KEYS) == [*HookFile.model_fields]


def test_the_policy_has_the_fields_of_the_engines():
    assert set(PolicyTable.model_fields) == HookPolicy._known


@pytest.mark.parametrize(("key", "value"), TABLES["accepted"])
def test_what_the_policy_accepts_the_engine_takes(key, value):
    fields = PolicyTable.model_validate({key: value}).model_dump(exclude_unset=True)
    assert getattr(HookPolicy(**fields), key) == value


@pytest.mark.parametrize(("key", "value"), TABLES["refused"])
def test_what_the_engine_refuses_the_policy_does_not_accept(key, value):
    with pytest.raises(ValidationError):
        PolicyTable.model_validate({key: value})


def test_permits_and_options_are_those_of_an_entry():
    assert set(PermitsTable.model_fields) == Permits._known
    options = {"is_async" if name == "background" else name for name in MatcherOptions.model_fields}
    assert options <= HookEntry._known


def test_a_mode_is_one_of_the_engines():
    assert [MatcherOptions.model_validate({"mode": mode}).mode for mode in MODES] == [*MODES]


def test_a_handler_may_have_any_keys_beside_its_type():
    assert HandlerTable.model_validate({"type": "mine", "x": {"y": [1]}}).model_dump() == {
        "type": "mine",
        "x": {"y": [1]},
    }


def test_any_other_table_of_a_file_is_let_be():
    assert HookFile.model_validate({"guards": {"max_steps": 1}}).model_extra == {"guards": {"max_steps": 1}}


def test_only_observers_are_in_the_background():
    assert MatcherOptions.model_validate({"background": True, "mode": "observe"}).background
    assert said(MatcherOptions, {"background": True}) == [
        'background = true is for observers: add mode = "observe". Correct it.'
    ]


# -- what is said --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("model", "table", "sentence"), TABLES["mistakes"])
def test_each_mistake_names_its_key_what_is_allowed_and_the_remedy(model, table, sentence):
    assert said(MODELS[model], table) == [sentence]


def test_every_mistake_is_told_with_its_place():
    table = {"env": [1], "hosts": 2, "x": 3}
    with pytest.raises(ValidationError) as caught:
        PermitsTable.model_validate(table)
    found = problems(caught.value, PermitsTable, table, ("tool", "agent_hooks", "permits"))
    assert [problem.place[3:] for problem in found] == [("env", 0), ("hosts",), ("x",)]
    assert all(problem.message.startswith("tool.agent_hooks.permits.") for problem in found)


class Unions(BaseModel):
    """As a handler's own model may be."""

    model_config = ConfigDict(extra="forbid")

    command: str | list[str]
    message: str = Field("", alias="statusMessage")


def test_the_branches_of_a_union_are_told_together_and_keys_by_the_names_of_files():
    assert said(Unions, {"command": 3}) == [
        "command must be a valid string or be a valid list, not a number. Correct it."
    ]
    assert said(Unions, {"command": "x", "statusMesage": "y"}) == [
        "statusMesage is not a key here. Those there are: command, statusMessage. Did you mean 'statusMessage'?"
    ]


def test_no_value_is_told():
    """It may be a secret."""
    secret = "s3cr3t-" * 3
    for model, table in (
        (PermitsTable, {"env": secret}),
        (PolicyTable, {"timeout": secret, "contracts": secret, secret[:4]: secret}),
        (HookFile, {"ignore": [secret], "policy": secret}),
        (Unions, {"command": {"a": secret}}),
    ):
        assert all(secret not in sentence for sentence in said(model, table))
