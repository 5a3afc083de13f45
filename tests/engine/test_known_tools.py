"""A plain name in a match that no tool has is an error or a finding, and never a hook that sleeps."""

from __future__ import annotations

import re

import pytest

from agent_hooks import CompositeMatcher, HookManager, HookOutcome, MetadataMatcher, ToolCall, ToolNameMatcher, hookimpl
from agent_hooks.engine.known_tools import name_problems
from agent_hooks.model.tool_names import NAMES
from agent_hooks.sources.hookconfs import register_confs
from agent_hooks.testing import make_context
from agent_hooks.trust.manifest import ConfFile, Project
from engine import Plugin, called
from tables import tables

TABLES = tables(__file__)


def gate(match, answer=None, **options):
    """A plugin with one gate that denies, or gives ``answer``."""

    @hookimpl(match=match, name="gate", **options)
    def before_tool_use():
        return HookOutcome.deny("no") if answer is None else answer

    return Plugin(before_tool_use=before_tool_use)


def manager_with(match, known_tools=(), **options):
    manager = HookManager(load_plugins=False, known_tools=known_tools)
    manager.register(gate(match, **options))
    return manager


def decided(manager, name="Read", kind=None, args=None):
    call = ToolCall(name, args, kind=kind)
    return manager.hooks().dispatch_sync(make_context("before_tool_use", tool_call=call))


def problems(manager):
    return [problem for hook in manager.all_hooks() for problem in name_problems(hook, manager.known_tools)]


SLIPS = TABLES["slips"]


@pytest.mark.parametrize(("name", "meant"), SLIPS)
def test_a_slip_of_a_known_name_closes_and_says_what_was_meant(name, meant):
    outcome = decided(manager_with(name))
    assert (outcome.decision, outcome.failed) == ("deny", True)
    assert f"matches {name!r}" in outcome.reason
    assert f"Did you mean {meant!r}?" in outcome.reason
    assert f"known_tools = [{name!r}]" in outcome.reason
    assert f"{__file__}:" in outcome.reason


@pytest.mark.parametrize(
    "name",
    ["hash", "task", "send", "bash_session", "reed", "my_tool", "Wrench", "deploy|hash", "shel|read", "BASH|Read"],
)
def test_any_other_unknown_name_closes_nothing(name):
    manager = manager_with(name)
    assert decided(manager, "other_tool").decision == "proceed"
    assert not any(problem.is_error for problem in problems(manager))


@pytest.mark.parametrize(("name", "count"), [("hash", 1), ("bash_session", 1), ("shel|read", 1), ("read|write", 0)])
def test_an_unknown_name_is_found_and_how_to_declare_it(name, count):
    found = problems(manager_with(name))
    assert len(found) == count
    assert all("declare it: known_tools = [" in problem.remedy for problem in found)


@pytest.mark.parametrize(
    "match",
    [
        *(
            "*",
            "shell",
            "Bash|Edit",
            "mcp__files",
            "mcp__files__read",
            "KillShell",
            "Task",
            "grep_search",
            "apply_patch",
        ),
        *("shel*", "^shel$", "(?i)BASH", re.compile("shel"), lambda ctx: True, MetadataMatcher("k")),
    ],
    ids=called,
)
def test_known_names_globs_expressions_and_predicates_have_no_problem(match):
    assert [problem for problem in problems(manager_with(match)) if problem.kind == "unknown-tool"] == []


@pytest.mark.parametrize(
    "match",
    [
        ToolNameMatcher("shel"),
        ~ToolNameMatcher("shel"),
        ToolNameMatcher("shel") & MetadataMatcher("k"),
        CompositeMatcher([MetadataMatcher("k"), ~ToolNameMatcher("shel")], require_all=False),
    ],
    ids=["matcher", "not", "and", "or"],
)
def test_a_slip_inside_of_a_matcher_closes_too(match):
    outcome = decided(manager_with(match))
    assert (outcome.decision, outcome.failed) == ("deny", True)


def test_names_that_are_declared_are_known():
    assert decided(manager_with("shel", known_tools=["shel"])).decision == "proceed"
    assert decided(manager_with("shel", known_tools=["shel"]), "shel").decision == "deny"


def test_tools_that_are_declared_later_count():
    manager = manager_with("shel")
    assert decided(manager).failed
    manager.declare_tools(["shel"])
    assert decided(manager).decision == "proceed"
    assert not decided(manager, "shel").failed


@pytest.mark.parametrize(("by", "is_known"), [("project", False), ("plugin", False), ("user", True), ("managed", True)])
def test_a_name_is_declared_for_hooks_of_the_same_rank_and_below(by, is_known, manager):
    manager.register(gate("shel"), source="user")
    manager.declare_tools(["shel"], by)
    assert decided(manager).failed is not is_known


def test_a_match_of_another_kind_of_event_is_not_about_tools(manager):

    @hookimpl(match="shel")
    def before_subagent():
        return HookOutcome.deny("no")

    manager.register(Plugin(before_subagent=before_subagent))
    assert problems(manager) == []
    assert manager.hooks().dispatch_sync(make_context("before_subagent", name="x")).decision == "proceed"


def test_a_hook_that_may_fail_openly_does_so():
    assert decided(manager_with("shel", on_failure="open")).decision == "proceed"


def test_a_slip_in_a_directory_closes_below_it_alone(tmp_path, manager):
    manager.register(gate("shel"), scope=("directory", str(tmp_path / "docs")))
    below = make_context("before_tool_use", tool="Read", args={"file_path": "docs/x"}, kind="read", cwd=str(tmp_path))
    beside = make_context("before_tool_use", tool="Read", args={"file_path": "src/x"}, kind="read", cwd=str(tmp_path))
    assert manager.hooks().dispatch_sync(below).failed
    assert manager.hooks().dispatch_sync(beside).decision == "proceed"


# -- names that only some hosts have for a kind ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("match", "name", "kind"),
    [
        ("bash", "Bash", "shell"),
        ("bash", "run_shell_command", "shell"),
        ("bash", "my_runner", "shell"),
        ("run_shell_command", "Bash", "shell"),
        ("read_file|write_file", "Read", "read"),
        ("view", "read_file", "read"),
        ("task", "Agent", "subagent"),
        (ToolNameMatcher("bash"), "Bash", "shell"),
    ],
    ids=called,
)
def test_a_name_of_some_hosts_means_the_kind_for_a_deny_and_never_for_an_allow(match, name, kind):
    assert decided(manager_with(match), name, kind).decision == "deny"
    manager = manager_with(match, answer=HookOutcome.allow(), priority=2)
    manager.register(gate("*", answer=HookOutcome.ask("sure?"), priority=1))
    assert decided(manager, name, kind).decision == "deny"


def test_a_tool_of_that_very_name_may_be_allowed():
    manager = manager_with("bash", answer=HookOutcome.allow(), priority=2)
    manager.register(gate("*", answer=HookOutcome.ask("sure?"), priority=1))
    assert decided(manager, "bash", "shell").decision == "allow"


@pytest.mark.parametrize(("name", "kind"), [("Read", "read"), ("bash_session", "other"), ("Bash", "other")])
def test_it_means_no_other_kind(name, kind):
    assert decided(manager_with("bash"), name, kind).decision == "proceed"


def test_names_of_one_tool_of_claude_code_mean_that_tool_alone():
    for match in ("NotebookEdit", "MultiEdit", "PowerShell", "LS"):
        assert decided(manager_with(match), "Edit", "edit").decision == "proceed"
        assert decided(manager_with(match), "Bash", "shell").decision == "proceed"


def test_it_is_found_with_the_hosts_that_have_it_and_the_kind_to_write():
    (problem,) = problems(manager_with("bash"))
    assert problem.kind == "host-name"
    assert "OpenCode" in problem.message
    assert problem.remedy == "Write 'shell'."
    assert not problem.is_error


@pytest.mark.parametrize("name", sorted(NAMES))
def test_no_known_name_is_a_slip_of_another(name):
    assert problems(manager_with(name, known_tools=[name])) == []


# -- files -------------------------------------------------------------------------------------------------------------


def test_a_slip_in_a_hookconf_closes_below_its_directory(tmp_path, manager):
    code = "from agent_hooks import hookimpl\n@hookimpl(match='shel')\ndef before_tool_use(): pass\n"
    path = tmp_path / "hookconf.py"
    conf = ConfFile(name=str(path), path=str(path), directory=str(tmp_path), code=code.encode())
    assert register_confs(manager, Project(root=str(tmp_path), confs=(conf,))) == []
    ctx = make_context("before_tool_use", tool="Bash", kind="shell", cwd=str(tmp_path))
    outcome = manager.hooks().dispatch_sync(ctx)
    assert outcome.failed
    assert f"{path}:2" in outcome.reason
