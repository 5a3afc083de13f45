"""The one-file way in: it starts the command with its own package, or says what is in the way and refuses."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

import agent_hooks
import agent_hooks_core
import agent_hooks_launcher
import agent_hooks_repair
from agent_hooks.wire import HOSTS
from agent_hooks.wire.tables import is_stop
from commands import Command
from tables import tables

TABLES = tables(__file__)

pytestmark = pytest.mark.interpreter

FOREIGN = "import sys\nprint('the foreign package ran')\nsys.exit(0)\n"
WAYS = {
    "module": ["-m", "agent_hooks_core"],
    "script": ["-c", "import sys; from agent_hooks_core import main; sys.exit(main())"],
}


@pytest.fixture
def site(tmp_path):
    """A folder of packages in which another distribution has replaced ours."""
    folder = tmp_path / "site"
    package = folder / "agent_hooks"
    package.mkdir(parents=True)
    for module in (agent_hooks_core, agent_hooks_launcher, agent_hooks_repair):
        shutil.copy(str(module.__file__), folder)
    (package / "__init__.py").write_text(FOREIGN)
    info = folder / "agent_hooks-0.2.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: agent-hooks\nVersion: 0.2.0\n")
    (info / "RECORD").write_text("agent_hooks/__init__.py,,\n")
    return folder


def start(*arguments, path, stdin="", cwd=None, way="module"):
    return subprocess.run(
        [sys.executable, *WAYS[way], *arguments],
        input=stdin,
        env={**os.environ, "PYTHONPATH": str(path)},
        cwd=cwd or Path(path).parent,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("agent", HOSTS)
def test_a_gate_is_refused_where_another_distribution_replaced_the_package(site, agent, way):
    done = start("run", "--agent", agent, "--event", "PreToolUse", path=site, way=way)
    assert (done.returncode, done.stdout) == (2, "")
    assert "'agent-hooks' installed a package of the same name over that of agent-hooks-core" in done.stderr
    assert "uninstall --yes agent-hooks && " in done.stderr
    assert "--force-reinstall --no-deps agent-hooks-core" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("way", WAYS)
def test_a_gate_is_refused_without_the_launcher(site, way):
    (site / "agent_hooks_launcher.py").unlink()
    done = start("run", "--agent", "codex", "--event", "PreToolUse", path=site, way=way)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("agent-hooks: agent_hooks_launcher is not in ")
    assert "Remedy: install agent-hooks-core again." in done.stderr


@pytest.mark.parametrize("typed", [["trust"], ["doctor"], ["--help"], []])
def test_people_are_told_the_same_whatever_they_typed(site, typed):
    done = start(*typed, path=site)
    assert done.returncode == 2
    assert "the foreign package ran" not in done.stdout
    assert "--force-reinstall --no-deps agent-hooks-core" in done.stdout + done.stderr


def test_doctor_answers_from_the_one_file_as_json_too(site):
    done = start("doctor", "--json", path=site)
    (finding,) = json.loads(done.stdout)["findings"]
    assert finding["kind"] == "broken-installation"
    assert "'agent-hooks'" in finding["message"]
    assert finding["remedy"].endswith("--no-deps agent-hooks-core")


def test_an_uninstalled_package_is_told_from_a_foreign_one(site):
    shutil.rmtree(site / "agent_hooks")
    shutil.rmtree(site / "agent_hooks-0.2.0.dist-info")
    done = start("run", "--agent", "codex", "--event", "PreToolUse", path=site)
    assert done.returncode == 2
    assert "parts of it are missing" in done.stderr
    assert "pip uninstall" not in done.stderr


@pytest.mark.parametrize("agent", ["claude-code", "codex"])
@pytest.mark.parametrize("named", [["--event", "EVENT"], ["--event=EVENT"], []], ids=["option", "one_word", "payload"])
def test_each_event_is_answered_as_the_wire_answers_a_failure(site, agent, named):
    """Exit code 2 at a stop would force another round for ever."""
    host = HOSTS[agent]
    wrong = []
    for event in ("PreToolUse", "Stop", "SubagentStop", "UserPromptSubmit", "PreCompact", "PostToolUse", "SessionEnd"):
        options = [word.replace("EVENT", event) for word in named]
        sent = "" if named else json.dumps({"hook_event_name": event})
        done = start("run", "--agent", agent, *options, path=site, stdin=sent)
        expected = host.failure(event, "why")
        if done.returncode != expected.exit_code or not done.stderr.startswith("agent-hooks: "):
            wrong.append((event, done))
        if bool(done.stdout) != (bool(expected.stdout) and expected.exit_code == 0):
            wrong.append((event, done))
    assert wrong == []


def test_the_table_of_events_that_go_on_is_that_of_the_wire():
    failures = {(name, event): host.failure(event, "x") for name, host in HOSTS.items() for event in host.rows}
    refused = {event for (_, event), answer in failures.items() if answer.exit_code or answer.stdout}
    assert set(agent_hooks_repair.GOES_ON.split()) == {event for _, event in failures} - refused
    # Cursor takes exit 2 for a refusal as well.
    halted = {key for key, answer in failures.items() if not answer.exit_code and answer.stdout and key[0] != "cursor"}
    assert halted == {("codex", "PreCompact"), ("copilot", "UserPromptSubmit"), ("copilot", "userPromptSubmitted")}


STOPS = """
    Stop SubagentStop AfterAgent agentStop subagentStop stop session.idle TeammateIdle TaskCompleted FutureStop
""".split()


@pytest.mark.parametrize("event", STOPS)
def test_a_stop_is_told_from_a_gate_as_the_wire_does_it(event):
    assert agent_hooks_repair.is_stop(event)
    assert is_stop(event)
    for gate in (
        "PreToolUse",
        "BeforeTool",
        "preToolUse",
        "UserPromptSubmit",
        "BeforeAgent",
        "PreCompact",
        "StopFailure",
    ):
        assert not agent_hooks_repair.is_stop(gate)
        assert not is_stop(gate)


@pytest.mark.parametrize(
    "options", [["--agent", "gemini", "--event", "PreToolUse"], ["--event=Stop"], ["--agent", "x"]]
)
@pytest.mark.parametrize("is_bare", [False, True], ids=["explained", "bare"])
def test_an_unusable_installation_lets_every_agent_stop_whatever_the_settings_say(site, options, is_bare):
    if is_bare:
        (site / "agent_hooks_repair.py").unlink()
    sent = json.dumps({"hook_event_name": "AfterAgent"})
    done = start("run", *options, path=site, stdin=sent)
    # Without the module that reads it, the payload is not known.
    assert done.returncode == (2 if is_bare and options != ["--event=Stop"] else 0)
    assert done.stdout == ""
    assert done.stderr.startswith("agent-hooks: ")


@pytest.mark.parametrize("event", ["UserPromptSubmit", "userPromptSubmitted"])
def test_a_prompt_to_copilot_is_refused_by_json_alone(site, event):
    done = start("run", "--agent", "copilot", "--event", event, path=site)
    assert (done.returncode, json.loads(done.stdout)["decision"]) == (0, "block")
    assert "--force-reinstall" in json.loads(done.stdout)["reason"]


@pytest.mark.parametrize(
    ("agent", "payload", "code"),
    TABLES["the_event_is_found_in_each_hosts_payload"],
)
def test_the_event_is_found_in_each_hosts_payload(site, agent, payload, code):
    assert start("run", "--agent", agent, path=site, stdin=json.dumps(payload)).returncode == code


def test_a_gate_is_refused_where_nobody_reads_why(site):
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, *WAYS["module"], "run", "--agent", "codex", "--event", "PreToolUse"],
        env={**os.environ, "PYTHONPATH": str(site)},
        cwd=site.parent,
        stdin=subprocess.DEVNULL,
        stdout=writing,
        stderr=writing,
        timeout=60,
        check=False,
    )
    os.close(writing)
    assert done.returncode == 2


def test_a_pipe_in_place_of_the_package_holds_nothing(site):
    (site / "agent_hooks" / "__init__.py").unlink()
    os.mkfifo(site / "agent_hooks" / "__init__.py")
    assert start("run", "--agent", "codex", "--event", "PreToolUse", path=site).returncode == 2


def test_an_unreadable_payload_without_an_event_is_refused(site):
    assert start("run", "--agent", "codex", path=site, stdin="{").returncode == 2


@pytest.mark.parametrize("way", WAYS)
def test_a_package_of_the_same_name_elsewhere_on_the_path_is_not_loaded(tmp_path, way):
    for folder in (tmp_path / "first", tmp_path / "here"):
        (folder / "agent_hooks").mkdir(parents=True)
        (folder / "agent_hooks" / "__init__.py").write_text(FOREIGN)
    done = start("--version", path=tmp_path / "first", cwd=tmp_path / "here", way=way)
    assert (done.returncode, done.stdout) == (0, f"agent-hooks, version {agent_hooks.__version__}\n")


def test_the_file_itself_is_a_way_in(tmp_path):
    command = [sys.executable, agent_hooks_core.__file__, "--version"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == f"agent-hooks, version {agent_hooks.__version__}\n"


@pytest.fixture
def command(tmp_path):
    return Command(tmp_path, forks=False)


BROKEN = """
    import sys
    sys.modules["{name}"] = None
    from agent_hooks_core import main
    main()
"""


@pytest.mark.parametrize("name", ["agent_hooks.wire", "agent_hooks.errors"])
def test_an_import_that_fails_refuses_gates_and_lets_a_run_stop(command, name):
    command.script.write_text(dedent(BROKEN.format(name=name)))
    gate = command("run", "--agent", "codex", "--event", "PreToolUse")
    assert (gate.exit_code, gate.stdout) == (2, "")
    assert "this installation cannot be used" in gate.stderr
    stop = command("run", "--agent", "codex", "--event", "Stop")
    assert (stop.exit_code, stop.stdout) == (0, "")
    assert "this installation cannot be used" in stop.stderr


def test_a_missing_dependency_is_no_traceback(command):
    command.script.write_text(dedent(BROKEN.format(name="pluggy")))
    for typed in (["doctor"], ["plugins"]):
        done = command(*typed)
        assert done.exit_code != 0
        assert "Traceback" not in done.stderr
        assert "pluggy" in done.stdout + done.stderr
        assert "--force-reinstall agent-hooks-core" in done.stdout + done.stderr


def test_the_files_import_nothing_but_what_every_interpreter_has(tmp_path):
    program = (
        "import os, sys; before = set(sys.modules); sys.path.insert(0, sys.argv[1]); import agent_hooks_core\n"
        "agent_hooks_core.load('agent_hooks_launcher')\n"
        "print(*sorted(set(sys.modules) - before))"
    )
    folder = os.path.dirname(agent_hooks_core.__file__)
    command = [sys.executable, "-I", "-S", "-c", program, folder]
    loaded = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert loaded == ["agent_hooks_core", "agent_hooks_launcher"]


# -- pytest ------------------------------------------------------------------------------------------------------------


def run_pytest(folder, path, *options):
    (folder / "test_other.py").write_text("def test_passes(): pass\n")
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "agent_hooks_core", "-p", "no:cacheprovider", *options, "."],
        cwd=folder,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("options", [(), ("-W", "error"), ("-q",)])
def test_a_pytest_run_that_is_not_about_us_goes_on_with_one_warning(site, tmp_path, options):
    tests = tmp_path / "tests"
    tests.mkdir()
    done = run_pytest(tests, site, *options)
    assert done.returncode == 0, done
    assert "1 passed" in done.stdout
    assert (done.stdout + done.stderr).count("its pytest plugin is not loaded") == 1


def test_the_pytest_plugin_brings_the_fixture_where_the_package_is_ours(tmp_path):
    (tmp_path / "test_mine.py").write_text("def test_mine(hooks): assert hooks.manager.plugins() == []\n")
    done = run_pytest(tmp_path, "", "-W", "error")
    assert "2 passed" in done.stdout
    assert "warning" not in done.stdout
