"""Pages that set names of others beside ours: their tables, and what is called so here."""

from __future__ import annotations

import importlib.util
import re
import sys
import textwrap
from importlib import import_module
from inspect import Parameter, Signature, isclass, signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent_hooks.cli.commands import commands
from agent_hooks.engine.manager import HookManager
from agent_hooks.formats.json_schema import json_schema
from agent_hooks.handlers.types import find_type, handler_types
from agent_hooks.model.events import find_event
from agent_hooks.model.values import Value

if TYPE_CHECKING:
    from collections.abc import Collection
    from types import ModuleType

DOCS = Path(__file__).parent.parent / "docs"
PACKAGES = tuple(f"agent_hooks{name}." for name in ("", "_frameworks", "_guards", "_prompts", "_subagents"))


def script(name: str) -> ModuleType:
    """A script of the folder of the pages, as a module."""
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


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


def signatures(page: str) -> str:
    """The calls that a page's tables name, with their parameters and defaults, a line of at most 88 columns each."""
    names = our_names([row for rows in tables(page).values() for row in rows])
    lines = [_call(name) for name in names if re.fullmatch(r"\w[\w.]*", name) and find_event(name) != name]
    return "\n".join(textwrap.fill(line, 88, subsequent_indent=" " * 4) for line in lines if line)


def _call(name: str) -> str:
    try:
        found: Any = resolve(name)
    except (ImportError, AttributeError):
        return ""  # a key of a file
    if not callable(found) or (isclass(found) and issubclass(found, BaseException)):
        return ""
    parameters = [each for each in signature(found).parameters.values() if each.name != "self"]
    if isclass(found) and issubclass(found, Value):
        parameters = [each for each in parameters if each.kind is Parameter.POSITIONAL_OR_KEYWORD]
        known = {each.name for each in parameters}
        fields = {**dict.fromkeys(sorted(found._required), Parameter.empty), **found._defaults}
        kind = Parameter.KEYWORD_ONLY
        parameters += [Parameter(each, kind, default=fields[each]) for each in fields if each not in known]
    if not parameters or parameters[0].kind is not Parameter.VAR_POSITIONAL or parameters[0].name != "args":
        return f"{name}{Signature([each.replace(annotation=each.empty, default=_shown(each)) for each in parameters])}"
    return ""  # a protocol


def _shown(parameter: Parameter) -> Any:
    """Its default, an ellipsis in place of a long one or one whose text is not code."""
    default = parameter.default
    return default if default is Parameter.empty or re.fullmatch(r"[^<]{,20}", repr(default)) else _Ellipsis()


class _Ellipsis:
    def __repr__(self) -> str:
        return "..."


if __name__ == "__main__":
    print(signatures(sys.argv[1]))
