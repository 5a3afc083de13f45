"""The files that a command runs: which these are, and whether they still are what was trusted."""

from __future__ import annotations

import os
import re
import stat
import sys
from hashlib import sha256
from itertools import pairwise

from agent_hooks.errors import SettingsError, TrustError
from agent_hooks.formats.findings import ConfigFinding

from .neighbours import imported_beside
from .script_programs import SCRIPT_ENDING, SHELLS, Use, grows, is_data, is_interpreter, program_of, runs_more, uses
from .shell_text import (
    ASSIGNMENT,
    COMPUTED,
    MAX_DEPTH,
    TOP,
    hidden,
    plain,
    quoted,
    shell_words,
    simple_commands,
    unhidden,
    with_quoted_hidden,
    without_inner,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from agent_hooks.formats.entry import HookEntry

_MAX_FOREIGN_SCRIPT = 1024 * 1024
# A longer text cannot be given to a program, at least on Linux. What is looked for takes its time.
MAX_COMMAND = 128 * 1024
_MAX_FOLDERS = 20
_MAX_VALUE = 1024
# What a package manager looks after changes with every update, and is no part of a project's policy.
_SYSTEM_FOLDERS = ("/usr/", "/bin/", "/sbin/", "/lib", "/System/", "/nix/store/", "/opt/homebrew/")

_VARIABLE = re.compile(rf"\$(?:\{{([A-Za-z_]\w*|{TOP})\}}|([A-Za-z_]\w*))", re.ASCII)
_DECLARES = frozenset({"export", "local", "declare", "readonly", "typeset"})
_LAST = re.compile(r"\$(?:_\b|\{_\W)")  # the last word of the command before
_IMPORTS = re.compile(
    r"\bfrom\s+([\w.]+)\s+import\s+\(?([\w ,]*)|\bimport\s+([\w.]+(?:\s+as\s+\w+)?(?:\s*,\s*[\w.]+(?:\s+as\s+\w+)?)*)"
)
_PYTHON = re.compile(r"(python|pypy)[0-9.]*w?(\.exe)?|py|ipython3?")
_CODE_OPTION = re.compile(r"-[bBdEIOPqRsSuvx]*[cm].*", re.DOTALL)
_SAFE_OPTION = re.compile(r"-[bBdEOqRsSuvx]*[IP]")
# In a script: code that it gives to Python, or a module.
_RUNS_PYTHON = re.compile(
    r"""(?:sys\.executable|['"](?:python|pypy)[0-9.]*['"])\s*,\s*['"]-[a-zA-Z]*[cm]['"]|python[0-9.]* -[cm] """
)
# The folder of the script itself, in the words of a shell.
_OWN_FOLDER = re.compile(
    r"""\$\(\s*dirname\s+(?:--\s+)?"?\$\{?(?:0|BASH_SOURCE(?:\[0\])?)\}?"?\s*\)|\$\{(?:0|BASH_SOURCE(?:\[0\])?)%/\*\}"""
)
_ENTERED = re.compile(r"""\$\(\s*cd\s+(?:--\s+)?"?(/[^"$`]*?)"?\s*(?:&&|;)\s*pwd(?:\s+-P)?\s*\)""")
_QUOTED = re.compile(r"""['"`]([^'"`\n]+)['"`]""")
# What code says to be said, which may be a text for a shell.
_SAID = re.compile(
    r"""'''(.*?)'''|\"{3}(.*?)\"{3}|'([^'\n]*)'|"([^"\n]*)"|`([^`]*)`|(?:%x|\bq[qx]?)\s?[(\[{/]([^()\[\]{}'"`]*)[)\]}/]""",
    re.DOTALL,
)
_RUNS_TEXT = re.compile(r"%x\s?[(\[{/]|\bqx\b")
_LOADS = re.compile(
    r"""\b(?:require|import|from|load|do|include|dofile|loadfile)(?:_once|_relative)?\b\s*\(?\s*['"]([^'"\n]+)['"]"""
)
_LOADED = ("", ".js", ".cjs", ".mjs", ".ts", ".rb", ".lua", "/index.js")
_PIPES = re.compile(r"(?<!\|)\|&?(?!\|)")
_AWKS = frozenset(("awk", "gawk", "mawk"))
# Modules of Python's own that run what is not.
_RUN_OTHERS = frozenset("asyncio cProfile code doctest idlelib pdb profile pydoc runpy timeit trace unittest".split())
_RUNNERS = frozenset("make just task rake invoke tox nox pre-commit lefthook run-parts".split())
_PACKAGE_RUNNERS = {
    **dict.fromkeys(("npm", "pnpm", "yarn", "bun"), ("run", "test", "start")),
    "deno": ("task",),
}
_CONTROL = frozenset("for in case esac fi done } trap wait".split())
# What is run of a folder that is given to an interpreter.
_MAIN = ("__main__.py", "index.js")

_WRITE_OUT = 'Name the script itself, as "$CLAUDE_PROJECT_DIR"/…, or live with it: put the id of this into `ignore`.'
_PUT_THERE = "Correct the path, or put the file there."
_OWN_SCRIPT = "Put the code into a script of its own, and run that alone."


def check_scripts(entry: HookEntry) -> dict[str, bytes]:
    """See that the files which the command runs are those that were trusted, and return by path what was read.

    Raises ``TrustError`` if one of them is not.
    """
    read = {}
    for path, trusted in entry.scripts.items():
        if not trusted:
            if os.path.exists(path) and path not in _made_by(entry):
                raise TrustError(f"{path} was not there when its command was trusted; see `agent-hooks trust --diff`")
            continue
        try:
            content = _content(path)
        except OSError as error:
            raise TrustError(f"{path}, which was trusted, cannot be read: {error.strerror}") from error
        if content is None or sha256(content).hexdigest() != trusted:
            raise TrustError(f"{path} has changed since it was trusted; see `agent-hooks trust --diff`")
        read[path] = content
    needed = needed_files(entry.config, entry, lambda path: read.get(path) or _content(path) or b"") if read else {}
    for path, content in needed.items():
        if content is not None and path not in entry.scripts:
            raise TrustError(f"{path} was not there when its command was trusted; see `agent-hooks trust --diff`")
    return read


def _made_by(entry: HookEntry) -> set[str]:
    """Return the paths of the files that the command itself writes."""
    return _Command(entry.config, entry).written()


def _content(path: str) -> bytes | None:
    """Return what is in a file; nothing for a pipe or a device in its place, which might never end."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with open(descriptor, "rb") as file:
        return file.read() if stat.S_ISREG(os.fstat(descriptor).st_mode) else None


def _readable(path: str) -> bytes:
    try:
        return _content(path) or b""
    except OSError:
        return b""


def referenced_scripts(config: Mapping[str, Any], entry: HookEntry) -> tuple[str, ...]:
    """Return the absolute paths of the files that the command of a ``command`` entry runs, or may run, each once.

    ``config``: the entry's fields, valid or not. A file counts if it is inside the project, else if the command says it
    with a slash and it is neither the system's nor larger than 1 MiB. What is only read, tested, said or written does
    not, if the command shows that. Of a text for a shell this is a best effort, also of a text within it; the folders
    of the project and the plugin, the top of the repository, ``$PWD``, ``$HOME`` and variables that the text itself
    sets are known. What else a shell would compute is not: see ``doubts_about``. Raises ``SettingsError`` for a command
    that would take too long to look through.
    """
    return _Command(config, entry).scripts()


def missing_scripts(config: Mapping[str, Any], entry: HookEntry) -> tuple[str, ...]:
    """Return the absolute paths at which a script that the command of a ``command`` entry runs would be looked for, if
    it is at none of them: whatever appears there would run. Raises ``SettingsError`` as ``referenced_scripts`` does.
    """
    return _Command(config, entry).missing()


def needed_files(config: Mapping[str, Any], entry: HookEntry, read: Callable[[str], bytes]) -> dict[str, bytes | None]:
    """Return what the scripts that a ``command`` entry runs need of their own folders, by absolute path, with its
    content; a folder has none.

    Of Python scripts these are modules, see ``imported_beside``; of scripts for a shell the files that they source by
    a literal path, or by one beside themselves. ``read``: returns the content of a file. Raises ``SettingsError`` as
    ``referenced_scripts`` does.
    """
    return _Command(config, entry).needed_files(read)


def python_variables(config: Mapping[str, Any], entry: HookEntry) -> dict[str, str]:
    """Return the environment variables that keep Python code of a ``command`` entry from importing what lies in the
    working directory: none for a project's entry with code that needs it, and none for one of the user's without code.

    Code is what comes by ``-c``, ``-m`` or standard input, in the command or in a script that it runs. Scripts that the
    command runs as well keep the folder that they import from.
    """
    try:
        command = _Command(config, entry)
        if command.is_ours:
            return {"PYTHONSAFEPATH": "1"} if command.imports_only_installed() else {}
        has_code, folders = (False, []) if command.has_cwd else command.python_code()
    except SettingsError:  # it would take too long to look through
        return {} if entry.source in ("project", "skill") else {"PYTHONSAFEPATH": "1"}
    if not has_code:
        return {}
    paths = {"PYTHONPATH": os.pathsep.join(folders)} if folders else {}
    return {"PYTHONSAFEPATH": "1", **paths}


def doubts_about(config: Mapping[str, Any], entry: HookEntry) -> tuple[ConfigFinding, ...]:
    """Return what a trust in the command of a ``command`` entry does not cover, as far as that can be seen.

    ``not-covered``: files that only running it would name. ``missing``: a program or a script that is not there.
    Neither blocks. Raises ``SettingsError`` as ``referenced_scripts`` does.
    """
    return tuple(
        ConfigFinding(
            kind=kind,
            path=entry.path,
            line=entry.line,
            message=message,
            remedy=remedy,
            event=str(entry.event),
            matcher=entry.matcher,
        )
        for kind, message, remedy in dict.fromkeys(_Command(config, entry).doubts())
    )


class _Command:
    """What a ``command`` entry runs: a text for a shell, or the words of a program and its arguments."""

    def __init__(self, config: Mapping[str, Any], entry: HookEntry) -> None:
        command, args = config.get("command"), config.get("args")
        text, words = "", []
        if isinstance(command, (list, tuple)):
            words = [word for word in command if isinstance(word, str)]
        elif isinstance(command, str) and isinstance(args, (list, tuple)):
            words = [command, *(word for word in args if isinstance(word, str))]
        elif isinstance(command, str):
            text = command
        if any(len(word) > MAX_COMMAND for word in (text, *words)):
            raise SettingsError(f"The command is longer than {MAX_COMMAND // 1024} KiB.")
        self.entry = entry
        self.form = entry.form
        self.is_ours = entry.source in ("project", "skill")
        self.has_cwd = isinstance(config.get("cwd"), str)
        self.project_dir = entry.project_dir
        # Where it runs, see `command.py`.
        self.directory = entry.project_dir or entry.directory if entry.form == "claude" else entry.directory
        if self.has_cwd:
            self.directory = os.path.join(entry.directory, os.path.expanduser(config["cwd"]))
        self.places = {
            "CLAUDE_PROJECT_DIR": entry.project_dir or entry.directory,
            "CLAUDE_PLUGIN_ROOT": entry.plugin_root,
            "PWD": self.directory,
            "HOME": os.path.expanduser("~"),
            TOP: _top_of(self.directory) or entry.project_dir,
        }
        self.own = list(filter(None, dict.fromkeys((self.directory, entry.directory, entry.project_dir))))
        self.variables: dict[str, str] = {}
        self.said: list[str] = []
        self.programs: list[list[str]] = []
        self.uses: list[tuple[Use, str]] = []
        # Of `<<`: what ends those of which all is known, and whether Python takes any for code.
        self.known_heres: set[str] = set()
        self.hears_python = False
        if text:
            self._read(text)
            if _LAST.search(text):
                self.uses += [(Use.MAY_RUN, word) for word in self.said]
        else:
            self._take([hidden(self.expanded(word)) for word in words])
        # `cd hooks && …`
        said = (part for word in self.said for part in _parts(self.expanded(word)))
        folders = (path for part in dict.fromkeys(said) for path in _paths(part, self.own) if os.path.isdir(path))
        self.starts = list(dict.fromkeys((*self.own, *folders)))
        if len(self.starts) > _MAX_FOLDERS + len(self.own):
            raise SettingsError(f"The command names more than {_MAX_FOLDERS} folders.")

    # -- what it says ----------------------------------------------------------------------------------------------

    def _read(self, text: str, depth: int = 0) -> None:
        """Take note of what a text for a shell does, and the texts within it."""
        if depth > MAX_DEPTH:
            self.said += (words := shell_words(text))
            self.uses += [(Use.MAY_RUN, word) for word in words]
            return
        text, heres = with_quoted_hidden(plain(text))
        self.known_heres.update(here.delimiter for here in heres)
        self.known_heres.difference_update(here.delimiter for here in heres if here.is_computed)
        text, inner = without_inner(text)
        for simple in simple_commands(text):
            self._assign(simple.assigned)
            texts = [self._known(each) for each in simple.texts]
            is_told = not simple.reads and not any(map(self._is_computed, texts))
            is_told = is_told and (bool(texts) or not self.known_heres.isdisjoint(simple.heres))
            self._take(simple.words, simple.reads, simple.writes, depth=depth, is_told=is_told)
            for each in texts:
                self._hear([program_of(simple.words)], unhidden(each), depth)
        for each in filter(None, (*inner, *(each for here in heres for each in here.inner))):
            self._read(each, depth + 1)
        for here in heres:
            self._hear(map(os.path.basename, shell_words(here.line)), here.body, depth)

    def _hear(self, names: Iterable[str], text: str, depth: int) -> None:
        """Take note of a text that one of the programs ``names`` reads."""
        names = set(names)
        if not names.isdisjoint(SHELLS):
            self._read(unhidden(text), depth + 1)
        elif self.hears_python and any(map(_is_python, names)):
            self._take_code(Use.PYTHON, text, depth)
        elif any(map(is_interpreter, names)):
            self._take_code(Use.CODE, text, depth)
        else:
            self.uses.append((Use.TOLD, text))

    def _take_code(self, use: Use, code: str, depth: int) -> None:
        """Take note of code for an interpreter, of what it loads, and of the texts for a shell within it."""
        self.uses.append((use, code))
        code = unhidden(code)
        for name in _LOADS.findall(code) if use is Use.CODE else ():
            if not name.endswith(".json"):
                self.uses += [(Use.MAY_RUN, hidden(f"{name}{ending}")) for ending in _LOADED]
        if runs_more(code) or _RUNS_TEXT.search(code):
            self._read_said(code, depth)

    def _read_said(self, code: str, depth: int) -> None:
        """Take note of the texts for a shell that code may run; it may also merely say them."""
        start = len(self.uses)
        for each in dict.fromkeys(each for found in _SAID.findall(code) for each in found):
            if any(map(str.isspace, each.strip())):
                self._read(each, depth + 1)
        said, self.uses[start:] = self.uses[start:], []
        for use, word in said:
            if use is Use.RUN and not (SCRIPT_ENDING.fullmatch(word) or ("/" in word and word[0] != "/")):
                self.uses.append((Use.MAY_RUN, word))
            elif use is not Use.WRITTEN:
                self.uses.append((use, word))

    def _assign(self, assigned: Iterable[str]) -> None:
        for word in assigned:
            value = word
            if ASSIGNMENT.match(word):
                name, _, value = word.partition("=")
                value = self._known(value)
                if len(value) <= _MAX_VALUE:
                    self.variables[name.rstrip("+")] = value
            self.said.append(word)
            # Where the variable is run, it is so where that stands.
            self.uses.append((Use.TOLD if grows(unhidden(value)) else Use.MAY_RUN, word))

    def _take(
        self,
        words: list[str],
        reads: Iterable[str] = (),
        writes: Iterable[str] = (),
        *,
        depth: int = 0,
        is_told: bool = False,
    ) -> None:
        """Take note of what one program with its arguments does; ``is_told``: a text that is known is all it reads."""
        words = [self._known(word) for word in words]
        if words and words[0] in _DECLARES:
            self._assign(words[1:])
            return
        self.said += words
        self.programs.append(words)
        found = list(uses(words, self._is_computed))
        name = program_of(words)
        hears_python = _is_python(name) and self._hears_code(words, found)
        for use, word in found:
            if use is Use.TEXT:
                self._read(unhidden(word), depth + 1)
            elif use in (Use.CODE, Use.PYTHON):
                self._take_code(use, word, depth)
            elif use is not Use.ANYTHING or not (is_told and hears_python):
                self.uses.append((use, word))
        if _is_python(name):
            modules = filter(_is_pythons_own, _modules_run(words))
            self.uses += [(Use.PYTHON, f"import {module}") for module in modules]
        if hears_python:
            self.hears_python = True
            self.uses.append((Use.PYTHON, ""))
        if name in _AWKS:
            for code in map(unhidden, words):
                if runs_more(code) or _PIPES.search(code):
                    self._read_said(code, depth)
        runs_input = any(use is Use.ANYTHING for use, _ in found)
        is_only_read = not words or is_data(name) or is_interpreter(name)
        reading = Use.RUN if runs_input else Use.TOLD if is_only_read else Use.MAY_RUN
        self.uses += [(reading, self._known(word)) for word in reads]
        self.uses += [(Use.WRITTEN, self._known(word)) for word in writes]

    def _hears_code(self, words: list[str], found: list[tuple[Use, str]]) -> bool:
        """Whether an interpreter, as its words show, takes what it reads for code, and runs nothing else."""
        runs = [word for use, word in found if use is Use.RUN]
        is_alone = not any(map(self._is_computed, runs)) and all(map(_starts_interpreter, runs))
        given = {use for use, _ in found}
        return (
            is_alone
            and Use.ANYTHING in given
            and given.isdisjoint((Use.CODE, Use.PYTHON, Use.TEXT))
            and not {"xargs", "parallel"}.intersection(words)
        )

    def _known(self, word: str) -> str:
        """Return a word with what the text itself has set its variables to."""
        word = _VARIABLE.sub(lambda found: self.variables.get(found[1] or found[2], found[0]), word)
        if len(word) > MAX_COMMAND:
            raise SettingsError(f"The command is longer than {MAX_COMMAND // 1024} KiB.")
        return word

    def expanded(self, word: str) -> str:
        """Return a word with the folders that its variables stand for, where these are known."""
        return _VARIABLE.sub(lambda found: self.places.get(found[1] or found[2]) or found[0], word)

    def _is_computed(self, word: str) -> bool:
        return COMPUTED.search(self.expanded(word)) is not None

    # -- what that means ---------------------------------------------------------------------------------------------

    def needed_files(self, read: Callable[[str], bytes]) -> dict[str, bytes | None]:
        """Return what the scripts that it runs need of their own folders."""
        found: dict[str, bytes | None] = {}
        words = (word for use, word in self.uses if use is Use.RUN and not self._is_computed(word))
        paths = (path for word in words for path in self._paths_of(word))
        waiting = [path for path in dict.fromkeys(paths) if os.path.isfile(path) and not _is_systems(path)]
        for script in waiting:  # grows as it goes
            code = found.get(script) or read(script)
            if b"\0" in code:
                continue
            kind = _language(script, code)
            if kind != "shell":
                found.update(imported_beside(script, code, read))
            for path in self._sourced(script, code) if kind != "python" else ():
                if path not in found:
                    found[path] = read(path)
                    waiting.append(path)
        return found

    def python_code(self, depth: int = 0) -> tuple[bool, list[str]]:
        """Return whether it runs Python code that comes by ``-c``, ``-m`` or standard input, and the folders of the
        Python scripts that it runs.
        """
        has_code, folders = False, []
        for words in self.programs:
            start, script = _python_start([unhidden(word) for word in words])
            has_code = has_code or start == "code"
            folders += [os.path.dirname(os.path.realpath(path)) for path in self._files(script)]
        words = [word for use, word in self.uses if use is Use.RUN and not self._is_computed(word)]
        for path in dict.fromkeys(path for word in words for path in self._files(word)):
            code = b"" if depth > MAX_DEPTH or _is_systems(path) else _readable(path)
            language = "" if b"\0" in code or len(code) > MAX_COMMAND else _language(path, code)
            text = code.decode("utf-8", "replace")
            if language == "python" and _RUNS_PYTHON.search(text):
                has_code = True
                folders.append(os.path.dirname(os.path.realpath(path)))
            elif language == "shell" and "py" in text:
                inner = _Command({"command": _with_own_folder(text, path)}, self.entry).python_code(depth + 1)
                has_code = has_code or inner[0]
                folders += inner[1]
        return has_code, list(dict.fromkeys(folders))

    def _files(self, word: str) -> list[str]:
        return [path for path in self._paths_of(word)[:1] if word and os.path.isfile(path)]

    def _sourced(self, script: str, code: bytes) -> Iterator[str]:
        """Yield the paths of the files that a script for a shell sources."""
        text = _with_own_folder(code.decode("utf-8", "replace"), script)
        if len(text) > MAX_COMMAND:
            return
        text, _ = with_quoted_hidden(plain(text))
        for simple in simple_commands(without_inner(text)[0]):
            self._assign(simple.assigned)
            word = self._known(simple.words[1]) if simple.words[:1] in (["source"], ["."]) and simple.words[1:] else ""
            if word and not self._is_computed(word):
                yield from filter(os.path.isfile, _paths(self.expanded(unhidden(word)), self.own))

    def scripts(self) -> tuple[str, ...]:
        """Return the paths of the files that it runs or may run."""
        found: dict[str, None] = {}
        written = self.written()
        for use, word in self._running():
            own = set() if use is Use.RUN else written
            text = self.expanded(unhidden(word))
            is_code = use in (Use.CODE, Use.PYTHON)
            for part in (*_parts(text), *(_QUOTED.findall(text) if is_code else ())):
                for path in _paths(part, self.starts):
                    if os.path.isdir(path) and use is Use.RUN:
                        mains = (os.path.join(path, name) for name in _MAIN)
                        found.update(dict.fromkeys(main for main in mains if os.path.isfile(main)))
                    elif os.path.isfile(path) and path not in own and _counts(part, path, self.project_dir):
                        found[path] = None
        modules = (path for paths in self._modules() for path in paths)
        found.update(dict.fromkeys(path for path in modules if os.path.isfile(path)))
        return tuple(found)

    def missing(self) -> tuple[str, ...]:
        """Return where its scripts would be, of those that are not there."""
        found: dict[str, None] = {}
        written = self.written()
        for use, word in self.uses:
            for path in self._absent(unhidden(word)) if use is Use.RUN and not self._is_computed(word) else ():
                # What the command makes in another place is its own business. In the project an agent may be first.
                if path not in written or _is_inside(path, self.project_dir):
                    found[path] = None
        for paths in self._modules():
            if not any(map(os.path.isfile, paths)):
                found.update(dict.fromkeys(paths))
        return tuple(found)

    def _absent(self, word: str) -> list[str]:
        """Return the paths at which a file that is run would be looked for, if it is not there."""
        word = self.expanded(word)
        if "://" in word or "{}" in word or not self.own:
            return []
        paths = _paths(word, self.starts)
        if any(map(os.path.exists, paths)):
            # A skill runs in the folder that has the file. Where folders are named, it may be in any of them.
            is_elsewhere = self.form != "skill" and self.starts == self.own and not os.path.exists(paths[0])
            paths = paths[:1] if is_elsewhere else []
        in_project = [path for path in paths if self.project_dir and _is_inside(path, self.project_dir)]
        return [path for path in paths if path in in_project or ("/" in word and not path.startswith(_SYSTEM_FOLDERS))]

    def _running(self) -> list[tuple[Use, str]]:
        """Return the words that are run or may be run."""
        runs_what_it_is_told = self._runs_what_it_is_told()
        told = (Use.TOLD, Use.CODE, Use.PYTHON) if runs_what_it_is_told else ()
        return [(use, word) for use, word in self.uses if use in (Use.RUN, Use.MAY_RUN, *told)]

    def _runs_what_it_is_told(self) -> bool:
        written = self.written()
        for use, word in self.uses:
            is_code = use in (Use.CODE, Use.PYTHON)
            is_written = use is Use.RUN and not written.isdisjoint(self._paths_of(word))
            if use is Use.ANYTHING or is_written or (is_code and runs_more(unhidden(word))):
                return True
        return False

    def written(self) -> set[str]:
        """Return the paths of the files that it writes itself."""
        return {path for use, word in self.uses if use is Use.WRITTEN for path in self._paths_of(word)}

    def _paths_of(self, word: str) -> list[str]:
        return _paths(self.expanded(unhidden(word)), self.starts)

    def _modules(self) -> Iterator[list[str]]:
        """Yield where modules that Python code imports, and that are not Python's own, would be in its folder."""
        codes = [unhidden(code) for use, code in self.uses if use is Use.PYTHON] if self.is_ours else []
        for name in dict.fromkeys(name for code in codes for name in _imported(code)):
            first, *rest = name.split(".")
            place = os.path.join(self.directory, first)
            if first not in sys.stdlib_module_names and (not rest or os.path.isdir(place)):
                place = os.path.join(place, *rest)
                yield [f"{place}.py", os.path.join(place, "__init__.py")]

    def imports_only_installed(self) -> bool:
        """Whether it is Python code, and nothing else in it could need what lies in its folder."""
        if not any(use is Use.PYTHON for use, _ in self.uses) or (self.has_cwd and not self.is_ours):
            return False
        if any(os.path.isfile(path) for paths in self._modules() for path in paths) or self._runs_what_it_is_told():
            return False
        for words in self.programs:
            name = program_of(words)
            is_alone = _is_python(name) and all(map(_is_pythons_own, _modules_run(words)))
            if name and not (is_alone or is_data(name) or name in SHELLS or name in _CONTROL):
                return False
        scripts = (word for use, word in self.uses if use is Use.RUN)
        return all(map(_starts_interpreter, scripts))

    # -- what cannot be seen -----------------------------------------------------------------------------------------

    def doubts(self) -> Iterator[tuple[str, str, str]]:
        """Yield the kind, the message and the remedy of what cannot be seen of it."""
        written = self.written()
        for use, word in self._running():
            if use is Use.RUN and not self._is_computed(word):
                paths = self._absent(unhidden(word))
                if paths and not any(os.path.lexists(path) or path in written for path in paths):
                    yield "missing", f"The command runs {quoted(word)}: there is no such file.", _PUT_THERE
            elif use in (Use.RUN, Use.MAY_RUN, Use.TOLD) and self._is_unseen_path(word):
                yield _not_seen(word)
        for use, word in self.uses:
            if use is Use.OPEN:
                yield _not_seen(word)
        for words in self.programs:
            yield from self._of_program([unhidden(word) for word in words])
        if any(use is Use.PYTHON for use, _ in self.uses) and not self.imports_only_installed():
            message = "What Python's code imports is looked for in the folder where it runs first, so the trust"
            yield "not-covered", f"{message} does not cover it.", _OWN_SCRIPT
        codes = [unhidden(code) for use, code in self.uses if use is Use.CODE]
        if any(runs_more(code.replace("`", "")) for code in codes) and not self.scripts():
            message = "Which files the code in the command runs cannot be seen, so the trust does not cover them."
            yield "not-covered", message, _OWN_SCRIPT

    def _is_unseen_path(self, word: str) -> bool:
        """Whether only a shell knows which file a word is, its quoted characters hidden."""
        word = self.expanded(word)
        is_path = "/" in word and "://" not in word and (word[0] in "$/.~" or not any(map(str.isspace, word)))
        return is_path and COMPUTED.search(word) is not None

    def _of_program(self, words: list[str]) -> Iterator[tuple[str, str, str]]:
        name = program_of(words)
        if not name or is_data(name):
            return
        place = next(place for place, word in enumerate(words) if program_of([word]) == name)
        following = words[place + 1 : place + 2]
        is_file = any(map(SCRIPT_ENDING.fullmatch, words[place + 2 : place + 3]))  # `bun run hooks/x.ts`
        is_package = not is_file and any(word in _PACKAGE_RUNNERS.get(name, ()) for word in following)
        if name in _RUNNERS or is_package:
            said = " ".join((name, *following)) if is_package else name
            message = f"Which files {quoted(said)} runs cannot be seen, so the trust does not cover them."
            yield "not-covered", message, _WRITE_OUT
        for module in filter(self._is_module, _modules_run(words)):
            yield _not_seen(f"-m {module}")

    def _is_module(self, name: str) -> bool:
        parts = name.split(".")
        if not all(map(str.isidentifier, parts)):
            return False
        places = (os.path.join(start, *parts) for start in self.own)
        return any(os.path.isfile(f"{place}.py") or os.path.isdir(place) for place in places)


def _language(script: str, code: bytes) -> str:
    """Return ``python`` or ``shell``, an empty string if the script does not show which it is for."""
    line = code.partition(b"\n")[0] if code.startswith(b"#!") else b""
    if script.endswith((".py", ".pyw")) or b"python" in line or b"pypy" in line:
        return "python"
    return "shell" if line or script.endswith((".sh", ".bash", ".zsh")) else ""


def _with_own_folder(text: str, script: str) -> str:
    """Return the text of a script for a shell with the folder of the script itself written out."""
    return _ENTERED.sub(lambda found: found[1], _OWN_FOLDER.sub(lambda _: os.path.dirname(script), text))


def _python_start(words: Sequence[str]) -> tuple[str, str]:
    """Return what a program with its arguments starts Python with, ``code`` or ``script``, and the script; an empty
    string if it does not start Python, or starts one that does not look in the working directory.
    """
    place = next((place for place, word in enumerate(words) if _PYTHON.fullmatch(os.path.basename(word))), None)
    if place is None:
        is_other = "uv" in words[:1] or "$" in "".join(words[:1])  # `uv run -m x`, `"$PYTHON" -c …`
        return ("code" if is_other and any(map(_CODE_OPTION.fullmatch, words)) else ""), ""
    if is_data(program_of(words)):
        return "", ""
    is_valued = is_safe = False
    for word in words[place + 1 :]:
        if is_valued:
            is_valued = False
        elif _CODE_OPTION.fullmatch(word) or word in ("-", "/dev/stdin"):
            return ("" if is_safe or _SAFE_OPTION.match(word) else "code"), ""
        elif word[:1] != "-":
            return "script", word
        else:
            is_safe = is_safe or _SAFE_OPTION.match(word) is not None
            is_valued = word in ("-W", "-X")
    return ("" if is_safe else "code"), ""


def _is_systems(path: str) -> bool:
    return path.startswith(_SYSTEM_FOLDERS) or os.path.realpath(path).startswith(_SYSTEM_FOLDERS)


def _starts_interpreter(program: str) -> bool:
    name = os.path.basename(unhidden(program))
    return name == "env" or is_interpreter(name)


def _is_python(name: str) -> bool:
    return name.startswith(("python", "pypy"))


def _modules_run(words: Iterable[str]) -> Iterator[str]:
    """Yield the names of the modules that ``python -m`` runs."""
    is_python = False
    for word, following in pairwise(words):
        is_python = is_python or _is_python(os.path.basename(word))
        if is_python and word == "-m":
            yield following


def _is_pythons_own(module: str) -> bool:
    """Whether a module is part of Python, and runs nothing that is not."""
    first = module.partition(".")[0]
    return first in sys.stdlib_module_names and first not in _RUN_OTHERS


def _imported(code: str) -> Iterator[str]:
    """Yield the names of what Python code imports; of what it takes from a package, also as a module of it."""
    for package, taken, modules in _IMPORTS.findall(code):
        yield from (each.split()[0] for each in modules.split(",") if each.strip())
        if package.strip("."):
            yield package
            yield from (f"{package}.{each.split()[0]}" for each in taken.split(",") if each.strip())


def _not_seen(word: str) -> tuple[str, str, str]:
    message = f"Which file {quoted(word)} is cannot be seen, so the trust does not cover it."
    return "not-covered", message, _WRITE_OUT


def _top_of(folder: str) -> str:
    """Return the folder that has the repository ``folder`` is in, an empty string if there is none."""
    while folder and not os.path.lexists(os.path.join(folder, ".git")):
        above = os.path.dirname(folder)
        folder = above if above != folder else ""
    return folder


def _parts(word: str) -> Iterator[str]:
    """The word, what it assigns, and the words of a text within it, as in ``bash -c "./check.sh now"``."""
    for each in (word, *(shell_words(word) if any(map(str.isspace, word)) else ())):
        yield each
        if "=" in each:
            yield each.partition("=")[2]


def _paths(word: str, starts: Iterable[str]) -> list[str]:
    """Return the absolute paths that the word may stand for, below each of the folders ``starts``."""
    if not word or "\0" in word:
        return []
    paths = (os.path.normpath(os.path.join(start, os.path.expanduser(word))) for start in dict.fromkeys(starts))
    return [path for path in dict.fromkeys(paths) if os.path.isabs(path)]


def _counts(word: str, path: str, project_dir: str) -> bool:
    if project_dir and any(_is_inside(each, project_dir) for each in (path, os.path.realpath(path))):
        return True
    return "/" in word and not _is_systems(path) and os.stat(path).st_size <= _MAX_FOREIGN_SCRIPT


def _is_inside(path: str, folder: str) -> bool:
    return path.startswith((os.path.join(folder, ""), os.path.join(os.path.realpath(folder), "")))
