"""The hooks of a project as values, and the manifest, which a trust covers."""

from __future__ import annotations

import os
from hashlib import sha256

from agent_hooks.model.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent_hooks.formats.findings import ConfigFinding
    from agent_hooks.formats.read_file import ReadFile


class ManifestFile(Value):
    """One file that a trust is about.

    ``path``: relative to the root with slashes, absolute outside it. ``kind``: ``settings``, ``skill``, ``hookconf``,
    ``module`` (named by a ``hookconf.py``), ``script`` (also the modules that one imports from its own folder) or
    ``folder`` (one that bears the name of an imported module). ``mode``: the permission bits. ``real``: where the path
    leads if it is a link, written like ``path``. ``sha256``: of ``part``, the bytes that have a meaning here, which are
    all but for settings and skills. The part of a script above 1 MiB is not kept, and of a program of that size to
    which a link leads out of the project only the place counts.
    """

    path: str
    kind: str
    mode: int
    sha256: str
    real: str = ""
    part: bytes = b""

    @property
    def facts(self) -> list[str | int]:
        """All fields but the bytes themselves."""
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
        from agent_hooks.formats.hookconf import count_gates

        entries = (entry for read in self.reads for entry in read.entries)
        decide = sum(not (entry.event.observe_only or entry.is_async or entry.mode == "observe") for entry in entries)
        return decide + sum(count_gates(conf.code) for conf in self.confs)

    @property
    def protected(self) -> tuple[str, ...]:
        """The absolute paths of all files, their link targets in the project, and missing scripts."""
        paths = [os.path.join(self.root, file.path) for file in self.files]
        paths += [
            os.path.join(self.root, file.real) for file in self.files if file.real and not os.path.isabs(file.real)
        ]
        entries = (entry for read in (*self.reads, *self.skills) for entry in read.entries)
        paths += [path for entry in entries for path in entry.scripts]
        return tuple(dict.fromkeys(paths))

    @property
    def python_scripts(self) -> tuple[str, ...]:
        """The absolute paths of the scripts in Python, and of the modules that they import from their own folders."""
        return tuple(
            os.path.join(self.root, file.path)
            for file in self.files
            if file.kind == "script" and (file.path.endswith((".py", ".pyw")) or _starts_python(file.part))
        )


def _starts_python(script: bytes) -> bool:
    return script.startswith(b"#!") and b"python" in script.partition(b"\n")[0]


def digest_of(root: str, files: Iterable[ManifestFile]) -> str:
    """Return the digest of a project, see ``Project.digest``."""
    import json

    facts = [root, *sorted(file.facts for file in files)]
    return f"sha256:{sha256(json.dumps(facts).encode()).hexdigest()}"
