"""What imports cost a short-lived process, against ``python -c pass``.

Processes run in an empty folder with a home of their own, so that nobody's settings or hooks are measured.
"""

from __future__ import annotations

import compileall
import os
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from measure import Row

if TYPE_CHECKING:
    from measure import Batch

COMMAND_MODULE = "agent_hooks_core"
GUARDS = "agent-hooks-guards"
PASS = "python -c pass"

BARE = "python -I -S -c pass"
PYTHON = {
    PASS: "pass",
    "import agent_hooks": "import agent_hooks",
    "import the engine": "from agent_hooks import HookManager",
    "import words, markers, plan and dispatch": "from agent_hooks.engine import markers, plan, dispatch",
}
# As hosts are to call it: Python as it starts fastest.
LAUNCHER = ("-I", "-S")
ROWS = [
    Row("import agent_hooks", PASS, ("import agent_hooks",), PASS, 1.1),
    Row("import words, markers, plan and dispatch", PASS, ("import words, markers, plan and dispatch",), PASS, 1.5),
    Row("import agent_hooks with the engine", PASS, ("import the engine",), PASS, 3.5),
]


def sides(folder: Path) -> tuple[dict[str, Batch], dict[str, str]]:
    """Return the sides of ``ROWS`` by name, and of those that cannot run here, why. ``folder`` is empty and theirs."""
    for path in find_spec("agent_hooks").submodule_search_locations:
        compileall.compile_dir(path, quiet=2)
    environment = environment_in(folder)
    # sys.executable is the interpreter itself: a version manager's `python` would be a shell script around it.
    found = {name: _process([sys.executable, "-c", code], folder, environment) for name, code in PYTHON.items()}
    found[BARE] = _process([sys.executable, *LAUNCHER, "-c", "pass"], folder, environment)
    return found, {}


def _process(
    command: list[str], folder: Path, environment: dict[str, str], payload: str = "", answer: str = ""
) -> Batch:
    """Return the side that starts this process. Raises ``RuntimeError`` if it does not give the answer it should."""

    def start() -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            command, cwd=folder, env=environment, input=payload.encode(), capture_output=True, check=False
        )

    first = start()  # writes the byte code of what it imports, and whatever else is kept from run to run
    said = (first.stdout + first.stderr).decode().strip()
    # A host is told of a deny by JSON and exit code 0, or by exit code 2; either way it hears the reason.
    if first.returncode not in ((0, 2) if answer else (0,)) or answer not in said:
        raise RuntimeError(f"exit code {first.returncode}: {said.splitlines()[-1] if said else 'nothing was said'}")

    def batch(times: int) -> float:
        begun = perf_counter()
        for _ in range(times):
            start()
        return perf_counter() - begun

    return batch


def environment_in(folder: Path) -> dict[str, str]:
    """Return this environment with byte code switched on, an empty home, and a path that holds in every folder."""
    home = str(folder)
    environment = {**os.environ, "HOME": home, "USERPROFILE": home}
    for name in ("PYTHONDONTWRITEBYTECODE", "AGENT_HOOKS_DISABLE", "AGENT_HOOKS_STATE_DIR"):
        environment.pop(name, None)
    for name in [name for name in environment if name.startswith("XDG_")]:
        del environment[name]
    if "PYTHONPATH" in environment:
        entries = environment["PYTHONPATH"].split(os.pathsep)
        environment["PYTHONPATH"] = os.pathsep.join(str(Path(entry).resolve()) for entry in entries if entry)
    return environment


def _exists(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # not even its package
        return False


def is_installed(name: str) -> bool:
    try:
        return bool(distribution(name))
    except PackageNotFoundError:
        return False
