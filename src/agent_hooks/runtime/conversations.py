"""Stores of conversations from one session to the next: files, memory, or a class of the application."""

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
# The pause between attempts to take a conversation that another session holds.
_POLL_SECONDS = 0.05
# The longest file name on most systems, minus the length of the suffixes.
_MAX_NAME = 200


class ConversationStore(Protocol):
    """Stores the conversations of sessions by session id.

    A session holds its conversation exclusively from ``load`` to ``release``: two sessions writing to one would lose
    turns. The methods are async, because a store may be remote.
    """

    async def load(self, session_id: str) -> AgentState | None:
        """Take the conversation and return its state, None if there is none yet. Raises ``StoreError`` if another
        session holds it, or if it cannot be read; then it is not taken.
        """
        ...

    async def save(self, session_id: str, state: AgentState) -> None:
        """Store the state durably. Raises ``StoreError``; the previous state then remains."""
        ...

    async def release(self, session_id: str) -> None:
        """Release the conversation for other sessions."""
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
        """Store the state."""
        self._states[session_id] = state

    async def release(self, session_id: str) -> None:
        """Give the conversation back."""
        self._taken.discard(session_id)


class FileConversations:
    """Stores each conversation in a file of JSON lines. Once ``save`` returns, a killed process loses nothing.

    ``folder``: default ``conversations`` in ``state_dir()``; it and the files are created on first use, for their owner
    only. The first line is a header; each message has a line; a line with the rest of the state ends each save. A save
    appends if the conversation only grew, otherwise it replaces the file atomically. A ``.lock`` file stays beside it.
    ``timeout``: seconds to wait for a conversation that another session holds, in this process or another; by default
    none. Raises ``SettingsError`` if there is no state folder.
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

        # Quoting leaves no path separator of any system, so no id leads out of the folder.
        name = quote(session_id, safe="", errors="surrogatepass")
        if not 0 < len(name) <= _MAX_NAME:
            raise StoreError(f"{session_id!r:.80} cannot name a conversation: an id has 1 to {_MAX_NAME} characters.")
        return os.path.join(self.folder, f"{name}.jsonl")

    async def load(self, session_id: str) -> AgentState | None:
        """Take the conversation and return its state. An incomplete save of a killed process is ignored; any other
        damage raises ``StoreError`` with file and line.
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
            # The thread of a cancelled call continues: wait for it.
            try:
                await _to_the_end(file.close)
            finally:
                self._open.pop(session_id, None)
            raise

    async def save(self, session_id: str, state: AgentState) -> None:
        """Write the state to disk."""
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
        # A cancelled call leaves its thread running.
        self._one_at_a_time = Lock()
        self._messages: tuple[Message, ...] = ()  # those in the file
        self._end = 0  # of the last complete save, in bytes

    def load(self) -> AgentState | None:
        """Lock the file and read it. Raises ``StoreError``."""
        with self._one_at_a_time:
            if self._is_closed:  # before this thread started
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
        """Write ``state`` to the file. Raises ``StoreError``."""
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
        # Acquired in one thread and released in another.
        lock = FileLock(f"{self.path}.lock", blocking=False, mode=0o600, thread_local=False)
        try:
            lock.acquire()
        except Timeout as error:
            raise _in_use(self.session_id) from error
        self._held = lock

    # -- reading -----------------------------------------------------------------------------------------------------

    def _states(self, data: bytes) -> Iterator[AgentState]:
        """Yield each saved state, and note where it ends. Raises ``StoreError`` for a damaged line."""
        import json

        *lines, _torn = data.split(b"\n")
        messages: list[Message] = []
        end = 0
        for number, line in enumerate(lines, 1):
            end += len(line) + 1
            try:
                record = json.loads(line)
                if number == 1:
                    self._check_header(record)
                elif "message" in record:
                    messages.append(Message.from_dict(record["message"]))
                else:
                    if record["messages"] != len(messages):
                        raise ValueError("messages are missing")
                    self._messages, self._end = tuple(messages), end
                    yield AgentState.from_dict(record["state"]).replace(messages=self._messages)
            except (ValueError, TypeError, KeyError, AttributeError, RecursionError, SuspensionError) as error:
                raise StoreError(
                    f"{self.path}:{number}: This line of the conversation is damaged ({type(error).__name__}). Put a "
                    "copy of the file in its place, or move it away: the session then begins anew."
                ) from error

    def _check_header(self, record: Any) -> None:
        if record["version"] != _VERSION:
            raise StoreError(f"{self.path} was written by another version of agent-hooks: update this one.")
        if record["conversation"] != self.session_id:
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
            file.truncate(self._end)  # an incomplete save of a killed process
            file.seek(self._end)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        self._end += len(data)

    def _replace(self, data: bytes) -> None:
        self._end = 0  # no appending to the file until it is replaced
        write_whole(self.path, data)
        self._end = len(data)

    def _unusable(self, verb: str, error: OSError) -> StoreError:
        return StoreError(
            f"The conversation {self.path} cannot be {verb}: {error.strerror or error}. Its folder must be writable "
            "and not full."
        )


async def _to_the_end(work: Callable[[], None]) -> None:
    """Run ``work`` in a thread, and wait for its end even if cancelled meanwhile."""
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
    """Return a line for each message from index ``start`` on, and one for the rest of the state."""
    rest = {name: value for name, value in state.as_dict().items() if name != "messages"}
    messages = [_line({"message": message.as_dict()}) for message in state.messages[start:]]
    return b"".join((*messages, _line({"state": rest, "messages": len(state.messages)})))


def _line(value: dict[str, Any]) -> bytes:
    import json

    return json.dumps(value, separators=(",", ":")).encode() + b"\n"


class _InUseError(StoreError):
    """Raised when another session holds the conversation."""


def _in_use(session_id: str) -> _InUseError:
    return _InUseError(
        f"The conversation of the session {session_id!r} is in use by another session runner, here or in another "
        "process: close that one first, or give the store a timeout to wait for it."
    )


async def _when_free(load: Callable[[], Awaitable[AgentState | None]], timeout: float) -> AgentState | None:
    """Return the result of ``load`` once the conversation is available. Raises ``StoreError`` on timeout."""
    from asyncio import sleep

    deadline = monotonic() + timeout
    while True:
        try:
            return await load()
        except _InUseError:
            if monotonic() >= deadline:
                raise
        await sleep(_POLL_SECONDS)
