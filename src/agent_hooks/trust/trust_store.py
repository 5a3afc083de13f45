"""Trust: what somebody has looked at and let run, down to the byte, in the user's own folder.

A project's hooks run only while its manifest is exactly the one that was trusted. Nothing here asks anybody.
"""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager
from hashlib import sha256

from agent_hooks.errors import TrustError
from agent_hooks.formats.findings import ConfigFinding
from agent_hooks.model.values import Value
from agent_hooks.system.folders import config_dir, config_dirs, sync_folder, write_whole
from agent_hooks.system.paths import real_path
from agent_hooks.system.visible import visible

from .discovery import discover
from .manifest import ManifestFile, digest_of
from .project_files import PYPROJECT, project_root

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    from agent_hooks.formats.read_file import ReadFile

    from .manifest import Project

# How many manifests of a project count: those of the branches that somebody works on.
KEPT = 5
_VERSION = 2
# Whom Linux names as the owner of what belongs to a user that a user namespace does not have: in many a sandbox, root.
_UNMAPPED = 65534


class TrustStatus(Value):
    """How a project stands: ``trusted``, ``untrusted`` (nobody has ever trusted it), ``changed`` (not as it was
    trusted) or ``empty`` (there is nothing to trust).

    ``digest``: the project's now. ``changes``: what is not as in the nearest manifest that was trusted, in sentences.
    ``known``: the paths of all manifests that were trusted. ``findings``: why the store cannot be relied on.
    """

    status: str
    digest: str
    changes: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    findings: tuple[ConfigFinding, ...] = ()


class _Manifest(Value):
    """A trusted manifest; read from a record, its files have no parts."""

    digest: str
    files: tuple[ManifestFile, ...]


class _UnreliableError(Exception):
    """A record that does not count, with its remedy."""

    def __init__(self, path: str, problem: str, remedy: str) -> None:
        super().__init__(problem)
        self.path = path
        self.remedy = remedy


class TrustStore:
    """What was trusted, one file for each project, safe for any number of processes and for those that are killed.

    Of each project the last five manifests count, so that going from one branch to another asks nobody twice.
    ``folder``: where (default: ``trust`` in the user's configuration folder); it and its files are made when first
    needed, for their owner only. A record that somebody else can change, or that is damaged, does not count.
    """

    # A file is a line of facts, which is all that an event needs, and a line for each part of a file, for the diff.

    def __init__(self, folder: str | os.PathLike[str] | None = None) -> None:
        self._folder = os.path.abspath(folder) if folder is not None else ""

    @property
    def folder(self) -> str:
        """Where records are written. Raises ``SettingsError`` if there is no home folder for them."""
        return self._folder or os.path.join(config_dir(), "trust")

    @property
    def _folders(self) -> tuple[str, ...]:
        """Where records count, see ``config_dirs``."""
        return (self._folder,) if self._folder else tuple(os.path.join(folder, "trust") for folder in config_dirs())

    def examine(self, root: str | os.PathLike[str], near: Iterable[str] | None = None) -> tuple[Project, TrustStatus]:
        """Return the project at ``root`` and its trust status; an unreliable record is not trusted."""
        trusted, findings = self._look(os.path.realpath(root))
        project = discover(root, near=near, known=_paths(trusted))
        standing = _standing(project, trusted, findings)
        if standing.status == "changed" and (broken := _broken_pyprojects(project)):
            # All else may be as it was trusted: then the table that was trusted holds until somebody has repaired it.
            for manifest in self._whole(project.root):
                tables = {file.path: file.part for file in manifest.files if file.path in broken}
                restored = discover(root, near=near, known=_paths(trusted), tables=tables)
                if restored.digest == manifest.digest:
                    return restored, _standing(restored, trusted, findings)
        return project, standing

    def discover(self, root: str | os.PathLike[str], near: Iterable[str] | None = None) -> Project:
        """Return the project at ``root``, with folders that would not be searched if they were not trusted."""
        return self.examine(root, near)[0]

    def standing(self, project: Project) -> TrustStatus:
        """Return the trust status of ``project``; an unreliable record is not trusted."""
        return _standing(project, *self._look(project.root))

    def has_record(self, root: str | os.PathLike[str]) -> bool:
        """Whether somebody has trusted the project at ``root``, also if the record of it does not count any more."""
        return any(os.path.lexists(self._path(real_path(os.fspath(root)), folder)) for folder in self._folders)

    def known(self, root: str | os.PathLike[str]) -> tuple[str, ...]:
        """Return the paths of all manifests that were trusted, none if there is no record that counts."""
        return _paths(self._look(os.path.realpath(root))[0])

    def trust(self, project: Project, digest: str | None = None) -> str:
        """Let ``project`` run as it was found, and return its digest; what was trusted before counts on.

        With ``digest`` only if it is this one. Raises ``TrustError`` if it is another one, if there is nothing to
        trust, or if it cannot be written down.
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
                # Before the folder is made fit: if others could write it until now, nothing in it counts.
                earlier = [manifest for manifest in self._whole(project.root) if manifest.digest != found]
                self._make_folder()
                newest = _Manifest(digest=found, files=project.files)
                write_whole(self._path(project.root), _written(project.root, [newest, *earlier][:KEPT]))
        except _UnreliableError as error:
            raise TrustError(f"Not trusted, because it would not count: {error.path}: {error} {error.remedy}") from None
        except OSError as error:
            raise TrustError(
                f"Not trusted: {self.folder} cannot be written ({error.strerror or error}). It must belong to you; "
                "AGENT_HOOKS_CONFIG_DIR names another folder."
            ) from error
        return found

    def untrust(self, root: str | os.PathLike[str]) -> bool:
        """Forget a project; return whether there was a record. Raises ``TrustError`` if it stays."""
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
        """Return what is not as in the nearest manifest that was trusted, as a unified diff that shows every character
        that a terminal would hide; all of it if nothing was trusted.
        """
        from difflib import unified_diff

        from .differences import facts_of, lines_of

        trusted = self._whole(project.root)
        files = _nearest(trusted, project).files if trusted else ()
        before = {(file.path, file.kind): file for file in files}
        after = {(file.path, file.kind): file for file in project.files}
        lines: list[str] = []
        for key in sorted(before.keys() | after.keys()):
            old, new = before.get(key), after.get(key)
            if old is not None and new is not None and old.facts == new.facts:
                continue
            path = visible(key[0])
            lines.append(f"--- {path if old else '/dev/null'} {facts_of(old)}".rstrip())
            lines.append(f"+++ {path if new else '/dev/null'} {facts_of(new)}".rstrip())
            lines += list(unified_diff(lines_of(old), lines_of(new), lineterm=""))[2:]
        return "".join(f"{line}\n" for line in lines)

    # -- the files ---------------------------------------------------------------------------------------------------

    def _path(self, root: str, folder: str = "") -> str:
        return os.path.join(folder or self.folder, f"{sha256(os.fsencode(root)).hexdigest()}.jsonl")

    def _look(self, root: str) -> tuple[tuple[_Manifest, ...], tuple[ConfigFinding, ...]]:
        """Return the trusted manifests of ``root``, newest first, and findings about unreliable records."""
        trusted: tuple[_Manifest, ...] = ()
        findings: tuple[ConfigFinding, ...] = ()
        for folder in self._folders:
            try:
                trusted += self._trusted(root, folder)
            except _UnreliableError as error:
                found = ConfigFinding(kind="trust-store", path=error.path, message=str(error), remedy=error.remedy)
                findings = (*findings, found)
        return trusted, findings

    def _whole(self, root: str) -> tuple[_Manifest, ...]:
        """Return the trusted manifests of ``root`` with the bytes of the files, none if unreliable."""
        try:
            return self._trusted(root, parts=True)
        except _UnreliableError:
            return ()

    def _trusted(self, root: str, folder: str = "", *, parts: bool = False) -> tuple[_Manifest, ...]:
        """Return the trusted manifests of ``root``, newest first. Raises ``_UnreliableError``."""
        import json

        path = self._path(root, folder)
        again = f"Type {how_to_trust(root)} again."
        try:
            with open(path, "rb", opener=_only_ours) as file:
                facts = json.loads(file.readline())
                if facts["version"] != _VERSION:
                    problem = "Another version of agent-hooks has written this record of what was trusted."
                    raise _UnreliableError(path, problem, again)
                trusted = _manifests_from(facts, root)
                return _with_parts(trusted, file.read()) if parts else trusted
        except FileNotFoundError:
            return ()
        except OSError as error:
            problem = f"It cannot be read: {error.strerror or error}."
            raise _UnreliableError(path, problem, "Make it a file that you can read.") from None
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise _UnreliableError(path, f"This record of what was trusted is damaged: {error}.", again) from None

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Lock the store: a concurrent writer must not restore a forgotten project."""
        from filelock import FileLock

        os.makedirs(os.path.dirname(self.folder), mode=0o700, exist_ok=True)
        with FileLock(f"{self.folder}.lock", mode=0o600):
            yield

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
    """Return the root of the project of a file: the one that it was trusted in, should there be another by now."""
    folder = os.path.realpath(os.path.dirname(path))
    root = above = project_root(folder)
    while (above := os.path.dirname(above)) != os.path.dirname(above):
        relative = os.path.relpath(os.path.join(folder, os.path.basename(path)), above).replace(os.sep, "/")
        if relative in store.known(above):
            root = above
    return root


def trusted_skill(path: str | os.PathLike[str], store: TrustStore | None = None) -> ReadFile:
    """Return the file of a skill or an agent as it was trusted, its scripts with their digests. Raises ``TrustError``
    as ``trusted_project`` does, and if it is not part of the manifest.
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
    """Return the command that trusts a project, or with ``options`` the one that shows it."""
    from shlex import quote

    return f"`{' '.join(('agent-hooks trust', *options, quote(visible(root))))}`"


# -- a record ----------------------------------------------------------------------------------------------------------


def _written(root: str, trusted: list[_Manifest]) -> bytes:
    import json
    from base64 import b64encode

    manifests = [{"digest": each.digest, "files": [file.facts for file in each.files]} for each in trusted]
    facts = {"version": _VERSION, "root": root, "trusted": manifests}
    parts = {file.sha256: file.part for each in trusted for file in each.files if file.part}
    lines = [json.dumps(facts).encode(), *map(b64encode, parts.values())]
    return b"".join(line + b"\n" for line in lines)


def _manifests_from(facts: Mapping[str, Any], root: str) -> tuple[_Manifest, ...]:
    """Parse the first line of a record. Raises ``ValueError``, ``TypeError`` or ``KeyError``."""
    if facts["root"] != root:
        raise ValueError("it is that of another project")
    return tuple(_manifest_from(each, root) for each in facts["trusted"])


def _manifest_from(facts: Mapping[str, Any], root: str) -> _Manifest:
    files = tuple(
        ManifestFile(path=path, kind=kind, mode=mode, real=real, sha256=digest)
        for path, kind, mode, real, digest in facts["files"]
    )
    if facts["digest"] != digest_of(root, files):
        raise ValueError("its digest is not that of what it holds")
    return _Manifest(digest=facts["digest"], files=files)


def _with_parts(trusted: Iterable[_Manifest], data: bytes) -> tuple[_Manifest, ...]:
    """Return the manifests with the bytes of their files, as far as these are whole."""
    from base64 import b64decode

    parts = {sha256(part).hexdigest(): part for part in map(b64decode, data.split(b"\n"))}
    return tuple(
        each.replace(files=tuple(file.replace(part=parts.get(file.sha256, b"")) for file in each.files))
        for each in trusted
    )


def _only_ours(path: str, flags: int) -> int:
    """Open a record that nobody but we can have written. Raises ``_UnreliableError``."""
    descriptor = os.open(path, flags | getattr(os, "O_NOFOLLOW", 0))
    try:
        _check_owner(path, os.fstat(descriptor))
        _check_folders(os.path.dirname(path))
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _check_folders(folder: str) -> None:
    """Raise ``_UnreliableError`` if somebody else could put a file into ``folder``, or another folder in its place."""
    folder = os.path.realpath(folder)
    _check_owner(folder, os.stat(folder))
    while (above := os.path.dirname(folder)) != folder:
        folder = above
        # Where each user has a group of their own, home folders are often open to it.
        _check_owner(folder, os.stat(folder), stat.S_IWOTH, (_UNMAPPED,))


def _check_owner(
    path: str, status: os.stat_result, writable: int = stat.S_IWGRP | stat.S_IWOTH, also: tuple[int, ...] = ()
) -> None:
    """Raise ``_UnreliableError`` if somebody else than we and the system could change ``path``."""
    if os.name == "nt":  # whose permissions are not these
        return
    remedy = "Nothing counts as trusted until it belongs to you and nobody else can write it; then trust again."
    if status.st_uid not in (0, os.geteuid(), *also):
        raise _UnreliableError(path, f"It belongs to somebody else (user {status.st_uid}).", remedy)
    # In a folder like /tmp, with the sticky bit, nobody can replace what belongs to another.
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

        changes = tuple(changes_between(_nearest(trusted, project).files, project.files))
    else:
        status = "untrusted" if project.files else "empty"
    return TrustStatus(status=status, digest=digest, changes=changes, known=_paths(trusted), findings=findings)


def _broken_pyprojects(project: Project) -> set[str]:
    """Return the paths, relative to the root, of those that are no TOML."""
    from agent_hooks.formats.toml import is_unreadable

    broken = (read.path for read in project.reads if read.path.endswith(PYPROJECT) and is_unreadable(read))
    return {os.path.relpath(path, project.root).replace(os.sep, "/") for path in broken}


def _paths(trusted: Iterable[_Manifest]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(file.path for manifest in trusted for file in manifest.files))


def _nearest(trusted: Iterable[_Manifest], project: Project) -> _Manifest:
    """Return the manifest that differs least from the present files, of several the newest."""
    now = {tuple(file.facts) for file in project.files}
    return min(trusted, key=lambda manifest: len(now ^ {tuple(file.facts) for file in manifest.files}))
