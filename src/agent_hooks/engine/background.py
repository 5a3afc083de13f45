"""Observers that need not be waited for: a bounded number at work, joined at the end of a run."""

from __future__ import annotations

from .calling import complete

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from agent_hooks.model.context import HookContext

    from .plan import Hook


class Background:
    """The background observers of one manager: tasks in an event loop, daemon threads outside one."""

    def __init__(self, limit: int, on_error: Callable[[Hook, BaseException], None]) -> None:
        self.limit = limit
        self.on_error = on_error
        # Each with the run it belongs to, by execution id.
        self._tasks: dict[Any, str] = {}
        self._threads: dict[Any, str] = {}

    def start(self, hook: Hook, ctx: HookContext, *, sync: bool) -> bool:
        """Start the observer; return False if ``limit`` are at work already, so that the caller runs it itself."""
        if len(self._tasks) + len(self._threads) >= self.limit:
            return False
        if sync or not hook.is_async:
            self._start_thread(hook, ctx)
        else:
            import asyncio

            task = asyncio.get_running_loop().create_task(self._observe(hook, ctx))
            self._tasks[task] = ctx.execution_id
            task.add_done_callback(lambda done: self._tasks.pop(done, None))
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
                self._threads.pop(threading.current_thread(), None)

        thread = threading.Thread(
            target=contextvars.copy_context().run, args=(work,), daemon=True, name=f"agent_hooks {hook.name}"
        )
        self._threads[thread] = ctx.execution_id
        thread.start()

    async def join(self, timeout: float, execution_id: str = "") -> int:
        """Wait for the observers of one run (default: of this loop), cancel late tasks, and return their number."""
        import asyncio
        from time import monotonic

        end, loop = monotonic() + timeout, asyncio.get_running_loop()
        mine = {t for t, run in tuple(self._tasks.items()) if execution_id in ("", run) and t.get_loop() is loop}
        late: set[Any] = set()
        if mine:
            _, late = await asyncio.wait(mine, timeout=timeout)
            for task in late:
                task.cancel()
        if self._of(execution_id):
            return len(late) + await asyncio.to_thread(self.join_sync, max(0.0, end - monotonic()), execution_id)
        return len(late)

    def join_sync(self, timeout: float, execution_id: str = "") -> int:
        """Wait up to ``timeout`` seconds for the threads, of one run or all; return how many did not finish."""
        from time import monotonic

        end = monotonic() + timeout
        for thread in self._of(execution_id):
            thread.join(max(0.0, end - monotonic()))
        return len(self._of(execution_id))

    def _of(self, execution_id: str) -> list[Any]:
        return [thread for thread, run in tuple(self._threads.items()) if execution_id in ("", run)]
