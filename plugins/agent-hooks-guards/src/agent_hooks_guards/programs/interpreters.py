"""``python``, ``node``, ``perl``, ``php``, ``awk``, ``sed``, ``vim``: programs that run code of their own language."""

from __future__ import annotations

from agent_hooks_guards.model.actions import Inner
from agent_hooks_guards.model.values import NO_LABELS, UNKNOWN, Data

from .noting import inside
from .unwrapping import code, file, joined, part, shell, texts, word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_hooks_guards.model.actions import Command
    from agent_hooks_guards.model.options import Options

    from .noting import Noting

# Modules of Python that are programs, by their names where these are others.
_PROGRAMS = {
    "IPython": "ipython",
    "awscli": "aws",
    "django": "django-admin",
    "fabric": "fab",
    "httpie": "http",
    "mercurial": "hg",
    "pip3": "pip",
    "yt_dlp": "yt-dlp",
}
_PROGRAMS |= {
    name: name
    for name in (
        "alembic ansible base64 conda coverage dotenv flask flit hatch http invoke ipython nox pdm pip pipenv pipx"
        " poetry tox twine uv"
    ).split()
}
# Modules of Python that run the script that is their first operand.
_RUNNERS = frozenset("pdb cProfile profile trace runpy memory_profiler kernprof viztracer scalene debugpy".split())
_RUNNER_VALUES = frozenset("-o -s -f --file --coverdir -C --outfile --sort --listen".split())


def joined_values(command: Command, options: Options, names: str) -> Data | None:
    """Return the values of options, one line each; None if there are none."""
    values = options.values(names)
    if not values:
        return None
    labels = NO_LABELS.union(*(command.labels.get(at, NO_LABELS) for _, at in values))
    return Data("\n".join([text for text, _ in values]), labels)


def _script_or_input(command: Command, options: Options, language: str) -> list[Inner]:
    """Return the first operand, a script; without one the input."""
    words = [command.argv[at] for at in options.operands]
    if words and words[0] != "-":
        return [file(language, words[0], command.name, words[1:])]
    return [Inner(language=language, label=command.name)] if command.stdin is not None else []


def _python(command: Command, options: Options) -> list[Inner]:
    """``python -c code``, ``python -m module arguments``, ``python file arguments``."""
    label = command.name
    words = [command.argv[at] for at in options.operands]
    given = options.values("-c")
    if given:
        text, at = given[-1]
        return [code("python", part(command, text, at), f"{label} -c", ["-c", *words])]
    modules = options.values("-m")
    if modules:
        return _module(command, modules[-1][0], options.operands)
    found = _script_or_input(command, options, "python")
    if words[1:2] == ["shell"] and words[0].endswith("manage.py"):
        for at, text in zip(options.operands[1:], words, strict=False):
            if text in {"-c", "--command"}:
                found.append(code("python", word(command, at), "manage.py shell"))
    return found


def _module(command: Command, module: str, places: list[int]) -> list[Inner]:
    """``python -m module arguments``."""
    words = [command.argv[at] for at in places]
    label = f"python -m {module}"
    if module in _PROGRAMS:
        return [texts([Data(_PROGRAMS[module]), *(word(command, at) for at in places)], "python -m")]
    if module == "timeit":
        statements = [at for at in places if command.argv[at][:1] != "-"]
        lines = "\n".join([command.argv[at] for at in statements])
        return [code("python", Data(lines, joined(command, statements).labels), label)] if statements else []
    if module in _RUNNERS:
        for place, text in enumerate(words):
            if text == "-m":
                return _module(command, words[place + 1], places[place + 2 :]) if place + 1 < len(words) else []
            if text == "-c" and place + 1 < len(words):
                return [code("python", word(command, places[place + 1]), label)]
            if text[:1] != "-" and (place == 0 or words[place - 1] not in _RUNNER_VALUES):
                return [file("python", text, label, words[place + 1 :])]
        return []
    if module in {"code", "asyncio"} and command.stdin is not None:
        return [Inner(language="python", label=label)]
    path = module.replace(".", "/") + ".py"
    return [Inner(language="python", path=path, arguments=words, label="python -m")] if "." not in module else []


def _effects_of_python(noting: Noting) -> None:
    """``python -m zipfile -e archive folder``, ``python -m tarfile``, ``python -m json.tool source target``."""
    module = noting.options.value("-m")
    words = noting.operands()
    if module == "json.tool":
        files = [word for word in words if not word.startswith("-")]
        for word in files[:1]:
            noting.file("read", word)
        for word in files[1:2]:
            noting.file("write", word, labels=noting.input_labels, sources=(files[0],))
    elif module in ("tarfile", "zipfile") and len(words) > 1:
        action, archive, *rest = words
        if action in ("-e", "--extract"):
            noting.file("read", archive)
            noting.file("write", inside(rest[0] if rest else "."), recursive=True, sources=(archive,))
        elif action in ("-c", "--create"):
            for word in rest:
                noting.file("read", word, recursive=True)
            noting.file("write", archive, sources=tuple(rest))


def _node(command: Command, options: Options) -> list[Inner]:
    """``node -e code``, ``node -r file``, ``node file``."""
    found = [
        inner
        for text, at in options.values("-r|--require|--import|--loader|--experimental-loader")
        for inner in load_module(part(command, text, at))
    ]
    words = [command.argv[at] for at in options.operands]
    for name in ("-e|--eval", "-p|-pe|--print"):
        for text, at in options.values(name):
            shown = f"console.log({text})" if name[1] == "p" else text
            found.append(code("node", part(command, shown, at), f"{command.name} -e", words))
    if options.has("-e|-p|-pe|--eval|--print|--test|--run|-c|--check"):
        return found
    if words[:1] in (["inspect"], ["debug"]):
        return [*found, *(file("node", path, command.name, words[2:]) for path in words[1:2])]
    return found + _script_or_input(command, options, "node")


def load_module(data: Data) -> list[Inner]:
    """Return the module of ``--require file`` or ``--import address``, which runs before anything else."""
    text = data.text
    if text.startswith("data:"):
        return [code("node", _of_data_url(data), "node --import")]
    if text.startswith(("https://", "http://", "/", ".", "~")) or text.endswith((".js", ".cjs", ".mjs")):
        return [file("node", text, "node --require")]
    return []


def _of_data_url(data: Data) -> Data:
    """Return the content of a URL with the scheme ``data``."""
    import base64
    from urllib.parse import unquote

    head, _, body = data.text.partition(",")
    if head.endswith(";base64"):
        try:
            return Data(base64.b64decode(body + "==").decode("utf-8", "replace"), data.labels)
        except ValueError:
            return Data(UNKNOWN, data.labels)
    return Data(unquote(body), data.labels)


def _deno(command: Command, options: Options) -> list[Inner]:
    """``deno eval code``, ``deno run file``."""
    operands = options.operands
    name = options.subcommand[0] if options.subcommand else ""
    if name == "eval" and operands:
        return [code("node", word(command, operands[0]), "deno eval")]
    if name in {"run", "serve"}:
        return _script_or_input(command, options, "node") if operands else []
    if name.endswith((".ts", ".js", ".mjs")) or name.startswith("http"):
        return [file("node", name, "deno")]
    return [Inner(language="node", label="deno")] if not name and command.stdin is not None else []


def _perl(command: Command, options: Options) -> list[Inner]:
    """``perl -e code``, ``-Mmodule``, ``perl file``."""
    words = [command.argv[at] for at in options.operands]
    uses = "".join([f"use {text.partition('=')[0]};\n" for text, _ in options.values("-M|-m")])
    given = joined_values(command, options, "-e|-E")
    found = [
        code("perl", part(command, text[1:], at), "perl -d") for text, at in options.values("-d") if text[:1] == ":"
    ]
    if given is not None:
        text = uses + _of_each_line(options, given.text, "perl")
        return [*found, code("perl", Data(text, given.labels), f"{command.name} -e", words)]
    if any(letter in uses for letter in "(`'\""):
        found.append(code("perl", Data(uses), "perl -M"))
    return found if options.has("-c") else found + _script_or_input(command, options, "perl")


# Statements that split a line with -a.
_SPLITS = {"perl": "@F = split(' ', $_);\n", "ruby": "$F = $_.split\n"}


def _of_each_line(options: Options, text: str, language: str) -> str:
    """Return a code as it runs with ``-n`` and ``-p``: for each line of its input."""
    if not options.has("-n|-p" if language == "ruby" else "-n|-p|-a|-F"):
        return text
    begin = "" if options.operands else {"perl": "$_ = <STDIN>;\n", "ruby": "$_ = gets\n"}[language]
    if options.has("-a|-F"):
        begin += _SPLITS[language]
    shown = {"perl": "\n;print $_;\n", "ruby": "\n;print $_\n"}[language] if options.has("-p") else "\n"
    return f"{begin}{text}{shown}"


def _ruby(command: Command, options: Options) -> list[Inner]:
    """``ruby -e code``, ``ruby file``."""
    given = joined_values(command, options, "-e")
    if given is None:
        return _script_or_input(command, options, "ruby")
    words = [command.argv[at] for at in options.operands]
    text = _of_each_line(options, given.text, "ruby")
    return [code("ruby", Data(text, given.labels), f"{command.name} -e", words)]


def _edits_in_place(noting: Noting) -> None:
    """``perl -i -pe code files``: without ``-i``, only the code knows what the operands are for."""
    if noting.options.has("-i"):
        for path in noting.operands(0 if noting.options.has("-e|-E") else 1):
            noting.file("write", path)


def _php(command: Command, options: Options) -> list[Inner]:
    """``php -r code``, ``php -d auto_prepend_file=file``, ``php file``."""
    words = [command.argv[at] for at in options.operands]
    names = "-r|-B|-E|-R|--run|--process-begin|--process-end|--process-code"
    found = [code("php", part(command, text, at), f"{command.name} -r", words) for text, at in options.values(names)]
    for text, at in options.values("-d|--define"):
        key, _, value = text.partition("=")
        if key.strip() in {"auto_prepend_file", "auto_append_file"} and value:
            data = part(command, value, at)
            is_data = value.startswith("data:")
            found.append(code("php", _of_data_url(data), "php -d") if is_data else file("php", value, "php -d"))
    found += [file("php", path, command.name) for path, _ in options.values("-f|-F|--file|--process-file")]
    if words[:2] == ["artisan", "tinker"]:
        for at in options.operands[2:]:
            name, _, value = command.argv[at].partition("=")
            if name != "--execute":
                found.append(code("php", word(command, at), "php artisan tinker"))
            elif value:
                found.append(code("php", part(command, value, at), "php artisan tinker"))
    if (found and not words) or options.has(f"-S|-l|-i|-m|-s|-w|--server|{names}"):
        return found
    return found + _script_or_input(command, options, "php")


def _awk(command: Command, options: Options) -> list[Inner]:
    """``awk code files``, ``awk -f file``."""
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
    program = given.text
    variables = [text.partition("=")[::2] for text, _ in options.values("-v|--assign")]
    for name, data in command.assignments.items():
        # A variable of the environment is known by another name here.
        variables.append((f"ENVIRON_{name}", data.text.replace("\\", "\\\\")))
        program = program.replace(f'ENVIRON["{name}"]', f"ENVIRON_{name}")
    for name, value in variables:
        literal = value.replace('"', '\\"').replace("\n", "\\n")
        begin += f'BEGIN {{ {name} = "{literal}" }}\n'
    return [*found, code("awk", Data(begin + program, given.labels), label, words)]


def _effects_of_awk(noting: Noting) -> None:
    options = noting.options
    words = noting.operands(0 if options.has("-f|--file|-E|--exec|-e|--source") else 1)
    in_place = options.value("-i|--include") == "inplace"
    for path in noting.values("-f|--file"):
        noting.file("read", path)
    for path in words:
        noting.file("write" if in_place else "read", path)


def _sed(command: Command, options: Options) -> list[Inner]:
    """``sed code files``, ``sed -e code``, ``sed -f file``."""
    if options.has("--sandbox"):
        return []
    found = [file("sed", path, "sed") for path, _ in options.values("-f|--file")]
    words = [command.argv[at] for at in options.operands]
    given = joined_values(command, options, "-e|--expression")
    if given is None and not found and words:
        given = word(command, options.operands[0])
        words = words[1:]
    return [*found, code("sed", given, "sed", words)] if given is not None else found


def _vim(command: Command, options: Options) -> list[Inner]:
    """``vim -c code``, ``vim +code``, ``vim -S file``, ``ex -s <file``."""
    label = command.name
    found = [
        code("vim", part(command, text, at), f"{label} -c")
        for text, at in options.values("-c|--cmd|--remote-expr|--remote-send")
    ]
    for at, text in enumerate(command.argv[1:], 1):
        if text[:1] == "+" and len(text) > 1 and not text[1:].isdigit() and text[1] != "/":
            found.append(code("vim", part(command, text[1:], at), f"{label} -c"))
    scripts = [path for path, _ in options.values("-S|-u") if path not in {"NONE", "NORC", "DEFAULTS"}]
    is_line_editor = label == "ex" or options.has("-e|-E")
    if options.has("-s") and not is_line_editor:  # keys to type, from a file
        scripts += [command.argv[at] for at in options.operands[:1]]
    found += [file("vim", path, label) for path in scripts]
    if command.stdin is not None and "-" not in command.argv and is_line_editor:
        found.append(Inner(language="vim", label=label))
    return found


def _ed(command: Command, options: Options) -> list[Inner]:
    """``ed file``: its commands are the input; ``ed '!line'``."""
    for at in options.operands:
        if command.argv[at][:1] == "!":
            return shell(part(command, command.argv[at][1:], at), "ed")
    words = [command.argv[at] for at in options.operands]
    return [Inner(language="ed", arguments=words, label="ed")] if command.stdin is not None else []


_SAVING = frozenset("w wq wqa wqall x xit xa xall wa wall write up update exit".split())


def _effects_of_vim(noting: Noting) -> None:
    """``vim -c wq file``: a file that is only opened is a person's to write."""
    texts = noting.values("-c|--cmd") + [word[1:] for word in noting.command.argv[1:] if word[:1] == "+"]
    commands = [command.strip(" :%").rstrip("!") for text in texts for command in text.split("|")]
    for path in noting.operands():
        noting.file("read", path)
        if noting.command.name == "ex" or not _SAVING.isdisjoint(commands):
            noting.file("write", path)


EFFECTS = {
    "vim": _effects_of_vim,
    "python": _effects_of_python,
    "awk": _effects_of_awk,
    "perl": _edits_in_place,
    "ruby": _edits_in_place,
}
INNER = {
    "python": _python,
    "node": _node,
    "deno": _deno,
    "perl": _perl,
    "php": _php,
    "ruby": _ruby,
    "awk": _awk,
    "sed": _sed,
    "vim": _vim,
    "ed": _ed,
}
