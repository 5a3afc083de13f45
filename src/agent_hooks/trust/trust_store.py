"""The trust store: the manifests that the user has reviewed and allowed to run, in the user's own folder.

A project's hooks run only while its manifest is exactly the trusted one. Nothing here prompts the user.
"""

from __future__ import annotations

import os
import stat

from agent_hooks.errors import TrustError
from agent_hooks.formats.findings import ConfigFinding
from agent_hooks.model.values import Value
from agent_hooks.system.digests import sha256_hex
from agent_hooks.system.folders import config_dir, config_dirs, sync_folder, write_whole
from agent_hooks.system.paths import folders_above, real_path
from agent_hooks.system.quick_json import dumps, loads
from agent_hooks.system.visible import visible

from .discovery import discover
from .manifest import ManifestFile, digest_of
from .project_files import PYPROJECT, project_root, record_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from filelock import BaseFileLock

    from agent_hooks.formats.read_file import ReadFile

    from .manifest import Project

# How many manifests of a project count, so that switching branches needs no new trust.
KEPT = 5
_VERSION = 2
# The owner that Linux reports for files of users outside a user namespace; in many sandboxes that is root.
_UNMAPPED = 65534


class TrustStatus(Value):
    """The trust status of a project: ``trusted``, ``untrusted`` (never trusted), ``changed`` (since it was trusted) or
    ``empty`` (nothing to trust).

    ``digest``: the project's present digest. ``changes``: the differences from the nearest trusted manifest, in
    sentences. ``known``: the paths of all trusted manifests. ``findings``: problems with the store's records.
    """

    status: str
    digest: str
    changes: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    findings: tuple[ConfigFinding, ...] = ()


class _Manifest(Value):
    """A trusted manifest. Its files have no parts unless they were requested."""

    digest: str
    files: tuple[ManifestFile, ...]


class _UnreliableError(Exception):
    """Raised for a record that does not count."""

    def __init__(self, path: str, problem: str, remedy: str) -> None:
        self.finding = ConfigFinding(kind="trust-store", path=path, message=problem, remedy=remedy)


class TrustStore:
    """The trusted manifests, one file for each project; safe with concurrent and killed processes.

    The last five manifests of a project count, so that switching branches needs no new trust. ``folder``: the folder of
    the records (default: ``trust`` in the user's configuration folder), created when first needed, readable for the
    owner only. A record that is damaged, or that somebody else can change, does not count.
    """

    # A record has one line of facts, enough for an event, and one line for each part of a file, for the diff.

    def __init__(self, folder: str | os.PathLike[str] | None = None) -> None:
        self._folder = os.path.abspath(folder) if folder is not None else ""

    @property
    def folder(self) -> str:
        """The folder for new records. Raises ``SettingsError`` if there is no home folder."""
        return self._folder or os.path.join(config_dir(), "trust")

    @property
    def _folders(self) -> tuple[str, ...]:
        """The folders whose records count, see ``config_dirs``."""
        return (self._folder,) if self._folder else tuple(os.path.join(folder, "trust") for folder in config_dirs())

    def examine(self, root: str | os.PathLike[str], near: Iterable[str] | None = None) -> tuple[Project, TrustStatus]:
        """Return the project at ``root`` and its trust status; an unreliable record is not trusted."""
        trusted, findings = self._look(os.path.realpath(root))
        project = discover(root, near=near, known=_paths(trusted))
        standing = _standing(project, trusted, findings)
        if standing.status == "changed" and (broken := _broken_pyprojects(project)):
            # If everything else is as it was trusted, the trusted table holds until the file is repaired.
            for manifest in self._whole(project.root):
                tables = {file.path: file.part for file in manifest.files if file.path in broken}
                restored = discover(root, near=near, known=_paths(trusted), tables=tables)
                if restored.digest == manifest.digest:
                    return restored, _standing(restored, trusted, findings)
        return project, standing

    def discover(self, root: str | os.PathLike[str], near: Iterable[str] | None = None) -> Project:
        """Return the project at ``root``, with folders that are searched only because they were trusted."""
        return self.examine(root, near)[0]

    def standing(self, project: Project) -> TrustStatus:
        """Return the trust status of ``project``; an unreliable record is not trusted."""
        return _standing(project, *self._look(project.root))

    def has_record(self, root: str | os.PathLike[str]) -> bool:
        """Whether the project at ``root`` was ever trusted, even if its record does not count any more."""
        paths = [self._path(real_path(os.fspath(root)), folder) for folder in self._folders]
        return any(map(os.path.lexists, paths))

    def known(self, root: str | os.PathLike[str]) -> tuple[str, ...]:
        """Return the paths of all trusted manifests of the project at ``root``."""
        return _paths(self._look(os.path.realpath(root))[0])

    def trust(self, project: Project, digest: str | None = None) -> str:
        """Trust ``project`` as it was found and return its digest. Earlier manifests still count.

        Raises ``TrustError`` if ``digest`` is given and differs, if there is nothing to trust, or if the record cannot
        be written.
        """
        found = project.digest
        if digest is not None and digest != found:
            raise TrustError(
                f"Not trusted: {visible(project.root)} has the digest {found}, not {digest}. Look at it again."
            )
        if not project.files:
            raise TrustError(f"There is nothing to trust in {visible(project.root)}: no hooks were found.")
        try:
            with self._alone():
                # Before its permissions are repaired: records in a folder that others could write do not count.
                earlier = [manifest for manifest in self._whole(project.root) if manifest.digest != found]
                self._make_folder()
                newest = _Manifest(digest=found, files=project.files)
                write_whole(self._path(project.root), _written(project.root, [newest, *earlier][:KEPT]))
        except _UnreliableError as error:
            raise TrustError(f"Not trusted, because it would not count: {error.finding}") from None
        except OSError as error:
            raise TrustError(
                f"Not trusted: {self.folder} cannot be written ({error.strerror or error}). It must belong to you; "
                "AGENT_HOOKS_CONFIG_DIR names another folder."
            ) from error
        return found

    def untrust(self, root: str | os.PathLike[str]) -> bool:
        """Forget a project and return whether it had a record. Raises ``TrustError`` if a record cannot be removed."""
        paths = [self._path(os.path.realpath(root), folder) for folder in self._folders]
        paths = [path for path in paths if os.path.lexists(path)]
        for path in paths:
            try:
                with self._alone():
                    os.unlink(path)
                    sync_folder(os.path.dirname(path))
            except FileNotFoundError:
                continue
            except OSError as error:
                raise TrustError(f"{path} cannot be removed: {error.strerror or error}. Remove it yourself.") from error
        return bool(paths)

    def diff(self, project: Project) -> str:
        """Return the unified diff from the nearest trusted manifest, or from nothing, with every character that a
        terminal would hide made visible.
        """
        from difflib import unified_diff

        from .differences import differing, facts_of, lines_of

        lines: list[str] = []
        for path, old, new in differing(_nearest(self._whole(project.root), project), project.files):
            lines.append(f"--- {path if old else '/dev/null'} {facts_of(old)}".rstrip())
            lines.append(f"+++ {path if new else '/dev/null'} {facts_of(new)}".rstrip())
            lines += list(unified_diff(lines_of(old), lines_of(new), lineterm=""))[2:]
        return "".join(f"{line}\n" for line in lines)

    # -- the files ---------------------------------------------------------------------------------------------------

    def _path(self, root: str, folder: str = "") -> str:
        return os.path.join(folder or self.folder, record_name(root))

    def _look(self, root: str) -> tuple[tuple[_Manifest, ...], tuple[ConfigFinding, ...]]:
        """Return the trusted manifests of ``root``, newest first, and findings about unreliable records."""
        trusted: tuple[_Manifest, ...] = ()
        findings: tuple[ConfigFinding, ...] = ()
        for folder in self._folders:
            try:
                trusted += self._trusted(root, folder)
            except _UnreliableError as error:
                findings += (error.finding,)
        return trusted, findings

    def _whole(self, root: str) -> tuple[_Manifest, ...]:
        """Return the trusted manifests of ``root`` with the bytes of the files, none if unreliable."""
        try:
            return self._trusted(root, parts=True)
        except _UnreliableError:
            return ()

    def _trusted(self, root: str, folder: str = "", *, parts: bool = False) -> tuple[_Manifest, ...]:
        """Return the trusted manifests of ``root``, newest first. Raises ``_UnreliableError``."""
        path = self._path(root, folder)
        again = f"Type {how_to_trust(root)} again."
        try:
            with open(path, "rb", opener=_only_ours) as file:
                facts = loads(file.readline().decode())
                if facts["version"] != _VERSION:
                    problem = "Another version of agent-hooks has written this record of what was trusted."
                    raise _UnreliableError(path, problem, again)
                if facts["root"] != root:
                    raise ValueError("it is that of another project")
                trusted = tuple(_manifest_from(each, root) for each in facts["trusted"])
                return _with_parts(trusted, file.read()) if parts else trusted
        except FileNotFoundError:
            return ()
        except OSError as error:
            problem = f"It cannot be read: {error.strerror or error}."
            raise _UnreliableError(path, problem, "Make it a file that you can read.") from None
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise _UnreliableError(path, f"This record of what was trusted is damaged: {error}.", again) from None

    def _alone(self) -> BaseFileLock:
        """Return the lock of the store: a concurrent writer must not restore a forgotten project."""
        from filelock import FileLock

        os.makedirs(os.path.dirname(self.folder), mode=0o700, exist_ok=True)
        return FileLock(f"{self.folder}.lock", mode=0o600)

    def _make_folder(self) -> None:
        folder = self.folder
        os.makedirs(folder, mode=0o700, exist_ok=True)
        if os.name != "nt" and stat.S_IMODE(os.stat(folder).st_mode) != 0o700:
            os.chmod(folder, 0o700)
        _check_folders(folder)


def trusted_project(path: str | os.PathLike[str], store: TrustStore | None = None) -> Project:
    """Return the trusted project of a file. Raises ``TrustError`` with the command to type."""
    store = store or TrustStore()
    path = os.path.abspath(path)
    root = _root_of(path, store)
    project, standing = store.examine(root, near=(path,))
    if standing.status == "trusted":
        return project
    why = " ".join(standing.changes or map(str, standing.findings)) or "Nobody has trusted what is there."
    raise TrustError(f"{visible(path)} may not be used. {why} Look at it, then type {how_to_trust(root)}.")


def _root_of(path: str, store: TrustStore) -> str:
    """Return the root of the project in which a file was trusted, else the root of its present project."""
    folder = os.path.realpath(os.path.dirname(path))
    root = inner = project_root(folder)
    for above in folders_above(inner):
        relative = os.path.relpath(os.path.join(folder, os.path.basename(path)), above).replace(os.sep, "/")
        if relative in store.known(above):
            root = above
    return root


def trusted_skill(path: str | os.PathLike[str], store: TrustStore | None = None) -> ReadFile:
    """Return the trusted file of a skill or an agent, with the digests of its scripts.

    Raises ``TrustError`` if its project is not trusted or does not contain it.
    """
    project = trusted_project(path, store)
    real = os.path.realpath(path)
    for read in project.skills:
        if real == os.path.realpath(read.path):
            return read
    raise TrustError(
        f"{visible(os.path.abspath(path))} is not covered by {how_to_trust(project.root)}: that looks at what has "
        "hooks, of skills at every SKILL.md, of agents at .claude/agents/*.md."
    )


def how_to_trust(root: str, *options: str) -> str:
    """Return the command line that trusts a project, with ``options`` the one that shows it."""
    from shlex import quote

    return f"`{' '.join(('agent-hooks trust', *options, quote(visible(root))))}`"


# -- a record ----------------------------------------------------------------------------------------------------------


def _written(root: str, trusted: list[_Manifest]) -> bytes:
    from base64 import b64encode

    manifests = [{"digest": each.digest, "files": [file.facts for file in each.files]} for each in trusted]
    facts = {"version": _VERSION, "root": root, "trusted": manifests}
    parts = {file.sha256: file.part for each in trusted for file in each.files if file.part}
    lines = [dumps(facts).encode(), *map(b64encode, parts.values())]
    return b"".join(line + b"\n" for line in lines)


def _manifest_from(facts: Mapping[str, Any], root: str) -> _Manifest:
    """Parse one manifest of a record. Raises ``ValueError``, ``TypeError`` or ``KeyError``."""
    files = tuple(
        ManifestFile(path=path, kind=kind, mode=mode, real=real, sha256=digest, owner="".join(owner))
        for path, kind, mode, real, digest, *owner in facts["files"]
    )
    if facts["digest"] != digest_of(root, files):
        raise ValueError("its digest is not that of what it holds")
    return _Manifest(digest=facts["digest"], files=files)


def _with_parts(trusted: Iterable[_Manifest], data: bytes) -> tuple[_Manifest, ...]:
    """Return the manifests with the bytes of their files, as far as these are undamaged."""
    from base64 import b64decode

    parts = {sha256_hex(part): part for part in map(b64decode, data.split(b"\n"))}
    return tuple(
        each.replace(files=tuple(file.replace(part=parts.get(file.sha256, b"")) for file in each.files))
        for each in trusted
    )


def _only_ours(path: str, flags: int) -> int:
    """Open a record that only this user can have written. Raises ``_UnreliableError``."""
    descriptor = os.open(path, flags | getattr(os, "O_NOFOLLOW", 0))
    try:
        _check_owner(path, os.fstat(descriptor))
        _check_folders(os.path.dirname(path))
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _check_folders(folder: str) -> None:
    """Raise ``_UnreliableError`` if somebody else could write to ``folder`` or replace it."""
    folder = os.path.realpath(folder)
    _check_owner(folder, os.stat(folder))
    for above in folders_above(folder):
        # On systems with one group per user, home folders are often writable for the group.
        _check_owner(above, os.stat(above), stat.S_IWOTH, (_UNMAPPED,))


def _check_owner(
    path: str, status: os.stat_result, writable: int = stat.S_IWGRP | stat.S_IWOTH, also: tuple[int, ...] = ()
) -> None:
    """Raise ``_UnreliableError`` if anybody but this user and the system could change ``path``."""
    if os.name == "nt":  # it has no such permissions
        return
    remedy = "Nothing counts as trusted until it belongs to you and nobody else can write it; then trust again."
    if status.st_uid not in (0, os.geteuid(), *also):
        raise _UnreliableError(path, f"It belongs to somebody else (user {status.st_uid}).", remedy)
    # In a folder with the sticky bit, such as /tmp, nobody can replace the files of others.
    if status.st_mode & writable and not status.st_mode & stat.S_ISVTX:
        raise _UnreliableError(path, f"Others can write it (mode {stat.S_IMODE(status.st_mode):04o}).", remedy)


# -- differences -----------------------------------------------------------------------------------------------------


def _standing(project: Project, trusted: tuple[_Manifest, ...], findings: tuple[ConfigFinding, ...]) -> TrustStatus:
    digest = project.digest
    changes: tuple[str, ...] = ()
    if any(manifest.digest == digest for manifest in trusted):
        status = "trusted"
    elif trusted:
        status = "changed"
        from .differences import changes_between

        changes = tuple(changes_between(_nearest(trusted, project), project.files))
    else:
        status = "untrusted" if project.files else "empty"
    return TrustStatus(status=status, digest=digest, changes=changes, known=_paths(trusted), findings=findings)


def _broken_pyprojects(project: Project) -> set[str]:
    """Return the relative paths of the pyproject.toml files that are not valid TOML."""
    from agent_hooks.formats.toml import is_unreadable

    broken = (read.path for read in project.reads if read.path.endswith(PYPROJECT) and is_unreadable(read))
    return {os.path.relpath(path, project.root).replace(os.sep, "/") for path in broken}


def _paths(trusted: Iterable[_Manifest]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(file.path for manifest in trusted for file in manifest.files))


def _nearest(trusted: Iterable[_Manifest], project: Project) -> tuple[ManifestFile, ...]:
    """Return the files of the manifest that differs least from the present files, the newest of several."""
    now = {tuple(file.facts) for file in project.files}
    files = (manifest.files for manifest in trusted)
    return min(files, key=lambda files: len(now ^ {tuple(file.facts) for file in files}), default=())
