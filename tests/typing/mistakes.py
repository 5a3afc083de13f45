"""Mistakes that type checkers must find: mypy strict and pyright report each line marked ``# wrong`` and no other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_hooks import (
    AgentBuilder,
    AgentState,
    HookContext,
    HookOutcome,
    HookRegistration,
    Message,
    StopSignal,
    ToolCall,
    ToolExecution,
    hookimpl,
    tool,
)

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator, Mapping

# -- hooks -------------------------------------------------------------------------------------------------------------


@hookimpl.before_tool_use  # wrong
def misspelt_argument(tool_cal: ToolCall) -> HookOutcome | None:
    return None


@hookimpl.before_tool_use(match="shell")  # wrong
def argument_of_another_event(tool_call: ToolCall, result: Any) -> None:
    pass


@hookimpl.before_tool_use(mode="gate")  # wrong
def wrong_type(tool_call: str) -> HookOutcome | None:
    return None


@hookimpl.before_tool_use()  # wrong
def false_can_mean_anything(tool_call: ToolCall) -> bool:
    return "--force" in tool_call.command


@hookimpl.after_tool_use  # wrong
async def wrong_answer(tool_execution: ToolExecution) -> list[str]:
    return []


@hookimpl.session_end  # wrong
def only_observed(session_id: str) -> HookOutcome:
    return HookOutcome.proceed()


@hookimpl.before_tool_use(priorty=5)  # wrong
def misspelt_option(tool_call: ToolCall) -> None:
    pass


@hookimpl.before_tool_use(mode="gates")  # wrong
def unknown_mode(tool_call: ToolCall) -> None:
    pass


@hookimpl.before_tool_use(match=3)  # wrong
def match_of_a_number(tool_call: ToolCall) -> None:
    pass


@hookimpl.before_tool_usage  # wrong
def unknown_event(ctx: HookContext) -> None:
    pass


@hookimpl.before_inference(wrapper=True)  # wrong
def wrong_outcome_sent(ctx: HookContext) -> Generator[None, str, None]:
    yield


class Plugin:
    @hookimpl.on_stop  # wrong
    def in_a_method(self, stop_signals: StopSignal) -> HookOutcome | None:
        return None

    # Whatever is right stays unreported.

    @hookimpl.on_stop
    def right(self, state: AgentState, stop_signal: StopSignal) -> HookOutcome:
        return HookOutcome.force_continue("Run the tests first.")

    @hookimpl.before_tool_use(match="shell", priority=3)
    async def right_async(self, ctx: HookContext, tool_args: Mapping[str, Any]) -> tuple[str, str] | None:
        return None

    @hookimpl.before_subagent(wrapper=True)
    async def right_wrapper(self, ctx: HookContext) -> AsyncGenerator[HookOutcome | None, HookOutcome]:
        yield None


@hookimpl.before_tool_use
def right(state: AgentState, tool_call: ToolCall, ctx: HookContext, most: int = 3) -> HookOutcome | None:
    return None


@hookimpl.before_inference(wrapper=True, tryfirst=True)
def right_wrapper() -> Generator[None, HookOutcome, HookOutcome | None]:
    outcome = yield
    return HookOutcome.stop("Enough.") if outcome.blocks else None


@hookimpl.session_end
async def right_observer(session_id: str, end_reason: str) -> None:
    pass


@hookimpl.on_stop
def right_word(ctx: object) -> HookContext | dict[str, Any]:
    return {}


# -- values ------------------------------------------------------------------------------------------------------------

CALL = ToolCall("Bash", {"command": "ls"})

HookContext("before_tool_use", tool_call="ls")  # wrong
HookContext("before_tool_use", tool_cal=CALL)  # wrong
HookContext("before_tool_use", tool_call=CALL, cwd="/repo")
HookContext.before_tool_use(None, CALL, sesion_id="s")  # wrong
HookContext.before_tool_use(None, CALL, session_id="s", depth=1)
HookContext("before_step").replace(depth="deep")  # wrong
HookContext("before_step").replace(depth=1)

HookOutcome(decision="deny", reason=3)  # wrong
HookOutcome(decision="deny", reason="No.")
HookOutcome.deny("No.", contxt="Listing only.")  # wrong
HookOutcome.deny("No.", metadata={"rule": 3}, signal=StopSignal.user_requested())
HookOutcome.update(tool_args="ls")  # wrong
HookOutcome.update(tool_args={"command": "ls"}, messages=[Message(role="user", content="Hello.")])
HookOutcome.ask("Really?", data=3)  # wrong

HookRegistration("before_step", right_word, priorty=3)  # wrong
HookRegistration("before_step", right_word, priority="high")  # wrong
HookRegistration("before_step", right_word, priority=3, mode="observe", timeout_seconds=2)
AgentBuilder().before_tool_use(right, match="shell", on_failure="block")  # wrong
AgentBuilder().before_tool_use(right, match="shell", on_failure="closed", name="right")
AgentBuilder().hook("after_step", right_word, backgrund=True)  # wrong
AgentBuilder().hook("after_step", right_word, mode="observe", background=True)
AgentBuilder().continue_when(right_word, matches="main")  # wrong
AgentBuilder().continue_when(right_word, match="main")


# -- tools -------------------------------------------------------------------------------------------------------------


@tool(kind="read")
def read(path: str, lines: int = 10) -> str:
    return path


read("a.txt", lines=3)
read(3)  # wrong
read("a.txt", line=3)  # wrong
length: int = read("a.txt")  # wrong
text: str = read("a.txt")
