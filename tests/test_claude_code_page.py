"""``docs/coming-from-claude-code.md``: all of Claude Code's names are in its tables, and every name of ours exists."""

from __future__ import annotations

import json
import re
import sys

import pytest

from agent_hooks import HookContext, ToolCall
from agent_hooks.formats.claude.event_names import ANY_TYPE, EVENTS
from agent_hooks.formats.claude.fields import ALL_FIELDS
from agent_hooks.formats.entry import HookEntry
from agent_hooks.handlers.command import CommandHandler
from agent_hooks.handlers.command_config import CommandConfig
from agent_hooks.model.events import find_event
from pages import named, tables

# What their settings files may say beside entries (code.claude.com/docs/en/settings), and what an answer may have
# (code.claude.com/docs/en/hooks, the Agent SDK's types).
SETTINGS = (
    "hooks disableAllHooks allowManagedHooksOnly allowedHttpHookUrls httpHookAllowedEnvVars modules "
    "managed-settings.json managed-settings.d/ ~/.claude/settings.json .claude/settings.json "
    ".claude/settings.local.json hooks/hooks.json"
).split()
ANSWERS = (
    "continue stopReason suppressOutput systemMessage terminalSequence decision reason hookSpecificOutput "
    "hookEventName permissionDecision permissionDecisionReason updatedInput additionalContext updatedToolOutput "
    "updatedMCPToolOutput classifierContext behavior message updatedPermissions interrupt retry watchPaths "
    "sessionTitle initialUserMessage reloadSkills suppressOriginalPrompt displayContent worktreePath action content "
    "async"
).split()
VARIABLES = (
    "CLAUDE_PROJECT_DIR CLAUDE_PLUGIN_ROOT CLAUDE_PLUGIN_DATA CLAUDE_ENV_FILE CLAUDE_EFFORT CLAUDE_CODE_REMOTE "
    "CLAUDE_CODE_BRIDGE_SESSION_ID CLAUDE_CONFIG_DIR CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS "
    "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"
).split()


TABLES = tables("coming-from-claude-code.md")


def theirs(heading: str) -> set[str]:
    """Their names in a table, and the words of those that are more than a word."""
    names = [name for row in TABLES[heading] for name in named(row[0])]
    return {*names, *(word for name in names for word in re.findall(r"\w+", name))}


# -- nothing of theirs is missing -------------------------------------------------------------------------------------


@pytest.mark.parametrize("event", EVENTS)
def test_an_event_is_in_the_table_as_it_is_read(event: str):
    (row,) = [row for row in TABLES["Events"] if named(row[0]) == [event]]
    said = EVENTS[event].subject.removeprefix("payload.")
    subject = {"tool": "tool_name", "name": "agent_type", "end_reason": "reason"}.get(said, said)
    assert named(row[1]) == ([subject] if subject else [])
    assert named(row[2]) == [EVENTS[event].event]


def test_the_table_has_no_event_that_they_have_not():
    assert theirs("Events") == set(EVENTS)


@pytest.mark.parametrize("field", ["matcher", "type", *sorted(ALL_FIELDS - {"type"}), *sorted(ANY_TYPE)])
def test_a_field_of_an_entry_is_in_the_table(field: str):
    assert field in theirs("Entries")


@pytest.mark.parametrize("key", SETTINGS)
def test_a_file_or_key_of_settings_is_in_the_table(key: str):
    assert key in theirs("Files and settings")


@pytest.mark.parametrize("variable", VARIABLES)
def test_a_variable_is_in_the_table(variable: str):
    assert variable in theirs("What a command finds")


@pytest.mark.parametrize("key", ANSWERS)
def test_a_field_of_an_answer_is_in_the_table(key: str):
    assert key in theirs("Answers")


def test_variables_that_are_said_to_be_there_are(tmp_path, monkeypatch):
    monkeypatch.setenv("AGENT_HOOKS_STATE_DIR", str(tmp_path / "state"))
    said = {name for row in TABLES["What a command finds"] for name in named(row[-2]) if name.startswith("CLAUDE_")}
    event = find_event("before_tool_use")
    assert event is not None
    entry = HookEntry(event=event, type="command", project_dir=str(tmp_path), plugin_root=str(tmp_path))
    seen = tmp_path / "seen.json"
    program = "import json, os, sys; json.dump(dict(os.environ), open(sys.argv[1], 'w'))"
    config = CommandConfig(command=[sys.executable, "-c", program, str(seen)])
    hook = CommandHandler().bind(config, entry)
    assert hook(HookContext(event, tool_call=ToolCall("Bash", {"command": "ls"}))) is None
    assert said - {"CLAUDE_CONFIG_DIR"} == {name for name in json.loads(seen.read_text()) if name.startswith("CLAUDE_")}
