"""Hooks as data: actions, registrations, and sets of events."""

from __future__ import annotations

import pytest

from agent_hooks import HookAction, HookEvent, HookOutcome, HookRegistration, HookTriggers, RegistrationError
from agent_hooks.engine.registration import triggers
from agent_hooks.testing import make_context
from engine import shell
from tables import tables

TABLES = tables(__file__)


def dispatch(manager, ctx=None):
    return manager.hooks().run_sync(ctx or shell("ls"))


# -- sets of events ----------------------------------------------------------------------------------------------------


def test_a_set_of_events_takes_names_and_aliases_once_each():
    made = HookTriggers.of("before_step", HookEvent.AFTER_STEP, "StepStart")
    assert list(made) == ["before_step", "after_step"]
    assert made == HookTriggers.of("after_step", "before_step")
    assert hash(made) == hash(HookTriggers.of("after_step", "before_step"))
    assert "before_step" in made
    assert "on_stop" not in made


def test_all_and_none():
    assert list(HookTriggers.all()) == list(HookEvent.all())
    assert list(HookTriggers.none()) == []


@pytest.mark.parametrize("event", list(HookEvent.all()))
def test_there_is_one_constructor_per_event(event):
    assert getattr(HookTriggers, event)() == HookTriggers.of(event)


@pytest.mark.parametrize(
    "said", ["before_step", HookEvent.BEFORE_STEP, ["before_step"], HookTriggers.of("before_step")]
)
def test_events_may_be_said_in_several_ways(said):
    assert triggers(said) == HookTriggers.of("before_step")


# -- actions -----------------------------------------------------------------------------------------------------------


class Denies(HookAction):
    def execute(self, ctx):
        return HookOutcome.deny(ctx.tool_call.command)


class DeniesAsync:
    async def execute(self, ctx):
        return HookOutcome.deny(ctx.tool_call.command)


class Handles:
    def handle(self, ctx):
        return ctx.block(ctx.tool_call.command)


class Called:
    def __call__(self, ctx):
        return HookOutcome.deny(ctx.tool_call.command)


class CalledAsync:
    async def __call__(self, anything):
        return HookOutcome.deny(anything.tool_call.command)


def with_arguments(tool_call, state):
    return HookOutcome.deny(tool_call.command)


def with_the_context(happening):
    return HookOutcome.deny(happening.tool_call.command)


def with_a_default(ctx, prefix=""):
    return HookOutcome.deny(prefix + ctx.tool_call.command)


ACTIONS = [
    Denies(),
    DeniesAsync(),
    Handles(),
    Called(),
    CalledAsync(),
    with_arguments,
    with_the_context,
    with_a_default,
]


@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: getattr(action, "__name__", type(action).__name__))
def test_an_action_is_a_callable_or_an_object_with_execute_or_handle(manager, action):
    manager.add(HookRegistration("before_tool_use", action))
    assert dispatch(manager).reason == "ls"


@pytest.mark.parametrize("action", [None, 42, "deny", object()])
def test_anything_else_is_no_action(action):
    with pytest.raises(RegistrationError, match=r"neither callable nor has execute\(ctx\) or handle\(ctx\)"):
        HookRegistration("before_tool_use", action)


def test_an_action_must_say_how_it_is_executed(manager):
    manager.add(HookRegistration("before_tool_use", HookAction()))
    assert "NotImplementedError" in dispatch(manager).reason


def test_an_action_that_takes_what_is_not_offered_is_refused(manager):
    def action(tool, call):
        return None

    with pytest.raises(RegistrationError, match=r"The action action takes 'tool', which .* does not offer"):
        manager.add(HookRegistration("before_tool_use", action))
    assert manager.plugins() == []


def test_one_action_may_serve_several_events(manager):
    seen = []
    manager.add(HookRegistration(["before_step", "after_step"], lambda ctx: seen.append(ctx.event)))
    for event in ("before_step", "after_step", "on_stop"):
        manager.hooks().dispatch_sync(make_context(event))
    assert seen == ["before_step", "after_step"]


def test_a_registration_without_events_is_never_asked(manager):
    manager.add(HookRegistration(HookTriggers.none(), Denies()))
    assert dispatch(manager).decision == "proceed"


# -- options -----------------------------------------------------------------------------------------------------------


def test_a_registration_has_the_options_of_a_hook(manager):
    manager.add(
        HookRegistration(
            "before_tool_use", Denies(), match="shell", priority=7, timeout=2, mode="gate", name="no_shells",
            required=True, source="user", scope=("session", "s"),
        )
    )  # fmt: skip
    (info,) = manager.describe()
    assert (info.name, info.priority, info.timeout, info.mode, info.match) == ("no_shells", 7, 2, "gate", "shell")
    assert (info.required, info.source, info.scope) == (True, "user", ("session", "s"))


def test_a_hook_is_named_after_its_action(manager):
    manager.add(HookRegistration("before_tool_use", Denies()))
    manager.add(HookRegistration("before_tool_use", with_arguments))
    assert [info.name for info in manager.describe()] == ["Denies", "with_arguments"]


def test_the_same_action_may_be_registered_twice(manager):
    names = [manager.add(HookRegistration("before_step", with_the_context)) for _ in range(2)]
    assert len(set(names)) == 2


def faulty(ctx):
    raise OSError("gone")


@pytest.mark.parametrize(
    ("said", "decision"),
    [
        ({}, "deny"),
        ({"continue_on_failure": None}, "deny"),
        ({"continue_on_failure": True}, "proceed"),
        ({"continue_on_failure": False}, "deny"),
        ({"on_failure": "open"}, "proceed"),
        ({"on_failure": "closed", "continue_on_failure": True}, "deny"),
        ({"on_failure": "open", "continue_on_failure": False}, "deny"),
    ],
)
def test_what_a_failure_does_may_be_said_in_two_ways_and_the_stricter_holds(manager, said, decision):
    manager.add(HookRegistration("before_tool_use", faulty, **said))
    assert dispatch(manager).decision == decision


@pytest.mark.parametrize(
    ("wrong", "says"),
    TABLES["a_wrong_option_is_refused_where_it_is_written"],
)
def test_a_wrong_option_is_refused_where_it_is_written(wrong, says):
    with pytest.raises(RegistrationError) as error:
        HookRegistration("before_step", with_the_context, **wrong)
    assert says in str(error.value)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"source": "me"}, "'me' is not a source of hooks; use one of skill, project"),
        ({"scope": ("planet", "earth")}, "is not a scope: None for always, or one of directory, skill, session"),
    ],
)
def test_a_wrong_source_or_scope_is_refused(manager, wrong, says):
    with pytest.raises(RegistrationError) as error:
        manager.add(HookRegistration("before_step", with_the_context, **wrong))
    assert says in str(error.value)
    assert manager.plugins() == []


def test_an_action_says_its_own_mode():
    class Observer:
        mode = "observe"

        def handle(self, ctx):
            return HookOutcome.deny("ignored")

    assert HookRegistration("before_tool_use", Observer()).mode == "observe"
    assert HookRegistration("before_tool_use", Observer(), mode="gate").mode == "gate"


def test_an_argument_of_another_event_is_an_error_and_not_the_context(manager):
    with pytest.raises(RegistrationError, match="takes 'tool_args', which the event does not offer"):
        manager.add(HookRegistration("after_tool_use", lambda tool_args: None))


@pytest.mark.parametrize(
    ("event", "action", "meant"),
    [
        ("before_tool_use", lambda tool_cal: None, "tool_call"),
        ("before_tool_use", lambda toolcall: None, "tool_call"),
        ("before_tool_use", lambda tool_calls: None, "tool_call"),
        ("before_step", lambda stat: None, "state"),
        ("user_input", lambda promt: None, "prompt"),
        ("after_tool_use", lambda reslut: None, "result"),
    ],
)
def test_a_slip_in_the_only_argument_is_an_error_and_not_the_context(event, action, meant, manager):
    with pytest.raises(RegistrationError, match=f"Did you mean '{meant}'"):
        manager.add(HookRegistration(event, action))


@pytest.mark.parametrize(
    "name", "context event ctx hook_context call hook_ctx ctxt c _ happening tool data info".split()
)
def test_any_other_name_is_the_context(name, manager):
    manager.add(HookRegistration("before_tool_use", eval(f"lambda {name}: ('deny', {name}.tool_name)")))
    assert manager.hooks().dispatch_sync(make_context(tool="Bash")).reason == "Bash"


def test_timeout_seconds_is_another_name_of_timeout():
    one = HookRegistration("before_tool_use", lambda ctx: None, timeout=2)
    other = HookRegistration("before_tool_use", one.action, timeout_seconds=2)
    assert (one, one.timeout, one.timeout_seconds, other.options().timeout) == (other, 2, 2, 2)
    assert one.replace(timeout=3).timeout_seconds == 3
