"""Checks at registration that pluggy does not make, or explains less well."""

from __future__ import annotations

from functools import lru_cache
from inspect import Parameter, iscoroutinefunction, isroutine, signature
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from agent_hooks.errors import RegistrationError, did_you_mean
from agent_hooks.model.context import HookContext
from agent_hooks.model.events import find_event

from . import hookspecs
from .plan import caller

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .manager import HookManager

OWN_HOOKS = frozenset(name for name in vars(hookspecs) if name.startswith("agent_hooks_"))
# A function of this name that is not marked was surely meant to be a hook.
_TELLING = ("before_", "after_", "on_")

# The attribute of a hook made by ``as_hook`` with the function that it calls.
ACTION = "agent_hooks_action"
# The attributes of a function that gives itself another signature than that of its code.
_SIGNED = frozenset({"__wrapped__", "__signature__"})
# How alike an argument must be to one that is offered (difflib's ratio) to be a slip of it.
_SLIP = 0.8


def check_plugin(plugin: Any) -> None:
    """Raise ``RegistrationError`` if ``plugin`` is not something that can be told apart from every other plugin."""
    if isroutine(plugin):
        raise RegistrationError(
            f"{plugin!r} is a function, and a plugin is a module or an object with hooks: add it as "
            "HookRegistration(event, function)."
        )
    if isinstance(plugin, type) or plugin is None:
        raise RegistrationError(f"{plugin!r} cannot be a plugin: register a module, or an object of the class.")
    compares = type(plugin).__eq__ is not object.__eq__  # type: ignore[comparison-overlap]
    if compares and not isinstance(plugin, ModuleType):
        raise RegistrationError(
            f"{type(plugin).__name__} cannot be a plugin, because two equal ones could not be told apart: use a plain "
            "class, not a dataclass, a pydantic model or anything else that defines __eq__."
        )


def check_functions(plugin: Any, plugin_name: str, manager: HookManager) -> dict[str, Any]:
    """Return the options of the hooks by name. Raises ``RegistrationError`` for a function that would never be called,
    or could not be.
    """
    found: dict[str, Any] = {}
    for name in dir(plugin):
        options = manager.parse_hookimpl_opts(plugin, name)
        if options is None:
            if name.startswith(_TELLING):
                _check_unmarked(plugin, plugin_name, name)
            continue
        found[name] = options
        if name in OWN_HOOKS and iscoroutinefunction(getattr(plugin, name)):
            raise RegistrationError(f"{plugin_name}.{name}: the framework's own hooks are plain functions, not async.")
        event = name if name in OWN_HOOKS else find_event(options.get("specname") or name)
        if event is None or (options["optionalhook"] and not manager.declares(event)):
            continue
        known = manager.arguments_of(event)
        needed, by_name_only = _parameters(getattr(plugin, name))
        for argument in needed:
            if argument not in known:
                raise RegistrationError(_not_offered(f"{plugin_name}.{name}", argument, event, known))
        for argument in by_name_only:
            raise RegistrationError(
                f"{plugin_name}.{name}: remove the * before {argument!r}; arguments are passed by position."
            )
    return found


def spec_arguments(module_or_class: Any, name: str) -> tuple[str, ...]:
    """Return the arguments of a hookspec. Raises ``RegistrationError`` without an event, or if no context has one."""
    arguments = _argument_names(getattr(module_or_class, name))
    if name in OWN_HOOKS:
        return arguments
    if find_event(name) is None:
        raise RegistrationError(f"The hookspec {name!r} has no event: call define_event({name!r}, ...) first.")
    for argument in arguments:
        if argument != "ctx" and not hasattr(HookContext, argument):
            raise RegistrationError(
                f"The hookspec {name!r} offers {argument!r}, which no context has: pass it in `payload` or `metadata`."
            )
    return arguments


@lru_cache(256)  # each manager reads our own
def _argument_names(function: Callable[..., Any]) -> tuple[str, ...]:
    return tuple(argument for argument in signature(function).parameters if argument != "self")


def _parameters(function: Any) -> tuple[Sequence[str], Sequence[str]]:
    """Return the parameters of a hook that have no default, and those that are only given by name."""
    if type(function) is FunctionType and _SIGNED.isdisjoint(vars(function)):
        # As its signature says, which takes ten times as long to make, for each hook of each agent.
        code, defaults = function.__code__, function.__defaults__ or ()
        names, end = code.co_varnames, code.co_argcount
        return names[code.co_posonlyargcount : end - len(defaults)], names[end : end + code.co_kwonlyargcount]
    found = signature(function).parameters.values()
    plain = [each for each in found if each.kind is Parameter.POSITIONAL_OR_KEYWORD]
    return (
        [each.name for each in plain if each.default is Parameter.empty],
        [each.name for each in found if each.kind is Parameter.KEYWORD_ONLY],
    )


def _check_unmarked(plugin: Any, plugin_name: str, name: str) -> None:
    if find_event(name) != name or isinstance(getattr(type(plugin), name, None), property):
        return
    found = getattr(plugin, name)
    if callable(found) and not hasattr(found, "agent_hooks_spec"):
        raise RegistrationError(
            f"{plugin_name}.{name} has the name of an event but would never be called: "
            "mark it with @hookimpl, and let it be a plain function."
        )


def _not_offered(what: str, argument: str, event: str, known: tuple[str, ...]) -> str:
    hint = did_you_mean(argument, known, cutoff=_SLIP)
    text = f"{what} takes {argument!r}, which {event} does not offer. Its arguments are {', '.join(known)}."
    return f"{text} {hint}" if hint else text


def call_own(plugin: Any, name: str, manager: HookManager) -> Any:
    """Call one of the framework's own hooks of one plugin, if it has it, and return its answer."""
    if not (hasattr(type(plugin), name) or name in getattr(plugin, "__dict__", ())):
        return None  # as pluggy would find out after a much longer look
    if manager.parse_hookimpl_opts(plugin, name) is None:
        return None
    function = getattr(plugin, name)
    return function(*[manager for _ in signature(function).parameters])


def _is_mistaken(argument: str, known: tuple[str, ...]) -> bool:
    """Whether the parameter is another event's argument or a misspelling; other names may mean the context."""
    if argument in ("context", "event"):
        return False
    slips = [name for name in known if name != "ctx"]
    return hasattr(HookContext, argument) or bool(did_you_mean(argument, slips, cutoff=_SLIP))


def as_hook(action: Callable[..., Any], known: tuple[str, ...], called: str) -> Callable[..., Any]:
    """Return a plain function of the context that calls ``action``.

    ``action`` takes hookspec arguments (``known``) by name, or the context under any single name that is neither an
    argument of another event nor a slip of one of this event's. Raises ``RegistrationError`` for an argument that is
    not offered.
    """
    try:
        needed = [p for p in signature(action).parameters.values() if p.default is Parameter.empty]
    except ValueError:  # a builtin without a signature
        needed = []
    for parameter in needed:
        if parameter.kind is Parameter.KEYWORD_ONLY:
            raise RegistrationError(f"The action {called}: remove the * before {parameter.name!r}.")
    wanted = [p.name for p in needed if p.kind not in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)] or ["ctx"]
    if len(wanted) == 1 and wanted[0] not in known and not _is_mistaken(wanted[0], known):
        wanted = ["ctx"]
    for name in wanted:
        if name not in known:
            raise RegistrationError(_not_offered(f"The action {called}", name, "the event", known))

    call = caller(action, tuple(wanted))
    if iscoroutinefunction(action) or iscoroutinefunction(getattr(action, "__call__", None)):  # noqa: B004 - its signature is meant

        async def async_hook(ctx: HookContext) -> Any:
            return await call(ctx)

        return async_hook

    def hook(ctx: HookContext) -> Any:
        return call(ctx)

    setattr(hook, ACTION, action)
    return hook
