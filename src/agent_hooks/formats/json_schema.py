"""The JSON Schema of ``agent-hooks.toml``, by which editors complete and check it."""

from __future__ import annotations

from inspect import getdoc
from typing import TYPE_CHECKING, Any

from pydantic import Field, create_model
from pydantic.json_schema import models_json_schema

from agent_hooks.engine import hookspecs
from agent_hooks.model.events import HookEvent

from .event_keys import event_names
from .toml_model import HandlerTable, HookFile

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import BaseModel

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def json_schema(types: Mapping[str, Any], settings: Mapping[str, type[BaseModel]] | None = None) -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of ``agent-hooks.toml``. ``types``: handler types by name. ``settings``:
    the models of the tables of plugins.
    """
    settings = settings or {}
    configs = {name: getattr(handler, "config", None) for name, handler in types.items()}
    models = {name: _with_type(name, config) for name, config in configs.items() if config is not None}
    every: list[type[BaseModel]] = [HookFile, *models.values(), *settings.values()]
    references, schema = models_json_schema([(model, "validation") for model in every])
    definitions = schema["$defs"]
    known = [references[model, "validation"] for model in models.values()]
    definitions["HandlerTable"] = {"oneOf": [*known, {"$ref": "#/$defs/OtherHandler"}]}
    definitions["OtherHandler"] = other = HandlerTable.model_json_schema()
    other["properties"]["type"] |= {"not": {"enum": [*models]}} if models else {}
    definitions["Matchers"] = {"type": "array", "items": {"$ref": "#/$defs/MatcherTable"}}
    top = definitions.pop("HookFile")
    for name, model in settings.items():
        top["properties"][name] = reference = references[model, "validation"]
        if model.model_config.get("extra") != "allow":
            definitions[reference["$ref"].removeprefix("#/$defs/")]["additionalProperties"] = False
    # Any other table is that of a plugin which is not installed here.
    top["additionalProperties"] = {"type": "object"}
    top["properties"]["hooks"] |= {"properties": _events(), "additionalProperties": False}
    return {"$schema": DIALECT, **top, "title": "agent-hooks.toml", "$defs": definitions}


def _with_type(name: str, config: type[BaseModel]) -> type[BaseModel]:
    const = Field(json_schema_extra={"const": name})
    # The doc string is the description that editors show.
    return create_model(f"{name} handler", __base__=config, __doc__=config.__doc__, type=(str, const))


def _events() -> dict[str, Any]:
    """Return the schema of each event, under its name and all its aliases."""
    events: dict[str, Any] = {}
    for event in HookEvent.all():
        sentence = getdoc(getattr(hookspecs, event, None)) or ""
        events[str(event)] = {"$ref": "#/$defs/Matchers", "description": sentence}
        for alias in event.aliases:
            events[alias] = {"$ref": "#/$defs/Matchers", "description": f"The same as {event!s}. {sentence}"}
    for name in event_names():
        events.setdefault(name, {"$ref": "#/$defs/Matchers", "description": f"Claude Code's event {name}."})
    return events
