"""What a project brings: its settings, ``hookconf.py`` files and skills, and the scripts that they run, read as bytes.

Nothing of a project is imported or run here, and nothing outside it is taken for a part of it.
"""

from __future__ import annotations

from .manifest import ConfFile, ManifestFile, Project, digest_of
from .places import CLAUDE, NAMED_MODULES, PYPROJECT, is_marked, kind_of, project_root
from .reading import MAX_BYTES, discover

__all__ = [
    "CLAUDE",
    "MAX_BYTES",
    "NAMED_MODULES",
    "PYPROJECT",
    "ConfFile",
    "ManifestFile",
    "Project",
    "digest_of",
    "discover",
    "is_marked",
    "kind_of",
    "project_root",
]
