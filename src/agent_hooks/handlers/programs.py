"""What well-known programs do with the words that follow them: which they run, which they only read or write."""

from __future__ import annotations

import os
import re
from enum import Enum

from .shell_text import unhidden

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


class Use(Enum):
    """What becomes of a word."""

    RUN = "a file that is run"
    MAY_RUN = "whatever the program makes of it"
    TOLD = "read, or said: it is run if something runs what it is told"
    WRITTEN = "a file that the command itself writes, moves or removes"
    TEXT = "a text for a shell"
    CODE = "code for an interpreter"
    PYTHON = "code for Python"
    ANYTHING = "this program runs what it is told"
    OPEN = "nobody can see which file this program runs"


SHELLS = frozenset("sh bash dash zsh ksh ash fish".split())
_INTERPRETERS = re.compile(
    r"(python|pypy|ruby|perl|php|lua)[0-9.]*|node|nodejs|deno|bun|tsx|ts-node|Rscript|osascript|pwsh|powershell|tclsh"
)
# The option that code follows.
_CODE = {
    "python": r"-[bBdEIOPqRsSuvx]*c",
    "pypy": r"-[bBdEIOPqRsSuvx]*c",
    "ruby": r"-\w*e",
    "perl": r"-\w*[eE]",
    "php": r"-r",
    "deno": r"eval",
    "pwsh": r"(?i:-c(ommand)?)",
    "powershell": r"(?i:-c(ommand)?)",
}
_CODE_ELSEWHERE = r"-e|-p|-pe|--eval|--print"
# Options that a value follows.
_VALUED = {"shell": "-o +o -O +O --rcfile --init-file", "python": "-W -X", "pypy": "-W -X"}
_VALUED_ELSEWHERE = "-r -I -C -L --require --import --loader --experimental-loader --config --env-file"
_ABOUT_ITSELF = frozenset("--version -V -v --help -h".split())
_OPEN_FILE = re.compile(r"-|/dev/stdin|(/dev|/proc/self)/fd/\d+")
SCRIPT_ENDING = re.compile(r".+\.(py|sh|bash|zsh|js|mjs|cjs|ts|mts|cts|rb|pl|php|lua|ps1)")

_WRAPPERS = frozenset(
    """
    env sudo doas nohup time nice ionice timeout stdbuf setsid xargs parallel exec command builtin chronic caffeinate
    npx bunx pnpx uvx pipx
    """.split()
)
_RUNNING = {
    **dict.fromkeys("uv poetry pipenv pdm rye hatch pipx conda".split(), ("run",)),
    **dict.fromkeys("npm pnpm yarn bundle mise".split(), ("exec", "dlx", "x")),
    "bun": ("x",),
}
_PROGRAM_FOLDERS = frozenset(("bin", ".bin", "sbin", "@biomejs"))
_NO_PROGRAM = re.compile(r"-.*|[A-Za-z_]\w*\+?=.*|\d+(\.\d+)?[smhd]?|\{\}|%|@|_", re.ASCII | re.DOTALL)

_TESTS = frozenset("test [ [[ chmod chown chgrp cd pushd popd exit return true false : sleep kill shift".split())
_WRITES = frozenset("tee touch truncate mkdir rmdir rm unlink shred".split())
_COPIES = frozenset("cp ln install mv".split())
_TELLS = frozenset(
    """
    echo printf cat tac nl head tail less more bat wc ls tree cut tr sort uniq comm paste join fold fmt column rev diff
    cmp md5sum sha1sum sha256sum shasum cksum base64 xxd od hexdump strings file stat du readlink realpath basename
    dirname date hostname pwd which type read set say espeak notify-send logger afplay aplay paplay
    grep egrep fgrep zgrep rg ag jq yq awk gawk mawk sed
    """.split()
)
_WITH_PROGRAMS = frozenset("grep egrep fgrep zgrep rg jq yq awk gawk mawk sed".split())  # of their own, by `-f`
_PROGRAM_FILE = re.compile(r"-\w*f|--file|--from-file")
_TEXT_PROGRAMS = frozenset("awk gawk mawk sed".split())
_LINTERS = frozenset(
    """
    prettier eslint stylelint biome oxlint black isort ruff flake8 pylint mypy pyright gofmt goimports rustfmt shfmt
    clang-format mdformat markdownlint markdownlint-cli markdownlint-cli2 shellcheck yamllint hadolint taplo tsc dprint
    swiftformat ktlint json.tool
    """.split()
)
_FLAGS = re.compile(r"--(|write|fix|check|quiet|diff|in-place|list-different|no-\w[\w-]*|loglevel=.*)|-[wlqid]+")
_IN_PLACE = frozenset("--write --fix --in-place -w -i format fmt black isort rustfmt mdformat".split())
_GIT_LOOKS = frozenset("add blame branch commit diff log ls-files show status".split())
_GIT_WRITES = frozenset("checkout mv reset restore rm stash".split())

_WRITING_OPTION = re.compile(r"-o|--?(std)?(out|output|err|log)([-_]?(file|path|dir|location|to))?")
_IS_MORE = re.compile(r"-|\w*=|.*\s")  # an option, and what is told to one, as in `ssh -o "ProxyCommand ./x"`
# What no one would run, and what grows from call to call.
_GROWS = re.compile(r".+\.(log|jsonl|ndjson|db|sqlite3?|pid|lock)")
# In code: another program, or other code, is run.
_RUNS_MORE = re.compile(
    r"\b(exec\w*|eval|system|popen|Popen|p?spawn\w*|subprocess|child_process|importlib|__import__|runpy|getline)\b"
    r"""|\b(require|import|do|load|source)\b\s*\(?\s*['"][./]|`"""
)


def uses(words: Sequence[str], is_computed: Callable[[str], bool]) -> Iterator[tuple[Use, str]]:
    """Yield what becomes of each word of a program and its arguments, as far as it may be a file that is run.

    ``words``: with their quoted characters hidden. ``is_computed``: whether only a shell knows what a word is.
    """
    wrappers, before, words = _unwrapped(words)
    yield from ((Use.MAY_RUN if _NO_PROGRAM.fullmatch(word) or "/" not in word else Use.RUN, word) for word in before)
    name = program_name(words[0]) if words else ""
    is_harmless = is_data(name) or name in _LINTERS
    if wrappers.intersection(("xargs", "parallel")) and not is_harmless:
        yield Use.ANYTHING, ""
    if not words:
        return
    program, *args = words
    # `@biomejs/biome` is a package.
    is_file = ("/" in program and program[0] != "@") or (wrappers and SCRIPT_ENDING.fullmatch(program))
    if is_file or not is_harmless:
        yield (Use.RUN if is_file else Use.MAY_RUN), program
        if is_computed(program):
            yield Use.ANYTHING, ""
    if name in _WRITES:
        yield from ((Use.WRITTEN, word) for word in args)
    elif name in _COPIES:
        yield from ((Use.TOLD if _GROWS.fullmatch(word) else Use.MAY_RUN, word) for word in args[:-1])
        yield from ((Use.WRITTEN, word) for word in args[-1:])
    elif name in _TELLS:
        yield from _telling(name, args)
    elif name in _LINTERS:
        yield from _linting(args, is_in_place=not _IN_PLACE.isdisjoint((name, *args)))
    elif name == "git" and _verb(args) in _GIT_LOOKS | _GIT_WRITES:
        yield from _linting(args, is_in_place=_verb(args) in _GIT_WRITES)
    elif name in ("source", "."):
        yield from _sourcing(args, is_computed)
    elif name == "eval":
        yield Use.TEXT, " ".join(args)
        if any(map(is_computed, args)):
            yield Use.ANYTHING, ""
    elif name in SHELLS or _INTERPRETERS.fullmatch(name):
        yield from _interpreted(name, args, is_computed)
    elif name not in _TESTS:
        yield from _unknown(args, is_computed, is_wrapped=bool(wrappers))


def program_name(program: str) -> str:
    """Return the name that a program goes by; of one in a folder that is not for programs it says nothing unless it is
    that of an interpreter.
    """
    name = called(program)
    folder = os.path.basename(os.path.dirname(unhidden(program)))
    return name if not folder or folder in _PROGRAM_FOLDERS or is_interpreter(name) else ""


def called(program: str) -> str:
    """Return the last part of the path of a program, without a version: ``npx prettier@3``."""
    name = os.path.basename(unhidden(program))
    return name.partition("@")[0] or name


def program_of(words: Sequence[str]) -> str:
    """Return the name of the program that is run in the end, an empty string if there is none."""
    inner = _unwrapped(words)[2]
    return program_name(inner[0]) if inner else ""


def is_data(name: str) -> bool:
    """Whether a program of this name starts no other one."""
    return name in _TESTS or name in _WRITES or name in _COPIES or name in _TELLS


def is_interpreter(name: str) -> bool:
    """Whether a program of this name runs a script, or code."""
    return name in SHELLS or _INTERPRETERS.fullmatch(name) is not None


def runs_more(code: str) -> bool:
    """Whether code for an interpreter may run what it reads, or another file."""
    return _RUNS_MORE.search(code) is not None


def _unwrapped(words: Sequence[str]) -> tuple[set[str], list[str], Sequence[str]]:
    """Return the names of the programs that only run another one, what stands there of them and
    their options, and the words of that other one.
    """
    names: set[str] = set()
    options: list[str] = []
    place = 0
    while place < len(words):
        name = called(words[place])
        is_running = name in _RUNNING and place + 1 < len(words) and words[place + 1] in _RUNNING[name]
        if name not in _WRAPPERS and not is_running:
            break
        names.add(name)
        options.append(words[place])
        place += 2 if is_running else 1
        while place < len(words) and _NO_PROGRAM.fullmatch(words[place]):
            options.append(words[place])
            place += 1
    return names, options, words[place:]


def _verb(args: Sequence[str]) -> str:
    return next((word for word in args if word[:1] != "-"), "")


def _telling(name: str, args: Sequence[str]) -> Iterator[tuple[Use, str]]:
    is_in_place = name in ("sed", "yq") and any(re.match(r"-\w*i|--in-?place", word) for word in args)
    previous = ""
    for word in args:
        if name in _WITH_PROGRAMS and _PROGRAM_FILE.fullmatch(previous):
            yield Use.RUN, word
        elif (
            word[:2] == "--"
            or (name in _TEXT_PROGRAMS and any(map(str.isspace, word)))
            or (previous[:2] == "--" and "=" not in previous and name not in ("echo", "printf", "jq"))
        ):
            yield Use.MAY_RUN, word
        else:
            yield (Use.WRITTEN if is_in_place or (previous == "-o" and name == "sort") else Use.TOLD), word
        if name in _TEXT_PROGRAMS and runs_more(word):
            yield Use.ANYTHING, ""
        previous = word


def _linting(args: Sequence[str], *, is_in_place: bool) -> Iterator[tuple[Use, str]]:
    previous = ""
    for word in args:
        is_operand = word[:1] != "-" and (previous[:1] != "-" or "=" in previous or _FLAGS.fullmatch(previous))
        if is_in_place or not is_operand:
            yield (Use.WRITTEN if is_operand else Use.MAY_RUN), word
        previous = word


def _sourcing(args: Sequence[str], is_computed: Callable[[str], bool]) -> Iterator[tuple[Use, str]]:
    for place, word in enumerate(args):
        yield (Use.MAY_RUN if place else Use.RUN), word
    if args and (_OPEN_FILE.fullmatch(args[0]) or is_computed(args[0])):
        yield Use.ANYTHING, ""


def _interpreted(name: str, args: Sequence[str], is_computed: Callable[[str], bool]) -> Iterator[tuple[Use, str]]:
    is_shell = name in SHELLS
    family = re.sub(r"[0-9.]+$", "", name)
    code = re.compile(r"-\w*c" if is_shell else _CODE.get(family, _CODE_ELSEWHERE))
    valued = _VALUED.get("shell" if is_shell else family, _VALUED_ELSEWHERE).split()
    has_verbs = name in ("bun", "deno")
    place = 0
    while place < len(args):
        word = args[place]
        if _OPEN_FILE.fullmatch(word):
            yield Use.ANYTHING, ""
            yield from _arguments(args[place + 1 :], is_of_script=True)
            return
        if code.fullmatch(word) and place + 1 < len(args):
            language = Use.TEXT if is_shell else Use.PYTHON if family in ("python", "pypy") else Use.CODE
            yield language, args[place + 1]
            if is_computed(args[place + 1]):
                yield Use.ANYTHING, ""
            yield from _arguments(args[place + 2 :], is_of_script=True)
            return
        if word == "-m" and family in ("python", "pypy") and place + 1 < len(args):
            yield from _module(args[place + 1 :])
            return
        if word[:1] in "-+" or (has_verbs and "/" not in word and not SCRIPT_ENDING.fullmatch(word)):
            if is_shell and re.fullmatch(r"-\w*s\w*", word):
                yield Use.ANYTHING, ""
            is_valued = word in valued
            yield from ((Use.MAY_RUN, each) for each in args[place : place + 1 + is_valued])
            place += 1 + is_valued
            continue
        yield Use.RUN, word
        if "{}" in word:
            yield Use.OPEN, word
        if is_computed(word):
            yield Use.ANYTHING, ""
        yield from _arguments(args[place + 1 :], is_of_script=True)
        return
    if not has_verbs and _ABOUT_ITSELF.isdisjoint(args):
        yield Use.ANYTHING, ""


def _module(words: Sequence[str]) -> Iterator[tuple[Use, str]]:
    """What follows ``python -m``."""
    if words[0] in _LINTERS:
        yield from _linting(words[1:], is_in_place=not _IN_PLACE.isdisjoint(words))
    else:
        yield from _arguments(words[1:])


def _unknown(args: Sequence[str], is_computed: Callable[[str], bool], *, is_wrapped: bool) -> Iterator[tuple[Use, str]]:
    """The arguments of a program of which nothing is known: it may run any of them, or any program that they name."""
    yield from _arguments(args)
    for place, word in enumerate(args):
        name = called(word)
        if is_interpreter(name):
            yield from _interpreted(name, args[place + 1 :], is_computed)
            return
        if is_wrapped and SCRIPT_ENDING.fullmatch(word):
            yield Use.RUN, word
            return


def _arguments(args: Sequence[str], *, is_of_script: bool = False) -> Iterator[tuple[Use, str]]:
    previous = ""
    for word in args:
        option, _, value = word.partition("=")
        if value and _WRITING_OPTION.fullmatch(option):
            yield Use.WRITTEN, value
        elif _WRITING_OPTION.fullmatch(previous) and not _IS_MORE.match(word):
            yield Use.WRITTEN, word
        else:
            yield (Use.TOLD if is_of_script and _GROWS.fullmatch(word) else Use.MAY_RUN), word
        previous = word
