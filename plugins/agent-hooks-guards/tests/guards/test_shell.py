"""The shell guard in an engine: which calls it judges, at which level, and what it says."""

from __future__ import annotations

import json
import subprocess
import sys
from time import process_time

import pytest
from making import about

from agent_hooks import HookManager, RegistrationError
from agent_hooks_guards import ShellGuard
from agent_hooks_guards.guards.calls import place_of
from agent_hooks_guards.places.kinds import kinds
from agent_hooks_guards.rules.indexing import indexed
from agent_hooks_guards.rules.loading import read_family
from tables import tables

TABLES = tables(__file__)


def decided(guard, command, name="Bash", kind="shell", key="command", **fields):
    fields.setdefault("cwd", "/home/dev/app")
    manager = HookManager(load_plugins=False)
    manager.register(guard)
    return manager.hooks(ask="host").dispatch_sync(about(name, kind=kind, args={key: command}, **fields))


def decision(command, level="standard", **fields):
    return str(decided(ShellGuard(level), command, **fields).decision)


@pytest.mark.parametrize(("command", "relaxed", "standard", "strict"), TABLES["levels"])
def test_levels(command, relaxed, standard, strict):
    assert [decision(command, level) for level in ("relaxed", "standard", "strict")] == [relaxed, standard, strict]


def test_a_denial_names_the_rule_the_part_why_and_what_to_do_instead():
    reason = decided(ShellGuard(), "make test && bash -c 'git reset --hard HEAD~2'").reason
    assert "[git-reset-hard]" in reason
    assert "`git reset --hard HEAD~2`" in reason
    assert "make test" not in reason
    assert "Instead: " in reason


def test_what_a_reason_shows_cannot_steer_a_terminal():
    reason = decided(ShellGuard(), "rm -rf / '\x1b[2J' '\u202e'").reason
    assert "\x1b" not in reason
    assert "\u202e" not in reason


def test_a_long_command_is_shown_shortened():
    assert len(decided(ShellGuard(), "rm -rf / " + "x" * 5000).reason) < 1000


@pytest.mark.parametrize(("name", "kind", "key"), TABLES["whatever_runs_commands_is_judged"])
def test_whatever_runs_commands_is_judged(name, kind, key):
    assert decision("rm -rf /", name=name, kind=kind, key=key) == "deny"


PYTHON = "import shutil; shutil.rmtree('/')"
NODE = "require('child_process').execSync('rm -rf /')"


@pytest.mark.parametrize(
    ("name", "kind", "args"),
    [
        ("terminal", "other", {"commands": ["cd x", "rm -rf /"]}),
        ("terminal", "other", {"commands": "rm -rf /"}),
        ("terminal", "other", {"commands": [["rm", "-rf", "/"]]}),
        ("terminal", "other", {"commands": ["rm", "-rf", "/"]}),
        ("terminal", "other", {"commands": [{"command": "ls"}, {"command": "rm -rf /"}]}),
        ("terminal", "other", {"commands": [{"keystrokes": "rm -rf /\n", "duration": 1}]}),
        ("terminal", "other", {"command": "ls", "input": "rm -rf /"}),
        ("terminal", "other", {"request": {"command": "rm -rf /"}}),
        ("run_batch", "mcp", {"steps": [{"command": "ls"}, {"command": ["rm", "-rf", "/"]}]}),
        ("terminal", "other", {"command": "ls", "commands": ["rm -rf /"]}),
        ("run", "shell", {"commands": ["ls", "rm -rf /"]}),
        ("mcp__box__exec", "mcp", {"command": "rm", "args": ["-rf", "/"]}),
        ("mcp__box__exec", "mcp", {"command": "rm", "args": "-rf /"}),
        ("mcp__box__exec", "mcp", {"program": "rm", "arguments": ["-rf", "/"]}),
        ("runInTerminal", "other", {"command": "rm -rf /"}),
        ("bash", "shell", {"code": "rm -rf /"}),
        ("python", "other", {"code": PYTHON}),
        ("python", "shell", {"code": PYTHON}),
        ("python", "other", {"script": PYTHON}),
        ("Python_REPL", "other", {"query": PYTHON}),
        ("mcp__jupyter__execute_cell", "mcp", {"cell": {"source": PYTHON.split("; ")}}),
        ("mcp__jupyter__run", "mcp", {"cells": [{"source": "x = 1"}, {"source": PYTHON}]}),
        ("ipython", "other", {"code": "files = !ls\nif files:\n    !rm -rf /\nprint(files)"}),
        ("ipython", "other", {"code": "%%bash\nls\nrm -rf /"}),
        ("ipython", "other", {"code": f"%matplotlib inline\n{PYTHON}"}),
        ("code_interpreter", "other", {"code": PYTHON}),
        ("executeCode", "other", {"code": PYTHON, "language": "python"}),
        ("execute_code", "other", {"code": NODE, "language": "JavaScript"}),
        ("execute_code", "other", {"code": "rm -rf /", "language": "bash"}),
        ("execute_code", "other", {"code": NODE}),
        ("sandbox", "mcp", {"request": {"code": PYTHON}}),
        ("run_python", "shell", {"code": PYTHON}),
        ("run_python_code", "shell", {"python_code": PYTHON}),
        ("execute", "shell", {"code": PYTHON}),
        ("execute", "shell", {"code": "rm -rf /"}),
        ("run_code", "shell", {"code": PYTHON, "language": "python"}),
        ("run_code", "shell", {"code": "rm -rf /", "language": "bash"}),
        ("run_shell_command", "shell", {"args": ["rm", "-rf", "/"]}),
    ],
    ids=str,
)
def test_whatever_shape_commands_and_code_have_they_are_judged(name, kind, args):
    ctx = about(name, kind, args=args, cwd="/home/dev/app")
    outcome = ShellGuard().execute(ctx)
    assert outcome is not None
    assert outcome.decision == "deny"
    assert HookManager().hooks(ask="host").dispatch_sync(ctx).decision == "deny"


@pytest.mark.parametrize(
    ("name", "kind", "args"),
    [
        ("terminal", "other", {"commands": ["cd app", "ls", "git status"]}),
        ("terminal", "other", {"commands": [{"keystrokes": "ls\n", "duration": 0.1}]}),
        ("mcp__box__exec", "mcp", {"command": "rm", "args": ["-rf", "build"]}),
        ("mcp__box__exec", "mcp", {"command": "echo", "args": ["rm -rf /"]}),
        ("python", "other", {"code": "print('rm -rf /')"}),
        ("run_python", "shell", {"code": "print('rm -rf /')"}),
        ("run_python", "shell", {"script": "print('rm -rf /')"}),
        ("execute", "shell", {"code": "for n in range(3):\n    print(n)"}),
        ("execute", "shell", {"code": "ls -l"}),
        ("run_code", "shell", {"code": "print(1)", "language": "python"}),
        ("python", "other", {"code": "import pandas as pd\npd.read_csv('a.csv').to_csv('b.csv')"}),
        ("ipython", "other", {"code": "%matplotlib inline\n!ls\n!pip install pandas"}),
        ("mcp__playwright__browser_evaluate", "mcp", {"code": "() => document.title"}),
        ("execute_code", "other", {"code": "SELECT 1;", "language": "sql"}),
        ("execute_code", "other", {"code": "import webbrowser\nwebbrowser.open('https://xkcd.com/353/')"}),
        ("search_python_docs", "other", {"query": PYTHON}),
        ("mcp__python__format", "mcp", {"code": PYTHON}),
        ("create_diagram", "mcp", {"code": "graph TD; A-->B"}),
        ("save_snippet", "other", {"code": PYTHON}),
        ("mcp__mail__send", "mcp", {"body": {"commands": ["rm -rf /"]}}),
        ("Write", "write", {"file_path": "x.py", "code": PYTHON}),
    ],
    ids=str,
)
def test_shapes_that_run_nothing_harmful_are_left_alone(name, kind, args):
    assert ShellGuard().execute(about(name, kind, args=args, cwd="/home/dev/app")) is None


@pytest.mark.parametrize(
    ("name", "kind", "key"),
    [("Write", "write", "content"), ("save_note", "other", "command"), ("search", "mcp", "query")],
)
def test_what_does_not_run_commands_is_left_alone(name, kind, key):
    assert decision("rm -rf /", name=name, kind=kind, key=key) == "proceed"


def test_a_command_in_words_is_judged_too():
    assert decision(["bash", "-lc", "rm -rf /"]) == "deny"
    assert decision(["echo", "rm -rf /"]) == "proceed"


def test_a_command_is_judged_where_it_runs():
    assert decision("rm -rf build", cwd="/home/dev/app") == "proceed"
    assert decision("rm -rf etc", cwd="/") == "deny"


def test_a_powershell_is_read_as_such():
    assert decision("Remove-Item -Recurse -Force C:\\", name="PowerShell") == "deny"
    assert decision("Get-ChildItem | Select-Object Name", name="PowerShell") == "proceed"


def test_choices_count_more_than_the_level_and_an_id_more_than_its_family():
    guard = ShellGuard(choices={"git": "off", "git-reset-hard": "ask"})
    assert str(decided(guard, "git reset --hard").decision) == "ask"
    assert str(decided(guard, "git clean -fd").decision) == "proceed"
    assert str(decided(guard, "rm -rf /").decision) == "deny"


def test_a_choice_may_be_stricter_than_the_level():
    assert (
        str(decided(ShellGuard("relaxed", choices={"git-delete-branch": "deny"}), "git branch -D x").decision) == "deny"
    )


def test_a_level_and_a_choice_that_are_none():
    with pytest.raises(RegistrationError, match="level must be one of relaxed, standard, strict, not 'high'"):
        ShellGuard("high")
    with pytest.raises(RegistrationError, match="git must be one of off, ask, deny, not 'on'"):
        ShellGuard(choices={"git": "on"})
    with pytest.raises(RegistrationError, match=r"no rule and no family 'gti' .did you mean git"):
        ShellGuard(choices={"gti": "off"})


def test_rules_of_ones_own():
    table = {
        "family": "ours",
        "title": "Ours",
        "rules": [
            {
                "id": "no-deploy",
                "severity": "high",
                "reason": "Deploys are for the pipeline.",
                "instead": "Open a pull request.",
                "match": [{"program": ["make"], "subcommand": ["deploy*"]}],
            }
        ],
    }
    guard = ShellGuard(rules=indexed([read_family("rules.toml", table)]))
    outcome = decided(guard, "sudo make -j4 deploy-prod")
    assert str(outcome.decision) == "deny"
    assert "[no-deploy]" in outcome.reason
    assert str(decided(guard, "make test").decision) == "proceed"
    assert str(decided(guard, "rm -rf /").decision) == "deny"


@pytest.mark.parametrize(
    "text",
    [
        "rm -rf /\0",
        "\ud800 rm",
        "'" * 99_999,
        "(" * 50_000,
        "$(" * 5_000,
        "`" * 9_999,
        "${" * 5_000,
        "x=" * 20_000,
        "{a,b}" * 5_000,
        "echo " + "a" * 3_000_000,
        "eval " * 5_000,
        "<<E " * 2_000,
        "if true; then " * 1_000,
        "a|" * 30_000,
        "$((" * 3_000,
        "\\" * 100_001,
        "for i in {1..99999}; do for j in {1..99999}; do echo $i; done; done",
        "{" * 10_000,
        "{" * 10_000 + "}" * 10_000,
        "echo " + "{a,b}" * 10_000,
        "((" * 10_000,
        "rm -rf " + "/*a" * 10_000,
        "env " * 10_000 + "ls",
        "sqlite3 a.db 'drop table (" + "drop table (" * 10_000 + "'",
        "cmd /c " * 10_000,
        "pwsh -c '" + "& " * 10_000 + "'",
        "pwsh -c '" + "[a]::b(" * 10_000 + "'",
        "make -f - <<< '" + "$(call a," * 10_000 + "'",
    ],
)
def test_nothing_that_a_command_holds_breaks_the_guard(text):
    outcome = decided(ShellGuard(), text)
    assert str(outcome.decision) in ("deny", "ask", "proceed")
    assert not outcome.findings


@pytest.mark.parametrize("code", ["{}" * 10_000, "((", "f(" * 10_000, "!" * 30_000, "a => {" * 5_000])
@pytest.mark.parametrize("program", ["node -e", "perl -e", "ruby -e", "php -r", "lua -e", "awk"])
def test_code_that_is_longer_or_deeper_than_what_is_looked_at_is_asked_about(program, code):
    call = "x(1)"
    if program == "awk":  # of which a program without effects only prints
        code, call = "BEGIN {" + code, 'print > "x"'
    assert decision(f"{program} '{code};{';' * 20_000} {call}'") == "ask"


@pytest.mark.parametrize(
    ("command", "why"), TABLES["what_is_shown_of_code_that_cannot_be_analysed_is_the_command_and_the_reason_says_why"]
)
def test_what_is_shown_of_code_that_cannot_be_analysed_is_the_command_and_the_reason_says_why(command, why):
    outcome = decided(ShellGuard(), command)
    assert outcome.decision == "ask"
    assert outcome.reason.startswith(f"`{command[:100]}")
    assert why in outcome.reason


@pytest.mark.parametrize(
    ("cwd", "project"), [("link", "real"), ("real", "link"), ("link/sub", "real"), ("link", "link")]
)
def test_a_workspace_behind_a_symbolic_link_is_the_workspace(tmp_path_factory, cwd, project):
    folder = tmp_path_factory.mktemp("home")
    (folder / "real" / "sub").mkdir(parents=True)
    (folder / "link").symlink_to(folder / "real")
    call = about("Bash", kind="shell", args={"command": "rm -rf build"}, cwd=str(folder / cwd))
    assert call.tool_call is not None
    place = place_of(call.replace(project_dir=str(folder / project)), call.tool_call)
    assert "workspace" in kinds(f"{place.cwd}/build", place)


@pytest.mark.parametrize(
    "command",
    [
        "curl " + " ".join(f"http://h{number}.example/" for number in range(2_000)),
        "printf 'url=http://a\\n%.0s' {1..60} > c; curl " + "-K c " * 500,
        "; ".join(f"ln -s a{number} a{number + 1}" for number in range(700)),
    ],
)
def test_many_addresses_and_links_are_looked_at_once(command):
    started = process_time()
    assert decision(command) == "proceed"
    assert process_time() - started < 10


@pytest.mark.parametrize("line", ["git push --force; cat .env", "git branch -D topic", "git status"])
def test_a_line_of_shell_in_a_skill_is_judged_as_the_shell_call(line, tmp_path, monkeypatch):
    """Where a skill is called, written or typed, and where Claude Code asks about the line itself."""
    monkeypatch.setenv("HOME", str(tmp_path))
    skill = tmp_path / ".claude/skills/zz/SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text(text := f"---\ndescription: d\n---\nState: !`{line}`\n")

    def decide(event, tool="", args=None, **fields):
        call = {"tool_name": tool, "tool_input": args, "tool_use_id": "1"} if tool else {}
        given = {"session_id": "s", "cwd": str(tmp_path), "hook_event_name": event, **call, **fields}
        words = [sys.executable, "-m", "agent_hooks_core", "run", "--agent", "claude-code"]
        done = subprocess.run(words, input=json.dumps(given).encode(), capture_output=True, timeout=120, check=False)
        answer = json.loads(done.stdout or "{}")
        return answer.get("decision") or answer.get("hookSpecificOutput", {}).get("permissionDecision")

    expected = {"git status": None, "git branch -D topic": "ask"}.get(line, "deny")
    assert decide("PreToolUse", "Bash", {"command": line}) == expected
    assert decide("PreToolUse", "Skill", {"skill": "zz"}) == expected
    assert decide("PreToolUse", "Write", {"file_path": str(skill), "content": text}) == expected
    # Nobody can be asked at these.
    assert decide("UserPromptExpansion", command_name="zz", command_args="", prompt="/zz") == (expected and "block")
    assert decide("PreSkillShellCommand", "Bash", {"command": line}, command_name="zz") == (expected and "deny")


@pytest.mark.parametrize(("command", "wanted"), TABLES["installed_guards_protect_themselves_in_a_bare_manager"])
def test_installed_guards_protect_themselves_in_a_bare_manager(command, wanted):
    manager = HookManager(load_plugins=["guards"])
    context = about("Bash", kind="shell", args={"command": command}, cwd="/home/dev/app")
    assert str(manager.hooks(ask="host").dispatch_sync(context).decision) == wanted
