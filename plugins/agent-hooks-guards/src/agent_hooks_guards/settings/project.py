"""Finds the settings files that apply to an event: those of trusted projects, of the user, and of the machine."""

from __future__ import annotations

import os

from agent_hooks import SettingsError
from agent_hooks.sources.plugin_settings import has_tables, is_same_table, plugin_tables

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    from agent_hooks import HookContext
    from agent_hooks.sources.plugin_settings import PluginTable

    from .build import FileGuards

    # The guards of each file, and the error of the first wrong file.
    Found: TypeAlias = tuple[list[FileGuards], SettingsError | None]

# The name of the plugin's table.
NAME = "guards"

# By path: the table, and the guards made of it.
_built: dict[str, tuple[PluginTable, FileGuards]] = {}
# The last result, by its dispatch, until another hook of the same dispatch takes it.
_found: dict[object, Found] = {}


def has_settings() -> bool:
    """Whether a settings file says anything about guards."""
    return has_tables(NAME)


def project_guards(ctx: HookContext) -> Found:
    """Return the guards of every trusted project of ``ctx``, innermost folder first, then those of the user and of the
    machine; and the error of the first wrong file.

    The core has loaded and trusted the tables of projects. The files of the user and the machine are read again when
    their time or size changes.
    """
    found: list[FileGuards] = []
    wrong: SettingsError | None = None
    try:
        tables = plugin_tables(NAME, ctx)
    except SettingsError as error:
        tables, wrong = [], error
    if not tables:
        return found, wrong
    roots = [table for table in tables if table.root]
    own = {os.path.realpath(table.path) for table in tables if not table.root} if roots else set()
    for table in tables:
        if table.root and os.path.realpath(table.path) in own:  # counts as the user's own file
            continue
        try:
            found.append(_guards_from(table))
        except SettingsError as error:
            wrong = wrong or error
    _found.clear()
    _found[_dispatch(ctx)] = result = found, wrong
    return result


def project_guards_again(ctx: HookContext) -> Found:
    """Return the result of an earlier hook of this dispatch, else that of ``project_guards``."""
    return _found.pop(_dispatch(ctx), None) or project_guards(ctx)


def _dispatch(ctx: HookContext) -> object:
    """Return a key that the contexts of one dispatch share."""
    return ctx.event, ctx.created_at, ctx.cwd, ctx.project_dir


def _guards_from(table: PluginTable) -> FileGuards:
    if table.problem:
        raise SettingsError(f"{table.problem} Until then it is not known which guards it asks for.", table.path)
    known = _built.get(table.path)
    if known is None or not is_same_table(known[0], table):
        from .build import build

        known = _built[table.path] = (table, build(table))
    return known[1]
