"""The stdout of known programs, as far as it is known without running them, and where it comes from.

A declaration names the kind of the stdout in ``prints``; a program without one prints anything, which may come from its
stdin and from its secret operands.
"""

from __future__ import annotations

from agent_hooks.shell.patterns import Pattern
from agent_hooks_guards.model.declarations import declarations
from agent_hooks_guards.model.values import (
    ANYTHING,
    DECODED,
    ENDLESS,
    ENDLESS_FILES,
    ENVIRONMENT,
    INPUT,
    NETWORK,
    NO_LABELS,
    NOTHING,
    PERSONAL,
    PROCESSES,
    SECRET,
    UNKNOWN,
    Data,
)
from agent_hooks_guards.places.credentials import variable_labels

from .effects import OUTPUTS, STREAMS, Noting, inside
from .formats import bounded, decode_base, decode_hexadecimal, echo, printf, translate, unescaped
from .repeating import reaches

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from agent_hooks_guards.model.actions import Command

_FOLDERS_OF_PROGRAMS = ("/bin/", "/sbin/", "/usr/bin/", "/usr/sbin/", "/usr/local/bin/")
_COMPLETIONS = frozenset(("completion", "completions", "shell-completion", "autocomplete", "--completion"))
_SHELLS = frozenset(("bash", "zsh", "sh", "fish", "posix", "-", "powershell", "-s", "--shell", "--no-descriptions"))
# These read without end if their input has none; others stop.
_ENDLESS = frozenset("yes cat tee tr base64 base32 dd pv rev gzip".split())
# These print part of each line.
_LISTING = frozenset("ps pgrep cut tr tail sort uniq xargs cat tee paste rev column tac echo printf".split())
_AWK_OF_ALL = Pattern(r"\s*(?:NR\s*(?:>|>=|!=)\s*[12]\s*)?\{[^/~<>=]*\}\s*")
# Options of ls and fd that leave nothing out, and print names alone.
_LISTED = frozenset("-1 -A -a -c -d -f -F -H -p -r -S -t -u -U --all --almost-all --color --hidden --no-ignore".split())
_MOST_LINES = 1_000  # of a sequence
_GARBAGE = Pattern(r"[^\w+/-]")
_CANONICAL = "-f|-e|-m|--canonicalize|--canonicalize-existing|--canonicalize-missing"
# Variables that a program of awk or jq reads, and jq's whole environment.
_VARIABLES = Pattern(r"(?:ENVIRON\[\"|\$ENV\.|env\.)(\w+)")
_PARTS = "-c|--bytes|-o|--only-matching|-r|--replace"  # of lines
_ASSIGNMENTS = Pattern(r'@sh "\w+=')
_PROGRAM = "-e|-f|--expression|--file|--source|--from-file"
# Programs of sed, and of awk with -F, that leave the names of variables.
_NAMES = Pattern(r"s(.)=\.\*\$?\1\1g?|\s*\{\s*print\s*\(?\$1\)?\s*;?\s*\}\s*")
_WHOLE_ENVIRONMENT = Pattern(r"""(?<![.\w$"'-])env(?![\w:."'\[-])|\$ENV(?![.\[\w])""")


class Printing(Noting):
    """A command, with access to what its stdout is made of.

    ``files`` returns the known content of an absolute path, or None; ``is_secret`` tells whether one holds keys or
    credentials.
    """

    __slots__ = ("files", "is_secret")

    def __init__(
        self, command: Command, files: Callable[[str], Data | None] | None, is_secret: Callable[[str], bool] | None
    ) -> None:
        super().__init__(command, command.options, "")
        self.files = files
        self.is_secret = is_secret

    @property
    def inputs(self) -> list[str]:
        """The operands without the pattern or the script in front of them."""
        pattern = declarations().get(self.command.name).get("pattern")
        return self.operands() if pattern is None or self.options.has(pattern) else self.operands()[1:]

    def path(self, word: str) -> str:
        """Return the absolute path of a file; a ``~`` that is left in ``word`` was quoted."""
        return super().path(f"./{word}" if word.startswith("~") else word)

    def stdin(self) -> Data:
        """Return the standard input."""
        stdin = self.command.stdin
        return Data(UNKNOWN, frozenset((INPUT,))) if stdin is None else stdin

    def content_of(self, word: str) -> Data:
        """Return the content of a file."""
        if word in STREAMS:
            return self.stdin()
        path = self.path(word)
        known = self.files(path) if self.files is not None else None
        if known is not None:
            return known
        if path == "/dev/null":
            return NOTHING
        labels = frozenset((SECRET,)) if self.has_secrets([word]) else NO_LABELS
        # A copy of a program does the same as the program.
        if path.startswith(_FOLDERS_OF_PROGRAMS):
            labels |= {f"file:{path}"}
        if path in ENDLESS_FILES:
            labels |= {ENDLESS}
        if path.startswith("/proc/") and path.endswith("/environ"):
            labels |= {ENVIRONMENT}
        return Data(UNKNOWN, labels)

    def content(self, words: list[str]) -> Data:
        """Return the content of files, one behind the other."""
        found = [self.content_of(word) for word in words]
        return Data(bounded("".join(data.text for data in found)), NO_LABELS.union(*(data.labels for data in found)))

    def input(self) -> Data:
        """Return the content of the files that the operands name, or the standard input."""
        return self.content(self.inputs) if self.inputs else self.stdin()

    def text(self, text: str) -> Data:
        """Return a text with the labels of the arguments."""
        return Data(text, self.command.labels_of())

    def has_secrets(self, words: Iterable[str]) -> bool:
        """Whether one of the files holds keys or credentials."""
        return self.is_secret is not None and any(self.is_secret(self.path(word)) for word in words)


def _unlisted(printing: Printing) -> Data:
    """A program without a declared kind."""
    labels = printing.command.stdin.labels if printing.command.stdin is not None else NO_LABELS
    if printing.options.value("-d|--delimiter") == "=" and printing.options.value("-f|--fields") == "1":
        return Data(UNKNOWN, labels - {ENVIRONMENT})  # cut: the names
    if printing.has_secrets([word for word in printing.operands() if "/" in word or "." in word]):
        labels |= {SECRET}
    return Data(UNKNOWN, labels)


def _labelled(*labels: str) -> Callable[[Printing], Data]:
    """Return the function for unknown text with these labels and those of the input."""
    return lambda printing: Data(UNKNOWN, _unlisted(printing).labels.union(labels))


def _nothing(printing: Printing) -> Data:
    return ANYTHING if printing.options.has("-v|--verbose") else NOTHING


def _program(printing: Printing) -> Data:
    """``awk``, ``sed``, ``jq``: unless an option holds the program, it is the first operand."""
    words = printing.operands()
    text = " ".join(printing.command.argv)
    inputs = words if printing.options.has(_PROGRAM) else words[1:]
    found = [printing.content_of(word).labels for word in inputs] or [printing.stdin().labels]
    labels = printing.command.labels_of().union(*found, *map(variable_labels, _VARIABLES.findall(text)))
    if words and _NAMES.fullmatch(words[0]) and (printing.command.name == "sed" or printing.options.value("-F") == "="):
        return Data(UNKNOWN, labels - {ENVIRONMENT})
    if printing.command.name not in ("jq", "yq", "gojq"):
        return Data(UNKNOWN, labels)
    # `@sh "A=\(.a)"` prints assignments for `eval`.
    if _ASSIGNMENTS.search(text) and NETWORK not in labels:
        return Data("", labels)
    decodes = {DECODED} if "@base64d" in text else NO_LABELS
    whole = {ENVIRONMENT} if any(map(_WHOLE_ENVIRONMENT.search, words[:1])) else NO_LABELS
    return Data(UNKNOWN, labels | decodes | whole)


def _line(printing: Printing) -> Data:
    """A filter that leaves a single line as it is, or drops it."""
    if printing.command.stdin is None and not printing.inputs:
        return ANYTHING  # of files below the working directory
    data = printing.input()
    cuts = printing.options.has(_PARTS) and printing.command.name != "sort"
    is_whole = "\n" not in data.text[:-1] and not cuts
    if data.text == "*\n*\n":  # all names of a folder: these leave all, or all but few
        name, options = printing.command.name, printing.options
        few = options.has("-n|--head-count|-d|-u|-D|--repeated|--unique")
        tail, grep = options.value("-n|--lines") in ("+1", "+2", "+3"), options.has("-v|--invert-match")
        is_whole = {"sort": True, "uniq": not few, "shuf": not few, "tail": tail, "grep": grep}.get(name, False)
    return data if is_whole else Data(UNKNOWN, data.labels)


def _reversed(printing: Printing) -> Data:
    data = printing.input()
    lines = data.text.split("\n")
    return Data("\n".join(UNKNOWN if UNKNOWN in line else line[::-1] for line in lines), data.labels)


def _translated(printing: Printing) -> Data:
    data, options = printing.stdin(), printing.options
    if options.has("-c|-C|--complement|-s|--squeeze-repeats|-t|--truncate-set1"):
        return Data(UNKNOWN, data.labels)
    return Data(translate(data.text, printing.operands(), deletes=options.has("-d|--delete")), data.labels)


def _decoded(printing: Printing) -> Data:
    """``base64 -d`` and its like; what they encode is unknown."""
    options, data = printing.options, printing.input()
    if not options.has("-d|-D|--decode"):
        return Data(UNKNOWN, data.labels)
    kind = "base32" if printing.command.name == "base32" or options.has("--base32") else "base64"
    is_read = data.is_known and not options.has("--base64url|--base16|--base32hex|--z85|--base2msbf|--base2lsbf")
    text = _GARBAGE.sub("", data.text) if options.has("-i|--ignore-garbage") else data.text
    made = decode_base(text, kind) if is_read else UNKNOWN
    return Data(made, data.labels | {DECODED})


def _undumped(printing: Printing) -> Data:
    options, data = printing.options, printing.input()
    if not options.has("-r|-revert|--revert"):
        return Data(UNKNOWN, data.labels)
    is_plain = options.has("-p|-ps|-plain|--plain|-postscript")
    made = decode_hexadecimal(data.text, is_plain=is_plain) if data.is_known else UNKNOWN
    return Data(made, data.labels | {DECODED})


def _formatted(printing: Printing) -> Data:
    words = printing.command.argv[1:]
    return NOTHING if words[:1] == ["-v"] else printing.text(printf(words))


def _sequence(printing: Printing) -> Data:
    words, options = printing.operands(), printing.options
    form = options.value("-f|--format") or "%g"
    values = [int(word) for word in words if word.lstrip("-").isdecimal() and len(word) < 10]
    if len(values) != len(words) or not 0 < len(values) < 4 or options.has("-w|--equal-width") or form.count("%") != 1:
        return printing.text(UNKNOWN)
    first, step, last = (1, 1, values[0]) if len(values) == 1 else (values[0], (values[1:-1] or [1])[0], values[-1])
    numbers = range(first, last + (1 if step > 0 else -1), step or 1)[:_MOST_LINES]
    separator = unescaped(options.value("-s|--separator") or "\\n")
    lines = [form.replace("%.0f", "%g").replace("%g", str(number)) for number in numbers]
    end = UNKNOWN if len(lines) == _MOST_LINES else "\n" if lines else ""
    return printing.text(separator.join(lines) + end)


def _named(printing: Printing) -> Data:
    """``which``, ``command -v``, ``type -p``: the name of a program stands for its path."""
    words = printing.command.argv[1:]
    is_asked = printing.command.name in ("which", "whence") or any(word[:1] == "-" for word in words)
    names = [f"{word}\n" for word in words if word[:1] != "-"]
    return printing.text("".join(names) if is_asked else UNKNOWN)


def _temporary(printing: Printing) -> Data:
    words, options = printing.operands(), printing.options
    template = words[0].partition("XXX")[0] if words else "tmp."
    folder = options.value("-p|--tmpdir") or ("/tmp" if not words or options.has("-t|--tmpdir") else "")  # noqa: S108
    return Data(f"{inside(folder, template) if folder else template}{UNKNOWN}\n")


def _found(printing: Printing) -> Data:
    end, shown = "\n", None
    for name, value, reach in reaches(printing.options):
        if name in ("-ls", "-printf") and "%p" not in (value or ""):
            return printing.text(UNKNOWN)
        end = "\0" if name == "-print0" else end
        if name.startswith("-print") or (not name and shown is None):
            shown = reach
    paths = [path for start in printing.operands() or ["."] for path in (shown.below(start) if shown else ())]
    return printing.text("".join(path + end for path in paths))


def _listed(printing: Printing) -> Data:
    """``ls`` and ``fd`` of the working directory, or of names with globs: what the shell makes of ``*``."""
    words = printing.operands() or ["."]
    is_here = [printing.path(word) for word in words] == [printing.command.cwd]
    has_globs = all("*" in word or "?" in word for word in words)
    if not (is_here or has_globs) or not printing.options.names <= _LISTED:
        return ANYTHING
    # On two lines: a filter may leave something out.
    return printing.text("\n".join(["*" if is_here else word for word in words] * 2) + "\n")


def _dd(printing: Printing) -> Data:
    options = printing.options
    if (options.value("of") or "-") not in OUTPUTS:
        return NOTHING
    source = options.value("if")
    data = printing.content_of(source) if source else printing.stdin()
    is_whole = not any(name in ("count", "skip", "conv", "seek") for name, _ in options.given)
    return data if is_whole else Data(UNKNOWN, data.labels)


def _environment(printing: Printing) -> Data:
    """``env`` without a program, ``printenv``, ``history``, ``set``."""
    words = printing.operands()
    if words and any("=" not in word for word in words):
        return Data(UNKNOWN, NO_LABELS.union(*map(variable_labels, words)))
    return Data(UNKNOWN, frozenset((ENVIRONMENT,)))


def _repeated(printing: Printing) -> Data:
    line = " ".join(printing.command.argv[1:]) or "y"
    return Data(f"{line}\n{line}\n{UNKNOWN}", printing.command.labels_of() | {ENDLESS})


def _path(printing: Printing) -> Data:
    """``pwd``, ``realpath``, ``readlink -f``, ``dirname``."""
    name, words, options = printing.command.name, printing.operands(), printing.options
    if name == "pwd":
        return Data(f"{printing.command.cwd}\n")
    if len(words) != 1 or (options.given and not (name == "readlink" and options.has(_CANONICAL))):
        return printing.text(UNKNOWN)
    if name == "dirname":
        return printing.text(
            UNKNOWN if UNKNOWN in words[0] else (words[0].rstrip("/").rpartition("/")[0] or ".") + "\n"
        )
    return printing.text(UNKNOWN if name == "readlink" and not options.given else f"{printing.path(words[0])}\n")


def _git(printing: Printing) -> Data:
    options, words = printing.options, printing.operands()
    tokens = [*options.subcommand, *words]
    called = "".join(tokens[:1])
    if called == "rev-parse" and "--show-toplevel" in printing.command.argv:
        return Data(f"{printing.command.cwd}\n")  # or a folder above it
    if called == "ls-files":
        return Data("".join(inside(word) + ("\0" if options.has("-z") else "\n") for word in words or ["."]))
    files = [word.partition(":")[2] for word in words] if called in ("show", "cat-file") else []
    if tokens[:2] == ["credential", "fill"] or printing.has_secrets(filter(None, files)):
        return Data(UNKNOWN, frozenset((SECRET,)))
    stdin = printing.command.stdin
    reads = called in ("diff", "stripspace", "interpret-trailers", "apply")
    return Data(UNKNOWN, stdin.labels) if reads and stdin is not None else ANYTHING


def _response(printing: Printing) -> Data:
    """``curl``, ``wget``: what comes, unless the options with these roles put it into files."""
    options, roles = printing.options, declarations().get(printing.command.name)["request"]
    words = [*printing.operands(), *(value for value, _ in options.values("--url"))]
    files = [word[len("file://") :].removeprefix("localhost") for word in words if word.startswith("file://")]
    if files and len(files) == len(words):
        return printing.content(files)
    targets = [value for value, _ in options.values(roles["output"])]
    is_named = roles["named"] == "always" or options.has(roles["named"])
    if OUTPUTS.isdisjoint(targets) and (is_named or len(targets) >= max(len(words), 1)):
        return ANYTHING if options.has("-w|--write-out|-v|--verbose|-i|--include") else NOTHING
    return Data(UNKNOWN, frozenset((NETWORK,)))


def _processes(printing: Printing) -> Data:
    """``ps`` and ``pgrep``, where they list all processes, or all of a user: ``ps -e``, ``ps ax``, ``pgrep .``."""
    argv, options = printing.command.argv, printing.options
    if printing.command.name == "ps":
        # Behind `o` stand the names of columns.
        groups = [word.lstrip("-").partition("o")[0] for word in argv[1:] if word[:2] != "--"]
        is_some = any(word.isdecimal() or word[:2] in ("-p", "-C", "-q", "-t", "-g", "-G") for word in argv[1:])
        is_all = any(not {"e", "A", "x"}.isdisjoint(letters) for letters in groups[:1]) or "-u" in argv
    else:
        is_some = options.has("-P|--parent|-t|--terminal|-g|--pgroup|-s|--session|-F|--pidfile")
        is_all = "".join(printing.operands()[:1]).strip("^$") in ("", ".", ".*", ".+")
    return Data(UNKNOWN, frozenset((PROCESSES,))) if is_all and not is_some else ANYTHING


_KINDS: dict[str, Callable[[Printing], Data]] = {
    "nothing": _nothing,
    "anything": lambda _: ANYTHING,
    "program": _program,
    "copy": Printing.input,
    "stdin": Printing.stdin,
    "line": _line,
    "network": _labelled(NETWORK),
    "decoded": _labelled(DECODED),
    "personal": lambda _: Data(UNKNOWN, frozenset((PERSONAL,))),
    "secret": lambda _: Data(UNKNOWN, frozenset((SECRET,))),
    "environment": _environment,
    # `set`, `export`, `declare`: all variables, or nothing where some are set.
    "variables": lambda printing: NOTHING if printing.operands() else _environment(printing),
    "processes": _processes,
    "echo": lambda printing: printing.text(echo(printing.command.argv[1:])),
    "printf": _formatted,
    "sequence": _sequence,
    "repeated": _repeated,
    "name": _named,
    "path": _path,
    "temporary": _temporary,
    "found": _found,
    "listed": _listed,
    "reversed": _reversed,
    "translated": _translated,
    "base": _decoded,
    "dump": _undumped,
    "response": _response,
    "dd": _dd,
    "git": _git,
}


def output(
    command: Command,
    files: Callable[[str], Data | None] | None = None,
    is_secret: Callable[[str], bool] | None = None,
) -> Data:
    """Return the stdout of ``command``. ``files``: the known content of an absolute path, or None. ``is_secret``:
    whether the file at an absolute path holds keys or credentials.
    """
    name = command.name
    printing = Printing(command, files, is_secret)
    kind = _kind(printing)
    if command.options.is_help and kind not in ("echo", "printf"):
        return ANYTHING
    data = _KINDS.get(kind, _unlisted)(printing)
    dropped = NO_LABELS
    if ENDLESS in data.labels and (name not in _ENDLESS or command.options.value("count")):
        dropped |= {ENDLESS}
    if PROCESSES in data.labels and name not in _LISTING and not _keeps_all_lines(command):
        dropped |= {PROCESSES}
    return Data(data.text, data.labels - dropped) if dropped else data


def _kind(printing: Printing) -> str:
    """Return the declared kind of the stdout; "" for none."""
    command = printing.command
    words = command.argv[1:]
    if words and words[0] in _COMPLETIONS and _SHELLS.issuperset(words[1:]):
        return "nothing"  # code of the program's own, for a shell
    table = declarations()
    entry = table.get(command.program if table.has(command.program) else command.name)
    kind: str | dict[str, list[str]] = entry.get("prints", "")
    if isinstance(kind, str):
        return kind
    texts = [" ".join(each) for each in ((*printing.options.subcommand, *printing.operands()), words)]
    for each, starts in kind.items():
        if any(printing.options.has(start) or any(_begins(text, start) for text in texts) for start in starts):
            return each
    return ""


def _begins(text: str, start: str) -> bool:
    """Whether arguments begin with ``start``; a command of SQLite may stand behind others."""
    return text.startswith(start) or (start[:1] == "." and f" {start}" in text)


def _keeps_all_lines(command: Command) -> bool:
    """Whether a filter keeps all lines of a list but its head."""
    name, words = command.name, command.argv[1:]
    if name == "grep":
        return command.options.has("-v|--invert-match")
    program = words[-1] if words else ""
    if name == "awk":
        return _AWK_OF_ALL.fullmatch(program) is not None
    return name == "sed" and "-n" not in words and (program[:1] == "s" or program == "1d")
