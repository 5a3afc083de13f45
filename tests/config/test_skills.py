"""Hooks of skills and agents: what their files say, and that they are live exactly as long as these are registered."""

from __future__ import annotations

import json
import sys
import textwrap
from typing import TYPE_CHECKING, Any

import pytest

from agent_hooks import HookManager, HookOutcome, HookPolicy, RegistrationError
from agent_hooks.config.skills import read_agent, read_skill
from agent_hooks.discovery import discover
from agent_hooks.errors import TrustError, UnknownEventError
from agent_hooks.events import HookEvent
from agent_hooks.handlers.entry import Permits
from agent_hooks.matchers import WEAKLY
from agent_hooks.skills import Skill, SkillHook, register_agent, register_skill
from agent_hooks.testing import make_context
from agent_hooks.trust import TrustStore
from engine import shell

if TYPE_CHECKING:
    from pathlib import Path

    from agent_hooks import HookContext
    from agent_hooks.config.source import ReadFile
    from agent_hooks.handlers.entry import HookEntry

PATH = "/repo/skills/deploy/SKILL.md"

# As SkillKit's manual has it.
DEPLOY = """
name: ops:deploy
description: Deploy a service to staging.
hooks:
  PreToolUse:
    - matcher: "Shell"
      hooks:
        - type: command
          command: "./scripts/check-deploy-policy.sh"
  PostToolUse:
    - hooks:
        - type: http
          url: "https://audit.example.com/log"
"""


def markdown(head: str, body: str = "Deploy $ARGUMENTS to staging.\n") -> bytes:
    return f"---\n{textwrap.dedent(head).strip()}\n---\n{body}".encode()


def skill(head: str, **options: Any) -> ReadFile:
    return read_skill(markdown(head), **{"path": PATH, **options})


def agent(head: str, **options: Any) -> ReadFile:
    return read_agent(markdown(head), **{"path": "/repo/.claude/agents/reviewer.md", **options})


def entry_of(head: str, **options: Any) -> HookEntry:
    """The only entry of a skill, which must have no findings."""
    read = skill(head, **options)
    assert read.findings == ()
    (entry,) = read.entries
    return entry


def group(*lines: str, event: str = "PreToolUse") -> str:
    """A skill with one group of hooks on one event; ``lines`` are the keys of the group."""
    inner = "\n".join(f"      {line}" for line in lines)
    return f"name: deploy\nhooks:\n  {event}:\n    -\n{inner}\n"


def handler(*lines: str, event: str = "PreToolUse", kind: str = "command") -> str:
    """A skill with one handler, which has these keys too."""
    return group("hooks:", f"- type: {kind}", "  command: ./check", *(f"  {line}" for line in lines), event=event)


def meets(entry: HookEntry, ctx: HookContext) -> Any:
    return True if entry.match is None else entry.match(ctx)


def tool(name: str, event: str = "before_tool_use", **fields: Any) -> HookContext:
    return make_context(event, tool=name, **fields)


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
    permits = Permits(hosts=("audit.internal",))
    entry = entry_of(handler(), source="user", directory="/elsewhere", permits=permits)

    assert (entry.source, entry.directory, entry.permits) == ("user", "/elsewhere", permits)


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


def test_fields_of_the_handler_itself_are_passed_on():
    entry = entry_of(handler("timeout: 5", "args: [-x, no]", "shell: bash", "statusMessage: Checking"))

    assert entry.config == {
        "command": "./check",
        "timeout": 5,
        "args": ["-x", "no"],
        "shell": "bash",
        "statusMessage": "Checking",
    }


def test_claude_codes_agent_handler_is_the_subagent_type():
    assert entry_of(group("hooks: [{type: agent, prompt: Look at it.}]")).type == "subagent"


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
        ("hooks:\n  PreToolUse: ./check", 3, "PreToolUse is no list"),
        ("hooks:\n  PreToolUse: {matcher: Bash}", 3, "PreToolUse is no list"),
        ("hooks:\n  PreToolUse: []", 3, "PreToolUse is no list"),
        ("hooks:\n  PreToolUse:\n    - ./check", 4, "no mapping"),
        ("hooks:\n  PreToolUse:\n    - matcher: Bash", 4, "hooks under PreToolUse is no list"),
        ("hooks:\n  PreToolUse:\n    - type: command\n      command: x", 4, "hooks under PreToolUse is no list"),
        (group("hooks: []"), 6, "hooks under PreToolUse is no list"),
        (group("hooks: [./check]"), 6, "has no type"),
        (group("hooks: [{command: x}]"), 6, "has no type"),
        (group("hooks: [{type: 3}]"), 6, "has no type"),
        (group("matcher: 3", "hooks: [{type: command, command: x}]"), 6, "matcher is no text"),
        (group("matcher: '(Bash'", "hooks: [{type: command, command: x}]"), 6, "not a regular expression"),
        (group("matcher: '|'", "hooks: [{type: command, command: x}]"), 6, "names nothing"),
        (group("scope: session", "hooks: [{type: command, command: x}]"), 6, "scope is not skill"),
        (handler("once: yes"), 9, "once is neither true nor false"),
        (handler("async: 1"), 9, "async is neither"),
        (handler("onFailure: deny"), 9, "onFailure is neither"),
        (handler("if: 3"), 9, "not a permission rule"),
        (handler("if: '!'"), 9, "not a permission rule"),
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


# -- live as long as the skill is --------------------------------------------------------------------------------------


class Recorder:
    """A handler type that remembers what it was asked about, and answers as its entry says."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def execute(self, config: dict[str, Any], ctx: HookContext) -> Any:
        self.asked.append(f"{config.get('as', '')}{ctx.event!s}")
        return ("deny", config["deny"]) if "deny" in config else "ok"


@pytest.fixture
def manager() -> HookManager:
    return HookManager(load_plugins=False)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project, and a configuration folder beside it where trust is kept."""
    monkeypatch.setenv("AGENT_HOOKS_CONFIG_DIR", str(tmp_path / "config"))
    root = tmp_path / "project"
    (root / ".git").mkdir(parents=True)
    return root


def written(root: Path, head: str, path: str = "skills/deploy/SKILL.md") -> Path:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(markdown(head))
    return file


def decided(manager: HookManager, ctx: HookContext) -> tuple[str, str]:
    outcome = manager.hooks().dispatch_sync(ctx)
    return str(outcome.decision), outcome.reason


RECORD = """
name: watch
hooks:
  PreToolUse:
    - hooks:
        - {type: record, as: "1 "}
        - {type: record, as: "2 "}
  PreTurn:
    - hooks: [{type: record}]
"""


def test_hooks_of_a_skill_see_every_crossing_until_it_is_unregistered(manager: HookManager, project: Path):
    recorder = Recorder()
    name = register_skill(manager, written(project, RECORD), types={"record": recorder}, trusted=True)

    hooks = manager.hooks()
    for ctx in (shell(), tool("Read", skill="other"), make_context("before_turn")):
        hooks.dispatch_sync(ctx)
    manager.unregister(name=name)
    hooks.dispatch_sync(shell())

    assert name == "skill:watch"
    assert recorder.asked == [*["1 before_tool_use", "2 before_tool_use"] * 2, "before_turn"]
    assert not hooks.listens("before_tool_use")


def test_hooks_of_an_agent_see_its_own_crossings_until_it_is_unregistered(manager: HookManager, project: Path):
    recorder = Recorder()
    file = written(project, RECORD, ".claude/agents/watch.md")
    name = register_agent(manager, file, types={"record": recorder}, trusted=True)

    hooks = manager.hooks()
    hooks.dispatch_sync(shell(agent_name="watch"))
    hooks.dispatch_sync(shell(agent_name="main"))
    manager.unregister(name=name)
    hooks.dispatch_sync(shell(agent_name="watch"))

    assert name == "agent:watch"
    assert recorder.asked == ["1 before_tool_use", "2 before_tool_use"]


def test_a_skill_may_be_registered_again_after_it_was_unregistered(manager: HookManager, project: Path):
    file = written(project, RECORD)
    for _ in range(2):
        name = register_skill(manager, file.parent, types={"record": Recorder()}, trusted=True)
        manager.unregister(name=name)

    assert not manager.has_plugin("skill:watch")


def test_two_skills_of_one_name_are_an_error_and_the_first_stays(manager: HookManager, project: Path):
    recorder = Recorder()
    register_skill(manager, written(project, RECORD), types={"record": recorder}, trusted=True)

    for head in (RECORD, "name: watch"):
        other = written(project, head, "other/SKILL.md")
        with pytest.raises(RegistrationError, match="skill:watch is registered already"):
            register_skill(manager, other, types={"record": recorder}, trusted=True)

    assert manager.hooks().listens("before_turn")


def test_a_skill_without_hooks_is_registered_and_unregistered_like_any(manager: HookManager, project: Path):
    name = register_skill(manager, written(project, "name: plain"))

    assert manager.has_plugin(name)
    manager.unregister(name=name)
    assert not manager.has_plugin(name)


def test_the_first_deny_of_a_skill_ends_the_chain(manager: HookManager, project: Path):
    recorder = Recorder()
    head = group("hooks:", "- {type: record}", "- {type: record, deny: Not on Fridays.}", "- {type: record}")
    register_skill(manager, written(project, head), types={"record": recorder}, trusted=True)

    assert decided(manager, shell()) == ("deny", "Not on Fridays.")
    assert len(recorder.asked) == 2


@pytest.mark.parametrize(
    ("head", "says"),
    [
        (group("hooks: [{type: carrier-pigeon}]"), "no handler type 'carrier-pigeon'"),
        (group("hooks: [{type: carrier-pigeon}]", event="PostToolUse"), "no handler type 'carrier-pigeon'"),
        (group("hooks: [{type: command, command: x, timeout: -1}]"), "timeout"),
        (group("matcher: '(x'", "hooks: [{type: record}]"), "not a regular expression"),
        ("name: deploy\nhooks: []x", "not YAML"),
    ],
)
def test_a_skill_that_cannot_be_honoured_is_an_error_naming_its_line_and_nothing_of_it_is_live(
    manager: HookManager, project: Path, head: str, says: str
):
    file = written(project, head + "\n  PreTurn: [{hooks: [{type: record}]}]" if "YAML" not in says else head)

    with pytest.raises(RegistrationError) as caught:
        register_skill(manager, file, types={"record": Recorder()}, trusted=True)

    assert says in str(caught.value)
    assert f"{file}:" in str(caught.value)
    assert not manager.hooks().listens("before_turn")


def test_an_unknown_event_is_logged_and_an_error_where_events_are_strict(
    manager: HookManager, project: Path, caplog: pytest.LogCaptureFixture
):
    file = written(project, group("hooks: [{type: record}]", event="OnCoffee"))

    register_skill(manager, file, types={"record": Recorder()}, trusted=True)
    assert f"{file}:4: There is no event 'OnCoffee'" in caplog.text

    with pytest.raises(RegistrationError, match="no event 'OnCoffee'"):
        register_skill(manager, file, types={"record": Recorder()}, trusted=True, strict_events=True)


def test_a_file_that_is_not_there_is_an_error(manager: HookManager, project: Path):
    with pytest.raises(RegistrationError, match=r"missing/SKILL\.md: The skill cannot be read: No such file"):
        register_skill(manager, project / "missing" / "SKILL.md")


# -- commands, really run ----------------------------------------------------------------------------------------------


def policy_script(root: Path, text: str) -> Path:
    script = root / "scripts" / "check-deploy-policy.sh"
    script.parent.mkdir(exist_ok=True)
    script.write_text(f"#!/bin/sh\n{text}\n")
    script.chmod(0o755)
    return script


ONLY_COMMAND = DEPLOY.partition("  PostToolUse")[0]


@pytest.mark.parametrize(
    ("text", "decision", "reason"),
    [
        ("exit 0", "proceed", ""),
        ("echo 'Use the pipeline.'; exit 2", "deny", "Use the pipeline."),
        ("echo oops >&2; exit 1", "proceed", ""),
    ],
)
def test_a_command_of_a_skill_decides_by_its_exit_code(
    manager: HookManager, project: Path, text: str, decision: str, reason: str
):
    policy_script(project, text)
    register_skill(manager, written(project, ONLY_COMMAND), trusted=True)

    assert decided(manager, tool("Shell", cwd=str(project))) == (decision, reason)
    assert decided(manager, tool("Read", cwd=str(project))) == ("proceed", "")


def test_the_whole_example_of_skillkits_manual_is_live(manager: HookManager, project: Path):
    policy_script(project, "echo 'Use the pipeline.'; exit 2")
    register_skill(manager, written(project, DEPLOY), trusted=True)

    found = [(info.event, info.name, info.match, info.mode, info.on_failure) for info in manager.describe()]
    assert found == [
        ("before_tool_use", "skills/deploy/SKILL.md:8", "Shell", "gate", "open"),
        ("after_tool_use", "skills/deploy/SKILL.md:12", "*", "gate", "open"),
    ]
    assert decided(manager, tool("Shell")) == ("deny", "Use the pipeline.")


def test_a_failed_command_of_a_skill_blocks_where_it_says_so(manager: HookManager, project: Path):
    policy_script(project, "exit 1")
    head = ONLY_COMMAND.rstrip() + "\n          onFailure: block\n"
    register_skill(manager, written(project, head), trusted=True)

    assert decided(manager, tool("Shell"))[0] == "deny"


def test_files_may_bring_no_commands_where_the_policy_refuses_them(project: Path):
    manager = HookManager(load_plugins=False, policy=HookPolicy(allow_shell=False))

    with pytest.raises(RegistrationError, match="allow_shell"):
        register_skill(manager, written(project, ONLY_COMMAND), trusted=True)


# -- trust -------------------------------------------------------------------------------------------------------------


def trust(root: Path) -> None:
    TrustStore().trust(discover(str(root)))


def test_a_skill_that_nobody_trusted_is_not_registered(manager: HookManager, project: Path):
    policy_script(project, "exit 2")

    with pytest.raises(TrustError, match="agent-hooks trust"):
        register_skill(manager, written(project, ONLY_COMMAND))

    assert not manager.hooks().listens("before_tool_use")


def test_a_trusted_skill_runs_with_the_scripts_that_were_trusted(manager: HookManager, project: Path):
    policy_script(project, "echo no; exit 2")
    file = written(project, ONLY_COMMAND)
    trust(project)
    register_skill(manager, file)

    assert decided(manager, tool("Shell")) == ("deny", "no")


@pytest.mark.parametrize("changed", ["skill", "script"])
def test_a_skill_is_not_registered_once_it_or_its_script_changed(manager: HookManager, project: Path, changed: str):
    script, file = policy_script(project, "exit 2"), written(project, ONLY_COMMAND)
    trust(project)
    if changed == "skill":
        file.write_bytes(file.read_bytes().replace(b"Shell", b"Nothing"))
    else:
        script.write_text("#!/bin/sh\nexit 0\n")

    with pytest.raises(TrustError, match="has changed"):
        register_skill(manager, file)


def test_an_agent_is_trusted_like_a_skill(manager: HookManager, project: Path):
    policy_script(project, "echo no; exit 2")
    file = written(project, ONLY_COMMAND.replace("ops:deploy", "deployer"), ".claude/agents/deployer.md")
    with pytest.raises(TrustError):
        register_agent(manager, file)
    trust(project)
    register_agent(manager, file)

    assert decided(manager, tool("Shell", agent_name="deployer")) == ("deny", "no")
    assert decided(manager, tool("Shell", agent_name="main")) == ("proceed", "")


def test_a_file_that_trust_does_not_look_at_is_not_registered(manager: HookManager, project: Path):
    file = written(project, ONLY_COMMAND, "agents/deployer.md")
    policy_script(project, "exit 2")
    written(project, ONLY_COMMAND)
    trust(project)

    with pytest.raises(TrustError, match="is not covered by `agent-hooks trust"):
        register_agent(manager, file)


# -- skills made in Python ---------------------------------------------------------------------------------------------


def refuse(ctx: HookContext, *words: str) -> tuple[str, str]:
    return "deny", " ".join((ctx.tool_name, *words))


@pytest.mark.parametrize(
    ("handler_", "reason"),
    [
        (refuse, "Bash"),
        (lambda context: ("deny", f"{context.tool_name}!"), "Bash!"),
        ((sys.modules[__name__], "refuse", ["never", "on Fridays"]), "Bash never on Fridays"),
        ((sys.modules[__name__], "refuse", ()), "Bash"),
        (("record", {"deny": "Recorded."}), "Recorded."),
    ],
    ids=["function", "lambda", "arguments", "no-arguments", "type"],
)
def test_a_skill_made_in_python_decides_until_it_is_unregistered(manager: HookManager, handler_: Any, reason: str):
    enforcer = Skill("policy:enforcer", hooks=[SkillHook("PreToolUse", handler_, matcher="Bash")])
    name = register_skill(manager, enforcer, types={"record": Recorder()})

    assert name == "skill:policy:enforcer"
    assert decided(manager, shell()) == ("deny", reason)
    assert decided(manager, tool("Read")) == ("proceed", "")
    manager.unregister(name=name)
    assert decided(manager, shell()) == ("proceed", "")


def test_a_function_may_be_named_by_its_module(manager: HookManager):
    register_skill(manager, Skill("s", hooks=[SkillHook("PreToolUse", ("posixpath", "basename", []))]))

    outcome = manager.hooks().dispatch_sync(shell())

    assert outcome.failed
    assert outcome.hook == "basename (skill s:1)"


def test_an_async_function_is_awaited(manager: HookManager):
    async def check(ctx: HookContext) -> HookOutcome:
        return HookOutcome.deny("later")

    register_skill(manager, Skill("s", hooks=[SkillHook("PreToolUse", check)]))

    assert manager.hooks().run_sync(shell()).reason == "later"


def test_a_skill_made_in_python_may_suspend(manager: HookManager):
    register_skill(manager, Skill("s", hooks=[SkillHook("PreToolUse", lambda ctx: ("pending", {"ask": "ops"}))]))

    outcome = manager.hooks().dispatch_sync(shell())

    assert str(outcome.decision) == "suspend"
    assert outcome.data == {"ask": "ops"}


def test_a_skill_may_not_change_what_a_tool_is_called_with(manager: HookManager):
    hook = SkillHook("PreToolUse", lambda ctx: HookOutcome.with_args({"command": "ls -a"}))
    register_skill(manager, Skill("s", hooks=[hook]))

    assert decided(manager, shell())[0] == "deny"


def test_a_skill_may_not_allow(manager: HookManager):
    manager.register(_Asking(), "asking")
    register_skill(manager, Skill("s", hooks=[SkillHook("PreToolUse", lambda ctx: HookOutcome.allow(final=True))]))

    assert decided(manager, shell())[0] == "deny"


class _Asking:
    from agent_hooks import hookimpl

    @hookimpl
    def before_tool_use(self, ctx: HookContext) -> HookOutcome:
        return HookOutcome.ask("Really?")


def test_a_function_that_fails_blocks_where_there_is_a_gate(manager: HookManager):
    def check(ctx: HookContext) -> None:
        raise OSError("no policy server")

    hooks = [SkillHook("PreToolUse", check), SkillHook("PostToolUse", check)]
    register_skill(manager, Skill("s", hooks=hooks))

    assert decided(manager, shell())[0] == "deny"
    assert decided(manager, tool("Bash", "after_tool_use", result="done")) == ("proceed", "")


def test_a_predicate_may_be_the_matcher(manager: HookManager):
    hook = SkillHook("PreToolUse", refuse, matcher=lambda ctx: ctx.skill == "deploy")
    register_skill(manager, Skill("s", description="Only for deploy.", hooks=[hook]))

    assert decided(manager, shell(skill="deploy"))[0] == "deny"
    assert decided(manager, shell())[0] == "proceed"


@pytest.mark.parametrize(
    ("event", "handler_", "matcher", "error", "says"),
    [
        ("PreCoffee", refuse, None, UnknownEventError, "no event 'PreCoffee'"),
        ("PreToolUse", refuse, "(x", RegistrationError, "not a regular expression"),
        ("PreToolUse", "refuse", None, RegistrationError, "no handler of a skill"),
        (
            "PreToolUse",
            ("os", "no_such_function", []),
            None,
            RegistrationError,
            "has no attribute 'no_such_function'",
        ),
        ("PreToolUse", ("os", 3), None, RegistrationError, "no handler of a skill"),
        ("PreToolUse", (3, "x", []), None, RegistrationError, "has no attribute 'x'"),
        ("PreToolUse", ("os", "sep", []), None, RegistrationError, "is no function"),
        ("PreToolUse", ("no.such.module", "x", []), None, RegistrationError, "no.such.module"),
    ],
)
def test_a_hook_that_cannot_work_is_an_error_where_it_is_made(
    event: str, handler_: Any, matcher: Any, error: type[Exception], says: str
):
    with pytest.raises(error) as caught:
        SkillHook(event, handler_, matcher=matcher)

    assert says in str(caught.value)
