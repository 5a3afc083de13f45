"""The files that the command of a hook runs. Trust in the command pins them.

Pinned is every regular file of the project that a command names literally, unless the command only reads, writes or
prints it. A Python script also pins the modules that it imports from its own folder, a shell script the files that it
sources. An entry adds files by ``scripts`` and removes files by ``ignore``.
"""

from __future__ import annotations

import os
import re
import sys
from hashlib import sha256

from agent_hooks.errors import SettingsError, TrustError
from agent_hooks.formats.findings import ConfigFinding

from .command_programs import (
    Interpreted,
    grows,
    handled_arguments,
    is_data,
    is_interpreter,
    is_python,
    modules_of,
    run_files,
    runs_input,
    unseen_task,
    written_files,
)
from .command_words import MAX_LENGTH, TOP, Argument, CommandWords
from .neighbours import imported_beside
from .script_files import (
    SYSTEM_FOLDERS,
    content_of,
    imported_names,
    is_pythons_own,
    is_systems,
    language_of,
    paths_of,
    python_code_in,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

    from agent_hooks.formats.entry import HookEntry


_MAX_FOREIGN_SCRIPT = 1024 * 1024
_MAX_FOLDERS = 20
_MAX_SHOWN = 100
_VARIABLE = re.compile(r"\$\{(\w+)\}|\$(\w+)", re.ASCII)
# File names in code and in command lines within arguments.
_TOKEN = re.compile(r"[\w./~@%+:,-]+")
# Code that runs another program, or other code.
_RUNS_MORE = re.compile(
    r"\b(exec\w*|eval|system2?|popen|Popen|\w*spawn\w*|subprocess|child_process|importlib|__import__|runpy)\b|\bqx\b|%x"
)
_MAIN = ("__main__.py", "index.js")  # the files that an interpreter runs when its argument is a folder
_WRITE_OUT = 'Name the script itself, as "$CLAUDE_PROJECT_DIR"/…, or live with it: put the id of this into `ignore`.'
_PUT_THERE = "Correct the path, or put the file there."
_OWN_SCRIPT = "Put the code into a script of its own, and run that alone."


def check_scripts(entry: HookEntry) -> dict[str, bytes]:
    """Compare the files of a command with their trusted digests and return their contents by path.

    Raises ``TrustError`` if a file differs.
    """
    contents = {}
    for path, trusted in entry.scripts.items():
        if not trusted:
            if os.path.exists(path) and path not in HookCommand(entry).written:
                raise TrustError(f"{path} was not there when its command was trusted; see `agent-hooks trust --diff`")
            continue
        try:
            content = content_of(path)
        except OSError as error:
            raise TrustError(f"{path}, which was trusted, cannot be read: {error.strerror}") from error
        if content is None or sha256(content).hexdigest() != trusted:
            raise TrustError(f"{path} has changed since it was trusted; see `agent-hooks trust --diff`")
        contents[path] = content
    read = lambda path: contents.get(path) or content_of(path) or b""  # noqa: E731
    for path, code in (HookCommand(entry).needed_files(read) if contents else {}).items():
        if code is not None and path not in entry.scripts:
            raise TrustError(f"{path} was not there when its command was trusted; see `agent-hooks trust --diff`")
    return contents


def python_variables(entry: HookEntry) -> dict[str, str]:
    """Return the environment variables that stop Python code of an entry from importing modules of the working
    directory.

    There are none for a project's entry with code that needs such modules, and none for a user's entry without code.
    Code comes from ``-c``, ``-m`` or stdin, of the command or of a script that it runs. Scripts that the command runs
    as well keep the folder that they import from.
    """
    try:
        command = HookCommand(entry)
        if command.is_ours:
            return {"PYTHONSAFEPATH": "1"} if command.imports_only_installed() else {}
        if command.has_cwd:
            return {}
        has_code, folders = python_code_in(command.invocations, command.parse_script, command.starts)
    except SettingsError:  # too large to analyse
        return {} if entry.source in ("project", "skill") else {"PYTHONSAFEPATH": "1"}
    if not has_code:
        return {}
    paths = {"PYTHONPATH": os.pathsep.join(folders)} if folders else {}
    return {"PYTHONSAFEPATH": "1", **paths}


class HookCommand:
    """The analysis of the command of a ``command`` entry, whose fields need not be valid.

    ``starts``: the folders that its relative paths may start from. ``written``: the paths of the files that it writes.
    Raises ``SettingsError`` for a command that would take too long to analyse.
    """

    def __init__(self, entry: HookEntry) -> None:
        config = entry.config
        self.entry = entry
        self.is_ours = entry.source in ("project", "skill")
        self.has_cwd = isinstance(config.get("cwd"), str)
        self.project_dir = entry.project_dir
        # Its working directory, see `handlers/command.py`.
        self.directory = entry.project_dir or entry.directory if entry.form == "claude" else entry.directory
        if self.has_cwd:
            self.directory = os.path.join(entry.directory, os.path.expanduser(config["cwd"]))
        self.own = list(filter(None, dict.fromkeys((self.directory, entry.directory, entry.project_dir))))
        self.added = _texts(config.get("scripts"))
        self.ignored = _texts(config.get("ignore"))
        self.parsed = CommandWords(self._values())
        self._parse(config)
        self.invocations = self.parsed.invocations
        arguments = [each for invocation in self.invocations for each in invocation.arguments]
        tokens = (token for each in (*arguments, *self.parsed.assigned) for token in _tokens(each.text or ""))
        folders = (path for token in dict.fromkeys(tokens) for path in paths_of(token, self.own) if os.path.isdir(path))
        self.starts = list(dict.fromkeys((*self.own, *folders)))
        if len(self.starts) > _MAX_FOLDERS + len(self.own):
            raise SettingsError(f"The command names more than {_MAX_FOLDERS} folders.")
        written = [each for invocation in self.invocations for each in written_files(invocation)]
        self.written = {path for each in written for path in paths_of(each.text or "", self.starts)}
        self.running = [each for invocation in self.invocations for each in run_files(invocation)]

    def _values(self) -> dict[str, str]:
        values = {
            "CLAUDE_PROJECT_DIR": self.project_dir or self.entry.directory,
            "CLAUDE_PLUGIN_ROOT": self.entry.plugin_root,
            "PWD": self.directory,
            "HOME": os.path.expanduser("~"),
            TOP: _top_of(self.directory) or self.project_dir,
        }
        return {name: value for name, value in values.items() if value}

    def _parse(self, config: Mapping[str, Any]) -> None:
        command, args = config.get("command"), config.get("args")
        texts = [command] if isinstance(command, str) else command if isinstance(command, (list, tuple)) else []
        texts = [each for each in (*texts, *(args if isinstance(args, (list, tuple)) else ())) if isinstance(each, str)]
        if any(len(each) > MAX_LENGTH for each in texts):
            raise SettingsError(f"The command is longer than {MAX_LENGTH // 1024} KiB.")
        if isinstance(command, str) and not isinstance(args, (list, tuple)):
            self.parsed.parse(command)
        elif texts:
            values = self.parsed.values
            expanded = (_VARIABLE.sub(lambda found: values.get(found[1] or found[2], found[0]), each) for each in texts)
            self.parsed.add([Argument(value, each) for value, each in zip(expanded, texts, strict=True)])

    # -- existing files ------------------------------------------------------------------------------------------------

    def scripts(self) -> tuple[str, ...]:
        """Return the absolute paths of the files that the command runs or may run, each once.

        A file counts if it is inside the project. Outside it counts if the command names it with a slash and it is
        neither a system file nor larger than 1 MiB.
        """
        found: dict[str, None] = {}
        for argument in self.running:
            for path in paths_of(argument.text or "", self.starts):
                mains = (os.path.join(path, name) for name in _MAIN) if os.path.isdir(path) else (path,)
                found.update(dict.fromkeys(each for each in mains if self._counts(argument.text or "", each)))
        for token in self._named():
            for path in paths_of(token, self.starts):
                if path not in self.written and self._counts(token, path):
                    found[path] = None
        found.update(dict.fromkeys(path for paths in self._modules() for path in paths if os.path.isfile(path)))
        found.update(dict.fromkeys(path for each in self.added for path in paths_of(each, self.own)[:1]))
        ignored = {path for each in self.ignored for path in paths_of(each, self.own)}
        return tuple(path for path in found if path not in ignored)

    def _named(self) -> Iterator[str]:
        """Yield the literal names of files that other programs of the command may run."""
        takes_input = self._runs_input()
        for invocation in self.invocations:
            wrappers = [each for each in invocation.wrappers if takes_input or "/" in (each.text or "")]
            arguments = invocation.arguments if takes_input else handled_arguments(invocation)
            reads = invocation.reads if takes_input or not is_data(invocation) else []
            for argument in (*wrappers, *arguments, *reads):
                yield from _tokens(argument.text or "", with_logs=takes_input)
            for document in invocation.documents if takes_input or is_interpreter(invocation.name) else ():
                yield from _tokens(document or "", with_logs=takes_input)
        for argument in (*self.parsed.assigned, *(self.parsed.lists if takes_input else ())):
            yield from _tokens(argument.text or "", with_logs=takes_input)

    def _runs_input(self) -> bool:
        """Whether the command runs output of programs, contents of data files, or a file that it writes itself."""
        made = (path for each in self.running for path in paths_of(each.text or "", self.starts)[:1])
        is_made = any(path in self.written for path in made)
        return is_made or any(map(runs_input, self.invocations))

    def _counts(self, token: str, path: str) -> bool:
        if not os.path.isfile(path):
            return False
        if self.project_dir and any(_is_inside(each, self.project_dir) for each in (path, os.path.realpath(path))):
            return True
        return "/" in token and not is_systems(path) and os.stat(path).st_size <= _MAX_FOREIGN_SCRIPT

    def needed_files(self, read: Callable[[str], bytes]) -> dict[str, bytes | None]:
        """Return the files that the scripts need, by absolute path with the content; None for a folder.

        For a Python script these are modules of its own folder, see ``imported_beside``, for a shell script the files
        that it sources by a literal path. ``read``: returns the content of a file.
        """
        found: dict[str, bytes | None] = {}
        paths = (path for each in self.running for path in paths_of(each.text or "", self.starts))
        waiting = [path for path in dict.fromkeys(paths) if os.path.isfile(path) and not is_systems(path)]
        for script in waiting:  # grows as it goes
            code = found.get(script) or read(script)
            if b"\0" in code:
                continue
            kind = language_of(script, code)
            if kind != "shell":
                found.update(imported_beside(script, code, read))
            for path in self._sourced(script, code) if kind != "python" else ():
                if path not in found:
                    found[path] = read(path)
                    waiting.append(path)
        return found

    def _sourced(self, script: str, code: bytes) -> Iterator[str]:
        """Yield the paths of the files that a shell script sources."""
        for invocation in self.parse_script(script, code).invocations:
            if invocation.name in ("source", ".") and invocation.arguments[1:]:
                yield from filter(os.path.isfile, paths_of(invocation.arguments[1].text or "", self.own))

    def parse_script(self, script: str, code: bytes) -> CommandWords:
        """Return the invocations of a shell script."""
        parsed = CommandWords({**self._values(), "0": script})
        if len(code) <= MAX_LENGTH:
            parsed.parse(code.decode("utf-8", "replace"))
        return parsed

    # -- missing files -------------------------------------------------------------------------------------------------

    def missing(self) -> tuple[str, ...]:
        """Return the absolute paths at which the command looks for scripts that do not exist: it would run them."""
        found: dict[str, None] = {}
        for argument in self.running:
            for path in self._absent(argument.text or ""):
                # Outside the project the command may run its own output. Inside, an agent may write the file first.
                if path not in self.written or _is_inside(path, self.project_dir):
                    found[path] = None
        for paths in self._modules():
            if not any(map(os.path.isfile, paths)):
                found.update(dict.fromkeys(paths))
        return tuple(found)

    def _absent(self, token: str) -> list[str]:
        """Return the paths at which the command looks for a script, if there is none."""
        if not token or "://" in token or "{}" in token or not self.own:
            return []
        paths = paths_of(token, self.starts)
        if any(map(os.path.exists, paths)):
            # A skill runs in the folder that has the file. A command that names folders may find it in any of them.
            is_elsewhere = self.entry.form != "skill" and self.starts == self.own and not os.path.exists(paths[0])
            paths = paths[:1] if is_elsewhere else []
        in_project = [path for path in paths if self.project_dir and _is_inside(path, self.project_dir)]
        return [path for path in paths if path in in_project or ("/" in token and not path.startswith(SYSTEM_FOLDERS))]

    # -- Python --------------------------------------------------------------------------------------------------------

    def _python_codes(self) -> Iterator[str | None]:
        """Yield the Python code in the command, None for computed code; ``import x`` for ``-m x``."""
        for invocation in self.invocations:
            reading = Interpreted(invocation)
            if not is_python(invocation.name):
                continue
            yield from (f"import {module}" for module in modules_of(invocation) if is_pythons_own(module))
            if reading.code is not None:
                yield reading.code.text
            elif reading.takes_input:
                has_text = invocation.documents and not invocation.reads
                yield from invocation.documents if has_text else [None]

    def _modules(self) -> Iterator[list[str]]:
        """Yield, for each module outside the standard library that Python code imports, its paths in the folder."""
        codes = [code for code in self._python_codes() if code] if self.is_ours else []
        for name in dict.fromkeys(name for code in codes for name in imported_names(code)):
            first, *rest = name.split(".")
            path = os.path.join(self.directory, first)
            if first and first not in sys.stdlib_module_names and (not rest or os.path.isdir(path)):
                path = os.path.join(path, *rest)
                yield [f"{path}.py", os.path.join(path, "__init__.py")]

    def imports_only_installed(self) -> bool:
        """Whether the command runs Python code, and nothing in it needs modules of its folder."""
        codes = list(self._python_codes())
        if not codes or None in codes or any(os.path.isfile(path) for paths in self._modules() for path in paths):
            return False
        if any(_RUNS_MORE.search(code or "") for code in codes):
            return False
        return all(
            Interpreted(each).script is None and all(map(is_pythons_own, modules_of(each)))
            if is_python(each.name)
            else is_data(each)
            for each in self.invocations
        )

    # -- findings ------------------------------------------------------------------------------------------------------

    def findings(self) -> tuple[ConfigFinding, ...]:
        """Report the parts of a command that its digest cannot cover: computed paths (``not-covered``) and missing
        files (``missing``). Neither blocks.
        """
        entry = self.entry
        common: dict[str, Any] = {
            "path": entry.path,
            "line": entry.line,
            "event": str(entry.event),
            "matcher": entry.matcher,
        }
        return tuple(
            ConfigFinding(kind=kind, message=message, remedy=remedy, **common)
            for kind, message, remedy in dict.fromkeys(self._uncovered())
        )

    def _uncovered(self) -> Iterator[tuple[str, str, str]]:
        """Yield the kind, the message and the remedy of each part that the digest does not cover."""
        for argument in self.running:
            paths = self._absent(argument.text or "")
            if paths and not any(os.path.lexists(path) or path in self.written for path in paths):
                yield "missing", f"The command runs {_shown(argument.raw)}: there is no such file.", _PUT_THERE
        takes_input = self._runs_input()
        for invocation in self.invocations:
            for argument in invocation.arguments if takes_input else handled_arguments(invocation):
                if _is_unseen_path(argument) or (argument.raw == "{}" and argument in self.running):
                    yield _not_covered(f"Which file {_shown(argument.raw)} is")
            if task := unseen_task(invocation):
                yield _not_covered(f"Which files {_shown(task)} runs")
            for module in filter(self._is_module, modules_of(invocation)):
                yield _not_covered(f"Which file {_shown(f'-m {module}')} is")
        for argument in (*self.parsed.assigned, *(self.parsed.lists if takes_input else ())):
            if _is_unseen_path(argument):
                yield _not_covered(f"Which file {_shown(argument.raw)} is")
        if any(True for _ in self._python_codes()) and not self.imports_only_installed():
            message = "What Python's code imports is looked for in the folder where it runs first, so the trust"
            yield "not-covered", f"{message} does not cover it.", _OWN_SCRIPT
        readings = [Interpreted(each).code for each in self.invocations if not is_python(each.name)]
        others = [code.text or "" for code in readings if code is not None]
        if any(map(_RUNS_MORE.search, others)) and not self.scripts():
            message = "Which files the code in the command runs cannot be seen, so the trust does not cover them."
            yield "not-covered", message, _OWN_SCRIPT

    def _is_module(self, name: str) -> bool:
        parts = name.split(".")
        if not all(map(str.isidentifier, parts)):
            return False
        paths = (os.path.join(start, *parts) for start in self.own)
        return any(os.path.isfile(f"{path}.py") or os.path.isdir(path) for path in paths)


def _texts(value: object) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, (list, tuple)) else []


def _tokens(text: str, *, with_logs: bool = False) -> Iterator[str]:
    """Yield a literal argument, its value after ``=``, and the file names in it."""
    for token in dict.fromkeys((text, text.partition("=")[2], *_TOKEN.findall(text))):
        if token and (with_logs or not grows(token)):
            yield token


def _is_unseen_path(argument: Argument) -> bool:
    """Whether an argument is a path that is only known at run time."""
    raw = argument.raw
    return argument.text is None and "/" in raw and "://" not in raw


def _not_covered(subject: str) -> tuple[str, str, str]:
    return "not-covered", f"{subject} cannot be seen, so the trust does not cover it.", _WRITE_OUT


def _shown(text: str) -> str:
    """Quote and shorten a token for a message."""
    return f"`{text if len(text) <= _MAX_SHOWN else f'{text[:_MAX_SHOWN]}…'}`"


def _top_of(folder: str) -> str:
    """Return the top of the repository that ``folder`` is in, an empty string if there is none."""
    while folder and not os.path.lexists(os.path.join(folder, ".git")):
        above = os.path.dirname(folder)
        folder = above if above != folder else ""
    return folder


def _is_inside(path: str, folder: str) -> bool:
    return path.startswith((os.path.join(folder, ""), os.path.join(os.path.realpath(folder), "")))
