"""Parser of the YAML between two ``---`` lines at the top of a Markdown file.

YAML parsers disagree: some parse ``no`` as false, either of two equal keys may win, and a few lines of aliases can fill
a machine's memory. This one accepts the undisputed part of YAML, with the scalars of the core schema of YAML 1.2. The
rest is an error with a line and a remedy.
"""

from __future__ import annotations

import re

from agent_hooks.errors import SettingsError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    Path = tuple[str | int, ...]

MAX_BYTES = 256 * 1024
MAX_DEPTH = 32
MAX_VALUES = 10_000

_FENCE = re.compile(rb"---[ \t]*(?:\r?\n|\Z)")
_NEXT_FENCE = re.compile(rb"^---[ \t]*\r?$", re.MULTILINE)
_HOOKS = re.compile(rb"(?<![\w-])hooks[\"']?[ \t]*:")
# Line breaks in YAML 1.1 only.
_OTHER_BREAKS = re.compile("\r(?!\n)|[\x85\u2028\u2029]")

# https://yaml.org/spec/1.2.2/#1032-tag-resolution
_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_BOOL = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INTEGERS = (
    (re.compile(r"[-+]?[0-9]+"), 10),
    (re.compile(r"0o[0-7]+"), 8),
    (re.compile(r"0x[0-9a-fA-F]+"), 16),
)
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")


class FrontmatterError(SettingsError):
    """Raised when the frontmatter of a file cannot be read.

    ``line``: the line in the file, 0 for the file as a whole.
    """

    def __init__(self, problem: str, remedy: str, line: int = 0) -> None:
        super().__init__(f"line {line}: {problem} {remedy}" if line else f"{problem} {remedy}")
        self.problem = problem
        self.remedy = remedy
        self.line = line


def split_frontmatter(data: bytes) -> tuple[bytes, bytes] | None:
    """Return frontmatter and body as bytes, None without one. Raises ``FrontmatterError`` if unclosed."""
    data = data.removeprefix(b"\xef\xbb\xbf")
    first = _FENCE.match(data)
    if first is None:
        return None
    second = _NEXT_FENCE.search(data, first.end())
    if second is None:
        raise FrontmatterError("The frontmatter has no end.", "Put a line --- after its last line.", 1)
    return data[first.end() : second.start()], data[second.end() :].removeprefix(b"\n")


def read_frontmatter(data: bytes) -> tuple[dict[str, Any], dict[Path, int], str]:
    """Return the frontmatter of a Markdown file, the line of each key and item by its path, and the body.

    The values are strings, numbers, booleans, None, and lists and dicts of them; keys are always strings. A file
    without frontmatter gives an empty dict. Raises ``FrontmatterError``, which quotes only keys of the file.
    """
    parts = split_frontmatter(data)
    if parts is None:
        return {}, {}, data.decode("utf-8", "replace")
    head, body = parts
    if len(head) > MAX_BYTES:
        raise FrontmatterError(f"The frontmatter is larger than {MAX_BYTES // 1024} KiB.", "Move text into the body.")
    try:
        text = head.decode("utf-8")
    except UnicodeDecodeError as error:
        line = head.count(b"\n", 0, error.start) + 2
        raise FrontmatterError("The frontmatter is not UTF-8.", "Save the file as UTF-8.", line) from error
    if (found := _OTHER_BREAKS.search(text)) is not None:
        line = text.count("\n", 0, found.start()) + 2
        problem = f"The character U+{ord(found[0]):04X} is the end of a line to some readers only."
        raise FrontmatterError(problem, "Remove it.", line)
    reader = _Reader(text)
    values = reader.document()
    return values, reader.lines, body.decode("utf-8", "replace")


def has_hooks(data: bytes) -> bool:
    """Whether an invalid frontmatter seems to have a key ``hooks``."""
    try:
        parts = split_frontmatter(data)
    except FrontmatterError:
        return _HOOKS.search(data) is not None
    return parts is not None and _HOOKS.search(parts[0]) is not None


class _Reader:
    """Builds values from PyYAML's events, before aliases or tags can take effect."""

    def __init__(self, text: str) -> None:
        self.lines: dict[Path, int] = {}
        self._count = 0
        self._events = _events(text)

    def document(self) -> dict[str, Any]:
        """Return the mapping that is the only document."""
        next(self._events)  # the start of the stream
        event = next(self._events)
        if _kind(event) == "StreamEnd":
            return {}
        value = self._value(next(self._events), ())
        next(self._events)  # the end of the document
        if _kind(event := next(self._events)) != "StreamEnd":
            raise FrontmatterError("A second document begins.", "Frontmatter is one mapping.", _line(event))
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise FrontmatterError("The frontmatter is no mapping.", "Write keys with values: `name: deploy`.", 2)
        return value

    def _value(self, event: Any, path: Path) -> Any:
        self._check(event, path)
        kind = _kind(event)
        if kind == "Scalar":
            return _scalar(event)
        if kind == "SequenceStart":
            return self._list(path)
        return self._mapping(path)

    def _list(self, path: Path) -> list[Any]:
        found: list[Any] = []
        while _kind(event := next(self._events)) != "SequenceEnd":
            inner = (*path, len(found))
            self.lines[inner] = _line(event)
            found.append(self._value(event, inner))
        return found

    def _mapping(self, path: Path) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while _kind(event := next(self._events)) != "MappingEnd":
            line = _line(event)
            self._check(event, path)
            if _kind(event) != "Scalar":
                raise FrontmatterError("A key is no plain text.", "Keys are words.", line)
            key = _text(event)
            if key in found:
                raise FrontmatterError(f"The key {key[:80]!r} is there twice.", "Keep one of them.", line)
            self.lines[(*path, key)] = line
            found[key] = self._value(next(self._events), (*path, key))
        return found

    def _check(self, event: Any, path: Path) -> None:
        self._count += 1
        line = _line(event)
        if _kind(event) == "Alias":
            remedy = "Write the value out; a text that begins with * needs quotes."
            raise FrontmatterError("There is an alias (*).", remedy, line)
        if event.anchor is not None:
            remedy = "Remove it; a text that begins with & needs quotes."
            raise FrontmatterError("There is an anchor (&).", remedy, line)
        if event.tag is not None:
            raise FrontmatterError("There is a tag (!).", "Remove it; a text that begins with ! needs quotes.", line)
        if len(path) >= MAX_DEPTH and _kind(event) != "Scalar":
            raise FrontmatterError(f"It is nested deeper than {MAX_DEPTH} levels.", "Make it flatter.", line)
        if self._count > MAX_VALUES:
            raise FrontmatterError(f"There are more than {MAX_VALUES} values.", "Move data into files.", line)


def _events(text: str) -> Iterator[Any]:
    try:
        import yaml
    except ImportError as error:
        remedy = "Install it: pip install 'agent-hooks-core[skills]'."
        raise FrontmatterError("YAML cannot be read without PyYAML.", remedy) from error
    from yaml.reader import ReaderError

    try:
        yield from yaml.parse(text, Loader=yaml.SafeLoader)
    except ReaderError as error:
        line = text.count("\n", 0, error.position) + 2
        raise FrontmatterError("There is a character that no text has.", "Remove it.", line) from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = f"This is not YAML: {error.problem or error.context}."
        remedy = "Put text with : or # or other signs in quotes; indent with blanks."
        raise FrontmatterError(problem, remedy, mark.line + 2 if mark is not None else 0) from error
    except (ValueError, OverflowError) as error:  # an escape or a version out of range
        raise FrontmatterError("An escape or a directive is wrong.", "Write the character itself.") from error


def _kind(event: Any) -> str:
    return type(event).__name__.removesuffix("Event")


def _line(event: Any) -> int:
    return int(event.start_mark.line) + 2  # counted from 0, and below the first ---


def _text(event: Any) -> str:
    text = str(event.value)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        problem = "There is half of a character (a lone surrogate)."
        raise FrontmatterError(problem, "Write the character itself.", _line(event)) from error
    return text


def _scalar(event: Any) -> Any:
    text = _text(event)
    is_plain = event.implicit[0]
    if not is_plain:
        return text
    if text in _NULL:
        return None
    if text in _BOOL:
        return _BOOL[text]
    try:
        for pattern, base in _INTEGERS:
            if pattern.fullmatch(text):
                return int(text, base)
        if _FLOAT.fullmatch(text) and (number := float(text)) - number == 0:
            return number
    except ValueError as error:
        raise FrontmatterError("A number has too many digits.", "Put it in quotes.", _line(event)) from error
    if _FLOAT.fullmatch(text) or _NOT_FINITE.fullmatch(text):
        raise FrontmatterError("A number is not finite.", "Put it in quotes.", _line(event))
    return text
