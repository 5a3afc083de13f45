"""``agent-hooks run``: one event of a coding agent, from its stdin to its answer. Needs no extra.

The host gets an answer in every case. On a failure, an event that can be refused is refused, with the reason on stderr
and exit code 2, because every host continues after any other failure. Events that cannot be refused (a notification,
the end of a session), that are already over (a tool's result), and stops, which a refusal would turn into an endless
loop, get the reason on stderr and exit code 0.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from time import monotonic

from agent_hooks.errors import AgentHooksError, WireError
from agent_hooks.model.tools import MAX_PATH
from agent_hooks.wire import HOSTS, Answer, get_host
from agent_hooks.wire.answer import without_controls

from .stdin import read_all, read_object
from .supervised import ENDING, NoAnswerError, supervised

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

    from agent_hooks.engine.hooks import Ask
    from agent_hooks.engine.manager import HookManager
    from agent_hooks.model.context import HookContext
    from agent_hooks.model.outcome import HookOutcome
    from agent_hooks.sources.loader import HookConfigLoader
    from agent_hooks.wire import Host

OPTIONS = ("--agent", "--event", "--timeout", "--on-ask", "--config-dir")
USAGE = f"""\
Usage: agent-hooks run --agent {"|".join(HOSTS)} [--event NAME] [--timeout SECONDS] [--on-ask deny|host]
                      [--config-dir DIR]

Ask the installed hooks about one event of a coding agent. This is the command for the agent's own hook settings: it
reads the event as JSON from stdin, and answers as that agent expects, on stdout and stderr and by its exit code.

  --agent NAME       whose event it is
  --event NAME       the agent's own name of the event, so that even a payload that cannot be read is answered rightly
  --timeout SECONDS  answer after this time at the latest (default: a little before the agent's own limit)
  --on-ask WHAT      what becomes of a question that the agent cannot put: deny (default), or host, which leaves the
                     decision to the agent's own approval
  --config-dir DIR   where the user's settings and trusts are, and nowhere else (default: both where the environment
                     says and in the account's own folder)
"""
# An answer contains only the first few findings; `check` shows all of them.
_MAX_FINDINGS = 3


class UsageError(AgentHooksError):
    """Raised when the command line is wrong."""


class Terminated(BaseException):
    """Raised when the host asks this process to end."""


def run(arguments: list[str]) -> NoReturn:
    """Answer one event and end the process."""
    started = monotonic()
    # Imports make many objects and little garbage: with the default of 700, collecting takes 8 % of an event's CPU.
    gc.set_threshold(50_000)
    if arguments[:1] in (["--help"], ["-h"]):
        print(USAGE)
        sys.exit(0)
    stdout, stderr = _take_output()
    noise = b""
    try:
        _at_signals(_terminate)
        answer, noise = _answer(arguments, started, (stdout, stderr))
        _at_signals(signal.SIG_IGN)
    except BaseException as error:  # noqa: BLE001 - the host gets an answer after any failure
        _at_signals(signal.SIG_IGN)
        # Neither the payload nor the hooks caused this, so nothing is known about the event.
        answer = Answer(stderr=f"agent-hooks failed: {_described(error)}", exit_code=2)
    _write(stdout, answer.stdout)
    _write(stderr, without_controls(answer.stderr))
    if answer.exit_code == 0:  # with 2, stderr goes to the model: only the reason belongs there
        _write(stderr, noise)
    os._exit(answer.exit_code)


def _at_signals(handler: Callable[[int, object], NoReturn] | signal.Handlers) -> None:
    """Handle the signals that ask a process to end, except those that its parent made it ignore (``nohup``)."""
    for number in ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)


def _terminate(number: int, _frame: object) -> NoReturn:
    raise Terminated(f"this process was asked to end ({signal.Signals(number).name})")


def _take_output() -> tuple[int, int]:
    """Return copies of the real stdout and stderr, and put the null device in their place."""
    kept = os.dup(1), os.dup(2)
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    os.close(nowhere)
    return kept


def _write(descriptor: int, text: str | bytes) -> None:
    data = text.encode("utf-8", "backslashreplace") if isinstance(text, str) else text
    try:
        while data:
            data = data[os.write(descriptor, data) :]
    except OSError:
        return  # the host has closed the pipe; the exit code still counts


# -- from the command line to the answer -------------------------------------------------------------------------------


def _answer(arguments: list[str], started: float, output: tuple[int, int]) -> tuple[Answer, bytes]:
    given, problem = read_arguments(arguments)
    event = given.get("--event")
    host: Host | None = None
    timeout: float | None = None
    try:
        if "--agent" not in given:
            raise UsageError(problem or f"--agent is missing; it takes {' or '.join(HOSTS)}.")
        host = get_host(given["--agent"])
        timeout = _read_options(given, problem)
        if os.isatty(0):
            raise UsageError(
                "`run` is for coding agents, which write an event to its stdin; see `agent-hooks run --help`."
            )
    except AgentHooksError as error:
        return _misused(host, event, str(error), started), b""
    try:
        payload = read_object(read_all(0, _deadline(host, event, timeout, started)))
        named = payload.get("hook_event_name")
        if event and named and isinstance(named, str) and named != event:
            wrong = (
                f"agent-hooks: the command says --event {event}, and the payload {named}; correct the hook settings."
            )
            return host.failure(named, wrong), b""
        event = event or (named if isinstance(named, str) else None)
        ctx = _with_project_dir(host.read(payload, event))
        deadline = _deadline(host, event, timeout, started)
        on_ask = given.get("--on-ask", "deny")
        return supervised(lambda send, mark: _ask(host, ctx, on_ask, send, mark, deadline), deadline, keep_from=output)
    except (NoAnswerError, Terminated) as error:
        return host.failure(event, f"agent-hooks: {error}."), b""
    except WireError as error:
        return host.failure(event, f"agent-hooks: {error}"), b""
    except BaseException as error:  # noqa: BLE001 - the host gets an answer after any failure
        return host.failure(event, f"agent-hooks failed: {_described(error)}"), b""


def read_arguments(arguments: list[str]) -> tuple[dict[str, str], str]:
    """Return the options by name, and the problem of the command line or an empty string."""
    given: dict[str, str] = {}
    problem = ""
    rest = iter(arguments)
    for argument in rest:
        name, equals, value = argument.partition("=")
        if name not in OPTIONS:
            problem = problem or f"`agent-hooks run` takes no {name!r}; its options are {', '.join(OPTIONS)}."
            continue
        found = value if equals else next(rest, None)
        if found is None:
            problem = problem or f"{name} needs a value."
        else:
            given[name] = found
    return given, problem


def _read_options(given: dict[str, str], problem: str) -> float | None:
    """Return the timeout in seconds, None if there is none. Raises ``UsageError``."""
    if problem:
        raise UsageError(problem)
    if given.get("--on-ask", "deny") not in ("deny", "host"):
        raise UsageError(f"--on-ask takes deny or host, not {given['--on-ask']!r}.")
    if "--config-dir" in given:
        from agent_hooks.system.folders import choose_config_dir

        choose_config_dir(given["--config-dir"])
    if "--timeout" not in given:
        return None
    try:
        seconds = float(given["--timeout"])
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise UsageError(f"--timeout takes a number of seconds above 0, not {given['--timeout']!r}.")
    return seconds


def _deadline(host: Host, event: str | None, timeout: float | None, started: float) -> float:
    """Return the deadline of the answer, as a ``time.monotonic()``: a little before the host stops waiting."""
    if timeout is not None:
        return started + timeout
    limit = host.time_limit(event or "")
    return started + limit - min(5.0, limit / 4)


def _with_project_dir(ctx: HookContext) -> HookContext:
    """Return ``ctx`` with the folder in which the session began; only Claude Code reports it."""
    directory = os.environ.get("CLAUDE_PROJECT_DIR", "")
    is_known = ctx.host == "claude-code" and os.path.isabs(directory) and os.path.isdir(directory)
    return ctx.replace(project_dir=directory) if is_known else ctx


def _misused(host: Host | None, event: str | None, message: str, started: float) -> Answer:
    """Return the answer to a wrong command line: a misconfigured gate must not silently allow."""
    message = f"agent-hooks: {message}"
    if event is None and not os.isatty(0):
        try:
            payload = read_object(read_all(0, started + 5.0))
            event = str(payload.get("hook_event_name", ""))
        except (WireError, OSError):
            event = None
    if host is not None:
        return host.failure(event, message)
    # The host is unknown: only the reason and the exit code mean the same to every host.
    return Answer(stderr=message, exit_code=get_host("claude-code").failure(event, message).exit_code)


# -- with the hooks ----------------------------------------------------------------------------------------------------


def _ask(
    host: Host,
    ctx: HookContext,
    on_ask: str,
    send: Callable[[Answer], None],
    mark: Callable[[str, float], None],
    deadline: float,
) -> None:
    """Send the answer as soon as it is settled, and return when the observers have run too."""
    running = ""

    def mark_running(activity: str, end: float) -> None:
        nonlocal running
        running = activity
        mark(activity, end)

    try:
        from agent_hooks.system import folders

        folders.use_account()
        from agent_hooks.system.progress import listen

        from .asking import needs_loop
        from .host_hooks import add_host_hooks
        from .time_limits import TimeLimits

        loader = _loader(host, ctx)
        limits = TimeLimits(mark_running, deadline)
        listen(limits.mark_loading)
        with limits.loading():
            manager = loader.load()
        ctx = ctx.replace(project_dir=ctx.project_dir or loader.project_dir)
        is_answered = False

        def settled(outcome: HookOutcome) -> None:
            nonlocal is_answered
            if not is_answered:  # `_written` counts rounds and notes, once per event
                is_answered = True
                send(_written(host, ctx, outcome, manager, on_ask))

        limits.apply(manager, ctx.event)
        ask: Ask = "host" if host.can_ask(ctx) or (on_ask == "host" and host.approves(ctx)) else None
        add_host_hooks(manager, host, ctx, ask)
        hooks = manager.hooks(ask, settled)
        if needs_loop(hooks, ctx.event):
            import asyncio

            with asyncio.Runner() as runner:
                settled(runner.run(hooks.dispatch(ctx)))
                runner.run(hooks.join())
        else:
            settled(hooks.dispatch_sync(ctx))
            hooks.join_sync()
    except BaseException as error:  # noqa: BLE001 - the host gets an answer after any failure
        during = f", while {running} was running; repair it" if running else ""
        send(host.failure(ctx.host_event, f"agent-hooks could not ask the hooks: {_described(error)}{during}"))


def _loader(host: Host, ctx: HookContext) -> HookConfigLoader:
    """Return the loader for the folders of the event, and remove these from the import path."""
    from agent_hooks.model.touched_paths import command_paths, further_paths, touched_paths
    from agent_hooks.sources.loader import HookConfigLoader
    from agent_hooks.system.sites import restrict
    from agent_hooks.trust.project_files import is_marked, project_root

    folders = [folder for folder in (ctx.project_dir, ctx.cwd) if _may_be_folder(folder)] or [os.getcwd()]
    restrict(filter(is_marked, map(project_root, folders)))
    paths = (*touched_paths(ctx), *further_paths(ctx), *command_paths(ctx))
    near = (*folders, *filter(_may_be_folder, paths))
    return HookConfigLoader(folders, near=near, claude_settings=not host.runs_claude_settings)


def _may_be_folder(path: str) -> bool:
    """Whether a file system could have this absolute path."""
    try:
        os.fsencode(path)
    except UnicodeEncodeError:  # half a character
        return False
    return os.path.isabs(path) and len(path) <= MAX_PATH and "\0" not in path


def _written(host: Host, ctx: HookContext, outcome: HookOutcome, manager: HookManager, on_ask: str) -> Answer:
    notes: tuple[str, ...] = ()
    if host.goes_on(outcome, ctx):
        from .remembered import capped

        outcome, notes = capped(outcome, ctx, manager.policy.max_forced_continuations)
    if manager.notes:
        from .remembered import unseen

        notes = (*unseen(manager.notes, ctx, is_shown=host.shows_notes(ctx)), *notes)
    notes = (*_decided_by(outcome), *notes, *_findings(outcome))
    return host.write(outcome, ctx, notes=notes, ask=on_ask)


def _decided_by(outcome: HookOutcome) -> tuple[str, ...]:
    """Return a note with the origin of a refusal: the model gets the reason, and people must find the rule."""
    is_ours = (outcome.hook or "").startswith("agent_hooks.")
    return (f"agent_hooks: {outcome.decision} by {outcome.origin}.",) if outcome.origin and not is_ours else ()


def _findings(outcome: HookOutcome) -> tuple[str, ...]:
    lines = [f"agent_hooks: {finding.message}" for finding in outcome.findings[:_MAX_FINDINGS]]
    more = len(outcome.findings) - len(lines)
    return (*lines, *([f"agent_hooks: and {more} more findings."] if more else []))


def _described(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
