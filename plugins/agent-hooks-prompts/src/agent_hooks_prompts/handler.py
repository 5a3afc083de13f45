"""The handler type ``prompt``: hooks of files that a language model decides."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, StringConstraints

from agent_hooks import HandlerType
from agent_hooks.handlers.judging import check_judged

from .hook import PromptHook

if TYPE_CHECKING:
    from collections.abc import Callable

    from agent_hooks import HookContext
    from agent_hooks.formats.entry import HookEntry

Text = Annotated[str, StringConstraints(pattern=r"\S")]


class PromptConfig(BaseModel):
    """The fields of a prompt hook.

    ``prompt``: the rule; ``$ARGUMENTS`` in it refers to the event, which the model is given after it in any case.
    ``model``: who judges, as ``provider:model`` or by one of Claude Code's names; else what ``preset`` stands for.
    ``timeout``: seconds for the answer. ``cache``: within a session, ask only once about what looks the same.
    ``continue_on_block``: whether the run goes on after a tool call was refused; in Claude Code's settings it does not
    unless they say so, elsewhere it does.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    prompt: Text
    model: Text | None = None
    preset: Text = "fast"
    timeout: float = Field(default=30.0, gt=0, allow_inf_nan=False)
    cache: bool = False
    continue_on_block: bool | None = Field(
        default=None, validation_alias=AliasChoices("continue_on_block", "continueOnBlock")
    )
    status_message: str = Field(default="", validation_alias=AliasChoices("status_message", "statusMessage"))


class PromptHandler(HandlerType):
    """Asks a language model about each event."""

    config: ClassVar[type[BaseModel] | None] = PromptConfig

    def bind(self, config: PromptConfig, entry: HookEntry) -> Callable[[HookContext], Any]:
        """Return the hook of one entry. Raises ``RegistrationError`` where nothing would come of its verdicts, and for
        a model of which it is not said whose it is.
        """
        check_judged(entry)
        goes_on = entry.form != "claude" if config.continue_on_block is None else config.continue_on_block
        hook = PromptHook(
            config.prompt,
            model=config.model,
            preset=config.preset,
            timeout=config.timeout,
            cache=config.cache,
            continue_on_block=goes_on,
        )
        return partial(hook.judge, entry)
