"""Contents and languages of script files, and the Python code that scripts run."""

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
# Files of a package manager change with every update and are no part of a project's policy.
SYSTEM_FOLDERS = ("/usr/", "/bin/", "/sbin/", "/lib", "/System/", "/nix/store/", "/opt/homebrew/")
_IMPORT = re.compile(r"\bfrom\s+([\w.]+)\s+import\s+\(?([\w ,]*)|\bimport\s+([\w., ]+)")
# A script that runs ``python -c`` or ``python -m``.
_RUNS_PYTHON = re.compile(
    r"""(?:sys\.executable|['"](?:python|pypy)[0-9.]*['"])\s*,\s*['"]-[a-zA-Z]*[cm]['"]|python[0-9.]* -[cm] """
)
# Modules of the standard library that run other code.
_RUN_OTHERS = frozenset("asyncio cProfile code doctest idlelib pdb profile pydoc runpy timeit trace unittest".split())


def content_of(path: str) -> bytes | None:
    """Return the content of a file, None for a pipe or a device, which might never end."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with open(descriptor, "rb") as file:
        return file.read() if stat.S_ISREG(os.fstat(descriptor).st_mode) else None


def python_code_in(
    invocations: Iterable[Invocation], parse: Callable[[str, bytes], CommandWords], starts: list[str], depth: int = 0
) -> tuple[bool, list[str]]:
    """Return whether Python code is run by ``-c``, ``-m`` or stdin, in scripts as well, and the folders of the Python
    scripts. ``parse``: parses a shell script.
    """
    has_code, folders = False, []
    for invocation in invocations:
        reading = Interpreted(invocation)
        is_code = reading.code is not None or reading.takes_input or bool(modules_of(invocation))
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
                    inner_code, inner_folders = python_code_in(parse(path, code).invocations, parse, starts, depth + 1)
                    has_code = has_code or inner_code
                    folders += inner_folders
    return has_code, list(dict.fromkeys(folders))


def _readable(path: str) -> bytes:
    try:
        return content_of(path) or b""
    except OSError:
        return b""


def language_of(script: str, code: bytes) -> str:
    """Return ``python`` or ``shell`` by name and first line, an empty string for others."""
    line = code.partition(b"\n")[0] if code.startswith(b"#!") else b""
    if script.endswith((".py", ".pyw")) or b"python" in line or b"pypy" in line:
        return "python"
    return "shell" if line or script.endswith((".sh", ".bash", ".zsh")) else ""


def imported_names(code: str) -> Iterator[str]:
    """Yield the names that Python code imports. ``from a import b`` yields ``a`` and ``a.b``."""
    for package, taken, modules in _IMPORT.findall(code):
        yield from (each.split()[0] for each in modules.split(",") if each.strip())
        if package.strip("."):
            yield package
            yield from (f"{package}.{each.split()[0]}" for each in taken.split(",") if each.strip())


def is_pythons_own(module: str) -> bool:
    """Whether a module is in the standard library and runs no other code."""
    first = module.partition(".")[0]
    return first in sys.stdlib_module_names and first not in _RUN_OTHERS


def is_systems(path: str) -> bool:
    """Whether a file belongs to the system or a package manager."""
    return path.startswith(SYSTEM_FOLDERS) or os.path.realpath(path).startswith(SYSTEM_FOLDERS)


def paths_of(token: str, starts: Iterable[str]) -> list[str]:
    """Return the absolute paths that a token may mean, one for each of the folders ``starts``."""
    if not token or "\0" in token:
        return []
    paths = (os.path.normpath(os.path.join(start, os.path.expanduser(token))) for start in dict.fromkeys(starts))
    return [path for path in dict.fromkeys(paths) if os.path.isabs(path)]
