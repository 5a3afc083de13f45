"""The calls of a script: functions by their names, their arguments and results."""

from __future__ import annotations

import re
from functools import cache

from agent_hooks_guards.model.values import NETWORK, UNKNOWN, Data
from agent_hooks_guards.places.credentials import private, variable_labels

from . import FILE, STDIN
from .script_effects import QUIET, RUNNERS, Call, Effects
from .script_tokens import load_language
from .script_values import ALL_VARIABLES, VALUES, Function, List, Reference, Table, compute, flat, labels_of

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


class Calls(Effects):
    """The state of the walk through a script, and the functions that it calls."""

    def __init__(self, text: str, language: str, labels: frozenset[str], environment: dict[str, Data]) -> None:
        super().__init__(language, labels)
        self.text = text
        self.own_value = private(labels)
        self.table = load_language(language)
        self.arguments: list[Data] = []
        self.environment = environment
        self.stdin = Data(UNKNOWN, frozenset((STDIN,)))
        self.variables: dict[str, Data] = {}
        self.branches = 0
        self.open: list[Function] = []
        self.pending: dict[int, Function] = {}  # functions that are not called yet
        self.words: set[str] = set()
        self.select_calls(text)

    def select_calls(self, text: str) -> None:
        """Let the calls count that the words of a text make possible; all, if it is not known."""
        self.words.update(re.findall(rf"[\w-]+|{UNKNOWN}", text))
        sections = [each.get("needs", "").split() for each in self.table["calls"]]
        needed = [at for at, needs in enumerate(sections) if not needs or not self.words.isdisjoint({*needs, UNKNOWN})]
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
        default = Data("~") if name == "HOME" else Data(UNKNOWN, variable_labels(name))
        return self.environment.get(name, default)

    def index(self, value: Data, key: str) -> Data:
        """Return a member of a value, or an item of a list: all of them, if it is not known which."""
        if value is ALL_VARIABLES and (key.isupper() or key in self.environment):
            return self.variable(key)
        if isinstance(value, List) and UNKNOWN in key:
            return value
        if isinstance(value, List) and key.isdecimal():
            found = value.items[int(key) - (self.language == "lua") :]
            return found[0] if found else _UNKNOWN
        if isinstance(value, Table) and key in value.items:
            return value.items[key]
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
        if not arguments and self.language == "perl" and kind not in QUIET:
            arguments = [self.variables.get("$_", _UNKNOWN)]
        call = Call(kind, value.name, arguments, value.receiver)
        self._doubt_indirect(call)
        self.is_sure = self.is_sure and kind in QUIET
        folder = self.folder
        self.handle(call)
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
        first = call.argument()
        is_by_name = call.kind == "call" and call.owner in _OWNERS and first.text == UNKNOWN
        is_unknown = is_by_name and (type(first) is Data or self.language == "ruby")
        if is_unknown or (UNKNOWN in call.name and call.owner in _OWNERS):
            self.doubt("something that is not known is called")
        passed = [*call.arguments]
        if call.receiver is not None and call.name in ("call", "apply", "bind"):
            passed.append(call.receiver)
        for value in passed if call.kind not in VALUES else ():
            text = value.text if call.kind == "call" else ""
            kind = self.kind_of(value.name if isinstance(value, Reference) else text)
            if kind == "eval" and self.is_online:
                self.code(Data(UNKNOWN, frozenset((NETWORK,))))
            elif kind in RUNNERS or (kind and kind not in QUIET and text):
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
        if kind == "argument":
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
        self.variables[name] = List(rest)
        return first


def items_of(value: Data) -> list[tuple[str, Data]]:
    """Return what a loop over a value gives: each item with its key; the value itself, if it is no known list."""
    if isinstance(value, Table):
        return list(value.items.items())
    return [("", item) for item in value.items] if isinstance(value, List) and value.items else [("", value)]
