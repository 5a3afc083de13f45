"""Hooks in Strands."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("strands")
pytestmark = pytest.mark.frameworks

from conformance import DELETE, LIST, Conformance, Shell, asks_rm, denies_rm, managed, on  # noqa: E402
from hosting import Call  # noqa: E402
from pydantic import BaseModel  # noqa: E402
from same_run import SameRun  # noqa: E402
from strands import Agent, ToolContext, tool  # noqa: E402
from strands.hooks import BeforeToolCallEvent, HookProvider  # noqa: E402
from strands.multiagent import GraphBuilder  # noqa: E402
from strands_host import Scripted, StrandsHost  # noqa: E402

from agent_hooks import HookOutcome, PromptRefusedError, RefusedError, RegistrationError, protect  # noqa: E402
from agent_hooks_frameworks.strands import AgentHooks  # noqa: E402


class TestStrands(SameRun, Conformance):
    host = StrandsHost()


def agent(script: Any, *tools: Any, **options: Any) -> Any:
    return Agent(Scripted(script, []), tools=[tool(each) for each in tools], callback_handler=None, **options)


def results(made: Any) -> list[Any]:
    blocks = [block for message in made.messages for block in message["content"] if "toolResult" in block]
    return [block["toolResult"]["content"][0]["text"] for block in blocks]


def gate(*hooks: Any) -> Any:
    return managed(*(on("before_tool_use", hook) for hook in hooks))


# -- the provider, and other hooks -------------------------------------------------------------------------------------


class Rewrites(HookProvider):
    """Calls another command than the model wants."""

    def register_hooks(self, registry: Any, **kwargs: Any) -> None:
        registry.add_callback(BeforeToolCallEvent, self.rewrite)

    def rewrite(self, event: Any) -> None:
        event.tool_use["input"] = DELETE


def test_the_provider_does_what_protect_does_and_judges_what_others_rewrite():
    shell = Shell()
    made = agent([Call("shell", LIST), "done"], shell.tool(), hooks=[Rewrites(), AgentHooks(gate(denies_rm))])
    assert str(made("Go.")).strip() == "done"
    assert (shell.commands, results(made)) == ([], ["Denied: not here"])


def test_an_agent_is_protected_once():
    made = protect(agent(["done"]), gate())
    with pytest.raises(RegistrationError, match="has AgentHooks already"):
        protect(made, gate())


def test_a_call_by_a_program_is_judged_too():
    shell = Shell()
    made = protect(agent(["done"], shell.tool()), gate(denies_rm))
    assert made.tool.shell(command="rm -rf build")["content"] == [{"text": "Denied: not here"}]
    assert made.tool.shell(command="ls")["content"] == [{"text": "ran ls"}]
    assert shell.commands == ["ls"]


def test_a_tool_that_is_given_the_context_of_its_call_still_gets_it():
    seen: list[Any] = []

    @tool(context=True)
    def look(word: str, tool_context: ToolContext) -> str:
        """Look."""
        return f"{word} in {tool_context.agent.name}"

    made = Agent(
        Scripted([Call("look", {"word": "here"}), "done"], []), tools=[look], name="root", callback_handler=None
    )
    protect(made, gate(lambda ctx: seen.append(dict(ctx.tool_args))))("Go.")
    assert (results(made), seen) == (["here in root"], [{"word": "here"}])


def test_the_model_keeps_its_class_and_its_attributes():
    made = protect(agent(["one", "two"]), gate())
    model = made.model
    made("Go.")
    assert isinstance(made.model, Scripted)
    assert made.model.replies is model.replies
    made("Go on.")
    assert type(made.model).__mro__.count(Scripted) == 1


def test_an_error_of_a_tool_stays_a_result():
    made = protect(agent([Call("shell", {"command": "fail"}), "done"], Shell().tool()), gate())
    bare = agent([Call("shell", {"command": "fail"}), "done"], Shell().tool())
    assert str(made("Go.")) == str(bare("Go."))
    assert results(made) == results(bare)
    assert "no such file" in results(made)[0]


# -- answers -----------------------------------------------------------------------------------------------------------


class Answer(BaseModel):
    """The answer."""

    text: str


def test_a_structured_answer_is_judged_and_can_be_withheld():
    def made(text: str) -> Any:
        judge = on("before_output", lambda output: HookOutcome.deny("no") if "secret" in str(output) else None)
        return protect(agent([Call("Answer", {"text": text})]), managed(judge))

    assert made("fine")("Go.", structured_output_model=Answer).structured_output == Answer(text="fine")
    with pytest.raises(RefusedError, match="no"):
        made("secret")("Go.", structured_output_model=Answer)


def test_nothing_is_shown_to_a_callback_before_it_is_judged():
    shown: list[str] = []
    made = Agent(Scripted(["the s3cret"], []), callback_handler=lambda **event: shown.append(str(event)))
    protect(made, managed(on("before_output", lambda output: HookOutcome.deny("it has a secret"))))
    with pytest.raises(RefusedError, match="it has a secret"):
        made("Go.")
    assert shown
    assert "s3cret" not in "".join(shown)
    assert "s3cret" not in str(made.messages)


def test_usage_counts_in_the_state():
    used: list[int] = []
    hooks = managed(
        on("after_inference", lambda ctx: None),
        on("after_execution", lambda state: used.append(state.usage.total), mode="observe"),
    )
    protect(agent([Call("shell", LIST), "done"], Shell().tool()), hooks)("Go.")
    assert used == [10]


def test_a_prompt_in_any_form_is_refused():
    refusing = protect(agent(["done"]), managed(on("user_input", lambda prompt: HookOutcome.deny("no"))))
    for prompt in ("Go.", [{"text": "Go."}], [{"role": "user", "content": [{"text": "Go."}]}]):
        with pytest.raises(PromptRefusedError, match="no"):
            refusing(prompt)
    assert refusing.messages == []


# -- questions ---------------------------------------------------------------------------------------------------------


def answers(result: Any, *given: Any) -> list[Any]:
    return [
        {"interruptResponse": {"interruptId": each.id, "response": answer}}
        for each, answer in zip(result.interrupts, given, strict=True)
    ]


def test_parallel_questions_have_their_own_answers():
    shell = Shell()
    script = [[Call("shell", {"command": f"rm {name}"}, name) for name in "ab"], "done"]
    made = protect(agent(script, shell.tool()), gate(asks_rm))
    result = made("Go.")
    asked = {each.reason["call_id"]: each.reason["args"]["command"] for each in result.interrupts}
    assert asked == {"a": "rm a", "b": "rm b"}
    result = made(answers(result, *(each.reason["call_id"] == "b" for each in result.interrupts)))
    assert (shell.commands, str(result).strip()) == (["rm b"], "done")


def test_an_answer_to_one_question_answers_no_later_one_about_the_call():
    shell, commands = Shell(), ["rm a", "rm b", "rm b"]
    manager = managed(
        on("before_tool_use", lambda ctx: HookOutcome.with_args({"command": commands[0]}), priority=9),
        on("before_tool_use", asks_rm),
    )
    made = protect(agent([Call("shell", DELETE), "done"], shell.tool()), manager)
    first = made("Go.")
    assert first.interrupts[0].reason["args"] == {"command": "rm a"}
    commands.pop(0)
    second = made(answers(first, "approve"))
    assert (second.stop_reason, shell.commands) == ("interrupt", [])
    (question,) = [each for each in second.interrupts if each.reason["number"] == 2]
    assert question.reason["args"] == {"command": "rm b"}
    made([{"interruptResponse": {"interruptId": question.id, "response": "approve"}}])
    assert shell.commands == ["rm b"]


def test_an_answer_that_is_no_yes_rejects():
    shell = Shell()
    made = protect(agent([Call("shell", DELETE), "done"], shell.tool()), gate(asks_rm))
    made(answers(made("Go."), "why not"))
    assert shell.commands == []


def test_an_interrupt_of_a_tool_is_no_error_and_gets_its_own_answer():
    heard: list[Any] = []

    @tool(context=True)
    def choose(colour: str, tool_context: ToolContext) -> str:
        """Choose."""
        return f"{colour} or {tool_context.interrupt('which', reason='which?')}"

    made: Any = Agent(Scripted([Call("choose", {"colour": "red"}), "done"], []), tools=[choose], callback_handler=None)
    hooks = [on("before_tool_use", lambda ctx: HookOutcome.ask("may it?")), on("on_tool_error", heard.append)]
    protect(made, managed(*hooks))
    second = made(answers(made("Go."), True))
    (which,) = [each for each in second.interrupts if each.name == "which"]
    made([{"interruptResponse": {"interruptId": which.id, "response": "blue"}}])
    assert results(made) == ["red or blue"]
    assert heard == []


# -- several agents ----------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not hasattr(Agent, "as_tool"), reason="This release has no agents as tools.")
def test_an_agent_as_a_tool_is_a_child_and_its_questions_come_up():
    for judge, commands in ((denies_rm, []), (asks_rm, ["rm -rf build"])):
        shell = Shell()
        helper = agent([Call("shell", DELETE, "call-1"), "helped"], shell.tool(), name="helper")
        root = Agent(
            Scripted([Call("helper", {"input": "tidy"}, "call-1"), "done"], []),
            tools=[helper.as_tool(name="helper")],
            callback_handler=None,
        )
        hook = on("before_tool_use", lambda ctx, judge=judge: judge(ctx) if ctx.tool_name == "shell" else None)
        result = protect(root, managed(hook))("Go.")
        if commands:
            assert (result.stop_reason, shell.commands) == ("interrupt", [])
            result = root(answers(result, True))
        assert (str(result).strip(), shell.commands) == ("done", commands)


def test_an_agent_that_a_tool_started_is_free_without_the_tool():
    shell = Shell()
    helper = agent([Call("shell", DELETE), "helped", Call("shell", DELETE), "helped"], shell.tool())

    def helped(task: str) -> str:
        """Let a helper do it."""
        return str(helper(task))

    manager = managed(on("before_tool_use", denies_rm, match="shell"))
    protect(agent([Call("helped", {"task": "tidy"}), "done"], helped), manager)("Go.")
    assert shell.commands == []
    helper("tidy")
    assert shell.commands == ["rm -rf build"]
    protect(helper, gate())


def test_the_agents_of_a_graph_are_protected():
    shell = Shell()
    builder = GraphBuilder()
    builder.add_node(agent([Call("shell", DELETE), "done"], shell.tool()), "worker")
    builder.set_entry_point("worker")
    builder.set_max_node_executions(1)
    made = protect(builder.build(), gate(denies_rm))
    made("Go.")
    assert shell.commands == []


def test_a_stream_that_nobody_reads_to_its_end_leaves_the_agent_free():
    async def begin() -> str:
        made = protect(agent(["one", "two"]), gate(denies_rm))
        events = made.stream_async("Go.")
        await anext(events)
        await events.aclose()
        return str(await made.invoke_async("Go."))

    assert asyncio.run(begin()).strip() in ("one", "two")
