"""What an event costs inside a process, against pluggy's own call and against plain awaits.

pluggy's side is a bare ``PluginManager`` with a spec like ours (``firstresult``) that is called with one argument, the
context: its cheapest call. Our side is the public one, ``hooks.dispatch_sync(ctx)`` or ``await hooks.dispatch(ctx)``.
"""

# ruff: noqa: ARG001 - the hooks take the context whether they look at it or not
from __future__ import annotations

from asyncio import sleep
from time import perf_counter
from timeit import Timer
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pluggy
from measure import Row

from agent_hooks import AgentState, HookContext, HookEvent, HookManager, HookOutcome, HookPolicy, ToolCall, hookimpl

if TYPE_CHECKING:
    from asyncio import Runner
    from collections.abc import Awaitable, Callable

    from measure import Batch

HOOKS = 5
NO_LISTENER = "pluggy's call, no hooks"
PLUGGY = f"pluggy's call, {HOOKS} hooks"
AWAITS = f"{HOOKS} plain awaits"
WAITING_AWAITS = f"{HOOKS} plain awaits that wait"
# What five hooks change, and how many times pluggy's call of silent ones that may take.
CHANGES = {"context": 2.0, "metadata": 2.5, "state": 3.0, "tool_args": 6.0}
RULES = f"pluggy's call of the same {HOOKS} functions"
MANY, MEET, THOUSAND = 50, 10, 1000
MANY_UNFILTERED = f"pluggy's call, {MANY} hooks"
ONE_OF_FIVE = "one of 5 silent hooks"
HALF = "0.5 us"
SILENT = "5 silent hooks"
MARGIN = "    "

ROWS = [
    Row("event with no listener", NO_LISTENER, ("no listener",), NO_LISTENER, 0.2),
    Row("asking whether anybody listens", NO_LISTENER, ("listens",), NO_LISTENER, 0.25),
    Row("5 sync hooks returning None, context given", PLUGGY, ("None",), PLUGGY, 0.25),
    Row(f"{MARGIN}and an observer of each dispatch", SILENT, ("watched",), SILENT, 3.0),
    Row("context built + 5 sync hooks", PLUGGY, ("built",), PLUGGY, 1.0),
    Row(f"{MARGIN}and its tool call built as well", PLUGGY, ("call built",), PLUGGY, None),
    Row("5 sync hooks for shells that read the command", RULES, ("rules",), RULES, 1.0),
    Row(f"{MANY} hooks with a match, {MEET} meet", MANY_UNFILTERED, ("many",), MANY_UNFILTERED, 1.0),
    Row(f"each of {THOUSAND} hooks with a match", ONE_OF_FIVE, ("each of many",), ONE_OF_FIVE, 5.0),
    Row("a tool call, one hook with a match", HALF, ("one",), HALF, 1.0),
    *(
        Row(f"5 sync hooks that change {change}", PLUGGY, (change,), PLUGGY, budget)
        for change, budget in CHANGES.items()
    ),
    Row("5 async hooks without timeouts", AWAITS, ("async",), AWAITS, 1.5),
    Row("5 async hooks with timeouts", AWAITS, ("async, timed",), AWAITS, 2.0),
    Row(f"{MARGIN}without, and each waits once", WAITING_AWAITS, ("async, waits",), WAITING_AWAITS, None),
    Row(f"{MARGIN}with, and each waits once", WAITING_AWAITS, ("async, timed, waits",), WAITING_AWAITS, None),
]


def tool_call() -> ToolCall:
    """Return a call as it comes out of a model's answer."""
    return ToolCall("Bash", {"command": "ls -l", "timeout": 5}, id="call-1", kind="shell")


def tool_context(call: ToolCall) -> HookContext:
    """Return a context as it is built for each event about a call."""
    return HookContext(
        HookEvent.BEFORE_TOOL_USE, tool_call=call, session_id="session-1", agent_name="main", cwd="/repo"
    )


def plugin(event: str, function: Callable[..., Any]) -> ModuleType:
    """Return a plugin with ``function`` as its hook on ``event``."""
    module = ModuleType(f"plugin_{id(function)}")
    setattr(module, event, function)
    return module


def manager_of(event: str, functions: list[Callable[..., Any]], timeout: float | None = 60.0) -> HookManager:
    """Return a manager with ``functions`` as hooks on ``event``, each a plugin of its own."""
    manager = HookManager(load_plugins=False, policy=HookPolicy(timeout=timeout))
    for function in functions:
        manager.register(plugin(event, hookimpl(function)))
    return manager


def pluggy_hook(functions: list[Callable[..., Any]]) -> Any:
    """Return pluggy's caller of a spec with these implementations, which take the context or the tool call."""
    takes_call = bool(functions) and "tool_call" in functions[0].__code__.co_varnames

    class WithContext:
        @pluggy.HookspecMarker("bare")(firstresult=True)
        def before_tool_use(self, ctx: Any) -> Any:
            """A tool is about to be called."""

    class WithCall:
        @pluggy.HookspecMarker("bare")(firstresult=True)
        def before_tool_use(self, tool_call: Any) -> Any:
            """A tool is about to be called."""

    bare = pluggy.PluginManager("bare")
    bare.add_hookspecs(WithCall if takes_call else WithContext)
    for function in functions:
        bare.register(plugin("before_tool_use", pluggy.HookimplMarker("bare")(function)))
    return bare.hook.before_tool_use


def silent(_number: int) -> Callable[[HookContext], None]:
    """Return a hook without an opinion."""

    def hook(ctx: HookContext) -> None:
        return None

    return hook


def rule(number: int) -> Callable[[ToolCall], HookOutcome | None]:
    """Return a rule as a README would write it: one that denies a command with a certain word in it."""
    word = f"word-{number}"

    def hook(tool_call: ToolCall) -> HookOutcome | None:
        return HookOutcome.deny("Not here.") if word in tool_call.command else None

    return hook


def with_match(count: int, meeting: int) -> HookManager:
    """Return a manager with so many silent hooks with a match, some of which meet a shell call."""
    manager = HookManager(load_plugins=False)
    for number in range(count):
        match = "shell" if number % (count // meeting) == 0 else ("write|edit", "mcp__*", "fetch")[number % 3]
        manager.register(plugin("before_tool_use", hookimpl(match=match)(silent(number))))
    return manager


def changing(what: str) -> Callable[[int], Callable[[HookContext], HookOutcome | None]]:
    """Return a maker of hooks that each make one change of this sort, building the outcome as a hook would."""

    def make(number: int) -> Callable[[HookContext], HookOutcome | None]:
        key = f"key{number}"

        def context(ctx: HookContext) -> HookOutcome:
            return HookOutcome.update(context=key)

        def metadata(ctx: HookContext) -> HookOutcome:
            return HookOutcome.update(metadata={key: number})

        def state(ctx: HookContext) -> HookOutcome:
            return HookOutcome.update(state=ctx.state.with_metadata(key, number))

        def tool_args(ctx: HookContext) -> HookOutcome | None:
            # Asked a second time, since later hooks changed the arguments again: a rewrite must leave its own alone.
            args = ctx.tool_args
            return None if key in args else HookOutcome.update(tool_args={**args, key: number})

        return {"context": context, "metadata": metadata, "state": state, "tool_args": tool_args}[what]

    return make


class Observer:
    """An observer of dispatches that does nothing."""

    @hookimpl
    def agent_hooks_dispatched(self, event: HookEvent, ctx: HookContext, outcome: HookOutcome, duration: float) -> None:
        """Do nothing."""


def silent_async(_number: int) -> Callable[[HookContext], Awaitable[None]]:
    """Return an async hook without an opinion, which answers at once."""

    async def hook(ctx: HookContext) -> None:
        return None

    return hook


def waiting_async(_number: int) -> Callable[[HookContext], Awaitable[None]]:
    """Return an async hook without an opinion, which gives way to the event loop once."""

    async def hook(ctx: HookContext) -> None:
        await sleep(0)

    return hook


def five(make: Callable[[int], Any]) -> list[Any]:
    """Return as many hooks, each a function of its own."""
    return [make(number) for number in range(HOOKS)]


def statement(text: str, **names: Any) -> Batch:
    """Return the side that runs this statement, with the garbage collector on."""
    return Timer(text, "import gc; gc.enable()", perf_counter, names).timeit


def awaiting_dispatch(runner: Runner, make: Callable[[int], Any], ctx: HookContext, timeout: float | None) -> Batch:
    """Return the side that awaits the dispatch of ``ctx`` to five async hooks."""
    dispatch = manager_of("before_tool_use", five(make), timeout).hooks().dispatch

    async def batch(times: int) -> float:
        start = perf_counter()
        for _ in range(times):
            await dispatch(ctx)
        return perf_counter() - start

    return lambda times: runner.run(batch(times))


def awaiting_each(runner: Runner, make: Callable[[int], Any], ctx: HookContext) -> Batch:
    """Return the side that awaits five async functions, one after the other."""
    functions = tuple(five(make))

    async def batch(times: int) -> float:
        start = perf_counter()
        for _ in range(times):
            for function in functions:
                await function(ctx)
        return perf_counter() - start

    return lambda times: runner.run(batch(times))


def sides(runner: Runner) -> dict[str, Batch]:
    """Return every side of ``ROWS`` by name."""
    event, call = "before_tool_use", tool_call()
    ctx = tool_context(call)
    empty = manager_of(event, []).hooks()
    none = manager_of(event, five(silent)).hooks()
    watched = manager_of(event, five(silent))
    watched.register(Observer())
    shells = HookManager(load_plugins=False)
    for number in range(HOOKS):
        shells.register(plugin(event, hookimpl(match="shell")(rule(number))))
    rules = shells.hooks()
    found: dict[str, Batch] = {
        NO_LISTENER: statement("call(ctx=ctx)", call=pluggy_hook([]), ctx=ctx),
        "no listener": statement("dispatch(ctx)", dispatch=empty.dispatch_sync, ctx=ctx),
        "listens": statement("listens(event)", listens=empty.listens, event=HookEvent.BEFORE_TOOL_USE),
        PLUGGY: statement("call(ctx=ctx)", call=pluggy_hook(five(silent)), ctx=ctx),
        "None": statement("dispatch(ctx)", dispatch=none.dispatch_sync, ctx=ctx),
        SILENT: statement("dispatch(ctx)", dispatch=none.dispatch_sync, ctx=ctx),
        "watched": statement("dispatch(ctx)", dispatch=watched.hooks().dispatch_sync, ctx=ctx),
        "built": statement("dispatch(build(call))", dispatch=none.dispatch_sync, build=tool_context, call=call),
        "call built": statement(
            "dispatch(build(call()))", dispatch=none.dispatch_sync, build=tool_context, call=tool_call
        ),
        RULES: statement("call(tool_call=made)", call=pluggy_hook(five(rule)), made=call),
        "rules": statement("dispatch(ctx)", dispatch=rules.dispatch_sync, ctx=ctx),
        MANY_UNFILTERED: statement("call(ctx=ctx)", call=pluggy_hook([silent(n) for n in range(MANY)]), ctx=ctx),
        "many": statement("dispatch(ctx)", dispatch=with_match(MANY, MEET).hooks().dispatch_sync, ctx=ctx),
        "one": statement("dispatch(ctx)", dispatch=with_match(1, 1).hooks().dispatch_sync, ctx=ctx),
        "1000 with a match": statement(
            "dispatch(ctx)", dispatch=with_match(THOUSAND, THOUSAND).hooks().dispatch_sync, ctx=ctx
        ),
        AWAITS: awaiting_each(runner, silent_async, ctx),
        "async": awaiting_dispatch(runner, silent_async, ctx, None),
        "async, timed": awaiting_dispatch(runner, silent_async, ctx, 60.0),
        WAITING_AWAITS: awaiting_each(runner, waiting_async, ctx),
        "async, waits": awaiting_dispatch(runner, waiting_async, ctx, None),
        "async, timed, waits": awaiting_dispatch(runner, waiting_async, ctx, 60.0),
    }
    for change in CHANGES:
        about = HookContext.before_step(AgentState()) if change == "state" else ctx
        hooks = manager_of(about.event, five(changing(change))).hooks()
        brought = hooks.dispatch_sync(about)
        if not getattr(brought, change) or brought.findings or brought.blocks:
            raise AssertionError(f"The hooks that change {change} did not: {brought!r}.")
        found[change] = statement("dispatch(ctx)", dispatch=hooks.dispatch_sync, ctx=about)
    return found


def per_hook(seconds: dict[str, float]) -> dict[str, float]:
    """Return the seconds for one hook of many, from those of the dispatches, and what one alone is measured against."""
    return {HALF: 5e-7, "each of many": seconds["1000 with a match"] / THOUSAND, ONE_OF_FIVE: seconds["None"] / HOOKS}
