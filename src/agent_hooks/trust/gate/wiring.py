"""The wiring of hosts: the files that make a coding agent ask us."""

from __future__ import annotations

import os

from .locations import forms_of, is_in, read_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

# The files in which a host's hooks are, by the folder: in a home, in a project, or below /etc.
FILES = {
    ".claude": ("settings.json", "settings.local.json"),
    ".codex": ("hooks.json", "*config.toml", "requirements.toml"),
    "codex": ("hooks.json", "*config.toml", "requirements.toml"),
    ".gemini": ("settings.json",),
    "gemini-cli": ("settings.json", "system-defaults.json"),
    ".qwen": ("settings.json",),
    ".cursor": ("hooks.json",),
    "cursor": ("hooks.json",),
    ".copilot": ("settings.json", "config.json", "hooks/*"),
    ".github": ("hooks/*", "copilot/settings.json", "copilot/settings.local.json"),
    "github-copilot": ("policy.d/*",),
    ".factory": ("hooks.json", "settings.json", "settings.local.json"),
    ".windsurf": ("hooks.json",),
    "windsurf": ("hooks.json",),
    ".devin": ("hooks.v1.json",),
    ".kiro": ("agents/*", "hooks/*"),
    ".clinerules": ("hooks/*",),
    ".opencode": ("plugin/*", "plugins/*", "opencode.json"),
    "opencode": ("plugin/*", "plugins/*", "opencode.json"),
    ".kimi": ("config.toml",),
}
# Settings that switch a host's hooks off.
SWITCHES = r"""disableAllHooks|enableHooks|hooksConfig|(?:codex_)?hooks["']?\s*[=:]\s*(?:false|\[\]|\{\}|null)"""
_OURS = r"agent[-_]hooks"
# Files that set variables and aliases for the shells, and so the hosts, of later.
STARTUP_NAMES = frozenset(
    ".bashrc .bash_profile .bash_aliases .profile .zshrc .zshenv .zprofile .kshrc config.fish .envrc .env".split()
)
_STARTUP = (
    r"\b(?:CODEX_HOME|CLAUDE_CONFIG_DIR|CLAUDE_CODE_SIMPLE|COPILOT_HOME|QWEN_HOME|GEMINI_CLI_\w+|AGENT_HOOKS_\w+)(?:\s*=|\s)"
    r"|disableAllHooks|(?:claude|codex)\b.*(?:--bare|hooks?=|--dangerously)"
)
_SYSTEM = frozenset(("etc", "application support", ".config", ".codeium"))
# Variables that name the folder of a host's settings, with its usual name.
HOMES = {"CLAUDE_CONFIG_DIR": ".claude", "CODEX_HOME": ".codex", "COPILOT_HOME": ".copilot", "QWEN_HOME": ".qwen"}


def is_wiring(form: str) -> bool:
    """Return whether the file at ``form``, spelled as by ``forms_of``, is one in which a host's hooks are."""
    names = form.split("/")
    places = [(name, "/".join(names[at + 1 :])) for at, name in enumerate(names) if _is_settings_folder(names, at)]
    for variable, name in HOMES.items():
        if moved := os.environ.get(variable):
            places += [(name, form[len(home) + 1 :]) for home in forms_of(moved, "") if is_in(form, home)]
    if not places:
        return False
    from fnmatch import fnmatch

    return any(fnmatch(rest, pattern) for name, rest in places for pattern in FILES[name])


def _is_settings_folder(names: list[str], at: int) -> bool:
    """Return whether ``names[at]`` is a host's folder; one without a dot only where the system keeps settings."""
    name = names[at]
    return name in FILES and (name[0] == "." or not _SYSTEM.isdisjoint(names[:at]))


def hooks_of(text: str) -> Any:
    """Return what a host's settings, ``text``, say of hooks, if ours are among them or hooks are switched off.

    Raises ``ValueError`` for text that cannot be parsed.
    """
    if not mentions_hooks(text):
        return None
    if text.lstrip().startswith("{"):
        import json

        data = json.loads("\n".join(line for line in text.split("\n") if not line.lstrip().startswith("//")))
    else:
        from tomllib import TOMLDecodeError, loads

        try:
            data = loads(text)
        except TOMLDecodeError:
            return text  # a program, as some hosts have them
    found = {key: value for key, value in data.items() if "hook" in key.casefold() or key in ("features", "tools")}
    return found or None


def lines_for_hosts(text: str) -> list[str]:
    """Return the lines of a shell's startup file that start hosts without their hooks, or with other settings."""
    import re

    return [line for line in text.split("\n") if re.search(_STARTUP, line)]


def mentions_hooks(text: str) -> bool:
    """Return whether ``text``, put into a host's settings, might change our hooks, or switch hooks off."""
    import re

    return re.search(f"{_OURS}|{SWITCHES}", text) is not None


def is_wired(environment: str, project: str) -> bool:
    """Return whether the settings of some host, of the user, the machine or the ``project``, run our hooks from the
    folder ``environment``.
    """
    home = os.path.expanduser("~")
    folders = [(base, os.path.join(base, name), name) for base in (home, project, "/etc") for name in FILES]
    folders += [(home, os.path.join(home, base, name), name) for base in (".config", ".codeium") for name in FILES]
    folders += [(home, moved, name) for variable, name in HOMES.items() if (moved := os.environ.get(variable))]
    return any(
        _leads_into(read_text(path), base, project, environment)
        for base, folder, name in folders
        if os.path.isdir(folder)
        for path in _settings_in(folder, name)
    )


def is_wired_in(folder: str) -> bool:
    """Return whether our hooks are in a host's settings below ``folder``, a host's own or one in it."""
    names = folder.rstrip("/").split("/")
    for at in (len(names) - 1, len(names) - 2):
        if at >= 0 and _is_settings_folder(names, at):
            inside = (path for path in _settings_in("/".join(names[: at + 1]), names[at]) if is_in(path, folder))
            return any(mentions_hooks(read_text(path)) for path in inside)
    return False


def _settings_in(folder: str, name: str) -> Iterator[str]:
    from glob import escape, iglob

    for pattern in FILES[name]:
        yield from iglob(os.path.join(escape(folder), pattern))


def _leads_into(text: str, folder: str, project: str, environment: str) -> bool:
    """Return whether the settings ``text`` of a host, found in ``folder``, run our hooks from ``environment``: by a
    path in it, by a program that is found there, or by a script that names it.
    """
    import re
    from shutil import which

    if not re.search(_OURS, text):
        return False
    wholes = forms_of(environment, "")
    paths = re.findall(r"""[^\s"'=;|&\\]*/[^\s"';|&\\]*""", text)
    programs = re.findall(r"(?<![\w./-])agent-hooks(?:-core)?(?![\w./-])", text)
    paths += [path for name in programs if (path := which(name))]
    for path in paths:
        written = re.sub(r"^\$\{?\w*(?:PROJECT_DIR|CWD)\}?", lambda _: project, path)
        forms = forms_of(written, folder)
        if any(is_in(form, whole) for form in forms for whole in wholes):
            return True
        script = read_text(written, folder)[:4096].casefold() if "agent" in written else ""
        if any(f"{whole}/" in script for whole in wholes):
            return True
    return False
