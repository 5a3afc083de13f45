"""An ask is remembered; when nothing blocks, one question is put: to permission hooks, the application, the policy."""

from __future__ import annotations

import asyncio

import pytest

from agent_hooks import AgentState, HookManager, HookOutcome, HookRegistration, Message
from agent_hooks.model.policy import RANKS
from agent_hooks.testing import make_context
from engine import Engine, messages_of, result, rewrite, shell

ASK = HookOutcome.ask("sure?")


def test_an_ask_does_not_end_the_chain(engine):
    engine.says("asker", ASK, priority=1)
    engine.says("guard", HookOutcome.deny("no"))
    outcome = engine.dispatch(shell())
    assert (outcome.decision, outcome.hook, outcome.reason) == ("deny", "guard", "no")


def test_one_question_is_put_with_all_reasons_about_the_final_subject(engine):
    asked = []

    def ask(ctx, reason):
        asked.append((ctx.event, ctx.tool_args, ctx.asked_by, reason))
        return True

    engine.ask = ask
    engine.says("one", HookOutcome.ask("first?"), priority=2)
    engine.says("rewriter", rewrite("ls -l"), priority=1)
    engine.says("two", HookOutcome.ask("second?"))
    outcome = engine.dispatch(shell("ls"))
    assert asked == [("permission_request", {"command": "ls -l"}, ("one", "two"), "first?\n\nsecond?")]
    assert (outcome.decision, outcome.asked_by, outcome.tool_args) == ("allow", ("one", "two"), {"command": "ls -l"})


def test_an_ask_may_bring_a_subject_and_context(engine):
    engine.ask = lambda ctx, reason: True
    engine.says("asker", HookOutcome.ask("sure?", tool_args={"command": "ls -l"}, context="noted"))
    outcome = engine.dispatch(shell("ls"))
    assert (outcome.decision, outcome.tool_args, outcome.context) == ("allow", {"command": "ls -l"}, "noted")


# -- who answers -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("said", "decision"), [(True, "allow"), (False, "deny"), (None, "deny"), ("yes", "deny")])
def test_the_application_is_asked(engine, said, decision):
    """Only True is a yes."""
    engine.ask = lambda ctx, reason: said
    engine.says("asker", ASK)
    outcome = engine.dispatch(shell())
    assert (outcome.decision, outcome.asked_by) == (decision, ("asker",))


def test_a_refusal_says_so(engine):
    engine.ask = lambda ctx, reason: False
    engine.says("asker", ASK)
    outcome = engine.dispatch(shell())
    assert (outcome.reason, outcome.hook, outcome.failed) == ("sure? (Refused.)", "asker", False)


def test_the_application_may_answer_asynchronously(engine):
    async def ask(ctx, reason):
        return True

    engine.ask = ask
    engine.says("asker", ASK)
    assert engine.dispatch(shell()).decision == "allow"


def test_an_application_that_waits_cannot_answer_a_sync_call():
    async def ask(ctx, reason):
        await asyncio.sleep(0)
        return True

    engine = Engine("plain")
    engine.ask = ask
    engine.says("asker", ASK)
    outcome = engine.dispatch(shell())
    assert outcome.decision == "deny"
    assert "use `await hooks.dispatch(ctx)`" in outcome.reason


def test_an_application_that_fails_to_answer_refuses(engine):
    def ask(ctx, reason):
        raise OSError("no terminal")

    engine.ask = ask
    engine.says("asker", ASK)
    outcome = engine.dispatch(shell())
    assert (outcome.decision, outcome.reason) == ("deny", "sure? (Asking failed: OSError: no terminal)")


def test_a_host_may_put_the_question_itself(engine):
    engine.ask = "host"
    engine.says("asker", ASK)
    outcome = engine.dispatch(shell())
    assert (outcome.decision, outcome.reason, outcome.asked_by, outcome.hook) == ("ask", "sure?", ("asker",), "asker")
    assert outcome.blocks


def test_nobody_to_ask_is_a_deny(engine):
    engine.says("asker", ASK)
    outcome = engine.dispatch(shell())
    assert (outcome.decision, outcome.reason) == (
        "deny",
        "sure? (This needs approval, and nobody could be asked. Go on without it, or say what to approve.)",
    )


def test_the_policy_may_allow_where_nobody_can_be_asked(engine):
    engine = engine.with_policy(ask_fallback="allow")
    engine.says("asker", ASK)
    assert engine.dispatch(shell()).decision == "allow"


def test_the_policy_does_not_allow_what_a_hook_of_the_machine_asks(engine):
    engine = engine.with_policy(ask_fallback="allow")
    engine.says("asker", ASK)
    engine.says("machine", ASK, source="managed")
    assert engine.dispatch(shell()).decision == "deny"


def test_an_approval_is_no_allow_where_the_event_knows_none(engine):
    engine.ask = lambda ctx, reason: True
    engine.says("asker", ASK, event="user_input")
    outcome = engine.dispatch(make_context("user_input", prompt="hi"))
    assert (outcome.decision, outcome.asked_by) == ("proceed", ("asker",))


def test_after_an_approval_stands_what_stood_otherwise(engine):
    engine.ask = lambda ctx, reason: True
    engine.says("asker", ASK, source="user", priority=1)
    engine.says("skipper", HookOutcome.skip())
    outcome = engine.dispatch(shell())
    assert (outcome.decision, outcome.hook) == ("skip", "skipper")


# -- permission hooks --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", ["code", "user", "managed"])
def test_a_users_permission_hook_may_grant(engine, source):
    engine.says("asker", ASK)
    granted = engine.says("granter", HookOutcome.allow(), event="permission_request", source=source)
    outcome = engine.dispatch(shell())
    assert (outcome.decision, outcome.hook) == ("allow", "granter")
    assert (granted[0].reason, granted[0].asked_by, granted[0].tool_call.name) == ("sure?", ("asker",), "Bash")


@pytest.mark.parametrize("source", ["skill", "project", "plugin"])
def test_a_permission_hook_below_the_user_may_not_grant(engine, source):
    engine.says("asker", ASK)
    engine.says("granter", HookOutcome.allow(), event="permission_request", source=source)
    outcome = engine.dispatch(shell())
    assert outcome.decision == "deny"
    assert ["granter" in message and "does not count" in message for message in messages_of(outcome)] == [True]


@pytest.mark.parametrize("source", ["skill", "project", "plugin", "code", "user", "managed"])
def test_any_permission_hook_may_deny(engine, source):
    engine.ask = lambda ctx, reason: True
    engine.says("asker", ASK)
    engine.says("denier", HookOutcome.deny("never"), event="permission_request", source=source)
    outcome = engine.dispatch(shell())
    assert (outcome.decision, outcome.reason, outcome.hook) == ("deny", "never", "denier")


def test_a_lower_permission_hook_does_not_grant_what_a_higher_source_asks(engine):
    engine.says("asker", ASK, source="managed")
    engine.says("granter", HookOutcome.allow(), event="permission_request", source="user")
    assert engine.dispatch(shell()).decision == "deny"


def test_a_lower_permission_hook_does_not_grant_what_a_wrapper_of_a_higher_source_asks_as_well(engine):
    engine.says("asker", ASK)
    engine.says("granter", HookOutcome.allow(), event="permission_request", source="user")

    @engine.hook(wrapper=True, source="managed")
    def around(ctx):
        yield
        return ASK

    assert engine.dispatch(shell()).decision == "deny"


def test_a_permission_hook_cannot_change_what_the_others_are_asked_about(engine):
    engine.says("asker", ASK)
    swapped = HookOutcome.update(tool_args={"command": "harmless"})
    engine.says("liar", swapped, event="permission_request", source="project", priority=9)
    seen = engine.says("granter", HookOutcome.allow(), event="permission_request", source="user")
    engine.dispatch(shell("rm -rf /"))
    assert [ctx.tool_call.command for ctx in seen] == ["rm -rf /"]


def test_a_denying_permission_hook_beats_a_granting_one(engine):
    engine.says("asker", ASK)
    engine.says("granter", HookOutcome.allow(), event="permission_request", source="managed", priority=1)
    engine.says("denier", HookOutcome.deny("never"), event="permission_request", source="project")
    assert engine.dispatch(shell()).hook == "denier"


def test_permission_hooks_are_asked_before_the_application(engine):
    asked = engine.asks(False)
    engine.says("asker", ASK)
    engine.says("granter", HookOutcome.allow(), event="permission_request", source="user")
    assert (engine.dispatch(shell()).decision, asked) == ("allow", [])


def test_a_failing_permission_hook_is_no_answer(engine):
    engine.ask = lambda ctx, reason: True
    engine.says("asker", ASK)
    engine.says("faulty", OSError("gone"), event="permission_request", source="user")
    outcome = engine.dispatch(shell())
    assert (outcome.decision, [f.hook for f in outcome.findings]) == ("allow", ["faulty"])


def test_a_permission_hook_matches_on_the_tool(engine):
    engine.says("asker", ASK)
    engine.says("granter", HookOutcome.allow(), event="permission_request", source="user", match="Read")
    assert engine.dispatch(shell()).decision == "deny"


# -- allow, skip and the ranks -----------------------------------------------------------------------------------------

SOURCES = ["plugin", "code", "user", "managed"]


@pytest.mark.parametrize("allowing", SOURCES)
@pytest.mark.parametrize("asking", ["skill", "project", *SOURCES])
def test_an_allow_answers_the_asks_of_its_own_and_lower_sources(engine, allowing, asking):
    engine.says("allower", HookOutcome.allow(), source=allowing, priority=1)
    engine.says("asker", ASK, source=asking)
    answered = RANKS[allowing] >= RANKS[asking]
    assert engine.dispatch(shell()).decision == ("allow" if answered else "deny")


def test_an_allow_does_not_answer_an_earlier_ask(engine):
    engine.says("asker", ASK, priority=1)
    engine.says("allower", HookOutcome.allow())
    assert engine.dispatch(shell()).decision == "deny"


def test_a_deny_wins_over_an_allow(engine):
    engine.says("allower", HookOutcome.allow(), source="managed", priority=1)
    engine.says("guard", HookOutcome.deny("no"), source="project")
    assert engine.dispatch(shell()).hook == "guard"


ENDING = [HookOutcome.allow(final=True), HookOutcome.skip()]


@pytest.mark.parametrize("answer", ENDING, ids=repr)
def test_what_ends_the_chain_passes_over_its_own_and_lower_sources(engine, answer):
    engine.says("ender", answer, source="plugin", priority=1)
    passed = [engine.says(source, HookOutcome.deny("x"), source=source) for source in ("skill", "project", "plugin")]
    asked = engine.says("app", source="code")
    outcome = engine.dispatch(shell())
    assert (outcome.decision, outcome.hook, outcome.final) == (answer.decision, "ender", answer.final)
    assert (passed, len(asked)) == ([[], [], []], 1)


@pytest.mark.parametrize("answer", ENDING, ids=repr)
@pytest.mark.parametrize("source", ["user", "managed"])
@pytest.mark.parametrize("mode", ["gate", "transform"])
def test_hooks_of_the_user_that_may_deny_are_never_passed_over(engine, answer, source, mode):
    engine.says("ender", answer, source="managed", priority=1)
    engine.says("gate", HookOutcome.deny("no"), source=source, mode=mode)
    assert engine.dispatch(shell()).hook == "gate"


@pytest.mark.parametrize("source", ["user", "managed"])
def test_what_the_user_makes_of_a_result_is_never_passed_over(engine, source):
    """A hook that takes secrets out of a result protects as much as one that withholds it."""
    engine.says("ender", HookOutcome.skip(), event="after_tool_use", source="managed", priority=1)
    engine.says("redacts", HookOutcome.update(result="***"), event="after_tool_use", source=source)
    assert engine.dispatch(result("secret")).result == "***"


def test_where_a_failure_closes_nothing_a_transform_of_the_user_may_be_passed_over(engine):
    engine.says("ender", HookOutcome.skip(), event="after_step", priority=1)
    passed = engine.says("transform", event="after_step", source="user")
    asked = engine.says("gate", event="after_step", source="user", mode="gate")
    engine.dispatch(make_context("after_step"))
    assert (len(passed), len(asked)) == (0, 1)


@pytest.mark.parametrize("answer", ENDING, ids=repr)
def test_what_changed_before_the_chain_ended_is_kept(engine, answer):
    engine.says("rewriter", HookOutcome.update(tool_args={"command": "ls -l"}, context="one"), priority=2)
    engine.says("ender", answer.replace(context="two"), priority=1)
    outcome = engine.dispatch(shell("ls"))
    assert (outcome.tool_args, outcome.context) == ({"command": "ls -l"}, "one\n\ntwo")


@pytest.mark.parametrize("answer", ENDING, ids=repr)
def test_what_passes_over_hooks_keeps_its_state_and_messages(engine, answer):
    brings = {"state": AgentState(agent_id="new"), "messages": (Message(role="user", content="m"),)}
    engine.says("ender", answer.replace(**brings, metadata={"k": 1}, context="c"))
    outcome = engine.dispatch(shell())
    assert (outcome.state.agent_id, outcome.messages[0].content) == ("new", "m")
    assert (outcome.metadata, outcome.context) == ({"k": 1}, "c")


@pytest.mark.parametrize(
    "answer", [HookOutcome.deny("no"), HookOutcome.stop("no"), HookOutcome.suspend("no")], ids=repr
)
def test_what_blocks_loses_its_state_and_messages_and_says_so(engine, answer):
    brings = {"state": AgentState(agent_id="new"), "messages": (Message(role="user", content="m"),)}
    engine.says("ender", answer.replace(**brings))
    outcome = engine.dispatch(shell())
    assert (outcome.state, outcome.messages) == (None, ())
    assert messages_of(outcome) == [
        f"Hook 'ender' decided '{answer.decision}': its '{name}' was dropped." for name in ("messages", "state")
    ]


@pytest.mark.parametrize("source", ["project", "skill"])
@pytest.mark.parametrize("answer", [HookOutcome.allow(), *ENDING], ids=repr)
def test_a_project_may_only_tighten(engine, source, answer):
    engine.says("loosener", answer, source=source, priority=1)
    engine.says("guard", HookOutcome.deny("no"), source="skill")
    outcome = engine.dispatch(shell())
    assert outcome.hook == "guard"
    assert f"a {source} may only tighten" in messages_of(outcome)[0]


def test_a_projects_allow_answers_no_ask(engine):
    engine.says("loosener", HookOutcome.allow(), source="project", priority=1)
    engine.says("asker", ASK, source="skill")
    assert engine.dispatch(shell()).decision == "deny"


@pytest.mark.parametrize("again", ["retry", "force_continue"])
def test_another_round_ends_the_chain_and_says_why(engine, again):
    event = "after_inference" if again == "retry" else "on_stop"
    engine.says("again", HookOutcome(decision=again, reason="not done"), event=event, priority=1)
    passed = engine.says("later", event=event)
    outcome = engine.dispatch(make_context(event, model="m"))
    assert (outcome.decision, outcome.reason, outcome.hook, passed) == (again, "not done", "again", [])


def test_another_round_beats_a_skip(engine):
    engine.says("skipper", HookOutcome.skip(), event="after_step", source="plugin", priority=1)
    engine.says("again", HookOutcome.force_continue("not done"), event="after_step", source="code")
    assert engine.dispatch(make_context("after_step")).decision == "force_continue"


def test_whoever_is_asked_may_answer_with_a_future():
    async def asked() -> HookOutcome:
        answer = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().call_soon(answer.set_result, True)
        manager = HookManager(load_plugins=False)
        manager.add(HookRegistration(event="before_tool_use", action=lambda ctx: ("ask", "May I?")))
        return await manager.hooks(ask=lambda ctx, reason: answer).dispatch(make_context(tool="Bash"))

    assert asyncio.run(asked()).decision == "allow"


def test_whoever_is_asked_may_leave_the_question_to_the_host(engine):
    """A callable that knows only some answers: the others stay in the outcome."""
    engine.ask = lambda ctx, reason: True if reason == "known" else "host"
    engine.says("asker", HookOutcome.ask("another"))
    assert engine.dispatch(shell()).decision == "ask"


def test_a_view_may_ask_somebody_else():
    manager = HookManager(load_plugins=False)
    manager.add(HookRegistration(event="before_tool_use", action=lambda ctx: ("ask", "May I?")))
    hooks = manager.hooks()
    assert hooks.dispatch_sync(make_context(tool="Bash")).decision == "deny"
    assert hooks.asking(lambda ctx, reason: True).dispatch_sync(make_context(tool="Bash")).decision == "allow"
    assert hooks.dispatch_sync(make_context(tool="Bash")).decision == "deny"
