"""What plugins are told by the user and by who manages the machine: their tables in ``agent-hooks.toml``."""

from __future__ import annotations

from agent_hooks.errors import SettingsError
from agent_hooks.values import thaw

from .sources import TomlSource

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def plugin_settings(name: str) -> dict[str, Any]:
    """Return what the user's and the machine's ``agent-hooks.toml`` say under ``[name]``, as TOML has it; nothing where
    there is no such table.

    A key that the machine's file sets is not the user's to set. What a project's files say is not asked: which model
    judges an agent, or what that may cost, is not for the project that it works on. Raises ``SettingsError`` naming a
    file that cannot be read, because it is not known then what it says.
    """
    found: dict[str, Any] = {}
    for source in ("user", "managed"):
        file = next(iter(TomlSource(source).load()), None)
        if file is None:
            continue
        for finding in file.findings:
            if finding.kind == "unreadable":
                raise SettingsError(str(finding))
        found |= thaw(file.settings.get("plugins", {}).get(name, {}))
    return found
