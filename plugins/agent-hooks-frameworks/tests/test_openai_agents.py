"""Hooks in the OpenAI Agents SDK."""

from __future__ import annotations

import asyncio
import copy
import json
from typing import Any

import pytest

pytest.importorskip("agents")
pytestmark = pytest.mark.frameworks

from agents import (  # noqa: E402
    Agent,
    ApplyPatchTool,
    AsyncComputer,
    ComputerTool,
    CustomTool,
    LocalShellTool,
    ModelProvider,
    RunConfig,
    RunHooks,
    Runner,
    RunState,
    ShellTool,
    WebSearchTool,
    function_tool,
)
from agents.lifecycle import AgentHooksBase  # noqa: E402
from agents.mcp import MCPServer  # noqa: E402
from agents.realtime import RealtimeAgent  # noqa: E402
from conformance import DELETE, LIST, Conformance, Shell, asks_rm, denies_rm, managed, named_as_hosted, on  # noqa: E402
from hosting import Call  # noqa: E402
from mcp.types import CallToolResult, TextContent, Tool  # noqa: E402
from openai.types.responses import (  # noqa: E402
    ResponseApplyPatchToolCall,
    ResponseComputerToolCall,
    ResponseCustomToolCall,
    ResponseFunctionShellToolCall,
)
from openai.types.responses.response_output_item import LocalShellCall  # noqa: E402
from openai_agents_host import QUIET, OpenAIAgentsHost, Scripted  # noqa: E402
from pydantic import BaseModel  # noqa: E402
from same_run import SameRun  # noqa: E402

from agent_hooks import HookOutcome, RegistrationError, RunError, protect  # noqa: E402
from agent_hooks.errors import RefusedError, SubagentDeniedError  # noqa: E402
from agent_hooks_frameworks.openai_agents import AgentHooks  # noqa: E402

HOST = OpenAIAgentsHost()


class TestOpenAIAgents(SameRun, Conformance):
    host = HOST


def agent(script: Any, *tools: Any, manager: Any = None, seen: Any = None, **options: Any) -> Agent[Any]:
    seen = [] if seen is None else seen
    made: Agent[Any] = Agent(name="root", model=Scripted(script, seen), tools=list(tools), **options)
    return made if manager is None else protect(made, manager)


def run(started: Agent[Any], given: Any = "Go.", **options: Any) -> Any:
    return asyncio.run(Runner.run(started, given, **{"run_config": QUIET, **options}))


def on_paths(ctx: Any) -> HookOutcome | None:
    return HookOutcome.deny("not that file") if "secret" in str(ctx.tool_args) else None


def recording(ran: list[Any], read: Any) -> Any:
    """Return a tool that runs nothing, and remembers its calls."""

    def execute(*given: Any) -> str:
        ran.append(read(*given))
        return "ran"

    return execute


# -- tools of the SDK that run in this process -------------------------------------------------------------------------


def shell_call(*commands: str) -> Any:
    given: Any = {"id": "s1", "call_id": "call-9", "action": {"commands": list(commands)}, "type": "shell_call"}
    return ResponseFunctionShellToolCall.model_validate({**given, "status": "completed", "environment": None})


def test_a_shell_of_the_sdk_is_judged_as_a_shell():
    ran: list[Any] = []
    seen: list[str] = []
    hook = on("before_tool_use", lambda ctx: HookOutcome.deny(f"not {ctx.tool_call.command}"), match="Bash")
    tool = ShellTool(executor=recording(ran, lambda request: request.data.action.commands))
    assert (
        run(agent([shell_call("rm -rf build"), "done"], tool, manager=managed(hook), seen=seen)).final_output == "done"
    )
    assert ran == []
    assert "not rm -rf build" in seen[1]


def test_commands_of_a_shell_of_the_sdk_are_rewritten():
    ran: list[Any] = []
    hook = on("before_tool_use", lambda ctx: HookOutcome.with_args({**ctx.tool_args, "commands": ["ls -l"]}))
    tool = ShellTool(executor=recording(ran, lambda request: request.data.action.commands))
    run(agent([shell_call("ls"), "done"], tool, manager=managed(hook)))
    assert ran == [["ls -l"]]


@pytest.mark.parametrize("answer", [True, False])
def test_a_question_about_a_shell_of_the_sdk_interrupts_the_run(answer: bool):
    ran: list[Any] = []

    def made() -> Agent[Any]:
        hook = on("before_tool_use", lambda ctx: HookOutcome.ask("really?"), match="shell")
        tool = ShellTool(executor=recording(ran, lambda request: request.data.action.commands))
        return agent(script.pop(0), tool, manager=managed(hook))

    async def through_text() -> Any:
        first = await Runner.run(made(), "Go.", run_config=QUIET)
        (asked,) = first.interruptions
        assert (asked.tool_name, ran) == ("shell", [])
        again = made()
        state = await RunState.from_string(again, first.to_state().to_string())
        (state.approve if answer else state.reject)(state.get_interruptions()[0])
        return await Runner.run(again, state, run_config=QUIET)

    script: list[Any] = [[shell_call("rm x")], ["done"]]
    assert asyncio.run(through_text()).final_output == "done"
    assert ran == ([["rm x"]] if answer else [])


def test_a_local_shell_is_judged_as_a_shell():
    ran: list[Any] = []
    action = {"type": "exec", "command": ["rm", "-rf", "my build"], "env": {}}
    call = LocalShellCall(id="1", call_id="call-9", action=action, status="completed", type="local_shell_call")  # type: ignore[arg-type]
    hook = on(
        "before_tool_use", lambda ctx: HookOutcome.deny("no") if ctx.tool_call.command == "rm -rf 'my build'" else None
    )
    tool = LocalShellTool(executor=recording(ran, lambda request: request))
    run(agent([call, "done"], tool, manager=managed(hook)))
    assert ran == []


class Editor:
    def __init__(self) -> None:
        self.done: list[Any] = []

    def create_file(self, operation: Any) -> str:
        self.done.append((operation.type, operation.path, operation.diff))
        return "edited"

    update_file = delete_file = create_file


def patch(path: str) -> Any:
    operation = {"type": "update_file", "path": path, "diff": "+x"}
    given: Any = {"id": path, "call_id": f"call-{path}", "operation": operation, "type": "apply_patch_call"}
    return ResponseApplyPatchToolCall.model_validate({**given, "status": "completed"})


def test_each_file_of_a_patch_is_judged():
    editor = Editor()
    seen: list[str] = []
    hook = on("before_tool_use", on_paths, match="edit")
    script = [[patch("a.py"), patch("secret.py")], "done"]
    run(agent(script, ApplyPatchTool(editor=editor), manager=managed(hook), seen=seen))
    assert editor.done == [("update_file", "a.py", "+x")]
    assert "not that file" in seen[1]


def test_an_approved_patch_is_applied():
    editor = Editor()
    hook = on("before_tool_use", lambda ctx: HookOutcome.ask("really?"), match="edit")
    tool = ApplyPatchTool(editor=editor)

    async def through_text() -> Any:
        first = await Runner.run(agent([patch("a.py")], tool, manager=managed(hook)), "Go.", run_config=QUIET)
        assert (len(first.interruptions), editor.done) == (1, [])
        again = agent(["done"], tool, manager=managed(hook))
        state = await RunState.from_string(again, first.to_state().to_string())
        state.approve(state.get_interruptions()[0])
        return await Runner.run(again, state, run_config=QUIET)

    assert asyncio.run(through_text()).final_output == "done"
    assert editor.done == [("update_file", "a.py", "+x")]


def test_a_custom_tool_is_judged():
    ran: list[str] = []
    call = ResponseCustomToolCall(call_id="call-9", input="rm -rf /", name="freely", type="custom_tool_call")
    hook = on("before_tool_use", lambda ctx: HookOutcome.deny("no") if "rm" in ctx.tool_args["input"] else None)
    tool = CustomTool(name="freely", description="", on_invoke_tool=recording(ran, lambda ctx, text: text))
    run(agent([call, "done"], tool, manager=managed(hook)))
    assert ran == []


class Screen(AsyncComputer):
    def __init__(self) -> None:
        self.done: list[Any] = []

    async def screenshot(self) -> str:
        return "picture"

    async def click(self, x: int, y: int, button: Any) -> None:
        self.done.append(("click", x, y))

    async def type(self, text: str) -> None:
        self.done.append(("type", text))

    async def _other(self, *args: Any) -> None:
        raise AssertionError(args)

    double_click = scroll = wait = move = keypress = drag = _other


@pytest.mark.parametrize("is_made_later", [False, True])
def test_an_action_of_a_computer_is_judged(is_made_later: bool):
    screen = Screen()
    seen: list[str] = []
    calls = [
        ResponseComputerToolCall(
            id=f"c{number}",
            call_id=f"call-{number}",
            action=action,  # type: ignore[arg-type]
            status="completed",
            type="computer_call",
            pending_safety_checks=[],
        )
        for number, action in enumerate(
            [{"type": "click", "x": 1, "y": 2, "button": "left"}, {"type": "type", "text": "secret"}]
        )
    ]
    tool: Any = ComputerTool(computer=(lambda *, run_context: screen) if is_made_later else screen)
    run(agent([calls, "done"], tool, manager=managed(on("before_tool_use", on_paths)), seen=seen))
    assert screen.done == [("click", 1, 2)]
    assert "not that file" in seen[1]


def test_a_tool_of_an_mcp_server_is_judged():
    called: list[str] = []

    class Server(MCPServer):
        name = "files"

        async def list_tools(self, *_args: Any, **_options: Any) -> Any:
            schema = {"type": "object", "properties": {"path": {"type": "string"}}}
            return [Tool.model_validate({"name": "remove", "inputSchema": schema})]

        async def call_tool(self, tool_name: str, arguments: Any, *_args: Any, **_options: Any) -> Any:
            called.append(arguments["path"])
            return CallToolResult(content=[TextContent(type="text", text="removed")])

        async def connect(self, *_args: Any, **_options: Any) -> Any:
            raise NotImplementedError

        cleanup = list_prompts = get_prompt = connect

    script = [[Call("remove", {"path": "secret"}), Call("remove", {"path": "a.py"})], "done"]
    run(agent(script, manager=managed(on("before_tool_use", on_paths)), mcp_servers=[Server()]))
    assert called == ["a.py"]


def test_a_tool_of_the_provider_is_named_and_stands_in_the_request():
    named_as_hosted("web_search", lambda manager: run(agent(["done"], WebSearchTool(), manager=manager)))


# -- approvals ---------------------------------------------------------------------------------------------------------


def test_a_tools_own_approval_still_interrupts():
    shell = Shell()
    tool = function_tool(shell.tool(), needs_approval=True)
    result = run(agent([Call("shell", LIST)], tool, manager=managed(on("before_tool_use", denies_rm))))
    assert (len(result.interruptions), shell.commands) == (1, [])


@pytest.mark.parametrize("own", [True, False])
def test_always_approve_answers_the_tools_own_question_and_the_next_one_of_hooks_is_put(own: bool):
    shell = Shell()
    script = [Call("shell", DELETE, "one"), Call("shell", LIST, "two"), Call("shell", DELETE, "three"), "done"]

    async def run_all() -> Any:
        root = agent(script, tool, manager=manager)
        result, asked = await Runner.run(root, "Go.", run_config=QUIET), []
        while result.interruptions:
            (item,) = result.interruptions
            asked.append(item.raw_item.call_id)  # type: ignore[union-attr]
            state = result.to_state()
            state.approve(item, always_approve=True)
            result = await Runner.run(root, state, run_config=QUIET)
        return asked

    tool, manager = function_tool(shell.tool(), needs_approval=own), managed(on("before_tool_use", asks_rm))
    assert asyncio.run(run_all()) == ["one", "three"]
    assert shell.commands == ["rm -rf build", "ls", "rm -rf build"]


def test_always_approve_of_an_agent_without_hooks_is_the_sdks():
    shell = Shell()

    async def twice() -> Any:
        root = agent([Call("shell", LIST, "one"), Call("shell", LIST, "two"), "done"], tool)
        state = (await Runner.run(root, "Go.", run_config=QUIET)).to_state()
        state.approve(state.get_interruptions()[0], always_approve=True)
        return await Runner.run(root, state, run_config=QUIET)

    tool = function_tool(shell.tool(), needs_approval=True)
    assert (asyncio.run(twice()).interruptions, shell.commands) == ([], ["ls", "ls"])


def test_a_person_approves_the_arguments_that_will_run():
    shell, changed = Shell(), {"command": "rm -r build"}

    async def twice() -> Any:
        root = agent([Call("shell", DELETE, "one"), Call("shell", changed, "two"), "done"], tool, manager=manager)
        first = await Runner.run(root, "Go.", run_config=QUIET)
        (asked,) = first.interruptions
        assert json.loads(asked.arguments or "") == changed
        assert shell.commands == []
        told = next(item for item in first.to_input_list() if "output" in item)
        assert f"call it with {json.dumps(changed)} to put the question" in str(told)
        state = first.to_state()
        state.approve(asked)
        return await Runner.run(root, state, run_config=QUIET)

    rewrite = on("before_tool_use", lambda ctx: HookOutcome.with_args(changed))
    tool, manager = function_tool(shell.tool()), managed(on("before_tool_use", asks_rm), rewrite)
    assert (asyncio.run(twice()).final_output, shell.commands) == ("done", ["rm -r build"])


# -- agents ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("answer", [True, False])
def test_a_question_about_a_call_of_an_agent_as_a_tool_is_answered_at_the_root(answer: bool):
    shell = Shell()
    helper = agent([Call("shell", DELETE, "inner"), "helped"], function_tool(shell.tool()))
    tool = helper.as_tool("helper", "helps")
    manager = managed(on("before_tool_use", lambda ctx: asks_rm(ctx) if ctx.tool_name == "shell" else None))

    async def twice() -> Any:
        root = agent([Call("helper", {"input": "tidy"}, "outer"), "done"], tool, manager=manager)
        first = await Runner.run(root, "Go.", run_config=QUIET)
        state = first.to_state()
        (asked,) = first.interruptions
        assert (asked.tool_name, shell.commands) == ("shell", [])
        (state.approve if answer else state.reject)(asked)
        return await Runner.run(root, state, run_config=QUIET)

    assert asyncio.run(twice()).final_output == "done"
    assert shell.commands == (["rm -rf build"] if answer else [])


def handing_over(shell: Shell, **hooks: Any) -> tuple[Agent[Any], list[Any]]:
    other = agent([Call("shell", DELETE), "done"], function_tool(shell.tool()), **hooks)
    other.name = "other"
    return other, [other]


def test_an_agent_that_takes_over_is_under_the_hooks_of_the_first():
    shell = Shell()
    names: list[Any] = []

    def gate(ctx: Any) -> HookOutcome | None:
        names.append(ctx.agent_name)
        return denies_rm(ctx)

    _, handoffs = handing_over(shell)
    root = agent(
        [Call("transfer_to_other", {}, "over")], manager=managed(on("before_tool_use", gate)), handoffs=handoffs
    )
    assert run(root).final_output == "done"
    assert (shell.commands, names) == ([], ["other"])


def test_its_own_hooks_are_asked_as_well():
    shell = Shell()
    _, handoffs = handing_over(shell, manager=managed(on("before_tool_use", denies_rm)))
    root = agent(
        [Call("transfer_to_other", {}, "over")],
        manager=managed(on("before_tool_use", lambda ctx: None)),
        handoffs=handoffs,
    )
    assert run(root).final_output == "done"
    assert shell.commands == []


def test_a_handoff_is_denied():
    shell = Shell()
    _, handoffs = handing_over(shell)
    hook = on("before_subagent", lambda name: HookOutcome.deny(f"not {name}"))
    root = agent([Call("transfer_to_other", {}, "over")], manager=managed(hook), handoffs=handoffs)
    with pytest.raises(SubagentDeniedError, match="not other"):
        run(root)
    assert shell.commands == []


def test_a_protected_agent_does_not_take_over_from_one_without_hooks():
    shell = Shell()
    _, handoffs = handing_over(shell, manager=managed(on("before_tool_use", denies_rm)))
    with pytest.raises(RunError, match="took over from an agent that has none"):
        run(agent([Call("transfer_to_other", {}, "over")], handoffs=handoffs))
    assert shell.commands == []


def test_the_hooks_are_an_argument_of_the_agent_and_clones_keep_them():
    shell = Shell()
    hooks = AgentHooks(managed(on("before_tool_use", denies_rm)))
    root = agent([Call("shell", DELETE), "done"], function_tool(shell.tool()), hooks=hooks)
    assert run(root.clone(name="clone")).final_output == "done"
    assert shell.commands == []


def test_lifecycle_hooks_of_the_agent_are_told_as_before():
    told: list[str] = []

    class Told(AgentHooksBase[Any, Any]):
        async def on_start(self, *args: Any) -> None:
            told.append("start")

        async def on_tool_end(self, *args: Any) -> None:
            told.append("tool")

        async def on_end(self, *args: Any) -> None:
            told.append("end")

    shell = Shell()
    root = agent([Call("shell", LIST), "done"], function_tool(shell.tool()), manager=managed(), hooks=Told())
    run(root, hooks=RunHooks())
    assert told == ["start", "tool", "end"]


def test_a_realtime_agent_is_refused():
    with pytest.raises(RegistrationError, match="RealtimeAgent has no hooks"):
        protect(RealtimeAgent(name="voice"), managed())


def test_an_agent_is_protected_once():
    root = agent([], manager=managed())
    with pytest.raises(RegistrationError, match="already"):
        protect(root, managed())


# -- models, errors and answers ----------------------------------------------------------------------------------------


def test_a_model_of_a_provider_is_judged():
    seen: list[str] = []

    class Provider(ModelProvider):
        def get_model(self, model_name: str | None) -> Any:
            return Scripted(["done"], seen)

    hook = on("before_inference", lambda ctx: HookOutcome.update(context="be brief"))
    root: Agent[Any] = protect(Agent(name="root", model="some"), managed(hook))
    run(root, run_config=RunConfig(model_provider=Provider(), tracing_disabled=True))
    assert "be brief" in seen[0]


@pytest.mark.parametrize("manager", [None, managed(on("before_tool_use", lambda ctx: None))])
def test_an_error_of_a_tool_reaches_the_model_as_without_hooks(manager: Any):
    seen: list[str] = []
    script = [Call("shell", {"command": "fail"}), "done"]
    run(agent(script, function_tool(Shell().tool()), manager=manager, seen=seen))
    assert "An error occurred while running the tool. Please try again." in seen[1]


class Answer(BaseModel):
    text: str


def test_a_structured_answer_is_judged_as_an_object():
    def judge(output: Any) -> HookOutcome | None:
        return HookOutcome.deny("secret") if output.text == "s3cret" else None

    root = agent(['{"text": "s3cret"}'], manager=managed(on("before_output", judge)), output_type=Answer)
    with pytest.raises(RefusedError, match="secret"):
        run(root)


# -- streams -----------------------------------------------------------------------------------------------------------


def test_a_stream_that_nobody_judges_is_shown_as_it_comes():
    came = asyncio.Event()

    class Slow(Scripted):
        async def stream_response(self, *args: Any, **options: Any) -> Any:
            async for event in super().stream_response(*args, **options):
                yield event
                await came.wait()  # nothing more before the reader has seen it

    async def read() -> list[str]:
        root: Agent[Any] = protect(
            Agent(name="root", model=Slow(["done"], [])), managed(on("before_tool_use", denies_rm))
        )
        result = Runner.run_streamed(root, "Go.", run_config=QUIET)
        types: list[str] = []
        async for event in result.stream_events():
            if event.type == "raw_response_event":
                types.append(event.data.type)
                came.set()
        assert result.final_output == "done"
        return types

    assert asyncio.run(asyncio.wait_for(read(), 30)) == ["response.output_text.delta", "response.completed"]


def test_a_stream_goes_on_with_another_round():
    hook = on("on_stop", lambda ctx: None if ctx.stop_hook_active else HookOutcome.force_continue("once more"))
    ran = HOST.run(["first", "second"], [], manager=managed(hook), stream=True)
    assert (ran.chunks, ran.output) == (["first", "second"], "second")


def test_a_stream_waits_for_an_answer():
    ran = HOST.run(
        [Call("shell", DELETE, "call-9")],
        [Shell().tool()],
        manager=managed(on("before_tool_use", asks_rm)),
        stream=True,
    )
    assert ran.waiting == ["call-9"]


@pytest.mark.filterwarnings("ignore:Pickle, copy, and deepcopy:DeprecationWarning")  # of a counter of the model here
@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_a_copy_of_a_protected_agent_is_protected(copied: Any):
    shell, gates = Shell(), managed(on("before_tool_use", denies_rm))
    made = copied(agent([Call("shell", DELETE), "done"], function_tool(shell.tool()), manager=gates))
    assert (run(made).final_output, shell.commands) == ("done", [])
