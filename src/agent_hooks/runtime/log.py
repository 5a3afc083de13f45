"""The logger of agents and sessions."""

from logging import getLogger

logger = getLogger("agent_hooks.runtime")
