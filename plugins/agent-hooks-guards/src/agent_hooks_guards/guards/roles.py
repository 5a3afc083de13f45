"""Roles: tools that need one of some roles."""

from __future__ import annotations

import os

from agent_hooks import HookOutcome

from .base import Guard, fill_in, texts, tool_test

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent_hooks import HookContext, ToolCall

ROLES = ("admin",)
ROLE_KEY = "user_role"
MESSAGE = 'Tool "{tool}" requires {roles} privileges.'


class RoleAccess(Guard):
    """Denies the tools that any of ``tools`` matches to everyone without one of ``roles``.

    The role is one string or several in the metadata of the agent's state, under ``role_key``. Without it (coding
    agents give no state) the environment variable ``role_env`` counts, if set; without any role, the call is denied.
    ``message``: the reason; ``{tool}`` and ``{roles}`` are filled in. ``source`` as in ``ToolBlocklist``. Raises
    ``RegistrationError`` for a match text that does not compile.
    """

    def __init__(
        self,
        tools: str | Iterable[str],
        *,
        roles: str | Iterable[str] = ROLES,
        role_key: str = ROLE_KEY,
        role_env: str | None = None,
        message: str = MESSAGE,
        source: str = "code",
    ) -> None:
        self._tests = [tool_test(text, source) for text in texts("tools", tools)]
        self._roles = texts("roles", roles)
        self._role_key = role_key
        self._role_env = role_env
        self._message = message.replace("{roles}", " or ".join(self._roles))

    def judge(self, ctx: HookContext, call: ToolCall) -> HookOutcome | None:
        """Deny a tool that is for other roles."""
        if any(test(ctx) for test in self._tests) and self._held(ctx).isdisjoint(self._roles):
            return HookOutcome.deny(fill_in(self._message, call))
        return None

    def _held(self, ctx: HookContext) -> frozenset[str]:
        held = ctx.state.metadata.get(self._role_key) if ctx.state is not None else None
        if held is None and self._role_env is not None:
            held = os.environ.get(self._role_env)
        if isinstance(held, str):
            return frozenset({held})
        return frozenset(held) if isinstance(held, (list, tuple, set, frozenset)) else frozenset()
