"""Modules as plugins: those of ``-p``, of ``plugins`` in the user's and the machine's file, and of ``load``."""

from __future__ import annotations

import json
import sys

import pytest

from agent_hooks import HookConfigLoader, HookContext, HookManager, ToolCall, load
from agent_hooks.errors import RegistrationError
from commands import Command
from projects import Project, own_folders

pytestmark = pytest.mark.interpreter

RULES = """
from agent_hooks import HookOutcome, hookimpl

@hookimpl(match="shell")
def before_tool_use(tool_call):
    return HookOutcome.deny("{reason}")
"""
EVENT = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}, "session_id": "s"}
LS = ("before_tool_use", "--tool", "Bash", "--arg", "command=ls")


@pytest.fixture
def command(tmp_path):
    """The command, in an environment with the module ``plain_rules``, which no metadata name."""
    made = Command(tmp_path, forks=False)
    (made.site / "plain_rules.py").write_text(RULES.format(reason="the module says no"))
    return made


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An import path with a folder of the environment, in which modules are found."""
    own_folders(monkeypatch, tmp_path)
    monkeypatch.chdir(tmp_path)
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.setattr("agent_hooks.system.sites._sites", frozenset({str(site.resolve())}))
    monkeypatch.syspath_prepend(str(site))
    known = {*sys.modules}
    yield site
    for name in {*sys.modules} - known:
        del sys.modules[name]


def ask(manager: HookManager, tool: str = "Bash", **args):
    call = ToolCall(tool, args or {"command": "ls"})
    return manager.hooks().dispatch_sync(HookContext("before_tool_use", tool_call=call, cwd="/"))


def run(command: Command, *arguments: str, cwd=None):
    event = {**EVENT, "cwd": str(cwd or command.folder)}
    return command("run", "--agent", "claude-code", *arguments, stdin=json.dumps(event), cwd=cwd)


def test_every_command_takes_modules(command):
    assert run(command, "-p", "plain_rules").reason.startswith("the module says no")
    assert not run(command).denies
    assert "the module says no" in command("check", *LS, "-p", "plain_rules").stdout
    listed = {each["name"]: each for each in command("plugins", "--json", "-p", "plain_rules").json["plugins"]}
    assert (listed["plain_rules"]["status"], listed["plain_rules"]["source"]) == ("active", "plugin")
    assert command("doctor", "--json", "-p", "plain_rules").json["hooks"] == 1
    for recorded in ((), ("--recorded",)):
        assert "the module says no" in command("demo", "--speed", "0", *recorded, "-p", "plain_rules").stdout


def test_the_users_file_names_modules_for_every_agent(command):
    command.configure('plugins = ["plain_rules"]\n')
    assert run(command).reason.startswith("the module says no")
    assert not run(command, "--config-dir", str(command.folder / "none")).denies
    command.configure('plugins = ["plain_rules"]\ndisabled = ["plain_rules"]\n')
    assert not run(command).denies


@pytest.mark.parametrize("named", ["stray_rules", "lost_rules", "failing_rules", "hookless_rules", "no module"])
def test_a_broken_module_is_named_and_denies(command, tmp_path, named):
    project = Project(tmp_path)
    project.write({"stray_rules.py": f"open({str(tmp_path / 'has_run')!r}, 'w')\n"})
    (command.site / "failing_rules.py").write_text("1 / 0\n")
    (command.site / "hookless_rules.py").write_text("x = 1\n")
    command.environment["PYTHONPATH"] += f":{project.root}:."
    done = run(command, "-p", named, cwd=project.root)
    assert done.denies
    assert f"the plugin {named!r}" in done.reason
    assert not (tmp_path / "has_run").exists()
    (finding,) = command("doctor", "--json", "-p", named, cwd=project.root).json["findings"]
    assert (finding["kind"], finding["must_be_repaired"]) == ("broken-plugin", True)
    assert finding["remedy"].startswith("Repair it, or take it out of -p, or of plugins in agent-hooks.toml")


def test_a_project_names_none(command, tmp_path):
    project = Project(tmp_path)
    project.write({"agent-hooks.toml": 'plugins = ["plain_rules"]\n'})
    command.trust(project)
    assert not run(command, cwd=project.root).denies
    (finding,) = command("doctor", "--json", str(project.root)).json["findings"]
    assert (finding["kind"], finding["line"]) == ("not-allowed", 1)
    assert finding["message"] == "A project may only tighten, so plugins has no effect as it is."


def test_load_takes_names_of_modules(here):
    (here / "plain_rules.py").write_text(RULES.format(reason="given"))
    assert ask(load(plugins=["plain_rules"])).reason == "given"
    assert ask(load(plugins=["plain_rules"], files=False)).reason == "given"
    assert ask(HookConfigLoader(modules=["plain_rules"]).load(load_plugins=False)).reason == "given"
    with pytest.raises(RegistrationError, match="called lost_rules"):
        load(plugins=["lost_rules"])


def test_a_module_of_the_working_directory_is_not_run_though_it_is_on_the_path(here, tmp_path, monkeypatch):
    (tmp_path / "stray_rules.py").write_text(f"open({str(tmp_path / 'has_run')!r}, 'w')\n")
    for folder in (str(tmp_path), ""):
        monkeypatch.setattr(sys, "path", [folder, *sys.path])
        manager = load(plugins=["stray_rules"])
        (finding,) = manager.findings
        assert f"it lies in {tmp_path.resolve()}, which is no folder of this" in finding.message
        assert "stray_rules" in ask(manager).reason
    assert not (tmp_path / "has_run").exists()


def test_a_module_that_is_an_installed_plugin_is_loaded_once(here):
    (here / "plain_rules.py").write_text(RULES.format(reason="once"))
    info = here / "plain-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: plain\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[agent_hooks]\nplain = plain_rules\n")
    for name in ("plain", "plain_rules"):
        manager = HookManager(load_plugins=["plain"], modules={name: "plugin"})
        assert [plugin.name for plugin in manager.plugins()] == ["plain"]


def test_an_agent_cannot_write_a_module_that_somebody_named(here):
    (here / "house").mkdir()
    (here / "house" / "__init__.py").write_text("")
    (here / "house" / "rules.py").write_text(RULES.format(reason="-").replace("shell", "fetch"))
    (here / "plain_rules.py").write_text(RULES.format(reason="-").replace("shell", "fetch"))
    manager = load(plugins=["plain_rules", "house.rules"])
    for name in ("plain_rules.py", "house/rules.py"):
        outcome = ask(manager, "Write", file_path=str(here / name), content="")
        assert (outcome.decision, outcome.hook) == ("deny", "agent_hooks.protection"), name


def test_a_module_of_the_machines_file_is_managed(here, tmp_path, monkeypatch):
    (here / "plain_rules.py").write_text(RULES.format(reason="the machine"))
    monkeypatch.setattr("agent_hooks.sources.files._other_writer", lambda *_: "")
    monkeypatch.setenv("AGENT_HOOKS_DISABLE", "plain_rules")
    (tmp_path / "managed").mkdir()
    (tmp_path / "managed" / "agent-hooks.toml").write_text('plugins = ["plain_rules"]\n')
    manager = load(plugins=())
    assert {hook.source for hook in manager.describe() if hook.plugin == "plain_rules"} == {"managed"}
    assert ask(manager).reason == "the machine"
