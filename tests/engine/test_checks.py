"""What cannot be registered, and what the message says; nothing is registered then."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from types import SimpleNamespace

import pytest

from agent_hooks import HookOutcome, HookRegistration, RegistrationError, define_event, hookimpl, hookspec
from engine import Plugin, shell


def refusal(manager, plugin, name="mine"):
    """What the manager says when it refuses the plugin."""
    with pytest.raises(RegistrationError) as error:
        manager.register(plugin, name)
    assert (manager.plugins(), manager.describe(), manager.has_plugin(name)) == ([], [], False)
    return str(error.value)


@dataclass
class Data:
    x: int = 0


class Unmarked:
    def before_tool_use(self, ctx):
        return HookOutcome.deny("never called")


class Wrapped:
    @hookimpl
    def before_tool_use(self, ctx):
        yield


class NotWrapped:
    @hookimpl(wrapper=True)
    def before_tool_use(self, ctx):
        return None


class KeywordOnly:
    @hookimpl
    def before_tool_use(self, *, tool_call):
        return None


class Unknown:
    @hookimpl
    def before_tool_use(self, ctx, toolcall):
        return None


class BadMatch:
    @hookimpl(match="(")
    def before_tool_use(self, ctx):
        return None


REFUSALS = [
    (Unmarked, "Unmarked'> cannot be a plugin: register a module, or an object of the class"),
    (None, "None cannot be a plugin"),
    (Data(), "Data cannot be a plugin, because two equal ones could not be told apart: use a plain class"),
    (SimpleNamespace(), "SimpleNamespace cannot be a plugin"),
    (Unmarked(), "mine.before_tool_use has the name of an event but would never be called: mark it with @hookimpl"),
    (Wrapped(), "The hook mine.before_tool_use yields, so it must be marked wrapper=True"),
    (NotWrapped(), "The hook mine.before_tool_use is marked wrapper=True, so it must yield once"),
    (KeywordOnly(), "mine.before_tool_use: remove the * before 'tool_call'"),
    (
        Unknown(),
        "mine.before_tool_use takes 'toolcall', which before_tool_use does not offer. Its arguments are ctx, tool_call",
    ),
    (BadMatch(), "The hook mine.before_tool_use: The match '(' is not a regular expression"),
]


@pytest.mark.parametrize(("plugin", "says"), REFUSALS, ids=[says[:30] for _, says in REFUSALS])
def test_a_plugin_is_refused_with_the_reason(manager, plugin, says):
    assert says in refusal(manager, plugin)


def test_what_is_no_event_may_be_called_anything(manager):
    """Only a telling name of an event looks like a forgotten mark."""

    class Helper:
        def setup(self):
            return None

        def stop(self):
            return None

        @property
        def before_tool_use(self):
            raise AssertionError("a property is not touched")

    assert manager.register(Helper()) == "Helper"


def test_a_decorated_hook_keeps_its_arguments_and_its_colour(manager):
    def logged(function):
        @functools.wraps(function)
        def wrapper(*args):
            return function(*args)

        return wrapper

    def asynchronously(function):
        @functools.wraps(function)
        async def wrapper(*args):
            return function(*args)

        return wrapper

    @hookimpl(specname="before_tool_use")
    @logged
    async def one(tool_call):
        return HookOutcome.with_context(tool_call.command)

    @hookimpl(specname="before_tool_use")
    @asynchronously
    def two(tool_call):
        return HookOutcome.with_context(tool_call.command)

    manager.register(Plugin(one=one, two=two), "mine")
    assert manager.hooks().run_sync(shell("ls")).context == "ls\n\nls"
    assert manager.hooks().dispatch_sync(shell("ls")).context == "ls\n\nls"
    assert [(info.name, info.is_async) for info in manager.describe()] == [("mine.one", False), ("mine.two", True)]


def test_an_argument_with_a_default_gets_what_is_offered_and_else_its_default(manager):
    given = []

    def before_tool_use(ctx, tool_call=None, threshold=3):
        given.append((tool_call.name, threshold))

    manager.register(Plugin(before_tool_use=hookimpl(before_tool_use)))
    manager.hooks().dispatch_sync(shell())
    assert given == [("Bash", 3)]


def test_static_and_class_methods_are_hooks(manager):
    class Both:
        @staticmethod
        @hookimpl
        def before_tool_use(tool_call):
            return HookOutcome.with_context(tool_call.command)

        @hookimpl(specname="before_tool_use")
        def bound(self, tool_call):
            return HookOutcome.with_context(type(self).__name__)

    manager.register(Both())
    assert manager.hooks().dispatch_sync(shell("ls")).context == "ls\n\nBoth"


def test_a_hook_of_another_name_is_checked_by_the_event_that_it_names(manager):
    def gate(nonsense):
        """It would be called with an argument that no event offers."""

    with pytest.raises(RegistrationError, match="gate takes 'nonsense', which before_tool_use does not offer"):
        manager.register(Plugin(gate=hookimpl(specname="before_tool_use")(gate)))


def test_the_frameworks_own_hooks_cannot_be_async(manager):
    async def agent_hooks_executed(hook_name):
        """Nobody would await it."""

    with pytest.raises(RegistrationError, match="the framework's own hooks are plain functions"):
        manager.register(Plugin(agent_hooks_executed=hookimpl(agent_hooks_executed)))


def test_an_action_with_a_keyword_only_argument_is_refused(manager):
    with pytest.raises(RegistrationError, match=r"remove the \* before 'tool_call'"):
        manager.add(HookRegistration(event="before_tool_use", action=lambda *, tool_call: None))


def test_a_hookspec_that_offers_what_no_context_has_is_refused(manager, own_events):
    class Specs:
        @hookspec
        def before_lunch(self, ctx, menu):
            """Lunch is about to be served."""

    define_event("before_lunch", decisions="deny")
    with pytest.raises(RegistrationError, match="offers 'menu', which no context has"):
        manager.add_hookspecs(Specs)
