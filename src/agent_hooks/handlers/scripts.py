"""The files that a command runs: which these are, and whether they still are what was trusted."""

from __future__ import annotations

import os
import re
import stat
from hashlib import sha256
from itertools import pairwise

from agent_hooks.config.findings import ConfigFinding
from agent_hooks.errors import SettingsError, TrustError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    from .entry import HookEntry

_MAX_FOREIGN_SCRIPT = 1024 * 1024
# A longer text cannot be given to a program, at least on Linux. What is looked for takes its time.
MAX_COMMAND = 128 * 1024
_MAX_FOLDERS = 20
# What a package manager looks after changes with every update, and is no part of a project's policy.
_SYSTEM_FOLDERS = ("/usr/", "/bin/", "/sbin/", "/lib", "/System/", "/nix/store/", "/opt/homebrew/")

# What stands for the top of the repository, a name that no shell has for a variable.
_TOP = ":top"
_TOP_WRITTEN = "$(git rev-parse --show-toplevel)"
_GIT_TOP = re.compile(r"\$\(\s*git\s+rev-parse\s+--show-toplevel\s*\)|`\s*git\s+rev-parse\s+--show-toplevel\s*`")
_PWD = re.compile(r"\$\(\s*pwd\s*\)|`\s*pwd\s*`")
_WITH_DEFAULT = re.compile(r"\$\{(CLAUDE_PROJECT_DIR|CLAUDE_PLUGIN_ROOT|PWD):?[-=?](?:[^{}]|\{[^{}]*\})*\}")
_VARIABLE = re.compile(rf"\$(?:\{{([A-Za-z_]\w*|{_TOP})\}}|([A-Za-z_]\w*))", re.ASCII)

# What a shell computes, and what it does not where a quote or a backslash says so.
_COMPUTED = re.compile(r"\$[\w{(*@…]|[`*?\[]")
_SPECIAL = "$`*?["
_HIDDEN = {ord(each): chr(0xE000 + place) for place, each in enumerate(_SPECIAL)}
_SEEN_AGAIN = {ord(hidden): chr(each) for each, hidden in _HIDDEN.items()}
_INNER = re.compile(r"\$\(([^()]*)\)|`([^`]*)`")
_MAX_DEPTH = 5
_MAX_SHOWN = 100

_BEFORE_PROGRAMS = frozenset(
    {"if", "then", "else", "elif", "do", "while", "until", "!", "{", "exec", "time", "command", "env", "nohup", "sudo"}
)
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=", re.ASCII)
_SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh"})
_SAYING = (["echo"], ["printf"])
_RUNNERS = frozenset({"make", "just"})
_PACKAGE_RUNNERS = frozenset({"npm", "pnpm", "yarn"})


def check_scripts(entry: HookEntry) -> None:
    """See that the files which the command runs are those that were trusted. Raises ``TrustError`` if not."""
    for path, trusted in entry.scripts.items():
        try:
            digest = _digest(path)
        except OSError as error:
            raise TrustError(f"{path}, which was trusted, cannot be read: {error.strerror}") from error
        if digest != trusted:
            raise TrustError(f"{path} has changed since it was trusted; see `agent-hooks trust --diff`")


def _digest(path: str) -> str:
    """Return the SHA-256 of a file; nothing for a pipe or a device in its place, which might never end."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with open(descriptor, "rb") as file:
        return sha256(file.read()).hexdigest() if stat.S_ISREG(os.fstat(descriptor).st_mode) else ""


def referenced_scripts(config: Mapping[str, Any], entry: HookEntry) -> tuple[str, ...]:
    """Return the absolute paths of the files that the command of a ``command`` entry names, each once.

    ``config``: the entry's fields, valid or not. A file counts if it is inside the project, else if the command says it
    with a slash and it is neither the system's nor larger than 1 MiB. Of a text for a shell this is a best effort:
    every word that is such a path counts, also of a text within it; the folders of the project and the plugin, the top
    of the repository, ``$PWD`` and ``$HOME`` are known. What else a shell would compute is not: see ``doubts_about``.
    Raises ``SettingsError`` for a command that would take too long to look through.
    """
    return _Command(config, entry).scripts()


def doubts_about(config: Mapping[str, Any], entry: HookEntry) -> tuple[ConfigFinding, ...]:
    """Return what a trust in the command of a ``command`` entry does not cover, as far as that can be seen.

    ``not-covered``: files that only running it would name. ``missing``: a program that is not there. Neither blocks.
    Raises ``SettingsError`` as ``referenced_scripts`` does.
    """
    return tuple(
        ConfigFinding(
            kind=kind,
            path=entry.path,
            line=entry.line,
            message=message,
            remedy=_REMEDIES[kind],
            event=str(entry.event),
            matcher=entry.matcher,
        )
        for kind, message in dict.fromkeys(_Command(config, entry).doubts())
    )


_REMEDIES = {
    "not-covered": 'Write it as "$CLAUDE_PROJECT_DIR"/…, which can be seen.',
    "missing": "Correct the path, or put the file there.",
}


class _Command:
    """What a ``command`` entry runs: a text for a shell, or the words of a program and its arguments."""

    def __init__(self, config: Mapping[str, Any], entry: HookEntry) -> None:
        command, args = config.get("command"), config.get("args")
        self.text = ""
        self.words: list[str] = []
        if isinstance(command, (list, tuple)):
            self.words = [word for word in command if isinstance(word, str)]
        elif isinstance(command, str) and isinstance(args, (list, tuple)):
            self.words = [command, *(word for word in args if isinstance(word, str))]
        elif isinstance(command, str):
            self.words = [command]
        if any(len(word) > MAX_COMMAND for word in self.words):
            raise SettingsError(f"The command is longer than {MAX_COMMAND // 1024} KiB.")
        if isinstance(command, str) and not isinstance(args, (list, tuple)):
            self.text, self.words = _plain(command), []
        self.project_dir = entry.project_dir
        # Where it runs, see `command.py`.
        self.directory = entry.project_dir or entry.directory if entry.form == "claude" else entry.directory
        if isinstance(config.get("cwd"), str):
            self.directory = os.path.join(entry.directory, os.path.expanduser(config["cwd"]))
        self.places = {
            "CLAUDE_PROJECT_DIR": entry.project_dir or entry.directory,
            "CLAUDE_PLUGIN_ROOT": entry.plugin_root,
            "PWD": self.directory,
            "HOME": os.path.expanduser("~"),
            _TOP: _top_of(self.directory) or entry.project_dir,
        }
        self.own = [self.directory, entry.directory, entry.project_dir]
        words = _shell_words(self.text) if self.text else self.words
        self.parts = list(dict.fromkeys(self.expanded(part) for word in words for part in _parts(word)))
        # `cd hooks && …`
        folders = (path for part in self.parts for path in _paths(part, self.own) if os.path.isdir(path))
        self.starts = list(dict.fromkeys((*self.own, *folders)))
        if len(self.starts) > _MAX_FOLDERS + len(self.own):
            raise SettingsError(f"The command names more than {_MAX_FOLDERS} folders.")

    def expanded(self, word: str) -> str:
        """Return a word with the folders that its variables stand for, where these are known."""
        return _VARIABLE.sub(lambda found: self.places.get(found[1] or found[2]) or found[0], word)

    def scripts(self) -> tuple[str, ...]:
        """Return the paths of the files that it names."""
        found = ((part, path) for part in self.parts for path in _paths(part, self.starts) if os.path.isfile(path))
        return tuple(dict.fromkeys(path for part, path in found if _counts(part, path, self.project_dir)))

    def doubts(self) -> Iterator[tuple[str, str]]:
        """Yield the kind and the message of what cannot be seen of it."""
        return self._of_text(self.text) if self.text else self._of_program(self.words)

    def _of_text(self, text: str, depth: int = 0) -> Iterator[tuple[str, str]]:
        if depth > _MAX_DEPTH:
            return
        text, inner = _without_inner(_with_quoted_hidden(_plain(text)))
        for each in filter(None, inner):
            yield from self._of_text(each, depth + 1)
        for words in _simple_commands(text):
            program = _from_program(words)
            for word in () if program[:1] in _SAYING else words:
                if self._is_computed(word):
                    yield _not_seen(word)
            yield from self._of_program([_unhidden(word) for word in program], depth)

    def _is_computed(self, word: str) -> bool:
        """Whether only a shell knows which file a word is, its quoted characters hidden."""
        word = self.expanded(word)
        is_path = "/" in word and "://" not in word and (word[0] in "$/.~" or not any(map(str.isspace, word)))
        return is_path and _COMPUTED.search(word) is not None

    def _of_program(self, words: list[str], depth: int = 0) -> Iterator[tuple[str, str]]:
        """Yield what is in doubt about one program and its arguments."""
        if not words:
            return
        program, *args = words
        name = os.path.basename(program)
        path = self.expanded(program)
        paths = _paths(path, self.starts) if "/" in path and not _COMPUTED.search(path) else []
        if paths and not any(map(os.path.lexists, paths)):
            yield "missing", f"The command runs {_quoted(program)}: there is no such file."
        if name in _RUNNERS or (name in _PACKAGE_RUNNERS and args[:1] == ["run"]):
            said = _quoted(" ".join((name, *args[:1])) if name in _PACKAGE_RUNNERS else name)
            yield "not-covered", f"Which files {said} runs cannot be seen, so the trust does not cover them."
        is_python = is_shell = False
        for word, following in pairwise(words):
            called = os.path.basename(word)
            is_python = is_python or called.startswith(("python", "pypy"))
            is_shell = is_shell or called in _SHELLS
            if is_python and word == "-m" and self._is_module(following):
                yield _not_seen(f"-m {following}")
            if is_shell and word[:1] == "-" and word[1:2] != "-" and word.endswith("c"):
                yield from self._of_text(following, depth + 1)
        if name == "eval":
            yield from self._of_text(" ".join(args), depth + 1)

    def _is_module(self, name: str) -> bool:
        parts = name.split(".")
        if not all(map(str.isidentifier, parts)):
            return False
        places = (os.path.join(start, *parts) for start in dict.fromkeys(self.own) if start)
        return any(os.path.isfile(f"{place}.py") or os.path.isdir(place) for place in places)


def _top_of(folder: str) -> str:
    """Return the folder that has the repository ``folder`` is in, an empty string if there is none."""
    while folder and not os.path.lexists(os.path.join(folder, ".git")):
        above = os.path.dirname(folder)
        folder = above if above != folder else ""
    return folder


def _plain(text: str) -> str:
    """Return a text for a shell with the folders that are known written as mere variables."""
    text = _PWD.sub("${PWD}", _GIT_TOP.sub(f"${{{_TOP}}}", text))
    return _WITH_DEFAULT.sub(r"${\1}", text)


def _with_quoted_hidden(text: str) -> str:
    """Return a text for a shell in which what its quotes make harmless is hidden from it, without comments, and with
    each line a command.
    """
    made = []
    quote = previous = ""
    rest = iter(text)
    for each in rest:
        shown = each
        if each == "\\" and quote != "'":
            shown += next(rest, "").translate(_HIDDEN)
        elif quote:
            if each == quote:
                quote = ""
            elif quote == "'" or each not in "$`":
                shown = each.translate(_HIDDEN)
        elif each in "'\"":
            quote = each
        elif each == "#" and (not previous or previous.isspace() or previous in ";&|("):
            while each not in ("", "\n"):
                each = next(rest, "")
            shown = ";"
        elif each == "\n":
            shown = ";"
        made.append(shown)
        previous = each
    return "".join(made)


def _without_inner(text: str) -> tuple[str, list[str]]:
    """Return a text for a shell, each command within it replaced by ``$…``, and these commands."""
    inner: list[str] = []

    def taken(found: re.Match[str]) -> str:
        inner.append(_unhidden(found[1] or found[2] or ""))
        return "$…"

    for _ in range(_MAX_DEPTH):
        text, count = _INNER.subn(taken, text)
        if not count:
            break
    return text, inner


def _simple_commands(text: str) -> Iterator[list[str]]:
    """Yield the words of each program with its arguments, without what is only written to."""
    words: list[str] = []
    is_target, depth = False, 0
    for word in _shell_words(text):
        if word.strip("();<>|&"):
            if not is_target:
                words.append(word)
            is_target = False
        elif "<" in word or ">" in word:
            is_target = ">" in word
        else:
            depth += word.count("(") - word.count(")")
            if depth < 0:  # the end of a pattern of `case`
                words, depth = words[:-1], 0
            yield words
            words = []
    yield words


def _from_program(words: list[str]) -> list[str]:
    """Return the words of a command from its program on."""
    for place, word in enumerate(words):
        if word not in _BEFORE_PROGRAMS and not _ASSIGNMENT.match(word):
            return words[place:]
    return []


def _not_seen(word: str) -> tuple[str, str]:
    return "not-covered", f"Which file {_quoted(word)} is cannot be seen, so the trust does not cover it."


def _unhidden(word: str) -> str:
    return word.translate(_SEEN_AGAIN)


def _quoted(word: str) -> str:
    word = _unhidden(word).replace("$…", "$(…)").replace(f"${{{_TOP}}}", _TOP_WRITTEN)
    return f"`{word if len(word) <= _MAX_SHOWN else f'{word[:_MAX_SHOWN]}…'}`"


def _shell_words(command: str) -> list[str]:
    from shlex import shlex

    command = command.replace("`", " ")
    lexer = shlex(command, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        return list(lexer)
    except ValueError:  # a quote that is not closed, in the eyes of shlex
        return command.split()


def _parts(word: str) -> Iterator[str]:
    """The word, what it assigns, and the words of a text within it, as in ``bash -c "./check.sh now"``."""
    for each in (word, *(_shell_words(word) if any(map(str.isspace, word)) else ())):
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
