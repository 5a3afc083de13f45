"""``agent-hooks init``: write the smallest file with one rule, and say what shows it."""

from __future__ import annotations

import os
import sys

from agent_hooks.sources.files import FILE, HOOKCONF
from agent_hooks.system.folders import config_dir
from agent_hooks.system.visible import visible

_TOML = """\
[[hooks.before_tool_use]]
matcher = "shell"

  [[hooks.before_tool_use.hooks]]
  type = "command"
  command = "if grep -q 'push .*--force'; then echo 'Agents do not force-push here.' >&2; exit 2; fi"
"""
_PYTHON = """\
from agent_hooks import HookOutcome, hookimpl


@hookimpl(match="shell")
def before_tool_use(tool_call):
    if tool_call.may_run("git", "push", flags={"--force", "-f"}):
        return HookOutcome.deny("Agents do not force-push here.")
"""
_CHECK = "agent-hooks check before_tool_use --tool Bash --arg command='git push --force'"


def make_file(*, python: bool, user: bool) -> int:
    """Write a file with one rule, in the current folder or as the user's own; return 1 if there is one, else 0."""
    folder = config_dir() if user else os.getcwd()
    path = os.path.join(folder, HOOKCONF if python else FILE)
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        # Nobody else may write a file that is run without a trust.
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644), "w", encoding="utf-8") as file:
            file.write(_PYTHON if python else _TOML)
    except FileExistsError:
        print(f"agent-hooks: {visible(path)} is there already, and stays as it is.", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"agent-hooks: {visible(path)} cannot be written: {error.strerror}.", file=sys.stderr)
        return 1
    print(f"Written: {visible(path)}\nIt has one rule: agents do not force-push. Type next:")
    print(f"  {_CHECK}" if user else f"  agent-hooks trust\n  {_CHECK}")
    return 0
