"""The commands for people. They need the extra ``cli``: click parses the command line, rich prints."""

from __future__ import annotations

import os
import sys
from functools import cached_property

import click
import rich  # noqa: F401 - a missing one is reported before any command starts

from agent_hooks.errors import AgentHooksError, TrustError
from agent_hooks.system.folders import use_account
from agent_hooks.system.sites import restrict
from agent_hooks.trust.project_files import is_marked, project_root
from agent_hooks.wire import HOSTS
from agent_hooks_launcher import refuse

from .wiring.hosts import WIRINGS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# The package's own attribute, not its installed metadata: there may be none, or another distribution's.
VERSION = sys.modules["agent_hooks"].__version__

as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON instead.")


with_modules = click.option(
    "-p", "modules", multiple=True, metavar="MODULE", help="Load this module of the environment, too; may be repeated."
)


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands, those of installed plugins last."""
        own = super().list_commands(ctx)
        return own + sorted(name for name in self._further if name not in own)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command by its name. Our own take precedence over plugins'."""
        return super().get_command(ctx, cmd_name) or self._further.get(cmd_name)

    @cached_property
    def _further(self) -> dict[str, click.Command]:
        from .extensions import plugin_commands

        return plugin_commands()

    def main(self, *args: Any, **options: Any) -> Any:
        """Run the command line, with the settings and the plugins that count for `run`."""
        use_account()
        restrict(filter(is_marked, [project_root(os.getcwd())]))
        return super().main(*args, **options)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Return the command and its arguments. A misspelt ``run`` of a host is answered as its event needs it: at a
        stop, the exit code of a wrong usage would mean another round.
        """
        if self.get_command(ctx, args[0]) is None and any(word.partition("=")[0] == "--agent" for word in args):
            refuse(["run", *args[1:]], f"agent-hooks has no command {args[0]!r}; a host calls `agent-hooks run`.")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command. Its errors are for people."""
        try:
            return super().invoke(ctx)
        except AgentHooksError as error:
            raise click.ClickException(str(error)) from error


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(VERSION, prog_name="agent-hooks")
def commands() -> None:
    """Hooks for AI agents: a rule is written once and holds wherever an agent runs."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


@commands.command("run", context_settings={"ignore_unknown_options": True, "help_option_names": []})
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def run_command(arguments: tuple[str, ...]) -> None:
    """Answer one event of a coding agent: the command for its hook settings."""
    from .run import run
    from .start import start

    run(list(arguments), start(list(arguments)))


@commands.command("serve", context_settings={"ignore_unknown_options": True, "help_option_names": []})
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def serve_command(arguments: tuple[str, ...]) -> None:
    """Answer the events of coding agents in a process that stays, which saves time."""
    from .serve import command

    command(list(arguments))


@commands.command("demo")
@click.option("--recorded", is_flag=True, help="Play a recorded session of a coding agent instead.")
@with_modules
@as_json
@click.option(
    "--speed",
    type=click.FloatRange(min=0),
    help="Events per second; 0 shows all at once.  [default: 4 in a terminal, else 0]",
)
def demo_command(*, recorded: bool, as_json: bool, speed: float | None, modules: tuple[str, ...]) -> None:
    """Run an agent, offline and in a temporary folder, and show what hooks make of it."""
    pace = speed if speed is not None else 4.0 if sys.stdout.isatty() and not as_json else 0.0
    from .demo.play import play_agent, play_recorded

    (play_recorded if recorded else play_agent)(as_json=as_json, pace=pace, modules=modules)


@commands.command("plugins")
@with_modules
@click.option("--settings", "of_settings", is_flag=True, help="List the settings that hold here, and their places.")
@as_json
def plugins_command(*, modules: tuple[str, ...], of_settings: bool, as_json: bool) -> None:
    """List the installed plugins and their hooks. Exits 1 if a plugin is broken."""
    from .listings import show_plugins, show_settings

    sys.exit((show_settings if of_settings else show_plugins)(modules=modules, as_json=as_json))


@commands.command("events")
@as_json
def events_command(*, as_json: bool) -> None:
    """List the events and what a hook may decide on each."""
    from .listings import show_events

    show_events(as_json=as_json)


@commands.command("check")
@click.argument("event", required=False)
@click.option("--tool", default="", help="The tool that is called, by the agent's name for it, such as Bash.")
@click.option(
    "--arg",
    "arguments",
    multiple=True,
    metavar="NAME=VALUE",
    help="An argument of the tool; may be repeated. The value is read as JSON if it is JSON, except for commands, "
    "paths, texts and addresses.",
)
@click.option("--prompt", help="The prompt that is sent.")
@click.option("--cwd", default=os.getcwd, metavar="DIR", help="Where it happens.  [default: here]")
@click.option(
    "--agent", default="claude-code", show_default=True, type=click.Choice([*HOSTS]), help="Whose names these are."
)
@click.option("--cases", metavar="FILE", help="Compare the decisions with the expected ones in this table, instead.")
@with_modules
@as_json
def check_command(*, event: str | None, cases: str | None, **options: Any) -> None:
    """Show what the installed hooks would decide about EVENT.

    The tool call is not executed. Hooks, including command and HTTP hooks, do run.

    Exits 0 if it may go ahead, 1 if it is refused or asked about, 2 for a wrong usage. With --cases, exits 1 if a
    decision is another one than FILE expects.

    \b
    agent-hooks check before_tool_use --tool Bash --arg command='git push --force'
    """  # noqa: D301 - the character that click takes for `as it is`
    about = {name: options.pop(name) for name in ("tool", "arguments", "prompt")}
    if (event is None) == (cases is None) or (cases is not None and any(about.values())):
        raise click.UsageError("Name an EVENT with its options, or a file with --cases, which has them for each case.")
    try:
        if cases is not None:
            from .cases import show_cases

            code = show_cases(cases, **options)
        else:
            from .check import show_check

            code = show_check(event or "", **about, **options)
    except TrustError:
        raise
    except AgentHooksError as error:
        raise click.UsageError(str(error)) from error
    sys.exit(code)


@commands.command("init")
@click.option("--deny", "denied", multiple=True, metavar="COMMAND", help="Deny this, for example 'git push --force'.")
@click.option("--reason", default="", metavar="TEXT", help="What an agent is told that tries it.")
@click.option("--python", is_flag=True, help="Write a hookconf.py in place of an agent-hooks.toml.")
@click.option("--user", is_flag=True, help="Write it for every agent of yours, in place of the project here.")
def init_command(*, denied: tuple[str, ...], reason: str, python: bool, user: bool) -> None:
    """Write a rule that denies a command, and cases that show it.

    Without --deny the rule denies git push. With it, the rule is added to the agent-hooks.toml that is there. Where
    agent-hooks-guards is not installed, the rule is a hookconf.py.

    \b
    agent-hooks init
    agent-hooks init --deny 'terraform apply' --reason 'Open a change; a person applies it.'
    """  # noqa: D301 - the character that click takes for `as it is`
    from .init import write_rules

    sys.exit(write_rules(denied, reason, python=python, user=user))


@commands.group("new")
def new_group() -> None:
    """Write the files that something begins with."""


@new_group.command("plugin")
@click.argument("name")
@click.option(
    "--with", "parts", multiple=True, metavar="PART,...", help="What it has beside a hook: settings, command, handler."
)
def new_plugin_command(*, name: str, parts: tuple[str, ...]) -> None:
    """Write a plugin into the new folder NAME.

    It has one rule, its tests and its metadata, and can be built as it is.

    --with settings adds a table of settings, command a command of agent-hooks, handler a type of handlers for
    configuration files.
    """
    from .new import PARTS, make_plugin

    chosen = [part for text in parts for part in text.replace(",", " ").split()]
    if unknown := [part for part in chosen if part not in PARTS]:
        raise click.UsageError(f"--with knows no {unknown[0]!r}: it takes {', '.join(PARTS)}.")
    sys.exit(make_plugin(name, parts=set(chosen), commands=commands.commands))


@commands.command("trust")
@click.argument("path", default=".", type=click.Path(exists=True, file_okay=False))
@click.option("--show", is_flag=True, help="Only show what would run.")
@click.option("--diff", is_flag=True, help="Only show what changed since it was trusted.")
@click.option("--digest", metavar="sha256:...", help="Trust it without a question, if this is its digest.")
@as_json
def trust_command(*, path: str, show: bool, diff: bool, digest: str | None, as_json: bool) -> None:
    """Look at the hooks of the project at PATH, and let them run.

    Covered are its settings files, hookconf.py, skills, and the scripts that they name. A change of any of them ends
    the trust. Without a terminal nothing is asked and nothing is trusted, unless --digest names what to trust.
    """
    from .trust_commands import show_trust

    if digest is not None and (show or diff):
        raise click.UsageError("--digest trusts, and --show and --diff only look: give one of them.")
    sys.exit(show_trust(path, show=show, diff=diff, digest=digest, as_json=as_json))


@commands.command("untrust")
@click.argument("path", default=".", type=click.Path(file_okay=False))
def untrust_command(*, path: str) -> None:
    """Let the hooks of the project at PATH not run any more."""
    from .trust_commands import end_trust

    sys.exit(end_trust(path))


def _names(hosts: tuple[str, ...], *, every: bool) -> list[str]:
    """Return the hosts that are meant, all that are here for ``--all``."""
    from .wiring.commands import found_hosts

    if every == bool(hosts):
        here = ", ".join(found_hosts())
        raise click.UsageError(f"Name hosts, or give --all.{here and ' Found here: '}{here}")
    found = list(hosts) or found_hosts()
    if not found:
        raise click.ClickException(f"No coding agent was found here. Name one of {', '.join(WIRINGS)}.")
    return found


hosts_argument = click.argument("hosts", nargs=-1, metavar="HOST...", type=click.Choice([*WIRINGS]))
for_all = click.option("--all", "every", is_flag=True, help="Every coding agent that is found here.")
for_project = click.option(
    "--project/--user", default=False, help="In the settings of the project here, or in your own.  [default: --user]"
)
only_shows = click.option("--dry-run", is_flag=True, help="Only show what would change.")


@commands.command("install")
@hosts_argument
@for_all
@for_project
@click.option(
    "--events", multiple=True, metavar="NAME,...", help="These events alone, in place of those that hooks need."
)
@click.option("--trust", is_flag=True, help="Let Codex trust the command lines without asking you.")
@only_shows
def install_command(
    *, hosts: tuple[str, ...], every: bool, project: bool, events: tuple[str, ...], trust: bool, dry_run: bool
) -> None:
    """Let coding agents ask the installed hooks: claude-code, codex, gemini, qwen, copilot, vscode, cursor, opencode.

    Their settings files get one entry for each event that a hook listens to; all else in them stays as it is. Type it
    again when plugins have changed.
    """
    from .wiring.commands import install

    if trust and "codex" not in hosts and not every:
        raise click.UsageError("--trust is for Codex, which no HOST is.")
    chosen = [name for part in events for name in part.replace(",", " ").split()]
    sys.exit(install(_names(hosts, every=every), project=project, events=chosen, trust=trust, dry_run=dry_run))


@commands.command("uninstall")
@hosts_argument
@for_all
@for_project
@only_shows
def uninstall_command(*, hosts: tuple[str, ...], every: bool, project: bool, dry_run: bool) -> None:
    """Undo `install`: the files are as they were before, or lack our entries alone if they were changed since."""
    from .wiring.commands import uninstall

    sys.exit(uninstall(_names(hosts, every=every), project=project, dry_run=dry_run))


@commands.command("status")
@as_json
def status_command(*, as_json: bool) -> None:
    """Show which coding agents ask the hooks, and at which events. Exits 1 if `install` has something to mend."""
    from .wiring.commands import status

    sys.exit(status(as_json=as_json))


@commands.command("doctor")
@click.argument("targets", nargs=-1, metavar="[HOST]... [PATH]")
@click.option("--fire", is_flag=True, help="Run the gates of the hosts with faults, and show what the hosts do.")
@click.option("--ci", is_flag=True, help="Check the files of the project alone, without a trust. Nothing is run.")
@click.option("--format", "form", type=click.Choice(["text", "github"]), help="With --ci: annotate lines on GitHub.")
@with_modules
@as_json
def doctor_command(
    *, targets: tuple[str, ...], fire: bool, ci: bool, form: str | None, modules: tuple[str, ...], as_json: bool
) -> None:
    """Show what is wrong with the hooks that hold at PATH, with file, line and remedy.

    With a HOST, also whether that coding agent asks the hooks, and how long that takes: its command lines are run on an
    event without danger. --fire runs them with a hook that denies, crashes, hangs, prints garbage or ends the process,
    and without their program; without a HOST, those of all that are wired. Exits 1 if anything is wrong.

    --ci is for repositories and pull requests: nothing is run or imported, hookconf.py is checked by its syntax tree,
    and only a hook that could not be honoured exits 1.
    """
    paths = [target for target in targets if target not in WIRINGS]
    if len(paths) > 1 or not all(map(os.path.isdir, paths)):
        raise click.UsageError(f"{paths[-1]!r} is no folder, or a second one, and no HOST: {', '.join(WIRINGS)}.")
    hosts = [name for name in dict.fromkeys(targets) if name in WIRINGS]
    folder = paths[0] if paths else "."
    if ci:
        if hosts or fire or modules or (form and as_json):
            raise click.UsageError("--ci runs nothing: give it a PATH alone, and --format or --json.")
        from .doctor_ci import show_ci

        sys.exit(show_ci(folder, form=form or "text", as_json=as_json))
    if form:
        raise click.UsageError("--format is for --ci.")
    from .doctor import show_doctor

    sys.exit(show_doctor(folder, hosts=hosts, fire=fire, modules=modules, as_json=as_json))


@commands.command("schema")
def schema_command() -> None:
    """Print the JSON Schema of agent-hooks.toml, which editors complete and check by."""
    from .listings import show_schema

    show_schema()
