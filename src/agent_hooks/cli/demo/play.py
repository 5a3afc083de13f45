"""``agent-hooks demo``: an agent at work, or a recorded session, under the installed hooks and those of the demo."""

from __future__ import annotations

import asyncio
import json
import os
from collections import Counter
from importlib.resources import files
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from rich.text import Text

from agent_hooks.cli.terminal import DECISION_STYLES, apart, console, print_json, prints_elsewhere, shortened
from agent_hooks.cli.watcher import decision_name, new_subject, reason_of
from agent_hooks.engine.hooks import Hooks
from agent_hooks.engine.manager import HookManager
from agent_hooks.engine.markers import hookimpl
from agent_hooks.errors import PromptRefusedError
from agent_hooks.model.events import HookEvent
from agent_hooks.model.values import plain
from agent_hooks.runtime.builder import AgentBuilder
from agent_hooks.runtime.defaults import DEFAULTS
from agent_hooks.runtime.driver import ScriptedDriver
from agent_hooks.sources.files import FILE
from agent_hooks.sources.loader import HookConfigLoader
from agent_hooks.system.folders import choose_config_dir, config_dir, state_dir
from agent_hooks.system.visible import visible
from agent_hooks.wire import get_host

from . import workspace

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from typing import Any

    from agent_hooks.model.context import HookContext
    from agent_hooks.model.outcome import HookOutcome
    from agent_hooks.model.state import AgentState

NO_GUARDS = "Without a limit of calls and steps: for these, pip install agent-hooks-guards"
# Events that have a line of their own; of the others, only the decisions are shown.
_SHOWN = {
    *(HookEvent.SESSION_START, HookEvent.USER_INPUT, HookEvent.BEFORE_TOOL_USE, HookEvent.AFTER_TOOL_USE),
    *(HookEvent.ON_TOOL_ERROR, HookEvent.ON_STOP, HookEvent.SESSION_END),
}
_LABEL_WIDTH = 18


class Player:
    """A plugin that records events and decisions, and prints them. ``pace``: rows per second; 0 does not wait."""

    def __init__(self, *, as_json: bool, pace: float) -> None:
        self.as_json = as_json
        self.counts: Counter[str] = Counter()
        self._rows: list[dict[str, str]] = []
        self._pace = pace
        self._console = console()

    @hookimpl
    def agent_hooks_dispatch_started(self, ctx: HookContext) -> None:
        """Record an event as it is before the hooks."""
        if ctx.event in _SHOWN:
            self._add(ctx, _describe(ctx))

    @hookimpl
    def agent_hooks_executed(
        self, ctx: HookContext, hook_name: str, outcome: HookOutcome | None, error: BaseException | None
    ) -> None:
        """Record a decision, with its reason or its change."""
        if error is not None:
            self._add(ctx, f"{type(error).__name__}: {error}", hook_name, "failed")
        elif outcome is not None and (decision := decision_name(outcome)) not in ("", "change"):
            new = new_subject(outcome, ctx)
            change = _describe(ctx.with_subject(new)) if new is not None else outcome.context
            self._add(ctx, reason_of(outcome) or change, hook_name, decision)

    def _add(self, ctx: HookContext, text: str, hook: str = "", decision: str = "") -> None:
        row = {"event": str(ctx.event), "agent_event": ctx.host_event, "text": text, "hook": hook, "decision": decision}
        self._rows.append(row)

    async def follow(self, steps: AsyncIterator[Any]) -> None:
        """Print the rows of each step when it is complete. Whatever hooks print goes to stderr."""
        end = object()
        step = None
        while step is not end:
            try:
                with prints_elsewhere():
                    step = await anext(steps, end)
            finally:
                rows, self._rows = self._rows, []
                for row in rows:
                    self._show(row)
                    await asyncio.sleep(1 / self._pace if self._pace else 0)

    def begin(self, title: str, manager: HookManager, *notes: str) -> None:
        """Print the title, the plugins and the notes."""
        if not self.as_json:
            own = {hook.name for hook in DEFAULTS}
            plugins = [hook.plugin for hook in manager.describe() if hook.plugin not in own]
            self.print(title, "bold", f" {len(plugins)} hooks of {', '.join(sorted(set(plugins)))}.")
            for note in (*manager.notes, *notes):
                self.print(note, "yellow")

    def end(self, facts: dict[str, Any], following: str) -> None:
        """Print the end with the number of decisions by their names, and the command to try next."""
        if self.as_json:
            print_json({**facts, "decisions": self.counts}, indent=None)
            return
        decisions = ", ".join(f"{count} {name}" for name, count in self.counts.items()) or "none"
        self.print()
        for name, value in {**facts, "decisions": decisions}.items():
            self.print(f"{name}: ", "bold", str(value))
        self.print(f"\nNext: {following}")

    def print(self, label: str = "", style: str = "", text: str = "") -> None:
        """Print one line: a label in a style, and a text."""
        label, text = (visible(each, keep="\n") for each in (label, text))
        self._console.print(Text.assemble((label, style), text), soft_wrap=True)

    def _show(self, row: dict[str, str]) -> None:
        decision = row["decision"]
        self.counts.update([decision] if decision else [])
        if self.as_json:
            print_json(row, indent=None)
            return
        label = f"  {decision.upper()}" if decision else row["agent_event"] or row["event"]
        style = DECISION_STYLES.get(decision, "blue") if decision else "dim"
        text = f"{row['hook']}: {row['text']}" if decision else row["text"]
        width = max(self._console.width - _LABEL_WIDTH, _LABEL_WIDTH)
        self.print(f"{label:<{_LABEL_WIDTH}}", style, shortened(text, width))


def _describe(ctx: HookContext) -> str:
    """Return the subject of an event in a few words."""
    call = ctx.tool_call
    if call is not None:
        result = ctx.error_text or ctx.result
        end = result.rstrip().rpartition("\n")[2].strip() if isinstance(result, str) else ""
        if ctx.was_blocked:
            end = "blocked, it did not run"
        target = call.command or " ".join(call.paths) or json.dumps(plain(call.args))
        return f"{call.name} {target}{end and f' -> {end}'}"
    if ctx.event == HookEvent.ON_STOP and ctx.stop_signal is not None and ctx.stop_signal.reason.was_force_stopped:
        return ctx.stop_signal.message
    quoted = ctx.output if ctx.event == HookEvent.ON_STOP else ctx.prompt
    return f'"{quoted}"' if quoted else ctx.source or ctx.end_reason


def play_agent(*, as_json: bool, pace: float, modules: Sequence[str] = ()) -> None:
    """Run an agent in a temporary workspace and print its events. Only its model is scripted."""
    player = Player(as_json=as_json, pace=pace)
    with apart(), TemporaryDirectory(prefix="agent-hooks-demo-", ignore_cleanup_errors=True) as path:
        folder = workspace.Workspace(path)
        choose_config_dir(state_dir())  # the settings of the demo in place of the user's
        with open(os.path.join(config_dir(), FILE), "w", encoding="utf-8") as file:
            file.write(workspace.SETTINGS)
        with prints_elsewhere():
            builder = AgentBuilder().with_config(HookConfigLoader(sources=(), modules=modules) if modules else False)
            builder = builder.plugin(workspace, "demo").plugin(player, "agent-hooks demo").with_session("demo")
            builder = builder.with_driver(ScriptedDriver(*workspace.SCRIPT))
            agent = builder.with_tools(*folder.tools()).with_cwd(folder.path).build()
        assert isinstance(agent.interceptor, Hooks)
        manager = agent.interceptor.manager
        has_guards = any(plugin.name == "guards" and plugin.status == "active" for plugin in manager.plugins())
        player.begin("An agent at work, its model played from a script:", manager, *([] if has_guards else [NO_GUARDS]))
        run = agent.iterate(workspace.PROMPT)
        try:
            asyncio.run(player.follow(aiter(run)))
            status, reason = str(run.state.status), _reason(run.state)
        except PromptRefusedError as error:
            status, reason = "refused", str(error)
        left = folder.list_folder()
    ended = {"status": status, "reason": reason, "steps": run.state.step_count, "files": left}
    player.end(ended, "agent-hooks demo --recorded")


def _reason(state: AgentState) -> str:
    if state.suspended is not None:
        return state.suspended.reason
    # Without the message, which may name the temporary folder.
    errors = [error.type for step in state.steps for error in step.errors]
    return errors[0] if errors else state.stop_signal.message if state.stop_signal is not None else ""


def recorded() -> list[dict[str, Any]]:
    """Return the payloads of a session, in the shapes in which Claude Code 2.1.330 sends them."""
    text = files("agent_hooks.cli.demo").joinpath("session.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def play_recorded(*, as_json: bool, pace: float, modules: Sequence[str] = ()) -> None:
    """Dispatch each event of a recorded session to the hooks, and print it."""
    player = Player(as_json=as_json, pace=pace)
    with apart():
        with prints_elsewhere():
            manager = HookManager(modules=dict.fromkeys(modules, "plugin"))
            manager.register(workspace, "demo")
            manager.register(player, "agent-hooks demo")
        player.begin("A recorded session of Claude Code, asked again:", manager)
        asyncio.run(player.follow(_dispatches(manager.hooks(ask="host"))))
    following = "agent-hooks check before_tool_use --tool Bash --arg command='git push --force'"
    player.end({"events": len(recorded())}, following)


async def _dispatches(hooks: Hooks) -> AsyncIterator[None]:
    for payload in recorded():
        await hooks.dispatch(get_host("claude-code").read(payload))
        await hooks.join()
        yield
