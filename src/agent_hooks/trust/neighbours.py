"""The modules that Python code imports from the folder of its script, found by static analysis.

Python searches the folder of a script before the standard library. So a new file beside a script can replace any module
that the script imports, or that the standard library imports for it.
"""

from __future__ import annotations

import os
import re
import sys
from contextlib import suppress
from functools import cache

from agent_hooks.shell.patterns import Pattern
from agent_hooks.system.paths import is_below

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ast
    from collections.abc import Callable, Iterator

_ENDINGS = (".py", ".pyc", ".pyw", ".so", ".pyd")
# Modules of the standard library that run other code.
_RUNNING_OTHERS = frozenset(
    "asyncio cProfile code doctest idlelib pdb profile pydoc runpy timeit trace unittest".split()
)
_IMPORT = Pattern(r"^[ \t]*((?:from[ \t]+[\w.]+[ \t]+)?import[ \t]+(?:\([^)]*\)|[\w., \t]+))", re.MULTILINE)
# More than any script imports from its own folder; further files are not followed.
_MAX_FILES = 500


def imported_beside(folder: str, code: bytes, read: Callable[[str], bytes]) -> dict[str, None]:
    """Return the paths of the files in ``folder`` that satisfy the literal imports of ``code``, and of the modules so
    found, with all that replace modules of the standard library.

    ``read``: returns the content of a file.
    """
    found: dict[str, None] = {}
    importable = cache(_importable)
    replacing = "".join(f"import {name}\n" for name in sys.stdlib_module_names.intersection(importable(folder)))
    waiting = [(folder, code), (folder, replacing.encode())]
    for package, content in waiting:  # grows as it goes
        for base, name in _imported(content, folder, package):
            directories = [base]
            for part in filter(None, name.split(".")):
                paths = [path for each in directories for path in importable(each).get(part, ())]
                directories = [path for path in paths if os.path.isdir(path)]
                paths += [path for each in directories for path in importable(each).get("__init__", ())]
                new = [path for path in paths if path not in found and path not in directories]
                for path in new[: _MAX_FILES - len(found)]:
                    found[path] = None
                    if path.endswith((".py", ".pyw")):
                        waiting.append((os.path.dirname(path), read(path)))
    return found


def imports_from(folder: str, code: bytes) -> bool:
    """Whether ``code`` imports a module in ``folder`` that is none of the standard library."""
    names = {name.partition(".")[0] for _, name in _imported(code, folder, folder)}
    return not names.isdisjoint(_importable(folder).keys() - sys.stdlib_module_names)


def is_standard(module: str) -> bool:
    """Whether a module is in the standard library and runs no other code."""
    first = module.partition(".")[0]
    return first in sys.stdlib_module_names and first not in _RUNNING_OTHERS


def _parsed(code: bytes) -> ast.Module:
    """Parse a module; of one in the syntax of another version of Python only the import statements."""
    import ast

    try:
        return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        module = ast.Module([], [])
    for statement in _IMPORT.findall(code.decode("utf-8", "replace").replace("\\\n", " ")):
        with suppress(SyntaxError, ValueError):
            module.body += ast.parse(statement).body
    return module


def _imported(code: bytes, folder: str, package: str) -> Iterator[tuple[str, str]]:
    """Yield the dotted names that a module in the folder ``package`` imports, each with the folder to search."""
    import ast

    for node in ast.walk(_parsed(code)):
        if isinstance(node, ast.Import):
            yield from ((folder, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package if node.level else folder
            for _ in range(node.level - 1):
                base = os.path.dirname(base)
            if is_below(base, folder):
                yield from ((base, f"{node.module or ''}.{alias.name}") for alias in node.names)
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            called = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if called in ("__import__", "import_module") and isinstance(node.args[0].value, str):
                yield folder, node.args[0].value


def _importable(directory: str) -> dict[str, list[str]]:
    """Return the paths of the importable files and folders of a folder, by module name."""
    names: dict[str, list[str]] = {}
    try:
        with os.scandir(directory) as entries:
            for entry in entries:
                name, dot, _ = entry.name.partition(".")
                if name.isidentifier() and (entry.name.endswith(_ENDINGS) if dot else entry.is_dir()):
                    names.setdefault(name, []).append(entry.path)
    except OSError:
        return {}
    return {name: sorted(paths) for name, paths in names.items()}
