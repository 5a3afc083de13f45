"""An event loop in a thread of its own: for async hooks behind a sync call."""

from __future__ import annotations

import os
from threading import Lock, Thread, get_ident
from typing import TYPE_CHECKING, Any, TypeVar

from agent_hooks.errors import HookMisuseError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from concurrent.futures import Future

    from anyio.from_thread import BlockingPortal

Result = TypeVar("Result")

_starting = Lock()
_portal: BlockingPortal | None = None
_thread = 0


def call_in_portal(function: Callable[..., Awaitable[Result]], *args: Any) -> Result:
    """Call an async function in the event loop of the portal thread, with a copy of the caller's context, and wait for
    its result. Raises ``HookMisuseError`` in that thread itself, which would wait for itself, and without anyio.
    """
    if get_ident() == _thread:
        raise HookMisuseError("A sync call inside of an async hook cannot wait for another async hook: make it async.")
    return (_portal or _started()).call(function, *args)


def _started() -> BlockingPortal:
    """Start the thread: one for the process, which ends with it."""
    global _portal, _thread
    with _starting:
        if _portal is None:
            try:
                import anyio
                from anyio.from_thread import BlockingPortal
            except ModuleNotFoundError:
                raise HookMisuseError(
                    "Async hooks behind a sync call need anyio, which is not installed: `pip install anyio`, or make "
                    "the call with await."
                ) from None
            from concurrent.futures import Future

            async def serve(ready: Future[BlockingPortal]) -> None:
                async with BlockingPortal() as portal:
                    ready.set_result(portal)
                    await portal.sleep_until_stopped()

            ready: Future[BlockingPortal] = Future()

            def run() -> None:
                try:
                    anyio.run(serve, ready)
                except BaseException as error:  # noqa: BLE001 - told to the caller, who waits
                    if not ready.done():
                        ready.set_exception(error)

            # One of anyio's own would keep the process from ending.
            thread = Thread(target=run, name="agent_hooks portal", daemon=True)
            thread.start()
            _portal, _thread = ready.result(), thread.ident or 0
        return _portal


def _forget() -> None:
    """Forget the thread, which a fork does not take along."""
    global _portal, _thread, _starting
    _portal, _thread, _starting = None, 0, Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
