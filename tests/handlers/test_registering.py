"""Entries of files become hooks, under the name of where they stand."""

from __future__ import annotations

import asyncio
import gc
import sys
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict

from agent_hooks import HookContext, HookManager, HookOutcome, HookPolicy, RegistrationError, hookimpl
from agent_hooks.errors import HandlerError, InvalidOutcomeError
from agent_hooks.formats.entry import HookEntry
from agent_hooks.handlers.handler_type import HandlerType
from agent_hooks.handlers.registering import register_entries
from agent_hooks.model.events import HookEvent
from engine import Plugin, shell
from handlers.servers import silent
from tables import tables

TABLES = tables(__file__)


class SlackConfig(BaseModel):
    model_config = ConfigDict(extra="forbid")

    channel: str
    deny: bool = False


class Slack(HandlerType):
    config = SlackConfig

    def __init__(self):
        self.posted = []

    def execute(self, config, ctx):
        self.posted.append((config.channel, str(ctx.event)))
        return HookOutcome.deny("posted") if config.deny else None


class Broken:
    def execute(self, config, ctx):
        raise OSError("no network")


@pytest.fixture
def slack():
    return Slack()


@pytest.fixture
def manager(slack):
    made = HookManager(load_plugins=False)
    made.handler_types["slack"] = slack
    made.handler_types["broken"] = Broken
    return made


def entry(event="before_tool_use", kind="slack", **fields):
    fields.setdefault("config", {"channel": "#ops"} if kind == "slack" else {})
    fields.setdefault("path", "/p/agent-hooks.toml")
    fields.setdefault("line", 3)
    return HookEntry(event=HookEvent.parse(event), type=kind, **fields)


def test_a_handler_is_given_its_valid_config_and_the_context_and_its_answer_counts(manager, slack):
    entries = [entry(), entry("session_end"), entry(config={"channel": "#no", "deny": True})]
    assert register_entries(manager, "file", entries) == []
    outcome = manager.hooks().dispatch_sync(shell())
    assert (outcome.decision, outcome.reason, outcome.hook) == ("deny", "posted", "/p/agent-hooks.toml:3#3")
    manager.hooks().dispatch_sync(HookContext("session_end"))
    assert slack.posted == [("#ops", "before_tool_use"), ("#no", "before_tool_use"), ("#ops", "session_end")]


def test_a_hook_is_named_by_its_place_and_by_its_own_name_and_knows_its_origin(manager):
    register_entries(
        manager,
        "file",
        [entry(), entry(), entry(name="ops", line=9), entry(project_dir="/p", line=12)],
    )
    described = manager.describe("before_tool_use")
    assert [hook.name for hook in described] == [
        "/p/agent-hooks.toml:3",
        "/p/agent-hooks.toml:3#2",
        "ops (/p/agent-hooks.toml:9)",
        "agent-hooks.toml:12",
    ]
    assert [hook.origin for hook in described[2:]] == ["/p/agent-hooks.toml:9", "agent-hooks.toml:12"]


def test_the_entries_of_a_file_run_in_the_order_of_the_file_and_priority_goes_before(manager, slack):
    names = [f"#{number}" for number in range(12)]
    entries = [entry(config={"channel": name}, priority=5 if name == "#7" else 0) for name in names]
    register_entries(manager, "file", entries)
    manager.hooks().dispatch_sync(shell())
    assert [channel for channel, _ in slack.posted] == ["#7", *(name for name in names if name != "#7")]


def test_an_entry_is_asked_where_its_matcher_says_and_shows_it(manager, slack):
    register_entries(
        manager, "file", [entry(matcher="Read"), entry(matcher="x", match=lambda ctx: True, config={"channel": "#any"})]
    )
    manager.hooks().dispatch_sync(shell())
    assert [channel for channel, _ in slack.posted] == ["#any"]
    assert [hook.match for hook in manager.describe()] == ["Read", "x"]


def test_once_is_once_in_a_session(manager, slack):
    register_entries(manager, "file", [entry(once=True)])
    for session in ("a", "a", "b"):
        manager.hooks().dispatch_sync(shell(session_id=session))
    assert len(slack.posted) == 2


class Answers:
    """A type whose hooks answer with one thing after another, in an event loop as awaitables."""

    def __init__(self, *answers):
        self.answers = list(answers)

    def execute(self, config, ctx):
        answer = self.answers.pop(0)

        def said():
            if isinstance(answer, Exception):
                raise answer
            return answer

        async def later():
            await asyncio.sleep(0)
            return said()

        return later() if config.get("later") else said()


def asked_in_turn(made: HookEntry, answers: Answers, contexts) -> list[HookOutcome]:
    manager = HookManager(load_plugins=False)
    manager.handler_types["answers"] = answers
    assert register_entries(manager, "file", [made]) == []

    async def ask():
        return [await manager.hooks().dispatch(ctx) for ctx in contexts]

    return asyncio.run(ask())


@pytest.mark.parametrize("later", [False, True])
@pytest.mark.parametrize(
    ("first", "decision"),
    [
        (HookOutcome.deny("no"), "deny"),
        (("stop", "no"), "stop"),
        ("ask", "deny"),  # nobody is there to be asked
        (HandlerError("away"), "proceed"),
        ("nonsense", "proceed"),
        ("deny", "deny"),
    ],
)
def test_once_is_not_over_while_nothing_was_let_through(first, decision, later):
    made = entry(kind="answers", once=True, form="skill", config={"later": later})
    answers = Answers(first, "deny", None, "deny")
    outcomes = asked_in_turn(made, answers, [shell(session_id="a") for _ in range(4)])
    assert [outcome.decision for outcome in outcomes] == [decision, "deny", "proceed", "proceed"]
    assert answers.answers == ["deny"]


def test_once_looks_at_a_changed_subject_again(manager):
    class OnlyLs:
        def execute(self, config, ctx):
            return None if ctx.tool_args == {"command": "ls"} else "deny"

    manager.handler_types["only_ls"] = OnlyLs()
    register_entries(manager, "file", [entry(kind="only_ls", once=True)])
    change = hookimpl(lambda ctx: HookOutcome.with_args({"command": "rm"}), mode="transform", trylast=True)  # type: ignore[call-overload]
    manager.register(Plugin(before_tool_use=change), "changes")
    outcome = manager.hooks().dispatch_sync(shell("ls"))
    assert outcome.decision == "deny"


def test_once_at_a_stop_makes_the_agent_go_on_once():
    made = entry("on_stop", kind="answers", once=True, form="skill")
    outcomes = asked_in_turn(made, Answers("deny", "deny"), [HookContext("on_stop", session_id="a") for _ in range(2)])
    assert [outcome.decision for outcome in outcomes] == ["force_continue", "proceed"]


@pytest.mark.parametrize("later", [False, True])
@pytest.mark.parametrize("error", [HandlerError("exit code 1"), InvalidOutcomeError("nonsense")], ids=repr)
@pytest.mark.parametrize(("form", "event", "on_failure", "decision"), TABLES["failures"])
def test_a_failure_never_makes_an_agent_go_on(form, event, on_failure, error, decision, later):
    made = entry(event, kind="answers", form=form, on_failure=on_failure or None, config={"later": later})
    facts: Any = {"tool_call": shell().tool_call} if event == "permission_request" else {}
    (outcome,) = asked_in_turn(made, Answers(error), [HookContext(event, **facts)])
    assert outcome.decision == decision
    assert decision == "proceed" or "/p/agent-hooks.toml:3 failed" in outcome.reason
    assert bool(outcome.findings) == (decision == "proceed")


@pytest.mark.parametrize(("form", "host_event", "config", "decision"), TABLES["late_commands"])
def test_a_model_is_not_switched_while_a_command_is_late(form, host_event, config, decision):
    manager = HookManager(load_plugins=False)
    made = entry("on_host_event", kind="command", form=form, host_event=host_event, config=config)
    assert register_entries(manager, "file", [made]) == []
    outcome = manager.hooks().dispatch_sync(HookContext("on_host_event", host_event=host_event, payload={}))
    assert outcome.decision == decision
    assert decision == "proceed" or outcome.reason.endswith(
        "failed: its command did not end within 0.05 s, and was killed"
    )


def test_a_model_is_not_switched_while_a_server_is_late(serve):
    url = f"http://127.0.0.1:{serve(silent).port}/"
    manager = HookManager(load_plugins=False)
    config = {"url": url, "timeout": 0.05}
    made = entry("on_host_event", kind="http", form="claude", host_event="PreModelSwitch", config=config)
    assert register_entries(manager, "file", [made]) == []
    context = HookContext("on_host_event", host_event="PreModelSwitch", payload={})
    assert manager.hooks().dispatch_sync(context).decision == "deny"


def test_an_answer_that_nobody_awaits_is_closed():
    made = entry("on_stop", kind="answers", form="claude", on_failure="closed", config={"later": True})
    manager = HookManager(load_plugins=False)
    manager.handler_types["answers"] = Answers(None)
    register_entries(manager, "file", [made])

    async def in_a_loop():
        (hook,) = (value for name, value in vars(manager.get_plugin("file")).items() if name.startswith("entry_"))
        hook(HookContext("on_stop")).close()

    asyncio.run(in_a_loop())
    gc.collect()  # a coroutine that is not closed would warn now


def test_what_is_started_without_waiting_decides_nothing(manager, slack):
    register_entries(manager, "file", [entry(is_async=True, config={"channel": "#log", "deny": True})])
    hooks = manager.hooks()
    assert hooks.dispatch_sync(shell()).decision == "proceed"
    hooks.join_sync()
    assert slack.posted == [("#log", "before_tool_use")]


@pytest.mark.parametrize(
    ("form", "source", "on_failure", "policy", "decision"),
    TABLES["a_failure_is_what_the_format_says_unless_somebody_is_stricter"],
)
def test_a_failure_is_what_the_format_says_unless_somebody_is_stricter(form, source, on_failure, policy, decision):
    manager = HookManager(load_plugins=False, policy=HookPolicy(on_gate_failure=policy or None))
    manager.handler_types["broken"] = Broken
    made = entry(kind="broken", form=form, source=source, on_failure=on_failure or None)
    assert register_entries(manager, "file", [made]) == []
    outcome = manager.hooks().dispatch_sync(shell())
    assert outcome.decision == decision
    assert "no network" in outcome.reason or "no network" in outcome.findings[0].message


@pytest.mark.parametrize(
    ("made", "problem"),
    [
        (entry(kind="slak"), "there is no handler type 'slak'. Did you mean 'slack'? Known are command, http,"),
        (entry(config={}), "channel: Field required"),
        (entry(config={"channel": "#a", "chanel": "#b"}), "chanel: it has no such field. Did you mean 'channel'?"),
        (entry(matcher="(a+)+$", source="project"), "regular expression"),
        (entry(kind="mcp_tool"), "It is not supported here."),
        (entry(kind="odd"), "which has no execute(config, ctx)"),
    ],
)
def test_what_cannot_be_honoured_is_a_finding_with_its_place(manager, monkeypatch, made, problem):
    monkeypatch.setitem(sys.modules, "re2", None)
    manager.handler_types["odd"] = object()
    (finding,) = register_entries(manager, "file", [made])
    assert manager.get_plugin("file") is None
    assert problem in finding.message
    assert (finding.path, finding.line, finding.event, finding.blocks) == (
        "/p/agent-hooks.toml",
        3,
        "before_tool_use",
        True,
    )


def test_the_entries_beside_one_that_cannot_be_honoured_are_registered(manager, slack):
    others = [entry(event, kind="nope") for event in ("session_end", "on_tool_error", "notification")]
    findings = register_entries(manager, "file", [entry(kind="nope"), *others, entry()])
    manager.hooks().dispatch_sync(shell())
    assert len(slack.posted) == 1
    assert [finding.blocks for finding in findings] == [True, False, False, False]  # where it would have decided


@pytest.mark.parametrize("kind", ["command", "http"])
def test_a_policy_can_refuse_commands_and_requests_of_files_by_name(kind):
    manager = HookManager(load_plugins=False, policy=HookPolicy(allow_shell=False))
    (finding,) = register_entries(manager, "file", [entry(kind=kind)])
    assert f"This {kind} hook on before_tool_use cannot be honoured: the policy says allow_shell = false" in str(
        finding
    )
    assert str(finding).startswith("/p/agent-hooks.toml:3: ")


def test_a_plugin_offers_handler_types_and_the_managers_own_go_before(manager, slack):
    theirs, fax = Slack(), Slack()
    offered = {"slack": theirs, "fax": lambda: fax}
    manager.register(Plugin(agent_hooks_handler_types=hookimpl(lambda: offered)), "faxes")
    register_entries(manager, "file", [entry(), entry(kind="fax", config={"channel": "1"})])
    manager.hooks().dispatch_sync(shell())
    assert (len(slack.posted), len(theirs.posted), len(fax.posted)) == (1, 0, 1)
    mine = Slack()
    register_entries(manager, "other file", [entry()], {"slack": mine})  # those of one call go before all others
    manager.hooks().dispatch_sync(shell())
    assert (len(slack.posted), len(mine.posted)) == (2, 1)


def test_a_plugin_that_cannot_say_what_it_offers_is_named(manager):
    def fails():
        raise OSError("disk")

    manager.register(Plugin(agent_hooks_handler_types=hookimpl(fails)), "faxes")
    with pytest.raises(RegistrationError, match=r"'faxes' cannot say which handler types it offers: OSError\('disk'\)"):
        register_entries(manager, "file", [entry()])


async def _answers(manager):
    return await manager.hooks().dispatch(shell())


def test_an_awaitable_answer_is_awaited_for_as_long_as_the_entry_says():
    class Slow:
        def execute(self, config, ctx):
            async def answer():
                await asyncio.sleep(0.02)
                return "deny"

            return answer()

    manager = HookManager(load_plugins=False, policy=HookPolicy(timeout=0.001))
    manager.handler_types["slow"] = Slow()
    register_entries(manager, "file", [entry(kind="slow", config={"timeout": 30})])
    outcome = asyncio.run(_answers(manager))
    assert (outcome.decision, outcome.failed) == ("deny", False)


# -- how long they may take --------------------------------------------------------------------------------------------


class TimedConfig(BaseModel):
    timeout: float = 30.0


class Timed(HandlerType):
    """Remembers how long it may take."""

    def __init__(self):
        self.seconds = None

    def bind(self, config, entry):
        self.seconds = config.get("timeout") if isinstance(config, dict) else config.timeout
        return lambda ctx: None


class TimedWithModel(Timed):
    config = TimedConfig


@pytest.mark.parametrize("handler", [Timed, TimedWithModel])
@pytest.mark.parametrize(("source", "policy", "given", "seconds"), TABLES["seconds"])
def test_a_project_and_a_skill_have_no_more_time_than_the_policy_says(handler, source, policy, given, seconds):
    manager = HookManager(load_plugins=False, policy=HookPolicy(**policy))
    manager.handler_types["timed"] = timed = handler()
    made = entry(kind="timed", source=source, config={"timeout": given})
    assert register_entries(manager, "file", [made]) == []
    assert timed.seconds == seconds


@pytest.mark.parametrize(("policy", "seconds"), [(2.0, 2.0), (None, 30.0)])
def test_a_default_of_the_handler_is_held_too(policy, seconds):
    manager = HookManager(load_plugins=False, policy=HookPolicy(timeout=policy))
    manager.handler_types["timed"] = timed = TimedWithModel()
    register_entries(manager, "file", [entry(kind="timed", source="project")])
    assert timed.seconds == seconds
