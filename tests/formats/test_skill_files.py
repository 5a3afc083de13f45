"""Hooks of skills and agents: what their files say, and what of it cannot be honoured."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from agent_hooks.formats.skill_files import read_skill
from agent_hooks.model.events import HookEvent
from agent_hooks.testing import make_context
from formats.reading import check_case
from skill_files import DEPLOY, group, markdown
from tables import tables

if TYPE_CHECKING:
    from agent_hooks import HookContext
    from agent_hooks.formats.entry import HookEntry
    from agent_hooks.formats.read_file import ReadFile

TABLES = tables(__file__)

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


@pytest.mark.parametrize("case", TABLES["files"], ids=lambda case: case["shows"])
def test_a_file_is_read(case: dict[str, Any]):
    options = {key: case[key] for key in ("kind", "strict_events") if key in case}
    read = skill(case["head"], **options)

    check_case(read, case)
    assert bool(read.part) is case.get("part", True)


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


@pytest.mark.parametrize(("written", "event"), TABLES["events_go_by_the_names_of_all_formats"])
def test_events_go_by_the_names_of_all_formats(written: str, event: str):
    entry = entry_of(handler(event=written))

    assert (entry.event, entry.host_event) == (HookEvent.parse(event), "")


def test_an_event_that_only_claude_code_has_keeps_its_name_and_its_matcher_rules():
    entry = entry_of(group("matcher: skills", "hooks: [{type: command, command: ./check}]", event="ConfigChange"))

    assert (entry.event, entry.host_event) == (HookEvent.ON_HOST_EVENT, "ConfigChange")
    for host_event, source, met in (("ConfigChange", "skills", 1), ("ConfigChange", "user", 0), ("Other", "skills", 0)):
        assert meets(entry, make_context("on_host_event", host_event=host_event, payload={"source": source})) == met


@pytest.mark.parametrize(
    ("head", "path", "name"),
    [
        ("name: deploy", PATH, "deploy"),
        ("name: 2024", PATH, "2024"),
        ("description: x", PATH, "deploy"),
        ("name: ''", "/repo/skills/other/SKILL.md", "other"),
        ("name: [a]", "/repo/skills/other/SKILL.md", "other"),
        ('name: "a\\nb"', PATH, "deploy"),
        (f"name: {'x' * 200}", PATH, "x" * 200),
        (f"name: {'x' * 201}", PATH, "deploy"),
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
    ("matcher", "event", "fields", "met"), TABLES["a_matcher_is_tried_on_what_its_boundary_is_about"]
)
def test_a_matcher_is_tried_on_what_its_boundary_is_about(matcher: str, event: str, fields: Any, met: object):
    entry = entry_of(group(f"matcher: '{matcher}'", "hooks: [{type: command, command: x}]", event=event))

    assert entry.matcher == matcher
    assert meets(entry, make_context(event, **fields)) == met


def test_stop_of_an_agent_is_its_end_as_a_subagent():
    (entry,) = agent(handler(event="Stop")).entries

    assert entry.event == HookEvent.AFTER_SUBAGENT
    assert meets(entry, make_context("after_subagent", name="deploy", agent_name="main"))
    assert not meets(entry, make_context("after_subagent", name="other", agent_name="deploy"))


# -- what is wrong with it ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("head", "line", "says"), TABLES["what_cannot_be_honoured_on_a_gate_blocks_there_and_names_its_line"]
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


# -- what a trust is about ---------------------------------------------------------------------------------------------


def test_the_part_that_is_trusted_is_the_same_for_the_same_meaning():
    one = skill("name: x\nhooks:\n  PreToolUse:\n    - hooks: [{type: command, command: './a'}]")
    same = skill("# about\nhooks: {PreToolUse: [{hooks: [{command: ./a, type: command}]}]}\nname: 'x'\ndescription: y")

    assert one.part == same.part
    assert json.loads(one.part)["name"] == "x"


@pytest.mark.parametrize("change", [("x", "y"), ("/a", "/b"), ("name", "scope: skill\nname"), ("PreTool", "Tool")])
def test_the_part_that_is_trusted_differs_where_the_meaning_does(change: tuple[str, str]):
    head = "name: x\nhooks:\n  PreToolUse:\n    - hooks: [{type: command, command: ./a}]"

    assert skill(head.replace(*change)).part != skill(head).part
