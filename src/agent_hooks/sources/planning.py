"""Compiled plans: what a configuration comes to, as plain data, from which ``planned`` makes its hooks again.

A plan stands for the hooks of some folders: those of the installed plugins, of the files of the machine and the user,
and of trusted projects that bring no code. It holds as long as everything is as it was seen. Whatever cannot be planned
is registered as usual, each time.
"""

from __future__ import annotations

import os
import sys

from agent_hooks.engine.known_tools import name_problems
from agent_hooks.engine.planned import row_of
from agent_hooks.handlers.entry_hooks import encode_hook
from agent_hooks.system import stamps
from agent_hooks.system.folders import config_dirs
from agent_hooks.system.sites import search_path
from agent_hooks.trust.search import TELLING, Search

from .loader import PROTECTION, HookConfigLoader
from .plannable import obstacle
from .plugin_settings import export_tables

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from agent_hooks.engine.manager import HookManager
    from agent_hooks.engine.plan import Hook
    from agent_hooks.trust.manifest import ConfFile

    from .files import ProjectSource

_METADATA = (".dist-info", ".egg-info", ".egg", ".pth", ".egg-link")


class CannotPlanError(Exception):
    """Raised with the reason why a configuration cannot be planned."""


def make_plan(
    folders: Sequence[str], loaded: Iterable[str], *, claude_settings: bool, modules: Sequence[str] = ()
) -> dict[str, Any]:
    """Load the configuration of ``folders`` anew and return its plan. Raises ``CannotPlanError``.

    ``loaded``: the names of the modules that were imported when it was loaded before. ``claude_settings`` and
    ``modules``: as in ``HookConfigLoader``.
    """

    def look() -> dict[str, Any]:
        loader = HookConfigLoader(folders, near=folders, claude_settings=claude_settings, modules=modules)
        return _plan(loader, folders, loaded)

    plan, seen = stamps.watching(look, TELLING)
    return {**plan, "seen": seen, "quiet": {}, "facts": ()}


def _plan(loader: HookConfigLoader, folders: Sequence[str], loaded: Iterable[str]) -> dict[str, Any]:
    for folder in search_path():
        stamps.note("file", folder, *metadata_files(folder))
    manager = loader.load()
    rows = rows_of(loader, loaded)
    stamps.note("file", sys.executable, os.path.join(sys.prefix, "pyvenv.cfg"), *_imported())
    for path in _code(manager):
        stamps.note("file" if os.path.isdir(path) else "later", path)
    return {
        **surroundings(loader.projects, folders),
        "project_dir": loader.project_dir,
        "rows": rows,
        "policies": (dict(manager.policy._fields), dict(manager.managed.policy._fields)),
        "protection": loader.protection,
        "tables": {**export_tables(), "declaring": _modules_with_settings(manager)},
        "path": tuple(sys.path),
        "prefixes": (sys.prefix, sys.exec_prefix),
    }


def surroundings(projects: Iterable[ProjectSource], folders: Sequence[str]) -> dict[str, Any]:
    """Return the ``projects`` of ``folders``, and the facts about places near a path, as plain data."""
    trusts = [os.path.join(folder, "trust") for folder in config_dirs()]
    stamps.note("file", *trusts)
    records = frozenset(name for folder in trusts if os.path.isdir(folder) for name in os.listdir(folder))
    known = [(each.project.root, each.standing.known) for each in projects]
    return {
        "folders": tuple(folders),
        "roots": tuple(root for root, _ in known),
        # The relative paths of the files of ours on the way to the folders.
        "projects": [
            (root, paths, tuple(Search(root, paths, lambda *_: None).on_the_way((*folders, *paths))))
            for root, paths in known
        ],
        "trusts": records,
    }


def rows_of(loader: HookConfigLoader, loaded: Iterable[str]) -> list[dict[str, Any]]:
    """Return the hooks of a loaded configuration as data, without those inserted into it.

    ``loaded``: as in ``make_plan``. Raises ``CannotPlanError`` for a configuration that is not the same in every
    process, or that tells of itself.
    """
    manager = loader.manager
    if manager.notes or loader.stand_ins:
        raise CannotPlanError("there is something to tell about the configuration")
    if any(source.is_trusted and source.project.confs for source in loader.projects):
        raise CannotPlanError("the project has a hookconf.py")
    if "sitecustomize" in sys.modules or "usercustomize" in sys.modules:
        raise CannotPlanError("the environment runs code of its own at every start")
    hooks = [hook for hook in manager.all_hooks() if manager.has_plugin(hook.plugin_name)]
    for hook in hooks:
        if any(problem.is_error for problem in name_problems(hook, manager.known_tools)):
            raise CannotPlanError(f"the match of {hook.name} is wrong")
    confs = {conf.name: conf for file in loader.files if (conf := file.settings.get("hookconf"))}
    for info in manager.plugins():
        if info.status == "broken":
            raise CannotPlanError(f"the plugin {info.name} is broken")
        is_active = info.status == "active" and (info.entry_point or info.name in confs)
        if is_active and (problem := obstacle(manager.get_plugin(info.name), info.name, loaded)):
            raise CannotPlanError(problem)
    return [_row(hook, manager, confs) for hook in hooks]


def _row(hook: Hook, manager: HookManager, confs: Mapping[str, ConfFile]) -> dict[str, Any]:
    row = row_of(hook, _reference(hook, manager, confs))
    if row is None:
        raise CannotPlanError(f"the match of {hook.name} is made in code")
    return row


def _reference(hook: Hook, manager: HookManager, confs: Mapping[str, ConfFile]) -> tuple[Any, ...]:
    """Return where the function of a hook is. Raises ``CannotPlanError``."""
    if hook.plugin_name == PROTECTION:
        return ("protection", hook.origin)
    if (data := encode_hook(hook.function)) is not None:
        return ("entry", data)
    plugin: Any = manager.get_plugin(hook.plugin_name)
    names = [name for name, value in vars(plugin).items() if value is hook.function]
    path = getattr(plugin, "__file__", None)
    if not names or path is None:
        raise CannotPlanError(f"the hook {hook.name} is no function of a module")
    if hook.plugin_name in confs:
        return ("hookconf", dict(confs[hook.plugin_name]._fields), names[0])
    return ("function", plugin.__name__, names[0], path)


def metadata_files(folder: str) -> Iterator[str]:
    """Yield the files that say which folders follow one of the import path, and which plugins are installed in it."""
    try:
        names = [name for name in os.listdir(folder) if name.endswith(_METADATA)]
    except OSError:
        return
    for path in (os.path.join(folder, name) for name in names):
        if path.endswith(".pth"):
            yield path
            continue
        points = os.path.join(path, "entry_points.txt")
        yield path if os.path.isfile(path) else points
        try:
            with open(points, "rb") as file:
                is_plugin = b"agent_hooks" in file.read()
        except OSError:
            continue
        if is_plugin:
            yield from (path, os.path.join(path, "METADATA"), os.path.join(path, "PKG-INFO"))


def _imported() -> Iterator[str]:
    """Yield the files of all modules outside the standard library that are imported by now."""
    standard = os.path.dirname(os.__file__)
    for module in list(sys.modules.values()):
        path = getattr(module, "__file__", None)
        if path and (not path.startswith(os.path.join(standard, "")) or "-packages" in path[len(standard) :]):
            yield path


def _code(manager: HookManager) -> Iterator[str]:
    """Yield the files and folders of our package and those of the plugins."""
    for name in {"agent_hooks", *(info.entry_point.partition(":")[0].partition(".")[0] for info in manager.plugins())}:
        for folder in getattr(sys.modules.get(name), "__path__", ()):
            yield from stamps.files_below(folder)


def _modules_with_settings(manager: HookManager) -> tuple[str, ...]:
    """Return the names of the modules that say whose settings a model is."""
    plugins = (plugin for plugin in manager.get_plugins() if hasattr(plugin, "agent_hooks_settings"))
    specs = (getattr(plugin, "__spec__", None) for plugin in plugins)
    return tuple(spec.name for spec in specs if spec is not None)
