"""Notes what one command does to files and on the network, as effects."""

from __future__ import annotations

from agent_hooks_guards.model.actions import Effect
from agent_hooks_guards.model.values import NO_LABELS, UNKNOWN
from agent_hooks_guards.places.paths import absolute

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_hooks_guards.model.actions import Command
    from agent_hooks_guards.model.options import Options

# Names of files that stand for an input or an output, or for a terminal.
STREAMS = frozenset(("", "-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0", "/dev/tty"))

# Names of files that stand for what a program prints.
OUTPUTS = frozenset(("-", "/dev/stdout", "/dev/stderr", "/dev/fd/1", "/dev/fd/2", "/proc/self/fd/1", "/proc/self/fd/2"))

# These are folders wherever they exist, so that what is copied to them lands in them.
FOLDERS = frozenset(
    (
        ". .. ~ .ssh .gnupg .aws .kube .docker .config autostart LaunchAgents LaunchDaemons hooks cron.d"
        " cron.daily cron.hourly sudoers.d profile.d init.d bin tmp"
    ).split()
)


class Noting:
    """The effects of one command, in the order in which they are noted. ``home``: what ``~`` stands for. ``proxies``:
    the hosts that it is told to reach others through.
    """

    __slots__ = ("command", "cwd", "effects", "home", "options", "proxies")

    def __init__(self, command: Command, options: Options, home: str) -> None:
        self.command = command
        self.options = options
        self.home = home
        self.cwd = command.cwd
        self.effects: list[Effect] = []
        self.proxies: list[str] = []

    def operands(self, first: int = 0) -> list[str]:
        """The words that are no options, without the ``first`` ones."""
        argv = self.command.argv
        return [argv[at] for at in self.options.operands[first:]]

    def path(self, word: str) -> str:
        """The file that a word names."""
        return absolute(word, self.cwd, self.home)

    @property
    def input_labels(self) -> frozenset[str]:
        """Where the command's input comes from."""
        return self.command.stdin.labels if self.command.stdin else NO_LABELS

    def file(
        self,
        kind: str,
        word: str,
        *,
        recursive: bool = False,
        append: bool = False,
        labels: frozenset[str] = NO_LABELS,
        sources: tuple[str, ...] = (),
    ) -> None:
        """Note an effect on the file that a word names; ``sources`` are words that name what is written to it."""
        if word in STREAMS:
            return
        files = tuple([self.path(source) for source in sources if source not in STREAMS])
        self.effects.append(
            Effect(kind, self.path(word), self.command, recursive, append, labels, files=files),
        )

    def send(
        self, address: str, *, method: str = "", labels: frozenset[str] | None = None, sources: list[str] | None = None
    ) -> None:
        """Note that data leaves: what all words of the command hold unless ``labels`` says what, and the files
        ``sources``, which are read.
        """
        for source in sources or ():
            self.file("read", source)
        files = tuple([self.path(source) for source in sources or () if source not in STREAMS])
        if labels is None:
            labels = self.command.labels_of()
        self.effects.append(Effect("send", address, self.command, labels=labels, method=method, files=files))

    def receive(self, address: str, *, method: str = "") -> None:
        """Note that data comes in."""
        self.effects.append(Effect("receive", address, self.command, method=method))


def inside(folder: str, name: str = UNKNOWN) -> str:
    """A name in a folder; one that is not known unless it is given."""
    return f"{folder}{name}" if folder.endswith("/") else f"{folder}/{name}"


def last_name(path: str) -> str:
    """The last part of a path, or of a URL's path."""
    return path.rstrip("/").rpartition("/")[2]


def is_folder(word: str) -> bool:
    """Whether a path is surely a folder, as far as its name tells."""
    return word.endswith("/") or last_name(word) in FOLDERS


def is_remote(word: str) -> bool:
    """Whether ``scp`` and ``rsync`` take a word for a file on another machine: a colon stands before any slash."""
    host, colon, _ = word.partition(":")
    return bool(colon) and bool(host) and "/" not in host
