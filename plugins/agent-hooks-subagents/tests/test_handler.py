"""The handler type: its fields, and hooks of three kinds of files that a real client asks a model on loopback for."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from making import markdown

from agent_hooks import AgentBuilder, HookContext, HookEvent, HookManager, ScriptedDriver, ToolCall, register_skill
from agent_hooks.formats.entry import HookEntry
from agent_hooks.handlers.registering import register_entries
from agent_hooks.handlers.types import find_type, handler_types
from agent_hooks.trust.discovery import discover
from agent_hooks.trust.trust_store import TrustStore
from agent_hooks_subagents.handler import SubagentConfig, SubagentHandler
from model_server import MODEL, calls, verdict

RULE = "Every script that is run must be in the project. $ARGUMENTS"


@pytest.mark.parametrize("name", ["agent", "subagent"])
def test_the_installed_type_is_found_by_both_names(name):
    assert isinstance(find_type(name, handler_types(HookManager(load_plugins=["subagents"]))), SubagentHandler)


# -- fields ------------------------------------------------------------------------------------------------------------


def registered(config, event="before_tool_use", **fields):
    manager = HookManager(load_plugins=["subagents"])
    entry = HookEntry(event=HookEvent.parse(event), type="subagent", config=config, path="/f", line=3, **fields)
    return manager, [finding.message for finding in register_entries(manager, "file", [entry])]


def test_a_prompt_is_all_that_is_needed_and_the_rest_has_defaults():
    made = SubagentConfig.model_validate({"prompt": "Rule."})
    assert (made.timeout, made.max_steps, made.max_tokens, made.model, made.preset) == (60.0, 50, None, None, "fast")


@pytest.mark.parametrize("key", ["max_steps", "max_turns", "maxTurns"])
def test_the_limit_of_steps_has_the_names_of_all_formats(key):
    assert SubagentConfig.model_validate({"prompt": "Rule.", key: 7}).max_steps == 7


@pytest.mark.parametrize(
    ("config", "problem"),
    [
        ({}, "prompt: Field required"),
        ({"prompt": " "}, "prompt: "),
        ({"prompt": "x", "max_steps": 51}, "max_steps: "),
        ({"prompt": "x", "max_steps": 0}, "max_steps: "),
        ({"prompt": "x", "timeout": 0}, "timeout: "),
        ({"prompt": "x", "timeout": "60"}, "timeout: "),
        ({"prompt": "x", "max_tokens": 0}, "max_tokens: "),
        ({"prompt": "x", "continueOnBlock": True}, "continueOnBlock: "),
        ({"prompt": "x", "model": "small"}, "model: it is not said whose model 'small' is"),
    ],
)
def test_what_is_wrong_is_a_finding_that_names_the_key(config, problem):
    _, findings = registered(config)
    assert problem in findings[0]


def test_where_nothing_would_come_of_it_is_said():
    _, findings = registered({"prompt": "x"}, "session_end")
    assert "only observed" in findings[0]


def test_an_entry_decides_with_its_place_as_its_name():
    manager, findings = registered({"prompt": "Rule."})
    assert findings == []

    class Agent:
        driver = ScriptedDriver(json.dumps({"ok": False, "reason": ""}))

    ctx = HookContext("before_tool_use", tool_call=ToolCall("Bash", {"command": "ls"}), runtime=Agent())
    outcome = manager.hooks().dispatch_sync(ctx)
    assert (outcome.decision, outcome.reason) == ("deny", "Refused by /f:3 (no reason given).")


# -- files -------------------------------------------------------------------------------------------------------------


def entry(kind, *more):
    """A file of ours with one hook on shell calls."""
    lines = ["[[hooks.before_tool_use]]", 'matcher = "shell"', "[[hooks.before_tool_use.hooks]]", f'type = "{kind}"']
    return "\n".join([*lines, f'prompt = "{RULE}"', *more])


def trusted(folder):
    TrustStore().trust(discover(str(folder)))


def check(folder, command="sh run.sh"):
    """What the command line says that hooks decide about a shell call there."""
    words = [
        "check",
        "before_tool_use",
        "--tool",
        "Bash",
        "--arg",
        f"command={command}",
        "--cwd",
        str(folder),
        "--json",
    ]
    program = [str(Path(sys.executable).with_name("agent-hooks")), *words]
    done = subprocess.run(program, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)["outcome"]


def reads_and_refuses(provider):
    provider.replies = [calls("Read", file_path="run.sh"), verdict(ok=False, reason="run.sh deletes things.")]


def was_asked(provider):
    """What the model was given: the rule and the event, and then the file that it wanted to read."""
    first, second = provider.requests
    event, result = first["messages"][-1]["content"], second["messages"][-1]["content"]
    assert "Every script that is run must be in the project." in event
    assert '"command": "sh run.sh"' in event
    assert "rm -rf build" in result
    assert [tool["function"]["name"] for tool in first["tools"]] == ["Read", "Grep", "Glob"]


@pytest.fixture
def project(folder):
    (folder / "run.sh").write_text("rm -rf build\n")
    return folder


def test_toml(project, provider):
    reads_and_refuses(provider)
    (project / "agent-hooks.toml").write_text(entry("subagent", f'model = "{MODEL}"'))
    trusted(project)
    said = check(project)
    assert (said["decision"], said["reason"]) == ("deny", "run.sh deletes things.")
    was_asked(provider)


def test_claude_codes_settings_and_the_users_own_model(project, provider, tmp_path):
    reads_and_refuses(provider)
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "agent-hooks.toml").write_text(f'[subagents]\nfast = "{MODEL}"\n')
    hooks = {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "agent", "prompt": RULE, "timeout": 30}]}]}
    (project / ".claude").mkdir()
    (project / ".claude" / "settings.json").write_text(json.dumps({"hooks": hooks}))
    trusted(project)
    said = check(project)
    assert (said["decision"], said["reason"]) == ("deny", "run.sh deletes things.")
    was_asked(provider)


def test_a_skill_in_a_run_of_our_own(project, provider):
    reads_and_refuses(provider)
    head = f"""
    name: careful
    description: Runs scripts.
    hooks:
      PreToolUse:
        - matcher: Bash
          hooks:
            - type: agent
              prompt: "{RULE}"
              model: {MODEL}
    """
    path = markdown(project / ".claude" / "skills" / "careful" / "SKILL.md", head)
    trusted(project)
    main = ScriptedDriver(ToolCall("Bash", {"command": "sh run.sh"}), "Done.")
    agent = AgentBuilder(plugins=["subagents"]).with_driver(main).with_tools(bash).with_cwd(project).build()
    interceptor: Any = agent.interceptor
    register_skill(interceptor.manager, path)
    state = agent.run_sync("Go.")
    assert [message.content for message in state.messages if message.role == "tool"] == [
        "Denied: run.sh deletes things."
    ]
    was_asked(provider)
    assert state.model_usage["judge-1"].total == 200


def bash(command: str) -> str:
    """Run a command."""
    return f"ran {command}"


bash.__name__ = "Bash"


@pytest.mark.parametrize(
    ("given", "on_failure", "decided"),
    [
        ({"ok": False, "reason": "There is no such script."}, "continue", ("deny", "There is no such script.")),
        ({"ok": True, "reason": ""}, "block", ("proceed", "")),
    ],
)
def test_claude_codes_settings_where_a_file_is_missing(project, provider, given, on_failure, decided):
    provider.replies = [calls("Read", file_path="gone.sh"), verdict(**given)]
    handler = {"type": "agent", "prompt": RULE, "model": MODEL, "onFailure": on_failure}
    hooks = {"PreToolUse": [{"matcher": "Bash", "hooks": [handler]}]}
    (project / ".claude").mkdir()
    (project / ".claude" / "settings.json").write_text(json.dumps({"hooks": hooks}))
    trusted(project)
    said = check(project, "sh gone.sh")
    assert (said["decision"], said.get("reason", "")) == decided
    assert "gone.sh cannot be read" in provider.requests[1]["messages"][-1]["content"]


def in_a_skill(project, handler):
    """What an agent with a model that is no judge is told about a shell call, under a skill with this handler."""
    head = f"""
    name: careful
    description: Runs scripts.
    hooks:
      PreToolUse:
        - matcher: Bash
          hooks: [{handler}]
    """
    path = markdown(project / "careful" / "SKILL.md", head)
    main = ScriptedDriver(ToolCall("Bash", {"command": "sh run.sh"}), "Looks good.", "Done.")
    agent = AgentBuilder(plugins=["subagents"]).with_driver(main).with_tools(bash).with_cwd(project).build()
    interceptor: Any = agent.interceptor
    register_skill(interceptor.manager, path, trusted=True)
    state = agent.run_sync("Go.")
    return [message.content for message in state.messages if message.role == "tool"]


@pytest.mark.parametrize("kind", ["agent", "subagent"])
def test_a_skill_says_what_a_judge_without_a_verdict_means(project, kind):
    (blocked,) = in_a_skill(project, f"{{type: {kind}, prompt: Rule., onFailure: block}}")
    assert blocked.startswith("Denied: ")
    assert "is not JSON" in blocked
    assert in_a_skill(project, f"{{type: {kind}, prompt: Rule.}}") == ["ran sh run.sh"]


def test_a_yes_lets_it_through(project, provider):
    provider.replies = [verdict(ok=True, reason="")]
    (project / "agent-hooks.toml").write_text(entry("agent", f'model = "{MODEL}"'))
    trusted(project)
    assert check(project)["decision"] == "proceed"


def test_without_any_model_a_file_of_ours_denies_and_says_what_to_do(project):
    (project / "agent-hooks.toml").write_text(entry("subagent"))
    trusted(project)
    said = check(project)
    assert said["decision"] == "deny"
    assert "there is no model to judge this" in said["reason"]
