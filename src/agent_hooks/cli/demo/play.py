"""``agent-hooks demo --recorded``: dispatch each event of a recorded session to the hooks, and print it."""

from __future__ import annotations

import json
from importlib.resources import files
from time import sleep

from agent_hooks.cli.asking import ask
from agent_hooks.cli.terminal import apart, print_json, prints_elsewhere
from agent_hooks.cli.watcher import Watcher
from agent_hooks.engine.manager import HookManager
from agent_hooks.wire import get_host

from . import demo_hooks
from .timeline import Played, Timeline

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

AGENT = "claude-code"
NEXT = "agent-hooks check before_tool_use --tool Bash --arg command='git push --force'"
TITLE = "A recorded session of Claude Code, asked again:"
# A little wider than the longest name of an event there.
LABEL = 19


def recorded() -> list[dict[str, Any]]:
    """Return the payloads of the session, in the shapes in which Claude Code 2.1.330 sends them."""
    text = files("agent_hooks.cli.demo").joinpath("session.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def play(*, as_json: bool, events_per_second: float) -> None:
    """Print the session event by event: a timeline, or one JSON object per line; 0 events per second do not wait."""
    timeline = Timeline(LABEL, as_json=as_json)
    with apart():
        watcher = Watcher()
        with prints_elsewhere():
            manager = HookManager()
            manager.register(demo_hooks, "demo")
            manager.register(watcher, "agent-hooks demo")
        timeline.begin(TITLE, (hook.plugin for hook in manager.describe()), manager.notes)
        for played in _played(manager, watcher):
            timeline.counts[played.label] += 1
            if as_json:
                times = {"agent_event": played.ctx.host_event, "milliseconds": played.milliseconds}
                print_json({**played.facts(timed=True), **times}, indent=None)
            else:
                timeline.event(played.number, played.ctx.host_event, played.wish, f"{played.milliseconds:8.2f} ms")
                timeline.decisions(played)
            if events_per_second:
                sleep(1 / events_per_second)
    total = timeline.counts.total()
    if as_json:
        print_json({"events": total, **timeline.count_facts()}, indent=None)
        return
    timeline.print()
    timeline.print((f"{total} events: {timeline.count_text()}.", "bold"))
    timeline.print((f"Next: {NEXT}", ""))


def _played(manager: HookManager, watcher: Watcher) -> Iterator[Played]:
    host, hooks = get_host(AGENT), manager.hooks(ask="host")
    for number, payload in enumerate(recorded(), 1):
        ctx = host.read(payload)
        with prints_elsewhere():
            outcome = ask(hooks, ctx)
        ran, milliseconds = watcher.take()
        yield Played(number=number, ctx=ctx, outcome=outcome, ran=tuple(ran), milliseconds=milliseconds)
