"""``agent-hooks run``: the host gets its answer, whatever hooks do with their process, and nothing of them stays."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from select import select
from time import monotonic, sleep

import pytest

from agent_hooks.cli.supervisor import Child, Marks, supervise
from commands import SCRIPT
from projects import toml

pytestmark = pytest.mark.interpreter

AGENTS = ["claude-code", "codex"]
DENY = ("before_tool_use", 'HookOutcome.deny("not here")')
NOISY = """
    import os, subprocess, sys
    print("printed while imported")
    os.write(1, b"written while imported")

    @hookimpl
    def before_tool_use():
        print('{"hookSpecificOutput": {"permissionDecision": "allow"}}')
        print("an error of mine", file=sys.stderr)
        os.write(1, b"written to 1\\n")
        subprocess.run(["sh", "-c", "echo from a process; echo its error >&2"], check=True)
        return OUTCOME
"""


@pytest.fixture
def ask(command, payload):
    """Answer a tool call, or another recorded event."""

    def ask(*options, agent="codex", event="PreToolUse", **changes):
        return command.answer(agent, payload(agent, event, **changes), *options)

    return ask


@pytest.fixture
def alive(tmp_path):
    """The path of a fifo. Processes that hold it are gone once it has ended."""
    fifo = tmp_path / "alive"
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    yield fifo
    assert select([reader], [], [], 30)[0]
    assert os.read(reader, 1) == b""
    os.close(reader)


@pytest.fixture
def started(command, payload):
    """The command's process, in a group of its own, once a hook has made the file ``ready``."""

    def start(ready, **changes):
        process = command.start(payload=payload("claude-code", "PreToolUse", **changes), start_new_session=True)
        until = monotonic() + 30
        while not ready.exists():
            assert monotonic() < until
            sleep(0.02)
        return process

    return start


@pytest.mark.parametrize("agent", AGENTS)
def test_nothing_a_plugin_prints_gets_into_a_deny(command, ask, agent):
    command.install(NOISY.replace("OUTCOME", 'HookOutcome.deny("not here")'))
    done = ask(agent=agent)
    assert (done.denies, done.specific["permissionDecision"], done.why) == (True, "deny", "not here")


def test_what_a_plugin_prints_is_on_stderr_where_nobody_is_refused(command, ask):
    command.install(NOISY.replace("OUTCOME", "None"))
    done = ask(agent="claude-code")
    assert (done.stdout, done.exit_code) == ("", 0)
    for said in ("printed while imported", "written to 1", "an error of mine", "from a process", "its error"):
        assert said in done.stderr


def test_a_flood_of_output_neither_blocks_nor_grows(command, ask):
    command.hook("before_tool_use", '[print("x" * 10_000) for _ in range(200)] and None')
    done = ask(agent="claude-code")
    assert (done.stdout, done.exit_code) == ("", 0)
    assert 0 < len(done.stderr) <= 64 * 1024


@pytest.mark.parametrize(
    "broken",
    ["import sys; sys.exit(0)", "raise RuntimeError('half installed')", "import no_such_module", "def (:"],
)
def test_a_plugin_that_cannot_be_imported_denies_and_is_named(command, ask, broken):
    command.install(broken)
    done = ask()
    assert (done.denies, "Traceback" in done.stderr) == (True, False)
    assert "AGENT_HOOKS_DISABLE=house" in done.stderr


@pytest.mark.parametrize("source", ["import os; os._exit(0)", "import os; os.kill(os.getpid(), 11)"])
def test_a_plugin_that_ends_the_process_at_its_import_is_named(command, ask, source):
    command.hook(*DENY)
    command.install(source, "deadly")
    done = ask()
    assert (done.denies, "while the import of the plugin 'deadly' of deadly was running" in done.why) == (True, True)


def test_a_hookconf_that_ends_the_process_is_named(command, ask, project):
    command.trust(project.write({"hookconf.py": "import os; os._exit(0)"}))
    done = ask(cwd=str(project.root))
    assert (done.denies, f"while the import of {project.at('hookconf.py')} was running" in done.why) == (True, True)


@pytest.mark.parametrize(
    "end",
    ["sys.exit(0)", "os._exit(0)", "os.kill(os.getpid(), 9)", "os.abort()", "raise KeyboardInterrupt", "1 / 0"],
)
def test_a_hook_that_ends_its_process_or_fails_denies(command, ask, end):
    command.install(f"import os, sys\n@hookimpl\ndef before_tool_use():\n    {end}\n")
    done = ask()
    assert (done.denies, "Traceback" in done.stderr) == (True, False)
    running = end.startswith("os.")
    assert ("the hook house.before_tool_use was running" if running else "house.before_tool_use") in done.stderr


@pytest.mark.parametrize(
    ("agent", "hang"),
    [
        ("claude-code", "time.sleep(600)"),
        ("codex", "time.sleep(600)"),
        ("codex", "re.match('(a+)+$', 'a' * 60 + 'b')"),  # holds the interpreter's lock: no thread gets to run
        ("codex", "signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals()), time.sleep(600)"),
        ("codex", "subprocess.run(['sleep', '600'])"),
    ],
)
def test_a_hook_that_hangs_denies_before_the_host_gives_up(command, ask, agent, hang):
    command.install(f"import re, signal, subprocess, time\n@hookimpl\ndef before_tool_use():\n    {hang}\n")
    done = ask("--timeout", "2", agent=agent)
    assert done.denies
    assert "the hook house.before_tool_use" in done.stderr.lower()
    assert "longer timeout" in done.stderr


# Longer than the test may take: only the hook's own limit ends it.
_LONG = ("--timeout", "300")
_BLOCKING = {
    "plain": "def before_tool_use():\n    time.sleep(300)",
    "match": "def before_tool_use():\n    pass",
    "async": "async def before_tool_use():\n    time.sleep(300)",
    "async after a wait": "async def before_tool_use():\n    await asyncio.sleep(0)\n    time.sleep(300)",
    "wrapper": "def before_tool_use():\n    yield\n    time.sleep(300)",
    "async wrapper": "async def before_tool_use():\n    yield\n    time.sleep(300)",
    "uninterruptible": "def before_tool_use():\n    re.match('(a+)+$', 'a' * 60 + 'b')",
    "catching": "def before_tool_use():\n    while True:\n        with suppress(Exception): time.sleep(300)",
}


@pytest.mark.parametrize("shape", _BLOCKING)
def test_the_default_timeout_holds_for_whatever_blocks_and_names_the_hook(command, ask, shape):
    command.configure("[policy]\ntimeout = 1\n")
    options = {"wrapper": "wrapper=True", "async wrapper": "wrapper=True", "match": "match=lambda ctx: time.sleep(300)"}
    source = "import asyncio, re, time\nfrom contextlib import suppress\n"
    command.install(f"{source}\n@hookimpl({options.get(shape, '')})\n{_BLOCKING[shape]}")
    done = ask(*_LONG)
    assert done.denies
    assert "the hook house.before_tool_use" in done.stderr.lower()
    assert "longer timeout" in done.stderr


@pytest.mark.parametrize("shape", ["plain", "async", "async after a wait"])
def test_a_hook_that_hangs_and_may_fail_lets_the_other_hooks_decide(command, ask, shape):
    command.configure("[policy]\ntimeout = 1\n")
    command.install(f"import asyncio, time\n\n@hookimpl(on_failure='open', priority=5)\n{_BLOCKING[shape]}")
    assert ask(*_LONG).exit_code == 0
    command.hook(*DENY, name="other")
    assert ask(*_LONG).why == "not here"


def test_a_hook_that_takes_its_time_within_its_own_timeout_is_waited_for(command, ask):
    command.configure("[policy]\ntimeout = 0.2\n")
    command.hook("before_tool_use", '__import__("time").sleep(1) or HookOutcome.deny("slow but sure")', "timeout=60.0")
    assert ask(*_LONG).why == "slow but sure"


def test_a_plugin_that_hangs_while_it_is_imported_is_named(command, ask):
    command.install("import time\ntime.sleep(300)")
    done = ask("--timeout", "2")
    assert done.denies
    assert "'house' of house could not be loaded (" in done.stderr
    assert "HookTimeoutError: " in done.stderr
    assert "house_rules.py:3: HookTimeoutError: " in done.json["systemMessage"]


def test_what_a_late_hook_started_is_killed_with_it(command, ask, alive):
    command.install(f"""
        import subprocess

        @hookimpl
        def before_tool_use():
            subprocess.run(["sleep", "600"], stdout=open({str(alive)!r}, "wb"))
    """)
    assert ask("--timeout", "3").denies


def test_the_deadline_is_before_the_hosts_own(command, ask):
    """Codex gives an interruption 1 s in all."""
    command.hook("on_host_event", '__import__("time").sleep(600)')
    done = ask(event="documented/Interrupt")
    assert done.exit_code == 0
    failed = re.search(
        r"house\.on_host_event failed: HookTimeoutError: no answer within (\S+) s", done.json["systemMessage"]
    )
    assert failed is not None
    assert float(failed[1]) < 1


def test_an_answer_that_was_given_stands_although_something_hangs_after_it(command, ask):
    command.install("import atexit, time\natexit.register(time.sleep, 60)")
    command.hook(*DENY, name="other")
    done = ask("--timeout", "2")
    assert (done.why, done.exit_code) == ("not here", 2)


@pytest.mark.parametrize(
    ("colour", "ending"),
    [
        *(("def", ending) for ending in ("time.sleep(600)", "os._exit(1)", "os.kill(os.getpid(), 9)")),
        *(("async def", ending) for ending in ("time.sleep(600)", "os._exit(1)")),
    ],
)
def test_an_observer_that_hangs_or_dies_changes_nothing_about_the_answer(command, ask, colour, ending):
    command.hook(*DENY)
    observer = f'@hookimpl(specname="before_tool_use", mode="observe")\n{colour} look():\n    {ending}\n'
    command.install(f"import os, time\n{observer}", "observer")
    done = ask("--timeout", "2")
    assert (done.why, done.exit_code) == ("not here", 2)


@pytest.mark.parametrize(
    "event",
    [
        pytest.param("PreToolUse", marks=pytest.mark.full),  # the command waits 10 s of the host's 600
        "SessionEnd",  # Claude Code gives it 1.5 s in all
    ],
)
def test_observers_that_hang_are_ended_and_do_not_keep_the_host_waiting(command, ask, event):
    command.hook("before_tool_use", '__import__("time").sleep(600)', 'mode="observe"')
    command.hook("session_end", '__import__("time").sleep(600)', name="second")
    done = ask(agent="claude-code", event=event)
    assert (done.stdout, done.exit_code, "still at work" in done.stderr) == ("", 0, True)


READY = """
    import os, pathlib, re, signal, subprocess, time

    @hookimpl({options})
    def before_tool_use():
        {first}
        pathlib.Path({ready!r}).write_text("")
        {last}
        time.sleep(600)
"""


@pytest.fixture
def ready(command):
    """Install a hook that makes this file, and then waits."""
    path = command.folder / "ready"

    def install(options="", first="pass", last="pass"):
        command.install(READY.format(options=options, first=first, ready=str(path), last=last))
        return path

    return install


def test_a_command_that_is_terminated_while_observers_look_keeps_its_answer(ready, started):
    process = started(ready('mode="observe"'))
    process.terminate()
    stdout, stderr = process.communicate(timeout=30)
    assert (stdout, stderr, process.returncode) == ("", "", 0)


@pytest.mark.parametrize(
    "hang",
    [
        "time.sleep(600)",
        "re.match('(a+)+$', 'a' * 60 + 'b')",
        "signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())",
        "os.fork()",
    ],
)
def test_hooks_die_with_a_command_that_is_killed(ready, started, alive, hang):
    holds = f'subprocess.Popen(["sleep", "600"], pass_fds=[os.open({str(alive)!r}, os.O_WRONLY)])'
    process = started(ready(first=holds, last=hang))
    os.killpg(process.pid, signal.SIGKILL)  # as a host does that ends everything it has started
    process.communicate(timeout=30)


def test_observers_in_the_background_and_exit_functions_get_to_their_end(command, ask):
    observed, exited = command.folder / "observed", command.folder / "exited"
    command.install(f"""
        import atexit, pathlib, sys, threading, time, traceback

        atexit.register(pathlib.Path({str(exited)!r}).touch)

        def is_waited_for():
            stack = traceback.walk_stack(sys._current_frames()[threading.main_thread().ident])
            return threading.Thread.join.__code__ in [frame.f_code for frame, _ in stack]

        @hookimpl(mode="observe", background=True)
        def before_tool_use():
            while not is_waited_for():
                time.sleep(0.01)
            pathlib.Path({str(observed)!r}).touch()
    """)
    done = ask(agent="claude-code")
    assert (done.stdout, done.exit_code, observed.exists(), exited.exists()) == ("", 0, True, True)


def test_a_process_that_a_hook_leaves_behind_does_not_keep_the_host_waiting(command, ask):
    command.forks = False  # for streams that are read to their end
    command.install(f"""
        import os, signal, subprocess

        @hookimpl
        def before_tool_use():
            child = subprocess.Popen(["sleep", "300"])
            forked = os.fork()
            if not forked:
                signal.pause()  # it has every descriptor that the hooks have
            open({str(command.folder / "pids")!r}, "w").write(f"{{child.pid}} {{forked}}")
            return HookOutcome.deny("not here")
    """)
    done = ask()
    for pid in (command.folder / "pids").read_text().split():
        os.kill(int(pid), signal.SIGKILL)
    assert (done.why, done.exit_code) == ("not here", 2)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGXCPU])
def test_a_command_that_is_asked_to_end_still_denies(ready, started, number):
    process = started(ready())
    process.send_signal(number)
    stdout, stderr = process.communicate(timeout=30)
    assert process.returncode == 2
    assert json.loads(stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert number.name in stderr


@pytest.mark.parametrize(("event", "exit_code"), [("PreToolUse", 2), ("Stop", 0)])
def test_a_command_that_cannot_open_what_it_needs_still_refuses_what_can_be_refused(command, event, exit_code):
    limited = "import os, resource as r, sys; r.setrlimit(r.RLIMIT_NOFILE, (5, 5)); os.execv(sys.argv[1], sys.argv[1:])"
    program = [sys.executable, "-c", limited, *command.arguments()]
    done = command.answer("codex", {}, "--event", event, program=program)
    assert (done.stdout, done.exit_code) == ("", exit_code)
    assert done.stderr.startswith("agent-hooks failed: OSError: ")


def test_an_answer_stands_although_the_terminal_hangs_up_after_it(command, ready, started):
    command.hook(*DENY, name="other")
    more_than_fits = 'os.write(1, b"x" * 300_000)'  # it ends once it is read, and the answer before it
    process = started(ready('mode="observe"', first=more_than_fits))
    process.send_signal(signal.SIGHUP)
    _, stderr = process.communicate(timeout=30)
    assert (process.returncode, stderr.splitlines()[0].partition("): ")[2]) == (2, "not here")


@pytest.mark.not_served("it has imported more, once for all events")
def test_only_what_the_call_needs_is_imported(command, ask):
    command.forks = False
    command.install("""
        import sys

        @hookimpl
        def before_tool_use():
            heavy = ("argparse", "asyncio", "click", "email.parser", "pydantic", "rich", "sqlite3", "typer")
            ours = [name for name in sys.modules if name.partition(".")[0] == "agent_hooks"]
            found = [name for name in heavy if name in sys.modules] + (ours if len(ours) > 98 else [])
            return HookOutcome.deny("imported: " + " ".join(found))
    """)
    # Plugins of whoever runs the tests would bring what they need.
    assert ask(agent="claude-code").why.strip() == "imported:"


def test_a_closed_stdout_leaves_the_reason_and_the_exit_code(command, payload):
    command.hook(*DENY)
    shell = f"exec {shlex.join(command.arguments('run', '--agent', 'codex'))} >&-"
    done = subprocess.run(
        ["sh", "-c", shell],
        env=command.environment,
        input=json.dumps(payload("codex", "PreToolUse")).encode(),
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr.splitlines()[0].partition(b"): ")[2]) == (2, b"not here")


# -- commands of hooks -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sleep", ["sleep 600", "trap '' TERM; sleep 600", "setsid sleep 600"])
def test_commands_of_hooks_do_not_outlive_the_deadline(command, ask, project, alive, sleep):
    """The deadline leaves a loaded machine the time to start them."""
    command.trust(project.write({"agent-hooks.toml": toml(["sh", "-c", f"exec 9> {alive}; sleep 600 & {sleep}"])}))
    done = ask("--timeout", "5", agent="claude-code", cwd=str(project.root))
    assert (done.denies, "the hook agent-hooks.toml:2" in done.stderr.lower()) == (True, True)


def test_commands_of_hooks_die_with_a_command_that_is_killed(command, project, started, alive):
    ready = command.folder / "ready"
    script = f"exec 9> {alive}; setsid sleep 600 & touch {ready}; sleep 600"
    command.trust(project.write({"agent-hooks.toml": toml(["sh", "-c", script])}))
    process = started(ready, cwd=str(project.root))
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=30)


# -- without fork ------------------------------------------------------------------------------------------------------


@pytest.mark.not_served("there is none without fork")
@pytest.mark.parametrize(
    ("hook", "expected"),
    [
        ("print('noise'); return HookOutcome.deny('not here')", "not here"),
        ("time.sleep(60)", "agent-hooks: the hooks did not answer in time."),
        ("sys.exit(0)", "The hook house.before_tool_use failed: SystemExit: 0"),
        ("atexit.register(time.sleep, 60); return HookOutcome.deny('not here')", "not here"),
    ],
)
def test_a_system_without_fork_gets_the_same_answers(command, ask, hook, expected):
    command.install(f"""
        import atexit, sys, time

        @hookimpl
        def before_tool_use():
            {hook}
    """)
    command.script.write_text(f"import os\ndel os.fork\n{SCRIPT}")
    done = ask("--timeout", "2")
    assert (done.denies, done.why) == (True, expected)


def test_an_answer_that_was_written_at_the_last_moment_counts():
    answers, answers_in = os.pipe()
    noises, noises_in = os.pipe()

    class Quick(Child):
        """Has written its answer, and ended, since it was looked last."""

        def has_ended(self):
            os.write(answers_in, b'["said","",0]\n')
            return True

        def kill(self):
            pass

    assert supervise(Quick(0, ""), answers, noises, monotonic() + 60, Marks()) == (("said", "", 0), b"")
    for descriptor in (answers, answers_in, noises, noises_in):
        os.close(descriptor)
