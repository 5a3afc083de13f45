"""The gate itself: asked before every tool call of every agent, so ordinary calls must pass at a glance.

It is asked last, so that a rule about the call itself gives its own reason where both deny. That takes nothing from it:
it ranks as the machine's gate, no permission answers its deny, and it sees the final subject.
"""

from __future__ import annotations

import os

from agent_hooks.engine.markers import hookimpl
from agent_hooks.model.outcome import HookOutcome
from agent_hooks.model.tools import WORKDIR_KEYS, possible_paths
from agent_hooks.shell.programs import CHANGING, INTERPRETERS, MOUNTING, PROJECT_MANAGERS
from agent_hooks.system.paths import expanded, real_path

from .calls import CallInfo, ToolName, paths_under_keys, runs_of, says_nothing, tool_name
from .environment import Environment
from .paths import ProtectedPaths
from .reasons import ALL, denial
from .wiring import FILES, HOSTS, reason_against_taking

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from agent_hooks.model.context import HookContext
    from agent_hooks.model.tool_call import ToolCall


_LOOKING_KINDS = frozenset(("read", "search", "fetch", "web_search", "subagent"))
_WRITING_KINDS = frozenset(("write", "edit", "delete"))
_UNKNOWN_KINDS = frozenset(("mcp", "other"))
# A longer one cannot be given to a shell, at least on Linux, and would take long to look through.
_MAX_COMMAND = 128 * 1024
_WITHOUT_QUOTES = str.maketrans(dict.fromkeys("'\"\\"))
_BETWEEN_WORDS = str.maketrans(dict.fromkeys("'\"\\") | dict.fromkeys(";&|(){}`\n\t/=@,[]", " "))
_BETWEEN_NAMES = str.maketrans("./-", "___")
# Options and operators that give code to an interpreter.
_CODE_MARKS = (" -c", " -e", " -r", " -o", "<<", "| ")
# A command without any of these words, a redirection or a protected name changes nothing of ours.
_NOTABLE = (
    CHANGING
    | MOUNTING
    | HOSTS.keys()
    | frozenset(
        """
    sed wget curl aria2c apply am -delete clone uninstall remove purge autoremove prune uninstall-all -mvenv venv
    virtualenv pipenv conda mamba micromamba clean reset powershell pwsh set-environment setenv --install-extension
    --add-mcp --extensiondevelopmentpath --extensions-dir --user-data-dir mise -fprint -fprint0 -fprintf -fls psql
    """.split()
    )
)
# Folders with a host's hooks, by their last names; "code" alone is in too many texts.
_HOST_FOLDERS = ("code/user", *(name for name in FILES if name != "code"))


class Protection:
    """The plugin with the gate.

    ``files``: the absolute paths of all that the trust in a project covers, referenced scripts and modules included.
    ``folders``: those that nothing is written in; by default the user's configuration, where the trust store is, the
    machine's, the state and the warm process's socket. ``further``: more such folders.
    ``environment``: the one that the gate runs from, by default that of this process. ``tables``: by the path of a
    ``pyproject.toml``, the canonical bytes of its table as it was trusted. ``scripts``: those of the files that are in
    Python. ``project``: whose own sources are no parts of the gate, though it may run from them. Raises
    ``SettingsError`` where a variable names a folder that is none.
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
        project: str = "",
    ) -> None:
        if folders is None:
            from agent_hooks.system.folders import config_dirs, managed_dir, state_dir
            from agent_hooks.system.sockets import socket_folder

            folders = (*config_dirs(), managed_dir(), state_dir())
            if socket := socket_folder():
                folders = (*folders, os.path.dirname(socket))
        environment = environment or Environment(project=project)
        self.protected = ProtectedPaths((*folders, *further), files, environment, scripts)
        self._tables = dict(tables or {})

    @hookimpl(mode="gate", trylast=True, required=True, on_failure="closed", name="agent_hooks.protection")
    def before_tool_use(self, ctx: HookContext) -> HookOutcome | None:
        """Deny commands that trust or uninstall, and writes to the files that a trust covers."""
        call = ctx.tool_call
        if call is None or call.kind in _LOOKING_KINDS:
            return None
        if call.kind in _UNKNOWN_KINDS and says_nothing(call) and not possible_paths(call.args, ctx.cwd):
            return None
        info = CallInfo(ctx.project_dir, ctx.cwd, is_hosted=bool(ctx.host))
        if call.kind in _WRITING_KINDS:
            reason = self._against_files(call, ctx.cwd, info)
        elif call.kind == "shell":
            reason = self._against_runs(call, tool_name(call.name), ctx.cwd, info)
        else:
            reason = self._against_unknown(call, ctx.cwd, info)
        if reason:
            return HookOutcome.deny(reason)
        return HookOutcome.ask(info.questions[0]) if info.questions else None

    # -- commands ----------------------------------------------------------------------------------------------------

    def _against_runs(self, call: ToolCall, name: ToolName, cwd: str, info: CallInfo) -> str:
        commands, codes = runs_of(call, name) if len(call.args) > 1 or not call.command else ([], [])
        command = "\n".join(dict.fromkeys((call.command, *commands))) if not call.file_operations else ""
        given = (call.args.get(key) for key in WORKDIR_KEYS)
        cwd = os.path.join(cwd, expanded(next((value for value in given if isinstance(value, str) and value), "")))
        notable = [text for text in (command, *codes) if text and self._may_matter(text, cwd, is_code=text in codes)]
        if any(len(text) > _MAX_COMMAND for text in notable):
            return denial("long")
        reason = self._against_command(command, call, cwd, info) if command in notable else ""
        return reason or next(filter(None, (self._against_code(code, name, cwd, info) for code in codes)), "")

    def _against_code(self, code: str, name: ToolName, cwd: str, info: CallInfo) -> str:
        # A single name, or path, changes nothing in any language.
        is_name = f"_{code.strip()}".translate(_BETWEEN_NAMES).isidentifier()
        if not self._may_matter(code, cwd, is_code=True) or (is_name and not name.is_changing):
            return ""
        if is_name:
            return denial("file", code) if self.protected.find(code, cwd) == ALL else ""
        from .code import reason_against_code, without_comments
        from .shell import Judging

        return reason_against_code(Judging(code, cwd, self.protected, info), "python", without_comments(code))

    def _against_command(self, command: str, call: ToolCall, cwd: str, info: CallInfo) -> str:
        from .shell import reason_against

        if call.name == "PowerShell" or os.name == "nt":
            command = command.replace("\\", "/")  # there it is no sign of quoting
        return reason_against(command, cwd, self.protected, info)

    def _may_matter(self, command: str, cwd: str, *, is_code: bool = False) -> bool:
        """Whether ``command`` can be anything to protect from; most are decided here, at a glance."""
        flat = command.casefold()
        for harmless in ("2>&1", ">/dev/null", "> /dev/null"):
            flat = flat.replace(harmless, "")
        if ">" in flat or "$'" in flat:
            return True
        bare = flat.translate(_WITHOUT_QUOTES)
        if any(map(bare.__contains__, self.protected.words)):
            return True
        if self.protected.environment_name in bare and any(mark in bare for mark in _CODE_MARKS):
            return True
        if is_code or any(map(bare.__contains__, INTERPRETERS)):  # it need not name the files beside it
            around = "/".join([bare, *real_path(cwd).casefold().replace("\\", "/").split("/")[-2:]])
            if any(map(around.__contains__, (*self.protected.words, *_HOST_FOLDERS))):
                return True
        words = flat.translate(_BETWEEN_WORDS).split()
        return not _NOTABLE.isdisjoint(words) or ("add" in words and not PROJECT_MANAGERS.isdisjoint(words))

    # -- files -------------------------------------------------------------------------------------------------------

    def _against_files(self, call: ToolCall, cwd: str, info: CallInfo, *, takes: bool = False) -> str:
        named = dict.fromkeys((*call.paths, *paths_under_keys(call.args)))
        paths = dict.fromkeys((*named, *possible_paths(call.args, cwd)))
        writes = bool(paths) and (call.kind in _WRITING_KINDS or bool(call.content))
        for path in paths:
            part = self.protected.find(path, cwd)
            # Another tool may name a part of the gate to use it: `run_tests(python=".venv/bin/python")`.
            is_used = not writes and not tool_name(call.name).is_changing and self.protected.is_own(path, cwd)
            if part == ALL and not is_used:
                return denial("file", path)
            if takes or call.kind == "delete":
                if self.protected.holds(path, cwd):
                    return denial("folder", path)
                if reason := reason_against_taking(path, cwd, self.protected, info):
                    return reason
            if not part or part == ALL:
                continue
            from .parts import mentions_part, reason_against_part, text_of

            # `run_tests(config="pyproject.toml")` reads it.
            if path in named or writes or mentions_part(part, text_of(call)):
                trusted = self._tables.get(real_path(os.path.join(cwd, expanded(path))))
                if reason := reason_against_part(call, part, path, cwd, trusted):
                    return reason
        return ""

    def _against_unknown(self, call: ToolCall, cwd: str, info: CallInfo) -> str:
        """Judge a tool of an unknown kind by its name."""
        name = tool_name(call.name)
        reason = self._against_runs(call, name, cwd, info)
        is_viewing = call.args.get("command") == "view" and call.name.rpartition("__")[2].startswith("str_replace")
        if reason or name.is_reading or is_viewing:
            return reason
        return self._against_files(call, cwd, info, takes=name.is_taking)
