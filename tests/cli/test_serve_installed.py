"""The warm process in real environments: it answers each line that `install` writes, whatever installed the command."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from projects import Project

pytestmark = [pytest.mark.full, pytest.mark.skipif(sys.platform != "linux", reason="it is started by hand elsewhere")]
ROOT = Path(__file__).parents[2]
CORE, GUARDS = f"{ROOT}[cli]", str(ROOT / "plugins" / "agent-hooks-guards")


def run(*words, **options):
    done = subprocess.run(words, capture_output=True, text=True, check=False, **options)
    assert done.returncode in (0, 2), done.stderr
    return done


def by_pip(folder, *options):
    run(sys.executable, "-m", "venv", str(folder))
    run(folder / "bin" / "python", "-m", "pip", "install", "--quiet", *options)
    return folder / "bin" / "agent-hooks"


def by_uv(folder):
    env = {**os.environ, "UV_TOOL_DIR": str(folder / "tools"), "UV_TOOL_BIN_DIR": str(folder / "bin")}
    run(_tool("uv"), "tool", "install", "--python", sys.executable, CORE, "--with", GUARDS, env=env)
    return folder / "bin" / "agent-hooks"


def by_pipx(folder):
    env = {**os.environ, "PIPX_HOME": str(folder / "home"), "PIPX_BIN_DIR": str(folder / "bin")}
    run(_tool("pipx"), "install", "--python", sys.executable, CORE, env=env)
    run(_tool("pipx"), "inject", "agent-hooks-core", GUARDS, env=env)
    return folder / "bin" / "agent-hooks"


def _tool(name):
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


WAYS = {
    "venv": lambda folder: by_pip(folder / "v", CORE, GUARDS),
    "path-with-a-space": lambda folder: by_pip(folder / "my tools", CORE, GUARDS),
    "editable": lambda folder: by_pip(folder / "v", "--editable", CORE, "--editable", GUARDS),
    "uv-tool": by_uv,
    "pipx": by_pipx,
}


@pytest.fixture(params=WAYS)
def program(request, tmp_path, monkeypatch):
    monkeypatch.setenv("UV_LINK_MODE", "copy")  # a link to a file of uv's cache changes when another one is made
    monkeypatch.setenv("CI", "1")  # no event starts the warm process, which would be the account's own
    return WAYS[request.param](tmp_path)


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path)


def answers_to_wired_lines(project):
    """What each line of Claude Code's settings answers to ``rm -rf ~``, by event."""
    found = {}
    (settings,) = (project.root / ".claude").glob("settings*.json")
    for event, entries in json.loads(settings.read_text())["hooks"].items():
        for hook in (hook for entry in entries for hook in entry["hooks"]):
            call = {"tool_name": "Bash", "tool_input": {"command": "rm -rf ~"}, "tool_response": "", "prompt": "x"}
            payload = {"session_id": "s", "transcript_path": "", "cwd": str(project.root), "hook_event_name": event}
            words = [hook["command"], *hook["args"]] if "args" in hook else ["sh", "-c", hook["command"]]
            done = run(*words, input=json.dumps({**payload, **call}), cwd=project.root)
            found[event] = (done.returncode, done.stdout, done.stderr)
    return found


def serving(program):
    process = subprocess.Popen([program, "serve"], stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    with process.stderr:
        assert "serving" in process.stderr.readline()
    return process


def test_it_answers_every_line_that_is_wired(program, project):
    run(program, "install", "claude-code", "--project", cwd=project.root)
    alone = answers_to_wired_lines(project)
    process = serving(program)
    try:
        assert answers_to_wired_lines(project) == alone
        answered = re.search(r"answered (\d+), declined 0", run(program, "serve", "--status").stdout)
        assert answered is not None
        assert int(answered[1]) == len(alone) >= 5
        # It exits with 1: nobody trusts this folder.
        said = subprocess.run([program, "doctor"], cwd=project.root, capture_output=True, text=True, check=False).stdout
        assert f"A warm process answers the events: process {process.pid};" in said
        assert alone["PreToolUse"][0] == 2
        # As after an upgrade, whose files are other ones.
        entry = next(program.resolve().parents[1].glob("**/agent_hooks_guards*.dist-info")) / "entry_points.txt"
        entry.write_bytes(entry.read_bytes())
        assert answers_to_wired_lines(project) == alone
        assert process.wait(30) == 0
    finally:
        process.terminate()
        process.wait(30)
