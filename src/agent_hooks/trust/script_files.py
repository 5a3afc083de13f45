"""Python code and scripts that a command runs, and the files of scripts."""

from __future__ import annotations

import os
import re
import stat
import sys

from .command_programs import Interpreted, is_python, modules_of, run_files
from .command_words import MAX_LENGTH

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from .command_words import CommandWords, Invocation

_MAX_DEPTH = 3  # of scripts that run scripts
# What a package manager looks after changes with every update, and is no part of a project's policy.
SYSTEM_FOLDERS = ("/usr/", "/bin/", "/sbin/", "/lib", "/System/", "/nix/store/", "/opt/homebrew/")
_IMPORT = re.compile(r"\bfrom\s+([\w.]+)\s+import\s+\(?([\w ,]*)|\bimport\s+([\w., ]+)")
# A script that gives code, or a module, to Python.
_RUNS_PYTHON = re.compile(
    r"""(?:sys\.executable|['"](?:python|pypy)[0-9.]*['"])\s*,\s*['"]-[a-zA-Z]*[cm]['"]|python[0-9.]* -[cm] """
)
# Modules of Python's own that run what is not.
_RUN_OTHERS = frozenset("asyncio cProfile code doctest idlelib pdb profile pydoc runpy timeit trace unittest".split())


def content_of(path: str) -> bytes | None:
    """Return the content of a file; None for a pipe or a device, which might never end."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with open(descriptor, "rb") as file:
        return file.read() if stat.S_ISREG(os.fstat(descriptor).st_mode) else None


def python_code_in(
    invocations: Iterable[Invocation], inside: Callable[[str, bytes], CommandWords], starts: list[str], depth: int = 0
) -> tuple[bool, list[str]]:
    """Return whether Python code is run by ``-c``, ``-m`` or standard input, also by scripts that are run, and the
    folders of the Python scripts. ``inside``: parses a shell script.
    """
    has_code, folders = False, []
    for invocation in invocations:
        reading = Interpreted(invocation)
        is_code = reading.code is not None or reading.hears or bool(modules_of(invocation))
        if is_python(invocation.name):
            has_code = has_code or (is_code and not reading.is_safe)
        for argument in run_files(invocation):
            for path in [path for path in paths_of(argument.text or "", starts)[:1] if os.path.isfile(path)]:
                code = b"" if depth > _MAX_DEPTH or is_systems(path) else _readable(path)
                language = "" if b"\0" in code or len(code) > MAX_LENGTH else language_of(path, code)
                if language == "python" or (is_python(invocation.name) and argument is reading.script):
                    folders.append(os.path.dirname(os.path.realpath(path)))
                    has_code = has_code or _RUNS_PYTHON.search(code.decode("utf-8", "replace")) is not None
                elif language == "shell" and b"py" in code:
                    further = python_code_in(inside(path, code).invocations, inside, starts, depth + 1)
                    has_code = has_code or further[0]
                    folders += further[1]
    return has_code, list(dict.fromkeys(folders))


def _readable(path: str) -> bytes:
    try:
        return content_of(path) or b""
    except OSError:
        return b""


def language_of(script: str, code: bytes) -> str:
    """Return ``python`` or ``shell``, an empty string if the script does not show which it is for."""
    line = code.partition(b"\n")[0] if code.startswith(b"#!") else b""
    if script.endswith((".py", ".pyw")) or b"python" in line or b"pypy" in line:
        return "python"
    return "shell" if line or script.endswith((".sh", ".bash", ".zsh")) else ""


def imported_names(code: str) -> Iterator[str]:
    """Yield the names that Python code imports; of names taken from a package, also as modules of it."""
    for package, taken, modules in _IMPORT.findall(code):
        yield from (each.split()[0] for each in modules.split(",") if each.strip())
        if package.strip("."):
            yield package
            yield from (f"{package}.{each.split()[0]}" for each in taken.split(",") if each.strip())


def is_pythons_own(module: str) -> bool:
    """Whether a module is part of Python, and runs nothing that is not."""
    first = module.partition(".")[0]
    return first in sys.stdlib_module_names and first not in _RUN_OTHERS


def is_systems(path: str) -> bool:
    """Whether a file is the system's or a package manager's."""
    return path.startswith(SYSTEM_FOLDERS) or os.path.realpath(path).startswith(SYSTEM_FOLDERS)


def paths_of(word: str, starts: Iterable[str]) -> list[str]:
    """Return the absolute paths that the word may stand for, below each of the folders ``starts``."""
    if not word or "\0" in word:
        return []
    paths = (os.path.normpath(os.path.join(start, os.path.expanduser(word))) for start in dict.fromkeys(starts))
    return [path for path in dict.fromkeys(paths) if os.path.isabs(path)]
