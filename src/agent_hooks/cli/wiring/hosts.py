"""Where and how each coding agent is wired: a table, one row per host.

What its events are, and which of them are gates, says the host's module in ``agent_hooks.wire``. Sources: the hosts'
documentation, and the clients themselves.
"""

from __future__ import annotations

import os
from shutil import which

from agent_hooks.errors import SettingsError
from agent_hooks.model.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

# Seconds that an entry gets: of events at which hooks may do long work (tests at a stop), and of the others.
LONG, USUAL = 600, 120
# Hosts kill a hook that is late and go on, so ours answers this many seconds before.
AHEAD = 1
_NEW_SESSION = "It holds in sessions that are started from now on."


class Wiring(Value):
    """One host.

    ``base``: the folder of the user's file (``$CONFIG`` is that of XDG), which the environment ``variable`` moves;
    ``user``: the file below it; ``project``: the file below a project's root, ``is_private``: it is not committed.
    ``programs``: the host's commands, ``traces``: folders that it leaves, if not the base. ``agent``: its name in the
    command line. ``readers``: the hosts that read the file, if there are several.

    ``shape``: ``groups`` (event → groups of a matcher → handlers), ``entries`` (event → handlers) or ``plugin`` (a
    program of the host's own kind). ``head``: what a new file of it begins with. ``comments``: whether it may have
    comments. ``fields``: more keys of each handler. ``timeout``: the factor of its ``timeout``, which counts seconds or
    milliseconds. ``limits``: the most seconds of single events. ``closing``: what closes a gate whose command cannot
    start: a field with its value, or nothing, where only the exit code does it. ``in_shell``: whether it is known that
    it gives the line to a shell. ``person``: what a person has to do.
    """

    name: str
    title: str
    base: str
    user: str
    project: str
    programs: tuple[str, ...]
    traces: tuple[str, ...] = ()
    agent: str = ""
    readers: tuple[str, ...] = ()
    variable: str = ""
    is_private: bool = False
    shape: str = "groups"
    head: Mapping[str, Any] = {}
    comments: bool = False
    fields: Mapping[str, Any] = {"type": "command"}
    timeout: int = 1
    limits: Mapping[str, int] = {}
    closing: tuple[str, Any] | None = None
    in_shell: bool = True
    person: str = _NEW_SESSION

    def path(self, project: str = "") -> str:
        """Return the file to edit: the user's, or that of the root of a ``project``. Raises ``SettingsError``."""
        if project:
            return os.path.join(project, self.project)
        moved = os.environ.get(self.variable, "")
        base = os.path.expanduser(moved or self._base())
        if not os.path.isabs(base):
            why = f"{self.variable} is {moved!r}" if moved else "There is no home folder"
            raise SettingsError(f"{why}, so it is not known where {self.title} has its settings: set an absolute path.")
        return os.path.join(base, self.user)

    def _base(self) -> str:
        return self.base.replace("$CONFIG", os.environ.get("XDG_CONFIG_HOME") or "~/.config")

    def is_here(self) -> bool:
        """Whether the host seems to be installed."""
        traces = (os.environ.get(self.variable) or os.devnull, *(self.traces or (self._base(),)))
        return any(map(which, self.programs)) or any(os.path.isdir(os.path.expanduser(trace)) for trace in traces)


_SHARED: dict[str, Any] = {
    # Copilot's command line and VS Code both run the files of this folder, so there is one for both.
    "base": "~/.copilot",
    "variable": "COPILOT_HOME",
    "user": "hooks/agent-hooks.json",
    "project": ".github/hooks/agent-hooks.json",
    "shape": "entries",
    "head": {"version": 1},
    "agent": "copilot",
    "readers": ("copilot", "vscode"),
    "limits": {"SessionEnd": 10},
}
_ROWS = (
    Wiring(
        name="claude-code",
        title="Claude Code",
        base="~/.claude",
        variable="CLAUDE_CONFIG_DIR",
        user="settings.json",
        project=".claude/settings.local.json",
        is_private=True,
        programs=("claude",),
        limits={"SessionEnd": 10},
        closing=("onFailure", "block"),
        person="It holds at once, also in running sessions: /hooks shows it.",
    ),
    Wiring(
        name="codex",
        title="Codex",
        base="~/.codex",
        variable="CODEX_HOME",
        user="hooks.json",
        project=".codex/hooks.json",
        programs=("codex",),
        limits={"SessionEnd": 3, "Interrupt": 3},
        person="Start `codex` once and trust the hooks: until then it runs none, and `codex exec` does not say so. "
        "`agent-hooks install codex --trust` does the same.",
    ),
    Wiring(
        name="gemini",
        title="Gemini CLI",
        base="~",
        variable="GEMINI_CLI_HOME",
        user=".gemini/settings.json",
        project=".gemini/settings.json",
        programs=("gemini",),
        traces=("~/.gemini",),
        comments=True,
        fields={"name": "agent-hooks", "type": "command"},
        timeout=1000,
        limits={"SessionEnd": 10},
    ),
    Wiring(
        name="qwen",
        title="Qwen Code",
        base="~/.qwen",
        variable="QWEN_HOME",
        user="settings.json",
        project=".qwen/settings.json",
        programs=("qwen",),
        comments=True,
        timeout=1000,
        limits={"SessionEnd": 10},
    ),
    Wiring(name="copilot", title="Copilot CLI", programs=("copilot",), traces=("~/.copilot",), **_SHARED),
    Wiring(name="vscode", title="VS Code", programs=("code", "code-insiders"), traces=("~/.vscode",), **_SHARED),
    Wiring(
        name="cursor",
        title="Cursor",
        base="~/.cursor",
        user="hooks.json",
        project=".cursor/hooks.json",
        programs=("cursor", "cursor-agent"),
        shape="entries",
        head={"version": 1},
        limits={"sessionEnd": 10},
        closing=("failClosed", True),
        in_shell=False,
    ),
    Wiring(
        name="opencode",
        title="opencode",
        base="$CONFIG/opencode",
        variable="OPENCODE_CONFIG_DIR",
        user="plugins/agent-hooks.js",
        project=".opencode/plugins/agent-hooks.js",
        programs=("opencode",),
        shape="plugin",
    ),
)
WIRINGS = {row.name: row for row in _ROWS}
