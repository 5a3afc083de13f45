"""The command ``agent-hooks no-frobs``."""

import click

from . import PROGRAMS


@click.command()
def show_programs() -> None:
    """List the programs that agents do not run."""
    for program in sorted(PROGRAMS):
        click.echo(program)
