"""Puts functions around the tools and the model of a graph of LangGraph that exists."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from langchain.agents.middleware import ModelResponse
from langgraph.prebuilt import ToolNode
from langgraph.pregel import Pregel

from agent_hooks.engine.calling import drive
from agent_hooks.engine.guarded_run import current_run
from agent_hooks.errors import RegistrationError

# A function of the request and the handler that sends it, as the methods ``wrap_…`` of middleware.
Guard = Callable[[Any, Any], Coroutine[Any, Any, Any]]


def install(graph: Any, model: Guard, tool: Guard) -> bool:
    """Put calls of our functions around the tools and the model of a graph, which do nothing without a run; return
    whether anything in it can be under hooks.
    """
    found = False
    for name, node in graph.nodes.items():
        bound = node.bound
        if isinstance(bound, ToolNode):
            _install_tools(bound, tool)
            found = True
        elif isinstance(bound, Pregel):
            found = True
        elif name == "model" and _cell(bound, "func", "wrap_model_call_handler") is not None:
            _install_model(bound, model)
            found = True
    return found


def has_model(graph: Any) -> bool:
    """Whether hooks are asked about the model of a graph: that of ``create_agent``, or those of all agents in it."""
    if (model := graph.nodes.get("model")) is not None and _cell(model.bound, "func", "wrap_model_call_handler"):
        return True
    bound = [node.bound for node in graph.nodes.values()]
    return not any(isinstance(each, ToolNode) or (isinstance(each, Pregel) and not has_model(each)) for each in bound)


def _install_tools(node: Any, guard: Guard) -> None:
    # Private: ToolNode takes its wrappers when it is made, and has no other way to add one.
    if not hasattr(node, "_wrap_tool_call") or not hasattr(node, "_awrap_tool_call"):
        raise RegistrationError("This release of LangGraph keeps the wrappers of a ToolNode elsewhere: use middleware.")
    theirs, atheirs = node._wrap_tool_call, node._awrap_tool_call
    if getattr(theirs, "of_agent_hooks", False):
        return

    def wrap(request: Any, handler: Any) -> Any:
        inner = _around(guard, handler)
        return inner(request) if theirs is None else theirs(request, inner)

    async def awrap(request: Any, handler: Any) -> Any:
        inner = _aaround(guard, handler)
        return await (inner(request) if atheirs is None else atheirs(request, inner))

    wrap.of_agent_hooks = True  # type: ignore[attr-defined]
    node._wrap_tool_call = wrap
    if theirs is None or atheirs is not None:  # else a sync wrapper serves both
        node._awrap_tool_call = awrap


def _install_model(bound: Any, guard: Guard) -> None:
    sync = _cell(bound, "func", "wrap_model_call_handler")
    asynchronous = _cell(bound, "afunc", "awrap_model_call_handler")
    if asynchronous is None:
        raise RegistrationError("This release of LangChain keeps the wrappers of a model elsewhere: use middleware.")
    theirs, atheirs = sync.cell_contents, asynchronous.cell_contents
    if getattr(theirs, "of_agent_hooks", False):
        return

    def wrap(request: Any, handler: Any) -> Any:
        inner = _around(guard, handler)
        return _Answer.of(inner(request)) if theirs is None else theirs(request, inner)

    async def awrap(request: Any, handler: Any) -> Any:
        inner = _aaround(guard, handler)
        return _Answer.of(await inner(request)) if atheirs is None else await atheirs(request, inner)

    wrap.of_agent_hooks = True  # type: ignore[attr-defined]
    sync.cell_contents, asynchronous.cell_contents = wrap, awrap


def _cell(bound: Any, attribute: str, name: str) -> Any:
    """Return the cell of a variable of the model's node. Private: an agent keeps its middleware nowhere else."""
    function = getattr(bound, attribute, None)
    names = getattr(getattr(function, "__code__", None), "co_freevars", ())
    return function.__closure__[names.index(name)] if function is not None and name in names else None


def _around(guard: Guard, handler: Any) -> Any:
    return lambda request: handler(request) if current_run() is None else drive(guard(request, handler))


def _aaround(guard: Guard, handler: Any) -> Any:
    return lambda request: handler(request) if current_run() is None else guard(request, handler)


class _Answer(ModelResponse):
    """A response as the model's node takes it, which since LangChain 1.1 expects commands of middleware with it."""

    commands = ()

    @classmethod
    def of(cls, response: Any) -> _Answer:
        """Return a response that is one for both."""
        return cls(response.result, response.structured_response)

    @property
    def model_response(self) -> _Answer:
        """The response."""
        return self
