"""The tables of python.toml, the names that Python code gives to values, and its calls."""

from __future__ import annotations

import builtins
import tomllib
from pathlib import Path

from .python_values import Value, labels_of, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .python_expressions import Expressions


class _Table:
    """The entries of python.toml by name: ``calls`` has those of ``[calls]`` with the kinds of the other tables."""

    def __init__(self) -> None:
        data = tomllib.loads(Path(__file__).with_name("python.toml").read_text("utf-8"))
        self.effects = _by_name(data["effects"])
        self.programs: dict[str, str] = data["programs"]
        self.objects = _by_name(data["objects"])
        self.calls = {
            **dict.fromkeys(self.effects, "effects"),
            **dict.fromkeys(self.programs, "template"),
            **dict.fromkeys(self.objects, "object"),
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
    """Return the name in the tables of a module or function."""
    return TABLE.aliases.get(dotted, dotted)


class Scope:
    """The names of a module, function or class, each with the values that it may have, and the scope around it.

    ``stars``: modules that all names were imported from; ``returned``: values that a function returned or yielded.
    """

    __slots__ = ("globals", "names", "parent", "returned", "stars")

    def __init__(self, parent: Scope | None = None) -> None:
        self.names: dict[str, list[Value]] = {}
        self.parent = parent
        self.globals: set[str] = set()
        self.stars: list[str] = []
        self.returned: list[Value] | None = None

    def owner(self, name: str) -> Scope | None:
        """Return the scope that has the name; None if nothing defines it."""
        scope: Scope | None = self
        while scope is not None and name not in scope.names:
            scope = scope.parent
        return scope

    def top(self) -> Scope:
        """Return the scope of the module."""
        return self if self.parent is None else self.parent.top()

    def find(self, name: str) -> Value:
        """Return a value of the name, of Python's own if nothing defines it."""
        owner = self.owner(name)
        if owner is not None:
            return owner.names[name][0]
        for module in self.top().stars:
            if f"{module}.{name}" in TABLE.calls:
                return Value(f"{module}.{name}", kind="name")
        if name == "__name__":
            return Value("__main__")
        return Value(aliased(name), kind="name") if name in _BUILTINS else Value()


class Call:
    """A call: its dotted name and its arguments, of which the first is the object for a method."""

    __slots__ = ("arguments", "keywords", "name", "walk")

    def __init__(self, walk: Expressions, name: str, arguments: list[Value], keywords: dict[str, Value]) -> None:
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
        """Return where all arguments come from."""
        return labels_of(*self.arguments, *self.keywords.values())
