"""The system prompt and the form of the answer that a subagent has, whatever its parent's are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_hooks import HookOutcome

if TYPE_CHECKING:
    from agent_hooks import AgentBuilder, AgentState


class Instructions:
    """Sets the system prompt and the response format when a run begins, after every other hook: what a subagent
    inherits for its own configuration is its parent's.
    """

    name = "instructions"

    def __init__(self, system_prompt: str, response_format: Any = None) -> None:
        self.system_prompt = system_prompt
        self.response_format = response_format

    def configure(self, builder: AgentBuilder) -> AgentBuilder:
        """Add the hook."""
        return builder.hook("before_execution", self.apply, name="subagent:instructions", trylast=True)

    def apply(self, state: AgentState) -> HookOutcome:
        """Bring the state with both."""
        return HookOutcome.proceed(
            state=state.replace(system_prompt=self.system_prompt, response_format=self.response_format)
        )
