"""What adapters share: hooks that do not fit a framework, kinds of tools, and the agents that a tool starts."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from conformance import managed

from agent_hooks import (
    AgentBuilder,
    HookOutcome,
    HookRegistration,
    RegistrationError,
    ScriptedDriver,
    SubagentDeniedError,
    ToolCall,
)
from agent_hooks_frameworks.framework import RUN_EVENTS, AdapterWarning, Framework, FrameworkHooks


class Tools(FrameworkHooks):
    """A framework that has nothing but tools, and a shell of its own."""

    framework = Framework(
        name="Tools",
        distribution="tools",
        extra="tools",
        events=frozenset({"before_tool_use", "after_tool_use"}),
        tools={"terminal": "shell"},
    )


class Whole(FrameworkHooks):
    framework = Framework(name="Whole", distribution="whole", extra="whole", events=RUN_EVENTS)


def refuse(ctx: Any) -> HookOutcome:
    return HookOutcome.deny("no")


def test_a_gate_on_an_event_that_the_framework_lacks_is_named_when_it_is_installed():
    with pytest.warns(AdapterWarning, match="Tools has no before_output: the hook refuse of refuse is never asked"):
        Tools(managed(HookRegistration("before_output", refuse)))


def test_an_observer_of_such_an_event_is_no_problem():
    Tools(managed(HookRegistration("before_output", refuse, mode="observe")))


def test_a_required_hook_on_such_an_event_is_refused():
    with pytest.raises(RegistrationError, match="It is required"):
        Tools(managed(HookRegistration("before_output", refuse, required=True)))


def test_a_hook_that_is_registered_later_is_named_at_the_next_run():
    manager = managed()
    hooks = Tools(manager)
    manager.add(HookRegistration("before_output", refuse))
    with pytest.warns(AdapterWarning, match="before_output"):
        hooks.begin()


@pytest.mark.parametrize(
    ("options", "remedy"),
    [
        ({"manager": object()}, "manager= is a HookManager, as load.* returns it, not object"),
        ({"manager": managed(), "ask": "hots"}, "ask='hots': use 'host', None or a function"),
        ({"manager": managed(), "kinds": {"run": "shel"}}, "a kind is one of shell"),
    ],
)
def test_a_wrong_argument_is_named_with_the_remedy(options: Any, remedy: str):
    with pytest.raises(RegistrationError, match=remedy):
        Tools(**options)


def test_the_frameworks_own_tools_have_their_kinds_unless_the_application_says_otherwise():
    assert Tools(managed()).call("terminal", {"command": "ls"}).command == "ls"
    assert Tools(managed(), kinds={"terminal": "other"}).call("terminal", {"command": "ls"}).kind == "other"


def test_a_tool_that_the_application_calls_other_may_be_a_shell_of_an_inner_agent():
    inner = Tools.of(Tools(managed(), kinds={"terminal": "other", "perform": "shell"}).begin())
    assert [inner.call(name, {"command": "ls"}).kind for name in ("terminal", "perform")] == ["shell", "shell"]


def test_tools_of_one_name_have_the_kind_that_the_parameters_of_each_tell():
    schemas = [{"type": "object", "properties": {name: {"type": "string"}}} for name in ("command", "city")]
    tools = Tools(managed())
    assert [tools.call("run", {}, schema=schema).kind for schema in (*schemas, schemas[0])] == [
        "shell",
        "other",
        "shell",
    ]
    assert tools.call("run", {}).kind == "shell"


def test_a_run_has_the_working_directory_and_the_frameworks_name():
    run = Whole(managed()).begin(agent_name="root")
    assert (run.fields["cwd"], run.fields["host"]) == (str(Path.cwd()), "Whole")


def test_a_run_that_a_tool_starts_is_under_the_gates_of_both():
    def own(ctx: Any) -> HookOutcome | None:
        return HookOutcome.deny("of the child") if ctx.tool_name == "own" else None

    def root(ctx: Any) -> HookOutcome | None:
        return HookOutcome.deny(f"of the root, at depth {ctx.depth}") if ctx.tool_name == "other" else None

    parent = Whole(managed(HookRegistration("before_tool_use", root))).begin(agent_name="root")
    reasons: list[str] = []

    async def start(call: ToolCall) -> None:
        child = Whole(managed(HookRegistration("before_tool_use", own))).begin(agent_name="child")
        assert child.fields["session_id"] == parent.fields["session_id"]
        await child.start("tidy")
        reasons.extend([(await child.tool(ToolCall(name, {}), lambda call: "")).reason for name in ("own", "other")])

    asyncio.run(parent.tool(ToolCall("helper", {"task": "tidy"}), start))
    assert reasons == ["of the child", "of the root, at depth 1"]


def test_an_agent_of_a_framework_in_a_tool_of_the_runtime_is_under_the_gates_of_its_run():
    def root(ctx: Any) -> HookOutcome | None:
        return HookOutcome.deny(f"at depth {ctx.depth}") if ctx.tool_name == "other" else None

    reasons: list[str] = []

    async def helper() -> str:
        child = Whole(managed()).begin(agent_name="child")
        await child.start("tidy")
        reasons.append((await child.tool(ToolCall("other", {}), lambda call: "")).reason)
        return "done"

    builder = AgentBuilder(plugins=()).with_driver(ScriptedDriver(ToolCall("helper", {}), "done"))
    builder.with_tools(helper).before_tool_use(root).build().run_sync("Go.")
    assert reasons == ["at depth 1"]


def test_a_subagent_is_denied_and_its_result_withheld():
    parent = Whole(managed(HookRegistration("before_subagent", lambda name: HookOutcome.deny(f"no {name}")))).begin()
    child = Whole(managed()).begin(parent=parent, agent_name="helper")
    with pytest.raises(SubagentDeniedError, match="Denied: no helper"):
        asyncio.run(child.start("tidy"))
    parent = Whole(
        managed(HookRegistration("after_subagent", lambda result: HookOutcome.deny(f"not {result}")))
    ).begin()
    child = Whole(managed()).begin(parent=parent, agent_name="helper")
    asyncio.run(child.start("tidy"))
    with pytest.raises(SubagentDeniedError, match="Result withheld: not tidied"):
        asyncio.run(child.end("tidied"))
