"""What a shell knows at one point of a command: variables, functions, folders, files that were written on the way."""

from __future__ import annotations

from agent_hooks_guards.model.values import ANYTHING, NO_LABELS, NOTHING, UNKNOWN, Data
from agent_hooks_guards.places.credentials import variable_labels
from agent_hooks_guards.places.paths import Simplified

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent_hooks.shell.syntax import Node

    Values = tuple[Data, ...]
    # By index or key, as bash shows them.
    Array = dict[str, Data]
    Last = tuple[list[str], dict[int, frozenset[str]]]

# A variable or a file of which more is possible is simply not known.
_MAX_ALTERNATIVES = 4
_UNKNOWN_VALUE: Values = (ANYTHING,)
_UNSET: Values = (NOTHING,)

# What every shell sets, as far as it tells anything.
_GIVEN = {
    "IFS": " \t\n",
    "SHELL": "/bin/bash",
    "BASH": "/bin/bash",
    "SHLVL": "1",
    "OPTIND": "1",
    "USER": UNKNOWN,
    # What these name is theirs to choose, but it is one of a kind.
    "CC": "cc",
    "CXX": "c++",
    "EDITOR": "vi",
    "MAKE": "make",
    "PAGER": "less",
    "PYTHON": "python3",
    "VISUAL": "vi",
    "TMPDIR": f"/tmp/{UNKNOWN}",  # noqa: S108 - a name of theirs, nothing is written
    "#": "0",
    "?": "0",
    "-": "hB",
    "!": "",
}


class Defined:
    """A function: its body, the text that it was read from, and ``definition``, the part of it that it is."""

    __slots__ = ("body", "definition", "text")

    def __init__(self, body: Node, text: str, definition: str) -> None:
        self.body = body
        self.text = text
        self.definition = definition


class State:
    """The variables, functions, aliases, positional parameters, working directory and open files of one shell.
    ``files`` and ``links`` are everybody's: what is written in a subshell is there afterwards.

    A variable has one value or a few, any of which it may have where branches have met.
    """

    __slots__ = (
        "aliases",
        "arrays",
        "associative",
        "choice",
        "cwd",
        "descriptors",
        "exported",
        "files",
        "functions",
        "handed_down",
        "home",
        "host",
        "integers",
        "is_fresh",
        "last_words",
        "links",
        "mounts",
        "name",
        "output",
        "positional",
        "references",
        "root",
        "variables",
        "widest",
    )

    def __init__(self, cwd: str, home: str, files: dict[str, Values]) -> None:
        self.variables: dict[str, Values] = {}
        # Never changed in place, for copies of the state share them.
        self.arrays: dict[str, Array] = {}
        self.associative: frozenset[str] = frozenset()
        # Names that stand for other names: `declare -n`.
        self.references: dict[str, str] = {}
        # Names whose values are arithmetic: `declare -i`.
        self.integers: frozenset[str] = frozenset()
        self.functions: dict[str, Defined] = {}
        # Those that shells which are started get, too.
        self.exported: dict[str, Defined] = {}
        # The variables that all programs get: `export x`.
        self.handed_down: frozenset[str] = frozenset()
        self.aliases: dict[str, str] = {}
        self.positional: list[Data] = []
        self.descriptors: dict[int | str, Data | str] = {}
        # The file or process to which `exec >` let go what is printed; "" for none.
        self.output = ""
        self.name = "bash"
        self.cwd = cwd
        self.home = home
        self.host = ""
        self.root = False
        self.files = files
        # Names of other files and folders, made on the way: where they lead.
        self.links: dict[str, str] = {}
        # Folders of the container that it is in, which are folders of this machine.
        self.mounts: dict[str, str] = {}
        # The words of the command before, for `$_`.
        self.last_words: Last = ([], {})
        # Whether a lower-case variable that was not set here is empty, as it is in a shell that just began.
        self.is_fresh = True
        # Which of several possible values is looked at, and of how many at most.
        self.choice = 0
        self.widest = 1

    def copy(self) -> State:
        """Return a state that changes apart from this one, but for the files."""
        new = State.__new__(State)
        new.variables = dict(self.variables)
        new.arrays = dict(self.arrays)
        new.associative, new.references, new.integers = self.associative, self.references, self.integers
        new.functions = dict(self.functions)
        new.exported, new.handed_down = self.exported, self.handed_down
        new.aliases = dict(self.aliases)
        new.positional = self.positional
        new.descriptors = dict(self.descriptors)
        new.output, new.mounts = self.output, self.mounts
        new.name, new.cwd, new.home, new.host, new.root = self.name, self.cwd, self.home, self.host, self.root
        new.files, new.links, new.last_words = self.files, self.links, self.last_words
        new.is_fresh, new.choice, new.widest = self.is_fresh, self.choice, 1
        return new

    def merge(self, other: State) -> None:
        """Let this be what is known where it cannot be told whether this or ``other`` is what happened."""
        if self.variables != other.variables:
            for name in self.variables.keys() | other.variables.keys():
                mine, theirs = self.variables.get(name, _UNSET), other.variables.get(name, _UNSET)
                if mine != theirs:
                    self.variables[name] = either(mine, theirs)
        for name, items in other.arrays.items():
            self.arrays.setdefault(name, items)
        self.associative |= other.associative
        self.references = {**other.references, **self.references}
        for name, body in other.functions.items():
            self.functions.setdefault(name, body)
        self.exported = {**other.exported, **self.exported}
        self.handed_down |= other.handed_down
        self.is_fresh = self.is_fresh and other.is_fresh

    def target(self, name: str) -> str:
        """Return the name of the variable that is meant: another one for a reference."""
        for _ in range(_MAX_ALTERNATIVES):
            if name not in self.references:
                break
            name = self.references[name]
        return name

    def assign(self, name: str, value: Data) -> None:
        """Set a variable; ``name`` may have an index behind it."""
        if self.references:
            name = self.target(name)
        if name.endswith("]"):
            name, _, index = name[:-1].partition("[")
            self.assign_element(name, index, value)
            return
        self.variables[name] = (value,)
        self.arrays.pop(name, None)

    def assign_element(self, name: str, index: str, value: Data) -> None:
        """Set one element of an array; the one behind the last if ``index`` is not known."""
        name = self.target(name)
        items = dict(self.elements(name))
        if name not in self.associative:
            if not index.lstrip("-").isdecimal():
                index = str(next_index(items))
            elif index[0] == "-":
                index = str(next_index(items) + int(index))
        items[index] = value
        self.arrays[name] = items
        self.variables.pop(name, None)

    def assign_array(self, name: str, values: Iterable[Data]) -> None:
        """Set an array, counted from 0."""
        self.set_elements(name, {str(at): value for at, value in enumerate(values)})

    def set_elements(self, name: str, elements: Array) -> None:
        """Set an array."""
        name = self.target(name)
        self.arrays[name] = elements
        self.variables.pop(name, None)

    def value(self, name: str) -> Data:
        """Return what ``$name`` is, one of its values if there are several."""
        found = self.values(name)
        if len(found) == 1:
            return found[0]
        self.widest = max(self.widest, len(found))
        return found[self.choice % len(found)]

    def values(self, name: str) -> Values:
        """Return all that ``$name`` may be."""
        if name in self.references:
            name = self.target(name)
            if name.endswith("]"):
                name, _, index = name[:-1].partition("[")
                return (self.elements(name).get(index, NOTHING),)
        found = self.variables.get(name)
        if found is not None:
            return found
        if name in self.arrays:
            return (self.arrays[name].get("0", NOTHING),)
        if name.isdecimal():
            at = int(name)
            if at == 0:
                return (Data(self.name),)
            return (self.positional[at - 1],) if at <= len(self.positional) else _UNSET
        if name in ("@", "*"):
            return (joined(self.positional),)
        if name == "HOME":
            return (Data(self.home),)
        if name == "PWD":
            return (Data(self.cwd),)
        if name == "#":
            return (Data(str(len(self.positional))),)
        if name == "_":
            words, labels = self.last_words
            return (Data(words[-1], labels.get(len(words) - 1, NO_LABELS)),) if words else _UNSET
        if name in _GIVEN:
            return (Data(_GIVEN[name]),)
        credential = variable_labels(name)
        # Who names a variable of the environment in lower case wrote it here, and here it was not set.
        if self.is_fresh and name.islower() and not name.endswith("_proxy") and not credential:
            return _UNSET
        return (Data(UNKNOWN, credential),) if credential else _UNKNOWN_VALUE

    def is_set(self, name: str) -> bool:
        """Whether the variable was set here."""
        name = self.target(name)
        return (
            name in self.variables
            or name in self.arrays
            or (name.isdecimal() and 0 < int(name) <= len(self.positional))
        )

    def elements(self, name: str) -> Array:
        """Return the elements of an array by index or key; of a plain variable, that."""
        name = self.target(name)
        if name in ("@", "*"):
            return {str(at): value for at, value in enumerate(self.positional, 1)}
        found = self.arrays.get(name)
        if found is None:
            return {"0": self.value(name)} if self.is_set(name) or not self.is_fresh else {}
        if name in self.associative:
            return found
        return {at: found[at] for at in sorted(found, key=_number)}

    def array(self, name: str) -> list[Data]:
        """Return the elements of an array in their order; of a plain variable, that."""
        return self.positional if name in ("@", "*") else list(self.elements(name).values())

    def files_like(self, pattern: str) -> list[str]:
        """Return the files that were written on the way and that a path with globs or ``UNKNOWN`` in it may name."""
        if UNKNOWN not in pattern and "*" not in pattern and "?" not in pattern and "[" not in pattern:
            return []
        from fnmatch import filter as like

        pattern = pattern.replace(f"/{UNKNOWN}/", "/*").replace(UNKNOWN, "*")
        return [path for path in like(self.files, pattern) if not path.startswith("/dev/")]

    def _begun(self, path: str) -> Values | None:
        """Return what was written to a file of which only the beginning of the name is known, if ``path`` begins so."""
        for name, values in self.files.items():
            if name[-1:] == UNKNOWN and path.startswith(name[:-1]) and not name[:-1].endswith(("/", UNKNOWN)):
                return values
        return None

    def file(self, path: str) -> Data | None:
        """Return what was written to ``path`` on the way; None if nothing was."""
        found = self.files.get(path) or self._begun(path)
        if found is None:
            return None
        self.widest = max(self.widest, len(found))
        chosen = found[self.choice % len(found)]
        # Who sends a file sends whatever it may be.
        labels = NO_LABELS.union(*(each.labels for each in found))
        return chosen if labels == chosen.labels else Data(chosen.text, labels)


def next_index(items: Array) -> int:
    """Return the index behind the last one of an array."""
    return max(map(_number, items)) + 1 if items else 0


def _number(index: str) -> int:
    return int(index) if index.lstrip("-").isdecimal() else 0


def followed(path: str, links: dict[str, str]) -> str:
    """Return where a path leads if names in it stand for other files."""
    if isinstance(path, Simplified):
        real = ""
        for part in path.written.split("/"):
            if part == "..":
                real = followed(real, links).rpartition("/")[0]
            elif part not in ("", "."):
                real = f"{real}/{part}"
        if real != path:
            path = real or "/"
    for _ in range(_MAX_ALTERNATIVES):
        start = next((name for name in _outermost_first(path) if name in links), None)
        if start is None:
            break
        rest = path[len(start) :]
        path = f"{links[start].rstrip('/')}{rest}" or "/"
    return path


def _outermost_first(path: str) -> Iterator[str]:
    """Yield the folders that a path is in, and the path itself."""
    at = path.find("/", 1)
    while at > 0:
        yield path[:at]
        at = path.find("/", at + 1)
    yield path


def either(*values: Iterable[Data]) -> Values:
    """Return all of the values, each once; if they are too many, what nobody knows, with the labels of all."""
    found: list[Data] = []
    for some in values:
        found += [each for each in some if each not in found]
    if len(found) <= _MAX_ALTERNATIVES:
        return tuple(found)
    return (Data(UNKNOWN, NO_LABELS.union(*(each.labels for each in found))),)


def joined(parts: Iterable[Data], between: str = " ") -> Data:
    """Return the texts as one."""
    parts = list(parts)
    return Data(between.join(part.text for part in parts), NO_LABELS.union(*(part.labels for part in parts)))
