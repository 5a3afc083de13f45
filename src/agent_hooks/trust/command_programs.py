"""How well-known programs use their arguments: they run them, or only read, write or print them."""

from __future__ import annotations

import re

from agent_hooks.shell.programs import SHELLS, name_of

from .command_words import Argument

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .command_words import Invocation

SCRIPT_ENDING = re.compile(r".+\.(py|sh|bash|zsh|js|mjs|cjs|ts|mts|cts|rb|pl|php|lua|ps1)")
_PYTHON = re.compile(r"(python|pypy)[0-9.]*w?(\.exe)?|py|ipython3?")
_INTERPRETER = re.compile(
    rf"{_PYTHON.pattern}|(ruby|perl|php|lua)[0-9.]*|node|nodejs|deno|bun|tsx|ts-node|Rscript|osascript|pwsh|powershell"
)
_CODE_OPTION = {
    "python": re.compile(r"-[bBdEIOPqRsSuvx]*c(.*)", re.DOTALL),
    "deno": re.compile(r"eval"),
    "php": re.compile(r"-r"),
    "": re.compile(r"-[\w.]*[eEp]|--(?:eval|print|command)(?:=(.*))?|(?i:-c(?:ommand)?)", re.DOTALL),
}
_MODULE_OPTION = re.compile(r"-[bBdEIOPqRsSuvx]*m(.*)")
_SAFE_OPTION = re.compile(r"-[bBdEOqRsSuvx]*[IP]")
_VALUED = frozenset(
    "-W -X -o +o -O +O --rcfile --init-file -r -I -C -L --require --import --loader --config --env-file".split()
)
_STDIN = re.compile(r"-|/dev/stdin|(/dev|/proc/self)/fd/\d+")
_ABOUT_ITSELF = frozenset("--version -V -v --help -h".split())
_FILE_VERBS = {"bun": "run", "deno": "run"}

# Programs that start no other program and run no file among their arguments.
_DATA = frozenset(
    """
    test [ chmod chown chgrp cd pushd popd exit return true false : sleep kill shift break continue wait
    tee touch truncate mkdir rmdir rm unlink shred cp ln install mv
    echo printf cat tac nl head tail less more bat wc ls tree cut tr sort uniq comm paste join fold fmt column rev diff
    cmp md5sum sha1sum sha256sum shasum cksum base64 zcat xxd od hexdump strings file stat du readlink realpath basename
    dirname date hostname pwd which type read set say espeak notify-send logger afplay aplay paplay dd
    grep egrep fgrep zgrep rg ag jq yq awk gawk mawk sed tar zip unzip gzip bzip2 xz zstd sqlite3 rsync open xdg-open
    """.split()
)
# Formatters, linters and test runners. The files that they check may be edited.
_CHECKERS = frozenset(
    """
    prettier eslint stylelint biome oxlint black isort ruff flake8 pylint mypy pyright gofmt goimports rustfmt shfmt
    clang-format mdformat markdownlint markdownlint-cli markdownlint-cli2 shellcheck yamllint hadolint taplo tsc dprint
    swiftformat ktlint json.tool pytest py.test jest vitest mocha ava rspec phpunit code cursor subl gh
    """.split()
)
_HARMLESS = _DATA | _CHECKERS
_DATA_VERBS = {
    "git": frozenset(
        """
        add blame branch cat-file check-attr check-ignore checkout commit describe diff diff-files diff-index
        hash-object log ls-files ls-tree mv reset restore rev-list rev-parse rm shortlog show stash status tag
        """.split()
    ),
    "bun": frozenset(["test"]),
    "deno": frozenset("check fmt lint test".split()),
    "terraform": frozenset("fmt validate".split()),
    "go": frozenset("fmt vet".split()),
    "cargo": frozenset("clippy fmt".split()),
}
# Programs that write their last argument.
_COPYING = frozenset("cp ln install mv".split())
_EDITABLE_CODE = frozenset("awk gawk mawk sed".split())
# Options of these programs that name code, or a file with code.
_CODE_OPTIONS = {
    **dict.fromkeys(_CHECKERS, re.compile(r"-[cr]|--(config|plugin|require|rcfile|preset)[\w-]*")),
    **dict.fromkeys(
        "grep egrep fgrep zgrep rg jq yq awk gawk mawk sed".split(), re.compile(r"-\w*f|--file|--from-file|--pre")
    ),
    **dict.fromkeys(
        "tar zip rsync sqlite3".split(),
        re.compile(
            r"-[IFe]|-TT|-init|--(to-command|use-compress-program|checkpoint-action|rsh|rsh-command|info-script"
            r"|new-volume-script|unzip-command)"
        ),
    ),
}
_WRITING_OPTION = re.compile(r"-o|--?(std)?(out|output|err|log)([-_]?(file|path|dir|location|to))?")
# Files that nobody runs and that grow from call to call.
_GROWS = re.compile(
    r".+\.(log|jsonl|ndjson|db|sqlite3?|pid|lock)|(.*[/._-])?logs?([._-].*)?\.(txt|csv)|(.*[/._-])?state\.(txt|json)"
    r"|.*/\.?(state|lock)"
)
_TASK_RUNNERS = frozenset("make just task rake invoke tox nox pre-commit lefthook run-parts".split())
_PACKAGE_VERBS = {**dict.fromkeys(("npm", "pnpm", "yarn", "bun"), ("run", "test", "start")), "deno": ("task",)}


def is_python(name: str) -> bool:
    """Whether a program of this name is Python."""
    return _PYTHON.fullmatch(name) is not None


def is_interpreter(name: str) -> bool:
    """Whether a program of this name runs a script or code."""
    return name in SHELLS or _INTERPRETER.fullmatch(name) is not None


def grows(path: str) -> bool:
    """Whether a path names a log or a state file, which grows from call to call and is not run."""
    return _GROWS.fullmatch(path) is not None


def is_data(invocation: Invocation) -> bool:
    """Whether the program runs neither its arguments nor its stdin."""
    name, words = invocation.name, invocation.words
    verb = next((word for word in words[1:] if word[:1] != "-"), "")
    folder, slash, _ = (invocation.program.text or "").rpartition("/")
    if slash and name_of(folder) not in ("bin", ".bin", "sbin"):  # a script of the project
        return False
    is_module = is_python(name) and any(module in _HARMLESS for module in modules_of(invocation))
    is_linting = name in ("yarn", "pnpm") and verb in _HARMLESS
    return not words or name in _HARMLESS or verb in _DATA_VERBS.get(name, ()) or is_module or is_linting


class Interpreted:
    """The code that an interpreter runs.

    ``script``: a file; ``code``: an argument; ``takes_input``: whether it runs its stdin; ``is_safe``: whether Python
    leaves the working directory out of its path.
    """

    def __init__(self, invocation: Invocation) -> None:
        self.script: Argument | None = None
        self.code: Argument | None = None
        self.takes_input = False
        self.is_safe = False
        name = invocation.name
        arguments = list(invocation.arguments[1:])
        if name in ("source", "."):
            self.script = arguments[0] if arguments else None
        elif is_interpreter(name):
            self._read(name, arguments)

    def _read(self, name: str, arguments: list[Argument]) -> None:
        option = _CODE_OPTION["python" if is_python(name) or name in SHELLS else name if name in _CODE_OPTION else ""]
        while arguments:
            argument = arguments.pop(0)
            word = argument.text if argument.text is not None else argument.raw
            code = option.fullmatch(word)
            if name in SHELLS and word[:1] in "-+" and "c" in word[1:] and word[:2] != "--":
                code = re.fullmatch("(.*)", "")
            if code is not None:
                attached = code[code.lastindex] if code.lastindex else ""
                following = arguments[0] if arguments else None
                self.code = Argument(attached, argument.raw) if attached and argument.text is not None else following
                return
            if is_python(name) and _MODULE_OPTION.fullmatch(word):
                return
            self.is_safe = self.is_safe or (is_python(name) and _SAFE_OPTION.match(word) is not None)
            if word in _ABOUT_ITSELF:
                return
            if _STDIN.fullmatch(word) or (name in SHELLS and word == "-s"):
                break
            if word in _VALUED:
                del arguments[:1]
            elif word[:1] not in ("-", "+") and word != _FILE_VERBS.get(name):
                self.script = argument
                return
        self.takes_input = True


def modules_of(invocation: Invocation) -> list[str]:
    """Return the modules that ``python -m`` runs."""
    words = invocation.words
    if not is_python(invocation.name):
        return []
    for at, word in enumerate(words[1:], 1):
        found = _MODULE_OPTION.fullmatch(word)
        if found:
            return [found[1]] if found[1] else words[at + 1 : at + 2]
        if word[:1] != "-" and words[at - 1] not in _VALUED:
            break
    return []


def run_files(invocation: Invocation) -> list[Argument]:
    """Return the arguments that are files to run."""
    program = invocation.program
    text = program.text if program.text is not None else program.raw
    is_named = "/" in text and text[0] != "@"  # `@biomejs/biome` is a package
    found = [program] if is_named or (invocation.wrappers and SCRIPT_ENDING.fullmatch(text)) else []
    script = Interpreted(invocation).script
    # `bun run check` is a script of the package
    is_file = script is not None and (invocation.name not in _FILE_VERBS or SCRIPT_ENDING.fullmatch(script.text or ""))
    return [*found, script] if script is not None and is_file else found


def handled_arguments(invocation: Invocation) -> list[Argument]:
    """Return the arguments that may be files or code that the program runs, with the program itself."""
    arguments = list(invocation.arguments[1:])
    options = [(each.text or "").partition("=")[0] for each in (invocation.program, *arguments)]
    pairs = list(zip(options, options[1:], arguments, strict=False))
    if not is_data(invocation):
        code = Interpreted(invocation).code if invocation.name in SHELLS else None  # parsed as a command line
        written = [_WRITING_OPTION.fullmatch(option) and " " not in (each.text or "") for option, _, each in pairs]
        own = [_WRITING_OPTION.fullmatch(option) for _, option, _ in pairs]
        named = [each for each, *rest in zip(arguments, written, own, strict=True) if not any(rest)]
        return [each for each in (invocation.program, *named) if each is not code]
    codes = _CODE_OPTIONS.get(invocation.name)
    found = []
    if codes is not None:
        found = [
            each
            for option, own, each in pairs
            if (codes.fullmatch(option) and own[:1] != "-") or (codes.fullmatch(own) and own != each.text)
        ]
    if invocation.name in _EDITABLE_CODE:
        found += [each for each in arguments if each.text and re.search(r"[\s\"|]", each.text)]
    if invocation.name in _COPYING:
        found += [each for each in arguments[:-1] if _is_installed_by(each.text or "", arguments[-1].text or "")]
    return found


def _is_installed_by(source: str, target: str) -> bool:
    """Whether a copy of ``source`` at ``target`` may be an executable."""
    name = name_of(source)
    if name.startswith("-"):
        return False
    is_script = "." not in name or SCRIPT_ENDING.fullmatch(name) or SCRIPT_ENDING.fullmatch(target)
    return bool(is_script) or not {"hooks", "bin"}.isdisjoint(target.split("/"))


def written_files(invocation: Invocation) -> list[Argument]:
    """Return the files that the program writes, as far as its arguments and redirections show."""
    operands = invocation.arguments[1:]
    if invocation.name in _COPYING:
        operands = operands[-1:]
    elif invocation.name not in ("tee", "touch", "truncate"):
        operands = ()
    return [*invocation.writes, *operands]


def runs_input(invocation: Invocation) -> bool:
    """Whether the program runs text that is not in its arguments: its stdin or the output of other programs."""
    name, words = invocation.name, invocation.words
    reading = Interpreted(invocation)
    wrappers = {name_of(argument.text or "") for argument in invocation.wrappers}
    if not wrappers.isdisjoint(("xargs", "parallel")) and not is_data(invocation):
        return True
    if name == "eval" or (name in ("source", ".") and (reading.script is None or reading.script.text is None)):
        return any(argument.text is None for argument in invocation.arguments)
    run = (invocation.program, reading.code, reading.script)
    is_computed = any(each is not None and each.text is None for each in run)
    return reading.takes_input or is_computed or any(re.search(r"\$_\b|\$@", word) for word in words)


def unseen_task(invocation: Invocation) -> str:
    """Return the task that a program runs from a file that the command does not name."""
    words = invocation.words
    name = invocation.name
    verb = words[1] if len(words) > 1 else ""
    is_package = verb in _PACKAGE_VERBS.get(name, ()) and not any(map(SCRIPT_ENDING.fullmatch, words[2:3]))
    return name if name in _TASK_RUNNERS else f"{name} {verb}" if is_package else ""
