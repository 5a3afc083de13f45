"""What several test files make: a context about a tool call, a decision, settings of a project, processes."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

from agent_hooks import HookConfigLoader, HookContext, ToolCall
from agent_hooks.sources.files import project_roots
from agent_hooks.trust.trust_store import TrustStore
from agent_hooks_guards import ShellGuard
from agent_hooks_guards.model.values import UNKNOWN
from agent_hooks_guards.places.paths import Place

if TYPE_CHECKING:
    from pathlib import Path

    from agent_hooks import HookOutcome, StopSignal
    from agent_hooks_guards.code import Found
    from agent_hooks_guards.guards.base import Guard


def about(
    name: str = "Bash", kind: str = "other", aliases: tuple[str, ...] = (), args: Any = None, **fields: Any
) -> HookContext:
    """A ``before_tool_use`` context about one tool call."""
    return HookContext("before_tool_use", tool_call=ToolCall(name, args, kind=kind, aliases=aliases), **fields)


def judged(guard: Guard, ctx: HookContext) -> HookOutcome:
    """What a guard says about a call that it does not let pass."""
    outcome = guard.execute(ctx)
    assert outcome is not None
    return outcome


# Arguments that may break a program's reader.
ODD_ARGUMENTS: tuple[list[str], ...] = (
    [],
    ["-"],
    ["--"],
    ["-x", "-X", "-d", "-r", "-o"],
    ["", ""],
    [UNKNOWN],
    [f"-{UNKNOWN}", f"{UNKNOWN}:{UNKNOWN}"],
    ["a", "b", "c", "-d"],
    ["-n", "-c", "-f", "-w", "99999999999999999999"],
    ["\udc80", "\ud800", "\0", "\u0661"],
    ["-d", "-c\u0661", "-n\u00b2", "%", "%*s", "\\"],
    ["x:y", "z:/w", "-rf", "=", "@", ":"],
    [":", "(", ")", "-delete", "\udc80", "\ud800", "\0"],
    ["create", "cp", "run", "-v", ":", "--mount", "a,=,b"],
)


APP = Place("/home/dev/app", "/home/dev", "/home/dev/app")


def decision(command: str, place: Place = APP, language: str = "sh") -> str:
    """What the shell guard decides about a command, or ``""``."""
    found = ShellGuard().decide(command, place, language)
    return found[0][0] if found else ""


def executed(command: str, cwd: str = "/home/dev/project") -> str:
    """What the shell guard, as a hook, decides about a call of a shell, or ``""``."""
    outcome = ShellGuard().execute(about("Bash", "shell", args={"command": command}, cwd=cwd))
    return "" if outcome is None else outcome.decision


def nothing(what: Found) -> bool:
    """Whether code does nothing."""
    return not (what.shells or what.programs or what.effects or what.codes or what.doubts)


def stop_of(outcome: HookOutcome | None) -> StopSignal:
    """The signal that a limit leaves."""
    signal = outcome.stop_signal if outcome is not None else None
    assert signal is not None
    return signal


def project(folder: Path, settings: str, name: str = "pyproject.toml") -> str:
    """Write a project's settings, trust them, load them, and return its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    head = '[project]\nname = "x"\n\n' if name == "pyproject.toml" else ""
    (folder / name).write_text(f"{head}{settings}", encoding="utf-8")
    trust(folder)
    return str(folder)


def own_file(folder: Path, settings: str) -> str:
    """Write the settings of the user (``config``) or of the machine's owner (``managed``), and return their folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "agent-hooks.toml").write_text(settings, encoding="utf-8")
    return str(folder)


def trust(folder: Path) -> None:
    """Trust what is in a project, if there is anything, and load it."""
    store = TrustStore()
    for root in project_roots(str(folder)):
        found = store.discover(root)
        if found.files:
            store.trust(found)
    load(folder)


def load(folder: Path | str) -> None:
    """Load the settings of the projects that a folder is in, as everything does that makes a manager from files."""
    HookConfigLoader(folder).load(load_plugins=False)


def run_all(code: str, count: int, *args: object) -> list[str]:
    """Run ``code`` in ``count`` processes at once and return what each printed; each must end well."""
    command = [sys.executable, "-c", code, *map(str, args)]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(count)]
    printed = [process.communicate()[0] for process in processes]
    assert [process.returncode for process in processes] == [0] * count
    return printed
