"""What the manager takes for granted about pluggy: if an upgrade breaks one of these, the manager needs a look."""

from __future__ import annotations

import functools
import sys
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING

import pluggy
import pytest

from agent_hooks.engine.markers import PROJECT, HookOptions, hookimpl, hookspec

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.interpreter

plain_impl = pluggy.HookimplMarker(PROJECT)
plain_spec = pluggy.HookspecMarker(PROJECT)


class Specs:
    @hookspec
    def event(self, ctx, extra):
        """An event."""

    @hookspec(firstresult=True)
    def other(self, ctx):
        """Another."""


@pytest.fixture
def manager() -> pluggy.PluginManager:
    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(Specs)
    return manager


def plugin(name: str = "a_plugin", /, **functions: object) -> ModuleType:
    module = ModuleType(name)
    vars(module).update(functions)
    return module


# -- markers -----------------------------------------------------------------------------------------------------------


def test_markers_leave_their_options_in_an_attribute_named_after_the_project():
    @plain_impl(tryfirst=True)
    def event(ctx): ...

    @plain_spec(firstresult=True)
    def spec(ctx): ...

    assert vars(event)["agent_hooks_impl"]["tryfirst"] is True
    assert vars(spec)["agent_hooks_spec"]["firstresult"] is True


def test_our_markers_write_the_same_keys_as_those_of_pluggy():
    @plain_impl
    def theirs(): ...

    @hookimpl
    def ours(): ...

    @plain_spec
    def their_spec(): ...

    @hookspec
    def our_spec(): ...

    assert vars(ours)["agent_hooks_impl"].keys() - {"options"} == vars(theirs)["agent_hooks_impl"].keys()
    assert vars(our_spec)["agent_hooks_spec"].keys() == vars(their_spec)["agent_hooks_spec"].keys()


def test_registration_keeps_keys_that_pluggy_does_not_know(manager):
    @hookimpl(priority=7)
    def event(ctx): ...

    manager.register(plugin(event=event))
    (impl,) = manager.hook.event.get_hookimpls()
    assert impl.opts["options"] == HookOptions(priority=7)


def test_specname_puts_a_function_on_another_hook(manager):
    @plain_impl(specname="event")
    def named_otherwise(ctx): ...

    manager.register(plugin(named_otherwise=named_otherwise))
    assert [impl.function for impl in manager.hook.event.get_hookimpls()] == [named_otherwise]


# -- registration ------------------------------------------------------------------------------------------------------


def test_a_hookimpl_knows_its_function_plugin_and_arguments(manager):
    @hookimpl
    def event(extra, ctx, plain=None): ...

    @hookimpl
    def other(ctx): ...

    module = plugin(other=other)
    manager.register(module, name="mine")
    (impl,) = manager.hook.other.get_hookimpls()
    assert (impl.function, impl.plugin, impl.plugin_name, impl.argnames) == (other, module, "mine", ("ctx",))


def test_an_argument_that_the_hookspec_lacks_is_refused_and_nothing_stays_registered(manager):
    @hookimpl
    def event(ctx): ...

    @hookimpl
    def other(nonsense): ...

    module = plugin(event=event, other=other)
    with pytest.raises(pluggy.PluginValidationError, match="nonsense"):
        manager.register(module)
    assert manager.hook.event.get_hookimpls() == []
    assert manager.get_plugins() == set()


def test_keyword_only_arguments_are_not_arguments_to_pluggy(manager):
    """So the manager has to refuse them itself: nobody would fill them."""

    @hookimpl
    def event(ctx, *, extra): ...

    manager.register(plugin(event=event))
    (impl,) = manager.hook.event.get_hookimpls()
    assert impl.argnames == ("ctx",)


def test_an_unknown_hook_is_found_by_check_pending_only(manager):
    @hookimpl
    def evnt(ctx): ...

    @hookimpl(optionalhook=True)
    def maybe(ctx): ...

    manager.register(plugin(maybe=maybe))
    manager.check_pending()
    manager.register(plugin("misspelled", evnt=evnt))
    with pytest.raises(pluggy.PluginValidationError, match="evnt"):
        manager.check_pending()


def test_a_hookspec_added_later_takes_the_hooks_that_waited_for_it(manager):
    class Late:
        @hookspec
        def late(self, ctx): ...

    @hookimpl
    def late(ctx): ...

    manager.register(plugin(late=late))
    manager.add_hookspecs(Late)
    manager.check_pending()
    assert [impl.function for impl in manager.hook.late.get_hookimpls()] == [late]


def test_hooks_of_a_plugin_are_found_in_alphabetical_order(manager):
    """Two functions on one event: pluggy's order is that of dir(), so the manager sorts by line."""

    @hookimpl(specname="event")
    def zebra(ctx): ...

    @hookimpl(specname="event")
    def ape(ctx): ...

    manager.register(plugin(zebra=zebra, ape=ape))
    assert [impl.function for impl in manager.hook.event.get_hookimpls()] == [ape, zebra]


def test_hookimpls_are_listed_in_registration_order_and_called_in_reverse(manager):
    called = []

    def make(name):
        @hookimpl
        def event(ctx):
            called.append(name)

        return plugin(name, event=event)

    for name in ("first", "second"):
        manager.register(make(name))
    manager.hook.event(ctx=None, extra=None)
    assert [impl.plugin_name for impl in manager.hook.event.get_hookimpls()] == ["first", "second"]
    assert called == ["second", "first"]


def test_a_function_in_an_instances_dict_is_a_hook(manager):
    class Holder: ...

    @hookimpl
    def event(ctx): ...

    holder = Holder()
    vars(holder)["event"] = event
    manager.register(holder)
    assert [impl.function for impl in manager.hook.event.get_hookimpls()] == [event]


@pytest.mark.parametrize("make", [functools.partial, lambda function: SimpleNamespace(__call__=function)])
def test_a_callable_that_is_no_function_is_silently_no_hook(manager, make):
    @hookimpl
    def event(ctx): ...

    marked = make(event)
    vars(marked).update(vars(event))
    manager.register(plugin(event=marked))
    assert manager.hook.event.get_hookimpls() == []


def test_plugins_are_compared_by_equality(manager):
    """Two equal objects are one plugin to pluggy, so the manager registers objects with identity equality."""

    class Equal:
        def __eq__(self, other):
            return isinstance(other, Equal)

        __hash__ = object.__hash__

    manager.register(Equal(), name="one")
    with pytest.raises(ValueError, match="already registered"):
        manager.register(Equal(), name="two")


def test_an_async_generator_cannot_be_pluggys_wrapper(manager):
    """So wrapper is our option, and pluggy is told of a plain hook."""

    @plain_impl(wrapper=True)
    async def event(ctx):
        yield

    with pytest.raises(pluggy.PluginValidationError, match="generator"):
        manager.register(plugin(event=event))


def test_unregister_takes_every_hook_away_and_returns_the_plugin(manager):
    @hookimpl
    def event(ctx): ...

    module = plugin(event=event)
    name = manager.register(module)
    assert manager.unregister(name=name) is module
    assert manager.hook.event.get_hookimpls() == []
    assert manager.get_plugin(name) is None


def test_blocking_a_name_unregisters_it_and_refuses_it_from_then_on(manager):
    @hookimpl
    def event(ctx): ...

    module = plugin(event=event)
    manager.register(module, name="mine")
    manager.set_blocked("mine")
    assert manager.hook.event.get_hookimpls() == []
    assert manager.register(module, name="mine") is None
    assert manager.is_blocked("mine")


# -- calls and entry points --------------------------------------------------------------------------------------------


def test_a_monitor_that_raises_refuses_the_call(manager):
    called = []

    @hookimpl
    def event(ctx):
        called.append(ctx)

    def refuse(hook_name, hook_impls, kwargs):
        raise RuntimeError(hook_name)

    manager.register(plugin(event=event))
    undo = manager.add_hookcall_monitoring(before=refuse, after=lambda *args: None)
    with pytest.raises(RuntimeError, match="event"):
        manager.hook.event(ctx=1, extra=None)
    assert called == []
    undo()
    manager.hook.event(ctx=1, extra=None)
    assert called == [1]


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A distribution with two plugins, one of which cannot be imported."""
    info = tmp_path / "pluggy_facts-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: pluggy-facts\nVersion: 1.2\n")
    (info / "entry_points.txt").write_text("[pluggy_facts]\ngood = pluggy_facts_good\nbroken = pluggy_facts_broken\n")
    (tmp_path / "pluggy_facts_good.py").write_text("")
    (tmp_path / "pluggy_facts_broken.py").write_text("raise OSError('broken')\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    for name in ("pluggy_facts_good", "pluggy_facts_broken"):
        sys.modules.pop(name, None)


def test_entry_points_are_loaded_one_name_at_a_time(manager, installed):
    assert manager.load_setuptools_entrypoints("pluggy_facts", name="good") == 1
    with pytest.raises(OSError, match="broken"):
        manager.load_setuptools_entrypoints("pluggy_facts", name="broken")
    assert manager.has_plugin("good")


def test_a_blocked_entry_point_is_not_even_imported(manager, installed):
    manager.set_blocked("broken")
    assert manager.load_setuptools_entrypoints("pluggy_facts", name="broken") == 0
    assert "pluggy_facts_broken" not in sys.modules


def test_a_loaded_plugin_stays_tied_to_its_distribution(manager, installed):
    manager.load_setuptools_entrypoints("pluggy_facts", name="good")
    ((loaded, distribution),) = manager.list_plugin_distinfo()
    assert (loaded.__name__, distribution.project_name, distribution.version) == (
        "pluggy_facts_good",
        "pluggy-facts",
        "1.2",
    )
