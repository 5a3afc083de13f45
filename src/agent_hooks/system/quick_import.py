"""A finder of our own modules that makes fewer calls than Python's: 20 us less for each of some hundred modules.

It finds the same files and accepts byte code by the same check, the time and size of the source in its header. Whatever
is not a plain source file with valid byte code beside it is left to Python.
"""

from __future__ import annotations

import os
import sys
from _frozen_importlib import ModuleSpec
from _frozen_importlib_external import MAGIC_NUMBER, SourceFileLoader
from marshal import loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import CodeType

# Above this size, byte code is left to Python: a larger buffer takes longer to allocate than most modules to load.
_MAX_BYTES = 100_000
_HEADER = MAGIC_NUMBER + bytes(4)  # the flags of byte code that is checked by time and size
_ENDING = f".{sys.implementation.cache_tag}.pyc"


def install(packages: str) -> None:
    """Use the finder for the submodules of packages whose names start with ``packages``, in this process.

    Not where the options of Python place byte code elsewhere or demand another kind.
    """
    is_plain = sys.pycache_prefix is None and not sys.flags.optimize and os.sep == "/"
    if is_plain and sys.implementation.name == "cpython":
        sys.meta_path.insert(0, _Finder(packages))


class _Finder:
    def __init__(self, packages: str) -> None:
        self._packages = packages
        self._files: dict[str, dict[str, str]] = {}

    def find_spec(self, name: str, path: Sequence[str] | None = None, _target: object = None) -> ModuleSpec | None:
        if path is None or len(path) != 1 or not name.startswith(self._packages):
            return None
        folder = path[0]
        files = self._files.get(folder)
        if files is None:
            files = self._files[folder] = _files_in(folder)
        file = files.get(name.rpartition(".")[2])
        if file is None:
            return None
        around, _, last = file.rpartition("/")
        is_package = last == "__init__.py"
        if is_package and not os.path.isfile(file):
            return None
        spec = ModuleSpec(name, _Loader(name, file), origin=file, is_package=is_package)
        spec.has_location = True
        spec.cached = f"{around}/__pycache__/{last[:-3]}{_ENDING}"
        if spec.submodule_search_locations is not None:
            spec.submodule_search_locations.append(around)
        return spec


def _files_in(folder: str) -> dict[str, str]:
    """Return the source files that may be in ``folder``, by the names of their modules: those without a rival."""
    found: dict[str, list[str]] = {}
    try:
        names = os.listdir(folder)
    except OSError:
        return {}
    for name in names:
        found.setdefault(name.partition(".")[0], []).append(name)
    endings = {stem: each[0][len(stem) :] for stem, each in found.items() if len(each) == 1}
    return {
        stem: f"{folder}/{stem}{ending or '/__init__.py'}" for stem, ending in endings.items() if ending in ("", ".py")
    }


class _Loader(SourceFileLoader):
    def get_code(self, fullname: str) -> CodeType | None:
        around, _, last = self.path.rpartition("/")
        try:
            source = os.stat(self.path)
            descriptor = os.open(f"{around}/__pycache__/{last[:-3]}{_ENDING}", os.O_RDONLY)
            try:
                data = os.read(descriptor, _MAX_BYTES)
            finally:
                os.close(descriptor)
        except OSError:
            return super().get_code(fullname)
        facts = b"".join(
            (number & 0xFFFFFFFF).to_bytes(4, "little") for number in (int(source.st_mtime), source.st_size)
        )
        if len(data) == _MAX_BYTES or data[:16] != _HEADER + facts:
            return super().get_code(fullname)
        code: CodeType = loads(memoryview(data)[16:])  # noqa: S302 - what Python itself would load
        return code
