"""``find`` and ``fd``: the files that their tests leave, which they delete or hand to other programs."""

from __future__ import annotations

from agent_hooks_guards.model.actions import Inner
from agent_hooks_guards.model.values import Data

from .noting import inside
from .unwrapping import MOST_RUNS, texts, word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_hooks_guards.model.actions import Command
    from agent_hooks_guards.model.options import Options

    from .noting import Noting

_EXEC = frozenset("-exec -execdir -ok -okdir".split())
# Programs that delete a folder that is found with all that is in it.
_DELETERS = frozenset("rm shred srm unlink rmdir mv trash".split())
# Tests and options that hold for every file; actions are true.
_WIDE_TESTS = frozenset(
    (
        "-depth -d -maxdepth -xdev -x -mount -true -follow -noleaf -regextype -warn -nowarn -ignore_readdir_race"
        " -daystart -H -L -P -O -D -E -X -s -f -a -and"
    ).split()
)
_ACTIONS = _EXEC | frozenset(
    "-delete -print -print0 -printf -ls -fprint -fprint0 -fprintf -fls -quit -prune -files0-from".split()
)
_NAMES = frozenset(("-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-regex", "-iregex", "-lname"))
_MAX_NAMES = 16
_FD_MARKS = ("{}", "{/}", "{//}", "{.}", "{/.}")


class Reach:
    """The files for which an action is done: a folder with all that is in it, unless ``is_narrow``.

    ``names``: those that they may have, none if that is not known. ``lowest``: how many levels below the folder they
    begin.
    """

    __slots__ = ("is_narrow", "lowest", "names")

    def __init__(self, names: list[str], lowest: int, *, is_narrow: bool) -> None:
        self.is_narrow = is_narrow
        self.names = names
        self.lowest = lowest

    def below(self, start: str) -> list[str]:
        """Return paths that stand for the files reached in the folder ``start``."""
        if self.is_narrow and self.names:
            return [name if name[:1] == "/" else inside(inside(start), name) for name in self.names]
        return [inside(start)]


def reaches(options: Options) -> Iterator[tuple[str, str | None, Reach]]:
    """Return the actions of an expression with their values and the files each is done for; at the end, with "" for
    the action, the files that are found.
    """
    # Whether tests leave something out: of the alternative being read, of those before it, and of the brackets outside.
    narrow = False
    alternatives: list[bool] = []
    outside: list[tuple[bool, list[bool], bool]] = []
    negated = False
    lowest = 0
    names: list[str] = []
    pruned = passed = 0  # names before this one belong to folders that are skipped
    for name, value in options.given:
        if name in ("!", "-not"):
            negated = not negated
            continue
        if name in _ACTIONS:
            # The tests behind an action do not matter to it.
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
                names += _globs(name, value)
        negated = False
    yield "", None, Reach(names[pruned:], lowest, is_narrow=narrow and all(alternatives[pruned > 0 :]))


def _globs(test: str, value: str) -> list[str]:
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


def _leaves_out(name: str, value: str) -> bool:
    """Whether a test leaves something out that is worth keeping."""
    if "regex" in name and name in _NAMES:  # a backslash starts a class or a group
        plain = "".join(part[1:] for part in f" {value}".split("\\"))
        return any(map(str.isalnum, plain))
    if name in _NAMES:
        return bool(value.strip("*?./^$"))  # ".*" is the expression for anything, and "?*" is any name
    if name == "-type":
        return not set(value) <= set("fd,")
    return name not in _WIDE_TESTS


def behind_start(options: Options) -> str:
    """Return the end of the name of a folder: ``-H`` and ``-L`` follow a link as a slash does."""
    return "/" if options.has("-H|-L|-follow") else ""


def _effects(noting: Noting) -> None:
    for name, value, reach in reaches(noting.options):
        if name == "-delete":
            for start in noting.operands() or ["."]:
                start = f"{start}{behind_start(noting.options)}"
                if reach.is_narrow:
                    for path in reach.below(start):
                        noting.file("delete", path)
                else:
                    noting.file("delete", inside(start, "*") if reach.lowest else start, recursive=True)
        elif name.startswith("-fprint") or name == "-fls":
            noting.file("write", value or "")
        elif name == "-files0-from":
            noting.file("read", value or "")


def _inner(command: Command, options: Options) -> list[Inner]:
    """``find folder tests -exec arguments ;``."""
    found: list[Inner] = []
    end = behind_start(options)
    starts = [word(command, at) for at in options.operands[:MOST_RUNS]] or [Data(".")]
    starts = [Data(f"{start.text}{end}", start.labels) for start in starts]
    places = (at for (name, _), at in zip(options.given, options.places, strict=True) if name in _ACTIONS)
    for (name, value, reach), first in zip(reaches(options), places, strict=False):
        if name not in _EXEC or value is None:
            continue
        arguments = _behind(command.argv, first)
        label = f"find {name}"
        if not any("{}" in command.argv[at] for at in arguments):
            found += [Inner(words=arguments, label=label)] if arguments else []
            continue
        # A program that deletes is given the folder itself as well.
        is_whole = not reach.is_narrow and command.argv[first].rpartition("/")[2] in _DELETERS
        for start in starts:
            if name.endswith("dir"):
                paths = [f"./{path.rpartition('/')[2]}" for path in reach.below(".")]
            else:
                paths = [start.text] if is_whole else reach.below(start.text)
            for path in paths:
                inner = _filled(command, arguments, Data(path, start.labels), ("{}",), label)
                inner.cwd = inside(start.text) if name.endswith("dir") else None
                found.append(inner)
    return found


def _behind(argv: list[str], first: int) -> list[int]:
    """Return the positions of the arguments of ``-exec`` from ``first`` on."""
    at = first
    while at < len(argv) and argv[at] != ";" and not (argv[at] == "+" and argv[at - 1] == "{}"):
        at += 1
    return list(range(first, at))


def _filled(command: Command, places: list[int], item: Data, marks: tuple[str, ...], label: str) -> Inner:
    """Return the arguments at ``places`` with ``item`` in the place of the marks."""
    made = []
    for at in places:
        data = word(command, at)
        text = data.text
        for mark in marks:
            text = text.replace(mark, item.text)
        made.append(Data(text, data.labels | item.labels) if text != data.text else data)
    return texts(made, label)


def _fd(command: Command, options: Options) -> list[Inner]:
    """``fd pattern folder -x arguments``: all arguments behind ``-x`` up to ``;``."""
    argv = command.argv
    found: list[Inner] = []
    for at, text in enumerate(argv):
        if text not in {"-x", "-X", "--exec", "--exec-batch"} or at == 0:
            continue
        last = argv.index(";", at) if ";" in argv[at:] else len(argv)
        places = list(range(at + 1, last))
        operands = [word(command, place) for place in options.operands if place < at]
        extension = options.value("-e|--extension")
        name = f"*.{extension}" if extension else _glob_of_fd(operands[0].text if operands else "", options)
        for folder in (operands[1:] or [Data(".")])[:MOST_RUNS]:
            path = inside(inside(folder.text), name) if name else inside(folder.text)
            inner = _filled(command, places, Data(path, folder.labels), _FD_MARKS, "fd -x")
            if inner.argv == [argv[place] for place in places]:
                inner.argv = [*inner.argv, path]
            if places:
                found.append(inner)
    return found


def _glob_of_fd(pattern: str, options: Options) -> str:
    """Return as a glob the names that ``fd`` finds with ``pattern``; "" for any."""
    if options.has("-p|--full-path"):
        return ""
    if options.has("-g|--glob"):
        return pattern if pattern.strip("*?.") else ""
    plain = pattern.removeprefix("^").removesuffix("$").replace("\\.", ".")
    if not plain.replace(".", "").replace("-", "").replace("_", "").isalnum():
        return ""
    return ("" if pattern[:1] == "^" else "*") + plain + ("" if pattern[-1:] == "$" else "*")


EFFECTS = {"find": _effects}
INNER = {"find": _inner, "fd": _fd}
