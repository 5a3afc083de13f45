"""The files that the command of a hook runs. Trust in the command pins them.

Pinned is every regular file of the project that a command names literally, unless the command only reads, writes or
prints it. A Python script also pins the modules that it imports from its own folder, a shell script the files that it
sources. An entry adds files by ``scripts`` and removes files by ``ignore``.
"""

from __future__ import annotations

import os
import re

from agent_hooks.errors import SettingsError, TrustError
from agent_hooks.formats.findings import ConfigFinding
from agent_hooks.shell.commands import TOP
from agent_hooks.shell.effects import MAX_LENGTH, Programs
from agent_hooks.shell.patterns import Pattern
from agent_hooks.shell.programs import GATHERERS, PYTHONS, SHELLS, name_of
from agent_hooks.shell.syntax import UNKNOWN
from agent_hooks.system.digests import sha256_hex
from agent_hooks.system.folders import read_regular
from agent_hooks.system.paths import folders_above, is_below

from .manifest import is_python_script
from .neighbours import imported_beside, imports_from, is_standard

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from agent_hooks.formats.entry import HookEntry

_MAX_SCRIPT = 64 * 1024 * 1024
_MAX_FOREIGN_SCRIPT = 1024 * 1024
_MAX_FOLDERS = 20
_MAX_SHOWN = 100
_VARIABLE = Pattern(r"\$\{(\w+)\}|\$(\w+)", re.ASCII)
# File names in code and in command lines within arguments.
_TOKEN = Pattern(r"[\w./~@%+:,-]+")
# A Python script that runs ``python -c`` or ``python -m``.
_RUNS_PYTHON = re.compile(
    rb"""(?:sys\.executable|['"](?:python|pypy)[0-9.]*['"])\s*,\s*['"]-[a-zA-Z]*[cm]['"]|python[0-9.]* -[cm] """
)
# The assignment of a variable that makes even a reading program run a file, such as ``BASH_ENV`` or ``NODE_OPTIONS``.
_LOADS_CODE = Pattern(r"(\w*ENV|(LD|DYLD)_\w+|\w*OPT(ION)?S|\w+_(CONFIG|PATH|CONFIG_PATH|STARTUP))=")
# The pattern of scripts in code that looks for them.
_GLOB = re.compile(r"\*[\w.-]*\.(?:py|sh|bash|zsh|[mc]?[jt]s|rb|pl|php|lua|ps1)\b")
# Files that nobody runs and that grow from call to call.
_GROWING = Pattern(
    r".+\.(log|jsonl|ndjson|db|sqlite3?|pid|lock)|(.*[/._-])?logs?([._-].*)?\.(txt|csv)|(.*[/._-])?state\.(txt|json)"
    r"|.*/\.?(state|lock)"
)
_MAX_DEPTH = 3  # of scripts that run scripts
_MAIN = ("__main__.py", "index.js")  # the files that an interpreter runs when its argument is a folder
# Files of a package manager change with every update and are no part of a project's policy.
_SYSTEM_FOLDERS = ("/usr/", "/bin/", "/sbin/", "/lib", "/System/", "/nix/store/", "/opt/homebrew/")
_WRITE_OUT = 'Name the script itself, as "$CLAUDE_PROJECT_DIR"/…, or live with it: put the id of this into `ignore`.'
_PUT_THERE = "Correct the path, or put the file there."


def check_scripts(entry: HookEntry) -> dict[str, bytes]:
    """Compare the files of a command with their trusted digests and return their contents by path.

    Raises ``TrustError`` if a file differs.
    """
    if not entry.scripts:
        return {}
    contents = {path: _trusted_content(path, digest) for path, digest in entry.scripts.items() if digest}
    command = HookCommand(entry)
    late = [path for path, digest in entry.scripts.items() if not digest and path not in command.written]
    needed = command.needed_files(lambda path: contents.get(path) or read_regular(path, _MAX_SCRIPT))
    late += [path for path in needed if path not in entry.scripts]
    for path in filter(os.path.exists, late):
        raise TrustError(f"{path} was not there when its command was trusted; see `agent-hooks trust --diff`")
    return contents


def _trusted_content(path: str, digest: str) -> bytes:
    try:
        content = read_regular(path, _MAX_SCRIPT)
    except OSError as error:
        raise TrustError(f"{path}, which was trusted, cannot be read: {error.strerror}") from error
    if sha256_hex(content) != digest:
        raise TrustError(f"{path} has changed since it was trusted; see `agent-hooks trust --diff`")
    return content


def python_variables(entry: HookEntry) -> dict[str, str]:
    """Return the environment variables that stop Python code of an entry from importing modules of the working
    directory.

    There are none for an entry without Python code (by ``-c``, ``-m`` or stdin, of the command or of a script that it
    runs), and none for a project's with code that needs such modules, or that runs tests. Scripts that the command runs
    as well keep the folder that they import from.
    """
    is_ours = entry.source in ("project", "skill")
    try:
        command = HookCommand(entry)
        if not is_ours and isinstance(entry.config.get("cwd"), str):
            return {}
        has_code, folders = command.python_code_in(command.programs)
        if not has_code or (is_ours and command.imports_beside()):
            return {}
    except SettingsError:  # too large to analyse
        return {} if is_ours else {"PYTHONSAFEPATH": "1"}
    return {"PYTHONSAFEPATH": "1", **({"PYTHONPATH": os.pathsep.join(dict.fromkeys(folders))} if folders else {})}


class HookCommand:
    """The analysis of the command of a ``command`` entry, whose fields need not be valid.

    ``starts``: the folders that its relative paths may start from. ``written``: the paths of the files that it writes.
    ``running``: the words that are programs or scripts to run. Raises ``SettingsError`` for a command that would
    take too long to analyse.
    """

    def __init__(self, entry: HookEntry) -> None:
        config = entry.config
        self.entry = entry
        # Its working directory, see `handlers/command.py`.
        self.directory = entry.project_dir or entry.directory if entry.form == "claude" else entry.directory
        if isinstance(config.get("cwd"), str):
            self.directory = os.path.join(entry.directory, os.path.expanduser(config["cwd"]))
        self.own = list(filter(None, dict.fromkeys((self.directory, entry.directory, entry.project_dir))))
        self.programs = self._parse()
        self._others = [*self.programs.others, *self.programs.unread]
        self.is_reading = not self.programs.unread and all(each.only_reads() for each in self.programs.found)
        self.words = [*(word for each in self.programs.found for word in each.words), *self._others]
        tokens = dict.fromkeys(token for each in self.words for token in _tokens(each))
        folders = [path for token in tokens for path in _paths(token, self.own) if os.path.isdir(path)]
        self.starts = list(dict.fromkeys((*self.own, *folders)))
        if len(self.starts) > _MAX_FOLDERS + len(self.own):
            raise SettingsError(f"The command names more than {_MAX_FOLDERS} folders.")
        written = [*self.programs.writes, *(word for each in self.programs.found for word in each.written_files())]
        self.written = {path for each in written for path in _paths(each, self.starts)}
        self.running = [word for each in self.programs.found for word in each.files_to_run()]

    def _parse(self) -> Programs:
        values = {
            "CLAUDE_PROJECT_DIR": self.entry.project_dir or self.entry.directory,
            "CLAUDE_PLUGIN_ROOT": self.entry.plugin_root,
            "PWD": self.directory,
            "HOME": os.path.expanduser("~"),
            TOP: _top_of(self.directory) or self.entry.project_dir,
        }
        parsed = Programs({name: value for name, value in values.items() if value})
        command, args = self.entry.config.get("command"), self.entry.config.get("args")
        texts = _texts([command] if isinstance(command, str) else command) + _texts(args)
        if any(len(each) > MAX_LENGTH for each in texts):
            raise SettingsError(f"The command is longer than {MAX_LENGTH // 1024} KiB.")
        if isinstance(command, str) and not isinstance(args, (list, tuple)):
            parsed.parse(command)
        else:
            known = lambda found: parsed.values.get(found[1] or found[2], found[0])  # noqa: E731
            parsed.add([_VARIABLE.sub(known, each) for each in texts])
        return parsed

    # -- existing files ------------------------------------------------------------------------------------------------

    def scripts(self) -> tuple[str, ...]:
        """Return the absolute paths of the files that the command runs or may run, each once.

        A file counts if it is inside the project. Outside it counts if the command names it with a slash and it is
        neither a system file nor larger than 1 MiB.
        """
        running = dict.fromkeys(self.running)
        found: dict[str, None] = {}
        for token in (*running, *self._named()):
            for path in _paths(token, self.starts):
                is_run = token in running
                paths = [os.path.join(path, name) for name in _MAIN] if is_run and os.path.isdir(path) else [path]
                if is_run or not (_GROWING.fullmatch(token) or path in self.written):
                    found.update(dict.fromkeys(each for each in paths if self._counts(token, each)))
        added, ignored = (_texts(self.entry.config.get(name)) for name in ("scripts", "ignore"))
        found.update(dict.fromkeys(path for each in added for path in _paths(each, self.own)[:1]))
        left_out = {path for each in ignored for path in _paths(each, self.own)}
        return tuple(path for path in found if path not in left_out)

    def _named(self) -> Iterator[str]:
        """Yield the literal words of the command that may name files to run."""
        found = self.programs.found
        words = [*self._others, *(word for each in found for word in each.wrappers)]
        if self.is_reading:
            words = [each for each in words if _LOADS_CODE.match(each)]
            words += [word for each in found for word in each.code_operands()]
        else:
            words += self.programs.reads
            for each in found:
                words += each.documents
                if each.only_reads():
                    yield from filter(_is_known, each.words)
                else:
                    words += each.words
        for word in words:
            yield from _tokens(word)

    def _counts(self, token: str, path: str) -> bool:
        if not os.path.isfile(path):
            return False
        if self._is_inside(path) or self._is_inside(os.path.realpath(path)):
            return True
        return "/" in token and not _is_systems(path) and os.stat(path).st_size <= _MAX_FOREIGN_SCRIPT

    def _is_inside(self, path: str) -> bool:
        root = self.entry.project_dir
        return bool(root) and any(is_below(path, each) for each in (root, os.path.realpath(root)))

    def needed_files(self, read: Callable[[str], bytes]) -> dict[str, None]:
        """Return the absolute paths of the files that scripts and code of the command need.

        For Python these are the modules that it imports literally from the folder of the script, or for code from the
        working directory, and every file there with the name of a standard module. For a shell script these are the
        files that it sources by a literal path. ``read``: returns the content of a file.
        """
        found: dict[str, None] = {}
        # Otherwise PYTHONSAFEPATH leaves the folder out.
        if self.entry.source in ("project", "skill") and self.imports_beside():
            for text in self._codes():
                found |= imported_beside(self.directory, text.encode(), read)
        waiting = list(self._existing(self.running))
        for script in waiting:  # grows as it goes
            code = read(script)
            if b"\0" in code:
                continue
            if not _is_shell(script, code):
                real = os.path.realpath(script)
                found |= imported_beside(os.path.dirname(real), code, read)
                found.pop(real, None)
            if not is_python_script(script, code):
                calls = self._parse_script(script, code).found
                sourced = [word for call in calls if call.name in ("source", ".") for word in call.words[1:2]]
                new = dict.fromkeys(path for path in self._existing(sourced) if path not in found)
                found |= new
                waiting += new
        return found

    def _existing(self, words: Iterable[str]) -> Iterator[str]:
        """Yield the paths of the files that words name, without those of the system."""
        for path in (path for word in words for path in _paths(word, self.starts)):
            if os.path.isfile(path) and not _is_systems(path):
                yield path

    def _parse_script(self, script: str, code: bytes) -> Programs:
        parsed = Programs({**self.programs.values, "0": script})
        parsed.parse(code.decode("utf-8", "replace"))
        return parsed

    # -- missing files -------------------------------------------------------------------------------------------------

    def missing(self) -> tuple[str, ...]:
        """Return the absolute paths at which the command looks for scripts that do not exist: it would run them."""
        # Outside the project the command may run its own output. Inside, an agent may write the file first.
        paths = (path for word in self.running for path in self._absent(word))
        return tuple(dict.fromkeys(each for each in paths if each not in self.written or self._is_inside(each)))

    def _absent(self, token: str) -> list[str]:
        """Return the paths at which the command looks for a script, if there is none."""
        if "://" in token or "{}" in token:
            return []
        paths = _paths(token, self.starts)
        if any(os.path.exists(path) for path in paths):
            # A skill runs in the folder that has the file. A command that names folders may find it in any of them.
            is_elsewhere = self.entry.form != "skill" and self.starts == self.own and not os.path.exists(paths[0])
            paths = paths[:1] if is_elsewhere else []
        return [
            path for path in paths if self._is_inside(path) or ("/" in token and not path.startswith(_SYSTEM_FOLDERS))
        ]

    # -- Python --------------------------------------------------------------------------------------------------------

    def _codes(self) -> Iterator[str]:
        """Yield the literal Python code in the command; ``import x`` for ``-m x``."""
        for call in filter(lambda call: call.name in PYTHONS, self.programs.found):
            kind, text = call.runs()
            if kind == "code":
                yield text
            elif kind == "module":
                yield f"import {text}.__main__"
            elif kind == "stdin":
                yield from call.documents

    def imports_beside(self) -> bool:
        """Whether Python code in the command needs modules of the working directory, as far as can be seen."""
        modules = [text for kind, text in (each.runs() for each in self.programs.found) if kind == "module"]
        codes = (code.encode() for code in self._codes())
        return not all(map(is_standard, modules)) or any(imports_from(self.directory, code) for code in codes)

    def python_code_in(self, parsed: Programs, depth: int = 0) -> tuple[bool, list[str]]:
        """Return whether Python code is run by ``-c``, ``-m`` or stdin, in scripts as well, and the folders of the
        Python scripts.
        """
        kinds = [each.runs()[0] for each in parsed.found if each.name in PYTHONS]
        has_code, folders = any(kind not in ("script", "") for kind in kinds), []
        for path in self._existing(word for each in parsed.found for word in each.files_to_run()):
            try:
                code = read_regular(path, _MAX_SCRIPT)
            except OSError:
                continue
            if is_python_script(path, code):
                folders.append(os.path.dirname(os.path.realpath(path)))
                has_code = has_code or _RUNS_PYTHON.search(code) is not None
            elif _is_shell(path, code) and b"py" in code and depth < _MAX_DEPTH:
                inner_code, inner_folders = self.python_code_in(self._parse_script(path, code), depth + 1)
                has_code = has_code or inner_code
                folders += inner_folders
        return has_code, folders

    # -- findings ------------------------------------------------------------------------------------------------------

    def findings(self) -> tuple[ConfigFinding, ...]:
        """Report the parts of a command that its digest cannot cover: computed paths (``not-covered``) and missing
        files (``missing``). Neither blocks.
        """
        entry, found = self.entry, dict.fromkeys(self._uncovered())
        about = ConfigFinding(kind="", path=entry.path, line=entry.line, event=str(entry.event), matcher=entry.matcher)
        return tuple(about.replace(kind=kind, message=message, remedy=remedy) for kind, message, remedy in found)

    def _uncovered(self) -> Iterator[tuple[str, str, str]]:
        """Yield the kind, the message and the remedy of each part that the digest does not cover."""
        for word in self.running:
            paths = self._absent(word)
            if paths and not any(os.path.lexists(path) or path in self.written for path in paths):
                yield "missing", f"The command runs {_shown(word)}: there is no such file.", _PUT_THERE
        unseen = []
        if not self.is_reading:
            computed = [word for word in self.words if not _is_known(word) and "/" in word]
            computed = computed or [word for word in self.running if not _is_known(word)]
            unseen = [f"Which file {_shown(word)} is" for word in computed if "://" not in word]
        for each in self.programs.found:
            if not each.only_reads() and not GATHERERS.isdisjoint(map(name_of, each.wrappers)):
                words = (*each.wrappers, os.path.basename(each.program))
                unseen.append(f"Which files {_shown(' '.join(words))} runs")
            kind, code = each.runs()
            if kind == "code" and each.name not in SHELLS and _GLOB.search(code):
                unseen.append(f"Which files the code of {_shown(os.path.basename(each.program))} finds")
            if task := each.unseen_task():
                unseen.append(f"Which files {_shown(task)} runs")
        for subject in unseen:
            yield "not-covered", f"{subject} cannot be seen, so the trust does not cover it.", _WRITE_OUT


def _texts(value: object) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, (list, tuple)) else []


def _tokens(text: str) -> dict[str, None]:
    """Return a literal word, its value after ``=``, and the file names in it."""
    return dict.fromkeys(filter(None, (text, text.partition("=")[2], *_TOKEN.findall(text))) if _is_known(text) else ())


def _is_known(word: str) -> bool:
    return UNKNOWN not in word and len(word) <= MAX_LENGTH


def _paths(token: str, starts: Iterable[str]) -> list[str]:
    """Return the absolute paths that a token may mean, one for each of the folders ``starts``."""
    if not token or "\0" in token or UNKNOWN in token:
        return []
    paths = (os.path.normpath(os.path.join(start, os.path.expanduser(token))) for start in starts)
    return [path for path in dict.fromkeys(paths) if os.path.isabs(path)]


def _is_shell(script: str, code: bytes) -> bool:
    return script.endswith((".sh", ".bash", ".zsh")) or (code.startswith(b"#!") and not is_python_script(script, code))


def _is_systems(path: str) -> bool:
    """Whether a file belongs to the system or a package manager."""
    return path.startswith(_SYSTEM_FOLDERS) or os.path.realpath(path).startswith(_SYSTEM_FOLDERS)


def _shown(text: str) -> str:
    """Quote and shorten a word for a message."""
    text = re.sub(r"\$\{(\w+)\}", r"$\1", text.replace(UNKNOWN, ""))
    return f"`{text if len(text) <= _MAX_SHOWN else f'{text[:_MAX_SHOWN]}…'}`"


def _top_of(folder: str) -> str:
    """Return the top of the repository that ``folder`` is in, an empty string if there is none."""
    folders = filter(None, (folder, *folders_above(folder)))
    return next((each for each in folders if os.path.lexists(os.path.join(each, ".git"))), "")
