"""The effects of a command on files and hosts, by the declarations of its program and its module."""

from __future__ import annotations

import sys

from agent_hooks.model.tools import file_of_address
from agent_hooks.shell.patterns import Pattern
from agent_hooks.system.caching import lru_cache
from agent_hooks_guards.model.actions import Effect
from agent_hooks_guards.model.declarations import TOUCHES, declarations
from agent_hooks_guards.model.values import CREDENTIAL, ENVIRONMENT, NETWORK, NO_LABELS, SECRET, UNKNOWN
from agent_hooks_guards.places.credentials import host_of, in_address, in_url
from agent_hooks_guards.places.paths import absolute

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from agent_hooks_guards.model.actions import Command
    from agent_hooks_guards.model.declarations import Entry
    from agent_hooks_guards.model.options import Options

    # A declaration, the kinds and selectors of its files, and the selectors of its hosts.
    Touching = tuple[Entry, list[tuple[str, str]], list[str]]

# Names of files that stand for an input or an output, or for a terminal.
STREAMS = frozenset(("", "-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0", "/dev/tty"))
# Names of files that stand for the standard output.
OUTPUTS = frozenset(("-", "/dev/stdout", "/dev/stderr", "/dev/fd/1", "/dev/fd/2", "/proc/self/fd/1", "/proc/self/fd/2"))
# Names of folders wherever they exist: a copy to one lands in it.
_FOLDERS = frozenset(
    ". .. ~ .ssh .gnupg .aws .kube .docker .config autostart LaunchAgents LaunchDaemons hooks cron.d cron.daily"
    " cron.hourly sudoers.d profile.d init.d bin tmp".split()
)
# The labels of downloads.
COMES = frozenset((NETWORK,))
PRIVATE_STORES = frozenset((SECRET, ENVIRONMENT))
PRIVATE = PRIVATE_STORES | {CREDENTIAL}
_SCHEME = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-."
_ALWAYS = "always"
_NOTED = frozenset((*TOUCHES, "connects", "sends"))
# These show their arguments here, or hand them to another program, which is looked at itself.
_LOCAL = frozenset(
    "echo printf print test [ [[ : true false export declare typeset local readonly set read alias grep egrep fgrep"
    " zgrep rg ag ack sed awk gawk mawk jq yq tr cut expr basename dirname sudo doas env time timeout nice ionice"
    " nohup setsid stdbuf xargs parallel watch command exec builtin eval pbcopy xclip wl-copy logger"
    " notify-send".split()
)
# The effects of these besides do not cover the credentials in the URLs that they are given.
_CLIENTS = frozenset("psql mysql mariadb redis-cli valkey-cli mongosh mongo pg_isready python".split())
_URL = Pattern(r"(?:--?[\w-]+=)?([A-Za-z][A-Za-z0-9+.-]*://\S+)")
# Variables, in lower case, that name the host that others are reached through.
_PROXIES = frozenset(("http_proxy", "https_proxy", "all_proxy", "ftp_proxy", "rsync_proxy", "socks_proxy"))
# Programs that make the content of files known under other names.
_COPYING = frozenset(
    "cp mv install ln link dd rsync tar zip split scp git gzip gunzip pigz unpigz bzip2 bunzip2 xz unxz lzma unlzma"
    " zstd unzstd lz4 unlz4 brotli compress uncompress".split()
)


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

    def urls(self, *, receives: bool = False) -> None:
        """Note the addresses among the arguments; ``receives``: credentials in them are not noted."""
        for at, word in enumerate(self.command.argv):
            if "://" not in word:
                continue
            address = url_in(word)
            labels = self.command.labels.get(at, NO_LABELS)
            if path := file_of_address(address):
                self.file("read", path)
            elif CREDENTIAL in labels and not receives:
                self.send(address, labels=in_address(address, labels, path=True))
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


def effects(command: Command, home: str) -> list[Effect]:
    """Return the files and hosts that ``command`` reads, writes, deletes, changes, sends to and receives from.

    An undeclared program has no effects. The data of a send or a write is told by its labels and its ``files``: their
    contents only the caller knows. ``home``: the folder of ``~``.
    """
    if command.name not in declarations().acting:
        return _in_urls(command)
    options = command.options
    notes, touching = _plan(command.name, options.subcommand)
    if not notes and not touching:
        return _in_urls(command)
    if options.is_help:
        return []
    noting = Noting(command, options, home)
    for note in notes:
        note(noting)
    for entry, files, hosts in touching:
        if "idle" not in entry or not options.is_in_force(entry["idle"]):
            touch(noting, entry, files, hosts)
    if command.name in _CLIENTS or not noting.effects:
        noting.effects += _in_urls(command)
    has_proxy = noting.proxies or command.assignments
    if has_proxy and any(effect.kind in ("send", "receive") for effect in noting.effects):
        noting.effects += _through_proxies(command, noting.proxies)
    return noting.effects


@lru_cache(maxsize=4096)
def _plan(name: str, subcommand: tuple[str, ...]) -> tuple[list[Callable[[Noting], None]], list[Touching]]:
    """Return the functions that note the effects of a program, and the arguments for ``touch``."""
    functions, entries = handlers(name, subcommand, "effects")
    touching = []
    for entry in entries:
        if not _NOTED.isdisjoint(entry):
            files = [(kind, selector) for key, kind in TOUCHES.items() for selector in entry.get(key, "").split()]
            touching.append((entry, files, entry.get("connects", "").split()))
    return functions, touching


@lru_cache(maxsize=4096)
def handlers(name: str, subcommand: tuple[str, ...], key: str) -> tuple[list[Any], tuple[Entry, ...]]:
    """Return the functions that the declarations of a program name under ``key``, and these declarations."""
    entries = declarations().holding(name, subcommand)
    paths = dict.fromkeys(entry[key].partition(".") for entry in entries if key in entry)
    return [getattr(_imported(f"{__package__}.{module}"), function) for module, _, function in paths], entries


def _imported(name: str) -> Any:
    __import__(name)  # `importlib` imports warnings
    return sys.modules[name]


def touch(noting: Noting, entry: Entry, files: list[tuple[str, str]], hosts: list[str]) -> None:
    """Note the effects that the declaration ``entry`` lists; ``files``, ``hosts``: its selectors."""
    options = noting.options
    recursive = _applies(noting, entry.get("recursive", ""))
    append = _applies(noting, entry.get("append", ""))
    operands = options.operands
    if "pattern" in entry:
        if operands and not noting.command.argv[operands[0]]:  # BSD: `sed -i '' script file`
            operands = operands[1:]
        if not options.has(entry["pattern"]):
            operands = operands[1:]
    argv = noting.command.argv
    override = "write" if "in_place" in entry and options.has(entry["in_place"]) else ""
    override = "read" if "looks" in entry and options.has(entry["looks"]) else override
    sources: list[str] = []
    for kind, selector in files:
        is_operand = selector[0] in "*123456789"
        words = [argv[at] for at in select(selector, operands)] if is_operand else noting.values(selector)
        kind = override or kind if is_operand else kind
        for word in words:
            if kind == "write":
                labels = noting.input_labels
                noting.file(kind, word, recursive=recursive, append=append, labels=labels, sources=tuple(sources))
            else:
                noting.file(kind, word, recursive=recursive and is_operand)
        sources += words if kind == "read" else []
    if recursive and "chosen" in entry:
        for name in noting.values(entry["chosen"]):
            for folder in sources or ["."] if name[:1] != "!" else ():
                noting.file("read", inside(folder, name.lstrip("/")))
    if hosts or "sends" in entry:
        _reach(noting, entry, hosts)


def _reach(noting: Noting, entry: Entry, hosts: list[str]) -> None:
    """Note the hosts that the declaration ``entry`` lists."""
    for selector in hosts:
        if selector == "urls":
            noting.urls(receives=noting.command.name in _CLIENTS)
        elif selector[0] == "-":
            for value in noting.values(selector):
                if "/" not in value:
                    noting.receive(value)
        else:
            for at in select(selector, noting.options.operands):
                address = noting.command.argv[at]
                if any(mark in address for mark in ".:\ue000"):
                    noting.connect(address, noting.command.labels_of())
    if "sends" in entry:
        files = [value for each in entry["sends"].split() if each[0] == "-" for value in noting.values(each)]
        files += [word for word in noting.operands() if "*" in entry["sends"].split() and ("/" in word or "." in word)]
        noting.send(noting.command.program, labels=noting.labels, sources=files)


def _applies(noting: Noting, options: str) -> bool:
    return options == _ALWAYS or (bool(options) and noting.options.has(options))


def select(selector: str, operands: list[int]) -> list[int]:
    """Return those of ``operands`` that a selector names."""
    if selector == "*":
        return operands
    if selector[-1] == "+":
        return operands[int(selector[:-1]) - 1 :]
    return operands[int(selector) - 1 : int(selector)]


def _in_urls(command: Command) -> list[Effect]:
    """Return the credentials that an undeclared program sends to the hosts of its URLs."""
    if not command.labels or command.program in _LOCAL or CREDENTIAL not in command.labels_of():
        return []
    found = []
    for at, labels in command.labels.items():
        match = _URL.fullmatch(command.argv[at]) if at and CREDENTIAL in labels else None
        if match is not None and host_of(match[1]):
            found.append(Effect("send", match[1], command, labels=in_url(match[1], labels)))
    return found


def _through_proxies(command: Command, proxies: Sequence[str]) -> list[Effect]:
    """Return the effects on the proxies of the options, ``proxies``, and of the variables: they receive the credentials
    in their own addresses.
    """
    words = [(command.argv[at], labels) for at, labels in command.labels.items() if CREDENTIAL in labels]
    named = [data for name, data in command.assignments.items() if name.lower() in _PROXIES]
    words += [(data.text, data.labels) for data in named if CREDENTIAL in data.labels]
    found = []
    for proxy in dict.fromkeys(filter(None, [*proxies, *(data.text for data in named)])):
        logins = [in_url(url_of(proxy), labels) for word, labels in words if word.endswith(proxy)]
        labels = NO_LABELS.union(*logins)
        found.append(Effect("send" if labels else "receive", proxy, command, labels=labels))
    return found


def copies(command: Command, found: list[Effect]) -> list[tuple[str, str]]:
    """Return files and the other names under which ``command`` makes their content known, all absolute.

    It copies, moves, links or packs them. ``found``: its effects.
    """
    if command.name not in _COPYING:
        return []
    return [(source, effect.path) for effect in found if effect.kind == "write" for source in effect.files]
