"""The turns of a session: refusals, cancellations, waits, and the store of its conversation."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from agent_hooks import HookContext, HookOutcome, Message, ScriptedDriver, Suspended, ToolCall
from agent_hooks.errors import PromptRefusedError, RefusedError, RunError, StoreError, SuspensionError
from agent_hooks.runtime.conversations import FileConversations, MemoryConversations
from agent_hooks.runtime.session import SessionRunner
from agent_hooks.sources.skills import Skill
from agent_hooks.system.store import MemoryStore
from runtime.agents import Gate, Recorder, WaitingDriver, assert_well_formed, said
from runtime.sessions import WAITS, builder, cancel_at, names, only, seen, session, talk, texts

if TYPE_CHECKING:
    from pathlib import Path

    from agent_hooks import AgentState

CALL = ToolCall("echo", {"text": "a"}, id="c1")


# -- refused and failed ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("event", "error"), [("user_input", PromptRefusedError), ("before_turn", RefusedError)])
def test_a_refused_prompt_or_turn_leaves_the_conversation_as_it_was(event: str, error: type[Exception]):
    recorder = Recorder()

    def careful(ctx: Any) -> Any:
        is_bad = "Bad." in (ctx.prompt, *texts(ctx.state)[-1:])
        return ("deny", "Mind your language.") if is_bad else None

    with session("One.", "Two.", recorder=recorder, on={event: careful}) as runner:
        before = runner.send_sync("Good.")
        with pytest.raises(error, match="Mind your language") as caught:
            runner.send_sync("Bad.")
        assert caught.value.event == event  # type: ignore[attr-defined]
        assert runner.state is before
        assert texts(runner.send_sync("Better.")) == ["Good.", "One.", "Better.", "Two."]
    assert len(seen(recorder, "after_turn")) == 2


def test_a_hook_may_rewrite_a_prompt_and_add_to_it():
    driver = ScriptedDriver("Hi.")
    on = {"user_input": lambda ctx: HookOutcome.proceed(prompt=str(ctx.prompt).strip(), context="(It is late.)")}
    talk(session(driver=driver, on=on), "  Hello.  ")
    assert [text for _, text in said(driver.requests[0].messages)] == ["Hello.", "(It is late.)"]


def test_a_stop_at_the_prompt_is_no_turn():
    recorder = Recorder()
    state = talk(session(recorder=recorder, on={"user_input": HookOutcome.stop("Enough.")}), "Hello.")
    assert (state.status, state.messages) == ("stopped", ())
    assert {"before_turn", "after_turn"} & set(names(recorder)) == set()


def test_a_model_that_fails_ends_the_turn_and_not_the_session():
    recorder = Recorder()
    runner = session(OSError("no network"), "Hi.", recorder=recorder, store=MemoryConversations())
    assert talk(runner, "Hello?", "Hello again?").output == "Hi."
    assert [ctx.status for ctx in seen(recorder, "after_turn")] == ["failed", "completed"]


# -- cancelled ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("goes_on", [True, False])
def test_a_cancelled_turn_leaves_a_session_that_can_go_on_and_is_saved_in_the_end(goes_on: bool):
    gate, store = Gate(), MemoryConversations()
    runner = session(driver=WaitingDriver(gate, gate, "There you are."), session_id="s", store=store)

    async def main() -> AgentState | None:
        async with runner:
            await cancel_at(gate, runner.send("Hello?"))
            assert runner.state.status == "stopped"
            if goes_on:
                await runner.send("Still there?")
        return await store.load("s")

    more = ["Still there?", "There you are."] if goes_on else []
    assert texts(asyncio.run(main())) == ["Hello?", *more]


def test_a_session_does_one_thing_at_a_time():
    async def interfere(ctx: HookContext) -> None:
        uses = (lambda: runner.send("Me too."), runner.compact, lambda: runner.activate("deploy"), runner.close)
        for use in uses:
            with pytest.raises(RunError, match="in the middle of something"):
                await use()
        interfered.append(len(uses))

    interfered: list[int] = []
    runner = session("Hi.", on={"before_turn": interfere}, skills=[Skill("deploy", body="Deploy.")])
    assert talk(runner, "Hello?").output == "Hi."
    assert interfered == [4]


# -- a turn that waits -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("decision", WAITS)
@pytest.mark.parametrize("event", ["user_input", "before_turn", "before_tool_use"])
def test_a_turn_that_waits_goes_on_in_another_session_runner(event: str, decision: str, tmp_path: Path):
    recorder, answers = Recorder(), MemoryStore()

    def made(*replies: Any) -> SessionRunner:
        on, store = {event: WAITS[decision]}, FileConversations(tmp_path)
        return session(*replies, recorder=recorder, on=on, answers=answers, session_id="s", store=store)

    assert talk(made(CALL), "Go.").status == "suspended"
    assert [ctx.notification_type for ctx in seen(recorder, "notification")] == ["agent_needs_input"]
    assert "after_turn" not in names(recorder)
    stored = [json.loads(line) for line in (tmp_path / "s.jsonl").read_text().splitlines()]
    waiting = Suspended.from_dict(stored[-1]["state"]["suspended"])
    assert waiting.data == ({"ticket": 7} if decision == "suspend" else None)
    assert event == "user_input" or Message.from_dict(stored[1]["message"]).content == "Go."

    async def go_on() -> AgentState:
        async with made("Done.") as again:
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
    made_calls = ["assistant", "tool"] * (event == "before_tool_use")
    assert [role for role, _ in said(state.messages)] == ["user", *made_calls, "assistant"]
    assert len(seen(recorder, "after_turn")) == 1


@pytest.mark.parametrize("decision", WAITS)
@pytest.mark.parametrize("event", ["user_input", "before_turn"])
def test_an_answer_of_no_refuses_what_waited_for_it(event: str, decision: str, tmp_path: Path):
    store = FileConversations(tmp_path)
    on = {event: lambda ctx: WAITS[decision] if ctx.state.execution_count == 2 else None}

    async def main() -> AgentState:
        async with session("Hi.", "Ok.", on=on, session_id="s", store=store) as runner:
            await runner.send("First.")
            assert (await runner.send("Second.")).status == "suspended"
            with pytest.raises(RefusedError) as caught:
                await runner.resume(HookOutcome.deny("Ann says no."))
            assert (caught.value.event, str(caught.value)) == (event, "Ann says no.")
            assert texts(runner.state) == ["First.", "Hi."]
            stored = json.loads((tmp_path / "s.jsonl").read_text().splitlines()[-1])
            assert stored["state"]["suspended"] is None, "the stored conversation waits for nothing, either"
            await runner.close()
            await runner.start()
            return await runner.send("Third.")

    assert texts(asyncio.run(main())) == ["First.", "Hi.", "Third.", "Ok."]


@pytest.mark.parametrize("event", ["user_input", "before_turn", "before_inference", "before_tool_use"])
@pytest.mark.parametrize("is_killed", [False, True])
def test_a_turn_that_waits_can_be_given_up_also_if_a_killed_process_has_taken_its_answer(
    event: str, is_killed: bool, tmp_path: Path
):
    answers, recorder = MemoryStore(), Recorder()

    def made(*replies: Any) -> SessionRunner:
        on = {event: lambda ctx: WAITS["suspend"] if ctx.state.execution_count == 1 else None}
        store = FileConversations(tmp_path)
        return session(*replies, recorder=recorder, on=on, answers=answers, session_id="s", store=store)

    talk(made(CALL), "Go.")
    file = tmp_path / "s.jsonl"
    waiting = file.read_bytes()
    if is_killed:
        with made(*(["Done."] if event == "before_tool_use" else [CALL, "Done."])) as again:
            again.resume_sync("allow")
        file.write_bytes(waiting)  # as if it had been killed before it could save

    async def get_over() -> AgentState:
        async with made("Fine.") as after:
            if is_killed:
                with pytest.raises(SuspensionError, match="resumed before"):
                    await after.resume("allow")
            given_up = await after.abandon()
            assert (given_up.status, given_up.suspended) == ("stopped", None)
            if event == "before_tool_use":
                assert ("what it did is not known" in str(given_up.messages[-1].content)) == is_killed
            with pytest.raises(SuspensionError, match="does not wait"):
                await after.abandon()
            return await after.send("And now?")

    state = asyncio.run(get_over())
    assert state.output == "Fine."
    assert_well_formed(state.messages)
    if not is_killed and event == "before_tool_use":
        assert [ctx.status for ctx in seen(recorder, "after_turn")] == ["stopped", "completed"]


def test_a_refused_prompt_that_waited_takes_nothing_else_out_of_the_conversation():
    gate = Gate()
    on = {
        "session_start": HookOutcome.with_context("It is Monday."),
        "user_input": lambda ctx: WAITS["suspend"] if "please" in ctx.prompt else None,
    }

    async def refused(runner: SessionRunner) -> list[str]:
        assert (await runner.send("Now, please.")).status == "suspended"
        with pytest.raises(RefusedError):
            await runner.resume("deny")
        return texts(runner.state)

    async def main() -> list[list[str]]:
        async with session(driver=WaitingDriver(gate, gate, "Fine."), on=on) as runner:
            first = await refused(runner)
            await cancel_at(gate, runner.send("Hello?"))
            return [first, await refused(runner)]

    assert asyncio.run(main()) == [["It is Monday."], ["It is Monday.", "Hello?"]]


# -- the store ---------------------------------------------------------------------------------------------------------


class Failing(MemoryConversations):
    """A store that cannot save until it is repaired."""

    is_broken = True

    async def save(self, session_id: str, state: AgentState) -> None:
        if self.is_broken:
            raise StoreError("full")
        await super().save(session_id, state)


@pytest.mark.parametrize("is_repaired", [True, False])
def test_a_store_that_fails_loses_no_turn_and_the_session_ends_all_the_same(is_repaired: bool):
    store, recorder = Failing(), Recorder()

    async def main() -> AgentState | None:
        runner = session("Hi.", recorder=recorder, session_id="s", store=store)
        await runner.start()
        with pytest.raises(StoreError, match="full"):
            await runner.send("Hello.")
        assert runner.state.output == "Hi."
        store.is_broken = not is_repaired
        if is_repaired:
            await runner.close()
        else:
            with pytest.raises(StoreError):
                await runner.close()
        return await store.load("s")  # free for others

    state = asyncio.run(main())
    assert (state and texts(state)) == (["Hello.", "Hi."] if is_repaired else None)
    assert names(recorder)[-2:] == ["session_end", "after_agent"]


def test_a_conversation_that_may_not_be_loaded_is_empty_and_what_is_stored_stays():
    store, recorder = MemoryConversations(), Recorder()
    talk(session("One.", session_id="s", store=store), "First.")
    on = {"before_conversation_load": ("deny", "Private.")}
    state = talk(session("Two.", recorder=recorder, on=on, session_id="s", store=store), "Second.")

    assert texts(state) == ["Second.", "Two."]
    assert not {"after_conversation_load", "before_conversation_save"} & set(names(recorder))
    assert only(recorder, "session_start").source == "startup"
    told = seen(recorder, "notification")[0]
    assert (told.notification_type, "Private." in told.message) == ("conversation_not_loaded", True)
    assert texts(asyncio.run(store.load("s"))) == ["First.", "One."]


def test_a_session_that_begins_again_after_a_refused_load_is_kept():
    store, answers = MemoryConversations(), ["Not yet.", "", "Not any more."]

    def load(ctx: HookContext) -> Any:
        reason = answers.pop(0)
        return ("deny", reason) if reason else None

    runner = session("One.", "Two.", on={"before_conversation_load": load}, session_id="s", store=store)
    talk(runner, "First.")
    last = talk(runner, "Second.")
    with runner:
        assert runner.state.messages == (), "a load that is refused leaves nothing of what the runner had before"
    assert store._states["s"].messages == last.messages, "the second time it was read, and so it is saved"


def test_a_conversation_that_may_not_be_saved_is_not_and_everybody_is_told(caplog: pytest.LogCaptureFixture):
    store, recorder = MemoryConversations(), Recorder()
    on = {"before_conversation_save": ("deny", "Secret.")}
    assert talk(session("Hi.", recorder=recorder, on=on, session_id="s", store=store), "Hello.").output == "Hi."
    assert asyncio.run(store.load("s")) is None
    told = seen(recorder, "notification")[-1]
    assert (told.notification_type, told.message) == ("conversation_not_saved", "Secret.")
    assert len(seen(recorder, "before_conversation_save")) == 1, "nobody is asked twice about the same"
    assert "conversation_not_saved" in caplog.text
    assert "Secret." not in caplog.text


def test_a_conversation_can_be_saved_at_any_time():
    store = MemoryConversations()

    async def main() -> None:
        async with session(session_id="s", store=store, skills=[Skill("x", body="Text.")]) as runner:
            await runner.activate("x")
            await runner.save()
            assert len(store._states["s"].messages) == 1

    asyncio.run(main())


def test_a_conversation_that_cannot_be_read_is_an_error_and_the_agent_is_shut_down(tmp_path: Path):
    recorder = Recorder()
    (tmp_path / "s.jsonl").write_text("nonsense\n")
    with pytest.raises(StoreError, match="damaged"):
        talk(session(recorder=recorder, session_id="s", store=FileConversations(tmp_path)))
    assert names(recorder) == ["setup", "before_agent", "before_conversation_load", "after_agent"]


def test_a_store_that_returns_no_state_is_an_error_and_gives_the_conversation_back():
    class Wrong(MemoryConversations):
        async def load(self, session_id: str) -> Any:
            await super().load(session_id)
            return {"messages": []}

    store = Wrong()
    with pytest.raises(RunError, match=r"not dict: read JSON with AgentState\.from_dict"):
        talk(session(session_id="s", store=store))
    assert not store._taken


@pytest.mark.parametrize("kind", [MemoryConversations, FileConversations])
def test_a_session_can_wait_for_the_conversation_that_another_one_has(kind: Any, tmp_path: Path):
    store = kind(timeout=30) if kind is MemoryConversations else kind(tmp_path, timeout=30)
    agent, events = builder("One.", "Two.").build(), []

    async def turn(name: str) -> None:
        async with SessionRunner(agent, session_id="s", store=store) as runner:
            events.append(f"{name} begins")
            await asyncio.sleep(0)
            await runner.send(name)
            events.append(f"{name} ends with {len(runner.state.messages)}")

    async def main() -> None:
        await asyncio.gather(turn("a"), turn("b"))

    asyncio.run(main())
    assert events == ["a begins", "a ends with 2", "b begins", "b ends with 4"]
