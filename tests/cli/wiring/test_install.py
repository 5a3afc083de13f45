"""``agent-hooks install``, ``uninstall`` and ``status`` on real files in a home of their own."""

from __future__ import annotations

import json
import os
import stat
import threading
from pathlib import Path

import pytest

from agent_hooks.cli.wiring import commands, files
from agent_hooks.cli.wiring.entries import events_of, launcher
from agent_hooks.cli.wiring.hosts import WIRINGS
from agent_hooks.cli.wiring.records import Records
from agent_hooks.errors import SettingsError
from agent_hooks.formats.claude.fields import plain_line
from agent_hooks.formats.claude.settings import read_claude
from agent_hooks.trust.discovery import discover
from agent_hooks.trust.trust_store import TrustStore
from agent_hooks.wire import HOSTS
from projects import HOOKCONF

from .conftest import KNOWN

EVENTS = ("before_tool_use", "on_stop")
OTHERS = """\
{
  // comments are for those who read them
  "theme": "dark",
  "hooks": {
    "Notification": [
      {"matcher": "", "hooks": [{"type": "command", "command": "notify-send hi"}]}
    ]
  }
}
"""
PLAIN = OTHERS.replace("  // comments are for those who read them\n", "")

each_host = pytest.mark.parametrize("host", KNOWN)


def text_for(host):
    return OTHERS if WIRINGS[host].comments else PLAIN


@each_host
def test_a_new_file_is_made_and_removed_again_with_its_folders(home, host):
    before = home.files()
    code, said = home.install(host, events=EVENTS)
    assert code == 0
    assert "wired: " in said
    assert home.hooks(host)
    assert home.uninstall(host)[0] == 0
    assert home.files() == before


@each_host
@pytest.mark.parametrize("project", [False, True])
def test_a_file_of_others_is_restored_byte_for_byte(home, host, project):
    file = home.write(host, text_for(host), project=project)
    file.chmod(0o640)
    before = home.files()
    assert home.install(host, events=EVENTS, project=project)[0] == 0
    installed = file.read_text()
    assert "notify-send hi" in installed
    assert ("// comments are" in installed) == WIRINGS[host].comments
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert Path(Records().backup_of(str(file))).read_text() == text_for(host)
    assert home.uninstall(host, project=project)[0] == 0
    assert home.files() == before
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


@each_host
def test_a_second_installation_changes_nothing(home, host):
    home.write(host, text_for(host))
    home.install(host, events=EVENTS)
    before = home.files()
    assert "already wired: " in home.install(host, events=EVENTS)[1]
    assert home.files() == before


@each_host
def test_what_others_changed_since_is_kept(home, host):
    file = home.write(host, text_for(host))
    home.install(host, events=EVENTS)
    file.write_text(file.read_text().replace('"dark"', '"light"').replace("notify-send hi", "notify-send ho"))
    assert home.install(host, events=["on_stop"])[0] == 0
    assert "before_tool_use" not in {events_of(WIRINGS[host])[event] for event in home.hooks(host)}
    assert home.uninstall(host)[0] == 0
    assert file.read_text() == text_for(host).replace('"dark"', '"light"').replace("notify-send hi", "notify-send ho")


@each_host
def test_a_file_of_ours_with_something_of_others_stays_without_ours(home, host):
    home.install(host, events=EVENTS)
    file = home.file(host)
    file.write_text(file.read_text().replace("{\n", '{\n  "theme": "light",\n', 1))
    home.install(host, events=["on_stop"])
    assert home.uninstall(host)[0] == 0
    assert home.read(host) == {"theme": "light", **WIRINGS[host].head}


@each_host
def test_a_file_of_ours_that_only_lost_a_line_end_is_removed(home, host):
    home.install(host, events=EVENTS)
    file = home.file(host)
    file.write_text(file.read_text().rstrip())
    home.uninstall(host)
    assert not file.exists()


@each_host
def test_without_its_record_an_installation_is_taken_out_all_the_same(home, host):
    file = home.write(host, text_for(host))
    home.install(host, events=EVENTS)
    for record in Path(Records().folder).iterdir():
        record.unlink()
    assert home.uninstall(host)[0] == 0
    assert file.read_text() == text_for(host)


@pytest.mark.parametrize("is_changed", [False, True])
def test_lines_that_were_written_by_hand_are_replaced_until_ours_are_taken_out(home, is_changed):
    line = "/home/ada/.local/bin/agent-hooks-core run --agent claude-code --event PreToolUse --timeout 110"
    mine = {"matcher": "Bash", "hooks": [{"type": "command", "command": "x"}, {"type": "command", "command": line}]}
    before = {"hooks": {"PreToolUse": [mine], "Stop": [{"hooks": [mine["hooks"][1]]}]}}
    file = home.write("claude-code", text := json.dumps(before, indent=1))
    said = home.install("claude-code", events=EVENTS)[1]
    assert "replaced until `uninstall`, the lines that were written by hand: PreToolUse, Stop" in said
    assert line not in file.read_text()
    assert set(home.hooks("claude-code")) == {"PreToolUse", "PreSkillShellCommand", "Stop"}
    home.install("claude-code", events=["on_stop"])
    if is_changed:
        file.write_text(file.read_text().replace("{", '{"theme": "dark",', 1))
    assert "back again, as before `install`: PreToolUse, Stop" in home.uninstall("claude-code")[1]
    if is_changed:
        assert home.read("claude-code") == {
            "theme": "dark",
            "hooks": {
                "PreToolUse": [{**mine, "hooks": mine["hooks"][:1]}, {**mine, "hooks": mine["hooks"][1:]}],
                "Stop": before["hooks"]["Stop"],
            },
        }
    else:
        assert file.read_text() == text
    home.uninstall("claude-code")
    assert line not in file.read_text()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{\n  "hooks": {\n', "line 3"),
        ("{\n  // a comment\n}", "line 2"),
        ('{"hooks": {},\n"hooks": {}}', "has the key 'hooks' a second time in line 2"),
        ('{"hooks": {\n"Stop": {}}}', "hooks.Stop in line 2 must be a list"),
        ("[]", "is no JSON object"),
        ('{"a": "\udcff"}', "is not UTF-8"),
    ],
)
def test_a_file_that_is_not_valid_is_left_alone_and_the_other_hosts_are_done(home, text, problem):
    data = text.encode("utf-8", "surrogateescape")
    file = home.file("claude-code")
    file.parent.mkdir()
    file.write_bytes(data)
    code, said = home.install("claude-code", "codex", events=EVENTS)
    assert code == 1
    assert str(file) in said
    assert problem in said
    assert "repair it, then try again" in said
    assert file.read_bytes() == data
    assert home.hooks("codex")


def test_status_names_a_file_that_is_not_valid(home):
    file = home.write("gemini", "{")
    code, facts = home.status()
    assert code == 1
    assert facts["gemini", str(file)]["problems"]


def test_an_empty_file_is_a_file_without_settings(home):
    file = home.write("claude-code", "\n")
    home.install("claude-code", events=EVENTS)
    assert set(home.hooks("claude-code")) == {"PreToolUse", "PreSkillShellCommand", "Stop"}
    home.uninstall("claude-code")
    assert file.read_text() == "\n"


def test_links_of_a_manager_of_dotfiles_are_followed(home):
    dotfiles = home.path / "dotfiles"
    (dotfiles / "claude").mkdir(parents=True)
    (dotfiles / "claude" / "settings.json").write_text(PLAIN)
    (home.path / ".claude").symlink_to(dotfiles / "claude")
    (dotfiles / "hooks.json").symlink_to(dotfiles / "of-codex.json")  # which is not there yet
    (home.path / ".codex").mkdir()
    home.file("codex").symlink_to(dotfiles / "hooks.json")
    home.install("claude-code", "codex", events=EVENTS)
    assert (home.path / ".claude").is_symlink()
    assert home.file("codex").is_symlink()
    assert "agent_hooks_core.py" in (dotfiles / "claude" / "settings.json").read_text()
    assert "agent_hooks_core.py" in (dotfiles / "of-codex.json").read_text()
    home.uninstall("claude-code", "codex")
    assert (dotfiles / "claude" / "settings.json").read_text() == PLAIN
    assert not (dotfiles / "of-codex.json").exists()
    assert home.file("codex").is_symlink()


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root can give a file away")
def test_a_file_keeps_its_owner(home):
    file = home.write("claude-code", PLAIN)
    os.chown(file, 4711, 4712)
    home.install("claude-code", events=EVENTS)
    assert (file.stat().st_uid, file.stat().st_gid) == (4711, 4712)


@pytest.mark.skipif(os.name == "nt", reason="users have no numbers there")
def test_a_file_that_is_not_ours_to_write_is_refused(home, monkeypatch):
    file = home.write("claude-code", PLAIN)
    monkeypatch.setattr(os, "geteuid", lambda: file.stat().st_uid + 1)
    code, said = home.install("claude-code", events=EVENTS)
    assert (code, "belongs to somebody else" in said) == (1, True)
    monkeypatch.undo()
    monkeypatch.setenv("HOME", str(home.path))
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(SettingsError, match="is read-only"):
        files.replace(str(file), b"{}")
    assert file.read_text() == PLAIN


def test_a_folder_or_a_pipe_in_the_place_of_the_file_is_refused(home):
    home.file("claude-code").mkdir(parents=True)
    home.file("codex").parent.mkdir()
    os.mkfifo(home.file("codex"))
    code, said = home.install("claude-code", "codex", events=EVENTS)
    assert (code, said.count("cannot be read")) == (1, 2)


def test_installations_at_once_wait_for_each_other(home):
    file = home.write("claude-code", PLAIN)
    codes = []

    def work(names):
        for _ in range(3):
            code = commands.install(["claude-code"], project=False, events=names, trust=False, dry_run=False)
            codes.append(code)

    threads = [threading.Thread(target=work, args=(names,)) for names in (["Stop"], ["PreToolUse"], ["Setup", "Stop"])]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    home.capsys.readouterr()
    assert codes == [0] * 9
    wired = home.read("claude-code")["hooks"].keys() - {"Notification"}
    assert wired in ({"Stop"}, {"PreToolUse"}, {"Setup", "Stop"})
    home.uninstall("claude-code")
    assert file.read_text() == PLAIN


def test_a_file_that_another_program_changes_meanwhile_is_not_overwritten(home, monkeypatch):
    file = home.write("claude-code", PLAIN)
    real = Records.apply

    def late(records, change, facts):
        file.write_text('{"theme": "light"}')
        real(records, change, facts)

    monkeypatch.setattr(Records, "apply", late)
    code, said = home.install("claude-code", events=EVENTS)
    assert (code, "is being changed by another program" in said) == (1, True)
    assert file.read_text() == '{"theme": "light"}'
    monkeypatch.undo()
    monkeypatch.setenv("HOME", str(home.path))
    assert home.uninstall("claude-code")[0] == 0
    assert file.read_text() == '{"theme": "light"}'


def test_a_dry_run_prints_the_difference_and_changes_nothing(home):
    home.write("claude-code", PLAIN)
    before = home.files()
    code, said = home.install("claude-code", "codex", events=EVENTS, dry_run=True)
    assert code == 0
    assert "+          {" in said.replace("  +", "+")
    assert "to be wired: PreToolUse, Stop" in said
    assert home.files() == before
    home.install("claude-code", events=EVENTS)
    before = home.files()
    assert '-            "onFailure": "block"' in home.uninstall("claude-code", dry_run=True)[1]
    assert home.files() == before


@pytest.mark.parametrize("variable", ["CLAUDECODE", "CODEX_SANDBOX", "GEMINI_CLI"])
def test_agents_cannot_install_or_uninstall(home, monkeypatch, variable):
    home.install("claude-code", events=EVENTS)
    before = home.files()
    monkeypatch.setenv(variable, "1")
    with pytest.raises(SettingsError, match="decided by people"):
        home.install("codex")
    with pytest.raises(SettingsError, match="decided by people"):
        home.uninstall("claude-code")
    assert home.files() == before
    assert home.status()[1]


# -- which file --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("host", [name for name in WIRINGS if WIRINGS[name].variable])
def test_a_folder_that_the_environment_names_is_used(home, monkeypatch, host):
    wiring = WIRINGS[host]
    monkeypatch.setenv(wiring.variable, str(home.path / "moved"))
    assert wiring.path() == str(home.path / "moved" / wiring.user)
    monkeypatch.setenv(wiring.variable, "relative")
    with pytest.raises(SettingsError, match=f"{wiring.variable} is 'relative'"):
        wiring.path()


def test_opencode_is_where_xdg_says(home, monkeypatch):
    assert WIRINGS["opencode"].path() == str(home.path / ".config/opencode/plugins/agent-hooks.js")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home.path / "xdg"))
    assert WIRINGS["opencode"].path() == str(home.path / "xdg/opencode/plugins/agent-hooks.js")


def test_a_project_gets_its_uncommitted_file_or_a_warning(home):
    said = home.install("claude-code", "codex", events=EVENTS, project=True)[1]
    assert home.file("claude-code", project=True).name == "settings.local.json"
    assert "Claude Code has no file" not in said
    assert "Codex has no file for a project that is not committed" in said
    assert not home.file("claude-code").exists()


def test_the_hosts_that_are_here_are_found(home):
    assert commands.found_hosts() == []
    (home.path / ".codex").mkdir()
    program = home.path / "bin" / "gemini"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    os.environ["PATH"] += f":{program.parent}"
    assert commands.found_hosts() == ["codex", "gemini"]


@pytest.mark.parametrize(
    ("prefix", "warning"),
    [
        ("project/.venv", "which is in the project: what changes it may break them"),
        (".cache/uv/archive-v0/x1", "which does not last: install agent-hooks-core as a tool"),
        (".local/share/uv/tools/agent-hooks-core", ""),
    ],
)
def test_an_environment_that_may_go_away_is_told(home, monkeypatch, prefix, warning):
    monkeypatch.setattr("sys.prefix", str(home.path / prefix))
    said = home.install("claude-code", events=EVENTS)[1]
    assert ("The hooks run from" in said) == bool(warning)
    assert warning in said


# -- which events ------------------------------------------------------------------------------------------------------


def test_the_events_that_hooks_listen_to_are_wired_and_status_tells_of_others(home, project_with_hooks):
    code, facts = home.status()
    assert code == 1
    home.install("codex")
    wired = set(home.hooks("codex"))
    assert "PreToolUse" in wired
    assert not wired & {"SessionStart", "Interrupt"}
    assert home.status()[0] == 1  # Codex does not trust it yet
    home.install("claude-code")
    facts = home.status()[1]["claude-code", str(home.file("claude-code"))]
    assert (facts["missing"], facts["unneeded"], facts["problems"]) == ([], [], [])
    config = home.path / ".config" / "agent-hooks"
    config.mkdir(parents=True, exist_ok=True)
    hook = '[[hooks.session_start]]\n[[hooks.session_start.hooks]]\ntype = "command"\ncommand = ["true"]\n'
    (config / "agent-hooks.toml").write_text(hook)
    code, found = home.status()
    facts = found["claude-code", str(home.file("claude-code"))]
    assert (code, facts["missing"]) == (1, ["SessionStart"])
    home.install("claude-code")
    assert "SessionStart" in home.hooks("claude-code")
    (config / "agent-hooks.toml").write_text("[broken")
    assert home.status()[1]["claude-code", facts["path"]]["unneeded"] == []
    said = home.install("claude-code")[1]
    assert f"its events are not known: {config}/agent-hooks.toml" in said
    assert "SessionStart" in home.hooks("claude-code")
    (config / "agent-hooks.toml").unlink()
    assert home.status()[1]["claude-code", facts["path"]]["unneeded"] == ["SessionStart"]
    project_with_hooks()
    assert "Stop" in home.status()[1]["claude-code", facts["path"]]["missing"]


@pytest.fixture
def project_with_hooks(home):
    """Makes a project elsewhere, with a hookconf.py that was trusted."""

    def make():
        root = home.path / "elsewhere"
        (root / ".git").mkdir(parents=True)
        (root / "hookconf.py").write_text(HOOKCONF + "\n\n@hookimpl.on_stop\ndef last():\n    return None\n")
        store = TrustStore()
        store.trust(discover(str(root)))

    return make


def test_chosen_events_are_by_the_names_of_the_host_or_by_ours(home):
    home.install("claude-code", events=["Stop", "before_tool_use", "on_tool_error"])
    assert list(home.hooks("claude-code")) == ["PreToolUse", "PreSkillShellCommand", "PostToolUseFailure", "Stop"]
    code, facts = home.status()
    assert (code, facts["claude-code", str(home.file("claude-code"))]["missing"]) == (0, [])
    code, said = home.install("claude-code", events=["BeforeTool"])
    assert (code, "Claude Code has no event 'BeforeTool'" in said) == (1, True)


def test_a_command_line_of_another_environment_is_told_and_mended(home):
    home.install("claude-code", events=EVENTS)
    file = home.file("claude-code")
    good = file.read_text()
    file.write_text(good.replace(launcher()[0], "/gone/bin/python"))
    code, facts = home.status()
    assert code == 1
    assert facts["claude-code", str(file)]["problems"] == ["Its command lines are not those that `install` writes now."]
    home.install("claude-code", events=EVENTS)
    assert file.read_text() == good


# -- what is written ---------------------------------------------------------------------------------------------------

CLOSED_BY = {"claude-code": ("onFailure", "block"), "cursor": ("failClosed", True)}


@each_host
def test_each_entry_has_our_limit_below_its_own_and_is_closed_where_the_host_refuses(home, host):
    wiring = WIRINGS[host]
    readers = [HOSTS[name] for name in wiring.readers or [host]]
    home.install(host, events=[*events_of(wiring)])
    handlers = home.hooks(host)
    assert handlers.keys() == events_of(wiring).keys()
    for event, handler in handlers.items():
        command = handler["command"].removesuffix(" || exit 2")
        assert ("; exec " in command) == (command == handler["command"] and host != "cursor")
        python, isolated, no_site, script, *words = plain_line(command).split()
        assert [python, isolated, no_site, script] == launcher()
        assert words[:5] == ["run", "--agent", wiring.agent or host, "--event", event]
        seconds = int(words[6])
        assert handler["timeout"] == (seconds + 1) * (1000 if host in ("gemini", "qwen") else 1)
        assert isinstance(handler["timeout"], int)
        answers, field = [each.failure(event, "why") for each in readers if event in each.rows], CLOSED_BY.get(host)
        is_gate = any(answer.exit_code == 2 or (field and answer.stdout) for answer in answers)
        is_gate = is_gate and event not in ("TaskCompleted", "TodoCompleted", "TeammateIdle")
        assert (handler.get(field[0]) == field[1] if field else handler["command"] != command) == is_gate
        is_stop = any(event in each.rows and each.rows[event].refuse == "go_on" for each in readers)
        if is_stop or "stop" in event.lower() or event == "AfterAgent":
            assert handler["command"] == command
            assert handler.keys() <= {"name", "type", "command", "timeout"}


def test_the_short_limits_of_codex_are_kept(home):
    home.install("codex", events=["SessionEnd", "Interrupt"])
    assert {handler["timeout"] for handler in home.hooks("codex").values()} == {3}


@pytest.mark.parametrize(("version", "is_old"), [("2.1.330", False), ("2.1.294 (Claude Code)", True), ("", False)])
def test_an_older_claude_code_is_closed_by_the_exit_code_and_that_is_said(home, version, is_old):
    program = home.path / "bin" / "claude"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\necho '{version}'\n")
    program.chmod(0o755)
    os.environ["PATH"] += f":{program.parent}"
    said = home.install("claude-code", events=EVENTS)[1]
    assert ("ignores onFailure" in said) == is_old
    handlers = home.hooks("claude-code")
    assert handlers["PreToolUse"]["command"].endswith(" || exit 2") == is_old
    assert (handlers["PreToolUse"].get("onFailure") == "block") != is_old
    assert not handlers["Stop"]["command"].endswith(" || exit 2")
    assert home.status()[0] == 0


@pytest.mark.parametrize("folder", ["plain", "with a blank", "it's (a) & b; c", 'é $HOME `x` "q"'])
def test_what_is_written_is_known_for_our_own_whatever_the_path(home, monkeypatch, folder):
    script = home.path / folder / "agent_hooks_core.py"
    monkeypatch.setattr("agent_hooks.cli.wiring.entries.FOLDER", str(script.parent))
    home.install("claude-code", "codex", events=EVENTS)
    for host in ("claude-code", "codex"):
        file = read_claude(home.file(host).read_bytes(), path="settings.json", source="user")
        assert file.entries == ()
        assert {finding.kind for finding in file.findings} == {"own-command"}
    assert "already wired" in home.install("claude-code", events=EVENTS)[1]
    home.uninstall("claude-code")
    assert not home.file("claude-code").exists()


def test_a_path_that_no_command_line_can_hold_is_refused(home, monkeypatch):
    monkeypatch.setattr("agent_hooks.cli.wiring.entries.FOLDER", "/a\nb")
    code, said = home.install("claude-code", events=EVENTS)
    assert (code, "install agent-hooks-core elsewhere" in said) == (1, True)


# -- opencode ----------------------------------------------------------------------------------------------------------


def test_opencode_gets_a_plugin_that_calls_the_same_launcher(home):
    before = home.files()
    assert home.install("opencode", events=EVENTS)[0] == 0
    text = home.file("opencode").read_text()
    assert f"const COMMAND = {json.dumps([*launcher(), 'run', '--agent', 'opencode'])}".replace(", ", ",") in (
        text.replace(", ", ",")
    )
    code, facts = home.status()
    assert (code, facts["opencode", str(home.file("opencode"))]["wired"]) == (0, ["PreToolUse", "Stop"])
    assert "already wired" in home.install("opencode", events=EVENTS)[1]
    home.install("opencode", events=["on_stop"])
    assert home.status()[1]["opencode", str(home.file("opencode"))]["wired"] == ["Stop"]
    assert home.uninstall("opencode")[0] == 0
    assert home.files() == before


@pytest.mark.parametrize("text", ["export const Mine = 1\n", "// Written by `agent-hooks install opencode`, changed\n"])
def test_a_plugin_of_others_or_a_changed_one_is_left_alone(home, text):
    file = home.write("opencode", text)
    code, said = home.install("opencode", events=EVENTS)
    assert (code, "then try again" in said) == (1, True)
    assert file.read_text() == text


def test_people_are_shown_what_is_wired_and_how_to_mend_it(home):
    assert commands.status(as_json=False) == 1
    assert home.capsys.readouterr().out == "No coding agent was found here.\nTo wire them: agent-hooks install --all\n"
    home.install("claude-code", events=EVENTS)
    home.install("codex", events=EVENTS, project=True)
    home.file("claude-code").write_text(home.file("claude-code").read_text().replace("PreToolUse", "Setup"))
    assert commands.status(as_json=False) == 1
    said = home.capsys.readouterr().out
    assert "  missing: PreToolUse\n  no longer needed: Setup\n" in said
    assert (
        "To mend it: agent-hooks install claude-code\nTo mend it: agent-hooks install --project codex --trust\n" in said
    )
