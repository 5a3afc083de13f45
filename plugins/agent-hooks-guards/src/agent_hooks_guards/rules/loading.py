"""Families of rules as their authors write them: validated, with messages that name the rule and the key."""

from __future__ import annotations

import os

from .indexing import FOLDER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .model import Family


def own_families() -> list[Family]:
    """Return the families of this package with their examples, by file name. Raises ``SettingsError``."""
    import tomllib

    from agent_hooks import SettingsError

    families = []
    for name in sorted(os.listdir(FOLDER)):
        if name.endswith(".toml"):
            path = os.path.join(FOLDER, name)
            try:
                with open(path, "rb") as file:
                    table = tomllib.load(file)
            except tomllib.TOMLDecodeError as error:
                raise SettingsError(f"{path}: {error}.") from error
            families.append(read_family(path, table))
    return families


def read_family(path: str, table: object) -> Family:
    """Return the family in ``table``, the parsed TOML of the file ``path``.

    Raises ``SettingsError`` naming the file, each wrong key and its rule.
    """
    from pydantic import ValidationError

    from agent_hooks import SettingsError

    from .model import Family

    try:
        return Family.model_validate(table)
    except ValidationError as error:
        problems = [_explained(table, problem) for problem in error.errors(include_url=False)]
        raise SettingsError(f"{path}: the rules are wrong. " + " ".join(problems)) from error


def _explained(table: object, problem: Any) -> str:
    location = problem["loc"]
    key = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in location).removeprefix(".")
    where = f"rule {name!r}: " if (name := _rule_at(table, location)) else ""
    kind, message = problem["type"], problem["msg"].removeprefix("Value error, ").rstrip(".")
    if kind == "extra_forbidden":
        return f"{where}{key} is no key of a rule."
    if kind == "missing":
        return f"{where}{key} is missing."
    if kind == "value_error":
        return f"{where}{key}: {message}."
    return f"{where}{key}: {message}, not {problem['input']!r}."


def _rule_at(table: object, location: tuple[int | str, ...]) -> str:
    """Return the id of the rule at ``location``, "" if it has none."""
    if len(location) < 2 or location[0] != "rules" or not isinstance(table, dict):
        return ""
    rule = table["rules"][location[1]]
    return str(rule.get("id", "")) if isinstance(rule, dict) else ""
