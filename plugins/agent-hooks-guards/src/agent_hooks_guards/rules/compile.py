"""Write the rules of this package down as Python: ``python -m agent_hooks_guards.rules.compile``.

A guard that runs in a process for each call has no time to read TOML; importing a compiled module costs next to
nothing.
"""

from __future__ import annotations

import os
import tomllib

from agent_hooks import SettingsError

from .indexing import indexed
from .loading import read_family

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .model import Family

FOLDER = os.path.dirname(os.path.abspath(__file__))
COMPILED = os.path.join(FOLDER, "compiled.py")

_HEAD = '''"""The rules of the families, by what they are about.

Written by ``compile``: change the TOML, and run that again.
"""

# fmt: off
# ruff: noqa: E501, Q000

from __future__ import annotations
'''


def own_families() -> list[Family]:
    """Return the families of this package, by the names of their files. Raises ``SettingsError`` for a wrong one."""
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


def compiled(families: list[Family]) -> str:
    """Return the module's source. Raises ``SettingsError`` for two rules of one name."""
    names = [rule.id for family in families for rule in family.rules]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise SettingsError(f"More than one family has a rule named {', '.join(twice)}: give each its own name.")
    index = indexed(families, text="text")
    parts = {
        "RULES: tuple[tuple[str, str, str, str, str], ...]": tuple(
            (rule.id, rule.family, rule.severity, rule.reason, rule.instead) for rule in index.rules
        ),
        "MATCHES: tuple[str, ...]": tuple(index.matches),
        "FIRSTS: tuple[tuple[str, ...], ...]": tuple(index.firsts),
        "COMMANDS: dict[str, tuple[int, ...]]": index.commands,
        "GLOBS: tuple[tuple[str | tuple[str, ...], tuple[int, ...]], ...]": tuple(index.globs),
        "ANY_COMMAND: tuple[int, ...]": index.any_command,
        "EFFECTS: dict[str, tuple[int, ...]]": index.effects,
        "DOUBTS: dict[str, tuple[int, ...]]": index.doubts,
    }
    texts = (f"{name} = {_written(value)}\n" for name, value in parts.items())
    return "\n".join((_HEAD, *texts))


def _written(value: Any) -> str:
    """The value as Python, a line for each thing in it."""
    if isinstance(value, dict):
        return "{\n" + "".join(f"    {key!r}: {item!r},\n" for key, item in value.items()) + "}"
    return "(\n" + "".join(f"    {item!r},\n" for item in value) + ")"


if __name__ == "__main__":
    source = compiled(own_families())
    with open(COMPILED, "w", encoding="utf-8") as file:
        file.write(source)
