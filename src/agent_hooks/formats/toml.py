"""Parser of ``agent-hooks.toml``, and of the same keys in ``[tool.agent_hooks]`` of a pyproject.toml."""

from __future__ import annotations

import json
import os
import re
from difflib import get_close_matches
from tomllib import loads
from typing import TYPE_CHECKING, Any

from agent_hooks.errors import RegistrationError, did_you_mean
from agent_hooks.model.policy import TIGHTENING_ONLY

from .entry import HookEntry, Permits
from .event_keys import EventKey, event_key, event_names
from .findings import RESTORED
from .policies import project_may_say
from .read_file import ReadFile
from .reader import Reader, kind_of, letters
from .toml_lines import lines_of, written_key

# Without pydantic: most files have nothing but the tables of plugins.
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pydantic import BaseModel

    from .entry_matches import EntryMatch
    from .toml_lines import Place
    from .toml_model import Problem

# The path of the settings in a pyproject.toml.
TABLE = ("tool", "agent_hooks")
# The keys of ``HookFile``.
KEYS = (
    *("disabled", "plugins", "required", "config_dir", "ignore", "claude_plugins", "claude_settings", "known_tools"),
    *("policy", "permits", "telemetry", "serve", "trust", "hooks"),
)
# Keys for the user and the machine's owner only.
_NOT_FOR_PROJECTS = frozenset(
    "disabled required config_dir ignore permits plugins claude_settings serve telemetry trust".split()
)
_TABLES = ("policy", "permits")
_LOOSENING = {"mode": ("transform",), "on_failure": ("open", "ask"), "shadow": (True,)}
# Keys whose loss might let a denied call pass.
_KEEPS_GATES = frozenset({"hooks", "policy", "plugins", "claude_plugins"})
# The difflib ratio above which a key is a misspelling of another, such as "hook" of "hooks".
_ALIKE = 0.82
# The ratio above which an unknown event is a misspelt event of gates.
_NEAR = 0.8
# Nobody reads more, and each needs a search for the nearest key.
_MAX_FINDINGS = 100
# tomllib needs quadratic time for the parts of a dotted key.
_MAX_DOTS = 1000


# Keys of a table of hooks that a plugin called like an event would hardly have.
_KEYS_OF_HOOKS = frozenset({"hooks", "matcher", "command"})


def read_toml(
    data: bytes, *, path: str, source: str, pyproject: bool = False, project_dir: str = "", directory: str = ""
) -> ReadFile | None:
    """Parse ``data``, the content of the file ``path``; return None for a pyproject.toml without a table of ours.

    ``source``: one of ``policy.SOURCES``. ``directory``: the base of relative paths (default: the file's folder).
    Invalid parts become findings; the rest is kept. ``settings`` holds the keys that are set: ``policy`` (fields of
    ``HookPolicy``), ``disabled``, ``ignore``, ``plugins`` and ``claude_plugins`` (lists of strings), ``permits``
    (``Permits``), ``claude_settings`` (a bool), ``tables`` (the settings of each plugin, unvalidated).
    """
    plain = data.replace(b"\0", b"").lower()  # UTF-16 and UTF-32 become plain text without their null bytes
    if pyproject and not any(mark in plain for mark in (b"agent", b"hooks", b"\\u", b"\\x")):
        return None
    try:
        text = data.decode()
        if any(line.count(".") > _MAX_DOTS for line in text.splitlines()):
            raise ValueError(f"a line has more than {_MAX_DOTS} dots")
        document = loads(text)
        table, misplaced = _tables(document) if pyproject else (document, {})
        part = canonical(table) + canonical({written_key(place): value for place, value in misplaced.items()})
    except (ValueError, RecursionError) as error:
        if pyproject and b"agenthook" not in plain.replace(b"_", b"").replace(b"-", b""):
            return None  # the file of other tools
        return _unreadable(data, path, source, error)
    if pyproject and not table and not misplaced:
        return None
    reading = _Reading(path, source, TABLE if pyproject else (), lines_of(text), project_dir, directory)
    return reading.file(table, part, misplaced)


def read_trusted_table(data: bytes, part: bytes, *, path: str, project_dir: str) -> ReadFile | None:
    """Parse a project's pyproject.toml with the table that was trusted last, whose canonical bytes are ``part``.

    This is for a file that is no valid TOML any more, as after a merge with conflicts; return None for any other.
    """
    broken = read_toml(data, path=path, source="project", pyproject=True)
    if broken is None or not is_unreadable(broken):
        return None
    try:
        table = json.loads(part)
    except ValueError:  # it also holds misplaced tables
        return None
    found = _Reading(path, "project", TABLE, {}, project_dir).file(table, part, {})
    (problem,) = broken.findings
    finding = problem.replace(
        kind=RESTORED,
        remedy="Resolve it. Until then its [tool.agent_hooks] holds as it was trusted last.",
        blocks=False,
    )
    return found.replace(findings=(finding, *found.findings))


def is_unreadable(file: ReadFile) -> bool:
    """Whether a file could not be read as TOML."""
    return [finding.kind for finding in file.findings] == ["unreadable"]


def _tables(document: Mapping[str, Any]) -> tuple[dict[str, Any], dict[Place, Any]]:
    """Return our table of a pyproject.toml, and misplaced or misspelt ones by their path."""
    # No tool may have a table at the top: https://packaging.python.org/en/latest/specifications/pyproject-toml/
    misplaced: dict[Place, Any] = {(key,): value for key, value in document.items() if _is_like_ours(key)}
    hooks = document.get("hooks")
    if isinstance(hooks, dict) and any(map(event_key, hooks)):
        misplaced[("hooks",)] = hooks
    tools = document.get(TABLE[0])
    ours = {key: value for key, value in tools.items() if _is_like_ours(key)} if isinstance(tools, dict) else {}
    table = ours.pop(TABLE[1], {})
    misplaced |= {(TABLE[0], key): value for key, value in ours.items()}
    return (table, misplaced) if isinstance(table, dict) else ({}, {TABLE: table, **misplaced})


def _is_like_ours(key: str) -> bool:
    """Whether a key misspells that of our table, or is the name of a distribution of ours."""
    return letters(key).startswith(letters(TABLE[1])) or _meant(key, TABLE[1:]) is not None


def _meant(key: str, known: Iterable[str]) -> str | None:
    """Return the key of ``known`` that ``key`` misspells, if any."""
    by_letters = {letters(name): name for name in known}
    near = get_close_matches(letters(key), [*by_letters], n=1, cutoff=_ALIKE)
    return by_letters[near[0]] if near else None


def _event_meant(key: str, value: Any) -> EventKey | None:
    """Return the event of a key whose value looks like hooks: a list of tables, or a table with keys of hooks."""
    are_tables = isinstance(value, list) and bool(value) and all(isinstance(table, dict) for table in value)
    if not are_tables and not (isinstance(value, dict) and not _KEYS_OF_HOOKS.isdisjoint(value)):
        return None
    names = event_names()
    near = [key] if key in names else get_close_matches(key, names, n=1, cutoff=_NEAR) if are_tables else []
    return event_key(near[0]) if near else None


def canonical(table: Mapping[str, Any]) -> bytes:
    """Serialize ``table`` so that equal tables give equal bytes; an empty one gives none."""
    return json.dumps(table, sort_keys=True, separators=(",", ":"), default=repr).encode() if table else b""


def _unreadable(data: bytes, path: str, source: str, error: Exception) -> ReadFile:
    line = re.search(r"at line (\d+)", str(error))
    problem = f"It is not TOML in UTF-8: {error}."
    remedy = "Repair it: until then nobody knows which hooks it asks for."
    return ReadFile.unreadable(problem, remedy, int(line[1]) if line else 0, path=path, source=source, part=data)


class _Reading(Reader):
    """The state of parsing one file. ``at``: the path of our table in it."""

    def __init__(
        self, path: str, source: str, at: Place, lines: Mapping[Place, int], project_dir: str, directory: str = ""
    ) -> None:
        super().__init__(path, lines)
        self.settings: dict[str, Any] = {}
        self._source = source
        self._at = at
        self._is_project = source in TIGHTENING_ONLY
        directory = directory or os.path.dirname(path)
        self._common = {"source": source, "path": path, "directory": directory, "project_dir": project_dir}

    def file(self, table: Mapping[str, Any], part: bytes, misplaced: Mapping[Place, Any]) -> ReadFile:
        """Parse our table. ``part``: its canonical bytes. ``misplaced``: tables that are not where they should be."""
        for place, value in misplaced.items():
            key, meant = written_key(place), written_key((*TABLE, *place) if place == ("hooks",) else TABLE)
            is_table = key != meant
            problem = f"Nobody reads {key}." if is_table else f"{key} must be a table, not {_kind_of(value)}."
            self.find("unknown-key", place, problem, f"Write [{meant}].", blocks=True)
        # Any other key names a plugin's table, but for a near miss of our own keys and a misplaced event.
        own = {TABLE[0], *(_NOT_FOR_PROJECTS if self._is_project else ())}
        plugins = {
            key: value
            for key, value in table.items()
            if key not in own and _meant(key, KEYS) is None and _event_meant(key, value) is None
        }
        settings: dict[str, Any] = {}
        for key, value in table.items():
            place = (*self._at, key)
            if isinstance(plugins.get(key), dict):
                continue
            if self._is_project and key in _NOT_FOR_PROJECTS:
                self._has_no_effect(place)
            elif key in ("required", "config_dir") and self._source != "managed":
                problem = f"Only the machine's agent-hooks.toml may say {written_key(place)}, so it has no effect."
                self.find("not-allowed", place, problem, "Remove it.")
            elif key not in KEYS:
                self._unknown_key(key, value, place)
            elif key != "hooks":
                settings[key] = value
        if settings:
            self._read_settings(settings)
        self._common["permits"] = self.settings.get("permits", Permits())
        if "hooks" in table:
            self._read_hooks(table["hooks"], (*self._at, "hooks"))
        if plugins:
            self.settings["tables"] = plugins
        start, wanted = len(self._at), {*plugins, *self.settings}
        return ReadFile(
            path=self.path,
            source=self._source,
            entries=tuple(self.entries),
            settings=self.settings,
            lines={
                place[start:]: line
                for place, line in self.lines.items()
                if place[:start] == self._at and wanted.intersection(place[start : start + 1])
            },
            findings=tuple(self.findings),
            part=part,
        )

    # -- settings ------------------------------------------------------------------------------------------------------

    def _read_settings(self, settings: Mapping[str, Any]) -> None:
        """Keep the valid keys of the settings, and of the tables among them."""
        from .toml_model import HookFile

        wrong = set()
        for problem in _problems(HookFile, settings, self._at):
            place = problem.place[len(self._at) :]
            wrong.add(place[:2] if place[0] in _TABLES else place[:1])
            self.find("not-honoured", *problem, blocks=place[0] in _KEEPS_GATES)
        for key, value in settings.items():
            if (key,) in wrong:
                continue
            if key in _TABLES:
                value = {name: each for name, each in value.items() if (key, name) not in wrong}
            self.settings[key] = Permits.from_dict(value) if key == "permits" else value
        policy = self.settings.get("policy", {})
        for name, value in list(policy.items()) if self._is_project else ():
            if not project_may_say(name, value):
                self._has_no_effect((*self._at, "policy", name))
                del policy[name]
        if not policy:
            self.settings.pop("policy", None)

    def _unknown_key(self, key: str, value: Any, place: Place) -> None:
        if self._has_too_many:
            return
        if key == TABLE[0]:
            remedy = f"Leave out {written_key(TABLE)} in this file: its keys are at the top."
            self.find("unknown-key", place, f"Nobody reads {written_key(place)}.", remedy, blocks=True)
            return
        event = _event_meant(key, value)
        if event is not None:
            problem = f"{written_key(place)} is not a key here: hooks are below `hooks`."
            remedy = f"Write {_header(*place[:-1], 'hooks', event.name)}."
            self.find("not-honoured", place, problem, remedy, **_about(event, {}))
            return
        problem = f"{written_key(place)} is not a key here. Those there are: {', '.join(KEYS)}."
        if not isinstance(value, dict):
            problem += " The settings of a plugin are a table."
        remedy = did_you_mean(key.casefold(), KEYS, "Remove it.")
        self.find("unknown-key", place, problem, remedy, blocks=_meant(key, KEYS) in _KEEPS_GATES)

    # -- hooks ---------------------------------------------------------------------------------------------------------

    def _read_hooks(self, hooks: Any, place: Place) -> None:
        if not isinstance(hooks, dict):
            problem = f"{written_key(place)} must be a table of events, not {_kind_of(hooks)}."
            self.find("not-honoured", place, problem, f"Write {_header(*place, 'before_tool_use')}.", blocks=True)
            return
        for name, tables in hooks.items():
            event = event_key(name)
            if event is None:
                self._unknown_event(name, (*place, name))
            elif not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
                problem = f"{written_key((*place, name))} must be a list of tables."
                remedy = f"Write {_header(*place, name)}, with double brackets."
                self.find("not-honoured", (*place, name), problem, remedy, **_about(event, {}))
            else:
                for number, table in enumerate(tables):
                    self._read_matcher(event, table, (*place, name, number))

    def _unknown_event(self, name: str, place: Place) -> None:
        if self._has_too_many:
            return
        problem = f"There is no event {name!r}, so its hooks are left out."
        known = {word: key for word in event_names() if (key := event_key(word)) is not None}
        remedy = did_you_mean(name, known, "`agent-hooks events` lists them all.", cutoff=0.7)
        near = get_close_matches(name, [word for word in known if known[word].is_gate], n=1, cutoff=_NEAR)
        facts = known[near[0]].about() if near else {}
        self.find("unknown-event", place, problem, remedy, **facts)

    def _read_matcher(self, event: EventKey, table: Mapping[str, Any], place: Place) -> None:
        options = {key: value for key, value in table.items() if key != "hooks"}
        if not isinstance(table.get("hooks"), list) or not table["hooks"]:
            remedy = f"Write each below the matcher, under {_header(*place, 'hooks')}."
            self.find("not-honoured", place, f"{written_key(place)} has no handlers.", remedy, **_about(event, options))
            return
        from .toml_model import MatcherTable, Problem

        wrong = _problems(MatcherTable, table, place)
        matcher = options.get("matcher")
        match: EntryMatch | None = None
        if isinstance(matcher, str) or matcher is None:
            try:
                match = event.match(matcher, self._source)
            except RegistrationError as error:
                wrong.append(Problem((*place, "matcher"), str(error), "Correct it."))
        if any(problem.place[-1] == "matcher" for problem in wrong):
            matcher = None  # which calls it is about is not known, so it is about all
        for problem in wrong:
            self.find("not-honoured", *problem, **_about(event, options, matcher))
        first = len(place) + 1  # of the parts of a place that name a handler
        refused = {problem.place[first] if len(problem.place) > first else None for problem in wrong}
        if None in refused:
            return
        fields = {**self._common, **self._allowed(options, place), "event": event.event}
        if event.is_claudes:  # then its matchers are not ours
            fields |= {"match": match, "host_event": event.host_event, "is_gate": event.is_gate}
        for number, handler in enumerate(table["hooks"]):
            if number not in refused:
                config = {key: value for key, value in handler.items() if key != "type"}
                line = self.line((*place, "hooks", number))
                self.entries.append(HookEntry(type=handler["type"], config=config, line=line, **fields))

    def _allowed(self, options: Mapping[str, Any], place: Place) -> dict[str, Any]:
        """Return the fields of an entry from ``options``, without those that a project may not set."""
        fields: dict[str, Any] = {}
        for key, value in options.items():
            if self._is_project and value in _LOOSENING.get(key, ()):
                self._has_no_effect((*place, key))
            else:
                fields["is_async" if key == "background" else key] = value
        return fields

    # -- findings ------------------------------------------------------------------------------------------------------

    def _has_no_effect(self, place: Place) -> None:
        problem = f"A {self._source} may only tighten, so {written_key(place)} has no effect as it is."
        self.find("not-allowed", place, problem, "Remove it; the user's own agent-hooks.toml may say it.")

    @property
    def _has_too_many(self) -> bool:
        """Whether no further finding is listed; the search for the nearest name is the costly part of one."""
        return len(self.findings) > _MAX_FINDINGS

    def find(self, kind: str, place: Place, message: str, remedy: str, **facts: Any) -> None:
        """Add a finding. After too many, one that blocks stands for the rest."""
        if len(self.findings) < _MAX_FINDINGS:
            super().find(kind, place, message, remedy, **facts)
        elif len(self.findings) == _MAX_FINDINGS:
            message = f"There are more than {_MAX_FINDINGS} mistakes in it; the others are not listed."
            super().find("unreadable", (), message, "Correct these.", blocks=True)


def _problems(model: type[BaseModel], table: Any, at: Place) -> list[Problem]:
    from pydantic import ValidationError

    from .toml_model import problems

    try:
        model.model_validate(table)
    except ValidationError as error:
        return problems(error, model, table, at)
    return []


def _about(event: EventKey, options: Mapping[str, Any], matcher: str | None = None) -> dict[str, Any]:
    """Return the fields of a finding about hooks that cannot run."""
    about = event.about(matcher)
    return {**about, "blocks": about["blocks"] and options.get("mode") != "observe"}


def _kind_of(value: Any) -> str:
    return kind_of(value, mapping="a table")


def _header(*place: str | int) -> str:
    return f"[[{written_key([part for part in place if isinstance(part, str)])}]]"
