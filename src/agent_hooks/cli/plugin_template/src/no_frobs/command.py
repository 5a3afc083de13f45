"""The command ``agent-hooks no-frobs``."""

# without settings
import click

from . import PROGRAMS
# end
# with settings
import os

import click
from agent_hooks import HookContext, load, plugin_settings

from . import PROGRAMS
from .settings import Settings
# end


@click.command()
def show_programs() -> None:
    """List the programs that agents do not run."""
    # without settings
    click.echo("\n".join(sorted(PROGRAMS)))
    # end
    # with settings
    load()  # with the files of the project here, if it is trusted
    here = HookContext("before_tool_use", cwd=os.getcwd())
    programs = PROGRAMS | plugin_settings(Settings, here).programs
    click.echo("\n".join(sorted(programs)))
    # end
