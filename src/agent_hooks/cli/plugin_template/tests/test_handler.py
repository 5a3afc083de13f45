"""The handler type, in a file of the user."""

from pathlib import Path

import pytest
from agent_hooks import load
from agent_hooks.testing import make_context

FILE = """
[[hooks.before_tool_use]]
matcher = "shell"
hooks = [{ type = "no-frobs", programs = ["tweak"] }]
"""


def test_a_file_names_programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "agent-hooks.toml").write_text(FILE)
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.setenv("AGENT_HOOKS_CONFIG_DIR", str(tmp_path / "config"))
    manager = load(project, plugins=["no-frobs"])
    assert not manager.findings
    ctx = make_context("before_tool_use", tool="Bash", args={"command": "tweak it"})
    outcome = manager.hooks().dispatch_sync(ctx)
    assert outcome.reason == "Agents do not run tweak here."
