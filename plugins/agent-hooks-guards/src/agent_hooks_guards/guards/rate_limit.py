"""The rate limit: a number of tool calls in a session, or in a window of time."""

from __future__ import annotations

import os
from time import time

from agent_hooks import HookOutcome, RegistrationError
from agent_hooks.system.store import MemoryStore

from .base import Guard, tool_test, whole_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_hooks import HookContext, ToolCall
    from agent_hooks.engine.markers import Match
    from agent_hooks.system.store import Store

# For agents without a session id: this process is the session.
_PROCESS = os.urandom(8).hex()


class RateLimit(Guard):
    """Denies tool calls beyond ``max_calls`` in one session.

    ``match``: which tools count and are limited, default all. ``window_seconds``: count anew in each window of so many
    seconds; windows start at multiples of it since the epoch, so two neighbours may together see twice the limit within
    the length of one. Without a session id the execution id counts, else the process; for a rule from settings the
    host's transcript, else its folder, because a coding agent starts a process for each event. Subagents count with
    their session.

    A call counts once, even if another hook denies it afterwards; a retried call counts again. Calls beyond the limit
    do not count.

    ``store``: the counters, by default in this process's memory; a ``Store`` is shared by all processes. ``name``: of
    the counter: limits with the same name, match and window share one. ``source`` as in ``ToolBlocklist``. Raises
    ``RegistrationError`` for an invalid number or match.
    """

    def __init__(
        self,
        max_calls: int,
        *,
        match: Match = "*",
        window_seconds: float | None = None,
        store: Store | MemoryStore | None = None,
        name: str = "rate_limit",
        source: str = "code",
    ) -> None:
        if window_seconds is not None and not window_seconds > 0:
            raise RegistrationError(f"window_seconds must be a number of seconds above 0, not {window_seconds!r}.")
        self._max_calls = whole_number("max_calls", max_calls)
        self._window_seconds = window_seconds
        self._store = MemoryStore() if store is None else store
        # The name of an object must be the same in each process.
        shown = match if isinstance(match, str) else getattr(match, "pattern", type(match).__name__)
        self._key = f"{name}|{shown}"
        self.match_texts = (match,) if isinstance(match, str) else ()
        self._test = tool_test(match, source)
        self._source = source

    def judge(self, ctx: HookContext, call: ToolCall) -> HookOutcome | None:  # noqa: ARG002 - one signature for all guards
        """Count the call, and deny it beyond the limit."""
        if ctx.rechecking or not self._test(ctx):
            return None
        key, per = self._key, ""
        if self._window_seconds is not None:
            key = f"{key}|{self._window_seconds:g}|{int(time() // self._window_seconds)}"
            per = f" per {self._window_seconds:g} s"
        count = self._store.increment(self._session(ctx), key, limit=self._max_calls)
        if count <= self._max_calls:
            return None
        return HookOutcome.deny(f"Rate limit exceeded: {count}/{self._max_calls} tool calls{per}.")

    def _session(self, ctx: HookContext) -> str:
        if ctx.session_id:
            return f"session:{ctx.session_id}"
        if ctx.execution_id:
            return f"execution:{ctx.execution_id}"
        if self._source == "code":
            return f"process:{_PROCESS}"
        return f"host:{ctx.host}|{ctx.transcript_path or ctx.cwd or os.getcwd()}"
