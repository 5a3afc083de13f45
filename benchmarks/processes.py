"""What a short-lived process costs, against ``python -c pass``: imports, and ``agent-hooks run`` for one event.

Processes run in an empty folder with a home of their own, so that nobody's settings or hooks are measured.
"""

from __future__ import annotations

import compileall
import json
import os
import subprocess
import sys
from functools import partial
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from time import perf_counter, sleep
from typing import TYPE_CHECKING

from measure import Row

if TYPE_CHECKING:
    from collections.abc import Callable

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
# As hosts are to call it: Python as it starts fastest, with the module that finds the rest.
LAUNCHER = ("-I", "-S")
RUN = ("run", "--agent", "claude-code")
# Until then, a file that was written may change without a trace, so no plan is made of it.
SETTLED_SECONDS = 2.1
PROMPT = {"hook_event_name": "UserPromptSubmit", "prompt": "hello"}
ALLOWED = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "npm test"}}
READ = {"hook_event_name": "PreToolUse", "tool_name": "Read", "tool_input": {"file_path": "notes.txt"}}
DENIED = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "rm -rf ~"}}
RULED = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "rm -rf build"}}
# A settings file of the user.
RULE = """
[[guards.arguments]]
field = "command"
pattern = "rm -rf build"
"""
# The event, a part of the answer, and the user's settings.
EVENTS = {
    "nothing matches": (PROMPT, "", ""),
    "a file is read": (READ, "", ""),
    "guards allow": (ALLOWED, "", ""),
    "guards deny": (DENIED, "rm -rf", ""),
    "rule denies": (RULED, "rm -rf build", RULE),
}

# Other guards that are commands of Claude Code, by the name of their program; they are asked about the denied command.
PEERS = {"nah": ("_claude-hook",), "cc-safety-net": ("hook", "--claude-code")}

ROWS = [
    Row("import agent_hooks", PASS, ("import agent_hooks",), PASS, 1.1),
    Row("import words, markers, plan and dispatch", PASS, ("import words, markers, plan and dispatch",), PASS, 1.5),
    Row("import agent_hooks with the engine", PASS, ("import the engine",), PASS, 3.5),
    Row("agent-hooks run, nothing matches", PASS, ("nothing matches",), PASS, 1.2),
    Row("agent-hooks run, the guards allow a command", PASS, ("guards allow",), PASS, 3.5),
    Row("agent-hooks run, the guards deny one", PASS, ("guards deny",), PASS, 3.5),
    Row("agent-hooks run, a rule of the user's file denies one", PASS, ("rule denies",), PASS, 4.0),
    *(Row(f"    {peer} decides about it", PASS, (peer,), PASS, None) for peer in PEERS),
]


def sides(folder: Path) -> tuple[dict[str, Batch], dict[str, str]]:
    """Return the sides of ``ROWS`` by name, and of those that cannot run here, why. ``folder`` is empty and theirs."""
    for path in find_spec("agent_hooks").submodule_search_locations:
        compileall.compile_dir(path, quiet=2)
    environment = environment_in(folder)
    # sys.executable is the interpreter itself: a version manager's `python` would be a shell script around it.
    found = {name: _process([sys.executable, "-c", code], folder, environment) for name, code in PYTHON.items()}
    found[BARE] = _process([sys.executable, *LAUNCHER, "-c", "pass"], folder, environment)
    missing: dict[str, str] = {}
    settled: list[Callable[[], None]] = []
    for name, (event, answer, settings) in EVENTS.items():
        project, home = folder / name, folder / f"home of {name}"
        project.mkdir()
        home.mkdir()
        if not _exists(COMMAND_MODULE):
            missing[name] = f"{COMMAND_MODULE} is not there"
            continue
        if event is not PROMPT and not is_installed(GUARDS):
            missing[name] = f"{GUARDS} is not installed"
            continue
        if settings:
            (home / "agent-hooks.toml").write_text(settings, encoding="utf-8")
        own = {**environment, "AGENT_HOOKS_CONFIG_DIR": str(home)}
        launcher = [sys.executable, *LAUNCHER, find_spec(COMMAND_MODULE).origin, *RUN]
        try:
            found[name] = batch = _process(launcher, project, own, _payload(project, event), answer)
        except RuntimeError as error:
            missing[name] = str(error)
        else:
            settled.append(partial(batch, 1))
    sleep(SETTLED_SECONDS)
    for keep_plan in settled:
        keep_plan()
    for peer, arguments in PEERS.items():
        program = which(peer)
        try:
            if program is None:
                raise RuntimeError(f"{peer} is not installed")
            found[peer] = _process(
                [program, *arguments], folder, environment, _payload(folder, DENIED), "permissionDecision"
            )
        except RuntimeError as error:
            missing[peer] = str(error)
    return found, missing


def _payload(folder: Path, event: dict[str, object]) -> str:
    return json.dumps({"session_id": "session-1", "transcript_path": "", "cwd": str(folder), **event})


def stages(seconds: dict[str, float]) -> list[tuple[str, float]]:
    """Return where the time of a command that the guards allow goes, in seconds: what each kind of call adds."""
    calls = [BARE, *(name for name in ("nothing matches", "a file is read", "guards allow") if name in seconds)]
    names = ("the interpreter", "launcher, payload and plan", "engine, gate and the hooks' process", "the guards")
    before = [0.0, *(seconds[call] for call in calls)]
    return [(name, seconds[call] - less) for name, call, less in zip(names, calls, before, strict=False)]


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
