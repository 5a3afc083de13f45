"""Self-critique: the critic of the final answer, the limit of rounds, and the effect of a failing critic."""

from __future__ import annotations

import asyncio
import json
import logging

import pytest

from agent_hooks.engine.registration import HookRegistration
from agent_hooks.errors import RunError
from agent_hooks.model.inference import ModelResponse
from agent_hooks.model.outcome import HookOutcome
from agent_hooks.model.policy import HookPolicy
from agent_hooks.model.state import AgentState, Usage
from agent_hooks.model.tool_call import ToolCall
from agent_hooks.runtime.builder import AgentBuilder
from agent_hooks.runtime.capabilities import UseHooks
from agent_hooks.runtime.critique import Critique, UseSelfCritique
from agent_hooks.runtime.driver import ScriptedDriver
from runtime.agents import signal_of, stop_signal


def work() -> str:
    return "worked"


def builder(*replies, **options) -> AgentBuilder:
    return (
        AgentBuilder(plugins=())
        .with_driver(ScriptedDriver(*replies))
        .with_tools(work)
        .with_capability(UseSelfCritique(**options))
    )


def run(*replies, **options) -> AgentState:
    return builder(*replies, **options).build().run_sync("write a poem")


def scripted(*verdicts):
    """A critic that says these things, one after the other, and keeps the answers it judged."""
    left = iter(verdicts)
    judged: list[str] = []

    def critic(state):
        judged.append(state.current_step.message.content)
        return next(left)

    critic.judged = judged  # type: ignore[attr-defined]
    return critic


def told(state) -> list[str]:
    """The messages of hooks for the model."""
    return [message.content for message in state.messages if message.metadata.get("source") == "hooks"]


# -- a critic of one's own ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("verdict", [True, None, Critique(approved=True), Critique(approved=True, feedback="nice")])
def test_an_approved_answer_ends_the_run(verdict):
    critic = scripted(verdict)
    state = run("poem", critic=critic)
    assert (state.status, state.output, critic.judged) == ("completed", "poem", ["poem"])
    assert state.metadata["critique"]["approved"] is True
    assert state.metadata["critique"]["rounds"] == 0
    assert told(state) == []


RHYME = "It does not rhyme."
ANYHOW = "The answer is not good enough yet: improve it."


@pytest.mark.parametrize(
    ("verdict", "feedback"),
    [
        *((verdict, RHYME) for verdict in (RHYME, Critique(approved=False, feedback=RHYME))),
        *((verdict, ANYHOW) for verdict in (False, "", Critique(approved=False))),
    ],
)
def test_an_answer_that_is_not_approved_goes_back_to_the_model_with_the_feedback(verdict, feedback):
    critic = scripted(verdict, True)
    driver = ScriptedDriver("bad poem", "good poem")
    state = builder(critic=critic).with_driver(driver).build().run_sync("write a poem")
    assert (state.status, state.output) == ("completed", "good poem")
    assert critic.judged == ["bad poem", "good poem"]
    assert driver.requests[1].messages[-1].content == feedback
    assert state.metadata["critique"]["rounds"] == 1


def test_only_final_answers_are_judged_also_after_the_feedback_and_an_async_critic_is_awaited():
    critic = scripted("use the tool", True)

    async def later(state):
        await asyncio.sleep(0)
        return critic(state)

    state = run(ToolCall("work"), "bad", ToolCall("work"), "good", critic=later)
    assert (critic.judged, told(state), state.output) == (["bad", "good"], ["use the tool"], "good")
    assert state.step_count == 4


def test_an_answer_that_was_withheld_is_not_judged():
    critic = scripted(True)
    agent = builder("secret", critic=critic).hook("after_inference", lambda ctx: HookOutcome.deny("no")).build()
    assert agent.run_sync("go").status == "stopped"
    assert critic.judged == []


@pytest.mark.parametrize("event", ["after_inference", "after_step"])
def test_where_the_run_is_about_to_stop_no_critic_is_asked(event):
    """A limit has been reached: a critique would cost more and have no effect."""
    critic = scripted(False)
    limit = HookOutcome.signal(stop_signal("token_limit"))
    state = builder("poem", critic=critic).hook(event, lambda ctx: limit, priority=90).build().run_sync("go")
    assert (signal_of(state).reason, critic.judged) == ("token_limit", [])


def test_the_critic_judges_the_answer_as_hooks_left_it():
    def redact(state):
        step = state.current_step
        return HookOutcome.proceed(
            state=state.replace(current_step=step.replace(message=step.message.replace(content="***")))
        )

    critic = scripted(True)
    builder("secret", critic=critic).process(redact, priority=60).build().run_sync("go")
    assert critic.judged == ["***"]


# -- rounds ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("given", "rounds"), [(1, 1), (None, 2), (3, 3)])
def test_after_so_many_disapprovals_the_run_is_stopped_and_the_last_answer_stays(given, rounds):
    """Two are the default."""
    answers = [f"poem {number}" for number in range(1, rounds + 1)]
    options = {} if given is None else {"max_rounds": given}
    state = run(*answers, **options, critic=lambda state: "no")
    signal = signal_of(state)
    assert (state.status, state.output) == ("stopped", answers[-1])
    assert (signal.reason, signal.source) == ("retry_limit", "UseSelfCritique")
    assert signal.message == f"Self-critique limit reached: {rounds}/{rounds}"
    assert signal.context == {"rounds": rounds, "max_rounds": rounds}
    assert len(told(state)) == rounds - 1


def test_more_rounds_than_the_policy_lets_hooks_force_are_refused_when_the_agent_is_built():
    """Otherwise a rejected answer would end as a completed one."""
    agent = builder("one", max_rounds=5, critic=lambda state: False)
    with pytest.raises(RunError, match=r"4 times, and HookPolicy\.max_forced_continuations lets hooks do so 1 times"):
        agent.with_policy(HookPolicy(max_forced_continuations=1)).build()
    agent.with_policy(HookPolicy(max_forced_continuations=4)).build()


def test_a_later_run_on_the_same_state_has_all_its_rounds_again():
    first = run("one", "two", critic=lambda state: False)
    state = AgentState.from_dict(json.loads(json.dumps(first.as_dict())))
    second = builder("three", "four", critic=scripted(False, True)).build().run_sync("again", state)
    assert (second.status, second.output, second.metadata["critique"]["rounds"]) == ("completed", "four", 1)


def test_a_verdict_of_an_earlier_run_does_not_stand_in_for_a_critic_that_fails_in_this_one():
    """Both runs end at the same step, so only the run tells the verdicts apart."""
    first = run("one", "two", critic=lambda state: False)
    second = builder(ToolCall("work"), "three", critic=fails).build().run_sync("again", first)
    assert (second.status, second.output, told(second)) == ("completed", "three", told(first))


# -- critics that fail -------------------------------------------------------------------------------------------------


def fails(state):
    raise OSError("secret: hunter2")


async def fails_later(state):
    await asyncio.sleep(0)
    raise OSError("secret: hunter2")


@pytest.mark.parametrize("critic", [fails, fails_later, lambda state: 0.3, lambda state: {"approved": False}])
@pytest.mark.parametrize("policy", [HookPolicy(), HookPolicy(on_gate_failure="closed")])
def test_a_critic_that_fails_approves_and_the_log_says_so_without_its_text(critic, policy, caplog):
    agent = builder("poem", critic=critic).with_policy(policy).build()
    with caplog.at_level(logging.WARNING):
        state = agent.run_sync("go")
    assert (state.status, state.output) == ("completed", "poem")
    assert "critique:evaluate failed on after_step and was passed over" in caplog.text
    assert "hunter2" not in caplog.text


# -- the agent's own driver as the critic ------------------------------------------------------------------------------


def verdict(approved, feedback="", tokens=0) -> ModelResponse:
    content = json.dumps({"approved": approved, "feedback": feedback})
    return ModelResponse(content=content, usage=Usage(input_tokens=tokens))


def test_by_default_the_agents_own_model_is_asked_about_the_task_and_the_answer():
    driver = ScriptedDriver("bad", verdict(False, "It does not rhyme."), "good", verdict(True))
    state = builder().with_driver(driver).build().run_sync("write a poem")
    assert (state.status, state.output, told(state)) == ("completed", "good", ["It does not rhyme."])
    first, second = driver.requests[1], driver.requests[3]
    assert (first.model, first.tools) == ("scripted", ())
    assert "JSON object" in first.system_prompt
    assert json.loads(first.messages[0].content) == {"task": "write a poem", "answer": "bad"}
    assert json.loads(second.messages[0].content) == {"task": "write a poem", "answer": "good"}


@pytest.mark.parametrize(
    ("content", "feedback"),
    [
        ('```json\n{"approved": false, "feedback": "no"}\n```', "no"),
        ('Here it is: {"approved": false, "feedback": "no", "score": 3}', "no"),
        ({"approved": False, "feedback": "no"}, "no"),
        ('{"approved": false}', ANYHOW),
    ],
)
def test_json_in_a_fence_or_a_sentence_or_as_an_object_is_read_and_feedback_may_be_missing(content, feedback):
    state = run("bad", ModelResponse(content=content), "good", '{"approved": true, "feedback": null}')
    assert (told(state), state.output) == ([feedback], "good")


@pytest.mark.parametrize("content", ["Looks hunter2 to me.", "{}", '{"approved": "perhaps"}', "{", "} {", None, 3])
def test_a_critique_that_cannot_be_read_approves_and_its_tokens_count(content, caplog):
    with caplog.at_level(logging.WARNING):
        state = run("poem", ModelResponse(content=content, usage=Usage(input_tokens=7)))
    assert (state.status, state.output, state.usage.total) == ("completed", "poem", 7)
    assert "the model's critique cannot be read, so it counts as approval" in caplog.text
    assert "hunter2" not in caplog.text


# -- putting it together -----------------------------------------------------------------------------------------------


def test_the_hooks_have_the_priorities_of_the_seeds():
    hooks = builder("done").build().interceptor.manager.describe()  # type: ignore[attr-defined]
    assert [(h.event, h.name, h.priority) for h in hooks if h.name.startswith("critique:")] == [
        ("after_step", "critique:evaluate", 40),
        ("should_continue", "critique:continue", 50),
    ]


def test_a_second_self_critique_on_one_agent_is_refused():
    with pytest.raises(RunError, match="two self-critiques"):
        builder("done").with_capability(UseSelfCritique()).build()


@pytest.mark.parametrize("rounds", [0, -1, True, 1.5, "2", None])
def test_a_number_of_rounds_that_is_none_is_refused(rounds):
    with pytest.raises(RunError, match="max_rounds is a whole number from 1"):
        UseSelfCritique(rounds)


def test_a_critic_that_cannot_be_called_is_refused():
    with pytest.raises(RunError, match="the critic is a function of the state, not 'be strict'"):
        UseSelfCritique(critic="be strict")  # type: ignore[arg-type]


def with_default_critic(*replies):
    driver = ScriptedDriver(*replies)
    return driver, AgentBuilder(plugins=()).with_driver(driver).with_capability(UseSelfCritique())


def test_what_the_default_critic_sends_the_hooks_of_model_requests_decide():
    """A gate that keeps something from the model keeps it from the critic too; a critic that is refused approves."""
    driver, agent = with_default_critic("The word is s3cret.")
    secrets = lambda request: HookOutcome.deny("A secret.") if "s3cret" in str(request.messages) else None  # noqa: E731
    state = agent.hook("before_inference", secrets).build().run_sync("Say it.")
    assert (state.status, len(driver.requests)) == ("completed", 1)


APPROVES = '{"approved": true}'


@pytest.mark.parametrize(
    "judged", [HookOutcome.deny("No."), HookOutcome.update(response=APPROVES)], ids=["deny", "other"]
)
def test_what_the_default_critic_answers_the_hooks_of_model_responses_decide_and_its_cost_is_counted(judged):
    critique = ModelResponse(content='{"approved": false}', usage=Usage(input_tokens=60))
    driver, agent = with_default_critic("One.", critique)
    second = HookRegistration("after_inference", lambda ctx: judged if len(driver.requests) == 2 else None)
    state = agent.with_capability(UseHooks(second)).build().run_sync("Go.")
    assert (state.status, state.output, len(driver.requests)) == ("completed", "One.", 2)
    assert (state.usage.total, state.model_usage["scripted"].total) == (60, 60)


def test_what_the_default_critic_has_used_is_counted_for_the_model_that_was_asked():
    driver, agent = with_default_critic("One.", ModelResponse(content=APPROVES, usage=Usage(input_tokens=60)))
    cheap = lambda request: HookOutcome.update(request=request.replace(model="cheap")) if driver.requests else None  # noqa: E731
    assert agent.hook("before_inference", cheap).build().run_sync("Go.").model_usage["cheap"].total == 60


def test_hooks_on_the_critics_answer_match_the_model_that_gave_it():
    _, agent = with_default_critic("One.", ModelResponse(content=APPROVES, model="judge-1"))
    heard: list[str] = []
    agent = agent.hook("after_inference", lambda model: heard.append(model), match="judge")  # noqa: PLW0108
    agent.build().run_sync("Go.")
    assert heard == ["judge-1"]
