"""The state of a shell at one point of a command, and the context of each node that is walked."""

from __future__ import annotations

from agent_hooks_guards.model.actions import Command
from agent_hooks_guards.model.values import ANYTHING, NO_LABELS, NOTHING, UNKNOWN, Data
from agent_hooks_guards.places.credentials import variable_labels
from agent_hooks_guards.places.paths import Simplified
from agent_hooks_guards.programs.inner import joined

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent_hooks.shell.syntax import Node
    from agent_hooks_guards.model.actions import Inner

    from .evaluation import Evaluation

    Values = tuple[Data, ...]
    # By index or key, as bash shows them.
    Array = dict[str, Data]
    Last = tuple[list[str], dict[int, frozenset[str]]]
    # The body of a function, the text it was parsed from, and the definition, its own part of that text.
    Defined = tuple[Node, str, str]

# The most possible values of a variable or a file; with more it is unknown.
_MAX_ALTERNATIVES = 4
_UNKNOWN_VALUE: Values = (ANYTHING,)
_UNSET: Values = (NOTHING,)

# Variables that every shell sets.
_GIVEN = {
    "IFS": " \t\n",
    "SHELL": "/bin/bash",
    "BASH": "/bin/bash",
    "SHLVL": "1",
    "OPTIND": "1",
    "USER": UNKNOWN,
    # Programs that users choose; the usual one stands for all.
    "CC": "cc",
    "CXX": "c++",
    "EDITOR": "vi",
    "MAKE": "make",
    "PAGER": "less",
    "PYTHON": "python3",
    "VISUAL": "vi",
    "TMPDIR": f"/tmp/{UNKNOWN}",  # noqa: S108 - compared only, nothing is written
    "?": "0",
    "-": "hB",
    "!": "",
}


# Their inner commands run in the current shell.
_IN_THIS_SHELL = frozenset(("eval", "source", ".", "command", "builtin", "exec", "time", "noglob", "nocorrect", "trap"))


class State:
    """The variables, functions, aliases, positional parameters, working directory and open files of one shell.

    All copies share ``files``, ``links`` and ``moved``: files written in a subshell exist afterwards. After branches, a
    variable has several possible values.
    """

    __slots__ = (
        "variables arrays references integers functions exported handed_down aliases positional descriptors name cwd "
        "home host root files links moved mounts last_words is_fresh choice widest"
    ).split()

    def __init__(self, cwd: str, home: str) -> None:
        self.variables: dict[str, Values] = {}
        # Never changed in place: copies of the state share them.
        self.arrays: dict[str, Array] = {}
        # Names that stand for other names: `declare -n`.
        self.references: dict[str, str] = {}
        # Names whose values are arithmetic: `declare -i`.
        self.integers: frozenset[str] = frozenset()
        self.functions: dict[str, Defined] = {}
        # Functions that inner shells inherit.
        self.exported: dict[str, Defined] = {}
        # Variables that all programs inherit: `export x`.
        self.handed_down: frozenset[str] = frozenset()
        self.aliases: dict[str, str] = {}
        self.positional: list[Data] = []
        self.descriptors: dict[int | str, Data | str] = {}
        self.name = "bash"
        self.cwd = cwd
        self.home = home
        self.host = ""
        self.root = False
        self.files: dict[str, Values] = {}
        # The targets of links that the command made.
        self.links: dict[str, str] = {}
        # Where files were moved to.
        self.moved: set[str] = set()
        # Folders of this machine by the folders of the container that they are mounted on.
        self.mounts: dict[str, str] = {}
        # The arguments of the previous command, for `$_`.
        self.last_words: Last = ([], {})
        # Whether a lower-case variable is empty unless the command set it, as in a new shell.
        self.is_fresh = True
        # The index among possible values to use, and the largest number of them seen.
        self.choice = 0
        self.widest = 1

    def copy(self) -> State:
        """Return an independent copy that shares the files."""
        new = State.__new__(State)  # one by one: a loop over the slots takes three times as long
        new.variables, new.arrays, new.aliases = dict(self.variables), dict(self.arrays), dict(self.aliases)
        new.functions, new.descriptors = dict(self.functions), dict(self.descriptors)
        new.references, new.integers = self.references, self.integers
        new.exported, new.handed_down, new.positional = self.exported, self.handed_down, self.positional
        new.name, new.cwd, new.home, new.host, new.root = self.name, self.cwd, self.home, self.host, self.root
        new.files, new.links, new.mounts, new.last_words = self.files, self.links, self.mounts, self.last_words
        new.moved = self.moved
        new.is_fresh, new.choice, new.widest = self.is_fresh, self.choice, 1
        return new

    def merge(self, other: State) -> None:
        """Add the values of ``other``, the state of another branch, as possible ones."""
        if self.variables != other.variables:
            for name in self.variables.keys() | other.variables.keys():
                mine, theirs = self.variables.get(name, _UNSET), other.variables.get(name, _UNSET)
                if mine != theirs:
                    self.variables[name] = either(mine, theirs)
        for name, items in other.arrays.items():
            self.arrays.setdefault(name, items)
        self.references = {**other.references, **self.references}
        for name, body in other.functions.items():
            self.functions.setdefault(name, body)
        self.exported = {**other.exported, **self.exported}
        self.handed_down |= other.handed_down
        self.is_fresh = self.is_fresh and other.is_fresh

    def target(self, name: str) -> str:
        """Return the name of the variable that ``name`` refers to."""
        for _ in range(_MAX_ALTERNATIVES):
            if name not in self.references:
                break
            name = self.references[name]
        return name

    def assign(self, name: str, value: Data) -> None:
        """Set a variable, or an element: ``name[index]``."""
        if self.references:
            name = self.target(name)
        if name.endswith("]"):
            name, _, index = name[:-1].partition("[")
            self.assign_element(name, index, value)
            return
        self.variables[name] = (value,)
        self.arrays.pop(name, None)

    def assign_element(self, name: str, index: str, value: Data) -> None:
        """Set one element of an array; append it if ``index`` is unknown."""
        name = self.target(name)
        items = dict(self.elements(name))
        if not index or UNKNOWN in index:
            index = str(next_index(items))
        elif index[0] == "-" and index[1:].isdecimal():
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
        """Return the value of ``$name``, one of them if several are possible."""
        found = self.values(name)
        if len(found) == 1:
            return found[0]
        self.widest = max(self.widest, len(found))
        return found[self.choice % len(found)]

    def values(self, name: str) -> Values:
        """Return all possible values of ``$name``."""
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
        if name == "_":
            words, labels = self.last_words
            return (Data(words[-1], labels.get(len(words) - 1, NO_LABELS)),) if words else _UNSET
        given = {"HOME": self.home, "PWD": self.cwd, "#": str(len(self.positional))}.get(name, _GIVEN.get(name))
        if given is not None:
            return (Data(given),)
        credential = variable_labels(name)
        # Environment variables are in upper case, so this one is a variable of the command, and unset.
        if self.is_fresh and name.islower() and not name.endswith("_proxy") and not credential:
            return _UNSET
        return (Data(UNKNOWN, credential),) if credential else _UNKNOWN_VALUE

    def is_set(self, name: str) -> bool:
        """Whether the command set the variable."""
        name = self.target(name)
        return (
            name in self.variables
            or name in self.arrays
            or (name.isdecimal() and 0 < int(name) <= len(self.positional))
        )

    def elements(self, name: str) -> Array:
        """Return the elements of an array by index or key; for a plain variable, its value."""
        name = self.target(name)
        if name in ("@", "*"):
            return {str(at): value for at, value in enumerate(self.positional, 1)}
        found = self.arrays.get(name)
        if found is None:
            return {"0": self.value(name)} if self.is_set(name) or not self.is_fresh else {}
        return {at: found[at] for at in sorted(found, key=_number)}

    def array(self, name: str) -> list[Data]:
        """Return the elements of an array in their order; for a plain variable, its value."""
        return self.positional if name in ("@", "*") else list(self.elements(name).values())

    def files_like(self, pattern: str) -> list[str]:
        """Return the files that the command wrote and that ``pattern``, a path with globs or ``UNKNOWN``, matches."""
        if UNKNOWN not in pattern and "*" not in pattern and "?" not in pattern and "[" not in pattern:
            return []
        from fnmatch import filter as like

        pattern = pattern.replace(f"/{UNKNOWN}/", "/*").replace(UNKNOWN, "*")
        return [path for path in like(self.files, pattern) if not path.startswith("/dev/")]

    def file(self, path: str) -> Data | None:
        """Return the content that the command wrote to ``path``; None if it wrote none."""
        found = self.files.get(path)
        if found is None:
            # Of a file of `mktemp`, only a prefix of the name is known.
            names = (name for name in self.files if name[-1:] == UNKNOWN and path.startswith(name[:-1]))
            prefix = next((name for name in names if not name[:-1].endswith(("/", UNKNOWN))), None)
            if prefix is None:
                return None
            found = self.files[prefix]
        self.widest = max(self.widest, len(found))
        chosen = found[self.choice % len(found)]
        # A sent file may have any of these contents.
        labels = NO_LABELS.union(*(each.labels for each in found))
        return chosen if labels == chosen.labels else Data(chosen.text, labels)


class Frame:
    """The context of a node: the shell's state, the text it was parsed from, its stdin and the wrappers around it."""

    __slots__ = "state text stdin via background endless running is_alone unknown".split()

    def __init__(self, state: State, text: str) -> None:
        self.state = state
        self.text = text
        self.stdin: Data | None = None
        self.via: tuple[str, ...] = ()
        self.background = False
        self.endless = False
        # The active functions and scripts, to detect recursion.
        self.running: tuple[str, ...] = ()
        self.is_alone = True
        # The labels of the unknown parts of `text`.
        self.unknown = NO_LABELS

    def copy(self, *, state: State | None = None) -> Frame:
        """Return an independent frame; it shares the state unless another ``state`` is given."""
        new = Frame.__new__(Frame)
        new.state = self.state if state is None else state
        new.text, new.stdin, new.via = self.text, self.stdin, self.via
        new.background, new.endless, new.running = self.background, self.endless, self.running
        new.is_alone, new.unknown = self.is_alone, self.unknown
        return new

    def command(
        self,
        argv: list[str],
        fragment: str,
        labels: dict[int, frozenset[str]] | None = None,
        assignments: dict[str, Data] | None = None,
        stdin: Data | None = None,
    ) -> Command:
        """Return a command that runs in this frame; without ``argv``, it stands for redirections."""
        first = argv[0] if argv else ""
        name = first.rpartition("/")[2]
        state = self.state
        where = (state.cwd, self.via, state.host, state.root)
        name = first if name in ("$", "") else name
        return Command(name, argv, labels, assignments, stdin, *where, fragment, self.background, self.endless)


class Redirected:
    """The descriptors of a command that are redirected: data for input, paths for outputs.

    ``appends``: the paths of those that keep the content of their file; ``targets``: those of outputs that are not
    dropped.
    """

    __slots__ = ("appends", "named", "stdin", "targets")

    def __init__(self, stdin: Data | None) -> None:
        self.stdin = stdin
        self.named: dict[int | str, Data | str] = {}
        self.appends: set[str] = set()
        self.targets: dict[int | str, str] = {}

    def open_input(self, fd: int | None, data: Data) -> None:
        """Read ``data`` from a descriptor, by default the standard input."""
        self.named[fd or 0] = data
        if not fd:
            self.stdin = data


def frame_of(walk: Evaluation, each: Inner, command: Command, frame: Frame) -> Frame:
    """Return the frame of an inner command or code of ``command``."""
    if command.program in _IN_THIS_SHELL and command.argv[0] == command.program:
        inside = frame.copy()
        state = inside.state
    else:
        state = frame.state.copy()
        inside = frame.copy(state=state)
        state.functions, state.aliases = {}, {}
        for name, data in command.assignments.items():
            state.assign(name, data)
        if command.assignments:
            # A variable that names an inner program does not apply to that program again.
            state.handed_down = state.handed_down.union(command.assignments) - {each.label}
    if each.label:
        inside.via = (*frame.via, each.label)
    if each.host is not None and each.host != state.host:
        state.mounts = {target: walk.path(source, frame) for target, source in each.mounts.items()}
        state.host = each.host
        state.files = {}
        state.variables, state.arrays = {}, {}
        state.cwd = state.home if each.host == "remote" else UNKNOWN
    if each.clears_environment:
        state.variables, state.arrays = {}, {}
    if not each.hands_down:
        state.handed_down = frozenset()
    for name, data in each.assignments.items():
        state.assign(name, data)
    if each.cwd is not None:
        state.cwd = walk.path(each.cwd, inside)
    if each.root is not None:
        state.root = each.root
    inside.stdin = None
    return inside


def next_index(items: Array) -> int:
    """Return the index after the last one of an array."""
    return max(map(_number, items)) + 1 if items else 0


def _number(index: str) -> int:
    return int(index) if index.lstrip("-").isdecimal() else 0


def followed(path: str, links: dict[str, str]) -> str:
    """Return ``path`` with ``links`` resolved."""
    if isinstance(path, Simplified):
        real = ""
        for part in path.written.split("/"):
            if part == "..":
                real = followed(real, links).rpartition("/")[0]
            elif part not in ("", "."):
                real = f"{real}/{part}"
        path = path if real == path else real or "/"
    for _ in range(_MAX_ALTERNATIVES):
        parts = path.split("/")
        folders = ("/".join(parts[:size]) for size in range(1, len(parts) + 1))
        start = next((each for each in folders if each in links), None)
        if start is None:
            break
        rest = path[len(start) :]
        path = f"{links[start].rstrip('/')}{rest}" or "/"
    return path


def either(*values: Iterable[Data]) -> Values:
    """Return all of the values, each once; if they are too many, an unknown value with the labels of all."""
    found: list[Data] = []
    for some in values:
        found += [each for each in some if each not in found]
    if len(found) <= _MAX_ALTERNATIVES:
        return tuple(found)
    return (Data(UNKNOWN, NO_LABELS.union(*(each.labels for each in found))),)
