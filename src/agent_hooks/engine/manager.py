"""The registry of plugins and hooks, built on pluggy, which only this module imports."""

from __future__ import annotations

from functools import partial
from inspect import isasyncgenfunction, iscoroutinefunction, isgeneratorfunction, unwrap
from itertools import count
from types import FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any

import pluggy

from agent_hooks.errors import AgentHooksError, DirectCallError, RegistrationError, UnknownHookError, did_you_mean
from agent_hooks.model.events import HookEvent, find_event
from agent_hooks.model.policy import RANKS, HookPolicy, strictest

from . import hookspecs
from .checks import OWN_HOOKS, as_hook, call_own, check_functions, check_plugin, spec_arguments
from .installed import load_installed
from .known_tools import close_unknown
from .markers import OLD_WRAPPER, PROJECT, HookOptions, marked
from .matchers import match_within
from .origins import ORIGIN, origin_of
from .plan import Hook, check_source
from .plugin_info import HookInfo, MadePlugin, PluginInfo, Registered, hook_info
from .registry import HookRegistry
from .watching import WATCHERS, Watchers, observer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from agent_hooks.model.policy import ManagedSettings

    from .plan import Chain
    from .registration import HookRegistration
    from .watching import Observer


class HookManager(HookRegistry, pluggy.PluginManager):
    """A ``pluggy.PluginManager`` for hooks, without settings files and their gate: ``agent_hooks.load()`` adds both.

    It knows the events, the order of their hooks and the installed plugins.
    ``load_plugins``: load the entry points of the group ``agent_hooks``, all or those named. ``disabled``: names to
    leave out, besides those in the environment variable ``AGENT_HOOKS_DISABLE``. ``policy``: the engine's settings.
    ``known_tools``: names of tools that matches may name, besides those of the hosts. ``managed``: the settings of the
    machine's owner; the other arguments do not bind managed hooks and plugins. ``modules``: names of modules of this
    environment to load as plugins, with the source of each. A plugin that fails to load is named by ``plugins()`` and
    denies on the events of gates until it is blocked by name.
    """

    def __init__(
        self,
        *,
        load_plugins: bool | Iterable[str] = True,
        disabled: Iterable[str] = (),
        policy: HookPolicy | None = None,
        managed: ManagedSettings | None = None,
        known_tools: Iterable[str] = (),
        modules: Mapping[str, str] | None = None,
    ) -> None:
        pluggy.PluginManager.__init__(self, PROJECT)
        self.known_tools: dict[str, int] = dict.fromkeys(known_tools, RANKS["code"])
        HookRegistry.__init__(self, policy or HookPolicy(), managed)
        self.handler_types: dict[str, Any] = {}
        # By table: the plugin whose settings it holds, and their model or what returns it.
        self.settings_models: dict[str, tuple[str, Any]] = {}
        self.permits: Any = None  # permissions of the hooks of skills, if the manager was made from files
        self._entries: dict[str, Registered] = {}
        self._infos: dict[str, PluginInfo] = {}
        self._sequence = count()
        self._specs: list[Any] = []
        self._arguments: dict[str, tuple[str, ...]] = {}
        self._is_checked = False
        self._watchers: Watchers | None = None
        self._monitors: tuple[Observer, ...] = ()
        # While pluggy registers a plugin: it, and the options of its hooks by name.
        self._checked: tuple[Any, dict[str, Any]] = (None, {})
        self.add_hookspecs(hookspecs)
        super().add_hookcall_monitoring(_refuse_direct_call, lambda *_: None)
        if self.policy.shadow:
            kept = "" if self.managed.policy.shadow else " but managed hooks"
            self.notes += (f"agent_hooks: the whole policy is in shadow, nothing is enforced{kept}.",)
        if load_plugins or self.managed.plugins or modules:
            only = None if load_plugins is True else frozenset(load_plugins or ())
            load_installed(self, frozenset(disabled), only, modules or {})

    # -- registration ------------------------------------------------------------------------------------------------

    def register(
        self,
        plugin: Any,
        name: str | None = None,
        *,
        source: str = "code",
        scope: tuple[str, ...] | None = None,
        on_failure: str | None = None,
        default_on_failure: str | None = None,
        shadow: bool | None = None,
    ) -> str | None:
        """Register a module or object with hooks and return its name, None if that name is blocked.

        ``source``: where it comes from, one of ``policy.SOURCES``. ``scope``: when its hooks are live: None for always,
        or ``("directory", path)``, which the root of the project that it is in may follow, ``("skill", name)``,
        ``("session", id)``. ``on_failure``: the effect of a failure of its
        hooks does, before their own settings; ``default_on_failure``: the effect where nobody sets one, in
        place of their events' defaults. ``shadow``: True if its hooks only report their decisions, False
        if they are never in shadow; by default the policy says so.
        Raises ``RegistrationError`` and changes nothing if something is not right.
        """
        check_plugin(plugin)
        entry = Registered(source, scope, on_failure, default_on_failure, shadow, next(self._sequence))
        plugin_name = name or self._free_name(getattr(plugin, "__name__", None) or type(plugin).__name__)
        if self.is_blocked(plugin_name):
            return None
        if self.has_plugin(plugin_name):
            info = self._infos[plugin_name]
            owner = f", from {info.distribution} {info.version}" if info.distribution else ""
            raise RegistrationError(
                f"A plugin called {plugin_name!r} is registered already{owner}: unregister it, or give one of the two "
                "another name."
            )
        if (known := self.get_name(plugin)) is not None:
            raise RegistrationError(f"This plugin is registered already, as {known!r}.")
        call_own(plugin, "agent_hooks_add_hookspecs", self)
        options = check_functions(plugin, plugin_name, self)
        self._checked = (plugin, options)
        try:
            super().register(plugin, plugin_name)
        except (pluggy.PluginValidationError, ValueError) as error:
            raise RegistrationError(f"The plugin {plugin_name!r} cannot be registered: {error}") from None
        finally:
            self._checked = (None, {})
        try:
            entry.hooks = self._hooks_of(plugin, plugin_name, entry, options)
        except AgentHooksError:
            super().unregister(plugin)
            raise
        self._entries[plugin_name] = entry
        self._infos.setdefault(plugin_name, PluginInfo(name=plugin_name, source=source))
        self._changed()
        try:
            self._take_settings(plugin, plugin_name)
            call_own(plugin, "agent_hooks_register", self)
        except Exception:
            self.unregister(name=plugin_name)
            raise
        return plugin_name

    def add(self, registration: HookRegistration) -> str:
        """Register one action on its events; return the name of the plugin it became. Raises ``RegistrationError``."""
        action = registration.function()
        called = (
            registration.name or getattr(registration.action, "__name__", None) or type(registration.action).__name__
        )
        plugin = MadePlugin(self._free_name(called))
        options = registration.options().replace(name=called)
        for event in registration.event:
            hook = as_hook(action, self.arguments_of(event), called)
            setattr(hook, ORIGIN, origin_of(action))
            setattr(plugin, event, marked(hook, options))
        said = registration.entry_on_failure()
        self.register(plugin, source=registration.source, scope=registration.scope, on_failure=said)
        return plugin.__name__

    def unregister(self, plugin: Any = None, name: str | None = None) -> Any:
        """Unregister a plugin, by object or name, and return it. Raises ``RegistrationError`` if unknown."""
        name = name or self.get_name(plugin) or (plugin if isinstance(plugin, str) else None)
        if name is None or not (self.has_plugin(name) or self.is_blocked(name)):
            raise RegistrationError(f"{plugin if name is None else name!r} is not registered.")
        found = super().unregister(name=name)
        self._entries.pop(name, None)
        self._infos.pop(name, None)
        self.settings_models = {table: owned for table, owned in self.settings_models.items() if owned[0] != name}
        self._changed()
        return found

    def set_blocked(self, name: str) -> None:
        """Block a plugin, unregistering it. Raises ``RegistrationError`` if it is managed or required."""
        entry = self._entries.get(name)
        if entry is not None and entry.source == "managed":
            raise RegistrationError(f"The plugin {name!r} cannot be blocked, because it is managed.")
        required = [hook.name for hook in entry.hooks if hook.options.required] if entry else []
        if required:
            raise RegistrationError(
                f"The plugin {name!r} cannot be blocked, because {', '.join(required)} is required."
            )
        info = self._infos.get(name, PluginInfo(name=name))
        if not self.has_plugin(name):
            super().register(MadePlugin(name), name)  # pluggy unregisters a plugin that it blocks
        super().set_blocked(name)
        self._infos[name] = info.replace(status="blocked", error="")
        self._changed()

    def add_hookspecs(self, module_or_class: Any) -> None:
        """Add the hookspecs of a module or class. Each needs an event of its name, see ``events.define_event``."""
        if any(known is module_or_class for known in self._specs):
            return
        names = [name for name in dir(module_or_class) if self.parse_hookspec_opts(module_or_class, name) is not None]
        arguments = {name: spec_arguments(module_or_class, name) for name in names}
        super().add_hookspecs(module_or_class)
        self._specs.append(module_or_class)
        for name in names:
            self._arguments[name] = arguments[name]
        self._changed()

    def parse_hookspec_opts(self, module_or_class: Any, name: str) -> Any:
        """Read the options of a hookspec; those of our own are the same for each manager. Called by pluggy."""
        if module_or_class is not hookspecs:
            return super().parse_hookspec_opts(module_or_class, name)
        if name not in _own_specs:
            _own_specs[name] = super().parse_hookspec_opts(module_or_class, name)
        return _own_specs[name]

    def parse_hookimpl_opts(self, plugin: Any, name: str) -> Any:
        """Read the options of a hook whose event is named by itself or by an alias. Called by pluggy."""
        checked, known = self._checked
        if checked is plugin:
            return dict(known[name]) if name in known else None
        if name.startswith("__"):
            return None
        opts = _mark_of(plugin, name)
        if opts is _UNSURE:
            opts = super().parse_hookimpl_opts(plugin, name)
        if not isinstance(opts, dict):
            return None
        if opts.get("hookwrapper"):
            raise RegistrationError(f"{name!r}: {OLD_WRAPPER}")
        event = find_event(opts.get("specname") or name)
        if event is None:
            return dict(opts)
        return {**opts, "wrapper": False, "specname": str(event), "is_wrapper": bool(opts.get("wrapper"))}

    def _take_settings(self, plugin: Any, plugin_name: str) -> None:
        if hasattr(plugin, "agent_hooks_settings"):
            from .declared import take_settings

            take_settings(plugin, plugin_name, self)

    def check_pending(self) -> None:
        """Raise ``UnknownHookError``, naming the nearest event, if a hook names one that no hookspec declares."""
        try:
            super().check_pending()
        except pluggy.PluginValidationError as error:
            plugin_name = self.get_name(error.plugin)
            marks = ((name, self.parse_hookimpl_opts(error.plugin, name)) for name in dir(error.plugin))
            events = (mark["specname"] or name for name, mark in marks if mark and not mark["optionalhook"])
            wrong = next(name for name in events if name not in OWN_HOOKS and find_event(name) is None)
            names = [str(alias) for event in HookEvent.all() for alias in (event, *event.aliases)]
            hint = did_you_mean(wrong, (*names, *OWN_HOOKS), "`agent-hooks events` lists them all.", cutoff=0.4)
            raise UnknownHookError(
                f"The plugin {plugin_name!r} has a hook {wrong!r}, but there is no such event. {hint}"
            ) from None

    def declare_tools(self, names: Iterable[str], source: str = "code") -> None:
        """Say that there are tools of these names, so that a match may name them; of ``source``'s rank and below."""
        rank = RANKS[check_source(source)]
        new = {name: rank for name in names if self.known_tools.get(name, -1) < rank}
        if new:
            self.known_tools |= new
            self._changed()

    def all_hooks(self) -> list[Hook]:
        """Return the registered hooks, plugin by plugin."""
        return [*(hook for entry in tuple(self._entries.values()) for hook in entry.hooks), *self._inserted]

    def hooks_on(self, event: HookEvent) -> list[Hook]:
        """Return the registered hooks on ``event``, plugin by plugin."""
        return [hook for hook in self.all_hooks() if hook.event is event]

    def arguments_of(self, event: str) -> tuple[str, ...]:
        """Return the arguments that hooks on ``event`` may take. Raises ``UnknownHookError`` if nothing declared it."""
        if not self.declares(event):
            raise UnknownHookError(f"No hookspec declares {event!s} here: register the plugin that adds it first.")
        return self._arguments[event]

    def declares(self, event: str) -> bool:
        """Whether this manager has a hookspec for ``event``, which may be another plugin's."""
        return event in self._arguments

    def _free_name(self, wanted: str) -> str:
        name, number = wanted, 1
        while self.has_plugin(name):
            number += 1
            name = f"{wanted}#{number}"
        return name

    def _changed(self) -> None:
        super()._changed()
        self._is_checked = False
        self._watchers = None

    def _hooks_of(self, plugin: Any, plugin_name: str, entry: Registered, options: dict[str, Any]) -> list[Hook]:
        events = dict.fromkeys(find_event(said.get("specname") or name) for name, said in options.items())
        return [
            self._hook(event, impl, plugin_name, entry)
            for event in events
            if event is not None and self.declares(event)
            for impl in getattr(self.hook, event).get_hookimpls()
            if impl.plugin is plugin
        ]

    def _hook(self, event: HookEvent, impl: Any, plugin_name: str, entry: Registered) -> Hook:
        function, bare = impl.function, unwrap(impl.function)
        said = impl.opts
        options = said.get("options") or HookOptions(
            wrapper=said["is_wrapper"], tryfirst=bool(said["tryfirst"]), trylast=bool(said["trylast"])
        )
        impl.wrapper = options.wrapper  # not earlier: pluggy refuses an async generator
        name = options.name or f"{plugin_name}.{getattr(bare, '__name__', event)}"
        if options.wrapper != (isgeneratorfunction(bare) or isasyncgenfunction(bare)):
            problem = (
                "is marked wrapper=True, so it must yield once"
                if options.wrapper
                else "yields, so it must be marked wrapper=True"
            )
            raise RegistrationError(f"The hook {name} {problem}.")
        if options.wrapper and options.timeout is not None and isgeneratorfunction(bare):
            raise RegistrationError(
                f"The hook {name}: only an async wrapper can have a timeout; a plain one runs inline."
            )
        try:
            match = match_within(entry.scope, options.match, event.matched_by, entry.source)
        except RegistrationError as error:
            raise RegistrationError(f"The hook {name}: {error}") from None
        known = self.arguments_of(event)
        policy = self.policy_of(entry.source)
        return Hook(
            event,
            function,
            (*impl.argnames, *(argument for argument in impl.kwargnames if argument in known)),
            options,
            name=name,
            plugin_name=plugin_name,
            source=entry.source,
            scope=entry.scope,
            order=(entry.index, getattr(getattr(bare, "__code__", None), "co_firstlineno", 0)),
            is_async=iscoroutinefunction(function) or isasyncgenfunction(function),
            match=match,
            entry_on_failure=strictest(entry.on_failure, said.get("entry_on_failure")),
            default_on_failure=entry.default_on_failure,
            shadow=policy.shadow if entry.shadow is None else entry.shadow,
            default_timeout=said.get("entry_timeout", policy.timeout),
            managed_policy=policy if entry.source == "managed" else None,
        )

    # -- compiling -----------------------------------------------------------------------------------------------------

    def compile(self, event: HookEvent, scopes: frozenset[tuple[str, str]] = frozenset()) -> Chain | None:
        """Return the chain of ``event`` in these scopes, or None. Raises ``UnknownHookError``."""
        if not self._is_checked:
            self.check_pending()
            close_unknown(self.all_hooks(), self.known_tools)
            self._is_checked = True
        return super().compile(event, scopes)

    @property
    def watchers(self) -> Watchers:
        """The framework's own observers of dispatches, compiled."""
        if self._watchers is None:
            found = {name: [*self._observers(name)] for name in WATCHERS}
            found["agent_hooks_dispatch_started"] += self._monitors
            self._watchers = Watchers(**found)
        return self._watchers

    def _observers(self, name: str) -> Iterator[Observer]:
        for impl in getattr(self.hook, name).get_hookimpls():
            tolerate = partial(self.tolerate, f"{impl.plugin_name}.{name}", name)
            yield observer(impl.function, (*impl.argnames, *impl.kwargnames), self._arguments[name], tolerate)

    def add_hookcall_monitoring(self, before: Callable[..., None], after: Callable[..., None]) -> Callable[[], None]:
        """Call ``before(name, impls, arguments)`` and ``after(result, name, impls, arguments)`` around each dispatch of
        an event that has hooks, as pluggy does around a call; return a function that ends the monitoring.

        ``result.get_result()`` is the ``HookOutcome``. An error of either function is logged and changes no decision.
        """
        from .monitoring import monitor

        undo = super().add_hookcall_monitoring(before, after)
        added = monitor(self, before, after, pluggy.Result)
        self._monitors += (added,)
        self._changed()

        def stop() -> None:
            undo()
            self._monitors = tuple(each for each in self._monitors if each is not added)
            self._changed()

        return stop

    def list_plugin_distinfo(self) -> list[tuple[Any, Any]]:
        """Return each plugin that an entry point brought, with its information, whose ``project_name`` and ``version``
        are those of the distribution.
        """
        found = [(self.get_plugin(name), info) for name, info in self._infos.items() if info.distribution]
        return [*super().list_plugin_distinfo(), *((plugin, info) for plugin, info in found if plugin is not None)]

    def keep_info(self, info: PluginInfo) -> None:
        """Store the information that ``plugins()`` returns."""
        self._infos[info.name] = info

    # -- looking -----------------------------------------------------------------------------------------------------

    def plugins(self) -> list[PluginInfo]:
        """Return every plugin, also those that are blocked, disabled or broken, by name."""
        return sorted(self._infos.values(), key=lambda info: info.name)

    def describe(self, event: HookEvent | str | None = None) -> list[HookInfo]:
        """Return the registered hooks in the order in which they run, event by event; of one event if it is given."""
        wanted = None if event is None else HookEvent.parse(event)
        found = [hook for hook in self.all_hooks() if wanted in (None, hook.event)]
        events = {event: number for number, event in enumerate(HookEvent.all())}
        ordered = sorted(found, key=lambda hook: (events[hook.event], not hook.options.wrapper, hook.order))
        return [hook_info(hook, self.policy) for hook in ordered]


# The class is defined where pluggy is not imported yet.
RegistrationError.__bases__ += (pluggy.PluginValidationError,)


# By name, the options of our own hookspecs; None for other names of their module.
_own_specs: dict[str, Any] = {}


_MARK = f"{PROJECT}_impl"
_UNSURE = object()


def _mark_of(plugin: Any, name: str) -> Any:
    """Return the mark of a plain function, as pluggy would after a much longer look; ``_UNSURE`` for anything else that
    may be a hook.
    """
    is_module = type(plugin) is ModuleType
    for owner in (plugin,) if is_module else (plugin, *type(plugin).__mro__):
        value = getattr(owner, "__dict__", {}).get(name, owner)
        if type(value) is FunctionType:
            return vars(value).get(_MARK)
        if value is not owner:
            return _UNSURE if not is_module or isinstance(value, (staticmethod, classmethod, MethodType)) else None
    return None if is_module else _UNSURE


def _refuse_direct_call(name: str, _impls: Any, _arguments: Any) -> None:
    if find_event(name) is not None:
        raise DirectCallError(
            f"manager.hook.{name}(...) would stop at the first answer of any kind and isolate no failure: "
            "use `await manager.hooks().dispatch(ctx)` or `manager.hooks().dispatch_sync(ctx)`."
        )
