"""The builder: an agent put together step by step, each step a new builder."""

from __future__ import annotations

import os
from logging import getLogger
from typing import TYPE_CHECKING

from agent_hooks.engine.manager import HookManager
from agent_hooks.engine.registration import HookRegistration, triggers
from agent_hooks.errors import AgentHooksError, RegistrationError, RunError, StoreError
from agent_hooks.model.events import HookEvent
from agent_hooks.sources.loader import HookConfigLoader
from agent_hooks.system.store import Store

from .agent import AgentRuntime, checked_limit
from .build_checks import check_matches, check_priorities
from .capabilities import NamedCapability, UseContextConfig, check_capability, name_of
from .defaults import DEFAULTS, index_of
from .definitions import Definition
from .pausing import check_store
from .python_tools import Toolset
from .skill_activation import AgentSkills, skills_in

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, Self

    from agent_hooks.engine.hooks import Ask
    from agent_hooks.engine.markers import Match
    from agent_hooks.engine.registration import Action, HookTriggers
    from agent_hooks.engine.stack import HookStack
    from agent_hooks.model.policy import HookPolicy
    from agent_hooks.sources.skills import Skill

    from .capabilities import AgentCapability
    from .driver import Driver
    from .interceptors import Interceptor
    from .pausing import SuspensionStore


class AgentBuilder:
    """Puts an agent together. Immutable: every method returns a new builder, so a half-built one can be shared.

    ``plugins``: by default every installed plugin is loaded, and the hooks of files that hold where the agent works
    (``with_config``); otherwise the names of the plugins to load, and objects with hooks to register, so ``plugins=()``
    is an agent with no plugin at all. ``policy``: the engine's settings.
    """

    def __init__(self, plugins: Iterable[Any] | None = None, policy: HookPolicy | None = None) -> None:
        if isinstance(plugins, str):
            raise RunError(f"plugins is a list: AgentBuilder(plugins=[{plugins!r}]).")
        self._plugins = None if plugins is None else tuple(plugins)
        self._policy = policy
        self._registered: tuple[tuple[Any, str | None], ...] = ()
        self._registrations: tuple[HookRegistration, ...] = ()
        self._defaults = DEFAULTS
        self._capabilities: tuple[AgentCapability | NamedCapability, ...] = ()
        self._applied: tuple[AgentCapability, ...] = ()
        self._tools: tuple[Any, ...] = ()
        self._ask: Ask = None
        self._is_debugged = False
        self._config: HookConfigLoader | bool = plugins is None
        self._is_config_chosen = False
        self._interceptor: Any = None
        self._driver: Any = None
        self._runtime: dict[str, Any] = {}
        self._definition: Definition | None = None
        self._skills: tuple[tuple[Skill | str, bool], ...] = ()

    def __repr__(self) -> str:
        name = self._runtime.get("name", "agent")
        model = getattr(self._driver, "model", None)
        hooks = len(self._registrations) + len(self._registered)
        counts = f"tools={len(self._tools)} hooks={hooks} capabilities={len(self._capabilities)}"
        return f"<{type(self).__name__} {name!r} model={model!r} {counts}>"

    @classmethod
    def new(cls) -> Self:
        """Return a builder with the installed plugins and the default hooks."""
        return cls()

    @classmethod
    def base(cls) -> Self:
        """Do the same, under the name it has in InstructorPHP."""
        return cls()

    @classmethod
    def from_file(
        cls,
        path: str | os.PathLike[str],
        *,
        plugins: Iterable[Any] | None = None,
        policy: HookPolicy | None = None,
        trusted: bool = False,
    ) -> Self:
        """Return a builder of the agent that a Markdown file defines, as Claude Code has them: its name and prompt,
        which of the tools given with ``with_tools`` it has, its model where there is no ``with_driver``, ``maxTurns``,
        and its hooks. ``trusted``: the caller answers for the hooks; otherwise they must have been trusted.

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
        """Add skills: ``Skill`` objects, ``SKILL.md`` files, and folders with one or of which each has one. Their hooks
        are live, and the model gets the tool ``activate_skill``, whose result is a skill's text.

        Naming a file here answers for its text. ``trusted``: the caller answers for its hooks as well; otherwise they
        must have been trusted. Raises ``RunError`` for a folder without skills, ``build`` what ``register_skill``
        raises.
        """
        found = tuple((each, trusted) for skill in skills for each in skills_in(skill))
        return self._with(skills=(*self._skills, *found))

    def with_capability(self, capability: AgentCapability | str, **settings: Any) -> Self:
        """Add a capability; it is applied when the agent is built, after those added before it.

        A name stands for one that an installed plugin offers, made with ``settings``: ``with_capability("guards",
        max_steps=10)``. Raises ``RunError`` for what is no capability, ``build`` for a name that no plugin offers.
        """
        named = isinstance(capability, str)
        if settings and not named:
            raise RunError("Settings are for a capability given by name; this one is made already.")
        made = NamedCapability(capability, settings) if isinstance(capability, str) else check_capability(capability)
        return self._with(capabilities=(*self._capabilities, made))

    def with_policy(self, policy: HookPolicy) -> Self:
        """Use these settings of the engine."""
        return self._with(policy=policy)

    def with_config(self, config: HookConfigLoader | bool = True) -> Self:
        """Use the hooks and settings of files: those that hold where the agent works (``True``, the default unless
        plugins were chosen), those that a loader of your own reads, or none (``False``).

        The files of a project count only if somebody has trusted them; what could not be honoured is logged when the
        agent is built. ``build`` raises ``TrustError`` where the policy requires a project's gates and they are not
        trusted.
        """
        return self._with(config=config, is_config_chosen=True)

    def with_ask(self, ask: Ask) -> Self:
        """Say who answers an ask: a callable ``(ctx, reason) -> bool``, or ``"host"`` to suspend the run until
        ``resume``. By default nobody, so ``HookPolicy.ask_fallback`` decides.
        """
        if not (ask is None or ask == "host" or callable(ask)):
            raise RunError(f'with_ask takes a callable (ctx, reason) -> bool, "host" or None, not {ask!r}.')
        return self._with(ask=ask)

    def with_debug(self, on: bool = True) -> Self:
        """Log every hook that runs, by name, with its decision and time, to the logger ``agent_hooks.trace``."""
        return self._with(is_debugged=on)

    def with_interceptor(self, interceptor: Interceptor | HookManager | HookStack) -> Self:
        """Let ``interceptor`` answer the agent's events in place of all hooks but the default ones, those of installed
        plugins too. ``build`` raises ``RunError`` if this builder was given other hooks, which would never be asked.
        """
        return self._with(interceptor=interceptor)

    def with_name(self, name: str) -> Self:
        """Give the agent a name, which matches are tried on where an event has nothing else."""
        return self._with_runtime(name=name)

    def with_session(self, session_id: str) -> Self:
        """Run in the session of this id: its hooks are live, and counters count for it."""
        return self._with_runtime(session_id=session_id)

    def with_scope(self, scope: str) -> Self:
        """Give the agent a scope, a text of your own that hooks see as ``ctx.scope``: a tenant, an environment."""
        return self._with_runtime(scope=scope)

    def with_cwd(self, directory: str | os.PathLike[str]) -> Self:
        """Run in this directory (default: the process's current one): project settings are found from there."""
        return self._with_runtime(cwd=os.path.abspath(directory))

    def with_parallel_tools(self, on: bool = True) -> Self:
        """Run the tools that one step asks for at the same time."""
        return self._with_runtime(parallel_tools=on)

    def with_limits(self, *, max_steps: int | None) -> Self:
        """Stop a run after so many steps (default: 100); None is no limit. Raises ``RunError`` for any other value."""
        return self._with_runtime(max_steps=checked_limit(max_steps))

    @property
    def has_limits(self) -> bool:
        """Whether ``with_limits`` was called: a capability with limits of its own leaves those alone."""
        return "max_steps" in self._runtime

    def with_store(self, store: SuspensionStore) -> Self:
        """Remember resumed runs in ``store`` (default: a file). Raises ``RunError`` for an unsuitable one."""
        return self._with_runtime(store=check_store(store))

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
        **options: Any,
    ) -> Self:
        """Add a hook on one or several events; ``options`` are those of ``HookRegistration``."""
        made = HookRegistration(
            event=triggers(event), action=hook, priority=priority, match=match, name=name, **options
        )
        return self._with(registrations=(*self._registrations, made))

    def before_tool_use(self, hook: Action, match: Match | None = None, priority: int = 0, **options: Any) -> Self:
        """Add a hook that is asked before the tools that ``match`` names (default: all) are used."""
        return self.hook("before_tool_use", hook, priority, match=match, **options)

    def after_tool_use(self, hook: Action, match: Match | None = None, priority: int = 0, **options: Any) -> Self:
        """Add a hook that hears of the results of the tools that ``match`` names (default: all)."""
        return self.hook("after_tool_use", hook, priority, match=match, **options)

    def continue_when(self, hook: Action, priority: int = 0, **options: Any) -> Self:
        """Add a hook that is asked before each step whether there should be one (``should_continue``)."""
        return self.hook("should_continue", hook, priority, **options)

    def process(self, hook: Action, priority: int = 0, **options: Any) -> Self:
        """Add a hook that works on the state after each step (``after_step``)."""
        return self.hook("after_step", hook, priority, **options)

    def plugin(self, plugin: Any, name: str | None = None) -> Self:
        """Register a module or object with ``@hookimpl`` functions."""
        return self._with(registered=(*self._registered, (plugin, name)))

    def without_default(self, *names: str) -> Self:
        """Leave out default hooks by name. Raises ``RunError`` naming those there are."""
        places = {index_of(name, self._defaults) for name in names}
        return self._with(defaults=tuple(h for index, h in enumerate(self._defaults) if index not in places))

    def replace_default(self, name: str, hook: Action) -> Self:
        """Put ``hook`` in the place of a default hook: same event, priority and name. Raises ``RunError``."""
        place = index_of(name, self._defaults)
        old = self._defaults[place]
        made = HookRegistration(**{**old._fields, "action": hook})
        return self._with(defaults=(*self._defaults[:place], made, *self._defaults[place + 1 :]))

    # -- building ----------------------------------------------------------------------------------------------------

    def validate_no_priority_conflicts(self) -> Self:
        """Return the builder. Raises ``PriorityConflictError`` if two plugins' hooks share a priority."""
        check_priorities(self._configured()._manager())
        return self

    def build(self) -> AgentRuntime:
        """Return the agent. Each call applies the capabilities afresh and makes a registry of its own.

        Raises ``RunError`` for what is missing or does not fit, ``RegistrationError`` for a hook that cannot be
        registered, ``UnknownHookError`` for one on an event that there is not. Raises ``StoreError`` where
        ``with_ask("host")`` suspends runs and the store cannot be used; where another hook might do that, it is logged.
        """
        return self._configured()._build()

    def _configured(self) -> AgentBuilder:
        made: AgentBuilder = self._with(capabilities=())
        for capability in self._capabilities:
            if isinstance(capability, NamedCapability):
                capability = capability.made_by(self._manager())
            configured = capability.configure(made)
            if not isinstance(configured, AgentBuilder):
                raise RunError(
                    f"The capability {name_of(capability)!r} returned {configured!r}: configure(builder) returns the "
                    "builder, with what it adds."
                )
            made = configured._configured() if configured._capabilities else configured
            made = made._with(applied=(*made._applied, capability))
        return made

    def _build(self) -> AgentRuntime:
        settings = {"driver": self._driver_of(), "tools": self._tools_of(), **self._runtime}
        if self._interceptor is not None:
            self._check_interceptor_is_alone()
            return AgentRuntime(**settings, policy=self._policy, hooks=self._interceptor, defaults=self._defaults)
        loader = self._loader()
        manager = self._manager(loader)
        manager.check_pending()
        if loader is not None:
            settings["project_dir"] = loader.project_dir
            for finding in loader.open_findings:
                getLogger("agent_hooks").warning("%s", finding)
        self._check_store(manager)
        if self._definition is not None:
            self._definition.register(manager)
        skills: AgentSkills | None = None
        for skill, is_trusted in self._skills:
            skills = AgentSkills([skill], are_trusted=is_trusted, agents=skills)
            skills.register(manager.hooks())
        if skills is not None:
            settings.update(skills=skills, tools=skills.with_tool(Toolset(settings["tools"]).values()))
        hooks = manager.hooks(ask=self._ask)
        if session := self._runtime.get("session_id"):
            hooks = hooks.in_session(session)
        agent = AgentRuntime(**settings, hooks=hooks, defaults=self._defaults)
        check_matches(manager, agent.tools.values())
        for capability in self._applied:
            if check := getattr(capability, "check", None):
                check(agent)
        return agent

    def _driver_of(self) -> Any:
        """Return the driver: the one that was given, else one for the model of the definition."""
        if self._driver is not None or self._definition is None or not self._definition.model:
            return self._driver
        from .drivers.pydantic_ai import PydanticAIDriver
        from .judges import model_id

        try:
            return PydanticAIDriver(model_id(self._definition.model))
        except RegistrationError as error:
            raise RegistrationError(f"{self._definition.path}: {error}") from None

    def _tools_of(self) -> Iterable[Any]:
        return self._tools if self._definition is None else self._definition.of(Toolset(self._tools).values())

    def _check_store(self, manager: HookManager) -> None:
        """See that a run can wait, before tools have run. Raises ``StoreError``."""
        store = self._runtime.get("store", Store())
        if self._ask == "host":
            try:
                store.read("suspended|", "waits")
            except Exception as error:
                what = str(error) if isinstance(error, AgentHooksError) else f"{type(error).__name__}: {error}"
                remedy = "AgentBuilder.with_store(...) keeps it elsewhere, MemoryStore() in this process only."
                raise StoreError(f'with_ask("host") suspends runs, and they cannot be kept. {what} {remedy}') from error
        elif isinstance(store, Store) and (problem := store.problem) and (found := _may_suspend(manager)):
            getLogger("agent_hooks").warning(
                "agent_hooks: %s A run that %s suspends could not wait, and would end with a StoreError. "
                "AGENT_HOOKS_STATE_DIR names another folder, AgentBuilder.with_store(...) another store.",
                problem,
                found,
            )

    def _check_interceptor_is_alone(self) -> None:
        dropped = [hook.name or getattr(hook.action, "__name__", str(hook.action)) for hook in self._registrations]
        dropped += [str(plugin) for plugin, _ in (*((one, None) for one in self._plugins or ()), *self._registered)]
        dropped += ["with_ask"] * (self._ask is not None) + ["with_debug"] * self._is_debugged
        dropped += ["with_skills"] * bool(self._skills)
        dropped += ["the hooks of from_file"] * (self._definition is not None and self._definition.has_hooks)
        dropped += ["with_config"] * (self._is_config_chosen and self._config is not False)
        if dropped:
            raise RunError(
                f"with_interceptor stands in place of all hooks, so these would never be asked: {', '.join(dropped)}. "
                "Leave them out, or put them into the interceptor (HookManager, HookStack)."
            )

    def _loader(self) -> HookConfigLoader | None:
        if isinstance(self._config, HookConfigLoader):
            return self._config
        return HookConfigLoader(self._runtime.get("cwd")) if self._config else None

    def _manager(self, loader: HookConfigLoader | None = None) -> HookManager:
        names = [plugin for plugin in self._plugins or () if isinstance(plugin, str)]
        which = True if self._plugins is None else names
        loader = loader or self._loader()
        if loader is not None:
            manager = loader.load(self._policy, load_plugins=which)
        else:
            manager = HookManager(load_plugins=which, policy=self._policy)
        # In a policy that is in shadow they would only look: the agent runs them apart from the others then.
        for registration in () if manager.policy.shadow else self._defaults:
            manager.add(registration)
        given = [(plugin, None) for plugin in self._plugins or () if not isinstance(plugin, str)]
        for plugin, name in (*given, *self._registered):
            manager.register(plugin, name)
            if not manager.get_hookcallers(plugin):
                raise RunError(
                    f"{plugin!r} has no hooks: mark its functions with @hookimpl. An object with handle(ctx) or "
                    "execute(ctx) is added with .hook(event, it)."
                )
        for registration in self._registrations:
            manager.add(registration)
        if self._is_debugged:
            from .trace import Trace

            manager.register(Trace(), "trace")
        return manager


def _may_suspend(manager: HookManager) -> str:
    """Return the name of a hook of the application that decides where an operation can wait; empty if there is none."""
    names = (
        hook.name
        for hook in manager.describe()
        if hook.source == "code" and hook.mode != "observe" and "suspend" in HookEvent.parse(hook.event).decisions
    )
    return next(names, "")
