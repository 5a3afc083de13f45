"""The ways to start a coding agent that does not ask us: without its hooks, or with settings from elsewhere."""

from __future__ import annotations

import re

from .locations import read_text
from .programs import is_unknown, name_of
from .reasons import for_host
from .wiring import SWITCHES
from .words import FINDERS, HOSTS, WRAPPERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from .reading import Reading

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
_OPTIONS = re.compile(
    r"--(?:[\w-]*dangerously[\w-]*|bare|ignore-user-config|(?:no|disable|skip|bypass|without)-[\w-]*hooks?[\w-]*)(?:=|$)"
)
# Keys of Codex's configuration that decide about hooks, as its `-c` takes them.
_CODEX_KEYS = re.compile(r"""["']?(?:[\w.-]*hooks?\b|features|projects|profiles?\b)""")
# The same in the texts of code.
_HOST = re.compile(rf"(?<![\w./-])(?:{'|'.join(HOSTS)})(?![\w./-])")
_SWITCH = re.compile(
    rf"{SWITCHES}|--(?:bare|dangerously|ignore-user-config|setting-sources)|features\.|CODEX_HOME|CLAUDE_CONFIG_DIR"
)
_ELSEWHERE = frozenset("docker podman kubectl ssh".split())  # what these run has hooks of its own, or none
_TERMINALS = frozenset(("screen", "tmux"))
_TIME = re.compile(r"[\d*/,-]+|@\w+")  # what a line for cron begins with
_MANAGING = frozenset("hooks config features plugin plugins extension extensions".split())
_DISABLING = frozenset("disable disable-all off uninstall remove delete rm set unset".split())


def reason_against_host_in(code: str) -> str:
    """Return why ``code`` is denied, if it seems to start a host without its hooks."""
    host = _HOST.search(code)
    return for_host(host[0]) if host and _SWITCH.search(code) else ""


def reason_against_host(reading: Reading, written: Sequence[str], words: Sequence[str]) -> str:
    """Return why the simple command ``words`` is denied, if it starts a host without its hooks, or with others.

    ``written``: the same before assignments were taken away.
    """
    at, host = _host_in(words)
    if not host or name_of(words[0]) in _ELSEWHERE:
        return ""
    assigned = {word.partition("=")[0] for word in (*written, *words[:at]) if "=" in word}
    if not _VARIABLES.isdisjoint(assigned | reading.assigned):
        return for_host(host)
    options = list(words[at + 1 :])
    return for_host(host) if _is_without_hooks(reading, host, options) else ""


def _host_in(words: Sequence[str]) -> tuple[int, str]:
    for at, word in enumerate(words):
        host = HOSTS.get(re.sub(r"(?<=.)@.*", "", name_of(word)), "")
        if host:
            return at, host
        if at == 0 and name_of(word) not in WRAPPERS | FINDERS | _TERMINALS and not _TIME.fullmatch(word):
            break
    return 0, ""


def _is_without_hooks(reading: Reading, host: str, options: list[str]) -> bool:
    if any(map(_OPTIONS.match, options)):
        return True
    for at, word in enumerate(options):
        name, equals, value = word.partition("=")
        value = value if equals and name.startswith("--") else next(iter(options[at + 1 :]), "")
        if name == "--settings" and _switches_off(reading, value):
            return True
        if name == "--setting-sources" and not {"user", "project"}.issubset(re.findall(r"\w+", value)):
            return True
        if name == "--disable" and "hooks" in value:
            return True
        if host == "codex" and (name in ("-c", "--config") or word.startswith("-c")):
            value = word[2:] if word.startswith("-c") and len(word) > 2 else value
            if _CODEX_KEYS.match(value) or is_unknown(value.partition("=")[0]):
                return True
    operands = [word.casefold() for word in options if not word.startswith("-")][:4]
    if not operands or operands[0] not in _MANAGING or _DISABLING.isdisjoint(operands):
        return False
    return any("hook" in word for word in operands)


def _switches_off(reading: Reading, value: str) -> bool:
    if value.lstrip().startswith("{"):
        return re.search(SWITCHES, value) is not None
    text = read_text(value, reading.cwd)
    return re.search(SWITCHES, text or "\n".join(reading.texts)) is not None
