"""The files that a command runs: which these are, and whether they still are what was trusted."""

from __future__ import annotations

import os
import re
import stat
import sys
from hashlib import sha256
from itertools import pairwise

from agent_hooks.config.findings import ConfigFinding
from agent_hooks.errors import SettingsError, TrustError

from .programs import SCRIPT_ENDING, SHELLS, Use, is_data, is_interpreter, program_of, runs_more, uses
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
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    from .entry import HookEntry

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
_QUOTED = re.compile(r"""['"`]([^'"`\n]+)['"`]""")
_RUNNERS = frozenset("make just task rake invoke tox nox pre-commit lefthook run-parts".split())
_PACKAGE_RUNNERS = {
    **dict.fromkeys(("npm", "pnpm", "yarn", "bun"), ("run", "test", "start")),
    "deno": ("task",),
}
_CONTROL = frozenset("for in case esac fi done } trap wait".split())
# What is run of a folder that is given to an interpreter.
_MAIN = ("__main__.py", "index.js")

_WRITE_OUT = 'Write it as "$CLAUDE_PROJECT_DIR"/…, which can be seen.'
_PUT_THERE = "Correct the path, or put the file there."
_OWN_SCRIPT = "Put the code into a script of its own, and run that alone."


def check_scripts(entry: HookEntry) -> dict[str, bytes]:
    """See that the files which the command runs are those that were trusted, and return by path what was read.

    Raises ``TrustError`` if one of them is not.
    """
    read = {}
    for path, trusted in entry.scripts.items():
        if not trusted:
            if os.path.exists(path):
                raise TrustError(f"{path} was not there when its command was trusted; see `agent-hooks trust --diff`")
            continue
        try:
            content = _content(path)
        except OSError as error:
            raise TrustError(f"{path}, which was trusted, cannot be read: {error.strerror}") from error
        if content is None or sha256(content).hexdigest() != trusted:
            raise TrustError(f"{path} has changed since it was trusted; see `agent-hooks trust --diff`")
        read[path] = content
    return read


def _content(path: str) -> bytes | None:
    """Return what is in a file; nothing for a pipe or a device in its place, which might never end."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with open(descriptor, "rb") as file:
        return file.read() if stat.S_ISREG(os.fstat(descriptor).st_mode) else None


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


def imports_only_installed(config: Mapping[str, Any], entry: HookEntry) -> bool:
    """Return whether a ``command`` entry is Python code with nothing else that could need what lies in its folder, so
    that Python need not look there; not of a command that would take too long to look through.
    """
    try:
        return _Command(config, entry).imports_only_installed()
    except SettingsError:
        return False


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
        text, inner = without_inner(text)
        for simple in simple_commands(text):
            self._assign(simple.assigned)
            self._take(simple.words, simple.reads, simple.writes, depth=depth)
            for each in simple.texts:
                self._hear([program_of(simple.words)], self._known(each), depth)
        for each in filter(None, inner):
            self._read(each, depth + 1)
        for here in heres:
            self._hear(map(os.path.basename, shell_words(here.line)), here.body, depth)

    def _hear(self, names: Iterable[str], text: str, depth: int) -> None:
        """Take note of a text that one of the programs ``names`` reads."""
        names = set(names)
        if not names.isdisjoint(SHELLS):
            self._read(unhidden(text), depth + 1)
        else:
            self.uses.append((Use.CODE if any(map(is_interpreter, names)) else Use.TOLD, text))

    def _assign(self, assigned: Iterable[str]) -> None:
        for word in assigned:
            if ASSIGNMENT.match(word):
                name, _, value = word.partition("=")
                value = self._known(value)
                if len(value) <= _MAX_VALUE:
                    self.variables[name.rstrip("+")] = value
            self.said.append(word)
            self.uses.append((Use.MAY_RUN, word))

    def _take(
        self,
        words: list[str],
        reads: Iterable[str] = (),
        writes: Iterable[str] = (),
        *,
        depth: int = 0,
    ) -> None:
        """Take note of what one program with its arguments does."""
        words = [self._known(word) for word in words]
        if words and words[0] in _DECLARES:
            self._assign(words[1:])
            return
        self.said += words
        self.programs.append(words)
        found = list(uses(words, self._is_computed))
        for use, word in found:
            if use is Use.TEXT:
                self._read(unhidden(word), depth + 1)
            else:
                self.uses.append((use, word))
        name = program_of(words)
        runs_input = any(use is Use.ANYTHING for use, _ in found)
        reading = Use.RUN if runs_input else Use.TOLD if is_data(name) or is_interpreter(name) else Use.MAY_RUN
        self.uses += [(reading, self._known(word)) for word in reads]
        self.uses += [(Use.WRITTEN, self._known(word)) for word in writes]

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

    def scripts(self) -> tuple[str, ...]:
        """Return the paths of the files that it runs or may run."""
        found: dict[str, None] = {}
        written = self._written()
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
        written = self._written()
        for use, word in self.uses:
            for path in self._absent(unhidden(word)) if use is Use.RUN and not self._is_computed(word) else ():
                if path not in written:
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
        written = self._written()
        for use, word in self.uses:
            is_code = use in (Use.CODE, Use.PYTHON)
            is_written = use is Use.RUN and not written.isdisjoint(self._paths_of(word))
            if use is Use.ANYTHING or is_written or (is_code and runs_more(unhidden(word))):
                return True
        return False

    def _written(self) -> set[str]:
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
            is_alone = name.startswith(("python", "pypy")) and "-m" not in words
            if name and not (is_alone or is_data(name) or name in SHELLS or name in _CONTROL):
                return False
        scripts = (word for use, word in self.uses if use is Use.RUN)
        return all(is_interpreter(os.path.basename(unhidden(word))) for word in scripts)

    # -- what cannot be seen -----------------------------------------------------------------------------------------

    def doubts(self) -> Iterator[tuple[str, str, str]]:
        """Yield the kind, the message and the remedy of what cannot be seen of it."""
        written = self._written()
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
            message = "What the code after `-c` imports is looked for in the folder where it runs first, so the trust"
            yield "not-covered", f"{message} does not cover it.", _OWN_SCRIPT

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
        is_python = False
        for word, following_word in pairwise(words):
            is_python = is_python or os.path.basename(word).startswith(("python", "pypy"))
            if is_python and word == "-m" and self._is_module(following_word):
                yield _not_seen(f"-m {following_word}")

    def _is_module(self, name: str) -> bool:
        parts = name.split(".")
        if not all(map(str.isidentifier, parts)):
            return False
        places = (os.path.join(start, *parts) for start in self.own)
        return any(os.path.isfile(f"{place}.py") or os.path.isdir(place) for place in places)


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
    is_systems = path.startswith(_SYSTEM_FOLDERS) or os.path.realpath(path).startswith(_SYSTEM_FOLDERS)
    return "/" in word and not is_systems and os.stat(path).st_size <= _MAX_FOREIGN_SCRIPT


def _is_inside(path: str, folder: str) -> bool:
    return path.startswith((os.path.join(folder, ""), os.path.join(os.path.realpath(folder), "")))
