"""The commands that list what there is: ``plugins``, ``events`` and ``schema``."""

from __future__ import annotations

import os
import sys

from agent_hooks.engine.installed import remedy_for
from agent_hooks.engine.manager import HookManager
from agent_hooks.errors import RegistrationError
from agent_hooks.handlers.types import find_type, handler_types
from agent_hooks.model.context import HookContext
from agent_hooks.model.events import HookEvent
from agent_hooks.sources.loader import PROTECTION, HookConfigLoader
from agent_hooks.sources.plugin_settings import plugin_tables
from agent_hooks.system.visible import visible
from agent_hooks_repair import foreign_distributions, warning_about

from .terminal import apart, line_printer, print_json, print_records, prints_elsewhere, shown_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from agent_hooks.engine.plugin_info import HookInfo, PluginInfo

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
            each["settings"] = settings_of(each["name"], os.getcwd())
            each["hooks"] = [_facts(hook, names) for hook in hooks if hook.plugin == each["name"]]
        print_json({"plugins": listed, "warnings": warnings})
    else:
        _print(plugins, hooks, warnings, loader)
    return int(any(plugin.status == "broken" for plugin in plugins))


def settings_of(plugin: str, directory: str) -> list[str]:
    """Return the origins (``file:line``) of a plugin's settings that apply in a directory."""
    ctx = HookContext("before_tool_use", cwd=os.path.abspath(directory))
    return [table.origin() for table in plugin_tables(plugin, ctx)]


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
        for settings in settings_of(plugin.name, os.getcwd()):
            line(f"  settings from {shown_path(settings)}")
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
    """Print the JSON Schema of ``agent-hooks.toml``, with the handler types that are installed.

    Handlers of an unavailable type may have any keys; the problem is reported on stderr.
    """
    from agent_hooks.formats.json_schema import json_schema

    found: dict[str, Any] = {}
    with prints_elsewhere():
        known = handler_types(HookManager())
        for name in known:
            try:
                found[name] = find_type(name, known)
            except RegistrationError as error:
                print(f"agent-hooks: {visible(str(error))}", file=sys.stderr)
    print_json(json_schema(found))
