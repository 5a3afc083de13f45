"""Agents that start subagents: what those are given, what comes back, and whose hooks are asked."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from making import Talks, builder, echo, ended, helper, look, run, says, sh, spawn, told, tools_of, using

from agent_hooks import (
    AgentBuilder,
    AgentState,
    HookOutcome,
    HookPolicy,
    HookRegistration,
    RegistrationError,
    ScriptedDriver,
    SubagentError,
    ToolCall,
    UseContextConfig,
    hookimpl,
)
from agent_hooks_subagents import SubagentDefinition, UseSubagents

pytestmark = pytest.mark.interpreter


class Records:
    """An observer that notes who did what, and how deep."""

    mode = "observe"

    def __init__(self):
        self.seen = []

    def execute(self, ctx):
        self.seen.append((str(ctx.event), ctx.agent_name, ctx.depth, ctx.name or ctx.tool_name))


# -- the tool ----------------------------------------------------------------------------------------------------------


def test_the_model_is_told_which_subagents_there_are():
    model = Talks(main=[says("Done.")])
    run(builder(model, helper("writer", description="Writes\n  things."), helper("reader")))
    (request,) = model.of("main")
    tool = next(each for each in request.tools if each["name"] == "spawn_subagent")
    assert "- writer: Writes things.\n- reader: Helps as reader." in tool["description"]
    assert sorted(tool["parameters"]["properties"]) == ["prompt", "subagent"]
    assert sorted(tool["parameters"]["required"]) == ["prompt", "subagent"]


def test_the_parents_model_sees_the_childs_last_words_only():
    model = Talks(
        main=[spawn("helper", "child task"), says("All good.")], child=[using("look", path="x"), says("It is fine.")]
    )
    state = run(builder(model, helper()))
    assert (state.output, told(state)) == ("All good.", ["It is fine."])
    assert [message.role for message in state.messages] == ["user", "assistant", "tool", "assistant"]


def test_the_child_has_its_own_prompt_and_the_task_and_none_of_the_parents_conversation():
    model = Talks(main=[spawn("helper", "child task"), says("Done.")], child=[says("Yes.")])
    configured = builder(model, helper(prompt="You are thorough.")).with_capability(
        UseContextConfig("You are the parent.", {"type": "object"})
    )
    run(configured)
    (request,) = model.of("child")
    assert (request.system_prompt, request.response_format) == ("You are thorough.", None)
    assert [(message.role, message.content) for message in request.messages] == [("user", "child task")]
    assert model.of("main")[0].system_prompt == "You are the parent."


@pytest.mark.parametrize(
    ("tools", "disallowed", "names"),
    [
        (None, (), ["look", "sh"]),
        (["read"], (), ["look"]),
        (None, ["Bash"], ["look"]),
        (["Agent"], (), ["spawn_subagent"]),
    ],
)
def test_the_child_has_those_of_its_parents_tools_that_its_lists_leave(tools, disallowed, names):
    model = Talks(main=[spawn("helper", "child task"), says("Done.")], child=[says("Yes.")])
    run(builder(model, helper(tools=tools, disallowed_tools=disallowed)))
    assert tools_of(model.of("child")[0]) == names


@pytest.mark.parametrize(
    ("tools", "disallowed", "missing"),
    [
        (["look", "read", "Bash", "lo*", "mcp__docs__*"], ["sh", "shell"], []),
        (None, (), []),
        (["lok"], (), ["'lok', which is no tool of this agent. Did you mean 'look'?"]),
        (None, ["fetch"], ["'fetch', which is no tool of this agent. Its tools are look, sh, spawn_subagent."]),
        ("look, write_file", ["delete_file"], ["'write_file'", "'delete_file'"]),
    ],
)
def test_names_that_are_no_tools_are_told_when_the_agent_is_built(caplog, tools, disallowed, missing):
    with caplog.at_level("WARNING", "agent_hooks"):
        builder(Talks(), helper(tools=tools, disallowed_tools=disallowed)).build()
    texts = [record.getMessage() for record in caplog.records]
    assert len(texts) == len(missing)
    assert all(text in found for text, found in zip(missing, texts, strict=True))
    assert all("The subagent helper" in text for text in texts)


def test_a_call_of_a_tool_that_the_child_was_not_given_is_denied():
    model = Talks(main=[spawn("helper", "child task"), says("Done.")], child=[using("sh", command="ls"), echo])
    assert told(run(builder(model, helper(disallowed_tools=["sh"])))) == [
        'Denied: Tool "sh" is not permitted in this environment.'
    ]


def test_a_permission_to_edit_is_none_for_the_deletes_of_a_patch():
    from agent_hooks import tool

    @tool(kind="edit")
    def apply_patch(patch: str) -> str:
        """Apply a patch."""
        return "patched"

    patch = "*** Begin Patch\n*** Delete File: a.py\n*** End Patch"
    model = Talks(main=[spawn("helper", "child task"), says("Done.")], child=[using("apply_patch", patch=patch), echo])
    (answer,) = told(run(builder(model, helper(tools=["edit"])).with_tools(apply_patch)))
    assert answer == 'Denied: Tool "apply_patch" is not on the list of permitted tools.'


def test_a_grandchild_has_no_more_tools_than_its_parent():
    model = Talks(
        main=[spawn("outer", "child task"), says("Done.")],
        child=[spawn("inner", "grandchild task"), says("Done.")],
        grandchild=[says("Done.")],
    )
    run(builder(model, helper("outer", tools=["look", "Agent"]), helper("inner")))
    assert tools_of(model.of("child")[0]) == ["look", "spawn_subagent"]
    assert tools_of(model.of("grandchild")[0]) == ["look"]


# -- models ------------------------------------------------------------------------------------------------------------


def test_the_child_asks_its_parents_driver_for_the_model_of_its_definition():
    model = Talks(main=[spawn("helper", "child task"), says("Done.")], child=[says("Yes.")])
    state = run(builder(model, helper(model="small-1")))
    assert (model.of("main")[0].model, model.of("child")[0].model) == ("scripted", "small-1")
    assert sorted(state.model_usage) == ["scripted", "small-1"]


def test_a_definition_may_have_a_driver_of_its_own():
    own = ScriptedDriver("Mine.", model="own")
    state = run(builder(Talks(main=[spawn("helper", "child task"), says("Done.")]), helper(driver=own)))
    assert (told(state), len(own.requests)) == (["Mine."], 1)


# -- what goes wrong ---------------------------------------------------------------------------------------------------


def test_an_unknown_subagent_is_a_tool_error():
    assert told(run(builder(Talks(main=[spawn("nobody", "x"), says("Done.")]), helper()))) == [
        "Error: Subagent 'nobody' not found."
    ]


@pytest.mark.parametrize("wanted", ["helper", "nobody"])
def test_the_depth_is_looked_at_before_the_name(wanted):
    model = Talks(main=[spawn("helper", "child task"), says("Done.")], child=[spawn(wanted, "grandchild task"), echo])
    state = run(builder(model, helper(tools=["Agent"]), max_depth=1))
    assert told(state) == [f"Error: Maximum nesting depth (1) reached for subagent '{wanted}'."]


def test_there_are_three_levels_by_default():
    deeper = lambda request: spawn("helper", "again")  # noqa: E731
    model = Talks(main=[deeper, says("Done.")], again=[deeper, deeper, deeper, *[echo] * 3])
    state = run(
        AgentBuilder(plugins=()).with_driver(model).with_capability(UseSubagents(helper(tools=["spawn_subagent"])))
    )
    assert told(state) == ["Error: Maximum nesting depth (3) reached for subagent 'helper'."]
    assert len(model.of("again")) == 6


def test_a_child_that_fails_is_a_tool_error():
    def fail(request):
        raise ConnectionError("no line")

    model = Talks(main=[spawn("helper", "child task"), says("Sorry.")], child=[fail])
    state = run(builder(model, helper()))
    assert told(state) == ["Error: Subagent 'helper' failed: no line"]
    assert state.output == "Sorry."


def test_outside_of_a_run_the_tool_says_so():
    with pytest.raises(SubagentError, match="works only where a run calls it"):
        asyncio.run(UseSubagents(helper()).spawn("helper", "task"))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (UseSubagents, "at least one"),
        (lambda: UseSubagents("agents/x.md"), "is no SubagentDefinition"),  # type: ignore[arg-type]
        (lambda: UseSubagents(helper(), helper("b"), helper("b")), "Two subagents are called 'b'"),
        (lambda: UseSubagents(helper(), max_depth=0), "max_depth must be a whole number from 1"),
        (lambda: UseSubagents(helper(), max_depth=True), "max_depth must be a whole number from 1"),
    ],
)
def test_what_makes_no_sense_is_refused_at_once(given, said):
    with pytest.raises(RegistrationError, match=said):
        given()


# -- budgets -----------------------------------------------------------------------------------------------------------


def endless(request):
    return using("look", tokens=100)


@pytest.mark.parametrize(
    ("budget", "steps", "said"),
    [
        ({"max_steps": 2}, 2, "Step limit reached: 2/2"),
        ({"max_steps": None, "max_tokens": 250}, 3, "Token limit reached: 300/250"),
        ({"max_steps": 9, "max_execution_time": 0}, 0, "Execution time limit reached"),
    ],
)
def test_a_child_is_stopped_by_its_budget_and_its_parent_gets_what_there_is_with_the_reason(budget, steps, said):
    model = Talks(main=[spawn("helper", "child task"), says("Enough.")], child=[endless] * 9)
    state = run(builder(model, helper(**budget)))
    assert len(model.of("child")) == steps
    (answer,) = told(state)
    assert said in answer
    assert ended(state) == ("completed", "completed")


def test_what_the_child_said_last_comes_with_the_reason():
    from agent_hooks import ModelResponse

    half = ModelResponse(content="Half of it.", tool_calls=(ToolCall("look"),))
    model = Talks(main=[spawn("helper", "child task"), says("Enough.")], child=[half])
    assert told(run(builder(model, helper(max_steps=1)))) == ["Half of it.\n\n(Stopped: Step limit reached: 1/1)"]


def test_money_is_a_budget_too():
    from agent_hooks_guards import Price

    model = Talks(main=[spawn("helper", "child task"), says("Enough.")], child=[endless] * 9)
    (answer,) = told(run(builder(model, helper(max_cost="0.0002", prices={"*": Price(1, 1)}))))
    assert "Cost limit reached: 0.0002/0.0002" in answer
    assert len(model.of("child")) == 2


def test_what_a_child_used_is_the_parents_usage_too():
    model = Talks(main=[spawn("helper", "child task", tokens=5), says("Done.", 7)], child=[says("Yes.", 30)])
    state = run(builder(model, helper()))
    assert state.model_usage["scripted"].total == 42
    assert state.usage.total == 12


# -- hooks -------------------------------------------------------------------------------------------------------------


def no_shell(tool_call):
    return HookOutcome.deny("No shell.") if tool_call.kind == "shell" else None


def test_a_gate_of_the_parent_holds_for_every_descendant():
    shell = [using("sh", command="ls"), echo]
    model = Talks(
        main=[spawn("outer", "child task"), says("Done.")],
        child=[spawn("inner", "grandchild task"), echo],
        grandchild=shell,
    )
    outer = helper("outer", tools=["Agent", "sh"], hooks=[_allowing()])
    state = run(builder(model, outer, helper("inner", hooks=[_allowing()])).before_tool_use(no_shell))
    assert told(state) == ["Denied: No shell."]


def _allowing():
    return HookRegistration(
        "before_tool_use", lambda ctx: HookOutcome.allow(final=True), priority=10_000, source="managed", name="allow"
    )


def test_a_gate_of_the_parent_holds_in_children_that_work_at_once():
    script = [using("sh", command="ls"), echo]
    both = spawn("helper", "one task").replace(
        tool_calls=(
            ToolCall("spawn_subagent", {"subagent": "helper", "prompt": "one task"}),
            ToolCall("spawn_subagent", {"subagent": "helper", "prompt": "two task"}),
        )
    )
    model = Talks(main=[both, says("Done.")], one=list(script), two=list(script))
    state = run(builder(model, helper()).before_tool_use(no_shell).with_parallel_tools())
    assert told(state) == ["Denied: No shell."] * 2


def test_the_hooks_of_a_definition_are_asked_in_its_subagents_only():
    records = Records()
    model = Talks(
        main=[using("look"), spawn("helper", "child task"), says("Done.")], child=[using("look"), says("Yes.")]
    )
    hook = HookRegistration("before_tool_use", records)
    run(builder(model, helper(hooks=[hook])))
    assert records.seen == [("before_tool_use", "helper", 1, "look")]


class Plugin:
    @hookimpl
    def before_tool_use(self, tool_call):
        return HookOutcome.deny("Not here.")


def test_a_plugin_may_be_among_the_hooks_of_a_definition():
    model = Talks(main=[spawn("helper", "child task"), says("Done.")], child=[using("look"), echo])
    assert told(run(builder(model, helper(hooks=[Plugin()])))) == ["Denied: Not here."]


def test_before_subagent_may_change_the_task_and_deny_and_after_subagent_may_change_the_result():
    model = Talks(
        main=[spawn("helper", "child task"), spawn("helper", "bad task"), says("Done.")], child=[says("Yes.")]
    )
    given = (
        builder(model, helper())
        .hook("before_subagent", lambda task: HookOutcome.deny("Bad.") if task == "bad task" else None, name="no")
        .hook("before_subagent", lambda task: HookOutcome.update(task="child of ours"), name="change")
        .hook("after_subagent", lambda result: HookOutcome.update(result=f"{result} (checked)"))
    )
    state = run(given)
    assert told(state) == ["Yes. (checked)", "Error: Denied: Bad."]
    assert model.of("child")[0].messages[0].content == "child of ours"


def test_the_events_of_a_child_reach_an_observer_of_the_parent_once_with_who_and_how_deep():
    records = Records()
    model = Talks(main=[spawn("helper", "child task"), says("Done.")], child=[using("look"), says("Yes.")])
    events = ["before_tool_use", "before_subagent", "after_subagent", "after_tool_use"]
    run(builder(model, helper()).hook(events, records))
    assert records.seen == [
        ("before_tool_use", "agent", 0, "spawn_subagent"),
        ("before_subagent", "agent", 0, "helper"),
        ("before_tool_use", "helper", 1, "look"),
        ("after_tool_use", "helper", 1, "look"),
        ("after_subagent", "agent", 0, "helper"),
        ("after_tool_use", "agent", 0, "spawn_subagent"),
    ]


def test_on_stop_inside_a_child_may_send_it_on():
    def more(ctx):
        return None if ctx.stop_hook_active else HookOutcome.force_continue("Look again.")

    model = Talks(main=[spawn("helper", "child task"), says("Done.")], child=[says("First."), says("Second.")])
    state = run(builder(model, helper(hooks=[HookRegistration("on_stop", more)])))
    assert told(state) == ["Second."]
    assert model.of("child")[1].messages[-1].content == "Look again."


@pytest.mark.parametrize(("answer", "result"), [("allow", "ran ls"), ("deny", "Denied: ")])
def test_a_child_that_waits_lets_its_parent_wait_and_goes_on_where_it_was(answer, result):
    model = Talks(main=[spawn("helper", "child task"), says("Done.")], child=[using("sh", command="ls", id="c1"), echo])
    agent = (
        builder(model, helper())
        .before_tool_use(lambda ctx: HookOutcome.ask("Sure?"), match="shell")
        .with_ask("host")
        .build()
    )
    waiting = agent.run_sync("main")
    assert waiting.suspended is not None
    assert waiting.suspended.tool_call is not None
    assert (waiting.status, waiting.suspended.tool_call.name) == ("suspended", "sh")
    state = agent.resume_sync(waiting, answer)
    assert state.status == "completed"
    assert told(state)[0].startswith(result)
    assert len(model.of("child")) == 2


@pytest.mark.parametrize(("answer", "result"), [("allow", "Yes."), ("deny", "Error: Denied: ")])
def test_before_subagent_may_let_the_run_wait(answer, result):
    model = Talks(main=[spawn("helper", "child task"), says("Done.")], child=[says("Yes.")])
    agent = (
        builder(model, helper())
        .hook("before_subagent", lambda ctx: HookOutcome.suspend("Who pays?"), match="helper")
        .build()
    )
    waiting = agent.run_sync("main")
    assert waiting.suspended is not None
    assert (waiting.status, waiting.suspended.reason, model.of("child")) == ("suspended", "Who pays?", [])
    assert told(agent.resume_sync(waiting, answer))[0].startswith(result)


def test_a_run_waits_for_a_grandchild_and_goes_on_in_another_process():
    scripts: dict[str, Any] = {
        "main": [spawn("outer", "child task", id="a"), says("Done.")],
        "child": [spawn("inner", "grandchild task", id="b"), echo],
        "grandchild": [using("sh", command="ls", id="c"), echo],
    }

    def made(model):
        definitions = (helper("outer", tools=["Agent", "sh"]), helper("inner"))
        return builder(model, *definitions).before_tool_use(
            lambda ctx: HookOutcome.ask("Sure?"), match="shell", name="sure"
        ).with_ask("host").build()  # fmt: skip

    waiting = made(Talks(**scripts)).run_sync("main")
    kept = json.dumps(waiting.as_dict())
    model = Talks(**{name: replies[1:] for name, replies in scripts.items()})
    state = made(model).resume_sync(AgentState.from_dict(json.loads(kept)), "allow")
    assert (state.status, told(state)) == ("completed", ["ran ls"])
    assert [task for task, _ in model.requests] == ["grandchild", "child", "main"]


def test_the_policy_of_the_parent_is_that_of_its_subagents():
    model = Talks(main=[spawn("helper", "child task"), says("Done.")], child=[says("Enough.")] * 9)
    made = (
        AgentBuilder(plugins=(), policy=HookPolicy(max_forced_continuations=1))
        .with_driver(model)
        .with_capability(
            UseSubagents(helper(hooks=[HookRegistration("on_stop", lambda ctx: HookOutcome.force_continue("More."))]))
        )
    )
    run(made)
    assert len(model.of("child")) == 2


# -- by name -----------------------------------------------------------------------------------------------------------


def test_a_capability_is_found_by_its_name():
    model = Talks(main=[spawn("helper", "child task"), says("Done.")], child=[endless] * 9)
    made = (
        AgentBuilder(plugins=["subagents"])
        .with_driver(model)
        .with_tools(look, sh)
        .with_capability("subagents", definitions=[helper()], max_depth=2)
        .with_capability("shared_budget", steps=3)
    )
    assert ended(run(made)) == ("stopped", "steps_limit")


def test_a_definition_does_not_change():
    import dataclasses

    with pytest.raises(dataclasses.FrozenInstanceError):
        helper().name = "other"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"name": "two words"}, "name: a subagent is called by"),
        ({"name": ""}, "name: a subagent is called by"),
        ({"description": " "}, "description: the subagent 'helper' needs a text"),
        ({"prompt": ""}, "prompt: the subagent 'helper' needs a text"),
        ({"model": ""}, "model: write the name of a model"),
        ({"max_steps": -1}, "max_steps must be a whole number"),
        ({"max_cost": 1}, "prices must give a Price"),
        ({"tools": ["Bash(ls)"]}, "tools: 'Bash\\(ls\\)' is no list of tools"),
    ],
)
def test_what_a_definition_cannot_honour_is_refused_at_once(fields, said):
    with pytest.raises(RegistrationError, match=said):
        SubagentDefinition(**{"name": "helper", "description": "x", "prompt": "y", **fields})
