"""An engine to try the rules on: hooks of one colour, dispatched in that colour."""

from __future__ import annotations

import asyncio
import functools
import inspect
import threading
from typing import TYPE_CHECKING, Any

from agent_hooks import HookContext, HookManager, HookOutcome, HookPolicy, HookRegistration, hookimpl
from agent_hooks.testing import make_context

if TYPE_CHECKING:
    from collections.abc import Callable

    from agent_hooks import Hooks


def called(value: object) -> str:
    """What a test is called after a value: the same in each process."""
    return value if isinstance(value, str) else type(value).__name__


def managed(*hooks: tuple[str, Any], **policy: Any) -> HookManager:
    """A manager without installed plugins that has these functions on these events."""
    manager = HookManager(load_plugins=False, policy=HookPolicy(**policy))
    for event, action in hooks:
        manager.add(HookRegistration(event, action))
    return manager


class Plugin:
    """A plugin that has these hooks, already marked."""

    def __init__(self, **hooks: Any) -> None:
        vars(self).update(hooks)


class Engine:
    """A manager without installed plugins; ``colour`` is ``plain`` (functions, no event loop) or ``async``."""

    def __init__(self, colour: str, policy: HookPolicy | None = None) -> None:
        self.colour = colour
        self.manager = HookManager(load_plugins=False, policy=policy)
        self.ask: Any = None
        self.never = threading.Event()

    def with_policy(self, **settings: Any) -> Engine:
        """A fresh engine of the same colour with these settings."""
        return Engine(self.colour, HookPolicy(**settings))

    # -- registering ---------------------------------------------------------------------------------------------------

    def hook(
        self,
        event: str = "before_tool_use",
        *,
        plugin: str | None = None,
        source: str = "code",
        scope: tuple[str, str] | None = None,
        entry_on_failure: str | None = None,
        **options: Any,
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Register the decorated function as a hook on ``event``, of a plugin of its own, under its own name."""

        def register(function: Callable[..., Any]) -> Callable[..., Any]:
            name = function.__name__
            marked = hookimpl(**{"name": name, **options})(self.coloured(function))
            self.manager.register(
                Plugin(**{event: marked}),
                plugin or name,
                source=source,
                scope=scope,
                on_failure=entry_on_failure,
            )
            return function

        return register

    def says(self, name: str, answer: Any = None, event: str = "before_tool_use", **options: Any) -> list[HookContext]:
        """Register a hook that always gives ``answer`` (an exception is raised); return the contexts it gets."""
        calls: list[HookContext] = []

        def says(ctx: HookContext) -> Any:
            calls.append(ctx)
            if isinstance(answer, BaseException):
                raise answer
            return answer

        says.__name__ = name
        self.hook(event, **options)(says)
        return calls

    def waits(self, name: str, event: str = "before_tool_use", **options: Any) -> None:
        """Register a hook that waits for something that never comes."""

        def plain(ctx: HookContext) -> None:
            self.never.wait()

        async def asynchronous(ctx: HookContext) -> None:
            await asyncio.Event().wait()

        function = plain if self.colour == "plain" else asynchronous
        function.__name__ = name
        self.hook(event, **options)(function)

    def asks(self, answer: bool) -> list[str]:
        """Let the application answer every question so, and return the reasons it will be given."""
        reasons: list[str] = []

        def ask(ctx: HookContext, reason: str) -> bool:
            reasons.append(reason)
            return answer

        self.ask = ask
        return reasons

    def coloured(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function as it is, or as a coroutine function that takes the same arguments."""
        as_it_is = (inspect.iscoroutinefunction, inspect.isgeneratorfunction, inspect.isasyncgenfunction)
        if self.colour == "plain" or any(test(function) for test in as_it_is):
            return function

        @functools.wraps(function)
        async def hook(*arguments: Any) -> Any:
            return function(*arguments)

        return hook

    # -- dispatching ---------------------------------------------------------------------------------------------------

    @property
    def hooks(self) -> Hooks:
        return self.manager.hooks(self.ask)

    def dispatch(self, ctx: HookContext, view: Hooks | None = None) -> HookOutcome:
        """Ask the hooks of ``view`` (default: those that are always live)."""
        view = view or self.hooks
        return view.dispatch_sync(ctx) if self.colour == "plain" else asyncio.run(view.dispatch(ctx))

    def resume(self, token: str, decision: Any, ctx: HookContext | None = None) -> HookOutcome:
        """Answer a suspended operation."""
        if self.colour == "plain":
            return self.hooks.resume_sync(token, decision, ctx)
        return asyncio.run(self.hooks.resume(token, decision, ctx))


def shell(command: str = "ls", **fields: Any) -> HookContext:
    """A shell call that is about to happen."""
    return make_context("before_tool_use", tool="Bash", args={"command": command}, kind="shell", **fields)


def result(value: Any = "done", **fields: Any) -> HookContext:
    """A shell call that was made and gave ``value``."""
    return make_context("after_tool_use", tool="Bash", args={"command": "ls"}, kind="shell", result=value, **fields)


def rewrite(command: str) -> HookOutcome:
    """What a hook answers to make the call run ``command`` instead."""
    return HookOutcome.update(tool_args={"command": command})


def messages_of(outcome: HookOutcome) -> list[str]:
    """What the findings of an outcome say."""
    return [finding.message for finding in outcome.findings]
