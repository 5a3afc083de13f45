"""The tables of settings that plugins declare."""

from __future__ import annotations

from weakref import WeakSet

from agent_hooks.errors import RegistrationError

from .checks import call_own

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .manager import HookManager

# The managers of this process, which know whose settings a model is.
managers: WeakSet[HookManager] = WeakSet()


def declared_settings(plugin: Any, plugin_name: str, manager: HookManager) -> dict[str, Any]:
    """Return the tables of a plugin's settings, each with its model or a function that returns it.

    Raises ``RegistrationError`` for anything else, and for a table that another plugin has.
    """
    found = call_own(plugin, "agent_hooks_settings", manager)
    if found is None:
        return {}
    if not isinstance(found, dict) or not all(isinstance(key, str) and callable(made) for key, made in found.items()):
        raise RegistrationError(
            f"{plugin_name}.agent_hooks_settings must return models by the name of their table, not {found!r}."
        )
    for table in found:
        if not (table.isascii() and table.replace("-", "").replace("_", "").isalnum()):
            raise RegistrationError(f"{plugin_name}.agent_hooks_settings: {table!r} is no name of a table.")
        if (owner := manager.settings_models.get(table, (plugin_name,))[0]) != plugin_name:
            raise RegistrationError(
                f"The plugin {plugin_name!r} has the settings [{table}], and so has the plugin {owner!r}: one of the "
                "two must name its table otherwise."
            )
    return found


def take_settings(plugin: Any, plugin_name: str, manager: HookManager) -> None:
    """Note the tables of a plugin that is registered. Raises ``RegistrationError`` as ``declared_settings``."""
    managers.add(manager)
    found = declared_settings(plugin, plugin_name, manager)
    manager.settings_models |= {table: (plugin_name, made) for table, made in found.items()}
