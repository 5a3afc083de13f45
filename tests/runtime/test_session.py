"""A session: turns over one conversation, the events around them, and the effect of each decision."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import textwrap
from typing import TYPE_CHECKING, Any

import pytest

from agent_hooks import (
    AgentBuilder,
    HookContext,
    HookEvent,
    HookOutcome,
    HookPolicy,
    HookRegistration,
    HookTriggers,
    Message,
    ModelResponse,
    ScriptedDriver,
    StopSignal,
    Suspended,
    ToolCall,
    Usage,
    count_usage,
)
from agent_hooks.errors import (
    AgentHooksError,
    HookMisuseError,
    PromptRefusedError,
    RefusedError,
    RunError,
    StoreError,
    SuspensionError,
)
from agent_hooks.runtime.conversations import FileConversations, MemoryConversations
from agent_hooks.runtime.interceptors import PassThrough
from agent_hooks.runtime.session import SessionRunner
from agent_hooks.sources.skills import Skill, SkillHook
from agent_hooks.system.store import MemoryStore
from runtime.agents import Gate, Recorder, WaitingDriver, assert_well_formed, echo, said

if TYPE_CHECKING:
    from pathlib import Path

    from agent_hooks import AgentState
    from agent_hooks.runtime.builder import AgentBuilder as Builder

pytestmark = pytest.mark.interpreter

TURN = (
    "user_input before_turn before_execution should_continue before_step before_inference after_inference after_step "
    "should_continue on_stop before_output after_execution after_turn notification"
).split()
SAVE = ["before_conversation_save", "after_conversation_save"]
START = "setup before_agent before_conversation_load after_conversation_load session_start".split()


def builder(*replies: Any, recorder: Recorder | None = None, **policy: Any) -> Builder:
    made = AgentBuilder(plugins=(), policy=HookPolicy(**policy)).with_driver(ScriptedDriver(*replies))
    made = made.with_tools(echo).with_store(MemoryStore())
    return made.hook(HookTriggers.all(), recorder, name="recorder") if recorder is not None else made


def names(recorder: Recorder) -> list[str]:
    return [str(ctx.event) for ctx in recorder.seen]


def seen(recorder: Recorder, event: str) -> list[HookContext]:
    return [ctx for ctx in recorder.seen if ctx.event == event]


def only(recorder: Recorder, event: str) -> HookContext:
    (ctx,) = seen(recorder, event)
    return ctx


async def turns(session: SessionRunner, *prompts: str) -> AgentState:
    async with session:
        for prompt in prompts:
            await session.send(prompt)
    return session.state


# -- events ------------------------------------------------------------------------------------------------------------


def test_the_events_of_a_session_in_their_order():
    recorder = Recorder()
    agent = builder("Hi.", "Bye.", recorder=recorder).build()
    asyncio.run(turns(SessionRunner(agent, store=MemoryConversations()), "Hello.", "Good bye."))
    assert names(recorder) == [*START, *TURN, *SAVE, *TURN, *SAVE, "session_end", "after_agent"]


def test_without_a_store_nothing_is_loaded_or_saved():
    recorder = Recorder()
    asyncio.run(turns(SessionRunner(builder("Hi.", recorder=recorder).build()), "Hello."))
    assert [name for name in names(recorder) if "conversation" in name] == []


def test_what_hooks_are_told_about_a_session(tmp_path: Path):
    recorder, store = Recorder(), FileConversations(tmp_path)
    agent = builder("Hi.", recorder=recorder).with_name("helper").build()
    session = SessionRunner(agent, session_id="s1", store=store, config={"debug": True})
    asyncio.run(turns(session, "Hello."))

    assert {ctx.session_id for ctx in recorder.seen} == {"s1"}
    assert {ctx.agent_id for ctx in recorder.seen} == {agent.agent_id}
    assert {ctx.runtime for ctx in recorder.seen} == {session.agent}
    assert only(recorder, "setup").config == {"debug": True}
    definition = {"name": "helper", "model": "scripted", "tools": ["echo"]}
    assert only(recorder, "before_agent").definition == only(recorder, "after_agent").definition == definition
    start = only(recorder, "session_start")
    assert (start.source, start.transcript_path) == ("startup", str(tmp_path / "s1.jsonl"))
    assert only(recorder, "before_turn").message_count == 1
    assert (only(recorder, "after_turn").message_count, only(recorder, "after_turn").status) == (2, "completed")
    assert only(recorder, "before_conversation_save").message_count == 2
    assert only(recorder, "after_conversation_save").message_count == 2
    assert only(recorder, "notification").notification_type == "agent_completed"
    assert only(recorder, "session_end").end_reason == "other"


def test_each_turn_has_the_whole_conversation():
    driver = ScriptedDriver("One.", "Two.")
    agent = builder().with_driver(driver).build()
    state = asyncio.run(turns(SessionRunner(agent), "First.", "Second."))
    assert said(driver.requests[1].messages) == [("user", "First."), ("assistant", "One."), ("user", "Second.")]
    assert len(state.messages) == 4
    assert state.output == "Two."


@pytest.mark.parametrize("make", [MemoryConversations, FileConversations])
def test_a_session_goes_on_where_it_ended(make: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("AGENT_HOOKS_STATE_DIR", str(tmp_path))
    recorder, store = Recorder(), make()
    driver = ScriptedDriver("One.", "Two.")
    for prompt in ("First.", "Second."):
        agent = builder(recorder=recorder).with_driver(driver).build()
        asyncio.run(turns(SessionRunner(agent, session_id="s", store=store), prompt))
    assert said(driver.requests[1].messages) == [("user", "First."), ("assistant", "One."), ("user", "Second.")]
    assert [ctx.source for ctx in seen(recorder, "session_start")] == ["startup", "resume"]
    assert [ctx.message_count for ctx in seen(recorder, "after_conversation_load")] == [0, 2]
    assert len({ctx.agent_id for ctx in seen(recorder, "before_turn")}) == 1, "it is the same agent"


def test_two_sessions_of_one_agent_have_nothing_in_common():
    heard = []
    hook = HookRegistration("before_turn", lambda ctx: heard.append(ctx.session_id), scope=("session", "a"))
    agent = AgentBuilder(plugins=()).with_driver(ScriptedDriver(*"xy")).build()
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
    first, second = (SessionRunner(builder().build()).session_id for _ in range(2))
    assert first
    assert first != second


def test_without_an_event_loop():
    recorder = Recorder()
    agent = builder("Hi.", "Ho.", "A summary.", "Deployed.", recorder=recorder).build()
    skill = Skill("deploy", body="Deploy $ARGUMENTS.")
    with SessionRunner(agent, skills=[skill]) as session:
        assert session.send_sync("Hello.").output == "Hi."
        assert session.send_sync("Hey.").output == "Ho."
        assert "A summary." in session.compact_sync().messages[0].content
        assert session.activate_sync("deploy", "web").messages[-1].content == "Deploy web."
        assert session.send_sync("Go.").output == "Deployed."
    assert names(recorder)[-2:] == ["session_end", "after_agent"]

    async def main() -> None:
        with pytest.raises(HookMisuseError, match="await start"):
            session.start_sync()

    asyncio.run(main())


def test_a_session_can_be_started_and_closed_by_hand_and_again():
    recorder = Recorder()

    async def main() -> None:
        session = SessionRunner(builder("Hi.", recorder=recorder).build())
        await session.start()
        with pytest.raises(RunError, match="has begun already"):
            await session.start()
        await session.close("logout")
        await session.close()
        with pytest.raises(RunError, match="has ended"):
            await session.send("Hello?")
        await session.start()
        await session.close()

    asyncio.run(main())
    assert [ctx.end_reason for ctx in seen(recorder, "session_end")] == ["logout", "other"]


def test_an_error_in_its_block_ends_the_session_for_that_reason():
    recorder = Recorder()

    async def main() -> None:
        async with SessionRunner(builder(recorder=recorder).build()):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        asyncio.run(main())
    assert only(recorder, "session_end").end_reason == "error"
    assert names(recorder)[-1] == "after_agent"


def test_an_agent_without_hooks_has_sessions_too():
    agent = builder("Hi.").build().with_interceptor(PassThrough())
    assert asyncio.run(turns(SessionRunner(agent), "Hello.")).output == "Hi."


def test_an_interceptor_that_answers_nonsense_is_named():
    class Wrong(PassThrough):
        def listens(self, event: Any) -> bool:
            return str(event) == "before_agent"

        async def dispatch(self, ctx: HookContext) -> Any:
            return "fine"

    agent = builder("Hi.").build().with_interceptor(Wrong())
    with pytest.raises(RunError, match="'fine', not an outcome"):
        asyncio.run(turns(SessionRunner(agent)))


@pytest.mark.parametrize("compact_at", [0, 1, True, 2.5, "many"])
def test_a_wrong_number_of_messages_is_refused(compact_at: Any):
    with pytest.raises(RunError, match="compact_at"):
        SessionRunner(builder().build(), compact_at=compact_at)


@pytest.mark.parametrize("tokens", [0, -5, True, 2.5, "many"])
def test_a_wrong_number_of_tokens_is_refused(tokens: Any):
    with pytest.raises(RunError, match="compact_at_tokens"):
        SessionRunner(builder().build(), compact_at_tokens=tokens)


# -- decisions at the beginning ----------------------------------------------------------------------------------------


def test_an_agent_that_hooks_refuse_is_not_started():
    recorder = Recorder()
    agent = builder(recorder=recorder).hook("before_agent", lambda ctx: ("deny", "Not on a Friday.")).build()
    session = SessionRunner(agent, store=MemoryConversations())
    with pytest.raises(RefusedError, match="Not on a Friday") as caught:
        asyncio.run(turns(session))
    assert caught.value.event == "before_agent"
    assert names(recorder) == ["setup", "before_agent"]
    with pytest.raises(RunError, match="has not begun"):
        session.send_sync("Hello.")


def test_a_conversation_that_may_not_be_loaded_is_empty_and_what_is_stored_stays():
    store, recorder = MemoryConversations(), Recorder()
    asyncio.run(turns(SessionRunner(builder("One.").build(), session_id="s", store=store), "First."))
    agent = (
        builder("Two.", recorder=recorder).hook("before_conversation_load", lambda ctx: ("deny", "Private.")).build()
    )
    state = asyncio.run(turns(SessionRunner(agent, session_id="s", store=store), "Second."))

    assert said(state.messages) == [("user", "Second."), ("assistant", "Two.")]
    assert "after_conversation_load" not in names(recorder)
    assert only(recorder, "session_start").source == "startup"
    told = seen(recorder, "notification")[0]
    assert told.notification_type == "conversation_not_loaded"
    assert "Private." in told.message
    assert "before_conversation_save" not in names(recorder)
    stored = asyncio.run(store.load("s"))
    assert stored is not None
    assert said(stored.messages) == [("user", "First."), ("assistant", "One.")]


def test_a_conversation_that_cannot_be_read_is_an_error_and_the_agent_is_shut_down(tmp_path: Path):
    recorder, store = Recorder(), FileConversations(tmp_path)
    (tmp_path / "s.jsonl").write_text("nonsense\n")
    agent = builder(recorder=recorder).build()
    with pytest.raises(StoreError, match="damaged"):
        asyncio.run(turns(SessionRunner(agent, session_id="s", store=store)))
    assert names(recorder) == ["setup", "before_agent", "before_conversation_load", "after_agent"]


def test_a_session_that_is_in_use_cannot_be_started_twice(tmp_path: Path):
    store = FileConversations(tmp_path)

    async def main() -> None:
        async with SessionRunner(builder().build(), session_id="s", store=store):
            with pytest.raises(StoreError, match="in use"):
                await SessionRunner(builder().build(), session_id="s", store=store).start()
        async with SessionRunner(builder().build(), session_id="s", store=store):
            pass

    asyncio.run(main())


def test_a_hook_may_begin_a_session_with_context_and_a_state():
    def begins(state: AgentState) -> HookOutcome:
        state = state.with_system_prompt("Be brief.").with_metadata("user", "ann").replace(execution_count=99)
        return HookOutcome.proceed(context="It is Monday.", state=state)

    driver = ScriptedDriver("Hi.")
    agent = builder().with_driver(driver).hook("session_start", begins)
    agent = agent.hook("before_agent", lambda ctx: HookOutcome.with_context("You are new here."))
    state = asyncio.run(turns(SessionRunner(agent.build()), "Hello."))
    (request,) = driver.requests
    assert request.system_prompt == "Be brief."
    assert [text for _, text in said(request.messages)] == ["You are new here.", "It is Monday.", "Hello."]
    assert (state.metadata["user"], state.execution_count) == ("ann", 1)


def test_a_hook_may_stop_a_session_as_it_starts():
    recorder = Recorder()
    agent = builder(recorder=recorder).hook("session_start", lambda ctx: HookOutcome.stop("Closed.")).build()
    with pytest.raises(RefusedError, match=r"Closed\.") as caught:
        asyncio.run(turns(SessionRunner(agent)))
    assert caught.value.event == "session_start"
    assert only(recorder, "session_end").end_reason == "refused"
    assert names(recorder)[-1] == "after_agent"


def test_a_stop_signal_where_no_run_is_is_said_to_be_dropped(caplog: pytest.LogCaptureFixture):
    signal = HookOutcome.signal(StopSignal.user_requested("enough"))
    agent = builder("Hi.").hook("session_start", lambda ctx: signal).build()
    assert asyncio.run(turns(SessionRunner(agent), "Hello.")).status == "completed"
    assert "a stop signal on session_start is dropped" in caplog.text


# -- decisions about a turn --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("event", "error"), [("user_input", PromptRefusedError), ("before_turn", RefusedError)])
def test_a_refused_prompt_or_turn_leaves_the_conversation_as_it_was(event: str, error: type[Exception]):
    recorder = Recorder()

    def careful(state: AgentState, ctx: HookContext) -> Any:
        is_bad = ctx.prompt == "Bad." or (state.messages and state.messages[-1].content == "Bad.")
        return ("deny", "Mind your language.") if is_bad else None

    agent = builder("One.", "Two.", recorder=recorder).hook(event, lambda ctx: careful(ctx.state, ctx)).build()

    async def main() -> AgentState:
        async with SessionRunner(agent) as session:
            before = await session.send("Good.")
            with pytest.raises(error, match="Mind your language") as caught:
                await session.send("Bad.")
            assert caught.value.event == event  # type: ignore[attr-defined]
            assert session.state is before
            return await session.send("Better.")

    state = asyncio.run(main())
    assert [text for _, text in said(state.messages)] == ["Good.", "One.", "Better.", "Two."]
    assert len(seen(recorder, "after_turn")) == 2


def test_a_hook_may_rewrite_a_prompt_and_add_to_it():
    driver = ScriptedDriver("Hi.")
    agent = (
        builder()
        .with_driver(driver)
        .hook("user_input", lambda ctx: HookOutcome.proceed(prompt=str(ctx.prompt).strip(), context="(It is late.)"))
    )
    asyncio.run(turns(SessionRunner(agent.build()), "  Hello.  "))
    assert [text for _, text in said(driver.requests[0].messages)] == ["Hello.", "(It is late.)"]


def test_a_stop_at_the_prompt_is_no_turn():
    recorder = Recorder()
    agent = builder(recorder=recorder).hook("user_input", lambda ctx: HookOutcome.stop("Enough.")).build()
    state = asyncio.run(turns(SessionRunner(agent), "Hello."))
    assert (state.status, state.messages) == ("stopped", ())
    assert {"before_turn", "after_turn"} & set(names(recorder)) == set()


def test_a_model_that_fails_ends_the_turn_and_not_the_session():
    recorder = Recorder()
    agent = builder(OSError("no network"), "Hi.", recorder=recorder).build()

    async def main() -> list[str]:
        async with SessionRunner(agent, store=MemoryConversations()) as session:
            return [(await session.send(prompt)).status for prompt in ("Hello?", "Hello again?")]

    assert asyncio.run(main()) == ["failed", "completed"]
    assert [ctx.status for ctx in seen(recorder, "after_turn")] == ["failed", "completed"]


def test_a_cancelled_turn_leaves_a_session_that_can_go_on():
    gate = Gate()
    agent = builder().with_driver(WaitingDriver(gate, gate, "There you are.")).build()

    async def main() -> AgentState:
        async with SessionRunner(agent, store=MemoryConversations()) as session:
            task = asyncio.create_task(session.send("Hello?"))
            await asyncio.wait_for(gate.entered.wait(), 30)
            task.cancel()
            await asyncio.wait([task])
            assert task.cancelled()
            assert session.state.status == "stopped"
            return await session.send("Still there?")

    assert [text for _, text in said(asyncio.run(main()).messages)] == ["Hello?", "Still there?", "There you are."]


def test_what_a_cancelled_turn_left_is_saved_when_the_session_ends():
    gate, store = Gate(), MemoryConversations()
    agent = builder().with_driver(WaitingDriver(gate, gate)).build()

    async def main() -> AgentState | None:
        async with SessionRunner(agent, session_id="s", store=store) as session:
            task = asyncio.create_task(session.send("Hello?"))
            await asyncio.wait_for(gate.entered.wait(), 30)
            task.cancel()
            await asyncio.wait([task])
        return await store.load("s")

    state = asyncio.run(main())
    assert state is not None
    assert said(state.messages) == [("user", "Hello?")]


def test_a_session_does_one_thing_at_a_time():
    gate = Gate()
    agent = builder().with_driver(WaitingDriver(gate, gate)).build()

    async def main() -> None:
        session = SessionRunner(agent, skills=[Skill("deploy", body="Deploy.")])
        await session.start()
        task = asyncio.create_task(session.send("Hello?"))
        await asyncio.wait_for(gate.entered.wait(), 30)
        for make in (
            lambda: session.send("Me too."),
            session.compact,
            lambda: session.activate("deploy"),
            session.close,
        ):
            with pytest.raises(RunError, match="in the middle of something"):
                await make()
        task.cancel()
        await asyncio.wait([task])
        await session.close()

    asyncio.run(main())


# -- a turn that waits -------------------------------------------------------------------------------------------------

CALL = ToolCall("echo", {"text": "a"}, id="c1")
WAITS = {"ask": HookOutcome.ask("Really?"), "suspend": HookOutcome.suspend("Wait for Ann.", data={"ticket": 7})}


@pytest.mark.parametrize("decision", WAITS)
@pytest.mark.parametrize("event", ["user_input", "before_turn", "before_tool_use"])
def test_a_turn_that_waits_goes_on_in_another_session_runner(event: str, decision: str, tmp_path: Path):
    recorder, answers = Recorder(), MemoryStore()

    def session(*replies: Any) -> SessionRunner:
        made = builder(*replies, recorder=recorder).hook(event, lambda ctx: WAITS[decision])
        agent = made.with_ask("host").with_store(answers).build()
        return SessionRunner(agent, session_id="s", store=FileConversations(tmp_path))

    is_tool = event == "before_tool_use"
    state = asyncio.run(turns(session(CALL), "Go."))
    assert state.status == "suspended"
    assert [ctx.notification_type for ctx in seen(recorder, "notification")] == ["agent_needs_input"]
    assert "after_turn" not in names(recorder)

    async def go_on() -> AgentState:
        async with session("Done.") as again:
            assert again.state.suspended is not None
            with pytest.raises(SuspensionError, match=r"call session\.resume"):
                await again.send("Hello?")
            with pytest.raises(SuspensionError):
                await again.compact()
            state = await again.resume("allow")
            with pytest.raises(SuspensionError, match="does not wait"):
                await again.resume("allow")
            return state

    state = asyncio.run(go_on())
    assert (state.status, state.output) == ("completed", "Done.")
    assert [role for role, _ in said(state.messages)] == ["user", *(["assistant", "tool"] * is_tool), "assistant"]
    assert len(seen(recorder, "after_turn")) == 1


@pytest.mark.parametrize("decision", WAITS)
@pytest.mark.parametrize("event", ["user_input", "before_turn"])
def test_an_answer_of_no_refuses_what_waited_for_it(event: str, decision: str):
    store = MemoryConversations()
    made = builder("Hi.", "Ok.").hook(event, lambda ctx: WAITS[decision] if ctx.state.execution_count == 2 else None)
    agent = made.with_ask("host").build()

    async def main() -> AgentState:
        async with SessionRunner(agent, session_id="s", store=store) as session:
            await session.send("First.")
            assert (await session.send("Second.")).status == "suspended"
            with pytest.raises(RefusedError) as caught:
                await session.resume(HookOutcome.deny("Ann says no."))
            assert (caught.value.event, str(caught.value)) == (event, "Ann says no.")
            assert [text for _, text in said(session.state.messages)] == ["First.", "Hi."]
            await session.close()
            stored = await store.load("s")
            assert stored is not None
            assert stored.suspended is None, "the stored conversation waits for nothing, either"
            await store.release("s")
            await session.start()
            return await session.send("Third.")

    assert [text for _, text in said(asyncio.run(main()).messages)] == ["First.", "Hi.", "Third.", "Ok."]


def test_a_wrong_answer_takes_nothing_away():
    agent = builder(CALL, "Done.").before_tool_use(lambda ctx: WAITS["ask"]).with_ask("host").build()

    async def main() -> AgentState:
        async with SessionRunner(agent) as session:
            await session.send("Go.")
            for wrong in ("perhaps", HookOutcome.allow(tool_args={"text": "b"})):
                with pytest.raises(AgentHooksError):
                    await session.resume(wrong)
                assert session.state.suspended is not None
            return await session.resume("allow")

    assert asyncio.run(main()).output == "Done."


def test_a_turn_that_waits_can_be_given_up():
    recorder = Recorder()
    made = builder(CALL, "Fine.", recorder=recorder)
    agent = made.before_tool_use(lambda ctx: WAITS["suspend"]).build()

    async def main() -> AgentState:
        async with SessionRunner(agent, store=MemoryConversations()) as session:
            await session.send("Go.")
            assert (await session.abandon()).status == "stopped"
            return await session.send("Then not.")

    state = asyncio.run(main())
    assert state.output == "Fine."
    assert_well_formed(state.messages)
    assert [ctx.status for ctx in seen(recorder, "after_turn")] == ["stopped", "completed"]


def test_a_turn_goes_on_in_another_process(tmp_path: Path):
    program = textwrap.dedent(
        """
        import sys
        from agent_hooks import AgentBuilder, HookOutcome, ScriptedDriver, SessionRunner, FileConversations, ToolCall

        def deploy(target: str) -> str:
            return f"Deployed to {target}."

        replies = [ToolCall("deploy", {"target": "prod"}, id="c1")] if sys.argv[1] == "send" else ["All done."]
        agent = (
            AgentBuilder(plugins=()).with_driver(ScriptedDriver(*replies)).with_tools(deploy).with_ask("host")
            .before_tool_use(lambda tool_args: HookOutcome.ask("Really?")).build()
        )
        with SessionRunner(agent, session_id="s", store=FileConversations()) as session:
            state = session.send_sync("Deploy.") if sys.argv[1] == "send" else session.resume_sync("allow")
            print(state.status, [str(message.content) for message in state.messages])
        """
    )
    environment = {"PATH": "", "HOME": str(tmp_path), "PYTHONPATH": ":".join(sys.path)}

    def run(*arguments: str) -> str:
        command = [sys.executable, "-c", program, *arguments]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert run("send").startswith("suspended")
    assert run("resume") == "completed ['Deploy.', '', 'Deployed to prod.', 'All done.']\n"


# -- saving ------------------------------------------------------------------------------------------------------------


def test_a_conversation_that_may_not_be_saved_is_not_and_everybody_is_told(caplog: pytest.LogCaptureFixture):
    store, recorder = MemoryConversations(), Recorder()
    agent = builder("Hi.", recorder=recorder).hook("before_conversation_save", lambda ctx: ("deny", "Secret."))
    state = asyncio.run(turns(SessionRunner(agent.build(), session_id="s", store=store), "Hello."))
    assert state.output == "Hi."
    assert asyncio.run(store.load("s")) is None
    told = seen(recorder, "notification")[-1]
    assert (told.notification_type, told.message) == ("conversation_not_saved", "Secret.")
    assert len(seen(recorder, "before_conversation_save")) == 1, "nobody is asked twice about the same"
    assert "conversation_not_saved" in caplog.text
    assert "Secret." not in caplog.text


def test_a_store_that_fails_loses_no_turn():
    class Failing(MemoryConversations):
        is_broken = True

        async def save(self, session_id: str, state: AgentState) -> None:
            if self.is_broken:
                raise StoreError("full")
            await super().save(session_id, state)

    store, recorder = Failing(), Recorder()

    async def main() -> AgentState | None:
        async with SessionRunner(builder("Hi.", recorder=recorder).build(), session_id="s", store=store) as session:
            with pytest.raises(StoreError, match="full"):
                await session.send("Hello.")
            assert session.state.output == "Hi."
            store.is_broken = False
        return await store.load("s")

    state = asyncio.run(main())
    assert state is not None
    assert said(state.messages) == [("user", "Hello."), ("assistant", "Hi.")]


def test_a_store_that_fails_at_the_end_ends_the_session_all_the_same():
    class Failing(MemoryConversations):
        async def save(self, session_id: str, state: AgentState) -> None:
            raise StoreError("full")

    store, recorder = Failing(), Recorder()

    async def main() -> None:
        session = SessionRunner(builder("Hi.", recorder=recorder).build(), session_id="s", store=store)
        await session.start()
        with pytest.raises(StoreError):
            await session.send("Hello.")
        with pytest.raises(StoreError):
            await session.close()
        assert await store.load("s") is None, "it is free for others"

    asyncio.run(main())
    assert names(recorder)[-2:] == ["session_end", "after_agent"]


def test_a_conversation_can_be_saved_at_any_time():
    store = MemoryConversations()

    async def main() -> int:
        session = SessionRunner(builder().build(), session_id="s", store=store, skills=[Skill("x", body="Text.")])
        async with session:
            await session.activate("x")
            await session.save()
            stored = store._states["s"]
        return len(stored.messages)

    assert asyncio.run(main()) == 1


# -- besides ---------------------------------------------------------------------------------------------------------


def test_hooks_of_a_skill_hear_of_the_whole_session_and_of_nothing_else():
    heard: list[str] = []
    hooks = [SkillHook(event, lambda ctx: heard.append(str(ctx.event))) for event in ("before_agent", "after_agent")]
    agent = builder("Hi.", "Hi.").build()
    asyncio.run(turns(SessionRunner(agent, skills=[Skill("watch", hooks=hooks)]), "Hello."))
    asyncio.run(turns(SessionRunner(agent), "Hello."))
    assert heard == ["before_agent", "after_agent"]


def test_a_notification_of_ones_own():
    recorder = Recorder()

    async def main() -> None:
        async with SessionRunner(builder(recorder=recorder).build()) as session:
            await session.notify("idle_prompt", "Are you there?")

    asyncio.run(main())
    told = only(recorder, "notification")
    assert (told.notification_type, told.message) == ("idle_prompt", "Are you there?")


def test_a_suspended_state_is_json_in_the_store(tmp_path: Path):
    agent = builder(CALL).before_tool_use(lambda ctx: WAITS["suspend"]).build()
    asyncio.run(turns(SessionRunner(agent, session_id="s", store=FileConversations(tmp_path)), "Go."))
    last = json.loads((tmp_path / "s.jsonl").read_text().splitlines()[-1])
    assert Suspended.from_dict(last["state"]["suspended"]).data == {"ticket": 7}
    assert Message.from_dict(json.loads((tmp_path / "s.jsonl").read_text().splitlines()[1])["message"]).content == "Go."


def test_hooks_see_the_events_of_a_session_in_the_payload_of_commands():
    from agent_hooks.formats.entry import HookEntry
    from agent_hooks.handlers.payload import payload_of

    recorder = Recorder()
    asyncio.run(turns(SessionRunner(builder("Hi.", recorder=recorder).build(), session_id="s"), "Hello."))
    for event, key in (("session_start", "source"), ("before_agent", "definition"), ("before_turn", "message_count")):
        entry = HookEntry(event=HookEvent.parse(event), type="command")
        assert payload_of(entry, only(recorder, event))[key]


# -- recovery ----------------------------------------------------------------------------------------------------------


def test_a_session_that_is_started_twice_at_once_keeps_the_hooks_of_its_skills():
    entered, go_on = asyncio.Event(), asyncio.Event()

    async def slow(ctx: HookContext) -> None:
        entered.set()
        await go_on.wait()

    agent = builder(ToolCall("echo", {"text": "a"}), "Done.").hook("before_agent", slow).build()
    skill = Skill("careful", hooks=[SkillHook("PreToolUse", lambda ctx: ("deny", "Careful."))])

    async def main() -> AgentState:
        session = SessionRunner(agent, skills=[skill])
        first = asyncio.create_task(session.start())
        await asyncio.wait_for(entered.wait(), 30)
        with pytest.raises(RunError, match="in the middle of something"):
            await session.start()
        live = [info.plugin for info in agent.interceptor.manager.describe()]  # type: ignore[attr-defined]
        assert f"skill:careful@{session.session_id}" in live
        go_on.set()
        await first
        state = await session.send("Go.")
        await session.close()
        return state

    assert ("tool", "Denied: Careful.") in said(asyncio.run(main()).messages)


def test_a_session_that_begins_again_after_a_refused_load_is_kept():
    store, answers = MemoryConversations(), ["Not yet.", "", "Not any more."]

    def load(ctx: HookContext) -> Any:
        reason = answers.pop(0)
        return ("deny", reason) if reason else None

    agent = builder("One.", "Two.").hook("before_conversation_load", load).build()

    async def main() -> list[AgentState]:
        session = SessionRunner(agent, session_id="s", store=store)
        states = []
        for prompt in ("First.", "Second."):
            async with session:
                states.append(await session.send(prompt))
        async with session:
            return [*states, session.state]

    *_, last, nothing = asyncio.run(main())
    stored = store._states["s"]
    assert stored is not None
    assert stored.messages == last.messages, "the second time it was read, and so it is saved"
    assert nothing.messages == (), "a load that is refused leaves nothing of what the runner had before"


def test_a_session_is_not_started_or_closed_while_it_is_being_closed_or_started():
    entered, go_on = asyncio.Event(), asyncio.Event()

    async def slow(ctx: HookContext) -> None:
        entered.set()
        await go_on.wait()

    async def main() -> None:
        agent = builder("Hi.").hook(("before_agent", "session_end"), slow).build()
        session = SessionRunner(agent, skills=[Skill("deploy", hooks=[SkillHook("SessionEnd", lambda ctx: None)])])
        for first, second in ((session.start, session.close), (session.close, session.start)):
            entered.clear()
            go_on.clear()
            task = asyncio.create_task(first())
            await asyncio.wait_for(entered.wait(), 30)
            with pytest.raises(RunError, match="in the middle of something"):
                await second()
            go_on.set()
            await task

    asyncio.run(main())


def test_a_store_that_returns_no_state_is_an_error_and_gives_the_conversation_back():
    class Wrong(MemoryConversations):
        async def load(self, session_id: str) -> Any:
            await super().load(session_id)
            return {"messages": []}

    store = Wrong()
    with pytest.raises(RunError, match=r"not dict: read JSON with AgentState\.from_dict"):
        asyncio.run(turns(SessionRunner(builder().build(), session_id="s", store=store)))
    assert not store._taken


def test_a_start_that_fails_adds_nothing_to_the_conversation():
    answers: list[Any] = [HookOutcome.stop("Closed."), None]
    agent = builder("Hi.").hook("before_agent", lambda ctx: HookOutcome.with_context("You are new here."))
    session = SessionRunner(agent.hook("session_start", lambda ctx: answers.pop(0)).build())
    with pytest.raises(RefusedError, match="Closed"):
        session.start_sync()
    state = asyncio.run(turns(session, "Hello."))
    assert [text for _, text in said(state.messages)] == ["You are new here.", "Hello.", "Hi."]


@pytest.mark.parametrize("wrong", [{"messages": 5}, {"messages": ["text"]}, {"metadata": 7}])
def test_a_state_that_no_conversation_can_have_is_dropped(wrong: dict[str, Any], caplog: pytest.LogCaptureFixture):
    agent = builder("Hi.").hook("session_start", lambda state: HookOutcome.proceed(state=state.replace(**wrong)))
    state = asyncio.run(turns(SessionRunner(agent.build()), "Hello."))
    assert said(state.messages) == [("user", "Hello."), ("assistant", "Hi.")]
    assert "the state brought on session_start is none, and is dropped" in caplog.text


@pytest.mark.parametrize("event", ["before_agent", "session_start", "before_conversation_save"])
def test_messages_of_hooks_join_the_conversation(event: str):
    brought = HookOutcome.update(messages=[Message(role="user", content="By the way.", metadata={"source": "me"})])
    agent = builder("Hi.").hook(event, lambda ctx: brought).build()
    state = asyncio.run(turns(SessionRunner(agent, store=MemoryConversations()), "Hello."))
    assert ("user", "By the way.") in said(state.messages)


@pytest.mark.parametrize("session_id", [5, True, b"s"])
def test_a_session_id_that_is_no_text_is_refused(session_id: Any):
    with pytest.raises(RunError, match="A session id is a text"):
        SessionRunner(builder().build(), session_id=session_id)


def test_a_refused_prompt_that_waited_takes_nothing_else_out_of_the_conversation():
    gate = Gate()
    made = builder().with_driver(WaitingDriver(gate, gate, "Fine."))
    made = made.hook("session_start", lambda ctx: HookOutcome.with_context("It is Monday."))
    agent = made.hook("user_input", lambda ctx: WAITS["suspend"] if "please" in ctx.prompt else None).build()

    async def refused(session: SessionRunner) -> list[str]:
        assert (await session.send("Now, please.")).status == "suspended"
        with pytest.raises(RefusedError):
            await session.resume("deny")
        return [text for _, text in said(session.state.messages)]

    async def main() -> list[list[str]]:
        async with SessionRunner(agent) as session:
            first = await refused(session)
            cut_short = asyncio.create_task(session.send("Hello?"))
            await asyncio.wait_for(gate.entered.wait(), 30)
            cut_short.cancel()
            await asyncio.wait([cut_short])
            return [first, await refused(session)]

    assert asyncio.run(main()) == [["It is Monday."], ["It is Monday.", "Hello?"]]


def test_what_a_summary_has_used_counts_also_where_the_turn_after_it_is_refused():
    def only_two(message_count: int) -> Any:
        return ("deny", "Enough.") if message_count == 4 else None  # the summary, an exchange, and the prompt

    replies = [ModelResponse(content="text", usage=Usage(input_tokens=tokens)) for tokens in (1, 2, 4)]
    session = SessionRunner(builder(*replies).hook("before_turn", only_two).build(), compact_at=4)

    async def main() -> None:
        async with session:
            await session.send("First.")
            await session.send("Second.")
            with pytest.raises(RefusedError, match="Enough"):
                await session.send("Third.")

    asyncio.run(main())
    assert session.state.model_usage["scripted"].input_tokens == 2 + 4


@pytest.mark.parametrize("event", ["user_input", "before_turn", "before_inference", "before_tool_use"])
def test_a_process_that_is_killed_after_it_took_the_answer_leaves_a_session_that_can_go_on(event: str, tmp_path: Path):
    answers = MemoryStore()

    def session(*replies: Any) -> SessionRunner:
        made = builder(*replies).hook(event, lambda ctx: WAITS["suspend"] if ctx.state.execution_count == 1 else None)
        return SessionRunner(made.with_store(answers).build(), session_id="s", store=FileConversations(tmp_path))

    first = session(CALL)
    asyncio.run(turns(first, "Go."))
    file = tmp_path / "s.jsonl"
    waiting = file.read_bytes()

    async def go_on() -> None:
        async with session(*(["Done."] if event == "before_tool_use" else [CALL, "Done."])) as again:
            await again.resume("allow")

    asyncio.run(go_on())
    file.write_bytes(waiting)  # as if it had been killed before it could save

    async def get_over() -> AgentState:
        async with session("Fine.") as after:
            with pytest.raises(SuspensionError, match="resumed before"):
                await after.resume("allow")
            given_up = await after.abandon()
            assert (given_up.status, given_up.suspended) == ("stopped", None)
            if event == "before_tool_use":
                assert "what it did is not known" in str(given_up.messages[-1].content)
            with pytest.raises(SuspensionError, match="does not wait"):
                await after.abandon()
            return await after.send("And now?")

    state = asyncio.run(get_over())
    assert state.output == "Fine."
    assert_well_formed(state.messages)


def test_however_a_session_is_cancelled_nothing_of_it_stays_and_nothing_acknowledged_is_lost():
    """It is cancelled once, at each of the places where it waits."""

    async def waits(ctx: HookContext) -> None:
        await asyncio.sleep(0)

    async def scenario(session: SessionRunner, acknowledged: list[str]) -> None:
        async with session:
            for prompt in ("First.", "Second."):
                await session.send(prompt)
                acknowledged.append(prompt)
            await session.compact()

    async def one(steps: int) -> bool:
        store, recorder = MemoryConversations(), Recorder()
        acknowledged: list[str] = []
        made = builder(ToolCall("echo", {"text": "a"}, id="c1"), "One.", "Two.", "A summary.", recorder=recorder)
        agent = made.hook(HookTriggers.all(), waits, name="waits").build()
        skills = [Skill("deploy", hooks=[SkillHook("PreToolUse", lambda ctx: None)])]
        session = SessionRunner(agent, session_id="s", store=store, skills=skills)
        task = asyncio.create_task(scenario(session, acknowledged))
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
            assert messages == session.state.messages
            assert acknowledged[-1] in [text for _, text in said(messages)]
        return is_done

    assert any(asyncio.run(one(steps)) for steps in range(150)), "it comes to its end"


def spends(ctx: HookContext) -> None:
    count_usage("judge", Usage(input_tokens=5))


@pytest.mark.parametrize(
    "event", ["before_agent", "session_start", "before_conversation_load", "before_conversation_save", "user_input"]
)
def test_what_a_hook_uses_of_a_model_counts_for_the_session_wherever_it_is_asked(event: str):
    async def scenario() -> None:
        agent = builder("one").hook(event, spends).build()
        async with SessionRunner(agent, store=MemoryConversations()) as session:
            state = await session.send("1")
            assert state.model_usage["judge"].input_tokens == 5

    asyncio.run(scenario())


@pytest.mark.parametrize("event", ["user_input", "before_turn"])
def test_what_a_hook_has_used_that_refused_the_prompt_counts(event: str):
    def refuses(ctx: HookContext) -> HookOutcome:
        spends(ctx)
        return HookOutcome.deny("No.")

    async def scenario() -> None:
        async with SessionRunner(builder("one").hook(event, refuses).build()) as session:
            with pytest.raises(RefusedError):
                await session.send("1")
            assert session.state.model_usage["judge"].input_tokens == 5

    asyncio.run(scenario())


def test_an_active_skill_that_the_session_has_no_more_is_not_active():
    recorder, store = Recorder(), MemoryConversations()

    async def scenario() -> None:
        skill = Skill("deploy", body="Deploy.")
        async with SessionRunner(builder("one").build(), session_id="s", store=store, skills=[skill]) as session:
            await session.activate("deploy")
            assert session.active_skill == "deploy"
        agent = builder("one", recorder=recorder).build()
        async with SessionRunner(agent, session_id="s", store=store) as session:
            assert session.active_skill is None
            assert (await session.send("1")).output == "one"

    asyncio.run(scenario())
    assert seen(recorder, "notification")[0].notification_type == "skill_gone"


def test_nothing_is_no_prompt():
    async def scenario() -> None:
        async with SessionRunner(builder("one").build()) as session:
            with pytest.raises(RunError, match="nothing to send"):
                await session.send(None)

    asyncio.run(scenario())


@pytest.mark.parametrize(("scope", "seen_as"), [(None, "tenant a"), ("tenant b", "tenant b")])
def test_the_scope_of_the_agent_or_the_session_reaches_every_context(scope: str | None, seen_as: str):
    recorder = Recorder()
    agent = builder(ToolCall("echo", {"text": "a"}), "Done.", recorder=recorder).with_scope("tenant a").build()
    with SessionRunner(agent, scope=scope) as session:
        session.send_sync("Go.")
    assert len(recorder.seen) > 20
    assert {ctx.scope for ctx in recorder.seen} == {seen_as}


@pytest.mark.parametrize(
    ("parts", "problem"),
    [
        ({"agent": builder()}, r"not <AgentBuilder .*Call build\(\) on the builder"),
        ({"agent": None}, "A session runs an AgentRuntime, not None"),
        ({"store": "conversations/"}, "no ConversationStore: it needs the async methods load, save and release"),
        ({"store": MemoryConversations}, "no ConversationStore"),
        ({"compactor": "short"}, r"compactor is called with \(messages, instructions\)"),
        ({"skills": "skills/"}, r"skills is a list: SessionRunner\(agent, skills=\['skills/'\]\)"),
        ({"skills": Skill("a")}, "skills is a list"),
    ],
)
def test_a_part_that_does_not_fit_is_refused_at_once(parts: dict[str, Any], problem: str):
    agent = parts.pop("agent", builder().build()) if "agent" in parts else builder().build()
    with pytest.raises(RunError, match=problem):
        SessionRunner(agent, **parts)


def test_agents_builders_and_sessions_say_what_they_are_and_nothing_of_the_conversation():
    made = builder("Done.").with_name("shop").hook("before_step", lambda ctx: None)
    assert repr(made) == "<AgentBuilder 'shop' model='scripted' tools=1 hooks=1 capabilities=0>"
    assert repr(AgentBuilder(plugins=())) == "<AgentBuilder 'agent' model=None tools=0 hooks=0 capabilities=0>"
    agent = made.build()
    assert repr(agent) == "<AgentRuntime 'shop' model='scripted' tools=['echo']>"
    session = SessionRunner(agent, session_id="s1")
    assert repr(session) == "<SessionRunner 's1' of 'shop': closed, 0 messages>"
    with session:
        session.send_sync("My card is 4111.")
        assert repr(session) == "<SessionRunner 's1' of 'shop': completed, 2 messages>"
        assert repr(session.agent) == "<AgentRuntime 'shop' model='scripted' tools=['echo'] session='s1'>"


def test_where_another_event_loop_than_asyncios_runs_that_is_said():
    agent = builder("Done.").build()
    for running in (agent.run("Go."), SessionRunner(agent).start()):
        with pytest.raises(HookMisuseError, match=r"run on asyncio.*under trio .*to_thread"):
            running.send(None)  # as a loop of another kind does


@pytest.mark.parametrize("kind", [MemoryConversations, FileConversations])
def test_a_session_can_wait_for_the_conversation_that_another_one_has(kind: Any, tmp_path: Path):
    store = kind(timeout=30) if kind is MemoryConversations else kind(tmp_path, timeout=30)

    async def main() -> list[str]:
        agent, events = builder("One.", "Two.").build(), []

        async def turn(name: str) -> None:
            async with SessionRunner(agent, session_id="s", store=store) as session:
                events.append(f"{name} begins")
                await asyncio.sleep(0)
                await session.send(name)
                events.append(f"{name} ends with {len(session.state.messages)}")

        await asyncio.gather(turn("a"), turn("b"))
        return events

    assert asyncio.run(main()) == ["a begins", "a ends with 2", "b begins", "b ends with 4"]


WAITING = """
import asyncio, sys
from agent_hooks import AgentBuilder, FileConversations, ScriptedDriver, SessionRunner

async def main():
    agent = AgentBuilder(plugins=()).with_driver(ScriptedDriver("Hi.")).build()
    print("begins", flush=True)
    async with SessionRunner(agent, session_id="s", store=FileConversations(sys.argv[1], timeout=60)) as session:
        print((await session.send("Hello.")).output, len(session.state.messages))

asyncio.run(main())
"""


def test_a_session_of_another_process_waits_for_the_lock(tmp_path: Path):
    with SessionRunner(builder("One.").build(), session_id="s", store=FileConversations(tmp_path)) as session:
        command = [sys.executable, "-c", WAITING, str(tmp_path)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        assert process.stdout.readline() == "begins\n"
        session.send_sync("First.")
    assert process.communicate(timeout=60)[0] == "Hi. 4\n"
    assert process.returncode == 0
