"""Capabilities: bundles of hooks and settings for a builder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, cast

from agent_hooks.engine.registration import HookRegistration, triggers
from agent_hooks.errors import RunError
from agent_hooks.model.outcome import HookOutcome
from agent_hooks.model.policy import SECURITY

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from agent_hooks.engine.manager import HookManager
    from agent_hooks.engine.markers import Match
    from agent_hooks.engine.registration import Action, HookTriggers
    from agent_hooks.model.events import HookEvent
    from agent_hooks.model.state import AgentState

    from .builder import AgentBuilder


class AgentCapability(Protocol):
    """A part of an agent: hooks and tools that belong together. ``name`` identifies it in errors.

    A method ``check(agent)``, if there is one, is called once the agent is built.
    """

    @property
    def name(self) -> str:
        """The name."""

    def configure(self, builder: AgentBuilder) -> AgentBuilder:
        """Return the builder with the capability applied."""


def check_capability(capability: Any) -> AgentCapability:
    """Return ``capability`` if it is valid. Raises ``RunError`` naming the missing method."""
    if not callable(getattr(capability, "configure", None)) or isinstance(capability, type):
        raise RunError(f"{capability!r} is not a capability: give an object with configure(builder) -> builder.")
    return cast("AgentCapability", capability)


def offered_capability(name: str, settings: Mapping[str, Any], manager: HookManager) -> AgentCapability:
    """Create ``telemetry``, or a capability that a plugin offers by its hook ``agent_hooks_capabilities``. Raises
    ``RunError`` naming those there are.
    """
    offered: dict[str, list[tuple[str, Any]]] = {"telemetry": [("agent_hooks", _telemetry)]}
    for impl in manager.hook.agent_hooks_capabilities.get_hookimpls():
        try:
            found: Any = impl.function()
            for each, make in found.items():
                offered.setdefault(each, []).append((impl.plugin_name, make))
        except Exception as error:
            raise RunError(f"The plugin {impl.plugin_name!r} cannot say what it offers: {error!r}") from error
    makers = offered.get(name, ())
    if len(makers) != 1:
        plugins = ", ".join(plugin for plugin, _ in makers)
        several = f"Several plugins ({plugins}) offer" if makers else "No plugin offers"
        raise RunError(f"{several} a capability {name!r}; there are {', '.join(sorted(offered)) or 'none'}.")
    plugin, make = makers[0]
    try:
        return check_capability(make(**settings))
    except TypeError as error:
        raise RunError(f"The capability {name!r} of the plugin {plugin!r} cannot be made: {error}") from error


def _telemetry(**settings: Any) -> AgentCapability:
    try:
        from agent_hooks.observability import configured
    except ImportError as error:
        raise RunError(str(error)) from error
    return configured("capability", **settings)


class UseHook:
    """One hook on one or several events."""

    def __init__(
        self,
        hook: Action,
        triggers: HookTriggers | HookEvent | str | Iterable[HookEvent | str],
        priority: int = 0,
        *,
        name: str | None = None,
        match: Match | None = None,
        **options: Any,
    ) -> None:
        self.hook = hook
        self.triggers = triggers
        self.options = {"priority": priority, "name": name, "match": match, **options}
        self.name = name or "hook"

    def configure(self, builder: AgentBuilder) -> AgentBuilder:
        """Add the hook."""
        return builder.hook(triggers(self.triggers), self.hook, **self.options)


class UseHooks:
    """Several hooks: registrations, and modules or objects with ``@hookimpl`` functions."""

    name = "hooks"

    def __init__(self, *hooks: HookRegistration | Any) -> None:
        self.hooks = hooks

    def configure(self, builder: AgentBuilder) -> AgentBuilder:
        """Add the hooks, in the order given."""
        for hook in self.hooks:
            if isinstance(hook, HookRegistration):
                builder = builder._with(registrations=(*builder._registrations, hook))
            else:
                builder = builder.plugin(hook)
        return builder


class UseContextConfig:
    """A system prompt and a response format for every run; an empty value keeps that of the state."""

    name = "context_config"

    def __init__(self, system_prompt: str = "", response_format: Any = None) -> None:
        self.system_prompt = system_prompt
        self.response_format = response_format

    def configure(self, builder: AgentBuilder) -> AgentBuilder:
        """Add the hook, which runs once, before the first step."""
        return builder.hook("before_execution", self.apply, priority=SECURITY, name="apply_context_config")

    def apply(self, state: AgentState) -> HookOutcome | None:
        """Return the configured prompt and format as a state."""
        wanted = {"system_prompt": self.system_prompt, "response_format": self.response_format}
        changes = {name: value for name, value in wanted.items() if value}
        return HookOutcome.proceed(state=state.replace(**changes)) if changes else None
