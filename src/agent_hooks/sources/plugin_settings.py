"""The settings of plugins: their tables in the files of the machine's owner, the user and trusted projects."""

from __future__ import annotations

import os
from time import monotonic

from agent_hooks.errors import SettingsError
from agent_hooks.model.values import FrozenDict, Value, thaw
from agent_hooks.system.folders import config_place

from .files import TomlSource, user_sources

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from agent_hooks.engine.matchers import DirectoryMatcher
    from agent_hooks.formats.read_file import ReadFile
    from agent_hooks.formats.toml_lines import Place
    from agent_hooks.model.context import HookContext

    from .files import ProjectSource

# Tables that the core reads itself, so they name no plugins.
CORE_TABLES = frozenset({"prompts"})

# The trusted tables of each project that this process has loaded, by the project's root.
_of_projects: dict[str, list[tuple[PluginTable, DirectoryMatcher]]] = {}
# The files of the user and the machine's owner, each with its identity, time and size when it was read.
_files: dict[str, tuple[tuple[int, ...], tuple[ReadFile, ...]]] = {}
# Seconds until a process looks again whether these files have changed.
LOOK_AGAIN = 0.25
# Where these files were looked for last, and when; their tables by name since then.
_looked: tuple[object, float] = (None, 0.0)
_own: dict[str, list[PluginTable]] = {}


class PluginTable(Value):
    """The table of one plugin in one file.

    ``name``: the plugin's. ``settings``: the unvalidated value of the key, which may be no table. ``source``:
    ``managed``, ``user`` or ``project``. ``at``: the key of the table in its file. ``lines``: the line of each key, by
    its path in the table. ``root``: the root of the project, an empty string outside one. ``problem``: the reason why
    the file is unreadable, so that its settings are unknown.
    """

    name: str
    path: str
    source: str
    settings: Any = FrozenDict()
    at: str = ""
    lines: Mapping[Place, int] = FrozenDict()  # type: ignore[assignment]
    root: str = ""
    problem: str = ""

    def origin(self, *place: str | int) -> str:
        """Return the location of a key of the table, as ``file:line``."""
        for length in range(len(place), -1, -1):
            if line := self.lines.get(place[:length]):
                return f"{self.path}:{line}"
        return self.path


def plugin_settings(name: str) -> dict[str, Any]:
    """Return the table ``[name]`` of the user's and the machine's ``agent-hooks.toml``, empty without such a table.

    Keys of the machine's file override the user's. Projects' files are not read: a project must not choose the model
    that judges its agents, or the costs. Raises ``SettingsError`` naming an unreadable file, whose settings are
    unknown.
    """
    found: dict[str, Any] = {}
    for table in _own_tables(name):
        if table.problem:
            raise SettingsError(table.problem)
        found |= thaw(table.settings) if isinstance(table.settings, dict) else {}
    return found


def plugin_tables(name: str, ctx: HookContext) -> list[PluginTable]:
    """Return the tables ``[name]`` for ``ctx``: of trusted projects, the innermost folder first, then of the user, then
    of the machine's owner.

    A project's tables are those that ``HookConfigLoader`` last loaded in this process; they hold for the same events as
    the hooks of their file. They may only tighten; the plugin must refuse values that loosen. Raises ``SettingsError``
    if ``AGENT_HOOKS_CONFIG_DIR`` names no folder.
    """
    scoped = [pair for pairs in _of_projects.values() for pair in pairs if pair[0].name == name]
    if scoped and not (ctx.cwd or ctx.project_dir):
        ctx = ctx.replace(cwd=os.getcwd())
    # A file may belong to two projects, one in the other.
    live = {table.path: table for table, scope in scoped if scope.matches(ctx)}
    inner_first = sorted(live.values(), key=lambda table: -len(os.path.dirname(table.path)))
    return [*inner_first, *_own_tables(name)]


def hold_project(source: ProjectSource) -> None:
    """Set the tables of this project to its present ones, which are none if it is not trusted."""
    from agent_hooks.engine.matchers import DirectoryMatcher

    root = source.project.root
    tables = (table for file in source.load() for table in tables_in(file, root))
    _of_projects[root] = [(table, DirectoryMatcher(os.path.dirname(table.path), root)) for table in tables]


def tables_in(file: ReadFile, root: str = "") -> Iterator[PluginTable]:
    """Yield the tables of plugins in a file. ``root``: the root of its project."""
    from agent_hooks.formats.toml import TABLE

    prefix = f"{'.'.join(TABLE)}." if os.path.basename(file.path) == "pyproject.toml" else ""
    for name, settings in file.settings.get("plugins", {}).items():
        lines = {place[1:]: line for place, line in file.lines.items() if place[0] == name}
        of_file = {"name": name, "path": file.path, "source": file.source, "root": root}
        yield PluginTable(**of_file, settings=settings, at=f"{prefix}{name}", lines=lines)


def own_files() -> Iterator[ReadFile]:
    """Yield the user's and the machine's ``agent-hooks.toml``, cached until they change."""
    try:
        sources = user_sources()
    except SettingsError:
        if os.environ.get("AGENT_HOOKS_CONFIG_DIR"):
            raise
        sources = []  # without a home folder, the user has no settings
    for toml in (*sources, TomlSource("managed")):
        yield from _read(toml)


def _own_tables(name: str) -> list[PluginTable]:
    """Return the tables of this name; files are not looked at again for ``LOOK_AGAIN`` seconds."""
    global _looked  # noqa: PLW0603 - of the process, like the files
    place, now = config_place(), monotonic()
    if _looked[0] != place or now - _looked[1] >= LOOK_AGAIN:
        _own.clear()
    found = _own.get(name)
    if found is None:
        found = list(_tables_of(name))
        if not _own:
            _looked = (place, now)
        _own[name] = found
    return found


def _tables_of(name: str) -> Iterator[PluginTable]:
    """Yield the tables of this name. If only one of two files of the user has it, the other yields an empty one."""
    files = list(own_files())
    found = [(file, [table for table in tables_in(file) if table.name == name]) for file in files]
    users = [tables for file, tables in found if file.source == "user" and file.form == "toml"]
    is_of_two = len(users) > 1 and any(users)
    for file, tables in found:
        problem = next((str(finding) for finding in file.findings if finding.kind == "unreadable"), "")
        if problem:
            yield PluginTable(name=name, path=file.path, source=file.source, problem=problem)
        elif is_of_two and not tables and file.source == "user" and file.form == "toml":
            yield PluginTable(name=name, path=file.path, source=file.source, at=name)
        yield from tables


def _read(toml: TomlSource) -> tuple[ReadFile, ...]:
    """Parse a file, or return the cached result while the file is unchanged."""
    try:
        status = os.stat(toml.path)
    except OSError:
        return tuple(toml.load())
    stamp = (status.st_dev, status.st_ino, status.st_mode, status.st_uid, status.st_mtime_ns, status.st_size)
    known = _files.get(toml.path)
    if known is None or known[0] != stamp:
        known = _files[toml.path] = (stamp, tuple(toml.load()))
    return known[1]
