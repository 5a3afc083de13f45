"""What every guard is: one rule about tool calls, usable as a plugin and as the action of a registration."""

from __future__ import annotations

from agent_hooks import GUARD, RegistrationError, hookimpl
from agent_hooks.errors import HookMisuseError
from agent_hooks.matchers import compile_match

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from agent_hooks import HookContext, HookOutcome, ToolCall


class Guard:
    """A rule about tool calls. ``manager.register(guard)`` makes it a plugin; ``execute(ctx)`` makes it an action."""

    def execute(self, ctx: HookContext) -> HookOutcome | None:
        """Return what the rule says about the tool call of ``ctx``; None is no opinion.

        Raises ``HookMisuseError`` on an event that has no tool call.
        """
        if ctx.tool_call is None:
            raise HookMisuseError(
                f"{type(self).__name__} judges tool calls and {str(ctx.event)!r} has none: "
                "register it on before_tool_use."
            )
        return self.judge(ctx, ctx.tool_call)

    def judge(self, ctx: HookContext, call: ToolCall) -> HookOutcome | None:
        """Return what the rule says about ``call``."""
        raise NotImplementedError

    @hookimpl(priority=GUARD, mode="gate", on_failure="closed")
    def before_tool_use(self, ctx: HookContext) -> HookOutcome | None:
        """Judge the call before it is made."""
        return self.execute(ctx)


def texts(name: str, given: str | Iterable[str]) -> tuple[str, ...]:
    """Return one text or several as a tuple. Raises ``RegistrationError`` if there is none, or a blank one, which would
    mean everything.
    """
    found = (given,) if isinstance(given, str) else tuple(given)
    if not found or not all(text.strip() for text in found):
        raise RegistrationError(
            f"{name} must be one or more texts that are not blank ('*' is everything), not {given!r}."
        )
    return found


def tool_test(match: str | None, source: str) -> Callable[[HookContext], Any]:
    """Return the predicate for a match text on tool calls."""
    test = compile_match(match, "tool", source)
    return test if test is not None else lambda _ctx: True


def worded(message: str, call: ToolCall) -> str:
    """Return ``message`` with the tool's name for ``{tool}``."""
    return message.replace("{tool}", call.name)
