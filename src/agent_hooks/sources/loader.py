"""The loader: from configuration files to a manager with their hooks."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from agent_hooks.engine.installed import DISABLE_VARIABLE, disabled_by_variable, failing_gate, is_module
from agent_hooks.engine.manager import HookManager
from agent_hooks.engine.origins import origin_of_fault
from agent_hooks.engine.plan import check_source
from agent_hooks.engine.plugin_info import PluginInfo
from agent_hooks.errors import RegistrationError, SettingsError, TrustError, did_you_mean
from agent_hooks.formats.findings import RESTORED, ConfigFinding
from agent_hooks.formats.read_file import ReadFile, is_claude_settings
from agent_hooks.system.progress import report

from .files import (
    CLAUDE_FILE,
    CLAUDE_LOCAL_FILE,
    ClaudeSource,
    HookconfSource,
    ProjectSource,
    TomlSource,
    choose_folder,
    priority_of,
    project_roots,
    trusted_roots,
    user_claude_sources,
    user_sources,
)
from .plugin_settings import hold_project
from .precedence import (
    deciding,
    managed_settings,
    modules_in,
    permits_for,
    policy_with,
    ranked_as_plugin,
    reads_claude,
    stricter,
)

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence

    from agent_hooks.engine.registration import HookRegistration
    from agent_hooks.formats.entry import HookEntry
    from agent_hooks.formats.read_file import ConfigSource
    from agent_hooks.model.policy import HookPolicy
    from agent_hooks.trust.gate import Protection
    from agent_hooks.trust.manifest import ConfFile


_ONLY_MANAGED = "Remove it: only the machine's agent-hooks.toml may say it."
_LISTED = "Correct or remove the name; `agent-hooks plugins` lists them."
# The name of the plugin that protects settings, trust store and hooks.
PROTECTION = "agent_hooks.protection"


class HookConfigLoader:
    """Reads the configuration for some directories and creates a manager from it.

    ``directories``: the working directories of agents, whose projects are read (default: the current directory).
    ``sources``: read these in place of the machine's, the user's and the projects' files. ``near``: search nested files
    of a project only on the way to these paths (default: everywhere in it). ``claude_settings``: read Claude Code's own
    settings files as well, which a host that reads them itself does not need. ``handler_types``: by name, for this
    manager alone. ``modules``: to load as plugins, besides those that the user's and the machine's files name.
    """

    def __init__(
        self,
        directories: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] | None = None,
        *,
        sources: Iterable[ConfigSource] | None = None,
        near: Iterable[str] | None = None,
        claude_settings: bool = True,
        handler_types: Mapping[str, Any] | None = None,
        modules: Iterable[str] = (),
    ) -> None:
        if directories is None or isinstance(directories, (str, os.PathLike)):
            directories = (directories or os.getcwd(),)
        self.directories = tuple(os.path.abspath(directory) for directory in directories)
        self.claude_settings = claude_settings
        self.handler_types = dict(handler_types or {})
        self.modules = tuple(modules)
        self._near = None if near is None else tuple(near)
        self._given = None if sources is None else tuple(sources)
        # Each finding with the source of its file and the root of its project.
        self._found: list[tuple[ConfigFinding, str, str]] = []
        self.ignored: frozenset[str] = frozenset()
        self.projects: list[ProjectSource] = []
        # The files whose hooks are live.
        self.files: list[ReadFile] = []
        self.stand_ins: frozenset[str] = frozenset()
        # What was loaded last.
        self.manager: HookManager
        # What the gate that protects all this was made of.
        self.protection: tuple[Any, ...] = ()
        # Hooks in code from ``sources``.
        self._registrations: list[HookRegistration] = []

    @property
    def project_dir(self) -> str:
        """The root of the first directory's project, an empty string before ``load``."""
        return self.projects[0].project.root if self.projects else ""

    @property
    def findings(self) -> list[ConfigFinding]:
        """The problems of the files and of installed plugins."""
        return [finding for finding, _, _ in self._found]

    @property
    def open_findings(self) -> list[ConfigFinding]:
        """The findings without those that the user ignores."""
        return [each for each in self.findings if each.must_be_repaired or each.id not in self.ignored]

    def load(
        self,
        policy: HookPolicy | None = None,
        *,
        load_plugins: bool | Iterable[str] = True,
        disabled: Iterable[str] = (),
        files: list[ReadFile] | None = None,
        modules: Mapping[str, str] | None = None,
    ) -> HookManager:
        """Return a manager with the installed plugins and the hooks of all files, those of projects only if trusted.

        Afterwards ``findings`` holds the problems, ``ignored`` the ids of findings that the user ignores,
        and ``stand_ins`` the names of the plugins that deny in place of hooks that cannot be honoured. ``policy``: the
        application's, which stricter policies of the machine's and the user's files override. ``disabled``: plugins to
        leave out. ``files``: the result of ``read``, if that was called before. ``modules``: further ones, with the
        source of each. Raises ``TrustError`` if the policy requires the gates of an untrusted project, and
        ``RegistrationError`` for a plugin that cannot be registered.
        """
        self._found = []
        if files is None:
            files = self.read()
        counting = deciding(files)
        self.ignored = _ignored(counting)
        off = {*disabled, *(name for file in counting for name in file.settings.get("disabled", ()))}
        managed = managed_settings(files)
        manager = self.manager = HookManager(
            load_plugins=load_plugins,
            disabled=off,
            policy=policy_with(policy, files),
            managed=managed,
            modules={**modules_in(files), **dict.fromkeys(self.modules, "plugin"), **(modules or {})},
        )
        self._check_plugins(manager)
        if any("telemetry" in file.settings for file in files):
            from .telemetry import telemetry_problems

            self._find(telemetry_problems(files), "user")
        manager.handler_types.update(self.handler_types)
        manager.permits = permits_for("skill", files)
        roots = {file.path: source.project.root for source in self.projects for file in source.load()}
        files = self.files = self._held([*files, *self._offered(manager)])
        # Even where the policy sets ``shadow``.
        manager.register(self.make_gate(files), PROTECTION, source="managed", shadow=False)
        for file in sorted(files, key=lambda file: -priority_of(file.source)):
            self._register(manager, file, roots.get(file.path, ""))
            if conf := file.settings.get("hookconf"):
                self._register_conf(manager, conf, file.source, off if file.source != "managed" else _disabled(files))
        for registration in self._registrations:
            manager.add(registration)
        for source in self.projects:
            hold_project(source)
            self._finish_project(manager, source, off)
        for file in files:
            manager.declare_tools(file.settings.get("known_tools", ()), file.source)
        self._check_names(manager, files, is_complete=load_plugins is True)
        closed = self._check_settings(files, roots, is_complete=load_plugins is True)
        self._stop_what_is_not_honoured(manager, counting)
        self.stand_ins |= closed
        manager.findings, manager.project_dir = self.open_findings, self.project_dir
        return manager

    # -- reading -----------------------------------------------------------------------------------------------------

    def read(self) -> list[ReadFile]:
        """Read all files and return those that count; ``projects`` are then the projects found."""
        self.projects, self._registrations = [], []
        if self._given is not None:
            self.projects = [source for source in _sorted(self._given) if isinstance(source, ProjectSource)]
            given, self._registrations = _loaded(self._given)
            for file in given:
                check_source(file.source)
            return given
        files = [*TomlSource("managed").load()]
        choose_folder(files)
        files += HookconfSource("managed").load()
        own = [[*toml.load(), *HookconfSource("user", toml.folder).load()] for toml in user_sources()]
        files += [file for found in stricter(own) for file in found]
        for source, sources in (("managed", [ClaudeSource("managed")]), ("user", user_claude_sources())):
            if reads_claude(files, source):
                files += [file for each in sources for file in each.load()]
        roots = dict.fromkeys(root for directory in self.directories for root in project_roots(directory))
        roots |= dict.fromkeys(trusted_roots(self._near or (), roots))
        with_claude = reads_claude(files, "project") and self.claude_settings
        self.projects = [ProjectSource(root, near=self._near, claude_settings=with_claude) for root in roots]
        return [*files, *(file for source in self.projects for file in source.load())]

    def _offered(self, manager: HookManager) -> list[ReadFile]:
        """Return the files from the sources of plugins, with the rank of plugins."""
        offered: list[ReadFile] = []
        for impl in manager.hook.agent_hooks_config_sources.get_hookimpls():
            report(f"agent_hooks_config_sources of the plugin {impl.plugin_name!r}")
            try:
                found: Any = impl.function()
                files, registrations = _loaded(found or ())
                for each in registrations:
                    manager.add(each.replace(source="plugin"))
            except Exception as error:  # noqa: BLE001 - a plugin's own
                message = f"The configuration sources of the plugin {impl.plugin_name!r} failed: {error!r}."
                remedy = "Repair or uninstall the plugin."
                path, _, line = origin_of_fault(impl.function, error).rpartition(":")
                failed = ReadFile.unreadable(message, remedy, int(line or 0), path=path, source="plugin")
                self._find(failed.findings, "plugin")
                continue
            offered += [ranked_as_plugin(file) for file in files]
        report("")
        return offered

    def _held(self, files: list[ReadFile]) -> list[ReadFile]:
        """Return the files in their effective form: with permits, and with the limits that Claude Code's settings set.

        Managed entries have only the permits of managed files. Settings that Claude Code reads itself still limit other
        files.
        """
        if not files:
            return []
        from .claude_rules import settled, without_claude_settings

        files = [
            file.replace(entries=tuple(entry.replace(permits=permits) for entry in file.entries))
            for file in files
            for permits in [permits_for(file.source, files)]
        ]
        files = settled([file for file in files if not is_claude_settings(file) or reads_claude(files, file.source)])
        return files if self.claude_settings else without_claude_settings(files)

    # -- registering -------------------------------------------------------------------------------------------------

    def make_gate(self, files: Sequence[ReadFile]) -> Protection:
        """Return the gate that protects settings, trust store and hooks from agents."""
        from agent_hooks.trust.gate import Protection

        protected = [path for source in self.projects for path in source.protected]
        protected += [file.path for file in files if "hookconf" in file.settings]
        scripts = [path for source in self.projects if source.is_trusted for path in source.project.python_scripts]
        for file in deciding(files):
            protected.append(file.path)
            for entry in file.entries:
                if entry.type == "command":
                    from agent_hooks.trust.scripts import HookCommand

                    try:
                        command = HookCommand(entry)
                    except SettingsError as error:
                        message = f"{error} The scripts in it are not kept from agents."
                        found = ConfigFinding(
                            kind="not-covered",
                            path=entry.path,
                            line=entry.line,
                            message=message,
                            remedy="Put it into a script.",
                        )
                        self._find([found], file.source)
                        continue
                    scripts += [path for path in command.scripts() if path.endswith((".py", ".pyw"))]
                    protected += (*command.scripts(), *command.missing())
        # A missing file would count as soon as it exists.
        users = [source.folder for source in user_claude_sources() if source.folder]
        protected += [os.path.join(folder, name) for folder in users for name in (CLAUDE_FILE, CLAUDE_LOCAL_FILE)]
        tables = {file.path: file.part for source in self.projects for file in source.load() if file.form == "toml"}
        modules = _modules_of(self.manager)
        protected += [module.__file__ for module in modules if getattr(module, "__file__", None)]
        packages = [folder for module in modules for folder in getattr(module, "__path__", ())]
        further = (ClaudeSource("managed").folder, *packages)
        self.protection = (tuple(protected), further, tables, tuple(scripts), self.project_dir)
        return Protection(protected, further=further, tables=tables, scripts=scripts, project=self.project_dir)

    def _register(self, manager: HookManager, file: ReadFile, root: str) -> None:
        self._find(file.findings, file.source, root)
        manager.notes += tuple(f"agent_hooks: {finding}" for finding in file.findings if finding.kind == RESTORED)
        if not file.entries:
            return
        from agent_hooks.handlers.registering import register_entries

        alike: dict[Any, list[HookEntry]] = {}
        for entry in file.entries:
            alike.setdefault((entry.source, entry.scope, entry.form), []).append(entry)
        for entries in alike.values():
            try:
                found = register_entries(manager, manager._free_name(file.path), entries)
            except RegistrationError as error:
                remedy = "Until that is repaired, nobody knows what they would have said."
                message = f"Its hooks cannot be registered: {error}"
                found = [
                    ConfigFinding(kind="not-honoured", path=file.path, message=message, remedy=remedy, blocks=True)
                ]
            self._find(found, file.source, root)

    def _register_conf(self, manager: HookManager, conf: ConfFile, source: str, off: Container[str]) -> None:
        """Run a module of the user's or the machine's own, which is live everywhere."""
        from .hookconfs import register_conf

        if conf.name in off:
            manager.set_blocked(conf.name)
        self._find(register_conf(manager, conf, source=source, remedy="Repair it"), source)

    def _finish_project(self, manager: HookManager, source: ProjectSource, off: set[str]) -> None:
        root = source.project.root
        self._find(source.standing.findings, "project", root)
        if source.is_trusted:
            from .hookconfs import register_confs

            for conf in source.project.confs:
                if conf.name in off:
                    manager.set_blocked(conf.name)
            self._find(register_confs(manager, source.project), "project", root)
        if (finding := source.finding) is not None:
            self._find([finding], "project", root)
            if manager.policy.require_project_gates:
                raise TrustError(f"{finding} The policy requires the gates of a project.")
            if finding.id not in self.ignored:
                manager.notes += (f"agent_hooks: {finding}",)
        self._find(source.findings, "project", root)

    def _check_plugins(self, manager: HookManager) -> None:
        """Add findings about installed plugins that could not be loaded."""
        if any(info.status in ("ignored", "broken") for info in manager.plugins()):
            from .plugin_problems import plugin_problems

            self._find(plugin_problems(manager), "plugin")

    def _check_names(self, manager: HookManager, files: Iterable[ReadFile], *, is_complete: bool) -> None:
        """Add findings about unknown names of plugins. ``is_complete``: all installed plugins were loaded."""
        found = {info.name for info in manager.plugins()}
        for file in files:
            disabled = file.settings.get("disabled", ())
            for name in file.settings.get("required", ()) if file.source == "managed" else ():
                if name in disabled or name not in found:
                    problem = "disabled here" if name in disabled else "not installed"
                    message = f"The plugin {name!r} is required, but it is {problem}: its gates count as failing gates."
                    remedy = "Install it, or take it out of `required`."
                    self._tell(file, "required", "required", message, remedy, blocks=True)
            for name in disabled:
                if name in manager.managed.plugins and file.source != "managed":
                    message = f"`disabled` names {name!r}, which the machine's settings keep, so it has no effect."
                    self._tell(file, "disabled", "not-allowed", message, _ONLY_MANAGED)
                elif is_complete and os.sep not in name and name not in found:
                    message = f"`disabled` names {name!r}, but no installed plugin has this name."
                    self._tell(file, "disabled", "unknown-plugin", message, did_you_mean(name, found, _LISTED))
        for name in sorted(disabled_by_variable() - found) if is_complete else ():
            message = f"{DISABLE_VARIABLE} names {name!r}, but no installed plugin has this name."
            self._tell(
                ReadFile(path="", source="code"), "", "unknown-plugin", message, did_you_mean(name, found, _LISTED)
            )

    def _check_settings(self, files: list[ReadFile], roots: Mapping[str, str], *, is_complete: bool) -> frozenset[str]:
        """Add findings about settings of plugins, and return the names of the plugins that deny because of them."""
        if not any("tables" in file.settings for file in files):
            return frozenset()
        from .settings_check import check_settings

        found, closed = check_settings(self.manager, files, roots, is_complete=is_complete)
        self._found += found
        return closed

    def _tell(self, file: ReadFile, key: str, kind: str, message: str, remedy: str, **facts: Any) -> None:
        """Add a finding about a key of a file."""
        line = file.lines.get((key,), 0)
        found = ConfigFinding(kind=kind, path=file.path, line=line, message=message, remedy=remedy, **facts)
        self._find([found], file.source)

    def _find(self, findings: Iterable[ConfigFinding], source: str, root: str = "") -> None:
        # A note is about our own command in Claude Code's settings.
        self._found += [(finding, source, root) for finding in findings if not finding.is_note]

    def _stop_what_is_not_honoured(self, manager: HookManager, files: Iterable[ReadFile]) -> None:
        """Register a failing gate for each finding that blocks, with the rank of its file."""
        self.stand_ins = frozenset()
        of_managed = {finding.id for finding, source, _ in self._found if source == "managed"}
        out_of_reach = of_managed - _ignored(file for file in files if file.source == "managed")
        for file in files:
            for name in sorted(out_of_reach.intersection(file.settings.get("ignore", ()))):
                message = f"`ignore` names {name!r}, which is about the machine's settings, so it has no effect."
                self._tell(file, "ignore", "not-allowed", message, _ONLY_MANAGED)
        self.ignored -= out_of_reach
        done = set(self.ignored)
        for finding, source, root in self._found:
            if not finding.blocks or finding.id in done:
                continue
            done.add(finding.id)
            whose = "the machine's" if source == "managed" else "your own"
            way_out = f"To go on without it, add {finding.id!r} to `ignore` in {whose} agent-hooks.toml."
            message = " ".join(filter(None, (finding.message, finding.remedy, way_out)))  # the name has the location
            events = (finding.event,) if finding.event else ()
            place = (f"{finding.path}:{finding.line}" if finding.line else finding.path) or finding.kind
            name = f"{place} ({finding.id})"
            scope = ("directory", root) if root else None
            try:
                gate = failing_gate(name, message, events, match=finding.matcher, origin=place)
                manager.register(gate, name, source=source, scope=scope)
            except RegistrationError:  # the matcher may be invalid
                gate = failing_gate(name, message, events, origin=place)
                manager.register(gate, name, source=source, scope=scope)
            manager.keep_info(PluginInfo(name=name, source=source, status="broken", error=message))
            self.stand_ins |= {name}


def _sorted(sources: Iterable[ConfigSource]) -> list[ConfigSource]:
    return sorted(sources, key=lambda source: -source.priority())


def _loaded(sources: Iterable[ConfigSource]) -> tuple[list[ReadFile], list[HookRegistration]]:
    """Return the files and the registrations of sources, those of the highest rank first."""
    loaded = [each for source in _sorted(sources) for each in source.load()]
    files = [each for each in loaded if isinstance(each, ReadFile)]
    return files, [each for each in loaded if not isinstance(each, ReadFile)]


def _modules_of(manager: HookManager) -> list[Any]:
    """Return the imported modules that somebody named as plugins."""
    names = [info.entry_point for info in manager.plugins() if is_module(info)]
    return [sys.modules[name] for name in names if name in sys.modules]


def _disabled(files: Iterable[ReadFile]) -> set[str]:
    """Return the names that the machine's files disable."""
    return {name for file in files if file.source == "managed" for name in file.settings.get("disabled", ())}


def _ignored(files: Iterable[ReadFile]) -> frozenset[str]:
    return frozenset(name for file in files for name in file.settings.get("ignore", ()))
