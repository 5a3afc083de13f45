"""``agent-hooks`` in real processes, with and without a terminal."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import termios
from typing import TYPE_CHECKING, Any

from agent_hooks.system.by_hand import AGENTS
from terminals import Terminal

if TYPE_CHECKING:
    from pathlib import Path

# People type the commands: it counts as nobody's agent, whoever runs the tests.
PROGRAM = """
import sys
from agent_hooks.system import ancestors
from agent_hooks_core import main
ancestors.notes_dir = lambda name: ""
sys.exit(main())
"""


def environment(**more: str) -> dict[str, str]:
    """What a person's shell has: whoever runs the tests may be a coding agent, or know another width."""
    kept = {name: value for name, value in os.environ.items() if name not in (*AGENTS, "COLUMNS")}
    return kept | {"TERM": "xterm", **more}


def run(
    *arguments: str, given: str = "", cwd: Path | str | None = None, **more: str
) -> subprocess.CompletedProcess[str]:
    """Run the command without a terminal; ``given``: its input; ``more``: variables of its environment."""
    command = [sys.executable, "-W", "error", "-c", PROGRAM, *arguments]
    return subprocess.run(
        command, env=environment(**more), input=given, cwd=cwd, capture_output=True, text=True, check=False
    )


def answer(cwd: Path | str, tool: str, args: dict[str, Any], **more: str) -> subprocess.CompletedProcess[str]:
    """Run ``agent-hooks run`` for Claude Code, about a call in ``cwd``."""
    event = {"session_id": "s", "hook_event_name": "PreToolUse", "transcript_path": "", "cwd": str(cwd)}
    payload = json.dumps({**event, "tool_name": tool, "tool_input": args})
    return run("run", "--agent", "claude-code", "--event", "PreToolUse", given=payload, cwd=cwd, **more)


def typed(answer: str, *arguments: str, question: str = "[y/N]: ", columns: int = 80, **more: str) -> tuple[int, str]:
    """Run the command in a terminal, type ``answer`` when it asks, and return its exit code and what was shown."""
    terminal = Terminal([sys.executable, "-W", "error", "-c", PROGRAM, *arguments], environment(**more), None)
    termios.tcsetwinsize(terminal.ours, (24, columns))
    if question in terminal.read(question, or_end=True):
        terminal.type(answer)
    return terminal.end(), terminal.text
