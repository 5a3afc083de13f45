"""The arguments of tool calls, whatever their host calls the tools and keys."""

from __future__ import annotations

import os

from agent_hooks.system.caching import cache_by_name

from .values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
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
# The hosts' tools, in lower case, that load the text of a skill or a command.
SKILL_TOOLS = frozenset({"skill", "slashcommand"})

# Names of one tool: a rule written for any of them holds for all. Claude Code's own list of former names.
_SAME_TOOL = (
    ("Agent", "Task"),
    ("TaskStop", "KillShell", "KillBash"),
    ("ListAgents", "ListPeers"),
    ("SendUserMessage", "Brief"),
    ("ListMcpResourcesTool", "ListMcpResources"),
    ("ReadMcpResourceTool", "ReadMcpResource"),
    ("ReadMcpResourceDirTool", "ReadMcpResourceDir"),
    ("SetGoal", "ProposeGoal"),
)
FORMER_NAMES = {name: tuple(other for other in names if other != name) for names in _SAME_TOOL for name in names}

# The kinds of well-known names, for tools without a declared kind: Claude Code's own names, and those of shells.
KIND_OF_NAME = {
    **{name: kind for kind, names in CLAUDE_NAMES.items() for name in names},
    **dict.fromkeys(("PowerShell", "Monitor", "bash", "exec_command", "local_shell", "run_shell_command"), "shell"),
    **dict.fromkeys(("shell", "shell_command"), "shell"),
    **dict.fromkeys(("MultiEdit", "NotebookEdit", "apply_patch"), "edit"),
    "NotebookRead": "read",
    "LS": "search",
}

COMMAND_KEYS = ("command", "cmd", "command_line", "commandLine", "cli_command", "script")
# The rest of a command whose first word stands under a key of its own.
ARGUMENT_KEYS = ("args", "arguments", "argv")
PROGRAM_KEYS = ("program", "executable")
_FURTHER_COMMAND_KEYS = frozenset((*ARGUMENT_KEYS, "commands"))
PATH_KEYS = (
    *("file_path", "filePath", "path", "absolute_path", "notebook_path", "dir_path", "filename", "file", "target_file"),
    *("source", "destination", "src", "dst", "old_path", "new_path", "paths", "files", "filePaths", "dirPath"),
)
# Where a shell call runs, the likeliest first.
WORKDIR_KEYS = ("workdir", "cwd", "working_directory", "directory", "dir_path")
CONTENT_KEYS = (
    *("content", "file_text", "fileText", "new_string", "newString", "new_str", "newText", "new_source"),
    *("newCode", "text", "body"),
)
# Several changes in one call, each with its text and perhaps its file.
_CHANGES_KEYS = ("edits", "replacements")
URL_KEYS = ("url", "uri")
ADDRESS_KEYS = (*URL_KEYS, "urls")
HOST_KEYS = frozenset(("host", "hostname", "server", "endpoint", "proxy"))
PATCH_KEYS = ("command", "input", "patch", "patchText")
# The roles of values by their key, lower case and without "_" and "-". ``text``: content, messages and queries, which
# may speak of files. ``program``: programs and patterns, which may be about any file, and a tool's exclusions.
# ``addressee``: what stands beside a message, its recipients, channel and language.
_KEYS_OF_ROLES = {
    "text": """
    contents markdown html oldstring oldstr oldtext oldsource replacement inserttext message messages msg prompt title
    subject description summary note notes comment comments caption label header reason thought thoughts reasoning
    explanation instruction instructions task goal question answer query queries q search searchquery searchterm term
    keyword keywords
    """,
    "program": """
    code sql pattern regex regexp exclude excludes excludepattern excludepatterns ignore ignores ignorepatterns
    """,
    "addressee": "to cc bcc recipient recipients channel thread role lang language",
}
_ROLES = {
    **{key.lower().replace("_", ""): "text" for key in CONTENT_KEYS},
    **{key: role for role, keys in _KEYS_OF_ROLES.items() for key in keys.split()},
}
# Texts with these are never looked through for files.
_UNREAD_ROLES = frozenset(("text", "program"))
_TEXTS = frozenset((str,))
_ATOMS = frozenset((str, int, float, bool, type(None)))
FILE_KEYS = frozenset((*PATH_KEYS, *ADDRESS_KEYS, *_CHANGES_KEYS, "glob", "include", "pattern"))
MAX_PATH = 4096  # characters
_HERE = ("./", "../", f".{os.sep}", f"..{os.sep}")
FILE_KINDS = frozenset({"read", "write", "edit", "delete", "search"})

_NO_BREAKS = dict.fromkeys(map(ord, "\t\r\n"))  # browsers leave them out
_NAME_CHARACTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.:/-")
MAX_NAME_LENGTH = 200


def is_trusted_name(name: str) -> bool:
    """Whether ``name`` is 1 to 200 of ``[A-Za-z0-9_.:/-]``: only such a name can ever satisfy an allow."""
    return 0 < len(name) <= MAX_NAME_LENGTH and _NAME_CHARACTERS.issuperset(name)


class FileOperation(Value):
    """A file that a call touches, by ``kind`` (``read``, ``write``, ``edit``, ``delete``) and ``path``."""

    kind: str
    path: str


def texts_in(args: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    """Return all strings under ``keys`` on lines of their own: it is not known which one the tool uses."""
    found = [_text(args[key]) for key in keys if key in args]
    return "\n".join(dict.fromkeys(filter(None, found))) if found else ""


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, (list, tuple)) and value:
        from shlex import join

        return join(str(item) for item in value)
    return ""


def opened(args: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the arguments of a tool that takes all of them in one object; else ``args``."""
    if len(args) == 1:
        (value,) = args.values()
        if isinstance(value, dict):
            return value
    return args


def command_in(args: Mapping[str, Any]) -> str:
    """Return the command lines among the arguments, each with the arguments beside it."""
    args = opened(args)
    if _FURTHER_COMMAND_KEYS.isdisjoint(args):
        return texts_in(args, COMMAND_KEYS)
    given = next((value for key in ARGUMENT_KEYS if (value := args.get(key))), "")
    beside = f" {_text(given)}" if _text(given) else ""
    keys = (*COMMAND_KEYS, *PROGRAM_KEYS) if beside else COMMAND_KEYS
    found = [text + beside for key in keys if (text := _text(args.get(key)))]
    lines = args.get("commands")
    several = lines if isinstance(lines, (list, tuple)) else (lines,)
    found += [command_in(line) if isinstance(line, dict) else _text(line) for line in several]
    if len(several) > 1 and all(isinstance(line, str) and len(line.split()) == 1 for line in several):
        found.append(_text(lines))  # the words of one command, perhaps
    if isinstance(given, (list, tuple)) and not any(found):
        found.append(_text(given))  # all of it: {"args": ["rm", "-rf", "build"]}
    return "\n".join(dict.fromkeys(filter(None, found)))


def content_in(args: Mapping[str, Any], kind: str) -> str:
    """Return the new text among the arguments, that of each of several changes in one call included.

    ``code`` and ``diff`` are the new text of an edit; other kinds of tools run code.
    """
    args = opened(args)
    keys = (*CONTENT_KEYS, "code", "diff") if kind == "edit" else CONTENT_KEYS
    return "\n".join(text for part in (args, *_changes(args)) if (text := texts_in(part, keys)))


def _changes(args: Mapping[str, Any]) -> list[dict[str, Any]]:
    given = [args[key] for key in _CHANGES_KEYS if key in args]
    return [each for value in given if isinstance(value, (list, tuple)) for each in value if isinstance(each, dict)]


def is_patching(name: str) -> bool:
    """Whether the tool of this name applies patches, so that what a call does to which files is in its text."""
    return name.rpartition(".")[2] in ("apply_patch", "patch")


def patch_text(name: str, args: Mapping[str, Any]) -> str:
    """Return the patch of an ``apply_patch`` call, which hosts pass under any of ``PATCH_KEYS``; else ""."""
    if not is_patching(name):
        return ""
    given = [args.get(key) for key in PATCH_KEYS]
    words = [word for value in given for word in (value if isinstance(value, (list, tuple)) else (value,))]
    return "\n".join(word for word in words if isinstance(word, str) and word not in ("", "apply_patch"))


def patch_operations(patch: str) -> tuple[FileOperation, ...]:
    """Read the file operations out of an ``apply_patch`` text, in order; a move writes one file and deletes another."""
    found: list[FileOperation] = []
    source = ""
    for line in patch.split("\n"):
        line = line.strip(" \t\r")
        for mark, kind in (("*** Add File:", "write"), ("*** Update File:", "edit"), ("*** Delete File:", "delete")):
            if line.startswith(mark):
                source = line[len(mark) :].strip(" \t")
                found.append(FileOperation(kind=kind, path=source))
        if line.startswith("*** Move to:"):
            target = line.removeprefix("*** Move to:").strip(" \t")
            found += [FileOperation(kind="write", path=target), FileOperation(kind="delete", path=source)]
    return tuple(found)


def paths_in(name: str, args: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the paths under ``PATH_KEYS``, with ``file:`` addresses, items of lists, those of several changes in one
    call, and globs of searches.
    """
    args = opened(args)
    if FILE_KEYS.isdisjoint(args):
        return ()
    globs = ("glob", "include", "pattern") if "glob" in name.lower() else ("glob", "include")
    found = [path for key in (*PATH_KEYS, *globs) if key in args for path in _paths(args[key])]
    found += [path for change in _changes(args) for path in _paths(change)]
    found += [path for address in found if (path := file_of_address(address))]
    return tuple(dict.fromkeys((*found, *addressed_files(args))))


def possible_paths(args: Mapping[str, Any], cwd: str) -> list[str]:
    """Return every text in ``args`` that may name a file, at any depth and under any key.

    It is one line of at most ``MAX_PATH`` characters, and is absolute, begins with ``~``, ``./``, ``../`` or ``file:``,
    has a separator and no blank, or names something that exists below ``cwd``. Keys of inner objects count as well.
    Under keys of content, messages and queries only keys of paths do.
    """
    found: dict[str, None] = {}
    if is_flat(args) and _UNREAD_ROLES.issuperset(map(role_of, args)):
        return []
    for text, role in texts_with_roles(args):
        if role in _UNREAD_ROLES or len(text) > MAX_PATH:
            continue
        stripped = text.strip()
        if not stripped or "\n" in stripped or "\r" in stripped:
            continue
        if ":" in stripped and (addressed := file_of_address(stripped)):
            found[addressed] = None
        elif _may_be_path(stripped, role, cwd):
            found.update(dict.fromkeys((stripped, text)))
    return list(found)


def is_message(args: Mapping[str, Any]) -> bool:
    """Whether ``args`` hold content, a message or a query, and no other text but its recipients."""
    roles = {role for _, role in texts_with_roles(args)} - {"key"}
    return "text" in roles and roles <= {"text", "addressee"}


def texts_with_roles(args: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield each string in ``args`` with its role: ``text``, ``program``, ``addressee``, ``key`` or empty."""
    waiting: list[tuple[Any, str, bool]] = [(args, "", False)]
    while waiting:
        value, role, is_inner = waiting.pop()
        if isinstance(value, str):
            yield value, role
        elif isinstance(value, dict):
            for key, item in value.items():
                own = role_of(key) if isinstance(key, str) else None
                own = role if own is None else own
                waiting.append((item, own, True))
                if is_inner and isinstance(key, str) and key.strip("_-") and own in ("", "addressee"):
                    yield key, "key"
        elif isinstance(value, (list, tuple, set, frozenset)):
            waiting.extend((item, role, True) for item in value)
        elif hasattr(value, "__fspath__"):
            yield str(value), role


@cache_by_name(256)  # arguments have few names
def role_of(key: str) -> str | None:
    """Return the role of a text under ``key``; None for that of the value around it."""
    return "" if key in PATH_KEYS else _ROLES.get(key.lower().replace("_", "").replace("-", ""))


def is_flat(args: Mapping[str, Any]) -> bool:
    """Whether each argument is a plain text, number or nothing, under a plain text, as for most tools."""
    return _ATOMS.issuperset(map(type, args.values())) and _TEXTS.issuperset(map(type, args))


def _may_be_path(text: str, role: str, cwd: str) -> bool:
    if text[0] in "/~" or os.path.isabs(text):
        return True
    has_separator = "/" in text or os.sep in text
    if has_separator and (len(text.split(None, 1)) == 1 or text.startswith(_HERE)):
        return not _is_address(text)
    # The name of an argument is seldom that of a file.
    return bool(cwd) and (role != "key" or "." in text) and os.path.lexists(os.path.join(cwd, text))


def _is_address(text: str) -> bool:
    """Whether ``text`` is an address that no program could take for a path to somewhere else."""
    scheme, separator, rest = text.partition("://")
    return bool(separator) and len(scheme) > 1 and scheme.replace("+", "").isalnum() and ".." not in rest.split("/")


def addresses_in(args: Mapping[str, Any], kind: str = "") -> list[str]:
    """Return the addresses under ``ADDRESS_KEYS``; if there are none, those in the ``prompt`` of a fetch."""
    args = opened(args)
    found = [address for key in ADDRESS_KEYS if key in args for address in _paths(args[key])]
    if found or kind != "fetch" or not isinstance(prompt := args.get("prompt"), str):
        return found
    import re

    return [address.rstrip(").,:;!?]}") for address in re.findall(r"https?://[^\s<>\"'`\\]+", prompt, re.IGNORECASE)]


def addressed_files(args: Mapping[str, Any]) -> list[str]:
    """Return the files that the arguments name by ``file:`` addresses where an address is expected."""
    return [path for address in addresses_in(args) if (path := file_of_address(address))]


def file_of_address(address: str) -> str:
    """Return the path of a ``file:`` address, its host dropped; "" for any other text."""
    address = address.lstrip().translate(_NO_BREAKS)
    while address[:12].lower().startswith(("view-source:", "url:")):
        address = address.partition(":")[2]
    if address[:5].lower() != "file:":
        return ""
    from urllib.parse import unquote

    path = address[5:].partition("#")[0].partition("?")[0].replace("\\", "/")
    if path.startswith("//"):
        host, slash, rest = path[2:].partition("/")
        path = f"{host}/{rest}" if host in (".", "..") else slash + rest
    path = unquote(path)
    return path[1:] if path[2:3] == ":" and path[0] == "/" else path  # /C:/Windows


def _paths(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value] if value else []
    if isinstance(value, dict):
        return [path for key in PATH_KEYS for path in _paths(value.get(key))]
    return [path for item in value for path in _paths(item)] if isinstance(value, (list, tuple)) else []
