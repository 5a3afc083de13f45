"""What plugin authors test their hooks with."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import textwrap
from typing import TYPE_CHECKING, Any

import pytest

from agent_hooks import AgentState, HookContext, HookOutcome, ToolCall, hookimpl
from agent_hooks.testing import assert_idempotent, check_plugin, make_context, run_hook, run_hook_async
from engine import Plugin

if TYPE_CHECKING:
    from collections.abc import Mapping


def test_a_context_has_what_hooks_usually_look_at():
    ctx = make_context()
    assert (ctx.event, ctx.session_id, ctx.agent_name, ctx.cwd) == (
        "before_tool_use",
        "test-session",
        "test-agent",
        "/project",
    )
    assert (ctx.state, ctx.tool_call) == (AgentState(), None)


def test_a_context_is_made_to_measure():
    ctx = make_context("PostToolUse", tool="Bash", args={"command": "ls"}, kind="shell", result="x", cwd="/tmp")
    assert ctx.tool_call == ToolCall("Bash", {"command": "ls"}, id="call-1", kind="shell")
    assert (ctx.event, ctx.result, ctx.cwd) == ("after_tool_use", "x", "/tmp")


@hookimpl(match="shell", mode="gate", priority=5)
def no_force(tool_call):
    return HookOutcome.deny("no force") if "--force" in tool_call.command else None


def push(flags=""):
    return make_context(tool="Bash", args={"command": f"git push {flags}"}, kind="shell")


def test_a_hook_is_run_alone_and_settled_as_the_engine_would():
    assert run_hook(no_force, push("--force")).reason == "no force"
    assert run_hook(no_force, push()).decision == "proceed"


def test_a_hooks_own_options_hold():
    read = make_context(tool="Read", args={"command": "--force"}, kind="read")
    assert run_hook(no_force, read).decision == "proceed"


def test_options_of_the_test_win_over_the_hooks():
    read = make_context(tool="Read", args={"command": "--force"}, kind="shell")
    assert run_hook(no_force, read, match="Write").decision == "proceed"
    assert run_hook(lambda ctx: 1 / 0, push(), on_failure="open").decision == "proceed"


def test_an_async_hook_may_wait():
    async def hook(ctx):
        await asyncio.sleep(0)
        return HookOutcome.deny("no")

    assert run_hook(hook, push()).reason == "no"


def test_a_failing_hook_shows_its_failure():
    outcome = run_hook(lambda ctx: 1 / 0, push())
    assert outcome.failed
    assert "ZeroDivisionError" in outcome.reason


def test_a_wrapper_is_run_around_nothing():
    @hookimpl(wrapper=True)
    def around(ctx):
        outcome = yield
        return HookOutcome.deny("no") if outcome.decision == "proceed" else None

    assert run_hook(around, push()).reason == "no"


def test_an_idempotent_rewrite_passes():
    def tidy(tool_call):
        return HookOutcome.update(tool_args={"command": tool_call.command.strip()})

    assert assert_idempotent(tidy, push("  ")).tool_args == {"command": "git push"}


def test_a_hook_that_changes_nothing_passes():
    assert assert_idempotent(no_force, push()).decision == "proceed"


def test_a_rewrite_that_is_not_idempotent_is_shown():
    def grows(tool_call):
        return HookOutcome.update(tool_args={"command": tool_call.command + "!"})

    with pytest.raises(
        AssertionError, match=r"made .*'git push '.* into .*'git push !'.*, and that into .*'git push !!'"
    ):
        assert_idempotent(grows, push())


def test_a_failing_hook_is_not_called_idempotent():
    with pytest.raises(AssertionError, match=r"The hook failed: .*ZeroDivisionError"):
        assert_idempotent(lambda ctx: 1 / 0, push())


def test_the_pytest_plugin_gives_a_fresh_manager(tmp_path, monkeypatch):
    """As a plugin author's own tests would use it, in a run of their own."""
    (tmp_path / "test_mine.py").write_text(
        textwrap.dedent(
            """
            from agent_hooks import HookOutcome, hookimpl
            from agent_hooks.testing import make_context

            class Plugin:
                @hookimpl
                async def before_tool_use(self, tool_call):
                    return HookOutcome.deny(tool_call.name)

            def test_denies(hooks):
                assert hooks.register(Plugin(), name="mine", source="user") == "mine"
                assert hooks.dispatch(make_context(tool="Bash")).reason == "Bash"

            def test_is_fresh(hooks):
                assert hooks.manager.plugins() == []
            """
        )
    )
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    run = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "agent_hooks.testing.pytest_plugin",
            "-p",
            "no:cacheprovider",
            ".",
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "2 passed" in run.stdout, run.stdout + run.stderr


def test_a_hook_is_run_where_an_event_loop_runs():
    async def gate(tool_call):
        await asyncio.sleep(0)
        return HookOutcome.deny(tool_call.name)

    assert asyncio.run(run_hook_async(gate, make_context(tool="Bash"))).reason == "Bash"


class Rules:
    """Hooks that a checker of types has nothing against."""

    @hookimpl.before_tool_use(match="shell|deploy")
    def with_types(self, ctx: HookContext, tool_args: Mapping[str, object], tool_call: ToolCall | None) -> None:
        pass

    @hookimpl.after_step
    def with_any(self, ctx: object, step: Any, state):
        pass

    @hookimpl
    async def on_stop(self, state: OnlyForCheckers) -> None:  # type: ignore[name-defined]  # noqa: F821
        pass


def test_a_plugin_without_mistakes_passes():
    check_plugin(Rules(), known_tools=["deploy"])


@hookimpl
def wrong_type(tool_call: str, state: AgentState | None, ctx: dict[str, Any]):
    pass


@hookimpl
def wrong_argument(tool_cal):
    pass


@hookimpl(mode="gate")
def no_gate(ctx: HookContext):
    pass


@hookimpl(mode="observe", on_failure="closed")
def no_failure(ctx: HookContext):
    pass


@hookimpl(match="shel")
def no_match(ctx: HookContext):
    pass


@pytest.mark.parametrize(
    ("name", "function", "mistakes"),
    [
        (
            "before_tool_use",
            wrong_type,
            (
                "Plugin.wrong_type: 'tool_call' is annotated with 'str', and before_tool_use gives 'ToolCall'.\n"
                "Plugin.wrong_type: 'ctx' is annotated with 'dict[str, Any]', and before_tool_use gives 'HookContext'."
            ),
        ),
        ("before_tool_use", wrong_argument, "Plugin.before_tool_use takes 'tool_cal', which before_tool_use does not"),
        ("before_tool_usage", wrong_type, "Did you mean 'before_tool_use'?"),
        ("session_end", no_gate, 'Plugin.no_gate: mode="gate" has no effect, because session_end is only observed.'),
        ("before_tool_use", no_failure, "Plugin.no_failure: on_failure has no effect on an observer"),
        ("before_tool_use", no_match, "Did you mean 'shell'?"),
    ],
    ids=lambda value: getattr(value, "__name__", "") or None,
)
def test_a_mistake_in_a_plugin_is_named(name, function, mistakes):
    with pytest.raises(AssertionError) as error:
        check_plugin(Plugin(**{name: function}))
    assert mistakes in str(error.value)
