"""A coroutine that lets its caller do a part of its work."""

from __future__ import annotations

from types import coroutine
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Coroutine, Generator


class Stages:
    """Runs a coroutine from one ``await pause(value)`` in it to the next, in the task of the caller.

    ``async for value in stages.begin(coroutine)`` gets the values, and answers each with ``answer(what)`` or
    ``throw(error)``; ``result`` is the return value. So an async generator can yield what it receives meanwhile.
    """

    def __init__(self) -> None:
        self.result: Any = None
        self._coroutine: Any = None
        self._answer: Any = None
        self._error: BaseException | None = None

    def begin(self, coroutine: Coroutine[Any, Any, Any]) -> Stages:
        """Set the coroutine, which does not run yet."""
        self._coroutine = coroutine
        return self

    async def pause(self, value: Any) -> Any:
        """Hand a value to the caller, and return the answer."""
        return await _Pause(value)

    def answer(self, answer: Any) -> None:
        """Let ``pause`` return this."""
        self._answer = answer

    def throw(self, error: BaseException) -> None:
        """Let ``pause`` raise this."""
        self._error = error

    def close(self) -> None:
        """End the coroutine where it is."""
        self._coroutine.close()

    def __aiter__(self) -> Stages:
        return self

    async def __anext__(self) -> Any:
        pause = await self._advance()
        if pause is None:
            raise StopAsyncIteration
        return pause.value

    @coroutine
    def _advance(self) -> Generator[Any, Any, _Pause | None]:
        answer, self._answer = self._answer, None
        error, self._error = self._error, None
        while True:
            try:
                step = self._coroutine.send(answer) if error is None else self._coroutine.throw(error)
            except StopIteration as done:
                self.result = done.value
                return None
            if isinstance(step, _Pause):
                return step
            answer = error = None
            try:
                answer = yield step
            except BaseException as raised:  # noqa: BLE001 - of the event loop, for the coroutine
                error = raised


class _Pause:
    def __init__(self, value: Any) -> None:
        self.value = value

    def __await__(self) -> Generator[Any, Any, Any]:
        return (yield self)
