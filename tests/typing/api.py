"""The public API by example: mypy and pyright check this file, nothing runs it.

A type that gets lost here is lost for every user.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from typing import Any, assert_type

from agent_hooks import (
    AgentBuilder,
    AgentRuntime,
    AgentState,
    Decision,
    EventEmittingHook,
    HookContext,
    HookEvent,
    HookManager,
    HookOutcome,
    HookPolicy,
    HookRegistration,
    Hooks,
    HookStack,
    HookTriggers,
    Message,
    ModelRequest,
    ModelResponse,
    PassThrough,
    ScriptedDriver,
    StopReason,
    StopSignal,
    Suspended,
    Tool,
    ToolCall,
    ToolExecution,
    ToolUse,
    UseContextConfig,
    UseHook,
    UseSelfCritique,
    UseTaskPlanning,
    define_event,
    hookimpl,
    hookspec,
    tool,
)

# -- markers: whatever the options, the function keeps its type --------------------------------------------------------


@hookimpl
def before_step(ctx: HookContext) -> HookOutcome | None:
    return None


@hookimpl(match="shell", priority=200, mode="gate", timeout=2.5, on_failure="closed", required=True)
def before_tool_use(tool_call: ToolCall) -> HookOutcome | None:
    if "--force" in tool_call.command:
        return HookOutcome.deny("Agents do not force-push here.")
    return None


@hookimpl(match=lambda ctx: ctx.depth == 0, specname="after_tool_use", mode="observe", background=True, name="log")
async def log(ctx: HookContext, result: Any) -> None:
    assert_type(ctx.outcome, HookOutcome | None)


@hookimpl(wrapper=True, tryfirst=True)
def before_inference(ctx: HookContext) -> Generator[None, HookOutcome, HookOutcome | None]:
    outcome = yield
    return HookOutcome.stop("Enough.") if outcome.blocks else None


@hookimpl(wrapper=True)
async def before_subagent(ctx: HookContext) -> AsyncGenerator[HookOutcome | None, HookOutcome]:
    outcome = yield None
    if outcome.decision is Decision.ASK:
        yield HookOutcome.deny("Nobody is there to be asked.")


assert_type(before_step(HookContext("before_step")), HookOutcome | None)
kept: Callable[[ToolCall], HookOutcome | None] = before_tool_use


class Plugin:
    @hookimpl(priority=-10, trylast=True, shadow=True)
    def on_stop(self, state: AgentState, stop_signal: StopSignal) -> HookOutcome:
        return HookOutcome.force_continue("Run the tests first.")

    @hookspec(firstresult=True)
    def before_deploy(self, ctx: HookContext, payload: Mapping[str, Any]) -> Any:
        """Something is about to be deployed."""


assert_type(Plugin().on_stop(AgentState(), StopSignal.user_requested()), HookOutcome)
assert_type(define_event("before_deploy", subject="payload", decisions="deny ask", closed="deny"), HookEvent)

# -- outcomes ----------------------------------------------------------------------------------------------------------

assert_type(HookOutcome.proceed(), HookOutcome)
assert_type(HookOutcome.update(tool_args={"command": "ls"}, context="Listing only."), HookOutcome)
assert_type(HookOutcome.allow("Safe.", final=True), HookOutcome)
assert_type(HookOutcome.deny("No."), HookOutcome)
assert_type(HookOutcome.stop("Over budget."), HookOutcome)
assert_type(HookOutcome.ask("Really?"), HookOutcome)
assert_type(HookOutcome.suspend("Waiting for approval.", {"ticket": 7}), HookOutcome)
assert_type(HookOutcome.skip(), HookOutcome)
assert_type(HookOutcome.force_continue("Once more."), HookOutcome)
assert_type(HookOutcome.retry("The network was down."), HookOutcome)
assert_type(HookOutcome.signal(StopSignal(reason=StopReason.STEPS_LIMIT, message="10 steps")), HookOutcome)

outcome = HookOutcome.deny("No.").replace(reason="No, thanks.")
assert_type(outcome, HookOutcome)
assert_type(outcome.decision, Decision)
assert_type(outcome.decision.is_blocking, bool)
assert_type(outcome.reason, str)
assert_type(outcome.tool_args, Mapping[str, Any] | None)
assert_type(outcome.state, AgentState | None)
assert_type(outcome.messages, tuple[Message, ...])
assert_type(outcome.signals, tuple[StopSignal, ...])
assert_type(outcome.stop_signal, StopSignal | None)
assert_type(outcome.hook, str | None)
assert_type(outcome.failed, bool)
assert_type(outcome.token, str | None)
assert_type(outcome.as_dict(), dict[str, Any])
assert_type(HookOutcome.from_dict({"decision": "deny"}), HookOutcome)

# -- contexts and what they hold ---------------------------------------------------------------------------------------

call = ToolCall("Bash", {"command": "ls"}, id="1", kind="shell", aliases=("sh",))
assert_type(call.name, str)
assert_type(call.args, Mapping[str, Any])
assert_type(call.command, str)
assert_type(call.paths, tuple[str, ...])
assert_type(call.with_args({"command": "pwd"}), ToolCall)

ctx = HookContext(HookEvent.BEFORE_TOOL_USE, tool_call=call, cwd="/repo")
assert_type(ctx.event, HookEvent)
assert_type(ctx.tool_call, ToolCall | None)
assert_type(ctx.tool_name, str)
assert_type(ctx.tool_args, Mapping[str, Any])
assert_type(ctx.state, AgentState | None)
assert_type(ctx.tool_execution, ToolExecution | None)
assert_type(ctx.session_id, str)
assert_type(ctx.depth, int)
assert_type(ctx.metadata, Mapping[str, Any])
assert_type(ctx.rechecking, bool)
assert_type(ctx.with_tool_args({"command": "pwd"}), HookContext)
assert_type(ctx.with_outcome(outcome), HookContext)
assert_type(ctx.replace(cwd="/"), HookContext)
assert_type(HookContext.before_tool_use(None, call, session_id="s"), HookContext)

state = AgentState().with_metadata("key", 1).with_messages(Message(role="user", content="Hello."))
assert_type(state, AgentState)
assert_type(state.messages, tuple[Message, ...])
assert_type(ToolExecution.denied(call, "No.").failed, bool)
assert_type(HookEvent.parse("PreToolUse").decisions, frozenset[str])

# -- the engine --------------------------------------------------------------------------------------------------------

manager = HookManager(load_plugins=False, disabled=("noisy",), policy=HookPolicy(on_gate_failure="closed", timeout=5.0))
assert_type(manager.register(Plugin(), name="mine", source="user"), str | None)
assert_type(manager.add(HookRegistration(event="before_step", action=before_step, priority=5)), str)
assert_type(manager.notes, tuple[str, ...])
hooks = manager.hooks()
assert_type(hooks, Hooks)
assert_type(hooks.listens(HookEvent.BEFORE_STEP), bool)
assert_type(hooks.in_session("s").with_skill("pdf").at("/repo"), Hooks)
assert_type(hooks.dispatch_sync(ctx), HookOutcome)


async def dispatch() -> None:
    assert_type(await hooks.dispatch(ctx), HookOutcome)
    assert_type(await fetch("https://example.com"), str)
    assert_type(await hooks.resume("token", "allow"), HookOutcome)
    use = await hooks.call_tool(ToolCall("fetch"), lambda call: fetch(**call.args), cwd="/repo")
    assert_type(use, ToolUse)
    assert_type(use.stop_signal, StopSignal | None)


# -- hooks as data -----------------------------------------------------------------------------------------------------


class Structural:
    def execute(self, ctx: HookContext) -> HookOutcome | None:
        return None


assert_type(HookTriggers.before_step(), HookTriggers)
HookRegistration(event=HookTriggers.of("before_step"), action=Structural(), priority=3)
HookStack().with_hook(Structural(), "before_step")
assert_type(HookOutcome.with_args({"command": "ls"}), HookOutcome)
assert_type(HookOutcome.with_context("text"), HookOutcome)

# -- the runtime -------------------------------------------------------------------------------------------------------


@tool(kind="read", in_thread=True)
def read(path: str) -> str:
    return path


@tool
async def fetch(url: str) -> str:
    return url


kept_tool: Tool[[str], str] = read
any_tool: Tool = kept_tool
assert_type(read("a.txt"), str)
assert_type(Tool.of(read), Tool)


class OwnDriver:
    model = "own"

    async def respond(self, request: ModelRequest) -> ModelResponse:
        assert_type(request.messages, tuple[Message, ...])
        return ModelResponse(content="Hello.")


class OwnCapability:
    name = "own"

    def configure(self, builder: AgentBuilder) -> AgentBuilder:
        return builder.before_tool_use(before_tool_use, match="shell", priority=100)


builder = (
    AgentBuilder(plugins=(), policy=HookPolicy(max_retries=1))
    .with_driver(OwnDriver())
    .with_tools(read, fetch)
    .with_capability(OwnCapability())
    .with_capability(UseTaskPlanning())
    .with_capability(UseSelfCritique(critic=lambda state: state.output is not None))
    .with_capability(UseContextConfig("Be brief."))
    .with_capability(UseHook(Structural(), HookTriggers.before_step(), priority=5))
    .with_ask(lambda ctx, reason: ctx.depth == 0)
    .hook("after_step", EventEmittingHook(print))
    .continue_when(before_step)
)
assert_type(builder, AgentBuilder)
agent = builder.build()
assert_type(agent, AgentRuntime)
assert_type(agent.run_sync("Hello."), AgentState)
assert_type(AgentRuntime(ScriptedDriver("Hi."), hooks=hooks).with_interceptor(PassThrough()), AgentRuntime)


async def run() -> None:
    running = agent.iterate("Hello.")
    async for each in running:
        assert_type(each, AgentState)
    assert_type(running.state, AgentState)
    last = await agent.run("Hello.", running.state)
    assert_type(last.suspended, Suspended | None)
    assert_type(await agent.resume(last, HookOutcome.deny("No.")), AgentState)
