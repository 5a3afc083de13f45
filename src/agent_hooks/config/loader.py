"""The loader: from the files that hold somewhere to a manager with their hooks."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from agent_hooks.errors import RegistrationError, TrustError
from agent_hooks.handlers.entry import Permits
from agent_hooks.installed import failing_gate
from agent_hooks.manager import HookManager
from agent_hooks.policy import HookPolicy

from .claude_rules import settled, without_claude_settings
from .findings import ConfigFinding
from .sources import ClaudeSource, ProjectSource, TomlSource, priority_of, project_roots

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from agent_hooks.handlers.entry import HookEntry

    from .source import ConfigSource, ReadFile


# The name of the plugin that is always there.
PROTECTION = "agent_hooks.protection"


class HookConfigLoader:
    """Reads the configuration that holds in some directories, and makes the manager that it asks for.

    ``directories``: where agents work (default: the current directory); the projects that these are in are looked at.
    ``sources``: what to read in place of the machine's, the user's and the projects' files. ``near``: nested files of a
    project are looked for only on the way to these paths (default: everywhere in it). ``claude_settings``: read
    Claude Code's own settings files as well, which a host that reads them itself does not need. ``handler_types``: by
    name, for this manager alone.
    """

    def __init__(
        self,
        directories: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] | None = None,
        *,
        sources: Iterable[ConfigSource] | None = None,
        near: Iterable[str] | None = None,
        claude_settings: bool = True,
        handler_types: Mapping[str, Any] | None = None,
    ) -> None:
        if directories is None or isinstance(directories, (str, os.PathLike)):
            directories = (directories or os.getcwd(),)
        self.directories = tuple(os.path.abspath(directory) for directory in directories)
        self.claude_settings = claude_settings
        self.handler_types = dict(handler_types or {})
        self._near = None if near is None else tuple(near)
        self._given = None if sources is None else tuple(sources)
        self.findings: list[ConfigFinding] = []
        self.ignored: frozenset[str] = frozenset()
        self.projects: list[ProjectSource] = []

    @property
    def project_dir(self) -> str:
        """The root of the first directory's project, an empty string before ``load``."""
        return self.projects[0].project.root if self.projects else ""

    def load(
        self,
        policy: HookPolicy | None = None,
        *,
        load_plugins: bool | Iterable[str] = True,
        disabled: Iterable[str] = (),
    ) -> HookManager:
        """Return a manager with the installed plugins and the hooks of all files, those of a project only if they are
        trusted; ``findings`` then holds what could not be honoured, and ``ignored`` the ids of those that the user
        wants to go on without.

        What a file would have stopped, but cannot be honoured, is stopped. ``policy`` is the application's: what the
        machine's and the user's files say goes before it, as far as they are stricter. ``disabled``: plugins to leave
        out. Raises ``TrustError`` if the policy requires the gates of a project that is not trusted, and
        ``RegistrationError`` for a plugin that cannot be registered.
        """
        self.findings, self.projects = [], []
        files = self._read()
        made_policy = self._policy(policy, files)
        off = {name for file in files for name in file.settings.get("disabled", ())}
        manager = HookManager(load_plugins=load_plugins, disabled={*disabled, *off}, policy=made_policy)
        manager.handler_types.update(self.handler_types)
        self._protect(manager)
        offered = self._offered(manager)
        for file in sorted((*files, *offered), key=lambda file: -priority_of(file.source)):
            self.findings += file.findings
            self._register(manager, file)
        for source in self.projects:
            self._finish_project(manager, source)
        self.ignored = frozenset(name for file in files for name in file.settings.get("ignore", ()))
        self._stop_what_is_not_honoured(manager)
        return manager

    # -- reading -----------------------------------------------------------------------------------------------------

    def _read(self) -> list[ReadFile]:
        if self._given is not None:
            sources = sorted(self._given, key=lambda source: -source.priority())
            self.projects = [source for source in sources if isinstance(source, ProjectSource)]
            return [file for source in sources for file in source.load()]
        own = [file for source in ("managed", "user") for file in TomlSource(source).load()]
        wants_claude = self.claude_settings and all(file.settings.get("claude_settings", True) for file in own)
        claude: list[ReadFile] = []
        if wants_claude:
            claude = [file for source in ("managed", "user") for file in ClaudeSource(source).load()]
        roots = dict.fromkeys(root for directory in self.directories for root in project_roots(directory))
        self.projects = [ProjectSource(root, near=self._near) for root in roots]
        files = [*own, *claude, *(file for source in self.projects for file in source.load())]
        permits = _permits(own)
        files = [file.replace(entries=tuple(e.replace(permits=permits) for e in file.entries)) for file in files]
        return settled(files if wants_claude else without_claude_settings(files))

    def _policy(self, policy: HookPolicy | None, files: list[ReadFile]) -> HookPolicy:
        from .policies import merged_policy

        said: dict[str, list[Mapping[str, Any]]] = {"managed": [], "user": [], "project": []}
        for file in files:
            if file.settings.get("policy"):
                said[file.source].append(file.settings["policy"])
        if not any(said.values()):
            return policy or HookPolicy()
        return merged_policy(policy, said["managed"], said["user"], said["project"])

    def _offered(self, manager: HookManager) -> list[ReadFile]:
        """Return what the sources that plugins offer have to say; all of it ranks as a plugin's."""
        offered: list[ReadFile] = []
        for impl in manager.hook.agent_hooks_config_sources.get_hookimpls():
            try:
                found: Any = impl.function()
                sources: list[ConfigSource] = sorted(found or (), key=lambda source: -source.priority())
                files = [file for source in sources for file in source.load()]
            except Exception as error:  # noqa: BLE001 - a plugin's own
                message = f"The configuration sources of the plugin {impl.plugin_name!r} failed: {error!r}."
                remedy = "Repair or uninstall the plugin."
                self.findings.append(ConfigFinding(kind="unreadable", message=message, remedy=remedy, blocks=True))
                continue
            offered += [_ranked_as_plugin(file) for file in files]
        return offered

    # -- registering -------------------------------------------------------------------------------------------------

    def _protect(self, manager: HookManager) -> None:
        from agent_hooks.protection import Protection

        files = (file for source in self.projects for file in source.project.protected)
        manager.register(Protection(files), PROTECTION, source="managed")

    def _register(self, manager: HookManager, file: ReadFile) -> None:
        if not file.entries:
            return
        from agent_hooks.handlers.registering import register_entries

        by_scope: dict[tuple[str, str] | None, list[HookEntry]] = {}
        for entry in file.entries:
            by_scope.setdefault(entry.scope, []).append(entry)
        for entries in by_scope.values():
            self.findings += register_entries(manager, file.path, entries)

    def _finish_project(self, manager: HookManager, source: ProjectSource) -> None:
        self.findings += source.standing.findings
        finding = source.finding
        if source.is_trusted:
            from agent_hooks.hookconf import register_confs

            self.findings += [*source.project.findings, *register_confs(manager, source.project)]
        elif finding is not None:
            self.findings.append(finding)
            if manager.policy.require_project_gates:
                raise TrustError(f"{finding} The policy requires the gates of a project.")
            manager.notes += (f"agent_hooks: {finding}",)

    def _stop_what_is_not_honoured(self, manager: HookManager) -> None:
        for finding in {found.id: found for found in self.findings if found.blocks}.values():
            if finding.id in self.ignored:
                continue
            message = f"{finding} To go on without it, add {finding.id!r} to `ignore` in your own agent-hooks.toml."
            events = (finding.event,) if finding.event else ()
            name = f"{finding.path}:{finding.line} ({finding.id})"
            roots = (source.project.root for source in self.projects)
            root = next((root for root in roots if finding.path.startswith(os.path.join(root, ""))), None)
            scope = ("directory", root) if root else None
            try:
                gate = failing_gate(name, message, events, match=finding.matcher)
                manager.register(gate, name, source="plugin", scope=scope)
            except RegistrationError:  # it may be the matcher that is wrong
                manager.register(failing_gate(name, message, events), name, source="plugin", scope=scope)


def _permits(files: Iterable[ReadFile]) -> Permits:
    """Return what several files permit together."""
    said = [file.settings["permits"] for file in files if "permits" in file.settings]
    return Permits(
        **{
            name: tuple(dict.fromkeys(each for permits in said for each in getattr(permits, name)))
            for name in ("env", "header_env", "hosts")
        }
    )


def _ranked_as_plugin(file: ReadFile) -> ReadFile:
    return file.replace(source="plugin", entries=tuple(entry.replace(source="plugin") for entry in file.entries))
