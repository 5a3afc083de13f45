"""What the installed plugin decides about a call."""

from __future__ import annotations

from making import about

from agent_hooks import HookManager

TOKEN = "ghp_" + "a1b2c3d4e5" * 4


def decided(name, kind, args, **fields):
    hooks = HookManager().hooks(ask="host")
    return hooks.dispatch_sync(about(name, kind=kind, args=args, **fields))


def shell(command, **fields):
    return decided("Bash", "shell", {"command": command}, **fields)
