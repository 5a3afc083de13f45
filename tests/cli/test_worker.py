"""The worker of the resident process: what a hook does to its process holds for one event."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from projects import Project, toml
from residents import RULES, bash
from waiting import eventually

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no resident process on this system"),
]


@pytest.fixture
def command(started_command):
    return started_command


def hookconf(reason: str, *lines: str) -> str:
    body = "\n    ".join((*lines, f"return HookOutcome.deny({reason!r})"))
    return f"from agent_hooks import HookOutcome, hookimpl\n\n@hookimpl\ndef before_tool_use(tool_call):\n    {body}\n"


def test_projects_with_helpers_of_one_name_do_not_meet(command, payload, tmp_path, serve):
    running = serve()
    projects = [Project(tmp_path, name) for name in ("one", "two")]
    for each in projects:
        text = hookconf("unused", "return HookOutcome.deny(f'{helper.NAME} {os.environ.get(\"SEEN\")} {json.MARK}')")
        top = "import json, os, sys\nsys.path.insert(0, os.path.dirname(__file__))\nimport helper\n"
        top += "json.MARK = getattr(json, 'MARK', '') + helper.NAME\nos.environ['SEEN'] = helper.NAME\n"
        each.write({"hookconf.py": top + text, "helper.py": f"NAME = {each.root.name!r}\n"})
        command.trust(each)
    for each in (*projects, *projects):
        event = bash(payload, "claude-code", "ls", cwd=str(each.root))
        done = command.answer("claude-code", event, cwd=each.root)
        assert done.why == " ".join([each.root.name] * 3)
    assert running.answered == 4


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("os._exit(0)", "ended with exit code 0"),
        ("os.kill(os.getpid(), 9)", "was ended by signal 9"),
        ("time.sleep(600)", "house_rules"),
    ],
)
def test_a_hook_that_ends_or_hangs_its_process_costs_only_its_event(command, payload, serve, line, reason):
    command.install(f"""
        import os, time

        @hookimpl
        def before_tool_use(tool_call):
            if tool_call.command == "spoil":
                {line}
    """)
    running = serve()
    spoilt = command.answer("claude-code", bash(payload, "claude-code", "spoil"), "--timeout", "6")
    assert spoilt.exit_code == 2
    assert reason in spoilt.stderr
    assert command.answer("claude-code", bash(payload, "claude-code", "ls")).exit_code == 0
    assert running.process.poll() is None


def test_what_a_hook_does_to_its_process_holds_for_one_event(command, payload, serve):
    command.install("""
        import builtins, gc, locale, os, signal, sys, warnings

        def state():
            handlers = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGUSR1, signal.SIGCHLD)]
            mask, umask = signal.pthread_sigmask(signal.SIG_BLOCK, ()), os.umask(0)
            os.umask(umask)
            files = sorted(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else []
            facts = [os.getcwd(), umask, sys.path, os.environ.get("SPOILT"), handlers, mask, len(vars(builtins))]
            return repr([*facts, locale.setlocale(locale.LC_ALL), sys.getrecursionlimit(), gc.isenabled(), files])

        @hookimpl
        def before_tool_use(tool_call):
            found = state()
            if tool_call.command == "spoil":
                os.chdir("/")
                os.umask(0)
                os.environ["SPOILT"] = "yes"
                sys.path.clear()
                for number in (signal.SIGTERM, signal.SIGUSR1, signal.SIGCHLD):
                    signal.signal(number, signal.SIG_IGN)
                signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
                locale.setlocale(locale.LC_ALL, "C")
                sys.setrecursionlimit(5000)
                builtins.spoilt = builtins.open = None
                HookOutcome.deny = None
                if os.fork() == 0:
                    os.setsid()
                os.closerange(3, 256)
                os._exit(0)
            return HookOutcome.deny(found)
    """)
    running = serve()
    events = [bash(payload, "claude-code", text) for text in ("ls", "spoil", "ls")]
    first, spoilt, last = (command.answer("claude-code", event) for event in events)
    assert spoilt.denies
    assert first.why == last.why
    assert first.why.startswith("['/")
    assert running.counts[1] == 0


@pytest.mark.skipif(sys.platform != "linux", reason="finds the worker in /proc")
def test_a_worker_keeps_no_descriptor_and_no_process_of_its_events(command, payload, serve):
    command.install(RULES)
    server = serve().process.pid
    held = []
    for text in ("deny", "ask", "deny", "allow"):
        command.answer("claude-code", bash(payload, "claude-code", text))
        (worker,) = Path(f"/proc/{server}/task/{server}/children").read_text().split()
        held.append(sorted(os.listdir(f"/proc/{worker}/fd")))
    assert held == held[:1] * 4
    children = Path(f"/proc/{worker}/task/{worker}/children")

    def has_few() -> bool:
        command.answer("claude-code", bash(payload, "claude-code", "deny"))
        # It collects the processes of an event after the next one: those of two events, with two each, may be there.
        return len(children.read_text().split()) <= 4

    assert eventually(has_few, 30)


def test_what_a_hook_prints_does_not_reach_the_host(command, payload, serve):
    command.install("""
        import os

        @hookimpl
        def before_tool_use(tool_call):
            print("{}")
            os.write(1, b"from C")
    """)
    serve()
    done = command.answer("claude-code", bash(payload, "claude-code", "ls"))
    assert (done.exit_code, done.stdout) == (0, "")
    assert "from C" in done.stderr


def test_hooks_see_the_environment_the_folder_and_the_umask_of_the_event(command, payload, tmp_path, serve):
    command.install("""
        import os, sys

        @hookimpl
        def before_tool_use(tool_call):
            umask = os.umask(0)
            stdin = os.read(0, 1)
            found = [os.environ.get("MARK"), "HOME" in os.environ, os.getcwd(), umask, stdin]
            return HookOutcome.deny(repr(found))
    """)
    serve()
    for mark in ("a", "b", None):
        folder = tmp_path / f"folder {mark}"
        folder.mkdir()
        options: dict[str, Any] = {"env": {"MARK": mark} if mark else {}, "cwd": folder}
        umask = os.umask(0o027)
        try:
            done = command.answer("claude-code", bash(payload, "claude-code", "ls"), **options)
        finally:
            os.umask(umask)
        assert done.why == repr([mark, True, str(folder), 0o027, b""])


def test_the_hooks_end_with_the_command_of_the_host(command, payload, tmp_path, serve):
    running = serve()
    command.configure(toml(f"echo $$ > {tmp_path}/pid; exec sleep 600"))
    event = json.dumps(bash(payload, "claude-code", "ls"))
    client = subprocess.Popen(
        command.arguments("run", "--agent", "claude-code"), env=command.environment, stdin=subprocess.PIPE
    )
    assert client.stdin is not None
    client.stdin.write(event.encode())
    client.stdin.close()
    pid = tmp_path / "pid"
    assert eventually(lambda: pid.exists() and pid.read_text().strip() != "", 30)
    client.kill()
    client.wait()

    def has_ended() -> bool:
        try:
            os.kill(int(pid.read_text()), 0)
        except ProcessLookupError:
            return True
        return False

    assert eventually(has_ended, 30)
    assert running.process.poll() is None


def test_other_variables_of_the_interpreter_are_not_mixed(command, payload, tmp_path, serve):
    running = serve()
    command.install(RULES)
    event = bash(payload, "claude-code", "deny")
    done = command.answer("claude-code", event, env={"PYTHONPATH": f"{command.environment['PYTHONPATH']}:{tmp_path}"})
    assert done.why == "not here"
    assert running.answered == 0
    assert "declined 1" in command("serve", "--status").stdout


# Programs that run their arguments where the resident process is not.
NO_NEW_PRIVILEGES = (
    "import ctypes, os, sys; ctypes.CDLL(None).prctl(38, 1, 0, 0, 0); os.execv(sys.argv[1], sys.argv[1:])"
)
LANDLOCK = """
import ctypes, os, sys
call = ctypes.CDLL(None, use_errno=True)
ruleset = call.syscall(444, (ctypes.c_uint64 * 1)(1 << 12), 8, 0)  # no block devices may be made
call.prctl(38, 1, 0, 0, 0)
if ruleset < 0 or call.syscall(446, ruleset, 0):
    sys.exit(77)
os.execv(sys.argv[1], sys.argv[1:])
"""
NAMESPACE = """
import ctypes, os, sys
if ctypes.CDLL(None).unshare(0x04000000):  # of host names
    sys.exit(77)
os.execv(sys.argv[1], sys.argv[1:])
"""
LIMITED = """
import os, resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (100, 200))
os.nice(3)
os.execv(sys.argv[1], sys.argv[1:])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="no other system says who is in a sandbox")
@pytest.mark.parametrize(
    "sandbox", [NO_NEW_PRIVILEGES, LANDLOCK, NAMESPACE], ids=["privileges", "landlock", "namespace"]
)
def test_it_does_not_answer_for_a_process_in_a_sandbox(command, payload, serve, sandbox):
    if subprocess.run([sys.executable, "-c", sandbox, "/bin/true"], check=False).returncode == 77:
        pytest.skip("this system lets nobody into such a sandbox")
    command.install(RULES)
    running = serve()
    program = [sys.executable, "-c", sandbox, *command.arguments()]
    done = command.answer("claude-code", bash(payload, "claude-code", "deny"), program=program)
    assert done.why == "not here"
    status = command("serve", "--status", program=program)
    assert (status.exit_code, "not for this sandbox" in status.stdout) == (1, True)
    assert command("serve", "--stop", program=program).exit_code == 1
    assert running.counts[:2] == (0, 2)  # the event, and the request to stop
    assert "a sandbox" in running.counts[2]


@pytest.mark.skipif(sys.platform != "linux", reason="no other system tells the limits of another process")
def test_the_limits_and_the_niceness_of_the_client_hold_for_its_hooks(command, payload, serve):
    command.install("""
        import os, resource

        @hookimpl
        def before_tool_use(tool_call):
            return HookOutcome.deny(repr((resource.getrlimit(resource.RLIMIT_NOFILE), os.nice(0))))
    """)
    event = bash(payload, "claude-code", "ls")
    programs: list[list[str]] = [[sys.executable, "-c", LIMITED, *command.arguments()], command.arguments()]
    without = [command.answer("claude-code", event, program=program).why for program in programs]
    running = serve()
    assert [command.answer("claude-code", event, program=program).why for program in programs] == without
    assert without[0] == repr(((100, 200), os.nice(0) + 3)) != without[1]
    assert running.answered == 2


@pytest.mark.skipif(sys.platform != "linux", reason="finds the worker in /proc")
def test_a_worker_that_hangs_is_killed_at_the_deadline(command, payload, serve):
    running = serve()
    event = bash(payload, "claude-code", "ls")
    assert command.answer("claude-code", event).exit_code == 0
    server = running.process.pid
    (worker,) = Path(f"/proc/{server}/task/{server}/children").read_text().split()
    os.kill(int(worker), signal.SIGSTOP)
    done = command.answer("claude-code", event, "--timeout", "6")
    assert done.denies
    assert "did not answer in time" in done.reason
    assert not Path(f"/proc/{worker}").exists()
    assert command.answer("claude-code", event).exit_code == 0
    assert running.process.poll() is None


def test_another_one_takes_the_place_of_one_that_was_killed(command, payload, serve):
    event = bash(payload, "claude-code", "ls")
    first = serve()
    assert command.answer("claude-code", event).exit_code == 0
    first.process.kill()
    first.process.wait()
    assert command.answer("claude-code", event).exit_code == 0
    second = serve()
    assert command.answer("claude-code", event).exit_code == 0
    assert second.answered == 1


def test_many_clients_are_answered_at_once(command, payload, serve):
    command.install(RULES)
    running = serve()
    commands = ["ls", "deny"] * 8

    def ask(text: str) -> bool:
        return bool(command.answer("claude-code", bash(payload, "claude-code", text)).denies)

    with ThreadPoolExecutor(8) as pool:
        assert [*pool.map(ask, commands)] == [text == "deny" for text in commands]
    assert running.answered == len(commands)
