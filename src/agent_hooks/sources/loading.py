"""``load``: a manager with every hook that holds in a directory."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from agent_hooks.engine.installed import found_points
from agent_hooks.engine.manager import HookManager
from agent_hooks.errors import RegistrationError

from .loader import HookConfigLoader
from .plugin_problems import plugin_problems

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

    from agent_hooks.model.policy import HookPolicy


def load(
    directory: str | os.PathLike[str] | None = None,
    *,
    plugins: Iterable[Any] | None = None,
    files: bool | HookConfigLoader = True,
    policy: HookPolicy | None = None,
) -> HookManager:
    """Return a manager with the hooks that hold in ``directory`` (default: the current one), as ``agent-hooks run``
    asks them: those of plugins, those of the machine's, the user's and the trusted projects' files, and the gate that
    keeps agents from changing any of this. It reports to OpenTelemetry if a file says ``[telemetry]``.

    ``plugins``: all that are installed (None, the default), or those to load: names of installed ones, names of modules
    of this environment, and objects with hooks; ``()`` for none. ``files``: False leaves the files and the gate out; a
    ``HookConfigLoader`` reads files of its own choice. ``policy``: the application's settings (default:
    ``HookPolicy()``), which stricter ones of the machine's and the user's files override.

    The ``findings`` of the manager say what could not be honoured: the files of an untrusted project, a broken plugin
    or entry, in whose place a gate denies. Raises ``RegistrationError`` for a name of no plugin and no module, or an
    object that cannot be registered, and ``TrustError`` if the policy requires the gates of a project that nobody
    trusted.
    """
    if isinstance(plugins, str):
        raise RegistrationError(f"plugins is a list: load(plugins=[{plugins!r}]).")
    given = () if plugins is None else tuple(plugins)
    texts = [each for each in given if isinstance(each, str)]
    modules = dict.fromkeys(_modules_among(texts), "code")
    named: bool | list[str] = plugins is None or [each for each in texts if each not in modules]
    loader = HookConfigLoader(directory) if files is True else files
    if loader:
        manager = loader.load(policy, load_plugins=named, modules=modules)
        if any("telemetry" in file.settings for file in loader.files):
            from .telemetry import register_telemetry

            register_telemetry(manager, loader.files)
    else:
        manager = HookManager(load_plugins=named, policy=policy, modules=modules)
        manager.findings += plugin_problems(manager)
    for each in given:
        if not isinstance(each, str):
            register_given(manager, each)
    return manager


def _modules_among(names: Iterable[str]) -> list[str]:
    """Return those of the names that are modules and no installed plugins."""
    installed = {info.name for info, _ in found_points()}
    # Looked for by its first part, which imports nothing.
    return [name for name in names if name not in installed and _is_there(name.partition(".")[0])]


def _is_there(module: str) -> bool:
    try:
        return module.isidentifier() and find_spec(module) is not None
    except ValueError:  # `__main__`
        return False


def register_given(manager: HookManager, plugin: Any, name: str | None = None) -> None:
    """Register a module or object that an application gives. Raises ``RegistrationError``, also if it has no hooks."""
    manager.register(plugin, name)
    if not manager.get_hookcallers(plugin):
        raise RegistrationError(
            f"{plugin!r} has no hooks: mark its functions with @hookimpl. An object with handle(ctx) or execute(ctx) "
            "is added with AgentBuilder.hook(event, it) or HookManager.add(HookRegistration(event, it))."
        )
