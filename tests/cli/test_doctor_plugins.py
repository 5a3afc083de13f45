"""``agent-hooks doctor``: what is wrong with plugins, and which findings the user may live with."""

from __future__ import annotations

import json

import pytest

from cli.findings import claude, kinds, of_kind, ours, place
from projects import HOOKCONF, Project, toml

HOUSE = """
from pydantic import BaseModel

class House(BaseModel):
    say: str = ""

@hookimpl
def agent_hooks_settings():
    return {"house": House}

@hookimpl
def before_tool_use():
    return None
"""


# -- plugins -----------------------------------------------------------------------------------------------------------


def test_a_plugin_that_failed_to_load_is_a_finding(command, doctor):
    command.install("import no_such_module")
    finding = of_kind(doctor(), "broken-plugin")
    assert "No module named 'no_such_module'" in finding["message"]
    assert "AGENT_HOOKS_DISABLE=house" in finding["remedy"]


@pytest.mark.parametrize(
    ("code", "ending", "activity"),
    [
        ("os._exit(0)", "ended with exit code 0", "the import of the plugin 'deadly' of deadly"),
        ("os.kill(os.getpid(), 11)", "was ended by signal 11", "the import of the plugin 'deadly' of deadly"),
        (
            "@hookimpl\ndef agent_hooks_register():\n    os._exit(0)\n",
            "ended",
            "the registration of the plugin 'deadly'",
        ),
        (
            "@hookimpl\ndef agent_hooks_config_sources():\n    os._exit(0)\n",
            "ended with exit code 0",
            "agent_hooks_config_sources of the plugin 'deadly'",
        ),
    ],
)
def test_a_plugin_that_ends_the_process_is_a_finding_and_the_rest_is_shown(command, doctor, code, ending, activity):
    command.install(f"import os\n{code}", "deadly")
    done = doctor()
    finding = of_kind(done, "broken-plugin")
    assert (done.exit_code, done.stderr, finding["must_be_repaired"]) == (1, "", True)
    assert f"The process that loads the hooks {ending}" in finding["message"]
    assert f"while {activity}" in finding["message"]


def test_the_remedy_for_the_second_plugin_of_a_name_works(command, doctor):
    for name in ("house", "home"):
        command.install("", name)
    (command.site / "home-1.0.dist-info" / "entry_points.txt").write_text("[agent_hooks]\nhouse = home_rules\n")
    finding = of_kind(doctor(), "broken-plugin")
    assert "A plugin called 'house' is registered already" in finding["message"]
    assert finding["remedy"] == "Repair or uninstall it, or set AGENT_HOOKS_DISABLE=house."
    assert finding["remedy"] in command("plugins").stdout
    assert kinds(doctor(env={"AGENT_HOOKS_DISABLE": "house"})) == ["switched-off"]


FINDS = """\
from agent_hooks import ConfigFinding

@hookimpl
def agent_hooks_findings(directory):
    return [ConfigFinding(kind="stale", path=f"{directory}/a.toml", message="Old.", remedy="Renew it.", blocks=True)]
"""


def test_what_a_plugin_finds_is_a_finding_that_stops_nothing(command, project, doctor):
    command.install(FINDS)
    done = doctor()
    finding = of_kind(done, "stale")
    assert (done.exit_code, place(finding)) == (1, f"{project.at('a.toml')}:0")
    assert (finding["message"], finding["remedy"], finding.get("blocks", False)) == ("Old.", "Renew it.", False)
    command.configure(f"ignore = [{json.dumps(finding['id'])}]")
    assert doctor().exit_code == 0


@pytest.mark.parametrize("answer", ["1 / 0", "['text']", "'text'"])
def test_a_plugin_that_cannot_tell_what_is_wrong_is_named_and_the_rest_is_shown(command, doctor, answer):
    command.hook("agent_hooks_findings", answer, name="broken")
    command.install(FINDS)
    done = doctor()
    assert of_kind(done, "stale")
    assert "agent_hooks_findings of the plugin 'broken' failed" in done.stderr


@pytest.mark.parametrize(
    ("disable", "found"),
    [("house, other", ["switched-off", "unknown-plugin"]), ("typo", ["unknown-plugin"]), ("house", ["switched-off"])],
)
def test_a_variable_that_switches_plugins_off_is_a_finding_and_so_is_a_name_of_none(command, doctor, disable, found):
    command.hook("before_tool_use", "None")
    done = doctor(env={"AGENT_HOOKS_DISABLE": disable})
    assert (sorted(kinds(done)), done.json["hooks"]) == (found, int("switched-off" not in found))
    if "switched-off" in found:
        assert of_kind(done, "switched-off")["message"] == "AGENT_HOOKS_DISABLE is set and switches off: house."


@pytest.mark.parametrize(
    ("text", "env", "line", "says"),
    [
        ("\ndisabled = ['hous']\n", {}, 2, "`disabled` names 'hous', but no installed plugin has this name."),
        ("\n\n[hous]\nx = 1\n", {}, 3, "No installed plugin has settings of the name 'hous', so nobody reads [hous]."),
        ("", {"AGENT_HOOKS_DISABLE": "hous"}, 0, "AGENT_HOOKS_DISABLE names 'hous', but no installed plugin"),
    ],
)
def test_a_name_that_no_plugin_has_is_a_finding_and_closes_nothing(command, doctor, payload, text, env, line, says):
    command.install(HOUSE)
    command.configure(text)
    done = doctor(env=env)
    finding = of_kind(done, "unknown-plugin")
    assert (done.exit_code, finding.get("line", 0), "blocks" in finding) == (1, line, False)
    assert finding.get("path", "") == (str(command.config / "agent-hooks.toml") if line else "")
    assert finding["message"].startswith(says)
    assert "Did you mean 'house'?" in finding["remedy"]
    assert command.answer("claude-code", payload("claude-code", "PreToolUse"), env=env).exit_code == 0


def test_names_that_plugins_and_files_have_are_no_findings(command, doctor, tmp_path):
    command.hook("before_tool_use", "None")
    command.configure(f"disabled = ['house', '{tmp_path}/x/hookconf.py']\n[house]\nx = 1\n")
    assert kinds(doctor(env={"AGENT_HOOKS_DISABLE": "house"})) == ["switched-off"]


def test_a_policy_in_shadow_is_a_finding_and_a_project_of_that_name_is_none(command, doctor, tmp_path):
    project = Project(tmp_path, "shadow").write({"hookconf.py": HOOKCONF})
    assert kinds(command("doctor", "--json", str(project.root))) == ["untrusted"]
    command.configure("[policy]\nshadow = true")
    assert "nothing is enforced" in of_kind(doctor(), "switched-off")["message"]


def test_another_distribution_with_our_name_is_a_finding(command, doctor):
    info = command.site / "agent_hooks_sdk-3.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: agent-hooks-sdk\nVersion: 3.0\n")
    (info / "top_level.txt").write_text("agent_hooks\n")
    (info / "RECORD").write_text("agent_hooks/__init__.py,,\n")
    finding = of_kind(doctor(), "name-collision")
    assert "'agent-hooks-sdk'" in finding["message"]
    assert "-p no:agent_hooks_ctk" in finding["message"]
    assert "pip uninstall --yes agent-hooks-sdk && " in finding["remedy"]
    listed = command("plugins")
    assert (listed.exit_code, finding["remedy"] in " ".join(listed.stdout.split())) == (0, True)


def test_handler_types_that_a_plugin_cannot_tell_or_offers_in_the_old_way_are_findings(command, doctor):
    command.hook("agent_hooks_handler_types", "1 / 0")
    command.configure(toml(["true"]))
    assert "'house' cannot say which handler types it offers" in of_kind(doctor(), "not-honoured")["message"]
    command.install("class Slack: ...", "slack")
    info = command.site / "slack-1.0.dist-info" / "entry_points.txt"
    info.write_text("[agent_hooks.handlers]\nslack = slack_rules:Slack\n")
    finding = of_kind(doctor(), "deprecated")
    assert "'slack' of slack" in finding["message"]
    assert "agent_hooks_handler_types" in finding["remedy"]


# -- what the user lives with ------------------------------------------------------------------------------------------


def test_what_the_user_lives_with_is_listed_and_no_reason_to_fail(command, project, doctor, shown):
    command.trust(project.write({**ours("", handler='type = "nope"'), **claude("Stop", "npm test")}))
    before = doctor().json["findings"]
    ids = [finding["id"] for finding in before]
    assert f'\n  To live with it: ignore = ["{ids[-1]}"] in your own agent-hooks.toml\n' in shown()
    command.configure(f"ignore = {json.dumps(ids)}")
    done = doctor()
    assert (done.exit_code, done.json["findings"]) == (0, [{**finding, "is_ignored": True} for finding in before])
    text = shown()
    for finding in before:
        assert f"\n{finding['kind']} (ignored)  {finding['path']}:{finding['line']}\n" in text
    assert not any(words in text for words in ("It denies", "To live with it"))


@pytest.mark.parametrize(
    ("text", "plugin", "kind", "remedy"),
    [
        (toml(["true"], matcher="shel"), "", "unknown-tool", "declare it: known_tools = ['shel']"),
        ("[house]\nsya = 'no'\n", HOUSE, "wrong-settings", "Did you mean 'say'?"),
        ("", "import no_such_module", "broken-plugin", "AGENT_HOOKS_DISABLE=house"),
    ],
)
def test_a_finding_whose_calls_stay_denied_cannot_be_ignored(command, doctor, shown, text, plugin, kind, remedy):
    command.install(plugin)
    command.configure(f"ignore = []\n{text}")
    finding = of_kind(doctor(), kind)
    assert remedy in finding["remedy"]
    said = shown()
    assert ("ignore = [" in said, "It cannot be ignored: what needs it fails" in said) == (False, True)
    command.configure(f"ignore = [{json.dumps(finding['id'])}]\n{text}")
    done = doctor()
    assert (done.exit_code, of_kind(done, kind)["is_ignored"]) == (1, False)


@pytest.mark.parametrize("extra", [{"matcher": "hash"}, {"matcher": "shel", "mode": "observe"}])
def test_a_name_that_denies_nothing_can_be_ignored(command, doctor, extra):
    command.configure(f"ignore = []\n{toml('true', **extra)}")
    finding = of_kind(doctor(), "unknown-tool")
    command.configure(f"ignore = [{json.dumps(finding['id'])}]\n{toml('true', **extra)}")
    assert doctor().exit_code == 0
