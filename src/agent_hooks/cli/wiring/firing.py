"""Running the command line of a gate as its host does, with faulty hooks, and the verdict of the host.

The faults are in a ``hookconf.py`` of a temporary project, which a temporary configuration trusts: nothing that is
configured changes, and there is no switch that an agent could set. Own hooks of the user are asked as well.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tempfile
from contextlib import suppress
from statistics import median
from time import perf_counter

from agent_hooks.system.folders import config_dirs
from agent_hooks.system.quick_json import dumps
from agent_hooks.trust.discovery import discover
from agent_hooks.trust.trust_store import TrustStore

from .verdicts import BLOCKED, RUNS, Ended, verdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from agent_hooks.wire.host import Host

    Handler = Mapping[str, Any]

# Seconds for the answer to a hook that hangs, in place of those in the command line: the next ones on a machine that is
# too busy to reach the hook in time. And after how many more the command is given up.
_HANG_SECONDS, _GRACE_SECONDS = (2, 15, 60), 8
# A host would wait longer for all else.
_PATIENCE_SECONDS = 60.0
MISSING, HANG = "missing command", "hang"
# By fault, the code at the import of the hooks, and that of the hook.
FAULTS = {
    "deny": ("", "return HookOutcome.deny('A hook of agent-hooks doctor denies.')"),
    "crash": ("", "os.kill(os.getpid(), 9)"),
    HANG: ("", "time.sleep(3600)"),
    "garbage": ("", "os.write(1, b'garbage {'); return 'garbage'"),
    "exit at import": ("reached(); os._exit(0)", "pass"),
}
_HOOKS = """\
import os, time
from agent_hooks import HookOutcome, hookimpl

def reached():
    open({mark!r}, "w").close()

{at_import}

@hookimpl(specname={event!r}, mode="gate", timeout={seconds})
def fault(ctx):
    reached()
    {in_hook}
"""
TIMEOUT = re.compile(r"(--timeout[\0 =])(\d+(?:\.\d+)?)")
_RUN = re.compile(r"(?<=[\0 ]run)(?=[\0 ])")
# Variables of a host for the commands in a session: here they would lead elsewhere.
_OF_SESSIONS = {f"{host}_PROJECT_DIR" for host in ("CLAUDE", "COPILOT", "CURSOR", "GEMINI", "QWEN")}
_PREFIX = "agent-hooks-doctor-"
_FOLDER = re.compile(rf"[^\s'\"]*/{_PREFIX}[^/]*/")
_PROGRAM = re.compile(r"""(?<=\A\[ -x )(?:'[^']*'|\S)+|\A(?!\[ -x )\s*(?:'[^']*'|"[^"]*"|\S)+""")


class Gate:
    """A gate of a ``host`` that is wired: its ``event``, also by our ``name``, and its ``handler``.

    ``directory``: where a session works. ``closes``: the entry has the host refuse where the command fails.
    ``is_late``: the host gives up the command before that gives up a hook.
    """

    def __init__(
        self, host: Host, event: str, handler: Handler, directory: str, *, closes: bool, is_late: bool
    ) -> None:
        self.host = host
        self.event = event
        self.name = host.rows[event].event
        self.handler = handler
        self._directory = directory
        self._closes = closes
        self._is_late = is_late
        self.stays_open = False  # where our environment is gone

    def try_harmless(self, *, runs: int = 1) -> dict[str, Any]:
        """Return the verdict on a harmless event, here and now, with the median time of several runs."""
        results = [self._run(self.handler, self._directory, {}) for _ in range(runs)]
        found = self._facts("harmless", results[-1][0], RUNS)
        found["milliseconds"] = round(1000 * median(seconds for _, seconds in results))
        return found

    def fire(self) -> Iterator[dict[str, Any]]:
        """Yield the verdict on the event with each fault."""
        with tempfile.TemporaryDirectory(prefix=_PREFIX, ignore_cleanup_errors=True) as folder:
            folder = os.path.realpath(folder)
            environment = _temporary(folder)
            for fault in FAULTS:
                yield self._try_fault(fault, os.path.join(folder, fault.replace(" ", "-")), environment)
            there_is_none = os.path.join(folder, "missing").replace("\\", "/")
            ended, _ = self._run(_without_program(self.handler, there_is_none), folder, environment)
            yield self._facts(MISSING, ended, RUNS if self.stays_open else BLOCKED)

    def _try_fault(self, fault: str, root: str, environment: dict[str, str]) -> dict[str, Any]:
        mark, (at_import, in_hook) = os.path.join(root, "reached"), FAULTS[fault]
        os.makedirs(os.path.join(root, ".git"))
        with open(os.path.join(root, "hookconf.py"), "w", encoding="utf-8") as file:
            texts = {"at_import": at_import, "in_hook": in_hook, "seconds": _PATIENCE_SECONDS}
            file.write(_HOOKS.format(mark=mark, event=self.name, **texts))
        TrustStore(os.path.join(environment["AGENT_HOOKS_CONFIG_DIR"], "trust")).trust(discover(root))
        if fault != HANG:
            ended, _ = self._run(self.handler, root, environment)
        for seconds in _HANG_SECONDS if fault == HANG else ():
            ended, _ = self._run(_sooner(self.handler, seconds), root, environment, seconds + _GRACE_SECONDS)
            if os.path.exists(mark):
                break
        if fault == HANG and self._is_late:
            ended = Ended(code=None)
        return self._facts(fault, ended, BLOCKED, is_reached=os.path.exists(mark))

    def _facts(self, fault: str, ended: Ended, expected: str, *, is_reached: bool = True) -> dict[str, Any]:
        found = verdict(self.host, self.event, ended, closes=self._closes)
        lines = (line.removeprefix("agent-hooks: ") for line in ended.stderr.splitlines() if line.strip())
        said = _FOLDER.sub("", next(lines, ""))
        facts = {"event": self.event, "fault": fault, "verdict": found, "exit_code": ended.code, "said": said}
        return {**facts, "is_reached": is_reached, "is_right": is_reached and found == expected}

    def _run(
        self, handler: Handler, cwd: str, environment: Mapping[str, str], seconds: float = _PATIENCE_SECONDS
    ) -> tuple[Ended, float]:
        """Run the command line as a host does, and return how it ended, after how many seconds."""
        started = perf_counter()
        line = [handler["command"], *handler["args"]] if "args" in handler else handler["command"]
        kept = {name: value for name, value in os.environ.items() if name not in _OF_SESSIONS}
        try:
            process = subprocess.Popen(  # noqa: S603 - as the host does
                line,
                shell="args" not in handler,
                cwd=cwd,
                env={**kept, **environment},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            return Ended(code=127, stderr=f"{handler['command']}: {error.strerror}"), 0.0
        code: int | None = None
        try:
            stdout, stderr = process.communicate(self._payload(cwd), seconds)
            code = process.returncode
        except subprocess.TimeoutExpired:
            _kill(process)
            stdout, stderr = process.communicate()
        except BaseException:
            _kill(process)
            raise
        took = perf_counter() - started
        return Ended(
            code=code, stdout=stdout.decode("utf-8", "replace"), stderr=stderr.decode("utf-8", "replace")
        ), took

    def _payload(self, cwd: str) -> bytes:
        """Return an event that nothing speaks against: the call of ``true``, a greeting."""
        tool = next((name for name, kind in self.host.kinds.items() if kind == "shell"), "Bash")
        payload: dict[str, Any] = {
            "hook_event_name": self.event,
            "cwd": cwd,
            "session_id": "agent-hooks doctor",
            "trigger": "manual",
        }
        payload |= {"tool_name": tool, "tool_input": {"command": "true"}, "tool_use_id": "1", "prompt": "Hello."}
        payload["command_name"] = "agent-hooks-doctor"  # without a name, each skill may be meant
        if self.host.name == "vscode":
            payload["transcript_path"] = ""  # Copilot, which runs the same file, sends none
        return dumps(payload).encode()


def _kill(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError, AttributeError):  # Windows has no groups
        os.killpg(process.pid, signal.SIGKILL)
    process.kill()


def _temporary(folder: str) -> dict[str, str]:
    """Return the variables of a configuration and a state in ``folder``, with the hooks of the user in it."""
    config = os.path.join(folder, "config")
    own, *accounts = config_dirs()
    if accounts and os.path.isdir(own):  # else it is the account's, which counts in any case
        shutil.copytree(own, config)
    os.makedirs(config, mode=0o700, exist_ok=True)
    return {"AGENT_HOOKS_CONFIG_DIR": config, "AGENT_HOOKS_STATE_DIR": os.path.join(folder, "state")}


def _without_program(handler: Handler, program: str) -> Handler:
    """Return a handler that runs ``program``, in the same form."""
    line = program if "args" in handler else _PROGRAM.sub(lambda _: program, handler["command"], count=1)
    return {**handler, "command": line}


def _sooner(handler: Handler, seconds: int) -> Handler:
    """Return a handler whose command gives up a hook after these seconds."""
    line = "\0".join((handler["command"], *handler.get("args", ())))
    pattern, new = (TIMEOUT, rf"\g<1>{seconds}") if TIMEOUT.search(line) else (_RUN, f"\0--timeout={seconds}")
    command, *args = pattern.sub(new, line, count=1).split("\0")
    if "args" in handler:
        return {**handler, "command": command, "args": args}
    return {**handler, "command": " ".join((command, *args))}
