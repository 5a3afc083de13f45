"""Agents of the runtime as tools of pydantic-ai."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

pytest.importorskip("pydantic_ai")
pytestmark = pytest.mark.frameworks

from conformance import DELETE, LIST, Shell, asks_rm, denies_rm, managed, on  # noqa: E402
from hosting import Call  # noqa: E402
from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults  # noqa: E402
from pydantic_ai.messages import ModelMessagesTypeAdapter  # noqa: E402
from pydantic_ai_host import Scripted  # noqa: E402
from runtime_agents import helper  # noqa: E402

from agent_hooks import HookOutcome, ToolCall, protect  # noqa: E402
from agent_hooks_frameworks.agents_as_tools import pydantic_ai_tool  # noqa: E402

ASK = Call("helper", {"task": "tidy"}, "call-1")


def outer(seen, agent, script, *hooks):
    made = Agent(Scripted(script, seen).model, tools=[pydantic_ai_tool(agent)], output_type=[str, DeferredToolRequests])
    return protect(made, managed(*hooks)) if hooks else made


def test_the_agent_works_under_hooks_of_its_own():
    shell, seen = Shell(), list[str]()
    agent = helper(shell, [ToolCall("shell", DELETE), ToolCall("shell", LIST)], "Tidy now.", hook=denies_rm)
    result = asyncio.run(outer(seen, agent, [ASK, "done"]).run("Go."))
    assert (result.output, shell.commands) == ("done", ["ls"])
    assert "Tidy now." in seen[1]


def test_the_hooks_of_the_run_hold_in_the_agent():
    shell, seen, heard = Shell(), list[str](), list[Any]()

    def gate(ctx):
        heard.append((ctx.tool_name, ctx.depth, ctx.session_id))
        return denies_rm(ctx) if ctx.tool_name == "shell" else None

    names = ("before_subagent", "after_subagent")
    observers = [on(name, lambda ctx: heard.append((str(ctx.event), ctx.name)), mode="observe") for name in names]
    agent = helper(shell, ToolCall("shell", DELETE), "I may not.")
    made = outer(seen, agent, [ASK, "done"], on("before_tool_use", gate), *observers)
    asyncio.run(made.run("Go."))
    assert shell.commands == []
    session = heard[0][2]
    assert heard == [
        ("helper", 0, session),
        ("before_subagent", "helper"),
        ("shell", 1, session),
        ("after_subagent", "helper"),
    ]


@pytest.mark.parametrize("event", ["before_subagent", "after_subagent"])
def test_the_agent_is_denied(event):
    seen: list[str] = []
    hook = on(event, lambda ctx: HookOutcome.deny("no helpers"))
    asyncio.run(outer(seen, helper(Shell(), "Tidy."), [ASK, "done"], hook).run("Go."))
    assert "no helpers" in seen[1]
    assert "Tidy." not in seen[1]


def test_a_failure_of_the_agent_is_told_to_the_model():
    seen: list[str] = []
    result = asyncio.run(outer(seen, helper(Shell(), ConnectionError("no line")), [ASK, "done"]).run("Go."))
    assert "'helper' failed: no line" in seen[1]
    assert result.output == "done"


@pytest.mark.parametrize("is_outer", [False, True], ids=["own", "of the run"])
@pytest.mark.parametrize("answer", [True, False])
def test_a_question_about_a_call_of_the_agent_ends_the_run_until_it_is_answered(is_outer, answer):
    shell, seen = Shell(), list[str]()

    def gate(ctx):
        return asks_rm(ctx) if ctx.tool_name == "shell" else None

    def made(replies, script):
        agent = helper(shell, *replies, hook=None if is_outer else gate)
        return outer(seen, agent, script, *([on("before_tool_use", gate)] if is_outer else []))

    result = asyncio.run(made([ToolCall("shell", DELETE, id="c")], [ASK]).run("Go."))
    assert isinstance(result.output, DeferredToolRequests)
    assert result.output.metadata["call-1"]["reason"] == "really?"
    kept = json.loads(json.dumps(result.output.metadata))
    history = ModelMessagesTypeAdapter.validate_json(result.all_messages_json())
    results = DeferredToolResults(approvals={"call-1": answer}, metadata=kept)
    again = made(["Tidy now."], ["done"]).run(message_history=history, deferred_tool_results=results)
    assert asyncio.run(again).output == "done"
    assert shell.commands == (["rm -rf build"] if answer else [])
    assert ("Tidy now." in seen[-1]) is answer
