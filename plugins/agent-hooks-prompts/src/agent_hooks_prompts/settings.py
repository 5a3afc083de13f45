"""The settings of this plugin: ``[prompts]`` of the user's and the machine's ``agent-hooks.toml``."""

from __future__ import annotations

from agent_hooks.runtime.judges import JudgeSettings


class PromptsSettings(JudgeSettings):
    """The models that judge by prompts."""
