"""Hooks of skills and agents: what their files say, and what of it cannot be honoured."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from agent_hooks.engine.markers import WEAKLY
from agent_hooks.formats.skill_files import read_skill
from agent_hooks.model.events import HookEvent
from agent_hooks.testing import make_context
from engine import shell
from skill_files import DEPLOY, group, markdown, tool

if TYPE_CHECKING:
    from agent_hooks import HookContext
    from agent_hooks.formats.entry import HookEntry
    from agent_hooks.formats.read_file import ReadFile

PATH = "/repo/skills/deploy/SKILL.md"


def skill(head: str, **options: Any) -> ReadFile:
    return read_skill(markdown(head), **{"path": PATH, **options})


def agent(head: str, **options: Any) -> ReadFile:
    return read_skill(markdown(head), kind="agent", **{"path": "/repo/.claude/agents/reviewer.md", **options})


def entry_of(head: str, **options: Any) -> HookEntry:
    """The only entry of a skill, which must have no findings."""
    read = skill(head, **options)
    assert read.findings == ()
    (entry,) = read.entries
    return entry


def handler(*lines: str, event: str = "PreToolUse", kind: str = "command") -> str:
    """A skill with one handler, which has these keys too."""
    return group("hooks:", f"- type: {kind}", "  command: ./check", *(f"  {line}" for line in lines), event=event)


def meets(entry: HookEntry, ctx: HookContext) -> Any:
    return True if entry.match is None else entry.match(ctx)


# -- what a file says --------------------------------------------------------------------------------------------------


def test_each_handler_of_a_skill_becomes_a_gate_with_its_place_and_its_fields():
    read = skill(DEPLOY, project_dir="/repo")
    command, http = read.entries

    assert read.findings == ()
    assert read.settings == {"name": "ops:deploy"}
    assert (command.event, command.type, command.matcher) == (HookEvent.BEFORE_TOOL_USE, "command", "Shell")
    assert command.config == {"command": "./scripts/check-deploy-policy.sh"}
    assert (http.event, http.type, http.matcher) == (HookEvent.AFTER_TOOL_USE, "http", None)
    assert http.config == {"url": "https://audit.example.com/log"}
    assert [entry.origin for entry in read.entries] == ["skills/deploy/SKILL.md:8", "skills/deploy/SKILL.md:12"]
    for entry in read.entries:
        assert (entry.form, entry.source, entry.mode, entry.scope) == ("skill", "skill", "gate", None)
        assert (entry.directory, entry.project_dir) == ("/repo/skills/deploy", "/repo")


def test_a_caller_may_say_where_the_file_belongs():
    entry = entry_of(handler(), source="user", directory="/elsewhere")

    assert (entry.source, entry.directory) == ("user", "/elsewhere")


@pytest.mark.parametrize(
    ("written", "event"),
    [
        *[("PreToolUse", "before_tool_use"), ("PostToolUse", "after_tool_use")],
        *[("PreSubagent", "before_subagent"), ("PostSubagent", "after_subagent")],
        *[("PreSkillActivation", "before_skill_activation"), ("PostSkillActivation", "after_skill_activation")],
        *[("PreLlmRequest", "before_inference"), ("PostLlmRequest", "after_inference")],
        *[("PreConversationSave", "before_conversation_save"), ("PostConversationSave", "after_conversation_save")],
        *[("PreConversationLoad", "before_conversation_load"), ("PostConversationLoad", "after_conversation_load")],
        *[("PreTurn", "before_turn"), ("PostTurn", "after_turn"), ("PreAgent", "before_agent")],
        *[("PostAgent", "after_agent"), ("Stop", "on_stop"), ("UserPromptSubmit", "user_input")],
        *[("before_tool_use", "before_tool_use"), ("StopFailure", "on_error")],
    ],
)
def test_events_go_by_the_names_of_all_formats(written: str, event: str):
    entry = entry_of(handler(event=written))

    assert (entry.event, entry.host_event) == (HookEvent.parse(event), "")


def test_an_event_that_only_claude_code_has_keeps_its_name_and_its_matcher_rules():
    entry = entry_of(
        group("matcher: project_settings", "hooks: [{type: command, command: ./check}]", event="ConfigChange")
    )

    assert (entry.event, entry.host_event) == (HookEvent.ON_HOST_EVENT, "ConfigChange")
    assert meets(
        entry, make_context("on_host_event", host_event="ConfigChange", payload={"source": "project_settings"})
    )
    assert not meets(entry, make_context("on_host_event", host_event="ConfigChange", payload={"source": "skills"}))
    assert not meets(entry, make_context("on_host_event", host_event="Other", payload={"source": "project_settings"}))


def test_all_handlers_under_one_matcher_are_kept_in_order():
    head = group(
        "hooks:", "- {type: command, command: a}", "- {type: command, command: b}", "- {type: slack, channel: c}"
    )

    assert [entry.config for entry in skill(head).entries] == [{"command": "a"}, {"command": "b"}, {"channel": "c"}]


def test_an_if_that_cannot_be_read_lets_the_hook_run_whatever_it_says():
    file = read_skill(markdown(handler("if: '!'")), path="/p/SKILL.md")
    (found,) = file.findings
    assert (found.kind, found.blocks, len(file.entries)) == ("not-honoured", False, 1)
    assert "not a permission rule" in found.message


def test_a_custom_type_is_given_every_field_but_its_type():
    entry = entry_of(
        group("hooks:", "- {type: slack, channel: '#ops', if: always, once: true, async: 3, onFailure: x}")
    )

    assert entry.config == {"channel": "#ops", "if": "always", "once": True, "async": 3, "onFailure": "x"}
    assert (entry.once, entry.is_async, entry.on_failure) == (False, False, None)


@pytest.mark.parametrize(
    ("line", "options"),
    [
        ("once: true", {"once": True}),
        ("async: true", {"is_async": True}),
        ("asyncRewake: true", {"is_async": True}),
        ("onFailure: block", {"on_failure": "closed"}),
        ("onFailure: continue", {"on_failure": None}),
    ],
)
def test_the_keys_of_claude_codes_frontmatter_are_honoured(line: str, options: dict[str, Any]):
    entry = entry_of(handler(line))

    assert {name: getattr(entry, name) for name in options} == options
    assert entry.config == {"command": "./check"}


def test_a_skills_on_failure_has_no_effect_where_claude_code_ignores_it():
    assert entry_of(handler("onFailure: block", event="SubagentStop")).on_failure is None
    assert entry_of(handler("onFailure: block")).on_failure == "closed"


def test_fields_of_the_handler_itself_are_passed_on():
    entry = entry_of(handler("timeout: 5", "args: [-x, no]", "shell: bash", "statusMessage: Checking"))

    assert entry.config == {
        "command": "./check",
        "timeout": 5,
        "args": ["-x", "no"],
        "shell": "bash",
        "statusMessage": "Checking",
    }


@pytest.mark.parametrize("line", ["async: true", "async: 'no'", "asyncRewake: true"])
def test_a_hook_that_is_no_command_decides_whatever_it_says_about_waiting(line: str):
    read = skill(group("hooks:", "- type: http", "  url: https://a.example", f"  {line}"))

    assert [(entry.is_async, entry.config) for entry in read.entries] == [(False, {"url": "https://a.example"})]
    (finding,) = read.findings
    assert (finding.kind, finding.line, finding.blocks, finding.remedy) == ("unknown-key", 9, False, "Remove it.")


@pytest.mark.parametrize(
    ("lines", "remedy"),
    [
        (("type: command", "command: ./check", "timout: 5"), "Did you mean 'timeout'?"),
        (("type: command", "command: ./check", "description: x"), "Remove it."),
        (("type: command", "command: ./check", "model: x"), "Remove it."),
        (("type: http", "url: https://a.example", "command: x"), "Remove it."),
        (("type: prompt", "prompt: x", "colour: blue"), "Remove it."),
        (("type: agent", "prompt: x", "promt: x"), "Did you mean 'prompt'?"),
        (("type: mcp_tool", "server: s", "tool: t", "inputs: {}"), "Did you mean 'input'?"),
    ],
)
def test_an_unknown_key_of_a_handler_is_told_and_ignored(lines: tuple[str, ...], remedy: str):
    read = skill(group("hooks:", f"- {lines[0]}", *(f"  {line}" for line in lines[1:])))

    key = lines[-1].partition(":")[0]
    (entry,) = read.entries
    assert key not in entry.config
    (finding,) = read.findings
    kind = lines[0].removeprefix("type: ")
    assert finding.message == f"The key {key!r} means nothing in a {kind} hook on PreToolUse, so it is ignored."
    assert (finding.kind, finding.line, finding.blocks) == ("unknown-key", 6 + len(lines), False)
    assert finding.remedy == remedy


def test_claude_codes_agent_handler_is_the_subagent_type():
    assert entry_of(group("hooks: [{type: agent, prompt: Look at it.}]")).type == "subagent"


@pytest.mark.parametrize("kind", ["agent", "subagent"])
def test_a_subagent_has_the_keys_of_claude_codes_agent_by_either_name(kind: str):
    more = "if: Bash(git *), once: true, onFailure: block, prompt: Look at it., timeout: 5, model: haiku"
    entry = entry_of(group(f"hooks: [{{type: {kind}, {more}}}]"))

    assert (entry.type, entry.once, entry.on_failure, entry.is_async) == ("subagent", True, "closed", False)
    assert entry.config == {"prompt": "Look at it.", "timeout": 5, "model": "haiku"}
    assert meets(entry, shell("git push"))
    assert not meets(entry, shell("ls"))


def test_a_subagent_keeps_the_fields_that_only_ours_has():
    entry = entry_of(group("hooks: [{type: subagent, prompt: Look at it., max_steps: 3, preset: large}]"))

    assert entry.config == {"prompt": "Look at it.", "max_steps": 3, "preset": "large"}


def test_a_subagent_with_if_on_another_event_never_runs_and_that_is_said():
    read = skill(group("hooks: [{type: subagent, prompt: x, if: Bash(git *)}]", event="PreTurn"))

    assert read.entries == ()
    assert [(finding.kind, finding.blocks) for finding in read.findings] == [("never-runs", False)]


def test_once_of_a_subagent_has_no_effect_in_an_agent_and_that_is_said():
    read = agent(group("hooks: [{type: subagent, prompt: x, once: true}]"))

    assert [entry.once for entry in read.entries] == [False]
    assert [finding.kind for finding in read.findings] == ["not-honoured"]


@pytest.mark.parametrize(
    ("head", "path", "name"),
    [
        ("name: deploy", PATH, "deploy"),
        ("name: 2024", PATH, "2024"),
        ("description: x", PATH, "deploy"),
        ("name: ''", "/repo/skills/other/SKILL.md", "other"),
        ("name: [a]", "/repo/skills/other/SKILL.md", "other"),
        ('name: "a\\nb"', PATH, "deploy"),
        (f"name: {'x' * 300}", PATH, "deploy"),
    ],
)
def test_a_skill_without_a_usable_name_has_that_of_its_folder(head: str, path: str, name: str):
    assert skill(head, path=path).settings == {"name": name}


def test_an_agent_without_a_name_has_that_of_its_file():
    assert agent("description: x").settings == {"name": "reviewer"}


@pytest.mark.parametrize("head", ["name: x", "hooks:", "hooks: {}", "name: x\nhooks: null"])
def test_a_skill_without_hooks_brings_nothing_that_needs_trust(head: str):
    read = skill(head)

    assert (read.entries, read.findings, read.part) == ((), (), b"")


# -- when its hooks are asked ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("matcher", "ctx", "met"),
    [
        ("Shell", tool("Shell"), True),
        ("Shell", tool("SkillKit.Tools.Shell"), WEAKLY),
        ("Shell", tool("PowerShell"), False),
        ("Shell|Sandbox", tool("Sandbox"), True),
        ("^She", tool("Shell"), True),
        ("hel", tool("Shell"), False),
        ("hel+", tool("Shell"), True),
        ("Bash", tool("run_shell_command", kind="shell"), True),
        ("*", tool("Read"), True),
        ("researcher", make_context("before_subagent", name="researcher"), True),
        ("researcher", make_context("before_subagent", name="writer"), False),
        ("ops:deploy", make_context("before_skill_activation", skill_name="ops:deploy"), True),
        ("ops:deploy", make_context("before_skill_activation", skill_name="ops:rollback"), False),
        ("claude-opus", make_context("before_inference", model="claude-opus-4"), True),
        ("claude-opus", make_context("before_inference", model="gpt"), False),
        ("my-agent", make_context("before_turn", agent_name="my-agent"), True),
        ("my-agent", make_context("before_turn", agent_name="other"), False),
    ],
)
def test_a_matcher_is_tried_on_what_its_boundary_is_about(matcher: str, ctx: HookContext, met: object):
    entry = entry_of(group(f"matcher: '{matcher}'", "hooks: [{type: command, command: x}]", event=str(ctx.event)))

    assert entry.matcher == matcher
    assert meets(entry, ctx) == met


@pytest.mark.parametrize(
    "head",
    [
        group("scope: skill", "matcher: Bash", "hooks: [{type: command, command: x}]"),
        "scope: skill\n" + group("matcher: Bash", "hooks: [{type: command, command: x}]"),
    ],
    ids=["group", "file"],
)
def test_scope_skill_narrows_hooks_to_what_the_skill_does(head: str):
    entry = entry_of(head)

    assert meets(entry, shell(skill="deploy"))
    assert not meets(entry, shell(skill="other"))
    assert not meets(entry, shell())
    assert not meets(entry, tool("Read", skill="deploy"))


def test_another_scope_of_the_file_is_somebody_elses():
    assert meets(entry_of("scope: global\n" + handler()), shell())


def test_if_narrows_hooks_of_tools():
    entry = entry_of(handler("if: Bash(git *)"))

    assert meets(entry, shell("git push"))
    assert not meets(entry, shell("ls"))
    assert "if" not in entry.config


def test_if_and_matcher_and_scope_must_all_be_met():
    head = group("scope: skill", "matcher: Bash", "hooks:", "- {type: command, command: x, if: Bash(git *)}")
    entry = entry_of(head)

    assert meets(entry, shell("git push", skill="deploy"))
    assert not meets(entry, shell("git push"))
    assert not meets(entry, shell("ls", skill="deploy"))


def test_a_hook_with_if_on_another_event_never_runs_and_that_is_said():
    read = skill(handler("if: Bash(git *)", event="PreTurn"))

    assert read.entries == ()
    assert [(finding.kind, finding.line, finding.blocks) for finding in read.findings] == [("never-runs", 9, False)]


def test_hooks_of_an_agent_see_what_that_agent_does():
    (entry,) = agent(handler()).entries

    assert meets(entry, shell(agent_name="deploy"))
    assert not meets(entry, shell(agent_name="main"))


def test_stop_of_an_agent_is_its_end_as_a_subagent():
    (entry,) = agent(handler(event="Stop")).entries

    assert entry.event == HookEvent.AFTER_SUBAGENT
    assert meets(entry, make_context("after_subagent", name="deploy", agent_name="main"))
    assert not meets(entry, make_context("after_subagent", name="other", agent_name="deploy"))


def test_once_has_no_effect_in_an_agent_and_that_is_said():
    read = agent(handler("once: true"))

    assert [entry.once for entry in read.entries] == [False]
    assert [(finding.line, finding.blocks) for finding in read.findings] == [(9, False)]


# -- what is wrong with it ---------------------------------------------------------------------------------------------


def test_an_unknown_event_is_left_out_and_told_with_its_line():
    read = skill(
        "hooks:\n  PreToolUsed:\n    - hooks: [{type: command, command: x}]\n"
        + handler()[len("name: deploy\nhooks:\n") :]
    )

    assert [entry.event for entry in read.entries] == [HookEvent.BEFORE_TOOL_USE]
    (finding,) = read.findings
    assert (finding.kind, finding.line, finding.blocks) == ("unknown-event", 3, False)
    assert str(finding) == (
        f"{PATH}:3: There is no event 'PreToolUsed', so its hooks are left out. Did you mean 'PreToolUse'?"
    )


def test_an_unknown_event_blocks_where_events_are_strict():
    (finding,) = skill(handler(event="OnCoffee"), strict_events=True).findings

    assert finding.blocks
    assert finding.remedy == "`agent-hooks events` lists them all."


@pytest.mark.parametrize(
    ("head", "line", "says"),
    [
        ("hooks: [PreToolUse]", 2, "hooks has no events"),
        ("hooks: yes please", 2, "hooks has no events"),
        ("hooks:\n  PreToolUse: ./check", 3, "PreToolUse must be a list"),
        ("hooks:\n  PreToolUse: {matcher: Bash}", 3, "PreToolUse must be a list"),
        ("hooks:\n  PreToolUse:\n    - ./check", 4, "must be an object, not a text"),
        ("hooks:\n  PreToolUse:\n    - matcher: Bash", 4, "`hooks` of PreToolUse must be a list"),
        ("hooks:\n  PreToolUse:\n    - type: command\n      command: x", 4, "`hooks` of PreToolUse must be a list"),
        (group("hooks: [./check]"), 6, "must be an object"),
        (group("hooks: [{command: x}]"), 6, "has no type"),
        (group("hooks: [{type: 3}]"), 6, "has no type"),
        (group("matcher: 3", "hooks: [{type: command, command: x}]"), 6, "must be a text"),
        (group("matcher: '(Bash'", "hooks: [{type: command, command: x}]"), 6, "not a regular expression"),
        (group("matcher: '|'", "hooks: [{type: command, command: x}]"), 6, "names nothing"),
        (group("scope: session", "hooks: [{type: command, command: x}]"), 6, "scope is not skill"),
        (handler("once: yes"), 9, "has a once that must be true or false"),
        (handler("async: 1"), 9, "has an async that must be true or false"),
        (handler("onFailure: deny"), 9, 'has an onFailure that must be "continue" or "block"'),
        (handler("if: 3"), 9, "has an if that must be a text"),
        (
            group("hooks: [{type: subagent, prompt: x, onFailure: deny}]"),
            6,
            'A subagent hook on PreToolUse has an onFailure that must be "continue" or "block"',
        ),
    ],
)
def test_what_cannot_be_honoured_on_a_gate_blocks_there_and_names_its_line(head: str, line: int, says: str):
    read = skill(head)

    assert read.entries == ()
    wrong = [finding for finding in read.findings if finding.kind == "not-honoured"]
    assert [(finding.line, finding.blocks) for finding in wrong] == [(line, True)]
    assert says in wrong[0].message
    assert wrong[0].remedy
    assert wrong[0].event == ("" if says == "hooks has no events" else "before_tool_use")
    assert read.part


@pytest.mark.parametrize(
    ("event", "finding_event", "matcher", "blocks"),
    [
        ("ConfigChange", "on_host_event", "ConfigChange", True),
        ("FileChanged", "on_host_event", "FileChanged", False),
        ("StopFailure", "on_error", None, False),
    ],
)
def test_what_cannot_be_honoured_at_an_event_of_claude_code_blocks_there_alone(
    event: str, finding_event: str, matcher: str | None, blocks: bool
):
    (finding,) = skill(group("matcher: x", "hooks: [{}]", event=event)).findings

    assert (finding.event, finding.matcher, finding.blocks) == (finding_event, matcher, blocks)


def test_what_cannot_be_honoured_elsewhere_does_not_block():
    (finding,) = skill("hooks:\n  PostToolUse: [x]").findings

    assert (finding.event, finding.blocks) == ("after_tool_use", False)


def test_a_wrong_handler_leaves_the_others_alone():
    read = skill(group("matcher: Bash", "hooks: [{type: command, command: x}, {}, {type: command, command: y}]"))

    assert [entry.config["command"] for entry in read.entries] == ["x", "y"]
    assert [(finding.event, finding.matcher) for finding in read.findings] == [("before_tool_use", "Bash")]


def test_an_unknown_key_beside_a_matcher_is_told():
    read = skill(group("matchers: Bash", "hooks: [{type: command, command: x}]"))

    assert len(read.entries) == 1
    (finding,) = read.findings
    assert (finding.kind, finding.line, finding.blocks) == ("unknown-key", 6, False)
    assert finding.remedy == "Did you mean 'matcher'?"


@pytest.mark.parametrize("key", ["Hooks", "HOOKS", "hook"])
def test_a_key_that_was_surely_meant_to_be_hooks_blocks(key: str):
    read = skill(DEPLOY.replace("hooks:\n  Pre", f"{key}:\n  Pre", 1))

    (finding,) = read.findings
    assert (finding.line, finding.event, finding.blocks) == (4, "", True)
    assert finding.remedy == "Did you mean 'hooks'?"


def test_keys_of_other_readers_are_no_concern():
    entry_of("hook: see hooks below\nHooked: {a: b}\n" + handler())


def test_a_file_with_hooks_that_cannot_be_read_blocks_and_says_where():
    read = read_skill(b"---\nname: a: b\nhooks: {}\n---\n", path=PATH)

    (finding,) = read.findings
    assert (finding.kind, finding.line, finding.event, finding.blocks) == ("unreadable", 2, "", True)
    assert read.part


def test_a_file_without_hooks_that_cannot_be_read_is_no_concern():
    read = read_skill(b"---\nname: a: b\n---\n", path=PATH)

    assert (read.findings, read.part) == ((), b"")


def test_pyyaml_is_named_where_it_is_missing(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "yaml", None)

    (finding,) = skill(DEPLOY).findings

    assert finding.blocks
    assert "agent-hooks-core[skills]" in finding.remedy


# -- what a trust is about ---------------------------------------------------------------------------------------------


def test_the_part_that_is_trusted_is_the_same_for_the_same_meaning():
    one = skill("name: x\nhooks:\n  PreToolUse:\n    - hooks: [{type: command, command: './a'}]")
    same = skill("# about\nhooks: {PreToolUse: [{hooks: [{command: ./a, type: command}]}]}\nname: 'x'\ndescription: y")

    assert one.part == same.part
    assert json.loads(one.part)["name"] == "x"


@pytest.mark.parametrize(
    "other",
    [
        "name: y\nhooks:\n  PreToolUse:\n    - hooks: [{type: command, command: ./a}]",
        "name: x\nhooks:\n  PreToolUse:\n    - hooks: [{type: command, command: ./b}]",
        "name: x\nscope: skill\nhooks:\n  PreToolUse:\n    - hooks: [{type: command, command: ./a}]",
        "name: x\nhooks:\n  Future:\n    - hooks: [{type: command, command: ./a}]",
    ],
)
def test_the_part_that_is_trusted_differs_where_the_meaning_does(other: str):
    assert (
        skill(other).part != skill("name: x\nhooks:\n  PreToolUse:\n    - hooks: [{type: command, command: ./a}]").part
    )
