"""``agent-hooks trust`` and ``untrust``: a person looks, and says yes; nobody else can."""

from __future__ import annotations

import json
import os
import pty
import shlex
import shutil

import pytest

from agent_hooks.trust.discovery import discover
from agent_hooks.trust.trust_store import TrustStore
from projects import HOOKCONF, Project, denying, settings, toml
from terminals import Terminal

QUESTION = "May these files run on your machine, and decide what agents may do here? [y/N]: "
SKILL = "---\nname: deploy\nhooks:\n  PreToolUse:\n    - hooks:\n        - {type: command, command: ./deploy.sh}\n---\n"


@pytest.fixture
def project(project):
    return project.write(
        {
            ".claude/settings.json": settings("PreToolUse", "sh ./check.sh", matcher="Bash"),
            "check.sh": "exit 0\n",
            "sub/hookconf.py": HOOKCONF,
        }
    )


@pytest.fixture
def standing(command, project):
    """How the project stands in the store of the command."""
    return lambda: TrustStore(command.config / "trust").standing(discover(project.root)).status


def digest_of(project):
    return discover(project.root).digest


# -- in a terminal -----------------------------------------------------------------------------------------------------


def in_terminal(command, *arguments):
    return Terminal(command.arguments(*arguments), command.environment, command.folder)


def said(command, project, answer, *, meanwhile=None):
    """What the command says to an answer, and its exit code."""
    terminal = in_terminal(command, "trust", str(project.root))
    shown = terminal.read(QUESTION)
    assert "not trusted: none of its hooks run" in shown
    assert digest_of(project) in shown
    project.write(meanwhile or {})
    terminal.type(answer)
    return terminal.end(), terminal.text


@pytest.mark.parametrize("answer", ["y\n", "yes\n", "Y\n"])
def test_a_person_who_says_yes_trusts_it(command, project, standing, answer):
    code, text = said(command, project, answer, meanwhile={"README.md": "which has no meaning here\n"})
    assert (code, "Trusted, until one of these files changes." in text, standing()) == (0, True, "trusted")


@pytest.mark.parametrize("answer", ["n\n", "\n", "no\n", "maybe\nn\n"])
def test_anything_else_does_not(command, project, standing, answer):
    code, text = said(command, project, answer)
    assert (code, "Nothing was trusted." in text, standing()) == (1, True, "untrusted")


@pytest.mark.parametrize("key", ["\x03", "\x04"])
def test_breaking_off_does_not(command, project, standing, key):
    terminal = in_terminal(command, "trust", str(project.root))
    terminal.read(QUESTION)
    terminal.type_until_it_ends(key)
    assert (terminal.end(), "Traceback" in terminal.text, standing()) == (1, False, "untrusted")


@pytest.mark.parametrize(
    "changed",
    [
        {"check.sh": "touch canary\n"},
        {"new/hookconf.py": HOOKCONF},
        {".claude/settings.local.json": settings("Stop", "true")},
    ],
)
def test_what_changes_while_it_is_asked_is_not_trusted(command, project, standing, changed):
    code, text = said(command, project, "y\n", meanwhile=changed)
    assert (code, "changed while you were asked" in text, standing()) == (1, True, "untrusted")


def test_nothing_is_asked_where_nothing_changed_or_json_is_wanted(command, project):
    asked = in_terminal(command, "trust", "--json", str(project.root))
    assert (asked.end(), json.loads(asked.text)["status"]) == (1, "untrusted")
    command.trust(project)
    terminal = in_terminal(command, "trust", str(project.root))
    assert terminal.end() == 0
    assert "trusted, as it is now" in terminal.text


# -- without one -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stdin", ["", "yes\nyes\n", "half of a terminal"])
def test_without_a_terminal_nothing_is_trusted_whatever_is_said(command, project, standing, stdin):
    ours, theirs = pty.openpty()
    done = command("trust", str(project.root), stdin=theirs if "half" in stdin else stdin)
    os.close(ours)
    os.close(theirs)
    assert done.exit_code == 1
    assert "Nothing was trusted, because there is no terminal to ask." in done.stdout
    assert f"  agent-hooks trust --digest {digest_of(project)} {project.root}\n" in done.stdout
    assert standing() == "untrusted"


def test_what_is_told_to_type_can_be_typed(command, tmp_path):
    project = Project(tmp_path, "it's a repo").write({"hookconf.py": HOOKCONF})
    told = command("trust", str(project.root)).stdout.rpartition("agent-hooks ")[2]
    assert command(*shlex.split(told)).exit_code == 0
    assert command("trust", str(project.root)).exit_code == 0


def test_the_digest_of_what_is_there_trusts_it(command, project, standing):
    for option in ([], ["--json"]):
        done = command("trust", *option, "--digest", digest_of(project), project.at("sub"))  # stands for its project
        assert (done.exit_code, standing()) == (0, "trusted")
        assert "status" in done.json if option else done.stdout.startswith(f"Trusted: {project.root} is sha256:")
        assert command("untrust", str(project.root)).exit_code == 0


@pytest.mark.parametrize("digest", ["sha256:" + "0" * 64, "", "yes"])
def test_another_digest_does_not(command, project, standing, digest):
    done = command("trust", "--digest", digest, str(project.root))
    assert (done.exit_code, done.stdout, standing()) == (1, "", "untrusted")
    assert f"has the digest {digest_of(project)}, not {digest}" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_digest_of_another_folder_with_the_same_files_does_not(command, project, tmp_path):
    copy = Project(tmp_path, "copy")
    shutil.copytree(project.root, copy.root, dirs_exist_ok=True)
    assert command("trust", "--digest", digest_of(project), str(copy.root)).exit_code == 1


@pytest.mark.parametrize("option", ["--show", "--diff"])
def test_looking_and_trusting_are_two_things(command, project, standing, option):
    done = command("trust", option, "--digest", digest_of(project), str(project.root))
    assert (done.exit_code, done.stdout) == (2, "")
    assert standing() == "untrusted"


def test_a_project_without_hooks_has_nothing_to_trust(command, tmp_path):
    (tmp_path / "empty").mkdir()
    done = command("trust", str(tmp_path / "empty"))
    assert (done.exit_code, "nothing to trust" in done.stdout) == (0, True)
    digest = command("trust", "--json", str(tmp_path / "empty")).json["digest"]
    done = command("trust", "--digest", digest, str(tmp_path / "empty"))
    assert (done.exit_code, "There is nothing to trust" in done.stderr) == (1, True)


def test_a_store_that_others_can_write_is_told(command, project):
    command.config.mkdir(parents=True)
    command.config.chmod(0o777)
    done = command("trust", "--digest", digest_of(project), str(project.root))
    assert done.exit_code == 1
    assert "Not trusted, because it would not count" in done.stderr


# -- looking -----------------------------------------------------------------------------------------------------------


def test_a_look_shows_what_is_covered_and_what_would_run(command, project, standing):
    project.write({".claude/skills/deploy/SKILL.md": SKILL})
    done = command("trust", "--show", str(project.root))
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert lines[0] == str(project.root)
    assert "  0644  check.sh" in lines
    assert '  .claude/settings.json:7  before_tool_use (Bash): command {"command": "sh ./check.sh"}' in lines
    assert "  sub/hookconf.py  is run as Python when agents are started" in lines
    assert any("./deploy.sh" in line and line.endswith(", while the skill is active") for line in lines)
    assert lines[-1] == digest_of(project)
    assert standing() == "untrusted"


@pytest.mark.parametrize(
    ("files", "shown"),
    [
        (
            {
                "agent-hooks.toml": toml(
                    "",
                    handler='type = "http"\nurl = "https://x.example/"\nheaders = { Authorization = "$TOKEN" }\n'
                    'allowed_env_vars = ["TOKEN"]\ntimeout = 7',
                )
            },
            (
                'http {"url": "https://x.example/", "headers": {"Authorization": "$TOKEN"}, '
                '"allowed_env_vars": ["TOKEN"], "timeout": 7}\n'
            ),
        ),
        (
            {
                ".claude/settings.json": settings(
                    "PreToolUse",
                    {"type": "command", "command": "x", "if": "Bash(git *)", "async": True, "timeout": 5},
                    matcher="Bash",
                )
            },
            '(Bash): command {"command": "x", "timeout": 5, "if": "Bash(git *)", "async": true}\n',
        ),
        (
            {"agent-hooks.toml": toml(["y"], "after_tool_use", background=True, mode="observe")},
            'after_tool_use: command {"command": ["y"], "async": true}\n',
        ),
    ],
)
def test_a_look_shows_when_and_how_long_it_would_run_and_what_is_sent_where(command, project, files, shown):
    assert shown in command("trust", "--show", str(project.write(files).root)).stdout


def test_a_look_shows_what_is_wrong(command, project):
    wrong = {"type": "command", "command": "x", "once": -1}
    project.write({".claude/settings.json": settings("PreToolUse", wrong), "HookConf.py": ""})
    done = command("trust", "--show", str(project.root))
    assert f"finding: {project.at('.claude/settings.json')}:9: A command hook on PreToolUse has a once" in done.stdout
    assert "HookConf.py: It is not read" in done.stdout
    assert len(command("trust", "--json", str(project.root)).json["findings"]) == 2


def test_a_file_with_nothing_but_hooks_in_the_wrong_place_is_shown(command, tmp_path):
    text = '{"PreToolUse": [{"hooks": [{"type": "command", "command": "exit 2"}]}]}'
    project = Project(tmp_path, "other").write({".claude/settings.json": text})
    lines = command("trust", "--show", str(project.root)).stdout.splitlines()
    assert "  not trusted: none of its hooks run" in lines
    assert "  0644  .claude/settings.json" in lines
    path = project.at(".claude/settings.json")
    assert any(line.startswith(f"finding: {path}:1: 'PreToolUse' stands at the top of the file") for line in lines)
    command.trust(project)
    done = command("check", "PreToolUse", "--tool", "Bash", "--arg", "command=ls", "--cwd", str(project.root))
    assert (done.exit_code, "Put it below `hooks`" in done.stdout) == (1, True)


def test_nothing_that_is_shown_steers_the_terminal(command, project):
    evil = "\x1b[2J\u202e\r\n\u2028"
    project.write({"a\x1b[2J/hookconf.py": HOOKCONF, "agent-hooks.toml": toml([f"echo {evil}"], matcher="Bash")})
    for option in ("--show", "--diff"):
        terminal = in_terminal(command, "trust", option, str(project.root))
        assert terminal.end() == 0
        assert all(each.isprintable() or each == "\n" for each in terminal.text)


def test_a_diff_shows_what_changed_and_all_of_it_before_anything_was_trusted(command, project):
    first = command("trust", "--diff", str(project.root))
    assert "+exit 0" in first.stdout.splitlines()
    command.trust(project)
    same = command("trust", "--diff", str(project.root))
    assert "Nothing differs from what was trusted.\n" in same.stdout
    project.write({"check.sh": "\texit 1\n", "gone.txt": ""})
    (project.root / "sub" / "hookconf.py").unlink()
    done = command("trust", "--diff", str(project.root))
    lines = done.stdout.splitlines()
    assert done.exit_code == 0
    assert "  changed since it was trusted: none of its hooks run" in lines
    assert "  check.sh has changed." in lines
    assert "  sub/hookconf.py is gone." in lines
    assert "-exit 0" in lines
    assert any(line.startswith("+") and line.endswith("exit 1") for line in lines)
    assert "+++ /dev/null" in lines


def test_json_has_the_facts_and_its_exit_code_says_whether_it_is_trusted(command, project):
    facts = command("trust", "--json", str(project.root))
    assert (facts.exit_code, facts.json["status"], facts.json["root"]) == (1, "untrusted", str(project.root))
    assert facts.json["digest"] == digest_of(project)
    assert {"path": "check.sh", "mode": "0644"} in facts.json["files"]
    assert any("sh ./check.sh" in text for text in facts.json["hooks"])
    assert (facts.json["changes"], facts.json["findings"]) == ([], [])
    assert "diff" not in facts.json
    assert command("trust", "--json", "--show", str(project.root)).exit_code == 0
    command.trust(project)
    assert command("trust", "--json", str(project.root)).exit_code == 0
    project.write({"check.sh": "exit 1\n"})
    changed = command("trust", "--json", "--diff", str(project.root))
    assert (changed.exit_code, changed.json["status"]) == (0, "changed")
    assert changed.json["changes"] == ["check.sh has changed."]
    assert "+exit 1\n" in changed.json["diff"]


def test_looking_runs_nothing(command, project):
    command.forks = False  # the start of Python is a part of it
    project.write({"hookconf.py": "open('canary', 'w')\n", "sitecustomize.py": "open('canary', 'w')\n"})
    for option in ("--show", "--diff", "--json"):
        command("trust", option, ".", cwd=project.root)
    assert not (project.root / "canary").exists()


def test_a_path_that_is_not_there_is_a_wrong_usage(command, tmp_path):
    assert command("trust", str(tmp_path / "nowhere")).exit_code == 2


# -- untrust -----------------------------------------------------------------------------------------------------------


def test_trust_can_be_taken_back(command, project, standing):
    command.trust(project)
    done = command("untrust", project.at("sub"))
    assert (done.exit_code, done.stdout) == (0, f"{project.root} is not trusted any more: its hooks do not run.\n")
    assert standing() == "untrusted"
    again = command("untrust", str(project.root))
    assert (again.exit_code, again.stdout) == (1, f"{project.root} was not trusted.\n")


def test_trust_in_every_branch_is_taken_back_at_once(command, project, standing):
    for code in ("exit 1\n", "exit 0\n"):
        command.trust(project.write({"check.sh": code}))
    assert standing() == "trusted"
    assert command("untrust", str(project.root)).exit_code == 0
    for code in ("exit 1\n", "exit 0\n"):
        project.write({"check.sh": code})
        assert standing() == "untrusted"


def test_trust_in_a_project_that_is_gone_can_be_taken_back(command, tmp_path):
    outer = Project(tmp_path, "outer")
    inner = command.trust(Project(outer.root, "inner").write({"hookconf.py": HOOKCONF}))
    shutil.rmtree(inner.root)
    done = command("untrust", str(inner.root))
    assert (done.exit_code, done.stdout.startswith(f"{inner.root} is not trusted any more")) == (0, True)
    assert not TrustStore(command.config / "trust").has_record(inner.root)


def test_trust_that_cannot_be_taken_back_is_told(command, project):
    command.trust(project)
    (record,) = (command.config / "trust").iterdir()
    record.unlink()
    record.mkdir()
    done = command("untrust", str(project.root))
    assert done.exit_code == 1
    assert "cannot be removed" in done.stderr
    assert "Traceback" not in done.stderr


# -- what comes of it --------------------------------------------------------------------------------------------------


def test_hooks_run_once_they_are_trusted_and_not_after_a_change(command, project):
    project.write({".claude/settings.json": settings("PreToolUse", denying("no"))})
    check = ("check", "PreToolUse", "--tool", "Bash", "--arg", "command=ls", "--cwd", str(project.root))
    assert command(*check).exit_code == 0
    command("trust", "--digest", digest_of(project), str(project.root))
    assert command(*check).exit_code == 1
    project.write({"sub/hookconf.py": f"{HOOKCONF}\n"})
    done = command(*check)
    assert done.exit_code == 0
    assert "sub/hookconf.py has changed" in done.stdout


# -- typed by an agent -------------------------------------------------------------------------------------------------


OF_AGENTS = [
    "CLAUDECODE",
    "CODEX_SANDBOX",
    "COPILOT_CLI",
    "CURSOR_AGENT",
    "GEMINI_CLI",
    "OPENCODE",
    "QWEN_CODE",
    "AGENT_HOOKS_RUN",
]


@pytest.mark.parametrize("variable", OF_AGENTS)
def test_a_coding_agent_that_runs_the_command_trusts_nothing(command, project, standing, variable):
    done = command("trust", "--digest", digest_of(project), str(project.root), env={variable: "1"})
    assert done.exit_code == 1
    assert f"as {variable} in its environment says" in done.said
    assert "type it in a terminal of your own" in done.said
    assert standing() == "untrusted"


def test_nor_does_it_in_a_terminal_that_it_has_made(command, project, standing):
    command.environment["CLAUDECODE"] = "1"
    terminal = in_terminal(command, "trust", str(project.root))
    assert terminal.end() == 1
    assert QUESTION not in terminal.text
    assert "Claude Code runs this command" in terminal.text
    assert standing() == "untrusted"


def test_nor_does_it_take_a_trust_back(command, project, standing):
    command.trust(project)
    assert command("untrust", str(project.root), env={"GEMINI_CLI": "1"}).exit_code == 1
    assert standing() == "trusted"


@pytest.mark.parametrize("option", ["--show", "--diff"])
def test_it_may_look(command, project, option):
    done = command("trust", option, str(project.root), env={"CLAUDECODE": "1"})
    assert done.exit_code == 0
    assert str(project.root) in done.stdout


def test_a_variable_that_is_empty_says_nothing(command, project, standing):
    assert command("trust", "--digest", digest_of(project), str(project.root), env={"CLAUDECODE": ""}).exit_code == 0
    assert standing() == "trusted"
