"""Http hooks: the event is posted to a server as JSON, and its answer is the hook's."""

from __future__ import annotations

import asyncio
import json
import os
import re
from urllib.parse import urlsplit

from agent_hooks.engine.calling import in_event_loop
from agent_hooks.errors import HandlerError, RegistrationError
from agent_hooks.model.policy import RANKS, USER_RANK
from agent_hooks.model.values import Value

from .addresses import as_literal, is_any, is_loopback, is_public
from .handler_type import HandlerType
from .outputs import read_body
from .payload import payload_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from pydantic import BaseModel

    from agent_hooks.formats.entry import HookEntry
    from agent_hooks.model.context import HookContext

    from .addresses import IsAllowed
    from .http_config import HttpConfig

_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # RFC 9110 §5.6.2
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")  # RFC 9110 §5.5
_VARIABLE = re.compile(r"\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))")
# The client sets these; a file must not.
_OURS = frozenset(
    "accept-encoding connection content-length expect host keep-alive te trailer transfer-encoding upgrade".split()
)
_PERMITS = "under [permits] in the user's agent-hooks.toml"


class HttpFields(Value):
    """The fields of an ``HttpConfig``, and the parts of its URL. ``has_login``: it names a user or a password."""

    url: str
    host: str
    scheme: str
    has_login: bool
    headers: Mapping[str, str]
    timeout: float
    allowed_env_vars: tuple[str, ...]


class HttpHandler(HandlerType):
    """The handler type ``http``: a server decides.

    Requests go out by https; to this machine by http too, if a user's own file says so, and to other hosts where the
    user permits it. Certificates are always verified, by the system's authorities and certifi's (``SSL_CERT_FILE`` of
    the environment adds one's own).
    """

    @property
    def config(self) -> type[BaseModel]:  # type: ignore[override]  # imported when a file is read
        """The model of its fields."""
        from .http_config import HttpConfig

        return HttpConfig

    def bind(self, config: HttpConfig, entry: HookEntry) -> Callable[[HookContext], Any]:
        """Return the hook of one entry. Raises ``RegistrationError`` if the host is not permitted."""
        try:
            from . import connections
        except ImportError as error:
            raise RegistrationError(f"http hooks need {error.name}: pip install 'agent-hooks-core[http]'.") from error
        url = config.url
        fields = HttpFields(
            url=str(url),
            host=url.host or "",
            scheme=url.scheme,
            has_login=bool(url.username or url.password),
            headers={**config.headers},
            timeout=config.timeout,
            allowed_env_vars=(*config.allowed_env_vars,),
        )
        is_allowed = _allowed_addresses(fields, entry)
        templates = _header_templates(fields, entry)

        async def answer(ctx: HookContext) -> Any:
            await asyncio.sleep(0)  # a sync dispatch gives up here, before the request is sent
            status, body = await connections.post(
                fields.url,
                headers=_headers(templates, fields, entry),
                body=json.dumps(payload_of(entry, ctx)).encode(),
                timeout=fields.timeout,
                is_allowed=is_allowed,
            )
            return read_body(entry, ctx, status, body)

        def hook(ctx: HookContext) -> Any:
            if in_event_loop():
                return answer(ctx)
            # With a loop factory, the runner leaves the current event loop of the thread alone.
            with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
                return runner.run(answer(ctx))

        return hook


def _allowed_addresses(config: HttpFields, entry: HookEntry) -> IsAllowed:
    """Return the check of the addresses that the entry may use. Raises ``RegistrationError`` if it may use none."""
    host = config.host.strip("[]")
    if config.has_login:
        raise RegistrationError("url: a name and password in it would be seen in messages; send them as a header")
    name = host.rstrip(".").lower()
    if name in {permitted.strip("[]").rstrip(".").lower() for permitted in entry.permits.hosts}:
        return is_any
    literal = as_literal(host)
    is_own_machine = name == "localhost" or (literal is not None and is_loopback(literal))
    if is_own_machine and _is_users_own(entry):
        return is_loopback
    permit = f"add {host!r} to `hosts` {_PERMITS}"
    if is_own_machine or (literal is not None and not is_public(literal)):
        raise RegistrationError(f"url: {host} is not a public address. If that is meant, {permit}")
    if config.scheme != "https":
        raise RegistrationError(f"url: what is sent to {host} by http can be read on the way. Use https, or {permit}")
    return is_public


def _is_users_own(entry: HookEntry) -> bool:
    return RANKS.get(entry.source, -1) >= USER_RANK


def _header_templates(config: HttpFields, entry: HookEntry) -> dict[str, str]:
    """Return the headers with their variables. Raises ``RegistrationError`` for one that may not be sent."""
    found = {}
    for name, template in config.headers.items():
        if not _HEADER_NAME.fullmatch(name):
            raise RegistrationError(f"headers: {name!r} is no name of a header")
        if name.lower() in _OURS:
            if entry.form == "claude":  # it ignores them too
                continue
            raise RegistrationError(f"headers: {name} is set by what sends the request; leave it out")
        if not _HEADER_VALUE.fullmatch(template):
            raise RegistrationError(f"headers.{name}: a header is one line of Latin-1 text")
        found[name] = template
        for match in _VARIABLE.finditer(template) if _takes_variables(config, entry) else ():
            variable = match[1] or match[2]
            if variable in config.allowed_env_vars:
                if not _is_users_own(entry) and variable not in entry.permits.header_env:
                    permit = f"To do so, add {variable!r} to `header_env` {_PERMITS}"
                    raise RegistrationError(f"headers.{name}: the user has not permitted ${variable}. {permit}")
            elif entry.form == "toml":  # Claude Code replaces it by an empty text
                raise RegistrationError(f"headers.{name}: to use ${variable}, add {variable!r} to allowed_env_vars")
    return found


def _takes_variables(config: HttpFields, entry: HookEntry) -> bool:
    """Whether headers have variables. A skill's are literal, as in SkillKit, unless it has Claude Code's key for it."""
    return entry.form != "skill" or bool(config.allowed_env_vars)


def _headers(templates: dict[str, str], config: HttpFields, entry: HookEntry) -> dict[str, str]:
    """Return the headers of a request. Raises ``HandlerError`` naming a variable that cannot be used, not its value."""

    def value_of(match: re.Match[str]) -> str:
        variable = match[1] or match[2]
        value = os.environ.get(variable) if variable in config.allowed_env_vars else None
        if value is None:
            if entry.form != "toml":
                return ""
            raise HandlerError(f"The environment variable {variable}, which a header uses, is not set.")
        if not _HEADER_VALUE.fullmatch(value):
            raise HandlerError(f"The environment variable {variable}, which a header uses, is not one line of Latin-1.")
        return value

    found = {
        "host": urlsplit(config.url).netloc,
        "accept-encoding": "identity",
        "content-type": "application/json",
        "accept": "application/json",
        "user-agent": "agent-hooks",
    }
    for name, template in templates.items():
        value = _VARIABLE.sub(value_of, template) if _takes_variables(config, entry) else template
        found[name.lower()] = value.strip(" \t")
    return found
