"""What editors, filters and tools with a language of their own run: ``awk``, ``sed``, ``vim -c``, ``psql -c``."""

from __future__ import annotations

from agent_hooks_guards.model.actions import Inner
from agent_hooks_guards.model.values import Data

from .inner import code, file
from .unwrapping import part, shell, values_as_shell, word
from .wrappers_code import joined_values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_hooks_guards.model.actions import Command
    from agent_hooks_guards.model.options import Options

    from .unwrapping import Handler


def awk(command: Command, options: Options) -> list[Inner]:
    """``awk text files``, ``awk -f file``."""
    label = command.name
    words = [command.argv[at] for at in options.operands]
    found = [file("awk", path, label) for path, _ in options.values("-f|--file|-E|--exec|-i|--include")]
    given = joined_values(command, options, "-e|--source")
    if given is None and not found and words:
        given = word(command, options.operands[0])
        words = words[1:]
    if given is None:
        return found
    begin = ""
    separators = [f"FS={text}" for text, _ in options.values("-F|--field-separator")]
    for text in [*separators, *(text for text, _ in options.values("-v|--assign"))]:
        name, _, value = text.partition("=")
        quote = value.replace('"', '\\"').replace("\n", "\\n")
        begin += f'BEGIN {{ {name} = "{quote}" }}\n'
    program = given.text
    for name, data in command.assignments.items():
        # A variable of the environment is known by another name here.
        quote = data.text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        begin += f'BEGIN {{ ENVIRON_{name} = "{quote}" }}\n'
        program = program.replace(f'ENVIRON["{name}"]', f"ENVIRON_{name}")
    return [*found, code("awk", Data(begin + program, given.labels), label, words)]


def sed(command: Command, options: Options) -> list[Inner]:
    """``sed text files``, ``sed -e text``, ``sed -f file``."""
    label = command.name
    words = [command.argv[at] for at in options.operands]
    found = [file("sed", path, label) for path, _ in options.values("-f|--file")]
    given = joined_values(command, options, "-e|--expression")
    if options.has("--sandbox"):
        return []
    if given is not None:
        return [*found, code("sed", given, label, words)]
    if not found and words:
        return [code("sed", word(command, options.operands[0]), label, words[1:])]
    return found


def vim(command: Command, options: Options) -> list[Inner]:
    """``vim -c text``, ``vim +text``, ``vim -S file``, ``ex -s <file``."""
    label = command.name
    found = [
        code("vim", part(command, text, at), f"{label} -c")
        for text, at in options.values("-c|--cmd|--remote-expr|--remote-send")
    ]
    for at, text in enumerate(command.argv[1:], 1):
        if text[:1] == "+" and len(text) > 1 and not text[1:].isdigit() and text[1] != "/":
            found.append(code("vim", part(command, text[1:], at), f"{label} -c"))
    found += [
        file("vim", path, label) for path, _ in options.values("-S|-u") if path not in {"NONE", "NORC", "DEFAULTS"}
    ]
    is_line_editor = label == "ex" or options.has("-e|-E")
    if options.has("-s") and not is_line_editor and options.operands:  # keys to type, from a file
        found.append(file("vim", command.argv[options.operands[0]], label))
    if command.stdin is not None and "-" not in command.argv and is_line_editor:
        found.append(Inner(language="vim", label=label))
    return found


def ed(command: Command, options: Options) -> list[Inner]:
    """``ed file``: its commands are what comes in; ``ed '!text'``."""
    for at in options.operands:
        if command.argv[at][:1] == "!":
            return shell(part(command, command.argv[at][1:], at), "ed")
    words = [command.argv[at] for at in options.operands]
    return [Inner(language="ed", arguments=words, label="ed")] if command.stdin is not None else []


def emacs(command: Command, options: Options) -> list[Inner]:
    """``emacs --batch --eval text``, ``--script file``."""
    found = [code("emacs", part(command, text, at), "emacs --eval") for text, at in options.values("-eval|-execute")]
    return found + [file("emacs", path, "emacs -l") for path, _ in options.values("-l|-load|-script")]


def emacsclient(command: Command, options: Options) -> list[Inner]:
    """``emacsclient -e text``."""
    if not options.has("-e|--eval"):
        return []
    return [code("emacs", word(command, at), "emacsclient -e") for at in options.operands]


def database(command: Command, options: Options) -> list[Inner]:
    """What a database's client runs: ``!`` of psql, ``system`` of mysql, ``.shell`` of sqlite3."""
    from .sql.statements import programs

    labels = command.labels_of().union(command.stdin.labels if command.stdin else ())
    found = values_as_shell(command, options, "--pager", "mysql --pager") if command.name == "mysql" else []
    return found + [each for text in programs(command, options) for each in shell(Data(text, labels), command.name)]


def plotting(command: Command, options: Options) -> list[Inner]:
    """``gnuplot -e text``, ``octave --eval text``: strings of ``system``, lines behind ``!``."""
    found: list[Inner] = []
    texts_given = options.values("-e|--eval|-eval")
    argv = command.argv
    sources = [part(command, text, at) for text, at in texts_given]
    sources += [
        word(command, at + 1) for at, text in enumerate(argv[:-1]) if text in {"-e", "--eval"} and not texts_given
    ]
    if not sources and command.stdin is not None:
        sources = [command.stdin]
    for data in sources:
        for line in data.text.replace(";", "\n").split("\n"):
            if line.strip()[:1] == "!":
                found += shell(Data(line.strip()[1:], data.labels), command.name)
        found.append(code("other", data, command.name))
    return found


def macros(command: Command, _options: Options) -> list[Inner]:
    """``syscmd(text)`` in what ``m4`` reads, ``write18{text}`` in what ``latex`` is given."""
    sources = [word(command, at) for at in range(1, len(command.argv))]
    if command.stdin is not None:
        sources.append(command.stdin)
    found: list[Inner] = []
    for data in sources:
        for mark, closer in (
            ("syscmd(", ")"),
            ("write18{", "}"),
            ("ShellEscape{", "}"),
            ("input{|", "}"),
            ("input|", " "),
        ):
            rest = data.text
            while mark in rest:
                rest = rest.partition(mark)[2]
                found += shell(Data(rest.partition(closer)[0].strip("`'\""), data.labels), command.name)
    return found


def console(command: Command, _options: Options) -> list[Inner]:
    """``!text`` in what a program reads that takes commands, or behind its ``-c``."""
    argv = command.argv
    given = [word(command, at + 1) for at, text in enumerate(argv[:-1]) if text in ("-c", "--command")]
    sources = [*given, *([command.stdin] if command.stdin else [])]
    return [
        each
        for data in sources
        for line in data.text.replace(";", "\n").split("\n")
        if line.lstrip()[:1] == "!"
        for each in shell(Data(line.lstrip()[1:], data.labels), command.name)
    ]


def calculator(command: Command, _options: Options) -> list[Inner]:
    """``dc -e '!text'``."""
    sources = [word(command, at) for at in range(1, len(command.argv))] + ([command.stdin] if command.stdin else [])
    return [
        each
        for data in sources
        for line in data.text.split("\n")
        if "!" in line and command.name == "dc"
        for each in shell(Data(line.partition("!")[2], data.labels), "dc")
        if line.partition("!")[2][:1] not in {"<", ">", "="}
    ]


HANDLERS: dict[str, Handler] = {
    "awk": awk,
    "sed": sed,
    **dict.fromkeys("vim vi nvim ex view rvim rview gvim vimdiff".split(), vim),
    "ed": ed,
    "red": ed,
    "emacs": emacs,
    "emacsclient": emacsclient,
    **dict.fromkeys("psql mysql mariadb sqlite3 duckdb sqlcmd osql".split(), database),
    "gnuplot": plotting,
    "octave": plotting,
    "m4": macros,
    **dict.fromkeys("latex pdflatex xelatex lualatex tex pdftex".split(), macros),
    "dc": calculator,
    **dict.fromkeys("telnet psftp smbclient tasksh ginsh crash tdbtool cpan".split(), console),
}
