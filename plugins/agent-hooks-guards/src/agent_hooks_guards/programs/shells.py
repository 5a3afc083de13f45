"""The shells, ``env`` with the command line of ``-S``, and ``tmux``."""

from __future__ import annotations

import re

from agent_hooks_guards.model.actions import Inner
from agent_hooks_guards.model.values import NO_LABELS, NOTHING, UNKNOWN, Data

from .unwrapping import argument, code, items, joined, part, shell, split, texts, values, with_variables

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_hooks_guards.model.actions import Command
    from agent_hooks_guards.model.options import Options

# Commands that run other commands of tmux, which are not analysed.
_NESTED = frozenset("bind-key bind set-hook confirm-before confirm if-shell if".split())
# Commands of tmux that run something, and those of their options that have values.
_VALUED = {
    **dict.fromkeys(("new-session", "new"), "cefFnstxy"),
    **dict.fromkeys(("new-window", "neww"), "ceFnt"),
    **dict.fromkeys(("split-window", "splitw"), "celptF"),
    **dict.fromkeys(("respawn-pane", "respawnp", "respawn-window", "respawnw"), "cet"),
    **dict.fromkeys(("run-shell", "run"), "cdt"),
    **dict.fromkeys(("pipe-pane", "pipep"), "t"),
    **dict.fromkeys(("display-popup", "popup"), "bcdehsStTwxy"),
    **dict.fromkeys(("send-keys", "send"), "cNt"),
}
_KEYS = {**dict.fromkeys(("Enter", "C-m", "C-j", "KPEnter", "C-c", "C-u"), "\n"), "Space": " ", "Tab": "\t"}


def posix(command: Command, options: Options) -> list[Inner]:
    """``sh -c line name arguments``, ``sh file arguments``, ``sh <file``."""
    label = command.name
    if options.has("-n") and label != "xonsh":
        return []
    found = [Inner(language="sh", path=path, label=label) for path, _ in options.values("--rcfile|--init-file")]
    places = options.operands
    if places and command.argv[places[0]] == "-":
        places = places[1:]
    rest = [command.argv[at] for at in places]
    has_code = options.has("-c|--command")
    if has_code and rest:
        found.append(code("sh", argument(command, places[0]), f"{label} -c", rest[1:] or [label]))
    elif rest and not options.has("-s"):
        found.append(Inner(language="sh", path=rest[0], arguments=rest[1:], label=label))
    elif command.stdin is not None and not has_code:
        found.append(Inner(language="sh", arguments=[label, *rest] if rest else [], label=label))
    return found


def powershell(command: Command, options: Options) -> list[Inner]:
    """``pwsh -Command text``, ``-EncodedCommand base64``, ``-File path``."""
    label = command.name
    operands = options.operands
    for data in values(command, "-encodedcommand|-e|-ec|-en|-enc"):
        return [code("powershell", Data(_decoded(data.text), data.labels), label)]
    given = options.values("-command|-c|-commandwithargs|-cwa")
    files = options.values("-file|-f")
    first = command.argv[operands[0]] if operands else ""
    path = files[-1][0] if files else first if first.lower().endswith(".ps1") and label == "pwsh" else ""
    if given and given[-1][0] != "-":
        return [code("powershell", joined(items(command, [given[-1][1], *operands])), label)]
    if path and path != "-":
        arguments = [command.argv[at] for at in operands] if files else []
        return [Inner(language="powershell", path=path, arguments=arguments, label=label)]
    if operands and not given and not files:
        return [code("powershell", joined(items(command, operands)), label)]
    return [Inner(language="powershell", label=label)] if command.stdin is not None else []


def _decoded(text: str) -> str:
    """Return the text of ``-EncodedCommand``, UTF-16 in base64."""
    if UNKNOWN in text:
        return UNKNOWN
    import base64

    try:
        return base64.b64decode(text + "=" * (-len(text) % 4)).decode("utf-16-le", "replace") or UNKNOWN
    except ValueError:
        return UNKNOWN


def cmd(command: Command, _options: Options) -> list[Inner]:
    """``cmd /c line``."""
    for at, text in enumerate(command.argv[1:], 1):
        if text[:2].lower() in {"/c", "/k", "/r"}:
            data = joined(items(command, range(at + 1, len(command.argv))))
            attached = text[2:].strip()
            labels = data.labels | command.labels.get(at, NO_LABELS)
            data = Data(f"{attached} {data.text}".strip(), labels)
            return [code("cmd", data, "cmd")] if data.text else []
        if text[:1] != "/":
            break
    return [Inner(language="cmd", label="cmd")] if command.stdin is not None else []


def env(command: Command, options: Options) -> list[Inner]:
    """``env options NAME=value arguments``; ``-S`` puts the arguments of a text in front."""
    assignments = {value: NOTHING for value, _ in options.values("-u|--unset")}
    places = options.operands
    clears = options.has("-i|--ignore-environment")
    if places and command.argv[places[0]] == "-":
        clears, places = True, places[1:]
    for text, at in options.values("-S|--split-string"):
        # It has escapes and variables of its own.
        plain = re.sub(r"\$\{\w*\}", UNKNOWN, text.replace("\\_", " ").partition("\\c")[0])
        own = [part(command, each, at) for each in split(plain)]
        inner = texts([Data("env"), *own, *items(command, places)], "env")
        inner.assignments = assignments
        return [inner]
    found = with_variables(items(command, places), "env")
    for inner in found:
        inner.assignments = {**assignments, **inner.assignments}
        inner.clears_environment = clears
        inner.cwd = options.value("-C|--chdir")
    return found


def tmux(command: Command, options: Options) -> list[Inner]:
    """Return the programs of commands of tmux with ``;`` between them."""
    found: list[Inner] = []
    words: list[Data] = []
    for data in [*items(command, options.operands), Data(";")]:
        if data.text not in {";", "\\;"}:
            words.append(data)
            continue
        found += _command(words) if words else []
        words = []
    return found


def _command(words: list[Data]) -> list[Inner]:
    name = words[0].text
    rest = _behind_options(words[1:], _VALUED.get(name, ""))
    if name in ("send-keys", "send"):
        labels = frozenset().union(*(data.labels for data in rest))
        return shell(Data("".join([_KEYS.get(data.text, data.text) for data in rest]), labels), "tmux send-keys")
    if name in _NESTED:
        return shell(Data(UNKNOWN), "tmux")
    if name not in _VALUED or not rest:
        return []
    return shell(rest[0], "tmux") if len(rest) == 1 else [texts(rest, "tmux")]


def _behind_options(words: list[Data], valued: str) -> list[Data]:
    at = 0
    while at < len(words) and words[at].text[:1] == "-":
        at += 2 if words[at].text[-1] in valued else 1
    return words[at:]
