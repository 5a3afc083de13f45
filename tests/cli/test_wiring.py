"""The hook settings that the documentation shows: each command line, run as its agent runs it."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from agent_hooks.formats.claude.settings import read_claude
from agent_hooks.wire import HOSTS
from commands import as_written
from pages import tables

ROOT = Path(__file__).parent.parent.parent
DOCUMENTED = "/home/ada/.local/bin/agent-hooks-core"
HOOKS = """
    @hookimpl
    def before_tool_use(tool_call):
        return HookOutcome.deny("not here")

    @hookimpl
    def user_input(prompt):
        return HookOutcome.deny("not this prompt")

    @hookimpl
    def after_tool_use(result):
        return HookOutcome.update(result="[redacted]")

    @hookimpl
    def on_stop():
        return HookOutcome.force_continue("the tests are red")
"""


def shown():
    """The settings on the page, by the agent that their commands name."""
    agents = {"Claude Code": "claude-code", "Codex": "codex"}
    return {agents[heading]: dict(map(entry, rows)) for heading, rows in tables("wiring-by-hand.md").items()}


def entry(row):
    """The event of a row of a table, and the groups of its entry in the file."""
    event, arguments, timeout, *on_failure = (cell.strip("`").replace("\\|", "|") for cell in row)
    hook = {"type": "command", "command": f"{DOCUMENTED} {arguments}", "timeout": int(timeout)}
    if any(on_failure):
        hook["onFailure"] = json.loads(on_failure[0])
    return event, [{"hooks": [hook]}]


DOCS = shown()
ENTRIES = [
    (agent, event, entry)
    for agent, events in DOCS.items()
    for event, groups in events.items()
    for group in groups
    for entry in group["hooks"]
]
each_entry = pytest.mark.parametrize(
    ("agent", "event", "entry"), ENTRIES, ids=[f"{agent}-{event}" for agent, event, _ in ENTRIES]
)


def test_every_event_that_has_a_name_here_is_wired():
    wired = {agent: set(events) for agent, events in DOCS.items()}
    assert wired == {
        name: {event for event, row in host.rows.items() if row.event != "on_host_event"}
        for name, host in HOSTS.items()
        if name in DOCS
    }


def test_the_readme_shows_the_same_two_commands_as_the_page():
    commands = re.compile(r"^\$ (uv tool install .+|agent-hooks install .+)$", re.MULTILINE)
    readme, page = (
        commands.findall((ROOT / page).read_text("utf-8")) for page in ("README.md", "docs/coding-agents.md")
    )
    assert (
        readme
        == page[:2]
        == ["uv tool install './[cli]' --with ./plugins/agent-hooks-guards", "agent-hooks install claude-code"]
    )


def test_no_page_lets_a_host_call_the_name_that_another_distribution_overwrites():
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "plugins").glob("*/README.md")]
    wrong = [page.name for page in pages if re.search(r'"command": "[^"]*\bagent-hooks run', page.read_text("utf-8"))]
    assert wrong == []


@each_entry
def test_the_command_answers_before_its_own_limit_and_a_gate_is_closed_without_it(agent, event, entry):
    words = shlex.split(entry["command"].removesuffix(" || exit 2"))
    assert words[:6] == [DOCUMENTED, "run", "--agent", agent, "--event", event]
    assert words[6] == "--timeout"
    assert 0 < float(words[7]) < entry["timeout"]
    # The marks of a closed gate stand on just those events that a failure of ours refuses.
    is_gate = HOSTS[agent].failure(event, "why").exit_code == 2
    assert entry["command"].endswith(" || exit 2") == (is_gate and agent == "codex")
    assert (entry.get("onFailure") == "block") == (is_gate and agent == "claude-code")


def test_the_settings_of_claude_code_are_known_for_our_own():
    """Read for Codex as well, they would ask themselves."""
    data = json.dumps({"hooks": {event: groups for events in DOCS.values() for event, groups in events.items()}})
    file = read_claude(data.encode(), path="settings.json", source="user")
    assert file.entries == ()
    assert {finding.kind for finding in file.findings} == {"own-command"}


def run_line(command, entry, payload, program):
    line = entry["command"].replace(DOCUMENTED, program)
    return subprocess.run(
        ["sh", "-c", line],
        input=json.dumps(payload),
        env=command.environment,
        cwd=command.folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def recorded(payload, agent, event):
    try:
        return payload(agent, event)
    except FileNotFoundError:
        pass
    try:
        return payload(agent, f"documented/{event}")
    except FileNotFoundError:
        return payload(agent, f"{event}.default")


@each_entry
def test_a_documented_line_does_what_its_event_can(command, payload, agent, event, entry):
    command.install(HOOKS)
    done = run_line(command, entry, recorded(payload, agent, event), f"{sys.executable} {command.script}")
    answer = json.loads(done.stdout) if done.stdout else {}
    if event == "PreToolUse":
        assert answer["hookSpecificOutput"]["permissionDecision"] == "deny"
    expected = {
        "PreToolUse": "not here",
        "PreSkillShellCommand": "not here",
        "UserPromptSubmit": "not this prompt",
        "Stop": "the tests are red",
    }
    if event in expected:
        assert (done.returncode, as_written(done.stderr.partition("\n")[0])) == (2, expected[event])
    elif event == "PostToolUse":
        assert "[redacted]" in done.stdout
    else:
        assert (done.returncode, done.stderr) == (0, "")


@each_entry
def test_a_documented_line_without_its_program_refuses_gates_alone(command, payload, agent, event, entry):
    done = run_line(command, entry, recorded(payload, agent, event), str(command.folder / "gone"))
    is_gate = entry["command"].endswith("|| exit 2")
    assert (done.returncode == 2) == is_gate
    assert done.stderr.strip()
