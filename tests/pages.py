"""Pages that set names of others beside ours: their tables, and what is called so here."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from agent_hooks.cli.commands import commands
from agent_hooks.engine.manager import HookManager
from agent_hooks.formats.json_schema import json_schema
from agent_hooks.handlers.types import find_type, handler_types
from agent_hooks.model.events import find_event

if TYPE_CHECKING:
    from collections.abc import Collection

DOCS = Path(__file__).parent.parent / "docs"
PACKAGES = ("agent_hooks.", "agent_hooks_guards.", "agent_hooks_prompts.", "agent_hooks_subagents.")


def tables(page: str) -> dict[str, list[list[str]]]:
    """The rows of a page's tables, each a list of cells, by heading."""
    found: dict[str, list[list[str]]] = {}
    for section in (DOCS / page).read_text(encoding="utf-8").split("\n## ")[1:]:
        heading, _, text = section.partition("\n")
        lines = [line for line in text.splitlines() if line.startswith("| ")]
        cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
        found[heading] = cells[1:]  # without the names of the columns
    return found


def named(cell: str) -> list[str]:
    """The names in a cell."""
    return re.findall(r"`([^`]+)`", cell)


def our_names(rows: list[list[str]]) -> list[str]:
    """The names in the last column but one, in which ours are."""
    return sorted({name for row in rows for name in named(row[-2])})


def words_of_files() -> set[str]:
    """Every key that an agent-hooks.toml may have, those of the handler types that are here included."""
    known = handler_types(HookManager(load_plugins=False))
    schema = json_schema({name: find_type(name, known) for name in known})
    parts = [schema, *schema["$defs"].values()]
    return {name for part in parts for name in part.get("properties", {})}


def resolve(name: str, words: Collection[str] = ()) -> object:
    """What is called so: an event, one of ``words``, a command, an attribute. Raises ``ImportError`` or
    ``AttributeError``.
    """
    if find_event(name) == name or name in words:
        return name
    if name.startswith("agent-hooks "):
        return commands.commands.get(name.removeprefix("agent-hooks "))
    if not name.startswith(PACKAGES):
        name = f"agent_hooks.{name}"
    package, *path = name.split(".")
    found: object = import_module(package)
    for number, part in enumerate(path, 1):
        is_module = not hasattr(found, part)
        found = import_module(".".join([package, *path[:number]])) if is_module else getattr(found, part)
    return found
