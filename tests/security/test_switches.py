"""No switch of a lower source reaches a gate of a higher one."""

from __future__ import annotations

import json
from typing import Any

import pytest

import agent_hooks.sources.files as places
from agent_hooks import HookConfigLoader, HookContext, HookOutcome, HookPolicy, ToolCall, hookimpl
from agent_hooks.errors import RegistrationError
from projects import Project, denying, own_folders, settings, toml
from tables import tables


class Machine:
    """The files of the machine's owner, of the user and of a trusted project."""

    def __init__(self, folder, monkeypatch):
        self.user = own_folders(monkeypatch, folder)
        self.managed = folder / "managed"
        self.claude_managed = folder / "managed-claude"
        self.claude_user = folder.resolve() / "home" / ".claude"
        self.project = Project(folder)
        for each in (self.managed, self.claude_managed, self.claude_user):
            each.mkdir(parents=True)
        monkeypatch.setattr(places, "_other_writer", lambda path: "")

    def write(self, whose, text):
        if whose == "project":
            self.project.write({"agent-hooks.toml": text}).trust()
        elif whose in ("managed", "user"):
            (getattr(self, whose) / "agent-hooks.toml").write_text(text)
        else:
            name = "managed-settings.json" if whose == "claude_managed" else "settings.json"
            (getattr(self, whose) / name).write_text(text)

    def load(self, policy=None, plugins=False, **options):
        loader = HookConfigLoader(self.project.root)
        return loader, loader.load(policy, load_plugins=plugins, **options)

    def decides(self, policy=None, **options):
        """What becomes of a shell call, and by which hook."""
        ctx = HookContext(
            "before_tool_use",
            cwd=str(self.project.root),
            tool_call=ToolCall("Bash", {"command": "ls"}, kind="shell"),
        )
        return self.load(policy, **options)[1].hooks().dispatch_sync(ctx)


@pytest.fixture
def machine(tmp_path, monkeypatch):
    return Machine(tmp_path, monkeypatch)


TABLES = tables(__file__)
SWITCHES = TABLES["switches"]


@pytest.mark.parametrize("switch", SWITCHES)
@pytest.mark.parametrize(
    ("gate", "whose"),
    [
        ("managed", "user"),
        ("managed", "project"),
        ("claude_managed", "user"),
        ("claude_managed", "project"),
        ("user", "project"),
    ],
)
def test_no_file_switches_off_the_gate_of_a_higher_one(machine, gate, whose, switch):
    command = {"type": "command", "command": denying(gate)}
    machine.write(gate, settings("PreToolUse", command) if gate == "claude_managed" else toml(denying(gate)))
    text = SWITCHES[switch].replace("{file}", str(machine.managed / "agent-hooks.toml"))
    machine.write(whose, text)
    outcome = machine.decides()
    assert (outcome.decision, gate in outcome.reason) == ("deny", True)
    assert not outcome.failed


@pytest.mark.parametrize("switch", SWITCHES)
def test_the_user_may_switch_off_what_is_the_users(machine, switch):
    machine.write("user", f"{SWITCHES[switch]}\n{toml(denying('user'))}")
    expected = "proceed" if switch in ("shadow", "allow_shell, open") else "deny"
    assert machine.decides().decision == expected


@pytest.mark.parametrize(
    "policy",
    [
        HookPolicy(shadow=True),
        HookPolicy(allow_shell=False, on_gate_failure="open"),
        HookPolicy(on_gate_failure="open", timeout=0.000001),
    ],
)
def test_no_policy_of_an_application_reaches_a_managed_gate(machine, policy):
    machine.write("managed", toml(denying("managed")))
    outcome = machine.decides(policy)
    assert (outcome.decision, "managed" in outcome.reason) == ("deny", True)


@pytest.mark.parametrize("case", TABLES["decides"].values(), ids=TABLES["decides"])
def test_only_the_machine_loosens_its_gates_and_the_user_tightens_them(machine, case):
    for whose in {"managed", "user"} & {*case}:
        machine.write(whose, case[whose])
    outcome = machine.decides()
    assert (outcome.decision, outcome.failed) == (case["decision"], case.get("failed", False))


@pytest.mark.parametrize("whose", ["managed", "user", "application"])
def test_the_protection_of_the_gate_holds_in_every_shadow(machine, whose):
    if whose != "application":
        machine.write(whose, "[policy]\nshadow = true\n")
    _, manager = machine.load(HookPolicy(shadow=whose == "application"))
    call = ToolCall("Bash", {"command": "agent-hooks trust"}, kind="shell")
    ctx = HookContext("before_tool_use", cwd=str(machine.project.root), tool_call=call)
    outcome = manager.hooks().dispatch_sync(ctx)
    assert (outcome.decision, outcome.hook) == ("deny", "agent_hooks.protection")


# -- ignore ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("broken", ["[[hooks.before_tool_use]]\nhooks = 1\n", "[hooks\n", "[polcy]\nshadow = true\n"])
@pytest.mark.parametrize("whose", ["user", "project"])
def test_ignore_opens_no_gate_of_a_higher_rank(machine, broken, whose):
    machine.write("managed", broken)
    loader, _ = machine.load()
    ids = [finding.id for finding in loader.findings if finding.blocks]
    assert ids
    machine.write(whose, f"ignore = {json.dumps(ids)}\n")
    assert machine.decides().decision == "deny"
    loader, _ = machine.load()
    assert [finding.line for finding in loader.open_findings if finding.kind == "not-allowed"] == [1] * len(
        ids if whose == "user" else [1]
    )
    assert "in the machine's agent-hooks.toml" in machine.decides().reason


def test_the_machine_may_ignore_what_is_its_own_and_the_user_what_is_the_users(machine):
    broken = '[[hooks.before_tool_use]]\nmatcher = "["\nhooks = [{type = "command", command = "true"}]\n'
    for whose in ("managed", "user"):
        machine.write(whose, broken)
        (finding,) = (each for each in machine.load()[0].findings if each.blocks)
        machine.write(whose, f'ignore = ["{finding.id}"]\n{broken}')
        assert machine.decides().decision == "proceed"
        machine.write(whose, "")


# -- plugins -----------------------------------------------------------------------------------------------------------


class Strict:
    @hookimpl
    def before_tool_use(self):
        return HookOutcome.deny("strict")


class Harmless:
    @hookimpl
    def before_tool_use(self):
        return None


@pytest.fixture
def installed(monkeypatch):
    """One installed plugin, ``strict``, which denies."""

    def install(load=Strict):
        from agent_hooks.engine.plugin_info import PluginInfo

        found = [(PluginInfo(name="strict", distribution="strict-rules", version="1"), load)]
        monkeypatch.setattr("agent_hooks.engine.installed.found_points", lambda: found)

    install()
    return install


TRIES = {
    "disabled": lambda machine, env: machine.write("user", 'disabled = ["strict"]\n'),
    "variable": lambda machine, env: env.setenv("AGENT_HOOKS_DISABLE", "strict"),
    "shadow": lambda machine, env: machine.write("user", "[policy]\nshadow = true\n"),
}


@pytest.mark.parametrize("attempt", [*TRIES, "code", "not loaded"])
@pytest.mark.parametrize("managed", ['required = ["strict"]\n', "[strict]\nlevel = 1\n"])
def test_nothing_switches_off_a_plugin_that_the_machine_requires_or_has_settings_for(
    machine, installed, monkeypatch, managed, attempt
):
    machine.write("managed", managed)
    options: dict[str, Any] = {"plugins": True}
    if attempt == "code":
        options["disabled"] = ["strict"]
    elif attempt == "not loaded":
        options["plugins"] = False
    else:
        TRIES[attempt](machine, monkeypatch)
    outcome = machine.decides(**options)
    assert (outcome.decision, outcome.reason) == ("deny", "strict")


@pytest.mark.parametrize("attempt", TRIES)
def test_without_the_machines_word_a_user_switches_a_plugin_off(machine, installed, monkeypatch, attempt):
    assert machine.decides(plugins=True).decision == "deny"
    TRIES[attempt](machine, monkeypatch)
    assert machine.decides(plugins=True).decision == "proceed"


def test_the_machine_may_switch_off_what_it_has_settings_for(machine, installed):
    machine.write("managed", 'disabled = ["strict"]\n[strict]\nlevel = 1\n')
    assert machine.decides(plugins=True).decision == "proceed"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('required = ["gone"]\n', "'gone' is required, but it is not installed"),
        ('required = ["strict"]\ndisabled = ["strict"]\n', "'strict' is required, but it is disabled here"),
    ],
)
def test_a_required_plugin_that_is_not_there_fails_as_a_gate(machine, installed, text, said):
    installed(Harmless)
    machine.write("managed", text)
    loader, _ = machine.load(plugins=True)
    (finding,) = loader.findings
    assert (finding.kind, finding.line, finding.path) == ("required", 1, str(machine.managed / "agent-hooks.toml"))
    machine.write("user", f'ignore = ["{finding.id}"]\n[policy]\non_gate_failure = "open"\nshadow = true\n')
    outcome = machine.decides(plugins=True)
    assert (outcome.decision, outcome.failed, said in outcome.reason) == ("deny", True, True)


def test_a_required_plugin_that_cannot_be_loaded_fails_as_a_gate(machine, installed, monkeypatch):
    def load():
        raise ImportError("no module")

    installed(load)
    machine.write("managed", 'required = ["strict"]\n')
    monkeypatch.setenv("AGENT_HOOKS_DISABLE", "strict")
    machine.write("user", '[policy]\non_gate_failure = "open"\n')
    outcome = machine.decides(plugins=True)
    assert (outcome.decision, "could not be loaded" in outcome.reason) == ("deny", True)
    assert "ImportError: no module" in outcome.reason
    assert "AGENT_HOOKS_DISABLE" not in outcome.reason


def test_a_switch_without_effect_is_a_finding_and_is_not_announced_as_effective(machine, installed, monkeypatch):
    machine.write("managed", 'required = ["strict"]\n')
    machine.write("user", '\ndisabled = ["strict"]\n')
    monkeypatch.setenv("AGENT_HOOKS_DISABLE", "strict")
    loader, manager = machine.load(plugins=True)
    assert [(each.kind, each.line, each.blocks) for each in loader.findings] == [("not-allowed", 2, False)]
    assert manager.notes == ()


@pytest.mark.parametrize("whose", ["user", "project"])
def test_only_the_machines_file_requires_plugins(machine, installed, whose):
    machine.write(whose, 'required = ["gone"]\n')
    loader, _ = machine.load(plugins=True)
    assert [(each.kind, each.line) for each in loader.findings] == [("not-allowed", 1)]
    assert machine.load(plugins=True)[1].get_plugin("strict") is not None


def test_code_cannot_block_a_managed_plugin_by_name(machine, installed):
    machine.write("managed", 'required = ["strict"]\n')
    _, manager = machine.load(plugins=True)
    with pytest.raises(RegistrationError, match="it is managed"):
        manager.set_blocked("strict")


# -- Claude Code's settings --------------------------------------------------------------------------------------------


def test_a_users_lists_and_switches_of_claude_code_do_not_reach_managed_hooks(machine):
    machine.write("claude_managed", settings("PreToolUse", denying("managed")))
    for text in ('{"disableAllHooks": true}', '{"allowManagedHooksOnly": true}', '{"allowedHttpHookUrls": []}'):
        machine.write("claude_user", text)
        outcome = machine.decides()
        assert (outcome.decision, outcome.failed) == ("deny", False)


def test_a_managed_command_gets_no_variable_that_only_the_user_permits(machine, monkeypatch):
    monkeypatch.setenv("LD_PRELOAD_OF_MINE", "evil")
    command = 'test -z "$LD_PRELOAD_OF_MINE" && { echo clean >&2; exit 2; }; exit 0'
    machine.write("managed", toml(command))
    machine.write("user", '[permits]\nenv = ["LD_PRELOAD_OF_MINE"]\n')
    assert "clean" in machine.decides().reason
    machine.write("managed", '[permits]\nenv = ["LD_PRELOAD_OF_MINE"]\n' + toml(command))
    assert machine.decides().decision == "proceed"
