"""The text of a JSON file with entries added or removed: everything else stays as it is, byte for byte.

Entries are inserted and removed at positions in the text. Of the libraries that edit JSON in place, none is maintained
and keeps line ends and comments; ``json`` would write the whole file anew.
"""

from __future__ import annotations

import json
import re

from agent_hooks.errors import BadJSONError, SettingsError
from agent_hooks.formats.positions import lines_of, repeated_key
from agent_hooks.system.strict_json import read_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping
    from typing import Any

    Place = tuple[str | int, ...]
    IsOurs = Callable[[Mapping[str, Any]], bool]

HOOKS = "hooks"
_BOM = "\ufeff"
_SPACE = " \t\r\n"
_STRING = r'"(?:[^"\\]|\\.)*"'
_COMMENT = re.compile(rf"{_STRING}|//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_TOKEN = re.compile(rf'{_STRING}|[\[\]{{}},:]|[^\s"\[\]{{}},:]+')


class _Node:
    """A value in a text: its span, and if it is an object or a list, its items with their keys and starts."""

    def __init__(self, start: int, end: int, opener: str) -> None:
        self.start = start
        self.end = end
        self.opener = opener
        self.items: dict[str | int, tuple[int, _Node]] = {}


class Document:
    """A JSON text, with the positions of its values.

    ``comments``: whether its reader allows comments. Raises ``BadJSONError`` for a text that not every reader would
    read alike, or that is no object.
    """

    def __init__(self, text: str, *, comments: bool = False) -> None:
        self.text = text
        self.comments = comments
        # The same text with blanks for comments, so that positions agree.
        self.plain = _COMMENT.sub(_blanked if comments else lambda found: found[0], text.replace(_BOM, " ", 1))
        try:
            self.value = read_json(self.plain)
        except BadJSONError as error:
            if "the same key" in str(error) and (found := _repeated_key(self.plain)):
                raise BadJSONError(f"has the key {found[0]!r} a second time in line {found[1]}") from error
            raise
        if not isinstance(self.value, dict):
            raise BadJSONError("is no JSON object")
        self.root = _parse(self.plain)
        self.newline = "\r\n" if "\r\n" in text else "\n"
        first = next((self._indent(start) for start, _ in self.root.items.values()), None)
        self._unit = first or "  "

    def line(self, place: Place) -> int:
        """Return the line of the value at ``place``."""
        return lines_of(self.plain).get(place, 0)

    def inserted(self, place: Place, key: str, value: Any) -> Document:
        """Return the document with a value at the end of the object or list at ``place``; a list needs no ``key``."""
        text, node = self.text, self._node(place)
        name = f"{json.dumps(key)}: " if node.opener == "{" else ""
        # After comments on the last item, before the blanks in front of the end.
        end = len(text[: node.end - 1].rstrip(_SPACE))
        tail = text[end:]
        if "\n" in text[node.start : node.end] or (not node.items and "\n" in text.strip()):
            outer = self._indent(node.start, is_line=True) or ""
            indent = next((self._indent(start) for start, _ in node.items.values()), None) or outer + self._unit
            rendered = json.dumps(value, indent=self._unit, ensure_ascii=False).replace("\n", self.newline + indent)
            new = self.newline + indent + name + rendered
            if not node.items and "\n" not in text[end : node.end - 1]:
                tail = self.newline + outer + text[node.end - 1 :]
        else:
            new = (" " if node.items else "") + name + json.dumps(value, ensure_ascii=False)
        if node.items:
            last = [item.end for _, item in node.items.values()][-1]
            new = f",{text[last:end]}{new}"
            end = last
        return self._with(text[:end] + new + tail)

    def removed(self, place: Place) -> Document:
        """Return the document without the value at ``place``, its key and one comma."""
        text, node = self.text, self._node(place[:-1])
        start, item = node.items[place[-1]]
        before = len(text[:start].rstrip(_SPACE))
        ends_comment = before > 0 and self.plain[before - 1] == " " and text[before - 2 : before] != "*/"
        if ends_comment and not text[item.end :].lstrip(" \t").startswith(("\r", "\n")):
            before = text.index("\n", before) + 1  # what follows must not become a part of the comment
        following = [start for start, _ in node.items.values() if start > item.end]
        if following:
            comma = self.plain.index(",", item.end)
            new = text[:before] + text[item.end : comma] + text[comma + 1 :]
        elif len(node.items) > 1:
            comma = self.plain.rindex(",", 0, start)
            new = text[:comma] + text[comma + 1 : before] + text[item.end :]
        elif not text[node.start + 1 : start].strip() and not text[item.end : node.end - 1].strip():
            new = text[: node.start + 1] + text[node.end - 1 :]
        else:
            new = text[:before] + text[item.end :]
        return self._with(new)

    def _with(self, text: str) -> Document:
        return Document(text, comments=self.comments)

    def _node(self, place: Place) -> _Node:
        node = self.root
        for key in place:
            node = node.items[key][1]
        return node

    def _indent(self, start: int, *, is_line: bool = False) -> str | None:
        """Return the blanks before ``start`` if nothing else is before it in its line, which ``is_line`` leaves out."""
        line = self.text[self.text.rfind("\n", 0, start) + 1 : start].removeprefix(_BOM)
        blanks = line[: len(line) - len(line.lstrip(" \t"))]
        is_first = start > 0 and "\n" in self.text[:start] and blanks == line
        return blanks if is_line or is_first else None


def _blanked(found: re.Match[str]) -> str:
    return found[0] if found[0][0] == '"' else re.sub(r"[^\r\n]", " ", found[0])


def _repeated_key(text: str) -> tuple[str, int] | None:
    try:
        return repeated_key(text)
    except (ValueError, IndexError):  # it is no JSON at all
        return None


def _parse(text: str) -> _Node:
    """Return the value of a valid JSON text."""
    around = _Node(0, len(text), "[")
    opened = [around]
    key: tuple[str, int] | None = None
    for found in _TOKEN.finditer(text):
        part, node = found[0], opened[-1]
        if part in "]}":
            opened.pop().end = found.end()
        elif part in ",:":
            continue
        elif node.opener == "{" and key is None:
            key = (json.loads(part), found.start())
        else:
            new = _Node(found.start(), found.end(), part if part in "[{" else "")
            node.items[key[0] if key else len(node.items)] = (key[1] if key else found.start(), new)
            key = None
            if new.opener:
                opened.append(new)
    return around.items[0][1]


# -- hooks -------------------------------------------------------------------------------------------------------------


def ours_in(document: Document, is_ours: IsOurs) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Yield our handlers with their places, in lists of events or in groups of these."""
    events = document.value.get(HOOKS)
    for event, items in events.items() if isinstance(events, dict) else ():
        for number, item in enumerate(items if isinstance(items, list) else ()):
            place: Place = (HOOKS, event, number)
            inner = item.get(HOOKS) if isinstance(item, dict) else None
            handlers = enumerate(inner) if isinstance(inner, list) else [(-1, item)]
            for at, handler in handlers:
                if isinstance(handler, dict) and is_ours(handler):
                    yield (*place, HOOKS, at) if at >= 0 else place, handler


def without_ours(document: Document, is_ours: IsOurs, keep: Collection[Place] = ()) -> Document:
    """Return the document without our handlers, and without what they alone were in, except the places ``keep``."""
    while (found := next(ours_in(document, is_ours), None)) is not None:
        place = found[0]
        while len(place) > 1 and place[:-1] not in keep and _is_alone(document, place):
            place = place[:-1]
        document = document.removed(place)
    return document


def _is_alone(document: Document, place: Place) -> bool:
    """Whether nothing of effect is left around the value at ``place`` without it."""
    around: Any = document.value
    for key in place[:-1]:
        around = around[key]
    return len(around) == 1 or (isinstance(place[-1], str) and len(place) == 4)  # the handlers of a group, a matcher's


def with_entries(document: Document, entries: Mapping[str, Any]) -> Document:
    """Return the document with one entry more for each event. Raises ``SettingsError`` if there is no room for it."""
    hooks = document.value.get(HOOKS)
    if hooks is None and HOOKS not in document.value:
        return document.inserted((), HOOKS, {event: [entry] for event, entry in entries.items()})
    for event, entry in entries.items():
        for place, kind in ((HOOKS,), dict), ((HOOKS, event), list):
            found: Any = document.value
            for key in place:
                found = found.get(key, kind())
            if not isinstance(found, kind):
                noun = "an object" if kind is dict else "a list"
                raise SettingsError(f"{'.'.join(map(str, place))} in line {document.line(place)} must be {noun}.")
        if event in document.value[HOOKS]:
            document = document.inserted((HOOKS, event), "", entry)
        else:
            document = document.inserted((HOOKS,), event, [entry])
    return document
