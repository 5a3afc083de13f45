"""``agent-hooks doctor``: every problem of the configuration, each with its location and a remedy."""

from __future__ import annotations

import glob
import os

from agent_hooks.engine.installed import DISABLE_VARIABLE, disabled_by_variable
from agent_hooks.engine.known_tools import name_problems
from agent_hooks.errors import BadJSONError, SettingsError, TrustError
from agent_hooks.formats.claude.fields import is_ours, is_text, is_texts
from agent_hooks.formats.claude.matcher_rules import misspelt_tool
from agent_hooks.formats.findings import ConfigFinding
from agent_hooks.handlers.types import GROUP
from agent_hooks.sources.files import CLAUDE_FILE
from agent_hooks.sources.loader import PROTECTION, HookConfigLoader
from agent_hooks.system.folders import claude_dir, read_regular
from agent_hooks.system.strict_json import read_json
from agent_hooks.trust.discovery import MAX_BYTES
from agent_hooks.trust.project_files import CLAUDE
from agent_hooks_repair import foreign_distributions, warning_about

from .extensions import plugin_findings
from .isolated import ending_of
from .listings import settings_of
from .terminal import apart, line_printer, print_json, prints_elsewhere, shown_path
from .warm_client import STATUS, ask_for
from .wiring.host_reports import are_fine, print_reports, reports
from .wiring.report import remedy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from agent_hooks.engine.manager import HookManager


_STATUS_TEXTS = {
    "trusted": "its files are trusted",
    "untrusted": "its files are not trusted",
    "changed": "its files changed since they were trusted",
    "empty": "has no hooks of its own",
}
# The hook files of other hosts that also run Claude Code's settings: in a project, and in the home folder.
# Sources: docs.github.com (Copilot's hooks reference), code.visualstudio.com/docs and cursor.com/docs, each on hooks.
_HOSTS = (
    ("Copilot or VS Code", (".github", "hooks", "*.json"), (".copilot", "hooks", "*.json")),
    ("Cursor", (".cursor", "hooks.json"), (".cursor", "hooks.json")),
)
# The keys of commands in these files.
_KEYS = ("command", "bash", "powershell", "windows", "linux", "osx")
_OURS = "agent-hooks run"
# Files of `install`, on whose lines its cautions say more, and when they matter.
_INSTALLED = (os.path.join("hooks", "agent-hooks.json"), os.path.join(".cursor", "hooks.json"))
# The variables that decide where settings and programs are looked for, beside those of agent_hooks.
_MOVING = frozenset(
    """
    HOME USERPROFILE APPDATA LOCALAPPDATA XDG_CONFIG_HOME XDG_STATE_HOME CLAUDE_CONFIG_DIR CODEX_HOME PATH
    PYTHONPATH PYTHONHOME PYTHONUSERBASE PYTHONSAFEPATH PYTHONSTARTUP LD_PRELOAD LD_LIBRARY_PATH DYLD_INSERT_LIBRARIES
    """.split()
)


def show_doctor(
    directory: str, *, hosts: Sequence[str] = (), fire: bool = False, modules: Sequence[str] = (), as_json: bool
) -> int:
    """Print the problems of the hooks that hold in ``directory``, and of the wiring of ``hosts``; return 1 if there are
    any, else 0. ``fire``: run the gates of these hosts, or of all that are wired, with faults.
    """
    loader = HookConfigLoader(directory, modules=modules)
    refused: list[ConfigFinding] = []
    manager: HookManager | None = None
    with apart(), prints_elsewhere():
        if ending := ending_of(lambda: HookConfigLoader(directory, modules=modules).load()):
            message = f"The process that loads the hooks {ending}."
            remedy = "Until that is done, every gate denies."
            refused = [_finding("broken-plugin", message, remedy, must_be_repaired=True)]
        else:
            try:
                manager = loader.load()
            except TrustError:  # other findings name the project
                message = "The policy says require_project_gates, so nothing starts here."
                remedy = "Trust the project, or change the policy."
                refused = [_finding("refused", message, remedy, must_be_repaired=True)]
        by_plugins = [] if manager is None else [*plugin_findings(manager, os.path.abspath(directory))]
    with prints_elsewhere():
        wired = reports(os.path.abspath(directory), hosts, fire=fire, can_load=not ending)
    roots = [source.project.root for source in loader.projects]
    findings = [
        *loader.findings,
        *_of_files(loader),
        *_of_commands(loader),
        *refused,
        *(_of_switches(manager) if manager is not None else ()),
        *_of_settings(roots),
        *_of_distributions(),
        *by_plugins,
        *(_of_matches(manager) if manager is not None else ()),
        *(() if hosts or fire else _of_wiring(wired)),
    ]
    plugins = manager.plugins() if manager is not None else []
    tables = {info.name: settings_of(info.name, loader.manager, directory) for info in plugins}
    settings = {name: [table.origin() for table in found] for name, found in tables.items() if found}
    # Our own hooks do not count, and no stand-ins for broken ones.
    counted = {info.name for info in plugins if info.status == "active" and info.name != PROTECTION}
    active = sum(hook.plugin in counted for hook in manager.describe()) if manager is not None else 0
    if as_json:
        listed = [{**each.as_dict(), "id": each.id, "is_ignored": _is_ignored(each, loader)} for each in findings]
        running = _warm_process()
        shown = {"hosts": wired} if hosts or fire else {}
        facts = {"hooks": active, "settings": settings, **({"warm_process": running} if running else {})}
        print_json({**facts, "findings": listed, **shown})
    else:
        if hosts or fire:
            print_reports(wired)
        _print(findings, loader, active, settings)
    is_wrong = any(not _is_ignored(finding, loader) for finding in findings)
    return int(is_wrong or ((bool(hosts) or fire) and not are_fine(wired)))


def _of_wiring(wired: Iterable[Mapping[str, Any]]) -> Iterator[ConfigFinding]:
    """Yield a finding for each problem of a host's file."""
    for each in wired:
        for problem in each["problems"]:
            yield _finding("wiring", problem, f"Type: {remedy(each)}", path=each["path"])


def _warm_process() -> str:
    """Return what the warm process says about itself, an empty string if none serves this process."""
    status, is_alike = ask_for(STATUS) or ("", False)
    return status if is_alike else ""


def _finding(kind: str, message: str, remedy: str, **facts: Any) -> ConfigFinding:
    return ConfigFinding(kind=kind, message=message, remedy=remedy, **facts)


def _of_files(loader: HookConfigLoader) -> Iterator[ConfigFinding]:
    """Yield findings of skills, agents and untrusted projects, whose hooks are not live; they block nothing."""
    for source in loader.projects:
        reads = source.project.skills if source.is_trusted else (*source.reads, *source.project.skills)
        found = (finding for read in reads for finding in read.findings if not finding.is_note)
        yield from (finding.replace(blocks=False) for finding in found)


def _of_commands(loader: HookConfigLoader) -> Iterator[ConfigFinding]:
    """Yield a finding for each command whose program or script does not exist: its hook fails at every event."""
    from agent_hooks.trust.scripts import HookCommand

    for entry in (entry for file in loader.files for entry in file.entries if entry.type == "command"):
        if entry.source != "project":  # discovery reports those of projects
            try:
                yield from (found for found in HookCommand(entry).findings() if found.kind == "missing")
            except SettingsError:  # its folder is too large to search
                continue
        if program := _missing_program(entry.config):
            message = f"The command runs {program!r}, but there is no such program."
            remedy = "Install it, or correct the command: until then the hook fails each time that it is asked."
            yield _finding("missing", message, remedy, path=entry.path, line=entry.line)


def _missing_program(config: Mapping[str, Any]) -> str:
    """Return the program of a command if neither ``PATH`` nor its shell knows it. Paths are not checked."""
    import re
    import subprocess
    from shutil import which

    from agent_hooks.handlers.interpreters import plain_words

    command = config.get("command", "")
    if "PATH" in config.get("env", {}) or os.name == "nt" or config.get("shell") == "powershell":
        return ""
    is_text = isinstance(command, str) and "args" not in config
    argv = plain_words(command, {}) if is_text else [command] if isinstance(command, str) else command
    program = argv[0] if argv else ""
    if not re.fullmatch(r"[\w.+-]+", program) or which(program) is not None:
        return ""
    if not is_text:
        return program
    test = [config.get("shell") or "/bin/sh", "-c", 'command -v -- "$1"', "sh", program]  # a builtin, perhaps
    done = subprocess.run(test, stdin=subprocess.DEVNULL, capture_output=True, check=False)  # noqa: S603 - a plain name
    return program if done.returncode else ""


def _of_switches(manager: HookManager) -> Iterator[ConfigFinding]:
    installed = {info.name for info in manager.plugins()}  # the loader reports the others
    if names := ", ".join(sorted((disabled_by_variable() & installed) - manager.managed.plugins)):
        message = f"{DISABLE_VARIABLE} is set and switches off: {names}."
        yield _finding("switched-off", message, "Take it out of the environment.")
    if manager.policy.shadow:
        kept = "" if manager.managed.policy.shadow else " but managed hooks"
        message = f"The whole policy is in shadow, so nothing is enforced{kept}."
        yield _finding("switched-off", message, "Take shadow out of the policy.")


def _of_matches(manager: HookManager) -> Iterator[ConfigFinding]:
    """Yield a finding for each plain name in a match that no tool has, or that only some hosts have."""
    for hook in manager.all_hooks():
        is_passed_over = hook.shadow or hook.mode == "observe" or hook.on_failure(manager.policy) == "open"
        for problem in name_problems(hook, manager.known_tools):
            if problem.is_ours or not misspelt_tool(problem.name):  # reported by the parser of the file
                facts = {"path": problem.path, "line": problem.line, "event": str(hook.event)}
                closes = problem.is_error and not is_passed_over
                yield _finding(problem.kind, problem.message, problem.remedy, must_be_repaired=closes, **facts)


def _of_distributions() -> Iterator[ConfigFinding]:
    from importlib_metadata import entry_points

    for name in foreign_distributions():
        yield _finding("name-collision", *warning_about(name))
    for point in entry_points(group=GROUP):
        owner = point.dist.name if point.dist else "unknown origin"
        message = (
            f"The handler type {point.name!r} of {owner} comes from the entry-point group {GROUP!r}, which will not be "
            "read in a later version."
        )
        remedy = "Update it. Its author: return the type from the hook agent_hooks_handler_types of a plugin."
        yield _finding("deprecated", message, remedy)


def _of_settings(roots: Iterable[str]) -> Iterator[ConfigFinding]:
    """Yield a finding for each settings file of Claude Code that repeats a command of another host's hook file, and for
    each of the projects ``roots`` whose ``env`` moves the user's settings. Nothing is run.
    """
    own = claude_dir()
    settings = {os.path.join(root, name): True for root in roots for name in CLAUDE}
    settings |= {os.path.join(own, CLAUDE_FILE): False} if own else {}
    others = dict(_files_of_hosts(roots))
    theirs = {path: set(_commands_in(_parsed(path))) for path in others}
    for path, is_projects in settings.items():
        parsed = _parsed(path)
        commands = set(_commands_in(parsed))
        for other, host in others.items():
            told = {_OURS} if other.endswith(_INSTALLED) else set()
            if both := sorted(commands & theirs[other] - told):
                named = " and ".join(f"`{command[:80]}`" for command in both)
                message = f"{host} runs this file and {other}, so what is in both runs twice: {named}."
                yield _finding("runs-twice", message, "Keep it in one of them.", path=path)
        env = parsed.get("env") if isinstance(parsed, dict) and is_projects else None
        names = env if isinstance(env, dict) else ()
        moving = sorted(name for name in names if name.upper() in _MOVING or name.upper().startswith("AGENT_HOOKS_"))
        if moving:
            message = f"Its env sets {', '.join(moving)}, which decides where settings and programs are looked for."
            remedy = "Remove that from the file of the project; set it in your own environment if you need it."
            yield _finding("moves-settings", message, remedy, path=path)


def _files_of_hosts(roots: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the hook files of other hosts with their hosts."""
    for host, in_project, in_home in _HOSTS:
        folders = [(root, in_project) for root in roots] + [(os.path.expanduser("~"), in_home)]
        for folder, pattern in folders:
            yield from ((path, host) for path in sorted(glob.glob(os.path.join(glob.escape(folder), *pattern))))


def _parsed(path: str) -> Any:
    """Return the JSON value of a file, None if it has none: the parser of its hooks reports that."""
    try:
        return read_json(read_regular(path, MAX_BYTES))
    except (OSError, BadJSONError):
        return None


def _commands_in(value: Any) -> Iterator[str]:
    """Yield the commands of a parsed hook file, each of ours as the same text."""
    if isinstance(value, dict):
        args = {"args": value["args"]} if is_texts(value.get("args")) else {}
        for command in (value[key] for key in _KEYS if is_text(value.get(key))):
            tokens = (command.strip(), *args.get("args", ()))
            yield _OURS if is_ours({"command": command, **args}) else " ".join(tokens)
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for each in inner:
        yield from _commands_in(each)


def _is_ignored(finding: ConfigFinding, loader: HookConfigLoader) -> bool:
    return finding.id in loader.ignored and not finding.must_be_repaired


def _print(
    findings: list[ConfigFinding], loader: HookConfigLoader, active: int, settings: dict[str, list[str]]
) -> None:
    line = line_printer()
    for source in loader.projects:
        line(f"{shown_path(source.project.root)}: {_STATUS_TEXTS[source.standing.status]}")
    line(f"{active} hook{'' if active == 1 else 's'} active.")
    if running := _warm_process():
        line(f"A warm process answers the events: {running}.")
    for name, origins in settings.items():
        line(f"The plugin {name} has settings from {', '.join(map(shown_path, origins))}.")
    for finding in findings:
        is_ignored = _is_ignored(finding, loader)
        where = shown_path(f"{finding.path}:{finding.line}" if finding.line else finding.path)
        line("")
        line(f"{finding.kind}{' (ignored)' if is_ignored else ''}  {where}", "dim" if is_ignored else "bold yellow")
        line(f"  {finding.message}")
        if finding.remedy:
            line(f"  Remedy: {finding.remedy}")
        if is_ignored:
            continue
        if finding.must_be_repaired:
            line("  It cannot be ignored: what needs it fails until it is repaired.", "red")
        elif finding.blocks:
            when = f"on {finding.event}" if finding.event else "on every event of gates"
            line(f'  It denies {when} until then. To go on without it: ignore = ["{finding.id}"]', "red")
        else:
            line(f'  To live with it: ignore = ["{finding.id}"] in your own agent-hooks.toml')
    if not findings:
        line("Nothing is wrong.", "green")
