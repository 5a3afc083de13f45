"""``agent-hooks doctor --ci``: the mistakes in the files of a project that nobody has trusted. Nothing of it is run.
Installed plugins are imported where it has settings for plugins.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from agent_hooks.engine.known_tools import name_problems
from agent_hooks.engine.manager import HookManager
from agent_hooks.errors import did_you_mean
from agent_hooks.formats.claude.matcher_rules import misspelt_tool
from agent_hooks.formats.findings import ConfigFinding, not_honoured
from agent_hooks.handlers.entry_hooks import OWN_TYPES, own_type
from agent_hooks.handlers.registering import register_entries
from agent_hooks.handlers.types import PROVIDERS
from agent_hooks.sources.plugin_settings import tables_in
from agent_hooks.sources.settings_check import check_settings
from agent_hooks.system.visible import visible
from agent_hooks.testing.source_check import check_source
from agent_hooks.trust.discovery import discover
from agent_hooks.trust.project_files import project_root

from .terminal import line_printer, print_json, prints_elsewhere

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_hooks.trust.manifest import Project

# The ratio above which an unknown handler type or table is a misspelt one. Any other may be a plugin's.
_NEAR = 0.8
_STYLES = {"error": "bold red", "warning": "yellow"}


def show_ci(directory: str, *, form: str = "text", as_json: bool) -> int:
    """Print the mistakes in the files of the project around ``directory``; return 1 if a hook of it could not be
    honoured, else 0. ``form``: ``text``, or ``github`` for workflow commands, which annotate lines.
    """
    with prints_elsewhere():
        project = discover(project_root(directory))
        found = {
            (each.id, each.line): each for each in (*_of_files(project), *_of_tables(project), *_of_hookconfs(project))
        }
    findings = sorted(found.values(), key=lambda each: (each.path, each.line))
    errors = [*map(_severity, findings)].count("error")
    if as_json:
        listed = [{**each.as_dict(), "id": each.id, "severity": _severity(each)} for each in findings]
        print_json({"findings": listed, "errors": errors})
        return int(bool(errors))
    line = line_printer()
    for each in findings:
        if form == "github":
            print(_workflow_command(each))
        else:
            path, severity = _below(os.getcwd(), each.path), _severity(each)
            place = f"{path}:{each.line}" if each.line else path
            line(f"{place}: {severity}: {each.message} {each.remedy}".rstrip(), _STYLES[severity])
    paths = [*(read.path for read in (*project.reads, *project.skills)), *(conf.path for conf in project.confs)]
    numbers = {"error": errors, "warning": len(findings) - errors, "file": len({*paths})}
    texts = [f"{number} {word}{'s' * (number != 1)}" for word, number in numbers.items()]
    line("{}, {}, {} with hooks or settings.".format(*texts), _STYLES["error"] if errors else "green")
    return int(bool(errors))


def _severity(finding: ConfigFinding) -> str:
    # A missing script fails at each event; the project is all there.
    return "error" if finding.blocks or finding.must_be_repaired or finding.kind == "missing" else "warning"


def _of_files(project: Project) -> Iterator[ConfigFinding]:
    """Yield the findings of the parsers, and those about entries that could not be registered."""
    yield from project.findings
    for read in (*project.reads, *project.skills):
        yield from (finding for finding in read.findings if not finding.is_note)
    manager = HookManager(load_plugins=False)
    manager.declare_tools(_known_tools(project), "project")
    # Another distribution's type of the same name would be imported.
    types = {name: own_type(name) for name in OWN_TYPES}
    for read in project.reads:
        ours = [entry for entry in read.entries if entry.type in OWN_TYPES]
        yield from register_entries(manager, manager._free_name(read.path), ours, types)
        for entry in read.entries:
            known = (*OWN_TYPES, *PROVIDERS)
            if entry.type not in known and (hint := did_you_mean(entry.type, known, cutoff=_NEAR)):
                yield not_honoured(entry, f"there is no handler type {entry.type!r}", hint)
    for hook in manager.all_hooks():
        for problem in name_problems(hook, manager.known_tools):
            if problem.is_ours or not misspelt_tool(problem.name):  # reported by the parser of the file
                yield ConfigFinding(
                    kind=problem.kind,
                    path=problem.path,
                    line=problem.line,
                    message=problem.message,
                    remedy=problem.remedy,
                    blocks=problem.is_error,
                )


def _of_tables(project: Project) -> Iterator[ConfigFinding]:
    """Yield the mistakes in tables that the models of the installed plugins find, and the tables that have no model."""
    tables = [table for read in project.reads for table in tables_in(read, project.root)]
    if not tables:
        return
    manager = HookManager()
    found, _ = check_settings(manager, project.reads, {table.path: project.root for table in tables}, is_complete=False)
    yield from (finding for finding, source, _ in found if source == "project")
    for table in (each for each in tables if each.name not in manager.settings_models):
        message = f"[{table.at}] is not checked: no installed plugin has settings of this name."
        remedy = did_you_mean(
            table.name, manager.settings_models, "Install its plugin beside agent-hooks.", cutoff=_NEAR
        )
        path, line = table.place()
        yield ConfigFinding(kind="not-checked", path=path, line=line, message=message, remedy=remedy)


def _known_tools(project: Project) -> list[str]:
    return [name for read in project.reads for name in read.settings.get("known_tools", ())]


def _of_hookconfs(project: Project) -> Iterator[ConfigFinding]:
    for conf in project.confs:
        yield from check_source(conf.code, conf.path, known_tools=_known_tools(project))


def _below(folder: str, path: str) -> str:
    """Return ``path`` from ``folder``, if it is below."""
    return path.removeprefix(os.path.join(os.path.realpath(folder), ""))


def _workflow_command(finding: ConfigFinding) -> str:
    """Return the command of GitHub's runners that annotates the line of a finding.

    A value ends at a line's end, and a property also at a comma or colon. Sources: docs.github.com, workflow commands;
    the escapes are those of @actions/toolkit, packages/core/src/command.ts.
    """
    path = _below(os.environ.get("GITHUB_WORKSPACE") or os.getcwd(), finding.path)
    properties = {"file": path, "line": str(finding.line or 1), "title": f"agent-hooks: {finding.kind}"}
    written = ",".join(f"{name}={_escaped(visible(value), ':,')}" for name, value in properties.items())
    message = visible(f"{finding.message} {finding.remedy}".rstrip())
    return f"::{_severity(finding)} {written}::{_escaped(message)}"


def _escaped(text: str, more: str = "") -> str:
    text = text.replace("%", "%25")
    for each in ("\r", "\n", *more):
        text = text.replace(each, f"%{ord(each):02X}")
    return text
