"""The settings, from the user's file."""

from pathlib import Path

from agent_hooks import plugin_settings
from agent_hooks.testing import make_context

from no_frobs.settings import Settings

FILE = """
[no-frobs]
programs = ["tweak"]
"""


def test_the_user_names_programs(config: Path) -> None:
    (config / "agent-hooks.toml").write_text(FILE)
    settings = plugin_settings(Settings, make_context("before_tool_use"))
    assert settings.programs == {"tweak"}
