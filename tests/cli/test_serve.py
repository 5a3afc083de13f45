"""``agent-hooks serve``: events that are answered by a resident process, and are answered as without it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest

from agent_hooks.cli import resident
from agent_hooks.cli.warming import LoadedFiles
from agent_hooks.system import sockets
from agent_hooks.system.sockets import BrokenFrameError, address_of, open_folder, pack, size_of, unpack
from commands import PACKAGES, SCRIPT, Command, Done
from projects import Project, denying, toml
from residents import Resident

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no resident process on this system"),
]

AGENTS = ["claude-code", "codex"]
# Prints where the socket is.
NAME = """\
from agent_hooks_core import FOLDER
from agent_hooks.system.sockets import socket_folder, socket_name
print(socket_folder())
print(socket_name(FOLDER))
"""
RULES = """
    import os

    @hookimpl
    def before_tool_use(tool_call):
        command = tool_call.command
        if "deny" in command:
            return HookOutcome.deny("not here")
        if "ask" in command:
            return HookOutcome.ask("really?")
        if "allow" in command:
            return HookOutcome.allow()

    @hookimpl
    def user_input(prompt):
        return HookOutcome.update(context=prompt.upper())
"""


PLANNED = """
[[hooks.before_tool_use]]
matcher = "WebFetch"
hooks = [{ type = "command", command = ["false"] }]
"""


@pytest.fixture
def serve(command: Command) -> Iterator[Callable[..., Resident]]:
    """Start resident processes that end with the test."""
    started: list[Resident] = []

    def start(*arguments: str, of: Command = command, **options: Any) -> Resident:
        started.append(Resident(of, *arguments, **options))
        return started[-1]

    yield start
    for each in started:
        each.end()


@pytest.fixture(scope="module")
def patient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Resident]:
    """A resident process that no test asks about an event that it answers."""
    running = Resident(Command(tmp_path_factory.mktemp("patient")))
    yield running
    running.end()


def bash(payload: Any, agent: str, command: str, **changes: Any) -> dict[str, Any]:
    """The payload of a shell command."""
    made: dict[str, Any] = payload(agent, "PreToolUse", tool_name="Bash", tool_input={"command": command}, **changes)
    return made


def shown(done: Done) -> tuple[int, str, str]:
    return done.exit_code, done.stdout, done.stderr


def is_over(condition: Callable[[], bool]) -> bool:
    """Wait until ``condition`` holds."""
    until = time.monotonic() + 30
    while not condition() and time.monotonic() < until:
        time.sleep(0.02)
    return condition()


# -- the same answers --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("agent", AGENTS)
def test_hooks_of_a_plugin_answer_as_without_it(command, payload, serve, agent):
    command.install(RULES)
    events = [bash(payload, agent, text) for text in ("ls", "deny", "ask", "allow")]
    events.append(payload(agent, "UserPromptSubmit", prompt="tidy up"))
    without = [shown(command.answer(agent, event)) for event in events]
    running = serve()
    assert [shown(command.answer(agent, event)) for event in events] == without
    assert running.answered == len(events)


@pytest.mark.parametrize("agent", AGENTS)
def test_our_own_hooks_answer_as_without_it_however_often(command, payload, serve, agent):
    events = [bash(payload, agent, "cat ~/.config/agent-hooks/trust"), bash(payload, agent, "ls")]
    events.append(bash(payload, agent, "echo > ~/.config/agent-hooks/agent-hooks.toml"))
    events.append(payload(agent, "UserPromptSubmit", prompt="tidy up"))
    without = [shown(command.answer(agent, event)) for event in events]
    running = serve()
    for _ in range(2):
        assert [shown(command.answer(agent, event)) for event in events] == without
    assert running.answered == 2 * len(events)


def test_a_change_of_settings_counts_at_the_next_event(command, payload, serve):
    serve()
    event = bash(payload, "claude-code", "ls")
    assert command.answer("claude-code", event).exit_code == 0
    command.configure(toml(denying("first")))
    assert "first" in command.answer("claude-code", event).stderr
    file = command.config / "agent-hooks.toml"
    before = file.stat()
    file.write_text(file.read_text().replace("first", "other"))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert "other" in command.answer("claude-code", event).stderr
    file.unlink()
    assert command.answer("claude-code", event).exit_code == 0


def test_trust_given_and_taken_counts_at_the_next_event(command, payload, project, serve):
    serve()
    project.write({"hookconf.py": hookconf("not in this project")})
    event = bash(payload, "claude-code", "ls", cwd=str(project.root))
    assert command.answer("claude-code", event).exit_code == 0
    command.trust(project)
    assert command.answer("claude-code", event).why == "not in this project"
    project.write({"hookconf.py": hookconf("changed")})
    assert "has seen hooks that do not hold" in command.answer("claude-code", event).said
    assert command.answer("claude-code", {**event, "session_id": "begins later"}).exit_code == 0


def test_a_session_is_held_to_a_project_that_it_has_seen(command, payload, project, serve):
    running = serve()
    command.trust(project.write({"agent-hooks.toml": PLANNED}))
    event = bash(payload, "claude-code", "ls", cwd=str(project.root), session_id="s")
    assert command.answer("claude-code", event).exit_code == 0
    (project.root / "agent-hooks.toml").unlink()
    for _ in range(2):
        assert "has seen hooks that do not hold" in command.answer("claude-code", event).said
    assert running.answered == 3


def test_a_plugin_installed_meanwhile_is_asked(command, payload, serve):
    running = serve()
    event = bash(payload, "claude-code", "deny")
    assert command.answer("claude-code", event).exit_code == 0
    command.install(RULES)
    assert command.answer("claude-code", event).why == "not here"
    assert running.answered == 2


def test_a_wrong_payload_is_refused(command, serve):
    without = command("run", "--agent", "claude-code", "--event", "PreToolUse", stdin="[]")
    serve()
    done = command("run", "--agent", "claude-code", "--event", "PreToolUse", stdin="[]")
    assert done.exit_code == 2
    assert shown(done) == shown(without)


def test_one_that_was_started_from_a_terminal_answers(command, payload, serve):
    command.install(RULES)
    above, below = os.openpty()
    running = serve(stdin=below)
    os.close(below)
    assert command.answer("claude-code", bash(payload, "claude-code", "deny")).why == "not here"
    assert running.answered == 1
    os.close(above)


def test_a_number_in_place_of_a_truth_value_is_a_change(command, payload, serve):
    running = serve()
    event = bash(payload, "claude-code", "ls")
    for value, denies in (("true", False), ("1", True), ("true", False)):
        command.configure(f"[policy]\nallow_shell = {value}\n")
        done = command.answer("claude-code", event)
        assert shown(done) == shown(command.answer("claude-code", event, "--no-plan"))
        assert done.denies == denies
    assert running.answered == 3


# -- isolation ---------------------------------------------------------------------------------------------------------


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

    assert is_over(has_few)


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
    assert is_over(lambda: pid.exists() and pid.read_text().strip() != "")
    client.kill()
    client.wait()

    def has_ended() -> bool:
        try:
            os.kill(int(pid.read_text()), 0)
        except ProcessLookupError:
            return True
        return False

    assert is_over(has_ended)
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


# -- without a resident process that answers ---------------------------------------------------------------------------


class Imposter:
    """A socket where the resident process would have its own, with something else behind it."""

    def __init__(self, command: Command, answer: Callable[[socket.socket], None] | None) -> None:
        command.script.write_text(SCRIPT.replace("sys.exit(main())", NAME))
        folder, name = command().stdout.split("\n")[:2]
        command.script.write_text(SCRIPT)
        self.folder = Path(folder)
        descriptor = open_folder(folder, create=True)
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(address_of(descriptor, folder, name))
        os.close(descriptor)
        self.asked = 0
        if answer is not None:
            self.listener.listen()
            Thread(target=self._serve, args=(answer,), daemon=True).start()

    def _serve(self, answer: Callable[[socket.socket], None]) -> None:
        while True:
            connection, _ = self.listener.accept()
            self.asked += 1
            with connection, suppress(OSError, BrokenFrameError):
                answer(connection)


def receive(connection: socket.socket) -> list[bytes]:
    """The fields of a request."""
    data = bytearray()
    while not (size := size_of(data)) or len(data) < size:
        data += connection.recv(64 * 1024)
    return unpack(data)


def _answer_whole(connection: socket.socket) -> None:
    receive(connection)
    connection.sendall(WHOLE)


TAKEN = resident.TAKEN + (5_000_000).to_bytes(8, "big")
WHOLE = TAKEN + pack(b"answered", b"", b"", b"0")


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"garbage" * 10,
        TAKEN,
        TAKEN[:-1],
        WHOLE[:-1],
        WHOLE[:12],
        WHOLE + b"x",
        b"T" + b"\0" * 8,
        TAKEN + b"AHS1" + b"\xff" * 8,
        TAKEN + pack(),
        TAKEN + pack(b"answered", b"", b"", b"7"),
        TAKEN + pack(b"answered", b"", b"0"),
        TAKEN + pack(b"declined", b"why"),
    ],
    ids=repr,
)
def test_an_answer_that_is_none_counts_as_none(command, payload, sent):
    command.install(RULES)

    def answer(connection: socket.socket) -> None:
        receive(connection)
        connection.sendall(sent)

    imposter = Imposter(command, answer)
    assert command.answer("claude-code", bash(payload, "claude-code", "deny")).why == "not here"
    assert imposter.asked == 1


def test_a_process_that_takes_no_request_is_passed_over(command, payload):
    command.install(RULES)
    imposter = Imposter(command, lambda connection: time.sleep(60))
    assert command.answer("claude-code", bash(payload, "claude-code", "deny")).why == "not here"
    assert imposter.asked == 1


@pytest.mark.parametrize("announced", [5_000_000, 600_000_000])
def test_a_process_that_stops_after_taking_the_request_leaves_time_to_decide(command, payload, announced):
    command.install(RULES)

    def answer(connection: socket.socket) -> None:
        receive(connection)
        connection.sendall(resident.TAKEN + announced.to_bytes(8, "big"))
        time.sleep(60)

    Imposter(command, answer)
    done = command.answer("claude-code", bash(payload, "claude-code", "deny"), "--timeout", "8")
    assert done.denies
    assert "the hooks did not answer" not in done.stderr


def test_a_socket_without_a_process_is_passed_over_and_replaced(command, payload, serve):
    command.install(RULES)
    Imposter(command, None).listener.close()
    assert command.answer("claude-code", bash(payload, "claude-code", "deny")).why == "not here"
    running = serve()
    assert command.answer("claude-code", bash(payload, "claude-code", "deny")).why == "not here"
    assert running.answered == 1


def test_a_folder_that_others_can_enter_is_not_used(command, payload):
    command.install(RULES)
    imposter = Imposter(command, _answer_whole)
    event = bash(payload, "claude-code", "deny")
    assert command.answer("claude-code", event).exit_code == 0  # it answers
    imposter.folder.chmod(0o755)
    assert command.answer("claude-code", event).why == "not here"
    imposter.folder.chmod(0o700)
    imposter.folder.rename(imposter.folder.with_name("elsewhere"))
    imposter.folder.symlink_to("elsewhere")
    assert command.answer("claude-code", event).why == "not here"
    assert imposter.asked == 1


def test_another_users_process_is_not_asked(command, monkeypatch):
    imposter = Imposter(command, _answer_whole)
    monkeypatch.setattr(resident, "TAKEN_SECONDS", 30.0)
    for module in (resident, sockets):
        monkeypatch.setattr(module, "socket_folder", lambda: str(imposter.folder))
        monkeypatch.setattr(module, "socket_name", lambda _: next(imposter.folder.iterdir()).name)
    taken = resident.call([], {}, "Stop", [b"{}"], time.monotonic())
    assert taken is not None
    assert taken.answer() == [b"answered", b"", b"", b"0"]
    monkeypatch.setattr(resident, "peer_of", lambda _: (1, os.geteuid() + 1))
    assert resident.call([], {}, "Stop", [b"{}"], time.monotonic()) is None


def test_without_a_plan_it_is_not_asked_either(command, payload):
    command.install(RULES)
    imposter = Imposter(command, _answer_whole)
    assert command.answer("claude-code", bash(payload, "claude-code", "deny"), "--no-plan").why == "not here"
    assert imposter.asked == 0


EVENT = [b"event", b"0", b"", b"/", b"", b"18", b"Stop", b"--agent\0codex", b"{}"]


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"garbage",
        b"AHS1" + b"\xff" * 8,
        pack(),
        pack(b"unknown"),
        pack(*EVENT)[:-1],
        pack(*EVENT) * 2,
        pack(*EVENT[:-1]),
        pack(*EVENT[:1], b"many", *EVENT[2:]),
        pack(*EVENT[:1], b"9" * 4000, *EVENT[2:]),
        pack(*EVENT[:1], b"9" * 400, *EVENT[2:]),
        pack(*EVENT[:6], b"\xff", *EVENT[7:]),
        pack(*EVENT[:7], b"--agent", *EVENT[8:]),
        pack(*EVENT[:7], b"--agent\0nobody", *EVENT[8:]),
        pack(*EVENT[:7], b"--timeout\0nan\0--agent\0codex", *EVENT[8:]),
        pack(*EVENT),
    ],
    ids=lambda sent: repr(sent)[:30],
)
def test_a_request_that_is_none_costs_only_its_sender(patient, sent):
    with patient.connect() as connection:
        connection.sendall(sent)
        connection.shutdown(socket.SHUT_WR)
        received = b""
        while part := connection.recv(4096):
            received += part
    assert b"answered" not in received
    assert patient.counts[0] == 0


def test_clients_that_send_nothing_keep_nobody_from_an_answer(command, payload, serve):
    command.install(RULES)
    running = serve()
    silent = [running.connect() for _ in range(110)]
    assert command.answer("claude-code", bash(payload, "claude-code", "deny")).why == "not here"
    for each in silent:
        each.close()
    assert command.answer("claude-code", bash(payload, "claude-code", "deny")).why == "not here"
    assert running.answered >= 1


# -- its life ----------------------------------------------------------------------------------------------------------


def test_it_says_whether_it_runs_and_leaves_when_asked(command, serve):
    before = command("serve", "--status")
    assert (before.exit_code, before.stdout.split(":")[0]) == (1, "No resident process runs here")
    running = serve()
    assert f"process {running.process.pid}" in command("serve", "--status").stdout
    assert f"process {running.process.pid}" in command("doctor").stdout
    second = command("serve")
    assert (second.exit_code, "already running" in second.stderr) == (1, True)
    assert command("serve", "--stop").exit_code == 0
    assert "asked to stop" in running.wait()
    assert command("serve", "--stop").exit_code == 1


def test_of_two_that_start_at_once_one_stays(command):
    command.script.write_text(SCRIPT)
    both = [
        subprocess.Popen(command.arguments("serve"), env=command.environment, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    assert is_over(lambda: any(each.poll() is not None for each in both))
    assert is_over(lambda: command("serve", "--status").exit_code == 0)
    command("serve", "--stop")
    assert sorted(each.wait(30) for each in both) == [0, 1]
    said = [each.communicate()[1] for each in both]
    assert sum("already running" in text for text in said) == 1


def test_starting_it_asks_no_hook_of_anybody_and_writes_nothing(command, tmp_path, serve):
    command.install(f"""
        open({str(tmp_path / "imported")!r}, "w").close()

        @hookimpl
        def user_input(prompt):
            open({str(tmp_path / "asked")!r}, "w").close()
    """)
    command.configure(f'[guards.audit]\npath = "{tmp_path}/trail.jsonl"\n')
    serve()
    assert not {"imported", "asked", "trail.jsonl"} & {path.name for path in tmp_path.iterdir()}


def test_it_leaves_when_it_has_had_nothing_to_do(serve):
    assert "nothing happened" in serve("--idle", "0.3").wait()


def test_it_leaves_at_a_signal(serve):
    running = serve()
    running.process.send_signal(signal.SIGTERM)
    assert "SIGTERM" in running.wait()


def test_it_leaves_when_its_files_change(command, payload, tmp_path, serve):
    packages = tmp_path / "copy"
    shutil.copytree(Path(PACKAGES) / "agent_hooks", packages / "agent_hooks")
    for module in ("agent_hooks_core.py", "agent_hooks_launcher.py"):
        shutil.copy(Path(PACKAGES) / module, packages)
    command.environment["PYTHONPATH"] = os.pathsep.join((str(command.site), str(packages)))
    command.install(RULES)
    running = serve()
    event = bash(payload, "claude-code", "deny")
    assert command.answer("claude-code", event).why == "not here"
    assert running.answered == 1
    changed = packages / "agent_hooks" / "wire" / "answer.py"
    before = changed.stat()
    changed.write_text(changed.read_text())
    os.utime(changed, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert command.answer("claude-code", event).why == "not here"
    assert "answer.py has changed" in running.wait()


def test_a_wrong_option_is_an_error(command):
    for arguments in (["--idle", "soon"], ["--idle", "-1"], ["--what"]):
        assert command("serve", *arguments).exit_code == 2
    assert "--idle SECONDS" in command("serve", "--help").stdout


def test_agents_cannot_write_where_the_socket_is(command, payload):
    folder = command.home / ".local" / "state" / "agent-hooks" / "serve"
    for text in (f"touch {folder}/x", f"rm -rf {folder}", f"mv {folder.parent} /tmp/x"):
        event = bash(payload, "claude-code", text)
        assert command.answer("claude-code", event, env={"XDG_STATE_HOME": "/tmp/elsewhere"}).denies
    assert command.answer("claude-code", bash(payload, "claude-code", "agent-hooks serve --stop")).exit_code == 0


# -- frames ------------------------------------------------------------------------------------------------------------


def test_a_frame_holds_any_bytes():
    fields = [b"", b"\0", b"AHS1", os.urandom(100_000)]
    assert unpack(pack(*fields)) == fields
    assert size_of(pack(*fields)) == len(pack(*fields))
    with pytest.raises(BrokenFrameError):
        size_of(b"HTTP/1.1")


def test_variables_of_the_start_are_told_from_others():
    found = sockets.variables_at_start({b"PYTHONPATH": b"a", b"HOME": b"b", b"LC_ALL": b"c", b"PATH": b"d"})
    assert found == {b"PYTHONPATH": b"a", b"LC_ALL": b"c"}


if sys.platform == "linux":

    def test_processes_of_one_sandbox_are_alike():
        from agent_hooks.cli.confinement import confinement_of

        assert confinement_of(os.getpid()) == confinement_of(os.getppid()) is not None
        assert confinement_of(0) is None


def test_files_that_say_what_is_installed_are_watched(tmp_path):
    folder = tmp_path / "site"  # as that of a user, which need not be there yet
    files = LoadedFiles(frozenset(), [str(folder)])
    assert files.changed() == ""
    (folder / "house-1.0.dist-info").mkdir(parents=True)
    points = folder / "house-1.0.dist-info" / "entry_points.txt"
    points.write_text("[agent_hooks]\nhouse = house_rules\n")
    assert files.changed() == ""  # each worker sees that something was installed
    points.write_text("[agent_hooks]\nhouse = mouse_rules\n")
    assert files.changed() == str(points)
    files = LoadedFiles(frozenset(), [str(folder)])
    (folder / "new.pth").write_text("/elsewhere\n")
    assert files.changed() == str(folder)
    files = LoadedFiles(frozenset(), [str(folder)])
    assert files.changed() == ""
    (folder / "new.pth").write_text("/different\n")
    assert files.changed() == str(folder / "new.pth")


def test_a_module_that_takes_the_place_of_a_loaded_one_is_noticed(tmp_path):
    files = LoadedFiles(frozenset(("json", "json.decoder")), [str(tmp_path)])
    (tmp_path / "decoder.py").write_text("")
    assert files.changed() == ""
    (tmp_path / "json").mkdir()
    assert files.changed() == str(tmp_path)


def test_a_file_that_changes_while_it_starts_is_noticed(tmp_path):
    (tmp_path / "new.pth").write_text("/elsewhere\n")
    files = LoadedFiles(frozenset(), [str(tmp_path)])
    changed_ns = (tmp_path / "new.pth").stat().st_ctime_ns
    assert files.changed_since(changed_ns) == str(tmp_path / "new.pth")
    assert files.changed_since(changed_ns + 1) == ""
