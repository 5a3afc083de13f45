"""The tools of the OpenAI Agents SDK under hooks. They are changed in place, and do nothing new outside of a run that
has hooks: the SDK compares tools by identity, and restores a paused run outside of any.
"""

from __future__ import annotations

import json
import shlex
from copy import copy
from dataclasses import asdict, replace
from functools import partial, wraps
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from agents import (
    ApplyPatchTool,
    ComputerTool,
    CustomTool,
    FunctionTool,
    LocalShellTool,
    ShellCommandOutput,
    ShellResult,
    ShellTool,
    ToolOutputFileContent,
    ToolOutputImage,
    ToolOutputText,
)

from agent_hooks.engine.guarded_run import GuardedRun, current_run
from agent_hooks.errors import RunError
from agent_hooks.model.state import hook_message
from agent_hooks.model.values import thaw

from .stepwise import Stepwise, Stop

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from agents.items import ToolApprovalItem

    from agent_hooks.engine.foreign_calls import Ending, ToolUse
    from agent_hooks.model.tool_call import ToolCall

_STRUCTURED = (ToolOutputText, ToolOutputImage, ToolOutputFileContent)
_ACTIONS = ("click", "double_click", "scroll", "type", "wait", "move", "keypress", "drag")


# -- calls -------------------------------------------------------------------------------------------------------------


class PendingCall:
    """A tool call whose hooks are asked before the SDK knows whether it is to wait, and whose tool runs later."""

    def __init__(self, run: GuardedRun, call: ToolCall, *, answer: bool | None = None) -> None:
        self._perform: Callable[[ToolCall], Awaitable[Any]] | None = None
        self._steps = Stepwise(run.tool(call, self._tool, answer=answer))
        self.is_ready = False

    async def _tool(self, call: ToolCall) -> Any:
        if self._perform is None:
            self._perform = await Stop()
        assert self._perform is not None
        return await self._perform(call)

    async def judge(self) -> None:
        """Ask the hooks before the call."""
        self.is_ready = await self._steps.step() is not None

    @property
    def waits(self) -> bool:
        """Whether a person has to answer first."""
        return not self.is_ready and bool(self._steps.result.token)

    def is_shown(self, call: ToolCall) -> bool:
        """Whether a person who is asked sees the arguments that will run: the SDK shows those of the model. If not,
        the model is told to call with the others, about which the question is put then.
        """
        use: ToolUse = self._steps.result
        if use.call.args == call.args:
            return True
        written = json.dumps(thaw(dict(use.call.args)))
        self._steps.result = use.replace(
            reason=f"{use.reason} Not run yet: call it with {written} to put the question."
        )
        return False

    async def make(self, perform: Callable[[ToolCall], Awaitable[Any]]) -> ToolUse:
        """Run the tool, if hooks let it, and ask the hooks after the call."""
        if self.is_ready:
            self.is_ready = False
            await self._steps.step(perform)
        elif self._steps.result is None:
            self._perform = perform
            await self._steps.step()
        use: ToolUse = self._steps.result
        return use


class Calls:
    """The calls of one run. ``approved``: the questions that a person answered with yes, by the id of the call;
    ``pending``: calls that hooks judged, and that are not made yet; ``ending``: the end of the run, once it is known;
    ``hooks``: those of the run, and ``added`` the adapter's that an agent added which took over.
    """

    def __init__(self, run: GuardedRun, interruptions: list[ToolApprovalItem]) -> None:
        self.hooks, self.added = run.hooks, run.owner
        self.interruptions = interruptions
        self.approved: dict[str, Any] = {}
        self.pending: dict[Any, PendingCall] = {}
        self.ending: Ending | None = None


# The session in which a question about a call was put: a run that goes on knows no other.
ASKED: dict[str, str] = {}
# The attribute of a context with the tools, by agent and name, whose own approval a person gave for good.
ALWAYS = "agent_hooks_always"
CALLS: WeakKeyDictionary[GuardedRun, Calls] = WeakKeyDictionary()


def current() -> tuple[GuardedRun, Calls] | None:
    """Return the run of the SDK that is at work here."""
    run = current_run()
    calls = None if run is None else CALLS.get(run)
    return None if run is None or calls is None else (run, calls)


async def settle(run: GuardedRun, calls: Calls, context: Any, tools: list[Any]) -> None:
    """Take the answers to the questions of a run that goes on. The SDK never calls a tool that was rejected."""
    schemas = {tool.name: _schema(tool) for tool in tools}
    items, calls.interruptions = calls.interruptions, []
    for item in items:
        raw = plain(item.raw_item)
        call_id, name = raw.get("call_id", ""), item.tool_name or ""
        answer = context.get_approval_status(name, call_id, existing_pending=item)
        if answer:
            calls.approved[call_id] = raw
        elif answer is False and "arguments" in raw:
            call = run.owner.call(name, _arguments(raw["arguments"]), call_id, schema=schemas.get(name))
            await run.tool(call, _never, answer=False)


def _never(_call: ToolCall) -> None:
    raise RunError("The call was rejected.")


# -- tools -------------------------------------------------------------------------------------------------------------


class GuardedTool:
    """A tool under hooks. ``read(payload)`` returns the arguments of a call, ``write(payload, args)`` the payload with
    changed ones.
    """

    def __init__(self, tool: Any, read: Callable[[Any], dict[str, Any]], write: Callable[[Any, Any], Any]) -> None:
        self.tool, self.read, self.write = tool, read, write

    def call(self, run: GuardedRun, payload: Any, call_id: str) -> ToolCall:
        """Return a call of the tool."""
        call: ToolCall = run.owner.call(self.tool.name, self.read(payload), call_id, schema=_schema(self.tool))
        return call

    async def make(self, payload: Any, call_id: str, perform: Callable[[Any], Any], key: Any = None) -> Any:
        """Make a call under the hooks of the run, if there is one."""
        at_work = current()
        if at_work is None:
            return await _awaited(perform(payload))
        run, calls = at_work
        if not call_id:
            call_id = next((known for known, raw in calls.approved.items() if _patches(raw, payload)), "")
        ours = self.call(run, payload, call_id)
        pending = calls.pending.pop(key or call_id, None)
        if pending is None:
            pending = PendingCall(run, ours, answer=True if call_id in calls.approved else None)

        async def tool(changed: ToolCall) -> Any:
            same = changed.args == ours.args
            return await _awaited(perform(payload if same else self.write(payload, thaw(dict(changed.args)))))

        return _result(await pending.make(tool))

    def approval(self, own: Any, prepare: Any = None) -> Callable[[Any, Any, str], Awaitable[bool]]:
        """Return a ``needs_approval`` that asks hooks behind the tool's ``own``."""

        async def needs_approval(context: Any, payload: Any, call_id: str) -> bool:
            at_work = current()
            name = None if at_work is None else at_work[0].fields["agent_name"]
            is_given = (name, self.tool.name) in vars(context).get(ALWAYS, ())
            if callable(own) and not is_given:
                # The SDK does not ask its function about arguments that validation changes.
                prepared = prepare(json.dumps(payload), self.tool.name) if prepare is not None else None
                if prepared is not None and not prepared.unchanged:
                    return True
            if not is_given and (await _awaited(own(context, payload, call_id)) if callable(own) else own):
                return True
            if at_work is None:
                return False
            run, calls = at_work
            ours = self.call(run, payload, call_id)
            pending = calls.pending[_key(payload, call_id)] = PendingCall(run, ours)
            await pending.judge()
            if not pending.waits or not pending.is_shown(ours):
                return False
            ASKED[call_id] = run.fields["session_id"]
            return True

        needs_approval.is_guarded = True  # type: ignore[attr-defined]
        return needs_approval


def guard(tool: Any) -> bool:
    """Put a tool that runs in this process under hooks; return whether it is one."""
    if isinstance(tool, FunctionTool):
        _guard_function(tool)
    elif isinstance(tool, CustomTool):
        _guard_callable(tool, "on_invoke_tool", lambda text: {"input": text}, lambda _text, args: args["input"])
    elif isinstance(tool, ShellTool):
        if tool.executor is None:
            return False
        _guard_executor(tool, _shell_arguments, _shell_request)
    elif isinstance(tool, LocalShellTool):
        _guard_executor(tool, _local_shell_arguments, _local_shell_request)
    elif isinstance(tool, ApplyPatchTool):
        if not isinstance(tool.editor, _Editor):
            guarded = GuardedTool(tool, _patch_arguments, lambda operation, args: replace(operation, **args))
            tool.needs_approval = guarded.approval(tool.needs_approval)
            tool.editor = _Editor(guarded, tool.editor)
    elif isinstance(tool, ComputerTool):
        _guard_computer(tool)
    else:
        return False
    return True


class _Invocation:
    """The function of a tool, under hooks."""

    def __init__(self, guarded: GuardedTool, invoke: Any) -> None:
        self.guarded, self.invoke = guarded, invoke
        # Its marks, but not its way to prepare arguments, which holds for those that the model gave.
        vars(self).update({name: value for name, value in vars(invoke).items() if "prepare" not in name})

    async def __call__(self, context: Any, payload: str) -> Any:
        return await self.guarded.make(payload, context.tool_call_id, partial(self.invoke, context))


def _guard_function(tool: FunctionTool) -> None:
    invoker: Any = tool.on_invoke_tool
    # What is behind its error handling: a handled error would look like a result.
    inner = getattr(invoker, "_invoke_tool_impl", invoker)
    guarded = GuardedTool(tool, _arguments, _text)
    if not isinstance(inner, _Invocation):
        ours = _Invocation(guarded, inner)
        if inner is invoker:
            tool.on_invoke_tool = ours
        else:
            tool.on_invoke_tool = handled = copy(invoker)
            handled._invoke_tool_impl = ours
    if not getattr(tool.needs_approval, "is_guarded", False):
        prepare = getattr(getattr(inner, "invoke", inner), "__agents_prepare_arguments__", None)
        tool.needs_approval = guarded.approval(tool.needs_approval, prepare)


def _guard_callable(tool: Any, name: str, read: Any, write: Any) -> None:
    invoke = getattr(tool, name)
    if getattr(invoke, "is_guarded", False):
        return
    guarded = GuardedTool(tool, read, write)

    async def guarded_invoke(context: Any, payload: Any) -> Any:
        return await guarded.make(payload, context.tool_call_id, partial(invoke, context))

    guarded_invoke.is_guarded = True  # type: ignore[attr-defined]
    setattr(tool, name, guarded_invoke)
    tool.needs_approval = guarded.approval(tool.needs_approval)


def _guard_executor(tool: Any, read: Any, write: Any) -> None:
    execute = tool.executor
    if getattr(execute, "is_guarded", False):
        return
    guarded = GuardedTool(tool, read, write)

    async def guarded_execute(request: Any) -> Any:
        return await guarded.make(request, request.data.call_id, execute)

    guarded_execute.is_guarded = True  # type: ignore[attr-defined]
    tool.executor = guarded_execute
    if hasattr(tool, "needs_approval"):
        tool.needs_approval = guarded.approval(tool.needs_approval)


class _Editor:
    """The editor of an ``ApplyPatchTool`` under hooks."""

    def __init__(self, guarded: GuardedTool, editor: Any) -> None:
        self._guarded, self._editor = guarded, editor

    def __getattr__(self, name: str) -> Any:
        return getattr(self._editor, name)

    async def _perform(self, operation: Any) -> Any:
        key = _key(operation, "")
        return await self._guarded.make(operation, "", self._edit, key)

    def _edit(self, operation: Any) -> Any:
        if operation.type not in ("create_file", "update_file", "delete_file"):
            raise RunError(f"Unknown operation of apply_patch: {operation.type}")
        return getattr(self._editor, operation.type)(operation)

    create_file = update_file = delete_file = _perform


def _guard_computer(tool: ComputerTool[Any]) -> None:
    """Put the actions of a computer under hooks, once the SDK has made it. A denied one is not performed, and the model
    reads why with its next request.
    """
    computer = tool.computer
    for name in _ACTIONS:
        action = getattr(computer, name, None)
        if action is None or getattr(action, "is_guarded", False):
            continue

        @wraps(action)
        async def guarded(*args: Any, _act: Any = action, _name: str = name, **kwargs: Any) -> Any:
            at_work = current()
            if at_work is None:
                return await _awaited(_act(*args, **kwargs))
            run, _calls = at_work
            call = run.owner.call(tool.name, {"action": _name, "args": list(args), **kwargs})

            async def perform(changed: ToolCall) -> Any:
                given = thaw(dict(changed.args))
                given.pop("action")
                return await _awaited(_act(*given.pop("args"), **given))

            use = await run.tool(call, perform)
            if use.exception is not None:
                raise use.exception
            if use.was_blocked or use.token or use.context:
                run.added.append(hook_message(use.text))
            return None

        guarded.is_guarded = True  # type: ignore[attr-defined]
        setattr(computer, name, guarded)


# -- between their forms and ours --------------------------------------------------------------------------------------


async def _awaited(result: Any) -> Any:
    return await result if hasattr(result, "__await__") else result


def plain(item: Any) -> Mapping[str, Any]:
    """Return an item of the conversation as a mapping."""
    found: Mapping[str, Any] = item if isinstance(item, dict) else item.model_dump()
    return found


def _schema(tool: Any) -> Any:
    return getattr(tool, "params_json_schema", None)


def _key(payload: Any, call_id: str) -> Any:
    """Return the key of a pending call: an editor is not told the id."""
    return (payload.type, payload.path, payload.diff) if hasattr(payload, "diff") else call_id


def _arguments(text: Any) -> dict[str, Any]:
    """Return the arguments of a function: an object, or whatever the model gave under one name."""
    if isinstance(text, dict):
        return text
    try:
        arguments = json.loads(text) if text else {}
    except ValueError:
        arguments = text
    return arguments if isinstance(arguments, dict) else {"input": arguments}


def _text(_payload: str, args: dict[str, Any]) -> str:
    return json.dumps(args)


def _shell_arguments(request: Any) -> dict[str, Any]:
    action = request.data.action if hasattr(request, "data") else request
    return {name: value for name, value in asdict(action).items() if value is not None and name != "max_output_length"}


def _shell_request(request: Any, args: dict[str, Any]) -> Any:
    return replace(request, data=replace(request.data, action=replace(request.data.action, **args)))


def _local_shell_arguments(request: Any) -> dict[str, Any]:
    action = request.data.action
    found = {"command": shlex.join(action.command), "cwd": action.working_directory}
    return {name: value for name, value in found.items() if value}


def _local_shell_request(request: Any, args: dict[str, Any]) -> Any:
    changes = {"command": shlex.split(args["command"]), "working_directory": args.get("cwd")}
    action = request.data.action.model_copy(update=changes)
    return replace(request, data=request.data.model_copy(update={"action": action}))


def _patch_arguments(operation: Any) -> dict[str, Any]:
    names = ("type", "path", "diff", "move_to")
    return {name: getattr(operation, name) for name in names if getattr(operation, name, None) is not None}


def _patches(raw: Mapping[str, Any], operation: Any) -> bool:
    """Whether an approved patch contains this operation."""
    operations = raw.get("operations") or [raw.get("operation") or {}]
    return any(
        (each.get("path"), each.get("diff")) == (operation.path, operation.diff) for each in map(plain, operations)
    )


def _result(use: ToolUse) -> Any:
    """Return the result of a call for the model: the tool's own object where hooks left it."""
    if use.exception is not None and not isinstance(use.exception, RunError):  # of an agent that the tool started
        raise use.exception
    returned = use.returned
    if not use.is_untouched:
        return use.text
    if not use.context:
        return returned
    if isinstance(returned, ShellResult):
        return replace(returned, output=[*returned.output, ShellCommandOutput(stdout=use.context)])
    parts = returned if isinstance(returned, list) else [returned]
    if all(isinstance(part, _STRUCTURED) for part in parts):
        return [*parts, ToolOutputText(text=use.context)]
    return use.text
