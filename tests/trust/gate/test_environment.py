"""The environment that the gate runs from: its parts are not an agent's to change, and all else in it is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from agent_hooks.trust.gate.environment import Environment
from tables import tables

if TYPE_CHECKING:
    from pathlib import Path

    from environments import Gated

TABLES = tables(__file__)
WHOLE, OF_PROJECT = TABLES["whole"].splitlines(), TABLES["of_project"].splitlines()
WIRING = TABLES["wiring"]


def agrees(gated: Gated, tool: str, args: dict[str, Any], expected: str) -> None:
    """The real command and the library decide so."""
    args = {key: gated.filled(value) for key, value in args.items()}
    decision, reason = gated.run(tool, args)
    assert decision == expected, reason
    assert gated.asked(tool, args)[0] == expected
    if expected == "deny":
        assert "denied to agents" in reason
        assert "ask a person" in reason


@pytest.mark.parametrize("command", TABLES["ordinary"].splitlines())
def test_no_ordinary_command_switches_the_gate_off(gated: Gated, command: str):
    agrees(gated, "Bash", {"command": command}, "deny")


@pytest.mark.parametrize("command", TABLES["parts"].splitlines())
def test_a_part_of_the_gate_is_not_written_removed_or_moved(gated: Gated, command: str):
    assert gated.decides(command) == "deny"


@pytest.mark.parametrize(("tool", "args", "kind"), TABLES["writes"])
def test_no_tool_changes_a_part_of_the_gate(gated: Gated, tool: str, args: dict[str, Any], kind: str):
    filled = {key: gated.filled(value) for key, value in args.items()}
    assert gated.asked(tool, filled, kind or None)[0] == "deny"


@pytest.mark.parametrize(("tool", "args"), TABLES["uses"])
def test_a_tool_may_use_a_part_of_the_gate(gated: Gated, tool: str, args: dict[str, Any]):
    filled = {key: gated.filled(value) for key, value in args.items()}
    assert gated.asked(tool, filled)[0] == "proceed"


@pytest.mark.parametrize("command", TABLES["harmless"].splitlines())
def test_whatever_else_is_in_the_environment_is_left_alone(gated: Gated, command: str):
    assert gated.decides(command) == "proceed"


@pytest.mark.parametrize("tool", ["Write", "Edit"])
@pytest.mark.parametrize(
    "path", ["SITE/other/__init__.py", "SITE/new.py", "ENV/bin/activate", "ENV/share/x", "src/a.py"]
)
def test_another_file_of_the_environment_may_be_written(gated: Gated, tool: str, path: str):
    args = {"file_path": path, "content": "x", "old_string": "a", "new_string": "b"}
    agrees(gated, tool, args, "proceed")


# -- a whole environment -----------------------------------------------------------------------------------------------


def questions(gated: Gated, command: str) -> str:
    """What the real command says about ``command``, in the words that a person is asked with."""
    decision, reason = gated.run("Bash", {"command": gated.filled(command)})
    assert decision == ("ask" if gated.inside else "deny"), reason
    return reason


@pytest.mark.parametrize("command", ["rm -rf ENV && python -m venv ENV", "mv ENV /tmp/old"])
def test_the_environment_that_a_host_runs_the_gate_from_is_taken_away_only_where_a_person_agrees(
    gated: Gated, command: str
):
    reason = questions(gated, command)
    if gated.inside:
        assert "a coding agent's hooks run from the environment in it" in reason
    else:
        assert "is denied to agents" in reason
    assert "agent" in reason


def test_a_host_that_cannot_ask_is_given_a_deny(gated: Gated):
    decision, reason = gated.run("Bash", {"command": gated.filled("rm -rf ENV")}, "codex")
    assert decision == "deny", reason


@pytest.mark.parametrize("command", WHOLE)
def test_where_no_host_runs_the_gate_the_projects_own_environment_is_its_own_business(gated: Gated, command: str):
    assert gated.decides(command) == ("proceed" if gated.inside else "deny")


@pytest.mark.parametrize("command", OF_PROJECT)
def test_a_project_may_be_cleaned_where_no_host_runs_the_gate_from_it(gated: Gated, command: str):
    if not gated.inside and command in ("poetry env remove --all", "pipenv --rm"):
        command = "true"  # nobody knows whose these are
    assert gated.decides(command) == "proceed"


@pytest.mark.parametrize("where", ["home", "project"])
@pytest.mark.parametrize("name", WIRING)
def test_an_environment_that_the_settings_of_some_host_lead_into_is_not_taken_in_passing(
    gated: Gated, name: str, where: str
):
    place, text = WIRING[name]
    file = (gated.home if where == "home" else gated.project) / place
    file.parent.mkdir(exist_ok=True)
    launcher = gated.home / "agent-hooks-run"
    launcher.write_text(f"#!/bin/sh\nexec {gated.environment.bin}/agent-hooks-core run\n")
    file.write_text(text.replace("ENV", str(gated.environment.folder)).replace("HOME", str(gated.home)))
    commands = ["rm -rf ENV", *(WHOLE + OF_PROJECT if name == "codex" and gated.inside else [])]
    try:
        for command in commands:
            assert gated.decides(command) == ("ask" if gated.inside else "deny"), command
        assert gated.decides("rm -rf ENV; agent-hooks trust") == "deny"
        expected = "ask" if gated.inside else "deny"
        assert gated.asked("remove", {"path": gated.filled("ENV")}, "delete")[0] == expected
        assert gated.decides("rm -rf build && git clean -fd") == "proceed"
    finally:
        file.unlink()
        launcher.unlink()
        file.parent.rmdir()


def test_another_environment_is_left_alone_unless_a_hosts_settings_lead_into_it(gated: Gated, tmp_path: Path):
    for other in (gated.project / "env2", tmp_path / "elsewhere"):
        (other / "bin").mkdir(parents=True)
        (other / "pyvenv.cfg").write_text("")
        command = f"rm -rf {other} && python -m venv {other}; echo x > {other}/lib/python3.11/site-packages/x.pth"
        assert gated.decides(command) == "proceed"
        settings = gated.home / ".gemini" / "settings.json"
        settings.parent.mkdir()
        settings.write_text(f'{{"hooks": {{"BeforeTool": [{{"command": "{other}/bin/agent-hooks-core run"}}]}}}}')
        assert gated.decides(f"rm -rf {other}") == ("ask" if other.name == "env2" else "deny")
        settings.unlink()
        settings.parent.rmdir()


# -- the stored list ---------------------------------------------------------------------------------------------------

_NAMES = (
    "import sys, json\nfrom agent_hooks.trust.gate.environment import Environment\n"
    "opened = []\n"
    "sys.addaudithook(lambda name, args: opened.append(str(args[0])) if name == 'open' else None)\n"
    "names = sorted(Environment().parts.names)\n"
    "print(json.dumps([names, sum('dist-info' in path for path in opened)]))"
)


def _names(gated: Gated, state: Path) -> tuple[list[str], int]:
    program = [str(gated.environment.bin / "python"), "-c", _NAMES]
    variables = {**gated.variables, "AGENT_HOOKS_STATE_DIR": str(state)}
    done = subprocess.run(program, capture_output=True, text=True, env=variables, check=True, timeout=60)
    names, opened = json.loads(done.stdout)
    return names, opened


def test_the_list_is_read_once_for_each_state_of_the_environment(gated: Gated, tmp_path: Path):
    first, read = _names(gated, tmp_path / "state")
    assert {"agent_hooks", "agent_hooks_guards", "pluggy", "typing_extensions"} <= set(first)
    assert "other" not in first
    assert read > 10
    assert _names(gated, tmp_path / "state") == (first, 0)
    gated.environment.install("added", "[agent_hooks]\nadded = added\n")
    again, read = _names(gated, tmp_path / "state")
    assert set(again) - set(first) == {"added"}
    assert read > 10


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"state": null}', "\0"])
def test_a_list_that_is_damaged_is_made_again(gated: Gated, tmp_path: Path, text: str):
    first, _ = _names(gated, tmp_path / "state")
    (kept,) = (tmp_path / "state").iterdir()
    kept.write_text(text)
    assert _names(gated, tmp_path / "state")[0] == first


def test_where_nothing_can_be_stored_the_list_is_read_again(gated: Gated, tmp_path: Path):
    (tmp_path / "state").write_text("in the way")
    assert "pluggy" in _names(gated, tmp_path / "state")[0]


def test_the_interpreter_under_the_environment_is_a_part_of_the_gate(tmp_path: Path):
    made = Environment(
        str(tmp_path / "prefix"), [], str(tmp_path / "base" / "lib"), [str(tmp_path / "base" / "bin" / "python3")]
    )
    assert made.find(str(tmp_path / "base" / "lib" / "os.py"))
    assert made.find(str(tmp_path / "base" / "bin" / "python3"))
    assert not made.find(str(tmp_path / "base" / "bin" / "python3"), is_link=True)
    assert Environment().find(os.path.realpath(os.__file__).casefold())
    assert Environment().holds(os.path.dirname(os.path.realpath(os.__file__)).casefold())
    assert not Environment().find(f"{os.path.realpath(sys.prefix)}/lib/elsewhere.py".casefold())


def test_an_environment_below_a_folder_with_capital_letters_is_looked_into(tmp_path: Path):
    site = tmp_path / "Project" / ".venv" / "lib" / "site-packages"
    site.mkdir(parents=True)
    (site / "a.pth").write_text("")
    made = Environment(str(tmp_path / "Project" / ".venv"), [str(site)], "/base", [])
    assert made.holds(str(site.parent).casefold())


def test_the_sources_of_an_editable_install_are_parts_of_the_gate_outside_their_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    root = tmp_path / "Checkout" / "src"
    (root / "agent_hooks").mkdir(parents=True)
    monkeypatch.setattr(sys, "path", [*sys.path, str(root)])
    monkeypatch.setenv("AGENT_HOOKS_STATE_DIR", str(tmp_path / "state"))
    made, own = Environment(), Environment(project=str(root.parent))
    for name in ("agent_hooks_core.py", "agent_hooks/cli/run.py", "pluggy.py"):
        assert made.find(str(root / name).casefold())
        assert not own.find(str(root / name).casefold())
    assert made.holds(str(root.parent).casefold())
    assert not made.find(str(root / "notes.py").casefold())
    assert not made.find(str(root.parent / "README.md").casefold())


def test_a_folder_of_imports_around_the_environment_hides_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """As that of a script, or of an editable install whose environment is in it."""
    monkeypatch.setenv("AGENT_HOOKS_STATE_DIR", str(tmp_path / "state"))
    root = str(tmp_path).casefold()
    site = f"{root}/.venv/lib/python3/site-packages"
    made = Environment(f"{root}/.venv", [root, site], f"{root}/.venv/lib/python3", [])
    for part in (f"{site}/agent_hooks/cli/run.py", f"{root}/.venv/pyvenv.cfg", f"{root}/.venv/lib/python3/os.py"):
        assert made.find(part)
    for other in (f"{root}/app.py", f"{root}/.venv/notes.txt", f"{site}/notes.py"):
        assert not made.find(other)


def test_a_checkout_that_nothing_is_imported_from_has_files_like_any_other(tmp_path: Path):
    made = Environment(str(tmp_path / ".venv"), [str(tmp_path / ".venv/lib/python3/site-packages")], "/base", [])
    assert not made.find(str(tmp_path / "src" / "agent_hooks" / "trust.py"))
    assert made.find(str(tmp_path / ".venv/lib/python3/site-packages/_editable_impl_agent_hooks_core.pth"))
