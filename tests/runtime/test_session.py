"""A session: its events, its beginning and end, its conversation and its parts."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from agent_hooks import (
    AgentBuilder,
    HookContext,
    HookEvent,
    HookOutcome,
    HookRegistration,
    HookTriggers,
    Message,
    ModelResponse,
    ScriptedDriver,
    StopSignal,
    ToolCall,
    Usage,
    count_usage,
)
from agent_hooks.errors import HookMisuseError, RefusedError, RunError
from agent_hooks.formats.entry import HookEntry
from agent_hooks.handlers.payload import payload_of
from agent_hooks.runtime.conversations import FileConversations, MemoryConversations
from agent_hooks.runtime.interceptors import PassThrough
from agent_hooks.runtime.session import SessionRunner
from agent_hooks.sources.skills import Skill, SkillHook
from runtime.agents import Recorder, assert_well_formed, said
from runtime.sessions import builder, names, only, seen, session, talk, texts

if TYPE_CHECKING:
    from pathlib import Path

    from agent_hooks import AgentState

pytestmark = pytest.mark.interpreter

TURN = (
    "user_input before_turn before_execution should_continue before_step before_inference after_inference after_step "
    "should_continue on_stop before_output after_execution after_turn notification"
).split()
SAVE = ["before_conversation_save", "after_conversation_save"]
START = "setup before_agent before_conversation_load after_conversation_load session_start".split()


# -- events ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("store", [MemoryConversations(), None])
def test_the_events_of_a_session_in_their_order(store: Any):
    recorder = Recorder()
    talk(session("Hi.", "Bye.", recorder=recorder, store=store), "Hello.", "Good bye.")
    events = [*START, *TURN, *SAVE, *TURN, *SAVE, "session_end", "after_agent"]
    assert names(recorder) == [event for event in events if store or "conversation" not in event]


def test_what_hooks_are_told_about_a_session(tmp_path: Path):
    recorder, store = Recorder(), FileConversations(tmp_path)
    agent = builder("Hi.", recorder=recorder).with_name("helper").build()
    runner = SessionRunner(agent, session_id="s1", store=store, config={"debug": True})
    talk(runner, "Hello.")

    told = {(ctx.session_id, ctx.agent_id, ctx.runtime) for ctx in recorder.seen}
    assert told == {("s1", agent.agent_id, runner.agent)}
    assert only(recorder, "setup").config == {"debug": True}
    definition = {"name": "helper", "model": "scripted", "tools": ["echo"]}
    assert only(recorder, "before_agent").definition == only(recorder, "after_agent").definition == definition
    start = only(recorder, "session_start")
    assert (start.source, start.transcript_path) == ("startup", str(tmp_path / "s1.jsonl"))
    counted = ("before_turn", "after_turn", *SAVE)
    assert [only(recorder, event).message_count for event in counted] == [1, 2, 2, 2]
    assert only(recorder, "after_turn").status == "completed"
    assert only(recorder, "notification").notification_type == "agent_completed"
    assert only(recorder, "session_end").end_reason == "other"
    for event, key in (("session_start", "source"), ("before_agent", "definition"), ("before_turn", "message_count")):
        entry = HookEntry(event=HookEvent.parse(event), type="command")
        assert payload_of(entry, only(recorder, event))[key], "commands are told, too"


@pytest.mark.parametrize("make", [MemoryConversations, FileConversations])
def test_a_session_goes_on_where_it_ended(make: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("AGENT_HOOKS_STATE_DIR", str(tmp_path))
    recorder, store = Recorder(), make()
    driver = ScriptedDriver("One.", "Two.")
    for prompt in ("First.", "Second."):
        state = talk(session(recorder=recorder, driver=driver, session_id="s", store=store), prompt)
    assert said(driver.requests[1].messages) == [("user", "First."), ("assistant", "One."), ("user", "Second.")]
    assert (len(state.messages), state.output) == (4, "Two.")
    assert [ctx.source for ctx in seen(recorder, "session_start")] == ["startup", "resume"]
    assert [ctx.message_count for ctx in seen(recorder, "after_conversation_load")] == [0, 2]
    assert len({ctx.agent_id for ctx in seen(recorder, "before_turn")}) == 1, "it is the same agent"


def test_two_sessions_of_one_agent_have_nothing_in_common():
    heard = []
    hook = HookRegistration("before_turn", lambda ctx: heard.append(ctx.session_id), scope=("session", "a"))
    agent = builder(*"xy").build()
    agent.interceptor.manager.add(hook)  # type: ignore[attr-defined]

    async def main() -> list[int]:
        async with SessionRunner(agent, session_id="a") as a, SessionRunner(agent, session_id="b") as b:
            await a.send("to a")
            await b.send("to b")
            return [len(a.state.messages), len(b.state.messages)]

    assert asyncio.run(main()) == [2, 2]
    assert heard == ["a"]


def test_a_session_has_the_agents_id_or_one_of_its_own():
    agent = builder().with_session("given").build()
    assert SessionRunner(agent).session_id == "given"
    assert SessionRunner(agent, session_id="mine").agent.session_id == "mine"
    assert session().session_id not in ("", session().session_id)


@pytest.mark.parametrize(("scope", "seen_as"), [(None, "tenant a"), ("tenant b", "tenant b")])
def test_the_scope_of_the_agent_or_the_session_reaches_every_context(scope: str | None, seen_as: str):
    recorder = Recorder()
    agent = builder(ToolCall("echo", {"text": "a"}), "Done.", recorder=recorder).with_scope("tenant a").build()
    talk(SessionRunner(agent, scope=scope), "Go.")
    assert len(recorder.seen) > 20
    assert {ctx.scope for ctx in recorder.seen} == {seen_as}


# -- beginning and end -------------------------------------------------------------------------------------------------


def test_without_an_event_loop():
    recorder = Recorder()
    skill = Skill("deploy", body="Deploy $ARGUMENTS.")
    with session("Hi.", "Ho.", "A summary.", "Deployed.", recorder=recorder, skills=[skill]) as runner:
        assert runner.send_sync("Hello.").output == "Hi."
        assert runner.send_sync("Hey.").output == "Ho."
        assert "A summary." in runner.compact_sync().messages[0].content
        assert runner.activate_sync("deploy", "web").messages[-1].content == "Deploy web."
        assert runner.send_sync("Go.").output == "Deployed."
        with pytest.raises(RunError, match="nothing to send"):
            runner.send_sync(None)
    assert names(recorder)[-2:] == ["session_end", "after_agent"]

    async def main() -> None:
        with pytest.raises(HookMisuseError, match="await start"):
            runner.start_sync()

    asyncio.run(main())


def test_a_session_can_be_started_and_closed_by_hand_and_again():
    recorder = Recorder()

    async def main() -> None:
        runner = session("Hi.", recorder=recorder)
        await runner.start()
        with pytest.raises(RunError, match="has begun already"):
            await runner.start()
        await runner.close("logout")
        await runner.close()
        with pytest.raises(RunError, match="has ended"):
            await runner.send("Hello?")
        await runner.start()
        await runner.close()

    asyncio.run(main())
    assert [ctx.end_reason for ctx in seen(recorder, "session_end")] == ["logout", "other"]


def test_an_error_in_its_block_ends_the_session_for_that_reason():
    recorder = Recorder()
    with pytest.raises(ZeroDivisionError), session(recorder=recorder):
        raise ZeroDivisionError
    assert only(recorder, "session_end").end_reason == "error"
    assert names(recorder)[-1] == "after_agent"


def test_an_agent_without_hooks_has_sessions_too():
    agent = builder("Hi.").build().with_interceptor(PassThrough())
    assert talk(SessionRunner(agent), "Hello.").output == "Hi."


LATE = [*START, "session_end", "after_agent"]


@pytest.mark.parametrize(
    ("event", "answer", "happened"),
    [
        ("before_agent", ("deny", "Not on a Friday."), START[:2]),
        ("session_start", HookOutcome.stop("Not on a Friday."), LATE),
    ],
)
def test_a_session_that_hooks_refuse_is_not_started(event: str, answer: Any, happened: list[str]):
    recorder = Recorder()
    runner = session(recorder=recorder, on={event: answer}, store=MemoryConversations())
    with pytest.raises(RefusedError, match="Not on a Friday") as caught:
        talk(runner)
    assert (caught.value.event, names(recorder)) == (event, happened)
    assert [ctx.end_reason for ctx in seen(recorder, "session_end")] == ["refused"] * (happened == LATE)
    with pytest.raises(RunError, match="has not begun"):
        runner.send_sync("Hello.")


def test_a_start_that_fails_adds_nothing_to_the_conversation():
    answers: list[Any] = [HookOutcome.stop("Closed."), None]
    on = {"before_agent": HookOutcome.with_context("You are new here."), "session_start": lambda ctx: answers.pop(0)}
    runner = session("Hi.", on=on)
    with pytest.raises(RefusedError, match="Closed"):
        runner.start_sync()
    assert texts(talk(runner, "Hello.")) == ["You are new here.", "Hello.", "Hi."]


def test_a_session_is_not_started_or_closed_while_it_is_being_started_or_closed():
    """And it keeps the hooks of its skills."""

    async def interfere(ctx: HookContext) -> None:
        for use in (runner.start, runner.close):
            with pytest.raises(RunError, match="in the middle of something"):
                await use()
        live = [info.plugin for info in runner.agent.interceptor.manager.describe()]  # type: ignore[attr-defined]
        interfered.append((str(ctx.event), f"skill:careful@{runner.session_id}" in live))

    interfered: list[tuple[str, bool]] = []
    skills = [Skill("careful", hooks=[SkillHook("PreToolUse", lambda ctx: ("deny", "Careful."))])]
    on = {"before_agent": interfere, "session_end": interfere}
    runner = session(ToolCall("echo", {"text": "a"}), "Done.", on=on, skills=skills)
    assert said(talk(runner, "Go.").messages)[2] == ("tool", "Denied: Careful.")
    assert interfered == [("before_agent", True), ("session_end", True)]


def test_hooks_of_a_skill_hear_of_the_whole_session_and_of_nothing_else():
    heard: list[str] = []
    hooks = [SkillHook(event, lambda ctx: heard.append(str(ctx.event))) for event in ("before_agent", "after_agent")]
    agent = builder("Hi.", "Hi.").build()
    talk(SessionRunner(agent, skills=[Skill("watch", hooks=hooks)]), "Hello.")
    talk(SessionRunner(agent), "Hello.")
    assert heard == ["before_agent", "after_agent"]


def test_an_active_skill_that_the_session_has_no_more_is_not_active():
    recorder, store = Recorder(), MemoryConversations()
    with session("one", session_id="s", store=store, skills=[Skill("deploy", body="Deploy.")]) as runner:
        runner.activate_sync("deploy")
        assert runner.active_skill == "deploy"
    with session("one", recorder=recorder, session_id="s", store=store) as runner:
        assert runner.active_skill is None
        assert runner.send_sync("1").output == "one"
    assert seen(recorder, "notification")[0].notification_type == "skill_gone"


# -- what hooks bring --------------------------------------------------------------------------------------------------


def test_a_hook_may_begin_a_session_with_context_and_a_state():
    def begins(state: AgentState) -> HookOutcome:
        state = state.with_system_prompt("Be brief.").with_metadata("user", "ann").replace(execution_count=99)
        return HookOutcome.proceed(context="It is Monday.", state=state)

    driver = ScriptedDriver("Hi.")
    on = {"session_start": begins, "before_agent": HookOutcome.with_context("You are new here.")}
    state = talk(session(driver=driver, on=on), "Hello.")
    (request,) = driver.requests
    assert request.system_prompt == "Be brief."
    assert [text for _, text in said(request.messages)] == ["You are new here.", "It is Monday.", "Hello."]
    assert (state.metadata["user"], state.execution_count) == ("ann", 1)


@pytest.mark.parametrize("event", ["before_agent", "session_start", "before_conversation_save"])
def test_messages_of_hooks_join_the_conversation(event: str):
    brought = HookOutcome.update(messages=[Message(role="user", content="By the way.", metadata={"source": "me"})])
    assert "By the way." in texts(talk(session("Hi.", on={event: brought}, store=MemoryConversations()), "Hello."))


@pytest.mark.parametrize("wrong", [{"messages": 5}, {"messages": ["text"]}, {"metadata": 7}])
def test_a_state_that_no_conversation_can_have_is_dropped(wrong: dict[str, Any], caplog: pytest.LogCaptureFixture):
    on = {"session_start": lambda state: HookOutcome.proceed(state=state.replace(**wrong))}
    assert texts(talk(session("Hi.", on=on), "Hello.")) == ["Hello.", "Hi."]
    assert "the state brought on session_start is none, and is dropped" in caplog.text


def test_a_stop_signal_where_no_run_is_is_said_to_be_dropped(caplog: pytest.LogCaptureFixture):
    on = {"session_start": HookOutcome.signal(StopSignal.user_requested("enough"))}
    assert talk(session("Hi.", on=on), "Hello.").status == "completed"
    assert "a stop signal on session_start is dropped" in caplog.text


EVENTS = ["before_agent", "session_start", "before_conversation_load", "before_conversation_save", "user_input"]


@pytest.mark.parametrize(
    ("event", "outcome"),
    [*((event, None) for event in EVENTS), *((event, ("deny", "No.")) for event in ("user_input", "before_turn"))],
)
def test_what_a_hook_uses_of_a_model_counts_wherever_it_is_asked_also_if_it_refuses(event: str, outcome: Any):
    def spends(ctx: HookContext) -> Any:
        count_usage("judge", Usage(input_tokens=5))
        return outcome

    with session("one", on={event: spends}, store=MemoryConversations()) as runner:
        try:
            runner.send_sync("1")
        except RefusedError:
            assert outcome
        assert runner.state.model_usage["judge"].input_tokens == 5


def test_what_a_summary_has_used_counts_also_where_the_turn_after_it_is_refused():
    def only_two(message_count: int) -> Any:
        return ("deny", "Enough.") if message_count == 4 else None  # the summary, an exchange, and the prompt

    replies = [ModelResponse(content="text", usage=Usage(input_tokens=tokens)) for tokens in (1, 2, 4)]
    runner = session(*replies, on={"before_turn": only_two}, compact_at=4)
    with pytest.raises(RefusedError, match="Enough"):
        talk(runner, "First.", "Second.", "Third.")
    assert runner.state.model_usage["scripted"].input_tokens == 2 + 4


def test_an_interceptor_that_answers_nonsense_is_named():
    class Wrong(PassThrough):
        def listens(self, event: Any) -> bool:
            return str(event) == "before_agent"

        async def dispatch(self, ctx: HookContext) -> Any:
            return "fine"

    with pytest.raises(RunError, match="'fine', not an outcome"):
        talk(SessionRunner(builder("Hi.").build().with_interceptor(Wrong())))


# -- its parts ---------------------------------------------------------------------------------------------------------

WRONG_NUMBERS = (0, -5, True, 2.5, "many")
WRONG_PARTS: list[tuple[dict[str, Any], str]] = [
    ({"agent": builder()}, r"not <AgentBuilder .*Call build\(\) on the builder"),
    ({"agent": None}, "A session runs an AgentRuntime, not None"),
    ({"store": "conversations/"}, "no ConversationStore: it needs the async methods load, save and release"),
    ({"store": MemoryConversations}, "no ConversationStore"),
    ({"compactor": "short"}, r"compactor is called with \(messages, instructions\)"),
    ({"skills": "skills/"}, r"skills is a list: SessionRunner\(agent, skills=\['skills/'\]\)"),
    ({"skills": Skill("a")}, "skills is a list"),
    *(({"session_id": wrong}, "A session id is a text") for wrong in (5, True, b"s")),
    *(({"compact_at": wrong}, "compact_at") for wrong in (1, *WRONG_NUMBERS)),
    *(({"compact_at_tokens": wrong}, "compact_at_tokens") for wrong in WRONG_NUMBERS),
]


@pytest.mark.parametrize(("parts", "problem"), WRONG_PARTS)
def test_a_part_that_does_not_fit_is_refused_at_once(parts: dict[str, Any], problem: str):
    with pytest.raises(RunError, match=problem):
        SessionRunner(**{"agent": builder().build(), **parts})


def test_agents_builders_and_sessions_say_what_they_are_and_nothing_of_the_conversation():
    made = builder("Done.").with_name("shop").hook("before_step", lambda ctx: None)
    assert repr(made) == "<AgentBuilder 'shop' model='scripted' tools=1 hooks=1 capabilities=0>"
    assert repr(AgentBuilder(plugins=())) == "<AgentBuilder 'agent' model=None tools=0 hooks=0 capabilities=0>"
    agent = made.build()
    assert repr(agent) == "<AgentRuntime 'shop' model='scripted' tools=['echo']>"
    runner = SessionRunner(agent, session_id="s1")
    assert repr(runner) == "<SessionRunner 's1' of 'shop': closed, 0 messages>"
    with runner:
        runner.send_sync("My card is 4111.")
        assert repr(runner) == "<SessionRunner 's1' of 'shop': completed, 2 messages>"
        assert repr(runner.agent) == "<AgentRuntime 'shop' model='scripted' tools=['echo'] session='s1'>"


def test_where_another_event_loop_than_asyncios_runs_that_is_said():
    agent = builder("Done.").build()
    for running in (agent.run("Go."), SessionRunner(agent).start()):
        with pytest.raises(HookMisuseError, match=r"run on asyncio.*under trio .*to_thread"):
            running.send(None)  # as a loop of another kind does


def test_however_a_session_is_cancelled_nothing_of_it_stays_and_nothing_acknowledged_is_lost():
    """It is cancelled once, at each of the places where it waits."""

    async def waits(ctx: HookContext) -> None:
        await asyncio.sleep(0)

    async def scenario(runner: SessionRunner, acknowledged: list[str]) -> None:
        async with runner:
            for prompt in ("First.", "Second."):
                await runner.send(prompt)
                acknowledged.append(prompt)
            await runner.compact()

    async def one(steps: int) -> bool:
        store, recorder = MemoryConversations(), Recorder()
        acknowledged: list[str] = []
        made = builder(ToolCall("echo", {"text": "a"}, id="c1"), "One.", "Two.", "A summary.", recorder=recorder)
        agent = made.hook(HookTriggers.all(), waits, name="waits").build()
        skills = [Skill("deploy", hooks=[SkillHook("PreToolUse", lambda ctx: None)])]
        runner = SessionRunner(agent, session_id="s", store=store, skills=skills)
        task = asyncio.create_task(scenario(runner, acknowledged))
        for _ in range(steps):
            await asyncio.sleep(0)
        is_done = task.done()
        task.cancel()
        await asyncio.wait([task], timeout=30)
        assert is_done or task.cancelled()
        assert asyncio.all_tasks() == {asyncio.current_task()}
        assert all("skill:" not in info.plugin for info in agent.interceptor.manager.describe())  # type: ignore[attr-defined]
        assert names(recorder).count("session_end") in (names(recorder).count("session_start"), 1)
        stored = await store.load("s")
        messages = () if stored is None else stored.messages
        assert_well_formed(messages)
        if acknowledged:
            assert messages == runner.state.messages
            assert acknowledged[-1] in [text for _, text in said(messages)]
        return is_done

    assert any(asyncio.run(one(steps)) for steps in range(150)), "it comes to its end"
