"""What interpreters run: ``python -c``, ``node -e``, ``perl -e``, ``awk``, ``sed``, ``vim -c``, and files and input."""

from __future__ import annotations

from agent_hooks_guards.model.actions import Inner
from agent_hooks_guards.model.values import NO_LABELS, UNKNOWN, Data

from .inner import code, file
from .unwrapping import part, shell, texts, word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_hooks_guards.model.actions import Command
    from agent_hooks_guards.model.options import Options

    from .unwrapping import Handler


def _script_or_input(command: Command, options: Options, language: str) -> list[Inner]:
    """The first operand is a file with code; without one the code is the input."""
    words = [command.argv[at] for at in options.operands]
    if words and words[0] != "-":
        return [file(language, words[0], command.name, words[1:])]
    return [Inner(language=language, label=command.name)] if command.stdin is not None else []


def joined_values(command: Command, options: Options, names: str) -> Data | None:
    """The values of options, one line each."""
    values = options.values(names)
    if not values:
        return None
    labels = NO_LABELS.union(*(command.labels.get(at, NO_LABELS) for _, at in values))
    return Data("\n".join([text for text, _ in values]), labels)


# Modules that are another program's, under its name.
_PROGRAMS = {
    **{
        name: name
        for name in (
            "alembic ansible base64 conda coverage dotenv flask flit hatch http invoke ipython nox pdm pip pipenv pipx"
            " poetry ptpython tox twine uv"
        ).split()
    },
    "pip3": "pip",
    "awscli": "aws",
    "httpie": "http",
    "IPython": "ipython",
    "yt_dlp": "yt-dlp",
    "fabric": "fab",
    "mercurial": "hg",
    "django": "django-admin",
}
_RUNNERS = frozenset(
    "pdb cProfile profile trace runpy memory_profiler kernprof viztracer pyinstrument scalene debugpy bdb"
    " faulthandler".split()
)


def python(command: Command, options: Options) -> list[Inner]:
    """``python -c text``, ``python -m module words``, ``python file words``."""
    label = command.name
    operands = options.operands
    argv = command.argv
    rest = [argv[at] for at in operands]
    texts_given = options.values("-c")
    if texts_given:
        text, at = texts_given[-1]
        return [code("python", part(command, text, at), f"{label} -c", ["-c", *rest])]
    modules = options.values("-m")
    if modules:
        return _module(command, modules[-1][0], operands)
    if rest and rest[0] != "-":
        found = [file("python", rest[0], label, rest[1:])]
        if rest[0].rpartition("/")[2] == "manage.py" and rest[1:2] == ["shell"]:
            for place, text in enumerate(rest[:-1]):
                if text in {"-c", "--command"}:
                    found.append(code("python", word(command, operands[place + 1]), "manage.py shell"))
        return found
    return [Inner(language="python", label=label)] if command.stdin is not None else []


def _module(command: Command, module: str, places: list[int]) -> list[Inner]:
    """``python -m module words``."""
    argv = command.argv
    words = [argv[at] for at in places]
    program = _PROGRAMS.get(module)
    if program is not None:
        return [texts([Data(program), *(word(command, at) for at in places)], "python -m")]
    if module == "timeit":
        statements = []
        skip = False
        for place, text in enumerate(words):
            if skip:
                skip = False
            elif text in {"-n", "-r", "-u", "--number", "--repeat", "--unit"}:
                skip = True
            elif text not in {"-s", "--setup", "-v", "-p", "--process"}:
                name, _, value = text.partition("=")
                statements.append(part(command, value if name == "--setup" else text, places[place]))
        # What stands for the setup is in front of the statements, as the usage has it.
        lines = Data(
            "\n".join([each.text for each in statements]), NO_LABELS.union(*[each.labels for each in statements])
        )
        return [code("python", lines, "python -m timeit")] if statements else []
    if module in _RUNNERS:
        for place, text in enumerate(words):
            if text == "-m":
                return _module(command, words[place + 1], places[place + 2 :]) if place + 1 < len(words) else []
            if text == "-c" and module == "pdb" and place + 1 < len(words):
                return [
                    code("python", word(command, places[place + 1]), "python -m pdb"),
                    *_module(command, module, places[place + 2 :]),
                ]
            if text[:1] != "-" and (
                place == 0
                or words[place - 1]
                not in {"-o", "-s", "-f", "--file", "--coverdir", "-C", "--outfile", "--sort", "--listen"}
            ):
                if module == "runpy" and not text.endswith(".py"):
                    return _module(command, text, places[place + 1 :])
                return [file("python", text, f"python -m {module}", words[place + 1 :])]
        return []
    if module in {"code", "asyncio", "ptpython", "bpython"} and command.stdin is not None:
        return [Inner(language="python", label=f"python -m {module}")]
    return (
        [Inner(language="python", path=module.replace(".", "/") + ".py", arguments=words, label="python -m")]
        if "." not in module
        else []
    )


def node_modules(words: list[str], labels: frozenset[str]) -> list[Inner]:
    """What ``--require file`` and ``--import address`` among words run before anything else."""
    found = []
    for at, text in enumerate(words):
        name, equals, value = text.partition("=")
        if name in {"-r", "--require", "--import", "--loader", "--experimental-loader"}:
            value = value if equals else "".join(words[at + 1 : at + 2])
            found += _node_module(Data(value, labels))
    return found


def _node_module(data: Data) -> list[Inner]:
    if data.text.startswith("data:"):
        return [code("node", _in_data_url(data), "node --import")]
    if data.text.startswith(("https://", "http://", "/", ".", "~")) or data.text.endswith((".js", ".cjs", ".mjs")):
        return [file("node", data.text, "node --require")]
    return []


def _in_data_url(data: Data) -> Data:
    from urllib.parse import unquote

    head, _, body = data.text.partition(",")
    if not head.endswith(";base64"):
        return Data(unquote(body), data.labels)
    import base64

    try:
        return Data(base64.b64decode(body + "==").decode("utf-8", "replace"), data.labels)
    except ValueError:
        return Data(UNKNOWN, data.labels)


def node(command: Command, options: Options) -> list[Inner]:
    """``node -e text``, ``node -r file``, ``node file``."""
    found: list[Inner] = []
    shown = [value for value, _ in options.values("-p|-pe|--print")]
    for text, at in options.values("-r|--require|--import|--loader|--experimental-loader"):
        found += _node_module(part(command, text, at))
    given = options.values("-e|-p|-pe|--eval|--print")
    words = [command.argv[at] for at in options.operands]
    if given:
        # What -p is given is what it prints.
        return found + [
            code(
                "node",
                part(command, f"console.log({text})" if text in shown else text, at),
                f"{command.name} -e",
                words,
            )
            for text, at in given
        ]
    if words[:1] in (["inspect"], ["debug"]):
        words = words[1:]
    if options.has("--test|--run|-c|--check"):
        return found
    if words and words[0] != "-":
        return [*found, file("node", words[0], command.name, words[1:])]
    return [*found, Inner(language="node", label=command.name)] if command.stdin is not None else found


def perl(command: Command, options: Options) -> list[Inner]:
    """``perl -e text``, ``-Mmodule``, ``perl file``."""
    words = [command.argv[at] for at in options.operands]
    modules = options.values("-M|-m")
    uses = "".join([f"use {text};\n" if "=" not in text else f"use {text.partition('=')[0]};\n" for text, _ in modules])
    given = joined_values(command, options, "-e|-E")
    found = [
        code("perl", part(command, text[1:], at), "perl -d") for text, at in options.values("-d") if text[:1] == ":"
    ]
    if given is not None:
        text = uses + _of_each_line(options, given.text, "perl")
        return [*found, code("perl", Data(text, given.labels), f"{command.name} -e", words)]
    if any(letter in uses for letter in "(`'\""):
        found.append(code("perl", Data(uses), "perl -M"))
    if options.has("-c") and "BEGIN" not in uses:
        return found
    return found + _script_or_input(command, options, "perl")


def ruby(command: Command, options: Options) -> list[Inner]:
    """``ruby -e text``, ``ruby file``."""
    given = joined_values(command, options, "-e")
    if given is None:
        return _script_or_input(command, options, "ruby")
    words = [command.argv[at] for at in options.operands]
    text = _of_each_line(options, given.text, "ruby")
    return [code("ruby", Data(text, given.labels), f"{command.name} -e", words)]


_SPLITS = {"perl": "@F = split(' ', $_);\n", "ruby": "$F = $_.split\n"}


def _of_each_line(options: Options, text: str, language: str) -> str:
    """A code as it runs with ``-n`` and ``-p``: for each line of its input."""
    if not options.has("-n|-p" if language == "ruby" else "-n|-p|-a|-F"):
        return text
    begin = "" if options.operands else {"perl": "$_ = <STDIN>;\n", "ruby": "$_ = gets\n"}[language]
    if options.has("-a|-F"):
        begin += _SPLITS[language]
    shown = {"perl": "\n;print $_;\n", "ruby": "\n;print $_\n"}[language] if options.has("-p") else "\n"
    return f"{begin}{text}{shown}"


def php(command: Command, options: Options) -> list[Inner]:
    """``php -r text``, ``php -d auto_prepend_file=file``, ``php file``."""
    words = [command.argv[at] for at in options.operands]
    found = [
        code("php", part(command, text, at), f"{command.name} -r", words)
        for text, at in options.values("-r|-B|-R|-E|--run|--process-begin|--process-code|--process-end")
    ]
    for text, at in options.values("-d|--define"):
        key, _, value = text.partition("=")
        if key.strip() in {"auto_prepend_file", "auto_append_file"} and value:
            data = part(command, value, at)
            is_code = value.startswith("data:")
            found.append(code("php", _in_data_url(data), "php -d") if is_code else file("php", value, "php -d"))
    for path, _ in options.values("-f|-F|--file|--process-file"):
        found.append(file("php", path, command.name))
    if words[:2] == ["artisan", "tinker"]:
        for place, text in enumerate(words):
            name, equals, value = text.partition("=")
            if name == "--execute" and (equals or place + 1 < len(words)):
                at = options.operands[place if equals else place + 1]
                found.append(
                    code("php", part(command, value if equals else command.argv[at], at), "php artisan tinker")
                )
    if (found and not words) or options.has("-S|-l|-i|-m|-s|-w|--server"):
        return found
    if options.has("-r|--run|-B|-R|-E"):
        return found
    return found + _script_or_input(command, options, "php")


def coverage(command: Command, _options: Options) -> list[Inner]:
    """``coverage run file``, ``coverage run -m module``."""
    argv = command.argv
    if argv[1:2] != ["run"]:
        return []
    at = 2
    while at < len(argv):
        if argv[at] == "-m" and at + 1 < len(argv):
            return _module(command, argv[at + 1], list(range(at + 2, len(argv))))
        if argv[at][:1] != "-":
            return [file("python", argv[at], "coverage run", argv[at + 1 :])]
        at += (
            2
            if argv[at] in {"--rcfile", "--source", "--omit", "--include", "--context", "--data-file", "--concurrency"}
            else 1
        )
    return []


def ipython(command: Command, options: Options) -> list[Inner]:
    """``ipython -c text``, in which ``!text`` is a shell's."""
    found: list[Inner] = []
    argv = command.argv
    for at, text in enumerate(argv[1:], 1):
        data = None
        if text == "-c" and at + 1 < len(argv):
            data = word(command, at + 1)
        elif text.startswith("-c="):
            data = part(command, text[3:], at)
        if data is not None:
            for line in data.text.split("\n"):
                if line.lstrip()[:1] == "!" or line.lstrip().startswith(("%sx ", "%system ", "%%bash", "%%sh")):
                    found += shell(
                        Data(line.lstrip().lstrip("!").removeprefix("%sx ").removeprefix("%system "), data.labels),
                        "ipython",
                    )
            found.append(code("python", data, "ipython -c"))
    return found or _script_or_input(command, options, "python")


HANDLERS: dict[str, Handler] = {
    **dict.fromkeys(("python", "pypy"), python),
    "ipython": ipython,
    **dict.fromkeys(("node", "tsx", "ts-node"), node),
    "perl": perl,
    **dict.fromkeys(("ruby", "jruby"), ruby),
    **dict.fromkeys(("php", "hhvm"), php),
    "coverage": coverage,
}
