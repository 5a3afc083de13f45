"""The events of both demos: as JSON, or as a timeline with a line per event and the decisions of hooks below it."""

from __future__ import annotations

import json
from collections import Counter
from textwrap import wrap

from agent_hooks.cli.terminal import console, shortened
from agent_hooks.cli.watcher import Ran, decision_name, new_subject
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

# The label and the style of each outcome.
_LABELS = {
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
_STYLES = dict(_LABELS.values())
_COUNTED = ("denied", "asked", "rewritten", "context added", "continued", "stopped")
_NUMBER = 4
# The minimal width of a text on a narrow terminal, and the maximal number of lines of a reason.
_MIN_WIDTH = 20
_MAX_LINES = 5


class Played(Value):
    """One event with its outcome. ``number``: of the event or the agent's step, 0 before the first."""

    number: int
    ctx: HookContext
    outcome: HookOutcome
    ran: tuple[Ran, ...] = ()
    milliseconds: float = 0.0

    @property
    def label(self) -> str:
        """The label of the outcome; empty if the event proceeded."""
        name = "stop" if self.signal is not None else decision_name(self.outcome)
        return _LABELS.get(name, ("", ""))[0]

    @property
    def signal(self) -> StopSignal | None:
        """The signal with which a hook stops the run, where it decided nothing else."""
        signal = self.outcome.stop_signal
        if signal is None or self.outcome.decision is not Decision.PROCEED:
            return None
        return signal if signal.reason.was_force_stopped else None

    @property
    def hook(self) -> str:
        """The hook that decided, else the first that changed something; empty without one."""
        bringing = (one.hook for one in self.ran if one.decision in ("rewrite", "context", "change"))
        signalling = (one.hook for one in self.ran if self.signal is not None and "signals" in one.changed)
        return self.outcome.hook or next(signalling, "") or next(bringing, "")

    @property
    def reason(self) -> str:
        """The hook's reason; empty if it gave none."""
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
        """A short description of the new subject, else the context for the model."""
        new = new_subject(self.outcome, self.ctx)
        if new is None:
            return self.outcome.context
        if isinstance(new, dict) and self.ctx.tool_call is not None:
            return Played(number=0, ctx=self.ctx.with_subject(new), outcome=self.outcome).wish.partition("  ")[2]
        return str(plain(new))

    def facts(self, *, timed: bool = False) -> dict[str, Any]:
        """Return the event as JSON types. ``timed``: with the duration of each hook."""
        hooks = [{"decision": one.decision, **one.as_dict()} for one in self.ran]
        for one in hooks if not timed else ():
            one.pop("milliseconds", None)
        return {
            "number": self.number,
            "event": str(self.ctx.event),
            "wish": self.wish,
            "decision": str(self.outcome.decision),
            "became": self.label or "went ahead",
            "hook": self.hook,
            "reason": self.reason,
            "context": self.outcome.context,
            "new_subject": plain(new_subject(self.outcome, self.ctx)),
            "hooks": hooks,
            "findings": [finding.as_dict() for finding in self.outcome.findings],
        }


class Timeline:
    """The output of a demo, with its counts: lines for people, unless ``as_json``.

    ``label``: the width of the column with the names of events.
    """

    def __init__(self, label: int, *, as_json: bool = False) -> None:
        from rich.text import Text

        self.as_json = as_json
        self.counts: Counter[str] = Counter()
        self._text = Text
        self._out = console()
        self._label = label
        self._width = max(self._out.width - _NUMBER - label, _MIN_WIDTH)

    def begin(self, title: str, deciders: Iterable[str], notes: Iterable[str]) -> None:
        """Print the title, the plugins of the hooks (``deciders``: one name for each hook), and the notes."""
        if self.as_json:
            return
        plugins = [*deciders]
        self.print((title, "bold"), (f" {len(plugins)} hooks of {', '.join(sorted(set(plugins)))}.", ""))
        for note in notes:
            self.print((note, "yellow"))

    def event(self, number: int, name: str, wish: str, end: str = "") -> None:
        """Print one event: its name, its description, and ``end`` at the end of the line."""
        width = max(self._width - len(end) - 2, _MIN_WIDTH) if end else self._width
        self.print(
            (f"{number:>2}  ", "dim"),
            (f"{name:<{self._label}}", "dim"),
            (f"{shortened(wish, width):<{width}}" if end else shortened(wish, width), ""),
            (f"  {end}" if end else "", "dim"),
        )

    def decisions(self, played: Played) -> None:
        """Print the decision about the last event, if any, and tolerated failures."""
        if played.label:
            reason = f"{played.hook}: {played.reason or played.brought}"
            self._below(played.label.upper(), _STYLES[played.label], reason)
        for finding in played.outcome.findings:
            self._below("finding", "yellow", finding.message)

    def count_facts(self) -> dict[str, int]:
        """Return the number of events by the label of their outcome."""
        return {label.replace(" ", "_"): self.counts[label] for label in _COUNTED}

    def count_text(self) -> str:
        """Return the same for people."""
        return ", ".join(f"{self.counts[each]} {each}" for each in _COUNTED if self.counts[each]) or "all went ahead"

    def _below(self, label: str, style: str, text: str) -> None:
        text = visible(" ".join(text.split()))
        lines = wrap(text, self._width, max_lines=_MAX_LINES, placeholder=" ...", break_on_hyphens=False)
        for line in lines or [""]:
            self.print((" " * _NUMBER, ""), (f"{label:<{self._label}}", style), (line, ""))
            label = ""

    def print(self, *parts: tuple[str, str]) -> None:
        """Print one line of texts with their styles, control characters escaped."""
        line = self._text.assemble(*((visible(text), style) for text, style in parts))
        line.rstrip()
        self._out.print(line, soft_wrap=True)
