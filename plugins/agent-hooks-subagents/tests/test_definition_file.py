"""Definitions of subagents in Markdown files, and the hooks that are in them."""

from __future__ import annotations

import logging
import sys

import pytest
from making import Talks, builder, echo, markdown, run, says, spawn, told, using

from agent_hooks import HookOutcome, RegistrationError, TrustError
from agent_hooks.trust.discovery import discover
from agent_hooks.trust.trust_store import TrustStore
from agent_hooks_subagents import SubagentDefinition, UseSubagents

HEAD = """
name: reviewer
description: Reviews what was changed.
tools: Read, Grep
disallowedTools: [Glob]
model: inherit
maxTurns: 7
color: purple
"""


def read(path, **options):
    return SubagentDefinition.from_file(path, **options)


def test_a_file_of_claude_code_is_read_as_it_is(folder):
    made = read(markdown(folder / "agents" / "reviewer.md", HEAD, "You review.\n\nBe kind."))
    assert (made.name, made.description) == ("reviewer", "Reviews what was changed.")
    assert made.prompt == "You review.\n\nBe kind."
    assert (made.tools, made.disallowed_tools) == (("Read", "Grep"), ("Glob",))
    assert (made.model, made.max_steps, made.file) == (None, 7, "")


def test_budgets_have_keys_of_their_own(folder):
    head = """
    name: a
    description: b
    max_steps: 3
    max_tokens: 4000
    max_execution_time: 2.5
    max_cost: 0.5
    prices:
      claude-opus: {input: 15, output: "75"}
    """
    made = read(markdown(folder / "a.md", head))
    assert (made.max_steps, made.max_tokens, made.max_execution_time, made.max_cost) == (3, 4000, 2.5, 0.5)
    assert str(made.prices["claude-opus"].output) == "75"


@pytest.mark.parametrize(
    ("said", "model"),
    [("haiku", "anthropic:claude-haiku-"), ("claude-opus-9", "anthropic:claude-opus-9"), ("small-1", "small-1")],
)
def test_claude_codes_names_of_models_are_anthropics_and_others_the_parents_drivers(folder, said, model):
    made = read(markdown(folder / "a.md", f"name: a\ndescription: b\nmodel: {said}"))
    assert made.model.startswith(model)


@pytest.mark.parametrize(
    ("head", "line", "said"),
    [
        ("description: b", None, "name is missing"),
        ("name: a", None, "description is missing"),
        ("name: two words\ndescription: b", 2, "name: a subagent is called by"),
        ("name: a\ndescription: b\ntools:", 4, "tools is empty"),
        ("name: a\ndescription: b\ntools: Bash(git *)", 4, "is no list of tools"),
        ("name: a\ndescription: b\nmaxTurns: many", 4, "max_steps must be a whole number"),
        ("name: a\ndescription: b\nmaxTurns: 3\nmax_steps: 4", 5, "max_steps says max_steps a second time"),
        ("name: a\ndescription: b\ndisallowedTool: Bash", 4, "Did you mean 'disallowedTools'"),
        ("name: a\ndescription: b\nHooks: {}", 4, "Did you mean 'hooks'"),
        ("name: a\ndescription: b\nmax_tokens: few", 4, "max_total_tokens must be a whole number"),
        ("name: a\ndescription: b\nmax_execution_time: [1]", 4, "max_seconds must be a number"),
        ("name: a\ndescription: b\nprices: {x: {input: much, output: 1}}", 4, "The price of input tokens must be"),
        ("name: a\ndescription: b\nprices: 3", 4, "prices are by model"),
        ("name: a\nname: b", 3, "is there twice"),
    ],
)
def test_what_is_wrong_names_the_file_and_the_line(folder, head, line, said):
    path = markdown(folder / "a.md", head)
    with pytest.raises(RegistrationError) as raised:
        read(path)
    message = str(raised.value)
    assert message.startswith(f"{path}:{line}: " if line else f"{path}: ")
    assert said in message


def test_a_file_without_a_prompt_or_that_is_not_there_is_refused(folder):
    with pytest.raises(RegistrationError, match=r"a\.md: prompt: the subagent 'a' needs a text"):
        read(markdown(folder / "a.md", "name: a\ndescription: b", ""))
    with pytest.raises(RegistrationError, match=r"nobody\.md: the definition of a subagent cannot be read"):
        read(folder / "nobody.md")


def test_keys_that_mean_nothing_here_are_said(folder, caplog):
    with caplog.at_level(logging.WARNING, "agent_hooks"):
        read(markdown(folder / "a.md", "name: a\ndescription: b\npermissionMode: plan\nteam: blue"))
    assert [record.getMessage().partition("a.md:")[2] for record in caplog.records] == [
        "4: permissionMode is not honoured here.",
        "5: the key 'team' means nothing here.",
    ]


# -- hooks -------------------------------------------------------------------------------------------------------------

GUARDED = """
name: guarded
description: Has a hook.
hooks:
  PreToolUse:
    - matcher: Bash
      hooks:
        - type: command
          command: {command}
"""
SAYS = """
name: tidy
description: Must finish.
hooks:
  Stop:
    - hooks:
        - type: command
          command: {command}
"""


def trust(folder):
    TrustStore().trust(discover(str(folder)))


def script(folder, name, code):
    path = folder / name
    path.write_text(code, encoding="utf-8")
    return f"'{sys.executable} {path}'"


def test_hooks_of_a_file_are_live_in_its_subagent_once_it_is_trusted(folder):
    command = script(
        folder, "no.py", "import sys; sys.exit('No shell here.' and print('No shell here.', file=sys.stderr) or 2)"
    )
    path = markdown(folder / ".claude" / "agents" / "guarded.md", GUARDED.format(command=command))
    with pytest.raises(TrustError, match="agent-hooks trust"):
        read(path)
    trust(folder)
    model = Talks(
        main=[using("sh", command="ls"), spawn("guarded", "child task"), says("Done.")],
        child=[using("sh", command="ls"), echo],
    )
    assert told(run(builder(model, read(path)))) == ["ran ls", "Denied: No shell here."]


def test_a_file_that_was_changed_since_starts_no_subagent(folder):
    command = script(folder, "no.py", "pass")
    path = markdown(folder / ".claude" / "agents" / "guarded.md", GUARDED.format(command=command))
    trust(folder)
    definition = read(path)
    markdown(path, GUARDED.format(command=command).replace("Bash", "Read"))
    model = Talks(main=[spawn("guarded", "child task"), says("Done.")])
    (answer,) = told(run(builder(model, definition)))
    assert "agent-hooks trust" in answer
    assert model.of("child") == []


def test_a_caller_may_answer_for_a_file_and_a_hook_that_cannot_be_honoured_is_an_error(folder):
    command = script(folder, "no.py", "pass")
    path = markdown(folder / "guarded.md", GUARDED.format(command=command))
    assert read(path, trusted=True).file == str(path)
    markdown(path, GUARDED.format(command=command).replace("type: command", "type: comand"))
    with pytest.raises(RegistrationError, match="there is no handler type 'comand'"):
        read(path, trusted=True)


def test_stop_in_a_file_may_send_its_subagent_on_and_is_no_other_agents_business(folder):
    code = (
        "import json, sys\nevent = json.load(sys.stdin)\n"
        "if event['result'] == 'First.' and event['name'] == 'tidy':\n"
        "    print(json.dumps({'decision': 'block', 'reason': 'Tidy up: ' + event['task']}))\n"
    )
    path = markdown(folder / "tidy.md", SAYS.format(command=script(folder, "stop.py", code)))
    model = Talks(main=[spawn("tidy", "child task"), says("First.")], child=[says("First."), says("Second.")])
    state = run(builder(model, read(path, trusted=True)))
    assert (told(state), state.output) == (["Second."], "First.")
    assert model.of("child")[1].messages[-1].content == "Tidy up: child task"


def test_a_path_may_stand_for_a_definition_in_the_named_capability(folder):
    path = markdown(folder / "reviewer.md", HEAD)
    assert list(UseSubagents.named([path], max_depth=1).definitions) == ["reviewer"]


def test_hooks_of_the_parent_hold_although_a_file_has_its_own(folder):
    path = markdown(folder / "guarded.md", GUARDED.format(command=script(folder, "yes.py", "pass")))
    model = Talks(main=[spawn("guarded", "child task"), says("Done.")], child=[using("sh", command="ls"), echo])
    parent = builder(model, read(path, trusted=True)).before_tool_use(lambda ctx: HookOutcome.deny("Ours."), match="sh")
    assert told(run(parent)) == ["Denied: Ours."]
