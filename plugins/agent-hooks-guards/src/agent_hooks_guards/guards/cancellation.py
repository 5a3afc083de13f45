"""Cancellation: stops a run at a request from outside the agent."""

from __future__ import annotations

import os

from agent_hooks import HookOutcome, RegistrationError, StopSignal, hookimpl
from agent_hooks.errors import HookMisuseError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import Any, Protocol

    from agent_hooks import HookContext

    class Flag(Protocol):
        """For example ``threading.Event`` and ``asyncio.Event``."""

        def is_set(self) -> bool:
            """Return whether it is set."""

    Answer = bool | str | None
    Source = Callable[[], Answer | Awaitable[Answer]] | Flag | str | os.PathLike[str]

# Before every other guard.
PRIORITY = 250
MESSAGE = "Cancellation requested"


class Cancellation:
    """Stops a run, before it begins or before its next step, when ``source`` requests it.

    ``source``: a function without arguments, async or not, that returns True or the signal's message; an object with
    ``is_set()``, such as ``threading.Event``; or the path of a file whose existence means stop (``~`` is the home
    folder; a relative path starts at the current working directory). It is not asked when the run is about to stop
    anyway. A source that raises stops the run. Raises ``RegistrationError`` for anything else.
    """

    name = "guard:cancellation"
    events = ("before_execution", "before_step")
    priority = PRIORITY
    mode = "gate"

    def __init__(self, source: Source) -> None:
        self._ask: Callable[[], Any]
        if isinstance(source, (str, os.PathLike)):
            if not os.fspath(source).strip():
                raise RegistrationError("Cancellation needs the path of a file, not a blank text.")
            path = os.path.abspath(os.path.expanduser(source))
            self._ask = lambda: f"{MESSAGE}: there is a file {path}" if _is_there(path) else False
        elif hasattr(source, "is_set"):
            self._ask = source.is_set
        elif callable(source):
            self._ask = source
        else:
            raise RegistrationError(
                f"Cancellation needs a function, a path or an object with is_set(), not {source!r}."
            )

    async def handle(self, ctx: HookContext) -> HookOutcome | None:
        """Return the stop signal ``user_requested`` if the source requests it.

        Raises ``HookMisuseError`` for an invalid answer, and any exception of the source.
        """
        if ctx.signals or (ctx.state is not None and ctx.state.stop_signals):
            return None
        answer = self._ask()
        if hasattr(answer, "__await__"):
            answer = await answer
        if answer is not None and not isinstance(answer, (bool, str)):
            raise HookMisuseError(f"The source of Cancellation must answer True, False or a message, not {answer!r}.")
        if not answer:
            return None
        message = answer if isinstance(answer, str) else MESSAGE
        return HookOutcome.signal(StopSignal.user_requested(message, source=type(self).__name__))

    @hookimpl(priority=PRIORITY, mode="gate", on_failure="closed")
    async def before_execution(self, ctx: HookContext) -> HookOutcome | None:
        """Ask before the run begins."""
        return await self.handle(ctx)

    @hookimpl(priority=PRIORITY, mode="gate", on_failure="closed")
    async def before_step(self, ctx: HookContext) -> HookOutcome | None:
        """Ask before each step."""
        return await self.handle(ctx)


def _is_there(path: str) -> bool:
    # os.path.exists is False without permission to look; only a missing file means go on.
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True
