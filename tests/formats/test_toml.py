"""Reading ``agent-hooks.toml`` and ``[tool.agent_hooks]``."""

from __future__ import annotations

import json
import sys
from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_hooks.formats.claude.event_names import EVENTS
from agent_hooks.formats.entry import HookEntry, Permits
from agent_hooks.formats.toml import read_toml
from agent_hooks.model.context import HookContext
from agent_hooks.model.events import HookEvent

pytestmark = pytest.mark.interpreter

CHECK = """
[[hooks.before_tool_use]]
matcher = "shell"
  [[hooks.before_tool_use.hooks]]
  type = "command"
  command = ["python3", "hooks/check.py"]
"""


def read(text, source="user", **fields):
    """What an agent-hooks.toml says; there always is something to say about one."""
    found = read_toml(dedent(text).encode(), path="/p/agent-hooks.toml", source=source, **fields)
    assert found is not None
    return found


def read_pyproject(text, source="project"):
    data = text if isinstance(text, bytes) else dedent(text).encode()
    return read_toml(data, path="/p/pyproject.toml", source=source, pyproject=True, project_dir="/p")


def found_in(text, source="user"):
    """Each finding of a file as its kind, line, event, and whether it blocks."""
    return [(f.kind, f.line, f.event, f.blocks) for f in read(text, source).findings]


def only_finding(text, source="user"):
    (finding,) = read(text, source).findings
    return finding


# -- what a file holds -------------------------------------------------------------------------------------------------


def test_a_handler_becomes_an_entry_that_knows_where_it_stands():
    (entry,) = read(CHECK, "project", project_dir="/p").entries
    assert entry == HookEntry(
        event=HookEvent.BEFORE_TOOL_USE,
        type="command",
        config={"command": ["python3", "hooks/check.py"]},
        source="project",
        matcher="shell",
        path="/p/agent-hooks.toml",
        line=4,
        directory="/p",
        project_dir="/p",
    )
    assert (entry.form, entry.mode, entry.origin) == ("toml", "gate", "agent-hooks.toml:4")


def test_every_key_of_a_matcher_is_in_its_entries():
    text = """
        [[hooks.PreToolUse]]
        matcher = "read|write"
        mode = "observe"
        background = true
        priority = 50
        on_failure = "ask"
        required = true
        shadow = true
        name = "mine"
        hooks = [{type = "a"}, {type = "b", x = {y = 1}}]
    """
    one, other = read(text).entries
    assert (one.type, one.config, other.type, other.config) == ("a", {}, "b", {"x": {"y": 1}})
    for entry in (one, other):
        assert (entry.event, entry.matcher, entry.name) == ("before_tool_use", "read|write", "mine")
        assert (entry.mode, entry.is_async, entry.priority) == ("observe", True, 50)
        assert (entry.on_failure, entry.required, entry.shadow) == ("ask", True, True)
        assert entry.line == 11


@pytest.mark.parametrize("name", ["before_tool_use", "PreToolUse", '"tool.pre"'])
def test_events_go_by_their_names_and_aliases(name):
    (entry,) = read(f"[[hooks.{name}]]\nhooks = [{{type = 'x'}}]").entries
    assert entry.event is HookEvent.BEFORE_TOOL_USE


HOST_EVENTS = [name for name, event in EVENTS.items() if event.event is HookEvent.ON_HOST_EVENT]


@pytest.mark.parametrize("name", EVENTS)
def test_events_go_by_all_of_claude_codes_names(name):
    file = read(f"[[hooks.{name}]]\nhooks = [{{type = 'x'}}]")
    assert file.findings == ()
    (entry,) = file.entries
    assert (entry.event, entry.form) == (EVENTS[name].event, "toml")
    assert entry.host_event == (name if name in HOST_EVENTS else "")


@pytest.mark.parametrize("name", HOST_EVENTS)
def test_an_event_that_only_claude_code_has_is_found_by_its_name(name):
    (entry,) = read(f"[[hooks.{name}]]\nhooks = [{{type = 'x'}}]").entries
    assert entry.is_gate == EVENTS[name].gate
    assert entry.match is not None
    assert entry.match(HookContext("on_host_event", host_event=name)) is True
    assert entry.match(HookContext("on_host_event", host_event="Other")) is False


def test_a_matcher_at_an_event_that_only_claude_code_has_follows_its_rules():
    (entry,) = read("[[hooks.ConfigChange]]\nmatcher = 'user_settings|skills'\nhooks = [{type = 'x'}]").entries
    assert entry.matcher == "user_settings|skills"
    assert entry.match is not None
    for source, met in (("skills", True), ("project_settings", False)):
        ctx = HookContext("on_host_event", host_event="ConfigChange", payload={"source": source})
        assert entry.match(ctx) is met


@pytest.mark.parametrize(
    ("name", "text", "blocks"),
    [
        ("TaskCreated", "matcher = 5\nhooks = [{type = 'x'}]", True),
        ("ConfigChange", "matcher = '('\nhooks = [{type = 'x'}]", True),
        ("ConfigChange", "matcher = 'skills'\nhooks = [{}]", True),
        ("ConfigChange", "mode = 'observe'\nhooks = [{}]", False),
        ("FileChanged", "hooks = []", False),
    ],
)
def test_what_is_wrong_at_an_event_that_only_claude_code_has_blocks_there_alone(name, text, blocks):
    finding = only_finding(f"[[hooks.{name}]]\n{text}")
    assert (finding.event, finding.matcher, finding.blocks) == ("on_host_event", name, blocks)


def test_the_settings_are_those_that_are_set():
    text = """
        disabled = ["name"]
        ignore = ["3f2a91c0ffee"]
        claude_plugins = ["./plugin"]
        claude_settings = false
        [policy]
        on_gate_failure = "closed"
        timeout = 3
        [permits]
        env = ["TOKEN"]
        hosts = ["a.example"]
        [guards]
        max_steps = 3
        when = 2024-01-01
        [prompts.x]
    """
    file = read(text)
    assert file.findings == ()
    settings = dict(file.settings)
    plugins = settings.pop("tables")
    assert plugins["guards"]["max_steps"] == 3
    assert plugins["prompts"] == {"x": {}}
    assert settings == {
        "disabled": ["name"],
        "ignore": ["3f2a91c0ffee"],
        "claude_plugins": ["./plugin"],
        "claude_settings": False,
        "policy": {"on_gate_failure": "closed", "timeout": 3},
        "permits": Permits(env=("TOKEN",), hosts=("a.example",)),
    }
    assert read("").settings == {}


def test_entries_bear_what_their_file_permits_wherever_it_says_so():
    (entry,) = read(CHECK + '[permits]\nheader_env = ["X"]').entries
    assert entry.permits == Permits(header_env=("X",))


def test_relative_paths_start_where_the_reader_says_and_else_beside_the_file():
    assert read(CHECK).entries[0].directory == "/p"
    assert read(CHECK, directory="/elsewhere").entries[0].directory == "/elsewhere"


def test_a_pyproject_has_the_same_keys_in_its_table():
    text = CHECK.replace("hooks.before", "tool.agent_hooks.hooks.before")
    guards = "\n[{}guards]\nmax_steps = 1"
    file = read_pyproject(f"[project]\nname = 'x'\n{text}{guards.format('tool.agent_hooks.')}")
    assert file is not None
    assert (file.path, file.source, file.findings) == ("/p/pyproject.toml", "project", ())
    (entry,) = file.entries
    assert (entry.type, entry.matcher, entry.origin) == ("command", "shell", "pyproject.toml:6")
    assert file.settings == {"tables": {"guards": {"max_steps": 1}}}
    assert file.lines[("guards", "max_steps")] == 11
    assert file.part == read(CHECK + guards.format("")).part


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[project]\nname = 'my-agent'",
        "[tool.agent_tools]\nhooks = 1",
        "tool = 1 # agent",
        "[tool.agent_hooks]",
        "[hooks]\nvcs = 1",
        "[tool.hatch.build.hooks.vcs]",
        "[project]\nname = 'agent",  # broken, and nothing of ours
        b"\xff agent",
    ],
)
def test_a_pyproject_without_the_table_is_none_of_ours(text):
    assert read_pyproject(text) is None


# -- what a trust is about ---------------------------------------------------------------------------------------------


def test_the_part_is_what_has_a_meaning_here_however_it_is_written():
    one = read("disabled = ['b']\n" + CHECK)
    other = read(
        """
        # the same, in other words
        'disabled' = [ "b", ]
        [[hooks . 'before_tool_use']]
        hooks = [{command = ['python3', 'hooks/check.py'], type = 'command'}]
        matcher = 'shell'
        """
    )
    assert one.part == other.part != b""
    assert json.loads(one.part)["disabled"] == ["b"]


@pytest.mark.parametrize("text", ["", "# nothing"])
def test_there_is_no_part_where_there_are_no_settings(text):
    assert read(text).part == b""


def test_the_settings_of_plugins_are_in_the_part():
    """A trust is about them too."""
    assert json.loads(read("[guards]\nmax_steps = 1").part) == {"guards": {"max_steps": 1}}
    assert read("[guards]\nmax_steps = 1").part != read("[guards]\nmax_steps = 2").part


@pytest.mark.parametrize(
    "change", ["'shell'", '"shell "', "1", "1.0", "true", "'true'", "2024-01-01", "'2024-01-01'", "nan", "'NaN'"]
)
def test_any_change_of_a_value_changes_the_part(change):
    texts = ["'shell'", '"shell "', "1", "1.0", "true", "'true'", "2024-01-01", "'2024-01-01'", "nan", "'NaN'"]
    parts = {text: read(f"[[hooks.setup]]\nmatcher = {text}").part for text in texts}
    assert [text for text in texts if parts[text] == parts[change]] == [change]


def test_what_is_wrong_is_part_of_it_too():
    """Else it could be repaired behind the back of who trusts."""
    assert read("[[hooks.nope]]\nx = 1").part != b""
    assert read("polcy = 1").part != b""


# -- mistakes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b"[hooks\nx = 1", 1),
        (b"a = 1\na = 2\n", 2),
        (b"\xff\xfe", 0),
        ("[hooks]".encode("utf-16"), 0),
        (b"a = " + b"[" * 5000, 0),
        (b"a = 0x" + b"1" * 10_000, 0),  # more than the part can hold
    ],
)
def test_a_file_that_is_not_toml_blocks_and_is_trusted_by_its_bytes(data, line):
    file = read_toml(data, path="/p/agent-hooks.toml", source="project")
    assert file is not None
    (finding,) = file.findings
    assert (finding.kind, finding.line, finding.event, finding.blocks) == ("unreadable", line, "", True)
    assert str(finding).startswith("/p/agent-hooks.toml:")
    assert "not TOML in UTF-8" in finding.message
    assert (file.part, file.entries, file.settings) == (data, (), {})


def test_a_broken_pyproject_that_names_us_blocks():
    for text in ("[tool.agent_hooks\n", "[tool.agent-hooks]\nx = ", "# agent_hooks\n\ufeff".encode("utf-16")):
        file = read_pyproject(text)
        assert file is not None
        assert [(finding.kind, finding.blocks) for finding in file.findings] == [("unreadable", True)]


def test_one_wrong_entry_blocks_where_it_would_have_decided_and_the_others_are_kept():
    text = (
        CHECK
        + """
  [[hooks.before_tool_use.hooks]]
  command = "no type"
  [[hooks.before_tool_use.hooks]]
  type = 3
[[hooks.user_input]]
hooks = [{type = "x"}]
"""
    )
    file = read(text)
    assert [(entry.event, entry.type) for entry in file.entries] == [
        ("before_tool_use", "command"),
        ("user_input", "x"),
    ]
    missing, number = file.findings
    assert str(missing) == "/p/agent-hooks.toml:8: hooks.before_tool_use[0].hooks[1].type is missing. Add it."
    assert (number.line, number.kind) == (11, "not-honoured")
    for finding in file.findings:
        assert (finding.event, finding.matcher, finding.blocks) == ("before_tool_use", "shell", True)


def test_a_wrong_option_costs_its_own_matcher_only():
    text = "[[hooks.PreToolUse]]\nmatcher = 'a'\nprio = 1\nhooks = [{type = 'x'}]\n"
    file = read(text + "[[hooks.PreToolUse]]\nhooks = [{type = 'y'}]")
    assert [entry.type for entry in file.entries] == ["y"]
    (finding,) = file.findings
    assert (finding.line, finding.event, finding.matcher, finding.blocks) == (3, "before_tool_use", "a", True)
    assert str(finding).endswith("Did you mean 'priority'?")


@pytest.mark.parametrize("matcher", ["'['", "', ,'", "3", "['a']"])
def test_a_wrong_matcher_may_have_meant_any_call(matcher):
    finding = only_finding(f"[[hooks.PreToolUse]]\nmatcher = {matcher}\nhooks = [{{type = 'x'}}]")
    assert (finding.line, finding.event, finding.matcher, finding.blocks) == (2, "before_tool_use", None, True)


def test_an_expression_that_a_project_may_not_use_is_its_finding(monkeypatch):
    """It needs RE2 there."""
    monkeypatch.setitem(sys.modules, "re2", None)
    text = "[[hooks.PreToolUse]]\nmatcher = '^(a|b)$'\nhooks = [{type = 'x'}]"
    assert read(text).findings == ()
    assert "agent-hooks-core[re2]" in only_finding(text, "project").message


@pytest.mark.parametrize(
    "text",
    [
        "[[hooks.PreToolUse]]\ntype = 'command'\ncommand = 'x'",
        "[[hooks.PreToolUse]]\nmatcher = 'x'",
        "[[hooks.PreToolUse]]\nhooks = []",
        "[[hooks.PreToolUse]]\nhooks = {type = 'x'}",
    ],
)
def test_a_matcher_without_handlers_is_told_where_they_belong(text):
    finding = only_finding(text)
    assert (finding.line, finding.event, finding.blocks) == (1, "before_tool_use", True)
    assert str(finding).endswith("has no handlers. Write each below the matcher, under [[hooks.PreToolUse.hooks]].")


@pytest.mark.parametrize("text", ["[hooks.setup]\nhooks = []", "hooks.setup = ['x']", "hooks.setup = 1"])
def test_an_event_with_single_brackets_is_told_so(text):
    finding = only_finding(text)
    assert str(finding).endswith("hooks.setup must be a list of tables. Write [[hooks.setup]], with double brackets.")


@pytest.mark.parametrize(
    ("event", "mode", "blocks"),
    [
        ("before_tool_use", "gate", True),
        ("should_continue", "transform", True),
        ("before_tool_use", "observe", False),
        ("session_end", "gate", False),
        ("after_tool_use", "gate", False),
    ],
)
def test_a_wrong_entry_blocks_only_where_it_could_have_decided(event, mode, blocks):
    assert only_finding(f"[[hooks.{event}]]\nmode = '{mode}'\nhooks = [{{}}]").blocks is blocks


@pytest.mark.parametrize(
    ("name", "event", "remedy"),
    [
        ("PreToolUze", "before_tool_use", "Did you mean 'PreToolUse'?"),
        ("before_tool", "before_tool_use", "Did you mean 'before_tool_use'?"),
        ("Notificatoin", "", "Did you mean 'Notification'?"),
        ("Frobnicate", "", "`agent-hooks events` lists them all."),
        ("FilesChanged", "", "Did you mean 'FileChanged'?"),
        ("TaskCreate", "on_host_event", "Did you mean 'TaskCreated'?"),
    ],
)
def test_an_unknown_event_blocks_where_it_is_near_one_of_gates(name, event, remedy):
    finding = only_finding(f"[[hooks.{name}]]\nhooks = [{{type = 'x'}}]")
    assert (finding.kind, finding.line, finding.event, finding.blocks) == ("unknown-event", 1, event, bool(event))
    assert finding.remedy == remedy


def test_hooks_that_are_no_table_block_everywhere():
    finding = only_finding("hooks = []")
    assert (finding.event, finding.blocks) == ("", True)
    assert str(finding).endswith("hooks must be a table of events, not a list. Write [[hooks.before_tool_use]].")


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("[[hook.PreToolUse]]", True),
        ("[Hooks]", True),
        ("[polcy]\nask_fallback = 'deny'", True),
        ("claude_plugin = ['x']", True),
        ("[tool.agent_hooks.hooks]", True),
        ("[permit]\nenv = []", False),
        ("disable = ['x']", False),
        ("frobnicate = 1", False),
        ("[[guards]]\nmax_steps = 1", False),
    ],
)
def test_a_key_that_is_none_blocks_if_gates_may_be_lost_with_it(text, blocks):
    assert found_in(text) == [("unknown-key", 1, "", blocks)]
    assert read(text).settings.keys() <= {"tables"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("hook = 1", "Did you mean 'hooks'?"),
        ("Disabled = 1", "Did you mean 'disabled'?"),
        ("guards = 1", "The settings of a plugin are a table."),
        ("[tool.agent_hooks]", "Leave out tool.agent_hooks in this file: its keys are at the top."),
    ],
)
def test_a_key_that_is_none_is_told_what_was_meant(text, said):
    assert said in str(only_finding(text))


@pytest.mark.parametrize("name", ["guards", "prompts", "subagents", "projects", "policies", "audit", "x"])
def test_the_names_of_plugins_are_not_taken_for_mistakes(name):
    assert found_in(f"[{name}]\nhooks = 1") == []


@pytest.mark.parametrize(
    ("text", "kind", "line", "said"),
    [
        ("[tool.agent-hooks]\nx = 1", "unknown-key", 1, "Nobody reads tool.agent-hooks. Write [tool.agent_hooks]."),
        ("[tool.agent_hook.hooks]", "unknown-key", 1, "Nobody reads tool.agent_hook. Write [tool.agent_hooks]."),
        ("[tool]\nagent_hooks = 1", "unknown-key", 2, "tool.agent_hooks must be a table, not a number."),
        ("\n[agent_hooks]\nx = 1", "unknown-key", 2, "Nobody reads agent_hooks. Write [tool.agent_hooks]."),
        ("[[agent_hooks.hooks.setup]]", "unknown-key", 1, "Nobody reads agent_hooks. Write [tool.agent_hooks]."),
        ("[agent-hooks]\nx = 1", "unknown-key", 1, "Nobody reads agent-hooks. Write [tool.agent_hooks]."),
        ("[agenthooks]\nx = 1\n[tool.ruff]", "unknown-key", 1, "Write [tool.agent_hooks]."),
        ("[[hooks.before_tool_use]]", "unknown-key", 1, "Nobody reads hooks. Write [tool.agent_hooks.hooks]."),
        ("[hooks]\nPreToolUse = []", "unknown-key", 1, "Nobody reads hooks. Write [tool.agent_hooks.hooks]."),
    ],
)
def test_a_table_of_a_pyproject_that_was_surely_meant_for_us_blocks(text, kind, line, said):
    file = read_pyproject(text)
    assert file is not None
    (finding,) = file.findings
    assert (finding.kind, finding.line, finding.blocks) == (kind, line, True)
    assert said in str(finding)
    assert file.part != b""


def test_a_misplaced_table_takes_nothing_from_the_right_one():
    file = read_pyproject("[agent_hooks]\nx = 1\n[tool.agent_hooks]\ndisabled = ['a']\n", source="user")
    assert file is not None
    assert file.settings == {"disabled": ["a"]}
    assert [(finding.kind, finding.line) for finding in file.findings] == [("unknown-key", 1)]


def test_keys_of_a_pyproject_are_named_in_full():
    file = read_pyproject("[[tool.agent_hooks.hooks.setup]]\nx = 1\nhooks = [{type = 'x'}]")
    assert file is not None
    assert [str(finding).partition(" is ")[0] for finding in file.findings] == [
        "/p/pyproject.toml:2: tool.agent_hooks.hooks.setup[0].x"
    ]


def test_one_wrong_setting_costs_only_itself():
    text = """
        ignore = ["nope"]
        disabled = ["a"]
        claude_plugins = "x"
        claude_settings = 1
        [policy]
        timeout = "x"
        max_retries = 1
        [permits]
        env = "x"
        hosts = ["h"]
    """
    file = read(text)
    assert file.settings == {"disabled": ["a"], "policy": {"max_retries": 1}, "permits": Permits(hosts=("h",))}
    # A policy that cannot be honoured may have been a stricter one, a plugin's hooks may have been gates.
    assert {(finding.line, finding.blocks) for finding in file.findings} == {
        (2, False),
        (4, True),
        (5, False),
        (7, True),
        (10, False),
    }


def test_a_file_of_mistakes_is_not_read_to_its_end_and_blocks():
    """Looking for what each was meant to be would keep whoever looks at a strange project."""
    findings = read("".join(f"[[hooks.PreToolUs{number}]]\n" for number in range(20_000))).findings
    assert len(findings) == 101
    assert (findings[-1].kind, findings[-1].event, findings[-1].blocks) == ("unreadable", "", True)
    assert "more than 100 mistakes" in str(findings[-1])


def test_a_finding_stays_the_same_when_its_line_moves():
    text = "[[hooks.PreToolUse]]\nhooks = [{}]"
    assert only_finding(text).id == only_finding(f"\n# more\n{text}").id


# -- projects ----------------------------------------------------------------------------------------------------------

LOOSENING = """
disabled = ["x"]
ignore = ["3f2a91c0ffee"]
claude_settings = false
[policy]
on_gate_failure = "open"
ask_fallback = "allow"
timeout = 0.01
[permits]
env = ["TOKEN"]
[[hooks.before_tool_use]]
mode = "transform"
on_failure = "ask"
shadow = true
priority = 3
hooks = [{type = "x"}]
[[hooks.before_tool_use]]
on_failure = "open"
hooks = [{type = "x"}]
"""


def test_a_project_cannot_loosen_and_is_told_so_without_blocking():
    file = read(LOOSENING, "project")
    assert file.settings == {}
    assert [(entry.mode, entry.on_failure, entry.shadow, entry.priority) for entry in file.entries] == [
        ("gate", None, False, 3),
        ("gate", None, False, 0),
    ]
    assert all(entry.permits == Permits() for entry in file.entries)
    assert sorted(finding.line for finding in file.findings) == [2, 3, 4, 6, 7, 8, 9, 12, 13, 14, 18]
    assert {(finding.kind, finding.blocks) for finding in file.findings} == {("not-allowed", False)}
    assert str(next(finding for finding in file.findings if finding.line == 6)) == (
        "/p/agent-hooks.toml:6: A project may only tighten, so policy.on_gate_failure has no effect as it is. "
        "Remove it; the user's own agent-hooks.toml may say it."
    )


@pytest.mark.parametrize("source", ["user", "managed"])
def test_the_user_and_who_manages_the_machine_may_say_all_of_it(source):
    file = read(LOOSENING, source)
    assert file.findings == ()
    assert set(file.settings) == {"disabled", "ignore", "claude_settings", "policy", "permits"}
    assert [(entry.mode, entry.on_failure, entry.shadow) for entry in file.entries] == [
        ("transform", "ask", True),
        ("gate", "open", False),
    ]


def test_a_project_may_tighten():
    text = """
        claude_plugins = ["x"]
        [policy]
        on_gate_failure = "closed"
        ask_fallback = "deny"
        require_project_gates = true
        [[hooks.before_tool_use]]
        mode = "observe"
        on_failure = "closed"
        required = true
        shadow = false
        hooks = [{type = "x"}]
    """
    file = read(text, "project")
    assert file.findings == ()
    assert file.settings == {
        "claude_plugins": ["x"],
        "policy": {"on_gate_failure": "closed", "ask_fallback": "deny", "require_project_gates": True},
    }
    (entry,) = file.entries
    assert (entry.mode, entry.on_failure, entry.required) == ("observe", "closed", True)


# -- anything ----------------------------------------------------------------------------------------------------------

WORDS = st.sampled_from(
    "hooks policy permits disabled ignore matcher mode gate transform type command before_tool_use PreToolUse "
    "on_failure open shell * [ tool agent_hooks guards".split()
)
VALUES = st.recursive(
    st.one_of(st.booleans(), st.integers(-2, 2), WORDS),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=8,
)


def as_toml(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f'"{key}" = {as_toml(inner)}' for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return f"[{', '.join(map(as_toml, value))}]"
    return json.dumps(value)


@given(st.dictionaries(WORDS, VALUES, max_size=4), st.sampled_from(["project", "user"]))
def test_whatever_is_in_a_file_each_handler_is_an_entry_or_something_is_said_about_it(table, source):
    text = "".join(f'"{key}" = {as_toml(value)}\n' for key, value in table.items())
    file = read(text, source)
    hooks = table.get("hooks", {})
    wanted = sum(len(each.get("hooks") or [0]) for each in tables_of(hooks)) if isinstance(hooks, dict) else 0
    assert len(file.entries) <= wanted
    if len(file.entries) < wanted:
        assert any(finding.kind in ("not-honoured", "unknown-event") for finding in file.findings)
    known = {"policy", "permits", "disabled", "ignore", "hooks"}
    for key in table.keys() - known:
        assert key in file.settings.get("tables", {}) or any(key in finding.message for finding in file.findings)


def tables_of(hooks):
    for value in hooks.values():
        for table in value if isinstance(value, list) else [value]:
            yield table if isinstance(table, dict) and isinstance(table.get("hooks"), list) else {}


@given(st.binary(max_size=60))
def test_whatever_the_bytes_are_there_is_an_answer(data):
    file = read_toml(data, path="/p/agent-hooks.toml", source="project")
    assert file is not None
    assert not file.entries
    assert read_pyproject(data) is None or file.findings


# -- hooks that are not below `hooks` ----------------------------------------------------------------------------------


@pytest.mark.parametrize("source", ["user", "project", "managed"])
@pytest.mark.parametrize(
    ("text", "line", "event", "blocks"),
    [
        ("[[before_tool_use]]\nhooks = [{type = 'command', command = 'true'}]", 1, "before_tool_use", True),
        ("\n[[PreToolUse]]\nmatcher = 'x'", 2, "before_tool_use", True),
        ("[[pre_tool_use]]\nx = 1", 1, "before_tool_use", True),
        ("[before_tool_use]\nhooks = []", 1, "before_tool_use", True),
        ("[user_input]\ncommand = 'x'", 1, "user_input", True),
        ("[[befor_tool_use]]\nmatcher = 'x'", 1, "before_tool_use", True),
        ("[[notification]]\nmatcher = 'x'", 1, "notification", False),
    ],
)
def test_hooks_of_an_event_that_are_not_below_hooks_close_its_gates(source, text, line, event, blocks):
    assert found_in(text, source) == [("not-honoured", line, event, blocks)]
    (finding,) = read(text, source).findings
    assert finding.remedy.startswith("Write [[hooks.")


def test_in_a_pyproject_too():
    file = read_pyproject("[[tool.agent_hooks.before_tool_use]]\nmatcher = 'x'")
    assert file is not None
    (finding,) = file.findings
    assert (finding.kind, finding.line, finding.blocks) == ("not-honoured", 1, True)
    assert finding.remedy == "Write [[tool.agent_hooks.hooks.before_tool_use]]."


@pytest.mark.parametrize("text", ["[setup]\nx = 1", "[notification]\nsound = true", "[stop]\n[stop.words]"])
def test_a_plugin_may_be_called_like_an_event(text):
    assert found_in(text) == []
    assert read(text).settings["tables"]
