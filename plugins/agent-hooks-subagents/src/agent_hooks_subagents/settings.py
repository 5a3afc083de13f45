"""The settings of this plugin: ``[subagents]`` of the user's and the machine's ``agent-hooks.toml``."""

from __future__ import annotations

from agent_hooks.runtime.judges import JudgeSettings


class SubagentsSettings(JudgeSettings):
    """The models of subagents that judge."""
