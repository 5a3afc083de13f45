"""``tmux`` and ``screen``: programs that run in a terminal or are typed into one."""

from __future__ import annotations

from agent_hooks_guards.model.actions import Inner
from agent_hooks_guards.model.values import Data

from .unwrapping import joined, operands_from, shell, split, word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_hooks_guards.model.actions import Command
    from agent_hooks_guards.model.options import Options

# Commands of tmux that take a command line or arguments, and those of their options that have values.
_TMUX = {
    **dict.fromkeys(("new-session", "new"), "cefFnstxy"),
    **dict.fromkeys(("new-window", "neww"), "ceFnt"),
    **dict.fromkeys(("split-window", "splitw"), "celptF"),
    **dict.fromkeys(("respawn-pane", "respawnp", "respawn-window", "respawnw"), "cet"),
    **dict.fromkeys(("run-shell", "run"), "cdt"),
    **dict.fromkeys(("pipe-pane", "pipep"), "t"),
    **dict.fromkeys(("display-popup", "popup"), "bcdehsStTwxy"),
    **dict.fromkeys(("if-shell", "if"), "t"),
    **dict.fromkeys(("send-keys", "send"), "cNt"),
    **dict.fromkeys(("bind-key", "bind"), "NT"),
    **dict.fromkeys(("set-hook", "confirm-before", "confirm"), "pt"),
}
_KEYS = {
    **dict.fromkeys(("Enter", "C-m", "C-j", "KPEnter", "C-c", "C-u"), "\n"),
    **dict.fromkeys(("BSpace", "Escape", "C-l", "C-d"), ""),
    "Space": " ",
    "Tab": "\t",
}
_LINE_ENDS = ("\\n", "\\r", "\\015", "\\012", "^M")
_DEEPEST = 4


def _tmux(command: Command, options: Options) -> list[Inner]:
    return _commands([word(command, at) for at in options.operands])


def _commands(words: list[Data], depth: int = 0) -> list[Inner]:
    """Return the programs of commands of tmux with ``;`` between them."""
    found: list[Inner] = []
    start = 0
    for end in range(len(words) + 1):
        if end == len(words) or words[end].text in {";", "\\;"}:
            found += _command(words[start:end], depth) if start < end else []
            start = end + 1
    return found


def _command(words: list[Data], depth: int) -> list[Inner]:
    name = words[0].text
    if name not in _TMUX or depth > _DEEPEST:
        return []
    rest = _behind_options(words[1:], _TMUX[name])
    if name in {"send-keys", "send"}:
        labels = frozenset().union(*(data.labels for data in rest))
        return shell(Data("".join([_KEYS.get(data.text, data.text) for data in rest]), labels), "tmux send-keys")
    if name in {"bind-key", "bind", "set-hook"}:
        return _text(rest[1:], depth)
    if name in {"confirm-before", "confirm"} or "-C" in [data.text for data in words]:
        return _text(rest, depth)
    if name in {"if-shell", "if"}:
        found = shell(rest[0], "tmux") if rest and "-F" not in [data.text for data in words] else []
        return found + [inner for data in rest[1:] for inner in _text([data], depth)]
    if len(rest) == 1:
        return shell(rest[0], "tmux")
    return [_program(rest)] if rest else []


def _program(words: list[Data]) -> Inner:
    labels = {at: data.labels for at, data in enumerate(words) if data.labels}
    return Inner(argv=[data.text for data in words], labels=labels, label="tmux")


def _text(words: list[Data], depth: int) -> list[Inner]:
    """Return the programs of a command of tmux: its arguments, or one text."""
    if len(words) == 1:
        words = [Data(text, words[0].labels) for text in split(words[0].text)]
    return _commands(words, depth + 1)


def _behind_options(words: list[Data], valued: str) -> list[Data]:
    at = 0
    while at < len(words):
        text = words[at].text
        if text == "--":
            return words[at + 1 :]
        if text[:1] != "-" or len(text) < 2:
            break
        at += 2 if text[-1] in valued and not any(letter in valued for letter in text[1:-1]) else 1
    return words[at:]


def _screen(command: Command, options: Options) -> list[Inner]:
    """``screen arguments``; with ``-X`` a command of screen's: ``stuff`` types, ``exec`` and ``screen`` run."""
    argv = command.argv
    places = options.operands
    if not options.has("-X"):
        if options.has("-r|-R|-x|-ls|-list") and not options.has("-m"):
            return []  # the operand is a session
        return operands_from(command, options, 0, "screen")
    name = argv[places[0]] if places else ""
    if name == "stuff":
        data = joined(command, places[1:])
        text = data.text
        for end in _LINE_ENDS:
            text = text.replace(end, "\n")
        return shell(Data(text, data.labels), "screen")
    if name in {"exec", "screen", "at"}:
        rest = [at for at in places[1:] if not (argv[at][:1] in ".:!" and len(argv[at]) < 4)]
        return [Inner(words=rest, label="screen")] if rest else []
    return []


INNER = {"tmux": _tmux, "screen": _screen}
