"""The handler type, in a file of the user."""

from pathlib import Path

from agent_hooks import load
from agent_hooks.testing import make_context

FILE = """
[[hooks.before_tool_use]]
matcher = "shell"
hooks = [{ type = "no-frobs", programs = ["tweak"] }]
"""


def test_a_file_names_programs(config: Path, tmp_path: Path) -> None:
    (config / "agent-hooks.toml").write_text(FILE)
    manager = load(tmp_path, plugins=["no-frobs"])
    assert not manager.findings
    ctx = make_context("before_tool_use", tool="Bash", args={"command": "tweak it"})
    outcome = manager.hooks().dispatch_sync(ctx)
    assert outcome.reason == "Agents do not run tweak here."
