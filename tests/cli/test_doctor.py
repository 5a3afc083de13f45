"""``agent-hooks doctor``: everything that is wrong, each once, with a place and a remedy."""

from __future__ import annotations

import json
import sys

import pytest

from agent_hooks.trust.discovery import discover
from agent_hooks.trust.trust_store import TrustStore
from cli.findings import claude, kinds, of_kind, ours, place
from projects import HOOKCONF, denying, toml

OURS = "agent-hooks run --agent claude-code"
MISPLACED = '{\n "PreToolUse": [{"hooks": [{"type": "command", "command": "exit 2"}]}]\n}'


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
        (ours(["x"], "PreToolUze"), "unknown-event", ":1", "'PreToolUze'", True),
        (ours(["x"], "my_event"), "unknown-event", ":1", "'my_event'", False),
        (ours(["x"], priority="hi"), "not-honoured", ":2", "priority", True),
        (ours("", handler='type = "x"'), "not-honoured", ":2", "type 'x'", True),
        (ours(["x"], matcher="shel"), "unknown-tool", ":3", "'shel'", False),
        (ours(["x"], matcher="hash"), "unknown-tool", ":3", "'hash'", False),
        (ours(["x"], matcher="bash"), "host-name", ":3", "OpenCode", False),
        ({"agent-hooks.toml": "["}, "unreadable", ":0", "not TOML", True),
        ({"agent-hooks.toml": "ignore = []\nhookz = 1"}, "not-allowed", ":1", "only tighten", False),
        ({"agent-hooks.toml": 'claude_plugins = ["gone"]'}, "unreadable", ":1", "claude_plugins", True),
        (claude("PreToolUse", "x", matcher="Newest"), "unknown-tool", ":7", "'Newest'", False),
        (claude("PreToolUze", "x"), "unknown-event", ":3", "'PreToolUze'", True),
        (claude("PreToolUse", "x", matcher="("), "not-honoured", ":5", "regular expression", True),
        (claude("Stop", "x", matcher="y"), "ignored", ":5", "knows no matchers", False),
        (claude("PreToolUse", "x", disableAllHooks=True), "switched-off", ":0", "says disableAllHooks", False),
        ({".claude/settings.json": "{"}, "unreadable", ":0", "is not JSON", True),
        ({".claude/settings.json": MISPLACED}, "not-honoured", ":2", "at the top of the file", True),
        ({"hookconf.py": "1 / 0\n", **claude("Stop", "x")}, "broken", ":1", "ZeroDivisionError", False),
        ({"hookconf.py": "\nagent_hooks_plugins = ['nope']\n"}, "unreadable", ":0", "agent_hooks_plugins names", True),
        ({"HookConf.py": "", "hookconf.py": HOOKCONF}, "misspelt", ":0", "not written hookconf.py", False),
        ({"pyproject.toml": "[agent_hooks]\nx = 1"}, "unknown-key", ":1", "Nobody reads", True),
    ],
)
def test_each_finding_has_a_place_and_a_remedy(command, project, doctor, shown, files, kind, where, says, blocks):
    command.trust(project.write(files))
    done = doctor()
    finding = of_kind(done, kind)
    assert done.exit_code == 1
    where = f"{next(iter(files))}{where}"
    assert place(finding) == f"{project.root}/{where}"
    assert says in finding["message"]
    assert finding["remedy"]
    assert finding.get("blocks", False) is blocks
    assert finding["is_ignored"] is False
    text = shown()
    shown_at = f"{project.root}/{where.removesuffix(':0')}"
    assert f"\n\n{kind}  {shown_at}\n  {finding['message']}\n  Remedy: {finding['remedy']}\n" in text
    if finding.get("must_be_repaired"):
        assert finding["id"] not in text
        return
    way_out = "It denies " if blocks else "To live with it: "
    (line,) = (line for line in text.splitlines() if f'ignore = ["{finding["id"]}"]' in line)
    assert line.strip().startswith(way_out)


def test_a_tool_that_is_declared_is_no_finding(command, project, doctor):
    files = {"agent-hooks.toml": 'known_tools = ["hash", "shel"]\n' + toml(["true"], matcher="hash|shel")}
    command.trust(project.write(files))
    assert doctor().json == {"hooks": 1, "settings": {}, "findings": []}


def test_our_own_command_in_claude_codes_settings_is_as_it_should_be(command, project, doctor):
    command.trust(project.write(claude("PreToolUse", OURS)))
    assert doctor().json == {"hooks": 0, "settings": {}, "findings": []}


def test_a_file_of_the_user_has_findings_too(command, doctor):
    command.configure('[policy]\nask_fallback = "maybe"')
    assert place(of_kind(doctor(), "not-honoured")) == f"{command.config}/agent-hooks.toml:2"


# -- trust -------------------------------------------------------------------------------------------------------------


def test_an_untrusted_layer_is_a_finding_and_what_is_wrong_with_it_stops_nothing(project, doctor, shown):
    project.write({"hookconf.py": HOOKCONF, ".claude/settings.json": MISPLACED})
    done = doctor()
    finding, wrong = of_kind(done, "untrusted"), of_kind(done, "not-honoured")
    assert (done.exit_code, done.json["hooks"], finding["path"]) == (1, 0, str(project.root))
    assert f"agent-hooks trust {project.root}" in finding["remedy"]
    assert (place(wrong), wrong.get("blocks", False)) == (f"{project.at('.claude/settings.json')}:2", False)
    text = shown()
    assert (f"{project.root}: its files are not trusted\n" in text, "It denies" in text) == (True, False)


def test_a_changed_layer_is_a_finding(command, project, doctor, shown):
    command.trust(project.write({"hookconf.py": HOOKCONF})).write({"hookconf.py": ""})
    assert "hookconf.py has changed" in of_kind(doctor(), "changed")["message"]
    assert f"{project.root}: its files changed" in shown()


def test_a_record_that_others_can_write_is_a_finding(command, project, doctor):
    command.trust(project.write({"hookconf.py": HOOKCONF}))
    (record,) = (command.config / "trust").iterdir()
    record.chmod(0o666)
    finding = of_kind(doctor(), "trust-store")
    assert (finding["path"], "Others can write it" in finding["message"]) == (str(record), True)


def test_what_leads_out_of_a_project_is_a_finding_also_where_nothing_else_is(project, doctor, tmp_path):
    (tmp_path / "outside.py").write_text(HOOKCONF)
    (project.root / "hookconf.py").symlink_to(tmp_path / "outside.py")
    finding = of_kind(doctor(), "not-honoured")
    assert ("leads out of the project" in finding["message"], finding.get("blocks", False)) == (True, False)


def test_required_gates_that_are_not_trusted_are_told_with_what_comes_of_it(command, project, doctor):
    project.write({"hookconf.py": HOOKCONF})
    command.configure("[policy]\nrequire_project_gates = true")
    done = doctor()
    assert (kinds(done), done.exit_code, done.json["hooks"]) == (["untrusted", "refused"], 1, 0)
    assert "nothing starts here" in of_kind(done, "refused")["message"]


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
    assert (answer.why, answer.exit_code, "not active" in answer.said) == ("not here", 2, False)
    (outer / "sub" / "hookconf.py").write_text(HOOKCONF)
    assert f"{outer}: its files changed" in command("doctor", str(outer / "sub")).stdout


# -- coding agents -----------------------------------------------------------------------------------------------------


def test_wiring_that_lacks_an_event_is_a_finding(command, doctor):
    assert command("install", "claude-code", "--events", "Stop").exit_code == 0
    assert doctor().json["findings"] == []
    file = command.home / ".claude" / "settings.json"
    file.write_text(file.read_text().replace('"Stop"', '"StopFailure"', 1))
    finding = of_kind(doctor(), "wiring")
    assert (finding["path"], finding["remedy"]) == (str(file), "Type: agent-hooks install claude-code")


def test_a_host_that_asks_no_hooks_is_wrong(command):
    done = command("doctor", "codex", "--json")
    (facts,) = done.json["hosts"]
    assert (done.exit_code, facts["wired"], facts["problems"]) == (1, [], ["It asks no hooks."])
    assert "agent-hooks install codex" in command("doctor", "codex").stdout


def test_a_target_that_is_neither_a_host_nor_a_folder_is_a_wrong_usage(command):
    done = command("doctor", "claude")
    assert (done.exit_code, "'claude' is no folder" in done.stderr) == (2, True)
    assert command("doctor", ".", "..").exit_code == 2


@pytest.mark.parametrize(
    ("command_of_claude", "path", "entry", "host"),
    [
        ("./check.sh", ".github/hooks/a.json", {"bash": "./check.sh"}, "Copilot"),
        ("./check.sh", ".github/hooks/a.json", {"type": "command", "linux": " ./check.sh"}, "Copilot"),
        ("./check.sh", ".cursor/hooks.json", {"command": "./check.sh"}, "Cursor"),
        (OURS, ".github/hooks/a.json", {"bash": "/opt/bin/agent-hooks run --agent codex"}, "Copilot"),
        (OURS, ".github/hooks/a.json", {"command": "agent-hooks", "args": ["run"]}, "Copilot"),
    ],
)
def test_a_command_that_a_host_would_run_twice_is_a_finding(
    command, project, doctor, command_of_claude, path, entry, host
):
    beside = {path: json.dumps({"version": 1, "hooks": {"preToolUse": [entry]}}), "check.sh": "true"}
    command.trust(project.write({**claude("PreToolUse", command_of_claude), **beside}))
    finding = of_kind(doctor(), "runs-twice")
    assert finding["path"] == project.at(".claude/settings.json")
    for said in (host, project.at(path), "runs twice: `"):
        assert said in finding["message"]
    if command_of_claude != OURS:  # a command of the user's own settings is not to run twice either
        (project.root / ".claude/settings.json").rename(project.root / "settings.json")
        (command.home / ".claude").mkdir()
        (project.root / "settings.json").rename(command.home / ".claude" / "settings.json")
        assert of_kind(doctor(), "runs-twice")["path"] == str(command.home / ".claude" / "settings.json")


@pytest.mark.parametrize("beside", ["{}", "no JSON", '{"hooks": {"preToolUse": [{"bash": "./other.sh"}]}}'])
def test_files_of_two_hosts_with_nothing_in_both_are_as_they_should_be(command, project, doctor, beside):
    command.trust(project.write({**claude("PreToolUse", "true"), ".github/hooks/mine.json": beside}))
    assert doctor().json["findings"] == []


def test_what_install_has_wired_in_several_hosts_is_no_finding(command, doctor):
    for folder in (".claude", ".copilot", ".cursor"):
        (command.home / folder).mkdir()
    assert command("install", "--all", "--events", "before_tool_use").exit_code == 0
    assert doctor().json["findings"] == []
    assert "run twice" in command("status").stdout


# -- the command -------------------------------------------------------------------------------------------------------


def test_all_of_it_at_once_is_told(command, project, doctor):
    wrong = {"type": "command", "command": "x", "once": -1}
    command.trust(project.write({**claude("PreToolUse", wrong, denying("no")), "hookconf.py": "1 / 0\n"}))
    command.install("import no_such_module")
    command.configure("claude_settings = 3")
    done = doctor()
    assert sorted(kinds(done)) == ["broken", "broken-plugin", "not-honoured", "not-honoured"]
    assert done.json["hooks"] == 1


def test_nothing_in_a_finding_steers_the_terminal(command, project, shown):
    command.trust(project.write({"agent-hooks.toml": '[hooks]\n"\\u001b[2J\\u202e" = 1'}))
    text = shown()
    assert "[hooks]" in text or "hooks." in text
    assert all(each.isprintable() or each == "\n" for each in text)


def test_a_variable_that_names_no_folder_is_told(command, project):
    done = command("doctor", str(project.root), env={"AGENT_HOOKS_CONFIG_DIR": "here"})
    assert (done.exit_code, done.stdout) == (1, "")
    assert "AGENT_HOOKS_CONFIG_DIR must be an absolute path" in done.stderr
    assert "Traceback" not in done.stderr


def test_without_a_standard_stream_it_ends_as_it_would(command, project):
    command.trust(project.write(ours("", handler='type = "nope"')))
    for closed in ("<&-", ">&-", "<&- >&- 2>&-"):
        shell = f'"{sys.executable}" "{command.script}" doctor "{project.root}" {closed}'
        done = command(program=["sh", "-c", shell])
        assert (done.exit_code, done.stderr) == (1, ""), closed


def test_it_leaves_nothing_behind(command, doctor):
    command.install("""
        from agent_hooks.system.store import Store

        @hookimpl
        def agent_hooks_register(manager):
            Store().increment("s", "k")
    """)
    doctor()
    assert [*command.home.rglob("*")] == []


# -- programs that are not there ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line", ["no-such-program --x", ["no-such-program", "x"], "/no/such/hook.sh", ["/no/such/hook"]]
)
def test_a_command_whose_program_does_not_exist_is_a_finding(command, doctor, payload, line):
    command.configure(toml(line))
    done = doctor()
    (finding,) = done.json["findings"]
    assert (done.exit_code, finding["kind"], finding["line"]) == (1, "missing", 2)
    assert finding["path"] == str(command.config / "agent-hooks.toml")
    assert (line.split() if isinstance(line, str) else line)[0] in finding["message"]
    assert command.answer("claude-code", payload("claude-code", "PreToolUse")).denies


def test_a_command_whose_program_is_there_or_not_known_is_no_finding(command, doctor):
    lines = [
        *("true", "test -e x || echo {}", "if true; then echo {}; fi", ["cat", "/dev/null"], "$SOMETHING x || true"),
        *("cd / && no-such-program || exit 0", "command -v no-such-program || exit 0", "export A=1; exec true"),
    ]
    command.configure("".join(map(toml, lines)))
    assert doctor().json == {"hooks": len(lines), "settings": {}, "findings": []}


def test_hooks_without_hooks_in_their_key_deny_and_are_a_finding(command, doctor, payload):
    command.configure('\n[[before_tool_use]]\nhooks = [{type = "command", command = "true"}]\n')
    done = doctor()
    (finding,) = done.json["findings"]
    assert (done.exit_code, finding["line"], finding["blocks"]) == (1, 2, True)
    answer = command.answer("claude-code", payload("claude-code", "PreToolUse"))
    assert (answer.denies, "Write [[hooks.before_tool_use]]." in answer.reason) == (True, True)
    assert command.answer("claude-code", payload("claude-code", "SessionEnd")).exit_code == 0
