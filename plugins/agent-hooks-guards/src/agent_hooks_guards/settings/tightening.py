"""What all settings files together say about the standing guards: the machine's and the user's may loosen, a project's
may only tighten, and what the machine's asks for nobody loosens.
"""

from __future__ import annotations

import os

from agent_hooks import RegistrationError, SettingsError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any, TypeAlias

    from agent_hooks.formats.toml_lines import Place
    from agent_hooks.sources.plugin_settings import PluginTable

    from .build import ProjectGuards
    from .model import GuardsSettings

    # A table of settings by the guard's name, as ``GuardsSettings`` has it, with only the keys that were given.
    Tables: TypeAlias = dict[str, dict[str, Any]]

GUARDS = ("shell", "paths", "secrets", "egress")
_LEVELS = ("off", "relaxed", "standard", "strict")
_DECISIONS = ("allow", "ask", "deny")
# From the loosest to the strictest, and what holds where nobody says anything.
_ORDERS: dict[tuple[str, str], tuple[Sequence[str], str]] = {
    ("shell", "level"): (_LEVELS, "standard"),
    ("paths", "level"): (_LEVELS, "standard"),
    ("egress", "level"): (_LEVELS, "standard"),
    ("egress", "private"): (_DECISIONS, "ask"),
    ("egress", "others"): (_DECISIONS, "allow"),
    ("secrets", "sends"): (_DECISIONS, "deny"),
    ("secrets", "commands"): (_DECISIONS, "ask"),
    ("secrets", "writes"): (_DECISIONS, "ask"),
    ("secrets", "results"): (("allow", "redact", "deny"), "redact"),
}
_SECRETS = tuple(place for place in _ORDERS if place[0] == "secrets")
_TIGHTENING = (("paths", "protect"), ("paths", "deny_read"), ("egress", "deny"))
_LOOSENING = (("paths", "allow_read"), ("paths", "allow_write"), ("egress", "allow"))


class Layer:
    """What guards are made from. ``tables``: their settings. ``at_least``: by rule or family, what happens at least.
    ``exceptions``: what the shell guard lets through. ``rules``: further rules, each with whose they are.
    """

    def __init__(
        self,
        tables: Tables,
        at_least: Mapping[str, str] | None = None,
        exceptions: Sequence[Mapping[str, Any]] = (),
        rules: Sequence[tuple[str, Sequence[Any]]] = (),
    ) -> None:
        self.tables = tables
        self.at_least = dict(at_least or {})
        self.exceptions = exceptions
        self.rules = rules


def layers(told: Iterable[ProjectGuards]) -> list[Layer]:
    """Return the layers that must all hold: the user's, made stricter by projects, and what who manages the machine
    asks for. ``told``: what the files say.
    """
    told = list(told)
    managed = next((each for each in told if each.rank == "managed"), None)
    # Two files of the user are of two folders, of which the environment names one: the stricter of both holds.
    users: list[ProjectGuards | None] = [each for each in told if each.rank == "user"]
    own = [_own_layer(told, managed, user) for user in users or [None]]
    for other in own[1:]:  # there is one guard of secrets
        secrets = {key: other.tables["secrets"].get(key, _ORDERS["secrets", key][1]) for _, key in _SECRETS}
        _tighten(own[0].tables, {"secrets": secrets})
    if managed is None:
        return own
    kept = {name: dict(managed.standing[name]) for name in ("shell", "paths", "egress") if name in managed.standing}
    return [*own, Layer(kept, None, _exceptions([managed]), _rules([managed]))]


def _own_layer(told: Sequence[ProjectGuards], managed: ProjectGuards | None, user: ProjectGuards | None) -> Layer:
    """Return the layer of one file of the user, above that of the machine's owner and made stricter by projects."""
    projects = [each for each in told if each.rank == "project"]
    above = [each for each in (managed, user) if each is not None]
    tables: Tables = {name: {} for name in GUARDS}
    for each in above:
        for name in GUARDS:
            _override(tables[name], each.standing.get(name, {}))
    at_least: dict[str, str] = {}
    for each in projects:
        _tighten(tables, each.standing)
        for name, choice in each.standing.get("shell", {}).get("rules", {}).items():
            at_least[name] = "deny" if "deny" in (choice, at_least.get(name)) else choice
    if managed is not None:  # of these two nothing can be told apart that two guards would decide
        _tighten(tables, {"secrets": managed.standing.get("secrets", {})})
    return Layer(tables, at_least, _exceptions(above), _rules(each for each in told if each is not managed))


def injection_matches(told: Iterable[ProjectGuards]) -> list[str | None]:
    """Return for which tools the injection warning is asked for, each once; None is the default."""
    tables = (each.standing["injection"] for each in told if "injection" in each.standing)
    return list(dict.fromkeys(table.get("match") for table in tables))


def refuse_places(table: PluginTable, settings: GuardsSettings) -> None:
    """Raise ``SettingsError`` if a project names a file outside the places that are for it: the audit trail is a file
    in the state folder itself, where nothing else is called so, and ``cancel_file`` is in the project.
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
    """Raise ``SettingsError`` if a project has a regular expression that RE2 does not know."""
    from agent_hooks_guards.guards.patterns import SafePattern

    given = [("arguments", number, rule.pattern) for number, rule in enumerate(settings.arguments)]
    for number, rule in enumerate(settings.rules):
        given += [("rules", number, match.text) for match in rule.match if match.text is not None]
    for name, number, text in given:
        try:
            SafePattern(text, table.source)
        except RegistrationError as error:
            origin = table.origin(name, number)
            raise SettingsError(f"{origin}: {error}", origin) from error


def refuse_loosening(table: PluginTable, standing: Mapping[str, Any]) -> None:
    """Raise ``SettingsError`` if the settings of a project let through what would be stopped without them."""
    wrong = "exceptions (guards.allow)" if standing.get("allow") else ""
    for (name, key), (order, default) in _ORDERS.items():
        given = standing.get(name, {}).get(key)
        if given is not None and order.index(given) < order.index(default):
            wrong = f"guards.{name}.{key} = {given!r}"
    for name, key in _LOOSENING:
        if standing.get(name, {}).get(key):
            wrong = f"guards.{name}.{key}"
    off = [name for name, choice in standing.get("shell", {}).get("rules", {}).items() if choice == "off"]
    if off:
        wrong = f"guards.shell.rules.{off[0]} = 'off'"
    if wrong:
        raise SettingsError(
            f"{table.origin()}: a project can only make the guards stricter, and {wrong} would loosen them: leave it "
            "out, or put it into your own agent-hooks.toml (`agent-hooks allow` writes exceptions there).",
            table.origin(),
        )


def check_names(table: PluginTable, standing: Mapping[str, Any]) -> None:
    """Raise ``SettingsError`` if the settings name a rule or a family that does not exist, or give a new rule the name
    of another.
    """
    at = table.at
    rules, choices = standing.get("rules", ()), standing.get("shell", {}).get("rules", {})
    exceptions = standing.get("allow", ())
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
            origin = table.origin(*place)
            raise SettingsError(f"{origin}: {key}: {unknown_name(name, known)}", origin)


def unknown_name(name: str, known: Iterable[str]) -> str:
    """Return what is said about a name that nothing has."""
    from difflib import get_close_matches

    near = get_close_matches(name, known, 1)
    hint = f": did you mean {near[0]}?" if near else "; `agent-hooks rules` lists them."
    return f"there is no rule and no family {name!r}{hint}"


def from_folder(path: str, standing: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``standing`` with the patterns of paths in it as they are meant beside the project's file ``path``."""
    folder = os.path.dirname(path)
    found = dict(standing)
    if "paths" in found:
        found["paths"] = {
            key: [each if each[:1] == "~" else os.path.join(folder, each) for each in value]
            if isinstance(value, list)
            else value
            for key, value in found["paths"].items()
        }
    return found


def _override(table: dict[str, Any], given: Mapping[str, Any]) -> None:
    """Put the settings of a higher source under those of a lower one, which add to its lists."""
    for key, value in given.items():
        if isinstance(value, list):
            table[key] = [*table.get(key, ()), *value]
        elif isinstance(value, dict):
            table[key] = {**table.get(key, {}), **value}
        elif value is not None:
            table[key] = value


def _tighten(tables: Tables, given: Mapping[str, Any]) -> None:
    for (name, key), (order, default) in _ORDERS.items():
        wanted = given.get(name, {}).get(key)
        if wanted is not None:
            held = tables[name].get(key) or _implied(key, tables[name]) or default
            tables[name][key] = max(held, wanted, key=order.index)
    for name, key in _TIGHTENING:
        added = given.get(name, {}).get(key)
        if added:
            tables[name][key] = [*tables[name].get(key, ()), *added]


def _implied(key: str, table: Mapping[str, Any]) -> str:
    """What the level of the egress guard comes to, where it does not come to the default."""
    level = table.get("level", "standard")
    if key == "private" and level in ("off", "relaxed"):
        return "allow"
    return "ask" if key == "others" and level == "strict" else ""


def _exceptions(told: Iterable[ProjectGuards]) -> list[Mapping[str, Any]]:
    return [table for each in told for table in each.standing.get("allow", ())]


def _rules(told: Iterable[ProjectGuards]) -> list[tuple[str, Sequence[Any]]]:
    return [(each.rank, rules) for each in told if (rules := each.standing.get("rules"))]
