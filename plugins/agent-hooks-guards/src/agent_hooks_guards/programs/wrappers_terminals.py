"""What runs in a terminal, is typed into one, or talks through a connection: ``tmux``, ``xterm -e``, ``nc -e``."""

from __future__ import annotations

from agent_hooks_guards.model.actions import Inner
from agent_hooks_guards.model.values import NO_LABELS, Data

from .unwrapping import joined, operands_from, part, shell, split, values_as_shell, word, words_from

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_hooks_guards.model.actions import Command
    from agent_hooks_guards.model.options import Options

    from .unwrapping import Handler


# What takes a text for a shell, or words, behind its own options; and which of these have values.
_TMUX = {
    **dict.fromkeys(("new-session", "new"), "-ADdEPX;cefFnstxy"),
    **dict.fromkeys(("new-window", "neww"), "-abdkPS;ceFnt"),
    **dict.fromkeys(("split-window", "splitw"), "-bdfhIvPZ;celptF"),
    **dict.fromkeys(("respawn-pane", "respawnp", "respawn-window", "respawnw"), "-k;cet"),
    **dict.fromkeys(("run-shell", "run"), "-bC;cdt"),
    **dict.fromkeys(("pipe-pane", "pipep"), "-IOo;t"),
    **dict.fromkeys(("display-popup", "popup"), "-BCEkN;bcdehsStTwxy"),
    **dict.fromkeys(("if-shell", "if"), "-bF;t"),
}


def tmux(command: Command, options: Options) -> list[Inner]:
    """What a window of tmux runs, and what is typed into one."""
    found: list[Inner] = []
    places = list(options.operands)
    start = 0
    for end in range(len(places) + 1):
        if end == len(places) or command.argv[places[end]] in {";", "\\;"}:
            found += _tmux_command(command, places[start:end])
            start = end + 1
    return found


def _tmux_command(command: Command, places: list[int]) -> list[Inner]:
    if not places:
        return []
    argv = command.argv
    name = argv[places[0]]
    if name in {"send-keys", "send"}:
        return _typed(command, _behind_options(command, places[1:], "cNt"))
    if name in {"set-buffer", "setb"}:
        return []
    if name in {"bind-key", "bind"}:
        return _tmux_command(command, _behind_options(command, places[1:], "NT")[1:])
    if name in {"set-hook", "confirm-before", "confirm"}:
        rest = _behind_options(command, places[1:], "pt")
        rest = rest[1:] if name == "set-hook" else rest
        if len(rest) == 1:
            return _tmux_text(word(command, rest[0]))
        return _tmux_command(command, rest)
    known = _TMUX.get(name)
    if known is None:
        return []
    rest = _behind_options(command, places[1:], known.partition(";")[2])
    if name in {"run-shell", "run"} and any(argv[at] == "-C" for at in places):
        return _tmux_text(word(command, rest[0])) if rest else []
    if name in {"if-shell", "if"}:
        found = shell(word(command, rest[0]), "tmux") if rest and "-F" not in [argv[at] for at in places] else []
        for at in rest[1:]:
            found += _tmux_text(word(command, at))
        return found
    if len(rest) == 1:
        return shell(word(command, rest[0]), "tmux")
    return [Inner(words=rest, label="tmux")] if rest else []


def _tmux_text(data: Data) -> list[Inner]:
    from agent_hooks_guards.model.actions import Command as Words
    from agent_hooks_guards.model.options import parse

    words = ["tmux", *split(data.text)]
    made = Words("tmux", words, labels=dict.fromkeys(range(len(words)), data.labels) if data.labels else {})
    inside = tmux(made, parse("tmux", words))
    for each in inside:
        if each.words is not None:  # positions of words that only stand in the text
            each.argv, each.words = [words[at] for at in each.words], None
    return inside


def _behind_options(command: Command, places: list[int], valued: str) -> list[int]:
    at = 0
    while at < len(places):
        text = command.argv[places[at]]
        if text == "--":
            return places[at + 1 :]
        if text[:1] != "-" or len(text) < 2:
            break
        at += 2 if text[-1] in valued and not any(letter in valued for letter in text[1:-1]) else 1
    return places[at:]


_KEYS = {
    **dict.fromkeys(("Enter", "C-m", "C-j", "KPEnter", "C-c", "C-u"), "\n"),
    **dict.fromkeys(("BSpace", "Escape", "C-l", "C-d"), ""),
    "Space": " ",
    "Tab": "\t",
}


def _typed(command: Command, places: list[int]) -> list[Inner]:
    """Keys that are typed into a terminal, where a shell is likely to read them."""
    made = [_KEYS.get(command.argv[at], command.argv[at]) for at in places]
    labels = NO_LABELS.union(*(command.labels.get(at, NO_LABELS) for at in places))
    return shell(Data("".join(made), labels), "tmux send-keys")


def screen(command: Command, options: Options) -> list[Inner]:
    """``screen words``; with ``-X`` a command of screen's: ``stuff`` types, ``exec`` and ``screen`` run."""
    argv = command.argv
    places = options.operands
    if not options.has("-X"):
        if options.has("-r|-R|-x|-ls|-list") and not options.has("-m"):
            return []  # the operand is a session
        return operands_from(command, options, 0, "screen")
    name = argv[places[0]] if places else ""
    if name == "stuff":
        data = joined(command, places[1:])
        text = (
            data.text.replace("\\n", "\n")
            .replace("\\r", "\n")
            .replace("\\015", "\n")
            .replace("\\012", "\n")
            .replace("^M", "\n")
        )
        return shell(Data(text, data.labels), "screen")
    if name in {"exec", "screen", "at"}:
        rest = [at for at in places[1:] if not (argv[at][:1] in ".:!" and len(argv[at]) < 4)]
        return [Inner(words=rest, label="screen")] if rest else []
    return []


def terminal(command: Command, _options: Options) -> list[Inner]:
    """``xterm -e words``, ``gnome-terminal -- words``, ``konsole -e words``."""
    argv = command.argv
    label = command.name
    for at, text in enumerate(argv[1:], 1):
        if text in {"-e", "-x", "--", "--execute", "--command", "-c"} and at + 1 < len(argv):
            if at + 2 == len(argv):
                return shell(word(command, at + 1), label)
            return words_from(command, at + 1, label)
        if text.startswith(("--command=", "--execute=")):
            return shell(part(command, text.partition("=")[2], at), label)
    if label in {"foot", "kitty", "dvtm", "wezterm"}:
        places = list(range(1, len(argv)))
        if label == "wezterm" or argv[1:2] in (["@"], ["+kitten"]):
            if "send-text" in argv:
                return shell(word(command, len(argv) - 1), label)
            return []
        places = [at for at in places if argv[at][:1] != "-"] if argv[1:2] and argv[1][:1] == "-" else places
        return [Inner(words=places, label=label)] if places else []
    return []


def netcat(command: Command, options: Options) -> list[Inner]:
    """``nc -e program``, ``ncat --sh-exec text``: what the other side talks to."""
    found = values_as_shell(command, options, "-e|-c|--exec|--sh-exec", "nc")
    return found + [Inner(language="lua", path=path, label="nc") for path, _ in options.values("--lua-exec")]


def socat(command: Command, options: Options) -> list[Inner]:
    """``socat … EXEC:words``, ``SYSTEM:text``."""
    found: list[Inner] = []
    for at in options.operands:
        for piece in command.argv[at].split("!!"):
            kind, colon, rest = piece.partition(":")
            if colon and kind.upper() in {"EXEC", "SYSTEM", "SHELL"}:
                rest = rest.strip("'\"") if rest[:1] in {"'", '"'} else rest.partition(",")[0]
                found += shell(part(command, rest, at), "socat")
    return found


def opened(command: Command, _options: Options) -> list[Inner]:
    """``open -a Terminal file``: the file is run in it."""
    argv = command.argv
    if "-a" in argv[:-1] and argv[argv.index("-a") + 1].lower() in {"terminal", "terminal.app", "iterm", "iterm.app"}:
        files = [text for text in argv[1:] if text[:1] != "-" and text != argv[argv.index("-a") + 1]]
        return [Inner(language="sh", path=files[0], label="open")] if files else []
    return []


HANDLERS: dict[str, Handler] = {
    "tmux": tmux,
    "byobu": tmux,
    "screen": screen,
    "nc": netcat,
    "ncat": netcat,
    "netcat": netcat,
    "nc.openbsd": netcat,
    "nc.traditional": netcat,
    "socat": socat,
    "open": opened,
}
