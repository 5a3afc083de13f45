"""What the manager tells about plugins and hooks, and plugins that are made at run time."""

from __future__ import annotations

from typing import Any, ClassVar

from agent_hooks.model.values import Value


class MadePlugin:
    """A plugin made here and not imported: its hooks are set as attributes."""

    def __init__(self, name: str) -> None:
        self.__name__ = name


class PluginInfo(Value):
    """A plugin as the manager knows it; ``status`` is ``active``, ``blocked``, ``disabled``, ``ignored`` or ``broken``,
    ``error`` why it is ignored or broken, ``entry_point`` the module or object that its distribution names.
    """

    name: str
    source: str = "plugin"
    status: str = "active"
    distribution: str = ""
    version: str = ""
    error: str = ""
    entry_point: str = ""


class HookInfo(Value):
    """A hook as it runs. ``match`` is its text, or how its predicate shows itself; ``timeout`` is in seconds, None for
    none; ``origin`` is where it is written, as ``file:line``.
    """

    event: str
    name: str
    plugin: str
    priority: int = 0
    mode: str = "transform"
    match: str = "*"
    source: str = "code"
    scope: tuple[str, ...] | None = None
    timeout: float | None = None
    on_failure: str = "open"
    required: bool = False
    shadow: bool = False
    wrapper: bool = False
    is_async: bool = False
    origin: str = ""

    _decode: ClassVar[dict[str, Any]] = {"scope": tuple}
