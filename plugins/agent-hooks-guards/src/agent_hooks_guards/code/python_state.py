"""The state of one walk over Python code: its syntax tree, the tables of python.toml, scopes, findings."""

from __future__ import annotations

import ast
import builtins
import os
import re
import warnings
from textwrap import dedent

from agent_hooks_guards.model.tables import load_tables
from agent_hooks_guards.model.values import NO_LABELS, UNKNOWN, Data

from . import STDIN, Found
from .python_values import Value, is_text, items_of, labels_of, text_of, wrap

# The name in the place of a part of the code that is not known.
PLACEHOLDER = "unknown_text_"
_MOST_STEPS = 50_000
_MOST_STEPS_OF_A_LOOP = 4_000
_MOST_FOUND = 300
_ANY_LINES = f"{UNKNOWN}\n"


class TooMuchError(Exception):
    """The code is deeper, longer or does more than the walk allows."""


def parse(text: str) -> ast.Module | None:
    """Return the syntax tree of a text; None if it cannot be parsed."""
    named = re.sub(rf"\w*{UNKNOWN}[\w{UNKNOWN}]*", PLACEHOLDER, text) if UNKNOWN in text else text
    for each in dict.fromkeys((text, named, dedent(named.replace("\r\n", "\n")).lstrip().replace("\x00", ""))):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return ast.parse(each)
        except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError):
            continue
    return None


class _Table:
    """The entries of python.toml by name: ``calls`` has those of ``[calls]`` and the kinds of the other tables."""

    def __init__(self) -> None:
        data = load_tables(os.path.dirname(__file__))["python"]
        self.effects = _by_name(data["effects"])
        self.programs: dict[str, str] = data["programs"]
        self.calls = {
            **dict.fromkeys(self.effects, "effects"),
            **dict.fromkeys(self.programs, "template"),
            **_by_name(data["calls"]),
        }
        self.methods: dict[str, str] = data["methods"]
        self.aliases = _by_name(data["aliases"])
        self.constants: dict[str, str | int] = data["constants"]
        words = {key: text.split() for key, text in data["words"].items()}
        self.inside, self.risky = frozenset(words["inside"]), frozenset(words["risky"])
        self.tails = {name.rpartition(".")[2]: name for name in words["tails"]}
        self.harmful = words["harmful"]


def _by_name(groups: dict[str, str]) -> dict[str, str]:
    return {name: group for group, names in groups.items() for name in names.split()}


TABLE = _Table()
_BUILTINS = frozenset(dir(builtins)) | {"raw_input", "execfile", "file", "get_ipython", "__builtins__", "__loader__"}


def aliased(dotted: str) -> str:
    """Return the name that the tables use for a module or function."""
    return TABLE.aliases.get(dotted, dotted)


class Scope:
    """The names of a module, function or class, and the scope around it.

    ``stars``: modules imported with ``*``; ``returned``: the values that a function returned.
    """

    __slots__ = ("globals", "names", "parent", "returned", "stars")

    def __init__(self, parent: Scope | None = None) -> None:
        self.names: dict[str, Value] = {}
        self.parent = parent
        self.globals: set[str] = set()
        self.stars: list[str] = [] if parent is None else parent.stars
        self.returned: list[Value] = []

    def top(self) -> Scope:
        """Return the scope of the module."""
        return self if self.parent is None else self.parent.top()

    def find(self, name: str) -> Value:
        """Return the value of the name; a builtin if nothing defines it."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            scope = scope.parent
        for module in self.stars:
            if f"{module}.{name}" in TABLE.calls:
                return Value(f"{module}.{name}", kind="name")
        if name == "__name__":
            return Value("__main__")
        return Value(aliased(name), kind="name") if name in _BUILTINS else Value()


class Findings:
    """The results of a walk, and the state of the process that the code would run in.

    ``arguments`` is ``sys.argv``; ``labels``: the origin of the code; ``stdin``: its standard input, if known;
    ``variables``: the known variables of the environment. ``environment`` and ``cwd``: the variables and the directory
    that the code sets. ``members``: the attributes and methods of the code's
    own classes, by name. ``running``: the functions being called; ``uncalled``: functions that nothing called yet;
    ``loops`` and ``endless``: how many loops, and loops without an end, the walk is in. ``has_choice``: whether a
    condition was not known; ``takes_last``: whether the last branch of such a condition assigns names.
    """

    def __init__(
        self, arguments: list[str], labels: frozenset[str], stdin: str | None, variables: dict[str, Data]
    ) -> None:
        self.found = Found()
        self.arguments = arguments
        self.labels = labels
        self.stdin = stdin
        self.variables = variables
        self.has_choice = self.takes_last = False
        self._steps = 0
        self._known: set[object] = set()
        self._reset()

    def _reset(self) -> None:
        self.environment: dict[str, Value] = {}
        self.cwd: str = ""
        self.members: dict[str, Value] = {}
        self.loops = self.endless = 0
        self.scope = Scope()
        self.running: list[ast.AST] = []
        self.uncalled: dict[ast.AST, Value] = {}
        self._prints: list[Data] = []

    def restart(self) -> None:
        """Prepare the pass that takes the last branches; keep the findings."""
        self._reset()
        self.found.files = {}
        self.takes_last = True

    def is_new(self, item: object) -> bool:
        """Whether this was not found yet."""
        if item in self._known:
            return False
        if len(self._known) > _MOST_FOUND:
            raise TooMuchError
        self._known.add(item)
        return True

    def effect(
        self, kind: str, path: str, *, recursive: bool = False, labels: frozenset[str] = NO_LABELS, method: str = ""
    ) -> None:
        """Record an effect."""
        item = (kind, path, recursive, labels, method)
        if self.is_new(item):
            self.found.effects.append(item)

    def doubt(self, text: str) -> None:
        """Record something that runs and could not be analysed."""
        if self.is_new(("doubt", text)):
            self.found.doubts.append(text)

    def set_member(self, name: str, value: Value) -> None:
        """Set an attribute of the objects of all classes; a flag or a counter may change in other methods."""
        self.members[name] = Value() if isinstance(value.it, (int, type(None))) else value

    def path(self, value: Value) -> str:
        """Return the path that a value names."""
        text = text_of(value)
        return f"{self.cwd}/{text}" if self.cwd and not text.startswith(("/", "~")) else text

    def echo(self, value: Value) -> None:
        """Record printed text."""
        self.step(value)
        self._prints.append(Data(text_of(value), labels_of(value)))

    def may_print(self) -> None:
        """Record that anything may be printed here."""
        if not self._prints or self._prints[-1].text != _ANY_LINES:
            self._prints.append(Data(_ANY_LINES))

    def output(self) -> Data:
        """Return the printed text; unknown if no call that prints was seen."""
        labels = self.labels.union(*(each.labels for each in self._prints))
        return Data("".join(each.text for each in self._prints) if self._prints else UNKNOWN, labels)

    def input(self, *, is_line: bool = False) -> Value:
        """Return the standard input, or a line of it."""
        is_known = self.stdin is not None and not (is_line and "\n" in self.stdin[:-1])
        return Value(self.stdin if is_known else UNKNOWN, frozenset((STDIN,)))

    def items(self, value: Value) -> list[Value]:
        """Return the items that iteration over a value gives; one unknown item if they are not known."""
        if (value.type == "name" and value.it.startswith("sys.stdin")) or STDIN in value.labels:
            value = value if is_text(value) else self.input()
            value = wrap(text_of(value).splitlines(keepends=True), value.labels) if value.it != UNKNOWN else value
        return items_of(value) or [Value(UNKNOWN, labels_of(value))]

    def step(self, value: Value | None = None) -> None:
        """Count work: one step, and more for a long value."""
        it = value.it if value is not None else ""
        self._steps += 1 + (len(it) // (64 if isinstance(it, (str, bytes)) else 8) if hasattr(it, "__len__") else 0)
        if self._steps > _MOST_STEPS:
            raise TooMuchError

    def work(self) -> tuple[int, int]:
        """Return the work so far, and the number of findings."""
        return self._steps, len(self._known)

    def is_idle(self, start: tuple[int, int]) -> bool:
        """Whether a loop has run for long since ``start`` and found nothing new."""
        return self._steps - start[0] > _MOST_STEPS_OF_A_LOOP and len(self._known) == start[1]
