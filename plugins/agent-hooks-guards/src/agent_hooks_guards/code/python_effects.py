"""Calls in Python code that touch files and the network."""

from __future__ import annotations

import re

from agent_hooks.model.tools import file_of_address
from agent_hooks_guards.model.values import CREDENTIAL, NETWORK, NO_LABELS, UNKNOWN, Data
from agent_hooks_guards.places.credentials import (
    as_login,
    in_address,
    in_token_request,
    is_login_header,
    variable_labels,
)

from . import FILE, STDIN
from .python_state import TABLE
from .python_values import Value, is_text, items_of, join_paths, labels_of, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .python_walk import Walk

_STREAMS = frozenset(("/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"))
_OUTPUTS = frozenset(("/dev/stdout", "/dev/stderr", "/dev/fd/1", "/dev/fd/2", "/proc/self/fd/1", "/proc/self/fd/2"))
_DEFAULTS = {"HOME": "~", "USERPROFILE": "~", "PWD": ".", "TMPDIR": "/tmp", "TEMP": "/tmp"}  # noqa: S108 - the code's


class Effects:
    """A call that touches files or the network, by the kinds of python.toml.

    ``name``: the dotted name of the function; for a method, its object is the first of ``arguments``.
    """

    __slots__ = ("arguments", "keywords", "name", "walk")

    def __init__(self, walk: Walk, name: str, arguments: list[Value], keywords: dict[str, Value]) -> None:
        self.walk = walk
        self.name = name
        self.arguments = arguments
        self.keywords = keywords

    @property
    def word(self) -> str:
        """The last part of the name."""
        return self.name.rpartition(".")[2]

    def given(self, at: int, *keywords: str) -> Value | None:
        """Return the argument at a position or of a keyword; None if there is none."""
        found = next((self.keywords[each] for each in keywords if each in self.keywords), None)
        return self.arguments[at] if found is None and 0 <= at < len(self.arguments) else found

    def value(self, at: int, *keywords: str) -> Value:
        """Return the argument, an unknown value if there is none."""
        return self.given(at, *keywords) or Value()

    def text(self, at: int, *keywords: str, default: str = "") -> str:
        """Return the argument as text."""
        found = self.given(at, *keywords)
        return default if found is None else text_of(found)

    def labels(self) -> frozenset[str]:
        """Return the origins of all arguments."""
        return labels_of(*self.arguments, *self.keywords.values())

    def _effects(self) -> Value:
        """Record what an entry of ``[effects]`` declares; return the content that is read, or the last argument."""
        walk, result, labels = self.walk, Value(None), NO_LABELS
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
            if kind in ("send", "receive"):
                result = self._contact(_address(target), "GET" if kind == "receive" else "", labels)
            elif kind in ("write", "append"):
                method = "append" if kind == "append" else ""
                walk.effect("write", path, recursive=recursive, labels=labels, method=method)
                walk.found.files.update({path: Data(UNKNOWN, labels)} if labels else {})
                result = target or result
            else:
                walk.effect(kind, path, recursive=recursive)
                result = content_of(walk, path)
            labels |= labels_of(result) if kind in ("read", "delete", "receive") else NO_LABELS
        return result

    # -- network -------------------------------------------------------------------------------------------------------

    def _contact(self, url: str, method: str, labels: frozenset[str] = NO_LABELS) -> Value:
        """Record that an address is asked for something, or something is sent to it; return the answer."""
        labels |= self._labels_sent(url) - {NETWORK}
        reads = method in ("GET", "HEAD", "OPTIONS")
        if reads:
            self.walk.effect("receive", url, method=method)
        if labels or not reads:
            self.walk.effect("send", url, labels=labels, method=method)
        return Value(UNKNOWN, frozenset((NETWORK,)))

    def _labels_sent(self, url: str) -> frozenset[str]:
        """Return where the parts of a request come from; credentials in its headers and its ``auth`` are logins."""
        found = NO_LABELS
        texts: list[str] = []
        for key, value in (*((str(at), each) for at, each in enumerate(self.arguments)), *self.keywords.items()):
            labels, is_dict = labels_of(value), isinstance(value.it, dict) and not value.type
            texts += map(str, value.it) if is_dict else ()
            if key == "headers" or (key == "2" and self.word == "Request"):
                for name, each in value.it.items() if is_dict else (("authorization", value),):
                    found |= as_login(labels_of(each)) if is_login_header(str(name)) else labels_of(each)
            elif key in ("auth", "cookies"):
                found |= as_login(labels)
            else:
                found |= in_address(text_of(value), labels) if CREDENTIAL in labels else labels
        return in_token_request(url, texts, found)

    def _client(self) -> Value:
        """Make a client of HTTP, or note the hosts that a request goes through: its base address and its proxies."""
        for key in ("base_url", "proxy", "proxies"):
            value = self.keywords.get(key, Value({}))
            for each in value.it.values() if isinstance(value.it, dict) else (value,):
                self.walk.effect("receive", text_of(each), method="GET")
        return Value("requests", kind="name")

    def _http(self) -> Value:
        self._client()
        before = text_of(Value(self.arguments.pop(0).it)) if self.name.startswith("connection") else ""
        if self.word in ("request", "stream"):
            return self._contact(before + self.text(1, "url"), self.text(0, "method").upper())
        return self._contact(self.text(0, "url"), self.word.upper())

    def _request(self) -> Value:
        url, default = self.text(0, "url"), "GET" if self.given(1, "data") is None else "POST"
        return Value(url, self._labels_sent(url), "request", self.text(5, "method", default=default).upper())

    def _add_header(self) -> Value:
        request, labels = self.arguments[0], labels_of(self.value(2, "val"))
        request.labels |= as_login(labels) if is_login_header(self.text(1, "key")) else labels
        return Value()

    def _urlopen(self) -> Value:
        target = self.value(0, "url", "fullurl")
        if path := file_of_address(text_of(target)):
            self.walk.effect("read", path)
            return content_of(self.walk, path)
        method = target.owner if target.type == "request" else "GET"
        return self._contact(_address(target), method if self.given(1, "data") is None else "POST")

    def _connect(self) -> Value:
        """Make a connection, or connect one that was made."""
        is_method = self.name.startswith("connection.")
        made = self.arguments[0] if is_method else Value(UNKNOWN, frozenset((NETWORK,)), "connection")
        target = self.given(int(is_method), "address", "hostname", "host", "uri")
        port = self.arguments[is_method + 1 : is_method + 2]
        if target is not None and target.type != "name":
            made.it = _address(Value((target, *port)) if is_text(target) else target)
            self.walk.effect("send", made.it)
        return Value((made, made)) if self.word == "open_connection" else made

    # -- files ---------------------------------------------------------------------------------------------------------

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
        if not path.startswith("/dev/fd/") and path not in _OUTPUTS and target.type != "method":
            writes = any(each in text for each in "wax+") or UNKNOWN in text
            if writes:
                self.walk.effect("write", path, method="append" if "a" in text else "")
            if (not writes or "+" in text) and path != UNKNOWN:
                self.walk.effect("read", path)
                labels = content_of(self.walk, path).labels
        return Value(path, labels, "file")

    def _read_open(self) -> Value:
        file = self.value(0)
        written = self.walk.found.files.get(str(file.it))
        found = Value(UNKNOWN if written is None else written.text, file.labels)
        if STDIN in file.labels:
            found = self.walk.input(is_line=self.word == "readline")
        return Value(self.walk.items(found)) if self.word == "readlines" else found

    def _write_open(self) -> Value:
        file, value = self.value(0), self.value(2 if self.word == "writestr" else 1, "data")
        if file.type == "path":
            self.walk.effect("write", self.walk.path(file))
            self.walk.found.files.pop(self.walk.path(file), None)
        for each in self.walk.items(value) if self.word == "writelines" else [value]:
            keep(self.walk, f"/dev/fd/{file.it}" if isinstance(file.it, int) else str(file.it), each)
        return Value()

    def _pack(self) -> Value:
        path = self.walk.path(self.value(1, "name"))
        self.walk.effect("read", path, recursive=True)
        keep(self.walk, str(self.arguments[0].it), Value(UNKNOWN, frozenset((FILE + path,))))
        return Value()

    def _expand(self) -> Value:
        value = self.value(0, "path")
        variable = re.compile(r"\$\{?(\w+)\}?|^~(?=/|$)")
        text = variable.sub(lambda at: text_of(variable_of(self.walk, at[1] or "HOME")), text_of(value))
        return Value(text, value.labels, value.type)

    def _list(self) -> Value:
        is_glob = self.name.startswith("glob")
        folder, pattern = ("", self.text(0)) if is_glob else (self.text(0, default="."), self.text(1, default="*"))
        name = re.sub(r"\*\*/|[*?]+", lambda found: "" if found[0] == "**/" else UNKNOWN, pattern)
        return Value([Value(join_paths(*filter(None, (folder, name))), kind="" if is_glob else "path")])

    def _walk(self) -> Value:
        top, names = self.text(0, "top", default="."), Value([Value()])
        return Value([Value((Value(root), names, names)) for root in (top, join_paths(top, UNKNOWN))])


def content_of(walk: Walk, path: str) -> Value:
    """Return the content of a file, which is known if the code wrote it."""
    written = walk.found.files.get(path, Data(UNKNOWN))
    return Value(written.text, written.labels | {FILE + path})


def keep(walk: Walk, path: str, value: Value) -> None:
    """Record content that is written to a file."""
    if path in _OUTPUTS:
        walk.echo(value)
    elif not path or path.startswith("/dev/fd/") or path == UNKNOWN:
        walk.may_print()
    else:
        old = walk.found.files.get(path)
        text = text_of(value) if is_text(value) else UNKNOWN
        now = Data(text if old is None else old.text + text, labels_of(value) | (old.labels if old else NO_LABELS))
        walk.found.files[path] = now
        for at, (kind, name, recursive, known, method) in enumerate(walk.found.effects):
            if (kind, name) == ("write", path):
                walk.found.effects[at] = (kind, name, recursive, known | now.labels, method)


def variable_of(walk: Walk, name: str) -> Value:
    """Return a variable of the environment."""
    if name in walk.environment:
        return walk.environment[name]
    if name in walk.variables:
        return Value(walk.variables[name].text, walk.variables[name].labels)
    return Value(_DEFAULTS[name]) if name in _DEFAULTS else Value(UNKNOWN, variable_labels(name))


def _address(target: Value | None) -> str:
    """Return an address: of a connection or a request, of a host and a port, or as text."""
    if target is None or isinstance(target.it, (list, tuple)):
        return ":".join(map(text_of, (items_of(target) if target is not None else None) or [Value()]))
    return str(target.it) if target.type in ("connection", "request") else text_of(target)
