"""The user's own ``agent-hooks.toml``, and how an exception is added to it."""

from __future__ import annotations

import json
import os
from datetime import date

from agent_hooks import SettingsError

from .project import NAME

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


def own_file() -> str:
    """Return where it is, or would be. Raises ``SettingsError`` where there is no home folder."""
    from agent_hooks.system.folders import config_dir

    return os.path.join(config_dir(), "agent-hooks.toml")


def as_table(facts: Mapping[str, Any]) -> str:
    """Return an exception as TOML has it in an ``agent-hooks.toml``."""
    lines = [f"{key} = {value if isinstance(value, date) else _quoted(value)}" for key, value in facts.items()]
    return "[[guards.allow]]\n" + "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    """The text as TOML has it: as JSON has it, but for DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def append(path: str, text: str) -> None:
    """Add ``text`` to the settings in ``path``, whole or not at all; of a symbolic link, to the file that it leads to.

    What is there stays as it is, byte by byte, and so does the file's mode. Raises ``SettingsError`` if the file is
    wrong already, or would be then, and if it cannot be written.
    """
    real = os.path.realpath(path)
    from filelock import FileLock

    from agent_hooks.system.folders import write_whole

    try:
        os.makedirs(os.path.dirname(real), mode=0o700, exist_ok=True)
        # Of two that add at once, each must read what the other wrote.
        with FileLock(f"{real}.lock", mode=0o600):
            before = _content(real)
            after = before + (b"\n" if before and not before.endswith(b"\n") else b"") + (b"\n" if before else b"")
            after += text.encode(errors="surrogatepass")  # which is none in TOML, and told as that
            _check(path, after, text)
            write_whole(real, after, os.stat(real).st_mode & 0o7777 if os.path.exists(real) else 0o600)
    except OSError as error:
        raise SettingsError(f"{path} cannot be written: {error}. Add this by hand:\n\n{text}") from error


def _content(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return b""


def _check(path: str, data: bytes, text: str) -> None:
    import tomllib

    from agent_hooks.sources.plugin_settings import PluginTable

    from .build import build

    try:
        document = tomllib.loads(data.decode())
    except ValueError as error:
        # It was wrong already, or `guards` is written as an inline table, which nothing can be added to.
        raise SettingsError(f"{path} cannot be added to: {error}. Mend it, or add this by hand:\n\n{text}") from error
    build(PluginTable(name=NAME, path=path, source="user", settings=document[NAME], at=NAME))
