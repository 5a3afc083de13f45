"""Events around the runs of a session: waiting operations can be answered, and no outcome breaks a session."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_hooks import HookContext, HookOutcome, StopSignal
from agent_hooks.errors import RefusedError, SuspensionError
from agent_hooks.runtime.conversations import MemoryConversations
from agent_hooks.runtime.session import SessionRunner
from agent_hooks.sources.skills import Skill
from runtime.agents import Recorder, assert_well_formed
from runtime.sessions import WAITS, builder, names, session, talk

if TYPE_CHECKING:
    from agent_hooks import AgentState

pytestmark = pytest.mark.interpreter

# Events outside of runs on which hooks may decide, each with an operation that fires it.
BOUNDARIES = (
    "before_agent before_conversation_load before_conversation_save before_skill_activation before_compact "
    "session_start user_input before_turn"
).split()


# -- waiting at a boundary ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("decision", WAITS)
def test_what_waits_at_a_boundary_is_refused_and_can_be_tried_again_with_the_answer(decision: str):
    calls: list[str] = []

    def hook(ctx: HookContext) -> HookOutcome:
        calls.append(ctx.skill_name)
        return WAITS[decision]

    agent = builder("Hi.").hook("before_skill_activation", hook).with_ask("host").build()
    skills = [Skill(name, body="Text.") for name in ("deploy", "publish")]

    async def main() -> None:
        async with SessionRunner(agent, skills=skills) as session:
            with pytest.raises(SuspensionError, match="Nothing waits"):
                session.answer("before_skill_activation", "allow")
            for answer in ("deny", "allow"):
                with pytest.raises(RefusedError, match=r"session\.answer\('before_skill_activation'") as caught:
                    await session.activate("deploy", "web")
                assert WAITS[decision].reason in str(caught.value)
                session.answer("PreSkillActivation", answer)
                if answer == "deny":
                    with pytest.raises(RefusedError):
                        await session.activate("deploy", "web")
            await session.activate("deploy", "web")
            assert session.active_skill == "deploy"
            # It was good for one answer, and only for this.
            with pytest.raises(RefusedError, match="It waits"):
                await session.activate("deploy", "web")
            session.answer("before_skill_activation", "allow")
            with pytest.raises(RefusedError, match="It waits"):
                await session.activate("publish", "web")

    asyncio.run(main())


@pytest.mark.parametrize(("event", "messages"), [("before_agent", 0), ("before_conversation_load", 2)])
def test_a_session_whose_start_waits_for_an_answer_can_be_started_with_it(event: str, messages: int):
    """A load that waits is no empty conversation."""
    store = MemoryConversations()
    if messages:
        talk(session("One.", session_id="s", store=store), "First.")
    runner = session("Two.", on={event: WAITS["suspend"]}, session_id="s", store=store)
    with pytest.raises(RefusedError, match=r"Wait for Ann.*It waits"):
        runner.start_sync()
    runner.answer(event, "allow")
    with runner:
        assert len(runner.state.messages) == messages
        assert runner.send_sync("Second.").output == "Two."


def test_who_is_asked_by_the_application_answers_at_boundaries_too_and_a_notification_comes_first():
    happened: list[str] = []

    async def person(ctx: HookContext, reason: str) -> bool:
        happened.append(f"asked {reason}")
        return True

    agent = (
        builder("Hi.")
        .hook(("before_agent", "before_turn"), lambda ctx: HookOutcome.ask(f"May it? {ctx.event}"))
        .hook("notification", lambda ctx: happened.append(f"{ctx.notification_type} {ctx.message}"), mode="observe")
        .with_ask(person)
        .build()
    )
    talk(SessionRunner(agent), "Hello.")
    assert happened[:2] == ["permission_prompt May it? before_agent", "asked May it? before_agent"]
    assert happened[2:4] == ["permission_prompt May it? before_turn", "asked May it? before_turn"]


# -- no crash anywhere a gate may answer -------------------------------------------------------------------------------

ANSWERS: dict[str, Any] = {
    "nothing": None,
    "deny": HookOutcome.deny("No."),
    "deny with context": HookOutcome.deny("No.", context="Why not."),
    "stop": HookOutcome.stop("Stop."),
    "ask": HookOutcome.ask("May it?"),
    "suspend": HookOutcome.suspend("Wait.", data=1),
    "allow": HookOutcome.allow(),
    "skip": HookOutcome.skip(),
    "retry": HookOutcome.retry("Again."),
    "force": HookOutcome.force_continue("On."),
    "context": HookOutcome.with_context("By the way."),
    "signal": HookOutcome.signal(StopSignal.user_requested("enough")),
    "nonsense": "perhaps",
    "false": False,
    "raises": ValueError("broken"),
    "exits": SystemExit(3),
}
GATES = st.dictionaries(st.sampled_from(BOUNDARIES), st.sampled_from(sorted(ANSWERS)), max_size=4)


@settings(max_examples=60)
@given(gates=GATES, ask=st.sampled_from([None, "host", True, False]), closed=st.sampled_from([None, "open", "closed"]))
def test_whatever_hooks_answer_at_the_boundaries_a_session_is_refused_or_whole(
    gates: dict[str, str], ask: Any, closed: Any
):
    recorder, store = Recorder(), MemoryConversations()
    made = builder(*(["Fine."] * 9), recorder=recorder, **({} if closed is None else {"on_gate_failure": closed}))
    for event, name in gates.items():

        def hook(ctx: HookContext, answer: Any = ANSWERS[name]) -> Any:
            if isinstance(answer, BaseException):
                raise answer
            return answer

        made = made.hook(event, hook)
    agent = made.with_ask((lambda ctx, reason: ask) if isinstance(ask, bool) else ask).build()

    async def main() -> AgentState:
        session = SessionRunner(agent, session_id="s", store=store, skills=[Skill("deploy", body="Deploy.")])
        with suppress(RefusedError):
            async with session:
                for prompt in ("One.", "Two."):
                    with suppress(RefusedError, SuspensionError):
                        await session.activate("deploy")
                    with suppress(RefusedError, SuspensionError):
                        await session.send(prompt)
                with suppress(SuspensionError):
                    await session.compact()
        return session.state

    state = asyncio.run(main())
    happened = names(recorder)
    assert_well_formed(state.messages)
    for event in ("before_agent", "before_skill_activation", "before_turn", "user_input"):
        if gates.get(event) in ("deny", "deny with context"):
            after = {"before_agent": "session_start", "before_skill_activation": "after_skill_activation"}
            assert after.get(event, "before_execution") not in happened
    is_started = "before_conversation_load" in happened
    assert happened.count("after_agent") == is_started
    assert happened.count("session_end") == happened.count("session_start") <= 1
    assert not store._taken, "the conversation is given back"
    stored = store._states.get("s")
    assert stored is None or stored.messages == state.messages or "before_conversation_save" in gates
    assert all("skill:" not in info.plugin for info in agent.interceptor.manager.describe())  # type: ignore[attr-defined]
