"""The real command in real processes, with plugins that are really installed: a folder with metadata on the path."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import venv
from pathlib import Path
from site import getsitepackages
from textwrap import dedent
from typing import TYPE_CHECKING, Any, ClassVar

import agent_hooks
from forked import forking

if TYPE_CHECKING:
    from collections.abc import Iterable

    from projects import Project
    from warm import Warm

# What pip writes for a console script, with the environment and the account's home beside the script's folder.
SCRIPT = """\
import os, pwd, site, sys
folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
site.PREFIXES.append(folder)
home = os.path.join(folder, "home")
pwd.getpwuid = lambda uid: pwd.struct_passwd(("user", "x", uid, uid, "", home, "/bin/sh"))
from agent_hooks_core import main
sys.exit(main())
"""
# The same for a Python that is started as `install` wires it, in an environment of its own.
WIRED = """\
import os, pwd, sys
home = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "home")
pwd.getpwuid = lambda uid: pwd.struct_passwd(("user", "x", uid, uid, "", home, "/bin/sh"))
sys.path.append({packages!r})
from agent_hooks_core import main
main()
"""
PACKAGES = str(Path(agent_hooks.__file__).parent.parent)
# The metadata of plugins that are installed where the tests run, as in a developer's environment.
PLUGINS = [
    file.parent.name
    for folder in getsitepackages()
    for file in Path(folder).glob("*.dist-info/entry_points.txt")
    if "[agent_hooks]" in file.read_text()
]
WIRED = WIRED.format(packages=PACKAGES)
if PLUGINS:  # no command here shall find them
    _HIDING = f"""\
import os
everything = os.listdir
os.listdir = lambda path=".": [name for name in everything(path) if name not in {PLUGINS}]
"""
    SCRIPT, WIRED_ALONE = _HIDING + SCRIPT, _HIDING + WIRED
else:
    WIRED_ALONE = WIRED


class Command:
    """``agent-hooks`` below ``folder``, in a home and with packages of its own.

    ``forks``: a call need not start Python, see `forked`. Not for tests of what is imported, and from where. ``wired``:
    Python is started as `install` wires it, in an environment of its own; ``plugins``: with those of this one.
    """

    # Whether a warm process answers the events: `pytest --serve`; and those that run, by folder.
    served = False
    warm: ClassVar[dict[Path, Warm]] = {}

    def __init__(self, folder: Path, *, forks: bool = True, wired: bool = False, plugins: bool = False) -> None:
        self.folder = folder
        self.wired = wired = wired or self.served
        self.forks = forks and not wired and hasattr(os, "fork")
        if wired:
            venv.create(folder, symlinks=True)
        self.site = Path(getsitepackages([str(folder)])[0])
        self.home = folder / "home"
        self.script = folder / "bin" / "agent-hooks"
        for made in (self.site, self.home, self.script.parent):
            made.mkdir(parents=True, exist_ok=True)
        self.script.write_text((WIRED if plugins else WIRED_ALONE) if wired else SCRIPT)
        if wired:
            (self.site / "tests.pth").write_text("\n".join(getsitepackages()))
            if plugins:
                self._install_those_of_tests()
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

    def _install_those_of_tests(self) -> None:
        """Install the plugins of the environment in which the tests run, editable ones too."""
        for folder in map(Path, getsitepackages()):
            for found in folder.glob("_editable_impl_*.pth"):
                (self.site / found.name).symlink_to(found)
            for name in PLUGINS:
                if (folder / name).exists():
                    (self.site / name).symlink_to(folder / name)

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

    def arguments(self, *arguments: str) -> list[str]:
        if self.wired:
            return [str(self.folder / "bin" / "python"), "-I", "-S", str(self.script), *arguments]
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
        words = [*program, *arguments] if program else self.arguments(*arguments)
        variables = {**self.environment, **(env or {})}
        if not program and self._can_fork(variables):
            return Done(forking().run(words[1:], variables, cwd or self.folder, given, seconds))
        if self.served and not program and arguments[:1] == ("run",) and not env:
            self.serve()
        return self._run(words, given, env or {}, cwd, seconds)

    def start(self, *arguments: str, payload: Any, **options: Any) -> subprocess.Popen[str]:
        """Start ``agent-hooks run`` for Claude Code with a payload, and do not wait for it."""
        process = subprocess.Popen(
            self.arguments("run", "--agent", "claude-code", *arguments),
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **options,
        )
        assert process.stdin is not None
        with process.stdin:
            process.stdin.write(json.dumps(payload))
        process.stdin = None
        return process

    def serve(self, *arguments: str, **options: Any) -> Warm:
        """Return the warm process of this command, which is started if none runs."""
        from warm import Warm

        if self.folder not in Command.warm or Command.warm[self.folder].has_ended:
            Command.warm[self.folder] = Warm(self, *arguments, **options)
        return Command.warm[self.folder]

    def _can_fork(self, variables: dict[str, str]) -> bool:
        """Whether a forked process does the same: Python starts as it always does, with the same package."""
        of_python = {name for name in variables if name.startswith(("PYTHON", "LC_", "LANG"))}
        return (
            self.forks
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

    def answer(self, agent: str, payload: dict[str, Any], *arguments: str, **options: Any) -> Done:
        """What ``agent-hooks run`` answers to ``payload``."""
        return self("run", "--agent", agent, *arguments, stdin=json.dumps(payload), **options)


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
