"""What several settings files of Claude Code say of each other: which are switched off, which entries count once.

Source: https://code.claude.com/docs/en/hooks and /settings. Different from there, a project switches off nothing but
its own hooks.
"""

from __future__ import annotations

import re

from agent_hooks.handlers.registering import not_honoured

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from agent_hooks.handlers.entry import HookEntry

    from .findings import ConfigFinding
    from .source import ReadFile


def settled(files: list[ReadFile]) -> list[ReadFile]:
    """Return the files with those entries that run: without what a file of the same or a higher rank switches off,
    and each entry that several settings files repeat only in the first of them.
    """
    switched_off = {file.path for file in files if _is_off(file, files)}
    seen: set[str] = set()
    return [
        _limited(file, files, seen) if file.path not in switched_off else _without(file, _is_claude) for file in files
    ]


def without_claude_settings(files: list[ReadFile]) -> list[ReadFile]:
    """Return the files without the entries of Claude Code's settings: their host runs them itself."""
    return [_without(file, _is_claude) for file in files]


def _is_claude(entry: HookEntry) -> bool:
    return entry.form == "claude"


def _without(file: ReadFile, is_out: Callable[[HookEntry], bool]) -> ReadFile:
    return file.replace(entries=tuple(entry for entry in file.entries if not is_out(entry)))


def _is_off(file: ReadFile, files: list[ReadFile]) -> bool:
    """Whether the hooks of ``file`` are switched off by a file: managed ones only by another managed one."""
    for other in files:
        said = other.settings
        if file.source != "managed" and other.source == "managed" and said.get("allow_managed_hooks_only"):
            return True
        is_above = other.source == "managed" or (other.source == "user" and file.source != "managed")
        is_own = other.source == file.source and _project(other) == _project(file)
        if said.get("disable_all_hooks") and (is_above or is_own):
            return True
    return False


def _project(file: ReadFile) -> str:
    return next((entry.project_dir for entry in file.entries), "")


def _limited(file: ReadFile, files: list[ReadFile], seen: set[str]) -> ReadFile:
    """Return the file without entries that were seen, and without requests to where no list of addresses allows."""
    addresses = _allowed(file, files, "allowed_http_hook_urls")
    variables = _allowed(file, files, "http_hook_allowed_env_vars")
    kept: list[HookEntry] = []
    findings: list[ConfigFinding] = []
    for entry in file.entries:
        if (
            entry.type == "http"
            and addresses is not None
            and not _is_allowed(str(entry.config.get("url", "")), addresses)
        ):
            problem = "it goes to an address that no list of allowedHttpHookUrls allows"
            findings.append(not_honoured(entry, problem, "Correct it, or add it to the list.", kind="not-allowed"))
            continue
        if entry.form == "claude" and variables is not None and "allowedEnvVars" in entry.config:
            names = [name for name in entry.config["allowedEnvVars"] if name in variables]
            entry = entry.replace(config={**entry.config, "allowedEnvVars": names})
        if entry.form == "claude" and not entry.plugin_root:
            facts = repr((entry.event, entry.host_event, entry.matcher, entry.condition, entry.type, entry.on_failure))
            facts += repr(sorted(entry.config.items()))
            # A user's entry counts for all projects, a project's only for itself.
            if facts in seen or f"{entry.project_dir}{facts}" in seen:
                continue
            seen.add(f"{entry.project_dir}{facts}")
        kept.append(entry)
    return file.replace(entries=tuple(kept), findings=(*file.findings, *findings))


def _allowed(file: ReadFile, files: list[ReadFile], key: str) -> frozenset[str] | None:
    """Return what the lists that hold for ``file`` allow together, None if there is none.

    A project's list is only for itself, and narrows that of the user and the machine.
    """
    above = [other.settings[key] for other in files if key in other.settings and other.source != "project"]
    own = [
        other.settings[key]
        for other in files
        if key in other.settings and other.source == file.source == "project" and _project(other) == _project(file)
    ]
    found: frozenset[str] | None = None
    for lists in (above, own):
        if lists:
            said = frozenset(each for allowed in lists for each in allowed)
            found = said if found is None else found & said
    return found


def _is_allowed(url: str, patterns: Iterable[str]) -> bool:
    """Whether a pattern, in which ``*`` stands for anything, is the address. No user name may stand before its host:
    it could be made to look like one.
    """
    host = url.partition("://")[2].partition("/")[0].partition("?")[0].partition("#")[0]
    if "@" in host or "\\" in url:
        return False
    return any(re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), url, re.DOTALL) for pattern in patterns)
