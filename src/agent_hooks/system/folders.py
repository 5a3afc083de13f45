"""Folders of this package: its state, the user's and the machine's configuration. Never in a project."""

from __future__ import annotations

import os
import stat
import sys
from errno import EFBIG, EINVAL
from time import time

from agent_hooks.errors import SettingsError

NAME = "agent-hooks"

_CONFIG = ("Library", "Application Support") if sys.platform == "darwin" else (".config",)
# The prefix and suffix of temporary file names.
_TEMPORARY = (".agent-hooks-", ".new")
_ABANDONED = 3600.0  # seconds after which nobody writes a temporary file any more
# The variables that decide where the user's configuration is. Each event asks for them, and `os.environ.get` takes a
# microsecond for one that is not set; the dict behind it does not.
_PLACE = ("AGENT_HOOKS_CONFIG_DIR", "HOME", "XDG_CONFIG_HOME")
_ENCODED = tuple(map(os.environ.encodekey, _PLACE))
# The folder of the user's configuration that takes precedence over the environment's.
_chosen: tuple[str, ...] = ()
_is_command = False


def state_dir() -> str:
    """Return the folder of the state that processes share; it need not exist yet.

    ``AGENT_HOOKS_STATE_DIR`` of the environment if set, else the platform's: on Linux ``agent-hooks`` in
    ``$XDG_STATE_HOME`` (default ``~/.local/state``). Raises ``SettingsError`` if that is not an absolute path, or if
    there is no home folder.
    """
    return _folder("AGENT_HOOKS_STATE_DIR", "user_state_dir", "XDG_STATE_HOME", "~/.local/state")


def config_dir() -> str:
    """Return the folder of the user's configuration, where the trust store is too; it need not exist yet.

    ``AGENT_HOOKS_CONFIG_DIR`` of the environment if set, else the platform's: on Linux ``agent-hooks`` in
    ``$XDG_CONFIG_HOME`` (default ``~/.config``); the machine's settings and ``--config-dir`` take precedence. Raises
    ``SettingsError`` as ``state_dir`` does.
    """
    return (
        _chosen[0] if _chosen else _folder("AGENT_HOOKS_CONFIG_DIR", "user_config_dir", "XDG_CONFIG_HOME", "~/.config")
    )


def config_dirs() -> tuple[str, ...]:
    """Return all folders of the user's configuration: ``config_dir()``, and after it the account's own in a command
    that a host starts. So no project or host can hide the user's gates with environment variables.
    """
    first = config_dir()
    own = account_config_dir() if uses_account() else ""
    return (first, own) if own and os.path.realpath(own) != os.path.realpath(first) else (first,)


def account_config_dir() -> str:
    """Return the configuration folder in the account's home, an empty string if there is no account."""
    home = account_home()
    return home and os.path.join(home, *_CONFIG, NAME)


def config_place() -> tuple[object, ...]:
    """Return what decides where the user's configuration is: two equal ones mean the same folders."""
    encoded = getattr(os.environ, "_data", None)
    names, get = (_PLACE, os.environ.get) if encoded is None else (_ENCODED, encoded.get)
    return _chosen, _is_command, get(names[0]), get(names[1]), get(names[2])


def use_account() -> None:
    """Let the folders of the account count in this process, beside those of the environment."""
    global _is_command  # noqa: PLW0603 - of the process, like its environment
    _is_command = True


def choose_config_dir(folder: str) -> None:
    """Use ``folder`` as the only user configuration; with an empty string, none is chosen any more. Raises
    ``SettingsError`` for a relative path.
    """
    global _chosen  # noqa: PLW0603 - of the process, like its environment
    if folder and not os.path.isabs(folder):
        raise SettingsError(f"The folder of the user's configuration must be an absolute path, not {folder!r}.")
    _chosen = (folder,) if folder else ()


def chosen_config_dir() -> str:
    """Return the folder that ``choose_config_dir`` has set, an empty string for none."""
    return _chosen[0] if _chosen else ""


def uses_account() -> bool:
    """Whether the folders of the account count beside those that the environment names."""
    return _is_command and not _chosen


def account_home() -> str:
    """Return the home folder of the process's account, regardless of ``HOME`` where possible."""
    try:
        from pwd import getpwuid
    except ImportError:  # Windows
        return ""
    try:
        return getpwuid(os.getuid()).pw_dir
    except KeyError:
        return os.environ.get("HOME", "")


def managed_dir() -> str:
    """Return the folder of the administrator's configuration; it need not exist.

    ``/etc/agent-hooks``; on macOS in ``/Library/Application Support``, on Windows in ``Program Files``: only an
    administrator can write there. Unlike the others it cannot be moved by an environment variable: users must not be
    able to switch its rules off.
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


def read_regular(path: str, limit: int) -> bytes:
    """Return a regular file of at most ``limit`` bytes. Raises ``OSError``, also for pipes and devices."""
    return read_with_status(path, limit)[0]


def read_with_status(path: str, limit: int) -> tuple[bytes, os.stat_result]:
    """Return the content of a regular file and its status; as ``read_regular``."""
    irregular = OSError(EINVAL, "it is not a regular file")
    if not stat.S_ISREG(os.stat(path).st_mode):  # opening a device may do something
        raise irregular
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with open(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise irregular
        data = file.read(limit + 1) if status.st_size <= limit else b""
        if len(data) > limit or status.st_size > limit:
            raise OSError(EFBIG, f"it is larger than {limit / 2**20:g} MiB")
        return data, status


def write_whole(path: str, data: bytes, mode: int = 0o600) -> None:
    """Replace a file atomically and durably; temporary files that killed writers left are removed after an hour."""
    from tempfile import mkstemp

    folder = os.path.dirname(path)
    _remove_left_behind(folder)
    descriptor, temporary = mkstemp(dir=folder, prefix=_TEMPORARY[0], suffix=_TEMPORARY[1])
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, mode)
        os.replace(temporary, path)
    except BaseException:
        try:  # noqa: SIM105 - contextlib imports collections
            os.unlink(temporary)
        except OSError:  # the disk may be full
            pass
        raise
    sync_folder(folder)


def _remove_left_behind(folder: str) -> None:
    """Remove the old temporary files of ``folder``, whose writers were killed."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(_TEMPORARY[0]) and entry.name.endswith(_TEMPORARY[1]):
                try:
                    if entry.stat(follow_symlinks=False).st_mtime < time() - _ABANDONED:
                        os.unlink(entry.path)
                except OSError:  # another process was faster
                    continue


def lock_file(descriptor: int, *, wait: bool = True) -> bool:
    """Lock a file until it is closed, and return whether that was possible."""
    try:
        from fcntl import LOCK_EX, LOCK_NB, flock
    except ImportError:  # Windows
        return False
    try:
        flock(descriptor, LOCK_EX if wait else LOCK_EX | LOCK_NB)
    except OSError:
        return False
    return True


def sync_folder(folder: str) -> None:
    """Make the new files of ``folder`` durable: they survive a power cut."""
    if os.name == "nt":  # where a folder cannot be opened
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _folder(variable: str, which: str, xdg_variable: str, usual: str) -> str:
    chosen = os.environ.get(variable)
    if chosen:
        folder = os.path.expanduser(chosen)
        if not os.path.isabs(folder):
            raise SettingsError(f"{variable} must be an absolute path, not {chosen!r}.")
        return folder
    if folder := _platform_folder(xdg_variable, usual):
        return folder
    import platformdirs

    try:
        folder = str(getattr(platformdirs, which)(NAME, appauthor=False))
    except (RuntimeError, ValueError, OSError):
        folder = ""
    if not os.path.isabs(folder):
        raise SettingsError(f"There is no home folder for this: set {variable} to an absolute path.")
    return folder


def _platform_folder(xdg_variable: str, usual: str) -> str:
    """Return the folder that ``platformdirs`` names, whose import takes 10 ms, or an empty string where the platform or
    the environment is not one of the usual ones: relative paths, for example, mean something else to each version.
    """
    base = os.environ.get(xdg_variable)
    if sys.platform == "darwin" and base is None:  # not every version heeds the variable there
        base = os.path.expanduser("~/Library/Application Support")
    elif sys.platform != "linux" or "ANDROID_DATA" in os.environ or hasattr(sys, "getandroidapilevel"):
        return ""
    is_usual = os.environ.get("HOME", "/").startswith("/")
    base = os.path.expanduser(usual) if base is None else base
    return os.path.join(base, NAME) if is_usual and base.startswith("/") else ""


def claude_dir() -> str:
    """Return the folder of the user's Claude Code settings, an empty string if there is no home folder for it.

    ``CLAUDE_CONFIG_DIR`` of the environment moves it. Raises ``SettingsError`` if that is not an absolute path: a
    relative one would lie in the current project.
    """
    chosen = os.environ.get("CLAUDE_CONFIG_DIR", "")
    folder = os.path.expanduser(chosen or "~/.claude")
    if os.path.isabs(folder):
        return folder
    if chosen:
        raise SettingsError(f"CLAUDE_CONFIG_DIR must be an absolute path, not {chosen!r}.")
    return ""
