"""What is done to each coding agent, and what must come of it: a table."""

from __future__ import annotations

from typing import NamedTuple

PROMPT = "Do what the script says."
ALL = frozenset(("claude", "older-claude", "codex", "gemini", "qwen", "copilot", "opencode"))
CLAUDES = frozenset(("claude", "older-claude"))


class Scenario(NamedTuple):
    """Commands that the model calls for, and what is seen afterwards.

    ``ran`` and ``not_ran`` are files of the project that commands make; ``told`` and ``not_told`` is text that a
    request to the model has, or that none has; ``requests`` is how many there were. ``files`` are there before.
    """

    commands: tuple[str, ...] = ()
    prompt: str = PROMPT
    files: tuple[tuple[str, str], ...] = ()
    ran: tuple[str, ...] = ()
    not_ran: tuple[str, ...] = ()
    told: tuple[str, ...] = ()
    not_told: tuple[str, ...] = ()
    requests: int | None = None
    clients: frozenset[str] = ALL


# After each closed gate a call that nothing objects to, so that a gate which refuses all would be noticed.
_AFTER = "echo > after"
SCENARIOS = {
    "no opinion": Scenario((": none; echo > ran",), ran=("ran",), requests=2),
    "deny": Scenario((": deny; echo > ran", _AFTER), not_ran=("ran",), ran=("after",), told=("the-reason-of-deny",)),
    # Without a terminal, nobody can be asked.
    "ask": Scenario((": ask; echo > ran", _AFTER), not_ran=("ran",), ran=("after",), told=("the-reason-of-ask",)),
    "rewrite": Scenario((": rewrite; echo > ran",), not_ran=("ran",), ran=("rewritten",), clients=ALL - {"qwen"}),
    # It ignores new arguments, so the call is denied and the replacement named.
    "rewrite in Qwen": Scenario(
        (": rewrite; echo > ran",),
        not_ran=("ran", "rewritten"),
        told=(": rewritten; echo > rewritten",),
        clients=frozenset(("qwen",)),
    ),
    "rewrite without allow": Scenario((": replace; echo > ran",), not_ran=("ran",)),
    "context": Scenario((": tell; echo > ran",), ran=("ran",), told=("the-context",), clients=ALL - {"gemini", "qwen"}),
    "context with a result": Scenario((": tell-after; echo > ran",), ran=("ran",), told=("the-later-context",)),
    "redacted": Scenario(
        ("cat notes; echo > ran",),
        files=(("notes", "the-secret-word"),),
        ran=("ran",),
        told=("[redacted by the policy]",),
        not_told=("the-secret-word",),
    ),
    "prompt blocked": Scenario(
        (": none; echo > ran",),
        prompt="Take the-refused-prompt.",
        not_ran=("ran",),
        not_told=("the-refused-prompt",),
        requests=0,
    ),
    # One request for the prompt, and three rounds.
    "rounds capped": Scenario(files=(("again", ""),), told=("the-next-round",), requests=4, clients=ALL - {"opencode"}),
    "hook raises": Scenario((": raise; echo > ran", _AFTER), not_ran=("ran",), ran=("after",)),
    "hook ends its process": Scenario((": exit; echo > ran", _AFTER), not_ran=("ran",), ran=("after",)),
    "hook kills its group": Scenario((": kill; echo > ran", _AFTER), not_ran=("ran",), ran=("after",)),
    "hook hangs": Scenario((": hang; echo > ran", _AFTER), not_ran=("ran",), ran=("after",)),
}

# What an agent does to the parts of the gate: {site} is the environment's packages, {python} its interpreter's link,
# {wiring} the client's hooks, {config} the folder of the trust store, {state} that of the state.
ATTACKS = {
    "wiring emptied": "echo > {wiring}",
    "wiring removed": "rm -f {wiring}",
    "wiring moved": "mv {wiring} {wiring}.old",
    "wiring edited in place": "sed -i s/agent_hooks_core/true/ {wiring}",
    "launcher emptied": "echo > {site}/agent_hooks_core.py",
    "launcher edited by python": 'python3 -c \'open("{site}/agent_hooks_core.py", "w")\'',
    "interpreter replaced": "ln -sf /bin/true {python}",
    "interpreter removed": "rm -f {python}",
    "plugin emptied": "echo > {site}/e2e_policy.py",
    "guards removed": "rm -rf {site}/agent_hooks_guards",
    "plugin's dist-info removed": "rm -rf {site}/e2e_policy-1.dist-info",
    "core's dist-info removed": "rm -rf {site}/agent_hooks_core-*.dist-info",
    "dependency emptied": "echo > {site}/pluggy/__init__.py",
    "a .pth file added": "echo import os > {site}/zz.pth",
    "folder of packages moved": "mv {site} {site}.old",
    "trust store written": "mkdir -p {config}; echo > {config}/trust",
    "state removed": "rm -rf {state}",
    "uninstalled": "{bin}/agent-hooks uninstall --all",
    "uninstalled by module": "{python} -m agent_hooks_core uninstall --all",
    "uninstalled by pip": "{python} -m pip uninstall -y agent-hooks-core",
}
