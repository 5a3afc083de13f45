"""What a wired line says where the environment that it runs is gone, in real shells."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from shutil import which

import pytest

from agent_hooks.cli.wiring import entries
from agent_hooks.cli.wiring.hosts import WIRINGS
from agent_hooks.formats.claude.fields import is_ours

from .conftest import KNOWN

SHELLS = [each for each in ("sh", "bash", "dash", "zsh", "fish", "busybox") if which(each)]
GEMINIS = {
    "BeforeTool": "PreToolUse",
    "BeforeAgent": "UserPromptSubmit",
    "AfterAgent": "Stop",
    "AfterTool": "PostToolUse",
}
GONE = {
    "PreToolUse": 2,  # what a gate would have seen
    "UserPromptSubmit": 0,  # or the person who has to mend it could type nothing more
    "Stop": 0,  # or there is another round for ever
    "PostToolUse": 0,
}


@pytest.mark.parametrize("host", [name for name in KNOWN if name not in ("cursor", "vscode")])
@pytest.mark.parametrize("shell", SHELLS)
def test_a_line_says_by_itself_that_its_environment_is_gone(home, monkeypatch, tmp_path, shell, host):
    """As after `uv tool uninstall`: the file with the entry, and what to type, instead of "not found"."""
    environment = tmp_path / "an environment's folder"
    environment.mkdir()
    python, script = environment / "python", environment / "agent_hooks_core.py"
    python.symlink_to(sys.executable)
    script.write_text("import sys; print('asked', *sys.argv[1:3]); sys.exit(7)")
    monkeypatch.setattr(entries, "launcher", lambda: [str(python), "-I", "-S", str(script)])
    names = [name for name in entries.events_of(WIRINGS[host]) if name in GONE or name in GEMINIS]
    home.install(host, events=names)
    lines = {event: handler["command"] for event, handler in home.hooks(host).items()}
    assert all(is_ours({"command": line}) for line in lines.values())

    def run(line):
        words = [shell, "sh", "-c", line] if shell == "busybox" else [shell, "-c", line]
        return subprocess.run(words, capture_output=True, text=True, check=False, env={"PATH": os.environ["PATH"]})

    for line in lines.values():
        done = run(line)
        assert (done.returncode, done.stdout) == (2 if line.endswith("|| exit 2") else 7, "asked run --agent\n")
    script.unlink()
    for event, line in lines.items():
        done = run(line)
        said = done.stdout + done.stderr
        assert done.returncode == GONE[GEMINIS.get(event, event)], (event, done)
        assert str(home.file(host)) in said
        assert f"agent-hooks install {host}" in said
        if done.returncode == 0 and done.stdout:
            assert "agent-hooks install" in json.loads(done.stdout)["systemMessage"]
    home.uninstall(host)
    assert not home.file(host).exists()


OTHERS = (
    ("[ -f /e/s.py ]", "'rm -rf x'", "a"),
    ("[ -f $(id) ]", '\'printf %s "$1"; printf %s "$2" >&2; exit $3\'', "a"),
    ("[ -f /e/s.py ]", '\'printf %s "$1"; printf %s "$2" >&2; exit $3\'', "`id`"),
    ("[ -f /e/s.py ]", '\'printf %s "$1"; printf %s "$2" >&2; exit $3\'', "a"),
)


def test_only_a_line_of_that_very_form_is_ours():
    form = "[ -x /e/python ] && {} || exec sh -c {} sh {} b 2; exec /e/python /e/agent_hooks_core.py run"
    assert [is_ours({"command": form.format(*parts)}) for parts in OTHERS] == [False, False, False, True]
    assert not is_ours({"command": "[ -x /e/python ]; rm x; agent-hooks run"})
