"""Hooks in servers of FastMCP."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("fastmcp")
pytestmark = pytest.mark.frameworks

import mcp_types  # noqa: E402
import uvicorn  # noqa: E402
from conformance import DELETE, LIST, TESTS, Conformance, Shell, asks_rm, denies_rm, managed, on  # noqa: E402
from fastmcp import Client, FastMCP  # noqa: E402
from fastmcp.apps import FastMCPApp  # noqa: E402
from fastmcp.client.elicitation import ElicitResult  # noqa: E402
from fastmcp.client.transports import PythonStdioTransport  # noqa: E402
from fastmcp.server.middleware.caching import ResponseCachingMiddleware  # noqa: E402
from fastmcp.server.middleware.tool_injection import ToolInjectionMiddleware  # noqa: E402
from fastmcp.server.providers.addressing import hashed_backend_name  # noqa: E402
from fastmcp.tools.base import Tool, ToolResult  # noqa: E402
from fastmcp_host import FastMCPHost  # noqa: E402
from mcp.shared.exceptions import MCPError  # noqa: E402
from mcp_types import ElicitRequest, ElicitRequestFormParams, ImageContent, InputRequiredResult  # noqa: E402

from agent_hooks import HookOutcome, RegistrationError, protect  # noqa: E402
from agent_hooks_frameworks.fastmcp import AgentHooks  # noqa: E402

if TYPE_CHECKING:
    from pathlib import Path

ERAS = ["auto", "legacy"]  # a question is a result of the call, or put to the client during it


class TestFastMCP(Conformance):
    host = FastMCPHost()


def served(shell, *hooks, **options):
    server = FastMCP("files", **options)
    server.tool(shell.tool())
    return protect(server, managed(*hooks))


def called(server, *calls, raise_on_error=False, **options):
    """Return the results of calls in one session."""

    async def run():
        async with Client(server, **options) as client:
            return [await client.call_tool(*each, raise_on_error=raise_on_error) for each in calls]

    return asyncio.run(run())


def text_of(result):
    return "\n".join(block.text for block in result.content)


# -- questions ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    ("answer", "commands"),
    [
        (ElicitResult(action="accept", content={"allow": True}), ["rm -rf build"]),
        (ElicitResult(action="accept", content={"allow": False}), []),
        (ElicitResult(action="decline"), []),
        (ElicitResult(action="cancel"), []),
    ],
    ids=["allow", "not", "decline", "cancel"],
)
def test_the_user_of_the_client_is_asked(era, answer, commands):
    shell, asked = Shell(), []

    async def person(message, *_):
        asked.append(message)
        return answer

    server = served(shell, on("before_tool_use", asks_rm))
    (result,) = called(server, ("shell", DELETE), mode=era, elicitation_handler=person)
    assert shell.commands == commands
    assert asked == ["really?"]
    assert result.is_error is not bool(commands)


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("outcome", [HookOutcome.ask("really?"), HookOutcome.suspend("needs a ticket")], ids=str)
def test_a_client_that_cannot_ask_reads_a_denial(era, outcome):
    shell = Shell()
    (result,) = called(served(shell, on("before_tool_use", lambda ctx: outcome)), ("shell", LIST), mode=era)
    assert (shell.commands, result.is_error) == ([], True)
    assert outcome.reason in text_of(result)
    assert "nobody" in text_of(result).lower()


def test_an_answer_does_not_hold_for_other_arguments_or_without_a_question():
    shell = Shell()
    server = served(shell, on("before_tool_use", lambda ctx: HookOutcome.ask("really?")))
    yes = {"agent_hooks": mcp_types.ElicitResult(action="accept", content={"allow": True})}

    async def unused(*_):
        raise AssertionError

    async def run():
        async with Client(server, elicitation_handler=unused) as client:
            call = client.session.call_tool
            asked = await call("shell", LIST, allow_input_required=True)
            forged = await call("shell", DELETE, input_responses=yes, allow_input_required=True)
            with pytest.raises(MCPError):
                await call("shell", DELETE, input_responses=yes, request_state=asked.request_state)
            return forged

    assert asyncio.run(run()).result_type == "input_required"
    assert shell.commands == []


def test_a_question_of_the_tool_itself_reaches_the_client_and_is_not_judged_as_its_result():
    heard: list[Any] = []
    server = FastMCP("files")

    @server.tool
    def book(day: str):
        form = ElicitRequestFormParams(message="Which hour?", requested_schema={"type": "object", "properties": {}})
        return InputRequiredResult(input_requests={"hour": ElicitRequest(params=form)}, request_state="s")

    protect(server, managed(on("after_tool_use", heard.append)))

    async def run():
        async with Client(server) as client:
            return await client.session.call_tool("book", {"day": "Monday"}, allow_input_required=True)

    assert list(asyncio.run(run()).input_requests) == ["hour"]
    assert heard == []


# -- sessions ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("era", ERAS)
def test_after_a_stop_all_calls_of_the_session_are_refused(era):
    shell = Shell()
    stop = on("before_tool_use", lambda ctx: HookOutcome.stop("enough") if "rm" in ctx.tool_args["command"] else None)
    results = called(served(shell, stop), ("shell", LIST), ("shell", DELETE), ("shell", LIST), mode=era)
    assert [each.is_error for each in results] == [False, True, True]
    assert shell.commands == ["ls"]


def test_clients_have_sessions_of_their_own_where_the_protocol_has_sessions():
    seen: list[Any] = []
    server = served(Shell(), on("before_tool_use", seen.append, mode="observe"))
    for era in ("legacy", "legacy", "auto", "auto"):
        called(server, ("shell", LIST), ("shell", LIST), mode=era)
    sessions = [ctx.session_id for ctx in seen]
    assert [len(set(sessions[at : at + 2])) for at in (0, 2, 4, 6)] == [1, 1, 1, 1]
    assert len(set(sessions)) == 3  # the newest has none, so the process stands for its client
    assert len({ctx.tool_call.id for ctx in seen}) == len(seen)
    assert {(ctx.host, ctx.agent_name) for ctx in seen} == {("FastMCP", "files")}


def test_a_call_within_the_process_is_judged():
    shell = Shell()
    result = asyncio.run(served(shell, on("before_tool_use", denies_rm)).call_tool("shell", DELETE))
    assert (result.is_error, shell.commands) == (True, [])


def test_names_that_a_client_makes_up_are_not_remembered():
    hooks = AgentHooks(managed(on("before_tool_use", lambda ctx: None)))
    results = called(FastMCP("files", middleware=[hooks]), ("nothing", {}), ("nowhere", {}))
    assert [text_of(each) for each in results] == ["Unknown tool: 'nothing'", "Unknown tool: 'nowhere'"]
    assert hooks._tools == {}


def test_a_tool_that_an_app_calls_by_its_digest_is_judged_by_its_name():
    shell = Shell()
    app = FastMCPApp("app")
    app.tool(shell.tool())
    server = FastMCP("files", providers=[app])
    protect(server, managed(on("before_tool_use", denies_rm, match="Bash")))
    name = hashed_backend_name("app", "shell")
    refused, made = called(server, (name, DELETE), (name, LIST))
    assert (text_of(refused), text_of(made), shell.commands) == ("Denied: not here", "ran ls", ["ls"])


def test_a_way_to_a_tool_that_the_middleware_does_not_know_is_closed(monkeypatch):
    shell = Shell()
    app = FastMCPApp("app")
    app.tool(shell.tool())
    server = protect(FastMCP("files", providers=[app]), managed(on("before_tool_use", denies_rm, match="Bash")))
    monkeypatch.setattr("agent_hooks_frameworks.fastmcp.parse_hashed_backend_name", lambda name: None)
    (result,) = called(server, (hashed_backend_name("app", "shell"), LIST))
    assert (text_of(result).split(":")[0], shell.commands) == ("Unknown tool", [])


@asynccontextmanager
async def over_http(server):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        web = uvicorn.Server(uvicorn.Config(server.http_app(), log_level="error", ws="none"))
        task = asyncio.create_task(web.serve(sockets=[listener]))
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
        finally:
            web.should_exit = True
            await task


@pytest.mark.parametrize("era", ERAS)
def test_over_http_a_call_is_judged_and_its_user_asked(era):
    shell, sessions = Shell(), []

    def gate(ctx):
        sessions.append(ctx.session_id)
        return asks_rm(ctx)

    server = served(shell, on("before_tool_use", gate))

    async def person(message, *_):
        return ElicitResult(action="accept", content={"allow": True})

    async def run():
        async with over_http(server) as url, Client(url, mode=era, elicitation_handler=person) as client:
            for args in (DELETE, LIST):
                await client.call_tool("shell", args)

    asyncio.run(run())
    assert shell.commands == ["rm -rf build", "ls"]
    assert (len(set(sessions)) == 1) is (era == "legacy")


# -- results -----------------------------------------------------------------------------------------------------------


def measured(**options):
    server = FastMCP("numbers", **options)

    @server.tool
    def measure(n: int) -> dict[str, int]:
        return {"n": n}

    @server.tool
    def count(n: int) -> list[int]:
        return list(range(n))

    @server.tool
    def draw() -> ToolResult:
        return ToolResult(ImageContent(type="image", data="aGk=", mime_type="image/png"), {"title": "s3cret"})

    return server


CALLS = [("measure", {"n": 1}), ("count", {"n": 2}), ("draw", {})]


def test_hooks_see_the_value_behind_a_result():
    seen: list[Any] = []
    server = protect(measured(), managed(on("after_tool_use", lambda ctx: seen.append(ctx.result))))
    results = called(server, *CALLS)
    image = {"type": "image", "data": "aGk=", "mime_type": "image/png"}
    assert seen == [{"n": 1}, [0, 1], {"content": [image], "structured_content": {"title": "s3cret"}}]
    assert [each.structured_content for each in results] == [{"n": 1}, {"result": [0, 1]}, {"title": "s3cret"}]


def test_a_replaced_result_has_the_structure_that_the_tool_declares():
    def hidden(ctx):
        if ctx.tool_name == "draw":
            changed: Any = {**ctx.result, "structured_content": {"title": "[hidden]"}}
        else:
            changed = {"n": 0} if ctx.tool_name == "measure" else [7]
        return HookOutcome.update(result=changed, context="beware")

    results = called(protect(measured(), managed(on("after_tool_use", hidden))), *CALLS, raise_on_error=True)
    assert [each.structured_content for each in results] == [{"n": 0}, {"result": [7]}, {"title": "[hidden]"}]
    assert all(each.content[-1].text.endswith("beware") for each in results)
    assert results[1].data == [7]


def test_a_replaced_result_that_does_not_fit_the_tools_structure_is_an_error():
    hook = on("after_tool_use", lambda ctx: HookOutcome.update(result="[hidden]"))
    results = called(protect(measured(), managed(hook)), *CALLS[:2])
    assert [(each.is_error, text_of(each)) for each in results] == [(True, "[hidden]")] * 2


def test_the_server_words_errors_that_hooks_leave():
    hook = on("on_tool_error", lambda ctx: None)
    for masked, expected in ((False, "Error calling tool 'shell': no such file"), (True, "Error calling tool 'shell'")):
        server = served(Shell(), hook, mask_error_details=masked)
        (result,) = called(server, ("shell", {"command": "fail"}))
        assert text_of(result) == expected


# -- resources ---------------------------------------------------------------------------------------------------------


def read(server, uri):
    async def run():
        async with Client(server) as client:
            return [each.text for each in await client.read_resource(uri)]

    return asyncio.run(run())


def library(*hooks):
    server = FastMCP("library")

    @server.resource("file:///{name*}")
    def text(name: str) -> str:
        return f"the text of {name}"

    return protect(server, managed(*hooks))


def test_reading_a_resource_is_a_read_of_its_address():
    seen: list[Any] = []

    def gate(ctx):
        seen.append((ctx.tool_call.kind, ctx.tool_call.paths))
        return HookOutcome.deny("keys are there") if ".ssh" in ctx.tool_args["uri"] else None

    server = library(on("before_tool_use", gate, match="Read"))
    assert read(server, "file:///notes.md") == ["the text of notes.md"]
    with pytest.raises(MCPError, match="keys are there"):
        read(server, "file:///home/.ssh/id_rsa")
    assert seen == [("read", ("/notes.md",)), ("read", ("/home/.ssh/id_rsa",))]


def test_the_text_of_a_resource_is_replaced_or_withheld_and_has_context():
    replace = on("after_tool_use", lambda ctx: HookOutcome.update(result="[hidden]"))
    assert read(library(replace), "file:///a") == ["[hidden]"]
    context = on("after_tool_use", lambda ctx: HookOutcome.update(context="beware"))
    assert read(library(context), "file:///a") == ["the text of a", "beware"]
    with pytest.raises(MCPError, match="a secret"):
        read(library(on("after_tool_use", lambda ctx: HookOutcome.deny("a secret"))), "file:///a")


# -- servers -----------------------------------------------------------------------------------------------------------


def test_middleware_that_answers_calls_itself_does_so_under_hooks():
    injected, cached = Shell(), Shell()
    tools = [Tool.from_function(injected.tool(), name="injected")]
    server = FastMCP("files", middleware=[ToolInjectionMiddleware(tools), ResponseCachingMiddleware()])
    server.tool(cached.tool())
    denied: list[bool] = []
    gate = on("before_tool_use", lambda ctx: HookOutcome.deny("no") if denied else None)
    protect(server, managed(gate))
    assert [each.is_error for each in called(server, ("injected", LIST), ("shell", LIST))] == [False, False]
    denied.append(True)
    assert [each.is_error for each in called(server, ("injected", LIST), ("shell", LIST))] == [True, True]
    assert (injected.commands, cached.commands) == (["ls"], ["ls"])


def test_the_tools_of_a_mounted_server_are_judged():
    shell, server = Shell(), FastMCP("root")
    mounted = FastMCP("files")
    mounted.tool(shell.tool())
    server.mount(mounted, namespace="files")
    (result,) = called(protect(server, managed(on("before_tool_use", denies_rm))), ("files_shell", DELETE))
    assert (shell.commands, text_of(result)) == ([], "Denied: not here")


def test_a_server_is_protected_once():
    with pytest.raises(RegistrationError, match="'files' has AgentHooks among its middleware already"):
        protect(served(Shell()), managed())


SERVER = """
from fastmcp import FastMCP
from conformance import asks_rm, managed, on
from agent_hooks import protect

server = FastMCP("files")

@server.tool
def shell(command: str) -> str:
    return f"ran {command}"

protect(server, managed(on("before_tool_use", asks_rm))).run(show_banner=False)
"""


@pytest.mark.parametrize("era", ERAS)
def test_a_server_of_its_own_process_asks_the_user_of_its_client(tmp_path: Path, era):
    (tmp_path / "server.py").write_text(SERVER)
    env = {"PYTHONPATH": os.pathsep.join(TESTS)}
    transport = PythonStdioTransport(tmp_path / "server.py", python_cmd=sys.executable, env=env)

    async def person(message, *_):
        return ElicitResult(action="accept", content={"allow": True})

    allowed, free = called(transport, ("shell", DELETE), ("shell", LIST), mode=era, elicitation_handler=person)
    assert [text_of(each) for each in (allowed, free)] == ["ran rm -rf build", "ran ls"]
