"""Every hook there is, one sentence each. A hook takes any of its hookspec's arguments, by name.

``firstresult`` marks the events whose first blocking outcome settles them.
"""

from __future__ import annotations

from .markers import hookspec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from agent_hooks.model.context import HookContext
    from agent_hooks.model.events import HookEvent
    from agent_hooks.model.outcome import Finding, HookOutcome
    from agent_hooks.model.state import AgentState, Step, StopSignal
    from agent_hooks.model.tool_call import ErrorInfo, ToolCall, ToolExecution

    from .manager import HookManager


# -- the session -------------------------------------------------------------------------------------------------------


@hookspec
def setup(ctx: HookContext, config: Any) -> None:
    """The host prepares itself, before any session."""


@hookspec(firstresult=True)
def session_start(ctx: HookContext, session_id: str, transcript_path: str, source: str, state: AgentState) -> Any:
    """A conversation starts or is resumed."""


@hookspec
def session_end(ctx: HookContext, session_id: str, end_reason: str) -> None:
    """A conversation has ended."""


@hookspec(firstresult=True)
def before_agent(ctx: HookContext, definition: Any) -> Any:
    """An agent is about to be started."""


@hookspec
def after_agent(ctx: HookContext, definition: Any) -> None:
    """An agent has been shut down."""


@hookspec(firstresult=True)
def user_input(ctx: HookContext, prompt: Any, state: AgentState) -> Any:
    """A person, or a program in their place, sends a prompt."""


@hookspec(firstresult=True)
def before_turn(ctx: HookContext, message_count: int) -> Any:
    """The agent is about to work on a batch of messages."""


@hookspec
def after_turn(ctx: HookContext, message_count: int) -> None:
    """The agent has worked on a batch of messages."""


# -- one run -----------------------------------------------------------------------------------------------------------


@hookspec(firstresult=True)
def before_execution(ctx: HookContext, state: AgentState) -> Any:
    """A run begins, once, before its first step."""


@hookspec(firstresult=True)
def should_continue(ctx: HookContext, state: AgentState, step: Step) -> Any:
    """Another step may begin: every hook is asked, and a stop beats a forced continuation."""


@hookspec(firstresult=True)
def before_step(ctx: HookContext, state: AgentState) -> Any:
    """A step begins, before the model is asked."""


@hookspec(firstresult=True)
def before_inference(
    ctx: HookContext, request: Any, state: AgentState, model: str, message_count: int, tool_count: int
) -> Any:
    """A request is about to be sent to the model."""


@hookspec(firstresult=True)
def after_inference(ctx: HookContext, request: Any, response: Any, state: AgentState, model: str) -> Any:
    """The model has answered."""


@hookspec(firstresult=True)
def before_tool_use(
    ctx: HookContext, tool_call: ToolCall, tool_args: Mapping[str, Any], state: AgentState, skill: str | None
) -> Any:
    """A tool is about to be called."""


@hookspec(firstresult=True)
def permission_request(ctx: HookContext, tool_call: ToolCall, reason: str, asked_by: tuple[str, ...]) -> Any:
    """Somebody must decide whether a tool call, or whatever a hook asked about, may go ahead."""


@hookspec(firstresult=True)
def on_tool_error(ctx: HookContext, tool_call: ToolCall, error: Any, error_text: str, state: AgentState) -> Any:
    """A tool has failed; `after_tool_use` follows."""


@hookspec(firstresult=True)
def after_tool_use(
    ctx: HookContext,
    tool_call: ToolCall,
    tool_execution: ToolExecution,
    result: Any,
    state: AgentState,
    skill: str | None,
) -> Any:
    """A tool has been called; observers also hear of a call that was blocked, with `was_blocked`."""


@hookspec(firstresult=True)
def after_step(ctx: HookContext, state: AgentState, step: Step) -> Any:
    """A step has ended, also one that failed."""


@hookspec(firstresult=True)
def on_stop(
    ctx: HookContext, state: AgentState, stop_signal: StopSignal, stop_hook_active: bool, prompt: Any, output: Any
) -> Any:
    """The run is about to stop; `prompt` is its task, `output` the model's last message."""


@hookspec(firstresult=True)
def before_output(ctx: HookContext, output: Any, state: AgentState) -> Any:
    """The final answer is about to leave the agent."""


@hookspec
def after_execution(ctx: HookContext, state: AgentState, status: str, stop_signal: StopSignal) -> Any:
    """The run has ended, whichever way."""


@hookspec(firstresult=True)
def on_error(ctx: HookContext, error: Any, error_list: tuple[ErrorInfo, ...], state: AgentState) -> Any:
    """Something in the run failed."""


# -- subagents, skills, the conversation -------------------------------------------------------------------------------


@hookspec(firstresult=True)
def before_subagent(ctx: HookContext, name: str, task: Any, depth: int, max_depth: int) -> Any:
    """A subagent is about to be started."""


@hookspec(firstresult=True)
def after_subagent(ctx: HookContext, name: str, task: Any, result: Any, status: str, depth: int) -> Any:
    """A subagent has ended."""


@hookspec(firstresult=True)
def before_skill_activation(ctx: HookContext, skill: Any, skill_name: str, arguments: Any) -> Any:
    """A skill is about to be activated."""


@hookspec
def after_skill_activation(ctx: HookContext, skill: Any, skill_name: str, arguments: Any, result: Any) -> None:
    """A skill has been activated."""


@hookspec(firstresult=True)
def before_conversation_load(ctx: HookContext) -> Any:
    """A stored conversation is about to be read."""


@hookspec
def after_conversation_load(ctx: HookContext, message_count: int) -> None:
    """A stored conversation has been read."""


@hookspec(firstresult=True)
def before_conversation_save(ctx: HookContext, message_count: int) -> Any:
    """The conversation is about to be stored."""


@hookspec
def after_conversation_save(ctx: HookContext, message_count: int) -> None:
    """The conversation has been stored."""


@hookspec(firstresult=True)
def before_compact(ctx: HookContext, message_count: int, trigger: str) -> Any:
    """The conversation is about to be shortened."""


@hookspec
def after_compact(ctx: HookContext, message_count: int, trigger: str) -> None:
    """The conversation has been shortened."""


@hookspec
def notification(ctx: HookContext, message: str, notification_type: str) -> None:
    """The host tells a person something."""


@hookspec(firstresult=True)
def on_host_event(ctx: HookContext, host_event: str, payload: Mapping[str, Any]) -> Any:
    """A host reports something that has no event of its own here, under the host's own name."""


# -- the framework's own -----------------------------------------------------------------------------------------------


@hookspec
def agent_hooks_register(manager: HookManager) -> None:
    """Register further plugins or hooks with the manager, once, when this plugin is registered."""


@hookspec
def agent_hooks_add_hookspecs(manager: HookManager) -> None:
    """Add hookspecs and their events to the manager, once, when this plugin is registered."""


@hookspec
def agent_hooks_handler_types() -> dict[str, Any] | None:
    """Return handler types by the name that configuration files use for them."""


@hookspec
def agent_hooks_settings() -> dict[str, Any] | None:
    """Return the tables of this plugin's settings by name, each with its pydantic model or a function that returns it
    (unless its `accepts(table)` is True); `plugin_settings(Model, ctx)` gives a hook the settings that hold.
    """


@hookspec
def agent_hooks_config_sources() -> list[Any] | None:
    """Return further sources of configuration."""


@hookspec
def agent_hooks_capabilities() -> dict[str, Any] | None:
    """Return agent capabilities by name: what makes one, called with its settings."""


@hookspec
def agent_hooks_commands() -> dict[str, Any] | None:
    """Return further commands of agent-hooks by name, as click makes them."""


@hookspec
def agent_hooks_explain(ctx: HookContext) -> list[str] | None:
    """Return, in lines for people, what this plugin takes an event for, as agent-hooks check prints it."""


@hookspec
def agent_hooks_findings(directory: str) -> list[Any] | None:
    """Return what is wrong in a directory, as far as this plugin can tell, as findings for agent-hooks doctor."""


@hookspec
def agent_hooks_dispatch_started(event: HookEvent, ctx: HookContext) -> Callable[..., Any] | None:
    """A dispatch begins; only looks, and may return a function that is called at its end with the context, the outcome,
    None if it was cancelled, and the seconds that it took.
    """


@hookspec
def agent_hooks_executed(
    event: HookEvent,
    ctx: HookContext,
    hook_name: str,
    plugin_name: str,
    outcome: HookOutcome | None,
    error: BaseException | None,
    started_at: float,
    duration: float,
    walk: int,
    shadow: bool,
    findings: tuple[Finding, ...],
) -> None:
    """One hook has run, with its outcome or its error, and `findings` on what of that was dropped; `duration` is in
    seconds, `walk` counts from 1, 0 is after the decision.
    """


@hookspec
def agent_hooks_run_started(ctx: HookContext) -> Any:
    """A run of the runtime begins; only looks, and may return an object whose methods `resume()` and `pause()` are
    called around each part of the run, and `end(state, error)` at its end.
    """


@hookspec
def agent_hooks_tool_started(ctx: HookContext) -> Callable[..., Any] | None:
    """A tool of the runtime is called; only looks, and may return a function that is called at its end with the result,
    the error or None, and the seconds that it took.
    """


@hookspec
def agent_hooks_dispatched(event: HookEvent, ctx: HookContext, outcome: HookOutcome, duration: float) -> None:
    """A dispatch has ended with this outcome; `duration` is in seconds; only looks."""
