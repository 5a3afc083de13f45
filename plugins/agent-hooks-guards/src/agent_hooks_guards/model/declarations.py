"""The declarations of programs: one TOML entry for each, in ``programs/*.toml``, by topic.

An entry is a table, or a string that stands for its ``options`` alone. Its keys:

``names``: other names under which the program is installed; they are replaced by the entry's own.
``alike``: programs that take the same options and do the same, but keep their names.
``options``: the grammar of its command line, as ``options`` reads it.
``groups``: the tokens of subcommands that continue with another token: ``stash remote:add|remove``.
``same``: subcommands (or whole programs) that are another one under a second name.
``sub``: entries of subcommands, by their tokens.
``effects``, ``inner``: functions of ``programs``, ``module.function``, that note what it touches and return what it
runs, where the keys below cannot say it.
``reads``, ``writes``, ``deletes``, ``changes``: the files it touches, as selectors separated by blanks.
``connects``: the addresses it reaches: selectors, or ``urls`` for every argument that is or ends with a URL.
``sends``: the files that it passes to another program or user, with its input.
``pattern``: the first operand is a pattern or a script, and ``runs`` holds, unless one of these options is given.
``input``: options that name a file to read in place of stdin.
``recursive``, ``append``: options with which all it does to operands is recursive or appends; ``always``.
``chosen``: options with the names of the files that it reads below operands, where it is ``recursive``.
``in_place``: options with which operands are written instead of read; ``looks``: the other way round.
``runs``: a list of alternatives, the first of which that applies is taken; ``also``: those that always apply.
``idle``: options with which it runs and touches nothing. ``on``: where it runs that: ``remote`` or ``container``;
``root``: whether as another user; ``folder``: the option for the working directory.
``settings``: options with a value ``key=line``, and the keys, as globs in lower case, whose line a shell runs.
``request``: the options of an HTTP client, by roles: see ``programs/http.py``.
``prints``: the kind of its standard output; a table of kinds, each with the starts of the argument lists that print it.

A selector is ``*`` (all operands), ``2`` (the second one), ``2+`` (from the second one on), ``-o|--output`` (the
values of these options, which therefore need no entry in ``options``) or ``of`` (of ``of=file``).

An alternative of ``runs`` is a language or one of the names below, and a selector, ``each`` (every operand), ``file``
(the first operand is a script; with options behind it, their values are), ``--`` (the arguments after it), a token (the
arguments after that), ``^EXEC:`` (the rest of each argument that starts like that) or ``input``. ``unknown`` stands for
a code that is not analysed, ``remote`` for ``sh`` on another machine. ``sh`` joins the arguments to a command line.
``argv`` takes them as a program with its arguments: with an option as selector those from its value on; with an option
and a selector of operands its value as the program and those as the arguments. ``env`` is ``argv`` with ``NAME=value``
in front, ``command`` is ``sh`` for a single argument and ``argv`` for several, ``script`` a file if its name says so,
``package`` a script, or ``argv`` with a version cut off the program's name.
"""

from __future__ import annotations

import marshal
import os

from agent_hooks.system.caching import lru_cache

from .tables import load_tables

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    Entry = dict[str, Any]

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "programs")
_NOTHING: Entry = {}
TOUCHES = {"reads": "read", "writes": "write", "deletes": "delete", "changes": "change"}
_LISTS = ("runs", "also")


class Table:
    """All declarations, packed by ``packing.pack_programs``. ``aliases``: names of the same entry; ``names``: names of
    the same program; ``acting``: programs of which more is declared than options and stdout; ``clients``: how database
    clients take statements, by program.
    """

    __slots__ = ("_packed", "_unpacked", "acting", "aliases", "clients", "names")

    def __init__(self, packed: Mapping[str, Any]) -> None:
        self.aliases: dict[str, str] = packed["aliases"]
        self.names: dict[str, str] = packed["names"]
        self.acting: frozenset[str] = packed["acting"]
        self.clients: dict[str, list[dict[str, Any]]] = packed["clients"]
        self._packed: dict[str, str | bytes] = packed["entries"]
        self._unpacked: dict[str, dict[str, Entry]] = {}

    @property
    def entries(self) -> dict[str, Entry]:
        """All entries, by program, or program and subcommand."""
        return {path: entry for program in self._packed for path, entry in self._entries(program).items()}

    def has(self, path: str) -> bool:
        """Whether a program or subcommand has an entry under this name."""
        return path in self._packed or (" " in path and self.own(path) is not None)

    def own(self, path: str) -> Entry | None:
        """Return the entry of a program or subcommand under this name, if it has one."""
        return self._entries(path.partition(" ")[0]).get(path)

    def get(self, path: str) -> Entry:
        """Return the entry of a program or subcommand; an empty one if there is none."""
        entry = self.own(path)
        if entry is None:
            entry = self.own(self.aliases.get(path, path))
        return _NOTHING if entry is None else entry

    @lru_cache(maxsize=4096)
    def holding(self, program: str, subcommand: tuple[str, ...]) -> tuple[Entry, ...]:
        """Return the entries that hold for a subcommand, the program's own first."""
        path = self.aliases.get(program, program)
        paths = [path]
        for token in subcommand:
            path = f"{path} {token}"
            path = self.aliases.get(path, path)
            paths.append(path)
        return tuple(entry for path in paths if (entry := self.own(path)) is not None)

    def _entries(self, program: str) -> dict[str, Entry]:
        found = self._unpacked.get(program)
        if found is None:
            packed = self._packed.get(program)
            if packed is None:
                return {}
            found = {program: {"options": packed}} if isinstance(packed, str) else _unpack(packed)
            self._unpacked[program] = found
        return found


def _unpack(packed: bytes) -> dict[str, Entry]:
    entries: dict[str, Entry] = marshal.loads(packed)  # noqa: S302 - of a file of this distribution
    return entries


@lru_cache(maxsize=1)
def declarations() -> Table:
    """Return all declarations."""
    return Table(load_tables(FOLDER))


def options_in(entry: Entry) -> Iterator[str]:
    """Return the options that the selectors of an entry name: they have a value."""
    selectors = [each for key in (*TOUCHES, "connects", "sends") for each in entry.get(key, "").split()]
    selectors += [token for key in _LISTS for each in entry.get(key, ()) for token in each.split()[1:]]
    selectors += [entry.get("folder", ""), entry.get("input", ""), *entry.get("settings", ())]
    for selector in selectors:
        if selector[:1] == "-" and selector != "--":
            yield from selector.split("|")
