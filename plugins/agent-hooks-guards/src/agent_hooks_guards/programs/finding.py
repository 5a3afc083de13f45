"""Which files an expression of ``find`` reaches, as far as its tests tell."""

from __future__ import annotations

from .noting import inside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_hooks_guards.model.options import Options

# Tests and options that leave out nothing of what is looked at; actions are true.
_WIDE_TESTS = frozenset(
    (
        "-depth -d -maxdepth -xdev -x -mount -true -follow -noleaf -regextype -warn -nowarn -ignore_readdir_race"
        " -daystart -H -L -P -O -D -E -X -s -f -a -and"
    ).split()
)
_ACTIONS = frozenset(
    (
        "-delete -print -print0 -printf -ls -fprint -fprint0 -fprintf -fls -exec -execdir -ok -okdir -quit -prune"
        " -files0-from"
    ).split()
)
_NAMES = frozenset(("-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-regex", "-iregex", "-lname"))
_MAX_NAMES = 16


class Reach:
    """The files for which an action is done: all that is in a folder, and the folder, unless ``is_narrow``.

    ``names``: those that they may have, none if that is not known. ``lowest``: how many levels below the folder they
    begin.
    """

    __slots__ = ("is_narrow", "lowest", "names")

    def __init__(self, names: list[str], lowest: int, *, is_narrow: bool) -> None:
        self.is_narrow = is_narrow
        self.names = names
        self.lowest = lowest

    def below(self, start: str) -> list[str]:
        """Paths that stand for files reached in the folder ``start``."""
        if self.is_narrow and self.names:
            return [name if name[:1] == "/" else inside(inside(start), name) for name in self.names]
        return [inside(start)]


EVERYTHING = Reach([], 0, is_narrow=False)


def reaches(options: Options) -> Iterator[tuple[str, str | None, Reach]]:
    """Tell the actions of an expression with their values, and the files each is done for; at the end, with "" for the
    action, the files that are found.
    """
    # Whether tests leave something out: of the alternative being read, of those before it, and of the brackets outside.
    narrow = False
    alternatives: list[bool] = []
    outside: list[tuple[bool, list[bool], bool]] = []
    negated = False
    lowest = 0
    names: list[str] = []
    pruned = passed = 0  # names before this one are of what is passed over
    for name, value in options.given:
        if name in ("!", "-not"):
            negated = not negated
            continue
        if name in _ACTIONS:
            # What stands behind an action is not asked.
            yield name, value, Reach(names[pruned:], lowest, is_narrow=narrow or any(was for was, _, _ in outside))
            if name == "-prune":
                passed = len(names)
        elif name == "(":
            outside.append((narrow, alternatives, negated))
            narrow, alternatives = False, []
        elif name == ")" and outside:
            is_narrow = narrow and all(alternatives)
            narrow, alternatives, was_negated = outside.pop()
            narrow = narrow or (is_narrow and not was_negated)
        elif name in ("-o", "-or"):
            alternatives.append(narrow)
            narrow = False
            pruned = passed
        elif name == ",":  # the next expression is about all files again
            narrow, alternatives = False, []
            pruned = len(names)
        elif name == "-mindepth":
            lowest = int(value) if value and value.isdecimal() and len(value) < 4 else 0
        elif not negated:
            narrow = narrow or _leaves_out(name, value or "")
            if name in _NAMES and value and len(names) < _MAX_NAMES:
                names += _names_like(name, value)
        negated = False
    yield "", None, Reach(names[pruned:], lowest, is_narrow=narrow and all(alternatives[pruned > 0 :]))


def _names_like(test: str, value: str) -> list[str]:
    """Return the names that a test leaves, as globs: for a path the parts of it that are known, or all of it."""
    if test.endswith("name") and "whole" not in test:
        return [value]
    if "regex" in test:
        text = value.replace("\\", "").strip("^$").replace(".*", "*").replace(".+", "*")
        folder, _, last = text.replace("[^/]*", "*").rpartition("/")
        if not last.strip("*?."):
            folder, last = folder.rpartition("/")[2], last or "*"
            return [f"{each.strip('()')}/{last}" for each in folder.split("|") if each.strip("()*?.")]
        return [each.strip("()") for each in last.split("|")]
    if value[:1] == "/":
        return [value]
    parts = value.split("/")
    while len(parts) > 1 and not parts[0].strip("*.") and len(parts[0]) < 3:
        del parts[0]
    path = "/".join(parts)
    # All that is in a folder is the folder.
    return [path, path[:-2]] if path.endswith("/*") and len(path) > 2 else [path]


def behind_start(options: Options) -> str:
    """Return what the name of a folder that is looked through must end with to mean the same: ``-H`` and ``-L`` follow
    a link as a slash does.
    """
    return "/" if options.has("-H|-L|-follow") else ""


def _leaves_out(name: str, value: str) -> bool:
    """Whether a test leaves something out that is worth keeping."""
    if "regex" in name and name in _NAMES:  # what stands behind a backslash is a class or a group
        plain = "".join(part[1:] for part in f" {value}".split("\\"))
        return any(map(str.isalnum, plain))
    if name in _NAMES:
        return bool(value.strip("*?./^$"))  # ".*" is the expression for anything, and "?*" is any name
    if name == "-type":
        return not set(value) <= set("fd,")
    return name not in _WIDE_TESTS
