"""What an event costs through the resident process (``agent-hooks serve``), against ``python -c pass``.

Counted is the CPU time of the resident process and its workers. The client is this process, which stays too: what a
process for each event costs besides is measured in ``processes``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, perf_counter
from typing import TYPE_CHECKING

from measure import Row
from processes import ALLOWED, DENIED, GUARDS, PASS, PROMPT, environment_in, is_installed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from measure import Batch

    from agent_hooks.cli.resident import Call

PASS_CPU = f"{PASS}, CPU"
LIMIT = "3 ms"
EVENTS = {"nothing matches": PROMPT, "guards allow": ALLOWED, "guards deny": DENIED}
_SIDES = {f"resident, {name}": event for name, event in EVENTS.items()}
_P99 = "resident, p99"
_FOR_P99 = 400
# The command, for an account whose home folder is the first argument.
_SERVE = """\
import pwd, sys
home = sys.argv[1]
pwd.getpwuid = lambda uid: pwd.struct_passwd(("user", "x", uid, uid, "", home, "/bin/sh"))
sys.argv[1:] = ["serve"]
from agent_hooks_core import main
main()
"""
ROWS = [
    *(Row(f"through the resident process, {name}", PASS_CPU, (f"resident, {name}",), PASS_CPU, 0.2) for name in EVENTS),
    Row("through the resident process, 99 of 100 answers", LIMIT, (_P99,), LIMIT, 1.0),
]


class Server:
    """A resident process in the empty ``folder``, and a client of it."""

    def __init__(self, folder: Path) -> None:
        self.home = str(folder)
        self._environment = environment_in(folder)
        self._process = subprocess.Popen(
            [sys.executable, "-c", _SERVE, self.home], env=self._environment, stderr=subprocess.PIPE, text=True
        )
        assert self._process.stderr is not None
        line = self._process.stderr.readline()
        if "serving" not in line:
            self._process.wait()
            raise RuntimeError(line.strip())

    def stop(self) -> None:
        """End the process."""
        self._process.terminate()
        self._process.communicate()

    @contextmanager
    def _as_its_client(self) -> Iterator[Callable[[str, bytes], object]]:
        """Have its account and environment, which a client shares with it."""
        import pwd

        from agent_hooks.cli import resident

        resident.TAKEN_SECONDS = 10.0  # a busy machine is measured as that, not passed over
        before, found, cwd = dict(os.environ), pwd.getpwuid, Path.cwd()
        pwd.getpwuid = lambda uid: pwd.struct_passwd(("user", "x", uid, uid, "", self.home, "/bin/sh"))
        os.environ.clear()
        os.environ.update(self._environment)
        os.chdir(self.home)
        try:
            yield lambda name, payload: _answer_of(
                resident.call(["--agent", "claude-code"], {"--agent": "claude-code"}, name, [payload], monotonic())
            )
        finally:
            pwd.getpwuid = found
            os.environ.clear()
            os.environ.update(before)
            os.chdir(cwd)

    def answer_times(self, event: dict[str, object], times: int) -> list[float]:
        """Return the seconds until each of so many answers. Raises ``RuntimeError`` if it gives none."""
        payload = json.dumps({"session_id": "s", "transcript_path": "", "cwd": self.home, **event}).encode()
        found = []
        with self._as_its_client() as ask:
            for _ in range(times):
                begun = perf_counter()
                if ask(event["hook_event_name"], payload) is None:
                    raise RuntimeError("the resident process does not answer")
                found.append(perf_counter() - begun)
        return found

    def cpu(self) -> dict[str, float]:
        """Return the seconds of CPU time that it and its workers have taken, by process id."""
        pid = str(self._process.pid)
        pids = (pid, *Path(f"/proc/{pid}/task/{pid}/children").read_text().split())
        return {each: int(Path(f"/proc/{each}/schedstat").read_text().split()[0]) / 1e9 for each in pids}


def _answer_of(call: Call | None) -> list[bytes] | None:
    return None if call is None else call.answer()


def sides(folder: Path) -> tuple[dict[str, Batch], dict[str, str], Callable[[], None]]:
    """Return the sides of ``ROWS``, those that cannot run here with the reason, and what ends them."""
    names = (*_SIDES, _P99)
    if not is_installed(GUARDS):
        return {}, dict.fromkeys(names, f"{GUARDS} is not installed"), lambda: None
    if not Path("/proc/self/schedstat").exists():
        return {}, dict.fromkeys(names, "Linux's account of processor time is not there"), lambda: None
    try:
        server = Server(folder)
    except RuntimeError as error:
        return {}, dict.fromkeys(names, str(error)), lambda: None
    for event in EVENTS.values():
        server.answer_times(event, 3)
    found = {name: _cpu(server, event) for name, event in _SIDES.items()}
    found[_P99] = lambda times: sorted(server.answer_times(ALLOWED, _FOR_P99))[_FOR_P99 * 99 // 100] * times
    found[PASS_CPU] = _cpu_of_pass(folder)
    found[LIMIT] = lambda times: 0.003 * times
    return found, {}, server.stop


def _cpu(server: Server, event: dict[str, object]) -> Batch:
    def batch(times: int) -> float:
        while True:
            before = server.cpu()
            server.answer_times(event, times)
            after = server.cpu()
            if before.keys() == after.keys():  # else a worker was replaced, and its time is gone
                return sum(after.values()) - sum(before.values())

    return batch


def _cpu_of_pass(folder: Path) -> Batch:
    import resource

    environment = environment_in(folder)

    def batch(times: int) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        for _ in range(times):
            subprocess.run([sys.executable, "-c", "pass"], cwd=folder, env=environment, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    return batch
