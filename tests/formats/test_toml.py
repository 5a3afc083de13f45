"""Reading ``agent-hooks.toml`` and ``[tool.agent_hooks]``."""

from __future__ import annotations

import json
import sys
from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_hooks.formats.claude.event_names import EVENTS
from agent_hooks.formats.entry import HookEntry
from agent_hooks.formats.toml import read_toml
from agent_hooks.model.context import HookContext
from agent_hooks.model.events import HookEvent
from formats.reading import check_case
from tables import tables

TABLES = tables(__file__)

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


@pytest.mark.parametrize("case", TABLES["files"], ids=lambda case: case["shows"])
def test_a_file_is_read(case):
    for source in case.get("sources", ["user"]):
        check_case(read(case["text"], source), case)


@pytest.mark.parametrize("name", ["before_tool_use", "PreToolUse", '"tool.pre"'])
def test_events_go_by_their_names_and_aliases(name):
    (entry,) = read(f"[[hooks.{name}]]\nhooks = [{{type = 'x'}}]").entries
    assert entry.event is HookEvent.BEFORE_TOOL_USE


@pytest.mark.parametrize("name", EVENTS)
def test_events_go_by_all_of_claude_codes_names(name):
    file = read(f"[[hooks.{name}]]\nhooks = [{{type = 'x'}}]")
    assert file.findings == ()
    (entry,) = file.entries
    assert (entry.event, entry.form) == (EVENTS[name].event, "toml")
    if entry.event is HookEvent.ON_HOST_EVENT:  # only Claude Code has it
        assert (entry.host_event, entry.is_gate) == (name, EVENTS[name].gate)
        assert entry.match is not None
        assert entry.match(HookContext("on_host_event", host_event=name)) is True
        assert entry.match(HookContext("on_host_event", host_event="Other")) is False
    else:
        assert entry.host_event == ""


def test_a_matcher_at_an_event_that_only_claude_code_has_follows_its_rules():
    (entry,) = read("[[hooks.ConfigChange]]\nmatcher = 'user_settings|skills'\nhooks = [{type = 'x'}]").entries
    assert entry.matcher == "user_settings|skills"
    assert entry.match is not None
    for source, met in (("skills", True), ("project_settings", False)):
        assert entry.match(HookContext("on_host_event", host_event="ConfigChange", payload={"source": source})) is met


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


def test_any_change_of_a_value_changes_the_part():
    texts = ["'shell'", '"shell "', "1", "1.0", "true", "'true'", "2024-01-01", "'2024-01-01'", "nan", "'NaN'"]
    parts = {read(f"[[hooks.setup]]\nmatcher = {text}").part for text in texts}
    assert len(parts) == len(texts)


# -- mistakes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "facts"), TABLES["mistakes"])
def test_a_mistake_is_told_with_its_place_and_blocks_where_it_would_have_decided(text, facts):
    file = read(text)
    check_case(file, {"findings": [facts]})
    assert file.part != b""  # else it could be repaired behind the back of who trusts
    assert file.settings.keys() <= {"tables"}


@pytest.mark.parametrize("source", ["user", "project", "managed"])
@pytest.mark.parametrize(("text", "facts"), TABLES["misplaced"])
def test_hooks_of_an_event_that_are_not_below_hooks_close_its_gates(source, text, facts):
    check_case(read(text, source), {"findings": [{"kind": "not-honoured", **facts}]})


@pytest.mark.parametrize("text", TABLES["tables_of_plugins"])
def test_a_table_of_a_plugin_is_not_taken_for_a_mistake(text):
    file = read(text)
    assert (file.findings, file.settings.keys()) == ((), {"tables"})


@pytest.mark.parametrize("text", TABLES["strange_pyprojects"])
def test_a_pyproject_without_the_table_is_none_of_ours(text):
    assert read_pyproject(text) is None


@pytest.mark.parametrize(("text", "facts"), TABLES["mistakes_of_a_pyproject"])
def test_what_was_surely_meant_for_us_in_a_pyproject_blocks(text, facts):
    file = read_pyproject(text)
    assert file is not None
    check_case(file, {"findings": [{"blocks": True, **facts}]})
    assert file.part != b""


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
    assert read_pyproject(b"\xff agent") is None


def test_an_expression_that_a_project_may_not_use_is_its_finding(monkeypatch):
    """It needs RE2 there."""
    monkeypatch.setitem(sys.modules, "re2", None)
    text = "[[hooks.PreToolUse]]\nmatcher = '^(a|b)$'\nhooks = [{type = 'x'}]"
    assert read(text).findings == ()
    assert "agent-hooks-core[re2]" in only_finding(text, "project").message


def test_a_misplaced_table_takes_nothing_from_the_right_one():
    file = read_pyproject("[agent_hooks]\nx = 1\n[tool.agent_hooks]\ndisabled = ['a']\n", source="user")
    assert file is not None
    assert file.settings == {"disabled": ["a"]}
    assert [(finding.kind, finding.line) for finding in file.findings] == [("unknown-key", 1)]


def test_a_file_of_mistakes_is_not_read_to_its_end_and_blocks():
    """Looking for what each was meant to be would keep whoever looks at a strange project."""
    findings = read("".join(f"[[hooks.PreToolUs{number}]]\n" for number in range(20_000))).findings
    assert len(findings) == 101
    assert (findings[-1].kind, findings[-1].event, findings[-1].blocks) == ("unreadable", "", True)
    assert "more than 100 mistakes" in str(findings[-1])


def test_a_finding_stays_the_same_when_its_line_moves():
    text = "[[hooks.PreToolUse]]\nhooks = [{}]"
    assert only_finding(text).id == only_finding(f"\n# more\n{text}").id


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
