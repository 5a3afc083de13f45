"""What keeps a host from running the hooks that are wired, or makes it run them twice."""

from __future__ import annotations

import os
import re
from glob import escape, iglob
from itertools import islice

from agent_hooks.errors import BadJSONError, SettingsError
from agent_hooks.sources.files import ClaudeSource
from agent_hooks.trust.gate.locations import read_text
from agent_hooks.wire import get_host

from . import files
from .edit import Document
from .editors import runs_ours, trusted_hashes
from .hosts import WIRINGS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from .hosts import Wiring

# Keys of the hosts' settings that switch all hooks off, with the value that does.
_SWITCHES: tuple[tuple[tuple[str, ...], bool], ...] = (
    (("disableAllHooks",), True),
    (("hooksConfig", "enabled"), False),
    (("tools", "enableHooks"), False),
    (("hooks", "enabled"), False),
    (("features", "hooks"), False),
    (("features", "codex_hooks"), False),
)
# The files in which each host looks for them: below the folder of the user's file, and in a project.
SETTINGS = {
    "claude-code": (("settings.json", "settings.local.json"), (".claude/settings.json", ".claude/settings.local.json")),
    "codex": (("config.toml",), (".codex/config.toml",)),
    "gemini": (("settings.json",), (".gemini/settings.json",)),
    "qwen": (("settings.json",), (".qwen/settings.json",)),
    "copilot": (("agent-hooks.json", "../settings.json", "../config.json"), (".github/copilot/settings.json",)),
}
# The folders of installed plugins, mods and extensions, from that of the host's file.
_ADDED = {
    "claude-code": ("plugins", "mods", "skills/*/.claude-plugin", "skills/*/hooks"),
    **dict.fromkeys(("codex", "cursor"), ("plugins", "mods")),
    **dict.fromkeys(("gemini", "qwen"), ("extensions",)),
    "copilot": ("../installed-plugins", "../plugins", "../extensions", "../../.github/extensions"),
    "opencode": ("../plugin", "../plugins"),
}
_PASSED_OVER = ("node_modules", ".git", "marketplaces")  # the last: what is only offered
_MOST_FILES = 5000
_CLAUDE_PROJECT = (".claude/settings.json", ".claude/settings.local.json")


def cautions(wiring: Wiring, path: str, root: str) -> Iterator[str]:
    """Yield sentences on a host that is wired at ``path``, as seen from the project at ``root``."""
    yield from silenced(wiring, path, root)
    yield from _twice(wiring, path, root)
    yield from _beside(wiring, root)


def silenced(wiring: Wiring, path: str, root: str) -> Iterator[str]:
    """Yield the reasons why the host runs no hooks at all."""
    folder = os.path.dirname(WIRINGS[wiring.name].path())
    in_home, in_project = SETTINGS.get(wiring.name, ((), ()))
    for file in (*(os.path.normpath(os.path.join(folder, each)) for each in in_home),
                 *(os.path.join(root, each) for each in in_project)):  # fmt: skip
        settings = settings_in(file)
        for keys, value in _SWITCHES:
            if _at(settings, keys) is value:
                yield f"{file} switches all hooks off ({'.'.join(keys)}), so {wiring.title} runs none."
    if wiring.name == "claude-code":
        for file in ClaudeSource("managed").paths():
            if settings_in(file).get("allowManagedHooksOnly") is True:
                yield f"{file} allows the administrator's hooks alone: ours do not run."
    if wiring.name == "codex":
        yield from _of_codex(path, root)


def _of_codex(path: str, root: str) -> Iterator[str]:
    hooks = settings_in(path)
    if others := sorted(hooks.keys() - {"hooks", "description"}):
        yield f"{path} has the keys {', '.join(others)}: Codex reads none of its hooks until they are removed."
    if any(handler.get("type") == "http" for handler in objects_in(hooks.get("hooks"))):
        yield f"{path} has a hook of the type http: Codex reads none of its hooks until that is removed."
    trusted = path == WIRINGS["codex"].path() or _at(settings_in(codex_config()), ("projects", root, "trust_level"))
    if trusted not in (True, "trusted"):
        yield f"Codex does not trust {root}, so it runs none of the hooks there, and does not say so."


def _twice(wiring: Wiring, path: str, root: str) -> Iterator[str]:
    """Yield what makes a host run our hooks more than once at an event."""
    if wiring.name != "claude-code":  # it runs the same command line in several files once
        for other in {wiring.path(), wiring.path(root)} - {path}:
            if _has_ours(other):
                yield f"{other} has our hooks too, so {wiring.title} runs them twice: uninstall them in one of both."
    shared, claude = WIRINGS["copilot"], WIRINGS["claude-code"]
    if wiring.name not in ("claude-code", "copilot", "vscode", "cursor"):
        return
    has_shared = _has_ours(shared.path()) or _has_ours(shared.path(root))
    for file in (os.path.join(root, each) for each in _CLAUDE_PROJECT):
        if has_shared and wiring.name != "cursor" and _has_ours(file):
            yield f"Copilot and VS Code run {file} as well as their own hooks, so ours run twice there."
    user = claude.path()
    if has_shared and wiring.name != "cursor" and WIRINGS["vscode"].is_here() and _has_ours(user):
        yield (
            f"VS Code runs {user} as well as its own hooks, so ours run twice there; its setting "
            "chat.hookFilesLocations can leave that file out."
        )
    if _has_ours(WIRINGS["cursor"].path()) and _has_ours(user) and wiring.name != "copilot":
        yield f"If Cursor is set to include third-party hooks, it runs {user} too, so ours run twice there."


def _beside(wiring: Wiring, root: str) -> Iterator[str]:
    """Yield the plugins, mods and extensions that hook the events of ours, which they may answer before."""
    names = "|".join((*get_host(wiring.agent or wiring.name).rows, r"tool\.call|tool\.execute\.\w+|permission\.ask"))
    places = {os.path.dirname(each) for each in (wiring.path(), wiring.path(root))}
    tops = [os.path.normpath(f"{escape(place)}/{each}") for place in places for each in _ADDED.get(wiring.name, ())]
    below = (path for each in tops for top in iglob(each) for path in _files_below(top))
    code = (path for path in below if path.endswith((".json", ".js", ".mjs", ".cjs", ".ts", ".toml")))
    for path in islice((path for path in code if not os.path.basename(path).startswith("agent-hooks.")), _MOST_FILES):
        text = read_text(path)
        if events := dict.fromkeys(re.findall(rf"""['"](?:classic\.)?({names})['"]""", text)):
            yield f"{path} hooks {', '.join(events)} too, and may answer before our hooks: look at what it does."
        elif '"modules"' in text and path.endswith("hooks.json"):
            yield f"{path} loads modules, which may answer before our hooks: look at what they do."


def _files_below(folder: str) -> Iterator[str]:
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in _PASSED_OVER]
        yield from (os.path.join(place, name) for name in names)


def codex_config() -> str:
    """Return Codex's configuration, in which it keeps whom it trusts."""
    return os.path.join(os.path.dirname(WIRINGS["codex"].path()), "config.toml")


def codex_hashes(path: str) -> dict[str, str]:
    """Return the hashes of our hooks in a file of Codex, none if it cannot be read."""
    hooks = settings_in(path).get("hooks")
    # Codex resolves the links of this folder alone.
    if os.environ.get("CODEX_HOME") and path == WIRINGS["codex"].path():
        path = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
    try:
        return trusted_hashes(path, hooks if isinstance(hooks, dict) else {})
    except (AttributeError, TypeError, KeyError):
        return {}


def untrusted(path: str) -> bool:
    """Whether Codex has hooks of ours in the file ``path`` that it does not trust as they are."""
    states = _at(settings_in(codex_config()), ("hooks", "state"))
    return any(_at(states, (key, "trusted_hash")) != value for key, value in codex_hashes(path).items())


def _has_ours(path: str) -> bool:
    return any(runs_ours(handler) for handler in objects_in(settings_in(path).get("hooks")))


def objects_in(hooks: Any) -> Iterator[Mapping[str, Any]]:
    """Yield all objects in the hooks of a file that may be handlers."""
    inner = hooks.values() if isinstance(hooks, dict) else hooks if isinstance(hooks, list) else ()
    if isinstance(hooks, dict):
        yield hooks
    for each in inner:
        yield from objects_in(each)


def settings_in(path: str) -> dict[str, Any]:
    """Return the settings in a file, none if it cannot be read: the host will say so."""
    from tomllib import TOMLDecodeError, loads

    try:
        data = files.read(path)
        if data is None:
            return {}
        return dict(loads(data.decode()) if path.endswith(".toml") else Document(data.decode(), comments=True).value)
    except (SettingsError, BadJSONError, UnicodeDecodeError, TOMLDecodeError):
        return {}


def _at(value: Any, keys: tuple[str, ...]) -> Any:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value
