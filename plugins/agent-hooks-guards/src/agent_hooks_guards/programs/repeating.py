"""``find``, ``fd``, ``xargs``, ``parallel``: the files that tests leave, and one program for each of many items."""

from __future__ import annotations

from agent_hooks.shell.patterns import Pattern
from agent_hooks_guards.model.values import NOTHING, UNKNOWN, Data

from .effects import inside
from .inner import MOST_RUNS, MOST_WORDS, argument, items, joined, quoted, shell, split, texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent_hooks_guards.model.actions import Command, Inner
    from agent_hooks_guards.model.options import Options

    from .effects import Noting

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
# The beginning of a path that stands for any folders.
_BEGINNING = Pattern(r"^(?:[*.]{1,2}/)+(?=.)")
_CLASS = Pattern(r"\\.")  # of a regular expression
_LISTS = frozenset((":::", ":::+", "::::", "::::+"))
_MARKS = ("{}", "{.}", "{/}", "{//}", "{/.}")


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
    if "regex" in test:
        text = value.replace("\\", "").strip("^$").replace(".*", "*").replace(".+", "*")
        folder, _, last = text.replace("[^/]*", "*").rpartition("/")
        if not last.strip("*?."):
            last, folder = f"{folder.rpartition('/')[2]}/{last or '*'}", ""
        return [each.strip("()") for each in last.split("|")]
    if value[:1] == "/" or (test.endswith("name") and "whole" not in test):
        return [value]
    path = _BEGINNING.sub("", value)
    # All that is in a folder is the folder.
    return [path, path[:-2]] if path.endswith("/*") and len(path) > 2 else [path]


def _leaves_out(name: str, value: str) -> bool:
    """Whether a test leaves something out that is worth keeping."""
    if name in _NAMES:
        return bool(_CLASS.sub("", value).strip("*?./^$()+"))  # ".*" is the expression for anything, "?*" any name
    if name == "-type":
        return not set(value) <= set("fd,")
    return name not in _WIDE_TESTS


def behind_start(options: Options) -> str:
    """Return the end of the name of a folder: ``-H`` and ``-L`` follow a link as a slash does."""
    return "/" if options.has("-H|-L|-follow") else ""


def find_effects(noting: Noting) -> None:
    """Note the files that ``find`` deletes and writes."""
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


def find(command: Command, options: Options) -> list[Inner]:
    """``find folder tests -exec arguments ;``."""
    found: list[Inner] = []
    end = behind_start(options)
    starts = items(command, options.operands[:MOST_RUNS]) or [Data(".")]
    starts = [Data(f"{start.text}{end}", start.labels) for start in starts]
    places = (at for (name, _), at in zip(options.given, options.places, strict=True) if name in _ACTIONS)
    for (name, value, reach), first in zip(reaches(options), places, strict=False):
        if name not in _EXEC or value is None:
            continue
        arguments = _behind(command.argv, first)
        label = f"find {name}"
        if not any("{}" in command.argv[at] for at in arguments):
            found += [texts(items(command, arguments), label)] if arguments else []
            continue
        # A program that deletes is given the folder itself as well.
        is_whole = not reach.is_narrow and command.argv[first].rpartition("/")[2] in _DELETERS
        for start in starts:
            if name.endswith("dir"):
                paths = [f"./{path.rpartition('/')[2]}" for path in reach.below(".")]
            else:
                paths = [start.text] if is_whole else reach.below(start.text)
            for path in paths:
                item = Data(path, start.labels)
                inner = texts([_put(each, _MARKS, item) for each in items(command, arguments)], label)
                inner.cwd = inside(start.text) if name.endswith("dir") else None
                found.append(inner)
    return found


def _behind(argv: list[str], first: int) -> list[int]:
    """Return the positions of the arguments of ``-exec`` from ``first`` on."""
    at = first
    while at < len(argv) and argv[at] != ";" and not (argv[at] == "+" and argv[at - 1] == "{}"):
        at += 1
    return list(range(first, at))


def fd(command: Command, options: Options) -> list[Inner]:
    """``fd pattern folder -x arguments``: all arguments behind ``-x`` up to ``;``."""
    argv = command.argv
    found: list[Inner] = []
    for at, text in enumerate(argv):
        if text not in {"-x", "-X", "--exec", "--exec-batch"} or at == 0:
            continue
        last = argv.index(";", at) if ";" in argv[at:] else len(argv)
        places = list(range(at + 1, last))
        operands = items(command, [place for place in options.operands if place < at])
        extension = options.value("-e|--extension")
        name = f"*.{extension}" if extension else _glob_of_fd(operands[0].text if operands else "", options)
        for folder in (operands[1:] or [Data(".")])[:MOST_RUNS] if places else ():
            path = inside(inside(folder.text), name) if name else inside(folder.text)
            item = Data(path, folder.labels)
            inner = texts([_put(each, _MARKS, item) for each in items(command, places)], "fd -x")
            if inner.argv == [argv[place] for place in places]:
                inner.argv = [*inner.argv, path]
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


def xargs(command: Command, options: Options) -> list[Inner]:
    """``xargs arguments``, with the items of the input behind them, or in the place of ``{}``."""
    own = items(command, options.operands)
    if not own:
        return []
    data = command.stdin if command.stdin is not None else Data(UNKNOWN)
    mark = ""
    for name, value in options.given:
        if name in {"-I", "-J", "-i", "--replace"}:
            mark = value or "{}"
    by_line = options.value("-L|-l|--max-lines") == "1"
    one_by_one = by_line or options.value("-n|--max-args") == "1"
    given = _items(data.text, options, by_line=bool(mark) or by_line)
    single = [*given[:MOST_RUNS], *([UNKNOWN] if len(given) > MOST_RUNS else [])]
    if mark:
        runs = [[_put(each, (mark,), Data(item, data.labels)) for each in own] for item in single]
    elif one_by_one:
        runs = [own + [Data(each, data.labels) for each in (split(item) if by_line else [item])] for item in single]
    else:
        runs = [own + [Data(item, data.labels) for item in given[:MOST_WORDS]]]
    found = [texts(run, "xargs") for run in runs if run[0].text]
    for inner in found:
        inner.stdin = NOTHING
    return found


def _put(data: Data, marks: Iterable[str], item: Data) -> Data:
    """Return ``data`` with ``item`` in the place of the ``marks``."""
    text = data.text
    for mark in marks:
        text = text.replace(mark, item.text)
    return Data(text, data.labels | item.labels) if text != data.text else data


def _items(text: str, options: Options, *, by_line: bool) -> list[str]:
    if options.has("-0|--null"):
        found = text.split("\0")
    elif options.has("-d|--delimiter"):
        separator = options.value("-d|--delimiter") or "\n"
        separator = {"\\n": "\n", "\\t": "\t", "\\0": "\0"}.get(separator, separator[:1])
        found = text.removesuffix("\n").split(separator)
    elif by_line:
        found = [line.strip() for line in text.split("\n")]
    else:
        found = split(text)
    return [item for item in found if item]


def parallel(command: Command, options: Options) -> list[Inner]:
    """``parallel arguments ::: items``: a shell runs the arguments with an item, or the items alone."""
    own, lists = _arguments_and_items(command, options)
    template = joined(items(command, own))
    if not lists and not options.has("--semaphore|--pipe|--pipepart|--pipe-part") and command.name != "sem":
        data = command.stdin if command.stdin is not None else Data(UNKNOWN)
        lines = data.text.split("\0" if options.has("-0|--null") else "\n")
        lists.append([Data(line, data.labels) for line in lines if line.strip()])
    if lists:
        runs = max(map(len, lists))
        chosen = [[items[run % len(items)] for items in lists if items] for run in range(min(runs, MOST_RUNS))]
        chosen += [[Data(UNKNOWN, lists[0][0].labels)]] if runs > MOST_RUNS else []
        return [inner for items in chosen for inner in shell(_with_items(template, items), "parallel")]
    return shell(template, "parallel")


def _arguments_and_items(command: Command, options: Options) -> tuple[list[int], list[list[Data]]]:
    """Return the positions of the arguments before ``:::``, and the lists of items behind each; of a file, unknown."""
    argv = command.argv
    places = options.operands
    own: list[int] = []
    lists: list[list[Data]] = []
    for at in places:
        if argv[at] in _LISTS or (argv[at] == "--" and "--" not in argv[: places[0]]):
            lists.append([])
        elif not lists:
            own.append(at)
        else:
            lists[-1].append(argument(command, at) if not argv[at - 1].startswith("::::") else Data(UNKNOWN))
    return own, lists


def _with_items(template: Data, items: list[Data]) -> Data:
    labels = template.labels.union(*(item.labels for item in items))
    if not template.text.strip():
        return Data(" ".join([item.text for item in items]), labels)
    # An unknown item must stay a word that may be anything.
    shown = [quoted(item.text) if UNKNOWN not in item.text else item.text for item in items]
    text = template.text
    for mark in _MARKS:
        text = text.replace(mark, " ".join(shown))
        for number, item in enumerate(shown, 1):
            text = text.replace(f"{{{number}{mark[1:]}", item)
    if text == template.text:
        text = f"{text} {' '.join(shown)}"
    return Data(text.replace("{#}", "1").replace("{%}", "1"), labels)
