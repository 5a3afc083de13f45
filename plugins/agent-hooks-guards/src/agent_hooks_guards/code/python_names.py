"""Names in Python code, by the tables in python.toml: modules, functions, attributes, variables of the environment."""

from __future__ import annotations

import os
import re
from pathlib import PurePosixPath

from agent_hooks_guards.model.tables import load_tables
from agent_hooks_guards.model.values import NO_LABELS, UNKNOWN
from agent_hooks_guards.places.credentials import variable_labels

from . import STDIN
from .python_values import Value, is_text, labels_of, text_of, wrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .python import Walk


def _by_name(groups: dict[str, str]) -> dict[str, str]:
    """Return the key of each name in a table of lists of names."""
    return {name: group for group, names in groups.items() for name in names.split()}


TABLES = load_tables(os.path.dirname(__file__))["python"]
EFFECTS = _by_name(TABLES["effects"])
# The kind of each function: a method of `Call`, or an entry of `SIMPLE`.
KINDS = {
    **dict.fromkeys(EFFECTS, "effects"),
    **dict.fromkeys(TABLES["programs"], "template"),
    **_by_name(TABLES["calls"]),
}
_ALIASES = _by_name(TABLES["aliases"])
WORDS = {key: frozenset(text.split()) for key, text in TABLES["words"].items()}
TAILS = {name.rpartition(".")[2]: name for name in WORDS["tails"]}
STDIN_PATHS = frozenset(("/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"))
_DEFAULTS = {"HOME": "~", "USERPROFILE": "~", "PWD": ".", "TMPDIR": "/tmp", "TEMP": "/tmp"}  # noqa: S108 - the code's


def aliased(dotted: str) -> str:
    """Return the name that the tables use for a module or function."""
    return _ALIASES.get(dotted, dotted)


def runs_programs(name: str) -> bool:
    """Whether a function runs programs or code."""
    return KINDS.get(name) in ("shell", "program", "exec", "evaluate")


def names_harm(text: str) -> bool:
    """Whether code names a function that may do harm."""
    return re.search(rf"\b(?:{'|'.join(WORDS['harmful'])})", text) is not None


def stream(path: str) -> Value:
    """Return an open standard stream, or another device."""
    return Value(path, frozenset((STDIN,)) if path in STDIN_PATHS else NO_LABELS, "file")


def attribute(walk: Walk, owner: Value, name: str) -> Value:
    """Return an attribute of a value."""
    if name in WORDS["any_module"]:
        return Value(UNKNOWN, kind="name")
    if owner.type == "name":
        if name in ("stdin", "stdout", "stderr") and owner.it == "sys":
            return stream(f"/dev/{name}")
        is_inside = name in WORDS["inside"] and owner.it.rpartition(".")[2] not in (name, "asyncio")
        dotted = aliased(name if is_inside or owner.it == "builtins" else f"{owner.it}.{name}")
        if dotted == "sys.argv":
            arguments = [Value(each, walk.labels if UNKNOWN in each else NO_LABELS) for each in walk.arguments]
            return Value(arguments or UNKNOWN)
        constants = TABLES["constants"]
        return Value(constants[dotted]) if dotted in constants else Value(dotted, kind="name")
    if owner.type == "file" and name == "buffer":
        return owner
    if owner.type == "path" and name in ("name", "stem", "suffix", "parent", "parts", "path"):
        found = getattr(PurePosixPath(owner.it), name, owner.it)
        return Value(str(found), owner.labels, "path") if name == "parent" else wrap(found, owner.labels)
    return Value(name, labels_of(owner), "method", owner)


def item_of_name(walk: Walk, owner: str, index: Value) -> Value:
    """Return an item of an object of a module: a variable of the environment, an entry of ``__dict__``."""
    if owner == "os.environ":
        return variable_of(walk, text_of(index))
    return attribute(walk, Value(owner, kind="name"), text_of(index)) if is_text(index) else Value(owner, kind="name")


def variable_of(walk: Walk, name: str) -> Value:
    """Return a variable of the environment."""
    if name in walk.variables:
        return Value(walk.variables[name].text, walk.variables[name].labels)
    return Value(_DEFAULTS[name]) if name in _DEFAULTS else Value(UNKNOWN, variable_labels(name))
