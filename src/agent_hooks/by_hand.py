"""What only people do: commands that decide what an agent may do."""

from __future__ import annotations

import os

# What coding agents set for the commands that they run. A person's own shell has none of these.
AGENTS = {
    "CLAUDECODE": "Claude Code",
    "CODEX_SANDBOX": "Codex",
    "CODEX_THREAD_ID": "Codex",
    "COPILOT_CLI": "Copilot",
    "CURSOR_AGENT": "Cursor",
    "GEMINI_CLI": "Gemini CLI",
    "OPENCODE": "OpenCode",
    "QWEN_CODE": "Qwen Code",
}


def refuse_agents(error: type[Exception]) -> None:
    """Raise ``error`` where a coding agent runs this: it may have found a way around the gate that denies it."""
    variable = next((name for name in AGENTS if os.environ.get(name)), "")
    if variable:
        raise error(
            f"{AGENTS[variable]} runs this command, as {variable} in its environment says. What an agent may do is "
            "decided by people: type it in a terminal of your own."
        )
