"""What a command only writes or reads switches no gate off, and what it would run later does not run untrusted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from agent_hooks import AgentBuilder, ScriptedDriver, ToolCall, tool

from .conftest import Victim

if TYPE_CHECKING:
    from agent_hooks import AgentRuntime

GATE = "grep -q forbidden && { echo 'not here' >&2; exit 2; }; exit 0"
DATABASE = (
    "python3 -c \"import sqlite3; c = sqlite3.connect('calls.db'); c.execute('create table if not exists t (a)'); "
    "c.execute('insert into t values (1)'); c.commit()\""
)
GUARDED = (
    "python3 -c \"import json, sys; path = json.load(sys.stdin)['tool_input'].get('file_path', ''); "
    "sys.exit(2 if '.env' in path else 0)\""
)

GUARDS = {
    "code": GUARDED,
    "here": "F=$(cat); F=$F python3 - <<'E'\nimport json, os, sys\nsys.exit(2 if '.env' in os.environ['F'] else 0)\nE",
    "module": "python3 -m json.tool | grep -qF .env && exit 2; exit 0",
}


@pytest.fixture
def at_home(victim: Victim, monkeypatch: pytest.MonkeyPatch) -> Victim:
    """The same person, whose agent is a program of this process."""
    for name, value in victim.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(victim.repo)
    return victim


def denied(victim: Victim) -> list[bool]:
    """Whether the gate denied, at each of three calls."""
    return [victim.asked(tool_input={"command": "forbidden"}).decision == "deny" for _ in range(3)]


@pytest.mark.parametrize(
    "logging",
    [
        "cat | head -c 20 >> ~/.claude/bash-command-log.txt",
        "tee -a .claude/audit.txt > /dev/null",
        "flock .claude/lock -c 'cat >> .claude/log.txt'",
        "dd of=calls.txt 2> /dev/null",
        "tar czf calls.tgz .claude",
        DATABASE,
        'LOG="$CLAUDE_PROJECT_DIR"/calls.txt; jq -c . >> "$LOG" 2>/dev/null || cat >> "$LOG"',
    ],
)
def test_a_log_that_a_hook_writes_leaves_the_gates_as_they_are(at_home: Victim, logging: str):
    at_home.write(".claude/settings.json", Victim.hooks(logging, GATE))
    (at_home.home / ".claude").mkdir(exist_ok=True)
    at_home.trust()
    assert denied(at_home) == [True] * 3, "the log was not there when it was trusted"
    at_home.trust()
    assert denied(at_home) == [True] * 3, "it was there, and has grown since"


def test_a_file_that_a_hook_only_looks_at_may_change(at_home: Victim):
    reading = "while read -r line; do :; done < README.md; mkdir -p docs"
    at_home.write(".claude/settings.json", Victim.hooks("[ -f package.json ] && head -5 README.md", reading, GATE))
    at_home.write("package.json", "{}")
    at_home.write("README.md", "old")
    at_home.trust()
    at_home.write("package.json", '{"name": "x"}')
    at_home.write("README.md", "new")
    assert denied(at_home) == [True] * 3
    edit = at_home.asked(tool_name="Write", tool_input={"file_path": str(at_home.repo / "README.md"), "content": ""})
    assert edit.decision != "deny"


@tool(name="Bash", kind="shell")
def bash(command: str) -> str:
    """Run a command."""
    return f"ran {command}"


@tool(name="Save", kind="other")
def save(place: str, text: str) -> str:
    """Write a file, in a way that nobody sees."""
    Path(place).parent.mkdir(exist_ok=True)
    Path(place).write_text(text)
    return "written"


@tool(name="Write", kind="write")
def write(file_path: str, content: str) -> str:
    """Write a file."""
    return str(save(file_path, content))


def agent(*calls: ToolCall) -> AgentRuntime:
    return AgentBuilder().with_driver(ScriptedDriver(*calls, "done")).with_tools(bash, write, save).build()


def answers(of: AgentRuntime) -> list[str]:
    return [message.content for message in of.run_sync("x").messages if message.role == "tool"]


LATE = pytest.mark.parametrize(
    "command", ['["python3", "hooks/late.py"]', '"[ -f hooks/late.py ] && python3 hooks/late.py; exit 0"']
)


@LATE
def test_no_agent_writes_the_script_that_a_gate_lacks(at_home: Victim, command: str):
    at_home.write("agent-hooks.toml", at_home.table("x").replace('"x"', command))
    at_home.trust()
    written = ToolCall("Write", {"file_path": "hooks/late.py", "content": at_home.python})
    assert answers(agent(written))[0].startswith("Denied")
    assert not (at_home.repo / "hooks/late.py").exists()


def test_no_agent_is_first_to_write_the_script_that_a_command_makes_itself(at_home: Victim):
    makes = '"[ -f hooks/made.sh ] || echo exit 0 > hooks/made.sh; sh hooks/made.sh"'
    at_home.write("agent-hooks.toml", at_home.table("x", beside="matcher = 'shell'").replace('"x"', makes))
    at_home.write("hooks/other.txt", "")
    at_home.trust()
    first = ToolCall("Write", {"file_path": "hooks/made.sh", "content": "exit 0"})
    said = answers(agent(first, *[ToolCall("Bash", {"command": "ls"})] * 2))
    assert said[0].startswith("Denied")
    assert said[1:] == ["ran ls"] * 2, "it makes it, and runs it again"


@LATE
def test_a_script_that_comes_after_the_trust_does_not_run(at_home: Victim, command: str):
    at_home.write("agent-hooks.toml", at_home.table("x", beside="matcher = 'shell'").replace('"x"', command))
    at_home.trust()
    guarded = agent(ToolCall("Bash", {"command": "ls"}))
    at_home.write("hooks/late.py", at_home.python)
    (answer,) = answers(guarded)
    assert answer.startswith("Denied")
    assert "was not there" in answer
    assert not at_home.canary.exists()


@pytest.mark.parametrize("guard", GUARDS)
@pytest.mark.parametrize("module", ["json.py", "_json.py"])
def test_no_module_beside_it_takes_the_place_of_what_pythons_code_imports(at_home: Victim, module: str, guard: str):
    at_home.write(".claude/settings.json", Victim.hooks(GUARDS[guard]))
    at_home.trust()
    late = ToolCall("Save", {"place": module, "text": f"{at_home.python}import os; os._exit(0)\n"})
    said = answers(agent(late, ToolCall("Write", {"file_path": ".env", "content": "x"})))
    assert said[0] == "written"
    assert said[1].startswith("Denied")
    assert not at_home.canary.exists()
