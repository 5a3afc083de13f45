"""Hooks in servers of FastMCP: ``FastMCP(..., middleware=[AgentHooks()])``, or ``protect(server)``."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from fastmcp.exceptions import NotFoundError, ResourceError, ToolError
from fastmcp.resources.base import InputRequiredResourceResult, ResourceContent, ResourceResult
from fastmcp.server.middleware import Middleware
from fastmcp.server.middleware.caching import ResponseCachingMiddleware
from fastmcp.server.middleware.tool_injection import ToolInjectionMiddleware
from fastmcp.server.providers.addressing import parse_hashed_backend_name
from fastmcp.tools.base import InputRequiredToolResult, ToolResult
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, ElicitRequest, ElicitRequestFormParams, InputRequiredResult, TextContent
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from agent_hooks.errors import RegistrationError
from agent_hooks.model.tool_call import ToolCall
from agent_hooks.model.tools import FORMER_NAMES
from agent_hooks.model.values import thaw

from .framework import Framework, FrameworkHooks

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from fastmcp import FastMCP
    from fastmcp.server.context import Context
    from fastmcp.server.middleware import CallNext, MiddlewareContext
    from fastmcp.tools.base import Tool
    from mcp_types import CallToolRequestParams, ReadResourceRequestParams

    from agent_hooks.engine.foreign_calls import ToolUse
    from agent_hooks.model.state import StopSignal

FRAMEWORK = Framework(
    name="FastMCP",
    distribution="fastmcp",
    extra="fastmcp",
    events=frozenset(("before_tool_use", "on_tool_error", "after_tool_use")),
    cannot={
        "a stop of a call ends the run": "The client goes on; all further calls of its session are refused.",
        "a run stops at a limit of steps": "A server sees neither the model nor the loop of its client.",
        "another round is forced": "A server sees neither the model nor the loop of its client.",
        "forced rounds have an end": "A server sees neither the model nor the loop of its client.",
        "a prompt is refused": "A server sees neither the model nor the loop of its client.",
        "a prompt is rewritten": "A server sees neither the model nor the loop of its client.",
        "context of a prompt reaches the model": "A server sees neither the model nor the loop of its client.",
        "an answer is withheld": "A server sees neither the model nor the loop of its client.",
        "an answer is changed": "A server sees neither the model nor the loop of its client.",
        "context of a request reaches the model": "A server sees neither the model nor the loop of its client.",
        "the messages of a request are changed": "A server sees neither the model nor the loop of its client.",
        "a request is not sent": "A server sees neither the model nor the loop of its client.",
        "a response is withheld": "A server sees neither the model nor the loop of its client.",
        "a response is asked for again": "A server sees neither the model nor the loop of its client.",
        "hooks see the conversation": "A server sees neither the model nor the loop of its client.",
        "the tokens of the model are counted": "A server sees neither the model nor the loop of its client.",
        "hooks hear of an error of the model": "A server sees neither the model nor the loop of its client.",
        "a stream is under the same hooks": "A result of a server comes as a whole.",
        "a stream shows nothing that is withheld": "A result of a server comes as a whole.",
        "a gate of the root stops a tool of a child": "A server has no agents.",
        "a child is denied": "A server has no agents.",
    },
    fields={
        "session_id": "the client's session; in the newest protocol the process, over HTTP a new one for each call",
        "execution_id": "a new one for each call",
        "agent_name": "the server's `name`",
        "cwd": "the working directory of the process",
    },
)
RESOURCE = "ReadMcpResourceTool"  # as Claude Code calls the reading of one
_CALL_ID = "claudecode/toolUseId"  # in the metadata of a request, by Claude Code
_OF_MANY = ("sse", "streamable-http")  # transports on which a process has many clients
_KEY = "agent_hooks"
_FORM = {
    "type": "object",
    "properties": {"allow": {"type": "boolean", "title": "Allow"}},
    "required": ["allow"],
}
# The keys of a result with more than text, or whose text and structure are not the same.
_CONTENT, _STRUCTURE = "content", "structured_content"
_NO_ANSWER = "Nobody can answer here: "


class _Asked(NamedTuple):
    """A question about a call, as the client sends it back with the answer."""

    id: str
    name: str
    args: dict[str, Any]
    session: str
    question: str


class _Passed(Exception):  # noqa: N818 - no error: it carries a result past the hooks
    """Raised with a result that is no result of the call: a question of the tool, or the receipt of a task."""


class AgentHooks(FrameworkHooks, Middleware):
    """The middleware that asks hooks about each tool call of a client and each resource that it reads.

    Arguments and errors are those of ``FrameworkHooks``. A question is put to the user of the client by elicitation,
    and denied where the client has none.
    """

    framework = FRAMEWORK

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._process = f"mcp-{os.urandom(8).hex()}"
        self._stopped: dict[str, StopSignal] = {}

    async def on_call_tool(
        self, context: MiddlewareContext[CallToolRequestParams], call_next: CallNext[CallToolRequestParams, ToolResult]
    ) -> ToolResult:
        """Put a tool call under hooks."""
        message, made = context.message, _Made()
        ctx = context.fastmcp_context
        assert ctx is not None
        tool = await _tool(ctx.fastmcp, message.name)
        if tool is None and message.name not in self._tools and ctx.fastmcp.middleware[-1] is self:
            # Nothing behind the hooks answers it, unless by a way to a tool that is not known here.
            raise NotFoundError(f"Unknown tool: {message.name!r}")
        name = message.name if tool is None else tool.name
        asked, answer = _asked(ctx, name)
        call_id = asked.id if asked is not None else _call_id(ctx)
        args = message.arguments or {}
        if tool is None and name not in self._tools and name not in self.kinds:
            ours = ToolCall(name, args, id=call_id)  # a client may make up names without end: not remembered
        else:
            ours = self.call(name, args, call_id, schema=None if tool is None else tool.parameters)

        async def run(changed: ToolCall) -> Any:
            sent = context
            if changed.args != ours.args:
                sent = context.copy(message=message.model_copy(update={"arguments": thaw(dict(changed.args))}))
            try:
                made.result = await call_next(sent)
            except ToolError as error:
                made.error, cause = error, error.__cause__
                if isinstance(cause, Exception) and str(error).endswith(f": {cause}"):
                    raise cause  # noqa: B904 - the tool's own error: hooks word it for the model
                raise
            if type(made.result) is not ToolResult:
                raise _Passed
            return _value(made.result)

        try:
            use = await self._judged(ctx, ours, run, asked, answer)
        except _Passed:
            return cast("ToolResult", made.result)
        if isinstance(use, InputRequiredResult):
            return InputRequiredToolResult(use)
        if use.exception is not None:
            raise made.error or use.exception
        tool = None if use.failed or use.is_untouched else await _tool(ctx.fastmcp, message.name)
        return _result(use, made.result, None if tool is None else tool.output_schema)

    async def on_read_resource(
        self,
        context: MiddlewareContext[ReadResourceRequestParams],
        call_next: CallNext[ReadResourceRequestParams, ResourceResult],
    ) -> ResourceResult:
        """Put the reading of a resource under the hooks about tools that read."""
        ctx, made = context.fastmcp_context, _Made()
        assert ctx is not None
        asked, answer = _asked(ctx, RESOURCE)
        call_id = asked.id if asked is not None else _call_id(ctx)
        args = {"uri": str(context.message.uri)}
        ours = ToolCall(RESOURCE, args, id=call_id, kind="read", aliases=FORMER_NAMES[RESOURCE])

        async def run(changed: ToolCall) -> Any:
            sent = context.message.model_copy(update={"uri": changed.args["uri"]})
            made.result = await call_next(context.copy(message=sent))
            if type(made.result) is not ResourceResult:
                raise _Passed
            texts = [each.content for each in made.result.contents]
            return texts[0] if len(texts) == 1 else texts

        try:
            use = await self._judged(ctx, ours, run, asked, answer)
        except _Passed:
            return cast("ResourceResult", made.result)
        if isinstance(use, InputRequiredResult):
            return InputRequiredResourceResult(use)
        if use.exception is not None:
            raise use.exception
        if use.failed:
            raise ResourceError(use.text)
        if not use.is_untouched:
            return ResourceResult(use.text)
        if use.context:
            return ResourceResult([*made.result.contents, ResourceContent(use.context)], made.result.meta)
        return cast("ResourceResult", made.result)

    async def _judged(
        self,
        ctx: Context,
        call: ToolCall,
        perform: Callable[[ToolCall], Awaitable[Any]],
        asked: _Asked | None,
        answer: bool | None,
    ) -> ToolUse | InputRequiredResult:
        """Return the use of a call as judged by hooks, or the question for the client."""
        session = self._session(ctx) if asked is None else asked.session
        run = self.begin(session_id=session, agent_name=ctx.fastmcp.name)
        has_user = can_answer(ctx)
        if run.hooks.ask == "host" and not has_user:
            run.hooks = run.hooks.asking(None)
        if session in self._stopped:
            run.state = run.state.with_stop_signal(self._stopped[session])
        passed = (_Passed, NotFoundError, MCPError)
        given: dict[str, Any] = {} if asked is None else {"about": asked.args, "question": asked.question}
        use = await run.tool(call, perform, answer=answer, passed=passed, **given)
        if use.token and has_user and (asked is None or asked.question != use.reason):
            asked = _Asked(call.id, call.name, thaw(dict(use.call.args)), session, use.reason)
            if is_modern(ctx):
                return question(_KEY, use.reason, asked)
            answer = await elicited(ctx, use.reason)
            use = await run.tool(call, perform, answer=answer, about=asked.args, question=asked.question, passed=passed)
        if use.token:
            use = use.replace(reason=_NO_ANSWER + use.reason)
        if run.stop_signal is not None:
            self._stopped[session] = run.stop_signal
        return use

    def _session(self, ctx: Context) -> str:
        """Return the id of the client's session. In the newest protocol there is none: the process stands for its only
        client, and over HTTP each call is a session of its own.
        """
        is_only = ctx.request_context is None or (is_modern(ctx) and ctx.transport not in _OF_MANY)
        return self._process if is_only else ctx.session_id


def protect(server: FastMCP[Any], hooks: AgentHooks) -> FastMCP[Any]:
    """Add the hooks to a server that exists: innermost, but outside of middleware that answers calls by itself."""
    if any(isinstance(each, AgentHooks) for each in server.middleware):
        raise RegistrationError(f"The server {server.name!r} has AgentHooks among its middleware already.")
    answering = (ToolInjectionMiddleware, ResponseCachingMiddleware)
    places = [place for place, each in enumerate(server.middleware) if isinstance(each, answering)]
    server.middleware.insert(places[0] if places else len(server.middleware), hooks)
    return server


async def _tool(server: FastMCP[Any], name: str) -> Tool | None:
    """Return the tool that is called by its name, or, as apps do, by its digest and name."""
    tool = await server.get_tool(name)
    if tool is None and (hashed := parse_hashed_backend_name(name)) is not None:
        tool = await server.get_tool_by_hash(*hashed)
    return tool


class _Made:
    """The framework's own result and error of a call."""

    result: Any = None
    error: Exception | None = None


# -- questions ---------------------------------------------------------------------------------------------------------


def can_answer(ctx: Context) -> bool:
    """Whether the client puts questions to its user."""
    if ctx.request_context is None or ctx.is_background_task:
        return False
    params = ctx.session.client_params
    return params is not None and params.capabilities.elicitation is not None


def is_modern(ctx: Context) -> bool:
    """Whether a question is a result of the call, which the client makes again with the answer."""
    request = ctx.request_context
    return request is not None and request.protocol_version in MODERN_PROTOCOL_VERSIONS


def question(key: str, reason: str, kept: Any) -> InputRequiredResult:
    """Return a question as the result of a call. The answer comes under ``key``, with ``kept``."""
    form = ElicitRequest(params=ElicitRequestFormParams(message=reason, requested_schema=_FORM))
    # The framework seals the state, and opens it for the same request only.
    return InputRequiredResult(input_requests={key: form}, request_state=json.dumps({key: kept}))


def answered(ctx: Context, key: str) -> tuple[Any, bool | None]:
    """Return the object that was kept with the question that this request answers, and the answer."""
    state, responses = ctx.request_state, ctx.input_responses
    if state is None or not responses or key not in responses:
        return None, None
    try:
        kept = json.loads(state)[key]
    except (ValueError, KeyError, TypeError):  # of the tool itself
        return None, None
    return kept, _allows(responses[key])


def _asked(ctx: Context, name: str) -> tuple[_Asked | None, bool | None]:
    kept, answer = answered(ctx, _KEY)
    asked = None if kept is None else _Asked(*kept)
    return (asked, answer) if asked is not None and asked.name == name else (None, None)


async def elicited(ctx: Context, reason: str) -> bool:
    """Return the answer of the user to a question that is put during the call."""
    response = await ctx.session.elicit(message=reason, requested_schema=_FORM, related_request_id=ctx.request_id)
    return _allows(response)


def _allows(response: Any) -> bool:
    content: Mapping[str, Any] = getattr(response, "content", None) or {}
    return getattr(response, "action", "") == "accept" and content.get("allow") is True


def _call_id(ctx: Context) -> str:
    """Return the client's id of the call, if it sends one. That of the request is one of the connection only."""
    meta = ctx.request_context.meta if ctx.request_context is not None else None
    known = (meta or {}).get(_CALL_ID)
    return known if isinstance(known, str) and known else f"call-{os.urandom(8).hex()}"


# -- results -----------------------------------------------------------------------------------------------------------


def _value(result: ToolResult) -> Any:
    """Return a result for hooks: its text, the value behind it, or else the content and the structure."""
    text = None
    if all(isinstance(each, TextContent) for each in result.content):
        text = "\n".join(each.text for each in result.content if isinstance(each, TextContent))
    structured = result.structured_content
    value: Any = structured
    if structured is not None and ((result.meta or {}).get("fastmcp") or {}).get("wrap_result"):
        value = structured["result"]
    if text is not None and (structured is None or text == value or _is_written(text, value)):
        return text if structured is None else value
    content = [each.model_dump(mode="json", exclude_none=True) for each in result.content]
    return {_CONTENT: content, _STRUCTURE: structured}


def _is_written(text: str, value: Any) -> bool:
    try:
        return bool(json.loads(text) == value)
    except ValueError:
        return False


def _result(use: ToolUse, made: ToolResult | None, schema: Mapping[str, Any] | None) -> ToolResult:
    """Return the result of a call for the client: the tool's own where hooks left it, else one of its ``schema``."""
    if use.failed:
        return ToolResult(use.text, is_error=True)
    context = [TextContent(type="text", text=use.context)] if use.context else []
    if use.is_untouched and made is not None:
        if not context:
            return made
        return ToolResult([*made.content, *context], made.structured_content, made.meta, made.is_error)
    value = thaw(use.result)
    if isinstance(value, dict) and value.keys() == {_CONTENT, _STRUCTURE}:  # as hooks got it
        changed = CallToolResult.model_validate(value)
        return ToolResult(
            [*changed.content, *context], changed.structured_content, made.meta if made is not None else None
        )
    if schema is None:
        return ToolResult(use.text)
    wraps = bool(schema.get("x-fastmcp-wrap-result"))
    structured = {"result": value} if wraps else value
    if not _fits(structured, schema):  # clients refuse a result without the structure of the tool's, but no error
        return ToolResult(use.text, is_error=True)
    return ToolResult(use.text, structured, {"fastmcp": {"wrap_result": True}} if wraps else None)


def _fits(structured: Any, schema: Mapping[str, Any]) -> bool:
    from jsonschema import SchemaError, ValidationError, validate

    try:
        validate(structured, schema)
    except (ValidationError, SchemaError):
        return False
    return isinstance(structured, dict)
