"""What shells run, and what a shell runs later or through one: ``bash -c``, ``eval``, ``trap``, ``watch``, ``at``."""

from __future__ import annotations

from agent_hooks_guards.model.actions import Inner
from agent_hooks_guards.model.values import NO_LABELS, UNKNOWN, Data

from .unwrapping import code, joined, operands_from, part, quoted, shell, split, texts, word, words_from

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_hooks_guards.model.actions import Command
    from agent_hooks_guards.model.options import Options

    from .unwrapping import Handler

_LONG_WITH_VALUE = frozenset("--rcfile --init-file --rcs --emulate".split())
# Fields of a line of a crontab before what it runs.
_CRON_FIELDS = 5
# Stands for the key that ends a line, while words are split.
_RETURN = "\1"


def posix(command: Command, _options: Options) -> list[Inner]:
    """``sh -c text name arguments``, ``sh file arguments``, ``sh <file``."""
    argv = command.argv
    has_code = reads_input = False
    found: list[Inner] = []
    at = 1
    while at < len(argv):
        text = argv[at]
        if text in {"--", "-"}:
            at += 1
            break
        if text[:2] == "--":
            name, equals, value = text.partition("=")
            if name == "--command":
                has_code = True
            elif name in _LONG_WITH_VALUE:
                if not equals and at + 1 < len(argv):
                    at += 1
                    value = argv[at]
                if name in {"--rcfile", "--init-file"}:
                    found.append(Inner(language="sh", path=value, label=command.name))
        elif text[:1] in {"-", "+"} and len(text) > 1:
            letters = text[1:]
            for place, letter in enumerate(letters):
                if letter in "oO":
                    # zsh takes the name of the option from the same word, others from the next.
                    if command.name == "zsh" and place + 1 < len(letters):
                        break
                    at += 1
                elif letter == "c":
                    has_code = text[0] == "-"
                elif letter == "s":
                    reads_input = True
                elif letter == "n" and text[0] == "-" and command.name not in {"nu", "xonsh"}:
                    return []
        else:
            break
        at += 1
    rest = argv[at:]
    label = command.name
    if has_code and rest:
        return [*found, code("sh", word(command, at), f"{label} -c", rest[1:] or [label])]
    if rest and not reads_input:
        return [*found, Inner(language="sh", path=rest[0], arguments=rest[1:], label=label)]
    if command.stdin is not None and not has_code:
        return [*found, Inner(language="sh", arguments=[label, *rest] if rest else [], label=label)]
    return found


def powershell(command: Command, options: Options) -> list[Inner]:
    """``pwsh -Command text``, ``-EncodedCommand base64``, ``-File path``."""
    label = command.name
    for text, at in options.values("-encodedcommand|-e|-ec|-en|-enc"):
        return [code("powershell", part(command, _decoded(text), at), label)]
    operands = options.operands
    texts_of = options.values("-command|-c|-commandwithargs|-cwa")
    if texts_of:
        text, at = texts_of[-1]
        if text == "-":
            return [Inner(language="powershell", label=label)] if command.stdin is not None else []
        return [code("powershell", joined(command, [at, *operands]), label)]
    files = options.values("-file|-f")
    if files:
        path = files[-1][0]
        if path == "-":
            return [Inner(language="powershell", label=label)] if command.stdin is not None else []
        arguments = [command.argv[at] for at in operands]
        return [Inner(language="powershell", path=path, arguments=arguments, label=label)]
    if operands:
        first = command.argv[operands[0]]
        if first.lower().endswith(".ps1") and label == "pwsh":
            return [Inner(language="powershell", path=first, label=label)]
        return [code("powershell", joined(command, operands), label)]
    return [Inner(language="powershell", label=label)] if command.stdin is not None else []


def _decoded(text: str) -> str:
    """What ``-EncodedCommand`` says: UTF-16 in base64."""
    if UNKNOWN in text:
        return UNKNOWN
    import base64
    import binascii

    try:
        return base64.b64decode(text + "=" * (-len(text) % 4)).decode("utf-16-le", "replace") or UNKNOWN
    except (ValueError, binascii.Error):
        return UNKNOWN


def windows(command: Command, _options: Options) -> list[Inner]:
    """``cmd /c words``."""
    for at, text in enumerate(command.argv[1:], 1):
        if text[:2].lower() in {"/c", "/k", "/r"}:
            places = range(at + 1, len(command.argv))
            data = joined(command, places)
            attached = text[2:].strip()
            if attached:
                data = Data(f"{attached} {data.text}".strip(), data.labels | command.labels.get(at, NO_LABELS))
            return [code("cmd", data, "cmd")] if data.text else []
        if text[:1] != "/":
            break
    return [Inner(language="cmd", label="cmd")] if command.stdin is not None else []


def linux_of_windows(command: Command, _options: Options) -> list[Inner]:
    """``wsl -e words``, ``wsl words``."""
    argv = command.argv
    at = 1
    while at < len(argv):
        text = argv[at]
        if text in {"-d", "--distribution", "-u", "--user", "--cd", "--distribution-id", "--shell-type", "--system"}:
            at += 2 if text != "--system" else 1
        elif text in {"-e", "--exec"}:
            return words_from(command, at + 1, "wsl")
        elif text == "--":
            at += 1
            break
        elif text[:1] == "-":
            return []
        else:
            break
    # A shell there reads the words once more, but a word with blanks in it stays one.
    words = [quoted(text) if " " in text and len(argv) > at + 1 else text for text in argv[at:]]
    return shell(Data(" ".join(words), joined(command, range(at, len(argv))).labels), "wsl")


def trap(command: Command, options: Options) -> list[Inner]:
    """``trap text signals``."""
    operands = options.operands
    if options.has("-l|-p|-P") or len(operands) < 2 or command.argv[operands[0]] == "-":
        return []
    return shell(word(command, operands[0]), "trap")


def bind(command: Command, _options: Options) -> list[Inner]:
    """``bind -x '"keys": text'``."""
    argv = command.argv
    if "-x" not in argv[:-1]:
        return []
    at = argv.index("-x") + 1
    return shell(part(command, argv[at].partition(":")[2], at), "bind -x")


def watch(command: Command, options: Options) -> list[Inner]:
    """``watch words``: a shell runs them, with ``-x`` no shell does."""
    if options.has("-x|--exec"):
        return operands_from(command, options, 0, "watch")
    return shell(joined(command, options.operands), "watch")


def at(command: Command, options: Options) -> list[Inner]:
    """``at time``: what it reads runs later."""
    if options.has("-l|-d|-r|-c|-V"):
        return []
    files = options.values("-f")
    if files:
        return [Inner(language="sh", path=files[-1][0], label=command.name)]
    return [Inner(language="sh", label=command.name)] if command.stdin is not None else []


def crontab(command: Command, options: Options) -> list[Inner]:
    """``crontab -``: what its lines run later."""
    names = [command.argv[place] for place in options.operands]
    if command.stdin is None or options.has("-l|-r|-e") or names[:1] not in ([], ["-"], ["/dev/stdin"]):
        return []
    return shell(Data("\n".join(_jobs(command.stdin.text)), command.stdin.labels), "crontab")


def _jobs(text: str) -> list[str]:
    """What the lines of a crontab run."""
    found = []
    for line in text.splitlines():
        fields = line.strip().split(None, _CRON_FIELDS)
        if not fields or fields[0][0] == "#" or fields[0].strip(UNKNOWN) == "":
            continue
        if fields[0][0] == "@":
            found.append(line.strip().partition(" ")[2])
        elif len(fields) > _CRON_FIELDS and (fields[0][0].isdigit() or fields[0][0] in "*," + UNKNOWN):
            found.append(fields[_CRON_FIELDS])
    return [job.partition("%")[0] for job in found]


def expect(command: Command, options: Options) -> list[Inner]:
    """``expect -c text``, ``expect file``."""
    found: list[Inner] = []
    for text, at in options.values("-c"):
        found += _spawned(part(command, text, at))
    files = options.values("-f|-b")
    if files:
        return [*found, Inner(language="tcl", path=files[-1][0], label="expect")]
    if options.operands and command.argv[options.operands[0]] != "-":
        return [*found, Inner(language="tcl", path=command.argv[options.operands[0]], label="expect")]
    if not found and command.stdin is not None:
        found = _spawned(command.stdin)
    return found


def _spawned(data: Data) -> list[Inner]:
    """``spawn words`` is expect's own; the rest is Tcl."""
    found = []
    lines = data.text.replace("\\r", _RETURN).replace("\\n", _RETURN).replace(";", "\n").split("\n")
    for line in lines:
        words = split(line.replace("{", '"').replace("}", '"'))
        if words[:1] == ["spawn"]:
            words = [text for text in words[1:] if text not in {"-noecho", "-ignore"}]
            if words:
                found.append(texts([Data(text, data.labels) for text in words], "expect"))
        elif words[:1] == ["send"] and len(words) > 1:
            typed = words[-1].replace(_RETURN, "\n")
            if typed[-1:] == "\n":
                found += shell(Data(typed, data.labels), "expect")
    return [*found, code("tcl", data, "expect")]


HANDLERS: dict[str, Handler] = {
    **dict.fromkeys(
        (
            "bash zsh sh dash ksh mksh ash yash rbash hush csh tcsh posh oksh loksh osh ysh elvish xonsh rc es ion sash"
        ).split(),
        posix,
    ),
    "pwsh": powershell,
    "powershell": powershell,
    "cmd": windows,
    "wsl": linux_of_windows,
    "bind": bind,
    "crontab": crontab,
    "expect": expect,
}
