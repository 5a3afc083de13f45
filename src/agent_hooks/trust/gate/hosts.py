"""Judges the ways to start a coding agent without its hooks, or with settings from elsewhere."""

from __future__ import annotations

import re
from itertools import pairwise

from agent_hooks.shell.syntax import UNKNOWN

from .locations import read_text
from .parts import SWITCHES
from .programs import CARRIERS, GATHERERS, HOSTS, name_of
from .reasons import denial

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent_hooks.trust.command_line import Command

    from .shell import Judging

# Variables that give a host other settings, or none; and that give the gate other ones, or another Python.
_VARIABLES = frozenset(
    """
    HOME USERPROFILE XDG_CONFIG_HOME CLAUDE_CONFIG_DIR CLAUDE_CODE_SIMPLE CODEX_HOME GEMINI_CLI_HOME
    GEMINI_CLI_SYSTEM_SETTINGS_PATH GEMINI_CLI_SYSTEM_DEFAULTS_PATH QWEN_HOME QWEN_CODE_SYSTEM_SETTINGS_PATH
    QWEN_CODE_SYSTEM_DEFAULTS_PATH COPILOT_HOME CURSOR_CONFIG_DIR OPENCODE_CONFIG OPENCODE_CONFIG_DIR
    OPENCODE_CONFIG_CONTENT FACTORY_HOME AGENT_HOOKS_DISABLE AGENT_HOOKS_CONFIG_DIR AGENT_HOOKS_STATE_DIR PYTHONPATH
    PYTHONHOME PYTHONUSERBASE LD_PRELOAD DYLD_INSERT_LIBRARIES
    """.split()
)
# Options, a word a line.
_OPTIONS = re.compile(
    r"^--(?:(?:[\w-]*dangerously[\w-]*|bare|ignore-user-config|(?:no|disable|skip|bypass|without)-[\w-]*hooks?[\w-]*)(?:=|$)"
    r"|disable[=\n].*hooks)",
    re.MULTILINE,
)
# With keys of Codex's configuration that decide about hooks, or unknown ones.
_CODEX_OPTIONS = re.compile(
    rf"""^(?:-c\n?|--config[=\n])(?:["']?(?:[\w.-]*hooks?\b|features|projects|profiles?\b)|[^=\n]*{UNKNOWN})""",
    re.MULTILINE,
)
# The same in the texts of code.
_HOST = re.compile(rf"(?<![\w./-])(?:{'|'.join(HOSTS)})(?![\w./-])")
_SWITCH = re.compile(
    rf"{SWITCHES}|--(?:bare|dangerously|ignore-user-config|setting-sources)|features\.|CODEX_HOME|CLAUDE_CONFIG_DIR"
)
_ELSEWHERE = frozenset("docker podman kubectl ssh".split())  # hosts that these start have hooks of their own, or none
_MANAGING = frozenset("hooks config features plugin plugins extension extensions".split())
_DISABLING = frozenset("disable disable-all off uninstall remove delete rm set unset".split())


def reason_against_host_in(code: str) -> str:
    """Return why ``code`` is denied, if it seems to start a host without its hooks."""
    host = _HOST.search(code)
    return denial("host", host[0]) if host and _SWITCH.search(code) else ""


def reason_against_host(judging: Judging, command: Command) -> str:
    """Return why a simple command is denied, if it starts a host without its hooks, or with others."""
    words = command.words
    at, host = _host_in(words)
    if not host or name_of(words[0]) in _ELSEWHERE:
        return ""
    assigned = {word.partition("=")[0] for word in words[:at] if "=" in word} | command.assigned.keys()
    is_denied = not _VARIABLES.isdisjoint(assigned | judging.assigned) or _is_without_hooks(
        judging, host, words[at + 1 :]
    )
    return denial("host", host) if is_denied else ""


def _host_in(words: Sequence[str]) -> tuple[int, str]:
    for at, word in enumerate(words):
        if host := HOSTS.get(re.sub(r"(?<=.)@.*", "", name_of(word)), ""):
            return at, host
        if at == 0 and name_of(word) not in CARRIERS | GATHERERS:
            break
    return 0, ""


def _is_without_hooks(judging: Judging, host: str, options: Sequence[str]) -> bool:
    lines = "\n".join(options)
    if _OPTIONS.search(lines) or (host == "codex" and _CODEX_OPTIONS.search(lines)):
        return True
    for word, after in pairwise((*options, "")):
        name, equals, value = word.partition("=")
        value = value if equals else after
        if name == "--settings" and re.search(SWITCHES, _settings(judging, value)):
            return True
        if name == "--setting-sources" and not {"user", "project"}.issubset(re.findall(r"\w+", value)):
            return True
    operands = [word.casefold() for word in options if not word.startswith("-")][:4]
    is_disabling = operands[:1] and operands[0] in _MANAGING and not _DISABLING.isdisjoint(operands)
    return bool(is_disabling and any("hook" in word for word in operands))


def _settings(judging: Judging, value: str) -> str:
    if value.lstrip().startswith("{"):
        return value
    return read_text(value, judging.cwd) or "\n".join(judging.texts)
