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
from agent_hooks.model.events import HookEvent
from agent_hooks.model.tools import MAX_PATH
from agent_hooks.wire import HOSTS, Answer, get_host
from agent_hooks.wire.answer import without_controls
from agent_hooks_core import refuse

from .stdin import read_all, read_object
from .supervised import ENDING, NoAnswerError, supervised

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

    from agent_hooks.engine.hooks import Ask, Hooks
    from agent_hooks.engine.manager import HookManager
    from agent_hooks.model.context import HookContext
    from agent_hooks.model.outcome import HookOutcome
    from agent_hooks.sources.loader import HookConfigLoader
    from agent_hooks.wire import Host

    from .supervised import Marks

    Options = tuple[Host, str | None, float | None, str]

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
    try:
        options = parse_options(arguments)
    except AgentHooksError as error:
        refuse(["run", *arguments], str(error))
    stdout, stderr = _take_output()
    noise = b""
    try:
        _at_signals(_terminate)
        answer, noise = _answer(options, started, (stdout, stderr))
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


def parse_options(arguments: list[str]) -> Options:
    """Return the host, its event, the timeout in seconds (None: a little before the host's own limit) and what becomes
    of an ask. Raises ``AgentHooksError``: a misconfigured gate must not silently allow.
    """
    given: dict[str, str] = {}
    rest = iter(arguments)
    for argument in rest:
        name, equals, value = argument.partition("=")
        if name not in OPTIONS:
            raise AgentHooksError(f"`agent-hooks run` takes no {name!r}; its options are {', '.join(OPTIONS)}.")
        found = value if equals else next(rest, None)
        if found is None:
            raise AgentHooksError(f"{name} needs a value.")
        given[name] = found
    if "--agent" not in given:
        raise AgentHooksError(f"--agent is missing; it takes {' or '.join(HOSTS)}.")
    host = get_host(given["--agent"])
    on_ask = given.get("--on-ask", "deny")
    if on_ask not in ("deny", "host"):
        raise AgentHooksError(f"--on-ask takes deny or host, not {on_ask!r}.")
    try:
        timeout = float(given["--timeout"]) if "--timeout" in given else None
    except ValueError:
        timeout = 0.0
    if timeout is not None and not 0 < timeout < float("inf"):
        raise AgentHooksError(f"--timeout takes a number of seconds above 0, not {given['--timeout']!r}.")
    if "--config-dir" in given:
        from agent_hooks.system.folders import choose_config_dir

        choose_config_dir(given["--config-dir"])
    if os.isatty(0):
        raise AgentHooksError(
            "`run` is for coding agents, which write an event to its stdin; see `agent-hooks run --help`."
        )
    return host, given.get("--event"), timeout, on_ask


def _answer(options: Options, started: float, output: tuple[int, int]) -> tuple[Answer, bytes]:
    host, event, timeout, on_ask = options
    try:
        payload = read_object(read_all(0, _deadline(host, event, timeout, started)))
        name = payload.get("hook_event_name")
        named = name if isinstance(name, str) else None
        if event and named and named != event:
            wrong = f"the command says --event {event}, and the payload {named}; correct the hook settings."
            return host.failure(named, f"agent-hooks: {wrong}"), b""
        event = event or named
        ctx = host.read(payload, event)
        # The folder in which the session began; only Claude Code reports it.
        directory = os.environ.get("CLAUDE_PROJECT_DIR", "")
        if host.name == "claude-code" and os.path.isabs(directory) and os.path.isdir(directory):
            ctx = ctx.replace(project_dir=directory)
        deadline = _deadline(host, event, timeout, started)
        ask = lambda send, marks: _ask(host, ctx, on_ask, send, marks, deadline)  # noqa: E731
        return supervised(ask, deadline, keep_from=output)
    except (NoAnswerError, Terminated) as error:
        return host.failure(event, f"agent-hooks: {error}."), b""
    except WireError as error:
        return host.failure(event, f"agent-hooks: {error}"), b""
    except BaseException as error:  # noqa: BLE001 - the host gets an answer after any failure
        return host.failure(event, f"agent-hooks failed: {_described(error)}"), b""


def _deadline(host: Host, event: str | None, timeout: float | None, started: float) -> float:
    """Return the deadline of the answer, as a ``time.monotonic()``: a little before the host stops waiting."""
    if timeout is not None:
        return started + timeout
    limit = host.time_limit(event or "")
    return started + limit - min(5.0, limit / 4)


# -- with the hooks ----------------------------------------------------------------------------------------------------


def _ask(
    host: Host, ctx: HookContext, on_ask: str, send: Callable[[Answer], None], marks: Marks, deadline: float
) -> None:
    """Send the answer as soon as it is settled, and return when the observers have run too."""
    try:
        from agent_hooks.system import folders

        folders.use_account()
        from agent_hooks.system.progress import listen

        from .host_hooks import add_host_hooks
        from .time_limits import TimeLimits

        loader = _loader(host, ctx)
        limits = TimeLimits(marks.mark, deadline)
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
        if _needs_loop(hooks, ctx.event):
            import asyncio

            with asyncio.Runner() as runner:
                settled(runner.run(hooks.dispatch(ctx)))
                runner.run(hooks.join())
        else:
            settled(hooks.dispatch_sync(ctx))
            hooks.join_sync()
    except BaseException as error:  # noqa: BLE001 - the host gets an answer after any failure
        during = f", while {marks.name()} was running; repair it" if marks.name() else ""
        send(host.failure(ctx.host_event, f"agent-hooks could not ask the hooks: {_described(error)}{during}"))


def _needs_loop(hooks: Hooks, event: HookEvent) -> bool:
    """Whether a hook that would be asked about ``event`` is async, those of the permission request included."""
    chains = (hooks.chain(event), hooks.chain(HookEvent.PERMISSION_REQUEST))
    hooks_of = (hook for chain in chains if chain for hook in (*chain.wrappers, *chain.deciders, *chain.observers))
    return any(hook.is_async for hook in hooks_of)


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
        from .host_hooks import capped

        outcome, notes = capped(outcome, ctx, manager.policy.max_forced_continuations)
    if manager.notes:
        from .host_hooks import unseen

        notes = (*unseen(manager.notes, ctx, is_shown=host.shows_notes(ctx)), *notes)
    if outcome.origin and not (outcome.hook or "").startswith("agent_hooks."):
        # The model gets the reason, and people must find the rule.
        notes = (f"agent_hooks: {outcome.decision} by {outcome.origin}.", *notes)
    notes = (*notes, *(f"agent_hooks: {finding.message}" for finding in outcome.findings[:_MAX_FINDINGS]))
    if (more := len(outcome.findings) - _MAX_FINDINGS) > 0:
        notes = (*notes, f"agent_hooks: and {more} more findings.")
    return host.write(outcome, ctx, notes=notes, ask=on_ask)


def _described(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
