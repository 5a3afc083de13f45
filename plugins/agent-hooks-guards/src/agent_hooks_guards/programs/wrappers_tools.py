"""What other tools run by an option of theirs: ``tar --to-command``, ``sort --compress-program``, ``man -P``."""

from __future__ import annotations

from agent_hooks_guards.model.actions import Inner
from agent_hooks_guards.model.values import UNKNOWN, Data

from .unwrapping import part, shell, texts, values_as_shell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_hooks_guards.model.actions import Command
    from agent_hooks_guards.model.options import Options

    from .unwrapping import Handler


def tar(command: Command, options: Options) -> list[Inner]:
    """``tar --checkpoint-action=exec=text``, ``-I program``, ``--to-command=text``, ``-F text``."""
    found: list[Inner] = []
    for text, at in options.values("--checkpoint-action"):
        kind, _, value = text.partition("=")
        if kind == "exec":
            found += shell(part(command, value, at), "tar --checkpoint-action")
    names = "-I|--use-compress-program|--to-command|-F|--info-script|--new-volume-script|--rsh-command|--rmt-command"
    return found + values_as_shell(command, options, names, "tar")


def archive(command: Command, options: Options) -> list[Inner]:
    """``zip -T -TT text``: the text, with the archive in the place of ``{}`` or behind it."""
    found: list[Inner] = []
    for text, at in options.values("-TT|--unzip-command"):
        path = command.argv[options.operands[0]] if options.operands else UNKNOWN
        filled = text.replace("{}", path) if "{}" in text else f"{text} {path}"
        found += shell(part(command, filled, at), "zip -TT")
    return found


def less(command: Command, _options: Options) -> list[Inner]:
    """``less +!text``."""
    found: list[Inner] = []
    for at, text in enumerate(command.argv[1:], 1):
        if text[:1] == "+" and "!" in text:
            found += shell(part(command, text.partition("!")[2], at), "less")
        elif text[:1] == "+" and "|" in text:
            found += shell(part(command, text.partition("|")[2][1:], at), "less")
    return found


def mail(command: Command, _options: Options) -> list[Inner]:
    """``mail --exec='!text'``, and ``~!text`` in what it reads."""
    found: list[Inner] = []
    for at, text in enumerate(command.argv[1:], 1):
        name, equals, value = text.partition("=")
        if name == "--exec" and equals:
            found += shell(part(command, value.lstrip("!"), at), "mail")
    if command.stdin is not None:
        for line in command.stdin.text.split("\n"):
            if line.startswith(("~!", "~|")) and any(text in {"-~", "-#"} for text in command.argv):
                found += shell(Data(line[2:], command.stdin.labels), "mail")
    return found


def download(command: Command, options: Options) -> list[Inner]:
    """``wget --use-askpass=program``."""
    found = values_as_shell(command, options, "--use-askpass", "wget")
    for text, at in options.values("-e|--execute"):
        key, _, value = text.partition("=")
        if key.strip().lower().replace("-", "_") == "use_askpass":
            found += shell(part(command, value.strip(), at), "wget")
    return found


def scanner(_command: Command, options: Options) -> list[Inner]:
    """``nmap --script file``: Lua."""
    return [
        Inner(language="lua", path=each, label="nmap --script")
        for text, _ in options.values("-script")
        for each in text.split(",")
        if "/" in each or each.endswith(".nse")
    ]


def compiler(command: Command, _options: Options) -> list[Inner]:
    """``gcc -wrapper program,words``."""
    argv = command.argv
    return [
        texts([part(command, each, at + 1) for each in argv[at + 1].split(",")], "gcc -wrapper")
        for at in range(1, len(argv) - 1)
        if argv[at] == "-wrapper"
    ]


def ghostscript(command: Command, _options: Options) -> list[Inner]:
    """``gs -sOutputFile=%pipe%text``."""
    found: list[Inner] = []
    for at, text in enumerate(command.argv[1:], 1):
        if "%pipe%" in text:
            found += shell(part(command, text.partition("%pipe%")[2].partition(")")[0], at), "gs")
    return found


HANDLERS: dict[str, Handler] = {
    "tar": tar,
    "bsdtar": tar,
    "star": tar,
    "zip": archive,
    "less": less,
    "nmap": scanner,
    "mail": mail,
    "mailx": mail,
    "s-nail": mail,
    "wget": download,
    **dict.fromkeys("gcc g++ cc c++ clang clang++".split(), compiler),
    "gs": ghostscript,
}
