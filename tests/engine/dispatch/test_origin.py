"""An outcome that blocks says where the hook that decided is written, whatever kind of hook it is."""

from __future__ import annotations

import pytest

from agent_hooks import HookContext, HookManager, HookOutcome, HookPolicy, HookRegistration, ToolCall, hookimpl
from agent_hooks.errors import InvalidOutcomeError, SettingsError
from agent_hooks.model.outcome import read_answer

DENY = HookOutcome.deny("no")


def place_of(function) -> str:
    return f"{__file__}:{function.__code__.co_firstlineno}"


class Says:
    """A plugin with one hook that answers so."""

    def __init__(self, answer):
        self.answer = answer

    @hookimpl
    def before_tool_use(self):
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


class Approver:
    @hookimpl
    def permission_request(self):
        return HookOutcome.deny("nobody may")


class Wrapper:
    @hookimpl(wrapper=True)
    def before_tool_use(self):
        yield
        return DENY


class Action:
    def execute(self, ctx):
        return DENY


class Called:
    def __call__(self, ctx):
        return DENY


def deny(ctx):
    return DENY


async def deny_later(ctx):
    return DENY


def decided(*plugins, policy: HookPolicy | None = None, ask=None) -> HookOutcome:
    manager = HookManager(load_plugins=False, policy=policy)
    for plugin in plugins:
        if isinstance(plugin, HookRegistration):
            manager.add(plugin)
        else:
            manager.register(plugin)
    return manager.hooks(ask).dispatch_sync(HookContext("before_tool_use", tool_call=ToolCall("Bash")))


@pytest.mark.parametrize(
    "answer", [DENY, HookOutcome.stop("no"), HookOutcome.ask("may it?"), HookOutcome.suspend("wait"), ValueError("x")]
)
@pytest.mark.parametrize("ask", [None, "host"])
def test_a_hook_that_blocks_is_named_with_its_place(answer, ask):
    outcome = decided(Says(answer), ask=ask)
    assert outcome.blocks
    assert (outcome.hook, outcome.source) == ("Says.before_tool_use", "code")
    assert outcome.origin == place_of(Says.before_tool_use)


@pytest.mark.parametrize("policy", [None, HookPolicy(on_gate_failure="ask")])
@pytest.mark.parametrize("ask", [None, "host"])
def test_of_a_hook_that_wrong_settings_stop_it_is_the_place_of_the_settings(policy, ask):
    outcome = decided(Says(SettingsError("x", origin="agent-hooks.toml:2")), policy=policy, ask=ask)
    assert outcome.blocks
    assert outcome.origin == "agent-hooks.toml:2"


def test_of_wrong_settings_that_are_nowhere_written_it_is_the_place_of_the_hook():
    assert decided(Says(SettingsError("x"))).origin == place_of(Says.before_tool_use)


@pytest.mark.parametrize(
    "answer", [None, HookOutcome.allow(), HookOutcome.skip(), HookOutcome.update(tool_args={"a": 1})]
)
def test_nobody_looks_where_a_hook_is_written_that_does_not_block(answer):
    assert decided(Says(answer)).origin == ""


def test_of_an_ask_that_a_hook_refuses_it_is_the_place_of_that_hook():
    outcome = decided(Says(HookOutcome.ask("may it?")), Approver())
    assert (outcome.hook, outcome.source) == ("Approver.permission_request", "code")
    assert outcome.origin == place_of(Approver.permission_request)


def test_of_an_ask_that_a_hook_approves_nothing_is_in_the_way():
    class Grants:
        @hookimpl
        def permission_request(self):
            return HookOutcome.allow()

    outcome = decided(Says(HookOutcome.ask("may it?")), Grants())
    assert (outcome.decision, outcome.hook, outcome.origin) == ("allow", "Grants.permission_request", "")


def test_of_a_stricter_wrapper_it_is_the_wrappers_place():
    assert decided(Wrapper()).origin == place_of(Wrapper.before_tool_use)
    assert decided(Says(HookOutcome.ask("may it?")), Wrapper()).origin == place_of(Wrapper.before_tool_use)


@pytest.mark.parametrize(
    ("action", "function"),
    [(deny, deny), (deny_later, deny_later), (Action(), Action.execute), (Called(), Called.__call__)],
)
def test_of_a_registered_action_it_is_the_actions_place(action, function):
    assert decided(HookRegistration("before_tool_use", action)).origin == place_of(function)


def test_what_is_written_nowhere_has_no_place():
    outcome = decided(HookRegistration("before_tool_use", "deny".format))
    assert (outcome.decision, outcome.origin) == ("deny", "")


def test_a_hook_cannot_say_where_it_is_written():
    with pytest.raises(InvalidOutcomeError, match="'origin' is not a field of an answer"):
        read_answer({"decision": "deny", "origin": "elsewhere:1"})
    assert decided(Says(DENY.replace(origin="elsewhere:1"))).origin == place_of(Says.before_tool_use)
