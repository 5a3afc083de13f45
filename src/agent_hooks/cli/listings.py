"""The commands that list what there is: ``plugins``, ``events`` and ``schema``."""

from __future__ import annotations

import json
import os
import sys

from agent_hooks.engine.installed import remedy_for
from agent_hooks.engine.manager import HookManager
from agent_hooks.errors import RegistrationError
from agent_hooks.formats.toml_lines import written_key
from agent_hooks.handlers.types import find_type, handler_types
from agent_hooks.model.context import HookContext
from agent_hooks.model.events import HookEvent
from agent_hooks.model.policy import RANKS
from agent_hooks.model.values import thaw
from agent_hooks.sources.loader import PROTECTION, HookConfigLoader
from agent_hooks.sources.plugin_settings import plugin_tables
from agent_hooks.system.visible import visible
from agent_hooks_repair import foreign_distributions, warning_about

from .terminal import apart, line_printer, print_json, print_records, prints_elsewhere, shown_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from agent_hooks.engine.plugin_info import HookInfo, PluginInfo
    from agent_hooks.sources.plugin_settings import PluginTable

_STYLES = {"active": "bold green", "broken": "bold red"}


def show_plugins(*, modules: Iterable[str] = (), as_json: bool) -> int:
    """Print the plugins and their hooks; return 1 if one is broken, else 0."""
    with apart(), prints_elsewhere():
        loader = HookConfigLoader(modules=modules)
        manager = loader.load()
        plugins = [plugin for plugin in manager.plugins() if plugin.name != PROTECTION]
        hooks = manager.describe()
    # The row of a broken plugin says all about it.
    findings = (f"agent_hooks: {finding}" for finding in manager.findings if finding.kind != "broken-plugin")
    foreign = (" Remedy: ".join(warning_about(name)) for name in foreign_distributions())
    warnings = [*dict.fromkeys((*manager.notes, *findings)), *foreign]
    if as_json:
        listed = [_facts(plugin, "name version distribution source status error") for plugin in plugins]
        names = "name event priority mode match timeout on_failure required shadow wrapper is_async origin"
        for each in listed:
            each["settings"] = [table.origin() for table in settings_of(each["name"], manager, os.getcwd())]
            each["hooks"] = [_facts(hook, names) for hook in hooks if hook.plugin == each["name"]]
        print_json({"plugins": listed, "warnings": warnings})
    else:
        _print(plugins, hooks, warnings, loader)
    return int(any(plugin.status == "broken" for plugin in plugins))


def show_settings(*, modules: Iterable[str] = (), as_json: bool) -> int:
    """Print each value of the settings of plugins that hold here, with its place; return 1 if some are wrong, else 0.

    Of two places of one key, the later counts; those of projects may only tighten.
    """
    with apart(), prints_elsewhere():
        loader = HookConfigLoader(modules=modules)
        manager = loader.load()
        owners = {owner for owner, _ in manager.settings_models.values()}
        rows = [
            (
                written_key((table.name, *place)),
                json.dumps(value, ensure_ascii=False, default=str),
                table.origin(*place),
            )
            for owner in sorted(owners)
            for table in sorted(settings_of(owner, manager, os.getcwd()), key=lambda table: RANKS[table.source])
            for place, value in _values(thaw(table.settings))
        ]
    wrong = [finding for finding in manager.findings if finding.kind == "wrong-settings"]
    if as_json:
        listed = [{"key": key, "value": json.loads(value), "origin": origin} for key, value, origin in rows]
        print_json({"settings": listed, "findings": [finding.as_dict() for finding in wrong]})
        return int(bool(wrong))
    line = line_printer()
    for finding in wrong:
        line(f"Warning: {finding}", "yellow")
    if rows:
        print_records(("key", "value", "where"), [(key, value, shown_path(where)) for key, value, where in rows])
    else:
        line("No plugin has settings here.")
    return int(bool(wrong))


def _values(value: Any, place: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Yield the values in a table, each with its path; a list is one value unless it has tables."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _values(inner, (*place, key))
    elif isinstance(value, list) and any(isinstance(each, dict) for each in value):
        for number, inner in enumerate(value):
            yield from _values(inner, (*place, number))
    else:
        yield place, value


def settings_of(plugin: str, manager: HookManager, directory: str) -> list[PluginTable]:
    """Return the tables with a plugin's settings that hold in a directory."""
    ctx = HookContext("before_tool_use", cwd=os.path.abspath(directory))
    names = [name for name, (owner, _) in manager.settings_models.items() if owner == plugin]
    return [table for name in names for table in plugin_tables(name, ctx)]


def is_installed(plugin: PluginInfo, loader: HookConfigLoader) -> bool:
    """Whether it is an installed plugin, not a project's file or a stand-in."""
    return (plugin.source == "plugin" or plugin.distribution != "") and plugin.name not in loader.stand_ins


def _facts(described: object, names: str) -> dict[str, Any]:
    """Return the attributes ``names``, separated by blanks, in JSON types."""
    facts = ((name, getattr(described, name)) for name in names.split())
    return {name: sorted(fact) if isinstance(fact, frozenset) else fact for name, fact in facts}


def _print(plugins: list[PluginInfo], hooks: list[HookInfo], warnings: list[str], loader: HookConfigLoader) -> None:
    line = line_printer()
    for warning in warnings:
        line(f"Warning: {warning}", "yellow")
    if not plugins:
        line("No plugin is installed. For example: pip install agent-hooks-guards")
    for plugin in plugins:
        origin = f"  from {plugin.distribution}" if plugin.distribution else ""
        name = " ".join(filter(None, (plugin.name, plugin.version)))
        line(f"{name}{origin}  {plugin.source}  {plugin.status}", _STYLES.get(plugin.status, "yellow"))
        if plugin.error:
            line(f"  {plugin.error}", "red")
            if is_installed(plugin, loader):
                line(f"  What it would have refused is refused. {remedy_for(plugin)}")
            continue
        for table in settings_of(plugin.name, loader.manager, os.getcwd()):
            line(f"  settings from {shown_path(table.origin())}")
        rows = []
        for hook in (hook for hook in hooks if hook.plugin == plugin.name):
            marks = "".join(f", {name}" for name in ("required", "shadow") if getattr(hook, name))
            mode = ("wrapper" if hook.wrapper else hook.mode) + marks
            rows.append((hook.event, str(hook.priority), mode, hook.match, hook.name, shown_path(hook.origin)))
        if rows:
            print_records(("event", "priority", "mode", "match", "hook", "where"), rows, indent=2)


def show_events(*, as_json: bool) -> None:
    """Print the events, those that installed plugins add included."""
    with apart(), prints_elsewhere():
        HookManager()
    names = "aliases subject decisions observe_only closed closed_means matched_by changes"
    if as_json:
        print_json([{"name": str(event), **_facts(event, names)} for event in HookEvent.all()])
        return
    rows = []
    for event in HookEvent.all():
        decisions = "only observes" if event.observe_only else ", ".join(sorted(event.decisions)) or "none"
        rows.append((event, event.subject or "-", decisions, event.closed_means, ", ".join(event.aliases)))
    print_records(("event", "subject", "decisions", "closed means", "also called"), rows)
    line = line_printer()
    line("")
    line("closed means: the effect of a gate that fails on this event. Decisions come besides `proceed`.")


def show_schema() -> None:
    """Print the JSON Schema of ``agent-hooks.toml``, with the handler types and the settings that are installed.

    Handlers of an unavailable type may have any keys; the problem is reported on stderr.
    """
    from agent_hooks.formats.json_schema import json_schema
    from agent_hooks.sources.settings_models import model_from

    found: dict[str, Any] = {}
    settings: dict[str, Any] = {}
    with prints_elsewhere():
        manager = HookManager()
        known = handler_types(manager)
        for name in known:
            try:
                found[name] = find_type(name, known)
            except RegistrationError as error:
                print(f"agent-hooks: {visible(str(error))}", file=sys.stderr)
        for name, (owner, made) in manager.settings_models.items():
            try:
                settings[name] = model_from(made)
            except Exception as error:  # noqa: BLE001 - a plugin's own
                problem = f"agent-hooks: the plugin {owner!r} cannot say what [{name}] may hold: {error!r}"
                print(visible(problem), file=sys.stderr)
    print_json(json_schema(found, settings))
