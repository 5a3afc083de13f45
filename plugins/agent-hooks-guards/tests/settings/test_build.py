"""Settings as plain data: by themselves where they are simple, else by the models, and always the same."""

from __future__ import annotations

import types
from typing import Annotated, Literal, Union, get_args, get_origin

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agent_hooks import SettingsError
from agent_hooks.sources.plugin_settings import PluginTable, plain_settings
from agent_hooks_guards import GuardsSettings
from agent_hooks_guards.settings.build import _PLAIN, FileGuards, build, modelled
from agent_hooks_guards.settings.layers import ORDERS

SOURCES = ("project", "user", "managed")
WORDS = sorted({value for keys in ORDERS.values() for values, _ in keys.values() for value in values})


def table(settings, source="user"):
    return PluginTable(name="guards", path="/p/agent-hooks.toml", source=source, settings=settings, at="guards")


def plain(given):
    return plain_settings(given, _PLAIN)


def by_model(given):
    """What the models make of a table; None if it is wrong."""
    try:
        return modelled(given)
    except SettingsError:
        return None


def types_in(annotation):
    """The types that a key may have, of unions and of what is annotated."""
    if get_origin(annotation) is Annotated:
        return types_in(get_args(annotation)[0])
    if get_origin(annotation) in (Union, types.UnionType):
        return [each for inner in get_args(annotation) for each in types_in(inner)]
    return [annotation]


def model_of(guard):
    return next(each for each in types_in(GuardsSettings.model_fields[guard].annotation) if each is not None)


KEYS = sorted({*(key for keys in ORDERS.values() for key in keys), "matcher", "allow", "Level", "rules"})
NUMBERS = ["max_steps", "max_tokens", "max_execution_time"]
VALUES = st.one_of(
    st.sampled_from([*WORDS, "", " strict", "Strict", "nothing"]),
    st.sampled_from(
        [True, False, -1, 0, 1, 2**53 - 1, 2**53, 2**64, 0.0, -0.0, 1.5, 1e300, float("nan"), float("inf")]
    ),
    st.integers(),
    st.floats(),
    st.sampled_from([[], ["strict"], {}, {"level": "strict"}]),
)
TABLES = st.dictionaries(
    st.sampled_from([*NUMBERS, *ORDERS, "injection", "audit", "cancel_file", "unknown"]),
    st.one_of(VALUES, st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=3)),
    max_size=3,
)


@given(TABLES, st.sampled_from(SOURCES))
@example({}, "user")
@example({"max_execution_time": 600, "max_steps": 0}, "project")
@example({"max_steps": True}, "user")
@example({"max_steps": 1.0}, "user")
@example({"shell": {}, "injection": {}}, "project")
def test_what_is_read_without_the_models_is_what_they_say(settings, source):
    found = plain(table(settings, source))
    assert found in (None, by_model(table(settings, source)))
    if found is not None:  # what guards refuse is an error at once, with the models
        assert len(FileGuards(table(settings, source), found).run_limits) == len({*found} & {*NUMBERS})


@pytest.mark.parametrize("settings", ["x", 3, [], [{"level": "strict"}]])
def test_what_is_no_table_is_left_to_the_models(settings):
    assert plain(table(settings)) is None
    with pytest.raises(SettingsError):
        build(table(settings))


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("guard", [*ORDERS])
def test_every_key_with_a_fixed_list_of_values_is_read_without_the_models(guard, source):
    """And the models take exactly these, of a project those that are no looser than the default."""
    listed = {
        key: get_args(each)
        for key, field in model_of(guard).model_fields.items()
        for each in types_in(field.annotation)
        if get_origin(each) is Literal
    }
    assert {key: {*values} for key, values in listed.items()} == {
        key: {*values} for key, (values, _) in ORDERS[guard].items()
    }
    for key in listed:
        for word in WORDS:
            one = table({guard: {key: word}}, source)
            assert plain(one) == by_model(one)


@pytest.mark.parametrize("value", [0, 7, 2**53 - 1])
@pytest.mark.parametrize("source", SOURCES)
def test_every_number_is_read_without_the_models(source, value):
    fields = GuardsSettings.model_fields.items()
    assert [key for key, field in fields if {int, float} & {*types_in(field.annotation)}] == NUMBERS
    for key in NUMBERS:
        found = plain(table({key: value}, source))
        assert found == by_model(table({key: value}, source))
        assert found is not None
        assert type(found[key]) is type(modelled(table({key: value}, source))[key])
