"""Notes the effects of one command on files and hosts."""

from __future__ import annotations

from agent_hooks.model.tools import file_of_address
from agent_hooks_guards.model.actions import Effect
from agent_hooks_guards.model.values import CREDENTIAL, ENVIRONMENT, NETWORK, NO_LABELS, SECRET, UNKNOWN
from agent_hooks_guards.places.credentials import in_address
from agent_hooks_guards.places.paths import absolute

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_hooks_guards.model.actions import Command
    from agent_hooks_guards.model.options import Options

# Names of files that stand for an input or an output, or for a terminal.
STREAMS = frozenset(("", "-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0", "/dev/tty"))
# Names of files that stand for the standard output.
OUTPUTS = frozenset(("-", "/dev/stdout", "/dev/stderr", "/dev/fd/1", "/dev/fd/2", "/proc/self/fd/1", "/proc/self/fd/2"))
# Names of folders wherever they exist: a copy to one lands in it.
_FOLDERS = frozenset(
    (
        ". .. ~ .ssh .gnupg .aws .kube .docker .config autostart LaunchAgents LaunchDaemons hooks cron.d"
        " cron.daily cron.hourly sudoers.d profile.d init.d bin tmp"
    ).split()
)
# The labels of downloads.
COMES = frozenset((NETWORK,))
PRIVATE_STORES = frozenset((SECRET, ENVIRONMENT))
PRIVATE = PRIVATE_STORES | {CREDENTIAL}
_SCHEME = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-."


class Noting:
    """The effects of one command, in the order in which they are noted. ``home``: the folder of ``~``. ``proxies``:
    the hosts that its options name for reaching others through.
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
        """Return the operands without the ``first`` ones."""
        argv = self.command.argv
        return [argv[at] for at in self.options.operands[first:]]

    def values(self, names: str) -> list[str]:
        """Return the values of options."""
        return [value for value, _ in self.options.values(names)]

    def path(self, word: str) -> str:
        """Return the file that an argument names."""
        return absolute(word, self.cwd, self.home)

    @property
    def input_labels(self) -> frozenset[str]:
        """The labels of the command's input."""
        return self.command.stdin.labels if self.command.stdin else NO_LABELS

    @property
    def labels(self) -> frozenset[str]:
        """The labels of the command's arguments and its input."""
        return self.command.labels_of() | self.input_labels

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
        """Note an effect on the file that an argument names; ``sources`` name the files that are written to it."""
        if word in STREAMS:
            return
        files = tuple([self.path(source) for source in sources if source not in ("", "-")])
        self.effects.append(Effect(kind, self.path(word), self.command, recursive, append, labels, files=files))

    def send(
        self, address: str, *, method: str = "", labels: frozenset[str] | None = None, sources: list[str] | None = None
    ) -> None:
        """Note that data leaves: with the ``labels``, by default those of all arguments, and the files ``sources``,
        which are read.
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

    def connect(self, address: str, labels: frozenset[str] | None = None) -> None:
        """Note a connection that sends the command's input and its arguments, if they are worth it."""
        if labels is None:
            labels = self.labels
        if self.command.stdin is not None or labels & PRIVATE:
            self.send(address, labels=labels)
        else:
            self.receive(address)

    def urls(self, headers: frozenset[str] = NO_LABELS, *, receives: bool = False) -> None:
        """Note the addresses among the arguments; ``headers``: the labels of data that goes to each."""
        for at, word in enumerate(self.command.argv):
            if "://" not in word:
                continue
            address = url_in(word)
            labels = self.command.labels.get(at, NO_LABELS)
            if path := file_of_address(address):
                self.file("read", path)
            elif (CREDENTIAL in labels or headers) and not receives:
                self.send(address, labels=in_address(address, labels, path=True) | headers)
            else:
                self.receive(address)


def inside(folder: str, name: str = UNKNOWN) -> str:
    """Return a name in a folder; an unknown one unless it is given."""
    return f"{folder}{name}" if folder.endswith("/") else f"{folder}/{name}"


def last_name(path: str) -> str:
    """Return the last part of a path, or of a URL's path."""
    return path.rstrip("/").rpartition("/")[2]


def is_folder(word: str) -> bool:
    """Whether a path is surely a folder, as far as its name tells."""
    return word.endswith("/") or last_name(word) in _FOLDERS


def is_remote(word: str) -> bool:
    """Whether ``scp`` and ``rsync`` take an argument for a file on another machine: a colon stands before any slash."""
    host, colon, _ = word.partition(":")
    return bool(colon) and bool(host) and "/" not in host


def url_of(word: str, scheme: str = "http") -> str:
    """Return a URL as curl and the like complete it."""
    return word if "://" in word or word[:6].lower() in ("http:/", "https:", "file:/") else f"{scheme}://{word}"


def url_in(word: str) -> str:
    """Return the URL that an argument ends with, "" if there is none."""
    before, separator, rest = word.partition("://")
    return before[len(before.rstrip(_SCHEME)) :] + separator + rest if separator else ""
