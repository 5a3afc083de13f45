"""The shells, ``env`` with the command line of ``-S``, ``crontab`` and ``expect``."""

from __future__ import annotations

from agent_hooks_guards.model.actions import Inner
from agent_hooks_guards.model.values import NO_LABELS, NOTHING, UNKNOWN, Data

from .unwrapping import code, is_assignment, joined, part, quoted, shell, split, texts, word, words_from

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_hooks_guards.model.actions import Command
    from agent_hooks_guards.model.options import Options

_LONG_WITH_VALUE = frozenset("--rcfile --init-file --rcs --emulate".split())
_OPTIONS_OF_WSL = frozenset("-d --distribution -u --user --cd --distribution-id --shell-type".split())
# Fields of a line of a crontab before its command line.
_CRON_FIELDS = 5
# Stands for the key that ends a line, while words are split.
_RETURN = "\1"


def _posix(command: Command, _options: Options) -> list[Inner]:
    """``sh -c line name arguments``, ``sh file arguments``, ``sh <file``."""
    argv = command.argv
    label = command.name
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
            if name in _LONG_WITH_VALUE and not equals and at + 1 < len(argv):
                at += 1
                value = argv[at]
            if name in {"--rcfile", "--init-file"}:
                found.append(Inner(language="sh", path=value, label=label))
            has_code = has_code or name == "--command"
        elif text[:1] in {"-", "+"} and len(text) > 1:
            letters = text[1:].partition("o")[0] if label == "zsh" else text[1:]  # zsh: -oextendedglob
            if "n" in letters and text[0] == "-" and label not in {"nu", "xonsh"}:
                return []
            has_code = has_code or (text[0] == "-" and "c" in letters)
            reads_input = reads_input or "s" in letters
            # The names of options are in the arguments behind.
            at += sum(letter in "oO" for letter in letters) + (label == "zsh" and text.endswith("o"))
        else:
            break
        at += 1
    rest = argv[at:]
    if has_code and rest:
        return [*found, code("sh", word(command, at), f"{label} -c", rest[1:] or [label])]
    if rest and not reads_input:
        return [*found, Inner(language="sh", path=rest[0], arguments=rest[1:], label=label)]
    if command.stdin is not None and not has_code:
        return [*found, Inner(language="sh", arguments=[label, *rest] if rest else [], label=label)]
    return found


def _powershell(command: Command, options: Options) -> list[Inner]:
    """``pwsh -Command text``, ``-EncodedCommand base64``, ``-File path``."""
    label = command.name
    operands = options.operands
    for text, at in options.values("-encodedcommand|-e|-ec|-en|-enc"):
        return [code("powershell", part(command, _decoded(text), at), label)]
    given = options.values("-command|-c|-commandwithargs|-cwa")
    files = options.values("-file|-f")
    first = command.argv[operands[0]] if operands else ""
    path = files[-1][0] if files else first if first.lower().endswith(".ps1") and label == "pwsh" else ""
    if given and given[-1][0] != "-":
        return [code("powershell", joined(command, [given[-1][1], *operands]), label)]
    if path and path != "-":
        arguments = [command.argv[at] for at in operands] if files else []
        return [Inner(language="powershell", path=path, arguments=arguments, label=label)]
    if operands and not given and not files:
        return [code("powershell", joined(command, operands), label)]
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


def _cmd(command: Command, _options: Options) -> list[Inner]:
    """``cmd /c line``."""
    for at, text in enumerate(command.argv[1:], 1):
        if text[:2].lower() in {"/c", "/k", "/r"}:
            data = joined(command, range(at + 1, len(command.argv)))
            attached = text[2:].strip()
            labels = data.labels | command.labels.get(at, NO_LABELS)
            data = Data(f"{attached} {data.text}".strip(), labels)
            return [code("cmd", data, "cmd")] if data.text else []
        if text[:1] != "/":
            break
    return [Inner(language="cmd", label="cmd")] if command.stdin is not None else []


def _wsl(command: Command, _options: Options) -> list[Inner]:
    """``wsl -e arguments``, ``wsl line``."""
    argv = command.argv
    at = 1
    while at < len(argv) and argv[at][:1] == "-":
        text = argv[at]
        at += 2 if text in _OPTIONS_OF_WSL else 1
        if text in {"-e", "--exec"}:
            return words_from(command, at, "wsl")
        if text == "--":
            break
    # A shell there parses the arguments once more, but one with blanks in it stays one.
    words = [quoted(text) if " " in text and len(argv) > at + 1 else text for text in argv[at:]]
    return shell(Data(" ".join(words), joined(command, range(at, len(argv))).labels), "wsl")


def _env(command: Command, options: Options) -> list[Inner]:
    """``env options NAME=value arguments``; ``-S`` puts the arguments of a text in front."""
    assignments = {value: NOTHING for value, _ in options.values("-u|--unset")}
    items = [(word(command, at), at) for at in options.operands]
    clears = options.has("-i|--ignore-environment")
    if items and items[0][0].text == "-":
        clears = True
        del items[0]
    for text, at in options.values("-S|--split-string"):
        split_up = [Data(each, command.labels.get(at, NO_LABELS)) for each in _split(text)]
        inner = texts([Data("env"), *split_up, *(data for data, _ in items)], "env")
        inner.assignments = assignments
        return [inner]
    while items and is_assignment(items[0][0].text):
        name, _, value = items[0][0].text.partition("=")
        assignments[name] = Data(value, items[0][0].labels)
        del items[0]
    if not items:
        return []
    found = Inner(words=[at for _, at in items], assignments=assignments, clears_environment=clears, label="env")
    found.cwd = options.value("-C|--chdir")
    return [found]


def _split(text: str) -> list[str]:
    """Return the arguments in the text of ``env -S``, which has escapes and variables of its own."""
    words = split(text.replace("\\_", " ").partition("\\c")[0])
    at = next((at for at, each in enumerate(words) if each[:1] == "#"), len(words))
    return [_without_variables(each) for each in words[:at]]


def _without_variables(text: str) -> str:
    while "${" in text and "}" in text.partition("${")[2]:
        before, _, rest = text.partition("${")
        text = before + UNKNOWN + rest.partition("}")[2]
    return text


def _crontab(command: Command, options: Options) -> list[Inner]:
    """``crontab -``: the command lines of its lines run later."""
    names = [command.argv[place] for place in options.operands]
    if command.stdin is None or options.has("-l|-r|-e") or names[:1] not in ([], ["-"], ["/dev/stdin"]):
        return []
    return shell(Data("\n".join(_jobs(command.stdin.text)), command.stdin.labels), "crontab")


def _jobs(text: str) -> list[str]:
    found = []
    for line in text.splitlines():
        fields = line.strip().split(None, _CRON_FIELDS)
        if not fields or fields[0][0] == "#" or not fields[0].strip(UNKNOWN):
            continue
        if fields[0][0] == "@":
            found.append(line.strip().partition(" ")[2])
        elif len(fields) > _CRON_FIELDS and (fields[0][0].isdigit() or fields[0][0] in "*," + UNKNOWN):
            found.append(fields[_CRON_FIELDS])
    return [job.partition("%")[0] for job in found]


def _expect(command: Command, options: Options) -> list[Inner]:
    """``expect -c text``: ``spawn`` runs a program, ``send`` types into it."""
    given = [part(command, text, at) for text, at in options.values("-c")]
    if not given and command.stdin is not None and not options.operands:
        given = [command.stdin]
    found = []
    for data in given:
        for line in data.text.replace("\\r", _RETURN).replace("\\n", _RETURN).replace(";", "\n").split("\n"):
            words = split(line.replace("{", '"').replace("}", '"'))
            if words[:1] == ["spawn"]:
                words = [text for text in words[1:] if text not in {"-noecho", "-ignore"}]
                found += [texts([Data(text, data.labels) for text in words], "expect")] if words else []
            elif words[:1] == ["send"] and words[-1].endswith(_RETURN):
                found += shell(Data(words[-1].replace(_RETURN, "\n"), data.labels), "expect")
    return found


INNER = {
    "bash": _posix,
    "pwsh": _powershell,
    "cmd": _cmd,
    "wsl": _wsl,
    "env": _env,
    "crontab": _crontab,
    "expect": _expect,
}
