"""A finder of our own modules that makes fewer calls than Python's: 20 us less for each of some hundred modules.

It finds the same files and accepts byte code by the same check, the time and size of the source in its header. Whatever
is not a plain source file with valid byte code beside it is left to Python. Files whose stamps were just compared with
those of a plan are not looked at again.
"""

from __future__ import annotations

import os
import sys
from _frozen_importlib import ModuleSpec
from _frozen_importlib_external import MAGIC_NUMBER, SourceFileLoader
from _imp import extension_suffixes
from marshal import loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import CodeType
    from typing import Any

# Above this size, byte code is left to Python: a larger buffer takes longer to allocate than most modules to load.
_MAX_BYTES = 100_000
_HEADER = MAGIC_NUMBER + bytes(4)  # the flags of byte code that is checked by time and size
_ENDING = f".{sys.implementation.cache_tag}.pyc"
_EXTENSIONS = tuple(extension_suffixes())


def install(packages: str, *stamps: Mapping[str, Any]) -> None:
    """Use the finder for the submodules of packages whose names start with ``packages``, in this process.

    ``stamps``: those of files, as ``stamps.note`` takes them, that hold now: of all files of a package, or of none. Not
    where the options of Python place byte code elsewhere or demand another kind.
    """
    is_plain = sys.pycache_prefix is None and not sys.flags.optimize and os.sep == "/"
    if is_plain and sys.implementation.name == "cpython":
        sys.meta_path.insert(0, _Finder(packages, *stamps))


class _Finder:
    def __init__(self, packages: str, *stamps: Mapping[str, Any]) -> None:
        self._packages = packages
        self._stamps = stamps
        self._files: dict[str, dict[str, str]] = {}

    def find_spec(self, name: str, path: Sequence[str] | None = None, _target: object = None) -> ModuleSpec | None:
        if path is None or len(path) != 1 or not name.startswith(self._packages):
            return None
        folder = path[0]
        file, stamp = self._stamped(f"{folder}/{name.rpartition('.')[2]}")
        if file is None:
            files = self._files.get(folder)
            if files is None:
                files = self._files[folder] = _files_in(folder)
            file = files.get(name.rpartition(".")[2])
        if file is None:
            return None
        around, _, last = file.rpartition("/")
        is_package = last == "__init__.py"
        if is_package and stamp is None and not os.path.isfile(file):
            return None
        cached = f"{around}/__pycache__/{last[:-3]}{_ENDING}"
        spec = ModuleSpec(name, _Loader(name, file, cached, stamp), origin=file, is_package=is_package)
        spec.has_location = True
        spec.cached = cached
        if spec.submodule_search_locations is not None:
            spec.submodule_search_locations.append(around)
        return spec

    def _stamped(self, stem: str) -> tuple[str | None, Any]:
        """Return the source of a module and its stamp, if that is known and Python would take no other file."""
        for stamps in self._stamps:
            for file, rival in ((f"{stem}.py", stem), (f"{stem}/__init__.py", f"{stem}.py")):
                if isinstance(stamp := stamps.get(file), tuple) and not self._has(rival, file[:-3]):
                    return file, stamp
        return None, None

    def _has(self, rival: str, stem: str) -> bool:
        return any(rival in stamps or any(stem + ending in stamps for ending in _EXTENSIONS) for stamps in self._stamps)


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
    def __init__(self, name: str, path: str, cached: str, stamp: Any) -> None:
        super().__init__(name, path)
        self._cached = cached
        self._stamp = stamp

    def get_code(self, fullname: str) -> CodeType | None:
        try:
            if self._stamp is not None:
                size, seconds = self._stamp[4], self._stamp[5] // 1_000_000_000
            else:
                source = os.stat(self.path)
                size, seconds = source.st_size, int(source.st_mtime)
            descriptor = os.open(self._cached, os.O_RDONLY)
            try:
                data = os.read(descriptor, _MAX_BYTES)
            finally:
                os.close(descriptor)
        except OSError:
            return super().get_code(fullname)
        facts = (seconds & 0xFFFFFFFF).to_bytes(4, "little") + (size & 0xFFFFFFFF).to_bytes(4, "little")
        if len(data) == _MAX_BYTES or data[:16] != _HEADER + facts:
            return super().get_code(fullname)
        code: CodeType = loads(memoryview(data)[16:])  # noqa: S302 - what Python itself would load
        return code
