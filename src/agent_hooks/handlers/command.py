"""The handler type ``command``: a program reads the event from its stdin and answers with its output."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, suppress
from functools import partial

from agent_hooks.engine.calling import in_event_loop
from agent_hooks.errors import HandlerError, RegistrationError, SettingsError, TrustError
from agent_hooks.model.outcome import HookOutcome
from agent_hooks.model.values import FrozenDict, Value
from agent_hooks.system.digests import sha256_hex
from agent_hooks.system.folders import state_dir
from agent_hooks.system.quick_json import dumps

from .handler_type import HandlerType
from .outputs import REFUSED, read_output
from .payload import payload_of
from .processes import MAX_READ, MAX_STDOUT, Finished, in_thread_cancellable, run_process

TYPE_CHECKING = False
if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from pydantic import BaseModel

    from agent_hooks.formats.entry import HookEntry
    from agent_hooks.model.context import HookContext

    from .command_config import CommandConfig

# The variables of this process that a command inherits, beside those with these prefixes and those the user permits.
_ALLOWED = frozenset(
    """
    PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TMPDIR TEMP TMP TERM
    SYSTEMROOT COMSPEC PATHEXT WINDIR APPDATA LOCALAPPDATA
    """.split()
)
_ALLOWED_BEGINNINGS = ("LC_", "AGENT_HOOKS_")
# A variable of more than 128 KiB keeps a program from starting on Linux.
_MAX_VARIABLE = 96 * 1024
_DEPTH = "AGENT_HOOKS_DEPTH"
_MAX_DEPTH = 3


class CommandFields(Value):
    """The fields of a ``CommandConfig`` that the handler needs; only those that the file has are set.

    ``python``: the result of ``python_variables``, if another process has found it.
    """

    command: str | list[str]
    args: list[str] | None = None
    timeout: float = 60.0
    shell: str | None = None
    cwd: str | None = None
    env: Mapping[str, str] = FrozenDict()
    safe_path: bool = True


class CommandHandler(HandlerType):
    """Runs a command for each event."""

    @property
    def config(self) -> type[BaseModel]:  # type: ignore[override]  # imported when a file is read
        """The model of its fields."""
        from .command_config import CommandConfig

        return CommandConfig

    def bind(self, config: CommandConfig, entry: HookEntry) -> Callable[[HookContext], Any]:
        """Return the hook of one entry. Raises ``RegistrationError`` for fields that its file may not set."""
        fields = CommandFields(**config.model_dump(include={*CommandFields._known}, exclude_unset=True))
        is_users = entry.form == "toml" and entry.source in ("user", "managed")
        if fields.env and not is_users:
            raise RegistrationError("'env' is for TOML of the user or the machine; put it into the command")
        if "safe_path" in fields._fields and not is_users:
            raise RegistrationError("'safe_path' is for TOML of the user or the machine; leave it out")
        if fields.cwd and entry.form != "toml":
            raise RegistrationError("'cwd' is for TOML; change the directory in the command")
        answer = _CommandHook(fields, entry).answer
        return lambda ctx: in_thread_cancellable(partial(answer, ctx)) if in_event_loop() else answer(ctx)


class _CommandHook:
    """The command of one entry."""

    def __init__(self, config: CommandFields, entry: HookEntry) -> None:
        self.config = config
        self.entry = entry
        # Resolved now, so that no file that appears later takes the place of the trusted script.
        self.skill_folder = _folder_of_skill(entry) if entry.form == "skill" else ""
        self.is_trusted = entry.source in ("project", "skill")
        self.python = self._trusted_python() if self.is_trusted else None

    def _trusted_python(self) -> dict[str, str]:
        """Return the variables of Python for a trusted command, whose files are as they are now."""
        entry = self.entry
        python = dict(_python_variables(entry))
        if sum(path.endswith(".py") and bool(entry.scripts[path]) for path in entry.scripts) > 1:
            # Python would run compiled modules that anybody put beside the trusted sources. Agents cannot write there.
            python["PYTHONPYCACHEPREFIX"] = os.devnull
            with suppress(SettingsError):  # without a folder for it, none are kept
                python["PYTHONPYCACHEPREFIX"] = os.path.join(state_dir(), "python-cache")
        return python

    def answer(self, ctx: HookContext, cancelled: threading.Event | None = None) -> HookOutcome | None:
        """Run the command and return its outcome, None for no opinion."""
        entry, directory = self.entry, self.directory(ctx)
        payload = dumps(payload_of(entry, ctx))
        folders = _folders(entry, ctx)
        environment = self.environment(folders, payload)
        try:
            with self.program(folders, _checked_scripts(entry), directory) as (argv, descriptors):
                finished = run_process(
                    argv,
                    input=payload.encode() + b"\n",
                    env=environment,
                    cwd=directory,
                    timeout=self.config.timeout,
                    descriptors=descriptors,
                    cancelled=cancelled,
                )
            _checked_scripts(entry)
        except TrustError as error:
            # A changed script denies in every format: writing a gate's script must not switch it off.
            if "deny" not in ctx.event.decisions and not ctx.event.reads_deny_as:
                raise
            return HookOutcome.deny(f"The hook {entry.origin} was not asked: {error}")
        _check_end(finished, self.config)
        if entry.is_async:
            return None
        return read_output(entry, ctx, finished.exit_code, finished.stdout, finished.stderr)

    @contextmanager
    def program(
        self, folders: Mapping[str, str], scripts: Mapping[str, bytes], directory: str | None
    ) -> Iterator[tuple[Sequence[str], tuple[int, ...]]]:
        """Yield the argv and its descriptors: the script as trusted bytes where possible, else by path."""
        argv = direct = _argv(self.config, folders)
        if not scripts:
            yield argv, ()
            return
        from .interpreters import plain_words, with_script_bytes

        if isinstance(self.config.command, str) and self.config.args is None:
            direct = (plain_words(argv[-1], folders) or []) if argv[-2] == "-c" else []
        with with_script_bytes(direct, scripts if direct else {}, directory) as (made, descriptors):
            yield made if descriptors else argv, descriptors

    def directory(self, ctx: HookContext) -> str | None:
        """Return the command's working directory, None for that of this process.

        A project's command runs where its trusted files were looked for, wherever the agent is by now.
        """
        entry = self.entry
        here = ctx.cwd if os.path.isdir(ctx.cwd) else ""
        if self.config.cwd:
            return os.path.join(entry.directory, os.path.expanduser(self.config.cwd))
        if entry.form == "claude" and entry.source != "project":
            return here or entry.project_dir or None
        if entry.form != "toml":
            return self.skill_folder or entry.project_dir or entry.directory or here or None
        return (entry.directory if entry.source == "project" else "") or here or None

    def environment(self, folders: Mapping[str, str], payload: str) -> dict[str, str]:
        """Return the environment. Raises ``HandlerError`` for a command within too many others."""
        permitted = _ALLOWED.union(self.entry.permits.env)
        environment = {
            name: value
            for name, value in os.environ.items()
            if name in permitted or name.startswith(_ALLOWED_BEGINNINGS)
        }
        depth = environment.get(_DEPTH, "0")
        deeper = int(depth) + 1 if depth.isdecimal() else 1
        if deeper > _MAX_DEPTH:
            raise HandlerError(f"hooks call each other: this would be a hook's command within {_MAX_DEPTH} others")
        # `python -c` would import modules that an agent wrote to its working directory before Python's own.
        python = self.python
        if python is None:
            python = _python_variables(self.entry)
        is_safe = self.is_trusted or self.config.safe_path
        environment |= {**(python if is_safe else {}), **self.config.env, **folders, _DEPTH: str(deeper)}
        fits = len(payload) <= _MAX_VARIABLE
        return {**environment, **({"HOOK_INPUT": payload} if fits else {"HOOK_INPUT_TRUNCATED": "1"})}


def _checked_scripts(entry: HookEntry) -> dict[str, bytes]:
    if not entry.scripts:
        return {}
    from agent_hooks.trust.scripts import check_scripts

    return check_scripts(entry)


def _python_variables(entry: HookEntry) -> dict[str, str]:
    from agent_hooks.trust.scripts import python_variables

    return python_variables(entry)


def _check_end(finished: Finished, config: CommandFields) -> None:
    problem, _, detail = finished.problem.partition(": ")
    if not problem:
        if finished.is_cut and finished.exit_code != REFUSED:
            raise HandlerError(f"its command printed more than {MAX_STDOUT // 1024} KiB")
        return
    messages = {
        "not started": f"its command could not be started: {detail}",
        "late": f"its command did not end within {config.timeout:g} s, and was killed",
        "flooded": f"its command printed more than {MAX_READ // 1024**2} MiB, and was killed",
        "cancelled": "its command was cancelled",
        "lost": "the exit code of its command was taken by another part of this process, which waits for any child",
    }
    cause = TimeoutError() if problem == "late" else None
    raise HandlerError(messages.get(problem, f"its command was ended by {finished.problem}")) from cause


def _argv(config: CommandFields, folders: Mapping[str, str]) -> list[str]:
    """Return the program and its arguments. They never contain parts of an event."""
    if isinstance(config.command, list):
        return [_with_folders(each, folders) for each in config.command]
    if config.args is not None:
        return [_with_folders(each, folders) for each in (config.command, *config.args)]
    shell = config.shell
    if shell is None and sys.platform == "win32":
        from shutil import which

        shell = "bash" if which("bash") else "powershell"
    if shell == "powershell":
        command = config.command
        for name in folders:
            command = command.replace(f"${{{name}}}", f"${{env:{name}}}")
        program = "powershell" if sys.platform == "win32" else "pwsh"
        return [program, "-NoProfile", "-NonInteractive", "-Command", command]
    return ["bash" if shell == "bash" else "/bin/sh", "-c", config.command]


def _with_folders(argument: str, folders: Mapping[str, str]) -> str:
    for name, folder in folders.items():
        argument = argument.replace(f"${{{name}}}", folder)
    return argument


def _folders(entry: HookEntry, ctx: HookContext) -> dict[str, str]:
    """Return the folders that a command may refer to, by the names that Claude Code has for them."""
    folders = {"CLAUDE_PROJECT_DIR": entry.project_dir or ctx.project_dir or ctx.cwd or os.getcwd()}
    if entry.plugin_root:
        folders["CLAUDE_PLUGIN_ROOT"] = entry.plugin_root
        folders["CLAUDE_PLUGIN_DATA"] = _plugin_data(entry.plugin_root)
    return folders


def _plugin_data(plugin_root: str) -> str:
    """Return the data folder of a Claude Code plugin, one for each installation folder."""
    digest = sha256_hex(plugin_root.encode("utf-8", "surrogateescape"))[:12]
    try:
        folder = os.path.join(state_dir(), "plugin-data", f"{os.path.basename(plugin_root.rstrip(os.sep))}-{digest}")
        os.makedirs(folder, mode=0o700, exist_ok=True)
    except (OSError, SettingsError) as error:
        raise HandlerError(f"there is no place for the data of the plugin {plugin_root}: {error}") from error
    return folder


def _folder_of_skill(entry: HookEntry) -> str:
    """Return the folder in which a skill's command runs, an empty string if there is none any more.

    It is the skill's own, or the project's if only the project has a file that the command names. Where files were
    trusted, only these count: one that appears later never takes the place of a trusted one. Agents have no folder of
    their own, so the project's is tried first.
    """
    folders = [entry.directory, entry.project_dir]
    if os.path.basename(entry.directory) == "agents":
        folders.reverse()
    folders = [folder for folder in dict.fromkeys(folders) if os.path.isdir(folder)]
    from agent_hooks.trust.scripts import HookCommand

    for folder in folders:
        named = HookCommand(entry.replace(directory=folder, project_dir=folder)).scripts()
        below = {path for path in named if path.startswith(os.path.join(folder, ""))}
        if below.intersection(entry.scripts) if entry.scripts else below:
            return folder
    return folders[0] if folders else ""
