"""Tools: Python functions that a model may call, with JSON Schema and validation from the function's signature."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypedDict, Unpack, cast, get_type_hints, overload

from agent_hooks.errors import ReadOnlyError, RunError, ToolArgumentsError
from agent_hooks.model.tools import KIND_OF_NAME, KINDS, MAX_NAME_LENGTH, is_trusted_name
from agent_hooks.model.values import FrozenDict, freeze, thaw

if TYPE_CHECKING:
    from typing import Protocol

    from pydantic import TypeAdapter
    from pydantic_core import ArgsKwargs, ErrorDetails, ValidationError

    from agent_hooks.model.tool_call import ToolCall


if TYPE_CHECKING:
    from typing_extensions import ParamSpec, TypeVar

    P = ParamSpec("P", default=...)  # a bare `Tool` is one of any function
    R = TypeVar("R", default=Any)
else:
    from typing import ParamSpec, TypeVar

    P, R = ParamSpec("P"), TypeVar("R")


class Tool(Generic[P, R]):
    """A function that a model may call, with its parameters and result. Immutable; created by ``tool``, ``Tool.of`` or
    directly.

    ``function``: sync or async; it gets its arguments by name, validated by pydantic from its annotations (lax mode:
    ``"3"`` is an integer). The model cannot set parameters bound by a ``functools.partial``. ``name``: by default the
    function's. ``kind``: one of ``tools.KINDS``, by default that of the name, else ``other``.
    ``description``: for the model, by default the docstring. ``aliases``: further names that a match may use.
    ``in_thread``: run in a thread instead of inline, with a copy of the context variables. ``parameters``: a JSON
    Schema, for a function that takes the arguments as one plain dict and validates them itself.

    Calling the tool calls the function without validation. Raises ``RunError`` for anything that cannot be a tool.
    """

    def __init__(
        self,
        function: Callable[P, R],
        *,
        name: str | None = None,
        kind: str | None = None,
        description: str | None = None,
        aliases: Iterable[str] = (),
        in_thread: bool = False,
        parameters: Mapping[str, Any] | None = None,
    ) -> None:
        inner: Any = function
        while isinstance(inner, functools.partial):
            inner = inner.func
        if not callable(inner) or isinstance(inner, (type, Tool)):
            raise RunError(f"{short(function)} is no function; give a function, a bound method or a callable object.")
        named, base = (inner, inner) if inspect.isroutine(inner) else (type(inner), type(inner).__call__)
        base = getattr(base, "__func__", base)
        functools.update_wrapper(self, named, updated=())
        self.__wrapped__ = self.function = function
        self.__doc__ = base.__doc__ or named.__doc__
        self.name = name = name or str(getattr(named, "__name__", ""))
        self._place = f"{getattr(named, '__module__', None) or 'builtins'}.{getattr(named, '__qualname__', name)}"
        label = f"Tool {short(name)} ({self._place})"
        if not is_trusted_name(name):
            raise RunError(
                f"{label} needs another name: 1 to {MAX_NAME_LENGTH} of A-Z a-z 0-9 _ . : / and -. "
                "Give it one: tool(name=...)."
            )
        self.kind = kind or KIND_OF_NAME.get(name, "other")
        if self.kind not in KINDS:
            raise RunError(f"{label}: {kind!r} is not a kind of tool; use one of {', '.join(KINDS)}.")
        further: tuple[Any, ...] = (aliases,) if isinstance(aliases, str) else tuple(aliases)
        if not all(isinstance(alias, str) and is_trusted_name(alias) for alias in further):
            raise RunError(f"{label}: aliases are names, of the same characters as a tool's own, not {further!r}.")
        if inspect.isgeneratorfunction(base) or inspect.isasyncgenfunction(base):
            raise RunError(f"{label} is a generator, and a model needs a whole result: return a list instead.")
        if in_thread and inspect.iscoroutinefunction(base):
            raise RunError(f"{label} is async and cannot run in a thread: leave in_thread out, or make it a plain def.")
        self.aliases, self.in_thread = further, in_thread
        self.description = inspect.cleandoc(self.__doc__ or "") if description is None else description
        self._arguments = Arguments(function, base, label) if parameters is None else None
        if parameters is not None:
            self.parameters = freeze(dict(parameters))
        self._is_made = True

    @classmethod
    def of(cls, obj: Any) -> Tool[..., Any]:
        """Return ``obj`` as a tool: a tool unchanged, a function wrapped in one.

        An object with ``name``, ``description``, ``parameters`` (a JSON Schema) and ``call(args)``, sync or async, is
        used as it is: it gets a plain dict and validates that itself. ``kind`` and ``aliases`` are honoured if
        present. Raises ``RunError`` for anything else.
        """
        if isinstance(obj, Tool):
            return obj
        own = [getattr(obj, name, None) for name in ("name", "description")]
        has_schema = isinstance(getattr(obj, "parameters", None), Mapping) and callable(getattr(obj, "call", None))
        if has_schema and all(isinstance(text, str) for text in own) and not isinstance(obj, type):
            kind, aliases = getattr(obj, "kind", None), getattr(obj, "aliases", ())
            name, description = own
            return Tool(
                obj.call, name=name, description=description, parameters=obj.parameters, kind=kind, aliases=aliases
            )
        if callable(obj):
            return Tool(obj)
        raise RunError(
            f"{short(obj)} is no tool; give a function, what @tool makes of one, or an object with name, description, "
            "parameters (a JSON Schema) and call(args)."
        )

    @functools.cached_property
    def parameters(self) -> FrozenDict:
        """JSON Schema of the arguments, an object; read-only. Raises ``RunError`` if an annotation has none."""
        assert self._arguments is not None
        return self._arguments.schema

    @functools.cached_property
    def schema(self) -> FrozenDict:
        """Name, description and parameters, for the model."""
        return FrozenDict(name=self.name, description=self.description, parameters=self.parameters)

    def known(self, call: ToolCall) -> ToolCall:
        """Return ``call`` with this tool's kind and aliases, which a model does not send."""
        if call.kind == self.kind and call.aliases == self.aliases:
            return call
        return call.replace(kind=self.kind, aliases=self.aliases)

    async def call(self, args: Mapping[str, Any]) -> Any:
        """Call the function, leaving ``args`` as they are. Raises ``ToolArgumentsError``, written for the model."""
        given = thaw(args if isinstance(args, dict) else dict(args))
        function: Callable[..., Any] = self.function
        if self._arguments is None:
            run = functools.partial(function, given)
        else:
            run = functools.partial(function, **self._arguments.read(given))
        result = await asyncio.to_thread(_without_stop_iteration, run) if self.in_thread else run()
        # Look at the type: an object that has every attribute, such as a mock, is not awaitable.
        return await result if hasattr(type(result), "__await__") else result

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function without validation."""
        return self.function(*args, **kwargs)

    def __setattr__(self, name: str, value: object) -> None:
        if "_is_made" in vars(self) and name != "__orig_class__":  # set by `Tool[[str], int](function)`
            raise ReadOnlyError(
                f"Tool.{name} is read-only; make another tool of the function: tool(function, {name}=...)."
            )
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> NoReturn:
        raise ReadOnlyError(f"Tool.{name} is read-only.")

    def __repr__(self) -> str:
        return f"<Tool {self.name!r} kind={self.kind} function={self._place}>"


if TYPE_CHECKING:

    class ToolDecorator(Protocol):
        """A decorator that makes a tool of a function."""

        def __call__(self, function: Callable[P, R], /) -> Tool[P, R]:
            """Return the tool."""


class ToolOptions(TypedDict, total=False):
    """The options of ``tool``; see ``Tool``."""

    name: str | None
    kind: str | None
    description: str | None
    aliases: Iterable[str]
    in_thread: bool


@overload
def tool(function: Callable[P, R], /, **options: Unpack[ToolOptions]) -> Tool[P, R]: ...
@overload
def tool(**options: Unpack[ToolOptions]) -> ToolDecorator: ...
def tool(function: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """Turn a function into a tool: ``@tool``, ``@tool(kind="shell")`` or ``tool(function, name=...)``.

    Options as in ``Tool``: ``name``, ``kind``, ``description``, ``aliases``, ``in_thread``. Raises ``RunError``.
    """
    if function is None:
        return functools.partial(tool, **options)
    return Tool(function, **options)


def toolset(tools: Iterable[object] | Mapping[str, Tool]) -> Mapping[str, Tool]:
    """Return tools by name, in a read-only mapping. Raises ``RunError`` for a repeated name."""
    found: dict[str, Tool] = {}
    for one in map(Tool.of, tools.values() if isinstance(tools, Mapping) else tools):
        other = found.setdefault(one.name, one)
        if other is not one:
            raise RunError(f"Two tools are called {one.name!r}: {other!r} and {one!r}. Rename one: tool(name=...).")
    return MappingProxyType(found)


def _without_stop_iteration(run: Callable[[], Any]) -> Any:
    """Call ``run``. A future cannot hold a StopIteration (before Python 3.12.4 its waiter never wakes up), so it
    becomes a RuntimeError, as in a coroutine (PEP 479).
    """
    try:
        return run()
    except StopIteration as error:
        raise RuntimeError("The tool raised StopIteration.") from error


# The length of values in messages, in characters: the model knows the values that it sent.
_SHOWN = 80


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
        # Names that must not enter through **kwargs: bound parameters, and those with another name for the model.
        is_open = any(parameter.kind == parameter.VAR_KEYWORD for parameter in self._parameters)
        self._reserved = {one.name for one in own if one.kind != one.VAR_KEYWORD} if is_open else set()
        self._plain = inspect.unwrap(base)

    def read(self, args: dict[str, Any]) -> dict[str, Any]:
        """Return the validated arguments by parameter, defaults included. Raises ``ToolArgumentsError``."""
        if self._reserved and (refused := sorted(self._reserved & args.keys() - set(self._names))):
            raise ToolArgumentsError("\n".join(map(self._unknown, refused)))
        validate, with_names, failure = self._validation
        try:
            values: dict[str, Any] = validate(with_names((), args))
        except failure as error:
            raise ToolArgumentsError(self._explain(error.errors(include_url=False, include_context=False))) from None
        return values

    @functools.cached_property
    def _validation(self) -> tuple[Callable[[ArgsKwargs], Any], type[ArgsKwargs], type[ValidationError]]:
        """The validator, and the types of its arguments and errors: an import statement takes a microsecond."""
        from pydantic_core import ArgsKwargs, ValidationError

        return self._adapter.validator.validate_python, ArgsKwargs, ValidationError

    @functools.cached_property
    def schema(self) -> FrozenDict:
        """The JSON Schema of the arguments. Raises ``RunError`` for a type that has none."""
        from pydantic.errors import PydanticUserError
        from pydantic.json_schema import GenerateJsonSchema

        class Untitled(GenerateJsonSchema):
            # A default that JSON cannot express concerns the function only: no warning.
            ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012 - so declared above

            def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002
                return False

        try:
            schema = self._adapter.json_schema(schema_generator=Untitled)
        except PydanticUserError as error:
            message = error.message.partition("\n")[0].rstrip(".")
            raise RunError(f"{self._label}: {message}. Annotate it with a type that JSON can write.") from error
        for name, definition in schema.get("$defs", {}).items():
            if definition.get("title") == name:
                del definition["title"]
        return cast("FrozenDict", freeze(schema))

    @functools.cached_property
    def _names(self) -> tuple[str, ...]:
        """The parameter names that the model uses: aliases where there are some."""
        core: Any = self._adapter.core_schema
        parameters = core.get("schema", core)["arguments_schema"]["arguments_schema"]
        names: list[str] = []
        for alias in (each.get("alias", each["name"]) for each in parameters):
            if isinstance(alias, str):
                names.append(alias)
            else:  # a path into the arguments, or several
                names += [alias[0]] if isinstance(alias[0], str) else [path[0] for path in alias]
        return tuple(names)

    @functools.cached_property
    def _adapter(self) -> TypeAdapter[dict[str, Any]]:
        """A validator of keyword arguments; pydantic validates calls of a function that returns them."""
        from pydantic import ConfigDict, TypeAdapter
        from pydantic.errors import PydanticUserError

        def arguments(**values: Any) -> dict[str, Any]:
            return values

        types = self._types()
        by_name = [
            parameter.replace(
                kind=parameter.kind if parameter.kind == parameter.VAR_KEYWORD else parameter.KEYWORD_ONLY,
                annotation=types[parameter.name],
            )
            for parameter in self._parameters
        ]
        vars(arguments)["__signature__"] = inspect.Signature(by_name)
        arguments.__annotations__ = types
        try:
            return TypeAdapter(arguments, config=ConfigDict(extra="forbid"))  # type: ignore[arg-type]  # a function
        except (PydanticUserError, NameError, TypeError) as error:
            message = str(getattr(error, "message", error)).partition("\n")[0]
            raise RunError(
                f"{self._label}: pydantic cannot validate its parameters: {message} "
                "Use types that it knows, or leave the annotation out."
            ) from error

    def _types(self) -> dict[str, Any]:
        """Return the type of every parameter; the return annotation is not resolved."""
        written = {p.name: Any if p.annotation is p.empty else p.annotation for p in self._parameters}
        holder = type("Annotations", (), {"__annotations__": written})
        known = getattr(self._plain, "__globals__", {})
        try:
            return get_type_hints(holder, known, include_extras=True)
        except (NameError, SyntaxError, TypeError, AttributeError) as error:
            raise RunError(
                f"{self._label}: an annotation cannot be read ({error}); its names must be known to the module at run "
                "time, so not only under TYPE_CHECKING or inside of a function."
            ) from error

    def _explain(self, details: list[ErrorDetails]) -> str:
        missing: list[str] = []
        lines: list[str] = []
        for error in details:
            path = ".".join(map(str, error["loc"]))
            if error["type"] == "missing_keyword_only_argument":
                missing.append(path)
            elif error["type"] == "unexpected_keyword_argument" and len(error["loc"]) == 1:
                lines.append(self._unknown(path))
            else:
                given = "" if error["type"] == "missing" else f", got {short(error['input'])}"
                lines.append(f"{_cut(path)}: {error['msg']}{given}")
        return "\n".join([f"Missing required parameters: {', '.join(missing)}", *lines] if missing else lines)

    def _unknown(self, name: str) -> str:
        return f"{_cut(name)}: Unknown parameter; the tool takes {', '.join(self._names) or 'none'}"


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def short(value: object) -> str:
    """Return the representation of ``value``, shortened for a message."""
    return _cut(repr(value))
