"""Where this package keeps what is its own: what it remembers, the user's configuration, and that of who manages the
machine. Never inside a project.
"""

from __future__ import annotations

import os
import sys

from .errors import SettingsError

NAME = "agent-hooks"


def state_dir() -> str:
    """Return the folder of what is remembered from one process to the next; it need not exist yet.

    ``AGENT_HOOKS_STATE_DIR`` of the environment if set, else what the platform says: on Linux ``agent-hooks`` in
    ``$XDG_STATE_HOME`` (default ``~/.local/state``). Raises ``SettingsError`` if that is not an absolute path, or if
    there is no home folder.
    """
    return _folder("AGENT_HOOKS_STATE_DIR", "user_state_dir")


def config_dir() -> str:
    """Return the folder of the user's configuration, where the trust store is too; it need not exist yet.

    ``AGENT_HOOKS_CONFIG_DIR`` of the environment if set, else what the platform says: on Linux ``agent-hooks`` in
    ``$XDG_CONFIG_HOME`` (default ``~/.config``). Raises ``SettingsError`` as ``state_dir`` does.
    """
    return _folder("AGENT_HOOKS_CONFIG_DIR", "user_config_dir")


def managed_dir() -> str:
    """Return the folder of the configuration of who manages the machine; it need not exist.

    ``/etc/agent-hooks``; on macOS in ``/Library/Application Support``, on Windows in ``Program Files``: only who
    manages the machine can write there. Unlike the others it cannot be moved by an environment variable: whom the rules
    are for must not be able to leave them out.
    """
    if sys.platform == "darwin":
        return f"/Library/Application Support/{NAME}"
    if sys.platform == "win32":
        import winreg

        where = r"SOFTWARE\Microsoft\Windows\CurrentVersion"
        access = winreg.KEY_READ | winreg.KEY_WOW64_64KEY  # not the folder for 32-bit programs
        with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, where, access=access) as key:
            return os.path.join(str(winreg.QueryValueEx(key, "ProgramFilesDir")[0]), NAME)
    return f"/etc/{NAME}"


def sync_folder(folder: str) -> None:
    """Make sure that a file which was put into ``folder`` is there after a power cut."""
    if os.name == "nt":  # where a folder cannot be opened
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _folder(variable: str, which: str) -> str:
    chosen = os.environ.get(variable)
    if chosen:
        folder = os.path.expanduser(chosen)
        if not os.path.isabs(folder):
            raise SettingsError(f"{variable} must be an absolute path, not {chosen!r}.")
        return folder
    import platformdirs

    try:
        folder = str(getattr(platformdirs, which)(NAME, appauthor=False))
    except (RuntimeError, ValueError, OSError):
        folder = ""
    if not os.path.isabs(folder):
        raise SettingsError(f"There is no home folder for this: set {variable} to an absolute path.")
    return folder
