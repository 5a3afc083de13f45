"""Tools: Python functions that a model may call, with arguments validated against the function's signature."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, overload

from agent_hooks.errors import ReadOnlyError, RunError
from agent_hooks.model.tools import KIND_OF_NAME, KINDS, MAX_NAME_LENGTH, is_trusted_name
from agent_hooks.model.values import FrozenDict, freeze, thaw

from .arguments import Arguments, short

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import NoReturn

    from agent_hooks.model.tool_call import ToolCall


class Tool:
    """A function that a model may call. Immutable; created by ``tool``, ``Tool.of`` or directly.

    ``function``: sync or async; it gets its arguments by name, validated by pydantic from its annotations (lax mode:
    ``"3"`` is an integer). The model cannot set parameters bound by a ``functools.partial``. ``name``: by default the
    function's. ``kind``: one of ``tools.KINDS``, by default that of the name, else ``other``.
    ``description``: for the model, by default the docstring. ``aliases``: further names that a match may use.
    ``in_thread``: run in a thread instead of inline, with a copy of the context variables. ``parameters``: a JSON
    Schema, for a function that takes the arguments as one plain dict and validates them itself.

    Calling the tool calls the function without validation. Raises ``RunError`` for anything that cannot be a tool.
    """

    function: Callable[..., Any]
    name: str
    kind: str
    description: str
    aliases: tuple[str, ...]
    in_thread: bool
    _arguments: Arguments | None
    _place: str

    def __init__(
        self,
        function: Callable[..., Any],
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
        name = name or str(getattr(named, "__name__", ""))
        place = f"{getattr(named, '__module__', None) or 'builtins'}.{getattr(named, '__qualname__', name)}"
        label = f"Tool {short(name)} ({place})"
        if not is_trusted_name(name):
            raise RunError(
                f"{label} needs another name: 1 to {MAX_NAME_LENGTH} of A-Z a-z 0-9 _ . : / and -. "
                "Give it one: tool(name=...)."
            )
        kind = kind or KIND_OF_NAME.get(name, "other")
        if kind not in KINDS:
            raise RunError(f"{label}: {kind!r} is not a kind of tool; use one of {', '.join(KINDS)}.")
        further: tuple[Any, ...] = (aliases,) if isinstance(aliases, str) else tuple(aliases)
        if not all(isinstance(alias, str) and is_trusted_name(alias) for alias in further):
            raise RunError(f"{label}: aliases are names, of the same characters as a tool's own, not {further!r}.")
        if inspect.isgeneratorfunction(base) or inspect.isasyncgenfunction(base):
            raise RunError(f"{label} is a generator, and a model needs a whole result: return a list instead.")
        if in_thread and inspect.iscoroutinefunction(base):
            raise RunError(f"{label} is async and cannot run in a thread: leave in_thread out, or make it a plain def.")
        doc = base.__doc__ or named.__doc__
        # Set through the instance's dict, because __setattr__ refuses; dunders as by functools.update_wrapper.
        vars(self).update(
            __module__=getattr(named, "__module__", None),
            __name__=getattr(named, "__name__", name),
            __qualname__=getattr(named, "__qualname__", name),
            __doc__=doc,
            __wrapped__=function,
            function=function,
            name=name,
            kind=kind,
            description=inspect.cleandoc(doc or "") if description is None else description,
            aliases=further,
            in_thread=in_thread,
            _arguments=Arguments(function, base, label) if parameters is None else None,
            _place=place,
        )
        if parameters is not None:
            vars(self)["parameters"] = freeze(dict(parameters))

    @classmethod
    def of(cls, obj: Any) -> Tool:
        """Return ``obj`` as a tool: a tool unchanged, a function wrapped in one.

        An object with ``name``, ``description``, ``parameters`` (a JSON Schema) and ``call(args)``, sync or async, is
        used as it is: it gets a plain dict and validates that itself. ``kind`` and ``aliases`` are honoured if
        present. Raises ``RunError`` for anything else.
        """
        if isinstance(obj, Tool):
            return obj
        if _describes_itself(obj):
            return cls(
                obj.call,
                name=obj.name,
                description=obj.description,
                parameters=obj.parameters,
                kind=getattr(obj, "kind", None),
                aliases=getattr(obj, "aliases", ()),
            )
        if callable(obj):
            return cls(obj)
        raise RunError(
            f"{short(obj)} is no tool; give a function, what @tool makes of one, or an object with name, description, "
            "parameters (a JSON Schema) and call(args)."
        )

    @functools.cached_property
    def parameters(self) -> FrozenDict:
        """JSON Schema of the arguments, an object; read-only. Raises ``RunError`` if an annotation has none."""
        assert self._arguments is not None
        return self._arguments.schema()

    def known(self, call: ToolCall) -> ToolCall:
        """Return ``call`` with this tool's kind and aliases, which a model does not send."""
        if call.kind == self.kind and call.aliases == self.aliases:
            return call
        return call.replace(kind=self.kind, aliases=self.aliases)

    async def call(self, args: Mapping[str, Any]) -> Any:
        """Call the function, leaving ``args`` as they are. Raises ``ToolArgumentsError``, written for the model."""
        given = thaw(args if isinstance(args, dict) else dict(args))
        if self._arguments is None:
            run = functools.partial(self.function, given)
        else:
            run = functools.partial(self.function, **self._arguments.read(given))
        result = await asyncio.to_thread(_without_stop_iteration, run) if self.in_thread else run()
        # Look at the type: an object that has every attribute, such as a mock, is not awaitable.
        return await result if hasattr(type(result), "__await__") else result

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function without validation."""
        return self.function(*args, **kwargs)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise ReadOnlyError(f"Tool.{name} is read-only; make another tool of the function: tool(function, {name}=...).")

    def __delattr__(self, name: str) -> NoReturn:
        raise ReadOnlyError(f"Tool.{name} is read-only.")

    def __repr__(self) -> str:
        return f"<Tool {self.name!r} kind={self.kind} function={self._place}>"


@overload
def tool(
    function: Callable[..., Any],
    /,
    *,
    name: str | None = None,
    kind: str | None = None,
    description: str | None = None,
    aliases: Iterable[str] = (),
    in_thread: bool = False,
) -> Tool: ...
@overload
def tool(
    *,
    name: str | None = None,
    kind: str | None = None,
    description: str | None = None,
    aliases: Iterable[str] = (),
    in_thread: bool = False,
) -> Callable[[Callable[..., Any]], Tool]: ...
def tool(function: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """Turn a function into a tool: ``@tool``, ``@tool(kind="shell")`` or ``tool(function, name=...)``.

    Options as in ``Tool``: ``name``, ``kind``, ``description``, ``aliases``, ``in_thread``. Raises ``RunError``.
    """
    if function is None:
        return functools.partial(tool, **options)
    return Tool(function, **options)


class Toolset(Mapping[str, Tool]):
    """An immutable mapping of an agent's tools by name. Raises ``RunError`` for a repeated name."""

    __slots__ = ("_tools",)

    def __init__(self, tools: Iterable[object] | Toolset = ()) -> None:
        self._tools: dict[str, Tool] = {}
        for one in map(Tool.of, tools.values() if isinstance(tools, Toolset) else tools):
            other = self._tools.setdefault(one.name, one)
            if other is not one:
                raise RunError(f"Two tools are called {one.name!r}: {other!r} and {one!r}. Rename one: tool(name=...).")

    def __getitem__(self, name: str) -> Tool:
        return self._tools[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tools)

    def __len__(self) -> int:
        return len(self._tools)

    def __repr__(self) -> str:
        return f"Toolset({list(self._tools.values())!r})"

    def schemas(self) -> tuple[FrozenDict, ...]:
        """Return ``name``, ``description`` and ``parameters`` of each tool for the model."""
        return tuple(
            FrozenDict(name=one.name, description=one.description, parameters=one.parameters)
            for one in self._tools.values()
        )


def _describes_itself(obj: Any) -> bool:
    return (
        not isinstance(obj, type)
        and callable(getattr(obj, "call", None))
        and isinstance(getattr(obj, "parameters", None), Mapping)
        and all(isinstance(getattr(obj, key, None), str) for key in ("name", "description"))
    )


def _without_stop_iteration(run: Callable[[], Any]) -> Any:
    """Call ``run``. A future cannot hold a StopIteration (before Python 3.12.4 its waiter never wakes up), so it
    becomes a RuntimeError, as in a coroutine (PEP 479).
    """
    try:
        return run()
    except StopIteration as error:
        raise RuntimeError("The tool raised StopIteration.") from error
