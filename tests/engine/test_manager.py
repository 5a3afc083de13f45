"""The registry: registering, blocking, looking."""

from __future__ import annotations

import types
from functools import partial

import pluggy
import pytest

from agent_hooks import HookOutcome, HookRegistration, PathMatcher, RegistrationError, hookimpl, hookspec
from agent_hooks.engine import hookspecs
from agent_hooks.errors import UnknownHookError
from agent_hooks.model.policy import HookPolicy
from engine import Plugin, shell

DENY = hookimpl(lambda: HookOutcome.deny("no"))


def status_of(manager, name):
    return next(info.status for info in manager.plugins() if info.name == name)


# -- plugins -----------------------------------------------------------------------------------------------------------


def test_it_is_a_pluggy_manager(manager):
    assert isinstance(manager, pluggy.PluginManager)
    plugin = Plugin(before_tool_use=DENY)
    assert manager.register(plugin, "mine") == "mine"
    assert (manager.get_plugin("mine"), manager.get_name(plugin)) == (plugin, "mine")
    assert manager.is_registered(plugin)


def test_a_module_is_a_plugin_under_its_name(manager):
    module = types.ModuleType("house_rules")
    vars(module)["before_tool_use"] = DENY
    assert manager.register(module) == "house_rules"
    assert manager.hooks().dispatch_sync(shell()).hook == "house_rules.<lambda>"


def test_an_object_is_a_plugin_under_its_class_and_two_can_be_told_apart(manager):
    assert [manager.register(Plugin(before_tool_use=DENY)) for _ in range(2)] == ["Plugin", "Plugin#2"]


def test_the_same_plugin_or_name_cannot_be_registered_twice(manager):
    plugin = Plugin(before_tool_use=DENY)
    manager.register(plugin, "mine")
    with pytest.raises(RegistrationError, match=r"^A plugin called 'mine' is registered already: unregister it, or"):
        manager.register(Plugin(), "mine")
    with pytest.raises(RegistrationError, match=r"^This plugin is registered already, as 'mine'\.$"):
        manager.register(plugin, "again")
    assert len(manager.describe()) == 1


@pytest.mark.parametrize(
    "hooks",
    [{"before_tool_use": hookimpl(match="(")(lambda ctx: None)}, {"before_tol_use": hookimpl(lambda ctx: None)}],
)
def test_what_is_wrong_with_a_plugin_is_one_error_without_a_chain(manager, hooks):
    def register():
        manager.register(Plugin(**hooks), "mine")
        manager.check_pending()

    with pytest.raises(RegistrationError) as caught:
        register()
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def test_a_plugin_that_fails_to_register_more_is_not_registered(manager):
    def fails():
        raise LookupError("no licence")

    with pytest.raises(LookupError, match="no licence"):
        manager.register(Plugin(before_tool_use=DENY, agent_hooks_register=hookimpl(fails)), "mine")
    assert (manager.has_plugin("mine"), manager.plugins(), manager.describe()) == (False, [], [])


def test_a_plugin_is_unregistered_by_itself_or_by_name(manager):
    plugin = Plugin(before_tool_use=DENY)
    manager.register(plugin, "mine")
    assert manager.unregister(plugin) is plugin
    manager.register(plugin, "mine")
    assert manager.unregister(name="mine") is plugin
    assert (manager.plugins(), manager.describe()) == ([], [])


@pytest.mark.parametrize("what", [{"name": "nobody"}, {"plugin": Plugin()}])
def test_what_is_not_registered_cannot_be_unregistered(manager, what):
    with pytest.raises(RegistrationError, match="is not registered"):
        manager.unregister(**what)


def test_a_blocked_name_stays_out(manager):
    manager.register(Plugin(before_tool_use=DENY), "mine")
    manager.set_blocked("mine")
    assert manager.hooks().dispatch_sync(shell()).decision == "proceed"
    assert status_of(manager, "mine") == "blocked"
    assert manager.register(Plugin(before_tool_use=DENY), "mine") is None
    assert not manager.hooks().listens("before_tool_use")


def test_a_name_may_be_blocked_before_anybody_has_it(manager):
    manager.set_blocked("mine")
    assert manager.is_blocked("mine")
    assert manager.register(Plugin(before_tool_use=DENY), "mine") is None
    manager.set_blocked("mine")
    assert [info.status for info in manager.plugins()] == ["blocked"]


def test_a_required_plugin_cannot_be_blocked(manager):
    manager.register(Plugin(before_tool_use=hookimpl(required=True, name="gate")(lambda: None)), "mine")
    with pytest.raises(RegistrationError, match="'mine' cannot be blocked, because gate is required"):
        manager.set_blocked("mine")
    assert manager.hooks().listens("before_tool_use")


# -- events ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("before_tol_use", "before_tool_use"),
        ("PreTooluse", "PreToolUse"),
        ("agent_hooks_regster", "agent_hooks_register"),
    ],
)
def test_a_misspelt_hook_is_refused_with_the_nearest_name(manager, name, near):
    manager.register(Plugin(**{name: DENY}), "mine")
    with pytest.raises(UnknownHookError, match=f"The plugin 'mine' has a hook '{name}'.*Did you mean '{near}'"):
        manager.check_pending()


def test_a_misspelt_event_is_refused_also_where_the_function_has_the_name_of_another(manager):
    @hookimpl(specname="before_tol_use")
    def before_turn():
        return None

    manager.register(Plugin(before_turn=before_turn), "mine")
    with pytest.raises(UnknownHookError, match=r"a hook 'before_tol_use'.*Did you mean 'before_tool_use'"):
        manager.check_pending()


def test_a_misspelt_hook_cannot_be_overlooked(manager):
    """A gate that never runs is worse than an error."""
    manager.register(Plugin(before_tol_use=DENY), "mine")
    with pytest.raises(UnknownHookError):
        manager.hooks().dispatch_sync(shell())


def test_an_optional_hook_may_name_what_is_not_there(manager):
    manager.register(Plugin(before_deploy=hookimpl(optionalhook=True)(lambda: None)))
    manager.check_pending()
    assert manager.hooks().dispatch_sync(shell()).decision == "proceed"


def test_a_hookspec_needs_an_event(manager):
    class Specs:
        @hookspec
        def before_deploy(self, ctx):
            """Something is about to be deployed."""

    with pytest.raises(RegistrationError, match=r"'before_deploy' has no event: call define_event\('before_deploy'"):
        manager.add_hookspecs(Specs)


def test_hookspecs_may_be_added_twice(manager):
    manager.add_hookspecs(hookspecs)
    manager.check_pending()


# -- the framework's own observers -------------------------------------------------------------------------------------


class Watcher:
    def __init__(self):
        self.heard = []

    @hookimpl
    def agent_hooks_dispatch_started(self, event, ctx):
        self.heard.append(("started", str(event)))

    @hookimpl
    def agent_hooks_executed(self, event, hook_name, plugin_name, outcome, error, started_at, duration, walk, shadow):
        said = outcome.decision if outcome is not None else None
        self.heard.append((hook_name, plugin_name, said, type(error).__name__ if error else None, walk, shadow))
        assert started_at > 0
        assert duration >= 0

    @hookimpl
    def agent_hooks_dispatched(self, event, outcome, duration):
        self.heard.append(("dispatched", outcome.decision))


def test_the_frameworks_observers_hear_of_each_hook_that_ran(engine):
    watcher = Watcher()
    engine.manager.register(watcher)
    engine.says("passed_over", match="Read", priority=5)
    engine.says("silent", priority=4)
    engine.says("faulty", OSError("gone"), on_failure="open", priority=3)
    engine.says("rewriter", HookOutcome.update(tool_args={"command": "pwd"}), priority=2)
    engine.says("looker", mode="observe")
    engine.dispatch(shell("ls"))
    assert watcher.heard == [
        ("started", "before_tool_use"),
        ("silent", "silent", None, None, 1, False),
        ("faulty", "faulty", None, "OSError", 1, False),
        ("rewriter", "rewriter", "proceed", None, 1, False),
        ("silent", "silent", None, None, 2, False),
        ("faulty", "faulty", None, "OSError", 2, False),
        ("looker", "looker", None, None, 0, False),
        ("dispatched", "proceed"),
    ]


def test_what_the_frameworks_observers_raise_disturbs_nobody(engine):
    def raises():
        raise ValueError("watcher")

    engine.manager.register(Plugin(agent_hooks_executed=hookimpl(raises)), "watcher")
    engine.says("guard", HookOutcome.deny("no"))
    assert engine.dispatch(shell()).reason == "no"
    assert engine.manager.tolerated == {"watcher.agent_hooks_executed": 1}


# -- looking -----------------------------------------------------------------------------------------------------------


def test_hooks_are_described_in_the_order_in_which_they_run(manager):
    class Team:
        @hookimpl(priority=5, match="shell", timeout=2, on_failure="ask", mode="gate")
        def before_tool_use(self, tool_call):
            return None

        @hookimpl(wrapper=True, specname="before_tool_use")
        def around(self, ctx):
            yield

        @hookimpl
        async def after_step(self, ctx):
            return None

        @hookimpl(match=PathMatcher("*.py"), specname="before_tool_use", tryfirst=True, name="first")
        def other(self, ctx):
            return None

        @hookimpl
        def session_end(self, ctx):
            return None

    manager.register(Team(), "team", source="user", scope=("session", "s"))
    described = [(info.event, info.name) for info in manager.describe()]
    assert described == [
        ("session_end", "team.session_end"),
        ("before_tool_use", "team.around"),
        ("before_tool_use", "first"),
        ("before_tool_use", "team.before_tool_use"),
        ("after_step", "team.after_step"),
    ]
    assert [info.name for info in manager.describe("PreToolUse")] == ["team.around", "first", "team.before_tool_use"]
    gate = manager.describe("before_tool_use")[2]
    assert (gate.priority, gate.match, gate.timeout, gate.on_failure, gate.mode) == (5, "shell", 2, "ask", "gate")
    assert (gate.plugin, gate.source, gate.scope, gate.wrapper, gate.is_async) == (
        "team",
        "user",
        ("session", "s"),
        False,
        False,
    )
    by_name = {info.name: info for info in manager.describe()}
    assert (by_name["team.around"].wrapper, by_name["team.after_step"].is_async) == (True, True)
    assert (by_name["team.session_end"].mode, by_name["team.after_step"].on_failure) == ("observe", "open")


def test_a_registration_becomes_a_plugin_of_its_name(manager):
    name = manager.add(HookRegistration("before_tool_use", lambda ctx: None, name="mine", source="user"))
    assert [(info.name, info.source, info.status) for info in manager.plugins()] == [("mine", "user", "active")]
    manager.unregister(name=name)
    assert manager.plugins() == []


def test_the_policy_is_fixed(manager):
    with pytest.raises(AttributeError):
        manager.policy = HookPolicy(shadow=True)


def test_a_hook_tells_where_it_is_written(manager):
    class Team:
        @hookimpl
        def before_tool_use(self, ctx):
            return None

    manager.register(Team(), "team")
    (info,) = manager.describe("before_tool_use")
    assert info.origin == f"{__file__}:{Team.before_tool_use.__code__.co_firstlineno}"


def test_what_is_no_hook_is_passed_over_as_pluggy_does(manager):
    """The names of a module are looked at in a shorter way than pluggy's, with the same result."""
    module = types.ModuleType("odd")

    class Odd:
        @hookimpl
        def before_step(self):
            """In a class, so of its objects."""

        @classmethod
        @hookimpl
        def after_step(cls):
            """Bound to its class."""

    vars(module).update(
        number=1,
        Odd=Odd,
        plain=lambda ctx: None,
        before_step=hookimpl(lambda ctx: None),
        before_execution=staticmethod(hookimpl(lambda ctx: None)),
        on_stop=Odd().before_step,
        after_step=Odd.after_step,
        on_error=partial(hookimpl(lambda ctx: None)),
        builtin=len,
    )
    for plugin in (module, Odd(), hookspecs):
        theirs = pluggy.PluginManager("agent_hooks")
        found = {name for name in dir(plugin) if manager.parse_hookimpl_opts(plugin, name) is not None}
        assert found == {name for name in dir(plugin) if theirs.parse_hookimpl_opts(plugin, name) is not None}
    assert {"before_step", "on_stop", "after_step"} <= {
        n for n in dir(module) if manager.parse_hookimpl_opts(module, n)
    }
