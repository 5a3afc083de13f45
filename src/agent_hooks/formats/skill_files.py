"""Parser of the hooks of skills and agents, in the frontmatter of their Markdown files."""

from __future__ import annotations

import os

from agent_hooks.errors import did_you_mean
from agent_hooks.model.events import HookEvent, find_event

from .claude.event_names import ALWAYS_OPEN, ANY_TYPE
from .claude.groups import GroupReader
from .entry_matches import condition
from .event_keys import event_key, event_names
from .frontmatter import FrontmatterError, has_hooks, read_frontmatter
from .read_file import ReadFile
from .reader import WrongError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Literal

    from .entry_matches import EntryMatch
    from .event_keys import EventKey
    from .reader import Place

    Kind = Literal["skill", "agent"]

SKILL_FILE = "SKILL.md"
_MAX_NAME = 200


# -- reading -----------------------------------------------------------------------------------------------------------


def read_skill(
    data: bytes,
    *,
    path: str,
    source: str = "skill",
    project_dir: str = "",
    directory: str = "",
    strict_events: bool = False,
    kind: Kind = "skill",
) -> ReadFile:
    """Return the hooks of a ``SKILL.md``: ``hooks`` of its frontmatter, event → groups of ``matcher`` and ``hooks``.

    ``directory``: the base of relative paths (default: the file's folder). ``settings["name"]`` is the skill's name.
    ``scope: skill``, in a group or for the whole file, limits hooks to calls of the skill itself. Neither our runtime
    nor any host sets ``ctx.skill`` yet, so such hooks run only if the caller that dispatches an event sets it. An
    unknown event is a finding, which blocks with ``strict_events``. Problems are findings; nothing is raised.

    ``kind="agent"``: the file is an agent's definition, whose hooks see only the events of that agent. Its ``Stop`` is
    the end of the agent as a subagent, as in Claude Code.
    """
    common = {
        "form": "skill",
        "path": path,
        "source": source,
        "directory": directory or os.path.dirname(path),
        "project_dir": project_dir,
    }
    return _Reader(kind, common, strict_events).file(data)


def _name_in(values: Mapping[str, Any], path: str) -> str:
    """Return the name in the frontmatter, else that of the skill's folder or the agent's file."""
    name = values.get("name")
    given = "" if name is None or isinstance(name, (dict, list)) else str(name).strip()
    if given and given.isprintable() and len(given) <= _MAX_NAME:
        return given
    folder, file = os.path.split(os.path.abspath(path))
    return os.path.basename(folder) if file == SKILL_FILE else os.path.splitext(file)[0]


class _Reader(GroupReader):
    """Parses the frontmatter of one file."""

    takes_lists = True

    def __init__(self, kind: Kind, common: dict[str, Any], strict_events: bool) -> None:
        super().__init__(common)
        self.group_keys = ("matcher", "hooks", "scope") if kind == "skill" else ("matcher", "hooks")
        self._kind = kind
        self._strict_events = strict_events
        self._name = ""
        self._is_narrowed = False

    def file(self, data: bytes) -> ReadFile:
        """Parse the file."""
        try:
            values, self.lines, _ = read_frontmatter(data)
        except FrontmatterError as error:
            if not has_hooks(data):
                return ReadFile(**self.same)
            return ReadFile.unreadable(error.problem, error.remedy, error.line, part=data, **self.same)
        self._name = _name_in(values, self.path)
        settings = {"name": self._name}
        self.find_misspelt(values)
        if not values.get("hooks"):
            return ReadFile(**self.same, settings=settings, findings=tuple(self.findings))
        self._is_narrowed = values.get("scope") == "skill"
        if isinstance(values["hooks"], dict):
            self.read_events(values["hooks"])
        else:
            problem = "hooks has no events under it."
            self.find("not-honoured", ("hooks",), problem, "Write `PreToolUse:` under it, and a list.", blocks=True)
        return self.result(settings, {"name": self._name, "hooks": values["hooks"], "scope": values.get("scope")})

    def event(self, name: str, place: Place) -> EventKey | None:
        """Return the event with this name, ours or Claude Code's."""
        key = event_key(name)
        if key is None:
            hint = did_you_mean(name, event_names(), "`agent-hooks events` lists them all.", cutoff=0.7)
            problem = f"There is no event {name[:80]!r}, so its hooks are left out."
            self.find("unknown-event", place, problem, hint, blocks=self._strict_events)
        elif self._kind == "agent" and key.event is HookEvent.ON_STOP:
            return key.replace(event=HookEvent.AFTER_SUBAGENT)
        return key

    def condition(self, key: EventKey, group: Mapping[str, Any], place: Place) -> EntryMatch | None:
        """Limit the hooks of an agent to its own events, and those of scope ``skill`` to calls of the skill."""
        if self._kind == "agent":
            field = "name" if find_event(key.name) is HookEvent.ON_STOP else "agent_name"
            return condition("field", field, self._name)
        scope = group.get("scope")
        if scope not in (None, "skill"):
            raise WrongError((*place, "scope"), "scope is not skill.", "Write `scope: skill`, or remove it.")
        return condition("field", "skill", self._name) if scope or self._is_narrowed else None

    def takes_entry_fields(self, kind: str) -> bool:
        """Whether the type is one of Claude Code's; a plugin's gets all fields but `type`."""
        return kind in ANY_TYPE or kind == "subagent"  # Claude Code's type `agent` is called `subagent` here

    def settle(self, key: EventKey, handler: Mapping[str, Any], facts: dict[str, Any], place: Place) -> bool:
        """Complete a handler by the rules for skills and agents."""
        is_once = handler.get("once") is True
        if is_once and self._kind == "agent":
            self.find("not-honoured", (*place, "once"), "once has no effect in the file of an agent.", "Remove it.")
        facts["once"] = is_once and self._kind == "skill"
        if key.name in ALWAYS_OPEN:
            facts["on_failure"] = None
        return True
