"""What a tool call says, whatever its host calls the tool and its arguments."""

from __future__ import annotations

from .values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

KINDS = ("shell", "read", "write", "edit", "delete", "search", "fetch", "web_search", "subagent", "mcp", "other")

# Claude Code's names for a kind: a match written for one of them holds for every tool of the kind.
CLAUDE_NAMES: dict[str, tuple[str, ...]] = {
    "shell": ("Bash",),
    "read": ("Read",),
    "write": ("Write",),
    "edit": ("Edit",),
    "search": ("Grep", "Glob"),
    "fetch": ("WebFetch",),
    "web_search": ("WebSearch",),
    "subagent": ("Agent", "Task"),
}

# What Claude Code's own names say about a tool whose kind nobody declared.
KIND_OF_NAME = {name: kind for kind, names in CLAUDE_NAMES.items() for name in names}

COMMAND_KEYS = ("command", "cmd", "command_line", "commandLine", "script")
PATH_KEYS = ("file_path", "filePath", "path", "absolute_path", "notebook_path", "dir_path", "filename", "paths")
CONTENT_KEYS = ("content", "file_text", "fileText", "new_string", "newString", "new_str", "new_source", "text")
URL_KEYS = ("url", "uri")
FILE_KINDS = frozenset({"read", "write", "edit", "delete", "search"})

_NAME_CHARACTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.:/-")
MAX_NAME_LENGTH = 200


def is_trusted_name(name: str) -> bool:
    """Whether ``name`` is 1 to 200 of ``[A-Za-z0-9_.:/-]``: only such a name can ever satisfy an allow."""
    return 0 < len(name) <= MAX_NAME_LENGTH and _NAME_CHARACTERS.issuperset(name)


class FileOperation(Value):
    """One file that a call touches: ``kind`` is ``read``, ``write``, ``edit`` or ``delete``; ``path`` as the host gave
    it.
    """

    kind: str
    path: str


def first_text(args: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    """Return the first string under ``keys``, an argv list joined as a shell would quote it, else an empty string."""
    for key in keys:
        value = args.get(key)
        if isinstance(value, str):
            return value
        if isinstance(value, (list, tuple)) and value and all(isinstance(item, str) for item in value):
            from shlex import join

            return join(value)
    return ""


def content_in(args: Mapping[str, Any]) -> str:
    """Return the new text among the arguments, those of each of several ``edits`` in one call included."""
    edits = args.get("edits")
    several = [edit for edit in edits if isinstance(edit, dict)] if isinstance(edits, (list, tuple)) else []
    return "\n".join(text for part in (args, *several) if (text := first_text(part, CONTENT_KEYS)))


def patch_text(name: str, args: Mapping[str, Any]) -> str:
    """Return the patch of an ``apply_patch`` call, which hosts pass as ``command``, ``input`` or ``patch``; else ""."""
    if name.rpartition(".")[2] != "apply_patch":
        return ""
    for key in ("command", "input", "patch"):
        value = args.get(key)
        if isinstance(value, str):
            return value
        if isinstance(value, (list, tuple)) and value and isinstance(value[-1], str):
            return value[-1]  # ["apply_patch", "*** Begin Patch..."]
    return ""


def patch_operations(patch: str) -> tuple[FileOperation, ...]:
    """Read the file operations out of an ``apply_patch`` text, in order; a move edits one file and writes another."""
    found: list[FileOperation] = []
    for line in patch.splitlines():
        line = line.strip()
        for mark, kind in (
            ("*** Add File:", "write"),
            ("*** Update File:", "edit"),
            ("*** Delete File:", "delete"),
            ("*** Move to:", "write"),
        ):
            if line.startswith(mark):
                found.append(FileOperation(kind=kind, path=line[len(mark) :].strip()))
    return tuple(found)


def paths_in(args: Mapping[str, Any]) -> tuple[str, ...]:
    """Return every path among the arguments that usually hold one, in the order of ``PATH_KEYS``."""
    found: list[str] = []
    for key in PATH_KEYS:
        value = args.get(key)
        if isinstance(value, str) and value:
            found.append(value)
        elif isinstance(value, (list, tuple)):
            found.extend(item for item in value if isinstance(item, str) and item)
    return tuple(found)
