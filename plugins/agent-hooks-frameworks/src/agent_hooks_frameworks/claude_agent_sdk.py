"""Hooks in the Claude Agent SDK: ``protect(ClaudeAgentOptions(...))``. The decisions are applied by its CLI."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import fields, replace
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple

from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient, HookMatcher
from claude_agent_sdk._internal.client import InternalClient

from agent_hooks.engine.guarded_run import current_run
from agent_hooks.engine.suspension import answering, exact_text
from agent_hooks.errors import RegistrationError, described
from agent_hooks.model.events import HookEvent
from agent_hooks.model.outcome import WAITING, Decision, HookOutcome
from agent_hooks.model.values import thaw
from agent_hooks.sources.loader import HookConfigLoader
from agent_hooks.sources.loading import load
from agent_hooks.wire.claude_code import ROWS, ClaudeCode
from agent_hooks.wire.tables import TASK_KEYS, row

from .framework import Framework, FrameworkHooks

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from agent_hooks.engine.hooks import Ask
    from agent_hooks.engine.manager import HookManager
    from agent_hooks.model.context import HookContext
    from agent_hooks.model.tool_call import ToolCall
    from agent_hooks.wire.reply import Reply

FRAMEWORK = Framework(
    name="Claude Agent SDK",
    distribution="claude-agent-sdk",
    extra="claude-agent-sdk",
    events=frozenset(
        """
        user_input before_tool_use on_tool_error after_tool_use on_stop on_error before_subagent after_subagent
        """.split()
    ),
    cannot={
        "a retry makes the call again": "The CLI makes a call once; the model reads that it shall try again.",
        "two questions in one turn": "The CLI keeps one call of a turn waiting, and forgets the others.",
        "two questions in one turn are answered in another process": (
            "The CLI keeps one call of a turn waiting, and forgets the others."
        ),
        "a run stops at a limit of steps": "The CLI has no hook between the steps of a run.",
        "a prompt is rewritten": "The CLI can refuse a prompt, and not change it.",
        "an answer is withheld": "The application has the answer before the CLI calls its hook.",
        "an answer is changed": "The application has the answer before the CLI calls its hook.",
        "a stream shows nothing that is withheld": "The application has the answer before the CLI calls its hook.",
        "context of a request reaches the model": "The CLI asks the model, and has no hook around its requests.",
        "the messages of a request are changed": "The CLI asks the model, and has no hook around its requests.",
        "a request is not sent": "The CLI asks the model, and has no hook around its requests.",
        "a response is withheld": "The CLI asks the model, and has no hook around its requests.",
        "a response is asked for again": "The CLI asks the model, and has no hook around its requests.",
        "hooks see the conversation": "The CLI asks the model, and has no hook around its requests.",
        "the tokens of the model are counted": "The CLI asks the model, and has no hook around its requests.",
    },
    fields={
        "session_id": "`session_id` of the session",
        "agent_id": "`agent_id` of a subagent",
        "agent_name": "`agent_type` of a subagent",
        "cwd": "`cwd` of the session",
        "prompt_id": "`prompt_id`",
        "permission_mode": "`permission_mode`",
    },
)
# The events of the CLI that are dispatched. A subagent is judged when its tool is called: later, it starts anyway.
EVENTS = tuple(
    """
    UserPromptSubmit PreToolUse PermissionRequest PostToolUse PostToolUseFailure Stop StopFailure SubagentStop
    PreCompact Notification
    """.split()
)
# Seconds. The hooks have time limits of their own; at the CLI's, a result passes that they have not judged.
_LIMIT = 24 * 60 * 60


class _Cli(ClaudeCode):
    """Claude Code, as it answers callbacks: new arguments need no permission, and are those that it asks about."""

    def common(self, payload: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the payload with the text of an error of the model."""
        if payload.get("hook_event_name") == "StopFailure":
            return {"error_details": payload.get("last_assistant_message"), **payload}
        return payload

    def put_subject(self, reply: Reply, body: dict[str, Any], specific: dict[str, Any]) -> None:  # noqa: ARG002
        """Put new arguments in the place of the old."""
        specific["updatedInput"] = reply.args


_TAKES = "context message stop ask allow rewrite args"
HOST = _Cli(FRAMEWORK.name, FRAMEWORK.name, {**ROWS, "PreToolUse": row("before_tool_use", "permission", _TAKES)})


class Waiting(NamedTuple):
    """A question about a call, which ``AgentHooks.answer`` answers: about these arguments."""

    question: str
    args: Mapping[str, Any]


class AgentHooks(FrameworkHooks):
    """The callbacks that ask hooks about the events of a session.

    Arguments and errors are those of ``FrameworkHooks``; the default ``manager`` leaves out the hooks of Claude's own
    settings, which the CLI asks itself. A question is put to ``can_use_tool`` of the options. Without it, the session
    ends with ``stop_reason="tool_deferred"`` and the question is in ``waiting``; resumed after ``answer``, it goes on.
    """

    framework = FRAMEWORK

    def __init__(
        self, manager: HookManager | None = None, *, kinds: Mapping[str, str] | None = None, ask: Ask = "host"
    ) -> None:
        if manager is None:
            manager = load(files=HookConfigLoader(None, claude_settings=False))
        super().__init__(manager, kinds=kinds, ask=ask)
        self.waiting: dict[str, Waiting] = {}
        self.has_person = False
        self.depth = 0
        self._answers: dict[str, tuple[bool, Mapping[str, Any] | None]] = {}
        self._forced: Counter[tuple[str, ...]] = Counter()

    def answer(self, call_id: str, approved: bool, args: Mapping[str, Any] | None = None) -> None:
        """Answer the question about a call, before its session is resumed. An approval holds for exactly the arguments
        ``args``: default those of ``waiting``, in another process those that the model gave.
        """
        asked = self.waiting.pop(call_id, None)
        self._answers[call_id] = (approved, args if args is not None or asked is None else asked.args)

    def install(self, options: ClaudeAgentOptions) -> None:
        """Add the callbacks to options."""
        self.has_person = bool(options.can_use_tool or options.permission_prompt_tool_name)
        closed: Any = {"on_failure": "block"} if "on_failure" in {each.name for each in fields(HookMatcher)} else {}
        there: Any = options.hooks or {}
        added: dict[Any, Any] = {
            event: [HookMatcher(hooks=[self.callback], timeout=_LIMIT, **closed)] for event in EVENTS
        }
        options.hooks = {**there, **{event: [*there.get(event, ()), *added[event]] for event in added}}

    async def callback(self, payload: Any, _tool_use_id: str | None, _context: Any) -> Any:
        """Answer an event of the CLI. What fails here denies."""
        event = payload.get("hook_event_name")
        try:
            ctx = self._context(payload)
            outcome = await self._dispatch(ctx)
            answer = HOST.write(outcome, ctx)
            said: dict[str, Any] = json.loads(answer.stdout or "{}")
            if outcome.decision in WAITING and ctx.event is HookEvent.BEFORE_TOOL_USE:
                self._pause(ctx, outcome, said)
        except Exception as error:  # noqa: BLE001 - a callback that raises is no decision
            said = json.loads(HOST.failure(event, f"agent_hooks failed: {described(error)}").stdout or "{}")
        return said

    # -- one event ---------------------------------------------------------------------------------------------------

    def _context(self, payload: Mapping[str, Any]) -> HookContext:
        ctx = HOST.read(payload)
        changes: dict[str, Any] = {}
        if depth := self.depth + bool(ctx.agent_id):
            changes["depth"] = depth
        if (call := ctx.tool_call) is not None and call.kind in ("mcp", "other"):
            schema = {"properties": {key: _schema_of(value) for key, value in call.args.items()}}
            kind = self.call(call.name, call.args, schema=schema).kind
            if kind != "other":
                changes["tool_call"] = call.replace(kind=kind, aliases=(*call.aliases, call.kind))
        return ctx.replace(**changes) if changes else ctx

    async def _dispatch(self, ctx: HookContext) -> HookOutcome:
        self._check()
        hooks = self.hooks.in_session(ctx.session_id)
        call, event = ctx.tool_call, ctx.event
        if call is None or event is not HookEvent.BEFORE_TOOL_USE:
            outcome = await hooks.dispatch(ctx)
            if event is HookEvent.ON_STOP:
                await hooks.join()
            return self._capped(ctx, outcome) if HOST.goes_on(outcome, ctx) else outcome
        outcome = await self._judge_call(ctx, call)
        if outcome.blocks and outcome.decision not in WAITING:  # the CLI has no event after a call that is not made
            blocked = ctx.block(outcome.reason)._fields | {"event": HookEvent.AFTER_TOOL_USE}
            await hooks.dispatch(ctx._of(blocked))
        if call.kind == "subagent" and not outcome.blocks and hooks.listens(HookEvent.BEFORE_SUBAGENT):
            args = call.args if outcome.tool_args is None else outcome.tool_args
            inner = await hooks.dispatch(HOST.subagent(ctx, args))
            if inner.blocks or inner.decision is Decision.ASK:
                return inner
            if inner.task is not None:
                key = next((key for key in TASK_KEYS if key in args), TASK_KEYS[0])
                return outcome.replace(tool_args={**args, key: inner.task})
        return outcome

    async def _judge_call(self, ctx: HookContext, call: ToolCall) -> HookOutcome:
        """Ask about a call; one that goes on after an answer is asked about once more, with the answer."""
        hooks, manager = self.hooks.in_session(ctx.session_id), self.manager
        if (given := self._answers.pop(call.id, None)) is None:
            outcome = await hooks.dispatch(ctx)
        else:
            decision = "allow" if given[0] else "deny"
            token = manager.waiting_calls.pop(_key(ctx, call), "")
            if token not in manager.suspended:
                about = call.args if given[1] is None else given[1]
                outcome = await hooks.asking(answering(given[0], about)).dispatch(ctx)
                token = outcome.token or "" if outcome.decision is Decision.SUSPEND else ""
            if token:
                outcome = await hooks.resume(token, decision, ctx)
        if outcome.decision is Decision.ASK and not outcome.token and not self.has_person:
            outcome = hooks.keep_asked(ctx, outcome)
        return outcome

    def _pause(self, ctx: HookContext, outcome: HookOutcome, said: dict[str, Any]) -> None:
        """Defer a call that waits, if nobody is there who can be asked now, or a hook has suspended it."""
        call = ctx.tool_call
        if call is None or (self.has_person and outcome.decision is Decision.ASK):
            return
        args = call.args if outcome.tool_args is None else outcome.tool_args
        if outcome.token:
            self.manager.waiting_calls[_key(ctx, call)] = outcome.token
        self.waiting[call.id] = Waiting(outcome.reason, thaw(dict(args)))
        specific = {"hookEventName": ctx.host_event, "permissionDecision": "defer"}
        said.clear()
        said["hookSpecificOutput"] = {**specific, "permissionDecisionReason": outcome.reason}

    def _capped(self, ctx: HookContext, outcome: HookOutcome) -> HookOutcome:
        """Return ``outcome``, which makes an agent go on, or let it stop after as many rounds as the policy allows."""
        key = (ctx.session_id, ctx.agent_id)
        if not ctx.stop_hook_active:
            self._forced.pop(key, None)
        self._forced[key] += 1
        if self._forced[key] <= self.manager.policy.max_forced_continuations:
            return outcome
        return HookOutcome.proceed()


def _key(ctx: HookContext, call: ToolCall) -> tuple[str, ...]:
    return (ctx.session_id, ctx.agent_id, ctx.cwd, call.id, call.name, exact_text(call.args))


def _schema_of(value: Any) -> dict[str, Any]:
    """Return what an argument tells of its parameter."""
    names = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}
    return {"type": names[type(value)]} if type(value) in names else {}


def protect(agent: Any, hooks: AgentHooks) -> Any:
    """Add the hooks to ``ClaudeAgentOptions``, or to those of a ``ClaudeSDKClient`` that is not connected yet."""
    options = agent.options if isinstance(agent, ClaudeSDKClient) else agent
    if not isinstance(options, ClaudeAgentOptions):
        raise RegistrationError(f"{type(agent).__name__} has no hooks: protect the ClaudeAgentOptions that it gets.")
    if getattr(agent, "_query", None) is not None:
        raise RegistrationError("The client is connected, and sends its hooks when it connects: protect it before.")
    if _is_protected(options):
        raise RegistrationError("The options have AgentHooks among their hooks already.")
    hooks.install(options)
    return agent


# -- sessions that tools start -----------------------------------------------------------------------------------------


def _is_protected(options: ClaudeAgentOptions) -> bool:
    there = [each for matchers in (options.hooks or {}).values() for matcher in matchers for each in matcher.hooks]
    return any(isinstance(getattr(each, "__self__", None), AgentHooks) for each in there)


def _inheriting(options: ClaudeAgentOptions) -> ClaudeAgentOptions:
    """Return the options with the hooks of the run whose tool starts the session."""
    parent = current_run()
    if parent is None or _is_protected(options):
        return options
    hooks = AgentHooks.of(parent)
    hooks.depth = parent.fields.get("depth", 0) + 1
    hooks.install(options := replace(options))
    return options


def _with_hooks(connect: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(connect)
    async def connect_with_hooks(self: ClaudeSDKClient, *args: Any, **kwargs: Any) -> Any:
        self.options = _inheriting(self.options)
        return await connect(self, *args, **kwargs)

    return connect_with_hooks


def _with_hooks_of_query(start: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(start)
    def start_with_hooks(self: Any, prompt: Any, options: ClaudeAgentOptions, *args: Any, **kwargs: Any) -> Any:
        return start(self, prompt, _inheriting(options), *args, **kwargs)

    return start_with_hooks


ClaudeSDKClient.connect = _with_hooks(ClaudeSDKClient.connect)  # type: ignore[method-assign]
# `query` is a function that applications have imported by now; all its sessions go through here.
InternalClient.process_query = _with_hooks_of_query(InternalClient.process_query)  # type: ignore[method-assign]
