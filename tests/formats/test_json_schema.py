"""The JSON Schema by which editors complete ``agent-hooks.toml``."""

from __future__ import annotations

from textwrap import dedent
from tomllib import loads

import pytest
from jsonschema import Draft202012Validator
from pydantic import BaseModel, ConfigDict, Field

from agent_hooks.formats.claude.event_names import EVENTS
from agent_hooks.formats.json_schema import json_schema
from agent_hooks.formats.toml import read_toml
from agent_hooks.handlers.command import CommandHandler
from agent_hooks.handlers.handler_type import HandlerType
from agent_hooks.handlers.http import HttpHandler
from agent_hooks.model.events import HookEvent, define_event
from tables import tables

TABLES = tables(__file__)


class Header(BaseModel):
    """A model inside another."""

    value: str


class RunConfig(BaseModel):
    """Runs a program."""

    model_config = ConfigDict(extra="forbid")

    command: str | list[str]
    timeout: float = Field(60, gt=0)
    headers: dict[str, Header] = {}
    message: str = Field("", alias="statusMessage")


class Run(HandlerType):
    config = RunConfig


class Plain:
    """A type that takes whatever there is."""

    def execute(self, config, ctx):
        """Look on."""


TYPES = {"command": Run(), "start": Run(), "plain": Plain()}


@pytest.fixture(scope="module")
def schema():
    made = json_schema(TYPES)
    Draft202012Validator.check_schema(made)
    return made


@pytest.fixture(scope="module")
def check(schema):
    validator = Draft202012Validator(schema)
    return lambda text: validator.is_valid(loads(dedent(text)))


GOOD = TABLES["good"]
BAD = TABLES["bad"]
# What only the model of the handler's type can tell.
BAD_HANDLERS = TABLES["bad_handlers"]


@pytest.mark.parametrize("text", GOOD)
def test_a_good_file_fits_and_is_read_without_findings(check, text):
    assert check(text)
    file = read_toml(dedent(text).encode(), path="/p/agent-hooks.toml", source="user")
    assert file is not None
    assert file.findings == ()


@pytest.mark.parametrize("text", BAD)
def test_a_bad_file_does_not_fit_and_has_findings(check, text):
    assert not check(text)
    file = read_toml(text.encode(), path="/p/agent-hooks.toml", source="user")
    assert file is not None
    assert file.findings


@pytest.mark.parametrize("handler", BAD_HANDLERS)
def test_a_handler_has_the_keys_of_its_type(check, handler):
    assert not check(f"[[hooks.setup]]\nhooks = [{{{handler}}}]")


def test_every_event_is_there_under_each_of_its_names_with_a_sentence(schema):
    events = schema["properties"]["hooks"]["properties"]
    ours = {name for event in HookEvent.all() for name in (str(event), *event.aliases)}
    assert set(events) == {*ours, *EVENTS}
    assert events["TaskCreated"]["description"] == "Claude Code's event TaskCreated."
    assert events["before_tool_use"]["description"].startswith("A tool")
    assert events["PreToolUse"]["description"].startswith("The same as before_tool_use. A tool")


@pytest.mark.parametrize(("handler", "is_good"), TABLES["the_built_in_types_are_checked_by_their_own_models"])
def test_the_built_in_types_are_checked_by_their_own_models(handler, is_good):
    made = json_schema({"command": CommandHandler(), "http": HttpHandler()})
    Draft202012Validator.check_schema(made)
    text = f"[[hooks.before_tool_use]]\nhooks = [{{{handler}}}]"
    assert Draft202012Validator(made).is_valid(loads(text)) is is_good


@pytest.mark.usefixtures("own_events")
def test_an_event_of_a_plugin_is_there_too():
    define_event("before_deploy", aliases="PreDeploy", decisions="deny", closed="deny", closed_means="not deployed")
    made = json_schema({})
    text = "[[hooks.PreDeploy]]\nhooks = [{type = 'x'}]"
    assert Draft202012Validator(made).is_valid(loads(text))


def test_without_known_types_any_handler_will_do():
    made = json_schema({})
    Draft202012Validator.check_schema(made)
    assert Draft202012Validator(made).is_valid(loads("[[hooks.setup]]\nhooks = [{type = 'command'}]"))


def test_descriptions_are_there_and_no_null_which_toml_has_not(schema):
    definitions = schema["$defs"]
    assert definitions["command_handler"]["description"] == "Runs a program."
    for table in ("PolicyTable", "PermitsTable", "MatcherTable"):
        for name, key in definitions[table]["properties"].items():
            assert key["description"], name
            assert key.get("default", "") is not None, name
