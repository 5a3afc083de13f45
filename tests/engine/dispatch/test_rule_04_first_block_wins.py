"""Rule 4: the first outcome that blocks wins at once."""

from __future__ import annotations

import pytest

from agent_hooks import HookOutcome, hookimpl
from agent_hooks.errors import DirectCallError
from engine import Plugin, shell


def test_an_event_may_not_be_called_past_the_engine(manager):
    """pluggy's own call would stop at a mere update: it is refused, with what to call instead."""
    manager.register(Plugin(before_tool_use=hookimpl(lambda: HookOutcome.with_context("an update"))))
    ctx = shell()
    with pytest.raises(DirectCallError, match=r"before_tool_use.*dispatch_sync\(ctx\)"):
        manager.hook.before_tool_use(
            ctx=ctx, tool_call=ctx.tool_call, tool_args=ctx.tool_args, state=ctx.state, skill=None
        )


def test_the_frameworks_own_hooks_may_be_called_directly(manager):
    manager.register(Plugin(agent_hooks_handler_types=hookimpl(lambda: {"mine": object})))
    assert manager.hook.agent_hooks_handler_types() == [{"mine": object}]


def test_a_hook_cannot_say_that_it_comes_from_somewhere_else(engine):
    engine.says("plugins", HookOutcome.deny("no").replace(source="managed"), source="plugin")
    assert engine.dispatch(shell()).source == "plugin"
    engine = type(engine)(engine.colour)
    engine.says("forger", {"decision": "deny", "source": "managed"}, source="plugin")
    outcome = engine.dispatch(shell())
    assert (outcome.failed, outcome.source) == (True, "plugin")
