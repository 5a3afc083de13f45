"""Claude Code's settings are read as they are; what cannot be honoured is said, with its line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_hooks.engine.manager import HookManager
from agent_hooks.engine.markers import WEAKLY
from agent_hooks.formats.claude.event_names import EVENTS
from agent_hooks.formats.claude.settings import read_claude
from agent_hooks.handlers.registering import register_entries
from agent_hooks.model.context import HookContext
from agent_hooks.model.tool_call import ToolCall

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


# -- what is in a file -------------------------------------------------------------------------------------------------


def test_an_entry_says_all_that_its_handler_says():
    file = read_hooks(
        "PreToolUse",
        {"matcher": "Bash|Edit", "hooks": [command(args=["a"], timeout=5, onFailure="block", statusMessage="wait")]},
        source="project",
        project_dir="/repo",
    )
    entry = only(file.entries)
    assert not file.findings
    assert entry.config == {"command": "check.sh", "args": ["a"], "timeout": 5, "statusMessage": "wait"}
    facts = (entry.event, entry.type, entry.form, entry.source, entry.matcher, entry.on_failure, entry.host_event)
    assert facts == ("before_tool_use", "command", "claude", "project", "Bash|Edit", "closed", "")
    assert (entry.mode, entry.once, entry.is_async, entry.scope, entry.name) == ("gate", False, False, None, "")
    assert (entry.project_dir, entry.directory) == ("/repo", "/repo")
    assert entry.origin == ".claude/settings.json:1"


@pytest.mark.parametrize(
    ("source", "mode"), [("user", "transform"), ("managed", "transform"), ("project", "gate"), ("plugin", "gate")]
)
def test_only_a_users_or_managed_file_may_rewrite(source, mode):
    assert only(read_hooks("PreToolUse", {"hooks": [command()]}, source=source).entries).mode == mode


def test_relative_paths_start_in_the_project_else_beside_the_file():
    group = {"hooks": [command()]}
    assert only(read_hooks("Stop", group).entries).directory == "/repo/.claude"
    assert only(read_hooks("Stop", group, project_dir="/repo").entries).directory == "/repo"
    plugin = only(read_hooks("Stop", group, project_dir="/repo", directory="/p", plugin_root="/p").entries)
    assert (plugin.directory, plugin.plugin_root) == ("/p", "/p")


def test_every_entry_knows_its_line():
    text = b"""{
  "hooks": {
    "PreToolUse": [
      {"matcher": "Bash", "hooks": [
        {"type": "command", "command": "a"},

        {"type": "command", "command": "b"}
      ]}
    ]
  }
}"""
    assert [entry.line for entry in read(text).entries] == [5, 7]


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


@pytest.mark.parametrize(
    ("event", "handler", "seconds"),
    [
        ("PreToolUse", command(), 600.0),
        ("UserPromptSubmit", command(), 30.0),
        ("UserPromptSubmit", command(timeout=90), 90),
        ("SessionEnd", command(), 1.5),
        ("MessageDisplay", command(), 10.0),
        ("PreModelSwitch", {"type": "http", "url": "https://a"}, 30.0),
        ("UserPromptSubmit", {"type": "prompt", "prompt": "p"}, 30.0),
        ("PreToolUse", {"type": "agent", "prompt": "p"}, 60.0),
        ("PreToolUse", {"type": "mcp_tool", "server": "s", "tool": "t"}, 600.0),
        ("PreToolUse", {"type": "slack"}, None),
    ],
)
def test_a_handler_has_the_time_that_claude_code_gives_it(event, handler, seconds):
    assert only(read_hooks(event, {"hooks": [handler]}).entries).config.get("timeout") == seconds


def test_types_have_our_names_and_unknown_ones_are_kept():
    handlers = [{"type": "agent", "prompt": "p"}, {"type": "prompt", "prompt": "p"}, {"type": "slack", "channel": "#a"}]
    file = read_hooks("Stop", {"hooks": handlers})
    assert [entry.type for entry in file.entries] == ["subagent", "prompt", "slack"]
    assert file.entries[2].config == {"channel": "#a"}
    assert not file.findings


def test_async_commands_are_not_waited_for():
    file = read_hooks(
        "Stop", {"hooks": [command(**{"async": True}), command(asyncRewake=True), command(**{"async": False})]}
    )
    assert [entry.is_async for entry in file.entries] == [True, True, False]
    assert "async" not in file.entries[0].config
    finding = only(file.findings)
    assert "asyncRewake" in finding.message
    assert not finding.blocks


@pytest.mark.parametrize("key", ["async", "asyncRewake"])
@pytest.mark.parametrize("value", [True, "no", 1])
def test_a_hook_that_is_no_command_decides_whatever_it_says_about_waiting(key, value):
    file = read_hooks("PreToolUse", {"hooks": [{"type": "http", "url": "https://a", key: value}]})
    entry = only(file.entries)
    assert not entry.is_async
    assert key not in entry.config
    finding = only(file.findings)
    assert (finding.kind, finding.blocks, finding.remedy) == ("unknown-key", False, "Remove it.")


def test_a_type_of_ones_own_is_given_what_it_says_about_waiting_and_decides():
    file = read_hooks("PreToolUse", {"hooks": [{"type": "slack", "async": True, "onFailure": "block"}]})
    entry = only(file.entries)
    assert (entry.is_async, entry.on_failure, entry.config) == (False, "closed", {"async": True})
    assert not file.findings


def test_once_has_no_effect_in_a_settings_file():
    entry = only(read_hooks("Stop", {"hooks": [command(once=True)]}).entries)
    assert not entry.once
    assert "once" not in entry.config


# -- when it runs ------------------------------------------------------------------------------------------------------


def test_a_matcher_and_an_if_must_both_be_met():
    group = {"matcher": "Bash", "hooks": [command(**{"if": "Bash(git push *)"})]}
    match = only(read_hooks("PreToolUse", group).entries).match
    assert match is not None
    assert match(bash("git push -f")) is True
    assert match(bash("git pull")) is False
    assert match(bash("'unclear")) == WEAKLY
    edit = HookContext("before_tool_use", tool_call=ToolCall("Edit", {"file_path": "a"}))
    assert match(edit) is False


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


def test_an_if_that_cannot_be_read_lets_the_hook_run_weakly():
    file = read_hooks("PreToolUse", {"hooks": [command(**{"if": "Bash(a) || Bash(b)"})]})
    match = only(file.entries).match
    assert match is not None
    assert match(bash("ls")) == WEAKLY
    finding = only(file.findings)
    assert (finding.kind, finding.blocks, finding.line) == ("not-honoured", False, 1)


@pytest.mark.parametrize("event", ["Stop", "UserPromptSubmit", "SessionStart", "PreCompact"])
def test_an_if_where_there_is_no_tool_call_never_runs(event):
    file = read_hooks(event, {"hooks": [command(**{"if": "Bash(git *)"})]})
    assert not file.entries
    finding = only(file.findings)
    assert (finding.kind, finding.blocks) == ("never-runs", False)


@pytest.mark.parametrize(
    ("event", "kind"),
    [("SessionStart", "http"), ("Setup", "prompt"), ("PreCompact", "agent"), ("Notification", "prompt")],
)
def test_a_type_that_claude_code_does_not_run_at_an_event_is_left_out(event, kind):
    handler = {"type": kind, "url": "https://a"} if kind == "http" else {"type": kind, "prompt": "p"}
    file = read_hooks(event, {"hooks": [handler, command()]})
    assert only(file.entries).type == "command"
    assert only(file.findings).kind == "never-runs"


def test_a_matcher_is_said_to_be_ignored_where_it_is():
    file = read_hooks("UserPromptSubmit", {"matcher": "Bash", "hooks": [command()]})
    assert only(file.entries).match is None
    assert only(file.entries).matcher is None  # else it would be read as one of our own
    assert only(file.findings).kind == "ignored"
    assert not read_hooks("Stop", {"matcher": "*", "hooks": [command()]}).findings


def test_a_server_is_said_to_match_none_of_its_tools():
    finding = only(read_hooks("PreToolUse", {"matcher": "Bash|mcp__memory", "hooks": [command()]}).findings)
    assert (finding.kind, finding.blocks) == ("never-runs", False)
    assert "mcp__memory__.*" in finding.remedy


def test_our_own_command_is_left_out():
    ours = command(command="agent-hooks run --agent claude-code --event PreToolUse")
    file = read_hooks("PreToolUse", {"hooks": [ours, command()]})
    assert only(file.entries).config["command"] == "check.sh"
    finding = only(file.findings)
    assert (finding.kind, finding.blocks, finding.is_note) == ("own-command", False, True)


def test_what_is_wrong_is_no_note():
    file = read_hooks("PreToolUse", {"hooks": [command(timout=5), command(once=-1)]})
    assert [finding.is_note for finding in file.findings] == [False, False]


# -- what cannot be honoured -------------------------------------------------------------------------------------------

BROKEN: dict[str, Any] = {
    "a group that is none": "check.sh",
    "a group without hooks": {"matcher": ""},
    "hooks that are no list": {"hooks": command()},
    "a handler that is none": {"hooks": ["check.sh"]},
    "a handler without a type": {"hooks": [{"command": "check.sh"}]},
    "a type that is no text": {"hooks": [command(type=5)]},
    "a command without a command": {"hooks": [{"type": "command"}]},
    "an empty command": {"hooks": [command(command=" ")]},
    "a negative timeout": {"hooks": [command(timeout=-1)]},
    "a timeout of none": {"hooks": [command(timeout=0)]},
    "a timeout in quotes": {"hooks": [command(timeout="5")]},
    "arguments that are none": {"hooks": [command(args="a")]},
    "a matcher that is no text": {"matcher": {"tools": ["Bash"]}, "hooks": [command()]},
    "headers that are none": {"hooks": [{"type": "http", "url": "https://a", "headers": ["a"]}]},
    "another failure": {"hooks": [command(onFailure="deny")]},
}


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


@pytest.mark.parametrize(
    ("matcher", "remedy"),
    [
        ("bash", "Did you mean 'Bash'?"),
        ("Edit|write", "Did you mean 'Write'?"),
        ("WEBFETCH", "Did you mean 'WebFetch'?"),
        ("Bash(git push *)", '"matcher": "Bash", and the rule as `if`'),
        ("Bash(npm run test:*)", '"matcher": "Bash"'),
        ("Read(./.env)", '"matcher": "Read"'),
        ("WebFetch(domain:example.com)", '"matcher": "WebFetch"'),
    ],
)
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


@pytest.mark.parametrize(
    ("name", "event", "matcher"),
    [
        ("PreTooluse", "before_tool_use", None),
        ("preToolUse", "before_tool_use", None),
        ("pre_tool_use", "before_tool_use", None),
        ("PreToolUses", "before_tool_use", None),
        ("before_tool_use", "before_tool_use", None),
        ("UserPromptSubmitted", "user_input", None),
        ("PreInference", "before_inference", None),
        ("TaskCreate", "on_host_event", "TaskCreated"),
    ],
)
def test_an_unknown_event_blocks_if_a_gate_was_meant(name, event, matcher):
    file = read_hooks(name, {"hooks": [command()]})
    finding = only(file.findings)
    assert (finding.kind, finding.event, finding.matcher, finding.blocks) == ("unknown-event", event, matcher, True)
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
    ("name", "event", "blocks", "remedy"),
    [
        ("preToolUse", "before_tool_use", True, '{"hooks": {"PreToolUse": …}}'),
        ("pre_tool_use", "before_tool_use", True, '{"hooks": {"PreToolUse": …}}'),
        ("before_tool_use", "before_tool_use", True, '{"hooks": {"PreToolUse": …}}'),
        ("tool.pre", "before_tool_use", True, '{"hooks": {"PreToolUse": …}}'),
        ("before_subagent", "before_subagent", True, '{"hooks": {"SubagentStart": …}}'),
        ("PRE_INFERENCE", "before_inference", True, "`hooks` of an agent-hooks.toml"),
        ("on_stop", "on_stop", False, '{"hooks": {"Stop": …}}'),
    ],
)
def test_so_is_one_in_any_other_spelling(name, event, blocks, remedy):
    finding = only(read({"hooks": {}, name: GROUPS}).findings)
    assert (finding.event, finding.blocks) == (event, blocks)
    assert remedy in finding.remedy


@pytest.mark.parametrize("value", [{"matcher": "*"}, "check.sh", 7, True])
def test_a_gate_of_claude_code_at_the_top_is_said_whatever_is_in_it(value):
    assert only(read({"PreToolUse": value}).findings).blocks


@pytest.mark.parametrize(
    "top",
    [
        {"PreToolUse": []},
        {"PreToolUse": None},
        {"permissions": {"deny": ["Bash"]}},
        {"process": "x"},
        {"env": {"A": 1}},
    ],
)
def test_what_cannot_have_been_meant_for_hooks_is_none_of_ours(top):
    file = read(top)
    assert (file.findings, file.part) == ((), b"")


@pytest.mark.parametrize("name", ["Hooks", "HOOKS", "hook"])
def test_hooks_under_a_name_that_is_nearly_right_block_everywhere(name):
    file = read({name: {"PreToolUse": GROUPS}})
    finding = only(file.findings)
    assert (finding.kind, finding.event, finding.blocks) == ("not-honoured", "", True)
    assert (finding.remedy, file.part != b"") == ("Did you mean 'hooks'?", True)


def test_unknown_keys_are_said_and_ignored():
    file = read_hooks("PreToolUse", {"matchers": "Bash", "if": "Bash", "hooks": [command(timout=5, model="x")]})
    assert len(file.entries) == 1
    assert "timout" not in file.entries[0].config
    found = {finding.message.split("'")[1]: finding for finding in file.findings}
    assert found.keys() == {"matchers", "if", "timout", "model"}
    assert not any(finding.blocks or finding.kind != "unknown-key" for finding in file.findings)
    assert "'matcher'" in found["matchers"].remedy
    assert "each of the hooks" in found["if"].remedy
    assert "'timeout'" in found["timout"].remedy
    assert found["model"].remedy == "Remove it."


def test_a_finding_has_file_line_and_remedy():
    text = b'{\n"hooks": {"PreToolUse": [{"hooks": [\n{"type": "command", "command": "a",\n"once": -5}]}]}}'
    finding = only(read(text).findings)
    assert str(finding) == (
        f"{PATH}:4: A command hook on PreToolUse has a once that must be true or false, not a number. "
        "Repair or remove it."
    )


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


@pytest.mark.parametrize("data", UNREADABLE.values(), ids=UNREADABLE)
def test_a_file_that_cannot_be_read_blocks_everywhere(data):
    file = read(data)
    finding = only(file.findings)
    assert (finding.kind, finding.event, finding.blocks, finding.path) == ("unreadable", "", True, PATH)
    assert file.part == data
    assert not file.entries
    assert not file.settings


def test_a_key_that_is_there_twice_is_named_with_its_line():
    finding = only(read(b'{"hooks": {},\n"model": "x",\n"hooks": {}}').findings)
    assert (finding.kind, finding.line, finding.blocks) == ("unreadable", 3, True)
    assert "'hooks'" in finding.remedy


@pytest.mark.parametrize(
    "data", [b"", b" \n", b"\xef\xbb\xbf", b"{}", b'{"model": "opus", "permissions": {"allow": ["Bash"]}}']
)
def test_a_file_without_a_meaning_here_is_nothing(data):
    file = read(data)
    assert (file.entries, file.findings, file.settings, file.part) == ((), (), {}, b"")


def test_a_byte_order_mark_is_no_part_of_the_text():
    assert len(read(b"\xef\xbb\xbf" + json.dumps({"hooks": {"Stop": [{"hooks": [command()]}]}}).encode()).entries) == 1


def test_the_part_that_is_trusted_is_what_means_something():
    hooks = {"hooks": {"Stop": [{"hooks": [command()]}]}}
    one = read({**hooks, "model": "a", "disableAllHooks": False}).part
    assert json.loads(one) == {**hooks, "disableAllHooks": False}
    other = b'{"disableAllHooks":false,\n\n"hooks":%s, "env":{"A":"1"}}' % json.dumps(hooks["hooks"], indent=3).encode()
    assert read(other).part == one
    assert read({**hooks, "disableAllHooks": True}).part != one
    assert read({"hooks": {"Stop": [{"hooks": [command(x=1)]}]}}).part != read(hooks).part


def test_settings_are_those_that_are_set():
    everything = {
        "disableAllHooks": True,
        "allowManagedHooksOnly": True,
        "allowedHttpHookUrls": ["https://a/*"],
        "httpHookAllowedEnvVars": [],
    }
    assert read(everything, source="managed").settings == {
        "disable_all_hooks": True,
        "allow_managed_hooks_only": True,
        "allowed_http_hook_urls": ("https://a/*",),
        "http_hook_allowed_env_vars": (),
    }
    assert read({"hooks": {}}).settings == {}


@pytest.mark.parametrize("source", ["user", "project", "plugin"])
def test_only_who_manages_the_machine_switches_off_all_others(source):
    file = read({"allowManagedHooksOnly": True}, source=source)
    assert file.settings == {}
    finding = only(file.findings)
    assert (finding.kind, finding.blocks) == ("not-allowed", False)


def test_settings_that_are_wrong_switch_nothing_off_and_allow_nothing():
    wrong = {"disableAllHooks": "true", "allowedHttpHookUrls": "https://a", "httpHookAllowedEnvVars": [5]}
    file = read(wrong)
    assert file.settings == {"allowed_http_hook_urls": (), "http_hook_allowed_env_vars": ()}
    assert [finding.kind for finding in file.findings] == ["not-honoured"] * 3


def test_modules_of_a_plugin_are_claude_codes_alone():
    file = read({"modules": ["./register.ts"], "description": "d"})
    finding = only(file.findings)
    assert (finding.kind, finding.blocks) == ("not-honoured", False)
    assert not file.entries
    assert file.part


def test_hooks_of_a_plugin_have_a_description():
    file = read({"description": "d", "hooks": {"Stop": [{"hooks": [command()]}]}}, source="plugin", plugin_root="/p")
    assert only(file.entries).plugin_root == "/p"
    assert not file.findings


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


@pytest.mark.parametrize("event", ["Stop", "SubagentStop", "TaskCompleted", "TeammateIdle"])
def test_where_claude_code_ignores_on_failure_it_has_no_effect_here_and_that_is_a_finding(event):
    file = read_hooks(event, {"hooks": [command(onFailure="block")]})
    assert only(file.entries).on_failure is None
    finding = only(file.findings)
    assert (finding.kind, finding.blocks) == ("not-honoured", False)
    assert f"onFailure has no effect on {event}" in finding.message


@pytest.mark.parametrize("event", ["PreToolUse", "TaskCreated", "ConfigChange", "PostToolUse"])
def test_elsewhere_a_failure_blocks_where_on_failure_says_so(event):
    file = read_hooks(event, {"hooks": [command(onFailure="block")]})
    assert (only(file.entries).on_failure, file.findings) == ("closed", ())


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
