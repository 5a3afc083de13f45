"""The handler type ``subagent``: an agent that can only read decides an event, by the rule that a file gives it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, StringConstraints

from agent_hooks import HandlerType
from agent_hooks.handlers.judging import check_judged

from .checker import MAX_STEPS, TIMEOUT, SubagentHook

if TYPE_CHECKING:
    from collections.abc import Callable

    from agent_hooks import HookContext
    from agent_hooks.formats.entry import HookEntry

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class SubagentConfig(BaseModel):
    """The fields of a subagent hook: those of Claude Code's ``agent`` hooks, and a budget.

    ``prompt``: the rule; ``timeout``: in seconds; the others as in ``SubagentHook``.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    prompt: Text
    model: Text | None = None
    preset: Text = "fast"
    timeout: float = Field(default=TIMEOUT, gt=0, allow_inf_nan=False)
    max_steps: int = Field(
        default=MAX_STEPS, ge=1, le=MAX_STEPS, validation_alias=AliasChoices("max_steps", "max_turns", "maxTurns")
    )
    max_tokens: int | None = Field(default=None, ge=1)
    status_message: str = Field(default="", validation_alias=AliasChoices("status_message", "statusMessage"))


class SubagentHandler(HandlerType):
    """The handler types ``subagent`` and, in Claude Code's words, ``agent``."""

    config = SubagentConfig

    def bind(self, config: SubagentConfig, entry: HookEntry) -> Callable[[HookContext], Any]:
        """Return the hook of one entry. Raises ``RegistrationError`` on an event where nothing would come of it."""
        check_judged(entry)
        hook = SubagentHook(
            config.prompt,
            model=config.model,
            preset=config.preset,
            timeout=config.timeout,
            max_steps=config.max_steps,
            max_tokens=config.max_tokens,
        )
        return lambda ctx: hook.check(ctx, entry)
