"""The result of parsing one file, and the sources of files."""

from __future__ import annotations

from agent_hooks.model.values import FrozenDict, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any, Protocol

    from agent_hooks.engine.registration import HookRegistration

    from .entry import HookEntry
    from .findings import ConfigFinding
    from .toml_lines import Place


class ReadFile(Value):
    """One file, read: its hooks, its settings, and what is wrong with it.

    ``source``: one of ``policy.SOURCES``. ``settings``: its other keys (``policy``, ``disabled``, ``permits``,
    ``ignore``…), valid; ``plugins``: the tables of plugins, as they are written. ``lines``: the lines of these
    settings, by place in our table. ``part``: the canonical bytes of all of the file that has a meaning here; it is
    what a trust is about, so that a change of anything else in the file changes nothing. ``form``, ``project_dir`` and
    ``plugin_root`` are as in its entries.
    """

    path: str
    source: str
    entries: tuple[HookEntry, ...] = ()
    settings: Mapping[str, Any] = FrozenDict()
    lines: Mapping[Place, int] = FrozenDict()  # type: ignore[assignment]
    findings: tuple[ConfigFinding, ...] = ()
    part: bytes = b""
    form: str = "toml"
    project_dir: str = ""
    plugin_root: str = ""


def is_claude_settings(file: ReadFile) -> bool:
    """Whether it is one of the settings files that Claude Code looks for."""
    return file.form == "claude" and not file.plugin_root and file.source in ("managed", "user", "project")


if TYPE_CHECKING:

    class ConfigSource(Protocol):
        """Where files to read come from; a plugin offers further ones with ``agent_hooks_config_sources``."""

        def priority(self) -> int:
            """Its place among the sources: they are read from the highest to the lowest, and asked in that order."""

        def load(self) -> Iterable[ReadFile | HookRegistration]:
            """Return the files, read, and hooks in code. Nothing in the files is run. A plugin's registrations rank as
            that plugin's, those of a source given to ``HookConfigLoader`` as they say.
            """
