"""The settings of plugins: their tables in the files of the machine's owner, the user and trusted projects."""

from __future__ import annotations

import os
from time import monotonic

from agent_hooks.errors import SettingsError
from agent_hooks.formats.plain_data import encode
from agent_hooks.model.values import FrozenDict, Value
from agent_hooks.system.folders import config_place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Any

    from agent_hooks.engine.matchers import DirectoryMatcher
    from agent_hooks.formats.read_file import ReadFile
    from agent_hooks.formats.toml_lines import Place
    from agent_hooks.model.context import HookContext

    from .files import ProjectSource, TomlSource

# The trusted tables of each project that this process has loaded, by the project's root.
_of_projects: dict[str, list[tuple[PluginTable, DirectoryMatcher]]] = {}
# The files of the user and the machine's owner, each with its identity, time and size when it was read.
_files: dict[str, tuple[tuple[int, ...], tuple[ReadFile, ...]]] = {}
# Seconds until a process looks again whether these files have changed.
LOOK_AGAIN = 0.25
# Below this, each whole number is a float, too.
_EXACT = 2**53
# Their tables by name, since they were looked for last.
_own: dict[str, list[PluginTable]] = {}
# By file and validator: a table, and its validated settings.
_validated: dict[tuple[str, ...], tuple[PluginTable, Any]] = {}


class _Process:
    """What this process knows about these files.

    ``looked``: where it looked for them last, and when. ``reads_files``: not while a plugin is asked without settings.
    """

    looked: tuple[object, float] = (None, 0.0)
    reads_files = True


_process = _Process()


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
        path, line = self.place(*place)
        return f"{path}:{line}" if line else path

    def place(self, *place: str | int) -> tuple[str, int]:
        """Return the file, and the line of a key of the table or of the nearest above it; 0 if that is not known."""
        ways = (place[:length] for length in range(len(place), -1, -1))
        return self.path, next((line for way in ways if (line := self.lines.get(way))), 0)


class FileTables(Value):
    """The tables of plugins in one file of the user or the machine's owner. ``problem``: why it is unreadable."""

    path: str
    source: str
    form: str
    problem: str
    tables: tuple[PluginTable, ...]


def plugin_tables(name: str, ctx: HookContext) -> list[PluginTable]:
    """Return the tables ``[name]`` for ``ctx``: of trusted projects, the innermost folder first, then of the user, then
    of the machine's owner.

    A project's tables are those that ``HookConfigLoader`` last loaded in this process; they hold for the same events as
    the hooks of their file. They may only tighten; the plugin must refuse values that loosen. Raises ``SettingsError``
    if ``AGENT_HOOKS_CONFIG_DIR`` names no folder.
    """
    scoped = _project_tables(name) if _of_projects else ()
    if not scoped:
        return [*own_tables(name)]
    if not (ctx.cwd or ctx.project_dir):
        ctx = ctx.replace(cwd=os.getcwd())
    # A file may belong to two projects, one in the other.
    live = {table.path: table for table, scope in scoped if scope.matches(ctx)}
    inner_first = sorted(live.values(), key=lambda table: -len(os.path.dirname(table.path)))
    return [*inner_first, *own_tables(name)]


def has_tables(name: str) -> bool:
    """Whether a file of the user, of the machine's owner or of any trusted project has a table of this name, or it is
    not known; a hook that does nothing without one says ``when`` so. Raises ``SettingsError`` as ``plugin_tables``.
    """
    return bool(own_tables(name) or (_of_projects and _project_tables(name)))


def _project_tables(name: str) -> list[tuple[PluginTable, DirectoryMatcher]]:
    """Return the tables of this name of all projects, each with where it holds."""
    return [pair for pairs in _of_projects.values() for pair in pairs if pair[0].name == name]


def hold_project(source: ProjectSource) -> None:
    """Set the tables of this project to its present ones, which are none if it is not trusted."""
    root = source.project.root
    _of_projects.pop(root, None)
    if scoped := _scoped(root, (table for file in source.load() for table in tables_in(file, root))):
        _of_projects[root] = scoped


def _scoped(root: str, tables: Iterable[PluginTable]) -> list[tuple[PluginTable, DirectoryMatcher]]:
    from agent_hooks.engine.matchers import DirectoryMatcher

    return [(table, DirectoryMatcher(os.path.dirname(table.path), root)) for table in tables]


def tables_in(file: ReadFile, root: str = "") -> Iterator[PluginTable]:
    """Yield the tables of plugins in a file. ``root``: the root of its project."""
    from agent_hooks.formats.toml import TABLE

    prefix = f"{'.'.join(TABLE)}." if os.path.basename(file.path) == "pyproject.toml" else ""
    lines_of: dict[str | int, dict[Place, int]] = {}
    for place, line in file.lines.items():
        lines_of.setdefault(place[0], {})[place[1:]] = line
    for name, settings in file.settings.get("tables", {}).items():
        of_file = {"name": name, "path": file.path, "source": file.source, "root": root}
        yield PluginTable(**of_file, settings=settings, at=f"{prefix}{name}", lines=lines_of.get(name, {}))


def own_files() -> Iterator[ReadFile]:
    """Yield the user's and the machine's ``agent-hooks.toml``, cached until they change."""
    from .files import TomlSource, user_sources

    try:
        sources = user_sources()
    except SettingsError:
        if os.environ.get("AGENT_HOOKS_CONFIG_DIR"):
            raise
        sources = []  # without a home folder, the user has no settings
    for toml in (*sources, TomlSource("managed")):
        yield from _read(toml)


def own_tables(name: str) -> list[PluginTable]:
    """Return the tables of this name; files are not looked at again for ``LOOK_AGAIN`` seconds."""
    place, now = config_place(), monotonic()
    if _process.looked[0] != place or now - _process.looked[1] >= LOOK_AGAIN:
        _own.clear()
    if not _own:
        _process.looked = (place, now)
    found = _own.get(name)
    if found is None:
        found = _own[name] = [*_named(name, _own_file_tables())]
    return found


def _own_file_tables() -> list[FileTables]:
    """Return the tables of the user's and the machine's files."""
    return [
        FileTables(
            path=file.path,
            source=file.source,
            form=file.form,
            problem=next((str(finding) for finding in file.findings if finding.kind == "unreadable"), ""),
            tables=tuple(tables_in(file)),
        )
        for file in (own_files() if _process.reads_files else ())
    ]


def without_files(ask: Callable[[], object]) -> None:
    """Ask plugins as if there were no files with settings."""
    _process.reads_files = False
    try:
        ask()
    finally:
        _process.reads_files = True
        _own.clear()


def _named(name: str, files: Iterable[FileTables]) -> Iterator[PluginTable]:
    """Yield the tables of this name. If only one of two files of the user has it, the other yields an empty one."""
    found = [(file, [table for table in file.tables if table.name == name]) for file in files]
    users = [tables for file, tables in found if file.source == "user" and file.form == "toml"]
    is_of_two = len(users) > 1 and any(users)
    for file, tables in found:
        if file.problem:
            yield PluginTable(name=name, path=file.path, source=file.source, problem=file.problem)
        elif is_of_two and not tables and file.source == "user" and file.form == "toml":
            yield PluginTable(name=name, path=file.path, source=file.source, at=name)
        yield from tables


def _read(toml: TomlSource) -> tuple[ReadFile, ...]:
    """Parse a file, or return the cached result while the file is unchanged."""
    try:
        status = os.stat(toml.path)
    except OSError:
        return tuple(toml.load())
    owned = (status.st_dev, status.st_ino, status.st_mode, status.st_uid)
    # The time of a change cannot be set back, as that of a modification can.
    stamp = (*owned, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
    known = _files.get(toml.path)
    if known is None or known[0] != stamp:
        known = _files[toml.path] = (stamp, tuple(toml.load()))
    return known[1]


def validated(table: PluginTable, validate: Callable[[PluginTable], Any]) -> Any:
    """Return ``validate(table)``, called once for each content of a table.

    The result must follow from the table and installed code alone, and not be changed by callers. ``validate`` must be
    a function of a module. Errors are not remembered.
    """
    key = (*_identity(table), f"{validate.__module__}.{validate.__qualname__}")
    known = _validated.get(key)
    if known is None or not is_same_table(known[0], table):
        known = _validated[key] = (table, validate(table))
    return known[1]


def plain_settings(table: PluginTable, keys: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the settings in a table as a strict model would, but without pydantic, if they are plain; else None, and
    the model decides.

    ``keys``: for each key ``int`` or ``float``, for a number that is not negative; a pair of texts from the loosest to
    the strictest and the loosest of them that a project may say; or such a mapping, for a table. Nothing else is plain.
    """
    found: dict[str, Any] = {}
    if not isinstance(table.settings, dict):
        return None
    for key, value in table.settings.items():
        allowed = keys.get(key)
        if isinstance(allowed, dict):
            made = plain_settings(table.replace(settings=value), allowed)
        elif isinstance(allowed, tuple):
            texts, loosest = allowed
            made = value if value in (texts[texts.index(loosest) :] if table.source == "project" else texts) else None
        else:
            made = allowed(value) if allowed and type(value) in (int, allowed) and 0 <= value < _EXACT else None
        if made is None:
            return None
        found[key] = made
    return found


def is_same_table(one: PluginTable, other: PluginTable) -> bool:
    """Whether two tables say the same in the same types: ``1 == True`` in Python, but not for a validator."""
    if one is other:
        return True
    from marshal import dumps

    return one == other and dumps(encode(one.settings), 2) == dumps(encode(other.settings), 2)


def _identity(table: PluginTable) -> tuple[str, ...]:
    return table.path, table.root, table.source, table.name
