"""Real commands that behave badly: what is reported of them, and that nothing of them is left."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from textwrap import dedent
from time import monotonic

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import agent_hooks
from agent_hooks.handlers import processes
from agent_hooks.handlers.escaped import RUN, end_all
from agent_hooks.handlers.processes import MAX_STDOUT, Finished, in_thread_cancellable, run_process
from tables import tables
from waiting import eventually

TABLES = tables(__file__)

pytestmark = pytest.mark.interpreter

ENVIRONMENT = {"PATH": os.environ["PATH"]}
PACKAGES = str(Path(agent_hooks.__file__).parent.parent)


def shell(script: str, **options) -> Finished:
    return run_process(["/bin/sh", "-c", script], **{"env": ENVIRONMENT, "timeout": 20.0, **options})


def python(program: str, *arguments: str, **options) -> Finished:
    argv = [sys.executable, "-S", "-c", dedent(program), *arguments]
    return run_process(argv, **{"env": ENVIRONMENT, "timeout": 20.0, **options})


def is_alive(pid: int) -> bool:
    """Whether the process runs; one that waits for its parent to take notice of its end does not."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (ProcessLookupError, FileNotFoundError):
        return False


def pid_in(file: Path) -> int:
    assert eventually(lambda: file.exists() and file.read_text().strip())
    return int(file.read_text())


def children() -> set[str]:
    """The children of this process, dead or alive, as Linux tells."""
    found, own = set(), str(os.getpid())
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            if path.read_text(errors="replace").rpartition(")")[2].split()[1] == own:
                found.add(path.parent.name)
    return found


@pytest.fixture(autouse=True)
def nothing_is_left():
    """No descriptor, thread or child, dead or alive, is there after a test that was not there before it."""
    before = len(os.listdir("/dev/fd")), threading.active_count(), children()
    yield
    assert (len(os.listdir("/dev/fd")), threading.active_count(), children()) == before


@pytest.fixture(params=["pidfd", "waitid", "waitpid"])
def platform(request, monkeypatch):
    """The three ways to see that a process has ended, of which a platform may have one or more."""
    if request.param != "pidfd":
        monkeypatch.delattr(os, "pidfd_open")
    if request.param == "waitpid":
        monkeypatch.delattr(os, "waitid")
    return request.param


# -- a command that behaves ------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("platform")
@pytest.mark.parametrize("code", [0, 1, 2, 3, 127, 255])
def test_the_exit_code_and_all_output_come_back(code):
    finished = shell(f"cat; echo told >&2; exit {code}", input=b'{"a": 1}')
    assert finished == Finished(exit_code=code, stdout=b'{"a": 1}', stderr=b"told\n")


@settings(max_examples=20)
@given(st.binary(max_size=200_000))
def test_bytes_go_in_and_come_out_as_they_are(data):
    assert run_process(["cat"], input=data, env=ENVIRONMENT, timeout=20.0).stdout == data


def test_it_gets_the_directory_and_the_environment_it_is_given_and_no_more(tmp_path):
    finished = python(
        "import os; print(os.getcwd(), sorted(os.environ))", env={**ENVIRONMENT, "COLOUR": "red"}, cwd=str(tmp_path)
    )
    names = {"COLOUR", "PATH", RUN} | ({"LC_CTYPE"} if b"LC_CTYPE" in finished.stdout else set())  # Python's own
    assert finished.stdout.decode() == f"{tmp_path.resolve()} {sorted(names)}\n"


def test_it_has_a_session_of_its_own_and_no_terminal():
    finished = python(
        """
        import os
        print(os.getsid(0) == os.getpid() == os.getpgid(0))
        try: os.open("/dev/tty", os.O_RDWR)
        except OSError: print("no terminal")
        """
    )
    assert finished.stdout == b"True\nno terminal\n"


def test_a_command_within_a_command_is_known_to_belong_to_both():
    finished = shell(f"echo ${RUN}", env={**ENVIRONMENT, RUN: "outer"})
    outer, inner = finished.stdout.decode().strip().split(":")
    assert outer == "outer"
    assert len(inner) == 32


# -- stdin -----------------------------------------------------------------------------------------------------------

MUCH = bytes(64 * 1024 * 1024)


def test_64_mb_that_are_read_arrive():
    assert shell("wc -c", input=MUCH).stdout.split() == [str(len(MUCH)).encode()]


def test_64_mb_that_nobody_reads_change_nothing():
    assert shell("echo '{}'", input=MUCH) == Finished(exit_code=0, stdout=b"{}\n")


def test_a_command_that_closes_its_stdin_goes_on():
    assert shell("exec 0<&-; sleep 0.05; echo on", input=MUCH[: 1024 * 1024]) == Finished(exit_code=0, stdout=b"on\n")


def test_a_command_that_writes_while_it_is_written_to_does_not_block():
    assert len(shell("cat", input=MUCH[:900_000]).stdout) == 900_000


# -- time ------------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("platform")
@pytest.mark.parametrize("script", TABLES["late"].values(), ids=TABLES["late"])
def test_a_command_that_is_late_is_killed_in_time(script, tmp_path):
    begun = monotonic()
    finished = shell(f"echo $$ >{tmp_path}/pid; {script}", timeout=1.0)
    assert finished.problem == "late"
    assert 1.0 <= monotonic() - begun < 20.0
    assert not is_alive(pid_in(tmp_path / "pid"))


def test_a_late_command_may_clean_up_first(tmp_path, monkeypatch):
    monkeypatch.setattr(processes, "GRACE_SECONDS", 5.0)
    script = f"trap 'echo cleaned >{tmp_path}/out; exit' TERM; echo begun; while :; do sleep 0.02; done"
    finished = shell(script, timeout=1.0)
    assert finished.problem == "late"
    assert finished.stdout == b"begun\n"
    assert (tmp_path / "out").read_text() == "cleaned\n"


def test_what_a_shell_was_waiting_for_does_not_outlive_it(tmp_path):
    finished = shell(f"sh -c 'echo $$ >{tmp_path}/pid; sleep 60'; echo never", timeout=1.0)
    assert finished.problem == "late"
    assert finished.stdout == b""
    assert eventually(lambda: not is_alive(pid_in(tmp_path / "pid")))


def test_a_time_of_years_is_no_mistake():
    assert shell("echo soon", timeout=1e9).stdout == b"soon\n"


# -- what is left behind ---------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("platform")
@pytest.mark.parametrize("pipes", ["", ">/dev/null 2>&1 </dev/null"])
def test_the_answer_is_there_when_the_command_has_ended_and_its_child_does_not_outlive_it(tmp_path, pipes):
    begun = monotonic()
    finished = shell(f"sleep 60 {pipes} & echo $! >{tmp_path}/pid; echo answer")
    assert finished == Finished(exit_code=0, stdout=b"answer\n")
    assert monotonic() - begun < 20.0
    assert eventually(lambda: not is_alive(pid_in(tmp_path / "pid")))


def test_what_a_child_says_right_after_the_commands_end_is_still_heard(monkeypatch):
    monkeypatch.setattr(processes, "DRAIN_SECONDS", 5.0)
    assert shell("(sleep 0.05; echo later) & echo sooner").stdout == b"sooner\nlater\n"


# Leaves its parent's session, group and pipes, as daemons do, and says who it is.
DAEMON = """
import os, sys, time
folder, end = sys.argv[1:]
for number in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for descriptor in range(3):
                os.close(descriptor)
            with open(f"{folder}/new", "w") as file:
                file.write(str(os.getpid()))
            os.rename(f"{folder}/new", f"{folder}/{number}")
            time.sleep(60)
        os._exit(0)
    os.wait()
    while not os.path.exists(f"{folder}/{number}"):
        time.sleep(0.001)
exec(end)
"""


@pytest.mark.parametrize(("end", "timeout", "problem"), [("pass", 20.0, ""), ("time.sleep(60)", 1.5, "late")])
def test_daemons_are_found_and_killed(end, timeout, problem, tmp_path):
    assert python(DAEMON, str(tmp_path), end, timeout=timeout).problem == problem
    daemons = [pid_in(tmp_path / str(number)) for number in range(3)]
    assert eventually(lambda: not any(map(is_alive, daemons)))


def test_a_daemon_is_found_also_while_it_becomes_another_program(tmp_path):
    """It is looked for at once, when it has just left the group and has no environment for a moment."""
    for number in range(30):
        shell(f"setsid sh -c 'echo $$ >{tmp_path}/{number}; exec sleep 60' </dev/null >/dev/null 2>&1 & ")
    begun = [pid_in(file) for file in tmp_path.iterdir() if file.read_text().strip()]
    assert eventually(lambda: not any(map(is_alive, begun)))


def test_whatever_has_a_word_in_its_environment_can_be_ended():
    program = [sys.executable, "-S", "-c", "import time; time.sleep(60)"]
    with subprocess.Popen(program, env={**ENVIRONMENT, RUN: "one:two:three"}) as process:
        end_all("four")
        assert process.poll() is None
        assert eventually(lambda: b"two" in Path(f"/proc/{process.pid}/environ").read_bytes())
        end_all("two")
        assert eventually(lambda: process.poll() is not None)
    assert process.returncode == -signal.SIGKILL


def test_nothing_of_a_fork_storm_is_left(tmp_path):
    finished = python(
        """
        import os, sys, time
        folder = sys.argv[1]
        for number in range(40):
            if os.fork() == 0:
                if number % 2:
                    os.setsid()
                open(f"{folder}/{os.getpid()}", "w").close()
                time.sleep(60)
        while len(os.listdir(folder)) < 40:
            time.sleep(0.001)
        """,
        str(tmp_path),
    )
    assert finished == Finished(exit_code=0)
    pids = [int(file.name) for file in tmp_path.iterdir()]
    assert len(pids) == 40
    assert eventually(lambda: not any(map(is_alive, pids)))


def test_a_host_that_inherits_orphans_has_no_zombies_either(tmp_path):
    """As process 1 of a container does."""
    program = f"""
        import ctypes, os, sys
        sys.path.insert(0, {PACKAGES!r})
        from agent_hooks.handlers.processes import run_process
        assert ctypes.CDLL(None).prctl(36, 1, 0, 0, 0) == 0  # PR_SET_CHILD_SUBREAPER
        script = "sleep 60 & setsid sleep 60 & echo $!"
        print(run_process(["/bin/sh", "-c", script], env=dict(os.environ), timeout=20.0).problem)
        try: print(os.waitpid(-1, os.WNOHANG))
        except ChildProcessError: print("no children")
    """
    assert python(program).stdout == b"\nno children\n"


# -- floods ----------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("platform")
@pytest.mark.parametrize("end", ["", ">&2"])
def test_a_flood_ends_the_command_and_is_not_kept(end):
    begun = monotonic()
    finished = shell(f"exec yes {end}")
    assert finished.problem == "flooded"
    assert monotonic() - begun < 20.0
    assert len(finished.stdout) + len(finished.stderr) <= MAX_STDOUT


def test_what_floods_on_when_the_command_has_ended_does_not_change_its_end():
    finished = shell("yes & exit 2")
    assert (finished.exit_code, finished.problem, finished.is_cut) == (2, "", True)


@pytest.mark.parametrize(("size", "is_cut"), [(5000, False), (5001, True), (5_000_000, True)])
def test_what_is_beyond_the_limit_is_read_and_not_kept(size, is_cut, monkeypatch):
    monkeypatch.setattr(processes, "MAX_STDOUT", 5000)
    finished = shell(f"head -c {size} /dev/zero; exit 2")
    assert finished == Finished(exit_code=2, stdout=bytes(5000), is_cut=is_cut)


def test_long_errors_are_cut_and_nothing_else(monkeypatch):
    monkeypatch.setattr(processes, "MAX_STDERR", 5000)
    finished = shell("head -c 1000000 /dev/zero >&2; echo out; exit 3")
    assert finished == Finished(exit_code=3, stdout=b"out\n", stderr=bytes(5000))


def test_what_goes_beyond_the_limit_is_in_its_time_too():
    begun = monotonic()
    finished = shell("head -c 2000000 /dev/zero; sleep 60", timeout=0.2)
    assert (finished.problem, finished.is_cut, len(finished.stdout)) == ("late", True, MAX_STDOUT)
    assert monotonic() - begun < 20.0


# -- other ends ------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("platform")
@pytest.mark.parametrize(
    ("name", "problem"),
    [("SEGV", "signal 11 (Segmentation fault)"), ("KILL", "signal 9 (Killed)"), ("PIPE", "signal 13 (Broken pipe)")],
)
def test_a_signal_is_no_exit_code(name, problem):
    assert shell(f"ulimit -c 0; echo '{{}}'; kill -{name} $$").problem == problem


def test_a_real_time_signal_has_a_number():
    assert python("import os; os.kill(os.getpid(), 40)").problem.startswith("signal 40 (Real-time signal")


def test_a_command_that_closes_its_output_early_is_waited_for():
    assert shell("echo '{}'; exec >&- 2>&-; sleep 0.1; exit 3") == Finished(exit_code=3, stdout=b"{}\n")


def unreadable(folder: Path, content: bytes, mode: int) -> str:
    file = folder / "program"
    file.write_bytes(content)
    file.chmod(mode)
    return str(file)


@pytest.mark.parametrize(
    ("argv", "why"),
    [
        (lambda _: ["/no/such/program"], "No such file or directory: '/no/such/program'"),
        (lambda _: ["no-such-program-anywhere"], "No such file or directory: 'no-such-program-anywhere'"),
        (lambda folder: [unreadable(folder, b"#!/bin/sh\n", 0o644)], "Permission denied"),
        (lambda folder: [unreadable(folder, b"echo no interpreter is named", 0o755)], "Exec format error"),
        (lambda folder: [unreadable(folder, b"#!/no/such/interpreter\n", 0o755)], "No such file"),
        (lambda folder: [str(folder)], "Permission denied"),
        (lambda _: ["echo", "a\0b"], "null byte"),
        (lambda _: ["echo", "x" * 300_000], "too long"),
    ],
    ids=["missing", "not on PATH", "not executable", "no format", "no interpreter", "folder", "NUL", "too long"],
)
def test_a_program_that_cannot_start_is_said_to_be_so(argv, why, tmp_path):
    finished = run_process(argv(tmp_path), env=ENVIRONMENT, timeout=20.0)
    assert finished.problem.startswith("not started: ")
    assert why in finished.problem


def test_a_directory_that_is_not_there_is_said_to_be_so(tmp_path):
    assert f"{tmp_path}/gone" in shell("echo", cwd=f"{tmp_path}/gone").problem


@pytest.mark.parametrize("platform", ["pass", "del os.waitid, os.pidfd_open"])
def test_an_exit_code_that_somebody_else_took_is_no_success(platform):
    """With SIGCHLD ignored the system throws exit codes away; ``subprocess`` then says 0."""
    program = f"""
        import os, signal, sys
        sys.path.insert(0, {PACKAGES!r})
        from agent_hooks.handlers.processes import run_process
        {platform}
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        print(run_process(["/bin/sh", "-c", "exit 2"], env=dict(os.environ), timeout=20.0).problem)
    """
    assert python(program).stdout == b"lost\n"


def test_without_descriptors_the_end_is_looked_for(monkeypatch):
    def none_left(_pid):
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(os, "pidfd_open", none_left)
    assert shell("exit 4").exit_code == 4


# -- how many, and cancelling ----------------------------------------------------------------------------------------


def test_commands_wait_for_their_turn_and_no_longer_than_their_time(monkeypatch, tmp_path):
    monkeypatch.setattr(processes._commands, "slots", threading.BoundedSemaphore(1))
    first = threading.Thread(target=shell, args=(f"until test -e {tmp_path}/go; do sleep 0.01; done",))
    first.start()
    assert eventually(lambda: processes._commands.slots._value == 0)
    assert shell("echo", timeout=0.1).problem == "not started: 32 others are running"
    cancelled = threading.Event()
    cancelled.set()
    assert shell("echo", cancelled=cancelled).problem == "cancelled"
    (tmp_path / "go").touch()
    assert shell("echo turn").stdout == b"turn\n"
    first.join()


def test_many_at_once_do_not_mix(tmp_path):
    found: dict[int, bytes] = {}
    threads = [
        threading.Thread(target=lambda n=n: found.update({n: shell(f"cat; echo {n}", input=bytes([65 + n])).stdout}))
        for n in range(20)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {n: f"{chr(65 + n)}{n}\n".encode() for n in range(20)}


def test_an_interrupt_of_the_host_ends_the_command(tmp_path):
    pid = tmp_path / "pid"

    def interrupt(_number, frame):
        calls = []
        while frame is not None:
            calls.append(frame.f_code.co_name)
            frame = frame.f_back
        # Within Popen, nobody knows the process yet.
        if "_listen" in calls and pid.exists() and pid.read_text().strip():
            signal.setitimer(signal.ITIMER_REAL, 0)
            raise KeyboardInterrupt

    earlier = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
    try:
        with pytest.raises(KeyboardInterrupt):
            shell(f"echo $$ >{pid}; exec sleep 60")
    finally:
        signal.signal(signal.SIGALRM, earlier)
    assert not is_alive(pid_in(pid))


def hanging(folder: Path):
    """A command that hangs, as work for a thread."""
    return lambda cancelled: shell(f"echo $$ >{folder}/pid; exec sleep 60", cancelled=cancelled)


async def begun(folder: Path) -> None:
    until = monotonic() + 10
    while not ((folder / "pid").exists() and (folder / "pid").read_text().strip()):
        assert monotonic() < until
        await asyncio.sleep(0.005)


def test_the_loop_goes_on_while_a_command_runs():
    async def main():
        count = 0

        async def tick():
            nonlocal count
            while True:
                await asyncio.sleep(0.005)
                count += 1

        ticking = asyncio.create_task(tick())
        finished = await in_thread_cancellable(lambda cancelled: shell("sleep 0.2; echo done", cancelled=cancelled))
        ticking.cancel()
        return finished.stdout, count

    stdout, count = asyncio.run(main())
    assert stdout == b"done\n"
    assert count > 5


async def _cancelled(coroutine, folder):
    task = asyncio.create_task(coroutine)
    await begun(folder)
    task.cancel()
    await asyncio.sleep(0)
    task.cancel()  # impatience does not leave anything behind
    with pytest.raises(asyncio.CancelledError):
        await task


async def _late(coroutine, folder):
    task = asyncio.create_task(coroutine)
    await begun(folder)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(task, 0.01)


async def _closed(coroutine, folder):
    coroutine.send(None)
    await begun(folder)
    coroutine.close()


@pytest.mark.parametrize("end", [_cancelled, _late, _closed])
def test_who_gives_up_on_a_command_kills_it_before_going_on(tmp_path, end):
    async def main():
        await end(in_thread_cancellable(hanging(tmp_path)), tmp_path)
        assert not is_alive(pid_in(tmp_path / "pid"))

    asyncio.run(main())


def test_a_coroutine_that_never_begins_starts_nothing(tmp_path):
    in_thread_cancellable(hanging(tmp_path)).close()
    assert not (tmp_path / "pid").exists()


def test_what_the_thread_raises_is_raised_where_it_is_awaited():
    def fails(_cancelled):
        raise LookupError("in the thread")

    with pytest.raises(LookupError, match="in the thread"):
        asyncio.run(in_thread_cancellable(fails))


def test_the_end_of_the_interpreter_ends_the_commands_of_a_loop_that_is_not_there_any_more(tmp_path):
    program = f"""
        import asyncio, os, sys, time
        sys.path.insert(0, {PACKAGES!r})
        from agent_hooks.handlers.processes import in_thread_cancellable, run_process
        script = "echo $$ >{tmp_path}/pid; exec sleep 60"
        argv, environment = ["/bin/sh", "-c", script], dict(os.environ)
        work = lambda cancelled: run_process(argv, env=environment, timeout=60, cancelled=cancelled)
        loop = asyncio.new_event_loop()
        task = loop.create_task(in_thread_cancellable(work))
        is_there = lambda: os.path.exists("{tmp_path}/pid") and os.path.getsize("{tmp_path}/pid")
        def stop_once_it_runs():
            loop.call_later(0.01, loop.stop if is_there() else stop_once_it_runs)
        stop_once_it_runs()
        loop.run_forever()
        print("end")
    """
    finished = python(program, timeout=10.0)
    assert finished.stdout == b"end\n"
    assert not is_alive(pid_in(tmp_path / "pid"))


def test_a_fork_of_the_host_has_a_clean_table():
    """Its parent's commands are not its own: their threads are not there."""
    with_turn = processes._commands.slots.acquire(blocking=False)
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.write(write, str(processes._commands.slots._value).encode())
        os._exit(0)
    os.waitpid(pid, 0)
    processes._commands.slots.release()
    assert with_turn
    assert os.read(read, 10) == b"32"
    os.close(read)
    os.close(write)
