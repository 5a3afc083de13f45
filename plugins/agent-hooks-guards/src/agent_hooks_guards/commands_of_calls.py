"""What of a tool call is given to a shell, which shell that is, and where it runs."""

from __future__ import annotations

import os

from agent_hooks.paths import real_path
from agent_hooks.tools import COMMAND_KEYS, texts_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_hooks import HookContext, ToolCall

    from .places import Place

_WORKDIR_KEYS = ("workdir", "cwd", "working_directory", "directory")
_TYPED_KEYS = ("chars", "input", "keystrokes")
# Where tools that are no shells by their kind take commands, and what is typed into a terminal.
KEYS = frozenset((*COMMAND_KEYS, *_TYPED_KEYS))
_RUNNING_NAMES = frozenset("bash shell sh zsh exec execute run terminal command cmd console powershell pwsh".split())
_TYPING_NAMES = ("stdin", "terminal", "send_key", "keystroke")


def command_of(call: ToolCall) -> str:
    """Return what a tool call gives to a shell; "" for none."""
    if call.kind == "shell":
        return "\n".join(text for text in (call.command, _typed(call)) if text)
    if call.kind not in ("other", "mcp"):
        return ""
    words = frozenset(call.name.lower().replace("-", "_").replace(".", "_").split("_"))
    if not words.isdisjoint(_RUNNING_NAMES) and (command := texts_in(call.args, COMMAND_KEYS)):
        return command
    return _typed(call)


def _typed(call: ToolCall) -> str:
    """What is typed into a terminal that is open."""
    if not any(each in call.name.lower() for each in _TYPING_NAMES):
        return ""
    return "\n".join(value for key in _TYPED_KEYS if isinstance(value := call.args.get(key), str))


def language_of(call: ToolCall) -> str:
    """Return which shell a tool's name says that it is: ``sh``, ``powershell`` or ``cmd``."""
    name = call.name.lower()
    if "powershell" in name or "pwsh" in name:
        return "powershell"
    return "cmd" if name.rpartition("_")[2] in ("cmd", "cmd.exe") else "sh"


def place_of(ctx: HookContext, call: ToolCall) -> Place:
    """Return where a tool call happens: its own working directory if it names one, else the event's."""
    from .links import folders_of
    from .places import Place, absolute

    home = os.path.expanduser("~")
    here, project = folders_of(ctx, home)
    given = [value for key in _WORKDIR_KEYS if isinstance(value := call.args.get(key), str) and value]
    cwd = absolute(given[0], here, home) if given else here
    if project != cwd and not cwd.startswith(f"{project.rstrip('/')}/"):
        # A workspace may be reached by a symbolic link, and is the same one.
        real, real_project = real_path(cwd), real_path(project)
        if real == real_project or real.startswith(f"{real_project.rstrip('/')}/"):
            return Place(real, home, real_project)
    return Place(cwd, home, project)
