"""A main agent from a definition file, with skills from folders."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from agent_hooks import (
    AgentBuilder,
    HookContext,
    HookOutcome,
    HookPolicy,
    RegistrationError,
    RunError,
    ScriptedDriver,
    SessionRunner,
    ToolCall,
    TrustError,
)
from agent_hooks.runtime.definitions import Definition, stop_hooks
from agent_hooks.runtime.python_tools import tool
from agent_hooks.system.store import MemoryStore
from tables import tables

TABLES = tables(__file__)

REVIEWER = """---
name: reviewer
description: Reviews.
tools: Read, mcp__docs__*
maxTurns: 3
---
You review code.
"""
SKILL = """---
name: {name}
description: How to {name}.
---
To {name}, do $ARGUMENTS.
"""


@tool(kind="read")
def read_file(path: str) -> str:
    return f"text of {path}"


@tool(kind="shell")
def run(command: str) -> str:
    return "ran"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "reviewer.md").write_text(REVIEWER)
    for name in ("lint", "praise"):
        (tmp_path / "skills" / name).mkdir(parents=True)
        (tmp_path / "skills" / name / "SKILL.md").write_text(SKILL.format(name=name))
    (tmp_path / "skills" / "README.md").write_text("Not a skill.")
    return tmp_path


def made(folder, *replies: Any, **options: Any) -> tuple[AgentBuilder, ScriptedDriver]:
    driver = ScriptedDriver(*replies)
    found = AgentBuilder.from_file(folder / "agents" / "reviewer.md", plugins=(), **options)
    return found.with_driver(driver).with_tools(read_file, run).with_store(MemoryStore()), driver


def test_the_file_says_the_name_the_prompt_the_tools_and_the_limit(folder):
    builder, driver = made(folder, *[ToolCall("read_file", {"path": "a"})] * 9)
    agent = builder.build()
    state = agent.run_sync("Go.")
    assert (agent.name, driver.requests[0].system_prompt) == ("reviewer", "You review code.")
    assert [each["name"] for each in driver.requests[0].tools] == ["read_file"]
    assert state.stop_signal
    assert (state.step_count, state.stop_signal.reason) == (3, "steps_limit")


def test_paths_may_be_relative_and_skills_are_those_of_the_folders(folder, monkeypatch):
    monkeypatch.chdir(folder)
    driver = ScriptedDriver(ToolCall("activate_skill", {"skill": "lint", "arguments": "all of it"}), "Done.")
    agent = AgentBuilder.from_file("agents/reviewer.md", plugins=()).with_skills("skills/").with_driver(driver).build()
    state = agent.run_sync("Review it.")
    assert state.messages[2].content == "To lint, do all of it."
    (offered,) = driver.requests[0].tools
    assert offered["description"].splitlines()[1:] == ["- lint: How to lint.", "- praise: How to praise."]
    assert (state.output, dict(state.metadata)) == ("Done.", {})


def test_a_session_has_the_agents_skills_as_well_as_its_own(folder):
    builder, driver = made(folder, ToolCall("activate_skill", {"skill": "praise"}), "Done.")
    agent = builder.with_skills(folder / "skills" / "praise", folder / "skills" / "lint" / "SKILL.md").build()
    with SessionRunner(agent) as session:
        assert session.send_sync("Go.").messages[2].content == "To praise, do ."
        assert session.activate_sync("lint", "it").messages[-1].content == "To lint, do it."
    assert "- lint: How to lint." in driver.requests[0].tools[-1]["description"]


def test_a_denied_skill_stays_out_of_a_run_without_a_session_too(folder):
    builder, _ = made(folder, ToolCall("activate_skill", {"skill": "lint"}), "Done.")
    builder = builder.with_skills(folder / "skills").hook("before_skill_activation", lambda ctx: ("deny", "Not now."))
    state = builder.build().run_sync("Go.")
    assert state.messages[2].content == "Denied: Not now."
    assert "To lint" not in str(state.messages)


HOOKS = """hooks:
  PreToolUse:
    - matcher: Read
      hooks: [{type: command, command: sh ./no.sh}]
  Stop:
    - hooks: [{type: command, command: sh ./again.sh}]
"""
NO = "echo Not this. >&2; exit 2"
AGAIN = (
    """cat > ../stop.json; test -e ../seen || echo '{"decision": "block", "reason": "Look again."}'; touch ../seen"""
)


def test_hooks_of_the_file_need_trust_and_hold_for_the_main_agent(folder):
    file = folder / "agents" / "reviewer.md"
    (folder / "agents" / "no.sh").write_text(NO)
    (folder / "agents" / "again.sh").write_text(AGAIN)
    file.write_text(REVIEWER.replace("maxTurns: 3\n", HOOKS))
    with pytest.raises(TrustError, match="agent-hooks trust"):
        made(folder)[0].build()
    builder, _ = made(folder, ToolCall("read_file", {"path": "a"}), "Done.", "Really done.", trusted=True)
    state = builder.with_cwd(folder).build().run_sync("Go.")
    assert state.messages[2].content.startswith("Denied: ")
    assert state.output == "Really done.", "Stop of the file is asked about the end of the main agent"
    asked = json.loads((folder / "stop.json").read_text())
    assert (asked["name"], asked["task"], asked["result"]) == ("reviewer", "Go.", "Really done.")


def test_stop_of_the_file_is_asked_about_an_end_without_a_state_too(folder):
    file = folder / "agents" / "reviewer.md"
    (folder / "agents" / "again.sh").write_text(AGAIN)
    file.write_text(REVIEWER.replace("maxTurns: 3\n", HOOKS))
    stop = stop_hooks(str(file), "reviewer", "main", HookPolicy(), is_trusted=True)

    async def ended() -> HookOutcome | None:
        return await stop(HookContext("on_stop", cwd=str(folder)))

    outcome = asyncio.run(ended())
    assert outcome is not None
    assert (outcome.decision, outcome.reason) == ("force_continue", "Look again.")
    asked = json.loads((folder / "stop.json").read_text())
    assert (asked["task"], asked["result"]) == ("", "")


@pytest.mark.parametrize(("text", "problem"), TABLES["what_is_wrong_in_the_file_is_named_with_it"])
def test_what_is_wrong_in_the_file_is_named_with_it(folder, text, problem):
    file = folder / "agents" / "reviewer.md"
    file.write_text(text)
    with pytest.raises(RegistrationError, match=rf"reviewer\.md.*{problem}"):
        AgentBuilder.from_file(file, plugins=()).build()


def test_what_cannot_be_honoured_is_logged_with_file_and_line(folder, caplog):
    file = folder / "agents" / "reviewer.md"
    file.write_text(REVIEWER.replace("Read,", "Read, Grep,").replace("maxTurns: 3", "maxTurns: 1\ncolor: red"))
    made(folder, "Done.")[0].build()
    assert f"{file}:6: color is not honoured here." in caplog.text
    assert f"{file}: no tool of the agent is called 'Grep'." in caplog.text


def test_disallowed_tools_are_left_out(folder):
    file = folder / "agents" / "reviewer.md"
    file.write_text("---\nname: x\nmodel: inherit\ndisallowedTools: [Bash]\n---\n")
    assert Definition.read(file, is_trusted=False).model == ""
    builder, driver = made(folder, "Done.")
    builder.build().run_sync("Go.")
    assert [each["name"] for each in driver.requests[0].tools] == ["read_file"]


def test_a_folder_without_skills_is_an_error(folder):
    with pytest.raises(RunError, match=r"There is no skill in .*agents"):
        made(folder)[0].with_skills(folder / "agents")
