"""Sessions that send events at the same time: ``python benchmarks/load.py [SESSIONS EVENTS]``.

Each session sends its events one after the other, through ``agent-hooks run``: cold, and answered by the warm
process. Every third command is one that the house rule denies. Printed are the events per second, the times until the
answers, and how many of them were wrong, which makes the exit code 1. The client is a whole process for each event.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import perf_counter

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from commands import Command  # noqa: E402 - its folder is put on the path above

RULE = """
@hookimpl(match="shell")
def before_tool_use(tool_call):
    if "forbidden" in tool_call.command:
        return HookOutcome.deny(f"not here: {tool_call.command}")
"""


def send(command: Command, sessions: int, events: int) -> tuple[list[str], list[float]]:
    """Send the events of all sessions, and return what was wrong, and the seconds until each answer."""
    wrong: list[str] = []
    seconds: list[float] = []

    def work(session: int) -> None:
        folder = command.folder / f"session {session}"
        folder.mkdir(exist_ok=True)
        for number in range(events):
            text = f"{'forbidden' if number % 3 == 0 else 'make'} {session} {number}"
            payload = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": text}}
            payload |= {"session_id": f"s{session}", "transcript_path": "", "cwd": str(folder)}
            begun = perf_counter()
            done = command("run", "--agent", "claude-code", stdin=json.dumps(payload), cwd=folder, seconds=600)
            seconds.append(perf_counter() - begun)
            expected = (2, f"not here: {text}") if number % 3 == 0 else (0, "")
            if (done.exit_code, done.why) != expected:
                wrong.append(f"{text}: {done}")

    with ThreadPoolExecutor(sessions) as pool:
        list(pool.map(work, range(sessions)))
    return wrong, seconds


def main(sessions: int = 8, events: int = 200) -> int:
    """Send them both ways and print what came of it; return the exit code."""
    is_wrong = False
    for way in ("cold", "warm"):
        with tempfile.TemporaryDirectory() as folder:
            command = Command(Path(folder), wired=True)
            command.install(RULE)
            running = command.serve() if way == "warm" else None
            begun = perf_counter()
            try:
                wrong, seconds = send(command, sessions, events)
                took = perf_counter() - begun
                counts = f"; answered by it {running.counts[0]}, declined {running.counts[1]}" if running else ""
            finally:
                if running is not None:
                    running.end()
            seconds.sort()
            p50, p99 = (1000 * seconds[len(seconds) * part // 100] for part in (50, 99))
            lost = sessions * events - len(seconds)
            print(f"{way}: {len(seconds) / took:.0f} events/s; wrong {len(wrong)}, lost {lost}{counts}")
            last = 1000 * seconds[-1]
            print(f"  half of the answers within {p50:.0f} ms, 99 % within {p99:.0f} ms, the last within {last:.0f} ms")
            for each in wrong[:3]:
                print(each)
            is_wrong |= bool(wrong or lost)
    return int(is_wrong)


if __name__ == "__main__":
    try:
        sys.exit(main(*map(int, sys.argv[1:])))
    except subprocess.TimeoutExpired as error:
        sys.exit(f"no answer in time: {error}")
