"""Observers that need not be waited for: a bounded number at work, joined at the end of a run."""

from __future__ import annotations

from .calling import complete

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .context import HookContext
    from .plan import Hook


class Background:
    """The background observers of one manager: tasks in an event loop, daemon threads outside one."""

    def __init__(self, limit: int, on_error: Callable[[Hook, BaseException], None]) -> None:
        self.limit = limit
        self.on_error = on_error
        self._tasks: set[Any] = set()
        self._threads: set[Any] = set()

    def start(self, hook: Hook, ctx: HookContext, *, sync: bool) -> bool:
        """Start the observer; return False if ``limit`` are at work already, so that the caller runs it itself."""
        if len(self._tasks) + len(self._threads) >= self.limit:
            return False
        if sync or not hook.is_async:
            self._start_thread(hook, ctx)
        else:
            import asyncio

            task = asyncio.get_running_loop().create_task(self._observe(hook, ctx))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return True

    async def _observe(self, hook: Hook, ctx: HookContext) -> None:
        try:
            await complete(hook.call(ctx), hook.timeout, sync=False)
        except (Exception, SystemExit) as error:
            self.on_error(hook, error)

    def _start_thread(self, hook: Hook, ctx: HookContext) -> None:
        import contextvars
        import threading

        def work() -> None:
            try:
                if hook.is_async:
                    import asyncio

                    asyncio.run(hook.call(ctx))
                else:
                    hook.call(ctx)
            except (Exception, SystemExit) as error:
                self.on_error(hook, error)
            finally:
                self._threads.discard(threading.current_thread())

        thread = threading.Thread(
            target=contextvars.copy_context().run, args=(work,), daemon=True, name=f"agent_hooks {hook.name}"
        )
        self._threads.add(thread)
        thread.start()

    async def join(self, timeout: float) -> int:
        """Wait up to ``timeout`` seconds for all of them; cancel what is left and return how many did not finish."""
        import asyncio
        from time import monotonic

        end = monotonic() + timeout
        late: set[Any] = set()
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=timeout)
            for task in late:
                task.cancel()
        if self._threads:
            await asyncio.to_thread(self.join_sync, max(0.0, end - monotonic()))
        return len(late) + len(self._threads)

    def join_sync(self, timeout: float) -> int:
        """Wait up to ``timeout`` seconds for the threads; return how many did not finish."""
        from time import monotonic

        end = monotonic() + timeout
        for thread in tuple(self._threads):
            thread.join(max(0.0, end - monotonic()))
        return len(self._threads)
