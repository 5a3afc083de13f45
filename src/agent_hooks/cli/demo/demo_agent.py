"""``agent-hooks demo``: an agent at work in a temporary workspace. Only its model is scripted."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

from agent_hooks.cli.terminal import apart, print_json, prints_elsewhere
from agent_hooks.cli.watcher import Watcher
from agent_hooks.engine.hooks import Hooks
from agent_hooks.engine.markers import hookimpl
from agent_hooks.errors import PromptRefusedError
from agent_hooks.model.events import HookEvent
from agent_hooks.model.state import AgentState, StopReason
from agent_hooks.model.tool_call import ToolCall
from agent_hooks.runtime.builder import AgentBuilder
from agent_hooks.runtime.defaults import DEFAULTS
from agent_hooks.runtime.driver import ScriptedDriver
from agent_hooks.runtime.messages import as_text
from agent_hooks.sources.files import FILE
from agent_hooks.system.folders import choose_config_dir, config_dir, state_dir

from . import demo_hooks
from .timeline import Played, Timeline
from .workspace import Workspace

if TYPE_CHECKING:
    from agent_hooks.model.context import HookContext
    from agent_hooks.model.outcome import HookOutcome
    from agent_hooks.runtime.agent import AgentRuntime
    from agent_hooks.runtime.loop import AgentRun

TITLE = "An agent at work, its model played from a script:"
NEXT = "agent-hooks demo --recorded"
NO_GUARDS = "agent-hooks-guards takes no part: no rate limit and no limit of steps here."
GET_GUARDS = "To add it: pip install agent-hooks-guards"
GUARDS = "guards"
LABEL = 15
# The user's settings in the demo, for agent-hooks-guards if it is installed.
SETTINGS = """[guards]
max_steps = 9

[[guards.rate_limit]]
matcher = "list"
max_calls = 2
"""

PROMPT = "Do what notes.md says, then put it away."
ANSWER = "greet() says Hello, Ada! and the notes are put away."
NOTHING_LEFT = "There is nothing left to do."
SCRIPT = (
    ToolCall("list", {"path": "."}),
    [ToolCall("read", {"path": "notes.md"}), ToolCall("read", {"path": "greeting.py"})],
    ToolCall("shell", {"command": "rm -rf build ~/.cache/greeting"}),
    ToolCall("shell", {"command": "rm -rf build"}),
    [
        ToolCall("write", {"path": "greeting.py", "content": 'def greet(name):\n    return f"Hello, {name}!"'}),
        ToolCall("shell", {"command": "mv notes.md done.md"}),
    ],
    ANSWER,
    ToolCall("shell", {"command": "python -m unittest tests"}),
    # A loop, for the limits of agent-hooks-guards.
    ToolCall("list", {"path": "."}),
    ToolCall("list", {"path": "."}),
    ToolCall("list", {"path": "."}),
    # Installed hooks may force further rounds.
    *[NOTHING_LEFT] * 12,
)
# Events that always have a line; others only if a hook decided something.
_ALWAYS_SHOWN = (HookEvent.USER_INPUT, HookEvent.BEFORE_TOOL_USE)
# Events outside a step: their lines have the number of the step before.
_OUTSIDE_STEPS = (
    HookEvent.USER_INPUT,
    HookEvent.BEFORE_EXECUTION,
    HookEvent.ON_STOP,
    HookEvent.BEFORE_OUTPUT,
    HookEvent.AFTER_EXECUTION,
)
# Decisions on these are printed below the line of the call.
_OF_A_CALL = (HookEvent.ON_TOOL_ERROR, HookEvent.AFTER_TOOL_USE)


class Recorder(Watcher):
    """Records each event as it was before the hooks, with their outcomes."""

    def __init__(self) -> None:
        super().__init__()
        self._started: list[HookContext] = []
        self._played: list[Played] = []
        self.calls = 0

    @hookimpl
    def agent_hooks_dispatch_started(self, ctx: HookContext) -> None:
        """Keep the context as it is before the hooks."""
        self._started.append(ctx)

    @hookimpl(specname="agent_hooks_dispatched")
    def record(self, event: HookEvent, outcome: HookOutcome) -> None:
        """Keep the event; the dispatch of a nested question is part of its outer one."""
        ctx = self._started.pop()
        if event == HookEvent.PERMISSION_REQUEST:
            return
        self.calls += event == HookEvent.BEFORE_TOOL_USE
        ran, _milliseconds = self.take()
        number = ctx.step_index if event in _OUTSIDE_STEPS else ctx.step_index + 1
        self._played.append(Played(number=number, ctx=ctx, outcome=outcome, ran=tuple(ran)))

    def played(self) -> list[Played]:
        """Return the events since the last call that have a line or belong to a tool call."""
        played, self._played = self._played, []
        return [one for one in played if _has_line(one) or one.ctx.event in _OF_A_CALL]


def work(*, as_json: bool, events_per_second: float) -> None:
    """Run the agent and print its events: a timeline, or one JSON object per line; 0 events per second do not wait."""
    timeline = Timeline(LABEL, as_json=as_json)
    with apart(), Workspace() as workspace:
        _configure()
        recorder = Recorder()
        with prints_elsewhere():
            agent = _agent(workspace, recorder)
        hooks = agent.interceptor
        assert isinstance(hooks, Hooks)
        own = {hook.name for hook in DEFAULTS}
        plugins = [hook.plugin for hook in hooks.manager.describe() if hook.plugin not in own]
        is_installed = any(plugin.name == GUARDS for plugin in hooks.manager.plugins())
        missing = () if GUARDS in plugins else (NO_GUARDS,) if is_installed else (NO_GUARDS, GET_GUARDS)
        timeline.begin(TITLE, plugins, (*hooks.manager.notes, *missing))
        run = agent.iterate(PROMPT)
        try:
            asyncio.run(_follow(run, recorder, timeline, events_per_second))
        except PromptRefusedError as error:
            status, reason = "refused", str(error)
        else:
            status, reason = run.state.status, _reason(run.state)
        changes = workspace.changes()
    _show_end(timeline, status, run.state, recorder.calls, reason, changes)


def _configure() -> None:
    """Use the settings of the demo, in a temporary folder, in place of the user's."""
    choose_config_dir(state_dir())
    with open(os.path.join(config_dir(), FILE), "w", encoding="utf-8") as file:
        file.write(SETTINGS)


def _agent(workspace: Workspace, recorder: Recorder) -> AgentRuntime:
    return (
        AgentBuilder()
        .with_config(False)  # no project settings in the demo
        .with_driver(ScriptedDriver(*SCRIPT))
        .with_tools(*workspace.tools())
        .with_cwd(workspace.folder)
        .with_session("demo")
        .plugin(demo_hooks, "demo")
        .plugin(recorder, "agent-hooks demo")
        .build()
    )


async def _follow(run: AgentRun, recorder: Recorder, timeline: Timeline, events_per_second: float) -> None:
    """Run the agent to its end, and show each step when it is complete."""
    states = aiter(run)
    state: AgentState | None = run.state
    while state is not None:
        try:
            with prints_elsewhere():
                state = await anext(states, None)
        finally:
            played = recorder.played()
            for index, one in enumerate(played):
                _show_event(timeline, one, _result(played[index + 1 :]))
                if events_per_second and _has_line(one):
                    await asyncio.sleep(1 / events_per_second)


def _has_line(played: Played) -> bool:
    """Whether the event has a line: a call, a prompt, the answer, or a decision of a hook."""
    ctx = played.ctx
    is_answer = ctx.event == HookEvent.ON_STOP and _is_completed(ctx)
    return ctx.event in _ALWAYS_SHOWN or is_answer or played.label not in ("", "changed")


def _is_completed(ctx: HookContext) -> bool:
    return ctx.stop_signal is not None and ctx.stop_signal.reason == StopReason.COMPLETED


def _result(following: list[Played]) -> str:
    """Return the last line of a call's result, found in the events up to the next call."""
    for played in following:
        if played.ctx.event == HookEvent.AFTER_TOOL_USE and played.ctx.tool_execution is not None:
            execution = played.ctx.tool_execution
            if execution.was_blocked:
                return ""
            if execution.error is not None:
                return f"failed: {execution.error.type}"
            return as_text(execution.result).rstrip().rpartition("\n")[2].strip()
        if played.ctx.event not in _OF_A_CALL:
            break
    return ""


def _reason(state: AgentState) -> str:
    if state.suspended is not None:
        return state.suspended.reason
    for step in state.steps:
        if step.errors:  # without the message, which may name the temporary folder
            return f"{step.errors[0].type} in step {step.index + 1}"
    return state.stop_signal.message if state.stop_signal is not None else ""


def _named(played: Played) -> tuple[str, str]:
    """Return the label of the event and its description."""
    ctx = played.ctx
    if ctx.event == HookEvent.BEFORE_TOOL_USE:
        return ctx.tool_name, played.wish.partition("  ")[2]
    if ctx.event == HookEvent.USER_INPUT:
        return "prompt", played.wish
    if ctx.event != HookEvent.ON_STOP:
        return str(ctx.event), ""
    answer = ctx.state.steps[-1].message if ctx.state is not None and ctx.state.steps else None
    if _is_completed(ctx) and answer is not None:
        return "stop", f'"{as_text(answer.content)}"'
    return "stop", ctx.stop_signal.message if ctx.stop_signal is not None else ""


def _show_event(timeline: Timeline, played: Played, result: str) -> None:
    timeline.counts[played.label] += 1
    name, wish = _named(played)
    if not timeline.as_json:
        if played.ctx.event not in _OF_A_CALL:
            timeline.event(played.number, name, f"{wish} -> {result}" if result else wish)
        timeline.decisions(played)
    elif played.label or _has_line(played):
        print_json({**played.facts(), "wish": f"{name}  {wish}".rstrip(), "result": result}, indent=None)


def _show_end(
    timeline: Timeline, status: str, state: AgentState, calls: int, reason: str, files: dict[str, str]
) -> None:
    """Show the end of the run and the changed files of the workspace."""
    if timeline.as_json:
        ended = {"status": status, "reason": reason, "steps": state.step_count, "tool_calls": calls}
        print_json({**ended, **timeline.count_facts(), "workspace": files}, indent=None)
        return
    line = timeline.print
    line()
    line((f"{status}: {reason}", "bold"))
    line((f"Steps: {state.step_count}. Tool calls: {calls}.", ""))
    line((f"Hooks: {timeline.count_text()}.", ""))
    line()
    line(("The workspace, which is gone now:", "bold"))
    for path, change in files.items():
        line((f"  {change:<11}", "dim" if change == "unchanged" else "cyan"), (path, ""))
    line()
    line((f"Next: {NEXT}", ""))
