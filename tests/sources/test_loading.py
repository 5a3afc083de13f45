"""``load``: the hooks that hold in a directory, the same as those of ``agent-hooks run``."""

from __future__ import annotations

import json
import sys
from textwrap import dedent

import pytest

from agent_hooks import HookContext, HookManager, HookOutcome, HookPolicy, ToolCall, hookimpl, load
from agent_hooks.errors import RegistrationError, TrustError
from commands import SCRIPT, Command
from projects import HOOKCONF, Project, denying, toml

pytestmark = pytest.mark.interpreter

TRUST = ToolCall("Bash", {"command": "agent-hooks trust"}, kind="shell")


@pytest.fixture(autouse=True)
def _empty_directory(tmp_path, monkeypatch):
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Install a plugin whose gate denies, or whose module fails, in place of those of this environment."""
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.setattr("agent_hooks.engine.installed.search_path", lambda: [str(site)])
    monkeypatch.setattr("agent_hooks.engine.installed._scanned", None)
    monkeypatch.syspath_prepend(str(site))
    names: list[str] = []

    def put(name, source=""):
        code = "from agent_hooks import HookOutcome, hookimpl\n@hookimpl\ndef before_tool_use():\n"
        (site / f"{name}_module.py").write_text(source or f"{code}    return HookOutcome.deny('{name}')\n")
        info = site / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[agent_hooks]\n{name} = {name}_module\n")
        names.append(f"{name}_module")

    yield put
    for name in names:
        sys.modules.pop(name, None)


class Rule:
    @hookimpl
    def before_tool_use(self):
        return HookOutcome.deny("given")


def ask(manager, call=None, **where):
    """The reason for a refusal, an empty string for none."""
    call = call or ToolCall("Bash", {"command": "ls"}, kind="shell")
    return manager.hooks().dispatch_sync(HookContext("before_tool_use", tool_call=call, **where)).reason


def test_the_users_and_a_trusted_projects_files_hold(project, config):
    (config / "agent-hooks.toml").write_text(toml(["sh", "-c", denying("user")], matcher="Bash"))
    project.write({"hookconf.py": HOOKCONF.format(reason="project")}).trust()
    manager = load(project.root, plugins=())
    assert ask(manager) == "user"
    assert ask(manager, ToolCall("Edit", kind="edit"), cwd=str(project.root)) == "project"
    assert (manager.findings, manager.project_dir) == ([], str(project.root))


def test_the_default_is_the_current_directory(project, config, monkeypatch):
    monkeypatch.chdir(project.root)
    assert load(plugins=()).project_dir == str(project.root)


def test_agents_cannot_change_what_holds(config):
    assert "agent-hooks trust" in ask(load(plugins=()), TRUST)


def test_without_files_nothing_of_them_holds(project, config):
    (config / "agent-hooks.toml").write_text(toml(["sh", "-c", denying("user")]))
    manager = load(project.root, plugins=(), files=False)
    assert (ask(manager), ask(manager, TRUST), manager.findings) == ("", "", [])


def test_an_untrusted_project_is_a_finding_and_does_not_hold(project, config):
    project.write({"hookconf.py": HOOKCONF.format(reason="project")})
    manager = load(project.root, plugins=())
    assert ask(manager, cwd=str(project.root)) == ""
    assert [finding.kind for finding in manager.findings] == ["untrusted"]
    with pytest.raises(TrustError, match="requires the gates of a project"):
        load(project.root, plugins=(), policy=HookPolicy(require_project_gates=True))


def test_a_finding_that_the_user_ignores_is_none(project, config):
    project.write({"hookconf.py": HOOKCONF})
    (finding,) = load(project.root, plugins=()).findings
    (config / "agent-hooks.toml").write_text(f'ignore = ["{finding.id}"]')
    assert load(project.root, plugins=()).findings == []


@pytest.mark.parametrize("files", [True, False])
def test_a_broken_plugin_is_a_finding_that_cannot_be_ignored_and_denies(install, config, files):
    install("frail", "1 / 0")
    manager = load(files=files)
    (finding,) = manager.findings
    assert (finding.kind, finding.must_be_repaired) == ("broken-plugin", True)
    assert "'frail'" in finding.message
    assert "ZeroDivisionError" in ask(manager)
    (config / "agent-hooks.toml").write_text(f'ignore = ["{finding.id}"]')
    assert finding in load(files=files).findings


def test_plugins_are_all_or_none_or_those_given(install, config):
    install("alpha")
    install("beta")
    assert ask(load()) == "alpha"
    assert ask(load(plugins=())) == ""
    assert ask(load(plugins=["beta"])) == "beta"
    assert ask(load(plugins=[Rule()])) == "given"
    assert {info.name for info in load(plugins=["beta", Rule()]).plugins()} >= {"beta", "Rule"}


@pytest.mark.parametrize(
    ("plugins", "message"),
    [("alpha", r"plugins=\['alpha'\]"), (["gamma"], "called gamma"), ([object()], "has no hooks")],
)
def test_a_plugin_that_cannot_be_loaded_as_given_is_refused(install, config, plugins, message):
    with pytest.raises(RegistrationError, match=message):
        load(plugins=plugins)


def test_a_bare_manager_has_no_findings(install):
    install("frail", "1 / 0")
    assert (HookManager().findings, HookManager().project_dir) == ([], "")


PLUGIN = """
    @hookimpl(priority=10)
    def before_tool_use():
        return HookOutcome.update(context="first of the plugin")

    @hookimpl(specname="before_tool_use", priority=-10)
    def later():
        return HookOutcome.update(context="last of the plugin")
"""
CONF = """
    from agent_hooks import HookOutcome, hookimpl

    @hookimpl(priority=5)
    def before_tool_use():
        return HookOutcome.update(context="hookconf.py")
"""
IN_CODE = """
import json, sys
from agent_hooks import AgentBuilder, HookContext, ScriptedDriver, ToolCall, load

def facts(manager):
    ctx = HookContext("before_tool_use", tool_call=ToolCall("Bash", {"command": "ls"}, kind="shell"), cwd=sys.argv[1])
    plugins = [(hook.plugin, hook.name) for hook in manager.describe("before_tool_use")]
    return plugins, manager.hooks().dispatch_sync(ctx).context, list(map(str, manager.findings))

builder = AgentBuilder().with_driver(ScriptedDriver()).with_cwd(sys.argv[1])
print(json.dumps([facts(load(sys.argv[1])), facts(builder.build().interceptor.manager)]))
"""


def test_the_same_hooks_answer_in_the_same_order_through_every_entry_point(tmp_path):
    command, project, untrusted = Command(tmp_path), Project(tmp_path), Project(tmp_path, "repo/inner")
    command.install(PLUGIN)
    said = {"hookSpecificOutput": {"hookEventName": "PreToolUse", "additionalContext": "the user's file"}}
    command.configure(f'plugins = ["named_rules"]\n{toml(["echo", json.dumps(said)])}')
    project.write(
        {"hookconf.py": CONF, "agent-hooks.toml": toml(["echo", json.dumps(said).replace("user", "project")])}
    )
    command.trust(project)
    untrusted.write({"hookconf.py": HOOKCONF})
    (command.config / "hookconf.py").write_text(dedent(CONF.replace("hookconf.py", "the user's module")))
    (command.site / "named_rules.py").write_text(dedent(CONF.replace("hookconf.py", "the named module")))
    (tmp_path / "bin" / "doors").write_text(SCRIPT.rpartition("from agent_hooks_core")[0] + IN_CODE)

    # -- in code
    done = command(str(untrusted.root), program=[sys.executable, str(tmp_path / "bin" / "doors")])
    (loaded, built) = done.json
    assert loaded == built
    hooks, context, findings = loaded
    told = ["first of the plugin", "the named module", "the user's module", "hookconf.py"]
    told += ["the user's file", "the project's file", "last of the plugin"]
    assert context.split("\n\n") == told
    assert [finding.partition(":")[0] for finding in findings] == [str(untrusted.root)]
    # -- the commands
    payload = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}}
    answer = command.answer("claude-code", {**payload, "session_id": "s", "cwd": str(untrusted.root)})
    assert answer.specific["additionalContext"] == context
    tool = ("--tool", "Bash", "--arg", "command=ls", "--agent", "claude-code")
    checked = command("check", "before_tool_use", *tool, "--json", cwd=untrusted.root).json
    assert checked["outcome"]["context"] == context
    asked = [[hook["plugin"], hook["hook"]] for hook in checked["hooks"]]
    assert asked == [hook for hook in hooks if hook in asked]
    assert {plugin for plugin, _ in hooks} - {plugin for plugin, _ in asked} == {"agent_hooks.protection"}
    listed = command("plugins", "--json", cwd=untrusted.root).json["plugins"]
    for plugin in listed:
        ours = [name for of, name in hooks if of == plugin["name"]]
        assert [hook["name"] for hook in plugin["hooks"] if hook["event"] == "before_tool_use"] == ours
    assert {plugin["name"] for plugin in listed} == {plugin for plugin, _ in asked}
    shown = command("doctor", "--json", str(untrusted.root)).json["findings"]
    assert [f"{each['path']}: {each['message']} {each['remedy']}" for each in shown] == findings
