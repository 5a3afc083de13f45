"""``agent-hooks serve``: a child of the warm process answers each event, and as the command does by itself."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from agent_hooks.cli.confinement import confinement_of
from agent_hooks.system.sockets import address_of, open_folder
from projects import denying, toml
from waiting import eventually
from warm import RULES, Warm, bash

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="a warm process is started by hand elsewhere")


@pytest.fixture
def command(wired):
    return wired


def hookconf(reason):
    return (
        "from agent_hooks import HookOutcome, hookimpl\n\n"
        f"@hookimpl\ndef before_tool_use():\n    return HookOutcome.deny({reason!r})\n"
    )


def ask(command, event, *arguments, **options):
    return command.answer("claude-code", event, *arguments, **options)


# -- the same answers --------------------------------------------------------------------------------------------------

HANGS = "import time\n@hookimpl\ndef before_tool_use():\n    time.sleep(60)\n"
TELLS = """
    import os, sys, time, resource

    @hookimpl
    def before_tool_use(tool_call):
        print("{}")
        os.write(1, b"from C")
        umask = os.umask(0)
        found = [os.getcwd(), umask, os.read(0, 1), sorted(os.environ), time.strftime("%Z")]
        found += [os.nice(0), resource.getrlimit(resource.RLIMIT_NOFILE), sys.path, sys.argv[1:], sys.prefix]
        return HookOutcome.deny(repr(found))
"""
CASES = {
    "allows": (RULES, {}, "ls", ()),
    "denies": (RULES, {}, "deny", ()),
    "asks": (RULES, {}, "ask", ()),
    "grants": (RULES, {}, "allow", ()),
    "for_another_host": (RULES, {"agent": "codex"}, "deny", ()),
    "finds_out_the_host": (RULES, {"agent": "auto"}, "deny", ()),
    "is_protected": (RULES, {}, "echo > ~/.config/agent-hooks/agent-hooks.toml", ()),
    "has_no_time": (HANGS, {}, "ls", ("--timeout", "2")),
    "ends_its_process": ("import os\n@hookimpl\ndef before_tool_use():\n    os._exit(3)\n", {}, "ls", ()),
    "fails": ("@hookimpl\ndef before_tool_use():\n    raise KeyError(1)\n", {}, "ls", ()),
    "is_broken": ("import nosuch\n", {}, "ls", ()),
    "ends_the_process_at_import": ("import os\nos._exit(0)\n", {}, "ls", ()),
    "is_switched_off": (RULES, {"env": {"AGENT_HOOKS_DISABLE": "house"}}, "deny", ()),
    "sees_the_process_of_the_host": (TELLS, {"env": {"MARK": "x"}}, "ls", ()),
    "is_given_a_module": (RULES, {}, "ls", ("-p", "json")),
    "gets_a_wrong_option": (RULES, {"answered": 0}, "ls", ("--nosuch",)),
    "gets_a_wrong_payload": (RULES, {"payload": "[]", "answered": 0}, "ls", ("--event", "PreToolUse")),
    "gets_no_payload": (RULES, {"payload": "", "answered": 0}, "ls", ("--event", "PreToolUse")),
    "gets_another_event": (RULES, {"answered": 0}, "ls", ("--event", "Stop")),
    "gets_two_megabytes": (RULES, {}, "deny " + "x" * 2_000_000, ()),
    "gets_half_a_character": (RULES, {}, "deny \ud800", ()),
    "runs_a_command": ("", {"settings": toml(denying("of the user"))}, "ls", ()),
    "has_wrong_settings": ("", {"settings": "[policy]\nnosuch = 1\n"}, "ls", ()),
}


_QUICK = ("denies", "ends_its_process", "sees_the_process_of_the_host", "gets_a_wrong_option", "gets_no_payload")


@pytest.mark.interpreter
@pytest.mark.parametrize(
    ("source", "given", "text", "arguments"),
    [pytest.param(*case, id=name, marks=() if name in _QUICK else pytest.mark.full) for name, case in CASES.items()],
)
def test_the_answer_is_that_of_the_command_alone(command, payload, tmp_path, source, given, text, arguments):
    if source:
        command.install(source)
    if "settings" in given:
        command.configure(given["settings"])
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    words = ("run", "--agent", given.get("agent", "claude-code"), *arguments)

    def answer(session, *more):
        host = given.get("agent", "auto").replace("auto", "claude-code")
        event = json.dumps(bash(payload, host, text, cwd=str(folder), session_id=session))
        done = command(*words, *more, stdin=given.get("payload", event), env=given.get("env"), cwd=folder)
        # What differs is how the command was called, and how long it takes.
        texts = (re.sub(r", '--no-serve'|(?<=within )[\d.]+", "", each) for each in (done.stdout, done.stderr))
        return done.exit_code, *texts

    umask = os.umask(0o027)
    try:
        alone = answer("alone", "--no-serve")
        running = command.serve()
        served = [answer("first"), answer("second")]
    finally:
        os.umask(umask)
    assert running.counts[0] == given.get("answered", 2), running.counts
    assert served == [alone] * 2


def test_whatever_changes_counts_at_the_next_event(command, payload, project):
    running = command.serve()
    event = bash(payload, "claude-code", "deny", cwd=str(project.root))
    assert ask(command, event).exit_code == 0
    command.configure(toml(denying("first")))
    assert ask(command, event).why == "first"
    file = command.config / "agent-hooks.toml"
    before = file.stat()
    file.write_text(file.read_text().replace("first", "other"))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert ask(command, event).why == "other"
    file.unlink()
    project.write({"hookconf.py": hookconf("not in this project")})
    assert ask(command, event).exit_code == 0
    command.trust(project)
    assert ask(command, event).why == "not in this project"
    project.write({"hookconf.py": hookconf("changed")})
    assert "has seen hooks that do not hold" in ask(command, event).said
    assert ask(command, {**event, "session_id": "begins later"}).exit_code == 0
    assert running.answered == 7


def test_what_a_hook_does_to_its_process_holds_for_one_event(command, payload):
    command.install("""
        import builtins, os, sys

        @hookimpl
        def before_tool_use(tool_call):
            found = repr([os.getcwd(), hasattr(builtins, "spoilt"), "SPOILT" in os.environ, os.umask(0)])
            if tool_call.command == "spoil":
                os.environ["SPOILT"] = "1"
                os.chdir("/")
                builtins.spoilt = builtins.open = HookOutcome.deny = None
                if os.fork() == 0:
                    os.setsid()
                os.closerange(3, 256)
                os._exit(0)
            return HookOutcome.deny(found)
    """)
    running = command.serve()
    events = [bash(payload, "claude-code", text) for text in ("ls", "spoil", "ls")]
    first, spoilt, last = (ask(command, event) for event in events)
    assert spoilt.denies
    assert first.why == last.why
    assert first.why.startswith("['/")
    assert running.answered == 3


def test_many_clients_are_answered_at_once(command, payload):
    command.install(RULES)
    running = command.serve()
    texts = ["ls", "deny"] * 8
    with ThreadPoolExecutor(8) as pool:
        answers = [*pool.map(lambda text: ask(command, bash(payload, "claude-code", text)).denies, texts)]
    assert answers == [text == "deny" for text in texts]
    assert sum(running.counts[:2]) == len(texts)  # a busy machine decides some by itself


# -- what plugins do at import -----------------------------------------------------------------------------------------

DENY = "@hookimpl\ndef before_tool_use():\n    return HookOutcome.deny(repr(FOUND))\n"
THREAD = """
import threading
lock = threading.Lock()
lock.acquire()
threading.Thread(target=lock.acquire, daemon=True).start()
"""
EFFECTS = {
    "looks_at_the_folder": ("import os\nFOUND = os.getcwd()\n", "looks at the working folder"),
    "looks_at_a_relative_path": ("import os\nFOUND = os.path.exists('flag')\n", "looks at the working folder"),
    "starts_a_thread": (f"{THREAD}FOUND = threading.active_count()\n", "(does _thread.start|starts a thread)"),
    "leaves_a_socket_open": ("import socket\nSOCKET = socket.socket()\nFOUND = 1\n", "leaves a file open"),
    "writes_a_file": ("FILE = open(__file__ + '.log', 'a')\nFILE.write('x')\nFILE.close()\nFOUND = 1\n", "writes "),
    "starts_a_process": ("import os\nFOUND = os.system('true')\n", "does os.system"),
    "reads_all_variables": ("import os\nFOUND = {**os.environ}.get('LEVEL')\n", "reads all variables"),
    "sets_a_variable": ("import os\nos.environ['PYTHON_IS'] = 'set'\nFOUND = 1\n", "does os.putenv"),
    "handles_a_signal": (
        "import signal\nsignal.signal(signal.SIGUSR1, signal.SIG_IGN)\nFOUND = 1\n",
        "sets the umask, a signal's handler or a timer",
    ),
    "ends_the_process": ("import os\nos._exit(0)\n", "its import does not end"),
}


@pytest.mark.parametrize(("source", "effect"), EFFECTS.values(), ids=EFFECTS)
def test_an_import_that_does_something_is_left_to_each_event(command, payload, source, effect):
    command.install(source + DENY)
    event = bash(payload, "claude-code", "ls")
    alone = ask(command, event, "--no-serve")
    running = command.serve()
    served = [ask(command, event, cwd=command.folder) for _ in range(2)]
    assert [done.said for done in served] == [alone.said] * 2
    assert running.answered == 2
    status = command("serve", "--status").stdout
    assert re.search(f"each event imports the plugin house: (its import )?{effect}", status)


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("import os\nFOUND = os.environ.get('LEVEL')\n", "'two'"),
        ("import os\nFOUND = 'LEVEL' in os.environ\n", "True"),
    ],
)
def test_a_variable_that_is_read_at_import_has_the_value_of_the_event(command, payload, source, value):
    command.install(source + DENY)
    running = command.serve()
    event = bash(payload, "claude-code", "ls")
    assert ask(command, event).exit_code == 2
    assert running.answered == 1
    assert ask(command, event, env={"LEVEL": "two"}).why == value
    assert running.answered == 1
    assert running.end() == "another value of the variable LEVEL"


def test_a_file_that_is_read_at_import_is_read_anew_when_it_changes(command, payload, tmp_path):
    settings = tmp_path / "settings"
    settings.write_text("one")
    command.install(f"FOUND = open({str(settings)!r}).read()\n{DENY}")
    running = command.serve()
    event = bash(payload, "claude-code", "ls")
    assert ask(command, event).why == "'one'"
    assert running.answered == 1
    settings.write_text("two")
    assert ask(command, event).why == "'two'"
    assert "has changed" in running.wait()
    assert ask(command, event).why == "'two'"


def test_a_module_that_an_import_has_missed_counts_once_it_is_there(command, payload):
    package = command.site / "house_parts"
    package.mkdir()
    (package / "__init__.py").write_text(
        "try:\n    from .local import FOUND\nexcept ImportError:\n    FOUND = 'none'\n"
    )
    command.install(f"from house_parts import FOUND\n{DENY}")
    running = command.serve()
    event = bash(payload, "claude-code", "ls")
    assert ask(command, event).why == "'none'"
    assert running.answered == 1
    (package / "local.py").write_text("FOUND = 'local'\n")
    assert ask(command, event).why == "'local'"
    assert "has changed" in running.wait()


def test_what_the_start_of_python_reads_has_the_value_of_the_event(command, payload):
    (command.site / "house.pth").write_text("import builtins, os; builtins.LEVEL = os.environ.get('LEVEL')\n")
    command.install(f"import builtins\nFOUND = builtins.LEVEL\n{DENY}")
    running = command.serve()
    event = bash(payload, "claude-code", "ls")
    assert ask(command, event).why == "None"
    assert running.answered == 1
    assert ask(command, event, env={"LEVEL": "two"}).why == "'two'"
    assert running.end() == "another value of the variable LEVEL"


# -- clients that are not alike ----------------------------------------------------------------------------------------

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


@pytest.mark.parametrize(
    "sandbox", [NO_NEW_PRIVILEGES, LANDLOCK, NAMESPACE], ids=["privileges", "landlock", "namespace"]
)
def test_it_does_not_answer_for_a_process_in_a_sandbox(command, payload, sandbox):
    if subprocess.run([sys.executable, "-c", sandbox, "/bin/true"], check=False).returncode == 77:
        pytest.skip("this system lets nobody into such a sandbox")
    command.install(RULES)
    running = command.serve()
    program = [sys.executable, "-c", sandbox, *command.arguments()]
    assert ask(command, bash(payload, "claude-code", "deny"), program=program).why == "not here"
    assert command("serve", "--stop", program=program).stdout.startswith("Asked to leave") is False
    assert running.answered == 0
    running.end()


def test_the_limits_the_niceness_and_the_variables_of_the_client_hold_for_its_hooks(command, payload):
    command.install(TELLS)
    event = bash(payload, "claude-code", "ls")
    program = [sys.executable, "-c", LIMITED, *command.arguments()]
    alone = ask(command, event, "--no-serve", program=program)
    running = command.serve(env={"NOT_OF_THE_EVENT": "1"})
    served = ask(command, event, program=program)
    assert "(100, 200)" in served.why
    assert served.why == alone.why.replace(", '--no-serve'", "")
    assert running.answered == 1


def test_what_the_warm_process_was_started_with_does_not_hold_for_others(command, payload):
    command.install(TELLS)
    event = bash(payload, "claude-code", "ls")
    alone = ask(command, event, "--no-serve")
    command.serve(program=[sys.executable, "-c", LIMITED, *command.arguments()])
    assert ask(command, event).why == alone.why.replace(", '--no-serve'", "")


def test_one_with_other_libraries_is_not_asked(command, payload):
    libraries = {"LD_LIBRARY_PATH": "/nowhere"}
    running = command.serve(env=libraries)
    assert f"process {running.process.pid}" in command("serve", "--status", env=libraries).stdout
    assert command("serve", "--status").exit_code == 1
    command.install(RULES)
    assert ask(command, bash(payload, "claude-code", "deny")).why == "not here"
    assert not running.has_ended
    running.process.terminate()
    running.wait()


def test_one_of_another_environment_with_the_same_interpreter_is_not_asked(command, tmp_path):
    alias = tmp_path / "alias"
    alias.mkdir()
    (alias / "bin").symlink_to(command.folder / "bin")
    (alias / "pyvenv.cfg").write_text((command.folder / "pyvenv.cfg").read_text())
    (alias / "lib").symlink_to(command.folder / "lib")
    words = [str(alias / "bin" / "python"), *command.arguments()[1:]]
    running = Warm(command, program=words)
    try:
        assert f"process {running.process.pid}" in command("serve", "--status", program=words).stdout
        assert command("serve", "--status").exit_code == 1
    finally:
        running.process.terminate()
        running.wait()


# -- when something goes wrong -----------------------------------------------------------------------------------------


@pytest.fixture
def asked(command, payload, tmp_path):
    """A command that waits for a hook of the user, which has told its process."""
    pid = tmp_path / "pid"

    def start(*arguments):
        command.configure(toml(f"echo $$ > {pid}; exec sleep 600"))
        client = command.start(*arguments, payload=bash(payload, "claude-code", "ls"))
        assert eventually(lambda: pid.exists() and pid.read_text().strip() != "", 30)
        return client, int(pid.read_text())

    return start


def has_ended(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def children_of(running):
    pid = running.process.pid
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def test_the_hooks_end_with_the_command_of_the_host(command, asked):
    running = command.serve()
    client, hook = asked()
    client.kill()
    client.communicate()
    assert eventually(lambda: has_ended(hook) and not children_of(running), 30)
    assert not running.has_ended


def test_a_signal_to_the_command_is_answered_as_without_it(command, asked, tmp_path):
    answers = []
    for arguments in (("--no-serve",), ()):
        if not arguments:
            command.serve()
        client, hook = asked(*arguments)
        client.terminate()
        answers.append((*client.communicate(), client.returncode))
        assert eventually(partial(has_ended, hook), 30)
        (tmp_path / "pid").unlink()
    assert "asked to end (SIGTERM)" in answers[0][1]
    assert answers[0] == answers[1]


def test_hooks_that_are_killed_are_answered_for(command, asked):
    running = command.serve()
    client, hook = asked()
    (child,) = children_of(running)
    os.kill(child, signal.SIGKILL)
    said, why = client.communicate(timeout=60)
    assert client.returncode == 2
    assert "was ended by signal 9 before it answered" in said + why
    assert eventually(lambda: has_ended(hook), 30)
    assert not running.has_ended


def test_an_event_is_answered_though_the_warm_process_is_killed(command, asked):
    running = command.serve()
    client, hook = asked("--timeout", "3")
    running.process.kill()
    running.process.communicate()
    said, why = client.communicate(timeout=60)
    assert client.returncode == 2
    assert "no answer within" in said + why
    assert eventually(lambda: has_ended(hook), 30)


def test_a_child_that_stands_still_is_given_up_at_the_deadline(command, asked):
    running = command.serve()
    client, hook = asked("--timeout", "3")
    (child,) = children_of(running)
    os.kill(child, signal.SIGSTOP)
    said, why = client.communicate(timeout=60)
    assert client.returncode == 2
    assert "did not answer in time" in said + why
    assert eventually(lambda: has_ended(hook) and not children_of(running), 30)


def test_one_that_stands_still_is_passed_over(command, payload):
    command.install(RULES)
    running = command.serve()
    os.kill(running.process.pid, signal.SIGSTOP)
    try:
        assert ask(command, bash(payload, "claude-code", "deny")).why == "not here"
    finally:
        os.kill(running.process.pid, signal.SIGCONT)
    assert ask(command, bash(payload, "claude-code", "deny")).why == "not here"
    assert eventually(lambda: running.answered == 1, 30)


def test_another_program_behind_the_socket_is_not_asked(command, payload):
    command.install(RULES)
    command.serve().end()
    (lock,) = (command.home / ".local/state/agent-hooks/serve").glob("*.lock")
    code = "import socket, sys; s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(); print(flush=True)"
    code += "; sys.stdin.read()"
    words = [sys.executable, "-c", code, str(lock.with_suffix(""))]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as imposter:
        assert imposter.stdin is not None
        assert imposter.stdout is not None
        imposter.stdout.readline()
        assert ask(command, bash(payload, "claude-code", "deny")).why == "not here"
        assert command("serve", "--status").exit_code == 1
        imposter.stdin.close()
    # A socket that nobody listens at is replaced.
    assert ask(command, bash(payload, "claude-code", "deny")).why == "not here"
    assert "serving" in command.serve().first_line
    lock.parent.chmod(0o755)
    assert ask(command, bash(payload, "claude-code", "deny")).why == "not here"
    assert command("serve", "--status").exit_code == 1
    lock.parent.chmod(0o700)


def test_requests_that_are_none_cost_only_their_sender(command, payload):
    command.install(RULES)
    running = command.serve()
    (lock,) = (command.home / ".local/state/agent-hooks/serve").glob("*.lock")
    folder = open_folder(str(lock.parent))
    for sent in (b"", b"garbage" * 10, b"\0" * 7 + b"\1", b"\xff" * 8, b"\0" * 7 + b"\1N", b"\0" * 7 + b"\6(\0\0\0\0N"):
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(30)
            connection.connect(address_of(folder, str(lock.parent), lock.stem))
            connection.sendall(sent)
            connection.shutdown(socket.SHUT_WR)
            assert connection.recv(100)[:1] in (b"", b"\0")
    assert ask(command, bash(payload, "claude-code", "deny")).why == "not here"
    assert running.answered == 1


# -- its life ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def started(command):
    """Whether the events of this command start the warm process, which must end with the test."""
    del command.environment["CI"]
    yield lambda: eventually(lambda: command("serve", "--status").exit_code == 0, 30)
    os.kill(running_process(command), signal.SIGTERM)  # `--stop` is no command for the process that had the event
    assert eventually(lambda: command("serve", "--status").exit_code == 1, 30)


def running_process(command):
    found = re.search(r"process (\d+)", command("serve", "--status").stdout)
    assert found is not None
    return int(found[1])


def test_the_first_event_starts_it_detached(command, payload, started):
    event = bash(payload, "claude-code", "ls")
    read, write = os.pipe()
    os.set_inheritable(write, True)
    done = subprocess.run(
        command.arguments("run", "--agent", "claude-code"),
        input=json.dumps(event).encode(),
        env=command.environment,
        close_fds=False,
        capture_output=True,
        check=True,
    )
    os.close(write)
    assert done.stdout == b""
    assert os.read(read, 1) == b""  # the descriptor was not passed on
    os.close(read)
    assert started()
    pid = running_process(command)
    facts = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    assert (facts[3], os.readlink(f"/proc/{pid}/cwd")) == (str(pid), "/")
    assert ask(command, event).exit_code == 0
    assert "answered 1" in command("serve", "--status").stdout


def test_one_that_was_killed_is_started_again_later(command, payload, started):
    event = bash(payload, "claude-code", "ls")
    ask(command, event)
    assert started()
    os.kill(running_process(command), signal.SIGKILL)
    assert ask(command, event).exit_code == 0
    assert command("serve", "--status").exit_code == 1
    (tried,) = (command.home / ".local/state/agent-hooks/serve").glob("*.tried")
    os.utime(tried, (0, 0))
    assert ask(command, event).exit_code == 0
    assert started()


@pytest.mark.parametrize("source", ["variable", "ci", "user", "memory"])
def test_no_event_starts_it(command, payload, source):
    del command.environment["CI"]
    options: dict[str, Any] = {}
    if source == "variable":
        options["env"] = {"AGENT_HOOKS_SERVE": "0"}
    elif source == "ci":
        options["env"] = {"CI": "true"}
    elif source == "user":
        command.configure("[serve]\nstart = false\n")
    else:
        limit = LIMITED.replace("RLIMIT_NOFILE, (100, 200)", "RLIMIT_AS, (2**27, 2**27)")
        options["program"] = [sys.executable, "-c", limit, *command.arguments()]
    assert ask(command, bash(payload, "claude-code", "ls"), **options).exit_code == 0
    folder = command.home / ".local/state/agent-hooks/serve"
    if source in ("user", "memory"):  # it has looked, and left
        assert eventually(lambda: "did not start" in command("serve", "--status").stdout, 30)
    assert not [path for path in folder.glob("*") if path.is_socket()]
    assert command("serve", "--status").exit_code == 1


def test_a_project_does_not_say_whether_it_starts(command, project):
    command.trust(project.write({"agent-hooks.toml": "[serve]\nstart = false\n"}))
    assert (
        "not for a project" in command("check", str(project.root)).said
        or "serve" in command("doctor", str(project.root)).said
    )


def test_it_says_whether_it_runs_and_leaves_when_asked(command):
    before = command("serve", "--status")
    assert (before.exit_code, before.stdout.split(":")[0]) == (1, "No warm process runs here")
    running = command.serve()
    assert f"process {running.process.pid}" in command("serve", "--status").stdout
    said = f"process {running.process.pid}; events answered 0, declined 0"
    assert f"A warm process answers the events: {said}." in command("doctor").stdout.splitlines()
    assert json.loads(command("doctor", "--json").stdout)["warm_process"] == said
    second = command("serve")
    assert (second.exit_code, "already running" in second.stderr) == (1, True)
    assert command("serve", "--stop").exit_code == 0
    assert "SIGTERM" in running.wait()
    assert command("serve", "--stop").exit_code == 1


def test_of_two_that_start_at_once_one_stays(command):
    both = [_starting(command) for _ in range(2)]
    assert eventually(lambda: any(each.poll() is not None for each in both), 30)
    assert eventually(lambda: command("serve", "--status").exit_code == 0, 30)
    command("serve", "--stop")
    assert sorted(each.wait(30) for each in both) == [0, 1]
    said = [each.communicate()[1] for each in both]
    assert sum("already running" in text for text in said) == 1, said


def _starting(command):
    return subprocess.Popen(command.arguments("serve"), env=command.environment, stderr=subprocess.PIPE, text=True)


def test_starting_it_asks_no_hook_and_counts_nothing(command, tmp_path):
    command.install(f"""
        @hookimpl
        def user_input(prompt):
            open({str(tmp_path / "asked")!r}, "w").close()
    """)
    command.configure(f'[guards.audit]\npath = "{tmp_path}/trail.jsonl"\n')
    command.serve()
    assert not {"asked", "trail.jsonl"} & {path.name for path in tmp_path.iterdir()}


def test_it_leaves_when_it_has_had_nothing_to_do(command):
    assert "nothing happened" in command.serve("--idle", "0.3").wait()


def test_it_leaves_at_a_signal(command):
    running = command.serve()
    running.process.send_signal(signal.SIGTERM)
    assert "SIGTERM" in running.wait()


def test_it_leaves_when_something_is_installed_or_changes(command, payload):
    event = bash(payload, "claude-code", "deny")
    first = command.serve()
    assert ask(command, event).exit_code == 0
    command.install(RULES)
    assert ask(command, event).why == "not here"
    assert "has changed" in first.wait()
    second = command.serve()
    assert ask(command, event).why == "not here"
    assert second.answered == 1
    module = command.site / "house_rules.py"
    before = module.stat()
    module.write_text(module.read_text().replace("not here", "not now!"))
    os.utime(module, ns=(before.st_atime_ns, before.st_mtime_ns + 10**9))
    assert ask(command, event).why == "not now!"
    assert "has changed" in second.wait()


def test_a_wrong_option_is_an_error(command):
    for arguments in (["--idle", "soon"], ["--idle", "-1"], ["--what"]):
        assert command("serve", *arguments).exit_code == 2
    assert "--idle SECONDS" in command("serve", "--help").stdout


def test_agents_cannot_write_where_the_socket_is(command, payload):
    folder = command.home / ".local" / "state" / "agent-hooks" / "serve"
    for text in (f"touch {folder}/x", f"rm -rf {folder}", f"mv {folder.parent} /tmp/x"):
        event = bash(payload, "claude-code", text)
        assert ask(command, event, env={"XDG_STATE_HOME": "/tmp/elsewhere"}).denies


@pytest.mark.parametrize("option", ["", " --stop", " --idle 900", " --status"])
def test_an_agent_may_only_ask_whether_it_runs(command, payload, option):
    line = f"LD_PRELOAD=./x.so agent-hooks serve{option}"
    assert ask(command, bash(payload, "claude-code", line)).denies is (option != " --status")


def test_processes_of_one_sandbox_are_alike():
    assert confinement_of(os.getpid()) == confinement_of(os.getppid()) is not None
    assert confinement_of(0) is None
