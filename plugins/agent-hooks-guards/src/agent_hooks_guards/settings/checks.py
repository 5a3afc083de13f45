"""What the settings of a project may not ask for, and names that settings may not use."""

from __future__ import annotations

import os

from agent_hooks import RegistrationError, SettingsError

from .layers import ORDERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from agent_hooks.formats.toml_lines import Place
    from agent_hooks.sources.plugin_settings import PluginTable

    from .schema import GuardsSettings

_LOOSENING_LISTS = (("paths", "allow_read"), ("paths", "allow_write"), ("egress", "allow"))


def refuse_places(table: PluginTable, settings: GuardsSettings) -> None:
    """Refuse a project's files in wrong places: the audit trail must be in the state folder itself, where nothing else
    ends in ``.jsonl``, and ``cancel_file`` in the project.

    Raises ``SettingsError``, as all functions here.
    """
    for key, path, kind in (
        (
            "audit.path",
            settings.audit and settings.audit.path,
            "a name without folders: the file is in the state folder",
        ),
        ("cancel_file", settings.cancel_file, "relative to this file and in its folder, without '..'"),
    ):
        parts = (path or "").replace("\\", "/").split("/")
        is_elsewhere = parts[0][:1] in ("", "~") or ":" in parts[0] or ".." in parts or os.path.isabs(path or "")
        if path and (is_elsewhere or (key == "audit.path" and len(parts) > 1)):
            origin = table.origin(*key.split("."))
            raise SettingsError(
                f"{origin}: {table.at}.{key} of a project must be {kind}. Your own agent-hooks.toml may name another "
                "place.",
                origin,
            )


def refuse_expressions(table: PluginTable, settings: GuardsSettings) -> None:
    """Refuse a project's regular expressions that RE2 does not know."""
    from agent_hooks_guards.rules.patterns import SafePattern

    given = [("arguments", number, rule.pattern) for number, rule in enumerate(settings.arguments)]
    for number, rule in enumerate(settings.rules):
        given += [("rules", number, match.text) for match in rule.match if match.text is not None]
    for name, number, text in given:
        try:
            SafePattern(text, table.source)
        except RegistrationError as error:
            origin = table.origin(name, number)
            raise SettingsError(f"{origin}: {error}", origin) from error


def refuse_loosening(table: PluginTable, tables: Mapping[str, Any]) -> None:
    """Refuse settings of a project that allow more than the defaults."""
    wrong = "exceptions (guards.allow)" if tables.get("allow") else ""
    for (name, key), (order, default) in ORDERS.items():
        given = tables.get(name, {}).get(key)
        if given is not None and order.index(given) < order.index(default):
            wrong = f"guards.{name}.{key} = {given!r}"
    for name, key in _LOOSENING_LISTS:
        if tables.get(name, {}).get(key):
            wrong = f"guards.{name}.{key}"
    off = [name for name, choice in tables.get("shell", {}).get("rules", {}).items() if choice == "off"]
    if off:
        wrong = f"guards.shell.rules.{off[0]} = 'off'"
    if wrong:
        raise SettingsError(
            f"{table.origin()}: a project can only make the guards stricter, and {wrong} would loosen them: leave it "
            "out, or put it into your own agent-hooks.toml (`agent-hooks allow` writes exceptions there).",
            table.origin(),
        )


def check_names(table: PluginTable, tables: Mapping[str, Any]) -> None:
    """Refuse unknown names of rules and families, and new rules with a name that is taken."""
    at = table.at
    rules, choices = tables.get("rules", ()), tables.get("shell", {}).get("rules", {})
    exceptions = tables.get("allow", ())
    if not (rules or choices or exceptions):
        return
    from agent_hooks_guards.rules.indexing import known_names

    known = known_names()
    for number, rule in enumerate(rules):
        if rule.id in known:
            problem = f"{at}.rules[{number}].id: there is a rule {rule.id!r} already; name it otherwise."
            origin = table.origin("rules", number)
            raise SettingsError(f"{origin}: {problem}", origin)
    known |= {rule.id for rule in rules} | {"project", "user", "managed"}
    named: list[tuple[str, Place, str]] = [(f"{at}.shell.rules", ("shell", "rules", name), name) for name in choices]
    named += [(f"{at}.allow[{number}].rule", ("allow", number), each["rule"]) for number, each in enumerate(exceptions)]
    for key, place, name in named:
        if name not in known:
            from agent_hooks_guards.guards.shell import unknown_name

            origin = table.origin(*place)
            raise SettingsError(f"{origin}: {key}: {unknown_name(name, known)}", origin)


def beside(path: str, tables: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``tables`` with relative patterns of paths resolved from the folder of the settings file ``path``."""
    folder = os.path.dirname(path)
    found = dict(tables)
    if "paths" in found:
        found["paths"] = {
            key: [each if each[:1] == "~" else os.path.join(folder, each) for each in value]
            if isinstance(value, list)
            else value
            for key, value in found["paths"].items()
        }
    return found
