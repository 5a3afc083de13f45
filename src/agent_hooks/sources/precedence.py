"""The precedence of settings of several files, by the rank of their sources."""

from __future__ import annotations

from typing import Any

from agent_hooks.formats.entry import Permits
from agent_hooks.formats.findings import ConfigFinding
from agent_hooks.model.policy import RANKS, USER_RANK, HookPolicy, ManagedSettings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from agent_hooks.formats.read_file import ReadFile

# Settings that only the account's own file may set if the user has two files.
_LOOSENING = frozenset({"disabled", "ignore", "permits", "claude_settings", "serve", "telemetry", "trust"})
# Settings that a file of a plugin's source may set.
_FOR_PLUGINS = frozenset({"tables", "claude_plugins"})


def deciding(files: Iterable[ReadFile]) -> list[ReadFile]:
    """Return the files whose settings hold for all sources, which are those of the user and the machine's owner."""
    return [file for file in files if RANKS[file.source] >= USER_RANK]


def reads_claude(files: Iterable[ReadFile], source: str) -> bool:
    """Whether to read Claude Code's settings of this source; a file switches off those of its own rank and below."""
    above = [file for file in deciding(files) if RANKS[file.source] >= RANKS[source]]
    return all(file.settings.get("claude_settings", True) for file in above)


def managed_settings(files: Iterable[ReadFile]) -> ManagedSettings:
    """Return the settings of the machine's files, which no lower source changes."""
    files = [file for file in files if file.source == "managed"]
    off = {name for file in files for name in file.settings.get("disabled", ())}
    plugins = {name for file in files for name in file.settings.get("tables", ())} - off
    plugins |= {name for file in files for name in file.settings.get("plugins", ())} - off
    required = {name for file in files for name in file.settings.get("required", ())}
    tables = [file.settings["policy"] for file in files if file.settings.get("policy")]
    policy = HookPolicy()
    if tables:
        from agent_hooks.formats.policies import merged_policy

        policy = merged_policy(None, tables, (), ())
    return ManagedSettings(policy=policy, plugins=frozenset(plugins | required))


def modules_in(files: Iterable[ReadFile]) -> dict[str, str]:
    """Return the modules to load as plugins, with the source of each. Those of the user rank as installed plugins do;
    those of a folder of the environment only tighten where the account has its own.
    """
    found = {name: "project" for file in files for name in file.settings.get("tightening_plugins", ())}
    return found | {name: "plugin" for file in deciding(files) for name in file.settings.get("plugins", ())}


def policy_with(policy: HookPolicy | None, files: Iterable[ReadFile]) -> HookPolicy:
    """Return the application's policy, merged with those of the files."""
    tables: dict[str, list[Mapping[str, Any]]] = {"managed": [], "user": [], "project": []}
    for file in files:
        if file.settings.get("policy"):
            level = file.source if file.source == "managed" else "user" if deciding([file]) else "project"
            tables[level].append(file.settings["policy"])
    if not any(tables.values()):
        return policy or HookPolicy()
    from agent_hooks.formats.policies import merged_policy

    return merged_policy(policy, **tables)


def permits_for(source: str, files: Iterable[ReadFile]) -> Permits:
    """Return the permits for entries of ``source`` from the user's and the machine's files."""
    least = max(RANKS[source], USER_RANK)
    given = [file.settings["permits"] for file in files if "permits" in file.settings and RANKS[file.source] >= least]
    return Permits(
        **{
            name: tuple(dict.fromkeys(each for permits in given for each in getattr(permits, name)))
            for name in ("env", "header_env", "hosts")
        }
    )


def stricter(own: list[list[ReadFile]]) -> list[list[ReadFile]]:
    """Return the user's files. If the account has its own, those of another folder can only tighten."""
    if len(own) == 1 or not own[1]:
        return own
    from agent_hooks.formats.policies import project_may_say

    moved = []
    for file in own[0]:
        if "hookconf" in file.settings:  # as a project's, its hooks only tighten
            moved.append(file.replace(source="project"))
            continue
        policy = {key: value for key, value in file.settings.get("policy", {}).items() if project_may_say(key, value)}
        kept = {key: value for key, value in file.settings.items() if key not in _LOOSENING and key != "policy"}
        kept |= {"tightening_plugins": kept.pop("plugins")} if "plugins" in kept else {}
        dropped = file.settings.keys() & _LOOSENING | {
            f"policy.{key}" for key in file.settings.get("policy", {}).keys() - policy.keys()
        }
        message = (
            f"{', '.join(sorted(dropped))} has no effect: the environment names this folder, and the account's own has "
            "settings, too, of which the stricter hold."
        )
        remedy = "Name the folder by `--config-dir` in the hook's command, or move the settings to the account's own."
        found = ConfigFinding(kind="not-allowed", path=file.path, message=message, remedy=remedy)
        findings = (*file.findings, found) if dropped else file.findings
        moved.append(file.replace(settings={**kept, "policy": policy} if policy else kept, findings=findings))
    return [moved, own[1]]


def ranked_as_plugin(file: ReadFile) -> ReadFile:
    """Return a plugin's file without settings that only the user and the machine's owner may set."""
    findings = list(file.findings)
    settings = {name: value for name, value in file.settings.items() if name in _FOR_PLUGINS}
    if names := ", ".join(name for name in file.settings if name not in settings):
        message = f"A plugin offers this file, so it may bring hooks, but {names} has no effect."
        remedy = "The user's own agent-hooks.toml may say it."
        findings.append(ConfigFinding(kind="not-allowed", path=file.path, message=message, remedy=remedy))
    entries = tuple(entry.replace(source="plugin") for entry in file.entries)
    return file.replace(source="plugin", entries=entries, settings=settings, findings=tuple(findings))
