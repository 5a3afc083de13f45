"""The real command in real processes, with plugins that are really installed: a folder with metadata on the path."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from site import getsitepackages
from textwrap import dedent
from typing import TYPE_CHECKING, Any

import agent_hooks
from agent_hooks.cli.quick import options_of
from forked import forking

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from projects import Project
    from residents import Residents

# What pip writes for a console script, with the environment and the account's home beside the script's folder.
SCRIPT = """\
import os, pwd, site, sys
folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
site.PREFIXES.append(folder)
home = os.path.join(folder, "home")
pwd.getpwuid = lambda uid: pwd.struct_passwd(("user", "x", uid, uid, "", home, "/bin/sh"))
if "PATIENT" in os.environ:  # else a busy machine sends it away from the resident process, to decide by itself
    import agent_hooks_core
    agent_hooks_core.load("agent_hooks_launcher").load_package()
    import agent_hooks.cli.resident
    agent_hooks.cli.resident.TAKEN_SECONDS = 30.0
from agent_hooks_core import main
sys.exit(main())
"""
# For tests of compiled plans: files made just before the process count as old, and each process says what it imported.
REPORTING = """\
import atexit, os, site, sys
from agent_hooks.system import stamps
stamps._YOUNG_NS = 0
log = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "processes")
told = []

def tell():
    if os.getpid() not in told:
        told.append(os.getpid())
        with open(log, "a") as file:
            file.write(" ".join(sys.modules) + "\\n")

def end(code, end=os._exit):
    tell()
    end(code)

os._exit = end
# The process of the hooks may be killed as soon as it has closed its pipe, before it exits.
os.register_at_fork(after_in_child=lambda: atexit.register(tell))
if "SITE" in os.environ:
    site.addsitedir(os.environ["SITE"])  # as the start of Python, with its .pth files
"""
PACKAGES = str(Path(agent_hooks.__file__).parent.parent)
# The metadata of plugins that are installed where the tests run, as in a developer's environment.
PLUGINS = [
    file.parent.name
    for folder in getsitepackages()
    for file in Path(folder).glob("*.dist-info/entry_points.txt")
    if "[agent_hooks]" in file.read_text()
]
if PLUGINS:  # no command here shall find them
    SCRIPT = f"""\
import os
everything = os.listdir
os.listdir = lambda path=".": [name for name in everything(path) if name not in {PLUGINS}]
{SCRIPT}"""


class Command:
    """``agent-hooks`` below ``folder``, in a home and with packages of its own.

    ``planning``: a plan of files that were just made is kept too, and ``processes`` tells what was imported.
    ``forks``: a call need not start Python, see `forked`. Not for tests of what is imported, and from where.
    """

    # Whether another event of the same folder comes first each time, so that there is a plan: `pytest --plans`.
    plans_first = False
    # What answers the events first: `pytest --resident`.
    residents: Residents | None = None

    def __init__(self, folder: Path, *, planning: bool = False, forks: bool = True) -> None:
        self.folder = folder
        self.forks = forks and not planning and hasattr(os, "fork")
        self.site = Path(getsitepackages([str(folder)])[0])
        self.home = folder / "home"
        self.script = folder / "bin" / "agent-hooks"
        for made in (self.site, self.home, self.script.parent):
            made.mkdir(parents=True)
        self.script.write_text((REPORTING if planning or self.plans_first else "") + SCRIPT)
        self.config = self.home / ".config" / "agent-hooks"
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "PYTHONPATH": os.pathsep.join((str(self.site), PACKAGES)),
            "PYTHONWARNINGS": "error",
            "CI": "1",  # there is no terminal
        }

    def install(self, source: str, name: str = "house", *, version: str = "1.0") -> None:
        """Install a distribution whose one module ``NAME_rules`` is the plugin ``NAME``."""
        module = f"{name}_rules"
        (self.site / f"{module}.py").write_text("from agent_hooks import HookOutcome, hookimpl\n" + dedent(source))
        info = self.site / f"{name}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        (info / "entry_points.txt").write_text(f"[agent_hooks]\n{name} = {module}\n")

    def hook(self, signature: str, answer: str, options: str = "", name: str = "house") -> None:
        """Install a plugin with one hook, ``def SIGNATURE: return ANSWER``."""
        parameters = "" if "(" in signature else "()"
        self.install(f"@hookimpl({options})\ndef {signature}{parameters}:\n    return {answer}\n", name)

    def configure(self, text: str) -> None:
        """Write the user's agent-hooks.toml."""
        self.config.mkdir(mode=0o700, parents=True, exist_ok=True)
        (self.config / "agent-hooks.toml").write_text(text)

    def trust(self, project: Project) -> Project:
        """Let a project run as it is now."""
        return project.trust(self.config / "trust")

    def processes(self) -> list[list[str]]:
        """Return the modules of each process that has ended since the last call."""
        log = self.folder / "processes"
        lines = log.read_text().splitlines() if log.exists() else []
        log.unlink(missing_ok=True)
        return [line.split() for line in lines]

    def arguments(self, *arguments: str) -> list[str]:
        return [sys.executable, str(self.script), *arguments]

    def __call__(
        self,
        *arguments: str,
        stdin: bytes | str | int = subprocess.DEVNULL,
        env: dict[str, str] | None = None,
        cwd: Path | None = None,
        program: Iterable[str] | None = None,
        seconds: float = 60,
    ) -> Done:
        """Run the command, which must end within ``seconds``; ``stdin`` is what to write to it, or a descriptor to read
        from; ``program``: the words to run instead of the script.
        """
        given = stdin.encode() if isinstance(stdin, str) else stdin
        is_event = arguments[:1] == ("run",) and "--event" not in arguments
        if self.plans_first and is_event and isinstance(given, bytes) and (first := _event_before(given)):
            Command.plans_first = False
            try:
                limit = () if "--timeout" in arguments else ("--timeout", "10")
                self(*arguments, *limit, stdin=first, env=env, cwd=cwd, program=program, seconds=seconds)
            finally:
                Command.plans_first = True
        words = [*program, *arguments] if program else self.arguments(*arguments)
        variables = {**self.environment, **(env or {})}
        if not program and self._can_fork(variables):
            return Done(forking().run(words[1:], variables, cwd or self.folder, given, seconds))
        with self._resident(words, env or {}):
            return self._run(words, given, env or {}, cwd, seconds)

    def _can_fork(self, variables: dict[str, str]) -> bool:
        """Whether a forked process does the same: Python starts as it always does, with the same package."""
        of_python = {name for name in variables if name.startswith(("PYTHON", "LC_", "LANG"))}
        return (
            self.forks
            and not self.plans_first
            and self.residents is None
            and of_python == {"PYTHONPATH", "PYTHONWARNINGS"}
            and variables["PYTHONPATH"].startswith(self.environment["PYTHONPATH"])
            and self.script.read_text() == SCRIPT
        )

    def _run(self, words: list[str], given: bytes | int, env: dict[str, str], cwd: Path | None, seconds: float) -> Done:
        process = subprocess.run(
            words,
            env={**self.environment, **env},
            cwd=cwd or self.folder,
            input=given if isinstance(given, bytes) else None,
            stdin=given if isinstance(given, int) else None,
            capture_output=True,
            timeout=seconds,
            check=False,
        )
        return Done(process)

    @contextmanager
    def _resident(self, words: list[str], env: dict[str, str]) -> Iterator[None]:
        """Let a resident process answer in this block, if `pytest --resident` wants it and ``words`` ask for it."""
        at = words.index("run") if self.residents is not None and "run" in words else 0
        try:
            options_of(words[at + 1 :])
        except (ValueError, StopIteration):  # the command refuses them, or decides by itself
            at = 0
        if self.residents is not None and at:
            yield from self.residents.ask(self, words[:at], env)
        else:
            yield

    def answer(self, agent: str, payload: dict[str, Any], *arguments: str, **options: Any) -> Done:
        """What ``agent-hooks run`` answers to ``payload``."""
        return self("run", "--agent", agent, *arguments, stdin=json.dumps(payload), **options)


def _event_before(payload: bytes) -> bytes:
    """Return an event of the same folder that no hook is about, nothing if the payload names no folder."""
    try:
        facts = json.loads(payload)
        folder = facts["cwd"]
    except (ValueError, TypeError, KeyError):
        return b""
    return json.dumps({"hook_event_name": "BeforeThat", "session_id": "before that", "cwd": folder}).encode()


def as_written(refusal: str) -> str:
    """Return refusals in the words that hooks wrote, without what hosts are told before them."""
    return re.sub(r"Blocked by policy(?: \([^)\n]*\))?: ", "", refusal)


class Done:
    """A command that has ended; ``json`` is its stdout, which must be one JSON value or empty."""

    def __init__(self, process: subprocess.CompletedProcess[bytes]) -> None:
        self.exit_code = process.returncode
        self.stdout = process.stdout.decode()
        self.stderr = process.stderr.decode()

    @property
    def said(self) -> str:
        """All that it said."""
        return self.stdout + self.stderr

    @property
    def json(self) -> Any:
        return json.loads(self.stdout) if self.stdout else None

    @property
    def specific(self) -> Any:
        return (self.json or {}).get("hookSpecificOutput", {})

    @property
    def denies(self) -> bool:
        """Whether every host takes it for a refusal of a tool call: the JSON, a reason on stderr, exit code 2."""
        decision = self.specific.get("permissionDecision") if self.stdout else "deny"
        return self.exit_code == 2 and bool(self.stderr) and decision == "deny"

    @property
    def reason(self) -> str:
        """Why it denies, in the words that the hook wrote."""
        return as_written(str(self.specific.get("permissionDecisionReason", ""))) + as_written(self.stderr)

    @property
    def why(self) -> str:
        """What stderr begins with: why it denies, without where that is written."""
        return as_written(self.stderr.partition("\n")[0])

    def __repr__(self) -> str:
        return f"exit {self.exit_code}\nstdout: {self.stdout}\nstderr: {self.stderr}"
