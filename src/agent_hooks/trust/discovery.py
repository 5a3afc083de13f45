"""Reads the files of a project and every file that they refer to."""

from __future__ import annotations

import os
import stat
from errno import EFBIG, EINVAL

from agent_hooks.errors import SettingsError
from agent_hooks.formats.findings import ConfigFinding
from agent_hooks.model.values import FrozenDict, Value
from agent_hooks.system.digests import sha256_hex
from agent_hooks.system.folders import read_regular, read_with_status
from agent_hooks.system.paths import is_below

from .manifest import ConfFile, ManifestFile, Project
from .project_files import CLAUDE, PYPROJECT, SKILL, kind_of, relative_to
from .search import Search

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from agent_hooks.formats.entry import HookEntry
    from agent_hooks.formats.read_file import ReadFile

MAX_BYTES = 1024 * 1024
MAX_SCRIPT_BYTES = 64 * MAX_BYTES


def discover(
    root: str | os.PathLike[str],
    *,
    near: Iterable[str] | None = None,
    known: Iterable[str] = (),
    tables: Mapping[str, bytes] = FrozenDict(),
) -> Project:
    """Return the hooks and settings of the project at ``root``.

    Without ``near`` all of its folders are searched except version control, caches, environments, installed packages
    and nested projects (with a ``.git``); linked folders are not followed. With ``near``, only the folders on the way
    to these paths and to ``known`` are searched, which is enough for one event. ``known``: the paths of earlier
    manifests. The folders of their hooks stay part of the project: turning one into a repository or an environment does
    not remove its hooks. ``TrustStore.discover`` passes these paths. ``tables``: by path, the canonical bytes of the
    trusted table of a ``pyproject.toml``, used while the file is not valid TOML.

    The user's own ``.claude`` is no part of the project that contains it.
    """
    known = tuple(known)
    reader = _Reader(os.path.realpath(root), tables)
    search = Search(reader.root, known, reader.note)
    found = search.everywhere() if near is None else search.on_the_way((*near, *known))
    for path in sorted(found, key=_outer_first):
        if not search.is_users(path):
            reader.take(path)
    return reader.project()


def _outer_first(path: str) -> tuple[list[str], str]:
    folders, _, name = path.rpartition("/")
    return (folders.split("/") if folders else []), name


class _RefusedError(Exception):
    """A problem of a file, with its remedy."""

    def __init__(self, kind: str, problem: str, remedy: str) -> None:
        super().__init__(problem)
        self.kind = kind
        self.path = ""
        self.remedy = remedy


class _Bytes(Value):
    """A file that was read: its bytes, permission bits, real path and foreign owner."""

    data: bytes
    mode: int
    real: str
    owner: str


class _Reader:
    """Reads the files of one project."""

    def __init__(self, root: str, tables: Mapping[str, bytes]) -> None:
        self.root = root
        self._tables = tables
        self._owner = _foreign_owner(os.stat(root)) if os.path.isdir(root) else ""
        self.files: dict[tuple[str, str], ManifestFile] = {}
        self.reads: list[ReadFile] = []
        self.skills: list[ReadFile] = []
        self.confs: list[ConfFile] = []
        self.findings: list[ConfigFinding] = []
        self._contents: dict[str, _Bytes] = {}

    def project(self) -> Project:
        """Return the project."""
        found = {name: tuple(getattr(self, name)) for name in ("reads", "skills", "confs", "findings")}
        return Project(root=self.root, files=tuple(self.files.values()), **found)

    def note(self, kind: str, path: str, message: str, remedy: str, **fields: Any) -> None:
        """Add a finding about a file, once."""
        found = ConfigFinding(kind=kind, path=path, message=message, remedy=remedy, **fields)
        if found not in self.findings:
            self.findings.append(found)

    # -- files -----------------------------------------------------------------------------------------------------

    def take(self, path: str) -> None:
        """Read the file at a relative path and the files that it refers to."""
        kind = kind_of(path)
        absolute = os.path.join(self.root, path)
        take = {"hookconf": self._take_conf, "skill": self._take_skill}.get(kind, self._take_settings)
        try:
            take(path, self._bytes(absolute))
        except _RefusedError as error:
            # The hooks of a skill are live only after it is registered, which reports the same problem.
            self.note(error.kind, absolute, str(error), error.remedy, blocks=kind != "skill")

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
            from agent_hooks.formats.claude.settings import read_claude

            folder = os.path.dirname(folder)
            self._keep(read_claude(read.data, path=absolute, source="project", project_dir=folder), path, read, folder)
            return
        is_pyproject = path.endswith(PYPROJECT)
        if is_pyproject and not _may_be_ours(read.data):
            return
        from agent_hooks.formats.toml import read_toml, read_trusted_table

        settings = None
        if is_pyproject and path in self._tables:
            settings = read_trusted_table(read.data, self._tables[path], path=absolute, project_dir=self.root)
        settings = settings or read_toml(
            read.data, path=absolute, source="project", pyproject=is_pyproject, project_dir=self.root
        )
        if settings is None:
            return
        self._keep(settings, path, read, folder)
        for named in settings.settings.get("claude_plugins", ()):
            self._take_claude_plugin(named, settings, folder)

    def _take_claude_plugin(self, named: str, by: ReadFile, folder: str) -> None:
        from agent_hooks.formats.claude.settings import read_claude

        root = os.path.normpath(os.path.join(folder, named))
        path = os.path.join(root, "hooks", "hooks.json")
        if not os.path.lexists(path):
            message, remedy = f"claude_plugins names {named!r}, but there is no {path}.", "Correct or remove the name."
            self.note("unreadable", by.path, message, remedy, line=by.lines.get(("claude_plugins",), 0), blocks=True)
            return
        try:
            read = self._bytes(path)
        except _RefusedError as error:
            self.note(error.kind, path, str(error), error.remedy, blocks=True)
            return
        folders = {"project_dir": self.root, "directory": root, "plugin_root": root}
        found = read_claude(read.data, path=path, source="project", **folders)
        self._keep(found, relative_to(self.root, path), read, folder)

    def _take_skill(self, path: str, read: _Bytes) -> None:
        if b"hooks" not in read.data or not read.data.removeprefix(b"\xef\xbb\xbf").startswith(b"---"):
            return
        from agent_hooks.formats.skill_files import read_skill

        absolute = os.path.join(self.root, path)
        is_skill = path.rpartition("/")[2] == SKILL
        found = read_skill(read.data, path=absolute, project_dir=self.root, kind="skill" if is_skill else "agent")
        if found.part or found.findings:
            self._keep(found, path, read, self.root, kind="skill")

    def _keep(self, read: ReadFile, path: str, read_bytes: _Bytes, folder: str, kind: str = "settings") -> None:
        """Add a parsed file; hooks of a file in an inner folder are live below that folder."""
        scope = None if folder == self.root else ("directory", folder, self.root)
        entries = [made for entry in read.entries if (made := self._with_scripts(entry)) is not None]
        entries = [entry.replace(root=self.root, scope=entry.scope or scope) for entry in entries]
        kept = read.replace(entries=tuple(entries))
        (self.skills if kind == "skill" else self.reads).append(kept)
        if read.part not in (b"", b"{}"):
            self._add(os.path.join(self.root, path), kind, read_bytes, read.part)

    def _add(self, path: str, kind: str, read: _Bytes, part: bytes, *, keep: bool = True) -> None:
        """Add a file to the manifest. ``keep``: with its part, and not only with the digest of this."""
        name, real = relative_to(self.root, path), relative_to(self.root, read.real)
        self.files[name, kind] = ManifestFile(
            path=name,
            kind=kind,
            mode=read.mode,
            owner=read.owner or self._owner,
            sha256=sha256_hex(part),
            real="" if real == name else real,
            part=part if keep else b"",
        )

    # -- scripts -----------------------------------------------------------------------------------------------------

    def _with_scripts(self, entry: HookEntry) -> HookEntry | None:
        """Return the entry with the digests of its scripts, None if one of them cannot be trusted."""
        if entry.type != "command":
            return entry
        from .scripts import HookCommand

        facts = {"line": entry.line, "event": str(entry.event), "matcher": entry.matcher, "blocks": True}
        try:
            command = HookCommand(entry)
        except SettingsError as error:
            self.note("not-honoured", entry.path, str(error), "Put it into a script.", **facts)
            return None
        self.findings += command.findings()
        # An empty digest matches no file, so a missing script cannot run when it appears later.
        scripts = dict.fromkeys(command.missing(), "")
        try:
            scripts |= {path: digest for path in command.scripts() if (digest := self._script(path))}
            needed = command.needed_files(self._read_script)
            scripts |= {path: self._script(path) for path in needed if path not in scripts}
        except _RefusedError as error:
            message = f"The command needs {error.path}. {error}"
            self.note(error.kind, entry.path, message, error.remedy, **facts)
            return None
        return entry.replace(scripts=FrozenDict(scripts)) if scripts else entry

    def _script(self, path: str) -> str:
        """Add a script to the manifest and return its digest, an empty string for a program outside the project."""
        name, real = relative_to(self.root, path), os.path.realpath(path)
        if (name, "script") not in self.files:
            if not is_below(real, self.root) and _is_large(real):
                # Only the target of the link is pinned: an environment's `python`, for example.
                self.files[name, "script"] = ManifestFile(path=name, kind="script", mode=0, sha256="", real=real)
            else:
                data = self._read_script(path)
                self._add(path, "script", self._contents[path], data, keep=len(data) <= MAX_BYTES)
        return self.files[name, "script"].sha256

    def _read_script(self, path: str) -> bytes:
        """Return the content of a script. Raises ``_RefusedError``."""
        if path not in self._contents:
            try:
                self._contents[path] = _bytes_of(os.path.realpath(path), MAX_SCRIPT_BYTES)
            except _RefusedError as error:
                error.path = path
                raise
        return self._contents[path].data

    # -- modules of hooks --------------------------------------------------------------------------------------------

    def _take_conf(self, path: str, read: _Bytes) -> None:
        """Take a ``hookconf.py`` and the modules that it names, and those that they name."""
        first = os.path.join(self.root, path)
        directory = os.path.dirname(first)
        self._add(first, "hookconf", read, read.data)
        waiting = [(first, read)]
        seen = {first}
        for source, found in waiting:  # the loop appends to it
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
        from agent_hooks.formats.hookconf import NAMED_MODULES, named_modules

        if NAMED_MODULES.encode() not in code:
            return ()
        try:
            return named_modules(code)
        except SettingsError as error:
            self.note("not-honoured", path, str(error), "Write the names out in a list.", blocks=True)
            return ()


def may_have_hooks(path: str) -> bool:
    """Whether a file that a search has found may have settings or hooks: not a ``pyproject.toml`` without our table."""
    try:
        return not path.endswith(PYPROJECT) or _may_be_ours(read_regular(path, MAX_BYTES))
    except OSError:
        return True


def _may_be_ours(pyproject: bytes) -> bool:
    """Whether a pyproject.toml may have our table or a misspelt one; most have none, and need no parser."""
    text = pyproject.lower()
    headers = [line.translate(None, b"[ \t\"'") for line in text.splitlines() if line.lstrip().startswith(b"[")]
    return b"agent_hooks" in text or any(b"agent" in line or line.startswith(b"hooks.") for line in headers)


def _is_large(path: str) -> bool:
    try:
        return os.stat(path).st_size > MAX_BYTES
    except OSError:
        return False


def _bytes_of(real: str, limit: int) -> _Bytes:
    """Read a regular file at a real path. Raises ``_RefusedError``."""
    try:
        data, status = read_with_status(real, limit)
    except OSError as error:
        is_usable = error.errno not in (EINVAL, EFBIG)
        kind, remedy = ("unreadable", "Make it readable") if is_usable else ("not-honoured", "Put another in its place")
        raise _RefusedError(
            kind, f"It cannot be read: {error.strerror or error}.", f"{remedy}, or remove it."
        ) from error
    return _Bytes(data=data, mode=stat.S_IMODE(status.st_mode), real=real, owner=_foreign_owner(status))


def _foreign_owner(status: os.stat_result) -> str:
    """Return the user that could change what is there beside this one and the system, as git looks for one."""
    return "" if os.name == "nt" or status.st_uid in (0, os.geteuid()) else str(status.st_uid)
