"""Checks the settings of plugins at load: findings about mistakes, and gates that deny until these are repaired."""

from __future__ import annotations

import os
from contextlib import suppress

from agent_hooks.engine.markers import hookimpl
from agent_hooks.engine.origins import ORIGIN
from agent_hooks.engine.plugin_info import MadePlugin, PluginInfo
from agent_hooks.errors import SettingsError, did_you_mean
from agent_hooks.formats.findings import ConfigFinding
from agent_hooks.system.paths import is_below

from .plugin_settings import own_tables, plugin_tables, tables_in
from .settings_models import can_tighten, is_by_file, merged, model_from, read_table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from agent_hooks.engine.manager import HookManager
    from agent_hooks.formats.read_file import ReadFile
    from agent_hooks.model.context import HookContext

    from .plugin_settings import PluginTable


class WrongSettings:
    """A table with mistakes, and the plugin whose settings it holds."""

    def __init__(self, plugin: str, made: Any, table: PluginTable, error: Exception) -> None:
        self.plugin = plugin
        self.table = table
        self._made = made
        self._error = error

    @property
    def findings(self) -> list[ConfigFinding]:
        """A finding for each mistake."""
        if isinstance(self._error, SettingsError) and self._error.findings:
            return [*self._error.findings]
        told, remedy = f"{self._error!r}.", "Repair the plugin."
        if isinstance(self._error, SettingsError):
            told, remedy = str(self._error), "Correct it."
        message = f"The plugin {self.plugin!r} cannot use the settings [{self.table.at}]: {told}"
        path, line = self.table.place()
        facts: dict[str, Any] = {"message": message, "remedy": remedy, "must_be_repaired": True}
        return [ConfigFinding(kind="wrong-settings", path=path, line=line, **facts)]

    def close(self, manager: HookManager) -> str:
        """Let what the gates of the plugin would decide about be denied while the table is wrong; return the name of
        the plugin that does so, an empty string if there is nothing to deny.
        """
        gates = [
            hook
            for hook in manager.all_hooks()
            if hook.plugin_name == self.plugin
            and hook.mode != "observe"
            and not hook.shadow
            and hook.on_failure(manager.policy) != "open"
            and (hook.event.closed in ("deny", "stop") or hook.options.required or hook.mode == "gate")
        ]
        if not gates:
            return ""
        origin = self.table.origin()
        plugin = MadePlugin(f"{origin} ({self.findings[0].id})")
        for number, hook in enumerate(gates):
            facts: dict[str, Any] = {"match": hook.options.match, "required": hook.options.required}
            facts["on_failure"] = hook.on_failure(manager.policy)
            mark = hookimpl(specname=str(hook.event), mode="gate", tryfirst=True, name=self.plugin, **facts)
            setattr(plugin, f"gate_{number}", mark(_refusal(self.table.name, self._made, origin)))
        folder = os.path.dirname(self.table.path)
        scope = ("directory", folder, self.table.root) if self.table.root else None
        manager.register(plugin, plugin.__name__, source=self.table.source, scope=scope)
        error = " ".join(str(finding) for finding in self.findings)
        manager.keep_info(PluginInfo(name=plugin.__name__, source=self.table.source, status="broken", error=error))
        return plugin.__name__


def _refusal(name: str, made: Any, origin: str) -> Callable[[HookContext], None]:
    def refuse(ctx: HookContext) -> None:
        """Raise the error while there is one: the user's file may be right by now."""
        model, tables = model_from(made), plugin_tables(name, ctx)
        if is_by_file(model):
            for table in tables:
                read_table(model, table)
        else:
            merged(model, name, tables)

    setattr(refuse, ORIGIN, origin)
    return refuse


def check_settings(
    manager: HookManager, files: Iterable[ReadFile], roots: Mapping[str, str], *, is_complete: bool
) -> tuple[list[tuple[ConfigFinding, str, str]], frozenset[str]]:
    """Return the findings about the tables in ``files``, each with its source and project, and the names of the plugins
    that deny because of them. ``roots``: the project of each file. ``is_complete``: all installed plugins were loaded.
    """
    found: list[tuple[ConfigFinding, str, str]] = []
    closed = set()
    # It is not known which settings the plugins have that are not loaded.
    others = {info.name for info in manager.plugins() if info.status != "active"}
    by_name: dict[str, list[PluginTable]] = {}
    for table in (table for file in files for table in tables_in(file, roots.get(file.path, ""))):
        if table.name in manager.settings_models and table.source in ("managed", "user", "project"):
            by_name.setdefault(table.name, []).append(table)
        elif is_complete and table.name not in {*others, *manager.settings_models} and isinstance(table.settings, dict):
            found.append((_of_nobody(table, {*others, *manager.settings_models}), table.source, table.root))
    for name, tables in by_name.items():
        plugin, made = manager.settings_models[name]
        found += [(_of_no_effect(table), table.source, "") for table in _without_say(name, made)]
        for table, error in _errors(name, made, tables):
            wrong = WrongSettings(plugin, made, table, error)
            found += [(finding, table.source, table.root) for finding in wrong.findings]
            closed.add(wrong.close(manager))
    return found, frozenset(closed - {""})


def _of_nobody(table: PluginTable, known: Iterable[str]) -> ConfigFinding:
    from agent_hooks.formats.toml import KEYS

    message = f"No installed plugin has settings of the name {table.name!r}, so nobody reads [{table.at}]."
    remedy = did_you_mean(table.name, [*known, *KEYS], "Correct or remove it, or install the plugin.")
    path, line = table.place()
    return ConfigFinding(kind="unknown-plugin", path=path, line=line, message=message, remedy=remedy)


def _without_say(name: str, made: Any) -> list[PluginTable]:
    """Return the tables in a folder that the environment names, if they cannot tighten the account's own."""
    others = [table for table in own_tables(name) if table.source == "user"][:-1]
    with suppress(Exception):  # of a plugin, which has its finding
        if others and not (is_by_file(model_from(made)) or can_tighten(model_from(made))):
            return [table for table in others if table.lines]
    return []


def _of_no_effect(table: PluginTable) -> ConfigFinding:
    path, line = table.place()
    message = f"[{table.at}] has no effect: the account's own agent-hooks.toml counts, and nothing tightens this table."
    return ConfigFinding(kind="not-allowed", path=path, line=line, message=message, remedy="Put it there.")


def _is_accepted(made: Any, table: PluginTable) -> bool:
    """Whether a plugin accepts a table without its model, which must be ``by_file``: other tables are merged."""
    with suppress(Exception):  # of a plugin, whose model decides
        return not isinstance(made, type) and made.accepts(table) is True
    return False


def _errors(name: str, made: Any, tables: Sequence[PluginTable]) -> Iterator[tuple[PluginTable, Exception]]:
    wrong: dict[str, tuple[PluginTable, Exception]] = {}
    mine = own_tables(name)
    tables = [table for table in tables if not _is_accepted(made, table)]

    def check(table: PluginTable, ask: Callable[..., Any], *arguments: Any) -> None:
        try:
            ask(*arguments)
        except SettingsError as error:
            for path in {finding.path for finding in error.findings}:
                wrong[path] = (next(each for each in (*tables, *mine) if each.path == path), error)
            if not error.findings and not any(each.problem for each in mine):  # which has its finding
                wrong.setdefault(table.path, (table, error))
        except Exception as error:  # noqa: BLE001 - of a plugin
            wrong.setdefault(table.path, (table, error))

    for table in tables:
        check(table, lambda table=table: read_table(model_from(made), table))
    # Each with those of the projects around it, unless one of these is wrong by itself.
    for table in tables:
        folder = os.path.dirname(table.path)
        outer = [each for each in tables if each.root and table.root and is_below(folder, os.path.dirname(each.path))]
        chain = [*sorted(outer, key=lambda each: -len(os.path.dirname(each.path))), *mine]
        if wrong.keys().isdisjoint({table.path, *(each.path for each in chain)}) and not is_by_file(model_from(made)):
            check(table, merged, model_from(made), name, chain)
    yield from wrong.values()
