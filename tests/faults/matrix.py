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


def fails(name: str, *commands: str | list[str], **options: Any) -> Fault:
    return Fault(name, NO_ANSWER, commands, **options)


def late(name: str, script: str | list[str]) -> Fault:
    return fails(name, script, timeout=SHORT)


def nonsense(name: str, *commands: str | list[str]) -> Fault:
    return Fault(name, NONSENSE, commands)


def denies(name: str, script: str | list[str], **options: Any) -> Fault:
    return Fault(name, DENIES, (script,), **options)


def prints(text: str) -> list[str]:
    """Return a program that prints ``text`` and no more."""
    return ["printf", "%s", text]


def python(program: str) -> list[str]:
    return [sys.executable, "-S", "-c", program]


NO = '{"decision": "deny", "reason": "No."}'
YES = '{"decision": "allow", "reason": "Yes."}'
PRINT_NO, PRINT_YES = f"echo '{NO}'", f"echo '{YES}'"

DAEMON = """
import os, sys, time
heard, said = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.write(said, b".")
        for descriptor in (0, 1, 2, heard, said):
            os.close(descriptor)
        time.sleep(60)
    os._exit(0)
os.wait()
os.read(heard, 1)
"""
STORM = """
import os, time
for number in range(100):
    if os.fork() == 0:
        if number % 2:
            os.setsid()
        time.sleep(60)
        os._exit(0)
"""
TREE = """
import os, time
first = os.getpid()
for _ in range(7):
    if os.fork() == 0:
        os.setsid()
if os.getpid() != first:
    time.sleep(60)
    os._exit(0)
"""
# Each is gone before anybody can look at it, but all hold one lock. There is a last one, should nobody end them.
SUCCESSORS = """
import fcntl
lock = open("lock", "w")
fcntl.flock(lock, fcntl.LOCK_EX)
for _ in range(20_000):
    if os.fork():
        os._exit(0)
    os.setsid()
"""
NO_DESCRIPTOR = """
import os
try:
    while True:
        os.dup(0)
except OSError:
    raise SystemExit(1)
"""
PYTHON_NO = f"print('{NO}', flush=True)\n"

TOO_MUCH = [f'{{"decision": "allow", "metadata": {{"score": {number}}}}}' for number in ("NaN", "-Infinity", "1e999")]
NO_OBJECTS = [f"[{NO}]", '"deny"', "2", "null", "true"]
NO_ANSWERS = ['{"decision": "perhaps"}', '{"decison": "deny"}', '{"decision": "skip"}']
WRONG_TYPES = ['{"decision": ["deny"]}', '{"decision": 1}', '{"reason": 5}', '{"hookSpecificOutput": "deny"}']
SIGNALS = "HUP INT QUIT ILL ABRT FPE USR1 PIPE TERM XCPU".split()

FAULTS = (
    # To compare with: these two behave.
    Fault("says nothing, exit code 0", CONSENTS, ("true",)),
    denies("prints a deny", prints(NO)),
    # Its time.
    late("hangs", "exec sleep 60"),
    late("hangs and ignores SIGTERM", "trap '' TERM; while :; do sleep 60; done"),
    late("computes for ever", "while :; do :; done"),
    late("stops itself (SIGSTOP)", "kill -STOP $$"),
    late("waits for a command that hangs", "sleep 60; exit 2"),
    late("closes its output and hangs", "exec 1>&- 2>&-; exec sleep 60"),
    late("prints a byte now and then, for ever", "while :; do printf x; sleep 0.02; done"),
    late("prints a deny, then hangs", f"{PRINT_NO}; exec sleep 60"),
    late("allows, too late", f"sleep 1; {PRINT_YES}"),
    late("allows when it is told to end", f"yes() {{ {PRINT_YES}; exit 0; }}; trap yes TERM; sleep 60 & wait"),
    # What it starts.
    denies("leaves a child that holds its pipes, denies", f"sleep 60 & {PRINT_NO}"),
    denies("leaves a child that ignores SIGTERM, denies", f"(trap '' TERM; sleep 60) & {PRINT_NO}"),
    denies("leaves a daemon (a session of its own, no pipes), denies", python(DAEMON + PYTHON_NO)),
    late("leaves a daemon, hangs", python(f"{DAEMON}time.sleep(60)")),
    denies("leaves 100 processes, half of them in sessions of their own, denies", python(STORM + PYTHON_NO)),
    denies("leaves a tree of 127 processes, each in a session of its own, denies", python(TREE + PYTHON_NO)),
    denies("denies, starts a successor and ends, which does the same", python(f"import os\n{PYTHON_NO}{SUCCESSORS}")),
    late(
        "starts such a row of successors, hangs", python(f"import os, time\nif os.fork(): time.sleep(60){SUCCESSORS}")
    ),
    # What it prints.
    fails("floods its output", "exec yes"),
    fails("floods its standard error", "exec yes >&2"),
    fails("prints a deny of 2 MB", python(f"print('{NO}'.replace('No.', 'No.' * 700_000))")),
    nonsense("prints bytes that are no text", r"printf '\377\376\000\201'"),
    nonsense("prints a deny that is not UTF-8", r"""printf '{"decision": "deny", "reason": "\377"}'"""),
    nonsense("prints a deny in UTF-16", python(f"import sys; sys.stdout.buffer.write('{NO}'.encode('utf-16'))")),
    nonsense("prints half of a character (a lone surrogate)", prints(r'{"decision": "allow", "reason": "\ud800"}')),
    nonsense("prints truncated JSON", *(prints(NO[:end]) for end in (1, 12, 20, len(NO) - 1))),
    nonsense("prints text before its JSON", prints(f"loading\n{NO}")),
    nonsense("prints text after its JSON", prints(f"{NO}\ndone")),
    nonsense("answers twice", prints(NO + YES), prints(f"{NO}\n{YES}")),
    nonsense("prints a key twice", prints('{"decision": "deny", "decision": "allow"}')),
    nonsense("prints NaN, Infinity, or a number that is too large", *map(prints, TOO_MUCH)),
    nonsense("prints 100,000 levels", python("""print('{"metadata": ' + '{"a":' * 100_000 + '1' + '}' * 100_001)""")),
    nonsense("prints an array, a text, a number, null", *map(prints, NO_OBJECTS)),
    nonsense("prints a decision or a key that there is not", *map(prints, NO_ANSWERS)),
    nonsense("prints values of the wrong type", *map(prints, WRONG_TYPES)),
    # How it ends.
    denies("exit code 2", "exit 2"),
    fails("every other exit code (1, 3 to 255)", *(f"exit {code}" for code in range(1, 256) if code != 2)),
    fails("allows, exit code 1", f"{PRINT_YES}; exit 1"),
    denies("allows, exit code 2", f"{PRINT_YES}; exit 2"),
    fails("crashes (SIGSEGV)", "ulimit -c 0; kill -SEGV $$"),
    fails("kills itself (SIGKILL)", "kill -KILL $$"),
    fails("allows, is ended by another signal", *(f"ulimit -c 0; {PRINT_YES}; kill -{name} $$" for name in SIGNALS)),
    denies("closes its output, goes on, exit code 2", "exec 1>&- 2>&-; sleep 0.05; exit 2"),
    fails("uses up its descriptors, exit code 1", python(NO_DESCRIPTOR)),
    # What it is told.
    denies("closes its input at once, denies", f"exec 0<&-; sleep 0.05; {PRINT_NO}", size=MB),
    denies("never reads its input of 64 MB, denies", prints(NO), size=64 * MB),
    # How it begins.
    fails("is not there", ["./missing"], ["no-such-program-anywhere"]),
    fails("is not there, and its shell says so (exit code 127)", "./missing", "no-such-program-anywhere"),
    denies("its script is not there, and Python says so (exit code 2)", [sys.executable, "missing.py"]),
    fails("is not executable", ["./program"], files={"program": ("#!/bin/sh\n", 0o644)}),
    fails("is a script without `#!`", ["./program"], files={"program": (f"{PRINT_YES}\n", 0o755)}),
    fails("its interpreter is not there", ["./program"], files={"program": ("#!/no/such/sh\n", 0o755)}),
    fails("is a directory", ["."]),
    fails("its arguments are too long", ["true", "x" * 300_000]),
    fails("its directory is not there", "true", cwd="gone"),
    # The ground it stands on.
    denies("deletes its directory, denies", f'rm -rf "$PWD"; {PRINT_NO}'),
    Fault(
        "was trusted, rewrites itself",
        TAMPERED,
        (["sh", "program"],),
        files={"program": ('echo >>"$0"\n', 0o644)},
        is_trusted=True,
    ),
)


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
