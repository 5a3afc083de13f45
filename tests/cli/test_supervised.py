"""``agent-hooks run``: the host gets its answer, whatever hooks do with their process, and nothing of them stays."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from select import select
from time import monotonic, sleep

import pytest

from commands import SCRIPT
from projects import toml

AGENTS = ["claude-code", "codex"]
DENY = """
    @hookimpl
    def before_tool_use(tool_call):
        return HookOutcome.deny("not here")
"""
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
def command(started_command):
    return started_command


def started(command, payload, ready):
    """The command's process, in a group of its own, once a hook has made the file ``ready``."""
    process = subprocess.Popen(
        command.arguments("run", "--agent", "claude-code"),
        env=command.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdin is not None
    process.stdin.write(json.dumps(payload).encode())
    process.stdin.close()
    process.stdin = None
    until = monotonic() + 30
    while not ready.exists():
        assert monotonic() < until
        sleep(0.02)
    return process


@pytest.mark.parametrize("agent", AGENTS)
def test_nothing_a_plugin_prints_gets_into_a_deny(command, payload, agent):
    command.install(NOISY.replace("OUTCOME", 'HookOutcome.deny("not here")'))
    done = command.answer(agent, payload(agent, "PreToolUse"))
    assert done.specific["permissionDecision"] == "deny"
    assert (done.why, done.exit_code) == ("not here", 2)


def test_what_a_plugin_prints_is_on_stderr_where_nobody_is_refused(command, payload):
    command.install(NOISY.replace("OUTCOME", "None"))
    done = command.answer("claude-code", payload("claude-code", "PreToolUse"))
    assert (done.stdout, done.exit_code) == ("", 0)
    for said in ("printed while imported", "written to 1", "an error of mine", "from a process", "its error"):
        assert said in done.stderr


def test_a_flood_of_output_neither_blocks_nor_grows(command, payload):
    command.install("""
        @hookimpl
        def before_tool_use():
            for _ in range(200):
                print("x" * 10_000)
    """)
    done = command.answer("claude-code", payload("claude-code", "PreToolUse"))
    assert (done.stdout, done.exit_code) == ("", 0)
    assert 0 < len(done.stderr) <= 64 * 1024


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize(
    "broken",
    ["import sys; sys.exit(0)", "raise RuntimeError('half installed')", "import no_such_module", "def (:"],
)
def test_a_plugin_that_cannot_be_imported_denies_and_is_named(command, payload, agent, broken):
    command.install(broken)
    done = command.answer(agent, payload(agent, "PreToolUse"))
    assert done.denies
    assert "'house'" in done.stderr
    assert "AGENT_HOOKS_DISABLE=house" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "end",
    ["sys.exit(0)", "os._exit(0)", "os.kill(os.getpid(), 9)", "os.abort()", "raise KeyboardInterrupt", "1 / 0"],
)
def test_a_hook_that_ends_its_process_or_fails_denies(command, payload, end):
    command.install(f"""
        import os, sys

        @hookimpl
        def before_tool_use():
            {end}
    """)
    done = command.answer("codex", payload("codex", "PreToolUse"))
    assert done.denies
    assert "house.before_tool_use" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize(
    "hang",
    [
        "time.sleep(60)",
        "re.match('(a+)+$', 'a' * 60 + 'b')",  # holds the interpreter's lock: no thread of the process gets to run
        "signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals()), time.sleep(60)",
        "subprocess.run(['sleep', '60'])",
    ],
)
def test_a_hook_that_hangs_denies_before_the_host_gives_up(command, payload, agent, hang):
    command.install(f"""
        import re, signal, subprocess, time

        @hookimpl
        def before_tool_use():
            {hang}
    """)
    started = monotonic()
    done = command.answer(agent, payload(agent, "PreToolUse"), "--timeout", "2")
    assert done.denies
    assert "the hook house.before_tool_use" in done.stderr.lower()
    assert "longer timeout" in done.stderr
    assert monotonic() - started < 30


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
def test_the_default_timeout_holds_for_whatever_blocks_and_names_the_hook(command, payload, shape):
    command.configure("[policy]\ntimeout = 1\n")
    options = {"wrapper": "wrapper=True", "async wrapper": "wrapper=True", "match": "match=lambda ctx: time.sleep(300)"}
    source = "import asyncio, re, time\nfrom contextlib import suppress\n"
    command.install(f"{source}\n@hookimpl({options.get(shape, '')})\n{_BLOCKING[shape]}")
    done = command.answer("codex", payload("codex", "PreToolUse"), *_LONG)
    assert done.denies
    assert "the hook house.before_tool_use" in done.stderr.lower()
    assert "longer timeout" in done.stderr


@pytest.mark.parametrize("shape", ["plain", "async", "async after a wait"])
def test_a_hook_that_hangs_and_may_fail_lets_the_other_hooks_decide(command, payload, shape):
    command.configure("[policy]\ntimeout = 1\n")
    command.install(f"import asyncio, time\n\n@hookimpl(on_failure='open', priority=5)\n{_BLOCKING[shape]}")
    assert command.answer("codex", payload("codex", "PreToolUse"), *_LONG).exit_code == 0
    command.install(DENY, name="other")
    done = command.answer("codex", payload("codex", "PreToolUse"), *_LONG)
    assert done.why == "not here"


def test_a_hook_that_takes_its_time_within_its_own_timeout_is_waited_for(command, payload):
    command.configure("[policy]\ntimeout = 0.2\n")
    command.install("""
        import time

        @hookimpl(timeout=60.0)
        def before_tool_use():
            time.sleep(1)
            return HookOutcome.deny("slow but sure")
    """)
    assert command.answer("codex", payload("codex", "PreToolUse"), *_LONG).why == "slow but sure"


def test_a_plugin_that_hangs_while_it_is_imported_is_named(command, payload):
    command.install("import time\ntime.sleep(300)")
    done = command.answer("codex", payload("codex", "PreToolUse"), "--timeout", "2")
    assert done.denies
    assert "'house' of house could not be loaded (" in done.stderr
    assert "HookTimeoutError: " in done.stderr
    assert "house_rules.py:3: HookTimeoutError: " in done.json["systemMessage"]


def test_a_hook_that_ends_its_process_is_named(command, payload):
    command.install("""
        import os

        @hookimpl
        def before_tool_use():
            os._exit(0)
    """)
    assert "the hook house.before_tool_use was running" in command.answer("codex", payload("codex", "PreToolUse")).why


def test_what_a_late_hook_started_is_killed_with_it(command, payload):
    """A process that holds the fifo's other end keeps it open: its end is the process's end."""
    fifo = command.folder / "alive"
    os.mkfifo(fifo)
    command.install(f"""
        import subprocess

        @hookimpl
        def before_tool_use():
            subprocess.run(["sleep", "600"], stdout=open({str(fifo)!r}, "wb"))
    """)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    assert command.answer("claude-code", payload("claude-code", "PreToolUse"), "--timeout", "3").denies
    assert select([reader], [], [], 30)[0]
    assert os.read(reader, 1) == b""
    os.close(reader)


def test_the_deadline_is_before_the_hosts_own(command, payload):
    """Codex gives an interruption 1 s in all."""
    command.install("""
        import time

        @hookimpl
        def on_host_event():
            time.sleep(60)
    """)
    started = monotonic()
    done = command.answer("codex", payload("codex", "documented/Interrupt"))
    assert done.exit_code == 0
    assert "The hook house.on_host_event failed: HookTimeoutError" in done.json["systemMessage"]
    assert monotonic() - started < 30


def test_an_answer_that_was_given_stands_although_something_hangs_after_it(command, payload):
    command.install("""
        import atexit, time

        atexit.register(time.sleep, 60)

        @hookimpl
        def before_tool_use():
            return HookOutcome.deny("not here")
    """)
    done = command.answer("codex", payload("codex", "PreToolUse"), "--timeout", "2")
    assert (done.why, done.exit_code) == ("not here", 2)


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("ending", ["time.sleep(600)", "os._exit(1)", "os.kill(os.getpid(), 9)"])
@pytest.mark.parametrize("colour", ["def", "async def"])
def test_an_observer_that_hangs_or_dies_changes_nothing_about_the_answer(command, payload, agent, colour, ending):
    command.install(f"""
        import os, time

        @hookimpl
        def before_tool_use():
            return HookOutcome.deny("not here")

        @hookimpl(specname="before_tool_use", mode="observe")
        {colour} look():
            {ending}
    """)
    done = command.answer(agent, payload(agent, "PreToolUse"), "--timeout", "2")
    assert (done.why, done.exit_code) == ("not here", 2)


@pytest.mark.once
def test_an_observer_does_not_keep_the_host_waiting_for_long(command, payload):
    """Without a time of its own the command waits 10 s of the host's 600."""
    command.install("""
        import time

        @hookimpl(mode="observe")
        def before_tool_use():
            time.sleep(600)
    """)
    started = monotonic()
    done = command.answer("claude-code", payload("claude-code", "PreToolUse"))
    assert (done.stdout, done.exit_code) == ("", 0)
    assert "still at work" in done.stderr
    assert monotonic() - started < 40


def test_observers_have_no_more_time_than_the_host_gives(command, payload):
    """Claude Code gives the end of a session 1.5 s in all."""
    command.install("""
        import time

        @hookimpl
        def session_end():
            time.sleep(600)
    """)
    started = monotonic()
    done = command.answer("claude-code", payload("claude-code", "SessionEnd"))
    assert (done.stdout, done.exit_code) == ("", 0)
    assert "still at work" in done.stderr
    assert monotonic() - started < 9


def test_a_command_that_is_terminated_while_observers_look_keeps_its_answer(command, payload):
    ready = command.folder / "ready"
    command.install(f"""
        import pathlib, time

        @hookimpl(mode="observe")
        def before_tool_use():
            pathlib.Path({str(ready)!r}).write_text("")
            time.sleep(60)
    """)
    process = started(command, payload("claude-code", "PreToolUse"), ready)
    process.terminate()
    stdout, stderr = process.communicate(timeout=30)
    assert (stdout, stderr, process.returncode) == (b"", b"", 0)


@pytest.mark.parametrize(
    "hang",
    [
        "time.sleep(600)",
        "re.match('(a+)+$', 'a' * 60 + 'b')",
        "signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals()), time.sleep(600)",
        "os.fork() or time.sleep(600)",
    ],
)
def test_hooks_die_with_a_command_that_is_killed(command, payload, hang):
    """They and what they started hold the fifo's other end: when it closes, all of them are gone."""
    fifo, ready = command.folder / "alive", command.folder / "ready"
    os.mkfifo(fifo)
    command.install(f"""
        import os, pathlib, re, signal, subprocess, time

        @hookimpl
        def before_tool_use():
            alive = os.open({str(fifo)!r}, os.O_WRONLY)
            subprocess.Popen(["sleep", "600"], pass_fds=[alive])
            pathlib.Path({str(ready)!r}).write_text("")
            {hang}
            time.sleep(600)
    """)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    process = started(command, payload("claude-code", "PreToolUse"), ready)
    os.killpg(process.pid, signal.SIGKILL)  # as a host does that ends everything it has started
    process.communicate(timeout=30)
    assert select([reader], [], [], 30)[0]
    assert os.read(reader, 1) == b""
    os.close(reader)


def test_observers_in_the_background_and_exit_functions_get_to_their_end(command, payload):
    command.install(f"""
        import atexit, pathlib, time

        atexit.register(pathlib.Path({str(command.folder / "exited")!r}).touch)

        @hookimpl(mode="observe", background=True)
        def before_tool_use():
            time.sleep(0.2)
            pathlib.Path({str(command.folder / "observed")!r}).touch()
    """)
    done = command.answer("claude-code", payload("claude-code", "PreToolUse"))
    assert (done.stdout, done.exit_code) == ("", 0)
    assert (command.folder / "observed").exists()
    assert (command.folder / "exited").exists()


def test_a_process_that_a_hook_leaves_behind_does_not_keep_the_host_waiting(command, payload):
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
    started = monotonic()
    done = command.answer("codex", payload("codex", "PreToolUse"))  # reads to the end of both streams
    for pid in (command.folder / "pids").read_text().split():
        os.kill(int(pid), signal.SIGKILL)
    assert (done.why, done.exit_code) == ("not here", 2)
    assert monotonic() - started < 60


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGXCPU])
def test_a_command_that_is_asked_to_end_still_denies(command, payload, number):
    ready = command.folder / "ready"
    command.install(f"""
        import pathlib, time

        @hookimpl
        def before_tool_use():
            pathlib.Path({str(ready)!r}).write_text("")
            time.sleep(60)
    """)
    process = started(command, payload("claude-code", "PreToolUse"), ready)
    process.send_signal(number)
    stdout, stderr = process.communicate(timeout=30)
    assert process.returncode == 2
    assert json.loads(stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert number.name.encode() in stderr


def test_an_answer_stands_although_the_terminal_hangs_up_after_it(command, payload):
    ready = command.folder / "ready"
    command.install(f"""
        import pathlib, time

        @hookimpl
        def before_tool_use():
            return HookOutcome.deny("not here")

        @hookimpl(mode="observe", specname="before_tool_use")
        def look():
            time.sleep(0.5)  # for the answer to be read
            pathlib.Path({str(ready)!r}).write_text("")
            time.sleep(60)
    """)
    process = started(command, payload("claude-code", "PreToolUse"), ready)
    process.send_signal(signal.SIGHUP)
    _, stderr = process.communicate(timeout=30)
    assert (process.returncode, stderr.splitlines()[0].partition(b"): ")[2]) == (2, b"not here")


@pytest.mark.not_resident("it has imported more, once for all events")
def test_only_what_the_call_needs_is_imported(command, payload):
    command.install("""
        import sys

        @hookimpl
        def before_tool_use():
            heavy = ("argparse", "asyncio", "click", "email.parser", "pydantic", "rich", "sqlite3", "typer")
            return HookOutcome.deny("imported: " + " ".join(name for name in heavy if name in sys.modules))
    """)
    # Plugins of whoever runs the tests would bring what they need.
    done = command.answer("claude-code", payload("claude-code", "PreToolUse"))
    assert done.why.strip() == "imported:"


@pytest.mark.not_resident("it has imported more, once for all events")
def test_a_call_loads_at_most_98_modules_of_ours_without_a_plan(command, payload):
    command.install("""
        import sys

        @hookimpl
        def before_tool_use():
            ours = [name for name in sys.modules if name.partition(".")[0] == "agent_hooks"]
            return HookOutcome.deny(f"{len(ours)} modules: {ours}" if len(ours) > 98 else "few")
    """)
    done = command.answer("claude-code", payload("claude-code", "PreToolUse"))
    assert done.why.strip() == "few"


def test_a_closed_stdout_leaves_the_reason_and_the_exit_code(command, payload):
    command.install(DENY)
    shell = f'exec "{sys.executable}" "{command.script}" run --agent codex >&-'
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
def test_commands_of_hooks_do_not_outlive_the_deadline(command, payload, project, sleep):
    """The commands hold the other end of the fifo: end of file means that all of them are gone.

    The deadline leaves a loaded machine the time to start them.
    """
    fifo = command.folder / "alive"
    os.mkfifo(fifo)
    command.trust(project.write({"agent-hooks.toml": toml(["sh", "-c", f"exec 9> {fifo}; sleep 600 & {sleep}"])}))
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    done = command.answer("claude-code", payload("claude-code", "PreToolUse", cwd=str(project.root)), "--timeout", "5")
    assert done.denies
    assert "the hook agent-hooks.toml:2" in done.stderr.lower()
    assert select([reader], [], [], 30)[0]
    assert os.read(reader, 1) == b""
    os.close(reader)


def test_commands_of_hooks_die_with_a_command_that_is_killed(command, payload, project):
    fifo, ready = command.folder / "alive", command.folder / "ready"
    os.mkfifo(fifo)
    script = f"exec 9> {fifo}; setsid sleep 600 & touch {ready}; sleep 600"
    command.trust(project.write({"agent-hooks.toml": toml(["sh", "-c", script])}))
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    process = started(command, payload("claude-code", "PreToolUse", cwd=str(project.root)), ready)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=30)
    assert select([reader], [], [], 30)[0]
    assert os.read(reader, 1) == b""
    os.close(reader)


# -- without fork ------------------------------------------------------------------------------------------------------


@pytest.mark.not_resident("there is none without fork")
@pytest.mark.parametrize(
    ("hook", "expected"),
    [
        ("print('noise'); return HookOutcome.deny('not here')", "not here"),
        ("time.sleep(60)", "agent-hooks: the hooks did not answer in time."),
        ("sys.exit(0)", "The hook house.before_tool_use failed: SystemExit: 0"),
        ("atexit.register(time.sleep, 60); return HookOutcome.deny('not here')", "not here"),
    ],
)
def test_a_system_without_fork_gets_the_same_answers(command, payload, hook, expected):
    command.install(f"""
        import atexit, sys, time

        @hookimpl
        def before_tool_use():
            {hook}
    """)
    command.script.write_text(f"import os\ndel os.fork\n{SCRIPT}")
    done = command.answer("codex", payload("codex", "PreToolUse"), "--timeout", "2")
    assert done.denies
    assert done.why == expected
