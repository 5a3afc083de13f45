"""What programs print that repeat their words, or tell paths, names and dates."""

from __future__ import annotations

from agent_hooks_guards.model.values import ANYTHING, ENDLESS, NO_LABELS, NOTHING, SECRET, UNKNOWN, Data

from .finding import reaches
from .formats import bounded, echo, printf, unescaped
from .noting import inside
from .printing import FOLDERS_OF_PROGRAMS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .finding import Reach
    from .printing import Printing

_LINES = 200  # of what never ends


def _echo(printing: Printing) -> Data:
    return Data(echo(printing.command.argv[1:]), printing.command.labels_of())


def _printf(printing: Printing) -> Data:
    words = printing.command.argv[1:]
    if words[:1] == ["-v"]:
        return NOTHING
    return Data(printf(words), printing.command.labels_of())


def _seq(printing: Printing) -> Data:
    words = printing.operands()
    labels = printing.command.labels_of()
    try:
        values = [int(word) for word in words]
    except ValueError:
        return Data(UNKNOWN, labels)
    form = printing.options.value("-f|--format")
    mark = None if form is None else next((each for each in ("%g", "%.0f", "%d") if each in form), None)
    if not 1 <= len(values) <= 3 or (form is not None and (mark is None or form.count("%") > 1)):
        return Data(UNKNOWN, labels)
    first, step, last = (
        (1, 1, values[0]) if len(values) == 1 else (values[0], values[1] if len(values) > 2 else 1, values[-1])
    )
    if not step:
        return Data(UNKNOWN, labels)
    found = range(first, last + (1 if step > 0 else -1), step)
    if len(found) > 10_000:
        return Data(UNKNOWN, labels)
    separator = printing.options.value("-s|--separator")
    texts = [str(number) for number in found]
    if printing.options.has("-w|--equal-width"):
        width = max(len(str(first)), len(str(last)))
        texts = [text.zfill(width) for text in texts]
    if form is not None and mark is not None:
        texts = [form.replace(mark, text) for text in texts]
    joined = ("\n" if separator is None else unescaped(separator)).join(texts)
    return Data(f"{joined}\n" if texts else "", labels)


def _yes(printing: Printing) -> Data:
    line = " ".join(printing.command.argv[1:]) or "y"
    return Data(
        bounded(f"{line}\n" * min(_LINES, 1 + 10_000 // (len(line) + 1)) + UNKNOWN),
        printing.command.labels_of() | {ENDLESS},
    )


def _xargs(printing: Printing) -> Data:
    """Without a program, the words of its input in one line."""
    data = printing.stdin()
    if printing.options.operands or not data.is_known:
        return Data(UNKNOWN, data.labels)
    if [name for name, _ in printing.options.given] in (["-0"], ["--null"]):
        return Data(data.text.rstrip("\0").replace("\0", " ") + "\n", data.labels)
    if printing.options.given or any(mark in data.text for mark in "'\"\\"):
        return Data(UNKNOWN, data.labels)
    return Data(" ".join(data.text.split()) + "\n", data.labels)


def _gettext(printing: Printing) -> Data:
    words = printing.operands()
    return Data(words[-1] if words else "", printing.command.labels_of())


def _pwd(printing: Printing) -> Data:
    return Data(f"{printing.command.cwd}\n")


def _basename(printing: Printing) -> Data:
    words = printing.operands()
    suffix = printing.options.value("-s|--suffix")
    if suffix is None and not printing.options.has("-a|--multiple"):
        suffix = words[1] if len(words) > 1 else ""
        words = words[:1]
    end = "\0" if printing.options.has("-z|--zero") else "\n"
    made = []
    for word in words:
        name = word.rstrip("/").rpartition("/")[2] or word[:1]
        if suffix and name != suffix and UNKNOWN not in name[-len(suffix) :]:
            name = name.removesuffix(suffix)
        made.append(name + end)
    return Data("".join(made), printing.command.labels_of())


def _dirname(printing: Printing) -> Data:
    end = "\0" if printing.options.has("-z|--zero") else "\n"
    made = []
    for word in printing.operands():
        stripped = word.rstrip("/")
        folder, slash, name = stripped.rpartition("/")
        if UNKNOWN in name:
            made.append(f"{folder}{slash}{UNKNOWN}" if slash else UNKNOWN)
        elif not stripped:
            made.append(word[:1] or ".")
        else:
            made.append(folder.rstrip("/") or slash or ".")
        made.append(end)
    return Data("".join(made), printing.command.labels_of())


def _realpath(printing: Printing) -> Data:
    words = printing.operands()
    if printing.command.program.endswith("readlink") and not printing.options.has(
        "-f|-e|-m|--canonicalize|--canonicalize-existing|--canonicalize-missing"
    ):
        return Data(UNKNOWN, printing.command.labels_of())
    if printing.options.has("--relative-to|--relative-base"):
        return Data(UNKNOWN, printing.command.labels_of())
    end = "" if printing.options.has("-n|--no-newline") else "\n"
    return Data("\n".join(printing.path(word) for word in words) + end if words else "", printing.command.labels_of())


def _which(printing: Printing) -> Data:
    """The path of a program: its name says as much."""
    words = [word for word in printing.command.argv[1:] if not word.startswith("-")]
    return Data("".join(f"{word}\n" for word in words), printing.command.labels_of())


def _builtin_lookup(printing: Printing) -> Data:
    """``command -v``, ``type -p``, ``hash -t``."""
    options = [word for word in printing.command.argv[1:] if word.startswith("-")]
    if any(letter in option for option in options for letter in "vpPt"):
        return _which(printing)
    return Data(UNKNOWN, printing.command.labels_of())


def _mktemp(printing: Printing) -> Data:
    options = printing.options
    words = printing.operands()
    folder = options.value("-p|--tmpdir")
    template = words[0] if words else "tmp.XXXXXXXXXX"
    if options.has("-t") and not words:
        template = f"{options.value('-t') or 'tmp'}.XXXXXXXX"
    stem = template.rstrip("X") if template.endswith("X") else template
    if "XXX" in stem:
        stem = stem[: stem.index("XXX")]
    if folder is None and (not words or options.has("-t|--tmpdir")):
        folder = "/tmp"  # noqa: S108 - where mktemp makes it unless the environment says otherwise
    return Data(f"{inside(folder, stem) if folder else stem}{UNKNOWN}\n")


def _date(printing: Printing) -> Data:
    form = next((word for word in printing.operands() if word.startswith("+")), None)
    if form is None:
        return ANYTHING
    made = []
    at = 1
    while at < len(form):
        if form[at] != "%":
            made.append(form[at])
            at += 1
            continue
        at += 1
        while at < len(form) and (form[at] in "-_0^#+:EO" or form[at].isdecimal()):
            at += 1
        made.append({"%": "%", "n": "\n", "t": "\t"}.get(form[at : at + 1], UNKNOWN))
        at += 1
    return Data("".join(made) + "\n", printing.command.labels_of())


def _find(printing: Printing) -> Data:
    end = "\n"
    shown: Reach | None = None
    for name, value, reach in reaches(printing.options):
        if name in ("-ls", "-printf") and "%p" not in (value or ""):
            return Data(UNKNOWN, printing.command.labels_of())
        if name == "-print0":
            end = "\0"
        if name.startswith("-print") or (not name and shown is None):
            shown = reach
    starts = printing.operands() or ["."]
    paths = [path for start in starts for path in (shown.below(start) if shown else ())]
    return Data("".join(path + end for path in paths), printing.command.labels_of())


def _fd(printing: Printing) -> Data:
    end = "\0" if printing.options.has("-0|--print0") else "\n"
    words = printing.operands(1)
    return Data("".join(inside(word) + end for word in words or ["."]), printing.command.labels_of())


def _ls(printing: Printing) -> Data:
    if printing.options.has("-l|-s|-i|--format|-o|-g|-n|-F|-R|-m|-x"):
        return ANYTHING
    words = printing.operands()
    whole = printing.options.has("-d|--directory")
    made = []
    for word in words or ["."]:
        is_program = word.startswith(FOLDERS_OF_PROGRAMS) and not word.endswith("/")
        if (whole or is_program or any(mark in word for mark in "*?[")) and word != ".":
            made.append(word)
        else:
            made.append(f"./{UNKNOWN}")
    return Data("".join(f"{line}\n" for line in made), printing.command.labels_of())


def _listing_git(printing: Printing) -> Data | None:
    subcommand = printing.options.subcommand[:1]
    options = printing.options
    if subcommand == ("ls-files",):
        end = "\0" if options.has("-z") else "\n"
        return Data("".join(inside(word) + end for word in printing.operands() or ["."]))
    if subcommand in (("diff",), ("diff-tree",), ("show",)) and options.has("--name-only"):
        return Data(f"./{UNKNOWN}\n")
    return None


def _git(printing: Printing) -> Data:
    listed = _listing_git(printing)
    if listed is not None:
        return listed
    subcommand = printing.options.subcommand[:1]
    words = printing.operands()
    if subcommand == ("rev-parse",) and "--show-toplevel" in printing.command.argv:
        # The folder of the command, or one above it.
        return Data(f"{printing.command.cwd}\n")
    if [*printing.options.subcommand, *words][:2] == ["credential", "fill"]:
        return Data(UNKNOWN, frozenset((SECRET,)))
    if subcommand in (("show",), ("cat-file",)) and printing.is_secret is not None:
        files = [word.partition(":")[2] for word in words if ":" in word]
        if any(printing.is_secret(printing.path(file)) for file in files if file):
            return Data(UNKNOWN, frozenset((SECRET,)))
    if subcommand in (("diff",), ("stripspace",), ("interpret-trailers",), ("apply",)):
        return Data(UNKNOWN, printing.command.stdin.labels if printing.command.stdin else NO_LABELS)
    return ANYTHING


WORDS: dict[str, Callable[[Printing], Data]] = {
    "echo": _echo,
    "printf": _printf,
    "seq": _seq,
    "yes": _yes,
    "xargs": _xargs,
    "gettext": _gettext,
    "pwd": _pwd,
    "basename": _basename,
    "dirname": _dirname,
    "realpath": _realpath,
    "readlink": _realpath,
    "grealpath": _realpath,
    "which": _which,
    "whence": _which,
    "command": _builtin_lookup,
    "type": _builtin_lookup,
    "hash": _builtin_lookup,
    "mktemp": _mktemp,
    "tempfile": _mktemp,
    "date": _date,
    "find": _find,
    "fd": _fd,
    "fdfind": _fd,
    "ls": _ls,
    "git": _git,
}
