"""Writes the table of events into each host's page, from the host's rows: ``python docs/host_events.py``."""

from __future__ import annotations

import re
from pathlib import Path

from agent_hooks import HookEvent
from agent_hooks.model.outcome import Decision
from agent_hooks.wire import HOSTS

DOCS = Path(__file__).parent
PAGES = {
    "claude-code": "claude-code.md",
    "codex": "codex.md",
    "gemini": "gemini-cli.md",
    "qwen": "qwen-code.md",
    "copilot": "copilot-cli.md",
    "vscode": "vs-code.md",
    "cursor": "cursor.md",
    "opencode": "opencode.md",
}
HEAD = "| event | asks the hooks of | a deny | it also takes |\n|---|---|---|---|\n"
WORDS = {
    "context": "context",
    "stop": "stop",
    "interrupt": "stop",
    "ask": "ask",
    "ask-host": "ask with `--on-ask host`",
    "allow": "allow",
    "rewrite": "new arguments with `allow`",
    "args": "new arguments",
    "request": "a new request",
    "result": "a new result",
}


def table(name: str) -> str:
    """The table of a host, and the line with its events that have no name here."""
    host = HOSTS[name]
    events = [event for event in host.rows if event not in host.repeats]
    events = [event for event in events if event[0].isupper()] or events
    lines, others = [], []
    for event in events:
        row = host.rows[event]
        if row.event == "on_host_event":
            others.append(f"`{event}`")
            continue
        if row.refuse == "go_on":
            deny = "the agent goes on with the reason"
        elif row.event == "after_tool_use" and row.refuse:
            deny = "the result is withheld"
        elif row.refuse:
            deny = "refused"
        else:
            deny = "people are told" if Decision.DENY in HookEvent.parse(row.event).decisions else "-"
        takes = ", ".join(dict.fromkeys(word for key, word in WORDS.items() if key in row.takes)) or "-"
        lines.append(f"| `{event}` | `{row.event}` | {deny} | {takes} |\n")
    rest = f"\nAsks `on_host_event`: {', '.join(others)}.\n" if others else ""
    return HEAD + "".join(lines) + rest


def updated(name: str) -> str:
    """The page of a host, with its table as it should be."""
    text = (DOCS / PAGES[name]).read_text(encoding="utf-8")
    return re.sub(r"(?<=\n## Events\n\n)[\s\S]*?(?=\n## )", lambda _: table(name), text)


if __name__ == "__main__":
    for name, page in PAGES.items():
        (DOCS / page).write_text(updated(name), encoding="utf-8")
