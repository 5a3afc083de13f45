"""Two other distributions install a package of our import name: real wheels, real installers, every order.

Whatever the order, the ways in through ``agent_hooks_core`` never leave a gate open, name the distribution in the way,
and print commands that repair the installation.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.full

ROOT = Path(__file__).parent.parent.parent
FOREIGN = {"agent-hooks": "0.2.0", "agent-hooks-sdk": "0.1.0b3"}
GATE = """
[[hooks.before_tool_use]]
hooks = [{ type = "command", command = ["sh", "-c", "echo 'not here' >&2; exit 2"] }]
"""


def call(*words, **options):
    return subprocess.run(
        [*map(str, words)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        stdin=subprocess.DEVNULL,
        **options,
    )


@pytest.fixture(scope="session")
def wheels(tmp_path_factory):
    """The wheel of this checkout, the real ones of the others, and those that they need."""
    folder = tmp_path_factory.mktemp("wheels")
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check")
    done = call(*pip, "wheel", "--no-deps", "--wheel-dir", folder, ROOT)
    assert done.returncode == 0, done.stderr
    (ours,) = folder.iterdir()
    for names in ((f"{ours}[cli]", "pytest", "uv"), *([f"{name}=={version}"] for name, version in FOREIGN.items())):
        done = call(*pip, "download", "--dest", folder, "--find-links", folder, *names)
        if done.returncode and "No matching distribution" in done.stderr:
            pytest.skip("the package index cannot be reached")
        assert done.returncode == 0, done.stderr
    return folder


class Environment:
    """A virtual environment, and a user whose one gate refuses every tool call."""

    def __init__(self, folder: Path, wheels: Path, installer: str) -> None:
        self.python = folder / "venv" / "bin" / "python"
        self.folder = folder
        config = folder / "config"
        config.mkdir(mode=0o700)
        (config / "agent-hooks.toml").write_text(GATE)
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(("AGENT_", "PYTHON"))}
        self.variables = {
            **inherited,
            "PATH": os.pathsep.join((str(folder / "tools" / "bin"), os.environ["PATH"])),
            "HOME": str(folder),
            "AGENT_HOOKS_CONFIG_DIR": str(config),
            "PIP_FIND_LINKS": f"{os.environ.get('PIP_FIND_LINKS', '')} {wheels}",
            "PIP_NO_INDEX": "1",
            "UV_FIND_LINKS": str(wheels),
            "UV_NO_INDEX": "1",
            "UV_CACHE_DIR": str(wheels / "cache-of-uv"),
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        }
        if installer == "pip":
            self.call(sys.executable, "-m", "venv", folder / "venv")
        else:
            self.call(sys.executable, "-m", "venv", "--without-pip", folder / "venv")
            pip = (sys.executable, "-m", "pip", "install")
            self.call(*pip, "--target", folder / "tools", "uv")
        self.installer = installer

    def call(self, *words):
        done = call(*words, env=self.variables, cwd=self.folder)
        assert done.returncode == 0, done.stderr
        return done

    def install(self, *names):
        if self.installer == "pip":
            self.call(self.python, "-m", "pip", "install", *names)
        else:
            self.call("uv", "pip", "install", "--python", self.python, *names)

    def uninstall(self, name):
        if self.installer == "pip":
            self.call(self.python, "-m", "pip", "uninstall", "--yes", name)
        else:
            self.call("uv", "pip", "uninstall", "--python", self.python, name)

    def ways(self):
        (file,) = self.folder.glob("venv/lib/python*/site-packages/agent_hooks_core.py")
        script = self.python.parent / "agent-hooks-core"
        return [[script], [self.python, "-m", "agent_hooks_core"], [self.python, file]]

    def run(self, way, event):
        payload = {"session_id": "s", "cwd": str(self.folder), "tool_name": "Bash", "tool_input": {"command": "ls"}}
        return subprocess.run(
            [*map(str, way), "run", "--agent", "codex", "--event", event],
            input=json.dumps({"hook_event_name": event, **payload}),
            env=self.variables,
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def doctor(self):
        return call(self.python.parent / "agent-hooks-core", "doctor", env=self.variables, cwd=self.folder)

    def assert_closed(self):
        """Every new way in refuses a tool call, and lets the agent stop."""
        for way in self.ways():
            gate = self.run(way, "PreToolUse")
            assert gate.returncode == 2
            assert gate.stderr.strip()
            stop = self.run(way, "Stop")
            assert stop.returncode == 0
            assert "Traceback" not in gate.stderr + stop.stderr

    def assert_named(self, name):
        done = self.doctor()
        said = " ".join((done.stdout + done.stderr).split())
        assert done.returncode in (1, 2)
        assert f"'{name}'" in said
        assert ("-p no:agent_hooks_ctk" in said) == (name == "agent-hooks-sdk")
        assert "Traceback" not in said

    def assert_whole(self):
        assert "not here" in self.run(self.ways()[0], "PreToolUse").stderr
        done = self.doctor()
        assert (done.returncode, done.stderr) == (0, "")

    def repair(self):
        """Type what doctor says."""
        remedy = self.doctor().stdout.partition("Remedy: ")[2].splitlines()[0]
        self.call("sh", "-c", remedy)

    def assert_pytest_goes_on(self, *options):
        (self.folder / "test_other.py").write_text("def test_passes(): pass\n")
        done = call(self.python, "-m", "pytest", "-q", *options, "test_other.py", env=self.variables, cwd=self.folder)
        assert done.returncode == 0, done.stdout + done.stderr
        assert done.stdout.count("its pytest plugin is not loaded") == 1


@pytest.mark.parametrize("installer", ["pip", "uv"])
@pytest.mark.parametrize("name", FOREIGN)
def test_no_order_of_installing_opens_a_gate_and_the_printed_remedy_repairs(tmp_path, wheels, name, installer):
    environment = Environment(tmp_path, wheels, installer)
    environment.install("agent-hooks-core[cli]", "pytest")
    environment.assert_whole()

    # Theirs over ours.
    environment.install(f"{name}=={FOREIGN[name]}")
    environment.assert_closed()
    environment.assert_named(name)
    environment.assert_pytest_goes_on(*(["-p", "no:agent_hooks_ctk"] if name == "agent-hooks-sdk" else []))
    environment.repair()
    environment.assert_whole()

    # Theirs over ours, and uninstalled again.
    environment.install(f"{name}=={FOREIGN[name]}")
    environment.uninstall(name)
    environment.assert_closed()
    environment.assert_pytest_goes_on()
    environment.repair()
    environment.assert_whole()

    # Ours over theirs.
    environment.uninstall("agent-hooks-core")
    environment.install(f"{name}=={FOREIGN[name]}")
    environment.install("agent-hooks-core[cli]")
    environment.assert_closed()
    environment.assert_named(name)

    # And theirs uninstalled again.
    environment.uninstall(name)
    environment.assert_closed()
    environment.repair()
    environment.assert_whole()
