"""Commands for people are refused below a coding agent, whatever the environment says, and where nobody types."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from agent_hooks.system import ancestors
from agent_hooks.trust.discovery import discover
from commands import Command
from projects import Project, toml

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="fake hosts need a copied Python")

# A host: it asks the hooks by a shell, and then runs each program, below a process of its own in the last case.
HOST = """
import json, os, pty, subprocess, sys, time
event, programs = json.loads(sys.argv[1])
subprocess.run(["sh", "-c", event["line"]], input=event["payload"].encode(), stdout=subprocess.DEVNULL)
for how, words in programs:
    if how == "plain":
        subprocess.run(words, stdin=subprocess.DEVNULL)
    else:  # a terminal, made by this process or by a child of it
        python = sys.argv[2] if how == "other" else sys.executable
        subprocess.run([python, "-c", "import pty, sys; pty.spawn(sys.argv[1:])", *words], stdin=subprocess.DEVNULL)
"""


@pytest.fixture
def command(tmp_path: Path) -> Command:
    command = Command(tmp_path, forks=False)
    del command.environment["CI"]
    return command


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path).write({"agent-hooks.toml": toml(["true"])})


def hosted(command: Command, project: Project, name: str, *programs: tuple[str, str]) -> str:
    """What a host says that has run these commands of ours, each with or without a terminal."""
    program = command.folder / name
    program.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(os.path.realpath(sys.executable), program)
    ours = shlex.join(command.arguments())
    event = {
        "line": f"{ours} run --agent claude-code",
        "payload": json.dumps({"hook_event_name": "SessionStart", "session_id": "s", "cwd": str(project.root)}),
    }
    clean = [f"{key}={value}" for key, value in command.environment.items()]
    words = [(how, ["env", "-i", *clean, "sh", "-c", f"{ours} {line}; true"]) for how, line in programs]
    done = subprocess.run(
        [program, "-c", HOST, json.dumps([event, words]), sys.executable],
        env={**command.environment, "PYTHONHOME": sys.base_prefix, "PYTHONWARNINGS": "ignore"},
        cwd=project.root,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=120,
    )
    return " ".join(done.stdout.split())


REFUSED = "runs this command, as its hooks know"


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("claude", "untrust"),
        ("bin/codex", "trust --digest sha256:0"),
        ("opencode", "install codex"),
        ("cursor-agent/node", "uninstall codex"),
        ("share/code/code", "serve --stop"),
    ],
)
def test_below_a_host_it_is_refused_with_and_without_a_terminal(command, project, name, line):
    command.environment["CI"] = "1"
    said = hosted(command, project, name, ("plain", line), ("other", line))
    assert said.count(REFUSED) == 2, said
    assert f"{name} (process" in said


def test_a_second_fork_in_the_agents_terminal_does_not_leave_it(command, project):
    command.environment["CI"] = "1"
    ours = shlex.join(command.arguments())
    assert REFUSED in hosted(
        command, project, "claude", ("other", f"--version; mkfifo f; ({ours} untrust >f 2>&1 &); cat f")
    )


@pytest.mark.parametrize("name", ["Cursor.AppImage/cursor", "share/code/code", ".vscode-server/bin/1/node"])
def test_the_terminals_that_an_editor_gives_to_people_are_no_agents(command, project, name):
    """A process of the editor's own makes them, below the one that asks the hooks, as below one beside it."""
    said = hosted(command, project, name, ("own", "untrust"))
    assert f"{project.root} was not trusted." in said


def test_an_agent_in_a_terminal_of_a_person_leaves_the_terminal_free(command, project):
    """The shell that leads the terminal is no host, and what is above it is not asked."""
    ours = shlex.join(command.arguments())
    hook = f"echo '{{}}' | {ours} run --agent claude-code --event SessionStart >/dev/null"
    program = command.folder / "share" / "code"
    program.parent.mkdir()
    shutil.copy(os.path.realpath(sys.executable), program)
    done = subprocess.run(
        [program, "-c", "import pty, sys; pty.spawn(sys.argv[1:])", "sh", "-c", f"{hook}; {ours} untrust; true"],
        env={**command.environment, "PYTHONHOME": sys.base_prefix, "PYTHONWARNINGS": "ignore"},
        cwd=project.root,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "was not trusted." in " ".join(done.stdout.split())
    assert not (command.home / ".local/state/agent-hooks/agents").exists()


def test_without_a_terminal_nobody_can_have_typed_it(command, project):
    digest = discover(project.root).digest
    away = {"AGENT_HOOKS_CONFIG_DIR": str(command.folder / "away"), "CLAUDECODE": "1"}
    (command.folder / "away").mkdir()
    (command.folder / "away/agent-hooks.toml").write_text("[trust]\nunattended = true\n")
    words = ["setsid", "-w", "env", "-u", "CLAUDECODE", *command.arguments()]
    done = command("trust", "--digest", digest, program=words, cwd=project.root, env=away)
    assert (done.exit_code, "because there is no terminal" in done.stderr) == (1, True)
    assert command("trust", "--show", cwd=project.root).exit_code == 0
    command.configure("[trust]\nunattended = true\n")
    assert command("trust", "--digest", digest, program=words, cwd=project.root).exit_code == 0
    assert command("untrust", cwd=project.root, env={"CI": "true"}).exit_code == 0


def test_a_projects_file_does_not_say_unattended(command, project):
    project.write({"agent-hooks.toml": "[trust]\nunattended = true\n"})
    assert "so trust has no effect" in command("doctor", cwd=project.root).stdout
    assert "no terminal" in command("install", "codex", cwd=project.root).said


def test_a_tool_of_our_runtime_cannot_take_its_mark_away(command, project):
    """The process of the runtime is noted, and what a tool has started is seen by what it began with."""
    program = """
    import os, sys
    import pwd
    pwd.getpwuid = lambda uid: pwd.struct_passwd(("user", "x", uid, uid, "", os.environ["HOME"], "/bin/sh"))
    from agent_hooks.system.by_hand import marked_as_agent
    with marked_as_agent():
        os.system(sys.argv[1])
    """
    untrust = shlex.join(["env", "-u", "AGENT_HOOKS_AGENT", *command.arguments("untrust")])
    for line in (untrust, f"true; {untrust}; true"):
        words = [sys.executable, "-c", "\n".join(text[4:] for text in program.split("\n")), line]
        done = command(program=words, cwd=project.root, env={"CI": "1"})
        assert REFUSED in done.stderr, done.stderr


def test_of_a_process_ps_says_the_same(monkeypatch, tmp_path):
    monkeypatch.setattr(ancestors, "notes_dir", lambda _: str(tmp_path))
    ancestors.note_process()
    (name,) = os.listdir(tmp_path)
    assert name.startswith(f"{os.getpid()}-")
    found, listed = ancestors._look(os.getpid()), ancestors._listed(os.getpid())
    assert found is not None
    assert listed is not None
    assert (found[0], found[2]) == (listed[0], listed[2])
    assert listed[3][0].startswith(found[3][0])
    assert ancestors._listed(2147483000) is None


SHELL_LINE = ["sh", "-c agent-hooks run", "--agent gemini"]


@pytest.mark.parametrize(
    ("processes", "noted"),
    [
        ({50: (1, False, ["node", "--flag", "/usr/bin/gemini"])}, 50),
        ({50: (1, False, ["/usr/lib/node_modules/@openai/codex/bin/codex-x86_64", "x"])}, 50),
        ({50: (1, False, SHELL_LINE), 1: (0, True, ["claude"])}, 1),  # a container of the host alone
        ({50: (40, False, SHELL_LINE), 40: (30, False, ["newagent"]), 30: (20, True, ["-bash"])}, 40),
        ({50: (40, False, ["helper"]), 40: (1, False, ["/opt/claude"]), 1: (0, False, ["init"])}, 40),
        ({50: (40, False, ["sshd: devin@notty"]), 40: (1, False, ["sshd: devin [priv]"])}, 0),
        ({50: (1, False, ["/usr/lib/systemd/systemd", "--user"]), 1: (0, False, ["/sbin/init"])}, 0),
        ({50: (40, True, ["/home/devin/bin/fish"]), 40: (1, False, ["/usr/bin/claude"])}, 0),
    ],
)
def test_which_process_is_the_host(monkeypatch, tmp_path, processes, noted):
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setattr(ancestors, "notes_dir", lambda _: str(tmp_path))
    monkeypatch.setattr(os, "getppid", lambda: 50)
    facts = {pid: (parent, "7", leads, words) for pid, (parent, leads, words) in processes.items()}
    monkeypatch.setattr(ancestors, "_look", facts.get)
    ancestors.note_host()
    assert os.listdir(tmp_path) == ([f"{noted}-7"] if noted else [])


@pytest.mark.parametrize(
    ("path", "is_one"),
    [
        ("/home/a/.vscode/extensions/anthropic.claude-code-2/resources/claude", False),
        ("/home/a/.vscode-server/bin/1/node", True),
        ("/Applications/Visual Studio Code.app/Contents/MacOS/Electron", True),
        ("/home/a/code/server", False),
    ],
)
def test_which_process_is_an_editors(path, is_one):
    assert ancestors._is_editor([path]) is is_one


@pytest.mark.parametrize(
    "line", ["mkfifo f; ({} >f 2>&1 & ); cat f", "unshare -r {}", "unshare -rpf {}", "unshare -rpf --mount-proc {}"]
)
def test_who_has_left_the_shell_of_a_terminal_has_typed_nothing(command, project, line):
    """By a second fork, or into a namespace: the terminal is inherited all the same."""
    if "unshare" in line and subprocess.run(["unshare", "-rpf", "true"], check=False).returncode:
        pytest.skip("no namespaces here")
    if "unshare -r {}" in line and not os.getuid():
        pytest.skip("root stays root, with the notes in its home")
    digest = discover(project.root).digest
    inner = line.format(shlex.join(command.arguments("trust", "--digest", digest)))
    spawn = "import pty, sys; pty.spawn(sys.argv[1:])"
    done = command(program=[sys.executable, "-c", spawn, "sh", "-c", f"{inner}; true"], cwd=project.root)
    assert "No person can have typed this" in " ".join(done.said.split()), done.said


def test_what_says_that_it_is_no_ci_is_none(command, project):
    done = command("untrust", program=["setsid", "-w", *command.arguments()], cwd=project.root, env={"CI": "false"})
    assert "No person can have typed this" in " ".join(done.said.split())
