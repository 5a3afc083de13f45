"""Commands for people only: they decide about the permissions of agents."""

from __future__ import annotations

import os
from threading import Lock

from .ancestors import agent_above, is_detached, note_process
from .folders import account_config_dir, chosen_config_dir, managed_dir, read_regular

# Variables that our runtime sets while a tool runs.
_OWN = "AGENT_HOOKS_AGENT"
# Variables that coding agents, and we for hooks, set for their commands; a person's shell has none of these.
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
    "AGENT_HOOKS_RUN": "A hook",  # what a hook starts need not be below the agent
}
_marking = Lock()
_marks = 0
_before: str | None = None  # set if a tool started this process
_noted = 0  # the process that is noted as an agent's; a fork has another id


class marked_as_agent:  # noqa: N801 - used as `with marked_as_agent():`, a generator takes three times as long
    """Mark the environment as an agent's while a tool runs: its child processes inherit the mark."""

    __slots__ = ()

    def __enter__(self) -> None:
        global _marks, _before, _noted  # noqa: PLW0603 - there is one environment, and any number of tools at once
        with _marking:
            if _noted != os.getpid():
                _noted = os.getpid()
                note_process()
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


def refuse_agents(error: type[Exception], *, by_person: bool = True) -> None:
    """Raise ``error`` where a coding agent runs this: the agent may have bypassed the gate that denies it.

    ``by_person``: also where nobody can have typed it, because there is no terminal, as after ``setsid``.
    """
    variable = next((name for name in AGENTS if os.environ.get(name)), "")
    agent = AGENTS[variable] if variable else agent_above()
    if agent:
        raise error(
            f"{agent} runs this command, as {f'{variable} in its environment says' if variable else 'its hooks know'}. "
            "What an agent may do is decided by people: type it in a terminal of your own."
        )
    is_ci = os.environ.get("CI", "").casefold() not in ("", "0", "false", "no")
    if by_person and os.name != "nt" and not (is_ci or (_has_terminal() and not is_detached()) or _is_unattended()):
        raise error(
            "No person can have typed this, because there is no terminal with its shell above this process. Type it in "
            "one. For scripts there is `[trust] unattended` in your own settings: docs/trust.md, `Who may say it`."
        )


def _has_terminal() -> bool:
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
    except OSError:
        return False
    return True


def _is_unattended() -> bool:
    """Whether the account's own settings, or the machine's, say so; a variable could name those of an agent."""
    from tomllib import loads

    for folder in filter(None, (managed_dir(), chosen_config_dir() or account_config_dir())):
        try:
            settings = loads(read_regular(os.path.join(folder, "agent-hooks.toml"), 2**20).decode())
            if settings["trust"]["unattended"] is True:
                return True
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return False
