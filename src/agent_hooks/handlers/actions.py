"""Commands and requests as actions of hooks in code."""

from __future__ import annotations

import os
import re
from functools import cache
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from agent_hooks.engine.origins import ORIGIN, origin_of_making
from agent_hooks.engine.registration import HookAction
from agent_hooks.errors import RegistrationError
from agent_hooks.formats.entry import HookEntry, Permits
from agent_hooks.model.events import HookEvent

from .command import CommandHandler
from .types import read_config

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from agent_hooks.model.context import HookContext

    from .handler_type import HandlerType


class _HandlerAction(HookAction):
    """An action that asks a handler about each event, by the rules of the user's own TOML files."""

    def __init__(
        self, kind: str, handler: HandlerType, fields: Mapping[str, Any], permits: Permits, shown: str
    ) -> None:
        try:
            config = read_config(handler, fields)
        except RegistrationError as error:
            raise RegistrationError(f"{type(self).__name__}: {error}") from None
        self.__name__ = f"{kind}:{shown:.40}" if shown else kind
        setattr(self, ORIGIN, origin_of_making(self))

        def bind(event: HookEvent) -> Callable[[HookContext], Any]:
            return handler.bind(config, HookEntry(event=event, type=kind, config=fields, permits=permits))

        self._bind = cache(bind)
        self._bind(HookEvent.BEFORE_TOOL_USE)  # report mistakes where the action is made

    def execute(self, ctx: HookContext) -> Any:
        """Return the decision of the program or the server: at once, or as an awaitable where an event loop runs.

        Raises ``HandlerError`` for an unusable answer.
        """
        return self._bind(ctx.event)(ctx)

    __call__ = execute

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.__name__}>"


class CommandAction(_HandlerAction):
    """A command that decides: it gets the event as JSON on its standard input, and answers as a command hook of a TOML
    file does: ``builder.before_tool_use(CommandAction(["python3", "check.py"]), match="shell")``.

    ``command``: a program and its arguments as a list, or a shell's command line as a text; it never contains parts of
    the event. ``timeout``: in seconds; in an event loop, the policy's timeout applies too. ``cwd``: the working
    directory (default: the event's). ``env``: further variables. Raises ``RegistrationError`` for an invalid command.
    """

    def __init__(
        self,
        command: str | Sequence[str],
        *,
        timeout: float = 60.0,
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
    ) -> None:
        if not isinstance(command, str) and not (isinstance(command, (list, tuple)) and command):
            raise RegistrationError(
                f"CommandAction: command is a text, or a list of a program and its arguments, not {command!r:.80}."
            )
        fields: dict[str, Any] = {"command": command if isinstance(command, str) else list(command), "timeout": timeout}
        fields |= {} if cwd is None else {"cwd": os.fspath(cwd)}
        fields |= {} if env is None else {"env": dict(env)}
        super().__init__("command", CommandHandler(), fields, Permits(), _shown(command))


class HttpAction(_HandlerAction):
    """A server that decides: the event is posted to ``url`` as JSON, and it answers as for an http hook of a TOML file.

    ``headers``: may use the environment variables in ``allowed_env_vars``, as ``$NAME``. ``timeout``: in seconds, for
    the whole exchange. Naming a host here permits it. Raises ``RegistrationError`` for an unusable URL or header,
    and without the extra ``http``.
    """

    def __init__(
        self,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        timeout: float = 30.0,
        allowed_env_vars: Iterable[str] = (),
    ) -> None:
        from urllib.parse import urlsplit

        from .http import HttpHandler

        names = list(allowed_env_vars)
        fields = {"url": url, "headers": dict(headers or {}), "timeout": timeout, "allowed_env_vars": names}
        try:
            host = urlsplit(url).hostname or ""
        except ValueError:  # the validation of the fields reports it
            host = ""
        permits = Permits(hosts=(host,) if host else (), header_env=tuple(names))
        super().__init__("http", HttpHandler(), fields, permits, host)


def _shown(command: str | Sequence[str]) -> str:
    """Return the command up to its first option, variable or address, which may hold a secret."""
    arguments = command.split() if isinstance(command, str) else map(str, command)
    return " ".join(takewhile(re.compile(r"[\w./\\+~][\w./\\+~-]*").fullmatch, arguments))
