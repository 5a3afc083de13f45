"""Where the command ``agent-hooks`` begins: ``run`` goes straight to its work, the rest to the commands for people."""

from __future__ import annotations

import os
import sys

NEEDS_EXTRA = (
    "agent-hooks: this command needs {name}, which is not installed: pip install 'agent-hooks-core[cli]'. "
    "`agent-hooks run` works without it."
)


def main() -> None:
    """Run the command with the arguments of the process. Never returns; exits 2 for a wrong usage."""
    _leave_out_the_project()
    _open_what_is_closed()
    arguments = sys.argv[1:]
    if arguments[:1] == ["run"]:
        try:
            from .run import run
        except BaseException as error:  # noqa: BLE001 - told, with the exit code that refuses
            # Exit 1 would let through whatever the hooks were to judge.
            sys.stderr.write(f"agent-hooks: this installation cannot be used: {type(error).__name__}: {error}\n")
            sys.exit(2)
        run(arguments[1:])
    try:
        from .commands import commands
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("click", "rich"):
            raise
        sys.stderr.write(NEEDS_EXTRA.format(name=error.name) + "\n")
        sys.exit(2)
    commands(arguments, prog_name="agent-hooks")


def _open_what_is_closed() -> None:
    """Open the standard streams that are closed onto nothing: else the next file would get the number of one."""
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
    if sys.path[:1] in ([""], [here]):
        del sys.path[0]
