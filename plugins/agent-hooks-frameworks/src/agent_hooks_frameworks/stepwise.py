"""A coroutine that stops in the middle: where a framework calls back in two parts, or a stream passes through hooks."""

from __future__ import annotations

from contextlib import suppress
from types import coroutine
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Coroutine, Generator


class Stop:
    """An awaitable at which a ``Stepwise`` coroutine stops, with a ``value`` for the one who steps it."""

    def __init__(self, value: Any = None) -> None:
        self.value = value

    def __await__(self) -> Generator[Stop, Any, Any]:
        return (yield self)


class _Closed(BaseException):
    """Thrown into a coroutine whose reader went away: no failure that hooks hear of."""


class Stepwise:
    """A coroutine that stops at each ``Stop``, and goes on with the next step, also in another task.

    ``async for value in steps`` gets the values, and answers each with ``answer(what)`` or ``throw(error)`` before the
    next one; ``result`` is the return value. So an async generator can yield what it receives meanwhile.
    """

    def __init__(self, work: Coroutine[Any, Any, Any]) -> None:
        self._work = work
        self._next: tuple[Any, BaseException | None] = (None, None)
        self.result: Any = None

    def answer(self, value: Any) -> None:
        """Let the stop return this."""
        self._next = (value, None)

    def throw(self, error: BaseException) -> None:
        """Let the stop raise this."""
        self._next = (None, error)

    def close(self) -> None:
        """End the coroutine where it is."""
        self._work.close()

    async def __aiter__(self) -> AsyncGenerator[Any, None]:
        while (stop := await self.step(*self._next)) is not None:
            self._next = (None, None)
            yield stop.value

    @coroutine
    def step(self, value: Any = None, error: BaseException | None = None) -> Generator[Any, Any, Stop | None]:
        """Go on until the next stop, and return it; None at the end, when there is a ``result``."""
        resume: Any = self._work.send if error is None else self._work.throw
        argument = value if error is None else error
        while True:
            try:
                waiting = resume(argument)
            except StopIteration as done:
                self.result = done.value
                return None
            if type(waiting) is Stop:
                return waiting
            try:
                resume, argument = self._work.send, (yield waiting)
            except BaseException as raised:  # noqa: BLE001 - thrown into the coroutine
                resume, argument = self._work.throw, raised

    async def values(self) -> AsyncGenerator[Any, None]:
        """Yield the value of each stop, and come to the result."""
        try:
            while (stop := await self.step()) is not None:
                yield stop.value
        except GeneratorExit:
            with suppress(_Closed):
                await self.step(error=_Closed())
            raise
