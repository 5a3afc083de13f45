"""What ``build`` says about hooks and tools that will never meet."""

from __future__ import annotations

import logging
import re
from typing import Any

import pytest

from agent_hooks import AgentBuilder, HookOutcome, MetadataMatcher, PathMatcher, ToolNameMatcher, hookimpl
from agent_hooks.errors import PriorityConflictError, RegistrationError
from agent_hooks.runtime.build_checks import check_matches, check_priorities
from agent_hooks.runtime.driver import ScriptedDriver
from agent_hooks.runtime.python_tools import tool
from engine import Plugin, called, shell
from runtime.agents import call
from tables import tables

TABLES = tables(__file__)


@tool(kind="shell")
def run_shell(command: str) -> str:
    """Run a command."""
    return command


@tool(kind="read", aliases=["cat"])
def read_file(path: str) -> str:
    """Read a file."""
    return path


def say(text: str) -> str:
    """Say something."""
    return text


def run(command: str) -> str:
    """Run a command."""
    return command


def deny():
    return HookOutcome.deny("no")


def builder(*tools, **matches):
    made = AgentBuilder(plugins=()).with_driver(ScriptedDriver("done")).with_tools(*tools)
    for name, match in matches.items():
        made = made.before_tool_use(deny, match=match, name=name)
    return made


@pytest.fixture
def warned(caplog):
    """The warnings that building gives."""

    def build(made):
        with caplog.at_level(logging.WARNING, "agent_hooks"):
            made.build()
        return [record.getMessage() for record in caplog.records]

    return build


@pytest.mark.parametrize(
    "match",
    [
        "shell",
        "fetch|delete",
        "^Web",
        re.compile("^Web"),
        "fs_*",
        ToolNameMatcher("shell"),
        ToolNameMatcher("shell") & MetadataMatcher("k"),
    ],
    ids=called,
)
def test_a_hook_whose_match_meets_no_tool_is_named(warned, match):
    (text,) = warned(builder(read_file, say, gate=match))
    assert "hook gate is never asked" in text
    assert "read_file, say" in text


@pytest.mark.parametrize(
    "match",
    [
        *("read", "Read", "shell|read", "cat", "read_file", "view", "*", "say", "^read", "re*"),
        *(
            PathMatcher("**"),
            lambda ctx: False,
            ~ToolNameMatcher("shell"),
            ToolNameMatcher("shell") | MetadataMatcher("k"),
        ),
    ],
    ids=called,
)
def test_a_hook_that_may_be_asked_is_not(warned, match):
    assert warned(builder(read_file, say, gate=match)) == []


def test_a_hook_of_another_event_is_not(warned):
    assert warned(builder(say).hook("before_subagent", deny, match="helper")) == []


@pytest.mark.parametrize(("slip", "meant"), [("shel", "shell"), ("run_shel", "run_shell")])
def test_a_slip_of_a_kind_or_of_an_own_tool_is_an_error_that_says_what_was_meant(slip, meant):
    with pytest.raises(RegistrationError, match=rf"gate matches '{slip}'.*Did you mean '{meant}'\?"):
        builder(run_shell, gate=slip).build()


def test_the_name_of_an_own_tool_is_known_however_near_it_is_to_another(warned):
    def shel(text: str) -> str:
        """Say something."""
        return text

    assert warned(builder(shel, gate="shel")) == []


def test_an_unknown_name_is_named_and_how_to_declare_it(warned):
    (text,) = warned(builder(say, gate="hash"))
    assert "'hash'" in text
    assert "known_tools" in text


def test_a_slip_of_a_plugin_is_logged_and_closes(caplog, manager):
    manager.register(Plugin(before_tool_use=hookimpl(match="shel", name="gate")(deny)), source="plugin")
    with caplog.at_level(logging.WARNING, "agent_hooks"):
        check_matches(manager, [run_shell])
    assert "Did you mean 'shell'?" in caplog.text
    assert manager.hooks().dispatch_sync(shell()).failed


@pytest.mark.parametrize(
    ("argument", "kind"), [("command", "shell"), ("cmd", "shell"), ("path", "read"), ("url", "fetch")]
)
def test_a_tool_without_a_kind_that_looks_like_one_is_named_where_hooks_match_kinds(warned, argument, kind):
    made: dict[str, Any] = {}
    exec(f"def run({argument}: str) -> str:\n    \"Do it.\"\n    return ''", made)
    (text,) = warned(builder(made["run"], run_shell, gate="shell"))
    assert f"The tool run takes {argument!r} but has no kind" in text
    assert f'kind="{kind}"' in text


@pytest.mark.parametrize("match", ["*", "run", re.compile("^run$")], ids=called)
def test_where_no_hook_matches_a_kind_it_is_not(warned, match):
    assert warned(builder(run, gate=match)) == []


def test_a_hook_for_a_tool_means_that_tool_in_the_agent_that_has_it():
    notes = tool(lambda name: name, name="read_notes", kind="read")
    driver = ScriptedDriver([call("read_notes", name="x"), call("read_file", path="x")], "done")
    state = builder(read_file, notes, gate="read_file").with_driver(driver).build().run_sync("go")
    assert [execution.was_blocked for execution in state.steps[0].executions] == [False, True]


DENY = hookimpl(lambda: HookOutcome.deny("no"))


@pytest.mark.parametrize(
    ("first", "second", "conflict"), [*TABLES["conflicts"], ({"match": "Read"}, {"match": lambda ctx: True}, True)]
)
def test_two_plugins_conflict_if_their_order_would_be_an_accident(manager, first, second, conflict):
    for name, options in (("one", first), ("two", second)):
        manager.register(Plugin(before_tool_use=hookimpl(**options)(lambda: None)), name)
    if conflict:
        with pytest.raises(
            PriorityConflictError, match=r"one\..* and two\..* both run on before_tool_use with priority 0"
        ):
            check_priorities(manager)
    else:
        check_priorities(manager)


def test_hooks_of_one_plugin_do_not_conflict(manager):
    manager.register(Plugin(before_tool_use=DENY, pre_tool_use=hookimpl(lambda: None)), "mine")
    check_priorities(manager)
