"""``agent-hooks trust`` and ``untrust``: a person reviews a project's hooks and lets them run."""

from __future__ import annotations

import json
import os
import sys

from agent_hooks.errors import TrustError
from agent_hooks.formats.claude.event_names import EVENTS, default_timeout
from agent_hooks.model.values import thaw
from agent_hooks.sources.plugin_settings import tables_in
from agent_hooks.system.by_hand import refuse_agents
from agent_hooks.trust.project_files import project_root
from agent_hooks.trust.trust_store import TrustStore, how_to_trust

from .terminal import console, line_printer, print_json, shown_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from agent_hooks.formats.entry import HookEntry
    from agent_hooks.trust.manifest import Project
    from agent_hooks.trust.trust_store import TrustStatus

# A field of an entry that has no effect on the command and its events.
_HIDDEN_FIELD = "statusMessage"
_STATUS_TEXTS = {
    "trusted": "trusted, as it is now",
    "untrusted": "not trusted: none of its hooks run",
    "changed": "changed since it was trusted: none of its hooks run",
    "empty": "has no hooks of its own, so there is nothing to trust",
}


def show_trust(path: str, *, show: bool, diff: bool, digest: str | None, as_json: bool) -> int:
    """Show the hooks of the project at ``path``, and trust it if a person agrees or ``digest`` is the project's.

    Return the exit code: 0 if the project is trusted now, or for ``show`` and ``diff``, else 1. Without a terminal, and
    for JSON, there is no question. Raises ``TrustError`` for another digest, and where a coding agent runs the command
    for more than ``show`` or ``diff``.
    """
    store = TrustStore()
    project = store.discover(project_root(path))
    if digest is not None:
        refuse_agents(TrustError)
        store.trust(project, digest)
    standing = store.standing(project)
    facts = _facts(project, standing)
    is_done = show or diff or standing.status in ("trusted", "empty")
    if as_json:
        print_json({**facts, **({"diff": store.diff(project)} if diff else {})})
        return int(not is_done)
    line = line_printer()
    if digest is not None:
        line(f"Trusted: {project.root} is {project.digest}.")
        return 0
    _show(facts, is_short=diff)
    if diff:
        console().print(store.diff(project) or "Nothing differs from what was trusted.\n", soft_wrap=True, end="")
    if is_done:
        return 0
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        to_type = how_to_trust(project.root, "--digest", project.digest).strip("`")
        line("")
        line("Nothing was trusted, because there is no terminal to ask. To trust exactly this:")
        line(f"  {to_type}")
        return 1
    refuse_agents(TrustError)
    import click

    if not click.confirm("\nMay these files run on your machine, and decide what agents may do here?", default=False):
        line("Nothing was trusted.")
        return 1
    # Trust only the files that were shown.
    if store.discover(project.root).digest != project.digest:
        raise TrustError("The files changed while you were asked: type the command again.")
    store.trust(project, project.digest)
    line("Trusted, until one of these files changes.")
    return 0


def end_trust(path: str) -> int:
    """Revoke the trust in the project at ``path``; return 1 if there was none. Raises ``TrustError``."""
    refuse_agents(TrustError)
    store = TrustStore()
    root = os.path.realpath(path)
    if not store.has_record(root):
        root = project_root(path)
    is_gone = store.untrust(root)
    result = "is not trusted any more: its hooks do not run." if is_gone else "was not trusted."
    line_printer()(f"{root} {result}")
    return 0 if is_gone else 1


def _show(facts: dict[str, Any], *, is_short: bool) -> None:
    line = line_printer()
    line(shown_path(facts["root"]), "bold")
    line(f"  {_STATUS_TEXTS[facts['status']]}", "green" if facts["status"] == "trusted" else "yellow")
    for change in facts["changes"]:
        line(f"  {change}", "yellow")
    if is_short:
        return
    links = {file["path"]: f" -> {file['real']}" for file in facts["files"] if "real" in file}
    files = [f"{file['mode']}  {file['path']}{links.get(file['path'], '')}" for file in facts["files"]]
    for title, texts in (
        ("Files that are covered, with their permissions:", files),
        ("What would run:", facts["hooks"]),
        ("Settings of plugins:", facts["settings"]),
    ):
        for text in (title, *(f"  {text}" for text in texts)) if texts else ():
            line(text)
    for finding in facts["findings"]:
        line(f"finding: {finding}", "yellow")
    if files:
        line(facts["digest"], "dim")


def _described(project: Project) -> list[str]:
    lines = [_entry_text(entry) for read in project.reads for entry in read.entries]
    lines += [f"{_entry_text(entry)}, while the skill is active" for read in project.skills for entry in read.entries]
    root = os.path.join(project.root, "")
    return [
        *lines,
        *(f"{conf.path.removeprefix(root)}  is run as Python when agents are started" for conf in project.confs),
    ]


def _settings(project: Project) -> list[str]:
    """Return the settings of plugins, each key of a table with its origin."""
    root = os.path.join(project.root, "")
    lines = []
    for table in (table for read in project.reads for table in tables_in(read, project.root)):
        keys = table.settings.items() if isinstance(table.settings, dict) else [("", table.settings)]
        for key, value in keys:
            origin = table.origin(*([key] if key else [])).removeprefix(root)
            name = f"{table.at}.{key}" if key else table.at
            lines.append(f"{origin}  {name} = {json.dumps(thaw(value), ensure_ascii=False, default=str)}")
    return lines


def _entry_text(entry: HookEntry) -> str:
    fields = {name: value for name, value in thaw(entry.config).items() if name != _HIDDEN_FIELD}
    # Not the timeout that Claude Code gives an entry without one.
    if entry.form == "claude" and fields.get("timeout") is not None:
        names = [name for name, each in EVENTS.items() if entry.host_event in ("", name) and each.event == entry.event]
        if fields["timeout"] in [default_timeout(name, entry.type) for name in names]:
            del fields["timeout"]
    if entry.condition:
        fields["if"] = entry.condition
    if entry.is_async:
        fields["async"] = True
    matcher = f" ({entry.matcher})" if entry.matcher else ""
    return f"{entry.origin}  {entry.host_event or entry.event!s}{matcher}: {entry.type} {json.dumps(fields)}"


def _facts(project: Project, standing: TrustStatus) -> dict[str, Any]:
    of_reads = [finding for read in (*project.reads, *project.skills) for finding in read.findings]
    return {
        "root": project.root,
        "status": standing.status,
        "digest": project.digest,
        "changes": list(standing.changes),
        "files": [
            {"path": file.path, "mode": f"{file.mode:04o}", **({"real": file.real} if file.real else {})}
            for file in project.files
        ],
        "hooks": _described(project),
        "settings": _settings(project),
        "findings": [str(finding) for finding in (*standing.findings, *project.findings, *of_reads)],
    }
