"""Parser of the YAML between two ``---`` lines at the top of a Markdown file.

YAML parsers disagree: some parse ``no`` as false, either of two equal keys may win, and a few lines of aliases can fill
a machine's memory. This one accepts the undisputed part of YAML, with the scalars of the core schema of YAML 1.2. The
rest is an error with a line and a remedy.
"""

from __future__ import annotations

import re
from math import inf

from agent_hooks.errors import SettingsError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Path = tuple[str | int, ...]

MAX_BYTES = 256 * 1024
MAX_DEPTH = 32
MAX_VALUES = 10_000
_MAX_DIGITS = 300

_FENCE = re.compile(rb"---[ \t]*(?:\r?\n|\Z)")
_NEXT_FENCE = re.compile(rb"^---[ \t]*\r?$", re.MULTILINE)
_HOOKS = re.compile(rb"(?<![\w-])hooks[\"']?[ \t]*:")
# Line breaks in YAML 1.1 only.
_OTHER_BREAKS = re.compile("\r(?!\n)|[\x85\u2028\u2029]")

# The words and numbers of https://yaml.org/spec/1.2.2/#1032-tag-resolution. Other plain scalars are text.
_CORE_SCHEMA = {
    "null": "~|null|Null|NULL|",
    "bool": "true|True|TRUE|false|False|FALSE",
    "int": "[-+]?(?:0|[1-9][0-9]*)|0o[0-7]+|0x[0-9a-fA-F]+",
    "float": r"[-+]?(?:\.[0-9]+|(?:0|[1-9][0-9]*)(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?",
}


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
    values, lines = _parsed(text)
    if not isinstance(values, (dict, type(None))):
        raise FrontmatterError("The frontmatter is no mapping.", "Write keys with values: `name: deploy`.", 2)
    return values or {}, lines, body.decode("utf-8", "replace")


def has_hooks(data: bytes) -> bool:
    """Whether an invalid frontmatter seems to have a key ``hooks``."""
    try:
        parts = split_frontmatter(data)
    except FrontmatterError:
        return _HOOKS.search(data) is not None
    return parts is not None and _HOOKS.search(parts[0]) is not None


def _parsed(text: str) -> tuple[Any, dict[Path, int]]:
    """Return the value of the only document, and the lines in it."""
    try:
        import yaml
    except ImportError as error:
        remedy = "Install it: pip install 'agent-hooks-core[skills]'."
        raise FrontmatterError("YAML cannot be read without PyYAML.", remedy) from error
    from yaml.reader import ReaderError

    class Loader(yaml.SafeLoader):
        yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 - as in the base class
        count = depth = 0

        def compose_node(self, parent: Any, index: Any) -> Any:
            loader: Any = self  # its methods have no types
            event = loader.peek_event()
            self.count += 1
            _check(event, isinstance(event, yaml.AliasEvent), self.depth, self.count)
            self.depth += not isinstance(event, yaml.ScalarEvent)
            node = super().compose_node(parent, index)
            self.depth -= not isinstance(event, yaml.ScalarEvent)
            return node

        def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:  # noqa: ARG002
            return {key.value: self.construct_object(value, deep=True) for key, value in node.value}

    for kind, pattern in _CORE_SCHEMA.items():
        Loader.add_implicit_resolver(f"tag:yaml.org,2002:{kind}", re.compile(f"(?:{pattern})$"), None)
    try:
        loader = Loader(text)
        root = loader.get_single_node()
        lines: dict[Path, int] = {}
        if root is not None:
            _add_lines(root, (), lines)
        value = None if root is None else loader.construct_document(root)
        return value, lines
    except ReaderError as error:
        line = text.count("\n", 0, error.position) + 2
        raise FrontmatterError("There is a character that no text has.", "Remove it.", line) from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = f"This is not YAML: {error.problem or error.context}."
        remedy = "Put text with : or # or other signs in quotes; indent with blanks."
        raise FrontmatterError(problem, remedy, mark.line + 2 if mark is not None else 0) from error
    except (ValueError, OverflowError) as error:
        problem = "An escape or a directive is wrong."
        raise FrontmatterError(problem, "Write the character itself.") from error


def _check(event: Any, is_alias: bool, depth: int, count: int) -> None:
    """Raise ``FrontmatterError`` for YAML that is expanded, or that readers see differently."""
    if is_alias:
        problem, remedy = "There is an alias (*).", "Write the value out; a text that begins with * needs quotes."
    elif event.anchor is not None:
        problem, remedy = "There is an anchor (&).", "Remove it; a text that begins with & needs quotes."
    elif event.tag is not None:
        problem, remedy = "There is a tag (!).", "Remove it; a text that begins with ! needs quotes."
    elif depth > MAX_DEPTH:
        problem, remedy = f"It is nested deeper than {MAX_DEPTH} levels.", "Make it flatter."
    elif count > MAX_VALUES:
        problem, remedy = f"There are more than {MAX_VALUES} values.", "Move data into files."
    else:
        return
    raise FrontmatterError(problem, remedy, _line(event))


def _line(node: Any) -> int:
    return int(node.start_mark.line) + 2  # counted from 0, and below the first ---


def _add_lines(node: Any, path: Path, lines: dict[Path, int]) -> None:
    """Add the lines of the keys and items below a node. Raises ``FrontmatterError`` for keys and values that JSON does
    not know.
    """
    if isinstance(node.value, str):
        _check_scalar(node)
        return
    key: Any
    for key, item in enumerate(node.value):
        name = value = item
        if node.id == "mapping":
            name, value = item
            if not isinstance(name.value, str):
                raise FrontmatterError("A key is no plain text.", "Keys are words.", _line(name))
            _check_scalar(name)
            key = name.value
        if (*path, key) in lines:
            raise FrontmatterError(f"The key {key[:80]!r} is there twice.", "Keep one of them.", _line(name))
        lines[(*path, key)] = _line(name)
        _add_lines(value, (*path, key), lines)


def _check_scalar(node: Any) -> None:
    """Raise ``FrontmatterError`` for half of a character, and for a number beyond all limits."""
    is_infinite = node.tag.endswith(":float") and abs(float(node.value)) == inf
    if is_infinite or (node.tag.endswith(":int") and len(node.value) > _MAX_DIGITS):
        raise FrontmatterError("A number has too many digits.", "Put it in quotes.", _line(node))
    try:
        node.value.encode()
    except UnicodeEncodeError as error:
        problem = "There is half of a character (a lone surrogate)."
        raise FrontmatterError(problem, "Write the character itself.", _line(node)) from error
