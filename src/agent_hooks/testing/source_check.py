"""Mistakes in a module of hooks that can be seen without running or importing it: ``agent-hooks doctor --ci``.

Each hook is registered as a function of ours with the parameters and the options that the source writes, so that the
manager itself finds what is wrong with it. An option that is computed is left out.
"""

from __future__ import annotations

import ast
from difflib import get_close_matches
from inspect import Parameter, Signature
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple
from warnings import catch_warnings, simplefilter

from agent_hooks.engine.known_tools import name_problems
from agent_hooks.engine.manager import HookManager
from agent_hooks.engine.markers import HookOptions, hookimpl, marked
from agent_hooks.errors import AgentHooksError, UnknownHookError, did_you_mean
from agent_hooks.formats.event_keys import event_names
from agent_hooks.formats.findings import ConfigFinding
from agent_hooks.formats.hookconf import text_of
from agent_hooks.model.events import find_event

from .plugin_check import useless_options

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Iterator

    from agent_hooks.engine.plan import Hook

    _Function = ast.FunctionDef | ast.AsyncFunctionDef

_OPTIONS = frozenset(HookOptions._known)
_PLAIN_OPTIONS = _OPTIONS | {"specname", "optionalhook"}
# The ratio above which an unknown event is a misspelt one, as in files.
_NEAR = 0.8
# They contradict options that are computed, or do not.
_DEPENDING = ("background", "on_failure", "wrapper")


class _Mark(NamedTuple):
    """How a hook is marked: the name of its event, the options that are written out, and whether one of those on which
    others depend is computed.
    """

    event: str
    options: dict[str, Any]
    is_partly_computed: bool


def check_source(code: bytes, path: str, *, known_tools: Iterable[str] = ()) -> Iterator[ConfigFinding]:
    """Yield a finding for each mistake in the hooks of the module ``code``, the content of the file ``path``.

    A finding blocks if the module could not be loaded or its hook fails. ``known_tools``: names that matches may use.
    """

    def found(line: int, message: str, *, remedy: str = "", is_error: bool = True) -> ConfigFinding:
        kind = "broken" if is_error else "suspicious"
        return ConfigFinding(kind=kind, path=path, line=line, message=message, remedy=remedy, blocks=is_error)

    try:
        with catch_warnings():
            simplefilter("ignore")
            tree = ast.parse(text_of(code, path))
            compile(tree, path, "exec", dont_inherit=True)
    except SyntaxError as error:
        yield found(error.lineno or 0, f"It is not Python: {error.msg}.")
        return
    except (ValueError, MemoryError, RecursionError) as error:
        yield found(0, f"It is not Python: {error}.")
        return
    # A marker of pluggy's own takes other options.
    is_ours = not any("HookimplMarker" in (_name(node), getattr(node, "name", "")) for node in ast.walk(tree))
    for function, is_method in _functions(tree):
        try:
            mark = _mark_of(function, is_ours=is_ours)
            is_forgotten = not (is_method or function.decorator_list) and find_event(function.name) == function.name
            if not (is_forgotten if mark is None else mark.event):
                continue  # no hook, or nobody knows its event
            for hook, manager in _registered(function, mark, is_method=is_method, known_tools=known_tools):
                for message in useless_options(hook):
                    yield found(function.lineno, message, is_error=False)
                for problem in name_problems(hook, manager.known_tools):
                    yield found(function.lineno, problem.message, remedy=problem.remedy, is_error=problem.is_error)
        except UnknownHookError as error:
            # Unless it is a near miss, it may be an event that a plugin adds.
            is_near = bool(mark and get_close_matches(mark.event, event_names(), n=1, cutoff=_NEAR))
            yield found(function.lineno, str(error), is_error=is_near)
        except (AgentHooksError, AttributeError, TypeError) as error:
            yield found(function.lineno, str(error))


def _functions(tree: ast.Module) -> Iterator[tuple[_Function, bool]]:
    """Yield the functions that the module defines when it runs, wherever it branches, and whether each is a method."""
    waiting: list[tuple[ast.AST, bool]] = [(tree, False)]
    for node, is_method in waiting:  # the loop appends to it: hundreds of `elif` are hundreds of nodes in each other
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                yield child, is_method
            elif not isinstance(child, ast.expr):
                waiting.append((child, is_method or isinstance(child, ast.ClassDef)))


def _mark_of(function: _Function, *, is_ours: bool) -> _Mark | None:
    """Return the mark of a hook, None for any other function. Raises ``AttributeError`` and ``TypeError`` as it would
    when it runs.
    """
    for decorator in function.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        is_event = isinstance(called, ast.Attribute) and _name(called.value) == "hookimpl"
        if not is_event and _name(called) != "hookimpl":
            continue
        event = _name(called) if is_event else ""
        if event:
            getattr(hookimpl, event)
        given = {each.arg: each.value for each in decorator.keywords} if isinstance(decorator, ast.Call) else {}
        options: dict[str, Any] = {}
        computed: set[str | None] = {name for name in given if name is None}  # of `**options`
        known = _OPTIONS if event else _PLAIN_OPTIONS
        for name, value in given.items():
            if name in known:
                try:
                    options[name] = ast.literal_eval(value)
                except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
                    computed.add(name)
            elif name is not None and is_ours:
                raise TypeError(f"hookimpl has no option {name!r}. {did_you_mean(name, known)}".rstrip())
        event = options.pop("specname", None) or event or ("" if "specname" in computed else function.name)
        return _Mark(str(event), options, bool(computed & {None, "mode", "wrapper"}))
    return None


def _name(node: ast.AST) -> str:
    return str(getattr(node, "attr", getattr(node, "id", "")))


def _registered(
    function: _Function, mark: _Mark | None, *, is_method: bool, known_tools: Iterable[str]
) -> Iterator[tuple[Hook, HookManager]]:
    """Yield the hook that a function of ours becomes in the place of this one. Raises ``AgentHooksError``."""
    options = dict(mark.options) if mark else {}
    # Another decorator may change the parameters, and whether it yields.
    is_opaque = len(function.decorator_list) > 1
    yields = bool(options.get("wrapper")) if is_opaque else _yields(function)
    if mark and mark.is_partly_computed:
        options = {key: value for key, value in options.items() if key not in _DEPENDING} | {"wrapper": yields}
    template = _TEMPLATES[isinstance(function, ast.AsyncFunctionDef), yields]
    stand_in: Any = FunctionType(template.__code__, {}, function.name)
    stand_in.__signature__ = Signature([] if is_opaque else _parameters(function.args)[is_method:])
    if mark:
        is_optional = bool(options.pop("optionalhook", False))
        stand_in = marked(stand_in, HookOptions(**options), mark.event, optionalhook=is_optional)
    module = ModuleType("hookconf")
    setattr(module, mark.event if mark and find_event(mark.event) is None else function.name, stand_in)
    manager = HookManager(load_plugins=False)
    manager.declare_tools(known_tools, "project")
    manager.register(module, source="project")
    manager.check_pending()
    yield from ((hook, manager) for hook in manager.all_hooks())


def _parameters(arguments: ast.arguments) -> list[Parameter]:
    """Return the parameters without their annotations, which nobody evaluates, and with None for each default."""
    names = [*arguments.posonlyargs, *arguments.args]
    first = len(names) - len(arguments.defaults)
    found = []
    for number, each in enumerate(names):
        is_plain = number >= len(arguments.posonlyargs)
        kind = Parameter.POSITIONAL_OR_KEYWORD if is_plain else Parameter.POSITIONAL_ONLY
        found.append(Parameter(each.arg, kind, default=None if number >= first else Parameter.empty))
    if arguments.vararg:
        found.append(Parameter(arguments.vararg.arg, Parameter.VAR_POSITIONAL))
    for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        value = Parameter.empty if default is None else None
        found.append(Parameter(each.arg, Parameter.KEYWORD_ONLY, default=value))
    if arguments.kwarg:
        found.append(Parameter(arguments.kwarg.arg, Parameter.VAR_KEYWORD))
    return found


def _yields(function: _Function) -> bool:
    """Whether the function yields, itself and not in one inside it."""
    waiting: list[ast.AST] = [*function.body]
    for node in waiting:
        if isinstance(node, (ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            waiting += ast.iter_child_nodes(node)
    return False


def _plain(*_: object) -> None: ...


async def _async(*_: object) -> None: ...


def _generator(*_: object) -> Iterator[None]:
    yield


async def _async_generator(*_: object) -> AsyncIterator[None]:
    yield


# By whether a function is async, and whether it yields.
_TEMPLATES: dict[tuple[bool, bool], Any] = {
    (False, False): _plain,
    (True, False): _async,
    (False, True): _generator,
    (True, True): _async_generator,
}
