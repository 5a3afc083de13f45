"""Whether a host's settings run our hooks from an environment."""

from __future__ import annotations

import json

import pytest

from agent_hooks.trust.gate.reasons import WIRING
from agent_hooks.trust.gate.wiring import is_wired, is_wired_in, wiring_in, wiring_part

# By variable, a file of settings in the folder that it names.
MOVING = {
    "CLAUDE_CONFIG_DIR": "settings.json",
    "CODEX_HOME": "hooks.json",
    "COPILOT_HOME": "config.json",
    "QWEN_HOME": "settings.json",
    "OPENCODE_CONFIG_DIR": "opencode.json",
    "XDG_CONFIG_HOME": "opencode/opencode.json",
}


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """A home and a project with an environment in it; no variable moves a host's folder."""
    for name in ("home", "project/.venv/bin", "elsewhere"):
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in MOVING:
        monkeypatch.delenv(name, raising=False)
    return tmp_path.resolve()


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def settings(command):
    return json.dumps({"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": command}]}]}})


@pytest.mark.parametrize(
    "place",
    [
        "home/.claude/settings.json",
        "project/.codex/hooks.json",
        "home/.config/cursor/hooks.json",
        "home/.codeium/windsurf/hooks.json",
    ],
)
@pytest.mark.parametrize(
    "command", ["{project}/.venv/bin/agent-hooks run", "$CLAUDE_PROJECT_DIR/.venv/bin/agent-hooks run"]
)
def test_settings_run_the_command_of_the_environment_that_they_name(folders, place, command):
    project = folders / "project"
    write(folders / place, settings(command.format(project=project)))
    assert is_wired(f"{project}/.venv", str(project))
    assert is_wired(f"{project}/.venv/", str(project))
    assert not is_wired(f"{folders}/elsewhere", str(project))


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ("home/.claude/settings.json", settings("{venv}/bin/other-hooks run")),
        ("home/.claude/other.json", settings("{venv}/bin/agent-hooks run")),
        ("elsewhere/.claude/settings.json", settings("{venv}/bin/agent-hooks run")),
    ],
)
def test_other_commands_and_files_wire_nothing(folders, place, text):
    venv = f"{folders}/project/.venv"
    write(folders / place, text.replace("{venv}", venv))
    assert not is_wired(venv, str(folders / "project"))


def test_a_program_on_the_path_or_a_script_leads_into_its_environment(folders, monkeypatch):
    venv = folders / "project" / ".venv"
    write(venv / "bin" / "agent-hooks", "#!/bin/sh\n")
    (venv / "bin" / "agent-hooks").chmod(0o755)
    write(folders / "home/.claude/settings.json", settings("agent-hooks run"))
    assert not is_wired(str(venv), str(folders / "project"))
    monkeypatch.setenv("PATH", f"{venv}/bin")
    assert is_wired(str(venv), str(folders / "project"))
    script = folders / "home" / "ask-agent-hooks.sh"
    write(script, f"exec {venv}/bin/python -m agent_hooks\n")
    write(folders / "home/.claude/settings.json", settings(str(script)))
    monkeypatch.setenv("PATH", "/nowhere")
    assert is_wired(str(venv), str(folders / "project"))


@pytest.mark.parametrize(("variable", "name"), MOVING.items())
def test_a_folder_that_a_variable_names_has_a_hosts_settings(folders, monkeypatch, variable, name):
    venv, place = f"{folders}/project/.venv", folders / "elsewhere" / name
    write(place, settings(f"{venv}/bin/agent-hooks run"))

    def found():
        return wiring_part(str(place).casefold()), is_wired(venv, str(folders / "project"))

    assert found() == ("", False)
    monkeypatch.setenv(variable, str(folders / "elsewhere"))
    assert found() == (WIRING, True)


def test_a_hosts_folder_with_our_hooks_is_wired(folders):
    write(folders / "home/.claude/settings.json", settings("agent-hooks run"))
    write(folders / "home/.github/hooks/ours.json", settings("agent-hooks run"))
    write(folders / "home/.gemini/settings.json", "{}")
    write(folders / "home/elsewhere/settings.json", settings("agent-hooks run"))
    wired = [
        name for name in (".claude", ".github", ".gemini", "elsewhere") if is_wired_in(str(folders / "home" / name))
    ]
    assert wired == [".claude", ".github"]


def test_settings_of_a_copied_tree_count_where_a_host_reads_them(folders):
    tree = folders / "elsewhere"
    for name in (".claude/settings.json", ".claude/other.json", "settings.json"):
        write(tree / name, "{}")
    project, home = folders / "project", folders / "home"
    assert [*wiring_in(str(tree), str(project), str(project))] == [".claude/settings.json"]
    assert [*wiring_in(str(tree), str(home), str(project))] == [".claude/settings.json"]
    assert [*wiring_in(str(tree), str(folders / "copy"), str(project))] == []
    assert "settings.json" in [*wiring_in(str(tree), str(project / ".claude"), str(project))]
