"""Hooks in agents of LangChain and graphs of LangGraph: ``create_agent(..., middleware=[AgentHooks()])``, or
``protect(agent)``.
"""

from __future__ import annotations

from contextlib import aclosing, closing, contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

from langchain.agents.middleware import AgentMiddleware, ModelResponse
from langchain_core.messages import ToolMessage
from langchain_core.runnables.config import ensure_config, merge_configs
from langgraph.errors import GraphBubbleUp
from langgraph.graph.state import CompiledStateGraph, StateGraph
from langgraph.pregel import Pregel
from langgraph.types import Command, interrupt

from agent_hooks.engine.calling import drive, is_failure
from agent_hooks.engine.guarded_run import current_run
from agent_hooks.errors import RegistrationError, RunError, RunStoppedError
from agent_hooks.model.events import HookEvent
from agent_hooks.model.values import thaw

from .framework import RUN_EVENTS, Framework, FrameworkHooks
from .langchain_install import has_model, install
from .langchain_messages import Asked, HeldBack, final_answer, judged, result_of, text_of, with_prompt

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping

    from agent_hooks.engine.foreign_calls import ToolUse
    from agent_hooks.engine.guarded_run import GuardedRun
    from agent_hooks.model.tool_call import ToolCall

FRAMEWORK = Framework(
    name="LangChain",
    distribution="langchain",
    extra="langchain",
    events=RUN_EVENTS,
    tools={"glob_search": "search", "grep_search": "search", "write_todos": "other"},  # of its middleware
    fields={
        "session_id": "`thread_id` of the config",
        "execution_id": "`run_id` of the config",
        "agent_name": "the `name` given to `create_agent`",
        "cwd": "the working directory of the process",
    },
)


class AgentHooks(FrameworkHooks, AgentMiddleware):
    """The middleware that asks hooks about a run, its requests to the model, its tools and the agents they start.

    Arguments and errors are those of ``FrameworkHooks``. Put it last among the middleware: it judges what those before
    it have changed. A question is an ``interrupt`` in the form of LangChain's ``HumanInTheLoopMiddleware``, answered by
    ``Command(resume=True)``, which needs a checkpointer; without one the call is denied. A run that hooks stop raises
    ``RunStoppedError``, a refused prompt ``PromptRefusedError``, a withheld answer ``RefusedError``.
    """

    framework = FRAMEWORK
    tools = ()

    def before_agent(self, state: Any, runtime: Any) -> None:  # noqa: ARG002
        """Raise ``RunError`` if the graph was not started by one of its own methods, and so has no run of ours."""
        run = current_run()
        if run is None or run.owner is not self:
            raise RunError("The agent was not started by a method of its graph: its hooks do not know of the run.")

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        """Put a request to the model under hooks."""
        return drive(_model(request, handler))

    async def awrap_model_call(self, request: Any, handler: Any) -> Any:
        """Put a request to the model under hooks."""
        return await _model(request, handler)

    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        """Put a tool call under hooks. Works in any ``ToolNode``; without a run around it, the call is one."""
        return drive(_tool(current_run() or self.begin(sync=True), request, handler))

    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        """Put a tool call under hooks."""
        return await _tool(current_run() or self.begin(), request, handler)


def protect(agent: Any, hooks: AgentHooks) -> Any:
    """Add the hooks to a graph that exists, and to every copy that ``with_config`` makes of it."""
    if isinstance(agent, StateGraph):
        raise RegistrationError("A StateGraph runs only once it is compiled: protect(graph.compile()).")
    if not isinstance(agent, CompiledStateGraph):
        raise RegistrationError(
            f"A {type(agent).__name__} cannot be protected: give its ToolNode wrap_tool_call=hooks.wrap_tool_call and "
            "awrap_tool_call=hooks.awrap_tool_call, where hooks = AgentHooks()."
        )
    if _own_hooks(agent) is not None:
        raise RegistrationError(f"The agent {agent.get_name()!r} has AgentHooks already.")
    _name_what_is_missing(agent, hooks)
    if not install(agent, _model, _tool_of_run):
        raise RegistrationError(
            f"The graph {agent.get_name()!r} has no ToolNode and no agent as a node, so its tools cannot be found: "
            "call them in a ToolNode, or with hooks.call_tool(call, run)."
        )
    for node in agent.nodes.values():
        _PROTECTED[node] = hooks
    return agent


# -- one run -----------------------------------------------------------------------------------------------------------


class _Place(NamedTuple):
    """What a graph knows of questions. ``asked``: those that wait in its checkpoint, by call id; ``can_wait``: it has a
    checkpointer, so that a question can be answered later; ``resumes``: the run goes on after an interrupt.
    """

    asked: Mapping[str, Any]
    can_wait: bool = False
    resumes: bool = False


_NOWHERE = _Place({})
_PLACE: ContextVar[_Place] = ContextVar("agent_hooks_langchain_place", default=_NOWHERE)


class _Flow:
    """One run of a graph, from its input to its end."""

    def __init__(self, graph: Any, hooks: AgentHooks, config: Any, *, sync: bool) -> None:
        self.graph = graph
        self.config = merge_configs(graph.config, config)
        if not self.config.get("configurable", {}).get("thread_id"):
            self.config = merge_configs(ensure_config(), self.config)
        known = self.config.get("configurable", {})
        fields: dict[str, Any] = {"agent_name": "agent" if graph.get_name() == "LangGraph" else graph.get_name()}
        if known.get("thread_id"):
            fields["session_id"] = str(known["thread_id"])
        if self.config.get("run_id"):
            fields["execution_id"] = str(self.config["run_id"])
        self.run = hooks.begin(sync=sync, **fields)
        # A server of LangGraph, and a graph around this one, give their checkpointer in the config, under this key.
        self.can_wait = graph.checkpointer is not False and bool(
            graph.checkpointer or known.get("__pregel_checkpointer")
        )
        self.asked: dict[str, Any] = {}
        self.resumes = _PLACE.get().resumes

    @contextmanager
    def active(self) -> Iterator[None]:
        """Let the nodes of the graph find the run."""
        token = _PLACE.set(_Place(self.asked, self.can_wait, self.resumes))
        try:
            with self.run.active():
                yield
        finally:
            _PLACE.reset(token)

    async def begin(self, given: Any) -> Any:
        """Return the input as hooks changed it. A run that goes on has no new prompt, but questions that wait."""
        source = given.update if isinstance(given, Command) else given
        self.resumes |= given is None or (isinstance(given, Command) and given.resume is not None)
        if self.resumes and self.can_wait:
            for task in (await self._state()).tasks:
                for each in task.interrupts:
                    about = each.value.get(_ABOUT, {}) if isinstance(each.value, dict) else {}
                    # Those of an agent that a tool started stand here as well.
                    if about.get("depth") == self.run.fields.get("depth", 0):
                        self.asked[about["call_id"]] = each.value
        prompt, placed = with_prompt(source)
        changed = await self.run.start(prompt)
        if changed is prompt:
            return given
        source = placed(changed)
        return Command(update=source, goto=given.goto) if isinstance(given, Command) else source

    async def end(self) -> None:
        """End a run that had no answer of a model at its end, unless it waits."""
        if self.is_open and not (self.can_wait and (await self._state()).next):
            await self.run.end(None, may_continue=False)

    async def failed(self, error: BaseException) -> None:
        """End a run that failed, that hooks stopped, or that was ended in between."""
        if isinstance(error, RunStoppedError) and self.is_open:
            await self.run.end(None, may_continue=False)
        elif is_failure(error) and self.is_open and not isinstance(error, (RunError, GraphBubbleUp)):
            await self.run.fail(error)

    @property
    def is_open(self) -> bool:
        """Whether the run has not been ended."""
        return self.run.state.status == "in_progress"

    async def _state(self) -> Any:
        return self.graph.get_state(self.config) if self.run.sync else await self.graph.aget_state(self.config)


def _stream(start: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``Pregel.stream``, which ``invoke`` calls as well, with hooks around the run of a protected graph."""

    @wraps(start)
    def stream(self: Any, input: Any, config: Any = None, **kwargs: Any) -> Iterator[Any]:  # noqa: A002
        hooks = _hooks_for(self)
        if hooks is None:
            return start(self, input, config, **kwargs)  # type: ignore[no-any-return]
        return guarded(self, hooks, input, config, kwargs)

    def guarded(graph: Any, hooks: AgentHooks, given: Any, config: Any, kwargs: dict[str, Any]) -> Iterator[Any]:
        flow = _Flow(graph, hooks, config, sync=True)
        try:
            with closing(start(graph, drive(flow.begin(given)), config, **kwargs)) as parts:
                while True:
                    with flow.active():
                        part = next(parts, _END)
                    if part is _END:
                        break
                    yield part
            drive(flow.end())
        except BaseException as error:
            drive(flow.failed(error))
            raise

    return stream


def _astream(start: Callable[..., Any]) -> Callable[..., Any]:
    """Do the same for ``Pregel.astream``."""

    @wraps(start)
    def astream(self: Any, input: Any, config: Any = None, **kwargs: Any) -> AsyncIterator[Any]:  # noqa: A002
        hooks = _hooks_for(self)
        if hooks is None:
            return start(self, input, config, **kwargs)  # type: ignore[no-any-return]
        return guarded(self, hooks, input, config, kwargs)

    async def guarded(
        graph: Any, hooks: AgentHooks, given: Any, config: Any, kwargs: dict[str, Any]
    ) -> AsyncIterator[Any]:
        flow = _Flow(graph, hooks, config, sync=False)
        try:
            async with aclosing(start(graph, await flow.begin(given), config, **kwargs)) as parts:
                while True:
                    with flow.active():
                        part = await anext(parts, _END)
                    if part is _END:
                        break
                    yield part
            await flow.end()
        except BaseException as error:
            await flow.failed(error)
            raise

    return astream


_END = object()
# What only the node of ``create_agent`` that asks the model lets hooks judge.
_OF_MODEL = frozenset("should_continue before_step before_inference after_inference before_output".split())
_ABOUT = "agent_hooks"  # the key of our part in the value of an interrupt


# -- its requests and its calls ----------------------------------------------------------------------------------------


async def _model(request: Any, handler: Any) -> Any:
    """Send a request; if its response is the answer, let hooks judge it, and ask again if they want another round."""
    run = current_run()
    assert run is not None
    rounds: list[Any] = []
    while True:
        added, response = await _ask(run, request.override(messages=[*request.messages, *rounds]), handler)
        rounds += added
        answer = final_answer(response)
        if answer is None:
            break
        ending = await run.end(answer.output)
        if ending.again is None:
            response = answer.ended(ending)
            break
        rounds += answer.another(ending.again)
    return ModelResponse(result=[*rounds, *response.result], structured_response=response.structured_response)


async def _ask(run: GuardedRun, request: Any, handler: Any) -> tuple[list[Any], Any]:
    """Send one request; return the messages that hooks added to it, and the response."""
    asked = Asked(request, whole=run.wants_model)
    run.owner.hosted(asked.hosted)
    is_quiet = run.hooks.listens(HookEvent.AFTER_INFERENCE) or run.hooks.listens(HookEvent.BEFORE_OUTPUT)

    def ask(changed: Any) -> Any:
        with HeldBack(is_quiet):
            response = handler(asked.sent(changed))
            return finish(response) if hasattr(response, "__await__") else asked.answered(response)

    async def finish(response: Awaitable[Any]) -> Any:
        with HeldBack(is_quiet):
            return asked.answered(await response)

    use = await run.model(asked.given, ask)
    return asked.added, judged(use.response, asked)


async def _tool_of_run(request: Any, handler: Any) -> Any:
    run = current_run()
    assert run is not None
    return await _tool(run, request, handler)


async def _tool(run: GuardedRun, request: Any, handler: Any) -> Any:
    """Make a tool call; pause the graph while it waits for a person."""
    call, place = request.tool_call, _PLACE.get()
    hooks = run.owner if isinstance(run.owner, AgentHooks) else AgentHooks.of(run)
    name, call_id = call["name"], call["id"] or ""
    ours = hooks.call(name, call["args"], call_id, schema=_schema(request.tool))
    made: list[Any] = []

    def perform(changed: ToolCall) -> Any:
        own = changed.args == ours.args  # whole objects, where a tool takes them
        sent = request if own else request.override(tool_call={**call, "args": thaw(dict(changed.args))})
        result = handler(sent)
        return finish(result) if hasattr(result, "__await__") else keep(result)

    async def finish(result: Awaitable[Any]) -> Any:
        return keep(await result)

    def keep(result: Any) -> Any:
        made[:] = [result]
        return text_of(result)

    answer = about = text = None
    question, asked = place.asked.get(call_id), 0
    while True:
        if question is not None:
            # The node runs again from its start, in which the answers come in the order of the questions.
            while asked < question[_ABOUT]["number"]:
                answer, asked = interrupt(question), asked + 1
            about, text = (question["action_requests"][0][key] for key in ("args", "description"))
        approved = None if question is None else _is_approved(answer)
        use = await run.tool(ours, perform, answer=approved, about=about, question=text, passed=(GraphBubbleUp,))
        if not use.token:
            return result_of(use, made, name, call_id)
        if not (place.can_wait and _is_alone(request)):
            return ToolMessage(f"{use.text}\n\n{_NOBODY}", name=name, tool_call_id=call_id, status="error")
        question = _question(use, asked + 1, run.fields.get("depth", 0))


_NOBODY = "Nobody can answer this here."


def _question(use: ToolUse, number: int, depth: int) -> dict[str, Any]:
    """Return the value of the interrupt, in the form of LangChain's ``HumanInTheLoopMiddleware``."""
    name, args = use.call.name, thaw(dict(use.call.args))
    return {
        "action_requests": [{"name": name, "args": args, "description": use.reason}],
        "review_configs": [{"action_name": name, "allowed_decisions": ["approve", "reject"]}],
        _ABOUT: {"call_id": use.call.id, "number": number, "depth": depth},
    }


def _is_approved(answer: Any) -> bool:
    decisions = answer.get("decisions") if isinstance(answer, dict) else None
    if decisions:
        return len(decisions) == 1 and isinstance(decisions[0], dict) and decisions[0].get("type") == "approve"
    return answer is True


def _is_alone(request: Any) -> bool:
    """Whether the call has a task of its own. In a task of several calls, one could take the answer to another."""
    path = request.runtime.config.get("metadata", {}).get("langgraph_path") or ("",)
    if path[0] == "__pregel_push":
        return True
    messages = request.state.get("messages", ()) if isinstance(request.state, dict) else request.state
    return len(getattr(messages[-1], "tool_calls", ())) == 1 if messages else False


_SCHEMAS: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()  # by the model of a tool's arguments


def _schema(tool: Any) -> Any:
    """Return the JSON Schema of the arguments that the model gives; the same object each time."""
    model = None if tool is None else tool.args_schema
    if not isinstance(model, type):
        return model
    if model not in _SCHEMAS:
        schema = tool.tool_call_schema
        _SCHEMAS[model] = schema if isinstance(schema, dict) else schema.model_json_schema()
    return _SCHEMAS[model]


# -- graphs that exist, and those that tools start ---------------------------------------------------------------------

_PROTECTED: WeakKeyDictionary[Any, AgentHooks] = WeakKeyDictionary()  # by node, which copies of a graph share


def _own_hooks(graph: Any) -> AgentHooks | None:
    for node in graph.nodes.values():
        if (hooks := _PROTECTED.get(node)) is not None:
            return hooks
        owner = getattr(getattr(node.bound, "func", None), "__self__", None)
        if isinstance(owner, AgentHooks):  # of the middleware's node ``before_agent``
            return owner
    return None


def _hooks_for(graph: Any) -> AgentHooks | None:
    """Return the hooks of a graph, or those of the run that starts it, which are installed in it."""
    parent = current_run()
    hooks = _own_hooks(graph)
    if hooks is None and parent is not None:
        install(graph, _model, _tool_of_run)
        hooks = AgentHooks.of(parent)
    if hooks is not None:
        _name_what_is_missing(graph, hooks)
    return hooks


def _name_what_is_missing(graph: Any, hooks: AgentHooks) -> None:
    if not has_model(graph):
        name = f"The graph {graph.get_name()!r}, which create_agent did not make,"
        hooks.lacks(name, lambda event: event in _OF_MODEL)


Pregel.stream = _stream(Pregel.stream)  # type: ignore[method-assign]
Pregel.astream = _astream(Pregel.astream)  # type: ignore[method-assign]
