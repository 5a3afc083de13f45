"""Claude Code's settings are read as they are; what cannot be honoured is said, with its line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_hooks.engine.manager import HookManager
from agent_hooks.formats.claude.event_names import EVENTS
from agent_hooks.formats.claude.settings import read_claude
from agent_hooks.handlers.registering import register_entries
from agent_hooks.model.context import HookContext
from agent_hooks.model.tool_call import ToolCall
from formats.reading import check_case
from tables import tables

TABLES = tables(__file__)

EXAMPLES = Path(__file__).parent / "examples"
PATH = "/repo/.claude/settings.json"
GATES = [name for name, event in EVENTS.items() if event.gate]
OTHERS = [name for name, event in EVENTS.items() if not event.gate]


def read(settings, **facts):
    data = settings if isinstance(settings, bytes) else json.dumps(settings).encode()
    return read_claude(data, **{"path": PATH, "source": "user", **facts})


def read_hooks(event, *groups, **facts):
    return read({"hooks": {event: list(groups)}}, **facts)


def command(**fields):
    return {"type": "command", "command": "check.sh", **fields}


def only(items):
    assert len(items) == 1, items
    return items[0]


def bash(line, event="before_tool_use"):
    return HookContext(event, tool_call=ToolCall("Bash", {"command": line}), cwd="/repo")


@pytest.mark.parametrize("case", TABLES["groups"], ids=lambda case: case["shows"])
def test_a_group_of_handlers_is_read(case):
    check_case(read_hooks(case["event"], case["group"], **case.get("of", {})), case)


# -- what is in a file -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EVENTS)
def test_every_event_of_claude_code_has_an_entry(name):
    entry = only(read_hooks(name, {"hooks": [command()]}).entries)
    assert entry.event == EVENTS[name].event
    assert entry.host_event == (name if entry.event == "on_host_event" else "")
    if entry.host_event:
        assert entry.match is not None
        assert entry.match(HookContext("on_host_event", host_event=name)) is True
        assert entry.match(HookContext("on_host_event", host_event="Other")) is False
    else:
        assert entry.match is None


@pytest.mark.parametrize(("event", "handler", "seconds"), TABLES["a_handler_has_the_time_that_claude_code_gives_it"])
def test_a_handler_has_the_time_that_claude_code_gives_it(event, handler, seconds):
    assert only(read_hooks(event, {"hooks": [handler]}).entries).config.get("timeout", "") == seconds


# -- when it runs ------------------------------------------------------------------------------------------------------


def test_a_denied_permission_is_matched_on_its_tool():
    group = {"matcher": "Bash", "hooks": [command(**{"if": "Bash(git *)"})]}
    match = only(read_hooks("PermissionDenied", group).entries).match
    assert match is not None
    payload = {"tool_name": "Bash", "tool_input": {"command": "git push"}}
    assert match(HookContext("on_host_event", host_event="PermissionDenied", payload=payload)) is True
    assert match(HookContext("on_host_event", host_event="TaskCreated", payload=payload)) is False


def test_paths_in_an_if_that_begin_with_a_slash_start_in_the_project():
    edit = HookContext("before_tool_use", tool_call=ToolCall("Edit", {"file_path": "/repo/src/a"}), cwd="/repo/sub")
    group = {"hooks": [command(**{"if": "Edit(/src/**)"})]}
    for facts, expected in (({"project_dir": "/repo"}, True), ({"directory": "/home/me/.claude"}, False)):
        match = only(read_hooks("PreToolUse", group, **facts).entries).match
        assert match is not None
        assert match(edit) is expected


# -- what cannot be honoured -------------------------------------------------------------------------------------------

BROKEN = TABLES["broken"]


def all_findings(file):
    """The findings of a file, and those of its handlers' types, which check their own fields."""
    return [*file.findings, *register_entries(HookManager(load_plugins=False), "x", file.entries)]


@pytest.mark.parametrize("group", BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("event", GATES)
def test_what_is_broken_in_a_gate_blocks_at_its_event(event, group):
    finding = only(all_findings(read_hooks(event, group, {"hooks": [command()]})))  # the others are kept
    assert (finding.kind, finding.blocks, finding.event) == ("not-honoured", True, str(EVENTS[event].event))
    assert finding.matcher == (event if finding.event == "on_host_event" else None)
    assert finding.remedy


@pytest.mark.parametrize("group", BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("event", OTHERS)
def test_what_is_broken_elsewhere_is_only_said(event, group):
    findings = all_findings(read_hooks(event, group))
    assert findings
    assert not any(finding.blocks for finding in findings)


@pytest.mark.parametrize("groups", ["x", {"matcher": "Bash", "hooks": []}, None, 5])
def test_an_event_that_is_no_list_blocks(groups):
    finding = only(read({"hooks": {"PreToolUse": groups}}).findings)
    assert (finding.event, finding.blocks) == ("before_tool_use", True)


@pytest.mark.parametrize("hooks", [[], "x", None, 5])
def test_hooks_that_are_no_object_block_everywhere(hooks):
    finding = only(read({"hooks": hooks}).findings)
    assert (finding.event, finding.blocks) == ("", True)


@pytest.mark.parametrize("matcher", ["(", " ", "(?P<a>b)", r"(a)\1"])
def test_a_matcher_that_cannot_be_honoured_blocks_every_call(matcher):
    finding = only(read_hooks("PreToolUse", {"matcher": matcher, "hooks": [command()]}).findings)
    assert (finding.event, finding.matcher, finding.blocks) == ("before_tool_use", None, True)
    assert repr(matcher) in finding.message


@pytest.mark.parametrize(("matcher", "blocked"), [("Bash|Edit", "Bash|Edit"), ("mcp__.*", None), ("*", None)])
def test_a_broken_handler_blocks_the_calls_that_it_would_have_been_asked_about(matcher, blocked):
    group = {"matcher": matcher, "hooks": [command(timeout=-1)]}
    assert only(all_findings(read_hooks("PreToolUse", group))).matcher == blocked


@pytest.mark.parametrize(("matcher", "remedy"), TABLES["a_matcher_that_meets_no_tool_is_a_finding"])
def test_a_matcher_that_meets_no_tool_is_a_finding(matcher, remedy):
    finding = only(read_hooks("PreToolUse", {"matcher": matcher, "hooks": [command()]}).findings)
    assert (finding.kind, finding.line) == ("never-runs", 1)
    assert remedy in finding.remedy


@pytest.mark.parametrize(
    "matcher", ["Bash", "shell", "my_tool", "Bash(Output)?", "Task(Create|Update)", "Bash(.*)", "(Bash|Read)", "Task.*"]
)
def test_a_matcher_that_may_meet_a_tool_is_none(matcher):
    assert not read_hooks("PreToolUse", {"matcher": matcher, "hooks": [command()]}).findings


def test_a_project_needs_re2_for_expressions_that_may_run_for_long(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "re2", None)
    group = {"matcher": "a.*b.*c.*d.*", "hooks": [command()]}
    finding = only(read_hooks("PreToolUse", group, source="project").findings)
    assert finding.blocks
    assert "agent-hooks-core[re2]" in finding.message
    assert not read_hooks("PreToolUse", group, source="user").findings


@pytest.mark.parametrize(("name", "event", "matcher"), TABLES["an_unknown_event_blocks_if_a_gate_was_meant"])
def test_an_unknown_event_blocks_if_a_gate_was_meant(name, event, matcher):
    file = read_hooks(name, {"hooks": [command()]})
    finding = only(file.findings)
    assert (finding.kind, finding.event, finding.blocks) == ("unknown-event", event, True)
    assert (finding.matcher or "") == matcher
    assert not file.entries


@pytest.mark.parametrize("name", ["Whatever", "PostToolUSE", "Notifications", "after_tool_use", "", "x" * 500])
def test_any_other_unknown_event_is_only_said(name):
    finding = only(read_hooks(name, {"hooks": [command()]}).findings)
    assert (finding.kind, finding.blocks) == ("unknown-event", False)
    assert len(finding.message) < 200


GROUPS = [{"matcher": "Bash", "hooks": [command()]}]


@pytest.mark.parametrize("name", EVENTS)
def test_an_event_at_the_top_of_a_file_is_said_and_blocks_where_a_gate_was_meant(name):
    data = f'{{\n "model": "opus",\n "{name}": {json.dumps(GROUPS)}\n}}'.encode()
    file = read(data)
    finding = only(file.findings)
    assert (finding.kind, finding.line, finding.blocks) == ("not-honoured", 3, name in GATES)
    assert finding.event == EVENTS[name].event
    assert finding.matcher == (name if finding.event == "on_host_event" and name in GATES else None)
    assert f"{name!r} stands at the top of the file" in finding.message
    assert finding.remedy == f'Put it below `hooks`: {{"hooks": {{"{name}": …}}}}.'
    assert file.entries == ()
    assert json.loads(file.part) == {name: GROUPS}


@pytest.mark.parametrize(
    "top",
    [
        {"PreToolUse": []},
        {"PreToolUse": None},
        {"permissions": {"deny": ["Bash"]}},
        {"process": "x"},
        {"env": {"A": 1}},
        {},
        b"",
        b" \n",
        b"\xef\xbb\xbf",
    ],
)
def test_what_cannot_have_been_meant_for_hooks_is_none_of_ours(top):
    file = read(top)
    assert (file.entries, file.findings, file.settings, file.part) == ((), (), {}, b"")


# -- the file as a whole -----------------------------------------------------------------------------------------------

UNREADABLE = {
    "no JSON": b'{"hooks": ',
    "a comment": b'// a\n{"hooks": {}}',
    "a comma too many": b'{"hooks": {},}',
    "no UTF-8": b'{"a": "\xff"}',
    "NaN": b'{"a": NaN}',
    "half a character": b'{"a": "\\ud83d"}',
    "100,000 levels": b"[" * 100_000,
    "65 levels": b"[" * 65 + b"]" * 65,
    "a list": b"[]",
    "a text": b'"hooks"',
    "nothing": b"null",
}


@pytest.mark.parametrize("case", TABLES["files"], ids=lambda case: case["shows"])
def test_a_file_is_read(case):
    for source in case.get("sources", ["user"]):
        file = read(case["text"].encode(), source=source, plugin_root="/p" if source == "plugin" else "")
        check_case(file, case)
        assert file.part


@pytest.mark.parametrize("data", UNREADABLE.values(), ids=UNREADABLE)
def test_a_file_that_cannot_be_read_blocks_everywhere(data):
    file = read(data)
    finding = only(file.findings)
    assert (finding.kind, finding.event, finding.blocks, finding.path) == ("unreadable", "", True, PATH)
    assert file.part == data
    assert not file.entries
    assert not file.settings


def test_the_part_that_is_trusted_is_what_means_something():
    hooks = {"hooks": {"Stop": [{"hooks": [command()]}]}}
    one = read({**hooks, "model": "a", "disableAllHooks": False}).part
    assert json.loads(one) == {**hooks, "disableAllHooks": False}
    other = b'{"disableAllHooks":false,\n\n"hooks":%s, "env":{"A":"1"}}' % json.dumps(hooks["hooks"], indent=3).encode()
    assert read(other).part == one
    assert read({**hooks, "disableAllHooks": True}).part != one
    assert read({"hooks": {"Stop": [{"hooks": [command(x=1)]}]}}).part != read(hooks).part


# -- what others have written ------------------------------------------------------------------------------------------


def test_the_complete_example_of_the_published_schema_loads():
    file = read((EXAMPLES / "schemastore-hooks-complete.json").read_bytes())
    assert [str(finding) for finding in file.findings] == []
    written = json.loads((EXAMPLES / "schemastore-hooks-complete.json").read_bytes())["hooks"]
    assert len(file.entries) == sum(len(group["hooks"]) for groups in written.values() for group in groups)
    assert {entry.type for entry in file.entries} == {"command", "http", "mcp_tool", "prompt", "subagent"}
    assert file.settings["allowed_http_hook_urls"] == ("https://hooks.example.com/*",)
    lines = (EXAMPLES / "schemastore-hooks-complete.json").read_text().splitlines()
    assert all(lines[entry.line - 1].strip() == "{" for entry in file.entries)


def test_the_examples_in_the_published_schema_load():
    file = read((EXAMPLES / "schemastore-settings-examples.json").read_bytes())
    assert file.findings == ()
    entry = only(file.entries)
    assert (entry.event, entry.matcher) == ("after_tool_use", "Edit|Write")
    assert entry.config == {"command": "prettier --write", "timeout": 5}


json_values: Any = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from(["", "command", "Bash", "(", "*", "x"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "command", "matcher", "hooks", "timeout", "if", "x"]), inner, max_size=4
        )
    ),
    max_leaves=12,
)


@given(
    st.dictionaries(
        st.sampled_from(["hooks", "modules", "disableAllHooks", "allowedHttpHookUrls", "x"]),
        json_values | st.dictionaries(st.sampled_from(["PreToolUse", "Stop", "TaskCreated", "Nothing"]), json_values),
    ),
    st.sampled_from(["user", "project"]),
)
def test_any_file_is_read_and_every_finding_says_where_and_what_to_do(settings, source):
    file = read(settings, source=source)
    assert all(entry.line >= 1 and entry.form == "claude" for entry in file.entries)
    assert all(finding.line >= 1 and finding.remedy and finding.path for finding in file.findings)
    assert bool(file.part) == bool(settings.keys() - {"x"})
