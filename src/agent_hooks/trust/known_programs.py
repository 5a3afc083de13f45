"""How well-known programs use their arguments: they run them as scripts or code, or only read and print them."""

from __future__ import annotations

import re
from itertools import pairwise

from agent_hooks.shell.patterns import Pattern
from agent_hooks.shell.programs import SHELLS, name_of

from .command_words import Argument

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from .command_words import Invocation

_SCRIPT_ENDING = Pattern(r".+\.(py|sh|bash|zsh|js|mjs|cjs|ts|mts|cts|rb|pl|php|lua|ps1)")
_PYTHON_NAMES = r"(python|pypy)[0-9.]*w?(\.exe)?|py|ipython3?"
_PYTHON = Pattern(_PYTHON_NAMES)
_INTERPRETER = Pattern(
    rf"{_PYTHON_NAMES}|(ruby|perl|php|lua)[0-9.]*|node|nodejs|deno|bun|tsx|ts-node|Rscript|osascript|pwsh|powershell"
)
_PYTHON_CODE = Pattern(r"-[bBdEIOPqRsSuvx]*([cm])(.*)", re.DOTALL)
_OTHER_CODE = Pattern(r"-[\w.]*[eEpr]|--(eval|print|command)(=.*)?|eval|(?i:-c(ommand)?)", re.DOTALL)
_VALUED = frozenset("-W -X -o +o -O +O --rcfile --init-file -I -C -L --require --import --loader --env-file".split())
_ABOUT_ITSELF = frozenset("--version -V -v --help -h".split())
_STDIN = frozenset("- -s /dev/stdin".split())
_PACKAGE_MANAGERS = frozenset("npm pnpm yarn bun deno".split())

# Programs that start no other program and run no file among their operands: they read, print, check or format.
_READING = frozenset(
    """
    test [ [[ cd pushd popd exit return true false : sleep kill shift break continue wait set read say type pwd which
    tee touch truncate mkdir rmdir rm unlink chmod chown dd tar zip unzip gzip sqlite3 export local declare readonly
    echo printf cat tac nl head tail less more wc ls tree cut tr sort uniq comm paste fold column diff cmp md5sum date
    sha256sum shasum base64 od strings file stat du readlink realpath basename dirname hostname notify-send logger
    grep egrep fgrep rg ag jq yq awk gawk mawk sed json.tool
    """.split()
)
_CHECKERS = frozenset(
    """
    prettier eslint stylelint biome black isort ruff flake8 pylint mypy pyright gofmt goimports rustfmt shfmt
    clang-format mdformat markdownlint markdownlint-cli2 shellcheck yamllint taplo tsc pytest jest vitest mocha rspec
    """.split()
)
# Their options that name code or rules, ``-f`` of filters only.
_FILTERS = frozenset("grep egrep fgrep rg jq yq".split())
_EDITORS = frozenset("awk gawk mawk sed".split())  # their code may run programs
_CODE_OPTION = Pattern(
    r"-[IF]|--(file|from-file|pre|config(-file|-path)?|plugin|require|rcfile|to-command|use-compress-program|checkpoint-action)"
)
_OUTPUT_OPTION = Pattern(r"-o|--?(std)?(out|output|err|log)([-_]?(file|path|dir|location|to))?")
_COPYING = frozenset("cp ln install mv".split())
# Files that nobody runs and that grow from call to call.
_GROWING = Pattern(
    r".+\.(log|jsonl|ndjson|db|sqlite3?|pid|lock)|(.*[/._-])?logs?([._-].*)?\.(txt|csv)|(.*[/._-])?state\.(txt|json)"
    r"|.*/\.?(state|lock)"
)
_TASK_RUNNERS = frozenset("make just task rake invoke tox nox pre-commit lefthook run-parts".split())


def is_python(name: str) -> bool:
    """Whether a program of this name is Python."""
    return _PYTHON.fullmatch(name) is not None


def grows(path: str) -> bool:
    """Whether a path names a log or a state file, which grows from call to call and is not run."""
    return _GROWING.fullmatch(path) is not None


def code_files(invocation: Invocation) -> list[Argument]:
    """Return the arguments of a reading program that name code or rules."""
    code = [
        each for each in invocation.arguments[1:] if invocation.name in _EDITORS and re.search(r"[\s\"|]", str(each))
    ]
    is_filter, is_checker = invocation.name in _FILTERS | _EDITORS, _tool(invocation) in _CHECKERS
    options = _values(
        invocation,
        lambda option: (
            _CODE_OPTION.fullmatch(option)
            or (is_filter and option[-1] == "f")
            or (is_checker and option in ("-c", "-r"))
        ),
    )
    return [*options, *code]


def written_files(invocation: Invocation) -> Sequence[Argument]:
    """Return the arguments that name files to write."""
    arguments = invocation.arguments
    if invocation.name in ("tee", "touch", "truncate"):
        return arguments[1:]
    return arguments[-1:] if invocation.name in _COPYING else _values(invocation, _OUTPUT_OPTION.fullmatch)


def _values(invocation: Invocation, is_option: Callable[[str], object]) -> list[Argument]:
    """Return the values of the options that satisfy ``is_option``, as arguments."""
    values = []
    for before, argument in pairwise(invocation.arguments):
        option, has_value, value = str(argument).partition("=")
        if str(before).startswith("-") and is_option(str(before)):
            values.append(argument)
        elif has_value and option.startswith("-") and is_option(option):
            values.append(Argument(argument.text and value, value))
    return values


def interpreted(invocation: Invocation) -> tuple[str, Argument | None]:
    """Return what an interpreter runs: ``script``, ``code`` or ``module`` with its argument, ``stdin``, or nothing."""
    name, arguments = invocation.name, list(invocation.arguments[1:])
    if name in ("source", "."):
        return ("script", arguments[0]) if arguments else ("", None)
    if name not in SHELLS and not _INTERPRETER.fullmatch(name):
        return "", None
    while arguments:
        argument = arguments.pop(0)
        word = str(argument)
        code = _PYTHON_CODE.fullmatch(word) if is_python(name) else None
        if code:
            kind = "code" if code[1] == "c" else "module"
            return kind, Argument(argument.text and code[2], code[2]) if code[2] else next(iter(arguments), None)
        if name not in SHELLS and not is_python(name) and _OTHER_CODE.fullmatch(word):
            return "code", next(iter(arguments), argument)
        if word in _ABOUT_ITSELF:
            return "", None
        if word in _STDIN:
            break
        if word in _VALUED:
            del arguments[:1]
        elif word[:1] not in ("-", "+") and (name not in _PACKAGE_MANAGERS or _SCRIPT_ENDING.fullmatch(word)):
            return "script", argument
    return "stdin", None


def only_reads(invocation: Invocation) -> bool:
    """Whether a program only reads, prints, checks or formats files."""
    folder, slash, _ = str(invocation.program).rpartition("/")
    is_own = slash and name_of(folder) not in ("bin", ".bin", "sbin")
    return not is_own and _tool(invocation) in _READING | _CHECKERS


def _tool(invocation: Invocation) -> str:
    """Return the name of the program, of ``python -m tool`` the module's."""
    kind, argument = interpreted(invocation)
    return str(argument) if kind == "module" else invocation.name


def files_to_run(invocations: Iterable[Invocation]) -> Iterator[Argument]:
    """Yield the programs and scripts to run that are files."""
    for invocation in invocations:
        kind, argument = interpreted(invocation)
        program = invocation.program
        # `@biomejs/biome` is a package
        is_path = "/" in str(program) and not str(program).startswith("@")
        if is_path or (invocation.wrappers and _SCRIPT_ENDING.fullmatch(str(program))):
            yield program
        if kind == "script" and argument is not None:
            yield argument


def unseen_task(invocation: Invocation) -> str:
    """Return the task that a program runs from a file that the command does not name."""
    words = [invocation.name, *map(str, invocation.arguments[1:])]
    verb = words[1] if words[0] in _PACKAGE_MANAGERS and words[1:] else ""
    is_task = verb in ("run", "test", "start", "task") and not any(map(_SCRIPT_ENDING.fullmatch, words[2:3]))
    return f"{words[0]} {verb}" if is_task else words[0] if words[0] in _TASK_RUNNERS else ""
