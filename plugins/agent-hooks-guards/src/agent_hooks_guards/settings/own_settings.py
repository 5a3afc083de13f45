"""Adds exceptions to the user's own ``agent-hooks.toml``."""

from __future__ import annotations

import json
import os
import tomllib
from datetime import date

from filelock import FileLock

from agent_hooks import SettingsError
from agent_hooks.sources.plugin_settings import PluginTable
from agent_hooks.system.folders import config_dir, write_whole

from .build import build
from .project import NAME

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


def own_file() -> str:
    """Return its path. Raises ``SettingsError`` where there is no home folder."""
    return os.path.join(config_dir(), "agent-hooks.toml")


def conditions_of(table: Mapping[str, Any]) -> str:
    """Return the command, path and branch that an exception is for, for people."""
    return ", ".join(f"{key} {table[key]!r}" for key in ("command", "path", "branch") if table.get(key))


def as_table(facts: Mapping[str, Any]) -> str:
    """Return an exception as a table in TOML."""
    lines = [f"{key} = {value if isinstance(value, date) else _quoted(value)}" for key, value in facts.items()]
    return "[[guards.allow]]\n" + "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    """Return a TOML string: JSON's, but for DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def append(path: str, text: str) -> None:
    """Append ``text`` to the settings in ``path``, or to the target of a symbolic link, atomically.

    The content and the mode of the file stay. Raises ``SettingsError`` if the settings are wrong before or after, or
    the file cannot be written.
    """
    real = os.path.realpath(path)
    try:
        os.makedirs(os.path.dirname(real), mode=0o700, exist_ok=True)
        # Of two concurrent writers, each must read the other's addition.
        with FileLock(f"{real}.lock", mode=0o600):
            before, mode = b"", 0o600
            if os.path.exists(real):
                with open(real, "rb") as file:
                    before, mode = file.read(), os.fstat(file.fileno()).st_mode & 0o7777
            gap = b"\n\n" if before and not before.endswith(b"\n") else b"\n" if before else b""
            after = before + gap + text.encode(errors="surrogatepass")  # invalid in TOML, and reported as that
            document = tomllib.loads(after.decode())
            build(PluginTable(name=NAME, path=path, source="user", settings=document[NAME], at=NAME))
            write_whole(real, after, mode)
    except ValueError as error:
        # Wrong already, or `guards` is an inline table, which cannot be extended.
        raise SettingsError(f"{path} cannot be added to: {error}. Mend it, or add this by hand:\n\n{text}") from error
    except OSError as error:
        raise SettingsError(f"{path} cannot be written: {error}. Add this by hand:\n\n{text}") from error
