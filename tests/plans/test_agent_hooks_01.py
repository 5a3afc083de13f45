"""A host of AGENT-HOOKS-0.1 gets the same verdict from a new process, a plan and the resident process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from residents import Resident

if TYPE_CHECKING:
    from commands import Done

    from .conftest import World

GOLDEN = Path(__file__).parent.parent / "wire/golden/agent-hooks-0.1/documented"
RULES = """
    @hookimpl
    def before_tool_use(tool_call):
        if tool_call.kind == "shell":
            return HookOutcome.ask("really?")
        return HookOutcome.update(tool_args={"number": 0})

    @hookimpl
    def before_output(output):
        return HookOutcome.deny("not this")

    @hookimpl
    def after_tool_use(ctx):
        return HookOutcome.update(context=ctx.cwd)
"""
ORDER = {"id": "c", "name": "lookup_order", "args": {"number": 1}}
ASKED: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "input": ("input", {}, {"decision": "allow"}),
    "shell": (
        "pre_tool_call",
        {},
        {"decision": "deny", "reason": "agent_hooks:ask", "message": "really?", "approval": {}},
    ),
    "order": (
        "pre_tool_call",
        {"tool_call": ORDER, "target": ORDER["args"]},
        {"decision": "transform", "transform": {"path": "$target", "value": {"number": 0}}},
    ),
    "output": ("output", {}, {"decision": "deny", "reason": "agent_hooks:deny"}),
    # An extra member does not say which event it is.
    "named": ("output", {"hook_event_name": "SessionEnd"}, {"decision": "deny", "reason": "agent_hooks:deny"}),
}


def ask(world: World, file: str, changes: dict[str, Any], *arguments: str) -> Done:
    stdin = json.dumps({**json.loads((GOLDEN / f"{file}.json").read_text("utf-8")), **changes})
    program = (str(world.python), str(world.command.script), "run", "--agent", "agent-hooks-0.1", "--timeout", "60")
    world.command.processes()
    return world.command(*arguments, program=(*program, *arguments), stdin=stdin, cwd=world.repo)


def verdicts(world: World, *arguments: str) -> dict[str, tuple[dict[str, Any], str, int]]:
    answers = {name: ask(world, file, changes, *arguments) for name, (file, changes, _) in ASKED.items()}
    return {name: (done.json, done.stderr, done.exit_code) for name, done in answers.items()}


def test_a_verdict_is_the_same_on_each_path(world: World):
    world.command.install(RULES, "shop")
    without = verdicts(world, "--no-plan")
    for name, (_, _, expected) in ASKED.items():
        verdict, stderr, code = without[name]
        assert ({**verdict, **expected}, stderr, code) == (verdict, "", 0), name
    for _ in range(2):  # the first writes the plan
        ask(world, "agent_startup", {})
    assert world.is_planned()
    assert verdicts(world) == without
    running = Resident(world.command, program=(str(world.python), str(world.command.script)))
    try:
        assert verdicts(world) == without
        assert running.counts[:2] == (len(ASKED), 0)
    finally:
        running.end()


def test_it_works_where_the_command_is_run(world: World):
    world.command.install(RULES, "shop")
    told = ask(world, "post_tool_call", {}).json
    assert told == {"decision": "allow", "warnings": [{"message": str(world.repo)}]}


@pytest.mark.parametrize("sent", ["{", "[]", '{"spec": "agent-hooks/0.1"}', '{"interception_point": "input"}'])
def test_what_cannot_be_read_is_a_deny(world: World, sent: str):
    done = world.command("run", "--agent", "agent-hooks-0.1", "--timeout", "60", stdin=sent, cwd=world.repo)
    assert (done.json["decision"], done.json["reason"], done.exit_code) == ("deny", "agent_hooks:failure", 2)
    assert done.stderr


def test_another_version_is_no_event_that_nobody_is_asked_about(world: World):
    for _ in range(2):
        assert ask(world, "input", {}).json == {"decision": "allow"}
    done = ask(world, "input", {"spec": "agent-hooks/0.2"})
    assert (done.json["decision"], done.exit_code) == ("deny", 2)


def test_an_event_that_nobody_is_asked_about_is_read_all_the_same(world: World):
    for _ in range(2):
        assert ask(world, "agent_startup", {}).json == {"decision": "allow"}
    done = ask(world, "agent_startup", {"target": {}})
    assert (done.json["decision"], done.exit_code) == ("deny", 2)


def test_the_point_is_the_event_whatever_else_a_context_names(world: World):
    world.command.install(
        """
        @hookimpl
        def user_input(ctx):
            return HookOutcome.deny("no prompts")
    """,
        "shop",
    )
    more = {"hook_event_name": "agent_startup", "input": {"role": "user", "content": "x"}}
    for _ in range(3):
        ask(world, "agent_startup", more)
    done = ask(world, "agent_startup", {**more, "interception_point": "input", "target": more["input"]})
    assert done.exit_code == 2 or done.json["decision"] == "deny"


@pytest.mark.parametrize("agent", ["claude-code", "auto"])
def test_a_context_is_known_by_its_members(world: World, agent: str):
    context = (GOLDEN / "input.json").read_text("utf-8")
    done = world.command("run", "--agent", agent, "--timeout", "60", stdin=context, cwd=world.repo)
    assert done.json["decision"] == ("allow" if agent == "auto" else "deny")
    assert agent == "auto" or "write --agent agent-hooks-0.1" in done.json["message"]


def test_it_is_nothing_to_install(world: World):
    done = world.command("install", "agent-hooks-0.1")
    assert done.exit_code == 2
    assert "Known are" in done.said or "is not one of" in done.said
