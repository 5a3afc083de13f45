"""Runs of an agent as data: replies of its model, hooks, and what is true in the end, as the TOML files here say.

A case has ``replies`` (a text, a call ``{call, args, id}``, a list of calls, ``{content, calls, tokens, model}``,
``{raises}`` or ``{stops}``), ``hooks``, and what the run is made of: ``prompt``, ``state``, ``policy``, ``limit`` of
steps, ``without`` default hooks, ``parallel`` ("both" runs it both ways) and a ``child`` that the tool ``spawn``
starts, with ``replies`` and ``hooks`` of its own.

A hook has an ``event``, options of a registration, and the fields of its outcome, or ``answer`` (any value),
``raises``, ``sets`` (fields of the state), ``requests`` (fields of the request) or ``responds`` (a reply). It answers
``times`` times, and only ``at`` a step, ``from`` a step on, about a ``text`` or
a ``command``, or at a ``depth``.

``gives`` compares by the names of ``FACTS`` or by paths in the state; ``told``, ``asked``, ``seen`` and ``child_is`` by
paths: in the requests, in the contexts of a hook, in those that observers have seen of an event, and in the child's
state. A name with an index (``"on_stop.0"``) is one of them, a name alone the list of all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from agent_hooks import AgentState, HookOutcome, StopRunError
from agent_hooks.errors import PromptRefusedError
from agent_hooks.model.inference import ModelResponse
from agent_hooks.model.state import Usage
from agent_hooks.model.tool_call import ToolCall
from agent_hooks.model.values import plain
from hook_sets import answer_of, error_of, field
from runtime.agents import Trial, assert_well_formed, child, parent, requests_of, results, said

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

KEYS = frozenset(
    "replies hooks prompt state policy limit without parallel child refused gives none says nowhere calls told asked "
    "seen child_is child_requests".split()
)
FACTS: dict[str, Callable[[Trial, AgentState], Any]] = {
    "said": lambda _, state: said(state.messages),
    "texts": lambda _, state: [message.content for message in state.messages],
    "results": lambda _, state: results(state),
    "tokens": lambda _, state: state.usage.total,
    "signals": lambda _, state: [str(signal.reason) for signal in state.stop_signals],
    "requests": lambda trial, _: len(trial.requests),
    "read": lambda trial, _: [[message.content for message in request.messages] for request in trial.requests],
    "events": lambda trial, _: " ".join(trial.events),
}


def check(case: dict[str, Any], **more: Any) -> None:
    """Run what the case says, and compare; ``more`` are further keys of it."""
    case = {**case, **more}
    assert case.keys() <= KEYS, case.keys() - KEYS
    for parallel in (False, True) if case.get("parallel") == "both" else (case.get("parallel", False),):
        check_once(case, parallel)


def check_once(case: dict[str, Any], parallel: bool) -> None:
    replies, policy = map(reply_of, case["replies"]), case.get("policy", {})
    states: list[AgentState] = []
    hooks: dict[str, Hook] = {}
    if "child" in case:
        own: dict[str, Any] = {hook["event"]: Hook(**hook) for hook in case["child"].get("hooks", ())}
        inner = child(*map(reply_of, case["child"]["replies"]), **own)
        trial, states = parent(inner, *replies, **case["child"].get("options", {}))
    else:
        trial = Trial(*replies, **policy)
    trial.builder = trial.builder.with_parallel_tools(parallel)
    if "limit" in case:
        trial.builder = trial.builder.with_limits(max_steps=case["limit"])
    trial.builder = trial.builder.without_default(*case.get("without", ()))
    for fields in case.get("hooks", ()):
        hook = Hook(**fields)
        name = hook.options.setdefault("name", f"{hook.event} hook")
        hooks[name] = hook
        trial.builder = trial.builder.hook(hook.event, hook, **hook.options)
    before = AgentState.from_dict(case["state"]) if "state" in case else None
    prompt = case.get("prompt", None if before is not None else "go")
    if "refused" in case:
        with pytest.raises(PromptRefusedError, match=case["refused"]):
            trial.build().run_sync(prompt, before)
        state = before or AgentState()
    else:
        state = trial.build().run_sync(prompt, before)
        assert_well_formed(state.messages)
    compare(case, trial, state)
    compare_paths(case.get("told", {}), lambda _: trial.requests)
    compare_paths(case.get("asked", {}), lambda name: hooks[name].calls)
    compare_paths(case.get("seen", {}), trial.seen)
    compare_paths({"child.0": case["child_is"]} if "child_is" in case else {}, lambda _: states)
    counts = case.get("calls", {})
    assert {name: len(hooks[name].calls) for name in counts} == counts
    if "child_requests" in case:
        assert len(requests_of(inner)) == case["child_requests"]


def reply_of(reply: Any) -> Any:
    """Return a reply of the scripted model."""
    if isinstance(reply, list):
        return [reply_of(each) for each in reply]
    if not isinstance(reply, dict):
        return reply
    if "call" in reply:
        name = reply["call"]
        return ToolCall(name, reply.get("args", {"text": "a"} if name == "echo" else {}), id=reply.get("id", ""))
    if "stops" in reply:
        return StopRunError(reply["stops"], **reply.get("about", {}))
    if "raises" in reply:
        return error_of(reply["raises"])
    fields = {key: value for key, value in reply.items() if key not in ("calls", "tokens")}
    usage = Usage(input_tokens=reply.get("tokens", 0))
    return ModelResponse(**fields, tool_calls=tuple(map(reply_of, reply.get("calls", ()))), usage=usage)


class Hook:
    """A hook that answers as its fields say, and keeps its contexts."""

    OPTIONS = frozenset("name priority match mode required source scope on_failure".split())

    def __init__(self, *, event: str, times: int | None = None, **fields: Any) -> None:
        self.event = event
        self.times = times
        self.options = {key: fields.pop(key) for key in self.OPTIONS & fields.keys()}
        self.when = {key: fields.pop(key) for key in ("at", "from", "text", "command", "depth") if key in fields}
        self.fields = fields
        self.calls: list[Any] = []

    def execute(self, ctx: Any) -> Any:
        self.calls.append(ctx)
        if self.times == 0 or not self.is_about(ctx):
            return None
        self.times = None if self.times is None else self.times - 1
        return self.answer(ctx)

    def is_about(self, ctx: Any) -> bool:
        asked = {
            "at": lambda wanted: ctx.step_index == wanted,
            "from": lambda wanted: ctx.step_index >= wanted,
            "text": lambda wanted: ctx.tool_args.get("text") == wanted,
            "command": lambda wanted: ctx.tool_args.get("command") == wanted,
            "depth": lambda wanted: ctx.depth == wanted,
        }
        return all(asked[key](wanted) for key, wanted in self.when.items())

    def answer(self, ctx: Any) -> Any:
        match self.fields:
            case {"sets": fields}:
                return HookOutcome.with_state(AgentState.from_dict({**ctx.state.as_dict(), **fields}))
            case {"requests": fields}:
                return HookOutcome.update(request=ctx.request.replace(**fields))
            case {"responds": reply}:
                return HookOutcome.update(response=ModelResponse.of(reply_of(reply)))
        return answer_of(self.fields)


# -- comparing ---------------------------------------------------------------------------------------------------------


def fact(trial: Trial, state: AgentState, name: str) -> Any:
    first, _, path = name.partition(".")
    if first not in FACTS:
        return field(state, name)
    found = FACTS[first](trial, state)
    return field(found, path) if path else plain(found)


def compare(case: dict[str, Any], trial: Trial, state: AgentState) -> None:
    gives = case.get("gives", {})
    assert {name: fact(trial, state, name) for name in gives} == gives
    assert [name for name in case.get("none", ()) if fact(trial, state, name) is not None] == []
    for name, text in case.get("says", {}).items():
        assert text in fact(trial, state, name)
    if "nowhere" in case:
        assert case["nowhere"] not in str(state) + str(trial.requests[1:])


def compare_paths(expected: dict[str, dict[str, Any]], values_of: Callable[[str], Sequence[Any]]) -> None:
    """Compare what the paths lead to, in one of the values or in each of them."""
    for key, paths in expected.items():
        name, _, index = key.partition(".")
        values = values_of(name)
        if index:
            found = {path: field(values[int(index)], path) for path in paths}
        else:
            found = {path: [field(value, path) for value in values] for path in paths}
        assert found == paths
