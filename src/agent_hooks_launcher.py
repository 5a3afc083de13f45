"""What the entry point does: load ``agent_hooks`` from beside this file, if it is ours, and run the command.

Else it refuses, in the words of ``agent_hooks_repair``. No other distribution has this module. It starts with every
event of a coding agent, so it imports nothing heavy; and nothing at all, ``__future__`` included, before the project is
left out of the path.
"""

import os
import sys

from agent_hooks_core import FOLDER, load, refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

PACKAGE = "agent_hooks"
# The line of `agent_hooks/__init__.py` that no other package of this name has.
MARKER = b'__distribution__ = "agent-hooks-core"'


def main() -> "NoReturn":
    """Run the command with the arguments of the process. Exits 2 if the installation cannot be used."""
    _leave_out_the_project()
    _open_closed_streams()
    arguments = sys.argv[1:]
    is_run = arguments[:1] == ["run"]
    begun = None
    if is_run:
        import gc

        # Imports make many objects and little garbage: with the default of 700, collecting takes 8 % of an event's CPU.
        gc.set_threshold(50_000)
    try:
        load_package()
        if is_run:
            from agent_hooks.cli.start import start

            begun = start(arguments[1:])
            from agent_hooks.cli.run import run
        else:
            if arguments[:1] == ["serve"]:
                from agent_hooks.cli.serve import command

                command(arguments[1:])
            from agent_hooks.cli.start import use_site

            use_site()
            from agent_hooks.cli.commands import commands
            from agent_hooks.cli.isolated import isolate

            isolate()
            commands(arguments, prog_name="agent-hooks")
    except BaseException as error:
        if not (is_run or isinstance(error, ImportError)):
            raise
        # A host lets everything through after a traceback.
        refuse([*arguments, *(begun.options() if begun is not None else ())], error)
    if begun is not None:
        run(arguments[1:], begun)
    sys.exit(0)


class ForeignPackageError(ImportError):
    """Raised when the package ``agent_hooks`` beside this file is not ours; the message has the repair commands."""


def refuse(arguments: list[str], problem: str | BaseException) -> "NoReturn":
    """Answer that no decision is possible, and end the process."""
    try:
        if sys.flags.no_site:  # the folders in which the distributions are
            import site

            site.main()
        load("agent_hooks_repair").refuse(arguments, problem)
    except Exception as error:  # noqa: BLE001 - not even that module is there
        os.write(2, f"agent-hooks: {problem} ({error}). Remedy: install agent-hooks-core again.\n".encode())
    os._exit(refusal(arguments))


def is_ours() -> bool:
    """Whether the package ``agent_hooks`` beside this file is that of agent-hooks-core."""
    try:
        # Not blocking: a pipe of this name must not block a gate until the host gives up.
        descriptor = os.open(os.path.join(FOLDER, PACKAGE, "__init__.py"), os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        try:
            return MARKER in os.read(descriptor, 1024 * 1024)
        finally:
            os.close(descriptor)
    except OSError:
        return False


def load_package() -> None:
    """Import ``agent_hooks`` from beside this file, wherever else the path leads. Raises ``ForeignPackageError``."""
    if not is_ours():
        raise ForeignPackageError(load("agent_hooks_repair").diagnosis())
    load(PACKAGE)


# -- the process -------------------------------------------------------------------------------------------------------


def _open_closed_streams() -> None:
    """Open closed standard streams on the null device: else the next file would get the number of one."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest that is free
    sys.stdin = sys.stdin or os.fdopen(0, closefd=False)
    sys.stdout = sys.stdout or os.fdopen(1, "w", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", closefd=False)


def _leave_out_the_project() -> None:
    """Import nothing from the current directory, which is on the path with ``python -m`` or ``-c``."""
    try:
        here = os.getcwd()
    except OSError:  # it is gone
        here = ""
    # As a script, this file's own folder comes first, and a second time among the others.
    is_own_folder = FOLDER in sys.path[:1] and FOLDER in sys.path[1:]
    if is_own_folder or sys.path[:1] in ([""], [here]):
        del sys.path[0]


# -- pytest ------------------------------------------------------------------------------------------------------------


def pytest_configure(config: "Any") -> None:
    """Register the pytest plugin of agent_hooks. Where the package is not ours, the run goes on with one warning."""
    try:
        load_package()
        from agent_hooks.testing import pytest_plugin
    except ImportError as error:
        message = f"agent_hooks: its pytest plugin is not loaded: {error}"
        try:
            config.issue_config_time_warning(UserWarning(message), stacklevel=2)
        except UserWarning:  # with `-W error`, the run continues too
            sys.stderr.write(f"{message}\n")
        return
    if not config.pluginmanager.is_registered(pytest_plugin):
        config.pluginmanager.register(pytest_plugin, "agent_hooks.testing")
