"""``load``: a manager with every hook that holds in a directory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_hooks.engine.manager import HookManager
from agent_hooks.errors import RegistrationError

from .loader import HookConfigLoader, plugin_problems

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
    keeps agents from changing any of this.

    ``plugins``: all that are installed (None, the default), or the names of those to load and objects with hooks to
    register; ``()`` for none. ``files``: False leaves the files and the gate out; a ``HookConfigLoader`` reads files
    of its own choice. ``policy``: the application's settings (default: ``HookPolicy()``), which stricter ones of the
    machine's and the user's files override.

    The ``findings`` of the manager say what could not be honoured: the files of an untrusted project, a broken plugin
    or entry, in whose place a gate denies. Raises ``RegistrationError`` for a plugin that is not installed or an object
    that cannot be registered, and ``TrustError`` if the policy requires the gates of a project that nobody trusted.
    """
    if isinstance(plugins, str):
        raise RegistrationError(f"plugins is a list: load(plugins=[{plugins!r}]).")
    given = () if plugins is None else tuple(plugins)
    named: bool | list[str] = plugins is None or [each for each in given if isinstance(each, str)]
    loader = HookConfigLoader(directory) if files is True else files
    if loader:
        manager = loader.load(policy, load_plugins=named)
    else:
        manager = HookManager(load_plugins=named, policy=policy)
        manager.findings += plugin_problems(manager)
    for each in given:
        if not isinstance(each, str):
            register_given(manager, each)
    return manager


def register_given(manager: HookManager, plugin: Any, name: str | None = None) -> None:
    """Register a module or object that an application gives. Raises ``RegistrationError``, also if it has no hooks."""
    manager.register(plugin, name)
    if not manager.get_hookcallers(plugin):
        raise RegistrationError(
            f"{plugin!r} has no hooks: mark its functions with @hookimpl. An object with handle(ctx) or execute(ctx) "
            "is added with AgentBuilder.hook(event, it) or HookManager.add(HookRegistration(event, it))."
        )
