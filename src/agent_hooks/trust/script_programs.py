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
    npx bunx pnpx uvx pipx flock
    """.split()
)
_RUNNING = {
    **dict.fromkeys("uv poetry pipenv pdm rye hatch pipx conda".split(), ("run",)),
    **dict.fromkeys("npm pnpm yarn bundle mise".split(), ("exec", "dlx", "x")),
    "bun": ("x",),
}
_PROGRAM_FOLDERS = frozenset(("bin", ".bin", "sbin", "@biomejs"))
_NO_PROGRAM = re.compile(r"-.*|[A-Za-z_]\w*\+?=.*|\d+(\.\d+)?[smhd]?|\{\}|%|@|_", re.ASCII | re.DOTALL)

# `done`: a loop starts no program that is not one of its own, and these are seen for themselves.
_TESTS = frozenset("test [ [[ chmod chown chgrp cd pushd popd exit return true false : sleep kill shift done".split())
_WRITES = frozenset("tee touch truncate mkdir rmdir rm unlink shred".split())
_COPIES = frozenset("cp ln install mv".split())
_TELLS = frozenset(
    """
    echo printf cat tac nl head tail less more bat wc ls tree cut tr sort uniq comm paste join fold fmt column rev diff
    cmp md5sum sha1sum sha256sum shasum cksum base64 zcat xxd od hexdump strings file stat du readlink realpath basename
    dirname date hostname pwd which type read set say espeak notify-send logger afplay aplay paplay dd
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
    pytest py.test jest vitest mocha ava rspec phpunit
    """.split()
)
# Programs that are formatters, linters or runners of tests by what they are asked for.
_LINTING_VERBS = {
    "bun": ("test",),
    "deno": ("check", "fmt", "lint", "test"),
    "terraform": ("fmt", "validate"),
    "tofu": ("fmt", "validate"),
    "go": ("fmt", "vet"),
    "cargo": ("clippy", "fmt"),
    "dart": ("analyze", "format"),
    "mix": ("format",),
}
_PACKAGE_MANAGERS = frozenset(("yarn", "pnpm"))  # `yarn eslint x`
_FLAGS = re.compile(
    r"--(|write|fix|check|quiet|diff|in-place|list-different|no-?\w[\w-]*|loglevel=.*|apply|apply-unsafe|unsafe|verbose"
    r"|ci|run|passWithNoTests|watch=false)|-[wlqidvxs]+"
)
# A configuration that runs nothing, unlike those of other programs.
_PROJECT_OPTION = re.compile(r"-p|--project")
_CHECKS_TYPES = frozenset(("tsc", "pyright"))
_IN_PLACE = frozenset("--write --fix --in-place -w -i format fmt black isort rustfmt mdformat".split())
_GIT_LOOKS = frozenset(
    """
    add blame branch cat-file check-attr check-ignore commit describe diff diff-files diff-index hash-object log
    ls-files ls-tree rev-list rev-parse shortlog show status tag
    """.split()
)
_GIT_WRITES = frozenset("checkout mv reset restore rm stash".split())

_WRITING_OPTION = re.compile(r"-o|--?(std)?(out|output|err|log)([-_]?(file|path|dir|location|to))?")
_IS_MORE = re.compile(r"-|\w*=|.*\s")  # an option, and what is told to one, as in `ssh -o "ProxyCommand ./x"`
# What no one would run, and what grows from call to call.
_GROWS = re.compile(
    r".+\.(log|jsonl|ndjson|db|sqlite3?|pid|lock)|(.*[/._-])?logs?([._-].*)?\.(txt|csv)|(.*[/._-])?state\.(txt|json)"
    r"|.*/\.?(state|lock)"
)
_EXECUTES = re.compile(r"-(exec|execdir|ok|okdir|c|e)|--(command|exec|run)")
# A file of which `find` takes only the time, or which it only compares.
_COMPARED = re.compile(r"-([acB]?newer|newer[aBcm][aBcm]|samefile)")
_READ_BY = {
    "git": re.compile(r"-F|--file"),
    "gh": re.compile(r"-F|--(body|notes)-file"),
    "find": _COMPARED,
}
_VALUED_BEFORE = frozenset("-cmd -init -separator -newline -nullvalue -vfs -TT -b -P -t".split())
_EDITORS = frozenset("code cursor subl".split())
_OPENERS = frozenset(("open", "xdg-open"))
_DOCUMENT = re.compile(r".+\.(md|txt|html?|pdf|png|jpe?g|gif|svg|csv|log|json)")
_ASSISTANTS = frozenset(("claude", "codex", "gemini"))
_COMPRESSORS = frozenset(("gzip", "bzip2", "xz", "zstd"))
_UNPACKS = re.compile(r"-\w*d|--(de|un)compress")
_KEEPS = re.compile(r"-\w*[ckt]|--(stdout|keep|test)")
_ARCHIVES = re.compile(r"-?[a-zA-Z]*[cru][a-zA-Z]*f")
# Of `perl` and `ruby`: `-pi.bak`.
_EDITS = re.compile(r"-[0-9aflnpsw]*i.*")
_RUN_FROM = frozenset(("hooks", "bin"))  # `.git/hooks`
_HAS_ENDING = re.compile(r".+\.\w+")
# In code: another program, or other code, is run.
_RUNS_MORE = re.compile(
    r"\b(exec|execfile|exec[lv]p?e?|exec(File)?(Sync)?|execa\w*|os\.execute|shell_exec|passthru|proc_open|eval|system2?"
    r"|popen|Popen|Deno\.(Command|run)|do shell script|"
    r"\w*spawn\w*|subprocess|create_subprocess_\w+|child_process|importlib|__import__|runpy|getline)\b"
    r"|\b(require|require_once|require_relative|include|include_once|import|from|do|load|dofile|loadfile|source)\b"
    r"""\s*\(?\s*['"](?![^'"\n]*\.json['"])([./]|[^'"\n]*\.(py|sh|bash|zsh|[mc]?[jt]s|rb|pl|pm|php|lua|ps1)['"])|`"""
)


def uses(words: Sequence[str], is_computed: Callable[[str], bool]) -> Iterator[tuple[Use, str]]:
    """Yield what becomes of each word of a program and its arguments, as far as it may be a file that is run.

    ``words``: with their quoted characters hidden. ``is_computed``: whether only a shell knows what a word is.
    """
    wrappers, before, locks, words = _unwrapped(words)
    yield from ((Use.TOLD if SCRIPT_ENDING.fullmatch(word) else Use.WRITTEN, word) for word in locks)
    yield from ((Use.MAY_RUN if _NO_PROGRAM.fullmatch(word) or "/" not in word else Use.RUN, word) for word in before)
    name = program_name(words[0]) if words else ""
    is_harmless = is_data(name) or name in _LINTERS
    if wrappers.intersection(("xargs", "parallel")) and not is_harmless:
        yield Use.ANYTHING, ""
    if not words:
        return
    program, *args = words
    if locks and program in ("-c", "--command"):
        yield from ((Use.TEXT, word) for word in args[:1])
        if any(map(is_computed, args)):
            yield Use.ANYTHING, ""
        return
    # `@biomejs/biome` is a package.
    is_file = ("/" in program and program[0] != "@") or (wrappers and SCRIPT_ENDING.fullmatch(program))
    if is_file or not is_harmless:
        yield (Use.RUN if is_file else Use.MAY_RUN), program
        if is_computed(program):
            yield Use.ANYTHING, ""
    yield from _followed(name, args, is_computed, is_wrapped=bool(wrappers))


def grows(word: str) -> bool:
    """Whether a file of this name is one that no one would run, and that grows from call to call."""
    return _GROWS.fullmatch(word) is not None


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
    inner = _unwrapped(words)[-1]
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


def _followed(
    name: str, args: Sequence[str], is_computed: Callable[[str], bool], *, is_wrapped: bool
) -> Iterator[tuple[Use, str]]:
    """What follows the program ``name``."""
    verb = _verb(args)
    if name in _LINTERS or verb in _LINTING_VERBS.get(name, ()) or (name == "git" and verb in _GIT_LOOKS | _GIT_WRITES):
        is_in_place = verb in _GIT_WRITES if name == "git" else not _IN_PLACE.isdisjoint((name, *args))
        yield from _linting(name, args, is_in_place=is_in_place)
    elif name in ("source", "."):
        yield from _sourcing(args, is_computed)
    elif name == "eval":
        yield Use.TEXT, " ".join(args)
        if any(map(is_computed, args)):
            yield Use.ANYTHING, ""
    elif name in SHELLS or _INTERPRETERS.fullmatch(name):
        yield from _interpreted(name, args, is_computed)
    elif name == "script":
        yield from _recording(args, is_computed)
    elif is_data(name) or name == "rsync":
        yield from _handling(name, args)
    else:
        found = _by_name(name, args)
        yield from (pair for pair in found if pair[0] is not Use.MAY_RUN)
        yield from _unknown([word for use, word in found if use is Use.MAY_RUN], is_computed, is_wrapped=is_wrapped)


def _handling(name: str, args: Sequence[str]) -> Iterator[tuple[Use, str]]:
    """What follows a program that starts no other one."""
    if name in _WRITES:
        yield from ((Use.WRITTEN, word) for word in args)
    elif name == "dd":
        yield from ((Use.WRITTEN if word[:3] == "of=" else Use.TOLD, word.partition("=")[2]) for word in args)
    elif name in _TELLS:
        yield from _telling(name, args)
    elif name not in _TESTS:
        yield from _copying(name, args)


def _copying(name: str, args: Sequence[str]) -> Iterator[tuple[Use, str]]:
    *sources, target = args or [""]
    is_for_running = SCRIPT_ENDING.fullmatch(target) or not _RUN_FROM.isdisjoint(target.split("/"))
    previous = ""
    for word in sources:
        is_of_option = word[:1] == "-" or (name == "rsync" and previous in ("-e", "--rsh"))
        is_document = grows(word) or (_HAS_ENDING.fullmatch(word) and not SCRIPT_ENDING.fullmatch(word))
        if is_document and not is_of_option and not is_for_running:
            yield Use.TOLD, word
            yield Use.WRITTEN, os.path.join(target, os.path.basename(word))  # if the target is a folder
        else:
            yield Use.MAY_RUN, word
        previous = word
    yield Use.WRITTEN, target


def _recording(args: Sequence[str], is_computed: Callable[[str], bool]) -> Iterator[tuple[Use, str]]:
    """What follows ``script``, which writes what a program says: the program comes by an option, or last."""
    place = 0
    while place < len(args):
        word = args[place]
        option, _, value = word.partition("=")
        if option == "--command" and value:
            yield from _interpreted("sh", ["-c", value], is_computed)
        elif re.fullmatch(r"-\w*c|--command", word):
            yield from _interpreted("sh", ["-c", *args[place + 1 : place + 2]], is_computed)
            place += 1
        elif word[:1] != "-":
            yield Use.WRITTEN, word
            rest = args[place + 1 :]
            if rest and rest[0][:1] != "-":
                yield from uses(rest, is_computed)
                return
        else:
            yield Use.MAY_RUN, word
        place += 1


def _by_name(name: str, args: Sequence[str]) -> list[tuple[Use, str]]:
    """What is known of the words that follow a program which may run others; ``MAY_RUN``: nothing."""
    found = []
    previous, written = "", _written_first(name, args)
    for place, word in enumerate(args):
        is_operand = word[:1] != "-" and previous[:1] != "-"
        is_packed = name in _COMPRESSORS and word[:1] != "-" and not any(map(_UNPACKS.match, args))
        is_told = (
            (name in _READ_BY and _READ_BY[name].fullmatch(previous))
            or (is_packed and any(map(_KEEPS.match, args)))
            or (is_operand and (name in _EDITORS or (name in _OPENERS and _DOCUMENT.fullmatch(word))))
            or (name in _ASSISTANTS and " " in word and not any(map(SCRIPT_ENDING.fullmatch, word.split())))
        )
        use = Use.TOLD if is_told else Use.WRITTEN if is_packed or place == written else Use.MAY_RUN
        found.append((use, word))
        previous = word
    return found


def _written_first(name: str, args: Sequence[str]) -> int | None:
    """Return the place of the database or the archive that a program writes."""
    previous = ""
    for place, word in enumerate(args):
        if name == "tar":
            if place and _ARCHIVES.fullmatch(previous) and (place == 1 or previous[:1] == "-"):
                return place
        elif name in ("sqlite3", "zip") and word[:1] != "-" and previous not in _VALUED_BEFORE:
            return place
        previous = word
    return None


def _unwrapped(words: Sequence[str]) -> tuple[set[str], list[str], list[str], Sequence[str]]:
    """Return the names of the programs that only run another one, what stands there of them and
    their options, the files by which they lock, and the words of that other one.
    """
    locks: list[str] = []
    names: set[str] = set()
    options: list[str] = []
    place = 0
    while place < len(words):
        name = called(words[place])
        following = words[place + 1] if place + 1 < len(words) else ""
        is_running = following in _RUNNING.get(name, ())
        if name in _PACKAGE_MANAGERS and called(following) in _LINTERS:
            names.add(name)
            options.append(words[place])
            place += 1
            break
        if name not in _WRAPPERS and not is_running:
            break
        names.add(name)
        options.append(words[place])
        place += 2 if is_running else 1
        while place < len(words) and _NO_PROGRAM.fullmatch(words[place]):
            options.append(words[place])
            place += 1
        if name == "flock":
            locks += words[place : place + 1]
            place += 1
    return names, options, locks, words[place:]


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


def _linting(name: str, args: Sequence[str], *, is_in_place: bool) -> Iterator[tuple[Use, str]]:
    previous = ""
    for word in args:
        is_operand = word[:1] != "-" and (previous[:1] != "-" or "=" in previous or _FLAGS.fullmatch(previous))
        is_read = (name in _CHECKS_TYPES and _PROJECT_OPTION.fullmatch(previous) and word.endswith(".json")) or (
            name == "git" and _READ_BY[name].fullmatch(previous)
        )
        if is_read:
            yield Use.TOLD, word
        elif is_in_place or not is_operand:
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
            yield from _arguments(args[place + 1 :])
            return
        if code.fullmatch(word) and place + 1 < len(args):
            language = Use.TEXT if is_shell else Use.PYTHON if family in ("python", "pypy") else Use.CODE
            yield language, args[place + 1]
            if is_computed(args[place + 1]):
                yield Use.ANYTHING, ""
            if family in ("perl", "ruby") and any(map(_EDITS.fullmatch, (*args[:place], *args[place + 2 :]))):
                yield from ((Use.WRITTEN, each) for each in args[place + 2 :])
            else:
                yield from _arguments(args[place + 2 :])
            return
        if not is_shell and word.startswith(("--eval=", "--print=")):
            yield Use.CODE, word.partition("=")[2]
            yield from _arguments(args[place + 1 :])
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
        yield from _arguments(args[place + 1 :])
        return
    if not has_verbs and _ABOUT_ITSELF.isdisjoint(args):
        yield Use.ANYTHING, ""


def _module(words: Sequence[str]) -> Iterator[tuple[Use, str]]:
    """What follows ``python -m``."""
    if words[0] in _LINTERS:
        yield from _linting(words[0], words[1:], is_in_place=not _IN_PLACE.isdisjoint(words))
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


def _arguments(args: Sequence[str]) -> Iterator[tuple[Use, str]]:
    previous = ""
    for word in args:
        option, _, value = word.partition("=")
        if value and _WRITING_OPTION.fullmatch(option):
            yield Use.WRITTEN, value
        elif _WRITING_OPTION.fullmatch(previous) and not _IS_MORE.match(word):
            yield Use.WRITTEN, word
        else:
            yield (Use.TOLD if grows(value or word) and not _EXECUTES.fullmatch(previous) else Use.MAY_RUN), word
        previous = word
