"""The registry: which plugins there are, and which of their hooks run on an event. Built on pluggy, which only this
module imports.
"""

from __future__ import annotations

from inspect import Parameter, isasyncgenfunction, iscoroutinefunction, isgeneratorfunction, signature, unwrap
from itertools import count
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pluggy

from . import hookspecs
from .background import Background
from .errors import (
    AgentHooksError,
    DirectCallError,
    PluginLoadError,
    PriorityConflictError,
    RegistrationError,
    UnknownHookError,
)
from .events import HookEvent, find_event
from .hooks import Hooks
from .markers import PROJECT, HookOptions, hookimpl
from .matchers import DirectoryMatcher, compile_match
from .plan import Chain, Hook, check_source
from .policy import HookPolicy
from .registration import HookRegistration
from .values import Value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from .context import HookContext
    from .hooks import Ask

OWN_HOOKS = frozenset(name for name in vars(hookspecs) if name.startswith("agent_hooks_"))
WATCHERS = ("agent_hooks_dispatch_started", "agent_hooks_executed", "agent_hooks_dispatched")
SCOPES = ("directory", "skill", "session")
DISABLE_VARIABLE = "AGENT_HOOKS_DISABLE"


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
    none.
    """

    event: str
    name: str
    plugin: str
    priority: int = 0
    mode: str = "transform"
    match: str = "*"
    source: str = "code"
    scope: tuple[str, str] | None = None
    timeout: float | None = None
    on_failure: str = "open"
    required: bool = False
    shadow: bool = False
    wrapper: bool = False
    is_async: bool = False


class _Entry:
    """What was said when a plugin was registered, and the hooks it brought."""

    def __init__(self, source: str, scope: Any, on_failure: str | None, shadow: bool, index: int) -> None:
        self.source = check_source(source)
        self.scope = scope
        self.on_failure = HookOptions(on_failure=on_failure).on_failure
        self.shadow = shadow
        self.index = index
        self.hooks: list[Hook] = []
        if scope is not None and (len(scope) != 2 or scope[0] not in SCOPES):
            raise RegistrationError(
                f"{scope!r} is not a scope: None for always, or one of {', '.join(SCOPES)} with a path, name or id."
            )


class _Plugin:
    """A plugin made here: its hooks are set as attributes."""

    def __init__(self, name: str) -> None:
        self.__name__ = name


class HookManager(pluggy.PluginManager):
    """A ``pluggy.PluginManager`` that knows the events, the order of their hooks and the installed plugins.

    ``load_plugins``: load the entry points of the group ``agent_hooks``. ``disabled``: names to leave out, besides
    those in the environment variable ``AGENT_HOOKS_DISABLE``. ``policy``: the engine's settings. A plugin that fails to
    load is named by ``plugins()`` and denies on the events of gates until it is blocked by name.
    """

    def __init__(
        self, *, load_plugins: bool = True, disabled: Iterable[str] = (), policy: HookPolicy | None = None
    ) -> None:
        super().__init__(PROJECT)
        self.policy = policy or HookPolicy()
        self.generation = 0
        self.background = Background(self.policy.max_background, self.count_tolerated)
        self.suspended: dict[str, tuple[HookContext, tuple[str, str], Any]] = {}
        self.tolerated: dict[str, int] = {}
        self.notes: tuple[str, ...] = ()
        self._entries: dict[str, _Entry] = {}
        self._infos: dict[str, PluginInfo] = {}
        self._sequence = count()
        self._specs: list[Any] = []
        self._arguments: dict[str, tuple[str, ...]] = {}
        self._is_checked = False
        self.add_hookspecs(hookspecs)
        self.add_hookcall_monitoring(_refuse_direct_call, lambda *_: None)
        if self.policy.shadow:
            self.notes += ("agent_hooks: the whole policy is in shadow, nothing is enforced.",)
        if load_plugins:
            self._load_plugins(frozenset(disabled))

    # -- registration ------------------------------------------------------------------------------------------------

    def register(
        self,
        plugin: Any,
        name: str | None = None,
        *,
        source: str = "code",
        scope: tuple[str, str] | None = None,
        on_failure: str | None = None,
        shadow: bool = False,
    ) -> str | None:
        """Register a module or object with hooks and return its name, None if that name is blocked.

        ``source``: where it comes from, one of ``policy.SOURCES``. ``scope``: when its hooks are live: None for always,
        or ``("directory", path)``, ``("skill", name)``, ``("session", id)``. ``on_failure``: what a failure of its
        hooks does, before what they say themselves. ``shadow``: its hooks only report what they would have decided.
        Raises ``RegistrationError`` and changes nothing if something is not right.
        """
        _check_plugin(plugin)
        entry = _Entry(source, scope, on_failure, shadow, next(self._sequence))
        plugin_name = name or self._free_name(getattr(plugin, "__name__", None) or type(plugin).__name__)
        if self.is_blocked(plugin_name):
            return None
        _call_own(plugin, "agent_hooks_add_hookspecs", self)
        self._check_arguments(plugin, plugin_name)
        try:
            super().register(plugin, plugin_name)
        except (pluggy.PluginValidationError, ValueError) as error:
            raise RegistrationError(f"The plugin {plugin_name!r} cannot be registered: {error}") from error
        try:
            entry.hooks = self._hooks_of(plugin, plugin_name, entry)
        except AgentHooksError:
            super().unregister(plugin)
            raise
        self._entries[plugin_name] = entry
        self._infos.setdefault(plugin_name, PluginInfo(name=plugin_name, source=source))
        self._changed()
        _call_own(plugin, "agent_hooks_register", self)
        return plugin_name

    def add(self, registration: HookRegistration) -> str:
        """Register one action on its events and return the name of the plugin it became. Raises ``RegistrationError``."""
        action = registration.function()
        called = (
            registration.name or getattr(registration.action, "__name__", None) or type(registration.action).__name__
        )
        plugin = _Plugin(self._free_name(called))
        mark = hookimpl(**registration.options().replace(name=called)._fields)
        for event in registration.event:
            setattr(plugin, event, mark(self._as_hook(action, event, called)))
        said = registration.entry_on_failure()
        self.register(plugin, source=registration.source, scope=registration.scope, on_failure=said)
        return plugin.__name__

    def unregister(self, plugin: Any = None, name: str | None = None) -> Any:
        """Unregister a plugin, by itself or by name, and return it. Raises ``RegistrationError`` if it is not
        registered.
        """
        name = name or self.get_name(plugin)
        if name is None or not (self.has_plugin(name) or self.is_blocked(name)):
            raise RegistrationError(f"{plugin if name is None else name!r} is not registered.")
        found = super().unregister(name=name)
        self._entries.pop(name, None)
        self._infos.pop(name, None)
        self._changed()
        return found

    def set_blocked(self, name: str) -> None:
        """Keep a plugin of this name out, unregistering it if it is there. Raises ``RegistrationError`` if a hook of it
        is required.
        """
        entry = self._entries.get(name)
        required = [hook.name for hook in entry.hooks if hook.options.required] if entry else []
        if required:
            raise RegistrationError(
                f"The plugin {name!r} cannot be blocked, because {', '.join(required)} is required."
            )
        info = self._infos.get(name, PluginInfo(name=name))
        if not self.has_plugin(name):
            super().register(_Plugin(name), name)  # pluggy unregisters what it blocks
        super().set_blocked(name)
        self._infos[name] = info.replace(status="blocked", error="")
        self._changed()

    def add_hookspecs(self, module_or_class: Any) -> None:
        """Add the hookspecs of a module or class. Each needs an event of its name, see ``events.define_event``."""
        if any(known is module_or_class for known in self._specs):
            return
        names = [name for name in dir(module_or_class) if self.parse_hookspec_opts(module_or_class, name) is not None]
        for name in names:
            if name not in OWN_HOOKS and find_event(name) is None:
                raise RegistrationError(f"The hookspec {name!r} has no event: call define_event({name!r}, ...) first.")
        super().add_hookspecs(module_or_class)
        self._specs.append(module_or_class)
        for name in names:
            parameters = signature(getattr(module_or_class, name)).parameters
            self._arguments[name] = tuple(argument for argument in parameters if argument != "self")
        self._changed()

    def parse_hookimpl_opts(self, plugin: Any, name: str) -> Any:
        """Read the options of a hook whose event is named by itself or by an alias. Called by pluggy."""
        opts = super().parse_hookimpl_opts(plugin, name)
        if opts is None:
            return None
        if opts.get("hookwrapper"):
            raise RegistrationError(
                f"{name!r}: old-style hookwrappers are not supported; use wrapper=True and return the answer."
            )
        event = find_event(opts.get("specname") or name)
        if event is None:
            return dict(opts)
        return {**opts, "wrapper": False, "specname": str(event), "is_wrapper": bool(opts.get("wrapper"))}

    def check_pending(self) -> None:
        """Raise ``UnknownHookError``, naming the nearest event, if a hook names one that no hookspec declares."""
        try:
            super().check_pending()
        except pluggy.PluginValidationError as error:
            plugin_name = self.get_name(error.plugin)
            marked = [name for name in dir(error.plugin) if self.parse_hookimpl_opts(error.plugin, name) is not None]
            wrong = next(name for name in marked if name not in OWN_HOOKS and find_event(name) is None)
            from difflib import get_close_matches

            names = [str(alias) for event in HookEvent.all() for alias in (event, *event.aliases)]
            near = get_close_matches(wrong, [*names, *OWN_HOOKS], n=1, cutoff=0.4)
            hint = f"Did you mean {near[0]!r}?" if near else "`agent-hooks events` lists them all."
            raise UnknownHookError(
                f"The plugin {plugin_name!r} has a hook {wrong!r}, but there is no such event. {hint}"
            ) from error

    def _free_name(self, wanted: str) -> str:
        name, number = wanted, 1
        while self.has_plugin(name):
            number += 1
            name = f"{wanted}#{number}"
        return name

    def _changed(self) -> None:
        self.generation += 1
        self._is_checked = False

    def _check_arguments(self, plugin: Any, plugin_name: str) -> None:
        """Raise ``RegistrationError`` for what pluggy would pass over in silence, or explain less well."""
        for name in dir(plugin):
            event = find_event(name)
            found = (
                getattr(type(plugin), name, None)
                if isinstance(getattr(type(plugin), name, None), property)
                else getattr(plugin, name, None)
            )
            marked = self.parse_hookimpl_opts(plugin, name)
            if marked is None:
                if (
                    event == name
                    and name.startswith(("before_", "after_", "on_"))
                    and callable(found)
                    and not hasattr(found, "agent_hooks_spec")
                ):
                    raise RegistrationError(
                        f"{plugin_name}.{name} has the name of an event but would never be called: mark a plain function with @hookimpl."
                    )
                continue
            event = find_event(marked.get("specname") or name)
            if event is None or not callable(found):
                continue
            known = self._arguments[event]
            for parameter in signature(found).parameters.values():
                if parameter.kind is Parameter.KEYWORD_ONLY:
                    raise RegistrationError(
                        f"{plugin_name}.{name}: remove the * before {parameter.name!r}; a hook's arguments are passed by position."
                    )
                if (
                    parameter.kind is Parameter.POSITIONAL_OR_KEYWORD
                    and parameter.default is Parameter.empty
                    and parameter.name not in known
                ):
                    raise RegistrationError(
                        f"{plugin_name}.{name} takes {parameter.name!r}, which {event!s} does not offer. Its arguments are {', '.join(known)}."
                    )

    def _hooks_of(self, plugin: Any, plugin_name: str, entry: _Entry) -> list[Hook]:
        return [
            self._hook(event, impl, plugin_name, entry)
            for caller in self.get_hookcallers(plugin) or ()
            if (event := find_event(caller.name)) is not None
            for impl in caller.get_hookimpls()
            if impl.plugin is plugin
        ]

    def _hook(self, event: HookEvent, impl: Any, plugin_name: str, entry: _Entry) -> Hook:
        function, bare = impl.function, unwrap(impl.function)
        said = impl.opts
        options = said.get("options") or HookOptions(
            wrapper=said["is_wrapper"], tryfirst=bool(said["tryfirst"]), trylast=bool(said["trylast"])
        )
        name = options.name or f"{plugin_name}.{getattr(bare, '__name__', event)}"
        if options.wrapper != (isgeneratorfunction(bare) or isasyncgenfunction(bare)):
            problem = (
                "is marked wrapper=True, so it must yield once"
                if options.wrapper
                else "yields, so it must be marked wrapper=True"
            )
            raise RegistrationError(f"The hook {name} {problem}.")
        try:
            match = compile_match(options.match, event.matched_by, entry.source)
        except RegistrationError as error:
            raise RegistrationError(f"The hook {name}: {error}") from error
        if entry.scope is not None and entry.scope[0] == "directory":
            directory = DirectoryMatcher(entry.scope[1])
            match = directory if match is None else directory & match
        known = self._arguments[event]
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
            is_async=any(test(f) for f in (function, bare) for test in (iscoroutinefunction, isasyncgenfunction)),
            match=match,
            entry_on_failure=entry.on_failure,
            shadow=entry.shadow or self.policy.shadow,
            default_timeout=self.policy.timeout,
        )

    def _as_hook(self, action: Callable[..., Any], event: HookEvent, called: str) -> Callable[..., Any]:
        """Return a plain function of the context that calls ``action``, which may take hookspec arguments by name, or
        just the context.
        """
        try:
            wanted = [p.name for p in signature(action).parameters.values() if p.default is Parameter.empty]
        except ValueError:  # a builtin without a signature
            wanted = ["ctx"]
        known = self._arguments[event]
        if len(wanted) == 1 and wanted[0] not in known:
            wanted = ["ctx"]
        unknown = [name for name in wanted if name not in known]
        if unknown:
            raise RegistrationError(
                f"The action {called} takes {unknown[0]!r}, which {event!s} does not offer. Its arguments are {', '.join(known)}."
            )

        def arguments(ctx: HookContext) -> list[Any]:
            return [ctx if name == "ctx" else getattr(ctx, name) for name in wanted]

        if iscoroutinefunction(action) or iscoroutinefunction(getattr(action, "__call__", None)):  # noqa: B004 - its signature is meant

            async def async_hook(ctx: HookContext) -> Any:
                return await action(*arguments(ctx))

            return async_hook

        def hook(ctx: HookContext) -> Any:
            return action(*arguments(ctx))

        return hook

    # -- installed plugins -------------------------------------------------------------------------------------------

    def _load_plugins(self, disabled: frozenset[str]) -> None:
        """Load the installed plugins, each on its own: first import, then the events they add, then their hooks."""
        import os

        from importlib_metadata import entry_points

        by_variable = frozenset(
            filter(None, (name.strip() for name in os.environ.get(DISABLE_VARIABLE, "").split(",")))
        )
        if by_variable:
            self.notes += (
                f"agent_hooks: {DISABLE_VARIABLE} is set and switches off: {', '.join(sorted(by_variable))}.",
            )
        loaded: dict[str, Any] = {}
        for point in sorted(entry_points(group=PROJECT), key=lambda point: point.name):
            info = PluginInfo(
                name=point.name,
                distribution=point.dist.name if point.dist else "",
                version=point.dist.version if point.dist else "",
            )
            self._infos[point.name] = info
            try:
                plugin = point.load()
                if point.name in disabled | by_variable and not self._is_required(plugin):
                    self._infos[point.name] = info.replace(status="disabled")
                    continue
                _call_own(plugin, "agent_hooks_add_hookspecs", self)
                loaded[point.name] = plugin
            except (Exception, SystemExit) as error:
                if point.name in disabled | by_variable:
                    self._infos[point.name] = info.replace(status="disabled")
                else:
                    self._keep_broken(info, error)
        for name, plugin in loaded.items():
            try:
                self.register(plugin, name, source="plugin")
                self.check_pending()
            except (Exception, SystemExit) as error:
                if self.has_plugin(name):
                    self.unregister(name=name)
                self._keep_broken(info.replace(name=name) if name not in self._infos else self._infos[name], error)

    def _is_required(self, plugin: Any) -> bool:
        marked = (self.parse_hookimpl_opts(plugin, name) for name in dir(plugin))
        return any(opts["options"].required for opts in marked if opts and "options" in opts)

    def _keep_broken(self, info: PluginInfo, error: BaseException) -> None:
        """Put a failing gate in the place of a plugin that could not be loaded: what it would have stopped is not let
        through.
        """
        what = f"{type(error).__name__}: {error}"
        self._infos[info.name] = info.replace(status="broken", error=what)
        message = (
            f"the plugin {info.name!r} of {info.distribution or 'an unknown distribution'} could not be loaded ({what}). "
            f"Repair or uninstall it, or set {DISABLE_VARIABLE}={info.name}."
        )

        def refuse(ctx: HookContext) -> None:
            raise PluginLoadError(message)

        plugin = _Plugin(info.name)
        mark = hookimpl(mode="gate", tryfirst=True, name=info.name)
        for event in HookEvent.all():
            if event.closed in ("deny", "stop"):
                setattr(plugin, event, mark(lambda ctx: refuse(ctx)))
        self.register(plugin, info.name, source="plugin")

    # -- what runs ---------------------------------------------------------------------------------------------------

    def hooks(self, ask: Ask = None) -> Hooks:
        """Return the view on the hooks that are always live.

        ``ask``: who answers an ask that no permission hook answered: a callable ``(ctx, reason) -> bool`` (may be
        async), ``"host"`` to leave the ask in the outcome for a host that can put it, or None for the policy's
        ``ask_fallback``.
        """
        return Hooks(self, ask)

    def compile(self, event: HookEvent, scopes: frozenset[tuple[str, str]] = frozenset()) -> Chain | None:
        """Return the chain of ``event`` in these scopes, None if nobody listens. Raises ``UnknownHookError`` as
        ``check_pending`` does.
        """
        if not self._is_checked:
            self.check_pending()
            self._is_checked = True
        hooks = [
            hook
            for entry in self._entries.values()
            for hook in entry.hooks
            if hook.event is event and (hook.scope is None or hook.scope[0] == "directory" or hook.scope in scopes)
        ]
        is_watched = any(getattr(self.hook, name).get_hookimpls() for name in WATCHERS)
        return Chain(event, hooks, self.policy, is_watched=is_watched) if hooks else None

    def tell(self, observer: str, arguments: Mapping[str, Any]) -> None:
        """Call one of the framework's own observers; what one of them raises disturbs nobody."""
        for impl in getattr(self.hook, observer).get_hookimpls():
            try:
                impl.function(*[arguments[name] for name in (*impl.argnames, *impl.kwargnames) if name in arguments])
            except Exception as error:
                self._log(f"{impl.plugin_name}.{observer}", observer, error)

    def count_tolerated(self, hook: Hook, error: BaseException) -> None:
        """Count a failure that stopped nothing, by hook, and log it without its text, which may hold values of the
        event.
        """
        self._log(hook.name, hook.event, error)

    def _log(self, name: str, event: str, error: BaseException) -> None:
        from logging import getLogger

        self.tolerated[name] = self.tolerated.get(name, 0) + 1
        getLogger(PROJECT).warning(
            "The hook %s failed on %s and was passed over: %s", name, str(event), type(error).__name__
        )

    # -- looking -----------------------------------------------------------------------------------------------------

    def plugins(self) -> list[PluginInfo]:
        """Return every plugin, also those that are blocked, disabled or broken, by name."""
        return sorted(self._infos.values(), key=lambda info: info.name)

    def describe(self, event: HookEvent | str | None = None) -> list[HookInfo]:
        """Return the registered hooks in the order in which they run, event by event; of one event if it is given."""
        wanted = None if event is None else HookEvent.parse(event)
        found = [hook for entry in self._entries.values() for hook in entry.hooks if wanted in (None, hook.event)]
        events = {event: number for number, event in enumerate(HookEvent.all())}
        ordered = sorted(found, key=lambda hook: (events[hook.event], not hook.options.wrapper, hook.order))
        return [self._info(hook) for hook in ordered]

    def _info(self, hook: Hook) -> HookInfo:
        options = hook.options
        match = options.match or "*"
        return HookInfo(
            event=str(hook.event),
            name=hook.name,
            plugin=hook.plugin_name,
            priority=options.priority,
            mode="observe" if hook.event.observe_only else options.mode,
            match=match if isinstance(match, str) else getattr(match, "__name__", repr(match)),
            source=hook.source,
            scope=hook.scope,
            timeout=hook.timeout,
            on_failure=hook.on_failure(self.policy),
            required=options.required,
            shadow=hook.shadow,
            wrapper=options.wrapper,
            is_async=hook.is_async,
        )

    def validate_no_priority_conflicts(self, events: Iterable[HookEvent | str] | None = None) -> None:
        """Raise ``PriorityConflictError`` if two deciding hooks of different plugins share an event, a priority and a
        match.

        Their order would then depend on which was registered first. Matches that are texts of exact names conflict only
        if they share a name.
        """
        for event in HookEvent.all() if events is None else map(HookEvent.parse, events):
            chain = self.compile(event)
            deciders = chain.deciders if chain is not None else ()
            for number, first in enumerate(deciders):
                for second in deciders[number + 1 :]:
                    alike = first.order[:2] == second.order[:2] and first.plugin_name != second.plugin_name
                    if alike and _may_overlap(first.options.match, second.options.match):
                        raise PriorityConflictError(
                            f"{first.name} and {second.name} both run on {event!s} with priority {first.options.priority}: "
                            "give one of them another priority."
                        )


def _check_plugin(plugin: Any) -> None:
    if isinstance(plugin, type) or plugin is None:
        raise RegistrationError(f"{plugin!r} cannot be a plugin: register a module, or an object of the class.")
    if not isinstance(plugin, ModuleType) and type(plugin).__eq__ is not object.__eq__:  # type: ignore[comparison-overlap]
        raise RegistrationError(
            f"{type(plugin).__name__} cannot be a plugin, because two equal ones could not be told apart: use a plain class, "
            "not a dataclass, a pydantic model or anything else that defines __eq__."
        )


def _call_own(plugin: Any, name: str, manager: HookManager) -> None:
    """Call one of the framework's own hooks of one plugin, if it has it."""
    if manager.parse_hookimpl_opts(plugin, name) is not None:
        function = getattr(plugin, name)
        function(*[manager for _ in signature(function).parameters])


def _may_overlap(first: Any, second: Any) -> bool:
    from .matchers import text_test

    if not isinstance(first, str) or not isinstance(second, str):
        return True
    tests = text_test(first), text_test(second)
    names = {name.strip() for text in (first, second) for name in text.replace("|", ",").split(",")}
    return None in tests or any(tests[0](name) and tests[1](name) for name in names if tests[0] and tests[1])


def _refuse_direct_call(name: str, _impls: Any, _arguments: Any) -> None:
    if find_event(name) is not None:
        raise DirectCallError(
            f"manager.hook.{name}(...) would stop at the first answer of any kind and isolate no failure: "
            "use `await manager.hooks().dispatch(ctx)` or `manager.hooks().dispatch_sync(ctx)`."
        )
