"""Files of a project that set environment variables of the host, by which the user's settings would be elsewhere."""

from __future__ import annotations

import os

from agent_hooks.errors import BadJSONError
from agent_hooks.formats.findings import ConfigFinding
from agent_hooks.system.folders import read_regular
from agent_hooks.system.strict_json import read_json
from agent_hooks.trust.discovery import MAX_BYTES
from agent_hooks.trust.project_files import CLAUDE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_VARIABLES = frozenset(
    """
    HOME USERPROFILE APPDATA LOCALAPPDATA XDG_CONFIG_HOME XDG_STATE_HOME CLAUDE_CONFIG_DIR CODEX_HOME PATH
    PYTHONPATH PYTHONHOME PYTHONUSERBASE PYTHONSAFEPATH PYTHONSTARTUP LD_PRELOAD LD_LIBRARY_PATH DYLD_INSERT_LIBRARIES
    """.split()
)


def moved_by_projects(roots: Iterable[str]) -> Iterator[ConfigFinding]:
    """Yield a finding for each file of Claude Code's settings in a project at one of ``roots`` whose ``env`` moves the
    user's settings, or changes what the gates run. It does not matter whether the files are trusted.
    """
    for path in (os.path.join(root, name) for root in roots for name in CLAUDE):
        try:
            settings = read_json(read_regular(path, MAX_BYTES))
        except (OSError, BadJSONError):  # whoever reads its hooks says so
            continue
        env = settings.get("env") if isinstance(settings, dict) else None
        names = sorted(name for name in env if _moves(name)) if isinstance(env, dict) else []
        if names:
            yield ConfigFinding(
                kind="moves-settings",
                path=path,
                message=f"Its env sets {', '.join(names)}, which decides where settings and programs are looked for.",
                remedy="Remove that from the file of the project; set it in your own environment if you need it.",
            )


def _moves(name: str) -> bool:
    return name.upper() in _VARIABLES or name.upper().startswith("AGENT_HOOKS_")
