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
from agent_hooks.trust.discovery import discover
from agent_hooks.trust.trust_store import TrustStore
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
    home.file(host).write_text(home.file(host).read_text().rstrip())  # as an editor may
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
    changed = [('"dark"', '"light"'), ("notify-send hi", "notify-send ho")]
    expected = text_for(host)
    for old, new in changed:
        file.write_text(file.read_text().replace(old, new))
        expected = expected.replace(old, new)
    assert home.install(host, events=["on_stop"])[0] == 0
    assert "before_tool_use" not in {events_of(WIRINGS[host])[event] for event in home.hooks(host)}
    assert home.uninstall(host)[0] == 0
    assert file.read_text() == expected


@each_host
def test_a_file_of_ours_with_something_of_others_stays_without_ours(home, host):
    home.install(host, events=EVENTS)
    file = home.file(host)
    file.write_text(file.read_text().replace("{\n", '{\n  "theme": "light",\n', 1))
    home.install(host, events=["on_stop"])
    assert home.uninstall(host)[0] == 0
    assert home.read(host) == {"theme": "light", **WIRINGS[host].head}


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
    if problem == "line 3":  # no entry can be read
        code, facts = home.status()
        assert (code, bool(facts["claude-code", str(file)]["problems"])) == (1, True)


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
