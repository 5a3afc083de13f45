"""Paths as file systems take them: one spelling for all that may name the same file; and the text of a file."""

from __future__ import annotations

import os

from agent_hooks.model.tools import file_of_address
from agent_hooks.system.paths import expanded, real_path

_MAX_READ = 1024 * 1024  # characters


def forms_of(path: str, cwd: str) -> tuple[str, ...]:
    """Return ``path`` as it is written and with its links resolved, absolute, each as ``spelled``."""
    path = path.partition("\0")[0].strip()  # C code would end it there too
    path = os.path.join(cwd, expanded(_with_variables(file_of_address(path) or path)))
    written, real = os.path.abspath(path), real_path(path)
    return (spelled(written),) if written == real else (spelled(written), spelled(real))


def _with_variables(path: str) -> str:
    try:
        return os.path.expandvars(path)
    except ValueError:  # no name of a variable
        return path


def spelled(path: str) -> str:
    """Return the one spelling of all that some file system takes for the same path.

    Case, compatible and invisible characters (as Git's CVE-2014-9390 had them), dots and blanks at the end of a name,
    alternate data streams, and backslashes make no difference on one or the other.
    """
    if not path.isascii():
        from unicodedata import category, normalize

        path = "".join(character for character in normalize("NFKC", path) if category(character) != "Cf")
    names = path.casefold().replace("\\", "/").split("/")
    return "/".join([name.partition(":")[0].rstrip(". ") for name in names])


def read_text(path: str, cwd: str = "") -> str:
    """Return the text of a file, as far as it is one; an empty string if there is none."""
    path = os.path.join(cwd, expanded(path))
    try:
        if not os.path.isfile(path):  # a pipe or a terminal would be waited for
            return ""
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(_MAX_READ)
    except (OSError, ValueError):
        return ""
