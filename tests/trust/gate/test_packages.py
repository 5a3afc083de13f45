"""Package managers are judged by the distributions that they name, and by where these would come from."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tables import tables

if TYPE_CHECKING:
    from pathlib import Path

    from environments import Gated

TABLES = tables(__file__)


@pytest.fixture(scope="module", autouse=True)
def _project(gated: Gated) -> None:
    """A copy of a dependency under another folder's name, and requirements."""
    copy = gated.project / "renamed"
    copy.mkdir()
    (copy / "pyproject.toml").write_text('[project]\nname = "pluggy"\nversion = "9"\n')
    (gated.project / "requirements.txt").write_text("requests\nhttpx>=0.27\n")


@pytest.mark.parametrize("command", TABLES["removing"].splitlines())
def test_a_distribution_of_the_gate_is_not_removed(gated: Gated, command: str):
    assert gated.decides(command) == "deny"


@pytest.mark.parametrize("command", TABLES["replacing"].splitlines())
def test_nor_is_it_replaced(gated: Gated, command: str):
    assert gated.decides(command) == "deny"


@pytest.mark.parametrize("command", TABLES["harmless"].splitlines())
def test_any_other_work_with_packages_goes_on(gated: Gated, command: str):
    assert gated.decides(command) == "proceed"


@pytest.mark.parametrize("command", ["uv tool uninstall --all", "pipx uninstall-all"])
def test_a_gate_that_is_installed_as_a_tool_is_not_removed_with_all_tools(gated: Gated, command: str):
    assert gated.decides(command) == ("proceed" if gated.inside else "deny")


def test_what_a_file_of_requirements_names_is_removed_by_name(gated: Gated):
    (gated.project / "gone.txt").write_text("requests\npluggy==1.6\n")
    assert gated.decides("pip uninstall -y -r gone.txt") == "deny"


def test_a_project_with_an_environment_of_its_own_is_not_the_gates(gated: Gated):
    own = gated.project / ".venv" / "pyvenv.cfg"
    if gated.inside:
        assert gated.decides("uv remove pydantic") == "deny"
        return
    own.parent.mkdir()
    own.write_text("")
    try:
        assert gated.decides("uv remove pydantic") == "proceed"
        assert gated.decides("uv remove agent-hooks-guards") == "deny"
        assert gated.decides(".venv/bin/pip uninstall -y pydantic") == "proceed"
    finally:
        own.unlink()
        own.parent.rmdir()


def test_a_checkout_that_is_used_already_may_be_installed_again(gated: Gated, tmp_path: Path):
    checkout = tmp_path / "agent_hooks_guards"
    checkout.mkdir()
    (checkout / "pyproject.toml").write_text('[project]\nname = "agent-hooks-guards"\n')
    command = f"pip install -e {checkout}"
    assert gated.decides(command) == "deny"
    used = gated.environment.site / "agent_hooks_guards-0.1.0.dist-info" / "direct_url.json"
    used.write_text(json.dumps({"url": checkout.as_uri(), "dir_info": {"editable": True}}))
    (gated.environment.site / "changed").mkdir()
    assert gated.decides(command) == "proceed"
    used.unlink()
    (gated.environment.site / "changed").rmdir()


@pytest.mark.parametrize("command", ["pip uninstall -y pluggy", "pip install agent-hooks", "pip install ./renamed"])
def test_the_real_command_says_what_to_do(gated: Gated, command: str):
    decision, reason = gated.run("Bash", {"command": command})
    assert decision == "deny"
    assert "denied to agents" in reason
    assert "ask a person" in reason


@pytest.mark.parametrize(
    "command",
    ["pip install -e .", "pip install -r requirements.txt", "pip install -U pydantic", "uv sync", "uv add httpx"],
)
def test_the_real_command_lets_everyday_installs_through(gated: Gated, command: str):
    assert gated.run("Bash", {"command": command})[0] == "proceed"
