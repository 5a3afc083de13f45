"""The rule, without an agent."""

# with settings
from pathlib import Path

# end
import pytest
from agent_hooks.testing import check_plugin, make_context, run_hook

import no_frobs

# with settings

@pytest.fixture(autouse=True)
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty folder in place of the one with the user's files."""
    monkeypatch.setenv("AGENT_HOOKS_CONFIG_DIR", str(tmp_path))
    return tmp_path

# end

def test_the_plugin_has_no_mistakes() -> None:
    check_plugin("no-frobs")


@pytest.mark.parametrize(
    ("command", "decision"),
    [
        ("frob --all", "deny"),
        ("cd /tmp && /usr/bin/frob", "deny"),
        ("sh -c 'fr''ob'", "deny"),
        ("$(echo frob) --all", "deny"),
        ("ls frobs", "proceed"),
        ("echo frob", "proceed"),
    ],
)
def test_frob_alone_is_denied(command: str, decision: str) -> None:
    ctx = make_context("before_tool_use", tool="Bash", args={"command": command})
    outcome = run_hook(no_frobs.keep_programs_out, ctx)
    assert outcome.decision == decision
