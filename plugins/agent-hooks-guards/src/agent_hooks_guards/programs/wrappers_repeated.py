"""What runs a program for each of many things: ``find -exec``, ``xargs``, ``parallel``, and on changes of files."""

from __future__ import annotations

from agent_hooks_guards.model.actions import Inner
from agent_hooks_guards.model.values import NOTHING, UNKNOWN, Data

from .finding import EVERYTHING, behind_start, reaches
from .noting import inside
from .unwrapping import MOST_WORDS, joined, quoted, shell, split, texts, word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_hooks_guards.model.actions import Command
    from agent_hooks_guards.model.options import Options

    from .unwrapping import Handler

# So many runs of the same program are looked at, and behind them one with a word that is not known.
_MOST_RUNS = 16
_EXEC = frozenset("-exec -execdir -ok -okdir".split())
_DELETES = frozenset("rm shred srm unlink rmdir mv trash".split())


def find(command: Command, options: Options) -> list[Inner]:
    """``find folder tests -exec words ;``."""
    argv = command.argv
    found: list[Inner] = []
    if not any(name in _EXEC for name, _ in options.given):
        return []
    starts = [word(command, at) for at in options.operands[:_MOST_RUNS]] or [Data(".")]
    if end := behind_start(options):
        starts = [Data(f"{start.text}{end}", start.labels) for start in starts]
    reached = iter([reach for name, _, reach in reaches(options) if name in _EXEC])
    at = 1
    while at < len(argv):
        if argv[at] not in _EXEC:
            at += 1
            continue
        name = argv[at]
        reach = next(reached, EVERYTHING)
        first = at = at + 1
        while at < len(argv) and argv[at] != ";" and not (argv[at] == "+" and argv[at - 1] == "{}"):
            at += 1
        places = list(range(first, at))
        label = f"find {name}"
        if places and not any("{}" in argv[place] for place in places):
            found.append(Inner(words=places, label=label))
        elif places:
            # A program that deletes is given the folder itself as well.
            is_whole = not reach.is_narrow and argv[first].rpartition("/")[2] in _DELETES
            for start in starts:
                if name.endswith("dir"):
                    paths = [f"./{path.rpartition('/')[2]}" for path in reach.below(".")]
                else:
                    paths = [start.text] if is_whole else reach.below(start.text)
                found += [_for_found(command, places, start, path, label) for path in paths]
    return found


def _for_found(command: Command, places: list[int], start: Data, path: str, label: str) -> Inner:
    made = []
    for at in places:
        data = word(command, at)
        if "{}" in data.text:
            data = Data(data.text.replace("{}", path), data.labels | start.labels)
        made.append(data)
    found = texts(made, label)
    if label.endswith("dir"):
        found.cwd = inside(start.text)
    return found


def fd(command: Command, options: Options) -> list[Inner]:
    """``fd pattern folder -x words``: all words behind ``-x`` up to ``;``."""
    argv = command.argv
    found: list[Inner] = []
    for at, text in enumerate(argv):
        if text not in {"-x", "-X", "--exec", "--exec-batch"} or at == 0:
            continue
        last = argv.index(";", at) if ";" in argv[at:] else len(argv)
        operands = [word(command, place) for place in options.operands if place < at]
        extension = options.value("-e|--extension")
        name = f"*.{extension}" if extension else _names_like(operands[0].text if operands else "", options)
        for folder in (operands[1:] or [Data(".")])[:_MOST_RUNS]:
            path = inside(folder.text)
            if name:
                path = inside(path, name)
            found.append(_filled(command, list(range(at + 1, last)), Data(path, folder.labels), "fd -x"))
    return [each for each in found if each.argv]


def _names_like(pattern: str, options: Options) -> str:
    """Return as a glob what the names are like that ``fd`` finds with ``pattern``; "" for any."""
    if options.has("-p|--full-path"):
        return ""
    if options.has("-g|--glob"):
        return pattern if pattern.strip("*?.") else ""
    plain = pattern.removeprefix("^").removesuffix("$").replace("\\.", ".")
    if not plain.replace(".", "").replace("-", "").replace("_", "").isalnum():
        return ""
    return ("" if pattern[:1] == "^" else "*") + plain + ("" if pattern[-1:] == "$" else "*")


_FD_MARKS = ("{}", "{/}", "{//}", "{.}", "{/.}")


def _filled(command: Command, places: list[int], item: Data, label: str) -> Inner:
    made = [word(command, at) for at in places]
    if not any(mark in data.text for data in made for mark in _FD_MARKS):
        return texts([*made, item] if made else [], label)
    for at, data in enumerate(made):
        text = data.text
        for mark in _FD_MARKS:
            text = text.replace(mark, item.text)
        if text != data.text:
            made[at] = Data(text, data.labels | item.labels)
    return texts(made, label)


def xargs(command: Command, options: Options) -> list[Inner]:
    """``xargs words``, with what it reads behind them, or in the place of ``{}``."""
    operands = options.operands
    if not operands:
        return []
    own = [word(command, at) for at in operands]
    data = command.stdin if command.stdin is not None else Data(UNKNOWN)
    mark = _mark(options)
    one_by_one = options.value("-n|--max-args") == "1" or options.value("-L|-l|--max-lines") == "1"
    items = _items(data.text, options, by_line=bool(mark) or (one_by_one and options.has("-L|-l")))
    single = [*items[:_MOST_RUNS], *([UNKNOWN] if len(items) > _MOST_RUNS else [])]
    if mark:
        runs = [[_put(each, mark, Data(item, data.labels)) for each in own] for item in single]
    elif one_by_one:
        by_words = options.has("-L|-l")
        runs = [own + [Data(each, data.labels) for each in (split(item) if by_words else [item])] for item in single]
    else:
        runs = [own + [Data(item, data.labels) for item in items[:MOST_WORDS]]]
    found = [texts(run, "xargs") for run in runs if run and run[0].text]
    for each in found:
        each.stdin = NOTHING
    return found


def _put(data: Data, mark: str, item: Data) -> Data:
    """A word with an item in the place of the mark."""
    return Data(data.text.replace(mark, item.text), data.labels | item.labels) if mark in data.text else data


def _mark(options: Options) -> str:
    """What stands for an item among the words; "" for nothing."""
    mark = ""
    for name, value in options.given:
        if name in {"-I", "-J", "-i", "--replace"}:
            mark = value or "{}"
    return mark


def _items(text: str, options: Options, *, by_line: bool) -> list[str]:
    if options.has("-0|--null"):
        found = text.split("\0")
    elif options.has("-d|--delimiter"):
        separator = options.value("-d|--delimiter") or "\n"
        separator = {"\\n": "\n", "\\t": "\t", "\\0": "\0"}.get(separator, separator[:1])
        found = text.split(separator)
        if found and found[-1].endswith("\n"):
            found[-1] = found[-1][:-1]
    elif by_line:
        found = [line.strip() for line in text.split("\n")]
    else:
        found = split(text)
    return [item for item in found if item]


def parallel(command: Command, options: Options) -> list[Inner]:
    """``parallel words ::: items``: a shell runs the words with an item; without words, the items are what runs."""
    argv = command.argv
    places = options.operands
    own: list[int] = []
    lists: list[list[Data]] = []
    is_item = False
    for at in places:
        text = argv[at]
        if text in {":::", ":::+", "::::", "::::+"} or (text == "--" and "--" not in argv[: places[0]]):
            is_item = True
            lists.append([] if text != "::::" else [Data(UNKNOWN)])
        elif is_item:
            if argv[places[0]] != "::::" and not (lists[-1] and lists[-1][0].text == UNKNOWN):
                lists[-1].append(word(command, at))
        else:
            own.append(at)
    if options.has("-::::") and not lists:
        lists.append([Data(UNKNOWN)])
    if not lists and not options.has("--semaphore") and command.name != "sem":
        data = command.stdin if command.stdin is not None else Data(UNKNOWN)
        if options.has("--pipe|--pipepart|--pipe-part"):
            return _placed(shell(joined(command, own), "parallel"), options)
        lines = [line for line in data.text.split("\0" if options.has("-0|--null") else "\n") if line.strip()]
        lists.append([Data(line, data.labels) for line in lines])
    template = joined(command, own)
    if options.has("-q|--quote"):
        template = Data(" ".join([quoted(argv[at]) for at in own]), template.labels)
    if not lists:
        return _placed(shell(template, "parallel"), options)
    runs = max((len(items) for items in lists), default=0)
    found: list[Inner] = []
    for number in range(min(runs, _MOST_RUNS)):
        chosen = [items[number % len(items)] for items in lists if items]
        found += shell(_with_items(template, chosen), "parallel")
    if runs > _MOST_RUNS:
        found += shell(_with_items(template, [Data(UNKNOWN, lists[0][0].labels)]), "parallel")
    return _placed(found, options)


def _placed(found: list[Inner], options: Options) -> list[Inner]:
    hosts = options.value("-S|--sshlogin|--slf|--sshloginfile")
    if hosts is not None and hosts != ":":
        for each in found:
            each.host = "remote"
    return found


def _with_items(template: Data, items: list[Data]) -> Data:
    labels = template.labels.union(*(item.labels for item in items))
    if not template.text.strip():
        return Data(" ".join([item.text for item in items]), labels)
    # What is not known must stay a word that may be anything.
    shown = [quoted(item.text) if UNKNOWN not in item.text else item.text for item in items]
    text = template.text
    for mark in ("{}", "{.}", "{/}", "{//}", "{/.}"):
        text = text.replace(mark, " ".join(shown))
    for number, item in enumerate(shown, 1):
        for mark in (f"{{{number}}}", f"{{{number}.}}", f"{{{number}/}}", f"{{{number}//}}", f"{{{number}/.}}"):
            text = text.replace(mark, item)
    if text == template.text:
        text = f"{text} {' '.join(shown)}"
    return Data(text.replace("{#}", "1").replace("{%}", "1"), labels)


HANDLERS: dict[str, Handler] = {"find": find, "fd": fd, "xargs": xargs, "parallel": parallel, "sem": parallel}
