"""Agents and the files that hold where they work."""

from __future__ import annotations

import asyncio
import logging

import pytest

from agent_hooks import AgentBuilder, HookConfigLoader, HookManager, HookPolicy
from agent_hooks.errors import RunError, TrustError
from agent_hooks.model.tool_call import ToolCall
from agent_hooks.runtime.driver import ScriptedDriver
from agent_hooks.runtime.python_tools import tool
from projects import HOOKCONF, Project, denying, own_folders, settings, toml
from runtime.agents import Recorder, reply


@pytest.fixture(autouse=True)
def config(tmp_path, monkeypatch):
    """The user's folder of our configuration."""
    return own_folders(monkeypatch, tmp_path)


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path)


class Shell:
    """An agent with a shell tool of its own name, and the commands that the tool ran."""

    def __init__(self, *commands, cwd, plugins=(), policy=None, config=True):
        self.ran = []  # type: ignore[var-annotated]

        @tool(kind="shell")
        def run_shell(cmd: str) -> str:
            """Run a command."""
            self.ran.append(cmd)
            return f"ran {cmd}"

        self.recorder = Recorder()
        replies = [reply("", ToolCall("run_shell", {"cmd": each})) for each in commands or ("ls",)]
        self.builder = (
            AgentBuilder(plugins=plugins, policy=policy)
            .with_driver(ScriptedDriver(*replies, reply("done")))
            .with_tools(run_shell)
            .with_cwd(str(cwd))
            .with_config(config)
            .hook(["before_tool_use", "after_tool_use"], self.recorder, name="recorder")
        )

    def run(self):
        self.agent = self.builder.build()
        self.state = self.agent.run_sync("go")
        return self.ran

    @property
    def told(self):
        """The text about each call for the model."""
        return [str(message.content) for message in self.state.messages if message.role == "tool"]


def test_a_claude_code_settings_file_guards_an_agent_whose_shell_tool_has_another_name(project):
    guard = 'case "$(cat)" in *\'"command": "git push --force\'*) echo "no force" >&2; exit 2;; esac'
    project.write({".claude/settings.json": settings("PreToolUse", guard, matcher="Bash", model="x")}).trust()
    shell = Shell("ls", "git push --force x", cwd=project.root)
    assert shell.run() == ["ls"]
    assert shell.told[0] == "ran ls"
    assert "no force" in shell.told[1]


def test_agents_in_different_directories_do_not_see_each_others_files(tmp_path):
    projects = [Project(tmp_path, name) for name in ("a", "b", "free")]
    shells = []
    for each in projects:
        if each.root.name != "free":
            each.write({"hookconf.py": HOOKCONF.format(reason=f"not in {each.root.name}")}).trust()
        shells.append(Shell("one", "two", cwd=each.root))
    agents = [shell.builder.build() for shell in shells]

    async def all_at_once():
        return await asyncio.gather(*(agent.run("go") for agent in agents))

    *states, _ = asyncio.run(all_at_once())
    assert [shell.ran for shell in shells] == [[], [], ["one", "two"]]
    for shell, state, name in zip(shells, states, "ab", strict=False):
        shell.state = state
        assert [f"not in {name}" in text for text in shell.told] == [True, True]


def test_files_are_read_unless_plugins_were_chosen(project, monkeypatch):
    project.write({"hookconf.py": HOOKCONF.format(reason="no")}).trust()
    monkeypatch.chdir(project.root)
    monkeypatch.setattr("agent_hooks.engine.manager.load_installed", lambda *_: None)

    def guarded(builder):
        agent = builder.with_driver(ScriptedDriver()).build()
        return "project" in {hook.source for hook in agent.interceptor.manager.describe()}

    assert guarded(AgentBuilder())
    assert not guarded(AgentBuilder(plugins=()))
    assert guarded(AgentBuilder(plugins=()).with_config())
    assert not guarded(AgentBuilder().with_config(False))


def test_without_configuration_nothing_of_files_holds(project, config):
    (config / "agent-hooks.toml").write_text(toml(["sh", "-c", denying("no")]))
    assert Shell(cwd=project.root).run() == []
    assert Shell(cwd=project.root, config=False).run() == ["ls"]


def test_a_loader_of_your_own_says_what_is_read(project, tmp_path):
    other = Project(tmp_path, "other").write({"hookconf.py": HOOKCONF.format(reason="no")}).trust()
    loader = HookConfigLoader([project.root, other.root], claude_settings=False)
    shell = Shell(cwd=other.root, config=loader)
    assert shell.run() == []
    assert shell.agent.identity.project_dir == str(project.root)


def test_events_say_which_project_they_are_in(project):
    (project.root / "src").mkdir()
    shell = Shell(cwd=project.at("src"))
    shell.run()
    assert {(ctx.cwd, ctx.project_dir) for ctx in shell.recorder.seen} == {(project.at("src"), str(project.root))}


def test_what_could_not_be_honoured_is_logged_when_the_agent_is_built(project, caplog):
    project.write({"agent-hooks.toml": toml("", handler='type = "nope"', matcher="Bash")}).trust()
    shell = Shell(cwd=project.root)
    with caplog.at_level(logging.WARNING, "agent_hooks"):
        shell.builder.build()
    (record,) = caplog.records
    assert (record.name, record.levelname) == ("agent_hooks", "WARNING")
    assert record.getMessage().startswith(f"{project.at('agent-hooks.toml')}:3: This nope hook on before_tool_use")
    assert shell.run() == []


def test_a_project_that_nobody_trusts_is_logged_and_does_not_hold(project, caplog):
    project.write({"hookconf.py": HOOKCONF})
    shell = Shell(cwd=project.root)
    assert shell.run() == ["ls"]
    assert "1 gate is not active" in caplog.text
    assert "agent-hooks trust" in caplog.text


def test_what_the_user_lives_with_is_logged_no_more(project, config, caplog):
    project.write({".claude/settings.json": settings("Stop", "npm test")}).trust()
    loader = HookConfigLoader(project.root)
    loader.load()
    Shell(cwd=project.root).builder.build()
    (record,) = caplog.records
    assert record.getMessage() == str(*loader.findings)
    caplog.clear()
    (config / "agent-hooks.toml").write_text(f"ignore = {[finding.id for finding in loader.findings]}")
    Shell(cwd=project.root).builder.build()
    assert not caplog.records


def test_required_gates_that_are_not_trusted_keep_an_agent_from_being_built(project):
    project.write({"hookconf.py": HOOKCONF.format(reason="no")})
    shell = Shell(cwd=project.root, policy=HookPolicy(require_project_gates=True))
    with pytest.raises(TrustError, match="requires the gates of a project"):
        shell.builder.build()
    project.trust()
    assert shell.run() == []


def test_policies_of_files_reach_the_runtime(project, config):
    (config / "agent-hooks.toml").write_text("[policy]\nmax_retries = 0\nmax_forced_continuations = 1\ntimeout = 5.0")
    shell = Shell(cwd=project.root, policy=HookPolicy(max_retries=7))
    shell.run()
    assert (shell.agent.policy.max_retries, shell.agent.policy.timeout) == (0, 5.0)
    elsewhere = Shell(cwd=project.root, policy=HookPolicy(max_rechecks=9))
    elsewhere.run()
    assert elsewhere.agent.policy.max_rechecks == 9, "no file says anything of it"
    again = AgentBuilder(plugins=()).with_config().with_cwd(str(project.root))
    stubborn = again.with_driver(ScriptedDriver(*[reply("done")] * 9)).hook(
        "on_stop", lambda ctx: {"decision": "block", "reason": "go on"}, name="stubborn"
    )
    assert len(stubborn.build().run_sync("go").steps) == 2


def test_an_agent_is_what_its_files_were_when_it_was_built(project):
    project.write({"hookconf.py": HOOKCONF.format(reason="no")}).trust()
    shell = Shell("one", "two", cwd=project.root)
    agent = shell.builder.build()
    project.write({"hookconf.py": ""})
    agent.run_sync("go")
    assert shell.ran == []
    assert Shell("one", cwd=project.root).run() == ["one"]


def test_an_interceptor_stands_in_place_of_files_too(project, config):
    (config / "agent-hooks.toml").write_text("[policy]\nmax_retries = 0")
    builder = AgentBuilder().with_driver(ScriptedDriver()).with_interceptor(HookManager(load_plugins=False))
    assert builder.build().policy.max_retries == HookPolicy().max_retries
    with pytest.raises(RunError, match="these would never be asked: with_config"):
        builder.with_config().build()
    builder.with_config(False).build()


def test_a_stop_hook_of_claude_codes_settings_that_fails_forces_no_further_round(project):
    """Claude Code ignores onFailure there."""
    failing = {"type": "command", "command": "exit 1", "onFailure": "block"}
    project.write({".claude/settings.json": settings("Stop", failing)}).trust()
    driver = ScriptedDriver(reply("done"), reply("another round"))
    builder = AgentBuilder(plugins=()).with_driver(driver).with_cwd(str(project.root)).with_config(True)
    state = builder.build().run_sync("go")
    assert (state.status, state.output, len(state.steps)) == ("completed", "done", 1)
