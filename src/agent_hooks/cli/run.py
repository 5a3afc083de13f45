"""``agent-hooks run``: one event of a coding agent, from its stdin to its answer. Needs no extra.

The host gets an answer in every case. On a failure, an event that can be refused is refused, with the reason on stderr
and exit code 2, because every host continues after any other failure. Events that cannot be refused (a notification,
the end of a session), that are already over (a tool's result), and stops, which a refusal would turn into an endless
loop, get the reason on stderr and exit code 0.
"""

from __future__ import annotations

import os
import sys
from functools import partial

from agent_hooks.errors import AgentHooksError, WireError, described
from agent_hooks.system.visible import without_controls
from agent_hooks.wire import HOSTS, Answer, get_host
from agent_hooks.wire.detect import AUTO, owner_of, recognised
from agent_hooks.wire.tables import EVENT_KEYS, is_stop
from agent_hooks_launcher import refuse

from .start import IGNORED, NO_SERVE
from .stdin import read_all, read_object
from .supervised import supervised
from .supervisor import NoAnswerError, Terminated, mind_signals, pass_on
from .warm_client import start_missing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

    from agent_hooks.model.context import HookContext
    from agent_hooks.wire.host import Host

    from .start import Start
    from .supervised import Send, Work
    from .supervisor import Marks

    Options = tuple[Host, str | None, float | None, str, tuple[str, ...]]
    Isolate = Callable[[Work, float], tuple[Answer, bytes]]

OPTIONS = ("--agent", "--event", "--timeout", "--on-ask", "--config-dir", "-p")
USAGE = f"""\
Usage: agent-hooks run --agent {"|".join(HOSTS)}|auto
                      [--event NAME] [--timeout SECONDS] [--on-ask deny|host]
                      [--config-dir DIR] [-p MODULE]... [--no-serve]

Ask the installed hooks about one event of a coding agent. This is the command for the agent's own hook settings: it
reads the event as JSON from stdin, and answers as that agent expects, on stdout and stderr and by its exit code.

  --agent NAME       whose event it is; auto finds out from the event, which takes longer and may be wrong
  --event NAME       the agent's own name of the event, so that even a payload that cannot be read is answered rightly
  --timeout SECONDS  answer after this time at the latest (default: a little before the agent's own limit)
  --on-ask WHAT      what becomes of a question that the agent cannot put: deny (default), or host, which leaves the
                     decision to the agent's own approval
  --config-dir DIR   where the user's settings and trusts are, and nowhere else (default: both where the environment
                     says and in the account's own folder)
  -p MODULE          load this module of the environment as a plugin, too; may be repeated
  --no-serve         decide in this process, whether the warm process of `agent-hooks serve` is there or not
"""


def run(arguments: list[str], begun: Start) -> NoReturn:
    """Answer one event and end the process."""
    if arguments[:1] in (["--help"], ["-h"]):
        print(USAGE)
        sys.exit(0)
    try:
        options = parse_options(arguments)
    except AgentHooksError as error:
        refuse(["run", *arguments, *begun.options()], str(error))
    stdout, stderr = 1, 2
    noise = b""
    try:
        stdout, stderr = _take_output()
        mind_signals()
        answer, noise = answer_to(options, begun, partial(supervised, keep_from=(stdout, stderr)))
        mind_signals(is_ignored=True)
    except BaseException as error:  # noqa: BLE001 - the host gets an answer after any failure
        mind_signals(is_ignored=True)
        # Neither the payload nor the hooks caused this, so no more is known about the event than its name.
        code = 0 if any(map(is_stop, (options[1] or "", *begun.options()))) else 2
        answer = Answer(stderr=f"agent-hooks failed: {described(error)}", exit_code=code)
    pass_on((answer.stdout, without_controls(answer.stderr), answer.exit_code), noise, stdout, stderr)
    if begun.problem is None and NO_SERVE not in arguments:
        start_missing()
    os._exit(answer.exit_code)


def _take_output() -> tuple[int, int]:
    """Return copies of the real stdout and stderr, and put the null device in their place."""
    kept = os.dup(1), os.dup(2)
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    os.close(nowhere)
    return kept


# -- from the command line to the answer -------------------------------------------------------------------------------


def parse_options(arguments: list[str]) -> Options:
    """Return the host, its event, the timeout in seconds (None: a little before the host's own limit), what becomes
    of an ask, and the modules to load. Raises ``AgentHooksError``: a misconfigured gate must not silently allow.
    """
    given: dict[str, str] = {}
    modules: list[str] = []
    rest = iter(arguments)
    for argument in rest:
        if argument in (NO_SERVE, *IGNORED):
            continue
        name, equals, value = argument.partition("=")
        if name not in OPTIONS:
            raise AgentHooksError(f"`agent-hooks run` takes no {name!r}; its options are {', '.join(OPTIONS)}.")
        found = value if equals else next(rest, None)
        if found is None:
            raise AgentHooksError(f"{name} needs a value.")
        given[name] = found
        modules += [found] if name == "-p" else []
    if "--agent" not in given:
        raise AgentHooksError(f"--agent is missing; it takes {' or '.join(HOSTS)}.")
    host = AUTO if given["--agent"] == AUTO.name else get_host(given["--agent"])
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
    return host, given.get("--event"), timeout, on_ask, tuple(modules)


def answer_to(options: Options, begun: Start, isolate: Isolate) -> tuple[Answer, bytes]:
    """Return the answer to an event, and the output of its hooks.

    ``isolate``: does the work of asking them until a deadline, where they can do no harm, and returns the same.
    """
    host, event, timeout, on_ask, begun.modules = options
    try:
        if begun.payload is None:
            deadline = _deadline_of(host, event, timeout, begun.at)
            begun.payload = read_object(read_all(0, deadline, begun.parts))
        payload = begun.payload
        named_host, (host, foreign) = host, recognised(host, payload, os.environ)
        keys = EVENT_KEYS[-1:] if host.reads_whole_contexts else EVENT_KEYS  # an extra member names no event there
        named = next((name for key in keys if isinstance(name := payload.get(key), str)), None)
        if foreign:
            return host.failure(named or event, f"agent-hooks: {foreign}"), b""
        renamed = host.in_claude_files if named_host.name == "claude-code" else {}
        if named and renamed:
            event, named = None, renamed.get(named, named)
        row = host.rows.get(event or named or "")
        if event and named and named != event and (row is None or row is not host.rows.get(named)):
            wrong = f"the command says --event {event}, and the payload {named}; correct the hook settings."
            return host.failure(named, f"agent-hooks: {wrong}"), b""
        event = named or event
        if row is None and not renamed and (owner := owner_of(event or "")) is not None:
            wrong = f"the command says --agent {host.name}, and {event} is an event of {owner.title}"
            return owner.failure(event, f"agent-hooks: {wrong}; correct the hook settings."), b""
        ctx = host.read(payload, event)
        if host.asks_where_it_works:
            ctx = ctx.replace(cwd=os.getcwd())
        # The folder in which the session began; only Claude Code reports it, and whoever runs its hooks.
        directory = os.environ.get("CLAUDE_PROJECT_DIR", "")
        if "claude-code" in (named_host.name, host.name) and os.path.isabs(directory) and os.path.isdir(directory):
            ctx = ctx.replace(project_dir=directory)
        deadline = _deadline_of(host, event, timeout, begun.at)
        if begun.problem is not None:
            raise begun.problem
        return isolate(_asking(ctx, on_ask, deadline, begun), deadline)
    except (NoAnswerError, Terminated) as error:
        return host.failure(event, f"agent-hooks: {error}."), b""
    except WireError as error:
        return host.failure(event or begun.stop_event(), f"agent-hooks: {error}"), b""
    except BaseException as error:  # noqa: BLE001 - the host gets an answer after any failure
        return host.failure(event, f"agent-hooks failed: {described(error)}"), b""


def _asking(ctx: HookContext, on_ask: str, deadline: float, begun: Start) -> Work:
    """Return what asks the hooks, in the process of the hooks."""

    def ask(send: Send, marks: Marks) -> None:
        from .asking import Event, ask_hooks

        ask_hooks(Event(get_host(ctx.host), ctx, on_ask, deadline, begun), send, marks)

    return ask


def _deadline_of(host: Host, event: str | None, timeout: float | None, started: float) -> float:
    """Return the deadline of the answer, as a ``time.monotonic()``: a little before the host stops waiting."""
    if timeout is not None:
        return started + timeout
    limit = host.time_limit(event or "")
    return started + limit - min(5.0, limit / 4)
