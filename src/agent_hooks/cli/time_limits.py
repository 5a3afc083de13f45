"""Time limits for code that no event loop interrupts: plain functions, matches, and the steps of async hooks between
two awaits. They can be enforced here because the hooks run in a child process.

An alarm raises ``HookTimeoutError`` inside the hook, so only that hook fails. Code that no signal handler can
interrupt, such as a regular expression, is killed by the parent, which gets the name and the limit.
"""

from __future__ import annotations

import os
from time import monotonic

from agent_hooks.errors import HookTimeoutError
from agent_hooks.model.events import HookEvent

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from collections.abc import Callable
    from typing import Any

    from agent_hooks.engine.plan import Hook
    from agent_hooks.engine.registry import HookRegistry

    Mark = Callable[[str, float], None]
else:
    import _signal as signal  # `signal` imports enum

# The share of the remaining time that is kept for the answer, and its maximum in seconds.
_SHARE_FOR_ANSWER = 5
_MOST_FOR_ANSWER = 1.0
_LOADING_SECONDS = 60.0


class TimeLimits:
    """The limits of one event's hooks: each has its own timeout, and none goes beyond ``deadline``.

    ``mark``: reports the hook that is about to be called and the ``time.monotonic()`` at which its time is over.
    Without ``fork`` (Windows), where the hooks run in a thread, there are none.
    """

    def __init__(self, mark: Mark, deadline: float) -> None:
        self._mark = mark
        self._end = deadline - min(_MOST_FOR_ANSWER, (deadline - monotonic()) / _SHARE_FOR_ANSWER)
        self._limit = 0.0
        self._is_running = False

    def loading(self) -> _Limited:
        """Let no plugin or ``hookconf.py`` take longer than 60 seconds to be imported: it fails like a broken one."""
        return _Limited(self._start_loading, self._end_loading)

    def _start_loading(self) -> None:
        if hasattr(os, "fork"):
            signal.signal(signal.SIGALRM, self._interrupt)
            self._limit = max(min(_LOADING_SECONDS, self._end - monotonic()), 0.01)
            self._is_running = True
            signal.setitimer(signal.ITIMER_REAL, self._limit, self._limit)

    def _end_loading(self) -> None:
        if hasattr(os, "fork"):
            self._is_running = False
            signal.setitimer(signal.ITIMER_REAL, 0)

    def mark_loading(self, activity: str) -> None:
        """Report the import that starts and its deadline; an empty string at the end of loading."""
        self._mark(activity, min(monotonic() + _LOADING_SECONDS, self._end) if activity else float("inf"))

    def apply(self, manager: HookRegistry, *events: HookEvent) -> None:
        """Hold the hooks of ``events``, and of those that each can lead to, to their limits."""
        if not hasattr(os, "fork"):
            return
        signal.signal(signal.SIGALRM, self._interrupt)
        hooks = manager.hooks()
        for each in dict.fromkeys((*events, HookEvent.PERMISSION_REQUEST, HookEvent.BEFORE_SUBAGENT)):
            chain = hooks.chain(each)
            for hook in (*chain.wrappers, *chain.deciders) if chain is not None else ():
                self._apply_to(hook)

    def _apply_to(self, hook: Hook) -> None:
        left = max(self._end - monotonic(), 0.01)
        seconds = hook.timeout = min(hook.timeout or left, left)
        name = f"the hook {hook.name}"
        if hook.match is not None:
            hook.match = self._limited(hook.match, f"{name} (its match)", seconds)
        call = hook.call
        if hook.is_timed:  # it runs in a thread of its own

            def named(*arguments: Any) -> Any:
                self._mark(name, self._end)
                return call(*arguments)

            hook.call = named
        elif hook.is_async or hook.options.wrapper:
            hook.call = lambda ctx: _Steps(call(ctx), lambda step: self._limited(step, name, seconds))
        else:
            hook.call = self._limited(call, name, seconds)

    def _limited(self, call: Callable[..., Any], name: str, seconds: float) -> Callable[..., Any]:
        def limited(*arguments: Any) -> Any:
            end = min(monotonic() + seconds, self._end)
            self._mark(name, end)
            self._limit = end - monotonic()
            self._is_running = True
            running = name
            try:
                signal.setitimer(signal.ITIMER_REAL, max(self._limit, 0.001))
                answer = call(*arguments)
                running = ""
                return answer
            finally:
                self._is_running = False
                signal.setitimer(signal.ITIMER_REAL, 0)
                self._mark(running, self._end)  # code without a limit of its own may follow

        return limited

    def _interrupt(self, _number: int, _frame: object) -> None:
        if self._is_running:  # it may have ended just before the alarm
            raise HookTimeoutError(
                f"no answer within {self._limit:.3g} s. Make it faster, or give it and the command of the host a "
                "longer timeout."
            )


class _Limited:
    """A block of code, with functions to call before and after it."""

    def __init__(self, start: Callable[[], None], end: Callable[[], None]) -> None:
        self._start = start
        self._end = end

    def __enter__(self) -> None:
        self._start()

    def __exit__(self, *_error: object) -> None:
        self._end()


class _Steps:
    """A coroutine or a generator whose steps are limited."""

    def __init__(self, inner: Any, limited: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
        self.close = getattr(inner, "close", None)
        if hasattr(inner, "asend"):
            self.asend = lambda value: _Steps(inner.asend(value), limited)
            self.athrow = lambda error: _Steps(inner.athrow(error), limited)
        else:
            self.send = limited(inner.send)
            self.throw = limited(inner.throw)

    def __await__(self) -> _Steps:
        return self

    def __iter__(self) -> _Steps:
        return self

    def __next__(self) -> Any:
        return self.send(None)
