"""One handler of a configuration file: its command or request, its event and its policy."""

from __future__ import annotations

import os

from agent_hooks.model.values import FrozenDict, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, ClassVar

    from agent_hooks.model.context import HookContext
    from agent_hooks.model.events import HookEvent

# Whose contract an answer is read by, and what a failure means there where nobody said otherwise: None is the event's
# own default (closed on the events of gates), "open" is not blocking.
FORMS: dict[str, str | None] = {"toml": None, "claude": "open", "skill": "open"}


class Permits(Value):
    """What the user, or who manages the machine, lets handlers do beyond the ordinary.

    ``env``: names of further environment variables that commands get. ``header_env``: names that headers of requests
    may use. ``hosts``: hosts that requests may go to although their address is not a public one.
    """

    env: tuple[str, ...] = ()
    header_env: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()

    _decode: ClassVar[dict[str, Callable[[Any], Any]]] = {"env": tuple, "header_env": tuple, "hosts": tuple}


class HookEntry(Value):
    """One handler of one file.

    ``type`` and ``config``: the handler's type and all its other fields, as they are written. ``form``: whose format
    the file has (``FORMS``). ``matcher``: the text in the file; ``match``: the predicate it stands for, where the
    format has rules of its own (None: our rules of match texts). ``path`` and ``line``: where it stands. ``directory``:
    where relative paths in it start. ``project_dir``: the root of the project that it belongs to, an empty string
    outside one; for Claude Code's settings in an inner folder this is that folder, and ``root`` the root of the whole
    project. ``plugin_root``: the folder of the Claude Code plugin that it belongs to. ``host_event``: Claude Code's
    name of an event that has none here. ``condition``: the text of its `if`, which ``match`` includes. ``is_gate``:
    whether it must not be missed where no hook can be made of it. ``once``: it runs once in a session. ``is_async``: it
    is started, and its decision ignored. ``scripts``: by absolute path, the SHA-256 of the files that the command runs,
    as they were trusted; it is empty where there was none, so that none may run. The rest is as in ``hookimpl`` and
    ``HookManager.register``.
    """

    event: HookEvent
    type: str
    config: Mapping[str, Any] = FrozenDict()
    form: str = "toml"
    source: str = "user"
    scope: tuple[str, ...] | None = None
    matcher: str | None = None
    match: Callable[[HookContext], Any] | None = None
    path: str = ""
    line: int = 0
    directory: str = ""
    project_dir: str = ""
    root: str = ""
    plugin_root: str = ""
    host_event: str = ""
    condition: str = ""
    is_gate: bool = True
    name: str = ""
    mode: str = "gate"
    priority: int = 0
    on_failure: str | None = None
    required: bool = False
    shadow: bool = False
    once: bool = False
    is_async: bool = False
    scripts: Mapping[str, str] = FrozenDict()
    permits: Permits = Permits()

    @property
    def origin(self) -> str:
        """Where it stands, as ``file:line``, the file relative to its project where it is in one."""
        path, root = self.path, self.root or self.project_dir
        if root and path.startswith(os.path.join(root, "")):
            path = os.path.relpath(path, root)
        return f"{path}:{self.line}" if self.line else path
