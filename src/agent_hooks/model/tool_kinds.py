"""The kind of a tool by its name and its parameters, where no table of its host has it."""

from __future__ import annotations

import re

from .tool_names import HOST_TOOLS
from .tools import COMMAND_KEYS, KIND_OF_NAME, PATH_KEYS, WORKDIR_KEYS, is_patching, role_of

_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")

# -- words in the names of parameters, in lower case -------------------------------------------------------------------
_COMMANDS = frozenset(("command", "commands", "cmd", "cmds"))
_BESIDE_COMMANDS = _COMMANDS | frozenset("line lines shell bash sh terminal str string".split())
_CODES = frozenset("code script cell cells snippet program".split())
_BESIDE_CODES = _CODES | frozenset("source python py js javascript string str text block".split())
_INPUTS = frozenset(("query", "input", "expression", "__arg1"))
_URLS = frozenset(("url", "urls"))
_QUERIES = frozenset("query queries q search_query search_term searchQuery".split())
_EDITS = frozenset("edits replacements diff patch patch_text patchText".split())
_TEXT = "(str|string|text|content|contents|code|source|value|lines|)"
_OLD, _NEW = re.compile(f"old{_TEXT}"), re.compile(f"(new{_TEXT}|replacement)")
_CONTENTS = frozenset("content contents file_text fileText file_content file_contents".split())
_MAYBE_CONTENTS = frozenset("text body data chunk lines markdown".split())
_PATHS = frozenset("path paths file files filename filenames filepath filepaths folder dir directory".split())
# Of cities and accounts as often as of files.
_MAYBE_PATHS = frozenset(("source", "destination", "src", "dst"))
_NO_PATHS = frozenset((*WORKDIR_KEYS, "work_dir", "working_dir")) - {"directory", "dir_path"}

# -- words in the names of tools ---------------------------------------------------------------------------------------
_RUNNING = frozenset(
    """
    run runner runcmd execute executor execution exec eval repl interpreter sandbox kernel jupyter sh cmd cli ssh system
    subprocess popen pwsh fish node nodejs ruby perl php awk docker kubectl git psql cron batch lambda
    """.split()
)
_LANGUAGES = frozenset("python ipython javascript repl interpreter jupyter bash shell zsh powershell terminal".split())
_LOOKING = frozenset("review lint format explain describe docs documentation search find check validate".split())
_KEEPING = frozenset("save store create add write get list share post".split())
_SENDING = frozenset("send post comment review publish upload reply".split())
# They pass on what a model types or points at to a program that the parameters do not tell.
_TYPING = frozenset("computer keyboard mouse type press key keys stdin terminal console process browser tmux".split())
_ENGINES = frozenset("google bing brave duckduckgo ddg ddgs tavily exa serper serpapi searx searxng kagi".split())
_BESIDE_ENGINES = _ENGINES | frozenset("search web run query results json tool engine custom".split())
# Of several verbs, the one that changes most.
_VERBS = {
    "delete": frozenset("delete remove rm rmdir unlink erase".split()),
    "edit": frozenset("edit replace insert patch update modify change".split()),
    "write": frozenset("write save append create mkdir touch overwrite".split()),
    "search": frozenset("search find grep glob list ls tree".split()),
    "read": frozenset("read view cat open load show head tail".split()),
}
_MOVING = frozenset("move mv rename copy cp".split())
_MAYBE_READING = frozenset(("get", "info", "stat"))  # what they get may as well be flights

_FILES = frozenset(("read", "write", "edit", "delete", "search"))
# A tool with a coding agent's name for a kind has one of these parameters, or for files one with a path.
_NEEDED = {
    "shell": frozenset((*COMMAND_KEYS, "commands", "args", "input")),
    "fetch": _URLS | {"uri", "prompt"},
    "web_search": _QUERIES,
    "search": _QUERIES | {"pattern", "glob", "regex"},
}


def kind_by(name: str, keys: frozenset[str] | None, *, are_all: bool = False) -> str | None:
    """Return the kind of a tool that nobody declares; None if it is unknown.

    ``keys``: the parameters that take text, None if they are not known; ``are_all``: whether there are no others. The
    names of coding agents' tools decide, where the parameters fit, and then the parameters. ``other`` is a tool that
    takes no command, code, path or address.
    """
    if (known := KIND_OF_NAME.get(name)) and (keys is None or is_patching(name) or _fits(known, keys)):
        return known
    of_hosts = {tools[name] for tools in HOST_TOOLS.values() if name in tools}
    # A name that means different kinds to different hosts says nothing.
    of_host = of_hosts.pop() if len(of_hosts) == 1 else ""
    if of_host not in ("", "other") and (keys is None or _fits(of_host, keys)):
        return of_host
    if keys is None:
        return None
    words = _words(re.split(r"__|[./]", name)[-1])
    if kind := _by_parameters(words, keys):
        return kind
    return "other" if of_host == "other" or (are_all and _is_harmless(words, keys)) else None


def _words(name: str) -> frozenset[str]:
    return frozenset(word.lower() for word in (*_WORD.findall(name), *_WORD.findall(name.lower())))


def _fits(kind: str, keys: frozenset[str]) -> bool:
    is_needed = not _NEEDED.get(kind, frozenset()).isdisjoint(keys)
    if kind == "subagent":
        return not _is_made_of(keys, _COMMANDS, _BESIDE_COMMANDS)
    return is_needed or (kind in _FILES and any(map(_is_path, keys)))


def _is_path(key: str) -> bool:
    words = [word.lower() for word in _WORD.findall(key)]
    is_path = words[-1:] and (words[-1] in _PATHS or words[-2:] == ["file", "name"])
    return bool(is_path or key in PATH_KEYS) and key not in _MAYBE_PATHS and key not in _NO_PATHS


def _by_parameters(words: frozenset[str], keys: frozenset[str]) -> str:
    has_path = any(map(_is_path, keys))
    if has_path and (_EDITS & keys or (_has(_OLD, keys) and _has(_NEW, keys))):
        return "edit"  # first, as some editors have a `command`
    if _is_made_of(keys, _COMMANDS, _BESIDE_COMMANDS) or _runs_code(words, keys):
        return "shell"
    if _URLS & keys and "computer" not in words:  # which has one among all that it can do
        return "fetch"
    if _QUERIES & keys and _searches_web(words):
        return "web_search"
    return _of_files(words, keys) if has_path else ""


def _has(pattern: re.Pattern[str], keys: frozenset[str]) -> bool:
    return any(pattern.fullmatch(key.lower().replace("_", "")) for key in keys)


def _is_made_of(keys: frozenset[str], telling: frozenset[str], beside: frozenset[str]) -> bool:
    """Whether a key has one of the words ``telling`` and none but those ``beside``."""
    return any(telling & words and words <= beside for words in map(_words, keys))


def _runs_code(words: frozenset[str], keys: frozenset[str]) -> bool:
    if words & _LOOKING:
        return False
    is_of_language = bool(words & _LANGUAGES) and not words & _KEEPING
    has_code = _is_made_of(keys, _CODES, _BESIDE_CODES)
    return (has_code and (is_of_language or bool(words & _RUNNING))) or (is_of_language and bool(_INPUTS & keys))


def _searches_web(words: frozenset[str]) -> bool:
    if words & {"web", "internet"}:
        return "search" in words
    return bool(words & _ENGINES) and words <= _BESIDE_ENGINES


def _of_files(words: frozenset[str], keys: frozenset[str]) -> str:
    """Return the kind of a tool that takes a path."""
    if words & (_MOVING | _SENDING):
        return ""
    verb = next((kind for kind, verbs in _VERBS.items() if words & verbs), "")
    if _CONTENTS & keys or (verb in ("edit", "write") and _MAYBE_CONTENTS & keys):
        return "edit" if verb == "edit" else "write"
    return verb or ("read" if words & _MAYBE_READING and words & _PATHS else "")


def _is_harmless(words: frozenset[str], keys: frozenset[str]) -> bool:
    """Whether each text is under a known key of a message, and no word of the name says that it is run or typed."""
    roles = {role_of(key) for key in keys}
    is_message = not roles or ("text" in roles and roles <= {"text", "addressee"})
    return is_message and words.isdisjoint(_RUNNING | _LANGUAGES | _TYPING)
