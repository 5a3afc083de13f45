"""One handler of a configuration file: its command or request, its event and its policy."""

from __future__ import annotations

import os

from agent_hooks.model.values import FrozenDict, Value
from agent_hooks.system.visible import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, ClassVar

    from agent_hooks.model.context import HookContext
    from agent_hooks.model.events import HookEvent

# The formats, whose contract a hook's output follows, with their default of ``on_failure``: None is the event's own
# default (closed on the events of gates), "open" does not block.
FORMS: dict[str, str | None] = {"toml": None, "claude": "open", "skill": "open"}


class Permits(Value):
    """Additional permissions of handlers, from the user or the machine's owner.

    ``env``: environment variables to pass to commands. ``header_env``: environment variables that headers of requests
    may use. ``hosts``: hosts without a public address that requests may go to.
    """

    env: tuple[str, ...] = ()
    header_env: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()

    _decode: ClassVar[dict[str, Callable[[Any], Any]]] = {"env": tuple, "header_env": tuple, "hosts": tuple}


class HookEntry(Value):
    """One handler of one file.

    ``type`` and ``config``: the handler's type and its other fields, unvalidated. ``form``: the format of the file
    (``FORMS``). ``matcher``: the text in the file; ``match``: its predicate in a format with its own rules (None: our
    rules of match texts). ``path`` and ``line``: the location. ``directory``: the base of relative paths.
    ``project_dir``: the root of its project, an empty string outside one; for Claude Code's settings in an inner folder
    this is that folder, and ``root`` the root of the whole project. ``plugin_root``: the folder of its Claude Code
    plugin. ``host_event``: Claude Code's name of an event without a name here. ``condition``: the text of its `if`,
    which ``match`` includes. ``is_gate``: whether the entry must block if it cannot be honoured. ``once``: it runs once
    in a session. ``is_async``: its command is started and its decision ignored. ``scripts``: by absolute path, the
    trusted SHA-256 of the files that the command runs; an empty digest stands for a missing file, which must not run.
    The other fields are those of ``hookimpl`` and ``HookManager.register``.
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
        """The location as ``file:line``, relative to the project, for people."""
        path, root = self.path, self.root or self.project_dir
        if root and path.startswith(os.path.join(root, "")):
            path = os.path.relpath(path, root)
        return visible(f"{path}:{self.line}" if self.line else path)
