"""A handler's `if` lets it run for the tool calls that Claude Code would run it for, and where that cannot be told."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_hooks.engine.markers import WEAKLY
from agent_hooks.errors import RegistrationError
from agent_hooks.formats.claude.conditions import CommandLine, claude_if
from agent_hooks.model.context import HookContext
from agent_hooks.model.tool_call import ToolCall
from tables import tables

TABLES = tables(__file__)


def tool(name, args=None, *, cwd="/repo", **facts):
    return HookContext("before_tool_use", tool_call=ToolCall(name, args, **facts), cwd=cwd)


def bash(command):
    return tool("Bash", {"command": command})


def runs(rule, ctx, root="/repo"):
    return claude_if(rule, root)(ctx)


# -- commands ----------------------------------------------------------------------------------------------------------

COMMANDS = TABLES["commands"]


@pytest.mark.parametrize(
    ("rule", "command", "expected"), COMMANDS, ids=[f"{row[0]} {row[1][:30]!r}" for row in COMMANDS]
)
def test_a_rule_for_commands(rule, command, expected):
    assert runs(rule, bash(command)) == expected


@given(
    st.sampled_from(["Bash(rm *)", "Bash(git push *)", "Bash(*x*)", "Bash(a b)"]),
    st.text(alphabet="rm git push x\n'\"\\$(){}`<>&|;#=", max_size=50),
)
def test_any_command_has_an_answer(rule, command):
    assert runs(rule, bash(command)) in (True, False, WEAKLY)


@given(
    st.lists(st.sampled_from(["ls -l", "npm test", "echo 'a;b'"])), st.lists(st.sampled_from(["pwd", "(ls)", "f & g"]))
)
def test_a_command_that_fits_is_found_wherever_it_stands(before, after):
    line = " ; ".join([*before, "git push --force", *after])
    assert runs("Bash(git push *)", bash(line)) is True
    assert runs("Bash(git pull *)", bash(line)) is False


@pytest.mark.parametrize("rule", ["Bash(*a*a*a*a*a*a*b)", "Read(**/a/**/a/**/a/**/b)", "Read(*a*a*a*a*a*a*b)"])
def test_no_call_makes_a_rule_run_for_long(rule):
    began = time.perf_counter()
    assert runs(rule, bash("a" * 9_999)) is False
    assert runs(rule, tool("Read", {"file_path": "a/" * 2_000 + "c"})) is False
    assert runs(rule, tool("Read", {"file_path": "a" * 250})) is False
    assert time.perf_counter() - began < 10


# -- paths -------------------------------------------------------------------------------------------------------------

PATHS = TABLES["paths"]


@pytest.mark.parametrize(("rule", "path", "expected"), PATHS)
def test_a_rule_for_paths(rule, path, expected, monkeypatch):
    monkeypatch.setenv("HOME", "/home/me")
    assert runs(rule, tool("Edit", {"file_path": path})) == expected


def test_where_the_folder_or_the_command_is_not_known_the_answer_is_weak():
    assert runs("Read(src/**)", tool("Read", {"file_path": "/repo/src/a"}, cwd="")) == WEAKLY
    assert runs("Read(/src/**)", tool("Read", {"file_path": "/repo/src/a"}), root="") == WEAKLY
    assert runs("Bash(rm *)", bash("x" * 10_001)) == WEAKLY


def test_a_path_is_followed_to_where_it_really_is(tmp_path):
    project = tmp_path / "project"
    (project / "src").mkdir(parents=True)
    (project / "link").symlink_to(project / "src")
    (tmp_path / "alias").symlink_to(project)
    assert runs("Edit(src/**)", tool("Edit", {"file_path": "link/a.py"}, cwd=str(project))) is True
    real = tool("Edit", {"file_path": str(project / "src" / "a.py")}, cwd=str(tmp_path / "alias"))
    assert runs("Edit(src/**)", real) is True


# -- other tools -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("rule", "url", "expected"), TABLES["a_rule_for_addresses"])
def test_a_rule_for_addresses(rule, url, expected):
    assert runs(rule, tool("WebFetch", {"url": url})) == expected


@pytest.mark.parametrize(("rule", "call", "expected"), TABLES["other_tools"])
def test_a_rule_for_other_tools(rule, call, expected):
    assert runs(rule, tool("x").replace(tool_call=ToolCall.from_dict(call))) == expected


def test_a_denied_permission_is_read_from_its_payload():
    payload = {"tool_name": "Bash", "tool_input": {"command": "git push"}}
    ctx = HookContext("on_host_event", host_event="PermissionDenied", payload=payload, cwd="/repo")
    assert runs("Bash(git push *)", ctx) is True
    assert runs("Bash(git pull *)", ctx) is False
    edit = ctx.replace(payload={"tool_name": "Edit", "tool_input": {"file_path": "src/a"}})
    assert runs("Edit(src/**)", edit) is True
    server = ctx.replace(payload={"tool_name": "mcp__a__b", "tool_input": None})
    assert runs("mcp__a__*", server) is True
    assert runs("mcp__a", server) is True


def test_without_a_tool_call_it_does_not_run():
    assert runs("Bash", HookContext("on_stop")) is False


@pytest.mark.parametrize(
    "rule",
    ["", "(x)", "Bash(git *", "Bash(git *) || Bash(npm *)", "Bash git", "Bash, Edit", "Bäsh", "Bash(a))", "a(b)c"],
)
def test_what_is_not_one_rule_is_refused(rule):
    with pytest.raises(RegistrationError, match="not a permission rule"):
        claude_if(rule)


# -- the commands of a line

LINES = TABLES["lines"]


@pytest.mark.parametrize("text", LINES)
def test_the_commands_of_a_line(text):
    line = CommandLine(text)
    assert line.is_clear
    found = [" ".join(words) for words in line.commands]
    if "git commit" in text:  # its message is long
        found = [command.partition(" -m ")[0] for command in found]
    assert sorted(found) == sorted(LINES[text])


@pytest.mark.parametrize("text", TABLES["what_ends_in_the_middle_is_unclear"])
def test_what_ends_in_the_middle_is_unclear(text):
    assert not CommandLine(text).is_clear


@pytest.mark.parametrize("text", ["echo $(" * 1000, "(" * 1000, "${" * 1000, "`(" * 1000, "a" * 10_001])
def test_what_is_too_deep_or_too_long_is_unclear(text):
    assert not CommandLine(text).is_clear


@pytest.mark.parametrize(
    "text", ["echo $x", 'a "$x"', "echo ${x}", "echo $(a)", "echo `a`", "a $1", "cat <<E\n$x\nE\n"]
)
def test_it_expands(text):
    assert CommandLine(text).expands


@pytest.mark.parametrize("text", ["echo '$x'", "echo \\$x", "echo a$", "cat <<'E'\n$x `y`\nE\n", "echo $'a'", "ls 5$"])
def test_it_expands_nothing(text):
    assert not CommandLine(text).expands


@given(st.lists(st.text(alphabet="abc-/.é", min_size=1, max_size=8), min_size=1, max_size=5))
def test_plain_words_are_the_words(words):
    assert CommandLine(" ".join(words)).commands == [words]
