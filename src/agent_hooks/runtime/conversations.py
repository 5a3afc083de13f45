"""Where conversations are kept from one session to the next: in files, in memory, or wherever an application wants."""

from __future__ import annotations

import os
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Protocol

from agent_hooks.errors import StoreError, SuspensionError
from agent_hooks.model.state import AgentState, Message
from agent_hooks.system.folders import state_dir, write_whole

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator
    from typing import Any

_VERSION = 1
# How long to wait before a conversation that another session has is asked for again.
_POLL_SECONDS = 0.05
# The longest file name of most systems, less room for the endings.
_MAX_NAME = 200


class ConversationStore(Protocol):
    """Keeps the conversations of sessions, by the session's id.

    A session has its conversation to itself from ``load`` to ``release``: two that write to one would lose each other's
    turns. The methods are async, because a store may be on the other side of a network.
    """

    async def load(self, session_id: str) -> AgentState | None:
        """Take the conversation and return its state, None if there is none yet. Raises ``StoreError`` if another
        session has it, or if it cannot be read; then it is not taken.
        """
        ...

    async def save(self, session_id: str, state: AgentState) -> None:
        """Keep the state durably. Raises ``StoreError``; then the previous one is kept."""
        ...

    async def release(self, session_id: str) -> None:
        """Give the conversation back, for other sessions to take."""
        ...


class MemoryConversations:
    """Conversations in this process's memory. ``timeout``: seconds to wait for one in use."""

    def __init__(self, *, timeout: float = 0.0) -> None:
        self._timeout = timeout
        self._states: dict[str, AgentState] = {}
        self._taken: set[str] = set()

    async def load(self, session_id: str) -> AgentState | None:
        """Take the conversation and return its state."""

        async def take() -> AgentState | None:
            if session_id in self._taken:
                raise _in_use(session_id)
            self._taken.add(session_id)
            return self._states.get(session_id)

        return await _when_free(take, self._timeout)

    async def save(self, session_id: str, state: AgentState) -> None:
        """Keep the state."""
        self._states[session_id] = state

    async def release(self, session_id: str) -> None:
        """Give the conversation back."""
        self._taken.discard(session_id)


class FileConversations:
    """Keeps each conversation in a file of JSON lines, safe for processes that are killed: what ``save`` has returned
    from is there.

    ``folder``: where (default: ``conversations`` in ``state_dir()``); it and the files are made when first needed, for
    their owner only. The first line says what the file is; each message has a line; a line with the rest of the state
    ends what was saved at once. A conversation that only grew is appended to, one that was changed is written anew and
    put in place whole. A file with ``.lock`` at the end of its name stays beside it. ``timeout``: seconds to wait for
    a conversation that another session has, here or in another process; by default none. Raises ``SettingsError``
    where there is no state folder.
    """

    def __init__(self, folder: str | os.PathLike[str] | None = None, *, timeout: float = 0.0) -> None:
        self._timeout = timeout
        self._folder = os.path.abspath(folder) if folder is not None else ""
        self._open: dict[str, _File] = {}

    @property
    def folder(self) -> str:
        """The folder of the files."""
        return self._folder or os.path.join(state_dir(), "conversations")

    def path(self, session_id: str) -> str:
        """Return the file of a session's conversation. Raises ``StoreError`` for an id that cannot name one."""
        from urllib.parse import quote

        # No separator is left of any system, so no id leads out of the folder.
        name = quote(session_id, safe="", errors="surrogatepass")
        if not 0 < len(name) <= _MAX_NAME:
            raise StoreError(f"{session_id!r:.80} cannot name a conversation: an id has 1 to {_MAX_NAME} characters.")
        return os.path.join(self.folder, f"{name}.jsonl")

    async def load(self, session_id: str) -> AgentState | None:
        """Take the conversation and return its state. A line that was cut off when its writer was killed, and what
        belongs to it, was never saved and is left out; any other damage raises ``StoreError`` with file and line.
        """
        return await _when_free(lambda: self._load(session_id), self._timeout)

    async def _load(self, session_id: str) -> AgentState | None:
        from asyncio import to_thread

        if session_id in self._open:
            raise _in_use(session_id)
        file = self._open[session_id] = _File(self.path(session_id), session_id)
        try:
            return await to_thread(file.load)
        except BaseException:
            # A cancelled thread is at work all the same: this waits for it.
            try:
                await _to_the_end(file.close)
            finally:
                self._open.pop(session_id, None)
            raise

    async def save(self, session_id: str, state: AgentState) -> None:
        """Keep the state, on the disk."""
        from asyncio import to_thread

        if session_id not in self._open:
            await self.load(session_id)
        await to_thread(self._open[session_id].save, state)

    async def release(self, session_id: str) -> None:
        """Give the conversation back."""
        file = self._open.pop(session_id, None)
        if file is not None:
            await _to_the_end(file.close)


class _File:
    """One conversation's file, held by this process."""

    def __init__(self, path: str, session_id: str) -> None:
        self.path = path
        self.session_id = session_id
        self._held: Any = None
        self._is_closed = False
        # Whoever waits for a thread may be cancelled, and the thread goes on.
        self._one_at_a_time = Lock()
        self._messages: tuple[Message, ...] = ()  # those in the file
        self._end = 0  # of what was saved, in bytes

    def load(self) -> AgentState | None:
        """Take the file and read it. Raises ``StoreError``."""
        with self._one_at_a_time:
            if self._is_closed:  # before this thread got so far
                return None
            try:
                self._take()
                with open(self.path, "rb") as file:
                    data = file.read()
            except FileNotFoundError:
                return None
            except OSError as error:
                raise self._unusable("read", error) from error
            state = None
            for state in self._states(data):  # noqa: B007 - the last one counts
                pass
            return state

    def save(self, state: AgentState) -> None:
        """Bring the file to ``state``. Raises ``StoreError``."""
        with self._one_at_a_time:
            if self._is_closed:
                raise StoreError(f"The conversation {self.path} was given back before it could be written.")
            kept = len(self._messages)
            has_grown = self._end > 0 and state.messages[:kept] == self._messages
            try:
                if has_grown and self._size() >= self._end:
                    self._append(_lines(state, kept))
                else:
                    self._replace(_line({"conversation": self.session_id, "version": _VERSION}) + _lines(state))
            except OSError as error:
                raise self._unusable("written", error) from error
            except (ValueError, TypeError, RecursionError) as error:
                raise StoreError(
                    f"The conversation {self.path} has something in it that cannot be written as JSON, such as a "
                    f"number of thousands of digits, or lists nested too deep ({type(error).__name__})."
                ) from error
            self._messages = state.messages

    def close(self) -> None:
        """Give the file back."""
        with self._one_at_a_time:
            self._is_closed = True
            if self._held is not None:
                self._held.release()

    def _take(self) -> None:
        from filelock import FileLock, Timeout

        os.makedirs(os.path.dirname(self.path), mode=0o700, exist_ok=True)
        # It is taken in one thread and given back in another.
        lock = FileLock(f"{self.path}.lock", blocking=False, mode=0o600, thread_local=False)
        try:
            lock.acquire()
        except Timeout as error:
            raise _in_use(self.session_id) from error
        self._held = lock

    # -- reading -----------------------------------------------------------------------------------------------------

    def _states(self, data: bytes) -> Iterator[AgentState]:
        """Yield each state that was saved, and note where it ends. Raises ``StoreError`` for a damaged line."""
        import json

        *lines, _torn = data.split(b"\n")
        messages: list[Message] = []
        end = 0
        for number, line in enumerate(lines, 1):
            end += len(line) + 1
            try:
                said = json.loads(line)
                if number == 1:
                    self._check_first(said)
                elif "message" in said:
                    messages.append(Message.from_dict(said["message"]))
                else:
                    if said["messages"] != len(messages):
                        raise ValueError("messages are missing")
                    self._messages, self._end = tuple(messages), end
                    yield AgentState.from_dict(said["state"]).replace(messages=self._messages)
            except (ValueError, TypeError, KeyError, AttributeError, RecursionError, SuspensionError) as error:
                raise StoreError(
                    f"{self.path}:{number}: This line of the conversation is damaged ({type(error).__name__}). Put a "
                    "copy of the file in its place, or move it away: the session then begins anew."
                ) from error

    def _check_first(self, said: Any) -> None:
        if said["version"] != _VERSION:
            raise StoreError(f"{self.path} was written by another version of agent-hooks: update this one.")
        if said["conversation"] != self.session_id:
            raise StoreError(
                f"{self.path} has the conversation of another session, whose id differs in upper and lower case only: "
                "use another id."
            )

    # -- writing -----------------------------------------------------------------------------------------------------

    def _size(self) -> int:
        try:
            return os.stat(self.path).st_size
        except FileNotFoundError:
            return 0

    def _append(self, data: bytes) -> None:
        with open(self.path, "r+b") as file:
            file.truncate(self._end)  # what a killed writer left
            file.seek(self._end)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        self._end += len(data)

    def _replace(self, data: bytes) -> None:
        self._end = 0  # until it is in its place, nothing can be added to it
        write_whole(self.path, data)
        self._end = len(data)

    def _unusable(self, verb: str, error: OSError) -> StoreError:
        return StoreError(
            f"The conversation {self.path} cannot be {verb}: {error.strerror or error}. Its folder must be writable "
            "and not full."
        )


async def _to_the_end(work: Callable[[], None]) -> None:
    """Do ``work`` in a thread, and wait for it however often this is cancelled meanwhile."""
    from asyncio import CancelledError, ensure_future, to_thread, wait

    doing, cancelled = ensure_future(to_thread(work)), None
    while not doing.done():
        try:
            await wait([doing])
        except CancelledError as error:
            cancelled = error
    doing.result()
    if cancelled is not None:
        raise cancelled


def _lines(state: AgentState, start: int = 0) -> bytes:
    """Return the lines of the messages from number ``start`` on, and that of the rest of the state."""
    rest = {name: value for name, value in state.as_dict().items() if name != "messages"}
    messages = [_line({"message": message.as_dict()}) for message in state.messages[start:]]
    return b"".join((*messages, _line({"state": rest, "messages": len(state.messages)})))


def _line(value: dict[str, Any]) -> bytes:
    import json

    return json.dumps(value, separators=(",", ":")).encode() + b"\n"


class _InUseError(StoreError):
    """Raised when another session has the conversation."""


def _in_use(session_id: str) -> _InUseError:
    return _InUseError(
        f"The conversation of the session {session_id!r} is in use by another session runner, here or in another "
        "process: close that one first, or give the store a timeout to wait for it."
    )


async def _when_free(load: Callable[[], Awaitable[AgentState | None]], timeout: float) -> AgentState | None:
    """Return the result of ``load`` once the conversation is free. Raises ``StoreError`` on timeout."""
    from asyncio import sleep

    deadline = monotonic() + timeout
    while True:
        try:
            return await load()
        except _InUseError:
            if monotonic() >= deadline:
                raise
        await sleep(_POLL_SECONDS)
