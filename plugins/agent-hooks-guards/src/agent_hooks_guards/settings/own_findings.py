"""Findings about the settings of the guards, as `agent-hooks doctor` shows them."""

from __future__ import annotations

from datetime import date

from agent_hooks import ConfigFinding, HookContext
from agent_hooks.model.tool_names import NAMES, exact_names, meant_by

from .own_settings import conditions_of
from .project import project_guards

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from agent_hooks_guards.guards.base import Guard


def findings(directory: str) -> list[ConfigFinding]:
    """Report, of the settings that apply in ``directory``, ended exceptions, and misspelled tools."""
    files, _ = project_guards(HookContext("before_tool_use", cwd=directory))
    found = [each for file in files for each in _of_exceptions(file.path, file.tables.get("allow", ()))]
    found += [each for file in files for rule in (*file.rules, *file.rate_limits) for each in _of_matches(*rule)]
    return found


def _of_matches(guard: Guard, origin: str) -> Iterator[ConfigFinding]:
    path, _, line = origin.rpartition(":")
    for text in getattr(guard, "match_texts", ()):
        names = exact_names(text) or []
        slips = {name: meant for name in names if name not in NAMES and (meant := meant_by(name, NAMES))}
        for name, meant in slips.items() if len(slips) == len(names) else ():
            message = f"The rule matches {name!r}, but no tool is known by this name, so it may never hold."
            remedy = f"Did you mean {meant!r}?"
            yield ConfigFinding(kind="unknown-tool", path=path, line=int(line), message=message, remedy=remedy)


def _of_exceptions(path: str, tables: tuple[Mapping[str, Any], ...]) -> Iterator[ConfigFinding]:
    today = date.today().isoformat()  # noqa: DTZ011 - the person's own day
    for table in tables:
        last = table.get("until", "")
        if not last or last > today:
            continue
        if last < today:
            kind, when = "ended-exception", f"ended on {last}, and lets nothing through any more"
            remedy = "Remove it, or give it a later day if it is still needed."
        else:
            kind, when = "ending-exception", "lets through for the last day today"
            remedy = "Give it a later day if it is needed longer."
        message = f"The exception from {table['rule']} for {conditions_of(table)} {when}."
        yield ConfigFinding(kind=kind, path=path, message=message, remedy=remedy)
