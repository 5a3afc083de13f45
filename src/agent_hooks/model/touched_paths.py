"""The paths that an event's tool call touches. Each question is answered once per dispatch, however many hooks ask."""

from __future__ import annotations

import os

from agent_hooks.system.paths import expanded, real_path

from .tools import MAX_PATH, possible_paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .context import HookContext

    Paths = tuple[str, ...]

# Limits of the search in a shell command.
_MAX_COMMAND = 64 * 1024
_MAX_WORDS = 200
_BREAKS = str.maketrans(dict.fromkeys("'\"`;|&<>()", " "))


def _once_per_dispatch(find: Callable[[HookContext], Paths]) -> Callable[[HookContext], Paths]:
    """Let ``find`` be asked once about the contexts of one dispatch, as long as its call and folders are the same."""
    last: tuple[object, object, Paths] = (None, None, ())

    def found(ctx: HookContext) -> Paths:
        nonlocal last
        call, place = ctx.tool_call, (ctx.created_at, ctx.cwd, ctx.project_dir)
        known = last
        if known[0] is not call or known[1] != place:
            known = last = (call, place, find(ctx))
        return known[2]

    found.__doc__ = find.__doc__
    return found


@_once_per_dispatch
def working_folders(ctx: HookContext) -> tuple[str, ...]:
    """Return the event's working directory as written and with links resolved."""
    return (ctx.cwd, real_path(ctx.cwd)) if ctx.cwd else ()


@_once_per_dispatch
def project_folders(ctx: HookContext) -> tuple[str, ...]:
    """Return the event's project as written and with links resolved."""
    return (ctx.project_dir, real_path(ctx.project_dir)) if ctx.project_dir else ()


@_once_per_dispatch
def touched_paths(ctx: HookContext) -> tuple[str, ...]:
    """Return the call's absolute paths as written and with links resolved (links before ``..``)."""
    return () if ctx.tool_call is None else _absolute(ctx.tool_call.paths, ctx.cwd)


@_once_per_dispatch
def further_paths(ctx: HookContext) -> tuple[str, ...]:
    """Return the absolute forms of all arguments that may be paths, whatever their keys."""
    return () if ctx.tool_call is None else _absolute(possible_paths(ctx.tool_call.args, ctx.cwd), ctx.cwd)


@_once_per_dispatch
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
