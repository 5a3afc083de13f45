"""What a command would do: the parsed form that rules are about."""

from __future__ import annotations

from .declarations import declarations
from .names import base_name
from .options import parse
from .record import Record
from .values import NO_LABELS, UNKNOWN, Data

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .declarations import Entry
    from .options import Options


class TooMuchError(Exception):
    """The command is deeper, longer or does more than is looked at."""


class Command(Record):
    """A program that would be run, unwrapped from what runs it.

    ``program``: its name without folder (``rm``; ``UNKNOWN`` alone or in it where it is not known). ``argv``: all
    words, the program's first, expanded; a glob stands as it is. ``labels``: by position in ``argv``, where words come
    from; positions without any are left out. ``assignments``: variables set for it. ``stdin``: what it reads, None
    where it would read the terminal. ``cwd``: absolute, or with ``UNKNOWN``. ``via``: what runs it, outermost first
    (``sudo``, ``bash -c``). ``host``: "" for this machine, ``remote`` behind ssh and the like, ``container`` in one.
    ``root``: whether as another user. ``fragment``: the text it was read from. ``background``: with ``&``; ``endless``:
    in a loop that nothing ends.
    """

    __slots__ = (
        "_options",
        "argv",
        "assignments",
        "background",
        "cwd",
        "endless",
        "fragment",
        "host",
        "labels",
        "name",
        "program",
        "root",
        "stdin",
        "via",
    )

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
        self.labels: dict[int, frozenset[str]] = {} if labels is None else labels
        self.assignments: dict[str, Data] = {} if assignments is None else assignments
        self.stdin: Data | None = stdin
        self.cwd = cwd
        self.via = via
        self.host = host
        self.root = root
        self.fragment = fragment
        self.background = background
        self.endless = endless
        # One name for one tool: python for python3.12.
        self.name = base_name(program)
        self._options: Options | None = None

    @property
    def options(self) -> Options:
        """Its words, sorted into options, values, operands and subcommand by what is known of the program."""
        if self._options is None:
            self._options = parse(self.program, self.argv)
        return self._options

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The declarations of its program and its subcommands, outermost first."""
        table = declarations()
        is_declared = self.name in table.entries or self.name in table.aliases
        return table.holding(self.name, self.options.subcommand) if is_declared else ()

    def labels_of(self, first: int = 1) -> frozenset[str]:
        """Where the words from position ``first`` come from."""
        if not self.labels:
            return NO_LABELS
        return NO_LABELS.union(*(labels for at, labels in self.labels.items() if at >= first))


class Effect(Record):
    """What a command does to something outside of itself.

    ``kind``: ``read``, ``write`` (its content is replaced or added to), ``delete``, ``change`` (owner, mode,
    attributes), ``run`` (code is run: of a text, a file, an input), ``send`` (data leaves to a host), ``receive`` (data
    comes from a host). ``path``: the file, absolute and without ``..``, globs and ``UNKNOWN`` left in it; for ``send``
    and ``receive`` the URL or ``host:port``; for ``run`` the script, "" for a text. ``recursive``: the folder with all
    that is in it. ``append``: a write that keeps what is there. ``labels``: where what is written, run or sent comes
    from. ``method``: of HTTP, upper case. ``files``: files whose content is written or sent, absolute; what they hold
    goes along, and so do its labels. ``command``: who does it.
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
    ``unknown-program`` (the name of what would run), ``unknown-code`` (the text that a shell or interpreter would run),
    ``too-much`` (deeper, longer or more than is looked at). ``fragment``: which part of the command. ``why``: what of
    it, as the end of a sentence; "" where the kind says it all.
    """

    __slots__ = ("fragment", "kind", "labels", "why")

    def __init__(self, kind: str, fragment: str, labels: frozenset[str] = NO_LABELS, why: str = "") -> None:
        self.kind = kind
        self.fragment = fragment
        self.labels = labels
        self.why = why


class Analysis(Record):
    """All that a command would do, in the order in which it was met."""

    __slots__ = ("commands", "doubts", "effects")

    def __init__(
        self,
        commands: list[Command] | None = None,
        effects: list[Effect] | None = None,
        doubts: list[Doubt] | None = None,
    ) -> None:
        self.commands: list[Command] = [] if commands is None else commands
        self.effects: list[Effect] = [] if effects is None else effects
        self.doubts: list[Doubt] = [] if doubts is None else doubts


class Inner(Record):
    """What a command runs besides itself: a program by its words, or a code.

    ``words``: positions in the command's ``argv``; or ``argv``, texts, if they do not stand there. ``language``:
    ``sh``, ``python``, ``node``, ``perl``, ``ruby``, ``php``, ``awk``, ``sed``, ``make``, ``vim``, ``powershell``,
    ``cmd``, …, with ``code``, the text, or ``path``, a file that holds it, or neither: then it is the input.
    ``arguments``: ``$0``, ``$1`` … of a code. ``labels``: where ``argv``'s texts come from, by position. The rest is as
    in ``Command``: what changes for what is inside; None is as outside. ``cwd`` may be relative.
    ``mounts``: folders of a container that are folders of this machine; these may be relative. ``hands_down``: whether
    variables that are set for the command are set for what is inside, too.
    """

    __slots__ = (
        "arguments",
        "argv",
        "assignments",
        "clears_environment",
        "code",
        "cwd",
        "hands_down",
        "host",
        "label",
        "labels",
        "language",
        "mounts",
        "path",
        "root",
        "stdin",
        "words",
    )

    def __init__(
        self,
        words: list[int] | None = None,
        argv: list[str] | None = None,
        labels: dict[int, frozenset[str]] | None = None,
        language: str = "",
        code: Data | None = None,
        path: str | None = None,
        arguments: list[str] | None = None,
        assignments: dict[str, Data] | None = None,
        clears_environment: bool = False,
        cwd: str | None = None,
        host: str | None = None,
        root: bool | None = None,
        stdin: Data | None = None,
        label: str = "",
        mounts: dict[str, str] | None = None,
        hands_down: bool = True,
    ) -> None:
        self.words: list[int] | None = words
        self.argv: list[str] | None = argv
        self.labels: dict[int, frozenset[str]] = {} if labels is None else labels
        self.language = language
        self.code: Data | None = code
        self.path: str | None = path
        self.arguments: list[str] = [] if arguments is None else arguments
        self.assignments: dict[str, Data] = {} if assignments is None else assignments
        self.clears_environment = clears_environment
        self.cwd: str | None = cwd
        self.host: str | None = host
        self.root: bool | None = root
        self.stdin: Data | None = stdin
        self.label = label
        self.mounts: dict[str, str] = {} if mounts is None else mounts
        self.hands_down = hands_down
