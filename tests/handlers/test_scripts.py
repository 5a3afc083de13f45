"""The files that a command names."""

from __future__ import annotations

import os

import pytest

from agent_hooks.events import HookEvent
from agent_hooks.handlers.entry import HookEntry
from agent_hooks.handlers.scripts import referenced_scripts
from agent_hooks.values import FrozenDict


def entry(**fields) -> HookEntry:
    return HookEntry(event=HookEvent.BEFORE_TOOL_USE, type="command", path="/p/agent-hooks.toml", line=3, **fields)


@pytest.fixture(autouse=True)
def own_home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


@pytest.fixture
def project(tmp_path):
    root = tmp_path / "project"
    for name in ("hooks/check.sh", "hooks/a b.py", "tools.py", "sub/own.sh"):
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("#!/bin/sh\n")
    foreign = tmp_path / "foreign.sh"
    foreign.write_text("")
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "mine.sh").symlink_to(foreign)
    return root


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"command": ["python3", "hooks/check.sh", "x"]}, ["hooks/check.sh"]),
        ({"command": ["python3", "${CLAUDE_PROJECT_DIR}/tools.py"]}, ["tools.py"]),
        ({"command": "hooks/check.sh", "args": []}, ["hooks/check.sh"]),
        ({"command": "node", "args": ["hooks/a b.py", "--in=tools.py"]}, ["hooks/a b.py", "tools.py"]),
        ({"command": "./hooks/check.sh"}, ["hooks/check.sh"]),
        ({"command": '"$CLAUDE_PROJECT_DIR"/hooks/check.sh --fast'}, ["hooks/check.sh"]),
        ({"command": '"$CLAUDE_PROJECT_DIR/hooks/a b.py"'}, ["hooks/a b.py"]),
        ({"command": "${CLAUDE_PROJECT_DIR}/hooks/check.sh"}, ["hooks/check.sh"]),
        ({"command": "true&&./hooks/check.sh|tools.py;echo"}, ["hooks/check.sh", "tools.py"]),
        ({"command": "cd hooks && ./check.sh"}, ["hooks/check.sh"]),
        ({"command": 'bash -c "./hooks/check.sh now"'}, ["hooks/check.sh"]),
        ({"command": "X=$(python tools.py) `hooks/check.sh`"}, ["tools.py", "hooks/check.sh"]),
        ({"command": "python3 'hooks/a b.py"}, []),
        ({"command": "python3 tools.py 'unclosed"}, ["tools.py"]),
        ({"command": "own.sh"}, ["sub/own.sh"]),
        ({"command": "python3 tools.py; python3 tools.py"}, ["tools.py"]),
        ({"command": "../foreign.sh"}, ["../foreign.sh"]),
        ({"command": "~/mine.sh"}, ["../home/mine.sh"]),
        ({"command": "/bin/sh -c hooks"}, []),
        ({"command": "no/such/file"}, []),
        ({"command": ["a\0b", 5]}, []),
        ({"command": 5}, []),
        ({}, []),
    ],
)
def test_the_scripts_that_a_command_names_are_found(config, expected, project):
    place = {"project_dir": str(project), "directory": str(project / "sub")}
    found = referenced_scripts(FrozenDict(config), entry(**place))
    assert found == tuple(os.path.normpath(project / name) for name in expected)


def test_large_files_of_others_are_not_scripts(project):
    with (project.parent / "foreign.sh").open("wb") as file:
        file.truncate(1024 * 1024 + 1)
    assert (
        referenced_scripts({"command": "../foreign.sh"}, entry(directory=str(project), project_dir=str(project))) == ()
    )


def test_a_link_out_of_the_project_is_a_script_of_it(project, tmp_path):
    (project / "linked.sh").symlink_to(tmp_path / "foreign.sh")
    found = referenced_scripts({"command": "linked.sh"}, entry(directory=str(project), project_dir=str(project)))
    assert found == (str(project / "linked.sh"),)


def test_a_plugins_script_is_found_by_its_root(project):
    found = referenced_scripts(
        {"command": '"${CLAUDE_PLUGIN_ROOT}"/hooks/check.sh'},
        entry(plugin_root=str(project), project_dir=str(project), directory=str(project)),
    )
    assert found == (str(project / "hooks/check.sh"),)
