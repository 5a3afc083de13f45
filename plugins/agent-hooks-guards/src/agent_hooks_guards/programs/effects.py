"""What a known program does to files and on the network, told by its name and its words."""

from __future__ import annotations

from .effects_archives import ARCHIVES
from .effects_containers import CONTAINERS
from .effects_disks import DISKS
from .effects_files import FILES, links, pairs
from .effects_http import HTTP
from .effects_network import NETWORK_PROGRAMS
from .noting import Noting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_hooks_guards.shell.actions import Command, Effect

PROGRAMS = {**FILES, **ARCHIVES, **CONTAINERS, **DISKS, **HTTP, **NETWORK_PROGRAMS}


def effects(command: Command, home: str) -> list[Effect]:
    """Return what ``command`` reads, writes, deletes, changes, sends and receives. ``home``: what ``~`` stands for.

    A program that nothing is known of has no effects. What a send or a write carries is told by its labels and by its
    ``files``: what is in those only the caller knows.
    """
    note = PROGRAMS.get(command.program) or PROGRAMS.get(command.name)
    if note is None:
        return []
    options = command.options
    if options.is_help:
        return []
    noting = Noting(command, options, home)
    note(noting)
    return noting.effects


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
