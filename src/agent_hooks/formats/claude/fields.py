"""The fields of Claude Code's handlers and their valid values.

Source: https://code.claude.com/docs/en/hooks#hook-handler-fields
"""

from __future__ import annotations

from agent_hooks.errors import did_you_mean
from agent_hooks.formats.reader import kind_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    Test = tuple[Callable[[Any], bool], str]


def is_text(value: Any) -> bool:
    """Whether it is a text with more than blanks in it."""
    return isinstance(value, str) and bool(value.strip())


def is_texts(value: Any) -> bool:
    """Whether it is a list of texts."""
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


_FLAG: Test = (lambda value: isinstance(value, bool), "true or false")
# The fields of the entry itself, with the test of the value and its description. The types check the others.
_FIELDS: dict[str, Test] = {
    "if": (is_text, "a text that is not empty"),
    "command": (lambda value: not isinstance(value, list), "a text"),  # the type also has the lists of our TOML
    "once": _FLAG,
    "onFailure": (lambda value: value in ("continue", "block"), '"continue" or "block"'),
    "async": _FLAG,
    "asyncRewake": _FLAG,
}
# Common fields of handlers that belong to the entry and not to the config.
_BACKGROUND = ("async", "asyncRewake")
_ON_ENTRY = ("type", "if", "once", "onFailure")
_COMMON = ("type", "if", "timeout", "statusMessage", "once", "onFailure")
_TYPES: dict[str, tuple[str, ...]] = {
    "command": ("command", "args", "shell", *_BACKGROUND),
    "http": ("url", "headers", "allowedEnvVars"),
    "mcp_tool": ("server", "tool", "input"),
    "prompt": ("prompt", "model", "continueOnBlock"),
    "agent": ("prompt", "model"),
}
ALL_FIELDS = frozenset((*_COMMON, *(field for fields in _TYPES.values() for field in fields)))


def known_fields(handler_type: str) -> tuple[str, ...]:
    """Return the fields that a handler of one of Claude Code's types may have."""
    return (*_COMMON, *_TYPES[handler_type])


def wrong_field(handler_type: str, handler: Mapping[str, Any], *, takes_lists: bool = False) -> tuple[str, str] | None:
    """Return the first field that is invalid before its type is asked, and its problem, as the predicate of "the
    handler". ``takes_lists``: a command may be a list.
    """
    on_entry = (*_ON_ENTRY, *_BACKGROUND) if handler_type == "command" else _ON_ENTRY
    if handler_type == "command" and not takes_lists:
        on_entry = (*on_entry, "command")
    for field, value in handler.items():
        if field in on_entry and field in _FIELDS and not _FIELDS[field][0](value):
            article = "a" if field in ("once", "command") else "an"
            return field, f"has {article} {field} that must be {_FIELDS[field][1]}, not {kind_of(value)}"
    return None


def taken_apart(
    handler_type: str, handler: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any], tuple[str, ...]]:
    """Split the fields of a valid handler into its config, the fields of its entry, and its unknown keys.

    The config of a type that is not Claude Code's may have any key.
    """
    is_known = handler_type in _TYPES
    known = known_fields(handler_type) if is_known else tuple(handler)
    on_entry = (*_ON_ENTRY, *_BACKGROUND) if is_known else _ON_ENTRY
    config = {key: value for key, value in handler.items() if key in known and key not in on_entry}
    facts = {
        "type": "subagent" if handler_type == "agent" else handler_type,
        "condition": handler.get("if", ""),
        "on_failure": "closed" if handler.get("onFailure") == "block" else None,
        "is_async": handler_type == "command" and any(handler.get(key) is True for key in _BACKGROUND),
    }
    return config, facts, tuple(key for key in handler if key not in known)


def unknown_key(key: str, handler_type: str, event: str) -> tuple[str, str]:
    """Return problem and remedy for an unknown key of a handler."""
    problem = f"The key {key[:80]!r} means nothing in a {handler_type} hook on {event}, so it is ignored."
    return problem, did_you_mean(key, known_fields(handler_type), "Remove it.", cutoff=0.7)


# Characters that a shell interprets, so there may be more than one command.
_SHELL_SIGNS = frozenset(";&|<>()`\n")
_MAX_OURS = 4096  # characters
# Quoted parts in which a shell interprets nothing: a path in them may have any characters.
_QUOTED = r"""(?:'[^']*'|"[^"$`\\]*")+"""
# The end of our command lines for gates of hosts that continue if the command cannot start.
OR_REFUSE = " || exit 2"
# What a line of ours begins with that says so where its interpreter or script is gone: no other program is started
# before that, and all words are quoted. The shells of all hosts read it, fish too.
FALLBACK = """[ -x {} ] && [ -f {} ] || exec sh -c 'printf %s "$1"; printf %s "$2" >&2; exit $3' sh """
_FALLBACK_WORD = r"(?:'[^']*'|\"'\"|[\w@%+=:,./-])+"
_OUR_NAMES = frozenset({"agent-hooks", "agent-hooks-core", "agent_hooks", "agent_hooks_core", "agent_hooks_core.py"})


def is_ours(handler: Mapping[str, Any]) -> bool:
    """Whether a command only runs ``agent-hooks run``."""
    from itertools import pairwise
    from shlex import split

    if not is_text(handler.get("command")) or not is_texts(handler.get("args", [])):
        return False
    command = plain_line(handler["command"])
    try:
        if "args" in handler:
            words = [command, *handler["args"]]
        elif len(command) <= _MAX_OURS and _SHELL_SIGNS.isdisjoint(_without_quoted_paths(command)):
            words = split(command)
        else:
            return False
    except ValueError:
        return False
    names = [word.replace("\\", "/").rpartition("/")[2].removesuffix(".exe") for word in words]
    return any(name in _OUR_NAMES and following == "run" for name, following in pairwise(names))


def plain_line(command: str) -> str:
    """Return a command line without the parts that ``install`` puts around ours."""
    if command.startswith("[ -x "):
        import re

        tests = re.escape(FALLBACK).replace(re.escape("{}"), _FALLBACK_WORD)
        command = re.sub(rf"\A{tests}{_FALLBACK_WORD} {_FALLBACK_WORD} \d; (?:exec )?", "", command)
    return command.removesuffix(OR_REFUSE)


def _without_quoted_paths(command: str) -> str:
    import re

    if re.search(r"""\\['"]""", command):  # a quote that begins no quoted part
        return command
    return re.sub(_QUOTED, lambda found: "" if found[0][1] == "/" else found[0], command)
