"""What a project brings: its settings, ``hookconf.py`` files and skills, and the scripts that they run, read as bytes.

Nothing of a project is imported or run here, and nothing outside it is taken for a part of it.
"""

from __future__ import annotations

import os
import stat
from hashlib import sha256

from .config.findings import ConfigFinding
from .errors import SettingsError
from .values import FrozenDict, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from .config.source import ReadFile
    from .handlers.entry import HookEntry

MAX_BYTES = 1024 * 1024
MAX_SCRIPT_BYTES = 64 * MAX_BYTES
MAX_FOLDERS = 100_000

HOOKCONF = "hookconf.py"
TOML = "agent-hooks.toml"
PYPROJECT = "pyproject.toml"
NAMED_MODULES = "agent_hooks_plugins"  # the list in a hookconf.py
SKILL = "SKILL.md"
CLAUDE = (".claude/settings.json", ".claude/settings.local.json")
# What is looked for in every folder.
NAMES = (TOML, PYPROJECT, *CLAUDE, HOOKCONF, SKILL)
_AGENTS = (".claude", "agents")

# Whose files are not the project's own: version control, installed packages, caches.
LEFT_OUT = frozenset(
    {".git", ".hg", ".svn", ".jj", "node_modules", "site-packages", "__pycache__", "__pypackages__", ".tox", ".nox"}
    | {".eggs", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis"}
)
# A folder with one of these is an environment, or a project of its own.
_NOT_OURS = ("pyvenv.cfg", "conda-meta", ".git")

# What makes a folder the root of a project; the first kind goes before the second.
_MARKS = ((".git",), (TOML, HOOKCONF, PYPROJECT, *CLAUDE))

# What would be one of our files where upper and lower case are the same.
_SPELLINGS = {name.rpartition("/")[2].lower(): name for name in (TOML, *CLAUDE, HOOKCONF)}


class ManifestFile(Value):
    """One file that a trust is about.

    ``path``: relative to the root with slashes, absolute outside it. ``kind``: ``settings``, ``skill``, ``hookconf``,
    ``module`` (named by a ``hookconf.py``) or ``script``. ``mode``: the permission bits. ``real``: where the path leads
    if it is a link, written like ``path``. ``sha256``: of ``part``, the bytes that have a meaning here, which are all
    but for settings and skills. The part of a script above 1 MiB is not kept, and of a program of that size to which a
    link leads out of the project only the place counts.
    """

    path: str
    kind: str
    mode: int
    sha256: str
    real: str = ""
    part: bytes = b""

    @property
    def facts(self) -> list[str | int]:
        """What must not change: everything but the bytes themselves."""
        return [self.path, self.kind, self.mode, self.real, self.sha256]


class ConfFile(Value):
    """A ``hookconf.py``, or a module that one names: hooks for the events below ``directory``.

    ``name``: what its plugin is called: the path of the ``hookconf.py``, and that of the module from there behind a
    colon. ``path``: the file. ``code``: its bytes. ``modules``: what it names in
    ``agent_hooks_plugins``.
    """

    name: str
    path: str
    directory: str
    code: bytes
    modules: tuple[str, ...] = ()


class Project(Value):
    """What was found in the project at ``root``, a real path.

    ``files``: all that a trust is about. ``reads``: its settings files, and ``skills``: the files of skills and agents
    that have hooks, which are live only while these are. ``confs``: its modules of hooks, outer folders first.
    ``findings``: what cannot be taken as it is; the reads have their own.
    """

    root: str
    files: tuple[ManifestFile, ...] = ()
    reads: tuple[ReadFile, ...] = ()
    skills: tuple[ReadFile, ...] = ()
    confs: tuple[ConfFile, ...] = ()
    findings: tuple[ConfigFinding, ...] = ()

    @property
    def digest(self) -> str:
        """``sha256:…`` of the root and of the facts of all files, in whatever order they were found."""
        return digest_of(self.root, self.files)

    @property
    def gates(self) -> int:
        """How many hooks would decide, those of skills left out."""
        from .hookconfs import count_gates

        entries = (entry for read in self.reads for entry in read.entries)
        decide = sum(not (entry.event.observe_only or entry.is_async or entry.mode == "observe") for entry in entries)
        return decide + sum(count_gates(conf.code) for conf in self.confs)

    @property
    def protected(self) -> tuple[str, ...]:
        """The absolute paths of all files, and of what they lead to inside the project."""
        paths = [os.path.join(self.root, file.path) for file in self.files]
        paths += [
            os.path.join(self.root, file.real) for file in self.files if file.real and not os.path.isabs(file.real)
        ]
        return tuple(dict.fromkeys(paths))


def digest_of(root: str, files: Iterable[ManifestFile]) -> str:
    """Return the digest of a project, see ``Project.digest``."""
    import json

    facts = [root, *sorted(file.facts for file in files)]
    return f"sha256:{sha256(json.dumps(facts).encode()).hexdigest()}"


def project_root(directory: str | os.PathLike[str]) -> str:
    """Return the real path of the root of the project that ``directory`` is in.

    The nearest folder with ``.git``, else the nearest with one of our files or a ``pyproject.toml``, else ``directory``
    itself. The home folder, what is above it, ``/`` and folders like ``/tmp``, where everybody may put things, are
    roots only if they are ``directory``.
    """
    start = os.path.realpath(directory)
    folders = [start, *_folders_above(start)]
    for names in _MARKS:
        for folder in folders:
            if any(_is_mark(folder, name) for name in names):
                return folder
    return start


def is_marked(folder: str) -> bool:
    """Whether something in ``folder`` says that a project is there, and not just any folder.

    The user's own settings of Claude Code do not: they are of all projects.
    """
    return any(_is_mark(folder, name) for names in _MARKS for name in names)


def _is_mark(folder: str, name: str) -> bool:
    path = os.path.join(folder, name)
    return os.path.lexists(path) and not (name in CLAUDE and _is_users_claude(os.path.dirname(path)))


def _is_users_claude(folder: str) -> bool:
    """Whether a ``.claude`` is the folder of the user's own settings, which are read as these."""
    from .config.sources import claude_dir

    try:
        users = claude_dir()
    except SettingsError:  # whoever reads them says so
        return False
    return bool(users) and os.path.realpath(folder) == os.path.realpath(users)


def _folders_above(start: str) -> Iterator[str]:
    home = os.path.realpath(os.path.expanduser("~"))
    folder = start
    while folder != home:
        folder, below = os.path.dirname(folder), folder
        if folder in (home, below) or os.path.dirname(folder) == folder:
            return
        if not _is_anybodys(folder):
            yield folder


def _is_anybodys(folder: str) -> bool:
    try:
        mode = os.stat(folder).st_mode
    except OSError:
        return False
    return bool(mode & stat.S_ISVTX and mode & stat.S_IWOTH)


def discover(root: str | os.PathLike[str], *, near: Iterable[str] | None = None, known: Iterable[str] = ()) -> Project:
    """Return what the project at ``root`` brings.

    Without ``near`` all of its folders are searched, but for version control, caches, environments, installed packages,
    and projects of their own (with a ``.git``); linked folders are not followed. With ``near``, only those on the way
    to these paths and to ``known``: what a single event needs. ``known``: the paths of an earlier manifest. The folders
    of its hooks stay the project's own: making a repository or an environment of one takes no hooks out of it.
    ``TrustStore.discover`` knows these paths.

    The user's own ``.claude`` is no part of the project that it lies in.
    """
    known = tuple(known)
    search = _Search(os.path.realpath(root), known)
    found = search.everywhere() if near is None else search.on_the_way((*near, *known))
    for path in sorted(found, key=_outer_first):
        if not search.is_users(path):
            search.take(path)
    return search.project()


def kind_of(path: str) -> str:
    """Return what a path with slashes would be in a project: ``settings``, ``hookconf``, ``skill`` or an empty
    string.
    """
    folders, _, name = path.rpartition("/")
    if name == HOOKCONF:
        return "hookconf"
    if name in (TOML, PYPROJECT) or f"/{path}".endswith(tuple(f"/{each}" for each in CLAUDE)):
        return "settings"
    is_agent = name.endswith(".md") and tuple(folders.split("/")[-2:]) == _AGENTS
    return "skill" if name == SKILL or is_agent else ""


def _outer_first(path: str) -> tuple[list[str], str]:
    folders, _, name = path.rpartition("/")
    return (folders.split("/") if folders else []), name


class _RefusedError(Exception):
    """What is wrong with a file, and what to do about it."""

    def __init__(self, kind: str, problem: str, remedy: str) -> None:
        super().__init__(problem)
        self.kind = kind
        self.remedy = remedy


class _Bytes:
    """A file that was read: its bytes, permission bits and real path."""

    __slots__ = ("data", "mode", "real")

    def __init__(self, data: bytes, mode: int, real: str) -> None:
        self.data = data
        self.mode = mode
        self.real = real


class _Search:
    """One search through one project."""

    def __init__(self, root: str, known: Iterable[str] = ()) -> None:
        self.root = root
        self.known_folders = {folder for path in known if kind_of(path) for folder in _folders_of(path)}
        self.files: dict[tuple[str, str], ManifestFile] = {}
        self.reads: list[ReadFile] = []
        self.skills: list[ReadFile] = []
        self.confs: list[ConfFile] = []
        self.findings: list[ConfigFinding] = []
        self._scripts: dict[str, str] = {}
        self._names: dict[str, frozenset[str]] = {}
        self._noted: set[tuple[str, str]] = set()

    def project(self) -> Project:
        """Return what was found."""
        return Project(
            root=self.root,
            files=tuple(self.files.values()),
            reads=tuple(self.reads),
            skills=tuple(self.skills),
            confs=tuple(self.confs),
            findings=tuple(self.findings),
        )

    def note(self, kind: str, path: str, message: str, remedy: str, **fields: Any) -> None:
        """Say something about a file, once."""
        found = ConfigFinding(kind=kind, path=path, message=message, remedy=remedy, **fields)
        facts = found.id, str(found)
        if facts not in self._noted:
            self._noted.add(facts)
            self.findings.append(found)

    # -- where to look -----------------------------------------------------------------------------------------------

    def everywhere(self) -> list[str]:
        """Return the relative paths of all files of ours in the tree."""
        found: list[str] = []
        waiting = [self.root]
        for searched, folder in enumerate(waiting):  # grows as it goes: outer folders first
            if searched == MAX_FOLDERS:
                message = f"It has more than {MAX_FOLDERS} folders; hooks in the innermost are not found."
                self.note("unreadable", self.root, message, "Work in the project itself, not in a folder of projects.")
                break
            inside, ours, names = self._listed(folder)
            if self._is_own(self.relative(folder) if folder != self.root else "", names.__contains__):
                waiting += inside
                found += self._ours_among(folder, ours)
        return found

    def _listed(self, folder: str) -> tuple[list[str], list[str], set[str]]:
        """Return the folders in ``folder`` to search, the names that may be ours, and all names."""
        try:
            with os.scandir(folder) as listing:
                entries = list(listing)
        except OSError as error:
            message = f"The folder cannot be searched for hooks: {error.strerror or error}."
            self.note("unreadable", folder, message, "Make it readable, or ignore this if there are none.")
            # It may be possible to enter it all the same.
            there = [name for name in (*NAMES, *_NOT_OURS) if os.path.lexists(os.path.join(folder, name))]
            return [], there, set(there)
        inside: list[str] = []
        ours: list[str] = []
        for entry in entries:
            name = entry.name
            if entry.is_dir(follow_symlinks=False):
                if name not in LEFT_OUT:
                    inside.append(entry.path)
            elif name.lower() in _SPELLINGS or name.endswith((".md", PYPROJECT)):
                ours.append(name)
            elif name == ".claude":  # a link: what it leads to is looked at, not searched
                ours += [each for each in CLAUDE if os.path.lexists(os.path.join(folder, each))]
        return inside, ours, {entry.name for entry in entries}

    def _is_own(self, folder: str, has: Callable[[str], bool]) -> bool:
        """Whether a folder, relative to the root, is the project's own; ``has``: whether something is in it."""
        name = folder.rpartition("/")[2]
        if name in LEFT_OUT:
            return False
        # Claude Code reads the settings of a folder whatever else there is.
        return not folder or name == ".claude" or folder in self.known_folders or not any(map(has, _NOT_OURS))

    def is_users(self, path: str) -> bool:
        """Whether a file, relative to the root, is in the user's own folder of Claude Code."""
        above, claude, _ = f"/{path}".partition("/.claude/")
        return bool(claude) and _is_users_claude(os.path.join(self.root, above[1:], ".claude"))

    def _ours_among(self, folder: str, names: list[str]) -> Iterator[str]:
        for name in names:
            path = os.path.join(folder, name)
            relative = self.relative(path)
            if kind_of(relative):
                yield relative
            elif name != (meant := _SPELLINGS.get(name.lower(), name)) and kind_of(self._spelt(relative, meant)):
                self._misspelt(path, meant)

    @staticmethod
    def _spelt(path: str, name: str) -> str:
        """Return ``path`` as it would be in the spelling of ``name``."""
        depth = name.count("/") + 1
        is_alike = path.lower().split("/")[-depth:] == name.split("/")
        return "/".join((*path.split("/")[:-depth], name)) if is_alike else ""

    def _misspelt(self, path: str, name: str) -> None:
        message = f"It is not read, because its name is not written {name}."
        self.note("misspelt", path, message, f"Rename it to {name}, or to something else.")

    def on_the_way(self, paths: Iterable[str]) -> list[str]:
        """Return the relative paths at which files of ours are in the folders on the way to ``paths``."""
        folders: dict[str, bool] = {"": True}
        found: dict[str, None] = {}
        for path in paths:
            if "\0" in path:
                continue
            given = os.path.join(self.root, path)
            for each in {os.path.normpath(given), os.path.realpath(given)}:
                if not is_below(each, self.root) or each == self.root:
                    continue
                folder = ""
                for part in self.relative(each).split("/"):
                    folder = f"{folder}/{part}" if folder else part
                    if folder not in folders:
                        folders[folder] = self._is_own_folder(folder)
                    if not folders[folder]:
                        if kind_of(folder):
                            found[folder] = None
                        break
        for folder in (folder for folder, is_ours in folders.items() if is_ours):
            for name in NAMES:
                found[f"{folder}/{name}" if folder else name] = None
        return [path for path in found if self._is_there(path)]

    def _is_own_folder(self, folder: str) -> bool:
        """Whether there is such a folder, and the project's own."""
        path = os.path.join(self.root, folder)
        try:
            is_folder = stat.S_ISDIR(os.lstat(path).st_mode)
        except OSError:
            return False
        return is_folder and self._is_own(folder, lambda name: os.path.lexists(os.path.join(path, name)))

    def _is_there(self, path: str) -> bool:
        """Whether there is such a file, under exactly this name: a file system may take another spelling for it."""
        absolute = os.path.join(self.root, path)
        try:
            if stat.S_ISDIR(os.lstat(absolute).st_mode):
                return False
        except OSError:
            return False
        folder = self.root
        for part in path.split("/"):
            names = self._names.get(folder)
            if names is None:
                try:
                    names = frozenset(os.listdir(folder))
                except OSError:  # it can be entered, but not listed
                    names = frozenset({part})
                self._names[folder] = names
            folder = os.path.join(folder, part)
            if part not in names:
                if folder == absolute:
                    self._misspelt(absolute, part)
                return False
        return True

    # -- reading -----------------------------------------------------------------------------------------------------

    def take(self, path: str) -> None:
        """Read the file at a relative path and all that it refers to."""
        kind = kind_of(path)
        absolute = os.path.join(self.root, path)
        # The hooks of a skill are live only while it is, and registering it says what is wrong.
        blocks = kind != "skill"
        try:
            read = self._bytes(absolute)
            if kind == "hookconf":
                self._take_conf(path, read)
            elif kind == "skill":
                self._take_skill(path, read)
            else:
                self._take_settings(path, read)
        except _RefusedError as error:
            self.note(error.kind, absolute, str(error), error.remedy, blocks=blocks)

    def _bytes(self, path: str, limit: int = MAX_BYTES) -> _Bytes:
        """Read a regular file in the project. Raises ``_RefusedError``."""
        real = os.path.realpath(path)
        if not is_below(real, self.root):
            problem = f"It does not count, because it leads out of the project, to {real}."
            raise _RefusedError("not-honoured", problem, "Put the file itself in its place.")
        return _bytes_of(real, limit)

    def _take_settings(self, path: str, read: _Bytes) -> None:
        absolute = os.path.join(self.root, path)
        folder = os.path.dirname(absolute)
        if path.endswith(CLAUDE):
            from .config.claude import read_claude

            folder = os.path.dirname(folder)
            found = read_claude(read.data, path=absolute, source="project", project_dir=folder, directory=folder)
            self._keep(found, path, read, folder)
            return
        is_pyproject = path.endswith(PYPROJECT)
        if is_pyproject and not _may_be_ours(read.data):
            return
        from .config.toml import read_toml

        settings = read_toml(
            read.data, path=absolute, source="project", pyproject=is_pyproject, project_dir=self.root, directory=folder
        )
        if settings is None:
            return
        self._keep(settings, path, read, folder)
        for plugin in settings.settings.get("claude_plugins", ()):
            self._take_claude_plugin(os.path.normpath(os.path.join(folder, plugin)), plugin, settings, folder)

    def _take_claude_plugin(self, plugin_root: str, named: str, by: ReadFile, folder: str) -> None:
        from .config.claude import read_claude

        path = os.path.join(plugin_root, "hooks", "hooks.json")
        if not os.path.lexists(path):
            message = f"claude_plugins names {named!r}, but there is no {path}."
            self.note("unreadable", by.path, message, "Correct or remove the name.", blocks=True)
            return
        try:
            read = self._bytes(path)
        except _RefusedError as error:
            self.note(error.kind, path, str(error), error.remedy, blocks=True)
            return
        found = read_claude(
            read.data,
            path=path,
            source="project",
            project_dir=self.root,
            directory=plugin_root,
            plugin_root=plugin_root,
        )
        self._keep(found, self.relative(path), read, folder)

    def _take_skill(self, path: str, read: _Bytes) -> None:
        if b"hooks" not in read.data or not read.data.removeprefix(b"\xef\xbb\xbf").startswith(b"---"):
            return
        from .config.skills import read_agent, read_skill

        absolute = os.path.join(self.root, path)
        reader = read_skill if path.rpartition("/")[2] == SKILL else read_agent
        found = reader(read.data, path=absolute, project_dir=self.root, directory=os.path.dirname(absolute))
        if found.entries or found.findings:
            self._keep(found, path, read, self.root, kind="skill")

    def _keep(self, read: ReadFile, path: str, read_bytes: _Bytes, folder: str, kind: str = "settings") -> None:
        """Keep a file that was read; the hooks of one in an inner folder are live below it."""
        scope = None if folder == self.root else ("directory", folder)
        entries = [made for entry in read.entries if (made := self._with_scripts(entry)) is not None]
        entries = [entry if entry.scope or scope is None else entry.replace(scope=scope) for entry in entries]
        kept = read.replace(entries=tuple(entries))
        (self.skills if kind == "skill" else self.reads).append(kept)
        if read.part not in (b"", b"{}"):
            self._add(os.path.join(self.root, path), kind, read_bytes, read.part)

    def _add(self, path: str, kind: str, read: _Bytes, part: bytes, *, keep: bool = True) -> str:
        """Add a file to the manifest and return the digest of its part."""
        name, real = self.relative(path), self.relative(read.real)
        digest = sha256(part).hexdigest()
        self.files[name, kind] = ManifestFile(
            path=name,
            kind=kind,
            mode=read.mode,
            sha256=digest,
            real="" if real == name else real,
            part=part if keep else b"",
        )
        return digest

    # -- scripts -----------------------------------------------------------------------------------------------------

    def _with_scripts(self, entry: HookEntry) -> HookEntry | None:
        """Return the entry with the digests of its scripts, None if one of them cannot be trusted."""
        if entry.type != "command":
            return entry
        from .handlers.scripts import doubts_about, referenced_scripts

        facts = {"line": entry.line, "event": str(entry.event), "matcher": entry.matcher, "blocks": True}
        try:
            paths = referenced_scripts(entry.config, entry)
            doubts = doubts_about(entry.config, entry)
        except SettingsError as error:
            self.note("not-honoured", entry.path, str(error), "Put it into a script.", **facts)
            return None
        self.findings += doubts
        scripts = {}
        for path in paths:
            digest = self._scripts.get(path)
            if digest is None:
                try:
                    digest = self._scripts[path] = self._script(path)
                except _RefusedError as error:
                    message = f"The command needs {path}. {error}"
                    self.note(error.kind, entry.path, message, error.remedy, **facts)
                    return None
            if digest:
                scripts[path] = digest
        return entry.replace(scripts=FrozenDict(scripts)) if scripts else entry

    def _script(self, path: str) -> str:
        """Add a script to the manifest and return its digest, an empty string for a program outside the project."""
        real = os.path.realpath(path)
        if not is_below(real, self.root) and _is_large(real):
            # Only where the link leads is the project's business: an environment's `python`, for example.
            name = self.relative(path)
            self.files[name, "script"] = ManifestFile(path=name, kind="script", mode=0, sha256="", real=real)
            return ""
        read = _bytes_of(real, MAX_SCRIPT_BYTES)
        return self._add(path, "script", read, read.data, keep=len(read.data) <= MAX_BYTES)

    # -- modules of hooks --------------------------------------------------------------------------------------------

    def _take_conf(self, path: str, read: _Bytes) -> None:
        """Take a ``hookconf.py`` and the modules that it names, and those that they name."""
        first = os.path.join(self.root, path)
        directory = os.path.dirname(first)
        self._add(first, "hookconf", read, read.data)
        waiting = [(first, read)]
        seen = {first}
        for source, found in waiting:  # grows as it goes
            modules = self._modules_of(source, found.data)
            name = first if source == first else f"{first}:{os.path.relpath(source, directory)}"
            self.confs.append(ConfFile(name=name, path=source, directory=directory, code=found.data, modules=modules))
            for module in modules:
                target = f"{os.path.join(os.path.dirname(source), *module.split('.'))}.py"
                if target in seen:
                    continue
                seen.add(target)
                try:
                    if not os.path.lexists(target):
                        problem = f"There is no such file, which {module!r} stands for."
                        raise _RefusedError("unreadable", problem, "Correct or remove the name.")
                    inner = self._bytes(target)
                except _RefusedError as error:
                    message = f"agent_hooks_plugins names {target}. {error}"
                    self.note(error.kind, source, message, error.remedy, blocks=True)
                    continue
                self._add(target, "module", inner, inner.data)
                waiting.append((target, inner))

    def _modules_of(self, path: str, code: bytes) -> tuple[str, ...]:
        if NAMED_MODULES.encode() not in code:
            return ()
        from .hookconfs import named_modules

        try:
            return named_modules(code)
        except SettingsError as error:
            self.note("not-honoured", path, str(error), "Write the names out in a list.", blocks=True)
            return ()

    def relative(self, path: str) -> str:
        """Return ``path`` relative to the root, with slashes; unchanged if it is outside."""
        if not is_below(path, self.root):
            return path
        return path[len(os.path.join(self.root, "")) :].replace(os.sep, "/")


def _folders_of(path: str) -> Iterator[str]:
    """Yield the folders that a path with slashes is in, inner ones first."""
    while path := path.rpartition("/")[0]:
        yield path


def _may_be_ours(pyproject: bytes) -> bool:
    """Whether a pyproject.toml may have our table, or one that is meant to be: most have not, and need no reading."""
    if b"agent" not in pyproject.lower():
        return False
    headers = (line for line in pyproject.lower().splitlines() if line.lstrip().startswith(b"["))
    return b"agent_hooks" in pyproject or any(b"agent" in header for header in headers)


def is_below(path: str, folder: str) -> bool:
    """Whether ``path`` is ``folder`` or in it, both absolute."""
    return path == folder or path.startswith(os.path.join(folder, ""))


def _is_large(path: str) -> bool:
    try:
        return os.stat(path).st_size > MAX_BYTES
    except OSError:
        return False


def _bytes_of(real: str, limit: int) -> _Bytes:
    """Read a regular file at a real path. Raises ``_RefusedError``."""
    try:
        # Opening something else, such as a pipe or a device, may wait or do something.
        if not stat.S_ISREG(os.lstat(real).st_mode):
            raise _RefusedError("not-honoured", "It is not a regular file.", "Put a file in its place, or remove it.")
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        descriptor = os.open(real, flags)
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise _RefusedError("not-honoured", "It is not a regular file.", "Put a file in its place.")
            chunks, size = [], 0
            while size <= limit and (chunk := os.read(descriptor, min(limit + 1 - size, MAX_BYTES))):
                chunks.append(chunk)
                size += len(chunk)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise _RefusedError(
            "unreadable", f"It cannot be read: {error.strerror or error}.", "Make it readable, or remove it."
        ) from error
    if size > limit:
        raise _RefusedError("not-honoured", f"It is larger than {limit // MAX_BYTES} MiB.", "Make it smaller.")
    return _Bytes(b"".join(chunks), stat.S_IMODE(status.st_mode), real)
