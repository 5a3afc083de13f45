"""What a tool call of a real session costs more with hooks: milliseconds per call, beside `true` as the hook.

    python benchmarks/felt.py CLIENTS ENVIRONMENT [ROUNDS]

CLIENTS is the folder that keeps the clients, as AGENT_HOOKS_E2E_CLIENTS; ENVIRONMENT is a virtual environment with the
wheels of the core and the guards. A session is 20 calls; its time is that between the first and the last request of the
agent at a stand-in for its model, so that starting the client does not count. The rounds are interleaved, the least of
each counts.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from e2e.clients import CLIENTS, installed  # noqa: E402 - below tests/
from e2e.session import Session  # noqa: E402 - below tests/

CALLS = 20
HOOKS = ("none", "true", "agent-hooks")


def replace(value: object) -> object:
    """The hooks of a file with `true` as each command."""
    if isinstance(value, dict):
        return {key: "true" if key == "command" else replace(each) for key, each in value.items()}
    return [replace(each) for each in value] if isinstance(value, list) else value


def prepare(name: str, hook: str, clients: Path, environment: Path) -> Session:
    """A home with the client, wired with that hook."""
    client = CLIENTS[name]
    program, why = installed(client, clients / name)
    if program is None:
        sys.exit(why)
    if name == "codex":  # its trust is for one command line
        client = client._replace(argv=(*client.argv, "--dangerously-bypass-hook-trust"))
    session = Session(client, program, environment, Path(tempfile.mkdtemp(prefix=f"felt-{name}-{hook}-")))
    file = session.home / (".codex/hooks.json" if name == "codex" else ".claude/settings.json")
    if hook == "none":
        file.unlink()
    elif hook == "true":
        file.write_text(json.dumps(replace(json.loads(file.read_text()))))
    return session


def measure(session: Session) -> float:
    """Milliseconds from one request of a session to the next."""
    times: list[float] = []
    note = dict.fromkeys(range(CALLS), lambda: times.append(time.perf_counter()))
    session.ask([": none; echo > ran"] * CALLS, before=note)
    if len(times) != CALLS or not session.ran("ran"):
        sys.exit(f"{session.client.name}: {len(times)} calls\n{session.said}")
    return (times[-1] - times[0]) * 1000 / (CALLS - 1)


def main() -> None:
    clients, environment = map(Path, sys.argv[1:3])
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    print(f"{'milliseconds per call':24}{'none':>10}{'true':>10}{'agent-hooks':>14}{'more than true':>17}")
    for name in ("claude", "codex"):
        sessions = {hook: prepare(name, hook, clients, environment) for hook in HOOKS}
        taken: dict[str, list[float]] = {hook: [] for hook in HOOKS}
        for _ in range(rounds):
            for hook, session in sessions.items():
                taken[hook].append(measure(session))
        none, true, ours = (min(taken[hook]) for hook in HOOKS)
        print(f"{name:24}{none:10.1f}{true:10.1f}{ours:14.1f}{ours - true:17.1f}")


if __name__ == "__main__":
    main()
