"""The models of the examples: real ones if there is an API key in the environment, scripts if there is none.

A real one also needs its client: pip install 'agent-hooks-core[models]' 'pydantic-ai-slim[anthropic]' (or [openai], …).
EXAMPLES_MODEL names another model of any provider that pydantic-ai knows, as in EXAMPLES_MODEL=openai:gpt-6-luna.
"""

import os

from agent_hooks import PydanticAIDriver, ScriptedDriver

MODELS = {
    "ANTHROPIC_API_KEY": "anthropic:claude-sonnet-5-5",
    "OPENAI_API_KEY": "openai:gpt-6.1-terra",
    "GOOGLE_API_KEY": "google:gemini-3.8-flash",
}
NAMES = [os.environ.get("EXAMPLES_MODEL"), *[name for key, name in MODELS.items() if os.environ.get(key)]]
NAME = next(filter(None, NAMES), None)


def model(*script):
    """Return the driver of an agent."""
    return PydanticAIDriver(NAME) if NAME else ScriptedDriver(*script)


def judge(*script):
    """Return the driver of a prompt hook; None lets the hook find a small model by itself."""
    return None if NAME else ScriptedDriver(*script)
