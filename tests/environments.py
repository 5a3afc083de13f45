"""A real environment with agent-hooks-core in it, as an installer leaves it, and the gate that runs from there."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from commands import PACKAGES, Done

if TYPE_CHECKING:
    from types import TracebackType

# What an installer writes for a console script, of an account with the home of the test.
_SCRIPT = """\
#!{python}
import pwd, sys
pwd.getpwuid = lambda uid: pwd.struct_passwd(("user", "x", uid, uid, "", {home!r}, "/bin/sh"))
from agent_hooks_core import main
sys.exit(main())
"""
# Decides each call that it reads from stdin, a line of JSON each, with the hooks that hold in its folder.
_LIBRARY = """\
import json, sys
from agent_hooks import HookContext, ToolCall
from agent_hooks.sources.loader import HookConfigLoader
for line in sys.stdin:
    given = json.loads(line)
    hooks = HookConfigLoader(given["cwd"]).load().hooks(ask="host")
    call = ToolCall(given["tool"], given["args"], kind=given["kind"])
    outcome = hooks.dispatch_sync(HookContext("before_tool_use", tool_call=call, cwd=given["cwd"], host=given["host"]))
    print(json.dumps([str(outcome.decision), outcome.reason, outcome.hook]), flush=True)
"""


class Environment:
    """The environment at ``folder``. ``site`` are its packages: the core with what it needs, a plugin of ours, and a
    distribution that has nothing to do with any.
    """

    def __init__(self, folder: Path, home: Path) -> None:
        self.folder = folder
        self.home = home
        self.bin = folder / "bin"
        name = f"python{sys.version_info[0]}.{sys.version_info[1]}"
        self.site = folder / "lib" / name / "site-packages"
        self.bin.mkdir(parents=True)
        self.site.mkdir(parents=True)
        base = Path(os.path.realpath(sys.executable))
        (folder / "pyvenv.cfg").write_text(f"home = {base.parent}\ninclude-system-site-packages = false\n")
        for link, target in (("python", str(base)), ("python3", "python"), (name, "python")):
            (self.bin / link).symlink_to(target)
        for needed in _needed("agent-hooks-core") | {"click", "rich", "tomlkit"}:
            self._copy(needed)
        shutil.copytree(Path(PACKAGES) / "agent_hooks", self.site / "agent_hooks", ignore=_no_cache)
        requires = (distribution("agent-hooks-core").read_text("METADATA") or "").partition("\n\n")[0]
        files = ["agent_hooks_core.py", "agent_hooks_launcher.py", "agent_hooks_repair.py"]
        for single in files:
            shutil.copy(Path(PACKAGES) / single, self.site)
        self._describe("agent_hooks_core", requires, ["agent_hooks/__init__.py", *files], "agent-hooks")
        self.install("agent_hooks_guards", "[agent_hooks]\nguards = agent_hooks_guards\n")
        self.install("other", "")
        for script in ("agent-hooks", "agent-hooks-core"):
            self._write_script(script)

    def _copy(self, name: str) -> None:
        for file in distribution(name).files or ():
            if ".." not in file.parts and "__pycache__" not in file.parts:
                target = self.site / file
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(file.locate(), target)

    def install(self, name: str, entry_points: str) -> None:
        """Install a distribution with one empty module of its name."""
        (self.site / name).mkdir()
        (self.site / name / "__init__.py").write_text("")
        self._describe(name, f"Name: {name}\nVersion: 0.1.0", [f"{name}/__init__.py"], f"{name}-script", entry_points)

    def _describe(self, name: str, metadata: str, files: list[str], script: str, entry_points: str = "") -> None:
        info = self.site / f"{name}-0.1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"{metadata}\n\nA description.\n")
        (info / "RECORD").write_text("".join(f"{file},,\n" for file in (*files, f"../../../bin/{script}")))
        (info / "entry_points.txt").write_text(entry_points)
        self._write_script(script)

    def _write_script(self, name: str) -> None:
        (self.bin / name).write_text(_SCRIPT.format(python=self.bin / "python", home=str(self.home)))
        (self.bin / name).chmod(0o755)


def _needed(name: str) -> set[str]:
    """The distributions that ``name`` needs here, and those that these need."""
    found: set[str] = set()
    for requirement in distribution(name).requires or ():
        needed = re.match(r"[\w.-]+", requirement)
        if needed and "extra ==" not in requirement:
            with suppress(PackageNotFoundError):
                found |= {needed[0], *_needed(needed[0])}
    return found


def _no_cache(_folder: str, names: list[str]) -> list[str]:
    return [name for name in names if name == "__pycache__"]


class Gated:
    """A project and a home, and the gate that runs from an environment: that of the project (``inside``), or one of its
    own.
    """

    def __init__(self, folder: Path, *, inside: bool) -> None:
        self.inside = inside
        self.home = folder / "home"
        self.project = self.home / "project"
        (self.project / ".git").mkdir(parents=True)
        (self.project / "src").mkdir()
        (self.project / "pyproject.toml").write_text('[project]\nname = "honest"\nversion = "1"\n')
        self.environment = Environment(
            self.project / ".venv" if inside else self.home / ".local/share/uv/tools/agent-hooks-core", self.home
        )
        self.variables = {"PATH": "/usr/bin:/bin", "HOME": str(self.home), "PYTHONDONTWRITEBYTECODE": "1", "CI": "1"}
        self.library = subprocess.Popen(
            [self.environment.bin / "python", "-c", _LIBRARY],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=self.variables,
            cwd=self.home,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _type: type[BaseException] | None, _error: BaseException | None, _at: TracebackType | None):
        self.library.communicate(timeout=60)

    def filled(self, text: str) -> str:
        """Put the paths of the gate's environment into ``text``: as a person would type them in the project."""
        environment = self.environment
        short = ".venv" if self.inside else str(environment.folder)
        site = f"{short}/{environment.site.relative_to(environment.folder)}"
        return re.sub(r"(?<!_)ENV\b", short, text.replace("SITE", site))

    def run(self, tool: str, args: dict[str, Any], agent: str = "claude-code") -> tuple[str, str]:
        """What ``agent-hooks run`` answers to a host: its decision and the reason."""
        payload: dict[str, Any] = {"session_id": "s", "cwd": str(self.project), "hook_event_name": "PreToolUse"}
        payload |= {"transcript_path": "", "permission_mode": "default"}
        payload |= {"tool_name": tool, "tool_input": args, "tool_use_id": "1"}
        process = subprocess.run(
            [self.environment.bin / "python", self.environment.bin / "agent-hooks", "run", "--agent", agent],
            input=json.dumps(payload).encode(),
            capture_output=True,
            env=self.variables,
            cwd=self.project,
            timeout=60,
            check=False,
        )
        done = Done(process)
        assert done.exit_code in (0, 2), done
        decision = done.specific.get("permissionDecision", "proceed" if done.exit_code == 0 else "deny")
        return decision, done.reason

    def asked(self, tool: str, args: dict[str, Any], kind: str | None = None, host: str = "") -> tuple[str, str]:
        """What the library decides in the gate's environment, and why, for a call of ``host`` or of the application.

        Every decision must be the protection's.
        """
        assert self.library.stdin is not None
        assert self.library.stdout is not None
        given = {"tool": tool, "args": args, "kind": kind, "cwd": str(self.project), "host": host}
        self.library.stdin.write(json.dumps(given) + "\n")
        self.library.stdin.flush()
        decision, reason, hook = json.loads(self.library.stdout.readline())
        assert decision == "proceed" or hook == "agent_hooks.protection", (decision, reason, hook)
        return decision, reason

    def decides(self, command: str, host: str = "") -> str:
        """What the library decides about a shell command."""
        return self.asked("Bash", {"command": self.filled(command)}, host=host)[0]
