"""Hooks of skills and agents are live exactly as long as these are registered, from files and made in Python."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Any

import pytest

from agent_hooks import (
    AgentBuilder,
    HookConfigLoader,
    HookContext,
    HookManager,
    HookOutcome,
    HookPolicy,
    RegistrationError,
    ScriptedDriver,
    SessionRunner,
    Tool,
    ToolCall,
    hookimpl,
)
from agent_hooks.errors import TrustError, UnknownEventError
from agent_hooks.runtime.pausing import hooks_in
from agent_hooks.sources.files import TomlSource
from agent_hooks.sources.skills import Skill, SkillHook, register_agent, register_skill
from agent_hooks.testing import make_context
from agent_hooks.trust.discovery import discover
from agent_hooks.trust.trust_store import TrustStore
from engine import Plugin, shell
from skill_files import DEPLOY, group, markdown, tool

if TYPE_CHECKING:
    from pathlib import Path


class Recorder:
    """A handler type that remembers what it was asked about, and answers as its entry says."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def execute(self, config: dict[str, Any], ctx: HookContext) -> Any:
        self.asked.append(f"{config.get('as', '')}{ctx.event!s}")
        return ("deny", config["deny"]) if "deny" in config else "ok"


@pytest.fixture
def manager() -> HookManager:
    return HookManager(load_plugins=False)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project, and a configuration folder beside it where trust is kept."""
    monkeypatch.setenv("AGENT_HOOKS_CONFIG_DIR", str(tmp_path / "config"))
    root = tmp_path / "project"
    (root / ".git").mkdir(parents=True)
    return root


def written(root: Path, head: str, path: str = "skills/deploy/SKILL.md") -> Path:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(markdown(head))
    return file


def decided(manager: HookManager, ctx: HookContext) -> tuple[str, str]:
    outcome = manager.hooks().dispatch_sync(ctx)
    return str(outcome.decision), outcome.reason


RECORD = """
name: watch
hooks:
  PreToolUse:
    - hooks:
        - {type: record, as: "1 "}
        - {type: record, as: "2 "}
  PreTurn:
    - hooks: [{type: record}]
"""


def test_hooks_of_a_skill_see_every_crossing_until_it_is_unregistered_and_it_may_come_back(
    manager: HookManager, project: Path
):
    for _ in range(2):
        recorder = Recorder()
        name = register_skill(manager, written(project, RECORD).parent, types={"record": recorder}, trusted=True)
        hooks = manager.hooks()
        for ctx in (shell(), tool("Read", skill="other"), make_context("before_turn")):
            hooks.dispatch_sync(ctx)
        manager.unregister(name=name)
        hooks.dispatch_sync(shell())

        assert name == "skill:watch"
        assert recorder.asked == [*["1 before_tool_use", "2 before_tool_use"] * 2, "before_turn"]
        assert not hooks.listens("before_tool_use")


def test_hooks_of_an_agent_see_its_own_crossings_until_it_is_unregistered(manager: HookManager, project: Path):
    recorder = Recorder()
    file = written(project, RECORD, ".claude/agents/watch.md")
    name = register_agent(manager, file, types={"record": recorder}, trusted=True)

    hooks = manager.hooks()
    hooks.dispatch_sync(shell(agent_name="watch"))
    hooks.dispatch_sync(shell(agent_name="main"))
    manager.unregister(name)
    hooks.dispatch_sync(shell(agent_name="watch"))

    assert name == "agent:watch"
    assert recorder.asked == ["1 before_tool_use", "2 before_tool_use"]
    with pytest.raises(RegistrationError, match="'agent:watch' is not registered"):
        manager.unregister(name)


def test_a_skill_without_hooks_is_registered_and_unregistered_like_any(manager: HookManager, project: Path):
    name = register_skill(manager, written(project, "name: plain"))

    assert manager.has_plugin(name)
    manager.unregister(name=name)
    assert not manager.has_plugin(name)


def test_two_skills_of_one_name_are_an_error_and_the_first_stays(manager: HookManager, project: Path):
    recorder = Recorder()
    register_skill(manager, written(project, RECORD), types={"record": recorder}, trusted=True)

    for head in (RECORD, "name: watch"):
        other = written(project, head, "other/SKILL.md")
        with pytest.raises(RegistrationError, match="skill:watch is registered already"):
            register_skill(manager, other, types={"record": recorder}, trusted=True)

    assert manager.hooks().listens("before_turn")


@pytest.mark.parametrize(
    ("head", "says"),
    [
        (group("hooks: [{type: carrier-pigeon}]"), "no handler type 'carrier-pigeon'"),
        (group("hooks: [{type: carrier-pigeon}]", event="PostToolUse"), "no handler type 'carrier-pigeon'"),
        (group("hooks: [{type: command, command: x, timeout: -1}]"), "timeout"),
        (group("matcher: '(x'", "hooks: [{type: record}]"), "not a regular expression"),
        ("name: deploy\nhooks: []x", "not YAML"),
    ],
)
def test_a_skill_that_cannot_be_honoured_is_an_error_naming_its_line_and_nothing_of_it_is_live(
    manager: HookManager, project: Path, head: str, says: str
):
    file = written(project, head + "\n  PreTurn: [{hooks: [{type: record}]}]" if "YAML" not in says else head)

    with pytest.raises(RegistrationError) as caught:
        register_skill(manager, file, types={"record": Recorder()}, trusted=True)

    assert says in str(caught.value)
    assert f"{file}:" in str(caught.value)
    assert not manager.hooks().listens("before_turn")


def test_an_unknown_event_is_logged_and_an_error_where_events_are_strict(
    manager: HookManager, project: Path, caplog: pytest.LogCaptureFixture
):
    file = written(project, group("hooks: [{type: record}]", event="OnCoffee"))

    register_skill(manager, file, types={"record": Recorder()}, trusted=True)
    assert f"{file}:4: There is no event 'OnCoffee'" in caplog.text

    with pytest.raises(RegistrationError, match="no event 'OnCoffee'"):
        register_skill(manager, file, types={"record": Recorder()}, trusted=True, strict_events=True)


def test_a_file_that_is_not_there_is_an_error(manager: HookManager, project: Path):
    with pytest.raises(RegistrationError, match=r"missing/SKILL\.md: The skill cannot be read: No such file"):
        register_skill(manager, project / "missing" / "SKILL.md")


# -- commands, really run ----------------------------------------------------------------------------------------------


def policy_script(root: Path, text: str) -> Path:
    script = root / "scripts" / "check-deploy-policy.sh"
    script.parent.mkdir(exist_ok=True)
    script.write_text(f"#!/bin/sh\n{text}\n")
    script.chmod(0o755)
    return script


ONLY_COMMAND = DEPLOY.partition("  PostToolUse")[0]


@pytest.mark.parametrize(
    ("text", "decision", "reason"),
    [
        ("exit 0", "proceed", ""),
        ("echo 'Use the pipeline.'; exit 2", "deny", "Use the pipeline."),
        ("echo oops >&2; exit 1", "proceed", ""),
    ],
)
def test_a_command_of_a_skill_decides_by_its_exit_code(
    manager: HookManager, project: Path, text: str, decision: str, reason: str
):
    policy_script(project, text)
    register_skill(manager, written(project, ONLY_COMMAND), trusted=True)

    assert decided(manager, tool("Shell", cwd=str(project))) == (decision, reason)
    assert decided(manager, tool("Read", cwd=str(project))) == ("proceed", "")


def test_the_whole_example_of_skillkits_manual_is_live(manager: HookManager, project: Path):
    policy_script(project, "echo 'Use the pipeline.'; exit 2")
    register_skill(manager, written(project, DEPLOY), trusted=True)

    found = [(info.event, info.name, info.match, info.mode, info.on_failure) for info in manager.describe()]
    assert found == [
        ("before_tool_use", "skills/deploy/SKILL.md:8", "Shell", "gate", "open"),
        ("after_tool_use", "skills/deploy/SKILL.md:12", "*", "gate", "open"),
    ]
    assert decided(manager, tool("Shell")) == ("deny", "Use the pipeline.")


def test_files_may_bring_no_commands_where_the_policy_refuses_them(project: Path):
    manager = HookManager(load_plugins=False, policy=HookPolicy(allow_shell=False))

    with pytest.raises(RegistrationError, match="allow_shell"):
        register_skill(manager, written(project, ONLY_COMMAND), trusted=True)


# -- what the user permits ---------------------------------------------------------------------------------------------

READS_VARIABLE = ONLY_COMMAND.replace("./scripts/check-deploy-policy.sh", "echo token=$DEPLOY_WORD; exit 2")


def registered(manager: HookManager, skill: Any) -> HookManager:
    register_skill(manager, skill, trusted=True)
    return manager


def with_sources(project: Path, text: str) -> HookManager:
    elsewhere = project.parent / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "agent-hooks.toml").write_text(text)
    return HookConfigLoader(sources=[TomlSource("user", str(elsewhere))]).load(load_plugins=False)


@pytest.fixture
def permit(project: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Let the user permit a variable, which is set."""
    monkeypatch.setenv("DEPLOY_WORD", "sesame")
    text = '[permits]\nenv = ["DEPLOY_WORD"]\n'
    (project.parent / "config").mkdir()
    (project.parent / "config" / "agent-hooks.toml").write_text(text)
    return text


@pytest.mark.parametrize("way", ["manager", "loader", "builder", "agent", "python"])
def test_the_users_permits_reach_the_hooks_of_skills_and_agents(permit: str, project: Path, way: str):
    file = written(project, READS_VARIABLE)
    if way == "loader":
        manager = registered(HookConfigLoader(project).load(load_plugins=False), file)
    elif way == "builder":
        agent = AgentBuilder(plugins=()).with_config().with_driver(ScriptedDriver("Done.")).with_cwd(project).build()
        manager = registered(hooks_in(agent.interceptor).manager, file)
    elif way == "agent":
        manager = HookManager(load_plugins=False)
        register_agent(manager, written(project, READS_VARIABLE, ".claude/agents/ops.md"), trusted=True)
    elif way == "python":
        command = ("command", {"command": "echo token=$DEPLOY_WORD; exit 2"})
        manager = registered(HookManager(load_plugins=False), Skill("s", hooks=[SkillHook("PreToolUse", command)]))
    else:
        manager = registered(HookManager(load_plugins=False), file)
    ctx = tool("Shell", cwd=str(project), **({"agent_name": "ops:deploy"} if way == "agent" else {}))
    assert decided(manager, ctx) == ("deny", "token=sesame")


def test_without_a_permit_a_skill_gets_no_variable(project: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("DEPLOY_WORD", "sesame")
    file = written(project, READS_VARIABLE)
    assert decided(registered(HookManager(load_plugins=False), file), tool("Shell")) == ("deny", "token=")


def test_a_skill_gets_what_the_files_permit_that_the_manager_was_made_from(permit: str, project: Path):
    file = written(project, READS_VARIABLE)
    assert decided(registered(with_sources(project, ""), file), tool("Shell")) == ("deny", "token=")
    (project.parent / "elsewhere" / "agent-hooks.toml").unlink()
    (project.parent / "elsewhere").rmdir()
    assert decided(registered(with_sources(project, permit), file), tool("Shell")) == ("deny", "token=sesame")


def test_a_skill_permits_itself_nothing(project: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("DEPLOY_WORD", "sesame")
    (project / "agent-hooks.toml").write_text('[permits]\nenv = ["DEPLOY_WORD"]\n')
    file = written(project, READS_VARIABLE)
    trust(project)
    manager = HookConfigLoader(project).load(load_plugins=False)
    register_skill(manager, file)
    assert decided(manager, tool("Shell", cwd=str(project))) == ("deny", "token=")


def test_the_users_permits_reach_the_skills_of_a_session(permit: str, project: Path):
    skill = written(project, READS_VARIABLE)
    driver = ScriptedDriver(ToolCall("Shell"), "Done.")
    agent = AgentBuilder(plugins=()).with_driver(driver).with_tools(Tool(lambda: "ran", name="Shell")).build()
    session = SessionRunner(agent, skills=[skill], trusted_skills=True)
    with session:
        state = session.send_sync("Go.")
    assert "token=sesame" in str(state.messages)


# -- trust -------------------------------------------------------------------------------------------------------------


def trust(root: Path) -> None:
    TrustStore().trust(discover(str(root)))


def test_a_skill_that_nobody_trusted_is_not_registered(manager: HookManager, project: Path):
    policy_script(project, "exit 2")

    with pytest.raises(TrustError, match="agent-hooks trust"):
        register_skill(manager, written(project, ONLY_COMMAND))

    assert not manager.hooks().listens("before_tool_use")


def test_a_trusted_skill_runs_with_the_scripts_that_were_trusted(manager: HookManager, project: Path):
    policy_script(project, "echo no; exit 2")
    file = written(project, ONLY_COMMAND)
    trust(project)
    register_skill(manager, file)

    assert decided(manager, tool("Shell")) == ("deny", "no")


@pytest.mark.parametrize("changed", ["skill", "script"])
def test_a_skill_is_not_registered_once_it_or_its_script_changed(manager: HookManager, project: Path, changed: str):
    script, file = policy_script(project, "exit 2"), written(project, ONLY_COMMAND)
    trust(project)
    if changed == "skill":
        file.write_bytes(file.read_bytes().replace(b"Shell", b"Nothing"))
    else:
        script.write_text("#!/bin/sh\nexit 0\n")

    with pytest.raises(TrustError, match="has changed"):
        register_skill(manager, file)


def test_an_agent_is_trusted_like_a_skill(manager: HookManager, project: Path):
    policy_script(project, "echo no; exit 2")
    file = written(project, ONLY_COMMAND.replace("ops:deploy", "deployer"), ".claude/agents/deployer.md")
    with pytest.raises(TrustError):
        register_agent(manager, file)
    trust(project)
    register_agent(manager, file)

    assert decided(manager, tool("Shell", agent_name="deployer")) == ("deny", "no")
    assert decided(manager, tool("Shell", agent_name="main")) == ("proceed", "")


def test_a_file_that_trust_does_not_look_at_is_not_registered(manager: HookManager, project: Path):
    file = written(project, ONLY_COMMAND, "agents/deployer.md")
    policy_script(project, "exit 2")
    written(project, ONLY_COMMAND)
    trust(project)

    with pytest.raises(TrustError, match="is not covered by `agent-hooks trust"):
        register_agent(manager, file)


# -- skills made in Python ---------------------------------------------------------------------------------------------


def refuse(ctx: HookContext, *words: str) -> tuple[str, str]:
    return "deny", " ".join((ctx.tool_name, *words))


@pytest.mark.parametrize(
    ("handler_", "reason"),
    [
        (refuse, "Bash"),
        (lambda context: ("deny", f"{context.tool_name}!"), "Bash!"),
        ((sys.modules[__name__], "refuse", ["never", "on Fridays"]), "Bash never on Fridays"),
        ((sys.modules[__name__], "refuse", ()), "Bash"),
        (("record", {"deny": "Recorded."}), "Recorded."),
    ],
    ids=["function", "lambda", "arguments", "no-arguments", "type"],
)
def test_a_skill_made_in_python_decides_until_it_is_unregistered(manager: HookManager, handler_: Any, reason: str):
    enforcer = Skill("policy:enforcer", hooks=[SkillHook("PreToolUse", handler_, matcher="Bash")])
    name = register_skill(manager, enforcer, types={"record": Recorder()})

    assert name == "skill:policy:enforcer"
    assert decided(manager, shell()) == ("deny", reason)
    assert decided(manager, tool("Read")) == ("proceed", "")
    manager.unregister(name=name)
    assert decided(manager, shell()) == ("proceed", "")


def test_a_function_may_be_named_by_its_module(manager: HookManager):
    register_skill(manager, Skill("s", hooks=[SkillHook("PreToolUse", ("posixpath", "basename", []))]))

    outcome = manager.hooks().dispatch_sync(shell())

    assert outcome.failed
    assert outcome.hook == "basename (skill s:1)"


@pytest.mark.parametrize("answer", [HookOutcome.with_args({"command": "ls -a"}), HookOutcome.allow(final=True)])
def test_a_skill_may_neither_change_arguments_nor_allow(manager: HookManager, answer: HookOutcome):
    asking = hookimpl(lambda ctx: HookOutcome.ask("Really?"))
    manager.register(Plugin(before_tool_use=asking), "asking")
    register_skill(manager, Skill("s", hooks=[SkillHook("PreToolUse", lambda ctx: answer)]))

    assert decided(manager, shell())[0] == "deny"


def test_a_function_that_fails_blocks_where_there_is_a_gate(manager: HookManager):
    def check(ctx: HookContext) -> None:
        raise OSError("no policy server")

    hooks = [SkillHook("PreToolUse", check), SkillHook("PostToolUse", check)]
    register_skill(manager, Skill("s", hooks=hooks))

    assert decided(manager, shell())[0] == "deny"
    assert decided(manager, tool("Bash", "after_tool_use", result="done")) == ("proceed", "")


def test_a_predicate_may_be_the_matcher(manager: HookManager):
    hook = SkillHook("PreToolUse", refuse, matcher=lambda ctx: ctx.skill == "deploy")
    register_skill(manager, Skill("s", description="Only for deploy.", hooks=[hook]))

    assert decided(manager, shell(skill="deploy"))[0] == "deny"
    assert decided(manager, shell())[0] == "proceed"


@pytest.mark.parametrize(
    ("event", "handler_", "matcher", "error", "says"),
    [
        ("PreCoffee", refuse, None, UnknownEventError, "no event 'PreCoffee'"),
        ("PreToolUse", refuse, "(x", RegistrationError, "not a regular expression"),
        ("PreToolUse", "refuse", None, RegistrationError, "no handler of a skill"),
        (
            "PreToolUse",
            ("os", "no_such_function", []),
            None,
            RegistrationError,
            "has no attribute 'no_such_function'",
        ),
        ("PreToolUse", ("os", 3), None, RegistrationError, "no handler of a skill"),
        ("PreToolUse", (object(), {"channel": "#x"}), None, RegistrationError, "is no handler of a skill"),
        ("PreToolUse", (3, "x", []), None, RegistrationError, "has no attribute 'x'"),
        ("PreToolUse", ("os", "sep", []), None, RegistrationError, "is no function"),
        ("PreToolUse", ("no.such.module", "x", []), None, RegistrationError, "no.such.module"),
    ],
)
def test_a_hook_that_cannot_work_is_an_error_where_it_is_made(
    event: str, handler_: Any, matcher: Any, error: type[Exception], says: str
):
    with pytest.raises(error) as caught:
        SkillHook(event, handler_, matcher=matcher)

    assert says in str(caught.value)


class Slack:
    """A module of SkillKit's kind, with its configuration beside it."""

    @staticmethod
    def execute(config, ctx):
        return "deny", f"{config['channel']} says no to {ctx.tool_call.name}"


class SlowSlack:
    async def execute(self, config, ctx):
        await asyncio.sleep(0)
        return Slack.execute(config, ctx)


@pytest.mark.parametrize("module", [Slack, SlowSlack()])
def test_a_hook_of_a_module_with_its_configuration(module):
    manager = HookManager(load_plugins=False)
    hook = SkillHook("PreToolUse", (module, {"channel": "#x"}), matcher="shell")
    register_skill(manager, Skill("s", hooks=[hook]))
    outcome = manager.hooks().run_sync(HookContext("before_tool_use", tool_call=ToolCall("Bash", {"command": "ls"})))
    assert (outcome.decision, outcome.reason) == ("deny", "#x says no to Bash")
