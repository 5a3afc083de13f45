"""What the call of a tool gives to a shell or to an interpreter, by the names of the tool and of its arguments."""

from __future__ import annotations

from agent_hooks.model.tools import (
    ARGUMENT_KEYS,
    COMMAND_KEYS,
    FILE_KEYS,
    KIND_OF_NAME,
    PATH_KEYS,
    PROGRAM_KEYS,
    command_in,
    is_flat,
    is_patching,
)
from agent_hooks.system.caching import LONGEST_NAME, cache_by_name, lru_cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from agent_hooks.model.tool_call import ToolCall

# Other names for the keys of a program and its arguments.
_SAME_KEYS = {**dict.fromkeys(("binary", "file", "path"), "program"), "params": "args", "parameters": "args"}
_CODE_WORDS = frozenset("code script cell cells source snippet program expression".split())
# What is typed into a program that runs already.
_TYPED_KEYS = frozenset("chars input text data keys stdin keystrokes line lines".split())
# Keys of a part of a command, or of a file.
_TELLING_KEYS = FILE_KEYS.union(COMMAND_KEYS, ARGUMENT_KEYS, PROGRAM_KEYS, ("commands",), _SAME_KEYS)
_TYPING_NAMES = (
    *("stdin", "terminal", "process", "shell", "console", "repl", "exec", "send_key", "keystroke", "tmux"),
    *("interpreter", "ipython", "jupyter"),
)
_TYPING_WORDS = frozenset("term tty pty python node kernel eval evaluate bash zsh sh cmd cli ssh".split())
_SHELLS = frozenset("bash shell zsh sh powershell pwsh tmux".split())
_LISTS = (list, tuple)
_PATH_WORDS = ("path", "file", "folder", "dir", "uri", "dest", "target", "source", "src", "dst")

# Words in the names of tools of unknown kind.
_LOOKING = frozenset(
    """
    read reads get list ls search find lookup grep glob view show cat stat head tail tree diff log status blame info
    describe query count exists check lint validate analyze inspect explain fetch symbols hover definition references
    diagnostics
    """.split()
)
_READING = _LOOKING | {"open", "add", "commit"}  # of files, as `git add` does
_RUNNING = frozenset("run runs exec execute eval evaluate repl interpreter python jupyter kernel sandbox".split())
_WRITING = _RUNNING | frozenset(
    """
    write edit create update delete remove move rename replace insert append patch save put set modify apply copy
    overwrite truncate restore reset checkout upload download format fix stash sync touch rm mv cp link
    """.split()
)
_TAKING = frozenset("delete remove move rename rm mv".split())
# Who only keeps or shows a text does not run it.
_KEEPING = frozenset("create add save post publish comment share note gist snippet draft format review message".split())


class CallInfo:
    """Facts about a call beside its arguments: the folder of its ``project``, and whether a host asks (``is_hosted``).

    ``questions``: those that are to be put to a person before it may go ahead.
    """

    def __init__(self, project: str, cwd: str, *, is_hosted: bool) -> None:
        self._project = project
        self._cwd = cwd
        self.is_hosted = is_hosted
        self.questions: list[str] = []

    @property
    def project(self) -> str:
        """The folder of the project."""
        if not self._project:
            from agent_hooks.trust.project_files import project_root

            self._project = project_root(self._cwd)
        return self._project


class ToolName:
    """What the name of a tool says that it does."""

    def __init__(self, name: str) -> None:
        words = frozenset(words_of(name.rpartition("__")[2].rpartition(".")[2]))
        everywhere = frozenset(words_of(name))
        folded = name.casefold()
        self.is_reading = not words.isdisjoint(_READING) and words.isdisjoint(_WRITING)
        self.is_looking = self.is_reading and not words.isdisjoint(_LOOKING)
        self.is_changing = not words.isdisjoint(_WRITING - _RUNNING)
        self.is_taking = not words.isdisjoint(_TAKING)
        self.is_typing = any(each in folded for each in _TYPING_NAMES) or not everywhere.isdisjoint(_TYPING_WORDS)
        self.is_keeping = not words.isdisjoint(_KEEPING) and everywhere.isdisjoint(_RUNNING)


tool_name = cache_by_name(128)(ToolName)


def says_nothing(call: ToolCall) -> bool:
    """Whether the names of a tool of unknown kind and of its arguments show that it runs nothing, and that none of the
    arguments is sure to be a path.
    """
    name, args = call.name, call.args
    if any(isinstance(value, str) and value.lstrip()[:1] in ("{", "[") for value in args.values()):
        return False
    is_short = sum(map(len, args), len(name)) <= LONGEST_NAME if is_flat(args) else False
    return is_short and _say_nothing(name, tuple(args))


@lru_cache(maxsize=256)
def _say_nothing(name: str, keys: tuple[str, ...]) -> bool:
    if tool_name(name).is_typing or is_patching(name) or KIND_OF_NAME.get(name.rpartition(".")[2]) == "shell":
        return False
    has_code = any(not _CODE_WORDS.isdisjoint(words_of(key)) for key in keys)
    return not has_code and _TELLING_KEYS.isdisjoint(keys) and not any(map(_may_be_path_key, keys))


def runs_of(call: ToolCall, name: ToolName) -> tuple[list[str], list[str]]:
    """Return the commands that ``call`` has run by a shell, and the code that it has run by some interpreter."""
    commands: list[str] = []
    codes: list[str] = []
    waiting: list[Any] = [call.args]
    while waiting:
        args = waiting.pop()
        commands.append(command_in({_SAME_KEYS.get(key, key): value for key, value in args.items()}))
        for key, value in args.items():
            several = value if isinstance(value, _LISTS) else (value,)
            waiting += [each for each in several if hasattr(each, "items")]
            texts = [each for each in several if isinstance(each, str)]
            waiting += [{"": _json_in(text)} for text in texts if text.lstrip()[:1] in ("{", "[")]
            is_typed = name.is_typing and key in _TYPED_KEYS
            is_code = not name.is_keeping and not _CODE_WORDS.isdisjoint(words_of(key))
            if not (is_typed or is_code) or name.is_looking or not texts:
                continue
            is_shell = not _SHELLS.isdisjoint(words_of(f"{call.name} {call.args.get('language', '')}"))
            text = " ".join(texts)
            commands += [text] if is_typed or is_shell else _magic_in(text)
            if not is_shell and ("(" in text or key not in (*COMMAND_KEYS, *_TYPED_KEYS)):
                codes.append("\n".join(texts))  # a comment in one says nothing of the next
    return commands, codes


def paths_under_keys(value: object, *, is_path: bool = False) -> list[str]:
    """Return the texts under keys that sound like a path's, at any depth."""
    if isinstance(value, str):
        if value.lstrip()[:1] in ("{", "[") and (inner := _json_in(value)) is not None:
            return paths_under_keys(inner, is_path=is_path or isinstance(inner, list))
        return [value] if is_path and value and "\n" not in value else []
    if isinstance(value, dict):
        pairs = [(_may_be_path_key(str(key)), value[key]) for key in value]
    else:
        pairs = [(is_path, inner) for inner in value] if isinstance(value, _LISTS) else []
    return [path for is_inner, inner in pairs for path in paths_under_keys(inner, is_path=is_inner)]


def _json_in(text: str) -> object:
    from json import loads

    try:
        return loads(text)
    except (ValueError, RecursionError):
        return None


@cache_by_name(256)  # arguments have few names
def _may_be_path_key(key: str) -> bool:
    return key in PATH_KEYS or any(map(key.lower().__contains__, _PATH_WORDS))


def _magic_in(code: str) -> list[str]:
    """Return the lines, or the cell, that a notebook gives to a shell."""
    if code.lstrip().startswith("%%"):
        return [code.lstrip().partition("\n")[2]]
    lines = (line.strip() for line in code.split("\n"))
    return [line.lstrip("!%").removeprefix("sx ").removeprefix("system ") for line in lines if line[:1] in ("!", "%")]


@cache_by_name(256)  # tools and arguments have few names
def words_of(name: str) -> tuple[str, ...]:
    """Return the words of a name in any style, in lower case."""
    return tuple("".join(f" {c.lower()}" if c.isupper() else c if c.isalnum() else " " for c in name).split())
