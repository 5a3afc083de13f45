"""The places that configuration is read from: the machine's, the user's, Claude Code's, and a project's."""

from __future__ import annotations

import os
import stat
import sys

from agent_hooks.folders import config_dir, managed_dir
from agent_hooks.policy import RANKS

from .findings import ConfigFinding
from .source import ReadFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent_hooks.discovery import Project
    from agent_hooks.trust import Standing, TrustStore

FILE = "agent-hooks.toml"
CLAUDE_FILE = "settings.json"
CLAUDE_MANAGED_FILE = "managed-settings.json"


def priority_of(source: str) -> int:
    """Return the place among the sources of one with this rank."""
    return 10 * RANKS[source]


class TomlSource:
    """One ``agent-hooks.toml`` outside any project: the machine's (``managed``) or the user's.

    ``folder``: where it is (default: the platform's). A file of the machine counts only if nobody else can write it.
    """

    def __init__(self, source: str, folder: str = "") -> None:
        self.source = source
        self.folder = folder or (managed_dir() if source == "managed" else config_dir())

    def priority(self) -> int:
        """Its place among the sources."""
        return priority_of(self.source)

    def load(self) -> Iterable[ReadFile]:
        """Read the file, if there is one."""
        path = os.path.join(self.folder, FILE)
        data = _bytes_of(path, self.source)
        if isinstance(data, ReadFile):
            yield data
        elif data is not None:
            from .toml import read_toml

            found = read_toml(data, path=path, source=self.source, directory=self.folder)
            if found is not None:
                yield found
                yield from _claude_plugins(found)


class ClaudeSource:
    """Claude Code's own settings outside any project: ``managed-settings.json`` or the user's ``settings.json``.

    ``folder``: where it is (default: where Claude Code looks, https://code.claude.com/docs/en/settings).
    """

    def __init__(self, source: str, folder: str = "") -> None:
        self.source = source
        self.folder = folder or (_claude_managed_dir() if source == "managed" else claude_dir())

    def priority(self) -> int:
        """Its place among the sources: behind our own file of the same rank."""
        return priority_of(self.source) - 1

    def load(self) -> Iterable[ReadFile]:
        """Read the file, if there is one."""
        path = os.path.join(self.folder, CLAUDE_MANAGED_FILE if self.source == "managed" else CLAUDE_FILE)
        data = _bytes_of(path, self.source)
        if isinstance(data, ReadFile):
            yield data
        elif data is not None:
            from .claude import read_claude

            yield read_claude(data, path=path, source=self.source, directory=self.folder)


def project_roots(directory: str) -> list[str]:
    """Return the root of the project that ``directory`` is in, and of those trusted ones that are around it.

    A repository inside another is a project of its own; but making one must not be a way out of the gates around it.
    """
    from agent_hooks.discovery import project_root
    from agent_hooks.trust import TrustStore

    store = TrustStore()
    above = root = project_root(directory)
    roots = [root]
    while (above := os.path.dirname(above)) != os.path.dirname(above):
        if store.known(above):
            roots.append(above)
    return roots


class ProjectSource:
    """The files of the project at ``root``, if somebody has trusted exactly these.

    ``near``: look for nested files only on the way to these paths (default: everywhere). ``project`` is what there is,
    ``standing`` how it stands.
    """

    def __init__(self, root: str, *, near: Iterable[str] | None = None, store: TrustStore | None = None) -> None:
        from agent_hooks.discovery import discover
        from agent_hooks.trust import TrustStore

        store = store or TrustStore()
        known = store.known(root) if near is not None else ()
        self.project: Project = discover(root, near=near, known=known)
        self.standing: Standing = store.standing(self.project)

    def priority(self) -> int:
        """Its place among the sources."""
        return priority_of("project")

    @property
    def is_trusted(self) -> bool:
        """Whether its hooks may run."""
        return self.standing.status == "trusted"

    @property
    def finding(self) -> ConfigFinding | None:
        """What must be said about a project whose hooks are not active."""
        if self.standing.status in ("trusted", "empty"):
            return None
        root, gates = self.project.root, self.project.gates
        are = "gate is" if gates == 1 else "gates are"
        what = f"{gates} {are} not active in the project {root}"
        if self.standing.status == "changed":
            why = f"files changed since they were trusted: {' '.join(self.standing.changes)}"
            type_this = f"agent-hooks trust --diff {root}"
        else:
            why, type_this = "nobody has trusted them", f"agent-hooks trust --show {root}"
        remedy = f"Look with `{type_this}`, then type `agent-hooks trust {root}`."
        return ConfigFinding(kind=self.standing.status, path=root, message=f"{what}, because {why}.", remedy=remedy)

    def load(self) -> Iterable[ReadFile]:
        """Return the files if they are trusted, else none."""
        return self.project.reads if self.is_trusted else ()


def claude_dir() -> str:
    """Return the folder of the user's Claude Code settings; ``CLAUDE_CONFIG_DIR`` of the environment moves it."""
    return os.path.expanduser(os.environ.get("CLAUDE_CONFIG_DIR") or "~/.claude")


def _claude_managed_dir() -> str:
    if sys.platform == "darwin":
        return "/Library/Application Support/ClaudeCode"
    return r"C:\Program Files\ClaudeCode" if sys.platform == "win32" else "/etc/claude-code"


def _claude_plugins(file: ReadFile) -> Iterator[ReadFile]:
    """Read the hooks of the Claude Code plugins that a file of ours names, by folder."""
    from .claude import read_claude

    for folder in file.settings.get("claude_plugins", ()):
        root = os.path.normpath(os.path.join(os.path.dirname(file.path), os.path.expanduser(folder)))
        path = os.path.join(root, "hooks", "hooks.json")
        data = _bytes_of(path, file.source)
        if data is None:
            problem = f"claude_plugins names {folder!r}, but there is no {path}."
            data = unreadable(file.path, file.source, problem, "Correct or remove the name.")
        if isinstance(data, ReadFile):
            yield data
        else:
            yield read_claude(data, path=path, source=file.source, directory=root, plugin_root=root)


def _bytes_of(path: str, source: str) -> bytes | ReadFile | None:
    """Return what is in a file, None if there is none, or what must be said if it cannot be read or relied on."""
    try:
        with open(path, "rb") as file:
            if source == "managed" and (writer := _other_writer(path)):
                remedy = "Let it belong to root, and let nobody else write it or a folder above it."
                return unreadable(path, source, f"It does not count, because {writer}.", remedy)
            return file.read()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        return unreadable(
            path, source, f"It cannot be read: {error.strerror or error}.", "Make it readable, or remove it."
        )


def unreadable(path: str, source: str, problem: str, remedy: str) -> ReadFile:
    """Return the reading of a file that could not be read: what it would have stopped is stopped."""
    finding = ConfigFinding(kind="unreadable", path=path, message=problem, remedy=remedy, blocks=True)
    return ReadFile(path=path, source=source, findings=(finding,))


def _other_writer(path: str) -> str:
    """Return who besides the system could have written a file, or put another in its place; "" if nobody."""
    if os.name == "nt":  # its permissions are not these
        return ""
    real = os.path.realpath(path)
    while True:
        status = os.stat(real)
        # In a folder like /tmp, with the sticky bit, nobody can replace what belongs to another.
        is_open = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not status.st_mode & stat.S_ISVTX
        if status.st_uid != 0 or (is_open and not (status.st_gid == 0 and not status.st_mode & stat.S_IWOTH)):
            return f"somebody other than root can change {real}"
        above = os.path.dirname(real)
        if above == real:
            return ""
        real = above
