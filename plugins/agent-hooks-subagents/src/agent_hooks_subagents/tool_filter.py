"""Which of its parent's tools a subagent has: those on a list, without those on another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_hooks import HookContext, RegistrationError, ToolCall
from agent_hooks.model.tools import is_trusted_name
from agent_hooks_guards import ToolAllowlist, ToolBlocklist

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from agent_hooks import Tool


class ToolFilter:
    """An allowlist (None: every tool) and a blocklist of tools; what both name is left out.

    Both have names of tools, kinds (``shell``, ``read``…), Claude Code's names for a kind, and globs (``mcp__docs__*``)
    of names. A tool that starts subagents is only let through where ``allowed`` names it: a glob does not, and neither
    does the absence of a list. Raises ``RegistrationError`` for what is none of these.

    ``guards`` judge calls by the same rule, with their arguments: a patch that deletes is no edit.
    """

    def __init__(self, allowed: str | Iterable[str] | None, disallowed: str | Iterable[str] = ()) -> None:
        self.allowed = None if allowed is None else words("tools", allowed)
        self.disallowed = words("disallowed_tools", disallowed)
        found: list[ToolAllowlist | ToolBlocklist] = []
        if self.allowed:
            found.append(ToolAllowlist(self.allowed))
        if self.disallowed:
            found.append(ToolBlocklist(self.disallowed))
        self.guards = tuple(found)

    @property
    def names(self) -> tuple[str, ...]:
        """The names and kinds of both lists, without globs."""
        given = (*(self.allowed or ()), *self.disallowed)
        return tuple(name for name in dict.fromkeys(given) if is_trusted_name(name))

    def permits(self, tool: Tool) -> bool:
        """Whether a subagent has the tool."""
        if self.allowed == ():
            return False
        call = ToolCall(tool.name, kind=tool.kind, aliases=tool.aliases)
        if tool.kind == "subagent" and set(call.names).isdisjoint(self.allowed or ()):
            return False
        ctx = HookContext("before_tool_use", tool_call=call)
        return all(guard.judge(ctx, call) is None for guard in self.guards)

    def of(self, tools: Iterable[Tool]) -> list[Tool]:
        """Return those of ``tools`` that a subagent has, in their order."""
        return [tool for tool in tools if self.permits(tool)]


def words(key: str, given: str | Iterable[str]) -> tuple[str, ...]:
    """Return the names and globs in ``given``: a list, or a text that commas, bars and blanks divide. Raises
    ``RegistrationError`` for a text that is neither name nor glob.
    """
    texts: tuple[Any, ...] = (given,) if isinstance(given, str) else tuple(given)
    found: list[str] = []
    for text in texts:
        parts = text.replace(",", " ").replace("|", " ").split() if isinstance(text, str) else [""]
        for part in parts:
            if not is_trusted_name(part.replace("*", "x").replace("?", "x")):
                raise RegistrationError(
                    f"{key}: {text!r} is no list of tools: write names (read_file), kinds (shell), Claude Code's names "
                    "(Bash) or globs of names (mcp__docs__*)."
                )
        found += parts
    return tuple(found)
