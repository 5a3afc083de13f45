"""The processes above this one, and which of them are coding agents, whatever the environment says.

``agent-hooks run`` notes the process of its host by its id and its start, and so does our runtime when it runs a tool.
Every event imports this module, so it imports nothing heavy.
"""

from __future__ import annotations

import os
import sys
from time import time

from .account import account_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    _Process = tuple[int, str, bool, list[str]]

_STATE = ("Library", "Application Support") if sys.platform == "darwin" else (".local", "state")
# What a part of the path of a host's program, or of the script that its interpreter runs, begins with.
_HOSTS = frozenset("claude codex gemini qwen copilot cursor opencode droid kiro windsurf vscode devin".split())
# In their windows are terminals of people, below a process of the editor's own that makes nothing else.
_EDITORS = frozenset(("cursor", "windsurf", "vscode"))
_INTERPRETERS = frozenset("node nodejs bun deno electron".split())
# Never hosts: shells and what is between them and us, and what is above the processes of people and machines.
_BETWEEN = frozenset(
    "sh bash dash zsh ksh fish ash busybox env timeout nice nohup python uv sudo make init systemd launchd sshd "
    "sshd-session login su tmux screen cron crond".split()
)
_LISTING = ("/bin/ps", "-ww", "-o", "ppid=", "-o", "lstart=", "-o", "tty=", "-o", "stat=", "-o", "command=", "-p")
_KEPT = 30 * 24 * 3600.0  # seconds
_UNMAPPED = 65534  # who owns what belongs to nobody in a namespace of users


def notes_dir(name: str) -> str:
    """Return the folder of the notes on "agents" or "sessions", "" without accounts; no variable moves it."""
    return account_folder(*_STATE, "agent-hooks", name)


def note_host() -> None:
    """Note the coding agent that has started this process: the nearest, not a terminal or an editor around it.

    If none has a name that is known, it is the nearest process that is no shell, except in CI.
    """
    folder, pid, nearest = notes_dir("agents"), os.getppid(), ""
    if not folder or (not os.path.isdir("/proc/self") and _is_noted(folder)):
        return
    while pid > 0 and (found := _look(pid)):
        parent, start, leads, words = found
        is_host = _is_host(words)
        may_be = not (leads or nearest or pid == 1 or os.environ.get("CI") or _name(words) in _BETWEEN)
        nearest = os.path.join(folder, f"{pid}-{start}") if is_host or may_be else nearest
        if is_host or leads:  # the shell of a person's terminal
            break
        pid = parent
    if nearest:
        make_note(nearest)


def note_process() -> None:
    """Note this process as an agent's, until it ends."""
    if (folder := notes_dir("agents")) and (found := _look(os.getpid())):
        from atexit import register

        path = os.path.join(folder, f"{os.getpid()}-{found[1]}")
        make_note(path)
        register(_forget, path)


def _forget(path: str) -> None:
    if os.path.lexists(path):
        os.unlink(path)


def agent_above() -> str:
    """Return the noted agent above this process, or above the leader of its session, which a second fork stays in."""
    folder = notes_dir("agents")
    return folder and (_noted_above(folder, os.getpid()) or _noted_above(folder, os.getsid(0)))


def _noted_above(folder: str, pid: int) -> str:
    maker = 0  # of the outermost terminal so far
    while pid > 0 and (found := _look(pid)):
        parent, start, leads, words = found
        is_noted = pid != os.getpid() and os.path.lexists(os.path.join(folder, f"{pid}-{start}"))
        is_persons = maker not in (0, pid) and _is_editor(words) and _program(maker) == _program(pid)
        if is_noted and not is_persons:
            return f"{words[0]} (process {pid})"
        if leads:
            maker = parent
        pid = parent
    return ""


def is_detached() -> bool:
    """Whether this process has left the shell of its terminal, by a second fork or into a namespace of its own."""
    pid, leader = os.getpid(), os.getsid(0)  # 0: it is in another namespace
    while pid > 1 and pid != leader and (found := _look(pid)):
        pid = found[0]
    is_elsewhere = os.path.isdir("/proc/1") and os.stat("/proc/1").st_uid == _UNMAPPED
    return is_elsewhere or not leader or (pid != leader and pid < 2)


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

    asked = (*_LISTING, str(pid))
    listed = run(asked, capture_output=True, text=True, check=False, env={"LC_ALL": "C"})  # noqa: S603 - our own words
    fields = listed.stdout.split(None, 8)
    if len(fields) < 9:
        return None
    leads = "s" in fields[7] and not fields[6].startswith("?")
    words = fields[8].strip().replace(" /", "\0/").replace(" -", "\0-").split("\0")  # a program's path may have spaces
    return int(fields[0]), "_".join(fields[1:6]), leads, words


def _name(words: list[str]) -> str:
    name = words[0].lstrip("-").partition(": ")[0].rpartition("/")[2].partition(" ")[0].casefold()
    return name.rstrip("0123456789.")


def _parts(words: list[str]) -> set[str]:
    """Return what the parts of the path of a program, and of the script that it interprets, begin with."""
    script = next((word for word in words[1:] if not word.startswith("-")), "") if _name(words) in _INTERPRETERS else ""
    paths = [path.casefold().split("/") for path in (words[0].partition(": ")[0], script)]
    names = [each for path in paths for each in path[3 if path[1:2] in (["home"], ["users"]) else 0 :]]
    return {part.partition("-")[0] for name in names for part in name.replace(" ", ".").split(".")}


def _is_host(words: list[str]) -> bool:
    return _name(words) not in _BETWEEN and (_is_editor(words) or not _HOSTS.isdisjoint(_parts(words)))


def _is_editor(words: list[str]) -> bool:
    path = words[0].casefold()
    is_one = "visual studio code" in path or _name(words) in ("code", "code-insiders", "codium")
    is_one = is_one or not _EDITORS.isdisjoint(_parts([path.replace("cursor-agent", "")]))
    return is_one and "/extensions/" not in " ".join(words[:2])


def _program(pid: int) -> str:
    """Return the program of a process, on macOS its bundle."""
    try:
        return os.readlink(f"/proc/{pid}/exe")
    except OSError:
        found = _look(pid)
        return found[3][0].partition(".app/")[0] if found else ""


def _is_noted(folder: str) -> bool:
    """Whether the process above or the leader of the group is noted; each look by `ps` takes some milliseconds."""
    marks = (f"{os.getppid()}-", f"{os.getpgrp()}-")
    return os.path.isdir(folder) and any(name.startswith(marks) for name in os.listdir(folder))


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
