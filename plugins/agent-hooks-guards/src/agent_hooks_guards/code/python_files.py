"""Calls of Python code that touch files, and those that compute their names."""

from __future__ import annotations

import ast
import posixpath
import re
from pathlib import PurePosixPath

from agent_hooks_guards.model.values import NO_LABELS, UNKNOWN, Data
from agent_hooks_guards.programs.credentials import variable_labels

from . import FILE, STDIN
from .python_names import TABLE, Call
from .python_values import Value, binary, computed, is_text, join_paths, labels_of, text_of, wrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .python_expressions import Expressions

_STREAMS = frozenset(("/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"))
_OUTPUTS = frozenset(("/dev/stdout", "/dev/stderr", "/dev/fd/1", "/dev/fd/2", "/proc/self/fd/1", "/proc/self/fd/2"))
_DEFAULTS = {"HOME": "~", "USERPROFILE": "~", "PWD": ".", "TMPDIR": "/tmp", "TEMP": "/tmp"}  # noqa: S108 - the code's


class FileCall(Call):
    """A call that touches files, by the kinds of python.toml."""

    def _effects(self) -> Value:
        """Record what an entry of ``[effects]`` declares."""
        walk, labels, result = self.walk, NO_LABELS, Value(None)
        for each in TABLE.effects[self.name].split(", "):
            kind, _, spec = each.partition(" ")
            at, *keywords = spec.split("|")
            target = self.given(int(at), *keywords)
            path = walk.path(target) if target is not None else walk.cwd or "."
            # A name that is not known is one name, and not everything in a folder.
            recursive = kind[-1] == "*" and (len(self.arguments) < 2 or bool(path.rpartition("/")[2].strip(UNKNOWN)))
            kind = kind.rstrip("*")
            if kind == "run" and path in _STREAMS:
                return walk.run_text(walk.input())
            if kind in ("write", "append"):
                walk.effect(
                    "write", path, recursive=recursive, labels=labels, method="append" if kind == "append" else ""
                )
                walk.found.files.update({path: Data(UNKNOWN, labels)} if labels else {})
                result = target or result
            else:
                walk.effect(kind, path, recursive=recursive)
                labels = file_labels(walk, path) if kind != "run" else labels
                result = walk.contents.get(path) or Value(UNKNOWN, labels) if kind == "read" else result
        return result

    def _open(self) -> Value:
        target, mode = self.value(0, "file", "path", "filename", "name"), self.given(1, "mode", "flags")
        if target.type in ("file", "connection"):
            return target
        text = "r" if mode is None else text_of(mode)
        if mode is not None and isinstance(mode.it, int):
            text = "a" if mode.it & 1024 else "w" if mode.it & 3 else "r"
        path = f"/dev/fd/{target.it}" if isinstance(target.it, int) else self.walk.path(target)
        if path in _STREAMS:
            return Value(path, frozenset((STDIN,)), "file")
        labels = labels_of(target)
        if not path.startswith("/dev/fd/") and path not in _OUTPUTS and not target.type.startswith("m"):
            writes = any(each in text for each in "wax+") or UNKNOWN in text
            if writes:
                self.walk.effect("write", path, method="append" if "a" in text else "")
            if (not writes or "+" in text) and path != UNKNOWN:
                self.walk.effect("read", path)
                labels = file_labels(self.walk, path)
        return Value(path, labels, "file")

    def _read_open(self) -> Value:
        file = self.value(0)
        found = self.walk.contents.get(str(file.it)) or Value(UNKNOWN, file.labels)
        if STDIN in file.labels:
            found = self.walk.input(is_line=self.word == "readline")
        return Value(self.walk.items(found)) if self.word == "readlines" else found

    def _write_open(self) -> Value:
        file, value = self.value(0), self.value(2 if self.word == "writestr" else 1, "data")
        if file.type == "path":
            self.walk.effect("write", self.walk.path(file))
            self.walk.contents.pop(self.walk.path(file), None)
        for each in self.walk.items(value) if self.word == "writelines" else [value]:
            keep(self.walk, f"/dev/fd/{file.it}" if isinstance(file.it, int) else str(file.it), each)
        return Value()

    def _pack(self) -> Value:
        path = self.walk.path(self.value(1, "name"))
        self.walk.effect("read", path, recursive=True)
        keep(self.walk, str(self.arguments[0].it), Value(UNKNOWN, frozenset((FILE + path,))))
        return Value()

    def _chdir(self) -> Value:
        self.walk.cwd = self.walk.path(self.value(0, "path"))
        return Value(None)

    def _path(self) -> Value:
        return Value(join_paths(*map(text_of, self.arguments)) or ".", self.labels(), "path")

    def _expand(self) -> Value:
        value = self.value(0, "path")
        text = re.sub(
            r"\$\{?(\w+)\}?|^~(?=/|$)", lambda at: text_of(variable_of(self.walk, at[1] or "HOME")), text_of(value)
        )
        return Value(text, value.labels, value.type)

    def _path_part(self) -> Value:
        value = self.value(0, "p", "path")
        if not is_text(value) or value.it == UNKNOWN:
            return Value(UNKNOWN, labels_of(value))
        if value.type == "path":
            made = computed(getattr(PurePosixPath(value.it), self.word), [self.text(1)], {}, NO_LABELS)
            return Value(str(made.it) if made else UNKNOWN, value.labels, "path")
        return wrap(getattr(posixpath, self.word)(text_of(value)), value.labels)

    def _list(self) -> Value:
        is_glob = self.name.startswith("glob")
        folder, pattern = ("", self.text(0)) if is_glob else (self.text(0, default="."), self.text(1, default="*"))
        name = re.sub(r"\*\*/|[*?]+", lambda found: "" if found[0] == "**/" else UNKNOWN, pattern)
        return Value([Value(join_paths(*filter(None, (folder, name))), kind="" if is_glob else "path")])

    def _walk(self) -> Value:
        top, names = self.text(0, "top", default="."), Value([Value()])
        return Value([Value((Value(root), names, names)) for root in (top, join_paths(top, UNKNOWN))])


def file_labels(walk: Expressions, path: str) -> frozenset[str]:
    """Return the labels of the content of a file."""
    written = walk.found.files.get(path)
    return frozenset((FILE + path,)) | (written.labels if written is not None else NO_LABELS)


def keep(walk: Expressions, path: str, value: Value) -> None:
    """Record content that is written to a file."""
    if path in _OUTPUTS:
        walk.echo(value)
        return
    if not path or path.startswith("/dev/fd/") or path == UNKNOWN:
        walk.may_print()
        return
    old = walk.contents.get(path)
    now = binary(ast.Add, old, value) if old is not None else value
    now = walk.contents[path] = Value(now.it if is_text(now) else UNKNOWN, labels_of(now))
    walk.found.files[path] = Data(text_of(now), now.labels)
    for at, (kind, name, recursive, known, method) in enumerate(walk.found.effects):
        if (kind, name) == ("write", path):
            walk.found.effects[at] = (kind, name, recursive, known | now.labels, method)
            return
    walk.effect("write", path, labels=now.labels, method="append")


def variable_of(walk: Expressions, name: str) -> Value:
    """Return a variable of the environment."""
    if name in walk.environment:
        return walk.environment[name]
    if name in walk.variables:
        return Value(walk.variables[name].text, walk.variables[name].labels)
    return Value(_DEFAULTS[name]) if name in _DEFAULTS else Value(UNKNOWN, variable_labels(name))
