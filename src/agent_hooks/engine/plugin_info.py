"""Descriptions of plugins and hooks, and plugins made at run time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from agent_hooks.errors import RegistrationError
from agent_hooks.model.values import Value

from .markers import HookOptions
from .plan import check_source

if TYPE_CHECKING:
    from agent_hooks.model.policy import HookPolicy

    from .plan import Hook

SCOPES = ("directory", "skill", "session")


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

    @property
    def project_name(self) -> str:
        """The distribution's name, as pluggy calls it."""
        return self.distribution


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


class Registered:
    """The arguments of a plugin's registration, and its hooks."""

    def __init__(
        self, source: str, scope: Any, on_failure: str | None, default: str | None, shadow: bool | None, index: int
    ) -> None:
        self.source = check_source(source)
        self.scope = scope
        self.on_failure = HookOptions(on_failure=on_failure).on_failure
        self.default_on_failure = HookOptions(on_failure=default).on_failure
        self.shadow = shadow
        self.index = index
        self.hooks: list[Hook] = []
        if scope is not None and (
            scope[0] not in SCOPES or not 2 <= len(scope) <= (3 if scope[0] == "directory" else 2)
        ):
            raise RegistrationError(
                f"{scope!r} is not a scope: None for always, or one of {', '.join(SCOPES)} with a path, name or id."
            )


def hook_info(hook: Hook, policy: HookPolicy) -> HookInfo:
    """Return a hook as ``describe`` tells of it."""
    options = hook.options
    match = options.match or "*"
    return HookInfo(
        event=str(hook.event),
        name=hook.name,
        plugin=hook.plugin_name,
        priority=options.priority,
        mode="observe" if hook.event.observe_only else hook.mode,
        match=match if isinstance(match, str) else getattr(match, "__name__", repr(match)),
        source=hook.source,
        scope=hook.scope,
        timeout=hook.timeout if hook.is_async or hook.is_timed else None,
        on_failure=hook.on_failure(policy),
        required=options.required,
        shadow=hook.shadow,
        wrapper=options.wrapper,
        is_async=hook.is_async,
        origin=hook.origin,
    )
