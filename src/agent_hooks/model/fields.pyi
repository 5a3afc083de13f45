# Written by .ci/stubs.py; nothing imports it at run time.
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from .events import HookEvent
from .outcome import Decision, Finding, HookOutcome, Shadowed
from .state import AgentState, Message, Step, StopSignal
from .tool_call import ErrorInfo, ToolCall, ToolExecution

class FurtherFields(TypedDict, total=False):
    agent_id: str
    agent_name: str
    parent_agent_id: str | None
    depth: int
    session_id: str
    execution_id: str
    step_index: int
    cwd: str
    project_dir: str
    transcript_path: str
    permission_mode: str
    prompt_id: str
    effort: str
    host: str
    scope: str | None
    skill: str | None
    created_at: float
    updated_at: float
    error_text: str | None
    prompt: Any
    request: Any
    response: Any
    model: str
    message_count: int
    tool_count: int
    status: str
    max_depth: int
    skill_name: str
    arguments: Any
    output: Any
    payload: Any
    host_event: str
    message: str
    notification_type: str
    mcp_server: Mapping[str, Any]
    definition: Any
    config: Any
    trigger: str
    source: str
    end_reason: str
    stop_hook_active: bool
    reason: str
    asked_by: tuple[str, ...]
    context: str
    messages: Sequence[Message]
    metadata: Mapping[str, Any]
    signals: Sequence[StopSignal]
    previous: tuple[Any, str, HookOutcome] | None
    rechecking: bool
    outcome: HookOutcome | None
    runtime: Any

class ContextFields(FurtherFields, total=False):
    state: AgentState | None
    tool_call: ToolCall | None
    name: str
    task: Any
    result: Any
    error: BaseException | ErrorInfo | None
    step: Step | None
    stop_signal: StopSignal | None
    tool_execution: ToolExecution | None
    was_blocked: bool
    error_list: tuple[ErrorInfo, ...]

class ReplacedFields(ContextFields, total=False):
    event: HookEvent

class BroughtFields(TypedDict, total=False):
    tool_args: Mapping[str, Any] | None
    prompt: Any
    request: Any
    response: Any
    result: Any
    error_text: str | None
    task: Any
    output: Any
    payload: Any
    state: AgentState | None
    context: str
    messages: Sequence[Message]
    metadata: Mapping[str, Any]
    signals: Sequence[StopSignal]

class SignalledFields(BroughtFields, total=False):
    signal: StopSignal

class ProceedFields(SignalledFields, total=False):
    reason: str

class OutcomeFields(ProceedFields, total=False):
    decision: Decision | str
    final: bool
    data: Any
    hook: str | None
    source: str
    origin: str
    failed: bool
    token: str | None
    asked_by: tuple[str, ...]
    asked_keys: tuple[tuple[str, str], ...]
    findings: tuple[Finding, ...]
    shadowed: tuple[Shadowed, ...]
