"""Mistakes in a plugin that type checkers find, for those who use none, and some that they cannot see."""

from __future__ import annotations

import collections.abc
import re
import subprocess
import sys
import typing
from importlib.metadata import metadata
from inspect import Parameter, signature, unwrap
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any

import agent_hooks.model.context as contexts
import agent_hooks.model.tool_call as calls
from agent_hooks.engine.known_tools import name_problems
from agent_hooks.engine.manager import HookManager
from agent_hooks.errors import AgentHooksError
from agent_hooks.model import state
from agent_hooks.sources.settings_models import can_tighten, model_from

from .tightening import assert_tightens

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent_hooks.engine.plan import Hook

# The names that annotations are written with, where a module imports them for type checkers only.
_NAMES = {**vars(collections.abc), **vars(typing), **vars(state), **vars(calls), **vars(contexts)}
# Each event of a coding agent waits for the imports of every plugin.
_SLOW = {"asyncio", "click", "pydantic", "tomllib"}
_OFFERS = ("agent_hooks_capabilities", "agent_hooks_commands", "agent_hooks_handler_types")


def check_plugin(plugin: Any, *, known_tools: Iterable[str] = ()) -> None:
    """Check a module or object with hooks, or the installed plugin of a name. Raises ``AssertionError`` with a line for
    each mistake.

    Mistakes are: anything that cannot be registered, such as an unknown event, an argument that its event does not
    offer, or options that contradict each other; an argument annotated with a type that it never has; an option that
    has no effect; a match on tools that no tool can meet. ``known_tools``: names of the tools of one's own.
    Of an installed plugin: asyncio, click, pydantic or tomllib imported at its top; settings without a JSON Schema, or
    with which a project could loosen; a name of what it offers that no code in the README has.
    """
    try:
        manager = HookManager(load_plugins=[plugin] if isinstance(plugin, str) else False, known_tools=known_tools)
        if not isinstance(plugin, str):
            manager.register(plugin)
        manager.check_pending()
        hooks = manager.all_hooks()
        mistakes = [mistake for hook in hooks for mistake in _mistakes(hook, manager)]
        if isinstance(plugin, str):
            mistakes += _mistakes_of_installed(manager)
    except AgentHooksError as error:
        mistakes = [str(error)]
    if mistakes:
        raise AssertionError("\n".join(mistakes))


def _mistakes(hook: Hook, manager: HookManager) -> Iterator[str]:
    offered = signature(getattr(manager.hook, hook.event).spec.function).parameters
    function = unwrap(hook.function)
    for name, parameter in signature(function).parameters.items():
        if name in offered:
            given, annotated = _type(offered[name], {}), _type(parameter, getattr(function, "__globals__", {}))
            if not _fits(given, annotated):
                yield (
                    f"{hook.name}: {name!r} is annotated with {parameter.annotation!r}, and {hook.event!s} gives "
                    f"{offered[name].annotation!r}."
                )
    yield from useless_options(hook)
    for problem in name_problems(hook, manager.known_tools):
        if problem.kind == "unknown-tool":
            yield str(problem)


def _mistakes_of_installed(manager: HookManager) -> Iterator[str]:
    (info,) = manager.plugins()
    if info.status != "active":
        yield f"The plugin {info.name} is {info.status}: {info.error}"
        return
    module = info.entry_point.partition(":")[0]
    code = f"import sys; before = {{*sys.modules}}; import {module}; print(*sys.modules.keys() - before)"
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=True)  # noqa: S603 - this Python
    for slow in sorted(_SLOW.intersection(done.stdout.split())):
        yield f"{module} imports {slow} at its top: import it in the function that needs it."
    for _, made in manager.settings_models.values():
        model = model_from(made)
        model.model_json_schema()
        if can_tighten(model):
            assert_tightens(model)
    named = re.findall(r"```.*?```|`[^`]+`", metadata(info.distribution)["Description"], re.DOTALL)
    offered = [name for hook in _OFFERS for found in getattr(manager.hook, hook)() for name in found]
    for name in sorted({*offered, *manager.settings_models}.difference(re.findall(r"[\w-]+", "".join(named)))):
        yield f"The README of {info.distribution} does not name {name!r} in code."


def useless_options(hook: Hook) -> Iterator[str]:
    """Yield a sentence for each option of a hook that has no effect."""
    if hook.options.mode == "gate" and hook.event.observe_only:
        yield f'{hook.name}: mode="gate" has no effect, because {hook.event!s} is only observed.'
    if hook.options.mode == "observe" and hook.options.on_failure is not None:
        yield f"{hook.name}: on_failure has no effect on an observer, which runs after the decision."


def _type(parameter: Parameter, names: dict[str, Any]) -> Any:
    """Return the type that a parameter is annotated with, ``Any`` if it cannot be told."""
    annotation = Any if parameter.annotation is Parameter.empty else parameter.annotation
    if not isinstance(annotation, str):
        return annotation
    try:
        return eval(annotation, {**_NAMES, **names})  # noqa: S307 - the plugin's own text, as get_type_hints would
    except Exception:  # noqa: BLE001 - a name for type checkers only, which says nothing about its type
        return Any


def _fits(given: Any, annotated: Any) -> bool:
    """Whether a value of the type ``given`` is one of ``annotated``; True if that cannot be told."""
    if Any in (given, annotated):
        return True
    if _is_union(given):
        return all(_fits(each, annotated) for each in typing.get_args(given))
    if _is_union(annotated):
        return any(_fits(given, each) for each in typing.get_args(annotated))
    own, theirs = (NoneType if each is None else typing.get_origin(each) or each for each in (given, annotated))
    if not isinstance(own, type) or not isinstance(theirs, type) or theirs is float:
        return True
    try:
        return issubclass(own, theirs)
    except TypeError:  # a protocol that cannot be asked
        return True


def _is_union(kind: Any) -> bool:
    return typing.get_origin(kind) in (typing.Union, UnionType)
