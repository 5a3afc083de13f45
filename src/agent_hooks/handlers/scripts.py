"""The files that a command runs: which these are, and whether they still are what was trusted."""

from __future__ import annotations

import os
from hashlib import sha256

from agent_hooks.errors import TrustError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    from .entry import HookEntry

_MAX_FOREIGN_SCRIPT = 1024 * 1024
# What a package manager looks after changes with every update, and is no part of a project's policy.
_SYSTEM_FOLDERS = ("/usr/", "/bin/", "/sbin/", "/lib", "/System/", "/nix/store/", "/opt/homebrew/")


def check_scripts(entry: HookEntry) -> None:
    """See that the files which the command runs are those that were trusted. Raises ``TrustError`` if not."""
    for path, trusted in entry.scripts.items():
        try:
            with open(path, "rb") as file:
                digest = sha256(file.read()).hexdigest()
        except OSError as error:
            raise TrustError(f"{path}, which was trusted, cannot be read: {error.strerror}") from error
        if digest != trusted:
            raise TrustError(f"{path} has changed since it was trusted; see `agent-hooks trust --diff`")


def referenced_scripts(config: Mapping[str, Any], entry: HookEntry) -> tuple[str, ...]:
    """Return the absolute paths of the files that the command of a ``command`` entry names, each once.

    ``config``: the entry's fields, valid or not. A file counts if it is inside the project, else if the command says it
    with a slash and it is neither the system's nor larger than 1 MiB. Of a text for a shell this is a best effort:
    every word that is such a path counts, also of a text within it; what a shell would only compute is not seen.
    """
    command, args = config.get("command"), config.get("args")
    if isinstance(command, (list, tuple)):
        words: Iterable[str] = [word for word in command if isinstance(word, str)]
    elif not isinstance(command, str):
        return ()
    elif isinstance(args, (list, tuple)):
        words = [command, *(word for word in args if isinstance(word, str))]
    else:
        words = _shell_words(command)
    places = {"CLAUDE_PROJECT_DIR": entry.project_dir or entry.directory, "CLAUDE_PLUGIN_ROOT": entry.plugin_root}
    parts = list(dict.fromkeys(_expanded(part, places) for word in words for part in _parts(word)))
    starts = [entry.directory, entry.project_dir]
    starts += [path for part in parts for path in _paths(part, starts[:2]) if os.path.isdir(path)]  # `cd hooks && …`
    found = ((part, path) for part in parts for path in _paths(part, starts) if os.path.isfile(path))
    return tuple(dict.fromkeys(path for part, path in found if _counts(part, path, entry.project_dir)))


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


def _expanded(word: str, places: Mapping[str, str]) -> str:
    for name, folder in places.items():
        if folder:
            word = word.replace(f"${{{name}}}", folder).replace(f"${name}", folder)
    return word


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
