"""The parameters of a tool through which a model can pass text."""

from __future__ import annotations

from contextlib import suppress
from inspect import Parameter, signature
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

_MAX_DEPTH = 8  # a schema may contain itself
_PARTS = ("anyOf", "oneOf", "allOf")
_NO_TEXT = frozenset(("integer", "number", "boolean", "null"))
_OPEN = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)


class Parameters(NamedTuple):
    """``texts``: the names of the parameters that take text of any form, also in lists and objects. ``are_all``: there
    are no others, whose names the model chooses.
    """

    texts: tuple[str, ...]
    are_all: bool


def parameters_of(schema: Mapping[str, Any] | None, function: Callable[..., Any] | None) -> Parameters | None:
    """Return the parameters by a JSON schema, or by the signature of a function; None if neither says anything."""
    if schema is not None and isinstance(schema.get("properties"), dict):
        return _by_schema(schema)
    return None if function is None else _by_function(function)


def _by_schema(schema: Mapping[str, Any]) -> Parameters:
    properties: dict[str, Any] = schema["properties"]
    is_closed = not schema.get("additionalProperties") and schema.keys().isdisjoint((*_PARTS, "patternProperties"))
    if len(properties) == 1:  # all arguments in one object
        wrapped = _resolved(next(iter(properties.values())), schema)
        if isinstance(wrapped, dict) and isinstance(wrapped.get("properties"), dict):
            properties, wrapper = wrapped["properties"], wrapped
            return _named(properties, schema, are_all=is_closed and not wrapper.get("additionalProperties"))
    return _named(properties, schema, are_all=is_closed)


def _named(properties: Mapping[str, Any], root: Mapping[str, Any], *, are_all: bool) -> Parameters:
    found = {name: _takes(schema, root) for name, schema in properties.items()}
    texts = tuple(name for name, takes in found.items() if takes)
    return Parameters(texts, are_all and "object" not in found.values())


def _takes(schema: Any, root: Mapping[str, Any], depth: int = 0) -> str:
    """Return ``text``, ``object`` for names and texts that the model chooses, or nothing."""
    schema = _resolved(schema, root)
    if not isinstance(schema, dict) or depth > _MAX_DEPTH:
        return "object" if depth > _MAX_DEPTH else "text"
    if "enum" in schema or "const" in schema:
        return ""
    parts = [part for key in _PARTS for part in schema.get(key, ())]
    kinds = schema.get("type", "any")
    kinds = [kinds] if isinstance(kinds, str) else list(kinds)
    if parts and kinds == ["any"]:
        kinds = []
    found = {_takes(part, root, depth + 1) for part in parts}
    for kind in kinds:
        if kind == "array":
            found |= {_takes(part, root, depth + 1) for part in schema.get("prefixItems", ())}
            if "items" in schema or not found:
                found.add(_takes(schema.get("items", True), root, depth + 1))
        elif kind not in _NO_TEXT:
            found.add("object" if kind == "object" else "text")
    return max(found, key=("", "text", "object").index, default="")


def _resolved(schema: Any, root: Mapping[str, Any]) -> Any:
    for _ in range(_MAX_DEPTH):
        if not isinstance(schema, dict) or not isinstance(reference := schema.get("$ref"), str):
            break
        schema = root
        for step in reference.removeprefix("#/").split("/"):
            schema = schema.get(step) if isinstance(schema, dict) else None
    return schema


def _by_function(function: Callable[..., Any]) -> Parameters | None:
    try:
        given = signature(function)
        with suppress(Exception):  # an annotation is any expression
            given = signature(function, eval_str=True)
    except (TypeError, ValueError):  # of a built-in function
        return None
    named = [each for each in given.parameters.values() if each.kind not in _OPEN]
    schemas = {each.name: schema for each in named if (schema := _schema_of(each.annotation)) is not None}
    defined = {name: each for schema in schemas.values() for name, each in schema.get("$defs", {}).items()}
    are_all = len(named) == len(given.parameters)
    return _by_schema({"properties": schemas, "$defs": defined, "additionalProperties": not are_all})


def _schema_of(annotation: Any) -> dict[str, Any] | None:
    """Return the schema of a parameter; None for one that no model can fill, such as the context of a run."""
    from pydantic import PydanticSchemaGenerationError, PydanticUserError, TypeAdapter

    if annotation is Parameter.empty or isinstance(annotation, str):
        return {}
    try:
        return TypeAdapter(annotation).json_schema()
    except (PydanticSchemaGenerationError, PydanticUserError):
        return None
