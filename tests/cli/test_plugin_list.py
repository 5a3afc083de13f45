"""``agent-hooks plugins``: what is installed, and what of it works."""

from __future__ import annotations

import json

import pytest

from projects import HOOKCONF, settings, toml

GOOD = """
    print("plugins may print")

    @hookimpl(match="shell", priority=200, mode="gate")
    def before_tool_use(tool_call):
        return None

    @hookimpl(mode="observe")
    async def after_tool_use(result):
        return None
"""


def test_plugins_are_listed_with_their_hooks(command):
    command.install(GOOD, version="2.5")
    done = command("plugins", "--json")
    assert done.exit_code == 0
    (plugin,) = [plugin for plugin in done.json["plugins"] if plugin["name"] == "house"]
    facts = {key: plugin[key] for key in ("version", "distribution", "source", "status")}
    assert facts == {"version": "2.5", "distribution": "house", "source": "plugin", "status": "active"}
    shown = [(hook["event"], hook["priority"], hook["mode"], hook["match"]) for hook in plugin["hooks"]]
    assert shown == [("before_tool_use", 200, "gate", "shell"), ("after_tool_use", 0, "observe", "*")]


def test_people_read_the_same(command):
    command.install(GOOD, version="2.5")
    done = command("plugins")
    assert "house 2.5  from house  plugin  active" in done.stdout
    (line,) = [line.split() for line in done.stdout.splitlines() if "house.before_tool_use" in line]
    written = command.site / "house_rules.py"
    assert line == ["before_tool_use", "200", "gate", "shell", "house.before_tool_use", f"{written}:5"]


@pytest.mark.parametrize("noise", ["os.write(1, b'noise')", "os.system('echo noise')", "sys.__stdout__.write('noise')"])
def test_what_a_plugin_prints_in_any_way_is_not_in_the_json(command, noise):
    command.install(f"import os, sys\n{noise}", "noisy")
    done = command("plugins", "--json")
    assert [plugin["name"] for plugin in done.json["plugins"]] == ["noisy"]
    assert "noise" in done.stderr


def test_a_plugin_that_closes_stdout_takes_no_words_from_the_command(command):
    command.install("import os; os.close(1)", "closing")
    assert "closing 1.0" in command("plugins").stdout


def test_a_broken_plugin_is_told_with_why_and_the_remedy(command):
    command.install(GOOD)
    command.install("import no_such_module", "broken")
    done = command("plugins")
    assert done.exit_code == 1
    for said in ("broken 1.0  from broken  plugin  broken", "house 1.0  from house  plugin  active"):
        assert said in done.stdout
    assert "No module named 'no_such_module'" in done.stdout
    assert "AGENT_HOOKS_DISABLE=broken" in done.stdout
    listed = command("plugins", "--json", env={"AGENT_HOOKS_DISABLE": "house"})
    statuses = {plugin["name"]: plugin["status"] for plugin in listed.json["plugins"]}
    assert (listed.exit_code, statuses) == (1, {"broken": "broken", "house": "disabled"})
    assert "AGENT_HOOKS_DISABLE" in listed.json["warnings"][0]


def test_without_plugins_people_learn_where_to_get_some(command):
    done = command("plugins")
    assert (done.exit_code, "No plugin is installed" in done.stdout) == (0, True)


def test_the_hooks_of_files_are_listed_with_where_they_are_written(command, project):
    files = {
        ".claude/settings.json": settings("PreToolUse", "true", matcher="Bash"),
        "sub/hookconf.py": HOOKCONF,
    }
    command.trust(project.write(files))
    done = command("plugins", "--json", cwd=project.root)
    assert (done.exit_code, done.json["warnings"]) == (0, [])
    listed = {plugin["name"]: plugin for plugin in done.json["plugins"]}
    assert set(listed) == {project.at(".claude/settings.json"), project.at("sub/hookconf.py")}
    origins = {hook["origin"] for plugin in listed.values() for hook in plugin["hooks"]}
    assert origins == {".claude/settings.json:7", f"{project.at('sub/hookconf.py')}:4"}
    shown = [" ".join(line.split()) for line in command("plugins", cwd=project.root).stdout.splitlines()]
    assert "before_tool_use 0 gate Bash .claude/settings.json:7 .claude/settings.json:7" in shown
    assert f"{project.at('sub/hookconf.py')} project active" in shown


def test_nothing_of_a_long_row_is_left_out_where_there_is_no_terminal(command, project):
    """Whoever searches the output must find it."""
    path = f"{'a_long_name_of_a_folder/' * 8}hookconf.py"
    command.trust(project.write({path: HOOKCONF}))
    (row,) = (line for line in command("plugins", cwd=project.root).stdout.splitlines() if "before_tool_use\t" in line)
    path = project.at(path)
    assert row.split() == ["before_tool_use", "0", "gate", "*", f"{path}.before_tool_use", f"{path}:4"]


def test_what_stands_in_for_a_file_is_listed_as_broken_with_its_own_remedy(command, project):
    command.trust(project.write({"agent-hooks.toml": toml("", handler='type = "nope"'), "hookconf.py": "1 / 0"}))
    done = command("plugins", cwd=project.root)
    assert done.exit_code == 1
    assert f"{project.at('agent-hooks.toml')}:2 (" in done.stdout
    assert "there is no handler type 'nope'" in done.stdout
    assert "to `ignore` in your own agent-hooks.toml" in done.stdout
    assert "AGENT_HOOKS_DISABLE" not in done.stdout
    statuses = {
        plugin["name"]: plugin["status"] for plugin in command("plugins", "--json", cwd=project.root).json["plugins"]
    }
    assert statuses[project.at("hookconf.py")] == "broken"


def test_what_the_user_lives_with_is_no_warning(command, project):
    command.trust(project.write({".claude/settings.json": settings("Stop", "npm test")}))
    assert "npm test" in command("plugins", "--json", cwd=project.root).json["warnings"][0]
    (finding,) = command("doctor", "--json", str(project.root)).json["findings"]
    command.configure(f"ignore = [{json.dumps(finding['id'])}]")
    assert command("plugins", "--json", cwd=project.root).json["warnings"] == []


def test_required_gates_that_are_not_trusted_are_told(command, project):
    project.write({"hookconf.py": HOOKCONF})
    command.configure("[policy]\nrequire_project_gates = true")
    done = command("plugins", cwd=project.root)
    assert (done.exit_code, done.stdout) == (1, "")
    assert "The policy requires the gates of a project." in done.stderr
    assert "Traceback" not in done.stderr
