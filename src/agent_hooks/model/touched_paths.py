"""The paths that an event's tool call touches."""

from __future__ import annotations

import os

from agent_hooks.system.paths import expanded, real_path

from .tools import MAX_PATH, possible_paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from .context import HookContext

# Limits of the search in a shell command.
_MAX_COMMAND = 64 * 1024
_MAX_WORDS = 200
_BREAKS = str.maketrans(dict.fromkeys("'\"`;|&<>()", " "))


def touched_paths(ctx: HookContext) -> tuple[str, ...]:
    """Return the call's absolute paths as written and with links resolved (links before ``..``)."""
    return () if ctx.tool_call is None else _absolute(ctx.tool_call.paths, ctx.cwd)


def further_paths(ctx: HookContext) -> tuple[str, ...]:
    """Return the absolute forms of all arguments that may be paths, whatever their keys."""
    return () if ctx.tool_call is None else _absolute(possible_paths(ctx.tool_call.args, ctx.cwd), ctx.cwd)


def command_paths(ctx: HookContext) -> tuple[str, ...]:
    """Return the absolute forms of the tokens of a shell call that contain a separator."""
    call = ctx.tool_call
    if call is None or call.kind != "shell" or not call.command:
        return ()
    words = dict.fromkeys(
        word.partition("=")[2] or word for word in call.command[:_MAX_COMMAND].translate(_BREAKS).split()
    )
    return _absolute([word for word in words if "/" in word and len(word) <= MAX_PATH][:_MAX_WORDS], ctx.cwd)


def _absolute(paths: Sequence[str], cwd: str) -> tuple[str, ...]:
    joined = [os.path.join(cwd, expanded(path)) for path in paths]
    return tuple(dict.fromkeys((*map(os.path.normpath, joined), *map(real_path, joined))))
