"""The handler type ``no-frobs``: a rule in a file."""

from typing import ClassVar

from agent_hooks import HandlerType, HookContext, HookOutcome
from pydantic import BaseModel, ConfigDict

from . import deny_programs


class ProgramsConfig(BaseModel):
    """The fields of an entry beside its type."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    programs: frozenset[str]


class ProgramsHandler(HandlerType):
    """Denies shell commands that may run one of the programs."""

    config: ClassVar[type[BaseModel] | None] = ProgramsConfig

    def execute(self, config: ProgramsConfig, ctx: HookContext) -> HookOutcome | None:
        """Answer for one event; other events than calls of tools have no command."""
        return deny_programs(ctx.tool_call, config.programs) if ctx.tool_call else None
