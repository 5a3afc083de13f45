"""``agent-hooks doctor``: everything that is wrong, each once, with a place and a remedy."""

from __future__ import annotations

import json
import sys

import pytest

from agent_hooks.trust.discovery import discover
from agent_hooks.trust.trust_store import TrustStore
from projects import HOOKCONF, Project, denying, settings, toml

MISPLACED = '{\n "PreToolUse": [{"hooks": [{"type": "command", "command": "exit 2"}]}]\n}'


@pytest.fixture
def doctor(command, project):
    """What the doctor says of the project, as JSON."""

    def ask(**options):
        return command("doctor", "--json", str(project.root), **options)

    return ask


def of_kind(done, kind):
    """The only finding of a kind."""
    found = [finding for finding in done.json["findings"] if finding["kind"] == kind]
    assert len(found) == 1, done
    return found[0]


def place(finding):
    return f"{finding['path']}:{finding.get('line', 0)}"


def test_where_nothing_is_wrong_it_says_so(command, project):
    done = command("doctor", str(project.root))
    assert done.exit_code == 0
    assert done.stdout == f"{project.root}: has no hooks of its own\n0 hooks active.\nNothing is wrong.\n"
    assert command("doctor", "--json", str(project.root)).json == {"hooks": 0, "settings": {}, "findings": []}


def test_active_hooks_are_counted_without_our_own(command, project, doctor):
    command.install("@hookimpl\ndef before_tool_use():\n    print('noise')\n")
    project.write({"agent-hooks.toml": toml(["true"]), "hookconf.py": HOOKCONF})
    command.trust(project)
    assert doctor().json == {"hooks": 3, "settings": {}, "findings": []}
    done = command("doctor", ".", cwd=project.root)
    assert f"{project.root}: its files are trusted\n3 hooks active.\n" in done.stdout


@pytest.mark.parametrize(
    ("files", "kind", "where", "says", "blocks"),
    [
        ({"agent-hooks.toml": toml(["x"], "PreToolUze")}, "unknown-event", "agent-hooks.toml:1", "'PreToolUze'", True),
        ({"agent-hooks.toml": toml(["x"], "my_event")}, "unknown-event", "agent-hooks.toml:1", "'my_event'", False),
        ({"agent-hooks.toml": toml(["x"], priority="hi")}, "not-honoured", "agent-hooks.toml:2", "priority", True),
        ({"agent-hooks.toml": toml("", handler='type = "x"')}, "not-honoured", "agent-hooks.toml:2", "type 'x'", True),
        ({"agent-hooks.toml": "["}, "unreadable", "agent-hooks.toml:0", "not TOML", True),
        ({"agent-hooks.toml": "ignore = []\nhookz = 1"}, "not-allowed", "agent-hooks.toml:1", "only tighten", False),
        ({"agent-hooks.toml": toml(["x"], matcher="shel")}, "unknown-tool", "agent-hooks.toml:3", "'shel'", False),
        ({"agent-hooks.toml": toml(["x"], matcher="hash")}, "unknown-tool", "agent-hooks.toml:3", "'hash'", False),
        ({"agent-hooks.toml": toml(["x"], matcher="bash")}, "host-name", "agent-hooks.toml:3", "OpenCode", False),
        (
            {".claude/settings.json": settings("PreToolUse", "x", matcher="Newest")},
            "unknown-tool",
            ".claude/settings.json:7",
            "'Newest'",
            False,
        ),
        ({".claude/settings.json": "{"}, "unreadable", ".claude/settings.json:0", "is not JSON", True),
        (
            {".claude/settings.json": settings("PreToolUze", "x")},
            "unknown-event",
            ".claude/settings.json:3",
            "'PreToolUze'",
            True,
        ),
        (
            {".claude/settings.json": settings("PreToolUse", "x", matcher="(")},
            "not-honoured",
            ".claude/settings.json:5",
            "regular expression",
            True,
        ),
        (
            {".claude/settings.json": settings("Stop", "x", matcher="y")},
            "ignored",
            ".claude/settings.json:5",
            "knows no matchers",
            False,
        ),
        (
            {".claude/settings.json": settings("PreToolUse", "x", disableAllHooks=True)},
            "switched-off",
            ".claude/settings.json:0",
            "says disableAllHooks",
            False,
        ),
        (
            {"hookconf.py": "1 / 0\n", ".claude/settings.json": settings("Stop", "x")},
            "broken",
            "hookconf.py:1",
            "ZeroDivisionError",
            False,
        ),
        (
            {"hookconf.py": "\nagent_hooks_plugins = ['nope']\n"},
            "unreadable",
            "hookconf.py:0",
            "agent_hooks_plugins names",
            True,
        ),
        (
            {".claude/settings.json": MISPLACED},
            "not-honoured",
            ".claude/settings.json:2",
            "at the top of the file",
            True,
        ),
        ({"pyproject.toml": "[agent_hooks]\nx = 1"}, "unknown-key", "pyproject.toml:1", "Nobody reads", True),
        ({"hookconf.py": HOOKCONF, "HookConf.py": ""}, "misspelt", "HookConf.py:0", "not written hookconf.py", False),
        ({"agent-hooks.toml": 'claude_plugins = ["gone"]'}, "unreadable", "agent-hooks.toml:1", "claude_plugins", True),
    ],
)
def test_each_finding_has_a_place_and_a_remedy(command, project, doctor, files, kind, where, says, blocks):
    command.trust(project.write(files))
    done = doctor()
    finding = of_kind(done, kind)
    assert done.exit_code == 1
    assert place(finding) == f"{project.root}/{where}"
    assert says in finding["message"]
    assert finding["remedy"]
    assert finding.get("blocks", False) is blocks
    assert finding["is_ignored"] is False
    shown = command("doctor", str(project.root)).stdout
    shown_at = f"{project.root}/{where.removesuffix(':0')}"
    assert f"\n\n{kind}  {shown_at}\n  {finding['message']}\n  Remedy: {finding['remedy']}\n" in shown
    if finding.get("must_be_repaired"):
        assert finding["id"] not in shown
        return
    way_out = "It denies " if blocks else "To live with it: "
    (line,) = (line for line in shown.splitlines() if f'ignore = ["{finding["id"]}"]' in line)
    assert line.strip().startswith(way_out)


def test_a_tool_that_is_declared_is_no_finding(command, project, doctor):
    project.write({"agent-hooks.toml": 'known_tools = ["hash", "shel"]\n' + toml(["true"], matcher="hash|shel")})
    command.trust(project)
    assert doctor().json == {"hooks": 1, "settings": {}, "findings": []}


def test_a_file_of_the_user_has_findings_too(command, doctor):
    command.configure('[policy]\nask_fallback = "maybe"')
    finding = of_kind(doctor(), "not-honoured")
    assert place(finding) == f"{command.config}/agent-hooks.toml:2"


def test_an_untrusted_layer_is_a_finding(project, doctor, command):
    project.write({"hookconf.py": HOOKCONF})
    done = doctor()
    finding = of_kind(done, "untrusted")
    assert (done.exit_code, done.json["hooks"], finding["path"]) == (1, 0, str(project.root))
    assert f"agent-hooks trust {project.root}" in finding["remedy"]
    assert f"{project.root}: its files are not trusted\n" in command("doctor", str(project.root)).stdout


def test_what_is_wrong_with_an_untrusted_file_is_shown_and_stops_nothing(project, doctor, command):
    project.write({".claude/settings.json": MISPLACED})
    done = doctor()
    finding = of_kind(done, "not-honoured")
    assert (done.exit_code, place(finding), finding.get("blocks", False)) == (
        1,
        f"{project.at('.claude/settings.json')}:2",
        False,
    )
    assert of_kind(done, "untrusted")["path"] == str(project.root)
    assert "It denies" not in command("doctor", str(project.root)).stdout


def test_a_changed_layer_is_a_finding(command, project, doctor):
    command.trust(project.write({"hookconf.py": HOOKCONF})).write({"hookconf.py": ""})
    finding = of_kind(doctor(), "changed")
    assert "hookconf.py has changed" in finding["message"]
    assert f"{project.root}: its files changed" in command("doctor", str(project.root)).stdout


def test_a_record_that_others_can_write_is_a_finding(command, project, doctor):
    command.trust(project.write({"hookconf.py": HOOKCONF}))
    (record,) = (command.config / "trust").iterdir()
    record.chmod(0o666)
    finding = of_kind(doctor(), "trust-store")
    assert (finding["path"], "Others can write it" in finding["message"]) == (str(record), True)


def test_what_leads_out_of_a_project_is_a_finding_also_where_nothing_else_is(command, project, doctor, tmp_path):
    (tmp_path / "outside.py").write_text(HOOKCONF)
    (project.root / "hookconf.py").symlink_to(tmp_path / "outside.py")
    finding = of_kind(doctor(), "not-honoured")
    assert "leads out of the project" in finding["message"]
    assert not finding.get("blocks")


def test_required_gates_that_are_not_trusted_are_told_with_what_comes_of_it(command, project, doctor):
    project.write({"hookconf.py": HOOKCONF})
    command.configure("[policy]\nrequire_project_gates = true")
    done = doctor()
    assert [finding["kind"] for finding in done.json["findings"]] == ["untrusted", "refused"]
    assert (done.exit_code, done.json["hooks"]) == (1, 0)
    assert "nothing starts here" in of_kind(done, "refused")["message"]


def test_a_plugin_that_failed_to_load_is_a_finding(command, doctor):
    command.install("import no_such_module")
    finding = of_kind(doctor(), "broken-plugin")
    assert "'house' of house is broken" in finding["message"]
    assert "No module named 'no_such_module'" in finding["message"]
    assert "AGENT_HOOKS_DISABLE=house" in finding["remedy"]


@pytest.mark.parametrize(
    ("code", "ending", "activity"),
    [
        ("os._exit(0)", "ended with exit code 0", "the import of the plugin 'deadly' of deadly"),
        ("os.kill(os.getpid(), 11)", "was ended by signal 11", "the import of the plugin 'deadly' of deadly"),
        (
            "@hookimpl\ndef agent_hooks_register():\n    os._exit(0)\n",
            "ended with exit code 0",
            "the registration of the plugin 'deadly' of deadly",
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
    assert f"The process that loads the hooks {ending} while {activity} was running; repair or" in finding["message"]


def test_wiring_that_lacks_an_event_is_a_finding(command, doctor):
    assert command("install", "claude-code", "--events", "Stop").exit_code == 0
    assert doctor().json["findings"] == []
    settings_file = command.home / ".claude" / "settings.json"
    settings_file.write_text(settings_file.read_text().replace('"Stop"', '"StopFailure"', 1))
    finding = of_kind(doctor(), "wiring")
    assert finding["path"] == str(settings_file)
    assert finding["remedy"] == "Type: agent-hooks install claude-code"


def test_a_host_that_asks_no_hooks_is_wrong(command):
    done = command("doctor", "codex", "--json")
    (facts,) = done.json["hosts"]
    assert (done.exit_code, facts["wired"], facts["problems"]) == (1, [], ["It asks no hooks."])
    assert "agent-hooks install codex" in command("doctor", "codex").stdout


def test_a_target_that_is_neither_a_host_nor_a_folder_is_a_wrong_usage(command):
    done = command("doctor", "claude")
    assert (done.exit_code, "'claude' is no folder" in done.stderr) == (2, True)
    assert command("doctor", ".", "..").exit_code == 2


def test_the_remedy_for_the_second_plugin_of_a_name_works(command, doctor):
    for name in ("house", "home"):
        command.install("", name)
    (command.site / "home-1.0.dist-info" / "entry_points.txt").write_text("[agent_hooks]\nhouse = home_rules\n")
    finding = of_kind(doctor(), "broken-plugin")
    assert "A plugin called 'house' is registered already" in finding["message"]
    assert ".." not in finding["message"]
    remedy = "Repair or uninstall it, or set AGENT_HOOKS_DISABLE=house."
    assert finding["remedy"] == remedy
    assert remedy in command("plugins").stdout
    done = doctor(env={"AGENT_HOOKS_DISABLE": "house"})
    assert [finding["kind"] for finding in done.json["findings"]] == ["switched-off"]


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
    assert done.exit_code == 1
    assert place(finding) == f"{project.at('a.toml')}:0"
    assert (finding["message"], finding["remedy"], finding.get("blocks", False)) == ("Old.", "Renew it.", False)
    command.configure(f"ignore = [{json.dumps(finding['id'])}]")
    assert doctor().exit_code == 0


@pytest.mark.parametrize("answer", ["1 / 0", "['text']", "'text'"])
def test_a_plugin_that_cannot_tell_what_is_wrong_is_named_and_the_rest_is_shown(command, doctor, answer):
    command.install(f"@hookimpl\ndef agent_hooks_findings():\n    return {answer}\n", "broken")
    command.install(FINDS)
    done = doctor()
    assert of_kind(done, "stale")
    assert "agent_hooks_findings of the plugin 'broken' failed" in done.stderr


def test_a_variable_that_switches_plugins_off_is_a_finding(command, doctor):
    command.install("@hookimpl\ndef before_tool_use():\n    return None\n")
    done = doctor(env={"AGENT_HOOKS_DISABLE": "house, other"})
    assert of_kind(done, "switched-off")["message"] == "AGENT_HOOKS_DISABLE is set and switches off: house."
    assert "names 'other'" in of_kind(done, "unknown-plugin")["message"]
    assert done.json["hooks"] == 0


def test_a_variable_that_names_no_plugin_switches_nothing_off(command, doctor):
    done = doctor(env={"AGENT_HOOKS_DISABLE": "typo"})
    assert [finding["kind"] for finding in done.json["findings"]] == ["unknown-plugin"]


def test_a_policy_in_shadow_is_a_finding(command, doctor):
    command.configure("[policy]\nshadow = true")
    assert "nothing is enforced" in of_kind(doctor(), "switched-off")["message"]


def test_a_project_called_shadow_is_no_finding(command, tmp_path):
    project = Project(tmp_path, "shadow").write({"hookconf.py": HOOKCONF})
    done = command("doctor", "--json", str(project.root))
    assert [finding["kind"] for finding in done.json["findings"]] == ["untrusted"]


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


OURS = "agent-hooks run --agent claude-code"


@pytest.mark.parametrize(
    ("ours", "beside", "host"),
    [
        ("./check.sh", {".github/hooks/a.json": {"bash": "./check.sh"}}, "Copilot"),
        ("./check.sh", {".github/hooks/a.json": {"type": "command", "linux": " ./check.sh"}}, "Copilot"),
        ("./check.sh", {".cursor/hooks.json": {"command": "./check.sh"}}, "Cursor"),
        (OURS, {".github/hooks/a.json": {"bash": "/opt/bin/agent-hooks run --agent codex"}}, "Copilot"),
        (OURS, {".github/hooks/a.json": {"command": "agent-hooks", "args": ["run"]}}, "Copilot"),
    ],
)
def test_a_command_that_a_host_would_run_twice_is_a_finding(command, project, doctor, ours, beside, host):
    files = {path: json.dumps({"version": 1, "hooks": {"preToolUse": [entry]}}) for path, entry in beside.items()}
    project.write({".claude/settings.json": settings("PreToolUse", ours), "check.sh": "true", **files})
    command.trust(project)
    finding = of_kind(doctor(), "runs-twice")
    assert finding["path"] == project.at(".claude/settings.json")
    assert host in finding["message"]
    assert project.at(next(iter(beside))) in finding["message"]
    assert "runs twice: `" in finding["message"]


def test_what_install_has_wired_in_several_hosts_is_no_finding(command, doctor):
    for folder in (".claude", ".copilot", ".cursor"):
        (command.home / folder).mkdir()
    assert command("install", "--all", "--events", "before_tool_use").exit_code == 0
    done = doctor()
    assert (done.json["findings"], done.exit_code) == ([], 0)
    assert "run twice" in command("status").stdout


def test_a_command_of_the_users_own_settings_is_not_to_run_twice_either(command, project, doctor):
    (command.home / ".claude").mkdir()
    (command.home / ".claude" / "settings.json").write_text(settings("PreToolUse", "./check.sh"))
    project.write({".github/hooks/a.json": json.dumps({"hooks": {"preToolUse": [{"bash": "./check.sh"}]}})})
    assert of_kind(doctor(), "runs-twice")["path"] == str(command.home / ".claude" / "settings.json")


@pytest.mark.parametrize("beside", ["{}", "no JSON", '{"hooks": {"preToolUse": [{"bash": "./other.sh"}]}}'])
def test_files_of_two_hosts_with_nothing_in_both_are_as_they_should_be(command, project, doctor, beside):
    project.write({".claude/settings.json": settings("PreToolUse", "true"), ".github/hooks/mine.json": beside})
    command.trust(project)
    assert doctor().json["findings"] == []


def test_without_a_standard_stream_it_ends_as_it_would(command, project):
    command.trust(project.write({"agent-hooks.toml": toml("", handler='type = "nope"')}))
    for closed, code in (("<&-", 1), (">&-", 1), ("<&- >&- 2>&-", 1)):
        shell = f'"{sys.executable}" "{command.script}" doctor "{project.root}" {closed}'
        done = command(program=["sh", "-c", shell])
        assert (done.exit_code, done.stderr) == (code, ""), closed


def test_a_folder_that_was_trusted_as_a_part_of_another_is_no_project_of_its_own(command, tmp_path, payload):
    """Without a repository, that is."""
    outer = tmp_path / "outer"
    (outer / "sub").mkdir(parents=True)
    (outer / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    (outer / "sub" / "agent-hooks.toml").write_text(toml(["sh", "-c", denying("not here")], matcher="shell"))
    TrustStore(command.config / "trust").trust(discover(outer))
    command.configure("[policy]\nrequire_project_gates = true\n")
    done = command("doctor", str(outer / "sub"))
    assert done.stdout == f"{outer}: its files are trusted\n1 hook active.\nNothing is wrong.\n"
    call = payload("codex", "PreToolUse", cwd=str(outer / "sub"))
    answer = command.answer("codex", call, cwd=outer / "sub")
    assert (answer.why, answer.exit_code) == ("not here", 2)
    assert "not active" not in answer.said
    (outer / "sub" / "hookconf.py").write_text(HOOKCONF)
    assert f"{outer}: its files changed" in command("doctor", str(outer / "sub")).stdout


def test_handler_types_that_a_plugin_cannot_tell_are_a_finding(command, project, doctor):
    command.install("@hookimpl\ndef agent_hooks_handler_types():\n    raise OSError('disk')\n")
    command.configure(toml(["true"]))
    assert "'house' cannot say which handler types it offers" in of_kind(doctor(), "not-honoured")["message"]


def test_what_the_user_lives_with_is_listed_and_no_reason_to_fail(command, project, doctor):
    command.trust(project.write({"agent-hooks.toml": toml("", handler='type = "nope"')}))
    finding = of_kind(doctor(), "not-honoured")
    command.configure(f"ignore = [{json.dumps(finding['id'])}]")
    done = doctor()
    assert (done.exit_code, of_kind(done, "not-honoured")) == (0, {**finding, "is_ignored": True})
    shown = command("doctor", str(project.root)).stdout
    assert f"\nnot-honoured (ignored)  {finding['path']}:{finding['line']}\n" in shown
    assert "It denies" not in shown


def test_the_way_out_of_a_finding_that_denies_nothing_is_shown_and_is_one(command, project, doctor):
    command.trust(project.write({".claude/settings.json": settings("Stop", "npm test")}))
    finding = of_kind(doctor(), "not-covered")
    assert "Name the script itself" in finding["remedy"]
    shown = command("doctor", str(project.root))
    way_out = f"ignore = [{json.dumps(finding['id'])}]"
    assert shown.exit_code == 1
    assert f"\n  To live with it: {way_out} in your own agent-hooks.toml\n" in shown.stdout
    command.configure(way_out)
    shown = command("doctor", str(project.root))
    assert (shown.exit_code, "To live with it" in shown.stdout) == (0, False)
    assert f"not-covered (ignored)  {project.at('.claude/settings.json')}" in shown.stdout


UNLOADABLE = "import no_such_module"


@pytest.mark.parametrize(
    ("settings", "plugin", "kind", "remedy"),
    [
        (toml(["true"], matcher="shel"), "", "unknown-tool", "declare it: known_tools = ['shel']"),
        ("[house]\nsya = 'no'\n", "house", "wrong-settings", "Did you mean 'say'?"),
        ("", UNLOADABLE, "broken-plugin", "AGENT_HOOKS_DISABLE=house"),
    ],
)
def test_a_finding_whose_calls_stay_denied_cannot_be_ignored(command, tmp_path, settings, plugin, kind, remedy):
    if plugin:
        command.install(HOUSE if plugin == "house" else plugin)
    command.configure(f"ignore = []\n{settings}")
    finding = of_kind(command("doctor", "--json", str(tmp_path)), kind)
    assert remedy in finding["remedy"]
    shown = command("doctor", str(tmp_path)).stdout
    assert "ignore = [" not in shown
    assert "\n  It cannot be ignored: what needs it fails until it is repaired.\n" in shown
    command.configure(f"ignore = [{json.dumps(finding['id'])}]\n{settings}")
    done = command("doctor", "--json", str(tmp_path))
    assert (done.exit_code, of_kind(done, kind)["is_ignored"]) == (1, False)


@pytest.mark.parametrize("extra", ['matcher = "hash"', 'matcher = "shel"\nmode = "observe"'])
def test_a_name_that_denies_nothing_can_be_ignored(command, tmp_path, extra):
    settings = f"[[hooks.before_tool_use]]\n{extra}\nhooks = [{{type = 'command', command = 'true'}}]\n"
    command.configure(f"ignore = []\n{settings}")
    finding = of_kind(command("doctor", "--json", str(tmp_path)), "unknown-tool")
    assert "To live with it: ignore = [" in command("doctor", str(tmp_path)).stdout
    command.configure(f"ignore = [{json.dumps(finding['id'])}]\n{settings}")
    assert command("doctor", "--json", str(tmp_path)).exit_code == 0


def test_our_own_command_in_claude_codes_settings_is_as_it_should_be(command, project, doctor):
    command.trust(
        project.write({".claude/settings.json": settings("PreToolUse", "agent-hooks run --agent claude-code")})
    )
    assert doctor().json == {"hooks": 0, "settings": {}, "findings": []}


def test_all_of_it_at_once_is_told(command, project, doctor):
    wrong = {"type": "command", "command": "x", "once": -1}
    project.write({".claude/settings.json": settings("PreToolUse", wrong, denying("no")), "hookconf.py": "1 / 0\n"})
    command.trust(project)
    command.install("import no_such_module")
    command.configure("claude_settings = 3")
    done = doctor()
    kinds = [finding["kind"] for finding in done.json["findings"]]
    assert sorted(kinds) == ["broken", "broken-plugin", "not-honoured", "not-honoured"]
    assert done.json["hooks"] == 1


def test_nothing_in_a_finding_steers_the_terminal(command, project):
    command.trust(project.write({"agent-hooks.toml": '[hooks]\n"\\u001b[2J\\u202e" = 1'}))
    done = command("doctor", str(project.root))
    assert done.exit_code == 1
    assert all(each.isprintable() or each == "\n" for each in done.stdout)


def test_a_variable_that_names_no_folder_is_told(command, project):
    done = command("doctor", str(project.root), env={"AGENT_HOOKS_CONFIG_DIR": "here"})
    assert (done.exit_code, done.stdout) == (1, "")
    assert "AGENT_HOOKS_CONFIG_DIR must be an absolute path" in done.stderr
    assert "Traceback" not in done.stderr


def test_it_leaves_nothing_behind(command, project, doctor):
    command.install("""
        from agent_hooks.system.store import Store

        @hookimpl
        def agent_hooks_register(manager):
            Store().increment("s", "k")
    """)
    doctor()
    assert [*command.home.rglob("*")] == []


# -- settings of plugins -----------------------------------------------------------------------------------------------

HOUSE = """
from pydantic import BaseModel

from agent_hooks import plugin_settings

class House(BaseModel):
    say: str = ""

    def tighten(self, project):
        return project if project.say else self

@hookimpl
def agent_hooks_settings():
    return {"house": House}

@hookimpl
def before_tool_use(ctx):
    say = plugin_settings(House, ctx).say
    return HookOutcome.deny(f"{say} is said") if say else None
"""


def test_the_settings_of_a_plugin_in_a_project_count_once_they_are_trusted(command, tmp_path, payload):
    command.install(HOUSE)
    project = Project(tmp_path).write({"agent-hooks.toml": "\n[house]\nsay = 'no'\n"})
    event = payload("claude-code", "PreToolUse", cwd=str(project.root))
    root = ["--json", str(project.root)]

    def decided():
        return command.answer("claude-code", event, cwd=project.root)

    done = decided()
    assert (done.exit_code, done.denies) == (0, False)
    assert "The settings [house] are not active in the project" in done.said
    assert command("doctor", *root).json["settings"] == {}
    shown = command("trust", "--show", *root).json
    assert shown["settings"] == ['agent-hooks.toml:3  house.say = "no"']
    assert 'agent-hooks.toml:3  house.say = "no"' in command("trust", "--show", str(project.root)).stdout

    command.trust(project)
    origin = f"{project.root}/agent-hooks.toml"
    assert decided().denies
    assert "no is said" in decided().reason
    assert command("doctor", *root).json["settings"] == {"house": [f"{origin}:2"]}
    assert f"The plugin house has settings from {origin}:2." in command("doctor", str(project.root)).stdout
    (plugin,) = (
        each for each in command("plugins", "--json", cwd=project.root).json["plugins"] if each["name"] == "house"
    )
    assert plugin["settings"] == [f"{origin}:2"]
    assert f"settings from {origin}:2" in command("plugins", cwd=project.root).stdout

    project.write({"agent-hooks.toml": "\n[house]\nsay = 'perhaps'\n"})
    assert "has seen hooks that do not hold" in decided().reason
    event["session_id"] = "begins later"
    done = decided()
    assert (done.exit_code, done.denies) == (0, False)
    assert "files changed since they were trusted" in done.said


# -- names that nothing has --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "env", "line", "says"),
    [
        ("\ndisabled = ['hous']\n", {}, 2, "`disabled` names 'hous', but no installed plugin has this name."),
        ("\n\n[hous]\nx = 1\n", {}, 3, "No installed plugin has settings of the name 'hous', so nobody reads [hous]."),
        ("", {"AGENT_HOOKS_DISABLE": "hous"}, 0, "AGENT_HOOKS_DISABLE names 'hous', but no installed plugin"),
    ],
)
def test_a_name_that_no_plugin_has_is_a_finding_and_closes_nothing(
    command, tmp_path, payload, settings, env, line, says
):
    command.install(HOUSE)
    command.configure(settings)
    done = command("doctor", "--json", str(tmp_path), env=env)
    (finding,) = (each for each in done.json["findings"] if each["kind"] == "unknown-plugin")
    assert (done.exit_code, finding.get("line", 0), "blocks" in finding) == (1, line, False)
    assert finding.get("path", "") == (str(command.config / "agent-hooks.toml") if line else "")
    assert finding["message"].startswith(says)
    assert "Did you mean 'house'?" in finding["remedy"]
    run = command.answer("claude-code", payload("claude-code", "PreToolUse", cwd=str(tmp_path)), env=env)
    assert (run.exit_code, run.denies) == (0, False)


def test_names_that_plugins_have_are_no_findings(command, tmp_path):
    command.install("@hookimpl\ndef before_tool_use():\n    return None\n")
    command.configure(f"disabled = ['house', '{tmp_path}/x/hookconf.py']\n[house]\nx = 1\n")
    done = command("doctor", "--json", str(tmp_path), env={"AGENT_HOOKS_DISABLE": "house"})
    assert [each["kind"] for each in done.json["findings"]] == ["switched-off"]


def test_a_handler_type_of_the_old_entry_point_group_is_a_finding(command, doctor):
    command.install("class Slack: ...", "slack")
    info = command.site / "slack-1.0.dist-info" / "entry_points.txt"
    info.write_text("[agent_hooks.handlers]\nslack = slack_rules:Slack\n")
    finding = of_kind(doctor(), "deprecated")
    assert "'slack' of slack" in finding["message"]
    assert "agent_hooks_handler_types" in finding["remedy"]


# -- programs that are not there ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command_key", "names"),
    [
        ('"no-such-program --x"', "no-such-program"),
        ('["no-such-program", "x"]', "no-such-program"),
        ('"/no/such/hook.sh"', "/no/such/hook.sh"),
        ('["/no/such/hook"]', "/no/such/hook"),
    ],
)
def test_a_command_whose_program_does_not_exist_is_a_finding(command, tmp_path, payload, command_key, names):
    command.configure(f'\n[[hooks.before_tool_use]]\nhooks = [{{type = "command", command = {command_key}}}]\n')
    done = command("doctor", "--json", str(tmp_path))
    (finding,) = done.json["findings"]
    assert (done.exit_code, finding["kind"], finding["line"]) == (1, "missing", 3)
    assert finding["path"] == str(command.config / "agent-hooks.toml")
    assert names in finding["message"]
    assert command.answer("claude-code", payload("claude-code", "PreToolUse", cwd=str(tmp_path))).denies


@pytest.mark.parametrize(
    "command_key",
    [
        '"true"',
        '"test -e x || echo {}"',
        '"if true; then echo {}; fi"',
        '["cat", "/dev/null"]',
        '"cd / && no-such-program || exit 0"',
        '"$SOMETHING x || true"',
        '"command -v no-such-program || exit 0"',
        '"export A=1; exec true"',
    ],
)
def test_a_command_whose_program_is_there_or_not_known_is_no_finding(command, tmp_path, command_key):
    command.configure(f'[[hooks.before_tool_use]]\nhooks = [{{type = "command", command = {command_key}}}]\n')
    assert command("doctor", "--json", str(tmp_path)).json["findings"] == []


def test_hooks_without_hooks_in_their_key_deny_and_are_a_finding(command, tmp_path, payload):
    command.configure('\n[[before_tool_use]]\nhooks = [{type = "command", command = "true"}]\n')
    done = command("doctor", "--json", str(tmp_path))
    (finding,) = done.json["findings"]
    assert (done.exit_code, finding["line"], finding["blocks"]) == (1, 2, True)
    answer = command.answer("claude-code", payload("claude-code", "PreToolUse", cwd=str(tmp_path)))
    assert answer.denies
    assert "Write [[hooks.before_tool_use]]." in answer.reason
    assert command.answer("claude-code", payload("claude-code", "SessionEnd", cwd=str(tmp_path))).exit_code == 0
