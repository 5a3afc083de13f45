"""``agent-hooks demo --recorded``: each event of a recorded session through the hooks, and onto the screen."""

from __future__ import annotations

import json
from importlib.resources import files
from time import sleep

from agent_hooks.cli.asking import ask
from agent_hooks.cli.terminal import apart, print_json, prints_elsewhere
from agent_hooks.cli.watcher import Watcher
from agent_hooks.engine.manager import HookManager
from agent_hooks.wire import get_host

from . import demo_hooks as house_rules
from .timeline import Counts, Played, Timeline

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

AGENT = "claude-code"
NEXT = "agent-hooks check before_tool_use --tool Bash --arg command='git push --force'"
TITLE = "A recorded session of Claude Code, asked again:"
# As wide as the longest name of an event there, and a little more.
LABEL = 19


def recorded() -> list[dict[str, Any]]:
    """Return the payloads of the session, in the shapes in which Claude Code 2.1.330 sends them."""
    text = files("agent_hooks.cli.demo").joinpath("session.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def play(*, as_json: bool, events_per_second: float) -> None:
    """Print the session event by event: a timeline, or one JSON object per line; 0 events per second do not wait."""
    timeline = None if as_json else Timeline(LABEL)
    counts = Counts()
    total = 0
    with apart():
        watcher = Watcher()
        with prints_elsewhere():
            manager = HookManager()
            manager.register(house_rules, "demo")
            manager.register(watcher, "agent-hooks demo")
        if timeline is not None:
            timeline.begin(TITLE, (hook.plugin for hook in manager.describe()), manager.notes)
        for played in _played(manager, watcher):
            total += 1
            counts.add(played)
            if timeline is None:
                print_json(_facts(played), indent=None)
            else:
                timeline.event(played.number, played.ctx.host_event, played.wish, f"{played.milliseconds:8.2f} ms")
                timeline.decisions(played)
            if events_per_second:
                sleep(1 / events_per_second)
    if timeline is None:
        print_json({"events": total, **counts.facts()}, indent=None)
        return
    timeline.print()
    timeline.print((f"{total} events: {counts}.", "bold"))
    timeline.print((f"Next: {NEXT}", ""))


def _played(manager: HookManager, watcher: Watcher) -> Iterator[Played]:
    host, hooks = get_host(AGENT), manager.hooks(ask="host")
    for number, payload in enumerate(recorded(), 1):
        ctx = host.read(payload)
        with prints_elsewhere():
            outcome = ask(hooks, ctx)
        ran, milliseconds = watcher.take()
        yield Played(number=number, ctx=ctx, outcome=outcome, ran=tuple(ran), milliseconds=milliseconds)


def _facts(played: Played) -> dict[str, Any]:
    times = {"agent_event": played.ctx.host_event, "milliseconds": played.milliseconds}
    return {**played.facts(), **times, "hooks": [{"decision": one.decision, **one.as_dict()} for one in played.ran]}
