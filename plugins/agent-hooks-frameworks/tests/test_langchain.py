"""Hooks in LangChain and LangGraph."""

from __future__ import annotations

import asyncio
import copy
from typing import Annotated, Any

import pytest

pytest.importorskip("langchain")
pytestmark = pytest.mark.frameworks

from conformance import DELETE, LIST, Conformance, Shell, asks_rm, denies_rm, managed, named_as_hosted, on  # noqa: E402
from hosting import Call, Child  # noqa: E402
from langchain.agents import create_agent  # noqa: E402
from langchain.agents.middleware import AgentMiddleware  # noqa: E402
from langchain.agents.structured_output import ToolStrategy  # noqa: E402
from langchain.messages import AIMessage, ToolMessage  # noqa: E402
from langchain.tools import InjectedState, tool  # noqa: E402
from langchain_host import LangChainHost, Scripted  # noqa: E402
from langgraph.checkpoint.memory import InMemorySaver  # noqa: E402
from langgraph.graph import END, START, MessagesState, StateGraph  # noqa: E402
from langgraph.prebuilt import ToolNode  # noqa: E402
from langgraph.types import Command, interrupt  # noqa: E402
from pydantic import BaseModel  # noqa: E402
from same_run import SameRun  # noqa: E402

from agent_hooks import HookOutcome, RefusedError, RegistrationError, protect  # noqa: E402
from agent_hooks_frameworks.framework import AdapterWarning  # noqa: E402
from agent_hooks_frameworks.langchain import AgentHooks  # noqa: E402

CONFIG: Any = {"configurable": {"thread_id": "one"}}
GO: Any = {"messages": [("user", "Go.")]}
HOST = LangChainHost()


class TestLangChain(SameRun, Conformance):
    host = HOST


def agent(script: Any, *tools: Any, **options: Any) -> Any:
    model = Scripted(replies=list(script), seen=[])
    return create_agent(model, [tool(each) if callable(each) else each for each in tools], **options)


def results(state: Any) -> list[str]:
    return [str(message.content) for message in state["messages"] if isinstance(message, ToolMessage)]


def gate(*hooks: Any) -> Any:
    return managed(*(on("before_tool_use", hook) for hook in hooks))


# -- the middleware, and other middleware ------------------------------------------------------------------------------


@pytest.mark.parametrize("sync", [True, False])
def test_the_middleware_does_what_protect_does(sync: bool):
    shell = Shell()
    made = agent([Call("shell", DELETE), "done"], shell.tool(), middleware=[AgentHooks(gate(denies_rm))])
    state = made.invoke(GO) if sync else asyncio.run(made.ainvoke(GO))
    assert (shell.commands, state["messages"][-1].content) == ([], "done")
    assert results(state) == ["Denied: not here"]


class Rewrites(AgentMiddleware):
    """Calls another command than the model wants."""

    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        return handler(request.override(tool_call={**request.tool_call, "args": DELETE}))


def test_what_other_middleware_rewrites_is_judged():
    shell = Shell()
    made = protect(agent([Call("shell", LIST), "done"], shell.tool(), middleware=[Rewrites()]), gate(denies_rm))
    assert results(made.invoke(GO)) == ["Denied: not here"]
    assert shell.commands == []


def test_a_copy_of_a_protected_agent_is_protected():
    shell = Shell()
    made = protect(agent([Call("shell", DELETE), "done"], shell.tool()), gate(denies_rm))
    assert results(made.with_config(tags=["copy"]).invoke(GO)) == ["Denied: not here"]


def test_an_agent_is_protected_once():
    made = protect(agent(["done"], Shell().tool()), gate())
    with pytest.raises(RegistrationError, match="has AgentHooks already"):
        protect(made, gate())
    with pytest.raises(RegistrationError, match="has AgentHooks already"):
        protect(agent(["done"], middleware=[AgentHooks(gate())]), gate())


def test_injected_arguments_stay_with_the_tool_and_out_of_hooks():
    seen: list[Any] = []

    def count(word: str, state: Annotated[dict[str, Any], InjectedState]) -> str:
        """Count the messages."""
        return f"{word}: {len(state['messages'])}"

    made = protect(
        agent([Call("count", {"word": "here"}), "done"], count), gate(lambda ctx: seen.append(ctx.tool_args))
    )
    assert results(made.invoke(GO)) == ["here: 2"]
    assert [dict(args) for args in seen] == [{"word": "here"}]


def test_a_tool_that_updates_the_state_does_so_unless_its_result_is_withheld():
    def note(text: str) -> Command[Any]:
        """Note it."""
        return Command(update={"messages": [ToolMessage(f"noted {text}", tool_call_id="call-9")]})

    script = [Call("note", {"text": "it"}, "call-9"), "done"]
    assert results(protect(agent(script, note), gate()).invoke(GO)) == ["noted it"]
    withheld = managed(on("after_tool_use", lambda ctx: HookOutcome.deny("private")))
    assert results(protect(agent(script, note), withheld).invoke(GO)) == ["Result withheld: private"]


def test_an_error_of_a_tool_ends_the_run_as_it_does_without_hooks():
    made = protect(agent([Call("shell", {"command": "fail"}), "done"], Shell().tool()), gate())
    with pytest.raises(ValueError, match="no such file"):
        made.invoke(GO)


# -- answers -----------------------------------------------------------------------------------------------------------


class Answer(BaseModel):
    text: str


def test_a_structured_answer_is_judged_and_can_be_withheld():
    seen: list[Any] = []

    def judge(output: Any) -> HookOutcome | None:
        seen.append(output)
        return HookOutcome.deny("no") if output.text == "secret" else None

    for text in ("fine", "secret"):
        script = [Call("Answer", {"text": text})]
        made = protect(agent(script, response_format=ToolStrategy(Answer)), managed(on("before_output", judge)))
        if text == "fine":
            assert made.invoke(GO)["structured_response"] == Answer(text="fine")
        else:
            with pytest.raises(RefusedError, match="no"):
                made.invoke(GO)
    assert len(seen) == 2


def test_no_stream_of_events_shows_what_is_withheld():
    async def run() -> list[Any] | None:
        made = protect(
            agent(["the s3cret"]), managed(on("before_output", lambda output: HookOutcome.deny("it has a secret")))
        )
        events: list[Any] = []
        try:
            async for event in made.astream_events(GO, version="v2"):
                events.append(event)  # noqa: PERF401 - those before the error count
        except RefusedError:
            return events
        return None

    events = asyncio.run(run())
    assert events
    assert "s3cret" not in str(events)


def test_messages_of_hooks_stay_in_the_conversation():
    made = protect(
        agent([Call("shell", LIST), "done"], Shell().tool()),
        managed(on("user_input", lambda ctx: HookOutcome.update(context="it is Tuesday"))),
    )
    contents = [message.content for message in made.invoke(GO)["messages"]]
    assert contents[:2] == ["Go.", "it is Tuesday"]


# -- questions ---------------------------------------------------------------------------------------------------------


def interrupts(graph: Any) -> list[Any]:
    return [each for task in graph.get_state(CONFIG).tasks for each in task.interrupts]


def test_a_question_has_the_form_of_langchains_own_and_takes_its_answer():
    for decision, commands in (("approve", ["rm -rf build"]), ("reject", [])):
        shell = Shell()
        made = protect(
            agent([Call("shell", DELETE), "done"], shell.tool(), checkpointer=InMemorySaver()), gate(asks_rm)
        )
        (question,) = made.invoke(GO, CONFIG)["__interrupt__"]
        assert question.value["action_requests"] == [{"name": "shell", "args": DELETE, "description": "really?"}]
        state = made.invoke(Command(resume={"decisions": [{"type": decision}]}), CONFIG)
        assert (shell.commands, state["messages"][-1].content) == (commands, "done")


def test_without_a_checkpointer_a_question_is_a_denial():
    shell = Shell()
    state = protect(agent([Call("shell", DELETE), "done"], shell.tool()), gate(asks_rm)).invoke(GO)
    assert shell.commands == []
    assert results(state) == ["Denied: really?\n\nNobody can answer this here."]


def test_questions_about_parallel_calls_are_answered_one_by_one():
    shell, manager = Shell(), gate(asks_rm)
    script = [[Call("shell", {"command": f"rm {name}"}, name) for name in "ab"], "done"]
    made = protect(agent(script, shell.tool(), checkpointer=InMemorySaver()), manager)
    made.invoke(GO, CONFIG)
    waiting = {each.value["agent_hooks"]["call_id"]: each.id for each in interrupts(made)}
    assert sorted(waiting) == ["a", "b"]
    made.invoke(Command(resume={waiting["b"]: True}), CONFIG)
    assert shell.commands == ["rm b"]
    state = made.invoke(Command(resume={waiting["a"]: False}), CONFIG)
    assert (shell.commands, state["messages"][-1].content) == (["rm b"], "done")


def test_an_answer_to_one_question_answers_no_later_one_about_the_call():
    shell, asked = Shell(), []

    def asks(ctx: Any) -> HookOutcome | None:
        # The second time, the arguments are others than those which the person approved.
        asked.append(ctx.tool_args["command"])
        return HookOutcome.ask("really?")

    commands = ["rm a", "rm b", "rm b"]
    manager = managed(
        on("before_tool_use", lambda ctx: HookOutcome.with_args({"command": commands[0]}), priority=9),
        on("before_tool_use", asks),
    )
    made = protect(agent([Call("shell", DELETE), "done"], shell.tool(), checkpointer=InMemorySaver()), manager)
    made.invoke(GO, CONFIG)
    assert interrupts(made)[0].value["action_requests"][0]["args"] == {"command": "rm a"}
    commands.pop(0)
    made.invoke(Command(resume=True), CONFIG)
    assert shell.commands == []
    (second,) = interrupts(made)
    assert second.value["action_requests"][0]["args"] == {"command": "rm b"}
    assert second.value["agent_hooks"]["number"] == 2
    made.invoke(Command(resume=True), CONFIG)
    assert shell.commands == ["rm b"]


@pytest.mark.parametrize("is_new", [False, True])
def test_a_question_about_a_call_of_a_child_is_answered_through_the_parent(tmp_path: Any, is_new: bool):
    shell, asks = Shell(), on("before_tool_use", asks_rm, match="shell")
    manager = managed(asks)
    child = Child("helper", [Call("shell", DELETE, "call-1"), "helped"], [shell.tool()])
    script: Any = [Call("helper", {"task": "tidy"}, "call-1"), "done"]
    for sync in (True, False):
        folder = tmp_path / str(sync)
        folder.mkdir()
        shell.commands.clear()
        ran = HOST.run(script, [], manager=manager, child=child, sync=sync, tmp_path=folder)
        assert (ran.waiting, shell.commands) == (["call-1"], [])
        again = managed(asks) if is_new else manager
        rest = Child("helper", ["helped"], child.tools)
        then = HOST.resume(ran.paused or "", True, ["done"], [], manager=again, child=rest, sync=sync)
        assert (then.output, shell.commands) == ("done", ["rm -rf build"])


def test_an_interrupt_of_a_tool_is_no_error_and_gets_its_own_answer():
    heard: list[Any] = []

    def choose(colour: str) -> str:
        """Choose."""
        return f"{colour} or {interrupt('which?')}"

    manager = managed(on("before_tool_use", lambda ctx: HookOutcome.ask("may it?")), on("on_tool_error", heard.append))
    made = protect(agent([Call("choose", {"colour": "red"}), "done"], choose, checkpointer=InMemorySaver()), manager)
    made.invoke(GO, CONFIG)
    made.invoke(Command(resume=True), CONFIG)
    assert [each.value for each in interrupts(made)] == ["which?"]
    state = made.invoke(Command(resume="blue"), CONFIG)
    assert results(state) == ["red or blue"]
    assert heard == []


# -- graphs of one's own -----------------------------------------------------------------------------------------------


def graph(calls: list[Call], node: Any, **options: Any) -> Any:
    """A graph that makes the calls of one message."""
    wanted = [{"name": call.name, "args": call.args, "id": call.id or "call-1"} for call in calls]
    builder = StateGraph(MessagesState)
    builder.add_node("plan", lambda state: {"messages": [AIMessage("", tool_calls=wanted)]})
    builder.add_node("act", node)
    builder.add_edge(START, "plan")
    builder.add_edge("plan", "act")
    builder.add_edge("act", END)
    return builder.compile(**options)


@pytest.mark.parametrize("sync", [True, False])
def test_the_tools_of_a_graph_are_protected(sync: bool):
    shell = Shell()
    made = protect(graph([Call("shell", DELETE)], ToolNode([shell.tool()])), gate(denies_rm))
    state = made.invoke(GO) if sync else asyncio.run(made.ainvoke(GO))
    assert (shell.commands, results(state)) == ([], ["Denied: not here"])


def test_a_tool_node_takes_the_hooks_by_itself():
    shell, hooks = Shell(), AgentHooks(gate(denies_rm))
    node = ToolNode([shell.tool()], wrap_tool_call=hooks.wrap_tool_call, awrap_tool_call=hooks.awrap_tool_call)
    made = graph([Call("shell", DELETE)], node)
    assert results(made.invoke(GO)) == results(asyncio.run(made.ainvoke(GO))) == ["Denied: not here"]


def test_in_a_tool_node_with_several_calls_no_answer_is_taken_for_that_of_another():
    shell = Shell()
    made = protect(
        graph(
            [Call("shell", {"command": f"rm {name}"}, name) for name in "ab"],
            ToolNode([shell.tool()]),
            checkpointer=InMemorySaver(),
        ),
        gate(asks_rm),
    )
    assert "Nobody can answer" in results(made.invoke(GO, CONFIG))[0]
    alone = protect(
        graph([Call("shell", DELETE, "c")], ToolNode([shell.tool()]), checkpointer=InMemorySaver()), gate(asks_rm)
    )
    alone.invoke(GO, CONFIG)
    alone.invoke(Command(resume=True), CONFIG)
    assert shell.commands == ["rm -rf build"]


def test_an_agent_that_is_a_node_of_a_protected_graph_is_a_child():
    shell, depths = Shell(), []

    def judge(ctx: Any) -> HookOutcome | None:
        depths.append(ctx.depth)
        return denies_rm(ctx)

    builder = StateGraph(MessagesState)
    builder.add_node("worker", agent([Call("shell", DELETE), "done"], shell.tool(), name="worker"))
    builder.add_edge(START, "worker")
    state = protect(builder.compile(), gate(judge)).invoke(GO)
    assert (results(state), depths) == (["Denied: not here"], [1])


def test_a_copy_of_a_protected_graph_is_protected():
    shell = Shell()  # copy.deepcopy makes a graph of LangGraph that does not run
    made = copy.copy(protect(graph([Call("shell", DELETE)], ToolNode([shell.tool()])), gate(denies_rm)))
    assert results(made.invoke(GO)) == ["Denied: not here"]


def test_a_graph_that_is_not_compiled_is_told_so():
    with pytest.raises(RegistrationError, match=r"protect\(graph.compile\(\)\)"):
        protect(StateGraph(MessagesState), gate())


def test_a_graph_without_tools_that_can_be_found_is_refused():
    builder = StateGraph(MessagesState)
    builder.add_node("plan", lambda state: {})
    builder.add_edge(START, "plan")
    with pytest.raises(RegistrationError, match="has no ToolNode"):
        protect(builder.compile(), gate())


def react(shell: Shell, **options: Any) -> Any:
    """A graph as ``create_react_agent`` makes it: with tools, and a model that hooks do not reach."""
    return graph([Call("shell", LIST)], ToolNode([shell.tool()]), **options)


@pytest.mark.parametrize("event", ["before_step", "before_inference", "after_inference", "before_output"])
def test_a_gate_that_a_graph_cannot_ask_is_named(event: str):
    def limit(ctx: Any) -> None:
        return None

    with pytest.warns(AdapterWarning, match=rf"graph 'LangGraph'.* has no {event}: the hook limit of limit is never"):
        protect(react(Shell()), managed(on(event, limit)))
    with pytest.raises(RegistrationError, match="It is required"):
        protect(react(Shell()), managed(on(event, limit, required=True)))


def test_a_gate_that_a_graph_cannot_ask_is_named_once_and_where_it_is_added_later(recwarn: Any):
    shell, manager = Shell(), managed()
    made = protect(react(shell), manager)
    manager.add(on("before_step", lambda state: None))
    for _ in range(2):
        made.invoke(GO)
    assert [each.category for each in recwarn] == [AdapterWarning]


def test_a_graph_of_agents_asks_all_gates(recwarn: Any):
    builder = StateGraph(MessagesState)
    builder.add_node("worker", agent(["done"], name="worker"))
    builder.add_edge(START, "worker")
    protect(builder.compile(), managed(on("before_step", lambda state: None))).invoke(GO)
    assert not [each for each in recwarn if each.category is AdapterWarning]


def test_without_a_run_around_them_the_wrappers_do_nothing():
    shell = Shell()
    helper = agent([Call("shell", DELETE), "helped", Call("shell", DELETE), "helped"], shell.tool())

    def helped(task: str) -> str:
        """Let a helper do it."""
        return str(helper.invoke(GO)["messages"][-1].content)

    manager = managed(on("before_tool_use", denies_rm, match="shell"))
    protect(agent([Call("helped", {"task": "tidy"}), "done"], helped), manager).invoke(GO)
    assert shell.commands == []
    helper.invoke(GO)
    assert shell.commands == ["rm -rf build"]


def test_a_picture_stays_beside_a_text_that_hooks_change():
    picture = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
    content = [{"type": "text", "text": "it is 42"}, picture]
    hook = on("user_input", lambda prompt: HookOutcome.update(prompt=prompt.replace("42", "[number]")))
    state = protect(agent(["done"]), managed(hook)).invoke({"messages": [{"role": "user", "content": content}]})
    assert state["messages"][0].content == [{"type": "text", "text": "it is [number]"}, picture]


def test_a_stream_that_nobody_reads_to_its_end_is_closed():
    async def begin() -> None:
        made = protect(agent([Call("shell", LIST), "done"], Shell().tool()), gate(denies_rm))
        parts = made.astream(GO)
        await anext(parts)
        await parts.aclose()

    asyncio.run(begin())


def test_a_tool_of_the_provider_is_named_and_stands_in_the_request():
    named_as_hosted("web_search", lambda m: protect(agent(["done"], {"type": "web_search"}), m).invoke(GO))
