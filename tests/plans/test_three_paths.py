"""Chains of the reference model and hooks that fail, as a host meets them: loaded anew, from a plan, and resident.

`test_model.py` and `faults` ask the engine in one process. Here a slice of both goes through the whole command, and
each path must answer as the model and the matrix say, in the same words.
"""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING, Any

from agent_hooks.model.events import HookEvent
from agent_hooks.model.policy import HookPolicy
from faults.matrix import CONSENTS, FAULTS
from model import Dispatch
from model_records import Answer, Hook
from residents import Resident
from test_model import SUBJECTS, answers_on

from .conftest import same
from .test_same_answers import FAILING

if TYPE_CHECKING:
    from commands import Done

    from .conftest import World

EVENT = HookEvent.BEFORE_TOOL_USE
CHAINS = 6
# What a host of coding agents can be told of a tool call.
TOLD = ("proceed", "deny", "ask", "allow", "raise", "invalid")
# One hook of the model. A plan takes only hooks whose options are written out.
HOOK = """
@hookimpl(specname="before_tool_use", name={name!r}, match={tool!r}, mode={mode!r}, priority={priority},
          tryfirst={first}, trylast={last}, shadow={shadow}, on_failure={own_failure!r})
def {name}(tool_call):
    return speak({answers!r}[SUBJECTS.index(tool_call.args)])
"""
SPEAK = f"""
SUBJECTS = {[*SUBJECTS[EVENT]]!r}

def speak(answer):
    decision, subject, context, final = answer
    if decision == "raise":
        raise LookupError("the hook is broken")
    brings = {{"context": context}} if context else {{}}
    if subject is not None:
        brings["tool_args"] = SUBJECTS[subject]
    if final:
        brings["final"] = True
    return 42 if decision == "invalid" else HookOutcome(decision=decision, **brings)
"""
# Of the matrix, kinds of commands that need no files, payload or directory of their own, each with its first command.
COMMANDS = [fault for fault in FAULTS if not (fault.files or fault.size or fault.cwd) and fault.timeout > 1][:39:3]
LATE = [fault for fault in FAULTS if fault.timeout < 1][:2]


def chain(number: int) -> list[Hook]:
    """Return some hooks of one plugin, the same in each run."""
    random = Random(number)
    answers = [answer for answer in answers_on(EVENT) if answer.decision in TOLD]
    return [
        Hook(
            f"c{number}h{place}",
            tuple(random.choice([Answer(), random.choice(answers)]) for _ in SUBJECTS[EVENT]),
            source="plugin",
            mode=random.choice(["transform", "transform", "gate", "observe"]),
            priority=random.choice([0, 0, 10, -10]),
            place=random.choice(["", "", "first", "last"]),
            shadow=random.random() < 0.1,
            own_failure=random.choice([None, None, "open", "ask", "closed"]),
        )
        for place in range(random.randint(1, 6))
    ]


def written(hook: Hook, tool: str) -> str:
    answers = [(each.decision, each.subject, each.context, each.final) for each in hook.first]
    facts = vars(hook) | {"tool": tool, "first": hook.place == "first", "last": hook.place == "last"}
    return HOOK.format(**facts, answers=answers)


def decision_of(answer: Done) -> str:
    if answer.denies:
        return "deny"
    assert answer.exit_code == 0, answer
    return str(answer.specific.get("permissionDecision", "proceed"))


def ask_three_ways(world: World, calls: dict[str, dict[str, Any]]) -> dict[str, str]:
    """Ask about each tool call on each path, compare the answers, and return the decisions."""
    world.agent = "claude-code"
    world.arguments = ("--timeout", "60")
    without = {name: world.ask_without(**call) for name, call in calls.items()}
    for _ in range(2):  # the first writes the plan
        world.ask(tool_name="Other", tool_input={})
    assert world.is_planned()
    planned = {name: world.ask(**call) for name, call in calls.items()}
    running = Resident(world.command, program=(str(world.python), str(world.command.script)))
    try:
        resident = {name: world.ask(**call) for name, call in calls.items()}
        assert running.counts[:2] == (len(calls), 0)
    finally:
        running.end()
    for name, answer in without.items():
        assert same(planned[name], answer), f"{name}\nwith a plan: {planned[name]}\nwithout: {answer}"
        assert same(resident[name], answer), f"{name}\nresident: {resident[name]}\nwithout: {answer}"
    return {name: decision_of(answer) for name, answer in without.items()}


def test_chains_are_decided_as_the_model_says(world: World):
    chains = {f"chain{number}": chain(number) for number in range(CHAINS)}
    world.command.install(SPEAK + "".join(written(hook, tool) for tool in chains for hook in chains[tool]), "model")
    calls: dict[str, dict[str, Any]] = {}
    expected = {}
    for tool, hooks in chains.items():
        for subject, args in enumerate(SUBJECTS[EVENT]):
            calls[f"{tool} {args}"] = {"tool_name": tool, "tool_input": args}
            result = Dispatch(EVENT, subject, HookPolicy()).decide(hooks, [], "ask")
            is_rewritten = result.decision == "proceed" and result.subject != subject
            # Claude Code applies new arguments only with a permission, so it is made to ask.
            expected[f"{tool} {args}"] = "ask" if is_rewritten else result.decision
    assert ask_three_ways(world, calls) == expected
    assert {"proceed", "deny", "ask"} <= {*expected.values()}


def test_functions_that_fail_do_so_on_each_path(world: World):
    tools = {name: f"fault{number}" for number, name in enumerate(FAILING)}
    functions = (
        f"@hookimpl(specname='before_tool_use', match={tool!r}, timeout=2)\ndef {tool}(tool_call):\n    "
        f"{FAILING[name].replace('before_tool_use', tool)}\n"
        for name, tool in tools.items()
    )
    world.command.install("".join(functions), "bad")
    found = ask_three_ways(world, {name: {"tool_name": tool, "tool_input": {}} for name, tool in tools.items()})
    denied = {name for name, decision in found.items() if decision == "deny"}
    ending = {"exits", "ends its process", "kills its process", "interrupts", "runs out of its stack", "hangs"}
    assert denied >= {"raises", "answers nonsense", *ending}
    assert denied.isdisjoint({"prints", "changes the environment"})


def test_commands_that_fail_do_so_on_each_path(world: World):
    faults = {f"fault{number}": fault for number, fault in enumerate((*COMMANDS, *LATE))}
    rows = []
    for tool, fault in faults.items():
        command = json.dumps(fault.commands[0])
        rows.append(
            f'[[hooks.before_tool_use]]\nmatcher = "{tool}"\n[[hooks.before_tool_use.hooks]]\n'
            f'type = "command"\ncommand = {command}\ntimeout = {fault.timeout}\n'
        )
    world.command.configure("\n".join(rows))
    found = ask_three_ways(world, {tool: {"tool_name": tool, "tool_input": {}} for tool in faults})
    passing = {tool for tool, fault in faults.items() if fault.expected == CONSENTS}
    assert {tool for tool, decision in found.items() if decision == "proceed"} == passing
    assert len(found) > 10
