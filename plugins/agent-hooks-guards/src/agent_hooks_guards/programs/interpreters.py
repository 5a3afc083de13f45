"""Programs with a language of their own: ``sh``, ``python``, ``awk``, ``vim``, ``make``, ``gdb``; ``env``, ``tmux``."""

from __future__ import annotations

import re

from agent_hooks.shell.patterns import Pattern
from agent_hooks_guards.model.actions import Inner
from agent_hooks_guards.model.declarations import declarations
from agent_hooks_guards.model.values import NO_LABELS, NOTHING, UNKNOWN, Data

from .effects import inside
from .files import pack, unpack
from .inner import argument, code, file, items, joined, part, shell, shells, split, texts, values, with_variables

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_hooks_guards.model.actions import Command
    from agent_hooks_guards.model.options import Options

    from .effects import Noting

# Modules of Python that are programs of other names.
_PROGRAMS = {
    "IPython": "ipython",
    **dict.fromkeys(("agent_hooks", "agent_hooks.__main__", "agent_hooks_core"), "agent-hooks"),
    "awscli": "aws",
    "httpie": "http",
    "pip3": "pip",
    "yt_dlp": "yt-dlp",
}
# Modules of Python that run the script that is among their operands.
_RUNNERS = frozenset("pdb cProfile profile trace memory_profiler kernprof viztracer scalene debugpy".split())
_SAVING = Pattern(r"(?:^|[|:%\s])(?:w|wq|x|xit|up|update|exit|write|xa|wa)(?:a|all)?!?(?=$|[|\s])")
# What perl and ruby do for each line with -n or -p: read it, split it (-a), print it (-p).
_LINES = {
    "perl": ("$_ = <STDIN>;\n", "@F = split(' ', $_);\n", "\n;print $_;\n"),
    "ruby": ("$_ = gets\n", "$F = $_.split\n", "\n;print $_\n"),
}
_INPUT = ("-", "/dev/stdin")
_SHELLS_OF_GDB = ("shell ", "!", "platform shell ", "make ")
_CODE_OF_GDB = ("python ", "py ", "pi ", "script ", "pipe ", "| ", "call ", "compile ", "expr ", "expression ")
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


def _script_or_input(command: Command, options: Options, language: str) -> list[Inner]:
    """Return the first operand, a script; without one the input."""
    words = [command.argv[at] for at in options.operands]
    if words and words[0] != "-":
        return [file(language, words[0], command.name, words[1:])]
    return [Inner(language=language, label=command.name)] if command.stdin is not None else []


def python(command: Command, options: Options) -> list[Inner]:
    """``python -c code``, ``python -m module arguments``, ``python file arguments``."""
    label = command.name
    words = [command.argv[at] for at in options.operands]
    for data in values(command, "-c"):
        return [code("python", data, f"{label} -c", ["-c", *words])]
    for module, _ in options.values("-m"):
        return _module(command, module, options.operands)
    found = _script_or_input(command, options, "python")
    if words[1:2] == ["shell"] and words[0].endswith("manage.py"):
        for at, text in zip(options.operands[1:], words, strict=False):
            if text in {"-c", "--command"}:
                found.append(code("python", argument(command, at), "manage.py shell"))
    return found


def _module(command: Command, module: str, places: list[int]) -> list[Inner]:
    """``python -m module arguments``."""
    words = [command.argv[at] for at in places]
    label = f"python -m {module}"
    if module in _RUNNERS:
        scripts = [at for at, text in enumerate(words) if text.endswith(".py")]
        return [file("python", words[at], label, words[at + 1 :]) for at in scripts[:1]]
    if module == "timeit":
        statements = [each for each in items(command, places) if each.text[:1] != "-"]
        return [code("python", joined(statements, "\n"), label)] if statements else []
    program = _PROGRAMS.get(module, module)
    if declarations().has(program):
        return [texts([Data(program), *items(command, places)], "python -m")]
    path = module.replace(".", "/") + ".py"
    return [Inner(language="python", path=path, arguments=words, label="python -m")] if "." not in module else []


def effects_of_python(noting: Noting) -> None:
    """``python -m zipfile -e archive folder``, ``python -m tarfile``, ``python -m json.tool source target``."""
    module = noting.options.value("-m")
    words = noting.operands()
    if module == "json.tool":
        for kind, name in zip(("read", "write"), [name for name in words if name[:1] != "-"], strict=False):
            noting.file(kind, name, labels=noting.input_labels)
    elif module in ("tarfile", "zipfile") and len(words) > 1:
        action, archive, *rest = words
        if action in ("-e", "--extract"):
            unpack(noting, archive, [inside(rest[0] if rest else ".")])
        elif action in ("-c", "--create"):
            pack(noting, archive, rest)


def node(command: Command, options: Options) -> list[Inner]:
    """``node -e code``, ``node -r file``, ``node file``."""
    found: list[Inner] = []
    for text, at in options.values("-r|--require|--import|--loader|--experimental-loader"):
        if text.startswith("data:"):
            found.append(code("node", part(command, UNKNOWN, at), "node --import"))
        elif text.startswith(("https://", "http://", "/", ".", "~")) or text.endswith((".js", ".cjs", ".mjs")):
            found.append(file("node", text, "node --require"))
    words = [command.argv[at] for at in options.operands]
    found += [code("node", data, f"{command.name} -e", words) for data in values(command, "-e|--eval")]
    for data in values(command, "-p|-pe|--print"):
        shown = Data(f"console.log({data.text})", data.labels)
        found.append(code("node", shown, f"{command.name} -p", words))
    if options.has("-e|-p|-pe|--eval|--print|--test|--run|-c|--check"):
        return found
    if words[:1] in (["inspect"], ["debug"]):
        return [*found, *(file("node", path, command.name, words[2:]) for path in words[1:2])]
    return found + _script_or_input(command, options, "node")


def perl(command: Command, options: Options) -> list[Inner]:
    """``perl -e code``, ``-Mmodule``, ``perl file``; ``ruby`` takes the same options."""
    language = "perl" if command.name.startswith("perl") else "ruby"
    uses = "".join([f"use {text.partition('=')[0]};\n" for text, _ in options.values("-M|-m")])
    if lines := values(command, "-e|-E" if language == "perl" else "-e"):
        words = [command.argv[at] for at in options.operands]
        given = joined(lines, "\n")
        text = uses + _for_each_line(options, given.text, language)
        return [code(language, Data(text, given.labels), f"{command.name} -e", words)]
    found = [code("perl", Data(uses), "perl -M")] if any(letter in uses for letter in "(`'\"") else []
    return found + _script_or_input(command, options, language)


def _for_each_line(options: Options, text: str, language: str) -> str:
    """Return a code as it runs with ``-n`` and ``-p``: for each line of its input."""
    if not options.has("-n|-p" if language == "ruby" else "-n|-p|-a|-F"):
        return text
    line, fields, shown = _LINES[language]
    begin = ("" if options.operands else line) + (fields if options.has("-a|-F") else "")
    return f"{begin}{text}{shown if options.has('-p') else chr(10)}"


def awk(command: Command, options: Options) -> list[Inner]:
    """``awk code files``, ``awk -f file``."""
    words = [command.argv[at] for at in options.operands]
    found = [file("awk", path, command.name) for path, _ in options.values("-f|--file|-E|--exec|-i|--include")]
    lines = values(command, "-e|--source")
    if not lines and not found and words:
        lines, words = [argument(command, options.operands[0])], words[1:]
    if not lines:
        return found
    given = joined(lines, "\n")
    program = given.text
    variables = [text.partition("=")[::2] for text, _ in options.values("-v|--assign")]
    for name, data in command.assignments.items():
        # A variable of the environment is known by another name here.
        variables.append((f"ENVIRON_{name}", data.text.replace("\\", "\\\\")))
        program = program.replace(f'ENVIRON["{name}"]', f"ENVIRON_{name}")
    for name, value in reversed(variables):
        literal = value.replace('"', '\\"').replace("\n", "\\n")
        program = f'BEGIN {{ {name} = "{literal}" }}\n{program}'
    return [*found, code("awk", Data(program, given.labels), command.name, words)]


def vim(command: Command, options: Options) -> list[Inner]:
    """``vim -c code``, ``vim +code``, ``vim -S file``, ``ex -s <file``."""
    label = command.name
    given = values(command, "-c|--cmd|--remote-expr|--remote-send")
    argv = command.argv
    given += [part(command, text[1:], at) for at, text in enumerate(argv) if text[:1] == "+" and not text[1:].isdigit()]
    found = [code("vim", data, f"{label} -c") for data in given if data.text and data.text[0] != "/"]
    scripts = [path for path, _ in options.values("-S|-u") if path not in {"NONE", "NORC", "DEFAULTS"}]
    is_line_editor = label == "ex" or options.has("-e|-E")
    if options.has("-s") and not is_line_editor:  # keys to type, from a file
        scripts += [argv[at] for at in options.operands[:1]]
    found += [file("vim", path, label) for path in scripts]
    if command.stdin is not None and "-" not in argv and is_line_editor:
        found.append(Inner(language="vim", label=label))
    return found


def effects_of_vim(noting: Noting) -> None:
    """``vim -c wq file``: a file that is only opened is a person's to write."""
    given = noting.values("-c|--cmd") + [word[1:] for word in noting.command.argv[1:] if word[:1] == "+"]
    saves = noting.command.name == "ex" or any(map(_SAVING.search, given))
    for path in noting.operands():
        noting.file("read", path)
        if saves:
            noting.file("write", path)


def edits_in_place(noting: Noting) -> None:
    """``perl -i -pe code files``: without ``-i``, only the code knows the purpose of the operands."""
    if noting.options.has("-i"):
        for path in noting.operands(0 if noting.options.has("-e|-E") else 1):
            noting.file("write", path)


def make(command: Command, options: Options) -> list[Inner]:
    """``make -f file``, ``--eval text``, variables with programs; ``written`` has the makefile of the folder."""
    argv = command.argv
    goals = [argv[at] for at in options.operands]
    found = [code("make", data, "make --eval", goals) for data in values(command, "-E|--eval")]
    for at in options.operands:
        name, equals, value = argv[at].partition("=")
        if name == "SHELL" and value:
            found += shell(part(command, value, at), "make SHELL")
        elif equals and ("$(shell" in value or "${shell" in value or name == "MAKEFLAGS"):
            found.append(code("make", part(command, f"x := {value}\n", at), "make", goals))
    files = [path for path, _ in options.values("-f|--file|--makefile")]
    folder = options.value("-C|--directory")
    if command.stdin is not None and not set(files).isdisjoint(_INPUT):
        found.append(Inner(language="make", arguments=goals, label="make"))
    for path in files:
        if path not in _INPUT:
            path = path if path[:1] == "/" or not folder else f"{folder}/{path}"
            found.append(Inner(language="make", path=path, arguments=goals, label="make"))
    return found


def gdb(command: Command, _options: Options) -> list[Inner]:
    """``gdb -ex 'shell line'``, ``lldb -o``, and the same on stdin."""
    names = "-ex|-iex|-eval-command|-init-eval-command|-o|-O|-k|--one-line|--one-line-before-file|--one-line-on-crash"
    given = values(command, names)
    if command.stdin is not None:
        given += [Data(line, command.stdin.labels) for line in command.stdin.text.splitlines()]
    return [inner for data in given for inner in _command_of_gdb(data)]


def _command_of_gdb(data: Data) -> list[Inner]:
    text = data.text.strip()
    for start in _SHELLS_OF_GDB:
        if text.startswith(start):
            return shell(Data(text if start == "make " else text[len(start) :], data.labels), "gdb")
    return shell(Data(UNKNOWN, data.labels), "gdb") if text.startswith(_CODE_OF_GDB) else []


def database_client(command: Command, options: Options) -> list[Inner]:
    """``!`` of psql, ``system`` of mysql, ``.shell`` of sqlite3."""
    from .sql.statements import programs

    labels = command.labels_of().union(command.stdin.labels if command.stdin else ())
    found = values(command, "--pager") if command.name == "mysql" else []
    return shells([*found, *(Data(text, labels) for text in programs(command, options))], command.name)


def effects_of_database_client(noting: Noting) -> None:
    """``.output file`` of sqlite3, ``-o`` of psql, ``tee file`` of mysql."""
    from .sql.statements import files

    for kind, path in files(noting.command, noting.options):
        noting.file(kind, path, labels=noting.input_labels)


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
    """``cmd /c line``; with two slashes from Git Bash, which would take one for a path."""
    for at, text in enumerate(command.argv[1:], 1):
        text = text[1:] if text[:2] == "//" else text
        if text[:2].lower() in {"/c", "/k", "/r"}:
            data = joined(items(command, range(at + 1, len(command.argv))))
            attached = text[2:].strip()
            labels = data.labels | command.labels.get(at, NO_LABELS)
            data = Data(re.sub(r"(?<!\S)//(?=\w(?!\w))", "/", f"{attached} {data.text}".strip()), labels)
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
