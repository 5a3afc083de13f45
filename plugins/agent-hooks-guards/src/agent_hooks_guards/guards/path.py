"""The path guard: which files a tool may read, and which it may write or delete."""

from __future__ import annotations

import os
from fnmatch import fnmatchcase

from agent_hooks.model.tools import ADDRESS_KEYS, FILE_KINDS, addressed_files, file_of_address, paths_in, possible_paths
from agent_hooks.system.paths import expanded
from agent_hooks_guards.model.values import UNKNOWN
from agent_hooks_guards.places.kinds import is_settings_secret, kinds
from agent_hooks_guards.places.links import folders_of, linked_kinds, real_path
from agent_hooks_guards.places.paths import Place, absolute

from .base import Guard, check_choice
from .calls import analyses_of, commands_of, takes_files
from .objection import LEVELS, Objection, object_to, worst
from .secret_scan import without_secrets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent_hooks import HookContext, ToolCall
    from agent_hooks_guards.model.actions import Effect

# More operations than anybody asks for in one call.
MAX_OPERATIONS = 1000
# Linux takes 4,096 bytes.
MAX_LENGTH = 32_768  # characters
# By the kind of an effect.
OPERATIONS = {"read": "read", "write": "write", "change": "write", "delete": "delete"}
# Of a tool that moves files: the keys of their new paths.
_KEPT_KEYS = ("destination", "destination_path", "dst", "dest", "to", "new_path", "newPath")
# Files in `.git` that people write.
_GIT_NOTES = ("/.git/info/exclude", "/.git/commit_editmsg", "/.git/merge_msg", "/.git/description")
# Files that say who may log in, beside those of the system.
_LOGINS = ("/authorized_keys", "/authorized_keys2", "/.rhosts", "/.shosts")
_SHOWN = 100  # characters of each end of a path
# By kind of place, in this order: the objection to writing there.
_PROTECTED = {
    "device": "path-device",
    "accounts": "path-accounts",
    "agent": "path-agent",
    "startup": "path-startup",
    "git": "path-git",
    "kernel": "path-system-kernel",
    "system": "path-system",
}


class PathGuard(Guard):
    """Judges what tools do to files, by the path as it is written and with symbolic links resolved: both must pass.
    Shell commands are not judged here.

    At ``standard``, reading keys and credentials is denied, and reading project settings that may be secret (``.env``)
    is asked; writing, editing and deleting is denied for keys, files that run by themselves, the inside of ``.git``,
    the configuration of hooks and agents, accounts, the system and devices, and asked for secret project settings
    and outside of the workspace and temporary folders. ``relaxed`` asks nothing; ``strict`` also asks about reading
    outside of the workspace. For a tool of unknown kind (``mcp``, ``other``), only the names in its paths count.

    ``workspace``: its folder, by default the event's project, else its working directory. ``allow_read``,
    ``allow_write``: files and folders that pass; ``deny_read``, ``protect``: those that are neither read nor written,
    or not written, whatever is allowed. All are absolute, from ``~``, or relative to the workspace; ``*`` is any part
    of a name and ``**`` any folders; a folder stands for everything in it. At the level ``off`` only ``protect`` and
    ``deny_read`` count. Raises ``RegistrationError`` for an invalid level.
    """

    def __init__(
        self,
        level: str = "standard",
        *,
        workspace: str | None = None,
        allow_read: Iterable[str] = (),
        allow_write: Iterable[str] = (),
        protect: Iterable[str] = (),
        deny_read: Iterable[str] = (),
    ) -> None:
        self._level = check_choice("level", level, ("off", *LEVELS))
        self._workspace = workspace
        self._allow_read = tuple(allow_read)
        self._allow_write = tuple(allow_write)
        self._deny_read = tuple(deny_read)
        self._protect = (*protect, *self._deny_read)

    def objections(self, ctx: HookContext, call: ToolCall) -> Iterator[Objection]:
        """Yield the objections to what ``call`` does to files."""
        cwd = workspace = ""
        for count, (operation, path) in enumerate(_operations(call, ctx.cwd)):
            if count == MAX_OPERATIONS:
                yield object_to("path-too-many", count=MAX_OPERATIONS)
                return
            if len(path) > MAX_LENGTH:
                yield object_to("path-unreadable-length", path=_short(path), length=f"{len(path):,}")
                continue
            if not cwd:
                cwd, project = folders_of(ctx, os.path.expanduser("~"))
                workspace = self._workspace or project
            found = self.objection(operation, path, cwd, workspace)
            if found is not None:
                yield found

    def may_read(self, path: str, place: Place) -> bool:
        """Return whether ``allow_read`` names ``path``, which is wholly known."""
        return UNKNOWN not in path and _is_one_of(path, self._allow_read, place)

    def effect_objection(self, effect: Effect, place: Place, path: str = "") -> Objection | None:
        """Return the objection to a command's ``effect`` on a file, by ``protect`` and ``deny_read`` alone.

        ``path``: the file, if the effect names it by a glob.
        """
        operation = OPERATIONS.get(effect.kind)
        if operation is None or effect.command.host or not self._protect:
            return None
        path = path or effect.path
        denied = self._deny_read if operation == "read" else self._protect
        if not _is_one_of(path, denied, place) and not (effect.recursive and _holds_one_of(path, denied, place)):
            return None
        return _protected(path, is_read=operation == "read")

    def objection(self, operation: str, path: str, cwd: str, workspace: str) -> Objection | None:
        """Return the objection to doing ``operation`` to ``path``: ``read``, ``search`` (read everything below),
        ``list`` (read names), ``write``, ``edit``, ``delete``, or ``use`` if it is not known. ``cwd`` and ``workspace``
        are absolute.
        """
        if "\0" in path:
            return object_to("path-nul")
        try:
            os.fsencode(path)
        except UnicodeEncodeError:
            return object_to("path-unreadable", path=_short(ascii(path)))
        home = os.path.expanduser("~")
        home = home if home[:1] != "~" else ""
        forms = list(_forms(operation, path, cwd, home, workspace))
        if "null" in kinds(*forms[0]):  # a stream may be a link to anything today
            return None
        return worst(self._judge_form(operation, form, place, path) for form, place in forms)

    def _judge_form(self, operation: str, form: str, place: Place, path: str) -> Objection | None:
        is_read = operation in ("read", "search", "list")
        denied, allowed = (self._deny_read, self._allow_read) if is_read else (self._protect, self._allow_write)
        if _is_one_of(form, denied, place):
            return _protected(path, is_read=is_read)
        if self._level == "off" or _is_one_of(form, allowed, place):
            return None
        found = linked_kinds(form, place)
        key = (_reading_objection if is_read else _writing_objection)(operation, form, found)
        if not key and operation != "use" and "outside" in found and found.isdisjoint(("workspace", "project")):
            key = "path-outside-write" if not is_read else "path-outside-read" if self._level == "strict" else ""
        if not key:
            return None
        # `path-secret` and `path-settings` are rules of their own for reading, writing and use.
        verb = "read" if is_read else "use" if operation == "use" else "write"
        rule = f"{key}-{verb}" if key in ("path-secret", "path-settings") else ""
        # The argument of an unknown tool need not even be a path.
        decision = "ask" if operation == "use" and not rule else ""
        allow = "allow_read" if is_read else "allow_write"
        objection = object_to(key, decision=decision, rule=rule, path=_shown(path, form), key=allow)
        if key != "path-agent" and _short(form) == form and frozenset("'*?[").isdisjoint(form):
            objection.setting = f"[guards.paths]\n{allow} = ['{form}']"
        return None if objection.decision == "ask" and self._level == "relaxed" else objection


def write_objections(ctx: HookContext, call: ToolCall, path: str) -> Iterator[Objection]:
    """Yield the objections to a call that changes or deletes the file ``path``, by its arguments or its command."""
    guard = PathGuard("off", protect=[path, real_path(path)])
    yield from guard.objections(ctx, call)
    for analysis, place in analyses_of(ctx, call, commands_of(call)):
        for effect in analysis.effects:
            found = guard.effect_objection(effect, place, path if _glob_names(effect.path, path) else "")
            if found is not None:
                yield found


def _protected(path: str, *, is_read: bool) -> Objection:
    return object_to("path-protected", path=_short(path), verb="read" if is_read else "changed")


def _reading_objection(operation: str, form: str, found: frozenset[str]) -> str:
    if operation == "list":
        return ""
    if "secret" in found:
        return _secret_objection(form, found)
    if "device" in found:
        return "path-device-read"
    return "path-search-home" if operation == "search" and not found.isdisjoint(("root", "home")) else ""


def _writing_objection(operation: str, form: str, found: frozenset[str]) -> str:
    if operation == "delete" and not found.isdisjoint(("root", "home", "project")):
        return "path-delete-all"
    if "secret" in found:
        return _secret_objection(form, found)
    for kind, key in _PROTECTED.items():
        if kind not in found or (kind == "git" and form.casefold().endswith(_GIT_NOTES)):
            continue
        if kind == "system" and operation == "use":  # `/users` may be part of an address
            return ""
        return "path-accounts" if kind == "startup" and form.casefold().endswith(_LOGINS) else key
    return ""


def _secret_objection(form: str, found: frozenset[str]) -> str:
    is_of_project = is_settings_secret(form) and not found.isdisjoint(("workspace", "temp"))
    return "path-settings" if is_of_project else "path-secret"


def _operations(call: ToolCall, cwd: str) -> Iterator[tuple[str, str]]:
    """Yield the operations of a call on files, each with its path: also those on strings that may be paths."""
    operations = call.file_operations
    further = possible_paths(call.args, cwd) if call.kind != "shell" else []
    if call.kind == "search":
        name = call.name.lower()
        # Names of files alone give nothing away.
        operation = "list" if any(word in name for word in ("glob", "list", "find")) or name == "ls" else "search"
        yield from ((operation, path) for path in (*(each.path for each in operations), *further))
    elif operations or call.kind in FILE_KINDS:
        paths = {each.path for each in operations}
        yield from ((each.kind, each.path) for each in operations)
        other = call.kind if call.kind in FILE_KINDS else "use"
        yield from ((other, path) for path in further if path not in paths)
    else:
        # An address is read from, whatever the tool does with other paths.
        addressed = addressed_files(call.args)
        yield from (("read", path) for path in addressed)
        given = {key: value for key, value in call.args.items() if key not in ADDRESS_KEYS}
        if takes_files(call.name):
            kept = {key: given.pop(key) for key in _KEPT_KEYS if key in given}
            for operation, some in (("write", kept), ("delete", given)):
                yield from ((operation, path) for path in (*paths_in(call.name, some), *possible_paths(some, cwd)))
        further = [*possible_paths(given, cwd), *(path for path in further if path not in addressed)]
        for path in dict.fromkeys((*paths_in(call.name, given), *further)):
            if found := file_of_address(path):
                yield "read", found
            yield "use", path


def _forms(operation: str, path: str, cwd: str, home: str, workspace: str) -> Iterator[tuple[str, Place]]:
    """Yield the forms of ``path`` that must pass, each with its place: as written, and with links resolved."""
    yield absolute(path, cwd, home), Place(absolute(cwd, "/", home), home, absolute(workspace, cwd, home))
    given = os.path.join(cwd, expanded(path))
    folder, name = os.path.split(given)
    if operation == "delete" and name not in ("", ".", ".."):  # deletes a link, not its target
        real = os.path.join(real_path(folder), name)
    else:
        real = real_path(given)
    yield real, Place(real_path(cwd), real_path(home) if home else "", real_path(workspace))


def _is_one_of(path: str, patterns: tuple[str, ...], place: Place) -> bool:
    """Return whether one of the patterns names ``path`` or a folder above it."""
    if not patterns:
        return False
    segments = path.split("/")
    return any(_matches_start(absolute(each, place.project, place.home).split("/"), segments) for each in patterns)


def _glob_names(pattern: str, path: str) -> bool:
    """Return whether ``pattern``, a glob of a shell or of ``find``, matches ``path``."""
    pattern = pattern.replace(f"/{UNKNOWN}/", "/**/")
    if UNKNOWN in pattern or frozenset("*?[").isdisjoint(pattern):
        return False
    segments = path.split("/")
    return _matches_start(pattern.split("/"), segments) and fnmatchcase(segments[-1], pattern.rpartition("/")[2])


def _holds_one_of(path: str, patterns: tuple[str, ...], place: Place) -> bool:
    """Return whether ``path`` holds what one of the patterns names, as far as the start of the pattern shows."""
    folder = path.rstrip("/") + "/"
    return any(absolute(pattern, place.project, place.home).startswith(folder) for pattern in patterns)


def _matches_start(pattern: list[str], segments: list[str]) -> bool:
    """Return whether ``pattern`` matches the first of ``segments``."""
    # The numbers of segments that the pattern so far may have matched.
    counts = {0}
    for part in pattern:
        if part == "**" and counts:
            counts = set(range(min(counts), len(segments) + 1))
        else:
            counts = {at + 1 for at in counts if at < len(segments) and fnmatchcase(segments[at], part)}
    return bool(counts)


def _shown(path: str, form: str) -> str:
    """Return the path as given, and in brackets its real one where that adds something."""
    return _short(path) if form.endswith(path.lstrip("./~")) else f"{_short(path)} ({_short(form)})"


def _short(path: str) -> str:
    """Return a printable path, a long one by its ends."""
    written = without_secrets(path if path.isprintable() else ascii(path))  # before cutting, which leaves half of one
    return written if len(written) <= 2 * _SHOWN else f"{written[:_SHOWN]}…{written[-_SHOWN:]}"
