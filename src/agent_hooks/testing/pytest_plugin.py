"""The pytest plugin that comes with agent_hooks: one fixture, ``hooks``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from agent_hooks.model.context import HookContext
    from agent_hooks.model.outcome import HookOutcome


class HookTester:
    """A manager without plugins: ``hooks.register(plugin)``, ``hooks.dispatch(ctx)``, ``hooks.manager``."""

    def __init__(self) -> None:
        from agent_hooks.engine.manager import HookManager

        self.manager = HookManager(load_plugins=False)

    def register(self, plugin: Any, **options: Any) -> str | None:
        """Register a plugin, with the options of ``HookManager.register``."""
        return self.manager.register(plugin, **options)

    def dispatch(self, ctx: HookContext) -> HookOutcome:
        """Return the settled outcome for ``ctx``; async hooks run in an event loop of their own."""
        return self.manager.hooks().run_sync(ctx)


@pytest.fixture
def hooks() -> HookTester:
    """A fresh ``HookManager`` to register the plugin under test with."""
    return HookTester()
