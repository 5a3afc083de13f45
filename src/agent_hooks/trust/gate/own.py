"""Judges the commands that decide about agents: ours, under whatever name they are called, and those that start a
coding agent without its hooks, or with settings from elsewhere.
"""

from __future__ import annotations

import os
import re
from fnmatch import fnmatch
from itertools import pairwise

from agent_hooks.shell import programs
from agent_hooks.shell.patterns import Pattern
from agent_hooks.shell.programs import name_of
from agent_hooks.shell.syntax import UNKNOWN

from .code import names_own_command
from .locations import read_text
from .packages import reason_against_packages
from .parts import SWITCHES
from .reasons import denial
from .wiring import HOSTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent_hooks.shell.commands import Command

    from .shell import Judging

_OURS = frozenset(("agent-hooks", "agent_hooks", "agent-hooks-core", "agent_hooks_core", "agent_hooks_core.py"))
_NAMED = Pattern(r"agent[-_]hooks(?:[-_]core)?(?![\w.-])")
_GRANTING = frozenset(("trust", "untrust", "allow", "init", "install", "uninstall"))
_SUBCOMMANDS = _GRANTING | {"check", "demo", "doctor", "events", "plugins", "run", "schema", "serve", "status"}
_DECIDING = frozenset(("trust", "untrust"))
_TAKING_FOLDER = frozenset("-C --directory --prefix --cwd --dir -f --file".split())  # of a repository with our name
_MODULE = Pattern("-m(?:pip|venv|virtualenv|uv|agent_hooks)")
_VARIABLE = Pattern(rf"{UNKNOWN}(?:\$[@*{{]|\$\(read)")
_RUNNING_WORDS = programs.SHELLS | programs.TEXT_RUNNERS | frozenset("eval source . sudo env nohup".split())
# What ``xargs`` may start without a look at its arguments here: they are text, or files that are judged as such.
_PASSIVE_TARGETS = programs.READERS | programs.CLIENTS | programs.CHANGING
_ONLY_SHOWS = frozenset(("--show", "--diff", "--json", "--help", "-h"))
_PLACES = frozenset("bin scripts site-packages dist-packages".split())
# Variables that give a host other settings, or none; and that give the gate other ones, or another Python.
_VARIABLES = frozenset(
    """
    HOME USERPROFILE XDG_CONFIG_HOME CLAUDE_CONFIG_DIR CLAUDE_CODE_SIMPLE CODEX_HOME GEMINI_CLI_HOME
    GEMINI_CLI_SYSTEM_SETTINGS_PATH GEMINI_CLI_SYSTEM_DEFAULTS_PATH QWEN_HOME QWEN_CODE_SYSTEM_SETTINGS_PATH
    QWEN_CODE_SYSTEM_DEFAULTS_PATH COPILOT_HOME CURSOR_CONFIG_DIR OPENCODE_CONFIG OPENCODE_CONFIG_DIR
    OPENCODE_CONFIG_CONTENT OPENCODE_PURE OPENCODE_TEST_HOME FACTORY_HOME AGENT_HOOKS_DISABLE AGENT_HOOKS_CONFIG_DIR
    AGENT_HOOKS_STATE_DIR PYTHONPATH PYTHONHOME PYTHONUSERBASE LD_PRELOAD DYLD_INSERT_LIBRARIES
    """.split()
)
# Options, a word a line.
_OPTIONS = Pattern(
    r"^--(?:(?:[\w-]*dangerously[\w-]*|bare|pure|ignore-user-config|(?:no|disable|skip|bypass|without)-[\w-]*hooks?[\w-]*)(?:=|$)"
    r"|disable[=\n].*hooks)",
    re.MULTILINE,
)
# With keys of Codex's configuration that decide about hooks, or unknown ones.
_CODEX_OPTIONS = Pattern(
    rf"""^(?:-c\n?|--config[=\n])(?:["']?(?:[\w.-]*hooks?\b|features|projects|profiles?\b)|[^=\n]*{UNKNOWN})""",
    re.MULTILINE,
)
# The subcommands that add code or settings to some host, a word a line, and the options that do.
_ADDING = Pattern(
    r"^(?:plugins?|extensions?|mcp|config|settings|features|skills|hooks|agent|upgrade)\n"
    r"(?!(?:marketplace\n)?(?:list|ls|help|validate|get|show|info|serve|auth|login)\b)",
    re.MULTILINE,
)
_GIVEN = Pattern(r"[^\s'\"|;&()]+")  # the words of a text that is given to a program
_EDITORS = frozenset("code code-insiders codium cursor windsurf".split())
_ADDING_OPTIONS = frozenset(
    "plugin-dir plugin-url settings mcp-config agents enable disable policy additional-mcp-config config-dir "
    "install-extension add-mcp extensions-dir extensionDevelopmentPath user-data-dir".split()
)
# Programs that set a variable for what others start later.
_SETTING = frozenset("mise tmux screen launchctl systemctl setx dbus-update-activation-environment".split())


def reason_against_own(judging: Judging, command: Command) -> str:
    """Return why a simple command is denied, if it decides about agents, or takes the gate away."""
    words = [part for word in command.words for part in (("-m", word[2:]) if _MODULE.match(word) else (word,))]
    name = name_of(words[0])
    # Under another name, our command would not be recognised.
    if name in programs.COPIERS or name in programs.MOVERS or name == "hash":
        is_program = any(_is_program(judging, word) for word in words[1:])
        return denial("command", "Another name for `agent-hooks`") if is_program else ""
    is_versioning = name == "git" and not {"config", "-c", "-x", "--exec", "bisect"} & {*words}
    if is_versioning or name in programs.PASSIVE or name in programs.CLIENTS:
        return ""
    given = f"{command.pipeline}\n{command.body}"
    if any(name_of(word) in programs.ENDERS for word in words) and _NAMED.search("\n".join((*words, given))):
        return denial("command", "Ending the processes of agent-hooks")
    gathers = name in ("xargs", "parallel")
    is_given = gathers and programs.SHELLS.isdisjoint(words)
    gathered = [*words, *_GIVEN.findall(re.sub(r"\\[0nt]", " ", given))] if is_given else words
    is_passive = gathers and not _PASSIVE_TARGETS.isdisjoint(map(name_of, words[1:]))
    return (
        _against_subcommand(judging, words if is_passive else gathered)
        or ("" if is_passive else _against_unnamed(judging, words, gathered))
        or reason_against_packages(judging, words, given)
    )


def _against_subcommand(judging: Judging, words: Sequence[str]) -> str:
    for at, word in enumerate(words):
        if not is_ours(word) or (at and words[at - 1] in _TAKING_FOLDER and "install" in words[at:]):
            continue
        rest = words[at + 1 :]
        subcommand = next((each for each in rest if each in _SUBCOMMANDS), "")
        asks_help = len(rest) == 2 and rest[1] in ("--help", "-h")
        shows = subcommand == "trust" and _only_shows(judging, rest)
        if subcommand in _GRANTING and not shows and not asks_help:
            return denial("command", f"`agent-hooks {subcommand}`")
        if not subcommand and any(UNKNOWN in each for each in rest) and not _GRANTING.isdisjoint(judging.plain_words()):
            return denial("command", "This use of `agent-hooks`")
        if subcommand == "serve" and "--status" not in rest and not asks_help:
            return denial("command", "`agent-hooks serve`")
        if subcommand == "doctor" and any(each.startswith("--ignore") for each in rest):
            return denial("command", "`agent-hooks doctor --ignore`")
    return ""


def _only_shows(judging: Judging, words: Sequence[str]) -> bool:
    if _ONLY_SHOWS.isdisjoint(words) or any("--digest" in word for word in words):
        return False
    return not any(UNKNOWN in word for word in words) or not any("digest" in text for text in judging.texts)


def _against_unnamed(judging: Judging, words: Sequence[str], gathered: Sequence[str]) -> str:
    """Judge a command of which only running it would tell the program, or an argument."""
    unknown = [word for word in words if UNKNOWN in word]
    gathers = name_of(words[0]) in programs.GATHERERS
    if not (unknown or gathers) or _only_shows(judging, gathered):
        return ""
    runs_words = name_of(words[0]) in _RUNNING_WORDS
    is_variable = any(map(_VARIABLE.match, words if runs_words else words[:1]))
    plain = judging.plain_words()
    split = {part for word in gathered for part in (word.split() if gathers or UNKNOWN in word else [word])}
    text = " ".join((*unknown, *plain))
    is_named = ("agent" in text and "hooks" in text) or "sha256:" in text
    decides = is_named and not _DECIDING.isdisjoint(plain if is_variable else split)
    if decides or (is_variable and names_own_command("\n".join(judging.texts))):
        return denial("command", "This use of `agent-hooks`")
    return ""


def _is_program(judging: Judging, word: str) -> bool:
    if UNKNOWN in word:
        return _NAMED.search(word) is not None
    folder = os.path.basename(os.path.dirname(word)).casefold()
    return is_ours(word) and (folder in _PLACES or os.path.isfile(judging.place_of(word)))


def is_ours(word: str) -> bool:
    """Whether ``word`` names our own command, as a program, a module or the file of one, or may turn out to do so."""
    word = word.replace("\\", "/").casefold()
    if "agent_hooks/cli/" in word or word.endswith("agent_hooks/__main__.py"):
        return True
    last = re.split("[/#]", word)[-1].lstrip(":!%@+").removeprefix("-m").removesuffix(".exe")
    name = re.split(r"[@=\[<>~]", last)[0]
    if name in _OURS or name.startswith("agent_hooks."):
        return True
    if "*" in last or "?" in last or "[" in last:
        return ("agent" in last or "hook" in last) and fnmatch("agent-hooks", last)
    return UNKNOWN in word and _NAMED.search(word) is not None


# -- coding agents -----------------------------------------------------------------------------------------------------


def reason_against_host(judging: Judging, command: Command) -> str:
    """Return why a simple command is denied, if it starts a host without its hooks, or with others."""
    words = command.words
    gathers = name_of(words[0]) in ("xargs", "parallel")
    words = [*words, *_GIVEN.findall(f"{command.pipeline.rpartition('|')[0]}\n{command.body}")] if gathers else words
    at, host = _host_in(words)
    names = words if name_of(words[0]) in programs.CARRIERS else words[:1]
    is_setting = not _SETTING.isdisjoint(map(name_of, names))
    if is_setting and any(word.removeprefix("env.").partition("=")[0] in _VARIABLES for word in words[1:]):
        return denial("host", "a coding agent")
    if not host or name_of(words[0]) in programs.ELSEWHERE:
        return ""
    if _adds_code(host, words[at + 1 :]) or (gathers and _ADDING.search("".join(f"{word}\n" for word in words))):
        return denial("code", host)
    # `env` assigns them and, with `-u`, takes them away.
    assigned = {*re.findall(r"[A-Z][A-Z_]+", " ".join(words[:at]))} | command.assigned.keys()
    assigned |= judging.plain_words() if "unset" in judging.plain_words() else set()
    is_moved = not _VARIABLES.isdisjoint(assigned | judging.assigned)
    return denial("host", host) if is_moved or _is_without_hooks(judging, host, words[at + 1 :]) else ""


def _host_in(words: Sequence[str]) -> tuple[int, str]:
    is_script = name_of(words[0]) in programs.INTERPRETERS
    for at, word in enumerate(words):
        names = word.split("/") if word.endswith((".js", ".mjs")) else [] if is_script else [name_of(word)]
        for name in (re.sub(r"(?<=.)@.*", "", each) for each in names):
            if host := HOSTS.get(name, name if name in _EDITORS else ""):
                return at, host
        if at == 0 and not is_script and name_of(word) not in programs.CARRIERS | programs.GATHERERS:
            break
    return 0, ""


def _adds_code(host: str, words: Sequence[str]) -> bool:
    options = {word.partition("=")[0].lstrip("-") for word in words if word.startswith("--")}
    if not _ADDING_OPTIONS.isdisjoint(options):
        return True
    operands = [(before, word) for before, word in pairwise(("", *words)) if not word.startswith("-")]
    for at, (before, _) in enumerate(operands):
        if host not in _EDITORS and _ADDING.match("".join(f"{word}\n" for _, word in operands[at:])):
            return True
        if not before.startswith("-"):  # it is no value of an option
            return False
    return False


def _is_without_hooks(judging: Judging, host: str, options: Sequence[str]) -> bool:
    lines = "\n".join(options)
    if _OPTIONS.search(lines) or (host == "codex" and _CODEX_OPTIONS.search(lines)):
        return True
    for word, after in pairwise((*options, "")):
        name, equals, value = word.partition("=")
        value = value if equals else after
        if host == "codex" and (name == "--profile" or word.startswith("-p")):
            profile = value if name == "--profile" else word[2:] or after
            home = os.environ.get("CODEX_HOME", "~/.codex")
            files = (os.path.join(home, each) for each in ("config.toml", f"{profile}.config.toml"))
            if any(re.search(SWITCHES, read_text(file, judging.cwd)) for file in files):
                return True
        if name == "--setting-sources" and not {"user", "project"}.issubset(re.findall(r"\w+", value)):
            return True
    return False
