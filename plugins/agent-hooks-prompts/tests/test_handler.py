"""The handler type ``prompt``: its fields, and what a verdict means in each format of files."""

from __future__ import annotations

import subprocess
import sys

import pytest
from judging import NO, YES, call

from agent_hooks import HookContext, HookEvent, HookManager, ScriptedDriver, ToolCall
from agent_hooks.formats.entry import HookEntry
from agent_hooks.handlers.registering import register_entries
from agent_hooks.handlers.types import find_type, handler_types
from agent_hooks_prompts.handler import PromptConfig, PromptHandler

pytestmark = pytest.mark.interpreter

RULE = {"prompt": "Is this harmless?"}


def asked(event="before_tool_use", reply=NO, *, form="toml", config=None, ctx=None, **fields):
    """What an entry decides whose judge gives this reply, and what is wrong with it."""

    class Agent:
        driver = ScriptedDriver(reply, reply)

    manager = HookManager(load_plugins=["prompts"])
    entry = HookEntry(
        event=HookEvent.parse(event),
        type="prompt",
        form=form,
        path="/f",
        line=3,
        config={**RULE, **(config or {})},
        **fields,
    )
    findings = register_entries(manager, "file", [entry])
    if ctx is None:
        ctx = call() if event in ("before_tool_use", "permission_request", "on_tool_error") else HookContext(event)
    return manager.hooks(ask="host").dispatch_sync(ctx.replace(event=entry.event, runtime=Agent())), findings


def decision(*args, **fields):
    outcome, findings = asked(*args, **fields)
    assert findings == []
    return str(outcome.decision)


def test_the_installed_plugin_brings_the_type():
    manager = HookManager(load_plugins=["prompts"])
    assert isinstance(find_type("prompt", handler_types(manager)), PromptHandler)


def test_importing_the_plugin_loads_nothing_of_its_own_and_a_hook_no_model_and_no_pydantic():
    program = "import sys, agent_hooks_prompts as p; print(*sys.modules); p.PromptHook('x'); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    imported, used = done.stdout.splitlines()
    assert [name for name in imported.split() if "prompts" in name] == ["agent_hooks_prompts"]
    assert {"pydantic", "pydantic_ai", "asyncio"} & set(used.split()) == set()


# -- the fields --------------------------------------------------------------------------------------------------------


def test_the_fields_have_the_names_of_both_formats():
    ours = {"prompt": "Fine?", "continue_on_block": True, "status_message": "Judging"}
    claudes = {"prompt": "Fine?", "continueOnBlock": True, "statusMessage": "Judging"}
    assert PromptConfig.model_validate(ours) == PromptConfig.model_validate(claudes)


@pytest.mark.parametrize(
    ("config", "problem"),
    [
        ({"prompt": ""}, "prompt: "),
        ({"prompt": " \n"}, "prompt: "),
        ({"prompt": 3}, "prompt: "),
        ({"timeout": 0}, "timeout: "),
        ({"timeout": "30"}, "timeout: "),
        ({"cache": "yes"}, "cache: "),
        ({"continue_on_block": "yes"}, "continue_on_block: "),
        ({"promt": "x"}, "promt: "),
        ({"preset": ""}, "preset: "),
        ({"model": "luna"}, "model: it is not said whose model 'luna' is"),
    ],
)
def test_a_wrong_field_is_named_and_the_gate_is_not_missed(config, problem):
    _, findings = asked(config=config)
    (finding,) = findings
    assert problem in finding.message
    assert (finding.blocks, finding.event, finding.line) == (True, "before_tool_use", 3)


@pytest.mark.parametrize(
    ("event", "fields"),
    [
        ("session_end", {}),
        ("notification", {}),
        ("before_tool_use", {"mode": "observe"}),
        ("permission_request", {"form": "claude", "is_gate": False}),
    ],
)
def test_a_judge_of_which_nothing_would_come_is_a_finding(event, fields):
    _, findings = asked(event, **fields)
    assert len(findings) == 1
    assert "cannot be honoured" in findings[0].message


# -- what a no means ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("form", "said", "expected"),
    [
        ("toml", {}, "deny"),
        ("skill", {}, "deny"),
        ("claude", {}, "stop"),
        ("claude", {"continueOnBlock": True}, "deny"),
        ("claude", {"continueOnBlock": False}, "stop"),
        ("toml", {"continue_on_block": False}, "stop"),
        ("skill", {"continueOnBlock": False}, "stop"),
    ],
)
@pytest.mark.parametrize("event", ["before_tool_use", "after_tool_use"])
def test_a_refused_call_ends_the_turn_in_claude_code_alone_unless_it_is_said(event, form, said, expected):
    ctx = call(result="done") if event == "after_tool_use" else None
    assert decision(event, form=form, config=said, ctx=ctx) == expected


# By Claude Code's event: what a no comes to here. Source: its documentation of prompt hooks, one row each.
CLAUDE = {
    "user_input": "deny",
    "on_stop": "force_continue",
    "after_subagent": "deny",
    "on_tool_error": "proceed",
}


@pytest.mark.parametrize("event", CLAUDE)
def test_a_no_at_claude_code_s_other_events(event):
    assert decision(event, form="claude") == CLAUDE[event]


def test_after_a_failed_tool_the_model_is_told_and_goes_on():
    outcome, _ = asked("on_tool_error", form="claude")
    assert outcome.context == "not so"


@pytest.mark.parametrize(
    "name", ["PostToolBatch", "UserPromptExpansion", "TaskCreated", "TaskCompleted", "TeammateIdle"]
)
def test_a_no_at_an_event_that_only_claude_code_has_is_a_no(name):
    ctx = HookContext("on_host_event", host_event=name, payload={"tool_name": "x"})
    assert decision("on_host_event", form="claude", host_event=name, ctx=ctx) == "deny"


@pytest.mark.parametrize("event", ["on_stop", "after_subagent"])
def test_the_impossible_may_stop(event):
    impossible = '{"ok": false, "reason": "no", "impossible": true}'
    assert decision(event, impossible, form="claude") == "proceed"
    assert decision("before_tool_use", impossible, form="toml") == "deny"


@pytest.mark.parametrize("form", ["toml", "claude", "skill"])
def test_a_yes_is_no_opinion_and_no_permission(form):
    assert decision(reply=YES, form=form) == "proceed"


def test_a_permission_can_be_refused_and_never_granted():
    ctx = HookContext("permission_request", tool_call=ToolCall("Bash"))
    assert decision("permission_request", NO, ctx=ctx) == "deny"
    assert decision("permission_request", YES, ctx=ctx) == "proceed"


# -- what a failure means ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("form", "on_failure", "expected"),
    [
        ("toml", None, "deny"),
        ("toml", "ask", "ask"),
        ("claude", None, "proceed"),
        ("claude", "closed", "deny"),
        ("skill", None, "proceed"),
        ("skill", "closed", "deny"),
    ],
)
def test_a_failure_is_what_the_format_makes_of_it(form, on_failure, expected):
    assert decision(reply="nonsense", form=form, on_failure=on_failure, source="user") == expected


@pytest.mark.parametrize("on_failure", [None, "closed"])
def test_at_a_stop_a_failure_never_sends_on(on_failure):
    assert decision("on_stop", "nonsense", form="claude", on_failure=on_failure) == "proceed"


def test_a_yes_is_asked_for_once_where_once_is_said_and_a_no_stands():
    class Agent:
        driver = ScriptedDriver(NO, YES)

    manager = HookManager(load_plugins=["prompts"])
    event = HookEvent.BEFORE_TOOL_USE
    entry = HookEntry(event=event, type="prompt", form="claude", config=RULE, once=True)
    assert register_entries(manager, "file", [entry]) == []
    outcomes = [manager.hooks().dispatch_sync(call(runtime=Agent())).decision for _ in range(3)]
    assert outcomes == ["stop", "proceed", "proceed"]
    assert len(Agent.driver.requests) == 2
