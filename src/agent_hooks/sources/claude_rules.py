"""Rules between several settings files of Claude Code: switched-off files, repeated entries, allowed requests.

Source: https://code.claude.com/docs/en/hooks and /settings. Unlike there, a project can switch off only its own hooks.
"""

from __future__ import annotations

import re

from agent_hooks.formats.findings import ConfigFinding, not_honoured
from agent_hooks.formats.read_file import is_claude_settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent_hooks.formats.entry import HookEntry
    from agent_hooks.formats.read_file import ReadFile


def settled(files: list[ReadFile]) -> list[ReadFile]:
    """Return the files with the entries that run. ``files``: highest rank first.

    Entries that a file of the same or a higher rank switches off are removed. An entry that several settings files
    repeat stays only in the first of them.
    """
    seen: set[str] = set()
    settled: list[ReadFile] = []
    for file in files:
        why = _why_off(file, files)
        settled.append(_limited(file, files, seen) if not why else _switched_off(file, why))
    return settled


def without_claude_settings(files: list[ReadFile]) -> list[ReadFile]:
    """Return the files without Claude Code's own settings, but with the plugins that our files name."""
    return [file for file in files if not is_claude_settings(file)]


def _why_off(file: ReadFile, files: list[ReadFile]) -> str:
    """Return the reason why the hooks of ``file`` are off; managed ones only by managed settings."""
    for other in files if file.form == "claude" else ():
        settings = other.settings
        if file.source != "managed" and other.source == "managed" and settings.get("allow_managed_hooks_only"):
            return f"{other.path} says allowManagedHooksOnly"
        is_above = other.source == "managed" or (other.source == "user" and file.source != "managed")
        if settings.get("disable_all_hooks") and (is_above or _is_beside(other, file)):
            return f"{other.path} says disableAllHooks"
    return ""


def _is_beside(other: ReadFile, file: ReadFile) -> bool:
    return other.source == file.source and other.project_dir == file.project_dir


def _switched_off(file: ReadFile, why: str) -> ReadFile:
    findings = [finding.replace(blocks=False) for finding in file.findings]
    if file.entries:
        message = f"Its hooks do not run, because {why}."
        remedy = "Take that back where they shall run."
        findings.append(ConfigFinding(kind="switched-off", path=file.path, message=message, remedy=remedy))
    return file.replace(entries=(), findings=tuple(findings))


def _limited(file: ReadFile, files: list[ReadFile], seen: set[str]) -> ReadFile:
    """Return the file without repeated entries and without requests to addresses that are not allowed."""
    addresses = _allowed(file, files, "allowed_http_hook_urls")
    variables = _allowed(file, files, "http_hook_allowed_env_vars")
    kept: list[HookEntry] = []
    findings: list[ConfigFinding] = []
    for entry in file.entries:
        is_request = entry.type == "http" and addresses is not None
        if is_request and not _is_allowed(str(entry.config.get("url", "")), addresses or ()):
            problem = "it goes to an address that no list of allowedHttpHookUrls allows"
            findings.append(not_honoured(entry, problem, "Correct it, or add it to the list.", kind="not-allowed"))
            continue
        named = entry.config.get("allowedEnvVars")
        if entry.form == "claude" and variables is not None and isinstance(named, (list, tuple)):
            names = [name for name in named if not isinstance(name, str) or name in variables]
            entry = entry.replace(config={**entry.config, "allowedEnvVars": names})
        if entry.form == "claude" and not entry.plugin_root and _is_repeated(entry, seen):
            continue
        kept.append(entry)
    return file.replace(entries=tuple(kept), findings=(*file.findings, *findings))


def _is_repeated(entry: HookEntry, seen: set[str]) -> bool:
    """Whether another settings file has the same entry.

    A user's entry counts for all projects, a project's only for that project. An entry with trusted scripts repeats no
    other's, because its scripts are checked.
    """
    selection = (entry.event, entry.host_event, entry.matcher, entry.condition, entry.type)
    options = (entry.on_failure, entry.is_async, entry.once, sorted(entry.config.items()))
    facts = repr((selection, options))
    own = f"{entry.project_dir}{facts}"
    if own in seen or (facts in seen and not entry.scripts):
        return True
    seen.add(own)
    return False


def _allowed(file: ReadFile, files: list[ReadFile], key: str) -> frozenset[str] | None:
    """Return the values that the lists for ``file`` allow together, None without a list.

    A project's list holds only for that project and narrows the lists of the user and the machine. A user's list alone
    does not limit managed files.
    """
    limiting = [other for other in files if key in other.settings]
    above = [other.settings[key] for other in limiting if other.source in ("managed", "user")]
    if file.source == "managed" and not any(other.source == "managed" for other in limiting):
        return None
    own = [other.settings[key] for other in limiting if other.source == "project" and _is_beside(other, file)]
    together = [frozenset(each for allowed in lists for each in allowed) for lists in (above, own) if lists]
    return frozenset.intersection(*together) if together else None


def _is_allowed(url: str, patterns: Iterable[str]) -> bool:
    """Whether a pattern with ``*`` matches the address. An address with a user name, which can imitate a host, never
    matches.
    """
    host = url.partition("://")[2].partition("/")[0].partition("?")[0].partition("#")[0]
    if "@" in host or "\\" in url:
        return False
    return any(_expression(pattern).fullmatch(url) for pattern in patterns)


def _expression(pattern: str) -> re.Pattern[str]:
    """Compile a pattern. A ``*`` in its host matches only the host: ``*.example.com`` has no path."""
    scheme, separator, rest = pattern.partition("://") if "://" in pattern else ("", "", pattern)
    host, slash, path = rest.partition("/") if separator else ("", "", rest)
    if host.endswith("*") and not slash:
        host, path = host[:-1], "*"
    pieces = [("", "")]  # the expression for a star, and the literal text after it
    for text, anything in ((scheme + separator, "[^:/?#]*"), (host, "[^/?#]*"), (slash + path, ".*")):
        first, *others = text.split("*")
        pieces[-1] = (pieces[-1][0], pieces[-1][1] + first)
        pieces += [(anything, other) for other in others]
    *before, (star, last) = pieces
    # The nearest match suffices; without backtracking the search is never slow.
    made = "".join(f"(?>{anything}?{re.escape(text)})" if anything else re.escape(text) for anything, text in before)
    return re.compile(f"{made}{star}{re.escape(last)}", re.DOTALL)
