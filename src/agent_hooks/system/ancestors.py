"""The processes above this one, and which of them are coding agents, whatever the environment says.

``agent-hooks run`` notes the process of its host by its id and its start, and so does our runtime when it runs a tool.
Every event imports this module, so it imports nothing heavy.
"""

from __future__ import annotations

import os
import sys
from time import time

from .plan_file import account_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    _Process = tuple[int, str, bool, list[str]]

_STATE = ("Library", "Application Support") if sys.platform == "darwin" else (".local", "state")
# What the program of a host, or the script that its interpreter runs, has in its path.
_HOSTS = tuple("claude codex gemini qwen copilot cursor opencode droid kiro windsurf vscode devin".split())
# In their windows are terminals of people, below a process of the editor's own that makes nothing else.
_EDITORS = ("cursor", "windsurf", "vscode", "visual studio code")
_BETWEEN = frozenset("sh bash dash zsh ksh fish ash busybox env timeout nice nohup python uv".split())
_LISTING = ("/bin/ps", "-ww", "-o", "ppid=", "-o", "lstart=", "-o", "tty=", "-o", "stat=", "-o", "command=", "-p")
_KEPT = 30 * 24 * 3600.0  # seconds
_LOOK_AGAIN = 60.0  # seconds: where `ps` must be asked, each look takes some milliseconds


def agents_dir() -> str:
    """Return the folder of the notes, an empty string without accounts; no variable of an agent moves it."""
    return account_folder(*_STATE, "agent-hooks", "agents")


def sessions_dir() -> str:
    """Return the folder of what sessions have seen, an empty string without accounts."""
    return account_folder(*_STATE, "agent-hooks", "sessions")


def note_host() -> None:
    """Note the coding agent that has started this process: the nearest, not a terminal or an editor around it."""
    folder, pid = agents_dir(), os.getppid()
    if not folder or not (os.path.isdir("/proc/self") or _looks_again(folder)):
        return
    while pid > 1 and (found := _look(pid)):
        parent, start, leads, words = found
        if _is_host(words):
            _note(folder, pid, start)
            return
        if leads:  # the shell of a person's terminal
            return
        pid = parent


def note_process() -> None:
    """Note this process as an agent's, until it ends."""
    if (folder := agents_dir()) and (found := _look(os.getpid())):
        from atexit import register

        _note(folder, os.getpid(), found[1])
        register(_forget, os.path.join(folder, f"{os.getpid()}-{found[1]}"))


def _forget(path: str) -> None:
    if os.path.lexists(path):
        os.unlink(path)


def agent_above() -> str:
    """Return the noted agent among the processes above this one, an empty string if there is none."""
    folder, own = agents_dir(), os.getpid()
    pid, maker = own, 0  # of the outermost terminal so far
    while folder and pid > 1 and (found := _look(pid)):
        parent, start, leads, words = found
        is_noted = os.path.lexists(os.path.join(folder, f"{pid}-{start}")) or _is_marked(pid)
        is_persons = maker not in (0, pid) and _is_editor(words) and _program(maker) == _program(pid)
        if pid != own and is_noted and not is_persons:
            return f"{words[0]} (process {pid})"
        if leads:
            maker = parent
        pid = parent
    return ""


def _look(pid: int) -> _Process | None:
    """Return the parent of a process, its start, whether it leads the session of a terminal, and its words."""
    try:
        facts = _read(f"/proc/{pid}/stat").rpartition(b") ")[2].split()
        words = os.fsdecode(_read(f"/proc/{pid}/cmdline")).split("\0")
    except OSError:
        return None if os.path.isdir("/proc/self") else _listed(pid)
    return int(facts[1]), facts[19].decode(), int(facts[3]) == pid and facts[4] != b"0", words


def _read(path: str) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)  # `open` takes three times as long
    try:
        return os.read(descriptor, 4096)
    finally:
        os.close(descriptor)


def _listed(pid: int) -> _Process | None:
    from subprocess import run

    words = (*_LISTING, str(pid))
    listed = run(words, capture_output=True, text=True, check=False, env={"LC_ALL": "C"})  # noqa: S603 - our own words
    fields = listed.stdout.split(None, 8)
    if len(fields) < 9:
        return None
    leads = "s" in fields[7] and not fields[6].startswith("?")
    return int(fields[0]), "_".join(fields[1:6]), leads, [fields[8].strip()]


def _is_host(words: list[str]) -> bool:
    name = words[0].rpartition("/")[2].partition(" ")[0].casefold().rstrip("0123456789.")
    text = " ".join(words[:2]).casefold()
    return name not in _BETWEEN and (_is_editor(words) or any(map(text.__contains__, _HOSTS)))


def _is_editor(words: list[str]) -> bool:
    path = " ".join(words[:2]).casefold().replace("cursor-agent", "")
    return any(map(path.__contains__, _EDITORS)) or words[0].rpartition("/")[2] in ("code", "code-insiders", "codium")


def _program(pid: int) -> str:
    """Return the program of a process, on macOS its bundle."""
    try:
        return os.readlink(f"/proc/{pid}/exe")
    except OSError:
        found = _look(pid)
        return found[3][0].partition(".app/")[0] if found else ""


def _is_marked(pid: int) -> bool:
    """Whether a tool of our runtime has started a process; Linux alone shows the environment that it began with."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return b"\0AGENT_HOOKS_AGENT=" in b"\0" + file.read()
    except OSError:
        return False


def _looks_again(folder: str) -> bool:
    """Whether nobody has looked for the host in this session of processes just now."""
    path = os.path.join(folder, f"looked-{os.getsid(0)}")
    try:
        if os.stat(path).st_mtime > time() - _LOOK_AGAIN:
            return False
        os.utime(path)
    except OSError:
        make_note(path)
    return True


def _note(folder: str, pid: int, start: str) -> None:
    path = os.path.join(folder, f"{pid}-{start}")
    if os.path.lexists(path):
        return
    try:
        for name in os.listdir(folder):
            number, _, begun = name.partition("-")
            if not number.isdecimal() or ((found := _look(int(number))) is None or found[1] != begun):
                os.unlink(os.path.join(folder, name))
    except OSError:  # there is no folder yet, or another process was faster
        pass
    make_note(path)


def make_note(path: str) -> None:
    """Make an empty file, and remove those beside it that are older than a month; nothing where that cannot be."""
    if os.path.lexists(path):
        return
    folder = os.path.dirname(path)
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        for old in [each.path for each in os.scandir(folder) if each.stat().st_mtime < time() - _KEPT]:
            os.unlink(old)
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))
    except OSError:  # a disk that is full, or may not be written
        return
