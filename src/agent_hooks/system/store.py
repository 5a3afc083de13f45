"""Counters that every process of one user shares: one small SQLite file in the user's state folder.

A coding agent starts one process per event, so a limit can only hold if it is counted outside them.
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from threading import Lock
from time import monotonic, sleep, time

from agent_hooks.errors import SettingsError, StoreError

from .folders import state_dir

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from sqlite3 import Connection

KEEP_SECONDS = 30 * 24 * 3600.0
BUSY_SECONDS = 5.0
_VERSION = 1
# Only so many at once, so that nobody waits for the removal of many.
_PURGE = "DELETE FROM counters WHERE (scope, key) IN (SELECT scope, key FROM counters WHERE touched <= ? LIMIT 100)"
_SCHEMA = """
CREATE TABLE IF NOT EXISTS counters (
    scope TEXT NOT NULL, key TEXT NOT NULL, value INTEGER NOT NULL, touched REAL NOT NULL, PRIMARY KEY (scope, key)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS counters_touched ON counters (touched);
"""
# Closing any handle of a file drops the locks that the whole process holds on it (POSIX), SQLite's own included: the
# file is created, closed and opened by SQLite while no other thread does so.
_opening = Lock()
# SQLite must not even close what a forked process inherits.
_inherited: list[Connection] = []


class _Opened:
    """A connection, which threads use in turn, and what tells whether it is still the one to use."""

    def __init__(self, connection: Connection, path: str) -> None:
        self.connection = connection
        self.path = path
        self.file = _identity(path)
        self.process = os.getpid()

    @property
    def is_own(self) -> bool:
        """Whether this process has opened it."""
        return self.process == os.getpid()

    def holds_for(self, path: str) -> bool:
        """Whether its file is still the one at ``path``, which may have been moved or deleted."""
        return self.path == path and self.file == _identity(path)

    def close(self) -> None:
        """Close it, unless another process has opened it."""
        if self.is_own:
            self.connection.close()
        else:
            _inherited.append(self.connection)


class Store:
    """Counters in a SQLite file, safe for any number of threads and processes, and for processes that are killed.

    ``path``: the file (default ``store.sqlite3`` in ``state_dir()``); it and its folder are made when first needed, for
    their owner only. A counter is named by a ``scope`` (its owner, for example a session) and a ``key``.
    Counters without a change for ``keep_seconds`` (default 30 days) are removed. A file that another process has
    locked is waited for, ``busy_seconds`` at most (default 5).

    Every method raises ``StoreError`` if the file cannot be used: locked, full, read-only, on a network file system,
    damaged; and ``SettingsError`` where there is no state folder.
    """

    # Opening and closing cost ten to twenty milliseconds where nobody else has the file open, since SQLite then writes
    # its log back; so a connection stays open until the store is gone or the process ends.

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        keep_seconds: float = KEEP_SECONDS,
        busy_seconds: float = BUSY_SECONDS,
    ) -> None:
        self._path = os.path.abspath(path) if path is not None else None
        self._keep_seconds = keep_seconds
        self._busy_seconds = busy_seconds
        self._turn = Lock()
        self._process = os.getpid()
        self._opened: _Opened | None = None

    @property
    def path(self) -> str:
        """The file. Raises ``SettingsError`` if it would be in the state folder and there is none."""
        return self._path or os.path.join(state_dir(), "store.sqlite3")

    @property
    def problem(self) -> str:
        """Why the file or its folder cannot be written, as far as permissions tell; empty if they can."""
        try:
            existing = path = self.path
        except SettingsError as error:
            return str(error)
        if os.path.exists(path):
            is_usable = os.path.isfile(path) and all(os.access(each, os.W_OK) for each in (path, os.path.dirname(path)))
        else:
            while not os.path.lexists(existing):
                existing = os.path.dirname(existing)
            is_usable = os.path.isdir(existing) and os.access(existing, os.W_OK)
        return "" if is_usable else f"The store {path} cannot be written."

    def increment(self, scope: str, key: str, by: int = 1, *, limit: int | None = None) -> int:
        """Add ``by`` to the counter, atomically, and return its new value; a counter starts at 0.

        With ``limit`` it is all or nothing: if the new value would be above ``limit``, nothing is added, and the value
        it would have had is returned. So exactly ``limit`` is ever admitted, and a returned value above ``limit`` means
        "refused". Raises ``ValueError`` if ``by`` is below 1.
        """
        _check_step(by)
        now = time()
        with self._transaction() as connection:
            row = connection.execute("SELECT value FROM counters WHERE scope = ? AND key = ?", (scope, key)).fetchone()
            value = int(row[0]) + by if row else by
            if limit is not None and value > limit:
                return value
            if row is None:
                connection.execute(_PURGE, (now - self._keep_seconds,))
            connection.execute("INSERT OR REPLACE INTO counters VALUES (?, ?, ?, ?)", (scope, key, value, now))
        return value

    def read(self, scope: str, key: str) -> int:
        """Return the counter's value, 0 if it was never incremented."""
        with self._transaction() as connection:
            row = connection.execute("SELECT value FROM counters WHERE scope = ? AND key = ?", (scope, key)).fetchone()
        return int(row[0]) if row else 0

    def reset(self, scope: str) -> None:
        """Forget every counter of ``scope``."""
        with self._transaction() as connection:
            connection.execute("DELETE FROM counters WHERE scope = ?", (scope,))

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        import sqlite3

        if self._process != os.getpid():  # another thread of the process it was forked from may have had its turn
            self._turn, self._process = Lock(), os.getpid()
        turn = self._turn
        if not turn.acquire(timeout=self._busy_seconds):
            raise StoreError(f"The store {self.path} has been in use by another thread for {self._busy_seconds:g} s.")
        try:
            connection = self._connection()
            connection.execute("BEGIN IMMEDIATE")
            self._check_version(connection)  # a newer program may have changed the file in the meantime
            yield connection
            connection.execute("COMMIT")
        except (sqlite3.DatabaseError, OSError, UnicodeError) as error:
            self._close()
            remedy = "Its folder must be writable, not full and local; AGENT_HOOKS_STATE_DIR names another one."
            if _is_busy(error):
                remedy = f"Another process has kept it locked for {self._busy_seconds:g} s; end it, or try again."
            elif isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError):
                remedy = "Move the file away; counting then starts again from 0."
            raise StoreError(f"The store {self.path} cannot be used: {error}. {remedy}") from error
        finally:
            if self._opened is not None and self._opened.is_own and self._opened.connection.in_transaction:
                self._opened.connection.execute("ROLLBACK")
            turn.release()

    def _connection(self) -> Connection:
        """Return the connection of this process to the file, opened if need be."""
        path = self.path
        if self._opened is not None and not (self._opened.is_own and self._opened.holds_for(path)):
            self._close()
        if self._opened is None:
            from weakref import finalize

            self._opened = _Opened(self._open(), path)
            finalize(self, self._opened.close)
        return self._opened.connection

    def _close(self) -> None:
        opened, self._opened = self._opened, None
        if opened is not None:
            opened.close()

    def _open(self) -> Connection:
        """Return a ready connection, retrying while another process initialises the file."""
        deadline = monotonic() + self._busy_seconds
        while True:
            connection = self._connect(max(0.0, deadline - monotonic()))
            try:
                self._prepare(connection)
                return connection
            except BaseException as error:
                connection.close()
                if not _is_busy(error) or monotonic() >= deadline:
                    raise
            sleep(0.01)

    def _connect(self, timeout: float) -> Connection:
        import sqlite3

        path = self.path
        with _opening:
            if not os.path.exists(path):
                os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
                os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
            return sqlite3.connect(path, timeout=timeout, isolation_level=None, check_same_thread=False)

    def _prepare(self, connection: Connection) -> None:
        import sqlite3

        # NORMAL survives a killed process; a power cut may cost the last counts, which a counter can bear.
        connection.execute("PRAGMA synchronous = NORMAL")
        if sys.version_info >= (3, 12):  # what is in the log need not be written back when a process ends
            connection.setconfig(sqlite3.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE)
        if self._check_version(connection) == _VERSION:
            return
        (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        if mode != "wal":
            raise StoreError(
                f"The store {self.path} is on a file system without shared memory (a network one?): "
                "set AGENT_HOOKS_STATE_DIR to a folder on a local disk."
            )
        connection.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} PRAGMA user_version = {_VERSION}; COMMIT;")

    def _check_version(self, connection: Connection) -> int:
        version = int(connection.execute("PRAGMA user_version").fetchone()[0])
        if version > _VERSION:
            raise StoreError(
                f"The store {self.path} was written by a newer agent-hooks: update this one, or move the file away."
            )
        return version


class MemoryStore:
    """The same counters in this process's memory: for agents that live in one process. Safe for threads."""

    def __init__(self, *, keep_seconds: float = KEEP_SECONDS) -> None:
        self._keep_seconds = keep_seconds
        # Least recently touched first, so that expired ones are at the front.
        self._counters: dict[tuple[str, str], tuple[int, float]] = {}
        self._lock = Lock()

    def increment(self, scope: str, key: str, by: int = 1, *, limit: int | None = None) -> int:
        """Add ``by`` and return the new value, as ``Store.increment`` does."""
        _check_step(by)
        now = time()
        with self._lock:
            value = self._counters.get((scope, key), (0, now))[0] + by
            if limit is not None and value > limit:
                return value
            self._counters.pop((scope, key), None)
            self._remove_old(now)
            self._counters[scope, key] = (value, now)
        return value

    def read(self, scope: str, key: str) -> int:
        """Return the counter's value, 0 if it was never incremented."""
        return self._counters.get((scope, key), (0, 0.0))[0]

    def reset(self, scope: str) -> None:
        """Forget every counter of ``scope``."""
        with self._lock:
            for name in [name for name in self._counters if name[0] == scope]:
                del self._counters[name]

    def _remove_old(self, now: float) -> None:
        while self._counters:
            oldest = next(iter(self._counters))
            if self._counters[oldest][1] > now - self._keep_seconds:
                return
            del self._counters[oldest]


def _identity(path: str) -> tuple[int, int] | None:
    """Return what tells a file from another one that takes its place; None if there is no file."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _is_busy(error: BaseException) -> bool:
    """Whether another connection is in the way (SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL and their variants)."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in (5, 6, 15)


def _check_step(by: int) -> None:
    if type(by) is not int or by < 1:  # a bool is a mistake here, though Python counts with it
        raise ValueError(f"A counter grows by a whole number from 1, not by {by!r}.")
