"""The files that a command names."""

from __future__ import annotations

import os
from time import monotonic

import pytest

from agent_hooks.events import HookEvent
from agent_hooks.handlers.entry import HookEntry
from agent_hooks.handlers.scripts import doubts_about, referenced_scripts
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
        ({"command": "${CLAUDE_PROJECT_DIR:-.}/hooks/check.sh"}, ["hooks/check.sh"]),
        ({"command": '"${CLAUDE_PROJECT_DIR:-$(git rev-parse --show-toplevel)}"/hooks/check.sh'}, ["hooks/check.sh"]),
        ({"command": '"${CLAUDE_PROJECT_DIR:-${PWD}}/hooks/a b.py"'}, ["hooks/a b.py"]),
        ({"command": "${CLAUDE_PLUGIN_ROOT:-plugin}/own.sh"}, ["sub/own.sh"]),
        ({"command": "$PWD/own.sh; ${PWD}/own.sh; $(pwd)/own.sh"}, ["sub/own.sh"]),
        ({"command": '"$PWD"/own.sh'}, ["sub/own.sh"]),
        ({"command": "./check.sh", "cwd": "../hooks"}, ["hooks/check.sh"]),
        ({"command": "$PWD/check.sh", "cwd": "../hooks"}, ["hooks/check.sh"]),
        ({"command": "$(git rev-parse --show-toplevel)/hooks/check.sh"}, ["hooks/check.sh"]),
        ({"command": '"$(git rev-parse --show-toplevel)/hooks/a b.py"'}, ["hooks/a b.py"]),
        ({"command": "`git rev-parse --show-toplevel`/hooks/check.sh"}, ["hooks/check.sh"]),
        ({"command": "bash -c '$CLAUDE_PROJECT_DIR/hooks/check.sh'"}, ["hooks/check.sh"]),
        ({"command": "$HOME/mine.sh"}, ["../home/mine.sh"]),
        ({"command": "$CLAUDE_PROJECT_DIRECTORY/hooks/check.sh"}, []),
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
    (project / ".git").mkdir()
    place = {"project_dir": str(project), "directory": str(project / "sub"), "plugin_root": str(project / "sub")}
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


def doubts(config, project) -> list[tuple[str, str]]:
    """The kind of each doubt, and what it is about."""
    place = {"project_dir": str(project), "directory": str(project)}
    return [(found.kind, found.message.split("`")[1]) for found in doubts_about(FrozenDict(config), entry(**place))]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("$HOOKS/check.sh", "$HOOKS/check.sh"),
        ('"$HOOKS"/check.sh', "$HOOKS/check.sh"),
        ('python3 "${HOOKS:-hooks}/check.py"', "${HOOKS:-hooks}/check.py"),
        ('"$(dirname "$0")/check.sh"', "$(…)/check.sh"),
        ("$(dirname $0)/check.sh", "$(…)/check.sh"),
        ("`dirname $0`/check.sh", "$(…)/check.sh"),
        ("echo $(cat $X/y)", "$X/y"),
        ("for each in hooks/*.sh; do sh $each; done", "hooks/*.sh"),
        ("cat hooks/check.s?", "hooks/check.s?"),
        ("sh hooks/[c]heck.sh", "hooks/[c]heck.sh"),
        ("true\nsource $HOOKS/env", "$HOOKS/env"),
        ("X=$Y/z tools.py", "X=$Y/z"),
        ("bash -c '$HOOKS/check.sh now'", "$HOOKS/check.sh"),
        ("bash -ec 'make'", "make"),
        ("eval '$HOOKS/check.sh'", "$HOOKS/check.sh"),
        ("python3 -m tools", "-m tools"),
        ("uv run python3 -u -m hooks.sub", "-m hooks.sub"),
        ("make check", "make"),
        ("cd hooks && just check", "just"),
        ("if true; then npm run check; fi", "npm run"),
        ("X=1 /usr/bin/make", "make"),
    ],
)
def test_a_file_that_only_running_a_command_would_name_is_a_doubt(command, expected, project):
    (project / "hooks" / "sub.py").write_text("")
    assert doubts({"command": command}, project) == [("not-covered", expected)]


@pytest.mark.parametrize(
    "command",
    [
        '"$CLAUDE_PROJECT_DIR"/hooks/check.sh "$1"',
        '"${CLAUDE_PROJECT_DIR:-.}"/hooks/check.sh',
        '"$(git rev-parse --show-toplevel)"/hooks/check.sh',
        "$PWD/hooks/check.sh > $TMPDIR/log 2>/dev/null",
        "jq -r '.tool_input.file_path // \"$x\"'",
        "grep -qE '^src/.*$' || exit 2",
        'grep -q "^src/.*"',
        'echo "$X is in a/b" >&2; exit 2',
        "curl https://example.org/?q=$X",
        'case "$X" in */migrations/*) exit 2;; esac',
        "sh hooks/check.sh # of $HOOKS/check.sh, isn't it",
        "echo \\$X/y",
        "python3 -m json.tool",
        "git commit -m hooks",
        "npm ci",
        "cd hooks && ./check.sh",
        "X=a/b; ./hooks/check.sh",
        "~/mine.sh",
        "",
    ],
)
def test_a_command_that_says_what_it_runs_leaves_no_doubt(command, project):
    assert doubts({"command": command}, project) == []


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"command": ["python3", "-m", "tools"]}, [("not-covered", "-m tools")]),
        ({"command": ["bash", "-c", "$HOOKS/check.sh"]}, [("not-covered", "$HOOKS/check.sh")]),
        ({"command": "make", "args": ["check"]}, [("not-covered", "make")]),
        ({"command": ["grep", "-E", "^src/.*$X"]}, []),
        ({"command": ["hooks/gone.sh"]}, [("missing", "hooks/gone.sh")]),
        ({"command": ["hooks/check.sh", "data/later.txt"]}, []),
        ({"command": "hooks/gone.sh --fast"}, [("missing", "hooks/gone.sh")]),
        ({"command": '"$CLAUDE_PROJECT_DIR"/gone.sh'}, [("missing", "$CLAUDE_PROJECT_DIR/gone.sh")]),
        ({"command": "true && ./gone.sh"}, [("missing", "./gone.sh")]),
        ({"command": "/no/such/program"}, [("missing", "/no/such/program")]),
        ({"command": "$HOOKS/a; $HOOKS/a"}, [("not-covered", "$HOOKS/a")]),
        ({"command": ["a\0b/c", 5]}, []),
        ({}, []),
    ],
)
def test_doubts_are_about_what_runs_in_either_form(config, expected, project):
    assert doubts(config, project) == expected


@pytest.mark.parametrize(
    "text",
    [
        "$(" * 40_000,
        "`" * 100_000,
        "${PWD:-" * 15_000,
        "'" + "$/" * 50_000,
        "a/$b " * 20_000,
        "-m a " * 20_000,
        "sh -c " * 20_000,
    ],
)
def test_no_command_is_looked_through_for_long(text, project):
    start = monotonic()
    doubts({"command": text}, project)
    assert monotonic() - start < 5
