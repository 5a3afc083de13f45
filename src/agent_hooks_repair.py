"""What to say of an installation that cannot be used, and how to repair it.

Like ``agent_hooks_core`` a module that no other distribution has: it must be there where the package is not
ours, and it imports only the standard library. It is apart because Python compiles a script anew at each start.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, NoReturn

DISTRIBUTION = "agent-hooks-core"
PACKAGE = "agent_hooks"
FOLDER = os.path.dirname(os.path.abspath(__file__))

# The events that `Host.failure` of the wire lets pass in every host: it cannot refuse them, or a refusal means "go on".
GOES_ON = (
    "AfterAgent AfterTool BeforeToolSelection CwdChanged DirectoryAdded ErrorOccurred FileChanged "
    "InstructionsLoaded Interrupt MessageDisplay Notification PermissionDenied PermissionRequest PostCompact "
    "PostModelRequest PostModelSwitch PostToolUse PostToolUseFailure PreCompress PreModelRequest SessionDelete "
    "SessionEnd SessionStart Setup Stop StopFailure SubagentStart SubagentStop TaskCompleted TeammateIdle "
    "TodoCompleted UserPromptTransformed WorktreeRemove afterAgentResponse afterAgentThought afterFileEdit "
    "afterMCPExecution afterShellExecution afterTabFileEdit agentStop errorOccurred notification "
    "permissionRequest postToolUse postToolUseFailure preCompact sessionEnd sessionStart stop subagentStop "
    "userPromptTransformed workspaceOpen"
)
# How long to wait for the payload of a host that does not close its end, where the command line names no event.
_PAYLOAD_SECONDS = 5.0


def foreign_distributions() -> list[str]:
    """Return the names of the other distributions that install a package ``agent_hooks``."""
    from importlib.metadata import distributions

    found: dict[str, None] = {}
    for distribution in distributions():
        try:
            name = distribution.metadata["Name"]
            files = (distribution.read_text("RECORD") or "").splitlines()
            modules = (distribution.read_text("top_level.txt") or "").split()
        except Exception:  # noqa: BLE001, S112 - damaged metadata, which name no distribution
            continue
        is_named = PACKAGE in modules or any(line.startswith(f"{PACKAGE}/") for line in files)
        if name and is_named and _normalized(name) != DISTRIBUTION:
            found[name] = None
    return [*found]


def diagnosis() -> str:
    """Return a paragraph that names the conflicting distribution and the repair commands."""
    names, where = foreign_distributions(), os.path.join(FOLDER, PACKAGE)
    problem = f"the package {where} is not that of {DISTRIBUTION}, or parts of it are missing."
    if names:
        others = " and ".join(repr(name) for name in names)
        note = f" {_PYTEST_NOTE}" if "agent-hooks-sdk" in map(_normalized, names) else ""
        problem = f"{others} installed a package of the same name over that of {DISTRIBUTION} ({where}).{note}"
    return f"{problem} Remedy: {_repair(names)}"


def warning_about(name: str) -> tuple[str, str]:
    """Return the problem of an installation that also has the distribution ``name``, and the remedy."""
    problem = f"The distribution {name!r} installs the package {PACKAGE!r} too, so files of one overwrite the other's."
    if _normalized(name) == "agent-hooks-sdk":
        problem += f" {_PYTEST_NOTE}"
    return problem, _repair([name])


_PYTEST_NOTE = (
    "Its own pytest plugin cannot be loaded beside agent-hooks-core, which ends every pytest run here: add "
    "`-p no:agent_hooks_ctk` to pytest's options until it is uninstalled."
)


def _repair(names: Sequence[str], options: str = "--no-deps ") -> str:
    """Return the commands that uninstall ``names`` and put our files back, with the installer's ``options``."""
    from importlib.util import find_spec

    python = f'"{sys.executable}"' if " " in sys.executable else sys.executable
    if find_spec("pip") is not None:
        uninstall = f"{python} -m pip uninstall --yes"
        install = f"{python} -m pip install --force-reinstall {options}{DISTRIBUTION}"
    else:
        uninstall = f"uv pip uninstall --python {python}"
        install = f"uv pip install --python {python} --reinstall {options}{DISTRIBUTION}"
    commands = [*([f"{uninstall} {' '.join(names)}"] if names else []), install]
    return f"{' && '.join(commands)}"


def _normalized(name: str) -> str:
    return name.lower().replace("_", "-").replace(".", "-")


def _describe(error: BaseException) -> str:
    """Return the reason of a failed import, and the remedy."""
    if type(error).__name__ == "ForeignPackageError":  # which says both
        return str(error)
    name = (getattr(error, "name", None) or "").partition(".")[0]
    if isinstance(error, ModuleNotFoundError) and name in ("click", "rich"):
        return (
            f"this command needs {name}, which is not installed: pip install '{DISTRIBUTION}[cli]'. "
            "`agent-hooks run` works without it."
        )
    return f"this installation cannot be used: {type(error).__name__}: {error}. Remedy: {_repair([], '')}"


def refuse(arguments: list[str], problem: str | BaseException) -> NoReturn:
    """Answer that no decision is possible: to a host as its event needs it, to people on the terminal."""
    from json import dumps

    problem = problem if isinstance(problem, str) else _describe(problem)
    code, answer = 2, ""
    if arguments[:1] == ["run"]:
        options = _options(arguments[1:])
        event = options.get("--event") or _event_on_stdin()
        # The settings may name a wrong event, or one of a newer host.
        pairs = zip(["", *arguments], arguments, strict=False)
        names = [word for before, word in pairs if "--config-dir" not in (before, word.partition("=")[0])]
        if event == "PreCompact" and options.get("--agent") == "codex":  # exit 2 does not stop a compaction there
            code, answer = 0, dumps({"continue": False, "stopReason": f"agent-hooks: {problem}"})
        elif event in ("UserPromptSubmit", "userPromptSubmitted") and options.get("--agent") == "copilot":
            code, answer = 0, dumps({"decision": "block", "reason": f"agent-hooks: {problem}"})  # nor exit 2 a prompt
        elif event in GOES_ON.split() or any(map(is_stop, [event, *names])) or is_stop(_event_on_stdin()):
            code = 0
    elif arguments[:1] == ["doctor"]:
        message, _, remedy = problem.partition(" Remedy: ")
        finding = {"kind": "broken-installation", "message": message, "remedy": remedy}
        answer = dumps({"hooks": 0, "findings": [finding]}) if "--json" in arguments else f"agent-hooks: {problem}"
    if answer:
        _write(sys.stdout, answer)
    if not answer or code == 0:
        _write(sys.stderr, f"agent-hooks: {problem}")
    sys.exit(code)


def is_stop(event: str) -> bool:
    """Whether an event of this name, of whichever host, comes when an agent is about to stop, as the wire has it."""
    return event.lower().endswith(("stop", "idle", "completed", "afteragent"))


def _write(stream: Any, text: str) -> None:
    try:
        stream.write(text + "\n")
        stream.flush()
    except OSError:  # the reader is gone; the exit code still counts
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _options(arguments: list[str]) -> dict[str, str]:
    options: dict[str, str] = {}
    for index, argument in enumerate(arguments):
        name, equals, value = argument.partition("=")
        following = arguments[index + 1] if index + 1 < len(arguments) else ""
        options.setdefault(name, value if equals else following)
    return options


def _event_on_stdin() -> str:
    """Return the event that the payload on stdin names, an empty string if none can be read within seconds."""
    import json
    from select import select
    from time import monotonic

    data = b""
    deadline = monotonic() + _PAYLOAD_SECONDS
    try:
        while not os.isatty(0):
            if os.name != "nt" and not select([0], [], [], max(0.0, deadline - monotonic()))[0]:
                break
            part = os.read(0, 1024 * 1024)
            if not part:
                break
            data += part
        payload = json.loads(data)
        names = (payload.get(key) for key in ("hook_event_name", "hookEventName", "hookName", "interception_point"))
        return str(next(filter(None, names), ""))
    except (OSError, ValueError, AttributeError, TypeError, RecursionError):
        return ""
