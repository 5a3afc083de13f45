"""Rule 12: the chain of an event is compiled once; a change of registration takes effect at the next event."""

from __future__ import annotations

import pytest

from agent_hooks import HookOutcome, hookimpl
from agent_hooks.errors import UnknownEventError
from agent_hooks.testing import make_context
from engine import Plugin, called, shell


def test_a_chain_is_compiled_once(engine):
    engine.says("guard")
    view = engine.hooks
    engine.dispatch(shell(), view)
    chain = view.chain("before_tool_use")
    engine.dispatch(shell(), view)
    assert view.chain("before_tool_use") is chain


def test_a_plugin_that_is_blocked_is_not_asked_at_the_next_event(engine):
    engine.says("guard", HookOutcome.deny("no"))
    view = engine.hooks
    assert engine.dispatch(shell(), view).decision == "deny"
    engine.manager.set_blocked("guard")
    assert engine.dispatch(shell(), view).decision == "proceed"


def test_a_change_during_a_dispatch_leaves_that_dispatch_as_it_began(engine):
    late: list[object] = []

    @engine.hook(priority=1)
    def registers(ctx):
        if not late:
            late.append(engine.says("late", HookOutcome.deny("late")))
            engine.manager.unregister(name="bystander")

    bystander = engine.says("bystander")
    view = engine.hooks
    assert engine.dispatch(shell(), view).decision == "proceed"
    assert len(bystander) == 1
    assert engine.dispatch(shell(), view).decision == "deny"
    assert len(bystander) == 1


def test_whether_anybody_listens_can_be_asked_before_building_a_context(engine):
    view = engine.hooks
    assert not view.listens("before_tool_use")
    engine.says("guard")
    assert view.listens("before_tool_use")
    assert view.listens("PreToolUse")
    assert not view.listens("after_tool_use")
    engine.manager.unregister(name="guard")
    assert not view.listens("before_tool_use")


def test_listening_to_what_is_no_event_is_an_error(engine):
    with pytest.raises(UnknownEventError, match="before_tool_use"):
        engine.hooks.listens("before_tol_use")


# -- scopes ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scope", "into"),
    [
        (("session", "s1"), lambda hooks: hooks.in_session("s1")),
        (("skill", "pdf"), lambda hooks: hooks.with_skill("pdf")),
    ],
)
def test_a_scoped_hook_is_live_only_in_its_view(engine, scope, into):
    engine.says("scoped", HookOutcome.deny("scoped"), scope=scope)
    base = engine.hooks
    assert not base.listens("before_tool_use")
    assert engine.dispatch(shell(), base).decision == "proceed"
    assert into(base).listens("before_tool_use")
    assert engine.dispatch(shell(), into(base)).decision == "deny"
    assert engine.dispatch(shell(), base.in_session("s2").with_skill("csv")).decision == "proceed"


def test_a_view_keeps_the_scopes_it_was_made_from(engine):
    engine.says("session", HookOutcome.with_context("session"), scope=("session", "s1"))
    engine.says("skill", HookOutcome.with_context("skill"), scope=("skill", "pdf"))
    engine.says("always", HookOutcome.with_context("always"))
    view = engine.hooks.in_session("s1").with_skill("pdf")
    assert engine.dispatch(shell(), view).context == "session\n\nskill\n\nalways"
    assert engine.dispatch(shell()).context == "always"


def test_views_do_not_change_each_other(engine):
    base = engine.hooks
    base.in_session("s1")
    engine.says("session", HookOutcome.deny("no"), scope=("session", "s1"))
    assert not base.listens("before_tool_use")


def test_a_directory_hook_is_live_for_events_below_its_directory(engine, tmp_path):
    engine.says("local", HookOutcome.deny("here"), scope=("directory", str(tmp_path / "app")))
    assert engine.dispatch(shell(cwd=str(tmp_path / "app" / "src"))).decision == "deny"
    assert engine.dispatch(shell(cwd=str(tmp_path / "application"))).decision == "proceed"
    assert engine.dispatch(shell(cwd=str(tmp_path))).decision == "deny"  # it may touch anything below
    reading = make_context(tool="Read", kind="read", args={"file_path": str(tmp_path / "app" / "x")}, cwd=str(tmp_path))
    assert engine.dispatch(reading).decision == "deny"


def test_a_directory_hook_is_judged_again_after_a_rewrite(engine, tmp_path):
    engine.says("local", HookOutcome.deny("here"), scope=("directory", str(tmp_path / "app")), priority=1)
    engine.says("rewriter", HookOutcome.update(tool_args={"file_path": str(tmp_path / "app" / "x")}))
    reading = make_context(tool="Read", kind="read", args={"file_path": "/elsewhere"}, cwd="/")
    assert engine.dispatch(reading).hook == "local"


def test_a_directory_hook_keeps_its_own_match(engine, tmp_path):
    engine.says("local", HookOutcome.deny("here"), scope=("directory", str(tmp_path)), match="Read")
    assert engine.dispatch(shell(cwd=str(tmp_path))).decision == "proceed"


def test_a_views_directory_stands_in_where_an_event_has_none(engine, tmp_path):
    engine.says("local", HookOutcome.deny("here"), scope=("directory", str(tmp_path)))
    view = engine.hooks.at(str(tmp_path))
    assert engine.dispatch(shell(cwd=""), view).decision == "deny"
    assert engine.dispatch(shell(cwd="/elsewhere"), view).decision == "proceed"


def test_hooks_of_a_skill_die_with_it(manager):
    plugin = Plugin(before_tool_use=hookimpl(lambda: HookOutcome.deny("skill")))
    manager.register(plugin, "pdf", source="skill", scope=("skill", "pdf"))
    view = manager.hooks().with_skill("pdf")
    assert view.dispatch_sync(shell()).decision == "deny"
    manager.unregister(plugin)
    assert not view.listens("before_tool_use")


# -- hooks with a condition --------------------------------------------------------------------------------------------


@pytest.fixture
def configured(engine):
    """Whether there are settings; a gate that denies has nothing to do without them."""
    settings = [False]

    @engine.hook(when=lambda: settings[0])
    def guard(ctx):
        return HookOutcome.deny("no")

    return settings


def test_a_hook_with_nothing_to_do_is_left_out_until_it_has_something(engine, configured):
    view = engine.hooks
    for configured[0] in (False, True, False):
        assert view.listens("before_tool_use") is configured[0]
        assert engine.dispatch(shell(), view).decision == ("deny" if configured[0] else "proceed")


def test_other_hooks_are_asked_without_one_that_has_nothing_to_do(engine, configured):
    asked = engine.says("always")
    view = engine.hooks
    chains = []
    for configured[0] in (False, True, False, True):
        engine.dispatch(shell(), view)
        chains.append(view.chain("before_tool_use"))
    assert len(asked) == 2  # the deny comes first
    assert chains[0] is chains[2]
    assert chains[1] is chains[3]


@pytest.mark.parametrize("answer", [1 / 2, None, ()], ids=called)
def test_only_false_leaves_a_hook_out(engine, answer):
    asked = []

    @engine.hook(when=lambda: answer)
    def guard(ctx):
        asked.append(ctx)

    engine.dispatch(shell())
    assert len(asked) == 1


def test_a_condition_that_fails_leaves_its_hook_in(engine):
    @engine.hook(when=lambda: int("settings"))
    def guard(ctx):
        return HookOutcome.deny("no")

    assert engine.dispatch(shell()).decision == "deny"


def test_a_condition_is_asked_once_in_a_millisecond(engine, configured, monkeypatch):
    now = [1.0]
    monkeypatch.setattr("agent_hooks.engine.plan.ASK_AGAIN", 0.001)
    monkeypatch.setattr("agent_hooks.engine.plan.monotonic", lambda: now[0])
    view = engine.hooks
    assert not view.listens("before_tool_use")
    configured[0] = True
    assert not view.listens("before_tool_use")
    now[0] += 0.0011
    assert view.listens("before_tool_use")
