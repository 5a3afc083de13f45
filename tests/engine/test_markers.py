"""The decorators of plugin authors."""

from __future__ import annotations

import subprocess
import sys

import pluggy
import pytest

from agent_hooks import HookOutcome, RegistrationError, define_event, hookimpl, hookspec
from engine import Plugin, shell
from tables import tables

TABLES = tables(__file__)

pytestmark = pytest.mark.interpreter


def test_a_bare_decorator_gives_the_defaults(manager):
    @hookimpl
    def before_tool_use():
        return HookOutcome.deny("no")

    manager.register(Plugin(before_tool_use=before_tool_use), "mine")
    (info,) = manager.describe()
    assert (info.name, info.priority, info.mode, info.match, info.on_failure) == (
        "mine.before_tool_use", 0, "transform", "*", "closed",
    )  # fmt: skip


def test_a_marked_function_stays_itself():
    def hook(tool_call):
        return tool_call

    assert hookimpl(hook) is hook
    assert hookimpl(priority=3)(hook) is hook
    assert hook(1) == 1


@pytest.mark.parametrize(
    ("options", "says"),
    TABLES["a_wrong_option_is_refused_where_it_is_written"],
)
def test_a_wrong_option_is_refused_where_it_is_written(options, says):
    with pytest.raises(RegistrationError) as error:
        hookimpl(**options)
    assert says in str(error.value)


def test_an_unknown_option_is_refused_with_those_there_are():
    with pytest.raises(TypeError, match="has no field prio; its fields are background, match"):
        hookimpl(prio=3)  # type: ignore[call-overload]


@pytest.mark.parametrize("name", ["pre_tool_use", "PreToolUse"])
def test_an_alias_names_a_hook(name, manager):
    manager.register(Plugin(**{name: hookimpl(lambda: HookOutcome.deny("no"))}))
    assert manager.hooks().dispatch_sync(shell()).decision == "deny"


def test_specname_gives_a_hook_any_name(manager):
    manager.register(Plugin(no_shells=hookimpl(specname="PreToolUse")(lambda: HookOutcome.deny("no"))))
    assert manager.hooks().dispatch_sync(shell()).decision == "deny"


def test_an_event_has_a_decorator_for_functions_of_any_name(manager):
    class Rules:
        @hookimpl.before_tool_use(match="shell", priority=3)
        def no_force(self, tool_call):
            return HookOutcome.deny("no force") if "--force" in tool_call.command else None

        @hookimpl.before_tool_use
        async def no_shells(self):
            return HookOutcome.deny("no shells")

        @hookimpl.before_tool_use(wrapper=True)
        def after_all(self):
            outcome = yield
            return HookOutcome.stop(f"{outcome.reason}, and no more")

    manager.register(Rules(), "rules")
    assert manager.hooks().run_sync(shell("git push --force")).reason == "no force, and no more"
    assert manager.hooks().run_sync(shell("ls")).reason == "no shells, and no more"
    assert [info.name for info in manager.describe()] == ["rules.after_all", "rules.no_force", "rules.no_shells"]


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("before_tool_usage", "Did you mean 'before_tool_use'?"),
        ("PreToolUse", "Write hookimpl.before_tool_use."),
        ("lunch", "`agent-hooks events` lists them all."),
    ],
)
def test_a_decorator_of_an_unknown_event_is_an_error_that_names_the_nearest(name, hint):
    with pytest.raises(AttributeError) as error:
        getattr(hookimpl, name)
    assert str(error.value) == f"hookimpl has no {name!r}. {hint}"


def test_an_event_of_a_plugin_has_no_decorator(own_events):
    define_event("before_lunch", decisions="deny")
    with pytest.raises(AttributeError, match="A plugin has added it: mark a function of its name"):
        _ = hookimpl.before_lunch  # type: ignore[attr-defined]


def test_the_decorator_of_an_event_takes_no_other_event():
    with pytest.raises(TypeError, match="specname"):
        hookimpl.before_step(specname="after_step")  # type: ignore[call-overload]


def test_pluggys_own_marker_works_and_gets_the_defaults(manager):
    mark = pluggy.HookimplMarker("agent_hooks")

    @mark(trylast=True)
    def before_tool_use(tool_call):
        return HookOutcome.deny(tool_call.command)

    @mark(wrapper=True, specname="before_tool_use")
    def around(ctx):
        yield
        return HookOutcome.stop("stricter")

    manager.register(Plugin(before_tool_use=before_tool_use))
    assert manager.hooks().dispatch_sync(shell("ls")).reason == "ls"
    manager.register(Plugin(around=around))
    assert manager.hooks().dispatch_sync(shell("ls")).reason == "stricter"


def test_pluggys_own_manager_understands_our_markers():
    class Spec:
        @hookspec(firstresult=True)
        def before_tool_use(self, tool_call):
            """A tool is about to be called."""

    manager = pluggy.PluginManager("agent_hooks")
    manager.add_hookspecs(Spec)
    manager.register(Plugin(before_tool_use=hookimpl(priority=5)(lambda tool_call: tool_call * 2)))
    assert manager.hook.before_tool_use(tool_call=21) == 42


def test_a_plugin_can_be_imported_without_importing_pluggy():
    code = "import sys\nfrom agent_hooks import HookOutcome, hookimpl\nhookimpl(priority=1)(lambda: None)\n"
    subprocess.run([sys.executable, "-c", f"{code}assert 'pluggy' not in sys.modules"], check=True)
