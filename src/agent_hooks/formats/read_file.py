"""The result of parsing one file, and the sources of files."""

from __future__ import annotations

from agent_hooks.model.values import FrozenDict, Value

from .findings import ConfigFinding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any, Protocol

    from agent_hooks.engine.registration import HookRegistration

    from .entry import HookEntry
    from .toml_lines import Place


class ReadFile(Value):
    """One parsed file: its hooks, its settings and its problems.

    ``source``: one of ``policy.SOURCES``. ``settings``: its other keys (``policy``, ``disabled``, ``permits``,
    ``ignore``…), validated; ``tables``: those of plugins, unvalidated. ``lines``: the lines of these settings, by
    path in our table. ``part``: the canonical bytes of the content that takes effect. Trust covers only this part, so
    other changes of the file need no new trust. ``form``, ``project_dir`` and ``plugin_root`` are as in its entries.
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

    @classmethod
    def unreadable(cls, problem: str, remedy: str, line: int = 0, **fields: Any) -> ReadFile:
        """Return the result of parsing an unreadable file: its finding blocks on the events of gates."""
        finding = ConfigFinding(
            kind="unreadable", path=fields["path"], line=line, message=problem, remedy=remedy, blocks=True
        )
        return cls(findings=(finding,), **fields)


def is_claude_settings(file: ReadFile) -> bool:
    """Whether a file is one of the settings files of Claude Code itself."""
    return file.form == "claude" and not file.plugin_root and file.source in ("managed", "user", "project")


if TYPE_CHECKING:

    class ConfigSource(Protocol):
        """A source of configuration files; a plugin adds sources with ``agent_hooks_config_sources``."""

        def priority(self) -> int:
            """The rank of the source: sources are loaded from the highest to the lowest."""

        def load(self) -> Iterable[ReadFile | HookRegistration]:
            """Return parsed files and registrations of hooks in code, without running anything of the files.

            Registrations from a plugin get the rank of plugins; those of a source passed to ``HookConfigLoader`` keep
            their own.
            """
