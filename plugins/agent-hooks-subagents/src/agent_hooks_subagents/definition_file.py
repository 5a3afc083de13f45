"""Definitions of subagents in Markdown files, as Claude Code has them.

Source of its keys: https://code.claude.com/docs/en/sub-agents#supported-frontmatter-fields
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from agent_hooks import HookManager, RegistrationError, register_agent
from agent_hooks.errors import did_you_mean
from agent_hooks.formats.frontmatter import FrontmatterError, read_frontmatter
from agent_hooks.runtime.judges import model_id
from agent_hooks.system.visible import logger_of
from agent_hooks_guards import Price

if TYPE_CHECKING:
    from typing import Any

# Key of a file -> field of a definition.
_FIELDS = {
    "name": "name",
    "description": "description",
    "tools": "tools",
    "disallowedTools": "disallowed_tools",
    "disallowed_tools": "disallowed_tools",
    "model": "model",
    "maxTurns": "max_steps",
    "max_steps": "max_steps",
    "max_tokens": "max_tokens",
    "max_execution_time": "max_execution_time",
    "max_cost": "max_cost",
    "prices": "prices",
}
# What Claude Code would do with these is not done here.
_NOT_HERE = frozenset("background color effort initialPrompt isolation mcpServers memory permissionMode skills".split())
_INHERITED = "inherit"
# What guards call a limit in their errors.
_LIMITS = {"max_total_tokens": "max_tokens", "max_seconds": "max_execution_time"}


def read_definition(path: str | os.PathLike[str], *, trusted: bool) -> dict[str, Any]:
    """Return the fields of the definition in the file ``path``, its hooks checked.

    Raises ``TrustError`` if the hooks are neither trusted nor answered for (``trusted``), and ``RegistrationError``
    naming the file, the line and the key.
    """
    path = os.path.abspath(path)
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise RegistrationError(f"{path}: the definition of a subagent cannot be read: {error.strerror}.") from error
    try:
        values, lines, body = read_frontmatter(data)
    except FrontmatterError as error:
        raise RegistrationError(f"{_at(path, error.line)}: {error.problem} {error.remedy}") from error
    given = {"hooks": None, **values}
    hooks = given.pop("hooks")
    fields: dict[str, Any] = {"prompt": body.strip()}
    for key, value in given.items():
        place = _at(path, lines.get((key,), 0))
        field = _FIELDS.get(key)
        if field is None:
            _unknown(key, place)
        elif value is None:
            raise RegistrationError(f"{place}: {key} is empty: give it a value, or remove it.")
        elif field in fields:
            raise RegistrationError(f"{place}: {key} says {field} a second time: keep one of them.")
        else:
            fields[field] = _prices(value, place) if field == "prices" else value
    for key in ("name", "description"):
        if key not in fields:
            raise RegistrationError(f"{path}: {key} is missing in the frontmatter of the subagent.")
    if fields.get("model") == _INHERITED:
        del fields["model"]
    elif isinstance(fields.get("model"), str):
        fields["model"] = _model(fields["model"])
    _check(fields, path, lines)
    if hooks:
        register_agent(HookManager(load_plugins=False), path, trusted=trusted)
        fields["file"] = path
    return fields


def _model(name: str) -> str:
    """Return the model with its provider where the name says it, as Claude Code's own names do."""
    try:
        return model_id(name)
    except RegistrationError:
        return name


def _check(fields: dict[str, Any], path: str, lines: dict[Any, int]) -> None:
    """Raise ``RegistrationError`` naming the file and the line, if these are the fields of no definition."""
    from .definition import SubagentDefinition

    try:
        SubagentDefinition(**fields)
    except RegistrationError as error:
        said = str(error)
        word = said.partition(":")[0].partition(" ")[0]
        field = _LIMITS.get(word, word)
        line = next((lines[(key,)] for key, name in _FIELDS.items() if name == field and (key,) in lines), 0)
        raise RegistrationError(f"{_at(path, line)}: {said}") from error


def _unknown(key: str, place: str) -> None:
    """Log a key that means nothing here. Raises ``RegistrationError`` if it was surely meant for us."""
    if key in _NOT_HERE:
        logger_of().warning("%s: %s is not honoured here.", place, key)
        return
    hint = did_you_mean(key, (*_FIELDS, "hooks"), cutoff=0.8)
    if hint:
        raise RegistrationError(f"{place}: the key {key[:80]!r} means nothing. {hint}")
    logger_of().warning("%s: the key %.80r means nothing here.", place, key)


def _prices(given: Any, place: str) -> dict[str, Price]:
    try:
        return {model: Price(**price) for model, price in given.items()}
    except RegistrationError as error:
        raise RegistrationError(f"{place}: {error}") from error
    except (AttributeError, TypeError) as error:
        raise RegistrationError(
            f"{place}: prices are by model: `claude-opus: {{input: 15, output: 75}}`, of a million tokens."
        ) from error


def _at(path: str, line: int) -> str:
    return f"{path}:{line}" if line else path
