"""The answers to everything that hosts have sent, and to hooks that fail, are those without a plan."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from projects import denying, toml

from .changes import put
from .conftest import same

if TYPE_CHECKING:
    from .conftest import World

GOLDEN = Path(__file__).parent.parent / "wire" / "golden"
# Hooks of every kind on one event, whose order and notes show in the answer.
CHOIR = """
from agent_hooks import GUARD

@hookimpl(trylast=True)
def user_input(prompt):
    return HookOutcome.update(context="last")

@hookimpl(specname="user_input", priority=GUARD, mode="gate")
def gate(prompt):
    return HookOutcome.update(context="gate") if "never" not in prompt else HookOutcome.deny("the gate refuses")

@hookimpl(specname="user_input", tryfirst=True)
async def first(prompt):
    return HookOutcome.update(context="first")

@hookimpl(specname="user_input", mode="gate")
def changes(prompt):
    return HookOutcome.update(prompt="another")

@hookimpl(specname="user_input", shadow=True)
def shadow(prompt):
    return HookOutcome.deny("only in the shadow")

@hookimpl(specname="user_input", mode="observe")
def observer(prompt):
    raise ValueError("nobody hears it")

@hookimpl(specname="before_tool_use", match="shell|write", priority=5)
def context(tool_call):
    return HookOutcome.update(context="about tools")

@hookimpl(specname="before_tool_use", match="shell", wrapper=True)
def around(tool_call):
    outcome = yield
    return HookOutcome.ask("the wrapper asks") if "push" in tool_call.command else None

@hookimpl(specname="before_tool_use", match="Read")
def read(tool_call):
    return HookOutcome.ask("reading is asked about")

@hookimpl(specname="after_tool_use", match="*")
def after(tool_call, result):
    return HookOutcome.update(context="after the tool")

@hookimpl(specname="on_stop")
def stop():
    return HookOutcome.force_continue("not yet")

@hookimpl(specname="session_start")
def session():
    return HookOutcome.update(context="welcome")

@hookimpl(specname="permission_request", match="shell")
def permission(tool_call):
    return HookOutcome.deny("no permission")
"""
RECORDED = sorted(
    path
    for path in GOLDEN.rglob("*.json")
    if path.relative_to(GOLDEN).parts[0] in ("claude-code", "codex") and "cwd" in json.loads(path.read_text())
)


def answers(world: World, agent: str, payloads: list[Path]) -> None:
    """Compare the answers to these payloads; each twice from the plan, as a quiet one is learnt by the first."""
    world.agent = agent
    world.arguments = ("--timeout", "60")  # some hosts wait for a second, which a busy machine takes
    for path in payloads:
        recorded = json.loads(path.read_text())
        fields = {key: value for key, value in recorded.items() if key not in ("session_id", "cwd")}
        world.event = fields
        without = world.ask_without()
        for _ in range(2):
            answer = world.ask()
            assert same(answer, without), f"{path.name}\nwith: {answer}\nwithout: {without}"


@pytest.mark.parametrize("part", range(8))
@pytest.mark.parametrize("source", ["quiet", "choir"])
def test_recorded_events(part: int, source: str, world: World):
    if source == "choir":
        world.command.install(CHOIR, "choir")
        world.command.configure(toml("echo the user asks too >&2; exit 1", "user_input"))
    payloads = RECORDED[part::8]
    assert payloads
    for agent in ("claude-code", "codex"):
        answers(world, agent, [path for path in payloads if path.relative_to(GOLDEN).parts[0] == agent])


@pytest.mark.parametrize("command", ["make", "git push", "forbidden", "rm -rf /", "cat a/b", "sleep 1 | tee x"])
@pytest.mark.parametrize("agent", ["claude-code", "codex"])
def test_hooks_keep_their_order_and_notes(agent: str, command: str, world: World):
    world.command.install(CHOIR, "choir")
    world.command.configure(toml(denying("the user says no"), matcher="Write"))
    world.agent = agent
    world.event["tool_input"] = {"command": command}
    world.ask()
    answer = world.ask()
    assert world.is_planned()
    assert same(answer, world.ask_without())


FAILING = {
    "raises": "raise ValueError('oh')",
    "exits": "raise SystemExit(3)",
    "ends its process": "import os; os._exit(0)",
    "kills its process": "import os; os.kill(os.getpid(), 9)",
    "ends the group": "import os; os.killpg(0, 15)",
    "interrupts": "raise KeyboardInterrupt",
    "runs out of its stack": "return before_tool_use(tool_call)",
    "prints": "print('{\"decision\": \"approve\"}'); import os; os.system('echo noise; echo noise >&2')",
    "closes the streams": "import os; os.close(1); os.close(2)",
    "answers nonsense": "return 42",
    "hangs": "import time; time.sleep(60)",
    "allows": "return HookOutcome.allow()",
    "changes the arguments": "return HookOutcome.update(tool_args={'command': 'echo changed'})",
    "changes the environment": "import os, sys; os.environ.clear(); sys.path.clear(); os.chdir('/')",
}


@pytest.mark.parametrize("name", FAILING)
def test_a_hook_behaves_the_same_that(name: str, world: World):
    body = FAILING[name]
    world.command.install(f"@hookimpl(match='shell', timeout=2)\ndef before_tool_use(tool_call):\n    {body}\n", "bad")
    world.event["tool_input"] = {"command": "true"}
    world.event["tool_name"] = "Read"
    world.ask(tool_name="Read")
    answer = world.ask(tool_name="Bash")
    world.command.processes()
    without = world.ask_without(tool_name="Bash")
    assert same(answer, without), f"with: {answer}\nwithout: {without}"
    assert world.kept


def test_a_plugin_whose_settings_follow_from_a_table_has_them_in_the_plan(world: World):
    source = """
    from agent_hooks import plugin_settings

    @hookimpl
    def agent_hooks_settings():
        return {"words": model}

    def model():
        from tabled_model import Words

        return Words

    @hookimpl(match="shell")
    def before_tool_use(ctx, tool_call):
        if plugin_settings(model(), ctx).word in tool_call.command:
            return HookOutcome.deny("the table says no")
    """
    world.command.install(source, "tabled")
    # In a package of its own, so that only the plan knows whose settings it is.
    put(
        world.site / "tabled_model.py",
        "import pydantic\n\nclass Words(pydantic.BaseModel):\n    word: str = 'nothing'\n",
    )
    put(world.config / "agent-hooks.toml", '[words]\nword = "other"\n')
    assert not world.ask().said
    assert not world.ask().said
    assert world.is_planned()
    put(world.config / "agent-hooks.toml", '[words]\nword = "make"\n')
    assert "the table says no" in world.ask().reason
    assert "the table says no" in world.ask().reason
    assert world.is_planned()
