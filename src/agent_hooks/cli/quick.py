"""The start of ``agent-hooks run``: the payload and the plan, and the answer to an event that no hook is about.

Everything that can be said without the engine is said here, with next to no imports. Whatever is out of the ordinary is
left to what comes after: it reads on, decides, and says what is wrong.
"""

from __future__ import annotations

import os
import sys
from time import monotonic

from agent_hooks.system.ancestors import note_host
from agent_hooks.system.plan_file import read_plan
from agent_hooks.system.sockets import has_socket
from agent_hooks.system.stamps import changed
from agent_hooks_core import FOLDER

from .stdin import read_all, read_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

    Plan = dict[str, Any]

# The variables of the environment that decide which hooks there are.
VARIABLES = (
    "AGENT_HOOKS_CONFIG_DIR",
    "AGENT_HOOKS_DISABLE",
    "AGENT_HOOKS_STATE_DIR",
    "ANDROID_DATA",
    "CLAUDE_CONFIG_DIR",
    "HOME",
    "PATH",
    "PYTHONPATH",
    "PYTHONUSERBASE",
    "USERPROFILE",
    "XDG_CONFIG_HOME",
    "XDG_STATE_HOME",
)
# Who writes the payload later must wait for more imports: from then on, its deadline and signals must be minded.
_SECONDS = 0.05
# How long to wait for it where the command line is wrong, so that nothing else is known.
_PATIENCE_SECONDS = 5.0
NO_PLAN = "--no-plan"
# Under these, hosts name the event in a payload, if they do.
_EVENT_KEYS = ("hook_event_name", "hookEventName", "hookName", "interception_point")
_STANDARD = "agent-hooks-0.1"
_OPTIONS = {"--agent", "--event", "--timeout", "--on-ask", "--config-dir", "-p"}


class Start:
    """What is known when the decision begins.

    ``at``: when it began, on the monotonic clock. ``parts``: what was read of stdin. ``payload``: the payload, if it is
    whole. ``key``: that of the plan, empty if there must not be one. ``plan``: the plan, if there is one that holds.
    ``call``: what the resident process was asked, and has not answered yet. ``modules``: those of ``-p``. ``recorder``:
    that of ``sources.telemetry`` in the resident process, which reports to OpenTelemetry.
    """

    def __init__(self) -> None:
        self.at = monotonic()
        self.parts: list[bytes] = []
        self.payload: dict[str, Any] | None = None
        self.key: tuple[Any, ...] = ()
        self.plan: Plan | None = None
        self.call: Any = None
        self.modules: tuple[str, ...] = ()
        self.recorder: Any = None

    def stamps(self) -> tuple[dict[str, Any], ...]:
        """Return the stamps of the plan's files, which were compared just now."""
        return () if self.plan is None else (self.plan["seen"]["later"], self.plan["seen"]["file"])

    def options(self) -> tuple[str, ...]:
        """Return the event as an option of the command, for whoever must answer and cannot read the payload again."""
        try:
            if self.payload is None and not os.isatty(0):
                self.payload = read_object(read_all(0, self.at + _PATIENCE_SECONDS, self.parts))
            payload = self.payload or {}
            return ("--event", next(str(payload[key]) for key in _EVENT_KEYS if payload.get(key)))
        except Exception:  # noqa: BLE001 - a refusal must not fail
            event = self.stop_event()
            return ("--event", event) if event else ()

    def stop_event(self) -> str:
        """Return the event of a payload that cannot be read, if all that looks like one is a stop, which a refusal
        would make another round; else an empty string.
        """
        if self.payload is not None:
            return ""
        import re

        from agent_hooks_core import load

        pattern = rf'"(?:{"|".join(_EVENT_KEYS)})"\s*:\s*"(\w+)"'
        names = re.findall(pattern, b"".join(self.parts).decode("utf-8", "replace"))
        return names[0] if names and all(map(load("agent_hooks_repair").is_stop, names)) else ""


def start(arguments: list[str]) -> Start:
    """Read the payload, and end the process with the answer if no hook is about its event."""
    begun = Start()
    note_host()
    try:
        if not os.isatty(0):
            begun.payload = read_object(read_all(0, begun.at + _SECONDS, begun.parts))
            ask_resident(begun, arguments)
            if begun.call is not None:
                _answer_as(begun.call.answer(_SECONDS))
                begun.call = None
            find_plan(begun, arguments, answer=_answer)
    except Exception as error:  # the payload is late or wrong; signals must be minded while an answer is late
        if not (isinstance(error, TimeoutError) or _is_of_payload(error)):
            raise
    return begun


def _is_of_payload(error: Exception) -> bool:
    from agent_hooks.errors import WireError  # not before: an event that no hook is about needs no error

    return isinstance(error, WireError)


def ask_resident(begun: Start, arguments: list[str]) -> None:
    """Ask the resident process, if there is one."""
    if not has_socket(FOLDER):
        return
    try:
        options = options_of(arguments)
        from .resident import call

        begun.call = call(arguments, options, event_of(begun.payload or {}, options), begun.parts, begun.at)
    except (ValueError, StopIteration, OSError):  # whatever is wrong is said where the event is read
        return


def _answer_as(fields: list[bytes] | None) -> None:
    """End the process with the answer of the resident process, if it has one."""
    if fields is not None and fields[0] == b"answered":
        _answer_with(fields[1], fields[2], int(fields[3]))


def find_plan(begun: Start, arguments: list[str], answer: Callable[[str, str, int], None] | None = None) -> None:
    """Find the plan for the payload, if there is one that holds, and import from where it was made.

    ``answer``: called with the stdout, stderr and exit code for an event that no hook is about.
    """
    try:
        options = options_of(arguments)
        payload = begun.payload or {}
        if event := event_of(payload, options):
            begun.key = _key(options, folders_of(payload, options["--agent"]))
            plan = read_plan(begun.key)
            if plan is not None and not any(changed(plan["seen"])):
                if answer is not None and (quiet := plan["quiet"].get(shape_of(payload, event))) is not None:
                    answer(*quiet)
                if not any(changed(plan["seen"], "later")):
                    _use_path(plan)
                    begun.plan = plan
    except Exception:  # noqa: BLE001, S110 - whatever is wrong is said where the event is read
        pass


def use_site() -> None:
    """Import from the environment's folders as well, if Python was started without them."""
    if sys.flags.no_site and "site" not in sys.modules:
        import site

        site.main()


def options_of(arguments: list[str]) -> dict[str, str]:
    """Return the options by name. Raises ``ValueError`` unless they are right and allow a plan."""
    given: dict[str, str] = {}
    rest = iter(arguments)
    for argument in rest:
        name, equals, value = argument.partition("=")
        value = value if equals else next(rest)
        given[name] = f"{given[name]},{value}" if name == "-p" and name in given else value
    if (
        not given.keys() <= _OPTIONS
        or given.get("--agent") == "auto"  # a plan, and a quick answer, is one host's
        or not hasattr(os, "fork")
        or not 0 < float(given.get("--timeout", 1)) < float("inf")
    ):
        raise ValueError(arguments)
    return given


def event_of(payload: dict[str, Any], options: dict[str, str]) -> str | None:
    """Return the host's name of the event, None if it is not clear. Not every payload says it."""
    named = payload.get("interception_point" if options.get("--agent") == _STANDARD else "hook_event_name")
    event = options.get("--event", named)
    return event if isinstance(event, str) and named in (None, event) else None


def folders_of(payload: dict[str, Any], agent: str) -> tuple[str, ...]:
    """Return the folders of an event: that in which its session began, if the host says so, and its working one."""
    if agent == _STANDARD:  # has no field for it
        return (os.getcwd(),)
    roots = payload.get("workspace_roots")  # of Cursor, where an event has no folder of its own
    cwd = payload.get("cwd") or (roots[0] if isinstance(roots, list) and roots else payload["cwd"])
    project = os.environ.get("CLAUDE_PROJECT_DIR", "") if agent == "claude-code" else ""
    is_folder = os.path.isabs(project) and os.path.isdir(project)
    return (project, cwd) if is_folder else (cwd,)


def shape_of(payload: dict[str, Any], event: str) -> tuple[Any, ...]:
    """Return the event of a payload, and what else decides how it is read: its keys, with the types of their values,
    and in some cases the value itself.
    """
    # An empty prompt is no user's in Qwen Code.
    shape = [(key, type(value).__name__ if value != "" else "") for key, value in payload.items()]
    # By these, one event of Cursor is several here.
    shape += [(key, str(payload[key])) for key in ("status", "failure_type") if key in payload]
    return event, *sorted(shape)


def _key(options: dict[str, str], folders: tuple[str, ...]) -> tuple[Any, ...]:
    python = (
        sys.version,
        sys.executable,
        tuple(sys.flags),
        tuple(sys.warnoptions),
        sys.getfilesystemencoding(),
        tuple(sys.path),
        __file__,
        os.geteuid(),
    )
    chosen = tuple(options.get(name, "") for name in ("--agent", "--on-ask", "--config-dir", "-p"))
    # `asking` compares the folders with those of the event.
    return (python, chosen, folders, tuple(map(os.environ.get, VARIABLES)))


def _use_path(plan: Plan) -> None:
    """Import from where the plan was made: the start of Python need not find out again."""
    path, (prefix, exec_prefix) = plan["path"], plan["prefixes"]
    sys.path[:], sys.prefix, sys.exec_prefix = path, prefix, exec_prefix


def _answer(stdout: str, stderr: str, exit_code: int) -> None:
    _answer_with(stdout.encode(), stderr.encode(), exit_code)


def _answer_with(stdout: bytes, stderr: bytes, exit_code: int) -> NoReturn:
    for descriptor, data in ((1, stdout), (2, stderr)):
        try:
            while data:
                data = data[os.write(descriptor, data) :]
        except OSError:  # the host has closed the pipe; the exit code still counts
            continue
    os._exit(exit_code)
