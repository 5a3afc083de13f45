"""The guards that settings files ask for: those of every trusted project that an event is in, the user's and the
machine's.
"""

from __future__ import annotations

import os

from agent_hooks import SettingsError
from agent_hooks.sources.plugin_settings import plugin_tables

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    from agent_hooks import HookContext
    from agent_hooks.sources.plugin_settings import PluginTable

    from .build import FileGuards

    # The guards, and what is wrong with the first file that cannot be honoured.
    Found: TypeAlias = tuple[list[FileGuards], SettingsError | None]

# The name of the plugin's table.
NAME = "guards"

# By path: the table, and the guards made of it.
_built: dict[str, tuple[PluginTable, FileGuards]] = {}
# What was found last, by the dispatch that it was for, until another hook of that one has taken it.
_found: dict[object, Found] = {}


def project_guards(ctx: HookContext) -> Found:
    """Return the guards of every trusted project that ``ctx`` is in, the innermost folder first, then those of the user
    and of the machine's owner; and what is wrong with the first file that cannot be honoured.

    A project's tables are those that the core has loaded, and trusted. The user's and the machine's files are read
    again when their time or size changes.
    """
    found: list[FileGuards] = []
    wrong: SettingsError | None = None
    try:
        tables = plugin_tables(NAME, ctx)
    except SettingsError as error:
        tables, wrong = [], error
    own = {os.path.realpath(table.path) for table in tables if not table.root}
    for table in tables:
        if table.root and os.path.realpath(table.path) in own:  # the user's own file, which counts as that
            continue
        try:
            found.append(_guards_from(table))
        except SettingsError as error:
            wrong = wrong or error
    _found.clear()
    _found[_dispatch(ctx)] = result = found, wrong
    return result


def project_guards_again(ctx: HookContext) -> Found:
    """Return what ``project_guards`` found for an earlier hook of this very dispatch; where there was none, look."""
    return _found.pop(_dispatch(ctx), None) or project_guards(ctx)


def _dispatch(ctx: HookContext) -> object:
    """What the contexts of one dispatch have in common, and those of two have not."""
    return ctx.event, ctx.created_at, ctx.cwd, ctx.project_dir


def _guards_from(table: PluginTable) -> FileGuards:
    if table.problem:
        raise SettingsError(f"{table.problem} Until then it is not known which guards it asks for.", table.path)
    known = _built.get(table.path)
    if known is None or known[0] != table:
        from .build import build

        known = _built[table.path] = (table, build(table))
    return known[1]
