"""Hook sets as data: hooks, a call, and what comes of it, as the TOML files beside the tests of the engine say.

A case has steps: itself, and those in ``then``. Each may add ``hooks`` and take some away (``gone``), and is about one
``call`` (a table of fields; ``event`` names another event than a shell call, ``result`` one that was made) or answers
the suspended one (``resume``). The other keys say what is true then.

A hook has a ``name``, options of a registration, and the fields of the outcome that it gives. In place of these:
``answer`` (any value), ``pair`` (a tuple), ``raises`` ("OSError: gone"), ``waits``, ``replaces`` (fields of its
context) or ``returns`` (a method of its context and the arguments). ``about`` has other answers by command, ``again``
the one of a second call. ``match_command`` and ``match_raises`` are matches, and a ``wrapper`` gives its answer after
its yield.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pytest

from agent_hooks import HookContext, HookOutcome
from agent_hooks.errors import SuspensionError
from agent_hooks.model.values import plain
from agent_hooks.testing import make_context
from engine import messages_of, result, shell

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine import Engine

OPTIONS = frozenset(
    "event priority source mode match on_failure entry_on_failure required shadow scope timeout tryfirst trylast "
    "plugin wrapper".split()
)

STEP_KEYS = frozenset(
    "hooks gone call resume refused then policy ask outcome none nothing says lacks messages message_says findings "
    "signals shadowed calls seen first ran asked tolerated".split()
)


def check(engine: Engine, case: dict[str, Any], *, wrappers: str = "plain") -> None:
    """Do what the case says, one step after the other, and compare; ``wrappers`` are "plain" or "async" generators."""
    engine = engine.with_policy(**case["policy"]) if "policy" in case else engine
    if "ask" in case:
        engine.ask = case["ask"]
    reasons = engine.asks(case["ask"]) if isinstance(case.get("ask"), bool) else []
    calls: dict[str, list[HookContext]] = {}
    ran: list[str] = []
    token, view = "", engine.hooks
    for step in [case, *case.get("then", ())]:
        assert step.keys() <= STEP_KEYS, step.keys() - STEP_KEYS
        for hook in step.get("hooks", ()):
            calls[hook["name"]] = register(engine, ran, wrappers, **hook)
        for name in step.get("gone", ()):
            engine.manager.unregister(name=name)
        ctx = context_of(**step["call"]) if "call" in step else None
        if "refused" in step:
            with pytest.raises(SuspensionError, match=step["refused"]):
                engine.resume(token, step["resume"], ctx)
            continue
        if "resume" in step:
            answer = step["resume"]
            outcome = engine.resume(token, answer if isinstance(answer, str) else HookOutcome.from_dict(answer), ctx)
        else:
            outcome = engine.dispatch(ctx or shell(), view)
        token = str(outcome.token)
        compare(step, outcome, calls)
        assert ran == step.get("ran", ran)
        assert reasons == step.get("asked", reasons)
        assert engine.manager.tolerated == step.get("tolerated", engine.manager.tolerated)


def context_of(**fields: Any) -> HookContext:
    """Return the context of an event with these fields."""
    if "event" in fields:
        return make_context(**fields)
    return result(fields.pop("result"), **fields) if "result" in fields else shell(**fields)


def error_of(text: str) -> BaseException:
    """Return the exception of which ``text`` has the kind and the message."""
    kind, _, message = text.partition(": ")
    error = getattr(builtins, kind)(message)
    assert isinstance(error, BaseException)
    return error


def answer_of(fields: dict[str, Any]) -> Any:
    """Return the answer that the fields of a hook describe, or raise it; no fields are no opinion."""
    if "raises" in fields:
        raise error_of(fields["raises"])
    if "answer" in fields:
        return fields["answer"]
    if "pair" in fields:
        return tuple(fields["pair"])
    return HookOutcome.from_dict(fields) if fields else None


def register(engine: Engine, ran: list[str], wrappers: str, *, name: str, **fields: Any) -> list[HookContext]:
    """Register the hook and return the contexts that it gets."""
    options = {key: fields.pop(key) for key in OPTIONS & fields.keys()}
    event = options.pop("event", "before_tool_use")
    if "scope" in options:
        options["scope"] = tuple(options["scope"])
    if fields.pop("waits", False):
        engine.waits(name, event, **options)
        return []
    match_command, match_raises = fields.pop("match_command", None), fields.pop("match_raises", None)
    if match_command is not None:
        options["match"] = lambda ctx: bool(re.search(match_command, ctx.tool_call.command))
    if match_raises is not None:
        options["match"] = raising(match_raises)
    calls: list[HookContext] = []

    def note(ctx: HookContext) -> None:
        calls.append(ctx)
        ran.append(name)

    function = hook_of(note, **fields)
    if options.get("wrapper"):
        function = wrapper_of(function) if wrappers == "plain" else async_wrapper_of(function)
    function.__name__ = name
    engine.hook(event, **options)(function)
    return calls


def raising(text: str) -> Callable[[HookContext], bool]:
    def match(ctx: HookContext) -> bool:
        raise error_of(text)

    return match


def hook_of(note: Callable[[HookContext], Any], **fields: Any) -> Callable[..., Any]:
    """Return a hook that keeps its contexts and answers as the fields say."""
    about, again, replaces, returns = (fields.pop(key, None) for key in ("about", "again", "replaces", "returns"))

    def answer(ctx: HookContext) -> Any:
        note(ctx)
        if replaces is not None:
            return ctx.replace(**replaces)
        if returns is not None:
            method, *arguments = returns
            return getattr(ctx, method)(*arguments)
        if again is not None and ctx.rechecking:
            return answer_of(again)
        return answer_of(fields if about is None else about.get(ctx.tool_args["command"], fields))

    return answer


def wrapper_of(hook: Callable[..., Any]) -> Callable[..., Any]:
    def wrapper(ctx: HookContext) -> Any:
        outcome = yield
        return hook(ctx.replace(outcome=outcome))

    return wrapper


def async_wrapper_of(hook: Callable[..., Any]) -> Callable[..., Any]:
    async def wrapper(ctx: HookContext) -> Any:
        outcome = yield
        if (answer := hook(ctx.replace(outcome=outcome))) is not None:
            yield answer

    return wrapper


# -- comparing ---------------------------------------------------------------------------------------------------------


def field(value: Any, path: str) -> Any:
    """Return the field of ``value`` that the path with dots names."""
    for name in path.split("."):
        if name.removeprefix("-").isdecimal():
            value = value[int(name)]
        else:
            value = value[name] if isinstance(value, Mapping) else getattr(value, name)
    return plain(value)


def compare(step: dict[str, Any], outcome: HookOutcome, calls: dict[str, list[HookContext]]) -> None:
    """Compare all that a step says with the outcome and the calls of its hooks."""
    fields = step.get("outcome", {})
    assert {path: field(outcome, path) for path in fields} == fields
    assert [path for path in step.get("none", ()) if field(outcome, path) is not None] == []
    if step.get("nothing"):
        assert outcome == HookOutcome()
    for path, texts in step.get("says", {}).items():
        assert [text for text in texts if text not in field(outcome, path)] == []
    for path, texts in step.get("lacks", {}).items():
        assert [text for text in texts if text in field(outcome, path)] == []
    if "messages" in step:
        assert messages_of(outcome) == step["messages"]
    if "message_says" in step:
        assert len(messages_of(outcome)) == len(step["message_says"])
        for message, texts in zip(messages_of(outcome), step["message_says"], strict=True):
            assert [text for text in texts if text not in message] == []
    for name in ("findings", "signals", "shadowed"):
        rows = step.get(name)
        if isinstance(rows, int):
            assert len(getattr(outcome, name)) == rows
        elif rows is not None:
            assert len(getattr(outcome, name)) == len(rows)
            pairs = zip(getattr(outcome, name), rows, strict=True)
            assert [{key: field(each, key) for key in row} for each, row in pairs] == rows
    counts = step.get("calls", {})
    assert {name: len(calls[name]) for name in counts} == counts
    for name, seen in step.get("seen", {}).items():
        assert {path: [field(ctx, path) for ctx in calls[name]] for path in seen} == seen
    for name, first in step.get("first", {}).items():
        assert {path: field(calls[name][0], path) for path in first} == first
