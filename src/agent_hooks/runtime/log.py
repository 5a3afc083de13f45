"""The logger of agents and sessions."""

from agent_hooks.system.visible import logger_of

logger = logger_of("agent_hooks.runtime")
