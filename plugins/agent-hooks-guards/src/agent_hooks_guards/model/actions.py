"""The actions of a command: programs, effects and doubts, as rules see them."""

from __future__ import annotations

from agent_hooks.shell.syntax import Record

from .declarations import declarations
from .names import base_name
from .options import parse
from .values import NO_LABELS, UNKNOWN, Data

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from .declarations import Entry
    from .options import Options


class TooMuchError(Exception):
    """The command is deeper, longer or does more than is analysed."""


class Command(Record):
    """A program with its arguments, unwrapped from the programs that run it.

    ``program``: its name without folder (``rm``), with ``UNKNOWN`` for unknown parts. ``argv``: all arguments, the
    program's name first, expanded except for globs. ``labels``: the origins of arguments by position in ``argv``.
    ``assignments``: variables set for it. ``stdin``: its input, None for the terminal. ``cwd``: absolute, or with
    ``UNKNOWN``. ``via``: its wrappers, outermost first (``sudo``, ``bash -c``). ``host``: "" for this machine,
    ``remote`` behind ssh and the like, ``container`` in one. ``root``: whether as another user. ``fragment``: its text.
    ``background``: with ``&``. ``endless``: in an infinite loop. ``shown``: whether its output is shown.
    """

    __slots__ = (
        "_options argv assignments background cwd endless fragment host labels name program root shown stdin via"
    ).split()

    def __init__(
        self,
        program: str,
        argv: list[str],
        labels: dict[int, frozenset[str]] | None = None,
        assignments: dict[str, Data] | None = None,
        stdin: Data | None = None,
        cwd: str = UNKNOWN,
        via: tuple[str, ...] = (),
        host: str = "",
        root: bool = False,
        fragment: str = "",
        background: bool = False,
        endless: bool = False,
    ) -> None:
        self.program = program
        self.argv = argv
        self.labels = {} if labels is None else labels
        self.assignments = {} if assignments is None else assignments
        self.stdin = stdin
        self.cwd = cwd
        self.via = via
        self.host = host
        self.root = root
        self.fragment = fragment
        self.background = background
        self.endless = endless
        self.shown = False
        # One name for one tool: python for python3.12.
        self.name = base_name(program)
        self._options: Options | None = None

    @property
    def options(self) -> Options:
        """The arguments, parsed by the grammar of the program."""
        if self._options is None:
            self._options = parse(self.program, self.argv)
        return self._options

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The declarations of its program and its subcommands, outermost first."""
        table = declarations()
        is_declared = table.has(self.name) or self.name in table.aliases
        return table.holding(self.name, self.options.subcommand) if is_declared else ()

    def labels_of(self, first: int = 1) -> frozenset[str]:
        """Return the labels of the arguments from position ``first``."""
        if not self.labels:
            return NO_LABELS
        return NO_LABELS.union(*(labels for at, labels in self.labels.items() if at >= first))


class Effect(Record):
    """An effect of a command on a file, a host or another process.

    ``kind``: ``read``, ``write`` (its content is replaced or added to), ``delete``, ``change`` (owner, mode,
    attributes), ``run`` (code is run: of a text, a file, an input), ``send`` (data leaves to a host), ``receive`` (data
    comes from a host), ``fork`` (a fork bomb). ``path``: the file, absolute and without ``..``, globs and ``UNKNOWN``
    left in it; for ``send`` and ``receive`` the URL or ``host:port``; for ``run`` the script, "" for a text.
    ``recursive``: the folder with all its content. ``append``: a write that keeps the old content. ``labels``: the
    origins of the content that is written, run or sent. ``method``: of HTTP, upper case; of a deletion ``CONTENT``
    where the file stays. ``files``: absolute paths of files whose content, with its labels, is written or sent.
    ``command``: its cause.
    """

    __slots__ = ("append", "command", "files", "kind", "labels", "method", "path", "recursive")

    def __init__(
        self,
        kind: str,
        path: str,
        command: Command,
        recursive: bool = False,
        append: bool = False,
        labels: frozenset[str] = NO_LABELS,
        method: str = "",
        files: tuple[str, ...] = (),
    ) -> None:
        self.kind = kind
        self.path = path
        self.command = command
        self.recursive = recursive
        self.append = append
        self.labels = labels
        self.method = method
        self.files = files


class Doubt(Record):
    """Something that could not be analysed. ``kind`` is one of ``unreadable`` (the shell's grammar),
    ``unknown-program`` (the name of a program), ``unknown-code`` (the code for a shell or interpreter), ``too-much``
    (deeper, longer or more than is analysed). ``fragment``: the part of the command. ``why``: the reason, as the end of
    a sentence; "" if the kind is enough.
    """

    __slots__ = ("fragment", "kind", "labels", "why")

    def __init__(self, kind: str, fragment: str, labels: frozenset[str] = NO_LABELS, why: str = "") -> None:
        self.kind = kind
        self.fragment = fragment
        self.labels = labels
        self.why = why


class Analysis(Record):
    """All actions of a command, in the order of the walk."""

    __slots__ = ("commands", "doubts", "effects")

    def __init__(
        self, commands: Iterable[Command] = (), effects: Iterable[Effect] = (), doubts: Iterable[Doubt] = ()
    ) -> None:
        self.commands = [*commands]
        self.effects = [*effects]
        self.doubts = [*doubts]


class Inner(Record):
    """A command or code inside a command.

    ``argv``: the arguments of an inner command. ``labels``: those of ``argv``, by position. ``language``: that of inner
    code, ``sh``, ``python``, ``node``, ``perl``, ``ruby``, ``php``, ``awk``, ``sed``, ``make``, ``vim``,
    ``powershell``, ``cmd``, …, with ``code``, its text, or ``path``, its file; with neither it is stdin. ``arguments``:
    ``$0``, ``$1`` … of the code. Other attributes of ``Command`` replace the outer ones unless None; ``cwd`` may be
    relative. ``label``: the item of ``via``. ``mounts``: folders of this machine, maybe relative, by their folders in a
    container. ``hands_down``: whether variables that are set for the outer command are set inside, too.
    """

    __slots__ = tuple(
        (
            "arguments argv assignments clears_environment code cwd hands_down host label labels"
            " language mounts path root stdin"
        ).split()
    )

    def __init__(
        self,
        argv: list[str] | None = None,
        labels: dict[int, frozenset[str]] | None = None,
        language: str = "",
        code: Data | None = None,
        path: str | None = None,
        arguments: list[str] | None = None,
        assignments: dict[str, Data] | None = None,
        label: str = "",
    ) -> None:
        self.argv: list[str] | None = argv
        self.labels: dict[int, frozenset[str]] = {} if labels is None else labels
        self.language = language
        self.code: Data | None = code
        self.path: str | None = path
        self.arguments: list[str] = [] if arguments is None else arguments
        self.assignments: dict[str, Data] = {} if assignments is None else assignments
        self.clears_environment = False
        self.cwd: str | None = None
        self.host: str | None = None
        self.root: bool | None = None
        self.stdin: Data | None = None
        self.label = label
        self.mounts: dict[str, str] = {}
        self.hands_down = True
