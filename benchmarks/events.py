"""What an event of a coding agent costs as ``install`` wires it, against ``python -c pass``: CPU time of all processes.

With the warm process (``agent-hooks serve``), its own time and that of its children counts, too; and without it. Each
event has a home and an environment of its own. Linux only, which tells what processes have cost that end alone.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import subprocess
import sys
from functools import partial
from pathlib import Path
from shutil import which
from time import monotonic, sleep
from typing import TYPE_CHECKING

from measure import Row
from processes import GUARDS, is_installed

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from commands import Command
from projects import Project

if TYPE_CHECKING:
    from collections.abc import Callable

    from measure import Batch

    from warm import Warm

PASS_CPU = "python -c pass, CPU"
PROMPT = {"hook_event_name": "UserPromptSubmit", "prompt": "hello"}
ALLOWED = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "npm test"}}
DENIED = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "rm -rf ~"}}
SCALARS = "[guards]\nmax_steps = 100\n[guards.shell]\nlevel = 'strict'\n"
TABLES = f"""{SCALARS}[[guards.arguments]]
field = "command"
pattern = "rm -rf build"
[[hooks.before_tool_use]]
matcher = "WebFetch"
hooks = [{{ type = "command", command = ["false"] }}]
"""
CONF = """
from agent_hooks import HookOutcome, hookimpl

@hookimpl(match="shell")
def before_tool_use(tool_call):
    if "deploy" in tool_call.command:
        return HookOutcome.deny("not from here")
"""
CODE = "import json, logging\nRULES = json.loads('[\"deploy\"]')\nlogging.getLogger(__name__)\n"
PLUGIN = CODE + CONF.partition("hookimpl\n")[2]
# The event; what the answer says; the user's settings, a file of the project, a plugin; how much the cold way may cost.
EVENTS: dict[str, tuple[dict[str, object], str, dict[str, str], float]] = {
    "the guards allow a command": (ALLOWED, "", {}, 7.0),
    "the guards deny one": (DENIED, "rm -rf", {}, 7.0),
    "nobody listens": (PROMPT, "", {}, 7.0),
    "with scalar settings of the guards": (DENIED, "rm -rf", {"settings": SCALARS}, 9.0),
    "with tables of the guards and hooks of the user": (DENIED, "rm -rf", {"settings": TABLES}, 18.0),
    "with a trusted hookconf.py": (DENIED, "rm -rf", {"conf": CONF}, 7.0),
    "with a plugin that has code at import": (DENIED, "rm -rf", {"plugin": PLUGIN}, 7.0),
}
# Other guards that are commands of Claude Code, by the name of their program.
PEERS = {"nah": ("_claude-hook",), "cc-safety-net": ("hook", "--claude-code")}
TYPED = "as a person types it, the guards deny"
ROWS = [
    *(Row(f"agent-hooks run, {name}", PASS_CPU, (f"warm, {name}",), PASS_CPU, 3.5) for name in EVENTS),
    *(
        Row(f"    without the warm process, {name}", PASS_CPU, (f"cold, {name}",), PASS_CPU, budget)
        for name, (*_, budget) in EVENTS.items()
    ),
    Row(f"    {TYPED}", PASS_CPU, (TYPED,), PASS_CPU, None),
    *(Row(f"    against {peer}", peer, ("warm, the guards deny one",), peer, 0.6) for peer in PEERS),
]


def sides(folder: Path) -> tuple[dict[str, Batch], dict[str, str], Callable[[], None]]:
    """Return the sides of ``ROWS`` by name, those that cannot run here with the reason, and what ends them."""
    names = [name for row in ROWS for name in (*row.ours, row.theirs)]
    if sys.platform != "linux":
        return {}, dict.fromkeys(names, "it is not Linux"), lambda: None
    if not is_installed(GUARDS):
        return {}, dict.fromkeys(names, f"{GUARDS} is not installed"), lambda: None
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # whoever loses the parent becomes a child of this process
    found: dict[str, Batch] = {PASS_CPU: _batch([sys.executable, "-c", "pass"], folder, dict(os.environ), b"", None)}
    missing: dict[str, str] = {}
    warm: list[Warm] = []
    for number, (name, (event, answer, given, _)) in enumerate(EVENTS.items()):
        command = Command(folder / str(number), wired=True, plugins=True)
        project = Project(command.folder)
        if "settings" in given:
            command.configure(given["settings"])
        if "plugin" in given:
            command.install(given["plugin"])
        if "conf" in given:
            command.trust(project.write({"hookconf.py": given["conf"]}))
        payload = json.dumps({"session_id": "s", "transcript_path": "", "cwd": str(project.root), **event}).encode()
        run = partial(command.arguments, "run", "--agent", "claude-code", "--event", str(event["hook_event_name"]))
        ask = partial(_batch, folder=project.root, environment=command.environment, payload=payload, answer=answer)
        warm.append(command.serve())
        found[f"warm, {name}"] = ask(run(), warm=warm[-1])
        found[f"cold, {name}"] = ask(run("--no-serve"), warm=None)
        if name == "the guards deny one":
            typed = [sys.executable, "-m", "agent_hooks_core", *run()[4:]]
            found[TYPED] = ask(typed, warm=None)
            for peer, arguments in PEERS.items():
                if (program := which(peer)) is None:
                    missing[peer] = f"{peer} is not installed"
                else:
                    found[peer] = ask([program, *arguments], answer="permissionDecision", warm=None)

    def stop() -> None:
        for each in warm:
            each.end()

    return found, missing, stop


def _batch(
    words: list[str], folder: Path, environment: dict[str, str], payload: bytes, warm: Warm | None, answer: str = ""
) -> Batch:
    """Return the side that starts this process. Raises ``RuntimeError`` if it does not give the answer it should."""
    environment = {name: value for name, value in environment.items() if name != "PYTHONDONTWRITEBYTECODE"}

    def start() -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(words, cwd=folder, env=environment, input=payload, capture_output=True, check=False)

    for _ in range(2):  # the first one writes byte code
        done = start()
        said = (done.stdout + done.stderr).decode()
        if done.returncode not in (0, 2) or answer not in said:
            raise RuntimeError(f"exit code {done.returncode}: {said}")

    def batch(times: int) -> float:
        _reap()
        before = _spent(warm)
        for _ in range(times):
            start()
            _reap()
        return _spent(warm) - before

    return batch


def _reap() -> None:
    """Wait for the processes that an event has left behind."""
    until, quiet = monotonic() + 5.0, 0
    while monotonic() < until and quiet < 3:  # a process that has just lost its parent may not be listed yet
        left = [pid for pid in _children() if not Path(f"/proc/{pid}/cmdline").read_bytes().endswith(b"serve\0")]
        for pid in left:
            os.waitpid(pid, os.WNOHANG)
        quiet = 0 if left else quiet + 1
        sleep(0.001)


def _children() -> list[int]:
    return [int(pid) for pid in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()]


def _spent(warm: Warm | None) -> float:
    """Return the seconds of CPU time of the children that have ended, and of a warm process with its own."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = ended.ru_utime + ended.ru_stime
    if warm is not None:
        fields = Path(f"/proc/{warm.process.pid}/stat").read_text().rpartition(") ")[2].split()
        spent += sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    return spent
