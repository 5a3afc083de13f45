"""The fields of Claude Code's handlers and their valid values.

Source: https://code.claude.com/docs/en/hooks#hook-handler-fields
"""

from __future__ import annotations

from agent_hooks.errors import did_you_mean
from agent_hooks.formats.reader import kind_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Mapping
    from typing import Any

    Test = tuple[Callable[[Any], bool], str]

MAX_SECONDS = 1_000_000_000


def is_text(value: Any) -> bool:
    """Whether it is a text with more than blanks in it."""
    return isinstance(value, str) and bool(value.strip())


def is_texts(value: Any) -> bool:
    """Whether it is a list of texts."""
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _is_headers(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(item, str) for item in value.values())


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value <= MAX_SECONDS


_TEXT: Test = (is_text, "a text that is not empty")
_TEXTS: Test = (is_texts, "a list of texts")
_FLAG: Test = (lambda value: isinstance(value, bool), "true or false")

# By field, the test of its value, and its description.
FIELDS: dict[str, Test] = {
    "if": _TEXT,
    "timeout": (_is_number, f"a number of seconds above 0, at most {MAX_SECONDS}"),
    "statusMessage": (lambda value: isinstance(value, str), "a text"),
    "once": _FLAG,
    "onFailure": (lambda value: value in ("continue", "block"), '"continue" or "block"'),
    "command": _TEXT,
    "args": _TEXTS,
    "shell": (lambda value: value in ("bash", "powershell"), '"bash" or "powershell"'),
    "async": _FLAG,
    "asyncRewake": _FLAG,
    "url": _TEXT,
    "headers": (_is_headers, "an object of texts"),
    "allowedEnvVars": _TEXTS,
    "server": _TEXT,
    "tool": _TEXT,
    "input": (lambda value: isinstance(value, dict), "an object"),
    "prompt": _TEXT,
    "model": _TEXT,
    "continueOnBlock": _FLAG,
}
# Common fields of handlers that belong to the entry and not to the config.
_BACKGROUND = ("async", "asyncRewake")
_ON_ENTRY = ("type", "if", "once", "onFailure")
_COMMON = ("type", "if", "timeout", "statusMessage", "once", "onFailure")
# The required and the optional fields by type.
_TYPES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "command": (("command",), ("args", "shell", *_BACKGROUND)),
    "http": (("url",), ("headers", "allowedEnvVars")),
    "mcp_tool": (("server", "tool"), ("input",)),
    "prompt": (("prompt",), ("model", "continueOnBlock")),
    "agent": (("prompt",), ("model",)),
}


def known_fields(handler_type: str) -> tuple[str, ...]:
    """Return the fields that a handler of one of Claude Code's types may have."""
    needed, further = _TYPES[handler_type]
    return (*_COMMON, *needed, *further)


def wrong_field(handler_type: str, handler: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the first missing or invalid field and its problem, as the predicate of "the handler".

    For a type that is not Claude Code's, only the fields common to all handlers are checked.
    """
    is_known = handler_type in _TYPES
    for field in _TYPES[handler_type][0] if is_known else ():
        if field not in handler:
            return field, f"has no {field}"
    return _wrong_value(handler, known_fields(handler_type) if is_known else _COMMON)


def wrong_on_entry(handler_type: str, handler: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the same for the fields that are no part of the handler's config."""
    on_entry = (*_ON_ENTRY, *_BACKGROUND) if handler_type == "command" else _ON_ENTRY
    return _wrong_value(handler, on_entry)


def _wrong_value(handler: Mapping[str, Any], fields: Container[str]) -> tuple[str, str] | None:
    for field, value in handler.items():
        if field in fields and field in FIELDS and not FIELDS[field][0](value):
            given = value if isinstance(value, (int, float)) and field == "timeout" else kind_of(value)
            article = "an" if field[0] in "aio" and field != "once" else "a"
            return field, f"has {article} {field} that must be {FIELDS[field][1]}, not {given}"
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
# The end of our documented command lines for gates of hosts that continue if the command cannot start.
_OR_REFUSE = " || exit 2"
_OUR_NAMES = frozenset({"agent-hooks", "agent-hooks-core", "agent_hooks", "agent_hooks_core", "agent_hooks_core.py"})


def is_ours(handler: Mapping[str, Any]) -> bool:
    """Whether a command only runs ``agent-hooks run``."""
    from itertools import pairwise
    from shlex import split

    command = handler["command"].removesuffix(_OR_REFUSE)
    try:
        if "args" in handler:
            words = [command, *handler["args"]]
        elif len(command) <= _MAX_OURS and _SHELL_SIGNS.isdisjoint(command):
            words = split(command)
        else:
            return False
    except ValueError:
        return False
    names = [word.replace("\\", "/").rpartition("/")[2].removesuffix(".exe") for word in words]
    return any(name in _OUR_NAMES and following == "run" for name, following in pairwise(names))
