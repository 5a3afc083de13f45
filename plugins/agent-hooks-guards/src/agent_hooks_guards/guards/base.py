"""The base of every guard: one rule about tool calls, or about a whole run, as a plugin or as a registered action."""

from __future__ import annotations

from agent_hooks import GUARD, HookOutcome, RegistrationError, StopSignal, hookimpl
from agent_hooks.engine.matchers import compile_match
from agent_hooks.errors import HookMisuseError

from .objection import outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from agent_hooks import HookContext, StopReason, ToolCall
    from agent_hooks.engine.markers import Match

    from .objection import Objection

# The source of a rule in a settings file, whose rank it is: matches may be only what the engine takes from a project.
SETTINGS_SOURCE = "project"


class Guard:
    """A rule about tool calls. ``manager.register(guard)`` makes it a plugin; ``execute(ctx)`` makes it an action."""

    def execute(self, ctx: HookContext) -> HookOutcome | None:
        """Judge the tool call of ``ctx``; None is no opinion.

        Raises ``HookMisuseError`` on an event that has no tool call.
        """
        if ctx.tool_call is None:
            raise HookMisuseError(
                f"{type(self).__name__} judges tool calls and {str(ctx.event)!r} has none: "
                "register it on before_tool_use."
            )
        return self.judge(ctx, ctx.tool_call)

    def judge(self, ctx: HookContext, call: ToolCall) -> HookOutcome | None:
        """Judge ``call``: by default, deny or ask if there are objections."""
        return outcome(self.objections(ctx, call))

    def objections(self, ctx: HookContext, call: ToolCall) -> Iterable[Objection]:  # noqa: ARG002 - for guards to override
        """Return the objections to ``call``."""
        return ()

    @hookimpl(priority=GUARD, mode="gate", on_failure="closed")
    def before_tool_use(self, ctx: HookContext) -> HookOutcome | None:
        """Judge the call before it is made."""
        return self.execute(ctx)


class RunGuard:
    """A rule about a run: it never denies, it leaves a stop signal. Signals accumulate, and the most authoritative one
    is reported, so several guards may signal in one step.

    ``events``, ``priority``, ``name``: where and as what ``UseGuards`` registers it. ``mode``: the mode of a
    registration of its own.
    """

    name = ""
    events: tuple[str, ...] = ("before_step",)
    priority = GUARD
    mode = "gate"

    def handle(self, ctx: HookContext) -> HookOutcome | None:
        """Return the stop signal as an outcome; None while the run may go on."""
        signal = self.signal(ctx)
        return None if signal is None else HookOutcome.signal(signal)

    def signal(self, ctx: HookContext) -> StopSignal | None:
        """Return a stop signal; None while the run may go on."""
        raise NotImplementedError

    def stop(self, reason: StopReason, message: str, **numbers: Any) -> StopSignal:
        """Return this guard's stop signal, with ``numbers`` as its context."""
        return StopSignal(reason=reason, message=message, context=numbers, source=type(self).__name__)


def check_choice(name: str, given: str, choices: Iterable[str]) -> str:
    """Return ``given``. Raises ``RegistrationError`` unless it is one of ``choices``."""
    choices = tuple(choices)
    if given not in choices:
        raise RegistrationError(f"{name} must be one of {', '.join(choices)}, not {given!r}.")
    return given


def whole_number(name: str, given: int) -> int:
    """Return ``given``. Raises ``RegistrationError`` unless it is a whole number from 0."""
    if type(given) is not int or given < 0:  # a bool is a mistake here, though Python counts with it
        raise RegistrationError(f"{name} must be a whole number from 0, not {given!r}.")
    return given


def texts(name: str, given: str | Iterable[str]) -> tuple[str, ...]:
    """Return one string or several as a tuple. Raises ``RegistrationError`` without any, and for a blank one, which
    would match everything.
    """
    found = (given,) if isinstance(given, str) else tuple(given)
    if not found or not all(text.strip() for text in found):
        raise RegistrationError(
            f"{name} must be one or more texts that are not blank ('*' is everything), not {given!r}."
        )
    return found


def tool_test(match: Match | None, source: str) -> Callable[[HookContext], Any]:
    """Compile a match on tool calls into a predicate."""
    test = compile_match(match, "tool", source)
    return test if test is not None else lambda _ctx: True


def fill_in(message: str, call: ToolCall) -> str:
    """Return ``message`` with the tool's name for ``{tool}``."""
    return message.replace("{tool}", call.name)
