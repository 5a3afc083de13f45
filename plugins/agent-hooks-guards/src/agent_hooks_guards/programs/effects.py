"""What a known program does to files and on the network, told by its name and its words."""

from __future__ import annotations

import re

from agent_hooks_guards.model.actions import Effect
from agent_hooks_guards.model.declarations import TOUCHES, declarations
from agent_hooks_guards.model.values import CREDENTIAL, NO_LABELS

from .credentials import in_url
from .effects_archives import ARCHIVES
from .effects_disks import DISKS
from .effects_files import FILES, links, pairs
from .effects_http import HTTP, host_of, url_of
from .effects_network import NETWORK_PROGRAMS
from .noting import Noting
from .touching import touch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent_hooks_guards.model.actions import Command

PROGRAMS = {**FILES, **ARCHIVES, **DISKS, **HTTP, **NETWORK_PROGRAMS}


def effects(command: Command, home: str) -> list[Effect]:
    """Return what ``command`` reads, writes, deletes, changes, sends and receives. ``home``: what ``~`` stands for.

    A program that nothing is known of has no effects. What a send or a write carries is told by its labels and by its
    ``files``: what is in those only the caller knows.
    """
    note = PROGRAMS.get(command.program) or PROGRAMS.get(command.name)
    options = command.options
    entries = [entry for _, entry in declarations().levels(command.program, options.subcommand)]
    if not entries and command.name != command.program:
        entries = [entry for _, entry in declarations().levels(command.name, options.subcommand)]
    entries = [entry for entry in entries if any(key in entry for key in TOUCHES)]
    if note is None and not entries:
        return _in_urls(command)
    if options.is_help:
        return []
    noting = Noting(command, options, home)
    if note is not None:
        note(noting)
    else:
        for entry in entries:
            touch(noting, entry)
    if command.name in _CLIENTS:
        noting.effects += _in_urls(command)
    if any(effect.kind in ("send", "receive") for effect in noting.effects):
        noting.effects += _through_proxies(command, noting.proxies)
    return noting.effects


# These show their words here, or hand them to another program, which is looked at itself.
_LOCAL = frozenset(
    (
        "echo printf print test [ [[ : true false export declare typeset local readonly set read alias grep egrep fgrep"
        " zgrep rg ag ack sed awk gawk mawk jq yq tr cut expr basename dirname sudo doas env time timeout nice ionice"
        " nohup setsid stdbuf xargs parallel watch command exec builtin eval pbcopy xclip wl-copy logger notify-send"
    ).split()
)
# What is noted of these besides says nothing of the URLs that they are given.
_CLIENTS = frozenset("psql mysql mariadb redis-cli valkey-cli mongosh mongo pg_isready python".split())
_URL = r"(?:--?[\w-]+=)?([A-Za-z][A-Za-z0-9+.-]*://\S+)"


def _in_urls(command: Command) -> list[Effect]:
    """Return what a program that nothing is known of sends to the hosts of its URLs: the credentials in them."""
    if not command.labels or command.program in _LOCAL or CREDENTIAL not in command.labels_of():
        return []
    found = []
    for at, labels in command.labels.items():
        match = re.fullmatch(_URL, command.argv[at]) if at and CREDENTIAL in labels else None
        if match is not None and host_of(match[1]):
            found.append(Effect("send", match[1], command, labels=in_url(match[1], labels)))
    return found


# Variables, in lower case, that name the host that others are reached through.
PROXIES = frozenset(("http_proxy", "https_proxy", "all_proxy", "ftp_proxy", "rsync_proxy", "socks_proxy"))


def _through_proxies(command: Command, proxies: Sequence[str]) -> list[Effect]:
    """Return the effects on the proxies of the options, ``proxies``, and of the variables: they receive the credentials
    in their own addresses.
    """
    words = [(command.argv[at], labels) for at, labels in command.labels.items() if CREDENTIAL in labels]
    named = [data for name, data in command.assignments.items() if name.lower() in PROXIES]
    words += [(data.text, data.labels) for data in named if CREDENTIAL in data.labels]
    found = []
    for proxy in dict.fromkeys(filter(None, [*proxies, *(data.text for data in named)])):
        logins = [in_url(url_of(proxy), labels) for word, labels in words if word.endswith(proxy)]
        labels = NO_LABELS.union(*logins)
        found.append(Effect("send" if labels else "receive", proxy, command, labels=labels))
    return found


def copies(command: Command, home: str, found: list[Effect]) -> list[tuple[str, str]]:
    """Return files and the names under which ``command`` makes their content known too, both absolute.

    It copies, moves, links or packs them. ``found``: its effects.
    """
    name = command.name
    if name not in _COPYING:
        return []
    noting = Noting(command, command.options, home)
    if name in ("cp", "mv", "install"):
        couples = pairs(noting)
    elif name == "ln":
        couples = links(noting)
    elif name == "dd":
        source, target = noting.options.value("if"), noting.options.value("of")
        couples = [(source, target)] if source and target else []
    else:
        return [(source, effect.path) for effect in found if effect.kind == "write" for source in effect.files]
    return [(noting.path(source), noting.path(target)) for source, target in couples]


_COPYING = frozenset(("cp", "mv", "install", "ln", "link", "dd", "rsync", "tar", "gzip", "zip", "split", "scp", "git"))
