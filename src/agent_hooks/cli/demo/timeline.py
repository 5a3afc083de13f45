"""The timeline of both demos: a line per event with the decisions of hooks below it, or JSON."""

from __future__ import annotations

import json
from textwrap import wrap

from agent_hooks.cli.terminal import console, shortened
from agent_hooks.cli.watcher import Ran, new_subject, said
from agent_hooks.model.outcome import Decision
from agent_hooks.model.values import Value, plain
from agent_hooks.system.visible import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from agent_hooks.model.context import HookContext
    from agent_hooks.model.outcome import HookOutcome
    from agent_hooks.model.state import StopSignal

# The label and the colour of each outcome.
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
_STYLES = dict(_WORDS.values())
_COUNTED = ("denied", "asked", "rewritten", "context added", "continued", "stopped")
_NUMBER = 4
# However narrow the terminal is, a text has this much room; a reason has so many lines, and is cut after that.
_ROOM = 20
_LINES = 5


class Played(Value):
    """One event with its outcome. ``number``: of the event or the agent's step, 0 before the first."""

    number: int
    ctx: HookContext
    outcome: HookOutcome
    ran: tuple[Ran, ...] = ()
    milliseconds: float = 0.0

    @property
    def word(self) -> str:
        """The label of the outcome; empty where the event went ahead."""
        word = "stop" if self.signal is not None else said(self.outcome)
        return _WORDS.get(word, ("", ""))[0]

    @property
    def signal(self) -> StopSignal | None:
        """The signal with which a hook stops the run, where it decided nothing else."""
        signal = self.outcome.stop_signal
        if signal is None or self.outcome.decision is not Decision.PROCEED:
            return None
        return signal if signal.reason.was_force_stopped else None

    @property
    def hook(self) -> str:
        """The hook that decided, else the first that brought something; empty without one."""
        bringing = (one.hook for one in self.ran if one.decision in ("rewrite", "context", "change"))
        signalling = (one.hook for one in self.ran if self.signal is not None and "signals" in one.changed)
        return self.outcome.hook or next(signalling, "") or next(bringing, "")

    @property
    def reason(self) -> str:
        """Why, as the hook put it; empty where it did not say."""
        reasons = (one.reason for one in self.ran if one.hook == self.hook and one.reason)
        return self.signal.message if self.signal is not None else self.outcome.reason or next(reasons, "")

    @property
    def wish(self) -> str:
        """A short description of the event."""
        call = self.ctx.tool_call
        if call is not None:
            return f"{call.name}  {call.command or ' '.join(call.paths) or json.dumps(plain(call.args))}"
        for field in ("prompt", "output", "source", "end_reason", "message"):
            value = getattr(self.ctx, field)
            if value:
                return f'"{value}"' if field in ("prompt", "output") else str(value)
        return self.ctx.agent_name

    @property
    def brought(self) -> str:
        """The new subject in a few words, else the context for the model."""
        new = new_subject(self.outcome, self.ctx)
        if new is None:
            return self.outcome.context
        if isinstance(new, dict) and self.ctx.tool_call is not None:
            return Played(number=0, ctx=self.ctx.with_subject(new), outcome=self.outcome).wish.partition("  ")[2]
        return str(plain(new))

    def facts(self) -> dict[str, Any]:
        """Return the event as JSON types, without its times."""
        ran = [{"decision": one.decision, **one.as_dict()} for one in self.ran]
        return {
            "number": self.number,
            "event": str(self.ctx.event),
            "wish": self.wish,
            "decision": str(self.outcome.decision),
            "became": self.word or "went ahead",
            "hook": self.hook,
            "reason": self.reason,
            "context": self.outcome.context,
            "new_subject": plain(new_subject(self.outcome, self.ctx)),
            "hooks": [{name: value for name, value in one.items() if name != "milliseconds"} for one in ran],
            "findings": [finding.as_dict() for finding in self.outcome.findings],
        }


class Counts:
    """How often each thing became of an event."""

    def __init__(self) -> None:
        self._counts = dict.fromkeys(_COUNTED, 0)

    def add(self, played: Played) -> None:
        """Count an event."""
        if played.word in self._counts:
            self._counts[played.word] += 1

    def facts(self) -> dict[str, int]:
        """Return all of them by name."""
        return {word.replace(" ", "_"): number for word, number in self._counts.items()}

    def __str__(self) -> str:
        return ", ".join(f"{number} {word}" for word, number in self._counts.items() if number) or "all went ahead"


class Timeline:
    """A timeline for people; ``label`` is how many characters wide the column of the events' names is."""

    def __init__(self, label: int) -> None:
        from rich.text import Text

        self._text = Text
        self._out = console()
        self._label = label
        self.room = max(self._out.width - _NUMBER - label, _ROOM)

    def begin(self, title: str, deciders: Iterable[str], notes: Iterable[str]) -> None:
        """Print the title, the plugins that the hooks are of, one name for each hook, and the notes."""
        plugins = [*deciders]
        self.print((title, "bold"), (f" {len(plugins)} hooks of {', '.join(sorted(set(plugins)))}.", ""))
        for note in notes:
            self.print((note, "yellow"))

    def event(self, number: int, name: str, wish: str, end: str = "") -> None:
        """Print one event: its name, its description, and ``end`` at the end of the line."""
        room = max(self.room - len(end) - 2, _ROOM) if end else self.room
        self.print(
            (f"{number:>2}  ", "dim"),
            (f"{name:<{self._label}}", "dim"),
            (f"{shortened(wish, room):<{room}}" if end else shortened(wish, room), ""),
            (f"  {end}" if end else "", "dim"),
        )

    def decisions(self, played: Played) -> None:
        """Print the decision about the event above, if any, and tolerated failures."""
        if played.word:
            why = f"{played.hook}: {played.reason or played.brought}"
            self._below(played.word.upper(), _STYLES[played.word], why)
        for finding in played.outcome.findings:
            self._below("finding", "yellow", finding.message)

    def _below(self, word: str, style: str, text: str) -> None:
        text = visible(" ".join(text.split()))
        lines = wrap(text, self.room, max_lines=_LINES, placeholder=" ...", break_on_hyphens=False)
        for line in lines or [""]:
            self.print((" " * _NUMBER, ""), (f"{word:<{self._label}}", style), (line, ""))
            word = ""

    def print(self, *parts: tuple[str, str]) -> None:
        """Print one line of texts with their styles, whatever characters they hold."""
        line = self._text.assemble(*((visible(text), style) for text, style in parts))
        line.rstrip()
        self._out.print(line, soft_wrap=True)
