"""The GitHub action: what its steps run, and whose commits they trust."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import yaml

from commands import Command
from projects import Project, denying, toml

ROOT = Path(__file__).parent.parent
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"]}
CASES = '[[case]]\nevent = "before_tool_use"\ntool = "Bash"\nexpect = "deny"\n'


@pytest.fixture
def run(tmp_path):
    """A step's script, as a runner starts it, in a checkout with one rule."""
    command = Command(tmp_path / "runner")
    made = tmp_path / "temp" / "agent-hooks" / "bin"
    made.mkdir(parents=True)
    start = made / "agent-hooks"
    start.write_text("#!/bin/sh\nexec " + " ".join(f"'{word}'" for word in command.arguments()) + ' "$@"\n')
    start.chmod(0o755)
    checkout = Project(tmp_path, "a checkout").write({"agent-hooks.toml": toml(denying("no"), matcher="shell")})
    checkout.write({"cases.toml": CASES})

    def script(step, **env):
        given = {"RUNNER_TEMP": str(tmp_path / "temp"), "PROJECT": "a checkout", "CASES": "cases.toml", **env}
        bash = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", STEPS[step]["run"]]
        done = subprocess.run(
            bash, cwd=tmp_path, env={**command.environment, **given}, capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout

    return script


@pytest.mark.parametrize("step", STEPS)
def test_no_input_is_part_of_a_script(step):
    assert "${{" not in STEPS[step]["run"]


@pytest.mark.full
def test_installing_runs_no_module_of_the_checkout(run, tmp_path):
    for name in ("venv.py", "pip/__main__.py", "pip/__init__.py", "ensurepip/__init__.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("open('it-ran', 'w')\n")
    exit_code, _ = run("Install agent_hooks", ACTION=str(tmp_path / "nowhere"), PACKAGES="")
    assert exit_code != 0  # nothing to install is there
    assert (tmp_path / "temp/agent-hooks/pyvenv.cfg").exists()
    assert not (tmp_path / "it-ran").exists()


def test_the_files_are_checked_without_a_trust(run):
    assert run("Check the files", CASES="") == (0, "0 errors, 0 warnings, 1 file with hooks or settings.\n")


@pytest.mark.parametrize(
    ("trust", "is_own", "code", "says"),
    [
        ("true", "true", 0, "1 case, decided as expected."),
        ("true", "false", 0, "::notice::This commit is not trusted"),
        ("true", "", 0, "::notice::This commit is not trusted"),
        ("false", "true", 1, "expected deny, got proceed"),
    ],
)
def test_rules_run_only_where_they_are_trusted_and_the_commit_is_the_repositorys_own(run, trust, is_own, code, says):
    exit_code, stdout = run("Compare the decisions", TRUST=trust, IS_OWN=is_own)
    assert (exit_code, says in stdout) == (code, True), stdout


def test_a_pull_request_is_the_repositorys_own_only_if_its_branch_is():
    condition = " ".join(STEPS["Compare the decisions"]["env"]["IS_OWN"].split())
    # Of other events, such as pull_request_target and workflow_run, nobody here knows whose commit was checked out.
    events = """["push", "schedule", "workflow_dispatch", "merge_group"]"""
    own = "github.event_name == 'pull_request' && github.event.pull_request.head.repo.full_name == github.repository"
    assert condition == f"${{{{ contains(fromJSON('{events}'), github.event_name) || ({own}) }}}}"


def test_both_ways_in_install_the_same_extras():
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    (extras,) = {extra for hook in hooks for extra in hook["additional_dependencies"]}
    assert f'"$ACTION{extras.removeprefix(".")}"' in STEPS["Install agent_hooks"]["run"]
