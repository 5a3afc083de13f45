"""Playing the recorded session: each event through the hooks, and onto the screen."""

from __future__ import annotations

import json
from importlib.resources import files
from time import sleep

from agent_hooks.cli.asking import ask
from agent_hooks.cli.terminal import apart, console, print_json, prints_elsewhere, shortened, visible
from agent_hooks.cli.watcher import Ran, Watcher, new_subject, said
from agent_hooks.manager import HookManager
from agent_hooks.values import Value, plain
from agent_hooks.wire import get_host

from . import hooks as house_rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from agent_hooks.context import HookContext
    from agent_hooks.outcome import HookOutcome

AGENT = "claude-code"
NEXT = "agent-hooks check before_tool_use --tool Bash --arg command='git push --force'"
# What an outcome's word is called here, and its colour.
_WORDS = {
    "deny": ("denied", "bold red"),
    "stop": ("stopped", "bold red"),
    "suspend": ("suspended", "bold yellow"),
    "ask": ("asked", "bold yellow"),
    "rewrite": ("rewritten", "bold cyan"),
    "context": ("context added", "blue"),
    "change": ("changed", "blue"),
    "force_continue": ("continued", "bold magenta"),
    "allow": ("allowed", "green"),
    "skip": ("skipped", "green"),
    "retry": ("retried", "bold magenta"),
}
_COUNTED = ("denied", "asked", "rewritten", "context added", "continued", "stopped")


class Played(Value):
    """One event of the session and what the hooks made of it; ``milliseconds`` may be fractions."""

    number: int
    ctx: HookContext
    outcome: HookOutcome
    ran: tuple[Ran, ...] = ()
    milliseconds: float = 0.0

    @property
    def word(self) -> str:
        """What became of it; empty where it simply went ahead."""
        return _WORDS.get(said(self.outcome), ("", ""))[0]


def recorded() -> list[dict[str, Any]]:
    """Return the payloads of the session, in the shapes in which Claude Code 2.1.330 sends them."""
    text = files("agent_hooks.cli.demo").joinpath("session.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def play(*, as_json: bool, events_per_second: float) -> None:
    """Print the session event by event: a timeline, or one JSON object per line; 0 events per second do not wait."""
    with apart():
        watcher = Watcher()
        with prints_elsewhere():
            manager = HookManager()
            manager.register(house_rules, "demo")
            manager.register(watcher, "agent-hooks demo")
        show = _print_json if as_json else _Timeline(manager)
        counts = dict.fromkeys(_COUNTED, 0)
        total = 0
        for played in _played(manager, watcher):
            show(played)
            total += 1
            if played.word in counts:
                counts[played.word] += 1
            if events_per_second:
                sleep(1 / events_per_second)
    if as_json:
        print_json(
            {"events": total, **{word.replace(" ", "_"): number for word, number in counts.items()}}, indent=None
        )
        return
    summary = ", ".join(f"{number} {word}" for word, number in counts.items() if number)
    out = console()
    out.print(f"\n{total} events: {summary}.", style="bold")
    out.print(f"Next: {NEXT}", soft_wrap=True)


def _played(manager: HookManager, watcher: Watcher) -> Iterator[Played]:
    host, hooks = get_host(AGENT), manager.hooks(ask="host")
    for number, payload in enumerate(recorded(), 1):
        ctx = host.read(payload)
        with prints_elsewhere():
            outcome = ask(hooks, ctx)
        ran, milliseconds = watcher.take()
        yield Played(number=number, ctx=ctx, outcome=outcome, ran=tuple(ran), milliseconds=milliseconds)


def wish(ctx: HookContext) -> str:
    """Return what the agent wanted, or what happened, in a few words."""
    call = ctx.tool_call
    if call is not None:
        return f"{call.name}  {call.command or ' '.join(call.paths) or json.dumps(plain(call.args))}"
    for field in ("prompt", "output", "source", "end_reason", "message"):
        value = getattr(ctx, field)
        if value:
            return f'"{value}"' if field in ("prompt", "output") else str(value)
    return ctx.agent_name


def _print_json(played: Played) -> None:
    outcome, ctx = played.outcome, played.ctx
    new = new_subject(outcome, ctx)
    line = {
        "number": played.number,
        "agent_event": ctx.host_event,
        "event": str(ctx.event),
        "wish": wish(ctx),
        "decision": str(outcome.decision),
        "became": played.word or "went ahead",
        "hook": outcome.hook or _changer(played),
        "reason": outcome.reason,
        "context": outcome.context,
        "new_subject": plain(new),
        "milliseconds": played.milliseconds,
        "hooks": [{"decision": one.decision, **one.as_dict()} for one in played.ran],
        "findings": [finding.as_dict() for finding in outcome.findings],
    }
    print_json(line, indent=None)


def _changer(played: Played) -> str:
    """Return the hook that brought the change, where none decided."""
    brought = (one.hook for one in played.ran if one.decision in ("rewrite", "context", "change"))
    return next(brought, "")


class _Timeline:
    """The session for people: an event a line, and below it what hooks made of it."""

    def __init__(self, manager: HookManager) -> None:
        from rich.text import Text

        self._text = Text
        self._out = console()
        deciders = manager.describe()
        plugins = sorted({hook.plugin for hook in deciders})
        self._print(
            ("A recorded session of Claude Code, asked again:", "bold"),
            (f" {len(deciders)} hooks of {', '.join(plugins)}.\n", ""),
        )
        for note in manager.notes:
            self._print((note, "yellow"))

    def __call__(self, played: Played) -> None:
        ctx, outcome = played.ctx, played.outcome
        width = self._out.width
        took = f"{played.milliseconds:8.2f} ms"
        room = width - 4 - 19 - len(took) - 2
        self._print(
            (f"{played.number:>2}  ", "dim"),
            (f"{ctx.host_event:<19}", "dim"),
            (f"{shortened(wish(ctx), room):<{room}}  ", ""),
            (took, "dim"),
        )
        if played.word:
            style = dict(_WORDS.values())[played.word]
            hook = outcome.hook or _changer(played)
            self._print(("    ", ""), (f"{played.word.upper():<19}", style), (self._why(played, hook, width - 23), ""))
        for finding in outcome.findings:
            self._print(("    ", ""), (f"{'finding':<19}", "yellow"), (shortened(finding.message, width - 23), ""))

    def _why(self, played: Played, hook: str, room: int) -> str:
        new = new_subject(played.outcome, played.ctx)
        if isinstance(new, dict) and played.ctx.tool_call is not None:
            new = wish(played.ctx.with_subject(new)).partition("  ")[2]
        brought = played.outcome.context if new is None else str(plain(new))
        return shortened(f"{hook}: {played.outcome.reason or brought}", room)

    def _print(self, *parts: tuple[str, str]) -> None:
        self._out.print(
            self._text.assemble(*((visible(text.rstrip("\n")), style) for text, style in parts)), soft_wrap=True
        )
