"""The distributions with entry points of ours, read from their metadata directly.

``importlib_metadata`` alone would take a third of the time of a cold event. It still reads what is no plain folder.
"""

from __future__ import annotations

import os

from .markers import PROJECT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

_ENDINGS = (".dist-info", ".egg-info")


class Distribution:
    """One distribution in a folder of the path.

    ``fields``: the values of its metadata by field, in lower case. ``points``: its entry points of the group, each with
    its name, its value, and what loads it. ``error``: why it is unreadable.
    """

    def __init__(self, folder: str, read: Callable[[str], str], group: str) -> None:
        self.folder = folder
        self.error: Exception | None = None
        self.points: list[tuple[str, str, Callable[[], Any]]] = []
        self.fields: dict[str, list[str]] = {}
        try:
            text = read("entry_points.txt")
            self.is_ours = f"[{group}]" in text
            if self.is_ours:
                self.points = [(name, value, _loader(value)) for name, value in _points(text, group)]
                self.fields = _fields(read("METADATA") or read("PKG-INFO"))
        except Exception as error:  # noqa: BLE001 - it affects only itself
            self.is_ours, self.error = True, error


def distributions(path: Iterable[str], group: str = PROJECT) -> Iterator[Distribution]:
    """Yield the distributions in the folders of ``path`` that have entry points of this group."""
    for folder in path:
        try:
            names = os.listdir(folder or os.curdir)
        except OSError:
            if os.path.isfile(folder):
                yield from _in_archive(folder, group)
            continue
        for name in names:
            if name.endswith(_ENDINGS):
                found = Distribution(folder, _reader(os.path.join(folder, name)), group)
                if found.is_ours:
                    yield found
            elif name.endswith(".egg"):
                yield from _in_archive(os.path.join(folder, name), group)


def _in_archive(path: str, group: str) -> Iterator[Distribution]:
    from functools import partial

    from importlib_metadata import distributions as found_in

    for each in found_in(path=[path]):
        made = Distribution(str(each.locate_file("")), partial(_read_from, each), group)
        if made.is_ours:
            yield made


def _read_from(distribution: Any, name: str) -> str:
    return distribution.read_text(name) or ""


def _reader(info: str) -> Callable[[str], str]:
    def read(name: str) -> str:
        try:
            with open(os.path.join(info, name), encoding="utf-8") as file:
                return file.read()
        except (FileNotFoundError, NotADirectoryError):
            return ""

    return read


def _points(text: str, wanted: str) -> Iterator[tuple[str, str]]:
    """Yield the names and values of a group. Raises ``ValueError`` for a line that is neither."""
    group = ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("[") and line.endswith("]"):
            group = line[1:-1].strip()
        elif group == wanted and line and line[0] not in "#;":
            name, equals, value = line.partition("=")
            if not equals:
                raise ValueError(f"its entry_points.txt has a line without a value: {line}")
            yield name.strip(), value.strip()


def _loader(value: str) -> Callable[[], Any]:
    def load() -> Any:
        from importlib import import_module

        module, _, names = value.partition("[")[0].partition(":")
        found: Any = import_module(module.strip())
        for name in filter(None, names.strip().split(".")):
            found = getattr(found, name)
        return found

    return load


def _fields(text: str) -> dict[str, list[str]]:
    fields: dict[str, list[str]] = {}
    for line in text.partition("\n\n")[0].splitlines():
        field, colon, value = line.partition(":")
        if colon and not field[:1].isspace():
            fields.setdefault(field.lower(), []).append(value.strip())
    return fields
