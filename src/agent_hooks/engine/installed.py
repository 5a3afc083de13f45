"""The installed plugins: the entry points of the group ``agent_hooks``, loaded one by one."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from agent_hooks.errors import PluginLoadError, RegistrationError
from agent_hooks.model.events import HookEvent
from agent_hooks.system.progress import report
from agent_hooks.system.sites import is_installed, lies_in_project, path_stamps, search_path, stray_folder
from agent_hooks.system.versions import unmet

from .checks import call_own
from .entry_points import distributions
from .markers import PROJECT, hookimpl
from .origins import ORIGIN, origin_in, origin_named
from .plugin_info import MadePlugin, PluginInfo

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from agent_hooks.model.context import HookContext

    from .manager import HookManager
    from .markers import Match

    _Point = tuple[PluginInfo, Callable[[], Any]]

DISABLE_VARIABLE = "AGENT_HOOKS_DISABLE"
# The remedy for metadata outside of the environment.
NOT_INSTALLED = "Remove these metadata if you do not know them."
# The entry points that were found last, with the stamps of the path at that time.
_scanned: tuple[object, list[_Point]] | None = None


def load_installed(
    manager: HookManager, disabled: frozenset[str], only: frozenset[str] | None, modules: Mapping[str, str]
) -> None:
    """Load the installed plugins and the ``modules``, which are named with their sources, each on its own: first import
    them, then add their events, then their hooks.

    Those named by ``disabled`` or the environment variable ``AGENT_HOOKS_DISABLE`` are left out, unless they are
    managed or one of their hooks is required. One that fails is replaced by a gate that denies, so that nothing passes
    that it would have stopped. ``only`` leaves out all others but managed ones. Raises ``RegistrationError`` if one of
    those is not installed.
    """
    kept = manager.managed.plugins
    by_variable = disabled_by_variable() - kept
    if by_variable:
        names = ", ".join(sorted(by_variable))
        manager.notes += (f"agent_hooks: {DISABLE_VARIABLE} is set and switches off: {names}.",)
    loaded: list[tuple[PluginInfo, Any]] = []
    for info, load in _chosen(manager, only, modules):
        if info.status == "ignored":
            manager.keep_info(info)
            manager.notes += (f"agent_hooks: The plugin {info.name} was not loaded: {info.error}. {NOT_INSTALLED}",)
            continue
        if info.name in kept:
            info = info.replace(source="managed")
        is_off = info.name in (disabled | by_variable) - kept
        plugin: Any = None
        report(f"the import of {described(info)}")
        try:
            plugin = load()
            if info.source == "plugin" and lies_in_project(*_files(plugin, info)):
                info = info.replace(source="project")
            if kept and _has_one_of(kept, plugin, info, manager):
                # The machine's file has settings of a plugin that calls its table otherwise than itself.
                info, is_off = info.replace(source="managed"), False
            if not is_off or _is_required(plugin, manager):
                call_own(plugin, "agent_hooks_add_hookspecs", manager)
                loaded.append((info, plugin))
                continue
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # a panic of a compiled module is no Exception
            if not is_off:
                _put_gate(manager, info, error, plugin)
                continue
        manager.keep_info(info.replace(status="disabled"))
    for info, plugin in loaded:
        report(f"the registration of {described(info)}")
        try:
            manager.register(plugin, info.name, source=info.source)
            manager.check_pending()
            if is_module(info) and not manager.get_hookcallers(plugin):
                raise PluginLoadError("it has no hooks: mark its functions with @hookimpl")
            manager.keep_info(info)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            if manager.get_plugin(info.name) is plugin:
                manager.unregister(name=info.name)
            _put_gate(manager, info, error, plugin)
    report("")


def _chosen(manager: HookManager, only: frozenset[str] | None, modules: Mapping[str, str]) -> list[_Point]:
    """Return the entry points to load and, after them, the modules that are none of theirs."""
    found = found_points()
    missing = (only or frozenset()) - {info.name for info, _ in found}
    if missing:
        raise RegistrationError(f"No installed plugin is called {', '.join(sorted(missing))}: `agent-hooks plugins`.")
    chosen = found
    if only is not None:
        kept = manager.managed.plugins
        tables = kept - {info.name for info, _ in found}  # of plugins that call them otherwise than themselves
        chosen = [each for each in found if each[0].name in only | kept or _is_sought(tables, each, manager)]
    known = {name for info, _ in chosen if info.status != "ignored" for name in (info.name, info.entry_point)}
    return [*chosen, *(_module_point(*each) for each in modules.items() if each[0] not in known)]


def _is_sought(tables: frozenset[str], point: _Point, manager: HookManager) -> bool:
    """Whether an installed plugin has settings in one of these tables."""
    info, load = point
    try:
        return bool(tables) and _has_one_of(tables, load(), info, manager)
    except Exception:  # it was not chosen
        return False


def _has_one_of(tables: frozenset[str], plugin: Any, info: PluginInfo, manager: HookManager) -> bool:
    from .declared import declared_settings

    return not tables.isdisjoint(declared_settings(plugin, info.name, manager))


def remedy_for(plugin: PluginInfo) -> str:
    """Return the remedy for a broken plugin. ``AGENT_HOOKS_DISABLE`` does not reach a managed one."""
    if plugin.source == "managed":
        return "Repair it."
    if is_module(plugin):
        where = "out of -p, or of plugins in agent-hooks.toml"
        return f"Repair it, or take it {where}, or set {DISABLE_VARIABLE}={plugin.name}."
    return f"Repair or uninstall it, or set {DISABLE_VARIABLE}={plugin.name.rstrip('#')}."  # `#` marks a second one


def is_module(plugin: PluginInfo) -> bool:
    """Whether a plugin is a module that somebody named, and no entry point of a distribution."""
    return bool(plugin.entry_point) and not plugin.distribution


def _module_point(name: str, source: str) -> _Point:
    def load() -> Any:
        from importlib import import_module
        from importlib.util import find_spec

        parts = name.split(".")
        if not all(map(str.isidentifier, parts)):
            raise PluginLoadError(f"{name!r} is not the name of a module, like 'house.rules'")
        for count in range(1, len(parts) + 1):
            # This imports the module above, which was looked at before.
            spec = find_spec(".".join(parts[:count]))
            if spec is None:
                raise PluginLoadError(f"this Python's environment, {sys.prefix}, has no such module")
            levels = count + (spec.submodule_search_locations is not None)
            if stray := stray_folder(spec.origin or "", levels):
                raise PluginLoadError(
                    f"it lies in {stray}, which is no folder of this Python's environment: install it"
                )
        return import_module(name)

    return PluginInfo(name=name, source=source, entry_point=name), load


def disabled_by_variable() -> frozenset[str]:
    """Return the names in the environment variable ``AGENT_HOOKS_DISABLE``."""
    import os

    named = (name.strip() for name in os.environ.get(DISABLE_VARIABLE, "").split(","))
    return frozenset(name for name in named if name)


def found_points() -> list[_Point]:
    """Return the entry points by name, each with its loader, searched for again when a folder of the path changes."""
    global _scanned  # noqa: PLW0603 - of the process, like its path
    stamps = path_stamps()
    if _scanned is None or _scanned[0] != stamps:
        _scanned = stamps, _scan()
    return _scanned[1]


def _scan() -> list[_Point]:
    """Search for the entry points; an unreadable distribution affects only itself."""
    found: list[_Point] = []
    seen: set[str] = set()
    for distribution in distributions(search_path()):
        fields = distribution.fields
        name, version = fields.get("name", [""])[0], fields.get("version", [""])[0]
        core = sys.modules[PROJECT].__version__
        try:
            if distribution.error is not None or not name:
                raise distribution.error or PluginLoadError("its METADATA has no name")
            needs = unmet("agent-hooks-core", core, fields.get("requires-dist", ()))
        except Exception as error:
            found.append((PluginInfo(name=f"unreadable-{len(found) + 1}"), _raising(error)))
            continue
        if not is_installed(distribution.folder):
            where = f"{distribution.folder}, which is no folder of this Python's environment"
            problem = f"its metadata lie in {where}, so it does not count: install it"
            for point, _, _ in distribution.points:
                info = PluginInfo(name=f"{point} ({name} in {distribution.folder})", distribution=name)
                info = info.replace(version=version, status="ignored", error=problem)
                found.append((info, _raising(PluginLoadError(problem))))
            continue
        if name.lower() in seen:  # the same one again, further down the path
            continue
        seen.add(name.lower())
        for point, value, load in distribution.points:
            info = PluginInfo(name=point, distribution=name, version=version, entry_point=value)
            found.append(
                (info, _raising(PluginLoadError(f"it needs {needs}, and {core} is installed")) if needs else load)
            )
    return sorted(found, key=lambda pair: pair[0].name)


def _raising(error: Exception) -> Callable[[], Any]:
    def load() -> Any:
        raise error

    return load


def _is_required(plugin: Any, manager: HookManager) -> bool:
    marked = (manager.parse_hookimpl_opts(plugin, name) for name in dir(plugin))
    return any(opts["options"].required for opts in marked if opts and "options" in opts)


def _files(plugin: Any, info: PluginInfo) -> tuple[str | None, ...]:
    """Return the files of the module that an entry point names, and of the plugin."""
    names = (info.entry_point.partition(":")[0].strip(), getattr(plugin, "__module__", None) or type(plugin).__module__)
    modules = (plugin, *(sys.modules.get(name) for name in names))
    return tuple(getattr(module, "__file__", None) for module in modules)


def described(info: PluginInfo) -> str:
    """Name a plugin and its distribution."""
    owner = "" if is_module(info) else f" of {info.distribution or 'unknown origin'}"
    return f"the plugin {info.name!r}{owner}"


def _place(info: PluginInfo, error: BaseException, plugin: Any) -> str:
    """Return where in the plugin's own code it failed, as ``file:line``; else its file, or its entry point."""
    package = info.entry_point.partition(":")[0].partition(".")[0].strip()
    found = origin_in(package, error) or origin_named(str(error), info.name, plugin) or getattr(plugin, "__file__", "")
    if not found and is_module(info):
        return f"the module {info.entry_point}"
    return found or f"the entry point {info.name} = {info.entry_point} of {info.distribution}"


def _put_gate(manager: HookManager, info: PluginInfo, error: BaseException, plugin: Any) -> None:
    """Put a failing gate in the place of a plugin that could not be loaded."""
    place = _place(info, error, plugin)
    what = f"{place}: {type(error).__name__}: {error}" if info.entry_point else f"{type(error).__name__}: {error}"
    name = info.name
    while manager.has_plugin(name):  # another distribution has an entry point of the same name
        name += "#"
    message = f"{described(info)} could not be loaded ({what}). {remedy_for(info)}"
    gate = failing_gate(name, message, called=info.name, origin=place)
    manager.register(gate, name, source=info.source)
    manager.keep_info(info.replace(name=name, status="broken", error=what))


def failing_gate(
    name: str,
    message: str,
    events: Iterable[str] = (),
    *,
    called: str = "",
    match: Match | None = None,
    origin: str = "",
) -> MadePlugin:
    """Return a plugin whose gate fails on ``events`` (default: all with gates) with ``message``."""

    def refusal() -> Callable[[HookContext], None]:
        def refuse(ctx: HookContext) -> None:  # noqa: ARG001 - a hook takes the context
            raise PluginLoadError(message)

        if origin:
            setattr(refuse, ORIGIN, origin)
        return refuse

    plugin = MadePlugin(name)
    mark = hookimpl(mode="gate", tryfirst=True, name=called or name, match=match)
    for event in events or (event for event in HookEvent.all() if event.closed in ("deny", "stop")):
        setattr(plugin, event, mark(refusal()))
    return plugin
