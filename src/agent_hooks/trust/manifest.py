"""The hooks of a project as values, and the manifest, which is the object of trust."""

from __future__ import annotations

import os

from agent_hooks.model.values import Value
from agent_hooks.system.digests import sha256_hex
from agent_hooks.system.quick_json import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent_hooks.formats.findings import ConfigFinding
    from agent_hooks.formats.read_file import ReadFile


class ManifestFile(Value):
    """One file of a manifest.

    ``path``: relative to the root with slashes, absolute outside it. ``kind``: ``settings``, ``skill``, ``hookconf``,
    ``module`` (named by a ``hookconf.py``) or ``script`` (with the modules that it imports from its own folder).
    ``mode``: the permission bits. ``owner``: the user to whom it, or the project's folder, belongs, unless that is this
    user or the system. ``real``: the target of a link, written like ``path``. ``part``: the bytes that take
    effect, of settings and skills only the relevant keys. ``sha256``: the digest of ``part``. The part of a script
    above 1 MiB is not kept; of a program of that size outside the project only the path counts.
    """

    path: str
    kind: str
    mode: int
    sha256: str
    real: str = ""
    part: bytes = b""
    owner: str = ""

    @property
    def facts(self) -> list[str | int]:
        """All fields but the bytes themselves."""
        return [self.path, self.kind, self.mode, self.real, self.sha256, *([self.owner] if self.owner else [])]


class ConfFile(Value):
    """A ``hookconf.py``, or a module that one names: hooks for the events below ``directory``.

    ``name``: the name of its plugin: the path of the ``hookconf.py``, and after a colon the relative path of the
    module. ``path``: the file. ``code``: its bytes. ``modules``: the names in its ``agent_hooks_plugins``.
    """

    name: str
    path: str
    directory: str
    code: bytes
    modules: tuple[str, ...] = ()


class Project(Value):
    """The hooks and settings found in the project at ``root``, a real path.

    ``files``: its manifest. ``reads``: its parsed settings files. ``skills``: the files of skills and agents with
    hooks, which are live only after registration. ``confs``: its modules of hooks, outer folders first. ``findings``:
    the problems of the project, besides those in ``reads``.
    """

    root: str
    files: tuple[ManifestFile, ...] = ()
    reads: tuple[ReadFile, ...] = ()
    skills: tuple[ReadFile, ...] = ()
    confs: tuple[ConfFile, ...] = ()
    findings: tuple[ConfigFinding, ...] = ()

    @property
    def digest(self) -> str:
        """``sha256:…`` of the root and of the facts of all files in sorted order."""
        return digest_of(self.root, self.files)

    @property
    def gates(self) -> int:
        """The number of hooks that can decide, without those of skills."""
        from agent_hooks.formats.hookconf import count_gates

        entries = (entry for read in self.reads for entry in read.entries)
        decide = sum(not (entry.event.observe_only or entry.is_async or entry.mode == "observe") for entry in entries)
        return decide + sum(count_gates(conf.code) for conf in self.confs)

    @property
    def protected(self) -> tuple[str, ...]:
        """The absolute paths of all files, their link targets in the project, and missing scripts."""
        links = [file.real for file in self.files if file.real and not os.path.isabs(file.real)]
        paths = [os.path.join(self.root, path) for path in (*(file.path for file in self.files), *links)]
        entries = (entry for read in (*self.reads, *self.skills) for entry in read.entries)
        return tuple(dict.fromkeys((*paths, *(path for entry in entries for path in entry.scripts))))

    @property
    def python_scripts(self) -> tuple[str, ...]:
        """The absolute paths of Python scripts and of the modules that they import from their own folders."""
        return tuple(
            os.path.join(self.root, file.path)
            for file in self.files
            if file.kind == "script" and is_python_script(file.path, file.part)
        )


def is_python_script(path: str, code: bytes) -> bool:
    """Whether a file is a Python script, by its name or its first line."""
    first = code.partition(b"\n")[0]
    return path.endswith((".py", ".pyw")) or (first[:2] == b"#!" and (b"python" in first or b"pypy" in first))


def digest_of(root: str, files: Iterable[ManifestFile]) -> str:
    """Return the digest of a manifest, see ``Project.digest``."""
    facts = [root, *sorted(file.facts for file in files)]
    return f"sha256:{sha256_hex(dumps(facts).encode())}"
