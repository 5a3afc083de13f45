"""Stores of conversations from one session to the next: files, memory, or a class of the application."""

from __future__ import annotations

import os
from time import monotonic
from typing import TYPE_CHECKING, Protocol

from agent_hooks.errors import StoreError, SuspensionError
from agent_hooks.model.state import AgentState, Message
from agent_hooks.system.folders import state_dir, write_whole

if TYPE_CHECKING:
    from collections.abc import Callable

    from filelock import BaseFileLock

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

    async def save(self, session_id: str, state: AgentState) -> None:
        """Store the state durably. Raises ``StoreError``; the previous state then remains."""

    async def release(self, session_id: str) -> None:
        """Release the conversation for other sessions."""


class MemoryConversations:
    """Conversations in this process's memory. ``timeout``: seconds to wait for one in use."""

    def __init__(self, *, timeout: float = 0.0) -> None:
        self._timeout = timeout
        self._states: dict[str, AgentState] = {}
        self._taken: set[str] = set()

    async def load(self, session_id: str) -> AgentState | None:
        """Take the conversation and return its state."""
        await _when_true(lambda: session_id not in self._taken, session_id, self._timeout)
        self._taken.add(session_id)
        return self._states.get(session_id)

    async def save(self, session_id: str, state: AgentState) -> None:
        """Store the state."""
        self._states[session_id] = state

    async def release(self, session_id: str) -> None:
        """Give the conversation back."""
        self._taken.discard(session_id)


class FileConversations:
    """Stores each conversation in a file of JSON lines. Once ``save`` returns, a killed process loses nothing.

    ``folder``: default ``conversations`` in ``state_dir()``; it and the files are created on first use, for their owner
    only. The first line is a header, each message has a line, the last line is the rest of the state. A save replaces
    the file atomically, in the caller's thread. A ``.lock`` file stays beside it. ``timeout``: seconds to wait for a
    conversation that another session holds, in this process or another; by default none. Raises ``SettingsError`` if
    there is no state folder.
    """

    def __init__(self, folder: str | os.PathLike[str] | None = None, *, timeout: float = 0.0) -> None:
        self._timeout = timeout
        self._folder = os.path.abspath(folder) if folder is not None else ""
        self._locks: dict[str, BaseFileLock] = {}

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
        """Take the conversation and return its state. Raises ``StoreError`` with file and line for a damaged one."""
        from filelock import FileLock, Timeout

        path = self.path(session_id)
        # Acquired and released in different event loops, so perhaps in different threads.
        lock = FileLock(f"{path}.lock", blocking=False, mode=0o600, thread_local=False)

        def take() -> bool:
            if session_id in self._locks:
                return False
            try:
                os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
                lock.acquire()
            except Timeout:
                return False
            except OSError as error:
                raise _unusable(path, "read", error) from error
            return True

        await _when_true(take, session_id, self._timeout)
        self._locks[session_id] = lock
        try:
            return _read(path, session_id)
        except BaseException:
            await self.release(session_id)
            raise

    async def save(self, session_id: str, state: AgentState) -> None:
        """Write the state to disk."""
        if session_id not in self._locks:
            await self.load(session_id)
        _write(self.path(session_id), session_id, state)

    async def release(self, session_id: str) -> None:
        """Give the conversation back."""
        lock = self._locks.pop(session_id, None)
        if lock is not None:
            lock.release()


def _read(path: str, session_id: str) -> AgentState | None:
    """Return the last state in the file. Raises ``StoreError`` for a damaged line."""
    import json

    try:
        with open(path, "rb") as file:
            *lines, incomplete = file.read().split(b"\n")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _unusable(path, "read", error) from error
    messages: list[Message] = []
    state = None
    for number, line in enumerate(lines, 1):
        try:
            record = json.loads(line)
            if number == 1:
                if record["version"] != _VERSION:
                    raise StoreError(f"{path} was written by another version of agent-hooks: update this one.")
                if record["conversation"] != session_id:
                    raise StoreError(
                        f"{path} has the conversation of another session, whose id differs in upper and lower case "
                        "only: use another id."
                    )
            elif "message" in record:
                messages.append(Message.from_dict(record["message"]))
            elif record["messages"] != len(messages):
                raise ValueError("messages are missing")
            else:
                state = AgentState.from_dict(record["state"]).replace(messages=tuple(messages))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError, SuspensionError) as error:
            raise _damaged(path, number, type(error).__name__) from error
    if state is None and (lines or incomplete):
        raise _damaged(path, len(lines) + 1, "it ends too early")
    return state


def _damaged(path: str, number: int, why: str) -> StoreError:
    return StoreError(
        f"{path}:{number}: This line of the conversation is damaged ({why}). Put a copy of the file in its place, or "
        "move it away: the session then begins anew."
    )


def _write(path: str, session_id: str, state: AgentState) -> None:
    """Replace the file. Raises ``StoreError``; the previous state then remains."""
    import json

    rest = {name: value for name, value in state.as_dict().items() if name != "messages"}
    records = (
        {"conversation": session_id, "version": _VERSION},
        *({"message": message.as_dict()} for message in state.messages),
        {"state": rest, "messages": len(state.messages)},
    )
    try:
        write_whole(path, b"".join(json.dumps(each, separators=(",", ":")).encode() + b"\n" for each in records))
    except OSError as error:
        raise _unusable(path, "written", error) from error
    except (ValueError, TypeError, RecursionError) as error:
        raise StoreError(
            f"The conversation {path} has something in it that cannot be written as JSON, such as a number of "
            f"thousands of digits, or lists nested too deep ({type(error).__name__})."
        ) from error


def _unusable(path: str, verb: str, error: OSError) -> StoreError:
    reason = error.strerror or error
    return StoreError(f"The conversation {path} cannot be {verb}: {reason}. Its folder must be writable and not full.")


async def _when_true(take: Callable[[], bool], session_id: str, timeout: float) -> None:
    """Call ``take`` until it returns True. Raises ``StoreError`` after ``timeout`` seconds."""
    from asyncio import sleep

    deadline = monotonic() + timeout
    while not take():
        if monotonic() >= deadline:
            raise StoreError(
                f"The conversation of the session {session_id!r} is in use by another session runner, here or in "
                "another process: close that one first, or give the store a timeout to wait for it."
            )
        await sleep(_POLL_SECONDS)
