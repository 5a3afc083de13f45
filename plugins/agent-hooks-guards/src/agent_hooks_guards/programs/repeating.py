"""``xargs`` and ``parallel``: one program for each of many items."""

from __future__ import annotations

from agent_hooks_guards.model.values import NOTHING, UNKNOWN, Data

from .unwrapping import MOST_RUNS, MOST_WORDS, joined, quoted, shell, split, texts, word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_hooks_guards.model.actions import Command, Inner
    from agent_hooks_guards.model.options import Options

_LISTS = frozenset((":::", ":::+", "::::", "::::+"))
_MARKS = ("{}", "{.}", "{/}", "{//}", "{/.}")


def _xargs(command: Command, options: Options) -> list[Inner]:
    """``xargs arguments``, with the items of the input behind them, or in the place of ``{}``."""
    own = [word(command, at) for at in options.operands]
    if not own:
        return []
    data = command.stdin if command.stdin is not None else Data(UNKNOWN)
    mark = ""
    for name, value in options.given:
        if name in {"-I", "-J", "-i", "--replace"}:
            mark = value or "{}"
    by_line = options.value("-L|-l|--max-lines") == "1"
    one_by_one = by_line or options.value("-n|--max-args") == "1"
    items = _items(data.text, options, by_line=bool(mark) or by_line)
    single = [*items[:MOST_RUNS], *([UNKNOWN] if len(items) > MOST_RUNS else [])]
    if mark:
        runs = [[_put(each, mark, Data(item, data.labels)) for each in own] for item in single]
    elif one_by_one:
        runs = [own + [Data(each, data.labels) for each in (split(item) if by_line else [item])] for item in single]
    else:
        runs = [own + [Data(item, data.labels) for item in items[:MOST_WORDS]]]
    found = [texts(run, "xargs") for run in runs if run[0].text]
    for inner in found:
        inner.stdin = NOTHING
    return found


def _put(data: Data, mark: str, item: Data) -> Data:
    return Data(data.text.replace(mark, item.text), data.labels | item.labels) if mark in data.text else data


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


def _parallel(command: Command, options: Options) -> list[Inner]:
    """``parallel arguments ::: items``: a shell runs the arguments with an item, or the items alone."""
    own, lists = _arguments_and_items(command, options)
    if options.has("-q|--quote"):
        template = Data(" ".join([quoted(command.argv[at]) for at in own]), joined(command, own).labels)
    else:
        template = joined(command, own)
    if not lists and not options.has("--semaphore|--pipe|--pipepart|--pipe-part") and command.name != "sem":
        data = command.stdin if command.stdin is not None else Data(UNKNOWN)
        lines = data.text.split("\0" if options.has("-0|--null") else "\n")
        lists.append([Data(line, data.labels) for line in lines if line.strip()])
    if lists:
        runs = max(map(len, lists))
        chosen = [[items[run % len(items)] for items in lists if items] for run in range(min(runs, MOST_RUNS))]
        chosen += [[Data(UNKNOWN, lists[0][0].labels)]] if runs > MOST_RUNS else []
        found = [inner for items in chosen for inner in shell(_with_items(template, items), "parallel")]
    else:
        found = shell(template, "parallel")
    if options.value("-S|--sshlogin|--slf|--sshloginfile") not in (None, ":"):
        for inner in found:
            inner.host = "remote"
    return found


def _arguments_and_items(command: Command, options: Options) -> tuple[list[int], list[list[Data]]]:
    """Return the positions of the arguments before ``:::``, and the lists of items behind each; of a file, unknown."""
    argv = command.argv
    places = options.operands
    own: list[int] = []
    lists: list[list[Data]] = []
    from_file = False
    for at in places:
        if argv[at] in _LISTS or (argv[at] == "--" and "--" not in argv[: places[0]]):
            from_file = argv[at].startswith("::::")
            lists.append([Data(UNKNOWN)] if from_file else [])
        elif not lists:
            own.append(at)
        elif not from_file:
            lists[-1].append(word(command, at))
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


INNER = {"xargs": _xargs, "parallel": _parallel, "sem": _parallel}
