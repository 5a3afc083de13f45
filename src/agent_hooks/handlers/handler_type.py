"""The base class of handler types."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, ClassVar

    from pydantic import BaseModel

    from agent_hooks.formats.entry import HookEntry
    from agent_hooks.model.context import HookContext


class HandlerType:
    """A type of hook made from configuration. Any object with such an ``execute`` will do; deriving is optional.

    ``config``: the pydantic model of its fields, which is all of them but ``type``; None passes them on as a dict.
    """

    config: ClassVar[type[BaseModel] | None] = None

    def execute(self, config: Any, ctx: HookContext) -> Any:
        """Return a hook's answer for ``ctx``, or an awaitable of it."""
        raise NotImplementedError

    def bind(self, config: Any, entry: HookEntry) -> Callable[[HookContext], Any]:  # noqa: ARG002 - for subclasses
        """Return the hook of one entry. ``config`` is valid."""
        return lambda ctx: self.execute(config, ctx)
