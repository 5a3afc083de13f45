"""The effects of a command on files and hosts, by the declarations of its program and its module."""

from __future__ import annotations

import re
from functools import lru_cache
from importlib import import_module

from agent_hooks_guards.model.actions import Effect
from agent_hooks_guards.model.declarations import TOUCHES, declarations
from agent_hooks_guards.model.values import CREDENTIAL, NO_LABELS
from agent_hooks_guards.places.credentials import as_login, host_of, in_url

from .noting import Noting, url_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agent_hooks_guards.model.actions import Command
    from agent_hooks_guards.model.declarations import Entry

    # A declaration, the kinds and selectors of its files, and the selectors of its hosts.
    Touching = tuple[Entry, list[tuple[str, str]], list[str]]

_ALWAYS = "always"
_NOTED = frozenset((*TOUCHES, "connects", "sends"))
# These show their arguments here, or hand them to another program, which is looked at itself.
_LOCAL = frozenset(
    (
        "echo printf print test [ [[ : true false export declare typeset local readonly set read alias grep egrep fgrep"
        " zgrep rg ag ack sed awk gawk mawk jq yq tr cut expr basename dirname sudo doas env time timeout nice ionice"
        " nohup setsid stdbuf xargs parallel watch command exec builtin eval pbcopy xclip wl-copy logger notify-send"
    ).split()
)
# The effects of these besides do not cover the credentials in the URLs that they are given.
_CLIENTS = frozenset("psql mysql mariadb redis-cli valkey-cli mongosh mongo pg_isready python".split())
# These take headers for the servers that they measure.
_BENCHMARKS = frozenset("ab wrk hey siege".split())
_URL = re.compile(r"(?:--?[\w-]+=)?([A-Za-z][A-Za-z0-9+.-]*://\S+)")
# Variables, in lower case, that name the host that others are reached through.
_PROXIES = frozenset(("http_proxy", "https_proxy", "all_proxy", "ftp_proxy", "rsync_proxy", "socks_proxy"))
# Programs that make the content of files known under other names.
_COPYING = frozenset("cp mv install ln link dd rsync tar gzip zip split scp git".split())


def effects(command: Command, home: str) -> list[Effect]:
    """Return the files and hosts that ``command`` reads, writes, deletes, changes, sends to and receives from.

    An undeclared program has no effects. The data of a send or a write is told by its labels and its ``files``: their
    contents only the caller knows. ``home``: the folder of ``~``.
    """
    if not declarations().is_acting(command.name):
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
    table = declarations()
    entries = table.holding(name, subcommand)
    path = table.aliases.get(name, name)
    modules = dict.fromkeys(entry["module"] for entry in entries if "module" in entry)
    functions = [getattr(import_module(f"{__package__}.{each}"), "EFFECTS", {}).get(path) for each in modules]
    touching = []
    for entry in entries:
        if not _NOTED.isdisjoint(entry):
            files = [(kind, selector) for key, kind in TOUCHES.items() for selector in entry.get(key, "").split()]
            touching.append((entry, files, entry.get("connects", "").split()))
    return [each for each in functions if each], touching


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
    writes = "in_place" in entry and options.has(entry["in_place"])
    reads = "looks" in entry and options.has(entry["looks"])
    for kind, selector in files:
        # The data that is written comes from the input, as far as a declaration knows.
        if selector[0] == "-":
            for value in noting.values(selector):
                noting.file(kind, value, labels=noting.input_labels if kind == "write" else NO_LABELS)
            continue
        kind = "read" if reads else "write" if writes else kind
        labels = noting.input_labels if kind == "write" else NO_LABELS
        for at in select(selector, operands):
            noting.file(kind, noting.command.argv[at], recursive=recursive, append=append, labels=labels)
    if hosts or "sends" in entry:
        _reach(noting, entry, hosts)


def _reach(noting: Noting, entry: Entry, hosts: list[str]) -> None:
    """Note the hosts that the declaration ``entry`` lists."""
    for selector in hosts:
        if selector == "urls":
            is_benchmark = noting.command.name in _BENCHMARKS
            noting.urls(_logins(noting) if is_benchmark else NO_LABELS, receives=noting.command.name in _CLIENTS)
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


def _logins(noting: Noting) -> frozenset[str]:
    return frozenset(label for label in as_login(noting.command.labels_of()) if label.startswith("login:"))


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
