"""Commands for people only: they decide about the permissions of agents."""

from __future__ import annotations

import os
from threading import Lock

# Variables that our runtime sets while a tool runs.
_OWN = "AGENT_HOOKS_AGENT"
# Variables that coding agents set for their commands; a person's shell has none of these.
AGENTS = {
    _OWN: "An agent of agent_hooks",
    "CLAUDECODE": "Claude Code",
    "CODEX_SANDBOX": "Codex",
    "CODEX_THREAD_ID": "Codex",
    "COPILOT_CLI": "Copilot",
    "CURSOR_AGENT": "Cursor",
    "GEMINI_CLI": "Gemini CLI",
    "OPENCODE": "OpenCode",
    "QWEN_CODE": "Qwen Code",
}


_marking = Lock()
_marks = 0
_before: str | None = None  # set if a tool started this process


class marked_as_agent:  # noqa: N801 - used as `with marked_as_agent():`, a generator takes three times as long
    """Mark the environment as an agent's while a tool runs: its child processes inherit the mark."""

    __slots__ = ()

    def __enter__(self) -> None:
        global _marks, _before  # noqa: PLW0603 - there is one environment, and any number of tools at once
        with _marking:
            if not _marks:
                _before = os.environ.get(_OWN)
            _marks += 1
            os.environ[_OWN] = "1"

    def __exit__(self, *_error: object) -> None:
        global _marks  # noqa: PLW0603
        with _marking:
            _marks -= 1
            if not _marks and _before is None:
                try:
                    del os.environ[_OWN]
                except KeyError:  # the tool has removed it
                    return


def refuse_agents(error: type[Exception]) -> None:
    """Raise ``error`` where a coding agent runs this: the agent may have bypassed the gate that denies it."""
    variable = next((name for name in AGENTS if os.environ.get(name)), "")
    if variable:
        raise error(
            f"{AGENTS[variable]} runs this command, as {variable} in its environment says. What an agent may do is "
            "decided by people: type it in a terminal of your own."
        )
