"""Run a command for people in a child process: a plugin that ends the process at its import is then reported."""

from __future__ import annotations

import os
import signal
import sys

from agent_hooks.system.progress import listen

from .supervisor import Marks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_DONE = "done"
_NEVER = float("inf")
# A plugin's code that runs for longer than this is named, at most the same time later.
_PATIENCE_SECONDS = 5.0
# What loads the hooks gets this long where it only has to be known whether they can be loaded.
_LOADING_SECONDS = 15.0


def isolate() -> None:
    """Return in a child process on the same terminal; this process waits for it and exits as it does.

    If the child ends abnormally, because a plugin calls ``os._exit`` or crashes, this process names the plugin and
    exits 2. A slow plugin is named while it runs. Without ``fork`` (Windows) nothing is started, and such a plugin ends
    the command.
    """
    if not hasattr(os, "fork"):
        return
    import atexit
    from threading import Thread

    marks = Marks()
    sys.stdout.flush()
    sys.stderr.flush()
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    child = os.fork()
    if child == 0:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        listen(lambda activity: marks.mark(activity, _NEVER))
        atexit.register(marks.mark, _DONE, _NEVER)
        return
    Thread(target=_forward_interrupts, args=(child,), daemon=True).start()
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda received, _frame: os.kill(child, received))
    signal.signal(signal.SIGALRM, _namer(marks))
    signal.setitimer(signal.ITIMER_REAL, _PATIENCE_SECONDS, _PATIENCE_SECONDS)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    signal.setitimer(signal.ITIMER_REAL, 0)
    if marks.name() == _DONE or -code in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
        os._exit(code if code >= 0 else 128 - code)
    sys.stderr.write(f"agent-hooks: the process of this command {_ending(code, marks)}.\n")
    sys.stderr.flush()
    os._exit(2)


def ending_of(work: Callable[[], object], seconds: float = _LOADING_SECONDS) -> str:
    """Do some work in a child process, without its output, and return how that ended before the work was done, with the
    plugin that ended it; an empty string if it did not. After ``seconds`` it is ended. Without ``fork`` (Windows)
    nothing is done.
    """
    if not hasattr(os, "fork"):
        return ""
    marks = Marks()
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        try:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.setitimer(signal.ITIMER_REAL, seconds)
            nowhere = os.open(os.devnull, os.O_RDWR)
            os.dup2(nowhere, 1)
            os.dup2(nowhere, 2)
            listen(lambda activity: marks.mark(activity, _NEVER))
            work()
        finally:
            marks.mark(_DONE, _NEVER)
            os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    is_late = -code == signal.SIGALRM
    return "" if marks.name() == _DONE else _ending(code, marks, f"was not ready in {seconds:g} s" if is_late else "")


def _ending(code: int, marks: Marks, late: str = "") -> str:
    activity = marks.name()
    ending = late or f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
    verb = "were" if activity.startswith("the hooks") else "was"
    return ending + (f" while {activity} {verb} running; repair or uninstall it" if activity else "")


def _namer(marks: Marks) -> Callable[[int, object], None]:
    """Return a handler that names, once, code that is still running since its last call."""
    seen = named = ""

    def name_slow(_number: int, _frame: object) -> None:
        nonlocal seen, named
        activity = marks.name()
        if activity == seen != named:
            named = activity
            sys.stderr.write(f"agent-hooks: still waiting for {activity}.\n")
            sys.stderr.flush()
        seen = activity

    return name_slow


def _forward_interrupts(child: int) -> None:
    """Forward each SIGINT that a process sent; those of the terminal reach the child by themselves."""
    while True:
        if not hasattr(signal, "sigwaitinfo"):  # macOS: the child may get it twice
            signal.sigwait({signal.SIGINT})
        elif signal.sigwaitinfo({signal.SIGINT}).si_code > 0:
            continue
        os.kill(child, signal.SIGINT)
