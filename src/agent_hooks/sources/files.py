"""The sources of configuration: the machine's, the user's, Claude Code's and the projects' files."""

from __future__ import annotations

import os
import stat
import sys

from agent_hooks.errors import SettingsError
from agent_hooks.formats.findings import ConfigFinding
from agent_hooks.formats.read_file import ReadFile, is_claude_settings
from agent_hooks.model.policy import RANKS
from agent_hooks.system.folders import (
    account_home,
    choose_config_dir,
    claude_dir,
    config_dir,
    config_dirs,
    managed_dir,
    read_with_status,
    uses_account,
)
from agent_hooks.system.paths import folders_above, is_below, places_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent_hooks.trust.manifest import Project
    from agent_hooks.trust.trust_store import TrustStatus, TrustStore

FILE = "agent-hooks.toml"
HOOKCONF = "hookconf.py"
CLAUDE_FILE = "settings.json"
CLAUDE_LOCAL_FILE = "settings.local.json"
CLAUDE_MANAGED_FILE = "managed-settings.json"
CLAUDE_MANAGED_FOLDER = "managed-settings.d"
# More than any settings file needs.
_MAX_BYTES = 1024 * 1024
# The number of changes that a finding lists.
_MAX_CHANGES = 3


# Variables that move the user's configuration.
_OWN_FOLDERS = ("AGENT_HOOKS_CONFIG_DIR", "AGENT_HOOKS_STATE_DIR", "CLAUDE_CONFIG_DIR", "XDG_CONFIG_HOME")


def priority_of(source: str) -> int:
    """Return the priority of the sources of this rank."""
    return 10 * RANKS[source]


class TomlSource:
    """The machine's or the user's ``agent-hooks.toml``; only root may be able to write the machine's."""

    def __init__(self, source: str, folder: str = "") -> None:
        self.source = source
        self.folder = folder or (managed_dir() if source == "managed" else config_dir())

    def priority(self) -> int:
        """The rank among the sources."""
        return priority_of(self.source)

    @property
    def path(self) -> str:
        """The path of the file."""
        return os.path.join(self.folder, FILE)

    def load(self) -> Iterable[ReadFile]:
        """Read the file, if there is one."""
        path = self.path
        data = _bytes_of(path, self.source)
        if isinstance(data, ReadFile):
            yield data
        elif data is not None:
            from agent_hooks.formats.toml import read_toml

            found = read_toml(data, path=path, source=self.source, directory=self.folder)
            if found is not None:
                yield found
                yield from _claude_plugins(found)


class HookconfSource:
    """The ``hookconf.py`` beside the machine's or the user's ``agent-hooks.toml``, and the modules that it names.

    It runs without being trusted, so nobody but its owner and root may be able to write it or a folder that leads to
    it. ``settings["hookconf"]`` of each file is the module.
    """

    def __init__(self, source: str, folder: str = "") -> None:
        self.source = source
        self.folder = folder or (managed_dir() if source == "managed" else config_dir())

    def load(self) -> Iterable[ReadFile]:
        """Read the files that exist; nothing is run."""
        first = os.path.join(self.folder, HOOKCONF)
        waiting: list[tuple[str, ReadFile | None]] = [(first, None)]
        seen = {first}
        for path, missing in waiting:  # the loop appends to it
            data = _bytes_of(path, self.source, is_code=True)
            if not isinstance(data, bytes):
                found = missing if data is None else data
                yield from () if found is None else (found,)
                continue
            read = self._read(first, path, data)
            yield read
            for module in read.settings["hookconf"].modules:
                target = f"{os.path.join(os.path.dirname(path), *module.split('.'))}.py"
                if target not in seen:
                    seen.add(target)
                    problem = f"agent_hooks_plugins names {module!r}, but there is no {target}."
                    lost = ReadFile.unreadable(problem, "Correct or remove the name.", path=path, source=self.source)
                    waiting.append((target, lost))

    def _read(self, first: str, path: str, code: bytes) -> ReadFile:
        from agent_hooks.formats.hookconf import NAMED_MODULES, named_modules
        from agent_hooks.trust.manifest import ConfFile

        modules: tuple[str, ...] = ()
        findings: tuple[ConfigFinding, ...] = ()
        try:
            modules = named_modules(code) if NAMED_MODULES.encode() in code else ()
        except SettingsError as error:
            remedy = "Write the names out in a list."
            findings = ReadFile.unreadable(str(error), remedy, path=path, source=self.source).findings
        name = first if path == first else f"{first}:{os.path.relpath(path, self.folder)}"
        conf = ConfFile(name=name, path=path, directory=self.folder, code=code, modules=modules)
        settings = {"hookconf": conf}
        return ReadFile(path=path, source=self.source, settings=settings, findings=findings, part=code)


class ClaudeSource:
    """Claude Code's own settings outside any project: ``managed-settings.json`` with the files in
    ``managed-settings.d``, or the user's ``settings.json``.

    ``folder``: the folder of the files (default: see https://code.claude.com/docs/en/settings).
    """

    def __init__(self, source: str, folder: str = "") -> None:
        self.source = source
        self.folder = folder or (_claude_managed_dir() if source == "managed" else claude_dir())

    def priority(self) -> int:
        """The rank among the sources: after our own file of the same source."""
        return priority_of(self.source) - 1

    def load(self) -> Iterable[ReadFile]:
        """Read the files that exist."""
        for path in self.paths() if self.folder else ():
            data = _bytes_of(path, self.source)
            if isinstance(data, ReadFile):
                yield data.replace(form="claude")
            elif data is not None:
                from agent_hooks.formats.claude.settings import read_claude

                yield read_claude(data, path=path, source=self.source, directory=self.folder)

    def paths(self) -> list[str]:
        """Return the paths of the files, whether they exist or not."""
        if self.source != "managed":
            return [os.path.join(self.folder, CLAUDE_FILE)]
        inner = os.path.join(self.folder, CLAUDE_MANAGED_FOLDER)
        try:
            names = sorted(name for name in os.listdir(inner) if name.endswith(".json") and name[0] != ".")
        except OSError:
            names = []
        return [os.path.join(self.folder, CLAUDE_MANAGED_FILE), *(os.path.join(inner, name) for name in names)]


def project_roots(directory: str) -> list[str]:
    """Return the root of the project that contains ``directory``, and all trusted folders around it.

    A repository inside another is a project of its own, but creating one must not disable the gates of the outer one.
    Without a repository, a folder whose hooks were trusted as part of a folder around it is no project of its own.
    Raises ``SettingsError`` if the user's own configuration is inside the project: a project must not supply the
    user's settings, even through the environment.
    """
    from agent_hooks.trust.project_files import kind_of, project_root
    from agent_hooks.trust.trust_store import TrustStore

    store = TrustStore()
    root = project_root(directory)
    home = os.path.realpath(os.path.expanduser("~"))
    for variable in _OWN_FOLDERS:
        folder = os.path.realpath(os.environ.get(variable) or os.sep)
        if is_below(folder, root) and not is_below(home, root):
            raise SettingsError(
                f"{variable} is {folder}, which is inside the project {root}: set it to a folder of your own, or leave "
                "it unset."
            )
    here = os.path.realpath(directory)
    around = (folder for folder in (here, *folders_above(here)) if folder not in (root, os.path.dirname(folder)))
    roots = [root, *filter(store.has_record, around)]
    is_own = os.path.lexists(os.path.join(root, ".git")) or store.has_record(root)
    is_part = not is_own and any(
        is_below(root, outer) and kind_of(path) and is_below(os.path.join(outer, path), root)
        for outer in roots[1:]
        for path in store.known(outer)
    )
    return roots[1:] if is_part else roots


def trusted_roots(paths: Iterable[str], known: Iterable[str]) -> list[str]:
    """Return the roots of trusted projects around ``paths``, without those in ``known``.

    An agent that works elsewhere must pass the gates of these projects, too.
    """
    from agent_hooks.model.tools import MAX_PATH
    from agent_hooks.trust.trust_store import TrustStore

    store = TrustStore()
    seen = {*known}
    found: list[str] = []
    for folder in paths:
        while folder not in seen and len(folder) <= MAX_PATH and "\0" not in folder:
            seen.add(folder)
            if store.has_record(folder):
                found.append(os.path.realpath(folder))
            folder = os.path.dirname(folder)
    return found


class ProjectSource:
    """The files of the project at ``root``, if exactly these are trusted.

    ``near``: search nested files only on the way to these paths (default: everywhere in a project, not in other
    folders). ``claude_settings``: read Claude Code's settings files as well. ``project``: the files found;
    ``standing``: their trust status.
    """

    def __init__(
        self,
        root: str,
        *,
        near: Iterable[str] | None = None,
        claude_settings: bool = True,
        store: TrustStore | None = None,
    ) -> None:
        from agent_hooks.trust.project_files import is_marked
        from agent_hooks.trust.trust_store import TrustStore

        if near is None and not is_marked(root):
            near = (root,)  # a whole search of a home folder or a folder of data would take too long
        self.project: Project
        self.standing: TrustStatus
        self.project, self.standing = (store or TrustStore()).examine(root, near)
        self._claude_settings = claude_settings

    def priority(self) -> int:
        """The rank among the sources."""
        return priority_of("project")

    @property
    def is_trusted(self) -> bool:
        """Whether the hooks of the project may run."""
        return self.standing.status == "trusted"

    @property
    def findings(self) -> list[ConfigFinding]:
        """The findings of the project; they block nothing unless it is trusted."""
        from agent_hooks.trust.project_files import CLAUDE

        found = self.project.findings
        if not self._claude_settings:
            found = tuple(finding for finding in found if not finding.path.endswith(CLAUDE))
        return [finding.replace(blocks=finding.blocks and self.is_trusted) for finding in found]

    @property
    def finding(self) -> ConfigFinding | None:
        """The finding about a project whose hooks are not active."""
        from agent_hooks.system.visible import visible
        from agent_hooks.trust.trust_store import how_to_trust

        reads = self.reads
        has_hooks = bool(self.project.confs) or any(read.part not in (b"", b"{}") for read in reads)
        if self.standing.status in ("trusted", "empty") or not (has_hooks or self._had_hooks):
            return None
        root, gates = visible(self.project.root), self.project.replace(reads=reads).gates
        plugins = dict.fromkeys(name for read in reads for name in read.settings.get("tables", ()))
        tables = [f"[{visible(name)}]" for name in plugins]
        parts = [{1: "1 gate"}.get(gates, f"{gates} gates")] if gates else []
        if tables:
            parts.append(f"the settings {', '.join(tables[:_MAX_CHANGES])}")
        subject = " and ".join(parts) or "the hooks"
        is_one = gates == 1 and not tables
        problem = f"{subject[0].upper()}{subject[1:]} {'is' if is_one else 'are'} not active in the project {root}"
        if self.standing.status == "changed":
            changes = self.standing.changes
            more = [f"{len(changes) - _MAX_CHANGES} more."] if len(changes) > _MAX_CHANGES else []
            listed = " ".join((*changes[:_MAX_CHANGES], *more)).rstrip(".")
            why, option = f"files changed since they were trusted: {listed}", "--diff"
        else:
            why, option = "nobody has trusted its files", "--show"
        if self.standing.findings:  # the record is unreliable
            broken = self.standing.findings[0]
            why = f"it cannot be told whether they are trusted: {str(broken).rstrip('.')}"
            return ConfigFinding(kind="untrusted", path=root, message=f"{problem}, because {why}.")
        remedy = f"Look with {how_to_trust(self.project.root, option)}, then type {how_to_trust(self.project.root)}."
        return ConfigFinding(kind=self.standing.status, path=root, message=f"{problem}, because {why}.", remedy=remedy)

    def load(self) -> Iterable[ReadFile]:
        """Return the files if they are trusted, else none."""
        return self.reads if self.is_trusted else ()

    @property
    def reads(self) -> tuple[ReadFile, ...]:
        """The files, trusted or not."""
        reads = self.project.reads
        return reads if self._claude_settings else tuple(read for read in reads if not is_claude_settings(read))

    @property
    def protected(self) -> tuple[str, ...]:
        """The absolute paths of all files in this and in earlier trusted manifests."""
        known = (os.path.join(self.project.root, path) for path in self.standing.known)
        return tuple(dict.fromkeys((*self.project.protected, *known)))

    @property
    def _had_hooks(self) -> bool:
        """Whether an earlier manifest had hooks."""
        from agent_hooks.trust.project_files import CLAUDE, kind_of

        left_out = () if self._claude_settings else CLAUDE
        known = self.standing.known
        return any(kind_of(path) in ("settings", "hookconf") and not path.endswith(left_out) for path in known)


def user_sources() -> list[TomlSource]:
    """Return the user's own files: one, or two if the environment names another folder than the account's."""
    return [TomlSource("user", folder) for folder in config_dirs()]


def user_claude_sources() -> list[ClaudeSource]:
    """Return the user's own settings of Claude Code: one source, or two as in ``user_sources``."""
    first = claude_dir()
    own = os.path.join(account_home(), ".claude")
    is_other = uses_account() and os.path.isabs(own) and os.path.realpath(own) != os.path.realpath(first)
    return [ClaudeSource("user", folder) for folder in (first, *([own] if is_other else []))]


def choose_folder(managed: Iterable[ReadFile]) -> None:
    """Set the folder of the user's configuration from ``config_dir`` of the machine's files."""
    for file in managed:
        if "config_dir" in file.settings:
            folder = str(file.settings["config_dir"])
            home = account_home()
            choose_config_dir(os.path.join(home, folder[2:]) if folder[:2] == "~/" and home else folder)


def _claude_managed_dir() -> str:
    if sys.platform == "darwin":
        return "/Library/Application Support/ClaudeCode"
    return r"C:\Program Files\ClaudeCode" if sys.platform == "win32" else "/etc/claude-code"


def _claude_plugins(file: ReadFile) -> Iterator[ReadFile]:
    """Read the hooks of the Claude Code plugins that a file of ours names, by folder."""
    from agent_hooks.formats.claude.settings import read_claude

    above = os.path.dirname(file.path)
    named = file.settings.get("claude_plugins", ())
    roots = {os.path.normpath(os.path.join(above, os.path.expanduser(folder))): folder for folder in named}
    for root, folder in roots.items():
        path = os.path.join(root, "hooks", "hooks.json")
        data = _bytes_of(path, file.source)
        if data is None:
            problem = f"claude_plugins names {folder!r}, but there is no {path}."
            line = file.lines.get(("claude_plugins",), 0)
            data = ReadFile.unreadable(problem, "Correct or remove the name.", line, path=file.path, source=file.source)
        if isinstance(data, ReadFile):
            yield data
        else:
            yield read_claude(data, path=path, source=file.source, directory=root, plugin_root=root)


def _bytes_of(path: str, source: str, *, is_code: bool = False) -> bytes | ReadFile | None:
    """Return the content of a file, None for a missing one, or a ``ReadFile`` with a finding for an unusable one.

    ``is_code``: also the user's own counts only if nobody else can write it.
    """
    try:
        data, status = read_with_status(path, _MAX_BYTES)
        if source == "managed" and (place := _other_writer(path)):
            remedy = "Let it belong to root, and let nobody else write it or a folder above it."
            problem = f"It does not count, because somebody other than root can change {place}."
            return ReadFile.unreadable(problem, remedy, path=path, source=source)
        if source != "managed" and is_code and (place := _other_writer(path, os.geteuid())):
            return _changeable(path, place, source)
        if source == "user" and status.st_mode & stat.S_IWOTH and os.name != "nt":
            return _changeable(path, path, source)
        return data
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        remedy = "Make it a file that can be read, or remove it."
        problem = f"It cannot be read: {error.strerror or error}."
        return ReadFile.unreadable(problem, remedy, path=path, source=source)


def _changeable(path: str, place: str, source: str) -> ReadFile:
    """Return the finding about a file of the user that somebody else can change at ``place``."""
    from shlex import quote

    is_foreign = os.lstat(place).st_uid not in (0, os.geteuid())
    command = f"sudo chown -h {os.geteuid()} {quote(place)}" if is_foreign else f"chmod go-w {quote(place)}"
    problem = f"It does not count, because somebody else can change {place}."
    return ReadFile.unreadable(problem, f"Look at it, then type: {command}.", path=path, source=source)


def _other_writer(path: str, owner: int = 0) -> str:
    """Return the place at which others than root and ``owner`` could write or replace a file, an empty string if there
    is none.
    """
    if os.name == "nt":  # it has no such permissions
        return ""
    for each in places_of(path):
        status = os.stat(each)
        owners = {status.st_uid, os.lstat(each).st_uid} if os.path.islink(each) else {status.st_uid}
        # In a folder with the sticky bit, such as /tmp, nobody can replace the files of others.
        is_sticky = stat.S_ISDIR(status.st_mode) and status.st_mode & stat.S_ISVTX
        is_open = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not is_sticky
        is_roots = status.st_gid == 0 and not status.st_mode & stat.S_IWOTH
        if not owners <= {0, owner} or (is_open and not is_roots):
            return each
    return ""
