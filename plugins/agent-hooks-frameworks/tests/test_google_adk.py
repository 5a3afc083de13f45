"""Hooks in Google ADK."""

from __future__ import annotations

import asyncio
import copy
from contextlib import aclosing, asynccontextmanager
from typing import Any

import pytest

pytest.importorskip("google.adk")
pytestmark = [
    pytest.mark.frameworks,
    # Of ADK itself: how it passes plugins on, a successor of its workflows, and features that older releases announce.
    pytest.mark.filterwarnings("ignore:The `plugins` argument is deprecated"),
    pytest.mark.filterwarnings("ignore:SequentialAgent is deprecated"),
    pytest.mark.filterwarnings(r"ignore:\[EXPERIMENTAL\]"),
]

from conformance import DELETE, LIST, Conformance, Shell, asks_rm, denies_rm, managed, named_as_hosted, on  # noqa: E402
from google.adk.agents import LiveRequestQueue, LlmAgent, SequentialAgent  # noqa: E402
from google.adk.agents.run_config import RunConfig, StreamingMode  # noqa: E402
from google.adk.apps import App  # noqa: E402
from google.adk.artifacts import InMemoryArtifactService  # noqa: E402
from google.adk.code_executors import BaseCodeExecutor  # noqa: E402
from google.adk.code_executors.code_execution_utils import CodeExecutionResult  # noqa: E402
from google.adk.models import LlmResponse  # noqa: E402
from google.adk.models.base_llm_connection import BaseLlmConnection  # noqa: E402
from google.adk.plugins.base_plugin import BasePlugin  # noqa: E402
from google.adk.runners import Runner  # noqa: E402
from google.adk.sessions import InMemorySessionService  # noqa: E402
from google.adk.tools import AgentTool, FunctionTool, google_search  # noqa: E402
from google.genai import types  # noqa: E402
from google_adk_host import PLACE, GoogleADKHost, Scripted, said  # noqa: E402
from hosting import Call  # noqa: E402
from pydantic import PrivateAttr  # noqa: E402
from same_run import SameRun  # noqa: E402

from agent_hooks import HookOutcome, RegistrationError, RunError, protect  # noqa: E402
from agent_hooks.engine.guarded_run import current_run  # noqa: E402
from agent_hooks.errors import RefusedError  # noqa: E402
from agent_hooks_frameworks.google_adk import AgentHooks  # noqa: E402

HOST = GoogleADKHost()


class TestGoogleADK(SameRun, Conformance):
    host = HOST


def agent(script: Any, *tools: Any, seen: Any = None, name: str = "root", **options: Any) -> LlmAgent:
    return LlmAgent(name=name, model=Scripted.of(script, [] if seen is None else seen), tools=list(tools), **options)


def runner(root: Any, *plugins: BasePlugin) -> Runner:
    app = App(name="app", root_agent=root, plugins=list(plugins))
    return Runner(app=app, session_service=InMemorySessionService(), artifact_service=InMemoryArtifactService())


def texts(started: Runner, prompt: str = "Go.", found: list[str] | None = None, **options: Any) -> list[str]:
    """Run it, add the texts that it answers to ``found``, and return that."""
    found = [] if found is None else found
    options.update(user_id="user", new_message=said(prompt))

    async def read() -> list[str]:
        session = await started.session_service.create_session(**PLACE)
        async for event in started.run_async(session_id=session.id, **options):
            assert current_run() is None  # the reader is in no run
            parts = (event.content.parts or []) if event.content else []
            found.extend(part.text for part in parts if part.text)
        return found

    return asyncio.run(read())


# -- ways to install them ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("install", ["plugin", "app", "runner", "agent"])
def test_the_hooks_are_a_plugin_or_added_to_an_app_a_runner_or_an_agent(install: str):
    shell, manager = Shell(), managed(on("before_tool_use", denies_rm))
    root = agent([Call("shell", DELETE), "done"], shell.tool())
    if install == "plugin":
        started = runner(root, AgentHooks(manager))
    elif install == "app":
        app = protect(App(name="app", root_agent=root), manager)
        started = Runner(app=app, session_service=InMemorySessionService())
    elif install == "runner":
        started = protect(runner(root), manager)
    else:
        started = runner(protect(root, manager))
    assert texts(started) == ["done"]
    assert shell.commands == []


def test_a_runner_is_protected_once():
    started = runner(agent([]), AgentHooks(managed()))
    with pytest.raises(RegistrationError, match="already"):
        protect(started, managed())


def test_a_runner_without_hooks_uses_the_same_tools_and_models_as_before():
    shell = Shell()
    tool = FunctionTool(shell.tool())
    script = [Call("shell", DELETE), "done"] * 2
    root = agent(script, tool)
    texts(runner(root, AgentHooks(managed(on("before_tool_use", denies_rm)))))
    texts(runner(root))
    assert shell.commands == ["rm -rf build"]


# -- no change slips behind a gate -------------------------------------------------------------------------------------


def test_arguments_that_a_callback_changes_are_judged():
    shell = Shell()

    def change(tool: Any, args: Any, tool_context: Any) -> None:
        args["command"] = "rm -rf /"

    root = agent([Call("shell", LIST), "done"], shell.tool(), before_tool_callback=change)
    assert texts(runner(root, AgentHooks(managed(on("before_tool_use", denies_rm))))) == ["done"]
    assert shell.commands == []


def test_a_plugin_that_answers_first_hides_no_call_of_a_tool():
    shell = Shell()

    class Runs(BasePlugin):
        async def before_tool_callback(self, *, tool: Any, tool_args: Any, tool_context: Any) -> Any:
            return {"result": await tool.run_async(args=tool_args, tool_context=tool_context)}

    root = agent([Call("shell", DELETE), "done"], shell.tool())
    started = runner(root, Runs(name="runs"), AgentHooks(managed(on("before_tool_use", denies_rm))))
    assert texts(started) == ["done"]
    assert shell.commands == []


def test_a_request_that_a_callback_changes_is_judged():
    seen: list[str] = []

    def change(callback_context: Any, llm_request: Any) -> None:
        llm_request.contents.append(types.Content(role="user", parts=[types.Part(text="it is xyzzy")]))

    def judge(request: Any) -> HookOutcome | None:
        return HookOutcome.deny("no") if "xyzzy" in str(request.messages) else None

    root = agent(["done"], seen=seen, before_model_callback=change)
    with pytest.raises(RunError, match="no"):
        texts(runner(root, AgentHooks(managed(on("before_inference", judge)))))
    assert seen == []


class Executor(BaseCodeExecutor):
    _done: list[str] = PrivateAttr(default_factory=list)

    def execute_code(self, invocation_context: Any, code_execution_input: Any) -> CodeExecutionResult:
        self._done.append(code_execution_input.code.strip())
        return CodeExecutionResult(stdout="executed")


def test_code_of_the_model_that_an_executor_runs_is_judged():
    executor = Executor()
    seen: list[str] = []
    hook = on(
        "before_tool_use",
        lambda ctx: HookOutcome.deny("not that") if "rm" in ctx.tool_args["code"] else None,
        match="Bash",
    )
    script = ["```tool_code\nprint(1)\n```", "```tool_code\nos.system('rm -rf /')\n```", "done"]
    root = agent(script, code_executor=executor, seen=seen)
    assert texts(runner(root, AgentHooks(managed(hook))))[-1] == "done"
    assert executor._done == ["print(1)"]
    assert "executed" in seen[1]
    assert "not that" in seen[2]


# -- questions ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("answer", [True, False])
def test_a_tools_own_confirmation_answers_for_hooks_too(answer: bool):
    shell = Shell()
    tool = FunctionTool(shell.tool(), require_confirmation=True)
    manager = managed(on("before_tool_use", asks_rm))
    first = HOST.run([Call("shell", DELETE, "call-9")], [tool], manager=manager)
    then = HOST.resume(first.paused or "", answer, ["done"], [tool], manager=manager)
    assert (first.waiting, then.output) == (["call-9"], "done")
    assert shell.commands == (["rm -rf build"] if answer else [])


def test_an_answer_holds_for_the_arguments_that_were_asked_about():
    shell = Shell()
    asked: list[Any] = []

    def rewrite(ctx: Any) -> HookOutcome | None:
        asked.append(1)
        return HookOutcome.with_args({"command": "rm -rf build" if len(asked) < 3 else "rm -rf /"})

    tools, ask = [shell.tool()], on("before_tool_use", asks_rm)
    first = HOST.run([Call("shell", LIST, "call-9")], tools, manager=managed(on("before_tool_use", rewrite), ask))
    asked += [1, 1]
    then = HOST.resume(first.paused or "", True, ["done"], tools, manager=managed(on("before_tool_use", rewrite), ask))
    assert (then.output, shell.commands) == ("done", [])
    assert "Denied: really?" in then.seen[0]


# -- agents ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("include_plugins", [True, False])
def test_an_agent_as_a_tool_is_under_the_hooks_of_the_root(include_plugins: bool):
    shell = Shell()
    depths: list[Any] = []

    def gate(ctx: Any) -> HookOutcome | None:
        depths.append((ctx.tool_name, ctx.depth))
        return denies_rm(ctx) if ctx.tool_name == "shell" else None

    helper = agent([Call("shell", DELETE), "helped"], shell.tool(), name="helper")
    tool = AgentTool(helper, include_plugins=include_plugins)
    root = agent([Call("helper", {"request": "tidy"}), "done"], tool)
    assert texts(runner(root, AgentHooks(managed(on("before_tool_use", gate))))) == ["done"]
    assert (shell.commands, depths) == ([], [("helper", 0), ("shell", 1)])


def test_an_agent_that_takes_over_is_under_the_hooks_of_the_root():
    shell = Shell()
    names: list[Any] = []

    def gate(ctx: Any) -> HookOutcome | None:
        names.append((ctx.agent_name, ctx.tool_name))
        return denies_rm(ctx) if ctx.tool_name == "shell" else None

    other = agent([Call("shell", DELETE), "done"], shell.tool(), name="other")
    root = agent([Call("transfer_to_agent", {"agent_name": "other"})], sub_agents=[other])
    assert texts(runner(root, AgentHooks(managed(on("before_tool_use", gate))))) == ["done"]
    assert (shell.commands, names) == ([], [("root", "transfer_to_agent"), ("other", "shell")])


def test_an_agent_of_a_workflow_is_denied():
    seen: list[str] = []
    flow = SequentialAgent(name="flow", sub_agents=[agent(["one"], name="a"), agent(["two"], name="b", seen=seen)])
    hook = on("before_subagent", lambda name: HookOutcome.deny("not b") if name == "b" else None)
    assert texts(runner(flow, AgentHooks(managed(hook)))) == ["one", "Denied: not b"]
    assert seen == []


def test_hooks_of_an_agent_below_the_root_are_asked_as_well():
    shell = Shell()
    inner = agent([Call("shell", DELETE), "done"], shell.tool(), name="inner")
    protect(inner, managed(on("before_tool_use", denies_rm)))
    flow = SequentialAgent(name="flow", sub_agents=[inner])
    assert texts(runner(flow, AgentHooks(managed(on("before_tool_use", lambda ctx: None))))) == ["done"]
    assert shell.commands == []


def test_a_protected_agent_does_not_run_below_a_root_without_hooks():
    shell = Shell()
    inner = protect(agent([Call("shell", DELETE)], shell.tool(), name="inner"), managed())
    with pytest.raises(RunError, match="protect the Runner"):
        texts(runner(SequentialAgent(name="flow", sub_agents=[inner])))
    assert shell.commands == []


@pytest.mark.parametrize(("mode", "times"), [(StreamingMode.NONE, 1), (StreamingMode.SSE, 2)])
def test_the_last_answer_of_a_workflow_is_the_one_that_is_judged_before_it_is_shown(mode: StreamingMode, times: int):
    judged: list[str] = []
    shown: list[str] = []

    def judge(output: Any) -> HookOutcome | None:
        judged.append(output)
        return HookOutcome.deny("secret") if "s3cret" in output else None

    def look() -> str:
        shown.append("looked")
        return "nothing"

    first = agent([["I look.", Call("look", {})], "one"], FunctionTool(look), name="a")
    flow = SequentialAgent(name="flow", sub_agents=[first, agent(["s3cret"], name="b")])
    started = runner(flow, AgentHooks(managed(on("before_output", judge))))
    with pytest.raises(RefusedError, match="secret"):
        texts(started, found=shown, run_config=RunConfig(streaming_mode=mode))
    assert (judged, shown) == (["s3cret"], [*["I look."] * times, "looked", *["one"] * times])


def test_a_withheld_answer_is_not_in_the_session():
    root = agent(["the s3cret"])
    started = runner(root, AgentHooks(managed(on("before_output", lambda output: HookOutcome.deny("no")))))

    async def kept() -> str:
        session = await started.session_service.create_session(**PLACE, session_id="s9")
        with pytest.raises(RefusedError):
            async for _ in started.run_async(user_id="user", session_id="s9", new_message=said("Go.")):
                pass
        session = await started.session_service.get_session(**PLACE, session_id="s9")  # type: ignore[assignment]
        return session.model_dump_json()

    assert "s3cret" not in asyncio.run(kept())


# -- models, errors and streams ----------------------------------------------------------------------------------------


def test_a_model_by_name_is_judged(monkeypatch: pytest.MonkeyPatch):
    from google.adk.models import LLMRegistry

    seen: list[str] = []

    class Named(Scripted):
        @classmethod
        def supported_models(cls) -> list[str]:
            return ["named-.*"]

        def __init__(self, **data: Any) -> None:
            super().__init__(**data)
            self._replies, self._seen, self._ids = ["done"], seen, iter(range(9))

    LLMRegistry.register(Named)
    root = LlmAgent(name="root", model="named-1")
    hook = on("before_inference", lambda ctx: HookOutcome.update(context="be brief"))
    assert texts(runner(root, AgentHooks(managed(hook)))) == ["done"]
    assert "be brief" in seen[0]


@pytest.mark.parametrize("manager", [None, managed(on("before_tool_use", lambda ctx: None))])
def test_an_error_of_a_tool_ends_the_run_as_without_hooks(manager: Any):
    root = agent([Call("shell", {"command": "fail"}), "done"], Shell().tool())
    with pytest.raises(ValueError, match="no such file"):
        texts(runner(root, *([AgentHooks(manager)] if manager else [])))


class Connection(BaseLlmConnection):
    """The other end of a live run: it wants one call."""

    async def receive(self) -> Any:
        call = types.FunctionCall(id="call-9", name="shell", args=DELETE)
        yield LlmResponse(content=types.Content(role="model", parts=[types.Part(function_call=call)]))
        await asyncio.sleep(30)

    async def _ignore(self, *_args: Any, **_options: Any) -> None:
        return None

    send_history = send_content = send_realtime = close = _ignore


class Live(Scripted):
    @asynccontextmanager
    async def connect(self, llm_request: Any) -> Any:  # type: ignore[override]
        yield Connection()


def test_the_calls_of_a_live_run_are_judged():
    shell = Shell()
    root = LlmAgent(name="root", model=Live(), tools=[shell.tool()])
    started = runner(root, AgentHooks(managed(on("before_tool_use", denies_rm))))

    async def read() -> Any:
        session = await started.session_service.create_session(**PLACE)
        events = started.run_live(user_id="user", session_id=session.id, live_request_queue=LiveRequestQueue())
        async with aclosing(events) as each:
            async for event in each:
                if responses := event.get_function_responses():
                    return responses[0].response
        return None

    assert asyncio.run(asyncio.wait_for(read(), 20)) == {"error": "Denied: not here"}
    assert shell.commands == []


def test_a_reader_that_goes_away_ends_the_run_in_silence():
    heard: list[Any] = []
    started = runner(agent(["done"]), AgentHooks(managed(on("on_error", heard.append, mode="observe"))))

    async def read() -> None:
        session = await started.session_service.create_session(**PLACE)
        events = started.run_async(user_id="user", session_id=session.id, new_message=said("Go."))
        await anext(events)
        await events.aclose()  # type: ignore[attr-defined]

    asyncio.run(read())
    assert heard == []


def test_a_tool_of_the_provider_is_named_and_stands_in_the_request():
    root: Any = agent(["done"], google_search)
    root.model.model = "gemini-2.5-flash"  # which the tool requires
    named_as_hosted("google_search", lambda manager: texts(protect(runner(root), manager)))


@pytest.mark.filterwarnings("ignore:Pickle, copy, and deepcopy:DeprecationWarning")  # of a counter of the model here
@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_a_copy_of_a_protected_agent_is_protected(copied: Any):
    shell, gates = Shell(), managed(on("before_tool_use", denies_rm))
    made = copied(protect(runner(agent([Call("shell", DELETE), "done"], shell.tool())), gates))
    assert (texts(made), shell.commands) == (["done"], [])
