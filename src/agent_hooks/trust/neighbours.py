"""The modules that a Python script imports from its own folder, found by static analysis.

Python searches the folder of a script before the standard library. So a new file beside a script can replace any module
that the script imports, or that the standard library imports for it.
"""

from __future__ import annotations

import os
import re
import sys
from collections import deque

from agent_hooks.system.paths import is_below

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_IMPORT = re.compile(
    r"\bfrom[ \t]+(?P<package>\.*[\w.]*)[ \t]+import[ \t]*(?:\((?P<many>[^)]*)\)|(?P<taken>[\w ,\t]*))"
    r"|\bimport[ \t]+(?P<modules>[\w.]+(?:[ \t]+as[ \t]+\w+)?(?:[ \t]*,[ \t]*[\w.]+(?:[ \t]+as[ \t]+\w+)?)*)"
    r"""|\b(?:__import__|import_module)\(\s*['"](?P<called>[\w.]+)['"]"""
)
_COMMENT = re.compile(r"#[^\n]*")
_ENDINGS = (".py", ".pyc", ".pyw", ".so", ".pyd")
# More than any script imports from its own folder; further files are not followed.
_MAX_FILES = 500


def imported_beside(script: str, code: bytes, read: Callable[[str], bytes]) -> dict[str, bytes | None]:
    """Return the files and folders that satisfy the imports of ``script``, by path; the content of a folder is None.

    These are the literal imports of the script and of the modules found, in the folder of the script and its packages,
    and every file with the name of a standard module. ``read``: returns the content of a file.
    """
    folder = os.path.dirname(os.path.realpath(script))
    found: dict[str, bytes | None] = {}
    waiting = deque([(script, code)])
    listings: dict[str, dict[str, list[str]]] = {}

    def take(path: str) -> None:
        if path in found or len(found) >= _MAX_FILES:
            return
        found[path] = None if os.path.isdir(path) else read(path)
        if path.endswith((".py", ".pyw")):
            waiting.append((path, found[path] or b""))

    def importable(directory: str) -> dict[str, list[str]]:
        if directory not in listings:
            listings[directory] = _importable(directory)
        return listings[directory]

    for name in sys.stdlib_module_names.intersection(importable(folder)):
        for path in importable(folder)[name]:
            # A folder without an ``__init__.py`` does not replace a module.
            for file in importable(path).get("__init__", []) if os.path.isdir(path) else [path]:
                take(file)
    while waiting:
        module, content = waiting.popleft()
        for base, name in _imported(module, content, folder):
            directories = [base]
            for part in filter(None, name.split(".")):
                paths = [path for each in directories for path in importable(each).get(part, [])]
                directories = [path for path in paths if os.path.isdir(path)]
                initial = [path for each in directories for path in importable(each).get("__init__", [])]
                for path in (*paths, *initial):
                    take(path)
    found.pop(os.path.realpath(script), None)
    return found


def _imported(module: str, code: bytes, folder: str) -> Iterator[tuple[str, str]]:
    """Yield the dotted names that a module imports, each with the folder to search."""
    text = code.decode("utf-8", "replace").replace("\\\n", " ")
    for each in _IMPORT.finditer(text):
        if each["package"] is not None:
            package = each["package"].lstrip(".")
            level = len(each["package"]) - len(package)
            base = folder if not level else os.path.dirname(module)
            for _ in range(level - 1):
                base = os.path.dirname(base)
            if not is_below(base, folder):
                continue
            yield base, package
            taken = _COMMENT.sub("", each["many"]) if each["many"] is not None else each["taken"]
            for name in filter(None, map(str.strip, taken.split(","))):
                yield base, f"{package}.{name.split()[0]}"
        else:
            for name in (each["modules"] or each["called"]).split(","):
                yield folder, name.split()[0]


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
