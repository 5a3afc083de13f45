"""The files that a command names."""

from __future__ import annotations

import os
from hashlib import sha256
from time import monotonic

import pytest

from agent_hooks.errors import TrustError
from agent_hooks.formats.entry import HookEntry
from agent_hooks.model.events import HookEvent
from agent_hooks.model.values import FrozenDict
from agent_hooks.trust.scripts import HookCommand, check_scripts, python_variables
from tables import rows, tables

pytestmark = pytest.mark.interpreter
TABLES = tables(__file__)
FILES = """
hooks/check.sh hooks/test tools.py sub/own.sh notes.md package.json calls.log calls.txt check.ts .prettierrc policy.jq
bin/ruff .claude/log.txt .claude/state x.sh x.pid ../foreign.sh ../large.sh ../home/.claude/bash-command-log.txt
""".split()


def entry(**fields) -> HookEntry:
    return HookEntry(event=HookEvent.BEFORE_TOOL_USE, type="command", path="/p/agent-hooks.toml", line=3, **fields)


def command_entry(command, project, directory=None, **fields) -> HookEntry:
    """An entry of the project with a command line, or with these fields."""
    config = command if isinstance(command, dict) else {"command": command}
    place = {"project_dir": str(project), "directory": str(directory or project), **fields}
    return entry(config=FrozenDict(config), **place)


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    root = tmp_path / "project"
    for name in (*FILES, "hooks/a b.py"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("#!/bin/sh\n")
    (tmp_path / "home" / "mine.sh").symlink_to(tmp_path / "foreign.sh")
    (root / "linked.sh").symlink_to(tmp_path / "foreign.sh")
    os.truncate(tmp_path / "large.sh", 1024 * 1024 + 1)
    return root


@pytest.mark.parametrize(("command", "expected"), TABLES["named"])
def test_the_scripts_that_a_command_names_are_found(command, expected, project):
    (project / ".git").mkdir()
    place = {"directory": project / "sub", "plugin_root": str(project / "sub")}
    found = HookCommand(command_entry(command, project, **place)).scripts()
    assert found == tuple(os.path.normpath(project / name) for name in expected)


# -- what is named, and not run ----------------------------------------------------------------------------------------


def runs(command, project) -> list[str]:
    found = HookCommand(command_entry(command, project, form="claude", source="project")).scripts()
    return [os.path.relpath(path, project) for path in found]


@pytest.mark.parametrize("command", rows(TABLES["only_named"]))
def test_what_a_command_only_reads_tests_says_or_writes_is_no_script(command, project):
    assert runs(command, project) == []


@pytest.mark.parametrize(("command", "expected"), rows(TABLES["run"]))
def test_what_a_command_runs_beside_that_is_a_script(command, expected, project):
    assert runs(command, project) == expected


@pytest.mark.parametrize("command", rows(TABLES["covered"]))
def test_what_is_run_in_any_way_is_a_script(command, project):
    assert "tools.py" in runs(command, project)


@pytest.mark.parametrize("command", rows(TABLES["not_covered"]))
def test_the_file_of_another_variable_or_option_is_none(command, project):
    assert "tools.py" not in runs(command, project)


@pytest.mark.parametrize(("command", "expected"), rows(TABLES["missing"]))
def test_where_a_script_would_be_that_is_not_there_is_known(command, expected, project):
    found = HookCommand(command_entry(command, project, form="claude", source="project")).missing()
    assert [os.path.relpath(path, project) for path in found] == expected


@pytest.mark.parametrize(("command", "expected"), rows(TABLES["without_folder"]))
def test_what_python_code_needs_of_its_folder_is_known(command, expected, project):
    assert bool(python_variables(command_entry(command, project, form="claude", source="project"))) is expected


@pytest.mark.parametrize(("command", "expected"), rows(TABLES["doubts"]))
def test_doubts_are_about_what_the_trust_does_not_cover(command, expected, project):
    findings = HookCommand(command_entry(command, project)).findings()
    assert [[found.kind, found.message.split("`")[1]] for found in findings] == expected


@pytest.mark.parametrize(
    "text",
    [
        "$(" * 40_000,
        "`" * 100_000,
        "${PWD:-" * 15_000,
        "'" + "$/" * 50_000,
        "a/$b " * 20_000,
        "-m a " * 20_000,
        "perl -e 'exec " + "qx(" * 20_000 + "'",
        "python3 - <<E\nexec " + "$(" * 20_000 + "\nE",
        "sh -c " * 20_000,
    ],
)
def test_no_command_is_looked_through_for_long(text, project):
    start = monotonic()
    HookCommand(command_entry(text, project)).findings()
    assert monotonic() - start < 5


# -- scripts as they were trusted --------------------------------------------------------------------------------------


def test_a_script_that_was_not_there_may_not_run(project):
    of_one = entry(scripts=FrozenDict({str(project / "gone.sh"): ""}))
    assert check_scripts(of_one) == {}
    (project / "gone.sh").write_text("")
    with pytest.raises(TrustError, match=r"gone\.sh was not there"):
        check_scripts(of_one)


def test_a_script_that_the_command_makes_itself_may_run_once_it_is_there(project):
    made = FrozenDict({str(project / "made.sh"): ""})
    (project / "made.sh").write_text("")
    command = "[ -f made.sh ] || cp tools.py made.sh; sh made.sh"
    assert check_scripts(command_entry(command, project, scripts=made)) == {}


def test_a_script_runs_as_it_was_trusted_and_no_other(project):
    script = project / "hooks" / "check.sh"
    of_one = entry(scripts=FrozenDict({str(script): sha256(script.read_bytes()).hexdigest()}))
    assert check_scripts(of_one) == {str(script): script.read_bytes()}
    script.write_text("#!/bin/sh\nexit 2\n")
    with pytest.raises(TrustError, match=r"check\.sh has changed since it was trusted"):
        check_scripts(of_one)
    script.unlink()
    with pytest.raises(TrustError, match=r"check\.sh, which was trusted, cannot be read"):
        check_scripts(of_one)
