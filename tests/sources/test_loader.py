"""From files to a manager: what holds where, by which rank, and what becomes of what cannot be honoured."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from agent_hooks import HookConfigLoader, HookContext, HookManager, HookOutcome, HookPolicy, ToolCall, hookimpl
from agent_hooks.engine.registration import HookRegistration
from agent_hooks.errors import RegistrationError, TrustError
from agent_hooks.formats.entry import HookEntry
from agent_hooks.formats.findings import ConfigFinding
from agent_hooks.formats.read_file import ReadFile
from agent_hooks.formats.toml import read_toml
from agent_hooks.handlers.handler_type import HandlerType
from agent_hooks.model.events import HookEvent
from agent_hooks.sources.files import ClaudeSource, ProjectSource, TomlSource
from agent_hooks.sources.loader import PROTECTION
from engine import Plugin
from projects import HOOKCONF, Project, denying, python, settings, toml
from tables import tables

pytestmark = pytest.mark.usefixtures("config")

TABLES = tables(__file__)


class Echo(HandlerType):
    """Denies with what the entry says; keeps what it was bound to."""

    bound: list[HookEntry]

    def __init__(self):
        self.bound = []

    def bind(self, config, entry):
        self.bound.append(entry)
        if "wrong" in config:
            raise ValueError("cannot be bound")
        return lambda ctx: HookOutcome.deny(config["say"]) if "say" in config else None


@pytest.fixture
def echo():
    return Echo()


def load(project, policy=None, **options):
    """A loader that has loaded without installed plugins, and its manager."""
    loader = HookConfigLoader(project.root, **options)
    return loader, loader.load(policy, load_plugins=False)


def call(name="Bash", **args):
    args = args or {"command": "ls"}
    return ToolCall(name, args, kind="shell" if name == "Bash" else None)


def ask(manager, project, tool_call=None, cwd="", event="before_tool_use", **fields):
    """What is decided about a call somewhere in the project."""
    here: Any = {"cwd": cwd or str(project.root), "project_dir": str(project.root)}
    if event == "before_tool_use":
        fields["tool_call"] = tool_call or call()
    return manager.hooks().dispatch_sync(HookContext(event, **here, **fields))


def said(text):
    """A handler of the type ``echo`` that denies with a text."""
    return f'type = "echo"\nsay = {json.dumps(text)}'


def write(folder, name, text):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)


# -- what holds --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", TABLES["loads"], ids=lambda case: case["shows"])
def test_what_files_say_together(project, config, tmp_path, echo, case):
    folders = {"project": project.root, "user": config, "claude": tmp_path / "home" / ".claude"}
    for whose, folder in folders.items():
        for name, text in case.get(whose, {}).items():
            path = folder / name
            write(path.parent, path.name, text.replace("{project}", str(project.root)))
    if case.get("trusted", "project" in case):
        project.trust()
    policy = HookPolicy(**case["policy"]) if "policy" in case else None
    loader, manager = load(project, policy, handler_types={"echo": echo}, **case.get("options", {}))
    assert [finding.kind for finding in loader.findings] == case.get("findings", [])
    assert len({finding.id for finding in loader.findings}) == len(loader.findings)
    assert {name: getattr(manager.policy, name) for name in case.get("holds", {})} == case.get("holds", {})
    for tool, where, refusal in case.get("answers", []):
        made = call() if tool == "Bash" else call(tool, file_path=project.at(where))
        outcome = ask(manager, project, made, cwd=project.at(where) if tool == "Bash" else "")
        assert (outcome.blocks, refusal in outcome.reason) == (bool(refusal), True)


def test_with_no_file_there_is_only_our_own_gate(project):
    loader, manager = load(project)
    assert {hook.plugin for hook in manager.describe()} == {PROTECTION}
    assert (loader.findings, manager.notes, loader.project_dir) == ([], (), str(project.root))


def test_an_untrusted_projects_files_do_not_and_that_is_noted(project):
    project.write({"agent-hooks.toml": toml(python("print(open('/canary'))")), "hookconf.py": "raise SystemExit(3)"})
    loader, manager = load(project)
    assert not ask(manager, project).blocks
    (finding,) = loader.findings
    assert finding.kind == "untrusted"
    assert manager.notes == (f"agent_hooks: {finding}",)


MISPLACED = '{"PreToolUse": [{"hooks": [{"type": "command", "command": "exit 2"}]}]}'


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        (".claude/settings.json", MISPLACED, "'PreToolUse' stands at the top of the file"),
        ("pyproject.toml", "[agent_hooks]\nx = 1", "Nobody reads agent_hooks."),
    ],
)
def test_hooks_in_the_wrong_place_of_a_trusted_project_deny_until_they_are_ignored(project, config, name, text, says):
    project.write({name: text}).trust()
    loader, manager = load(project)
    assert says in ask(manager, project).reason
    (finding,) = loader.findings
    write(config, "agent-hooks.toml", f"ignore = ['{finding.id}']")
    assert not ask(load(project)[1], project).blocks


def test_going_from_one_trusted_branch_to_another_keeps_the_hooks(project):
    for reason in ("one", "two"):
        project.write({"agent-hooks.toml": toml(["sh", "-c", denying(reason)])}).trust()
    for reason in ("one", "two"):
        project.write({"agent-hooks.toml": toml(["sh", "-c", denying(reason)])})
        assert ask(load(project)[1], project).reason == reason


def test_what_was_trusted_on_another_branch_is_protected_too(project):
    project.write({"agent-hooks.toml": toml(["sh", "old.sh"], "after_tool_use"), "old.sh": ""}).trust()
    project.write({"agent-hooks.toml": toml(["sh", "new.sh"], "after_tool_use"), "new.sh": ""}).trust()
    _, manager = load(project)
    for name, is_protected in (("old.sh", True), ("new.sh", True), ("other.sh", False)):
        made = call("Write", file_path=project.at(name), content="")
        assert ask(manager, project, made).blocks is is_protected


def test_a_change_switches_the_whole_project_off(project):
    project.write({"agent-hooks.toml": toml(["sh", "-c", denying("no")]), "a/hookconf.py": HOOKCONF}).trust()
    assert ask(load(project)[1], project).blocks
    project.write({"a/hookconf.py": f"{HOOKCONF}\n"})
    loader, manager = load(project)
    assert not ask(manager, project).blocks
    assert [finding.kind for finding in loader.findings] == ["changed"]
    assert "a/hookconf.py has changed" in manager.notes[0]


def test_hooks_add_up_and_those_of_higher_ranks_are_asked_first(project, config, tmp_path, monkeypatch, echo):
    monkeypatch.setattr("agent_hooks.sources.files._other_writer", lambda _: "")
    for folder, name in ((tmp_path / "managed", "machine"), (config, "user"), (project.root, "project")):
        write(folder, "agent-hooks.toml", toml("", handler=f'type = "echo"\nfrom = "{name}"', name="same"))
    project.trust()
    _, manager = load(project, handler_types={"echo": echo})
    described = [hook.source for hook in manager.describe("before_tool_use")]
    assert described == ["managed", "user", "project", "managed"]  # the last is our own gate


def test_outer_trusted_projects_hold_in_a_repository_inside_them(project):
    project.write({"agent-hooks.toml": toml(["sh", "-c", denying("outer")])}).trust()
    inner = Project(project.root, "vendor/lib")
    loader, manager = load(inner)
    assert ask(manager, inner).reason == "outer"
    assert loader.project_dir == str(inner.root)


def test_two_directories_bring_two_projects(project, tmp_path):
    other = Project(tmp_path, "other").write({"hookconf.py": HOOKCONF.format(reason="other")}).trust()
    project.write({"hookconf.py": HOOKCONF.format(reason="repo")}).trust()
    loader = HookConfigLoader([project.root, str(other.root), project.at("sub")])
    manager = loader.load(load_plugins=False)
    assert [source.project.root for source in loader.projects] == [str(project.root), str(other.root)]
    assert [ask(manager, each).reason for each in (project, other)] == ["repo", "other"]
    assert loader.project_dir == str(project.root)


def test_the_current_directory_is_where_agents_work_unless_said(project, monkeypatch):
    monkeypatch.chdir(project.root)
    assert HookConfigLoader().directories == (str(project.root),)


def test_near_leaves_out_what_is_elsewhere(project):
    project.write({"sub/hookconf.py": HOOKCONF, "other/x": ""})
    assert load(project, near=[project.at("other/x")])[0].findings == []
    assert [finding.kind for finding in load(project, near=[project.at("sub")])[0].findings] == ["untrusted"]


def test_a_loader_can_be_used_again(project):
    project.write({"agent-hooks.toml": toml(["true"], hookz=1)})
    loader = HookConfigLoader(project.root)
    loader.load(load_plugins=False)
    assert [finding.kind for finding in loader.findings] == ["untrusted"]
    project.trust()
    for _ in range(2):
        loader.load(load_plugins=False)
        assert [finding.kind for finding in loader.findings] == ["not-honoured"]
    write(project.root, "agent-hooks.toml", toml(["true"]))
    project.trust()
    loader.load(load_plugins=False)
    assert (loader.findings, loader.stand_ins) == ([], frozenset())


# -- Claude Code's settings --------------------------------------------------------------------------------------------


# -- what cannot be honoured -------------------------------------------------------------------------------------------


def finding_of(loader):
    (found,) = loader.findings
    return found


def test_an_entry_that_cannot_be_honoured_denies_where_it_would_have_been_asked(project):
    project.write({"agent-hooks.toml": toml("", handler='type = "nope"', matcher="Bash")}).trust()
    loader, manager = load(project)
    finding = finding_of(loader)
    outcome = ask(manager, project)
    assert (outcome.decision, outcome.failed, outcome.source) == ("deny", True, "project")
    assert "there is no handler type 'nope'" in outcome.reason
    assert f"add '{finding.id}' to `ignore`" in outcome.reason
    assert not ask(manager, project, call("Read", file_path="x")).blocks
    (gate,) = (hook for hook in manager.describe("before_tool_use") if hook.plugin in loader.stand_ins)
    assert gate.origin == f"{project.at('agent-hooks.toml')}:3"


def test_the_user_can_go_on_without_it(project, config):
    project.write({"agent-hooks.toml": toml("", handler='type = "nope"', matcher="Bash")}).trust()
    finding = finding_of(load(project)[0])
    write(config, "agent-hooks.toml", f"ignore = [{json.dumps(finding.id)}]")
    loader, manager = load(project)
    assert (finding_of(loader), loader.ignored) == (finding, {finding.id})
    assert (ask(manager, project).blocks, loader.stand_ins) == (False, frozenset())


def test_a_project_cannot_ignore(project):
    project.write({"agent-hooks.toml": toml("", handler='type = "nope"')}).trust()
    finding = finding_of(load(project)[0])
    text = f"ignore = [{json.dumps(finding.id)}]\n" + toml("", handler='type = "nope"')
    project.write({"agent-hooks.toml": text}).trust()
    assert ask(load(project)[1], project).blocks


def test_a_matcher_that_is_wrong_itself_leaves_no_hole(project, monkeypatch):
    monkeypatch.setitem(sys.modules, "re2", None)
    project.write({"agent-hooks.toml": toml(["true"], matcher="(a+)+$")}).trust()
    loader, manager = load(project)
    assert finding_of(loader).blocks
    assert ask(manager, project).blocks


def test_a_finding_about_a_projects_matcher_is_not_searched_slowly(project, config, monkeypatch):
    """Its own engine is RE2, and so is that of what stands in for it."""
    finding = ConfigFinding(kind="x", path=project.at("x"), event="before_tool_use", matcher="(a+)+$", blocks=True)

    class Source:
        def priority(self):
            return 0

        def load(self):
            return [ReadFile(path=project.at("x"), source="project", findings=(finding,))]

    monkeypatch.setitem(sys.modules, "re2", None)
    manager = HookConfigLoader(sources=[Source()]).load(load_plugins=False)
    assert ask(manager, project, call("a" * 30 + "!")).blocks


@pytest.mark.parametrize("name", ["agent-hooks.toml", ".claude/settings.json"])
def test_a_file_that_cannot_be_read_stops_everything_in_its_project_and_nothing_elsewhere(project, tmp_path, name):
    project.write({name: "{ [ nonsense"}).trust()
    loader, manager = load(project)
    assert finding_of(loader).kind == "unreadable"
    assert ask(manager, project).blocks
    assert ask(manager, project, event="user_input", prompt="x").blocks
    elsewhere = HookContext("before_tool_use", tool_call=call(), cwd=str(tmp_path / "home"))
    assert not manager.hooks().dispatch_sync(elsewhere).blocks


def test_a_users_file_that_cannot_be_read_stops_everything_everywhere(config, tmp_path, monkeypatch):
    """Also if the home folder is a repository."""
    home = tmp_path.resolve() / "home"
    (home / ".git").mkdir()
    write(config, "agent-hooks.toml", "nonsense")
    loader = HookConfigLoader(str(home))
    manager = loader.load(load_plugins=False)
    outcome = manager.hooks().dispatch_sync(HookContext("before_tool_use", tool_call=call(), cwd=str(tmp_path)))
    assert (outcome.blocks, outcome.source) == (True, "user")


def test_what_stands_in_for_a_users_gate_cannot_be_passed_over(project, config):
    write(config, "agent-hooks.toml", toml("", handler='type = "nope"'))
    loader, manager = load(project)

    @hookimpl(tryfirst=True, priority=1000)
    def skip():
        return HookOutcome.skip()

    manager.register(Plugin(before_tool_use=skip), "skipper", source="plugin")
    assert finding_of(loader).blocks
    assert ask(manager, project).decision == "deny"


def passing_over(manager, answer):
    """A hook of the application that ends the chain before all others."""
    manager.register(Plugin(before_tool_use=hookimpl(tryfirst=True)(lambda ctx: answer)), "application")


@pytest.mark.parametrize("answer", [HookOutcome.skip(), HookOutcome.allow(final=True)], ids=["skip", "final"])
@pytest.mark.parametrize("form", ["claude", "gate", "transform"])
def test_an_application_cannot_pass_over_the_users_hooks_that_may_deny(project, config, tmp_path, form, answer):
    if form == "claude":
        write(tmp_path / "home" / ".claude", "settings.json", settings("PreToolUse", denying("user")))
    else:
        write(config, "agent-hooks.toml", toml(["sh", "-c", denying("user")], mode=form))
    _, manager = load(project)
    passing_over(manager, answer)
    outcome = ask(manager, project)
    assert (outcome.decision, outcome.reason) == ("deny", "user")


def test_a_hookconf_that_cannot_be_run_denies_until_the_user_leaves_it_out(project, config):
    project.write({"hookconf.py": "import no_such_module\n", "sub/hookconf.py": HOOKCONF.format(reason="sub")}).trust()
    loader, manager = load(project)
    finding = finding_of(loader)
    assert (finding.kind, finding.path, finding.line) == ("broken", project.at("hookconf.py"), 1)
    assert f"disabled = ['{project.at('hookconf.py')}']" in finding.remedy
    outcome = ask(manager, project)
    assert (outcome.decision, "no_such_module" in outcome.reason) == ("deny", True)
    write(config, "agent-hooks.toml", f"disabled = [{json.dumps(project.at('hookconf.py'))}]")
    loader, manager = load(project)
    assert loader.findings == []
    assert not ask(manager, project, call("Read", file_path=project.at("x"))).blocks
    assert ask(manager, project, cwd=project.at("sub")).reason == "sub"


# -- policies ----------------------------------------------------------------------------------------------------------


def test_without_a_policy_anywhere_the_applications_is_kept_as_it_is(project):
    policy = HookPolicy(timeout=None)
    assert load(project, policy)[1].policy is policy


@pytest.mark.parametrize("where", ["application", "user"])
def test_a_policy_can_require_the_gates_of_projects(project, config, where):
    project.write({"agent-hooks.toml": toml(["true"])})
    policy = HookPolicy(require_project_gates=True) if where == "application" else None
    if where == "user":
        write(config, "agent-hooks.toml", "[policy]\nrequire_project_gates = true")
    loader = HookConfigLoader(project.root)
    with pytest.raises(TrustError, match=r"1 gate is not active .*`agent-hooks trust .* requires the gates of a proj"):
        loader.load(policy, load_plugins=False)
    assert [finding.kind for finding in loader.findings] == ["untrusted"]
    project.trust()
    loader.load(policy, load_plugins=False)


# -- permits -----------------------------------------------------------------------------------------------------------


def test_what_the_user_permits_holds_for_the_entries_of_all_files(project, config, echo):
    write(config, "agent-hooks.toml", '[permits]\nenv = ["TOKEN"]\nhosts = ["policy.internal"]')
    project.write({"agent-hooks.toml": toml("", handler='type = "echo"')}).trust()
    load(project, handler_types={"echo": echo})
    (entry,) = echo.bound
    assert (entry.permits.env, entry.permits.hosts, entry.permits.header_env) == (("TOKEN",), ("policy.internal",), ())


# -- other sources -----------------------------------------------------------------------------------------------------


class Given:
    """A source of your own."""

    def __init__(self, *files, priority=30):
        self.files = files
        self._priority = priority

    def priority(self):
        return self._priority

    def load(self):
        return self.files


def file_of(path="database", source="code", **fields):
    text = toml("", handler=said(path), **fields)
    return read_toml(text.encode(), path=path, source=source)


def test_given_sources_are_read_in_place_of_all_others(project, config, echo):
    write(config, "agent-hooks.toml", "nonsense")
    loader = HookConfigLoader(project.root, sources=[Given(file_of())], handler_types={"echo": echo})
    manager = loader.load(load_plugins=False)
    assert (ask(manager, project).reason, loader.findings, loader.project_dir) == ("database", [], "")


def test_given_sources_are_asked_from_the_highest_to_the_lowest(project, echo):
    given = [Given(file_of("low"), priority=1), Given(file_of("high"), priority=99)]
    manager = HookConfigLoader(sources=given, handler_types={"echo": echo}).load(load_plugins=False)
    assert ask(manager, project).reason == "high"


def test_given_sources_follow_the_same_rules(project, config, tmp_path, echo):
    """Permits, disabled hooks, policies and findings are not only for the usual ones."""
    write(config, "agent-hooks.toml", '[permits]\nenv = ["TOKEN"]\n[policy]\nmax_retries = 0')
    write(tmp_path / "claude", "settings.json", settings("PreToolUse", denying("user"), disableAllHooks=True))
    project.write({"agent-hooks.toml": toml("", handler='type = "echo"', matcher="x"), "hookconf.py": HOOKCONF}).trust()
    given = [TomlSource("user"), ClaudeSource("user", str(tmp_path / "claude")), ProjectSource(str(project.root))]
    loader = HookConfigLoader(sources=given, handler_types={"echo": echo})  # type: ignore[arg-type]
    manager = loader.load(load_plugins=False)
    assert [entry.permits.env for entry in echo.bound] == [("TOKEN",)]
    assert manager.policy.max_retries == 0
    assert [finding.kind for finding in loader.findings] == ["switched-off"]
    assert ask(manager, project).hook == f"{project.at('hookconf.py')}.before_tool_use"
    assert loader.project_dir == str(project.root)


def test_a_source_of_the_application_may_have_a_policy(project):
    file = ReadFile(path="database", source="code", settings={"policy": {"max_retries": 0}})
    manager = HookConfigLoader(sources=[Given(file)]).load(load_plugins=False)
    assert manager.policy.max_retries == 0


def test_a_source_cannot_be_of_a_rank_that_there_is_not(project):
    with pytest.raises(RegistrationError, match="root"):
        HookConfigLoader(sources=[Given(ReadFile(path="x", source="root"))]).load(load_plugins=False)


def test_entries_of_one_file_may_have_several_scopes(project, echo):
    event = HookEvent.BEFORE_TOOL_USE
    entries = [
        HookEntry(event=event, type="echo", config={"say": name}, scope=scope, path="db", source="code")
        for name, scope in (("below", ("directory", project.at("sub"))), ("everywhere", None))
    ]
    file = ReadFile(path="db", source="code", entries=tuple(entries))
    manager = HookConfigLoader(sources=[Given(file)], handler_types={"echo": echo}).load(load_plugins=False)
    assert ask(manager, project, cwd=project.at("sub")).reason == "below"
    assert ask(manager, project, call("Read", file_path=project.at("x"))).reason == "everywhere"


# -- what plugins offer ------------------------------------------------------------------------------------------------


@pytest.fixture
def installed(monkeypatch):
    """Let a plugin be installed."""

    def install(**hooks):
        plugin = Plugin(**{name: hookimpl(function) for name, function in hooks.items()})

        def made(**options):
            manager = HookManager(**{**options, "load_plugins": False})
            manager.register(plugin, "house", source="plugin")
            return manager

        monkeypatch.setattr("agent_hooks.sources.loader.HookManager", made)

    return install


def test_a_plugin_offers_further_sources_of_its_own_rank(project, installed, echo):
    installed(agent_hooks_config_sources=lambda: [Given(file_of(source="managed", priority=7))])
    loader, manager = load(project, handler_types={"echo": echo})
    (hook,) = (hook for hook in manager.describe() if hook.plugin == "database")
    assert (hook.source, hook.priority, loader.findings) == ("plugin", 7, [])
    assert ask(manager, project).reason == "database"
    assert [entry.source for entry in echo.bound] == ["plugin"]


def test_the_settings_of_a_file_that_a_plugin_offers_have_no_effect(project, installed, config):
    text = 'ignore = ["0123456789ab"]\nclaude_settings = false\n[policy]\nshadow = true\n[permits]\nenv = ["TOKEN"]'
    installed(agent_hooks_config_sources=lambda: [Given(read_toml(text.encode(), path="offered", source="managed"))])
    loader, manager = load(project)
    assert (manager.policy.shadow, loader.ignored) == (False, frozenset())
    message = finding_of(loader).message
    assert "A plugin offers this file, so it may bring hooks, but " in message
    assert all(name in message for name in ("ignore", "claude_settings", "policy", "permits"))


def test_a_plugins_file_of_claude_code_runs_on_every_host_but_can_be_switched_off(project, installed, tmp_path):
    write(tmp_path / "theirs", "settings.json", settings("PreToolUse", denying("theirs"), disableAllHooks=False))
    installed(agent_hooks_config_sources=lambda: [ClaudeSource("user", str(tmp_path / "theirs"))])
    assert ask(load(project, claude_settings=False)[1], project).reason == "theirs"
    write(tmp_path / "home" / ".claude", "settings.json", '{"disableAllHooks": true}')
    assert not ask(load(project)[1], project).blocks


class InCode:
    """A source whose hooks are registrations."""

    def priority(self):
        return 1

    def load(self):
        return [HookRegistration("before_tool_use", lambda ctx: ("deny", "by code"), name="in_code", source="managed")]


def test_registrations_of_a_plugins_source_rank_as_a_plugins(project, installed):
    installed(agent_hooks_config_sources=lambda: [InCode()])
    loader, manager = load(project)
    (hook,) = (hook for hook in manager.describe() if hook.name == "in_code")
    assert (hook.source, loader.findings) == ("plugin", [])
    assert ask(manager, project).reason == "by code"


def test_registrations_of_a_source_that_is_given_hold_beside_files_and_once_for_each_load(echo):
    loader = HookConfigLoader(sources=[InCode(), Given(file_of())], handler_types={"echo": echo})
    for _ in range(2):
        manager = loader.load(load_plugins=False)
        assert [hook.source for hook in manager.describe() if hook.name == "in_code"] == ["managed"]
        assert "database" in {hook.plugin for hook in manager.describe()}


def test_a_plugin_without_sources_offers_none(project, installed):
    installed(agent_hooks_config_sources=lambda: None)
    assert load(project)[0].findings == []


def test_a_plugin_whose_sources_fail_stops_everything(project, installed):
    def fails():
        raise OSError("disk")

    installed(agent_hooks_config_sources=fails)
    loader, manager = load(project)
    finding = finding_of(loader)
    assert "The configuration sources of the plugin 'house' failed: OSError('disk')" in finding.message
    assert (finding.path, finding.line) == (__file__, fails.__code__.co_firstlineno + 1)
    assert ask(manager, project).origin == f"{__file__}:{finding.line}"


def test_a_plugin_that_cannot_say_its_handler_types_is_a_finding_of_every_file(project, config, installed):
    def fails():
        raise OSError("disk")

    installed(agent_hooks_handler_types=fails)
    write(config, "agent-hooks.toml", toml(["true"], matcher="Read"))
    loader, manager = load(project)
    assert "'house' cannot say which handler types it offers" in finding_of(loader).message
    assert finding_of(loader).path == str(config / "agent-hooks.toml")
    assert ask(manager, project).blocks


# -- other -------------------------------------------------------------------------------------------------------------


def test_plugins_are_left_out_by_the_files_and_by_the_caller(project, config, monkeypatch):
    seen = {}

    def made(**options):
        seen.update(options)
        return HookManager(load_plugins=False)

    monkeypatch.setattr("agent_hooks.sources.loader.HookManager", made)
    write(config, "agent-hooks.toml", 'disabled = ["a"]')
    HookConfigLoader(project.root).load(load_plugins=["a", "b"], disabled=["b"])
    assert (seen["disabled"], seen["load_plugins"]) == ({"a", "b"}, ["a", "b"])


def test_a_script_that_changes_afterwards_is_not_asked_and_denies(project):
    files = {"check.sh": "exit 0\n", ".claude/settings.json": settings("PreToolUse", "sh check.sh")}
    project.write(files).trust()
    _, manager = load(project)
    assert not ask(manager, project).blocks
    project.write({"check.sh": "touch canary; exit 0\n"})
    outcome = ask(manager, project)
    assert (outcome.decision, "has changed since it was trusted" in outcome.reason) == ("deny", True)
    assert not os.path.exists(project.at("canary"))


def test_a_command_of_the_user_that_is_too_large_to_analyse_runs_and_is_told(project, config, tmp_path):
    folders = [tmp_path / f"folder-{number}" for number in range(21)]
    for folder in folders:
        folder.mkdir()
    command = f"ls {' '.join(map(str, folders))} > /dev/null; echo no >&2; exit 2"
    hook = f'[[hooks.before_tool_use]]\nhooks = [{{ type = "command", command = {json.dumps(command)} }}]\n'
    write(config, "agent-hooks.toml", hook)
    loader, manager = load(project)
    (finding,) = loader.findings
    assert (finding.kind, finding.path, finding.line) == ("not-covered", str(config / "agent-hooks.toml"), 2)
    assert "more than 20 folders" in finding.message
    assert ask(manager, project).reason == "no"


@pytest.mark.parametrize("is_there", [True, False])
def test_the_users_own_gate_scripts_are_kept_from_agents(tmp_path, monkeypatch, is_there):
    folder = tmp_path / "claude"
    guard = folder / "hooks" / "guard.sh"
    guard.parent.mkdir(parents=True)
    if is_there:
        guard.write_text("exit 2")
    (folder / "settings.json").write_text(settings("PreToolUse", f"sh {guard}", matcher="Bash"))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(folder))
    hooks = HookConfigLoader(str(tmp_path)).load(load_plugins=False).hooks()
    for path in (guard, folder / "settings.json"):
        call = ToolCall("Write", {"file_path": str(path), "content": "exit 0"})
        outcome = hooks.dispatch_sync(HookContext("before_tool_use", tool_call=call, cwd=str(tmp_path)))
        assert (outcome.decision, outcome.hook) == ("deny", "agent_hooks.protection")
    other = ToolCall("Write", {"file_path": str(tmp_path / "guard.sh"), "content": "exit 0"})
    assert hooks.dispatch_sync(HookContext("before_tool_use", tool_call=other)).decision == "proceed"


# -- inner folders -----------------------------------------------------------------------------------------------------

INNER = {
    "settings": {"sub/.claude/settings.json": settings("PreToolUse", denying("not in sub"), matcher="Bash")},
    "toml": {"sub/agent-hooks.toml": toml(["sh", "-c", denying("not in sub")])},
    "hookconf": {"sub/hookconf.py": HOOKCONF.format(reason="not in sub")},
    "broken": {"sub/hookconf.py": "1 / 0"},
}


@pytest.mark.parametrize("name", INNER)
def test_hooks_of_an_inner_folder_hold_for_any_shell_call_of_the_project(project, name):
    """Also where nobody says with each event which project it is: any command may touch the folder."""
    project.write(INNER[name]).trust()
    _, manager = load(project)
    for cwd, tool_call, blocks in (
        (project.at("lib"), call(command="rm ../sub/x"), True),
        (str(project.root), call(), True),
        (str(project.root.parent), call(), True),
        ("/elsewhere", call(), False),
        (project.at("lib"), call("Read", file_path="x"), False),
        (project.at("lib"), call("Read", file_path="../sub/x"), name != "settings"),
    ):
        outcome = manager.hooks().dispatch_sync(HookContext("before_tool_use", cwd=cwd, tool_call=tool_call))
        assert outcome.blocks is blocks, (cwd, tool_call)


def test_where_a_hook_is_written_is_said_from_the_root_of_the_project(project):
    """Two files of one name are not to be taken for each other."""
    outer = settings("PreToolUse", "true", matcher="Bash")
    project.write({".claude/settings.json": outer, **INNER["settings"]}).trust()
    _, manager = load(project)
    outcome = ask(manager, project, cwd=project.at("sub"))
    assert (outcome.hook, outcome.origin) == ("sub/.claude/settings.json:7", "sub/.claude/settings.json:7")
    origins = {hook.origin for hook in manager.describe() if hook.source == "project"}
    assert origins == {".claude/settings.json:7", "sub/.claude/settings.json:7"}


@pytest.mark.parametrize("line", [1, 3])
def test_what_stands_in_for_a_finding_says_its_line_if_it_has_one(project, config, line):
    text = "\n" * (line - 1) + 'claude_plugins = ["gone"]'
    write(config, "agent-hooks.toml", text)
    outcome = ask(load(project)[1], project)
    assert outcome.origin == f"{config / 'agent-hooks.toml'}:{line}"
    write(config, "agent-hooks.toml", "[")
    outcome = ask(load(project)[1], project)
    assert outcome.origin == str(config / "agent-hooks.toml")
    assert ":0" not in outcome.reason


# -- ceilings ----------------------------------------------------------------------------------------------------------


def test_a_call_without_configured_hooks_loads_no_handlers_and_no_analysis_of_scripts(tmp_path):
    program = """
import sys
from agent_hooks import HookContext, ToolCall
from agent_hooks.sources.loader import HookConfigLoader
manager = HookConfigLoader(sys.argv[1], near=()).load(load_plugins=False)
ctx = HookContext("before_tool_use", tool_call=ToolCall("Bash", {"command": "ls"}), cwd=sys.argv[1])
print(manager.hooks().dispatch_sync(ctx).decision, *sys.modules)
"""
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    decision, *modules = done.stdout.split()
    assert decision == "proceed"
    ours = {name.removeprefix("agent_hooks.") for name in modules if name.startswith("agent_hooks.")}
    assert not [
        name for name in ours if name.startswith(("handlers", "runtime", "cli", "formats.claude", "formats.toml"))
    ]
    assert ours.isdisjoint({"trust.scripts", "trust.differences", "sources.claude_rules", "sources.hookconfs"})
    assert {"pydantic", "yaml", "asyncio"}.isdisjoint(modules)
    assert len(ours) <= 75
