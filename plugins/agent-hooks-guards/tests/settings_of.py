"""What the installed plugin decides by the settings of files."""

from __future__ import annotations

from making import about

import agent_hooks_guards
from agent_hooks import AgentState, HookContext, HookManager, HookRegistration, Step

OWN_FILE = "agent-hooks.toml"
NO_FETCH = '[[tool.agent_hooks.guards.blocklist]]\ntools = ["fetch"]\n'
NO_SHELL = '[[tool.agent_hooks.guards.blocklist]]\ntools = ["shell"]\n'
OWN_NO_FETCH = '[[guards.blocklist]]\ntools = ["fetch"]\n'
OWN_NO_SHELL = '[[guards.blocklist]]\ntools = ["shell"]\n'


def decided(name="x", **fields):
    outcome = agent_hooks_guards.before_tool_use(about(name, **{"kind": "fetch", **fields}))
    return None if outcome is None else str(outcome.decision)


def about_run(event, folder, **fields):
    """The messages of the stop signals that the installed plugin leaves."""
    ctx = HookContext(event, cwd=str(folder), **{"state": AgentState(steps=(Step(), Step())), **fields})
    manager = HookManager(load_plugins=False)
    manager.register(agent_hooks_guards)
    outcome = manager.hooks().dispatch_sync(ctx)
    assert (outcome.decision, outcome.findings) == ("proceed", ())
    return [signal.message for signal in outcome.signals]


def dispatched(ctx, hook=None, priority=225):
    """What the installed plugin decides where ``hook`` is called too, by default between the two gates of a run."""
    manager = HookManager(load_plugins=False)
    manager.register(agent_hooks_guards)
    if hook is not None:
        manager.add(HookRegistration(ctx.event, lambda _ctx: hook(), priority=priority))
    return manager.hooks().dispatch_sync(ctx)


def lines_in(trail):
    return trail.read_text().splitlines() if trail.exists() else []
