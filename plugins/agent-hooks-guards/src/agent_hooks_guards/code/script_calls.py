"""The calls of a script: their kinds, by the names of ``scripts.toml``, their effects and their results."""

from __future__ import annotations

import re
from functools import cache
from shlex import quote

from agent_hooks.model.tools import file_of_address
from agent_hooks.shell.syntax import Record
from agent_hooks_guards.model.values import CREDENTIAL, ENVIRONMENT, NETWORK, NO_LABELS, UNKNOWN, Data
from agent_hooks_guards.places import credentials

from . import FILE, STDIN, Found
from .script_tokens import load_language
from .script_values import (
    ALL_VARIABLES,
    VALUES,
    Choice,
    Function,
    List,
    Reference,
    compute,
    flat,
    items_of,
    joined,
    labels_of,
    names_of,
)

# Kinds of calls that run their arguments.
_RUNNERS = frozenset(("shell", "words", "eval"))
# Kinds of calls beside which it is known what code prints.
_QUIET = VALUES | {"print", "stdin", "variable", "argument", "each"}
_SHELLS = frozenset("sh bash zsh dash ksh ash fish cmd cmd.exe powershell powershell.exe pwsh".split())
_INTERACTIVE = frozenset("-i -l -p -il -li - -s 0 1 2".split())
_NETWORK = frozenset((NETWORK,))
_TELLING = (FILE, "secret", ENVIRONMENT, CREDENTIAL, "login:")
# Effects whose path is no file.
_ELSEWHERE = frozenset(("send", "receive", "run", "fork"))
_ADDRESSES = ("url", "uri", "href", "hostname", "host")
# An address of the site whose page runs the code.
_OF_PAGE = re.compile(rf"/(?![/\\\s{UNKNOWN}])")
_BODIES = ("body", "data", "content", "form", "json", "Content", "payload", "formData")
# A computed member of these, or of nothing, may run something.
_OWNERS = frozenset(
    "globalThis global window this process _G os io child_process cp Kernel Object self IO File FileUtils".split()
) | {""}
# Owners that may be left out.
_NEUTRAL = frozenset(
    "CORE main POSIX Kernel Object self globalThis global window this _G _ENV default const_get".split()
)
_UNKNOWN = Data(UNKNOWN)


@cache
def _kinds(language: str, sections: tuple[int, ...]) -> dict[str, dict[str, str]]:
    """Return the kinds of calls in sections of a language's table, by function and owner."""
    found: dict[str, dict[str, str]] = {}
    for at in sections:
        for kind, names in load_language(language)["calls"][at].items():
            for name in names.split() if kind != "needs" else ():
                owner, _, last = name.rpartition(".")
                found.setdefault(last, {}).setdefault(owner.rpartition(".")[2], kind)
    return found


class Call(Record):
    """A call: the function's ``kind``, name and owner, its arguments, and the value that it is a method of.

    ``subject``: that value, if it is neither a module nor a class.
    """

    __slots__ = ("arguments", "kind", "name", "owner", "plain", "receiver", "subject")

    def __init__(self, kind: str, name: str, arguments: list[Data], receiver: Data | None) -> None:
        self.kind = kind
        owner, _, self.name = name.rpartition(".")
        self.owner = owner.rpartition(".")[2]
        self.arguments = arguments
        self.receiver = receiver
        self.subject = None if isinstance(receiver, Reference) else receiver
        self.plain = [each for each in arguments if not isinstance(each, Function) and not names_of(each)]

    def argument(self, at: int = 0) -> Data:
        """Return an argument."""
        return self.arguments[at] if at < len(self.arguments) else _UNKNOWN

    def option(self, *names: str) -> Data | None:
        """Return an option."""
        return next((found[name] for found in map(names_of, self.arguments) for name in names if name in found), None)


class Calls:
    """The state of the walk through a script. ``is_sure``: all that it prints is in ``printed``."""

    def __init__(self, text: str, language: str, labels: frozenset[str], environment: dict[str, Data]) -> None:
        self.text = text
        self.language = language
        self.own = labels
        self.own_value = credentials.private(labels)
        self.table = load_language(language)
        self.found = Found()
        self.forks = self.is_online = False
        self.is_sure = True
        self.printed: list[Data] = []
        self.folder = ""
        self.arguments: list[Data] = []
        self.environment = environment
        self.stdin = Data(UNKNOWN, frozenset((STDIN,)))
        self.variables: dict[str, Data] = {}
        self.open: list[Function] = []
        self.pending: dict[int, Function] = {}  # functions that are not called yet
        self.words = text
        self.select_calls()

    def select_calls(self, module: str = "") -> None:
        """Let the calls count that the words of the code and a module's name make possible; all, if it is not known."""
        self.words += f" {module}"
        words = [each.get("needs", "").replace(" ", "|") for each in self.table["calls"]]
        is_any = UNKNOWN in module
        needed = [at for at, each in enumerate(words) if is_any or re.search(rf"\b(?:{each})\b", self.words)]
        self.kinds = _kinds(self.language, tuple(needed))

    def invoke(self, function: Function, arguments: list[Data]) -> None:
        """Walk through the body of a function with its parameters bound."""
        raise NotImplementedError

    def reference(self, name: str) -> Data:
        """Return the value of a name."""
        name = "$_" if name == "$File::Find::name" else name
        if name in self.variables:
            return self.variables[name]
        if name in self.table["environment"]:
            return ALL_VARIABLES
        if name in self.table["arguments"] and self.arguments:
            skipped = self.language in ("perl", "ruby") or (self.language == "node" and self.arguments[0].text == "-e")
            return List([*[Data("node")] * (self.language == "node"), *self.arguments[skipped:]])
        return Reference(name) if name[0] != "$" or self.language in ("node", "ruby") else _UNKNOWN

    def variable(self, name: str) -> Data:
        """Return the value of a variable of the environment."""
        default = Data("~") if name == "HOME" else Data(UNKNOWN, credentials.variable_labels(name))
        return self.environment.get(name, default)

    def index(self, value: Data, key: str) -> Data:
        """Return a member of a value, or an item of a list."""
        if value is ALL_VARIABLES and (key.isupper() or key in self.environment):
            return self.variable(key)
        if isinstance(value, List) and UNKNOWN in key:
            return Choice([*flat([value]), _UNKNOWN])  # the list may have got further items
        if isinstance(value, List) and key.isdecimal():
            found = value.items[int(key) - (self.language == "lua") :]
            return found[0] if found else _UNKNOWN
        if key in names_of(value):
            return names_of(value)[key]
        name = f"{value.name if isinstance(value, Reference) else '?'}.{key}"
        is_own = name in self.table["environment"] or name in self.table["arguments"]
        return self.reference(name) if is_own else Reference(name, value)

    def kind_of(self, name: str) -> str:
        """Return the kind of a function; "" if it is not in the table."""
        owner, _, last = (name.lower() if self.language == "php" else name).rpartition(".")
        owner = owner.rpartition(".")[2]
        kinds = self.kinds.get(last, {}) if owner != "RegExp" else {}
        kind = kinds.get("" if owner in _NEUTRAL else owner) or kinds.get("*", "")
        if not kind and kinds.get("") in VALUES:
            kind = kinds[""]
        return kind or self.kinds.get("*", {}).get(owner, "")

    def call(self, value: Data, arguments: list[Data]) -> Data:
        """Call a function; return its result."""
        if self.language == "php" and type(value) is Data:
            value = Reference(value.text)
        if isinstance(value, Function):
            self.invoke(value, arguments)
        if not isinstance(value, Reference):
            return Data(UNKNOWN, value.labels | labels_of(arguments))
        kind = self.kind_of(value.name)
        choice = next((each for each in arguments if isinstance(each, Choice)), None)
        if choice is not None and kind not in VALUES:
            each_call = [[item if each is choice else each for each in arguments] for item in choice.items]
            return Choice([self.call(value, each) for each in each_call])
        if not arguments and self.language == "perl" and kind not in _QUIET:
            arguments = [self.variables.get("$_", _UNKNOWN)]
        call = Call(kind, value.name, arguments, value.receiver)
        self._doubt_indirect(call)
        self.is_sure = self.is_sure and kind in _QUIET
        self.forks = self.forks or kind == "fork"
        folder = self.folder
        if (handler := getattr(self, f"_on_{kind.partition('_')[0]}", None)) is not None:
            handler(call)
        result = self._result(call)
        items = items_of(call.subject or List(flat(call.plain))) if kind in ("each", "call") else [("", result)]
        for function in flat(arguments):
            if isinstance(function, Function):
                for key, item in items:
                    self.invoke(function, [Data(key), item] if key and len(function.names) > 1 else [item])
                self.folder = folder  # Ruby's Dir.chdir with a block
        for key in [key for key, each in self.variables.items() if each is value.receiver and call.name[-1:] == "!"]:
            self.variables[key] = result
        return result

    def _doubt_indirect(self, call: Call) -> None:
        """Note a function that runs something, and is given to another function or called by its name."""
        first, is_by_name = call.argument(), call.kind == "call"
        is_unknown = is_by_name and first.text == UNKNOWN and (type(first) is Data or self.language == "ruby")
        if call.owner in _OWNERS and (is_unknown or UNKNOWN in call.name):
            self.doubt("something that is not known is called")
        passed = [call.receiver] if call.receiver is not None and call.name in ("call", "apply", "bind") else []
        for value in passed + call.arguments if call.kind not in VALUES else ():
            kind = self.kind_of(value.name if isinstance(value, Reference) else value.text if is_by_name else "")
            if kind == "eval" and self.is_online:
                self.code(Data(UNKNOWN, _NETWORK))
            elif kind in _RUNNERS or (kind and kind not in _QUIET and is_by_name):
                self.doubt("a function that runs something is passed on")

    def _result(self, call: Call) -> Data:
        """Return the value that a call returns."""
        kind, first = call.kind, call.argument()
        operands = call.arguments if call.subject is None else [call.subject, *call.arguments]
        labels = labels_of(operands)
        if kind in VALUES:
            return compute(kind, operands, self.language)
        if kind == "source" and self.language in ("node", "lua"):
            self.select_calls(first.text)
            return Reference(re.split(r"[./:]", first.text)[-1])
        if kind == "variable" or (call.receiver is ALL_VARIABLES and call.name in ("get", "fetch")):
            return self.variable(first.text)
        if kind == "stdin" or (kind == "read" and first.text in ("0", "/dev/stdin", "php://stdin")):
            return self.stdin
        if kind == "argument" and not call.arguments:
            return self._shifted("$_" if self.open else self.table["arguments"][0])
        if kind in ("get", "post", "socket") or (kind == "read" and "://" in first.text):
            return Data(UNKNOWN, labels | {NETWORK})
        if kind == "read":
            return Data(UNKNOWN, labels | {FILE + first.text})
        if kind == "walk":
            path = (flat(call.plain) or [_UNKNOWN])[-1]
            return Data(f"{path.text.rstrip('/')}/{UNKNOWN}" if path.text != UNKNOWN else UNKNOWN, labels)
        return Reference("RegExp") if call.name == "RegExp" else Data(UNKNOWN, labels)

    def _shifted(self, name: str) -> Data:
        """Return the first item of a list of arguments, and take it out."""
        first, *rest = flat([self.reference(name)]) or [_UNKNOWN]
        self.variables[name] = List(rest if first.is_known else [first, *rest])
        return first

    def doubt(self, why: str) -> None:
        """Note something that could not be analysed."""
        if why not in self.found.doubts:
            self.found.doubts.append(why)

    def effect(
        self, kind: str, path: Data, labels: frozenset[str] = NO_LABELS, method: str = "", *, recursive: bool = False
    ) -> None:
        """Add an effect on a file or a host."""
        text = path.text if kind in _ELSEWHERE else file_of_address(path.text) or path.text
        if self.folder and kind not in _ELSEWHERE and not text.startswith(("/", "~")):
            text = f"{self.folder.rstrip('/')}/{text}"
        made = (kind, text, recursive, labels, method)
        if made not in self.found.effects:
            self.found.effects.append(made)

    def shell(self, data: Data) -> None:
        """Add a command line."""
        made = Data(f"cd {quote(self.folder)}\n{data.text}" if self.folder else data.text, data.labels | self.own)
        if made not in self.found.shells:
            self.found.shells.append(made)
        self._bare_shell(data.text.split(), data.labels)

    def program(self, words: list[Data]) -> None:
        """Add a program that is started without a shell."""
        self._bare_shell([word.text for word in words], NO_LABELS)
        if self.folder:
            words = [Data("env"), Data("-C"), Data(self.folder), *words]
        argv = [word.text for word in words]
        if words and argv not in self.found.programs:
            for position, word in enumerate(words):
                if word.labels | self.own:
                    self.found.origins[len(self.found.programs), position] = word.labels | self.own
            self.found.programs.append(argv)

    def _bare_shell(self, words: list[str], labels: frozenset[str]) -> None:
        """Note a shell that takes its commands from the code, or from a connection."""
        words = [word for word in words[words[:1] == ["exec"] :] if "<&" not in word and ">&" not in word]
        if words and words[0].rpartition("/")[2] in _SHELLS and _INTERACTIVE.issuperset(words[1:]):
            if self.is_online or NETWORK in labels:
                self.effect("run", Data("/bin/sh"), _NETWORK)
            else:
                self.doubt("a shell is given commands that are not known")

    def code(self, data: Data) -> None:
        """Add a text that is run as code."""
        if data.text == UNKNOWN and not data.labels and not self.is_online:
            self.doubt("a text that is not known is run as code")
            return
        fetched = _NETWORK if self.is_online and not data.is_known else NO_LABELS
        self.found.codes.append((self.language, Data(data.text, data.labels | self.own | fetched)))

    def _on_program(self, call: Call) -> None:
        """A function that does the same as a program."""
        program, words = call.kind.removeprefix("program_"), flat(call.plain)
        if program in ("chmod", "kill", "chown") and self.language in ("node", "php"):
            words = words[1:2] + words[:1]
        if program in ("chmod", "kill") and words:
            words[0] = Data("-" * (program == "kill") + re.sub(r"^(?:-|0o?(?=\d))", "", words[0].text))
        self.program([Data(program), *[Data("-R")] * call.name.endswith("_R"), *words])

    def _on_print(self, call: Call) -> None:
        data = joined(call.arguments, {"node": " ", "lua": "\t", "ruby": "\n"}.get(self.language, ""))
        ends = call.name in ("log", "puts", "say", "p") or (call.name == "print" and self.language == "lua")
        self.is_sure = self.is_sure and not (len(call.arguments) > 1 and "%" in data.text)
        self.printed.append(Data(data.text + "\n" if ends and data.text[-1:] != "\n" else data.text, data.labels))

    def _on_doubt(self, _call: Call) -> None:
        self.doubt("a system call by its number, or a foreign function, is called")

    def _on_shell(self, call: Call) -> None:
        self.shell(call.argument())

    def _on_words(self, call: Call) -> None:
        """A command line, or a program and its arguments: as texts, in lists or as options."""
        start, end = 2 * (call.name in ("open2", "open3")), 1 if call.name in ("popen", "proc_open") else None
        plain = call.plain[start:end]
        words = flat([*plain, *(each for name in ("cmd", "args") if (each := call.option(name)) is not None)])
        is_line = len(words) == 1 and (words == plain or self.language == "perl")
        if is_line or call.option("shell") is not None:
            self.shell(joined(words, " "))
        else:
            self.program(words)

    def _on_eval(self, call: Call) -> None:
        code = call.argument(-1 if call.name in ("Function", "create_function") else 0)
        is_timer = call.name.startswith("set") and isinstance(code, Reference)  # the name of a function
        if call.arguments and not isinstance(code, Function) and not is_timer:
            self.code(code)

    def _on_source(self, call: Call) -> None:
        data = call.argument()
        if "://" in data.text:
            self.effect("run", data, _NETWORK)
        elif data.text.startswith("data:"):
            self.code(Data(UNKNOWN, data.labels))
        elif data.labels or (data.is_known and call.name in ("load", "dofile", "loadfile", "do")):
            self.effect("run", data, data.labels)

    def _on_delete(self, call: Call) -> None:
        recursive = call.kind == "delete_tree" or call.option("recursive") is not None
        for path in flat(call.plain):
            if not path.text.isdecimal():
                self.effect("delete", path, recursive=recursive)

    def _on_write(self, call: Call) -> None:
        flags = [each.name if isinstance(each, Reference) else each.text for each in flat(call.arguments[2:])]
        append = call.kind == "append" or "FILE_APPEND" in flags or "a" in flags
        path, content = call.argument(), call.argument(1)
        self.effect("write", path, content.labels, "append" if append else "")
        is_later = call.kind == "write_later"
        if path.is_known and call.kind != "write_bare" and (is_later or len(call.arguments) > 1):
            self.found.files[path.text] = Data(UNKNOWN if append or is_later else content.text, content.labels)

    _on_append = _on_write

    def _on_read(self, call: Call) -> None:
        path = call.argument()
        if path.text.startswith("|"):
            self.shell(Data(path.text[1:], path.labels))
        elif "://" in path.text and not path.text.startswith(("file://", "php://")):
            self._on_get(call)
        elif path.text not in ("0", "/dev/stdin") and not path.text.startswith("php://"):
            self.effect("read", path)

    def _on_open(self, call: Call) -> None:
        """Open a file or, in Perl and Ruby, a command."""
        path, mode, rest = call.argument(), call.argument(1).text.strip(), flat(call.arguments[2:])
        if self.language == "perl":
            path = rest[0] if rest else Data(mode.strip("+<>| "), call.argument(1).labels)
            if mode.startswith("|") or mode.endswith("|"):
                path = Data("|" + path.text, path.labels)
        if len(rest) > 1 and path.text.startswith("|"):
            self.program(rest)
        elif path.text.startswith("|") or not mode.startswith((">", "+", "w", "a", "x", "c")):
            self._on_read(Call("read", call.name, [path], None))
        elif "&" not in mode:
            self.effect("write", path, method="append" if mode.startswith(("a", ">>")) else "")

    def _on_copy(self, call: Call) -> None:
        path = call.argument()
        is_page = "://" in path.text
        self.effect("delete" if call.kind == "move" else "receive" if is_page else "read", path)
        self.effect("write", call.argument(1), _NETWORK if is_page else frozenset((FILE + path.text,)))

    _on_move = _on_copy

    def _on_chdir(self, call: Call) -> None:
        self.folder = call.argument().text if call.argument().is_known else ""

    def _on_get(self, call: Call) -> None:
        """Receive a page, or send something: a body, or anything of this machine in the address or the headers."""
        default = {"post": "POST", "get_delete": "DELETE"}.get(call.kind, "GET")
        method = (call.option("method", "type") or Data(default)).text.upper()
        address = _address(call.argument())
        proxy = call.option("proxy", "baseURL")
        if proxy is not None:
            self.effect("receive", _address(proxy))
        self.is_online = True
        if call.name == "fetch" and _OF_PAGE.match(address.text):
            return
        if address.text.startswith("file:"):
            self.effect("read", address)
            return
        named = names_of(call.option("headers", "cookies") or _UNKNOWN)
        others = [value for value in flat(call.arguments) if value is not address and value not in named.values()]
        labels = credentials.in_address(address.text, address.labels) | labels_of(others)
        for name, value in named.items():
            labels |= credentials.as_login(value.labels) if credentials.is_login_header(name) else value.labels
        labels -= _NETWORK
        is_sent = method in ("POST", "PUT", "PATCH", "DELETE") or call.option(*_BODIES) is not None or _tells(labels)
        words = [name for value in call.arguments for name in names_of(value)]
        carried = credentials.in_token_request(address.text, [*words, *(each.text for each in others)], labels)
        kind, method = "send" if is_sent else "receive", "" if UNKNOWN in method else method
        self.effect(kind, address, carried if is_sent else NO_LABELS, method)

    _on_post = _on_get

    def _on_socket(self, call: Call) -> None:
        """A connection to a host and port."""
        self.is_online = True
        host, port = call.option("PeerAddr", "PeerHost", "host", "hostname"), call.option("PeerPort", "port")
        words = flat(call.plain[:2]) if host is None else [host, *([port] if port is not None else [])]
        if words:
            words.sort(key=lambda word: word.text.isdecimal())
            self.effect("receive", joined(words, ":"))

    def _on_send(self, call: Call) -> None:
        """Data for an open connection, whichever it is."""
        labels = labels_of(call.arguments) - _NETWORK
        if _tells(labels):
            self.effect("send", Data(UNKNOWN), labels)


def _tells(labels: frozenset[str]) -> bool:
    """Whether something of this machine is among the origins that the labels name."""
    return any(label.startswith(_TELLING) for label in labels)


def _address(value: Data) -> Data:
    """Return the address that a URL or a table of options names."""
    return next((names_of(value)[name] for name in _ADDRESSES if name in names_of(value)), value)
