"""The gate itself: asked before every tool call of every agent, so what is ordinary must pass at a glance.

It is asked last, so that a rule about the call itself gives its own reason where both deny. That takes nothing from it:
as a gate of the machine's it is passed over by nobody, no permission answers its deny, and it sees the final subject.
"""

from __future__ import annotations

import os

from agent_hooks.engine.markers import hookimpl
from agent_hooks.model.outcome import HookOutcome
from agent_hooks.model.tools import PATH_KEYS, possible_paths
from agent_hooks.system.paths import expanded, real_path

from .calls import CallInfo, Runs, ToolName
from .locations import read_text
from .paths import ALL, TABLE, ProtectedPaths, mentions_part, part_of
from .words import NOTABLE, PROJECT_MANAGERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from agent_hooks.model.context import HookContext
    from agent_hooks.model.tool_call import ToolCall

    from .environment import Environment

_LOOKING_KINDS = frozenset(("read", "search", "fetch", "web_search", "subagent"))
_WRITING_KINDS = frozenset(("write", "edit", "delete"))
_WORKDIR_KEYS = ("workdir", "cwd", "working_directory", "directory", "dir_path")

# A longer one cannot be given to a shell, at least on Linux, and would take long to look through.
_MAX_COMMAND = 128 * 1024

# Where words end, and what a shell takes away before it reads them.
_PLAIN = str.maketrans(dict.fromkeys("'\"\\") | dict.fromkeys(";&|(){}`\n\t/=@,[]", " "))

# Options and operators that give code to an interpreter.
_CODE_MARKS = (" -c", " -e", " -r", " -o", "<<", "| ")

# What stands between the names of a path.
_BETWEEN_NAMES = str.maketrans("./-", "___")

_PATH_WORDS = ("path", "file", "folder", "dir", "uri", "dest", "target", "source", "src", "dst")
_WHOLE_KEYS = ("content", "file_text", "fileText", "text", "body", "new_source", "contents")
_PAIRS = (("old_string", "new_string"), ("oldString", "newString"), ("old_str", "new_str"), ("oldText", "newText"))


class Protection:
    """The plugin with the gate.

    ``files``: the absolute paths of all that the trust in a project covers, referenced scripts and modules included.
    ``folders``: those that nothing is written in; by default the user's configuration, where the trust store is, that
    of who manages the machine, and the state. ``further``: more such folders. ``environment``: the one that the gate
    runs from, by default that of this process. ``tables``: by the path of a ``pyproject.toml``, the canonical bytes of
    its table as it was trusted. ``scripts``: those of the files that are in Python. Raises ``SettingsError`` where a
    variable names a folder that is none.
    """

    def __init__(
        self,
        files: Iterable[str] = (),
        folders: Iterable[str] | None = None,
        *,
        further: Iterable[str] = (),
        environment: Environment | None = None,
        tables: Mapping[str, bytes] | None = None,
        scripts: Iterable[str] = (),
    ) -> None:
        if folders is None:
            from agent_hooks.system.folders import config_dirs, managed_dir, state_dir

            folders = (*config_dirs(), managed_dir(), state_dir())
        self.protected = ProtectedPaths((*folders, *further), files, environment, scripts)
        self._tables = dict(tables or {})

    @hookimpl(mode="gate", trylast=True, required=True, on_failure="closed", name="agent_hooks.protection")
    def before_tool_use(self, ctx: HookContext) -> HookOutcome | None:
        """Deny what changes who decides: commands that trust or uninstall, and writes to what a trust covers."""
        call = ctx.tool_call
        if call is None or call.kind in _LOOKING_KINDS:
            return None
        info = CallInfo(ctx.project_dir, ctx.cwd, is_hosted=bool(ctx.host))
        if call.kind in _WRITING_KINDS:
            reason = self._against_files(call, ctx.cwd, info)
        elif call.kind == "shell":
            reason = self._against_runs(call, ToolName(call.name), ctx.cwd, info)
        else:
            reason = self._against_unknown(call, ctx.cwd, info)
        if reason:
            return HookOutcome.deny(reason)
        return HookOutcome.ask(info.questions[0]) if info.questions else None

    # -- commands ----------------------------------------------------------------------------------------------------

    def _against_runs(self, call: ToolCall, name: ToolName, cwd: str, info: CallInfo) -> str:
        runs = Runs(call, name) if len(call.args) > 1 or not call.command else None
        commands = [call.command, *(runs.commands if runs else ())] if not call.file_operations else []
        if reason := self._against_command("\n".join(dict.fromkeys(commands)), call, cwd, info):
            return reason
        return (
            next(filter(None, (self._against_code(code, name, cwd, info) for code in runs.codes)), "") if runs else ""
        )

    def _against_code(self, code: str, name: ToolName, cwd: str, info: CallInfo) -> str:
        if not self._may_matter(code):
            return ""
        # A single name, or path, changes nothing in any language.
        if not name.is_changing and f"_{code.strip()}".translate(_BETWEEN_NAMES).isidentifier():
            return ""
        if len(code) > _MAX_COMMAND:
            from .reasons import for_too_long

            return for_too_long(_MAX_COMMAND // 1024)
        from .code import reason_against_code, without_comments
        from .reading import Reading

        return reason_against_code(Reading(code, cwd, self.protected, info), "python", without_comments(code))

    def _against_command(self, command: str, call: ToolCall, cwd: str, info: CallInfo) -> str:
        if not self._may_matter(command):
            return ""
        if len(command) > _MAX_COMMAND:
            from .reasons import for_too_long

            return for_too_long(_MAX_COMMAND // 1024)
        from .shell import reason_against

        given = (call.args.get(key) for key in _WORKDIR_KEYS)
        place = next((value for value in given if isinstance(value, str) and value), "")
        if call.name == "PowerShell" or os.name == "nt":
            command = command.replace("\\", "/")  # there it is no sign of quoting
        return reason_against(command, os.path.join(cwd, place), self.protected, info)

    def _may_matter(self, command: str) -> bool:
        flat = command.casefold()
        for harmless in ("2>&1", ">/dev/null", "> /dev/null"):
            flat = flat.replace(harmless, "")
        if ">" in flat or "$'" in flat:
            return True
        bare = flat.replace("'", "").replace('"', "").replace("\\", "") if _has_quotes(flat) else flat
        for word in self.protected.words:
            if word in bare:
                return True
        if self.protected.environment_name in bare and any(mark in bare for mark in _CODE_MARKS):
            return True
        words = flat.translate(_PLAIN).split()
        return not NOTABLE.isdisjoint(words) or ("add" in words and not PROJECT_MANAGERS.isdisjoint(words))

    # -- files -------------------------------------------------------------------------------------------------------

    def _against_files(self, call: ToolCall, cwd: str, info: CallInfo, *, takes: bool = False) -> str:
        named = dict.fromkeys((*call.paths, *_further_paths(call.args)))
        for path in (*named, *(path for path in possible_paths(call.args, cwd) if path not in named)):
            part = self.protected.find(path, cwd)
            if part == ALL and not self._is_only_used(call, path, cwd):
                from .reasons import for_file

                return for_file(path)
            if takes or call.kind == "delete":
                if self.protected.holds(path, cwd):
                    from .reasons import for_folder

                    return for_folder(path)
                from .reading import reason_against_taking

                if reason := reason_against_taking(path, cwd, self.protected, info):
                    return reason
            may_change = part and part != ALL and (path in named or _may_write(call, part))
            if may_change and (reason := self._against_part(call, part, path, cwd)):
                return reason
        return ""

    def _against_part(self, call: ToolCall, part: str, path: str, cwd: str) -> str:
        before = read_text(path, cwd)
        try:
            part_of(part, before)
        except ValueError:  # no TOML: there may be a merge with conflicts in it
            trusted = self._tables.get(real_path(os.path.join(cwd, expanded(path))))
            return _against_repair(call, path, before, trusted)
        return _against_part(call, part, path, cwd)

    def _against_unknown(self, call: ToolCall, cwd: str, info: CallInfo) -> str:
        """Judge a tool of which only the name says what it does."""
        name = ToolName(call.name)
        if reason := self._against_runs(call, name, cwd, info):
            return reason
        is_viewing = call.name.rpartition("__")[2].startswith("str_replace") and call.args.get("command") == "view"
        return "" if name.is_reading or is_viewing else self._against_files(call, cwd, info, takes=name.is_taking)

    def _is_only_used(self, call: ToolCall, path: str, cwd: str) -> bool:
        """Whether a tool that does not write names a part of the gate: `run_tests(python=".venv/bin/python")`."""
        if call.kind in _WRITING_KINDS or call.content or ToolName(call.name).is_changing:
            return False
        return self.protected.is_own(path, cwd)


def _may_write(call: ToolCall, part: str) -> bool:
    """Whether a call may write a file that it names under any key: `run_tests(config="pyproject.toml")` reads it."""
    return call.kind in _WRITING_KINDS or bool(call.content) or mentions_part(part, "\n".join(_texts(call.args)))


def _has_quotes(text: str) -> bool:
    return "'" in text or '"' in text or "\\" in text


def _further_paths(value: object, *, is_path: bool = False) -> list[str]:
    """Return the texts under keys that sound like a path's, at any depth."""
    if isinstance(value, str):
        return [value] if is_path and value and "\n" not in value else []
    if isinstance(value, dict):
        return [
            path
            for key, inner in value.items()
            for path in _further_paths(
                inner, is_path=key in PATH_KEYS or any(w in str(key).lower() for w in _PATH_WORDS)
            )
        ]
    return (
        [p for inner in value for p in _further_paths(inner, is_path=is_path)]
        if isinstance(value, (list, tuple))
        else []
    )


# -- files of which a part is protected --------------------------------------------------------------------------------


def _against_part(call: ToolCall, part: str, path: str, cwd: str) -> str:
    from .reasons import for_part

    before = read_text(path, cwd)
    afters = _texts_after(call, path, before)
    try:
        was = part_of(part, before)
        if not afters:
            shown = "\n".join((call.content, *(text for text in _texts(call.args))))
            return for_part(part, path, seen=False) if was or mentions_part(part, shown) else ""
        return for_part(part, path, seen=True) if any(part_of(part, after) != was for after in afters) else ""
    except ValueError:
        return for_part(part, path, seen=False)


def _against_repair(call: ToolCall, path: str, before: str, trusted: bytes | None) -> str:
    """Return why a call may not write a ``pyproject.toml`` that is no TOML: it may, if the file then is TOML, and has
    the table that was trusted. Where none was trusted, and no table can be seen, it has none.
    """
    from agent_hooks.formats.toml import canonical

    from .reasons import for_conflict

    afters = _texts_after(call, path, before)
    if not afters or (trusted is None and mentions_part(TABLE, before)):
        return for_conflict(path)
    try:
        tables = [part_of(TABLE, after) or {} for after in afters]
    except ValueError:
        return for_conflict(path)
    is_restored = all(isinstance(table, dict) and canonical(table) == (trusted or b"") for table in tables)
    return "" if is_restored else for_conflict(path)


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return [text for each in inner for text in _texts(each)]


def _texts_after(call: ToolCall, path: str, before: str) -> list[str]:
    """Return what the file at ``path`` may hold after the call; nothing if that cannot be said.

    Several, where several arguments could be what the tool goes by.
    """
    operations = [operation.kind for operation in call.file_operations if operation.path == path]
    if call.kind == "delete" or operations == ["delete"]:
        return [""]
    if operations and call.name.endswith("apply_patch"):
        from .patches import patched

        made = patched(call, path, before)
        return [] if made is None else [made]
    args = call.args
    found = [args[key] for key in _WHOLE_KEYS if isinstance(args.get(key), str)]
    edits = args.get("edits")
    several = [edit for edit in edits if isinstance(edit, dict)] if isinstance(edits, (list, tuple)) else []
    for changes in ([args], several):
        after = before
        pairs = [(c[o], c[n], c.get("replace_all")) for c in changes for o, n in _PAIRS if o in c and n in c]
        for old, new, everywhere in pairs:
            if not isinstance(old, str) or not isinstance(new, str) or (old and old not in after):
                return []
            after = after.replace(old, new, -1 if everywhere else 1) if old else new + after
        if pairs:
            found.append(after)
    return found
