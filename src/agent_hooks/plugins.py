"""What the manager tells about plugins and hooks, and plugins that are made at run time."""

from __future__ import annotations

from inspect import unwrap
from typing import Any, ClassVar

from .values import Value

# Where a function says in which file it is written, if not in that of its code.
ORIGIN = "agent_hooks_origin"


class MadePlugin:
    """A plugin made here and not imported: its hooks are set as attributes."""

    def __init__(self, name: str) -> None:
        self.__name__ = name


class PluginInfo(Value):
    """A plugin as the manager knows it; ``status`` is ``active``, ``blocked``, ``disabled`` or ``broken``, ``error``
    why it is broken.
    """

    name: str
    source: str = "plugin"
    status: str = "active"
    distribution: str = ""
    version: str = ""
    error: str = ""


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


def origin_of(function: Any) -> str:
    """Return where a hook is written: in a configuration file, if it says so itself, else its code; an empty string if
    neither is known.
    """
    function = unwrap(getattr(function, "__func__", function))
    if hasattr(function, ORIGIN):
        return str(getattr(function, ORIGIN))
    called = type(function).__call__ if callable(function) else None  # of an object that is a hook
    code = getattr(function, "__code__", None) or getattr(called, "__code__", None)
    return f"{code.co_filename}:{code.co_firstlineno}" if code else ""
