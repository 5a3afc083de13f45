"""The builder of agents: immutable, each method returns a new builder."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, Any, Self, Unpack

from agent_hooks.engine.registration import HookRegistration, triggers
from agent_hooks.errors import AgentHooksError, RegistrationError, RunError, StoreError
from agent_hooks.model.events import HookEvent
from agent_hooks.sources.loading import load, register_given
from agent_hooks.system.store import Store
from agent_hooks.system.visible import logger_of

from .agent import AgentIdentity, AgentRuntime, checked_limit
from .build_checks import check_matches, check_priorities
from .capabilities import UseContextConfig, check_capability, offered_capability
from .defaults import DEFAULTS, index_of
from .definitions import Definition
from .pausing import check_store
from .python_tools import toolset
from .skill_activation import SessionSkills, skills_in

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent_hooks.engine.event_markers import FurtherOptions, MatchedOptions, NamedOptions
    from agent_hooks.engine.hooks import Ask
    from agent_hooks.engine.manager import HookManager
    from agent_hooks.engine.markers import Match
    from agent_hooks.engine.registration import Action, HookTriggers
    from agent_hooks.engine.stack import HookStack
    from agent_hooks.model.policy import HookPolicy
    from agent_hooks.sources.loader import HookConfigLoader
    from agent_hooks.sources.skills import Skill

    from .capabilities import AgentCapability
    from .driver import Driver
    from .interceptors import Interceptor
    from .pausing import SuspensionStore

_REMEDY = (
    "AGENT_HOOKS_STATE_DIR names another folder, AgentBuilder.with_store(...) another store: MemoryStore() is one in "
    "this process only."
)


class AgentBuilder:
    """Builds an agent. Immutable: every method returns a new builder, so a partial one can be shared.

    ``plugins``: by default all installed plugins and the hooks of configuration files (``with_config``); otherwise the
    names of plugins to load, and objects with hooks to register, so ``plugins=()`` loads no plugin at all. ``policy``:
    the engine's settings.
    """

    def __init__(self, plugins: Iterable[Any] | None = None, policy: HookPolicy | None = None) -> None:
        if isinstance(plugins, str):
            raise RunError(f"plugins is a list: AgentBuilder(plugins=[{plugins!r}]).")
        self._plugins = None if plugins is None else tuple(plugins)
        self._policy = policy
        self._registered: tuple[tuple[Any, str | None], ...] = ()
        self._registrations: tuple[HookRegistration, ...] = ()
        self._defaults = DEFAULTS
        self._capabilities: tuple[AgentCapability | partial[AgentCapability], ...] = ()
        self._applied: tuple[AgentCapability, ...] = ()
        self._tools: tuple[Any, ...] = ()
        self._ask: Ask = None
        self._is_debugged = False
        self._config: HookConfigLoader | bool | None = None
        self._interceptor: Any = None
        self._driver: Any = None
        self._identity = AgentIdentity()
        self._runtime: dict[str, Any] = {}
        self._definition: Definition | None = None
        self._skills: tuple[tuple[Skill | str, bool], ...] = ()

    def __repr__(self) -> str:
        model = getattr(self._driver, "model", None)
        hooks = len(self._registrations) + len(self._registered)
        counts = f"tools={len(self._tools)} hooks={hooks} capabilities={len(self._capabilities)}"
        return f"<{type(self).__name__} {self._identity.name!r} model={model!r} {counts}>"

    @classmethod
    def new(cls) -> Self:
        """Return a builder with the installed plugins and the default hooks."""
        return cls()

    base = new  # InstructorPHP's name

    @classmethod
    def from_file(
        cls,
        path: str | os.PathLike[str],
        *,
        plugins: Iterable[Any] | None = None,
        policy: HookPolicy | None = None,
        trusted: bool = False,
    ) -> Self:
        """Return a builder for an agent definition in a Markdown file, in Claude Code's format: name and prompt, a
        selection of the tools given with ``with_tools``, the model (unless ``with_driver`` is used), ``maxTurns``, and
        hooks. ``trusted``: the caller vouches for the hooks; otherwise they must have been trusted.

        Raises ``RegistrationError`` naming the file, the line and the key, ``build`` also ``TrustError``.
        """
        found = Definition.read(path, is_trusted=trusted)
        made = cls(plugins, policy)._with(definition=found).with_name(found.name)
        made = made if found.max_steps is None else made.with_limits(max_steps=found.max_steps)
        return made.with_capability(UseContextConfig(found.prompt)) if found.prompt else made

    def _with(self, **changes: Any) -> Self:
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__, **{f"_{name}": value for name, value in changes.items()})
        return made

    # -- parts -------------------------------------------------------------------------------------------------------

    def with_driver(self, driver: Driver) -> Self:
        """Use this driver to ask the model."""
        return self._with(driver=driver)

    def with_tools(self, *tools: Any) -> Self:
        """Add tools: typed functions, or ``Tool`` objects."""
        return self._with(tools=(*self._tools, *tools))

    def with_skills(self, *skills: Skill | str | os.PathLike[str], trusted: bool = False) -> Self:
        """Add skills: ``Skill`` objects, ``SKILL.md`` files, their folders, or folders of those. Their hooks are live,
        and the model gets the tool ``activate_skill``, which returns a skill's text.

        Naming a file here vouches for its text. ``trusted``: the caller vouches for its hooks as well; otherwise they
        must have been trusted. Raises ``RunError`` for a folder without skills, ``build`` the errors of
        ``register_skill``.
        """
        found = tuple((each, trusted) for skill in skills for each in skills_in(skill))
        return self._with(skills=(*self._skills, *found))

    def with_capability(self, capability: AgentCapability | str, **settings: Any) -> Self:
        """Add a capability; it is applied when the agent is built, after those added before it.

        A name selects one that an installed plugin offers, created with ``settings``: ``with_capability("guards",
        max_steps=10)``. Raises ``RunError`` for an invalid capability, ``build`` for a name that no plugin offers.
        """
        if settings and not isinstance(capability, str):
            raise RunError("Settings are for a capability given by name; this one is made already.")
        made: Any = (
            partial(offered_capability, capability, settings)
            if isinstance(capability, str)
            else check_capability(capability)
        )
        return self._with(capabilities=(*self._capabilities, made))

    def with_policy(self, policy: HookPolicy) -> Self:
        """Use these settings of the engine."""
        return self._with(policy=policy)

    def with_config(self, config: HookConfigLoader | bool = True) -> Self:
        """Use the hooks and settings of configuration files: those for the agent's directory (``True``, the default
        unless plugins were chosen), those that a loader of your own reads, or none (``False``).

        The files of a project are used only if they were trusted; ``build`` logs everything that it could not use. It
        raises ``TrustError`` if the policy requires a project's gates and they are not trusted.
        """
        return self._with(config=config)

    def with_ask(self, ask: Ask) -> Self:
        """Set the handler of an ask: a callable ``(ctx, reason) -> bool``, or ``"host"`` to suspend the run until
        ``resume``. Without one ``HookPolicy.ask_fallback`` decides.
        """
        if not (ask is None or ask == "host" or callable(ask)):
            raise RunError(f'with_ask takes a callable (ctx, reason) -> bool, "host" or None, not {ask!r}.')
        return self._with(ask=ask)

    def with_debug(self, on: bool = True) -> Self:
        """Log every hook that runs, by name, with its decision and time, to the logger ``agent_hooks.trace``."""
        return self._with(is_debugged=on)

    def with_interceptor(self, interceptor: Interceptor | HookManager | HookStack) -> Self:
        """Use ``interceptor`` instead of all hooks but the default ones, also instead of those of installed plugins.
        ``build`` raises ``RunError`` if this builder has other hooks, which would never run.
        """
        return self._with(interceptor=interceptor)

    def with_name(self, name: str) -> Self:
        """Set the agent's name, which hooks match on events without another subject."""
        return self._with_identity(name=name)

    def with_session(self, session_id: str) -> Self:
        """Run in the session with this id: its hooks are live, and counters count for it."""
        return self._with_identity(session_id=session_id)

    def with_scope(self, scope: str) -> Self:
        """Set the agent's scope, a string that hooks see as ``ctx.scope``: a tenant, an environment."""
        return self._with_identity(scope=scope)

    def with_cwd(self, directory: str | os.PathLike[str]) -> Self:
        """Run in this directory (default: the current one of the process); project settings are searched from there."""
        return self._with_identity(cwd=os.path.abspath(directory))

    def with_parallel_tools(self, on: bool = True) -> Self:
        """Run the tools of one step concurrently."""
        return self._with_runtime(parallel_tools=on)

    def with_limits(self, *, max_steps: int | None) -> Self:
        """Stop a run after ``max_steps`` steps (default: 100); None is no limit. Raises ``RunError`` otherwise."""
        return self._with_runtime(max_steps=checked_limit(max_steps))

    @property
    def has_limits(self) -> bool:
        """Whether ``with_limits`` was called: a capability with limits of its own must not override those."""
        return "max_steps" in self._runtime

    def with_store(self, store: SuspensionStore) -> Self:
        """Remember resumed runs in ``store`` (default: a file). Raises ``RunError`` for an unsuitable one."""
        return self._with_runtime(store=check_store(store))

    def _with_identity(self, **fields: Any) -> Self:
        return self._with(identity=self._identity.replace(**fields))

    def _with_runtime(self, **settings: Any) -> Self:
        return self._with(runtime={**self._runtime, **settings})

    # -- hooks -------------------------------------------------------------------------------------------------------

    def hook(
        self,
        event: HookEvent | str | HookTriggers | Iterable[HookEvent | str],
        hook: Action,
        priority: int = 0,
        *,
        match: Match | None = None,
        name: str | None = None,
        **options: Unpack[FurtherOptions],
    ) -> Self:
        """Add a hook on one or several events; ``options`` are those of ``HookRegistration``."""
        made = HookRegistration(triggers(event), hook, priority=priority, match=match, name=name, **options)
        return self._with(registrations=(*self._registrations, made))

    def before_tool_use(
        self, hook: Action, match: Match | None = None, priority: int = 0, **options: Unpack[NamedOptions]
    ) -> Self:
        """Add a hook that runs before the tools that ``match`` names (default: all)."""
        return self.hook("before_tool_use", hook, priority, match=match, **options)

    def after_tool_use(
        self, hook: Action, match: Match | None = None, priority: int = 0, **options: Unpack[NamedOptions]
    ) -> Self:
        """Add a hook that gets the results of the tools that ``match`` names (default: all)."""
        return self.hook("after_tool_use", hook, priority, match=match, **options)

    def continue_when(self, hook: Action, priority: int = 0, **options: Unpack[MatchedOptions]) -> Self:
        """Add a hook that decides before each step whether to continue (``should_continue``)."""
        return self.hook("should_continue", hook, priority, **options)

    def process(self, hook: Action, priority: int = 0, **options: Unpack[MatchedOptions]) -> Self:
        """Add a hook that processes the state after each step (``after_step``)."""
        return self.hook("after_step", hook, priority, **options)

    def plugin(self, plugin: Any, name: str | None = None) -> Self:
        """Register a module or object with ``@hookimpl`` functions."""
        return self._with(registered=(*self._registered, (plugin, name)))

    def without_default(self, *names: str) -> Self:
        """Remove default hooks by name. Raises ``RunError`` naming the known ones."""
        for name in names:
            index_of(name, self._defaults)
        return self._with(defaults=tuple(hook for hook in self._defaults if hook.name not in names))

    def replace_default(self, name: str, hook: Action) -> Self:
        """Replace a default hook by ``hook``, with the same event, priority and name. Raises ``RunError``."""
        defaults = list(self._defaults)
        index = index_of(name, defaults)
        defaults[index] = HookRegistration(**{**defaults[index]._fields, "action": hook})
        return self._with(defaults=tuple(defaults))

    # -- building ----------------------------------------------------------------------------------------------------

    def validate_no_priority_conflicts(self) -> Self:
        """Return the builder. Raises ``PriorityConflictError`` if two plugins' hooks share a priority."""
        check_priorities(self._configured()._manager())
        return self

    def build(self) -> AgentRuntime:
        """Return the agent. Each call applies the capabilities again and creates a new registry.

        Raises ``RunError`` for missing or unsuitable parts, ``RegistrationError`` for a hook that cannot be registered,
        ``UnknownHookError`` for one on an unknown event. Raises ``StoreError`` if ``with_ask("host")`` suspends runs
        and the store is unusable; if other hooks may suspend runs, that is logged only.
        """
        return self._configured()._build()

    def _configured(self) -> AgentBuilder:
        made: AgentBuilder = self._with(capabilities=())
        for capability in self._capabilities:
            if isinstance(capability, partial):
                capability = capability(self._manager())
            configured = capability.configure(made)
            if not isinstance(configured, AgentBuilder):
                raise RunError(
                    f"The capability {getattr(capability, 'name', type(capability).__name__)!r} returned "
                    f"{configured!r}: configure(builder) returns the builder, with what it adds."
                )
            made = configured._configured() if configured._capabilities else configured
            made = made._with(applied=(*made._applied, capability))
        return made

    def _build(self) -> AgentRuntime:
        tools = self._tools if self._definition is None else self._definition.of(toolset(self._tools).values())
        settings = {"driver": self._driver_of(), "tools": tools, "identity": self._identity, **self._runtime}
        if self._interceptor is not None:
            self._check_interceptor_is_alone()
            return AgentRuntime(**settings, policy=self._policy, hooks=self._interceptor, defaults=self._defaults)
        manager = self._manager()
        manager.check_pending()
        settings["identity"] = self._identity.replace(project_dir=manager.project_dir)
        for finding in manager.findings:
            logger_of().warning("%s", finding)
        self._check_store(manager)
        if self._definition is not None:
            self._definition.register(manager)
        if self._skills:
            skills = SessionSkills(self._skills, is_text_trusted=True)
            skills.register(manager.hooks())
            settings.update(skills=skills, tools=skills.with_tool(toolset(settings["tools"]).values()))
        agent = AgentRuntime(**settings, hooks=manager.hooks(ask=self._ask), defaults=self._defaults)
        check_matches(manager, agent.tools.values())
        for capability in self._applied:
            if check := getattr(capability, "check", None):
                check(agent)
        return agent

    def _driver_of(self) -> Any:
        """Return the given driver, else one for the model of the definition."""
        if self._driver is not None or self._definition is None or not self._definition.model:
            return self._driver
        from .drivers.pydantic_ai import PydanticAIDriver
        from .judges import model_id

        try:
            return PydanticAIDriver(model_id(self._definition.model))
        except RegistrationError as error:
            raise RegistrationError(f"{self._definition.path}: {error}") from None

    def _check_store(self, manager: HookManager) -> None:
        """Check that a run can wait, before tools have run. Raises ``StoreError``."""
        store = self._runtime.get("store", Store())
        if self._ask == "host":
            try:
                store.read("suspended|", "waits")
            except Exception as error:
                reason = str(error) if isinstance(error, AgentHooksError) else f"{type(error).__name__}: {error}"
                raise StoreError(
                    f'with_ask("host") suspends runs, and they cannot be kept. {reason} {_REMEDY}'
                ) from error
        elif isinstance(store, Store) and (problem := store.problem):
            gates = [hook for hook in manager.describe() if hook.source == "code" and hook.mode != "observe"]
            waiting = (hook.name for hook in gates if "suspend" in HookEvent.parse(hook.event).decisions)
            if found := next(waiting, None):
                effect = f"A run that {found} suspends could not wait, and would end with a StoreError."
                logger_of().warning("agent_hooks: %s %s %s", problem, effect, _REMEDY)

    def _check_interceptor_is_alone(self) -> None:
        dropped = [hook.name or getattr(hook.action, "__name__", str(hook.action)) for hook in self._registrations]
        dropped += map(str, (*(self._plugins or ()), *(plugin for plugin, _ in self._registered)))
        dropped += ["with_ask"] * (self._ask is not None) + ["with_debug"] * self._is_debugged
        dropped += ["with_skills"] * bool(self._skills)
        dropped += ["the hooks of from_file"] * (self._definition is not None and self._definition.has_hooks)
        dropped += ["with_config"] * bool(self._config)
        if dropped:
            raise RunError(
                f"with_interceptor stands in place of all hooks, so these would never be asked: {', '.join(dropped)}. "
                "Leave them out, or put them into the interceptor (HookManager, HookStack)."
            )

    def _manager(self) -> HookManager:
        files = self._plugins is None if self._config is None else self._config
        manager = load(self._identity.cwd or None, plugins=self._plugins, files=files, policy=self._policy)
        # Under a policy in shadow they would only observe; the agent then runs them separately.
        for registration in () if manager.policy.shadow else self._defaults:
            manager.add(registration)
        for plugin, name in self._registered:
            register_given(manager, plugin, name)
        for registration in self._registrations:
            manager.add(registration)
        if self._is_debugged:
            from .trace import Trace

            manager.register(Trace(), "trace")
        return manager
