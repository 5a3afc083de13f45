"""Calls in Python code, by the entries of python.toml: processes, code, output; items of modules."""

from __future__ import annotations

import builtins
import os
import posixpath
import re
import shlex
from importlib import import_module
from pathlib import PurePosixPath

from agent_hooks.model.tools import file_of_address
from agent_hooks_guards.model.tables import by_name, load_tables
from agent_hooks_guards.model.values import CREDENTIAL, DECODED, ENVIRONMENT, NETWORK, NO_LABELS, UNKNOWN, Data
from agent_hooks_guards.places.credentials import as_login, in_address, in_token_request, is_login_header

from . import FILE, STDIN, python_values
from .python_values import Value, call_constant, computed, is_exact, is_text, labels_of, text_of, variable_of, wrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .python import Walk


_FROM_NETWORK = frozenset((NETWORK,))
_UNSAFE = frozenset((NETWORK, DECODED))
_DEVNULL = -3  # subprocess.DEVNULL
_OUTPUTS = frozenset(("/dev/stdout", "/dev/stderr", "/dev/fd/1", "/dev/fd/2", "/proc/self/fd/1", "/proc/self/fd/2"))

TABLES = load_tables(os.path.dirname(__file__))["python"]
EFFECTS = by_name(TABLES["effects"])
# The kind of each function: a method of `Call`, or an entry of `SIMPLE`.
KINDS = {
    **dict.fromkeys(EFFECTS, "effects"),
    **dict.fromkeys(TABLES["programs"], "template"),
    **by_name(TABLES["calls"]),
}
_ALIASES = by_name(TABLES["aliases"])
WORDS = {key: frozenset(text.split()) for key, text in TABLES["words"].items()}
TAILS = {name.rpartition(".")[2]: name for name in WORDS["tails"]}
STDIN_PATHS = frozenset(("/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"))


class Call:
    """A call of any kind of python.toml.

    ``name``: the dotted name of the function; for a method, its object is the first of ``arguments``.
    """

    def __init__(self, walk: Walk, name: str, arguments: list[Value], keywords: dict[str, Value]) -> None:
        self.walk = walk
        self.name = name
        self.owner, _, self.word = name.rpartition(".")
        self.arguments = arguments
        self.keywords = keywords

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

    def columns(self) -> list[Any]:
        """Return the items of each argument; a number as it is: `enumerate(x, 1)`."""
        return [each.it if isinstance(each.it, int) else self.walk.items(each) for each in self.arguments]

    def labels(self) -> frozenset[str]:
        """Return the origins of all arguments."""
        return labels_of(*self.arguments, *self.keywords.values())

    def run(self) -> Value:
        """Call a function of a module, or a method of an object by its type; return its result."""
        walk, owner, word = self.walk, self.owner, self.word
        if (kind := KINDS.get(self.name)) is not None:
            if kind in ("shell", "program", "exec") and not {"stdout", "capture_output"} & self.keywords.keys():
                walk.may_print()
            result: Value = SIMPLE[kind](self) if kind in SIMPLE else getattr(self, f"_{kind}")()
            return result
        module = self.name.partition(".")[0]
        if module == UNKNOWN and word in TAILS:
            return Call(walk, TAILS[word], self.arguments, self.keywords).run()
        if UNKNOWN in self.name and (module in WORDS["risky"] or module == UNKNOWN):
            if module in WORDS["risky"] or (self.name == UNKNOWN and self.arguments):
                walk.doubt("something of a module is called whose name is not known")
            return Value(UNKNOWN, kind="name")
        if owner == "sh":
            return self.start([Value(word.replace("_", "-")), *self.arguments])
        if owner in ("str", "bytes", "list", "dict", "pathlib.Path") and self.arguments:
            return walk.call(Value(word, kind="method", owner=self.arguments[0]), self.arguments[1:], self.keywords)
        return walk.pass_on([*self.arguments, *self.keywords.values()])

    # -- processes and code --------------------------------------------------------------------------------------------

    def _folder(self) -> str:
        folder = self.keywords.get("cwd", Value(None))
        return self.walk.cwd if folder.it is None else self.walk.path(folder)

    def _shell(self) -> Value:
        value, folder = self.value(0, "command", "cmd", "args"), self._folder()
        before = f"cd {shlex.quote(folder)}\n" if folder else ""
        data = Data(before + (text_of(value) if is_text(value) else UNKNOWN), labels_of(value))
        if data not in self.walk.found.shells:
            self.walk.found.shells.append(data)
        return Value()

    def start(self, argv: list[Value], stdin: Value | None = None) -> Value:
        """Record a program that is started without a shell; ``stdin``: its standard input."""
        found, folder = self.walk.found, self._folder()
        words = [*map(Value, ["env", "-C", folder] if folder else []), *argv]
        texts, labels = list(map(text_of, words)), list(map(labels_of, words))
        given = None
        if stdin is not None and stdin.it not in (None, _DEVNULL):
            given = Data(text_of(stdin) if is_text(stdin) else UNKNOWN, labels_of(stdin))
        if words:
            at = len(found.programs)
            found.programs.append(texts)
            found.origins.update(((at, word), each) for word, each in enumerate(labels) if each)
            found.inputs.update({at: given} if given is not None else {})
        return Value()

    def _program(self) -> Value:
        args, stdin = self.value(0, "args", "command", "argv", "cmd"), self.given(-1, "input", "stdin")
        is_shell, words = (self.given(8, "shell") or Value(None)).it not in (False, 0, None), _split(args)
        if is_shell and not (stdin is not None and is_text(stdin)):
            self.arguments = words[:1] if isinstance(args.it, (list, tuple)) else [args]
            return self._shell()
        words = _split(words[0]) if is_shell and len(words) == 1 else words
        return self.start([self.keywords["executable"], *words[1:]] if "executable" in self.keywords else words, stdin)

    def _exec(self) -> Value:
        path, *rest = self.arguments[self.word.startswith("spawn") :] or [Value()]
        if not self.word.removeprefix("exec").removeprefix("spawn").startswith("l"):
            rest = _split(rest[0]) if rest else []
        return self.start([path, *(each for each in rest[1:] if not isinstance(each.it, dict))])

    def _fork(self) -> Value:
        if self.walk.loops:
            self.walk.effect("fork", "")
        return Value()

    def _chdir(self) -> Value:
        self.walk.cwd = self.walk.path(self.value(0, "path"))
        return Value(None)

    def _evaluate(self) -> Value:
        code = self.value(0, "stmt", "source")
        return self.walk.call(code, [], {}) if code.type == "function" else self.walk.run_text(code)

    def _import(self) -> Value:
        text = self.text(0, "name")
        text = text.partition(".")[0] if self.name == "__import__" else text
        return Value(UNKNOWN if UNKNOWN in text else aliased(text), kind="name")

    def _attribute(self) -> Value:
        owner, name = self.value(0), self.value(1)
        if is_text(name) and is_exact(name):
            return attribute(self.walk, owner, text_of(name))
        return Value(f"{owner.it}.{UNKNOWN}", kind="name") if owner.type == "name" else Value(UNKNOWN, labels_of(owner))

    # -- files ---------------------------------------------------------------------------------------------------------

    def _effects(self) -> Value:
        """Record the effects that the table declares; return the content that is read, or the last argument."""
        walk, result, labels = self.walk, Value(None), NO_LABELS
        for each in EFFECTS[self.name].split(", "):
            kind, _, spec = each.partition(" ")
            at, *keywords = spec.split("|")
            target = self.given(int(at), *keywords)
            path = walk.path(target) if target is not None else walk.cwd or "."
            # A name that is not known is one name, and not everything in a folder.
            recursive = kind[-1] == "*" and (len(self.arguments) < 2 or bool(path.rpartition("/")[2].strip(UNKNOWN)))
            kind = kind.rstrip("*")
            if kind == "run" and path in STDIN_PATHS:
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

    def _open(self) -> Value:
        target, mode = self.value(0, "file", "path", "filename", "name"), self.value(1, "mode", "flags")
        path = f"/dev/fd/{target.it}" if isinstance(target.it, int) else self.walk.path(target)
        text = self.text(1, "mode", "flags", default="r")
        if isinstance(mode.it, int):
            text = "a" if mode.it & os.O_APPEND else "w" if mode.it & 3 else "r"
        labels, writes = labels_of(target), any(each in text for each in "wax+") or UNKNOWN in text
        if path in _OUTPUTS | STDIN_PATHS or path.startswith("/dev/fd/") or (path.startswith("/dev/") and not writes):
            return stream(path)
        if writes:
            self.walk.effect("write", path, method="append" if "a" in text else "")
        if (not writes or "+" in text) and path != UNKNOWN:
            self.walk.effect("read", path)
            labels = content_of(self.walk, path).labels
        return Value(path, labels, "file")

    def _read_open(self) -> Value:
        file, is_line = self.value(0), self.word == "readline"
        found = self.walk.input(is_line=is_line) if STDIN in file.labels else Value(UNKNOWN, file.labels)
        return Value(self.walk.items(file)) if self.word == "readlines" else found

    def _write_open(self) -> Value:
        file, value = self.value(0), self.value(1, "data")
        path = f"/dev/fd/{file.it}" if isinstance(file.it, int) else self.walk.path(file)
        if file.type == "path":
            self.walk.effect("write", path)
            self.walk.found.files.pop(path, None)
        for each in self.walk.items(value) if self.word == "writelines" else [value]:
            keep(self.walk, path, each)
        return Value()

    def _list(self) -> Value:
        is_glob = self.name.startswith("glob")
        folder, pattern = ("", self.text(0)) if is_glob else (self.text(0, default="."), self.text(1, default="*"))
        if self.name == "os.listdir":  # names: all of them, unless something is asked about each
            return Value([Value("*" if self.walk.path(Value(folder)) in ("", ".", self.walk.cwd) else UNKNOWN)])
        name = re.sub(r"[*?]+", UNKNOWN, pattern.replace("**/", ""))
        return Value([Value(posixpath.join(folder, name), kind="" if is_glob else "path")])

    def _walk(self) -> Value:
        top, names = self.text(0, "top", default="."), Value([Value()])
        return Value([Value((Value(root), names, names)) for root in (top, posixpath.join(top, UNKNOWN))])

    # -- network -------------------------------------------------------------------------------------------------------

    def _contact(self, url: str, method: str, labels: frozenset[str] = NO_LABELS) -> Value:
        """Record that an address is asked for something, or something is sent to it; return the answer."""
        texts: list[str] = []
        found = NO_LABELS
        for key, value in (*((str(at), each) for at, each in enumerate(self.arguments)), *self.keywords.items()):
            sent = labels_of(value)
            named = value.it if isinstance(value.it, dict) and not value.type else {}
            texts += map(str, named)
            # Credentials in headers and in `auth` are logins.
            if key == "headers" or (key == "2" and self.word == "Request"):
                for name, each in named.items() or [("authorization", value)]:
                    found |= as_login(labels_of(each)) if is_login_header(str(name)) else labels_of(each)
            elif key in ("auth", "cookies"):
                found |= as_login(sent)
            else:
                found |= in_address(text_of(value), sent) if CREDENTIAL in sent else sent
        labels |= in_token_request(url, texts, found) - {NETWORK}
        reads = method in ("GET", "HEAD", "OPTIONS")
        if reads:
            self.walk.effect("receive", url, method=method)
        if labels or not reads:
            self.walk.effect("send", url, labels=labels, method=method)
        return Value(UNKNOWN, _FROM_NETWORK)

    def _client(self) -> Value:
        """Return a client of HTTP; its requests go through its base address and its proxies."""
        for value in (self.keywords[key] for key in ("base_url", "proxy", "proxies") if key in self.keywords):
            for each in value.it.values() if isinstance(value.it, dict) else [value]:
                self.walk.effect("receive", text_of(each), method="GET")
        return Value("requests", kind="name")

    def _http(self) -> Value:
        self._client()
        host = str(self.arguments.pop(0).it) if self.owner == "connection" else ""
        at = int(self.word in ("request", "stream"))
        return self._contact(host + self.text(at, "url"), (self.text(0, "method") if at else self.word).upper())

    def _urlopen(self) -> Value:
        """Open an address or a ``Request``; to make a request counts as sending it."""
        target, method = self.value(0, "url", "fullurl"), "GET" if self.given(1, "data") is None else "POST"
        if path := file_of_address(text_of(target)):
            self.walk.effect("read", path)
            return content_of(self.walk, path)
        if target.type == "request" and method == "GET":
            return Value(UNKNOWN, _FROM_NETWORK)
        made = self._contact(_address(target), self.text(5, "method", default=method).upper())
        return Value(text_of(target), NO_LABELS, "request") if self.word == "Request" else made

    def _add_header(self) -> Value:
        labels = labels_of(self.value(2, "val"))
        labels = as_login(labels) if is_login_header(self.text(1, "key")) else labels
        if labels:
            self.walk.effect("send", str(self.arguments[0].it), labels=labels, method="GET")
        return Value()

    def _connect(self) -> Value:
        """Make a connection, or connect one that was made."""
        made = self.arguments.pop(0) if self.owner == "connection" else Value(UNKNOWN, _FROM_NETWORK, "connection")
        target = self.given(0, "address", "hostname", "host", "uri")
        if target is not None and target.type != "name":
            made.it = _address(Value(self.arguments[:2]) if is_text(target) and self.arguments else target)
            self.walk.effect("send", made.it)
        return made

    # -- values --------------------------------------------------------------------------------------------------------

    def _print(self) -> Value:
        between, end = self.text(-1, "sep", default=" "), self.text(-1, "end", default="\n")
        # Bytes are printed as their literal.
        texts = [repr(each.it) if isinstance(each.it, bytes) else text_of(each) for each in self.arguments]
        value, target = wrap(between.join(texts) + end, self.labels()), self.given(-1, "file")
        keep(self.walk, str(target.it) if target is not None and target.type == "file" else "/dev/stdout", value)
        return Value(None)

    def _compute(self) -> Value:
        """Call the function itself, if it is given known values."""
        kind, values = KINDS[self.name], [*self.arguments, *self.keywords.values()]
        nothing = Value(UNKNOWN, self.labels() | {DECODED} if kind == "decode" else self.labels())
        # A codec such as `zlib` may make any amount of text.
        is_known = all(map(is_exact, values)) and "z" not in self.text(1, "encoding")
        if self.keywords or not (is_known or kind == "compute_text"):
            return Value(self.walk.items(values[0])) if self.name in ("sorted", "set") else nothing
        is_method = self.owner in ("bytes", "bytearray", "str", "int")
        module = getattr(builtins, self.owner) if is_method else import_module(self.owner or "builtins")
        return computed(getattr(module, self.word), self.arguments) or nothing

    _compute_text = _decode = _compute


def aliased(dotted: str) -> str:
    """Return the name that the tables use for a module or function."""
    return _ALIASES.get(dotted, dotted)


def names_harm(text: str) -> bool:
    """Whether code names a function that may do harm."""
    return re.search(rf"\b(?:{'|'.join(WORDS['harmful'])})", text) is not None


def stream(path: str) -> Value:
    """Return an open standard stream, or another device."""
    return Value(path, frozenset((STDIN,)) if path in STDIN_PATHS else NO_LABELS, "file")


def known_items(module: str) -> list[str]:
    """Return the functions of a module that python.toml knows: `from module import *` binds them."""
    return [item for owner, _, item in (name.rpartition(".") for name in KINDS) if owner == module]


def attribute(walk: Walk, owner: Value, name: str) -> Value:
    """Return an attribute of a value."""
    if name in WORDS["any_module"]:
        return Value(UNKNOWN, kind="name")
    if owner.type == "name":
        if name in ("stdin", "stdout", "stderr") and owner.it == "sys":
            return stream(f"/dev/{name}")
        is_inside = name in WORDS["inside"] and owner.it.rpartition(".")[2] not in (name, "asyncio")
        dotted = aliased(name if is_inside or owner.it == "builtins" else f"{owner.it}.{name}")
        if dotted == "sys.argv":
            arguments = [Value(each, walk.labels if UNKNOWN in each else NO_LABELS) for each in walk.arguments]
            return Value(arguments or UNKNOWN)
        constants = TABLES["constants"]
        return Value(constants[dotted]) if dotted in constants else Value(dotted, kind="name")
    if owner.type == "file" and name == "buffer":
        return owner
    if owner.type == "path" and name in ("name", "stem", "suffix", "parent", "parts", "path"):
        found = getattr(PurePosixPath(owner.it), name, owner.it)
        return Value(str(found), owner.labels, "path") if name == "parent" else wrap(found, owner.labels)
    return Value(name, labels_of(owner), "method", owner)


def _split(value: Value) -> list[Value]:
    """Return the words of a command line, or of a list."""
    if isinstance(value.it, (list, tuple)) and not value.type:
        return list(value.it)
    text = text_of(value)
    try:
        words = shlex.split(text)
    except ValueError:
        words = text.split()
    return [Value(each, labels_of(value)) for each in words]


def _address(target: Value | None) -> str:
    """Return an address: of a connection or a request, of a host and a port, or as text."""
    if target is None or isinstance(target.it, (list, tuple)):
        return ":".join(map(text_of, target.it if target is not None else [Value()]))
    return str(target.it) if target.type in ("connection", "request") else text_of(target)


def content_of(walk: Walk, path: str) -> Value:
    """Return the content of a file; only its origins are known."""
    written = walk.found.files.get(path, Data())
    return Value(UNKNOWN, written.labels | {FILE + path})


def keep(walk: Walk, path: str, value: Value) -> None:
    """Record content that is written to a file."""
    if path in _OUTPUTS:
        walk.prints.append(value)
    elif not path or path.startswith("/dev/fd/") or path == UNKNOWN:
        walk.may_print()
    else:
        old = walk.found.files.get(path, Data())
        now = Data(old.text + (text_of(value) if is_text(value) else UNKNOWN), old.labels | labels_of(value))
        walk.found.files[path] = now
        for at, (kind, name, recursive, known, method) in enumerate(walk.found.effects):
            if (kind, name) == ("write", path):
                walk.found.effects[at] = (kind, name, recursive, known | now.labels, method)


# The kinds that need no more than a line.
SIMPLE: dict[str, Callable[[Call], Value]] = {
    # The program that would do the same.
    "template": lambda call: call.start(
        [computed(word.format, call.arguments) or Value() for word in TABLES["programs"][call.name].split()]
    ),
    "map": lambda call: Value(
        [call.walk.call(call.value(0), [*row], {}) for row in zip(*call.columns()[1:], strict=False)]
    ),
    "compute_list": lambda call: (
        computed(lambda: getattr(builtins, call.name)(*call.columns()), []) or Value(UNKNOWN, call.labels())
    ),
    "ipython": lambda _call: Value("ipython", kind="name"),
    "words": lambda call: call.start([word for each in call.arguments for word in _split(each)]),
    "path": lambda call: Value(posixpath.join("", *map(text_of, call.arguments)) or ".", call.labels(), "path"),
    "current_folder": lambda call: Value(str(call.walk.cwd) or ".", NO_LABELS, "path" if call.word == "cwd" else ""),
    "home": lambda call: Value(text_of(variable_of(call.walk.variables, "HOME")), NO_LABELS, "path"),
    "temporary": lambda _: Value(f"/tmp/{UNKNOWN}"),  # noqa: S108 - where the code would be given a folder
    "input": lambda call: call_constant(call.walk.input(is_line=True), "strip", [], {}) or Value(),
    "expanded": lambda call: python_values.expand_variables(call.walk.variables, call.value(0)),
    "variable": lambda call: variable_of(call.walk.variables, call.text(0, "key")),
    "stdin": lambda _: stream("/dev/stdin"),
    "library": lambda _: Value("os", kind="name"),
    "all_variables": lambda _: Value(UNKNOWN, frozenset((ENVIRONMENT,))),
    "unknown_name": lambda _: Value(UNKNOWN, kind="name"),
    "same": lambda call: call.value(0),
    "unpickle": lambda call: (call.walk.run_text if call.labels() & _UNSAFE else wrap)(Value(UNKNOWN, call.labels())),
    "opaque": lambda call: Value(UNKNOWN, call.labels() | {DECODED}),
    "nothing": lambda _: Value(),
}
