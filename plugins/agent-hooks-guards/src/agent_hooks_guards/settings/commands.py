"""The commands ``agent-hooks rules`` and ``agent-hooks allow``."""

from __future__ import annotations

import json
import os
import sys
from datetime import date, timedelta
from difflib import get_close_matches
from itertools import groupby
from typing import Any

import click

from agent_hooks import HookContext, SettingsError
from agent_hooks.cli.terminal import line_printer, print_json, print_records
from agent_hooks.sources.files import ProjectSource, project_roots
from agent_hooks.sources.plugin_settings import hold_project
from agent_hooks.system.by_hand import refuse_agents
from agent_hooks.system.visible import visible
from agent_hooks_guards.guards.exceptions import is_too_wide
from agent_hooks_guards.rules.indexing import known_names
from agent_hooks_guards.rules.trying import wrong_examples

from .own_settings import append, as_table, conditions_of, own_file
from .project import project_guards
from .rule_rows import guard_rows, rule_rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from .build import FileGuards
    from .rule_rows import RuleRow

_SEVERITIES = ("high", "medium", "low", "unknown")
_MAX_DAYS = 365


@click.command("rules")
@click.argument("names", nargs=-1, metavar="[RULE]...")
@click.option("--family", help="Only those of this family.")
@click.option("--severity", type=click.Choice(_SEVERITIES), help="Only those of this severity.")
@click.option("--search", metavar="TEXT", help="Only those with this text in their id, family, reason or examples.")
@click.option("--exceptions", is_flag=True, help="List what is let through instead, here and today.")
@click.option("--test", "tests", is_flag=True, help="Try the examples of these rules instead. Exits 1 if one is wrong.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead.")
def rules_command(
    names: tuple[str, ...],
    *,
    family: str | None,
    severity: str | None,
    search: str | None,
    exceptions: bool,
    tests: bool,
    as_json: bool,
) -> None:
    """List the rules of the guards, or show some with their examples.

    Rules of your own and of the project here are listed, too.

    \b
    agent-hooks rules --family git
    agent-hooks rules git-reset-hard
    """  # noqa: D301 - the character that click takes for `as it is`
    files = _files()
    if exceptions:
        if names or family or severity or search or tests:
            raise click.UsageError("--exceptions lists all of them: leave out what chooses rules.")
        _show_exceptions(files, as_json=as_json)
        return
    rows = rule_rows(files)
    known, families = {row.id for row in rows}, {row.family for row in rows}
    for name in names:
        if name in families - known:
            raise click.UsageError(f"There is no rule {name!r}; there is a family of that name: --family {name}.")
        _check_name("rule", name, known)
    if family is not None:
        _check_name("family", family, families)
    chosen = [
        row
        for row in rows
        if (not names or row.id in names)
        and family in (None, row.family)
        and severity in (None, row.severity)
        and (search is None or search.lower() in row.searched_text)
    ]
    if tests:
        sys.exit(_test(chosen))
    if as_json:
        print_json([row.facts for row in chosen])
    elif names:
        line = line_printer()
        for text in "\n\n".join(map(str, chosen)).split("\n"):
            line(text)
    else:
        _list(chosen)


def _files() -> list[FileGuards]:
    """Return the settings files that apply here. Raises ``SettingsError`` for a wrong one."""
    for root in project_roots(os.getcwd()):
        hold_project(ProjectSource(root, near=(os.getcwd(),)))
    files, wrong = project_guards(HookContext("before_tool_use", cwd=os.getcwd()))
    if wrong is not None:
        raise wrong
    return files


def _check_name(noun: str, name: str, known: Iterable[str]) -> None:
    if name not in known:
        near = get_close_matches(name, known, 1)
        raise click.UsageError(f"There is no {noun} {name!r}{f': did you mean {near[0]}?' if near else '.'}")


def _list(chosen: list[RuleRow]) -> None:
    records: list[tuple[str, ...]] = []
    for title, rows in groupby(chosen, lambda row: f"{row.title} ({row.family})"):
        records += ((title,), *((row.id, row.severity, row.reason) for row in rows))
    print_records(("", "", ""), records, indent=2)
    line_printer()(f"{len(chosen)} rules. `agent-hooks rules RULE` shows one with its examples.")


def _test(chosen: list[RuleRow]) -> int:
    """Print the wrong examples, and return the exit code."""
    rules = [row.rule for row in chosen if row.rule is not None]
    wrong = [(rule.id, word, text) for rule in rules for word, text in wrong_examples(rule)]
    line = line_printer()
    for name, word, text in wrong:
        line(f"{name}: {'does not stop' if word == 'stops' else 'does not leave'}  {text}")
    count = sum(len(rule.stops) + len(rule.leaves) for rule in rules)
    line(f"{count} examples of {len(rules)} rules, {len(wrong)} wrong.")
    return 1 if wrong else 0


# -- exceptions --------------------------------------------------------------------------------------------------------


def _show_exceptions(files: Iterable[FileGuards], *, as_json: bool) -> None:
    today = date.today().isoformat()  # noqa: DTZ011 - the person's own day
    found = [
        {"of": each.rank, "holds": table.get("until", today) >= today, **table}
        for each in files
        for table in each.tables.get("allow", ())
    ]
    if as_json:
        click.echo(json.dumps(found, indent=2, default=str))
        return
    line = line_printer()
    for each in found:
        until = f" until {each['until']}" if "until" in each else ", with no end"
        state = "holds" if each["holds"] else "ended"
        why = f": {each['reason']}" if each.get("reason") else ""
        line(f"{state}  {each['rule']}  {conditions_of(each)}{until} ({each['of']}){why}")
    ended = sum(not each["holds"] for each in found)
    line(f"{len(found) - ended} exceptions hold, {ended} ended. Those of your own are in {own_file()}.")


@click.command("allow")
@click.argument("rule")
@click.option("--command", "command_glob", metavar="GLOB", help="Commands like this, such as 'git push --force*'.")
@click.option("--path", "path_glob", metavar="GLOB", help="Files like this, or commands run in a folder like this.")
@click.option("--branch", metavar="GLOB", help="Branches like this.")
@click.option("--days", type=click.IntRange(0, _MAX_DAYS), help="For how many days after today.  [default: 1]")
@click.option("--until", type=click.DateTime(["%Y-%m-%d"]), metavar="YYYY-MM-DD", help="The last day instead.")
@click.option("--reason", metavar="TEXT", help="For those who read it later.")
def allow_command(
    rule: str,
    *,
    command_glob: str | None,
    path_glob: str | None,
    branch: str | None,
    days: int | None,
    until: Any,
    reason: str | None,
) -> None:
    """Let through what breaks RULE (or a family), for some commands, files or branches, and for some days.

    It is written to your own agent-hooks.toml, where it can be changed and removed. Only a person can type this: it
    asks in a terminal, and refuses where a coding agent runs it.

    \b
    agent-hooks allow git-push-force --branch 'feature/*' --days 7 --reason 'rebasing before review'
    """  # noqa: D301 - the character that click takes for `as it is`
    globs = {"command": command_glob, "path": path_glob, "branch": branch}
    if not any(globs.values()):
        raise click.UsageError("Say for what: --command, --path or --branch, or several of them, which must all hold.")
    for key, glob in globs.items():
        if glob and is_too_wide(key, glob):
            raise click.UsageError(f"--{key} {glob!r} is nearly everything: name what it is about.")
    known = known_names() | {own["id"] for each in _files() for own in each.tables.get("rules", ())}
    if other := next((row for row in guard_rows() if row.id == rule), None):
        raise click.UsageError(f"{rule!r} is no rule about commands: {other.hint}.")
    _check_name("rule or family", rule, known)
    facts = {"rule": rule, **globs, "until": _last_day(days, until), "reason": reason}
    text = as_table({key: value for key, value in facts.items() if value})
    path = own_file()
    refuse_agents(SettingsError)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise SettingsError(
            "Only a person lets something through, in a terminal. Nothing was written. To do it by hand, add to "
            f"{path}:\n\n{text}"
        )
    click.echo(f"This is added to {visible(path)}:\n\n{text}")
    if not click.confirm("Shall agents be let through there?", default=False):
        click.echo("Nothing was written.")
        sys.exit(1)
    append(path, text)
    click.echo("Written.")


def _last_day(days: int | None, until: Any) -> date:
    today = date.today()  # noqa: DTZ011 - the person's own day
    if until is None:
        return today + timedelta(days=1 if days is None else days)
    last: date = until.date()
    if days is not None:
        raise click.UsageError("Give --days or --until, not both.")
    if not today <= last <= today + timedelta(days=_MAX_DAYS):
        raise click.UsageError(f"--until must be a day from today on, and at most {_MAX_DAYS} days away.")
    return last
