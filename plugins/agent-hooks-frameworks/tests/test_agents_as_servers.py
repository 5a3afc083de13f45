"""Agents of the runtime as servers of the Model Context Protocol."""

from __future__ import annotations

import pytest

pytest.importorskip("fastmcp")
pytestmark = pytest.mark.frameworks

from conformance import DELETE, LIST, Shell, asks_rm, denies_rm, managed, on  # noqa: E402
from fastmcp.client.elicitation import ElicitResult  # noqa: E402
from runtime_agents import helper  # noqa: E402
from test_fastmcp import ERAS, called, text_of  # noqa: E402

from agent_hooks import ToolCall, protect  # noqa: E402
from agent_hooks_frameworks.agents_as_tools import mcp_server  # noqa: E402

ASK = ("helper", {"task": "tidy"})


def test_the_agent_works_under_hooks_of_its_own():
    shell = Shell()
    agent = helper(shell, [ToolCall("shell", DELETE), ToolCall("shell", LIST)], "Tidy now.", hook=denies_rm)
    (result,) = called(mcp_server(agent), ASK)
    assert (text_of(result), shell.commands) == ("Tidy now.", ["ls"])


def test_hooks_of_the_server_hold_in_the_agent():
    shell, depths = Shell(), []

    def gate(ctx):
        depths.append((ctx.tool_name, ctx.depth))
        return denies_rm(ctx) if ctx.tool_name == "shell" else None

    agent = helper(shell, ToolCall("shell", DELETE), "I may not.")
    (result,) = called(protect(mcp_server(agent), managed(on("before_tool_use", gate))), ASK)
    assert (text_of(result), shell.commands) == ("I may not.", [])
    assert depths == [("helper", 0), ("shell", 1)]


def test_a_failure_of_the_agent_is_an_error_of_the_call():
    (result,) = called(mcp_server(helper(Shell(), ConnectionError("no line"))), ASK)
    assert (result.is_error, text_of(result)) == (True, "Subagent 'helper' failed: no line")


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("is_outer", [False, True], ids=["own", "of the server"])
@pytest.mark.parametrize("answer", [True, False, None])
def test_the_user_of_the_client_is_asked_about_calls_of_the_agent(era, is_outer, answer):
    shell, asked = Shell(), []

    def gate(ctx):
        return asks_rm(ctx) if ctx.tool_name == "shell" else None

    async def person(message, *_):
        asked.append(message)
        return ElicitResult(action="accept", content={"allow": answer})

    server = mcp_server(helper(shell, ToolCall("shell", DELETE), "Done.", hook=None if is_outer else gate))
    if is_outer:
        protect(server, managed(on("before_tool_use", gate)))
    options = {} if answer is None else {"elicitation_handler": person}  # a client without elicitation
    (result,) = called(server, ASK, mode=era, **options)
    assert text_of(result) == "Done."
    assert shell.commands == (["rm -rf build"] if answer else [])
    assert asked == ([] if answer is None else ["really?"])
