"""The events that an installed client has, as its own program names them: nothing of it is run."""

from __future__ import annotations

import mmap
import os
import re
from glob import escape, glob

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

# As a list in the program, and as an enumeration that TypeScript compiled.
_LIST = re.compile(rb'\[(?:"\w+",\s?){7,}"\w+"\]')
_ENUMERATED = re.compile(rb'"(\w+)"\] = "\1"')
_NAME = re.compile(rb'"(\w+)"')
# Bytes on either side of a name that are looked at, and in all files together.
_AROUND, _MOST_BYTES = 4000, 1 << 30
# Beside events, and of Claude Code: commands that draw its status line and complete file names. They decide nothing.
_NO_EVENTS = frozenset({"FileSuggestion", "StatusLine"})
# As many events that we know make a list of names one of events.
_LEAST_KNOWN = 8


def client_events(program: str, known: Collection[str]) -> frozenset[str]:
    """Return the names of the events of the client that ``program`` starts, none if its files do not tell.

    ``known``: names that it may have.
    """
    program = os.path.realpath(program)
    beside = escape(os.path.dirname(program))
    left = _MOST_BYTES
    for path in (program, *sorted(glob(f"{beside}/*.js")), *sorted(glob(f"{beside}/chunks/*.js"))):
        try:
            size = os.path.getsize(path)
            left -= size
            if not size or left < 0:
                continue
            with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                if found := _events_in(data, known):
                    return found
        except OSError:
            continue
    return frozenset()


def _events_in(data: mmap.mmap, known: Collection[str]) -> frozenset[str]:
    found: set[str] = set()
    at = -1
    while (at := data.find(b'"SessionStart"', at + 1)) >= 0:
        part = data[max(0, at - _AROUND) : at + _AROUND]
        for some in (*map(_NAME.findall, _LIST.findall(part)), _ENUMERATED.findall(part)):
            names = {each.decode("ascii", "replace") for each in some}
            if len(names.intersection(known)) >= _LEAST_KNOWN:
                found |= names
    return frozenset(found) - _NO_EVENTS
