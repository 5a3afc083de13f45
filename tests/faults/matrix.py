"""Commands that misbehave, run as hooks: ``python tests/faults/matrix.py`` prints what the engine makes of each.

Each kind of command is a hook of our TOML, once on a gate and once on an event that is only watched, each with
``on_failure`` closed and open. It is really run, as any file's command is. The table goes to standard output; how long
past its time each answer came and how much memory this process needed at most goes to standard error. Exit code 1: a
closed gate let something pass, or something was left behind. Linux only: it looks into /proc.
"""

from __future__ import annotations

import fcntl
import gc
import logging
import os
import resource
import secrets
import signal
import sys
import tempfile
import threading
import tomllib
from contextlib import suppress
from hashlib import sha256
from itertools import product
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, NamedTuple
from unittest import mock

from agent_hooks.engine.manager import HookManager
from agent_hooks.formats.entry import HookEntry
from agent_hooks.handlers.registering import register_entries
from agent_hooks.model.context import HookContext
from agent_hooks.model.events import HookEvent
from agent_hooks.model.tool_call import ToolCall
from agent_hooks.model.values import FrozenDict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from agent_hooks.model.outcome import HookOutcome

LONG = 60.0  # seconds in which every command ends that ends at all
SHORT = 0.3  # for those that do not
LEAVING = 5.0  # seconds in which what was killed must be gone
MARK = "AGENT_HOOKS_FAULTS"  # in the environment of every command here, and of all that it starts
MB = 1024 * 1024

GATE, WATCHED = "before_tool_use", "session_end"
COLUMNS = tuple((event, on_failure) for event in (GATE, WATCHED) for on_failure in ("closed", "open"))
FAILED, DENIED, COUNTED, GOES_ON = "failure: denied", "denied", "failure: goes on", "goes on"

# What a kind of command gets in each column.
NO_ANSWER = (FAILED, COUNTED, COUNTED, COUNTED)  # it never ended as a hook should
NONSENSE = (FAILED, COUNTED, GOES_ON, GOES_ON)  # it ended well, and what it said is no answer; watching, it has no say
DENIES = (DENIED, DENIED, GOES_ON, GOES_ON)  # it answered all the same
CONSENTS = (GOES_ON, GOES_ON, GOES_ON, GOES_ON)
TAMPERED = (DENIED, DENIED, COUNTED, COUNTED)  # nobody trusted these bytes


class Fault(NamedTuple):
    """One kind of command.

    ``commands``: one or several, which all get the same; a text is for a shell, a list is a program. ``timeout`` in
    seconds. ``size``: bytes of the event it is told, at least. ``files``: what is in its directory before, each with
    its mode. ``is_trusted``: these files are trusted as they are. ``cwd``: where it runs, below its directory.
    """

    name: str
    expected: tuple[str, ...]
    commands: tuple[str | list[str], ...]
    timeout: float = LONG
    size: int = 0
    files: Mapping[str, tuple[str, int]] = FrozenDict()
    is_trusted: bool = False
    cwd: str = ""


class Row(NamedTuple):
    """What came of one kind: a word for each column, seconds past the timeout at most (None: it never ran into it),
    seconds of the slowest answer, bytes of memory at most, and what was left behind.
    """

    fault: Fault
    cells: tuple[str, ...]
    past_timeout: float | None
    slowest: float
    peak: int
    left: tuple[str, ...]

    @property
    def fails_open(self) -> bool:
        """Whether the closed gate let something pass that it had no consent for."""
        return self.fault.expected is not CONSENTS and GOES_ON in self.cells[0]


EXPECTED = {
    "fails": NO_ANSWER,
    "late": NO_ANSWER,
    "nonsense": NONSENSE,
    "denies": DENIES,
    "consents": CONSENTS,
    "tampered": TAMPERED,
}
# Read here: where this file is run as a script, tests/tables.py is not on its path.
TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
WORDS = {**TABLES["words"], "PYTHON": sys.executable, "LONG": "x" * 300_000}
SEVERAL = {
    "CODE": [str(code) for code in range(1, 256) if code != 2],
    "SIGNAL": "HUP INT QUIT ILL ABRT FPE USR1 PIPE TERM XCPU".split(),
}


def _fault(name: str, kind: str, commands: list[Any], options: Mapping[str, Any] = FrozenDict()) -> Fault:
    """Return the kind of command in a row of the table."""
    files = {file: (_filled(text), mode) for file, (text, mode) in options.get("files", {}).items()}
    timeout = SHORT if kind == "late" else LONG
    made = tuple(command for each in commands for command in _commands(each))
    return Fault(name, EXPECTED[kind], made, **{"timeout": timeout, **options, "files": FrozenDict(files)})


def _commands(given: Any) -> list[str | list[str]]:
    match given:
        case {"prints": text}:
            return [["printf", "%s", _filled(text)]]
        case {"python": program}:
            return [[sys.executable, "-S", "-c", _filled(program)]]
        case list():
            return [[_filled(each) for each in given]]
    for word, values in SEVERAL.items():
        if f"<{word}>" in given:
            return [_filled(given.replace(f"<{word}>", value)) for value in values]
    return [_filled(given)]


def _filled(text: str) -> str:
    for word, meant in WORDS.items():
        text = text.replace(f"<{word}>", meant)
    return text


FAULTS = tuple(_fault(*row) for row in TABLES["faults"])


# -- running them ------------------------------------------------------------------------------------------------------


def run_matrix(faults: Iterable[Fault] = FAULTS) -> list[Row]:
    """Run every kind in every column, and return what came of each."""
    with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, {MARK: secrets.token_hex(16)}):
        return [_run(fault, Path(folder)) for fault in faults]


def _run(fault: Fault, folder: Path) -> Row:
    cells: list[str] = []
    seconds: list[float] = []
    before, children = _held(), _children()
    _forget_peak()
    for event, on_failure in COLUMNS:
        # The gate that counts is asked in both ways that there are: in a sync call, and from an event loop.
        ways = ("dispatch_sync", "run_sync") if (event, on_failure) == COLUMNS[0] else ("dispatch_sync",)
        words: dict[str, None] = {}
        for command, way in product(fault.commands, ways):
            word, took = _ask(fault, command, folder, event, on_failure, way)
            words[word] = None
            seconds.append(took)
        cells.append(" or ".join(words))
    peak = _peak()
    return Row(
        fault=fault,
        cells=tuple(cells),
        past_timeout=max(seconds) - fault.timeout if fault.timeout == SHORT else None,
        slowest=max(seconds),
        peak=peak,
        left=tuple(_left_behind(before, children, folder)),
    )


def _ask(
    fault: Fault, command: str | list[str], folder: Path, event: str, on_failure: str, way: str
) -> tuple[str, float]:
    """Return the word for what one command gets, and the seconds that it took."""
    work = Path(tempfile.mkdtemp(dir=folder))
    scripts = {}
    for name, (content, mode) in fault.files.items():
        (work / name).write_text(content)
        (work / name).chmod(mode)
        scripts[str(work / name)] = sha256(content.encode()).hexdigest()
    config = {"command": command, "timeout": fault.timeout, **({"cwd": fault.cwd} if fault.cwd else {})}
    entry = HookEntry(
        event=HookEvent.parse(event),
        type="command",
        config=FrozenDict(config),
        on_failure=on_failure,
        path=str(work / "agent-hooks.toml"),
        line=1,
        directory=str(work),
        scripts=FrozenDict(scripts if fault.is_trusted else {}),
    )
    manager = HookManager(load_plugins=False)
    assert register_entries(manager, "faults", [entry]) == []
    ctx = _context(event, fault.size, str(work))
    began = monotonic()
    outcome: HookOutcome = getattr(manager.hooks(), way)(ctx)
    took = monotonic() - began
    is_counted = sum(manager.tolerated.values()) == len(outcome.findings) == 1
    return _word(outcome, is_counted=is_counted), took


def _context(event: str, size: int, cwd: str) -> HookContext:
    much = "x" * (size // 2)  # a command is told it twice: under our own name and under Claude Code's
    if event == WATCHED:
        return HookContext(event, end_reason=much, cwd=cwd)
    return HookContext(event, tool_call=ToolCall("Bash", {"command": "rm -rf /srv", "stdin": much}), cwd=cwd)


def _word(outcome: HookOutcome, *, is_counted: bool) -> str:
    if outcome.blocks:
        return FAILED if outcome.failed else DENIED
    return COUNTED if is_counted else GOES_ON


# -- what they leave and what they cost --------------------------------------------------------------------------------


def _held() -> tuple[int, int]:
    gc.collect()  # what only waits to be collected is held by nobody
    return len(os.listdir("/proc/self/fd")), threading.active_count()


def _children() -> set[int]:
    """Return the processes that this one has started and not waited for, such as those of other tests' fixtures."""
    lists = Path("/proc/self/task").glob("*/children")
    return {int(pid) for each in lists for pid in each.read_text().split()}


def _left_behind(before: tuple[int, int], children: set[int], folder: Path) -> Iterator[str]:
    """Say what is there that was not there before, once what was killed has had the time to go."""
    until = monotonic() + LEAVING
    while True:
        alive, is_locked = _marked(), _is_locked(folder)
        if not (alive or is_locked) or monotonic() > until:
            break
        sleep(0.005)
    for pid in alive:
        yield f"the process {pid}"
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    if is_locked:
        yield "processes too short-lived to be seen"
    for pid in _children() - children:
        with suppress(ChildProcessError):
            yield "a zombie" if os.waitpid(pid, os.WNOHANG)[0] else "a child"
    descriptors, threads = (now - then for now, then in zip(_held(), before, strict=True))
    if descriptors > 0:
        yield f"{descriptors} descriptors"
    if threads > 0:
        yield f"{threads} threads"


def _marked() -> list[int]:
    """Return the processes that a command here has started, itself included. This process has the mark too late for
    /proc to show it.
    """
    mark = f"{MARK}={os.environ[MARK]}".encode()
    found = []
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and mark in Path("/proc", name, "environ").read_bytes():
                found.append(int(name))
        except OSError:  # it has ended, or is none of ours
            continue
    return found


def _is_locked(folder: Path) -> bool:
    """Whether some process still has a lock on a file that it made in its directory."""
    for path in folder.glob("*/lock"):
        with path.open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
    return False


def _forget_peak() -> None:
    """Let the peak of this process's memory begin anew, where the kernel lets it."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return


def _peak() -> int:
    status = Path("/proc/self/status").read_text()
    found = [line for line in status.splitlines() if line.startswith("VmHWM:")]
    if not found:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return int(found[0].split()[1]) * 1024


# -- printing ----------------------------------------------------------------------------------------------------------


def table(rows: Iterable[tuple[str, tuple[str, ...]]]) -> str:
    """Return the decisions, the name of a kind and its cells in each row, as a Markdown table."""
    heads = (f"`{event}`, {on_failure}" for event, on_failure in COLUMNS)
    lines: list[tuple[str, ...]] = [("the command", *heads), ("---",) * (1 + len(COLUMNS))]
    lines += [(name, *cells) for name, cells in rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def figures(rows: Iterable[Row]) -> str:
    """Return what the answers cost: of no meaning on another machine."""
    lines = [f"{'the command':<75}{'slowest':>10}{'past timeout':>14}{'peak memory':>13}"]
    for row in rows:
        past = "" if row.past_timeout is None else f"{row.past_timeout:.2f} s"
        lines.append(f"{row.fault.name:<75}{row.slowest:8.2f} s{past:>14}{row.peak / MB:10.0f} MB")
    return "\n".join(lines)


def main() -> int:
    """Run the matrix and print it; return the exit code."""
    logging.getLogger("agent_hooks").addHandler(logging.NullHandler())
    began = monotonic()
    rows = run_matrix()
    sys.stdout.write(table((row.fault.name, row.cells) for row in rows))
    past = [row.past_timeout for row in rows if row.past_timeout is not None]
    open_ones = [row.fault.name for row in rows if row.fails_open]
    left = [f"{row.fault.name}: {', '.join(row.left)}" for row in rows if row.left]
    sys.stderr.write(f"\n{figures(rows)}\n\n{len(rows)} kinds in {monotonic() - began:.0f} s. ")
    sys.stderr.write(f"At most {max(past):.2f} s past the timeout, {max(row.peak for row in rows) / MB:.0f} MB. ")
    sys.stderr.write(f"Closed gates that let something pass: {'; '.join(open_ones) or 'none'}. ")
    sys.stderr.write(f"Left behind: {'; '.join(left) or 'nothing'}.\n")
    return int(bool(open_ones or left))


if __name__ == "__main__":
    sys.exit(main())
