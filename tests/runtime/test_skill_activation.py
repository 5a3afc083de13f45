"""Skills of a session: the text for the model, the events of an activation, and the trust that it needs."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from agent_hooks import AgentState, HookContext, HookOutcome, Message, ToolCall
from agent_hooks.errors import RefusedError, RegistrationError, RunError, SuspensionError, TrustError
from agent_hooks.runtime.conversations import MemoryConversations
from agent_hooks.runtime.interceptors import PassThrough
from agent_hooks.runtime.session import SessionRunner
from agent_hooks.sources.skills import Skill, SkillHook
from agent_hooks.system.store import MemoryStore
from runtime.agents import Recorder, echo, results
from runtime.sessions import builder, names, only, seen, session, talk, texts
from skill_files import markdown
from tables import tables

if TYPE_CHECKING:
    from pathlib import Path

TABLES = tables(__file__)

NOTES = Skill("notes", body="Take notes.")
DEPLOY = Skill("ops:deploy", "Deploy a service.", body="Deploy $ARGUMENTS to staging, $ARGUMENTS only.")


async def activated(skill: Any, arguments: str = "", **options: Any) -> AgentState:
    async with SessionRunner(builder().build(), skills=[skill], **options) as session:
        name = skill.name if isinstance(skill, Skill) else "deploy"
        return await session.activate(name, arguments)


@pytest.mark.parametrize(
    ("body", "arguments", "text"), TABLES["the_text_of_a_skill_joins_the_conversation_with_its_arguments"]
)
def test_the_text_of_a_skill_joins_the_conversation_with_its_arguments(body: str, arguments: str, text: str):
    state = asyncio.run(activated(Skill("deploy", body=body), arguments))
    assert state.messages == (Message(role="user", content=text, metadata={"source": "skill", "skill": "deploy"}),)


def test_hooks_are_told_of_an_activation_and_may_add_to_it():
    recorder = Recorder()
    on = {"before_skill_activation": HookOutcome.with_context("Staging is slow today.")}
    with session(recorder=recorder, on=on, skills=[DEPLOY]) as runner:
        assert texts(runner.activate_sync("ops:deploy", "web"))[1] == "Staging is slow today."
    before, after = only(recorder, "before_skill_activation"), only(recorder, "after_skill_activation")
    for ctx in (before, after):
        assert (ctx.skill, ctx.skill_name, ctx.arguments) == ("ops:deploy", "ops:deploy", "web")
    assert after.result == "Deploy web to staging, web only."


def test_a_hook_may_refuse_an_activation_by_the_skills_name():
    recorder = Recorder()
    made = builder(recorder=recorder).hook("before_skill_activation", lambda ctx: ("deny", "Ask ops."), match="ops:*")
    with SessionRunner(made.build(), skills=[DEPLOY, NOTES]) as runner:
        with pytest.raises(RefusedError, match=r"Ask ops\.") as caught:
            runner.activate_sync("ops:deploy", "web")
        assert (caught.value.event, runner.active_skill) == ("before_skill_activation", None)
        assert texts(runner.activate_sync("notes")) == ["Take notes."]
    assert len(seen(recorder, "after_skill_activation")) == 1


def test_the_last_skill_that_was_activated_is_active_until_the_end_of_the_next_turn_that_is_not_refused():
    recorder = Recorder()
    on = {"user_input": lambda ctx: ("deny", "No.") if ctx.prompt == "Bad." else None}
    replies = ([ToolCall("echo", {"text": "a"})], "One.", "Two.")
    with session(*replies, recorder=recorder, on=on, skills=[DEPLOY, NOTES]) as runner:
        runner.activate_sync("notes")
        assert runner.active_skill == "notes"
        runner.activate_sync("ops:deploy", "web")
        with pytest.raises(RefusedError):
            runner.send_sync("Bad.")
        assert runner.active_skill == "ops:deploy"
        for prompt in ("Go.", "And now?"):
            runner.send_sync(prompt)
            assert runner.active_skill is None
    for event in ("before_turn", "after_turn"):
        assert [ctx.skill for ctx in seen(recorder, event)] == ["ops:deploy", None], event
    assert [ctx.skill for ctx in seen(recorder, "user_input")] == ["ops:deploy", "ops:deploy", None]
    assert only(recorder, "before_tool_use").skill == "ops:deploy"


def test_a_state_that_a_hook_brings_does_not_take_the_skill_away():
    """Its hooks must be asked about the rest of a turn that waits, too."""
    on = {
        "before_execution": lambda state: HookOutcome.with_state(state.replace(metadata={})),
        "before_tool_use": HookOutcome.suspend("Wait."),
    }
    with session(ToolCall("echo", {"text": "a"}, id="c"), on=on, skills=[DEPLOY]) as runner:
        runner.activate_sync("ops:deploy", "web")
        runner.send_sync("Go.")
        assert runner.active_skill == "ops:deploy"


SCOPED = """
name: deploy
hooks:
  PreToolUse:
    - scope: skill
      hooks:
        - type: command
          command: "echo 'Not while deploying.'; exit 2"
"""


@pytest.fixture
def deploy(tmp_path: Path) -> Path:
    file = tmp_path / "skills" / "deploy" / "SKILL.md"
    file.parent.mkdir(parents=True)
    file.write_bytes(markdown(SCOPED))
    return file


def test_hooks_that_are_scoped_to_a_skill_are_asked_while_it_is_active(deploy: Path):
    call = [ToolCall("echo", {"text": "a"})]
    blocked = []
    with session(call, "One.", call, "Two.", call, "Three.", skills=[deploy.parent], trusted_skills=True) as runner:
        for is_active in (False, True, False):
            if is_active:
                runner.activate_sync("deploy", "web")
            blocked.append(runner.send_sync("Go.").steps[0].executions[0].was_blocked)
    assert blocked == [False, True, False]


def no_b(ctx: HookContext) -> Any:
    return ("deny", "No b.") if (ctx.skill, ctx.tool_args["text"]) == ("deploy", "b") else None


def test_a_turn_under_a_skill_that_waits_goes_on_under_it():
    """In another session runner, and never in one that does not know the skill."""
    options: dict[str, Any] = {"session_id": "s", "store": MemoryConversations(), "answers": MemoryStore()}
    options["on"] = {"before_tool_use": lambda ctx: HookOutcome.ask("Go on?") if ctx.tool_args["text"] == "a" else None}
    skills = [Skill("deploy", body="Deploy.", hooks=[SkillHook("PreToolUse", no_b)])]
    calls = [ToolCall("echo", {"text": "a"}, id="c1"), ToolCall("echo", {"text": "b"}, id="c2")]
    with session(calls, skills=skills, **options) as runner:
        runner.activate_sync("deploy")
        assert runner.send_sync("Go.").status == "suspended"
    with pytest.raises(RunError, match="no skill 'deploy'"):
        session(**options).start_sync()
    with session("Done.", skills=skills, **options) as runner:
        assert runner.active_skill == "deploy"
        state = runner.resume_sync("allow")
    assert [execution.was_blocked for execution in state.steps[0].executions] == [False, True]


# -- files -------------------------------------------------------------------------------------------------------------


def test_the_text_of_a_file_needs_somebody_who_answers_for_it(tmp_path: Path):
    file = tmp_path / "deploy" / "SKILL.md"
    file.parent.mkdir()
    file.write_bytes(markdown("name: deploy", "Deploy $ARGUMENTS.\n"))
    with pytest.raises(TrustError, match="trusted_skills=True"):
        asyncio.run(activated(file, "web"))
    state = asyncio.run(activated(str(file.parent), "web", trusted_skills=True))
    assert state.messages[0].content == "Deploy web."


def test_a_file_whose_hooks_nobody_has_trusted_starts_no_session(
    deploy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("AGENT_HOOKS_CONFIG_DIR", str(tmp_path / "config"))
    (tmp_path / ".git").mkdir()
    recorder = Recorder()
    agent = builder(recorder=recorder).build()
    first = Skill("notes", body="Take notes.", hooks=[SkillHook("PreTurn", lambda ctx: None)])
    with pytest.raises(TrustError):
        asyncio.run(SessionRunner(agent, skills=[first, deploy]).start())
    assert names(recorder) == []
    assert "skill:notes" not in str(agent.interceptor.manager.describe())  # type: ignore[attr-defined]


@pytest.mark.parametrize("data", [b"---\nname: [\n---\nText.\n", b"---\nname: deploy\nText.\n"])
def test_a_file_that_cannot_be_read_is_an_error_that_names_it(tmp_path: Path, data: bytes):
    file = tmp_path / "SKILL.md"
    file.write_bytes(data)
    with pytest.raises(RegistrationError, match=r"SKILL\.md"):
        asyncio.run(activated(file, trusted_skills=True))


def test_a_file_that_is_not_there_is_an_error(tmp_path: Path):
    with pytest.raises(RegistrationError, match="cannot be read"):
        asyncio.run(activated(tmp_path / "SKILL.md", trusted_skills=True))


@pytest.mark.parametrize(
    ("skill", "name", "hint"),
    [
        (DEPLOY, "ops:deplo", "Did you mean 'ops:deploy'"),
        (DEPLOY, "x", "There are: ops:deploy"),
        (Skill("deploy", hooks=[SkillHook("PreTurn", lambda ctx: None)]), "deploy", "no text"),
    ],
)
def test_a_skill_that_there_is_not_or_without_a_text_cannot_be_activated(skill: Skill, name: str, hint: str):
    with session(skills=[skill]) as runner, pytest.raises(RunError, match=hint):
        runner.activate_sync(name)


def test_an_agent_that_takes_no_hooks_takes_no_skills():
    agent = builder().build().with_interceptor(PassThrough())
    with pytest.raises(SuspensionError):
        asyncio.run(SessionRunner(agent, skills=[DEPLOY]).start())


def test_several_sessions_of_one_agent_may_have_the_same_skill():
    heard: list[str] = []
    skill = Skill("watch", hooks=[SkillHook("PreTurn", lambda ctx: heard.append(ctx.session_id))])
    agent = builder("Hi.", "Hi.", "Hi.").with_tools(echo).build()

    async def main() -> None:
        options: dict[str, Any] = {"skills": [skill]}
        async with SessionRunner(agent, session_id="a", **options) as a:
            async with SessionRunner(agent, session_id="b", **options) as b:
                await a.send("Hello.")
                await b.send("Hello.")
            await a.send("Again.")

    asyncio.run(main())
    assert heard == ["a", "b", "a"]


# -- by the model ------------------------------------------------------------------------------------------------------

ACTIVATE = ToolCall("activate_skill", {"skill": "ops:deploy", "arguments": "web"})


def sent(made: Any, *skills: Any, **options: Any) -> AgentState:
    return talk(SessionRunner(made.build(), skills=skills, **options), "Go.")


def test_a_sessions_model_activates_a_skill_and_reads_its_text_and_what_hooks_add():
    recorder = Recorder()
    replies = (ACTIVATE, ToolCall("echo", {"text": "a"}), "Done.", "Again.")
    on = {"before_skill_activation": HookOutcome.with_context("It is slow today.")}
    with session(*replies, recorder=recorder, on=on, skills=[DEPLOY, Skill("silent")]) as runner:
        state = runner.send_sync("Go.")
        runner.send_sync("And?")
    assert results(state) == ["Deploy web to staging, web only.\n\nIt is slow today.", "echo: a"]
    assert (state.status, state.metadata) == ("completed", {})
    for event in ("before_skill_activation", "after_skill_activation"):
        ctx = only(recorder, event)
        assert (ctx.skill, ctx.skill_name, ctx.arguments) == ("ops:deploy", "ops:deploy", "web")
    active = [(ctx.tool_name, ctx.skill) for ctx in seen(recorder, "before_tool_use")]
    assert active == [("activate_skill", None), ("echo", "ops:deploy")]
    assert [ctx.skill for ctx in seen(recorder, "after_turn")] == ["ops:deploy", None]


def test_the_model_is_told_which_skills_there_are_and_of_no_others(tmp_path: Path):
    (tmp_path / "SKILL.md").write_text("---\nname: foreign\n---\nDo as I say.\n")
    made = builder("Done.")
    sent(made, DEPLOY, Skill("silent", "Has no text."), str(tmp_path))
    (offered,) = [t for t in made.build().driver.requests[0].tools if t["name"] == "activate_skill"]  # type: ignore[attr-defined]
    assert offered["description"].splitlines()[1:] == ["- ops:deploy: Deploy a service."]


def test_a_skill_that_its_author_keeps_from_the_model_is_a_persons_to_activate(tmp_path: Path):
    (tmp_path / "SKILL.md").write_text("---\nname: ship\ndisable-model-invocation: true\n---\nShip it.\n")
    made = builder(ToolCall("activate_skill", {"skill": "ship"}), "Done.").build()

    async def main() -> tuple[AgentState, AgentState]:
        async with SessionRunner(made, skills=[DEPLOY, str(tmp_path)], trusted_skills=True) as session:
            return await session.send("Go."), await session.activate("ship")

    refused, activated = asyncio.run(main())
    assert results(refused) == ["Error: Only a person may activate the skill 'ship'."]
    assert activated.messages[-1].content == "Ship it."
    (offered,) = [t for t in made.driver.requests[0].tools if t["name"] == "activate_skill"]  # type: ignore[attr-defined]
    assert offered["description"].splitlines()[1:] == ["- ops:deploy: Deploy a service."]


@pytest.mark.parametrize("skills", [(), (Skill("silent"),)])
def test_a_session_without_a_skill_to_activate_has_no_tool_for_it(skills: Any):
    made = builder("Done.")
    sent(made, *skills)
    assert [t["name"] for t in made.build().driver.requests[0].tools] == ["echo"]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "outcome", [HookOutcome.deny("Ask ops."), HookOutcome.ask("Ask ops."), HookOutcome.suspend("Ask ops.")]
)
def test_a_denied_activation_comes_back_to_the_model_and_the_text_stays_out(outcome: HookOutcome):
    recorder = Recorder()
    made = builder(ACTIVATE, "Done.", recorder=recorder).with_ask("host")
    made = made.hook("before_skill_activation", lambda ctx: outcome, match="ops:*")
    state = sent(made, DEPLOY)
    assert results(state) == ["Denied: Ask ops."]
    assert "staging" not in str(state.messages)
    assert (state.status, state.output) == ("completed", "Done.")
    assert names(recorder).count("after_skill_activation") == 0
    assert only(recorder, "after_turn").skill is None
    # As any denied call: no result and no failure, and whoever keeps an audit is told.
    (execution,) = state.steps[0].executions
    assert (execution.was_blocked, execution.reason) == (True, "Ask ops.")
    assert execution.error is not None
    assert execution.error.type == "ToolBlocked"
    told = only(recorder, "after_tool_use")
    assert told.tool_execution is not None
    assert (told.was_blocked, told.tool_execution.reason) == (True, "Ask ops.")
    assert names(recorder).count("on_tool_error") == 0
    assert state.errors == ()


def test_a_skill_that_there_is_not_or_that_nobody_answers_for_is_an_error_for_the_model(tmp_path: Path):
    (tmp_path / "SKILL.md").write_text("---\nname: foreign\n---\nDo as I say.\n")
    calls = [ToolCall("activate_skill", {"skill": name}) for name in ("ops:deploi", "foreign")]
    assert results(sent(builder(calls, "Done."), DEPLOY, tmp_path)) == [
        "Error: There is no skill 'ops:deploi'. Did you mean 'ops:deploy'?",
        "Error: There is no skill 'foreign'. There are: ops:deploy.",
    ]


def test_a_tool_of_the_applications_own_with_that_name_stays():
    def activate_skill(skill: str, arguments: str) -> str:
        return "mine"

    assert results(sent(builder(ACTIVATE, "Done.").with_tools(activate_skill), DEPLOY)) == ["mine"]
