"""Rule 8: a failure becomes an outcome at its own hook: it blocks, asks or goes on, by the strictest setting."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest

from agent_hooks import AgentState, HookContext, HookManager, HookOutcome, HookPolicy, RegistrationError, hookimpl
from agent_hooks.errors import HandlerError
from agent_hooks.testing import make_context
from engine import Engine, Plugin, result, shell

pytestmark = pytest.mark.interpreter


FAILURES = {
    "exception": (ZeroDivisionError("by zero"), "ZeroDivisionError: by zero"),
    "timeout": (None, "HookTimeoutError: no answer after 0.01 s"),
    "invalid answer": (42, "it returned 42"),
    "stray cancellation": (asyncio.CancelledError("mine"), "CancelledError: mine"),
    "exit": (SystemExit(1), "SystemExit: 1"),
}
CONTEXTS = {
    "before_tool_use": shell,
    "before_step": lambda: make_context("before_step"),
    "after_tool_use": result,
    "on_tool_error": lambda: make_context("on_tool_error", tool="Bash", error_text="boom"),
    "session_start": lambda: make_context("session_start"),
}
CLOSED = {"before_tool_use": "deny", "before_step": "stop", "after_tool_use": "deny"}


@pytest.fixture(params=FAILURES)
def failure(request):
    """Each way to fail."""
    return request.param


def fails(engine: Engine, kind: str, event: str = "before_tool_use", **options: Any) -> str:
    """Register a hook called ``faulty`` that fails in this way; return what its reason will say."""
    answer, says = FAILURES[kind]
    if kind == "timeout":
        engine.waits("faulty", event, timeout=0.01, **options)
    else:
        engine.says("faulty", answer, event, **options)
    return f"The hook faulty failed: {says}"


def context(event: str) -> HookContext:
    return CONTEXTS[event]()


# -- what a failure comes to -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("event", CLOSED)
def test_closed_blocks_as_the_event_blocks_and_names_the_hook(engine, failure, event):
    reason = fails(engine, failure, event, entry_on_failure="closed", priority=1)
    after = engine.says("after", event=event)
    outcome = engine.dispatch(context(event))
    assert (outcome.decision, outcome.hook, outcome.failed) == (CLOSED[event], "faulty", True)
    assert outcome.reason.startswith(reason)
    assert after == []


@pytest.mark.parametrize("event", CONTEXTS)
def test_open_goes_on_and_leaves_a_finding(engine, failure, event):
    reason = fails(engine, failure, event, entry_on_failure="open", priority=1)
    after = engine.says("after", event=event)
    outcome = engine.dispatch(context(event))
    assert (outcome.decision, outcome.failed, len(after)) == ("proceed", False, 1)
    assert [(f.hook, f.kind) for f in outcome.findings] == [("faulty", "failure")]
    assert outcome.findings[0].message.startswith(reason)
    assert engine.manager.tolerated == {"faulty": 1}


def test_ask_asks(engine, failure):
    asked = engine.asks(True)
    reason = fails(engine, failure, on_failure="ask")
    outcome = engine.dispatch(shell())
    assert (outcome.decision, outcome.asked_by) == ("allow", ("faulty",))
    assert asked[0].startswith(reason)


# -- which setting holds -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("event", "required", "decision"),
    [
        ("before_tool_use", False, "deny"),
        ("before_step", False, "stop"),
        ("after_tool_use", False, "proceed"),
        ("after_tool_use", True, "deny"),
        ("on_tool_error", True, "proceed"),
    ],
)
def test_the_default_is_closed_where_the_event_is(engine, event, required, decision):
    fails(engine, "exception", event, required=required)
    assert engine.dispatch(context(event)).decision == decision


# -- tolerated failures are seen ---------------------------------------------------------------------------------------


def test_a_tolerated_failure_is_logged_without_the_values_of_the_event(engine, caplog):
    @engine.hook(on_failure="open")
    def leaky(tool_call):
        raise ValueError(f"cannot parse {tool_call.command}")

    with caplog.at_level(logging.DEBUG):
        engine.dispatch(shell("curl -H 'Authorization: secret'"))
    assert warnings_in(caplog) == ["The hook leaky failed on before_tool_use and was passed over: ValueError"]
    assert "secret" not in caplog.text


def warnings_in(caplog) -> list[str]:
    ours = [record for record in caplog.records if record.name == "agent_hooks"]
    assert all(record.levelno in (logging.WARNING, logging.DEBUG) for record in ours)
    return [record.getMessage() for record in ours if record.levelno == logging.WARNING]


@pytest.mark.parametrize(("setting", "effect"), [("closed", "blocks"), ("ask", "asks")])
def test_a_gate_that_fails_leaves_one_warning_and_where_it_failed_at_debug(engine, caplog, setting, effect):
    @engine.hook(on_failure=setting)
    def leaky(tool_call):
        try:
            int(tool_call.command)
        except ValueError as error:
            raise KeyError(tool_call.command) from error

    with caplog.at_level(logging.DEBUG):
        engine.dispatch(shell("rm secret", execution_id="run-1"))
    (warning,) = warnings_in(caplog)
    assert warning == f"The hook leaky failed on before_tool_use (tool Bash, run run-1) and {effect}: KeyError"
    assert all(part in caplog.text for part in ("test_rule_08_failure.py", "in leaky", "caused by ValueError"))
    assert "rm secret" not in caplog.text


def test_a_name_that_a_model_made_up_is_not_logged(engine, caplog):
    fails(engine, "exception")
    engine.dispatch(make_context("before_tool_use", tool="x\nCRITICAL all is well", args={}))
    assert warnings_in(caplog) == ["The hook faulty failed on before_tool_use and blocks: ZeroDivisionError"]


def test_an_application_that_cannot_be_asked_leaves_a_warning(engine, caplog):
    engine.says("careful", HookOutcome.ask("Sure?"))

    def ask(ctx, reason):
        raise ConnectionError(ctx.tool_call.command)

    engine.ask = ask
    assert engine.dispatch(shell("rm secret")).decision == "deny"
    (warning,) = warnings_in(caplog)
    assert (
        warning == "The application's ask failed on permission_request (tool Bash) and counts as a no: ConnectionError"
    )
    assert "secret" not in caplog.text


@pytest.mark.parametrize("setting", ["closed", "ask", "open"])
def test_advice_is_for_the_operator_and_not_for_the_acting_model(engine, caplog, setting):
    engine.says("judge", HandlerError("there is no model", "set OPENAI_API_KEY"), on_failure=setting)
    outcome = engine.dispatch(shell())
    assert "OPENAI_API_KEY" not in outcome.reason
    assert [f.message for f in outcome.findings] == [
        "The hook judge failed: HandlerError: there is no model: set OPENAI_API_KEY"
    ]
    (warning,) = warnings_in(caplog)
    assert warning.endswith("HandlerError: set OPENAI_API_KEY")


# -- mistakes, and what their messages say -----------------------------------------------------------------------------


def test_false_is_refused_because_it_could_mean_anything(engine):
    engine.says("guard", False)
    reason = engine.dispatch(shell()).reason
    assert reason == (
        "The hook guard failed: it returned False, which could mean anything: return HookOutcome.deny(reason) or None."
    )


def test_any_other_value_is_refused_with_what_may_be_returned(engine):
    engine.says("guard", ["deny"])
    reason = engine.dispatch(shell()).reason
    assert "it returned ['deny']; a hook returns None, a HookOutcome" in reason


def test_a_forgotten_await_is_named(engine):
    """And the coroutine is closed, so that Python does not warn about it somewhere else."""

    async def ask_the_service():
        return None

    async def forgets():
        return ask_the_service()

    @engine.hook()
    def guard(ctx):
        return forgets()

    assert "which nobody awaited: make the hook `async def`" in engine.dispatch(shell()).reason


@pytest.mark.parametrize(
    "change",
    [
        lambda ctx: ctx.tool_call.args.__setitem__("command", "ls"),
        lambda ctx: ctx.tool_call.args["env"].update(HOME="/"),
        lambda ctx: ctx.tool_call.args["list"].append(1),
        lambda ctx: setattr(ctx, "cwd", "/"),
        lambda ctx: setattr(ctx.tool_call, "name", "Read"),
    ],
    ids=["an argument", "a dict inside", "a list inside", "the context", "the call"],
)
def test_a_change_in_place_is_refused_with_what_to_do_instead(engine, change):
    engine.says("guard")

    @engine.hook()
    def meddles(ctx):
        change(ctx)

    ctx = make_context(tool="Bash", kind="shell", args={"command": "rm", "env": {}, "list": []})
    before = ctx.as_dict()
    outcome = engine.dispatch(ctx)
    assert (outcome.decision, outcome.hook) == ("deny", "meddles")
    assert "ReadOnlyError" in outcome.reason
    assert "return" in outcome.reason.lower()
    assert ctx.as_dict() == before


def test_a_changed_tool_name_is_refused(engine):
    @engine.hook()
    def renames(ctx):
        return ctx.replace(tool_call=ctx.tool_call.replace(name="Read"))

    assert "it changed the tool's name or id; only the arguments may change" in engine.dispatch(shell()).reason


def test_the_context_of_another_event_is_refused(engine):
    engine.says("mixes", make_context("before_step"))
    assert "it returned the context of another event" in engine.dispatch(shell()).reason


def test_a_hook_that_takes_what_is_not_offered_is_refused_at_registration(engine):
    with pytest.raises(RegistrationError, match=r"guard.*takes 'tool'.*Its arguments are ctx, tool_call"):

        @engine.hook()
        def guard(tool):
            return None


def test_a_state_that_was_returned_bare_is_explained(engine):
    engine.says("guard", AgentState())
    assert "return HookOutcome.with_state(state)" in engine.dispatch(shell()).reason


# -- the default of a format -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", ["project", "user"])
@pytest.mark.parametrize(
    ("said", "policy", "decision"),
    [({}, {}, "proceed"), ({"on_failure": "closed"}, {}, "deny"), ({}, {"on_gate_failure": "closed"}, "deny")],
)
def test_a_format_has_a_default_of_its_own_and_anybody_may_be_stricter(source, said, policy, decision):
    manager = HookManager(load_plugins=False, policy=HookPolicy(**policy))

    def fails():
        raise OSError("disk")

    plugin = Plugin(before_tool_use=hookimpl(mode="gate", **said)(fails))
    manager.register(plugin, "file", source=source, default_on_failure="open")
    assert manager.hooks().dispatch_sync(shell()).decision == decision
