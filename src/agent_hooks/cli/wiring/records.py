"""What was installed: of each edited file its digest, the bytes that it gets back, and a backup."""

from __future__ import annotations

import os
from contextlib import suppress

from agent_hooks.errors import SettingsError
from agent_hooks.system.digests import sha256_hex
from agent_hooks.system.folders import state_dir, write_whole
from agent_hooks.system.quick_json import dumps, loads

from . import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol

    from filelock import BaseFileLock

    class Editor(Protocol):
        """What is ours in one file."""

        def edited(self, clean: bytes | None) -> bytes:
            """Return the content with ours, from that before (None: there is no file)."""

        def cleaned(self, data: bytes, before: bytes | None, *, by_hand: bool = False) -> bytes:
            """Return the content before; ``before``: that, as far as known. ``by_hand``: without any that runs us."""

        def is_right(self, data: bytes) -> bool:
            """Whether ours is in it as it should be."""

        def is_new(self, data: bytes) -> bool:
            """Whether nothing but the beginning of a new file is in it."""


# How long another installation is waited for.
_SECONDS = 30.0
_UNRELIABLE = (OSError, ValueError, TypeError, KeyError)  # of a record


class Change:
    """A file before and after (None: there is none), with the bytes that an uninstallation restores."""

    def __init__(self, path: str, before: bytes | None, after: bytes | None, clean: bytes | None) -> None:
        self.path = path
        self.before = before
        self.after = after
        self.clean = clean

    @property
    def is_needed(self) -> bool:
        """Whether anything changes."""
        return self.before != self.after


class Records:
    """The records of the edited files. They hold what settings do, so only their owner can read them."""

    def __init__(self) -> None:
        self.folder = os.path.join(state_dir(), "wiring")

    def alone(self) -> BaseFileLock:
        """Return the lock that two installations at once wait for."""
        from filelock import FileLock

        os.makedirs(self.folder, mode=0o700, exist_ok=True)
        return FileLock(os.path.join(self.folder, "lock"), timeout=_SECONDS, mode=0o600)

    def read(self, path: str) -> dict[str, Any] | None:
        """Return what is recorded of a file, None for nothing, or nothing that can be relied on."""
        try:
            with open(self._file(path, "json"), encoding="utf-8") as file:
                found = loads(file.read())
            is_whole = found["path"] == path and isinstance(found["after"], str) and isinstance(found["is_new"], bool)
        except _UNRELIABLE:
            return None
        return found if is_whole else None

    def all(self) -> list[dict[str, Any]]:
        """Return all records."""
        found = []
        for name in sorted(os.listdir(self.folder)) if os.path.isdir(self.folder) else ():
            with suppress(*_UNRELIABLE), open(os.path.join(self.folder, name), "rb") as file:
                if name.endswith(".json") and (record := self.read(loads(file.read().decode())["path"])) is not None:
                    found.append(record)
        return found

    def backup_of(self, path: str) -> str:
        """Return the file with the content before the last change."""
        return self._file(path, "backup")

    def restored(self, path: str) -> bytes | None:
        """Return what a file gets back, None if it was made by us or that is not known."""
        with suppress(OSError), open(self._file(path, "restore"), "rb") as file:
            return file.read()
        return None

    def installing(self, path: str, editor: Editor) -> Change:
        """Return the change that puts ours into a file."""
        data, record = files.read(path), self.read(path)
        clean = self._clean(path, data, record, editor)
        after = data if data is not None and editor.is_right(data) else editor.edited(clean)
        return Change(path, data, after, clean)

    def uninstalling(self, path: str, editor: Editor) -> Change:
        """Return the change that takes ours out of a file."""
        data, record = files.read(path), self.read(path)
        if data is None:
            return Change(path, None, None, None)
        # Without a record, nobody knows whether people or we wrote it.
        return Change(path, data, self._clean(path, data, record, editor, by_hand=record is None), None)

    def _clean(
        self, path: str, data: bytes | None, record: dict[str, Any] | None, editor: Editor, *, by_hand: bool = False
    ) -> bytes | None:
        """Return the content before: as it was if nobody has changed it since; None if only we made the file."""
        if data is None:
            return None
        restored = self.restored(path) if record is not None else None
        if record is not None and record["after"] == sha256_hex(data) and (restored is not None or record["is_new"]):
            return restored
        cleaned = editor.cleaned(data, data if restored is None else restored, by_hand=by_hand)
        return None if record is not None and record["created"] and editor.is_new(cleaned) else cleaned

    def apply(self, change: Change, facts: dict[str, Any]) -> None:
        """Make an installing change and record it with ``facts``. Raises ``SettingsError``, ``OSError``."""
        path, after = change.path, change.after or b""
        earlier = self.read(path) or {}
        # First what an uninstallation needs: this process may be killed.
        if change.before is not None and change.is_needed:
            write_whole(self._file(path, "backup"), change.before)
        if change.clean is not None:
            write_whole(self._file(path, "restore"), change.clean)
        else:
            _unlink(self._file(path, "restore"))
        record = {"path": path, "after": sha256_hex(after), "is_new": change.clean is None, **facts}
        record["created"] = change.before is None or bool(earlier.get("created"))
        record["before"] = sha256_hex(change.before) if change.before is not None else ""
        record["folders"] = [
            *earlier.get("folders", ()),
            *files.missing_folders(os.path.dirname(os.path.realpath(path))),
        ]
        write_whole(self._file(path, "json"), dumps(record).encode())
        if change.is_needed:
            self._check_same(change)
            files.replace(path, after)

    def undo(self, change: Change) -> None:
        """Make an uninstalling change and forget the record. Raises ``SettingsError``, ``OSError``."""
        path = change.path
        record = self.read(path) or {}
        if change.is_needed:
            self._check_same(change)
            if change.before is not None:
                write_whole(self._file(path, "backup"), change.before)
            if change.after is None:
                files.remove(path)
            else:
                files.replace(path, change.after)
        if change.after is None:
            files.remove_folders(record.get("folders", []))
        for kind in ("json", "restore"):
            _unlink(self._file(path, kind))

    def _check_same(self, change: Change) -> None:
        if files.read(change.path) != change.before:
            raise ChangedError(f"{change.path} is being changed by another program: try again.")

    def _file(self, path: str, kind: str) -> str:
        return os.path.join(self.folder, f"{sha256_hex(os.fsencode(path))[:16]}.{kind}")


class ChangedError(SettingsError):
    """Raised when another program has changed a file since it was read."""


def _unlink(path: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(path)
