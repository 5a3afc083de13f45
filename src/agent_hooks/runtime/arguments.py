"""The arguments of a tool: JSON Schema and validator from its function's signature."""

from __future__ import annotations

import functools
import inspect
import re
import sys
from types import GenericAlias
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin, get_type_hints

from agent_hooks.errors import RunError, ToolArgumentsError
from agent_hooks.model.values import FrozenDict, freeze

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    from pydantic import BaseModel
    from pydantic_core import ErrorDetails

# The length of values in messages, in characters: the model knows the values that it sent.
_SHOWN = 80
# The field for **kwargs. As extras of the model they would make its dataclasses accept extras, too.
_REST = "**"
_EMPTY = inspect.Parameter.empty


class Arguments:
    """The parameters of a signature, which is read at once; pydantic is imported when first needed."""

    def __init__(self, function: Callable[..., Any], base: Any, label: str) -> None:
        self._label = label
        try:
            found = inspect.signature(function).parameters
            own = inspect.signature(base).parameters.values()
        except (TypeError, ValueError, NameError) as error:
            raise RunError(
                f"{label}: its signature cannot be read ({error}); wrap it in a function of yours."
            ) from error
        bound = function.keywords if isinstance(function, functools.partial) else {}
        self._parameters = [parameter for name, parameter in found.items() if name not in bound]
        for position, parameter in enumerate(self._parameters):
            if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.VAR_POSITIONAL):
                raise RunError(
                    f"{label}: {str(parameter).partition(':')[0]!r} cannot be given by name, and a model gives every "
                    "argument by name. Make it an ordinary parameter, a list for several values."
                )
            if position == 0 and parameter.name == "self":
                raise RunError(f"{label} is a method without its object: make a tool of the bound one, object.method.")
        # Names that must not enter through **kwargs, above all bound parameters.
        self._reserved = {parameter.name for parameter in own if parameter.kind != parameter.VAR_KEYWORD}
        self._plain = inspect.unwrap(base)
        self._local_names = _local_names(self._plain, [parameter.annotation for parameter in self._parameters])
        # The fields of the model are numbered, because pydantic reserves some names ("schema", "copy", "_x").
        self._name_of = {f"p{number}": parameter.name for number, parameter in enumerate(self._parameters)}
        self._rest = next((one.name for one in self._parameters if one.kind == one.VAR_KEYWORD), None)

    def read(self, args: dict[str, Any]) -> dict[str, Any]:
        """Return the validated arguments by parameter, defaults included. Raises ``ToolArgumentsError``."""
        validate, wrong = self._validator
        if self._rest is not None:
            rest = {name: value for name, value in args.items() if name not in self._names}
            args = {**{name: value for name, value in args.items() if name in self._names}, _REST: rest}
            if not self._reserved.isdisjoint(rest):
                raise ToolArgumentsError("\n".join(map(self._unknown, sorted(self._reserved & rest.keys()))))
        try:
            model = validate(args)
        except wrong as error:
            details = error.errors(include_url=False, include_context=False)
            raise ToolArgumentsError(self._explain(details)) from None
        values = {self._name_of[field]: value for field, value in vars(model).items()}
        return values if self._rest is None else {**values.pop(self._rest), **values}

    def schema(self) -> FrozenDict:
        """Return the JSON Schema of the arguments. Raises ``RunError`` for a type that has none."""
        from pydantic.errors import PydanticUserError
        from pydantic.json_schema import GenerateJsonSchema

        class Untitled(GenerateJsonSchema):
            # A default that JSON cannot express concerns the function only: no warning.
            ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012 - so declared above

            def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002
                return False

        try:
            schema = self._model.model_json_schema(schema_generator=Untitled)
        except PydanticUserError as error:
            message = error.message.partition("\n")[0].rstrip(".")
            raise RunError(f"{self._label}: {message}. Annotate it with a type that JSON can write.") from error
        schema.pop("title", None)
        if self._rest is not None:
            schema["additionalProperties"] = schema["properties"].pop(_REST)["additionalProperties"]
        for name, definition in schema.get("$defs", {}).items():
            if definition.get("title") == name:
                del definition["title"]
        frozen: FrozenDict = freeze(schema)
        return frozen

    @functools.cached_property
    def _validator(self) -> tuple[Callable[[Any], BaseModel], Any]:
        """The validating function and its exception."""
        from pydantic import ValidationError

        return self._model.__pydantic_validator__.validate_python, ValidationError

    @functools.cached_property
    def _model(self) -> type[BaseModel]:
        from pydantic import ConfigDict, Field, create_model
        from pydantic.errors import PydanticUserError

        types = self._types()
        fields: dict[str, Any] = {}
        for field, parameter in zip(self._name_of, self._parameters, strict=True):
            kind, default = types[parameter.name], parameter.default
            if parameter.name == self._rest:
                fields[field] = (GenericAlias(dict, (str, kind)), Field({}, alias=_REST))
            else:
                # The alias comes first: one in the author's own Field wins.
                fields[field] = (_annotated(kind, Field(alias=parameter.name)), ... if default is _EMPTY else default)
        try:
            made: type[BaseModel] = create_model("Arguments", __config__=ConfigDict(extra="forbid"), **fields)
        except (PydanticUserError, NameError, TypeError) as error:
            message = str(getattr(error, "message", error)).partition("\n")[0]
            raise RunError(
                f"{self._label}: pydantic cannot validate its parameters: {message} "
                "Use types that it knows, or leave the annotation out."
            ) from error
        return made

    @functools.cached_property
    def _names(self) -> tuple[str, ...]:
        """The parameter names that the model uses."""
        aliases = [field.validation_alias for field in self._model.model_fields.values()]
        choices = [choice for alias in aliases for choice in getattr(alias, "choices", [alias])]
        return tuple(name for name in (getattr(choice, "path", [choice])[0] for choice in choices) if name != _REST)

    def _types(self) -> dict[str, Any]:
        """Return the type of every parameter; the return annotation is not resolved."""
        written = {p.name: Any if p.annotation is _EMPTY else p.annotation for p in self._parameters}
        holder = type("Annotations", (), {"__annotations__": written})
        known = getattr(self._plain, "__globals__", {})
        try:
            return get_type_hints(holder, known, self._local_names, include_extras=True)
        except (NameError, SyntaxError, TypeError, AttributeError) as error:
            raise RunError(
                f"{self._label}: an annotation cannot be read ({error}); its names must be importable when the program "
                "runs, so not only under TYPE_CHECKING, and known where the function is defined."
            ) from error

    def _explain(self, details: list[ErrorDetails]) -> str:
        missing: list[str] = []
        lines: list[str] = []
        for error in details:
            location = [str(part) for part in error["loc"]]
            if self._rest is not None and location[:1] == [_REST]:
                del location[0]
            path = ".".join(location)
            if error["type"] == "missing" and len(location) == 1:
                missing.append(path)
            elif error["type"] == "extra_forbidden" and len(location) == 1:
                lines.append(self._unknown(path))
            else:
                given = "" if error["type"] == "missing" else f", got {short(error['input'])}"
                lines.append(f"{_cut(path)}: {error['msg']}{given}")
        return "\n".join([f"Missing required parameters: {', '.join(missing)}", *lines] if missing else lines)

    def _unknown(self, name: str) -> str:
        return f"{_cut(name)}: Unknown parameter; the tool takes {', '.join(self._names) or 'none'}"


def _annotated(kind: Any, first: object) -> Any:
    inner, *more = get_args(kind) if get_origin(kind) is Annotated else (kind,)
    return Annotated[(inner, first, *more)]


def _local_names(function: Any, annotations: list[Any]) -> dict[str, Any]:
    """Return the local names of enclosing functions, found on the stack, for string annotations."""
    names = set(re.findall(r"\w+", " ".join(text for text in annotations if isinstance(text, str))))
    found: dict[str, Any] = {}
    if not names or "<locals>" not in function.__qualname__:
        return found
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        around = function.__qualname__.startswith(f"{code.co_qualname}.<locals>.")
        if around and code.co_filename == function.__code__.co_filename:
            variables = frame.f_locals
            found = {**{name: variables[name] for name in names if name in variables}, **found}
        frame = frame.f_back
    return found


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def short(value: object) -> str:
    """Return the representation of ``value``, shortened for a message."""
    return _cut(repr(value))
