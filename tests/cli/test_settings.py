"""The settings of an installed plugin, from the files to the answer of the command."""

from __future__ import annotations

import jsonschema
import pytest

from projects import Project

FROZEN = """
from pydantic import BaseModel

from agent_hooks import plugin_settings

class Frozen(BaseModel):
    words: list[str] = []

    def tighten(self, project):
        return Frozen(words=[*dict.fromkeys([*self.words, *project.words])])

@hookimpl
def agent_hooks_settings():
    return {"frozen": Frozen}

@hookimpl(match="shell")
def before_tool_use(ctx, tool_call):
    for word in plugin_settings(Frozen, ctx).words:
        if word in tool_call.command:
            return HookOutcome.deny(f"{word} is frozen")
"""


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path)


@pytest.fixture
def ask(command, project, payload):
    """Ask about a command in the project."""
    command.install(FROZEN, "frost")

    def ask(text, tool="Bash", key="command"):
        event = payload("claude-code", "PreToolUse", cwd=str(project.root), tool_name=tool, tool_input={key: text})
        return command.answer("claude-code", event, cwd=project.root)

    return ask


def test_files_changed_later_count_from_then_on(command, ask, project):
    assert not ask("make").denies
    command.configure("[frozen]\nwords = ['make']\n")
    assert ask("make").reason.startswith("make is frozen")
    project.write({"agent-hooks.toml": "[frozen]\nwords = ['ninja']\n"})
    assert not ask("ninja").denies
    command.trust(project)
    assert ask("ninja").reason.startswith("ninja is frozen")
    assert ask("make").denies
    command.configure("")
    assert not ask("make").denies


def test_a_mistake_is_told_and_closes_the_gates_of_its_plugin_alone(command, ask, project):
    command.install("@hookimpl(match='read')\ndef before_tool_use(): ...\n", "other")
    command.configure("\n[frozen]\nwrods = ['make']\n")
    done = ask("ls")
    assert done.denies
    assert "agent-hooks.toml:3" in done.said
    assert not ask("/tmp/x", "Read", "file_path").denies
    doctor = command("doctor", "--json", str(project.root))
    (finding,) = doctor.json["findings"]
    assert (doctor.exit_code, finding["kind"], finding["line"]) == (1, "wrong-settings", 3)
    assert finding["remedy"] == "Did you mean 'words'?"
    command.configure("[frozen]\nwords = ['make']\n")
    assert not ask("ls").denies


def test_a_project_that_nobody_trusts_has_its_tables_checked_by_the_plugins_that_are_there(command, ask, project):
    project.write({"agent-hooks.toml": "[frozen]\nwords = ['make']\nword = 1\n\n[thawed]\na = 1\n"})
    done = command("doctor", "--ci", "--json", cwd=project.root)
    found = {each["line"]: (each["severity"], each["kind"], each["remedy"]) for each in done.json["findings"]}
    assert done.exit_code == 1
    assert found == {
        3: ("error", "wrong-settings", "Did you mean 'words'?"),
        5: ("warning", "not-checked", "Install its plugin beside agent-hooks."),
    }


def test_of_two_plugins_with_one_table_the_second_is_broken(command, ask):
    command.install("@hookimpl\ndef agent_hooks_settings():\n    return {'frozen': dict}\n", "second")
    (info,) = (each for each in command("plugins", "--json").json["plugins"] if each["status"] == "broken")
    assert info["name"] == "second"
    assert "The plugin 'second' has the settings [frozen], and so has the plugin 'frost'" in info["error"]
    assert ask("ls").denies


def test_each_value_is_listed_with_its_place(command, ask, project):
    command.configure("[frozen]\nwords = [\n  'make',\n]\n")
    project.write({"agent-hooks.toml": "\n[frozen]\nwords = ['ninja']\n"})
    command.trust(project)
    shown = command("plugins", "--settings", "--json", cwd=project.root)
    own, theirs = command.config / "agent-hooks.toml", project.root / "agent-hooks.toml"
    assert shown.json == {
        "settings": [
            {"key": "frozen.words", "value": ["ninja"], "origin": f"{theirs}:3"},
            {"key": "frozen.words", "value": ["make"], "origin": f"{own}:2"},
        ],
        "findings": [],
    }
    told = command("plugins", "--settings", cwd=project.root)
    assert told.stdout.splitlines()[:2] == ["key\tvalue\twhere", f'frozen.words\t["ninja"]\t{theirs}:3']
    command.configure("[frozen]\nwrods = 1\n")
    told = command("plugins", "--settings", cwd=project.root)
    assert (told.exit_code, "Did you mean 'words'?" in told.stdout) == (1, True)


def test_the_schema_has_the_models(command, ask):
    check = jsonschema.Draft202012Validator(command("schema").json)
    assert check.is_valid({"frozen": {"words": ["x"]}, "of_nobody": {"x": 1}})
    assert not check.is_valid({"frozen": {"words": "x"}})
    assert not check.is_valid({"frozen": {"wrods": []}})


def test_the_settings_of_a_project_count_once_they_are_trusted(command, ask, project):
    project.write({"agent-hooks.toml": "\n[frozen]\nwords = ['make']\n"})
    done = ask("make")
    assert (done.exit_code, "The settings [frozen] are not active in the project" in done.said) == (0, True)
    assert command("doctor", "--json", str(project.root)).json["settings"] == {}
    shown = 'agent-hooks.toml:3  frozen.words = ["make"]'
    assert command("trust", "--show", "--json", str(project.root)).json["settings"] == [shown]
    assert shown in command("trust", "--show", str(project.root)).stdout
    command.trust(project)
    origin = f"{project.root}/agent-hooks.toml:2"
    assert command("doctor", "--json", str(project.root)).json["settings"] == {"frost": [origin]}
    assert f"The plugin frost has settings from {origin}." in command("doctor", str(project.root)).stdout
    (plugin,) = command("plugins", "--json", cwd=project.root).json["plugins"]
    assert plugin["settings"] == [origin]
    assert f"settings from {origin}" in command("plugins", cwd=project.root).stdout
    project.write({"agent-hooks.toml": "\n[frozen]\nwords = ['ninja']\n"})
    done = ask("make")
    assert (done.exit_code, "files changed since they were trusted" in done.said) == (0, True)
